//! Waiting: every condition, what a timeout tells, who wakes a wait and who ends it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::support::test_platform::TestPlatform;
use crate::support::{Client, World, project};
use os_screen_observer::app::App;
use os_screen_observer::clock::{Cancel, Clock};
use os_screen_observer::config::{self, Flags};
use os_screen_observer::gate::{Call, Origin};
use os_screen_observer::platform::mock::Mock;
use os_screen_observer::platform::unsupported::NoEvents;
use os_screen_observer::platform::{Platform, Stage};
use os_screen_observer::scenario;
use os_screen_observer::tool::Selection;
use serde_json::{Value, json};

const SLOW: &str = "scenarios/slow-load.yaml";
const LOGIN: &str = "scenarios/login.yaml";

fn wait(world: &World, condition: Value) -> Value {
    world.call("wait_for", json!({"any_of": [condition], "timeout_ms": 10_000}))
}

// ── the conditions ─────────────────────────────────────────────────────────────────────────────────

/// Waits on a desktop whose time is steered. The looks of the slow scenario take 150 ms each.
fn check_met(scenario: &str, condition: Value, detail: &Value, elapsed_ms: u64, polls: u64) {
    let got = wait(&World::on(scenario), condition.clone());
    assert_eq!(got["ok"], true, "{condition}: {got}");
    assert_eq!(got["matched_index"], 0, "{condition}");
    assert_eq!(got["matched_detail"], *detail, "{condition}");
    assert_eq!(
        (&got["elapsed_ms"], &got["polls"]),
        (&json!(elapsed_ms), &json!(polls)),
        "{condition}: {got}"
    );
}

#[test]
fn an_element_appears() {
    check_met(
        SLOW,
        json!({"type": "element_appears", "selector": "//Button[name=\"Export\"]"}),
        &json!({"element_id": "root.3", "bounds": {"x": 386, "y": 490, "width": 110, "height": 32}}),
        3150,
        4,
    );
}

#[test]
fn an_element_disappears() {
    let gone = json!({});
    check_met(SLOW, json!({"type": "element_disappears", "selector": "//ProgressBar"}), &gone, 2150, 2);
    // The next element moves up to the place of the one that went; the wait is not deceived.
    check_met(SLOW, json!({"type": "element_disappears", "element_id": "root.0"}), &gone, 2150, 2);
    check_met(SLOW, json!({"type": "element_disappears", "element_id": "root.99"}), &gone, 150, 1);
}

#[test]
fn a_text_becomes_visible() {
    let margin = json!({"source": "tree", "element_id": "root.0.2"});
    check_met(SLOW, json!({"type": "text_visible", "regex": "^Margin 18 %$"}), &margin, 3150, 4);
}

#[test]
fn a_tree_changes() {
    let world = World::on(SLOW);
    let met = wait(&world, json!({"type": "tree_changes"}));
    assert_eq!((&met["elapsed_ms"], &met["polls"]), (&json!(2150), &json!(2)), "{met}");
    let detail = &met["matched_detail"];
    assert_eq!(detail["window_uid"], "mock:report");
    assert!(detail["tree_hash"].as_str().unwrap().starts_with("sha1:"));
}

#[test]
fn a_tree_changes_since_a_token() {
    let world = World::on(LOGIN);
    let token = world.ok("get_window_structure", json!({}))["tree_token"].clone();
    let since = json!({"type": "tree_changes", "since": token});
    assert_eq!(wait(&world, since.clone())["error"]["code"], "Timeout");
    world.ok("click_element", json!({"selector": "//Edit"}));
    assert_eq!(wait(&world, since)["polls"], 1);
    let unknown = wait(&world, json!({"type": "tree_changes", "since": "tt:0123456789abcdef"}));
    assert_eq!(unknown["error"]["code"], "SnapshotExpired", "{unknown}");
}

#[test]
fn a_window_appears_or_disappears() {
    let world = World::on(SLOW);
    world.ok("wait_for", json!({"any_of": [{"type": "text_visible", "regex": "Margin"}]}));
    world.ok("click_element", json!({"selector": "//Button[name=\"Export\"]"}));
    let met = wait(&world, json!({"type": "window_appears", "title_regex": "exported$"}));
    assert_eq!(met["matched_detail"], json!({"window_uid": "mock:report", "title": "Report exported"}));
    let gone = wait(&world, json!({"type": "window_disappears", "window_uid": "mock:other"}));
    assert_eq!(gone["matched_detail"], json!({"window_uid": "mock:other"}));
}

#[test]
fn the_focus_changes_only_when_it_does() {
    let world = World::new();
    let focus = json!({"type": "focused_changes"});
    let still = wait(&world, focus.clone());
    assert_eq!(still["error"]["code"], "Timeout");
    assert!(still["last_observation"][0]["focused"]["focused_uid"].as_str().unwrap().starts_with("mock:0:"));
}

#[test]
fn a_predicate_holds() {
    let text = json!({"kind": "text_visible", "regex": "Margin", "mode": "tree"});
    let seen = json!({"source": "tree", "element_id": "root.0.2"});
    check_met(SLOW, text.clone(), &seen, 3150, 4);
    check_met(SLOW, json!({"type": "predicate", "predicate": text}), &seen, 3150, 4);
    check_met(
        SLOW,
        json!({"kind": "element_absent", "selector": "//ProgressBar"}),
        &json!({"count": 0}),
        2150,
        2,
    );
}

#[test]
fn the_first_of_several_conditions_counts() {
    let world = World::on(SLOW);
    let met = world.ok(
        "wait_for",
        json!({"any_of": [
            {"type": "text_visible", "regex": "never"},
            {"type": "window_appears", "title_regex": "Quarterly"},
            {"type": "element_appears", "selector": "//Button"},
        ]}),
    );
    assert_eq!(met["matched_index"], 1);
    assert_eq!(met["untrusted"], true);
}

// ── what was not met ───────────────────────────────────────────────────────────────────────────────

fn check_timeout(condition: Value, pointer: &str, expected: &Value) {
    let got = wait(&World::on(LOGIN), condition.clone());
    assert_eq!(got["error"]["code"], "Timeout", "{condition}: {got}");
    assert_eq!(got["matched_index"], Value::Null);
    assert_eq!((&got["elapsed_ms"], &got["polls"]), (&json!(10_000), &json!(2)), "{got}");
    let seen = &got["last_observation"][0];
    assert_eq!(seen["index"], 0);
    assert_eq!(seen.pointer(pointer), Some(expected), "{condition}: {seen}");
}

#[test]
fn a_timeout_tells_what_was_there_instead() {
    check_timeout(
        json!({"type": "element_appears", "selector": "Window/Button[name=\"Log in\"]"}),
        "/nearest/0/selector",
        &json!("Window[name=\"Acme Login\"]/Button[name=\"Login\"]"),
    );
    check_timeout(
        json!({"type": "element_disappears", "selector": "//Button"}),
        "/still_there",
        &json!("root.2"),
    );
    check_timeout(json!({"type": "text_visible", "regex": "Welcome"}), "/elements_searched", &json!(4));
    check_timeout(
        json!({"type": "window_appears", "title_regex": "Welcome"}),
        "/windows/0/title",
        &json!("Acme Login"),
    );
    check_timeout(
        json!({"type": "window_disappears", "window_uid": "mock:app"}),
        "/still_there",
        &json!("mock:app"),
    );
    check_timeout(
        json!({"type": "tree_changes"}),
        "/tree_hash",
        &json!("sha1:fea1872051222609de110f1d998873b68a4e8faf"),
    );
    check_timeout(json!({"type": "focused_changes"}), "/focused/focused_uid", &json!("mock:app"));
    check_timeout(
        json!({"kind": "value_equals", "selector": "//Edit[name=\"Username\"]", "expected": "alice"}),
        "/observed/actual",
        &json!(""),
    );
}

#[test]
fn what_is_told_is_bounded() {
    let many = vec![json!({"type": "text_visible", "regex": "never"}); 64];
    let got = World::on(LOGIN).call("wait_for", json!({"any_of": many, "timeout_ms": 0}));
    let seen = got["last_observation"].as_array().unwrap();
    assert_eq!(seen.len(), 17);
    assert_eq!(seen[16], json!({"not_shown": 48}));
    assert_eq!((&got["elapsed_ms"], &got["polls"]), (&json!(0), &json!(1)));
}

#[test]
fn secrets_are_not_found_by_waiting_for_them() {
    let world = World::on(LOGIN);
    world.ok("click_element", json!({"selector": "//Edit[name=\"Password\"]"}));
    world.ok("type_text", json!({"text": "hunter2"}));
    let filled = wait(&world, json!({"type": "text_visible", "regex": "<filled>"}));
    assert_eq!(filled["error"]["code"], "Timeout", "{filled}");
}

// ── what cannot be waited for ──────────────────────────────────────────────────────────────────────

fn check_refused(args: Value, words: &str) {
    let got = World::new().call("wait_for", args.clone());
    assert_eq!(got["error"]["code"], "BadRequest", "{args}: {got}");
    let message = got["error"]["message"].as_str().unwrap();
    assert!(message.contains(words), "{args}: {message}");
}

fn check_condition_refused(condition: Value, words: &str) {
    let good = json!({"type": "window_appears", "title_regex": "Notepad"});
    check_refused(json!({"any_of": [good, condition]}), &format!("any_of[1]{words}"));
}

#[test]
fn a_condition_that_could_never_match_is_refused_with_its_place() {
    check_condition_refused(json!({}), ": 'type' is required");
    check_condition_refused(json!({"type": "window_apears"}), ": 'type' is unknown: 'window_apears'");
    check_condition_refused(json!({"type": "element_appears"}), ": 'selector' is required");
    check_condition_refused(
        json!({"type": "element_appears", "selector": "Window["}),
        ": 'selector' is invalid",
    );
    check_condition_refused(
        json!({"type": "element_appears", "selector": 1}),
        ": 'selector' must be a string",
    );
    check_condition_refused(
        json!({"type": "element_disappears"}),
        ": 'selector' or 'element_id' is required",
    );
    check_condition_refused(
        json!({"type": "text_visible", "regexp": "a"}),
        ": 'regexp' is unknown; did you mean 'regex'?",
    );
    check_condition_refused(
        json!({"type": "window_disappears"}),
        ": 'window_uid' or 'title_regex' is required",
    );
    check_condition_refused(json!({"type": "predicate"}), ": 'predicate' must be an object");
    check_condition_refused(json!({"kind": "nope"}), ": 'kind' is invalid: unknown predicate kind 'nope'");
    check_condition_refused(
        json!({"type": "predicate", "predicate": {"kind": "text_visible"}}),
        ".predicate: 'regex' is required",
    );
    check_condition_refused(
        json!({"kind": "screenshot_similar", "reference_path": "../x.png"}),
        ": 'reference_path' cannot be read",
    );
    // What is found out only by looking ends the wait all the same.
    let text_file = json!({"kind": "screenshot_similar", "reference_path": "Cargo.toml"});
    check_refused(json!({"any_of": [text_file]}), "any_of[0]: this is not a complete PNG");
}

/// H-43 on code: patterns of conditions.
#[test]
fn hostile_patterns_are_refused_quickly_or_match_quickly() {
    let began = Instant::now();
    for pattern in ["(?:a{1000}){1000}", "(?=a", "(a)\\1(", "(", &"a".repeat(10 << 10)] {
        check_condition_refused(json!({"type": "text_visible", "regex": pattern}), ": 'regex'");
        check_condition_refused(json!({"type": "window_appears", "title_regex": pattern}), ": 'title_regex'");
    }
    for pattern in ["(a+)+$", "(x*)*y", "(?=a)", "(a)\\1"] {
        // Reading pixels takes its own time.
        let world = World::with(json!({"ocr": {"enabled": false}}));
        let got = world.call("wait_for", json!({"any_of": [{"type": "text_visible", "regex": pattern}]}));
        assert_ne!(got["error"]["code"], "BadRequest", "{got}");
    }
    assert!(began.elapsed() < Duration::from_secs(4), "{:?}", began.elapsed());
}

/// H-48 on code: too many conditions, no pause, no end.
#[test]
fn numbers_have_limits() {
    let one = json!({"type": "text_visible", "regex": "never"});
    check_refused(json!({}), "argument 'any_of' is required");
    check_refused(json!({"any_of": []}), "at least one condition");
    check_refused(
        json!({"any_of": vec![one.clone(); 1000]}),
        "argument 'any_of' may have at most 64 entries, this has 1000",
    );
    check_refused(json!({"any_of": [one], "timeout_ms": -1}), "argument 'timeout_ms' must be between 0");
    check_refused(json!({"any_of": [one], "poll_ms": -1}), "argument 'poll_ms' must be between 0");
    check_refused(
        json!({"any_of": [one], "timeout_ms": "1"}),
        "argument 'timeout_ms' must be a whole number",
    );
    let there = json!({"type": "window_appears", "title_regex": "."});
    let odd = World::new().ok("wait_for", json!({"any_of": [there], "poll_ms": 1.5}));
    assert_eq!(odd["warning"], "poll_ms 1.5 was rounded to 2");
    let capped = World::new()
        .call("wait_for", json!({"any_of": [one], "timeout_ms": 1_000_000_000_000_u64, "poll_ms": 0}));
    assert_eq!(capped["elapsed_ms"], 60_000, "{capped}");
    let world = World::with(json!({"wait_for": {"max_timeout_ms": 100}}));
    let warned = world.ok(
        "wait_for",
        json!({"any_of": [{"type": "window_appears", "title_regex": "."}], "timeout_ms": 200}),
    );
    assert_eq!(warned["warning"], "timeout_ms 200 was shortened to 100");
}

#[test]
fn a_named_window_must_be_there() {
    let world = World::new();
    let element = json!({"type": "element_disappears", "selector": "//Button"});
    let other = json!({"type": "window_disappears", "window_uid": "x"});
    assert_eq!(world.code("wait_for", json!({"any_of": [element], "window_uid": "x"})), "WindowGone");
    world.ok("wait_for", json!({"any_of": [other], "window_uid": "x"}));
}

// ── a window that holds still ──────────────────────────────────────────────────────────────────────

fn check_idle(world: &World, args: Value, expected: &Value, elapsed_ms: u64) {
    let got = world.call("wait_idle", args.clone());
    let code = got.pointer("/error/code").unwrap_or(&got["ok"]);
    assert_eq!((code, &got["elapsed_ms"]), (expected, &json!(elapsed_ms)), "{args}: {got}");
}

#[test]
fn idle_is_counted_from_the_last_change() {
    // Every look takes 150: seen at 150, the same at 1150. Changes come at 2000, 2500 and 3000; the last
    // is seen at 3150, and 2500 later nothing is different.
    check_idle(&World::on(SLOW), json!({"quiet_ms": 1000, "timeout_ms": 10_000}), &json!(true), 1300);
    check_idle(&World::on(SLOW), json!({"quiet_ms": 2500, "timeout_ms": 10_000}), &json!(true), 5800);
    check_idle(&World::on(SLOW), json!({"quiet_ms": 2500, "timeout_ms": 3000}), &json!("Timeout"), 3150);
    check_idle(&World::new(), json!({}), &json!(true), 750);
    check_idle(&World::new(), json!({"quiet_ms": 0}), &json!(true), 0);
    check_idle(&World::new(), json!({"timeout_ms": 50}), &json!("Timeout"), 50);
}

#[test]
fn a_window_that_closes_is_gone() {
    let world = two_windows();
    world.ok("click_element", json!({"selector": "//Button"}));
    let uid = json!({"window_uid": "mock:b", "quiet_ms": 2000});
    assert_eq!(world.code("wait_idle", uid), "WindowGone");
    let world = two_windows();
    world.ok("click_element", json!({"selector": "//Button"}));
    let args = json!({"any_of": [{"type": "text_visible", "regex": "never"}], "window_uid": "mock:b"});
    assert_eq!(world.code("wait_for", args), "WindowGone");
}

#[test]
fn a_closing_window_takes_its_elements_and_the_focus_with_it() {
    for (condition, detail) in [
        (json!({"type": "element_disappears", "selector": "//Text"}), json!({"window_gone": true})),
        (json!({"type": "tree_changes"}), json!({"window_uid": "mock:b", "window_gone": true})),
        (json!({"type": "window_disappears", "window_uid": "mock:b"}), json!({"window_uid": "mock:b"})),
    ] {
        let world = two_windows();
        world.ok("click_element", json!({"selector": "//Button"}));
        let got = world.ok("wait_for", json!({"any_of": [condition], "window_uid": "mock:b"}));
        assert_eq!(got["matched_detail"], detail);
        assert_eq!(got["elapsed_ms"], 1000);
    }
}

/// A press on the button closes the other window after a second.
fn two_windows() -> World {
    let world = World::new();
    let text = "
states:
  both:
    windows:
      - {uid: 'mock:a', title: A, tree: {role: Window, children: [{role: Button, name: Close, id: close}]}}
      - {uid: 'mock:b', title: B, bounds: {x: 900, width: 200, height: 200}, tree: {role: Window, children: [{role: Text, name: Here}]}}
  one:
    windows:
      - {uid: 'mock:a', title: A, tree: {role: Window, children: [{role: Button, name: Close, id: close}]}}
reactions:
  - {on: {tool: click_element, target_id: close}, after_ms: 1000, transition_to: one}
";
    world.mock.load(scenario::load_str(text, "two").unwrap());
    world
}

// ── real time: who wakes a wait, who ends it ───────────────────────────────────────────────────────

/// A server in this process whose clock nobody steers.
fn live(scenario_file: &str) -> Arc<App> {
    let flags = Flags { mock: true, ..Flags::default() };
    let loaded = config::load(&flags, std::iter::empty()).unwrap();
    let clock = Clock::real();
    let mock = Mock::new(clock.clone());
    mock.load(scenario::load_file(&project().join(scenario_file)).unwrap());
    Arc::new(App::new(loaded, &Selection::default(), Arc::new(mock), clock).unwrap())
}

fn call(app: &App, tool: &str, args: Value, cancel: &Cancel) -> Value {
    app.gate.pass_call(Call { tool: tool.to_owned(), args, origin: Origin::Test }, cancel).value()
}

/// Waits a minute on another thread, does something meanwhile, and returns the answer and how long after
/// the deed it came.
fn while_waiting(app: &Arc<App>, condition: Value, deed: impl FnOnce(&App, &Cancel)) -> (Value, Duration) {
    let cancel = Cancel::new();
    let (his_app, his_cancel) = (app.clone(), cancel.clone());
    let waiter = std::thread::spawn(move || {
        call(&his_app, "wait_for", json!({"any_of": [condition], "timeout_ms": 60_000}), &his_cancel)
    });
    std::thread::sleep(Duration::from_millis(100));
    deed(app, &cancel);
    let began = Instant::now();
    (waiter.join().unwrap(), began.elapsed())
}

#[test]
fn an_act_of_another_call_wakes_the_wait() {
    let app = live(LOGIN);
    let typed = json!({"kind": "value_equals", "selector": "//Edit[name=\"Username\"]", "expected": "alice"});
    let (got, after) = while_waiting(&app, typed, |app, _| {
        let focus = json!({"selector": "//Edit[name=\"Username\"]"});
        assert_eq!(call(app, "click_element", focus, &Cancel::new())["ok"], true);
        assert_eq!(call(app, "type_text", json!({"text": "alice"}), &Cancel::new())["ok"], true);
    });
    assert_eq!(got["matched_detail"], json!({"actual": "alice"}), "{got}");
    assert!(after < Duration::from_secs(5), "{after:?}");
    assert!(got["polls"].as_u64().unwrap() <= 4, "{got}");
}

#[test]
fn a_click_into_a_field_is_a_change_of_focus() {
    let (got, _) = while_waiting(&live(LOGIN), json!({"type": "focused_changes"}), |app, _| {
        let focus = json!({"selector": "//Edit[name=\"Username\"]"});
        assert_eq!(call(app, "click_element", focus, &Cancel::new())["ok"], true);
    });
    let expected = json!({"focused_uid": "mock:app", "focused_selector": "Window[name=\"Acme Login\"]/Edit[name=\"Username\"]"});
    assert_eq!(got["matched_detail"], expected, "{got}");
}

#[test]
fn a_new_scenario_wakes_the_wait() {
    let appears = json!({"type": "window_appears", "title_regex": "Quarterly"});
    let (got, after) = while_waiting(&live(LOGIN), appears, |app, _| {
        assert_eq!(call(app, "load_scenario", json!({"path": SLOW}), &Cancel::new())["ok"], true);
    });
    assert_eq!(got["ok"], true, "{got}");
    assert!(after < Duration::from_secs(5), "{after:?}");
}

#[test]
fn time_wakes_the_wait() {
    let app = live(SLOW);
    let began = Instant::now();
    let gone = json!({"any_of": [{"type": "element_disappears", "selector": "//ProgressBar"}]});
    let got = call(&app, "wait_for", gone, &Cancel::new());
    assert_eq!((&got["ok"], &got["polls"]), (&json!(true), &json!(2)), "{got}");
    let took = began.elapsed();
    assert!(Duration::from_millis(1900) < took && took < Duration::from_secs(20), "{took:?}");
}

/// H-33 on code: the wait itself hears it.
#[test]
fn cancelling_ends_a_wait_at_once() {
    let never = json!({"type": "element_appears", "selector": "//Slider"});
    let (got, after) = while_waiting(&live(LOGIN), never, |_, cancel| cancel.fire());
    assert_eq!(got["error"]["code"], "Cancelled", "{got}");
    assert!(after < Duration::from_secs(5), "{after:?}");
}

#[test]
fn many_waits_hold_up_nobody() {
    let app = live(LOGIN);
    let cancel = Cancel::new();
    let waiters: Vec<_> = (0..8)
        .map(|_| {
            let (app, cancel) = (app.clone(), cancel.clone());
            std::thread::spawn(move || {
                let args =
                    json!({"any_of": [{"type": "text_visible", "regex": "never"}], "timeout_ms": 60_000});
                call(&app, "wait_for", args, &cancel)
            })
        })
        .collect();
    for _ in 0..20 {
        assert_eq!(call(&app, "click_at", json!({"x": 300, "y": 210}), &Cancel::new())["ok"], true);
    }
    cancel.fire();
    waiters.into_iter().for_each(|waiter| assert_eq!(waiter.join().unwrap()["error"]["code"], "Cancelled"));
}

/// H-33 on stdio: a wait that is cancelled.
#[test]
fn a_cancelled_wait_of_a_client_is_not_answered_and_the_next_call_is() {
    let mut client = Client::mock(&[]);
    let never = json!({"any_of": [{"type": "text_visible", "regex": "never"}], "timeout_ms": 60_000});
    let id = client.post("tools/call", json!({"name": "wait_for", "arguments": never}));
    assert_eq!(client.data("list_windows", json!({}))["count"], 3, "a wait holds nobody up");
    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}}));
    let began = Instant::now();
    assert_eq!(client.data("list_windows", json!({}))["count"], 3);
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
    let late = client.receive_within(Duration::from_millis(300));
    assert!(late.is_none(), "a cancelled call was answered: {late:?}");
    client.close_input();
    let (status, _) = client.wait(Duration::from_secs(20)).expect("the wait went on");
    assert!(status.success());
}

#[test]
fn a_platform_without_a_desktop_refuses_to_wait() {
    use os_screen_observer::platform::no_desktop::Absent;
    let absent = Absent::new("no desktop here");
    assert!(absent.watch().generation().is_err());
    assert!(absent.watch().wait_change(0, Duration::from_secs(60), &Cancel::new()).is_err());
    assert!(absent.stage().is_none());
}

// ── a desktop that tells nothing ───────────────────────────────────────────────────────────────────

fn check_polled(tool: &str, args: Value, elapsed_ms: u64, polls: Option<u64>) {
    let flags = Flags { mock: true, ..Flags::default() };
    let loaded = config::load(&flags, std::iter::empty()).unwrap();
    let clock = Clock::steered();
    let eventless = TestPlatform::on(&clock).with_watch(NoEvents);
    let app = App::new(loaded, &Selection::default(), Arc::new(eventless), clock).unwrap();
    let got = call(&app, tool, args, &Cancel::new());
    let wanted = (Some(elapsed_ms), polls);
    assert_eq!((got["elapsed_ms"].as_u64(), got["polls"].as_u64()), wanted, "{got}");
}

#[test]
fn a_desktop_without_events_is_looked_at_again_and_again() {
    let never = json!([{"type": "text_visible", "regex": "never"}]);
    check_polled("wait_for", json!({"any_of": never, "timeout_ms": 1000}), 1000, Some(6));
    check_polled("wait_for", json!({"any_of": never, "timeout_ms": 1000, "poll_ms": 0}), 1000, Some(21));
    check_polled("wait_idle", json!({}), 750, None);
}
