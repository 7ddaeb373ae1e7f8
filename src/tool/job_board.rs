//! Jobs as tools see them: what stands in the room of jobs is lent as a trait.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::call::Reply;
use crate::clock::Cancel;
use crate::error::Result;

/// Web tasks and their sessions, which are jobs with more around them. Bodies are those of web-task-api.
pub trait WebTaskBoard: Send + Sync {
    /// Checks a task and puts it into the queue.
    fn submit_task(&self, request: Map<String, Value>) -> Result<SubmittedTask>;

    fn show_task(&self, task_id: &str) -> Result<Value>;

    /// Waits until the task is over or needs a person, and shows it then; as it is when the time is over.
    fn wait_for_task(&self, task_id: &str, at_most: Duration, cancel: &Cancel) -> Result<Value>;

    /// All recipes, and what is wrong with those that cannot be used.
    fn list_recipes(&self) -> Result<(Vec<Value>, Vec<String>)>;

    /// The newest first.
    fn list_sessions(&self) -> Result<Vec<Value>>;

    fn show_session(&self, session_id: &str) -> Result<Value>;

    fn create_session(&self, wish: Map<String, Value>) -> Result<Value>;

    fn change_session(&self, session_id: &str, wish: Map<String, Value>) -> Result<Value>;
}

/// A task in the queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubmittedTask {
    pub task_id: String,
    /// What it may take, by its own limit.
    pub timeout: Duration,
}

pub trait JobBoard: WebTaskBoard {
    /// Checks a job and puts it into the queue. Answers its id.
    fn submit_job(&self, spec: Map<String, Value>) -> Result<String>;

    fn show_job(&self, job_id: &str) -> Result<Value>;

    /// Waits until the job is over or needs a person, and shows it then; as it is when the time is over.
    fn wait_for_job(&self, job_id: &str, at_most: Duration, cancel: &Cancel) -> Result<Value>;

    /// The newest first.
    fn list_jobs(&self, status: Option<&str>, limit: usize) -> Result<Vec<Value>>;

    /// Makes a call as a step of a job that the caller plans.
    fn pass_step(&self, job_id: &str, tool: &str, args: Map<String, Value>, cancel: &Cancel)
    -> Result<Reply>;

    /// Ends a job that the caller plans, and shows it then. A result that does not fit may be mended.
    fn finish_job(&self, job_id: &str, ending: PlannedEnding, cancel: &Cancel) -> Result<Value>;

    /// Says what is wanted of a job, and shows it then.
    fn control_job(&self, job_id: &str, action: JobAction) -> Result<Value>;
}

/// How whoever plans a job ends it.
#[derive(Clone, Debug, PartialEq)]
pub enum PlannedEnding {
    Result(Value),
    /// It cannot be done; this is why.
    Fail(String),
}

/// What may be wanted of a job by whoever made it. To take over and to answer is the person's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum JobAction {
    Pause,
    Resume,
    Cancel,
}
