//! A plan that was written beforehand: for demos and tests, and for whoever needs no model.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::Path;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::{CallResult, PlannedStep, Planner, PlannerAnswer, PlannerAsker, PlannerFailure, PlannerTurn};
use crate::text::nearest;
use crate::tool::Table;
use crate::tool::args::{self, COMMON, Unknown};
use crate::tool::scope::why_not_for_jobs;

const DEMO: &str = include_str!("demo.yaml");
/// The script that comes with the program.
pub const DEMO_NAME: &str = "demo";
/// What the name of a planner begins with where a script plans.
pub const PREFIX: &str = "scripted:";
const LARGEST_SCRIPT: u64 = 1 << 20;
const MOST_STEPS: usize = 10_000;
const NO_END: &str = "the script ends without a result; its last step must be `finish` or `fail`";

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Script {
    /// What the script is for; not read.
    #[serde(default)]
    #[allow(dead_code, reason = "a place for the author to say it")]
    about: Option<String>,
    steps: Vec<WrittenStep>,
}

/// One step as it is written: exactly one of `call`, `finish` and `fail`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WrittenStep {
    call: Option<String>,
    args: Map<String, Value>,
    expect: ReplyExpectation,
    /// Values of the reply to keep: name → JSON pointer.
    save: BTreeMap<String, String>,
    finish: Option<Value>,
    fail: Option<String>,
}

#[derive(Clone, Debug)]
enum ScriptStep {
    Call { tool: String, args: Map<String, Value>, expect: ReplyExpectation, save: BTreeMap<String, String> },
    Finish(Value),
    Fail(String),
}

impl WrittenStep {
    fn read(self) -> Result<ScriptStep, &'static str> {
        match (self.call, self.finish, self.fail) {
            (Some(tool), None, None) => {
                Ok(ScriptStep::Call { tool, args: self.args, expect: self.expect, save: self.save })
            }
            (None, Some(result), None) => Ok(ScriptStep::Finish(result)),
            (None, None, Some(reason)) => Ok(ScriptStep::Fail(reason)),
            _ => Err("it needs exactly one of call, finish and fail"),
        }
    }
}

/// What a reply must be for the script to go on.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct ReplyExpectation {
    /// The code of an error that is wanted.
    error: Option<String>,
    /// A text that the reply contains.
    contains: Option<String>,
}

#[derive(Clone, Debug)]
pub struct Scripted {
    steps: Vec<ScriptStep>,
    /// The step that was answered last.
    at: Option<usize>,
    saved: BTreeMap<String, Value>,
}

/// What people call a script: its file without the folders.
pub fn script_name(file: &str) -> &str {
    Path::new(file).file_name().and_then(OsStr::to_str).unwrap_or(file)
}

impl Scripted {
    pub fn open(file: &str) -> Result<Self, String> {
        Self::open_with(file, BTreeMap::new())
    }

    /// With values that every step may fill in, as if an earlier one had saved them.
    pub fn open_with(file: &str, values: BTreeMap<String, Value>) -> Result<Self, String> {
        if file == DEMO_NAME {
            return Self::parse(DEMO, DEMO_NAME, values);
        }
        let named = |problem: String| format!("{file}: {problem}");
        let length = Path::new(file).metadata().map_err(|problem| named(problem.to_string()))?.len();
        if length > LARGEST_SCRIPT {
            return Err(named(format!("the script has {length} bytes, the limit is {LARGEST_SCRIPT}")));
        }
        let text = std::fs::read_to_string(file).map_err(|problem| named(problem.to_string()))?;
        Self::parse(&text, script_name(file), values)
    }

    fn parse(text: &str, name: &str, values: BTreeMap<String, Value>) -> Result<Self, String> {
        let script: Script = serde_saphyr::from_str(text).map_err(|problem| format!("{name}: {problem}"))?;
        Self::from_steps(script.steps, name, values)
    }

    /// `name` is what errors call the script.
    pub fn from_steps(
        steps: Vec<WrittenStep>,
        name: &str,
        values: BTreeMap<String, Value>,
    ) -> Result<Self, String> {
        if steps.len() > MOST_STEPS {
            return Err(format!("{name}: more than {MOST_STEPS} steps"));
        }
        let read = |(at, step): (usize, WrittenStep)| {
            step.read().map_err(|problem| format!("{name}: step {}: {problem}", at + 1))
        };
        let steps: Vec<ScriptStep> = steps.into_iter().enumerate().map(read).collect::<Result<_, _>>()?;
        check_names(&steps, &values).map_err(|problem| format!("{name}: {problem}"))?;
        Ok(Self { steps, at: None, saved: values })
    }

    /// Whether the script comes to an end, and each call is one that there is, with arguments that it takes. What a step
    /// fills in is known later, and a step that expects an error may be wrong.
    pub fn check_calls(&self, tools: &Table) -> Result<(), String> {
        for (at, step) in self.steps.iter().enumerate() {
            let ScriptStep::Call { tool, args, expect, .. } = step else { continue };
            if expect.error.is_none() {
                check_call(tools, tool, args)
                    .map_err(|problem| format!("step {} ({tool}): {problem}", at + 1))?;
            }
        }
        match self.steps.last() {
            Some(ScriptStep::Finish(_) | ScriptStep::Fail(_)) => Ok(()),
            _ => Err(NO_END.to_owned()),
        }
    }

    /// Whether the last step gave what the script expects of it.
    fn check_last(&mut self, results: &[CallResult]) -> Result<(), String> {
        let Some(at) = self.at else {
            return Ok(());
        };
        let Some(ScriptStep::Call { tool, expect, save, .. }) = self.steps.get(at) else {
            return Ok(());
        };
        let place = format!("step {} ({tool})", at + 1);
        let Some(result) = results.last() else {
            return Err(format!("{place} was not made"));
        };
        expect.check(result).map_err(|problem| format!("{place}: {problem}"))?;
        for (name, pointer) in save {
            let value = result.reply.pointer(pointer);
            let value = value.ok_or_else(|| format!("{place}: the reply has nothing at {pointer}"))?;
            self.saved.insert(name.clone(), value.clone());
        }
        Ok(())
    }
}

pub fn check_call(tools: &Table, tool: &str, args: &Map<String, Value>) -> Result<(), String> {
    let Some(entry) = tools.find_tool(tool) else {
        let near = nearest(tool, tools.tool_names());
        let near = near.map(|near| format!("; did you mean '{near}'?")).unwrap_or_default();
        return Err(format!("there is no such tool here{near}"));
    };
    if let Some(why) = why_not_for_jobs(entry.spec.meta) {
        return Err(why);
    }
    let (schema, written) = (entry.schema(), Value::Object(args.clone()));
    let mut names = Vec::new();
    names_in(&written, &mut names);
    if names.is_empty() {
        let checked = args::check(schema, written.clone(), Unknown::Refused);
        return checked
            .and_then(|_| entry.spec.parse(schema, written))
            .map(drop)
            .map_err(|error| error.message);
    }
    let is_known = |name: &&String| {
        let known = schema.get("properties").and_then(Value::as_object);
        known.is_some_and(|known| known.contains_key(*name)) || COMMON.contains(&name.as_str())
    };
    args.keys().find(|name| !is_known(name)).map_or(Ok(()), |name| Err(format!("unknown argument '{name}'")))
}

/// What a step fills in, an earlier one has saved.
fn check_names(steps: &[ScriptStep], values: &BTreeMap<String, Value>) -> Result<(), String> {
    let mut saved: BTreeSet<String> = values.keys().cloned().collect();
    for (at, step) in steps.iter().enumerate() {
        let value = match step {
            ScriptStep::Call { args, .. } => Value::Object(args.clone()),
            ScriptStep::Finish(result) => result.clone(),
            ScriptStep::Fail(_) => Value::Null,
        };
        let mut wanted = Vec::new();
        names_in(&value, &mut wanted);
        if let Some(name) = wanted.into_iter().find(|name| !saved.contains(name)) {
            let known: Vec<&str> = saved.iter().map(String::as_str).collect();
            let known = if known.is_empty() { "nothing".to_owned() } else { known.join(", ") };
            return Err(format!(
                "step {}: {{{{{name}}}}} is saved by no earlier step; saved until there: {known}",
                at + 1
            ));
        }
        if let ScriptStep::Call { save, .. } = step {
            saved.extend(save.keys().cloned());
        }
    }
    Ok(())
}

/// The names that texts want to have filled in.
fn names_in(value: &Value, names: &mut Vec<String>) {
    match value {
        Value::String(text) => {
            let begun = text.split("{{").skip(1).filter_map(|rest| rest.split_once("}}"));
            names.extend(begun.map(|(name, _)| name.to_owned()).filter(|name| is_name(name)));
        }
        Value::Array(list) => list.iter().for_each(|item| names_in(item, names)),
        Value::Object(fields) => fields.values().for_each(|item| names_in(item, names)),
        _ => {}
    }
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|letter| letter.is_alphanumeric() || "_-.".contains(letter))
}

impl Planner for Scripted {
    /// What it gives was written beforehand.
    fn can_mend(&self) -> bool {
        false
    }

    fn next(&mut self, turn: &PlannerTurn, _: PlannerAsker) -> Result<PlannerAnswer, PlannerFailure> {
        if let Err(problem) = self.check_last(turn.results) {
            return Ok(one_step(PlannedStep::Fail(problem)));
        }
        let at = self.at.map_or(0, |at| at + 1);
        self.at = Some(at);
        let step = match self.steps.get(at) {
            None => PlannedStep::Fail(NO_END.to_owned()),
            Some(ScriptStep::Fail(reason)) => PlannedStep::Fail(reason.clone()),
            Some(ScriptStep::Finish(result)) => PlannedStep::Finish(fill_in(result, &self.saved)),
            Some(ScriptStep::Call { tool, args, .. }) => {
                let filled = fill_in(&Value::Object(args.clone()), &self.saved);
                let args = filled.as_object().cloned().unwrap_or_default();
                PlannedStep::Call { tool: tool.clone(), args }
            }
        };
        Ok(one_step(step))
    }
}

fn one_step(step: PlannedStep) -> PlannerAnswer {
    PlannerAnswer { steps: vec![step], ..PlannerAnswer::default() }
}

impl ReplyExpectation {
    fn check(&self, result: &CallResult) -> Result<(), String> {
        let got = result.error.map(|kind| kind.code());
        if got != self.error.as_deref() {
            let message = result.reply.pointer("/error/message").and_then(Value::as_str).unwrap_or_default();
            return Err(match (got, &self.error) {
                (Some(code), _) => format!("{code}: {message}"),
                (None, wanted) => {
                    format!("it worked, but {} was expected", wanted.as_deref().unwrap_or_default())
                }
            });
        }
        match &self.contains {
            Some(text) if !contains_text(&result.reply, text) => {
                Err(format!("the reply does not contain '{text}'"))
            }
            _ => Ok(()),
        }
    }
}

fn contains_text(value: &Value, text: &str) -> bool {
    match value {
        Value::String(own) => own.contains(text),
        Value::Array(list) => list.iter().any(|item| contains_text(item, text)),
        Value::Object(fields) => fields.values().any(|item| contains_text(item, text)),
        _ => false,
    }
}

/// Puts saved values in the place of `{{name}}`: as they are where that is the whole text, as text elsewhere.
fn fill_in(value: &Value, saved: &BTreeMap<String, Value>) -> Value {
    match value {
        Value::String(text) => fill_in_text(text, saved),
        Value::Array(list) => list.iter().map(|item| fill_in(item, saved)).collect(),
        Value::Object(fields) => {
            Value::Object(fields.iter().map(|(name, item)| (name.clone(), fill_in(item, saved))).collect())
        }
        other => other.clone(),
    }
}

fn fill_in_text(text: &str, saved: &BTreeMap<String, Value>) -> Value {
    let whole = text.strip_prefix("{{").and_then(|rest| rest.strip_suffix("}}"));
    if let Some(value) = whole.and_then(|name| saved.get(name)) {
        return value.clone();
    }
    let mut filled = String::new();
    let mut rest = text;
    // What was filled in is not looked through again: it may come from the screen.
    while let Some((before, after)) = rest.split_once("{{") {
        filled.push_str(before);
        let named = after.split_once("}}").and_then(|(name, after)| Some((saved.get(name)?, after)));
        rest = match named {
            Some((value, after)) => {
                filled.push_str(&value.as_str().map_or_else(|| value.to_string(), str::to_owned));
                after
            }
            None => {
                filled.push_str("{{");
                after
            }
        };
    }
    filled.push_str(rest);
    Value::String(filled)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(script: &str, expected: Result<(), &str>) {
        let got = Scripted::parse(script, "s", BTreeMap::new()).map(drop);
        assert_eq!(got, expected.map_err(str::to_owned), "{script}");
    }

    #[test]
    fn a_name_that_no_step_saves_is_refused_when_the_script_is_read() {
        let saved = "steps: [{call: look, save: {a: /x}}, {call: click_at, args: {t: ['{{a}}']}}, {finish: 'x {{a}}'}]";
        check(saved, Ok(()));
        let early = "steps: [{call: look, args: {t: '{{a}}'}, save: {a: /x}}]";
        check(early, Err("s: step 1: {{a}} is saved by no earlier step; saved until there: nothing"));
        let other = "steps: [{call: look, save: {a: /x}}, {finish: {r: '{{b}}'}}]";
        check(other, Err("s: step 2: {{b}} is saved by no earlier step; saved until there: a"));
        check("steps: [{finish: 'a {{ b, {{}} and {{no name}}'}]", Ok(()));
    }
}
