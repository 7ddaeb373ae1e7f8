//! Pictures to point at: grids, numbers, parts, formats, and the way back from a cell to the screen.

use crate::support::{Client, World};
use os_screen_observer::model::encoding::ImageFormat;
use os_screen_observer::model::image::Picture;
use os_screen_observer::model::input::Act;
use os_screen_observer::platform::Stage;
use os_screen_observer::scenario;
use serde_json::{Value, json};

fn last_point(world: &World) -> (i32, i32) {
    match world.mock.action_log().last().unwrap() {
        Act::Click { at: Some(at), .. }
        | Act::Scroll { at: Some(at), .. }
        | Act::Hover { at: Some(at), .. } => (at.x, at.y),
        Act::Drag { to, .. } => (to.x, to.y),
        other => panic!("{other:?}"),
    }
}

/// The picture of a reply, decoded.
fn pixels(world: &World, tool: &str, args: Value) -> (ImageFormat, Picture) {
    let picture = world.reply(tool, args.clone()).picture.unwrap_or_else(|| panic!("{tool} {args}"));
    let decoded = image::load_from_memory(&picture.bytes).unwrap().to_rgba8();
    assert_eq!((decoded.width(), decoded.height()), (picture.width, picture.height));
    let (width, height) = decoded.dimensions();
    (picture.format, Picture::from_rgba(width, height, decoded.into_raw()).unwrap())
}

fn stage(world: &World, yaml: &str) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("stage.yaml");
    std::fs::write(&file, yaml).unwrap();
    world.mock.load(scenario::load_file(&file).unwrap());
    world.app.observer.forget_all();
}

fn window(uid: &str, place: &str) -> String {
    format!(
        "      - uid: {uid}\n        title: {uid}\n        bounds: {{{place}}}\n        tree: {{role: Window, name: {uid}}}\n"
    )
}

fn desktop(windows: &[String]) -> String {
    format!("name: w\nstates:\n  s:\n    windows:\n{}", windows.concat())
}

const PLACE: &str = "x: 100, y: 100, width: 400, height: 300";

// ── replies ────────────────────────────────────────────────────────────────────────────────────────

#[test]
fn without_an_overlay_nothing_new_is_said() {
    let world = World::new();
    for (tool, expected) in [
        (
            "get_screenshot",
            "ok success step_id caused_by_step_id window format encoding width height source_bbox image_id scale untrusted",
        ),
        (
            "get_full_screenshot",
            "ok success step_id caused_by_step_id window screenshot_scope format encoding width height sketch image_id scale untrusted",
        ),
    ] {
        let reply = world.ok(tool, json!({}));
        let keys: Vec<&str> = reply.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(keys.join(" "), expected);
    }
}

#[test]
fn a_grid_says_how_to_aim_and_changes_no_size() {
    let world = World::on("scenarios/form.yaml");
    let plain = world.ok("get_screenshot", json!({"window_index": 0}));
    let reply = world.ok("get_screenshot", json!({"window_index": 0, "grid": {"rows": 8, "cols": 10}}));
    assert_eq!((&reply["width"], &reply["height"]), (&plain["width"], &plain["height"]));
    let grid = &reply["grid"];
    assert_eq!(
        (&grid["rows"], &grid["cols"], &grid["indexing"]),
        (&json!(8), &json!(10), &json!("zero-based"))
    );
    assert_eq!((&grid["cell_width"], &grid["cell_height"]), (&json!(72.0), &json!(80.0)));
    assert_eq!((&grid["label_every_row"], &grid["label_every_col"]), (&json!(1), &json!(1)));
    assert!(reply.get("marks").is_none() && reply.get("warning").is_none(), "{reply}");
    let bare = world.ok("get_screenshot", json!({"window_index": 0, "grid": {"labels": false}}));
    assert_eq!((&bare["grid"]["rows"], &bare["grid"]["label_every_row"]), (&json!(12), &json!(0)));
}

#[test]
fn labels_that_do_not_fit_are_left_out_and_that_is_said() {
    let world = World::on("scenarios/form.yaml");
    let reply = world.ok("get_screenshot", json!({"window_index": 0, "grid": {"rows": 60, "cols": 60}}));
    assert_eq!(
        (&reply["grid"]["label_every_row"], &reply["grid"]["label_every_col"]),
        (&json!(5), &json!(5))
    );
    assert!(reply["warning"].as_str().unwrap().contains("every 5 rows"), "{reply}");
    let refused = world.call("get_screenshot", json!({"window_index": 0, "grid": {"rows": 300}}));
    assert!(refused["error"]["message"].as_str().unwrap().contains("at most 160"), "{refused}");
}

#[test]
fn marks_number_what_can_be_acted_on() {
    let world = World::on("scenarios/form.yaml");
    let reply = world.ok("get_screenshot", json!({"window_index": 0, "marks": true}));
    let marks = reply["marks"].as_array().unwrap();
    let numbers: Vec<u64> = marks.iter().map(|mark| mark["n"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (1..=marks.len() as u64).collect::<Vec<_>>());
    let send = marks.iter().find(|mark| mark["name"] == "Send").unwrap();
    assert_eq!(send["role"], "Button");
    let print = marks.iter().find(|mark| mark["name"] == "Print").unwrap();
    assert_eq!(print["disabled"], true);
    let clicked = world.ok("click_element", json!({"ref": send["ref"]}));
    assert_eq!(clicked["target"]["bounds"], send["bounds"]);
    assert_eq!(world.ok("find", json!({"text": "send"}))["matches"][0]["ref"], send["ref"]);
}

#[test]
fn on_a_screen_only_what_shows_is_marked() {
    let world = World::new();
    let button = |uid: &str, place: &str, x: i32| {
        window(uid, place).replace(
            &format!("tree: {{role: Window, name: {uid}}}"),
            &format!(
                "tree:\n          role: Window\n          name: {uid}\n          children:\n            - {{role: Button, name: {uid}-ok, \
                 bounds: {{x: {x}, y: 150, width: 80, height: 24}}}}"
            ),
        )
    };
    let front = button("mock:a", PLACE, 110).replace("title:", "focused: true\n        title:");
    stage(&world, &desktop(&[front, button("mock:b", "x: 120, y: 110, width: 800, height: 300", 130)]));
    let names = |args: Value| {
        let reply = world.ok("get_screenshot", args);
        let marks = reply["marks"].as_array().unwrap().clone();
        marks.into_iter().map(|mark| mark["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(names(json!({"marks": true})), ["mock:a-ok"]);
    assert_eq!(names(json!({"marks": true, "window_uid": "mock:b"})), ["mock:b-ok"]);
    let elsewhere = json!({"x": 600, "y": 300, "width": 50, "height": 50});
    assert!(names(json!({"marks": true, "region": elsewhere})).is_empty());
}

#[test]
fn a_region_is_cut_out_of_the_screen_or_the_window() {
    let world = World::new();
    let region = json!({"x": 100, "y": 80, "width": 90, "height": 40});
    let (_, screen) = pixels(&world, "get_screenshot", json!({"region": region}));
    let (_, window) = pixels(&world, "get_screenshot", json!({"region": region, "window_index": 0}));
    assert_eq!(screen, window, "the front window shows itself");
    let reply = world.ok("get_full_screenshot", json!({"region": region}));
    assert_eq!((&reply["screenshot_scope"], &reply["source_bbox"]), (&json!("region"), &region));
    let partly = json!({"x": -10, "y": -10, "width": 30, "height": 20});
    let error = world.call("get_screenshot", json!({"region": {"x": 5000, "y": 0, "width": 9, "height": 9}}));
    assert_eq!(error["error"]["code"], "BadRequest", "{error}");
    assert_eq!(world.code("get_screenshot", json!({"region": partly, "window_index": 0})), "BadRequest");
}

#[test]
fn formats_are_what_they_say() {
    let world = World::new();
    let part = json!({"x": 80, "y": 60, "width": 200, "height": 100});
    let take = |format: &str| pixels(&world, "get_screenshot", json!({"region": part, "format": format}));
    let (png, exact) = take("png");
    let (webp, same) = take("webp");
    let (jpeg, near) = take("jpeg");
    assert_eq!((png, webp, jpeg), (ImageFormat::Png, ImageFormat::Webp, ImageFormat::Jpeg));
    assert_eq!(exact, same);
    assert_ne!(exact, near);
    for (tool, args) in [
        ("get_screenshot", json!({"format": "webp", "quality": 50})),
        ("get_full_screenshot", json!({"quality": 50})),
        ("zoom", json!({"x": 300, "y": 200, "format": "png", "quality": 50})),
        ("get_screenshot", json!({"format": "jpeg", "quality": 0})),
        ("get_screenshot", json!({"format": "gif"})),
    ] {
        assert_eq!(world.code(tool, args.clone()), "BadRequest", "{tool} {args}");
    }
}

#[test]
fn over_mcp_the_image_block_has_the_right_type() {
    let mut client = Client::mock(&[]);
    for (format, mime) in [("png", "image/png"), ("jpeg", "image/jpeg"), ("webp", "image/webp")] {
        let result = client.call("get_screenshot", json!({"window_index": 0, "format": format}));
        assert_eq!(result["content"][1]["mimeType"], mime);
    }
}

/// H-60 on code: regions and zooms
#[test]
fn secrets_are_black_in_every_picture() {
    let config = json!({"redaction": {"enabled": true, "element_name_patterns": ["Employee"], "blur_screenshots": true}});
    let world = World::build(Some("scenarios/form.yaml"), config);
    let field = json!({"x": 330, "y": 135, "width": 100, "height": 14});
    for (tool, args) in [
        ("get_screenshot", json!({"region": field})),
        ("get_screenshot", json!({"region": field, "window_index": 0})),
        ("get_full_screenshot", json!({"region": field})),
        (
            "zoom",
            json!({"x": 380, "y": 142, "width": 60, "height": 10, "grid": {"rows": 1, "cols": 1, "labels": false}}),
        ),
    ] {
        let (_, picture) = pixels(&world, tool, args.clone());
        assert!(picture.is_one_colour(), "{tool} {args}");
        assert_eq!(picture.pixel(0, 0), Some([0, 0, 0, 255]));
    }
}

// ── zoom ───────────────────────────────────────────────────────────────────────────────────────────

#[test]
fn zoom_shows_a_place_enlarged() {
    let world = World::new();
    let check = |args: Value, size: (u32, u32), source: Value| {
        let reply = world.ok("zoom", args.clone());
        assert_eq!((&reply["width"], &reply["height"]), (&json!(size.0), &json!(size.1)), "{args}");
        assert_eq!(reply["source_bbox"], source, "{args}");
    };
    let rect = |x, y, width, height| json!({"x": x, "y": y, "width": width, "height": height});
    check(json!({"x": 400, "y": 300}), (1000, 700), rect(150, 125, 500, 350));
    // What is drawn of this desktop begins at its first window.
    check(json!({"x": 0, "y": 0}), (840, 580), rect(80, 60, 420, 290));
    check(json!({"x": 400, "y": 300, "width": 100}), (800, 560), rect(350, 265, 100, 70));
    check(json!({"element_id": "root.0.1"}), (960, 672), rect(106, 60, 120, 84));
    check(json!({"x": 400, "y": 300, "window_index": 0, "width": 9999}), (800, 600), rect(80, 60, 800, 600));
}

#[test]
fn zoom_needs_something_to_look_at() {
    let world = World::new();
    for args in [
        json!({}),
        json!({"x": 5}),
        json!({"row": 1, "col": 1}),
        json!({"x": 30000, "y": 5}),
        json!({"selector": "Window/Nope["}),
    ] {
        assert_eq!(world.code("zoom", args.clone()), "BadRequest", "{args}");
    }
    assert_eq!(world.code("zoom", json!({"selector": "Window/Nope"})), "ElementNotFound");
}

// ── pointing ───────────────────────────────────────────────────────────────────────────────────────

#[test]
fn a_cell_of_a_picture_is_a_place_on_the_screen() {
    let world = World::new();
    let shot = world.ok("get_screenshot", json!({"window_index": 0, "grid": {"rows": 6, "cols": 8}}));
    let check = |spot: Value, expected: (i32, i32)| {
        let mut args = spot.clone();
        args["image"] = shot["image_id"].clone();
        for tool in ["click_at", "scroll", "hover_at", "right_click_at", "double_click_at"] {
            world.ok(tool, args.clone());
            assert_eq!(last_point(&world), expected, "{tool} {spot}");
        }
        world.ok("drag", json!({"from": {"x": 100, "y": 100}, "to": args, "duration_s": 0}));
        assert_eq!(last_point(&world), expected, "drag {spot}");
    };
    check(json!({"row": 0, "col": 0}), (130, 110));
    check(json!({"row": 5, "col": 7}), (830, 610));
    check(json!({"row": 2, "col": 3, "dx": 0.2, "dy": -0.5}), (440, 285));
    check(json!({"row": 2, "col": 3, "dx": -1, "dy": 1}), (380, 359));
    check(json!({"x": 350, "y": 250}), (430, 310));
}

#[test]
fn a_cell_of_a_zoom_is_a_fine_place() {
    let world = World::new();
    let shot = world.ok("get_screenshot", json!({"window_index": 0, "grid": {}}));
    let zoom = world.ok("zoom", json!({"image": shot["image_id"], "row": 6, "col": 6, "width": 100}));
    assert_eq!(zoom["window"], shot["window"], "it stays with the window of the picture");
    let source = &zoom["source_bbox"];
    assert_eq!(source, &json!({"x": 463, "y": 350, "width": 100, "height": 70}));
    world.ok("click_at", json!({"image": zoom["image_id"], "row": 0, "col": 0}));
    assert_eq!(last_point(&world), (465, 351));
    world.ok("click_at", json!({"image_id": zoom["image_id"], "x": 799, "y": 559}));
    assert_eq!(last_point(&world), (562, 419));
}

#[test]
fn what_is_no_place_is_refused_by_name() {
    let world = World::new();
    let gridded = world.ok("get_screenshot", json!({"window_index": 0, "grid": {"rows": 6, "cols": 8}}));
    let gridded = gridded["image_id"].clone();
    let plain = world.ok("get_screenshot", json!({"window_index": 0}))["image_id"].clone();
    let check = |args: Value, field: &str, says: &str| {
        for tool in ["click_at", "scroll"] {
            let error = world.call(tool, args.clone())["error"].clone();
            assert_eq!(error["code"], "BadRequest", "{args}: {error}");
            assert_eq!(error["context"]["field"], field, "{args}: {error}");
            assert!(error["message"].as_str().unwrap().contains(says), "{args}: {error}");
        }
    };
    check(json!({"image": gridded, "row": 6, "col": 0}), "row", "rows 0 to 5");
    check(json!({"image": gridded, "row": 0, "col": 8}), "col", "cols 0 to 7");
    check(json!({"image": plain, "row": 0, "col": 0}), "row", "a screenshot with a grid");
    check(json!({"image": gridded, "row": 0}), "row", "together");
    check(json!({"image": gridded, "row": 0, "col": 0, "x": 1, "y": 1}), "row", "not both");
    check(json!({"image": gridded}), "row", "row and col");
    check(json!({"row": 0, "col": 0}), "image", "need image");
    check(json!({"image": gridded, "x": 1, "y": 1, "dx": 0.5}), "dx", "give row and col too");
    check(json!({"image": gridded, "row": 0, "col": 0, "dx": 1.5}), "dx", "between -1 and 1");
    check(json!({"image": gridded, "row": -1, "col": 0}), "row", "between 0");
    check(json!({"image": gridded, "image_id": plain, "row": 0, "col": 0}), "image", "same argument");
    check(json!({"x": 1}), "y", "required");
    assert_eq!(world.effects(), 0);
    assert_eq!(world.call("click_at", json!({}))["error"]["context"]["field"], "x");
}

/// H-94 on code: the screen or the window is another.
#[test]
fn a_picture_of_a_window_that_changed_is_refused_with_what_changed() {
    let check = |then: &str, says: &str| {
        let world = World::new();
        stage(&world, &desktop(&[window("mock:w", PLACE)]));
        let id = world.ok("get_screenshot", json!({"window_uid": "mock:w", "grid": {}}))["image_id"].clone();
        let click = json!({"image": id, "row": 3, "col": 3});
        world.ok("click_at", click.clone());
        stage(&world, then);
        let refused = world.call("click_at", click);
        assert!(refused["error"]["message"].as_str().unwrap().contains(says), "{refused}");
        assert_eq!(world.effects(), 1);
    };
    let moved = PLACE.replace("x: 100", "x: 130");
    check(&desktop(&[window("mock:w", &moved)]), "moved from 100,100 to 130,100");
    let larger = PLACE.replace("300", "320");
    check(&desktop(&[window("mock:w", &larger)]), "400x300 pixels and has 400x320 now");
    check(&desktop(&[window("mock:v", PLACE)]), "out of date: no window has the uid");
    let screen =
        desktop(&[window("mock:w", PLACE)]).replace("states:", "screen: {width: 1280, height: 720}\nstates:");
    check(&screen, "is 1280x720 at 0,0 now");
}

#[test]
fn a_picture_of_the_screen_holds_as_long_as_what_lies_at_the_point() {
    let check = |then: &[String], says: Option<&str>| {
        let world = World::new();
        stage(&world, &desktop(&[window("mock:w", PLACE)]));
        let id = world.ok("get_screenshot", json!({"grid": {}}))["image_id"].clone();
        stage(&world, &desktop(then));
        let click = world.call("click_at", json!({"image": id, "row": 2, "col": 1, "dy": -0.5}));
        match says {
            None => assert_eq!(click["ok"], true, "{click}"),
            Some(says) => assert!(click["error"]["message"].as_str().unwrap().contains(says), "{click}"),
        }
    };
    let w = || window("mock:w", PLACE);
    check(&[w()], None);
    check(&[w(), window("mock:v", "x: 900, y: 500, width: 200, height: 200")], None);
    check(&[window("mock:w", &PLACE.replace("y: 100", "y: 110"))], Some("moved from 100,100 to 100,110"));
    check(&[window("mock:w", "x: 900, y: 500, width: 400, height: 300")], Some("no longer at"));
    let over = window("mock:v", PLACE).replace("title:", "focused: true\n        title:");
    check(&[over, w()], Some("another window, mock:v, is at"));
}

/// H-66 on code: the cell of a picture
#[test]
fn consent_is_asked_for_what_lies_in_the_cell() {
    let world = World::with(json!({"confirmation_required": [{"role": "MenuItem", "name_regex": "^Edit$"}]}));
    let zoom = world.ok("zoom", json!({"element_id": "root.0.1", "grid": {"rows": 1, "cols": 1}}));
    let edit = json!({"image": zoom["image_id"], "row": 0, "col": 0, "dx": 0, "dy": -0.9});
    assert_eq!(world.code("click_at", edit), "ConfirmationRequired");
}
