//! Jobs at the terminal: run one and watch it, list them, show one, say what is wanted of it; and the worker of a server.

use std::ffi::OsString;
use std::io::{BufReader, IsTerminal};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};

use super::job_questions::{QuestionDesk, read_lines};
use super::job_text::{ProgressView, ShownRecord, job_line};
use super::{pretty_json, say};
use crate::app::App;
use crate::cli::{Cli, Command, JobsCommand, PersonAnswer, RunOptions, WorkerOptions, words_for_workers};
use crate::clock::{Cancel, Clock};
use crate::config::{self, BrowserStart, Config, Flags, JobDesk, Loaded, Mode, OwnDesk, Profile};
use crate::gate::{Call, Origin};
use crate::jobs::hosting;
use crate::jobs::lease::unix_ms;
use crate::jobs::limits::JobLimits;
use crate::jobs::planner::NO_HOST;
use crate::jobs::planner::named::check_planner;
use crate::jobs::resuming::{DeskLife, RunDesk};
use crate::jobs::run::{JobProgress, Runner, WhenStopped};
use crate::jobs::service;
use crate::jobs::spec::JobSpec;
use crate::jobs::status::{FailureCode, JobStatus, Wanted};
use crate::jobs::store::{Claimed, Ending, JobError, JobLease, JobRecord, JobTally, Store};
use crate::jobs::supervisor::{Supervisor, WorkerPlan};
use crate::jobs::view::job_json;
use crate::jobs::web::webhooks::WebhookSender;
use crate::jobs::worker::{JobWorker, StopSwitch};
use crate::random::random_token;
use crate::scenario::{self, Scenario};
use crate::tool::{DesktopShows, Selection, Table};
use crate::tools;

const MOST_EVENTS: usize = 100_000;

/// How often a worker that a person started looks whether it is to stop.
const LOOK_FOR_SIGNAL: Duration = Duration::from_millis(100);

const DEMO: &str = "scripted:demo";
const DEMO_SCENARIO: &str = include_str!("../../scenarios/login.yaml");

/// The demo works a mock desktop of its own, with a scenario of its own; a server of jobs is there for HTTP.
pub fn with_desk(mut cli: Cli) -> Result<Cli, String> {
    let planner = match &cli.command {
        Some(Command::Run(options)) => Some(&options.planner),
        Some(Command::Screenjob(options)) => Some(&options.planner),
        _ => None,
    };
    if planner.is_some_and(|planner| planner == DEMO) {
        if cli.flags.scenario.is_some() {
            return Err(format!(
                "{DEMO} works a login form that comes with the program, so --scenario would be ignored; leave it out, \
                 or write a script and name it: --planner scripted:FILE"
            ));
        }
        cli.flags.mock = true;
    }
    if cli.command == Some(Command::Server) && cli.flags.mode == Mode::Auto {
        cli.flags.mode = Mode::Inspect;
    }
    if cli.command == Some(Command::WebTask) {
        for_pages(&mut cli.flags);
    }
    Ok(cli)
}

/// The server of web tasks shows its clients the tools for pages, and has a browser of its own unless it is told another
/// desk.
fn for_pages(flags: &mut Flags) {
    if flags.profile == Profile::Full {
        flags.profile = Profile::Web;
    }
    if !flags.mock && flags.sandbox.is_none() && flags.browser.is_none() && flags.attach.is_none() {
        flags.browser = Some(Some("about:blank".to_owned()));
    }
}

/// A server of web tasks takes jobs that choose a browser.
pub fn serving_web_tasks(mut loaded: Loaded) -> Loaded {
    loaded.config.jobs.enabled = true;
    let browser = OwnDesk::Browser.name();
    if !loaded.config.jobs.desks.iter().any(|desk| desk == browser) {
        loaded.config.jobs.desks.push(browser.to_owned());
    }
    loaded
}

/// A server of jobs takes jobs. ScreenJob's API asks for a token, so whoever sets one wants it served.
pub fn serving_jobs(mut loaded: Loaded) -> Loaded {
    loaded.config.jobs.enabled = true;
    loaded.config.screenjob.enabled |= loaded.config.screenjob.token.is_some();
    loaded
}

fn set_up_demo(app: &App) -> Result<(), String> {
    let stage = app.observer.stage().ok_or("the demo works on the mock desktop alone")?;
    let scenario = scenario::load_str(DEMO_SCENARIO, "login.yaml").map_err(|problem| problem.to_string())?;
    stage.load(scenario);
    Ok(())
}

/// Refuses what no desk could change, before one is started: a private desktop and a browser take seconds.
pub fn check_job(loaded: &Loaded, selection: &Selection, options: &RunOptions) -> Result<(), String> {
    let every_tool = tools::table_of(selection, DesktopShows::Both);
    read_job(&loaded.config, &every_tool, options).map(drop)
}

fn read_job(config: &Config, tools: &Table, options: &RunOptions) -> Result<JobSpec, String> {
    let spec = read_options(options)?;
    spec.check(&service::nameable_tools(tools)).map_err(|error| error.message)?;
    if hosting::is_hosted(&spec) {
        return Err(NO_HOST.to_owned());
    }
    check_planner(&config.planner, &spec, tools)?;
    Ok(spec)
}

/// `cancel` is fired when the process is asked to stop.
pub fn run_job(
    app: &App,
    options: &RunOptions,
    desk: &WorkerDesk,
    cancel: &Cancel,
) -> Result<ExitCode, String> {
    let spec = read_job(&app.config, &app.tools, options)?;
    desk.require_desk(app, false)?;
    if options.planner == DEMO {
        set_up_demo(app)?;
    }
    let store = open_store(&app.config.jobs)?;
    let now = || unix_ms(&app.clock);
    store.reap(now()).map_err(|error| error.message)?;
    let worker = random_token("worker_");
    let claimed = store.enqueue_taken(&spec, &worker, now()).map_err(|error| error.message)?;
    let watcher = ProgressView { json: options.json, tty: std::io::stderr().is_terminal() };
    let progress = |progress: &JobProgress| watcher.show(progress);
    let runner = Runner {
        gate: &app.gate,
        tools: &app.tools,
        planner: &app.config.planner,
        clock: app.clock.clone(),
        store: store.clone(),
        progress: &progress,
        when_stopped: WhenStopped::Cancelled,
        desk: RunDesk { life: desk.life, seen_by: desk.seen_by.as_deref() },
    };
    let ending = with_questions(&*store, &claimed, options.json, || runner.run(&claimed, cancel));
    let ending = ending.map_err(|error| error.message)?;
    app.observer.release_all();
    let record = store.read(&claimed.lease.job_id).map_err(|error| error.message)?;
    if let Some(folder) = record.and_then(|record| record.run_dir) {
        watcher.show_folder(&folder);
    }
    Ok(if ending.status == JobStatus::Succeeded { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Shows what the job asks while it runs.
fn with_questions<T>(store: &dyn Store, claimed: &Claimed, json: bool, run: impl FnOnce() -> T) -> T {
    let at_terminal = std::io::stdin().is_terminal() && std::io::stderr().is_terminal() && !json;
    let answers = at_terminal.then(|| read_lines(BufReader::new(std::io::stdin())));
    let (desk, over) = (QuestionDesk { json, answers }, Cancel::new());
    let (until, job_id) = (&over, claimed.lease.job_id.as_str());
    std::thread::scope(|scope| {
        scope.spawn(move || desk.serve_job(store, job_id, until));
        let _ends = FiresAtEnd(&over);
        run()
    })
}

/// Also where the job panics.
struct FiresAtEnd<'a>(&'a Cancel);

impl Drop for FiresAtEnd<'_> {
    fn drop(&mut self) {
        self.0.fire();
    }
}

fn read_options(options: &RunOptions) -> Result<JobSpec, String> {
    let defaults = JobLimits::default();
    let limits = JobLimits {
        max_steps: options.max_steps.unwrap_or(defaults.max_steps),
        timeout_ms: options.timeout.map_or(defaults.timeout_ms, |seconds| seconds.saturating_mul(1000)),
        max_actions: options.max_job_actions,
        max_usd: options.max_usd,
        ..defaults
    };
    Ok(JobSpec {
        job: options.job.clone(),
        planner: Some(options.planner.clone()),
        model: options.model.clone(),
        disabled_tools: options.disabled_tools.clone(),
        safety_override: options.skip_safety_check,
        limits,
        output_schema: options.output_schema.as_deref().map(read_schema).transpose()?,
        record: options.record,
        input: read_inputs(&options.inputs)?,
        ..JobSpec::default()
    })
}

/// `NAME=VALUE`; a value that is JSON is that, and everything else is a text.
fn read_inputs(inputs: &[String]) -> Result<Map<String, Value>, String> {
    let read = |input: &String| {
        let (name, value) =
            input.split_once('=').ok_or_else(|| format!("--input {input}: write NAME=VALUE"))?;
        let value = match serde_json::from_str::<Value>(value) {
            Ok(value @ (Value::Number(_) | Value::Bool(_))) => value,
            _ => Value::String(value.to_owned()),
        };
        Ok((name.to_owned(), value))
    };
    inputs.iter().map(read).collect()
}

fn read_schema(path: &Path) -> Result<Value, String> {
    let text = std::fs::read_to_string(path).map_err(|problem| format!("{}: {problem}", path.display()))?;
    serde_json::from_str(&text).map_err(|problem| format!("{} is not JSON: {problem}", path.display()))
}

/// A job by its id, or the beginning of it.
pub fn find_job_by_id(config: &config::Jobs, id: &str) -> Result<JobRecord, String> {
    find_job(&*open_store(config)?, id)
}

fn open_store(config: &config::Jobs) -> Result<Arc<dyn Store>, String> {
    service::open_store(config).map_err(|error| error.message)
}

/// The desk that the one job of this worker asks for, instead of the server's.
pub fn at_own_desk(loaded: Loaded, options: &WorkerOptions) -> Result<Loaded, String> {
    let Some(job_id) = &options.job else {
        return Ok(loaded);
    };
    let job = open_store(&loaded.config.jobs)?.read(job_id).map_err(|error| error.message)?;
    let spec = job.ok_or_else(|| format!("there is no job '{job_id}'"))?.spec;
    Ok(match spec.desk {
        Some(desk) => moved_to_desk(loaded, desk, spec),
        None => loaded,
    })
}

fn moved_to_desk(mut loaded: Loaded, desk: OwnDesk, spec: JobSpec) -> Loaded {
    (loaded.scenario, loaded.sandbox, loaded.browser, loaded.steered_clock) = (None, None, None, false);
    loaded.config.mock = desk == OwnDesk::Mock;
    match desk {
        OwnDesk::Mock => loaded.scenario = spec.scenario.map(PathBuf::from),
        OwnDesk::Sandbox => loaded.sandbox = Some(spec.program.into_iter().collect()),
        OwnDesk::Browser => {
            let url = spec.start_url.unwrap_or_else(|| "about:blank".to_owned());
            let headful = spec.web.as_ref().is_some_and(|web| web.headful);
            if let Some(web) = spec.web {
                use_profile(&mut loaded.config.browser, web.profile);
            }
            loaded.browser =
                Some(BrowserStart { url, by_owner: false, headful, attach: None, with_desktop: false });
        }
        OwnDesk::Desktop => {}
    }
    loaded
}

/// A web task without a profile is a guest, whatever profile the server's own browser has.
fn use_profile(browser: &mut config::BrowserConfig, profile: Option<String>) {
    if profile.is_some() {
        browser.user_data_dir = None;
    }
    browser.profile = profile;
}

/// Thrown by the server of a worker, which is gone when stdin ends, or by a signal where a person started it.
fn stop_switch(options: &WorkerOptions, signal: &Cancel) -> Arc<StopSwitch> {
    let (stop, signal) = (Arc::new(StopSwitch::default()), signal.clone());
    let (obeying, has_server) = (stop.clone(), options.id.is_some());
    std::thread::spawn(move || {
        if has_server {
            return obeying.obey(BufReader::new(std::io::stdin()));
        }
        while Clock::real().sleep(LOOK_FOR_SIGNAL, &signal).is_ok() {}
        obeying.throw();
    });
    stop
}

/// The desk of a worker.
pub struct WorkerDesk {
    /// Read once: every job begins with it.
    scenario: Option<Scenario>,
    life: DeskLife,
    seen_by: Option<String>,
    /// Somebody asked for it: where it is not there, no job begins.
    is_asked: bool,
}

impl WorkerDesk {
    /// What the configuration asks for.
    pub fn plan(loaded: &Loaded) -> Result<Self, String> {
        let scenario = loaded.scenario.as_deref().map(scenario::load_file).transpose();
        let is_persons = loaded.browser.as_ref().is_some_and(|browser| browser.attach.is_some());
        let is_asked = loaded.sandbox.is_some() || loaded.browser.is_some();
        let is_ours = (is_asked && !is_persons) || loaded.config.wants_mock();
        Ok(Self {
            scenario: scenario.map_err(|problem| problem.to_string())?,
            life: if is_ours { DeskLife::ThrownAway } else { DeskLife::Lasting },
            seen_by: None,
            is_asked,
        })
    }

    /// Fails with the reason where the desk that somebody asked for is not there.
    fn require_desk(&self, app: &App, is_asked: bool) -> Result<(), String> {
        let missing = app.observer.facts().unavailable.filter(|_| is_asked || self.is_asked);
        missing.map_or(Ok(()), Err)
    }

    pub fn seen_by(self, seen_by: Option<String>) -> Self {
        Self { seen_by, ..self }
    }
}

/// Runs jobs on the desk of this process until it is told to stop.
pub fn work_at_desk(
    app: &Arc<App>,
    options: &WorkerOptions,
    desk: &WorkerDesk,
    signal: &Cancel,
) -> Result<ExitCode, String> {
    let (store, stop) = (open_store(&app.config.jobs)?, stop_switch(options, signal));
    let run = |claimed: &Claimed, cancel: &Cancel| {
        if let Err(problem) = run_claimed(app, &store, claimed, desk, cancel) {
            tracing::error!("job {}: {problem}", claimed.lease.job_id);
        }
    };
    let id = options.id.clone().unwrap_or_else(|| random_token("worker_"));
    let (once, ends_idle) = (options.once, options.id.is_some());
    let server = options.server.clone();
    let worker = JobWorker { id, server, store: store.clone(), run: &run, once, ends_idle };
    let worked = match &options.job {
        Some(job_id) => worker.work_on(job_id, &stop),
        None => worker.work(&stop),
    };
    app.observer.release_all();
    worked.map(|()| ExitCode::SUCCESS).map_err(|error| error.message)
}

/// What recorded jobs leave belongs to them, not among the traces of people.
pub fn recording_runs(mut loaded: Loaded) -> Result<Loaded, String> {
    loaded.config.tracing.dir = service::runs_folder(&loaded.config.jobs).map_err(|error| error.message)?;
    Ok(loaded)
}

/// The workers of a server, which have its own command line and so its settings.
pub fn start_workers(app: &App, flags: &Flags) -> Result<Option<Supervisor>, String> {
    let Some(jobs) = &app.jobs else {
        return Ok(None);
    };
    let words = words_for_workers(std::env::args_os().skip(1).collect());
    let plan = plan_workers(&app.config.jobs, flags, app.observer.stage().is_some(), words)?;
    Ok(Some(Supervisor::start(jobs.clone(), plan)))
}

/// What tells the ends of web tasks, where the owner allows that. What it tells leaves by the gate, as every reply does.
pub fn start_webhooks(app: &Arc<App>) -> Option<WebhookSender> {
    let (jobs, gate) = (app.jobs.clone()?, app.gate.clone());
    let tell = move |task_id: &str| {
        let args = serde_json::json!({ "taskId": task_id });
        let call = Call { tool: "get_web_task".to_owned(), args, origin: Origin::Rest };
        let reply = gate.pass_call(call, &Cancel::new());
        match reply.error {
            None => Ok(reply.value()),
            Some(kind) => Err(format!("the task cannot be told: {}", kind.code())),
        }
    };
    WebhookSender::start(jobs, Arc::new(tell))
}

/// Two jobs never share an input: on the real desktop there is one worker, elsewhere each has a desk of its own.
fn plan_workers(
    config: &config::Jobs,
    flags: &Flags,
    on_mock: bool,
    mut words: Vec<OsString>,
) -> Result<WorkerPlan, String> {
    let chosen = flags.mock || flags.sandbox.is_some() || flags.browser.is_some();
    let flag = match config.desk {
        JobDesk::Same => None,
        JobDesk::Mock => Some("--mock"),
        JobDesk::Sandbox => Some("--sandbox"),
        JobDesk::Browser => Some("--browser"),
    };
    if let Some(flag) = flag {
        if chosen {
            return Err(format!("jobs.desk asks for {flag}, and the server was started with another desk"));
        }
        words.insert(0, flag.into());
    }
    let private = matches!(config.desk, JobDesk::Sandbox | JobDesk::Browser)
        || flags.sandbox.is_some()
        || flags.browser.is_some();
    let several = private || on_mock || config.desk == JobDesk::Mock;
    let most_own = usize::try_from(config.workers).unwrap_or(1);
    let most = if several { most_own } else { 1 };
    Ok(WorkerPlan { words, most, once: private, on_desktop: !several, most_own })
}

fn run_claimed(
    app: &App,
    store: &Arc<dyn Store>,
    claimed: &Claimed,
    desk: &WorkerDesk,
    cancel: &Cancel,
) -> Result<(), String> {
    if let Err(problem) = set_up_desk(app, claimed, desk) {
        return refuse_job(&**store, &claimed.lease, problem);
    }
    let runner = Runner {
        gate: &app.gate,
        tools: &app.tools,
        planner: &app.config.planner,
        clock: app.clock.clone(),
        store: store.clone(),
        progress: &|_| {},
        when_stopped: WhenStopped::GivenUp,
        desk: RunDesk { life: desk.life, seen_by: desk.seen_by.as_deref() },
    };
    let ended = runner.run(claimed, cancel);
    app.observer.release_all();
    ended.map(drop).map_err(|error| error.message)
}

/// The same where the desk could not even be built. Answers why.
pub fn refuse_without_desk(config: &config::Jobs, options: &WorkerOptions, problem: String) -> String {
    let (Some(job_id), Ok(store)) = (&options.job, open_store(config)) else {
        return problem;
    };
    let worker = options.id.clone().unwrap_or_default();
    let refused = store.claim_job(job_id, &worker, unix_ms(&Clock::real())).map_err(|error| error.message);
    let refused = refused.and_then(|claimed| {
        claimed.map_or(Ok(()), |claimed| refuse_job(&*store, &claimed.lease, problem.clone()))
    });
    refused.err().unwrap_or(problem)
}

/// Without its desk a job does not begin, and is not tried again.
fn refuse_job(store: &dyn Store, lease: &JobLease, problem: String) -> Result<(), String> {
    let (status, code) = (FailureCode::NoDesk.status(), FailureCode::NoDesk);
    let ending = Ending { status, result: None, error: Some(JobError::new(code, problem)) };
    let written = store.finish(lease, &ending, JobTally::default(), unix_ms(&Clock::real()));
    written.map_err(|error| error.message)
}

/// A mock desktop begins anew for each job; a desk of its own must be there.
fn set_up_desk(app: &App, claimed: &Claimed, desk: &WorkerDesk) -> Result<(), String> {
    desk.require_desk(app, claimed.spec.desk.is_some())?;
    match (&claimed.spec.planner, &desk.scenario, app.observer.stage()) {
        (Some(planner), _, Some(_)) if planner == DEMO => set_up_demo(app),
        (_, Some(scenario), Some(stage)) => {
            stage.load(scenario.clone());
            Ok(())
        }
        _ => Ok(()),
    }
}

pub fn manage_jobs(config: &config::Jobs, what: &JobsCommand) -> Result<ExitCode, String> {
    let store = open_store(config)?;
    let clock = Clock::real();
    store.reap(unix_ms(&clock)).map_err(|error| error.message)?;
    match what {
        JobsCommand::List { status, limit, json } => {
            let status = status.as_deref().map(read_status).transpose()?;
            let jobs = store.list(status, *limit).map_err(|error| error.message)?;
            say(&if *json {
                pretty_json(&jobs.iter().map(job_json).collect())
            } else {
                jobs.iter().map(job_line).collect::<Vec<_>>().join("\n")
            })?;
        }
        JobsCommand::Show { id, json } => {
            let job = find_job(&*store, id)?;
            let shown = read_record(&*store, job)?;
            say(&if *json { pretty_json(&shown.as_json()) } else { shown.as_text() })?;
        }
        JobsCommand::Pause { id } => say(&want(&*store, id, Wanted::Pause)?)?,
        JobsCommand::Resume { id } => say(&want(&*store, id, Wanted::Run)?)?,
        JobsCommand::Takeover { id } => say(&want(&*store, id, Wanted::Takeover)?)?,
        JobsCommand::Cancel { id } => say(&want(&*store, id, Wanted::Cancel)?)?,
        JobsCommand::Answer { question, answer } => say(&answer_question(&*store, question, *answer)?)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn read_record(store: &dyn Store, job: JobRecord) -> Result<ShownRecord, String> {
    let events = store.events(&job.id, 0, MOST_EVENTS).map_err(|error| error.message)?;
    let doubt = store.in_doubt(&job.id).map_err(|error| error.message)?;
    let models = store.model_use(&job.id).map_err(|error| error.message)?;
    let questions = store.open_questions(Some(&job.id)).map_err(|error| error.message)?;
    Ok(ShownRecord { job, events, doubt, models, questions })
}

fn want(store: &dyn Store, id: &str, wanted: Wanted) -> Result<String, String> {
    let job = find_job(store, id)?;
    let now = unix_ms(&Clock::real());
    let status = match wanted {
        Wanted::Run => service::resume_job(store, &job, now),
        _ => store.control(&job.id, wanted, now),
    };
    let status = status.map_err(|error| error.message)?;
    if wanted == Wanted::Takeover {
        return takeover_text(store, &job);
    }
    let then = match (wanted, status) {
        (_, JobStatus::Cancelled) => return Ok(format!("{} is cancelled", job.id)),
        (Wanted::Run, status) if status != JobStatus::Queued => return Ok(format!("{} goes on", job.id)),
        (Wanted::Cancel, _) => "it sends no further input and ends within a second",
        (Wanted::Pause, _) => "it sends no further input until it is resumed",
        (Wanted::Takeover, _) => "the desktop is yours",
        (Wanted::Run, _) => "a server goes on with it",
    };
    Ok(format!("{} is {status}; {then}", job.id))
}

/// Says whether the desktop is free by now, and how a person sees it.
fn takeover_text(store: &dyn Store, job: &JobRecord) -> Result<String, String> {
    let see = service::how_to_see(store, &job.id, job.last_event).map_err(|error| error.message)?;
    let see = see.map(|see| format!("\n{see}")).unwrap_or_default();
    let now = store.read(&job.id).map_err(|error| error.message)?;
    let status = now.map_or(job.status, |job| job.status);
    let yours = match status {
        JobStatus::Paused => "the desktop is yours",
        _ => "when it is paused the desktop is yours",
    };
    Ok(format!("{} is {status}; {yours}, until `jobs resume`{see}", job.id))
}

fn answer_question(store: &dyn Store, question: &str, answer: PersonAnswer) -> Result<String, String> {
    let allowed = answer == PersonAnswer::Allow;
    let now = unix_ms(&Clock::real());
    if store.answer(question, allowed, now).map_err(|error| error.message)? {
        return Ok(format!("{question} is {}", if allowed { "allowed" } else { "denied" }));
    }
    Err(format!("no question '{question}' waits for an answer"))
}

fn read_status(name: &str) -> Result<JobStatus, String> {
    let names = JobStatus::ALL.map(JobStatus::name);
    JobStatus::from_name(name)
        .ok_or_else(|| format!("there is no status '{name}'; there are {}", names.join(", ")))
}

fn find_job(store: &dyn Store, id: &str) -> Result<JobRecord, String> {
    if let Some(job) = store.read(id).map_err(|error| error.message)? {
        return Ok(job);
    }
    if id == service::LAST {
        let newest = store.list(None, 1).map_err(|error| error.message)?.pop();
        return newest.ok_or_else(|| "there is no job yet".to_owned());
    }
    let all = store.list(None, MOST_EVENTS).map_err(|error| error.message)?;
    let mut fitting = all.into_iter().filter(|job| job.id.starts_with(id));
    match (fitting.next(), fitting.next()) {
        (Some(job), None) => Ok(job),
        (Some(_), Some(_)) => Err(format!("several jobs begin with '{id}'; write more of the id")),
        _ => Err(format!("there is no job '{id}'; see: os-screen-observer jobs list")),
    }
}
