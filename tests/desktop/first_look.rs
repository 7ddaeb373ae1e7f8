//! The first look at a program of GTK 4, whose elements come a moment after its window: it has them all, on an idle machine
//! and on one whose cores are all busy.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};

use crate::desk::runs;
use crate::support::Client;

/// What every look at the calculator must have.
const BUTTONS: &[&str] = &["0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "=", "+"];

/// Every core has a thread that never rests, until this is dropped.
struct Busy(Arc<AtomicBool>);

impl Busy {
    fn start() -> Self {
        let ends = Arc::new(AtomicBool::new(false));
        for _ in 0..std::thread::available_parallelism().map_or(2, std::num::NonZero::get) {
            let ends = ends.clone();
            std::thread::spawn(move || {
                while !ends.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        Self(ends)
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn server(command: &[&str]) -> Client {
    let mut arguments = vec!["--mode", "mcp", "--log", "warning", "--sandbox"];
    if !command.is_empty() {
        arguments.push("--");
        arguments.extend(command);
    }
    let mut client = Client::start(&arguments);
    client.initialize("2025-11-25");
    client
}

/// What is wrong with a look at the calculator.
fn fault_of(look: &Value) -> Option<String> {
    let text = |block: usize| look["content"][block]["text"].as_str().unwrap_or_default();
    let lines = text(1);
    let is_there = |name: &&&str| {
        let button = format!("Button \"{name}\"");
        lines.lines().any(|line| line.contains(&button) && line.contains('@'))
    };
    let missing: Vec<_> = BUTTONS.iter().filter(|name| !is_there(name)).collect();
    let is_right = missing.is_empty() && lines.contains("Document");
    (!is_right).then(|| format!("without {missing:?}: {}\n{lines}", text(0)))
}

fn check(faults: &[Option<String>]) {
    let wrong: Vec<&String> = faults.iter().flatten().collect();
    assert!(wrong.is_empty(), "{} of {} first looks: {wrong:#?}", wrong.len(), faults.len());
}

fn after_sandbox() -> Option<String> {
    fault_of(&server(&["gnome-calculator"]).call("look", json!({})))
}

/// A new program each time, on one desktop.
fn after_launch(client: &mut Client) -> Option<String> {
    let launched = client.data("launch_app", json!({"program": "gnome-calculator", "timeout_ms": 60000}));
    assert_eq!(launched["window_found"], true, "{launched}");
    let uid = launched["window"]["window_uid"].clone();
    let fault = fault_of(&client.call("look", json!({})));
    let pid = launched["pid"].as_u64().unwrap().try_into().unwrap();
    crate::private::signal(pid, rustix::process::Signal::KILL);
    let gone = json!({"any_of": [{"type": "window_disappears", "window_uid": uid}], "timeout_ms": 60000});
    let waited = client.data("wait_for", gone);
    assert_eq!(waited["ok"], true, "{waited}");
    fault
}

#[test]
fn the_first_look_on_a_private_desktop_is_right() {
    check(&(0..runs(3)).map(|_| after_sandbox()).collect::<Vec<_>>());
}

#[test]
fn the_first_look_on_a_private_desktop_is_right_beside_busy_programs() {
    let _busy = Busy::start();
    check(&(0..runs(3)).map(|_| after_sandbox()).collect::<Vec<_>>());
}

#[test]
fn the_first_look_at_a_launched_program_is_right() {
    let mut client = server(&[]);
    check(&(0..runs(3)).map(|_| after_launch(&mut client)).collect::<Vec<_>>());
}

#[test]
fn the_first_look_at_a_launched_program_is_right_beside_busy_programs() {
    let mut client = server(&[]);
    let _busy = Busy::start();
    check(&(0..runs(3)).map(|_| after_launch(&mut client)).collect::<Vec<_>>());
}
