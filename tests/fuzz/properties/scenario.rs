//! Scenario files: what loads is written as a file that loads as the same scenario, is within the limits and can be
//! played; what does not load is refused with a place in the file.

use std::time::Duration;

use os_screen_observer::clock::{Cancel, Clock};
use os_screen_observer::config::limits;
use os_screen_observer::model::Window;
use os_screen_observer::platform::mock::Mock;
use os_screen_observer::platform::{Accessibility, Desktop, Patience, Stage};
use os_screen_observer::scenario::write::{Comments, write};
use os_screen_observer::scenario::{Scenario, ScenarioError, load_str};

pub fn check(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    match load_str(&text, "f.yaml") {
        Ok(scenario) => check_scenario(&scenario),
        Err(problem) => check_problem(&text, &problem),
    }
}

fn check_problem(text: &str, problem: &ScenarioError) {
    super::check_sentence(&problem.message);
    assert_ne!(problem.message, "the scenario could not be read: its parser failed");
    // In YAML a carriage return alone ends a line too.
    let lines = text.matches(['\n', '\r']).count() + 1;
    assert!(problem.line.is_none_or(|line| line <= lines), "line {:?} of {lines}", problem.line);
}

fn check_scenario(scenario: &Scenario) {
    let elements: usize =
        scenario.states.iter().flat_map(|state| &state.windows).map(|window| window.tree.len()).sum();
    assert!(elements <= limits::YAML_NODES + empty_windows(scenario), "{elements} elements");
    assert!(scenario.initial_state < scenario.states.len());
    let written = write(scenario, &Comments::default()).unwrap();
    // Written out, a file may be longer than one may be.
    if written.len() <= limits::YAML_BYTES {
        let again =
            load_str(&written, "written.yaml").unwrap_or_else(|problem| panic!("{problem}\n{written}"));
        assert_eq!(
            write(&again, &Comments::default()).unwrap(),
            written,
            "the written scenario is another one"
        );
    }
    play(scenario);
}

/// A window without a tree has one element that the file does not.
fn empty_windows(scenario: &Scenario) -> usize {
    scenario.states.iter().map(|state| state.windows.len()).sum()
}

/// Every window can be read, now and when everything has happened that happens by itself.
fn play(scenario: &Scenario) {
    let clock = Clock::steered();
    let mock = Mock::new(clock.clone());
    let on_stage = mock.load(scenario.clone());
    assert_eq!(on_stage.states.len(), scenario.states.len());
    for _ in 0..3 {
        let windows: Vec<Window> = mock.windows().unwrap();
        for window in windows.iter().take(4) {
            let second = Duration::from_secs(1);
            let patience = Patience { per_call: second, whole: second, cancel: Cancel::new() };
            let tree = mock.tree(window, &patience).unwrap();
            assert!(!tree.is_empty());
        }
        clock.advance(Duration::from_secs(40 * 24 * 3600));
    }
}
