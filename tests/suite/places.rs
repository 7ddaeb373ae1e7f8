//! A desktop that does not tell where its windows are: bounds say so, and nothing takes them for places.

use std::sync::Arc;

use os_screen_observer::app::App;
use os_screen_observer::clock::{Cancel, Clock};
use os_screen_observer::config::{self, Flags};
use os_screen_observer::gate::{Call, Origin};
use os_screen_observer::platform::mock::Mock;
use os_screen_observer::platform::{Activation, Coordinates};
use os_screen_observer::tool::Selection;
use serde_json::{Value, json};

use crate::support::test_platform::TestPlatform;

/// The mock, as Wayland would tell of it: no order, no raising, and bounds that are no places.
fn placeless(mock: Arc<Mock>) -> TestPlatform {
    let mut platform = TestPlatform::new(mock).with_desktop(|desktop| {
        desktop.stacking = Box::new(|_| Ok(None));
        desktop.activate = Box::new(|_, _| Ok(Activation::Refused("nobody may raise windows".to_owned())));
    });
    platform.coordinates = Coordinates::Window;
    platform.limitations = vec!["no places".to_owned()];
    platform
}

struct World {
    app: App,
    mock: Arc<Mock>,
    _folder: tempfile::TempDir,
}

impl World {
    fn with(config: Value) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config.json");
        std::fs::write(&path, config.to_string()).unwrap();
        let flags = Flags { config: Some(path), mock: true, ..Flags::default() };
        let loaded = config::load(&flags, std::iter::empty()).unwrap();
        let clock = Clock::steered();
        let mock = Arc::new(Mock::new(clock.clone()));
        let app = App::new(loaded, &Selection::default(), Arc::new(placeless(mock.clone())), clock).unwrap();
        Self { app, mock, _folder: folder }
    }

    fn call(&self, tool: &str, args: Value) -> Value {
        let call = Call { tool: tool.to_owned(), args, origin: Origin::Test };
        self.app.gate.pass_call(call, &Cancel::new()).value()
    }

    fn check_warns(&self, tool: &str, args: Value) {
        let value = self.call(tool, args);
        assert_eq!(value["ok"], true, "{tool}: {value}");
        let warning = value["warning"].as_str().unwrap_or_default();
        assert!(warning.contains("not to the screen"), "{tool}: {warning}");
    }

    fn check_refused(&self, tool: &str, args: Value, says: &str) {
        let value = self.call(tool, args);
        assert_eq!(value["error"]["code"], "PlatformUnsupported", "{tool}: {value}");
        let message = value["error"]["message"].as_str().unwrap();
        assert!(message.contains(says), "{tool}: {message}");
        assert_eq!(self.mock.action_log().len(), 0, "{tool} reached the desktop");
    }
}

const EDIT: &str = "Window/MenuBar/MenuItem[name=\"Edit\"]";

#[test]
fn replies_with_bounds_say_what_they_count_from() {
    let world = World::with(json!({}));
    world.check_warns("list_windows", json!({}));
    world.check_warns("get_window_structure", json!({"window_index": 0}));
    world.check_warns("find_element", json!({"selector": EDIT}));
    world.check_warns("observe_window", json!({"window_index": 0}));
    world.check_warns("get_screen_sketch", json!({"window_index": 0}));
    world.check_warns("click_element", json!({"selector": EDIT}));
    assert_eq!(world.call("get_capabilities", json!({}))["limitations"], json!(["no places"]));
}

#[test]
fn a_warning_about_bounds_is_no_wrong_window() {
    let world = World::with(json!({}));
    let value = world.call("bring_to_foreground", json!({"window_index": 99}));
    assert_eq!(value["error"]["code"], "BadRequest", "{value}");
    world.check_refused("bring_to_foreground", json!({"window_index": 1}), "nobody may raise windows");
}

#[test]
fn what_needs_a_place_is_refused() {
    let world = World::with(json!({}));
    world.check_refused("get_visible_areas", json!({"window_index": 0}), "which parts");
    world.check_refused(
        "drag",
        json!({"from": {"selector": EDIT}, "to": {"x": 1, "y": 1}}),
        "to drag an element",
    );
    let crop = json!({"window_index": 0, "element_id": "root.0"});
    world.check_refused("get_screenshot_cropped", crop, "an element in a screenshot");
}

/// Nobody can say what lies at a point, so a protected button could be clicked by its pixels.
#[test]
fn a_click_by_coordinates_that_must_be_judged_is_refused() {
    let free = World::with(json!({}));
    assert_eq!(free.call("click_at", json!({"x": 100, "y": 100}))["ok"], true);
    let judged = World::with(json!({"confirmation_required": [{"name_regex": "Delete"}]}));
    judged.check_refused("click_at", json!({"x": 100, "y": 100}), "to check an input there");
    judged.check_refused("hover_at", json!({"x": 100, "y": 100}), "to check an input there");
}

#[test]
fn a_picture_whose_secrets_cannot_be_found_does_not_leave() {
    let blurred = |pattern: &str| {
        World::with(json!({"redaction": {"element_name_patterns": [pattern], "blur_screenshots": true}}))
    };
    blurred("Text Editor").check_refused("get_screenshot", json!({}), "to black out what redaction hides");
    assert_eq!(blurred("nothing has this name").call("get_screenshot", json!({}))["ok"], true);
}
