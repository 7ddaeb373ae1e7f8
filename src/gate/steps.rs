//! Calls inside a call: each passes the whole gate by itself, and is foreseen before the first of them runs.

use serde_json::{Map, Value};

use super::Gate;
use crate::error::{Error, Kind, Result};
use crate::observer::Ref;
use crate::tool::{Cx, Foreseen, Foresight, Meta, Permit, Prepared, TableEntry, Target};

const ELEMENT: &[&str] = &["ref", "selector", "element_id"];

impl Gate {
    pub(super) fn foresee_step(
        &self,
        cx: &Cx,
        tool: &str,
        args: &Map<String, Value>,
        when: Foresight,
    ) -> Result<Foreseen> {
        let entry = self.tools.find_tool(tool).ok_or_else(|| super::no_such_tool(self, tool))?;
        let meta = entry.spec.meta;
        let (own, prepared) = entry.spec.parse(entry.schema(), Value::Object(args.clone()))?;
        self.permits(meta)?;
        cx.scope.map_or(Ok(()), |scope| scope.check_permitted(meta, meta.implies))?;
        refuse_unknown_ref(cx, args)?;
        let mut judging = cx.with_judged(self.judges(meta));
        let targets = prepared.targets(&judging);
        let covered = |targets: &Vec<Target>| {
            targets.iter().any(|target| self.confirm.covers_target(target))
                || self.suspicion.is_up(self.clock.now(), targets)
        };
        // What has the focus now may not have it later; an element that is named is named.
        let is_sure = when.is_first || ELEMENT.iter().any(|name| args.contains_key(*name));
        let needs_consent =
            judging.judged && is_sure && own.confirm_token.is_none() && targets.as_ref().is_ok_and(covered);
        let tried = targets.as_ref().ok().filter(|_| when.is_dry && !needs_consent && meta.effect.acts());
        let refused = tried
            .cloned()
            .map(|targets| self.try_step(&mut judging, entry, prepared, targets))
            .and_then(Result::err);
        Ok(Foreseen { meta, targets, needs_consent, refused })
    }

    /// A dry run of the step alone, without a record: it belongs to the dry run of the whole.
    fn try_step(
        &self,
        cx: &mut Cx,
        entry: &TableEntry,
        prepared: Box<dyn Prepared>,
        targets: Vec<Target>,
    ) -> Result<()> {
        self.config.launch.check(&targets)?;
        super::admit_secrets(self, entry, &*prepared, &targets)?;
        let nothing = self.budget.reserve(&[], self.clock.now())?;
        prepared.run(cx, Permit::grant(nothing, targets, true)).map(drop)
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
