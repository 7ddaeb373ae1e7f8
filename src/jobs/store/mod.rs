//! Where jobs are kept. One synchronous trait; SQLite is built in.
//!
//! A worker holds a job by a lease with an epoch. Every write of a worker names its lease and is refused when the lease
//! is over, so a worker that was taken for dead cannot write, and above all cannot send an input.

pub mod sqlite;

use serde_json::{Map, Value};

use super::money::Cost;
use super::spec::JobSpec;
use super::status::{FailureCode, JobStatus, Wanted};
use crate::error::Result;

/// How long a worker holds a job without renewing.
pub const LEASE_MS: i64 = 30_000;
/// How long after its end a lease still keeps others out: its worker stops by itself long before.
pub const LEASE_GRACE_MS: i64 = 5_000;
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
    /// Somebody paused, resumed or cancelled it.
    Control,
    /// A change of its status, or a remark of the runner.
    Note,
}

impl EventKind {
    pub const fn name(self) -> &'static str {
        match self {
            EventKind::Turn => "turn",
            EventKind::Call => "call",
            EventKind::Intent => "intent",
            EventKind::Outcome => "outcome",
            EventKind::Control => "control",
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
    pub input: u64,
    pub cached_input: u64,
    pub output: u64,
    /// The server did not say, or said what cannot be.
    pub estimated: bool,
}

impl Usage {
    pub fn tokens(&self) -> u64 {
        self.input.saturating_add(self.output)
    }

    pub fn add(&mut self, other: Usage) {
        self.input = self.input.saturating_add(other.input);
        self.cached_input = self.cached_input.saturating_add(other.cached_input);
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
    /// Inputs that were sent, or may have been.
    pub effects: i64,
    pub attempts: i64,
    pub epoch: i64,
    pub worker: Option<String>,
    pub created_at: i64,
    pub started_at: Option<i64>,
    pub finished_at: Option<i64>,
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

/// How far a job is; written with its end, and while it runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JobTally {
    pub steps: u64,
    pub usage: Usage,
    /// `None` where the price of the model is not known.
    pub cost: Option<Cost>,
}

pub trait Store: Send + Sync {
    /// The id of the job; that of the earlier one if the key was used before.
    fn enqueue(&self, spec: &JobSpec, now: i64) -> Result<String>;

    /// Takes the next job that waits.
    fn claim(&self, worker: &str, now: i64) -> Result<Option<Claimed>>;

    /// Takes this job, if it waits.
    fn claim_job(&self, job_id: &str, worker: &str, now: i64) -> Result<Option<Claimed>>;

    /// Keeps the job, and tells what is wanted of it.
    fn renew(&self, lease: &JobLease, now: i64) -> Result<Renewal>;

    /// Commits what is about to be sent. Fails unless the lease is held and the job is to run.
    fn intend(&self, lease: &JobLease, body: &Map<String, Value>, now: i64) -> Result<i64>;

    /// Adds an event. Fails unless the lease is held.
    fn append(&self, lease: &JobLease, kind: EventKind, body: &Map<String, Value>, now: i64) -> Result<i64>;

    /// Between running, paused and waiting for an answer.
    fn set_status(&self, lease: &JobLease, status: JobStatus, tally: JobTally, now: i64) -> Result<()>;

    /// Ends the job. Fails unless the lease is held.
    fn finish(&self, lease: &JobLease, ending: &Ending, tally: JobTally, now: i64) -> Result<()>;

    /// Says what is wanted of a job, and tells its status then. A job that waits is cancelled at once.
    fn control(&self, job_id: &str, wanted: Wanted, now: i64) -> Result<JobStatus>;

    /// Ends or requeues what dead workers held, and tells which jobs: nobody repeats an input that may have been sent.
    fn reap(&self, now: i64) -> Result<Vec<(String, JobStatus)>>;

    fn read(&self, job_id: &str) -> Result<Option<JobRecord>>;

    /// The newest first.
    fn list(&self, status: Option<JobStatus>, limit: usize) -> Result<Vec<JobRecord>>;

    /// In their order, from the one after `after`.
    fn events(&self, job_id: &str, after: i64, limit: usize) -> Result<Vec<JobEvent>>;

    /// Intents whose outcome nobody wrote.
    fn in_doubt(&self, job_id: &str) -> Result<Vec<JobEvent>>;
}
