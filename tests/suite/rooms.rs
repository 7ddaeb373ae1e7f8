//! The rooms (the top-level modules of `src`, and the crate of pictures) import each other in one direction only.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use crate::source::{self, SourceFile, Use};

/// A room and the rooms that it may import, from the bottom up: a room imports only rooms above its own line.
const ROOMS: &[(&str, &[&str])] = &[
    ("pixels", &[]),
    ("error", &[]),
    ("text", &[]),
    ("random", &[]),
    ("tokens", &[]),
    ("clock", &["error"]),
    ("files", &[]),
    ("pattern", &["error", "clock"]),
    ("guessing", &["clock"]),
    ("config", &["pixels", "text", "files", "pattern"]),
    ("spawn", &["config"]),
    ("running", &["files", "config"]),
    ("runtime", &[]),
    ("model", &["pixels", "error", "text", "pattern", "config"]),
    ("machine", &["clock", "config", "spawn"]),
    ("scenario", &["files", "pattern", "config", "model"]),
    (
        "platform",
        &["error", "text", "random", "clock", "files", "config", "spawn", "model", "machine", "scenario"],
    ),
    ("privacy", &["error", "text", "pattern", "config", "model"]),
    ("model_client", &["error", "clock", "config", "runtime", "privacy"]),
    ("client", &["clock", "runtime", "model_client"]),
    ("budget", &["error", "clock", "config"]),
    ("ocr", &["error", "clock", "config", "spawn", "model", "machine", "platform"]),
    (
        "observer",
        &[
            "error", "text", "random", "tokens", "clock", "files", "pattern", "config", "model", "platform",
            "privacy", "budget", "ocr",
        ],
    ),
    ("metrics", &["error", "tokens", "clock"]),
    ("session", &["random", "clock", "config", "model", "observer"]),
    ("secrets", &["error", "text", "files", "pattern", "config", "model", "privacy", "observer"]),
    (
        "tool",
        &[
            "error", "text", "clock", "config", "model", "privacy", "budget", "observer", "metrics",
            "session", "secrets",
        ],
    ),
    ("events", &["clock", "config"]),
    ("halt", &["error", "clock"]),
    (
        "vlm",
        &[
            "error",
            "clock",
            "files",
            "config",
            "spawn",
            "model",
            "privacy",
            "model_client",
            "budget",
            "observer",
            "tool",
        ],
    ),
    (
        "trace",
        &[
            "error", "text", "random", "clock", "files", "pattern", "config", "model", "scenario",
            "platform", "privacy", "budget", "observer", "session", "secrets", "tool",
        ],
    ),
    (
        "gate",
        &[
            "error", "text", "random", "tokens", "clock", "files", "pattern", "config", "model", "platform",
            "privacy", "budget", "observer", "metrics", "session", "secrets", "tool", "events", "halt",
            "guessing", "trace",
        ],
    ),
    (
        "tools",
        &[
            "error", "text", "tokens", "clock", "files", "pattern", "config", "model", "scenario",
            "platform", "privacy", "budget", "observer", "metrics", "tool", "gate",
        ],
    ),
    ("recipes", &["error", "text", "random", "files", "pattern", "model", "privacy", "tool", "trace"]),
    (
        "jobs",
        &[
            "error",
            "text",
            "random",
            "clock",
            "files",
            "spawn",
            "config",
            "privacy",
            "model",
            "model_client",
            "platform",
            "tool",
            "trace",
            "gate",
            "recipes",
        ],
    ),
    (
        "app",
        &[
            "clock", "config", "model", "platform", "privacy", "observer", "session", "secrets", "tool",
            "vlm", "trace", "gate", "tools", "jobs",
        ],
    ),
    (
        "eval",
        &[
            "error", "text", "random", "clock", "files", "config", "scenario", "privacy", "trace", "gate",
            "jobs", "app",
        ],
    ),
    ("mcp", &["error", "text", "clock", "config", "model", "privacy", "observer", "tool", "gate", "app"]),
    (
        "http",
        &[
            "error", "random", "clock", "files", "pattern", "guessing", "config", "runtime", "machine",
            "privacy", "metrics", "tool", "events", "trace", "gate", "jobs", "app", "mcp",
        ],
    ),
    ("log", &["config", "tool", "tools", "app", "http"]),
    ("docs", &["config", "tool"]),
    ("doctor", &["text", "config", "machine", "platform", "privacy"]),
    ("cli", &["config"]),
    ("setup", &["random", "files", "config"]),
    (
        "terminal",
        &[
            "text", "random", "clock", "config", "spawn", "running", "machine", "privacy", "scenario",
            "platform", "ocr", "tool", "vlm", "trace", "gate", "recipes", "jobs", "tools", "app", "eval",
            "http", "docs", "doctor", "cli", "setup",
        ],
    ),
    (
        "main",
        &[
            "clock", "config", "running", "runtime", "platform", "ocr", "tool", "tools", "app", "eval",
            "mcp", "http", "log", "cli", "terminal",
        ],
    ),
];

/// What one file uses of another.
struct Edge {
    room: String,
    file: String,
    to_room: String,
    to_file: String,
    line: usize,
    path: String,
}

/// All uses that leave their room. Parsing takes seconds in a build without optimisation, so it is done once.
fn edges() -> &'static [Edge] {
    static EDGES: LazyLock<Vec<Edge>> = LazyLock::new(|| {
        let files = source::files();
        let by_module: BTreeMap<&[String], &SourceFile> =
            files.iter().map(|file| (file.module.as_slice(), file)).collect();
        files.iter().filter(|file| file.room() != "lib").flat_map(|file| edges_of(file, &by_module)).collect()
    });
    &EDGES
}

fn edges_of(file: &SourceFile, by_module: &BTreeMap<&[String], &SourceFile>) -> Vec<Edge> {
    let leaving = |used: Use| {
        // The root itself only lists the rooms.
        let depths = (1..=used.path.len()).rev();
        let target = depths.filter_map(|depth| by_module.get(&used.path[..depth])).next()?;
        (target.room() != file.room()).then(|| Edge {
            room: file.room().to_owned(),
            file: file.path.clone(),
            to_room: target.room().to_owned(),
            to_file: target.path.clone(),
            line: used.line,
            path: used.path.join("::"),
        })
    };
    file.uses().into_iter().filter_map(leaving).collect()
}

#[test]
fn a_room_imports_only_what_its_row_allows() {
    let allowed: BTreeMap<&str, &[&str]> = ROOMS.iter().copied().collect();
    let is_allowed = |edge: &Edge| {
        let row = allowed.get(edge.room.as_str());
        row.is_some_and(|rooms| rooms.contains(&edge.to_room.as_str()))
    };
    let problems: Vec<String> = edges()
        .iter()
        .filter(|edge| !is_allowed(edge))
        .map(|edge| format!("{}:{}: {} -> {} ({})", edge.file, edge.line, edge.room, edge.to_room, edge.path))
        .collect();
    assert!(problems.is_empty(), "imports that ROOMS does not allow:\n{}", problems.join("\n"));
}

#[test]
fn every_edge_of_the_table_is_used() {
    let found: BTreeSet<(&str, &str)> =
        edges().iter().map(|edge| (edge.room.as_str(), edge.to_room.as_str())).collect();
    let listed = ROOMS.iter().flat_map(|(room, allowed)| allowed.iter().map(move |to| (*room, *to)));
    let unused: Vec<_> = listed.filter(|edge| !found.contains(edge)).collect();
    assert!(unused.is_empty(), "edges that nobody uses any more: {unused:?}");
}

#[test]
fn every_room_has_a_row() {
    let rows: BTreeSet<&str> = ROOMS.iter().map(|(room, _)| *room).collect();
    let named: BTreeSet<&str> =
        edges().iter().flat_map(|edge| [edge.room.as_str(), edge.to_room.as_str()]).collect();
    let missing: Vec<_> = named.difference(&rows).collect();
    assert!(missing.is_empty(), "rooms without a row: {missing:?}");
}

/// A row may name only rows above it, so there is no way back.
#[test]
fn the_table_has_no_cycle() {
    let mut above = BTreeSet::new();
    for (room, allowed) in ROOMS {
        let upward: Vec<_> = allowed.iter().filter(|to| !above.contains(*to)).collect();
        assert!(upward.is_empty(), "{room} imports {upward:?}, which stand at or below its own row");
        assert!(above.insert(room), "{room} has two rows");
    }
}

/// No file reaches itself through files of other rooms.
#[test]
fn no_import_cycle_leaves_a_room() {
    let mut graph: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for edge in edges() {
        graph.entry(&edge.file).or_default().insert(&edge.to_file);
    }
    for (file, direct) in &graph {
        let mut open: Vec<&str> = direct.iter().copied().collect();
        let mut reached = BTreeSet::new();
        while let Some(next) = open.pop() {
            if reached.insert(next) {
                open.extend(graph.get(next).into_iter().flatten());
            }
        }
        assert!(!reached.contains(file), "{file} imports files of other rooms that import it");
    }
}

/// `Observer::act` wants a permit, and only the gate may grant one.
#[test]
fn only_the_gate_grants_a_permit() {
    let granting: BTreeSet<String> = source::files()
        .iter()
        .filter(|file| !file.lines_naming("Permit", "grant").is_empty())
        .map(|file| file.room().to_owned())
        .collect();
    assert_eq!(granting, BTreeSet::from(["gate".to_owned()]));
}
