//! What is pressed is what was judged, and what a person consented to is what they were shown: keys in open menus, what
//! comes up under the pointer, names in disguise, questions that cut, windows that change while somebody reads.
#![cfg(feature = "http")]

use std::time::{Duration, Instant};

use os_screen_observer::clock::Cancel;
use os_screen_observer::gate::confirm::Person;
use os_screen_observer::gate::{Call, Origin, Reply};
use os_screen_observer::platform::Stage;
use os_screen_observer::scenario;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};

use crate::support::World;
use crate::support::http::{JSON, Site, until};

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
fn a_field_with_a_named_secret_is_secret_until_it_is_empty() {
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
    // Emptied, a field is a field again.
    world.ok("click_element", json!({"selector": "//Edit[name=\"Note\"]"}));
    for key in ["ctrl+a", "delete"] {
        world.ok("press_key", keys(key));
    }
    world.ok("look", json!({}));
    world.ok("type_text", json!({"text": "hello"}));
    assert!(world.reply("get_window_structure", json!({})).text().contains("hello"));
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
