//! What a list of steps says, read and foreseen as a whole before anything is done.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::step_window::{in_window, in_windows};
use crate::budget::Meter;
use crate::config::limits::{ACT_ALTERNATIVES, ACT_EXPECTATIONS, ACT_STEPS};
use crate::error::{Error, Fact, Kind, MAY_COME, Result};
use crate::gate::steps::lacks_token;
use crate::observer::Ref;
use crate::observer::predicate::{PredicateClaim, TextSource, WindowPredicate};
use crate::observer::wait::WaitCondition;
use crate::pattern::Pattern;
use crate::tool::args::Text;
use crate::tool::{Cx, Effect, Foresight, Meta, ReplyKind, Tool};
use crate::tools::assert_state::AssertState;
use crate::tools::fields::{ArgumentFields, ArgumentObject};
use crate::tools::wait_for::parse_condition;

/// What a step says beside its tool's own arguments. No tool has arguments of these names.
pub const OWN_FIELDS: &[&str] = &["do", "expect", "within_ms", "on_fail"];
const DEFAULT_WITHIN_MS: u64 = 3000;
const LONGEST_WITHIN_MS: u64 = 600_000;

#[derive(Debug)]
pub struct ActPlan {
    pub steps: Vec<PlannedStep>,
    pub alternatives: BTreeMap<String, Vec<PlannedStep>>,
}

#[derive(Debug)]
pub struct PlannedStep {
    /// Where it stands: `steps[2]`.
    pub path: String,
    pub tool: String,
    pub args: Map<String, Value>,
    pub expect: Vec<Expectation>,
    pub within: Duration,
    pub on_fail: Option<String>,
    /// What was found out about it beforehand.
    pub foreseen: Option<Outlook>,
}

/// A step as it looked before the first one ran.
#[derive(Debug)]
pub struct Outlook {
    pub meta: &'static Meta,
    pub window_uid: Option<String>,
    /// Why its element cannot be found yet; an earlier step may bring it.
    pub not_yet: Option<String>,
    /// The person will be asked when it is the first, and it stops there when it is not.
    pub needs_consent: bool,
}

#[derive(Clone, Debug)]
pub enum Expectation {
    /// Something is otherwise than before the step.
    Changed,
    /// A window of this title that was not there before the step.
    NewWindow(Map<String, Value>, Pattern),
    /// One of these is met.
    Met(Vec<ExpectedForm>),
}

/// A condition or a predicate as wait_for takes it, and as it was understood.
#[derive(Clone, Debug)]
pub struct ExpectedForm {
    pub written: Map<String, Value>,
    pub condition: WaitCondition,
}

impl Expectation {
    pub fn forms(&self) -> &[ExpectedForm] {
        match self {
            Expectation::Met(forms) => forms,
            Expectation::Changed | Expectation::NewWindow(..) => &[],
        }
    }
}

impl ExpectedForm {
    /// What can be asked before the step too: what holds already is no news after it. A value is asked for its own
    /// sake, and screenshots cost too much.
    pub fn asked_before(&self) -> Option<WaitCondition> {
        match &self.condition {
            WaitCondition::ElementAppears(_)
            | WaitCondition::ElementDisappears { .. }
            | WaitCondition::TextVisible(_)
            | WaitCondition::WindowDisappears(_)
            | WaitCondition::TitleDisappears(_) => Some(self.condition.clone()),
            WaitCondition::Holds(predicate) => without_reading(predicate).map(WaitCondition::Holds),
            _ => None,
        }
    }
}

fn without_reading(predicate: &WindowPredicate) -> Option<WindowPredicate> {
    let claim = match &predicate.claim {
        PredicateClaim::TextVisible { pattern, .. } => {
            PredicateClaim::TextVisible { pattern: pattern.clone(), source: TextSource::Tree }
        }
        PredicateClaim::ElementExists(_)
        | PredicateClaim::ElementAbsent(_)
        | PredicateClaim::WindowExists { .. } => predicate.claim.clone(),
        _ => return None,
    };
    Some(WindowPredicate { claim, ..predicate.clone() })
}

impl ActPlan {
    pub fn read(
        cx: &Cx,
        steps: &[ArgumentObject],
        alternatives: Option<&ArgumentObject>,
        window_uid: Option<&Text<256>>,
    ) -> Result<ActPlan> {
        if steps.is_empty() {
            return Err(Error::bad_request("argument 'steps' needs at least one step").with("field", "steps"));
        }
        let reader = StepReader { cx, window_uid: window_uid.map(Text::as_str) };
        let plan = ActPlan {
            steps: reader.read_steps("steps", steps.iter().map(|step| &step.0))?,
            alternatives: reader.read_alternatives(alternatives)?,
        };
        plan.check_names()?;
        Ok(plan)
    }

    fn all_steps(&self) -> impl Iterator<Item = &PlannedStep> {
        self.steps.iter().chain(self.alternatives.values().flatten())
    }

    /// An alternative that nobody gave is noticed before it is needed.
    fn check_names(&self) -> Result<()> {
        for step in self.all_steps() {
            let Some(name) = &step.on_fail else { continue };
            if !self.steps.iter().any(|other| other.path == step.path) {
                return Err(
                    step.step_error("on_fail", "is not allowed in an alternative: that could loop forever")
                );
            }
            if !self.alternatives.contains_key(name) {
                let known: Vec<&str> = self.alternatives.keys().map(String::as_str).collect();
                let known = if known.is_empty() { "none is given".to_owned() } else { known.join(", ") };
                return Err(step.step_error("on_fail", &format!("names no alternative: '{name}'; {known}")));
            }
        }
        Ok(())
    }

    /// Everything that can be refused is refused here.
    pub fn check_all(&mut self, cx: &Cx, dry_run: bool) -> Result<()> {
        for (number, step) in self.steps.iter_mut().enumerate() {
            step.check_step(cx, Foresight { is_first: number == 0, is_dry: dry_run })?;
        }
        let later = Foresight { is_first: false, is_dry: dry_run };
        self.alternatives.values_mut().flatten().try_for_each(|step| step.check_step(cx, later))?;
        if dry_run { Ok(()) } else { self.check_budget(cx) }
    }

    /// Looks whether the budget has room for all steps, and takes nothing of it.
    fn check_budget(&self, cx: &Cx) -> Result<()> {
        let meters: Vec<Meter> = self
            .steps
            .iter()
            .filter_map(|step| step.foreseen.as_ref())
            .flat_map(|it| it.meta.meters())
            .copied()
            .collect();
        cx.reserve_budget(&meters).map(drop).map_err(|error| {
            let message =
                format!("{} steps cannot run: {}; nothing was done", self.steps.len(), error.message);
            Error { message, ..error }
        })
    }
}

impl PlannedStep {
    fn check_step(&mut self, cx: &Cx, when: Foresight) -> Result<()> {
        let foreseen = cx.foresee(&self.tool, &self.args, when).map_err(|error| self.at_fault(error))?;
        refuse_unfit(foreseen.meta).map_err(|error| self.at_fault(error))?;
        let needs_consent = foreseen.needs_consent;
        if needs_consent && !cx.caller().asks_the_person() && cx.scope.is_none() {
            return Err(self.at_fault(lacks_token(foreseen.meta)));
        }
        let outlook =
            |window_uid, not_yet| Outlook { meta: foreseen.meta, window_uid, not_yet, needs_consent };
        let found = foreseen.refused.map_or(foreseen.targets, Err);
        self.foreseen = Some(match found {
            Ok(targets) => outlook(targets.first().map(|target| target.window_uid().to_owned()), None),
            // Before the first step nothing will change; and what is malformed or impossible stays so.
            Err(error) if when.is_first || stays_refused(&error) => return Err(self.at_fault(error)),
            Err(error) => outlook(None, Some(error.message)),
        });
        Ok(())
    }

    /// The error of a call, as that of this step.
    fn at_fault(&self, error: Error) -> Error {
        let path = &self.path;
        let mut context = error.context;
        for (key, fact) in &mut context {
            if let ("field", Fact::Text(field)) = (*key, &*fact) {
                *fact = Fact::Text(format!("{path}.{field}"));
            }
        }
        let message = format!("{path} ({}): {}; nothing was done", self.tool, error.message);
        Error { message, context, ..error }.with("step", path.as_str())
    }

    fn step_error(&self, name: &str, problem: &str) -> Error {
        Error::bad_request(format!("{}: '{name}' {problem}", self.path))
            .with("field", format!("{}.{name}", self.path))
    }
}

/// Whether nothing that an earlier step does could let a step through.
fn stays_refused(error: &Error) -> bool {
    let may_come = error.context.iter().any(|(name, _)| *name == MAY_COME);
    !may_come && matches!(error.kind, Kind::BadRequest | Kind::PatternUnsupported | Kind::PermissionDenied)
}

/// Steps act, wait or answer with data. A tree or a picture has no place in the reply of many.
fn refuse_unfit(meta: &Meta) -> Result<()> {
    let why = match (meta.steps, meta.effect, meta.reply) {
        (true, _, _) => "steps cannot be nested",
        (_, Effect::Session, _) => "it changes the server's session; call it by itself",
        (_, _, ReplyKind::Tree | ReplyKind::Picture) => {
            "its reply is too large; act already reports what changed"
        }
        _ => return Ok(()),
    };
    Err(Error::bad_request(format!("'{}' cannot be a step: {why}", meta.name)).with("field", "do"))
}

struct StepReader<'a> {
    cx: &'a Cx<'a>,
    window_uid: Option<&'a str>,
}

impl StepReader<'_> {
    fn read_steps<'v>(
        &self,
        path: &str,
        steps: impl Iterator<Item = &'v Map<String, Value>>,
    ) -> Result<Vec<PlannedStep>> {
        steps.enumerate().map(|(number, step)| self.read_step(format!("{path}[{number}]"), step)).collect()
    }

    fn read_alternatives(
        &self,
        given: Option<&ArgumentObject>,
    ) -> Result<BTreeMap<String, Vec<PlannedStep>>> {
        let mut lists = BTreeMap::new();
        for (name, steps) in given.iter().flat_map(|given| &given.0) {
            let path = format!("alternatives.{name}");
            let refuse = |problem: String| {
                Error::bad_request(format!("argument '{path}' {problem}")).with("field", path.as_str())
            };
            let Value::Array(steps) = steps else {
                return Err(refuse("must be a list of steps".to_owned()));
            };
            let objects: Vec<_> = steps.iter().filter_map(Value::as_object).collect();
            if objects.len() != steps.len() || steps.is_empty() || steps.len() > ACT_STEPS {
                return Err(refuse(format!("must be a list of 1 to {ACT_STEPS} objects")));
            }
            lists.insert(name.clone(), self.read_steps(&path, objects.into_iter())?);
            if lists.len() > ACT_ALTERNATIVES {
                return Err(refuse(format!("is too many: at most {ACT_ALTERNATIVES} are allowed")));
            }
        }
        Ok(lists)
    }

    fn read_step(&self, path: String, object: &Map<String, Value>) -> Result<PlannedStep> {
        let fields = ArgumentFields::new(path.clone(), object);
        let word = fields.text("do")?;
        let tool = self.cx.tools().tool_by_word(word).unwrap_or(word).to_owned();
        let spoken =
            object.iter().filter(|(name, value)| !OWN_FIELDS.contains(&name.as_str()) && !value.is_null());
        let mut args: Map<String, Value> =
            spoken.map(|(name, value)| (name.clone(), value.clone())).collect();
        self.name_window(&tool, &mut args);
        self.name_window_of_predicates(&tool, &mut args);
        Ok(PlannedStep {
            expect: self.read_expectations(&fields)?,
            within: read_timeout(&fields)?,
            on_fail: fields.maybe_text("on_fail")?.filter(|word| *word != "stop").map(str::to_owned),
            foreseen: None,
            path,
            tool,
            args,
        })
    }

    /// The window of all steps, where a tool takes one and the step says nothing that has its own.
    fn name_window(&self, tool: &str, args: &mut Map<String, Value>) {
        const NAMES_A_WINDOW: &[&str] = &["window_uid", "window_index", "window_title", "ref"];
        let Some((uid, entry)) = self.window_uid.zip(self.cx.tools().find_tool(tool)) else { return };
        let takes = entry.schema().pointer("/properties/window_uid").is_some();
        if takes && !NAMES_A_WINDOW.iter().any(|name| args.contains_key(*name)) {
            args.insert("window_uid".to_owned(), uid.into());
        }
    }

    /// A list of predicates is about the window of all steps, but for those that name their own.
    fn name_window_of_predicates(&self, tool: &str, args: &mut Map<String, Value>) {
        let is_list = tool == AssertState::META.name;
        let predicates = args.get_mut("predicates").and_then(Value::as_array_mut).filter(|_| is_list);
        let Some((uid, predicates)) = self.window_uid.zip(predicates) else { return };
        for predicate in predicates {
            if let Some(own) = predicate.as_object().and_then(|predicate| in_window(predicate, uid)) {
                *predicate = own.into();
            }
        }
    }

    /// The window that a step is about, if it or the whole list names one.
    fn step_window(&self, fields: &ArgumentFields) -> Option<String> {
        let by_ref = |reference: &str| {
            let known = self.cx.observer().refs().remembered(Ref::parse(reference)?)?;
            Some(known.window_uid().to_owned())
        };
        let named = fields.get("window_uid").and_then(Value::as_str).map(str::to_owned);
        named
            .or_else(|| fields.get("ref").and_then(Value::as_str).and_then(by_ref))
            .or_else(|| self.window_uid.map(str::to_owned))
    }

    fn read_expectations(&self, fields: &ArgumentFields) -> Result<Vec<Expectation>> {
        let entries: Vec<&Value> = match fields.get("expect") {
            None => Vec::new(),
            Some(Value::Array(list)) => list.iter().collect(),
            Some(one) => vec![one],
        };
        if entries.len() > ACT_EXPECTATIONS {
            return Err(fields.field_error("expect", &format!("may have {ACT_EXPECTATIONS} entries")));
        }
        entries
            .into_iter()
            .enumerate()
            .map(|(number, entry)| self.read_expectation(fields, number, entry))
            .collect()
    }

    fn read_expectation(&self, fields: &ArgumentFields, number: usize, entry: &Value) -> Result<Expectation> {
        let object = match entry {
            Value::String(word) if word == "changed" => return Ok(Expectation::Changed),
            Value::String(short) => written_out(fields, short)?,
            Value::Object(object) => object.clone(),
            _ => return Err(fields.field_error("expect", EXPECTATIONS)),
        };
        let inner = ArgumentFields::new(format!("{}.expect[{number}]", fields.path), &object);
        match parse_condition(self.cx, &inner)? {
            // They compare with the moment at which a wait begins, which is after the step.
            WaitCondition::TreeChanges(_) | WaitCondition::FocusedChanges(_) => Err(inner.field_error(
                "type",
                "is too late after a step; expect \"changed\", or the state that it leads to",
            )),
            WaitCondition::WindowAppears(title) => Ok(Expectation::NewWindow(object.clone(), title)),
            _ => self.read_forms(&inner.path, object.clone(), fields).map(Expectation::Met),
        }
    }

    fn read_forms(
        &self,
        path: &str,
        object: Map<String, Value>,
        step: &ArgumentFields,
    ) -> Result<Vec<ExpectedForm>> {
        let read = |written: Map<String, Value>| {
            let condition = parse_condition(self.cx, &ArgumentFields::new(path.to_owned(), &written))?;
            Ok(ExpectedForm { written, condition })
        };
        in_windows(object, self.step_window(step).as_deref()).into_iter().map(read).collect()
    }
}

const EXPECTATIONS: &str = "must be \"changed\", \"text: WORDS\" (whole), \"text_contains: PART\", \"window: TITLE\", \"gone: e12\", \"value: TEXT\", a predicate \
                            {kind,…} or a condition {type,…}";

/// The short form of an expectation as the object that it stands for. Words are taken as they are written.
fn written_out(fields: &ArgumentFields, short: &str) -> Result<Map<String, Value>> {
    let (key, words) =
        short.split_once(':').map(|(key, words)| (key.trim(), words.trim())).unwrap_or_default();
    let object = match key {
        _ if words.is_empty() && key != "value" => return Err(fields.field_error("expect", EXPECTATIONS)),
        "text" => json!({ "kind": "text_visible", "regex": whole_words(words) }),
        "text_contains" => json!({ "kind": "text_visible", "regex": regex::escape(words) }),
        "window" => json!({ "type": "window_appears", "title_regex": regex::escape(words) }),
        "gone" if Ref::parse(words).is_some() => json!({ "kind": "element_absent", "ref": words }),
        "gone" => json!({ "type": "element_disappears", "selector": words }),
        "value" => return own_value(fields, words),
        _ => return Err(fields.field_error("expect", EXPECTATIONS)),
    };
    Ok(object.as_object().cloned().unwrap_or_default())
}

/// Said of words that were not seen: models expect parts of them to be found.
pub const WHOLE_WORDS: &str = "\"text: …\" finds whole words, \"text_contains: …\" parts of them";

/// Whether a pattern is that of [`whole_words`].
pub fn finds_whole_words(pattern: &str) -> bool {
    pattern.starts_with(r"\b") || pattern.ends_with(r"\b")
}

/// These words and no longer ones: 300 is not in 3000.
fn whole_words(words: &str) -> String {
    let edge = |letter: Option<char>| if letter.is_some_and(char::is_alphanumeric) { r"\b" } else { "" };
    format!("{}{}{}", edge(words.chars().next()), regex::escape(words), edge(words.chars().next_back()))
}

/// The value of the element that the step itself names.
fn own_value(fields: &ArgumentFields, expected: &str) -> Result<Map<String, Value>> {
    let own = ["ref", "selector", "window_uid"]
        .into_iter()
        .filter_map(|name| Some((name.to_owned(), fields.get(name)?.clone())));
    let mut object: Map<String, Value> = own.collect();
    if !object.contains_key("ref") && !object.contains_key("selector") {
        return Err(fields.field_error("expect", "needs a step with ref or selector for \"value: …\""));
    }
    object.insert("kind".to_owned(), "value_equals".into());
    object.insert("expected".to_owned(), expected.into());
    Ok(object)
}

fn read_timeout(fields: &ArgumentFields) -> Result<Duration> {
    let millis = match fields.get("within_ms") {
        None => DEFAULT_WITHIN_MS,
        Some(number) => number.as_u64().filter(|millis| *millis <= LONGEST_WITHIN_MS).ok_or_else(|| {
            fields.field_error("within_ms", &format!("must be a whole number up to {LONGEST_WITHIN_MS}"))
        })?,
    };
    Ok(Duration::from_millis(millis))
}
