//! Others on the same desktop: a second server, a server that was killed with keys down, a person at the keyboard.
//!
//! What is pressed is read from the X server by `xinput`. The person is played by the registry of the accessibility
//! bus, which presses keys when it is asked to and is no process of ours.

use std::process::{Child, Stdio};
use std::time::Duration;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::desk::{App, Desk, Server, desk, until};
use crate::private::signal;

const SHIFT: u8 = 50;
const CONTROL: u8 = 37;
/// The letter x on the layout of a private desktop.
const LETTER_X: u8 = 53;

fn point() -> Value {
    json!({"x": 3, "y": 990})
}

// ── two servers ────────────────────────────────────────────────────────────────────────────────────

fn leased(desk: &Desk, seconds: &str) -> Server {
    desk.server_with(&[("OSO_INPUT__LEASE_S", seconds)])
}

#[track_caller]
fn check_refused(server: &mut Server, holder: u32) {
    for (tool, arguments) in [
        ("click_at", point()),
        ("type_text", json!({"text": "x"})),
        ("clipboard_set", json!({"text": "x"})),
        ("launch_app", json!({"program": "xterm"})),
    ] {
        let refused = server.call(tool, arguments);
        let error = &refused["error"];
        assert_eq!(error["code"], "DesktopBusy", "{tool}: {refused}");
        assert_eq!(error["context"]["holder_pid"], holder, "{refused}");
        assert_eq!(error["context"]["holder_client"], "t", "{refused}");
        let message = error["message"].as_str().unwrap();
        assert!(message.contains(&format!("process {holder}, started by t")), "{message}");
    }
}

/// The second may look, is told who acts, and may act as soon as the first is gone, even by SIGKILL.
#[test]
fn of_two_servers_one_acts() {
    let desk = desk();
    let (mut one, mut two) = (desk.server(), desk.server());
    one.ok("click_at", point());
    let holder = one.client.process_id();
    check_refused(&mut two, holder);
    two.ok("list_windows", json!({}));
    two.ok("get_screenshot", json!({}));
    two.ok("click_at", json!({"x": 3, "y": 990, "dry_run": true}));
    let told = two.ok("get_capabilities", json!({}))["limitations"].to_string();
    assert!(told.contains(&format!("process {holder}")), "{told}");
    one.ok("click_at", point());
    signal(holder, Signal::KILL);
    until("the desktop to be free", || (two.call("click_at", point())["ok"] == true).then_some(()));
    assert!(two.ok("get_capabilities", json!({})).get("limitations").is_none());
}

/// A server that says nothing more, because its client thinks or because it hangs, keeps it as long as it said.
#[test]
fn an_idle_server_loses_the_desktop() {
    let desk = desk();
    let (mut one, mut two) = (leased(&desk, "2"), leased(&desk, "60"));
    one.ok("click_at", point());
    let busy = two.call("click_at", point());
    let stopped = one.client.process_id();
    signal(stopped, Signal::STOP);
    until("the desktop to be free", || (two.call("click_at", point())["ok"] == true).then_some(()));
    signal(stopped, Signal::CONT);
    assert_eq!(busy["error"]["code"], "DesktopBusy", "{busy}");
    check_refused(&mut one, two.client.process_id());
}

#[test]
fn servers_that_keep_nothing_take_turns() {
    let desk = desk();
    let (mut one, mut two) = (leased(&desk, "0"), leased(&desk, "0"));
    for _ in 0..5 {
        one.ok("click_at", point());
        two.ok("click_at", point());
    }
}

// ── keys of a server that is gone ──────────────────────────────────────────────────────────────────

/// What a device of the X server holds down, such as `key[37]`.
fn down(desk: &Desk, device: &str) -> Vec<String> {
    let output = desk.command("xinput").args(["query-state", device]).output().expect("xinput");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("class"), "{text}");
    text.lines().filter_map(|line| line.trim().strip_suffix("=down")).map(str::to_owned).collect()
}

fn pressed(desk: &Desk) -> Vec<String> {
    let (pointer, keyboard) = ("Virtual core XTEST pointer", "Virtual core XTEST keyboard");
    [down(desk, pointer), down(desk, keyboard)].concat()
}

/// A server in the middle of a drag with two keys and a button down.
fn dragging(desk: &Desk) -> Server {
    let mut server = desk.server();
    let drag = json!({"from": {"x": 10, "y": 980}, "to": {"x": 300, "y": 980}, "duration_s": 10,
        "modifiers": ["ctrl", "shift"]});
    server.client.post("tools/call", json!({"name": "drag", "arguments": drag}));
    until("keys and a button to be down", || (pressed(desk).len() == 3).then_some(()));
    server
}

/// H-86 on desktop: SIGKILL leaves them down, and the next server lets go of them when it starts
#[test]
fn a_killed_servers_keys_are_let_go_by_the_next() {
    let desk = desk();
    let mut server = dragging(&desk);
    signal(server.client.process_id(), Signal::KILL);
    server.client.wait(Duration::from_secs(20)).unwrap();
    assert_eq!(pressed(&desk), ["button[1]", "key[37]", "key[50]"]);
    let _next = desk.server();
    until("all of it to be let go", || pressed(&desk).is_empty().then_some(()));
}

/// H-86 on desktop: a server that runs already lets go of them when it acts
#[test]
fn a_killed_servers_keys_are_let_go_by_another() {
    let desk = desk();
    let mut other = desk.server();
    let mut server = dragging(&desk);
    signal(server.client.process_id(), Signal::KILL);
    server.client.wait(Duration::from_secs(20)).unwrap();
    until("the desktop to be free", || (other.call("click_at", point())["ok"] == true).then_some(()));
    assert_eq!(pressed(&desk), Vec::<String>::new());
}

/// H-86 on desktop: while who holds them lives, another may not act and lets go of nothing
#[test]
fn a_living_servers_keys_are_its_own() {
    let desk = desk();
    let mut other = desk.server();
    let mut server = dragging(&desk);
    // Stopped, so that the drag lasts as long as the test.
    signal(server.client.process_id(), Signal::STOP);
    let held = pressed(&desk);
    let busy = other.call("click_at", point());
    let still = pressed(&desk);
    signal(server.client.process_id(), Signal::KILL);
    server.client.wait(Duration::from_secs(20)).unwrap();
    until("the desktop to be free", || (other.call("click_at", point())["ok"] == true).then_some(()));
    assert_eq!(busy["error"]["code"], "DesktopBusy", "{busy}");
    assert_eq!((held.len(), &still), (3, &held), "a server that may not act lets go of nothing");
}

/// H-86 on desktop: SIGTERM and the end of input let go before the process ends
#[test]
fn a_server_that_ends_lets_go_before() {
    let desk = desk();
    for ending in ["signal", "input"] {
        let mut server = dragging(&desk);
        match ending {
            "signal" => signal(server.client.process_id(), Signal::TERM),
            _ => server.client.close_input(),
        }
        server.client.wait(Duration::from_secs(30)).expect("the server to end");
        assert_eq!(pressed(&desk), Vec::<String>::new(), "after the end by {ending}");
    }
}

// ── a person at the same keyboard ──────────────────────────────────────────────────────────────────

/// Somebody who does this with the keyboard, in Python, and is ended with the value.
struct Person(Child);

/// Lets go of every key of these tests; whoever is ended in the middle of a press leaves it down.
fn hands_off(desk: &Desk) {
    let deeds: String =
        [SHIFT, CONTROL, LETTER_X].iter().map(|code| format!("key({code}, False)\n")).collect();
    Person::start(desk, &deeds).done();
    until("every key to be up", || pressed(desk).is_empty().then_some(()));
}

impl Person {
    fn start(desk: &Desk, deeds: &str) -> Self {
        let script = format!(
            "import pyatspi, time\n\
             def key(code, down):\n\
             \x20   kind = pyatspi.KEY_PRESS if down else pyatspi.KEY_RELEASE\n\
             \x20   pyatspi.Registry.generateKeyboardEvent(code, None, kind)\n\
             {deeds}\n"
        );
        let mut command = desk.command("/usr/bin/python3");
        command.args(["-c", &script]).stdout(Stdio::null()).stderr(Stdio::null());
        Self(command.spawn().unwrap())
    }

    fn done(mut self) {
        until("the person to be done", || self.0.try_wait().unwrap());
    }
}

impl Drop for Person {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn hold(desk: &Desk, codes: &[u8]) {
    assert_eq!(pressed(desk), Vec::<String>::new(), "somebody has left a key down");
    let deeds: String = codes.iter().map(|code| format!("key({code}, True)\n")).collect();
    Person::start(desk, &deeds).done();
    until("the keys to be held", || (pressed(desk).len() == codes.len()).then_some(()));
}

fn entry(desk: &Desk) -> App {
    desk.start("zenity", &["--entry", "--title=Ask"])
}

/// Held modifiers make capitals and shortcuts of a text; it must come out as it was given.
#[test]
fn keys_that_a_person_holds_change_nothing() {
    let desk = desk();
    let app = entry(&desk);
    let mut server = desk.server();
    let uid = server.ready(&app, "Ask", 4);
    server.ok("focus_element", json!({"window_uid": uid, "selector": "//Edit"}));
    for (codes, text) in [(&[SHIFT][..], "small letters"), (&[CONTROL, SHIFT][..], "all of it, x and a")] {
        hold(&desk, codes);
        server.ok("press_key", json!({"keys": "ctrl+a"}));
        hold(&desk, codes);
        server.ok("type_text", json!({"text": text}));
        desk.until_any(&app, "the text as it was given", |node| node["text"] == text);
        assert_eq!(pressed(&desk), Vec::<String>::new());
    }
}

/// Whoever types at the same time mixes the texts. Either that did not happen, or the reply says that it may have.
#[test]
fn a_person_who_types_at_the_same_time_is_noticed() {
    let desk = desk();
    let app = entry(&desk);
    let mut server = desk.server();
    let uid = server.ready(&app, "Ask", 4);
    server.ok("focus_element", json!({"window_uid": uid, "selector": "//Edit"}));
    let deeds = format!(
        "for _ in range(400):\n    key({LETTER_X}, True)\n    time.sleep(0.03)\n    key({LETTER_X}, False)\n    time.sleep(0.002)"
    );
    let person = Person::start(&desk, &deeds);
    desk.until_any(&app, "the person to type", |node| {
        node["text"].as_str().is_some_and(|text| text.contains("xx"))
    });
    let mut noticed = 0;
    for round in 0..4 {
        let text = format!("{round}{}", "abcdefghij".repeat(20));
        let reply = server.ok("type_text", json!({"text": text}));
        let said = reply["note"].as_str().is_some_and(|note| note.contains("someone pressed keys"));
        noticed += usize::from(said);
        // All of ours is there in its order, whatever stands between.
        let ours = desk.until_any(&app, "all that was typed", |node| {
            let found = node["text"].as_str().unwrap_or_default();
            found.contains(&round.to_string())
                && found.rsplit(&round.to_string()).next().unwrap().replace('x', "") == text[1..]
        });
        let whole = ours["text"].as_str().unwrap().contains(&text);
        assert!(whole || said, "mixed, and does not say so: {ours}");
    }
    drop(person);
    hands_off(&desk);
    assert!(noticed > 0, "a person who types all the time was never noticed");
}

// ── the clipboard ──────────────────────────────────────────────────────────────────────────────────

/// H-88 on desktop: typing leaves the clipboard and its owner alone, whatever is in it
#[test]
fn typing_does_not_touch_the_clipboard() {
    let desk = desk();
    let app = entry(&desk);
    let (mut owner, mut server) = (leased(&desk, "0"), leased(&desk, "0"));
    let uid = server.ready(&app, "Ask", 4);
    let long = "kept é\n".repeat(30_000);
    for kept in ["theirs", long.as_str()] {
        owner.ok("clipboard_set", json!({"text": kept}));
        server.ok("focus_element", json!({"window_uid": uid, "selector": "//Edit"}));
        server.ok("type_text", json!({"text": "typed 漢字 € 🎉"}));
        server.ok("set_value", json!({"window_uid": uid, "selector": "//Edit", "value": "set 漢字"}));
        assert_eq!(server.ok("clipboard_get", json!({}))["text"].as_str().unwrap().len(), kept.len());
    }
    // Nobody took it over: with its owner it is gone.
    drop(owner);
    until("an empty clipboard", || server.ok("clipboard_get", json!({})).get("text").is_none().then_some(()));
}
