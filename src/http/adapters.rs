//! The contract's special shapes: the few routes and replies that are not a tool's own. Everything here is
//! renaming; what a call may do is decided behind it, by the gate.

use serde_json::{Map, Value};

use crate::error::{Error, Result};
use crate::tool::Method;

type Arguments = Map<String, Value>;

/// A route whose arguments become a call of one of several tools, or of one with other arguments.
pub struct Adapter {
    pub method: Method,
    pub path: &'static str,
    /// The tools that it may call; the first one's schema types a query string.
    pub tools: &'static [&'static str],
    pub adapt: fn(Arguments) -> Result<(&'static str, Arguments)>,
    /// A tool's schema as this route spells its arguments.
    pub spelled: fn(&str, Value) -> Value,
}

pub const ADAPTERS: &[Adapter] = &[
    Adapter {
        method: Method::Post,
        path: "/api/action",
        tools: &ACTING,
        adapt: adapt_action,
        spelled: spelled_as_action,
    },
    Adapter {
        method: Method::Post,
        path: "/api/hover",
        tools: &["hover_at", "hover_element"],
        adapt: adapt_hover,
        spelled: |_, schema| schema,
    },
    Adapter {
        method: Method::Get,
        path: "/api/sketch",
        tools: &["get_screen_sketch"],
        adapt: adapt_sketch,
        spelled: |_, schema| schema,
    },
    Adapter {
        method: Method::Post,
        path: "/v1/tasks/run",
        tools: &["run_web_task"],
        adapt: adapt_task,
        spelled: |_, schema| schema,
    },
    Adapter {
        method: Method::Post,
        path: "/v1/sessions",
        tools: &["save_session"],
        adapt: adapt_new_session,
        spelled: |_, schema| without_properties(schema, &["sessionId", "clear"]),
    },
    Adapter {
        method: Method::Patch,
        path: "/v1/sessions/{sessionId}",
        tools: &["save_session"],
        adapt: adapt_changed_session,
        spelled: |_, schema| without_properties(schema, &["sessionId"]),
    },
];

pub fn find_adapter(method: Method, path: &str) -> Option<&'static Adapter> {
    ADAPTERS.iter().find(|adapter| adapter.method == method && adapter.path == path)
}

/// What `action` may say, the tool that does it, and the tool's name for `value`.
const ACTIONS: [(&str, &str, Option<&str>); 4] = [
    ("click_at", "click_at", None),
    ("type", "type_text", Some("text")),
    ("key", "press_key", Some("keys")),
    ("scroll", "scroll", None),
];
const ACTING: [&str; 4] = [ACTIONS[0].1, ACTIONS[1].1, ACTIONS[2].1, ACTIONS[3].1];

fn adapt_action(mut arguments: Arguments) -> Result<(&'static str, Arguments)> {
    let asked = arguments.remove("action");
    let name = asked.as_ref().and_then(Value::as_str).unwrap_or_default();
    let Some((_, tool, renamed)) = ACTIONS.iter().find(|(action, ..)| *action == name) else {
        let known = ACTIONS.map(|(action, ..)| action).join(", ");
        return Err(Error::bad_request(format!("'action' must be one of {known}, not '{name}'"))
            .with("field", "action"));
    };
    if let (Some(renamed), Some(value)) = (renamed, arguments.remove("value"))
        && arguments.insert((*renamed).to_owned(), value).is_some()
    {
        return Err(Error::bad_request(format!(
            "'value' and '{renamed}' are the same argument of '{name}'; give one"
        ))
        .with("field", "value"));
    }
    Ok((tool, arguments))
}

fn spelled_as_action(tool: &str, mut schema: Value) -> Value {
    let Some((name, _, renamed)) = ACTIONS.iter().find(|(_, does, _)| *does == tool) else {
        return schema;
    };
    if let (Some(renamed), Some(properties)) = (renamed, schema["properties"].as_object_mut()) {
        let value = properties.remove(*renamed).unwrap_or_default();
        properties.insert("value".to_owned(), value);
    }
    let said = schema["required"].as_array().into_iter().flatten();
    let mut required: Vec<Value> =
        said.map(|name| if name.as_str() == *renamed { "value".into() } else { name.clone() }).collect();
    required.push("action".into());
    schema["properties"]["action"] = serde_json::json!({ "const": name });
    schema["required"] = required.into();
    schema
}

/// What only a point is told by, and what only an element.
const POINT: [&str; 9] = ["x", "y", "row", "col", "dx", "dy", "image", "image_id", "coordinate_space"];
const ELEMENT: [&str; 3] = ["ref", "selector", "element_id"];

/// A point where there is something of one and no element is named.
fn adapt_hover(arguments: Arguments) -> Result<(&'static str, Arguments)> {
    // A name without a value tells what was meant, too.
    let of_a_point = POINT.iter().any(|name| arguments.contains_key(*name));
    let has = |name: &&str| arguments.get(*name).is_some_and(|value| !value.is_null());
    let at_point = of_a_point && !ELEMENT.iter().any(has);
    Ok((if at_point { "hover_at" } else { "hover_element" }, arguments))
}

/// Over REST a sketch always says whether text was laid over it.
fn adapt_sketch(mut arguments: Arguments) -> Result<(&'static str, Arguments)> {
    arguments.entry("ocr").or_insert(Value::Bool(false));
    Ok(("get_screen_sketch", arguments))
}

/// `?async` alone is a yes.
fn adapt_task(mut arguments: Arguments) -> Result<(&'static str, Arguments)> {
    if let Some(flag) = arguments.get_mut("async").filter(|flag| flag.is_null()) {
        *flag = Value::Bool(true);
    }
    Ok(("run_web_task", arguments))
}

fn adapt_new_session(arguments: Arguments) -> Result<(&'static str, Arguments)> {
    let own = ["sessionId", "clear"].into_iter().find(|name| arguments.contains_key(*name));
    match own {
        None => Ok(("save_session", arguments)),
        Some(name) => {
            let message =
                format!("a new session has no '{name}'; PATCH /v1/sessions/ID changes one that is there");
            Err(Error::bad_request(message).with("field", name))
        }
    }
}

/// The parts of a session that can be taken away; null for another field says nothing.
const CLEARED_BY_NULL: [&str; 5] = ["name", "profile", "startUrl", "agent", "notes"];

/// What is null is taken away.
fn adapt_changed_session(mut arguments: Arguments) -> Result<(&'static str, Arguments)> {
    let is_null = |name: &&str| arguments.get(*name).is_some_and(Value::is_null);
    let gone: Vec<Value> = CLEARED_BY_NULL.into_iter().filter(is_null).map(Value::from).collect();
    if arguments.get("clear").is_some_and(Value::is_null) {
        arguments.remove("clear");
    }
    if !gone.is_empty() {
        arguments.retain(|_, value| !value.is_null());
        arguments.insert("clear".to_owned(), gone.into());
    }
    Ok(("save_session", arguments))
}

fn without_properties(mut schema: Value, names: &[&str]) -> Value {
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        properties.retain(|name, _| !names.contains(&name.as_str()));
    }
    schema
}

/// Replies whose picture does not stand in `data` but in a field of an object: tool, object, field.
const PICTURE_INSIDE: &[(&str, &str, &str)] = &[("propose_action", "would_target", "screenshot_b64")];

/// The object and its field, where that is another place than `data`.
pub fn place_of_picture(tool: &str) -> Option<(&'static str, &'static str)> {
    let inside = PICTURE_INSIDE.iter().find(|(name, ..)| *name == tool);
    inside.map(|(_, object, field)| (*object, *field))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[track_caller]
    fn check(path: &str, arguments: Value, expected: (&str, Value)) {
        let adapter = ADAPTERS.iter().find(|adapter| adapter.path == path).unwrap();
        let (tool, arguments) = (adapter.adapt)(arguments.as_object().unwrap().clone()).unwrap();
        assert_eq!((tool, Value::Object(arguments)), expected);
        assert!(adapter.tools.contains(&tool), "{tool}");
    }

    #[test]
    fn shapes_become_calls() {
        check("/api/action", json!({"action": "click_at", "x": 1}), ("click_at", json!({"x": 1})));
        check("/api/action", json!({"action": "type", "value": "a"}), ("type_text", json!({"text": "a"})));
        check("/api/action", json!({"action": "key", "value": "a"}), ("press_key", json!({"keys": "a"})));
        check("/api/hover", json!({"x": 1, "y": 2}), ("hover_at", json!({"x": 1, "y": 2})));
        let cell = json!({"image": "img:1", "row": 1, "col": 2});
        check("/api/hover", cell.clone(), ("hover_at", cell));
        check("/api/hover", json!({"col": 1}), ("hover_at", json!({"col": 1})));
        check("/api/hover", json!({"hover_ms": 1}), ("hover_element", json!({"hover_ms": 1})));
        let element = json!({"x": 1, "y": 2, "selector": "A"});
        check("/api/hover", element.clone(), ("hover_element", element));
        check("/api/sketch", json!({}), ("get_screen_sketch", json!({"ocr": false})));
        check("/api/sketch", json!({"ocr": true}), ("get_screen_sketch", json!({"ocr": true})));
    }

    #[test]
    fn bodies_of_web_task_api_become_calls() {
        check("/v1/tasks/run", json!({"async": null}), ("run_web_task", json!({"async": true})));
        check("/v1/tasks/run", json!({"goal": "a"}), ("run_web_task", json!({"goal": "a"})));
        check("/v1/sessions", json!({"name": "a"}), ("save_session", json!({"name": "a"})));
        let patch = json!({"sessionId": "s", "name": null, "notes": "n"});
        let call = json!({"sessionId": "s", "notes": "n", "clear": ["name"]});
        check("/v1/sessions/{sessionId}", patch, ("save_session", call));
        check("/v1/sessions/{sessionId}", json!({"clear": null}), ("save_session", json!({})));
        let warmed = json!({"warmed": null, "notes": null});
        check("/v1/sessions/{sessionId}", warmed, ("save_session", json!({"clear": ["notes"]})));
        let adapter = find_adapter(Method::Post, "/v1/sessions").unwrap();
        let asked = json!({"sessionId": "mine"});
        let error = (adapter.adapt)(asked.as_object().unwrap().clone()).unwrap_err();
        assert!(error.message.contains("'sessionId'"), "{error}");
    }

    #[test]
    fn an_action_is_described_as_it_is_spelled() {
        let typing = json!({"properties": {"text": {"type": "string"}}, "required": ["text"]});
        assert_eq!(
            spelled_as_action("type_text", typing),
            json!({
                "properties": {"value": {"type": "string"}, "action": {"const": "type"}},
                "required": ["value", "action"],
            })
        );
    }

    #[test]
    fn an_unknown_action_is_told_the_known_ones() {
        let adapter = find_adapter(Method::Post, "/api/action").unwrap();
        let asked = json!({"action": "zap"});
        let error = (adapter.adapt)(asked.as_object().unwrap().clone()).unwrap_err();
        assert_eq!(error.message, "'action' must be one of click_at, type, key, scroll, not 'zap'");
    }

    /// H-30 on REST: what is said twice is refused, whichever of the two would have won.
    #[test]
    fn an_argument_under_both_of_its_names_is_refused() {
        let adapter = find_adapter(Method::Post, "/api/action").unwrap();
        let asked = json!({"action": "type", "text": "a", "value": "b"});
        let error = (adapter.adapt)(asked.as_object().unwrap().clone()).unwrap_err();
        assert_eq!(error.message, "'value' and 'text' are the same argument of 'type'; give one");
    }
}
