//! Windows as a whole, programs, the clipboard and the pointer, on the mock desktop.

use crate::support::World;
use serde_json::{Value, json};

const APPS: &str = "scenarios/apps.yaml";

fn titles(world: &World) -> Vec<String> {
    let windows = world.ok("list_windows", json!({}))["windows"].clone();
    windows.as_array().unwrap().iter().map(|window| window["title"].as_str().unwrap().to_owned()).collect()
}

fn error(world: &World, tool: &str, args: Value) -> Value {
    let reply = world.call(tool, args.clone());
    assert_eq!(reply["ok"], false, "{tool} {args} answered {reply}");
    reply["error"].clone()
}

// ── windows ────────────────────────────────────────────────────────────────────────────────────────

#[track_caller]
fn check_window(action: Value, place: &str, expected: Value) {
    let world = World::on(APPS);
    let mut args = json!({"title": "notes"});
    args.as_object_mut().unwrap().extend(action.as_object().unwrap().clone());
    let acted = world.ok("window_action", args);
    assert_eq!(acted["reached"], true, "{acted}");
    assert_eq!(acted.pointer(place), Some(&expected), "{acted}");
}

#[test]
fn every_action_reaches_its_state() {
    check_window(json!({"action": "focus"}), "/final/focused", json!(true));
    check_window(json!({"action": "minimize"}), "/final/minimized", json!(true));
    check_window(json!({"action": "maximize"}), "/final/maximized", json!(true));
    check_window(json!({"action": "restore"}), "/final/minimized", json!(false));
    check_window(json!({"action": "move", "x": -5, "y": 9}), "/final/bounds/x", json!(-5));
    check_window(json!({"action": "resize", "width": 320, "height": 240}), "/final/bounds/width", json!(320));
    check_window(json!({"action": "close"}), "/closed", json!(true));
}

#[test]
fn a_window_is_named_in_four_ways() {
    for name in [
        json!({"window_uid": "mock:notes"}),
        json!({"title": "SHOPPING"}),
        json!({"title_regex": "^Shop.*Notes$"}),
        json!({"process": "Notes.exe"}),
        json!({"process": "notes.exe", "title": "shop"}),
    ] {
        let world = World::on(APPS);
        let mut args = json!({"action": "minimize"});
        args.as_object_mut().unwrap().extend(name.as_object().unwrap().clone());
        assert_eq!(world.ok("window_action", args)["window_uid"], "mock:notes", "{name}");
    }
}

#[test]
fn none_or_several_change_nothing_and_are_listed() {
    let world = World::new();
    let none = error(&world, "window_action", json!({"action": "close", "title": "Excel"}));
    assert_eq!(none["code"], "WindowGone");
    assert_eq!(none["context"]["windows"].as_array().unwrap().len(), 3, "{none}");
    let several = error(&world, "window_action", json!({"action": "close", "title_regex": "."}));
    assert_eq!((&several["code"], &several["context"]["count"]), (&json!("BadRequest"), &json!(3)));
    assert!(several["context"]["matches"][0]["window_uid"].is_string(), "{several}");
    assert_eq!(titles(&world).len(), 3);
}

#[test]
fn what_makes_no_sense_names_its_argument() {
    let world = World::on(APPS);
    for (args, field) in [
        (json!({"action": "close"}), "window_uid"),
        (json!({"action": "move", "title": "n", "x": 1}), "x"),
        (json!({"action": "resize", "title": "n", "width": 5}), "width"),
        (json!({"action": "resize", "title": "n", "width": 0, "height": 5}), "width"),
        (json!({"action": "shade", "title": "n"}), "action"),
        (json!({"action": "close", "title_regex": "("}), "title_regex"),
        (json!({"action": "close", "title": "n", "timeout_ms": 60001}), "timeout_ms"),
    ] {
        let refused = error(&world, "window_action", args.clone());
        assert_eq!(refused["code"], "BadRequest", "{args}");
        assert_eq!(refused["context"]["field"], field, "{args}: {refused}");
    }
}

#[test]
fn a_dry_run_closes_nothing_and_a_desktop_that_refuses_is_believed() {
    let world = World::on(APPS);
    let dry = world.ok("window_action", json!({"action": "close", "title": "notes", "dry_run": true}));
    assert_eq!((&dry["reached"], &dry["dry_run"]), (&json!(false), &json!(true)));
    assert_eq!(titles(&world).len(), 1);
    let default = World::new();
    let kept = default.ok("window_action", json!({"action": "close", "title": "Notepad"}));
    assert_eq!(kept["reached"], false);
    assert!(kept["note"].as_str().unwrap().contains("never changes"), "{kept}");
}

/// By the window's title, and by a button in it that would do the same.
#[test]
fn rules_about_the_window_and_its_buttons_are_asked() {
    let calculator = json!({"action": "close", "title": "calculator"});
    for (rule, action, needs) in [
        (json!({"name_regex": "^Calculator$"}), "close", true),
        (json!({"role": "Window", "name_regex": "(?i)calc"}), "move", true),
        (json!({"role": "Button", "name_regex": "(?i)^close$"}), "close", false),
        (json!({"name_regex": "Notes"}), "close", false),
    ] {
        let world = World::build(Some(APPS), json!({"confirmation_required": [rule]}));
        world.call("launch_app", json!({"program": "org.acme.Player"}));
        let launch = world.call("launch_app", json!({"program": "calculator"}));
        if launch["ok"] == false {
            assert_eq!(launch["error"]["code"], "ConfirmationRequired", "{launch}");
            continue;
        }
        let mut args = calculator.clone();
        args["action"] = json!(action);
        args["x"] = json!(1);
        args["y"] = json!(1);
        let reply = world.call("window_action", args.clone());
        assert_eq!(reply["error"]["code"] == "ConfirmationRequired", needs, "{rule} {reply}");
    }
}

#[test]
fn a_confirmed_close_closes() {
    let world = World::build(
        Some(APPS),
        json!({"confirmation_required": [{"name_regex": "Notes$", "role": "Window"}]}),
    );
    let close = json!({"action": "close", "title": "notes"});
    assert_eq!(world.code("window_action", close.clone()), "ConfirmationRequired");
    let token = world.ok("propose_action", json!({"action": "window_action", "args": close.clone()}));
    let mut confirmed = close;
    confirmed["confirm_token"] = token["confirm_token"].clone();
    assert_eq!(world.ok("window_action", confirmed)["closed"], true);
}

// ── programs ───────────────────────────────────────────────────────────────────────────────────────

#[test]
fn apps_are_listed_running_and_installed() {
    let world = World::on(APPS);
    let apps = world.ok("list_apps", json!({}));
    assert_eq!(apps["running"][0]["name"], "notes.exe");
    assert_eq!(apps["running"][0]["windows"][0]["window_uid"], "mock:notes");
    let ids: Vec<&str> =
        apps["installed"].as_array().unwrap().iter().map(|app| app["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["calculator", "org.acme.Player"]);
    let few = world.ok("list_apps", json!({"limit": 1}));
    assert_eq!((few["installed"].as_array().unwrap().len(), &few["not_listed"]), (1, &json!(1)));
    let one = world.ok("list_apps", json!({"filter": "MEDIA"}));
    assert_eq!(one["installed"][0]["program"], "player.exe");
    assert_eq!(one["running"], json!([]));
}

#[test]
fn a_program_is_started_by_id_or_name_and_its_window_is_told() {
    for program in ["calculator", "calculator.exe"] {
        let world = World::on(APPS);
        let launched = world.ok("launch_app", json!({"program": program, "args": ["--big"]}));
        assert_eq!((&launched["executed"], &launched["window_found"]), (&json!(true), &json!(true)));
        assert_eq!(launched["window"]["window_uid"], "mock:calculator", "{launched}");
        assert_eq!(launched["pid"], 4200);
        assert_eq!(titles(&world), ["Shopping — Notes", "Calculator"]);
        world.ok("click_element", json!({"selector": "//Button[name=\"Clear\"]"}));
    }
}

#[test]
fn a_slow_program_is_waited_for_as_long_as_allowed() {
    let world = World::on(APPS);
    let early = world.ok("launch_app", json!({"program": "player.exe", "timeout_ms": 1000}));
    assert_eq!((&early["window_found"], &early["running"]), (&json!(false), &json!(true)), "{early}");
    let world = World::on(APPS);
    let matching = json!({"title_regex": "^Play"});
    let late = world.ok("launch_app", json!({"program": "player.exe", "match": matching}));
    assert_eq!(late["window"]["title"], "Player", "{late}");
    let world = World::on(APPS);
    let other = json!({"program": "calculator", "match": {"title": "Player"}, "timeout_ms": 50});
    assert_eq!(world.ok("launch_app", other)["window_found"], false);
    let quick = world.ok("launch_app", json!({"program": "org.acme.Player", "wait_for_window": false}));
    assert!(quick.get("window_found").is_none(), "{quick}");
}

#[test]
fn keys_do_not_follow_a_program_that_shows_no_window() {
    let check = |step: serde_json::Value, expected: &str| {
        let world = World::on(APPS);
        let launch = json!({"do": "launch_app", "program": "player.exe", "timeout_ms": 1000});
        let reply = world.call("act", json!({"steps": [launch, step]}));
        let code = reply["error"]["code"].as_str().unwrap_or("done");
        assert_eq!(code, expected, "{reply}");
        let typed = world.mock.action_log().iter().any(|action| format!("{action:?}").contains("XYZ"));
        assert_eq!(typed, expected == "done", "{reply}");
    };
    check(json!({"do": "type_text", "text": "XYZ"}), "WindowGone");
    check(json!({"do": "type_text", "text": "XYZ", "window_uid": "mock:notes"}), "done");
}

#[test]
fn a_closed_program_can_be_started_again() {
    let world = World::on(APPS);
    for _ in 0..2 {
        world.ok("launch_app", json!({"program": "calculator"}));
        world.ok("window_action", json!({"action": "close", "process": "calculator.exe"}));
        assert_eq!(titles(&world), ["Shopping — Notes"]);
    }
}

#[test]
fn the_mock_never_starts_a_process() {
    for (scenario, word) in [(None, "declares no apps"), (Some(APPS), "calculator, org.acme.Player")] {
        let world = World::build(scenario, json!({"launch": {"programs": "any"}}));
        let refused = error(&world, "launch_app", json!({"program": "/bin/sh"}));
        assert_eq!(refused["code"], "BadRequest");
        assert!(refused["message"].as_str().unwrap().contains(word), "{refused}");
    }
}

#[test]
fn the_config_and_dry_runs_keep_programs_from_starting() {
    let world =
        World::build(Some(APPS), json!({"launch": {"programs": "none", "allow": ["org.acme.Player"]}}));
    assert_eq!(world.code("launch_app", json!({"program": "calculator"})), "PermissionDenied");
    world.ok("launch_app", json!({"program": "org.acme.Player"}));
    let world = World::on(APPS);
    let dry = world.ok("launch_app", json!({"program": "calculator", "dry_run": true}));
    assert_eq!((&dry["executed"], dry.get("pid")), (&json!(false), None));
    assert_eq!(titles(&world).len(), 1);
    let denied = World::build(Some(APPS), json!({"actions": {"deny": ["programs"]}}));
    assert_eq!(denied.code("launch_app", json!({"program": "calculator"})), "PermissionDenied");
}

#[test]
fn arguments_of_a_launch_have_limits() {
    let world = World::on(APPS);
    for (args, field) in [
        (json!({"program": "x".repeat(2049)}), "program"),
        (json!({"program": "calculator", "args": vec!["a"; 101]}), "args"),
        (json!({"program": "calculator", "args": ["a\u{0}b"]}), "args"),
        (json!({"program": "calculator", "args": [7]}), "args[0]"),
        (json!({"program": "calculator", "cwd": "/no/such/folder"}), "cwd"),
        (json!({"program": "calculator", "cwd": "relative"}), "cwd"),
        (json!({"program": "calculator", "timeout_ms": 120001}), "timeout_ms"),
        (json!({"program": "calculator", "match": {"title_regex": "("}}), "title_regex"),
        (json!({"program": "calculater"}), "program"),
    ] {
        let refused = error(&world, "launch_app", args.clone());
        assert_eq!(refused["context"]["field"], field, "{args}: {refused}");
    }
    assert_eq!(titles(&world).len(), 1);
}

#[test]
fn a_program_is_judged_by_its_name() {
    let rules = json!({"confirmation_required": [{"role": "Application", "name_regex": "(?i)player"}]});
    let world = World::build(Some(APPS), rules);
    let player = json!({"program": "player.exe"});
    assert_eq!(world.code("launch_app", player.clone()), "ConfirmationRequired");
    world.ok("launch_app", json!({"program": "calculator"}));
    let proposed = world.ok("propose_action", json!({"action": "launch_app", "args": player.clone()}));
    let mut confirmed = player;
    confirmed["confirm_token"] = proposed["confirm_token"].clone();
    assert_eq!(world.ok("launch_app", confirmed)["executed"], true);
}

// ── clipboard ──────────────────────────────────────────────────────────────────────────────────────

#[test]
fn what_is_set_is_got_and_pasted() {
    let world = World::on(APPS);
    assert!(world.ok("clipboard_get", json!({})).get("text").is_none());
    assert_eq!(world.ok("clipboard_set", json!({"text": "Zoë 漢字"}))["characters"], 6);
    let got = world.ok("clipboard_get", json!({}));
    assert_eq!((&got["text"], &got["untrusted"]), (&json!("Zoë 漢字"), &json!(true)));
    world.ok("key_into_element", json!({"selector": "//Document", "keys": "ctrl+v"}));
    world.ok("find_element", json!({"selector": "//Document[value=\"Zoë 漢字\"]"}));
    world.ok("clipboard_set", json!({"text": "other", "dry_run": true}));
    assert_eq!(world.ok("clipboard_get", json!({}))["text"], "Zoë 漢字");
}

#[test]
fn keys_copy_and_cut_what_is_selected_but_nothing_secret() {
    let world = World::on(APPS);
    let press = |selector: &str, keys: &str| {
        world.ok("key_into_element", json!({"selector": selector, "keys": keys}));
    };
    let text = || world.ok("clipboard_get", json!({})).get("text").cloned().unwrap_or_default();
    press("//Edit[name=\"Title\"]", "ctrl+c");
    assert_eq!(text(), Value::Null, "nothing was selected");
    press("//Edit[name=\"Title\"]", "ctrl+a");
    press("//Edit[name=\"Title\"]", "ctrl+x");
    assert_eq!(text(), "Shopping");
    world.ok("find_element", json!({"selector": "//Edit[name=\"Title\"][value=\"\"]"}));
    press("//Edit[name=\"PIN\"]", "ctrl+a");
    press("//Edit[name=\"PIN\"]", "ctrl+c");
    assert_eq!(text(), "Shopping", "a secret field gives nothing away");
}

#[test]
fn secrets_are_hidden_when_got_and_bound_ones_are_not_set() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("secrets");
    std::fs::write(&file, "BANK=S3NT1NEL-9f2c\nPIN=S3NT1NEL-1111\n").unwrap();
    #[cfg(unix)]
    std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    let audit = folder.path().join("audit.log");
    let config = json!({
        "secrets": {"file": file, "allow": {"PIN": [{"role": "Edit"}]}},
        "logging": {"audit": true, "audit_path": audit},
    });
    let world = World::build(Some(APPS), config);
    world.ok("trace_start", json!({}));
    world.ok("clipboard_set", json!({"text": {"secret": "BANK"}}));
    assert_eq!(world.ok("clipboard_get", json!({}))["text"], "[REDACTED]");
    world.ok("clipboard_set", json!({"text": "a private word"}));
    assert_eq!(world.code("clipboard_set", json!({"text": {"secret": "PIN"}})), "PermissionDenied");
    let stopped = world.ok("trace_stop", json!({}));
    let trace = std::fs::read_to_string(stopped["path"].as_str().unwrap()).unwrap_or_else(|_| {
        std::fs::read_to_string(std::path::Path::new(stopped["path"].as_str().unwrap()).join("trace.jsonl"))
            .unwrap()
    });
    let books = trace.clone() + &std::fs::read_to_string(&audit).unwrap();
    assert!(!books.contains("S3NT1NEL"), "{books}");
    let audit = std::fs::read_to_string(&audit).unwrap();
    assert!(audit.contains("clipboard_set") && !audit.contains("a private word"), "{audit}");
    assert!(!trace.contains("clipboard_get"), "{trace}");
}

#[test]
fn a_long_text_is_fitted_or_refused() {
    let world = World::on(APPS);
    world.ok("clipboard_set", json!({"text": "word ".repeat(5000)}));
    let fitted = world.ok("clipboard_get", json!({"max_tokens": 200}));
    assert_eq!((&fitted["truncated"], &fitted["characters"]), (&json!(true), &json!(25000)));
    let refused = error(&world, "clipboard_set", json!({"text": "é".repeat((256 << 10) + 1)}));
    assert_eq!(refused["context"]["field"], "text");
}

// ── pointer ────────────────────────────────────────────────────────────────────────────────────────

#[test]
fn the_pointer_is_where_it_was_moved() {
    let world = World::on(APPS);
    world.ok("hover_at", json!({"x": 100, "y": 110, "hover_ms": 0}));
    let cursor = world.ok("get_cursor", json!({}));
    assert_eq!((&cursor["x"], &cursor["y"]), (&json!(100), &json!(110)));
    assert_eq!(cursor["window"]["window_uid"], "mock:notes");
    assert_eq!((&cursor["element"]["role"], &cursor["element"]["name"]), (&json!("Edit"), &json!("Title")));
    world.ok("click_element", json!({"ref": cursor["element"]["ref"]}));
    world.ok("hover_at", json!({"x": 1800, "y": 1000, "hover_ms": 0}));
    let nowhere = world.ok("get_cursor", json!({}));
    assert!(nowhere.get("window").is_none() && nowhere.get("element").is_none(), "{nowhere}");
}

#[test]
fn clicks_and_drags_take_the_pointer_along() {
    let world = World::on(APPS);
    let at = |world: &World| {
        let cursor = world.ok("get_cursor", json!({}));
        (cursor["x"].as_i64().unwrap(), cursor["y"].as_i64().unwrap())
    };
    assert_eq!(at(&world), (960, 540));
    world.ok("click_element", json!({"selector": "//Edit[name=\"Title\"]"}));
    assert_eq!(at(&world), (400, 115));
    world.ok("drag", json!({"from": {"x": 10, "y": 10}, "to": {"x": 30, "y": 40}, "duration_s": 0}));
    assert_eq!(at(&world), (30, 40));
}
