//! Windows behind others: keys go to the one that is named, and what an element does by itself it does in place.

use os_screen_observer::model::input::{Act, Delivery};
use os_screen_observer::platform::{Input, Stage, Unguarded};
use os_screen_observer::scenario;
use serde_json::{Value, json};

use crate::support::World;

const WINDOWS: &str = r#"
states:
  one:
    windows:
      - uid: front
        title: Front
        focused: true
        bounds: {x: 0, y: 0, width: 900, height: 700}
        tree:
          role: Window
          name: Front
          bounds: {x: 0, y: 0, width: 900, height: 700}
          children:
            - {role: Edit, name: Mine, id: mine, value: "", focused: true, bounds: {x: 10, y: 10, width: 200, height: 30}}
      - uid: back
        title: Back
        bounds: {x: 100, y: 100, width: 400, height: 300}
        tree:
          role: Window
          name: Back
          bounds: {x: 100, y: 100, width: 400, height: 300}
          children:
            - {role: Edit, name: Note, id: note, value: "", focused: true, bounds: {x: 110, y: 110, width: 200, height: 30}}
            - {role: CheckBox, name: Agree, id: agree, selected: false, bounds: {x: 110, y: 150, width: 100, height: 30}}
            - {role: Image, name: Picture, id: picture, bounds: {x: 110, y: 190, width: 100, height: 30}}
            - {role: Button, name: Delete, id: delete, bounds: {x: 110, y: 230, width: 100, height: 30}}
"#;

fn world(config: Value) -> World {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("windows.yaml");
    std::fs::write(&file, WINDOWS).unwrap();
    let world = World::with(config);
    Stage::load(&*world.mock, scenario::load_file(&file).unwrap());
    world
}

fn element(world: &World, window: &str, name: &str) -> Value {
    let selector = format!("//*[name=\"{name}\"]");
    let found = world.ok("find_element", json!({"window_uid": window, "selector": selector}));
    let scope = found["element_id"].clone();
    world.ok("get_window_structure", json!({"window_uid": window, "scope": scope}))["tree"].clone()
}

fn focused(world: &World) -> String {
    let windows = world.ok("list_windows", json!({}))["windows"].clone();
    let found = windows.as_array().unwrap().iter().find(|window| window["focused"] == true);
    found.unwrap()["window_uid"].as_str().unwrap().to_owned()
}

#[test]
fn text_goes_to_the_window_that_is_named() {
    let world = world(json!({}));
    let receipt = world.ok("type_text", json!({"text": "straight", "window_uid": "back"}));
    assert_eq!(element(&world, "back", "Note")["value"], "straight", "{receipt}");
    assert_eq!(element(&world, "front", "Mine")["value"], "");
    assert_eq!(receipt["into"]["name"], "Note", "{receipt}");
    assert_eq!(receipt["into"]["value"], "straight", "{receipt}");
    assert_eq!(receipt["verified"], true, "{receipt}");
}

#[test]
fn without_a_window_text_goes_to_what_has_the_focus() {
    let world = world(json!({}));
    let receipt = world.ok("type_text", json!({"text": "here"}));
    assert_eq!(element(&world, "front", "Mine")["value"], "here");
    assert_eq!(receipt["into"]["window_uid"], "front", "{receipt}");
    assert_eq!(receipt["into"]["changed"], true, "{receipt}");
}

#[test]
fn the_window_of_a_list_of_steps_is_that_of_its_keys() {
    let world = world(json!({}));
    let steps = json!([{"do": "type_text", "text": "a"}, {"do": "press_key", "keys": "b"}]);
    let reply = world.ok("act", json!({"window_uid": "back", "steps": steps}));
    assert_eq!(element(&world, "back", "Note")["value"], "ab", "{reply}");
    assert_eq!(element(&world, "front", "Mine")["value"], "");
}

#[test]
fn keys_may_take_nothing() {
    let world = world(json!({}));
    for (tool, mut args) in [("type_text", json!({"text": "x"})), ("press_key", json!({"keys": "x"}))] {
        args["window_uid"] = json!("gone");
        assert_eq!(world.code(tool, args), "WindowGone", "{tool}");
    }
    assert_eq!(focused(&world), "front");
}

fn check_in_place(tool: &str, args: Value, name: &str, fact: &str, expected: Value) {
    let world = world(json!({}));
    let mut args = args;
    args["window_uid"] = json!("back");
    args["selector"] = json!(format!("//*[name=\"{name}\"]"));
    let receipt = world.ok(tool, args);
    assert_eq!(receipt["in_background"], true, "{receipt}");
    assert_eq!(receipt["route"], "accessibility", "{receipt}");
    assert_eq!(element(&world, "back", name)[fact], expected, "{receipt}");
    assert_eq!(focused(&world), "front", "{receipt}");
}

#[test]
fn what_an_element_does_by_itself_is_done_in_place() {
    check_in_place("click_element", json!({}), "Agree", "selected", json!(true));
    check_in_place("invoke_element", json!({}), "Agree", "selected", json!(true));
    check_in_place("set_value", json!({"value": "你好 😀"}), "Note", "value", json!("你好 😀"));
}

#[test]
fn what_takes_the_pointer_is_refused_or_raises() {
    let picture = json!({"window_uid": "back", "selector": "//*[name=\"Picture\"]"});
    let refusing = world(json!({}));
    for tool in ["click_element", "double_click_element", "hover_element", "focus_element"] {
        let reply = refusing.call(tool, picture.clone());
        assert_eq!(reply["error"]["code"], "ElementOccluded", "{tool} {reply}");
        assert!(reply["error"]["message"].as_str().unwrap().contains("foreground"), "{reply}");
    }
    assert_eq!((refusing.effects(), focused(&refusing).as_str()), (0, "front"));
    let mut asked = picture.clone();
    asked["delivery"] = json!("foreground");
    let receipt = refusing.ok("click_element", asked);
    assert_eq!(receipt["route"], "pointer", "{receipt}");
    let raising = world(json!({"actions": {"delivery": "foreground"}}));
    assert_eq!(raising.ok("click_element", picture)["route"], "pointer");
}

#[test]
fn consent_holds_behind_others() {
    let rule = json!({"confirmation_required": [{"role": "Button", "name_regex": "(?i)delete"}]});
    let world = world(rule);
    let delete = json!({"window_uid": "back", "selector": "//Button[name=\"Delete\"]"});
    for tool in ["click_element", "invoke_element"] {
        assert_eq!(world.code(tool, delete.clone()), "ConfirmationRequired", "{tool}");
    }
    // In a window that is not in front everything protected may get the keys.
    assert_eq!(world.code("type_text", json!({"text": "x", "window_uid": "back"})), "ConfirmationRequired");
    assert_eq!(world.effects(), 0);
}

#[test]
fn a_dry_run_is_refused_as_the_real_call_would_be() {
    let world = world(json!({}));
    let args =
        json!({"window_uid": "back", "selector": "//Button[name=\"Delete\"]", "value": "x", "dry_run": true});
    assert_eq!(world.code("set_value", args), "PatternUnsupported");
    assert_eq!(world.effects(), 0);
}

#[test]
fn modifiers_go_with_a_click() {
    let world = world(json!({}));
    world.ok("click_element", json!({"selector": "//*[name=\"Mine\"]", "modifiers": ["ctrl", "shift"]}));
    world.ok("click_at", json!({"x": 20, "y": 20, "modifiers": ["alt"]}));
    let log = world.mock.action_log();
    let held: Vec<usize> = log
        .iter()
        .filter_map(|act| match act {
            Act::Click { modifiers, .. } => Some(modifiers.len()),
            _ => None,
        })
        .collect();
    assert_eq!(held, [2, 1], "{log:?}");
}

#[test]
fn the_mock_takes_nothing_in_the_background() {
    let world = world(json!({}));
    let handle = os_screen_observer::model::input::Handle {
        window_uid: "back".to_owned(),
        native: "agree".to_owned(),
    };
    let act = Act::Focus { element: handle };
    let refused = world.mock.act(&act, Delivery::Background, &Unguarded, &Default::default());
    assert!(refused.is_err());
    assert_eq!(focused(&world), "front");
}

/// A click on a part of a window that shows brings the whole to the front, and the receipt says so.
#[test]
fn a_click_that_raises_a_window_says_so() {
    let world = world(json!({}));
    world.ok("window_action", json!({"action": "move", "window_uid": "front", "x": 300, "y": 0}));
    let receipt =
        world.ok("click_element", json!({"window_uid": "back", "selector": "//Button[name=\"Delete\"]"}));
    assert_eq!((&receipt["raised"], receipt.get("in_background")), (&json!(true), None), "{receipt}");
    assert_eq!(focused(&world), "back");
    let again =
        world.ok("click_element", json!({"window_uid": "back", "selector": "//Button[name=\"Delete\"]"}));
    assert_eq!(again.get("raised"), None, "{again}");
    let clicked = world.ok("click_at", json!({"x": 700, "y": 20}));
    assert_eq!((&clicked["raised"], focused(&world).as_str()), (&json!(true), "front"), "{clicked}");
}
