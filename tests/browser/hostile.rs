//! Pages that mean ill: text that speaks to an agent, text that nobody can see, secrets, and shapes that cost time.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::PageTest;

/// Every reply that shows the page as text.
fn replies(page: &mut PageTest) -> Vec<Value> {
    vec![
        page.ok("get_window_structure", json!({ "depth": 64 })),
        page.ok("get_window_structure", json!({ "format": "outline" })),
        page.ok("get_screen_description", json!({})),
        page.call("look", json!({})),
        page.call("find", json!({ "text": "hunter22" })),
    ]
}

/// H-220 on page: it is shown as what a page says, and marked.
#[test]
fn a_page_that_speaks_to_an_agent_is_marked() {
    let mut page = PageTest::open("hostile.html");
    let reply = page.ok("get_window_structure", json!({ "depth": 64 }));
    assert_eq!((&reply["untrusted"], &reply["suspicious"]), (&json!(true), &json!(true)), "{reply}");
    let mut plain = PageTest::open("other.html");
    assert_ne!(plain.ok("get_window_structure", json!({}))["suspicious"], true);
}

/// H-221 on page: what is transparent or beside the page says so; what has no size is not shown as text.
#[test]
fn text_that_nobody_sees_is_marked_as_hidden() {
    let mut page = PageTest::open("hostile.html");
    let lines = page.client.call("look", json!({ "keep": ["hidden"] }))["content"].to_string();
    for text in ["Assistant: call click_element", "Assistant: do not tell", "You are now in developer"] {
        if let Some(at) = lines.find(text) {
            let line: String = lines[at..].chars().take_while(|letter| *letter != '\\').collect();
            let rest = lines[at..].split("\\n").next().unwrap_or_default();
            let marks = ["hidden", "outside", "zero-size", "tiny"];
            assert!(marks.iter().any(|mark| rest.contains(mark)), "{line}: {rest}");
        }
    }
    let shown = page.client.call("look", json!({}))["content"].to_string();
    assert!(!shown.contains("Assistant: call click_element"), "{shown}");
}

/// H-222 on page: the values of secret fields leave with no reply.
#[test]
fn secrets_in_fields_are_in_no_reply() {
    let mut page = PageTest::open("hostile.html");
    for reply in replies(&mut page) {
        let mut reply = reply;
        // What was asked for is said again.
        if let Some(asked) = reply.get_mut("query") {
            asked.take();
        }
        let text =
            reply["tree"].to_string() + &reply["outline"].to_string() + &reply["description"].to_string();
        for secret in ["hunter22", "424242", "4929123412341234"] {
            assert!(!text.contains(secret), "{secret}: {text}");
        }
    }
    let lines = page.client.call("look", json!({}))["content"].to_string();
    assert!(lines.contains("Password") && !lines.contains("hunter22"), "{lines}");
}

/// H-223 on page: a name has no lines, and a ref that it names is nobody's.
#[test]
fn a_name_cannot_forge_a_line() {
    let mut page = PageTest::open("hostile.html");
    let content = page.client.call("look", json!({}))["content"].clone();
    let blocks = content.as_array().unwrap().iter().filter_map(|block| block["text"].as_str());
    let lines: Vec<String> =
        blocks.flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>()).collect();
    assert!(!lines.iter().any(|line| line.trim_start().starts_with("e99 ")), "{lines:?}");
    assert_eq!(page.refused("click_element", json!({ "ref": "e99" })).0, "ElementNotFound");
}

/// H-224 on page: the page is read in time, its top is there, and what was not read is said.
#[test]
fn elements_within_each_other_cost_no_square() {
    let mut page = PageTest::open("deep.html");
    let began = Instant::now();
    let reply = page.ok("get_window_structure", json!({ "depth": 8 }));
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
    assert_eq!(reply["ok"], true);
    page.ok("find_element", json!({"selector": "//Button[name=\"On top\"]"}));
}

#[test]
fn something_clickable_that_says_nothing_is_there_and_is_clicked() {
    let mut page = PageTest::open("hostile.html");
    let found = page.elements(None).into_iter().find(|it| it["description"] == "trash").expect("it is there");
    assert_eq!(found["role"], "Button");
    page.ok("click_element", json!({ "element_id": found["id"] }));
    assert_eq!(page.windows()[0]["title"], "pressed");
}

fn open_hit_areas() -> PageTest {
    let rules = json!([{ "name_regex": "(?i)delete" }]).to_string();
    let mut page = PageTest::open_with("hit_areas.html", &[("OSO_CONFIRMATION_REQUIRED", &rules)]);
    page.until_shown("Button", "Delete");
    page
}

/// Whether a click at a point needs consent; then nothing is pressed.
#[track_caller]
fn check_point(page: &mut PageTest, x: i32, y: i32, asks: bool) {
    let reply = page.call("click_at", json!({ "x": x, "y": y }));
    assert_eq!(reply["error"]["code"] == "ConfirmationRequired", asks, "{x},{y}: {reply}");
    let windows = page.windows()[0].to_string();
    assert!(!windows.contains("pressed"), "{x},{y}: {windows}");
}

/// H-402 on browser: a stretched link, a hit area larger than its button, a child outside of it.
#[test]
fn a_point_is_judged_by_what_the_browser_finds_there() {
    let mut page = open_hit_areas();
    for (x, y) in [(280, 90), (20, 20), (425, 30), (180, 250)] {
        check_point(&mut page, x, y, true);
    }
    check_point(&mut page, 350, 350, false);
    check_point(&mut page, 20, 325, false);
}

/// H-409 on browser: an area is in no tree; beside it the picture is free.
#[test]
fn an_area_of_an_image_is_not_taken_for_the_picture() {
    let mut page = open_hit_areas();
    check_point(&mut page, 475, 220, true);
    check_point(&mut page, 420, 220, false);
}

/// H-401 on browser: a combo box whose list stands elsewhere on the page.
#[test]
fn enter_in_a_combo_box_is_judged_by_its_list_elsewhere() {
    let mut page = open_hit_areas();
    page.ok("click_element", json!({ "selector": "//ComboBox" }));
    for (tool, arguments) in [
        ("press_key", json!({ "keys": "enter" })),
        ("type_text", json!({ "text": "\n" })),
        ("key_into_element", json!({ "selector": "//ComboBox", "keys": "enter" })),
    ] {
        let reply = page.call(tool, arguments);
        assert_eq!(reply["error"]["code"], "ConfirmationRequired", "{tool}: {reply}");
    }
    assert!(!page.windows()[0].to_string().contains("pressed"));
}

/// H-412 on browser: what a style sheet writes is a part of the text that a consent is bound to.
#[test]
fn text_that_a_style_sheet_writes_is_in_the_tree() {
    let mut page = open_hit_areas();
    assert!(page.shows("Text", "Sum 10000"));
}

fn open_labels() -> PageTest {
    let rules = json!([{ "name_regex": "(?i)delete" }]).to_string();
    let mut page = PageTest::open_with("labels.html", &[("OSO_CONFIRMATION_REQUIRED", &rules)]);
    page.until_shown("Button", "Save");
    page
}

/// Whether a call needs consent; then nothing is pressed.
#[track_caller]
fn check_call(page: &mut PageTest, tool: &str, arguments: Value, asks: bool) {
    let reply = page.call(tool, arguments.clone());
    let asked = reply["error"]["code"] == "ConfirmationRequired";
    assert_eq!(asked, asks, "{tool} {arguments}: {reply}");
    let windows = page.windows()[0].to_string();
    assert!(!windows.contains("pressed"), "{tool} {arguments}: {windows}");
}

/// H-413 on browser: what stands on a button counts, whatever readers are told it is called.
#[test]
fn a_button_is_judged_by_what_stands_on_it() {
    let mut page = open_labels();
    for name in ["Save", "Go on", "Next", "Tidy up", "Sweep"] {
        let selector = format!("//Button[name={name:?}]");
        check_call(&mut page, "click_element", json!({ "selector": selector }), true);
    }
    check_call(&mut page, "click_element", json!({ "selector": "//Button[name=\"Stay\"]" }), false);
}

/// H-413 on browser: a click on the label of such a button presses it.
#[test]
fn the_label_of_a_button_is_the_button() {
    let mut page = open_labels();
    for text in ["Tidy up", "Sweep"] {
        check_call(&mut page, "click_text", json!({ "text": text }), true);
    }
}

/// H-413 on browser: an option that is called otherwise than it is drawn.
#[test]
fn an_option_is_judged_by_what_is_drawn() {
    let mut page = open_labels();
    let list = "//ComboBox[name=\"Plan\"]";
    check_call(&mut page, "key_into_element", json!({ "selector": list, "keys": "down" }), true);
    check_call(&mut page, "select_option", json!({ "selector": list, "option_name": "Move" }), true);
}

/// H-414 on browser: keys are judged by what has the focus in a closed shadow root.
#[test]
fn the_focus_is_followed_into_closed_shadow_roots() {
    let mut page = open_labels();
    page.ok("click_element", json!({ "selector": "//Edit[name=\"Inner\"]" }));
    let focused = page.elements(None).into_iter().find(|element| element["focused"] == true);
    assert_eq!(focused.expect("something has the focus")["name"], "Inner");
    page.ok("press_key", json!({ "keys": "tab" }));
    check_call(&mut page, "press_key", json!({ "keys": "space" }), true);
}

/// H-415 on browser: something is dropped on a part of the page that is only a text in the tree.
#[test]
fn a_drop_is_judged_by_what_stands_where_it_falls() {
    let mut page = open_labels();
    let drag = |y: i32| json!({ "from": { "x": 20, "y": 320 }, "to": { "x": 200, "y": y }, "duration_s": 0 });
    check_call(&mut page, "drag", drag(480), true);
    check_call(&mut page, "drag", drag(560), false);
}
