//! The toolsets that vendors train their models with: Anthropic's members, and the actions of OpenAI's computer.

use serde_json::{Value, json};

use super::screenjob::{CLICKS, KEYS, PICTURES, TYPES};
use super::{DialectCall, DialectStep, DialectTool, one_call, with_fields};

/// Members of Anthropic's toolset that our calls cannot do: a key or a button that stays down between two calls, and a
/// place of the pointer in pixels of an old screenshot.
pub const NOT_POSSIBLE: &[&str] = &["left_mouse_down", "left_mouse_up", "hold_key", "cursor_position"];

const COORDINATE: &str =
    r#"{"coordinate": {"type": "array", "items": {"type": "integer"}}, "text": {"type": "string"}}"#;
/// What a wheel click of a vendor moves is about so many pixels in OpenAI's actions.
const PIXELS_A_WHEEL_CLICK: f64 = 100.0;
const MOST_WHEEL_CLICKS: f64 = 100.0;

const fn tool(
    name: &'static str,
    brief: &'static str,
    uses: &'static [&'static str],
    denies: &'static [&'static str],
    translate: fn(&DialectCall) -> Result<Vec<DialectStep>, String>,
) -> DialectTool {
    DialectTool {
        name,
        brief,
        properties: COORDINATE,
        required: &["coordinate"],
        uses,
        denies,
        runs_commands: false,
        translate,
    }
}

/// Anthropic's members.
pub const TOOLS: &[DialectTool] = &[
    DialectTool {
        properties: "{}",
        required: &[],
        ..tool("screenshot", "A screenshot of the screen.", PICTURES, PICTURES, screenshot)
    },
    tool("left_click", "Click.", &["click_at"], CLICKS, |call| click(call, json!({}))),
    tool("right_click", "Click with the right button.", &["click_at"], CLICKS, |call| {
        click(call, json!({"button": "right"}))
    }),
    tool("middle_click", "Click with the middle button.", &["click_at"], CLICKS, |call| {
        click(call, json!({"button": "middle"}))
    }),
    tool("double_click", "Click twice.", &["click_at"], CLICKS, |call| click(call, json!({"double": true}))),
    tool("triple_click", "Click three times.", &["click_at"], CLICKS, |call| {
        click(call, json!({"count": 3}))
    }),
    tool("mouse_move", "Move the pointer.", &["hover_at"], &["hover_at", "hover_element"], |call| {
        Ok(one_call("hover_at", call.pixel(call.args.get("coordinate"))?))
    }),
    DialectTool {
        properties: r#"{"start_coordinate": {"type": "array", "items": {"type": "integer"}}, "coordinate": {"type": "array", "items": {"type": "integer"}}}"#,
        required: &["start_coordinate", "coordinate"],
        ..tool("left_click_drag", "Drag from one place to another.", &["drag"], &["drag"], |call| {
            let from = call.pixel(call.args.get("start_coordinate"))?;
            Ok(one_call("drag", json!({"from": from, "to": call.pixel(call.args.get("coordinate"))?})))
        })
    },
    DialectTool {
        properties: r#"{"text": {"type": "string"}, "repeat": {"type": "integer"}}"#,
        required: &["text"],
        ..tool(
            "key",
            "Press a key or a combination; several with spaces between.",
            &["press_key"],
            KEYS,
            |call| press_keys(call.text("text")?, call.repeats("repeat")?),
        )
    },
    DialectTool {
        properties: r#"{"text": {"type": "string"}}"#,
        required: &["text"],
        ..tool("type", "Type text.", &["type_text"], TYPES, type_text)
    },
    DialectTool {
        properties: r#"{"coordinate": {"type": "array", "items": {"type": "integer"}}, "scroll_direction": {"enum": ["up", "down"]}, "scroll_amount": {"type": "integer"}}"#,
        required: &["scroll_direction"],
        ..tool("scroll", "Turn the wheel.", &["scroll"], &["scroll"], scroll)
    },
    DialectTool {
        properties: r#"{"duration": {"type": "number"}}"#,
        required: &["duration"],
        ..tool("wait", "Wait so many seconds.", &[], &["wait_for", "wait_idle"], |call| {
            call.seconds("duration").map(|wait| wait.into_iter().collect())
        })
    },
    DialectTool {
        properties: r#"{"region": {"type": "array", "items": {"type": "integer"}, "description": "x0, y0, x1, y1"}}"#,
        required: &["region"],
        ..tool("zoom", "A part of the screen, larger.", &["zoom"], &["zoom"], zoom)
    },
];

/// OpenAI's actions, by their `type`.
pub const ACTIONS: &[DialectTool] = &[
    tool("screenshot", "", PICTURES, PICTURES, |_| Ok(Vec::new())),
    tool("click", "", &["click_at"], CLICKS, |call| {
        let button = match call.args.get("button").and_then(Value::as_str) {
            None | Some("left") => "left",
            Some("right") => "right",
            Some("wheel" | "middle") => "middle",
            Some(other) => return Err(format!("there is no button '{other}' here")),
        };
        point_and_click(call, json!({"button": button}))
    }),
    tool("double_click", "", &["click_at"], CLICKS, |call| point_and_click(call, json!({"double": true}))),
    tool("move", "", &["hover_at"], &["hover_at", "hover_element"], |call| {
        Ok(one_call("hover_at", call.pixel(Some(&Value::Object(call.args.clone())))?))
    }),
    tool("drag", "", &["drag"], &["drag"], |call| {
        let path = call.args.get("path").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let ends = (call.pixel(path.first())?, call.pixel(path.last())?);
        Ok(one_call("drag", json!({"from": ends.0, "to": ends.1})))
    }),
    tool("keypress", "", &["press_key"], KEYS, |call| {
        let keys = call.args.get("keys").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let keys: Vec<&str> = keys.iter().filter_map(Value::as_str).collect();
        press_keys(&keys.join("+"), 1)
    }),
    tool("type", "", &["type_text"], TYPES, type_text),
    tool("scroll", "", &["scroll"], &["scroll"], |call| {
        let pixels = call.number("scroll_y")?.or(call.number("delta_y")?).unwrap_or(0.0);
        if pixels == 0.0 {
            return Err("only scrolling up and down is possible here".to_owned());
        }
        // Positive is down there, and up here.
        let clicks = (pixels / PIXELS_A_WHEEL_CLICK).abs().ceil().min(MOST_WHEEL_CLICKS).copysign(-pixels);
        let at = call.pixel(Some(&Value::Object(call.args.clone())))?;
        Ok(one_call("scroll", with_fields(at, json!({"clicks": clicks as i64}))))
    }),
    tool("wait", "", &[], &["wait_for", "wait_idle"], |_| {
        Ok(vec![DialectStep::Wait(std::time::Duration::from_secs(2))])
    }),
];

/// The actions of one call in their order, and the screenshot that the server wants as its result. What the server
/// wants a person to check is not done: nobody can be asked here.
pub fn translate_actions(call: &DialectCall) -> Result<Vec<DialectStep>, String> {
    let list =
        |name: &str| call.args.get(name).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    if let Some(check) = list("pending_safety_checks").first() {
        let said = ["message", "code"].iter().find_map(|key| check.get(*key)?.as_str());
        return Err(format!(
            "a person would have to confirm this first: {}",
            said.unwrap_or("no reason given")
        ));
    }
    let mut steps = Vec::new();
    for action in list("actions") {
        let kind = action.get("type").and_then(Value::as_str).unwrap_or_default();
        let tool = ACTIONS.iter().find(|tool| tool.name == kind);
        let tool = tool.ok_or_else(|| format!("there is no action '{kind}' here"))?;
        let args = action.as_object().cloned().unwrap_or_default();
        steps.extend((tool.translate)(&DialectCall { args: &args, ..*call })?);
    }
    steps.extend(one_call("get_screenshot", json!({})));
    Ok(steps)
}

fn screenshot(_: &DialectCall) -> Result<Vec<DialectStep>, String> {
    Ok(one_call("get_screenshot", json!({})))
}

fn click(call: &DialectCall, how: Value) -> Result<Vec<DialectStep>, String> {
    let at = call.pixel(call.args.get("coordinate"))?;
    let held = match call.args.get("text").and_then(Value::as_str).filter(|held| !held.is_empty()) {
        Some(held) => json!({"modifiers": held.split('+').map(own_modifier).collect::<Vec<_>>()}),
        None => json!({}),
    };
    Ok(one_call("click_at", with_fields(with_fields(at, how), held)))
}

fn own_modifier(written: &str) -> String {
    match written.trim().to_lowercase().as_str() {
        "control" | "ctrl_l" | "control_l" => "ctrl".to_owned(),
        "super" | "super_l" | "cmd" | "command" | "win" => "meta".to_owned(),
        "option" | "alt_l" => "alt".to_owned(),
        other => other.to_owned(),
    }
}

fn point_and_click(call: &DialectCall, how: Value) -> Result<Vec<DialectStep>, String> {
    let at = call.pixel(Some(&Value::Object(call.args.clone())))?;
    Ok(one_call("click_at", with_fields(at, how)))
}

fn type_text(call: &DialectCall) -> Result<Vec<DialectStep>, String> {
    Ok(one_call("type_text", json!({"text": call.text("text")?})))
}

/// Combinations with spaces between, in the names of X11.
fn press_keys(written: &str, times: usize) -> Result<Vec<DialectStep>, String> {
    let combinations: Vec<String> = written.split_whitespace().map(own_combination).collect();
    if combinations.is_empty() {
        return Err("there is no key to press".to_owned());
    }
    let press = |keys: &String| DialectStep::Call { tool: "press_key", args: json!({"keys": keys}) };
    Ok((0..times).flat_map(|_| combinations.iter().map(press)).collect())
}

/// Names of keys that X11 and the vendors have, and ours.
const KEY_NAMES: &[(&str, &str)] = &[
    ("kp_enter", "enter"),
    ("control_l", "ctrl"),
    ("alt_l", "alt"),
    ("shift_l", "shift"),
    ("super_l", "super"),
    ("prior", "pageup"),
    ("next", "pagedown"),
];

fn own_combination(written: &str) -> String {
    let own = |key: &str| {
        let key = key.to_lowercase();
        let known = KEY_NAMES.iter().find(|(theirs, _)| *theirs == key);
        known.map_or(key.clone(), |(_, ours)| (*ours).to_owned())
    };
    written.split('+').map(own).collect::<Vec<_>>().join("+")
}

fn scroll(call: &DialectCall) -> Result<Vec<DialectStep>, String> {
    let amount = call.number("scroll_amount")?.unwrap_or(3.0).abs().min(MOST_WHEEL_CLICKS);
    let clicks = match call.text("scroll_direction")? {
        "up" => amount,
        "down" => -amount,
        other => return Err(format!("only scrolling up and down is possible here, not {other}")),
    };
    let at = match call.args.get("coordinate") {
        None | Some(Value::Null) => json!({}),
        given => call.pixel(given)?,
    };
    Ok(one_call("scroll", with_fields(at, json!({"clicks": clicks as i64}))))
}

/// A region of the screenshot; how much of the screen that is depends on its scale.
fn zoom(call: &DialectCall) -> Result<Vec<DialectStep>, String> {
    let region = call.args.get("region").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let sides: Vec<f64> = region.iter().filter_map(Value::as_f64).collect();
    let &[left, top, right, bottom] = sides.as_slice() else {
        return Err("region is four numbers, [x0, y0, x1, y1]".to_owned());
    };
    let seen = call.seen()?;
    let on_screen = |pixels: f64| (pixels.abs() / seen.scale).round().max(10.0) as i64;
    let middle = json!([(left + right) / 2.0, (top + bottom) / 2.0]);
    let size = json!({"width": on_screen(right - left), "height": on_screen(bottom - top)});
    Ok(one_call("zoom", with_fields(call.pixel(Some(&middle))?, size)))
}
