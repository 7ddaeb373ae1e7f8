//! What changes around a call: monitors that go, clocks that jump.

use std::sync::Arc;
use std::time::Duration;

use os_screen_observer::clock::Clock;
use os_screen_observer::model::{Monitor, Rect};
use serde_json::{Value, json};

use crate::everywhere::{Odd, Pipe, by_act, by_gate, by_replay, odd_app};
use crate::support::{World, project};

fn monitor(area: Rect, scale_factor: f64) -> Monitor {
    Monitor { primary: area.x == 0, scale_factor, logical: area, physical: area }
}

fn two() -> Vec<Monitor> {
    vec![monitor(Rect::new(0, 0, 960, 1080), 1.0), monitor(Rect::new(960, 0, 960, 1080), 1.0)]
}

/// A picture is taken, the monitors become others, and whoever points into the picture is refused.
#[track_caller]
fn check_stale(what: &str, then: Vec<Monitor>) {
    let clock = Clock::steered();
    let odd = Arc::new(Odd::new(&clock));
    *odd.monitors.lock().unwrap() = Some(two());
    let (app, _folder) = odd_app(odd.clone(), clock, json!({}));
    let mut pipe = Pipe::of(app.clone());
    let region = json!({"x": 100, "y": 100, "width": 400, "height": 300});
    for args in [json!({"window_index": 0, "grid": {}}), json!({"region": region, "grid": {}})] {
        *odd.monitors.lock().unwrap() = Some(two());
        let shot = by_gate(&app, "get_screenshot", args);
        let cell = json!({"image": shot["image_id"], "row": 5, "col": 3});
        let before = odd.mock.action_count();
        assert_eq!(by_gate(&app, "click_at", cell.clone())["ok"], true, "{what}");
        let replayed = by_replay(&app, "click_at", &cell);
        assert_eq!(replayed["actual_summary"]["ok"], true, "{what}: {replayed}");
        assert_eq!(odd.mock.action_count(), before + 2);
        *odd.monitors.lock().unwrap() = Some(then.clone());
        // A replay tells the code alone; the same row was played above.
        let replayed = by_replay(&app, "click_at", &cell);
        assert_eq!(replayed["actual_summary"]["error"]["code"], "BadRequest", "{what}: {replayed}");
        for reply in [pipe.call("click_at", cell.clone()), by_act(&app, "click_at", &cell)] {
            let text = reply.to_string();
            let refused = text.contains("\"ok\":false") && text.contains("out of date");
            assert!(refused, "{what}: {text:.400}");
        }
        for tool in ["scroll", "hover_at", "right_click_at", "double_click_at", "zoom"] {
            let reply = by_gate(&app, tool, cell.clone());
            assert!(
                reply["error"]["message"].as_str().is_some_and(|said| said.contains("out of date")),
                "{what} {tool}: {reply:.300}"
            );
        }
        let drag = by_gate(&app, "drag", json!({"from": {"x": 5, "y": 5}, "to": cell}));
        assert!(drag["ok"] == false && drag.to_string().contains("out of date"), "{what}: {drag:.400}");
        assert_eq!(odd.mock.action_count(), before + 2, "{what}");
    }
}

/// H-94 on stdio, act, replay: a monitor that goes, comes, moves, changes its size or its scale makes every picture out of
/// date.
#[test]
fn other_monitors_make_pictures_out_of_date() {
    let [left, right] = two().try_into().unwrap_or_else(|_| unreachable!());
    check_stale("gone", vec![left.clone()]);
    check_stale("new", vec![left.clone(), right.clone(), monitor(Rect::new(1920, 0, 100, 100), 1.0)]);
    check_stale("scaled", vec![monitor(left.physical, 2.0), right.clone()]);
    check_stale("moved", vec![left.clone(), monitor(Rect::new(960, 100, 960, 1080), 1.0)]);
    check_stale("resized", vec![left, monitor(Rect::new(960, 0, 960, 900), 1.0)]);
}

/// H-95 on code: what the server remembers is forgotten by the clock that nobody sets, and not before.
#[test]
fn what_expires_goes_by_monotonic_time() {
    let world = World::with(json!({"confirmation_required": [{"role": "MenuItem", "name_regex": "^Edit$"}]}));
    let picture = world.ok("get_screenshot", json!({"window_index": 0, "grid": {}}))["image_id"].clone();
    let click = json!({"image": picture, "row": 11, "col": 5});
    let edit = json!({"selector": "Window/MenuBar/MenuItem[name=\"Edit\"]"});
    let token =
        world.ok("propose_action", json!({"action": "click_element", "args": edit}))["confirm_token"].clone();
    let mut confirmed = edit.clone();
    confirmed["confirm_token"] = token;
    world.app.clock.advance(Duration::from_secs(61));
    assert_eq!(world.code("click_element", confirmed), "ConfirmationInvalid");
    world.ok("click_at", click.clone());
    world.app.clock.advance(Duration::from_secs(300));
    assert_eq!(world.call("click_at", click)["ok"], false);
    assert_eq!(world.effects(), 1);
}

/// H-95 on code: the calendar is read in one place, and is never compared with anything.
#[test]
fn nothing_compares_calendar_times() {
    let mut folders = vec![project().join("src")];
    let mut readers = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap_or_default();
            for line in text.lines() {
                let reads =
                    ["SystemTime::now", "Utc::now", "Local::now", "OffsetDateTime::now", "Zoned::now"];
                if reads.iter().any(|read| line.contains(read)) {
                    readers.push(path.strip_prefix(project()).unwrap().to_owned());
                }
                let since_another = line.contains(".duration_since(") && !line.contains("UNIX_EPOCH");
                assert!(!since_another || line.contains("saturating"), "{}: {line}", path.display());
            }
        }
    }
    assert_eq!(readers, [std::path::PathBuf::from("src/clock.rs")]);
}

/// H-95 on stdio: a call that waits ends after its own time, whatever the calendar says.
#[test]
fn a_wait_is_as_long_as_it_was_asked_to_be() {
    let world = World::new();
    let clock = world.app.clock.clone();
    let mut pipe = Pipe::of(Arc::new(world.app));
    let wait = json!({"any_of": [{"type": "window_appears", "title_regex": "never"}], "timeout_ms": 5_000});
    let before = clock.now();
    let reply: Value = pipe.call("wait_for", wait);
    assert_eq!(reply["error"]["code"], "Timeout", "{reply}");
    assert_eq!(clock.now() - before, Duration::from_secs(5));
}
