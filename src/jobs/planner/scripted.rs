//! A plan that was written beforehand: for demos and tests, and for whoever needs no model.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::{CallResult, PlannedStep, Planner, PlannerAnswer, PlannerFailure, PlannerTurn};
use crate::clock::Cancel;

const DEMO: &str = include_str!("demo.yaml");
const LARGEST_SCRIPT: u64 = 1 << 20;
const MOST_STEPS: usize = 10_000;

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
struct WrittenStep {
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

#[derive(Debug)]
pub struct Scripted {
    steps: Vec<ScriptStep>,
    /// The step that was answered last.
    at: Option<usize>,
    saved: BTreeMap<String, Value>,
}

impl Scripted {
    pub fn open(file: &str) -> Result<Self, String> {
        if file == "demo" {
            return Self::parse(DEMO, "demo");
        }
        let named = |problem: String| format!("{file}: {problem}");
        let length = Path::new(file).metadata().map_err(|problem| named(problem.to_string()))?.len();
        if length > LARGEST_SCRIPT {
            return Err(named(format!("the script has {length} bytes, the limit is {LARGEST_SCRIPT}")));
        }
        let text = std::fs::read_to_string(file).map_err(|problem| named(problem.to_string()))?;
        Self::parse(&text, file)
    }

    pub fn parse(text: &str, name: &str) -> Result<Self, String> {
        let script: Script = serde_saphyr::from_str(text).map_err(|problem| format!("{name}: {problem}"))?;
        if script.steps.len() > MOST_STEPS {
            return Err(format!("{name}: more than {MOST_STEPS} steps"));
        }
        let read = |(at, step): (usize, WrittenStep)| {
            step.read().map_err(|problem| format!("{name}: step {}: {problem}", at + 1))
        };
        let steps = script.steps.into_iter().enumerate().map(read).collect::<Result<_, _>>()?;
        Ok(Self { steps, at: None, saved: BTreeMap::new() })
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

impl Planner for Scripted {
    fn next(&mut self, turn: &PlannerTurn, _: &Cancel) -> Result<PlannerAnswer, PlannerFailure> {
        // A script cannot repair a result.
        if let (Some(remark), Some(ScriptStep::Finish(_))) =
            (turn.remark, self.at.and_then(|at| self.steps.get(at)))
        {
            return Ok(one_step(PlannedStep::Fail(remark.to_owned())));
        }
        if let Err(problem) = self.check_last(turn.results) {
            return Ok(one_step(PlannedStep::Fail(problem)));
        }
        let at = self.at.map_or(0, |at| at + 1);
        self.at = Some(at);
        let step = match self.steps.get(at) {
            None => PlannedStep::Fail(
                "the script ends without a result; its last step must be `finish` or `fail`".to_owned(),
            ),
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
