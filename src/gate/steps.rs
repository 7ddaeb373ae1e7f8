//! Calls inside a call: each passes the whole gate by itself, and is foreseen before the first of them runs.

use serde_json::{Map, Value};

use super::{Call, Reader, Reply, pass_along};
use crate::error::{Error, Kind, Result};
use crate::observer::Ref;
use crate::tool::person::Person;
use crate::tool::{Cx, Meta, Target};

const ELEMENT: &[&str] = &["ref", "selector", "element_id"];

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
