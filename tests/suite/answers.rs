//! Answers that once misled a model: a verdict about what nobody may read, advice that cannot be followed, a black picture
//! without a word, and a menu that opened unseen.

use os_screen_observer::error::Kind;
use os_screen_observer::platform::Stage;
use os_screen_observer::scenario;
use serde_json::{Value, json};

use crate::support::World;

const LOGIN: &str = "scenarios/login.yaml";
const USERNAME: &str = "//Edit[name=\"Username\"]";
const PASSWORD: &str = "//Edit[name=\"Password\"]";
const SEND: &str = "//Button[name=\"Login\"]";

fn agent(scenario: &str) -> World {
    World::for_agent(Some(scenario))
}

fn loaded(world: World, text: &str) -> World {
    world.mock.load(scenario::load_str(text, "inline.yaml").unwrap());
    world
}

// ── secrets ────────────────────────────────────────────────────────────────────────────────────────

/// Neither yes nor no: both would be a word about the content.
#[track_caller]
fn check_not_compared(predicate: Value) {
    let world = World::on(LOGIN);
    world.ok("set_value", json!({"selector": PASSWORD, "value": "hunter2"}));
    let result = world.ok("assert_state", json!({ "predicate": predicate }))["results"][0].clone();
    assert_eq!(result["error_code"], "PredicateUnsupported", "{result}");
    assert!(result["observed"].as_str().unwrap().contains("secret"), "{result}");
    let waited = world.call("wait_for", json!({"any_of": [predicate], "timeout_ms": 0}));
    assert_eq!(waited["error"]["code"], "PredicateUnsupported", "{waited}");
    assert!(waited["error"]["message"].as_str().unwrap().contains("secret"), "{waited}");
}

/// H-285 on code: by equality and by pattern, asserted and waited for.
#[test]
fn a_secret_field_is_not_compared() {
    check_not_compared(json!({"kind": "value_matches", "selector": PASSWORD, "regex": "^h"}));
    check_not_compared(json!({"kind": "value_matches", "selector": PASSWORD, "regex": "."}));
    check_not_compared(json!({"kind": "value_equals", "selector": PASSWORD, "expected": ""}));
    check_not_compared(json!({"kind": "value_equals", "selector": PASSWORD, "expected": "hunter2"}));
}

#[test]
fn an_unknown_secret_says_how_a_person_names_one() {
    let reply =
        World::on(LOGIN).call("set_value", json!({"selector": PASSWORD, "value": {"secret": "NONE"}}));
    assert!(reply["error"]["message"].as_str().unwrap().contains("secrets.file"), "{reply}");
}

// ── advice ─────────────────────────────────────────────────────────────────────────────────────────

/// Calls that fail, each for another reason.
fn failing_calls() -> Vec<(&'static str, Value)> {
    vec![
        ("click_element", json!({"ref": "e9999"})),
        ("click_element", json!({"ref": "e1"})),
        ("click_element", json!({"selector": "//Button[name=\"Logn\"]"})),
        ("click_element", json!({"selector": "//Edit"})),
        ("click_element", json!({"element_id": "root.9.9"})),
        ("look", json!({"ref": "e9999"})),
        ("look", json!({"window_uid": "mock:none"})),
        ("find", json!({"text": "x", "window_uid": "mock:none"})),
        ("get_screenshot", json!({"window_uid": "mock:none"})),
        ("zoom", json!({})),
        ("set_value", json!({"selector": SEND, "value": "x"})),
        ("select_option", json!({"selector": USERNAME, "option_name": "x"})),
        ("wait_for", json!({"any_of": [{"type": "window_appears", "title_regex": "zzz"}], "timeout_ms": 0})),
        ("wait_for", json!({"any_of": [{"type": "nothing"}]})),
        ("act", json!({"steps": [{"do": "clck_element"}]})),
        ("act", json!({"steps": [{"do": "click", "ref": "e9999"}]})),
        ("launch_app", json!({"program": "no-such-program"})),
        ("window_action", json!({"action": "close", "title": "zzz"})),
        ("type_text", json!({"text": {"secret": "NONE"}})),
    ]
}

/// Every `TOOL {…}` in a text: the tool is listed, and its schema has the arguments.
#[track_caller]
fn check_written_calls(world: &World, text: &str) {
    for (at, _) in text.match_indices(" {\"") {
        let word =
            text[..at].rsplit(|sign: char| !sign.is_alphanumeric() && sign != '_').next().unwrap_or_default();
        let Some(entry) = world.app.tools.find_tool(word) else { continue };
        assert!(entry.listed, "{word} is not listed: {text}");
        let args = serde_json::Deserializer::from_str(&text[at + 1..]).into_iter::<Value>().next();
        let args = args.and_then(Result::ok).unwrap_or_else(|| panic!("no arguments: {text}"));
        for name in args.as_object().unwrap().keys() {
            assert!(entry.schema()["properties"].get(name).is_some(), "{word} has no {name}: {text}");
        }
    }
}

#[test]
fn advice_can_be_followed() {
    for world in [agent(LOGIN), World::on(LOGIN)] {
        let tools = &world.app.tools;
        for kind in Kind::ALL {
            let advised = kind.next_tool().and_then(|name| tools.advised_tool(name));
            assert!(advised.is_none_or(|name| tools.is_listed(name)), "{kind:?}: {advised:?}");
        }
        let mut failed = 0;
        for (tool, args) in failing_calls() {
            let reply = world.mcp(tool, args.clone());
            failed += usize::from(!reply.ok());
            let value = reply.value();
            let next = value.pointer("/error/suggested_next_tool").and_then(Value::as_str);
            assert!(next.is_none_or(|name| tools.is_listed(name)), "{tool} {args}: {next:?}");
            let Some(text) = reply.lines() else { continue };
            check_written_calls(&world, &text);
            let first = text.lines().next().unwrap();
            assert!(!first.contains("try ") || first.ends_with(&format!("try {}", next.unwrap())), "{text}");
        }
        assert!(failed > failing_calls().len() - 3, "only {failed} failed");
    }
}

#[test]
fn a_ref_that_leads_nowhere_is_not_searched_for() {
    let said = agent(LOGIN).lines("click_element", json!({"ref": "e9999"}));
    assert!(said.ends_with("; try look") && !said.contains('{'), "{said}");
    let gone = agent(LOGIN).lines("look", json!({"window_uid": "mock:none"}));
    assert!(gone.contains("; open windows: mock:app \"Acme Login\"; try look"), "{gone}");
}

/// The options of a closed combo box are in the tree, and no look shows them.
#[test]
fn what_is_near_can_be_seen() {
    let near = |selector: &str| {
        let reply = World::on("scenarios/form.yaml").call("click_element", json!({ "selector": selector }));
        reply["error"]["context"]["nearest"].to_string()
    };
    assert!(near("//Edit[name=\"Employe\"]").contains("Employee"));
    assert!(!near("//ListItem[name=\"Meal\"]").contains("Meals"));
}

// ── words for tools ────────────────────────────────────────────────────────────────────────────────

#[test]
fn steps_have_the_words_of_receipts() {
    let world = agent(LOGIN);
    let steps = json!([{"do": "click", "selector": USERNAME}, {"do": "type", "text": "ann"}, {"do": "press", "keys": "end"}]);
    let said = world.lines("act", json!({ "steps": steps }));
    assert!(
        said.contains("1 click e1") && said.contains("2 type_text") && said.contains("3 press_key"),
        "{said}"
    );
}

#[test]
fn an_unknown_tool_is_told_which_is_meant() {
    let world = agent(LOGIN);
    for (word, tool) in [("click", "click_element"), ("type", "type_text"), ("screenshot", "get_screenshot")]
    {
        let reply = world.call(word, json!({}));
        let expected = format!("unknown tool '{word}'; use {tool}");
        assert_eq!(reply["error"]["message"], expected, "{reply}");
    }
    let unknown = world.call("frobnicate", json!({}));
    assert!(unknown["error"]["message"].as_str().unwrap().ends_with("see tools/list"), "{unknown}");
}

// ── what came of it ────────────────────────────────────────────────────────────────────────────────

#[test]
fn a_window_that_is_as_it_should_be_is_confirmed() {
    let world = agent(LOGIN);
    let step = json!([{"do": "window_action", "action": "minimize", "title": "Acme"}]);
    let said = world.lines("act", json!({ "steps": step }));
    assert!(said.starts_with("1 window_action: confirmed"), "{said}");
    assert!(!said.contains("bounds") && !said.contains("reached"), "{said}");
}

#[test]
fn words_that_are_a_part_are_told_from_whole_ones() {
    let world = agent(LOGIN);
    let fill = |selector: &str, value: &str| json!({"do": "set_value", "selector": selector, "value": value});
    let send = |expect: &str| json!({"do": "click", "selector": SEND, "expect": expect, "within_ms": 0});
    let steps = |expect: &str| json!({"steps": [fill(USERNAME, "alice"), fill(PASSWORD, "x"), send(expect)]});
    let part = world.lines("act", steps("text: Hello, ali"));
    assert!(part.contains("\"text_contains: …\" parts of them"), "{part}");
    let found = agent(LOGIN).lines("act", steps("text_contains: Hello, ali"));
    assert!(found.contains("3 click e3 Button \"Login\": confirmed"), "{found}");
}

#[test]
fn a_window_disappears_by_its_title_too() {
    let check = |title: &str, code: &str| {
        let condition = json!({"type": "window_disappears", "title_regex": title});
        let reply = World::on(LOGIN).call("wait_for", json!({"any_of": [condition], "timeout_ms": 0}));
        assert_eq!(reply["error"]["code"].as_str().unwrap_or("met"), code, "{reply}");
    };
    check("Progress", "met");
    check("^Acme", "Timeout");
    let neither = json!({"any_of": [{"type": "window_disappears"}]});
    assert_eq!(World::on(LOGIN).code("wait_for", neither), "BadRequest");
}

#[test]
fn a_field_is_no_list() {
    let reply = World::on(LOGIN).call("select_option", json!({"selector": USERNAME, "option_name": "x"}));
    assert!(reply["error"]["message"].as_str().unwrap().contains("no list"), "{reply}");
}

#[test]
fn an_ignored_argument_is_told_first() {
    let said = agent(LOGIN).lines("look", json!({"windw_uid": "x"}));
    let first = said.lines().next().unwrap();
    assert!(first.starts_with("warning: 'windw_uid' is unknown and was ignored"), "{said}");
}

#[test]
fn a_look_says_that_nothing_changed_or_shows_it() {
    let world = agent(LOGIN);
    let first = world.lines("look", json!({}));
    assert_eq!(world.lines("look", json!({})), first);
    let changes = world.lines("look", json!({"changes": true}));
    assert!(changes.contains("nothing changed") && !changes.contains("Username"), "{changes}");
}

#[test]
fn a_screenshot_is_a_line() {
    let world = agent(LOGIN);
    let reply = world.mcp("get_screenshot", json!({"window_uid": "mock:app"}));
    let text = reply.lines().unwrap();
    assert!(text.starts_with("picture 800x600 of \"Acme Login\" 100,100 800x600, scale 1, image "), "{text}");
    assert_eq!(text.lines().count(), 1, "{text}");
    assert!(reply.picture.is_some());
    let zoomed = world.mcp("zoom", json!({"x": 300, "y": 300})).lines().unwrap();
    assert!(zoomed.contains("picture 1000x700 of ") && zoomed.contains(" rows, "), "{zoomed}");
}

/// A menu that opens with more entries than are told.
fn menu(entries: usize) -> World {
    let entry = |number: usize| {
        let y = 40 + 20 * number;
        format!(
            "                - {{role: MenuItem, name: Entry {number}, bounds: {{x: 0, y: {y}, width: 90, height: 20}}}}\n"
        )
    };
    let window = |more: &str| {
        format!(
            "    windows:\n      - uid: mock:menu\n        title: Menu\n        process: menu\n        pid: 1\n        bounds: {{x: 0, y: 0, width: 400, height: 500}}\n        tree:\n          role: Window\n          name: Menu\n          children:\n            - {{role: Button, name: File, id: file, bounds: {{x: 0, y: 0, width: 60, height: 20}}}}\n{more}"
        )
    };
    let open: String = (0..entries).map(entry).collect();
    let open = format!(
        "            - role: Menu\n              name: File\n              bounds: {{x: 0, y: 20, width: 90, height: 460}}\n              children:\n{open}"
    );
    let text = format!(
        "name: menu\ninitial_state: shut\nstates:\n  shut:\n{}  open:\n{}reactions:\n  - on: {{tool: click_element, target_id: file}}\n    transition_to: open\n",
        window(""),
        window(&open)
    );
    loaded(World::for_agent(None), &text)
}

#[test]
fn a_menu_that_opens_is_told_with_its_entries() {
    let few = menu(3).lines("click_element", json!({"selector": "//Button"}));
    assert!(few.starts_with("click e1 Button \"File\": done, changed\n+ e"), "{few}");
    assert_eq!(few.matches("MenuItem \"Entry ").count(), 3, "{few}");
    let many = menu(15).lines("click_element", json!({"selector": "//Button"}));
    assert_eq!(many.matches("MenuItem \"Entry ").count(), 12, "{many}");
    assert!(many.contains("… 3 more entries"), "{many}");
}

// ── what is withheld ───────────────────────────────────────────────────────────────────────────────

const VAULT: &str = r#"
name: vault
screen: {width: 900, height: 400}
states:
  only:
    windows:
      - uid: mock:vault
        title: Passwords
        process: vault
        pid: 4001
        bounds: {x: 0, y: 0, width: 300, height: 200}
        tree: {role: Window, name: Passwords}
      - uid: mock:notes
        title: Notes
        process: notes
        pid: 4002
        bounds: {x: 400, y: 100, width: 400, height: 250}
        focused: true
        tree: {role: Window, name: Notes}
"#;

#[test]
fn a_black_picture_says_what_is_withheld() {
    let world = loaded(World::with(json!({"apps": {"deny": ["vault"]}})), VAULT);
    world.ok("list_windows", json!({}));
    let warning =
        |tool: &str, args: Value| world.ok(tool, args)["warning"].as_str().unwrap_or_default().to_owned();
    let expected = "withheld: vault at 0,0 300x200";
    for (tool, args) in [
        ("get_screenshot", json!({})),
        ("get_full_screenshot", json!({})),
        ("get_screenshot_cropped", json!({})),
        ("zoom", json!({"x": 100, "y": 100})),
    ] {
        let said = warning(tool, args);
        assert!(said.contains(expected), "{tool}: {said}");
    }
    let elsewhere =
        warning("get_screenshot", json!({"region": {"x": 500, "y": 150, "width": 50, "height": 50}}));
    assert!(!elsewhere.contains("withheld"), "{elsewhere}");
    let other = warning("get_screenshot", json!({"window_uid": "mock:notes"}));
    assert!(!other.contains("withheld"), "{other}");
}

#[test]
fn a_search_of_what_is_withheld_advises_no_look() {
    let world = loaded(World::with(json!({"apps": {"deny": ["vault", "notes"]}})), VAULT);
    let reply = world.ok("find", json!({"text": "password"}));
    assert_eq!(reply["warning"], "no match; no window could be read", "{reply}");
}
