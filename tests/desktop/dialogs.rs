//! zenity: programs that print what they were told, which is as much of their own state as there is.

use serde_json::{Value, json};

use crate::desk::{Stage, desk, runs, until};

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

/// H-85 on desktop: the X server gives the ids of a program that ended to the next one
#[test]
fn a_uid_or_ref_of_a_dialog_that_ended_never_presses_in_the_next() {
    let desk = desk();
    let mut server = desk.server();
    let ask = |text: &str| desk.start("zenity", &["--question", "--title=Ask", text]);
    let saving = ask("--text=Save the letter?");
    let old = server.ready(&saving, "Ask", 3);
    let yes = server.ok("find_element", json!({"window_uid": old, "selector": "//Button[name=\"Yes\"]"}));
    drop(saving);
    until("the first to go", || server.windows().is_empty().then_some(()));
    let mut deleting = ask("--text=Delete everything?");
    let new = server.ready(&deleting, "Ask", 3);
    assert_ne!(old, new);
    let xid = |uid: &str| uid.split('-').next().unwrap_or_default().to_owned();
    assert_eq!(xid(&old), xid(&new), "the X server gave other ids: this test shows nothing");
    let by_ref = json!({"ref": yes["ref"]});
    let by_uid = json!({"window_uid": old, "selector": "//Button[name=\"Yes\"]"});
    for arguments in [by_ref, by_uid] {
        let refused = server.call("click_element", arguments);
        assert_eq!(refused["error"]["code"], "WindowGone", "{refused}");
    }
    assert!(!deleting.has_ended());
    server.ok("click_element", json!({"window_uid": new, "selector": "//Button[name=\"Yes\"]"}));
    until("the answer", || deleting.has_ended().then_some(()));
}

/// A window that closes is a change, however quickly it closes while it is read.
#[test]
fn a_click_that_closes_its_window_has_changed_something() {
    let desk = desk();
    let mut server = desk.agent_server();
    for number in 0..runs(8) {
        let title = format!("Note {number}");
        let _app = desk.start("zenity", &["--info", "--title", &title, "--text", "Read this", "--no-wrap"]);
        until(&title, || server.lines("look", json!({})).contains("Button \"OK\"").then_some(()));
        let click = json!({"do": "click_element", "selector": "//Button[name=\"OK\"]"});
        let lines = server.lines("act", json!({ "steps": [click] }));
        assert!(!lines.contains("nothing visible changed"), "{number}: {lines}");
        until("its end", || (!server.lines("look", json!({})).contains(&title)).then_some(()));
    }
}
