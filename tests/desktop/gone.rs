//! The parts of a desktop that are gone or mute, and come back: the X server, the accessibility bus, the session bus.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::desk::{BINARY, Desk, desk, until};
use crate::private::{command_of, environment_of, family_of, signal};
use crate::support::Client;

/// An X server with a window manager and one window, which can be ended and started again at the same place.
struct Display {
    number: u32,
    children: Vec<Child>,
}

impl Display {
    fn unused() -> Self {
        // Tests run side by side, and a number is free until its server has started.
        static NEXT: AtomicU32 = AtomicU32::new(300);
        let is_free = |number: &u32| !Path::new(&format!("/tmp/.X11-unix/X{number}")).exists();
        let number = std::iter::repeat_with(|| NEXT.fetch_add(1, Ordering::Relaxed)).find(is_free).unwrap();
        Self { number, children: Vec::new() }
    }

    fn name(&self) -> String {
        format!(":{}", self.number)
    }

    fn start(&mut self, title: &str) {
        let mut server = Command::new("Xvfb");
        server.args([&self.name(), "-screen", "0", "800x600x24", "-nolisten", "tcp", "-noreset"]);
        self.children.push(quiet(server).spawn().unwrap());
        let socket = format!("/tmp/.X11-unix/X{}", self.number);
        until("the X server", || Path::new(&socket).exists().then_some(()));
        let title = format!("--title={title}");
        for program in [&["openbox"][..], &["zenity", "--info", &title]] {
            let mut command = Command::new(program[0]);
            command.args(&program[1..]).env("DISPLAY", self.name()).env_remove("DBUS_SESSION_BUS_ADDRESS");
            self.children.push(quiet(command).spawn().unwrap());
        }
    }

    fn end(&mut self) {
        for mut child in self.children.drain(..) {
            let _ = child.kill();
            child.wait().unwrap();
        }
        // A server that is killed leaves these behind, and the next one would take them for a sign of life.
        let _ = std::fs::remove_file(format!("/tmp/.X11-unix/X{}", self.number));
        let _ = std::fs::remove_file(format!("/tmp/.X{}-lock", self.number));
    }
}

impl Drop for Display {
    fn drop(&mut self) {
        self.end();
    }
}

fn quiet(mut command: Command) -> Command {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

fn server_on(display: &str) -> Client {
    let mut command = Command::new(BINARY);
    command.args(["--mode", "mcp", "--log", "error"]).env("DISPLAY", display);
    for name in ["XAUTHORITY", "DBUS_SESSION_BUS_ADDRESS", "WAYLAND_DISPLAY"] {
        command.env_remove(name);
    }
    let mut client = Client::spawn(command);
    client.initialize("2025-11-25");
    client
}

fn until_window(client: &mut Client, title: &str) {
    until(&format!("the window {title:?}"), || {
        let windows = client.data("list_windows", json!({}));
        windows["windows"].as_array()?.iter().any(|window| window["title"] == title).then_some(())
    });
}

/// H-84 on desktop: the X server is killed and started again, twice; the server says so and goes on
#[test]
fn the_x_server_goes_and_comes_back() {
    let mut display = Display::unused();
    display.start("First");
    let mut client = server_on(&display.name());
    until_window(&mut client, "First");
    client.data("click_at", json!({"x": 5, "y": 5}));
    for title in ["Second", "Third"] {
        display.end();
        for (tool, arguments) in [
            ("list_windows", json!({})),
            ("get_screenshot", json!({})),
            ("click_at", json!({"x": 5, "y": 5})),
        ] {
            let reply = client.data(tool, arguments);
            let message = reply["error"]["message"].as_str().unwrap_or_else(|| panic!("{tool}: {reply}"));
            assert!(message.contains("X server"), "{tool}: {message}");
        }
        let told = client.data("get_capabilities", json!({}));
        assert!(told["unavailable"].as_str().unwrap().contains("X server"), "{told}");
        display.start(title);
        until_window(&mut client, title);
        assert_eq!(client.data("click_at", json!({"x": 5, "y": 5}))["ok"], true);
        let pictured = client.call("get_screenshot", json!({}));
        assert_eq!(pictured["isError"], false, "{}", pictured["content"][0]["text"]);
        assert_eq!(client.data("clipboard_set", json!({"text": title}))["ok"], true);
        assert_eq!(client.data("clipboard_get", json!({}))["text"], title);
        assert!(client.data("get_capabilities", json!({})).get("unavailable").is_none());
    }
    // Events are heard again as well: a wait that only a new window ends.
    let wait = json!({"any_of": [{"type": "window_appears", "title_regex": "Late"}], "timeout_ms": 30000});
    let id = client.post("tools/call", json!({"name": "wait_for", "arguments": wait}));
    let mut late = Command::new("zenity");
    late.args(["--info", "--title=Late"]).env("DISPLAY", display.name());
    display.children.push(quiet(late).spawn().unwrap());
    let answer = client.answer(id);
    assert!(answer["result"]["content"][0]["text"].as_str().unwrap().contains("\"ok\":true"), "{answer}");
}

/// H-84 on desktop: an X server that is stopped costs each call its time and no more, and works again when it goes on
#[test]
fn a_mute_x_server_is_given_up_and_taken_again() {
    let mut display = Display::unused();
    display.start("Heard");
    let mut client = server_on(&display.name());
    until_window(&mut client, "Heard");
    let stopped = Stopped(vec![display.children[0].id()]);
    signal(stopped.0[0], Signal::STOP);
    let id = client.post("tools/call", json!({"name": "list_windows", "arguments": {}}));
    // The client's patience is twice that of the server.
    let answer = client.answer(id);
    let text = answer["result"]["content"][0]["text"].as_str().unwrap().to_owned();
    assert!(text.contains("has not answered for"), "{text}");
    drop(stopped);
    until_window(&mut client, "Heard");
}

/// H-84 on desktop: neither display nor bus; the server starts, and says what is missing
#[test]
fn without_a_display_the_server_starts_and_says_so() {
    let mut command = Command::new(BINARY);
    command.args(["--mode", "mcp"]).env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY");
    command.env_remove("DBUS_SESSION_BUS_ADDRESS");
    let mut client = Client::spawn(command);
    client.initialize("2025-11-25");
    let refused = client.data("list_windows", json!({}));
    assert!(refused["error"]["message"].as_str().unwrap().contains("DISPLAY is not set"), "{refused}");
    let told = client.data("get_capabilities", json!({}));
    assert!(told["unavailable"].as_str().unwrap().contains("DISPLAY is not set"), "{told}");
}

/// Stopped processes that go on when the test is over, however it ends.
struct Stopped(Vec<u32>);

impl Drop for Stopped {
    fn drop(&mut self) {
        self.0.iter().for_each(|pid| signal(*pid, Signal::CONT));
    }
}

/// Of this desktop alone: other tests have theirs meanwhile.
fn stop_accessibility(desk: &Desk) -> Stopped {
    let processes = family_of(std::process::id()).into_iter().map(|(pid, _)| pid);
    let display = desk.environment()["DISPLAY"].clone();
    let belongs = |pid: &u32| {
        let command = command_of(*pid);
        environment_of(*pid).get("DISPLAY").is_some_and(|own| **own == *display)
            && ((command.contains("dbus-daemon") && command.contains("accessibility"))
                || command.contains("at-spi"))
    };
    let found: Vec<u32> = processes.filter(belongs).collect();
    assert!(!found.is_empty(), "no accessibility bus is running");
    found.iter().for_each(|pid| signal(*pid, Signal::STOP));
    Stopped(found)
}

fn lacks_accessibility(told: &Value) -> bool {
    told["supports"]["accessibility_tree"] == false
        && told["limitations"].to_string().contains("accessibility bus")
}

/// H-84 on desktop: an accessibility bus that stops answering costs the trees and nothing else, also at the start
#[test]
fn a_mute_accessibility_bus_costs_only_the_trees() {
    let desk = desk();
    let app = desk.start("zenity", &["--info", "--title=Heard", "--text=Well"]);
    let shared = [("OSO_INPUT__LEASE_S", "0")];
    let mut before = desk.server_with(&shared);
    let uid = before.ready(&app, "Heard", 3);
    assert!(!lacks_accessibility(&before.ok("get_capabilities", json!({}))));
    let stopped = stop_accessibility(&desk);
    // What it saw a moment ago it still knows; later it must ask.
    std::thread::sleep(Duration::from_millis(2_200));
    let mut meanwhile = desk.server_with(&shared);
    for server in [&mut before, &mut meanwhile] {
        assert!(server.windows().iter().any(|window| window["window_uid"] == uid.as_str()));
        assert!(server.picture(&uid).is_some());
        let told = server.ok("get_capabilities", json!({}));
        assert!(lacks_accessibility(&told), "{told}");
        let tree = server.call("get_window_structure", json!({"window_uid": uid}));
        assert!(tree["ok"] == false || tree.to_string().contains("degraded"), "{tree}");
    }
    meanwhile.ok("click_at", json!({"x": 3, "y": 990}));
    drop(stopped);
    for server in [&mut before, &mut meanwhile] {
        until("the bus to be heard again", || (server.tree(&uid).len() >= 3).then_some(()));
        assert!(!lacks_accessibility(&server.ok("get_capabilities", json!({}))));
    }
}

/// H-84 on desktop: a session bus that accepts and never speaks
#[test]
fn a_bus_that_never_speaks_holds_nothing_up() {
    let desk = desk();
    let _app = desk.start("zenity", &["--info", "--title=Seen", "--text=Well"]);
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("mute");
    let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    let address = format!("unix:path={}", socket.display());
    let mut server = desk.server_with(&[("DBUS_SESSION_BUS_ADDRESS", &address)]);
    until("a window", || server.windows().iter().any(|window| window["title"] == "Seen").then_some(()));
    server.ok("click_at", json!({"x": 3, "y": 990}));
    let told = server.ok("get_capabilities", json!({}));
    assert!(lacks_accessibility(&told), "{told}");
}
