//! A trace folder read as a whole, for people and for the recorder of scenarios: each call with the
//! windows before and after it.
//!
//! A trace may come from anyone and may be incomplete. What cannot be read is listed in `problems`, and the
//! rest is still returned; no file outside the trace's folder is opened.

use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::format::{FILE_NAME, Footer, Header, TraceRow, WindowSeen};
use crate::files::{self, Below, ReadFailure};
use crate::model::{Element, Range, Rect, Role, Tree, TreeBuilder};

const MAX_TRACE_BYTES: u64 = 256 * 1024 * 1024;
const MAX_TREE_BYTES: u64 = 64 * 1024 * 1024;
const MAX_PICTURE_BYTES: u64 = 32 * 1024 * 1024;
const MAX_TREE_ELEMENTS: usize = 1_000_000;

#[derive(Debug)]
pub struct LoadedTrace {
    pub folder: PathBuf,
    pub header: Option<Header>,
    pub steps: Vec<StoryStep>,
    pub footer: Option<Footer>,
    /// What could not be read, as sentences.
    pub problems: Vec<String>,
    /// Tree files that rows name and that cannot be read, each with the reason.
    pub missing_trees: Vec<String>,
}

/// One call and the desktop around it.
#[derive(Debug)]
pub struct StoryStep {
    pub row: TraceRow,
    pub before: StoryScene,
    pub after: StoryScene,
}

/// The windows of one moment.
pub type StoryScene = Arc<Vec<RecordedWindow>>;

#[derive(Clone, Debug, PartialEq)]
pub struct RecordedWindow {
    pub window: WindowSeen,
    pub tree: Option<Arc<Tree>>,
}

impl LoadedTrace {
    /// Reads a trace's folder, or the file in it.
    pub fn read(path: &Path) -> Result<LoadedTrace, String> {
        let file = if path.is_dir() { path.join(FILE_NAME) } else { path.to_owned() };
        let folder = file.parent().unwrap_or(Path::new(".")).to_owned();
        let text = read_file(&file, MAX_TRACE_BYTES)
            .map_err(|problem| format!("{} cannot be read: {problem}", file.display()))?;
        LoadedTrace::of(&text, folder, &file.display().to_string())
    }

    /// Reads a trace that somebody has named; `lines` is its file.
    pub fn read_below(lines: &Below) -> Result<LoadedTrace, String> {
        let path = lines.path();
        let name = path.display().to_string();
        let text = read_below(lines, MAX_TRACE_BYTES)
            .map_err(|problem| format!("{name} cannot be read: {problem}"))?;
        LoadedTrace::of(&text, path.parent().unwrap_or(Path::new(".")).to_owned(), &name)
    }

    fn of(text: &[u8], folder: PathBuf, name: &str) -> Result<LoadedTrace, String> {
        let mut trace = LoadedTrace {
            folder,
            header: None,
            steps: Vec::new(),
            footer: None,
            problems: Vec::new(),
            missing_trees: Vec::new(),
        };
        trace.read_lines(&String::from_utf8_lossy(text));
        if trace.header.is_none() && trace.steps.is_empty() {
            return Err(format!("{name} is not a trace: it has neither a header nor a row"));
        }
        Ok(trace)
    }

    pub fn trace_id(&self) -> &str {
        self.header.as_ref().map_or("unknown trace", |header| &header.trace_id)
    }

    /// Only traces that tell of windows can be drawn or become scenarios.
    pub fn tells_of_windows(&self) -> bool {
        self.steps.iter().any(|step| !step.before.is_empty() || !step.after.is_empty())
    }

    /// The bytes of a picture that a row names.
    pub fn read_picture(&self, reference: &str) -> Result<Vec<u8>, String> {
        self.file_below(reference).and_then(|place| read_below(&place, MAX_PICTURE_BYTES))
    }

    fn read_lines(&mut self, text: &str) {
        let mut trees = Trees::default();
        let mut scene: StoryScene = Arc::default();
        let lines: Vec<&str> = text.split('\n').collect();
        for (index, line) in lines.iter().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let is_last = index + 1 == lines.len();
            match serde_json::from_str::<Value>(line) {
                Ok(value) => self.take_line(index + 1, value, &mut trees, &mut scene),
                Err(_) if is_last => self.problems.push(format!(
                    "line {} is incomplete: the trace ends in the middle of a row, which is left out",
                    index + 1
                )),
                Err(problem) => self.problems.push(format!("line {} is not JSON: {problem}", index + 1)),
            }
        }
        if self.header.is_none() {
            self.problems.push("the header is missing".to_owned());
        }
        if self.footer.is_none() {
            self.problems
                .push("the footer is missing: the trace was not stopped, or lost its end".to_owned());
        }
        self.check_count();
    }

    fn check_count(&mut self) {
        let told = self.footer.as_ref().map(|footer| footer.step_count);
        if let Some(told) = told.filter(|&told| told != self.steps.len() as u64) {
            let found = self.steps.len();
            self.problems.push(format!("the footer counts {told} steps, but {found} could be read"));
        }
    }

    fn take_line(&mut self, number: usize, value: Value, trees: &mut Trees, scene: &mut StoryScene) {
        let kind = value.get("type").and_then(Value::as_str).unwrap_or("row").to_owned();
        let taken = match kind.as_str() {
            "header" => serde_json::from_value(value).map(|header| self.header = Some(header)),
            "footer" => serde_json::from_value(value).map(|footer| self.footer = Some(footer)),
            _ => serde_json::from_value(value).map(|row| self.take_row(row, trees, scene)),
        };
        if let Err(problem) = taken {
            self.problems.push(format!("line {number} is not a {kind} of a trace: {problem}"));
        }
    }

    fn take_row(&mut self, row: TraceRow, trees: &mut Trees, scene: &mut StoryScene) {
        // A row that names no window while a window has a hash goes on from the row before.
        let carries_on = row.windows_before.is_empty() && !row.tree_hash_before.is_empty();
        let before = if carries_on {
            Arc::clone(scene)
        } else {
            self.build_scene(&row, &row.windows_before, trees, scene)
        };
        let after = match &row.windows_after {
            None => Arc::clone(&before),
            Some(windows) => self.build_scene(&row, windows, trees, &before),
        };
        *scene = Arc::clone(&after);
        self.steps.push(StoryStep { row, before, after });
    }

    /// The windows with their trees; the scene before it is shared when nothing differs.
    fn build_scene(
        &mut self,
        row: &TraceRow,
        windows: &[WindowSeen],
        trees: &mut Trees,
        before: &StoryScene,
    ) -> StoryScene {
        let with_tree = |window: &WindowSeen| RecordedWindow {
            window: window.clone(),
            tree: window.tree.as_ref().and_then(|name| self.load_tree(row, name, trees)),
        };
        let seen: Vec<RecordedWindow> = windows.iter().map(with_tree).collect();
        if seen == **before { Arc::clone(before) } else { Arc::new(seen) }
    }

    fn load_tree(&mut self, row: &TraceRow, name: &str, trees: &mut Trees) -> Option<Arc<Tree>> {
        if let Some(known) = trees.0.get(name) {
            return known.clone();
        }
        let read = self.file_below(name).and_then(|place| read_below(&place, MAX_TREE_BYTES));
        let tree = read.and_then(|bytes| parse_tree(&bytes)).map(Arc::new);
        if let Err(problem) = &tree {
            self.missing_trees.push(format!("{name} (step {}): {problem}", row.trace_seq));
        }
        let tree = tree.ok();
        trees.0.insert(name.to_owned(), tree.clone());
        tree
    }

    /// A file of this trace. A name that leads out of the folder, also through a link, is refused.
    fn file_below(&self, name: &str) -> Result<Below, String> {
        let path = Path::new(name);
        if !path.components().all(|part| matches!(part, Component::Normal(_))) {
            return Err("the name leads out of the trace's folder".to_owned());
        }
        let path = self.folder.join(path);
        let folder = self.folder.canonicalize().map_err(|problem| problem.to_string())?;
        Below::find(&folder, &path).ok_or_else(|| {
            let missing = files::would_be_inside(&folder, &path);
            let why = if missing { "there is no such file" } else { "a link leads out of the folder" };
            why.to_owned()
        })
    }
}

#[derive(Default)]
struct Trees(HashMap<String, Option<Arc<Tree>>>);

fn read_below(place: &Below, most: u64) -> Result<Vec<u8>, String> {
    place.read(most).map_err(|problem| match problem {
        ReadFailure::NoFile => "it is not a regular file".to_owned(),
        ReadFailure::TooLong(_) => format!("it has more than {most} bytes"),
        ReadFailure::Failed(problem) => problem.to_string(),
    })
}

/// A file that a person has named, wherever it is.
fn read_file(path: &Path, most: u64) -> Result<Vec<u8>, String> {
    let file = File::open(path).map_err(|problem| problem.to_string())?;
    if !file.metadata().is_ok_and(|facts| facts.is_file()) {
        return Err("it is not a regular file".to_owned());
    }
    let mut bytes = Vec::new();
    file.take(most + 1).read_to_end(&mut bytes).map_err(|problem| problem.to_string())?;
    if bytes.len() as u64 > most {
        return Err(format!("it has more than {most} bytes"));
    }
    Ok(bytes)
}

/// When the row began, since some fixed moment; `None` when its time cannot be read.
pub fn began_at(row: &TraceRow) -> Option<Duration> {
    parse_time(&row.ts)
}

/// When the row ended, on the same scale.
pub fn ended_at(row: &TraceRow) -> Option<Duration> {
    began_at(row).map(|began| began.saturating_add(Duration::from_millis(row.duration_ms)))
}

/// <https://www.rfc-editor.org/rfc/rfc3339#section-5.6>
fn parse_time(text: &str) -> Option<Duration> {
    let time = OffsetDateTime::parse(text, &Rfc3339).ok()?;
    u64::try_from(time.unix_timestamp_nanos() / 1_000).ok().map(Duration::from_micros)
}

// ── trees ───────────────────────────────────────────────────────────────────────────────────────

fn parse_tree(bytes: &[u8]) -> Result<Tree, String> {
    let root: Value =
        serde_json::from_slice(bytes).map_err(|problem| format!("it is not a tree: {problem}"))?;
    tree_of_json(&root)
}

/// The contract's node JSON as a tree. The walk has its own stack, as long as the file is.
pub fn tree_of_json(root: &Value) -> Result<Tree, String> {
    let Value::Object(root) = root else {
        return Err("it is not a tree: not an object".to_owned());
    };
    let mut builder = TreeBuilder::new(element_of(root));
    let mut waiting: Vec<(usize, &Map<String, Value>)> = children_of(root).rev().map(|it| (1, it)).collect();
    while let Some((depth, node)) = waiting.pop() {
        while builder.depth() > depth {
            builder.close();
        }
        match slot_of(node) {
            Some(slot) => builder.open_in_slot(element_of(node), slot),
            None => builder.open(element_of(node)),
        };
        if builder.len() > MAX_TREE_ELEMENTS {
            return Err(format!("it has more than {MAX_TREE_ELEMENTS} elements"));
        }
        waiting.extend(children_of(node).rev().map(|child| (depth + 1, child)));
    }
    Ok(builder.finish())
}

fn children_of(node: &Map<String, Value>) -> impl DoubleEndedIterator<Item = &Map<String, Value>> {
    node.get("children").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_object)
}

/// The last number of a positional id.
fn slot_of(node: &Map<String, Value>) -> Option<u32> {
    node.get("id")?.as_str()?.rsplit('.').next()?.parse().ok()
}

fn element_of(node: &Map<String, Value>) -> Element {
    let text = |key: &str| node.get(key).and_then(Value::as_str).map(str::to_owned);
    let flag = |key: &str| node.get(key).and_then(Value::as_bool);
    let number = |key: &str| node.get(key).and_then(Value::as_f64).filter(|number| number.is_finite());
    Element {
        role: text("role").map_or(Role::Unknown, Role::from),
        name: text("name").unwrap_or_default(),
        value: text("value"),
        bounds: node.get("bounds").map_or(Rect::default(), rect_of),
        enabled: flag("enabled").unwrap_or(true),
        focused: flag("focused").unwrap_or(false),
        selected: flag("selected"),
        expanded: flag("expanded"),
        range: Range { now: number("value_now"), min: number("value_min"), max: number("value_max") },
        shortcut: text("keyboard_shortcut"),
        description: text("description"),
        identifier: text("identifier"),
        ..Element::default()
    }
}

fn rect_of(value: &Value) -> Rect {
    serde_json::from_value(value.clone()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const HEADER: &str = r#"{"type":"header","trace_id":"trace-1","label":null,"started_at":"2026-01-01T00:00:00+00:00","tool_version":"0.2.0"}"#;
    const FOOTER: &str =
        r#"{"type":"footer","stopped_at":"2026-01-01T00:00:01+00:00","step_count":1,"duration_ms":1000}"#;

    fn row(windows: &Value) -> String {
        json!({"step_id": 1, "trace_seq": 1, "tool": "list_windows", "args": {}, "windows_before": windows})
            .to_string()
    }

    fn window(tree: &str) -> Value {
        json!([{"window_uid": "w", "title": "t", "process": "p", "pid": 1, "focused": true, "tree": tree,
                "bounds": {"x": 0, "y": 0, "width": 1, "height": 1}}])
    }

    fn check(lines: &[&str], problems: &[&str], missing: &[&str]) {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(FILE_NAME), lines.join("\n")).unwrap();
        let trace = LoadedTrace::read(folder.path()).unwrap();
        let all_begin = |found: &[String], expected: &[&str]| {
            assert_eq!(found.len(), expected.len(), "{found:?}");
            for (found, expected) in found.iter().zip(expected) {
                assert!(found.starts_with(expected), "{found} is not {expected}");
            }
        };
        all_begin(&trace.problems, problems);
        all_begin(&trace.missing_trees, missing);
    }

    #[test]
    fn what_is_wrong_is_said() {
        let row = row(&json!([]));
        check(&[HEADER, &row, FOOTER, ""], &[], &[]);
        check(&[HEADER, &row, r#"{"step_"#], &["line 3 is incomplete", "the footer is missing"], &[]);
        check(
            &[HEADER, "{", &row, r#"{"tool": 3}"#, FOOTER, ""],
            &["line 2 is not JSON", "line 4 is not a row"],
            &[],
        );
        check(&[HEADER, FOOTER], &["the footer counts 1 steps, but 0"], &[]);
        check(&[&row, FOOTER], &["the header is missing"], &[]);
    }

    /// H-23 on code: a trace that names files of others.
    #[test]
    fn trees_that_cannot_be_read_are_named() {
        for (tree, problem) in [
            ("trees/a.json", "trees/a.json (step 1): there is no such file"),
            ("trees/../../a.json", "trees/../../a.json (step 1): the name leads out"),
            ("/etc/hostname", "/etc/hostname (step 1): the name leads out"),
        ] {
            check(&[HEADER, &row(&window(tree)), FOOTER], &[], &[problem]);
        }
    }

    #[test]
    fn what_is_no_trace_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        assert!(LoadedTrace::read(folder.path()).unwrap_err().contains("cannot be read"));
        std::fs::write(folder.path().join(FILE_NAME), "hello\n").unwrap();
        assert!(LoadedTrace::read(folder.path()).unwrap_err().contains("is not a trace"));
    }

    #[test]
    fn a_tree_keeps_its_ids() {
        let leaf = |id: &str| json!({"id": id, "role": "Text", "name": id, "children": []});
        let tree = json!({"id": "root", "role": "Window", "name": "w", "children": [
            {"id": "root.0", "role": "Group", "children": [leaf("root.0.0"), leaf("root.0.1")]},
            leaf("root.5"),
        ]});
        let tree = parse_tree(tree.to_string().as_bytes()).unwrap();
        let ids: Vec<String> = (0..tree.len()).map(|node| tree.id(node)).collect();
        assert_eq!(ids, ["root", "root.0", "root.0.0", "root.0.1", "root.5"]);
    }

    #[test]
    fn times_are_read() {
        let at = |text: &str| parse_time(text).map(|time| time.as_millis());
        assert_eq!(at("1970-01-01T00:00:01.5+00:00"), Some(1500));
        assert_eq!(at("yesterday"), None);
    }
}
