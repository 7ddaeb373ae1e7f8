//! How often a call asks the desktop: the windows are listed once before an input and once after it, and so is every
//! tree that the answer is about. Where consent rules are set, one look more comes right before the input, and one before
//! each press of the pointer; where something changed while a tree was read, the windows are listed again.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use os_screen_observer::app::App;
use os_screen_observer::clock::{Cancel, Clock};
use os_screen_observer::config::Flags;
use os_screen_observer::gate::{Call, Origin};
use os_screen_observer::platform::mock::Mock;
use os_screen_observer::platform::{Accessibility, Desktop, Stage};
use os_screen_observer::tool::Selection;
use serde_json::{Value, json};

use crate::support::test_platform::TestPlatform;

/// How often the mock was asked for its windows, and for a tree.
#[derive(Default)]
struct Counters {
    listings: AtomicUsize,
    trees: AtomicUsize,
}

/// The mock, which counts what it is asked.
fn counting(mock: Arc<Mock>, counters: &Arc<Counters>) -> TestPlatform {
    let (listings, trees) = (counters.clone(), counters.clone());
    let platform = TestPlatform::new(mock).with_desktop(|desktop| {
        desktop.windows = Box::new(move |mock| {
            listings.listings.fetch_add(1, Ordering::SeqCst);
            mock.windows()
        });
    });
    platform.with_tree(move |mock, window, patience| {
        trees.trees.fetch_add(1, Ordering::SeqCst);
        mock.tree(window, patience)
    })
}

/// What one call asked for.
#[derive(Debug, PartialEq)]
struct Asked {
    listings: usize,
    trees: usize,
}

struct CountedWorld {
    app: App,
    counters: Arc<Counters>,
}

impl CountedWorld {
    /// `scenario` is a file; without one it is the desktop that the mock starts with.
    fn new(scenario: Option<&str>, config: Value) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config.json");
        std::fs::write(&path, config.to_string()).unwrap();
        let flags = Flags { config: Some(path), mock: true, ..Flags::default() };
        let loaded = os_screen_observer::config::load(&flags, std::iter::empty()).unwrap();
        let clock = Clock::steered();
        let mock = Arc::new(Mock::new(clock.clone()));
        if let Some(file) = scenario {
            let file = crate::support::project().join(file);
            mock.load(os_screen_observer::scenario::load_file(&file).unwrap());
        }
        let counters = Arc::new(Counters::default());
        let platform = Arc::new(counting(mock, &counters));
        let app = App::new(loaded, &Selection::default(), platform, clock).unwrap();
        Self { app, counters }
    }

    /// A call that must work, and what it asked for.
    fn call(&self, tool: &str, args: Value) -> (Value, Asked) {
        let before = self.asked();
        let call = Call { tool: tool.to_owned(), args: args.clone(), origin: Origin::Test };
        let reply = self.app.gate.pass_call(call, &Cancel::new()).value();
        assert_eq!(reply["ok"], true, "{tool} {args} answered {reply}");
        let now = self.asked();
        (reply, Asked { listings: now.listings - before.listings, trees: now.trees - before.trees })
    }

    fn asked(&self) -> Asked {
        let count = |counter: &AtomicUsize| counter.load(Ordering::SeqCst);
        Asked { listings: count(&self.counters.listings), trees: count(&self.counters.trees) }
    }
}

const LOGIN: &str = "scenarios/login.yaml";
const FORM: &str = "scenarios/form.yaml";

/// A rule that protects nothing on these desktops: everything is judged, and nobody is asked.
fn rules() -> Value {
    json!({"confirmation_required": [{"name_regex": "no such element anywhere"}]})
}

#[track_caller]
fn check(config: Value, scenario: Option<&str>, tool: &str, args: Value, listings: usize, trees: usize) {
    let (_, asked) = CountedWorld::new(scenario, config).call(tool, args.clone());
    assert_eq!(asked, Asked { listings, trees }, "{tool} {args}");
}

/// Without rules, and with them. Each call is the first in its world, so that nothing is known beforehand.
#[track_caller]
fn check_both(scenario: Option<&str>, tool: &str, args: Value, free: (usize, usize), judged: (usize, usize)) {
    check(json!({}), scenario, tool, args.clone(), free.0, free.1);
    check(rules(), scenario, tool, args, judged.0, judged.1);
}

#[test]
fn an_element_is_acted_on_with_one_look_before_and_one_after() {
    let username = json!({"selector": "//Edit[name=\"Username\"]"});
    for tool in ["click_element", "focus_element", "invoke_element", "clear_text"] {
        check_both(Some(LOGIN), tool, username.clone(), (2, 2), (3, 3));
    }
    // The pointer looks where it is.
    check_both(Some(LOGIN), "right_click_element", username, (2, 2), (4, 4));
    let value = json!({"selector": "//Edit[name=\"Username\"]", "value": "alice"});
    check_both(Some(LOGIN), "set_value", value, (2, 2), (3, 3));
    let keys = json!({"selector": "//Edit[name=\"Username\"]", "keys": "end"});
    check_both(Some(LOGIN), "key_into_element", keys, (2, 2), (3, 3));
    let option = json!({"selector": "//ComboBox[name=\"Category\"]", "option_name": "Meals"});
    check_both(Some(FORM), "select_option", option, (2, 2), (3, 3));
}

#[test]
fn a_dry_run_looks_once() {
    let args = json!({"selector": "//Edit[name=\"Username\"]", "dry_run": true});
    check_both(Some(LOGIN), "click_element", args, (1, 1), (2, 2));
}

#[test]
fn a_point_is_clicked_with_one_look_before_and_one_after() {
    check_both(Some(LOGIN), "click_at", json!({"x": 300, "y": 200}), (2, 0), (4, 3));
}

/// What is sent without a look afterwards needs none before, unless it may go into a secret field or is judged.
#[test]
fn keys_are_sent_with_one_look() {
    check_both(Some(LOGIN), "type_text", json!({"text": "hi"}), (1, 1), (2, 2));
    check_both(Some(LOGIN), "press_key", json!({"keys": "end"}), (0, 0), (2, 2));
}

/// Reading takes so long that what lies over the text is looked at after it: one look for the reading itself, with a tree
/// before its picture and one after it.
#[test]
fn a_text_is_clicked_with_one_look_more_to_read_it() {
    let args = json!({"text": "Edit", "match": "exact", "window_index": 0});
    check_both(None, "click_text", args, (3, 4), (5, 6));
}

/// Its own look before the first step, and those of the steps, which are calls by themselves. Where nobody judges, a step
/// begins with the look after the one before it, and the report is of the last.
#[test]
fn a_list_of_steps_adds_one_look_before() {
    let click = json!({"do": "click_element", "selector": "//Edit[name=\"Username\"]"});
    check_both(Some(LOGIN), "act", json!({"steps": [click]}), (3, 3), (4, 4));
    check_both(Some(LOGIN), "act", json!({"steps": [click, click]}), (4, 4), (7, 7));
}

#[test]
fn both_ends_of_a_drag_are_of_one_look() {
    let ends = json!({
        "from": {"selector": "//Edit[name=\"Username\"]"},
        "to": {"selector": "//Edit[name=\"Password\"]"},
        "duration_s": 0,
    });
    check_both(Some(LOGIN), "drag", ends, (1, 1), (4, 4));
}

#[test]
fn an_answer_without_an_input_lists_the_windows_once() {
    let world = CountedWorld::new(Some(LOGIN), json!({}));
    let selector = "//Edit[name=\"Username\"]";
    for (tool, args, trees) in [
        ("look", json!({}), 1),
        ("find", json!({"text": "username"}), 0),
        ("list_windows", json!({}), 0),
        ("get_visible_areas", json!({"window_index": 0}), 0),
        ("get_window_structure", json!({}), 0),
        ("find_element", json!({"selector": selector}), 0),
        ("observe_window", json!({}), 0),
        ("wait_for", json!({"any_of": [{"type": "element_appears", "selector": selector}]}), 1),
        ("assert_state", json!({"predicate": {"kind": "element_exists", "selector": selector}}), 1),
    ] {
        let (_, asked) = world.call(tool, args.clone());
        assert_eq!(asked, Asked { listings: 1, trees }, "{tool} {args}");
    }
}

/// A wait that is not over lists them once for each of its looks.
#[test]
fn a_wait_lists_the_windows_once_for_each_evaluation() {
    let world = CountedWorld::new(Some("scenarios/slow-load.yaml"), json!({}));
    let any_of = json!([
        {"type": "window_appears", "title_regex": "Ready"},
        {"type": "element_appears", "selector": "//Button[name=\"Export\"]"},
    ]);
    let (reply, asked) = world.call("wait_for", json!({"any_of": any_of, "timeout_ms": 20000}));
    assert_eq!(asked.listings, reply["polls"].as_u64().unwrap() as usize, "{reply}");
}
