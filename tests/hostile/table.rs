//! From the tests' comments to the table in docs/security.md.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use crate::rows::{Row, SECTIONS};
use crate::support::{project, read};

const MARKS: (&str, &str) = ("<!-- rows:begin -->\n", "<!-- rows:end -->");

/// The places at which a row can be tried, as the comments name them.
const SURFACES: &[&str] = &[
    "stdio",
    "REST",
    "/mcp",
    "replay",
    "act",
    "clickthrough",
    "page",
    "start",
    "terminal",
    "desktop",
    "browser",
    "code",
];

struct Held {
    surfaces: Vec<String>,
    test: String,
}

#[test]
fn every_row_has_a_test_or_a_reason() {
    let held = held();
    for row in rows() {
        assert!(
            held.contains_key(row.id) || row.not_tried.is_some(),
            "{} has neither a test nor a reason",
            row.id
        );
    }
    for id in held.keys() {
        assert!(rows().any(|row| row.id == id), "{id} is no row of rows.rs");
    }
}

#[test]
fn the_table_in_the_docs_is_fresh() {
    let path = project().join("docs/security.md");
    let page = read(&path);
    let (head, rest) = page.split_once(MARKS.0).expect("docs/security.md has the first mark");
    let (_, tail) = rest.split_once(MARKS.1).expect("docs/security.md has the second mark");
    let fresh = format!("{head}{}{}{}{tail}", MARKS.0, table(&held()), MARKS.1);
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, &fresh).unwrap();
    } else {
        assert!(page == fresh, "docs/security.md is stale; tests/hostile/main.rs says how to make it anew");
    }
}

fn rows() -> impl Iterator<Item = &'static Row> {
    SECTIONS.iter().flat_map(|(_, rows)| rows.iter())
}

fn table(held: &BTreeMap<String, Vec<Held>>) -> String {
    let mut text = String::new();
    for (heading, rows) in SECTIONS {
        let _ = write!(
            text,
            "\n### {heading}\n\n| id | what comes in | what must come of it | tried on | tests |\n|---|---|---|---|---|\n"
        );
        for row in *rows {
            let tests = held.get(row.id).map_or(&[][..], Vec::as_slice);
            let _ = writeln!(
                text,
                "| {} | {} | {} | {} | {} |",
                row.id,
                row.input,
                row.outcome,
                tried_on(tests),
                evidence(row, tests)
            );
        }
    }
    text
}

fn tried_on(tests: &[Held]) -> String {
    let named = |surface: &&&str| tests.iter().any(|held| held.surfaces.iter().any(|name| name == **surface));
    SURFACES.iter().filter(named).copied().collect::<Vec<_>>().join(", ")
}

fn evidence(row: &Row, tests: &[Held]) -> String {
    let mut parts: Vec<String> = tests.iter().map(|held| format!("`{}`", held.test)).collect();
    parts.extend(row.not_tried.map(|reason| format!("**not tried:** {reason}")));
    parts.join("<br>")
}

/// Every test whose comment names rows, by row.
fn held() -> BTreeMap<String, Vec<Held>> {
    let mut found: BTreeMap<String, Vec<Held>> = BTreeMap::new();
    for file in ["tests", "src"].iter().flat_map(|folder| sources(&project().join(folder))) {
        let text = read(&file);
        let lines: Vec<&str> = text.lines().collect();
        for (number, line) in lines.iter().enumerate() {
            let Some(comment) = line.trim_start().strip_prefix("/// H-") else { continue };
            let place = format!("{}:{}", file.display(), number + 1);
            let (ids, surfaces) = parts(comment, &place);
            let test = test_below(&lines[number..], &file, &place);
            for id in ids {
                found.entry(id).or_default().push(Held { surfaces: surfaces.clone(), test: test.clone() });
            }
        }
    }
    found
}

/// `01, H-02 on REST, /mcp: what holds` as its ids and surfaces.
fn parts(comment: &str, place: &str) -> (Vec<String>, Vec<String>) {
    let (marks, _) =
        comment.split_once(": ").unwrap_or_else(|| panic!("{place}: no `: ` after the surfaces"));
    let (ids, surfaces) = marks.split_once(" on ").unwrap_or_else(|| panic!("{place}: no ` on SURFACE`"));
    let surfaces: Vec<String> = surfaces.split(", ").map(str::to_owned).collect();
    for surface in &surfaces {
        assert!(SURFACES.contains(&surface.as_str()), "{place}: `{surface}` is none of {SURFACES:?}");
    }
    let ids = ids.split(", ").map(|id| format!("H-{}", id.trim_start_matches("H-"))).collect();
    (ids, surfaces)
}

/// The function that the comment belongs to, as `file::name`.
fn test_below(lines: &[&str], file: &Path, place: &str) -> String {
    let marked = lines.iter().take(8).any(|line| line.trim() == "#[test]");
    assert!(marked, "{place}: no test follows");
    let name = lines
        .iter()
        .find_map(|line| line.trim_start().trim_start_matches("async ").strip_prefix("fn "))
        .and_then(|rest| rest.split(['(', '<']).next())
        .unwrap_or_else(|| panic!("{place}: no test follows"));
    let shown = file.strip_prefix(project()).unwrap_or(file);
    format!("{}::{name}", shown.with_extension("").display())
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut entries: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|end| end == "rs") {
            found.push(path);
        }
    }
    found
}
