//! What is pressed is what was judged, and what a person consented to is what they were shown: keys in open menus, what
//! comes up under the pointer, names in disguise, questions that cut, windows that change while somebody reads.
#![cfg(feature = "http")]

use std::sync::Arc;
use std::time::{Duration, Instant};

use os_screen_observer::app::App;
use os_screen_observer::clock::{Cancel, Clock};
use os_screen_observer::config::{self, Flags};
use os_screen_observer::gate::confirm::Person;
use os_screen_observer::gate::{Call, Origin, Reply};
use os_screen_observer::model::{Rect, Role};
use os_screen_observer::platform::mock::Mock;
use os_screen_observer::platform::{Accessibility, Stage};
use os_screen_observer::scenario;
use os_screen_observer::tool::Selection;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};

use crate::support::World;
use crate::support::http::{JSON, Site, until};
use crate::support::test_platform::TestPlatform;

fn load(text: &str) -> scenario::Scenario {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("stage.yaml");
    std::fs::write(&file, text).unwrap();
    scenario::load_file(&file).unwrap_or_else(|problem| panic!("{problem}: {text}"))
}

fn deletes() -> Value {
    json!([{"name_regex": "(?i)delete"}])
}

fn world(text: &str, rules: Value) -> World {
    let world = World::with(json!({"confirmation_required": rules}));
    world.mock.load(load(text));
    world.app.observer.forget_all();
    world
}

/// One window with these elements, and these reactions.
fn stage(children: &str, reactions: &str) -> String {
    let reactions = if reactions.is_empty() { String::new() } else { format!("reactions: [{reactions}]\n") };
    format!(
        "name: stage\nscreen: {{width: 500, height: 500}}\nstates:\n  only:\n    windows:\n      - uid: mock:w\n        \
         title: Stage\n        bounds: {{x: 0, y: 0, width: 400, height: 400}}\n        focused: true\n        tree: \
         {{role: Window, name: Stage, bounds: {{x: 0, y: 0, width: 400, height: 400}}, children: [{children}]}}\n{reactions}"
    )
}

/// Whether a call on a window with these elements needs consent; then nothing is done.
#[track_caller]
fn check(children: &str, tool: &str, args: Value, expected: bool) {
    check_by(deletes(), children, tool, args, expected);
}

#[track_caller]
fn check_by(rules: Value, children: &str, tool: &str, args: Value, expected: bool) {
    let world = world(&stage(children, ""), rules);
    let reply = world.call(tool, args.clone());
    let asks = reply["error"]["code"] == "ConfirmationRequired";
    assert_eq!(asks, expected, "{tool} {args} on {children} answered {reply}");
    assert_eq!(world.effects(), usize::from(!expected), "{tool} {args} on {children}");
}

fn keys(keys: &str) -> Value {
    json!({ "keys": keys })
}

// ── keys and the wheel where something is chosen ──────────────────────────────────────────────────

/// A menu that is open, with the focus where it was before.
const OPEN_MENU: &str = "{role: Edit, name: Note, value: '', focused: true, bounds: {x: 10, y: 300, width: 100, height: 20}}, \
     {role: MenuBar, bounds: {x: 0, y: 0, width: 400, height: 20}, children: [{role: MenuItem, name: Edit, bounds: {x: 0, y: 0, width: 40, height: 20}, \
     children: [{role: Menu, bounds: {x: 0, y: 20, width: 100, height: 40}, children: [\
     {role: MenuItem, name: Copy, selected: true, bounds: {x: 0, y: 20, width: 100, height: 20}}, \
     {role: MenuItem, name: Delete, bounds: {x: 0, y: 40, width: 100, height: 20}}]}]}]}";

/// Whether a key needs consent while menus of the window lie there, and its tree shows them or says that they are shut.
#[track_caller]
fn check_beside(popups: &'static [Rect], children: &str, is_shut: bool, pressed: &str, expected: bool) {
    let clock = Clock::steered();
    let mock = Arc::new(Mock::new(clock.clone()));
    mock.load(load(&stage(children, "")));
    let platform = TestPlatform::new(mock.clone())
        .with_desktop(|desktop| desktop.popup_areas = Box::new(move |_, _| Ok(popups.to_vec())))
        .with_tree(move |mock, window, patience| {
            let tree = mock.tree(window, patience)?;
            Ok(tree.map_elements(|element| element.hidden = is_shut && element.role == Role::Menu))
        });
    let rules = ("OSO_CONFIRMATION_REQUIRED".to_owned(), deletes().to_string());
    let loaded = config::load(&Flags { mock: true, ..Flags::default() }, [rules]).unwrap();
    let app = App::new(loaded, &Selection::default(), Arc::new(platform), clock).unwrap();
    let call = Call { tool: "press_key".to_owned(), args: keys(pressed), origin: Origin::Test };
    let reply = app.gate.pass_call(call, &Cancel::new()).value();
    let asks = reply["error"]["code"] == "ConfirmationRequired";
    assert_eq!(asks, expected, "{pressed} beside {popups:?}: {reply}");
}

/// H-300 on code: a menu that is open, and that the application does not show in its tree
#[test]
fn a_menu_that_the_tree_does_not_show_may_be_any_of_the_window() {
    const OPEN: &[Rect] = &[Rect { x: 0, y: 20, width: 100, height: 40 }];
    for pressed in ["enter", "space", "d"] {
        check_beside(&[], OPEN_MENU, true, pressed, false);
        check_beside(OPEN, OPEN_MENU, true, pressed, true);
    }
    for pressed in ["down", "escape"] {
        check_beside(OPEN, OPEN_MENU, true, pressed, false);
    }
    // One that is in the tree is known, and so is what is in it.
    check_beside(OPEN, &OPEN_MENU.replace("Delete", "Paste"), false, "enter", false);
}

/// H-111 on code: keys that choose in an open menu, wherever the focus is said to be
#[test]
fn keys_in_an_open_menu_are_judged_by_its_entries() {
    for pressed in ["enter", "space", "d", "shift+d", "tab"] {
        check(OPEN_MENU, "press_key", keys(pressed), true);
    }
    for pressed in ["down", "up", "escape", "f10", "ctrl+c"] {
        check(OPEN_MENU, "press_key", keys(pressed), false);
    }
    for text in ["d", "D", "xd", " ", "\n"] {
        check(OPEN_MENU, "type_text", json!({ "text": text }), true);
    }
    let closed = OPEN_MENU.replace("Delete", "Paste");
    check(&closed, "press_key", keys("enter"), false);
}

const COMBO: &str = "{role: ComboBox, name: Plan, value: Keep, focused: true, bounds: {x: 10, y: 10, width: 100, height: 20}, children: [\
     {role: ListItem, name: Keep, selected: true, bounds: {x: 10, y: 30, width: 100, height: 20}}, \
     {role: ListItem, name: Delete plan, selected: false, bounds: {x: 10, y: 50, width: 100, height: 20}}]}";

const RADIOS: &str = "{role: Group, bounds: {x: 0, y: 0, width: 200, height: 60}, children: [\
     {role: RadioButton, name: Keep, selected: true, focused: true, bounds: {x: 10, y: 10, width: 100, height: 20}}, \
     {role: RadioButton, name: Delete all, selected: false, bounds: {x: 10, y: 30, width: 100, height: 20}}]}";

const LIST: &str = "{role: List, name: Deeds, bounds: {x: 0, y: 0, width: 200, height: 60}, children: [\
     {role: ListItem, name: Keep, selected: true, focused: true, bounds: {x: 10, y: 10, width: 100, height: 20}}, \
     {role: ListItem, name: Delete all, selected: false, bounds: {x: 10, y: 30, width: 100, height: 20}}]}";

const TABS: &str = "{role: Tab, name: Pages, bounds: {x: 0, y: 0, width: 200, height: 20}, children: [\
     {role: TabItem, name: Keep, selected: true, focused: true, bounds: {x: 0, y: 0, width: 100, height: 20}}, \
     {role: TabItem, name: Delete, selected: false, bounds: {x: 100, y: 0, width: 100, height: 20}}]}";

/// H-111 on code: arrows and letters that choose at once
#[test]
fn keys_that_choose_at_once_are_judged_by_the_group() {
    for group in [COMBO, RADIOS, LIST, TABS] {
        for pressed in ["down", "home", "d", "enter"] {
            check(group, "press_key", keys(pressed), true);
        }
        check(group, "press_key", keys("escape"), false);
        check(group, "press_key", keys("tab"), false);
        check(group, "type_text", json!({"text": "d"}), true);
        let harmless = group.replace("Delete", "Discard");
        check(&harmless, "press_key", keys("down"), false);
    }
    check(COMBO, "key_into_element", json!({"selector": "//ComboBox", "keys": "down"}), true);
}

/// H-111 on code: letters that follow a tab choose in whatever has the focus then
#[test]
fn letters_after_a_tab_are_judged_by_every_option() {
    let note = "{role: Edit, name: Note, value: '', focused: true, bounds: {x: 10, y: 300, width: 100, height: 20}}, ";
    let form = format!("{note}{}", COMBO.replace("focused: true, ", ""));
    check(&form, "type_text", json!({"text": "a\tD"}), true);
    check(&form, "type_text", json!({"text": "aD"}), false);
    check(&form, "press_key", keys("d"), false);
}

/// H-111 on code: the wheel over what it chooses in
#[test]
fn the_wheel_is_judged_where_it_chooses() {
    let wheel = |y: i32| json!({"x": 20, "y": y, "clicks": -1});
    check(COMBO, "scroll", wheel(15), true);
    check(TABS, "scroll", wheel(5), true);
    check(LIST, "scroll", wheel(15), false);
    check(COMBO, "scroll", json!({"x": 20, "y": 350, "clicks": -1}), false);
}

// ── the default button ────────────────────────────────────────────────────────────────────────────

/// A button beside something that has the focus.
fn beside_button(focus: &str, name: &str, enabled: bool) -> String {
    format!(
        "{focus}, {{role: Button, name: {name}, enabled: {enabled}, bounds: {{x: 10, y: 200, width: 100, height: 20}}}}"
    )
}

const NAME_FIELD: &str =
    "{role: Edit, name: Name, value: '', focused: true, bounds: {x: 10, y: 100, width: 100, height: 20}}";

/// H-330 on code: enter in a field of one line presses the default button, and nobody tells which that is
#[test]
fn enter_in_a_field_is_judged_by_the_buttons() {
    let form = beside_button(NAME_FIELD, "Delete", true);
    for pressed in ["enter", "return", "shift+enter"] {
        check(&form, "press_key", keys(pressed), true);
    }
    check(&form, "key_into_element", json!({"selector": "//Edit", "keys": "enter"}), true);
    for text in ["a\n", "\n", "a\rb"] {
        check(&form, "type_text", json!({ "text": text }), true);
    }
    for pressed in ["a", "space", "end", "escape"] {
        check(&form, "press_key", keys(pressed), false);
    }
    check(&form, "type_text", json!({"text": "a b"}), false);
    check(&beside_button(NAME_FIELD, "Cancel", true), "press_key", keys("enter"), false);
    check_by(json!([{"role": "Button", "name_regex": "^Delete$"}]), &form, "press_key", keys("enter"), true);
}

/// H-330 on code: a button that is off until a name is typed
#[test]
fn typing_may_switch_the_default_button_on() {
    let form = beside_button(NAME_FIELD, "Delete", false);
    check(&form, "type_text", json!({"text": "a\n"}), true);
    check(&form, "press_key", keys("enter"), false);
}

/// H-330 on code: what takes enter itself, and what passes it on
#[test]
fn enter_is_judged_by_what_takes_it() {
    let in_focus = |role: &str| NAME_FIELD.replace("role: Edit", &format!("role: {role}"));
    for role in ["CheckBox", "RadioButton", "ComboBox", "SpinButton", "Slider", "Text"] {
        check(&beside_button(&in_focus(role), "Delete", true), "press_key", keys("enter"), true);
    }
    for role in ["Button", "Hyperlink", "MenuItem", "Terminal"] {
        check(&beside_button(&in_focus(role), "Delete", true), "press_key", keys("enter"), false);
    }
    // In a dialog a row that is opened is an answer.
    let row = "{role: List, name: Files, bounds: {x: 0, y: 0, width: 200, height: 60}, children: [\
         {role: ListItem, name: a.txt, focused: true, bounds: {x: 0, y: 0, width: 200, height: 20}}]}";
    let list = beside_button(row, "Delete", true);
    check(&list, "press_key", keys("enter"), false);
    let dialog = format!(
        "{{role: Dialog, name: Ask, bounds: {{x: 0, y: 0, width: 400, height: 400}}, children: [{list}]}}"
    );
    check(&dialog, "press_key", keys("enter"), true);
}

/// A list that stands somewhere else than what has the focus.
const LIST_ELSEWHERE: &str = "{role: Group, bounds: {x: 0, y: 200, width: 200, height: 60}, children: [\
     {role: List, name: Found, bounds: {x: 0, y: 200, width: 200, height: 60}, children: [\
     {role: ListItem, name: Keep, selected: true, bounds: {x: 0, y: 200, width: 200, height: 20}}, \
     {role: ListItem, name: Delete plan, selected: false, bounds: {x: 0, y: 220, width: 200, height: 20}}]}]}";

/// H-401 on code: enter in a field takes what is marked in a list or a menu that stands elsewhere
#[test]
fn enter_in_a_field_is_judged_by_the_options_that_show() {
    let menu =
        LIST_ELSEWHERE.replace("role: List,", "role: Menu,").replace("role: ListItem", "role: MenuItem");
    for options in [LIST_ELSEWHERE, &menu] {
        for role in ["Edit", "ComboBox"] {
            let field = NAME_FIELD.replace("role: Edit", &format!("role: {role}"));
            let form = format!("{field}, {options}");
            check(&form, "press_key", keys("enter"), true);
            check(&form, "type_text", json!({"text": "\n"}), true);
            check(&form, "type_text", json!({"text": "plan\n"}), true);
            let into = json!({"selector": format!("//{role}"), "keys": "enter"});
            check(&form, "key_into_element", into, true);
            check(&form.replace("Delete", "Discard"), "press_key", keys("enter"), false);
            check(&form, "press_key", keys("end"), false);
        }
    }
    // The options of a list that is shut cannot be meant.
    let shut = format!("{NAME_FIELD}, {}", COMBO.replace("focused: true, ", ""));
    check(&shut, "press_key", keys("enter"), false);
    let button = beside_button(&format!("{NAME_FIELD}, {LIST_ELSEWHERE}"), "Go", true);
    check(&button.replace("Delete plan", "Discard"), "press_key", keys("enter"), false);
}

/// H-401 on code: what is open takes space and tab as well
#[test]
fn what_is_open_chooses_among_options_elsewhere() {
    for role in ["ComboBox", "Button"] {
        let open = NAME_FIELD.replace("role: Edit", &format!("role: {role}, expanded: true"));
        let form = format!("{open}, {LIST_ELSEWHERE}");
        for pressed in ["enter", "space", "tab", "alt+up"] {
            check(&form, "press_key", keys(pressed), true);
        }
        check(&form, "press_key", keys("escape"), false);
        check(&form.replace("expanded: true", "expanded: false"), "press_key", keys("space"), false);
    }
}

/// H-401 on code: a list that comes up while the text is typed is judged before the line break
#[test]
fn a_list_that_comes_up_under_a_field_is_judged_before_the_line_break() {
    let field = "{role: Edit, name: Command, id: command, focused: true, bounds: {x: 0, y: 0, width: 200, height: 20}}, \
         {role: List, name: Found, bounds: {x: 0, y: 200, width: 200, height: 60}, children: [\
         {role: ListItem, name: Nothing yet, id: first, bounds: {x: 0, y: 200, width: 200, height: 20}}]}";
    let comes_up = "{on: {tool: type_text, target_id: command}, set: [{id: first, name: Delete repository}]}";
    let world = world(&stage(field, comes_up), deletes());
    let reply = world.call("type_text", json!({"text": "rep\n"}));
    assert_eq!(reply["error"]["code"], "ConfirmationRequired", "{reply}");
    assert_eq!(reply["error"]["context"]["typed_characters"], 3, "{reply}");
}

// ── ranges, tabs, windows ─────────────────────────────────────────────────────────────────────────

const ROWS: &str = "{role: List, name: Rows, bounds: {x: 0, y: 0, width: 200, height: 80}, children: [\
     {role: ListItem, name: One, selected: true, focused: true, bounds: {x: 0, y: 0, width: 200, height: 20}}, \
     {role: ListItem, name: Delete two, selected: false, bounds: {x: 0, y: 20, width: 200, height: 20}}, \
     {role: ListItem, name: Three, selected: false, bounds: {x: 0, y: 40, width: 200, height: 20}}]}";

/// H-403 on code: shift and a click, a drag, and select all choose what lies between
#[test]
fn what_a_range_takes_in_is_judged() {
    let three = || json!({"selector": "//ListItem[name=\"Three\"]"});
    let with_shift = |mut args: Value| {
        args["modifiers"] = json!(["shift"]);
        args
    };
    for rows in [
        ROWS.to_owned(),
        ROWS.replace("role: ListItem", "role: DataItem").replace("role: List", "role: Table"),
    ] {
        let choice = if rows.contains("DataItem") {
            json!({"selector": "//DataItem[name=\"Three\"]"})
        } else {
            three()
        };
        check(&rows, "click_element", with_shift(choice.clone()), true);
        check(&rows, "click_element", choice, false);
        check(&rows, "click_at", with_shift(json!({"x": 20, "y": 50})), true);
        check(&rows, "click_at", json!({"x": 20, "y": 50}), false);
        check(&rows, "drag", json!({"from": {"x": 20, "y": 10}, "to": {"x": 20, "y": 50}}), true);
        for pressed in ["ctrl+a", "cmd+a", "shift+down", "shift+end", "ctrl+/"] {
            check(&rows, "press_key", keys(pressed), true);
        }
    }
    let harmless = ROWS.replace("Delete", "Discard");
    check(&harmless, "click_element", with_shift(three()), false);
    check(&harmless, "press_key", keys("ctrl+a"), false);
    check(&format!("{NAME_FIELD}, {LIST_ELSEWHERE}"), "press_key", keys("ctrl+a"), false);
}

/// H-408 on code: keys that turn to another tab, with the focus inside of a page
#[test]
fn keys_that_turn_to_a_tab_are_judged_by_the_tabs() {
    let tabs = TABS.replace("focused: true, ", "");
    let form = format!("{NAME_FIELD}, {tabs}");
    for pressed in ["ctrl+pageup", "ctrl+pagedown", "ctrl+tab", "ctrl+shift+tab", "alt+2", "ctrl+2"] {
        check(&form, "press_key", keys(pressed), true);
        check(&form.replace("Delete", "Discard"), "press_key", keys(pressed), false);
    }
    for pressed in ["pagedown", "2", "alt+x"] {
        check(&form, "press_key", keys(pressed), false);
    }
    // It is there already, and every other one is free.
    let there = form.replace("selected: false", "selected: X").replace("selected: true", "selected: false");
    check(&there.replace("selected: X", "selected: true"), "press_key", keys("ctrl+tab"), false);
}

/// H-407 on code: keys that close a window do what its button does
#[test]
fn keys_that_close_a_window_are_judged_like_its_button() {
    let close = |name: &str| beside_button(NAME_FIELD, name, true);
    let closes = || json!([{"name_regex": "(?i)^(close|quit)$"}]);
    for pressed in ["alt+f4", "ctrl+f4", "ctrl+w", "cmd+w"] {
        check_by(closes(), &close("Close"), "press_key", keys(pressed), true);
        check_by(closes(), &close("Leave"), "press_key", keys(pressed), false);
    }
    check_by(closes(), &close("Quit"), "press_key", keys("ctrl+q"), true);
    check_by(closes(), &close("Close"), "press_key", keys("f4"), false);
    // A rule about the window as a whole.
    check_by(json!([{"name_regex": "^Stage$"}]), NAME_FIELD, "press_key", keys("alt+f4"), true);
}

/// H-411 on code: the key of a sign presses the button of that sign, and a cell its row
#[test]
fn what_is_pressed_under_another_name_is_judged() {
    let rule = || json!([{"name_regex": "^=$"}]);
    let calculator = "{role: Text, name: '12', focused: true, bounds: {x: 0, y: 0, width: 100, height: 20}}, \
         {role: Button, name: '=', bounds: {x: 0, y: 40, width: 20, height: 20}}";
    check_by(rule(), calculator, "press_key", keys("="), true);
    check_by(rule(), calculator, "type_text", json!({"text": "1="}), true);
    check_by(rule(), calculator, "press_key", keys("ctrl+="), false);
    check_by(
        rule(),
        &calculator.replace("role: Text", "role: Edit"),
        "type_text",
        json!({"text": "="}),
        false,
    );
    let table = "{role: Table, bounds: {x: 0, y: 0, width: 200, height: 60}, children: [\
         {role: Row, name: Delete row, bounds: {x: 0, y: 0, width: 200, height: 20}, children: [\
         {role: DataItem, name: cell one, bounds: {x: 0, y: 0, width: 200, height: 20}}]}]}";
    check(table, "click_element", json!({"selector": "//DataItem"}), true);
    check(&table.replace("Delete", "Discard"), "click_element", json!({"selector": "//DataItem"}), false);
}

/// H-410 on code: names that are drawn like a protected one
#[test]
fn names_that_are_drawn_alike_are_judged_alike() {
    for name in [
        "\u{202E}eteleD\u{202C}",
        "De lete",
        "D e l e t e all",
        "De\u{2010}lete",
        "Ḓelete",
        "Ðelete",
        "ꓓꓰꓡꓰꓔꓰ",
        "ᎠᎬᏞᎬᎢᎬ",
        "DeIete",
        "De1ete",
    ] {
        let button = format!(
            "{{role: Button, name: {}, bounds: {{x: 0, y: 0, width: 100, height: 20}}}}",
            json!(name)
        );
        check(&button, "click_element", json!({"selector": "//Button"}), true);
    }
}

/// H-332 on code: keys that back out of what is protected
#[test]
fn keys_that_back_out_need_no_consent() {
    let menu = "{role: Menu, bounds: {x: 0, y: 20, width: 100, height: 40}, children: [\
         {role: MenuItem, name: Copy, bounds: {x: 0, y: 20, width: 100, height: 20}}, \
         {role: MenuItem, name: Delete, focused: true, bounds: {x: 0, y: 40, width: 100, height: 20}}]}";
    check(menu, "press_key", keys("escape"), false);
    for pressed in ["enter", "space", "d", "tab", "up", "down", "ctrl+escape"] {
        check(menu, "press_key", keys(pressed), true);
    }
    let button = "{role: Button, name: Delete, focused: true, bounds: {x: 0, y: 0, width: 100, height: 20}}";
    // It may be what escape answers a dialog with.
    check(button, "press_key", keys("escape"), true);
    check(button, "press_key", keys("down"), true);
    let radio = RADIOS
        .replace("Keep, selected: true, focused: true", "Keep, selected: true")
        .replace("Delete all, selected: false", "Delete all, selected: false, focused: true");
    check(&radio, "press_key", keys("escape"), false);
    check(&radio, "press_key", keys("up"), true);
    let shortcut = format!(
        "{menu}, {{role: Button, name: Delete all, keyboard_shortcut: Escape, bounds: {{x: 0, y: 30, width: 100, height: 20}}}}"
    );
    check(&shortcut, "press_key", keys("escape"), true);
}

/// H-371 on code: tab away from something protected, which it does not press
#[test]
fn tab_leads_away_from_a_button() {
    let in_focus = |role: &str, more: &str| {
        let bounds = "bounds: {x: 0, y: 0, width: 100, height: 20}";
        format!("{{role: {role}, name: Delete, focused: true, {more}{bounds}}}")
    };
    for role in ["Button", "CheckBox", "Hyperlink"] {
        for (pressed, asked) in [
            ("tab", false),
            ("shift+tab", false),
            ("ctrl+tab", true),
            ("space", true),
            ("enter", true),
            ("down", true),
        ] {
            check(&in_focus(role, ""), "press_key", keys(pressed), asked);
        }
    }
    // What is open or marked is chosen by it.
    check(&in_focus("Button", "expanded: true, "), "press_key", keys("tab"), true);
    for role in ["MenuItem", "ListItem", "RadioButton", "ComboBox", "Edit"] {
        check(&in_focus(role, ""), "press_key", keys("tab"), true);
    }
}

/// A field whose line break brings up a question, which the next one would answer.
fn chain(second: &str) -> String {
    stage(
        "{role: Edit, name: Name, id: name, focused: true, bounds: {x: 0, y: 0, width: 200, height: 20}}, \
         {role: Button, name: Quiet, id: ask, bounds: {x: 0, y: 60, width: 100, height: 20}}, \
         {role: Text, name: intact, id: state, bounds: {x: 10, y: 300, width: 100, height: 20}}",
        &format!(
            "{{on: {{tool: type_text, target_id: name}}, set: [{{id: name, focused: false}}, {{id: ask, name: {second}, focused: true}}]}}, \
             {{on: {{tool: click_element, target_name: {second}}}, set: [{{id: state, name: gone}}]}}"
        ),
    )
}

/// H-370 on code: a text with two line breaks, of which the first brings up what the second would press
#[test]
fn each_line_break_is_judged_by_what_is_there_then() {
    for (tool, text, typed) in
        [("type_text", "\n\n", 1), ("type_text", "\n ", 1), ("type_and_observe", "ab\n\n", 2)]
    {
        let world = world(&chain("Delete"), deletes());
        let reply = world.call(tool, json!({ "text": text }));
        assert_eq!(reply["error"]["code"], "ConfirmationRequired", "{tool} {text:?}: {reply}");
        assert_eq!(reply["error"]["context"]["typed_characters"], typed, "{reply}");
        assert!(state(&world), "{tool} {text:?}");
    }
    // What nobody protects is pressed, and where nobody judges the text is one.
    for rules in [deletes(), json!([])] {
        world(&chain("Send"), rules).ok("type_text", json!({"text": "a\n\n"}));
    }
    let append = json!({"selector": "//Edit", "value": "a\n\n", "clear_first": false});
    assert_eq!(world(&chain("Delete"), deletes()).code("set_value", append), "PatternUnsupported");
}

/// H-331 on code: a token that is used, unknown or for another call, where none is needed
#[test]
fn a_needless_token_is_named() {
    let two = format!(
        "{}, {}",
        button("Delete"),
        "{role: Button, name: Keep, bounds: {x: 10, y: 60, width: 100, height: 20}}"
    );
    let keep = |token: &Value| json!({"selector": "//Button[name=\"Keep\"]", "confirm_token": token});
    let says = |world: &World, args: Value, words: &str| {
        let reply = world.call("click_element", args);
        let warning = reply["warning"].as_str().unwrap_or_default();
        assert_eq!(reply["ok"], true, "{reply}");
        assert_eq!(warning.contains("confirm_token"), !words.is_empty(), "{reply}");
        assert!(warning.contains(words), "{words}: {reply}");
    };
    let propose = |world: &World, name: &str| {
        let args = json!({"selector": format!("//Button[name=\"{name}\"]")});
        world.call("propose_action", json!({"action": "click_element", "args": args}))["confirm_token"]
            .clone()
    };
    for rules in [deletes(), json!([])] {
        let world = world(&stage(&two, ""), rules);
        says(&world, keep(&json!("ct:none")), "is unknown, expired or already used");
        let other = propose(&world, "Delete");
        says(&world, keep(&other), "is for another 'selector'");
        let own = propose(&world, "Keep");
        says(&world, keep(&own), "");
        says(&world, keep(&own), "is unknown, expired or already used");
    }
}

// ── names ─────────────────────────────────────────────────────────────────────────────────────────

fn button(name: &str) -> String {
    format!("{{role: Button, name: {}, bounds: {{x: 10, y: 10, width: 100, height: 20}}}}", json!(name))
}

/// H-112 on code: spellings that a person reads as the same word
#[test]
fn a_disguised_name_is_the_name() {
    for name in ["De\u{AD}lete", "De\u{200B}lete", "Ｄelete", "𝐃elete", "D\u{435}lete", "Delete\u{202E}"]
    {
        check(&button(name), "click_element", json!({"selector": "//Button"}), true);
        check(&button(name), "click_at", json!({"x": 20, "y": 15}), true);
    }
    for name in ["Delta", "Löschen", "Удалить"] {
        check(&button(name), "click_element", json!({"selector": "//Button"}), false);
    }
    // Small and capital letters stay what they are.
    let exact = json!([{"name_regex": "^Delete$"}]);
    check_by(exact.clone(), &button("De\u{AD}lete"), "click_element", json!({"selector": "//Button"}), true);
    check_by(exact, &button("delete"), "click_element", json!({"selector": "//Button"}), false);
}

/// H-372 on code: letters in another dress
#[test]
fn a_name_in_another_dress_is_the_name() {
    for name in
        ["Délete", "𝒟ℯ𝓁ℯ𝓉ℯ", "ᴅᴇʟᴇᴛᴇ", "🄳🄴🄻🄴🅃🄴", "D e l e t e", "Del\u{3164}ete", "\u{501}е\u{4CF}ете"]
    {
        check(&button(name), "click_element", json!({"selector": "//Button"}), true);
    }
}

/// H-374 on code: the tooltip of a button is all that says what it does
#[test]
fn a_tooltip_is_judged_like_a_name() {
    for name in ["", "\u{f1f8}", "🗑"] {
        let titled = button(name).replace("role: Button", "role: Button, description: Delete record");
        check(&titled, "click_element", json!({"selector": "//Button"}), true);
    }
    let harmless = button("Keep").replace("role: Button", "role: Button, description: Keep record");
    check(&harmless, "click_element", json!({"selector": "//Button"}), false);
}

/// H-413 on code: what stands on a button counts beside its name, and what is pressed by itself in it does not
#[test]
fn a_text_on_a_button_is_judged_like_its_name() {
    let with = |inner: &str| {
        let part = format!("{{role: {inner}, bounds: {{x: 60, y: 40, width: 20, height: 10}}}}");
        format!(
            "{{role: Button, name: Save, bounds: {{x: 0, y: 0, width: 200, height: 100}}, children: [{part}]}}"
        )
    };
    for inner in ["Text, name: Delete it", "Image, description: Delete", "Label, name: De\u{ad}lete"] {
        check(&with(inner), "click_element", json!({"selector": "//Button[name=\"Save\"]"}), true);
        check(&with(inner), "click_at", json!({"x": 10, "y": 90}), true);
    }
    for inner in ["Text, name: Keep it", "Button, name: Delete"] {
        check(&with(inner), "click_at", json!({"x": 10, "y": 90}), false);
    }
}

/// H-112 on code: what lies in something that is pressed
#[test]
fn an_ancestor_that_is_pressed_counts() {
    let inside = "{role: Button, name: Delete wall, bounds: {x: 0, y: 0, width: 200, height: 100}, children: [\
         {role: List, bounds: {x: 0, y: 0, width: 200, height: 100}, children: [\
         {role: ListItem, name: brick, bounds: {x: 10, y: 10, width: 100, height: 20}}]}]}";
    for (tool, args) in [
        ("click_element", json!({"selector": "//ListItem"})),
        ("invoke_element", json!({"selector": "//ListItem"})),
        ("click_at", json!({"x": 20, "y": 15})),
    ] {
        check(inside, tool, args, true);
    }
    // What only holds it is no button.
    let beside = inside.replace("role: Button", "role: List");
    check(&beside, "click_element", json!({"selector": "//ListItem"}), false);
}

/// H-112 on code: the label of a control is the control
#[test]
fn a_label_is_its_control() {
    let rules = || json!([{"role": "CheckBox", "name_regex": "(?i)delete"}]);
    let around = "{role: Text, name: '', bounds: {x: 0, y: 0, width: 200, height: 30}, children: [\
         {role: CheckBox, name: Delete backups, bounds: {x: 0, y: 0, width: 20, height: 20}}, \
         {role: Text, name: Delete backups, bounds: {x: 30, y: 0, width: 150, height: 20}}]}";
    let beside = "{role: Text, name: Delete backups, bounds: {x: 30, y: 0, width: 150, height: 20}}, \
         {role: CheckBox, name: Delete backups, bounds: {x: 300, y: 300, width: 20, height: 20}}";
    for stage in [around, beside] {
        check_by(rules(), stage, "click_at", json!({"x": 100, "y": 10}), true);
        check_by(
            rules(),
            stage,
            "click_element",
            json!({"selector": "//Text[name=\"Delete backups\"]"}),
            true,
        );
    }
    check_by(rules(), around, "click_element", json!({"selector": "//Text[index=0]"}), true);
    let other = beside.replace("CheckBox, name: Delete", "CheckBox, name: Keep");
    check_by(rules(), &other, "click_at", json!({"x": 100, "y": 10}), false);
}

/// H-150 on code: a label that the application joins to a control, whatever the two are called
#[test]
fn a_label_is_the_control_that_it_is_for() {
    let rules = || json!([{"role": "CheckBox", "name_regex": "(?i)delete"}]);
    let stage = "{role: Text, name: Tidy up, label_for: box, bounds: {x: 30, y: 0, width: 150, height: 20}}, \
         {role: CheckBox, name: Delete backups, id: box, selected: false, bounds: {x: 300, y: 300, width: 20, height: 20}}";
    let inside = stage.replace(
        "{role: Text, name: Tidy up, label_for: box,",
        "{role: Group, label_for: box, bounds: {x: 30, y: 0, width: 150, height: 20}, children: [{role: Text, name: Tidy up,",
    );
    let inside = inside.replacen("height: 20}}, {role: CheckBox", "height: 20}}]}, {role: CheckBox", 1);
    for stage in [stage, &inside] {
        check_by(rules(), stage, "click_at", json!({"x": 100, "y": 10}), true);
        check_by(rules(), stage, "click_element", json!({"selector": "//Text"}), true);
        check_by(rules(), stage, "invoke_element", json!({"selector": "//Text"}), true);
        check_by(rules(), &stage.replace("Delete", "Keep"), "click_at", json!({"x": 100, "y": 10}), false);
    }
    // What only stands beside it is no label.
    check_by(rules(), &stage.replace("label_for: box, ", ""), "click_at", json!({"x": 100, "y": 10}), false);
}

/// H-150 on code: without rules a click on the label works the control, or else nothing was tried
#[test]
fn a_click_on_a_label_works_its_control() {
    let world = world(
        &stage(
            "{role: Text, name: Tidy up, label_for: box, bounds: {x: 30, y: 0, width: 150, height: 20}}, \
             {role: CheckBox, name: Delete backups, id: box, selected: false, bounds: {x: 300, y: 300, width: 20, height: 20}}",
            "",
        ),
        json!([]),
    );
    world.ok("click_at", json!({"x": 100, "y": 10}));
    let found = world.ok("find_element", json!({"selector": "//CheckBox[selected=true]"}));
    assert_eq!(found["ambiguous_matches"], 1, "{found}");
}

// ── the pointer ───────────────────────────────────────────────────────────────────────────────────

/// A mail that shows a protected button over its date while the pointer is there.
const MAIL: &str = r#"
name: mail
screen: {width: 500, height: 500}
states:
  rest:
    windows:
      - uid: mock:w
        title: Mail
        bounds: {x: 0, y: 0, width: 400, height: 400}
        tree:
          role: Window
          name: Mail
          children:
            - {role: Text, name: 12 Nov, id: date, bounds: {x: 10, y: 10, width: 100, height: 20}}
            - {role: Text, name: intact, id: state, bounds: {x: 10, y: 300, width: 100, height: 20}}
  hovered:
    windows:
      - uid: mock:w
        title: Mail
        bounds: {x: 0, y: 0, width: 400, height: 400}
        tree:
          role: Window
          name: Mail
          children:
            - {role: Text, name: 12 Nov, id: date, bounds: {x: 10, y: 10, width: 100, height: 20}}
            - {role: Text, name: intact, id: state, bounds: {x: 10, y: 300, width: 100, height: 20}}
            - {role: Button, name: Delete, id: delete, bounds: {x: 10, y: 10, width: 100, height: 20}}
reactions:
  - {on: {tool: hover_element, target_id: date}, in_state: rest, after_ms: 30, transition_to: hovered}
  - {on: {tool: click_element, target_id: delete}, set: [{id: state, name: gone}]}
"#;

fn state(world: &World) -> bool {
    world.app.observer.forget_all();
    let tree = world.ok("get_window_structure", json!({})).to_string();
    assert!(tree.contains("intact") || tree.contains("gone"), "{tree}");
    tree.contains("intact")
}

/// H-113 on code: what the pointer itself brings up is not pressed
#[test]
fn what_comes_up_under_the_pointer_is_judged() {
    for (tool, args) in [
        ("click_at", json!({"x": 20, "y": 15})),
        ("click_at", json!({"x": 20, "y": 15, "double": true})),
        ("click_at", json!({"x": 20, "y": 15, "button": "right"})),
        ("right_click_at", json!({"x": 20, "y": 15})),
        ("click_element", json!({"selector": "//Text[name=\"12 Nov\"]", "count": 2})),
        ("double_click_element", json!({"selector": "//Text[name=\"12 Nov\"]"})),
        ("scroll", json!({"x": 20, "y": 15, "clicks": 1})),
        ("drag", json!({"from": {"x": 20, "y": 15}, "to": {"x": 200, "y": 200}, "duration_s": 0})),
    ] {
        let world = world(MAIL, deletes());
        let reply = world.call(tool, args.clone());
        assert_eq!(reply["error"]["code"], "ConfirmationRequired", "{tool} {args} answered {reply}");
        assert!(state(&world), "{tool} {args}");
        assert_eq!(world.effects(), 0, "{tool} {args}");
    }
    // Where nobody judges, nothing is looked at again.
    let free = world(MAIL, json!([]));
    free.ok("click_at", json!({"x": 20, "y": 15}));
}

/// A button that becomes another one when it is clicked.
fn archive() -> String {
    stage(
        "{role: Button, name: Archive, id: it, bounds: {x: 10, y: 10, width: 100, height: 20}}, \
         {role: Text, name: intact, id: state, bounds: {x: 10, y: 300, width: 100, height: 20}}",
        "{on: {tool: click_element, target_name: Archive}, set: [{id: it, name: Delete for ever}]}, \
         {on: {tool: click_element, target_name: Delete for ever}, set: [{id: state, name: gone}]}",
    )
}

/// H-113 on code: what the first of two clicks changes is judged before the second
#[test]
fn a_second_click_is_judged_by_what_it_meets() {
    for (tool, args) in [
        ("click_at", json!({"x": 20, "y": 15, "double": true})),
        ("click_at", json!({"x": 20, "y": 15, "count": 3})),
        ("double_click_at", json!({"x": 20, "y": 15})),
        ("double_click_element", json!({"selector": "//Button"})),
        ("click_element", json!({"selector": "//Button", "count": 2})),
    ] {
        let world = world(&archive(), deletes());
        let reply = world.call(tool, args.clone());
        assert_eq!(reply["error"]["code"], "ConfirmationRequired", "{tool} {args} answered {reply}");
        assert!(state(&world), "{tool} {args}");
    }
    let world = world(&archive(), deletes());
    world.ok("click_at", json!({"x": 20, "y": 15}));
}

/// H-113 on code: with consent the element that was judged is pressed, and no other
#[test]
fn what_was_consented_to_is_pressed() {
    let world = world(MAIL, deletes());
    world.ok("hover_at", json!({"x": 20, "y": 15, "hover_ms": 50}));
    let click = json!({"x": 20, "y": 15});
    assert_eq!(world.code("click_at", click.clone()), "ConfirmationRequired");
    let token =
        world.ok("propose_action", json!({"action": "click_at", "args": click}))["confirm_token"].clone();
    world.ok("click_at", json!({"x": 20, "y": 15, "confirm_token": token}));
    assert!(!state(&world));
}

// ── what the person was shown ─────────────────────────────────────────────────────────────────────

const TOKEN: (&str, &str) = ("authorization", "Bearer S3NT1NEL-9f2c");

fn payment(whom: &str) -> String {
    stage(
        &format!(
            "{{role: Text, name: {whom}, bounds: {{x: 10, y: 60, width: 200, height: 20}}}}, \
             {{role: Button, name: Send, id: send, bounds: {{x: 10, y: 10, width: 100, height: 20}}}}"
        ),
        "",
    )
}

fn asks_for_send(mode: &str) -> Value {
    json!({
        "confirmation": {"mode": mode, "ttl_seconds": 60},
        "confirmation_required": [{"name_regex": "^Send$"}],
        "web_ui": {"token": "S3NT1NEL-9f2c"},
    })
}

/// The page changes while the person reads; then they answer each question so.
fn pay(answers: &[&str]) -> (u16, usize, Vec<String>) {
    let site = Site::with(asks_for_send("inspector"));
    let show = |whom: &str| {
        site.mock.load(load(&payment(whom)));
        site.app.observer.forget_all();
    };
    show("Pay 10 EUR to Alice");
    let list = || site.ask("GET", "/api/approvals", &[TOKEN], "").json()["approvals"].clone();
    let body = json!({"selector": "//Button"}).to_string();
    let mut questions: Vec<String> = Vec::new();
    let answer = std::thread::scope(|scope| {
        let call = scope.spawn(|| site.ask("POST", "/api/element/click", &[JSON, TOKEN], &body));
        let mut last = Value::Null;
        for answer in answers {
            until("the question is asked", || list()[0].is_object() && list()[0]["id"] != last);
            let asked = list()[0].clone();
            questions.push(asked["question"].as_str().unwrap().to_owned());
            last = asked["id"].clone();
            show("Pay 10000 EUR to Mallory");
            let path = format!("/api/approvals/{}", last.as_str().unwrap());
            site.ask("POST", &path, &[JSON, TOKEN], &json!({"decision": answer}).to_string());
        }
        call.join().unwrap()
    });
    (answer.status, site.effects(), questions)
}

/// H-114 on REST: in the inspector, a yes to one amount is none to another
#[test]
fn a_window_that_changed_is_asked_about_again() {
    let (status, effects, questions) = pay(&["allow", "deny"]);
    assert_eq!((status, effects), (403, 0), "{questions:?}");
    assert!(!questions[0].contains("changed"), "{questions:?}");
    for word in ["changed since you were asked", "Pay 10 EUR to Alice", "Pay 10000 EUR to Mallory"] {
        assert!(questions[1].contains(word), "{questions:?}");
    }
    let (status, effects, questions) = pay(&["allow", "allow"]);
    assert_eq!((status, effects), (200, 1), "{questions:?}");
}

fn pass(world: &World, tool: &str, args: Value, person: &Person) -> Reply {
    let call = Call { tool: tool.to_owned(), args, origin: Origin::Test };
    world.app.gate.pass_for(call, person, &Cancel::new())
}

/// H-114 on code: where the client asks, the second question says what changed
#[test]
fn an_answer_to_another_screen_asks_again() {
    let world = World::with(asks_for_send("ask"));
    let show = |whom: &str| {
        world.mock.load(load(&payment(whom)));
        world.app.observer.forget_all();
    };
    let click = || json!({"selector": "//Button"});
    show("Pay 10 EUR to Alice");
    let first = pass(&world, "click_element", click(), &Person::Reachable).question.unwrap();
    show("Pay 10000 EUR to Mallory");
    let agreed = Person::Agreed(first.ticket.clone());
    let second = pass(&world, "click_element", click(), &agreed).question.unwrap();
    assert!(second.text.contains("Pay 10000 EUR to Mallory"), "{}", second.text);
    assert_eq!(world.effects(), 0);
    // The first answer is spent.
    let again = pass(&world, "click_element", click(), &agreed).value();
    assert_ne!(again["ok"], true, "{again}");
    let done = pass(&world, "click_element", click(), &Person::Agreed(second.ticket)).value();
    assert_eq!((&done["ok"], world.effects()), (&json!(true), 1), "{done}");
}

/// Whether a yes still holds after five seconds in which one text of the window becomes another.
#[track_caller]
fn check_answer(before: &str, after: &str, holds: bool) {
    let world = World::with(asks_for_send("ask"));
    let show = |children: &str| {
        world.mock.load(load(&stage(children, "")));
        world.app.observer.forget_all();
    };
    show(before);
    let click = || json!({"selector": "//Button[name=\"Send\"]"});
    let asked = pass(&world, "click_element", click(), &Person::Reachable).question.unwrap();
    world.app.clock.advance(Duration::from_secs(5));
    show(after);
    let mut reply = pass(&world, "click_element", click(), &Person::Agreed(asked.ticket));
    let asked_again = reply.question.take().is_some();
    assert_eq!((asked_again, world.effects()), (!holds, usize::from(holds)), "{after}: {}", reply.text());
    if holds && before != after {
        assert!(reply.value()["warning"].as_str().unwrap().contains("changed since"), "{}", reply.text());
    }
}

const SEND: &str = "{role: Button, name: Send, id: send, bounds: {x: 10, y: 10, width: 100, height: 20}}";

/// H-151 on code: a clock that ticks and a bar that fills do not void an answer; a sum, a recipient and a choice do
#[test]
fn what_ticks_does_not_void_an_answer() {
    let with = |role: &str, name: &str, value: &str| {
        format!(
            "{{role: {role}, name: {}, value: {}, id: other, bounds: {{x: 10, y: 60, width: 90, height: 20}}}}, {SEND}",
            json!(name),
            json!(value)
        )
    };
    check_answer(&with("Text", "12:04:31", ""), &with("Text", "12:04:36", ""), true);
    check_answer(&with("ProgressBar", "Copying", "10"), &with("ProgressBar", "Copying", "30"), true);
    check_answer(&with("Text", "Pay 10 EUR", ""), &with("Text", "Pay 10000 EUR", ""), false);
    check_answer(&with("Text", "Meet at 10:00", ""), &with("Text", "Meet at 15:00", ""), false);
    check_answer(&with("Edit", "To", "alice"), &with("Edit", "To", "mallory"), false);
    check_answer(&with("ProgressBar", "Copying", "10"), &with("ProgressBar", "Deleting", "10"), false);
    let chosen = |on: bool| {
        format!(
            "{{role: CheckBox, name: All, id: other, selected: {on}, bounds: {{x: 10, y: 60, width: 90, height: 20}}}}, {SEND}"
        )
    };
    check_answer(&chosen(false), &chosen(true), false);
}

/// H-151 on code: what a person decides by is the dialog; what changes around it is told
#[test]
fn what_changes_around_a_dialog_does_not_void_an_answer() {
    let with = |around: &str, inside: &str| {
        format!(
            "{{role: Text, name: {around}, bounds: {{x: 10, y: 200, width: 90, height: 20}}}}, {{role: Dialog, name: Pay, \
             bounds: {{x: 0, y: 0, width: 200, height: 100}}, children: [{SEND}, {{role: Text, name: {inside}, bounds: \
             {{x: 10, y: 60, width: 90, height: 20}}}}]}}"
        )
    };
    check_answer(&with("17 mails", "10 EUR"), &with("18 mails", "10 EUR"), true);
    check_answer(&with("17 mails", "10 EUR"), &with("17 mails", "10000 EUR"), false);
}

/// H-405 on code: two texts that change places say something else
#[test]
fn texts_that_change_places_void_an_answer() {
    let text = |name: &str, y: i32| {
        format!("{{role: Text, name: {name}, bounds: {{x: 10, y: {y}, width: 90, height: 20}}}}")
    };
    let pair = |one: &str, two: &str| format!("{}, {}, {SEND}", text(one, 60), text(two, 90));
    check_answer(&pair("Alice", "Mallory"), &pair("Alice", "Mallory"), true);
    check_answer(&pair("Alice", "Mallory"), &pair("Mallory", "Alice"), false);
    // In the tree all is where it was, and on the screen it is not.
    let drawn = format!("{}, {}, {SEND}", text("Alice", 90), text("Mallory", 60));
    check_answer(&pair("Alice", "Mallory"), &drawn, false);
}

/// H-406 on code: a time that jumps by half a day is no clock
#[test]
fn half_a_day_voids_an_answer() {
    let at = |time: &str| {
        format!("{{role: Text, name: Run at {time}, id: other, bounds: {{x: 10, y: 60, width: 90, height: 20}}}}, {SEND}").replace("name: Run at", "name: 'Run at").replace(", id: other", "', id: other")
    };
    check_answer(&at("09:30"), &at("21:30"), false);
    check_answer(&at("21:30"), &at("09:30"), false);
    check_answer(&at("09:30:05"), &at("09:30:10"), true);
}

/// A name that a scenario file may not have as it is.
fn in_yaml(name: &str) -> String {
    let escaped = name.chars().map(|letter| match letter {
        ' '..='~' => letter.to_string(),
        other => format!("\\U{:08x}", u32::from(other)),
    });
    format!("\"{}\"", escaped.collect::<String>())
}

/// H-400 on code: what is not seen is written out, in the arguments, in the name and in the title
#[test]
fn a_question_shows_what_would_not_be_seen() {
    let ask = |name: &str, value: &str| {
        let world = World::with(
            json!({"confirmation": {"mode": "ask"}, "confirmation_required": [{"name_regex": "^Send"}]}),
        );
        let field = format!(
            "{{role: Edit, name: {}, value: '', bounds: {{x: 10, y: 10, width: 100, height: 20}}}}",
            in_yaml(name)
        );
        world.mock.load(load(&stage(&field, "")));
        world.app.observer.forget_all();
        let args = json!({"selector": "//Edit", "value": value});
        pass(&world, "set_value", args, &Person::Reachable).question.unwrap().text
    };
    let text = ask(
        "Send 10\u{9d}000 EUR to Mallory,\u{9c} EUR to Alice",
        "pay 1 EUR\u{9d}0 to Mallory\u{9c} to Alice",
    );
    for shown in
        ["10\\u{9d}000 EUR to Mallory,\\u{9c} EUR to Alice", "1 EUR\\u{9d}0 to Mallory\\u{9c} to Alice"]
    {
        assert!(text.contains(shown), "{text}");
    }
    let text = ask("Send", "1\u{202e}0001\u{202c}\u{e0041}\u{200b}");
    assert!(text.contains("1\\u{202e}0001\\u{202c}\\u{e0041}\\u{200b}"), "{text}");
    let text = ask("Send\u{1b}]0;x\u{7}", "a\u{1b}]0;b\u{7}c");
    assert!(text.contains("]0;b") && text.contains("]0;x"), "{text}");
    // What a name has beyond the question is counted.
    let text = ask(&format!("Send {}", "x".repeat(300)), "a");
    assert!(text.contains("(and 105 more characters)"), "{text}");
}

/// H-115 on code: a question has all of what would be typed, or is not asked
#[test]
fn a_question_never_cuts_what_would_be_typed() {
    let world = World::with(json!({
        "confirmation": {"mode": "ask"}, "confirmation_required": [{"name_regex": "^Note$"}]}));
    world.mock.load(load(&stage(
        "{role: Edit, name: Note, value: '', focused: true, bounds: {x: 10, y: 10, width: 100, height: 20}}",
        "",
    )));
    let command = |dashes: usize| format!("ls / #{}; rm -rf ~", "-".repeat(dashes));
    let text = command(1_900);
    let asked = pass(&world, "type_text", json!({ "text": text }), &Person::Reachable).question.unwrap();
    assert!(asked.text.contains(&text), "{}", asked.text);
    world.app.gate.withdraw(&asked.ticket);
    for dashes in [2_000, 60_000] {
        let refused = pass(&world, "type_text", json!({"text": command(dashes)}), &Person::Reachable);
        assert!(refused.question.is_none());
        let refused = refused.value();
        assert_eq!(refused["error"]["code"], "PermissionDenied", "{refused}");
        assert!(refused["error"]["message"].as_str().unwrap().contains("too long"), "{refused}");
    }
    assert_eq!(world.effects(), 0);
}

// ── secrets in pieces ─────────────────────────────────────────────────────────────────────────────

const SECRET: &str = "correct-horse-battery-staple";

fn with_secret(folder: &tempfile::TempDir) -> World {
    let path = folder.path().join("secrets.json");
    std::fs::write(&path, json!({"BANK": SECRET}).to_string()).unwrap();
    #[cfg(unix)]
    std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    let world = World::with(json!({"secrets": {"file": path}}));
    world.mock.load(load(&stage(
        "{role: Edit, name: Note, id: note, value: '', focused: true, bounds: {x: 10, y: 10, width: 300, height: 20}}, \
         {role: Edit, name: Other, id: other, value: '', bounds: {x: 10, y: 60, width: 300, height: 20}}",
        "",
    )));
    world
}

/// No reply has a part of the secret.
#[track_caller]
fn hides(world: &World) {
    for (tool, args) in [
        ("get_window_structure", json!({})),
        ("get_screen_description", json!({})),
        ("look", json!({})),
        ("find_element", json!({"selector": "//Edit"})),
        ("clipboard_get", json!({})),
    ] {
        let text = world.reply(tool, args).text();
        let told = SECRET.as_bytes().windows(4).map(|part| std::str::from_utf8(part).unwrap());
        let told: Vec<&str> = told.filter(|part| text.contains(part)).collect();
        assert!(told.is_empty(), "{tool} tells {told:?}: {text}");
    }
}

/// H-116 on code: a field that a named secret went into, with less and less of it
#[test]
fn a_field_with_a_named_secret_stays_secret() {
    let folder = tempfile::tempdir().unwrap();
    let world = with_secret(&folder);
    world.ok("type_text", json!({"text": {"secret": "BANK"}}));
    hides(&world);
    world.ok("press_key", keys("backspace"));
    hides(&world);
    world.ok("type_text", json!({"text": " x"}));
    hides(&world);
    for _ in 0..22 {
        world.ok("press_key", keys("backspace"));
    }
    hides(&world);
    for key in ["ctrl+a", "ctrl+c"] {
        world.ok("press_key", keys(key));
    }
    hides(&world);
    // What was copied is hidden in the next field too.
    world.ok("click_element", json!({"selector": "//Edit[name=\"Other\"]"}));
    world.ok("press_key", keys("ctrl+v"));
    hides(&world);
    // Emptied, it may be filled again by undo, and by letters between those of the secret.
    world.ok("click_element", json!({"selector": "//Edit[name=\"Note\"]"}));
    for key in ["ctrl+a", "delete"] {
        world.ok("press_key", keys(key));
    }
    world.ok("look", json!({}));
    world.ok("type_text", json!({"text": "hello"}));
    assert!(!world.reply("get_window_structure", json!({})).text().contains("hello"));
}

/// H-392 on code: another field in which nothing is copied, and a menu
#[test]
fn what_was_copied_is_hidden_until_the_clipboard_is_set() {
    let folder = tempfile::tempdir().unwrap();
    let world = with_secret(&folder);
    world.ok("type_text", json!({"text": {"secret": "BANK"}}));
    for _ in 0..23 {
        world.ok("press_key", keys("backspace"));
    }
    for key in ["ctrl+a", "ctrl+c"] {
        world.ok("press_key", keys(key));
    }
    world.ok("click_element", json!({"selector": "//Edit[name=\"Other\"]"}));
    for key in ["ctrl+c", "ctrl+v"] {
        world.ok("press_key", keys(key));
        let clip = world.ok("clipboard_get", json!({}));
        assert_eq!(clip["text"], "[REDACTED]", "{clip}");
        hides(&world);
    }
    let shown = world.reply("get_window_structure", json!({})).text();
    assert!(!shown.contains(&SECRET[..5]), "{shown}");
    world.ok("clipboard_set", json!({"text": "hello"}));
    assert_eq!(world.ok("clipboard_get", json!({}))["text"], "hello");
}

/// H-391 on code: a letter that is typed over a hidden one
#[test]
fn no_receipt_tells_whether_a_guessed_letter_was_there() {
    let receipt = |guess: &str| {
        let folder = tempfile::tempdir().unwrap();
        let world = with_secret(&folder);
        world.ok("type_text", json!({"text": {"secret": "BANK"}}));
        for _ in 1..SECRET.len() {
            world.ok("press_key", keys("backspace"));
        }
        world.ok("press_key", keys("ctrl+a"));
        let typed = world.ok("type_text", json!({"text": guess}));
        (typed["into"]["changed"].clone(), typed["verified"].clone(), typed["into"]["value"].clone())
    };
    assert_eq!(receipt(&SECRET[..1]), receipt("x"));
}

/// H-392 on code: a part of a named secret that is dragged into another field, where no rule looks at points
#[test]
fn what_is_dragged_out_of_a_secret_field_is_hidden() {
    for (tool, args) in [
        ("drag", json!({"from": {"x": 20, "y": 20}, "to": {"x": 20, "y": 70}, "duration_s": 0})),
        ("click_at", json!({"x": 20, "y": 70, "button": "middle"})),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let world = with_secret(&folder);
        world.ok("type_text", json!({"text": {"secret": "BANK"}}));
        world.ok(tool, args);
        world.ok("set_value", json!({"selector": "//Edit[name=\"Other\"]", "value": "corr"}));
        let shown = world.reply("get_window_structure", json!({})).text();
        assert!(!shown.contains("corr"), "{tool}: {shown}");
    }
}

/// H-391 on code: the hash of a window in which the same letter stands in a secret field again
#[test]
fn no_hash_tells_what_a_secret_field_holds() {
    let folder = tempfile::tempdir().unwrap();
    let world = with_secret(&folder);
    let hash = || world.ok("get_window_structure", json!({}))["tree_hash"].to_string();
    let set = |value: Value| {
        world.ok("set_value", json!({"selector": "//Edit[name=\"Note\"]", "value": value}));
        hash()
    };
    let secret = set(json!({"secret": "BANK"}));
    assert_eq!(hash(), secret);
    let letters = [set(json!("c")), set(json!("x")), set(json!("c")), set(json!("c"))];
    let different: std::collections::BTreeSet<&String> = letters.iter().chain([&secret]).collect();
    assert_eq!(different.len(), 5);
    let before = world.ok("observe_window", json!({}))["tree_token"].clone();
    set(json!("c"));
    let after = world.ok("observe_window", json!({ "since": before }));
    assert_eq!(after["unchanged"], false, "{after}");
}

/// H-395 on code: a screenshot of a window that shows a named secret, without any rule about pictures
#[test]
fn a_named_secret_is_black_in_every_picture() {
    let folder = tempfile::tempdir().unwrap();
    let world = with_secret(&folder);
    let black = |tool: &str, args: Value| {
        let png = world.reply(tool, args).picture.expect("a picture");
        let picture = image::load_from_memory(&png.bytes).unwrap().to_rgba8();
        picture.get_pixel(200, 20).0[..3] == [0, 0, 0]
    };
    let pictures = || {
        [
            black("get_screenshot", json!({})),
            black("get_full_screenshot", json!({})),
            black("look", json!({"picture": "plain"})),
        ]
    };
    assert_eq!(pictures(), [false; 3]);
    world.ok("type_text", json!({"text": {"secret": "BANK"}}));
    assert_eq!(pictures(), [true; 3]);
}

/// H-116 on code: set as a value, and put together from parts
#[test]
fn parts_of_a_named_secret_are_hidden_wherever_they_stand() {
    let folder = tempfile::tempdir().unwrap();
    let world = with_secret(&folder);
    world.ok("set_value", json!({"selector": "//Edit[name=\"Other\"]", "value": {"secret": "BANK"}}));
    hides(&world);
    for text in ["correct-horse-battery-", "orse-battery-stapl", "the part horse-b of it"] {
        let shown = world.app.redactor.text(text).into_owned();
        assert!(shown.contains("[REDACTED]") && !shown.contains("horse-b"), "{shown}");
    }
}

// ── any inputs ────────────────────────────────────────────────────────────────────────────────────

/// One protected deed, and every way to it that the mock desktop can play.
const EVERYTHING: &str = r#"
name: everything
screen: {width: 420, height: 420}
states:
  rest:
    windows:
      - uid: mock:w
        title: Everything
        bounds: {x: 0, y: 0, width: 400, height: 400}
        focused: true
        tree:
          role: Window
          name: Everything
          bounds: {x: 0, y: 0, width: 400, height: 400}
          children:
            - {role: Text, name: intact, id: state, bounds: {x: 10, y: 380, width: 100, height: 20}}
            - {role: Edit, name: Note, id: note, value: "", bounds: {x: 10, y: 50, width: 200, height: 40}}
            - {role: Button, name: Delete, id: delete, keyboard_shortcut: Ctrl+D, bounds: {x: 10, y: 100, width: 200, height: 40}}
            - {role: Button, name: Archive, id: archive, bounds: {x: 220, y: 100, width: 150, height: 40}}
            - {role: Text, name: 12 Nov, id: date, bounds: {x: 220, y: 50, width: 150, height: 40}}
            - role: ComboBox
              name: Plan
              id: plan
              value: Keep
              bounds: {x: 10, y: 150, width: 200, height: 40}
              children:
                - {role: ListItem, name: Keep, selected: true, bounds: {x: 220, y: 150, width: 10, height: 10}}
                - {role: ListItem, name: Delete plan, id: option, selected: false, bounds: {x: 240, y: 150, width: 10, height: 10}}
            - {role: RadioButton, name: Keep, id: keep, selected: true, bounds: {x: 10, y: 200, width: 200, height: 40}}
            - {role: RadioButton, name: Delete all, id: all, selected: false, bounds: {x: 10, y: 250, width: 200, height: 40}}
            - {role: Button, name: Menu, id: menu, bounds: {x: 10, y: 300, width: 200, height: 40}}
  open:
    windows:
      - uid: mock:w
        title: Everything
        bounds: {x: 0, y: 0, width: 400, height: 400}
        focused: true
        tree:
          role: Window
          name: Everything
          bounds: {x: 0, y: 0, width: 400, height: 400}
          children:
            - {role: Text, name: intact, id: state, bounds: {x: 10, y: 380, width: 100, height: 20}}
            - {role: Edit, name: Note, id: note, value: "", bounds: {x: 10, y: 50, width: 200, height: 40}}
            - role: Menu
              bounds: {x: 10, y: 100, width: 200, height: 80}
              children:
                - {role: MenuItem, name: Copy, id: copy, bounds: {x: 10, y: 100, width: 200, height: 40}}
                - {role: MenuItem, name: Delete, id: entry, bounds: {x: 10, y: 140, width: 200, height: 40}}
  hovered:
    windows:
      - uid: mock:w
        title: Everything
        bounds: {x: 0, y: 0, width: 400, height: 400}
        focused: true
        tree:
          role: Window
          name: Everything
          bounds: {x: 0, y: 0, width: 400, height: 400}
          children:
            - {role: Text, name: intact, id: state, bounds: {x: 10, y: 380, width: 100, height: 20}}
            - {role: Edit, name: Note, id: note, value: "", bounds: {x: 10, y: 50, width: 200, height: 40}}
            - {role: Button, name: Delete, id: hovering, bounds: {x: 220, y: 50, width: 150, height: 40}}
reactions:
  - {on: {tool: hover_element, target_id: date}, in_state: rest, transition_to: hovered}
  - {on: {tool: click_element, target_id: menu}, in_state: rest, transition_to: open}
  - {on: {tool: press_key, text_regex: escape}, in_state: open, transition_to: rest}
  - {on: {tool: press_key, text_regex: escape}, in_state: hovered, transition_to: rest}
  - {on: {tool: press_key, text_regex: "enter|space|d|shift\\+d"}, in_state: open, set: [{id: state, name: gone}]}
  - {on: {tool: type_text}, in_state: open, set: [{id: state, name: gone}]}
  - {on: {tool: press_key, text_regex: ctrl\+d}, in_state: rest, set: [{id: state, name: gone}]}
  - {on: {tool: click_element, target_name: Delete}, set: [{id: state, name: gone}]}
  - {on: {tool: click_element, target_name: Delete all}, set: [{id: state, name: gone}]}
  - {on: {tool: click_element, target_name: Delete plan}, set: [{id: state, name: gone}]}
  - {on: {tool: click_element, target_name: Delete for ever}, set: [{id: state, name: gone}]}
  - {on: {tool: click_element, target_name: Archive}, set: [{id: archive, name: Delete for ever}]}
  - {on: {tool: press_key, text_regex: "down|up|end|d|enter|space", target_id: plan}, set: [{id: state, name: gone}]}
  - {on: {tool: press_key, text_regex: "down|up|end", target_id: keep}, set: [{id: state, name: gone}]}
  - {on: {tool: scroll, target_id: plan}, set: [{id: state, name: gone}]}
  - {on: {tool: drag, target_id: delete}, set: [{id: state, name: gone}]}
"#;

fn any_input() -> impl Strategy<Value = (&'static str, Value)> {
    let place = || (0..400i32, 30..380i32);
    let key = prop::sample::select(vec![
        "tab",
        "shift+tab",
        "enter",
        "space",
        "escape",
        "down",
        "up",
        "end",
        "d",
        "shift+d",
        "ctrl+d",
        "backspace",
    ]);
    let text = prop::sample::select(vec!["d", "a\tD", "\t ", "\n", "hello", "\t\td"]);
    prop_oneof![
        4 => (place(), 1..4u32).prop_map(|((x, y), count)| ("click_at", json!({"x": x, "y": y, "count": count}))),
        1 => place().prop_map(|(x, y)| ("right_click_at", json!({"x": x, "y": y}))),
        1 => place().prop_map(|(x, y)| ("hover_at", json!({"x": x, "y": y, "hover_ms": 1}))),
        2 => (place(), -3..3i32).prop_map(|((x, y), clicks)| ("scroll", json!({"x": x, "y": y, "clicks": clicks}))),
        5 => key.prop_map(|key| ("press_key", keys(key))),
        2 => text.prop_map(|text| ("type_text", json!({ "text": text }))),
        1 => (place(), place()).prop_map(|((x, y), (to_x, to_y))| {
            ("drag", json!({"from": {"x": x, "y": y}, "to": {"x": to_x, "y": to_y}, "duration_s": 0}))
        }),
    ]
}

/// Whether the deed is still undone after these inputs.
fn stays_intact(rules: Value, inputs: &[(&'static str, Value)]) -> bool {
    let world = world(EVERYTHING, rules);
    for (tool, args) in inputs {
        world.call(tool, args.clone());
    }
    state(&world)
}

/// H-117 on code: random inputs without consent on a window with a protected deed
#[test]
fn no_inputs_do_what_is_protected() {
    let inputs = prop::collection::vec(any_input(), 1..20);
    // A runner counts the cases of its whole life.
    let runner = || TestRunner::new(Config { cases: 30, failure_persistence: None, ..Config::default() });
    let held = runner().run(&inputs, |inputs| {
        prop_assert!(stays_intact(deletes(), &inputs), "{inputs:?}");
        Ok(())
    });
    held.unwrap();
    // The same inputs do it where nobody judges, or else nothing was tried.
    let free = runner().run(&inputs, |inputs| {
        prop_assert!(stays_intact(json!([]), &inputs));
        Ok(())
    });
    assert!(free.is_err());
}

/// H-117 on code: what looking again costs, in time that this process works
#[test]
fn looking_again_is_cheap() {
    let rows = "{role: Text, name: 'row {n}', repeat: {count: 300, dy: 1}, bounds: {x: 200, y: 20, width: 100, height: 1}}";
    let text = stage(&format!("{}, {rows}", button("Open")), "");
    // By what one look at the window takes, so that a busy machine does not count.
    let average = |mut deed: Box<dyn FnMut()>| {
        deed();
        let began = Instant::now();
        (0..10).for_each(|_| deed());
        began.elapsed() / 10
    };
    let click = |rules: Value| {
        let world = world(&text, rules);
        average(Box::new(move || drop(world.ok("click_at", json!({"x": 20, "y": 15})))))
    };
    let watched = world(&text, json!([]));
    let look = average(Box::new(move || {
        watched.app.observer.forget_all();
        watched.ok("get_window_structure", json!({}));
    }));
    let (free, judged) = (click(json!([])), click(deletes()));
    println!("a look {look:?}, a click {free:?} without rules and {judged:?} with rules, on 300 elements");
    assert!(judged < free + 8 * look.max(Duration::from_millis(5)), "{look:?} {free:?} {judged:?}");
}
