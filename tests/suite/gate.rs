//! The gate as its user meets it: lists, budgets, consent, dry runs, redaction, the books. What was done is
//! read from the mock's action log, never from the reply.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::support::World;
use crate::support::test_platform::TestPlatform;
use os_screen_observer::app::App;
use os_screen_observer::clock::{Cancel, Clock};
use os_screen_observer::gate::{Call, Origin};
use os_screen_observer::tool::Effect;
use os_screen_observer::tool::Selection;
use os_screen_observer::tools;
use proptest::prelude::*;
use serde_json::{Value, json};

const EDIT_MENU: &str = "Window/MenuBar/MenuItem[name=\"Edit\"]";

/// A call of every tool that acts, and a world with this config in which it works.
fn acting_calls(config: Value) -> Vec<(&'static str, Value, World)> {
    tools::all_tools()
        .filter(|spec| spec.meta.effect == Effect::Input)
        .map(|spec| {
            let mut args: Value = serde_json::from_str(spec.meta.examples[0].args).unwrap();
            args.as_object_mut().unwrap().remove("dry_run");
            (spec.meta.name, args, World::build(spec.meta.examples[0].scenario, config.clone()))
        })
        .collect()
}

#[test]
fn steps_count_every_call_and_name_their_cause() {
    let world = World::new();
    assert_eq!(world.ok("list_windows", json!({}))["step_id"], 1);
    assert_eq!(world.ok("list_windows", json!({}))["caused_by_step_id"], Value::Null);
    assert_eq!(world.ok("click_at", json!({"x": 5, "y": 5}))["caused_by_step_id"], 3);
    assert_eq!(world.ok("list_windows", json!({}))["caused_by_step_id"], 3);
    assert_eq!(world.call("click_at", json!({}))["step_id"], 5);
    assert!(world.call("nothing", json!({})).get("step_id").is_none());
}

// ── lists ──────────────────────────────────────────────────────────────────────────────────────────

#[test]
fn a_denied_tool_does_nothing() {
    let world = World::with(json!({"actions": {"deny": ["type_text"]}}));
    assert_eq!(world.code("type_text", json!({"text": "x"})), "PermissionDenied");
    assert_eq!(world.effects(), 0);
}

/// H-71 on code: groups and parts
#[test]
fn a_denied_group_and_a_denied_part_deny_too() {
    let world = World::with(json!({"actions": {"deny": ["keyboard", "click_at"]}}));
    for tool in ["press_key", "type_text"] {
        let args = if tool == "press_key" { json!({"keys": "a"}) } else { json!({"text": "a"}) };
        assert_eq!(world.code(tool, args), "PermissionDenied", "{tool}");
    }
    assert_eq!(world.code("click_element", json!({"selector": EDIT_MENU})), "PermissionDenied");
    assert_eq!(world.effects(), 0);
}

/// H-72 on code: what is listed works, questions are always answered
#[test]
fn an_allow_list_alone_denies_the_rest_but_never_the_questions() {
    let world = World::with(json!({"actions": {"allow": ["get_window_structure"]}}));
    world.ok("get_window_structure", json!({}));
    assert_eq!(world.code("click_at", json!({"x": 1, "y": 1})), "PermissionDenied");
    assert_eq!(world.code("get_screen_sketch", json!({})), "PermissionDenied");
    assert_eq!(world.code("get_full_screenshot", json!({})), "PermissionDenied");
    for tool in
        ["list_windows", "get_capabilities", "get_monitors", "get_budget_status", "get_redaction_status"]
    {
        world.ok(tool, json!({}));
    }
}

#[test]
fn refused_calls_take_a_step() {
    let world = World::with(json!({"actions": {"deny": ["click_at"]}}));
    assert_eq!(world.call("click_at", json!({"x": 1, "y": 1}))["step_id"], 1);
}

// ── dry runs ───────────────────────────────────────────────────────────────────────────────────────

/// H-75 on code: every tool that acts, by its example
#[test]
fn a_dry_run_of_any_tool_sends_nothing_and_costs_nothing() {
    for (tool, mut args, world) in acting_calls(json!({"budgets": {"max_actions": 1}})) {
        args["dry_run"] = json!(true);
        assert_eq!(world.ok(tool, args)["dry_run"], true, "{tool}");
        assert_eq!(world.effects(), 0, "{tool}");
        assert_eq!(world.ok("get_budget_status", json!({}))["actions"]["used"], 0, "{tool}");
    }
}

#[test]
fn every_tool_that_acts_acts() {
    for (tool, args, world) in acting_calls(json!({})) {
        let inputs = args["steps"].as_array().map_or(1, Vec::len);
        world.ok(tool, args);
        assert_eq!(world.effects(), inputs, "{tool}");
    }
}

#[test]
fn a_dry_run_still_checks_everything() {
    let world = World::new();
    assert_eq!(
        world.code("click_element", json!({"selector": "//Nope", "dry_run": true})),
        "ElementNotFound"
    );
    assert_eq!(world.code("click_at", json!({"x": 30000, "y": 1, "dry_run": true})), "BadRequest");
    assert_eq!(world.code("press_key", json!({"keys": "ctrl+entre", "dry_run": true})), "BadRequest");
}

// ── budgets ────────────────────────────────────────────────────────────────────────────────────────

#[test]
fn the_action_budget_holds_on_every_tool() {
    for (tool, args, world) in acting_calls(json!({"budgets": {"max_actions": 0}})) {
        assert_eq!(world.code(tool, args), "BudgetExceeded", "{tool}");
        assert_eq!(world.effects(), 0, "{tool}");
    }
}

/// H-73 on code: what fails before it begins is not counted
#[test]
fn a_call_that_does_nothing_is_not_charged() {
    let world = World::with(json!({"budgets": {"max_actions": 1}}));
    assert_eq!(world.code("click_element", json!({"selector": "//Nope"})), "ElementNotFound");
    assert_eq!(world.code("click_at", json!({"x": "1"})), "BadRequest");
    world.ok("click_at", json!({"x": 1, "y": 1}));
    let refused = world.call("click_at", json!({"x": 1, "y": 1}));
    assert_eq!(refused["error"]["code"], "BudgetExceeded");
    assert_eq!(refused["error"]["context"], json!({"used": 1}));
    assert_eq!(world.effects(), 1);
}

/// H-74 on code: pictures
#[test]
fn screenshots_have_a_budget() {
    let world = World::with(json!({"budgets": {"max_screenshots": 2}}));
    world.ok("get_screenshot", json!({"window_index": 0}));
    world.ok("get_full_screenshot", json!({}));
    assert_eq!(world.code("get_screenshot", json!({})), "BudgetExceeded");
    assert_eq!(world.code("get_full_screenshot", json!({})), "BudgetExceeded");
}

/// H-74 on code: the session's time and the rate
#[test]
fn the_session_ends_and_the_rate_recovers() {
    let world = World::with(json!({"budgets": {"max_session_seconds": 100, "actions_per_minute": 1}}));
    world.ok("click_at", json!({"x": 1, "y": 1}));
    assert_eq!(world.code("click_at", json!({"x": 1, "y": 1})), "RateLimited");
    world.app.clock.advance(std::time::Duration::from_secs(61));
    world.ok("click_at", json!({"x": 1, "y": 1}));
    world.app.clock.advance(std::time::Duration::from_secs(61));
    assert_eq!(world.code("click_at", json!({"x": 1, "y": 1})), "BudgetExceeded");
    world.ok("get_window_structure", json!({}));
    world.ok("get_budget_status", json!({}));
}

#[test]
fn the_policy_samples_of_the_budget_are_answered_alike() {
    let world =
        World::with(json!({"budgets": {"max_actions": 3, "max_screenshots": 1, "actions_per_minute": 50}}));
    world.ok("click_at", json!({"x": 1, "y": 1}));
    let status = world.ok("get_budget_status", json!({}));
    assert_eq!(status["configured"], true);
    assert_eq!(status["actions"], json!({"used": 1, "limit": 3, "remaining": 2}));
    assert_eq!(status["screenshots"], json!({"used": 0, "limit": 1, "remaining": 1}));
    assert_eq!(status["vlm_tokens"], json!({"used": 0, "limit": null, "remaining": null}));
    assert_eq!(status["session_seconds"], json!({"elapsed": 0, "limit": null, "remaining": null}));
    assert_eq!(status["actions_per_minute"], json!({"in_window": 1, "limit": 50, "remaining": 49}));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    /// However many calls come at once, and whatever else fails between, no effect exceeds the budget.
    #[test]
    fn parallel_calls_never_exceed_the_budget(limit in 0usize..12, threads in 2usize..9, each in 1usize..9) {
        let world = World::with(json!({"budgets": {"max_actions": limit}}));
        let worked = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for thread in 0..threads {
                let (world, worked) = (&world, &worked);
                scope.spawn(move || {
                    for number in 0..each {
                        let args = if (thread + number) % 3 == 0 { json!({"x": "bad"}) } else { json!({"x": 1, "y": 1}) };
                        let reply = world.call("click_at", args);
                        worked.fetch_add(usize::from(reply["ok"] == true), Ordering::Relaxed);
                    }
                });
            }
        });
        let good: usize = (0..threads).map(|t| (0..each).filter(|n| (t + n) % 3 != 0).count()).sum();
        prop_assert_eq!(world.effects(), limit.min(good));
        prop_assert_eq!(worked.load(Ordering::Relaxed), limit.min(good));
    }
}

// ── consent ────────────────────────────────────────────────────────────────────────────────────────

fn guarded() -> World {
    World::with(json!({"confirmation_required": [{"role": "MenuItem", "name_regex": "(?i)^edit$"}]}))
}

/// H-66 on code: spellings of one element
#[test]
fn a_rule_sees_the_element_however_it_is_named() {
    let world = guarded();
    for args in [
        json!({"selector": EDIT_MENU}),
        json!({"selector": "//MenuItem[index=1]"}),
        json!({"selector": "//*[name~=\"E.it\"]"}),
        json!({"selector": "MenuBar > MenuItem:nth-of-type(2)"}),
        json!({"element_id": "root.0.1"}),
    ] {
        assert_eq!(world.code("click_element", args.clone()), "ConfirmationRequired", "{args}");
    }
    assert_eq!(world.code("click_at", json!({"x": 150, "y": 70})), "ConfirmationRequired");
    assert_eq!(world.code("scroll", json!({"x": 150, "y": 70})), "ConfirmationRequired");
    assert_eq!(world.effects(), 0);
    world.ok("click_element", json!({"element_id": "root.0.0"}));
    world.ok("click_at", json!({"x": 90, "y": 70}));
    assert_eq!(world.effects(), 2);
}

#[test]
fn a_rule_sees_the_element_that_keys_go_to() {
    let world = World::build(
        Some("scenarios/wizard.yaml"),
        json!({"confirmation_required": [{"role": "Window"}, {"role": "Button"}, {"role": "Dialog"}]}),
    );
    assert_eq!(world.code("press_key", json!({"keys": "enter"})), "ConfirmationRequired");
    assert_eq!(world.effects(), 0);
}

#[test]
fn the_refusal_carries_the_target() {
    let reply = guarded().call("click_element", json!({"selector": EDIT_MENU}));
    let context = &reply["error"]["context"];
    assert_eq!(context["action"], "click_element");
    assert_eq!(context["target"]["element_id"], "root.0.1");
    assert_eq!(context["target"]["selector"], EDIT_MENU);
    assert_eq!(context["target"]["bounds"], json!({"x": 138, "y": 60, "width": 56, "height": 22}));
}

#[test]
fn an_invented_token_is_no_consent() {
    let world = guarded();
    let args = json!({"selector": EDIT_MENU, "confirm_token": "ct:0123456789abcdef"});
    assert_eq!(world.code("click_element", args), "ConfirmationInvalid");
    assert_eq!(world.effects(), 0);
}

#[test]
fn a_redacted_name_does_not_slip_past_a_rule() {
    let world = World::with(json!({
        "confirmation_required": [{"name_regex": "^Edit$"}],
        "redaction": {"element_name_patterns": ["^Edit$"]},
    }));
    assert_eq!(world.code("click_element", json!({"element_id": "root.0.1"})), "ConfirmationRequired");
}

// ── redaction and untrusted text ───────────────────────────────────────────────────────────────────

/// Calls of every tool that reads, on whatever is on stage.
fn reading_calls() -> Vec<(&'static str, Value)> {
    vec![
        ("list_windows", json!({})),
        ("get_window_structure", json!({})),
        ("get_window_structure", json!({"max_nodes": 500})),
        ("find_element", json!({"selector": "//*"})),
        ("get_screen_sketch", json!({"window_index": 0, "structured": true})),
        ("get_screen_description", json!({})),
        ("get_visible_areas", json!({"window_index": 0})),
        ("get_capabilities", json!({})),
        ("find_element", json!({"selector": "//Nope"})),
        ("click_element", json!({"selector": "//Edit[name=\"PIN\"]", "dry_run": true})),
    ]
}

/// H-58, H-59 on code: the reading tools, and the replacement in the tree
#[test]
fn a_typed_secret_is_shown_nowhere() {
    let sentinel = "S3NT1NEL-9f2c";
    let world = World::on("scenarios/form.yaml");
    let tree = world.ok("get_window_structure", json!({"depth": 8})).to_string();
    assert!(tree.contains("PIN"), "the form has no secret field: {tree}");
    world.ok("click_element", json!({"selector": "//Edit[name=\"PIN\"]"}));
    world.ok("type_text", json!({"text": sentinel}));
    assert_eq!(world.effects(), 2);
    for (tool, args) in reading_calls() {
        let reply = world.reply(tool, args.clone());
        assert!(!reply.text().contains(sentinel), "{tool} {args} shows it: {}", reply.text());
    }
    let shown = world.ok("find_element", json!({"selector": "//Edit[name=\"PIN\"]"}));
    let id = shown["element_id"].as_str().unwrap();
    let node = world.ok("get_window_structure", json!({"scope": id}));
    assert_eq!(node["tree"]["value"], "[REDACTED]");
}

/// H-59 on code: selectors cannot ask for the value
#[test]
fn a_secret_value_cannot_be_probed() {
    let world = World::on("scenarios/form.yaml");
    world.ok("click_element", json!({"selector": "//Edit[name=\"PIN\"]"}));
    world.ok("type_text", json!({"text": "hunter22"}));
    for selector in ["//Edit[value*=\"hunter\"]", "//Edit[value~=\"h.*\"]", "//Edit[value=\"hunter22\"]"] {
        assert_eq!(
            world.code("find_element", json!({"selector": selector})),
            "ElementNotFound",
            "{selector}"
        );
    }
}

#[test]
fn patterns_cover_every_way_out() {
    let world = World::with(
        json!({"redaction": {"element_name_patterns": ["Zoom"], "ocr_text_patterns": ["Hello"]}}),
    );
    for (tool, args) in reading_calls() {
        let reply = world.reply(tool, args.clone());
        for word in ["Zoom", "Hello", "100%"] {
            assert!(!reply.text().contains(word), "{tool} {args} shows {word}: {}", reply.text());
        }
    }
    let status = world.ok("get_redaction_status", json!({}));
    assert_eq!((&status["active"], &status["patterns_count"]), (&json!(true), &json!(2)));
    assert!(status["applied_count"].as_u64().unwrap() > 0);
}

#[test]
fn a_redacted_tree_keeps_the_hash_of_the_real_one() {
    let world = World::with(json!({"redaction": {"element_name_patterns": ["Zoom"]}}));
    let reply = world.ok("get_window_structure", json!({"scope": "root.4"}));
    assert_eq!(
        reply["tree_hash"],
        World::new().ok("get_window_structure", json!({"scope": "root.4"}))["tree_hash"]
    );
    let zoom = &reply["tree"]["children"][1];
    assert_eq!((&zoom["name"], &zoom["value"]), (&json!("[REDACTED]"), &json!("[REDACTED]")));
    assert_eq!(reply["tree"]["children"][0]["value"], "Ln 1, Col 1");
}

#[test]
fn a_redacted_element_can_still_be_used() {
    let world = World::with(json!({"redaction": {"element_name_patterns": ["^Edit$"]}}));
    let receipt = world.ok("click_element", json!({"element_id": "root.0.1"}));
    assert!(!receipt.to_string().contains("\"Edit\""), "{receipt}");
    let again = receipt["target"]["selector"].as_str().unwrap();
    assert_eq!(world.ok("find_element", json!({"selector": again}))["element_id"], "root.0.1");
}

/// H-60 on code: a window and the screen
#[test]
fn blackened_pictures_hide_the_element() {
    let plain = World::new();
    let hidden = World::with(json!({
        "redaction": {"element_name_patterns": ["Text Editor"], "blur_screenshots": true},
    }));
    for (tool, args) in [("get_screenshot", json!({"window_index": 0})), ("get_full_screenshot", json!({}))] {
        let (plain, hidden) = (picture(&plain, tool, &args), picture(&hidden, tool, &args));
        // The document spans 80,82 to 880,596 on the screen; the picture starts at the window's corner.
        let (x, y) = (400, 100);
        assert_ne!(plain.get_pixel(x, y).0[..3], [0, 0, 0], "{tool}");
        assert_eq!(hidden.get_pixel(x, y).0[..3], [0, 0, 0], "{tool}");
        assert_eq!(plain.get_pixel(5, 5), hidden.get_pixel(5, 5), "{tool}");
    }
}

fn picture(world: &World, tool: &str, args: &Value) -> image::RgbaImage {
    let png = world.reply(tool, args.clone()).picture.expect("a picture");
    let picture = image::load_from_memory(&png.bytes).unwrap().to_rgba8();
    assert_eq!((picture.width(), picture.height()), (png.width, png.height));
    picture
}

/// H-57 on code: every tool that shows or touches the screen marks its reply, an error too.
#[test]
fn text_from_the_screen_is_marked() {
    let world = World::new();
    for spec in tools::all_tools() {
        let reply = world.call(spec.meta.name, serde_json::from_str(spec.meta.examples[0].args).unwrap());
        let marked = reply.get("untrusted") == Some(&json!(true));
        assert_eq!(marked, spec.meta.shows_the_screen(), "{}: {reply:.200}", spec.meta.name);
    }
    assert_eq!(world.call("find_element", json!({"selector": "//Nope"}))["untrusted"], true);
}

/// H-51 on code: no reply carries a terminal code, and the element is found by what is left of its name.
#[test]
fn control_sequences_never_leave() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("evil.yaml");
    let text = "name: evil\nstates:\n  s:\n    windows:\n      - uid: mock:evil\n        title: \"\\e]0;pwned\\aTitle\\e[2J\"\n        \
                tree:\n          role: Window\n          name: W\n          children:\n            - {role: Button, name: \"O\\e[31mK\\x07\", bounds: {x: 5, y: 5, width: 50, height: 20}}\n";
    std::fs::write(&file, text).unwrap();
    let world = World::new();
    let scenario = os_screen_observer::scenario::load_file(&file).unwrap();
    os_screen_observer::platform::Stage::load(&*world.mock, scenario);
    world.app.observer.forget_all();
    assert_eq!(world.ok("list_windows", json!({}))["windows"][0]["title"], "Title");
    for (tool, args) in reading_calls() {
        let reply = world.reply(tool, args);
        assert!(
            !reply.text().contains("\\u001b") && !reply.text().contains('\u{1b}'),
            "{tool}: {}",
            reply.text()
        );
    }
    // What is shown resolves, and the receipt leads back to the element.
    let receipt = world.ok("click_element", json!({"selector": "//Button[name=\"OK\"]"}));
    assert_eq!(receipt["target"]["element_id"], "root.0");
}

// ── the books ──────────────────────────────────────────────────────────────────────────────────────

#[test]
fn every_call_is_one_line_of_the_audit_log() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.log");
    let world = World::with(json!({
        "logging": {"audit": true, "audit_path": path},
        "actions": {"deny": ["press_key"]},
    }));
    world.ok("list_windows", json!({}));
    world.ok("type_text", json!({"text": "S3NT1NEL\nstep=9 forged"}));
    world.code("press_key", json!({"keys": "enter"}));
    world.ok("click_element", json!({"selector": EDIT_MENU}));
    world.code("find_element", json!({"selector": "a\nstep=7 caller=root tool=x ok=true"}));
    let log = std::fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = log.lines().collect();
    assert_eq!(lines.len(), 5, "{log}");
    assert!(lines[0].contains(" step=1 caller=test tool=list_windows ok=true"), "{log}");
    assert!(lines[1].contains("redactions=[args.text]") && !log.contains("S3NT1NEL"), "{log}");
    assert!(lines[2].contains("tool=press_key ok=false"), "{log}");
    assert!(lines[3].contains("changed=false"), "{log}");
    assert!(lines[3].contains(&format!("args.selector={EDIT_MENU}")), "{log}");
    assert!(lines[4].contains("step=5 caller=test tool=find_element ok=false"), "{log}");
}

#[test]
fn without_books_nothing_is_done() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.log");
    let world = World::with(json!({
        "logging": {"audit": true, "audit_path": &path, "audit_max_bytes": 1024, "audit_backups": 9},
    }));
    // When the log is full it must rotate, and the places of older logs are taken by folders.
    let backup = |number: u32| folder.path().join(format!("audit.log.{number}"));
    (1..=9).for_each(|number| std::fs::create_dir_all(backup(number).join("full")).unwrap());
    let mut calls = 1;
    while world.ok("list_windows", json!({})).get("warning").is_none() {
        calls += 1;
        assert!(calls < 100, "the log never filled up");
    }
    assert_eq!(world.code("click_at", json!({"x": 1, "y": 1})), "Internal");
    assert_eq!(world.effects(), 0);
    (1..=9).for_each(|number| std::fs::remove_dir_all(backup(number)).unwrap());
    world.ok("click_at", json!({"x": 1, "y": 1}));
    let files = std::iter::once(path).chain((1..=9).map(backup));
    let logs: String = files.filter_map(|file| std::fs::read_to_string(file).ok()).collect();
    assert_eq!(logs.lines().count(), calls + 2, "lines were lost: {logs}");
}

// ── a panic costs one call ─────────────────────────────────────────────────────────────────────────

/// H-39 on code: a tool that panics.
#[test]
fn a_panic_costs_one_call() {
    let clock = Clock::steered();
    let panicking = TestPlatform::on(&clock)
        .with_desktop(|desktop| desktop.monitors = Box::new(|_| panic!("on purpose")));
    let flags = os_screen_observer::config::Flags { mock: true, ..Default::default() };
    let loaded = os_screen_observer::config::load(&flags, std::iter::empty()).unwrap();
    let app = App::new(loaded, &Selection::default(), Arc::new(panicking), clock).unwrap();
    let call = |tool: &str| {
        let call = Call { tool: tool.to_owned(), args: json!({}), origin: Origin::Test };
        app.gate.pass_call(call, &Cancel::new()).value()
    };
    assert_eq!(call("get_monitors")["error"]["code"], "Internal");
    assert_eq!(call("list_windows")["count"], 3);
}

/// H-92 on code: what the file forbade is not known, so nothing acts.
#[test]
fn a_config_that_cannot_be_read_lets_nothing_act() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config.json");
    std::fs::write(&path, r#"{"actions": {"deny": ["type_text"],}}"#).unwrap();
    let flags = os_screen_observer::config::Flags { mock: true, config: Some(path), ..Default::default() };
    let loaded = os_screen_observer::config::load(&flags, std::iter::empty()).unwrap();
    let world = World::of(loaded);
    for (tool, args, _) in acting_calls(json!({})) {
        assert_eq!(world.code(tool, args), "PermissionDenied", "{tool}");
    }
    assert_eq!(world.effects(), 0);
    world.ok("get_window_structure", json!({}));
    assert!(
        world.ok("get_capabilities", json!({}))["config_error"].as_str().unwrap().contains("config.json")
    );
}

/// What the page of a person reads is no part of the session that it shows.
#[test]
fn looking_on_costs_no_budget_and_is_not_recorded() {
    let world = World::with(json!({"budgets": {"max_screenshots": 1}}));
    world.ok("trace_start", json!({}));
    let look = |tool: &str, args: serde_json::Value| {
        let call = Call { tool: tool.to_owned(), args, origin: Origin::Inspector };
        world.app.gate.pass_call(call, &Cancel::new()).value()
    };
    for _ in 0..3 {
        assert_eq!(look("get_screenshot", json!({}))["ok"], true);
    }
    world.ok("get_screenshot", json!({}));
    assert_eq!(world.code("get_screenshot", json!({})), "BudgetExceeded");
    assert_eq!(look("press_key", json!({"keys": "tab"}))["ok"], true, "acting by hand is recorded");
    let ended = world.ok("trace_stop", json!({}));
    assert_eq!(ended["step_count"], 3, "{ended}");
}
