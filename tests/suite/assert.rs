//! Claims about the desktop: every kind, what is observed, and what cannot be judged.

use std::path::Path;

use crate::support::World;
use os_screen_observer::model::image::Picture;
use os_screen_observer::platform::Capture;
use os_screen_observer::platform::Desktop;
use serde_json::{Value, json};

const LOGIN: &str = "scenarios/login.yaml";
const HASH: &str = "sha1:c6d1c5dcac4098d1f2611051fa1372c9311d05f0";

fn judge(world: &World, predicate: Value) -> Value {
    let answer = world.ok("assert_state", json!({"predicate": predicate}));
    assert_eq!(answer["untrusted"], true);
    let results = answer["results"].as_array().unwrap();
    assert_eq!(results.len(), 1);
    assert_eq!(answer["all_passed"], results[0]["passed"]);
    results[0].clone()
}

// ── kinds ──────────────────────────────────────────────────────────────────────────────────────────

/// Judges on the default desktop and compares what was observed, key by key of `observed`.
fn check(predicate: Value, passed: bool, observed: Value) {
    let got = judge(&World::new(), predicate.clone());
    assert_eq!(got["passed"], passed, "{predicate}: {got}");
    assert_eq!(got.get("error_code"), None, "{predicate}: {got}");
    let mut args = predicate.clone();
    args.as_object_mut().unwrap().remove("kind");
    assert_eq!((&got["kind"], &got["args"]), (&predicate["kind"], &args));
    match observed {
        Value::Object(wanted) => {
            for (key, value) in wanted {
                assert_eq!(got["observed"][&key], value, "{predicate}: {got}");
            }
        }
        words => {
            let text = got["observed"].as_str().unwrap();
            assert!(text.contains(words.as_str().unwrap()), "{predicate}: {text}");
        }
    }
}

#[test]
fn elements_exist_or_not() {
    let edit = "Window/MenuBar/MenuItem[name=\"Edit\"]";
    check(
        json!({"kind": "element_exists", "selector": edit}),
        true,
        json!({"count": 1, "first_id": "root.0.1"}),
    );
    check(json!({"kind": "element_exists", "selector": "//MenuItem"}), true, json!({"count": 5}));
    let miss = json!({"count": 0, "first_id": null, "miss": "step 2 'Nope' matches no element below the one that step 1 matches"});
    check(json!({"kind": "element_exists", "selector": "Window/Nope"}), false, miss);
    check(json!({"kind": "element_absent", "selector": "Window/Nope"}), true, json!({"count": 0}));
    check(json!({"kind": "element_absent", "selector": "//MenuItem"}), false, json!({"count": 5}));
}

/// Of several elements that match, it counts what holds of all alike, or of the only one that shows.
#[test]
fn several_matches_are_told() {
    let all = json!({"kind": "element_state", "selector": "//MenuItem", "enabled": true});
    check(all, true, json!({"enabled": true, "matches": 5}));
    let none = json!({"kind": "element_state", "selector": "//MenuItem", "enabled": false});
    check(none, false, json!({"enabled": true, "matches": 5}));
    let got = judge(&World::new(), json!({"kind": "value_equals", "selector": "//Text", "expected": "100%"}));
    assert_eq!((&got["passed"], &got["error_code"]), (&json!(false), &json!("Ambiguous")), "{got}");
    let (matches, candidates) = (&got["observed"]["matches"], &got["observed"]["candidates"]);
    assert!(matches.as_u64().unwrap() > 1 && candidates.as_array().unwrap().len() <= 3, "{got}");
    assert!(candidates[0].as_str().unwrap().contains("Text"), "{got}");
}

#[test]
fn values_are_compared() {
    let zoom = "Window/StatusBar/Text[name=\"Zoom\"]";
    let observed = json!({"actual": "100%"});
    check(json!({"kind": "value_equals", "selector": zoom, "expected": "100%"}), true, observed.clone());
    check(json!({"kind": "value_equals", "selector": zoom, "expected": "100"}), false, observed.clone());
    check(json!({"kind": "value_equals", "selector": zoom, "expected": 100}), false, observed.clone());
    check(json!({"kind": "value_matches", "selector": zoom, "regex": "^[0-9]+%$"}), true, observed.clone());
    check(json!({"kind": "value_matches", "selector": zoom, "regex": "^[a-z]"}), false, observed);
    check(
        json!({"kind": "value_equals", "selector": "//MenuItem", "expected": ""}),
        false,
        json!({"actual": null}),
    );
}

#[test]
fn text_is_looked_for() {
    let found = json!({"source": "tree", "element_id": "root.1"});
    check(json!({"kind": "text_visible", "regex": "Hello"}), true, found.clone());
    check(json!({"kind": "text_visible", "regex": "Hello", "mode": "auto"}), true, found.clone());
    check(json!({"kind": "text_visible", "regex": "Hello", "mode": "tree"}), true, found);
    check(
        json!({"kind": "text_visible", "regex": "^Bye", "mode": "tree"}),
        false,
        json!("no element's name"),
    );
}

/// Whether or not this build reads pictures, a text that is not there is not found.
#[test]
fn text_that_no_picture_has_is_not_found_in_it() {
    let got = judge(&World::new(), json!({"kind": "text_visible", "regex": "zyxwvut", "mode": "ocr"}));
    assert_eq!(got["passed"], false, "{got}");
    assert!(got.get("error_code").is_none_or(|code| code == "PredicateUnsupported"), "{got}");
}

#[test]
fn windows_are_looked_for() {
    let notepad = json!({"title": "Untitled — Notepad"});
    check(json!({"kind": "window_focused", "title_regex": "Notepad"}), true, notepad.clone());
    check(json!({"kind": "window_focused", "title_regex": "Chrome"}), false, notepad);
    check(json!({"kind": "window_exists", "title_regex": "Chrome$"}), true, json!({}));
    check(json!({"kind": "window_exists", "title_regex": "Safari"}), false, json!("none of the 3 windows"));
    check(json!({"kind": "window_exists", "window_uid": "no:such"}), false, json!("none of the 3 windows"));
}

#[test]
fn a_window_can_be_named() {
    let world = World::new();
    let windows = world.ok("list_windows", json!({}))["windows"].clone();
    let uid = &windows[1]["window_uid"];
    let exists = judge(&world, json!({"kind": "window_exists", "window_uid": uid}));
    assert_eq!(exists["observed"]["title"], windows[1]["title"]);
    let hash = judge(&world, json!({"kind": "tree_hash_equals", "expected_hash": HASH, "window_uid": uid}));
    assert_eq!(hash["passed"], true);
    let both = json!({"kind": "window_exists", "window_uid": uid, "title_regex": "Notepad"});
    assert_eq!(judge(&world, both)["passed"], false);
}

#[test]
fn the_tree_hash_is_compared() {
    check(json!({"kind": "tree_hash_equals", "expected_hash": HASH}), true, json!({"actual": HASH}));
    check(json!({"kind": "tree_hash_equals", "expected_hash": "sha1:0"}), false, json!({"actual": HASH}));
}

#[test]
fn all_must_hold() {
    let (good, bad) = (json!({"kind": "text_visible", "regex": "Hello"}), json!({"kind": "nope"}));
    for (predicates, all_passed) in [(json!([good, good]), true), (json!([good, bad]), false)] {
        let got = World::new().ok("assert_state", json!({"predicates": predicates}));
        assert_eq!(got["all_passed"], all_passed);
        assert_eq!(got["results"].as_array().unwrap().len(), 2);
    }
}

// ── what cannot be judged does not hold ────────────────────────────────────────────────────────────

fn check_unjudged(predicate: Value, code: &str, words: &str) {
    let got = judge(&World::new(), predicate.clone());
    assert_eq!((&got["passed"], &got["error_code"]), (&json!(false), &json!(code)), "{predicate}: {got}");
    let text = got["observed"].as_str().unwrap();
    assert!(text.contains(words), "{predicate}: {text}");
}

#[test]
fn a_claim_that_makes_no_sense_fails_and_says_why() {
    check_unjudged(
        json!({"kind": "nope"}),
        "PredicateUnsupported",
        "known kinds are element_exists, element_absent,",
    );
    check_unjudged(json!({}), "BadRequest", "'kind' is required");
    check_unjudged(json!({"kind": 1}), "BadRequest", "'kind' must be a string");
    check_unjudged(json!({"kind": "element_exists"}), "BadRequest", "'selector' is required");
    check_unjudged(
        json!({"kind": "element_exists", "selector": "a["}),
        "BadRequest",
        "'selector' is invalid",
    );
    check_unjudged(
        json!({"kind": "element_absent", "selector": "a["}),
        "BadRequest",
        "'selector' is invalid",
    );
    check_unjudged(json!({"kind": "text_visible", "regex": "("}), "BadRequest", "unclosed group");
    check_unjudged(json!({"kind": "text_visible", "regex": "(?:a{1000}){1000}"}), "BadRequest", "'regex'");
    check_unjudged(json!({"kind": "text_visible", "regex": "a", "mode": "eye"}), "BadRequest", "one of tree");
    // What was not understood is no verdict.
    let unknown = json!({"kind": "text_visible", "regex": "a", "text": "b"});
    check_refused(json!({"predicates": [unknown]}), "'text' is unknown");
    check_unjudged(json!({"kind": "window_exists"}), "BadRequest", "'title_regex' or 'window_uid'");
    check_unjudged(json!({"kind": "window_focused"}), "BadRequest", "'title_regex' or 'window_uid'");
    let gone = json!({"kind": "element_absent", "selector": "//Button", "window_uid": "no:such"});
    check_unjudged(gone, "WindowGone", "no:such");
    let missing = json!({"kind": "value_equals", "selector": "//Nope", "expected": "a"});
    check_unjudged(missing, "ElementNotFound", "no element matches '//Nope'");
    check_unjudged(json!({"kind": "text_visible", "regex": "a".repeat(20_000)}), "BadRequest", "16384 bytes");
}

fn check_refused(args: Value, words: &str) {
    let got = World::new().call("assert_state", args);
    assert_eq!(got["error"]["code"], "BadRequest");
    assert!(got["error"]["message"].as_str().unwrap().contains(words), "{got}");
}

#[test]
fn nothing_to_check_is_an_error() {
    check_refused(json!({}), "'predicates' is required");
    check_refused(json!({"predicate": []}), "'predicates' is required");
    check_refused(json!({"predicates": []}), "'predicates' is required");
    check_refused(json!({"predicate": "text"}), "'predicate[0]' must be an object");
    check_refused(json!({"predicates": [1]}), "'predicates[0]' must be an object");
    check_refused(json!({"predicates": vec![json!({}); 257]}), "may have at most 256 entries, this has 257");
}

#[test]
fn secrets_cannot_be_probed_for() {
    let world = World::on(LOGIN);
    world.ok("click_element", json!({"selector": "//Edit[name=\"Password\"]"}));
    world.ok("type_text", json!({"text": "hunter2"}));
    let password = "//Edit[name=\"Password\"]";
    for predicate in [
        json!({"kind": "value_equals", "selector": password, "expected": "<filled>"}),
        json!({"kind": "value_matches", "selector": password, "regex": "filled"}),
        json!({"kind": "text_visible", "regex": "filled", "mode": "tree"}),
    ] {
        let got = judge(&world, predicate);
        assert_eq!(got["passed"], false, "{got}");
        assert!(!got["observed"].to_string().contains("filled"), "{got}");
    }
}

// ── pictures ───────────────────────────────────────────────────────────────────────────────────────

/// The front window of the default desktop as it is drawn.
fn front_picture(world: &World) -> Picture {
    let front = world.mock.windows().unwrap().remove(0);
    world.mock.window_picture(&front).unwrap().picture
}

/// Judges against a reference file in a folder of its own.
fn similar(reference: impl FnOnce(&World) -> Vec<u8>, min_ssim: Option<f64>) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let world = world_reading(folder.path());
    std::fs::write(folder.path().join("reference.png"), reference(&world)).unwrap();
    let predicate =
        json!({"kind": "screenshot_similar", "reference_path": "reference.png", "min_ssim": min_ssim});
    judge(&world, predicate)
}

fn world_reading(folder: &Path) -> World {
    World::with(json!({"screenshots": {"reference_dirs": [folder]}}))
}

fn shifted(picture: &Picture, by: i32) -> Picture {
    let (width, height) = (picture.width() as i32, picture.height() as i32);
    let points = (0..height).flat_map(|y| (0..width).map(move |x| ((x + by) % width, y)));
    let rgba = points.flat_map(|(x, y)| picture.pixel(x, y).unwrap()).collect();
    Picture::from_rgba(picture.width(), picture.height(), rgba).unwrap()
}

#[test]
fn the_same_picture_is_exactly_alike() {
    let got = similar(|world| front_picture(world).to_png().unwrap(), Some(1.0));
    assert_eq!((&got["passed"], &got["observed"]), (&json!(true), &json!({"ssim": 1.0})), "{got}");
}

#[test]
fn a_moved_picture_is_not() {
    let got = similar(|world| shifted(&front_picture(world), 40).to_png().unwrap(), None);
    assert_eq!(got["passed"], false, "{got}");
    assert!((0.1..0.95).contains(&got["observed"]["ssim"].as_f64().unwrap()), "{got}");
}

#[test]
fn another_size_is_named() {
    let got = similar(|world| front_picture(world).shrink_to(400).to_png().unwrap(), None);
    assert_eq!(got["passed"], false);
    assert_eq!(got["observed"], json!({"ssim": null, "size": "800x600", "reference_size": "400x300"}));
}

fn check_bad_reference(bytes: impl FnOnce(&World) -> Vec<u8>, words: &str) {
    let got = similar(bytes, None);
    assert_eq!((&got["passed"], &got["error_code"]), (&json!(false), &json!("BadRequest")), "{got}");
    assert!(got["observed"].as_str().unwrap().contains(words), "{got}");
}

/// H-21 on code: another format, nothing, a half, too many bytes.
#[test]
fn what_is_no_picture_fails_and_harms_nobody() {
    check_bad_reference(|_| b"GIF89a\x01\0\x01\0".to_vec(), "not a complete PNG");
    check_bad_reference(|_| Vec::new(), "not a complete PNG");
    check_bad_reference(
        |world| {
            let png = front_picture(world).to_png().unwrap();
            png[..png.len() / 2].to_vec()
        },
        "not a complete PNG",
    );
    check_bad_reference(|_| vec![0; (32 << 20) + 1], "larger than 33554432 bytes");
}

/// H-17, H-21 on code: a picture that is outside.
#[test]
fn references_outside_the_roots_are_refused_alike() {
    let folder = tempfile::tempdir().unwrap();
    let world = world_reading(folder.path());
    for path in ["/dev/null", "/dev/zero", "/etc/passwd", "../secret.png", "a\0b"] {
        let got = judge(&world, json!({"kind": "screenshot_similar", "reference_path": path}));
        assert_eq!(
            (&got["passed"], &got["error_code"]),
            (&json!(false), &json!("BadRequest")),
            "{path}: {got}"
        );
        assert!(got["observed"].as_str().unwrap().contains("is not in a folder"), "{path}: {got}");
    }
    std::fs::create_dir(folder.path().join("folder.png")).unwrap();
    let got = judge(&world, json!({"kind": "screenshot_similar", "reference_path": "folder.png"}));
    assert!(got["observed"].as_str().unwrap().contains("not a regular file"), "{got}");
    let bad = judge(&world, json!({"kind": "screenshot_similar", "reference_path": "a.png", "min_ssim": 2}));
    assert_eq!(bad["error_code"], "BadRequest");
}

/// H-21 on code: a picture that is a pipe.
#[cfg(unix)]
#[test]
fn a_pipe_is_not_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let made = std::process::Command::new("mkfifo").arg(folder.path().join("pipe.png")).status().unwrap();
    assert!(made.success());
    let got = judge(
        &world_reading(folder.path()),
        json!({"kind": "screenshot_similar", "reference_path": "pipe.png"}),
    );
    assert!(got["observed"].as_str().unwrap().contains("not a regular file"), "{got}");
}

// ── a scenario's own oracles ───────────────────────────────────────────────────────────────────────

fn oracle(world: &World, name: &str) -> Value {
    judge(world, json!({"kind": "oracle", "name": name}))
}

#[test]
fn a_scenario_says_when_it_succeeded() {
    let world = World::on(LOGIN);
    let before = oracle(&world, "success");
    assert_eq!((&before["passed"], &before["observed"]["held"]), (&json!(false), &json!(0)), "{before}");
    for (field, text) in [("Username", "alice"), ("Password", "secret")] {
        world.ok("click_element", json!({"selector": format!("//Edit[name=\"{field}\"]")}));
        world.ok("type_text", json!({"text": text}));
    }
    world.ok("click_element", json!({"selector": "//Button"}));
    let after = oracle(&world, "success");
    assert_eq!((&after["passed"], &after["observed"]["held"]), (&json!(true), &json!(2)), "{after}");
    assert_eq!(oracle(&world, "failure")["passed"], false);
}

#[test]
fn an_oracle_that_cannot_be_asked_does_not_pass() {
    let nowhere = oracle(&World::new(), "success");
    assert_eq!((&nowhere["passed"], &nowhere["error_code"]), (&json!(false), &json!("PlatformUnsupported")));
    assert_eq!(oracle(&World::on(LOGIN), "luck")["error_code"], "BadRequest");
    for (oracles, words) in [
        ("success: []", "leaves empty"),
        ("success: [{kind: oracle, name: success}]", "must not be oracle again"),
        ("success: [{kind: nope}]", "unknown predicate kind"),
    ] {
        let world = World::new();
        let text = format!("states: {{a: {{windows: [{{title: A}}]}}}}\noracles: {{{oracles}}}");
        let scenario = os_screen_observer::scenario::load_str(&text, "t").unwrap();
        os_screen_observer::platform::Stage::load(&*world.mock, scenario);
        let got = oracle(&world, "success");
        assert_eq!(got["passed"], false);
        assert!(got["observed"].as_str().unwrap().contains(words), "{got}");
    }
}

#[test]
fn every_shipped_scenario_begins_undecided() {
    for entry in std::fs::read_dir(crate::support::project().join("scenarios")).unwrap() {
        let name = format!("scenarios/{}", entry.unwrap().file_name().to_string_lossy());
        let world = World::on(&name);
        for which in ["success", "failure"] {
            let got = oracle(&world, which);
            assert_eq!(
                (&got["passed"], got.get("error_code")),
                (&json!(false), None),
                "{name} {which}: {got}"
            );
        }
    }
}
