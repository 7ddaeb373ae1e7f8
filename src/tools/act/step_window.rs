//! In which window the expectations of a step are checked: in the step's own, and in the focused one too where the step
//! may have opened a dialog.

use serde_json::{Map, Value};

use crate::tools::assert_state::{PredicateSubject, subject_of};
use crate::tools::wait_for::kind_of_type;

/// An expectation for each window in which it may be met.
pub fn in_windows(expected: Map<String, Value>, window_uid: Option<&str>) -> Vec<Map<String, Value>> {
    let Some(own) = window_uid.and_then(|uid| in_window(&expected, uid)) else { return vec![expected] };
    let kind = own.get("kind").and_then(Value::as_str).unwrap_or_default();
    match subject_of(kind) {
        Some(PredicateSubject::WindowOrDialog) => vec![own, expected],
        _ => vec![own],
    }
}

/// The same predicate about this window; `None` where it names its own, or is not about a window.
pub fn in_window(expected: &Map<String, Value>, uid: &str) -> Option<Map<String, Value>> {
    if expected.contains_key("window_uid") || expected.contains_key("ref") {
        return None;
    }
    let kind = match expected.get("type").and_then(Value::as_str) {
        Some(name) => kind_of_type(name)?,
        None => expected.get("kind")?.as_str()?,
    };
    if subject_of(kind)? == PredicateSubject::Desktop {
        return None;
    }
    let mut own = Map::from_iter([("kind".to_owned(), Value::from(kind))]);
    let rest = expected.iter().filter(|(name, _)| !matches!(name.as_str(), "type" | "kind"));
    own.extend(rest.map(|(name, value)| (name.clone(), value.clone())));
    own.insert("window_uid".to_owned(), uid.into());
    Some(own)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(expected: Value, window: Option<&str>, forms: Value) {
        let expected = expected.as_object().unwrap().clone();
        assert_eq!(json!(in_windows(expected.clone(), window)), forms, "{expected:?}");
    }

    #[test]
    fn an_expectation_is_about_the_window_of_its_step() {
        let text = json!({"kind": "text_visible", "regex": "Saved"});
        check(text.clone(), None, json!([text]));
        let own = json!({"kind": "text_visible", "regex": "Saved", "window_uid": "w"});
        check(text.clone(), Some("w"), json!([own, text]));
        let waited = json!({"type": "text_visible", "regex": "Saved"});
        check(waited.clone(), Some("w"), json!([own, waited]));
        let absent = json!({"kind": "element_absent", "selector": "//Tab"});
        check(absent, Some("w"), json!([{"kind": "element_absent", "selector": "//Tab", "window_uid": "w"}]));
    }

    #[test]
    fn what_names_its_window_is_left_alone() {
        for expected in [
            json!({"kind": "text_visible", "regex": "x", "window_uid": "other"}),
            json!({"kind": "element_absent", "ref": "e1"}),
            json!({"kind": "window_exists", "title_regex": "x"}),
            json!({"type": "window_disappears", "window_uid": "other"}),
        ] {
            check(expected.clone(), Some("w"), json!([expected]));
        }
    }
}
