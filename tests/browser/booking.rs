//! A booking site as pages make them: lists of plain elements, rows that read alike, files, and secrets that the page
//! filled in itself. What a model reads of it, and what its clicks come to.

use serde_json::{Value, json};

use crate::PageTest;
use crate::telling::{check, lines, ref_of};

const WEB: &[&str] = &["--profile", "web"];

fn open_hotel() -> (PageTest, String) {
    let mut page = PageTest::open_flagged("hotel.html", WEB, &[]);
    let look = lines(&mut page, "look", json!({}));
    (page, look)
}

fn step(page: &mut PageTest, step: Value) -> String {
    lines(page, "act", json!({ "steps": [step] }))
}

/// Clicks the line that has these words, and reads what the page says then.
#[track_caller]
fn check_click(page: &mut PageTest, look: &str, words: &str, says: &str) {
    let click =
        json!({ "do": "click_element", "ref": ref_of(look, words), "expect": format!("text: {says}") });
    check(&step(page, click), &["confirmed"], &[]);
}

#[test]
fn what_one_listener_hears_of_is_clicked_part_by_part() {
    let (mut page, look) = open_hotel();
    check(&look, &["Button \"☆\"", "Button \"One night\""], &[]);
    assert_eq!(look.matches("Button \"☆\"").count(), 4, "{look}");
    check_click(&mut page, &look, "\"Two nights\"", "nights: Two nights");
    let third = look.lines().filter(|line| line.contains("☆")).nth(2).unwrap();
    check_click(&mut page, third, "☆", "stars: 3");
}

#[test]
fn an_option_of_a_list_of_plain_elements_is_selected() {
    let (mut page, look) = open_hotel();
    check(&look, &["Button \"Any view\" {collapsed}"], &["Garden view"]);
    let choose = json!({ "do": "select_option", "ref": ref_of(&look, "Any view"), "option_name": "Garden view",
        "expect": "text: view: Garden view" });
    check(&step(&mut page, choose), &["confirmed"], &[]);
    let open =
        json!({ "do": "click_element", "ref": ref_of(&lines(&mut page, "look", json!({})), "Garden view") });
    let opened = step(&mut page, open);
    check_click(&mut page, &opened, "Button \"Street view\"", "view: Street view");
    let closed = lines(&mut page, "look", json!({}));
    let wrong =
        json!({ "do": "select_option", "ref": ref_of(&closed, "Street view"), "option_name": "Moon view" });
    check(&step(&mut page, wrong), &["failed", "Garden view"], &[]);
}

#[test]
fn a_row_is_found_by_two_words_and_told() {
    let (mut page, _) = open_hotel();
    let found = lines(&mut page, "find", json!({ "text": "book deluxe" }));
    let first = found.lines().next().unwrap().to_owned();
    check(&first, &["Button \"Book\"", "in row \"Deluxe · 150 euro\""], &[]);
    let found = lines(&mut page, "find", json!({ "text": "single", "role": "button" }));
    check(&found, &["Button \"Book\"", "in row \"Single · 90 euro\""], &["Suite", "Text"]);
    check_click(&mut page, &first, "Book", "booked: Deluxe");
}

#[test]
fn rows_in_another_order_are_a_change_and_a_page_that_scrolls_is_none() {
    let (mut page, look) = open_hotel();
    let sort = json!({ "do": "click_element", "ref": ref_of(&look, "Cheapest first") });
    let said = step(&mut page, sort);
    check(&said, &["order:"], &["nothing changed", "nothing visible changed"]);
    let at = |words: &str| said.find(words).unwrap_or_else(|| panic!("{words}: {said}"));
    assert!(at("Single") < at("Deluxe") && at("Deluxe") < at("Suite"), "{said}");
    let below = json!({ "do": "click_element", "selector": "//Button[name=\"Below\"]" });
    check(&step(&mut page, below), &["it was sent, and nothing visible changed"], &["failed"]);
}

#[test]
fn a_click_that_fetches_a_file_says_so_and_the_file_is_kept_in_the_same_list() {
    let (mut page, look) = open_hotel();
    let fetch = json!({ "do": "click_element", "ref": ref_of(&look, "\"Prices\"") });
    let steps = json!([fetch, { "do": "downloads" }, { "do": "keep_download", "id": "d1" }]);
    let said = lines(&mut page, "act", json!({ "steps": steps }));
    check(
        &said,
        &["a download began: d1 '", "3 keep_download", "d1 \"", " kept, 8 bytes"],
        &["{\"", "failed"],
    );
    let unknown = step(&mut page, json!({ "do": "keep_download", "id": "d9" }));
    check(&unknown, &["no download is called 'd9'", "there are d1"], &[]);
}

#[test]
fn a_request_that_fails_is_logged_with_its_method() {
    let (mut page, look) = open_hotel();
    let steps = json!([{ "do": "click_element", "ref": ref_of(&look, "Send wish") },
        { "do": "wait_for", "any_of": [{ "kind": "text_visible", "regex": "Rooms" }] }]);
    lines(&mut page, "act", json!({ "steps": steps }));
    let began = std::time::Instant::now();
    loop {
        let log = step(&mut page, json!({ "do": "page_log" }));
        if log.contains("POST: ") {
            check(&log, &["404", "/missing"], &["{\""]);
            return;
        }
        assert!(began.elapsed() < crate::PATIENCE, "{log}");
    }
}

/// H-350 on browser: a secret that the page filled in itself, also when the page shows it.
#[test]
fn what_the_page_filled_in_stays_hidden() {
    let (mut page, look) = open_hotel();
    let lacks = &["prefilled", "4711", "4929", "2222"];
    check(&look, &["Edit \"Password\"", "secret"], lacks);
    check(&lines(&mut page, "read_page", json!({ "part": "whole" })), &["Rooms"], lacks);
    check(&lines(&mut page, "find", json!({ "text": "Password" })), &["Password"], lacks);
    let reveal = json!({ "do": "click_element", "ref": ref_of(&look, "Show password") });
    check(&step(&mut page, reveal), &[], lacks);
    check(&lines(&mut page, "look", json!({ "changes": true })), &[], lacks);
    check(&lines(&mut page, "look", json!({ "keep": ["hidden", "details"] })), &["secret"], lacks);
    let structure = page.call("get_window_structure", json!({ "depth": 64 })).to_string();
    check(&structure, &["Password"], lacks);
}

fn open_trip() -> (PageTest, String) {
    let mut page = PageTest::open_flagged("trip.html", WEB, &[]);
    let look = lines(&mut page, "look", json!({}));
    (page, look)
}

/// The layer is named, not the piece of it that the pointer met, and the step that closes it works.
#[test]
fn a_picker_that_covers_a_button_is_named_with_the_way_out() {
    let (mut page, look) = open_trip();
    let click = |words: &str| json!({ "do": "click_element", "ref": ref_of(&look, words) });
    step(&mut page, click("\"Day\""));
    let said = step(&mut page, click("\"Book\""));
    check(
        &said,
        &["ElementOccluded", "'Choose a day' covers it; close that first, with press_key escape"],
        &[],
    );
    let steps = json!([{ "do": "press_key", "keys": "escape" }, click("\"Book\"")]);
    check(&lines(&mut page, "act", json!({ "steps": steps })), &["\"booked\""], &["failed"]);
}

#[test]
fn options_of_a_list_that_is_closed_are_no_changes() {
    let (mut page, look) = open_trip();
    let choose =
        json!({ "do": "select_option", "ref": ref_of(&look, "\"Country\""), "option_name": "Italy" });
    check(&step(&mut page, choose), &["ComboBox \"City\" =Rome"], &["Milan", "Turin", "Lyon"]);
}

#[test]
fn a_click_that_opens_or_closes_a_window_has_changed_something() {
    let (mut page, look) = open_trip();
    let open = json!({ "do": "click_element", "ref": ref_of(&look, "Open another") });
    let nothing = ["nothing changed", "nothing visible changed"];
    let said = step(&mut page, open);
    check(&said, &["new window", "Button \"Close\""], &nothing);
    let close = json!({ "do": "click_element", "ref": ref_of(&said, "\"Close\"") });
    check(&step(&mut page, close), &["closed window"], &nothing);
    let said = lines(&mut page, "click_element", json!({ "ref": ref_of(&look, "Open another") }));
    check(&said, &["done", "new window"], &nothing);
}

#[test]
fn items_with_a_gap_between_them_are_words_of_their_own() {
    let (_, look) = open_trip();
    check(&look, &["\"Country Day Payment\""], &[]);
}

#[test]
fn a_card_that_is_dragged_is_told_where_it_stands_and_reused_rows_are_not_moved() {
    let mut page = PageTest::open_flagged("board.html", WEB, &[]);
    let look = lines(&mut page, "look", json!({}));
    let drag = json!({ "do": "drag", "from": { "ref": ref_of(&look, "\"Write\"") }, "to": { "ref": ref_of(&look, "\"Pack\"") } });
    let said = step(&mut page, drag);
    check(
        &said,
        &["Button \"Write\" to e", "order: in Group \"Done\": Button \"Pack\", Button \"Write\""],
        &["\"path\"", "[["],
    );
    let jump = json!({ "do": "click_element", "ref": ref_of(&look, "\"Jump\"") });
    check(&step(&mut page, jump), &["\"Row 5\""], &["order:"]);
}
