//! The steps of a list as lines, one each: what a model reads in place of their JSON.

use serde_json::{Map, Value};

use super::report::ForeseenOut;
use super::run::{StepReport, StepVerdict};
use crate::tokens::{Writing, tokens_for_bytes};

/// Facts of a reply that a line tells in words, or that only code compares.
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
];
const MOST_CANDIDATES: usize = 5;

/// `1 click e12 Button "Save": confirmed`. Where there is little room the last lines stay, which tell of a failure.
pub fn step_lines(steps: &[StepReport], not_run: usize, max_tokens: Option<usize>) -> String {
    let mut lines: Vec<String> = steps.iter().map(step_line).collect();
    if not_run > 0 {
        lines.push(format!("not run: {not_run}"));
    }
    let kept = fitting_end(&lines, max_tokens);
    let left_out = lines.len() - kept;
    let mut kept = lines.split_off(left_out);
    if left_out > 0 {
        kept.insert(0, format!("… {left_out} steps before"));
    }
    kept.join("\n")
}

/// How many of the last lines there is room for; one always.
fn fitting_end(lines: &[String], max_tokens: Option<usize>) -> usize {
    let Some(most) = max_tokens else { return lines.len() };
    let mut bytes = 0;
    let fits = |line: &&String| {
        bytes += line.len() + 1;
        tokens_for_bytes(Writing::Outline, bytes) <= most
    };
    lines.iter().rev().take_while(fits).count().max(lines.len().min(1))
}

pub fn foreseen_lines(steps: &[ForeseenOut]) -> String {
    let line = |step: &ForeseenOut| {
        let state = match (&step.not_yet, step.needs_consent) {
            (Some(why), _) => format!("not yet: {why}"),
            (None, true) => "needs consent".to_owned(),
            (None, false) => "ready".to_owned(),
        };
        format!("{} {}: {state}", place_name(&step.step), tool_name(&step.tool))
    };
    let lines: Vec<String> = steps.iter().map(line).collect();
    format!("dry run, nothing was done\n{}", lines.join("\n"))
}

/// `steps[0]` is 1, and `alternatives.again[0]` is again 1.
fn place_name(path: &str) -> String {
    let (list, number) = path.trim_end_matches(']').split_once('[').unwrap_or((path, ""));
    let number = number.parse::<usize>().map_or(String::new(), |number| (number + 1).to_string());
    match list.strip_prefix("alternatives.") {
        Some(name) => format!("{name} {number}"),
        None => number,
    }
}

fn tool_name(tool: &str) -> &str {
    tool.strip_suffix("_element").unwrap_or(tool)
}

fn step_line(step: &StepReport) -> String {
    let gap = if step.subject.is_empty() { "" } else { " " };
    let (place, tool) = (place_name(&step.step), tool_name(&step.tool));
    let mut line = format!("{place} {tool}{gap}{}: {}", step.subject, step.verdict.name());
    line.push_str(&match step.verdict {
        StepVerdict::Failed => failure_words(step),
        _ => outcome_words(step),
    });
    line
}

fn outcome_words(step: &StepReport) -> String {
    let text = |name: &str| step.reply.get(name).and_then(Value::as_str);
    let mut words = String::new();
    if step.held_before {
        words.push_str(", what was expected held before the step");
    }
    if step.verdict == StepVerdict::Unconfirmed && step.reply.get("changed") == Some(&Value::Bool(false)) {
        words.push_str(", nothing changed");
    }
    if let Some(renamed) = text("renamed") {
        words.push_str(&format!(", is now {renamed}"));
    }
    if let Some(reason) = step.reply.get("identity").and_then(|identity| identity["reason"].as_str()) {
        words.push_str(&format!(", not sure that it is the same: {reason}"));
    }
    for said in [text("note"), text("warning")].into_iter().flatten() {
        words.push_str(&format!(" ({said})"));
    }
    words.push_str(&other_facts(step));
    words
}

/// What a step answers with, such as the clipboard's text. That claims hold is all there is to say of them.
fn other_facts(step: &StepReport) -> String {
    let passed = step.reply.get("all_passed") == Some(&Value::Bool(true));
    let is_told = |name: &str| TOLD.contains(&name) || (passed && name == "results");
    let facts = step.reply.iter().filter(|(name, _)| !is_told(name));
    let facts: Map<String, Value> = facts.map(|(name, fact)| (name.clone(), fact.clone())).collect();
    if facts.is_empty() { String::new() } else { format!(" {}", Value::Object(facts)) }
}

fn failure_words(step: &StepReport) -> String {
    let mut words = step
        .failure
        .as_ref()
        .map_or(String::new(), |failure| format!(", {}: {}", failure.kind.code(), failure.message));
    if let Some(expected) = step.unmet.as_ref().and_then(|unmet| unmet.get("expected")) {
        words.push_str(&format!("; expected {expected}"));
    }
    words.push_str(&candidates(step));
    if step.reply.get("all_passed") == Some(&Value::Bool(false)) {
        words.push_str(&other_facts(step));
    }
    words
}

/// What could have been meant, each by its ref.
fn candidates(step: &StepReport) -> String {
    let context = step.reply.get("error").and_then(|error| error.get("context"));
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
    use super::*;

    #[test]
    fn steps_are_counted_from_one() {
        for (path, name) in [("steps[0]", "1"), ("steps[11]", "12"), ("alternatives.again[1]", "again 2")] {
            assert_eq!(place_name(path), name);
        }
    }

    #[test]
    fn the_last_lines_stay() {
        let lines: Vec<String> = (0..9).map(|number| format!("{number} click: confirmed")).collect();
        assert_eq!(fitting_end(&lines, None), 9);
        assert_eq!(fitting_end(&lines, Some(1)), 1);
        assert!((2..9).contains(&fitting_end(&lines, Some(30))));
    }
}
