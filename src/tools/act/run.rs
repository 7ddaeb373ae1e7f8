//! Running the steps, one after the other, each through the gate, until one fails.

use std::time::Duration;

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::expect::{StepBefore, Unmet, value_put_in};
use super::plan::{ActPlan, PlannedStep};
use crate::error::{Error, Kind, Result};
use crate::model::{InputKind, Window};
use crate::observer::Ref;
use crate::tool::call::Reply;
use crate::tool::lean::lean_facts;
use crate::tool::person::Person;
use crate::tool::{Cx, Meta};

/// How sure it is that what was asked for came about; the worst last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum StepVerdict {
    /// It was looked for afterwards, and found, or what was written was read back.
    Confirmed,
    /// Done, and nothing that is new since was expected of it.
    Unconfirmed,
    Failed,
}

impl StepVerdict {
    pub const fn name(self) -> &'static str {
        match self {
            StepVerdict::Confirmed => "confirmed",
            StepVerdict::Unconfirmed => "unconfirmed",
            StepVerdict::Failed => "failed",
        }
    }
}

/// What came of one step.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub struct StepReport {
    pub step: String,
    #[serde(rename = "do")]
    pub tool: String,
    pub verdict: StepVerdict,
    /// What matters of the reply: ref, changed, note, error.
    #[serde(flatten)]
    pub reply: Map<String, Value>,
    /// The expectation that was not met, and what was seen instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unmet: Option<Value>,
    /// What was expected held before the step, so that it says nothing about it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(default)]
    pub held_before: bool,
    /// Windows came or went after it, so that it had an effect whatever its own window shows.
    #[serde(skip)]
    pub moved_windows: bool,
    /// What it was done to: `e12 Button "Save"`, or the keys.
    #[serde(skip)]
    pub subject: String,
    /// For a model that reads lines: what the tool itself wrote in place of its JSON.
    #[serde(skip)]
    pub lines: Option<String>,
    /// Whether its verdict counts for the whole: it acted, or looked for something.
    #[serde(skip)]
    pub counts: bool,
    #[serde(skip)]
    pub failure: Option<StepFailure>,
}

/// Why a step failed, as the error of the whole.
#[derive(Clone, Debug)]
pub struct StepFailure {
    pub kind: Kind,
    pub message: String,
}

#[derive(Debug)]
pub struct ActOutcome {
    pub steps: Vec<StepReport>,
    /// The step at which it ended.
    pub stopped_at: Option<String>,
    pub not_run: usize,
    pub changed: bool,
}

impl ActOutcome {
    /// That of the worst step. A step that an alternative stood in for is made good by it.
    pub fn verdict(&self) -> StepVerdict {
        if self.stopped_at.is_some() {
            return StepVerdict::Failed;
        }
        let counted = self.steps.iter().filter(|step| step.counts && step.verdict != StepVerdict::Failed);
        counted.map(|step| step.verdict).max().unwrap_or(StepVerdict::Unconfirmed)
    }
}

pub struct StepRunner<'a, 'b> {
    cx: &'a mut Cx<'b>,
    deadline: Duration,
    full: bool,
    ran: Vec<StepReport>,
    changed: bool,
    /// The program of a step that showed no window. Keys would go to whatever was there before.
    windowless: Option<String>,
    /// The window of a program that a step started, where it did not have the focus yet.
    unfocused: Option<String>,
}

impl<'a, 'b> StepRunner<'a, 'b> {
    pub fn new(cx: &'a mut Cx<'b>, time: Duration, full: bool) -> Self {
        let deadline = cx.clock().now() + time;
        Self { cx, deadline, full, ran: Vec::new(), changed: false, windowless: None, unfocused: None }
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
                return Ok(self.build_outcome(Some(path), plan.steps.len() - number - 1));
            }
        }
        Ok(self.build_outcome(None, 0))
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

    fn build_outcome(&mut self, stopped_at: Option<String>, not_run: usize) -> ActOutcome {
        ActOutcome { steps: std::mem::take(&mut self.ran), stopped_at, not_run, changed: self.changed }
    }

    /// Whether the step did what it should.
    fn run_step(&mut self, step: &PlannedStep) -> Result<bool> {
        if self.cx.clock().now() >= self.deadline {
            let error = Error::new(Kind::Timeout, "the time limit of the call has passed");
            self.ran.push(StepReport::failed_by(step, &error));
            return Ok(false);
        }
        if let Some(program) = self.windowless.as_ref().filter(|_| step.keys_go_to_focus()) {
            let error = Error::new(
                Kind::WindowGone,
                format!(
                    "'{program}' has shown no window, and keys would go to another program; nothing was sent. Wait \
                     for its window, or name a window_uid"
                ),
            );
            self.ran.push(StepReport::failed_by(step, &error));
            return Ok(false);
        }
        if step.keys_go_to_focus()
            && let Err(error) = self.await_launched_focus()
        {
            self.ran.push(StepReport::failed_by(step, &error));
            return Ok(false);
        }
        let before = StepBefore::take(self.cx, step);
        let mut reply = self.cx.pass(&step.tool, step.args.clone(), &self.step_person());
        if self.ran.is_empty() && reply.question.is_some() {
            // Nothing was done yet, so the whole can be called again with the answer.
            self.cx.question = reply.question.take();
            return Err(gate_refusal(&reply));
        }
        self.cx.withdraw_question(&mut reply);
        let value = reply.value();
        let lines = reply.lean.take().filter(|_| reply.ok() && !self.full);
        self.changed |= value.get("changed") == Some(&Value::Bool(true));
        let mut report = StepReport::of_reply(step, &value, self.full);
        report.subject = subject_of(self.cx, step, &value);
        report.lines = lines.filter(|_| step.foreseen.as_ref().is_some_and(|it| it.meta.writes_lines));
        report.failure = failure_of(&reply, &value);
        if report.failure.is_none() {
            self.judge(step, &before, &value, &mut report);
        }
        let done = report.failure.is_none();
        self.note_windowless(&value, &report);
        if !done {
            report.verdict = StepVerdict::Failed;
        }
        self.ran.push(report);
        Ok(done)
    }

    /// Looks whether what was expected came about, and whether the element has what was put into it.
    fn judge(&self, step: &PlannedStep, before: &StepBefore, reply: &Value, report: &mut StepReport) {
        let until = (self.cx.clock().now() + step.within).min(self.deadline);
        if let Err(Unmet { said, failure }) = before.check(self.cx, step, reply, until) {
            report.unmet = Some(said);
            report.failure = Some(failure);
            return;
        }
        if !step.expect.is_empty() {
            self.cx.observer().note_effect_seen();
        }
        let is_true = |name: &str| reply.get(name) == Some(&Value::Bool(true));
        let is_verified = is_true("verified") || is_true("reached");
        // The platform may have read it back in its own way: a date in its parts.
        let read_back = match is_verified {
            true => Ok(true),
            false => value_put_in(self.cx, step, reply, self.deadline),
        };
        let read_back = match read_back {
            Ok(read_back) => read_back,
            Err(failure) => {
                report.reply.insert("note".to_owned(), failure.message.as_str().into());
                report.failure = Some(failure);
                return;
            }
        };
        report.held_before = before.all_held(step);
        let meta = step.foreseen.as_ref().map(|it| it.meta);
        let confirms = meta.is_some_and(|meta| meta.confirms);
        let page_came = meta.is_some_and(opens_page) && is_arrived_page(reply);
        if confirms || read_back || page_came || (!step.expect.is_empty() && !report.held_before) {
            report.verdict = StepVerdict::Confirmed;
        }
        // What neither acts nor looks for anything says nothing about the others.
        report.counts = confirms || !step.expect.is_empty() || meta.is_none_or(|meta| meta.effect.acts());
    }

    /// Keys after a start are for the window that it opened: it gets the focus in time, or they are not sent.
    fn await_launched_focus(&mut self) -> Result<()> {
        let Some(uid) = self.unfocused.take() else { return Ok(()) };
        let until = self.cx.clock().now() + FOCUS_TIME;
        loop {
            let seen = self.cx.observer().generation()?;
            let windows = self.cx.observer().windows()?;
            let Some(own) = windows.iter().find(|window| window.uid == uid) else { return Ok(()) };
            let left = until.saturating_sub(self.cx.clock().now());
            match windows.iter().find(|window| window.focused) {
                Some(front) if front.uid == uid => return Ok(()),
                front if left.is_zero() => return Err(keys_astray(own, front)),
                _ => self.cx.observer().await_change(seen, left.min(LOOK_AGAIN), self.cx.cancel)?,
            }
        }
    }

    /// A step that found what it looked for has seen where the next one works.
    fn note_windowless(&mut self, reply: &Value, report: &StepReport) {
        let window = reply.get("window").filter(|_| reply.get("window_found") == Some(&Value::Bool(true)));
        if let Some(window) = window {
            let is_unfocused = window.get("focused") == Some(&Value::Bool(false));
            let uid = window.get("window_uid").and_then(Value::as_str).filter(|_| is_unfocused);
            self.unfocused = uid.map(str::to_owned);
        } else if report.verdict == StepVerdict::Confirmed {
            self.unfocused = None;
        }
        if reply.get("window_found") == Some(&Value::Bool(false)) {
            self.windowless = Some(report.subject.clone());
        } else if report.verdict == StepVerdict::Confirmed {
            self.windowless = None;
        }
    }

    /// An answer of the person belongs to the first step; the others can ask for none of their own.
    fn step_person(&self) -> Person {
        match (&self.cx.person, self.ran.is_empty()) {
            (person, true) => (*person).clone(),
            (Person::Unreachable, false) => Person::Unreachable,
            (_, false) => Person::Reachable,
        }
    }
}

/// How long the window of a program that was started may take to get the focus.
const FOCUS_TIME: Duration = Duration::from_secs(1);
const LOOK_AGAIN: Duration = Duration::from_millis(50);

fn keys_astray(own: &Window, front: Option<&Window>) -> Error {
    let goes = front.map_or("nowhere".to_owned(), |front| format!("to '{}' ({})", front.title, front.uid));
    Error::new(
        Kind::WindowOccluded,
        format!(
            "'{}' ({}) was opened and does not have the focus: keys would go {goes}; nothing was sent. Give it the focus \
             by window_action focus, or name a window_uid",
            own.title, own.uid
        ),
    )
}

fn opens_page(meta: &Meta) -> bool {
    meta.input.as_ref().is_some_and(|input| matches!(input.kind, InputKind::OpenUrl | InputKind::PageHistory))
}

/// The server has answered with the page, and it is there as a whole.
fn is_arrived_page(reply: &Value) -> bool {
    let is_loading = reply.get("loading") == Some(&Value::Bool(true));
    let status = reply.get("status").and_then(Value::as_u64);
    !is_loading && status.is_some_and(|status| (200..400).contains(&status))
}

impl StepReport {
    fn of_reply(step: &PlannedStep, value: &Value, full: bool) -> Self {
        let reply = match full {
            true => Map::from_iter([("reply".to_owned(), value.clone())]),
            false => lean_facts(value.clone()),
        };
        Self {
            step: step.path.clone(),
            tool: step.tool.clone(),
            verdict: StepVerdict::Unconfirmed,
            reply,
            unmet: None,
            held_before: false,
            moved_windows: false,
            subject: String::new(),
            lines: None,
            counts: true,
            failure: None,
        }
    }

    fn failed_by(step: &PlannedStep, error: &Error) -> Self {
        let value = json!({ "error": { "code": error.kind.code(), "message": error.message } });
        let failure = StepFailure { kind: error.kind, message: error.message.clone() };
        let report = Self::of_reply(step, &value, false);
        Self { verdict: StepVerdict::Failed, failure: Some(failure), ..report }
    }
}

/// The element by its ref and what it is called, or what else the step names.
fn subject_of(cx: &Cx, step: &PlannedStep, reply: &Value) -> String {
    let text = |name: &str| step.args.get(name).and_then(Value::as_str);
    let target = reply.pointer("/target/ref").and_then(Value::as_str).or_else(|| text("ref"));
    let known = target.and_then(Ref::parse).and_then(|target| cx.observer().refs().remembered(target));
    let renamed = reply.pointer("/target/renamed").and_then(Value::as_str);
    match (target, known) {
        // What it is called now is said behind the outcome.
        (Some(target), Some(known)) if renamed == Some(known.shown_label()) => target.to_owned(),
        (Some(target), Some(known)) => format!("{target} {}", known.shown_label()),
        (Some(target), None) => target.to_owned(),
        (None, _) => {
            let named = ["selector", "keys", "program"].into_iter().find_map(text).map(str::to_owned);
            named.or_else(|| drag_ends(cx, &step.args)).unwrap_or_default()
        }
    }
}

/// `e5 Button "A" to e9 Group "B"`
fn drag_ends(cx: &Cx, args: &Map<String, Value>) -> Option<String> {
    Some(format!("{} to {}", drag_end(cx, args.get("from")?), drag_end(cx, args.get("to")?)))
}

/// An element by its ref or selector, or a point.
fn drag_end(cx: &Cx, end: &Value) -> String {
    let text = |name: &str| end.get(name).and_then(Value::as_str);
    let reference = end.as_str().or_else(|| text("ref"));
    let known =
        reference.and_then(Ref::parse).and_then(|reference| cx.observer().refs().remembered(reference));
    match (reference, known, text("selector")) {
        (Some(reference), Some(known), _) => format!("{reference} {}", known.shown_label()),
        (Some(reference), None, _) => reference.to_owned(),
        (None, _, Some(selector)) => selector.to_owned(),
        (None, _, None) => end.to_string(),
    }
}

/// Why the call of a step failed: by an error, or because what it asserts does not hold.
fn failure_of(reply: &Reply, value: &Value) -> Option<StepFailure> {
    let said = value.pointer("/error/message").and_then(Value::as_str);
    if let Some(kind) = reply.error {
        return Some(StepFailure { kind, message: said.unwrap_or(kind.code()).to_owned() });
    }
    let fails = |name: &str| value.get(name) == Some(&Value::Bool(false));
    let message = if fails("all_passed") { "not every claim holds" } else { "it did not come about" };
    (fails("all_passed") || fails("ok"))
        .then(|| StepFailure { kind: Kind::Timeout, message: message.to_owned() })
}

/// The gate's own refusal, as the refusal of the whole.
fn gate_refusal(reply: &Reply) -> Error {
    let value = reply.value();
    let message =
        value.pointer("/error/message").and_then(Value::as_str).unwrap_or("the person has to be asked");
    Error::new(reply.error.unwrap_or(Kind::ConfirmationRequired), format!("{message}; nothing was done"))
}
