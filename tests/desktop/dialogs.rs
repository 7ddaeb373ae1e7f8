//! zenity: programs that print what they were told, which is as much of their own state as there is.

use serde_json::{Value, json};

use crate::desk::{Stage, desk, until};

fn press_ok(stage: &mut Stage<'_>) {
    let button = stage.server.element(&stage.uid, "Button", "OK");
    stage.ok("click_element", json!({"element_id": button["id"]}));
}

#[test]
fn an_entry_prints_what_was_typed() {
    let desk = desk();
    let mut stage = Stage::new(&desk, "zenity", &["--entry", "--title=Ask", "--text=Name"], "Ask", 4);
    stage.ok("set_value", json!({"selector": "//Edit", "value": "Zoë 漢字 🎉"}));
    press_ok(&mut stage);
    assert_eq!(stage.app.printed(), "Zoë 漢字 🎉\n");
}

#[test]
fn a_key_closes_a_dialog() {
    let desk = desk();
    let mut stage = Stage::new(&desk, "zenity", &["--entry", "--title=Ask", "--entry-text=kept"], "Ask", 4);
    stage.ok("key_into_element", json!({"selector": "//Edit", "keys": "enter"}));
    assert_eq!(stage.app.printed(), "kept\n");
}

#[test]
fn a_scale_prints_its_value() {
    let desk = desk();
    let arguments = ["--scale", "--title=Scale", "--text=How much", "--value=10"];
    let mut stage = Stage::new(&desk, "zenity", &arguments, "Scale", 4);
    stage.ok("set_value", json!({"selector": "//Slider", "value": "66"}));
    press_ok(&mut stage);
    assert_eq!(stage.app.printed(), "66\n");
}

#[test]
fn a_combo_box_prints_its_choice() {
    let desk = desk();
    let arguments =
        ["--forms", "--title=Form", "--text=Choose", "--add-combo=Colour", "--combo-values=red|green|blue"];
    let mut stage = Stage::new(&desk, "zenity", &arguments, "Form", 5);
    stage.ok("select_option", json!({"selector": "//ComboBox", "option_name": "green"}));
    press_ok(&mut stage);
    assert_eq!(stage.app.printed(), "green\n");
}

#[test]
fn a_dialog_that_appears_is_waited_for_by_events() {
    let desk = desk();
    let mut server = desk.server();
    let script = "sleep 2; exec zenity --question --title=Later --text=Sure";
    let app = desk.start("sh", &["-c", script]);
    let condition = json!({"type": "window_appears", "title_regex": "Later"});
    let reply = server.ok("wait_for", json!({"any_of": [condition], "timeout_ms": 30000}));
    assert_eq!(reply["matched_index"], 0, "{reply}");
    let uid = server.ready(&app, "Later", 3);
    let yes = server.element(&uid, "Button", "Yes");
    server.ok("click_element", json!({"window_uid": uid, "element_id": yes["id"]}));
    until("the dialog to close", || server.windows().is_empty().then_some(()));
}

#[test]
fn a_dry_run_touches_nothing() {
    let desk = desk();
    let mut stage = Stage::new(&desk, "zenity", &["--entry", "--title=Ask", "--entry-text=kept"], "Ask", 4);
    stage.ok("set_value", json!({"selector": "//Edit", "value": "other", "dry_run": true}));
    let text = |node: &Value| node["text"] == "kept";
    desk.until_any(&stage.app, "the old text", text);
    press_ok(&mut stage);
    assert_eq!(stage.app.printed(), "kept\n");
}
