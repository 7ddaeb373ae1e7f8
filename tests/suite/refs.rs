//! Refs as a caller meets them: given by every tool that shows an element, taken by every tool that acts on one,
//! and never leading elsewhere without a word.

use crate::support::World;
use os_screen_observer::platform::Stage;
use os_screen_observer::scenario;
use serde_json::{Value, json};

const PLAYER: &str = r#"
name: player
initial_state: stopped
states:
  stopped:
    windows:
      - &player
        uid: mock:player
        title: Player
        process: player.exe
        bounds: {x: 0, y: 0, width: 400, height: 300}
        tree:
          role: Window
          name: Player
          children:
            - {role: Button, name: Play, id: play, bounds: {x: 10, y: 10, width: 50, height: 20}}
            - {role: Button, name: Swap, id: swap, bounds: {x: 70, y: 10, width: 50, height: 20}}
            - {role: Button, name: Insert, bounds: {x: 130, y: 10, width: 50, height: 20}}
            - {role: Button, name: Close, id: close, bounds: {x: 190, y: 10, width: 50, height: 20}}
            - {role: ListItem, name: row, bounds: {x: 10, y: 40, width: 90, height: 20}}
            - {role: ListItem, name: row, bounds: {x: 10, y: 60, width: 90, height: 20}}
  longer:
    windows:
      - uid: mock:player
        title: Player
        process: player.exe
        bounds: {x: 0, y: 0, width: 400, height: 300}
        tree:
          role: Window
          name: Player
          children:
            - {role: Text, name: new, bounds: {x: 10, y: 90, width: 50, height: 20}}
            - {role: Button, name: Insert, bounds: {x: 130, y: 10, width: 50, height: 20}}
            - {role: ListItem, name: row, bounds: {x: 10, y: 40, width: 90, height: 20}}
            - {role: ListItem, name: row, bounds: {x: 10, y: 60, width: 90, height: 20}}
            - {role: ListItem, name: row, bounds: {x: 10, y: 80, width: 90, height: 20}}
            - {role: Button, name: Play, id: play, bounds: {x: 10, y: 10, width: 50, height: 20}}
  closed:
    windows:
      - {uid: mock:other, title: Other, process: other.exe, tree: {role: Window, name: Other}}
    then: {after_ms: 1000, transition_to: reopened}
  reopened:
    windows:
      - uid: mock:again
        title: Player
        process: player.exe
        bounds: {x: 0, y: 0, width: 400, height: 300}
        tree:
          role: Window
          name: Player
          children:
            - {role: Button, name: Play, id: play2, bounds: {x: 10, y: 10, width: 50, height: 20}}
            - {role: ListItem, name: row, bounds: {x: 10, y: 40, width: 90, height: 20}}
            - {role: ListItem, name: row, bounds: {x: 10, y: 60, width: 90, height: 20}}
reactions:
  - {on: {tool: click_element, target_id: play}, set: [{id: play, name: Pause}]}
  - {on: {tool: click_element, target_id: swap}, set: [{id: play, name: Record}]}
  - {on: {tool: click_element, target_name: Insert}, transition_to: longer}
  - {on: {tool: click_element, target_id: close}, transition_to: closed}
"#;

fn player() -> World {
    let world = World::new();
    Stage::load(&*world.mock, scenario::load_str(PLAYER, "player.yaml").unwrap());
    world
}

fn reference(world: &World, name: &str) -> String {
    let found = world.ok("find_element", json!({"selector": format!("//*[name=\"{name}\"]")}));
    found["ref"].as_str().unwrap().to_owned()
}

fn refused(world: &World, args: Value) -> Value {
    let (before, reply) = (world.effects(), world.call("click_element", args));
    assert_eq!(reply["ok"], false, "{reply}");
    assert_eq!(world.effects(), before, "something was done");
    reply["error"].clone()
}

#[test]
fn every_tool_gives_the_same_element_the_same_ref() {
    let world = player();
    let play = reference(&world, "Play");
    assert_eq!(world.ok("find", json!({"text": "play"}))["matches"][0]["ref"], play.as_str());
    let outline = world.ok("get_window_structure", json!({"format": "outline"}))["outline"].clone();
    assert!(outline.as_str().unwrap().contains(&format!("{play} Button \"Play\"")), "{outline}");
    let receipt = world.ok("click_element", json!({"selector": "//Button[name=\"Play\"]", "dry_run": true}));
    assert_eq!(receipt["target"]["ref"], play.as_str());
    let miss = world.call("click_element", json!({"selector": "//Button[name=\"Pley\"]"}));
    assert_eq!(miss["error"]["context"]["nearest"][0]["ref"], play.as_str(), "{miss}");
}

#[test]
fn a_click_by_ref_hits_its_element() {
    let world = player();
    let receipt = world.ok("click_element", json!({"ref": reference(&world, "Swap")}));
    assert_eq!(receipt["target"]["selector"], "Window[name=\"Player\"]/Button[name=\"Swap\"]");
    assert_eq!(receipt["changed"], true);
    assert_eq!(receipt["target"].get("identity"), None);
}

#[test]
fn a_ref_in_the_place_of_an_id_is_understood() {
    let world = player();
    let play = reference(&world, "Play");
    let receipt = world.ok("click_element", json!({"element_id": play, "dry_run": true}));
    assert_eq!(receipt["target"]["ref"], play.as_str());
}

#[test]
fn what_was_renamed_meanwhile_is_not_clicked() {
    let world = player();
    let play = reference(&world, "Play");
    world.ok("click_element", json!({"selector": "//Button[name=\"Swap\"]"}));
    let error = refused(&world, json!({"ref": play}));
    assert_eq!(error["code"], "ElementNotFound");
    assert!(error["message"].as_str().unwrap().contains("is now Button \"Record\""), "{error}");
    assert_eq!(error["context"]["candidates"][0]["ref"], play.as_str());
    // Who was told may go on.
    world.ok("click_element", json!({"ref": play}));
}

#[test]
fn what_the_click_itself_renamed_can_be_clicked_again() {
    let world = player();
    let play = reference(&world, "Play");
    let receipt = world.ok("click_element", json!({"ref": play}));
    assert_eq!(receipt["target"]["renamed"], "Button \"Pause\"");
    world.ok("click_element", json!({"ref": play}));
}

#[test]
fn refs_outlive_what_is_inserted_around_their_elements() {
    let world = player();
    let (play, insert) = (reference(&world, "Play"), reference(&world, "Insert"));
    world.ok("click_element", json!({"ref": insert}));
    assert_eq!(
        world.ok("click_element", json!({"ref": play, "dry_run": true}))["target"]["element_id"],
        "root.5"
    );
    let again = world.ok("click_element", json!({"ref": insert, "dry_run": true}));
    assert_eq!(again["target"]["element_id"], "root.1");
    let confidence = again["target"]["identity"]["confidence"].as_f64().unwrap();
    assert!(confidence < 1.0, "{again}");
}

#[test]
fn one_of_several_alike_is_answered_with_candidates() {
    let world = player();
    let row = reference(&world, "row");
    world.ok("click_element", json!({"selector": "//Button[name=\"Insert\"]"}));
    let error = refused(&world, json!({"ref": row}));
    assert_eq!(error["context"]["candidates"].as_array().unwrap().len(), 3, "{error}");
}

#[test]
fn a_window_that_came_back_is_not_pressed_before_the_caller_knows_of_it() {
    let world = player();
    let (play, row, swap) = (reference(&world, "Play"), reference(&world, "row"), reference(&world, "Swap"));
    world.ok("click_element", json!({"selector": "//Button[name=\"Close\"]"}));
    let error = refused(&world, json!({"ref": play}));
    assert_eq!(error["code"], "WindowGone", "{error}");
    world
        .app
        .clock
        .sleep(std::time::Duration::from_secs(2), &os_screen_observer::clock::Cancel::new())
        .unwrap();
    assert_eq!(refused(&world, json!({"ref": swap}))["code"], "WindowGone");
    assert_eq!(refused(&world, json!({"ref": row}))["code"], "WindowGone");
    let error = refused(&world, json!({"ref": play}));
    assert_eq!(error["code"], "WindowGone", "{error}");
    let candidate = &error["context"]["candidates"][0];
    assert_eq!(
        (&candidate["name"], &candidate["window_uid"]),
        (&json!("Play"), &json!("mock:again")),
        "{error}"
    );
    let receipt = world.ok("click_element", json!({"ref": candidate["ref"]}));
    assert_eq!(receipt["target"]["window_uid"], "mock:again");
}

/// A system may give the id of a window to the next process, which may ask something else in the same words.
const NEXT_PROCESS: &str = r#"
name: next process
initial_state: saving
states:
  saving:
    windows:
      - uid: mock:7
        title: Question
        process: zenity
        pid: 41
        bounds: {x: 0, y: 0, width: 400, height: 300}
        tree:
          role: Window
          name: Question
          children:
            - {role: Text, name: Save the letter?}
            - {role: Button, name: "Yes", id: "yes", bounds: {x: 10, y: 10, width: 50, height: 20}}
            - {role: Button, name: End, id: end, bounds: {x: 70, y: 10, width: 50, height: 20}}
  deleting:
    windows:
      - uid: mock:7
        title: Question
        process: zenity
        pid: 42
        bounds: {x: 0, y: 0, width: 400, height: 300}
        tree:
          role: Window
          name: Question
          children:
            - {role: Text, name: Delete everything?}
            - {role: Button, name: "Yes", id: "yes", bounds: {x: 10, y: 10, width: 50, height: 20}}
reactions:
  - {on: {tool: click_element, target_id: end}, transition_to: deleting}
"#;

/// H-85 on code: the refs of the window before
#[test]
fn a_ref_of_a_process_that_ended_leads_nowhere() {
    let world = World::new();
    Stage::load(&*world.mock, scenario::load_str(NEXT_PROCESS, "next.yaml").unwrap());
    let yes = reference(&world, "Yes");
    world.ok("click_element", json!({"selector": "//Button[name=\"End\"]"}));
    assert_eq!(refused(&world, json!({"ref": yes}))["code"], "WindowGone");
    let claim = json!({"predicates": [{"kind": "element_exists", "ref": yes}]});
    assert_eq!(world.ok("assert_state", claim)["all_passed"], false);
    assert_ne!(reference(&world, "Yes"), yes);
}

#[test]
fn a_ref_that_nobody_gave_is_refused() {
    let world = player();
    let unknown = refused(&world, json!({"ref": "e4711"}));
    assert_eq!(unknown["code"], "ElementNotFound");
    assert!(unknown["message"].as_str().unwrap().contains("look again"), "{unknown}");
    for wrong in ["17", "root.1", "e", "E1"] {
        let error = refused(&world, json!({"ref": wrong}));
        assert_eq!(
            (&error["code"], &error["context"]["field"]),
            (&json!("BadRequest"), &json!("ref")),
            "{wrong}"
        );
    }
}

#[test]
fn a_ref_and_another_window_contradict_each_other() {
    let world = World::new();
    let edit = reference(&world, "Edit");
    world.ok("click_element", json!({"ref": edit, "window_index": 0, "dry_run": true}));
    let error = refused(&world, json!({"ref": edit, "window_index": 1}));
    assert_eq!(error["context"]["field"], "window_uid");
    // A ref knows its window, whichever has the focus.
    world.ok("bring_to_foreground", json!({"window_index": 1}));
    world.ok("get_screenshot_cropped", json!({"ref": edit}));
}

#[test]
fn the_tools_that_take_an_element_take_a_ref() {
    let world = World::on("scenarios/form.yaml");
    let found = |text: &str| world.ok("find", json!({"text": text}))["matches"][0]["ref"].clone();
    let (employee, receipts, category) = (found("Employee"), found("receipts"), found("Category"));
    world.ok("focus_element", json!({"ref": employee}));
    world.ok("set_value", json!({"ref": employee, "value": "alice"}));
    world.ok("key_into_element", json!({"ref": employee, "keys": "end"}));
    world.ok("clear_text", json!({"ref": employee}));
    world.ok("invoke_element", json!({"ref": receipts}));
    world.ok("hover_element", json!({"ref": receipts, "hover_ms": 1}));
    world.ok("right_click_element", json!({"ref": receipts}));
    world.ok("double_click_element", json!({"ref": receipts}));
    world.ok("select_option", json!({"ref": category, "option_name": "Meals"}));
    world.ok("drag", json!({"from": {"ref": employee}, "to": {"ref": receipts}, "duration_s": 0}));
    world.ok("click_element_and_observe", json!({"ref": receipts, "wait_after_ms": 0}));
    world.ok("get_screenshot_cropped", json!({"ref": employee}));
    world.ok("get_screen_description", json!({"focus_element": employee, "mode": "accessibility"}));
    world.ok("propose_action", json!({"action": "click_element", "args": {"ref": receipts}}));
}

#[test]
fn a_replay_goes_by_what_was_recorded() {
    let world = player();
    world.ok("trace_start", json!({}));
    let swap = reference(&world, "Swap");
    world.ok("click_element", json!({"ref": swap}));
    let trace = world.ok("trace_stop", json!({}));
    // In another session the same ref means another element, and this one has none at first.
    let folder = std::path::Path::new(trace["path"].as_str().unwrap()).parent().unwrap().to_owned();
    let other = World::with(json!({"tracing": {"dir": folder.parent().unwrap()}}));
    Stage::load(&*other.mock, scenario::load_str(PLAYER, "player.yaml").unwrap());
    let close = reference(&other, "Close");
    assert_eq!(close, swap);
    let replay = other.ok("replay_start", json!({"path": trace["path"], "mode": "verify"}));
    for _ in 0..2 {
        other.ok("replay_step", json!({"replay_id": replay["replay_id"]}));
    }
    let status = other.ok("replay_status", json!({"replay_id": replay["replay_id"]}));
    assert_eq!(status["divergences"], json!([]), "{status}");
    reference(&other, "Record");
}

#[test]
fn claims_and_waits_take_refs() {
    let world = player();
    let (play, swap) = (reference(&world, "Play"), reference(&world, "Swap"));
    let holds =
        |predicate: Value| world.ok("assert_state", json!({"predicates": [predicate]}))["all_passed"].clone();
    assert_eq!(holds(json!({"kind": "element_exists", "ref": swap})), true);
    assert_eq!(holds(json!({"kind": "element_absent", "ref": swap})), false);
    world.ok("click_element", json!({"selector": "//Button[name=\"Insert\"]"}));
    assert_eq!(holds(json!({"kind": "element_exists", "ref": play})), true);
    assert_eq!(holds(json!({"kind": "element_absent", "ref": swap})), true);
    let wait = json!({"any_of": [{"type": "element_disappears", "ref": swap}], "timeout_ms": 1000});
    assert_eq!(world.ok("wait_for", wait)["matched_index"], 0);
    let wrong = json!({"any_of": [{"type": "element_disappears", "ref": "Swap"}]});
    assert_eq!(world.code("wait_for", wrong), "BadRequest");
}
