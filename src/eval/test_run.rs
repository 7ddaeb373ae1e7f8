//! Runs tests: each on a desk of its own, step by step through `act`, or as a replay that is compared with its recording.
//! Every run is traced; the trace of one that fails is kept, with its page.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::desk::{DeskBuilder, PlannedDesk};
use super::judge::failed_predicates;
use super::report::{CaseReport, EvalReport, RunReport, RunUse};
use super::test_file::{TestCase, TestFile, TestWork};
use crate::app::App;
use crate::clock::{Cancel, Clock, millis, timestamp};
use crate::config::Loaded;
use crate::config::limits::ACT_STEPS;
use crate::error::Kind;
use crate::gate::{Call, Origin, Reply};
use crate::privacy::untrusted::clean_text;
use crate::random::random_token;
use crate::text::shorten;
use crate::trace::format::{FILE_NAME, TraceRow};
use crate::trace::reader;
use crate::trace::recording::LoadedTrace;
use crate::trace::{html, text};

/// How long an element of a step may take to come.
const ELEMENT_TIME: Duration = Duration::from_secs(5);
const LOOK_AGAIN: Duration = Duration::from_millis(100);
/// When the expectations at the end are judged: at once, and again after each of these.
const JUDGED_AFTER: [u64; 6] = [100, 200, 400, 500, 800, 1_000];
/// As many characters of a selector or an argument fit on the line of a step.
const SUBJECT_WIDTH: usize = 80;
const LONGEST_SLUG: usize = 60;
const PAGE: &str = "page.html";
/// What a step says it is about, the first that it has.
const SUBJECTS: [&str; 8] = ["selector", "ref", "keys", "option_name", "url", "title", "program", "name"];

#[derive(Clone, Debug)]
pub struct TestOptions {
    /// How often a test that fails is run again.
    pub retries: u32,
    /// A recording that differs is replaced.
    pub update: bool,
    /// Browsers with a window.
    pub headful: bool,
    /// Where traces of failed runs are kept.
    pub artifacts: PathBuf,
}

/// What a watcher of tests is told.
#[derive(Debug)]
pub enum TestProgress<'a> {
    File(&'a Path),
    Started { test: &'a str, attempt: u32 },
    Step(&'a TestStep),
    Ended { test: &'a str, run: &'a RunReport, again: bool },
}

/// A step that was made, or an expectation that was judged.
#[derive(Clone, Debug, PartialEq)]
pub struct TestStep {
    /// Its number from 1; nothing for the expectations at the end.
    pub number: Option<usize>,
    pub what: String,
    pub problem: Option<String>,
}

impl TestStep {
    pub fn line(&self) -> String {
        let mark = if self.problem.is_some() { "FAIL" } else { "ok" };
        let number = self.number.map(|number| number.to_string()).unwrap_or_default();
        let problem = self.problem.as_ref().map(|problem| format!(": {problem}")).unwrap_or_default();
        format!("{mark:<4} {number:>3} {}{problem}", self.what)
    }
}

pub struct TestRunner<'a> {
    pub options: TestOptions,
    /// The settings of every desk.
    pub loaded: &'a Loaded,
    pub build_desk: DeskBuilder<'a>,
    pub progress: &'a dyn Fn(&TestProgress),
    pub cancel: &'a Cancel,
}

/// The steps of a run, told as they are made.
struct StepLog<'a> {
    progress: &'a dyn Fn(&TestProgress),
    lines: Vec<String>,
}

impl StepLog<'_> {
    fn note(&mut self, number: Option<usize>, what: String, problem: Option<String>) -> Result<(), String> {
        let cleaned = |text: String| clean_text(&text).replace(['\n', '\r', '\t'], " ");
        let step = TestStep { number, what: cleaned(what), problem: problem.map(cleaned) };
        (self.progress)(&TestProgress::Step(&step));
        self.lines.push(step.line());
        match step.problem {
            Some(problem) => {
                let place = number.map(|number| format!("step {number}, ")).unwrap_or_default();
                Err(format!("{place}{}: {problem}", step.what))
            }
            None => Ok(()),
        }
    }
}

impl TestRunner<'_> {
    /// All tests of a file. When it is cancelled it ends with those that are done.
    pub fn run_file(&self, file: &TestFile) -> EvalReport {
        (self.progress)(&TestProgress::File(&file.path));
        let started_at = timestamp(Clock::real().wall_time());
        let mut cases = Vec::with_capacity(file.tests.len());
        for test in &file.tests {
            if self.cancel.check().is_err() {
                break;
            }
            cases.push(self.run_test(file, test));
        }
        let suite = file.path.display().to_string();
        let stopped = self.cancel.check().is_err();
        EvalReport { suite, planner: "test".to_owned(), model: None, started_at, stopped, cases }
    }

    fn run_test(&self, file: &TestFile, test: &TestCase) -> CaseReport {
        let mut runs: Vec<RunReport> = Vec::new();
        for attempt in 1..=self.options.retries.saturating_add(1) {
            (self.progress)(&TestProgress::Started { test: &test.name, attempt });
            let run = self.run_once(file, test);
            let done = run.succeeded() || attempt > self.options.retries || self.cancel.check().is_err();
            (self.progress)(&TestProgress::Ended { test: &test.name, run: &run, again: !done });
            runs.push(run);
            if done {
                break;
            }
        }
        CaseReport { name: test.name.clone(), required: 1.0, retried: true, runs }
    }

    fn run_once(&self, file: &TestFile, test: &TestCase) -> RunReport {
        let clock = Clock::real();
        let began = clock.now();
        let folder = self.options.artifacts.join(slug(&file.path, &test.name));
        let mut log = StepLog { progress: self.progress, lines: Vec::new() };
        let (problem, trace) = match self.play_test(test, &folder, &mut log) {
            Ok(trace) => (None, trace),
            Err((problem, trace)) => (Some(clean_text(&problem).into_owned()), trace),
        };
        let (problem, page) = self.keep_trace(&folder, trace, problem);
        let steps = log.lines.len() as u64;
        let milliseconds = millis(clock.now().saturating_sub(began));
        let used = RunUse { steps, milliseconds, ..RunUse::default() };
        RunReport { problem, page, lines: log.lines, used, ..RunReport::default() }
    }

    /// The page of a run that failed; nothing is left of one that passed.
    fn keep_trace(
        &self,
        folder: &Path,
        trace: Option<PathBuf>,
        problem: Option<String>,
    ) -> (Option<String>, Option<String>) {
        let Some(trace) = trace else {
            return (problem, None);
        };
        let Some(problem) = problem else {
            self.remove_trace(folder, &trace);
            return (None, None);
        };
        match write_page(&trace) {
            Ok(page) => (Some(problem), Some(page.display().to_string())),
            Err(unwritten) => (Some(format!("{problem}; its page cannot be written: {unwritten}")), None),
        }
    }

    /// Of the folders around the trace, only what is empty is removed.
    fn remove_trace(&self, folder: &Path, trace: &Path) {
        let _ = std::fs::remove_dir_all(trace);
        let _ = std::fs::remove_dir(folder).and_then(|()| std::fs::remove_dir(&self.options.artifacts));
    }

    /// The folder of the trace, also where the test failed.
    fn play_test(
        &self,
        test: &TestCase,
        folder: &Path,
        log: &mut StepLog,
    ) -> Result<Option<PathBuf>, (String, Option<PathBuf>)> {
        let without_trace = |problem: String| (problem, None);
        let mut loaded = self.loaded.clone();
        loaded.config.tracing.dir = folder.to_owned();
        loaded.config.tracing.screenshot_every_n_actions = 1;
        let planned = PlannedDesk::plan(loaded, &test.desk, None, self.options.headful);
        let PlannedDesk { loaded, pages } = planned.map_err(without_trace)?;
        let desk = (self.build_desk)(loaded).map_err(without_trace)?;
        if let Some(missing) = desk.app.observer.facts().unavailable {
            return Err(without_trace(missing));
        }
        let label = Some(shorten(&test.name, LONGEST_SLUG).into_owned());
        let trace = desk.app.gate.traces().start(label).map_err(|error| without_trace(error.message))?.dir;
        let played = self.play_at_desk(test, &desk.app, &trace, log);
        // It ends with the test where the test did not end it.
        let _ = desk.app.gate.traces().stop();
        desk.app.observer.release_all();
        drop((desk, pages));
        match played {
            Ok(()) => Ok(Some(trace)),
            Err(problem) => Err((problem, Some(trace))),
        }
    }

    fn play_at_desk(
        &self,
        test: &TestCase,
        app: &App,
        trace: &Path,
        log: &mut StepLog,
    ) -> Result<(), String> {
        match &test.work {
            TestWork::Steps(steps) => {
                self.play_steps(app, steps, log)?;
                self.judge_end(app, &test.expect, log)
            }
            TestWork::Replay { folder, supply } => {
                let differs = self.replay(app, trace, folder, supply, log)?;
                if !differs {
                    return self.judge_end(app, &test.expect, log);
                }
                // What judges the end is no part of the recording.
                app.gate.traces().stop().map_err(|error| error.message)?;
                self.judge_end(app, &test.expect, log)?;
                replace_recording(folder, trace)?;
                log.note(None, format!("{} was updated", folder.display()), None)
            }
        }
    }

    fn pass(&self, app: &App, tool: &str, args: Value) -> Reply {
        let call = Call { tool: tool.to_owned(), args, origin: Origin::Terminal };
        app.gate.pass_call(call, self.cancel)
    }

    fn play_steps(&self, app: &App, steps: &[Map<String, Value>], log: &mut StepLog) -> Result<(), String> {
        self.check_steps(app, steps)?;
        for (at, step) in steps.iter().enumerate() {
            self.wait_for_element(app, step);
            let reply = self.pass(app, "act", json!({"steps": [step]}));
            let problem = reply.error.map(|kind| act_problem(kind, &reply.value()));
            log.note(Some(at + 1), step_text(step), problem)?;
        }
        Ok(())
    }

    /// What is written wrong is said before the first step is made.
    fn check_steps(&self, app: &App, steps: &[Map<String, Value>]) -> Result<(), String> {
        for (part, some) in steps.chunks(ACT_STEPS).enumerate() {
            let reply = self.pass(app, "act", json!({"steps": some, "dry_run": true}));
            if matches!(reply.error, Some(Kind::BadRequest | Kind::PermissionDenied)) {
                let message = numbered(&error_message(&reply.value()), part * ACT_STEPS);
                return Err(format!("nothing was done: {message}"));
            }
        }
        Ok(())
    }

    /// Until the element of the step is there, or its time is over; the step itself says what is missing.
    fn wait_for_element(&self, app: &App, step: &Map<String, Value>) {
        let until = app.clock.now() + ELEMENT_TIME;
        while app.clock.now() < until {
            let reply = self.pass(app, "act", json!({"steps": [step], "dry_run": true}));
            if !is_missing(&reply) || app.clock.sleep(LOOK_AGAIN, self.cancel).is_err() {
                return;
            }
        }
    }

    /// The end may take a moment to come, so it is judged again before it is called a failure.
    fn judge_end(&self, app: &App, expect: &[Map<String, Value>], log: &mut StepLog) -> Result<(), String> {
        if expect.is_empty() {
            return Ok(());
        }
        let mut failed = failed_predicates(app, expect)?;
        for wait in JUDGED_AFTER {
            if failed.is_empty() || app.clock.sleep(Duration::from_millis(wait), self.cancel).is_err() {
                break;
            }
            failed = failed_predicates(app, expect)?;
        }
        let kinds: Vec<&str> =
            expect.iter().filter_map(|predicate| predicate.get("kind").and_then(Value::as_str)).collect();
        let problem = (!failed.is_empty()).then(|| failed.join("; "));
        log.note(None, format!("expect {}", kinds.join(", ")), problem)
    }

    /// Whether it differs from its recording, where that is no failure because the recording is to be updated.
    fn replay(
        &self,
        app: &App,
        trace: &Path,
        recorded: &Path,
        supply: &BTreeMap<u64, Map<String, Value>>,
        log: &mut StepLog,
    ) -> Result<bool, String> {
        let copy = RecordingCopy::make(recorded, trace)?;
        let on_divergence = if self.options.update { "resume" } else { "stop" };
        let args = json!({"path": copy.name, "mode": "verify", "on_divergence": on_divergence});
        let opened = self.pass(app, "replay_start", args).value();
        let Some(id) = opened.get("replay_id").and_then(Value::as_str) else {
            return Err(error_message(&opened));
        };
        let mut differs = false;
        for row in &copy.rows {
            let given = supply.get(&row.trace_seq).cloned().unwrap_or_default();
            let stepped = self.pass(app, "replay_step", json!({"replay_id": id, "supply": given}));
            let reply = stepped.value();
            let difference = difference_text(&reply);
            differs |= difference.is_some();
            let problem = match stepped.error {
                Some(kind) => Some(format!("{}: {}", kind.code(), error_message(&reply))),
                None => difference.filter(|_| !self.options.update),
            };
            log.note(usize::try_from(row.trace_seq).ok(), row_text(row), problem)?;
        }
        Ok(differs)
    }
}

/// The lines of a recording below the folder that replays are read from; removed when the replay is over.
struct RecordingCopy {
    name: String,
    folder: PathBuf,
    rows: Vec<TraceRow>,
}

impl RecordingCopy {
    fn make(recorded: &Path, trace: &Path) -> Result<Self, String> {
        let source = recorded.join(FILE_NAME);
        let failed = |problem: &dyn std::fmt::Display| format!("{}: {problem}", source.display());
        let bytes = std::fs::read(&source).map_err(|problem| failed(&problem))?;
        let rows = reader::parse(&bytes).map_err(|problem| failed(&problem))?.rows;
        let name = random_token("recording-");
        let folder = trace.parent().unwrap_or(trace).join(&name);
        let written = std::fs::create_dir(&folder)
            .and_then(|()| std::fs::write(folder.join(FILE_NAME), bytes))
            .map_err(|problem| failed(&problem));
        written.map(|()| Self { name, folder, rows })
    }
}

impl Drop for RecordingCopy {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Puts a new trace in the place of a recording; the old one goes when the new one is there.
fn replace_recording(recorded: &Path, trace: &Path) -> Result<(), String> {
    let failed = |problem: std::io::Error| format!("{} cannot be updated: {problem}", recorded.display());
    let recorded = recorded.canonicalize().map_err(failed)?;
    let beside = |suffix: &str| {
        let name = recorded.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        recorded.with_file_name(format!("{name}.{suffix}-{}", random_token("")))
    };
    let (fresh, old) = (beside("new"), beside("old"));
    copy_folder(trace, &fresh).map_err(failed)?;
    std::fs::rename(&recorded, &old).map_err(failed)?;
    if let Err(problem) = std::fs::rename(&fresh, &recorded) {
        let _ = std::fs::rename(&old, &recorded);
        return Err(failed(problem));
    }
    std::fs::remove_dir_all(&old).map_err(failed)
}

/// A trace has files, and folders of files.
fn copy_folder(from: &Path, to: &Path) -> std::io::Result<()> {
    std::fs::create_dir(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_folder(&entry.path(), &target)?;
        } else {
            std::fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

fn write_page(trace: &Path) -> Result<PathBuf, String> {
    let page = trace.join(PAGE);
    let text = html::page(&LoadedTrace::read(trace)?);
    std::fs::write(&page, text).map_err(|problem| problem.to_string())?;
    Ok(page)
}

/// A folder's name for a test of a file.
fn slug(file: &Path, test: &str) -> String {
    let stem = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let stem = stem.split('.').next().unwrap_or_default();
    let words = format!("{stem}-{test}").to_lowercase();
    let kept: String = words.chars().map(|c| if c.is_alphanumeric() { c } else { '-' }).collect();
    let parts: Vec<&str> = kept.split('-').filter(|part| !part.is_empty()).collect();
    let slug: String = parts.join("-").chars().take(LONGEST_SLUG).collect();
    if slug.is_empty() { "test".to_owned() } else { slug }
}

/// Whether what the step is about is not there yet.
fn is_missing(reply: &Reply) -> bool {
    match reply.error {
        Some(kind) => matches!(
            kind,
            Kind::ElementNotFound
                | Kind::WindowGone
                | Kind::ElementDisabled
                | Kind::ElementOccluded
                | Kind::WindowOccluded
        ),
        None => reply.value().pointer("/foreseen/0/not_yet").is_some(),
    }
}

fn error_message(reply: &Value) -> String {
    let message = reply.pointer("/error/message").and_then(Value::as_str);
    message.unwrap_or("the call failed without a reason").to_owned()
}

/// Why a step failed, with what was expected of it.
fn act_problem(kind: Kind, reply: &Value) -> String {
    let message = error_message(reply);
    let message = match message.strip_prefix("steps[0]").and_then(|rest| rest.split_once(": ")) {
        Some((_, rest)) => rest,
        None => message.as_str(),
    };
    let expected = reply.pointer("/steps/0/unmet/expected").filter(|expected| !expected.is_null());
    let expected = expected.map(|expected| format!("; expected {expected}")).unwrap_or_default();
    format!("{}: {message}{expected}", kind.code())
}

/// `steps[2].ref` of a part of the list as `step 3, ref`: people count from 1.
fn numbered(message: &str, before: usize) -> String {
    let place = message.split_once("steps[").and_then(|(head, rest)| {
        let (number, tail) = rest.split_once(']')?;
        Some((head, number.parse::<usize>().ok()?, tail))
    });
    match place {
        Some((head, at, tail)) => format!("{head}step {}{tail}", before + at + 1),
        None => message.to_owned(),
    }
}

/// A step in words: its tool, and what it is about. What is typed may be a secret, so it is not told.
fn step_text(step: &Map<String, Value>) -> String {
    let text = |name: &str| step.get(name).and_then(Value::as_str);
    let tool = text("do").unwrap_or_default();
    let named = SUBJECTS.into_iter().find_map(text).map(str::to_owned);
    let kinds = || {
        let lists = ["predicates", "any_of"].into_iter().filter_map(|name| step.get(name)?.as_array());
        let kind = |item: &Value| Some(item.get("kind").or(item.get("type"))?.as_str()?.to_owned());
        let kinds: Vec<String> = lists.flatten().filter_map(kind).collect();
        (!kinds.is_empty()).then(|| kinds.join(", "))
    };
    match named.or_else(kinds) {
        Some(subject) => format!("{tool} {}", shorten(&subject, SUBJECT_WIDTH)),
        None => tool.to_owned(),
    }
}

/// A recorded call in words: its element where it had one, else its arguments.
fn row_text(row: &TraceRow) -> String {
    let subject = match &row.target {
        Some(target) => format!("{} \"{}\"", target.role, target.name),
        None => text::short_arguments(row),
    };
    format!("{} {}", row.tool, shorten(&subject, SUBJECT_WIDTH)).trim_end().to_owned()
}

/// `changed: recorded true, now false`.
fn difference_text(reply: &Value) -> Option<String> {
    let differences = reply.get("divergence")?.as_array()?;
    let told = |value: &Value| shorten(&value.to_string(), SUBJECT_WIDTH).into_owned();
    let line = |difference: &Value| {
        let path = difference["path"].as_str().unwrap_or_default();
        format!("{path}: recorded {}, now {}", told(&difference["want"]), told(&difference["got"]))
    };
    (!differences.is_empty()).then(|| differences.iter().map(line).collect::<Vec<_>>().join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_named_like_its_test() {
        let check =
            |file: &str, test: &str, expected: &str| assert_eq!(slug(Path::new(file), test), expected);
        check("a/login.test.yaml", "Log in, twice!", "login-log-in-twice");
        check("traces/trace-1", "trace-1", "trace-1-trace-1");
        check("..", "../../etc", "etc");
        check("", "¿?", "test");
        assert_eq!(slug(Path::new("x.yaml"), &"y".repeat(200)).len(), LONGEST_SLUG);
    }

    #[test]
    fn a_step_is_told_by_what_it_is_about_and_never_by_what_it_types() {
        let check = |step: Value, expected: &str| {
            assert_eq!(step_text(step.as_object().unwrap()), expected);
        };
        check(json!({"do": "click_element", "selector": "//Button"}), "click_element //Button");
        check(json!({"do": "set_value", "selector": "//Edit", "value": "pw"}), "set_value //Edit");
        check(json!({"do": "type_text", "text": "pw"}), "type_text");
        check(json!({"do": "press_key", "keys": "ctrl+s"}), "press_key ctrl+s");
        check(
            json!({"do": "assert_state", "predicates": [{"kind": "oracle", "name": "x"}, {"kind": "text_visible"}]}),
            "assert_state oracle, text_visible",
        );
        check(json!({"do": "wait_for", "any_of": [{"type": "element_appears"}]}), "wait_for element_appears");
    }

    #[test]
    fn steps_are_counted_from_one() {
        let check = |message: &str, before, expected: &str| assert_eq!(numbered(message, before), expected);
        check("argument 'steps[2].ref' is wrong", 0, "argument 'step 3.ref' is wrong");
        check("steps[0]: no", 64, "step 65: no");
        check("something else", 0, "something else");
    }

    #[test]
    fn a_difference_names_both_values() {
        let reply = json!({"divergence": [{"path": "changed", "want": true, "got": false}, {"path": "ok", "want": true, "got": null}]});
        let expected = "changed: recorded true, now false; ok: recorded true, now null";
        assert_eq!(difference_text(&reply).as_deref(), Some(expected));
        assert_eq!(difference_text(&json!({"divergence": null})), None);
    }

    #[test]
    fn lines_are_aligned() {
        let step = |number, problem: Option<&str>| {
            TestStep { number, what: "click".to_owned(), problem: problem.map(str::to_owned) }.line()
        };
        assert_eq!(step(Some(1), None), "ok     1 click");
        assert_eq!(step(Some(12), Some("no")), "FAIL  12 click: no");
        assert_eq!(step(None, None), "ok       click");
    }
}
