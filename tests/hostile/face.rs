//! What the face of Clickthrough has to say as the other surfaces do, in its own shape.
#![cfg(feature = "http")]

use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::Command;

use serde_json::{Value, json};

use crate::support::http::{Site, answer, until};
use crate::support::{Client, PATIENCE};

/// H-57 on clickthrough: every answer with something of the screen is marked, also a refusal, and no other is
#[test]
fn what_was_seen_is_marked_there_too() {
    let site = Site::clickthrough(json!({"ocr": {"enabled": false}}));
    let part = json!({"region_x": 0, "region_y": 0, "region_width": 200, "region_height": 200});
    let click = json!({"action": "click", "target": {"mode": "pixel", "x": 5, "y": 5}});
    let region = json!({"x": 0, "y": 0, "width": 200, "height": 200});
    let wait = json!({"kind": "window", "title_contains": "notepad", "timeout_ms": 0});
    for (path, body, status) in [
        ("/see", part.clone(), 200),
        ("/see/zoom", json!({"center_x": 100, "center_y": 100}), 200),
        ("/zoom", json!({"center_x": 100, "center_y": 100}), 200),
        ("/vision/diff", json!({"mode": "region", "wait_ms": 0}), 200),
        ("/vision/stability", json!({"duration_ms": 200, "interval_ms": 100}), 200),
        ("/interact", json!({ "action": click }), 200),
        ("/interact", json!({"action": {"action": "type", "text": "a"}}), 200),
        ("/batch", json!({ "actions": [click] }), 200),
        ("/wait", wait.clone(), 200),
        ("/action/verify", json!({"action": click, "verify": wait, "retries": 0}), 200),
        ("/windows/action", json!({"action": "focus", "title_contains": "notepad"}), 200),
        // Refusals that tell of windows, or that a look has made.
        ("/windows/action", json!({"action": "focus", "title_regex": "."}), 409),
        (
            "/interact",
            json!({"action": {"action": "click_text", "click_text": {"text": "File", "region": region}}}),
            503,
        ),
    ] {
        let told = site.post(path, body.clone());
        assert_eq!(told.status, status, "{path} {body}: {told:?}");
        assert_eq!(told.json()["untrusted"], true, "{path} {body}: {:.300}", told.body);
    }
    for path in ["/windows", "/windows?title_contains=notepad", "/screen"] {
        assert_eq!(site.get(path).json()["untrusted"], true, "{path}");
    }
    // These words are our own.
    for answer in [
        site.get("/health"),
        site.get("/displays"),
        site.get("/nothing"),
        site.get("/see"),
        site.post("/see", json!({"no_such_field": 1})),
        site.post("/exec", json!({"command": "true"})),
        site.post("/windows/action", json!({"action": "focus", "title_contains": "no such window"})),
    ] {
        assert_eq!(answer.json().get("untrusted"), None, "{answer:?}");
    }
}

/// H-16 on clickthrough: what is given twice in an address is refused with its name
#[test]
fn what_is_given_twice_is_refused_with_its_name() {
    let site = Site::clickthrough(json!({}));
    for (query, name) in [
        ("/windows?hwnd=1&hwnd=2", "hwnd"),
        ("/windows?hwnd=1&hwnd=1", "hwnd"),
        ("/windows?title_contains=a&visible_only=true&title_contains=b", "title_contains"),
        ("/windows?%68wnd=1&hwnd=2", "hwnd"),
        ("/windows?nothing=1&nothing=2", "nothing"),
        ("/screen?screen=0&screen=1", "screen"),
        ("/screen?asImage=true&asImage=false", "asImage"),
    ] {
        let answer = site.get(query);
        let told = answer.json();
        assert_eq!((answer.status, &told["error"]["code"]), (422, &json!("validation_error")), "{answer:?}");
        let faults = told["error"]["details"].as_array().unwrap();
        let repeated = |fault: &&Value| fault["type"] == "repeated" && fault["loc"] == json!(["query", name]);
        assert!(faults.iter().any(|fault| repeated(&fault)), "{query}: {told}");
        assert_eq!(told["data"], Value::Null, "{query}");
    }
    assert_eq!(site.get("/windows?hwnd=1").status, 200);
}

/// H-79 on clickthrough: bytes that are no text are said to be none
#[test]
fn bytes_that_are_no_text_are_said_to_be_none_there_too() {
    const SECRET: &str = "correct horse battery";
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("config.json");
    let settings = json!({
        "exec": {"enabled": true, "secret": SECRET},
        "web_ui": {"port": 0},
        "clickthrough": {"enabled": true, "port": 0},
    });
    std::fs::write(&config, settings.to_string()).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_os-screen-observer"));
    command.args(["--mode", "both", "--config"]).arg(&config);
    // Without a desktop, which commands do not need.
    command.env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY").env("HOME", folder.path());
    let mut client = Client::spawn(command);
    client.initialize("2025-11-25");
    let errors = client.errors.clone();
    until("the face is served", || errors.lock().unwrap().contains("Clickthrough-compatible API on port"));
    let log = errors.lock().unwrap().clone();
    let port = log.split("Clickthrough-compatible API on port ").nth(1).unwrap();
    let port: String = port.chars().take_while(char::is_ascii_digit).collect();
    let address = format!("127.0.0.1:{port}");
    let exec = |command: &str| {
        let mut stream = TcpStream::connect(&address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let body = json!({"command": command, "shell": "bash"}).to_string();
        let head = format!(
            "POST /exec HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\ncontent-type: application/json\r\n\
             x-clickthrough-exec-secret: {SECRET}\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(head.as_bytes()).unwrap();
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).unwrap();
        answer(&String::from_utf8_lossy(&bytes)).json()
    };
    let done = exec("printf 'a\\377b'; printf '\\376' >&2");
    let data = &done["data"];
    assert_eq!((&data["stdout"], &data["exit_code"]), (&json!("a\u{fffd}b"), &json!(0)), "{done}");
    assert_eq!(
        (&data["stdout_not_utf8"], &data["stderr_not_utf8"], &done["untrusted"]),
        (&json!(true), &json!(true), &json!(true)),
        "{done}"
    );
    let plain = exec("printf 'ab'");
    assert_eq!(plain["data"].get("stdout_not_utf8"), None, "{plain}");
}
