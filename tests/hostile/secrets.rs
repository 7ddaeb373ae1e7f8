//! A secret leaves the application by no door.
//!
//! The tools come from the table, the routes from the OpenAPI document, resources and prompts from their lists, so
//! that what is added later is tried too. What left is searched as bytes, in every encoding that is in use here.
#![cfg(feature = "http")]

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use aho_corasick::AhoCorasick;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use os_screen_observer::model::Rect;
use os_screen_observer::platform::Stage;
use os_screen_observer::scenario;
use os_screen_observer::tool::{Effect, ReplyKind, Spec};
use os_screen_observer::tools;
use serde_json::{Value, json};

use crate::gates::over_mcp;
use crate::support::fake_model::{FakeModel, Script};
use crate::support::http::{JSON, Site, answer, until};
use crate::support::{Client, World, project};

const SENTINEL: &str = "S3NT1NEL-9f2c";

/// Two secret fields, one marked and one only called so, and an application that repeats what it was told: in a
/// text, in a name, in a description and in another window. The screen is no larger than they are: most of the time
/// of these tests goes into its pixels.
const BANK: &str = r#"
name: bank
screen: {width: 1220, height: 520}
states:
  only:
    windows:
      - uid: mock:bank
        title: Bank
        bounds: {x: 100, y: 100, width: 600, height: 400}
        focused: true
        tree:
          role: Window
          name: Bank
          bounds: {x: 100, y: 100, width: 600, height: 400}
          children:
            - {role: Edit, name: Account, id: account, value: "", bounds: {x: 120, y: 120, width: 300, height: 24}}
            - {role: Edit, name: Password, id: password, value: "", secret: true, focused: true, bounds: {x: 120, y: 160, width: 300, height: 24}}
            - {role: PasswordText, name: Code, id: code, value: "", bounds: {x: 120, y: 200, width: 300, height: 24}}
            - {role: Text, name: Echo, id: echo, value: "", bounds: {x: 120, y: 240, width: 300, height: 24}}
            - {role: Button, name: Go, id: go, bounds: {x: 120, y: 280, width: 300, height: 30}}
      - uid: mock:log
        title: Log
        bounds: {x: 800, y: 100, width: 400, height: 300}
        tree:
          role: Window
          name: Log
          bounds: {x: 800, y: 100, width: 400, height: 300}
          children:
            - {role: Text, name: Line, id: line, value: "", bounds: {x: 820, y: 120, width: 300, height: 24}}
reactions:
  - on: {tool: type_text, target_id: password, text_regex: "(.+)"}
    set: [{id: password, value: "{text}"}, {id: echo, value: "you typed {text}"}, {id: line, name: "{text}", value: "<{text}>"}]
  - on: {tool: set_value, target_id: password, text_regex: "(.+)"}
    set: [{id: password, value: "{text}"}, {id: echo, value: "you set {text}"}, {id: line, name: "{text}", value: "<{text}>"}]
  - on: {tool: set_value, target_id: code, text_regex: "(.+)"}
    set: [{id: code, value: "{text}"}]
"#;

/// What it does when the secret is pasted, or spelled to the end: no file that a server reads may hold these lines.
const PASTED: &str = r#"  - on: {tool: press_key, target_id: password, text_regex: "^(ctrl.v|shift.insert|c)$"}
    set: [{id: password, value: "S3NT1NEL-9f2c"}, {id: echo, value: "you pasted S3NT1NEL-9f2c"}, {id: line, name: "S3NT1NEL-9f2c"}]
  - on: {tool: press_key, target_id: password, text_regex: "^(shift..|.)$"}
    set: [{id: password, value: "••••"}]
"#;

fn told() -> String {
    format!("{BANK}{PASTED}")
}

/// The same, but the field tells bullets only, as real ones do: the secret is known by having been typed.
fn masked() -> String {
    let told = ["{id: password, value: \"{text}\"}", "{id: password, value: \"S3NT1NEL-9f2c\"}"];
    told.iter().fold(self::told(), |stage, told| stage.replace(told, "{id: password, value: \"••••••••\"}"))
}

fn load(text: &str) -> scenario::Scenario {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("bank.yaml");
    std::fs::write(&file, text).unwrap();
    scenario::load_file(&file).unwrap()
}

fn bank_with(text: &str, config: Value) -> World {
    let world = World::with(config);
    world.mock.load(load(text));
    world.app.observer.forget_all();
    world
}

const PASSWORD: &str = "//Edit[name=\"Password\"]";

// ── looking for it ─────────────────────────────────────────────────────────────────────────────────

/// The secret as it may stand in a text, a page, an address or a picture's bytes.
fn needles(secret: &str) -> Vec<Vec<u8>> {
    let bytes = secret.as_bytes();
    let each = |write: &dyn Fn(u8) -> String| bytes.iter().map(|byte| write(*byte)).collect::<String>();
    let mut needles = vec![
        secret.to_owned(),
        each(&|byte| format!("{byte:02x}")),
        each(&|byte| format!("{byte:02X}")),
        each(&|byte| format!("%{byte:02x}")),
        each(&|byte| format!("%{byte:02X}")),
        each(&|byte| format!("\\u{byte:04x}")),
        each(&|byte| format!("&#{byte};")),
        each(&|byte| format!("{byte},")),
    ];
    // Base64 looks different at each of three places; the letters at its ends belong to the neighbours too.
    for (before, start) in [(0, 0), (1, 2), (2, 3)] {
        let padded = [&vec![0; before], bytes].concat();
        let whole = padded.len() / 3 * 4;
        needles.push(BASE64_STANDARD.encode(&padded)[start..whole].to_owned());
    }
    let mut needles: Vec<Vec<u8>> = needles.into_iter().map(String::into_bytes).collect();
    needles.push(secret.encode_utf16().flat_map(u16::to_le_bytes).collect());
    needles
}

struct Search(AhoCorasick);

impl Search {
    fn of(secret: &str) -> Self {
        Self(AhoCorasick::new(needles(secret)).unwrap())
    }

    #[track_caller]
    fn assert_absent(&self, place: &str, bytes: &[u8]) {
        if let Some(found) = self.0.find(bytes) {
            let around = found.start().saturating_sub(300)..(found.end() + 100).min(bytes.len());
            panic!("{place} shows the secret: …{}…", String::from_utf8_lossy(&bytes[around]));
        }
    }

    #[track_caller]
    fn assert_absent_below(&self, folder: &Path) -> usize {
        let files = files_below(folder);
        for file in &files {
            self.assert_absent(&file.display().to_string(), &std::fs::read(file).unwrap());
            self.assert_absent("the name of a file", file.to_string_lossy().as_bytes());
        }
        files.len()
    }
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            files.extend(files_below(&entry.path()));
        } else if kind.is_file() {
            files.push(entry.path());
        }
    }
    files
}

/// H-58 on code: what is searched for is found in each of its encodings
#[test]
fn the_search_finds_what_it_looks_for() {
    let search = Search::of(SENTINEL);
    let hidden =
        |text: String| std::panic::catch_unwind(|| search.assert_absent("x", text.as_bytes())).is_ok();
    for text in ["", "a", "ab"].map(|before| BASE64_STANDARD.encode(format!("{before}{SENTINEL} and more"))) {
        assert!(!hidden(text.clone()), "{text}");
    }
    assert!(!hidden(format!("x{SENTINEL}y")) && !hidden("%533NT1NEL-9f2c S3NT1NEL-9f2c".to_owned()));
    assert!(hidden("S3NT1NEL-9f2".to_owned()));
}

// ── every tool ─────────────────────────────────────────────────────────────────────────────────────

/// Arguments with which a tool may show something: its examples, none, each window, the fields, every way to write.
fn calls_of(spec: &Spec, thoroughly: bool) -> Vec<Value> {
    let schema = spec.full_input_schema();
    let takes = |name: &str| schema["properties"].get(name).is_some();
    let mut calls: Vec<Value> =
        spec.meta.examples.iter().map(|example| serde_json::from_str(example.args).unwrap()).collect();
    calls.push(json!({}));
    for (name, values) in [
        ("window_uid", json!(["mock:bank", "mock:log", SENTINEL, "none"])),
        ("window_title", json!(["Bank", SENTINEL])),
        (
            "selector",
            json!([PASSWORD, "//PasswordText", "//Text", format!("//*[value*=\"{SENTINEL}\"]"), SENTINEL]),
        ),
        ("element_id", json!(["root.1", "root.2", "root.3", SENTINEL])),
        ("format", json!(["json", "tree", "outline", "json-patch", "custom", SENTINEL])),
        ("text", json!(["Password", "you typed", SENTINEL])),
        ("role", json!(["field", SENTINEL])),
        ("name_regex", json!(["S3N.*", SENTINEL])),
        ("filter", json!([SENTINEL])),
        ("since", json!([SENTINEL])),
        ("mode", json!(["accessibility", "ocr", "combined", SENTINEL])),
        ("path", json!([SENTINEL, "latest"])),
        ("label", json!([SENTINEL])),
        ("replay_id", json!([SENTINEL])),
        ("snapshot_id", json!([SENTINEL])),
        ("confirm_token", json!([SENTINEL])),
        ("program", json!([SENTINEL])),
        ("command", json!([SENTINEL])),
        ("action", json!([SENTINEL])),
        ("keys", json!([SENTINEL])),
        ("predicate", predicates()),
        ("any_of", json!([[{"type": "element_appears", "selector": PASSWORD}], [{"type": SENTINEL}]])),
        (
            "steps",
            json!([[{"do": "click_element", "selector": PASSWORD}], [{"do": SENTINEL, SENTINEL: SENTINEL}]]),
        ),
        ("no_such_argument", json!([SENTINEL])),
        (SENTINEL, json!([SENTINEL, {SENTINEL: [SENTINEL]}])),
    ] {
        if takes(name) || ["no_such_argument", SENTINEL].contains(&name) {
            calls.extend(values.as_array().unwrap().iter().map(|value| json!({ name: value })));
        }
    }
    if !thoroughly {
        calls.retain(|call| !call.to_string().contains(SENTINEL));
        return calls;
    }
    // What a required argument keeps from being reached is reached with an example's.
    let Some(example) = spec.meta.examples.first() else { return calls };
    let full: Value = serde_json::from_str(example.args).unwrap();
    let more: Vec<Value> = calls.iter().map(|call| merged(&full, call)).collect();
    calls.extend(more);
    calls.sort_by_key(Value::to_string);
    calls.dedup();
    calls
}

fn merged(base: &Value, more: &Value) -> Value {
    let mut all = base.clone();
    all.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    all
}

fn predicates() -> Value {
    json!([
        {"kind": "value_equals", "selector": PASSWORD, "expected": SENTINEL},
        {"kind": "value_equals", "selector": PASSWORD, "expected": "x"},
        {"kind": "value_matches", "selector": PASSWORD, "regex": "^S3NT"},
        {"kind": "value_equals", "selector": "//Text", "expected": "x"},
        {"kind": "value_matches", "selector": "//PasswordText", "regex": "^x"},
        {"kind": "text_visible", "regex": "you typed (.*)"},
        {"kind": "element_exists", "selector": format!("//*[name=\"{SENTINEL}\"]")},
        {"kind": SENTINEL},
    ])
}

/// Those that only look first, so that the secret is still on the screen.
fn specs() -> Vec<Spec> {
    let mut specs: Vec<Spec> =
        tools::all_tools().filter(|spec| spec.meta.lock.is_none() && spec.meta.switch.is_none()).collect();
    let rank = |spec: &Spec| match spec.meta.effect {
        Effect::Observe => 0,
        Effect::Input => 1,
        _ => 2,
    };
    specs.sort_by_key(rank);
    specs
}

/// Waits and pauses are cut short: what they show counts, not how long they take.
fn brief(mut args: Value, spec: &Spec) -> Value {
    let schema = spec.full_input_schema();
    for (name, value) in [("timeout_ms", 1), ("quiet_ms", 1), ("wait_ms", 1), ("duration_ms", 200)] {
        let least =
            schema.pointer(&format!("/properties/{name}/minimum")).and_then(Value::as_i64).unwrap_or(0);
        if schema["properties"].get(name).is_some() {
            args[name] = json!(value.max(least));
        }
    }
    args
}

/// Pictures are of a small part, where they can be: what is said beside them counts, and their pixels are tried
/// elsewhere.
fn small(mut args: Value, spec: &Spec) -> Value {
    let schema = spec.full_input_schema();
    let takes = |name: &str| schema["properties"].get(name).is_some();
    let part = json!({"x": 110, "y": 150, "width": 90, "height": 40});
    if spec.meta.reply == ReplyKind::Picture && takes("region") && args.get("region").is_none() {
        args["region"] = part;
    } else if spec.meta.reply == ReplyKind::Picture && takes("width") {
        (args["width"], args["height"]) = (json!(40), json!(30));
    }
    args
}

/// How the secret gets into the field.
fn ways_to_type() -> Vec<(&'static str, Vec<(&'static str, Value)>)> {
    let set = json!({"selector": PASSWORD, "value": SENTINEL});
    vec![
        ("type_text", vec![("type_text", json!({"text": SENTINEL}))]),
        ("with enter", vec![("type_text", json!({"text": format!("{SENTINEL}\n")}))]),
        ("with a tab", vec![("type_text", json!({"text": format!("{SENTINEL}\tx")}))]),
        ("set_value", vec![("set_value", set.clone())]),
        ("appended", vec![("set_value", merged(&set, &json!({"clear_first": false})))]),
        ("type_and_observe", vec![("type_and_observe", json!({"text": SENTINEL, "wait_after_ms": 0}))]),
        ("act", vec![("act", json!({"steps": [merged(&set, &json!({"do": "set_value"}))]}))]),
        ("act, full", vec![("act", json!({"steps": [{"do": "type_text", "text": SENTINEL}], "full": true}))]),
        (
            "from the field before",
            vec![
                ("click_element", json!({"selector": "//Edit[name=\"Account\"]"})),
                ("type_text", json!({"text": format!("me\t{SENTINEL}")})),
            ],
        ),
        ("pasted", vec![copied(), ("press_key", json!({"keys": "ctrl+v"}))]),
        (
            "pasted into it",
            vec![copied(), ("key_into_element", json!({"selector": PASSWORD, "keys": "ctrl+v"}))],
        ),
        ("letter by letter", letters().map(|keys| ("press_key", json!({ "keys": keys }))).collect()),
    ]
}

fn copied() -> (&'static str, Value) {
    ("clipboard_set", json!({ "text": SENTINEL }))
}

/// The keys that spell it.
fn letters() -> impl Iterator<Item = String> {
    SENTINEL.chars().map(|letter| match letter {
        'A'..='Z' => format!("shift+{}", letter.to_ascii_lowercase()),
        other => other.to_string(),
    })
}

/// Types it, asks every tool everything, and searches replies, audit log and trace.
fn check_way(stage: &str, name: &str, typing: &[(&str, Value)], thoroughly: bool) {
    let folder = tempfile::tempdir().unwrap();
    let search = Search::of(SENTINEL);
    let world = bank_with(
        stage,
        json!({
            "logging": {"audit": true, "audit_path": folder.path().join("audit.log")},
            "tracing": {"dir": folder.path().join("traces"), "screenshot_every_n_actions": 0},
            "ocr": {"enabled": false},
        }),
    );
    let ask = |tool: &str, args: Value| {
        let reply = world.reply(tool, args.clone());
        search.assert_absent(&format!("{name}: {tool} {args}"), reply.text().as_bytes());
        if let Some(question) = &reply.question {
            search.assert_absent(&format!("{name}: the question of {tool}"), question.text.as_bytes());
        }
    };
    ask("trace_start", json!({}));
    // A misspelt call before the secret is known to be one.
    ask("type_text", json!({"txt": SENTINEL}));
    ask("snapshot", json!({}));
    for (tool, args) in typing {
        ask(tool, args.clone());
    }
    assert!(world.effects() >= typing.len(), "{name} typed nothing");
    for spec in specs().into_iter().filter(|spec| spec.meta.effect == Effect::Observe) {
        for args in calls_of(&spec, thoroughly) {
            let args = brief(args, &spec);
            ask(spec.meta.name, if thoroughly { args } else { small(args, &spec) });
        }
    }
    ask("trace_stop", json!({}));
    ask("trace_start", json!({ "label": SENTINEL }));
    ask("trace_stop", json!({}));
    assert!(search.assert_absent_below(folder.path()) > 3, "nothing was written");
}

/// H-58, H-59 on code, act: however it was typed, no reading tool, audit line or trace has it
#[test]
fn however_it_is_typed_nothing_shows_it() {
    for (name, typing) in ways_to_type() {
        check_way(&told(), name, &typing, name == "type_text");
    }
}

/// H-58, H-59 on code, act: also where the field itself tells nothing but bullets
#[test]
fn a_masked_secret_is_known_by_having_been_typed() {
    for (name, typing) in ways_to_type() {
        check_way(&masked(), name, &typing, name == "set_value");
    }
}

/// H-58 on code: the tools that act, and those that work on the session
#[test]
fn tools_that_act_show_it_no_more_than_those_that_look() {
    let folder = tempfile::tempdir().unwrap();
    let search = Search::of(SENTINEL);
    for spec in specs().into_iter().filter(|spec| spec.meta.effect != Effect::Observe) {
        let audit = folder.path().join(format!("{}.log", spec.meta.name));
        let world = bank_with(
            BANK,
            json!({
                "logging": {"audit": true, "audit_path": audit},
                "tracing": {"dir": folder.path().join(spec.meta.name), "screenshot_every_n_actions": 0},
                "confirmation_required": [{"name_regex": "^Go$"}],
                "ocr": {"enabled": false},
            }),
        );
        world.ok("type_text", json!({ "text": SENTINEL }));
        for args in calls_of(&spec, true) {
            let reply = world.reply(spec.meta.name, brief(args.clone(), &spec));
            search.assert_absent(&format!("{} {args}", spec.meta.name), reply.text().as_bytes());
        }
        world.call("trace_stop", json!({}));
    }
    search.assert_absent_below(folder.path());
}

// ── every door of one process ──────────────────────────────────────────────────────────────────────

/// The built server with everything switched on that writes anything, all of it below one folder.
struct Process {
    client: Client,
    folder: tempfile::TempDir,
    address: String,
    face: String,
    /// All that came over HTTP, by where it came from.
    seen: Vec<(String, Vec<u8>)>,
    events: Arc<Mutex<Vec<u8>>>,
}

impl Process {
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        std::fs::write(path("bank.yaml"), BANK).unwrap();
        let config = json!({
            "logging": {"audit": true, "audit_path": path("audit.log")},
            "tracing": {"dir": path("traces"), "screenshot_every_n_actions": 50},
            "web_ui": {"port": 0, "token_file": path("token")},
            "clickthrough": {"enabled": true, "port": 0},
            "scenarios": {"dirs": [".", folder.path()]},
            // What is read from pictures is tried by itself; reading takes long.
            "ocr": {"enabled": false},
        });
        std::fs::write(path("config.json"), config.to_string()).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_os-screen-observer"));
        command.args(["--mode", "both", "--mock"]);
        command.arg("--scenario").arg(path("bank.yaml")).arg("--config").arg(path("config.json"));
        command.env("RUST_LOG", "trace").env("OSO_TRACING__DIR", path("traces"));
        for home in
            ["HOME", "TMPDIR", "XDG_RUNTIME_DIR", "XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"]
        {
            command.env(home, folder.path());
        }
        let mut client = Client::spawn(command);
        client.initialize("2025-11-25");
        let errors = client.errors.clone();
        until("both are served", || errors.lock().unwrap().contains("Clickthrough-compatible API on port"));
        let log = client.errors.lock().unwrap().clone();
        let word = |before: &str, ends: &[char]| {
            log.split(before).nth(1).unwrap().split(ends).next().unwrap().to_owned()
        };
        let address = word("serving HTTP at http://", &['/', ' ', '\n']);
        let face =
            format!("127.0.0.1:{}", word("Clickthrough-compatible API on port ", &[' ', '\n', '\u{1b}']));
        let events = Arc::new(Mutex::new(Vec::new()));
        let process = Self { client, folder, address, face, seen: Vec::new(), events };
        process.watch();
        process
    }

    fn watch(&self) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        write!(stream, "GET /api/events HTTP/1.1\r\nhost: {}\r\n\r\n", self.address).unwrap();
        let kept = self.events.clone();
        std::thread::spawn(move || {
            let mut buffer = [0; 65536];
            while let Ok(count @ 1..) = stream.read(&mut buffer) {
                kept.lock().unwrap().extend_from_slice(&buffer[..count]);
            }
        });
    }

    fn ask(&mut self, address: &str, method: &str, path: &str, body: &str) -> Vec<u8> {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(crate::support::PATIENCE)).unwrap();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\ncontent-type: application/json\r\n\
             accept: application/json, text/event-stream\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        let _ = stream.write_all(head.as_bytes());
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        assert!(!bytes.is_empty(), "{method} {path} was not answered");
        self.seen.push((format!("{method} {path} {body}"), bytes.clone()));
        bytes
    }

    fn rest(&mut self, method: &str, path: &str, body: &str) -> Value {
        let address = self.address.clone();
        let bytes = self.ask(&address, method, path, body);
        serde_json::from_str(&answer(&String::from_utf8_lossy(&bytes)).body).unwrap_or_default()
    }

    fn clickthrough(&mut self, method: &str, path: &str, body: Value) -> u16 {
        let address = self.face.clone();
        let body = if body.is_null() { String::new() } else { body.to_string() };
        answer(&String::from_utf8_lossy(&self.ask(&address, method, path, &body))).status
    }

    /// One request in the older words on the pipe; every line is kept as it came.
    fn pipe(&mut self, method: &str, params: Value) -> Value {
        let answer = self.client.request(method, params.clone());
        self.seen.push((format!("stdio {method} {params}"), answer.to_string().into_bytes()));
        answer["result"].clone()
    }

    fn call(&mut self, tool: &str, args: Value) -> Value {
        self.pipe("tools/call", json!({"name": tool, "arguments": args}))
    }

    /// Into the field again, in whatever state the calls before have left it.
    fn type_it(&mut self) {
        let path = self.folder.path().join("bank.yaml");
        let loaded = self.call("load_scenario", json!({"path": path}));
        assert_ne!(loaded["isError"], true, "{loaded}");
        self.call("click_element", json!({"selector": PASSWORD}));
        let typed = self.call("type_text", json!({"text": SENTINEL}));
        assert_ne!(typed["isError"], true, "{typed}");
    }
}

/// The document's paths with something in their braces, and a query that names a window.
fn routes(document: &Value, ids: &BTreeMap<&str, String>) -> Vec<(String, String)> {
    let mut routes = Vec::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        let mut filled = path.clone();
        for (name, value) in ids {
            filled = filled.replace(&format!("{{{name}}}"), value);
        }
        // Watched all the time.
        for method in methods.as_object().unwrap().keys().filter(|_| path != "/api/events") {
            routes.push((method.to_uppercase(), filled.clone()));
        }
    }
    routes
}

/// H-58, H-59 on stdio, REST, /mcp, clickthrough, page: every tool, route, resource, prompt and event, all logs, all files
#[test]
fn one_process_with_every_door_open_shows_it_nowhere() {
    let mut process = Process::start();
    process.call("trace_start", json!({"label": "everything"}));
    process.call("type_text", json!({"txt": SENTINEL}));
    process.type_it();
    let tree = process.call("get_window_structure", json!({})).to_string();
    assert!(tree.contains("you typed [REDACTED]"), "the application did not repeat the secret: {tree}");
    every_tool(&mut process);
    process.type_it();
    every_route(&mut process);
    process.type_it();
    every_offer(&mut process);
    process.type_it();
    every_route_of_clickthrough(&mut process);
    process.call("trace_stop", json!({}));
    let exported = exported(&process);
    let _ = process.rest("GET", "/api/metrics", "");
    process.client.close_input();
    process.client.wait(Duration::from_secs(20)).expect("the process did not end");
    let search = Search::of(SENTINEL);
    for (place, bytes) in process.seen.iter().chain(&exported) {
        search.assert_absent(place, bytes);
    }
    let errors = process.client.errors.lock().unwrap().clone();
    assert!(errors.contains("INFO"), "nothing was logged: {errors:.300}");
    search.assert_absent("stderr", errors.as_bytes());
    let events = process.events.lock().unwrap().clone();
    assert!(events.len() > 10_000, "few events came: {}", events.len());
    search.assert_absent("the events", &events);
    assert!(search.assert_absent_below(process.folder.path()) > 20);
    assert!(process.seen.len() > 900, "{}", process.seen.len());
}

fn every_tool(process: &mut Process) {
    for spec in specs() {
        for args in calls_of(&spec, true) {
            process.call(spec.meta.name, brief(args, &spec));
        }
    }
}

fn every_route(process: &mut Process) {
    let document = process.rest("GET", "/api/openapi.json", "");
    let traces = process.rest("GET", "/api/traces", "");
    let trace = traces["traces"][0]["id"].as_str().unwrap_or("none").to_owned();
    let taken = process.rest("POST", "/api/tool/snapshot", "{}");
    let snapshot = taken["snapshot_id"].as_str().unwrap_or("none").to_owned();
    let ids = BTreeMap::from([("id", trace), ("snapshot_id", snapshot), ("name", "nothing".to_owned())]);
    let all = routes(&document, &ids);
    assert!(all.len() > 80, "{}", all.len());
    let body = json!({"window_uid": "mock:bank", "selector": PASSWORD}).to_string();
    // The stop switch last: it would keep the rest from acting.
    let (halts, others): (Vec<_>, Vec<_>) = all.into_iter().partition(|(_, path)| path.contains("halt"));
    for (method, path) in others.iter().chain(&halts) {
        match method.as_str() {
            "GET" => {
                process.rest("GET", path, "");
                process.rest("GET", &format!("{path}?window_uid=mock%3Abank"), "");
                process.rest(
                    "GET",
                    &format!("{path}?selector=%2F%2FEdit&text=Password&element_id=root.1"),
                    "",
                );
            }
            _ => {
                process.rest(method, path, "{}");
                process.rest(method, path, &body);
                process.rest(method, path, &json!({ SENTINEL: SENTINEL, "action": SENTINEL }).to_string());
                process.rest(method, path, &format!("{{\"text\": \"{SENTINEL}\""));
            }
        }
    }
    process.rest("POST", "/api/halt/release", "{}");
    process.rest("POST", &format!("/api/tool/{}", "no_such_tool"), &body);
    for page in
        ["/", "/index.html", "/api/healthz", "/api/metrics", "/api/calls", "/api/approvals", "/nothing"]
    {
        process.rest("GET", page, "");
    }
}

fn every_offer(process: &mut Process) {
    let listed = process.pipe("resources/list", json!({}));
    let uris: Vec<String> = listed["resources"]
        .as_array()
        .unwrap()
        .iter()
        .map(|resource| resource["uri"].as_str().unwrap().to_owned())
        .collect();
    assert!(uris.len() >= 5, "{listed}");
    process.pipe("resources/templates/list", json!({}));
    for uri in uris.iter().map(String::as_str).chain(["screen://window/none/outline"]) {
        process.pipe("resources/read", json!({ "uri": uri }));
        process.pipe("resources/subscribe", json!({ "uri": uri }));
    }
    let prompts = process.pipe("prompts/list", json!({}));
    process.call("find_element", json!({"selector": "//Nope"}));
    for prompt in prompts["prompts"].as_array().unwrap() {
        let name = &prompt["name"];
        for arguments in [
            json!({}),
            json!({"window": "mock:bank", "values": format!("Password: {SENTINEL}"), "goal": "x"}),
        ] {
            process.pipe("prompts/get", json!({"name": name, "arguments": arguments}));
        }
        let reference = json!({"type": "ref/prompt", "name": name});
        process.pipe(
            "completion/complete",
            json!({"ref": reference, "argument": {"name": "window", "value": ""}}),
        );
    }
    process.pipe("tools/list", json!({}));
    for method in ["no/such/method", "tools/call"] {
        process.pipe(method, json!({ "name": SENTINEL, "x": SENTINEL }));
    }
    // The same over HTTP, where every request stands for itself.
    for (method, params) in [
        ("resources/list", json!({})),
        ("resources/read", json!({"uri": "screen://window/mock:bank/outline"})),
        ("resources/read", json!({"uri": "screen://windows"})),
        ("prompts/get", json!({"name": "describe_screen"})),
        ("tools/call", json!({"name": "look", "arguments": {}})),
        ("tools/call", json!({"name": "get_window_structure", "arguments": {}})),
    ] {
        let request = json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params});
        process.rest("POST", "/mcp", &request.to_string());
    }
}

/// The routes of that face, as its source has them: it has no document of them.
fn routes_of_clickthrough() -> Vec<String> {
    let source = crate::support::read("src/http/clickthrough/mod.rs");
    let named = source.split(".route(\"").skip(1).filter_map(|rest| rest.split('"').next());
    let routes: Vec<String> = named.map(str::to_owned).collect();
    assert!(routes.len() > 15, "{routes:?}");
    routes
}

fn every_route_of_clickthrough(process: &mut Process) {
    let part = json!({"region_x": 100, "region_y": 100, "region_width": 600, "region_height": 400});
    let near = json!({"center_x": 250, "center_y": 170, "width": 300, "height": 100});
    let still = json!({"kind": "visual", "state": "stable", "timeout_ms": 1});
    let mut left = routes_of_clickthrough();
    for (method, path, body) in [
        ("GET", "/health", Value::Null),
        ("GET", "/displays", Value::Null),
        ("GET", "/windows", Value::Null),
        ("GET", "/screen", Value::Null),
        ("POST", "/see", part.clone()),
        ("POST", "/see", merged(&part, &json!({"ocr": true}))),
        ("POST", "/see/zoom", near.clone()),
        ("POST", "/zoom", near.clone()),
        ("POST", "/ocr", part.clone()),
        ("POST", "/ocr/find", merged(&part, &json!({"text": "typed"}))),
        ("POST", "/interact", json!({"action": {"action": "type", "text": SENTINEL}})),
        ("POST", "/interact", json!({"action": {"action": SENTINEL}})),
        ("POST", "/batch", json!({"actions": [{"action": "type", "text": SENTINEL}]})),
        ("POST", "/windows/action", json!({"action": SENTINEL})),
        ("POST", "/wait", json!({"kind": "text", "text": "typed", "timeout_ms": 1})),
        ("POST", "/vision/diff", json!({})),
        ("POST", "/vision/stability", json!({"duration_ms": 50, "interval_ms": 20})),
        ("POST", "/action/verify", json!({"action": {"action": "type", "text": SENTINEL}, "verify": still})),
        ("POST", "/action/verify", json!({"action": {"action": SENTINEL}, "verify": {"kind": SENTINEL}})),
        ("POST", "/launch", json!({"executable": SENTINEL, "args": [SENTINEL]})),
        ("POST", "/exec", json!({"command": SENTINEL})),
        ("POST", "/nothing", json!({})),
    ] {
        left.retain(|route| route != path);
        let asks_rightly = !body.to_string().contains(SENTINEL) && path != "/nothing";
        let status = process.clickthrough(method, path, body.clone());
        // Reading pictures is switched off here, and refused; but nothing is refused for how it was asked.
        assert!(!asks_rightly || ![404, 405, 422].contains(&status), "{method} {path} {body}: {status}");
    }
    assert!(left.is_empty(), "nobody asked {left:?}");
}

/// What the terminal makes of the trace: the page, the story, and a scenario.
fn exported(process: &Process) -> Vec<(String, Vec<u8>)> {
    let traces = process.folder.path().join("traces");
    let mut made = Vec::new();
    let folders = std::fs::read_dir(&traces).unwrap().flatten().map(|entry| entry.path());
    for trace in folders.filter(|path| path.is_dir()) {
        for args in [&["trace", "show"][..], &["trace", "export", "--html"], &["scenario", "record"]] {
            let output = Command::new(env!("CARGO_BIN_EXE_os-screen-observer"))
                .args(args)
                .arg(&trace)
                .current_dir(project())
                .env("RUST_LOG", "trace")
                .output()
                .unwrap();
            made.push((format!("{args:?} {}", trace.display()), [output.stdout, output.stderr].concat()));
        }
    }
    assert!(made.iter().any(|(_, bytes)| bytes.len() > 10_000), "nothing was exported");
    made
}

// ── a value that is read in many ways ──────────────────────────────────────────────────────────────

/// H-59 on code, act: what shows a value shows the replacement in its place, in a marked field and in one by its role
#[test]
fn every_reading_of_the_value_is_the_replacement() {
    let hidden = "[REDACTED]";
    for (role, field) in [("Edit", PASSWORD), ("PasswordText", "//PasswordText")] {
        let world = bank_with(BANK, json!({}));
        let set = |value: &str| world.ok("set_value", json!({"selector": field, "value": value}));
        let check = |tool: &str, args: Value| {
            let text = world.reply(tool, args.clone()).text();
            assert!(text.contains(hidden), "{role}: {tool} {args} does not say {hidden}: {text}");
            assert!(!text.contains(SENTINEL), "{role}: {tool} {args}: {text}");
        };
        set("first secret");
        let before = world.ok("snapshot", json!({}))["snapshot_id"].clone();
        let token = world.ok("observe_window", json!({}))["tree_token"].clone();
        world.ok("look", json!({}));
        set(SENTINEL);
        let after = world.ok("snapshot", json!({}))["snapshot_id"].clone();
        for args in
            [json!({}), json!({"format": "outline"}), json!({"max_nodes": 500}), json!({"roles": [role]})]
        {
            check("get_window_structure", args);
        }
        check("look", json!({}));
        check("observe_window", json!({}));
        check("get_screen_description", json!({"mode": "accessibility"}));
        check("snapshot_get", json!({ "snapshot_id": after }));
        let predicate = json!({"kind": "value_equals", "selector": field, "expected": "x"});
        let judged = world.reply("assert_state", json!({ "predicate": predicate })).text();
        assert!(judged.contains("this field is secret") && !judged.contains(SENTINEL), "{judged}");
        // Differences: that something changed is told, what it is not.
        for (tool, args) in [
            ("observe_window", json!({ "since": token })),
            ("observe_window", json!({"since": token, "format": "json-patch"})),
            ("snapshot_diff", json!({"a": before, "b": after})),
            ("snapshot_diff", json!({"a": before, "b": after, "format": "json-patch"})),
            ("get_screen_sketch", json!({"structured": true})),
            ("look", json!({"changes": true})),
            ("find", json!({"role": "field"})),
            ("find_element", json!({ "selector": field })),
            ("click_element", json!({ "selector": field })),
            ("focus_element", json!({ "selector": field })),
            (
                "wait_for",
                json!({"any_of": [{"type": "element_appears", "selector": field}], "timeout_ms": 1}),
            ),
            (
                "act",
                json!({"steps": [{"do": "set_value", "selector": field, "value": SENTINEL}], "full": true}),
            ),
        ] {
            let text = world.reply(tool, args.clone()).text();
            assert!(
                !text.contains(SENTINEL) && !text.contains("first secret"),
                "{role}: {tool} {args}: {text}"
            );
        }
        // What a field hides, the clipboard does not tell.
        world.call("key_into_element", json!({"selector": field, "keys": "ctrl+a"}));
        world.call("press_key", json!({"keys": "ctrl+c"}));
        let text = world.reply("clipboard_get", json!({})).text();
        assert!(!text.contains(SENTINEL), "{role}: {text}");
        world.ok("clipboard_set", json!({ "text": SENTINEL }));
        check("clipboard_get", json!({}));
    }
}

/// H-59 on code: no question about the value can be answered, so that it cannot be guessed letter by letter
#[test]
fn the_value_cannot_be_guessed_letter_by_letter() {
    let world = bank_with(BANK, json!({}));
    world.ok("type_text", json!({ "text": SENTINEL }));
    let verdict = |predicate: Value| {
        let reply = world.call("assert_state", json!({ "predicate": predicate }));
        reply["results"][0]["passed"].as_bool().or(reply["passed"].as_bool())
    };
    for field in [PASSWORD, "//Text[name=\"Echo\"]"] {
        let matches =
            |regex: &str| verdict(json!({"kind": "value_matches", "selector": field, "regex": regex}));
        for (right, wrong) in
            [("S3NT", "X3NT"), ("9f2c$", "9f2d$"), ("^.{13}$", "^.{14}$"), ("(?i)s3nt1nel", "(?i)other")]
        {
            assert_eq!(matches(right), matches(wrong), "{field} {right}");
        }
        let equals =
            |text: &str| verdict(json!({"kind": "value_equals", "selector": field, "expected": text}));
        assert_eq!(equals(SENTINEL), equals("S3NT1NEL-9f2d"), "{field}");
    }
    for (right, wrong) in [("S3NT1", "X3NT1"), ("9f2", "8f2")] {
        let visible = |text: &str| verdict(json!({"kind": "text_visible", "regex": text, "mode": "tree"}));
        assert_eq!(visible(right), visible(wrong), "{right}");
        for way in ["//*[value*=\"?\"]", "//*[name*=\"?\"]", "//Edit[value~=\"?.*\"]"] {
            let find = |text: &str| world.code("find_element", json!({"selector": way.replace('?', text)}));
            assert_eq!(find(right), find(wrong), "{way} {right}");
        }
        let wait = |text: &str| {
            let wanted = json!([{"type": "text_visible", "regex": text}, {"type": "element_appears", "selector": format!("//*[value*=\"{text}\"]")}]);
            let mut reply = world.call("wait_for", json!({"any_of": wanted, "timeout_ms": 1}));
            ["step_id", "elapsed_ms", "duration_ms", "generation"]
                .iter()
                .for_each(|name| reply[name] = json!(0));
            reply.to_string().replace(text, "?")
        };
        assert_eq!(wait(right), wait(wrong), "{right}");
    }
}

// ── pictures ───────────────────────────────────────────────────────────────────────────────────────

const FORM: &str = "scenarios/form.yaml";
/// A field that a rule names, and one that is secret by itself, on the screen.
const FIELDS: [Rect; 2] =
    [Rect { x: 320, y: 130, width: 360, height: 24 }, Rect { x: 320, y: 166, width: 120, height: 24 }];
const WINDOW: Rect = Rect { x: 160, y: 80, width: 720, height: 640 };

fn blackened() -> Value {
    json!({"redaction": {"enabled": true, "element_name_patterns": ["Employee"], "blur_screenshots": true}})
}

fn decoded(bytes: &[u8]) -> image::RgbImage {
    image::load_from_memory(bytes).unwrap().to_rgb8()
}

/// The share of a rectangle of the screen that is black in a picture of `source`, or nothing where it is not in it.
fn blackness(picture: &image::RgbImage, source: Rect, field: Rect) -> Option<f64> {
    let scale = (
        f64::from(picture.width()) / f64::from(source.width),
        f64::from(picture.height()) / f64::from(source.height),
    );
    let inside = source.intersection(&field)?;
    // A pixel at the edge may be mixed with its neighbour where the picture was made larger or smaller.
    let (left, right) = (inside.x - source.x + 2, inside.x - source.x + inside.width - 2);
    let (top, bottom) = (inside.y - source.y + 2, inside.y - source.y + inside.height - 2);
    let (mut all, mut black) = (0.0, 0.0);
    for x in (f64::from(left) * scale.0) as u32..(f64::from(right) * scale.0) as u32 {
        for y in (f64::from(top) * scale.1) as u32..(f64::from(bottom) * scale.1) as u32 {
            all += 1.0;
            black += f64::from(u8::from(picture.get_pixel(x, y).0.iter().all(|part| *part < 24)));
        }
    }
    (all > 0.0).then(|| black / all)
}

/// Both fields are black as far as the picture has them; lines and numbers that are drawn over it may be lighter.
#[track_caller]
fn check_black(place: &str, bytes: &[u8], source: Rect, least: f64) -> usize {
    let picture = decoded(bytes);
    let shares: Vec<f64> = FIELDS.iter().filter_map(|field| blackness(&picture, source, *field)).collect();
    for share in &shares {
        assert!(*share >= least, "{place}: only {share:.2} of the field is black");
    }
    shares.len()
}

fn inflated(area: Rect, by: i32) -> Rect {
    Rect { x: area.x - by, y: area.y - by, width: area.width + 2 * by, height: area.height + 2 * by }
}

fn rect(value: &Value) -> Option<Rect> {
    let side = |name: &str| value[name].as_i64().map(|number| number as i32);
    Some(Rect { x: side("x")?, y: side("y")?, width: side("width")?, height: side("height")? })
}

/// What a reply says its picture is of. A picture of the whole screen says nothing.
fn source_of(reply: &Value, bytes: &[u8]) -> Rect {
    let told = ["/screen_bbox", "/source_bbox", "/picture/source_bbox", "/meta/region"];
    told.iter().find_map(|path| rect(reply.pointer(path)?)).unwrap_or_else(|| {
        let picture = image::load_from_memory(bytes).unwrap();
        if (picture.width(), picture.height()) == (WINDOW.width as u32, WINDOW.height as u32) {
            return WINDOW;
        }
        Rect { x: 0, y: 0, width: picture.width() as i32, height: picture.height() as i32 }
    })
}

fn picture_args() -> Vec<(&'static str, Value)> {
    let near = json!({"x": 300, "y": 120, "width": 400, "height": 90});
    let mut calls = Vec::new();
    for tool in ["get_screenshot", "get_full_screenshot", "look"] {
        for args in [
            json!({}),
            json!({"window_index": 0}),
            json!({"region": near}),
            json!({"region": near, "window_index": 0}),
            json!({"format": "jpeg"}),
            json!({"format": "webp", "window_index": 0}),
            json!({"grid": {"rows": 4, "cols": 4}}),
            json!({"marks": true, "window_index": 0}),
        ] {
            let picture = if tool == "look" && args.get("grid").is_none() && args.get("marks").is_none() {
                json!({"picture": "plain"})
            } else {
                json!({})
            };
            calls.push((tool, merged(&args, &picture)));
        }
    }
    for args in [
        json!({"x": 400, "y": 142, "width": 200, "height": 60}),
        json!({"selector": "//Edit[name=\"PIN\"]"}),
        json!({"element_id": "root.1"}),
    ] {
        calls.push(("zoom", merged(&args, &json!({"grid": {"rows": 1, "cols": 1, "labels": false}}))));
    }
    calls.push(("get_screenshot_cropped", json!({"element_id": "root.1"})));
    calls.push(("get_screenshot_cropped", json!({"element_id": "root.2", "padding_px": 20})));
    calls.push(("get_screenshot_cropped", json!({"bbox": near})));
    calls.push((
        "get_screenshot_cropped",
        json!({"bbox": {"x": 150, "y": 40, "width": 300, "height": 80}, "window_index": 0}),
    ));
    calls.push(("propose_action", json!({"action": "click_at", "args": {"x": 400, "y": 142}})));
    calls.push((
        "propose_action",
        json!({"action": "click_element", "args": {"selector": "//Edit[name=\"PIN\"]"}}),
    ));
    calls
}

fn form() -> World {
    let mut config = blackened();
    config["ocr"] = json!({"enabled": false});
    World::build(Some(FORM), config)
}

/// H-60 on code: every tool that gives a picture, in every way to ask for one
#[test]
fn hidden_fields_are_black_in_every_picture() {
    let (world, plain) = (form(), World::build(Some(FORM), json!({"ocr": {"enabled": false}})));
    world.ok("set_value", json!({"element_id": "root.1", "value": "Zanzibar"}));
    let (mut fields, mut light) = (0, 0);
    for (tool, args) in picture_args() {
        let reply = world.reply(tool, args.clone());
        let picture = reply.picture.clone().unwrap_or_else(|| panic!("{tool} {args}: {}", reply.text()));
        let source = if tool == "propose_action" {
            let target = rect(&reply.value()["would_target"]["bounds"]).unwrap();
            inflated(target, 8)
        } else {
            source_of(&reply.value(), &picture.bytes)
        };
        let drawn_over =
            args.get("marks").is_some() || args["grid"]["labels"].is_null() && args.get("grid").is_some();
        let least = if drawn_over { 0.6 } else { 0.99 };
        fields += check_black(&format!("{tool} {args}"), &picture.bytes, source, least);
        if let Some(shown) = plain.reply(tool, args).picture {
            let shown = decoded(&shown.bytes);
            let seen = FIELDS.iter().filter_map(|field| blackness(&shown, source, *field));
            light += seen.filter(|share| *share < 0.5).count();
        }
    }
    assert!(fields > 40 && light > 30, "{fields} fields were looked at, {light} are light without the rule");
}

/// H-60 on REST, /mcp, clickthrough: pictures inside JSON, resources, and the picture that goes with a question
#[test]
fn hidden_fields_are_black_at_every_door() {
    let mut config = blackened();
    config["confirmation_required"] = json!([{"name_regex": "^PIN$"}]);
    let on_stage = |site: Site| {
        site.mock.load(scenario::load_file(&project().join(FORM)).unwrap());
        site.app.observer.forget_all();
        site
    };
    let bytes_of = |text: &Value| {
        BASE64_STANDARD.decode(text.as_str().unwrap_or_else(|| panic!("no picture: {text}"))).unwrap()
    };
    let site = on_stage(Site::with(config.clone()));
    for (tool, args) in [("get_screenshot", json!({"window_index": 0})), ("get_full_screenshot", json!({}))] {
        let rest = site.post(&format!("/api/tool/{tool}"), args.clone()).json();
        let bytes = bytes_of(&rest["data"]);
        assert_eq!(check_black("REST", &bytes, source_of(&rest, &bytes), 0.99), 2);
        let over = over_mcp(&site, "tools/call", json!({"name": tool, "arguments": args}));
        let bytes = bytes_of(&over["result"]["content"][1]["data"]);
        assert_eq!(check_black("/mcp", &bytes, source_of(&rest, &bytes), 0.99), 2);
    }
    let read = over_mcp(&site, "resources/read", json!({"uri": "screen://window/mock:claims/picture"}));
    let bytes = bytes_of(&read["result"]["contents"][0]["blob"]);
    assert_eq!(check_black("the resource", &bytes, WINDOW, 0.99), 2);
    let proposed = json!({"action": "click_element", "args": {"selector": "//Edit[name=\"PIN\"]"}});
    let proposed = site.post("/api/tool/propose_action", proposed).json();
    let bytes = bytes_of(&proposed["would_target"]["screenshot_b64"]);
    assert!(check_black("the proposal", &bytes, inflated(FIELDS[1], 8), 0.99) > 0);

    let face = on_stage(Site::clickthrough(blackened()));
    let wish = json!({"region_x": 300, "region_y": 120, "region_width": 400, "region_height": 90, "with_grid": false});
    let seen = face.post("/see", wish).json();
    let bytes = bytes_of(&seen["data"]["image"]["base64"]);
    let near = Rect { x: 300, y: 120, width: 400, height: 90 };
    assert_eq!(check_black("/see", &bytes, near, 0.99), 2);

    config["confirmation"] = json!({"mode": "inspector", "ttl_seconds": 20});
    config["web_ui"] = json!({"token": "token-for-this-test"});
    let token = ("authorization", "Bearer token-for-this-test");
    let site = on_stage(Site::with(config));
    let body = json!({"selector": "//Edit[name=\"PIN\"]"}).to_string();
    std::thread::scope(|scope| {
        let call = scope.spawn(|| site.ask("POST", "/api/element/click", &[JSON, token], &body));
        let list = || site.ask("GET", "/api/approvals", &[token], "").json()["approvals"].clone();
        until("the question is asked", || list()[0].is_object());
        let id = list()[0]["id"].as_str().unwrap().to_owned();
        let picture = site.app.gate.approvals.question_picture(&id).expect("a picture");
        let element = rect(&list()[0]["picture"]["element"]).unwrap();
        let (x, y) = (FIELDS[1].x - element.x, FIELDS[1].y - element.y);
        let source = Rect { x, y, width: picture.width as i32, height: picture.height as i32 };
        assert!(check_black("the question", &picture.bytes, source, 0.9) > 0);
        site.ask("POST", &format!("/api/approvals/{id}"), &[JSON, token], "{\"decision\":\"deny\"}");
        assert_eq!(call.join().unwrap().status, 403);
    });
}

/// H-60 on code: pictures of traces, and those that go to a model
#[test]
fn hidden_fields_are_black_in_traces_and_for_the_model() {
    let server = FakeModel::playing([Script::says("x")]);
    let folder = tempfile::tempdir().unwrap();
    let mut config = blackened();
    config["tracing"] = json!({"dir": folder.path().join("traces"), "screenshot_every_n_actions": 1});
    config["vlm"] =
        json!({"enabled": true, "base_url": server.url, "api_key": "k", "model": "eyes", "max_tokens": 300});
    let world = World::build(Some(FORM), config);
    world.ok("trace_start", json!({}));
    world.ok("set_value", json!({"element_id": "root.1", "value": "Zanzibar"}));
    world.ok("get_screen_description", json!({"mode": "vlm"}));
    world.ok("trace_stop", json!({}));
    let pictures: Vec<PathBuf> = files_below(folder.path())
        .into_iter()
        .filter(|file| file.extension().is_some_and(|end| end == "png"))
        .collect();
    assert!(pictures.len() >= 2, "{pictures:?}");
    for file in &pictures {
        let bytes = std::fs::read(file).unwrap();
        let source = source_of(&json!({}), &bytes);
        assert_eq!(check_black(&file.display().to_string(), &bytes, source, 0.99), 2);
    }
    let sent: Vec<Vec<u8>> = server.requests().iter().filter_map(|request| request.png()).collect();
    assert!(!sent.is_empty());
    for bytes in sent {
        assert_eq!(check_black("the model's picture", &bytes, WINDOW, 0.99), 2);
    }
}

/// H-60 on code: what is black tells nothing by its changes, its colours or its letters
#[test]
fn nothing_is_learned_from_what_is_black() {
    let mut config = blackened();
    config["redaction"]["element_name_patterns"] = json!(["Employee", "Meals"]);
    let world = World::build(Some(FORM), config);
    // The same without the rule, so that what is not learned could have been.
    let plain = World::on(FORM);
    let before = plain.ok("vision_diff", json!({"window_index": 0}))["frame_id"].clone();
    plain.ok("set_value", json!({"element_id": "root.1", "value": "Zanzibar Zanzibar"}));
    let after = plain.ok("vision_diff", json!({ "since": before }));
    assert!(rect(&after["boxes"][0]).is_some_and(|area| FIELDS[0].intersection(&area).is_some()), "{after}");
    let frame = world.ok("vision_diff", json!({"window_index": 0}))["frame_id"].clone();
    let colour = |x: i32, y: i32| {
        let predicate = json!({"kind": "pixel_color", "x": x, "y": y, "color": "#000000", "tolerance": 0});
        let reply = world.call("assert_state", json!({ "predicate": predicate }));
        reply["results"][0]["passed"].as_bool().or(reply["passed"].as_bool())
    };
    assert_eq!((colour(400, 142), colour(360, 178)), (Some(true), Some(true)));
    world.ok("set_value", json!({"element_id": "root.1", "value": "Zanzibar Zanzibar"}));
    assert_eq!(colour(400, 142), Some(true));
    let second = world.ok("vision_diff", json!({ "since": frame }));
    assert_eq!((&second["changed"], &second["boxes"]), (&json!(false), &json!([])), "{second}");
    if !world.app.observer.ocr().is_available() {
        assert!(std::env::var_os("CI").is_none_or(|ci| ci != "true"), "nothing reads pictures here");
        return;
    }
    let read = plain.ok("get_ocr", json!({"window_index": 0})).to_string();
    // The frame of a field keeps its letters from being read, so there is a name that can be read too.
    assert!(read.contains("Meals"), "the letters cannot be read without the rule either: {read:.500}");
    for (tool, args) in [
        ("get_ocr", json!({"window_index": 0})),
        ("ocr_find", json!({"text": "Zanzibar", "window_index": 0})),
        ("ocr_find", json!({"text": "Meals", "window_index": 0})),
        ("get_screen_sketch", json!({"window_index": 0, "ocr": true})),
        ("look", json!({"ocr": true})),
        ("get_screen_description", json!({"mode": "ocr"})),
    ] {
        let reply = world.call(tool, args.clone());
        let found =
            reply["matches"].as_array().map_or(0, Vec::len) + reply["count"].as_u64().unwrap_or(0) as usize;
        let text = if tool == "ocr_find" { String::new() } else { reply.to_string() };
        let shown = text.contains("anzib") || text.contains("Meals");
        assert!(!shown && (tool != "ocr_find" || found == 0), "{tool} {args}: {reply}");
    }
}

// ── the start, keys of models, replays ─────────────────────────────────────────────────────────────

/// H-61 on start: each list of patterns, each way to be broken, whether or not redaction is switched on
#[test]
fn a_broken_pattern_stops_the_start() {
    let lists =
        ["window_title_patterns", "element_name_patterns", "element_role_patterns", "ocr_text_patterns"];
    for list in lists {
        for pattern in ["(", "[a", "(?=a", "(a)\\1(", "a{99999999}", "*"] {
            for enabled in [true, false] {
                let folder = tempfile::tempdir().unwrap();
                let path = folder.path().join("config.json");
                let config = json!({"redaction": {"enabled": enabled, list: ["fine", pattern]}});
                std::fs::write(&path, config.to_string()).unwrap();
                let flags = os_screen_observer::config::Flags {
                    config: Some(path),
                    mock: true,
                    ..Default::default()
                };
                let loaded = os_screen_observer::config::load(&flags, std::iter::empty());
                let refused = match loaded {
                    Err(fatal) => fatal.to_string(),
                    Ok(loaded) => {
                        let clock = os_screen_observer::clock::Clock::steered();
                        let mock = Arc::new(os_screen_observer::platform::mock::Mock::new(clock.clone()));
                        let app = os_screen_observer::app::App::new(loaded, &Default::default(), mock, clock);
                        app.err().unwrap_or_else(|| panic!("{list} {pattern} was taken"))
                    }
                };
                assert!(refused.contains(list), "{list} {pattern}: {refused}");
            }
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config.json");
    std::fs::write(&path, r#"{"redaction": {"element_name_patterns": ["("]}}"#).unwrap();
    let mut client = Client::start(&["--mode", "mcp", "--mock", "--config", path.to_str().unwrap()]);
    let (status, _) = client.wait(Duration::from_secs(20)).expect("the server started");
    assert_eq!(status.code(), Some(1));
}

/// H-63 on stdio, REST, /mcp, code: a model server that repeats the key and the login, in replies, logs and files
#[test]
fn the_keys_of_a_model_server_are_in_no_answer_log_or_file() {
    let (key, login) = ("sk-S3NT1NEL-9f2c-key", "S3NT1NEL-9f2c-login");
    let echo = || {
        [
            Script::Json(
                401,
                json!({"error": {"message": format!("Incorrect API key provided: {key}; Authorization: Bearer {key}")}}),
            ),
            Script::Page(
                500,
                "X-Echo: 1\r\n",
                format!(
                    "Authorization: Bearer {key}\nBasic {}",
                    BASE64_STANDARD.encode(format!("me:{login}"))
                ),
            ),
            Script::says(&format!("the key is {key} and the login {login}")),
            Script::Json(404, json!({"detail": key})),
        ]
    };
    let server = FakeModel::playing(echo().into_iter().chain(echo()).chain(echo()));
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let url = server.url.replace("http://", &format!("http://me:{login}@"));
    let config = json!({
        "vlm": {"enabled": true, "base_url": url, "api_key": key, "model": "eyes", "timeout_s": 20, "max_tokens": 300},
        "logging": {"audit": true, "audit_path": path("audit.log")},
        "web_ui": {"port": 0},
        "ocr": {"enabled": false},
    });
    let (config_file, traces) = (path("config.json"), path("traces"));
    std::fs::write(&config_file, config.to_string()).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_os-screen-observer"));
    command.args(["--mode", "both", "--mock", "--config"]).arg(&config_file);
    command.env("RUST_LOG", "trace").env("OSO_TRACING__DIR", &traces);
    let mut client = Client::spawn(command);
    client.initialize("2025-11-25");
    let errors = client.errors.clone();
    until("HTTP is served", || errors.lock().unwrap().contains("serving HTTP at http://"));
    let log = errors.lock().unwrap().clone();
    let address = log.split("serving HTTP at http://").nth(1).unwrap().split('/').next().unwrap().to_owned();
    let mut seen = String::new();
    client.call("trace_start", json!({}));
    for mode in ["vlm", "combined", "vlm", "combined"] {
        seen.push_str(&client.call("get_screen_description", json!({ "mode": mode })).to_string());
        let mut stream = TcpStream::connect(&address).unwrap();
        let body = json!({ "mode": mode }).to_string();
        write!(
            stream,
            "POST /api/tool/get_screen_description HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\
             content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        )
        .unwrap();
        stream.read_to_string(&mut seen).unwrap();
        let before = seen.len();
        let call = json!({"name": "get_screen_description", "arguments": {"mode": mode}, "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"}}});
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}).to_string();
        let mut stream = TcpStream::connect(&address).unwrap();
        write!(
            stream,
            "POST /mcp HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\ncontent-type: application/json\r\n\
             accept: application/json, text/event-stream\r\nmcp-protocol-version: 2026-07-28\r\n\
             mcp-method: tools/call\r\nmcp-name: get_screen_description\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        )
        .unwrap();
        stream.read_to_string(&mut seen).unwrap();
        assert!(seen[before..].contains("\"content\""), "/mcp did not answer: {}", &seen[before..]);
    }
    seen.push_str(&client.call("get_capabilities", json!({})).to_string());
    seen.push_str(&client.request("prompts/get", json!({"name": "why_did_that_fail"})).to_string());
    client.call("trace_stop", json!({}));
    client.close_input();
    client.wait(Duration::from_secs(20)).expect("the process did not end");
    assert!(server.requests().len() >= 12, "the model was not asked at every door: {seen:.500}");
    std::fs::remove_file(&config_file).unwrap();
    let errors = client.errors.lock().unwrap().clone();
    for secret in [key, login] {
        let search = Search::of(secret);
        search.assert_absent("an answer", seen.as_bytes());
        search.assert_absent("stderr", errors.as_bytes());
        search.assert_absent_below(folder.path());
    }
}

/// Plays a trace from its beginning to the step that wants the secret, which must come.
fn check_stops(what: &str, mode: &str, steps: usize, call: impl Fn(&str, Value) -> Value) {
    let replay = call("replay_start", json!({"path": "latest", "mode": mode, "on_divergence": "warn"}));
    assert_eq!(replay["ok"], true, "{what}, {mode}: {replay}");
    let step = json!({"replay_id": replay["replay_id"]});
    let last = (0..steps + 2)
        .map(|_| call("replay_step", step.clone()))
        .find(|reply| reply.get("needs_secret").is_some());
    assert!(last.as_ref().is_some_and(|reply| reply["needs_secret"].is_array()), "{what}, {mode}: {last:?}");
}

#[track_caller]
fn check_no_placeholder(what: &str, log: &[os_screen_observer::model::input::Act]) {
    let log = format!("{log:?}");
    assert!(!log.to_lowercase().contains("redacted"), "{what}: {log}");
}

/// H-65 on REST, /mcp: the same when the replay is driven from outside
#[test]
fn a_replay_stops_at_every_door() {
    for (name, typing) in ways_to_type() {
        let site = Site::with(json!({"tracing": {"screenshot_every_n_actions": 0}}));
        let set = || {
            site.mock.load(load(BANK));
            site.app.observer.forget_all();
        };
        let by_route = |tool: &str, args: Value| site.post(&format!("/api/tool/{tool}"), args).json();
        let at_mcp = |tool: &str, args: Value| {
            let answer = over_mcp(&site, "tools/call", json!({"name": tool, "arguments": args}));
            serde_json::from_str(answer["result"]["content"][0]["text"].as_str().unwrap()).unwrap()
        };
        set();
        assert_eq!(by_route("trace_start", json!({}))["ok"], true);
        for (tool, args) in &typing {
            assert_eq!(by_route(tool, args.clone())["ok"], true, "{name}");
        }
        assert_eq!(by_route("trace_stop", json!({}))["ok"], true);
        for mode in ["execute", "verify"] {
            set();
            check_stops(&format!("REST, {name}"), mode, typing.len(), by_route);
            set();
            check_stops(&format!("/mcp, {name}"), mode, typing.len(), at_mcp);
        }
        check_no_placeholder(name, &site.mock.action_log());
    }
}

/// H-65 on replay: whatever typed it, the replay stops there and types no placeholder
#[test]
fn a_replay_stops_where_a_secret_was_typed() {
    for (name, typing) in ways_to_type() {
        let folder = tempfile::tempdir().unwrap();
        let tracing =
            json!({"tracing": {"dir": folder.path().join("traces"), "screenshot_every_n_actions": 0}});
        let world = bank_with(BANK, tracing.clone());
        world.ok("trace_start", json!({}));
        for (tool, args) in &typing {
            world.ok(tool, args.clone());
        }
        world.ok("trace_stop", json!({}));
        for mode in ["execute", "verify"] {
            let again = bank_with(BANK, tracing.clone());
            check_stops(name, mode, typing.len(), |tool, args| again.call(tool, args));
            check_no_placeholder(name, &again.mock.action_log());
        }
    }
}
