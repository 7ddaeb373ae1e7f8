//! docs/scenarios.md and the README's scenario against the code: what is shown there loads, plays and
//! looks as the page says, and no key of the format is missing.

use crate::support::{World, read};
use os_screen_observer::model::InputKind;
use os_screen_observer::platform::Stage;
use os_screen_observer::scenario::load_str;
use serde_json::json;

const PAGE: &str = "docs/scenarios.md";

/// The blocks of one language, in order.
fn blocks(path: &str, language: &str) -> Vec<String> {
    let page = read(path);
    let fence = format!("```{language}\n");
    page.split(&fence).skip(1).map(|rest| rest.split("```").next().unwrap().to_owned()).collect()
}

fn world(yaml: &str) -> World {
    let world = World::new();
    world.mock.load(load_str(yaml, PAGE).unwrap_or_else(|problem| panic!("{problem}")));
    world
}

#[test]
fn every_scenario_that_is_shown_loads() {
    assert_eq!(blocks(PAGE, "yaml").len(), 2);
    for yaml in blocks(PAGE, "yaml") {
        world(&yaml).ok("get_window_structure", json!({}));
    }
}

#[test]
fn the_readme_shows_the_same_first_scenario() {
    assert_eq!(blocks("README.md", "yaml"), blocks(PAGE, "yaml")[..1]);
}

#[test]
fn the_bell_rings() {
    let world = world(&blocks(PAGE, "yaml")[0]);
    let receipt = world.ok("click_element", json!({"selector": "//Button[name=\"Ring\"]"}));
    assert_eq!(receipt["changed"], true);
    world.ok("find_element", json!({"selector": "//Text[name=\"Somebody rang\"]"}));
}

#[test]
fn the_sketch_that_is_shown_is_the_real_one() {
    let world = world(&blocks(PAGE, "yaml")[0]);
    let args = json!({"window_index": 0, "grid_width": 64, "grid_height": 16});
    let sketch = world.ok("get_screen_sketch", args)["sketch"].as_str().unwrap().to_owned();
    assert!(read(PAGE).contains(&sketch), "{PAGE} should show\n{sketch}");
}

#[test]
fn the_long_example_plays_to_its_end() {
    let world = world(&blocks(PAGE, "yaml")[1]);
    world.ok("type_text", json!({"text": "#17"}));
    world.ok("click_element", json!({"selector": "//Edit[name=\"PIN\"]"}));
    world.ok("type_text", json!({"text": "0000"}));
    world.ok("click_element", json!({"selector": "//Button[name=\"Delete 17\"]"}));
    world.app.clock.advance(std::time::Duration::from_millis(300));
    assert_eq!(world.ok("list_windows", json!({}))["count"], 0);
}

/// The fields of the structs that the file is read into are its keys.
#[test]
fn every_key_and_action_is_explained() {
    let source = read("src/scenario/format.rs");
    let page = read(PAGE);
    let fields = source.lines().filter_map(|line| line.strip_prefix("    pub ")?.split_once(':'));
    let keys: Vec<&str> = fields.map(|(name, _)| name).collect();
    assert!(keys.len() > 50, "the format has {} keys?", keys.len());
    for name in keys.iter().copied().chain(InputKind::ALL.map(InputKind::name)) {
        assert!(page.contains(&format!("`{name}`")), "`{name}` is not on the page");
    }
}
