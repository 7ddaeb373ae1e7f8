//! Text found by reading pixels, and clicks on it.

use crate::support::World;
use os_screen_observer::model::input::Act;
use os_screen_observer::platform::Stage;
use os_screen_observer::scenario;
use serde_json::{Value, json};

/// A desktop with these windows, written as a scenario has them.
fn world(windows: &str, config: Value) -> World {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("words.yaml");
    std::fs::write(&file, format!("states: {{one: {{windows: [{windows}]}}}}")).unwrap();
    let world = World::with(config);
    Stage::load(&*world.mock, scenario::load_file(&file).unwrap());
    world
}

/// Buttons of one size, each at its place in a window that begins at 100,100.
fn buttons(labels: &[(&str, i32, i32)]) -> String {
    let button = |(label, x, y): &(&str, i32, i32)| {
        format!("{{role: Button, name: {label}, bounds: {{x: {x}, y: {y}, width: 120, height: 30}}}}")
    };
    let children: Vec<String> = labels.iter().map(button).collect();
    format!(
        "{{uid: one, title: Words, bounds: {{x: 100, y: 100, width: 600, height: 400}}, \
         tree: {{role: Window, name: Words, bounds: {{x: 100, y: 100, width: 600, height: 400}}, children: [{}]}}}}",
        children.join(", ")
    )
}

const DIALOG: &[(&str, i32, i32)] =
    &[("Harbour", 120, 140), ("Meadow", 120, 200), ("Meadow", 320, 200), ("Lantern", 120, 260)];

fn dialog() -> World {
    world(&buttons(DIALOG), json!({}))
}

fn texts(found: &Value) -> Vec<&str> {
    found["matches"].as_array().unwrap().iter().map(|piece| piece["text"].as_str().unwrap()).collect()
}

fn clicks(world: &World) -> Vec<(i32, i32)> {
    let clicked = |act: &Act| match act {
        Act::Click { at: Some(at), .. } => Some((at.x, at.y)),
        _ => None,
    };
    world.mock.action_log().iter().filter_map(clicked).collect()
}

/// The click goes into this box of the desktop.
#[track_caller]
fn check_click(world: &World, args: Value, (x, y): (i32, i32)) -> Value {
    let reply = world.ok("click_text", args.clone());
    let at = *clicks(world).last().unwrap_or_else(|| panic!("{args} clicked nothing: {reply}"));
    let inside = (x..x + 120).contains(&at.0) && (y..y + 30).contains(&at.1);
    assert!(inside, "{args} clicked {at:?}, not in the box at {x},{y}: {reply}");
    reply
}

#[track_caller]
fn check_refused(world: &World, args: Value, code: &str, words: &[&str]) -> Value {
    let before = world.effects();
    let reply = world.call("click_text", args.clone());
    assert_eq!(reply["error"]["code"], code, "{args} answered {reply}");
    let text = reply["error"].to_string();
    words.iter().for_each(|word| assert!(text.contains(word), "'{word}' is not in {text}"));
    assert_eq!(world.effects(), before, "{args} sent something");
    reply
}

// ── finding ────────────────────────────────────────────────────────────────────────────────────────

#[test]
fn text_is_found_where_it_is_drawn() {
    let world = dialog();
    let found = world.ok("ocr_find", json!({"text": "lantern"}));
    let piece = &found["matches"][0];
    assert_eq!(
        (&found["count"], &piece["text"], &found["untrusted"]),
        (&json!(1), &json!("Lantern"), &json!(true))
    );
    let (x, y) = (piece["x"].as_i64().unwrap(), piece["y"].as_i64().unwrap());
    assert!((120..240).contains(&x) && (260..290).contains(&y), "{piece}");
    assert!(piece.get("line").is_none() && piece["confidence"].as_i64().unwrap() > 30, "{piece}");
}

#[test]
fn everything_is_told_in_reading_order_when_nothing_is_asked_for() {
    let found = dialog().ok("ocr_find", json!({}));
    let all = texts(&found).join(" ");
    assert!(all.ends_with("Harbour Meadow Meadow Lantern"), "{all}");
}

#[test]
fn a_region_is_read_as_the_screen_shows_it() {
    let world = dialog();
    let left = json!({"x": 110, "y": 190, "width": 160, "height": 60});
    let found = world.ok("ocr_find", json!({"text": "meadow", "region": left}));
    assert_eq!((texts(&found), &found["area"]), (vec!["Meadow"], &left));
    let right = json!({"x": 310, "y": 190, "width": 160, "height": 60});
    let in_window = world.ok("ocr_find", json!({"text": "meadow", "region": right, "window_uid": "one"}));
    assert_eq!((texts(&in_window), &in_window["area"]), (vec!["Meadow"], &right));
    assert_eq!(world.ok("ocr_find", json!({"text": "lantern", "region": right}))["count"], 0);
    let outside =
        json!({"text": "a", "window_uid": "one", "region": {"x": 5, "y": 5, "width": 9, "height": 9}});
    assert_eq!(world.code("ocr_find", outside), "BadRequest");
    let nowhere = json!({"text": "a", "region": {"x": -900, "y": 5, "width": 9, "height": 9}});
    assert_eq!(world.code("ocr_find", nowhere), "BadRequest");
}

#[test]
fn ways_to_match() {
    let world = World::new();
    let count = |args: Value| world.ok("ocr_find", args)["count"].as_u64().unwrap();
    assert_eq!(count(json!({"text": "HELLO, world", "window_index": 0})), 1);
    assert_eq!(count(json!({"text": "HELLO, world", "window_index": 0, "case_sensitive": true})), 0);
    assert_eq!(count(json!({"text": "Edit", "window_index": 0, "match": "exact"})), 1);
    assert_eq!(count(json!({"text": "test document", "window_index": 0, "match": "exact"})), 1);
    assert_eq!(count(json!({"text": "test docu", "window_index": 0, "match": "exact"})), 0);
    assert_eq!(count(json!({"text": r"line \d", "window_index": 0, "match": "regex"})), 1);
    let word = json!({"text": "content", "window_index": 0, "match": "exact", "group_lines": false});
    assert_eq!(texts(&world.ok("ocr_find", word)), ["content"]);
}

#[test]
fn too_many_are_counted_and_none_has_neighbours() {
    let world = dialog();
    let cut = world.ok("ocr_find", json!({"text": "meadow", "max_results": 1}));
    assert_eq!((&cut["count"], &cut["not_listed"]), (&json!(1), &json!(1)));
    let miss = world.ok("ocr_find", json!({"text": "Lantcrn"}));
    assert_eq!((&miss["count"], &miss["nearest"][0]["text"]), (&json!(0), &json!("Lantern")));
}

#[test]
fn bad_requests_name_the_argument_and_the_place() {
    let world = dialog();
    let error = world.call("ocr_find", json!({"text": "ab(", "match": "regex"}));
    assert_eq!(
        (&error["error"]["code"], &error["error"]["context"]["field"]),
        (&json!("BadRequest"), &json!("text"))
    );
    assert!(error["error"]["message"].as_str().unwrap().contains("character 3"), "{error}");
    for wrong in [
        json!({"text": " "}),
        json!({"text": "a", "match": "fuzzy"}),
        json!({"text": "a".repeat(1001)}),
        json!({"text": "(?:a{1000}){1000}", "match": "regex"}),
        json!({"text": "a", "psm": "14"}),
        json!({"text": "a", "region": {"x": 0, "y": 0, "width": "0", "height": 5}}),
    ] {
        assert_eq!(world.code("ocr_find", wrong.clone()), "BadRequest", "{wrong}");
    }
    assert_eq!(world.code("ocr_find", json!({"text": "a", "window_uid": "gone"})), "WindowGone");
}

// ── clicking ───────────────────────────────────────────────────────────────────────────────────────

#[test]
fn the_middle_of_the_text_is_clicked_and_the_element_there_is_told() {
    let world = dialog();
    let reply = check_click(&world, json!({"text": "Lantern"}), (120, 260));
    assert!(reply["dry_run"] == false && reply.get("of").is_none(), "{reply}");
    assert_eq!(reply["target"]["selector"], "Window[name=\"Words\"]/Button[name=\"Lantern\"]", "{reply}");
    world.ok("click_element", json!({"ref": reply["target"]["ref"]}));
}

#[test]
fn a_reaction_is_a_change() {
    let world = World::on("scenarios/login.yaml");
    world.ok("click_element", json!({"selector": "//Edit[name=\"Username\"]"}));
    world.ok("type_text", json!({"text": "alice"}));
    world.ok("click_element", json!({"selector": "//Edit[name=\"Password\"]"}));
    world.ok("type_text", json!({"text": "secret"}));
    let reply = world.ok("click_text", json!({"text": "Login", "match": "exact"}));
    assert_eq!((&reply["changed"], &reply["scenario_reaction"]), (&json!(true), &json!(true)), "{reply}");
    let read = world.ok("ocr_find", json!({"text": "alice"}));
    assert_eq!(read["count"], 1, "{read}");
}

#[test]
fn one_of_several_is_clicked_when_it_is_said_which() {
    let world = dialog();
    check_click(&world, json!({"text": "meadow"}), (120, 200));
    let second = check_click(&world, json!({"text": "meadow", "nth": 2}), (320, 200));
    assert_eq!((&second["nth"], &second["of"]), (&json!(2), &json!(2)));
    check_click(&world, json!({"text": "meadow", "match": "exact", "occurrence": "first"}), (120, 200));
    check_click(
        &world,
        json!({"text": "Meadow", "match": "exact", "occurrence": "nth", "nth": 2}),
        (320, 200),
    );
    world.ok("click_text", json!({"text": "Meadow", "match": "exact", "occurrence": "best"}));
}

#[test]
fn what_is_not_sure_is_not_clicked() {
    let world = dialog();
    let several =
        check_refused(&world, json!({"text": "meadow", "match": "exact"}), "Ambiguous", &["2 times"]);
    assert_eq!(several["error"]["context"]["candidates"].as_array().unwrap().len(), 2);
    check_refused(&world, json!({"text": "meadow", "nth": 3}), "Ambiguous", &["2 times", "nth"]);
    let miss =
        check_refused(&world, json!({"text": "Lantcrn"}), "ElementNotFound", &["Lantcrn", "candidates"]);
    assert_eq!(miss["error"]["context"]["candidates"][0]["text"], "Lantern");
    check_refused(&world, json!({"text": "a", "occurrence": "nth"}), "BadRequest", &["nth"]);
    check_refused(
        &world,
        json!({"text": "a", "occurrence": "best", "nth": 2}),
        "BadRequest",
        &["occurrence"],
    );
    check_refused(&world, json!({"text": "[", "match": "regex"}), "BadRequest", &["character 1"]);
}

#[test]
fn a_miss_names_eight_at_most() {
    let reply = World::new().call("click_text", json!({"text": "zebra crossing", "window_index": 0}));
    assert_eq!(reply["error"]["context"]["candidates"].as_array().unwrap().len(), 8, "{reply}");
}

#[test]
fn a_dry_run_finds_and_does_nothing() {
    let world = dialog();
    let reply = world.ok("click_text", json!({"text": "Harbour", "dry_run": true}));
    assert_eq!((&reply["found"]["text"], &reply["changed"]), (&json!("Harbour"), &json!(false)));
    assert_eq!(world.effects(), 0);
}

#[test]
fn buttons_and_counts_go_along() {
    let world = dialog();
    world.ok("click_text", json!({"text": "Harbour", "button": "right", "count": 2}));
    let log = world.mock.action_log();
    assert!(
        matches!(log.last(), Some(Act::Click { button, count: 2, .. }) if format!("{button:?}") == "Right"),
        "{log:?}"
    );
}

#[test]
fn a_covered_window_is_read_and_not_clicked() {
    let front = "{uid: two, title: Front, focused: true, bounds: {x: 100, y: 180, width: 600, height: 60}, \
                 tree: {role: Window, name: Front, bounds: {x: 100, y: 180, width: 600, height: 60}}}";
    let world = world(&format!("{front}, {}", buttons(DIALOG)), json!({}));
    assert_eq!(world.ok("ocr_find", json!({"text": "meadow", "window_uid": "one"}))["count"], 2);
    let covered =
        check_refused(&world, json!({"text": "meadow", "window_uid": "one"}), "WindowOccluded", &["two"]);
    assert_eq!(covered["error"]["suggested_next_tool"], "bring_to_foreground");
    check_click(&world, json!({"text": "Lantern", "window_uid": "one"}), (120, 260));
}

// ── what is guarded ────────────────────────────────────────────────────────────────────────────────

#[test]
fn what_is_redacted_can_neither_be_read_nor_found() {
    let hidden =
        json!({"redaction": {"element_name_patterns": ["Harbour"], "ocr_text_patterns": ["Lan\\w+"]}});
    let world = world(&buttons(DIALOG), hidden);
    for text in ["Harbour", "Lantern", "REDACTED", "a"] {
        for region in [json!(null), json!({"x": 0, "y": 0, "width": 700, "height": 500})] {
            let found = world.ok("ocr_find", json!({"text": text, "region": region})).to_string();
            assert!(!found.contains("Harbour") && !found.contains("Lantern"), "{text}: {found}");
        }
    }
    let everything = json!({"text": ".*", "match": "regex"});
    assert!(!world.ok("ocr_find", everything).to_string().contains("REDACTED"));
    check_refused(&world, json!({"text": "Harbour"}), "ElementNotFound", &[]);
    check_refused(&world, json!({"text": "Lan", "match": "regex"}), "ElementNotFound", &[]);
    check_refused(&world, json!({"text": "REDACTED"}), "ElementNotFound", &[]);
}

#[test]
fn a_hidden_window_is_not_read_on_the_screen_either() {
    let world = world(&buttons(DIALOG), json!({"redaction": {"window_title_patterns": ["Words"]}}));
    let all = json!({"region": {"x": 0, "y": 0, "width": 900, "height": 600}});
    assert_eq!(world.ok("ocr_find", all)["count"], 0);
}

#[test]
fn what_lies_under_the_point_is_judged() {
    let rules = json!({"confirmation_required": [{"role": "Button", "name_regex": "Lantern"}]});
    let world = world(&buttons(DIALOG), rules);
    check_click(&world, json!({"text": "Harbour"}), (120, 140));
    let lantern = json!({"text": "Lantern"});
    check_refused(&world, lantern.clone(), "ConfirmationRequired", &["Lantern"]);
    let proposed = world.ok("propose_action", json!({"action": "click_text", "args": lantern}));
    let with_token = json!({"text": "Lantern", "confirm_token": proposed["confirm_token"]});
    check_click(&world, with_token.clone(), (120, 260));
    check_refused(&world, with_token, "ConfirmationInvalid", &[]);
}

#[test]
fn denying_clicks_denies_this_one() {
    let world = world(&buttons(DIALOG), json!({"actions": {"deny": ["click_at"]}}));
    check_refused(&world, json!({"text": "Lantern"}), "PermissionDenied", &[]);
}

#[test]
fn without_an_engine_it_is_said() {
    let world = world(&buttons(DIALOG), json!({"ocr": {"enabled": false}}));
    check_refused(&world, json!({"text": "Lantern"}), "PlatformUnsupported", &["ocr.enabled"]);
    assert_eq!(world.code("ocr_find", json!({"text": "Lantern"})), "PlatformUnsupported");
}
