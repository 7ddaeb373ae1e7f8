//! Input that is confined to a region of the screen: on every way to the desktop, and before anything moves.

use crate::support::World;
use os_screen_observer::model::input::Act;
use os_screen_observer::model::{Point, Rect};
use proptest::prelude::*;
use serde_json::{Value, json};

const FORM: &str = "scenarios/apps.yaml";
/// The title is in it, the note only partly, the PIN not at all.
const REGION: [i32; 4] = [70, 90, 700, 100];

fn world() -> World {
    World::build(Some(FORM), json!({"input": {"allowed_region": REGION}}))
}

#[track_caller]
fn check(tool: &str, args: Value, allowed: bool) {
    let world = world();
    for dry_run in [true, false] {
        let mut args = args.clone();
        args["dry_run"] = json!(dry_run);
        let reply = world.call(tool, args.clone());
        assert_eq!(reply["ok"], allowed, "{tool} {args} answered {reply}");
        if !allowed {
            assert_eq!(reply["error"]["code"], "PermissionDenied", "{reply}");
            assert_eq!(reply["error"]["context"]["allowed_region"]["width"], REGION[2], "{reply}");
        }
    }
    assert_eq!(world.effects(), usize::from(allowed));
}

/// H-75 on code: points at the edges
#[test]
fn points_at_the_edge_count() {
    for (x, y, allowed) in [
        (70, 90, true),
        (769, 189, true),
        (770, 189, false),
        (769, 190, false),
        (69, 90, false),
        (70, 89, false),
    ] {
        check("click_at", json!({"x": x, "y": y}), allowed);
        check("hover_at", json!({"x": x, "y": y, "hover_ms": 0}), allowed);
        check("scroll", json!({"x": x, "y": y, "clicks": 1}), allowed);
        check("right_click_at", json!({"x": x, "y": y}), allowed);
        check("double_click_at", json!({"x": x, "y": y}), allowed);
    }
}

/// H-75 on code: drags
#[test]
fn both_ends_of_a_drag_count() {
    let drag = |from: [i32; 2], to: [i32; 2]| json!({"from": {"x": from[0], "y": from[1]}, "to": {"x": to[0], "y": to[1]}, "duration_s": 0});
    check("drag", drag([70, 90], [769, 189]), true);
    check("drag", drag([70, 90], [800, 100]), false);
    check("drag", drag([10, 10], [100, 100]), false);
    check(
        "drag",
        json!({"from": {"x": 80, "y": 100}, "to": {"selector": "//Edit[name=\"PIN\"]"}, "duration_s": 0}),
        false,
    );
}

/// H-75 on code: elements
///
/// Also where no pointer moves: an element outside is not worked by its own action either.
#[test]
fn elements_count_by_their_bounds_whatever_the_route() {
    for (name, allowed) in [("Title", true), ("Note", false), ("PIN", false)] {
        let selector = format!("//*[name=\"{name}\"]");
        for tool in [
            "click_element",
            "double_click_element",
            "right_click_element",
            "focus_element",
            "invoke_element",
            "clear_text",
        ] {
            check(tool, json!({"selector": selector}), allowed);
        }
        check("set_value", json!({"selector": selector, "value": "x"}), allowed);
        check("key_into_element", json!({"selector": selector, "keys": "end"}), allowed);
        check("hover_element", json!({"selector": selector, "hover_ms": 0}), allowed);
        check("click_element_and_observe", json!({"selector": selector, "wait_after_ms": 0}), allowed);
    }
}

#[test]
fn a_wheel_turns_where_the_pointer_is() {
    let world = world();
    assert_eq!(
        world.code("scroll", json!({"clicks": 1})),
        "PermissionDenied",
        "it starts in the middle of the screen"
    );
    world.ok("hover_at", json!({"x": 100, "y": 100, "hover_ms": 0}));
    world.ok("scroll", json!({"clicks": 1}));
}

/// H-75 on replay: what was recorded without a region
#[test]
fn keys_go_to_the_focus_and_a_replay_is_held_to_it() {
    let world = world();
    world.ok("type_text", json!({"text": "x"}));
    world.ok("press_key", json!({"keys": "end"}));
    let free = World::on(FORM);
    free.ok("trace_start", json!({}));
    free.ok("click_at", json!({"x": 5, "y": 5}));
    let trace = free.ok("trace_stop", json!({}));
    let root = std::path::Path::new(trace["path"].as_str().unwrap()).parent().unwrap();
    let root = if root.ends_with("traces") { root } else { root.parent().unwrap() };
    let held =
        World::build(Some(FORM), json!({"input": {"allowed_region": REGION}, "tracing": {"dir": root}}));
    let replay = held.ok("replay_start", json!({"path": "latest", "mode": "execute"}));
    held.call("replay_step", json!({"replay_id": replay["replay_id"], "count": 10}));
    assert_eq!(held.effects(), 0);
}

#[test]
fn a_region_that_is_none_stops_the_start() {
    use os_screen_observer::config::{self, Flags};
    for wrong in [json!([]), json!([0, 0, 0, 0]), json!("0,0,-1,5"), json!("nonsense"), json!(7)] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config.json");
        std::fs::write(&path, json!({"input": {"allowed_region": wrong}}).to_string()).unwrap();
        let flags = Flags { config: Some(path), mock: true, ..Flags::default() };
        let refused = config::load(&flags, std::iter::empty()).err().map(|fatal| fatal.to_string());
        assert!(
            refused.as_ref().is_some_and(|why| why.contains("input.allowed_region")),
            "{wrong} {refused:?}"
        );
    }
}

/// Everywhere that an act is seen to go.
fn points(act: &Act) -> Vec<Point> {
    match act {
        Act::Click { at, .. } | Act::Scroll { at, .. } | Act::Hover { at, .. } => {
            at.iter().copied().collect()
        }
        Act::Drag { from, to, .. } => vec![*from, *to],
        _ => Vec::new(),
    }
}

fn call() -> impl Strategy<Value = (&'static str, Value)> {
    let point = (0..1920i32, 0..1080i32);
    let name = prop::sample::select(vec!["Title", "Note", "PIN"]);
    let tool = prop::sample::select(vec![
        "click_element",
        "invoke_element",
        "focus_element",
        "double_click_element",
    ]);
    prop_oneof![
        point.clone().prop_map(|(x, y)| ("click_at", json!({"x": x, "y": y}))),
        point.clone().prop_map(|(x, y)| ("hover_at", json!({"x": x, "y": y, "hover_ms": 0}))),
        point.clone().prop_map(|(x, y)| ("scroll", json!({"x": x, "y": y, "clicks": 1}))),
        (60..800i32, 80..200i32).prop_map(|(x, y)| ("click_at", json!({"x": x, "y": y}))),
        Just(("scroll", json!({"clicks": -1}))),
        (point.clone(), point).prop_map(|(from, to)| {
            (
                "drag",
                json!({"from": {"x": from.0, "y": from.1}, "to": {"x": to.0, "y": to.1}, "duration_s": 0}),
            )
        }),
        (tool, name).prop_map(|(tool, name)| (tool, json!({"selector": format!("//*[name=\"{name}\"]")}))),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn nothing_outside_ever_reaches_the_desktop(calls in prop::collection::vec(call(), 1..12)) {
        let world = world();
        for (tool, args) in calls {
            world.call(tool, args);
        }
        let [x, y, width, height] = REGION;
        let region = Rect::new(x, y, width, height);
        for act in world.mock.action_log() {
            prop_assert!(points(&act).into_iter().all(|point| region.contains(point)), "{act:?}");
            let native = match &act {
                Act::Click { element: Some(element), .. } | Act::Invoke { element } | Act::Focus { element } => &element.native,
                _ => continue,
            };
            prop_assert_eq!(native, "title");
        }
    }
}
