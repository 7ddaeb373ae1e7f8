//! Everything that one process holds: built once from the configuration, shared by every surface.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::clock::Clock;
use crate::config::{Config, ConfirmationMode, Loaded, OnSuspicion, Redaction, limits};
use crate::gate::{Gate, Shared};
#[cfg(feature = "jobs")]
use crate::jobs::planner::OpenedPlanner;
#[cfg(feature = "jobs")]
use crate::jobs::resuming::RunDesk;
#[cfg(feature = "jobs")]
use crate::jobs::run::{Runner, WhenStopped};
#[cfg(feature = "jobs")]
use crate::jobs::service::JobService;
#[cfg(feature = "jobs")]
use crate::jobs::store::Usage;
use crate::model::Rect;
use crate::observer::{AppGrants, Observer};
use crate::platform::Platform;
use crate::privacy::redact::Redactor;
use crate::secrets::Secrets;
use crate::session::Session;
#[cfg(feature = "jobs")]
use crate::tool::job_board::JobBoard;
use crate::tool::{DesktopShows, Selection, Table};
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
    pub gate: Arc<Gate>,
    /// The jobs that this server takes, where it takes any.
    #[cfg(feature = "jobs")]
    pub jobs: Option<Arc<JobService>>,
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
        secrets.values().for_each(|value| redactor.keep_named(value));
        keep_exec_secret(&config, &redactor)?;
        let grants = Arc::new(AppGrants::new(&config.apps)?);
        let observer = Arc::new(new_observer(&config, platform, &clock, &redactor).withholding(grants));
        let (tools, session) = (
            Arc::new(tools::table_of(&listing(selection, &config), desktop_shows(&observer))),
            Arc::new(Session::default()),
        );
        #[cfg(feature = "jobs")]
        let jobs = open_jobs(&config, &tools)?;
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
            #[cfg(feature = "jobs")]
            jobs: jobs.clone().map(|jobs| jobs as Arc<dyn JobBoard>),
            #[cfg(not(feature = "jobs"))]
            jobs: None,
        };
        let gate = Arc::new(Gate::new(shared, secrets)?);
        #[cfg(feature = "jobs")]
        if let Some(jobs) = &jobs {
            host_jobs(jobs, &gate, &config, &tools, &clock);
        }
        Ok(Self {
            config,
            config_path,
            config_error,
            clock,
            tools,
            session,
            observer,
            redactor,
            gate,
            #[cfg(feature = "jobs")]
            jobs,
        })
    }
}

/// Who may be refused for want of a token is shown the tool that gives one.
fn listing(selection: &Selection, config: &Config) -> Selection {
    let asks =
        config.confirmation.on_suspicion == OnSuspicion::Consent || !config.confirmation_rules().is_empty();
    let needs_token = asks && config.confirmation.mode == ConfirmationMode::Token;
    match needs_token && selection.is_for_pages() {
        true => selection.clone().with_tool("propose_action"),
        false => selection.clone(),
    }
}

fn desktop_shows(observer: &Observer) -> DesktopShows {
    match (observer.is_browser(), observer.is_only_browser()) {
        (false, _) => DesktopShows::Programs,
        (true, false) => DesktopShows::Both,
        (true, true) => DesktopShows::Pages,
    }
}

/// From here on clients may plan jobs themselves, on the desk of this process.
#[cfg(feature = "jobs")]
fn host_jobs(
    jobs: &Arc<JobService>,
    gate: &Arc<Gate>,
    config: &Arc<Config>,
    tools: &Arc<Table>,
    clock: &Clock,
) {
    // The gate holds the jobs, and not the other way round.
    let gate = Arc::downgrade(gate);
    let (store, config, tools, clock) = (jobs.store.clone(), config.clone(), tools.clone(), clock.clone());
    jobs.hosted.enable_hosting(Arc::new(move |claimed, planner, cancel| {
        let Some(gate) = gate.upgrade() else { return };
        let planner = OpenedPlanner {
            planner: Box::new(planner),
            reads_lines: tools.is_for_an_agent(),
            spent: Usage::default(),
        };
        let runner = Runner {
            gate: &gate,
            tools: &tools,
            planner: &config.planner,
            clock: clock.clone(),
            store: store.clone(),
            progress: &|_| {},
            when_stopped: WhenStopped::GivenUp,
            // What a client planned is not gone on with.
            desk: RunDesk::LASTING,
        };
        if let Err(problem) = runner.run_planned(claimed, Some(planner), cancel) {
            tracing::error!("job {}: {}", claimed.lease.job_id, problem.message);
        }
    }));
}

/// A store that cannot be opened stops the start: a server that lost its jobs would take them twice.
#[cfg(feature = "jobs")]
fn open_jobs(config: &Config, tools: &Arc<Table>) -> Result<Option<Arc<JobService>>, String> {
    if !config.jobs.enabled {
        return Ok(None);
    }
    let jobs = JobService::open(config, tools.clone()).map_err(|problem| problem.message)?;
    Ok(Some(Arc::new(jobs)))
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
