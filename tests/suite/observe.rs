//! Watching as its user meets it: changes since a token or the last look, and snapshots of the desktop.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use crate::support::World;
use crate::support::test_platform::TestPlatform;
use os_screen_observer::app::App;
use os_screen_observer::clock::{Cancel, Clock};
use os_screen_observer::config::{self, Flags};
use os_screen_observer::error::{Error, Kind};
use os_screen_observer::gate::{Call, Origin};
use os_screen_observer::platform::Accessibility;
use os_screen_observer::tool::Selection;
use serde_json::{Value, json};

const USERNAME: &str = "//Edit[name=\"Username\"]";
const PASSWORD: &str = "//Edit[name=\"Password\"]";

fn login() -> World {
    World::on("scenarios/login.yaml")
}

fn token(world: &World) -> Value {
    world.ok("observe_window", json!({}))["tree_token"].clone()
}

fn type_into(world: &World, field: &str, text: &str) {
    world.ok("click_element", json!({"selector": field}));
    world.ok("type_text", json!({"text": text}));
}

fn keys(value: &Value) -> BTreeSet<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

// ── observe_window ─────────────────────────────────────────────────────────────────────────────────

#[test]
fn a_first_look_is_the_whole_tree() {
    let seen = login().ok("observe_window", json!({}));
    assert_eq!((&seen["format"], &seen["base_token"]), (&json!("full"), &Value::Null));
    assert_eq!(seen["tree"]["children"].as_array().unwrap().len(), 3);
    assert_eq!(keys(&seen["perf"]), BTreeSet::from(["cache", "capture_ms", "depth_used", "node_count"]));
    assert_eq!(seen["perf"]["cache"], "miss");
    assert_eq!(seen["untrusted"], true);
    assert!(seen.get("changes").is_none() && seen.get("unchanged").is_none());
}

#[test]
fn depth_cuts_the_tree_but_not_what_is_compared() {
    let world = World::new();
    let seen = world.ok("observe_window", json!({"depth": 0}));
    assert_eq!((&seen["depth_used"], &seen["depth_truncated"]), (&json!(0), &json!(true)));
    assert_eq!(seen["tree"]["child_count"], 7);
    let world = login();
    let since = world.ok("observe_window", json!({"depth": 0}))["tree_token"].clone();
    type_into(&world, USERNAME, "alice");
    let changed = world.ok("observe_window", json!({"since": since, "depth": 0}));
    assert_eq!(changed["changes"][0]["path"], "0", "{changed}");
    assert_eq!((&changed["perf"]["node_count"], &changed["perf"]["depth_used"]), (&json!(4), &json!(0)));
}

#[test]
fn a_ticked_check_box_is_a_change_although_the_hash_is_equal() {
    let world = World::on("scenarios/wizard.yaml");
    let before = world.ok("observe_window", json!({}));
    world.ok("click_element", json!({"selector": "//CheckBox"}));
    let changed = world.ok("observe_window", json!({"since": before["tree_token"]}));
    assert_eq!((&changed["unchanged"], &changed["tree_hash"]), (&json!(false), &before["tree_hash"]));
    let ticked =
        changed["changes"].as_array().unwrap().iter().find(|change| change["fields"]["selected"] == true);
    assert!(ticked.is_some(), "{changed}");
}

#[test]
fn since_tells_what_changed_and_gives_a_new_token() {
    let world = login();
    let since = token(&world);
    let same = world.ok("observe_window", json!({"since": since}));
    assert_eq!((&same["changes"], &same["unchanged"]), (&json!([]), &json!(true)));
    assert_eq!(same["base_token"], since);
    assert!(same.get("tree").is_none());
    type_into(&world, USERNAME, "alice");
    let changed = world.ok("observe_window", json!({"since": same["tree_token"]}));
    assert_eq!((&changed["format"], &changed["unchanged"]), (&json!("custom"), &json!(false)));
    assert_eq!(changed["changes"][0]["fields"]["value"], "alice", "{changed}");
    assert_eq!(world.ok("observe_window", json!({"since": changed["tree_token"]}))["unchanged"], true);
}

#[test]
fn another_state_is_told_as_the_contract_does() {
    let world = login();
    let since = token(&world);
    type_into(&world, USERNAME, "alice");
    type_into(&world, PASSWORD, "hunter2");
    world.ok("click_element", json!({"selector": "//Button[name=\"Login\"]"}));
    let changed = world.ok("observe_window", json!({"since": since}));
    let ops: Vec<String> = changed["changes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|change| format!("{} {}", change["op"].as_str().unwrap(), change["path"].as_str().unwrap()))
        .collect();
    assert_eq!(ops, ["replace ", "remove 0", "remove 1", "remove 2", "add 0"]);
    assert_eq!(changed["changes"][0]["fields"], json!({"name": "Acme — Welcome"}));
    assert_eq!(changed["changes"][4]["node"]["name"], "Hello, alice");
    assert_eq!(changed["tree_hash"], "sha1:e7106eade464b8752bdca437379f6d39e0a45dec");
}

#[test]
fn a_patch_turns_the_shown_tree_into_the_new_one() {
    let world = login();
    let before = world.ok("observe_window", json!({}));
    type_into(&world, USERNAME, "alice");
    type_into(&world, PASSWORD, "hunter2");
    world.ok("click_element", json!({"selector": "//Button[name=\"Login\"]"}));
    let changed = world.ok("observe_window", json!({"since": before["tree_token"], "format": "json-patch"}));
    assert_eq!(changed["format"], "json-patch");
    let patch: json_patch::Patch = serde_json::from_value(changed["changes"].clone()).unwrap();
    let mut tree = before["tree"].clone();
    json_patch::patch(&mut tree, &patch).unwrap();
    assert_eq!(tree, world.ok("observe_window", json!({}))["tree"]);
}

#[test]
fn unknown_foreign_and_old_tokens_give_the_whole_tree_and_say_so() {
    let world = World::new();
    let check = |args: Value| {
        let seen = world.ok("observe_window", args);
        assert_eq!((&seen["format"], &seen["base_token"]), (&json!("full"), &Value::Null));
        assert!(seen["warning"].as_str().unwrap().contains("'since'"), "{seen}");
    };
    let of_another = world.ok("observe_window", json!({"window_index": 1}))["tree_token"].clone();
    check(json!({"since": "tt:gone"}));
    check(json!({"window_index": 0, "since": of_another}));
    world.app.clock.advance(Duration::from_secs(300));
    check(json!({"window_index": 1, "since": of_another}));
}

#[test]
fn a_wrong_format_is_refused() {
    let world = World::new();
    assert_eq!(world.code("observe_window", json!({"format": "xml"})), "BadRequest");
    assert_eq!(world.code("observe_window", json!({"window_uid": "mock:gone"})), "WindowGone");
}

#[test]
fn changed_only_compares_with_the_last_look() {
    let world = login();
    let first = world.ok("observe_window", json!({"changed_only": true}));
    assert_eq!((&first["format"], &first["perf"]["cache"]), (&json!("full"), &json!("bypass")));
    let same = world.ok("observe_window", json!({"changed_only": true}));
    assert_eq!((&same["unchanged"], &same["changed_only"]), (&json!(true), &json!(true)));
    assert_eq!(same["base_token"], first["tree_token"]);
    assert!(same.get("tree").is_none() && same.get("changes").is_none() && same.get("format").is_none());
    assert_eq!(same["perf"]["cache"], "bypass");
}

#[test]
fn an_action_does_not_drop_what_changed_only_compares_with() {
    let world = login();
    world.ok("get_window_structure", json!({}));
    type_into(&world, USERNAME, "alice");
    let changed = world.ok("observe_window", json!({"changed_only": true}));
    assert_eq!((&changed["format"], &changed["unchanged"]), (&json!("custom"), &json!(false)));
    assert_eq!(changed["changes"][0]["fields"]["value"], "alice", "{changed}");
    assert_eq!(world.ok("observe_window", json!({"changed_only": true}))["unchanged"], true);
    type_into(&world, USERNAME, "bob");
    let patch = world.ok("observe_window", json!({"changed_only": true, "format": "json-patch"}));
    assert_eq!(patch["changes"][0]["path"], "/children/0/value", "{patch}");
}

#[test]
fn since_beats_changed_only() {
    let world = login();
    let since = token(&world);
    type_into(&world, USERNAME, "alice");
    world.ok("observe_window", json!({}));
    let changed = world.ok("observe_window", json!({"since": since, "changed_only": true}));
    assert_eq!((&changed["unchanged"], &changed["base_token"]), (&json!(false), &since));
    assert!(changed.get("changed_only").is_none());
}

#[test]
fn a_secret_that_changed_is_told_and_not_shown() {
    let scenario = crate::support::read("scenarios/login.yaml").replace("\"<filled>\"", "\"{text}\"");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("secret.yaml");
    std::fs::write(&file, scenario).unwrap();
    let world = World::on(file.to_str().unwrap());
    type_into(&world, PASSWORD, "first-secret");
    let before = world.ok("observe_window", json!({}));
    assert_eq!(before["tree"]["children"][1]["value"], "[REDACTED]");
    assert_eq!(world.ok("observe_window", json!({"since": before["tree_token"]}))["unchanged"], true);
    world.ok("type_text", json!({"text": "other-secret"}));
    for format in ["custom", "json-patch"] {
        let args = json!({"since": before["tree_token"], "format": format});
        let changed = world.ok("observe_window", args);
        assert_eq!(changed["unchanged"], false);
        assert_ne!(changed["tree_hash"], before["tree_hash"]);
        let want = match format {
            "custom" => json!([{"op": "replace", "path": "1", "fields": {"value": "[REDACTED]"}}]),
            _ => json!([{"op": "replace", "path": "/children/1/value", "value": "[REDACTED]"}]),
        };
        assert_eq!(changed["changes"], want);
        assert!(!changed.to_string().contains("secret"), "{changed}");
    }
}

#[test]
fn patterns_of_digits_leave_paths_alone() {
    let config = json!({"redaction": {"enabled": true, "ocr_text_patterns": ["\\d+"]}});
    let world = World::build(Some("scenarios/login.yaml"), config);
    let since = token(&world);
    type_into(&world, USERNAME, "alice");
    let changed = world.ok("observe_window", json!({"since": since}));
    assert_eq!(changed["changes"][0]["path"], "0");
    let shot = world.ok("snapshot_get", json!({"snapshot_id": "now"}));
    assert_eq!(shot["tree_hashes"]["mock:app"], changed["tree_hash"]);
}

// ── snapshots ──────────────────────────────────────────────────────────────────────────────────────

fn snapshot(world: &World) -> Value {
    world.ok("snapshot", json!({}))["snapshot_id"].clone()
}

#[test]
fn a_snapshot_holds_every_window() {
    let world = World::new();
    let taken = world.ok("snapshot", json!({}));
    assert_eq!(taken["summary"], json!({"windows": 3, "trees": 3, "unreadable": 0}));
    let got = world.ok("snapshot_get", json!({"snapshot_id": taken["snapshot_id"]}));
    assert_eq!(got["ts"], taken["ts"]);
    let windows = world.ok("list_windows", json!({}))["windows"].clone();
    for (then, now) in got["windows"].as_array().unwrap().iter().zip(windows.as_array().unwrap()) {
        assert!(then.get("index").is_none());
        let mut now = now.clone();
        now.as_object_mut().unwrap().remove("index");
        assert_eq!(*then, now);
        let uid = now["window_uid"].as_str().unwrap();
        let structure = world.ok("get_window_structure", json!({"window_uid": uid, "depth": 8}));
        assert_eq!(got["trees"][uid], structure["tree"]);
        assert_eq!(got["tree_hashes"][uid], structure["tree_hash"]);
    }
}

#[test]
fn snapshots_are_compared_window_by_window() {
    let world = login();
    let before = snapshot(&world);
    type_into(&world, USERNAME, "alice");
    let after = snapshot(&world);
    let changed = world.ok("snapshot_diff", json!({"a": before, "b": after}));
    let changes = &changed["per_window_changes"]["mock:app"];
    assert_eq!(changes["format"], "custom");
    assert_eq!(changes["changes"][0]["fields"]["value"], "alice");
    let patch = world.ok("snapshot_diff", json!({"a": before, "b": "now", "format": "json-patch"}));
    let patch = &patch["per_window_changes"]["mock:app"]["changes"];
    assert_eq!(patch[0]["path"], "/children/0/value");
    let back = world.ok("snapshot_diff", json!({"a": after, "b": after}));
    assert_eq!(back["per_window_changes"]["mock:app"]["changes"], json!([]));
}

#[test]
fn windows_that_come_and_go_are_listed() {
    let world = World::new();
    let before = snapshot(&world);
    world.ok("load_scenario", json!({"path": "scenarios/login.yaml"}));
    let changed = world.ok("snapshot_diff", json!({"a": before, "b": "now"}));
    assert_eq!(changed["windows_added"][0]["window_uid"], "mock:app");
    assert_eq!(changed["windows_removed"].as_array().unwrap().len(), 3);
    assert_eq!(changed["per_window_changes"], json!({}));
}

#[test]
fn a_missing_snapshot_is_named() {
    let world = World::new();
    let kept = snapshot(&world);
    for (tool, args) in [
        ("snapshot_get", json!({"snapshot_id": "snap:gone"})),
        ("snapshot_diff", json!({"a": kept, "b": "snap:gone"})),
        ("snapshot_diff", json!({"a": "snap:gone", "b": kept})),
    ] {
        let error = world.call(tool, args)["error"].clone();
        assert_eq!(
            (&error["code"], &error["context"]["snapshot_id"]),
            (&json!("SnapshotExpired"), &json!("snap:gone"))
        );
    }
    assert_eq!(world.code("snapshot_diff", json!({"a": kept})), "BadRequest");
}

#[test]
fn snapshots_grow_old_and_can_be_dropped() {
    let world = World::new();
    let (old, dropped) = (snapshot(&world), snapshot(&world));
    assert_eq!(world.ok("snapshot_drop", json!({"snapshot_id": dropped}))["dropped"], true);
    assert_eq!(world.ok("snapshot_drop", json!({"snapshot_id": dropped}))["dropped"], false);
    assert_eq!(world.code("snapshot_get", json!({"snapshot_id": dropped})), "SnapshotExpired");
    world.app.clock.advance(Duration::from_secs(299));
    world.ok("snapshot_get", json!({"snapshot_id": old}));
    world.app.clock.advance(Duration::from_secs(1));
    assert_eq!(world.code("snapshot_get", json!({"snapshot_id": old})), "SnapshotExpired");
}

#[test]
fn the_thirty_two_last_used_snapshots_are_kept() {
    let world = login();
    let first = snapshot(&world);
    let second = snapshot(&world);
    (0..30).for_each(|_| drop(snapshot(&world)));
    world.ok("snapshot_get", json!({"snapshot_id": first}));
    snapshot(&world);
    world.ok("snapshot_get", json!({"snapshot_id": first}));
    assert_eq!(world.code("snapshot_get", json!({"snapshot_id": second})), "SnapshotExpired");
}

#[test]
fn views_of_a_desktop_that_stands_still_are_held_once() {
    let world = World::new();
    let ids = [snapshot(&world), snapshot(&world)];
    let now = world.app.clock.now();
    let [a, b] = ids.map(|id| world.app.session.snapshots.get(id.as_str().unwrap(), now).unwrap());
    assert_eq!(a.views.len(), 3);
    for (uid, view) in &a.views {
        assert!(Arc::ptr_eq(view, &b.views[uid]), "{uid} is held twice");
    }
    let uid = a.views.keys().next().unwrap();
    let look =
        || world.ok("observe_window", json!({"window_uid": uid, "changed_only": true}))["tree_token"].clone();
    let tokens = [look(), look()];
    let [a, b] = tokens.map(|token| world.app.session.trees.get(uid, token.as_str().unwrap(), now).unwrap());
    assert!(Arc::ptr_eq(&a, &b));
}

/// The mock desktop, with one window whose application does not answer.
fn one_hangs(clock: &Clock) -> TestPlatform {
    let mut platform = TestPlatform::on(clock).with_tree(|mock, window, patience| {
        if window.title.contains("Chrome") {
            return Err(Error::new(Kind::Timeout, "the application does not answer"));
        }
        mock.tree(window, patience)
    });
    platform.has_stage = false;
    platform
}

#[test]
fn a_window_that_cannot_be_read_costs_only_its_own_entry() {
    let clock = Clock::steered();
    let loaded = config::load(&Flags { mock: true, ..Flags::default() }, std::iter::empty()).unwrap();
    let platform = Arc::new(one_hangs(&clock));
    let app = App::new(loaded, &Selection::default(), platform, clock).unwrap();
    let call = |tool: &str, args: Value| {
        let call = Call { tool: tool.to_owned(), args, origin: Origin::Test };
        app.gate.pass_call(call, &Cancel::new()).value()
    };
    let taken = call("snapshot", json!({}));
    assert_eq!(taken["summary"], json!({"windows": 3, "trees": 2, "unreadable": 1}));
    let got = call("snapshot_get", json!({"snapshot_id": taken["snapshot_id"]}));
    assert_eq!(got["windows"].as_array().unwrap().len(), 3);
    let reasons: Vec<&Value> = got["unreadable"].as_object().unwrap().values().collect();
    assert!(reasons[0].as_str().unwrap().contains("does not answer"), "{got}");
    let changed = call("snapshot_diff", json!({"a": taken["snapshot_id"], "b": "now"}));
    assert_eq!(changed["per_window_changes"].as_object().unwrap().len(), 2);
    assert_eq!(changed["unreadable"][0], got["windows"][1]["window_uid"]);
}
