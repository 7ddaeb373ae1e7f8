//! A display and a window manager and nothing else, as in a container, on a CI machine or over `ssh -X`: there is no
//! session bus and no accessibility. Everything that needs no elements works; what was typed is read from the files
//! that a shell makes, never from our own replies.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use crate::desk::{BINARY, Server, until};
use crate::support::Client;

/// A program of this desktop; it ends with the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// An X server of its own with a window manager.
struct Container {
    display: String,
    folder: tempfile::TempDir,
    _programs: Vec<Running>,
}

impl Container {
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut server = Command::new("Xvfb");
        server.args(["-displayfd", "1", "-screen", "0", "1024x768x24", "-nolisten", "tcp"]);
        let mut server = server.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("Xvfb");
        let mut number = String::new();
        BufReader::new(server.stdout.take().unwrap()).read_line(&mut number).unwrap();
        let mut container =
            Self { display: format!(":{}", number.trim()), folder, _programs: vec![Running(server)] };
        let manager = container.spawn("openbox", &[]);
        container._programs.push(manager);
        container
    }

    fn home(&self) -> &Path {
        self.folder.path()
    }

    /// Without a word about any bus.
    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        let path = std::env::var_os("PATH").unwrap_or_default();
        command.env_clear().env("PATH", path).env("DISPLAY", &self.display).env("LANG", "C.UTF-8");
        command.env("HOME", self.home()).env("XDG_RUNTIME_DIR", self.home()).current_dir(self.home());
        command
    }

    fn spawn(&self, program: &str, arguments: &[&str]) -> Running {
        let mut command = self.command(program);
        command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        Running(command.spawn().expect(program))
    }

    fn server(&self) -> Server {
        let mut command = self.command(BINARY);
        command.args(["--mode", "mcp", "--log", "warning"]);
        let mut client = Client::spawn(command);
        client.initialize("2025-11-25");
        Server { client }
    }

    /// A terminal with letters that can be read.
    fn terminal(&self, title: &str, server: &mut Server) -> (Running, String) {
        let font = ["-u8", "-fa", "DejaVu Sans Mono", "-fs", "16"];
        let app = self.spawn("xterm", &[&font[..], &["-T", title, "-e", "sh"]].concat());
        let uid = until(&format!("the window {title:?}"), || {
            let windows = server.windows();
            let window = windows.iter().find(|window| window["title"] == title)?;
            window["window_uid"].as_str().map(str::to_owned)
        });
        (app, uid)
    }
}

/// Every reading tool answers, and says what it lacks.
#[test]
fn a_window_is_seen_without_its_elements() {
    let container = Container::start();
    let mut server = container.server();
    let (_app, uid) = container.terminal("Seen", &mut server);
    let named = json!({"window_uid": uid});
    let tree = server.ok("get_window_structure", named.clone());
    assert_eq!((&tree["node_count"], &tree["tree"]["name"]), (&json!(1), &json!("Seen")), "{tree}");
    let why = tree["degraded"]["detail"].as_str().unwrap();
    assert!(why.contains("accessibility bus") && why.contains("at-spi2-core"), "{why}");
    let seen = server.ok("observe_window", named.clone());
    assert!(seen["degraded"]["detail"].as_str().unwrap().contains("accessibility bus"), "{seen}");
    for tool in
        ["get_screen_sketch", "get_screen_description", "get_full_screenshot", "snapshot", "wait_idle"]
    {
        server.ok(tool, named.clone());
    }
    server.ok("get_screen_description", json!({"window_uid": uid, "mode": "ocr"}));
    server.ok("find_element", json!({"window_uid": uid, "selector": "Window"}));
    until("a picture", || server.picture(&uid));
    let told = server.ok("get_capabilities", json!({}));
    assert_eq!(told["supports"]["accessibility_tree"], false, "{told}");
    assert!(told["limitations"].to_string().contains("accessibility bus"), "{told}");
}

/// What was typed is never answered as if it had not been.
#[test]
fn a_command_is_typed_once_and_observed() {
    let container = Container::start();
    let mut server = container.server();
    let (_app, uid) = container.terminal("Typed", &mut server);
    server.ok("bring_to_foreground", json!({"window_uid": uid}));
    let typed = server.ok("type_and_observe", json!({"text": "echo once >> made\n"}));
    assert_eq!(typed["observation"]["ok"], true, "{typed}");
    let file = container.home().join("made");
    until("the file", || std::fs::read_to_string(&file).ok().filter(|text| text == "once\n"));
    server.ok("press_key_and_observe", json!({"keys": "enter"}));
    server.ok("type_text", json!({"text": "echo twice >> made\n", "window_index": 0}));
    until("the second line", || std::fs::read_to_string(&file).ok().filter(|text| text == "once\ntwice\n"));
}

/// OCR stands for the tree: in looks, waits and claims.
#[test]
fn text_is_read_and_waited_for() {
    let container = Container::start();
    let mut server = container.server();
    let (_app, uid) = container.terminal("Read", &mut server);
    server.ok("bring_to_foreground", json!({"window_uid": uid}));
    server.ok("type_text", json!({"text": "clear; echo Harbour lights\n"}));
    let condition = json!({"type": "text_visible", "regex": "Harbour(?= lights)"});
    server.ok("wait_for", json!({"any_of": [condition], "window_uid": uid, "timeout_ms": 30000}));
    let looked = until("the line", || {
        let looked = server.ok("look", json!({"window_uid": uid}));
        looked["outline"].as_str()?.contains("Harbour").then_some(looked)
    });
    assert_eq!(looked["source"], "ocr", "{looked}");
    assert!(looked["degraded"].as_str().unwrap().contains("accessibility bus"), "{looked}");
    let words = server.ok("get_ocr", json!({"window_uid": uid}))["words"].to_string();
    assert!(words.contains("Harbour"), "{words}");
    let claim = json!({"kind": "text_visible", "regex": "Harbour", "window_uid": uid});
    assert_eq!(server.ok("assert_state", json!({"predicates": [claim]}))["all_passed"], true);
}

/// Two windows: one is raised over the other; a third is started and closed.
#[test]
fn windows_are_raised_started_and_closed() {
    let container = Container::start();
    let mut server = container.server();
    let (_one, first) = container.terminal("First", &mut server);
    let (_two, second) = container.terminal("Second", &mut server);
    for uid in [&first, &second, &first] {
        server.ok("bring_to_foreground", json!({"window_uid": uid}));
        until("the focus", || focused(&mut server).filter(|focused| focused == uid));
    }
    let arguments = json!(["-T", "Third", "-e", "sleep 600"]);
    let launched = server.ok("launch_app", json!({"program": "xterm", "args": arguments}));
    assert_eq!(launched["window_found"], true, "{launched}");
    let third = launched["window"]["window_uid"].as_str().unwrap().to_owned();
    let closed = server.ok("window_action", json!({"action": "close", "window_uid": third}));
    assert_eq!(closed["closed"], true, "{closed}");
}

fn focused(server: &mut Server) -> Option<String> {
    let windows: Vec<Value> = server.windows();
    let front = windows.into_iter().find(|window| window["focused"] == true)?;
    front["window_uid"].as_str().map(str::to_owned)
}
