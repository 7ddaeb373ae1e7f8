//! A trace as text for a terminal: a table of its steps, or one step in full.
//!
//! Everything that came from a screen is cleaned before it is printed, because a terminal obeys escapes.

use std::borrow::Cow;
use std::fmt::Write as _;

use serde_json::Value;

use super::compare::diff_scenes;
use super::format::TraceRow;
use super::recording::{LoadedTrace, StoryStep};
use crate::privacy::untrusted::clean_text;
use crate::text::shorten;

const ARGUMENTS_WIDTH: usize = 48;
const HEADINGS: [&str; 7] = ["step", "time", "tool", "arguments", "result", "changed", "ms"];
/// Numbers stand at the right of their column.
const RIGHT: [bool; 7] = [true, false, false, false, false, false, true];

/// The head of the trace, a line for each step, and what could not be read.
pub fn trace_table(trace: &LoadedTrace) -> String {
    let rows: Vec<[String; 7]> = trace.steps.iter().map(table_cells).collect();
    let width = |column: usize| {
        let cells = rows.iter().map(|row| row[column].chars().count());
        cells.chain([HEADINGS[column].len()]).max().unwrap_or(0)
    };
    let widths: [usize; 7] = std::array::from_fn(width);
    let mut out = trace_header(trace);
    out.push('\n');
    write_line(&mut out, &HEADINGS.map(str::to_owned), &widths);
    for row in &rows {
        write_line(&mut out, row, &widths);
    }
    for problem in trace_problems(trace) {
        let _ = write!(out, "\nincomplete: {}", one_line(&problem));
    }
    out.trim_end().to_owned()
}

/// One step, by its number in the trace.
pub fn show_step(trace: &LoadedTrace, number: u64) -> Result<String, String> {
    let step = trace.steps.iter().find(|step| step.row.trace_seq == number).ok_or_else(|| {
        let numbers = trace.steps.iter().map(|step| step.row.trace_seq);
        match (numbers.clone().min(), numbers.max()) {
            (Some(first), Some(last)) => format!("there is no step {number}; steps are {first} to {last}"),
            _ => format!("there is no step {number}; the trace has no steps"),
        }
    })?;
    let row = &step.row;
    let mut out = format!("step {} of {}: {}\n", row.trace_seq, trace.trace_id(), row.tool);
    for (name, value) in row_facts(row) {
        let _ = writeln!(out, "  {name:<12} {}", one_line(&value));
    }
    out.push_str(&told_differences(trace, step));
    Ok(clean_text(&out).trim_end().to_owned())
}

fn told_differences(trace: &LoadedTrace, step: &StoryStep) -> String {
    if !trace.tells_of_windows() {
        return "\nThe trace has no trees to compare.\n".to_owned();
    }
    let found = diff_scenes(&step.before, &step.after);
    if found.is_empty() {
        return "\nNo visible change.\n".to_owned();
    }
    let mut out = String::from("\nWhat changed:\n");
    for difference in found {
        let place = one_line(&difference.window).into_owned();
        let _ = writeln!(out, "  {} {place}: {}", difference.sign.mark(), one_line(&difference.text));
    }
    out
}

/// What a row says, by name; shared with the page for browsers.
pub fn row_facts(row: &TraceRow) -> Vec<(&'static str, String)> {
    let target = row.target.as_ref().map(|target| format!("{} in {}", target.selector, target.window_uid));
    let hashes = (row.tree_hash_before != row.tree_hash_after)
        .then(|| format!("{} → {}", row.tree_hash_before, row.tree_hash_after));
    let result = serde_json::to_string(&row.result_summary).ok();
    let facts = [
        ("time", Some(row.ts.clone())),
        ("caller", Some(row.caller.clone())),
        ("job", row.job_id.clone()),
        ("took", Some(format!("{} ms", row.duration_ms))),
        ("arguments", Some(Value::Object(row.args.clone()).to_string())),
        ("target", target),
        ("result", result),
        ("tree hash", hashes),
        ("no screenshot", row.screenshot_error.clone()),
    ];
    facts
        .into_iter()
        .filter_map(|(name, value)| Some((name, value.filter(|value| !value.is_empty())?)))
        .collect()
}

/// Who, when and how long, as one or two sentences.
pub fn trace_header(trace: &LoadedTrace) -> String {
    let mut out = trace.trace_id().to_owned();
    if let Some(header) = &trace.header {
        if let Some(label) = header.label.as_ref().filter(|label| !label.is_empty()) {
            let _ = write!(out, " \"{}\"", one_line(label));
        }
        let _ = write!(out, ", started {}", header.started_at);
    }
    out.push('\n');
    let _ = match &trace.footer {
        Some(footer) => writeln!(
            out,
            "{} steps in {}.{:03} s, stopped {}",
            trace.steps.len(),
            footer.duration_ms / 1000,
            footer.duration_ms % 1000,
            footer.stopped_at
        ),
        None => writeln!(out, "{} steps, not stopped", trace.steps.len()),
    };
    clean_text(&out).into_owned()
}

/// Everything that could not be read.
pub fn trace_problems(trace: &LoadedTrace) -> Vec<String> {
    let missing = trace.missing_trees.iter().map(|tree| format!("a tree cannot be read: {tree}"));
    trace.problems.iter().cloned().chain(missing).collect()
}

/// `ok`, or the error's code.
pub fn outcome_text(row: &TraceRow) -> String {
    let summary = &row.result_summary;
    match (&summary.ok, summary.error.as_ref().and_then(|error| error.code.as_deref())) {
        (_, Some(code)) => code.to_owned(),
        (Some(Value::Bool(true)), _) => "ok".to_owned(),
        (Some(Value::Bool(false)), _) => "failed".to_owned(),
        _ => "?".to_owned(),
    }
}

/// Whether what is shown changed: by the trees if there are any, else by the hashes.
pub fn has_changed(step: &StoryStep) -> bool {
    step.before != step.after
        || step.row.windows_after.is_some()
        || step.row.tree_hash_before != step.row.tree_hash_after
}

/// The arguments without the brackets that every row would have.
pub fn short_arguments(row: &TraceRow) -> String {
    let word = |(key, value): (&String, &Value)| match value {
        Value::String(text) => format!("{key}={text:?}"),
        other => format!("{key}={other}"),
    };
    row.args.iter().map(word).collect::<Vec<_>>().join(" ")
}

fn table_cells(step: &StoryStep) -> [String; 7] {
    let row = &step.row;
    let cell = |text: &str| one_line(text).into_owned();
    [
        row.trace_seq.to_string(),
        cell(time_of_day(&row.ts)),
        cell(&row.tool),
        cell(&shorten(&one_line(&short_arguments(row)), ARGUMENTS_WIDTH)),
        cell(&outcome_text(row)),
        if has_changed(step) { "changed".to_owned() } else { String::new() },
        row.duration_ms.to_string(),
    ]
}

/// `23:50:20.363` of an ISO time; the date is in the head.
pub fn time_of_day(ts: &str) -> &str {
    let time = ts.split_once('T').map_or(ts, |(_, time)| time);
    time.get(..12).unwrap_or_else(|| time.split(['+', 'Z']).next().unwrap_or(time))
}

/// Cleaned, and without line ends that would break a table.
fn one_line(text: &str) -> Cow<'_, str> {
    let cleaned = clean_text(text);
    if cleaned.contains(['\n', '\r', '\t']) {
        return Cow::Owned(cleaned.replace(['\n', '\r', '\t'], " "));
    }
    cleaned
}

fn write_line(out: &mut String, cells: &[String; 7], widths: &[usize; 7]) {
    let mut line = String::new();
    for ((cell, width), right) in cells.iter().zip(widths).zip(RIGHT) {
        let gap = " ".repeat(width.saturating_sub(cell.chars().count()));
        let _ = if right { write!(line, "{gap}{cell}  ") } else { write!(line, "{cell}{gap}  ") };
    }
    let _ = writeln!(out, "{}", line.trim_end());
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn row(value: Value) -> TraceRow {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn outcomes_are_short() {
        let check = |summary: Value, expected: &str| {
            let row =
                json!({"step_id": 1, "trace_seq": 1, "tool": "t", "args": {}, "result_summary": summary});
            assert_eq!(outcome_text(&self::row(row)), expected);
        };
        check(json!({"ok": true}), "ok");
        check(json!({"ok": false, "error": {"code": "WindowGone"}}), "WindowGone");
        check(json!({"ok": false}), "failed");
        check(json!({}), "?");
    }

    #[test]
    fn a_terminal_obeys_nothing() {
        let args = json!({"text": "\u{1b}]0;owned\u{7}a\nb"});
        let row = row(json!({"step_id": 1, "trace_seq": 1, "tool": "\u{1b}[2J", "args": args}));
        let cells = table_cells(&StoryStep { row, before: Default::default(), after: Default::default() });
        assert!(cells.iter().all(|cell| !cell.contains(char::is_control)), "{cells:?}");
    }
}
