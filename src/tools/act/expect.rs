//! What is expected of a step: asked before it, so that only what is new counts, and looked for after it.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::plan::{Expectation, ExpectedForm, PlannedStep, WHOLE_WORDS, finds_whole_words};
use super::run::StepFailure;
use crate::error::{Error, Kind};
use crate::model::InputKind;
use crate::observer::predicate::{Named, PredicateClaim, WindowPredicate};
use crate::observer::wait::{SeenDesktop, WaitCondition, WaitRequest};
use crate::observer::{Ref, WindowChoice};
use crate::tool::person::Person;
use crate::tool::{Cx, Tool};
use crate::tools::wait_for::WaitForTool;

const POLL: Duration = Duration::from_millis(100);
/// How long an application may take to show what was put into an element.
const READ_BACK_TIME: Duration = Duration::from_secs(1);

/// What has to be known from before a step to judge it.
pub struct StepBefore {
    desktop: Option<Arc<SeenDesktop>>,
    /// Of each form of each expectation, whether it was met already.
    held: Vec<Vec<bool>>,
}

/// An expectation that was not met.
pub struct Unmet {
    pub said: Value,
    pub failure: StepFailure,
}

impl Unmet {
    fn new(said: Value, message: String) -> Self {
        Self { said, failure: StepFailure { kind: Kind::Timeout, message } }
    }
}

impl StepBefore {
    /// Looks only where an expectation needs it.
    pub fn take(cx: &Cx, step: &PlannedStep) -> Self {
        let compares =
            |expected: &Expectation| matches!(expected, Expectation::Changed | Expectation::NewWindow(..));
        let desktop = step.expect.iter().any(compares).then(|| seen_before(cx, step)).flatten();
        Self { desktop: desktop.map(Arc::new), held: held_before(cx, step) }
    }

    /// Whether there are expectations, and all of them were met before the step.
    pub fn all_held(&self, step: &PlannedStep) -> bool {
        let all_forms = |held: &Vec<bool>| !held.is_empty() && held.iter().all(|held| *held);
        !step.expect.is_empty() && self.held.iter().all(all_forms)
    }

    /// Every expectation in its turn, all of them within the step's time.
    pub fn check(&self, cx: &Cx, step: &PlannedStep, reply: &Value, until: Duration) -> Result<(), Unmet> {
        for (expectation, held) in step.expect.iter().zip(&self.held) {
            let left = until.saturating_sub(cx.clock().now());
            match (expectation, &self.desktop) {
                (Expectation::Changed, Some(before)) => check_changed(cx, step, before, reply, left)?,
                (Expectation::Changed, None) => {
                    return Err(nothing_changed("the desktop could not be read before the step"));
                }
                (Expectation::NewWindow(condition, title), Some(before)) => {
                    let title = title.clone();
                    let is_new = WaitCondition::WindowIsNew { title, before: before.clone() };
                    wait_new_window(cx, condition, is_new, left)?;
                    check_met(cx, vec![condition], left)?;
                }
                (Expectation::NewWindow(condition, _), None) => check_met(cx, vec![condition], left)?,
                (Expectation::Met(forms), _) => check_met(cx, news(forms, held), left)?,
            }
        }
        Ok(())
    }
}

/// What was met before the step confirms nothing, so it is asked for only where nothing else is left.
fn news<'a>(forms: &'a [ExpectedForm], held: &[bool]) -> Vec<&'a Map<String, Value>> {
    let all = || forms.iter().map(|form| &form.written);
    let news: Vec<_> = all().zip(held).filter(|(_, held)| !**held).map(|(form, _)| form).collect();
    if news.is_empty() { all().collect() } else { news }
}

fn held_before(cx: &Cx, step: &PlannedStep) -> Vec<Vec<bool>> {
    let forms = step.expect.iter().flat_map(Expectation::forms);
    let conditions: Vec<WaitCondition> = forms.filter_map(ExpectedForm::asked_before).collect();
    let met = if conditions.is_empty() { Vec::new() } else { cx.observer().met_now(conditions, cx.cancel) };
    let mut met = met.into_iter();
    let mut is_held = |form: &ExpectedForm| form.asked_before().is_some() && met.next() == Some(true);
    step.expect.iter().map(|expected| expected.forms().iter().map(&mut is_held).collect()).collect()
}

/// The windows, and the step's own as it is before it.
fn seen_before(cx: &Cx, step: &PlannedStep) -> Option<SeenDesktop> {
    let observer = cx.observer();
    let named = step.args.get("window_uid").and_then(Value::as_str).map(str::to_owned);
    let by_ref = || {
        let reference = Ref::parse(step.args.get("ref")?.as_str()?)?;
        Some(observer.refs().remembered(reference)?.window_uid().to_owned())
    };
    let choice = WindowChoice { uid: named.or_else(by_ref), ..WindowChoice::default() };
    let desktop = observer.desktop().ok()?;
    let window = observer.choose_in(&desktop, &choice).and_then(|chosen| {
        let view = observer.view_in_look(&chosen, cx.cancel)?;
        let view = observer.view_or_reading(&chosen, view, cx.cancel)?;
        Ok((chosen.window.uid, view))
    });
    Some(SeenDesktop { windows: observer.shown_windows(&desktop), window: window.ok() })
}

fn nothing_changed(seen: &str) -> Unmet {
    Unmet::new(json!({ "expected": "changed", "seen": seen }), format!("expected a change: {seen}"))
}

fn check_changed(
    cx: &Cx,
    step: &PlannedStep,
    before: &Arc<SeenDesktop>,
    reply: &Value,
    left: Duration,
) -> Result<(), Unmet> {
    let is_dark = before.window.as_ref().is_some_and(|(_, view)| view.is_dark() || view.was_read());
    if is_dark && reply.get("changed") == Some(&Value::Bool(true)) {
        return Ok(());
    }
    let target = reply.pointer("/target/ref").and_then(Value::as_str).and_then(Ref::parse);
    // Who asks for the focus is content with it.
    let target = target.filter(|_| step.input_kind() != Some(InputKind::Focus));
    let differs = WaitCondition::DesktopDiffers { before: before.clone(), target };
    match wait_for(cx, differs, left) {
        Ok(()) => Ok(()),
        // A window that went away has changed more than any other.
        Err(error) if error.kind == Kind::WindowGone => Ok(()),
        Err(_) => {
            Err(nothing_changed("nothing is otherwise than before, but for the focus of what was acted on"))
        }
    }
}

fn wait_new_window(
    cx: &Cx,
    condition: &Map<String, Value>,
    is_new: WaitCondition,
    left: Duration,
) -> Result<(), Unmet> {
    wait_for(cx, is_new, left).map_err(|error| {
        let seen = "no window of this title is new since the step";
        let error = json!({ "code": error.kind.code(), "message": seen });
        Unmet::new(json!({ "expected": condition, "error": error }), seen.to_owned())
    })
}

fn wait_for(cx: &Cx, condition: WaitCondition, left: Duration) -> Result<(), Error> {
    let waiting = WaitRequest { window_uid: None, timeout: left, poll: POLL };
    cx.observer().wait_for(vec![condition], &waiting, cx.cancel).map(drop)
}

/// A wait like any other, so that it stands in traces and a replay waits too.
fn check_met(cx: &Cx, forms: Vec<&Map<String, Value>>, left: Duration) -> Result<(), Unmet> {
    let millis = crate::clock::millis(left);
    let args = json!({ "any_of": forms, "timeout_ms": millis });
    let args = args.as_object().cloned().unwrap_or_default();
    let reply = cx.pass(WaitForTool::META.name, args, &Person::Unreachable);
    if reply.ok() {
        return Ok(());
    }
    let said = reply.value().get_mut("error").map(Value::take).unwrap_or_default();
    let message = match (reply.error, forms.as_slice()) {
        // It is one expectation, looked for in two places.
        (Some(Kind::Timeout), [_, _, ..]) => {
            format!("it was not met within {millis} ms, neither in the step's window nor in the one in front")
        }
        _ => said.get("message").and_then(Value::as_str).unwrap_or("it was not met").to_owned(),
    };
    let pattern = forms.first().and_then(|form| form.get("regex")).and_then(Value::as_str);
    let message = match pattern.is_some_and(finds_whole_words) {
        true => format!("{message}; {WHOLE_WORDS}"),
        false => message,
    };
    let unmet = Unmet::new(json!({ "expected": forms.first(), "error": said }), message);
    Err(match reply.error {
        Some(kind) => Unmet { failure: StepFailure { kind, ..unmet.failure }, ..unmet },
        None => unmet,
    })
}

/// Whether the element has what the step put into it. Another value than that is a failure of a field, and of a list
/// only says nothing: what it is called there is the application's choice.
pub fn value_put_in(
    cx: &Cx,
    step: &PlannedStep,
    reply: &Value,
    deadline: Duration,
) -> Result<bool, StepFailure> {
    let Some(expected) = step.value_to_read_back() else { return Ok(false) };
    let target = reply.pointer("/target/ref").and_then(Value::as_str).and_then(Ref::parse);
    let Some(reference) = target else { return Ok(false) };
    let claim = PredicateClaim::ValueReads { element: Named::Ref(reference), expected: expected.clone() };
    let reads = WaitCondition::Holds(WindowPredicate { window_uid: None, claim });
    let left = deadline.saturating_sub(cx.clock().now()).min(READ_BACK_TIME);
    match wait_for(cx, reads, left) {
        Ok(()) => Ok(true),
        Err(error) if error.kind == Kind::Timeout && step.input_kind() != Some(InputKind::SelectOption) => {
            match value_held(cx, reference) {
                Some(held) => Err(StepFailure {
                    kind: Kind::Timeout,
                    message: format!("it holds {} and not what was put in", quoted(&held)),
                }),
                None => Ok(false),
            }
        }
        Err(_) => Ok(false),
    }
}

fn value_held(cx: &Cx, reference: Ref) -> Option<String> {
    let (view, node) = cx.observer().evaluation(cx.cancel).node_of(reference).ok().flatten()?;
    let element = &view.tree()[node];
    let number = || element.range.now.map(|now| now.to_string());
    Some(element.value.clone().or_else(number).unwrap_or_default())
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", crate::text::shorten(text, LONGEST_VALUE))
}

const LONGEST_VALUE: usize = 80;

impl PlannedStep {
    pub fn input_kind(&self) -> Option<InputKind> {
        self.foreseen.as_ref()?.meta.input.as_ref().map(|input| input.kind)
    }

    /// Whether it sends keys without saying to which window.
    pub fn keys_go_to_focus(&self) -> bool {
        let is_keys = matches!(self.input_kind(), Some(InputKind::TypeText | InputKind::PressKey));
        is_keys
            && !["window_uid", "window_index", "window_title", "ref", "selector"]
                .iter()
                .any(|name| self.args.contains_key(*name))
    }

    /// What the element should say after the step; nothing for a secret, which is not read.
    fn value_to_read_back(&self) -> Option<String> {
        let text = |name: &str| self.args.get(name).and_then(Value::as_str).map(str::to_owned);
        match self.input_kind()? {
            InputKind::SetValue if self.args.get("clear_first") == Some(&Value::Bool(false)) => None,
            InputKind::SetValue => text("value"),
            InputKind::ClearText => Some(String::new()),
            InputKind::SelectOption => text("option_name"),
            _ => None,
        }
    }
}
