//! A reply in a line: what a model reads in place of its JSON. Single calls and the steps of `act` are told in the same
//! words.

use serde_json::{Map, Value};

/// Keys of a reply that say nothing new beside what was done.
const NOISE: &[&str] = &[
    "ok",
    "success",
    "caused_by_step_id",
    "untrusted",
    "suspicious",
    "suspicious_places",
    "action",
    "before",
    "after",
    "duration_ms",
    "dry_run",
    "route",
    "target",
    "matched_detail",
    "polls",
    "scenario_reaction",
    // It stands below the line.
    "outline",
    // Both ends of a drag stand before the outcome.
    "from",
    "to",
    "path",
];

/// Facts that a line tells in words, or that only code compares.
const TOLD: &[&str] = &[
    "ref",
    "changed",
    "note",
    "error",
    "renamed",
    "identity",
    "step_id",
    "new_dialogs",
    "elapsed_ms",
    "matched_index",
    "all_passed",
    "tree_hash",
    "warning",
    "verified",
    "into",
    "in_background",
    "raised",
    "executed",
    "argv",
    "cwd",
    "pid",
    "window",
    "window_found",
    "loading",
    "reused",
    "where_files_go",
    "reached",
    "closed",
    "final",
];

/// What a fact that holds is called.
const FLAGS: &[(&str, &str)] = &[
    ("in_background", "in the background"),
    ("raised", "its window came to the front"),
    ("reused", "in a window that was open"),
    ("loading", "still loading"),
];

const MOST_CANDIDATES: usize = 3;

/// What matters of a reply: which element it was, what changed, what went wrong.
pub fn lean_facts(reply: Value) -> Map<String, Value> {
    let Value::Object(mut fields) = reply else { return Map::new() };
    let target = fields.remove("target");
    fields.retain(|name, value| !NOISE.contains(&name.as_str()) && !is_empty(value));
    for name in ["ref", "renamed", "identity"] {
        if let Some(fact) = target.as_ref().and_then(|target| target.get(name)) {
            fields.insert(name.to_owned(), fact.clone());
        }
    }
    fields
}

fn is_empty(value: &Value) -> bool {
    value.is_null() || value.as_array().is_some_and(Vec::is_empty)
}

/// The name of a tool as lines have it: `click` is click_element.
pub fn tool_word(tool: &str) -> &str {
    tool.strip_suffix("_element").unwrap_or(tool)
}

/// The line of a call that is no step: `click e12 Button "Save": done, changed`. `label` is what the element is called.
pub fn call_line(tool: &str, reply: Value, label: Option<&str>) -> String {
    let is_dry = is_true(&reply, "dry_run");
    let mut facts = lean_facts(reply);
    // It has a line of its own.
    facts.remove("warning");
    // What it is called now is said behind the outcome.
    let label = label.filter(|label| text(&facts, "renamed") != Some(label));
    let subject = [text(&facts, "ref"), label].into_iter().flatten().collect::<Vec<_>>().join(" ");
    let gap = if subject.is_empty() { "" } else { " " };
    let tool = tool_word(tool);
    let outcome = match facts.contains_key("error") {
        true => format!("failed{}", error_words(&facts)),
        false => format!("{}{}", verdict_words(&facts, is_dry), outcome_words(&facts)),
    };
    format!("{tool}{gap}{subject}: {outcome}")
}

/// How sure it is that what was asked for came about.
fn verdict_words(facts: &Map<String, Value>, is_dry: bool) -> &'static str {
    let flag = |name: &str| facts.get(name).and_then(Value::as_bool);
    match (flag("verified"), flag("all_passed"), flag("changed")) {
        _ if is_dry => "dry run, nothing was done",
        _ if flag("reached") == Some(false) => "not done",
        _ if flag("reached") == Some(true) => "confirmed",
        (_, Some(false), _) => "failed",
        (Some(true), ..) | (_, Some(true), _) => "confirmed",
        _ if facts.contains_key("matched_index") => "confirmed",
        (_, _, Some(true)) => "done, changed",
        // The window that came has a line of its own.
        (_, _, Some(false)) if facts.contains_key("new_dialogs") => "done",
        (_, _, Some(false)) => "done, nothing changed",
        _ => "done",
    }
}

fn is_true(reply: &Value, name: &str) -> bool {
    reply.get(name) == Some(&Value::Bool(true))
}

fn text<'a>(facts: &'a Map<String, Value>, name: &str) -> Option<&'a str> {
    facts.get(name).and_then(Value::as_str)
}

/// What came of a call, behind its verdict.
pub fn outcome_words(facts: &Map<String, Value>) -> String {
    let mut words = String::new();
    if let Some(into) = facts.get("into") {
        words.push_str(&format!(", into {}", field_words(into)));
    }
    words.push_str(&window_words(facts));
    words.push_str(&reached_words(facts));
    words.push_str(&page_words(facts));
    if let Some(files) = text(facts, "where_files_go") {
        words.push_str(&format!("; {files}"));
    }
    for (name, said) in FLAGS {
        if facts.get(*name) == Some(&Value::Bool(true)) {
            words.push_str(&format!(", {said}"));
        }
    }
    if let Some(renamed) = text(facts, "renamed") {
        words.push_str(&format!(", is now {renamed}"));
    }
    if let Some(reason) = facts.get("identity").and_then(|identity| identity["reason"].as_str()) {
        words.push_str(&format!(", not sure that it is the same: {reason}"));
    }
    for said in [text(facts, "note"), text(facts, "warning")].into_iter().flatten() {
        words.push_str(&format!(" ({said})"));
    }
    words.push_str(&other_facts(facts));
    words
}

/// `e3 Edit "Name" =Ada`
fn field_words(field: &Value) -> String {
    let text = |name: &str| field[name].as_str().unwrap_or_default();
    let mut words = format!("{} {}", text("ref"), text("role"));
    if !text("name").is_empty() {
        words.push_str(&format!(" {}", field["name"]));
    }
    if field["value"].is_string() {
        words.push_str(&format!(" ={}", field["value"]));
    }
    words
}

/// The window that a program showed, or that it showed none.
fn window_words(facts: &Map<String, Value>) -> String {
    if facts.get("window_found") == Some(&Value::Bool(false)) {
        return ", no window came".to_owned();
    }
    let Some(window) = facts.get("window").filter(|window| window.is_object()) else { return String::new() };
    format!(", window {} {}", window["window_uid"].as_str().unwrap_or_default(), window["title"])
}

/// `, 200 "Cart" https://shop.example/cart`: a page that was opened.
fn page_words(facts: &Map<String, Value>) -> String {
    let Some(page) = opened_page(facts) else { return String::new() };
    format!(", {} {} {}", page.status, page.title, page.url)
}

struct OpenedPage<'a> {
    status: u64,
    title: &'a Value,
    url: &'a str,
}

fn opened_page(facts: &Map<String, Value>) -> Option<OpenedPage<'_>> {
    let status = facts.get("status").and_then(Value::as_u64)?;
    Some(OpenedPage { status, title: facts.get("title")?, url: text(facts, "url")? })
}

/// What became of a window that was to be changed, and the question that came instead.
fn reached_words(facts: &Map<String, Value>) -> String {
    let Some(reached) = facts.get("reached").and_then(Value::as_bool) else { return String::new() };
    let is_closed = facts.get("closed") == Some(&Value::Bool(true));
    let questions = facts.get("new_dialogs").and_then(Value::as_array).into_iter().flatten();
    let questions = questions.filter(|_| !reached).map(|question| {
        format!(
            "; a window opened: {} {}",
            question["window_uid"].as_str().unwrap_or_default(),
            question["title"]
        )
    });
    let state = match (reached, is_closed) {
        (true, true) => ", closed",
        (true, false) => "",
        (false, _) => ", the window has not the state that was asked for",
    };
    format!("{state}{}", questions.collect::<String>())
}

/// What a call answers with, such as the clipboard's text. That claims hold is all there is to say of them.
pub fn other_facts(facts: &Map<String, Value>) -> String {
    let passed = facts.get("all_passed") == Some(&Value::Bool(true));
    let is_of_window_action = facts.contains_key("reached");
    let is_of_page = opened_page(facts).is_some();
    let is_told = |name: &str| {
        (is_of_page && ["status", "title", "url", "window_uid"].contains(&name))
            || TOLD.contains(&name)
            || (passed && name == "results")
            || (is_of_window_action && name == "window_uid")
    };
    let others = facts.iter().filter(|(name, _)| !is_told(name));
    let others: Map<String, Value> = others.map(|(name, fact)| (name.clone(), fact.clone())).collect();
    if others.is_empty() { String::new() } else { format!(" {}", Value::Object(others)) }
}

/// The error of a call: its code, what it says, what could have been meant, and what else is known.
fn error_words(facts: &Map<String, Value>) -> String {
    let error = &facts["error"];
    let said = |name: &str| error[name].as_str().unwrap_or_default();
    let message = said("message");
    let mut words = format!(", {}: {message}", said("code"));
    // What was meant is in the message, or in the call itself.
    let told = [
        "candidates",
        "nearest",
        "field",
        "selector",
        "element_id",
        "broken_step",
        "matched_before",
        "windows",
        "ref",
        crate::error::MAY_COME,
    ];
    let is_said = |fact: &Value| fact.as_str().is_some_and(|text| message.contains(text));
    let context = error["context"].as_object().into_iter().flatten();
    let rest: Map<String, Value> = context
        .filter(|(name, fact)| !told.contains(&name.as_str()) && !is_said(fact))
        .map(|(name, fact)| (name.clone(), fact.clone()))
        .collect();
    if !rest.is_empty() {
        words.push_str(&format!(" {}", Value::Object(rest)));
    }
    words.push_str(&other_facts(facts));
    words.push_str(&open_windows(&error["context"]["windows"]));
    words.push_str(&candidate_words(facts));
    // Last: what stands behind the name of a tool is taken for its arguments.
    if let Some(next) = error["suggested_next_tool"].as_str() {
        words.push_str(&format!("; try {next}"));
    }
    words
}

/// The windows that are open, where another one was meant.
fn open_windows(windows: &Value) -> String {
    let named = |window: &Value| Some(format!("{} {}", window["window_uid"].as_str()?, window["title"]));
    let named: Vec<String> = windows.as_array().into_iter().flatten().filter_map(named).collect();
    if named.is_empty() { String::new() } else { format!("; open windows: {}", named.join(", ")) }
}

/// What could have been meant, each by its ref.
pub fn candidate_words(facts: &Map<String, Value>) -> String {
    let context = facts.get("error").and_then(|error| error.get("context"));
    let list = context.and_then(|context| context.get("candidates").or_else(|| context.get("nearest")));
    let named = |fact: &Value| {
        let text = |name: &str| fact.get(name).and_then(Value::as_str);
        let place = fact.get("bounds").map_or(String::new(), |at| format!(" @{},{}", at["x"], at["y"]));
        let called = match (text("role"), text("name")) {
            (Some(role), Some(name)) => format!(" {role} \"{name}\""),
            _ => text("selector").map_or(String::new(), |selector| format!(" {selector}")),
        };
        Some(format!("{}{called}{place}", text("ref")?))
    };
    let named: Vec<String> = list
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(named)
        .take(MOST_CANDIDATES)
        .collect();
    if named.is_empty() { String::new() } else { format!("; near: {}", named.join(", ")) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(tool: &str, reply: Value, expected: &str) {
        assert_eq!(call_line(tool, reply, None), expected);
    }

    #[test]
    fn a_call_is_a_line() {
        let click =
            json!({"ok": true, "step_id": 1, "target": {"ref": "e3"}, "changed": true, "new_dialogs": []});
        check("click_element", click.clone(), "click e3: done, changed");
        assert_eq!(
            call_line("click_element", click, Some("Button \"Save\"")),
            "click e3 Button \"Save\": done, changed"
        );
        check("click_at", json!({"ok": true, "dry_run": true}), "click_at: dry run, nothing was done");
        check("wait_for", json!({"ok": true, "matched_index": 0, "polls": 2}), "wait_for: confirmed");
        let raised = json!({"target": {"ref": "e3"}, "changed": false, "raised": true, "note": "press"});
        check(
            "click_element",
            raised,
            "click e3: done, nothing changed, its window came to the front (press)",
        );
    }

    #[test]
    fn a_text_is_told_with_its_field() {
        let into = json!({"window_uid": "w", "ref": "e1", "role": "Edit", "name": "Name", "value": "a\nb"});
        check(
            "type_text",
            json!({"verified": true, "into": into}),
            "type_text: confirmed, into e1 Edit \"Name\" =\"a\\nb\"",
        );
        check("type_text", json!({"verified": false}), "type_text: done");
    }

    #[test]
    fn a_window_is_told_by_what_became_of_it() {
        let closed = json!({"reached": true, "closed": true, "window_uid": "w1", "window": "Notes", "new_dialogs": []});
        check("window_action", closed, "window_action: confirmed, closed");
        let bounds = json!({"bounds": {"x": 0}, "focused": true});
        let moved = json!({"reached": true, "window_uid": "w1", "window": "Notes", "final": bounds});
        check("window_action", moved, "window_action: confirmed");
        let asks = json!({"reached": false, "window_uid": "w1", "window": "Notes",
            "new_dialogs": [{"window_uid": "w2", "title": "Save?"}]});
        check(
            "window_action",
            asks,
            "window_action: not done, the window has not the state that was asked for; a window opened: w2 \"Save?\"",
        );
    }

    #[test]
    fn files_of_a_private_desktop_are_told_with_its_programs() {
        let reply = json!({"executed": true, "argv": ["calc"], "where_files_go": "programs see HOME=/tmp/h"});
        check("launch_app", reply, "launch_app: done; programs see HOME=/tmp/h");
    }

    #[test]
    fn a_program_is_told_with_its_window() {
        let window =
            json!({"window_uid": "w", "title": "Calc", "process": "calc", "pid": 3, "focused": false});
        let reply = json!({"executed": true, "argv": ["calc"], "window_found": true, "window": window, "reused": true});
        check("launch_app", reply, "launch_app: done, window w \"Calc\", in a window that was open");
        let none = json!({"executed": true, "argv": ["calc"], "window_found": false, "running": true});
        check("launch_app", none, "launch_app: done, no window came {\"running\":true}");
    }

    #[test]
    fn an_error_is_a_line() {
        let error = json!({"code": "Ambiguous", "message": "2 match", "recoverable": true, "suggested_next_tool": "find",
            "context": {"count": 2, "candidates": [{"ref": "e1", "role": "Edit", "name": "A"}]}});
        check(
            "click_element",
            json!({"ok": false, "error": error, "step_id": 4}),
            "click: failed, Ambiguous: 2 match {\"count\":2}; near: e1 Edit \"A\"; try find",
        );
        let gone = json!({"code": "WindowGone", "message": "the window of e3 is gone", "suggested_next_tool": "look",
            "context": {"ref": "e3", "windows": [{"window_uid": "w1", "title": "Notes"}]}});
        check(
            "click_element",
            json!({"ok": false, "error": gone}),
            "click: failed, WindowGone: the window of e3 is gone; open windows: w1 \"Notes\"; try look",
        );
        let claims = json!({"all_passed": false, "results": [{"kind": "oracle", "passed": false}]});
        check(
            "assert_state",
            claims,
            "assert_state: failed {\"results\":[{\"kind\":\"oracle\",\"passed\":false}]}",
        );
    }
}
