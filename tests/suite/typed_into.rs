//! What a receipt says of a text that was typed: the element that got it, whoever has the focus afterwards.

use os_screen_observer::platform::Stage;
use os_screen_observer::scenario;
use serde_json::{Value, json};

use crate::support::World;

/// A spreadsheet: enter takes over what the cell box has and leads into the sheet, a letter in the sheet opens the box.
const SHEET: &str = r#"
states:
  one:
    windows:
      - uid: sheet
        title: Book
        focused: true
        bounds: {x: 0, y: 0, width: 900, height: 700}
        tree:
          role: Window
          name: Book
          bounds: {x: 0, y: 0, width: 900, height: 700}
          children:
            - {role: Edit, name: Cell, id: cell, value: "", focused: true, bounds: {x: 10, y: 10, width: 200, height: 30}}
            - {role: Edit, name: Note, id: note, value: "", bounds: {x: 10, y: 50, width: 200, height: 30}}
            - {role: Document, name: Sheet, id: grid, bounds: {x: 10, y: 90, width: 800, height: 500}}
reactions:
  - on: {tool: type_text, target_id: cell, text_regex: "gone\n"}
    set: [{id: cell, value: ""}]
    focus: grid
  - on: {tool: type_text, target_id: cell, text_regex: "(kept)\n"}
    set: [{id: cell, value: "{text}"}]
    focus: grid
  - on: {tool: type_text, target_id: grid, text_regex: "opens"}
    set: [{id: cell, value: "opens"}]
    focus: cell
"#;

fn world() -> World {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("sheet.yaml");
    std::fs::write(&file, SHEET).unwrap();
    let world = World::with(json!({}));
    Stage::load(&*world.mock, scenario::load_file(&file).unwrap());
    world
}

#[track_caller]
fn check(world: &World, text: &str, into: &str, verified: bool) -> Value {
    let receipt = world.ok("type_text", json!({"text": text}));
    assert_eq!(receipt["into"]["name"], into, "{text:?} {receipt}");
    assert_eq!(receipt["verified"], verified, "{text:?} {receipt}");
    receipt
}

#[test]
fn enter_that_leads_elsewhere_does_not_change_who_got_the_text() {
    let receipt = check(&world(), "kept\n", "Cell", true);
    assert_eq!(receipt["into"]["value"], "kept");
    check(&world(), "gone\n", "Cell", false);
}

#[test]
fn a_tab_leads_on_and_the_first_field_is_named() {
    check(&world(), "first\tsecond", "Cell", true);
}

#[test]
fn a_field_that_the_text_opened_got_it() {
    let world = world();
    world.ok("focus_element", json!({"selector": "//Document[name=\"Sheet\"]"}));
    check(&world, "opens", "Cell", true);
}
