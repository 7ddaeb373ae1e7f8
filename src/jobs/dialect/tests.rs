use serde_json::{Map, Value, json};

use super::*;
use crate::tool::Group;

const SECRET: &str = "horse battery";

fn translated(dialect: Dialect, name: &str, args: Value) -> Result<Vec<DialectStep>, String> {
    let args: Map<String, Value> = args.as_object().unwrap().clone();
    dialect.translate(name, &args, Some(&SeenPicture::new("img", 0.5)), Some(SECRET))
}

fn check(dialect: Dialect, name: &str, args: Value, expected: &[(&'static str, Value)]) {
    let expected: Vec<DialectStep> =
        expected.iter().map(|(tool, args)| DialectStep::Call { tool, args: args.clone() }).collect();
    assert_eq!(translated(dialect, name, args), Ok(expected), "{name}");
}

fn check_refused(dialect: Dialect, name: &str, args: Value, words: &str) {
    let problem = translated(dialect, name, args.clone()).expect_err(name);
    assert!(problem.contains(words), "{name} {args}: {problem}");
}

#[test]
fn screenjob_becomes_our_calls() {
    let check = |name, args, expected: &[_]| check(Dialect::Screenjob, name, args, expected);
    check("see_screen", json!({}), &[("get_screenshot", json!({"grid": {}}))]);
    check("enhance", json!({"coordinate": "3,7"}), &[("zoom", json!({"row": 3, "col": 7, "image": "img"}))]);
    let cell = json!({"row": 3, "col": 7, "image": "img"});
    for written in [json!("3,7"), json!("(3, 7)"), json!([3, 7]), json!({"row": 3, "col": 7})] {
        check("click", json!({ "coordinate": written }), &[("click_at", cell.clone())]);
    }
    check(
        "click",
        json!({"coordinate": "3,7", "offset_up": 0.5, "offset_right": 1}),
        &[("click_at", json!({"row": 3, "col": 7, "image": "img", "dx": 1.0, "dy": -0.5}))],
    );
    check("type", json!({"text": "hi"}), &[("type_text", json!({"text": "hi"}))]);
    let tab = ("press_key", json!({"keys": "tab"}));
    check("press_key", json!({"key": "tab", "repeats": 3}), &[tab.clone(), tab.clone(), tab]);
    check(
        "execute_command",
        json!({"command": "id"}),
        &[("exec_command", json!({"command": "id", "secret": SECRET}))],
    );
}

/// WT-08: no selectors, no code, no commands.
#[test]
fn webtask_becomes_our_calls() {
    let check = |name, args, expected: &[_]| check(Dialect::Webtask, name, args, expected);
    check("snapshot", json!({}), &[("look", json!({}))]);
    check(
        "navigate",
        json!({"url": "https://a.example"}),
        &[("open_url", json!({"url": "https://a.example"}))],
    );
    check("click", json!({"elementId": "e3"}), &[("click_element", json!({"ref": "e3"}))]);
    let fill = json!({"ref": "e3", "value": "x"});
    check("fill", json!({"elementId": "e3", "value": "x"}), &[("set_value", fill)]);
    check("press", json!({"key": "enter"}), &[("press_key", json!({"keys": "enter"}))]);
    let press = json!({"ref": "e3", "keys": "enter"});
    check("press", json!({"key": "enter", "elementId": "e3"}), &[("key_into_element", press)]);
    let select = json!({"ref": "e3", "option_name": "Large"});
    check("select", json!({"elementId": "e3", "value": "Large"}), &[("select_option", select)]);
    let text = json!({"any_of": [{"type": "text_visible", "regex": r"1\.5 \(new\)"}], "timeout_ms": 500});
    check("wait_for_text", json!({"text": "1.5 (new)", "timeoutMs": 500}), &[("wait_for", text)]);
    check("read_page", json!({}), &[("read_page", json!({"part": "whole"}))]);
    check_refused(Dialect::Webtask, "click", json!({"selector": "//Button"}), "elementId");
    check_refused(Dialect::Webtask, "evaluate", json!({}), "no tool 'evaluate'");
    check_refused(Dialect::Webtask, "wait_for_text", json!({"text": "a", "timeoutMs": 1e9}), "timeoutMs");
    assert_eq!(Dialect::Webtask.ending_names(), ("finish", "fail"));
}

#[test]
fn waits_are_waits() {
    let half = DialectStep::Wait(Duration::from_millis(500));
    assert_eq!(translated(Dialect::Screenjob, "sleep", json!({"seconds": 0.5})), Ok(vec![half.clone()]));
    assert_eq!(translated(Dialect::Computer, "wait", json!({"duration": 0.5})), Ok(vec![half.clone()]));
    let steps =
        translated(Dialect::Screenjob, "click", json!({"coordinate": "1,1", "sleep_after_seconds": 0.5}));
    assert_eq!(steps.unwrap()[1], half);
    for wrong in [json!(-1), json!(1e9), json!("long")] {
        check_refused(Dialect::Screenjob, "sleep", json!({ "seconds": wrong }), "seconds");
    }
}

#[test]
fn anthropics_members_become_our_calls() {
    let check = |name, args, expected: &[_]| check(Dialect::Computer, name, args, expected);
    let at = |more: Value| with_fields(json!({"x": 5, "y": 6, "image": "img"}), more);
    check("screenshot", json!({}), &[("get_screenshot", json!({}))]);
    check("left_click", json!({"coordinate": [5, 6]}), &[("click_at", at(json!({})))]);
    check(
        "left_click",
        json!({"coordinate": [5, 6], "text": "Ctrl+shift"}),
        &[("click_at", at(json!({"modifiers": ["ctrl", "shift"]})))],
    );
    check("right_click", json!({"coordinate": [5, 6]}), &[("click_at", at(json!({"button": "right"})))]);
    check("triple_click", json!({"coordinate": [5, 6]}), &[("click_at", at(json!({"count": 3})))]);
    check("mouse_move", json!({"coordinate": [5, 6]}), &[("hover_at", at(json!({})))]);
    check(
        "left_click_drag",
        json!({"start_coordinate": [5, 6], "coordinate": [5, 6]}),
        &[("drag", json!({"from": at(json!({})), "to": at(json!({}))}))],
    );
    check(
        "key",
        json!({"text": "ctrl+a Page_Down KP_Enter"}),
        &[
            ("press_key", json!({"keys": "ctrl+a"})),
            ("press_key", json!({"keys": "page_down"})),
            ("press_key", json!({"keys": "enter"})),
        ],
    );
    let down = json!({"scroll_direction": "down", "scroll_amount": 5, "coordinate": [5, 6]});
    check("scroll", down, &[("scroll", at(json!({"clicks": -5})))]);
    check(
        "zoom",
        json!({"region": [0, 0, 100, 50]}),
        &[("zoom", json!({"x": 50, "y": 25, "image": "img", "width": 200, "height": 100}))],
    );
}

#[test]
fn openais_actions_become_our_calls_and_a_screenshot() {
    let check = |actions: Value, expected: &[(&'static str, Value)]| {
        let mut expected = expected.to_vec();
        expected.push(("get_screenshot", json!({})));
        check(Dialect::Computer, "computer", json!({ "actions": actions }), &expected);
    };
    let at = |more: Value| with_fields(json!({"x": 5, "y": 6, "image": "img"}), more);
    check(json!([]), &[]);
    check(json!([{"type": "screenshot"}]), &[]);
    check(
        json!([{"type": "click", "x": 5, "y": 6, "button": "wheel"}, {"type": "type", "text": "a"}]),
        &[("click_at", at(json!({"button": "middle"}))), ("type_text", json!({"text": "a"}))],
    );
    check(json!([{"type": "keypress", "keys": ["CTRL", "A"]}]), &[("press_key", json!({"keys": "ctrl+a"}))]);
    check(
        json!([{"type": "scroll", "x": 5, "y": 6, "scroll_y": 250}]),
        &[("scroll", at(json!({"clicks": -3})))],
    );
    check(
        json!([{"type": "drag", "path": [{"x": 5, "y": 6}, {"x": 9, "y": 9}, {"x": 5, "y": 6}]}]),
        &[("drag", json!({"from": at(json!({})), "to": at(json!({}))}))],
    );
}

#[test]
fn what_cannot_be_done_is_said() {
    check_refused(Dialect::Computer, "hold_key", json!({}), "no tool 'hold_key'");
    check_refused(Dialect::Computer, "left_click", json!({"coordinate": "5"}), "two numbers");
    check_refused(Dialect::Computer, "scroll", json!({"scroll_direction": "left"}), "up and down");
    check_refused(Dialect::Computer, "zoom", json!({"region": [1, 2]}), "four numbers");
    check_refused(Dialect::Computer, "computer", json!({"actions": [{"type": "fly"}]}), "no action 'fly'");
    let checks = json!({"actions": [], "pending_safety_checks": [{"id": "1", "message": "malicious page"}]});
    check_refused(Dialect::Computer, "computer", checks, "malicious page");
    check_refused(Dialect::Screenjob, "click", json!({"coordinate": "middle"}), "label of a cell");
    check_refused(Dialect::Screenjob, "click", json!({"coordinate": "1,1", "offset_up": 3}), "0 to 1");
    check_refused(Dialect::Screenjob, "press_key", json!({"key": "a", "repeats": 1000}), "repeats");
    check_refused(Dialect::Screenjob, "look", json!({}), "no tool 'look'");
    let nothing_seen = Dialect::Computer.translate(
        "left_click",
        json!({"coordinate": [1, 1]}).as_object().unwrap(),
        None,
        None,
    );
    assert!(nothing_seen.unwrap_err().contains("no screenshot yet"));
    let locked = Dialect::Screenjob.translate(
        "execute_command",
        json!({"command": "id"}).as_object().unwrap(),
        None,
        None,
    );
    assert!(locked.unwrap_err().contains("planner.exec"));
}

#[test]
fn the_tables_name_what_there_is() {
    let groups = Group::ALL.map(Group::name);
    for tool in all_tools().chain(computer::ACTIONS) {
        assert!(serde_json::from_str::<Value>(tool.properties).is_ok(), "{}", tool.name);
        let is_covered = |used: &&str| {
            tool.denies.contains(used)
                || tool.denies.contains(&"pointer")
                || tool.denies.iter().any(|name| groups.contains(name))
        };
        assert!(tool.uses.iter().all(is_covered), "{} denies less than it uses", tool.name);
    }
}
