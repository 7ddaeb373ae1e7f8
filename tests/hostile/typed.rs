//! What is typed before anybody knows that it is a secret, and what typing presses beside the field it goes to.
#![cfg(feature = "http")]

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::sync::{Arc, Mutex};

use os_screen_observer::clock::Cancel;
use os_screen_observer::gate::confirm::Person;
use os_screen_observer::gate::{Call, Origin, Reply};
use os_screen_observer::platform::Stage;
use os_screen_observer::scenario;
use serde_json::{Value, json};

use crate::everywhere::told;
use crate::support::http::{JSON, Site, until};
use crate::support::{Client, World};

const SENTINEL: &str = "S3NT1NEL-9f2c";
const PASSWORD: &str = "//Edit[name=\"Password\"]";
const ACCOUNT: &str = "//Edit[name=\"Account\"]";
const TOKEN: &str = "token-for-this-test";
const BEARER: (&str, &str) = ("authorization", "Bearer token-for-this-test");

/// A password that shows bullets and is protected, beside a field that is protected and nothing more.
const BANK: &str = r#"
name: bank
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
            - {role: Button, name: Go, id: go, bounds: {x: 120, y: 280, width: 300, height: 30}}
"#;

fn load(text: &str) -> scenario::Scenario {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("stage.yaml");
    std::fs::write(&file, text).unwrap();
    scenario::load_file(&file).unwrap()
}

fn world(stage: &str, config: Value) -> World {
    let world = World::with(config);
    world.mock.load(load(stage));
    world.app.observer.forget_all();
    world
}

fn on_stage(site: Site, stage: &str) -> Site {
    site.mock.load(load(stage));
    site.app.observer.forget_all();
    site
}

fn asking(mode: &str) -> Value {
    json!({
        "confirmation": {"mode": mode, "ttl_seconds": 60},
        "confirmation_required": [{"name_regex": "^(Password|Account|clipboard)$"}],
    })
}

/// Every way to put the secret where it must not be shown, with what a question about it is about.
fn private_calls() -> Vec<(&'static str, Value)> {
    let set = json!({"selector": PASSWORD, "value": SENTINEL});
    let with = |more: Value| {
        let mut all = set.clone();
        all.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        all
    };
    let first = json!({"do": "click_element", "selector": ACCOUNT});
    vec![
        ("set_value", set.clone()),
        ("set_value", with(json!({"clear_first": false}))),
        ("set_value", json!({"selector": ACCOUNT, "value": format!("me\t{SENTINEL}")})),
        ("type_text", json!({"text": SENTINEL})),
        ("type_text", json!({"text": format!("x\n{SENTINEL}")})),
        ("type_and_observe", json!({"text": SENTINEL, "wait_after_ms": 0})),
        ("clipboard_set", json!({"text": SENTINEL})),
        ("act", json!({"steps": [with(json!({"do": "set_value"}))]})),
        ("act", json!({"steps": [first, {"do": "type_text", "text": SENTINEL}]})),
        (
            "act",
            json!({"steps": [first], "alternatives": {"other": [{"do": "type_text", "text": SENTINEL}]}}),
        ),
    ]
}

#[track_caller]
fn assert_absent(place: &str, text: &str) {
    // However its letters are written.
    let plain = |text: &str| text.to_lowercase().replace('_', "-");
    assert!(!plain(text).contains(&plain(SENTINEL)), "{place} shows it: {text}");
}

#[track_caller]
fn assert_absent_below(folder: &Path) {
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        if entry.file_type().unwrap().is_dir() {
            assert_absent_below(&entry.path());
        } else {
            let bytes = std::fs::read(entry.path()).unwrap();
            assert_absent(&entry.path().display().to_string(), &String::from_utf8_lossy(&bytes));
        }
    }
}

// ── questions ──────────────────────────────────────────────────────────────────────────────────────

/// Somebody who watches the events, and all that they were told.
struct Watcher {
    stream: TcpStream,
    kept: Arc<Mutex<String>>,
}

impl Watcher {
    fn heard(&self) -> String {
        self.kept.lock().unwrap().clone()
    }
}

/// There is room for few.
impl Drop for Watcher {
    fn drop(&mut self) {
        let _ = self.stream.shutdown(std::net::Shutdown::Both);
    }
}

fn watch(site: &Site) -> Watcher {
    let mut stream = site.connect();
    let head = format!("GET /api/events?token={TOKEN} HTTP/1.1\r\nhost: {}\r\n\r\n", site.address);
    stream.write_all(head.as_bytes()).unwrap();
    let watcher = Watcher { stream: stream.try_clone().unwrap(), kept: Arc::default() };
    let heard = watcher.kept.clone();
    std::thread::spawn(move || {
        let mut buffer = [0; 65536];
        while let Ok(count @ 1..) = stream.read(&mut buffer) {
            heard.lock().unwrap().push_str(&String::from_utf8_lossy(&buffer[..count]));
        }
    });
    until("the greeting is there", || watcher.heard().contains("event: hello"));
    watcher
}

/// What is shown of a call while a person is asked about it, who then says no.
fn shown_while_asked(site: &Site, call: impl FnOnce() -> String + Send) -> (Value, String) {
    let watcher = watch(site);
    std::thread::scope(|scope| {
        let call = scope.spawn(call);
        let list = || site.ask("GET", "/api/approvals", &[BEARER], "").json()["approvals"].clone();
        until("the question is asked", || list()[0].is_object());
        let approval = list()[0].clone();
        let late = watch(site).heard();
        let id = approval["id"].as_str().unwrap();
        site.ask("POST", &format!("/api/approvals/{id}"), &[JSON, BEARER], "{\"decision\":\"deny\"}");
        let answer = call.join().unwrap();
        until("the end is told", || watcher.heard().contains("event: approval_closed"));
        let events = watcher.heard();
        assert!(events.contains("event: approval\n"), "{events}");
        (approval.clone(), format!("{approval}\n{late}\n{events}\n{answer}"))
    })
}

fn at_mcp(site: &Site, tool: &str, args: &Value) -> String {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
    });
    let params = json!({"name": tool, "arguments": args, "_meta": meta});
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).to_string();
    let headers = [
        JSON,
        BEARER,
        ("accept", "application/json, text/event-stream"),
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", "tools/call"),
        ("mcp-name", tool),
    ];
    site.ask("POST", "/mcp", &headers, &body).body
}

fn inspected() -> Site {
    let mut config = asking("inspector");
    config["web_ui"] = json!({ "token": TOKEN });
    on_stage(Site::with(config), BANK)
}

/// H-58 on REST, /mcp, act, page: a person is asked, and neither the question nor an event has what would be typed
#[test]
fn a_question_does_not_show_what_would_be_typed() {
    let site = inspected();
    for (number, (tool, args)) in private_calls().into_iter().enumerate() {
        let (approval, shown) = shown_while_asked(&site, || match number % 2 {
            0 => site.ask("POST", &format!("/api/tool/{tool}"), &[JSON, BEARER], &args.to_string()).body,
            _ => at_mcp(&site, tool, &args),
        });
        assert_absent(&format!("{tool} {args}"), &shown);
        // A list of steps asks by way of its first step.
        let asks = if tool == "act" { args["steps"][0]["do"].as_str().unwrap() } else { tool };
        assert_eq!(approval["tool"], asks);
        let kept = approval["args"].to_string();
        assert!(asks == "click_element" || kept.contains("<redacted>"), "{tool} {args}: {kept}");
    }
    assert_eq!(site.effects(), 0);
}

/// H-58 on page: what is too short to be learned is left out all the same, and letters are
#[test]
fn short_secrets_are_in_no_question_either() {
    let site = inspected();
    for (tool, args, name) in [
        ("set_value", json!({"selector": PASSWORD, "value": "q7"}), "value"),
        ("type_text", json!({"text": "q7"}), "text"),
        ("press_key", json!({"keys": "q"}), "keys"),
        ("key_into_element", json!({"selector": PASSWORD, "keys": "shift+q"}), "keys"),
    ] {
        let ask = || site.ask("POST", &format!("/api/tool/{tool}"), &[JSON, BEARER], &args.to_string()).body;
        let (approval, _) = shown_while_asked(&site, ask);
        assert_eq!(approval["args"][name], "<redacted>", "{tool}: {approval}");
        assert!(approval["question"].as_str().unwrap().contains("<redacted>"), "{tool}: {approval}");
    }
}

/// A person who has to decide sees what is not private.
#[test]
fn a_question_shows_what_is_not_private() {
    let site = inspected();
    for (tool, args, shown) in [
        ("set_value", json!({"selector": ACCOUNT, "value": "alice"}), "alice"),
        ("key_into_element", json!({"selector": ACCOUNT, "keys": "q"}), "q"),
        ("key_into_element", json!({"selector": PASSWORD, "keys": "ctrl+a"}), "ctrl+a"),
        ("click_element", json!({"selector": PASSWORD}), PASSWORD),
    ] {
        let ask = || site.ask("POST", &format!("/api/tool/{tool}"), &[JSON, BEARER], &args.to_string()).body;
        let (approval, _) = shown_while_asked(&site, ask);
        assert_eq!(approval["args"], args, "{tool}");
        let question = approval["question"].as_str().unwrap();
        assert!(question.contains(&Value::from(shown).to_string()), "{tool}: {question}");
    }
}

/// A person is asked to let a text into the account.
fn asked_about(site: &Site, value: &str) -> Value {
    let args = json!({"selector": ACCOUNT, "value": value});
    let ask = || site.ask("POST", "/api/tool/set_value", &[JSON, BEARER], &args.to_string()).body;
    shown_while_asked(site, ask).0
}

/// H-393 on REST, page: an agent that makes a word a secret hides that word from the person, and not what is around it
#[test]
fn a_secret_word_hides_nothing_else_from_the_person() {
    let site = inspected();
    site.app.redactor.learn_secret("for lunch");
    let approval = asked_about(&site, "Mallory 10000 EUR for lunch");
    assert_eq!(approval["args"]["value"], "Mallory 10000 EUR [hidden: 9 characters]", "{approval}");
    let question = approval["question"].as_str().unwrap();
    assert!(
        question.contains("Mallory 10000 EUR [hidden: 9") && question.contains("decline unless"),
        "{question}"
    );
    site.app.redactor.learn_secret("Account");
    let approval = asked_about_at(&site, json!({"x": 130, "y": 130}));
    assert_eq!(approval["target"]["name"], "[hidden: 7 characters]", "{approval}");
    assert!(approval["question"].as_str().unwrap().contains("decline unless"), "{approval}");
}

/// H-398 on REST, page: rules and keys of a config hide nothing from the person who decides
#[test]
fn no_rule_hides_a_question_from_the_person() {
    let rules = json!({"ocr_text_patterns": ["(?s).+"], "element_name_patterns": ["."]});
    for (section, value) in [
        ("redaction", rules),
        ("tracing", json!({"redact_keys": ["value", "selector"]})),
        ("audit", json!({"redact_arg_keys": ["value", "selector"]})),
    ] {
        let mut config = asking("inspector");
        config["web_ui"] = json!({ "token": TOKEN });
        config[section] = value;
        let site = on_stage(Site::with(config), BANK);
        let approval = asked_about_at(&site, json!({"x": 130, "y": 130}));
        let question = approval["question"].as_str().unwrap();
        assert!(question.contains("\"Account\"") && question.contains("\"Bank\""), "{section}: {question}");
        assert!(question.contains("130"), "{section}: {question}");
    }
}

fn asked_about_at(site: &Site, point: Value) -> Value {
    let ask = || site.ask("POST", "/api/tool/click_at", &[JSON, BEARER], &point.to_string()).body;
    shown_while_asked(site, ask).0
}

/// H-58 on clickthrough: what its `type` would type is in no question
#[test]
fn the_face_of_clickthrough_asks_without_the_text() {
    let mut config = asking("inspector");
    config["web_ui"] = json!({ "token": TOKEN });
    let site = on_stage(Site::clickthrough(config), BANK);
    let body = json!({"action": {"action": "type", "text": SENTINEL}});
    std::thread::scope(|scope| {
        let call = scope.spawn(|| site.ask("POST", "/interact", &[JSON, BEARER], &body.to_string()).body);
        let list = || site.app.gate.approvals.open_questions(site.app.clock.now());
        until("the question is asked", || !list().is_empty());
        let approval = list().remove(0);
        assert_absent("the question", &approval.to_string());
        assert_eq!(approval["args"]["text"], "<redacted>", "{approval}");
        let id = approval["id"].as_str().unwrap();
        site.app.gate.approvals.decide_question(id, os_screen_observer::gate::approvals::Decision::Deny);
        assert_absent("the answer", &call.join().unwrap());
    });
    assert_eq!(site.effects(), 0);
}

fn ask(world: &World, tool: &str, args: Value) -> Reply {
    let call = Call { tool: tool.to_owned(), args, origin: Origin::Test };
    world.app.gate.pass_for(call, &Person::Reachable, &Cancel::new())
}

/// H-58 on code, act: the words that a client shows to the person, and the refusals of all three modes
#[test]
fn the_words_of_a_question_and_of_a_refusal_have_no_secret() {
    for (tool, args) in private_calls() {
        let asked = world(BANK, asking("ask"));
        let reply = ask(&asked, tool, args.clone());
        let question = reply.question.as_ref().unwrap_or_else(|| panic!("{tool} {args}: {}", reply.text()));
        assert_absent(&format!("{tool} {args}"), &format!("{}\n{}", question.text, reply.text()));
        for mode in ["token", "ask", "inspector"] {
            let refused = world(BANK, asking(mode));
            let reply = refused.reply(tool, args.clone());
            assert_eq!(reply.value()["ok"], false, "{}", reply.text());
            assert_absent(&format!("{mode}: {tool} {args}"), &reply.text());
        }
    }
}

/// H-58 on stdio: the elicitation of a client that can ask
#[test]
fn an_elicitation_does_not_show_what_would_be_typed() {
    let folder = tempfile::tempdir().unwrap();
    let (stage, config) = (folder.path().join("bank.yaml"), folder.path().join("config.json"));
    std::fs::write(&stage, BANK).unwrap();
    std::fs::write(&config, asking("ask").to_string()).unwrap();
    let flags = ["--mode", "mcp", "--mock", "--scenario", stage.to_str().unwrap(), "--config"];
    let mut client = Client::start(&[&flags[..], &[config.to_str().unwrap()]].concat());
    let info = json!({"name": "t", "version": "1"});
    let hello =
        json!({"protocolVersion": "2025-11-25", "capabilities": {"elicitation": {}}, "clientInfo": info});
    client.request("initialize", hello);
    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    for (tool, args) in private_calls() {
        let id = client.post("tools/call", json!({"name": tool, "arguments": args}));
        let asked = client.receive();
        assert_eq!(asked["method"], "elicitation/create", "{asked}");
        assert_absent(&format!("{tool} {args}"), &asked.to_string());
        client.send(&json!({"jsonrpc": "2.0", "id": asked["id"], "result": {"action": "decline"}}));
        let answer = client.answer(id);
        assert_absent(&format!("{tool} {args}"), &answer.to_string());
        assert_eq!(told(&answer)["ok"], false, "{answer}");
    }
}

// ── books ──────────────────────────────────────────────────────────────────────────────────────────

fn rows(trace: &Value) -> String {
    let path = Path::new(trace["path"].as_str().unwrap());
    let file = if path.is_dir() { path.join("trace.jsonl") } else { path.to_owned() };
    std::fs::read_to_string(file).unwrap()
}

/// H-58 on REST: a call that is only proposed, and texts in the wrong argument, before anything was typed
#[test]
fn no_book_has_what_was_only_spoken_of() {
    let folder = tempfile::tempdir().unwrap();
    let mut config = asking("token");
    config["logging"] = json!({"audit": true, "audit_path": folder.path().join("audit.log")});
    config["tracing"] = json!({"dir": folder.path().join("traces"), "screenshot_every_n_actions": 0});
    let site = on_stage(Site::with(config), BANK);
    let events = watch(&site);
    site.ok("/api/tool/trace_start", json!({}));
    for (tool, args) in private_calls() {
        let proposed = site.post("/api/tool/propose_action", json!({"action": tool, "args": args}));
        assert_absent(&format!("{tool} {args}"), &proposed.body);
    }
    for (tool, args) in [
        ("propose_action", json!({"action": "type_text", "args": {"txt": SENTINEL}})),
        ("propose_action", json!({"action": "no_such_tool", "args": {"text": SENTINEL}})),
        ("propose_action", json!({"action": "propose_action", "args": {"args": {"text": SENTINEL}}})),
        ("propose_action", json!({"action": "press_key", "args": {"keys": SENTINEL}})),
        ("press_key", json!({ "keys": SENTINEL })),
        ("press_key", json!({"keys": format!("{SENTINEL}+a")})),
        ("key_into_element", json!({"selector": PASSWORD, "keys": SENTINEL})),
        ("type_text", json!({"text": {"secret": SENTINEL.replace('-', "_")}})),
    ] {
        let answer = site.post(&format!("/api/tool/{tool}"), args.clone());
        assert_absent(&format!("{tool} {args}"), &answer.body);
    }
    let kept = site
        .post("/api/tool/propose_action", json!({"action": "click_element", "args": {"selector": PASSWORD}}));
    assert_eq!(kept.status, 200, "{kept:?}");
    let trace = site.ok("/api/tool/trace_stop", json!({}));
    until("the last is told", || events.heard().contains("\"tool\":\"trace_stop\""));
    assert_absent("the events", &events.heard());
    assert_absent_below(folder.path());
    // What is proposed and types nothing stays as it was.
    let rows = rows(&trace);
    assert!(rows.contains(r#""args":{"selector":"//Edit[name=\"Password\"]"}"#), "{rows}");
    assert_eq!(site.effects(), 0);
}

/// H-65 on code, replay: what was put onto the clipboard is in no trace, and a replay asks for it
#[test]
fn a_replay_asks_for_what_was_put_onto_the_clipboard() {
    let world = world(BANK, json!({}));
    world.ok("trace_start", json!({}));
    world.ok("clipboard_set", json!({"text": "a plain word"}));
    let trace = world.ok("trace_stop", json!({}));
    let rows = rows(&trace);
    assert!(rows.contains("clipboard_set") && !rows.contains("a plain word"), "{rows}");
    let replay = world.ok("replay_start", json!({"path": "latest", "mode": "execute"}));
    let id = &replay["replay_id"];
    let deeds = world.effects();
    let step = world.call("replay_step", json!({ "replay_id": id }));
    assert_eq!(step["needs_secret"], json!(["text"]), "{step}");
    assert_eq!(world.effects(), deeds);
    world.ok("replay_step", json!({"replay_id": id, "supply": {"text": "another word"}}));
    assert_eq!(world.ok("clipboard_get", json!({}))["text"], "another word");
}

// ── what is learned ────────────────────────────────────────────────────────────────────────────────

/// The field shows bullets; pressing Go shows what was typed.
fn repeating() -> String {
    format!(
        "{BANK}reactions:\n  - on: {{tool: type_text, target_id: password, text_regex: \"(.+)\"}}\n    \
         set: [{{id: password, value: \"••••\"}}]\n  - on: {{tool: press_key, target_id: password, text_regex: \"(.+)\"}}\n    \
         set: [{{id: password, value: \"••••\"}}]\n  - on: {{tool: click_element, target_id: go}}\n    \
         set: [{{id: account, value: \"you typed {SENTINEL}\"}}]\n"
    )
}

fn press(keys: &str) -> (&'static str, Value) {
    ("press_key", json!({ "keys": keys }))
}

/// H-58 on code: in pieces, in letters, with a slip, out of the clipboard; the whole of it is known, and no more
#[test]
fn what_is_typed_in_pieces_is_known_as_a_whole() {
    let letters = "shift+s 3 shift+n shift+t 1 shift+n shift+e shift+l - 9 f 2 c";
    let letters: Vec<_> = letters.split(' ').map(press).collect();
    let mut slip = letters.clone();
    slip.splice(5..5, [press("x"), press("backspace")]);
    let mut anew = vec![press("q"), press("w"), press("ctrl+a")];
    anew.extend(letters.clone());
    let piece = |text: &str| ("type_text", json!({ "text": text }));
    let copy = ("clipboard_set", json!({ "text": SENTINEL }));
    let into = |keys: &str| ("key_into_element", json!({"selector": PASSWORD, "keys": keys}));
    for (name, inputs) in [
        ("letters", letters.clone()),
        ("a slip", slip),
        ("anew", anew),
        ("pieces", vec![piece("S3N"), piece("T1NE"), piece("L-"), piece("9f2c")]),
        ("a piece and letters", vec![piece("S3NT1NEL-"), press("9"), press("f"), press("2"), press("c")]),
        ("ctrl+v", vec![copy.clone(), press("ctrl+v")]),
        ("shift+insert", vec![copy.clone(), press("shift+insert")]),
        ("ctrl+v into it", vec![copy.clone(), into("ctrl+v")]),
        (
            "a piece and a paste",
            vec![piece("S3N"), ("clipboard_set", json!({"text": "T1NEL-9f2c"})), press("ctrl+v")],
        ),
    ] {
        let world = world(&repeating(), json!({}));
        for (tool, args) in &inputs {
            world.ok(tool, args.clone());
        }
        world.ok("click_element", json!({"selector": "//Button[name=\"Go\"]"}));
        let shown = world.reply("get_window_structure", json!({})).text();
        assert!(shown.contains("you typed [REDACTED]\""), "{name}: {shown}");
        assert_absent(name, &world.reply("clipboard_get", json!({})).text());
    }
}

/// The beginning of a password may be a word that stands everywhere: it is not hidden for that.
#[test]
fn the_beginning_of_a_password_is_no_secret() {
    let stage = repeating().replace(&format!("you typed {SENTINEL}"), "pass the password1");
    let world = world(&stage, json!({}));
    for letter in "password1".chars() {
        world.ok("press_key", json!({"keys": letter.to_string()}));
    }
    world.ok("click_element", json!({"selector": "//Button[name=\"Go\"]"}));
    let shown = world.reply("get_window_structure", json!({})).text();
    assert!(shown.contains("\"pass the [REDACTED]\""), "{shown}");
}

/// What goes elsewhere is not hidden: not what is pasted into a plain field, not what is only copied.
#[test]
fn what_is_pasted_into_a_plain_field_is_no_secret() {
    let world = world(BANK, json!({}));
    world.ok("clipboard_set", json!({"text": "a plain word"}));
    world.ok("click_element", json!({ "selector": ACCOUNT }));
    world.ok("press_key", json!({"keys": "ctrl+v"}));
    let shown = world.reply("get_window_structure", json!({})).text();
    assert!(shown.contains("a plain word"), "{shown}");
}

/// A text of several lines stays in its field, and so does a value: what stands behind a line break is no secret.
#[test]
fn what_follows_a_line_break_in_a_text_is_no_secret() {
    let notes = "{role: Document, name: Notes, id: notes, value: \"\", bounds: {x: 120, y: 200, width: 300, height: 60}}";
    let stage = BANK.replace("- {role: Button", &format!("- {notes}\n            - {{role: Button"));
    let check = |tool: &str, args: Value, expected: &str| {
        let world = world(&stage, json!({}));
        world.ok("click_element", json!({"selector": "//Document"}));
        world.ok(tool, args.clone());
        let shown = world.reply("get_window_structure", json!({})).text();
        assert!(shown.contains(expected) && !shown.contains("[REDACTED]"), "{tool} {args}: {shown}");
    };
    check("set_value", json!({"selector": "//Document", "value": "two\nlines"}), "lines");
    check("set_value", json!({"selector": ACCOUNT, "value": "one\ttabbed"}), "tabbed");
    check("type_text", json!({"text": "two\nharbours"}), "harbours");
}

/// Out of a field of one line a tab or a line break may lead into the password.
#[test]
fn what_follows_a_tab_in_a_field_may_be_a_secret() {
    let world = world(BANK, json!({}));
    world.ok("click_element", json!({ "selector": ACCOUNT }));
    world.ok("type_text", json!({"text": "alice\thunter2secret"}));
    let echoed = world.reply("set_value", json!({"selector": ACCOUNT, "value": "hunter2secret"})).text();
    let shown = world.reply("get_window_structure", json!({})).text();
    assert!(!shown.contains("hunter2secret") && !echoed.contains("hunter2secret"), "{shown} {echoed}");
}

// ── what typing presses ────────────────────────────────────────────────────────────────────────────

/// A protected button with shortcuts of one key; the focus is in a list, which takes no text.
const MAIL: &str = r#"
name: mail
states:
  only:
    windows:
      - uid: mock:mail
        title: Mail
        bounds: {x: 0, y: 0, width: 600, height: 400}
        focused: true
        tree:
          role: Window
          name: Mail
          children:
            - {role: List, name: Letters, id: letters, focused: true, bounds: {x: 10, y: 10, width: 200, height: 200}}
            - {role: Edit, name: Search, id: search, value: "", bounds: {x: 10, y: 220, width: 200, height: 24}}
            - {role: Button, name: Delete, id: delete, keyboard_shortcut: "D; BackSpace; Escape", bounds: {x: 10, y: 260, width: 100, height: 30}}
            - {role: Button, name: Delete all, id: all, keyboard_shortcut: "Shift+X", bounds: {x: 120, y: 260, width: 100, height: 30}}
"#;

/// The same while no element is said to have the focus.
fn without_focus() -> String {
    MAIL.replace("focused: true, bounds: {x: 10, y: 10,", "bounds: {x: 10, y: 10,")
}

fn guarded() -> Value {
    json!({"confirmation_required": [{"name_regex": "(?i)delete"}]})
}

const PRESSING: &[&str] =
    &["d", "D", "abcd", "X", "hello x", "\u{8}", "\u{1b}", "a\u{1b}", "d\n", "\td", "a\nd", "\u{1b}d"];

/// Every tool that types, with every text that presses the button.
fn typing() -> Vec<(&'static str, Value)> {
    let all = |text: &&str| {
        [
            ("type_text", json!({ "text": text })),
            ("type_and_observe", json!({"text": text, "wait_after_ms": 0})),
            ("set_value", json!({"selector": "//List", "value": text})),
            ("set_value", json!({"selector": "//List", "value": text, "clear_first": false})),
            ("act", json!({"steps": [{"do": "type_text", "text": text}]})),
        ]
    };
    PRESSING.iter().flat_map(all).collect()
}

fn code(reply: &Value) -> &str {
    let own = reply["error"]["code"].as_str();
    own.or(reply["steps"][0]["error"]["code"].as_str()).unwrap_or("none")
}

/// H-66 on code, act: a shortcut of one key, by typing it where nothing takes text
#[test]
fn a_key_is_judged_also_where_it_is_typed() {
    for stage in [MAIL.to_owned(), without_focus()] {
        let world = world(&stage, guarded());
        for (tool, args) in typing() {
            let reply = world.call(tool, args.clone());
            assert_eq!(code(&reply), "ConfirmationRequired", "{tool} {args}: {reply}");
        }
        assert_eq!(world.effects(), 0);
    }
}

/// H-66 on REST, /mcp, clickthrough, stdio: the same through every door
#[test]
fn a_typed_key_is_judged_at_every_door() {
    let site = on_stage(Site::with(guarded()), MAIL);
    for (tool, args) in typing() {
        let rest = site.post(&format!("/api/tool/{tool}"), args.clone()).body;
        assert!(rest.contains("ConfirmationRequired"), "{tool} {args}: {rest}");
        let mcp = at_mcp(&site, tool, &args);
        assert!(mcp.contains("ConfirmationRequired"), "{tool} {args}: {mcp}");
    }
    let old = site.post("/api/action", json!({"action": "type", "value": "d"})).body;
    assert!(old.contains("ConfirmationRequired"), "{old}");
    let face = on_stage(Site::clickthrough(guarded()), MAIL);
    for text in PRESSING {
        let action = json!({"action": "type", "text": text});
        for (path, body) in [
            ("/interact", json!({ "action": action })),
            ("/batch", json!({ "actions": [action] })),
            (
                "/action/verify",
                json!({"action": action, "retries": 0, "verify": {"kind": "visual", "state": "change", "timeout_ms": 0}}),
            ),
        ] {
            let answer = face.post(path, body);
            assert!(answer.body.contains("confirmation_required"), "{path} {text:?}: {answer:?}");
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let (stage, config) = (folder.path().join("mail.yaml"), folder.path().join("config.json"));
    std::fs::write(&stage, MAIL).unwrap();
    std::fs::write(&config, guarded().to_string()).unwrap();
    let mut client =
        Client::mock(&["--scenario", stage.to_str().unwrap(), "--config", config.to_str().unwrap()]);
    for (tool, args) in typing() {
        assert_eq!(code(&client.data(tool, args.clone())), "ConfirmationRequired", "{tool} {args}");
    }
    assert_eq!((site.effects(), face.effects()), (0, 0));
}

/// H-66 on replay: typed without rules, judged by the rules of the replay
#[test]
fn a_typed_key_is_judged_in_a_replay() {
    let folder = tempfile::tempdir().unwrap();
    let tracing = json!({"dir": folder.path().join("traces"), "screenshot_every_n_actions": 0});
    let free = world(MAIL, json!({ "tracing": tracing }));
    free.ok("trace_start", json!({}));
    PRESSING.iter().for_each(|text| drop(free.ok("type_text", json!({ "text": text }))));
    free.ok("trace_stop", json!({}));
    let mut config = guarded();
    config["tracing"] = tracing;
    let held = world(MAIL, config);
    let replay = held.ok("replay_start", json!({"path": "latest", "mode": "execute"}));
    for text in PRESSING {
        let step = held.call("replay_step", json!({"replay_id": replay["replay_id"]}));
        assert_eq!(step["actual_summary"]["error"]["code"], "ConfirmationRequired", "{text:?}: {step}");
    }
    assert_eq!(held.effects(), 0);
}

/// In a field letters are letters: only what leads out of it is judged.
#[test]
fn in_a_field_letters_are_letters() {
    let stage =
        without_focus().replace("id: search, value: \"\",", "id: search, value: \"\", focused: true,");
    let world = world(&stage, guarded());
    for text in ["d", "D", "hello X", "\u{8}"] {
        world.ok("type_text", json!({ "text": text }));
        world.ok("set_value", json!({"selector": "//Edit", "value": text, "clear_first": false}));
    }
    let done = world.effects();
    // The line break may press the default button of the window.
    assert_eq!(world.code("type_text", json!({ "text": "dX\n" })), "ConfirmationRequired");
    for text in ["\u{1b}", "a\u{1b}", "a\td", "a\nd"] {
        assert_eq!(world.code("type_text", json!({ "text": text })), "ConfirmationRequired", "{text:?}");
        let set = json!({"selector": "//Edit", "value": text});
        assert_eq!(world.code("set_value", set), "ConfirmationRequired", "{text:?}");
    }
    assert_eq!(world.effects(), done);
    // Where the focus is elsewhere, what presses nothing is free.
    let list = self::world(MAIL, guarded());
    list.ok("type_text", json!({"text": "hello"}));
}
