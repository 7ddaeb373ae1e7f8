//! Dialogs of pages are windows, and pages that open are tabs.

use serde_json::{Value, json};

use crate::PageTest;

/// Opens a dialog by its button and returns its window.
#[track_caller]
fn open_dialog(page: &mut PageTest, button: &str) -> Value {
    let receipt = page.click("Button", button);
    assert_eq!(receipt["new_dialogs"].as_array().unwrap().len(), 1, "{receipt}");
    let windows = page.windows();
    assert_eq!(windows.len(), 2);
    assert_eq!((&windows[0]["focused"], &windows[1]["focused"]), (&json!(false), &json!(true)));
    windows[1].clone()
}

fn names(page: &mut PageTest, window: &Value) -> Vec<String> {
    let elements = page.elements(window["window_uid"].as_str());
    elements.iter().skip(1).map(|it| it["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_click_that_opens_an_alert_returns_and_the_alert_is_answered() {
    let mut page = PageTest::open("form.html");
    let dialog = open_dialog(&mut page, "Alert");
    assert_eq!(names(&mut page, &dialog), ["Hello", "OK"]);
    let (code, message) =
        page.refused("click_element", json!({ "window_uid": "tab:none", "selector": "//Button" }));
    assert_eq!(code, "WindowGone", "{message}");
    page.ok(
        "click_element",
        json!({ "window_uid": dialog["window_uid"], "selector": "//Button[name=\"OK\"]" }),
    );
    assert_eq!(page.windows().len(), 1);
    assert!(page.shows("Button", "Alert"));
}

#[test]
fn a_question_is_answered_either_way() {
    let mut page = PageTest::open("form.html");
    for (button, answer) in [("Cancel", "confirmed false"), ("OK", "confirmed true")] {
        let dialog = open_dialog(&mut page, "Confirm");
        let selector = format!("//Button[name=\"{button}\"]");
        page.ok("click_element", json!({ "window_uid": dialog["window_uid"], "selector": selector }));
        let shown = page.elements(None).iter().map(|it| it["name"].to_string()).collect::<String>();
        assert!(shown.contains(answer), "{shown}");
    }
}

#[test]
fn a_prompt_takes_a_text() {
    let mut page = PageTest::open("form.html");
    let dialog = open_dialog(&mut page, "Prompt");
    let uid = &dialog["window_uid"];
    page.ok("set_value", json!({ "window_uid": uid, "selector": "//Edit", "value": "Bob" }));
    page.ok("press_key", json!({ "keys": "enter" }));
    let shown = page.elements(None).iter().map(|it| it["name"].to_string()).collect::<String>();
    assert!(shown.contains("prompted Bob"), "{shown}");
}

#[test]
fn while_a_dialog_is_open_the_page_says_why_it_cannot_be_read() {
    let mut page = PageTest::open("form.html");
    open_dialog(&mut page, "Alert");
    let tab = page.windows()[0]["window_uid"].clone();
    let (code, message) = page.refused("get_screenshot", json!({ "window_uid": tab }));
    assert!(message.contains("dialog") || code == "PermissionDenied", "{code} {message}");
    let picture = page.ok("get_screenshot", json!({ "window_uid": page_dialog(&tab) }));
    assert_eq!(picture["ok"], true);
}

fn page_dialog(tab: &Value) -> String {
    format!("{}/dialog", tab.as_str().unwrap())
}

/// A page without an opener answers nothing before it runs; waiting for its answers first took five seconds.
#[test]
fn a_page_without_an_opener_comes_at_once() {
    let mut page = PageTest::open("form.html");
    page.click("Hyperlink", "Beside");
    let began = std::time::Instant::now();
    while !page.windows().iter().any(|window| window["title"] == "Other page") {
        assert!(began.elapsed() < std::time::Duration::from_secs(4), "{:?}", page.windows());
    }
    page.until_shown("Heading", "Other page");
}

#[test]
fn a_page_that_opens_is_a_tab_in_front_and_can_be_closed() {
    let mut page = PageTest::open("form.html");
    page.click("Button", "Popup");
    let began = std::time::Instant::now();
    let windows = loop {
        let windows = page.windows();
        if windows.iter().any(|window| window["title"] == "Other page") {
            break windows;
        }
        assert!(began.elapsed() < crate::PATIENCE, "{windows:?}");
    };
    assert_eq!(windows.len(), 2);
    assert_eq!(windows[1]["focused"], true, "{windows:?}");
    // The tab behind it is worked without being raised.
    let behind = &windows[0]["window_uid"];
    page.ok(
        "set_value",
        json!({ "window_uid": behind, "selector": "//Edit[name=\"Name\"]", "value": "Ada" }),
    );
    assert_eq!(page.windows()[1]["focused"], true);
    let closed =
        page.ok("window_action", json!({ "window_uid": windows[1]["window_uid"], "action": "close" }));
    assert_eq!(page.windows().len(), 1, "{closed}");
}
