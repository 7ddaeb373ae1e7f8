//! Calls inside a call: each passes the whole gate by itself, and is foreseen before the first of them runs.

use serde_json::{Map, Value};

use super::Gate;
use crate::error::{Error, Kind, Result};
use crate::observer::Ref;
use crate::tool::{Cx, Meta, Target, args};
use crate::tools::Entry;
use crate::trace::arguments;

const STEPS: &[&str] = &["steps", "alternatives"];
const ELEMENT: &[&str] = &["ref", "selector", "element_id"];
const LONGEST_NAME: usize = 64;

/// What is known of a step before anything has been done.
#[derive(Debug)]
pub struct Foreseen {
    pub meta: &'static Meta,
    /// What it would touch, or why that cannot be found yet.
    pub targets: Result<Vec<Target>>,
    /// It touches what needs a consent, and brings none.
    pub needs_consent: bool,
}

impl Gate {
    pub(super) fn foresee_step(
        &self,
        cx: &Cx,
        tool: &str,
        args: &Map<String, Value>,
        first: bool,
    ) -> Result<Foreseen> {
        let entry = self.tools.find(tool).ok_or_else(|| super::no_such_tool(self, tool))?;
        let meta = entry.spec.meta;
        let prepared = entry.spec.parse(entry.schema(), Value::Object(args.clone()))?;
        self.permits(meta)?;
        refuse_unknown_ref(cx, args)?;
        let judging = cx.judging(self.judges(meta));
        let targets = prepared.targets(&judging);
        let covered = |targets: &Vec<Target>| {
            targets.iter().any(|target| self.confirm.covers(target))
                || self.suspicion.is_up(self.clock.now(), targets)
        };
        // What has the focus now may not have it later; an element that is named is named.
        let is_sure = first || ELEMENT.iter().any(|name| args.contains_key(*name));
        let needs_consent = judging.judged
            && is_sure
            && !args.contains_key("confirm_token")
            && targets.as_ref().is_ok_and(covered);
        Ok(Foreseen { meta, targets, needs_consent })
    }
}

/// A ref that was never given, or is forgotten, will not come.
fn refuse_unknown_ref(cx: &Cx, args: &Map<String, Value>) -> Result<()> {
    match args.get("ref").and_then(Value::as_str).and_then(Ref::parse) {
        Some(reference) => cx.observer().check_ref(reference),
        None => Ok(()),
    }
}

/// The refusal of a step that needs a consent which it does not bring, before anything is done.
pub fn lacks_token(meta: &Meta) -> Error {
    let message = format!("{} needs a confirm_token from propose_action, inside the step", meta.name);
    Error::new(Kind::ConfirmationRequired, message).with("action", meta.name)
}

/// A list of steps stands in the books as the names of its steps, because each has a line of its own. A call that is
/// only spoken of stands there without what it would type: nobody has looked yet where that would go.
pub fn for_the_books(gate: &Gate, entry: &Entry, args: &Value) -> Map<String, Value> {
    let mut spoken = args::spoken(args);
    if entry.spec.meta.steps {
        for name in STEPS {
            if let Some(steps) = spoken.get_mut(*name) {
                *steps = names_of(steps);
            }
        }
    }
    if let Some((name, tool)) = args::carried_call(entry.schema(), &spoken) {
        let inner = gate.tools.find(tool).map(|inner| without_typed(gate, inner, &spoken[name]));
        let hidden = || Value::from(arguments::HIDDEN);
        let (name, inner) = (name.to_owned(), inner.map_or_else(hidden, Value::Object));
        spoken.insert(name, inner);
    }
    spoken
}

fn without_typed(gate: &Gate, entry: &Entry, args: &Value) -> Map<String, Value> {
    // A call inside a call inside a call is refused; what it says is not looked through.
    let is_call = args::carried_call(entry.schema(), &args::spoken(args)).is_some();
    let mut spoken = if is_call { Map::new() } else { for_the_books(gate, entry, args) };
    for (name, value) in &mut spoken {
        let named = args::named_secret(entry.schema(), name, value).is_some_and(|it| gate.secrets.knows(it));
        if !named && arguments::is_typed(entry.schema(), name, value) {
            *value = arguments::HIDDEN.into();
        }
    }
    spoken
}

fn names_of(steps: &Value) -> Value {
    match steps {
        Value::Array(list) => list.iter().map(name_of).collect(),
        Value::Object(lists) => lists.values().map(names_of).collect(),
        _ => Value::from("not a list"),
    }
}

fn name_of(step: &Value) -> Value {
    let name = step.get("do").and_then(Value::as_str).unwrap_or("?");
    name.chars().take(LONGEST_NAME).collect::<String>().into()
}
