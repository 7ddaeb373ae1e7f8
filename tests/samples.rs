//! The contract's recorded calls, replayed: same keys, and the same values where they are facts.
//!
//! `contract/samples.json` holds what a compatible server answers. A tool that is added later only needs
//! its name in `COVERED`; what we answer differently on purpose stands in `IMPROVED`, with the reason.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that fails may panic")]

mod support;

use serde_json::{Map, Value};
use support::World;

/// Tools whose samples are compared.
const COVERED: &[&str] = &[
    "list_windows",
    "get_capabilities",
    "get_monitors",
    "get_window_structure",
    "find_element",
    "get_screen_sketch",
    "get_screen_description",
    "get_screenshot",
    "get_full_screenshot",
    "get_visible_areas",
    "bring_to_foreground",
    "click_at",
    "type_text",
    "press_key",
    "scroll",
    "click_element",
    "wait_for",
    "wait_idle",
    "assert_state",
    "load_scenario",
    "get_budget_status",
    "get_redaction_status",
];

/// Keys whose values differ from run to run, or are sentences of another author.
const NOT_COMPARED: &[&str] = &[
    "step_id",
    "caused_by_step_id",
    "tree_token",
    "capture_ms",
    "duration_ms",
    "elapsed_ms",
    "cache",
    "captured_at",
    "message",
    "note",
    "api_note",
    "tree_stats",
];

/// Answers that are better on purpose: the pointer, and why.
const IMPROVED: &[(&str, &str, &str)] = &[
    ("wait_for:focused_changes", "", "the focus must change; that some window has it is no change"),
    ("wait_for:timeout", "/polls", "a wait looks when something changed and at its end, not by the clock"),
    ("assert_state", "/results/8/observed", "pictures are compared; this reference may not be read"),
    ("assert_state", "/results/8/error_code", "pictures are compared; this reference may not be read"),
    ("assert_state", "/results/9/observed", "an unknown kind is answered with the known ones"),
    ("find_element:stale_uid", "", "a window that is gone is an error, never another window"),
    ("get_capabilities", "/supports/ocr", "only what this build has"),
    ("get_capabilities", "/supports/tracing", "only what this build has"),
    ("get_capabilities", "/supports/replay", "only what this build has"),
    ("get_capabilities", "/supports/drag", "only what this build has"),
    ("get_capabilities", "/supports/observe_with_diff", "only what this build has"),
    ("get_full_screenshot", "/sketch", "the sample's sketch has an OCR overlay"),
    ("get_screen_description:max_tokens", "", "mode ocr is an error where there is no OCR, not another text"),
];

#[test]
fn every_sample_of_a_covered_tool_is_answered_alike() {
    let samples: Map<String, Value> =
        serde_json::from_str(&support::read("tests/contract/samples.json")).unwrap();
    let world = World::new();
    let mut compared = 0;
    let mut differences = Vec::new();
    for (label, sample) in &samples {
        let tool = sample["tool"].as_str().unwrap();
        if label.starts_with("policy:") || !COVERED.contains(&tool) || tool == "unknown_tool" {
            continue;
        }
        prepare(&world, label);
        let uid = world.call("list_windows", Value::Object(Map::new()))["windows"][0]["window_uid"].clone();
        let arguments = with_this_token(&world, with_this_uid(&sample["arguments"], &uid));
        let got = world.call(tool, arguments);
        compare(label, "", &sample["result"], &got, &mut differences);
        compared += 1;
    }
    assert!(compared >= 45, "only {compared} samples were compared");
    assert!(differences.is_empty(), "{} differences:\n{}", differences.len(), differences.join("\n"));
}

/// The recorded session typed into fields that it had clicked with tools compared elsewhere.
fn prepare(world: &World, label: &str) {
    if let Some(field) = label.strip_prefix("scenario:type_text:") {
        world.ok("click_element", serde_json::json!({"selector": format!("//Edit[name=\"{field}\"]")}));
    }
    // The form may have been sent already, by another tool.
    if label == "scenario:assert" {
        world.call("click_element", serde_json::json!({"selector": "//Button[name=\"Login\"]"}));
    }
}

/// Uids of the default desktop end in a nonce of the process.
fn with_this_uid(arguments: &Value, uid: &Value) -> Value {
    let mut arguments = arguments.clone();
    if let Some(given) = arguments.get_mut("window_uid")
        && given.as_str().is_some_and(|text| text.starts_with("mock:0:"))
    {
        *given = uid.clone();
    }
    arguments
}

/// Tree tokens are of one process, and one that is unknown is refused.
fn with_this_token(world: &World, mut arguments: Value) -> Value {
    if let Some(given) = arguments.pointer_mut("/any_of/0/since") {
        *given = world.ok("get_window_structure", serde_json::json!({}))["tree_token"].clone();
    }
    arguments
}

fn compare(label: &str, place: &str, want: &Value, got: &Value, differences: &mut Vec<String>) {
    if IMPROVED.iter().any(|(name, pointer, _)| *name == label && *pointer == place) {
        return;
    }
    match (want, got) {
        (Value::Object(want), Value::Object(got)) => {
            for (key, want) in want.iter().filter(|(key, _)| !NOT_COMPARED.contains(&key.as_str())) {
                match got.get(key) {
                    Some(got) => compare(label, &format!("{place}/{key}"), want, got, differences),
                    None => differences.push(format!("{label}{place}: the key {key} is missing")),
                }
            }
        }
        (Value::Array(want), Value::Array(got)) if want.len() == got.len() => {
            for (index, (want, got)) in want.iter().zip(got).enumerate() {
                compare(label, &format!("{place}/{index}"), want, got, differences);
            }
        }
        (Value::String(want), Value::String(got)) if same_text(want, got) => {}
        _ if want == got => {}
        _ => differences.push(format!("{label}{place}: want {}, got {}", short(want), short(got))),
    }
}

fn same_text(want: &str, got: &str) -> bool {
    if let (Some(want), Some(got)) = (want.strip_prefix("mock:"), got.strip_prefix("mock:")) {
        return want.split(':').next() == got.split(':').next();
    }
    // Long samples are cut: a beginning, and how long the whole is.
    if let Some((start, rest)) = want.split_once("…[") {
        let length: Option<usize> =
            rest.strip_suffix(" characters in all]").and_then(|count| count.parse().ok());
        return got.starts_with(start) && length == Some(got.chars().count());
    }
    // What follows is read from a picture, by another program.
    match want.split_once("\n\n[ocr]\n") {
        Some((accessibility, _)) => got == accessibility,
        None => want == got,
    }
}

fn short(value: &Value) -> String {
    value.to_string().chars().take(160).collect()
}
