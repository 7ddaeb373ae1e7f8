//! Seeing change: pictures compared, stillness, waits for pixels, claims about them.

use std::time::Duration;

use crate::support::World;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use os_screen_observer::model::Rect;
use os_screen_observer::model::image::Picture;
use os_screen_observer::platform::Stage;
use os_screen_observer::scenario;
use serde_json::{Value, json};

const SLOW: &str = "scenarios/slow-load.yaml";

fn area(value: &Value) -> Rect {
    serde_json::from_value(value.clone()).unwrap()
}

// ── vision_diff ────────────────────────────────────────────────────────────────────────────────────

#[test]
fn a_place_is_compared_with_how_it_looked() {
    let world = World::on("scenarios/form.yaml");
    let first = world.ok("vision_diff", json!({"window_index": 0}));
    assert_eq!(
        (&first["mode"], &first["changed"], &first["boxes"]),
        (&json!("first"), &json!(false), &json!([]))
    );
    let same = world.ok("vision_diff", json!({"since": first["frame_id"]}));
    assert_eq!(
        (&same["mode"], &same["changed"], &same["diff_ratio"]),
        (&json!("since"), &json!(false), &json!(0.0))
    );
    let ticked = world.ok("click_element", json!({"selector": "//CheckBox"}));
    let later = world.ok("vision_diff", json!({"since": first["frame_id"]}));
    assert_eq!(later["changed"], true, "{later}");
    assert!(later["diff_ratio"].as_f64().unwrap() < 0.05, "{later}");
    let bounds = area(&ticked["target"]["bounds"]);
    let boxes = later["boxes"].as_array().unwrap();
    assert!(boxes.iter().any(|changed| bounds.intersects(&area(changed))), "{bounds:?} {later}");
    let calm = json!({"since": first["frame_id"], "threshold": 0.5});
    assert_eq!(world.ok("vision_diff", calm)["changed"], false);
}

#[test]
fn two_looks_in_one_call_have_time_between_them() {
    let world = World::on(SLOW);
    let change = world.ok("vision_diff", json!({"window_index": 0, "wait_ms": 4000}));
    assert_eq!((&change["mode"], &change["changed"]), (&json!("wait"), &json!(true)));
    assert_eq!(world.ok("vision_diff", json!({"window_index": 0, "wait_ms": 1}))["changed"], false);
}

#[test]
fn a_region_is_compared_alone() {
    let world = World::on("scenarios/form.yaml");
    let corner = json!({"x": 160, "y": 80, "width": 60, "height": 40});
    let first = world.ok("vision_diff", json!({"region": corner}));
    assert_eq!(first["source_bbox"], corner);
    world.ok("click_element", json!({"selector": "//CheckBox"}));
    assert_eq!(world.ok("vision_diff", json!({"since": first["frame_id"]}))["changed"], false);
}

fn png(width: u32, height: u32, change: Option<Rect>) -> String {
    let mut picture = Picture::new(width, height, [40, 40, 40, 255]).unwrap();
    change.into_iter().for_each(|area| picture.fill(area, [240, 40, 40, 255]));
    BASE64_STANDARD.encode(picture.to_png().unwrap())
}

#[test]
fn two_pictures_of_the_caller_are_compared() {
    let world = World::new();
    let changed = Rect::new(20, 10, 10, 5);
    let both = |after: String| json!({"before_b64": png(100, 50, None), "after_b64": after});
    let reply = world.ok("vision_diff", both(png(100, 50, Some(changed))));
    assert_eq!(
        (&reply["mode"], &reply["diff_ratio"], &reply["changed_pixels"]),
        (&json!("image"), &json!(0.01), &json!(50))
    );
    assert_eq!(reply["boxes"], json!([changed]));
    assert!(reply.get("frame_id").is_none());
    let other = world.ok("vision_diff", both(png(100, 51, None)));
    assert_eq!((&other["size_changed"], &other["diff_ratio"]), (&json!(true), &json!(1.0)));
    let mut part = both(png(100, 50, Some(changed)));
    part["region"] = json!({"x": 50, "y": 0, "width": 50, "height": 50});
    assert_eq!(world.ok("vision_diff", part)["changed"], false);
}

#[test]
fn what_cannot_be_compared_is_refused() {
    let world = World::new();
    let frame = world.ok("vision_diff", json!({"window_index": 0}))["frame_id"].clone();
    for args in [
        json!({"since": "frm:00000000"}),
        json!({"since": frame, "wait_ms": 5}),
        json!({"since": frame, "window_index": 0}),
        json!({"since": frame, "region": {"x": 1, "y": 1, "width": 1, "height": 1}}),
        json!({"before_b64": png(2, 2, None)}),
        json!({"before_b64": png(2, 2, None), "after_b64": "nonsense"}),
        json!({"before_b64": png(2, 2, None), "after_b64": png(2, 2, None), "since": frame}),
        json!({"threshold": 1.5}),
        json!({"region": {"x": 30000, "y": 0, "width": 5, "height": 5}}),
    ] {
        assert_eq!(world.code("vision_diff", args.clone()), "BadRequest", "{args}");
    }
    world.app.clock.advance(Duration::from_secs(300));
    assert_eq!(world.code("vision_diff", json!({"since": frame})), "BadRequest");
}

#[test]
fn a_window_that_is_gone_or_larger_is_told() {
    let stage = |world: &World, uid: &str, width: i32| {
        let yaml = format!(
            "name: w\nstates:\n  s:\n    windows:\n      - uid: {uid}\n        title: W\n        bounds: {{x: 10, y: 10, width: \
             {width}, height: 200}}\n        tree: {{role: Window, name: W}}\n"
        );
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("stage.yaml");
        std::fs::write(&file, yaml).unwrap();
        world.mock.load(scenario::load_file(&file).unwrap());
        world.app.observer.forget_all();
    };
    let world = World::new();
    stage(&world, "mock:w", 300);
    let frame = world.ok("vision_diff", json!({"window_uid": "mock:w"}))["frame_id"].clone();
    stage(&world, "mock:w", 320);
    assert_eq!(world.ok("vision_diff", json!({"since": frame}))["size_changed"], true);
    stage(&world, "mock:v", 320);
    assert_eq!(world.code("vision_diff", json!({"since": frame})), "WindowGone");
}

#[test]
fn what_is_hidden_never_changes() {
    let hide = json!({"redaction": {"enabled": true, "element_name_patterns": ["Employee"], "blur_screenshots": true}});
    let field = json!({"x": 324, "y": 134, "width": 350, "height": 16});
    let changed = |world: &World| {
        let first = world.ok("vision_diff", json!({"region": field}));
        world.ok("set_value", json!({"selector": "//Edit[name=\"Employee\"]", "value": "alice"}));
        world.ok("vision_diff", json!({"since": first["frame_id"]}))["changed"] == true
    };
    assert!(changed(&World::on("scenarios/form.yaml")));
    let world = World::build(Some("scenarios/form.yaml"), hide);
    let first = world.ok("vision_diff", json!({"region": field}));
    world.ok("set_value", json!({"element_id": "root.1", "value": "alice"}));
    assert_eq!(world.ok("vision_diff", json!({"since": first["frame_id"]}))["changed"], false);
}

#[test]
fn no_look_takes_longer_than_waits_may() {
    let world = World::with(json!({"wait_for": {"max_timeout_ms": 100}}));
    for (tool, args) in [
        ("vision_diff", json!({"wait_ms": 5000})),
        ("vision_stability", json!({"duration_ms": 5000, "interval_ms": 50})),
    ] {
        let reply = world.ok(tool, args);
        assert!(reply["warning"].as_str().unwrap().contains("5000 was shortened to 100"), "{reply}");
    }
}

// ── vision_stability ───────────────────────────────────────────────────────────────────────────────

#[test]
fn a_place_is_watched_for_a_while() {
    let still = World::new().ok("vision_stability", json!({"window_index": 0, "duration_ms": 1000}));
    assert_eq!(
        (&still["stable"], &still["sample_count"], &still["max_ratio"]),
        (&json!(true), &json!(6), &json!(0.0))
    );
    let loading = World::on(SLOW)
        .ok("vision_stability", json!({"window_index": 0, "duration_ms": 4000, "threshold": 0}));
    assert_eq!(loading["stable"], false, "{loading}");
    assert!(loading["max_ratio"].as_f64() > loading["avg_ratio"].as_f64(), "{loading}");
    assert!(!loading["boxes"].as_array().unwrap().is_empty());
}

// ── wait_for ───────────────────────────────────────────────────────────────────────────────────────

#[test]
fn a_wait_ends_when_the_picture_changes() {
    let world = World::on(SLOW);
    let met = world.ok("wait_for", json!({"any_of": [{"type": "visual_change"}], "timeout_ms": 10000}));
    assert!(met["matched_detail"]["diff_ratio"].as_f64().unwrap() > 0.0, "{met}");
    assert!(!met["matched_detail"]["boxes"].as_array().unwrap().is_empty(), "{met}");
    let still = World::new();
    let timed_out =
        still.call("wait_for", json!({"any_of": [{"type": "visual_change"}], "timeout_ms": 1000}));
    assert_eq!(timed_out["error"]["code"], "Timeout");
    assert_eq!(timed_out["last_observation"][0]["diff_ratio"], 0.0, "{timed_out}");
}

#[test]
fn a_wait_ends_when_the_picture_rests() {
    let world = World::on(SLOW);
    let stable = json!({"any_of": [{"type": "visual_stable", "quiet_ms": 1500, "threshold": 0}], "timeout_ms": 20000, "window_index": 0});
    let met = world.ok("wait_for", stable);
    assert!(met["matched_detail"]["still_ms"].as_u64().unwrap() >= 1500, "{met}");
    world.ok(
        "assert_state",
        json!({"predicates": [{"kind": "element_exists", "selector": "//Button[name=\"Export\"]"}]}),
    );
    let at_once = json!({"any_of": [{"type": "visual_stable", "quiet_ms": 0}]});
    assert_eq!(world.ok("wait_for", at_once)["polls"], 1);
}

#[test]
fn conditions_about_pixels_are_read_strictly() {
    let world = World::new();
    for condition in [
        json!({"type": "visual_change", "region": {"x": 1}}),
        json!({"type": "visual_change", "region": {"x": 1, "y": 1, "width": 0, "height": 5}}),
        json!({"type": "visual_change", "threshold": 2}),
        json!({"type": "visual_stable", "quiet_ms": -1}),
        json!({"type": "visual_change", "quiet_ms": 5}),
        json!({"type": "visual_change", "region": {"x": 30000, "y": 0, "width": 5, "height": 5}}),
    ] {
        assert_eq!(world.code("wait_for", json!({"any_of": [condition]})), "BadRequest", "{condition}");
    }
    let many: Vec<Value> = (0..5).map(|_| json!({"type": "visual_change"})).collect();
    let refused = world.call("wait_for", json!({ "any_of": many }));
    assert!(refused["error"]["message"].as_str().unwrap().contains("may have at most 4"), "{refused}");
}

#[test]
fn a_claim_about_pixels_is_waited_for_by_looking() {
    let world = World::on(SLOW);
    let first = world.ok("vision_diff", json!({"window_index": 0}))["frame_id"].clone();
    let differs = json!({"kind": "region_similar", "since": first, "min_ssim": 1.0});
    assert_eq!(world.ok("assert_state", json!({"predicates": [differs]}))["all_passed"], true);
    world.app.clock.advance(Duration::from_secs(5));
    assert_eq!(world.ok("assert_state", json!({"predicates": [differs]}))["all_passed"], false);
}

// ── assert_state ───────────────────────────────────────────────────────────────────────────────────

#[track_caller]
fn check(world: &World, claim: Value, passed: bool, error: Option<&str>) -> Value {
    let reply = world.ok("assert_state", json!({"predicates": [claim]}));
    let result = reply["results"][0].clone();
    assert_eq!(result["passed"], passed, "{claim}: {result}");
    assert_eq!(result.get("error_code").and_then(Value::as_str), error, "{claim}: {result}");
    result["observed"].clone()
}

#[test]
fn a_pixel_has_a_colour() {
    let world = World::on("scenarios/form.yaml");
    let seen =
        check(&world, json!({"kind": "pixel_color", "x": 400, "y": 600, "color": "#123456"}), false, None);
    let color = seen["color"].as_str().unwrap().to_owned();
    assert!(color.starts_with('#') && color.len() == 7, "{color}");
    for window in [json!(null), world.ok("list_windows", json!({}))["windows"][0]["window_uid"].clone()] {
        let claim = json!({"kind": "pixel_color", "x": 400, "y": 600, "color": color.to_uppercase(), "tolerance": 0, "window_uid": window});
        check(&world, claim, true, None);
    }
    check(
        &world,
        json!({"kind": "pixel_color", "x": 400, "y": 600, "color": "#000000", "tolerance": 255}),
        true,
        None,
    );
    for wrong in ["123456", "#12345", "#12345g", "red", "#äö"] {
        let claim = json!({"kind": "pixel_color", "x": 400, "y": 600, "color": wrong});
        check(&world, claim, false, Some("BadRequest"));
    }
    check(
        &world,
        json!({"kind": "pixel_color", "x": 30000, "y": 1, "color": "#000000"}),
        false,
        Some("BadRequest"),
    );
}

#[test]
fn a_region_is_like_a_kept_picture_or_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let config = json!({"screenshots": {"reference_dirs": [folder.path()]}});
    let world = World::build(Some("scenarios/form.yaml"), config);
    let region = json!({"x": 320, "y": 640, "width": 120, "height": 60});
    let shot = world.reply("get_screenshot", json!({"region": region})).picture.unwrap();
    std::fs::write(folder.path().join("part.png"), &shot.bytes).unwrap();
    let by_file = json!({"kind": "region_similar", "region": region, "reference_path": "part.png"});
    assert_eq!(check(&world, by_file, true, None)["ssim"], 1.0);
    let other = json!({"kind": "region_similar", "region": {"x": 0, "y": 0, "width": 9, "height": 9}, "reference_path": "part.png"});
    assert_eq!(check(&world, other, false, None)["reference_size"], "120x60");
    let frame = world.ok("vision_diff", json!({"window_index": 0}))["frame_id"].clone();
    check(&world, json!({"kind": "region_similar", "region": region, "since": frame}), true, None);
    check(&world, json!({"kind": "region_similar", "since": "frm:00000000"}), false, Some("BadRequest"));
    check(&world, json!({"kind": "region_similar", "region": region}), false, Some("BadRequest"));
    let outside = json!({"kind": "region_similar", "since": frame, "region": {"x": 5, "y": 5, "width": 2, "height": 2}});
    check(&world, outside, false, Some("BadRequest"));
}
