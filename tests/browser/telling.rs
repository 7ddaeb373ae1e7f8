//! What a model is told of a page: what the browser does not accept, scripts that fail, what covers an element, and
//! what a person sees although it has no name.

use serde_json::{Value, json};

use crate::PageTest;

const WEB: &[&str] = &["--profile", "web"];

/// The lines that a model reads.
pub fn lines(page: &mut PageTest, tool: &str, arguments: Value) -> String {
    let result = page.client.call(tool, arguments);
    let blocks = result["content"].as_array().unwrap().iter();
    blocks.filter_map(|block| block["text"].as_str()).collect::<Vec<_>>().join("\n")
}

fn open_for_model() -> PageTest {
    PageTest::open_flagged("shop.html", WEB, &[])
}

#[track_caller]
pub fn check(said: &str, has: &[&str], lacks: &[&str]) {
    has.iter().for_each(|words| assert!(said.contains(words), "no {words:?} in {said}"));
    lacks.iter().for_each(|words| assert!(!said.contains(words), "{words:?} in {said}"));
}

/// The ref of the line that has these words.
#[track_caller]
pub fn ref_of(said: &str, words: &str) -> String {
    let line = said.lines().find(|line| line.contains(words)).unwrap_or_else(|| panic!("{words}: {said}"));
    let is_ref = |word: &&str| word.starts_with('e') && word[1..].parse::<u32>().is_ok();
    line.split_whitespace().find(is_ref).unwrap_or_else(|| panic!("{line}")).to_owned()
}

#[test]
fn what_the_browser_does_not_accept_is_told_with_the_click_and_in_a_look() {
    let mut page = open_for_model();
    let look = lines(&mut page, "look", json!({}));
    check(&look, &["Edit \"Voucher\" about:\"It has expired\" {invalid}"], &["Edit \"Address\" about"]);
    let send = ref_of(&look, "Order now");
    let said = lines(&mut page, "act", json!({ "steps": [{ "do": "click_element", "ref": send }] }));
    check(
        &said,
        &["invalid: 'Address': ", "~ ", "Edit \"Address\" about:", "{focused,invalid}"],
        &["ordered"],
    );
    let look = lines(&mut page, "look", json!({}));
    check(&look, &["Edit \"Address\" about:"], &["Edit \"Mail\" about"]);
    let steps = json!([{ "do": "set_value", "ref": ref_of(&look, "\"Address\""), "value": "Here 1" },
        { "do": "click_element", "ref": send, "expect": "text: ordered" }]);
    let said = lines(&mut page, "act", json!({ "steps": steps }));
    check(&said, &["2 click", "confirmed"], &["invalid: '"]);
}

#[test]
fn a_script_that_fails_behind_a_click_is_told_and_logged() {
    let mut page = open_for_model();
    let look = lines(&mut page, "look", json!({}));
    let said = lines(&mut page, "click_element", json!({ "ref": ref_of(&look, "Compare") }));
    check(&said, &["the page logged an error: TypeError", "page_log has it"], &[]);
    let log = lines(&mut page, "page_log", json!({}));
    check(&log, &["error: TypeError", "shop.html"], &["{\""]);
    let said = lines(&mut page, "click_element", json!({ "ref": ref_of(&look, "Nothing to see") }));
    check(&said, &["done"], &["logged an error"]);
    check(&lines(&mut page, "downloads", json!({})), &["no downloads"], &["{"]);
}

#[test]
fn a_dry_run_tells_what_covers_the_element() {
    let mut page = PageTest::open("shop.html");
    let under = json!({ "selector": "//Button[name=\"Under\"]", "dry_run": true });
    let (code, message) = page.refused("click_element", under);
    assert!(code == "ElementOccluded" && message.contains("We use cookies"), "{code} {message}");
    page.ok("click_element", json!({ "selector": "//Button[name=\"Order now\"]", "dry_run": true }));
    page.ok("click_element", json!({ "selector": "//Button[name=\"Far below\"]", "dry_run": true }));
}

/// H-306 on browser: the OK of a dialog that was answered presses nothing of the next one.
#[test]
fn a_button_of_a_dialog_is_not_that_of_the_next_one() {
    let mut page = open_for_model();
    let look = lines(&mut page, "look", json!({}));
    let click = |of: &str| json!({ "steps": [{ "do": "click_element", "ref": ref_of(&look, of) }] });
    let said = lines(&mut page, "act", click("First note"));
    check(&said, &["a dialog of the page opened", "/dialog", "\"one\""], &["page replaced", "list_windows"]);
    let first = ref_of(&said, "Button \"OK\"");
    let answered = lines(&mut page, "act", json!({ "steps": [{ "do": "click_element", "ref": first }] }));
    check(&answered, &["now in front"], &["page replaced", "gone"]);
    let said = lines(&mut page, "act", click("Second note"));
    let second = ref_of(&said, "Button \"OK\"");
    assert_ne!(first, second);
    let refused = lines(&mut page, "act", json!({ "steps": [{ "do": "click_element", "ref": first }] }));
    check(&refused, &["failed"], &[]);
    let answered = lines(&mut page, "act", json!({ "steps": [{ "do": "click_element", "ref": second }] }));
    check(&answered, &["now in front"], &["page replaced"]);
}

#[test]
fn what_a_person_sees_without_a_name_is_in_a_look() {
    let mut page = open_for_model();
    let look = lines(&mut page, "look", json!({}));
    check(
        &look,
        &[
            "Button about:\"rect teal seat\"",
            "Button \"Balcony\"",
            "Canvas about:\"chart\" @",
            "Image about:\"photo-of-pens.svg\"",
        ],
        &[],
    );
    assert_eq!(look.matches("photo-of-pens").count(), 1, "one has an empty alt: {look}");
    check(&look, &[" out of view (scroll)"], &["Far below"]);
    let seat = json!({ "steps": [{ "do": "click_element", "ref": ref_of(&look, "rect teal"), "expect": "text: seat taken" }] });
    check(&lines(&mut page, "act", seat), &["confirmed"], &[]);
}

#[test]
fn words_far_into_a_paragraph_are_found() {
    let mut page = open_for_model();
    let found = lines(&mut page, "find", json!({ "text": "warranty lasts seven years" }));
    check(&found, &["…", "The warranty lasts seven years."], &[]);
    let expect =
        json!({ "do": "wait_for", "any_of": [{ "kind": "text_visible", "regex": "warranty lasts" }] });
    check(&lines(&mut page, "act", json!({ "steps": [expect] })), &["confirmed"], &[]);
}

#[test]
fn a_date_says_how_it_is_written() {
    let mut page = PageTest::open("shop.html");
    let date = |value: &str| json!({ "selector": "//Edit[name=\"Delivery\"]", "value": value });
    let (code, message) = page.refused("set_value", date("31.12.2026"));
    assert!(code == "BadRequest" && message.contains("YYYY-MM-DD"), "{code} {message}");
    page.ok("set_value", date("2026-12-31"));
}

/// H-307 on browser: a page that shows what was typed into its secret field.
#[test]
fn what_was_typed_into_a_secret_field_stays_hidden_where_the_page_repeats_it() {
    let mut page = open_for_model();
    let look = lines(&mut page, "look", json!({}));
    let steps = json!([{ "do": "set_value", "ref": ref_of(&look, "\"Card\""), "value": "4111 2222 3333 4444" },
        { "do": "click_element", "ref": ref_of(&look, "\"Pay\"") }]);
    check(&lines(&mut page, "act", json!({ "steps": steps })), &["REDACTED"], &["4111", "4444"]);
    check(&lines(&mut page, "look", json!({})), &["REDACTED"], &["4111", "4444"]);
    check(&lines(&mut page, "read_page", json!({})), &["REDACTED"], &["4111", "4444"]);
}

#[test]
fn the_bytes_of_each_host_are_told() {
    let mut page = PageTest::open("shop.html");
    let state = page.ok("browser_state", json!({}));
    let host = &state["traffic"].as_array().unwrap()[0];
    assert!(host["received_bytes"].as_u64().unwrap() > 500, "{state}");
}
