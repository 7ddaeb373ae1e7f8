//! mousepad: typing, the pointer on text, menus, and one whole task from an empty window to a file.

use serde_json::{Value, json};

use crate::desk::{Desk, Stage, desk, has_state, live, name_of, until};

fn open<'a>(desk: &'a Desk, name: &str, text: &str) -> Stage<'a> {
    let path = desk.write(name, text);
    Stage::new(desk, "mousepad", &[path.to_str().unwrap()], name, 100)
}

fn is_page(node: &Value) -> bool {
    live(node, "text") && node["extents"][3].as_i64() > Some(150)
}

/// The element of the page, and where its text begins.
fn page(stage: &mut Stage<'_>) -> (Value, i64, i64, i64) {
    let element = stage.find("the page", is_page);
    let [x, y, width] = ["x", "y", "width"].map(|side| element["bounds"][side].as_i64().unwrap());
    (element, x, y, width)
}

#[test]
fn any_text_arrives_whole() {
    let desk = desk();
    let mut stage = open(&desk, "typed.txt", "");
    let element = stage.find("the page", is_page);
    stage.ok("focus_element", json!({"element_id": element["id"]}));
    let text = "Grüße, 漢字 → € Ω ñ 🎉\nzweite Zeile";
    stage.server.ok("type_text", json!({"text": text}));
    stage.until_is(&element, "the text", |node| node["text"] == text);
}

#[test]
fn a_double_click_takes_a_word() {
    let desk = desk();
    let mut stage = open(&desk, "double.txt", "wwwwwwwwwwww rest");
    let (element, x, y, _) = page(&mut stage);
    stage.server.ok("double_click_at", json!({"x": x + 30, "y": y + 10}));
    stage.server.ok("type_text", json!({"text": "X"}));
    stage.until_is(&element, "the word replaced", |node| node["text"] == "X rest");
}

#[test]
fn a_drag_takes_a_line() {
    let desk = desk();
    let mut stage = open(&desk, "drag.txt", "wwwwwwwwwwww\nsecond");
    let (element, x, y, width) = page(&mut stage);
    let (from, to) = (json!({"x": x + 3, "y": y + 10}), json!({"x": x + width - 30, "y": y + 10}));
    stage.server.ok("drag", json!({"from": from, "to": to, "duration_s": 0.3}));
    stage.server.ok("type_text", json!({"text": "Z"}));
    stage.until_is(&element, "the line replaced", |node| node["text"] == "Z\nsecond");
}

#[test]
fn a_right_click_opens_the_menu_of_the_page() {
    let desk = desk();
    let mut stage = open(&desk, "menu.txt", "text");
    let element = stage.find("the page", is_page);
    stage.ok("right_click_element", json!({"element_id": element["id"]}));
    desk.until_any(&stage.app, "an entry Select All that shows", |node| {
        live(node, "menu item") && name_of(node) == "Select All" && has_state(node, "showing")
    });
    stage.server.ok("press_key", json!({"keys": "escape"}));
}

#[test]
fn the_wheel_scrolls() {
    let desk = desk();
    let lines: String = (0..500).map(|line| format!("line {line}\n")).collect();
    let mut stage = open(&desk, "long.txt", &lines);
    let (_, x, y, _) = page(&mut stage);
    let upright = |node: &Value| {
        node["role"] == "scroll bar" && node["extents"][3].as_i64() > node["extents"][2].as_i64()
    };
    stage.server.ok("scroll", json!({"clicks": -10, "x": x + 50, "y": y + 50}));
    desk.until_any(&stage.app, "the page further down", |node| {
        upright(node) && node["number"].as_f64().is_some_and(|value| value > 1.0)
    });
    // The pointer is still there.
    stage.server.ok("scroll", json!({"clicks": 20}));
    desk.until_any(&stage.app, "the page at its top", |node| upright(node) && node["number"] == 0.0);
}

#[test]
fn a_menu_brings_the_tool_bar() {
    let desk = desk();
    let mut stage = open(&desk, "settings.txt", "text");
    let tool_bar = |node: &Value| node["role"] == "tool bar" && has_state(node, "showing");
    let before = desk.walk(&stage.app).iter().any(tool_bar);
    stage.ok("click_element", json!({"selector": "//MenuBar/MenuItem[name=\"View\"]"}));
    let entry = stage.server.element(&stage.uid, "MenuItem", "Toolbar");
    stage.ok("click_element", json!({"element_id": entry["id"]}));
    until("the tool bar to come or go", || {
        (desk.walk(&stage.app).iter().any(tool_bar) != before).then_some(())
    });
}

/// Everything by MCP alone, as an agent would; only the file is read afterwards.
#[test]
fn a_text_is_written_and_saved_through_the_dialog() {
    let desk = desk();
    let path = desk.home().join("saved.txt");
    let mut stage = Stage::new(&desk, "mousepad", &[], "Mousepad", 100);
    let element = stage.find("the page", is_page);
    stage.ok("focus_element", json!({"element_id": element["id"]}));
    stage.server.ok("type_text", json!({"text": "Dear Zoë,\n\n42 €."}));
    stage.server.ok("press_key", json!({"keys": "ctrl+shift+s"}));
    let dialog = stage.server.uid(&stage.app, "Save As");
    let name = until("the field of the dialog", || {
        let fields = stage.server.tree(&dialog).into_iter();
        fields.into_iter().find(|element| element["role"] == "Edit" && element["focused"] == true)
    });
    let arguments = json!({"window_uid": dialog, "element_id": name["id"], "value": path});
    stage.server.ok("set_value", arguments);
    // The dialog enables it a moment after the name is there.
    let save = until("the button of the dialog", || {
        let mut buttons = stage.server.tree(&dialog).into_iter();
        buttons.find(|it| it["role"] == "Button" && it["name"] == "Save" && it["enabled"] == true)
    });
    stage.server.ok("click_element", json!({"window_uid": dialog, "element_id": save["id"]}));
    let saved = until("the file", || std::fs::read_to_string(&path).ok().filter(|text| !text.is_empty()));
    assert_eq!(saved.trim_end(), "Dear Zoë,\n\n42 €.");
}

#[test]
fn a_dialog_that_a_click_opens_is_in_the_receipt() {
    let desk = desk();
    let mut stage = open(&desk, "about.txt", "text");
    stage.ok("click_element", json!({"selector": "//MenuBar/MenuItem[name=\"Help\"]"}));
    let entry = stage.server.element(&stage.uid, "MenuItem", "About");
    let receipt = stage.ok("click_element", json!({"element_id": entry["id"]}));
    assert!(receipt["new_dialogs"].to_string().contains("About"), "{receipt}");
}
