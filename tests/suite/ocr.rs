//! Text read from pictures, parts of pictures, and clicks on pixels of pictures.

use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use crate::support::test_platform::TestPlatform;
use crate::support::{Client, World};
use os_screen_observer::app::App;
use os_screen_observer::clock::{Cancel, Clock};
use os_screen_observer::config::Flags;
use os_screen_observer::gate::{Call, Origin, Reply};
use os_screen_observer::model::input::Act;
use os_screen_observer::model::{Monitor, Rect};
use os_screen_observer::observer::WindowChoice;
use os_screen_observer::platform::{Accessibility, Stage};
use os_screen_observer::scenario;
use os_screen_observer::tool::Selection;
use serde_json::{Value, json};

/// A world for each way to read: as the build prefers, and by the program.
fn with_each_engine(config: Value, check: impl Fn(&World)) {
    for command in [None, Some("tesseract")] {
        let mut config = config.clone();
        if let Some(command) = command {
            config["ocr"]["tesseract_cmd"] = json!(command);
        }
        check(&World::with(config));
    }
}

fn words(reply: &Value) -> Vec<&str> {
    reply["words"].as_array().unwrap().iter().map(|word| word["text"].as_str().unwrap()).collect()
}

fn read(world: &World, args: Value) -> String {
    words(&world.ok("get_ocr", args)).join(" ")
}

// ── reading ────────────────────────────────────────────────────────────────────────────────────────

#[test]
fn the_default_window_is_read_right() {
    with_each_engine(json!({}), |world| {
        let text = read(world, json!({"window_index": 0}));
        for part in [
            "File Edit Format View Help",
            "Hello, world! This is a test document. Line 3 has some content here.",
            "Ln 1, Col 1 100% UTF-8 Windows (CRLF) Word Wrap",
        ] {
            assert!(text.contains(part), "'{part}' is not in: {text}");
        }
    });
}

#[test]
fn a_window_without_elements_is_told_by_its_lines() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("dark.yaml");
    let scenario = "states: {one: {windows: [{uid: dark, title: Harbour lights, tree: {role: Document, name: Screen, value: Harbour lights}}]}}";
    std::fs::write(&file, scenario).unwrap();
    let world = World::new();
    Stage::load(&*world.mock, scenario::load_file(&file).unwrap());
    let plain = world.ok("get_window_structure", json!({}));
    assert_eq!((&plain["element_count"], plain.get("warning")), (&json!(1), None), "only when asked");
    let read = world.ok("get_window_structure", json!({"ocr": true}));
    let line = &read["tree"]["children"][0];
    assert_eq!((&line["role"], &line["name"]), (&json!("TextLine"), &json!("Harbour lights")), "{read}");
    assert!(read["warning"].as_str().unwrap().contains("their refs can be clicked"));
    assert!(read["tree_token"].is_null() && read["degraded"]["reason"] == "sparse_accessibility_tree");
    let known = World::new().ok("get_window_structure", json!({"ocr": true}));
    assert_eq!(known["element_count"], 17, "a window with elements needs no reading");
}

#[test]
fn words_are_where_they_are_drawn() {
    let world = World::new();
    let reply = world.ok("get_ocr", json!({"window_index": 0}));
    let edit = reply["words"].as_array().unwrap().iter().find(|word| word["text"] == "Edit").unwrap();
    // The menu item spans 58,0 to 114,22 of the window.
    let (x, y) = (edit["bbox"]["x"].as_i64().unwrap(), edit["bbox"]["y"].as_i64().unwrap());
    assert!((58..80).contains(&x) && (0..15).contains(&y), "{edit}");
    assert!((80..=100).contains(&edit["confidence"].as_i64().unwrap()), "{edit}");
    assert!(reply["untrusted"] == true && reply["window_uid"].as_str().unwrap().starts_with("mock:0:"));
}

#[test]
fn a_part_is_read_alone_and_its_boxes_are_its_own() {
    with_each_engine(json!({}), |world| {
        let menu = json!({"window_index": 0, "bbox": {"x": 0, "y": 0, "width": 400, "height": 22}});
        assert_eq!(read(world, menu), "File Edit Format View Help");
        let element = world.ok("get_ocr", json!({"window_index": 0, "element_id": "root.0.1"}));
        assert_eq!(words(&element), ["Edit"]);
        assert!(element["words"][0]["bbox"]["x"].as_i64().unwrap() < 20, "{element}");
    });
}

#[test]
fn unsure_words_are_left_out() {
    let world = World::new();
    let count =
        |least: i64| words(&world.ok("get_ocr", json!({"window_index": 0, "min_confidence": least}))).len();
    assert!(count(0) > count(95) && count(95) > 5, "{} {}", count(0), count(95));
}

#[test]
fn what_cannot_be_read_is_said() {
    let world = World::new();
    assert_eq!(world.code("get_ocr", json!({})), "BadRequest");
    assert_eq!(world.code("get_ocr", json!({"window_index": 99})), "BadRequest");
    assert_eq!(world.code("get_ocr", json!({"window_uid": "no:such"})), "WindowGone");
    assert_eq!(world.code("get_ocr", json!({"window_index": 0, "element_id": "root.99"})), "ElementNotFound");
    let outside = json!({"window_index": 0, "bbox": {"x": 900, "y": 0, "width": 5, "height": 5}});
    assert_eq!(world.code("get_ocr", outside.clone()), "BadRequest");
    assert_eq!(world.code("get_screenshot_cropped", outside), "BadRequest");
    let empty = json!({"window_index": 0, "bbox": {"x": 0, "y": 0, "width": 0, "height": 5}});
    assert_eq!(world.code("get_ocr", empty), "BadRequest");
}

// ── description and sketch ─────────────────────────────────────────────────────────────────────────

fn description(world: &World, args: Value) -> (String, String) {
    let reply = world.ok("get_screen_description", args);
    (reply["effective_mode"].as_str().unwrap().to_owned(), reply["description"].as_str().unwrap().to_owned())
}

#[test]
fn a_description_has_the_parts_that_were_asked_for() {
    let world = World::new();
    let (mode, both) = description(&world, json!({"window_index": 0}));
    let (accessibility, ocr) = both.split_once("\n\n[ocr]\n").unwrap();
    assert!(mode == "combined" && accessibility.starts_with("[accessibility]\n"), "{both}");
    assert!(ocr.contains("Hello, world!"), "{ocr}");
    let (mode, only) = description(&world, json!({"window_index": 0, "mode": "ocr"}));
    assert_eq!((mode.as_str(), only), ("ocr", format!("[ocr]\n{ocr}")));
    for asked in ["accessibility", "auto"] {
        let (mode, only) = description(&world, json!({"window_index": 0, "mode": asked}));
        assert_eq!((mode.as_str(), only.as_str()), ("accessibility", accessibility), "{asked}");
    }
    let told = world.ok("get_screen_description", json!({"mode": "vlm"}))["description"].to_string();
    assert!(told.contains("[VLM not asked: no vision model is enabled"), "{told}");
}

#[test]
fn auto_reads_where_the_tree_says_little() {
    let world = World::with(json!({"tree": {"sparse_threshold": 100}}));
    let (mode, text) = description(&world, json!({"window_index": 0, "mode": "auto"}));
    assert!(mode == "combined" && text.contains("\n\n[ocr]\n"), "{text}");
}

#[test]
fn a_sketch_can_show_what_is_read() {
    let world = World::new();
    let plain = world.ok("get_screen_sketch", json!({"window_index": 0}));
    assert!(plain.get("ocr_overlay").is_none());
    let read = world.ok("get_screen_sketch", json!({"window_index": 0, "ocr": true}));
    assert_eq!(read["ocr_overlay"], true);
    assert_ne!(plain["sketch"], read["sketch"]);
    assert!(read["sketch"].as_str().unwrap().contains("This is a test docume"), "{}", read["sketch"]);
    let full = world.ok("get_full_screenshot", json!({"window_index": 0}));
    assert_eq!(full["sketch"], read["sketch"]);
    let bare = world.ok("get_full_screenshot", json!({"window_index": 0, "ocr": false}));
    assert_eq!(bare["sketch"], plain["sketch"]);
}

/// Three panels without a name. Labels that lie over two of them stand for what an application paints into
/// them; the third is empty.
const PANELS: &str = "name: w
states:
  s:
    windows:
      - uid: mock:w
        title: Panels
        bounds: {x: 0, y: 0, width: 600, height: 400}
        tree:
          role: Window
          name: Panels
          children:
            - {role: Custom, bounds: {x: 20, y: 60, width: 260, height: 60}}
            - {role: Text, name: Quarterly report, bounds: {x: 40, y: 75, width: 200, height: 30}}
            - {role: Pane, bounds: {x: 300, y: 60, width: 260, height: 60}}
            - {role: Text, name: Second panel, bounds: {x: 320, y: 75, width: 200, height: 30}}
            - {role: Custom, bounds: {x: 20, y: 200, width: 260, height: 60}}
";

fn panels(config: Value) -> World {
    let world = World::with(config);
    stage(&world, PANELS);
    world
}

fn panel_sketch(world: &World) -> Value {
    world.ok("get_screen_sketch", json!({"window_uid": "mock:w", "ocr": true, "structured": true}))
}

/// What was read in each element; null where nothing was.
fn read_in_elements(sketch: &Value) -> Vec<&Value> {
    sketch["elements"].as_array().unwrap().iter().map(|element| &element["ocr_text"]).collect()
}

#[test]
fn what_has_no_name_is_named_by_what_is_read_in_it() {
    with_each_engine(json!({}), |world| {
        stage(world, PANELS);
        let sketch = panel_sketch(world);
        let expected = [Value::Null, json!("Quarterly report"), Value::Null, json!("Second panel")];
        assert_eq!(read_in_elements(&sketch)[..4], expected.iter().collect::<Vec<_>>());
        assert_eq!(read_in_elements(&sketch)[4..], [&Value::Null; 2]);
        assert_eq!(sketch["elements"][1]["name"], "");
        assert_eq!(sketch["legend"]["B"], "Custom \"Quarterly report\"");
        assert!(sketch.get("warning").is_none(), "{}", sketch["warning"]);
    });
    let world = panels(json!({}));
    let plain = world.ok("get_screen_sketch", json!({"window_uid": "mock:w", "structured": true}));
    assert!(!plain.to_string().contains("ocr_text"));
}

#[test]
fn elements_that_are_not_read_are_counted() {
    for (most, read) in [(0, 0), (1, 1), (2, 2)] {
        let world = panels(json!({"ocr": {"max_roi_crops": most}}));
        let sketch = panel_sketch(&world);
        let names = read_in_elements(&sketch).into_iter().filter(|text| text.is_string()).count();
        assert_eq!(names, read, "{sketch}");
        let expected =
            format!("{} of 3 elements without a name were not read: ocr.max_roi_crops is {most}", 3 - most);
        assert_eq!(sketch["warning"], expected);
    }
    assert!(panel_sketch(&panels(json!({"ocr": {"max_roi_crops": 3}}))).get("warning").is_none());
}

#[cfg(unix)]
#[test]
fn elements_are_read_in_their_own_mode_and_within_the_time_of_one_picture() {
    // Notes the mode; hangs on the second element.
    let line = r"printf '5\t1\t1\t1\t1\t1\t2\t4\t6\t8\t90\tpart\n'";
    let reading = format!(
        "cat >/dev/null; echo $4 >> \"$0.modes\"; \
         if [ $(grep -c '^8$' \"$0.modes\") = 2 ]; then exec sleep 60; fi; {line}"
    );
    let (folder, path) = fake_engine(&reading);
    let world = panels(json!({"ocr": {"tesseract_cmd": path, "timeout_s": 10, "psm_roi": 8}}));
    let sketch = panel_sketch(&world);
    let modes = std::fs::read_to_string(folder.path().join("tesseract.modes")).unwrap();
    assert_eq!(modes, "11\n11\n8\n8\n");
    assert_eq!(sketch["elements"][1]["ocr_text"], "part");
    let warning = sketch["warning"].as_str().unwrap();
    assert!(warning.starts_with("2 of 3 elements without a name were not read: OCR timed out"), "{warning}");
}

#[test]
fn text_for_others_is_the_descriptions() {
    let world = World::new();
    let observer = &world.app.observer;
    let chosen =
        observer.resolve_window(&WindowChoice { index: Some(0), ..WindowChoice::default() }).unwrap();
    let text = observer.ocr_text(&chosen, &Cancel::new()).unwrap();
    assert_eq!(description(&world, json!({"mode": "ocr"})).1, format!("[ocr]\n{text}"));
}

// ── switched off, not there, stuck ─────────────────────────────────────────────────────────────────

#[test]
fn switched_off_is_off() {
    let world = World::with(json!({"ocr": {"enabled": false}}));
    assert_eq!(world.code("get_ocr", json!({"window_index": 0})), "PlatformUnsupported");
    assert_eq!(
        description(&world, json!({"mode": "ocr"})).1,
        "[ocr]\n[OCR disabled in config (ocr.enabled = false)]"
    );
    assert!(!description(&world, json!({})).1.contains("[ocr]"));
    assert_eq!(world.ok("get_capabilities", json!({}))["supports"]["ocr"], false);
    let full = world.ok("get_full_screenshot", json!({"window_index": 0}));
    assert!(full["sketch"].is_string() && full.get("warning").is_none());
    let asked = world.ok("get_screen_sketch", json!({"window_index": 0, "ocr": true}));
    assert_eq!(asked["ocr_overlay"], false);
    assert!(asked["warning"].as_str().unwrap().contains("ocr.enabled"), "{}", asked["warning"]);
}

#[test]
fn without_an_engine_the_way_to_one_is_said() {
    let nothing = tempfile::tempdir().unwrap();
    let nothing = nothing.path().to_str().unwrap();
    // The library has its data taken away, the program its path.
    let environment = [("PATH", nothing), ("TESSDATA_PREFIX", nothing)];
    let mut client = Client::start_with(&["--mode", "mcp", "--mock"], &environment);
    client.initialize("2025-11-25");
    let mut call = |tool: &str, args: Value| {
        let answer = client.request("tools/call", json!({"name": tool, "arguments": args}));
        let text = answer["result"]["content"][0]["text"].as_str().unwrap();
        serde_json::from_str::<Value>(text).unwrap()
    };
    let refused = call("get_ocr", json!({"window_index": 0}));
    assert_eq!(refused["error"]["code"], "PlatformUnsupported", "{refused}");
    let fix = refused["error"]["context"]["fix"].as_str().unwrap();
    assert!(fix.contains("tesseract") && refused["error"]["message"].as_str().unwrap().ends_with(fix));
    let described = call("get_screen_description", json!({"window_index": 0}));
    let text = described["description"].as_str().unwrap();
    assert!(text.contains("\n\n[ocr]\n[no OCR engine: ") && text.contains(fix), "{text}");
    assert_eq!(call("get_capabilities", json!({}))["supports"]["ocr"], false);
}

#[test]
fn with_an_engine_the_capability_is_there() {
    with_each_engine(json!({}), |world| {
        let told = world.ok("get_capabilities", json!({}));
        assert_eq!(told["supports"]["ocr"], true);
        let engine = told["ocr_engine"].as_str().unwrap();
        assert!(
            engine.starts_with("tesseract ") && (engine.contains("(program ") || engine.contains("(library"))
        );
        assert!(world.app.config.ocr.tesseract_cmd.is_none() || engine.contains("(program "), "{engine}");
    });
}

#[cfg(unix)]
pub fn fake_engine(reading: &str) -> (tempfile::TempDir, std::path::PathBuf) {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tesseract");
    let body = format!(
        "#!/bin/sh\ncase $1 in --version) echo tesseract 5;; --list-langs) echo eng;; *) {reading} ;; esac\n"
    );
    std::fs::write(&path, body).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    (folder, path)
}

#[cfg(unix)]
fn is_running(pid: &str) -> bool {
    std::process::Command::new("kill").args(["-0", pid]).output().unwrap().status.success()
}

#[cfg(unix)]
#[test]
fn a_stuck_engine_is_ended_after_its_time() {
    let (folder, path) = fake_engine("echo $$ > \"$0.pid\"; exec sleep 60");
    let world = World::with(json!({"ocr": {"tesseract_cmd": path, "timeout_s": 5}}));
    let began = std::time::Instant::now();
    assert_eq!(world.code("get_ocr", json!({"window_index": 0})), "Timeout");
    assert!(began.elapsed() < Duration::from_secs(40));
    let pid = std::fs::read_to_string(folder.path().join("tesseract.pid")).unwrap();
    assert!(!is_running(pid.trim()), "the engine still runs");
}

#[cfg(unix)]
#[test]
fn a_cancelled_reading_ends_at_once() {
    let (folder, path) = fake_engine("echo $$ > \"$0.pid\"; exec sleep 60");
    let world = World::with(json!({"ocr": {"tesseract_cmd": path}}));
    let cancel = Cancel::new();
    let call = Call { tool: "get_ocr".to_owned(), args: json!({"window_index": 0}), origin: Origin::Test };
    let began = std::time::Instant::now();
    let reply = std::thread::scope(|scope| {
        let running = scope.spawn(|| world.app.gate.pass_call(call, &cancel));
        let marker = folder.path().join("tesseract.pid");
        while std::fs::read_to_string(&marker).unwrap_or_default().is_empty() {
            assert!(began.elapsed() < Duration::from_secs(20), "the engine was never started");
            std::thread::sleep(Duration::from_millis(10));
        }
        cancel.fire();
        running.join().unwrap()
    });
    assert_eq!(reply.value()["error"]["code"], "Cancelled");
    assert!(began.elapsed() < Duration::from_secs(25));
    let pid = std::fs::read_to_string(folder.path().join("tesseract.pid")).unwrap();
    assert!(!is_running(pid.trim()), "the engine still runs");
}

#[cfg(unix)]
#[test]
fn what_was_just_read_is_not_read_again() {
    let line = r"printf '5\t1\t1\t1\t1\t1\t2\t4\t6\t8\t90\tonce\n'";
    let (folder, path) = fake_engine(&format!("cat >/dev/null; echo x >> \"$0.count\"; {line}"));
    let world = World::with(json!({"ocr": {"tesseract_cmd": path}}));
    for _ in 0..3 {
        assert_eq!(read(&world, json!({"window_index": 0})), "once");
    }
    let runs = || std::fs::read_to_string(folder.path().join("tesseract.count")).unwrap().lines().count();
    // As it is, and without the frames of buttons.
    assert_eq!(runs(), 2);
    world.app.clock.advance(Duration::from_secs(31));
    read(&world, json!({"window_index": 0}));
    assert_eq!(runs(), 4);
}

#[test]
fn a_path_that_does_not_exist_does_not_hide_the_program() {
    let world =
        World::with(json!({"ocr": {"tesseract_cmd": "C:/Program Files/Tesseract-OCR/tesseract.exe"}}));
    assert!(read(&world, json!({"window_index": 0})).contains("Hello, world!"));
}

// ── what must not be read ──────────────────────────────────────────────────────────────────────────

fn reads(world: &World) -> Vec<(&'static str, String)> {
    [
        ("get_ocr", json!({"window_index": 0, "min_confidence": 0})),
        ("get_ocr", json!({"window_index": 0, "element_id": "root.1", "min_confidence": 0})),
        ("get_screen_description", json!({"window_index": 0, "mode": "ocr"})),
        ("get_screen_sketch", json!({"window_index": 0, "ocr": true})),
        ("get_full_screenshot", json!({"window_index": 0})),
    ]
    .map(|(tool, args)| (tool, world.ok(tool, args).to_string()))
    .into()
}

/// H-118, H-152 on code: what a pattern hides in the tree is not read from the picture, by any engine, and the rest is
#[test]
fn what_a_pattern_hides_is_not_read() {
    with_each_engine(json!({"redaction": {"ocr_text_patterns": ["Hello", r"test\s+document"]}}), |world| {
        let text = read(world, json!({"window_index": 0}));
        assert!(text.contains("world") && text.contains("Line 3"), "{text}");
        for (tool, reply) in reads(world) {
            assert!(!reply.contains("Hello") && !reply.contains("test doc"), "{tool}: {reply}");
        }
    });
}

#[test]
fn an_element_that_a_rule_hides_is_not_read() {
    // Pictures are not blackened here: reading is not allowed to see more than the tree shows.
    let world = World::with(json!({"redaction": {"element_name_patterns": ["Text Editor"]}}));
    for (tool, reply) in reads(&world) {
        assert!(!reply.contains("world") && !reply.contains("Line"), "{tool}: {reply}");
    }
    let private = World::with(json!({"redaction": {"window_title_patterns": ["Notepad"]}}));
    assert_eq!(read(&private, json!({"window_index": 0})), "");
    assert_eq!(description(&private, json!({"mode": "ocr"})).1, "[ocr]\n[No text detected by OCR]");
}

#[test]
fn a_hidden_name_is_not_read_into_what_lies_under_it() {
    let hiding = |rule: Value| {
        let sketch = panel_sketch(&panels(json!({"redaction": rule})));
        assert!(!sketch.to_string().contains("uarterly"), "{sketch}");
        assert_eq!(sketch["elements"][3]["ocr_text"], "Second panel");
        (sketch["elements"][1]["ocr_text"].clone(), sketch["warning"].clone())
    };
    let nothing = (Value::Null, Value::Null);
    assert_eq!(hiding(json!({"element_name_patterns": ["Quarterly"]})), nothing);
    assert_eq!(hiding(json!({"ocr_text_patterns": [r"Quarterly\s+report"]})), nothing);
    let private = panel_sketch(&panels(json!({"redaction": {"window_title_patterns": ["Panels"]}})));
    assert!(!private.to_string().contains("ocr_text"), "{private}");
}

/// The mock, except that its document is a secret that its picture shows in the clear, and that it has
/// a monitor of twice as many pixels.
fn showing(clock: &Clock) -> TestPlatform {
    TestPlatform::on(clock)
        .with_desktop(|desktop| {
            desktop.monitors = Box::new(|_| {
                let (logical, physical) = (Rect::new(0, 0, 960, 540), Rect::new(0, 0, 1920, 1080));
                Ok(vec![Monitor { primary: true, scale_factor: 2.0, logical, physical }])
            });
        })
        .with_tree(|mock, window, patience| {
            let tree = mock.tree(window, patience)?;
            Ok(tree.map_elements(|element| element.secret |= element.role == "Document"))
        })
}

struct ShowingWorld {
    app: App,
    platform: Arc<TestPlatform>,
}

fn showing_world() -> ShowingWorld {
    let clock = Clock::steered();
    let platform = Arc::new(showing(&clock));
    let flags = Flags { mock: true, ..Flags::default() };
    let loaded = os_screen_observer::config::load(&flags, std::iter::empty()).unwrap();
    let app = App::new(loaded, &Selection::default(), platform.clone(), clock).unwrap();
    ShowingWorld { app, platform }
}

impl ShowingWorld {
    fn call(&self, tool: &str, args: Value) -> Reply {
        self.app.gate.pass_call(Call { tool: tool.to_owned(), args, origin: Origin::Test }, &Cancel::new())
    }
}

#[test]
fn a_secret_is_never_read_even_where_it_is_shown() {
    let world = showing_world();
    for (tool, args) in [
        ("get_ocr", json!({"window_index": 0, "min_confidence": 0})),
        ("get_screen_description", json!({"window_index": 0})),
        ("get_screen_sketch", json!({"window_index": 0, "ocr": true})),
        ("get_full_screenshot", json!({"window_index": 0})),
    ] {
        let text = world.call(tool, args).text();
        for word in ["Hello", "world", "test document", "content"] {
            assert!(!text.contains(word), "{tool} shows {word}: {text}");
        }
    }
}

#[test]
fn names_on_the_screen_reach_no_shell() {
    let folder = tempfile::tempdir().unwrap();
    let victim = folder.path().join("pwned");
    let title = format!("; touch {0} $(touch {0}) --psm `touch {0}`", victim.display());
    with_each_engine(json!({}), |world| {
        stage(world, &window(&title, "100, y: 100, width: 700, height: 300"));
        world.ok("get_ocr", json!({"window_uid": "mock:w"}));
        let described = description(world, json!({"window_uid": "mock:w"})).1;
        assert!(described.contains("touch"), "the name is not on the screen: {described}");
        world.ok("get_full_screenshot", json!({"window_uid": "mock:w"}));
    });
    assert!(!victim.exists() && !crate::support::project().join("pwned").exists());
}

// ── parts of pictures ──────────────────────────────────────────────────────────────────────────────

fn size(world: &World, tool: &str, args: Value) -> (u32, u32) {
    let png = world.reply(tool, args).picture.expect("a picture");
    let picture = image::load_from_memory(&png.bytes).unwrap();
    assert_eq!((picture.width(), picture.height()), (png.width, png.height));
    (png.width, png.height)
}

#[test]
fn crops_are_cut_to_the_window() {
    let world = World::new();
    let check = |args: Value, expected_size: (u32, u32), source: Value| {
        let mut all = args.clone();
        all["window_index"] = json!(0);
        assert_eq!(size(&world, "get_screenshot_cropped", all.clone()), expected_size, "{args}");
        assert_eq!(world.ok("get_screenshot_cropped", all)["source_bbox"], source, "{args}");
    };
    check(json!({}), (800, 600), json!({"x": 0, "y": 0, "width": 800, "height": 600}));
    check(
        json!({"element_id": "root.0.1", "padding_px": 2}),
        (60, 24),
        json!({"x": 56, "y": 0, "width": 60, "height": 24}),
    );
    check(
        json!({"bbox": {"x": -5, "y": 590, "width": 25, "height": 99}}),
        (20, 10),
        json!({"x": 0, "y": 590, "width": 20, "height": 10}),
    );
    check(
        json!({"bbox": {"x": 100, "y": 100, "width": 200, "height": 100}, "max_width": 50}),
        (50, 25),
        json!({"x": 100, "y": 100, "width": 200, "height": 100}),
    );
    // Enlarging shows nothing new.
    check(
        json!({"bbox": {"x": 0, "y": 0, "width": 10, "height": 10}, "max_width": 50}),
        (10, 10),
        json!({"x": 0, "y": 0, "width": 10, "height": 10}),
    );
}

#[test]
fn a_crop_has_the_pixels_of_its_place() {
    let world = World::on("scenarios/login.yaml");
    let load = |tool: &str, args: Value| {
        image::load_from_memory(&world.reply(tool, args).picture.unwrap().bytes).unwrap().to_rgba8()
    };
    let whole = load("get_screenshot", json!({}));
    let part =
        load("get_screenshot_cropped", json!({"bbox": {"x": 150, "y": 180, "width": 300, "height": 90}}));
    assert_eq!((part.width(), part.height()), (300, 90));
    assert!(part.enumerate_pixels().all(|(x, y, pixel)| whole.get_pixel(x + 150, y + 180) == pixel));
    let reply = world.ok("get_screenshot_cropped", json!({"element_id": "root.0"}));
    assert_eq!(reply["window"], "(full screen)");
    assert_eq!(reply["screen_bbox"], json!({"x": 200, "y": 200, "width": 240, "height": 24}));
}

#[test]
fn crops_cost_a_screenshot() {
    let world = World::with(json!({"budgets": {"max_screenshots": 1}}));
    world.ok("get_screenshot_cropped", json!({"window_index": 0}));
    assert_eq!(world.code("get_screenshot_cropped", json!({"window_index": 0})), "BudgetExceeded");
}

// ── pixels of pictures ─────────────────────────────────────────────────────────────────────────────

/// A window of the uid `mock:w` with one button; `place` is `x, y: …, width: …, height: …`.
fn window(title: &str, place: &str) -> String {
    let title = title.replace('"', "\\\"");
    format!(
        "name: w\nstates:\n  s:\n    windows:\n      - uid: mock:w\n        title: \"{title}\"\n        \
         bounds: {{x: {place}}}\n        tree:\n          role: Window\n          name: \"{title}\"\n          \
         children:\n            - {{role: Button, name: OK, bounds: {{x: 110, y: 150, width: 80, height: 24}}}}\n"
    )
}

fn stage(world: &World, yaml: &str) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("stage.yaml");
    std::fs::write(&file, yaml).unwrap();
    world.mock.load(scenario::load_file(&file).unwrap());
    world.app.observer.forget_all();
}

fn last_point(acts: &[Act]) -> (i32, i32) {
    match acts.last().unwrap() {
        Act::Click { at: Some(at), .. } | Act::Scroll { at: Some(at), .. } => (at.x, at.y),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_click_on_a_picture_lands_on_the_screen() {
    let world = World::new();
    let click = |picture: (&str, Value), pixel: (i32, i32), expected: (i32, i32)| {
        let reply = world.ok(picture.0, picture.1);
        let id = &reply["image_id"];
        assert!(id.as_str().unwrap().starts_with("img:") && id.as_str().unwrap().len() == 12);
        world
            .ok("click_at", json!({"x": pixel.0, "y": pixel.1, "image_id": id, "coordinate_space": "image"}));
        assert_eq!(last_point(&world.mock.action_log()), expected);
        world.ok("scroll", json!({"x": pixel.0, "y": pixel.1, "image_id": id}));
        assert_eq!(last_point(&world.mock.action_log()), expected);
        reply["scale"].as_f64().unwrap()
    };
    let window = json!({"window_index": 0});
    assert_eq!(click(("get_screenshot", window.clone()), (70, 10), (150, 70)), 1.0);
    assert_eq!(click(("get_full_screenshot", json!({})), (0, 0), (80, 60)), 1.0);
    let small = json!({"window_index": 0, "max_width": 100});
    assert_eq!(click(("get_screenshot_cropped", small), (99, 74), (876, 656)), 0.125);
    let item = json!({"window_index": 0, "element_id": "root.0.1"});
    assert_eq!(click(("get_screenshot_cropped", item), (55, 21), (193, 81)), 1.0);
}

#[test]
fn consent_is_asked_for_what_the_pixel_shows() {
    let world = World::with(json!({"confirmation_required": [{"role": "MenuItem", "name_regex": "^Edit$"}]}));
    let id = world.ok("get_screenshot", json!({"window_index": 0}))["image_id"].clone();
    assert_eq!(world.code("click_at", json!({"x": 70, "y": 10, "image_id": id})), "ConfirmationRequired");
    world.ok("click_at", json!({"x": 5, "y": 10, "image_id": id}));
}

#[test]
fn contradictions_are_refused() {
    let world = World::new();
    let id = world.ok("get_screenshot", json!({"window_index": 0}))["image_id"].clone();
    for args in [
        json!({"x": 1, "y": 1, "coordinate_space": "image"}),
        json!({"x": 1, "y": 1, "coordinate_space": "screen", "image_id": id}),
        json!({"x": 1, "y": 1, "image_id": "img:00000000"}),
        json!({"x": 800, "y": 1, "image_id": id}),
        json!({"x": -1, "y": 1, "image_id": id}),
        json!({"x": 1, "y": 1, "coordinate_space": "logical"}),
    ] {
        assert_eq!(world.code("click_at", args.clone()), "BadRequest", "{args}");
        assert_eq!(world.code("scroll", args.clone()), "BadRequest", "{args}");
    }
    assert_eq!(world.effects(), 0);
    world.ok("click_at", json!({"x": 1, "y": 1, "coordinate_space": "screen"}));
}

#[test]
fn logical_points_are_scaled_by_their_monitor() {
    let world = showing_world();
    let reply = world.call("click_at", json!({"x": 100, "y": 200, "coordinate_space": "logical"}));
    assert!(reply.ok(), "{}", reply.text());
    assert_eq!(last_point(&world.platform.mock.action_log()), (200, 400));
    let outside = world.call("click_at", json!({"x": 961, "y": 1, "coordinate_space": "logical"}));
    assert_eq!(outside.value()["error"]["code"], "BadRequest");
}

#[test]
fn a_picture_that_is_out_of_date_is_refused() {
    let place = "100, y: 100, width: 400, height: 300";
    let check = |then: &str, expected: &str| {
        let world = World::new();
        stage(&world, &window("W", place));
        let id = world.ok("get_screenshot", json!({"window_uid": "mock:w"}))["image_id"].clone();
        let click = json!({"x": 20, "y": 60, "image_id": id});
        world.ok("click_at", click.clone());
        assert_eq!(last_point(&world.mock.action_log()), (120, 160));
        stage(&world, then);
        assert_eq!(world.code("click_at", click), expected);
        assert_eq!(world.effects(), 1);
    };
    check(&window("W", "101, y: 100, width: 400, height: 300"), "BadRequest");
    check(&window("W", "100, y: 100, width: 400, height: 301"), "BadRequest");
    check(&window("W", place).replace("mock:w", "mock:other"), "WindowGone");
    check(
        &window("W", place).replace("name: w\n", "name: w\nscreen: {width: 1280, height: 720}\n"),
        "BadRequest",
    );
    let covered = window("W", place).replace("bounds: {x: 100", "focused: false\n        bounds: {x: 100")
        + "      - uid: mock:front\n        title: F\n        focused: true\n        bounds: {x: 0, y: 0, width: 700, height: 700}\n        tree: {role: Window, name: F}\n";
    check(&covered, "WindowOccluded");
}

#[test]
fn a_picture_grows_old() {
    let world = World::new();
    let id = world.ok("get_screenshot", json!({"window_index": 0}))["image_id"].clone();
    world.app.clock.advance(Duration::from_secs(300));
    assert_eq!(world.code("click_at", json!({"x": 1, "y": 1, "image_id": id})), "BadRequest");
}

/// The worker is the running executable, whatever its file is called.
#[test]
fn a_renamed_program_reads_too() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let renamed = folder.path().join("screen-reader");
    std::fs::hard_link(env!("CARGO_BIN_EXE_os-screen-observer"), &renamed).unwrap();
    let read = Command::new(&renamed)
        .args(["--mock", "call", "get_ocr", r#"{"window_index": 0}"#])
        .current_dir(folder.path())
        .env("XDG_CONFIG_HOME", folder.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&read.stdout);
    assert!(said.contains("Hello,"), "{said} {}", String::from_utf8_lossy(&read.stderr));
}
