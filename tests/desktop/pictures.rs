//! Pointing at pictures of real windows, and seeing real pixels change.

use serde_json::{Value, json};

use crate::desk::{Stage, desk, until};

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value}"))
}

/// The cell of a picture that a place on the screen is in, and where in the cell it is.
fn cell(shot: &Value, center: &Value) -> Value {
    let along = |place: &str, side: &str, cells: &str| {
        let size = number(&shot["source_bbox"][side]) / number(&shot["grid"][cells]);
        let at = (number(&center[place]) - number(&shot["source_bbox"][place])) / size;
        (at.floor(), ((at - at.floor()) * 2.0 - 1.0).clamp(-1.0, 1.0))
    };
    let ((col, dx), (row, dy)) = (along("x", "width", "cols"), along("y", "height", "rows"));
    json!({"image": shot["image_id"], "row": row as i64, "col": col as i64, "dx": dx, "dy": dy})
}

#[test]
fn a_calculator_is_worked_by_the_cells_of_a_picture() {
    let desk = desk();
    let mut stage = Stage::new(&desk, "kcalc", &[], "KCalc", 50);
    let uid = stage.uid.clone();
    let args = json!({"window_uid": uid, "grid": {"rows": 20, "cols": 20}, "marks": true});
    let shot = stage.server.ok("get_screenshot", args);
    for name in ["7", "×", "6", "="] {
        let marks = shot["marks"].as_array().unwrap();
        let key =
            marks.iter().find(|mark| mark["name"] == name).unwrap_or_else(|| panic!("{name} in {marks:?}"));
        stage.server.ok("click_at", cell(&shot, &key["center"]));
    }
    let says = |node: &Value| {
        [&node["text"], &node["name"]]
            .iter()
            .any(|text| text.as_str().is_some_and(|text| text.trim() == "42"))
    };
    desk.until_any(&stage.app, "42 in the calculator", says);
}

#[test]
fn a_picture_of_the_screen_does_not_outlive_what_lay_there() {
    let desk = desk();
    let mut server = desk.server();
    let below = desk.start("xterm", &["-T", "Below", "-geometry", "60x20+200+200", "-e", "sleep 600"]);
    let below_uid = server.uid(&below, "Below");
    server.ok("bring_to_foreground", json!({"window_uid": below_uid}));
    let bounds = server.window(&below, "Below")["bounds"].clone();
    let middle = json!({
        "x": number(&bounds["x"]) + number(&bounds["width"]) / 2.0,
        "y": number(&bounds["y"]) + number(&bounds["height"]) / 2.0,
    });
    let shot = server.ok("get_screenshot", json!({"grid": {}}));
    server.ok("hover_at", cell(&shot, &middle));
    let above = desk.start("xterm", &["-T", "Above", "-geometry", "60x20+200+200", "-e", "sleep 600"]);
    let above_uid = server.uid(&above, "Above");
    server.ok("bring_to_foreground", json!({"window_uid": above_uid}));
    let refused = until("the picture to be refused", || {
        let reply = server.call("hover_at", cell(&shot, &middle));
        (reply["ok"] == false).then_some(reply)
    });
    let message = refused["error"]["message"].as_str().unwrap();
    assert!(message.contains("out of date") && message.contains(&above_uid), "{message}");
}

#[test]
fn what_is_typed_is_seen_to_change_pixels() {
    let desk = desk();
    let mut server = desk.server();
    let app =
        desk.start("xterm", &["-T", "Pixels", "-bg", "#102030", "-geometry", "60x20+100+100", "-e", "cat"]);
    let uid = server.uid(&app, "Pixels");
    server.ok("bring_to_foreground", json!({"window_uid": uid}));
    let bounds = server.window(&app, "Pixels")["bounds"].clone();
    let (x, y) = (number(&bounds["x"]) as i64, number(&bounds["y"]) as i64);
    let (width, height) = (number(&bounds["width"]) as i64, number(&bounds["height"]) as i64);
    let ground = json!({"kind": "pixel_color", "x": x + width - 60, "y": y + height - 40, "color": "#102030", "tolerance": 0});
    until("the ground in its colour", || {
        (server.ok("assert_state", json!({"predicates": [ground]}))["all_passed"] == true).then_some(())
    });
    server.ok(
        "wait_for",
        json!({"any_of": [{"type": "visual_stable"}], "window_uid": uid, "timeout_ms": 20000}),
    );
    let frame = server.ok("vision_diff", json!({"window_uid": uid}))["frame_id"].clone();
    server.ok("type_text", json!({"text": "hello hello hello"}));
    let change = until("the letters in the picture", || {
        let reply = server.ok("vision_diff", json!({"since": frame}));
        (reply["changed_pixels"].as_u64().unwrap() > 300).then_some(reply)
    });
    let first = &change["boxes"][0];
    assert!(number(&first["x"]) >= x as f64 && number(&first["y"]) >= y as f64, "{change}");
    assert!(number(&change["diff_ratio"]) < 0.2, "{change}");
}
