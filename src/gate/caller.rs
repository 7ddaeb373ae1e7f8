//! The gate as the tools that it runs see it.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::confirm::{CallFacts, Person, Ticket};
use super::{Call, Gate, Reply, ReplyReader};
use crate::budget::{BudgetStatus, Meter, Reservation};
use crate::clock::Cancel;
use crate::error::Result;
use crate::tool::scope::Scope;
use crate::tool::{Caller, Cx, Foreseen, Foresight, Meta, Proposal, Services, Target};

impl Gate {
    /// What every tool is lent.
    pub(super) fn services(&self) -> Services<'_> {
        Services {
            observer: &self.observer,
            session: &self.session,
            config: &self.config,
            config_error: self.config_error.as_deref(),
            clock: &self.clock,
            tools: &self.tools,
            tracer: &self.tracer,
            replays: &self.replays,
            vision: &*self.vision,
            jobs: self.jobs.as_deref(),
            metrics: &self.metrics,
            caller: self,
        }
    }
}

impl Caller for Gate {
    fn pass_step(&self, call: Call, person: &Person, scope: Option<&Arc<Scope>>, cancel: &Cancel) -> Reply {
        self.pass_along(call, person, scope, cancel, ReplyReader::AnotherCall)
    }

    fn pass_replayed(&self, call: Call, scope: Option<&Arc<Scope>>, cancel: &Cancel) -> Reply {
        match scope {
            Some(scope) => self.pass_scoped(call, &Person::Unreachable, scope, cancel),
            None => self.pass_call(call, cancel),
        }
    }

    fn foresee(&self, cx: &Cx, tool: &str, args: &Map<String, Value>, when: Foresight) -> Result<Foreseen> {
        self.foresee_step(cx, tool, args, when)
    }

    fn check_permitted(&self, meta: &Meta) -> Result<()> {
        self.permits(meta)
    }

    fn check_permitted_with(&self, meta: &Meta, parts: &[&str]) -> Result<()> {
        self.permits_with(meta, parts)
    }

    fn charge(&self, meters: &[Meter]) -> Result<Reservation> {
        self.budget.reserve(meters, self.clock.now())
    }

    fn budget_status(&self) -> BudgetStatus {
        self.budget.budget_status(self.clock.now())
    }

    fn covers(&self, target: &Target) -> bool {
        self.confirm.covers_target(target)
    }

    fn suspects(&self, targets: &[Target]) -> bool {
        self.suspicion.is_up(self.clock.now(), targets)
    }

    fn asks_the_person(&self) -> bool {
        self.confirm.asks_the_person()
    }

    fn propose(&self, meta: &Meta, args: &Map<String, Value>, targets: &[Target]) -> Result<Proposal> {
        let facts = CallFacts::of(meta.name, args, targets);
        let confirm_token = self.confirm.propose_token(facts, self.clock.now())?;
        Ok(Proposal { confirm_token, ttl: self.confirm.token_ttl() })
    }

    fn withdraw_question(&self, ticket: &Ticket) {
        self.withdraw(ticket);
    }

    fn reveal_secret(&self, name: &str) -> Result<&str> {
        self.secrets.reveal_secret(name)
    }

    fn knows_secret(&self, name: &str) -> bool {
        self.secrets.knows(name)
    }
}
