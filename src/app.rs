//! Everything that one process holds: built once from the configuration, shared by every surface.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::clock::Clock;
use crate::config::{Config, Loaded, Redaction, limits};
use crate::gate::{Gate, Shared};
use crate::model::Rect;
use crate::observer::{AppGrants, Observer};
use crate::platform::Platform;
use crate::privacy::redact::Redactor;
use crate::secrets::Secrets;
use crate::session::Session;
use crate::tool::{Selection, Table};
use crate::tools;
use crate::trace::writer::refuse_link;
use crate::vlm::Vision;

pub struct App {
    pub config: Arc<Config>,
    pub config_path: PathBuf,
    /// What of the configuration could not be used.
    pub config_error: Option<String>,
    pub clock: Clock,
    pub tools: Arc<Table>,
    pub session: Arc<Session>,
    pub observer: Arc<Observer>,
    pub redactor: Arc<Redactor>,
    pub gate: Gate,
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
        let config = Arc::new(loaded.config);
        let redactor = Arc::new(Redactor::new(redaction_rules(&config))?);
        // No call is needed to find out that it must not be written there.
        refuse_link(&config.tracing.dir).map_err(|problem| problem.to_string())?;
        let secrets = Secrets::load(&config.secrets, loaded.environment_secrets)?;
        secrets.values().for_each(|value| redactor.keep(value));
        keep_exec_secret(&config, &redactor)?;
        let grants = Arc::new(AppGrants::new(&config.apps)?);
        let observer = Arc::new(new_observer(&config, platform, &clock, &redactor).withholding(grants));
        let (tools, session) = (Arc::new(tools::table(selection)), Arc::new(Session::default()));
        let shared = Shared {
            config: config.clone(),
            config_error: config_error.clone(),
            config_lost,
            clock: clock.clone(),
            tools: tools.clone(),
            session: session.clone(),
            observer: observer.clone(),
            redactor: redactor.clone(),
            vision: Box::new(Vision::default()),
        };
        let gate = Gate::new(shared, secrets)?;
        Ok(Self { config, config_path, config_error, clock, tools, session, observer, redactor, gate })
    }
}

fn new_observer(
    config: &Config,
    platform: Arc<dyn Platform>,
    clock: &Clock,
    redactor: &Arc<Redactor>,
) -> Observer {
    let cache_ttl = Duration::try_from_secs_f64(config.tree.cache_ttl_s).unwrap_or_default();
    let observer = Observer::new(platform, clock.clone(), redactor.clone(), cache_ttl);
    observer.with_ocr(config.ocr.clone()).confined_to(region(config))
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
