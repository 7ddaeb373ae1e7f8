//! Values as a person would have put them in: pages hear of them once, keep them, and what they make of them is told.

use serde_json::{Value, json};

use crate::PageTest;
use crate::telling::{check, lines, ref_of};

fn open() -> PageTest {
    PageTest::open_flagged("filling.html", &["--profile", "web"], &[])
}

/// One `act` whose steps name elements by words of their lines.
fn act(page: &mut PageTest, steps: &[(&str, &str, Value)]) -> String {
    let look = lines(page, "look", json!({}));
    let steps: Vec<Value> = steps
        .iter()
        .map(|(tool, words, with)| {
            let mut step = json!({ "do": tool, "ref": ref_of(&look, &format!("\"{words}\"")) });
            step.as_object_mut().unwrap().extend(with.as_object().unwrap().clone());
            step
        })
        .collect();
    lines(page, "act", json!({ "steps": steps }))
}

#[test]
fn a_date_picker_that_the_focus_opens_learns_the_value() {
    let mut page = open();
    let steps = [
        ("set_value", "Checked", json!({ "value": "2024-03-01 13:45" })),
        ("set_value", "Note", json!({ "value": "n" })),
        ("click_element", "Save", json!({ "expect": "text: saved 2024-03-01 13:45" })),
    ];
    check(&act(&mut page, &steps), &["confirmed"], &["failed"]);
}

#[test]
fn a_page_hears_once_of_a_value() {
    let mut page = open();
    let steps = [
        ("set_value", "Note", json!({ "value": "one" })),
        ("set_value", "Amount", json!({ "value": "2" })),
        ("set_value", "Deep", json!({ "value": "three" })),
        ("click_element", "Save", json!({ "expect": "text: saved" })),
    ];
    check(&act(&mut page, &steps), &["\"heard 3 three\""], &["heard 4"]);
    let typed = [("click_element", "Note", json!({}))];
    act(&mut page, &typed);
    lines(
        &mut page,
        "act",
        json!({ "steps": [{ "do": "type_text", "text": "!" }, { "do": "press_key", "keys": "tab" }] }),
    );
    page.until_said("heard 4 one!");
}

#[test]
fn letters_in_another_case_are_what_was_written_and_a_password_is_not() {
    let mut page = open();
    let steps = [
        ("set_value", "Code", json!({ "value": "ab-12" })),
        ("set_value", "Phone", json!({ "value": "5551234567" })),
    ];
    let said = act(&mut page, &steps);
    check(
        &said,
        &["confirmed", "the page wrote it as 'AB-12'", "the page wrote it as '(555) 1234567'"],
        &["failed"],
    );
    let said = act(&mut page, &[("set_value", "Pass", json!({ "value": "secret" }))]);
    check(&said, &["failed"], &["SECRET", "'secret'"]);
}

#[test]
fn a_value_that_the_browser_does_not_accept_is_told_and_marked() {
    let mut page = open();
    let steps = [
        ("set_value", "Num", json!({ "value": "4" })),
        ("set_value", "Day", json!({ "value": "2024-12-31" })),
    ];
    let said = act(&mut page, &steps);
    check(&said, &["invalid: 'Num': ", "invalid: 'Day': "], &["failed"]);
    let look = lines(&mut page, "look", json!({ "changes": false }));
    for field in ["\"Num\"", "\"Day\""] {
        let line = look.lines().find(|line| line.contains(field)).unwrap();
        assert!(line.contains("invalid"), "{line}");
    }
    let steps = [
        ("set_value", "Num", json!({ "value": "5" })),
        ("set_value", "Day", json!({ "value": "2025-12-31" })),
    ];
    check(&act(&mut page, &steps), &["confirmed"], &["invalid:"]);
    check(&lines(&mut page, "look", json!({ "changes": false })), &["\"Num\""], &["invalid"]);
}

#[test]
fn a_field_that_is_only_read_says_so() {
    let mut page = open();
    let look = lines(&mut page, "look", json!({}));
    for field in ["\"Fixed\"", "\"Area\""] {
        let line = look.lines().find(|line| line.contains(field)).unwrap();
        assert!(line.contains("readonly"), "{line}");
    }
    check(&look, &["\"Ink\" =#102030"], &[]);
    let said = act(&mut page, &[("set_value", "Fixed", json!({ "value": "x" }))]);
    check(&said, &["'Fixed' is read-only"], &[]);
}

#[test]
fn an_option_of_a_field_with_suggestions_is_one_of_its_own() {
    let mut page = open();
    let said = act(&mut page, &[("select_option", "City", json!({ "option_name": "Zwolle" }))]);
    check(&said, &["confirmed", "city Zwolle"], &["failed"]);
    let said = act(&mut page, &[("select_option", "City", json!({ "option_name": "New York" }))]);
    check(&said, &["confirmed", "city NYC"], &["failed"]);
    let said = act(&mut page, &[("select_option", "City", json!({ "option_name": "Bonn" }))]);
    check(&said, &["there are: Aachen, Zwolle, New York", "set_value"], &["three"]);
}

#[test]
fn two_options_of_one_name_are_told_apart_by_their_groups() {
    let mut page = open();
    let said = act(&mut page, &[("select_option", "Grouped", json!({ "option_name": "x" }))]);
    check(&said, &["failed", "2 options are named 'x'", "A / x", "B / x", "option_index"], &[]);
    let said = act(&mut page, &[("select_option", "Grouped", json!({ "option_name": "B / x" }))]);
    check(&said, &["confirmed", "group value 3"], &["failed"]);
    let said = act(&mut page, &[("select_option", "Grouped", json!({ "option_name": "z" }))]);
    check(&said, &["confirmed", "group value 4"], &["failed"]);
    let said = act(&mut page, &[("select_option", "Grouped", json!({ "option_index": 0 }))]);
    check(&said, &["confirmed", "group value 1"], &["failed"]);
}
