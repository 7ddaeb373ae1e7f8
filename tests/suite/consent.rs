//! Consent as its user meets it: every way to a protected button, every misuse of a token, and the person's
//! word in both eras of the protocol. What was done is read from the mock's log or from the screen.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::support::test_platform::TestPlatform;
use crate::support::{Client, World};
use os_screen_observer::app::App;
use os_screen_observer::clock::{Cancel, Clock};
use os_screen_observer::config::Flags;
use os_screen_observer::gate::confirm::Person;
use os_screen_observer::gate::{self, Call, Origin};
use os_screen_observer::model::Point;
use os_screen_observer::model::input::Act;
use os_screen_observer::platform::mock::Mock;
use os_screen_observer::platform::{Accessibility, Desktop, Platform};
use os_screen_observer::tool::Selection;
use os_screen_observer::tools;
use serde_json::{Map, Value, json};

const DELETE: &str = "//Button[name=\"Delete\"]";

/// One protected button beside a harmless one, with a shortcut, and a text that tells whether it was pressed.
const FILES: &str = r#"
name: files
states:
  only:
    windows:
      - uid: mock:files
        title: Files
        bounds: {x: 0, y: 0, width: 400, height: 300}
        focused: true
        tree:
          role: Window
          name: Files
          children:
            - {role: Edit, name: Note, id: note, value: "", focused: true, bounds: {x: 10, y: 10, width: 200, height: 24}}
            - role: Button
              name: Delete
              id: delete
              value: everything
              keyboard_shortcut: Ctrl+D
              bounds: {x: 10, y: 50, width: 100, height: 30}
              children:
                - {role: Image, name: bin, bounds: {x: 12, y: 52, width: 20, height: 20}}
            - {role: Button, name: Cancel, id: cancel, bounds: {x: 150, y: 50, width: 100, height: 30}}
            - {role: Text, name: State, id: state, value: intact, bounds: {x: 10, y: 100, width: 200, height: 24}}
            - role: Group
              name: Toolbar
              bounds: {x: 10, y: 200, width: 110, height: 40}
              children:
                - {role: Button, name: Delete all, bounds: {x: 15, y: 205, width: 100, height: 30}}
      - uid: mock:copy
        title: Copy
        bounds: {x: 500, y: 0, width: 400, height: 300}
        tree:
          role: Window
          name: Files
          children:
            - {role: Edit, name: Note, value: "", bounds: {x: 510, y: 10, width: 200, height: 24}}
            - {role: Button, name: Delete, bounds: {x: 510, y: 50, width: 100, height: 30}}
reactions:
  - on: {tool: click_element, target_id: delete}
    set: [{id: state, value: gone}]
"#;

fn scenario(text: &str) -> os_screen_observer::scenario::Scenario {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("scenario.yaml");
    std::fs::write(&file, text).unwrap();
    os_screen_observer::scenario::load_file(&file).unwrap()
}

fn rules() -> Value {
    json!([{"name_regex": "(?i)delete"}])
}

fn files_with(text: &str, config: Value) -> World {
    let world = World::with(config);
    os_screen_observer::platform::Stage::load(&*world.mock, scenario(text));
    world.app.observer.forget_all();
    world
}

fn files() -> World {
    files_with(FILES, json!({"confirmation_required": rules()}))
}

/// The setup assistant, at the step that shows its Delete button; with what was clicked on the way there.
fn wizard() -> (World, usize) {
    let world = World::build(Some("scenarios/wizard.yaml"), json!({"confirmation_required": rules()}));
    world.ok("click_element", json!({"selector": "//CheckBox"}));
    world.ok("click_element", json!({"selector": "//Button[name=\"Next\"]"}));
    (world, 2)
}

// ── every way to the button ────────────────────────────────────────────────────────────────────────

/// H-66 on code: spellings, buttons, counts and points
#[test]
fn the_delete_button_is_protected_however_it_is_named() {
    let (world, before) = wizard();
    let mut calls = Vec::new();
    for element in [
        json!({"selector": "//Button[name=\"Delete everything\"]"}),
        json!({"selector": "Window/Button[index=0]"}),
        json!({"selector": "Window > Button"}),
        json!({"selector": "Window > Button:nth-of-type(1)"}),
        json!({"selector": "//*[name~=\"D.l.t. .*\"]"}),
        json!({"selector": "//*[name*=\"everything\"]"}),
        json!({"element_id": "root.3"}),
        json!({"element_id": "root.3", "window_index": 0}),
        json!({"element_id": "root.3", "window_title": "setup"}),
    ] {
        for more in [
            json!({}),
            json!({"dry_run": true}),
            json!({"button": "right"}),
            json!({"count": 2}),
            json!({"button": "middle", "count": 3}),
        ] {
            let mut args = element.clone();
            args.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            calls.push(("click_element", args));
        }
    }
    for args in [
        json!({"x": 400, "y": 340}),
        json!({"x": 400, "y": 340, "double": true}),
        json!({"x": 324, "y": 326, "button": "right"}),
        json!({"x": 503, "y": 357, "dry_run": true}),
    ] {
        calls.push(("click_at", args));
    }
    calls.push(("scroll", json!({"x": 400, "y": 340, "clicks": 1})));
    for (tool, args) in calls {
        let reply = world.call(tool, args.clone());
        assert_eq!(reply["error"]["code"], "ConfirmationRequired", "{tool} {args} answered {reply}");
        assert_eq!(reply["error"]["context"]["action"], tool);
        assert_eq!(reply["error"]["context"]["target"]["element_id"], "root.3", "{tool} {args}");
    }
    assert_eq!(world.effects(), before);
    world.ok("click_at", json!({"x": 323, "y": 340}));
}

/// H-66 on code: enter and space where the focus is
#[test]
fn keys_are_judged_by_the_focus() {
    let (world, mut before) = wizard();
    world.ok("click_element", json!({"selector": "//Edit"}));
    world.ok("press_key", json!({"keys": "tab"}));
    before += 2;
    for keys in ["enter", "space", "Return", "ctrl+enter"] {
        assert_eq!(world.code("press_key", json!({"keys": keys})), "ConfirmationRequired", "{keys}");
        assert_eq!(world.code("press_key", json!({"keys": keys, "dry_run": true})), "ConfirmationRequired");
    }
    assert_eq!(world.code("type_text", json!({"text": " "})), "ConfirmationRequired");
    assert_eq!(world.code("type_text", json!({"text": "\n"})), "ConfirmationRequired");
    assert_eq!(world.effects(), before);
}

/// H-66 on code: a shortcut
#[test]
fn a_shortcut_is_the_button() {
    let world = files();
    for keys in ["ctrl+d", "Control+D"] {
        let reply = world.call("press_key", json!({"keys": keys}));
        assert_eq!(reply["error"]["code"], "ConfirmationRequired", "{reply}");
        assert_eq!(reply["error"]["context"]["target"]["element_id"], "root.1");
    }
    assert_eq!(world.effects(), 0);
    world.ok("press_key", json!({"keys": "ctrl+e"}));
    world.ok("press_key", json!({"keys": "d"}));
}

#[test]
fn a_text_that_tabs_to_the_button_and_presses_it_is_judged() {
    let world = files();
    assert_eq!(world.code("type_text", json!({"text": "\t "})), "ConfirmationRequired");
    assert_eq!(world.code("type_text", json!({"text": "a\tb\n"})), "ConfirmationRequired");
    // A line break presses the default button from where the focus is.
    assert_eq!(world.code("type_text", json!({"text": "a b\n"})), "ConfirmationRequired");
    assert_eq!(world.effects(), 0);
    world.ok("type_text", json!({"text": "a b"}));
    world.ok("type_text", json!({"text": "a b\tc"}));
}

#[test]
fn values_labels_and_containers_lead_to_the_button() {
    let world = files();
    for selector in [
        "//Button[value=\"everything\"]",
        "//Image",
        // The middle of the group is a button.
        "//Group",
    ] {
        let reply = world.call("click_element", json!({"selector": selector}));
        assert_eq!(reply["error"]["code"], "ConfirmationRequired", "{selector}: {reply}");
    }
    assert_eq!(world.code("click_at", json!({"x": 20, "y": 60})), "ConfirmationRequired");
    assert_eq!(world.effects(), 0);
    world.ok("click_element", json!({"selector": "//Button[name=\"Cancel\"]"}));
}

/// H-66 on code: every tool that acts, by its examples
///
/// A tool that is added later and forgets to say what it touches fails here.
#[test]
fn every_tool_that_acts_is_judged() {
    let all: Value = json!({
        "confirmation_required": [{"name_regex": ""}, {"role": "Window"}],
        "exec": {"enabled": true, "secret": "correct horse battery"},
    });
    for spec in tools::all_tools().filter(|spec| spec.meta.effect.acts()) {
        for example in spec.meta.examples {
            let world = World::build(example.scenario, all.clone());
            let args: Value = serde_json::from_str(example.args).unwrap();
            let reply = world.call(spec.meta.name, args.clone());
            assert_eq!(reply["error"]["code"], "ConfirmationRequired", "{} {args}: {reply}", spec.meta.name);
            assert_eq!(world.effects(), 0, "{}", spec.meta.name);
        }
    }
}

// ── tokens ─────────────────────────────────────────────────────────────────────────────────────────

fn propose(world: &World, action: &str, args: Value) -> String {
    let proposed = world.ok("propose_action", json!({"action": action, "args": args}));
    proposed["confirm_token"].as_str().unwrap().to_owned()
}

fn with_token(mut args: Value, token: &str) -> Value {
    args["confirm_token"] = token.into();
    args
}

#[test]
fn the_contracts_recorded_way_of_consent() {
    let samples: Map<String, Value> =
        serde_json::from_str(&crate::support::read("tests/contract/samples.json")).unwrap();
    let world =
        World::with(json!({"confirmation_required": [{"role": "MenuItem", "name_regex": "(?i)^edit$"}]}));
    let mut token = Value::Null;
    for label in ["confirm_required", "confirm_invalid", "propose", "confirmed", "token_reuse"] {
        let sample = &samples[&format!("policy:{label}")];
        let mut args = sample["arguments"].clone();
        if args.get("confirm_token").is_some_and(|given| given != "ct:x") {
            args["confirm_token"] = token.clone();
        }
        let reply = world.call(sample["tool"].as_str().unwrap(), args);
        let want = &sample["result"];
        assert_eq!(reply["ok"], want["ok"], "{label}: {reply}");
        assert_eq!(reply["error"]["code"], want["error"]["code"], "{label}");
        assert_eq!(reply["error"]["suggested_next_tool"], want["error"]["suggested_next_tool"], "{label}");
        for (name, fact) in want["error"]["context"].as_object().into_iter().flatten() {
            let got = &reply["error"]["context"][name];
            match name.as_str() {
                "token" => assert!(got.as_str().unwrap().starts_with("ct:")),
                "target" => {
                    assert_eq!(got["selector"], fact["selector"]);
                    assert_eq!(got["element_id"], fact["element_id"]);
                    assert_eq!(got["bounds"], fact["bounds"]);
                }
                _ => assert_eq!(got, fact, "{label} {name}"),
            }
        }
        if label == "propose" {
            token = reply["confirm_token"].clone();
            assert_eq!(token.as_str().unwrap().len(), 35);
            assert_eq!(reply["expires_at"], 1_767_225_660.0);
            assert_eq!(reply["would_target"]["selector"], want["would_target"]["selector"]);
            assert_eq!(reply["would_target"]["bounds"], want["would_target"]["bounds"]);
        }
    }
    assert_eq!(world.effects(), 1);
}

#[test]
fn a_proposal_shows_its_target_and_does_nothing() {
    let world = files();
    let reply =
        world.reply("propose_action", json!({"action": "click_element", "args": {"selector": DELETE}}));
    let picture = reply.picture.clone().expect("a picture");
    assert_eq!((picture.width, picture.height), (116, 46));
    assert!(reply.value()["would_target"].get("screenshot_b64").is_none());
    assert_eq!(world.effects(), 0);
    let spent = World::with(json!({"budgets": {"max_screenshots": 1}}));
    let args = json!({"action": "click_at", "args": {"x": 90, "y": 70}});
    spent.ok("propose_action", args.clone());
    // What is shown to get a consent is free.
    spent.ok("propose_action", args);
}

#[test]
fn only_what_acts_can_be_proposed() {
    let world = files();
    let check = |args: Value, words: &str| {
        let reply = world.call("propose_action", args);
        assert_eq!(reply["error"]["code"], "BadRequest", "{reply}");
        assert!(reply["error"]["message"].as_str().unwrap().contains(words), "{reply}");
    };
    check(json!({"action": "clik_element"}), "did you mean 'click_element'");
    check(json!({"action": "list_windows"}), "does not act");
    check(json!({"action": "propose_action"}), "does not act");
    check(json!({"action": "click_element", "args": {"x": 1}}), "unknown argument 'x'");
    check(json!({"action": "click_element"}), "selector is required");
    check(json!({"action": "click_element", "args": [1]}), "must be an object");
    check(json!({"action": "click_at", "args": {"x": 1900, "y": 1000}}), "touch nothing");
    let missing = json!({"action": "click_element", "args": {"selector": "//Nope"}});
    assert_eq!(world.code("propose_action", missing), "ElementNotFound");
    let denied = World::with(json!({"actions": {"deny": ["click_element"]}}));
    let args = json!({"action": "click_element", "args": {"element_id": "root.1"}});
    assert_eq!(denied.code("propose_action", args), "PermissionDenied");
}

/// H-67 on code: one use after the other
#[test]
fn a_token_serves_one_call_once() {
    let world = files();
    let args = json!({"selector": DELETE});
    let token = propose(&world, "click_element", args.clone());
    world.ok("click_element", with_token(json!({"selector": DELETE, "dry_run": true}), &token));
    assert_eq!(world.effects(), 0);
    world.ok("click_element", with_token(args.clone(), &token));
    assert_eq!(world.effects(), 1);
    assert_eq!(world.code("click_element", with_token(args, &token)), "ConfirmationInvalid");
    assert_eq!(world.effects(), 1);
    assert_eq!(state(&world), "gone");
}

fn state(world: &World) -> String {
    let tree = world.ok("get_window_structure", json!({"window_uid": "mock:files"}));
    tree["tree"]["children"][3]["value"].as_str().unwrap().to_owned()
}

/// H-67 on code: eight uses at once
#[test]
fn parallel_uses_of_a_token_have_one_winner() {
    let world = files();
    let args = json!({"selector": DELETE});
    let token = propose(&world, "click_element", args.clone());
    let worked = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let reply = world.call("click_element", with_token(args.clone(), &token));
                worked.fetch_add(usize::from(reply["ok"] == true), Ordering::Relaxed);
            });
        }
    });
    assert_eq!((worked.load(Ordering::Relaxed), world.effects()), (1, 1));
}

/// H-68 on code: by the steered clock, to the second
#[test]
fn a_token_lives_as_long_as_the_config_says() {
    let check = |config: Value, seconds: u64, lives: bool| {
        let world = files_with(FILES, config);
        let token = propose(&world, "click_element", json!({"selector": DELETE}));
        world.app.clock.advance(Duration::from_secs(seconds));
        let reply = world.call("click_element", with_token(json!({"selector": DELETE}), &token));
        assert_eq!(reply["ok"], lives, "{reply}");
        assert_eq!(world.effects(), usize::from(lives));
    };
    let default = json!({"confirmation_required": rules()});
    check(default.clone(), 59, true);
    check(default.clone(), 60, false);
    check(default, 61, false);
    let short = json!({"confirmation_required": rules(), "confirmation": {"ttl_seconds": 5}});
    check(short.clone(), 4, true);
    check(short, 5, false);
}

/// A token for the first call, shown with the second.
#[track_caller]
fn check_mismatch(action: &str, args: Value, other: &str, other_args: Value, words: &str) {
    let world = files();
    let token = propose(&world, action, args.clone());
    let reply = world.call(other, with_token(other_args.clone(), &token));
    assert_eq!(reply["error"]["code"], "ConfirmationInvalid", "{other_args}: {reply}");
    let message = reply["error"]["message"].as_str().unwrap();
    assert!(message.contains(words), "{message}");
    // The mismatch burnt it.
    assert_eq!(world.code(action, with_token(args, &token)), "ConfirmationInvalid");
    assert_eq!(world.effects(), 0);
}

/// H-69 on code: tool, arguments, window; a mismatch spends it
#[test]
fn a_token_is_bound_to_everything() {
    let args = || json!({"selector": DELETE});
    let click = "click_element";
    check_mismatch(click, args(), click, json!({"selector": DELETE, "count": 2}), "another 'count'");
    check_mismatch(click, args(), click, json!({"selector": DELETE, "button": "right"}), "another 'button'");
    check_mismatch(
        click,
        args(),
        click,
        json!({"selector": "//Button[name*=\"all\"]"}),
        "another 'selector'",
    );
    check_mismatch(click, args(), click, json!({"element_id": "root.1"}), "another 'selector'");
    check_mismatch(
        click,
        args(),
        "click_at",
        json!({"x": 60, "y": 60}),
        "for click_element, not for click_at",
    );
    let copy = json!({"selector": DELETE, "window_uid": "mock:copy"});
    check_mismatch(click, copy, click, args(), "another window");
    let at = json!({"x": 60, "y": 60});
    check_mismatch("click_at", at.clone(), "click_at", json!({"x": 61, "y": 60}), "another 'x'");
    check_mismatch("click_at", at, "click_at", json!({"x": 60, "y": 60, "double": true}), "another 'double'");
    let keys = json!({"keys": "ctrl+d"});
    check_mismatch("press_key", keys, "type_text", json!({"text": "\t\n"}), "press_key, not for type_text");
}

/// H-69 on code: an element that has moved by 21 px, is called otherwise or is another
#[test]
fn a_token_is_bound_to_the_screen() {
    let check = |change: &dyn Fn(&str) -> String, works: bool, words: &str| {
        let world = files();
        let args = json!({"selector": "Window/Button[index=0]"});
        let token = propose(&world, "click_element", args.clone());
        os_screen_observer::platform::Stage::load(&*world.mock, scenario(&change(FILES)));
        let reply = world.call("click_element", with_token(args, &token));
        assert_eq!(reply["ok"], works, "{reply}");
        assert_eq!(world.effects(), usize::from(works));
        if !works {
            assert_eq!(reply["error"]["code"], "ConfirmationInvalid", "{reply}");
            assert!(reply["error"]["message"].as_str().unwrap().contains(words), "{reply}");
        }
    };
    let place = "bounds: {x: 10, y: 50, width: 100, height: 30}\n              children";
    let moved = |x: i32, y: i32| {
        move |text: &str| text.replacen(place, &place.replace("x: 10, y: 50", &format!("x: {x}, y: {y}")), 1)
    };
    check(&|text| text.to_owned(), true, "");
    check(&moved(30, 50), true, "");
    check(&moved(31, 50), false, "changed size by 21 px");
    check(&moved(10, 71), false, "changed size by 21 px");
    check(&|text| text.replacen("name: Delete\n", "name: Delete the rest\n", 1), false, "another element");
    check(
        &|text| {
            text.replacen("id: delete\n", "id: other\n", 1).replace("target_id: delete", "target_id: other")
        },
        false,
        "another element",
    );
    check(&|text| text.replace("mock:files", "mock:else"), false, "another window");
}

/// H-54 on code: a token that somebody made up confirms nothing.
#[test]
fn tokens_written_on_the_screen_are_worth_nothing() {
    let world = files();
    for forged in ["ct:0123456789abcdef", "ct:", "", "ct:00000000000000000000000000000000", "cq:1"] {
        let reply = world.call("click_element", json!({"selector": DELETE, "confirm_token": forged}));
        assert_eq!(reply["error"]["code"], "ConfirmationInvalid", "{forged}: {reply}");
    }
    assert_eq!(world.code("click_element", json!({"selector": DELETE, "confirm_token": true})), "BadRequest");
    assert_eq!(
        world.code("click_element", json!({"selector": DELETE, "_consent": "person"})),
        "ConfirmationRequired"
    );
    assert_eq!(world.effects(), 0);
}

#[test]
fn the_books_say_by_what_consent() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.log");
    let config = json!({"confirmation_required": rules(), "logging": {"audit": true, "audit_path": path}});
    let world = files_with(FILES, config);
    let token = propose(&world, "click_element", json!({"selector": DELETE}));
    world.ok("click_element", with_token(json!({"selector": DELETE}), &token));
    world.ok("click_element", json!({"selector": "//Button[name=\"Cancel\"]"}));
    let log = std::fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = log.lines().collect();
    assert!(lines[1].contains(" ok=true changed=true consent=token args."), "{log}");
    assert!(!lines[2].contains("consent="), "{log}");
    assert!(!log.contains(&token), "{log}");
}

// ── a screen that changes under the judge ──────────────────────────────────────────────────────────

/// The mock, except that Delete and Cancel change places after a number of captures.
fn swapping(mock: Arc<Mock>, after: usize) -> TestPlatform {
    let captures = AtomicUsize::new(0);
    TestPlatform::new(mock).with_tree(move |mock, window, patience| {
        let tree = mock.tree(window, patience)?;
        if captures.fetch_add(1, Ordering::SeqCst) < after {
            return Ok(tree);
        }
        Ok(tree.map_elements(|element| match element.name.as_str() {
            "Delete" => element.name = "Cancel".to_owned(),
            "Cancel" => element.name = "Delete".to_owned(),
            _ => {}
        }))
    })
}

/// The code of a call while Delete and Cancel change places after `after` captures, and what was done.
fn code_while_swapping(after: usize, tool: &str, args: Value) -> (Value, usize) {
    let (code, log) = done_while_swapping(FILES, after, tool, args);
    (code, log.len())
}

fn done_while_swapping(stage: &str, after: usize, tool: &str, args: Value) -> (Value, Vec<Act>) {
    let clock = Clock::steered();
    let mock = Arc::new(Mock::new(clock.clone()));
    os_screen_observer::platform::Stage::load(&*mock, scenario(stage));
    (code_on(Arc::new(swapping(mock.clone(), after)), clock, tool, args), mock.action_log())
}

fn code_on(platform: Arc<dyn Platform>, clock: Clock, tool: &str, args: Value) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config.json");
    std::fs::write(&path, json!({"confirmation_required": rules()}).to_string()).unwrap();
    let flags = Flags { config: Some(path), mock: true, ..Flags::default() };
    let loaded = os_screen_observer::config::load(&flags, std::iter::empty()).unwrap();
    let app = App::new(loaded, &Selection::default(), platform, clock).unwrap();
    let call = Call { tool: tool.to_owned(), args, origin: Origin::Test };
    app.gate.pass_call(call, &Cancel::new()).value()["error"]["code"].clone()
}

/// H-56 on code: an element that becomes another one before the input is not touched.
#[test]
fn a_swap_between_judging_and_acting_does_nothing() {
    for (tool, args) in [
        ("click_element", json!({"selector": "Window/Button[index=1]"})),
        ("click_element", json!({"element_id": "root.2"})),
        ("click_at", json!({"x": 200, "y": 65})),
    ] {
        // Swapped before the first look: the judge sees Delete.
        assert_eq!(code_while_swapping(0, tool, args.clone()), (json!("ConfirmationRequired"), 0));
        // Judged as Cancel, and Delete by the time of the input.
        assert_eq!(
            code_while_swapping(1, tool, args.clone()),
            (json!("ElementNotFound"), 0),
            "{tool} {args}"
        );
        assert_eq!(code_while_swapping(9, tool, args), (Value::Null, 1));
    }
}

/// H-56 on code: a name that leads elsewhere after the judging is not followed.
#[test]
fn what_was_judged_is_what_is_acted_on() {
    // A selector by name leads to another element after the swap; the one that was judged is not it.
    let args = json!({"selector": "//Button[name=\"Cancel\"]"});
    assert_eq!(code_while_swapping(1, "click_element", args), (json!("ElementNotFound"), 0));
}

/// Two fields and two lists beside the buttons, all of which change names.
const PAIRS: &str = r#"
name: pairs
states:
  only:
    windows:
      - uid: mock:pairs
        title: Pairs
        bounds: {x: 0, y: 0, width: 400, height: 400}
        focused: true
        tree:
          role: Window
          name: Pairs
          children:
            - {role: Button, name: Delete, id: delete, bounds: {x: 10, y: 50, width: 100, height: 30}}
            - {role: Button, name: Cancel, id: cancel, bounds: {x: 150, y: 50, width: 100, height: 30}}
            - {role: Edit, name: Delete, value: "", bounds: {x: 10, y: 100, width: 100, height: 24}}
            - {role: Edit, name: Cancel, value: "", bounds: {x: 150, y: 100, width: 100, height: 24}}
            - role: ComboBox
              name: Delete
              value: One
              bounds: {x: 10, y: 150, width: 100, height: 24}
              children: [{role: ListItem, name: One, selected: true, bounds: {x: 10, y: 174, width: 100, height: 22}}]
            - role: ComboBox
              name: Cancel
              value: One
              bounds: {x: 150, y: 150, width: 100, height: 24}
              children: [{role: ListItem, name: One, selected: true, bounds: {x: 150, y: 174, width: 100, height: 22}}]
            - {role: Text, name: Desk, bounds: {x: 10, y: 300, width: 100, height: 24}}
"#;

/// H-56 on code: whenever the names change places, what is reached was called Cancel when it was judged
#[test]
fn no_tool_follows_a_name_after_it_was_judged() {
    let button = json!({"selector": "//Button[name=\"Cancel\"]"});
    let with = |element: &str, more: Value| {
        let mut args = json!({"selector": format!("//{element}[name=\"Cancel\"]")});
        args.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        args
    };
    let desk = json!({"selector": "//Text[name=\"Desk\"]"});
    let calls = [
        ("click_element", button.clone()),
        ("double_click_element", button.clone()),
        ("right_click_element", button.clone()),
        ("invoke_element", button.clone()),
        ("focus_element", button.clone()),
        ("hover_element", with("Button", json!({"hover_ms": 0}))),
        ("hover_at", json!({"x": 200, "y": 65, "hover_ms": 0})),
        ("set_value", with("Edit", json!({"value": "x"}))),
        ("set_value", with("Edit", json!({"value": "x", "clear_first": false}))),
        ("clear_text", with("Edit", json!({}))),
        ("select_option", with("ComboBox", json!({"option_name": "One"}))),
        ("key_into_element", with("Edit", json!({"keys": "end"}))),
        ("drag", json!({"from": button, "to": {"x": 300, "y": 350}, "duration_s": 0})),
        ("drag", json!({"from": {"x": 300, "y": 350}, "to": button, "duration_s": 0})),
        ("drag", json!({"from": desk, "to": button, "duration_s": 0})),
        ("drag", json!({"from": button, "to": desk, "duration_s": 0})),
        ("drag", json!({"from": {"x": 200, "y": 65}, "to": desk, "duration_s": 0})),
        ("click_element_and_observe", with("Button", json!({"wait_after_ms": 0}))),
    ];
    for (tool, args) in calls {
        let mut done = 0;
        // Before the first look it would be another call; a drag looks at both of its ends.
        for after in if tool == "drag" { 2..12 } else { 1..12 } {
            let (code, log) = done_while_swapping(PAIRS, after, tool, args.clone());
            if log.is_empty() {
                assert!(code == "ConfirmationRequired" || code == "ElementNotFound", "{tool} {args}: {code}");
                continue;
            }
            done += 1;
            assert!(after >= 2, "{tool} {args} was done after {after} captures, and judged twice");
            assert!(log.iter().all(is_at_cancel), "{tool} {args} after {after} captures did {log:?}");
        }
        assert!(done > 0, "{tool} {args} was never done");
    }
}

/// Cancel stands at the right; by its number it is the second of each pair.
fn is_at_cancel(act: &Act) -> bool {
    let right = |point: &Point| point.x >= 150;
    let away = |point: &Point| point.y >= 290;
    let fits = |point: &Point| right(point) || away(point);
    match act {
        Act::Click { at, .. } | Act::Hover { at, .. } => at.as_ref().is_some_and(fits),
        Act::Drag { from, to, .. } => fits(from) && fits(to),
        Act::Invoke { element } | Act::Focus { element } => element.native.contains("cancel"),
        Act::SetValue { element, .. } | Act::Select { element, .. } => is_second(&element.native),
        Act::Type { element, .. } | Act::Key { element, .. } => {
            element.as_ref().is_some_and(|element| is_second(&element.native))
        }
        Act::Scroll { .. } => false,
    }
}

fn is_second(native: &str) -> bool {
    ["root.3", "root.5"].iter().any(|place| native.contains(place))
}

// ── windows and programs that change under the judge ───────────────────────────────────────────────

/// The mock, except that its two windows change titles after so many looks at them.
fn retitled(mock: Arc<Mock>, after: usize) -> TestPlatform {
    let looks = AtomicUsize::new(0);
    TestPlatform::new(mock).with_desktop(|desktop| {
        desktop.windows = Box::new(move |mock| {
            let mut windows = mock.windows()?;
            if looks.fetch_add(1, Ordering::SeqCst) >= after {
                for window in &mut windows {
                    window.title = if window.title == "Files" { "Copy" } else { "Files" }.to_owned();
                }
            }
            Ok(windows)
        });
    })
}

/// H-56 on code: a window is changed only if it is the one that was judged
#[test]
fn a_window_that_takes_anothers_title_is_not_changed() {
    use os_screen_observer::platform::Stage;
    for args in
        [json!({"action": "minimize", "title_regex": "^Copy$"}), json!({"action": "close", "title": "copy"})]
    {
        let mut done = 0;
        for after in 0..16 {
            let clock = Clock::steered();
            let mock = Arc::new(Mock::new(clock.clone()));
            mock.load(scenario(FILES));
            code_on(Arc::new(retitled(mock.clone(), after)), clock, "window_action", args.clone());
            let windows = mock.windows().unwrap();
            let is_there = |uid: &str| windows.iter().any(|window| window.uid == uid && !window.minimized);
            // Where the titles were exchanged before anybody looked, the other one is meant.
            let (meant, other) =
                if after == 0 { ("mock:files", "mock:copy") } else { ("mock:copy", "mock:files") };
            assert!(is_there(other), "{args} after {after} looks changed what was not judged");
            done += usize::from(!is_there(meant));
        }
        assert!(done > 0, "{args} was never done");
    }
}

// ── the person decides ─────────────────────────────────────────────────────────────────────────────

fn asking() -> Value {
    json!({"confirmation_required": rules(), "confirmation": {"mode": "ask", "ttl_seconds": 20}})
}

#[test]
fn where_nobody_can_be_asked_nothing_is_done() {
    let world = files_with(FILES, asking());
    let reply = world.call("click_element", json!({"selector": DELETE}));
    assert_eq!(reply["error"]["code"], "ConfirmationRequired");
    assert!(reply["error"]["message"].as_str().unwrap().contains("cannot ask"), "{reply}");
    assert_eq!(reply["error"]["suggested_next_tool"], Value::Null);
    let proposal = json!({"action": "click_element", "args": {"selector": DELETE}});
    assert!(
        world.call("propose_action", proposal)["error"]["message"]
            .as_str()
            .unwrap()
            .contains("the person is asked")
    );
    let reply = world.call("click_element", json!({"selector": DELETE, "confirm_token": "ct:1"}));
    assert_eq!(reply["error"]["code"], "ConfirmationInvalid");
    assert!(reply["error"]["message"].as_str().unwrap().contains("person decides"), "{reply}");
    assert_eq!(world.effects(), 0);
    world.ok("click_element", json!({"selector": "//Button[name=\"Cancel\"]"}));
}

fn pass(world: &World, args: Value, person: &Person) -> gate::Reply {
    let call = Call { tool: "click_element".to_owned(), args, origin: Origin::Test };
    world.app.gate.pass_for(call, person, &Cancel::new())
}

#[test]
fn an_answer_holds_for_the_same_facts_only() {
    let world = files_with(FILES, asking());
    let ask = |args: Value| pass(&world, args, &Person::Reachable).question.expect("a question").ticket;
    let click = || json!({"selector": DELETE});
    // Another call, a later time, a second use.
    let ticket = ask(click());
    let other = pass(&world, json!({"selector": DELETE, "count": 2}), &Person::Agreed(ticket.clone()));
    assert_eq!(other.value()["error"]["code"], "ConfirmationInvalid");
    let burnt = pass(&world, click(), &Person::Agreed(ticket));
    assert_eq!(burnt.value()["error"]["code"], "ConfirmationInvalid");
    let ticket = ask(click());
    world.app.clock.advance(Duration::from_secs(20));
    assert_eq!(
        pass(&world, click(), &Person::Agreed(ticket)).value()["error"]["code"],
        "ConfirmationInvalid"
    );
    assert_eq!(world.effects(), 0);
    let ticket = ask(click());
    assert!(pass(&world, click(), &Person::Agreed(ticket.clone())).ok());
    assert_eq!(
        pass(&world, click(), &Person::Agreed(ticket)).value()["error"]["code"],
        "ConfirmationInvalid"
    );
    assert_eq!(world.effects(), 1);
}

#[test]
fn while_the_person_is_asked_nobody_clicks() {
    let world = files_with(FILES, asking());
    let question = pass(&world, json!({"selector": DELETE}), &Person::Reachable).question.unwrap();
    assert!(question.text.starts_with("Allow click_element on Button \"Delete\" in the window \"Files\"?"));
    let reply = world.call("click_at", json!({"x": 200, "y": 65}));
    assert_eq!(reply["error"]["code"], "ConfirmationRequired");
    assert!(reply["error"]["message"].as_str().unwrap().contains("being asked"), "{reply}");
    world.ok("list_windows", json!({}));
    world.ok("click_at", json!({"x": 200, "y": 65, "dry_run": true}));
    let declined = pass(&world, json!({"selector": DELETE}), &Person::Declined(question.ticket)).value();
    assert_eq!(declined["error"]["code"], "PermissionDenied");
    assert_eq!(world.effects(), 0);
    world.ok("click_at", json!({"x": 200, "y": 65}));
}

fn pass_steps(world: &World, steps: Value, person: &Person) -> gate::Reply {
    let call = Call { tool: "act".to_owned(), args: json!({ "steps": steps }), origin: Origin::Test };
    world.app.gate.pass_for(call, person, &Cancel::new())
}

#[test]
fn a_list_of_steps_asks_before_its_first_and_stops_at_a_later_one() {
    let world = files_with(FILES, asking());
    let delete = json!({"do": "click_element", "selector": DELETE});
    let cancel = json!({"do": "click_element", "selector": "//Button[name=\"Cancel\"]"});
    // Before anything is done the person can be asked, and the whole is called again with the answer.
    let asked = pass_steps(&world, json!([delete, cancel]), &Person::Reachable);
    let ticket = asked.question.clone().expect("a question").ticket;
    assert_eq!((state(&world).as_str(), world.effects()), ("intact", 0), "{}", asked.text());
    let done = pass_steps(&world, json!([delete, cancel]), &Person::Agreed(ticket.clone())).value();
    assert_eq!((&done["ok"], state(&world).as_str()), (&json!(true), "gone"), "{done}");
    let burnt = pass_steps(&world, json!([delete]), &Person::Agreed(ticket)).value();
    assert_eq!(burnt["steps"][0]["error"]["code"], "ConfirmationInvalid", "{burnt}");
    // In the middle it cannot: it stops there, and no question stays open that would hold up others.
    let stopped = pass_steps(&world, json!([cancel, delete, cancel]), &Person::Reachable);
    assert!(stopped.question.is_none());
    let stopped = stopped.value();
    assert_eq!(stopped["stopped_at"], "steps[1]", "{stopped}");
    assert_eq!(stopped["steps"][1]["error"]["code"], "ConfirmationRequired", "{stopped}");
    assert!(world.call("click_element", json!({"selector": "//Button[name=\"Cancel\"]"}))["ok"] == true);
}

#[test]
fn a_step_that_brings_anothers_token_is_refused() {
    let world = files();
    let token = propose(&world, "click_element", json!({"selector": DELETE, "count": 2}));
    let step = with_token(json!({"do": "click_element", "selector": DELETE}), &token);
    let reply = world.call("act", json!({ "steps": [step] }));
    assert_eq!(reply["steps"][0]["error"]["code"], "ConfirmationInvalid", "{reply}");
    assert_eq!(world.effects(), 0);
}

#[test]
fn a_dry_run_asks_nobody() {
    let world = files_with(FILES, asking());
    let reply = pass(&world, json!({"selector": DELETE, "dry_run": true}), &Person::Reachable);
    assert!(reply.question.is_none());
    assert_eq!(reply.value()["error"]["code"], "ConfirmationRequired");
}

/// The built server on the files, which asks.
struct Asked {
    client: Client,
    folder: tempfile::TempDir,
}

impl Asked {
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (scenario, config) = (folder.path().join("files.yaml"), folder.path().join("config.json"));
        std::fs::write(&scenario, FILES).unwrap();
        let mut text = asking();
        text["logging"] = json!({"audit": true, "audit_path": folder.path().join("audit.log")});
        std::fs::write(&config, text.to_string()).unwrap();
        let flags = ["--mode", "mcp", "--mock", "--scenario", scenario.to_str().unwrap(), "--config"];
        let flags: Vec<&str> = flags.into_iter().chain([config.to_str().unwrap()]).collect();
        Self { client: Client::start(&flags), folder }
    }

    fn older(capabilities: Value) -> Self {
        let mut asked = Self::start();
        let info = json!({"name": "t", "version": "1"});
        let params =
            json!({"protocolVersion": "2025-11-25", "capabilities": capabilities, "clientInfo": info});
        asked.client.request("initialize", params);
        asked.client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        asked
    }

    fn audit(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("audit.log")).unwrap()
    }

    /// A call in the newer era, where each request says who it is from.
    fn newer(&mut self, tool: &str, arguments: Value, capabilities: Value, more: Value) -> Value {
        let mut params = json!({"name": tool, "arguments": arguments, "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": capabilities,
            "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
        }});
        params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        self.client.request("tools/call", params)
    }

    /// What the text on the screen says, asked without a greeting.
    fn state_newer(&mut self) -> String {
        let args = json!({"window_uid": "mock:files"});
        let answer = self.newer("get_window_structure", args, json!({}), json!({}));
        data(&answer["result"])["tree"]["children"][3]["value"].as_str().unwrap().to_owned()
    }
}

fn data(result: &Value) -> Value {
    serde_json::from_str(result["content"][0]["text"].as_str().unwrap_or("null")).unwrap()
}

/// Calls, answers the question of the server with `answer`, and gives the result and the state after it.
fn ask_older(answer: Value) -> (Value, String, String) {
    let mut asked = Asked::older(json!({"elicitation": {}}));
    let client = &mut asked.client;
    let id = client.post("tools/call", json!({"name": "click_element", "arguments": {"selector": DELETE}}));
    let question = client.receive();
    assert_eq!(question["method"], "elicitation/create", "{question}");
    assert!(question["params"]["message"].as_str().unwrap().contains("\"Delete\""), "{question}");
    assert_eq!(question["params"]["requestedSchema"]["properties"]["allow"]["type"], "boolean");
    // The server is not held up by the question, and lets nobody click meanwhile.
    let busy = client.data("click_at", json!({"x": 200, "y": 65}));
    assert_eq!(busy["error"]["code"], "ConfirmationRequired", "{busy}");
    client.send(&json!({"jsonrpc": "2.0", "id": question["id"], "result": answer}));
    let reply = data(&client.answer(id)["result"]);
    let tree = client.data("get_window_structure", json!({"window_uid": "mock:files"}));
    let state = tree["tree"]["children"][3]["value"].as_str().unwrap().to_owned();
    (reply, state, asked.audit())
}

#[test]
fn older_clients_are_asked_by_a_request() {
    let (reply, state, audit) = ask_older(json!({"action": "accept", "content": {"allow": true}}));
    assert_eq!((&reply["ok"], state.as_str()), (&json!(true), "gone"), "{reply}");
    assert!(audit.contains("tool=click_element ok=true changed=true consent=person"), "{audit}");
    for (answer, code) in [
        (json!({"action": "accept", "content": {"allow": false}}), "PermissionDenied"),
        (json!({"action": "accept"}), "PermissionDenied"),
        (json!({"action": "decline"}), "PermissionDenied"),
        (json!({"action": "cancel"}), "ConfirmationRequired"),
        (json!({"unexpected": 1}), "ConfirmationRequired"),
    ] {
        let (reply, state, _) = ask_older(answer.clone());
        assert_eq!(reply["error"]["code"], code, "{answer}: {reply}");
        assert_eq!(state, "intact", "{answer}");
    }
}

#[test]
fn clients_that_cannot_ask_are_refused_in_both_eras() {
    for capabilities in [json!({}), json!({"elicitation": {"url": {}}})] {
        let reply =
            Asked::older(capabilities.clone()).client.data("click_element", json!({"selector": DELETE}));
        assert_eq!(reply["error"]["code"], "ConfirmationRequired");
        assert!(reply["error"]["message"].as_str().unwrap().contains("cannot ask"), "{reply}");
        let mut asked = Asked::start();
        let answer = asked.newer("click_element", json!({"selector": DELETE}), capabilities, json!({}));
        assert!(data(&answer["result"])["error"]["message"].as_str().unwrap().contains("cannot ask"));
        assert_eq!(asked.state_newer(), "intact");
    }
}

#[test]
fn a_cancelled_call_takes_its_question_back() {
    let mut asked = Asked::older(json!({"elicitation": {}}));
    let client = &mut asked.client;
    let id = client.post("tools/call", json!({"name": "click_element", "arguments": {"selector": DELETE}}));
    let question = client.receive();
    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}}));
    client.send(&json!({"jsonrpc": "2.0", "id": question["id"], "result": {"action": "accept", "content": {"allow": true}}}));
    let tree = client.data("get_window_structure", json!({"window_uid": "mock:files"}));
    assert_eq!(tree["tree"]["children"][3]["value"], "intact");
    // The question is withdrawn by the cancelled call itself, which may take a moment.
    let free = (0..100).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(20));
        client.data("click_at", json!({"x": 200, "y": 65}))["ok"] == true
    });
    assert!(free, "the question of a cancelled call still stands");
}

fn elicitation() -> Value {
    json!({"elicitation": {"form": {}}})
}

fn answer_with(state: &Value, answer: Value) -> Value {
    json!({"requestState": state, "inputResponses": {"confirm": answer}})
}

fn yes() -> Value {
    json!({"action": "accept", "content": {"allow": true}})
}

/// The first round: the server answers the call by its question.
fn first_round(asked: &mut Asked) -> Value {
    let answer = asked.newer("click_element", json!({"selector": DELETE}), elicitation(), json!({}));
    let result = &answer["result"];
    assert_eq!(result["resultType"], "input_required", "{answer}");
    let question = &result["inputRequests"]["confirm"];
    assert_eq!(question["method"], "elicitation/create");
    assert!(question["params"]["message"].as_str().unwrap().contains("\"Delete\""), "{question}");
    result["requestState"].clone()
}

fn second_round(asked: &mut Asked, args: Value, more: Value) -> Value {
    let answer = asked.newer("click_element", args, elicitation(), more);
    data(&answer["result"])
}

#[test]
fn newer_clients_are_asked_by_a_round_trip() {
    let mut asked = Asked::start();
    let state = first_round(&mut asked);
    let reply = second_round(&mut asked, json!({"selector": DELETE}), answer_with(&state, yes()));
    assert_eq!(reply["ok"], true, "{reply}");
    assert_eq!(asked.state_newer(), "gone");
    assert!(asked.audit().contains("consent=person"));
    // Said once, used once.
    let reply = second_round(&mut asked, json!({"selector": DELETE}), answer_with(&state, yes()));
    assert_eq!(reply["error"]["code"], "ConfirmationInvalid", "{reply}");
}

#[test]
fn only_the_persons_yes_to_this_question_counts() {
    let click = || json!({"selector": DELETE});
    let check = |args: Value, more: &dyn Fn(&Value) -> Value, code: &str| {
        let mut asked = Asked::start();
        let state = first_round(&mut asked);
        let reply = second_round(&mut asked, args, more(&state));
        assert_eq!(reply["error"]["code"], code, "{reply}");
        assert_eq!(asked.state_newer(), "intact");
    };
    check(click(), &|state| answer_with(state, json!({"action": "decline"})), "PermissionDenied");
    check(click(), &|state| answer_with(state, json!({"action": "cancel"})), "ConfirmationRequired");
    check(click(), &|state| json!({"requestState": state}), "ConfirmationRequired");
    let forged = |_: &Value| answer_with(&json!("rs1.Y3E6MQ.AAAA"), yes());
    check(
        json!({"selector": DELETE, "count": 3}),
        &|state| answer_with(state, yes()),
        "ConfirmationRequired",
    );
    check(click(), &forged, "ConfirmationInvalid");
    check(
        click(),
        &|state| answer_with(&json!(format!("{}x", state.as_str().unwrap())), yes()),
        "ConfirmationInvalid",
    );
}

#[test]
fn a_declined_question_cannot_be_answered_again() {
    let mut asked = Asked::start();
    let state = first_round(&mut asked);
    let no = answer_with(&state, json!({"action": "decline"}));
    second_round(&mut asked, json!({"selector": DELETE}), no);
    let reply = second_round(&mut asked, json!({"selector": DELETE}), answer_with(&state, yes()));
    assert_eq!(reply["error"]["code"], "ConfirmationInvalid", "{reply}");
    assert_eq!(asked.state_newer(), "intact");
}
