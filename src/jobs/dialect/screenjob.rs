//! The eight tools of ScreenJob.

use serde_json::{Value, json};

use super::{DialectCall, DialectStep, DialectTool, one_call, with_fields};

pub const FINISH: &str = "task_complete";

/// Everything that presses something.
pub const CLICKS: &[&str] = &[
    "pointer",
    "click_element",
    "invoke_element",
    "right_click_element",
    "double_click_element",
    "select_option",
    "click_text",
];
/// Everything that writes something.
pub const TYPES: &[&str] = &["type_text", "key_into_element", "set_value", "clear_text", "clipboard_set"];
pub const KEYS: &[&str] = &["press_key", "key_into_element"];
pub const PICTURES: &[&str] = &["get_screenshot"];

pub const TOOLS: &[DialectTool] = &[
    DialectTool {
        name: "execute_command",
        brief: "Run a shell command and read what it prints.",
        properties: r#"{"command": {"type": "string"}}"#,
        required: &["command"],
        uses: &["exec_command"],
        denies: &["exec_command"],
        runs_commands: true,
        translate: execute_command,
    },
    DialectTool {
        name: "sleep",
        brief: "Wait so many seconds.",
        properties: r#"{"seconds": {"type": "number", "minimum": 0, "maximum": 300}}"#,
        required: &["seconds"],
        uses: &[],
        denies: &["wait_for", "wait_idle"],
        runs_commands: false,
        translate: |call| call.seconds("seconds").map(|wait| wait.into_iter().collect()),
    },
    DialectTool {
        name: "see_screen",
        brief: "A screenshot of the screen with a grid; its cells are labelled row,col.",
        properties: "{}",
        required: &[],
        uses: PICTURES,
        denies: PICTURES,
        runs_commands: false,
        translate: |_| Ok(one_call("get_screenshot", json!({"grid": {}}))),
    },
    DialectTool {
        name: "enhance",
        brief: "The surroundings of a cell of the newest picture, larger, with a finer grid.",
        properties: r#"{"coordinate": {"type": "string", "description": "Label of a cell, like 3,7"}}"#,
        required: &["coordinate"],
        uses: &["zoom"],
        denies: &["zoom"],
        runs_commands: false,
        translate: |call| Ok(one_call("zoom", cell(call)?)),
    },
    DialectTool {
        name: "click",
        brief: "Click in a cell of the newest picture; the offsets (0 to 1) move from its middle to its edges.",
        properties: r#"{
            "coordinate": {"type": "string", "description": "Label of a cell, like 3,7"},
            "offset_up": {"type": "number"}, "offset_down": {"type": "number"},
            "offset_left": {"type": "number"}, "offset_right": {"type": "number"},
            "sleep_after_seconds": {"type": "number"}
        }"#,
        required: &["coordinate"],
        uses: &["click_at"],
        denies: CLICKS,
        runs_commands: false,
        translate: click,
    },
    DialectTool {
        name: "type",
        brief: "Type text where the keyboard is.",
        properties: r#"{"text": {"type": "string"}}"#,
        required: &["text"],
        uses: &["type_text"],
        denies: TYPES,
        runs_commands: false,
        translate: |call| Ok(one_call("type_text", json!({"text": call.text("text")?}))),
    },
    DialectTool {
        name: "press_key",
        brief: "Press a key or a combination, like enter or ctrl+s.",
        properties: r#"{"key": {"type": "string"}, "repeats": {"type": "integer", "minimum": 1, "maximum": 15}}"#,
        required: &["key"],
        uses: &["press_key"],
        denies: KEYS,
        runs_commands: false,
        translate: press_key,
    },
];

fn execute_command(call: &DialectCall) -> Result<Vec<DialectStep>, String> {
    let command = call.text("command")?;
    let secret = call.command_secret.ok_or("jobs may not run commands here (planner.exec)")?;
    Ok(one_call("exec_command", json!({"command": command, "secret": secret})))
}

fn click(call: &DialectCall) -> Result<Vec<DialectStep>, String> {
    let mut steps = one_call("click_at", with_fields(cell(call)?, offsets(call)?));
    steps.extend(call.seconds("sleep_after_seconds")?);
    Ok(steps)
}

fn press_key(call: &DialectCall) -> Result<Vec<DialectStep>, String> {
    let key = call.text("key").or_else(|_| call.text("keys"))?;
    let press = || DialectStep::Call { tool: "press_key", args: json!({"keys": key}) };
    Ok((0..call.repeats("repeats")?).map(|_| press()).collect())
}

/// A cell of the newest picture: `"3,7"`, `[3, 7]` or `{"row": 3, "col": 7}`.
fn cell(call: &DialectCall) -> Result<Value, String> {
    let written = call.args.get("coordinate");
    let number = |value: Option<&Value>| value.and_then(Value::as_u64);
    let pair = match written {
        Some(Value::String(label)) => {
            let parts = label.trim().trim_matches(['(', ')', '[', ']']).split_once([',', ';', ' ']);
            parts.and_then(|(row, col)| Some((row.trim().parse().ok()?, col.trim().parse().ok()?)))
        }
        Some(Value::Array(pair)) => number(pair.first()).zip(number(pair.get(1))),
        Some(value @ Value::Object(_)) => number(value.get("row")).zip(number(value.get("col"))),
        _ => None,
    };
    let (row, col): (u64, u64) = pair.ok_or("coordinate is the label of a cell, like 3,7")?;
    Ok(json!({"row": row, "col": col, "image": call.seen()?.image_id}))
}

/// Half cells from the middle.
fn offsets(call: &DialectCall) -> Result<Value, String> {
    let side = |more: &str, less: &str| -> Result<f64, String> {
        let offset = call.number(more)?.unwrap_or(0.0) - call.number(less)?.unwrap_or(0.0);
        match (-1.0..=1.0).contains(&offset) {
            true => Ok(offset),
            false => {
                Err(format!("{more} and {less} are from 0 to 1, from the middle of the cell to its edge"))
            }
        }
    };
    let (dx, dy) = (side("offset_right", "offset_left")?, side("offset_down", "offset_up")?);
    Ok(if (dx, dy) == (0.0, 0.0) { json!({}) } else { json!({"dx": dx, "dy": dy}) })
}
