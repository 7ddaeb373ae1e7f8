//! Query strings: each value has the type that the tool's schema says, what was read can be written and read again,
//! and what does not fit is refused by the name of its argument.
//!
//! The first byte chooses the tool, the rest is the query.

use std::sync::LazyLock;

use os_screen_observer::error::{Error, Kind};
use os_screen_observer::http::query;
use os_screen_observer::tool::Spec;
use os_screen_observer::tools;
use serde_json::{Map, Value};

static TOOLS: LazyLock<Vec<(Spec, Value)>> =
    LazyLock::new(|| tools::all_tools().map(|spec| (spec, spec.full_input_schema())).collect());

pub fn check(data: &[u8]) {
    let Some((choice, query)) = data.split_first() else { return };
    let (spec, schema) = &TOOLS[usize::from(*choice) % TOOLS.len()];
    let query = String::from_utf8_lossy(query);
    match query::parse_arguments(schema, &query) {
        Err(problem) => check_refusal(&problem),
        Ok(arguments) => {
            check_types(schema, &arguments);
            let written = written(schema, &arguments);
            let again = query::parse_arguments(schema, &written)
                .unwrap_or_else(|problem| panic!("{written}: {problem}"));
            assert_eq!(again, arguments, "{written} is read as something else");
            if let Err(problem) = spec.parse(schema, Value::Object(arguments)) {
                super::check_sentence(&problem.message);
            }
        }
    }
}

fn check_refusal(problem: &Error) {
    assert_eq!(problem.kind, Kind::BadRequest);
    assert!(problem.message.starts_with("argument '"), "{} names no argument", problem.message);
}

fn kind_of<'a>(schema: &'a Value, name: &str) -> &'a str {
    match schema["properties"].get(name) {
        None => "string",
        Some(property) => property.get("type").and_then(Value::as_str).unwrap_or("any"),
    }
}

fn check_types(schema: &Value, arguments: &Map<String, Value>) {
    assert!(!arguments.contains_key("token"), "what is for the door went to the tool");
    for (name, value) in arguments {
        let fits = match kind_of(schema, name) {
            "string" => value.is_string(),
            "integer" => value.is_number() || value.is_null(),
            "number" => value.is_number() || value.is_null(),
            "boolean" => value.is_boolean() || value.is_null(),
            "array" => value.is_array() || value.is_null(),
            "object" => value.is_object() || value.is_null(),
            _ => true,
        };
        assert!(fits, "{name} became {value}");
    }
}

/// The arguments as a careful client would write them.
fn written(schema: &Value, arguments: &Map<String, Value>) -> String {
    let mut address = reqwest::Url::parse("http://localhost/").unwrap();
    for (name, value) in arguments {
        let text = match value {
            Value::String(text) if kind_of(schema, name) == "string" => text.clone(),
            Value::Null => String::new(),
            other => other.to_string(),
        };
        address.query_pairs_mut().append_pair(name, &text);
    }
    address.query().unwrap_or_default().to_owned()
}
