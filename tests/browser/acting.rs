//! Every kind of input, on pages that show what came of it.

use serde_json::{Value, json};

use crate::PageTest;

#[track_caller]
fn check_set(page: &mut PageTest, name: &str, value: &str, expected: &Value) {
    let element =
        page.elements(None).into_iter().find(|it| it["name"] == name && it["role"] != "Text").unwrap();
    let role = element["role"].as_str().unwrap().to_owned();
    let receipt =
        page.ok("set_value", json!({ "selector": format!("//{role}[name=\"{name}\"]"), "value": value }));
    assert_eq!(receipt["verified"], true, "{name}: {receipt}");
    assert_eq!(page.value_of(name), *expected, "{name}");
}

#[test]
fn fields_of_all_kinds_take_values() {
    let mut page = PageTest::open("form.html");
    check_set(&mut page, "Name", "Ada", &json!("Ada"));
    check_set(&mut page, "Name", "Grace", &json!("Grace"));
    check_set(&mut page, "Mail", "a@b.example", &json!("a@b.example"));
    check_set(&mut page, "Notes", "one\ntwo", &json!("one\ntwo"));
    check_set(&mut page, "Level", "7", &json!("7"));
    check_set(&mut page, "Day", "2026-01-02", &json!("2026-01-02"));
    check_set(&mut page, "Count", "5", &json!("5"));
    check_set(&mut page, "Rich", "plain", &json!("plain"));
    check_set(&mut page, "Name", "", &json!(""));
}

#[test]
fn what_cannot_be_set_is_refused() {
    let mut page = PageTest::open("form.html");
    let set = |role: &str, name: &str, value: &str| json!({ "selector": format!("//{role}[name=\"{name}\"]"), "value": value });
    assert_eq!(page.refused("set_value", set("Slider", "Level", "11")).0, "BadRequest");
    assert_eq!(page.refused("set_value", set("Edit", "Not yet", "x")).0, "ElementDisabled");
    assert_eq!(
        page.refused("click_element", json!({ "selector": "//Button[name=\"Never\"]" })).0,
        "ElementDisabled"
    );
    let grey = json!({ "selector": "//ComboBox[name=\"Colour\"]", "option_name": "Grey" });
    assert_eq!(page.refused("select_option", grey).0, "ElementDisabled");
}

#[test]
fn a_form_is_filled_and_sent() {
    let mut page = PageTest::open("form.html");
    page.ok("set_value", json!({ "selector": "//Edit[name=\"Name\"]", "value": "Ada" }));
    page.ok("select_option", json!({ "selector": "//ComboBox[name=\"Colour\"]", "option_name": "Green" }));
    page.click("CheckBox", "Agree");
    page.click("RadioButton", "Small");
    page.click("Button", "Send");
    let sent = page.elements(None).into_iter().find(|it| it["role"] == "StatusBar").unwrap();
    let shown = page.elements(None).iter().map(|it| it["name"].to_string()).collect::<String>();
    for part in ["name=Ada", "colour=Green", "agree=on", "plan=1"] {
        assert!(shown.contains(part), "{part} is missing: {sent}");
    }
}

#[test]
fn what_is_typed_and_pressed_goes_to_the_focus() {
    let mut page = PageTest::open("form.html");
    page.click("Edit", "Name");
    page.ok("type_text", json!({ "text": "Ada é漢" }));
    assert_eq!(page.value_of("Name"), "Ada é漢");
    page.ok("press_key", json!({ "keys": "ctrl+a" }));
    page.ok("press_key", json!({ "keys": "x" }));
    assert_eq!(page.value_of("Name"), "x");
    page.ok("press_key", json!({ "keys": "tab" }));
    page.ok("type_text", json!({ "text": "m" }));
    assert_eq!(page.value_of("Mail"), "m");
}

#[test]
fn what_is_below_the_fold_is_brought_into_view_and_clicked() {
    let mut page = PageTest::open("form.html");
    page.click("Button", "Low");
    assert!(page.shows("Button", "Low was clicked"));
}

#[test]
fn something_that_only_listens_for_clicks_is_clicked() {
    let mut page = PageTest::open("form.html");
    page.click("Button", "click me");
    assert!(page.shows("Button", "was clicked"));
}

#[test]
fn frames_and_shadow_roots_are_clicked_where_they_show() {
    let mut page = PageTest::open("frames.html");
    page.until_shown("Button", "In the shadow");
    page.click("Button", "In the shadow");
    page.until_shown("Button", "Shadow was clicked");
    page.click("Button", "Inner");
    for _ in 0..2 {
        page.until_shown("Button", "In the frame");
        let found = page.elements(None).into_iter().find(|it| it["name"] == "In the frame").unwrap();
        page.ok("click_element", json!({ "element_id": found["id"] }));
    }
    let clicked = page.elements(None).into_iter().filter(|it| it["name"] == "Frame was clicked").count();
    assert_eq!(clicked, 2);
}

#[test]
fn what_is_covered_is_not_clicked() {
    let mut page = PageTest::open("hidden.html");
    let (code, message) = page.refused("click_element", json!({ "selector": "//Button[name=\"Under\"]" }));
    assert_eq!(code, "ElementOccluded");
    assert!(message.contains("cover"), "{message}");
    page.click("CheckBox", "Styled box");
    let ticked =
        page.elements(None).into_iter().find(|it| it["name"] == "Styled box" && it["role"] == "CheckBox");
    assert_eq!(ticked.unwrap()["selected"], true);
}

#[test]
fn a_list_that_the_page_made_is_opened_and_chosen_from() {
    let mut page = PageTest::open("form.html");
    page.ok("select_option", json!({ "selector": "//ComboBox[name=\"Fruit\"]", "option_name": "Pear" }));
    page.until_shown("Text", "Pear");
}

#[test]
fn a_parcel_is_dragged_to_its_target() {
    let mut page = PageTest::open("form.html");
    scroll_down(&mut page, 5);
    let place = |page: &mut PageTest, name: &str| {
        let bounds = page.elements(None).into_iter().find(|it| it["name"] == name).unwrap()["bounds"].clone();
        (bounds["x"].as_i64().unwrap() + 10, bounds["y"].as_i64().unwrap() + 10)
    };
    let (from, to) = (place(&mut page, "drag me"), place(&mut page, "drop here"));
    page.ok("drag", json!({ "from": { "x": from.0, "y": from.1 }, "to": { "x": to.0, "y": to.1 } }));
    page.until_shown("Text", "got parcel");
}

/// Turns the wheel and waits until the page has moved.
#[track_caller]
fn scroll_down(page: &mut PageTest, clicks: i64) {
    let heading = |page: &mut PageTest| {
        let found = page.elements(None).into_iter().find(|it| it["role"] == "Heading").unwrap();
        found["bounds"]["y"].as_i64().unwrap()
    };
    let before = heading(page);
    page.ok("scroll", json!({ "x": 600, "y": 400, "clicks": -clicks }));
    let began = std::time::Instant::now();
    while heading(page) > before - 100 * clicks {
        assert!(began.elapsed() < crate::PATIENCE, "the page does not move");
    }
}

#[test]
fn the_wheel_scrolls_the_page() {
    scroll_down(&mut PageTest::open("form.html"), 3);
}

/// A page may put spaces and dashes between digits; a sign of an amount that it drops is a wrong value.
#[test]
fn a_value_that_the_page_spaces_otherwise_is_set() {
    let mut page = PageTest::open("fields.html");
    let set =
        |name: &str, value: &str| json!({ "selector": format!("//Edit[name=\"{name}\"]"), "value": value });
    let reply = page.ok("set_value", set("Phone", "123456789"));
    assert!(reply.to_string().contains("the page wrote it as '123-456-789'"), "{reply}");
    assert_eq!(page.refused("set_value", set("Price", "12.5")).0, "PatternUnsupported");
}

#[test]
fn a_value_that_is_set_is_committed_before_the_next_step() {
    let mut page = PageTest::open("fields.html");
    let steps = json!([
        { "do": "set_value", "selector": "//Edit[name=\"Amount\"]", "value": "12" },
        { "do": "click_element", "selector": "//Button[name=\"Go\"]", "expect": "text: went" },
    ]);
    let reply = page.ok("act", json!({ "steps": steps }));
    assert_eq!(page.value_of("Amount"), "12.00", "{reply}");
}

#[test]
fn a_ref_lives_on_when_the_count_behind_its_name_changes() {
    let mut page = PageTest::open("fields.html");
    let basket = page.ok("find", json!({ "text": "Basket (0)", "role": "Button" }));
    let reference = basket["matches"][0]["ref"].clone();
    page.ok("click_element", json!({ "ref": reference }));
    page.ok("click_element", json!({ "ref": reference }));
    page.until_shown("Button", "Basket (2)");
}
