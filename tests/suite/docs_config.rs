//! docs/configuration.md against the code: every key, flag and limit once, none unknown.
//! `UPDATE_DOCS=1 cargo test --test suite docs_config` makes the rows of the keys anew.

use crate::support::{project, read};
use clap::CommandFactory;
use os_screen_observer::cli::Cli;
use os_screen_observer::config::KEYS;
use os_screen_observer::docs;

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
fn the_rows_of_the_keys_are_fresh() {
    let page = read("docs/configuration.md");
    let fresh = docs::configuration_page(&page);
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(project().join("docs/configuration.md"), fresh).unwrap();
        return;
    }
    let command = "UPDATE_DOCS=1 cargo test --test suite docs_config";
    assert!(page == fresh, "docs/configuration.md is stale: {command}");
}

/// A row has four cells, and a line break would end it.
#[test]
fn what_a_key_means_fits_into_a_table() {
    for key in KEYS.iter() {
        let meaning = key.meaning();
        assert!(!meaning.is_empty() && !meaning.contains(['|', '\n']), "{}: {meaning}", key.path);
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
