//! The steps of a list as lines, one each: what a model reads in place of their JSON.

use serde_json::Value;

use super::report::ForeseenOut;
use super::run::{StepReport, StepVerdict};
use crate::tokens::{Writing, tokens_for_bytes};
use crate::tool::lean::{candidate_words, other_facts, outcome_words, tool_word};

/// `1 click e12 Button "Save": confirmed`. Several in a row that say no more than that are one line. Where there is little
/// room the last lines stay, which tell of a failure, and those before them are counted.
pub fn step_lines(steps: &[StepReport], not_run: usize, max_tokens: Option<usize>) -> String {
    let lines: Vec<String> = steps.iter().map(step_line).collect();
    let left_out = lines.len() - fitting_end(&lines, max_tokens);
    let (before, kept) = (&steps[..left_out], &steps[left_out..]);
    let not_run = (not_run > 0).then(|| format!("not run: {not_run}"));
    let all = counted_steps(before).into_iter().chain(told_steps(kept, &lines[left_out..])).chain(not_run);
    all.collect::<Vec<_>>().join("\n")
}

/// Fewer in a row have a line each.
const LEAST_TOGETHER: usize = 3;

fn told_steps(steps: &[StepReport], lines: &[String]) -> Vec<String> {
    let mut told = Vec::new();
    let mut at = 0;
    while let Some(step) = steps.get(at) {
        let alike = |other: &&StepReport| is_plainly_confirmed(other) && list_of(other) == list_of(step);
        match steps[at..].iter().take_while(alike).count() {
            run @ LEAST_TOGETHER.. => {
                told.extend(counted_steps(&steps[at..at + run]));
                at += run;
            }
            _ => {
                told.extend(lines.get(at).cloned());
                at += 1;
            }
        }
    }
    told
}

/// What it was to come to has come about, and there is nothing else to say of it.
fn is_plainly_confirmed(step: &StepReport) -> bool {
    let says_more = step.lines.is_some() || !outcome_words(&step.reply).is_empty();
    step.verdict == StepVerdict::Confirmed && !step.held_before && !says_more
}

/// The steps that were asked for, or those of an alternative.
fn list_of(step: &StepReport) -> &str {
    step.step.split('[').next().unwrap_or_default()
}

/// `1 to 9: 8 confirmed, 1 unconfirmed (3)`: which of many steps came to what.
fn counted_steps(steps: &[StepReport]) -> Option<String> {
    let (first, last) = (steps.first()?, steps.last()?);
    let of = |verdict: StepVerdict| steps.iter().filter(move |step| step.verdict == verdict);
    let verdicts = [StepVerdict::Confirmed, StepVerdict::Unconfirmed, StepVerdict::Failed];
    let counts = verdicts.into_iter().filter(|&verdict| of(verdict).next().is_some());
    let counts: Vec<String> = counts
        .map(|verdict| {
            let count = of(verdict).count();
            let named: Vec<String> = of(verdict).map(|step| place_name(&step.step)).collect();
            match verdict {
                StepVerdict::Confirmed => format!("{count} confirmed"),
                other => format!("{count} {} ({})", other.name(), named.join(", ")),
            }
        })
        .collect();
    Some(format!("{} to {}: {}", place_name(&first.step), place_name(&last.step), counts.join(", ")))
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
        format!("{} {}: {state}", place_name(&step.step), tool_word(&step.tool))
    };
    let lines: Vec<String> = steps.iter().map(line).collect();
    // The name of a tool follows: a verb such as `run` before it would read as an order.
    format!("nothing was done, only foreseen\n{}", lines.join("\n"))
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

fn step_line(step: &StepReport) -> String {
    let gap = if step.subject.is_empty() { "" } else { " " };
    let (place, tool) = (place_name(&step.step), tool_word(&step.tool));
    let mut line = format!("{place} {tool}{gap}{}: {}", step.subject, step.verdict.name());
    line.push_str(&match step.verdict {
        StepVerdict::Failed => failure_words(step),
        _ => step_words(step),
    });
    line
}

fn step_words(step: &StepReport) -> String {
    let mut words = String::new();
    if step.held_before {
        words.push_str(", what was expected held before the step");
    }
    if step.verdict == StepVerdict::Unconfirmed && has_changed_nothing(step) {
        words.push_str(" (it was sent, and nothing visible changed)");
    }
    match &step.lines {
        // The tool's own name stands before it.
        Some(lines) => {
            let own = lines.strip_prefix(&format!("{}: done, ", step.tool)).unwrap_or(lines);
            words.push_str(&format!("\n{own}"));
        }
        None => words.push_str(&outcome_words(&step.reply)),
    }
    words
}

fn has_changed_nothing(step: &StepReport) -> bool {
    step.reply.get("changed") == Some(&Value::Bool(false)) && !step.moved_windows
}

fn failure_words(step: &StepReport) -> String {
    let mut words = step
        .failure
        .as_ref()
        .map_or(String::new(), |failure| format!(", {}: {}", failure.kind.code(), failure.message));
    if let Some(expected) = step.unmet.as_ref().and_then(|unmet| unmet.get("expected")) {
        words.push_str(&format!("; expected {expected}"));
    }
    words.push_str(&candidate_words(&step.reply));
    if step.reply.get("all_passed") == Some(&Value::Bool(false)) {
        words.push_str(&other_facts(&step.reply));
    }
    words
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
