//! A password is in no trace, audit line or log, however it gets into its field. Every toolkit marks such a field in its own
//! way; each program writes down what it got, so a password that did not arrive proves nothing.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};

use crate::desk::{App, Desk, JAVA_BRIDGE, Server, own_desk, until};
use crate::page_server::PageServer;
use crate::support::project;

/// Ordinary text beside the password, which a trace keeps.
const NAME: &str = "harbourmaster";

/// How a password is entered, and the password. No two have six characters in common.
const WAYS: &[(&str, &str)] = &[
    ("type_text", "Vq7z-löwe-81Kbtx"),
    ("set_value", "kEtTlE.93.rQz0fh-Q"),
    ("act", "Plum0-wG_55xyzzy"),
    ("named secret", "N4mq+Bxrth#Gannet"),
    ("press_key", "wj5kq2ynebq0ge7m"),
    ("key_into_element", "0gdr8q"),
    ("clipboard_set", "Z2pzgte:Cormorant6"),
    ("type_and_observe", "u6qbfrw~Dunlin"),
];

/// How many characters of a password that stand together give it away.
const PART: usize = 6;

struct Login {
    _app: App,
    uid: String,
    got: Box<dyn Fn() -> Vec<String>>,
}

impl Login {
    /// A program of tests/desktop/programs, which appends a line of JSON for each password that it got.
    fn program(desk: &Desk, server: &mut Server, program: &str, arguments: &[&str]) -> Self {
        let log = desk.home().join("login.log");
        let mut arguments: Vec<String> = arguments.iter().map(|argument| (*argument).to_owned()).collect();
        for argument in &mut arguments {
            let source = project().join("tests/desktop/programs").join(&*argument);
            if source.is_file() {
                *argument = source.display().to_string();
            }
        }
        arguments.push(log.display().to_string());
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let got = move || {
            let text = std::fs::read_to_string(&log).unwrap_or_default();
            text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
        };
        Self::started(server, desk.start(program, &arguments), "Login", Box::new(got))
    }

    /// A page that sends each password that it got.
    fn page(desk: &Desk, server: &mut Server, program: &str, arguments: &[&str]) -> Self {
        const PAGE: &str = "<!doctype html><meta charset=utf-8><title>Login page</title><input aria-label=Name>\
            <input type=password aria-label=Password oninput=\"fetch('/',{method:'POST',body:this.value})\">";
        let page = PageServer::start(PAGE);
        let address = page.address();
        let mut arguments = arguments.to_vec();
        arguments.push(&address);
        Self::started(
            server,
            desk.start(program, &arguments),
            "Login page",
            Box::new(move || page.received()),
        )
    }

    fn started(server: &mut Server, app: App, title: &str, got: Box<dyn Fn() -> Vec<String>>) -> Self {
        let uid = server.ready(&app, title, 3);
        Self { _app: app, uid, got }
    }
}

/// The steps of one way into a field that has the focus and is empty.
fn enter(server: &mut Server, way: &str, field: &Value, password: &str) {
    match way {
        "type_text" => drop(server.ok("type_text", json!({"text": password}))),
        "set_value" => {
            let mut arguments = field.clone();
            arguments["value"] = json!(password);
            server.ok("set_value", arguments);
        }
        "act" => {
            let mut focus = field.clone();
            focus["do"] = json!("focus_element");
            server.ok("act", json!({"steps": [focus, {"do": "type_text", "text": password}]}));
        }
        "named secret" => drop(server.ok("type_text", json!({"text": {"secret": "BERTH"}}))),
        "press_key" => password.chars().for_each(|key| {
            server.ok("press_key", json!({"keys": key.to_string()}));
        }),
        "key_into_element" => password.chars().for_each(|key| {
            let mut arguments = field.clone();
            arguments["keys"] = json!(key.to_string());
            server.ok("key_into_element", arguments);
        }),
        "clipboard_set" => {
            server.ok("clipboard_set", json!({"text": password}));
            server.ok("press_key", json!({"keys": "ctrl+v"}));
        }
        "type_and_observe" => drop(server.ok("type_and_observe", json!({"text": password}))),
        _ => unreachable!("{way}"),
    }
}

/// All that the server wrote while it recorded, by the name of each file.
fn record(desk: &Desk, start: impl FnOnce(&Desk, &mut Server) -> Login) -> BTreeMap<String, Vec<u8>> {
    let folder = desk.home().join("recorded");
    let settings = [
        ("OSO_TRACING__DIR", folder.join("traces").display().to_string()),
        ("OSO_TRACING__SCREENSHOT_EVERY_N_ACTIONS", "5".to_owned()),
        ("OSO_LOGGING__AUDIT", "true".to_owned()),
        ("OSO_LOGGING__AUDIT_PATH", folder.join("audit.log").display().to_string()),
        ("OSO_SECRET_BERTH", password_of("named secret").to_owned()),
        ("RUST_LOG", "debug".to_owned()),
    ];
    std::fs::create_dir_all(&folder).unwrap();
    let settings: Vec<(&str, &str)> = settings.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let mut server = desk.server_with(&settings);
    let login = start(desk, &mut server);
    server.ok("trace_start", json!({}));
    let [name, field] = ["Name", "Password"].map(|name| {
        server.element(&login.uid, "Edit", name);
        json!({"window_uid": login.uid, "selector": format!("//Edit[name=\"{name}\"]")})
    });
    server.ok("focus_element", name);
    server.ok("type_text", json!({"text": NAME}));
    for (way, password) in WAYS {
        server.ok("click_element", field.clone());
        server.ok("press_key", json!({"keys": "ctrl+a"}));
        server.ok("press_key", json!({"keys": "delete"}));
        enter(&mut server, way, &field, password);
        until(&format!("the password by {way}, not {:?}", (login.got)().last()), || {
            (login.got)().iter().any(|got| got == password).then_some(())
        });
    }
    server.ok("trace_stop", json!({}));
    server.client.close_input();
    server.client.wait(Duration::from_secs(30)).expect("the server to end");
    let mut files = BTreeMap::from([("stderr".to_owned(), server.client.last_words().into_bytes())]);
    read_all(&folder, &folder, &mut files);
    files
}

fn password_of(way: &str) -> &'static str {
    WAYS.iter().find(|(name, _)| *name == way).unwrap().1
}

/// Depth is bounded by what the server writes: a trace has one level of folders.
fn read_all(root: &Path, folder: &Path, files: &mut BTreeMap<String, Vec<u8>>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path: PathBuf = entry.unwrap().path();
        if path.is_dir() {
            read_all(root, &path, files);
        } else {
            let name = path.strip_prefix(root).unwrap().display().to_string();
            files.insert(name, std::fs::read(&path).unwrap());
        }
    }
}

/// Where a password or a part of it can be read.
fn places_of(password: &str, files: &BTreeMap<String, Vec<u8>>) -> Vec<String> {
    let signs: Vec<char> = password.chars().collect();
    let parts: Vec<String> = signs.windows(PART.min(signs.len())).map(|part| part.iter().collect()).collect();
    let mut places = Vec::new();
    for (name, bytes) in files {
        let text = String::from_utf8_lossy(bytes);
        let found = parts.iter().filter(|part| name.contains(*part) || text.contains(*part));
        places.extend(found.map(|part| format!("{part} in {name}")));
    }
    places
}

/// The kinds of chunks that a PNG has.
fn chunks_of(picture: &[u8]) -> Vec<String> {
    let (mut kinds, mut at) = (Vec::new(), 8);
    while let Some(head) = picture.get(at..at + 8) {
        let length = u32::from_be_bytes(head[..4].try_into().unwrap()) as usize;
        kinds.push(String::from_utf8_lossy(&head[4..]).into_owned());
        at += 12 + length;
    }
    kinds
}

fn rows_of(files: &BTreeMap<String, Vec<u8>>) -> Vec<Value> {
    let (_, trace) = files.iter().find(|(name, _)| name.ends_with("trace.jsonl")).expect("a trace");
    let trace = String::from_utf8_lossy(trace);
    trace.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn check(start: impl FnOnce(&Desk, &mut Server) -> Login) {
    let desk = own_desk();
    let files = record(&desk, start);
    let rows = rows_of(&files);
    assert!(rows.iter().any(|row| row["args"]["text"] == NAME), "an ordinary text stays: {rows:?}");
    assert!(files["audit.log"].len() > 1000, "an audit line for each call");
    for (way, password) in WAYS {
        assert_eq!(places_of(password, &files), Vec::<String>::new(), "a password by {way}");
    }
    // One letter is no part that can be searched for.
    for row in &rows {
        let keys = row["args"]["keys"].as_str().unwrap_or_default();
        assert!(keys.chars().count() != 1, "a letter of a password: {row}");
    }
    let pictures: Vec<_> = files.iter().filter(|(name, _)| name.ends_with(".png")).collect();
    assert!(pictures.len() > 1, "a trace has pictures: {:?}", files.keys());
    for (name, picture) in pictures {
        let kinds = chunks_of(picture);
        assert_eq!(kinds.last().map(String::as_str), Some("IEND"), "{name}: {kinds:?}");
        let with_text = kinds.iter().find(|kind| ["tEXt", "zTXt", "iTXt", "eXIf"].contains(&kind.as_str()));
        assert_eq!(with_text, None, "{name}");
    }
}

#[test]
fn gtk3_passwords_are_in_no_record() {
    check(|desk, server| Login::program(desk, server, "/usr/bin/python3", &["gtk_login.py", "3.0"]));
}

#[test]
fn gtk4_passwords_are_in_no_record() {
    check(|desk, server| Login::program(desk, server, "/usr/bin/python3", &["gtk_login.py", "4.0"]));
}

#[test]
fn qt_passwords_are_in_no_record() {
    check(|desk, server| Login::program(desk, server, "/usr/bin/python3", &["qt_login.py"]));
}

#[test]
fn swing_passwords_are_in_no_record() {
    const BRIDGE: &str = "-Djavax.accessibility.assistive_technologies=org.GNOME.Accessibility.AtkWrapper";
    check(|desk, server| Login::program(desk, server, "java", &["-cp", JAVA_BRIDGE, BRIDGE, "Login.java"]));
}

#[test]
fn chromium_passwords_are_in_no_record() {
    check(|desk, server| {
        let profile = format!("--user-data-dir={}", desk.home().join("chromium").display());
        let mut arguments = crate::browser::ARGUMENTS.to_vec();
        arguments.push(&profile);
        Login::page(desk, server, "chromium", &arguments)
    });
}

#[test]
fn firefox_passwords_are_in_no_record() {
    check(|desk, server| {
        let profile = desk.home().join("firefox");
        std::fs::create_dir_all(&profile).unwrap();
        let arguments = ["--no-remote", "--profile", profile.to_str().unwrap()];
        Login::page(desk, server, "firefox-esr", &arguments)
    });
}
