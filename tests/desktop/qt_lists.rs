//! Lists of Qt that open in windows of their own: one that completes a word is in no element, and what is in a closed
//! combo box says that it shows.

use serde_json::json;

use crate::desk::{Stage, desk, until};
use crate::support::project;

/// The elements of this role that a model is shown.
fn shown(stage: &mut Stage<'_>, role: &str) -> Vec<String> {
    let look = stage.server.call("look", json!({"window_uid": stage.uid, "changes": false}));
    let lines = look["outline"].as_str().unwrap_or_default().lines();
    let of_role = lines.filter(|line| line.contains(&format!(" {role} ")));
    of_role.map(|line| line.trim().to_owned()).collect()
}

fn has(lines: &[String], name: &str) -> bool {
    lines.iter().any(|line| line.contains(&format!("\"{name}\"")))
}

#[test]
fn a_list_that_completes_a_word_is_seen_with_its_window() {
    let desk = desk();
    let program = project().join("tests/desktop/programs/qt_lists.py");
    let mut stage = Stage::new(&desk, "/usr/bin/python3", &[program.to_str().unwrap()], "Lists", 4);
    // A closed combo box is one line.
    let options = shown(&mut stage, "ListItem");
    assert!(options.is_empty(), "{options:?}");
    stage.server.ok("type_text", json!({"text": "si", "window_uid": stage.uid}));
    let words = until("the words that begin so", || {
        Some(shown(&mut stage, "ListItem")).filter(|lines| has(lines, "sinh"))
    });
    assert!(has(&words, "sine") && has(&words, "size"), "{words:?}");
    stage.ok("click_element", json!({"selector": "//ListItem[name=\"sinh\"]"}));
    until("the word in its field", || {
        let tree = stage.server.tree(&stage.uid);
        tree.iter().any(|element| element["value"] == "sinh").then_some(())
    });
    until("the list to close", || (!has(&shown(&mut stage, "ListItem"), "sine")).then_some(()));

    let combo = stage.server.element(&stage.uid, "ComboBox", "Text");
    stage.ok("click_element", json!({"element_id": combo["id"]}));
    until("the options", || has(&shown(&mut stage, "ListItem"), "Binary").then_some(()));
    stage.ok("select_option", json!({"element_id": combo["id"], "option_name": "Image"}));
    stage.server.element(&stage.uid, "ComboBox", "Image");
    until("the list to close", || (!has(&shown(&mut stage, "ListItem"), "Binary")).then_some(()));
}
