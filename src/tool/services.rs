//! What the gate lends to the tools that it runs. What stands in rooms above this one is lent as a trait that names
//! only what tools ask of it.

use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::job_board::JobBoard;
use super::{Caller, Cx, Table};
use crate::clock::Clock;
use crate::config::Config;
use crate::error::Result;
use crate::metrics::Metrics;
use crate::observer::{Observer, ResolvedWindow, View};
use crate::session::Session;

#[derive(Clone, Copy)]
pub struct Services<'a> {
    pub observer: &'a Observer,
    pub session: &'a Session,
    pub config: &'a Config,
    /// What of the configuration could not be used.
    pub config_error: Option<&'a str>,
    pub clock: &'a Clock,
    pub tools: &'a Table,
    pub tracer: &'a dyn TraceControl,
    pub replays: &'a dyn ReplayControl,
    pub vision: &'a dyn VisionModel,
    pub jobs: Option<&'a dyn JobBoard>,
    pub metrics: &'a Metrics,
    pub caller: &'a dyn Caller,
}

/// Begins and ends the one trace that may be running.
pub trait TraceControl: Sync {
    fn start(&self, label: Option<String>) -> Result<StartedTrace>;

    /// Ends the trace. One that ended by itself is reported here once.
    fn stop(&self) -> Result<EndedTrace>;

    fn status(&self) -> TraceState;
}

#[derive(Clone, Debug, PartialEq)]
pub struct StartedTrace {
    pub trace_id: String,
    pub started_at: SystemTime,
    pub dir: PathBuf,
}

/// A trace that is over.
#[derive(Clone, Debug, PartialEq)]
pub struct EndedTrace {
    pub trace_id: String,
    pub dir: PathBuf,
    pub path: PathBuf,
    pub step_count: u64,
    pub duration: Duration,
    /// Why it ended before it was stopped.
    pub problem: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct TraceState {
    pub active_trace_id: Option<String>,
    pub step_count: u64,
    pub dir: Option<PathBuf>,
    pub problem: Option<String>,
}

/// Opens traces to make their calls again.
pub trait ReplayControl: Sync {
    fn open(
        &self,
        cx: &Cx,
        path: &str,
        mode: ReplayMode,
        on_divergence: OnDivergence,
    ) -> Result<OpenedReplay>;

    /// Makes the next call; `None` when there is none left. A step that fails has not been made. How far the replay is
    /// then is said with it, because the replay may have been closed meanwhile.
    fn step(
        &self,
        cx: &Cx,
        id: &str,
        supply: &Map<String, Value>,
    ) -> Result<(Option<ReplayedStep>, ReplayState)>;

    fn state(&self, id: &str) -> Result<ReplayState>;

    fn close(&self, id: &str) -> Result<()>;
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ReplayMode {
    #[default]
    Execute,
    Verify,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum OnDivergence {
    Stop,
    #[default]
    Warn,
    Resume,
}

#[derive(Clone, Debug, PartialEq)]
pub struct OpenedReplay {
    pub replay_id: String,
    pub total: usize,
    pub label: Option<String>,
    /// The file ends within a line.
    pub torn: bool,
    /// The trace was stopped, and did not end by a crash.
    pub has_footer: bool,
}

/// How far a replay is.
#[derive(Clone, Debug, PartialEq)]
pub struct ReplayState {
    pub mode: ReplayMode,
    pub position: usize,
    pub total: usize,
    pub finished: bool,
    pub divergences: Vec<Divergence>,
}

/// What one step did.
#[derive(Clone, Debug, PartialEq)]
pub struct ReplayedStep {
    pub tool: String,
    pub differences: Vec<Difference>,
    /// The part of the reply that a trace keeps.
    pub summary: Value,
    /// What the caller should know of how it was made.
    pub warning: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Divergence {
    pub step_id: u64,
    pub trace_seq: u64,
    pub tool: String,
    pub differences: Vec<Difference>,
}

#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Difference {
    pub path: String,
    pub want: Value,
    pub got: Value,
}

/// Says what a window shows, in words.
pub trait VisionModel: Send + Sync {
    /// The part of a description, or nothing when nobody wants one. A spent budget and a cancelled call are
    /// errors in any case: they are not the model's failure.
    fn describe(&self, cx: &Cx, wish: VisionWish, scene: &VisionScene) -> Result<Option<VisionAnswer>>;
}

/// How much the caller wants a model's view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VisionWish {
    /// Another source was named.
    Unwanted,
    /// If it is enabled, and a failure of it does not spoil the rest.
    Welcome,
    /// Or an error that says why not.
    Required,
}

/// What is to be described.
#[derive(Clone, Copy, Debug)]
pub struct VisionScene<'a> {
    pub chosen: &'a ResolvedWindow,
    pub view: &'a View,
    /// The subtree that the model is told about; the picture is always the whole window.
    pub node: usize,
    /// What was recognised in the picture, if anybody looked.
    pub ocr: Option<&'a str>,
}

/// What the model said.
#[derive(Clone, Debug, PartialEq)]
pub struct VisionAnswer {
    pub text: String,
    /// The same as data, when it was asked for in passes.
    pub structured: Option<Value>,
}
