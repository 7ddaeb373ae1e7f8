//! Pages as windows and trees, and what they look like.

use serde_json::json;

use crate::PageTest;

#[test]
fn a_tab_is_a_window_with_the_title_of_its_page() {
    let mut page = PageTest::open("form.html");
    let windows = page.windows();
    assert_eq!(windows.len(), 1);
    assert_eq!((&windows[0]["title"], &windows[0]["focused"]), (&json!("Sign up"), &json!(true)));
    assert!(windows[0]["window_uid"].as_str().unwrap().starts_with("tab:"));
    assert!(windows[0]["pid"].as_u64().unwrap() > 0);
}

#[test]
fn a_page_is_a_tree_and_its_secrets_are_in_no_reply() {
    let mut page = PageTest::open("form.html");
    for (role, name) in
        [("Heading", "Sign up"), ("Edit", "Name"), ("Button", "click me"), ("DataItem", "Pen")]
    {
        assert!(page.shows(role, name), "{role} {name}");
    }
    let replies = [
        page.ok("get_window_structure", json!({})),
        page.ok("get_screen_description", json!({})),
        page.call("find", json!({ "text": "hunter22" })),
    ];
    for reply in replies {
        let text =
            reply["tree"].to_string() + &reply["matches"].to_string() + &reply["description"].to_string();
        assert!(!text.contains("hunter22") && !text.contains("424242"), "{text}");
    }
}

#[test]
fn frames_of_the_same_and_of_another_site_and_closed_shadow_roots_are_in_one_tree() {
    let mut page = PageTest::open("frames.html");
    page.until_shown("Button", "In the shadow");
    let began = std::time::Instant::now();
    let framed = loop {
        let elements = page.elements(None);
        let found: Vec<_> =
            elements.into_iter().filter(|element| element["name"] == "In the frame").collect();
        if found.len() == 2 {
            break found;
        }
        assert!(began.elapsed() < crate::PATIENCE, "{found:?}");
    };
    // Both begin 8 pixels into their documents, which are scrolled by 10.
    let place = |index: usize| {
        (framed[index]["bounds"]["x"].as_i64().unwrap(), framed[index]["bounds"]["y"].as_i64().unwrap())
    };
    assert_eq!(place(0).0, 5 + 7 + 8);
    assert!(place(1).0 > 324 && place(1).0 < 360, "{framed:?}");
    assert!(place(0).1 > 140 && place(1).1 > 140, "{framed:?}");
}

#[test]
fn a_screenshot_is_a_picture_as_large_as_the_page() {
    let mut page = PageTest::open("form.html");
    let uid = page.windows()[0]["window_uid"].clone();
    let reply = page.client.call("get_screenshot", json!({ "window_uid": uid }));
    let content = reply["content"].as_array().unwrap();
    assert!(content.iter().any(|block| block["type"] == "image"), "{reply}");
    let facts = page.call("get_screenshot", json!({ "window_uid": uid }));
    assert_eq!((&facts["width"], &facts["height"]), (&json!(1280), &json!(800)), "{facts}");
}

#[test]
fn waits_and_judgements_work_on_pages() {
    let mut page = PageTest::open("form.html");
    page.ok("wait_for", json!({ "any_of": [{ "type": "element_appears", "selector": "//Button[name=\"Send\"]" }], "timeout_ms": 5000 }));
    let judged = page.ok(
        "assert_state",
        json!({ "predicates": [{ "kind": "element_exists", "selector": "//Button[name=\"Send\"]" }] }),
    );
    assert!(!judged.to_string().contains("\"passed\":false"), "{judged}");
}

#[test]
fn a_page_that_wants_a_person_is_said_to() {
    let mut page = PageTest::open("blocked.html");
    let reply = page.ok("look", json!({}));
    let warning = reply["warning"].as_str().unwrap_or_default();
    assert!(warning.contains("Cloudflare's challenge") && warning.contains("a person has to"), "{reply}");
}
