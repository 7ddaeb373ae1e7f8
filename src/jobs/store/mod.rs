//! Where jobs are kept. One synchronous trait; SQLite is built in.
//!
//! A worker holds a job by a lease with an epoch. Every write of a worker names its lease and is refused when the lease
//! is over, so a worker that was taken for dead cannot write, and above all cannot send an input.

mod reserve;
pub mod sqlite;
pub mod web;

use serde_json::{Map, Value};

use super::money::Cost;
use super::spec::JobSpec;
use super::status::{FailureCode, JobStatus, Wanted};
use crate::config::OwnDesk;
use crate::error::Result;

/// How long a worker holds a job without renewing.
pub const LEASE_MS: i64 = 30_000;
/// How long after its end a lease still keeps others out: its worker stops by itself long before.
pub const LEASE_GRACE_MS: i64 = 5_000;
/// A server that was not seen for so long leaves its queue to the others.
pub const SERVER_LEASE_MS: i64 = 5_000;
/// A job that never acted is tried so often.
pub const MOST_ATTEMPTS: i64 = 3;

/// The right to work on a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobLease {
    pub job_id: String,
    pub worker: String,
    pub epoch: i64,
}

/// A job that a worker has taken.
#[derive(Clone, Debug)]
pub struct Claimed {
    pub lease: JobLease,
    pub spec: JobSpec,
    /// How often it was taken, this time counted.
    pub attempts: i64,
    /// What its earlier attempts have used.
    pub earlier: JobTally,
}

/// A server that works with the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerRow {
    pub id: String,
    pub process: u32,
    /// Milliseconds since 1970.
    pub started_at: i64,
    /// Until when the store takes it for running; one that runs moves that on every second. Not read where a server
    /// notes itself.
    pub seen_until: i64,
}

/// What a renewed lease tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Renewal {
    Held(Wanted),
    /// The job is somebody else's, or over.
    Lost,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// What the planner said and used.
    Turn,
    /// A call that sends no input of its own.
    Call,
    /// An input that is about to be sent.
    Intent,
    /// How an input ended.
    Outcome,
    /// Somebody paused, resumed, took over or cancelled it.
    Control,
    /// A person is asked, or has answered.
    Approval,
    /// What the safety check said of it.
    Safety,
    /// A change of its status, or a remark of the runner.
    Note,
}

impl EventKind {
    pub const ALL: [EventKind; 8] = [
        EventKind::Turn,
        EventKind::Call,
        EventKind::Intent,
        EventKind::Outcome,
        EventKind::Control,
        EventKind::Approval,
        EventKind::Safety,
        EventKind::Note,
    ];

    pub const fn meaning(self) -> &'static str {
        match self {
            EventKind::Turn => "what the planner said, which model it was, and what that used and cost",
            EventKind::Call => "a call that sends no input of its own",
            EventKind::Intent => "an input that is about to be sent",
            EventKind::Outcome => "how an input ended",
            EventKind::Control => "somebody paused, resumed, took over or cancelled it",
            EventKind::Approval => "a person is asked, or has answered",
            EventKind::Safety => "what the safety check said of it",
            EventKind::Note => {
                "a change of its status, a wait for the model's server, or a remark of the runner"
            }
        }
    }

    pub const fn name(self) -> &'static str {
        match self {
            EventKind::Turn => "turn",
            EventKind::Call => "call",
            EventKind::Intent => "intent",
            EventKind::Outcome => "outcome",
            EventKind::Control => "control",
            EventKind::Approval => "approval",
            EventKind::Safety => "safety",
            EventKind::Note => "note",
        }
    }
}

/// A row of a job's log. What must not be shown is not in it.
#[derive(Clone, Debug, PartialEq)]
pub struct JobEvent {
    pub seq: i64,
    pub epoch: i64,
    /// Milliseconds since 1970.
    pub at: i64,
    pub kind: String,
    pub body: Map<String, Value>,
}

/// What a job's model has used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(default)]
pub struct Usage {
    /// All of it, what was cached included.
    pub input: u64,
    pub cached_input: u64,
    /// Input that was written into the server's cache, which some vendors charge more for.
    #[serde(skip_serializing_if = "is_zero")]
    pub cache_writes: u64,
    pub output: u64,
    /// The server did not say, or said what cannot be.
    pub estimated: bool,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl Usage {
    pub fn tokens(&self) -> u64 {
        self.input.saturating_add(self.output)
    }

    pub fn add(&mut self, other: Usage) {
        self.input = self.input.saturating_add(other.input);
        self.cached_input = self.cached_input.saturating_add(other.cached_input);
        self.cache_writes = self.cache_writes.saturating_add(other.cache_writes);
        self.output = self.output.saturating_add(other.output);
        self.estimated |= other.estimated;
    }
}

/// Everything about a job but its events.
#[derive(Clone, Debug)]
pub struct JobRecord {
    pub id: String,
    pub status: JobStatus,
    pub wanted: Wanted,
    pub spec: JobSpec,
    pub result: Option<Value>,
    pub error: Option<JobError>,
    pub usage: Usage,
    /// What the model has cost; `None` where its price is not known.
    pub cost: Option<Cost>,
    pub steps: i64,
    pub used: JobUse,
    /// Without the time of people.
    pub worked_ms: u64,
    /// Inputs that were sent, or may have been.
    pub effects: i64,
    pub attempts: i64,
    pub epoch: i64,
    pub worker: Option<String>,
    /// Until when its worker holds it, unless it renews.
    pub lease_until: i64,
    /// The server that took it.
    pub owner: Option<String>,
    pub created_at: i64,
    pub started_at: Option<i64>,
    pub finished_at: Option<i64>,
    /// The folder of its files, below that of all runs.
    pub run_dir: Option<String>,
    /// The number of its newest event.
    pub last_event: i64,
}

/// What a person is asked for a job.
#[derive(Clone, Debug, PartialEq)]
pub struct JobQuestion {
    pub id: String,
    pub job_id: String,
    /// Clean, and without what must not be shown.
    pub shown: Value,
    /// Milliseconds since 1970.
    pub expires_at: i64,
}

/// A file of a job, by the path below the folder of its run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobArtifact {
    pub path: String,
    pub sha256: String,
    pub bytes: i64,
}

/// An event with its number among those of all jobs.
#[derive(Clone, Debug, PartialEq)]
pub struct NumberedEvent {
    pub number: i64,
    pub job_id: String,
    pub event: JobEvent,
}

/// A model that was asked for a job.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct ModelUse {
    pub model: String,
    /// Turns that it planned.
    pub turns: i64,
    /// Safety checks that it made.
    pub checks: i64,
    /// Tokens.
    pub input: i64,
    pub output: i64,
    /// `None` where its price is not known.
    pub cost_usd: Option<f64>,
}

/// All jobs together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JobStats {
    /// How many have which status.
    pub by_status: Vec<(JobStatus, i64)>,
    pub steps: i64,
    pub inputs: i64,
    /// Of the jobs whose price is known.
    pub cost: Cost,
    pub usage: Usage,
    /// From the start to the end of those that are over, the shortest first.
    pub durations_ms: Vec<i64>,
}

#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct JobError {
    pub code: String,
    pub message: String,
}

impl JobError {
    pub fn new(code: FailureCode, message: impl Into<String>) -> Self {
        Self { code: code.name().to_owned(), message: message.into() }
    }
}

/// How a job ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Ending {
    pub status: JobStatus,
    pub result: Option<Value>,
    pub error: Option<JobError>,
}

/// What a job has used, over all of its attempts; written with every row of the job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JobTally {
    pub steps: u64,
    pub usage: Usage,
    /// `None` where the price of the model is not known.
    pub cost: Option<Cost>,
    /// Without the time of people.
    pub worked_ms: u64,
    pub used: JobUse,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(default)]
pub struct JobUse {
    pub calls: u64,
    pub actions: u64,
    pub screenshots: u64,
    /// How often it was given what it may use, beside the first time.
    #[serde(skip_serializing_if = "is_zero")]
    pub more_allowances: u64,
    /// The most that the answer which is asked for just now may use. Where its worker dies, that is what it has used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reserved: Option<Usage>,
    /// The most that this may cost, in picodollars.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reserved_pico: Option<u64>,
}

impl JobUse {
    /// Nothing is asked for any more. What was reserved, if anything was.
    pub fn release(&mut self) -> Option<Usage> {
        self.reserved_pico = None;
        self.reserved.take()
    }
}

impl JobTally {
    /// Nobody will hear the answer that was asked for: it counts with the most that it may have used.
    pub fn count_reserved(&mut self) {
        let cost = self.used.reserved_pico.map(Cost);
        let Some(usage) = self.used.release() else { return };
        self.usage.add(Usage { estimated: true, ..usage });
        match (&mut self.cost, cost) {
            (Some(total), Some(cost)) => total.add(cost),
            (total, _) => *total = None,
        }
    }
}

pub trait Store: Send + Sync {
    /// The id of the job; that of the earlier one if the key was used before for the same job. Fails where it was used
    /// for another. `owner` is the server whose workers are to run it.
    fn enqueue(&self, spec: &JobSpec, owner: Option<&str>, now: i64) -> Result<String>;

    /// Makes a job and takes it at once: nobody else can come between.
    fn enqueue_taken(&self, spec: &JobSpec, worker: &str, now: i64) -> Result<Claimed>;

    /// Takes the next job that waits and has no desk of its own: one of this server, or of nobody who is still there.
    fn claim(&self, worker: &str, server: Option<&str>, now: i64) -> Result<Option<Claimed>>;

    /// Takes this job, if it waits.
    fn claim_job(&self, job_id: &str, worker: &str, now: i64) -> Result<Option<Claimed>>;

    /// Keeps the job, and tells what is wanted of it. `worked_ms` is the time that it has worked by now.
    fn renew(&self, lease: &JobLease, worked_ms: u64, now: i64) -> Result<Renewal>;

    /// Commits what is about to be sent. Fails unless the lease is held and the job is to run.
    fn intend(&self, lease: &JobLease, body: &Map<String, Value>, tally: &JobTally, now: i64) -> Result<i64>;

    /// Adds an event. Fails unless the lease is held.
    fn append(
        &self,
        lease: &JobLease,
        kind: EventKind,
        body: &Map<String, Value>,
        tally: &JobTally,
        now: i64,
    ) -> Result<i64>;

    /// Writes down what the job has used, and what it is about to use. Fails unless the lease is held.
    fn keep_tally(&self, lease: &JobLease, tally: &JobTally) -> Result<()>;

    /// What is wanted of the job now. Fails unless the lease is held.
    fn wanted(&self, lease: &JobLease) -> Result<Wanted>;

    /// The worker itself wants the job to pause; nothing where somebody wants something else.
    fn want_pause(&self, lease: &JobLease, body: &Map<String, Value>, now: i64) -> Result<()>;

    /// Puts a question to a person: the job waits for an answer.
    fn ask(&self, lease: &JobLease, question: &JobQuestion, now: i64) -> Result<()>;

    /// The question is not asked any more: the job runs on.
    fn close_question(&self, lease: &JobLease, id: &str, outcome: &str, now: i64) -> Result<()>;

    /// A person's answer. Whether there was such a question without one.
    fn answer(&self, question: &str, allowed: bool, now: i64) -> Result<bool>;

    /// What a person answered, if they have.
    fn answer_to(&self, question: &str) -> Result<Option<bool>>;

    /// The questions that wait, the oldest first; of one job or of all.
    fn open_questions(&self, job_id: Option<&str>) -> Result<Vec<JobQuestion>>;

    /// Between running, paused and waiting for an answer.
    fn set_status(&self, lease: &JobLease, status: JobStatus, tally: JobTally, now: i64) -> Result<()>;

    /// Ends the job. Fails unless the lease is held.
    fn finish(&self, lease: &JobLease, ending: &Ending, tally: JobTally, now: i64) -> Result<()>;

    /// Says what is wanted of a job, and tells its status then. A job that waits is cancelled at once.
    fn control(&self, job_id: &str, wanted: Wanted, now: i64) -> Result<JobStatus>;

    /// Ends or requeues what dead workers held, and tells which jobs: nobody repeats an input that may have been sent.
    fn reap(&self, now: i64) -> Result<Vec<(String, JobStatus)>>;

    /// The same for one worker that is known to be gone.
    fn reap_worker(&self, worker: &str, now: i64) -> Result<Vec<(String, JobStatus)>>;

    /// The worker gives the job up without an end. What becomes of it then is decided as for a dead worker.
    fn abandon(&self, lease: &JobLease, now: i64) -> Result<JobStatus>;

    /// A person lets an interrupted job go on.
    fn requeue(&self, job_id: &str, now: i64) -> Result<()>;

    /// How many jobs without a desk of their own wait for a worker of this server; no more are counted than a server has
    /// workers.
    fn count_waiting(&self, server: Option<&str>, now: i64) -> Result<usize>;

    /// Says that a server is there, and tells which others are.
    fn note_server(&self, server: &ServerRow, now: i64) -> Result<Vec<ServerRow>>;

    /// The server is gone: its queue is everybody's.
    fn forget_server(&self, id: &str) -> Result<()>;

    /// The jobs of this server that wait for a desk of their own, the next one first.
    fn waiting_for_desks(&self, server: &str, now: i64, limit: usize) -> Result<Vec<(String, OwnDesk)>>;

    /// The events of all jobs, or of one, from the one after `number`.
    fn numbered_events(&self, number: i64, job_id: Option<&str>, limit: usize) -> Result<Vec<NumberedEvent>>;

    /// The number of the newest event.
    fn last_number(&self) -> Result<i64>;

    /// Where the files of the job are.
    fn set_run_dir(&self, lease: &JobLease, dir: &str) -> Result<()>;

    fn add_artifact(&self, lease: &JobLease, artifact: &JobArtifact) -> Result<()>;

    /// In the order of their paths.
    fn artifacts(&self, job_id: &str) -> Result<Vec<JobArtifact>>;

    fn stats(&self) -> Result<JobStats>;

    fn read(&self, job_id: &str) -> Result<Option<JobRecord>>;

    /// The newest first.
    fn list(&self, status: Option<JobStatus>, limit: usize) -> Result<Vec<JobRecord>>;

    /// In their order, from the one after `after`.
    fn events(&self, job_id: &str, after: i64, limit: usize) -> Result<Vec<JobEvent>>;

    /// The models that were asked, in their order.
    fn model_use(&self, job_id: &str) -> Result<Vec<ModelUse>>;

    /// Intents whose outcome nobody wrote.
    fn in_doubt(&self, job_id: &str) -> Result<Vec<JobEvent>>;
}
