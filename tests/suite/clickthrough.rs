//! The routes of Clickthrough, asked over HTTP as its clients ask them.

use crate::support::http::{Answer, Site};
use crate::support::project;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use os_screen_observer::model::input::Act;
use os_screen_observer::platform::Stage;
use os_screen_observer::scenario;
use serde_json::{Value, json};

fn site() -> Site {
    site_with(json!({}))
}

fn site_with(config: Value) -> Site {
    let site = Site::clickthrough(config);
    Stage::load(&*site.mock, scenario::load_file(&project().join("scenarios/login.yaml")).unwrap());
    site
}

/// What every answer has, whatever it is about.
#[track_caller]
fn envelope(answer: &Answer) -> Value {
    let json = answer.json();
    // The mark of what was seen stands beside the names that its clients know.
    let mut names: Vec<&String> = json.as_object().unwrap().keys().filter(|it| *it != "untrusted").collect();
    names.sort();
    assert_eq!(names, ["data", "error", "ok", "request_id", "time_ms"], "{json}");
    assert!(json["request_id"].as_str().is_some_and(|id| id.len() == 16), "{json}");
    assert!(json["time_ms"].as_u64().is_some_and(|time| time > 1_700_000_000_000), "{json}");
    assert_eq!(json["ok"], answer.status == 200, "{json}");
    assert_eq!(
        (json["data"].is_null(), json["error"].is_null()),
        (answer.status != 200, answer.status == 200)
    );
    json
}

#[track_caller]
fn ok(answer: Answer) -> Value {
    let json = envelope(&answer);
    assert_eq!(answer.status, 200, "{json}");
    json["data"].clone()
}

#[track_caller]
fn check_failure(answer: Answer, status: u16, code: &str) -> Value {
    let json = envelope(&answer);
    assert_eq!((answer.status, &json["error"]["code"]), (status, &json!(code)), "{json}");
    assert!(!json["error"]["message"].as_str().unwrap().is_empty(), "{json}");
    json["error"].clone()
}

fn act(site: &Site, action: Value) -> Answer {
    site.post("/interact", json!({"action": action}))
}

fn pixel(action: &str, x: i64, y: i64) -> Value {
    json!({"action": action, "target": {"mode": "pixel", "x": x, "y": y}})
}

fn clicks(site: &Site) -> Vec<(i32, i32, u32)> {
    let clicked = |act: &Act| match act {
        Act::Click { at: Some(at), count, .. } => Some((at.x, at.y, *count)),
        _ => None,
    };
    site.mock.action_log().iter().filter_map(clicked).collect()
}

const DIALOG: &str = "{\"x\":100,\"y\":100,\"width\":800,\"height\":600}";

fn dialog() -> Value {
    serde_json::from_str(DIALOG).unwrap()
}

/// The region in the words of `/see`.
fn named(area: &Value) -> Value {
    json!({
        "region_x": area["x"], "region_y": area["y"], "region_width": area["width"], "region_height": area["height"],
    })
}

// ── the procedure ──────────────────────────────────────────────────────────────────────────────────

/// See; zoom where it is not sure; act once; see again. Two signals agree before the click: what was read, and where.
#[test]
fn see_zoom_interact_once_see() {
    let site = site();
    let mut wish = named(&dialog());
    wish["ocr"] = json!(true);
    let seen = ok(site.post("/see", wish.clone()));
    assert_eq!(seen["meta"]["region"], dialog());
    let grid = &seen["meta"]["grid"];
    assert_eq!(
        (&grid["rows"], &grid["cols"], &grid["indexing"]),
        (&json!(12), &json!(12), &json!("zero-based"))
    );
    let words = seen["meta"]["ocr"]["items"].as_array().unwrap();
    let username = words.iter().find(|item| item["text"] == "Username").expect("the label is read");
    assert_eq!(username["region_relative_bbox"]["x"], username["bbox"]["x"].as_i64().unwrap() - 100);

    // The cell of the grid that the label lies in.
    let (x, y) = (username["center"]["x"].as_f64().unwrap(), username["center"]["y"].as_f64().unwrap());
    let (col, row) = (((x - 100.0) / (800.0 / 12.0)) as i64, ((y - 100.0) / (600.0 / 12.0)) as i64);
    let mut target = named(&seen["meta"]["region"]);
    target.as_object_mut().unwrap().extend(
        json!({"mode": "grid", "rows": 12, "cols": 12, "row": row, "col": col, "dx": 0, "dy": -0.5})
            .as_object()
            .unwrap()
            .clone(),
    );

    let near = ok(site
        .post("/see/zoom", json!({"center_x": x as i64, "center_y": y as i64, "width": 200, "height": 100})));
    assert_eq!((&near["meta"]["grid"]["rows"], &near["meta"]["grid"]["cols"]), (&json!(20), &json!(20)));
    assert!(near["meta"]["region"]["width"].as_i64().unwrap() <= 200, "{}", near["meta"]);

    let done = ok(act(&site, json!({"action": "click", "target": target})));
    assert_eq!(
        (&done["action"], &done["executed"], &done["dry_run"]),
        (&json!("click"), &json!(true), &json!(false))
    );
    let (clicked_x, clicked_y, _) = clicks(&site)[0];
    assert_eq!(done["resolved_target"]["x"], clicked_x);
    assert!((200..440).contains(&clicked_x) && (200..224).contains(&clicked_y), "{done}");
    ok(act(&site, json!({"action": "type", "text": "alice"})));

    let again = ok(site.post("/see", wish));
    let words = again["meta"]["ocr"]["items"].as_array().unwrap();
    assert!(words.iter().any(|item| item["text"] == "alice"), "{words:?}");
}

// ── seeing ─────────────────────────────────────────────────────────────────────────────────────────

fn picture(data: &Value) -> image::DynamicImage {
    let bytes = BASE64_STANDARD.decode(data["image"]["base64"].as_str().unwrap()).unwrap();
    image::load_from_memory(&bytes).unwrap()
}

#[test]
fn a_picture_is_what_its_words_say() {
    let site = site();
    let mut wish = named(&json!({"x": 150, "y": 150, "width": 300, "height": 200}));
    let plain = {
        wish["with_grid"] = json!(false);
        ok(site.post("/see", wish.clone()))
    };
    assert_eq!((picture(&plain).width(), picture(&plain).height()), (300, 200));
    assert!(plain["meta"]["grid"].is_null() && plain["meta"].get("ocr").is_none(), "{}", plain["meta"]);
    wish["with_grid"] = json!(true);
    wish["image_format"] = json!("jpeg");
    let gridded = ok(site.post("/see", wish));
    let bytes = BASE64_STANDARD.decode(gridded["image"]["base64"].as_str().unwrap()).unwrap();
    assert_eq!(bytes[..2], [0xff, 0xd8], "a JPEG");
    assert_eq!(gridded["meta"]["grid"]["cell_width"], 25.0);
    let formula = &gridded["meta"]["grid"]["point_formula"]["x"];
    assert_eq!(formula, "region.x + (col + 0.5 + dx * 0.5) * cell_width");
}

#[test]
fn a_picture_can_come_without_json() {
    let answer = site().ask("GET", "/screen?with_grid=false&asImage=true", &[], "");
    assert_eq!((answer.status, answer.header("content-type")), (200, Some("image/png")));
}

#[test]
fn a_screen_that_is_not_there_falls_back_and_says_so() {
    let seen = ok(site().post("/see", json!({"screen": 7, "with_grid": false})));
    assert_eq!(seen["meta"]["screen"], json!({"requested": 7, "selected": 0, "fallback": true}));
}

#[test]
fn text_is_found_in_a_region() {
    let site = site();
    let mut wish = named(&dialog());
    wish["text"] = json!("log");
    wish["group_lines"] = json!(true);
    let found = ok(site.post("/ocr/find", wish.clone()));
    assert!(found["matches"].as_array().unwrap().iter().any(|item| item["text"] == "Login"), "{found}");
    let read = ok(site.post("/ocr", named(&dialog())));
    assert!(read["items"].as_array().unwrap().len() > 2, "{read}");
    wish["match"] = json!("regex");
    wish["text"] = json!("(");
    check_failure(site.post("/ocr/find", wish), 400, "bad_request");
    let off = site_with(json!({"ocr": {"enabled": false}}));
    check_failure(off.post("/ocr", named(&dialog())), 503, "ocr_unavailable");
}

// ── acting ─────────────────────────────────────────────────────────────────────────────────────────

#[test]
fn each_action_reaches_the_desktop() {
    let site = site();
    ok(act(&site, pixel("double_click", 300, 212)));
    ok(act(
        &site,
        json!({"action": "click", "clicks": 3, "target": {"mode": "pixel", "x": 300, "y": 210, "dy": 2}}),
    ));
    assert_eq!(clicks(&site), [(300, 212, 2), (300, 212, 3)]);
    ok(act(&site, pixel("right_click", 300, 212)));
    ok(act(&site, pixel("middle_click", 300, 212)));
    ok(act(&site, pixel("move", 301, 212)));
    let mut scroll = pixel("scroll", 300, 212);
    scroll["scroll_amount"] = json!(-3);
    ok(act(&site, scroll));
    ok(act(&site, json!({"action": "type", "text": "abc", "interval_ms": 0})));
    ok(act(&site, json!({"action": "hotkey", "keys": ["ctrl", "a"]})));
    let log = site.mock.action_log();
    assert_eq!(log.len(), 8, "{log:?}");
    assert!(
        matches!(log[4], Act::Hover { .. }) && matches!(log[5], Act::Scroll { clicks: -3, .. }),
        "{log:?}"
    );
}

#[test]
fn text_is_clicked_where_it_is_read() {
    let site = site();
    let words = |fields: Value| json!({"action": "click_text", "click_text": fields});
    let done = ok(act(
        &site,
        words(
            json!({"text": "Login", "match": "exact", "region": {"x": 190, "y": 270, "width": 300, "height": 60}}),
        ),
    ));
    assert_eq!(done["click_text_match"]["text"], "Login", "{done}");
    let (x, y, _) = clicks(&site)[0];
    assert!((200..300).contains(&x) && (280..308).contains(&y), "{done}");
    assert_eq!((&done["resolved_target"]["x"], &done["resolved_target"]["y"]), (&json!(x), &json!(y)));
    let region = dialog();
    let missing = check_failure(
        act(&site, words(json!({"text": "Zebra", "region": region}))),
        404,
        "ocr_text_not_found",
    );
    assert!(!missing["details"]["candidates"].as_array().unwrap().is_empty(), "{missing}");
    let ninth = json!({"text": "Login", "occurrence": "nth", "nth": 9, "region": region});
    check_failure(act(&site, words(ninth)), 409, "ocr_nth_out_of_range");
    assert_eq!(clicks(&site).len(), 1);
}

/// H-75 on clickthrough: asked for by the call or by the config
#[test]
fn a_dry_run_does_nothing() {
    let site = site();
    let mut dry = pixel("click", 300, 212);
    dry["dry_run"] = json!(true);
    let done = ok(act(&site, dry));
    assert_eq!((&done["executed"], &done["dry_run"]), (&json!(false), &json!(true)));
    let always = site_with(json!({"clickthrough": {"dry_run": true}}));
    let mut insisting = pixel("click", 300, 212);
    insisting["dry_run"] = json!(false);
    let hotkey = json!({"action": "hotkey", "keys": ["a"]});
    for action in [pixel("click", 300, 212), insisting, json!({"action": "type", "text": "a"}), hotkey] {
        assert_eq!(ok(act(&always, action))["executed"], false);
    }
    assert_eq!(ok(always.get("/health"))["safety"]["dry_run"], true);
    assert!(site.mock.action_log().is_empty() && always.mock.action_log().is_empty());
}

#[test]
fn what_is_wrong_is_told_and_does_nothing() {
    let site = site();
    check_failure(act(&site, json!({"action": "click"})), 400, "target_required");
    check_failure(act(&site, json!({"action": "hotkey"})), 400, "keys_required");
    let error = check_failure(act(&site, pixel("explode", 1, 1)), 422, "validation_error");
    assert_eq!(
        (&error["message"], &error["details"][0]["loc"]),
        (&json!("request validation failed"), &json!(["body", "action", "action"]))
    );
    check_failure(
        site.ask("POST", "/interact", &[("content-type", "application/json")], "{"),
        400,
        "bad_request",
    );
    assert!(site.mock.action_log().is_empty());
}

#[test]
fn several_actions_have_a_result_each() {
    let site = site();
    let actions =
        json!([pixel("click", 300, 212), {"action": "hotkey", "keys": ["nokey"]}, pixel("click", 301, 212)]);
    let stopped = ok(site.post("/batch", json!({"actions": actions})));
    assert_eq!(
        (&stopped["ran"], &stopped["failed"], &stopped["completed"]),
        (&json!(2), &json!(1), &json!(false))
    );
    assert_eq!(stopped["results"][1]["error"]["code"], "bad_request");
    let all = ok(site.post("/batch", json!({"actions": actions, "stop_on_error": false})));
    assert_eq!(
        (&all["ran"], &all["completed"], &all["results"][2]["ok"]),
        (&json!(3), &json!(true), &json!(true))
    );
    assert_eq!(clicks(&site).len(), 3);
}

#[test]
fn an_action_is_verified_and_tried_again() {
    let site = site();
    let verify = |text: &str| {
        let mut wait = named(&dialog());
        wait["kind"] = json!("text");
        wait["text"] = json!(text);
        wait["timeout_ms"] = json!(0);
        json!({"action": pixel("click", 300, 212), "verify": wait, "retries": 1})
    };
    let met = ok(site.post("/action/verify", verify("Username")));
    assert_eq!((&met["verified"], &met["attempt_count"]), (&json!(true), &json!(1)), "{met}");
    let missed = ok(site.post("/action/verify", verify("Zebra")));
    assert_eq!((&missed["verified"], &missed["attempt_count"]), (&json!(false), &json!(2)), "{missed}");
    assert_eq!(clicks(&site).len(), 3);
}

// ── windows ────────────────────────────────────────────────────────────────────────────────────────

#[test]
fn windows_are_listed_and_waited_for() {
    let site = site();
    let all = ok(site.get("/windows"));
    let row = &all["windows"][0];
    assert_eq!(
        (&all["count"], &row["title"], &row["process_name"]),
        (&json!(1), &json!("Acme Login"), &json!("acme.exe"))
    );
    assert_eq!(row["rect"], dialog());
    assert_eq!(ok(site.get("/windows?title_contains=acme&visible_only=true"))["count"], 1);
    assert_eq!(ok(site.get("/windows?title_regex=%5EZebra"))["count"], 0);
    check_failure(site.get("/windows?colour=red"), 422, "validation_error");
    let exists = json!({"kind": "window", "title_contains": "acme", "timeout_ms": 0});
    assert_eq!(ok(site.post("/wait", exists))["satisfied"], true);
    let closed = json!({"kind": "window", "title_contains": "acme", "state": "closed", "timeout_ms": 0});
    assert_eq!(ok(site.post("/wait", closed))["satisfied"], false);
    check_failure(
        site.post("/windows/action", json!({"action": "focus", "title_contains": "zebra"})),
        404,
        "window_not_found",
    );
}

// ── the door ───────────────────────────────────────────────────────────────────────────────────────

#[test]
fn health_says_what_is_guarded() {
    let health = ok(site().get("/health"));
    assert_eq!((&health["status"], &health["safety"]["dry_run"]), (&json!("ok"), &json!(false)));
    assert_eq!(health["exec"]["enabled"], false, "{health}");
}

#[test]
fn commands_are_off_by_default() {
    let site = site();
    let error = check_failure(site.post("/exec", json!({"command": "true"})), 403, "exec_disabled");
    assert!(error["message"].as_str().unwrap().contains("exec.enabled"), "{error}");
    check_failure(site.post("/exec", json!({})), 422, "validation_error");
}

/// H-08 on clickthrough: its own header, its own token.
#[test]
fn a_token_is_asked_for() {
    let site = site_with(json!({"clickthrough": {"token": "S3cret-Token"}}));
    check_failure(site.get("/health"), 401, "unauthorized");
    let shown = |value: &str| site.ask("GET", "/health", &[("x-clickthrough-token", value)], "");
    check_failure(shown("S3cret-Tokem"), 401, "unauthorized");
    ok(shown("S3cret-Token"));
}

/// H-01, H-03, H-05, H-07 on clickthrough: refused in the shape that its clients know.
#[test]
fn strangers_are_refused_in_the_same_shape() {
    let site = site();
    check_failure(site.ask("GET", "/health", &[("host", "evil.example:8123")], ""), 403, "permission_denied");
    check_failure(
        site.ask("POST", "/interact", &[("content-type", "text/plain")], "{}"),
        415,
        "unsupported_media_type",
    );
    let foreign = [("content-type", "application/json"), ("origin", "http://evil.example")];
    check_failure(site.ask("POST", "/interact", &foreign, "{}"), 403, "permission_denied");
    check_failure(site.get("/nowhere"), 404, "not_found");
    check_failure(site.get("/see"), 405, "method_not_allowed");
    assert!(site.mock.action_log().is_empty());
}

#[test]
fn nothing_of_it_is_there_unless_it_is_switched_on() {
    let site = Site::new();
    assert!(site.clickthrough.is_none());
    assert_eq!(site.post("/see", json!({})).status, 404);
    assert_eq!(site.post("/interact", json!({})).status, 404);
    let error = Site::try_with(json!({"clickthrough": {"enabled": true, "host": "0.0.0.0", "port": 0}}));
    assert!(error.err().unwrap().contains("CLICKTHROUGH_TOKEN"));
}

#[test]
fn pictures_are_compared() {
    let site = site();
    let still = ok(site.post("/vision/diff", json!({"wait_ms": 0})));
    assert_eq!(
        (&still["mode"], &still["changed"], &still["diff_ratio"]),
        (&json!("region"), &json!(false), &json!(0.0))
    );
    let seen = |fields: Value| {
        let mut wish = named(&dialog());
        wish.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        ok(site.post("/see", wish))["image"]["base64"].clone()
    };
    let before = seen(json!({"with_grid": false}));
    let after = seen(json!({"with_grid": true}));
    let brought = json!({"mode": "image", "before_base64": before, "after_base64": after});
    let changed = ok(site.post("/vision/diff", brought));
    assert_eq!((&changed["mode"], &changed["changed"]), (&json!("image"), &json!(true)), "{changed}");
    let stable = ok(site.post("/vision/stability", json!({"duration_ms": 60, "interval_ms": 20})));
    assert_eq!(stable["stable"], true, "{stable}");
    assert!(stable["sample_count"].as_u64().unwrap() >= 1 && stable["max_ratio"] == 0.0, "{stable}");
    let waited = ok(site.post("/wait", json!({"kind": "visual", "state": "stable", "timeout_ms": 5000})));
    assert_eq!(waited["satisfied"], true, "{waited}");
    let waited = ok(site.post("/wait", json!({"kind": "visual", "state": "change", "timeout_ms": 1})));
    assert_eq!(waited["satisfied"], false, "{waited}");
}

/// H-75 on clickthrough: the region
#[test]
fn a_region_confines_the_pointer() {
    let site = site_with(json!({"input": {"allowed_region": [200, 200, 300, 200]}}));
    assert_eq!(ok(site.get("/health"))["safety"]["allowed_region"], json!([200, 200, 300, 200]));
    ok(act(&site, pixel("click", 300, 212)));
    for action in ["click", "move", "scroll", "double_click"] {
        check_failure(act(&site, pixel(action, 150, 150)), 403, "permission_denied");
    }
    assert_eq!(site.mock.action_log().len(), 1);
}

#[test]
fn commands_need_their_secret() {
    let secret = "S3NT1NEL correct horse";
    let site = site_with(json!({"exec": {"enabled": true, "secret": secret}}));
    let facts = &ok(site.get("/health"))["exec"];
    assert_eq!(
        (&facts["enabled"], &facts["secret_configured"], &facts["timeout_s"]),
        (&json!(true), &json!(true), &json!(30))
    );
    let ask = |headers: &[(&str, &str)]| {
        let all: Vec<(&str, &str)> =
            headers.iter().copied().chain([("content-type", "application/json")]).collect();
        site.ask("POST", "/exec", &all, r#"{"command":"true","dry_run":true}"#)
    };
    check_failure(ask(&[]), 403, "permission_denied");
    check_failure(ask(&[("x-clickthrough-exec-secret", "S3NT1NEL correct mouse")]), 403, "permission_denied");
    let told = ok(ask(&[("x-clickthrough-exec-secret", secret)]));
    assert_eq!((&told["executed"], &told["shell"]), (&json!(false), &json!("bash")), "{told}");
}

#[test]
fn a_program_is_started_and_its_window_worked() {
    let site = Site::clickthrough(json!({}));
    Stage::load(&*site.mock, scenario::load_file(&project().join("scenarios/apps.yaml")).unwrap());
    let wish = json!({"executable": "calculator", "wait_for_window": true});
    let dry = ok(site.post("/launch", json!({"executable": "calculator", "dry_run": true})));
    assert_eq!(dry["executed"], false, "{dry}");
    let started = ok(site.post("/launch", wish));
    assert_eq!((&started["executed"], &started["window_found"]), (&json!(true), &json!(true)), "{started}");
    let action = |action: &str, title: &str| {
        site.post("/windows/action", json!({"action": action, "title_contains": title}))
    };
    let reached = ok(action("minimize", "Calculator"));
    assert_eq!((&reached["reached"], &reached["closed"]), (&json!(true), &json!(false)), "{reached}");
    assert_eq!(ok(action("close", "Calculator"))["closed"], true);
    check_failure(action("focus", "Calculator"), 404, "window_not_found");
    ok(site.post("/launch", json!({"executable": "calculator", "wait_for_window": true})));
    // Both titles have an o.
    let several = check_failure(action("focus", "o"), 409, "window_ambiguous");
    assert!(several["details"].to_string().contains("Calculator"), "{several}");
}
