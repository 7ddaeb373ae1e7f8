//! Calls inside a call: each passes the whole gate by itself, and is foreseen before the first of them runs.

use serde_json::{Map, Value};

use super::confirm::Person;
use super::{Call, Reader, Reply, pass_along};
use crate::app::App;
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

impl Cx<'_> {
    /// One step, on the way of every call.
    pub fn pass(&self, tool: &str, args: Map<String, Value>, person: &Person) -> Reply {
        let call = Call { tool: tool.to_owned(), args: Value::Object(args), origin: self.origin };
        pass_along(self.app, call, person, self.cancel, Reader::AnotherCall)
    }

    /// Nobody will be asked: a list of steps does not go on in the middle.
    pub fn withdraw_question(&self, reply: &mut Reply) {
        if let Some(question) = reply.question.take() {
            self.app.confirm.withdraw(&question.ticket);
        }
    }

    /// Whether a step could be run as far as that can be told now: its arguments, the right to it, its target.
    /// What the `first` step would touch is what is there now.
    pub fn foresee(&self, tool: &str, args: &Map<String, Value>, first: bool) -> Result<Foreseen> {
        let app = self.app;
        let entry = app.tools.find(tool).ok_or_else(|| super::no_such_tool(app, tool))?;
        let meta = entry.spec.meta;
        let prepared = entry.spec.parse(entry.schema(), Value::Object(args.clone()))?;
        app.permits(meta)?;
        self.refuse_unknown_ref(args)?;
        let judging = self.judging(app.judges(meta));
        let targets = prepared.targets(&judging);
        let covered = |targets: &Vec<Target>| {
            targets.iter().any(|target| app.confirm.covers(target)) || app.suspicion.is_up(self, targets)
        };
        // What has the focus now may not have it later; an element that is named is named.
        let is_sure = first || ELEMENT.iter().any(|name| args.contains_key(*name));
        let needs_consent = judging.judged
            && is_sure
            && !args.contains_key("confirm_token")
            && targets.as_ref().is_ok_and(covered);
        Ok(Foreseen { meta, targets, needs_consent })
    }

    /// A ref that was never given, or is forgotten, will not come.
    fn refuse_unknown_ref(&self, args: &Map<String, Value>) -> Result<()> {
        match args.get("ref").and_then(Value::as_str).and_then(Ref::parse) {
            Some(reference) => self.observer().check_ref(reference),
            None => Ok(()),
        }
    }
}

/// The refusal of a step that needs a consent which it does not bring, before anything is done.
pub fn lacks_token(meta: &Meta) -> Error {
    let message = format!("{} needs a confirm_token from propose_action, inside the step", meta.name);
    Error::new(Kind::ConfirmationRequired, message).with("action", meta.name)
}

/// A list of steps stands in the books as the names of its steps, because each has a line of its own. A call that is
/// only spoken of stands there without what it would type: nobody has looked yet where that would go.
pub fn for_the_books(app: &App, entry: &Entry, args: &Value) -> Map<String, Value> {
    let mut spoken = args::spoken(args);
    if entry.spec.meta.steps {
        for name in STEPS {
            if let Some(steps) = spoken.get_mut(*name) {
                *steps = names_of(steps);
            }
        }
    }
    if let Some((name, tool)) = args::carried_call(entry.schema(), &spoken) {
        let inner = app.tools.find(tool).map(|inner| without_typed(app, inner, &spoken[name]));
        let hidden = || Value::from(arguments::HIDDEN);
        let (name, inner) = (name.to_owned(), inner.map_or_else(hidden, Value::Object));
        spoken.insert(name, inner);
    }
    spoken
}

fn without_typed(app: &App, entry: &Entry, args: &Value) -> Map<String, Value> {
    // A call inside a call inside a call is refused; what it says is not looked through.
    let is_call = args::carried_call(entry.schema(), &args::spoken(args)).is_some();
    let mut spoken = if is_call { Map::new() } else { for_the_books(app, entry, args) };
    for (name, value) in &mut spoken {
        let named = args::named_secret(entry.schema(), name, value).is_some_and(|it| app.secrets.knows(it));
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
