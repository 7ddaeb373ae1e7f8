//! What each way of showing a window costs: bytes, and tokens by a real tokenizer, as a Markdown table.
//!
//! `cargo bench --bench tokens`. It measures sizes, not time, on the scenarios and on the trees that were
//! recorded of real programs, and fails if an outline lacks something that can be acted on.
#![allow(
    clippy::disallowed_methods,
    reason = "a benchmark runs in real time and sets up its own environment"
)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a benchmark is run by hand"
)]

#[path = "../tests/support/mod.rs"]
mod support;

use os_screen_observer::model::Tree;
use os_screen_observer::observer::identity::WindowCapture;
use os_screen_observer::observer::outline::{OutlineOptions, in_view, is_actionable, outline_tree};
use os_screen_observer::observer::sketch::{SketchOptions, SketchReading, draw_sketch};
use os_screen_observer::observer::{Refs, describe};
use serde_json::Value;
use support::trees;

struct Row {
    name: String,
    elements: usize,
    /// In the order of `COLUMNS`.
    texts: Vec<String>,
}

const COLUMNS: [&str; 5] = ["compact JSON", "pretty JSON", "description", "sketch", "outline"];

fn row(name: String, json: &Value) -> Row {
    let tree = trees::tree(json);
    let (refs, window, view) = (Refs::default(), trees::window(&name), trees::view(tree.clone()));
    let sight = WindowCapture { window: &window, view: &view };
    let outline = outline_tree(&tree, &OutlineOptions::default(), |nodes| {
        refs.assign_refs(sight, nodes.iter().copied())
    })
    .text;
    check_complete(&name, &tree, &outline);
    let drawn =
        draw_sketch(&tree, tree.root().bounds, &SketchOptions::default(), &SketchReading::default()).text;
    let texts = vec![
        json.to_string(),
        serde_json::to_string_pretty(json).unwrap(),
        describe::describe_tree(&window, &tree, Tree::ROOT),
        drawn,
        outline,
    ];
    Row { name, elements: tree.len(), texts }
}

fn check_complete(name: &str, tree: &Tree, outline: &str) {
    let seen = in_view(tree, Tree::ROOT);
    let wanted = (0..tree.len()).filter(|&node| seen[node] && is_actionable(&tree[node])).count();
    let is_ref = |word: &str| word.strip_prefix('e').is_some_and(|rest| rest.parse::<u64>().is_ok());
    let found = outline.lines().filter(|line| line.split_whitespace().next().is_some_and(is_ref)).count();
    assert_eq!(found, wanted, "{name}: the outline lacks something that can be acted on");
}

fn main() {
    let tokenizer = tiktoken_rs::o200k_base_singleton();
    println!("Bytes / tokens (o200k) of one window in each format.\n");
    println!("| window | elements | {} | JSON : outline |", COLUMNS.join(" | "));
    println!("|---|---:|{}---:|", "---:|".repeat(COLUMNS.len()));
    for (name, json) in trees::recorded().into_iter().chain(trees::of_scenarios()) {
        let row = row(name, &json);
        let count = |text: &String| tokenizer.encode_ordinary(text).len();
        let tokens: Vec<usize> = row.texts.iter().map(count).collect();
        let cells: Vec<String> = row
            .texts
            .iter()
            .zip(&tokens)
            .map(|(text, tokens)| format!("{} / {tokens}", text.len()))
            .collect();
        let (first, last) = (row.texts[0].len() as f64, row.texts[4].len() as f64);
        let ratio = format!("{:.1} / {:.1}", first / last, tokens[0] as f64 / tokens[4] as f64);
        println!("| {} | {} | {} | {ratio} |", row.name, row.elements, cells.join(" | "));
    }
}
