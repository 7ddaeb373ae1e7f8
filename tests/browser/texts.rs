//! Texts as a person sees them: code with its blanks, nothing that is not shown, and lists that are scrolled in a box.

use serde_json::json;

use crate::PageTest;
use crate::telling::{check, lines, ref_of};

const WEB: &[&str] = &["--profile", "web"];

fn open() -> PageTest {
    PageTest::open_flagged("texts.html", WEB, &[])
}

#[test]
fn code_is_read_with_its_blanks() {
    let mut page = open();
    let read = lines(&mut page, "read_page", json!({}));
    check(
        &read,
        &["```\ndef f(n):\n    s = 0\n\n    return s\n```", "```\nif x:\n  y = 1\n```", "one line"],
        &[],
    );
    let look = lines(&mut page, "look", json!({}));
    check(&look, &["\"Code\" =\"def f(n):\\n    s = 0\\n\\n    return s\""], &[]);
}

#[test]
fn links_that_do_not_show_are_not_read() {
    let mut page = open();
    let read = lines(&mut page, "read_page", json!({}));
    check(&read, &["Before", "Open link"], &["Ghost link", "Shy link"]);
}

#[test]
fn a_value_stays_in_its_column_beside_empty_cells() {
    let mut page = open();
    let look = lines(&mut page, "look", json!({ "keep": ["hidden"] }));
    check(&look, &["Row Ada |  | 2024-01-02 | n", "Row Bob | 2024-01-03", "Row  |  | only paid"], &[]);
}

#[test]
fn however_little_is_asked_for_something_is_read() {
    let mut page = open();
    for most in [100, 120, 150, 200] {
        let read = lines(&mut page, "read_page", json!({ "max_tokens": most }));
        check(&read, &["# A heading with several words", "more:"], &[]);
    }
}

#[test]
fn rows_that_are_scrolled_away_in_a_box_are_counted_and_read() {
    let mut page = open();
    let look = lines(&mut page, "look", json!({}));
    check(&look, &["\"Row 1\"", "out of view (scroll)"], &["\"Row 40\"", "{outside}"]);
    lines(&mut page, "click_element", json!({ "selector": "//Button[name=\"Go 60\"]" }));
    let look = lines(&mut page, "look", json!({ "changes": false }));
    check(&look, &["\"Row 60\"", "out of view (scroll)"], &["\"Row 1\"", "{outside}", ",-"]);
    let read = lines(&mut page, "read_page", json!({}));
    check(&read, &["Row 1\n", "Row 60"], &[]);
}

#[test]
fn typed_lines_that_an_editor_indents_again_stop_the_list() {
    let mut page = open();
    let look = lines(&mut page, "look", json!({}));
    let steps = json!([{ "do": "click_element", "ref": ref_of(&look, "\"Self-indenting\"") },
        { "do": "type_text", "text": "def f(n):\n    s = 0\n    return s" },
        { "do": "set_value", "ref": ref_of(&look, "\"Next\""), "value": "went on" }]);
    let said = lines(&mut page, "act", json!({ "steps": steps }));
    check(&said, &["2 type_text", "failed", "set_value"], &["3 set_value"]);
    let text = "def f(n):\n    s = 0\n    return s";
    let steps = json!([{ "do": "set_value", "ref": ref_of(&look, "\"Self-indenting\""), "value": text }]);
    check(&lines(&mut page, "act", json!({ "steps": steps })), &["confirmed"], &[]);
    let look = lines(&mut page, "look", json!({ "changes": false }));
    check(&look, &["=\"def f(n):\\n    s = 0\\n    return s\""], &["went on"]);
}

#[test]
fn what_is_dragged_or_takes_files_has_a_ref() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("kettle.txt"), "k").unwrap();
    let root = folder.path().display().to_string();
    let mut page = PageTest::open_flagged("texts.html", WEB, &[("OSO_BROWSER__UPLOAD_ROOT", &root)]);
    let look = lines(&mut page, "look", json!({}));
    for words in ["\"Speed\"", "\"Cost\"", "\"Alpha\"", "\"Beta\"", "\"Card of work", "\"Close card\""] {
        ref_of(&look, words);
    }
    let steps = json!([{ "do": "click_element", "ref": ref_of(&look, "Drop or browse") },
        { "do": "choose_files", "paths": ["kettle.txt"], "expect": "text: picked kettle.txt" }]);
    check(
        &lines(&mut page, "act", json!({ "steps": steps })),
        &["confirmed", "picked kettle.txt"],
        &["failed"],
    );
    let steps = json!([{ "do": "click_element", "ref": ref_of(&look, "Drop or browse") },
        { "do": "choose_files", "paths": ["kettle.txt"] }]);
    check(&lines(&mut page, "act", json!({ "steps": steps })), &["choose_files: confirmed"], &["failed"]);
}
