//! One call from the shell: its reply as text for people, or as JSON for programs.

use std::io::{IsTerminal, Read};
use std::path::Path;
use std::process::ExitCode;

use serde_json::{Map, Value, json};

use super::{pretty_json, say};
use crate::app::App;
use crate::cli::CallCommand;
use crate::clock::Cancel;
use crate::gate::{Call, Origin};
use crate::privacy::untrusted::clean_text;
use crate::text::shorten;
use crate::tool::Encoded;

/// As much of a value is shown on its line.
const VALUE_WIDTH: usize = 160;
/// As many entries of a list are shown.
const MOST_ENTRIES: usize = 20;
/// What every reply has, and no person asks for.
const PLUMBING: [&str; 6] = ["ok", "success", "step_id", "caused_by_step_id", "untrusted", "recoverable"];

/// Text at a terminal, JSON elsewhere and with `--json`.
pub fn run_call(app: &App, command: &CallCommand) -> Result<ExitCode, String> {
    let text = if command.arguments == "-" { read_stdin()? } else { command.arguments.clone() };
    let args =
        serde_json::from_str(&text).map_err(|problem| format!("the arguments are not JSON: {problem}"))?;
    let call = Call { tool: command.tool.clone(), args, origin: Origin::Terminal };
    let reply = app.gate.pass_call(call, &Cancel::new());
    let picture = picture_text(reply.picture.as_ref(), command.out.as_deref())?;
    let mut value = reply.value();
    if let (Some(picture), Some(fields)) = (picture, value.as_object_mut()) {
        fields.insert("picture".to_owned(), json!(picture));
    }
    let for_people = std::io::stdout().is_terminal() && !command.json;
    say(&if for_people { reply_text(&value) } else { pretty_json(&value) })?;
    if reply.ok() && reply.picture.is_none() && command.out.is_some() {
        return Err(format!("{} answered without a picture, so --out wrote nothing", command.tool));
    }
    Ok(if reply.ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// What is said of a picture, which is written where that is wanted.
fn picture_text(picture: Option<&Encoded>, out: Option<&Path>) -> Result<Option<String>, String> {
    let Some(picture) = picture else {
        return Ok(None);
    };
    let size = format!("{} bytes of {}", picture.bytes.len(), picture.format.name().to_uppercase());
    let Some(path) = out else {
        return Ok(Some(format!("{size}, not shown here; --out FILE writes it")));
    };
    std::fs::write(path, &*picture.bytes)
        .map_err(|problem| format!("{} cannot be written: {problem}", path.display()))?;
    Ok(Some(format!("{size}, in {}", path.display())))
}

fn read_stdin() -> Result<String, String> {
    let mut text = String::new();
    std::io::stdin()
        .take(crate::config::limits::MCP_LINE_BYTES as u64)
        .read_to_string(&mut text)
        .map_err(|problem| format!("standard input cannot be read: {problem}"))?;
    Ok(text)
}

/// A reply as a person reads it: the error, or the facts in a line each and then what was written to be read.
pub fn reply_text(reply: &Value) -> String {
    let empty = Map::new();
    let fields = reply.as_object().unwrap_or(&empty);
    let mut lines: Vec<String> = fields.get("error").map(error_lines).unwrap_or_default();
    let told = |(name, _): &(&String, &Value)| !PLUMBING.contains(&name.as_str()) && *name != "error";
    let shown: Vec<(&String, &Value)> = fields.iter().filter(told).collect();
    let (texts, facts): (Vec<_>, Vec<_>) = shown.into_iter().partition(|(_, value)| is_text(value));
    lines.extend(facts.into_iter().flat_map(|(name, value)| fact_lines(name, value)));
    for (_, text) in texts {
        if !lines.is_empty() {
            lines.push(String::new());
        }
        lines.push(clean_text(text.as_str().unwrap_or_default().trim_end_matches('\n')).into_owned());
    }
    if lines.is_empty() {
        lines.push("ok".to_owned());
    }
    lines.join("\n")
}

/// An outline, a sketch, a description.
fn is_text(value: &Value) -> bool {
    value.as_str().is_some_and(|text| text.contains('\n'))
}

fn error_lines(error: &Value) -> Vec<String> {
    let text = |name: &str| error.get(name).and_then(Value::as_str).unwrap_or_default();
    let mut lines = vec![on_one_line(&format!("{}: {}", text("code"), text("message")))];
    let nearest = error.pointer("/context/nearest").and_then(Value::as_array);
    lines.extend(nearest.into_iter().flatten().map(|near| format!("  near: {}", short_value(near))));
    if let Some(tool) = error.get("suggested_next_tool").and_then(Value::as_str) {
        lines.push(format!("  try: {tool}"));
    }
    lines
}

/// A line for a fact, or one for each entry of a list of objects.
fn fact_lines(name: &str, value: &Value) -> Vec<String> {
    match value {
        Value::Null => Vec::new(),
        Value::Array(list) if list.iter().any(Value::is_object) => {
            let mut lines = vec![format!("{name} ({}):", list.len())];
            lines.extend(list.iter().take(MOST_ENTRIES).map(|entry| format!("  {}", short_value(entry))));
            if list.len() > MOST_ENTRIES {
                lines.push(format!("  … {} more; --json shows all", list.len() - MOST_ENTRIES));
            }
            lines
        }
        other => vec![format!("{name}: {}", short_value(other))],
    }
}

/// A value on one line; an object without its brackets and quotes.
fn short_value(value: &Value) -> String {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Object(fields) => {
            let told = fields.iter().filter(|(_, value)| !value.is_null());
            told.map(|(name, value)| format!("{name}={}", inner_value(value))).collect::<Vec<_>>().join("  ")
        }
        other => other.to_string(),
    };
    shorten(&on_one_line(&text), VALUE_WIDTH).into_owned()
}

fn inner_value(value: &Value) -> String {
    match value {
        Value::String(text) if !text.contains([' ', '"']) && !text.is_empty() => text.clone(),
        other => other.to_string(),
    }
}

fn on_one_line(text: &str) -> String {
    clean_text(text).replace(['\n', '\r', '\t'], " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(reply: Value, expected: &str) {
        assert_eq!(reply_text(&reply), expected, "{reply}");
    }

    #[test]
    fn plumbing_is_left_out() {
        check(json!({"ok": true, "success": true, "step_id": 1, "caused_by_step_id": null}), "ok");
        check(json!({"ok": true, "changed": false, "delivery": null}), "changed: false");
    }

    #[test]
    fn what_was_written_to_be_read_comes_last_and_as_it_is() {
        check(json!({"ok": true, "outline": "a\n  b\n", "count": 2}), "count: 2\n\na\n  b");
        check(json!({"sketch": "┌─┐\n└─┘"}), "┌─┐\n└─┘");
    }

    #[test]
    fn lists_have_a_line_for_each_entry() {
        let windows =
            json!({"windows": [{"title": "My Notes", "pid": 7, "url": null}, {"title": "B", "pid": 8}]});
        check(windows, "windows (2):\n  title=\"My Notes\"  pid=7\n  title=B  pid=8");
        let many: Vec<Value> = (0..25).map(|n| json!({"n": n})).collect();
        let text = reply_text(&json!({"list": many}));
        assert!(text.ends_with("  n=19\n  … 5 more; --json shows all"), "{text}");
        check(json!({"names": ["a", "b"]}), "names: [\"a\",\"b\"]");
    }

    #[test]
    fn an_error_says_what_was_near_and_what_to_try() {
        let error = json!({
            "code": "ElementNotFound", "message": "no element\nmatches", "suggested_next_tool": "look",
            "context": {"nearest": [{"selector": "Button", "why": "x"}]},
        });
        check(
            json!({"ok": false, "error": error}),
            "ElementNotFound: no element matches\n  near: selector=Button  why=x\n  try: look",
        );
    }

    #[test]
    fn a_terminal_obeys_nothing() {
        let text = reply_text(&json!({"title": "\u{1b}[2Ja", "description": "\u{1b}]0;x\u{7}\nb"}));
        assert!(!text.contains('\u{1b}') && !text.contains('\u{7}'), "{text:?}");
    }
}
