//! JSON schemas that every client accepts, made from the argument types.
//!
//! Clients differ in what they can stand: no `$ref`, no unions with null, no `uint32` formats, an
//! object at the root. The raw schema keeps everything and serves the argument check; the published
//! one is what leaves the server.

use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};

/// Marks an argument that is understood but not advertised (old spellings, rare switches).
pub const HIDDEN: &str = "x-hidden";
/// Its value for what the contract lists: those who ask for all tools are told of it too.
pub const IN_FULL: &str = "in full";

/// How much of a schema a client is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    Lean,
    Full,
}

pub fn raw_schema<T: schemars::JsonSchema>() -> Value {
    let mut value = generate_schema::<T>(SchemaSettings::draft2020_12());
    simplify_schema(&mut value);
    if let Some(root) = value.as_object_mut() {
        root.remove("title");
        root.remove("description");
        root.entry("type").or_insert_with(|| "object".into());
        root.entry("properties").or_insert_with(|| Map::new().into());
    }
    value
}

/// A reply as it is written, with its nulls.
pub fn exact_schema<T: schemars::JsonSchema>() -> Value {
    let mut value = generate_schema::<T>(SchemaSettings::draft2020_12().for_serialize());
    drop_formats(&mut value);
    value
}

fn generate_schema<T: schemars::JsonSchema>(mut settings: SchemaSettings) -> Value {
    settings.inline_subschemas = true;
    settings.meta_schema = None;
    settings.into_generator().into_root_schema_for::<T>().to_value()
}

/// Without formats that nobody checks (`uint32`), and without schemas that are no objects, over which readers
/// stumble: `true` is another way to write `{}`.
fn drop_formats(value: &mut Value) {
    match value {
        Value::Object(object) => {
            drop_format(object);
            let properties = object.get_mut("properties").and_then(Value::as_object_mut);
            properties.into_iter().flat_map(Map::values_mut).for_each(write_out);
            object.get_mut("items").into_iter().for_each(write_out);
            object.values_mut().for_each(drop_formats);
        }
        Value::Array(items) => items.iter_mut().for_each(drop_formats),
        _ => {}
    }
}

fn write_out(schema: &mut Value) {
    if *schema == Value::Bool(true) {
        *schema = Map::new().into();
    }
}

/// Drops what is hidden, our own marks, and limits that are enforced but that no caller comes near.
pub fn published_schema(mut schema: Value, detail: Detail) -> Value {
    publish_in_place(&mut schema, detail);
    schema
}

fn publish_in_place(schema: &mut Value, detail: Detail) {
    let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) else {
        return;
    };
    let shows = |mark: &Value| detail == Detail::Full && *mark == IN_FULL;
    properties.retain(|_, property| property.get(HIDDEN).is_none_or(shows));
    for property in properties.values_mut() {
        property.as_object_mut().into_iter().for_each(drop_remote_limits);
        publish_in_place(property, detail);
        drop_inner_words(property);
        drop_empty_inside(property);
    }
}

/// Where everything inside an argument is hidden, its own words say what belongs there.
fn drop_empty_inside(property: &mut Value) {
    let is_empty = |inner: &Value| inner.as_object().is_some_and(Map::is_empty);
    if let Some(property) =
        property.as_object_mut().filter(|property| property.get("properties").is_some_and(is_empty))
    {
        property.remove("properties");
        property.remove("required");
    }
}

/// What is inside an argument is said by the argument's own words.
fn drop_inner_words(property: &mut Value) {
    let inner = property.get_mut("properties").and_then(Value::as_object_mut);
    for inner in inner.into_iter().flat_map(|inner| inner.values_mut()) {
        inner.as_object_mut().into_iter().for_each(|inner| drop(inner.remove("description")));
    }
}

fn drop_remote_limits(property: &mut Map<String, Value>) {
    // Clients stumble over arguments of two types: the last of them is the one to be written.
    if let Some(Value::Array(mut types)) = property.remove("anyOf")
        && let Some(Value::Object(last)) = types.pop()
    {
        property.extend(last);
    }
    property.remove("maxLength");
    property.remove("maxItems");
    property.retain(|key, _| !key.starts_with("x-"));
    if property.get("maximum").and_then(Value::as_i64).is_some_and(|most| most >= 9_999) {
        property.remove("maximum");
        property.remove("minimum");
    }
    // An empty list is what leaving the argument out means.
    if property.get("default").is_some_and(|default| *default == Value::Array(Vec::new())) {
        property.remove("default");
    }
}

/// Output schemas tell code what it can count on: the type of everything that is always there. What
/// only some replies have, descriptions, and the inside of nested values would only cost tokens; the
/// docs tell of them.
pub fn output_schema(schema: Value) -> Value {
    let required = schema.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    let properties: Map<String, Value> = schema
        .get("properties")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
        .filter(|(name, _)| required.iter().any(|always| always == name.as_str()))
        .filter_map(|(name, property)| {
            Some((name.clone(), serde_json::json!({"type": property.get("type")?})))
        })
        .collect();
    serde_json::json!({"type": "object", "properties": properties})
}

/// Walks a schema: our types nest a few levels at most, so recursion is bounded by them.
fn simplify_schema(value: &mut Value) {
    match value {
        Value::Object(object) => {
            plain_object(object);
            object.values_mut().for_each(simplify_schema);
        }
        Value::Array(items) => items.iter_mut().for_each(simplify_schema),
        _ => {}
    }
}

/// The keyword only: an argument may be called `format` too.
fn drop_format(object: &mut Map<String, Value>) {
    if object.get("format").is_some_and(Value::is_string) {
        object.remove("format");
    }
}

fn plain_object(object: &mut Map<String, Value>) {
    drop_format(object);
    if object.get("default").is_some_and(Value::is_null) {
        object.remove("default");
    }
    if let Some(Value::Array(choices)) = object.get_mut("enum") {
        choices.retain(|choice| !choice.is_null());
    }
    drop_null_type(object);
    drop_null_alternative(object);
}

/// `["string", "null"]` means an optional argument, which `required` already says.
fn drop_null_type(object: &mut Map<String, Value>) {
    if let Some(Value::Array(types)) = object.get_mut("type") {
        types.retain(|name| name != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            object.insert("type".to_owned(), only);
        }
    }
}

fn drop_null_alternative(object: &mut Map<String, Value>) {
    let Some(Value::Array(alternatives)) = object.get_mut("anyOf") else {
        return;
    };
    alternatives.retain(|alternative| alternative.get("type").is_none_or(|name| name != "null"));
    if alternatives.len() == 1
        && let Some(Value::Object(only)) = alternatives.pop()
    {
        object.remove("anyOf");
        for (key, value) in only {
            object.entry(key).or_insert(value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::args::Int;
    use serde_json::json;

    #[derive(serde::Deserialize, schemars::JsonSchema)]
    #[allow(dead_code, reason = "only its schema is looked at")]
    struct Sample {
        /// How many.
        count: Option<Int<1, 9>>,
        format: u32,
        name: String,
        corner: Option<Corner>,
        quiet: Option<Unspoken>,
        #[schemars(extend("x-hidden" = true))]
        old: Option<bool>,
    }

    #[derive(serde::Deserialize, schemars::JsonSchema)]
    #[allow(dead_code, reason = "only its schema is looked at")]
    struct Unspoken {
        #[schemars(extend("x-hidden" = true))]
        y: i32,
    }

    #[derive(serde::Deserialize, schemars::JsonSchema)]
    #[allow(dead_code, reason = "only its schema is looked at")]
    struct Corner {
        x: i32,
    }

    #[test]
    fn published_schemas_have_no_refs_nulls_or_formats() {
        let schema = published_schema(raw_schema::<Sample>(), Detail::Lean);
        assert_eq!(
            schema,
            json!({
                "type": "object",
                "properties": {
                    "count": {"type": "integer", "minimum": 1, "maximum": 9, "description": "How many."},
                    "format": {"type": "integer", "minimum": 0},
                    "name": {"type": "string"},
                    "corner": {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]},
                    "quiet": {"type": "object"},
                },
                "required": ["format", "name"],
            })
        );
    }

    #[derive(serde::Deserialize, schemars::JsonSchema)]
    #[allow(dead_code, reason = "only its schema is looked at")]
    struct Contract {
        #[schemars(extend("x-hidden" = "in full"))]
        window_index: Option<bool>,
    }

    #[test]
    fn what_the_contract_lists_is_shown_to_those_who_ask_for_all() {
        let names = |detail| {
            let schema = published_schema(raw_schema::<Contract>(), detail);
            schema["properties"].as_object().unwrap().keys().cloned().collect::<Vec<_>>()
        };
        assert_eq!(names(Detail::Full), ["window_index"]);
        assert_eq!(names(Detail::Lean), Vec::<String>::new());
    }

    #[derive(serde::Serialize, schemars::JsonSchema)]
    struct Answer {
        place: Option<u32>,
        anything: Value,
        many: Vec<Value>,
    }

    #[test]
    fn replies_are_described_with_their_nulls() {
        assert_eq!(
            exact_schema::<Answer>()["properties"],
            json!({
                "place": {"type": ["integer", "null"], "minimum": 0},
                "anything": {},
                "many": {"type": "array", "items": {}},
            })
        );
    }

    #[test]
    fn output_schemas_keep_only_the_types_of_what_is_always_there() {
        let schema = output_schema(published_schema(raw_schema::<Sample>(), Detail::Lean));
        assert_eq!(schema["properties"]["name"], json!({"type": "string"}));
        assert_eq!(schema["properties"].get("corner"), None);
    }
}
