//! docs/configuration.md against the code: every key, flag and limit once, none unknown, with the default
//! and the range that the program really has. What a key means is a person's to say.

use std::path::Path;

use clap::CommandFactory;
use os_screen_observer::cli::Cli;
use os_screen_observer::config::{Config, KEYS};
use serde_json::{Value, json};

fn read(path: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap()
}

/// The rows of the tables under a heading, as cells; each begins with a name in backticks.
fn rows(heading: &str) -> Vec<Vec<String>> {
    let page = read("docs/configuration.md");
    let mark = format!("\n## {heading}\n");
    let (_, rest) = page.split_once(&mark).expect("the page has lost a heading");
    let section = rest.split("\n## ").next().unwrap();
    let rows = section.lines().filter(|line| line.starts_with("| `"));
    rows.map(|line| line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect()).collect()
}

fn bare(cell: &str) -> &str {
    cell.trim_matches('`')
}

fn names(rows: &[Vec<String>]) -> Vec<&str> {
    rows.iter().map(|row| bare(&row[0])).collect()
}

#[test]
fn every_key_is_there_once_and_in_order() {
    let keys: Vec<&str> = KEYS.iter().map(|key| key.path).collect();
    assert_eq!(names(&rows("Keys")), keys);
}

#[test]
fn defaults_and_ranges_are_the_real_ones() {
    let defaults = json!(Config::default());
    for (key, row) in KEYS.iter().zip(rows("Keys")) {
        let default = defaults.pointer(&format!("/{}", key.path.replace('.', "/"))).unwrap();
        let told: Value = serde_json::from_str(bare(&row[1])).expect(key.path);
        assert_eq!(told, *default, "the default of {}", key.path);
        assert_eq!(row[2], key.rule.expectation(), "what {} accepts", key.path);
    }
}

#[test]
fn guards_are_marked_and_nothing_else_is() {
    for (key, row) in KEYS.iter().zip(rows("Keys")) {
        assert_eq!(row[3].starts_with("**guard** "), key.guard, "{}", key.path);
    }
}

#[test]
fn every_flag_is_there_once() {
    let command = Cli::command();
    let flags = command.get_arguments().filter_map(|flag| flag.get_long());
    let flags: Vec<String> = flags.filter(|name| !["help", "version"].contains(name)).map(dashed).collect();
    assert_eq!(names(&rows("Flags")), flags);
}

fn dashed(name: &str) -> String {
    format!("--{name}")
}

#[test]
fn flags_name_keys_that_exist() {
    for row in rows("Flags").iter().filter(|row| !row[1].is_empty()) {
        assert!(KEYS.iter().any(|key| key.path == bare(&row[1])), "{row:?}");
    }
}

#[test]
fn every_limit_is_there_with_its_value() {
    let source = read("src/config/limits.rs");
    let limits = source.lines().filter_map(|line| line.strip_prefix("pub const "));
    let limits: Vec<(String, String)> = limits.map(name_and_value).collect();
    let told = rows("Limits").into_iter().map(|row| (bare(&row[0]).to_owned(), row[1].clone()));
    assert_eq!(told.collect::<Vec<_>>(), limits);
}

/// `MCP_LINE_BYTES: usize = 4 << 20;` as a name and a number.
fn name_and_value(declaration: &str) -> (String, String) {
    let (name, rest) = declaration.split_once(": ").unwrap();
    let (_, value) = rest.trim_end_matches(';').split_once(" = ").unwrap();
    let value = value.replace('_', "");
    let number = |text: &str| text.parse::<u64>().expect(declaration);
    let shown = match (value.strip_prefix("Duration::fromsecs("), value.split_once(" << ")) {
        (Some(seconds), _) => format!("{} s", number(seconds.trim_end_matches(')'))),
        (None, Some((mantissa, shift))) => (number(mantissa) << number(shift)).to_string(),
        (None, None) => number(&value).to_string(),
    };
    (name.to_owned(), shown)
}
