//! Running the steps, one after the other, each through the gate, until one fails.

use std::time::Duration;

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::plan::{ActPlan, Expectation, PlannedStep};
use crate::error::{Error, Kind, Result};
use crate::observer::wait::{SeenTree, WaitCondition, WaitRequest};
use crate::observer::{Ref, WindowChoice};
use crate::tool::call::Reply;
use crate::tool::person::Person;
use crate::tool::{Cx, Tool};
use crate::tools::wait_for::WaitForTool;

/// How sure it is that what was asked for came about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum StepVerdict {
    /// It was looked for afterwards, and found, or what was written was read back.
    Confirmed,
    /// Done, and nothing was expected of it.
    Unconfirmed,
    Failed,
}

/// What came of one step.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub struct StepReport {
    step: String,
    #[serde(rename = "do")]
    tool: String,
    verdict: StepVerdict,
    /// What matters of the reply: ref, changed, note, error.
    #[serde(flatten)]
    reply: Map<String, Value>,
    /// The expectation that was not met, and what was seen instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    unmet: Option<Value>,
}

#[derive(Debug)]
pub struct ActOutcome {
    pub steps: Vec<StepReport>,
    pub verdict: StepVerdict,
    /// The step at which it ended.
    pub stopped_at: Option<String>,
    pub not_run: usize,
    pub changed: bool,
}

pub struct StepRunner<'a, 'b> {
    cx: &'a mut Cx<'b>,
    deadline: Duration,
    full: bool,
    ran: Vec<StepReport>,
    changed: bool,
    /// An expectation was met after the last input.
    confirmed: bool,
}

impl<'a, 'b> StepRunner<'a, 'b> {
    pub fn new(cx: &'a mut Cx<'b>, time: Duration, full: bool) -> Self {
        let deadline = cx.clock().now() + time;
        Self { cx, deadline, full, ran: Vec::new(), changed: false, confirmed: false }
    }

    /// Nothing runs after a step that failed, but for the alternative that it names.
    pub fn run(&mut self, plan: &ActPlan) -> Result<ActOutcome> {
        for (number, step) in plan.steps.iter().enumerate() {
            if self.run_step(step)? {
                continue;
            }
            let instead = step.on_fail.as_ref().and_then(|name| plan.alternatives.get(name));
            let failed_at = match instead {
                None => Some(step.path.clone()),
                Some(steps) => self.run_steps(steps)?,
            };
            if let Some(path) = failed_at {
                return Ok(self.build_outcome(
                    StepVerdict::Failed,
                    Some(path),
                    plan.steps.len() - number - 1,
                ));
            }
        }
        let verdict = if self.confirmed { StepVerdict::Confirmed } else { StepVerdict::Unconfirmed };
        Ok(self.build_outcome(verdict, None, 0))
    }

    /// The step that failed, if one did.
    fn run_steps(&mut self, steps: &[PlannedStep]) -> Result<Option<String>> {
        for step in steps {
            if !self.run_step(step)? {
                return Ok(Some(step.path.clone()));
            }
        }
        Ok(None)
    }

    fn build_outcome(
        &mut self,
        verdict: StepVerdict,
        stopped_at: Option<String>,
        not_run: usize,
    ) -> ActOutcome {
        ActOutcome {
            steps: std::mem::take(&mut self.ran),
            verdict,
            stopped_at,
            not_run,
            changed: self.changed,
        }
    }

    /// Whether the step did what it should.
    fn run_step(&mut self, step: &PlannedStep) -> Result<bool> {
        if self.cx.clock().now() >= self.deadline {
            let error = Error::new(Kind::Timeout, "the time limit of the call has passed");
            self.note_step(step, StepVerdict::Failed, error_fields(&error), None);
            return Ok(false);
        }
        let was = step.expects_change().then(|| self.seen_before(step)).flatten();
        let mut reply = self.cx.pass(&step.tool, step.args.clone(), &self.step_person());
        if self.ran.is_empty() && reply.question.is_some() {
            // Nothing was done yet, so the whole can be called again with the answer.
            self.cx.question = reply.question.take();
            return Err(gate_refusal(&reply));
        }
        self.cx.withdraw_question(&mut reply);
        let value = reply.value();
        self.changed |= value.get("changed") == Some(&Value::Bool(true));
        let done = reply.ok() && value.get("all_passed") != Some(&Value::Bool(false)) && value["ok"] != false;
        let fields = if self.full {
            Map::from_iter([("reply".to_owned(), value.clone())])
        } else {
            lean_reply(value.clone())
        };
        if !done {
            self.note_step(step, StepVerdict::Failed, fields, None);
            return Ok(false);
        }
        if let Err(unmet) = self.check(step, was, &value) {
            self.note_step(step, StepVerdict::Failed, fields, Some(unmet));
            return Ok(false);
        }
        let meta = step.foreseen.as_ref().map(|it| it.meta);
        let is_verified = value.get("verified") == Some(&Value::Bool(true));
        let confirms = !step.expect.is_empty() || is_verified || meta.is_some_and(|meta| meta.confirms);
        // A step that neither acts nor confirms leaves what was confirmed before as it is.
        if confirms || meta.is_none_or(|meta| meta.effect.acts()) {
            self.confirmed = confirms;
        }
        let verdict = if confirms { StepVerdict::Confirmed } else { StepVerdict::Unconfirmed };
        self.note_step(step, verdict, fields, None);
        Ok(true)
    }

    fn note_step(
        &mut self,
        step: &PlannedStep,
        verdict: StepVerdict,
        reply: Map<String, Value>,
        unmet: Option<Value>,
    ) {
        self.ran.push(StepReport { step: step.path.clone(), tool: step.tool.clone(), verdict, reply, unmet });
    }

    /// An answer of the person belongs to the first step; the others can ask for none of their own.
    fn step_person(&self) -> Person {
        match (&self.cx.person, self.ran.is_empty()) {
            (person, true) => (*person).clone(),
            (Person::Unreachable, false) => Person::Unreachable,
            (_, false) => Person::Reachable,
        }
    }

    /// The step's window as it is before it.
    fn seen_before(&self, step: &PlannedStep) -> Option<SeenTree> {
        let named = step.args.get("window_uid").and_then(Value::as_str).map(str::to_owned);
        let by_ref = || {
            let reference = Ref::parse(step.args.get("ref")?.as_str()?)?;
            Some(self.cx.observer().refs().remembered(reference)?.window_uid().to_owned())
        };
        let choice = WindowChoice { uid: named.or_else(by_ref), ..WindowChoice::default() };
        let chosen = self.cx.observer().resolve_window(&choice).ok()?;
        let view = self.cx.observer().fresh_view(&chosen, self.cx.cancel).ok()?;
        Some(SeenTree { window_uid: chosen.window.uid, fingerprint: view.fingerprint() })
    }

    /// Every expectation in its turn, all of them within the step's time.
    fn check(&self, step: &PlannedStep, was: Option<SeenTree>, reply: &Value) -> Result<(), Value> {
        let until = (self.cx.clock().now() + step.within).min(self.deadline);
        for expectation in &step.expect {
            let left = until.saturating_sub(self.cx.clock().now());
            match expectation {
                Expectation::Changed => self.check_changed(was.clone(), reply, left)?,
                Expectation::Met(condition) => self.check_met(condition, left)?,
            }
        }
        Ok(())
    }

    fn check_changed(&self, was: Option<SeenTree>, reply: &Value, left: Duration) -> Result<(), Value> {
        if reply.get("changed") == Some(&Value::Bool(true)) {
            return Ok(());
        }
        let window_uid = was.as_ref().map(|was| was.window_uid.clone());
        let waiting = WaitRequest { window_uid, timeout: left, poll: Duration::from_millis(100) };
        let condition = vec![WaitCondition::TreeChanges(was)];
        match self.cx.observer().wait_for(condition, &waiting, self.cx.cancel) {
            Ok(_) => Ok(()),
            // A window that went away has changed more than any other.
            Err(error) if error.kind == Kind::WindowGone => Ok(()),
            Err(_) => Err(json!({ "expected": "changed", "seen": "nothing in the window changed" })),
        }
    }

    /// A wait like any other, so that it stands in traces and a replay waits too.
    fn check_met(&self, condition: &Map<String, Value>, left: Duration) -> Result<(), Value> {
        let millis = crate::clock::millis(left);
        let args = json!({ "any_of": [condition], "timeout_ms": millis });
        let args = args.as_object().cloned().unwrap_or_default();
        let reply = self.cx.pass(WaitForTool::META.name, args, &Person::Unreachable);
        if reply.ok() {
            return Ok(());
        }
        let said = reply.value().get_mut("error").map(Value::take).unwrap_or_default();
        Err(json!({ "expected": condition, "error": said }))
    }
}

impl PlannedStep {
    fn expects_change(&self) -> bool {
        self.expect.iter().any(|expectation| matches!(expectation, Expectation::Changed))
    }
}

/// The gate's own refusal, as the refusal of the whole.
fn gate_refusal(reply: &Reply) -> Error {
    let value = reply.value();
    let message =
        value.pointer("/error/message").and_then(Value::as_str).unwrap_or("the person has to be asked");
    Error::new(reply.error.unwrap_or(Kind::ConfirmationRequired), format!("{message}; nothing was done"))
}

fn error_fields(error: &Error) -> Map<String, Value> {
    let error = json!({ "code": error.kind.code(), "message": error.message });
    Map::from_iter([("error".to_owned(), error)])
}

/// Keys of a reply that say nothing new in a list of steps.
const NOISE: &[&str] = &[
    "ok",
    "success",
    "caused_by_step_id",
    "untrusted",
    "suspicious",
    "suspicious_places",
    "action",
    "before",
    "after",
    "duration_ms",
    "dry_run",
    "route",
    "target",
    "matched_detail",
    "polls",
    "scenario_reaction",
];

/// What matters of a reply: which element it was, what changed, what went wrong.
fn lean_reply(reply: Value) -> Map<String, Value> {
    let Value::Object(mut fields) = reply else { return Map::new() };
    let target = fields.remove("target");
    fields.retain(|name, value| !NOISE.contains(&name.as_str()) && !is_empty(value));
    for name in ["ref", "renamed", "identity"] {
        if let Some(fact) = target.as_ref().and_then(|target| target.get(name)) {
            fields.insert(name.to_owned(), fact.clone());
        }
    }
    fields
}

fn is_empty(value: &Value) -> bool {
    value.is_null() || value.as_array().is_some_and(Vec::is_empty)
}
