//! geany: GTK 3 runs a dialog inside of the accessible press that opens it, and then answers nothing.

use serde_json::json;

use crate::desk::{Desk, Stage, desk, until};

fn geany(desk: &Desk) -> Stage<'_> {
    let settings = desk.home().join("geany");
    let settings = settings.to_str().unwrap();
    Stage::new(desk, "geany", &["--new-instance", "--no-session", "-c", settings], "Geany", 100)
}

/// A program that is stuck in its dialog has no tree of it, and does not close it by a key.
fn check_dialog(stage: &mut Stage<'_>) {
    let dialog = stage.server.ready(&stage.app, "Open File", 10);
    stage.server.element(&dialog, "Button", "Cancel");
    stage.server.ok("press_key", json!({"window_uid": dialog, "keys": "escape"}));
    until("the dialog to close", || (stage.server.windows().len() == 1).then_some(()));
    assert!(stage.server.tree(&stage.uid).len() >= 100);
}

#[test]
fn a_button_and_a_menu_entry_open_a_dialog_that_answers() {
    let desk = desk();
    let mut stage = geany(&desk);
    let open = stage.server.element(&stage.uid, "Button", "Open");
    let receipt = stage.ok("click_element", json!({"element_id": open["id"]}));
    assert_eq!(receipt["route"], "pointer", "{receipt}");
    check_dialog(&mut stage);

    let file = stage.server.element(&stage.uid, "MenuItem", "File");
    stage.ok("click_element", json!({"element_id": file["id"]}));
    let entry = stage.server.element(&stage.uid, "MenuItem", "Open...");
    let receipt = stage.ok("click_element", json!({"element_id": entry["id"]}));
    assert_eq!(receipt["route"], "pointer", "{receipt}");
    check_dialog(&mut stage);
}

/// As a person does it: the menu is opened, and the entry clicked in it. The program goes on answering.
#[test]
fn an_entry_of_a_closed_menu_opens_a_dialog_that_answers() {
    let desk = desk();
    let mut stage = geany(&desk);
    let entry = stage.server.element(&stage.uid, "MenuItem", "Open...");
    let receipt = stage.ok("click_element", json!({"element_id": entry["id"]}));
    assert_eq!(receipt["route"], "pointer", "{receipt}");
    check_dialog(&mut stage);
    // A step that only presses keys waits for what comes of them.
    let reply = stage.server.call("act", json!({"steps": [{"do": "press_key", "keys": "ctrl+o"}]}));
    assert!(reply.to_string().contains("Open File"), "{reply}");
    check_dialog(&mut stage);
    // While another menu is open.
    let edit = stage.server.element(&stage.uid, "MenuItem", "Edit");
    stage.ok("click_element", json!({"element_id": edit["id"]}));
    let entry = stage.server.element(&stage.uid, "MenuItem", "Open...");
    let receipt = stage.ok("click_element", json!({"element_id": entry["id"]}));
    assert_eq!(receipt["route"], "pointer", "{receipt}");
    check_dialog(&mut stage);
}

/// In the background the action would leave the program without an answer.
#[test]
fn a_dialog_is_not_opened_in_the_background() {
    let desk = desk();
    let mut stage = geany(&desk);
    let entry = stage.server.element(&stage.uid, "MenuItem", "Open...");
    let asked = json!({"window_uid": stage.uid, "element_id": entry["id"], "delivery": "background"});
    let reply = stage.server.call("click_element", asked);
    assert_eq!(reply["error"]["code"], "ElementOccluded", "{reply}");
    assert!(reply["error"]["message"].as_str().unwrap().contains("foreground"), "{reply}");
    assert_eq!(stage.server.windows().len(), 1);
    assert!(stage.server.tree(&stage.uid).len() >= 100);
}

/// A person may have opened the dialog by a screen reader: the program answers nobody then, and a key stops it for good.
#[test]
fn a_program_that_is_stuck_in_its_dialog_gets_no_keys() {
    let desk = desk();
    let mut stage = geany(&desk);
    let open = stage.server.element(&stage.uid, "Button", "Open");
    let asked = json!({"window_uid": stage.uid, "element_id": open["id"], "delivery": "background"});
    stage.server.call("click_element", asked);
    for (tool, arguments) in [("press_key", json!({"keys": "escape"})), ("type_text", json!({"text": "x"}))] {
        let reply = stage.server.call(tool, arguments);
        assert_eq!(reply["error"]["code"], "Timeout", "{reply}");
        assert!(reply["error"]["message"].as_str().unwrap().contains("click_at"), "{reply}");
    }
}

/// The look for its options would press it.
#[test]
fn a_button_is_no_list_and_is_not_pressed() {
    let desk = desk();
    let mut stage = geany(&desk);
    let new = stage.server.element(&stage.uid, "Button", "New");
    let tabs = |stage: &mut Stage<'_>| {
        let tree = stage.server.tree(&stage.uid);
        tree.iter().filter(|element| element["role"] == "TabItem").count()
    };
    let before = tabs(&mut stage);
    let asked = json!({"window_uid": stage.uid, "element_id": new["id"], "option_name": "zzz"});
    let reply = stage.server.call("select_option", asked);
    assert_eq!(reply["error"]["code"], "PatternUnsupported", "{reply}");
    assert_eq!(tabs(&mut stage), before);
}
