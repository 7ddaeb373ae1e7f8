//! A browser beside a desktop: one list of windows, each input in the part that its window is of.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::{PATIENCE, PageTest};

fn window_called(page: &mut PageTest, title: &str) -> Value {
    let began = Instant::now();
    loop {
        let windows = page.windows();
        if let Some(found) = windows.iter().find(|window| window["title"].as_str().unwrap().contains(title)) {
            return found.clone();
        }
        assert!(began.elapsed() < PATIENCE, "{title}: {windows:?}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

#[test]
fn a_dialog_of_the_desktop_and_a_page_are_worked_in_one_session() {
    let program = ["--sandbox", "--", "zenity", "--entry", "--title=Asks", "--text=Who is it?"];
    let mut page = PageTest::open_flagged("form.html", &program, &[]);
    let dialog = window_called(&mut page, "Asks");
    let tab = window_called(&mut page, "Sign up");
    let edge = |window: &Value, side: &str| window["bounds"][side].as_i64().unwrap();
    assert!(edge(&tab, "x") >= edge(&dialog, "x") + edge(&dialog, "width"), "{dialog} {tab}");
    let (tab, dialog) = (tab["window_uid"].clone(), dialog["window_uid"].clone());

    let field = |name: &str| json!({ "window_uid": tab, "selector": "//Edit[name=\"Name\"]", "value": name });
    page.ok("set_value", field("Ada"));
    page.ok("set_value", json!({ "window_uid": dialog, "selector": "//Edit", "value": "Bob" }));
    // By its point, which is to the right of the desktop.
    let found = page.ok("find", json!({ "text": "Send", "role": "button", "window_uid": tab }));
    let place = &found["matches"][0]["bounds"];
    let middle =
        |start: &str, length: &str| place[start].as_i64().unwrap() + place[length].as_i64().unwrap() / 2;
    page.ok("click_at", json!({ "x": middle("x", "width"), "y": middle("y", "height") }));
    let sent = json!({ "any_of": [{ "type": "text_visible", "regex": "sent name=Ada" }], "window_uid": tab });
    page.ok("wait_for", sent);
    let focused = page.windows().into_iter().filter(|window| window["focused"] == true);
    assert_eq!(
        focused.map(|window| window["window_uid"].clone()).collect::<Vec<_>>(),
        std::slice::from_ref(&tab)
    );

    page.ok("get_screenshot", json!({ "window_uid": tab }));
    page.ok("click_element", json!({ "window_uid": dialog, "selector": "//Button[name=\"OK\"]" }));
    let gone = json!({ "any_of": [{ "type": "window_disappears", "window_uid": dialog }] });
    page.ok("wait_for", gone);
    assert_eq!(
        page.ok("open_url", json!({ "url": crate::site::address("other.html") }))["title"],
        "Other page"
    );
}
