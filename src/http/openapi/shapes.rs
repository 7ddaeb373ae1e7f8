//! Schemas as HTTP means them. The tools' own schemas are kept short, because models read them; what they
//! leave to be understood, that null means absent for one, is said here.

use serde_json::{Map, Value, json};

use crate::http::adapters;
use crate::tool::args::SECRET;
use crate::tool::{ReplyKind, Spec};

/// The body of a call. Names that begin with an underscore are no arguments and are dropped.
pub fn body_schema(mut schema: Value) -> Value {
    let required = schema["required"].clone();
    let is_required = |name: &str| required.as_array().is_some_and(|all| all.contains(&name.into()));
    for (name, property) in schema_properties(&mut schema) {
        close_objects(property);
        if !is_required(name) {
            or_null(property);
        }
    }
    schema["patternProperties"] = json!({"^_": {}});
    schema["additionalProperties"] = false.into();
    schema
}

/// The value of one argument in a query, where nothing stands for null.
pub fn query_schema(property: &Value) -> Value {
    let mut property = property.clone();
    close_objects(&mut property);
    property
}

/// Whether a query takes it only as JSON: what has parts, unless they are plain texts.
pub fn is_json_in_query(property: &Value) -> bool {
    match property["type"].as_str() {
        Some("object") | None => true,
        Some("array") => property["items"]["type"] != "string",
        Some(_) => false,
    }
}

/// A tool's reply when it worked: what every reply begins with, and what is its own.
pub fn reply_schema(spec: &Spec) -> Value {
    let mut parts = vec![json!({"$ref": "#/components/schemas/Reply"}), spec.reply_schema()];
    if spec.meta.reply == ReplyKind::Picture && adapters::place_of_picture(spec.meta.name).is_none() {
        let data = json!({"type": "string", "contentEncoding": "base64", "contentMediaType": "image/png"});
        parts.push(json!({"properties": {"data": data}, "required": ["data"]}));
    }
    json!({ "allOf": parts })
}

fn schema_properties(schema: &mut Value) -> impl Iterator<Item = (&String, &mut Value)> {
    schema.get_mut("properties").and_then(Value::as_object_mut).into_iter().flat_map(Map::iter_mut)
}

/// Objects whose fields are listed have no others. Our types nest a few levels at most.
fn close_objects(property: &mut Value) {
    if let Some(items) = property.get_mut("items") {
        close_objects(items);
    }
    if property.get("properties").is_some() {
        schema_properties(property).for_each(|(_, inner)| close_objects(inner));
        property["additionalProperties"] = false.into();
    }
    let marked = property.as_object_mut().and_then(|property| property.remove(SECRET)).is_some();
    if marked {
        *property = json!({"anyOf": [property.take(), secret_schema()]});
    }
}

fn secret_schema() -> Value {
    json!({
        "type": "object",
        "properties": {"secret": {"type": "string", "pattern": "^[A-Za-z0-9_]+$"}},
        "required": ["secret"],
        "additionalProperties": false,
    })
}

fn or_null(property: &mut Value) {
    if let Some(alternatives) = property.get_mut("anyOf").and_then(Value::as_array_mut) {
        alternatives.push(json!({"type": "null"}));
    }
    if let Some(kind) = property.get("type").and_then(Value::as_str) {
        property["type"] = json!([kind, "null"]);
    }
    if let Some(choices) = property.get_mut("enum").and_then(Value::as_array_mut) {
        choices.push(Value::Null);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(property: Value, expected: Value) {
        let shaped = body_schema(json!({"type": "object", "properties": {"a": property}}));
        assert_eq!(shaped["properties"]["a"], expected);
        assert_eq!(shaped["additionalProperties"], false);
    }

    #[test]
    fn what_need_not_be_given_may_be_null() {
        check(json!({"type": "integer"}), json!({"type": ["integer", "null"]}));
        check(
            json!({"type": "string", "enum": ["x"]}),
            json!({"type": ["string", "null"], "enum": ["x", null]}),
        );
        check(
            json!({"type": "string", SECRET: true}),
            json!({"anyOf": [{"type": "string"}, secret_schema(), {"type": "null"}]}),
        );
        let needed = body_schema(json!({"properties": {"a": {"type": "integer"}}, "required": ["a"]}));
        assert_eq!(needed["properties"]["a"], json!({"type": "integer"}));
    }

    #[test]
    fn listed_fields_are_all_there_are() {
        check(
            json!({"type": "object", "properties": {"x": {"type": "integer"}}}),
            json!({
                "type": ["object", "null"], "properties": {"x": {"type": "integer"}},
                "additionalProperties": false,
            }),
        );
        check(json!({"type": "object"}), json!({"type": ["object", "null"]}));
    }

    #[test]
    fn what_has_parts_is_json_in_a_query() {
        for (property, expected) in [
            (json!({"type": "object"}), true),
            (json!({"type": "array", "items": {"type": "object"}}), true),
            (json!({"type": "array", "items": {"type": "string"}}), false),
            (json!({"anyOf": [{"type": "object"}]}), true),
            (json!({"type": "integer"}), false),
        ] {
            assert_eq!(is_json_in_query(&property), expected, "{property}");
        }
    }
}
