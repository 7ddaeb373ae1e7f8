//! Who plans the steps of a job.

pub mod chat;
mod chat_answer;
pub mod scripted;

use serde_json::{Map, Value};

use super::spec::JobSpec;
use super::store::Usage;
use crate::clock::Cancel;
use crate::config;
use crate::error::Kind;
use crate::tool::{Encoded, Table};

pub trait Planner: Send {
    /// What to do next, after what has been done so far.
    fn next(&mut self, turn: &PlannerTurn, cancel: &Cancel) -> Result<PlannerAnswer, PlannerFailure>;

    /// The most that the next answer may use. A planner without a model uses nothing.
    fn foresee_usage(&self, _: &PlannerTurn) -> Usage {
        Usage::default()
    }

    /// The model that is paid for.
    fn model(&self) -> Option<&str> {
        None
    }
}

/// What a planner is told.
#[derive(Clone, Copy, Debug)]
pub struct PlannerTurn<'a> {
    pub goal: &'a str,
    /// What the calls of the last answer gave, in their order; fewer than it had where one failed.
    pub results: &'a [CallResult],
    /// What the runner has to say: a result that does not fit, a call that repeats.
    pub remark: Option<&'a str>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct PlannerAnswer {
    pub steps: Vec<PlannedStep>,
    pub usage: Usage,
    pub said: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum PlannedStep {
    Call {
        tool: String,
        args: Map<String, Value>,
    },
    /// A call whose arguments cannot be read; it is answered as one that failed.
    Unreadable {
        tool: String,
        problem: String,
    },
    Finish(Value),
    Fail(String),
}

/// What the gate answered to a call.
#[derive(Clone, Debug)]
pub struct CallResult {
    pub tool: String,
    pub error: Option<Kind>,
    /// As the egress wrote it.
    pub reply: Value,
    /// What a model reads of it.
    pub text: String,
    pub picture: Option<Encoded>,
}

/// Why a planner has no answer.
#[derive(Clone, Debug, PartialEq)]
pub enum PlannerFailure {
    Cancelled,
    Failed(String),
}

/// What a planner may need to know of the job and the server.
#[derive(Clone, Copy)]
pub struct PlannerContext<'a> {
    pub config: &'a config::Planner,
    pub tools: &'a Table,
    pub spec: &'a JobSpec,
}

/// A planner, and how it wants to be answered.
pub struct OpenedPlanner {
    pub planner: Box<dyn Planner>,
    /// A model reads the replies: lines instead of JSON.
    pub reads_lines: bool,
}

/// A planner by the name that a job gives: `scripted:FILE`, `scripted:demo` for the one that comes with the program, or
/// `chat` for a model behind an OpenAI-compatible server.
pub fn open_planner(name: &str, context: PlannerContext) -> Result<OpenedPlanner, String> {
    match name.split_once(':').unwrap_or((name, "")) {
        ("scripted", file) if !file.is_empty() => {
            Ok(OpenedPlanner { planner: Box::new(scripted::Scripted::open(file)?), reads_lines: false })
        }
        ("chat", "") => {
            Ok(OpenedPlanner { planner: Box::new(chat::Chat::open(context)?), reads_lines: true })
        }
        _ => Err(format!("there is no planner '{name}'; use chat, scripted:FILE or scripted:demo")),
    }
}
