//! What an agent's model reads: lines instead of JSON, each thing once, and what happened elsewhere.

use crate::support::{Client, World};
use os_screen_observer::model::input::Act;
use os_screen_observer::tokens::{Writing, tokens_for_bytes};
use serde_json::{Value, json};

const USERNAME: &str = "//Edit[name=\"Username\"]";
const PASSWORD: &str = "//Edit[name=\"Password\"]";
const LOGIN: &str = "//Button[name=\"Login\"]";
const ACCEPT: &str = "//CheckBox[name=\"I accept the licence\"]";

fn agent(scenario: &str) -> World {
    World::for_agent(Some(scenario))
}

fn click(selector: &str, expect: Value) -> Value {
    json!({"do": "click_element", "selector": selector, "expect": expect, "within_ms": 0})
}

fn fill(selector: &str, value: &str) -> Value {
    json!({"do": "set_value", "selector": selector, "value": value})
}

fn act(world: &World, steps: Value) -> String {
    world.lines("act", json!({ "steps": steps }))
}

#[test]
fn a_confirmed_click_costs_little() {
    let world = agent("scenarios/wizard.yaml");
    world.lines("look", json!({}));
    let text = act(&world, json!([click(ACCEPT, json!("changed"))]));
    assert!(text.starts_with("1 click e1 CheckBox \"I accept the licence\": confirmed\n~ "), "{text}");
    assert!(text.len() / 4 <= 60, "{} tokens: {text}", text.len() / 4);
}

/// That a button has the focus which was pressed, and that another lost it, is no news; that a field has it is.
#[test]
fn the_focus_of_a_pressed_button_is_no_news() {
    let world = agent("scenarios/login.yaml");
    world.lines("look", json!({}));
    let step = |selector: &str| json!([{"do": "click_element", "selector": selector}]);
    let field = act(&world, step(USERNAME));
    assert!(field.contains("~ e1 Edit \"Username\" {focused}"), "{field}");
    let button = act(&world, step(LOGIN));
    assert!(!button.contains("{focused}") && !button.contains("Username"), "{button}");
}

/// What is foreseen names tools, and is no order to call them.
#[test]
fn a_dry_run_is_no_order() {
    let world = agent("scenarios/login.yaml");
    for step in [json!({"do": "press_key", "keys": "end"}), json!({"do": "type_text", "text": "x"})] {
        let reply = world.mcp("act", json!({"steps": [step], "dry_run": true}));
        assert!(!reply.suspicious, "{}", reply.text());
        assert_eq!(reply.value().get("suspicious"), None, "{}", reply.text());
    }
}

/// Single calls are told as steps are.
#[test]
fn a_single_call_is_a_line() {
    let world = agent("scenarios/wizard.yaml");
    world.lines("look", json!({}));
    let clicked = world.lines("click_element", json!({"selector": ACCEPT}));
    assert_eq!(clicked, "click e1 CheckBox \"I accept the licence\": done, changed");
    let world = agent("scenarios/login.yaml");
    let filled = world.lines("set_value", json!({"selector": USERNAME, "value": "alice"}));
    assert!(filled.starts_with("set_value e1 Edit \"Username\": "), "{filled}");
    world.lines("click_element", json!({"selector": USERNAME}));
    let typed = world.lines("type_text", json!({"text": "x"}));
    assert_eq!(typed, "type_text: confirmed, into e1 Edit \"Username\" =\"x\"");
    let dry = world.lines("click_element", json!({"selector": LOGIN, "dry_run": true}));
    assert_eq!(dry, "click e2 Button \"Login\": dry run, nothing was done");
    let claim = json!({"predicates": [{"kind": "element_exists", "selector": LOGIN}]});
    assert_eq!(world.lines("assert_state", claim), "assert_state: confirmed");
    let lost = world.lines("click_element", json!({"selector": "//Button[name=\"Logn\"]"}));
    assert!(lost.starts_with("click: failed, ElementNotFound: "), "{lost}");
    assert!(lost.ends_with("; near: e2 Button \"Login\"; try find"), "{lost}");
    for text in [clicked, filled, typed, dry, lost] {
        assert!(text.len() / 4 <= 60, "{} tokens: {text}", text.len() / 4);
    }
    let mut client = Client::mock(&["--profile", "agent"]);
    let reply = client.call("press_key", json!({"keys": "end"}));
    let text = reply["content"][0]["text"].as_str().unwrap();
    assert!(text.starts_with("press_key: done ("), "{text}");
    assert!(reply.get("structuredContent").is_none(), "clients would drop the line: {reply}");
    let tools = client.request("tools/list", json!({}))["result"]["tools"].clone();
    let press = tools.as_array().unwrap().iter().find(|tool| tool["name"] == "press_key").unwrap();
    assert!(press.get("outputSchema").is_none(), "{press}");
}

#[test]
fn a_step_is_a_line() {
    let world = agent("scenarios/login.yaml");
    let steps = json!([fill(USERNAME, "alice"), {"do": "press_key", "keys": "f12"}, fill(PASSWORD, "x"),
                       click(LOGIN, json!("text: Hello"))]);
    let text = act(&world, steps);
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].starts_with("1 set_value e1 Edit \"Username\": confirmed"), "{text}");
    assert!(lines[1].starts_with("2 press_key f12: unconfirmed"), "{text}");
    assert!(lines[3].starts_with("4 click e3 Button \"Login\": confirmed"), "{text}");
    assert!(!text.contains("step_id") && !text.contains("\"ok\""), "{text}");
}

#[test]
fn steps_that_say_no_more_than_that_they_are_confirmed_are_one_line() {
    let world = agent("scenarios/login.yaml");
    world.lines("look", json!({}));
    let steps = json!([fill(USERNAME, "a"), fill(USERNAME, "b"), fill(USERNAME, "alice"),
                       {"do": "press_key", "keys": "f12"}]);
    let text = act(&world, steps);
    assert!(text.starts_with("1 to 3: 3 confirmed\n4 press_key f12: unconfirmed"), "{text}");
}

#[track_caller]
fn check_expected(step: Value, expect: &str, verdict: &str) {
    let world = World::on("scenarios/login.yaml");
    let mut step = step;
    step["expect"] = json!(expect);
    step["within_ms"] = json!(0);
    let reply = world.call("act", json!({"steps": [fill(USERNAME, "alice"), fill(PASSWORD, "x"), step]}));
    assert_eq!(reply["steps"][2]["verdict"], verdict, "{expect}: {reply}");
}

#[test]
fn expectations_have_short_forms() {
    let login = json!({"do": "click_element", "selector": LOGIN});
    check_expected(login.clone(), "text: Hello, alice", "confirmed");
    check_expected(login.clone(), "text: Hello, bob", "failed");
    check_expected(login.clone(), "window: Welcome", "confirmed");
    check_expected(login.clone(), "window: Sign", "failed");
    check_expected(login.clone(), &format!("gone: {PASSWORD}"), "confirmed");
    check_expected(fill(USERNAME, "eve"), "value: eve", "confirmed");
    check_expected(fill(USERNAME, "eve"), "value: bob", "failed");
    let world = World::on("scenarios/login.yaml");
    for wrong in ["sometimes", "text:", "colour: red"] {
        let reply =
            world.call("act", json!({"steps": [{"do": "press_key", "keys": "end", "expect": wrong}]}));
        let message = reply["error"]["message"].as_str().unwrap();
        assert!(message.contains("must be \"changed\", \"text: WORDS\""), "{wrong}: {message}");
    }
}

#[test]
fn a_failing_step_stays_in_whatever_room() {
    let world = agent("scenarios/login.yaml");
    let mut steps: Vec<Value> = (0..12).map(|number| fill(USERNAME, &format!("n{number}"))).collect();
    steps.push(click(LOGIN, json!("window: Elsewhere")));
    let reply = world.mcp("act", json!({"steps": steps, "max_tokens": 120}));
    assert!(!reply.ok());
    let text = reply.lines().unwrap();
    assert!(text.contains("Button \"Login\": failed, Timeout: no window of this title"), "{text}");
    let counted = text.lines().next().unwrap();
    assert!(counted.starts_with("1 to ") && counted.ends_with(" confirmed"), "{text}");
    let full = World::on("scenarios/login.yaml");
    let value = full.call("act", json!({"steps": steps, "max_tokens": 120}));
    let last = value["steps"].as_array().unwrap().last().unwrap();
    assert_eq!((&last["step"], &last["verdict"]), (&json!("steps[12]"), &json!("failed")), "{value}");
}

#[test]
fn a_selector_that_fits_several_is_refused_where_a_model_writes_it() {
    let any_edit = json!({"selector": "//Edit"});
    let step = json!({"steps": [{"do": "click_element", "selector": "//Edit"}]});
    let full = World::on("scenarios/login.yaml");
    let refused = full.call("act", step.clone());
    assert_eq!(refused["error"]["code"], "Ambiguous", "{refused}");
    let candidates = refused["error"]["context"]["candidates"].as_array().unwrap();
    assert_eq!((candidates.len(), &candidates[1]["name"]), (2, &json!("Password")), "{refused}");
    assert!(candidates[0]["ref"].is_string() && candidates[0]["bounds"].is_object(), "{refused}");
    // The contract's own tools take the first and say so.
    let taken = full.ok("click_element", any_edit.clone());
    let warning = taken["warning"].as_str().unwrap();
    assert!(warning.contains("2 elements match '//Edit'; the first was taken, not e"), "{warning}");
    assert!(warning.contains("Edit \"Password\""), "{warning}");
    let agent = agent("scenarios/login.yaml");
    assert_eq!(agent.code("click_element", any_edit.clone()), "Ambiguous");
    for (word, code) in [("refuse", "Ambiguous"), ("first", "")] {
        let config = json!({"input": {"ambiguous_selectors": word}});
        let world = World::build(Some("scenarios/login.yaml"), config);
        for (tool, args) in [("click_element", any_edit.clone()), ("act", step.clone())] {
            let reply = world.call(tool, args);
            assert_eq!(reply["error"]["code"].as_str().unwrap_or_default(), code, "{tool} {reply}");
        }
    }
}

#[test]
fn states_are_asked_for_where_they_matter() {
    let world = World::on("scenarios/wizard.yaml");
    let holds =
        |predicate: Value| world.ok("assert_state", json!({"predicate": predicate}))["all_passed"].clone();
    let checked = json!({"kind": "element_state", "selector": ACCEPT, "checked": true});
    assert_eq!(holds(checked.clone()), false);
    let reply = world.call("act", json!({"steps": [click(ACCEPT, checked.clone())]}));
    assert_eq!(reply["verdict"], "confirmed", "{reply}");
    assert_eq!(holds(checked), true);
    assert_eq!(holds(json!({"kind": "element_exists", "selector": "//CheckBox[checked=true]"})), true);
    assert_eq!(
        holds(json!({"kind": "element_exists", "selector": "//Button[enabled=false][visible=true]"})),
        true
    );
    // A state that there is none of is refused at once, and nothing is waited for.
    for wrong in [
        json!({"type": "element_appears", "selector": "//CheckBox[ticked=true]"}),
        json!({"kind": "element_state", "selector": ACCEPT, "ticked": true}),
        json!({"kind": "element_state", "selector": ACCEPT}),
    ] {
        let waited = world.call("wait_for", json!({"any_of": [wrong]}));
        assert_eq!(waited["error"]["code"], "BadRequest", "{waited}");
        let expected = world.call("act", json!({"steps": [click(ACCEPT, wrong)]}));
        assert_eq!(expected["error"]["code"], "BadRequest", "{expected}");
    }
}

#[test]
fn what_is_new_is_told_once() {
    let world = agent("scenarios/login.yaml");
    let first = world.lines("look", json!({}));
    world.lines("act", json!({"steps": [{"do": "press_key", "keys": "f12"}]}));
    world.app.gate.pass_call(
        os_screen_observer::gate::Call {
            tool: "set_value".to_owned(),
            args: json!({"selector": USERNAME, "value": "alice"}),
            origin: os_screen_observer::gate::Origin::Rest,
        },
        &os_screen_observer::clock::Cancel::new(),
    );
    let second = world.lines("look", json!({}));
    assert!(second.contains("since your last look: 1 changed (~)"), "{second}");
    assert!(second.contains("\n~ e1 Edit \"Username\" =alice"), "{second}");
    assert_eq!(second.matches("alice").count(), 1, "{second}");
    assert!(second.len() < first.len() + 80, "{first}\n{second}");
}

#[test]
fn what_act_has_shown_is_no_news_to_look() {
    let world = agent("scenarios/login.yaml");
    world.lines("look", json!({}));
    let shown = act(&world, json!([fill(USERNAME, "alice")]));
    // That the field holds it now is what its step says.
    assert_eq!(shown, "1 set_value e1 Edit \"Username\": confirmed");
    let seen = world.lines("look", json!({"changes": true}));
    assert!(seen.contains("nothing changed since your last look"), "{seen}");
}

/// A program with two pages of nine words each, and a button that leads from one to the other.
fn two_pages() -> (World, tempfile::TempDir) {
    let page = |words: &str| {
        let text = |number: usize| {
            let y = 40 + 20 * number;
            format!(
                "            - {{role: Text, name: {words} {number}, bounds: {{x: 9, y: {y}, width: 90, height: 18}}}}\n"
            )
        };
        let texts: String = (0..9).map(text).collect();
        format!(
            "  {words}:\n    windows:\n      - uid: mock:pages\n        title: Pages\n        process: pages\n        \
             pid: 7\n        bounds: {{x: 0, y: 0, width: 400, height: 400}}\n        tree:\n          role: Window\n          \
             name: Pages\n          children:\n{texts}            - {{role: Button, name: Go on, id: go-{words}, \
             bounds: {{x: 9, y: 300, width: 90, height: 30}}}}\n"
        )
    };
    let reaction = "reactions:\n  - on: {tool: click_element, target_id: go-old}\n    transition_to: new\n";
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pages.yaml");
    let text = format!("name: pages\nstates:\n{}{}{reaction}", page("old"), page("new"));
    std::fs::write(&file, text).unwrap();
    (World::for_agent(file.to_str()), folder)
}

#[test]
fn a_page_that_was_replaced_is_one_line() {
    let go_on = click("//Button[name=\"Go on\"]", json!("text: new 1"));
    let (world, _folder) = two_pages();
    world.lines("look", json!({}));
    let text = act(&world, json!([go_on]));
    assert!(text.contains("page replaced, 9 elements gone\n+ \"new 0\""), "{text}");
    assert!(!text.contains("old"), "{text}");
    // The same where look tells it.
    let (world, _folder) = two_pages();
    world.lines("look", json!({}));
    world.reply("act", json!({"steps": [go_on]}));
    let text = world.lines("look", json!({}));
    assert!(text.contains("page replaced since your last look, 9 elements gone\n"), "{text}");
    assert_eq!(text.matches("new 3").count(), 1, "{text}");
    assert!(!text.contains('+') && !text.contains("old"), "{text}");
}

#[test]
fn news_of_other_windows_come_with_every_reply() {
    let world = agent("scenarios/wizard.yaml");
    world.lines("look", json!({}));
    let next = click("//Button[name=\"Next\"]", json!("text: Step 2"));
    act(&world, json!([click(ACCEPT, json!("changed")), next]));
    let delete = json!({"selector": "//Button[name=\"Delete everything\"]"});
    let reply = world.mcp("click_element", delete);
    assert_eq!(reply.news, ["new window mock:confirm \"Delete everything?\""]);
    let back = act(&world, json!([{"do": "click_element", "selector": "//Button[name=\"Keep\"]"}]));
    assert!(back.contains("closed window mock:confirm"), "{back}");
    assert!(
        back.contains("now in front: mock:setup, since you saw it") || back.contains("as you saw it"),
        "{back}"
    );
    assert!(world.mcp("look", json!({})).news.is_empty());
    assert!(world.reply("look", json!({})).news.is_empty(), "other surfaces keep their shapes");
}

#[test]
fn an_empty_desktop_is_an_answer() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("empty.yaml");
    std::fs::write(&file, "name: empty\nstates:\n  nothing:\n    windows: []\n").unwrap();
    for world in [World::on(file.to_str().unwrap()), World::for_agent(file.to_str())] {
        let reply = world.mcp("look", json!({}));
        assert!(reply.ok(), "{}", reply.text());
        assert_eq!(reply.outline.as_deref(), Some("no windows are open; launch_app starts a program"));
        assert_eq!(world.code("look", json!({"window_uid": "gone"})), "WindowGone");
    }
}

#[test]
fn pictures_are_no_larger_than_a_model_takes() {
    let world = World::for_agent(None);
    let chrome = json!({"window_title": "Chrome"});
    let reply = world.mcp("get_screenshot", chrome.clone());
    let facts = reply.value();
    let (width, height) = (facts["width"].as_u64().unwrap(), facts["height"].as_u64().unwrap());
    assert_eq!(width, 1450, "{facts}");
    assert!(width.max(height) <= 1568 && width * height <= 1_150_000, "{facts}");
    let area = &facts["source_bbox"];
    let scale = width as f64 / area["width"].as_f64().unwrap();
    assert_eq!(facts["scale"].as_f64().unwrap(), scale, "{facts}");
    // A pixel of the smaller picture is led back to the screen.
    let clicked = world.mcp("click_at", json!({"image": facts["image_id"], "x": width - 1, "y": 0}));
    assert!(clicked.ok(), "{}", clicked.text());
    let Some(Act::Click { at: Some(at), .. }) = world.mock.action_log().last().cloned() else {
        panic!("no click")
    };
    assert_eq!((at.x, at.y), (1919, 0));
    let whole = world.reply("get_screenshot", chrome.clone()).value();
    assert_eq!(whole["width"], area["width"], "other surfaces keep their pictures: {whole}");
    let full = World::new().mcp("get_screenshot", chrome).value();
    assert_eq!(full["width"], area["width"], "{full}");
}

#[test]
fn a_failed_list_is_an_error_to_the_client() {
    let mut client = Client::mock(&["--profile", "agent"]);
    let step = json!({"do": "press_key", "keys": "end", "expect": "window: Elsewhere", "within_ms": 0});
    let reply = client.call("act", json!({"steps": [step]}));
    assert_eq!(reply["isError"], true, "{reply}");
    let text = reply["content"][0]["text"].as_str().unwrap();
    assert!(text.starts_with("1 press_key end: failed, Timeout: no window of this title is new"), "{text}");
}

/// What there is no room for is counted as lines, and the call that is named shows them.
#[test]
fn what_act_leaves_out_is_told_truly() {
    let world = agent("scenarios/wizard.yaml");
    let next = click("//Button[name=\"Next\"]", json!("text: Step 2"));
    let steps = json!([click(ACCEPT, json!("changed")), next]);
    let text = world.lines("act", json!({"steps": steps, "max_tokens": 100}));
    let more = text.lines().find(|line| line.starts_with("… ")).unwrap_or_else(|| panic!("{text}"));
    assert!(more.ends_with(" more lines: look {\"window_uid\":\"mock:setup\"}"), "{text}");
    let count: usize = more.split(' ').nth(1).unwrap().parse().unwrap();
    let told = text.lines().filter(|line| line.starts_with(['+', '~', '-']) && line.len() > 2).count();
    let whole = agent("scenarios/wizard.yaml");
    let whole = whole.lines("act", json!({"steps": steps}));
    let all = whole.lines().filter(|line| line.starts_with(['+', '~', '-']) && line.len() > 2).count();
    assert_eq!(told + count, all, "{text}\n{whole}");
    // What can be pressed next is there before other lines are.
    assert!(text.contains("Button \"Next\""), "{text}");
}

#[test]
fn lines_keep_to_their_tokens() {
    let world = agent("scenarios/long-list.yaml");
    let text = world.lines("look", json!({"max_tokens": 400}));
    assert!(tokens_for_bytes(Writing::Outline, text.len()) <= 400, "{text}");
    assert!(text.contains("more: look {\"after\":\"root"), "{text}");
}
