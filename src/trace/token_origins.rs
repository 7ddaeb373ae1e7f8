//! Where the tokens among the arguments of a call came from: which earlier reply contained them.

use std::collections::{BTreeMap, HashMap};

use serde_json::{Map, Value};

use super::format::TokenOrigin;
use crate::text::escape_pointer;

/// The tokens among the arguments that earlier replies told, by JSON pointer.
pub fn origins(
    args: &Map<String, Value>,
    told: &HashMap<String, TokenOrigin>,
) -> BTreeMap<String, TokenOrigin> {
    let mut found = BTreeMap::new();
    if !told.is_empty() {
        for (name, value) in args {
            find_tokens(value, format!("/{}", escape_pointer(name)), told, &mut found);
        }
    }
    found
}

fn find_tokens(
    value: &Value,
    path: String,
    told: &HashMap<String, TokenOrigin>,
    found: &mut BTreeMap<String, TokenOrigin>,
) {
    match value {
        Value::String(text) => {
            if let Some(origin) = told.get(text) {
                found.insert(path, origin.clone());
            }
        }
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                find_tokens(item, format!("{path}/{at}"), told, found);
            }
        }
        Value::Object(fields) => {
            for (name, value) in fields {
                find_tokens(value, format!("{path}/{}", escape_pointer(name)), told, found);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn tokens_are_found_by_where_they_were_told() {
        let origin = TokenOrigin { trace_seq: 4, path: "/tree_token".to_owned() };
        let told = HashMap::from([("tt:1".to_owned(), origin.clone())]);
        let args = json!({"since": "tt:1", "any_of": [{"a/b": "tt:1"}, "tt:2"]});
        let found = origins(args.as_object().unwrap(), &told);
        assert_eq!(found.keys().collect::<Vec<_>>(), ["/any_of/0/a~1b", "/since"]);
        assert_eq!(found["/since"], origin);
    }
}
