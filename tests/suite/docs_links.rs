//! Every relative link in the documents leads to a file that is there, and to a heading that it has.

use std::path::{Path, PathBuf};

use crate::support::{project, read};

/// All Markdown files of the project's own.
fn documents() -> Vec<PathBuf> {
    ["", "docs", "docs/design"].iter().flat_map(|folder| markdown_in(&project().join(folder))).collect()
}

fn markdown_in(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.extension().is_some_and(|extension| extension == "md")).collect()
}

/// The targets of `[text](target)` outside of code blocks.
fn links(text: &str) -> Vec<String> {
    let pattern = regex::Regex::new(r"\]\(([^)\s]+)\)").unwrap();
    let prose: Vec<&str> = text.split("```").step_by(2).collect();
    pattern.captures_iter(&prose.join("\n")).map(|found| found[1].to_owned()).collect()
}

/// A heading's anchor, as GitHub makes it: <https://github.com/gjtorikian/html-pipeline>.
fn anchor(heading: &str) -> String {
    let kept = heading.trim().chars().filter(|one| one.is_alphanumeric() || "-_ ".contains(*one));
    kept.collect::<String>().to_lowercase().replace(' ', "-")
}

fn has_anchor(path: &Path, wanted: &str) -> bool {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.lines()
        .filter(|line| line.starts_with('#'))
        .any(|line| anchor(line.trim_start_matches('#')) == wanted)
}

fn problem(document: &Path, link: &str) -> Option<String> {
    if link.contains("://") || link.starts_with("mailto:") {
        return None;
    }
    let (file, wanted) = link.split_once('#').unwrap_or((link, ""));
    let target = if file.is_empty() { document.to_owned() } else { document.parent()?.join(file) };
    let shown = document.strip_prefix(project()).unwrap_or(document).display();
    if !target.exists() {
        return Some(format!("{shown}: {link} leads to no file"));
    }
    (!wanted.is_empty() && !has_anchor(&target, wanted))
        .then(|| format!("{shown}: {link} leads to no heading"))
}

#[test]
fn every_link_leads_somewhere() {
    let mut problems = Vec::new();
    for document in documents() {
        let text = std::fs::read_to_string(&document).unwrap();
        problems.extend(links(&text).iter().filter_map(|link| problem(&document, link)));
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn a_broken_link_is_found() {
    let readme = project().join("README.md");
    assert!(problem(&readme, "docs/missing.md").is_some());
    assert!(problem(&readme, "docs/tools.md#missing").is_some());
    assert!(problem(&readme, "docs/tools.md#look").is_none());
    assert_eq!(links("a [b](c.md) and\n```\n[d](e)\n```\n"), ["c.md"]);
}

#[test]
fn every_page_is_in_the_index() {
    let index = read("docs/README.md");
    let pages =
        markdown_in(&project().join("docs")).into_iter().map(|path| path.file_name().unwrap().to_owned());
    for page in pages.filter(|page| page != "README.md") {
        let page = page.to_string_lossy().into_owned();
        assert!(index.contains(&format!("({page}")), "docs/README.md does not lead to {page}");
    }
}

/// A document that names a file of the project names one that is there.
#[test]
fn every_file_that_is_named_is_there() {
    let pattern = regex::Regex::new(r"`((?:src|tests|docs|benches|scenarios|fuzz)/[a-z0-9_./-]+)`").unwrap();
    let mut missing = Vec::new();
    for document in documents() {
        let text = std::fs::read_to_string(&document).unwrap();
        let named = pattern.captures_iter(&text).map(|found| found[1].to_owned());
        let gone = named.filter(|path| !project().join(path).exists());
        missing.extend(gone.map(|path| format!("{}: {path}", document.display())));
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

/// The tests that docs/design/defects.md names: a file, and then what is in it.
#[test]
fn every_defect_is_held_by_a_test_that_is_there() {
    let text = read("docs/design/defects.md");
    let pattern = regex::Regex::new(r"`((?:tests|src)/[a-z_/]+\.rs)` `([a-z0-9_]+)`").unwrap();
    let rows: Vec<&str> =
        text.lines().filter(|line| line.starts_with("| ") && !line.contains("held by")).collect();
    assert!(rows.len() >= 15, "{rows:?}");
    for row in rows {
        let mut named = pattern.captures_iter(row).peekable();
        assert!(named.peek().is_some(), "no test in {row}");
        for (_, [file, test]) in named.map(|found| found.extract()) {
            assert!(read(file).contains(&format!("fn {test}(")), "{file} has no {test}");
        }
    }
}
