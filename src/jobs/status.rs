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

    pub const fn meaning(self) -> &'static str {
        match self {
            JobStatus::Queued => "it waits for a worker",
            JobStatus::Running => "a worker works on it",
            JobStatus::Paused => "it waits until it is resumed",
            JobStatus::InputRequired => "it waits for a person's answer",
            JobStatus::Succeeded => "it is done, and has its result",
            JobStatus::Failed => "it could not be done; the error says why",
            JobStatus::Cancelled => "somebody cancelled it",
            JobStatus::Interrupted => {
                "its worker is gone after an input, or for the third time; a person decides"
            }
            JobStatus::BudgetExceeded => "it met one of its limits",
            JobStatus::Stalled => "it made the same call again and again, and nothing changed",
            JobStatus::Rejected => "it was refused before it began",
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
    /// A person has the desktop: the job neither acts nor looks until it is given back.
    Takeover,
    Cancel,
}

impl Wanted {
    pub const ALL: [Wanted; 4] = [Wanted::Run, Wanted::Pause, Wanted::Takeover, Wanted::Cancel];

    pub const fn name(self) -> &'static str {
        match self {
            Wanted::Run => "run",
            Wanted::Pause => "pause",
            Wanted::Takeover => "takeover",
            Wanted::Cancel => "cancel",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|wanted| wanted.name() == name)
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
    /// The desk that it asks for cannot be had.
    NoDesk,
    /// The safety check refused it.
    SafetyRefused,
    /// The safety check gave no clear answer.
    SafetyUnclear,
}

impl FailureCode {
    pub const ALL: [FailureCode; 14] = [
        FailureCode::PlannerFailed,
        FailureCode::NoPlanner,
        FailureCode::OutputInvalid,
        FailureCode::TooManyFailures,
        FailureCode::BudgetExceeded,
        FailureCode::Timeout,
        FailureCode::Stalled,
        FailureCode::Cancelled,
        FailureCode::LeaseLost,
        FailureCode::StorageFailed,
        FailureCode::BadJob,
        FailureCode::NoDesk,
        FailureCode::SafetyRefused,
        FailureCode::SafetyUnclear,
    ];

    pub const fn meaning(self) -> &'static str {
        match self {
            FailureCode::PlannerFailed => "the planner gave up, or its server did",
            FailureCode::NoPlanner => "the planner cannot be used",
            FailureCode::OutputInvalid => "the result does not fit `output_schema`",
            FailureCode::TooManyFailures => "too many calls failed one after the other",
            FailureCode::BudgetExceeded => "a limit other than the time was met",
            FailureCode::Timeout => "its time is over",
            FailureCode::Stalled => "it made the same call again and again",
            FailureCode::Cancelled => "somebody cancelled it",
            FailureCode::LeaseLost => "its worker no longer holds it",
            FailureCode::StorageFailed => "the store or the record cannot be written",
            FailureCode::BadJob => "it cannot be run as it is written",
            FailureCode::NoDesk => "the desk that it asks for cannot be had",
            FailureCode::SafetyRefused => "the safety check refused it",
            FailureCode::SafetyUnclear => "the safety check gave no clear answer",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|code| code.name() == name)
    }

    /// What a person may do then.
    pub const fn advice(self) -> &'static str {
        match self {
            FailureCode::PlannerFailed => {
                "correct what the reason names; `jobs show` has what was done until then"
            }
            FailureCode::NoPlanner => "set what is missing, or name another planner",
            FailureCode::OutputInvalid => "what it gave is kept; change the goal or the schema",
            FailureCode::TooManyFailures => "`jobs show` has the errors; a more exact goal may help",
            FailureCode::BudgetExceeded => "raise the limit that it names, or make the goal smaller",
            FailureCode::Timeout => "give it more time, or make the goal smaller",
            FailureCode::Stalled => "say in the goal what it is to do instead, or try another model",
            FailureCode::Cancelled => "what was done until then stays; see `jobs show`",
            FailureCode::LeaseLost => "look at the desktop, then let it go on or cancel it",
            FailureCode::StorageFailed => "make room on the disk, and check the folder jobs.dir",
            FailureCode::BadJob => "change what the reason names, and make the job again",
            FailureCode::NoDesk => "correct what the reason names, and make the job again",
            FailureCode::SafetyRefused => "say the goal differently, or ask the owner of the server",
            FailureCode::SafetyUnclear => "check planner.safety_model and its server",
        }
    }

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
            FailureCode::NoDesk => "NoDesk",
            FailureCode::SafetyRefused => "SafetyRefused",
            FailureCode::SafetyUnclear => "SafetyUnclear",
        }
    }

    /// The status that a job ends with.
    pub const fn status(self) -> JobStatus {
        match self {
            FailureCode::BudgetExceeded | FailureCode::Timeout => JobStatus::BudgetExceeded,
            FailureCode::Stalled => JobStatus::Stalled,
            FailureCode::Cancelled => JobStatus::Cancelled,
            FailureCode::NoPlanner
            | FailureCode::BadJob
            | FailureCode::NoDesk
            | FailureCode::SafetyRefused
            | FailureCode::SafetyUnclear => JobStatus::Rejected,
            FailureCode::LeaseLost => JobStatus::Interrupted,
            FailureCode::PlannerFailed
            | FailureCode::OutputInvalid
            | FailureCode::TooManyFailures
            | FailureCode::StorageFailed => JobStatus::Failed,
        }
    }
}
