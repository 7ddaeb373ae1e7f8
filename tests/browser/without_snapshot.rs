//! A browser that makes no snapshots is read by its accessibility tree, and that is said. It is Chromium behind a script
//! that takes the method away.

use serde_json::json;

use crate::PageTest;
use crate::support::project;

fn open(page: &str) -> PageTest {
    let script = project().join("tests/browser/without_snapshot.py");
    PageTest::open_with(page, &[("OSO_BROWSER__EXECUTABLE", script.to_str().unwrap())])
}

#[test]
fn the_accessibility_tree_takes_its_place_and_says_so() {
    let mut page = open("form.html");
    let reply = page.ok("get_window_structure", json!({ "depth": 64 }));
    assert_eq!(reply["complete"], false, "{reply}");
    for (role, name) in [("Heading", "Sign up"), ("Edit", "Name"), ("Button", "Send"), ("CheckBox", "Agree")]
    {
        assert!(page.shows(role, name), "{role} {name}: {reply}");
    }
    let said = page.ok("look", json!({}))["degraded"].to_string();
    assert!(said.contains("makes no snapshots"), "{said}");
    let text = reply["tree"].to_string();
    assert!(!text.contains("hunter22") && !text.contains("424242"), "{text}");
}

#[test]
fn a_page_is_worked_by_it() {
    let mut page = open("form.html");
    page.ok("set_value", json!({ "selector": "//Edit[name=\"Name\"]", "value": "Ada" }));
    assert_eq!(page.value_of("Name"), "Ada");
    page.click("Button", "Low");
    page.until_shown("Button", "Low was clicked");
}

#[test]
fn frames_of_the_same_and_of_another_site_are_in_it() {
    let mut page = open("frames.html");
    let began = std::time::Instant::now();
    let framed = loop {
        let elements = page.elements(None);
        let found: Vec<_> = elements.into_iter().filter(|it| it["name"] == "In the frame").collect();
        if found.len() == 2 {
            break found;
        }
        assert!(began.elapsed() < crate::PATIENCE, "{found:?}");
    };
    let left = |index: usize| framed[index]["bounds"]["x"].as_i64().unwrap();
    assert!(left(0) < 40 && left(1) > 324 && left(1) < 360, "{framed:?}");
}
