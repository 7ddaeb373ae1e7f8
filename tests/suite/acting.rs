//! Acting on elements, judged by what the mock desktop shows afterwards.

use crate::support::World;
use serde_json::{Value, json};

/// The value that an element shows.
fn value_of(world: &World, selector: &str) -> Value {
    let id = world.ok("find_element", json!({"selector": selector}))["element_id"].clone();
    world.ok("get_window_structure", json!({"scope": id}))["tree"]["value"].clone()
}

fn selected(world: &World, selector: &str) -> Value {
    let id = world.ok("find_element", json!({"selector": selector}))["element_id"].clone();
    world.ok("get_window_structure", json!({"scope": id}))["tree"]["selected"].clone()
}

/// Calls one tool on one scenario and gives its receipt back.
fn check(scenario: &str, tool: &str, args: Value, changed: bool, route: &str) -> (World, Value) {
    let world = World::on(scenario);
    let receipt = world.ok(tool, args.clone());
    assert_eq!(receipt["changed"], changed, "{tool} {args}: {receipt}");
    assert_eq!(receipt["route"], route, "{tool} {args}");
    assert_eq!(
        receipt["before"]["tree_hash"] == receipt["after"]["tree_hash"],
        !changed || route == "pointer"
    );
    (world, receipt)
}

#[test]
fn set_value_reaches_the_element_it_names() {
    let args = json!({"selector": "//Edit[name=\"Password\"]", "value": "hunter22"});
    let (world, receipt) = check("scenarios/login.yaml", "set_value", args, true, "accessibility");
    assert!(!receipt.to_string().contains("hunter22"), "{receipt}");
    assert_eq!(value_of(&world, "//Edit[name=\"Username\"]"), "");
    assert_eq!(value_of(&world, "//Edit[name=\"Password\"]"), "[REDACTED]");
}

#[test]
fn set_value_replaces_or_appends() {
    let world = World::on("scenarios/form.yaml");
    let field = "//Edit[name=\"Employee\"]";
    world.ok("set_value", json!({"selector": field, "value": "Ada"}));
    world.ok("set_value", json!({"selector": field, "value": " L", "clear_first": false}));
    assert_eq!(value_of(&world, field), "Ada L");
    world.ok("set_value", json!({"selector": field, "value": "Bob"}));
    assert_eq!(value_of(&world, field), "Bob");
    world.ok("clear_text", json!({"selector": field}));
    assert_eq!(value_of(&world, field), "");
}

#[test]
fn a_slider_refuses_what_it_cannot_hold() {
    let world = World::on("scenarios/form.yaml");
    let args = json!({"selector": "//Slider[name=\"Urgency\"]", "value": "99"});
    assert_eq!(world.code("set_value", args), "BadRequest");
}

#[test]
fn options_are_chosen_by_name_or_place() {
    let world = World::on("scenarios/form.yaml");
    let list = "//ComboBox[name=\"Category\"]";
    world.ok("select_option", json!({"selector": list, "option_name": "Meals"}));
    assert_eq!(selected(&world, "//ListItem[name=\"Meals\"]"), true);
    world.ok("select_option", json!({"selector": list, "option_index": 2}));
    assert_eq!(selected(&world, "//ListItem[name=\"Equipment\"]"), true);
    let miss = world.call("select_option", json!({"selector": list, "option_name": "Yachts"}));
    assert!(miss["error"]["message"].as_str().unwrap().contains("Travel"), "{miss}");
}

#[test]
fn focus_is_where_the_receipt_says() {
    let world = World::on("scenarios/login.yaml");
    let receipt = world.ok("focus_element", json!({"selector": "//Edit[name=\"Password\"]"}));
    let focused = receipt["after"]["focused_selector"].as_str().unwrap();
    assert!(focused.ends_with("Edit[name=\"Password\"]"), "{receipt}");
    assert_eq!(receipt["changed"], true);
}

#[test]
fn a_ticked_box_is_a_change_although_the_hash_is_not() {
    let args = json!({"selector": "//CheckBox[name=\"I keep the receipts\"]"});
    let (world, receipt) = check("scenarios/form.yaml", "click_element", args, true, "pointer");
    assert_eq!(receipt["before"]["tree_hash"], receipt["after"]["tree_hash"]);
    assert_eq!(selected(&world, "//CheckBox[name=\"I keep the receipts\"]"), true);
}

#[test]
fn a_click_by_coordinates_hits_what_is_there() {
    let world = World::on("scenarios/login.yaml");
    world.ok("click_at", json!({"x": 210, "y": 210}));
    world.ok("type_text", json!({"text": "alice"}));
    assert_eq!(value_of(&world, "//Edit[name=\"Username\"]"), "alice");
}

#[test]
fn new_windows_are_in_the_receipt() {
    let world = World::on("scenarios/wizard.yaml");
    world.ok("click_element", json!({"selector": "//CheckBox"}));
    world.ok("click_element", json!({"selector": "//Button[name=\"Next\"]"}));
    let receipt = world.ok("click_element", json!({"selector": "//Button[name=\"Delete everything\"]"}));
    assert_eq!(receipt["new_dialogs"][0]["title"], "Delete everything?", "{receipt}");
}

#[test]
fn disabled_elements_are_left_alone() {
    let world = World::on("scenarios/form.yaml");
    for tool in ["click_element", "invoke_element", "focus_element", "hover_element", "double_click_element"]
    {
        assert_eq!(
            world.code(tool, json!({"selector": "//Button[name=\"Print\"]"})),
            "ElementDisabled",
            "{tool}"
        );
    }
    assert_eq!(world.effects(), 0);
}

#[test]
fn elements_out_of_sight_are_not_clicked() {
    let world = World::on("scenarios/long-list.yaml");
    let reply = world.call("click_element", json!({"selector": "//ListItem[index=499]"}));
    assert_eq!(reply["error"]["code"], "ElementOccluded", "{reply}");
    assert_eq!(world.effects(), 0);
}

#[test]
fn a_drag_takes_refs_as_other_tools_do() {
    let world = World::new();
    let ref_of = |text: &str| world.ok("find", json!({ "text": text }))["matches"][0]["ref"].clone();
    let (from, to) = (ref_of("File menu"), ref_of("Edit menu"));
    let by_ref = world.ok("drag", json!({"from": from, "to": to, "duration_s": 0}));
    let in_full = json!({"from": {"ref": from}, "to": {"ref": to}, "duration_s": 0});
    assert_eq!(by_ref["path"], world.ok("drag", in_full)["path"]);
    let reply = world.call("drag", json!({"from": "nowhere", "to": {"x": 1, "y": 1}}));
    assert_eq!(reply["ok"], false, "{reply}");
}

#[test]
fn a_drag_that_ends_nowhere_does_not_begin() {
    let world = World::new();
    for args in [
        json!({"from": {}, "to": {"x": 1, "y": 1}}),
        json!({"from": {"x": 1, "y": 1}, "to": {"selector": "//Nope"}}),
        json!({"from": {"x": 1, "y": 1}, "to": {"x": 30000, "y": 1}}),
        json!({"from": {"x": 1, "y": 1}, "to": {"x": 2, "y": 2}, "duration_s": 1e9}),
        json!({"from": {"x": 1, "y": 1}, "to": {"x": 2, "y": 2}, "modifiers": ["hyper"]}),
    ] {
        let reply = world.call("drag", args.clone());
        assert_eq!(reply["ok"], false, "{args}");
    }
    assert_eq!(world.effects(), 0);
}

#[test]
fn the_login_scenario_ends_at_its_welcome() {
    let world = World::on("scenarios/login.yaml");
    world.ok("set_value", json!({"selector": "//Edit[name=\"Username\"]", "value": "alice"}));
    world.ok("click_element", json!({"selector": "//Edit[name=\"Password\"]"}));
    world.ok("type_text", json!({"text": "hunter22"}));
    let receipt = world.ok("click_element", json!({"selector": "//Button[name=\"Login\"]"}));
    assert_eq!(receipt["after"]["tree_hash"], "sha1:e7106eade464b8752bdca437379f6d39e0a45dec");
    assert_eq!(world.ok("list_windows", json!({}))["windows"][0]["title"], "Acme — Welcome");
}

#[test]
fn an_id_is_answered_with_its_selector() {
    let world = World::new();
    let by_id = world.ok("find_element", json!({"selector": "root.0.1"}));
    assert_eq!(by_id["element_id"], "root.0.1");
    let again = world.ok("find_element", json!({"selector": by_id["selector"]}));
    assert_eq!(again["element_id"], "root.0.1");
}
