//! The contract's recorded calls, replayed: same keys, and the same values where they are facts.
//!
//! `contract/samples.json` holds what a compatible server answers. A tool that is added later only needs
//! its name in `COVERED`; what we answer differently on purpose stands in `IMPROVED`, with the reason.

use crate::support::World;
use crate::support::contract::{Comparison, Improved};
use serde_json::{Map, Value};

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
    "get_screenshot_cropped",
    "get_ocr",
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
    "focus_element",
    "invoke_element",
    "set_value",
    "clear_text",
    "select_option",
    "key_into_element",
    "right_click_element",
    "double_click_element",
    "hover_element",
    "hover_at",
    "drag",
    "right_click_at",
    "click_element_and_observe",
    "type_and_observe",
    "press_key_and_observe",
    "double_click_at",
    "observe_window",
    "snapshot",
    "snapshot_get",
    "snapshot_diff",
    "snapshot_drop",
    "load_scenario",
    "get_budget_status",
    "get_redaction_status",
    "propose_action",
];

/// Keys whose values differ from run to run, or are sentences of another author.
const NOT_COMPARED: &[&str] = &[
    "step_id",
    "caused_by_step_id",
    "tree_token",
    "base_token",
    "snapshot_id",
    "ts",
    "capture_ms",
    "duration_ms",
    "elapsed_ms",
    "cache",
    "captured_at",
    "message",
    "note",
    "api_note",
    "tree_stats",
    "confirm_token",
    "expires_at",
];

/// Answers that are better on purpose: the pointer, and why.
const IMPROVED: &[Improved] = &[
    ("wait_for:focused_changes", "", "the focus must change; that some window has it is no change"),
    ("wait_for:timeout", "/polls", "a wait looks when something changed and at its end, not by the clock"),
    ("assert_state", "/results/8/observed", "pictures are compared; this reference may not be read"),
    ("assert_state", "/results/8/error_code", "pictures are compared; this reference may not be read"),
    ("assert_state", "/results/9/observed", "an unknown kind is answered with the known ones"),
    ("find_element:stale_uid", "", "a window that is gone is an error, never another window"),
    ("get_capabilities", "/supports/drag", "only what this build has"),
    ("scenario:login_click", "/before/focused_selector", "the field that was clicked has the focus"),
    ("select_option:missing", "", "an option that is not there is a plain error, nothing was done"),
    ("hover_at", "/ok", "the recording had no display"),
    ("hover_at", "/success", "the recording had no display"),
    ("hover_element", "/ok", "the recording had no display"),
    ("hover_element", "/success", "the recording had no display"),
    ("hover_element", "/error", "the recording had no display"),
    ("drag", "/ok", "the recording had no display"),
    ("drag", "/success", "the recording had no display"),
    ("drag", "/error", "the recording had no display"),
    ("scenario:observe_since", "/changes/1/fields/value", "what is in a secret field is not shown"),
    ("scenario:observe_since", "/tree_hash", "what is in a secret field is not in the hash of the tree"),
    ("scenario:login_click", "/before/tree_hash", "what is in a secret field is not in the hash of the tree"),
    ("get_full_screenshot", "/sketch", "the sample's sketch has an OCR overlay"),
    ("get_screen_description:max_tokens", "/effective_mode", "mode ocr is honoured"),
    ("get_screen_description:max_tokens", "/description", "mode ocr is honoured"),
    ("get_ocr", "/words", "our picture can be read without mistakes"),
    ("get_ocr:bbox", "/words", "our picture has no empty bar in that place"),
];

#[test]
fn every_sample_of_a_covered_tool_is_answered_alike() {
    let samples: Map<String, Value> =
        serde_json::from_str(&crate::support::read("tests/contract/samples.json")).unwrap();
    let world = World::new();
    let mut compared = 0;
    let mut differences = Vec::new();
    let mut tokens = Tokens::default();
    for (label, sample) in &samples {
        let tool = sample["tool"].as_str().unwrap();
        if label.starts_with("policy:") || !COVERED.contains(&tool) || tool == "unknown_tool" {
            continue;
        }
        prepare(&world, label);
        let uid = world.call("list_windows", Value::Object(Map::new()))["windows"][0]["window_uid"].clone();
        let arguments = tokens.ours(&world, &with_this_uid(&sample["arguments"], &uid));
        let got = world.call(tool, arguments);
        tokens.note(&sample["result"], &got);
        Comparison { label, not_compared: NOT_COMPARED, improved: IMPROVED, differences: &mut differences }
            .compare("", &sample["result"], &got);
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

/// Which of our tokens stands for which of the recording's.
#[derive(Default)]
struct Tokens(std::collections::HashMap<String, String>);

impl Tokens {
    fn note(&mut self, want: &Value, got: &Value) {
        for key in ["tree_token", "snapshot_id"] {
            if let (Some(theirs), Some(ours)) = (want[key].as_str(), got[key].as_str()) {
                self.0.insert(theirs.to_owned(), ours.to_owned());
            }
        }
    }

    /// The recording has another token of the same tree, from a call that is not in it.
    const ALIASES: &[(&str, &str)] = &[("tt:ce71dd578e73b18e", "tt:695b0dcf3a9b4840")];

    /// The recorded arguments with our tokens. A snapshot that the recording took without noting it is
    /// taken now; a token that nobody knows stays unknown.
    fn ours(&self, world: &World, arguments: &Value) -> Value {
        let mut arguments = arguments.clone();
        for value in arguments.as_object_mut().unwrap().values_mut() {
            let Some(theirs) = value.as_str() else { continue };
            let alias = Self::ALIASES.iter().find(|(alias, _)| *alias == theirs).map(|(_, noted)| *noted);
            if let Some(ours) = self.0.get(alias.unwrap_or(theirs)) {
                *value = ours.as_str().into();
            } else if theirs.starts_with("snap:") && theirs != "snap:gone" {
                *value = world.ok("snapshot", serde_json::json!({}))["snapshot_id"].clone();
            }
        }
        // A wait refuses a token that nobody knows; the recorded one was of the tree as it was.
        if let Some(since) = arguments.pointer_mut("/any_of/0/since") {
            *since = world.ok("get_window_structure", serde_json::json!({}))["tree_token"].clone();
        }
        arguments
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
