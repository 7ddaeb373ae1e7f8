//! The states of a job.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Where a job stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JobStatus {
    Queued,
    Running,
    Paused,
    /// Somebody has to answer before it goes on.
    InputRequired,
    Succeeded,
    Failed,
    Cancelled,
    /// Its worker is gone, and an input may or may not have been sent: a person decides.
    Interrupted,
    BudgetExceeded,
    /// It made the same call again and again, and nothing changed.
    Stalled,
    /// It was refused before it began.
    Rejected,
}

impl JobStatus {
    pub const ALL: [JobStatus; 11] = [
        JobStatus::Queued,
        JobStatus::Running,
        JobStatus::Paused,
        JobStatus::InputRequired,
        JobStatus::Succeeded,
        JobStatus::Failed,
        JobStatus::Cancelled,
        JobStatus::Interrupted,
        JobStatus::BudgetExceeded,
        JobStatus::Stalled,
        JobStatus::Rejected,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            JobStatus::Queued => "queued",
            JobStatus::Running => "running",
            JobStatus::Paused => "paused",
            JobStatus::InputRequired => "input_required",
            JobStatus::Succeeded => "succeeded",
            JobStatus::Failed => "failed",
            JobStatus::Cancelled => "cancelled",
            JobStatus::Interrupted => "interrupted",
            JobStatus::BudgetExceeded => "budget_exceeded",
            JobStatus::Stalled => "stalled",
            JobStatus::Rejected => "rejected",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.name() == name)
    }

    /// Nothing more happens to it by itself.
    pub const fn is_over(self) -> bool {
        !matches!(self, JobStatus::Queued | JobStatus::Running | JobStatus::Paused | JobStatus::InputRequired)
    }

    /// A worker holds it.
    pub const fn is_held(self) -> bool {
        matches!(self, JobStatus::Running | JobStatus::Paused | JobStatus::InputRequired)
    }
}

impl fmt::Display for JobStatus {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        out.write_str(self.name())
    }
}

/// What a person wants of a job; its worker obeys before the next input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    Run,
    Pause,
    Cancel,
}

impl Wanted {
    pub const fn name(self) -> &'static str {
        match self {
            Wanted::Run => "run",
            Wanted::Pause => "pause",
            Wanted::Cancel => "cancel",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        [Wanted::Run, Wanted::Pause, Wanted::Cancel].into_iter().find(|wanted| wanted.name() == name)
    }
}

/// Why a job did not succeed, in a word for programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureCode {
    /// The planner gave up.
    PlannerFailed,
    /// The planner cannot be used.
    NoPlanner,
    /// The result does not fit the schema of the job.
    OutputInvalid,
    /// Too many calls failed.
    TooManyFailures,
    BudgetExceeded,
    Timeout,
    Stalled,
    Cancelled,
    /// Another worker holds the job, or nobody could be asked.
    LeaseLost,
    StorageFailed,
    /// The job cannot be run as it is written.
    BadJob,
}

impl FailureCode {
    pub const fn name(self) -> &'static str {
        match self {
            FailureCode::PlannerFailed => "PlannerFailed",
            FailureCode::NoPlanner => "NoPlanner",
            FailureCode::OutputInvalid => "OutputInvalid",
            FailureCode::TooManyFailures => "TooManyFailures",
            FailureCode::BudgetExceeded => "BudgetExceeded",
            FailureCode::Timeout => "Timeout",
            FailureCode::Stalled => "Stalled",
            FailureCode::Cancelled => "Cancelled",
            FailureCode::LeaseLost => "LeaseLost",
            FailureCode::StorageFailed => "StorageFailed",
            FailureCode::BadJob => "BadJob",
        }
    }

    /// The status that a job ends with.
    pub const fn status(self) -> JobStatus {
        match self {
            FailureCode::BudgetExceeded | FailureCode::Timeout => JobStatus::BudgetExceeded,
            FailureCode::Stalled => JobStatus::Stalled,
            FailureCode::Cancelled => JobStatus::Cancelled,
            FailureCode::NoPlanner | FailureCode::BadJob => JobStatus::Rejected,
            FailureCode::LeaseLost => JobStatus::Interrupted,
            FailureCode::PlannerFailed
            | FailureCode::OutputInvalid
            | FailureCode::TooManyFailures
            | FailureCode::StorageFailed => JobStatus::Failed,
        }
    }
}
