//! What is read in the pixels of a window is the same for whoever asks: look, find, marks, waits, claims, clicks and act.

use std::sync::Arc;

use crate::support::World;
use crate::support::test_platform::TestPlatform;
use os_screen_observer::app::App;
use os_screen_observer::clock::{Cancel, Clock};
use os_screen_observer::config::{self, Flags};
use os_screen_observer::gate::{Call, Origin, Reply};
use os_screen_observer::model::{Element, Tree};
use os_screen_observer::platform::{Platform, Stage};
use os_screen_observer::scenario;
use os_screen_observer::tool::Selection;
use serde_json::{Value, json};

/// A window that shows text and no elements, and other text after a click.
const DARK: &str = r#"
name: dark
initial_state: harbour
states:
  harbour:
    windows:
      - uid: dark
        title: Screen
        bounds: {x: 100, y: 100, width: 600, height: 400}
        tree: {role: Document, name: Screen, value: Harbour lights, bounds: {x: 100, y: 100, width: 600, height: 400}}
  meadow:
    windows:
      - uid: dark
        title: Screen
        bounds: {x: 100, y: 100, width: 600, height: 400}
        tree: {role: Document, name: Screen, value: Meadow lantern, bounds: {x: 100, y: 100, width: 600, height: 400}}
reactions:
  - {on: {tool: click_element, target_name: Screen}, transition_to: meadow}
"#;

/// A desktop whose application tells nothing of what it shows.
struct DarkDesktop {
    app: App,
}

fn dark() -> DarkDesktop {
    let clock = Clock::steered();
    let platform = TestPlatform::on(&clock).with_tree(|_, window, _| {
        Ok(Tree::of_root(Element::new("Window", window.title.as_str(), window.bounds)))
    });
    Stage::load(&*platform.mock, scenario::load_str(DARK, "dark.yaml").unwrap());
    let platform: Arc<dyn Platform> = Arc::new(platform);
    let loaded = config::load(&Flags { mock: true, ..Flags::default() }, std::iter::empty()).unwrap();
    DarkDesktop { app: App::new(loaded, &Selection::default(), platform, clock).unwrap() }
}

impl DarkDesktop {
    fn reply(&self, tool: &str, args: Value) -> Reply {
        let call = Call { tool: tool.to_owned(), args, origin: Origin::Test };
        self.app.gate.pass_call(call, &Cancel::new())
    }

    fn ok(&self, tool: &str, args: Value) -> Value {
        let reply = self.reply(tool, args);
        assert!(reply.ok(), "{tool}: {}", reply.text());
        reply.value()
    }
}

fn look(world: &DarkDesktop, args: Value) -> (String, Value) {
    let reply = world.reply("look", args);
    assert!(reply.ok(), "{}", reply.text());
    (reply.outline.clone().unwrap(), reply.value())
}

/// The ref of the line with these words.
fn line_ref(text: &str, words: &str) -> String {
    let line =
        text.lines().find(|line| line.contains(words)).unwrap_or_else(|| panic!("{words} is not in {text}"));
    line.split_whitespace().next().unwrap().to_owned()
}

#[test]
fn a_line_that_look_shows_is_found_under_its_ref() {
    let world = dark();
    let (text, reply) = look(&world, json!({}));
    assert_eq!(reply["source"], "ocr", "{reply}");
    let shown = line_ref(&text, "Harbour lights");
    for args in [json!({"text": "harbour"}), json!({"text": "harbour lights", "window_uid": "dark"})] {
        let found = world.ok("find", args);
        let best = &found["matches"][0];
        assert_eq!((&best["ref"], &best["source"]), (&json!(shown), &json!("ocr")), "{found}");
    }
}

#[test]
fn what_an_application_tells_has_no_source() {
    let world = World::new();
    assert!(world.ok("look", json!({})).get("source").is_none());
    assert!(world.ok("find", json!({"text": "File"}))["matches"][0].get("source").is_none());
}

#[test]
fn marks_stand_on_lines_that_were_read() {
    let (text, _) = look(&dark(), json!({"picture": "marks"}));
    let shown = line_ref(&text, "Harbour lights");
    let marks = text.lines().find_map(|line| line.strip_prefix("marks: ")).unwrap_or_default().to_owned();
    assert!(marks.split(' ').any(|pair| pair.ends_with(&format!("={shown}"))), "{marks} has no {shown}");
}

/// Both ways to ask for a text mean the same.
#[test]
fn a_text_in_pixels_is_waited_for_by_either_name() {
    let world = dark();
    for name in ["type", "kind"] {
        let condition = json!({name: "text_visible", "regex": "Harbour"});
        let met = world.ok("wait_for", json!({"any_of": [condition]}));
        assert_eq!(met["matched_detail"], json!({"source": "ocr"}), "{name}");
    }
    let claim = json!({"predicates": [{"kind": "text_visible", "regex": "Harbour"}]});
    assert_eq!(world.ok("assert_state", claim)["all_passed"], true);
}

#[test]
fn a_timeout_says_what_was_searched() {
    let world = dark();
    let condition = json!({"type": "text_visible", "regex": "Mountain"});
    let missed = world.reply("wait_for", json!({"any_of": [condition], "timeout_ms": 1000})).value();
    let message = missed["error"]["message"].as_str().unwrap();
    assert!(message.contains("neither the tree nor the screenshot"), "{missed}");
    let seen = &missed["last_observation"][0];
    assert!(seen["observed"].as_str().unwrap().contains("screenshot"), "{missed}");
}

#[test]
fn a_click_hits_the_line_and_act_tells_what_came_of_it() {
    let world = dark();
    let steps = json!({"steps": [{"do": "click_text", "text": "lights"}]});
    let reply = world.reply("act", steps);
    let text = reply.outline.clone().unwrap_or_default();
    assert!(text.contains("Meadow lantern") && text.contains("Harbour lights"), "{text} {}", reply.text());
}
