//! Windows as a whole, programs, the clipboard and the pointer, against a real window manager and real programs.

use serde_json::{Value, json};

use crate::desk::{Desk, Server, desk, until};
use crate::support::project;

fn action(server: &mut Server, uid: &str, args: Value) -> Value {
    let mut args = args;
    args["window_uid"] = json!(uid);
    args["timeout_ms"] = json!(20000);
    let acted = server.ok("window_action", args);
    assert_eq!(acted["reached"], true, "{acted}");
    acted
}

fn entry(desk: &Desk) -> crate::desk::App {
    desk.start("zenity", &["--entry", "--title=Ask", "--text=Name"])
}

#[test]
fn the_window_manager_does_as_it_is_asked() {
    let desk = desk();
    let app = desk.start("xterm", &["-T", "Placed"]);
    let mut server = desk.server();
    let uid = server.uid(&app, "Placed");
    let moved = action(&mut server, &uid, json!({"action": "move", "x": 140, "y": 130}));
    assert_eq!((&moved["final"]["bounds"]["x"], &moved["final"]["bounds"]["y"]), (&json!(140), &json!(130)));
    let large = action(&mut server, &uid, json!({"action": "maximize"}));
    assert_eq!(large["final"]["maximized"], true);
    action(&mut server, &uid, json!({"action": "restore"}));
    let small = action(&mut server, &uid, json!({"action": "minimize"}));
    assert_eq!(small["final"]["minimized"], true);
    action(&mut server, &uid, json!({"action": "restore"}));
    action(&mut server, &uid, json!({"action": "focus"}));
    let window = server.window(&app, "Placed");
    assert_eq!((&window["focused"], &window["bounds"]["x"]), (&json!(true), &json!(140)));
    let closed = action(&mut server, &uid, json!({"action": "close"}));
    assert_eq!(closed["closed"], true);
    assert!(server.windows().is_empty());
}

/// An editor with unsaved text asks back instead of closing.
#[test]
fn a_program_that_asks_back_is_reported_with_its_question() {
    let desk = desk();
    let app = desk.start("mousepad", &["--disable-server"]);
    let mut server = desk.server();
    let uid = server.ready(&app, "Mousepad", 5);
    server.ok("type_text", json!({"text": "unsaved"}));
    until("the mark of an unsaved text", || {
        server.window(&app, "Mousepad")["title"].as_str().unwrap().contains('*').then_some(())
    });
    let kept = server.ok("window_action", json!({"action": "close", "window_uid": uid}));
    assert_eq!(kept["reached"], false, "{kept}");
    assert!(kept["note"].as_str().unwrap().contains("question"), "{kept}");
    assert_eq!(kept["new_dialogs"].as_array().unwrap().len(), 1, "{kept}");
}

#[test]
fn several_windows_are_listed_and_left_alone() {
    let desk = desk();
    let (one, two) = (desk.start("xterm", &["-T", "Twin A"]), desk.start("xterm", &["-T", "Twin B"]));
    let mut server = desk.server();
    server.window(&one, "Twin A");
    server.window(&two, "Twin B");
    let refused = server.call("window_action", json!({"action": "close", "title": "twin"}));
    assert_eq!(refused["error"]["context"]["matches"].as_array().unwrap().len(), 2, "{refused}");
    action(&mut server, &server_uid(&refused, 0), json!({"action": "close"}));
    until("one to go", || (server.windows().len() == 1).then_some(()));
}

fn server_uid(refused: &Value, at: usize) -> String {
    refused["error"]["context"]["matches"][at]["window_uid"].as_str().unwrap().to_owned()
}

#[test]
fn a_program_is_started_with_its_arguments_as_they_are() {
    let desk = desk();
    let mut server = desk.server_with(&[("OSO_LAUNCH__ALLOW", r#"["zenity"]"#)]);
    let title = "--title=A $(touch pwned); `b`";
    let args = json!(["--info", title, "--text=Hello"]);
    let launched = server.ok("launch_app", json!({"program": "zenity", "args": args, "timeout_ms": 60000}));
    assert_eq!(launched["window_found"], true, "{launched}");
    assert_eq!(launched["window"]["title"], "A $(touch pwned); `b`");
    assert_eq!(launched["window"]["pid"], launched["pid"]);
    let uid = launched["window"]["window_uid"].as_str().unwrap().to_owned();
    action(&mut server, &uid, json!({"action": "close"}));
    let pid = launched["pid"].as_u64().unwrap();
    until("no zombie", || (!std::path::Path::new(&format!("/proc/{pid}")).exists()).then_some(()));
    assert!(!desk.home().join("pwned").exists());
}

/// The window of the program is told, once it is there, and not the splash screen before it.
#[test]
fn a_splash_screen_is_passed_over() {
    let desk = desk();
    let mut server = desk.server_with(&[("OSO_LAUNCH__ALLOW", r#"["sh"]"#)]);
    let empty = server.ok("look", json!({}));
    assert!(empty["outline"].as_str().unwrap().starts_with("no windows"), "{empty}");
    let script =
        "yad --splash --title=Splash --text=Wait --no-buttons --timeout=3; exec zenity --info --title=Main";
    let args = json!({"program": "sh", "args": ["-c", script], "timeout_ms": 60000});
    let launched = server.ok("launch_app", args);
    assert_eq!((&launched["window"]["title"], launched.get("loading")), (&json!("Main"), None), "{launched}");
    let uid = launched["window"]["window_uid"].as_str().unwrap().to_owned();
    action(&mut server, &uid, json!({"action": "close"}));
}

/// A file that a running program takes over is found in the window that it opened in.
#[test]
fn a_file_that_a_running_program_takes_over_is_found() {
    let desk = desk();
    let (first, second) = (desk.write("first.txt", "one"), desk.write("second.txt", "two"));
    let mut server = desk.server();
    let launch = |server: &mut Server, file: &std::path::Path| {
        server.ok("launch_app", json!({"program": "mousepad", "args": [file], "timeout_ms": 20000}))
    };
    let one = launch(&mut server, &first);
    assert_eq!((&one["window_found"], one.get("reused")), (&json!(true), None), "{one}");
    let two = launch(&mut server, &second);
    assert_eq!(two["window_found"], true, "{two}");
    assert!(two["window"]["title"].as_str().unwrap().contains("second.txt"), "{two}");
    let is_same = two["window"]["window_uid"] == one["window"]["window_uid"];
    assert_eq!(two["reused"] == true, is_same, "{two}");
    assert!(two["window"]["focused"] == true || two["note"].as_str().unwrap().contains("focus"), "{two}");
    let uid = two["window"]["window_uid"].as_str().unwrap().to_owned();
    action(&mut server, &uid, json!({"action": "close"}));
}

#[test]
fn what_the_desktop_offers_is_listed_and_the_rest_refused() {
    let desk = desk();
    let mut server = desk.server();
    let apps = server.ok("list_apps", json!({"filter": "mousepad"}));
    let id = apps["installed"][0]["id"].clone();
    assert!(id.as_str().unwrap().to_lowercase().contains("mousepad"), "{apps}");
    let refused = server.call("launch_app", json!({"program": "/bin/sh", "args": ["-c", "touch pwned"]}));
    assert_eq!(refused["error"]["code"], "PermissionDenied", "{refused}");
    let launched = server.ok("launch_app", json!({"program": id, "timeout_ms": 60000}));
    assert_eq!(launched["window_found"], true, "{launched}");
    let uid = launched["window"]["window_uid"].as_str().unwrap().to_owned();
    let running = server.ok("list_apps", json!({"filter": "mousepad"}))["running"].clone();
    assert_eq!(running[0]["windows"][0]["window_uid"], uid, "{running}");
    action(&mut server, &uid, json!({"action": "close"}));
}

/// Ctrl+V in a program that nobody here wrote.
#[test]
fn a_text_of_ours_is_pasted_by_a_program() {
    let desk = desk();
    let app = entry(&desk);
    let mut server = desk.server();
    let uid = server.ready(&app, "Ask", 4);
    server.ok("clipboard_set", json!({"text": "Zoë 漢字 🎉"}));
    assert_eq!(server.ok("clipboard_get", json!({}))["text"], "Zoë 漢字 🎉");
    server.ok("key_into_element", json!({"window_uid": uid, "selector": "//Edit", "keys": "ctrl+v"}));
    desk.until_any(&app, "the pasted text", |node| node["text"] == "Zoë 漢字 🎉");
}

/// Ctrl+C there, and the text is ours; from then on we hand nothing out any more.
#[test]
fn a_text_of_a_program_is_read() {
    let desk = desk();
    let app = desk.start("zenity", &["--entry", "--title=Ask", "--entry-text=théirs"]);
    let mut server = desk.server();
    let uid = server.ready(&app, "Ask", 4);
    server.ok("clipboard_set", json!({"text": "ours"}));
    for keys in ["ctrl+a", "ctrl+c"] {
        server.ok("key_into_element", json!({"window_uid": uid, "selector": "//Edit", "keys": keys}));
    }
    until("their text", || (server.ok("clipboard_get", json!({}))["text"] == "théirs").then_some(()));
}

/// Longer than one request carries, so it goes in pieces, in both directions, between two servers.
#[test]
fn a_long_text_goes_in_pieces() {
    let desk = desk();
    let shared = [("OSO_INPUT__LEASE_S", "0")];
    let (mut one, mut two) = (desk.server_with(&shared), desk.server_with(&shared));
    let long = "line é\n".repeat(30_000);
    one.ok("clipboard_set", json!({"text": long}));
    assert_eq!(two.ok("clipboard_get", json!({}))["text"], long);
    two.ok("clipboard_set", json!({"text": "short"}));
    assert_eq!(one.ok("clipboard_get", json!({}))["text"], "short");
    drop(two);
    let gone = until("an empty clipboard", || {
        Some(one.ok("clipboard_get", json!({}))).filter(|got| got.get("text").is_none())
    });
    assert_eq!(gone["characters"], 0);
}

/// Neither by pointer nor by its own action is an element worked that is outside.
#[test]
fn input_stays_in_its_region() {
    let desk = desk();
    let mut app = desk.start("zenity", &["--entry", "--title=Ask", "--entry-text=kept"]);
    let mut held = desk.server_with(&[("OSO_INPUT__ALLOWED_REGION", "0,0,5,5"), ("OSO_INPUT__LEASE_S", "0")]);
    let uid = held.uid(&app, "Ask");
    let ok = held.element(&uid, "Button", "OK");
    let at = |key: &str, side: &str| {
        ok["bounds"][key].as_i64().unwrap() + ok["bounds"][side].as_i64().unwrap() / 2
    };
    for (tool, args) in [
        ("click_element", json!({"window_uid": uid, "element_id": ok["id"]})),
        ("invoke_element", json!({"window_uid": uid, "element_id": ok["id"]})),
        ("set_value", json!({"window_uid": uid, "selector": "//Edit", "value": "other"})),
        ("click_at", json!({"x": at("x", "width"), "y": at("y", "height")})),
    ] {
        let refused = held.call(tool, args);
        assert_eq!(refused["error"]["code"], "PermissionDenied", "{tool} {refused}");
    }
    held.ok("click_at", json!({"x": 2, "y": 2}));
    let mut free = desk.server();
    free.ok("click_element", json!({"window_uid": uid, "element_id": ok["id"]}));
    assert_eq!(app.printed(), "kept\n");
}

#[test]
fn the_pointer_is_found_over_what_it_is_over() {
    let desk = desk();
    let app = entry(&desk);
    let mut server = desk.server();
    let uid = server.ready(&app, "Ask", 4);
    let ok = server.element(&uid, "Button", "OK");
    server.ok("hover_element", json!({"window_uid": uid, "element_id": ok["id"]}));
    let cursor = server.ok("get_cursor", json!({}));
    assert_eq!(cursor["window"]["window_uid"], uid, "{cursor}");
    assert_eq!((&cursor["element"]["role"], &cursor["monitor"]), (&json!("Button"), &json!(0)), "{cursor}");
}

/// Keys after a start are for the window that it opened, and for no dialog of the program that has the focus.
#[test]
fn keys_do_not_go_into_a_dialog_beside_the_window_that_was_started() {
    let desk = desk();
    let mut server = desk.server_with(&[("OSO_LAUNCH__ALLOW", r#"["sh"]"#)]);
    let program = project().join("tests/desktop/programs/two_windows.py");
    let script = format!("exec /usr/bin/python3 {}", program.display());
    let start = json!({"do": "launch_app", "program": "sh", "args": ["-c", script], "match": {"title": "Main"},
        "timeout_ms": 60000});
    let reply = server.call("act", json!({"steps": [start, {"do": "type_text", "text": "lost"}]}));
    let message = reply["error"]["message"].as_str().unwrap_or_default();
    assert_eq!(reply["error"]["code"], "WindowOccluded", "{reply}");
    assert!(message.contains("Tip of the day") && message.contains("Main"), "{message}");
    let windows = server.windows();
    for window in windows.iter().filter(|window| window["process"] == "python3") {
        let uid = window["window_uid"].as_str().unwrap().to_owned();
        assert!(!server.tree(&uid).iter().any(|element| element["value"] == "lost"), "{uid}");
        server.call("window_action", json!({"window_uid": uid, "action": "close"}));
    }
}
