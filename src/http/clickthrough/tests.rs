//! What each request may say, as tables: fields, and the faults that are told of them.

use serde_json::{Value, json};

use super::fields::Form;
use super::interact::{read_batch, read_interact};
use super::screenshots::{read_see, read_zoom};
use super::wait::{read_diff, read_stability, read_verify, read_wait};
use super::windows::{Query, read_action, read_launch};
use super::*;

fn form_of(fields: Value) -> Form {
    Form::body(fields.as_object().cloned().unwrap())
}

fn read(endpoint: &str, fields: Value) -> Result<String, Failure> {
    fn told<T: std::fmt::Debug>(read: Result<T, Failure>) -> Result<String, Failure> {
        read.map(|read| format!("{read:?}"))
    }
    let form = form_of(fields);
    match endpoint {
        "/see" => told(read_see(form, &Default::default())),
        "/see/zoom" => told(read_zoom(form)),
        "/interact" => told(read_interact(form)),
        "/batch" => told(read_batch(form)),
        "/exec" => told(form.whole(read_exec)),
        "/windows/action" => told(read_action(form)),
        "/launch" => told(form.whole(read_launch)),
        "/vision/diff" => told(form.whole(read_diff)),
        "/vision/stability" => told(form.whole(read_stability)),
        "/wait" => told(form.whole(read_wait)),
        "/action/verify" => told(read_verify(form)),
        other => panic!("{other}"),
    }
}

/// Taken, and understood so.
#[track_caller]
fn check(endpoint: &str, fields: Value, part: &str) {
    let read = read(endpoint, fields.clone());
    let read = read.unwrap_or_else(|failure| panic!("{endpoint} {fields}: {}", failure.as_json()));
    assert!(read.contains(part), "{endpoint} {fields} was read as {read}");
}

/// Refused with these places, each by its names joined by dots.
#[track_caller]
fn check_faults(endpoint: &str, fields: Value, places: &[&str]) {
    let failure = read(endpoint, fields.clone()).expect_err(&format!("{endpoint} {fields}"));
    assert_eq!((failure.status, failure.code.as_str()), (422, "validation_error"), "{}", failure.as_json());
    assert_eq!(failure.message, "request validation failed");
    let place = |fault: &Value| {
        let names: Vec<&str> = fault["loc"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        names[1..].join(".")
    };
    let mut told: Vec<String> = failure.details.as_array().unwrap().iter().map(place).collect();
    told.sort();
    assert_eq!(told, places, "{}", failure.as_json());
}

#[track_caller]
fn check_refused(endpoint: &str, fields: Value, code: &str) {
    let failure = read(endpoint, fields.clone()).expect_err(&format!("{endpoint} {fields}"));
    assert_eq!((failure.status, failure.code.as_str()), (400, code), "{}", failure.as_json());
}

#[test]
fn see() {
    let whole = "Wish { screen: 0, shows: Display, grid: Some(GridFields { rows: 12, cols: 12 }), labels: true, format: \"png\", quality: 85, ocr: None";
    check("/see", json!({}), whole);
    check("/see", json!({"with_grid": false, "screen": -7}), "screen: -7, shows: Display, grid: None");
    check("/see", json!({"grid_rows": 300, "grid_cols": 1}), "rows: 300, cols: 1");
    check(
        "/see",
        json!({"region_x": -5, "region_y": 0, "region_width": 9, "region_height": 8}),
        "x: -5, y: 0, width: 9",
    );
    check("/see", json!({"image_format": "jpeg", "jpeg_quality": 1}), "\"jpeg\", quality: 1");
    check(
        "/see",
        json!({"ocr": true, "ocr_min_confidence": 60, "ocr_psm": 6}),
        "least: Some(60), psm: Some(6)",
    );
    check("/see", json!({"ocr_lang": "eng", "grid_rows": null}), "rows: 12");
    for (name, wrong) in [
        ("grid_rows", json!(0)),
        ("grid_rows", json!(301)),
        ("grid_cols", json!("12")),
        ("grid_cols", json!(1.5)),
        ("image_format", json!("gif")),
        ("jpeg_quality", json!(0)),
        ("jpeg_quality", json!(101)),
        ("ocr", json!("yes")),
        ("ocr_min_confidence", json!(101)),
        ("ocr_min_confidence", json!(-1)),
        ("ocr_lang", json!("")),
        ("ocr_lang", json!("e".repeat(65))),
        ("ocr_lang", json!("deu")),
        ("ocr_psm", json!(14)),
        ("with_grid", json!(1)),
        ("screen", json!("0")),
        ("colour", json!(1)),
    ] {
        check_faults("/see", json!({name: wrong}), &[name]);
    }
    check_faults("/see", json!({"region_x": 1}), &["region_height", "region_width", "region_y"]);
    check_faults(
        "/see",
        json!({"region_x": 1, "region_y": 1, "region_width": 0, "region_height": -1}),
        &["region_height", "region_width"],
    );
    check_faults("/see", json!({"grid_rows": 0, "grid_cols": 0, "x": 1}), &["grid_cols", "grid_rows", "x"]);
}

#[test]
fn zoom() {
    check(
        "/see/zoom",
        json!({"center_x": 5, "center_y": 0}),
        "x: 5, y: 0, width: 500, height: 350 }, grid: Some(GridFields { rows: 20, cols: 20 })",
    );
    check("/see/zoom", json!({"center_x": 5, "center_y": 0, "width": 10}), "quality: 90");
    check_faults("/see/zoom", json!({}), &["center_x", "center_y"]);
    check_faults("/see/zoom", json!({"center_x": -1, "center_y": 2}), &["center_x"]);
    check_faults(
        "/see/zoom",
        json!({"center_x": 1, "center_y": 2, "width": 9, "height": 9}),
        &["height", "width"],
    );
    check_faults("/see/zoom", json!({"center_x": 1, "center_y": 2, "region_x": 1}), &["region_x"]);
}

fn acting(fields: Value) -> Value {
    json!({"action": fields})
}

fn pixel(action: &str, x: i64, y: i64) -> Value {
    acting(json!({"action": action, "target": {"mode": "pixel", "x": x, "y": y}}))
}

fn cell(fields: Value) -> Value {
    let mut target = json!({
        "mode": "grid", "region_x": 100, "region_y": 200, "region_width": 120, "region_height": 60,
        "rows": 6, "cols": 12, "row": 0, "col": 0,
    });
    target.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    acting(json!({"action": "click", "target": target}))
}

#[test]
fn points() {
    check("/interact", pixel("click", 5, 6), r#"tool: "click_at""#);
    check(
        "/interact",
        acting(json!({"action": "move", "target": {"mode": "pixel", "x": 5, "y": 6, "dx": 2, "dy": -9}})),
        "x: 7, y: -3",
    );
    check("/interact", cell(json!({})), "x: 105, y: 205");
    check("/interact", cell(json!({"row": 5, "col": 11})), "x: 215, y: 255");
    check("/interact", cell(json!({"dx": 0.5, "dy": -0.5})), "x: 107, y: 202");
    check("/interact", cell(json!({"dx": -1, "dy": -1})), "x: 100, y: 200");
    check("/interact", cell(json!({"dx": 1, "dy": 1})), "x: 109, y: 209");
    check("/interact", cell(json!({"row": 5, "col": 11, "dx": 1, "dy": 1})), "x: 219, y: 259");
    check_faults(
        "/interact",
        cell(json!({"row": 6, "col": 12})),
        &["action.target.col", "action.target.row"],
    );
    check_faults("/interact", cell(json!({"dx": 1.1})), &["action.target.dx"]);
    check_faults("/interact", cell(json!({"rows": 0})), &["action.target.rows"]);
    check_faults("/interact", cell(json!({"region_width": null})), &["action.target.region_width"]);
    check_faults("/interact", cell(json!({"mode": "cell"})), &["action.target.mode"]);
    check_faults(
        "/interact",
        acting(json!({"action": "click", "target": {"mode": "pixel", "x": 1}})),
        &["action.target.y"],
    );
    check_faults("/interact", acting(json!({"action": "click", "target": 5})), &["action.target"]);
}

#[test]
fn actions() {
    for (name, args) in [
        ("click", r#""button": Null"#),
        ("right_click", r#""right""#),
        ("middle_click", r#""middle""#),
        ("double_click", r#""count": Number(2)"#),
        ("scroll", r#"tool: "scroll""#),
        ("move", r#"tool: "hover_at""#),
    ] {
        check("/interact", pixel(name, 1, 2), args);
        check_refused("/interact", acting(json!({"action": name})), "target_required");
    }
    check("/interact", acting(json!({"action": "type", "text": "a\nb"})), "type_text");
    check("/interact", acting(json!({"action": "hotkey", "keys": ["ctrl", "s"]})), "ctrl+s");
    check_refused("/interact", acting(json!({"action": "type"})), "text_required");
    check_refused("/interact", acting(json!({"action": "hotkey"})), "keys_required");
    check_refused("/interact", acting(json!({"action": "hotkey", "keys": []})), "keys_required");
    check_refused("/interact", acting(json!({"action": "click_text"})), "click_text_required");
    let aimed = acting(json!({"action": "type", "text": "a", "target": {"mode": "pixel", "x": 1, "y": 1}}));
    check_refused("/interact", aimed, "bad_request");
    check_faults("/interact", json!({}), &["action"]);
    check_faults("/interact", acting(json!({})), &["action.action"]);
    check_faults("/interact", acting(json!({"action": "explode"})), &["action.action"]);
    for (name, wrong) in [
        ("duration_ms", json!(20_001)),
        ("duration_ms", json!(-1)),
        ("button", json!("fourth")),
        ("clicks", json!(0)),
        ("clicks", json!(11)),
        ("interval_ms", json!(5001)),
        ("text", json!(5)),
        ("keys", json!("ctrl+s")),
        ("scroll_amount", json!(0.5)),
        ("dry_run", json!("no")),
        ("speed", json!(1)),
    ] {
        let mut request = pixel("click", 1, 1);
        request["action"][name] = wrong;
        check_faults("/interact", request, &[&format!("action.{name}")]);
    }
    let mut both = pixel("click", 1, 1);
    both["actions"] = json!([]);
    check_faults("/interact", both, &["actions"]);
}

#[test]
fn texts_to_click() {
    let words = |fields: Value| acting(json!({"action": "click_text", "click_text": fields}));
    check("/interact", words(json!({"text": "OK"})), r#"tool: "click_text""#);
    check(
        "/interact",
        words(json!({"text": "OK", "occurrence": "nth", "nth": 2, "match": "exact"})),
        "Number(2)",
    );
    check(
        "/interact",
        words(json!({"text": "OK", "region": {"x": 1, "y": 2, "width": 3, "height": 4}})),
        "Area { x: 1, y: 2, width: 3, height: 4 }",
    );
    for (fields, place) in [
        (json!({}), "text"),
        (json!({"text": ""}), "text"),
        (json!({"text": "a".repeat(1001)}), "text"),
        (json!({"text": "a", "match": "fuzzy"}), "match"),
        (json!({"text": "a", "occurrence": "last"}), "occurrence"),
        (json!({"text": "a", "occurrence": "nth"}), "nth"),
        (json!({"text": "a", "nth": 2}), "nth"),
        (json!({"text": "a", "occurrence": "first", "nth": 2}), "nth"),
        (json!({"text": "a", "min_confidence": 101}), "min_confidence"),
        (json!({"text": "a", "region": {"x": 1, "y": 2, "width": 3}}), "region.height"),
        (json!({"text": "a", "ocr_psm": 99}), "ocr_psm"),
    ] {
        check_faults("/interact", words(fields), &[&format!("action.click_text.{place}")]);
    }
}

#[test]
fn commands() {
    check("/exec", json!({"command": "ls"}), r#""command": String("ls")"#);
    check(
        "/exec",
        json!({"command": "ls", "shell": "bash", "timeout_s": 600, "cwd": "/", "dry_run": true}),
        "600",
    );
    for (fields, places) in [
        (json!({}), &["command"][..]),
        (json!({"command": ""}), &["command"]),
        (json!({"command": "a".repeat(10_001)}), &["command"]),
        (json!({"command": "a", "shell": "zsh"}), &["shell"]),
        (json!({"command": "a", "timeout_s": 0}), &["timeout_s"]),
        (json!({"command": "a", "timeout_s": 601}), &["timeout_s"]),
        (json!({"command": "a", "secret": "x"}), &["secret"]),
    ] {
        check_faults("/exec", fields, places);
    }
}

#[test]
fn windows_and_programs() {
    check("/windows/action", json!({"action": "focus", "title_contains": "a"}), "3000");
    check("/windows/action", json!({"action": "close", "hwnd": 5, "visible_only": true}), "\"5\"");
    check_faults("/windows/action", json!({"title_contains": "a"}), &["action"]);
    check_faults(
        "/windows/action",
        json!({"action": "shake", "title_regex": "("}),
        &["action", "title_regex"],
    );
    check_faults(
        "/windows/action",
        json!({"action": "focus", "title_contains": "a".repeat(513)}),
        &["title_contains"],
    );
    check_faults(
        "/windows/action",
        json!({"action": "focus", "process_name": "a".repeat(261)}),
        &["process_name"],
    );
    check_faults(
        "/windows/action",
        json!({"action": "focus", "hwnd": 1, "timeout_ms": 60_001}),
        &["timeout_ms"],
    );
    check_refused("/windows/action", json!({"action": "focus"}), "bad_request");
    check(
        "/launch",
        json!({"executable": "calc", "args": ["a"], "match": {"title_contains": "C"}}),
        r#""title": String("C")"#,
    );
    check_faults("/launch", json!({}), &["executable"]);
    check_faults("/launch", json!({"executable": "a".repeat(2049)}), &["executable"]);
    check_faults("/launch", json!({"executable": "a", "args": vec!["x"; 101]}), &["args"]);
    check_faults(
        "/launch",
        json!({"executable": "a", "timeout_ms": 120_001, "shell": true}),
        &["shell", "timeout_ms"],
    );
}

#[test]
fn the_old_rows() {
    check("/vision/diff", json!({}), "region");
    check(
        "/vision/diff",
        json!({"mode": "image", "before_base64": "QQ==", "after_base64": "QQ=="}),
        "before_b64",
    );
    check_faults("/vision/diff", json!({"mode": "image"}), &["after_base64", "before_base64"]);
    check_faults("/vision/diff", json!({"mode": "both"}), &["mode"]);
    check("/vision/stability", json!({"duration_ms": 100}), "100");
    check_faults("/vision/stability", json!({"interval_ms": 19}), &["interval_ms"]);
    check("/wait", json!({"kind": "text", "text": "a"}), "Text");
    check("/wait", json!({"kind": "window", "state": "closed", "process_name": "a"}), "closed");
    check("/wait", json!({"kind": "visual", "state": "stable"}), "stable");
    check_faults("/wait", json!({}), &["kind", "text"]);
    check_faults("/wait", json!({"kind": "window"}), &["title_contains"]);
    check_faults(
        "/wait",
        json!({"kind": "visual", "state": "gone", "timeout_ms": 60_001}),
        &["state", "timeout_ms"],
    );
    let click = pixel("click", 1, 1)["action"].clone();
    check(
        "/action/verify",
        json!({"action": click, "verify": {"kind": "text", "text": "a"}, "retries": 2}),
        "Text",
    );
    check_faults("/action/verify", json!({}), &["action", "verify"]);
    check_faults("/action/verify", json!({"action": click, "verify": {"kind": "text"}}), &["verify.text"]);
    check("/batch", json!({"actions": [click, click], "stop_on_error": false}), "false");
    check_faults("/batch", json!({}), &["actions"]);
    check_faults("/batch", json!({"actions": []}), &["actions"]);
    check_faults("/batch", json!({"actions": [click, {"action": "x"}]}), &["actions.1.action"]);
}

#[test]
fn codes_are_spelled_as_their_clients_do() {
    assert_eq!((snake("WindowGone"), snake("Internal")), ("window_gone".to_owned(), "internal".to_owned()));
    let told = |kind: crate::error::Kind, context: Value| {
        let failure = failure_of("click_text", kind, &json!({"error": {"message": "m", "context": context}}));
        (failure.status, failure.code)
    };
    use crate::error::Kind;
    for (kind, context, expected) in [
        (Kind::ElementNotFound, json!({"candidates": []}), (404, "ocr_text_not_found")),
        (Kind::ElementNotFound, json!({}), (409, "screen_changed")),
        (Kind::Ambiguous, json!({"field": "nth"}), (409, "ocr_nth_out_of_range")),
        (Kind::Ambiguous, json!({}), (409, "ocr_text_ambiguous")),
        (Kind::PlatformUnsupported, json!({}), (503, "ocr_unavailable")),
        (Kind::Timeout, json!({}), (503, "ocr_failed")),
        (Kind::PermissionDenied, json!({}), (403, "permission_denied")),
    ] {
        assert_eq!(told(kind, context), (expected.0, expected.1.to_owned()));
    }
}

#[track_caller]
fn check_query(fields: Value, expected: bool) {
    let window = json!({"title": "Acme Login", "process": "acme.exe", "handle": "0x00600008"});
    let query = form_of(fields.clone()).whole(Query::read);
    assert_eq!(query.unwrap().fits(&window), Ok(expected), "{fields}");
}

#[test]
fn windows_are_known_by_any_of_their_facts() {
    check_query(json!({}), true);
    check_query(json!({"title_contains": "LOGIN", "process_name": "ACME.exe"}), true);
    check_query(json!({"title_contains": "login", "process_name": "acme"}), false);
    check_query(json!({"title_regex": "^Acme"}), true);
    check_query(json!({"title_regex": "^acme"}), false);
    check_query(json!({"hwnd": 6_291_464}), true);
    check_query(json!({"hwnd": "0x00600008"}), true);
    check_query(json!({"hwnd": "0x600008"}), true);
    check_query(json!({"hwnd": 5}), false);
}
