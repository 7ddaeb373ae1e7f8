//! Jobs at the terminal: run one and watch it, list them, show one, cancel one.

use std::io::{IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::{pretty_json, say};
use crate::app::App;
use crate::cli::{Cli, Command, JobsCommand, RunOptions};
use crate::clock::{Cancel, Clock, millis, timestamp};
use crate::config;
use crate::jobs::lease::unix_ms;
use crate::jobs::limits::JobLimits;
use crate::jobs::money::Cost;
use crate::jobs::run::{JobProgress, Runner};
use crate::jobs::spec::JobSpec;
use crate::jobs::status::{JobStatus, Wanted};
use crate::jobs::store::sqlite::SqliteStore;
use crate::jobs::store::{Ending, JobEvent, JobRecord, JobTally, Store};
use crate::random::random_token;
use crate::scenario;
use crate::text::shorten;
use crate::tool::Group;

const STORE_FILE: &str = "jobs.db";
const MOST_EVENTS: usize = 100_000;
/// As many characters of a goal fit on a line of the list.
const GOAL_WIDTH: usize = 60;

const DEMO: &str = "scripted:demo";
const DEMO_SCENARIO: &str = include_str!("../../scenarios/login.yaml");

/// The demo works a mock desktop of its own.
pub fn with_desk(mut cli: Cli) -> Cli {
    if let Some(Command::Run(options)) = &cli.command
        && options.planner == DEMO
    {
        cli.flags.mock = true;
    }
    cli
}

fn set_up_demo(app: &App) -> Result<(), String> {
    let stage = app.observer.stage().ok_or("the demo works on the mock desktop alone")?;
    let scenario = scenario::load_str(DEMO_SCENARIO, "login.yaml").map_err(|problem| problem.to_string())?;
    stage.load(scenario);
    Ok(())
}

/// `cancel` is fired when the process is asked to stop.
pub fn run_job(app: &App, options: &RunOptions, cancel: &Cancel) -> Result<ExitCode, String> {
    let spec = read_options(options)?;
    let known: Vec<&str> = app.tools.declared_names().chain(Group::ALL.map(Group::name)).collect();
    spec.check(&known).map_err(|error| error.message)?;
    if options.planner == DEMO {
        set_up_demo(app)?;
    }
    let store = open_store(&app.config.jobs)?;
    let now = || unix_ms(&app.clock);
    store.reap(now()).map_err(|error| error.message)?;
    let job_id = store.enqueue(&spec, now()).map_err(|error| error.message)?;
    let worker = random_token("worker_");
    let claimed = store.claim_job(&job_id, &worker, now()).map_err(|error| error.message)?;
    let claimed = claimed.ok_or_else(|| format!("job {job_id} was taken by another worker"))?;
    let watcher = ProgressView { json: options.json, tty: std::io::stderr().is_terminal() };
    let progress = |progress: &JobProgress| watcher.show(progress);
    let runner = Runner {
        gate: &app.gate,
        tools: &app.tools,
        planner: &app.config.planner,
        clock: app.clock.clone(),
        store,
        progress: &progress,
    };
    let ending = runner.run(&claimed, cancel).map_err(|error| error.message)?;
    app.observer.release_all();
    Ok(if ending.status == JobStatus::Succeeded { ExitCode::SUCCESS } else { ExitCode::FAILURE })
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
        limits,
        output_schema: options.output_schema.as_deref().map(read_schema).transpose()?,
        ..JobSpec::default()
    })
}

fn read_schema(path: &Path) -> Result<Value, String> {
    let text = std::fs::read_to_string(path).map_err(|problem| format!("{}: {problem}", path.display()))?;
    serde_json::from_str(&text).map_err(|problem| format!("{} is not JSON: {problem}", path.display()))
}

fn open_store(config: &config::Jobs) -> Result<Arc<dyn Store>, String> {
    let store = SqliteStore::open(&config.dir.join(STORE_FILE)).map_err(|error| error.message)?;
    Ok(Arc::new(store))
}

/// Shows how a job goes: progress on stderr, the result on stdout.
struct ProgressView {
    json: bool,
    tty: bool,
}

impl ProgressView {
    fn show(&self, progress: &JobProgress) {
        if self.json {
            // A reader that has gone away does not stop the job.
            let _ = say(&progress_json(progress).to_string());
            return;
        }
        if let Some(line) = progress_line(progress, self.tty) {
            let _ = writeln!(std::io::stderr().lock(), "{line}");
        }
        if let JobProgress::Ended { ending: Ending { result: Some(result), .. }, .. } = progress {
            let _ = say(&pretty_json(result));
        }
    }
}

fn progress_line(progress: &JobProgress, tty: bool) -> Option<String> {
    match progress {
        JobProgress::Started { job_id, goal } => Some(format!("{job_id}  {goal}")),
        JobProgress::Calling { .. } => None,
        JobProgress::Called { step, tool, target, error, took } => {
            let target = target.map(|target| format!(" '{target}'")).unwrap_or_default();
            let outcome = match error {
                None => mark("ok", "32", tty),
                Some((kind, message)) => format!("{} {message}", mark(kind.code(), "31", tty)),
            };
            Some(format!("{step:>3}  {tool}{target}  {outcome}  {} ms", millis(*took)))
        }
        JobProgress::Said(said) => Some(format!("     {said}")),
        JobProgress::Paused => Some("     paused".to_owned()),
        JobProgress::Resumed => Some("     resumed".to_owned()),
        JobProgress::Ended { ending, tally } => Some(end_line(ending, *tally)),
    }
}

fn mark(text: &str, colour: &str, tty: bool) -> String {
    if tty { format!("\x1b[{colour}m{text}\x1b[0m") } else { text.to_owned() }
}

fn end_line(ending: &Ending, tally: JobTally) -> String {
    let why = ending.error.as_ref().map(|error| format!(": {} ({})", error.message, error.code));
    let tokens = match tally.usage.tokens() {
        0 => String::new(),
        tokens => {
            let cost = tally.cost.map_or_else(|| "price unknown".to_owned(), |cost| cost.to_string());
            format!(", {tokens} tokens, {cost}")
        }
    };
    format!("{} after {} steps{tokens}{}", ending.status, tally.steps, why.unwrap_or_default())
}

fn progress_json(progress: &JobProgress) -> Value {
    match progress {
        JobProgress::Started { job_id, goal } => json!({"event": "started", "job_id": job_id, "job": goal}),
        JobProgress::Calling { step, tool } => json!({"event": "calling", "step": step, "tool": tool}),
        JobProgress::Called { step, tool, target, error, took } => json!({
            "event": "called", "step": step, "tool": tool, "target": target, "ok": error.is_none(),
            "code": error.map(|(kind, _)| kind.code()), "message": error.map(|(_, message)| message),
            "duration_ms": millis(*took),
        }),
        JobProgress::Said(said) => json!({"event": "said", "text": said}),
        JobProgress::Paused => json!({"event": "paused"}),
        JobProgress::Resumed => json!({"event": "resumed"}),
        JobProgress::Ended { ending, tally } => json!({
            "event": "ended", "status": ending.status.name(), "result": ending.result, "error": ending.error,
            "steps": tally.steps, "usage": tally.usage, "cost_usd": tally.cost.map(Cost::usd),
        }),
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
            let events = store.events(&job.id, 0, MOST_EVENTS).map_err(|error| error.message)?;
            let doubt = store.in_doubt(&job.id).map_err(|error| error.message)?;
            say(&if *json {
                pretty_json(&shown_json(&job, &events, &doubt))
            } else {
                shown(&job, &events, &doubt)
            })?;
        }
        JobsCommand::Cancel { id } => {
            let job = find_job(&*store, id)?;
            let status =
                store.control(&job.id, Wanted::Cancel, unix_ms(&clock)).map_err(|error| error.message)?;
            let line = match status {
                JobStatus::Cancelled => format!("{} is cancelled", job.id),
                _ => format!("{} is {status}; it sends no further input and ends within a second", job.id),
            };
            say(&line)?;
        }
    }
    Ok(ExitCode::SUCCESS)
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
    let all = store.list(None, MOST_EVENTS).map_err(|error| error.message)?;
    let mut fitting = all.into_iter().filter(|job| job.id.starts_with(id));
    match (fitting.next(), fitting.next()) {
        (Some(job), None) => Ok(job),
        (Some(_), Some(_)) => Err(format!("several jobs begin with '{id}'; write more of the id")),
        _ => Err(format!("there is no job '{id}'; see: os-screen-observer jobs list")),
    }
}

fn at(milliseconds: i64) -> String {
    let since = Duration::from_millis(u64::try_from(milliseconds).unwrap_or_default());
    timestamp(std::time::UNIX_EPOCH + since)
}

fn job_line(job: &JobRecord) -> String {
    let goal = job.spec.job.replace('\n', " ");
    let goal = shorten(&goal, GOAL_WIDTH);
    format!("{}  {:<15}  {:>4} steps  {}  {goal}", job.id, job.status.name(), job.steps, at(job.created_at))
}

fn job_json(job: &JobRecord) -> Value {
    json!({
        "job_id": job.id, "status": job.status.name(), "job": job.spec.job, "planner": job.spec.planner,
        "result": job.result, "error": job.error, "usage": job.usage, "cost_usd": job.cost.map(Cost::usd), "limits": job.spec.limits, "steps": job.steps,
        "inputs": job.effects, "attempts": job.attempts, "created_at": at(job.created_at),
        "started_at": job.started_at.map(at), "finished_at": job.finished_at.map(at),
    })
}

fn event_json(event: &JobEvent) -> Value {
    let mut row = Map::new();
    row.insert("seq".to_owned(), event.seq.into());
    row.insert("at".to_owned(), at(event.at).into());
    row.insert("kind".to_owned(), event.kind.as_str().into());
    row.extend(event.body.clone());
    Value::Object(row)
}

fn shown_json(job: &JobRecord, events: &[JobEvent], doubt: &[JobEvent]) -> Value {
    let mut shown = job_json(job);
    shown["events"] = events.iter().map(event_json).collect();
    shown["in_doubt"] = doubt.iter().map(event_json).collect();
    shown
}

fn shown(job: &JobRecord, events: &[JobEvent], doubt: &[JobEvent]) -> String {
    let mut lines = vec![job_line(job)];
    let row = |event: &JobEvent| {
        format!("{:>4}  {}  {:<8} {}", event.seq, at(event.at), event.kind, Value::Object(event.body.clone()))
    };
    lines.extend(events.iter().map(row));
    if !doubt.is_empty() {
        lines.push(
            "These inputs may or may not have been sent; look at the desktop before you run the job again:"
                .to_owned(),
        );
        lines.extend(doubt.iter().map(row));
    }
    lines.extend(job.result.as_ref().map(|result| format!("result: {result}")));
    lines.extend(job.error.as_ref().map(|error| format!("{}: {}", error.code, error.message)));
    lines.join("\n")
}
