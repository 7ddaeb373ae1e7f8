//! Recording what is called, and calling it again.
//!
//! None of these calls is recorded itself.

use std::path::Path;
use std::time::UNIX_EPOCH;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::common::millis;
use super::windows::NoArgs;
use crate::config::limits;
use crate::error::Result;
use crate::tool::args::Text;
use crate::tool::services::{Difference, Divergence, OnDivergence, OpenedReplay, ReplayMode, ReplayedStep};
use crate::tool::{Cx, Effect, Example, Group, Meta, Method, Output, Permit, Spec, Tool};

/// What all tools of this file have in common.
const HARNESS: Meta = Meta { group: Group::Harness, traced: false, ..Meta::DEFAULT };

pub struct TraceStart;

#[derive(Debug, Deserialize, JsonSchema)]
pub struct StartArgs {
    /// Stored in the header; truncated to 200 characters.
    label: Option<Text<65536>>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct TraceStarted {
    trace_id: String,
    started_at: f64,
    dir: String,
}

impl Output for TraceStarted {}

impl Tool for TraceStart {
    type Args = StartArgs;
    type Out = TraceStarted;
    const META: Meta = Meta {
        name: "trace_start",
        effect: Effect::Session,
        rest: &[(Method::Post, "/api/trace/start")],
        brief: "Start recording calls, with screenshots and trees, into a folder.",
        detail: "Every call from every surface becomes a row, including refused ones; calls about traces and \
                 replays do not. Secrets are never stored. A trace ends by itself at 1 GiB, when its disk \
                 has less than 200 MiB left (on Linux and macOS), or when it cannot be written; trace_status \
                 says so.",
        examples: &[Example { scenario: None, args: r#"{"label":"login"}"#, shows: "a trace with a label" }],
        ..HARNESS
    };

    fn run(cx: &mut Cx, args: StartArgs, _: Permit) -> Result<TraceStarted> {
        let label = args.label.map(|label| kept_label(cx, label.as_str()));
        let started = cx.tracer().start(label)?;
        Ok(TraceStarted {
            trace_id: started.trace_id,
            started_at: started.started_at.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64(),
            dir: display_path(&started.dir),
        })
    }
}

/// Redacted before it is cut, so that no half of a secret stays.
fn kept_label(cx: &mut Cx, label: &str) -> String {
    let redacted = cx.redactor().text(label);
    if redacted.chars().count() > limits::LABEL_CHARACTERS {
        cx.warning = Some(format!("the label was cut to {} characters", limits::LABEL_CHARACTERS));
    }
    redacted.chars().take(limits::LABEL_CHARACTERS).collect()
}

fn display_path(path: &Path) -> String {
    path.display().to_string()
}

pub struct TraceStop;

#[derive(Debug, Serialize, JsonSchema)]
pub struct TraceStopped {
    trace_id: String,
    path: String,
    step_count: u64,
    duration_ms: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    trace_error: Option<String>,
}

impl Output for TraceStopped {}

impl Tool for TraceStop {
    type Args = NoArgs;
    type Out = TraceStopped;
    const META: Meta = Meta {
        name: "trace_stop",
        effect: Effect::Session,
        rest: &[(Method::Post, "/api/trace/stop")],
        brief: "End the trace; `path` is its file.",
        detail: "`trace_error` says why a trace had already ended by itself.",
        examples: &[Example { scenario: None, args: "{}", shows: "the file of the trace" }],
        before_examples: &[("trace_start", "{}")],
        ..HARNESS
    };

    fn run(cx: &mut Cx, _: NoArgs, _: Permit) -> Result<TraceStopped> {
        let ended = cx.tracer().stop()?;
        Ok(TraceStopped {
            trace_id: ended.trace_id,
            path: display_path(&ended.path),
            step_count: ended.step_count,
            duration_ms: millis(ended.duration),
            trace_error: ended.problem,
        })
    }
}

pub struct TraceStatus;

#[derive(Debug, Serialize, JsonSchema)]
pub struct TraceStatusOut {
    #[schemars(with = "Value")]
    active_trace_id: Option<String>,
    step_count: u64,
    #[schemars(with = "Value")]
    dir: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    trace_error: Option<String>,
}

impl Output for TraceStatusOut {}

impl Tool for TraceStatus {
    type Args = NoArgs;
    type Out = TraceStatusOut;
    const META: Meta = Meta {
        name: "trace_status",
        always: true,
        rest: &[(Method::Get, "/api/trace/status")],
        brief: "Whether a trace is running, and how many calls it holds.",
        detail: "`trace_error` says why the last trace ended before it was stopped.",
        examples: &[Example { scenario: None, args: "{}", shows: "no trace is running" }],
        ..HARNESS
    };

    fn run(cx: &mut Cx, _: NoArgs, _: Permit) -> Result<TraceStatusOut> {
        let status = cx.tracer().status();
        Ok(TraceStatusOut {
            active_trace_id: status.active_trace_id,
            step_count: status.step_count,
            dir: status.dir.as_deref().map(display_path),
            trace_error: status.problem,
        })
    }
}

/// A trace with one row, for the examples.
const ONE_ROW: &[(&str, &str)] = &[("trace_start", "{}"), ("list_windows", "{}"), ("trace_stop", "{}")];
const OPEN_REPLAY: &[(&str, &str)] =
    &[ONE_ROW[0], ONE_ROW[1], ONE_ROW[2], ("replay_start", r#"{"path":"latest"}"#)];

pub struct ReplayStart;

#[derive(Debug, Deserialize, JsonSchema)]
pub struct ReplayArgs {
    /// Trace file or folder below the server's trace folder, or `latest`.
    path: Text<4096>,
    /// Default execute; verify also compares with what was recorded.
    mode: Option<ReplayMode>,
    /// After a difference; default warn: continue.
    on_divergence: Option<OnDivergence>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct ReplayStarted {
    replay_id: String,
    total: usize,
    mode: ReplayMode,
    #[schemars(with = "Value")]
    label: Option<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    torn: bool,
}

impl Output for ReplayStarted {}

impl Tool for ReplayStart {
    type Args = ReplayArgs;
    type Out = ReplayStarted;
    const META: Meta = Meta {
        name: "replay_start",
        effect: Effect::Session,
        rest: &[(Method::Post, "/api/replay/start")],
        brief: "Open a trace to replay its calls, one per replay_step.",
        detail: "Nothing is called yet. `torn` means that the file ends within a line, as after a crash; the whole \
                 lines before it are replayed. `on_divergence:\"stop\"` ends the replay at the first difference, \
                 `warn` and `resume` continue.",
        examples: &[Example {
            scenario: None,
            args: r#"{"path":"latest","mode":"verify"}"#,
            shows: "the newest trace, to compare with",
        }],
        before_examples: ONE_ROW,
        ..HARNESS
    };

    fn run(cx: &mut Cx, args: ReplayArgs, _: Permit) -> Result<ReplayStarted> {
        let path = args.path.as_str();
        let (mode, on_divergence) = (args.mode.unwrap_or_default(), args.on_divergence.unwrap_or_default());
        let opened = cx.replays().open(cx, path, mode, on_divergence)?;
        cx.warning = match (opened.torn, opened.has_footer) {
            (true, _) => Some("the file ends within a line, which is left out".to_owned()),
            (_, false) => Some("the trace has no footer: it was not stopped".to_owned()),
            _ => None,
        };
        let OpenedReplay { replay_id, total, label, torn, .. } = opened;
        Ok(ReplayStarted { replay_id, total, mode, label, torn })
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
pub struct ReplayIdArgs {
    /// From replay_start.
    replay_id: Text<64>,
}

pub struct ReplayStep;

#[derive(Debug, Deserialize, JsonSchema)]
pub struct StepArgs {
    /// From replay_start.
    replay_id: Text<64>,
    /// Arguments that the trace left out as secret.
    #[serde(default)]
    supply: Map<String, Value>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct StepOut {
    finished: bool,
    position: usize,
    total: usize,
    #[serde(flatten)]
    #[schemars(with = "Option<StepFields>")]
    made: Option<StepFields>,
    replay_id: String,
}

#[derive(Debug, Serialize, JsonSchema)]
struct StepFields {
    tool: String,
    #[schemars(with = "Value")]
    divergence: Option<Vec<Difference>>,
    actual_summary: Value,
}

impl Output for StepOut {}

impl Tool for ReplayStep {
    type Args = StepArgs;
    type Out = StepOut;
    const META: Meta = Meta {
        name: "replay_step",
        effect: Effect::Session,
        rest: &[(Method::Post, "/api/replay/step")],
        brief: "Make the next recorded call; it really acts, and passes every check again.",
        detail: "`divergence` lists what differs from the recording, in mode verify. A call with a secret \
                 that was not recorded is not made: the error's `needs_secret` names the argument to give in \
                 `supply`.",
        examples: &[Example {
            scenario: None,
            args: r#"{"replay_id":"rep:1"}"#,
            shows: "the first call again",
        }],
        before_examples: OPEN_REPLAY,
        ..HARNESS
    };

    fn run(cx: &mut Cx, args: StepArgs, _: Permit) -> Result<StepOut> {
        let id = args.replay_id.as_str();
        let (stepped, state) = cx.replays().step(cx, id, &args.supply)?;
        cx.warning = stepped.as_ref().and_then(|stepped| stepped.warning.clone());
        let (finished, position, total) = (state.finished, state.position, state.total);
        Ok(StepOut { finished, position, total, made: stepped.map(step_fields), replay_id: id.to_owned() })
    }
}

fn step_fields(stepped: ReplayedStep) -> StepFields {
    StepFields {
        tool: stepped.tool,
        divergence: (!stepped.differences.is_empty()).then_some(stepped.differences),
        actual_summary: stepped.summary,
    }
}

pub struct ReplayStatus;

#[derive(Debug, Serialize, JsonSchema)]
pub struct ReplayStatusOut {
    replay_id: String,
    position: usize,
    total: usize,
    finished: bool,
    divergences: Vec<Divergence>,
    mode: ReplayMode,
}

impl Output for ReplayStatusOut {}

impl Tool for ReplayStatus {
    type Args = ReplayIdArgs;
    type Out = ReplayStatusOut;
    const META: Meta = Meta {
        name: "replay_status",
        always: true,
        rest: &[(Method::Post, "/api/replay/status")],
        brief: "Progress of a replay, and every difference so far.",
        detail: "Differences are listed with the row that they are about.",
        examples: &[Example { scenario: None, args: r#"{"replay_id":"rep:1"}"#, shows: "nothing made yet" }],
        before_examples: OPEN_REPLAY,
        ..HARNESS
    };

    fn run(cx: &mut Cx, args: ReplayIdArgs, _: Permit) -> Result<ReplayStatusOut> {
        let state = cx.replays().state(args.replay_id.as_str())?;
        Ok(ReplayStatusOut {
            replay_id: args.replay_id.as_str().to_owned(),
            position: state.position,
            total: state.total,
            finished: state.finished,
            divergences: state.divergences,
            mode: state.mode,
        })
    }
}

pub struct ReplayStop;

#[derive(Debug, Serialize, JsonSchema)]
pub struct ReplayStopped {
    stopped: bool,
}

impl Output for ReplayStopped {}

impl Tool for ReplayStop {
    type Args = ReplayIdArgs;
    type Out = ReplayStopped;
    const META: Meta = Meta {
        name: "replay_stop",
        effect: Effect::Session,
        rest: &[(Method::Post, "/api/replay/stop")],
        brief: "End a replay, finished or not.",
        detail: "Its id is not used again.",
        examples: &[Example {
            scenario: None,
            args: r#"{"replay_id":"rep:1"}"#,
            shows: "the replay is over",
        }],
        before_examples: OPEN_REPLAY,
        ..HARNESS
    };

    fn run(cx: &mut Cx, args: ReplayIdArgs, _: Permit) -> Result<ReplayStopped> {
        cx.replays().close(args.replay_id.as_str())?;
        Ok(ReplayStopped { stopped: true })
    }
}

pub const TOOLS: &[Spec] = &[
    Spec::of::<TraceStart>(),
    Spec::of::<TraceStop>(),
    Spec::of::<TraceStatus>(),
    Spec::of::<ReplayStart>(),
    Spec::of::<ReplayStep>(),
    Spec::of::<ReplayStatus>(),
    Spec::of::<ReplayStop>(),
];
