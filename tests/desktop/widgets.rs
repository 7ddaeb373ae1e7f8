//! The controls of GTK 3 and GTK 4, each worked by the server and read by the walk.

use serde_json::{Value, json};

use crate::desk::{Stage, desk, has_state, live, until};
use crate::support::project;

const WORDS: &str = "héllo 漢字 🎉";

fn check_toggle(program: &str, least: usize, role: &str) {
    let desk = desk();
    let mut stage = Stage::new(&desk, program, &[], "", least);
    let element = stage.find(role, |node| live(node, role));
    let before = has_state(&desk.node(&stage.app, &element["id"]).unwrap(), "checked");
    for expected in [!before, before] {
        stage.ok("click_element", json!({"element_id": element["id"]}));
        stage.until_is(&element, &format!("checked {expected}"), |node| {
            has_state(node, "checked") == expected
        });
    }
}

#[test]
fn gtk3_check_boxes_are_toggled_and_toggled_back() {
    check_toggle("gtk3-widget-factory", 200, "check box");
}

#[test]
fn gtk4_check_boxes_are_toggled_and_toggled_back() {
    check_toggle("gtk4-widget-factory", 300, "check box");
}

#[test]
fn gtk3_radio_buttons_are_chosen() {
    let desk = desk();
    let mut stage = Stage::new(&desk, "gtk3-widget-factory", &[], "", 200);
    let unchosen = |node: &Value| live(node, "radio button") && !has_state(node, "checked");
    let element = stage.find("a radio button", unchosen);
    stage.ok("invoke_element", json!({"element_id": element["id"]}));
    stage.until_is(&element, "the radio button checked", |node| has_state(node, "checked"));
}

#[test]
fn gtk3_sliders_take_a_value() {
    let desk = desk();
    let mut stage = Stage::new(&desk, "gtk3-widget-factory", &[], "", 200);
    let element = stage.find("a slider", |node| live(node, "slider"));
    for value in ["20", "75"] {
        stage.ok("set_value", json!({"element_id": element["id"], "value": value}));
        stage.until_is(&element, &format!("the value {value}"), |node| {
            node["number"] == value.parse::<f64>().unwrap()
        });
    }
}

#[test]
fn gtk3_sliders_are_dragged() {
    let desk = desk();
    let mut stage = Stage::new(&desk, "gtk3-widget-factory", &[], "", 200);
    let wide = |node: &Value| live(node, "slider") && node["extents"][2].as_i64() > Some(60);
    let element = stage.find("a wide slider", wide);
    stage.ok("set_value", json!({"element_id": element["id"], "value": "1"}));
    stage.until_is(&element, "the left end", |node| node["number"] == 1.0);
    let bounds = &element["bounds"];
    let [x, y, width, height] = ["x", "y", "width", "height"].map(|side| bounds[side].as_i64().unwrap());
    let (from, to) =
        (json!({"x": x + 8, "y": y + height / 2}), json!({"x": x + width / 2, "y": y + height / 2}));
    stage.ok("drag", json!({"from": from, "to": to, "duration_s": 0.3}));
    stage.until_is(&element, "a value in the middle", |node| {
        node["number"].as_f64().is_some_and(|value| value > 10.0)
    });
}

#[test]
fn gtk3_entries_take_any_text() {
    let desk = desk();
    let mut stage = Stage::new(&desk, "gtk3-widget-factory", &[], "", 200);
    let empty = |node: &Value| {
        (live(node, "text") || live(node, "entry")) && has_state(node, "editable") && node["text"] == ""
    };
    let element = stage.find("an entry", empty);
    stage.ok("set_value", json!({"element_id": element["id"], "value": WORDS}));
    stage.until_is(&element, "the text", |node| node["text"] == WORDS);
    stage.ok("clear_text", json!({"element_id": element["id"]}));
    stage.until_is(&element, "no text", |node| node["text"] == "");
    stage.ok("focus_element", json!({"element_id": element["id"]}));
    stage.until_is(&element, "the focus", |node| has_state(node, "focused"));
    stage.server.ok("type_text", json!({"text": WORDS}));
    stage.until_is(&element, "the typed text", |node| node["text"] == WORDS);
}

#[test]
fn gtk3_tabs_are_changed() {
    let desk = desk();
    let mut stage = Stage::new(&desk, "gtk3-widget-factory", &[], "", 200);
    let other = |node: &Value| live(node, "page tab") && !has_state(node, "selected");
    let element = stage.find("a tab", other);
    stage.ok("click_element", json!({"element_id": element["id"]}));
    stage.until_is(&element, "the tab selected", |node| has_state(node, "selected"));
}

#[test]
fn gtk4_entries_take_any_text() {
    let desk = desk();
    let mut stage = Stage::new(&desk, "gtk4-widget-factory", &[], "", 300);
    let element = stage.find("an entry", |node| live(node, "text") && has_state(node, "editable"));
    stage.ok("set_value", json!({"element_id": element["id"], "value": WORDS}));
    stage.until_is(&element, "the text", |node| node["text"] == WORDS);
}

/// GTK 4 says only of what is selected that it can be; the others are listed and clicked as well.
#[test]
fn gtk4_grids_list_what_can_be_chosen() {
    let desk = desk();
    let program = project().join("tests/desktop/programs/grid_gtk4.py");
    let mut stage = Stage::new(&desk, "/usr/bin/python3", &[program.to_str().unwrap()], "Grid", 30);
    let uid = stage.uid.clone();
    let look = stage.server.ok("look", json!({ "window_uid": uid }));
    let outline = look["outline"].as_str().unwrap();
    let has_ref = |name: &str| {
        let line = outline.lines().find(|line| line.contains(name)).unwrap_or_default();
        line.split_whitespace()
            .any(|word| word.strip_prefix('e').is_some_and(|ref_| ref_.parse::<u32>().is_ok()))
    };
    for name in ["Banana", "Cherry", "Name Banana", "Price Date"] {
        assert!(has_ref(name), "{name}: {outline}");
    }
    stage.ok("click_element", json!({"selector": "//Table/DataItem[name=\"Cherry\"]"}));
    until("the choice", || {
        stage.server.tree(&uid).iter().any(|element| element["name"] == "Cherry is chosen").then_some(())
    });
}
