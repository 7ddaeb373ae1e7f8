//! Traces: every call and its result, written while it happens and replayed later.
//!
//! The gate passes every call in when it opens and when it closes; nothing else writes rows. A trace never
//! fails the call it records: if a row cannot be written, the trace ends and the caller gets a warning.

pub mod compare;
mod desktop_state;
pub mod format;
pub mod html;
pub mod reader;
pub mod recording;
pub mod text;
pub mod to_scenario;
mod token_origins;
pub mod writer;

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::budget::{Budget, Meter};
use crate::clock::{Cancel, Clock, lock, millis, timestamp};
use crate::config;
use crate::error::{Error, Result};
use crate::model::Point;
use crate::model::grid::{Cell, Offset};
use crate::observer::{Observer, WindowChoice};
use crate::platform::Shot;
use crate::privacy::arguments::Keeper;
use crate::privacy::redact::Redactor;
use crate::privacy::scrub::{self, Scrub};
use crate::secrets::Secrets;
use crate::session::Session;
use crate::tool::call::{Reply, ReplyBody};
use crate::tool::services::{EndedTrace, StartedTrace, TraceControl, TraceState};
use crate::tool::{Effect, TableEntry, Target, typed};
use desktop_state::Scene;
use format::{
    FORMAT_VERSION, Footer, FooterKind, Header, HeaderKind, ReplySummary, TargetSeen, TokenOrigin, TraceRow,
    WindowSeen,
};
pub use writer::Room;
use writer::TraceFolder;

/// A look that took no longer than this changed nothing; then the windows are not read a second time.
const QUICK: Duration = Duration::from_millis(100);
/// Tokens that a trace remembers the origin of.
const MOST_TOKENS: usize = 4096;

/// The one trace that may be running.
#[derive(Debug)]
pub struct Tracer {
    config: config::Tracing,
    clock: Clock,
    room: Room,
    /// Spares every call the lock while nothing is traced.
    running: AtomicBool,
    slot: Mutex<TraceSlot>,
}

#[derive(Debug, Default)]
enum TraceSlot {
    #[default]
    Idle,
    Running(Trace),
    /// It ended by itself, and nobody has been told by trace_stop yet.
    Failed(EndedTrace),
}

#[derive(Debug)]
struct Trace {
    folder: TraceFolder,
    began: Duration,
    rows: u64,
    /// Where the tokens that replies told can be found, for the arguments that use them.
    told: HashMap<String, TokenOrigin>,
}

/// A call that is being traced.
#[derive(Debug)]
pub struct PendingCall {
    trace_id: String,
    args: Map<String, Value>,
    effect: Effect,
    /// Of the call itself: looking around for the trace is not counted.
    began: Duration,
    ended: Option<Duration>,
    began_at: SystemTime,
    before: Option<Scene>,
    after: Option<Scene>,
    target: Option<Target>,
}

/// What a row is made from beside the call itself.
#[derive(Clone, Copy)]
pub struct Sources<'a> {
    pub observer: &'a Observer,
    pub session: &'a Session,
    pub redactor: &'a Redactor,
    pub secrets: &'a Secrets,
    pub budget: &'a Budget,
}

/// What the gate knows of a call when it closes.
#[derive(Clone, Copy, Debug)]
pub struct Closing<'a> {
    pub step_id: u64,
    pub caller: &'static str,
    pub job_id: Option<&'a str>,
    pub entry: &'a TableEntry,
    pub reply: &'a Reply,
}

impl Tracer {
    pub fn new(config: config::Tracing, clock: Clock) -> Self {
        Self::with_room(config, clock, Room::default())
    }

    pub fn with_room(config: config::Tracing, clock: Clock, room: Room) -> Self {
        Self { config, clock, room, running: AtomicBool::new(false), slot: Mutex::default() }
    }

    fn open(&self, label: Option<String>, started_at: SystemTime) -> std::io::Result<TraceFolder> {
        let mut folder = TraceFolder::create_folder(&self.config.dir, self.room)?;
        let begun = folder.append_row(&Header {
            kind: HeaderKind::Header,
            trace_id: folder.trace_id.clone(),
            label,
            started_at: timestamp(started_at),
            tool_version: FORMAT_VERSION.to_owned(),
        });
        match begun {
            Ok(()) => Ok(folder),
            // A folder without a header would be taken for the latest trace, and could not be read.
            Err(problem) => {
                folder.remove_empty();
                Err(problem)
            }
        }
    }

    fn finish(&self, mut trace: Trace, problem: Option<String>) -> EndedTrace {
        let duration = self.clock.now().saturating_sub(trace.began);
        let footer = trace.folder.append_row(&Footer {
            kind: FooterKind::Footer,
            stopped_at: timestamp(self.clock.wall_time()),
            step_count: trace.rows,
            duration_ms: millis(duration),
        });
        EndedTrace {
            trace_id: trace.folder.trace_id.clone(),
            dir: trace.folder.path.clone(),
            path: trace.folder.lines_path(),
            step_count: trace.rows,
            duration,
            problem: problem
                .or(footer.err().map(|error| format!("the footer could not be written: {error}"))),
        }
    }

    /// A call's place in the running trace, if there is one and the call belongs into it.
    pub fn begin_call(
        &self,
        entry: &TableEntry,
        args: impl FnOnce() -> Map<String, Value>,
    ) -> Option<PendingCall> {
        if !self.running.load(Ordering::Acquire) || !entry.spec.meta.traced {
            return None;
        }
        let TraceSlot::Running(trace) = &*lock(&self.slot) else {
            return None;
        };
        Some(PendingCall {
            trace_id: trace.folder.trace_id.clone(),
            args: args(),
            effect: entry.spec.meta.effect,
            began: self.clock.now(),
            ended: None,
            began_at: self.clock.wall_time(),
            before: None,
            after: None,
            target: None,
        })
    }

    /// Writes the call's row. The error says why the trace has just ended.
    pub fn record_call(
        &self,
        sources: Sources,
        mut pending: PendingCall,
        closing: Closing,
    ) -> Result<(), String> {
        let duration = pending.ended.unwrap_or(self.clock.now()).saturating_sub(pending.began);
        let before =
            pending.before.take().unwrap_or_else(|| Scene::capture_scene(sources.observer, &Cancel::new()));
        let after = pending.after.take();
        let mut slot = lock(&self.slot);
        let TraceSlot::Running(trace) = &mut *slot else {
            return Ok(());
        };
        if trace.folder.trace_id != pending.trace_id {
            return Ok(());
        }
        let (clock, schema) = (&self.clock, closing.entry.schema());
        let moment = CallMoment { sources, clock, schema, pending, before, after, duration };
        let Err(problem) = trace.write(&self.config, &moment, closing) else {
            return Ok(());
        };
        let problem = format!("the trace {} has ended: {problem}", trace.folder.trace_id);
        self.running.store(false, Ordering::Release);
        if let TraceSlot::Running(trace) = std::mem::take(&mut *slot) {
            *slot = TraceSlot::Failed(self.finish(trace, Some(problem.clone())));
        }
        Err(problem)
    }
}

impl TraceControl for Tracer {
    fn start(&self, label: Option<String>) -> Result<StartedTrace> {
        let mut slot = lock(&self.slot);
        if let TraceSlot::Running(trace) = &*slot {
            return Err(Error::bad_request("a trace is already active; trace_stop ends it")
                .with("trace_id", trace.folder.trace_id.as_str()));
        }
        let started_at = self.clock.wall_time();
        let folder = self.open(label, started_at).map_err(|problem| {
            Error::internal(format!("the trace cannot be started: {problem}"))
                .with("dir", self.config.dir.display().to_string())
        })?;
        let started =
            StartedTrace { trace_id: folder.trace_id.clone(), started_at, dir: folder.path.clone() };
        *slot = TraceSlot::Running(Trace { folder, began: self.clock.now(), rows: 0, told: HashMap::new() });
        self.running.store(true, Ordering::Release);
        Ok(started)
    }

    fn stop(&self) -> Result<EndedTrace> {
        let mut slot = lock(&self.slot);
        self.running.store(false, Ordering::Release);
        match std::mem::take(&mut *slot) {
            TraceSlot::Running(trace) => Ok(self.finish(trace, None)),
            TraceSlot::Failed(ended) => Ok(ended),
            TraceSlot::Idle => Err(Error::bad_request("no active trace")),
        }
    }

    fn status(&self) -> TraceState {
        match &*lock(&self.slot) {
            TraceSlot::Idle => TraceState::default(),
            TraceSlot::Running(trace) => TraceState {
                active_trace_id: Some(trace.folder.trace_id.clone()),
                step_count: trace.rows,
                dir: Some(trace.folder.path.clone()),
                problem: None,
            },
            TraceSlot::Failed(ended) => TraceState {
                active_trace_id: None,
                step_count: ended.step_count,
                dir: Some(ended.dir.clone()),
                problem: ended.problem.clone(),
            },
        }
    }
}

/// A server that goes away says in the file that it did.
impl Drop for Tracer {
    fn drop(&mut self) {
        let slot = std::mem::take(self.slot.get_mut().unwrap_or_else(std::sync::PoisonError::into_inner));
        if let TraceSlot::Running(trace) = slot {
            self.finish(trace, None);
        }
    }
}

impl PendingCall {
    pub fn look_before(&mut self, observer: &Observer, clock: &Clock, cancel: &Cancel) {
        self.before = Some(Scene::capture_scene(observer, cancel));
        self.began = clock.now();
    }

    pub fn note_target(&mut self, target: Option<&Target>) {
        self.target = target.cloned();
    }

    /// What there is after the call. A quick look has changed nothing and is not paid for twice.
    pub fn look_after(&mut self, observer: &Observer, clock: &Clock) {
        let ended = clock.now();
        self.ended = Some(ended);
        let quick = ended.saturating_sub(self.began) < QUICK;
        if self.effect != Effect::Observe || !quick {
            self.after = Some(Scene::capture_scene(observer, &Cancel::new()));
        }
    }
}

/// Everything that is known of a call when its row is written.
struct CallMoment<'a> {
    sources: Sources<'a>,
    clock: &'a Clock,
    schema: &'a Value,
    pending: PendingCall,
    before: Scene,
    after: Option<Scene>,
    duration: Duration,
}

impl CallMoment<'_> {
    fn scene_after(&self) -> &Scene {
        self.after.as_ref().unwrap_or(&self.before)
    }

    /// Whether the text that the call types must not be stored.
    fn hides_typed(&self) -> bool {
        if !self.pending.effect.acts() {
            return false;
        }
        let args = &self.pending.args;
        let into_private = match &self.pending.target {
            Some(target) => typed::is_private(target, args),
            None => self.before.focus_is_private() || self.scene_after().focus_is_private(),
        };
        into_private || (typed::moves_on(args) && self.before.has_secret_near_focus())
    }

    /// Where on the screen the pixel or the cell of a picture is that the call names, or that it drags from.
    fn point_in_picture(&self) -> Option<Point> {
        let args = &self.pending.args;
        let args = args.get("from").and_then(Value::as_object).unwrap_or(args);
        let id = args.get("image").or_else(|| args.get("image_id"))?.as_str()?;
        let image = self.sources.session.images.get(id, self.clock.now())?;
        let number = |name: &str| i32::try_from(args.get(name)?.as_i64()?).ok();
        if let (Some(x), Some(y)) = (number("x"), number("y")) {
            return image.on_screen(Point { x, y });
        }
        let cell = |name: &str| u32::try_from(number(name)?).ok();
        let offset = |name: &str| args.get(name).and_then(Value::as_f64).unwrap_or(0.0);
        let cell = Cell { row: cell("row")?, col: cell("col")? };
        image.cell_on_screen(cell, Offset { dx: offset("dx"), dy: offset("dy") })
    }

    /// The window of the pictures: the one that was acted on or named, else the focused one.
    fn pictured_window(&self) -> Option<String> {
        let target = self.pending.target.as_ref().map(|target| target.window_uid().to_owned());
        let named = || self.pending.args.get("window_uid").and_then(Value::as_str).map(str::to_owned);
        target.or_else(named).or_else(|| self.scene_after().focused_uid().map(str::to_owned))
    }
}

impl Trace {
    fn write(
        &mut self,
        config: &config::Tracing,
        moment: &CallMoment,
        closing: Closing,
    ) -> Result<(), String> {
        let sequence = self.rows + 1;
        let mut row =
            self.build_row(config, moment, closing, sequence).map_err(|problem| problem.to_string())?;
        if picture_is_due(config.screenshot_every_n_actions, sequence) {
            self.take_pictures(&mut row, moment).map_err(|problem| problem.to_string())?;
        }
        self.folder.append_row(&row).map_err(|problem| problem.to_string())?;
        self.rows = sequence;
        self.remember_tokens(closing.reply);
        Ok(())
    }

    fn build_row(
        &mut self,
        config: &config::Tracing,
        moment: &CallMoment,
        closing: Closing,
        sequence: u64,
    ) -> std::io::Result<TraceRow> {
        let scrub = Scrub::of(moment.sources.redactor);
        let keeper = Keeper {
            redactor: moment.sources.redactor,
            redact_keys: &config.redact_keys,
            schema: moment.schema,
            hides_typed: moment.hides_typed(),
            secrets: moment.sources.secrets,
            max_bytes: config.max_args_bytes,
            for_person: false,
        };
        let after = moment.after.as_ref().filter(|after| after.differs_from(&moment.before));
        Ok(TraceRow {
            step_id: closing.step_id,
            trace_seq: sequence,
            ts: timestamp(moment.pending.began_at),
            caller: closing.caller.to_owned(),
            job_id: closing.job_id.map(str::to_owned),
            tool: closing.entry.spec.meta.name.to_owned(),
            args: keeper.kept(&moment.pending.args),
            result_summary: scrub_value(&ReplySummary::of(closing.reply), &scrub)?,
            tree_hash_before: moment.before.tree_hash(),
            tree_hash_after: moment.scene_after().tree_hash(),
            duration_ms: millis(moment.duration),
            suspicious: closing.reply.suspicious,
            target: moment
                .pending
                .target
                .as_ref()
                .map(|target| describe_target(target, &scrub))
                .transpose()?,
            point: moment.point_in_picture(),
            refs: token_origins::origins(&moment.pending.args, &self.told),
            windows_before: self.write_windows(&moment.before, &scrub)?,
            windows_after: after.map(|after| self.write_windows(after, &scrub)).transpose()?,
            ..TraceRow::default()
        })
    }

    fn write_windows(&mut self, scene: &Scene, scrub: &Scrub) -> std::io::Result<Vec<WindowSeen>> {
        scene
            .windows
            .iter()
            .map(|(window, view)| {
                let tree = view.as_ref().map(|view| self.folder.keep_tree(view, scrub)).transpose()?;
                Ok(WindowSeen {
                    window_uid: window.uid.clone(),
                    title: scrub.text(&window.title).into_owned(),
                    process: scrub.text(&window.process).into_owned(),
                    pid: window.pid,
                    bounds: window.bounds,
                    focused: window.focused,
                    tree,
                })
            })
            .collect()
    }

    /// Pictures that cannot be taken are said in the row; only one that cannot be stored ends the trace.
    fn take_pictures(&mut self, row: &mut TraceRow, moment: &CallMoment) -> std::io::Result<()> {
        let observer = moment.sources.observer;
        let full = take_screenshot(moment, || observer.screen_picture(&Cancel::new()));
        let window = take_screenshot(moment, || {
            let choice = WindowChoice { uid: moment.pictured_window(), ..WindowChoice::default() };
            observer.window_picture(&observer.resolve_window(&choice)?, &Cancel::new())
        });
        match full {
            Ok(png) => {
                row.screenshot_full_ref = Some(self.folder.keep_picture(row.trace_seq, "full", &png)?);
            }
            Err(problem) => row.screenshot_error = Some(told_problem(moment, &problem)),
        }
        match window {
            Ok(png) => {
                row.screenshot_window_ref = Some(self.folder.keep_picture(row.trace_seq, "window", &png)?);
            }
            Err(problem) => row.screenshot_error = Some(told_problem(moment, &problem)),
        }
        Ok(())
    }

    fn remember_tokens(&mut self, reply: &Reply) {
        for (path, token) in ReplyTokens::of(reply).token_pointers() {
            if self.told.len() >= MOST_TOKENS {
                self.told.clear();
            }
            self.told.entry(token).or_insert(TokenOrigin { trace_seq: self.rows, path });
        }
    }
}

fn picture_is_due(every: u32, sequence: u64) -> bool {
    every > 0 && (sequence == 1 || sequence.is_multiple_of(u64::from(every)))
}

/// Pictures for the trace count like those that a caller asks for.
fn take_screenshot(moment: &CallMoment, take: impl FnOnce() -> Result<Shot>) -> Result<Vec<u8>> {
    let reservation = moment.sources.budget.reserve(&[Meter::Screenshot], moment.clock.now())?;
    // A platform that panics here must not cost the call, which is over.
    let shot = catch_unwind(AssertUnwindSafe(take))
        .unwrap_or_else(|_| Err(Error::internal("taking the screenshot failed inside the server")))?;
    reservation.commit();
    shot.picture.to_png().map_err(|problem| Error::internal(problem.to_string()))
}

fn told_problem(moment: &CallMoment, problem: &Error) -> String {
    Scrub::of(moment.sources.redactor).text(&problem.to_string()).into_owned()
}

fn describe_target(target: &Target, scrub: &Scrub) -> std::io::Result<TargetSeen> {
    let seen = TargetSeen {
        window_uid: target.window_uid().to_owned(),
        element_id: target.element_id(),
        selector: target.selector(),
        role: target.shown_role().name().to_owned(),
        name: target.shown_name().to_owned(),
    };
    scrub_value(&seen, scrub)
}

/// The value as it may leave.
fn scrub_value<T: serde::Serialize + serde::de::DeserializeOwned>(
    value: &T,
    scrub: &Scrub,
) -> std::io::Result<T> {
    let json = scrub::to_json_value(value, scrub).map_err(std::io::Error::other)?;
    Ok(serde_json::from_value(json)?)
}

impl ReplySummary {
    /// Of the reply as it leaves, which has been redacted.
    pub fn of(reply: &Reply) -> ReplySummary {
        read_reply(reply)
    }
}

/// The tokens that a reply told, which a later call may name.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct ReplyTokens {
    tree_token: Option<String>,
    snapshot_id: Option<String>,
    confirm_token: Option<String>,
    image_id: Option<String>,
    frame_id: Option<String>,
    observation: Option<Box<ReplyTokens>>,
}

impl ReplyTokens {
    pub fn of(reply: &Reply) -> ReplyTokens {
        read_reply(reply)
    }

    /// Each with the JSON pointer to where it stands.
    pub fn token_pointers(self) -> Vec<(String, String)> {
        let inner = self.observation.and_then(|inner| inner.tree_token);
        [
            ("/tree_token", self.tree_token),
            ("/snapshot_id", self.snapshot_id),
            ("/confirm_token", self.confirm_token),
            ("/image_id", self.image_id),
            ("/frame_id", self.frame_id),
            ("/observation/tree_token", inner),
        ]
        .into_iter()
        .filter_map(|(path, token)| Some((path.to_owned(), token?)))
        .collect()
    }
}

/// Reads some keys of a reply and passes over the rest, which may be a large tree.
fn read_reply<T: serde::de::DeserializeOwned + Default>(reply: &Reply) -> T {
    match &reply.body {
        ReplyBody::Written(object) => serde_json::from_str(&object.to_string()).unwrap_or_default(),
        ReplyBody::Data(fields) => serde_json::from_value(Value::Object(fields.clone())).unwrap_or_default(),
    }
}
