//! Recorded calls, made again. Each goes through the gate like any other: lists, budgets and consent
//! apply, and what they refuse is refused.
//!
//! Both modes make the calls. `execute` leaves it at that; `verify` also compares what each tool declares
//! as comparable with what was recorded. A secret that the trace does not hold is never typed as its
//! placeholder: the step fails and says what to supply.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Map, Value};

use super::{Call, Origin, Reply};
use crate::clock::lock;
use crate::config::limits;
use crate::error::{Error, Fact, Kind, Result};
use crate::model::{InputAim, Window};
use crate::privacy::arguments::{REDACTED, TRUNCATED};
use crate::tool::services::{
    Difference, Divergence, OnDivergence, OpenedReplay, ReplayControl, ReplayMode, ReplayState, ReplayedStep,
};
use crate::tool::{Cx, Meta, Table, args};
use crate::trace::ReplyTokens;
use crate::trace::format::{ReplySummary, TraceRow, WindowSeen};
use crate::trace::reader::{self, Recording};

/// The replays that are open. Their ids never repeat.
#[derive(Debug, Default)]
pub struct Replays {
    last: AtomicU64,
    open: Mutex<BTreeMap<String, Arc<Replay>>>,
}

#[derive(Debug)]
struct Replay {
    id: String,
    mode: ReplayMode,
    on_divergence: OnDivergence,
    rows: Vec<TraceRow>,
    /// Held by the one step that is being made, which may take long.
    turn: Mutex<()>,
    progress: Mutex<Progress>,
}

#[derive(Debug, Default)]
struct Progress {
    position: usize,
    stopped: bool,
    divergences: Vec<Divergence>,
    /// The tokens that this run's replies told, by row and place.
    fresh: HashMap<(u64, String), String>,
}

impl ReplayControl for Replays {
    fn open(
        &self,
        cx: &Cx,
        path: &str,
        mode: ReplayMode,
        on_divergence: OnDivergence,
    ) -> Result<OpenedReplay> {
        let recording = reader::read(&cx.config().tracing.dir, path).map_err(|problem| {
            Error::bad_request(format!("could not load trace: {problem}; tracing.dir names the folder"))
                .with("path", path)
        })?;
        refuse_unrecorded(cx.tools(), &recording.rows)?;
        let (label, torn, has_footer) =
            (recording.header.label.clone(), recording.torn, recording.footer.is_some());
        let replay = self.add(recording, mode, on_divergence)?;
        Ok(OpenedReplay {
            replay_id: replay.id.clone(),
            total: replay.total_steps(),
            label,
            torn,
            has_footer,
        })
    }

    fn step(
        &self,
        cx: &Cx,
        id: &str,
        supply: &Map<String, Value>,
    ) -> Result<(Option<ReplayedStep>, ReplayState)> {
        let replay = self.get(id)?;
        let stepped = replay.next_call(cx, supply)?;
        Ok((stepped, replay.state()))
    }

    fn state(&self, id: &str) -> Result<ReplayState> {
        Ok(self.get(id)?.state())
    }

    fn close(&self, id: &str) -> Result<()> {
        let replay = lock(&self.open).remove(id).ok_or_else(|| unknown_replay(id))?;
        // A step that is being made is its last.
        lock(&replay.progress).stopped = true;
        Ok(())
    }
}

impl Replays {
    fn add(
        &self,
        recording: Recording,
        mode: ReplayMode,
        on_divergence: OnDivergence,
    ) -> Result<Arc<Replay>> {
        let mut open = lock(&self.open);
        if open.len() >= limits::REPLAYS {
            let known: Vec<&str> = open.keys().map(String::as_str).collect();
            return Err(Error::bad_request(format!(
                "{} replays are open; end one with replay_stop first",
                open.len()
            ))
            .with("open", known));
        }
        let id = format!("rep:{}", self.last.fetch_add(1, Ordering::Relaxed) + 1);
        let replay = Arc::new(Replay {
            id: id.clone(),
            mode,
            on_divergence,
            rows: recording.rows,
            turn: Mutex::new(()),
            progress: Mutex::default(),
        });
        open.insert(id, replay.clone());
        Ok(replay)
    }

    fn get(&self, id: &str) -> Result<Arc<Replay>> {
        lock(&self.open).get(id).cloned().ok_or_else(|| unknown_replay(id))
    }
}

fn unknown_replay(id: &str) -> Error {
    Error::bad_request("unknown replay_id").with("replay_id", id)
}

/// Traces never hold calls about traces and replays. A file that does was made by hand, and would let a
/// replay step itself.
fn refuse_unrecorded(tools: &Table, rows: &[TraceRow]) -> Result<()> {
    let recorded = |row: &&TraceRow| tools.find_tool(&row.tool).is_none_or(|entry| entry.spec.meta.traced);
    match rows.iter().find(|row| !recorded(row)) {
        Some(row) => Err(Error::bad_request(format!(
            "row {} calls {}, which is never recorded, so this is not a trace of this program",
            row.trace_seq, row.tool
        ))),
        None => Ok(()),
    }
}

impl Replay {
    fn total_steps(&self) -> usize {
        self.rows.len()
    }

    fn state(&self) -> ReplayState {
        let progress = lock(&self.progress);
        ReplayState {
            mode: self.mode,
            position: progress.position,
            total: self.total_steps(),
            finished: progress.stopped || progress.position >= self.total_steps(),
            divergences: progress.divergences.clone(),
        }
    }

    /// Makes the next call; `None` when there is none left. A step that fails has not been made.
    fn next_call(&self, cx: &Cx, supply: &Map<String, Value>) -> Result<Option<ReplayedStep>> {
        let _turn = lock(&self.turn);
        let state = self.state();
        let row = match self.rows.get(state.position) {
            Some(row) if !state.finished => row,
            _ => return Ok(None),
        };
        let mut args = self.current_arguments(cx, row, supply)?;
        let warning = name_keyboard_window(cx, row, &mut args)?;
        let call = Call { tool: row.tool.clone(), args: Value::Object(args), origin: Origin::Replay };
        let reply = cx.caller().pass_replayed(call, cx.scope, cx.cancel);
        if reply.error == Some(Kind::Cancelled) {
            return Err(Error::cancelled());
        }
        let summary = ReplySummary::of(&reply);
        let differences = match self.mode {
            ReplayMode::Execute => Vec::new(),
            ReplayMode::Verify => {
                let differ =
                    diff_summaries(verified_paths(cx.tools(), &row.tool), &row.result_summary, &summary);
                differ.into_iter().filter(|difference| !is_no_difference(difference, &reply)).collect()
            }
        };
        self.note_outcome(row, &reply, &differences);
        let summary = serde_json::to_value(summary).unwrap_or_default();
        Ok(Some(ReplayedStep { tool: row.tool.clone(), differences, summary, warning }))
    }

    fn note_outcome(&self, row: &TraceRow, reply: &Reply, differences: &[Difference]) {
        let mut progress = lock(&self.progress);
        progress.position += 1;
        for (path, token) in ReplyTokens::of(reply).token_pointers() {
            progress.fresh.insert((row.trace_seq, path), token);
        }
        if differences.is_empty() {
            return;
        }
        progress.stopped |= self.on_divergence == OnDivergence::Stop;
        progress.divergences.push(Divergence {
            step_id: row.step_id,
            trace_seq: row.trace_seq,
            tool: row.tool.clone(),
            differences: differences.to_vec(),
        });
    }

    /// The recorded arguments as they mean the same today.
    fn current_arguments(
        &self,
        cx: &Cx,
        row: &TraceRow,
        supply: &Map<String, Value>,
    ) -> Result<Map<String, Value>> {
        if row.args.get(TRUNCATED) == Some(&Value::Bool(true)) {
            return supplied_whole(row, supply);
        }
        let mut args = Value::Object(by_selector(cx.tools(), row)?);
        self.renew_tokens(row, &mut args);
        renew_windows(&mut args, &row.windows_before, &cx.observer().windows().unwrap_or_default());
        match args {
            Value::Object(args) => {
                let lacking = lacking_secrets(cx, row);
                fill_secrets(row, args, supply, &lacking)
            }
            _ => Ok(Map::new()),
        }
    }

    fn renew_tokens(&self, row: &TraceRow, args: &mut Value) {
        let progress = lock(&self.progress);
        for (pointer, origin) in &row.refs {
            let fresh = progress.fresh.get(&(origin.trace_seq, origin.path.clone()));
            if let (Some(place), Some(fresh)) = (args.pointer_mut(pointer), fresh) {
                *place = Value::from(fresh.as_str());
            }
        }
    }
}

/// A ref is a word of its own session; the element that it stood for was recorded with its selector. Where it was
/// not, an input must not go to whatever has that ref today.
fn by_selector(tools: &Table, row: &TraceRow) -> Result<Map<String, Value>> {
    let mut args = row.args.clone();
    if let (Some(target), true) = (&row.target, args.contains_key(REF)) {
        args.remove(REF);
        args.insert("selector".to_owned(), target.selector.as_str().into());
        args.insert("window_uid".to_owned(), target.window_uid.as_str().into());
    }
    let acts = tools.find_tool(&row.tool).is_some_and(|entry| entry.spec.meta.effect.acts());
    if acts && args.iter().any(|(name, value)| name == REF || value.get(REF).is_some()) {
        return Err(Error::bad_request(format!(
            "row {} names an element by a ref of its own session, and the trace does not say which element that was",
            row.trace_seq
        )));
    }
    Ok(args)
}

const REF: &str = "ref";

/// Uids differ from run to run. One that no longer exists is taken to mean the window that looks the
/// same: of the same program and title, the n-th of its kind.
fn renew_windows(args: &mut Value, recorded: &[WindowSeen], windows: &[Window]) {
    match args {
        Value::String(text) => {
            if let Some(uid) = same_window(text, recorded, windows) {
                *text = uid;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| renew_windows(item, recorded, windows)),
        Value::Object(fields) => {
            fields.values_mut().for_each(|value| renew_windows(value, recorded, windows));
        }
        _ => {}
    }
}

/// How long a window may take to come that an earlier row opened.
const WINDOW_TIME: Duration = Duration::from_secs(1);
const WINDOW_UID: &str = "window_uid";

/// Keys go to the window that had the focus when they were recorded, never to whatever has it today. A trace that does not
/// tell which that was is older, or of another program, and then the caller is told.
fn name_keyboard_window(cx: &Cx, row: &TraceRow, args: &mut Map<String, Value>) -> Result<Option<String>> {
    let input = cx.tools().find_tool(&row.tool).and_then(|entry| entry.spec.meta.input);
    let is_for_focus = input.is_some_and(|input| matches!(input.aim, InputAim::Keyboard));
    if !is_for_focus || args.contains_key(WINDOW_UID) {
        return Ok(None);
    }
    let Some(recorded) = row.windows_before.iter().find(|window| window.focused) else {
        return Ok(Some(format!(
            "row {} has no window in the trace: its keys went to whatever has the focus",
            row.trace_seq
        )));
    };
    args.insert(WINDOW_UID.to_owned(), await_recorded_window(cx, row, recorded)?.into());
    Ok(None)
}

/// The window of today that is meant, once it is there.
fn await_recorded_window(cx: &Cx, row: &TraceRow, recorded: &WindowSeen) -> Result<String> {
    let deadline = cx.clock().now() + WINDOW_TIME;
    loop {
        let generation = cx.observer().generation()?;
        if let Some(uid) = window_of_today(recorded, &row.windows_before, &cx.observer().windows()?) {
            return Ok(uid);
        }
        let left = deadline.saturating_sub(cx.clock().now());
        if left.is_zero() {
            let message = format!(
                "the keys were for the window '{}' of {}, and it is not open; nothing was typed",
                recorded.title, recorded.process
            );
            return Err(row_error(row, message));
        }
        cx.observer().await_calm(generation, left, cx.cancel)?;
    }
}

/// The same window, one that looks the same, or the focused one if it is of the same program: a title may be otherwise.
fn window_of_today(recorded: &WindowSeen, before: &[WindowSeen], windows: &[Window]) -> Option<String> {
    let uid = &recorded.window_uid;
    let same = windows.iter().find(|window| window.uid == *uid).map(|window| window.uid.clone());
    let of_program = || windows.iter().find(|window| window.focused && window.process == recorded.process);
    same.or_else(|| same_window(uid, before, windows))
        .or_else(|| of_program().map(|window| window.uid.clone()))
}

fn same_window(uid: &str, recorded: &[WindowSeen], windows: &[Window]) -> Option<String> {
    if windows.iter().any(|window| window.uid == uid) {
        return None;
    }
    let index = recorded.iter().position(|window| window.window_uid == uid)?;
    let wanted = &recorded[index];
    let alike = |window: &&WindowSeen| (&window.process, &window.title) == (&wanted.process, &wanted.title);
    let number = recorded[..index].iter().filter(alike).count();
    windows
        .iter()
        .filter(|window| (&window.process, &window.title) == (&wanted.process, &wanted.title))
        .nth(number)
        .map(|window| window.uid.clone())
}

/// The arguments whose secret this server was not given.
fn lacking_secrets(cx: &Cx, row: &TraceRow) -> Vec<String> {
    let schema = cx.tools().find_tool(&row.tool).map(|entry| entry.schema()).unwrap_or(&Value::Null);
    let lacks = |name: &str, value: &Value| {
        args::named_secret(schema, name, value).is_some_and(|secret| !cx.caller().knows_secret(secret))
    };
    row.args.iter().filter(|(name, value)| lacks(name, value)).map(|(name, _)| name.clone()).collect()
}

/// Puts what the caller supplies where the trace holds nothing, and refuses to go on while something is
/// missing or would be changed.
fn fill_secrets(
    row: &TraceRow,
    mut args: Map<String, Value>,
    supply: &Map<String, Value>,
    lacking: &[String],
) -> Result<Map<String, Value>> {
    let missing: Vec<String> = args
        .iter()
        .filter(|(name, value)| holds_placeholder(name, value) || lacking.contains(name))
        .map(|(name, _)| name.clone())
        .collect();
    if let Some(extra) = supply.keys().find(|name| !missing.contains(name)) {
        return Err(row_error(row, format!("'{extra}' is in the recording, so it cannot be supplied"))
            .with("field", "supply"));
    }
    let needed: Vec<&str> =
        missing.iter().map(String::as_str).filter(|name| !supply.contains_key(*name)).collect();
    if !needed.is_empty() {
        let why = if needed.iter().all(|name| lacking.iter().any(|lacking| lacking == name)) {
            "names a secret that this server does not have"
        } else {
            "was recorded without its secret"
        };
        let message = format!(
            "{} {why}; replay_step takes it as supply:{{{}}}, and replay_stop ends the replay",
            needed.join(" and "),
            needed.iter().map(|name| format!("{name:?}:…")).collect::<Vec<_>>().join(",")
        );
        return Err(row_error(row, message)
            .with("needs_secret", needed.clone())
            .beside("needs_secret", needed));
    }
    args.extend(supply.clone());
    Ok(args)
}

fn holds_placeholder(name: &str, value: &Value) -> bool {
    name == REDACTED
        || match value {
            Value::String(text) => text == REDACTED,
            Value::Array(items) => items.iter().any(|item| holds_placeholder("", item)),
            Value::Object(fields) => fields.iter().any(|(name, value)| holds_placeholder(name, value)),
            _ => false,
        }
}

fn supplied_whole(row: &TraceRow, supply: &Map<String, Value>) -> Result<Map<String, Value>> {
    if !supply.is_empty() {
        return Ok(supply.clone());
    }
    let message = "the arguments were too long to be recorded; replay_step takes all of them as supply, and \
                   replay_stop ends the replay";
    Err(row_error(row, message.to_owned()).with("needs_args", true).beside("needs_args", true))
}

fn row_error(row: &TraceRow, problem: String) -> Error {
    Error::bad_request(format!("row {} ({}): {problem}", row.trace_seq, row.tool))
        .with("trace_seq", row.trace_seq)
        .with("tool", Fact::from(row.tool.as_str()))
}

fn verified_paths(tools: &Table, tool: &str) -> &'static [&'static str] {
    tools.find_tool(tool).map_or(Meta::DEFAULT.verify, |entry| entry.spec.meta.verify)
}

/// Where the two differ. What both leave out is equal.
fn diff_summaries(paths: &[&str], want: &ReplySummary, got: &ReplySummary) -> Vec<Difference> {
    let [want, got] = [want, got].map(|summary| serde_json::to_value(summary).unwrap_or_default());
    paths
        .iter()
        .map(|path| Difference {
            path: (*path).to_owned(),
            want: value_at(&want, path),
            got: value_at(&got, path),
        })
        .filter(|difference| difference.want != difference.got)
        .collect()
}

/// What was not recorded cannot differ. Recorders that tell `changed` by the hash alone leave out what it does not
/// have, such as the focus: then the hashes are compared.
fn is_no_difference(difference: &Difference, reply: &Reply) -> bool {
    match difference.path.as_str() {
        "width" | "height" => difference.want.is_null(),
        "changed" => {
            let hashes = read_hashes(reply);
            hashes.is_some_and(|[before, after]| difference.want == Value::Bool(before != after))
        }
        _ => false,
    }
}

fn read_hashes(reply: &Reply) -> Option<[String; 2]> {
    let reply: Value = serde_json::from_str(&reply.text()).ok()?;
    let hash = |moment: &str| Some(reply.get(moment)?.get("tree_hash")?.as_str()?.to_owned());
    Some([hash("before")?, hash("after")?])
}

fn value_at(summary: &Value, path: &str) -> Value {
    let plain = path.strip_suffix(">0");
    let value = plain.unwrap_or(path).split('.').try_fold(summary, |value, key| value.get(key));
    match (plain, value) {
        (Some(_), Some(number)) => Value::Bool(number.as_f64().is_some_and(|number| number > 0.0)),
        (_, value) => value.cloned().unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Rect;
    use serde_json::json;

    fn check_difference(path: &str, want: Value, got: Value, expected: Value) {
        let [want, got] = [want, got].map(|value| serde_json::from_value(value).unwrap());
        let found = diff_summaries(&[path], &want, &got);
        assert_eq!(serde_json::to_value(found).unwrap(), expected, "{path}");
    }

    #[test]
    fn only_what_is_named_is_compared() {
        check_difference("ok", json!({"ok": true, "count": 1}), json!({"ok": true, "count": 2}), json!([]));
        check_difference("count", json!({}), json!({}), json!([]));
        check_difference(
            "error.code",
            json!({"ok": true}),
            json!({"error": {"code": "WindowGone"}}),
            json!([{"path": "error.code", "want": null, "got": "WindowGone"}]),
        );
    }

    #[test]
    fn a_path_may_ask_only_whether_there_is_any() {
        let path = "ambiguous_matches>0";
        let matches = |number: u32| json!({"ambiguous_matches": number});
        check_difference(path, matches(2), matches(7), json!([]));
        check_difference(path, matches(0), matches(7), json!([{"path": path, "want": false, "got": true}]));
    }

    fn seen(uid: &str, title: &str) -> WindowSeen {
        WindowSeen { window_uid: uid.to_owned(), title: title.to_owned(), ..WindowSeen::default() }
    }

    fn window(uid: &str, title: &str) -> Window {
        Window {
            uid: uid.to_owned(),
            handle: String::new(),
            title: title.to_owned(),
            process: String::new(),
            pid: 0,
            bounds: Rect::default(),
            focused: false,
            minimized: false,
            url: None,
        }
    }

    #[test]
    fn windows_are_known_again_by_program_title_and_number() {
        let recorded = [seen("a", "One"), seen("b", "Two"), seen("c", "Two")];
        let windows = [window("z", "Two"), window("y", "Two"), window("x", "One"), window("keep", "k")];
        let mut args = json!({"window_uid": "c", "list": [{"uid": "a"}, "b", "keep", "else"]});
        renew_windows(&mut args, &recorded, &windows);
        assert_eq!(args, json!({"window_uid": "y", "list": [{"uid": "x"}, "z", "keep", "else"]}));
    }

    #[test]
    fn keys_go_to_the_window_that_was_recorded_or_to_its_program() {
        let recorded = [seen("a", "One"), WindowSeen { focused: true, ..seen("b", "Two") }];
        let check = |windows: &[Window], expected: Option<&str>| {
            assert_eq!(window_of_today(&recorded[1], &recorded, windows).as_deref(), expected);
        };
        check(&[window("b", "Other")], Some("b"));
        check(&[window("x", "One"), window("y", "Two")], Some("y"));
        check(&[Window { focused: true, ..window("z", "Two*") }], Some("z"));
        let foreign = Window { focused: true, process: "else".to_owned(), ..window("z", "Two*") };
        check(&[foreign, window("x", "One")], None);
    }

    fn check_fill(args: Value, supply: Value, expected: &str) {
        check_fill_lacking(args, supply, &[], expected);
    }

    fn check_fill_lacking(args: Value, supply: Value, lacking: &[String], expected: &str) {
        let row = TraceRow { args: args.as_object().unwrap().clone(), ..TraceRow::default() };
        let filled = fill_secrets(&row, row.args.clone(), supply.as_object().unwrap(), lacking);
        let got = filled.map_or_else(|error| error.message, |args| Value::Object(args).to_string());
        assert!(got.contains(expected), "{args} with {supply} gave {got}");
    }

    #[test]
    fn placeholders_are_filled_or_refused() {
        check_fill(json!({"text": REDACTED}), json!({}), "supply:{\"text\":…}");
        check_fill(json!({"a": [{"b": REDACTED}]}), json!({}), "a was recorded without its secret");
        check_fill(json!({"text": REDACTED}), json!({"text": "x"}), "{\"text\":\"x\"}");
        check_fill(json!({"text": "y"}), json!({"text": "x"}), "'text' is in the recording");
        check_fill(json!({"text": "y"}), json!({}), "{\"text\":\"y\"}");
        let (args, lacking) = (json!({"text": {"secret": "BANK"}, "x": 1}), ["text".to_owned()]);
        check_fill_lacking(
            args.clone(),
            json!({}),
            &lacking,
            "text names a secret that this server does not have",
        );
        check_fill_lacking(args.clone(), json!({"text": "z"}), &lacking, "{\"text\":\"z\",\"x\":1}");
        check_fill(args, json!({"text": "z"}), "'text' is in the recording");
    }
}
