//! Everything that one process holds: built once from the configuration, shared by every surface.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;

use crate::budget::Budget;
use crate::clock::{Clock, lock};
use crate::config::{Config, Launching, Loaded, Redaction, limits};
use crate::error::{Error, Kind, Result};
use crate::events::Events;
use crate::gate::allow::Policy;
use crate::gate::approvals::Approvals;
use crate::gate::audit::Audit;
use crate::gate::confirm::Confirm;
use crate::gate::replay::Replays;
use crate::gate::suspicion::Suspicion;
use crate::halt::Halt;
use crate::metrics::Metrics;
use crate::model::Rect;
use crate::observer::Observer;
use crate::platform::{Claimant, Platform};
use crate::privacy::redact::Redactor;
use crate::secrets::Secrets;
use crate::session::Session;
use crate::tool::{Effect, Meta, Selection, Table};
use crate::tools;
use crate::trace::Tracer;
use crate::trace::writer::refuse_link;
use crate::vlm::Vision;

/// Longer names of clients are cut.
const LONGEST_CLIENT: usize = 64;

pub struct App {
    pub config: Config,
    pub config_path: PathBuf,
    /// What of the configuration could not be used.
    pub config_error: Option<String>,
    /// A config file that could not be read may have forbidden anything.
    config_lost: bool,
    pub clock: Clock,
    pub tools: Table,
    pub session: Session,
    pub observer: Observer,
    pub redactor: Arc<Redactor>,
    pub policy: Policy,
    pub launching: Launching,
    pub budget: Budget,
    pub confirm: Confirm,
    pub suspicion: Suspicion,
    pub secrets: Secrets,
    pub audit: Option<Audit>,
    pub tracer: Tracer,
    pub replays: Replays,
    pub vision: Vision,
    pub halt: Halt,
    pub approvals: Approvals,
    pub events: Events,
    pub metrics: Metrics,
    /// Held by the one call that is acting.
    pub input_lease: Mutex<()>,
    /// The client that greeted us last, by its own name.
    client: Mutex<Option<String>>,
}

impl App {
    /// Fails with a sentence when a protecting setting cannot be obeyed: better no server than an open one.
    pub fn new(
        loaded: Loaded,
        selection: &Selection,
        platform: Arc<dyn Platform>,
        clock: Clock,
    ) -> Result<Self, String> {
        let config_error = loaded.error();
        let config_lost = loaded.file_lost;
        let config_path = loaded.path;
        let config = loaded.config;
        let redactor = Arc::new(Redactor::new(redaction_rules(&config))?);
        // No call is needed to find out that it must not be written there.
        refuse_link(&config.tracing.dir).map_err(|problem| problem.to_string())?;
        let secrets = Secrets::load(&config.secrets, loaded.environment_secrets)?;
        secrets.values().for_each(|value| redactor.keep(value));
        keep_exec_secret(&config, &redactor)?;
        let cache_ttl = Duration::try_from_secs_f64(config.tree.cache_ttl_s).unwrap_or_default();
        let observer =
            Observer::new(platform, clock.clone(), redactor.clone(), cache_ttl).with_ocr(config.ocr.clone());
        let observer = observer.confined_to(region(&config));
        Ok(Self {
            tools: tools::table(selection),
            session: Session::default(),
            observer,
            policy: Policy(config.actions.clone()),
            launching: config.launch.clone(),
            budget: Budget::new(config.budgets, clock.now()),
            confirm: Confirm::new(&config)?,
            suspicion: Suspicion::new(&config),
            secrets,
            audit: open_audit(&config)?,
            tracer: Tracer::new(config.tracing.clone(), clock.clone()),
            replays: Replays::default(),
            vision: Vision::default(),
            halt: Halt::default(),
            approvals: Approvals::default(),
            events: Events::default(),
            metrics: Metrics::default(),
            input_lease: Mutex::new(()),
            client: Mutex::default(),
            redactor,
            clock,
            config_path,
            config_error,
            config_lost,
            config,
        })
    }

    /// Some tools only answer questions about this server; they are never refused.
    pub fn permits(&self, meta: &Meta) -> Result<()> {
        if self.config_lost && meta.effect.acts() {
            let why = self.config_error.as_deref().unwrap_or_default();
            return Err(Error::new(Kind::PermissionDenied, format!("the config file cannot be used: {why}")));
        }
        self.check_switch(meta)?;
        if meta.always { Ok(()) } else { self.policy.check(meta.name, meta.group.name(), meta.implies) }
    }

    /// Whether this call may contain these tools too, which not every call of the tool does.
    pub fn permits_with(&self, meta: &Meta, parts: &[&str]) -> Result<()> {
        self.policy.check(meta.name, meta.group.name(), parts)
    }

    fn check_switch(&self, meta: &Meta) -> Result<()> {
        let Some(lock) = meta.lock.map(|lock| lock(&self.config)) else {
            return Ok(());
        };
        let missing = match (lock.enabled, lock.key) {
            (true, Some(_)) => return Ok(()),
            (false, _) => format!("{} is off unless the owner sets {}", meta.name, lock.switch),
            (true, None) => format!(
                "{} is on, but {} has no secret, so nobody may call {}",
                lock.switch, lock.key_name, meta.name
            ),
        };
        Err(Error::new(Kind::PermissionDenied, missing))
    }

    /// Whether the caller has what opens the tool's lock.
    pub fn unlocks(&self, meta: &Meta, credential: Option<&Value>) -> Result<()> {
        let Some(lock) = meta.lock.map(|lock| lock(&self.config)) else {
            return Ok(());
        };
        let shown = credential.and_then(Value::as_str);
        match (lock.key, shown) {
            (Some(key), Some(shown)) if key.is(shown) => Ok(()),
            (_, None) => Err(Error::new(
                Kind::PermissionDenied,
                format!("{} needs the secret of {}", meta.name, lock.key_name),
            )),
            _ => Err(Error::new(
                Kind::PermissionDenied,
                format!("this is not the secret of {}", lock.key_name),
            )),
        }
    }

    /// Whether somebody wants to know what a call would touch.
    pub fn judges(&self, meta: &Meta) -> bool {
        let somebody =
            self.confirm.is_active() || self.secrets.is_restricted() || self.suspicion.forces_consent();
        meta.effect.acts() && !meta.steps && somebody
    }

    /// A name from outside, of which only so much is kept as is told.
    pub fn greeted_by(&self, client: &str) {
        let name: String = client.chars().filter(|one| !one.is_control()).take(LONGEST_CLIENT).collect();
        *lock(&self.client) = Some(name).filter(|name| !name.is_empty());
    }

    /// Who acts on the desktop when this server does.
    pub fn claimant(&self) -> Claimant {
        let keeps_for = Duration::from_secs(self.config.input.lease_s);
        Claimant { client: lock(&self.client).clone(), keeps_for }
    }

    /// Acting while the books cannot be kept would leave no trace of it.
    pub fn ready_to_record(&self, effect: Effect) -> Result<()> {
        match &self.audit {
            Some(audit) if effect.acts() => audit.ready().map_err(|problem| {
                Error::internal(format!("the audit log cannot be written, so nothing is done: {problem}"))
            }),
            _ => Ok(()),
        }
    }
}

/// Rules that nobody configured are no rules: then only secret fields are redacted.
fn redaction_rules(config: &Config) -> Option<Redaction> {
    (config.redaction != Redaction::default()).then(|| config.redaction.clone())
}

fn region(config: &Config) -> Option<Rect> {
    config.input.allowed_region.map(|[x, y, width, height]| Rect::new(x, y, width, height))
}

/// What opens a shell must not be guessed, and must be shown nowhere.
fn keep_exec_secret(config: &Config, redactor: &Redactor) -> Result<(), String> {
    let Some(secret) = &config.exec.secret else {
        return Ok(());
    };
    if secret.reveal().trim().chars().count() < limits::EXEC_SECRET_CHARACTERS {
        return Err(format!("exec.secret has fewer than {} characters", limits::EXEC_SECRET_CHARACTERS));
    }
    redactor.keep(secret.reveal());
    Ok(())
}

fn open_audit(config: &Config) -> Result<Option<Audit>, String> {
    let logging = &config.logging;
    if !logging.audit {
        return Ok(None);
    }
    Audit::open(&logging.audit_path, logging.audit_max_bytes, logging.audit_backups)
        .map(Some)
        .map_err(|problem| problem.to_string())
}
