//! How the work over a tree grows with it: 100 to 100,000 elements, best of several rounds.
//!
//! `cargo bench --bench trees` prints a table in milliseconds of CPU time where the system tells it (unix).
//! A loaded machine still moves the figures a little; the growth from row to row, and the ratio of two
//! columns of one run, are what can be relied on.
#![allow(
    clippy::disallowed_methods,
    reason = "a benchmark runs in real time and sets up its own environment"
)]
#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a program for a terminal")]

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use os_screen_observer::model::diff::{diff_trees, json_patch};
use os_screen_observer::model::selector::Selector;
use os_screen_observer::model::{Element, Rect, Tree, TreeBuilder, Window};
use os_screen_observer::observer::sketch::{SketchOptions, SketchReading, draw_sketch};
use os_screen_observer::observer::structure::{Structure, StructureRequest};
use os_screen_observer::observer::{Changes, DiffFormat, View, describe};
use os_screen_observer::privacy::redact::Redactor;
use os_screen_observer::privacy::scrub::{Scrub, to_json_string};
use serde::Serialize;

/// A window of tables: groups of rows of cells, as business applications have them.
fn tree_of(size: usize, changed: bool) -> Tree {
    let mut tree = TreeBuilder::new(Element::new("Window", "Bench", Rect::new(0, 0, 1920, 1080)));
    let mut row = 0;
    while tree.len() + 12 <= size {
        tree.open(Element::new("Row", format!("Row {row}"), Rect::new(0, row % 1000, 1900, 20)));
        for cell in 0..10 {
            let mut element =
                Element::new("Cell", format!("Cell {cell}"), Rect::new(cell * 190, row % 1000, 190, 20));
            element.value = Some(format!("{row} · {cell}"));
            tree.add_leaf(element);
        }
        tree.close();
        row += 1;
    }
    let last = if changed { "Last, changed" } else { "Last" };
    while tree.len() < size {
        tree.add_leaf(Element::new("Button", last, Rect::new(5, 1000, 90, 30)));
    }
    tree.finish()
}

/// The best of several rounds, in milliseconds: what the work costs when nothing disturbs it.
fn best<T>(mut work: impl FnMut() -> T) -> f64 {
    let began = Instant::now();
    let mut best = Duration::MAX;
    let mut rounds = 0;
    while rounds < 5 || (began.elapsed() < Duration::from_millis(300) && rounds < 200) {
        let start = now();
        black_box(work());
        best = best.min(now().saturating_sub(start));
        rounds += 1;
    }
    best.as_secs_f64() * 1000.0
}

#[cfg(unix)]
fn now() -> Duration {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(now.tv_sec.try_into().unwrap(), now.tv_nsec.try_into().unwrap())
}

#[cfg(not(unix))]
fn now() -> Duration {
    static START: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    START.get_or_init(Instant::now).elapsed()
}

fn view_of(tree: &Arc<Tree>, redactor: &Redactor) -> Arc<View> {
    let shown = redactor.shown(tree, "Bench").tree;
    Arc::new(View::new(tree.clone(), shown, Duration::ZERO, SystemTime::UNIX_EPOCH))
}

/// How long the value is as it leaves, through the egress.
fn json_of(value: &impl Serialize, redactor: &Redactor) -> usize {
    to_json_string(value, &Scrub::of(redactor)).unwrap().len()
}

fn main() {
    let redactor = Redactor::new(None).unwrap();
    let window = Window {
        uid: "bench".to_owned(),
        handle: "1".to_owned(),
        title: "Bench".to_owned(),
        process: "bench".to_owned(),
        pid: 1,
        bounds: Rect::new(0, 0, 1920, 1080),
        focused: true,
        minimized: false,
        url: None,
    };
    let columns = [
        "shown",
        "hash",
        "find first",
        "find by name",
        "find //*",
        "diff",
        "json patch",
        "structure",
        "sketch",
        "description",
        "capture to JSON",
        "snapshot and diff",
    ];
    println!("| elements | {} |", columns.join(" | "));
    println!("|---:|{}", "---:|".repeat(columns.len()));
    for size in [100, 1_000, 10_000, 100_000] {
        let (old, new) = (Arc::new(tree_of(size, false)), Arc::new(tree_of(size, true)));
        let view = view_of(&old, &redactor);
        let find = |text: &str| {
            let selector = Selector::parse(text).unwrap();
            best(|| selector.resolve(&old, 10))
        };
        let request = StructureRequest { depth: 64, ..StructureRequest::default() };
        let figures = [
            best(|| redactor.shown(&old, "Bench").redacted),
            best(|| old.hash(Tree::ROOT)),
            find("Window/Row"),
            find("//Button[name=\"Last\"]"),
            find("//*"),
            best(|| diff_trees(&*old, &*new).len()),
            best(|| json_patch(&*old, &*new).len()),
            best(|| json_of(&Structure::new(view.clone(), &request).unwrap(), &redactor)),
            best(|| {
                draw_sketch(&old, window.bounds, &SketchOptions::default(), &SketchReading::default())
                    .text
                    .len()
            }),
            best(|| describe::describe_tree(&window, &old, Tree::ROOT).len()),
            best(|| json_of(&Structure::new(view_of(&old, &redactor), &request).unwrap(), &redactor)),
            best(|| {
                let changes = Changes::diff_views(view.clone(), view_of(&new, &redactor), DiffFormat::Custom);
                json_of(&changes, &redactor)
            }),
        ];
        let figures: Vec<String> = figures.iter().map(|figure| format!("{figure:.2}")).collect();
        println!("| {size} | {} |", figures.join(" | "));
    }
}
