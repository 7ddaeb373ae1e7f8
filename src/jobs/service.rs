//! The jobs of a server: what its surfaces ask for. Nothing here runs a job; that is done by workers.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};

use super::artifacts;
use super::desk::DeskRules;
use super::hosting::{self, HostedJobs};
use super::lease::unix_ms;
use super::planner::host::HostAnswer;
use super::planner::named::check_planner;
use super::planner::{PlannedStep, scripted};
use super::spec::JobSpec;
use super::status::{JobStatus, Wanted};
use super::store::sqlite::{SqliteStore, no_such_job};
use super::store::web::WebStore;
use super::store::{JobArtifact, JobRecord, LEASE_GRACE_MS, ServerRow, Store};
use super::view;
use crate::clock::{Bell, Cancel, Clock, Deadline};
use crate::config;
use crate::error::{Error, Kind, Result};
use crate::files;
use crate::gate::Reply;
use crate::random::random_token;
use crate::tool::job_board::{JobAction, JobBoard, PlannedEnding};
use crate::tool::{Group, Table};

pub const STORE_FILE: &str = "jobs.db";
/// How often a job that is waited for is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// How long a worker may take to hear that its desktop is taken over, before the answer goes without its word.
const HEARD_WITHIN: Duration = Duration::from_secs(1);
/// As many events are answered at once.
pub const MOST_EVENTS: usize = 1_000;
pub const MOST_LISTED: usize = 1_000;
/// What a caller says for the newest job.
pub const LAST: &str = "last";

pub struct JobService {
    pub store: Arc<dyn Store>,
    /// Rung when there is something for the workers.
    pub waiting: Bell,
    /// Whose jobs these are; several servers may have one store.
    pub server: ServerRow,
    /// What clients plan themselves.
    pub hosted: HostedJobs,
    /// What web tasks keep.
    pub web_store: Arc<dyn WebStore>,
    pub(super) config: config::Jobs,
    pub(super) browser: config::BrowserConfig,
    desks: DeskRules,
    pub(super) planner: config::Planner,
    pub(super) tools: Arc<Table>,
    clock: Clock,
}

pub fn open_store(config: &config::Jobs) -> Result<Arc<dyn Store>> {
    Ok(open_sqlite(config)?)
}

fn open_sqlite(config: &config::Jobs) -> Result<Arc<SqliteStore>> {
    Ok(Arc::new(SqliteStore::open(&jobs_folder(config)?.join(STORE_FILE))?))
}

/// The tools and groups that a job may disable.
pub fn nameable_tools(tools: &Table) -> Vec<&'static str> {
    tools.declared_names().chain(Group::ALL.map(Group::name)).collect()
}

/// Where jobs are kept.
pub fn jobs_folder(config: &config::Jobs) -> Result<&Path> {
    config.dir.as_deref().ok_or_else(|| {
        let message = "there is no folder for jobs: neither jobs.dir nor a home folder is set";
        Error::new(Kind::StorageFailed, message)
    })
}

impl JobService {
    pub fn open(config: &config::Config, tools: Arc<Table>) -> Result<Self> {
        let (store, desks) = (open_sqlite(&config.jobs)?, DeskRules::read(config)?);
        let (web_store, browser) = (store.clone(), config.browser.clone());
        // Jobs outlive the session, so their time is the real one.
        let (waiting, clock) = (Bell::default(), Clock::real());
        let server = ServerRow {
            id: random_token("server_"),
            process: std::process::id(),
            started_at: unix_ms(&clock),
            seen_until: 0,
        };
        let (hosted, config, planner) = (HostedJobs::default(), config.jobs.clone(), config.planner.clone());
        Ok(Self { store, waiting, server, hosted, web_store, config, browser, desks, planner, tools, clock })
    }

    /// Says that this server is there. Answers the others that work with the same store.
    pub fn note_server(&self) -> Result<Vec<ServerRow>> {
        self.store.note_server(&self.server, self.now())
    }

    /// Nothing more is done here: what waits is left to other servers, what a client plans to a person.
    pub fn close_service(&self) {
        self.hosted.give_up_hosted();
        if let Err(problem) = self.store.forget_server(&self.server.id) {
            tracing::warn!("jobs: {}", problem.message);
        }
    }

    pub(super) fn now(&self) -> i64 {
        unix_ms(&self.clock)
    }

    /// `last` is the newest.
    pub fn read_job(&self, job_id: &str) -> Result<JobRecord> {
        let found = match job_id {
            LAST => self.store.list(None, 1)?.pop(),
            _ => self.store.read(job_id)?,
        };
        found.ok_or_else(|| no_such_job(job_id))
    }

    /// The job that a client means to plan: for it `last` is the one that is planned here, whoever made newer ones.
    fn planned_job(&self, job_id: &str) -> Result<String> {
        match self.hosted.current_id().filter(|_| job_id == LAST) {
            Some(current) => Ok(current),
            None => self.read_job(job_id).map(|job| job.id),
        }
    }

    /// A job that was resumed goes on as soon as its runner has heard of it: until then a call of its client waits.
    fn take_planned_step(&self, job_id: &str, step: &PlannedStep, cancel: &Cancel) -> Option<HostAnswer> {
        let is_resumed = || self.read_job(job_id).is_ok_and(|job| job.wanted == Wanted::Run);
        loop {
            match self.hosted.take_step(job_id, step.clone(), cancel) {
                Some(HostAnswer::Paused { was_begun: false, .. })
                    if is_resumed() && self.clock.sleep(LOOK_EVERY, cancel).is_ok() => {}
                answer => return answer,
            }
        }
    }

    /// Checks a job and puts it into the queue.
    pub(super) fn submit_spec(&self, mut spec: JobSpec) -> Result<String> {
        spec.check(&nameable_tools(&self.tools))?;
        self.resolve_planner(&mut spec)?;
        self.desks.grant_desk(&mut spec)?;
        check_planner(&self.planner, &spec, &self.tools)
            .map_err(|problem| Error::bad_request(problem).with("field", "planner"))?;
        if hosting::is_hosted(&spec) {
            let worker = random_token("host_");
            return self.hosted.begin_hosted(|| self.store.enqueue_taken(&spec, &worker, self.now()));
        }
        let job_id = self.store.enqueue(&spec, Some(&self.server.id), self.now())?;
        self.waiting.ring();
        Ok(job_id)
    }

    /// Where a client names a script, it is one of those that the owner put into a folder.
    fn resolve_planner(&self, spec: &mut JobSpec) -> Result<()> {
        let name = spec.planner.get_or_insert_with(|| "chat".to_owned());
        let Some(script) =
            name.strip_prefix(scripted::PREFIX).filter(|script| *script != scripted::DEMO_NAME)
        else {
            return Ok(());
        };
        let refused = |problem: String| Error::bad_request(problem).with("field", "planner");
        let Some(folder) = &self.config.scripts else {
            return Err(refused(
                "scripts are run only from the folder jobs.scripts, which is not set".to_owned(),
            ));
        };
        let found = files::below(std::slice::from_ref(folder), script).map_err(refused)?;
        *name = format!("scripted:{}", found.path().display());
        Ok(())
    }

    /// What a person does: the job neither acts nor looks until it is given back.
    pub fn take_over(&self, job_id: &str) -> Result<Value> {
        let JobRecord { id, last_event, .. } = self.read_job(job_id)?;
        self.want(&id, Wanted::Takeover)?;
        let see = how_to_see(&*self.store, &id, last_event)?;
        let mut shown = self.show_job(&id)?;
        shown["see"] = serde_json::json!(see);
        Ok(shown)
    }

    pub fn release_job(&self, job_id: &str) -> Result<Value> {
        self.want(&self.read_job(job_id)?.id, Wanted::Run)
    }

    /// A person's answer. Whether such a question waits.
    pub fn answer_question(&self, question: &str, allowed: bool) -> Result<bool> {
        self.store.answer(question, allowed, self.now())
    }

    pub fn open_questions(&self) -> Result<Vec<Value>> {
        let open = self.store.open_questions(None)?;
        Ok(open.iter().map(view::question_json).collect())
    }

    pub fn events_after(&self, job_id: &str, after: i64, limit: usize) -> Result<(Vec<Value>, i64)> {
        self.read_job(job_id)?;
        let events = self.store.events(job_id, after, limit.min(MOST_EVENTS))?;
        let next = events.last().map_or(after, |event| event.seq);
        Ok((events.iter().map(view::event_json).collect(), next))
    }

    pub fn list_artifacts(&self, job_id: &str) -> Result<Vec<Value>> {
        self.read_job(job_id)?;
        Ok(self.store.artifacts(job_id)?.iter().map(view::artifact_json).collect())
    }

    pub fn read_artifact(&self, job_id: &str, path: &str) -> Result<(JobArtifact, Vec<u8>)> {
        artifacts::read_artifact(&*self.store, job_id, path)
    }

    pub fn stats(&self) -> Result<Value> {
        Ok(view::stats_json(&self.store.stats()?))
    }

    fn want(&self, job_id: &str, wanted: Wanted) -> Result<Value> {
        self.store.control(job_id, wanted, self.now())?;
        self.waiting.ring();
        self.show_job(job_id)
    }

    fn resume(&self, job_id: &str) -> Result<Value> {
        resume_job(&*self.store, &self.read_job(job_id)?, self.now())?;
        self.waiting.ring();
        self.show_job(job_id)
    }

    /// Why a step of a job cannot be taken.
    fn not_planned_here(&self, job_id: &str) -> Error {
        let job = match self.read_job(job_id) {
            Ok(job) => job,
            Err(error) => return error,
        };
        let message = match (&job.error, job.status.is_over()) {
            (Some(error), true) => format!("the job is over: it is {}: {}", job.status, error.message),
            (None, true) => format!("the job is over: it is {}", job.status),
            (_, false) => format!("the job is {}, and no client of this server plans it", job.status),
        };
        Error::new(Kind::JobConflict, message).with("status", job.status.name()).with("job_id", job.id)
    }
}

/// What a client is told that plans a paused job.
fn is_paused(job_id: &str, why: &str) -> Error {
    let message = format!(
        "the job is paused: {why}. Nothing more of this call is done. job_control resumes it (action resume), and with a \
         limit gives it the same allowance once more; then look, and call again"
    );
    Error::new(Kind::JobConflict, message)
        .with("job_id", job_id)
        .with("status", JobStatus::Paused.name())
        .with("why", why)
}

pub fn runs_folder(config: &config::Jobs) -> Result<PathBuf> {
    Ok(jobs_folder(config)?.join(artifacts::RUNS))
}

/// How a person sees the desktop that they have taken over, where it is on no screen: its worker says so when it has
/// heard of it. `before` is the newest event of the time before.
pub fn how_to_see(store: &dyn Store, job_id: &str, before: i64) -> Result<Option<String>> {
    let (clock, until) = (Clock::real(), Deadline::after(HEARD_WITHIN));
    loop {
        let events = store.events(job_id, before, MOST_EVENTS)?;
        if let Some(told) = events.iter().find(|event| event.body.contains_key("taken_over")) {
            return Ok(told.body.get("see").and_then(Value::as_str).map(str::to_owned));
        }
        if until.is_over() {
            return Ok(None);
        }
        clock.sleep(LOOK_EVERY, &Cancel::new())?;
    }
}

/// Lets a job go on: one that waits, and one that was interrupted and whose planner can be told what was done.
pub fn resume_job(store: &dyn Store, job: &JobRecord, now: i64) -> Result<JobStatus> {
    if job.status != JobStatus::Interrupted {
        return store.control(&job.id, Wanted::Run, now);
    }
    let conflict =
        |message: &str| Err(Error::new(Kind::JobConflict, message).with("status", job.status.name()));
    if hosting::is_hosted(&job.spec) {
        return conflict("the client that planned it is gone; make a new job, or cancel this one");
    }
    // A script has no memory: it would begin from its first step and repeat what was done.
    if job.spec.planner.as_deref().is_some_and(|planner| planner.starts_with(scripted::PREFIX)) {
        return conflict(
            "a script cannot go on where it was interrupted; look at the desktop and make a new job",
        );
    }
    store.requeue(&job.id, now)?;
    Ok(JobStatus::Queued)
}

impl JobBoard for JobService {
    fn submit_job(&self, spec: Map<String, Value>) -> Result<String> {
        self.submit_spec(JobSpec::from_value(Value::Object(spec))?)
    }

    fn show_job(&self, job_id: &str) -> Result<Value> {
        let job = self.read_job(job_id)?;
        let mut shown = view::job_json(&job);
        shown["models"] = serde_json::json!(self.store.model_use(&job.id)?);
        let questions = self.store.open_questions(Some(&job.id))?;
        shown["approvals"] = questions.iter().map(view::question_json).collect();
        if job.status.is_over() {
            let doubt = self.store.in_doubt(&job.id)?;
            shown["in_doubt"] = doubt.iter().map(view::event_json).collect();
        } else if hosting::is_hosted(&job.spec) {
            shown["rules"] = hosting::rules_json(&job.spec);
        }
        if job.status.is_held() && job.lease_until + LEASE_GRACE_MS < self.now() {
            let since = view::shown_time(job.lease_until);
            let problem =
                format!("its worker is not heard of, and could not be written down as gone since {since}");
            shown["problem"] = problem.into();
        }
        Ok(shown)
    }

    fn wait_for_job(&self, job_id: &str, at_most: Duration, cancel: &Cancel) -> Result<Value> {
        let until = self.clock.now() + at_most;
        loop {
            let status = self.read_job(job_id)?.status;
            let left = until.saturating_sub(self.clock.now());
            if status.is_over() || status == JobStatus::InputRequired || left.is_zero() {
                return self.show_job(job_id);
            }
            self.clock.sleep(LOOK_EVERY.min(left), cancel)?;
        }
    }

    fn list_jobs(&self, status: Option<&str>, limit: usize) -> Result<Vec<Value>> {
        let status = status.map(|name| {
            JobStatus::from_name(name).ok_or_else(|| {
                let names = JobStatus::ALL.map(JobStatus::name).join(", ");
                let message = format!("there is no status '{name}'; there are {names}");
                Error::bad_request(message).with("field", "status")
            })
        });
        let jobs = self.store.list(status.transpose()?, limit.min(MOST_LISTED))?;
        Ok(jobs.iter().map(view::job_json).collect())
    }

    fn pass_step(
        &self,
        job_id: &str,
        tool: &str,
        args: Map<String, Value>,
        cancel: &Cancel,
    ) -> Result<Reply> {
        let job_id = &self.planned_job(job_id)?;
        let step = PlannedStep::Call { tool: tool.to_owned(), args };
        match self.take_planned_step(job_id, &step, cancel) {
            Some(HostAnswer::Result(result, remark)) => Ok(hosting::reply_of(*result, remark.as_deref())),
            Some(HostAnswer::Remark(said)) => Err(Error::bad_request(said)),
            Some(HostAnswer::Paused { why, .. }) => Err(is_paused(job_id, &why)),
            Some(HostAnswer::Ended) | None => Err(self.not_planned_here(job_id)),
        }
    }

    fn finish_job(&self, job_id: &str, ending: PlannedEnding, cancel: &Cancel) -> Result<Value> {
        let job_id = &self.planned_job(job_id)?;
        if self.hosted.current_id().as_deref() != Some(job_id) {
            return Err(self.not_planned_here(job_id));
        }
        let step = match ending {
            PlannedEnding::Result(result) => PlannedStep::Finish(result),
            PlannedEnding::Fail(reason) => PlannedStep::Fail(reason),
        };
        let is_result = matches!(step, PlannedStep::Finish(_));
        match self.take_planned_step(job_id, &step, cancel) {
            Some(HostAnswer::Result(_, Some(said)) | HostAnswer::Remark(said)) => {
                let message = format!("{said}; the job goes on: finish_job takes a corrected result");
                Err(Error::bad_request(message).with("field", "result"))
            }
            Some(HostAnswer::Paused { why, .. }) => Err(is_paused(job_id, &why)),
            // A result that was not taken is no success of this call.
            _ if is_result && self.read_job(job_id)?.status != JobStatus::Succeeded => {
                Err(self.not_planned_here(job_id))
            }
            _ => self.show_job(job_id),
        }
    }

    fn control_job(&self, job_id: &str, action: JobAction) -> Result<Value> {
        let job_id = &self.read_job(job_id)?.id;
        match action {
            JobAction::Pause => self.want(job_id, Wanted::Pause),
            JobAction::Resume => self.resume(job_id),
            JobAction::Cancel => self.want(job_id, Wanted::Cancel),
        }
    }
}
