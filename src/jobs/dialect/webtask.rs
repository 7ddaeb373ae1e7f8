//! The ten tools of web-task-api. What it calls `elementId` is a ref of ours.

use serde_json::{Value, json};

use super::screenjob::{CLICKS, KEYS, TYPES};
use super::{DialectCall, DialectStep, DialectTool, one_call};

pub const FINISH: &str = "finish";
pub const FAIL: &str = "fail";

/// The longest that `wait_for_text` waits.
const LONGEST_WAIT_MS: f64 = 60_000.0;

pub const TOOLS: &[DialectTool] = &[
    DialectTool {
        name: "snapshot",
        brief: "See the page: its address and title, and its elements; each that can be acted on has an elementId (e1, e2, …).",
        properties: "{}",
        required: &[],
        uses: &["look"],
        denies: &["look"],
        runs_commands: false,
        translate: |_| Ok(one_call("look", json!({}))),
    },
    DialectTool {
        name: "navigate",
        brief: "Open an address in the tab, and wait until it is loaded.",
        properties: r#"{"url": {"type": "string"}}"#,
        required: &["url"],
        uses: &["open_url"],
        denies: &["open_url", "page_history"],
        runs_commands: false,
        translate: |call| Ok(one_call("open_url", json!({"url": call.text("url")?}))),
    },
    DialectTool {
        name: "click",
        brief: "Click an element of the snapshot.",
        properties: r#"{"elementId": {"type": "string"}}"#,
        required: &["elementId"],
        uses: &["click_element"],
        denies: CLICKS,
        runs_commands: false,
        translate: |call| Ok(one_call("click_element", json!({"ref": element(call)?}))),
    },
    DialectTool {
        name: "fill",
        brief: "Write a value into a field; what it held is replaced.",
        properties: r#"{"elementId": {"type": "string"}, "value": {"type": "string"}}"#,
        required: &["elementId", "value"],
        uses: &["set_value"],
        denies: TYPES,
        runs_commands: false,
        translate: |call| {
            Ok(one_call("set_value", json!({"ref": element(call)?, "value": call.text("value")?})))
        },
    },
    DialectTool {
        name: "press",
        brief: "Press a key or a combination, like enter or ctrl+a, in an element or where the keyboard is.",
        properties: r#"{"key": {"type": "string"}, "elementId": {"type": "string"}}"#,
        required: &["key"],
        uses: &["press_key", "key_into_element"],
        denies: KEYS,
        runs_commands: false,
        translate: press,
    },
    DialectTool {
        name: "select",
        brief: "Choose an option of a list by its name.",
        properties: r#"{"elementId": {"type": "string"}, "value": {"type": "string"}}"#,
        required: &["elementId", "value"],
        uses: &["select_option"],
        denies: &["select_option"],
        runs_commands: false,
        translate: |call| {
            let args = json!({"ref": element(call)?, "option_name": call.text("value")?});
            Ok(one_call("select_option", args))
        },
    },
    DialectTool {
        name: "wait_for_text",
        brief: "Wait until the page shows a text.",
        properties: r#"{"text": {"type": "string"}, "timeoutMs": {"type": "number", "minimum": 0, "maximum": 60000}}"#,
        required: &["text"],
        uses: &["wait_for"],
        denies: &["wait_for"],
        runs_commands: false,
        translate: wait_for_text,
    },
    DialectTool {
        name: "read_page",
        brief: "Read the whole page as text.",
        properties: "{}",
        required: &[],
        uses: &["read_page"],
        denies: &["read_page"],
        runs_commands: false,
        translate: |_| Ok(one_call("read_page", json!({"part": "whole"}))),
    },
];

fn element<'a>(call: &'a DialectCall) -> Result<&'a str, String> {
    call.text("elementId").map_err(|_| {
        "the argument 'elementId' is missing; the snapshot has it at the begin of a line".to_owned()
    })
}

fn press(call: &DialectCall) -> Result<Vec<DialectStep>, String> {
    let key = call.text("key")?;
    Ok(match call.args.get("elementId") {
        None | Some(Value::Null) => one_call("press_key", json!({"keys": key})),
        Some(_) => one_call("key_into_element", json!({"ref": element(call)?, "keys": key})),
    })
}

/// The text is meant as it is written, and no pattern.
fn wait_for_text(call: &DialectCall) -> Result<Vec<DialectStep>, String> {
    let mut args = json!({"any_of": [{"type": "text_visible", "regex": regex::escape(call.text("text")?)}]});
    if let Some(time) = call.number("timeoutMs")? {
        if !(0.0..=LONGEST_WAIT_MS).contains(&time) {
            return Err(format!("the argument 'timeoutMs' must be from 0 to {LONGEST_WAIT_MS}"));
        }
        args["timeout_ms"] = (time.round() as u64).into();
    }
    Ok(one_call("wait_for", args))
}
