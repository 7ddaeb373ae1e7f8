//! Several steps in one call: foreseen together, run one by one, stopped where one fails, answered once.

use crate::support::World;
use proptest::prelude::*;
use serde_json::{Value, json};

const USERNAME: &str = "//Edit[name=\"Username\"]";
const PASSWORD: &str = "//Edit[name=\"Password\"]";
const LOGIN: &str = "//Button[name=\"Login\"]";

fn login() -> World {
    World::on("scenarios/login.yaml")
}

fn fill(selector: &str, value: &str) -> Value {
    json!({"do": "set_value", "selector": selector, "value": value})
}

fn click(selector: &str) -> Value {
    json!({"do": "click_element", "selector": selector})
}

/// The step with what is expected of it.
fn expecting(mut step: Value, expect: Value) -> Value {
    step["expect"] = expect;
    step["within_ms"] = json!(0);
    step
}

fn act(world: &World, steps: Value) -> Value {
    world.call("act", json!({ "steps": steps }))
}

fn welcome() -> Value {
    json!({"kind": "window_exists", "title_regex": "Welcome"})
}

fn value_of(world: &World, selector: &str) -> String {
    let tree = world.ok("get_window_structure", json!({}));
    let found = world.ok("find_element", json!({"selector": selector}));
    let id = found["element_id"].as_str().unwrap();
    let node = id
        .split('.')
        .skip(1)
        .fold(&tree["tree"], |node, step| &node["children"][step.parse::<usize>().unwrap()]);
    node["value"].as_str().unwrap_or_default().to_owned()
}

/// A list that is refused as a whole: the code, words of the message, and nothing done.
#[track_caller]
fn check_refused(steps: Value, code: &str, words: &str) {
    let world = login();
    let reply = act(&world, steps.clone());
    assert_eq!(reply["error"]["code"], code, "{reply}");
    let message = reply["error"]["message"].as_str().unwrap();
    assert!(message.contains(words), "{message} has no {words}");
    assert_eq!(value_of(&world, USERNAME), "", "something was done: {reply}");
    assert_eq!(world.effects(), 0);
}

#[test]
fn a_form_is_one_call() {
    let world = login();
    let reply = act(
        &world,
        json!([fill(USERNAME, "alice"), fill(PASSWORD, "x"), expecting(click(LOGIN), welcome())]),
    );
    assert_eq!(reply["ok"], true);
    // What went into a secret field cannot be read back, and the verdict is that of the worst step.
    assert_eq!(verdicts(&reply), ["confirmed", "unconfirmed", "confirmed"]);
    assert_eq!(reply["verdict"], "unconfirmed", "{reply}");
    let text = reply["outline"].as_str().unwrap();
    assert!(text.contains("+ \"Hello, alice\"") && text.contains("- "), "{text}");
}

fn verdicts(reply: &Value) -> Vec<&str> {
    reply["steps"].as_array().unwrap().iter().map(|step| step["verdict"].as_str().unwrap()).collect()
}

#[track_caller]
fn check_verdicts(world: &World, steps: Value, each: &[&str], all: &str) {
    let reply = act(world, steps);
    assert_eq!(verdicts(&reply), each, "{reply}");
    assert_eq!(reply["verdict"], all, "{reply}");
}

#[test]
fn the_verdict_is_that_of_the_worst_step() {
    let world = login();
    let key = json!({"do": "press_key", "keys": "end"});
    let idle = json!({"do": "wait_idle", "quiet_ms": 0});
    let held = json!({"do": "assert_state", "predicates": [{"kind": "value_equals", "selector": USERNAME, "expected": "bob"}]});
    check_verdicts(&world, json!([fill(USERNAME, "bob")]), &["confirmed"], "confirmed");
    check_verdicts(&world, json!([key, held]), &["unconfirmed", "confirmed"], "unconfirmed");
    // What neither acts nor looks for anything says nothing about the others.
    check_verdicts(
        &world,
        json!([fill(USERNAME, "bob"), held, idle]),
        &["confirmed", "confirmed", "unconfirmed"],
        "confirmed",
    );
}

#[test]
fn what_held_before_a_step_says_nothing_about_it() {
    let world = login();
    let there = json!({"type": "element_appears", "selector": LOGIN});
    let reply = act(&world, json!([expecting(json!({"do": "press_key", "keys": "end"}), there)]));
    assert_eq!((&reply["verdict"], &reply["ok"]), (&json!("unconfirmed"), &json!(true)), "{reply}");
    assert_eq!(reply["steps"][0]["held_before"], true, "{reply}");
}

#[test]
fn a_window_that_was_there_before_the_step_does_not_appear() {
    let world = World::on("scenarios/form.yaml");
    let any = json!({"type": "window_appears", "title_regex": "."});
    let key = json!({"do": "press_key", "keys": "end"});
    let reply = act(&world, json!([expecting(key, any)]));
    assert_eq!(
        (&reply["verdict"], &reply["error"]["code"]),
        (&json!("failed"), &json!("Timeout")),
        "{reply}"
    );
    // A window that is called otherwise now is one that was not there.
    let world = login();
    let welcome = json!({"type": "window_appears", "title_regex": "Welcome"});
    let steps = json!([fill(USERNAME, "alice"), fill(PASSWORD, "x"), expecting(click(LOGIN), welcome)]);
    assert_eq!(verdicts(&act(&world, steps))[2], "confirmed");
}

#[test]
fn the_focus_of_what_was_clicked_is_no_change_and_a_dialog_is_one() {
    let world = login();
    let check = |step: Value, verdict: &str| {
        let reply = act(&world, json!([expecting(step, json!("changed"))]));
        assert_eq!(reply["verdict"], verdict, "{reply}");
    };
    check(click(USERNAME), "failed");
    check(json!({"do": "focus_element", "selector": PASSWORD}), "confirmed");
    check(json!({"do": "press_key", "keys": "f12"}), "failed");
    let world = World::on("scenarios/wizard.yaml");
    let next = "//Button[name=\"Next\"]";
    let accept = click("//CheckBox[name=\"I accept the licence\"]");
    let delete = expecting(click("//Button[name=\"Delete everything\"]"), json!("changed"));
    let steps = json!([accept, expecting(click(next), json!("changed")), delete]);
    assert_eq!(verdicts(&act(&world, steps))[1..], ["confirmed", "confirmed"]);
}

#[test]
fn a_failed_list_is_an_error_with_its_report() {
    let world = login();
    let reply = world.reply("act", json!({"steps": [expecting(click(LOGIN), welcome())]}));
    assert_eq!(reply.error, Some(os_screen_observer::error::Kind::Timeout));
    let value = reply.value();
    assert_eq!((&value["ok"], &value["verdict"]), (&json!(false), &json!("failed")), "{value}");
    assert_eq!(value["error"]["code"], "Timeout");
    assert!(value["error"]["message"].as_str().unwrap().starts_with("steps[0]: "), "{value}");
}

#[test]
fn it_stops_where_an_expectation_is_not_met() {
    let world = login();
    let reply = act(
        &world,
        json!([expecting(fill(USERNAME, "alice"), welcome()), fill(PASSWORD, "x"), click(LOGIN)]),
    );
    assert_eq!((&reply["verdict"], &reply["ok"]), (&json!("failed"), &json!(false)), "{reply}");
    assert_eq!(reply["stopped_at"], "steps[0]");
    assert_eq!(reply["not_run"], 2);
    assert_eq!(reply["steps"].as_array().unwrap().len(), 1);
    assert_eq!(reply["steps"][0]["unmet"]["expected"], welcome());
    assert_eq!(reply["steps"][0]["unmet"]["error"]["code"], "Timeout");
    assert_eq!(value_of(&world, PASSWORD), "");
}

#[test]
fn an_assertion_that_does_not_hold_stops_too() {
    let world = login();
    let not_yet = json!({"do": "assert_state", "predicates": [welcome()]});
    let reply = act(&world, json!([not_yet, fill(USERNAME, "alice")]));
    assert_eq!(reply["stopped_at"], "steps[0]", "{reply}");
    assert_eq!(value_of(&world, USERNAME), "");
}

#[test]
fn a_named_alternative_runs_instead_and_the_rest_follows() {
    let world = login();
    let mut sign_in = expecting(click(LOGIN), welcome());
    sign_in["on_fail"] = json!("fill_in_first");
    let steps = json!([sign_in, {"do": "assert_state", "predicates": [welcome()]}]);
    let instead = json!([fill(USERNAME, "alice"), fill(PASSWORD, "x"), click(LOGIN)]);
    let reply = world.call("act", json!({"steps": steps, "alternatives": {"fill_in_first": instead}}));
    assert_eq!((&reply["verdict"], &reply["ok"]), (&json!("unconfirmed"), &json!(true)), "{reply}");
    let ran: Vec<&str> =
        reply["steps"].as_array().unwrap().iter().map(|step| step["step"].as_str().unwrap()).collect();
    let expected = [
        "steps[0]",
        "alternatives.fill_in_first[0]",
        "alternatives.fill_in_first[1]",
        "alternatives.fill_in_first[2]",
        "steps[1]",
    ];
    assert_eq!(ran, expected);
}

#[test]
fn an_alternative_that_fails_ends_it() {
    let world = login();
    let mut sign_in = expecting(click(LOGIN), welcome());
    sign_in["on_fail"] = json!("again");
    let args = json!({"steps": [sign_in, fill(USERNAME, "alice")],
                      "alternatives": {"again": [expecting(click(LOGIN), welcome())]}});
    let reply = world.call("act", args);
    assert_eq!(reply["stopped_at"], "alternatives.again[0]", "{reply}");
    assert_eq!(value_of(&world, USERNAME), "");
}

#[test]
fn changed_is_seen_also_where_no_receipt_tells() {
    let world = login();
    let focus = json!({"do": "focus_element", "selector": USERNAME});
    let typed = json!({"do": "type_text", "text": "alice", "expect": "changed", "within_ms": 0});
    assert_eq!(verdicts(&act(&world, json!([focus, typed])))[1], "confirmed");
    let nothing = json!({"do": "press_key", "keys": "f12", "expect": "changed", "within_ms": 0});
    let reply = act(&world, json!([nothing]));
    assert_eq!(reply["verdict"], "failed", "{reply}");
    assert_eq!(reply["steps"][0]["unmet"]["expected"], "changed");
}

/// H-30 on act: a wrong step anywhere, and nothing is done.
#[test]
fn what_is_malformed_anywhere_is_refused_before_anything_is_done() {
    let good = fill(USERNAME, "alice");
    check_refused(json!([]), "BadRequest", "at least one step");
    check_refused(json!([good, {"selector": LOGIN}]), "BadRequest", "steps[1]: 'do' is required");
    check_refused(
        json!([good, {"do": "clik_element", "selector": LOGIN}]),
        "BadRequest",
        "did you mean 'click_element'",
    );
    check_refused(
        json!([good, {"do": "set_value", "selector": USERNAME}]),
        "BadRequest",
        "steps[1] (set_value): argument 'value' is required",
    );
    check_refused(
        json!([good, {"do": "click_element", "selector": "//Button["}]),
        "BadRequest",
        "steps[1] (click_element)",
    );
    check_refused(json!([good, {"do": "click_element", "ref": "e99"}]), "ElementNotFound", "e99 is unknown");
    check_refused(json!([good, {"do": "press_key", "keys": "hyper+nothing"}]), "BadRequest", "steps[1]");
    check_refused(
        json!([good, expecting(click(LOGIN), json!({"kind": "wellcome"}))]),
        "BadRequest",
        "unknown predicate kind",
    );
    check_refused(
        json!([good, expecting(click(LOGIN), json!({"type": "tree_changes"}))]),
        "BadRequest",
        "expect \"changed\"",
    );
    check_refused(json!([good, expecting(click(LOGIN), json!(7))]), "BadRequest", "must be \"changed\"");
    check_refused(
        json!([good, {"do": "click_element", "selector": LOGIN, "on_fail": "x"}]),
        "BadRequest",
        "names no alternative: 'x'",
    );
    check_refused(
        json!([good, {"do": "click_element", "selector": LOGIN, "within_ms": -1}]),
        "BadRequest",
        "within_ms",
    );
}

#[test]
fn trees_lists_and_what_the_server_remembers_are_no_steps() {
    let good = fill(USERNAME, "alice");
    check_refused(json!([good, {"do": "act", "steps": []}]), "BadRequest", "cannot be nested");
    check_refused(json!([good, {"do": "get_window_structure"}]), "BadRequest", "too large");
    check_refused(json!([good, {"do": "get_screenshot"}]), "BadRequest", "too large");
    check_refused(
        json!([good, {"do": "load_scenario", "path": "scenarios/form.yaml"}]),
        "BadRequest",
        "by itself",
    );
}

#[test]
fn the_first_element_must_be_there_later_ones_may_come() {
    check_refused(
        json!([click("//Button[name=\"Lgoin\"]"), fill(USERNAME, "a")]),
        "ElementNotFound",
        "steps[0]",
    );
    let world = login();
    let later = json!({"do": "wait_for", "any_of": [{"type": "text_visible", "regex": "Hello"}]});
    let missing = click("//Text[name=\"Hello, alice\"]");
    let reply =
        act(&world, json!([fill(USERNAME, "alice"), fill(PASSWORD, "x"), click(LOGIN), later, missing]));
    assert_eq!(reply["ok"], true, "{reply}");
}

#[test]
fn a_dry_run_tells_what_it_foresees_and_does_nothing() {
    let world = login();
    let steps = json!([fill(USERNAME, "alice"), click("//Button[name=\"Later\"]")]);
    let reply = world.ok("act", json!({"steps": steps, "dry_run": true}));
    assert_eq!(reply["dry_run"], true);
    assert!(reply["foreseen"][0].get("not_yet").is_none(), "{reply}");
    assert!(reply["foreseen"][1]["not_yet"].as_str().unwrap().contains("Later"), "{reply}");
    assert_eq!(world.effects(), 0);
}

#[test]
fn steps_that_the_policy_denies_are_refused_before_the_first() {
    let world = World::build(Some("scenarios/login.yaml"), json!({"actions": {"deny": ["click_element"]}}));
    let reply = act(&world, json!([fill(USERNAME, "alice"), click(LOGIN)]));
    assert_eq!(reply["error"]["code"], "PermissionDenied", "{reply}");
    assert_eq!(value_of(&world, USERNAME), "");
}

#[test]
fn a_budget_that_is_too_small_is_told_before_the_first() {
    let world = World::build(Some("scenarios/login.yaml"), json!({"budgets": {"max_actions": 2}}));
    let steps = json!([fill(USERNAME, "alice"), fill(PASSWORD, "x"), click(LOGIN)]);
    let reply = act(&world, steps);
    assert_eq!(reply["error"]["code"], "BudgetExceeded", "{reply}");
    assert_eq!(value_of(&world, USERNAME), "");
    let two = act(&world, json!([fill(USERNAME, "alice"), fill(PASSWORD, "x")]));
    assert_eq!(two["ok"], true, "steps are counted once, the list is not: {two}");
    assert_eq!(act(&world, json!([click(LOGIN)]))["error"]["code"], "BudgetExceeded");
}

fn with_consent() -> World {
    let rules = json!([{"role": "Button", "name_regex": "Login"}]);
    World::build(Some("scenarios/login.yaml"), json!({"confirmation_required": rules}))
}

#[test]
fn a_step_that_needs_a_token_is_refused_without_and_runs_with_it() {
    let world = with_consent();
    let steps = json!([fill(USERNAME, "alice"), fill(PASSWORD, "x"), click(LOGIN)]);
    let reply = act(&world, steps);
    assert_eq!(reply["error"]["code"], "ConfirmationRequired", "{reply}");
    assert_eq!(value_of(&world, USERNAME), "");
    let proposed =
        world.ok("propose_action", json!({"action": "click_element", "args": {"selector": LOGIN}}));
    let mut allowed = expecting(click(LOGIN), welcome());
    allowed["confirm_token"] = proposed["confirm_token"].clone();
    let reply = act(&world, json!([fill(USERNAME, "alice"), fill(PASSWORD, "x"), allowed]));
    assert_eq!(verdicts(&reply)[2], "confirmed", "{reply}");
}

#[test]
fn the_window_of_all_steps_is_named_once() {
    let world = World::new();
    let windows = world.ok("list_windows", json!({}));
    let uid = &windows["windows"][1]["window_uid"];
    let covered = json!({"do": "focus_element", "selector": "Window"});
    let reply = world.call("act", json!({"steps": [covered], "window_uid": uid}));
    assert_eq!(reply["error"]["context"]["window_uid"], *uid, "{reply}");
    let first = json!({"do": "bring_to_foreground"});
    let reply = world.ok("act", json!({"steps": [first, covered], "window_uid": uid}));
    assert_eq!(reply["window_uid"], *uid, "{reply}");
    let gone = world.call("act", json!({"steps": [covered], "window_uid": "gone"}));
    assert_eq!(gone["error"]["code"], "WindowGone", "{gone}");
}

/// The window in front says `Zusatz` and has no tab; the one behind it has.
const TWO_WINDOWS: &str = r#"
name: two_windows
initial_state: open
states:
  open:
    windows:
      - uid: front
        title: Front
        focused: true
        bounds: {x: 0, y: 0, width: 300, height: 200}
        tree:
          role: Window
          name: Front
          bounds: {x: 0, y: 0, width: 300, height: 200}
          children: [{role: Text, name: Zusatz, bounds: {x: 10, y: 10, width: 80, height: 20}}]
      - uid: back
        title: Back
        bounds: {x: 400, y: 0, width: 300, height: 200}
        tree:
          role: Window
          name: Back
          bounds: {x: 400, y: 0, width: 300, height: 200}
          children:
            - {role: TabItem, name: d1, bounds: {x: 410, y: 10, width: 80, height: 20}}
            - {role: Edit, name: Note, value: "", bounds: {x: 410, y: 40, width: 80, height: 20}}
"#;

fn two_windows() -> World {
    let world = World::new();
    let scenario = os_screen_observer::scenario::load_str(TWO_WINDOWS, "two.yaml").unwrap();
    os_screen_observer::platform::Stage::load(&*world.mock, scenario);
    world
}

#[track_caller]
fn check_in_back(step: Value, verdict: &str) {
    let reply = two_windows().call("act", json!({"steps": [step], "window_uid": "back"}));
    assert_eq!(reply["verdict"], verdict, "{reply}");
}

#[test]
fn what_is_expected_is_looked_for_in_the_window_of_the_step() {
    const NOTE: &str = "//Edit[name=\"Note\"]";
    let no_tab = json!({"kind": "element_absent", "selector": "//TabItem"});
    let tab = json!({"kind": "element_exists", "selector": "//TabItem"});
    let key = json!({"do": "press_key", "keys": "end", "window_uid": "back"});
    check_in_back(expecting(fill(NOTE, "NEU99"), json!("text: NEU99")), "confirmed");
    // That it is in another window says nothing.
    check_in_back(expecting(fill(NOTE, "Zusatz"), json!("text: Zusatz")), "confirmed");
    check_in_back(json!({"do": "assert_state", "predicates": [no_tab]}), "failed");
    check_in_back(json!({"do": "assert_state", "predicates": [tab]}), "confirmed");
    check_in_back(expecting(key, no_tab), "failed");
}

#[test]
fn words_are_not_parts_of_longer_ones() {
    let key = |expect: &str| expecting(json!({"do": "press_key", "keys": "end"}), json!(expect));
    let filled = |expect: &str| {
        let world = login();
        act(&world, json!([fill(USERNAME, "3000"), key(expect)]))["steps"][1]["verdict"].clone()
    };
    assert_eq!(filled("text: 300"), "failed");
    assert_eq!(filled("text: 3000"), "unconfirmed", "it held before");
}

#[test]
fn the_reply_keeps_to_its_tokens_and_says_what_is_missing() {
    let world = World::on("scenarios/form.yaml");
    let steps = json!([{"do": "set_value", "selector": "//Edit[name=\"Employee\"]", "value": "Ann"}]);
    let reply = world.reply("act", json!({"steps": steps, "max_tokens": 200}));
    assert!(reply.text().len() < 900, "{}", reply.text());
}

#[test]
fn what_is_sent_is_counted_once() {
    let world = login();
    let reply = world.reply("act", json!({"steps": [fill(USERNAME, "alice"), fill(PASSWORD, "x")]}));
    let sent = world.ok("get_budget_status", json!({}))["sent"].clone();
    let told = reply.json_text().len() + reply.outline.unwrap().len();
    assert_eq!(sent["bytes"], told as u64, "steps are read by act, not by the caller: {sent}");
}

#[test]
fn typed_text_is_in_no_book_of_the_list() {
    let directory = tempfile::tempdir().unwrap();
    let log = directory.path().join("audit.log");
    let world =
        World::build(Some("scenarios/login.yaml"), json!({"logging": {"audit": true, "audit_path": log}}));
    act(&world, json!([fill(USERNAME, "alice"), fill(PASSWORD, "hunter2-x")]));
    let written = std::fs::read_to_string(&log).unwrap();
    assert!(!written.contains("hunter2-x"), "{written}");
    assert_eq!(written.matches("tool=act").count(), 1, "{written}");
    assert!(written.contains(r#"args.steps=["set_value","set_value"]"#), "{written}");
    assert_eq!(written.matches("tool=set_value").count(), 2, "each step has its own line: {written}");
}

#[test]
fn a_failed_list_is_a_failure_in_every_book() {
    let directory = tempfile::tempdir().unwrap();
    let log = directory.path().join("audit.log");
    let world =
        World::build(Some("scenarios/login.yaml"), json!({"logging": {"audit": true, "audit_path": log}}));
    act(&world, json!([expecting(click(LOGIN), welcome())]));
    let written = std::fs::read_to_string(&log).unwrap();
    let line = written.lines().find(|line| line.contains("tool=act")).unwrap();
    assert!(line.contains("ok=false") && line.contains("Timeout"), "{line}");
}

#[cfg(feature = "http")]
#[test]
fn a_failed_list_has_the_status_of_its_error_and_its_report() {
    let site = crate::support::http::Site::new();
    let step = json!({"do": "press_key", "keys": "end", "expect": "window: Elsewhere", "within_ms": 0});
    let answer = site.post("/api/act", json!({"steps": [step]}));
    assert_eq!(answer.status, 408);
    assert_eq!(answer.json()["steps"][0]["verdict"], "failed", "{}", answer.json());
}

#[test]
fn no_tool_has_arguments_of_the_names_that_steps_use() {
    for spec in os_screen_observer::tools::all_tools() {
        let schema = spec.full_input_schema();
        for name in ["do", "expect", "within_ms", "on_fail"] {
            assert!(schema["properties"].get(name).is_none(), "{} has {name}", spec.meta.name);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn nothing_runs_after_a_failed_expectation(hopes in prop::collection::vec(prop::bool::weighted(0.75), 1..12)) {
        let world = login();
        let steps: Vec<Value> = hopes
            .iter()
            .enumerate()
            .map(|(number, met)| {
                let expected = if *met { format!("n{number}") } else { "something else".to_owned() };
                expecting(
                    fill(USERNAME, &format!("n{number}")),
                    json!({"kind": "value_equals", "selector": USERNAME, "expected": expected}),
                )
            })
            .collect();
        let reply = act(&world, json!(steps));
        let failing = hopes.iter().position(|met| !met);
        let last = failing.unwrap_or(hopes.len() - 1);
        prop_assert_eq!(value_of(&world, USERNAME), format!("n{}", last));
        prop_assert_eq!(reply["steps"].as_array().unwrap().len(), last + 1);
        prop_assert_eq!(&reply["ok"], &json!(failing.is_none()));
        prop_assert_eq!(reply["not_run"].as_u64().unwrap_or(0) as usize, hopes.len() - last - 1);
    }
}

/// A dry run tries every step as far as its tool's own dry run goes.
#[test]
fn a_dry_run_refuses_a_step_that_could_never_work() {
    let world = World::on("scenarios/login.yaml");
    let fill = |selector: &str| json!({"do": "set_value", "selector": selector, "value": "x"});
    let dry = |steps: Value| world.call("act", json!({"steps": steps, "dry_run": true}));
    let both = json!([fill("//Edit[name=\"Username\"]"), fill("//Button[name=\"Login\"]")]);
    let refused = dry(both.clone());
    assert_eq!(refused["error"]["code"], "PatternUnsupported", "{refused}");
    assert_eq!(refused["error"]["context"]["step"], "steps[1]", "{refused}");
    let first = dry(json!([fill("//Button[name=\"Login\"]")]));
    assert_eq!(first["error"]["code"], "PatternUnsupported", "{first}");
    let fine = dry(json!([fill("//Edit[name=\"Username\"]"), fill("//Edit[name=\"Password\"]")]));
    assert_eq!(fine["ok"], true, "{fine}");
    assert_eq!(world.effects(), 0);
    // The real call is stopped at the same step.
    assert_eq!(world.call("act", json!({"steps": both}))["stopped_at"], "steps[1]");
}

/// A page that has arrived needs nobody to look for it.
#[test]
fn a_page_that_a_step_opens_is_confirmed() {
    let check = |url: &str, verdict: &str| {
        let world = World::on("scenarios/web.yaml");
        let reply = act(&world, json!([{"do": "open_url", "url": url}]));
        assert_eq!(reply["verdict"], verdict, "{url}: {reply}");
    };
    check("https://shop.example/cart", "confirmed");
}

#[test]
fn an_address_without_a_scheme_is_a_bad_request() {
    let check = |url: &str, code: &str| {
        let reply = World::on("scenarios/web.yaml").call("open_url", json!({ "url": url }));
        assert_eq!(reply["error"]["code"], code, "{url}: {reply}");
    };
    check("127.0.0.1:8471/play", "BadRequest");
    check("shop.example/cart", "BadRequest");
    check("javascript:alert()", "PermissionDenied");
}
