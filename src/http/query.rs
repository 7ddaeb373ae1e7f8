//! Query strings, typed by the schema of the tool that they are for. What does not fit is refused by name;
//! nothing is dropped and nothing is guessed.

use serde_json::{Map, Value};

use crate::error::{Error, Result};

/// The one parameter that is for the door and never for a tool.
const TOKEN: &str = "token";

const YES: &[&str] = &["1", "true", "yes", "on"];
const NO: &[&str] = &["0", "false", "no", "off"];

/// The arguments in a query string. `schema` is the tool's full input schema.
pub fn parse_arguments(schema: &Value, query: &str) -> Result<Map<String, Value>> {
    let mut arguments = Map::new();
    for (name, text) in form_urlencoded::parse(query.as_bytes()) {
        if name == TOKEN {
            continue;
        }
        let property = schema.pointer("/properties").and_then(|all| all.get(&*name));
        let value = typed_value(&name, property.map_or("string", kind_of), &text)?;
        if arguments.insert(name.to_string(), value).is_some() {
            return Err(argument_error(&name, "is given more than once"));
        }
    }
    Ok(arguments)
}

/// What may be of several kinds is written as JSON.
fn kind_of(property: &Value) -> &str {
    property.get("type").and_then(Value::as_str).unwrap_or("any")
}

fn typed_value(name: &str, kind: &str, text: &str) -> Result<Value> {
    // `window_index=` is how forms write "nothing".
    if text.is_empty() && kind != "string" {
        return Ok(Value::Null);
    }
    match kind {
        // Rounded and brought within its bounds where all arguments are.
        "integer" => text
            .parse::<i64>()
            .map_or_else(|_| parse_number(text), |number| Some(number.into()))
            .ok_or_else(|| wrong_type(name, "a whole number", text)),
        "number" => parse_number(text).ok_or_else(|| wrong_type(name, "a number", text)),
        "boolean" => parse_flag(text).ok_or_else(|| wrong_type(name, "true or false", text)),
        "array" => {
            parse_list(text).ok_or_else(|| wrong_type(name, "a list, separated by commas or as JSON", text))
        }
        "object" => parse_json(text)
            .filter(Value::is_object)
            .ok_or_else(|| wrong_type(name, "an object as JSON", text)),
        "any" => parse_json(text).ok_or_else(|| wrong_type(name, "JSON", text)),
        _ => Ok(Value::from(text)),
    }
}

fn parse_number(text: &str) -> Option<Value> {
    text.parse::<f64>().ok().and_then(serde_json::Number::from_f64).map(Value::Number)
}

fn parse_flag(text: &str) -> Option<Value> {
    let is_in = |words: &[&str]| words.iter().any(|word| word.eq_ignore_ascii_case(text));
    (is_in(YES) || is_in(NO)).then(|| Value::Bool(is_in(YES)))
}

fn parse_list(text: &str) -> Option<Value> {
    if text.starts_with('[') {
        return parse_json(text).filter(Value::is_array);
    }
    Some(text.split(',').map(str::trim).filter(|item| !item.is_empty()).map(Value::from).collect())
}

fn parse_json(text: &str) -> Option<Value> {
    serde_json::from_str(text).ok()
}

fn wrong_type(name: &str, expected: &str, text: &str) -> Error {
    let shown: String = text.chars().take(40).collect();
    argument_error(name, &format!("must be {expected}, not '{shown}'"))
}

fn argument_error(name: &str, problem: &str) -> Error {
    Error::bad_request(format!("argument '{name}' {problem}")).with("field", name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn schema() -> Value {
        json!({"properties": {
            "window_index": {"type": "integer"}, "duration_s": {"type": "number"}, "name": {"type": "string"},
            "structured": {"type": "boolean"}, "roles": {"type": "array"}, "bbox": {"type": "object"},
            "predicate": {"anyOf": [{"type": "object"}]},
        }})
    }

    #[track_caller]
    fn check(query: &str, expected: &str) {
        let got = match parse_arguments(&schema(), query) {
            Ok(arguments) => Value::Object(arguments).to_string(),
            Err(error) => error.message,
        };
        assert_eq!(got, expected, "for {query}");
    }

    #[test]
    fn values_have_the_type_of_their_schema() {
        check("window_index=3&name=3", r#"{"window_index":3,"name":"3"}"#);
        check("duration_s=0.5&structured=YES", r#"{"duration_s":0.5,"structured":true}"#);
        check("structured=0", r#"{"structured":false}"#);
        check("structured=on", r#"{"structured":true}"#);
        check("window_index=1.5", r#"{"window_index":1.5}"#);
        check("window_index=99999999999999999999", r#"{"window_index":1e+20}"#);
        check("roles=Button,%20Edit", r#"{"roles":["Button","Edit"]}"#);
        check("roles=%5B%22a,b%22%5D", r#"{"roles":["a,b"]}"#);
        check("bbox=%7B%22x%22%3A1%7D", r#"{"bbox":{"x":1}}"#);
        check("predicate=%5B%7B%7D%5D", r#"{"predicate":[{}]}"#);
        check("name=a+b%26c%C3%A9", r#"{"name":"a b&cé"}"#);
        check("window_index=&name=", r#"{"window_index":null,"name":""}"#);
        check("token=secret&other=1", r#"{"other":"1"}"#);
        check("", "{}");
    }

    /// H-16, H-30 on code: numbers, switches and lists in a query.
    #[test]
    fn what_does_not_fit_is_named() {
        check("window_index=abc", "argument 'window_index' must be a whole number, not 'abc'");
        check("window_index=1&window_index=1", "argument 'window_index' is given more than once");
        check("structured=maybe", "argument 'structured' must be true or false, not 'maybe'");
        check("duration_s=NaN", "argument 'duration_s' must be a number, not 'NaN'");
        check("bbox=1,2,3,4", "argument 'bbox' must be an object as JSON, not '1,2,3,4'");
        check("predicate=a", "argument 'predicate' must be JSON, not 'a'");
        check("roles=[1", "argument 'roles' must be a list, separated by commas or as JSON, not '[1'");
    }

    proptest! {
        #[test]
        fn no_query_is_too_strange(query in "[a-z_=&%+;0-9\u{e9}\\[\\]{}\",.]{0,80}") {
            let _ = parse_arguments(&schema(), &query);
        }
    }
}
