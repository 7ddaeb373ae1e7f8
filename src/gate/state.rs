//! What the gate knows and keeps: the rules it holds calls to, and the books it writes. Tools reach none of it except by
//! the few questions of [`Caller`](crate::tool::Caller).

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;

use super::allow::Policy;
use super::approvals::Approvals;
use super::audit::AuditLog;
use super::confirm::{Confirm, Ticket};
use super::replay::Replays;
use super::suspicion::{Suspicion, SuspicionPlace};
use crate::budget::Budget;
use crate::clock::{Clock, lock};
use crate::config::Config;
use crate::error::{Error, Kind, Result};
use crate::events::Events;
use crate::guessing::Guesses;
use crate::halt::Halt;
use crate::metrics::Metrics;
use crate::observer::Observer;
use crate::platform::Claimant;
use crate::privacy::injection::Lexicon;
use crate::privacy::redact::Redactor;
use crate::secrets::Secrets;
use crate::session::Session;
use crate::tool::job_board::JobBoard;
use crate::tool::services::{TraceControl, TraceState, VisionModel};
use crate::tool::{Effect, Meta, Table};
use crate::trace::{self, Tracer};

/// Longer names of clients are cut.
const LONGEST_CLIENT: usize = 64;

/// What the gate shares with the surfaces.
pub struct Shared {
    pub config: Arc<Config>,
    /// What of the configuration could not be used.
    pub config_error: Option<String>,
    /// A config file that could not be read may have forbidden anything.
    pub config_lost: bool,
    pub clock: Clock,
    pub tools: Arc<Table>,
    pub session: Arc<Session>,
    pub observer: Arc<Observer>,
    pub redactor: Arc<Redactor>,
    pub vision: Box<dyn VisionModel>,
    /// The jobs of this server, where it has any.
    pub jobs: Option<Arc<dyn JobBoard>>,
}

/// Every call of every surface passes here.
pub struct Gate {
    pub(super) config: Arc<Config>,
    pub(super) config_error: Option<String>,
    config_lost: bool,
    pub(super) clock: Clock,
    pub(super) tools: Arc<Table>,
    pub(super) session: Arc<Session>,
    pub(super) observer: Arc<Observer>,
    pub(super) redactor: Arc<Redactor>,
    policy: Policy,
    pub(super) budget: Budget,
    pub(super) confirm: Confirm,
    pub(super) suspicion: Suspicion,
    pub(super) secrets: Secrets,
    pub(super) audit: Option<AuditLog>,
    pub(super) tracer: Tracer,
    pub(super) replays: Replays,
    pub(super) vision: Box<dyn VisionModel>,
    pub(super) jobs: Option<Arc<dyn JobBoard>>,
    /// The stop switch, which surfaces turn.
    pub halt: Halt,
    /// Questions that a surface answers.
    pub approvals: Arc<Approvals>,
    pub events: Events,
    pub metrics: Metrics,
    /// Wrong secrets of locked tools.
    guesses: Guesses,
    /// Arguments that are not shown to a person either, whatever a config says.
    pub(super) always_hidden: Vec<String>,
    /// Held by the one call that is acting.
    pub(super) input_lease: Mutex<()>,
    /// The client that greeted us last, by its own name.
    client: Mutex<Option<String>>,
}

impl Gate {
    /// Fails with a sentence when a protecting setting cannot be obeyed.
    pub fn new(shared: Shared, secrets: Secrets) -> Result<Self, String> {
        let Shared {
            config,
            config_error,
            config_lost,
            clock,
            tools,
            session,
            observer,
            redactor,
            vision,
            jobs,
        } = shared;
        Ok(Self {
            policy: Policy(config.actions.clone()),
            budget: Budget::new(config.budgets, clock.now()),
            confirm: Confirm::new(&config)?,
            suspicion: Suspicion::new(&config, Lexicon::new(tools.declared_names())),
            secrets,
            audit: open_audit(&config)?,
            tracer: Tracer::new(config.tracing.clone(), clock.clone()),
            replays: Replays::default(),
            halt: Halt::default(),
            approvals: Arc::default(),
            events: Events::default(),
            metrics: Metrics::default(),
            guesses: Guesses::new("the secret of a locked tool"),
            always_hidden: crate::config::Tracing::default().redact_keys,
            input_lease: Mutex::new(()),
            client: Mutex::default(),
            config,
            config_error,
            config_lost,
            clock,
            tools,
            session,
            observer,
            redactor,
            vision,
            jobs,
        })
    }

    /// The one trace that may be running.
    pub fn traces(&self) -> &dyn TraceControl {
        &self.tracer
    }

    /// Some tools only answer questions about this server; they are never refused.
    pub fn permits(&self, meta: &Meta) -> Result<()> {
        if self.config_lost && meta.effect.acts() {
            let why = self.config_error.as_deref().unwrap_or_default();
            return Err(Error::new(Kind::PermissionDenied, format!("the config file cannot be used: {why}")));
        }
        self.check_switch(meta)?;
        if meta.always { Ok(()) } else { self.permits_with(meta, meta.implies) }
    }

    /// Whether this call may contain these tools too, which not every call of the tool does.
    pub(super) fn permits_with(&self, meta: &Meta, parts: &[&str]) -> Result<()> {
        self.policy.check(meta.name, meta.group.name(), parts)
    }

    /// The names in the config's lists that no tool and no group has.
    pub fn unknown_names(&self, known: &[&str]) -> Vec<String> {
        self.policy.unknown_names(known)
    }

    fn check_switch(&self, meta: &Meta) -> Result<()> {
        if let Some(switch) = meta.switch.map(|switch| switch(&self.config)).filter(|switch| !switch.enabled)
        {
            let message = format!("{} is disabled unless the owner sets {}", meta.name, switch.key);
            return Err(Error::new(Kind::PermissionDenied, message));
        }
        let Some(lock) = meta.lock.map(|lock| lock(&self.config)) else {
            return Ok(());
        };
        let missing = match (lock.enabled, lock.key) {
            (true, Some(_)) => return Ok(()),
            (false, _) => format!("{} is disabled unless the owner sets {}", meta.name, lock.switch),
            (true, None) => format!(
                "{} is on, but {} is not set, so {} cannot be called",
                lock.switch, lock.key_name, meta.name
            ),
        };
        Err(Error::new(Kind::PermissionDenied, missing))
    }

    /// Whether the caller has what opens the tool's lock.
    pub(super) fn unlocks(&self, meta: &Meta, credential: Option<&Value>) -> Result<()> {
        let Some(lock) = meta.lock.map(|lock| lock(&self.config)) else {
            return Ok(());
        };
        let shown = credential.and_then(Value::as_str);
        let now = self.clock.now();
        if let Some(left) = self.guesses.locked_for(now).filter(|_| shown.is_some()) {
            return Err(Error::new(
                Kind::PermissionDenied,
                format!(
                    "too many wrong secrets of {}; nothing is compared for {:.1} s",
                    lock.key_name,
                    left.as_secs_f64()
                ),
            ));
        }
        match (lock.key, shown) {
            (Some(key), Some(shown)) if key.is(shown) => Ok(()),
            (_, None) => Err(Error::new(
                Kind::PermissionDenied,
                format!("{} needs the secret of {}", meta.name, lock.key_name),
            )),
            _ => {
                self.guesses.note_wrong(now);
                Err(Error::new(
                    Kind::PermissionDenied,
                    format!("this is not the secret of {}", lock.key_name),
                ))
            }
        }
    }

    /// Whether somebody wants to know what a call would touch.
    pub(super) fn judges(&self, meta: &Meta) -> bool {
        let somebody =
            self.confirm.is_active() || self.secrets.is_restricted() || self.suspicion.forces_consent();
        meta.effect.acts() && !meta.steps && somebody
    }

    /// Whether the config lets a call depend on a consent.
    pub fn may_need_consent(&self) -> bool {
        self.confirm.is_active() || self.suspicion.forces_consent()
    }

    /// Where texts that speak to an agent stand in a value that was put together from replies.
    pub fn suspicious_places(&self, value: &Value) -> Vec<SuspicionPlace> {
        self.suspicion.places_in(value)
    }

    /// How long a question stays open.
    pub fn consent_ttl(&self) -> Duration {
        self.confirm.token_ttl()
    }

    /// The person will not be asked.
    pub fn withdraw(&self, ticket: &Ticket) {
        self.confirm.withdraw_question(ticket);
        self.withdraw_app_question(ticket);
    }

    /// Actions and screenshots that the budget has counted.
    pub fn used_budget(&self) -> (u64, u64) {
        self.budget.used()
    }

    pub fn trace_status(&self) -> TraceState {
        self.tracer.status()
    }

    /// A name from outside, of which only so much is kept as is told.
    pub fn greeted_by(&self, client: &str) {
        let name: String = client.chars().filter(|one| !one.is_control()).take(LONGEST_CLIENT).collect();
        *lock(&self.client) = Some(name).filter(|name| !name.is_empty());
    }

    /// Who acts on the desktop when this server does.
    pub(super) fn claimant(&self) -> Claimant {
        let keeps_for = Duration::from_secs(self.config.input.lease_s);
        Claimant { client: lock(&self.client).clone(), keeps_for }
    }

    /// Acting while the books cannot be kept would leave no trace of it.
    pub(super) fn ready_to_record(&self, effect: Effect) -> Result<()> {
        match &self.audit {
            Some(audit) if effect.acts() => audit.ensure_writable().map_err(|problem| {
                Error::internal(format!("the audit log cannot be written, so nothing was done: {problem}"))
            }),
            _ => Ok(()),
        }
    }

    /// What a trace's row is made from beside the call itself.
    pub(super) fn trace_sources(&self) -> trace::Sources<'_> {
        trace::Sources {
            observer: &self.observer,
            session: &self.session,
            redactor: &self.redactor,
            secrets: &self.secrets,
            budget: &self.budget,
        }
    }
}

fn open_audit(config: &Config) -> Result<Option<AuditLog>, String> {
    let logging = &config.logging;
    if !logging.audit {
        return Ok(None);
    }
    AuditLog::open(&logging.audit_path, logging.audit_max_bytes, logging.audit_backups)
        .map(Some)
        .map_err(|problem| problem.to_string())
}
