//! Pages that come late: made by scripts after they have loaded, or after an answer to a dialog of the page before.

use serde_json::json;

use crate::PageTest;
use crate::site;
use crate::telling::{check, lines, ref_of};

const WEB: &[&str] = &["--profile", "web"];

#[test]
fn a_page_that_its_scripts_make_is_waited_for() {
    let mut page = PageTest::open_flagged("form.html", WEB, &[]);
    let said = lines(&mut page, "open_url", json!({ "url": site::address("app.html") }));
    check(&said, &["open_url: done", "Made by a script", "Button \"Begin\""], &[]);
}

#[test]
fn a_page_that_asks_before_it_is_left_was_not_left() {
    let mut page = PageTest::open_flagged("asking.html", WEB, &[]);
    let look = lines(&mut page, "look", json!({}));
    let draft = ref_of(&look, "\"Draft\"");
    let steps = json!([{ "do": "click_element", "ref": draft }, { "do": "type_text", "text": "half" }]);
    lines(&mut page, "act", json!({ "steps": steps }));
    let said = lines(&mut page, "open_url", json!({ "url": site::address("styled.html") }));
    check(&said, &["open_url: not yet, the tab still shows \"Asking\"", "asks before it is left"], &["done"]);
    let dialog = lines(&mut page, "look", json!({}));
    let steps = json!([{ "do": "click_element", "ref": ref_of(&dialog, "\"Leave\"") }]);
    let said = lines(&mut page, "act", json!({ "steps": steps }));
    check(&said, &["Button \"Placed\" @308,"], &[]);
}

#[test]
fn a_page_that_an_answer_leads_to_is_waited_for() {
    let mut page = PageTest::open_flagged("asking.html", WEB, &[]);
    let look = lines(&mut page, "look", json!({}));
    let steps = json!([{ "do": "click_element", "ref": ref_of(&look, "\"Next\"") }]);
    let dialog = lines(&mut page, "act", json!({ "steps": steps }));
    let steps = json!([{ "do": "click_element", "ref": ref_of(&dialog, "\"OK\"") }]);
    let said = lines(&mut page, "act", json!({ "steps": steps }));
    check(&said, &["Button \"Placed\" @308,"], &[]);
}

/// The page that a page goes on to is waited for as well.
#[test]
fn a_page_that_goes_on_to_one_that_its_scripts_make_is_waited_for() {
    let mut page = PageTest::open_flagged("form.html", WEB, &[]);
    let said = lines(&mut page, "open_url", json!({ "url": site::address("going_on.html") }));
    check(&said, &["open_url: done", "Made by a script", "Button \"Begin\""], &["shows nothing"]);
    let said = lines(&mut page, "page_history", json!({ "go": "reload" }));
    check(&said, &["Made by a script"], &[]);
}

#[test]
fn a_page_that_shows_nothing_yet_is_said_to() {
    let mut page = PageTest::open_flagged("form.html", WEB, &[]);
    let said = lines(&mut page, "open_url", json!({ "url": site::address("empty_app.html") }));
    check(&said, &["the page shows nothing yet", "still be loading"], &[]);
}
