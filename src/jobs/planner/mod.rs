//! Who plans the steps of a job.

pub mod agent_cli;
mod agent_door;
mod anthropic;
mod auto;
mod chat;
mod heal;
pub mod host;
mod mock;
mod mock_reading;
pub mod model;
pub mod named;
mod offer;
mod opencode;
pub mod recipe;
pub mod responses;
pub mod scripted;
mod talk;
pub mod voice;
mod wire;
mod written;

use std::fmt;
use std::time::Duration;

use serde_json::{Map, Value, json};

use self::named::NamedPlanner;
use super::spec::JobSpec;
use super::store::Usage;
use crate::clock::Cancel;
use crate::config::{self, Secret};
use crate::error::Kind;
use crate::tool::{Encoded, Table};

pub trait Planner: Send {
    /// What to do next, after what has been done so far.
    fn next(&mut self, turn: &PlannerTurn, asker: PlannerAsker) -> Result<PlannerAnswer, PlannerFailure>;

    /// Whether it can do better when its result is refused.
    fn can_mend(&self) -> bool {
        true
    }

    /// The most that the next answer may use. A planner without a model uses nothing.
    fn foresee_usage(&self, _: &PlannerTurn) -> Usage {
        Usage::default()
    }

    /// The model that is paid for.
    fn model(&self) -> Option<&str> {
        None
    }

    /// All models that may be asked.
    fn models(&self) -> Vec<&str> {
        self.model().into_iter().collect()
    }

    /// What attempts that gave no answer may have used, since this was asked last.
    fn take_lost_usage(&mut self) -> Vec<LostUsage> {
        Vec::new()
    }

    /// The job waits for a person and says why, or goes on.
    fn note_pause(&mut self, _why: Option<&str>) {}

    /// Whether whoever plans no longer waits for the call that is being made.
    fn has_withdrawn(&self) -> bool {
        false
    }
}

/// What questions to a model may have used that it did not answer.
#[derive(Clone, Debug, PartialEq)]
pub struct LostUsage {
    pub model: String,
    pub usage: Usage,
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
    /// A call that cannot be read or made; it is answered as one that failed.
    Unreadable {
        tool: String,
        problem: String,
    },
    /// Nothing for so long.
    Wait(Duration),
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
    /// There was no answer in time; asked again it may have one.
    Late(String),
}

/// Who waits for a planner: may end the wait, and hears why it takes long.
#[derive(Clone, Copy)]
pub struct PlannerAsker<'a> {
    pub cancel: &'a Cancel,
    pub tell: &'a dyn Fn(&PlannerNews),
}

impl<'a> PlannerAsker<'a> {
    /// One that hears nothing.
    pub fn deaf(cancel: &'a Cancel) -> Self {
        Self { cancel, tell: &|_| {} }
    }
}

/// Why an answer takes longer.
#[derive(Clone, Debug, PartialEq)]
pub enum PlannerNews<'a> {
    /// The server of this model is asked again after so long.
    Waiting { model: &'a str, wait: Duration, why: String },
    /// The same model is asked again at once.
    Again { model: &'a str, why: &'a str },
    /// Another model is asked from here on.
    Instead { model: &'a str, of: &'a str, why: &'a str },
}

impl PlannerNews<'_> {
    /// As an event has it.
    pub fn facts(&self) -> Value {
        match self {
            PlannerNews::Waiting { model, wait, why } => {
                json!({"waiting_s": wait.as_secs_f64(), "model": model, "why": why})
            }
            PlannerNews::Again { model, why } => json!({"model": model, "why": why}),
            PlannerNews::Instead { model, of, why } => json!({"model": model, "instead_of": of, "why": why}),
        }
    }
}

impl fmt::Display for PlannerNews<'_> {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        match self {
            PlannerNews::Waiting { model, wait, why } => {
                write!(out, "waiting {} s: {why} of {model}", wait.as_secs_f64())
            }
            PlannerNews::Again { model, why } => write!(out, "asking {model} again: {why}"),
            PlannerNews::Instead { model, of, why } => write!(out, "asking {model} instead of {of}: {why}"),
        }
    }
}

/// What a planner may need to know of the job and the server.
#[derive(Clone, Copy)]
pub struct PlannerContext<'a> {
    pub config: &'a config::Planner,
    pub tools: &'a Table,
    pub spec: &'a JobSpec,
    /// What opens commands, where jobs may run them.
    pub command_secret: Option<&'a Secret>,
    pub asker: PlannerAsker<'a>,
}

/// A planner, and how it wants to be answered.
pub struct OpenedPlanner {
    pub planner: Box<dyn Planner>,
    /// A model reads the replies: lines instead of JSON.
    pub reads_lines: bool,
    /// What it has used already, to find out whether it can be used.
    pub spent: Usage,
}

impl OpenedPlanner {
    /// One whose replies a model reads.
    pub fn for_model(planner: impl Planner + 'static) -> Self {
        Self { planner: Box::new(planner), reads_lines: true, spent: Usage::default() }
    }
}

impl OpenedPlanner {
    /// One that reads the replies itself.
    pub fn for_json(planner: impl Planner + 'static) -> Self {
        Self { planner: Box::new(planner), reads_lines: false, spent: Usage::default() }
    }
}

/// What a job may write for its planner.
pub const PLANNER_NAMES: &str =
    "auto, chat, responses, anthropic, opencode, cli, host, mock, recipe:ID, scripted:FILE or scripted:demo";
/// The planner that is the MCP client itself.
pub const HOST_NAME: &str = "host";

/// A planner by the name that a job gives. Behind `chat:`, `responses:`, `anthropic:`, `opencode:` and `auto:` may stand
/// the dialect that its model speaks.
pub fn open_planner(name: &str, context: PlannerContext) -> Result<OpenedPlanner, String> {
    match NamedPlanner::read(name)? {
        NamedPlanner::Scripted(script) => {
            let planner = Box::new(scripted::Scripted::open(script)?);
            Ok(OpenedPlanner { planner, reads_lines: false, spent: Usage::default() })
        }
        NamedPlanner::Mock => Ok(OpenedPlanner::for_json(mock::MockPlanner::open(context.spec))),
        NamedPlanner::Recipe(id) => recipe::RecipeReplay::open(id, context).map(OpenedPlanner::for_json),
        NamedPlanner::Cli => agent_cli::AgentCli::open(context).map(OpenedPlanner::for_model),
        NamedPlanner::Host => Err(NO_HOST.to_owned()),
        NamedPlanner::Auto(dialect) => auto::open(context, dialect),
        NamedPlanner::Opencode(dialect) => opencode::open(context, dialect).map(OpenedPlanner::for_model),
        NamedPlanner::Wire(wire, dialect) => {
            let line = voice::ModelLine::open(wire, context.config)?;
            let planner = model::ModelPlanner::open(context, Box::new(line), dialect)?;
            Ok(OpenedPlanner::for_model(planner))
        }
    }
}

pub const NO_HOST: &str =
    "the planner 'host' is the client of a server; start the job there, with the tool run_job";
