//! Clients of the original server, row by row: what they send and what they read (`contract/requests.json`), over REST
//! and over MCP. A text with `*` stands for any text that has the parts between them in this order.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;

use os_screen_observer::app::App;
use os_screen_observer::clock::{Cancel, Clock};
use os_screen_observer::config::{self, Flags};
use os_screen_observer::error::{Error, Kind};
use os_screen_observer::gate::{Call, Origin};
use os_screen_observer::platform::mock::Mock;
use os_screen_observer::platform::{Accessibility, Stage};
use os_screen_observer::scenario;
use os_screen_observer::tool::Selection;
use serde_json::{Value, json};

use crate::support::fake_model::{FakeModel, Script};
use crate::support::http::{JSON, Site, answer};
use crate::support::test_platform::TestPlatform;
use crate::support::{Client, World};

fn rows() -> Vec<Value> {
    serde_json::from_str(include_str!("../contract/requests.json")).unwrap()
}

/// Whether everything that is expected is there; more may be.
fn holds(expected: &Value, got: &Value) -> bool {
    match (expected, got) {
        (Value::Object(expected), Value::Object(got)) => {
            expected.iter().all(|(key, value)| got.get(key).is_some_and(|got| holds(value, got)))
        }
        (Value::String(pattern), Value::String(text)) if pattern.contains('*') => has_parts(pattern, text),
        _ => expected == got,
    }
}

fn has_parts(pattern: &str, text: &str) -> bool {
    let mut rest = text;
    pattern.split('*').all(|part| match rest.split_once(part) {
        Some((_, after)) => {
            rest = after;
            true
        }
        None => false,
    })
}

#[track_caller]
fn check(row: &Value, got: &Value) {
    assert!(holds(&row["expected"], got) || row["expected"].is_null(), "{row}\nanswered {got}");
}

#[test]
fn requests_of_other_clients_are_served_over_rest() {
    let site = Site::new();
    for row in rows().iter().filter(|row| row["path"].is_string()) {
        let query = row["path"].as_str().unwrap();
        let body = row.get("body").filter(|_| !query.contains('?'));
        let method = row["method"].as_str().unwrap_or(if body.is_some() { "POST" } else { "GET" });
        let method = if query == "/api/capabilities" { "GET" } else { method };
        let text = match (row["raw"].as_str(), body) {
            (Some(raw), _) => raw.to_owned(),
            (None, Some(body)) if method == "POST" => body.to_string(),
            _ => String::new(),
        };
        let kind = row["type"].as_str().map_or(JSON, |kind| ("content-type", kind));
        let answer = site.ask(method, query, &[kind], &text);
        let status = row["status"].as_u64().unwrap_or(200);
        assert_eq!(u64::from(answer.status), status, "{row}\nanswered {answer:?}");
        if !answer.body.is_empty() {
            check(row, &answer.json());
        }
    }
}

#[test]
fn requests_of_other_clients_are_served_over_mcp() {
    let mut client = Client::mock(&[]);
    for row in rows() {
        let Some(tool) = row["tool"].as_str() else { continue };
        let result = client.call(tool, row["body"].clone());
        let text = result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{row}: {result}"));
        check(&row, &serde_json::from_str(text).unwrap());
    }
}

/// A connection handed on as `ssh -L` and `docker -p` do: the client calls the server by another port.
fn forwarded(site: &Site, host: &str, extra: &str) -> u16 {
    let gateway = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = gateway.local_addr().unwrap().port();
    let server = site.address;
    let gate = std::thread::spawn(move || {
        let (mut client, _) = gateway.accept().unwrap();
        let mut behind = TcpStream::connect(server).unwrap();
        let (mut from, mut to) = (client.try_clone().unwrap(), behind.try_clone().unwrap());
        let there = std::thread::spawn(move || drop(std::io::copy(&mut from, &mut to)));
        let _ = std::io::copy(&mut behind, &mut client);
        let _ = client.shutdown(std::net::Shutdown::Both);
        there.join().unwrap();
    });
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    let host = host.replace("PORT", &port.to_string());
    let extra = extra.replace("PORT", &port.to_string());
    write!(stream, "GET /api/windows HTTP/1.1\r\nhost: {host}\r\n{extra}connection: close\r\n\r\n").unwrap();
    let mut text = String::new();
    let _ = stream.read_to_string(&mut text);
    let _ = stream.shutdown(std::net::Shutdown::Both);
    gate.join().unwrap();
    answer(&text).status
}

#[test]
fn a_forwarded_port_leads_to_the_server() {
    let site = Site::with(json!({"web_ui": {"hosts": ["oso"]}}));
    for (host, extra, expected) in [
        ("localhost:PORT", "", 200),
        ("127.0.0.1:PORT", "", 200),
        ("localhost:PORT", "origin: http://localhost:PORT\r\n", 200),
        ("oso:PORT", "", 200),
        ("evil.example:PORT", "", 403),
        ("localhost:PORT", "origin: http://localhost:1\r\n", 403),
        ("localhost:PORT", "origin: http://evil.example\r\n", 403),
    ] {
        assert_eq!(forwarded(&site, host, extra), expected, "{host} {extra}");
    }
}

/// Hand-made scripts leave out who they are, or the whole greeting.
#[test]
fn a_script_need_not_greet() {
    for greeting in [
        Some(
            json!({"jsonrpc": "2.0", "id": 900, "method": "initialize", "params": {"protocolVersion": "2024-11-05"}}),
        ),
        Some(json!({"jsonrpc": "2.0", "id": 900, "method": "initialize"})),
        Some(
            json!({"jsonrpc": "2.0", "id": 900, "method": "initialize", "params": {"clientInfo": {"name": "x", "version": "1"}}}),
        ),
        None,
    ] {
        let mut client = Client::start(&["--mode", "mcp", "--mock"]);
        if let Some(greeting) = &greeting {
            client.send(greeting);
            let answer = client.receive();
            assert!(answer["result"]["serverInfo"]["name"].is_string(), "{greeting}: {answer}");
        }
        let listed = client.request("tools/list", json!({}));
        assert!(listed["result"]["tools"].as_array().is_some_and(|tools| tools.len() > 40), "{listed}");
        let called = client.request("tools/call", json!({"name": "list_windows", "arguments": {}}));
        let text = called["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{called}"));
        assert!(text.contains("Notepad"), "{text}");
    }
}

/// What the contract lists in tools/list is listed.
#[test]
fn arguments_of_the_contract_are_listed() {
    let mut client = Client::mock(&["--profile", "full"]);
    let listed = client.request("tools/list", json!({}))["result"]["tools"].clone();
    let properties = |tool: &str| {
        let tools = listed.as_array().unwrap();
        let tool = tools.iter().find(|listed| listed["name"] == tool).unwrap_or_else(|| panic!("{tool}"));
        tool["inputSchema"]["properties"].as_object().unwrap().clone()
    };
    const ELEMENT_TOOLS: &[&str] = &[
        "click_element",
        "focus_element",
        "set_value",
        "invoke_element",
        "select_option",
        "click_element_and_observe",
        "hover_element",
        "right_click_element",
        "double_click_element",
        "drag",
        "key_into_element",
        "clear_text",
    ];
    for (tools, argument) in [
        (ELEMENT_TOOLS, "window_index"),
        (&["focus_element", "set_value", "invoke_element", "select_option"], "dry_run"),
        (&["wait_for", "wait_idle"], "poll_ms"),
        (&["type_and_observe", "press_key_and_observe"], "window_uid"),
        (&["assert_state"], "predicate"),
    ] {
        for tool in tools {
            assert!(properties(tool).contains_key(argument), "{tool} does not list {argument}");
        }
    }
}

/// A token is for the window that was found, however it was named.
#[test]
fn a_consent_holds_for_the_same_window_by_another_name() {
    let world = World::with(json!({"confirmation_required": [{"name_regex": "File(?!s)"}]}));
    let uid = world.ok("list_windows", json!({}))["windows"][0]["window_uid"].clone();
    let selector = "Window/MenuBar/MenuItem[name=\"File\"]";
    let args = json!({"selector": selector, "window_index": 0});
    let proposed = world.ok("propose_action", json!({"action": "click_element", "args": args}));
    let token = &proposed["confirm_token"];
    world.ok("click_element", json!({"selector": selector, "window_uid": uid, "confirm_token": token}));
}

/// What took too long to judge needs consent, and is hidden.
#[test]
fn what_cannot_be_judged_is_protected() {
    let slow = "(?:[^@]|[^@][^@])+(?=@)@";
    let world = World::with(json!({"confirmation_required": [{"name_regex": slow}]}));
    let document = json!({"selector": "Window/StatusBar/Text[name=\"Position\"]"});
    let judged = world.call("click_element", document);
    // A short name is judged in time; nothing in it matches.
    assert_eq!(judged["ok"], true, "{judged}");
    let world = World::with(json!({"redaction": {"enabled": true, "ocr_text_patterns": [slow]}}));
    let tree = world.ok("get_window_structure", json!({}));
    let value = &tree["tree"]["children"][1]["value"];
    assert_eq!(value, "[REDACTED]", "{value}");
    assert_eq!(tree["tree"]["children"][0]["children"][0]["name"], "File");
}

/// What is shown to get a consent costs no screenshot.
#[test]
fn a_proposal_is_free() {
    let world = World::with(json!({"budgets": {"max_screenshots": 1}}));
    let args = json!({"selector": "Window/MenuBar/MenuItem[name=\"File\"]"});
    world.ok("propose_action", json!({"action": "click_element", "args": args}));
    world.ok("get_screenshot", json!({}));
    assert_eq!(world.code("get_screenshot", json!({})), "BudgetExceeded");
}

/// A tool that is off is not there for those who list.
#[test]
fn only_tools_that_are_on_are_listed() {
    let names = |site: &Site| site.get("/api/tools").json()["tools"].to_string();
    assert!(!names(&Site::new()).contains("exec_command"));
    let on = json!({"exec": {"enabled": true, "secret": "a-long-enough-secret"}});
    assert!(names(&Site::with(on)).contains("exec_command"));
}

#[test]
fn an_engine_that_is_not_there_is_named() {
    let site = Site::with(json!({"ocr": {"tesseract_cmd": "/no/such/tesseract"}}));
    let told = site.get("/api/healthz").json()["ocr"]["error"].clone();
    assert!(told.as_str().is_some_and(|told| told.contains("/no/such/tesseract")), "{told}");
}

/// An application that no longer answers once something was done to it.
fn blind_after_input() -> (App, Arc<Mock>) {
    let clock = Clock::steered();
    let loaded = config::load(&Flags { mock: true, ..Flags::default() }, std::iter::empty()).unwrap();
    let mock = Arc::new(Mock::new(clock.clone()));
    let platform = TestPlatform::new(mock.clone()).with_tree(|mock, window, patience| {
        if mock.action_log().is_empty() {
            return mock.tree(window, patience);
        }
        Err(Error::new(Kind::Timeout, "the application does not answer"))
    });
    (App::new(loaded, &Selection::default(), Arc::new(platform), clock).unwrap(), mock)
}

/// Who is told of a failure sends the input again.
#[test]
fn an_input_that_was_sent_is_not_answered_as_if_it_had_not_been() {
    for (tool, args) in [
        ("type_and_observe", json!({"text": "a", "wait_after_ms": 0})),
        ("press_key_and_observe", json!({"keys": "end", "wait_after_ms": 0})),
        ("click_element_and_observe", json!({"selector": "Window/Document", "wait_after_ms": 0})),
        ("click_element", json!({"selector": "Window/Document"})),
        ("set_value", json!({"selector": "Window/Document", "value": "a"})),
        ("click_at", json!({"x": 100, "y": 100})),
        ("type_text", json!({"text": "a"})),
    ] {
        let (app, mock) = blind_after_input();
        let call = Call { tool: tool.to_owned(), args, origin: Origin::Test };
        let reply = app.gate.pass_call(call, &Cancel::new()).value();
        assert_eq!((&reply["ok"], mock.action_log().is_empty()), (&json!(true), false), "{tool}: {reply}");
        if tool.ends_with("_and_observe") {
            assert_eq!(reply["observation"]["ok"], false, "{reply}");
            assert_eq!(reply["observation"]["error"]["code"], "Timeout", "{reply}");
        }
    }
}

/// Row 13: a pass of the vision model that fails leaves empty lists, and the envelope is there when all of them do.
#[test]
fn passes_that_fail_leave_empty_lists() {
    let asked = |answers: Vec<Script>| {
        let server = FakeModel::playing(answers);
        let vlm = json!({"enabled": true, "base_url": server.url, "model": "eyes", "mode": "multipass", "model_fast": "eyes",
            "model_actions": "eyes", "model_verify": "eyes"});
        World::with(json!({ "vlm": vlm })).ok("get_screen_description", json!({"mode": "vlm"}))
    };
    let words = || Script::says("no JSON");
    let nothing = asked(vec![words(), words(), words(), words()]);
    let some = asked(vec![Script::says("{\"app\": \"a\"}"), words(), words(), words()]);
    for reply in [&nothing, &some] {
        let found = &reply["vlm_structured"];
        for list in ["controls", "sensitive_regions", "discrepancies"] {
            assert_eq!(found[list], json!([]), "{list}: {reply}");
        }
        assert!(found["_passes"]["controls_error"].is_string(), "{reply}");
        let part = reply["description"].as_str().unwrap().split_once("[vlm]\n").unwrap().1;
        assert_eq!(serde_json::from_str::<Value>(part).unwrap(), *found, "{part}");
    }
    assert!(nothing["vlm_structured"]["_passes"]["scene_error"].is_string());
    assert_eq!(some["vlm_structured"]["app"], "a");
}

/// Row 16: a vision model is wanted and none is chosen; the start says how to choose one.
#[test]
fn a_start_without_a_model_says_how_to_choose_one() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("config.json");
    let written = |model: Value| {
        let vlm = json!({"enabled": true, "base_url": "http://127.0.0.1:9", "model": model});
        std::fs::write(&config, json!({ "vlm": vlm, "web_ui": {"port": 0} }).to_string()).unwrap();
        let flags = ["--mode", "inspect", "--mock", "--config", config.to_str().unwrap()];
        let client = Client::start(&flags);
        client.until_says("http://127.0.0.1:");
        let told = client.errors.lock().unwrap().clone();
        told.contains("models --pick")
    };
    assert!(written(Value::Null));
    assert!(!written(json!("eyes")));
}

/// A trace as the original writes it: `changed` is told by the hash alone, and a picture without its size.
fn old_trace(tool: &str) -> String {
    let target = json!({"selector": "Window/Edit[name=\"Username\"]", "window_uid": "mock:app"});
    let mut args = target.clone();
    if tool == "set_value" {
        args["value"] = json!("bob");
    }
    let summary = json!({"ok": true, "step_id": 2, "action": tool, "changed": false, "duration_ms": 0,
        "target": target});
    let rows = [
        json!({"type": "header", "trace_id": "trace-old", "label": "old", "started_at": "2026-11-15T23:50:20.363195+00:00",
            "tool_version": "0.2.0"}),
        json!({"step_id": 1, "trace_seq": 1, "ts": "2026-11-15T23:50:20.478117+00:00", "caller": "unknown",
            "tool": "get_screenshot", "args": {"window_uid": "mock:app"}, "result_summary": {"ok": true, "step_id": 1},
            "duration_ms": 0}),
        json!({"step_id": 2, "trace_seq": 2, "ts": "2026-11-15T23:50:20.606738+00:00", "caller": "unknown",
            "tool": tool, "args": args, "result_summary": summary, "duration_ms": 0}),
        json!({"type": "footer", "stopped_at": "2026-11-15T23:50:21.236043+00:00", "step_count": 2, "duration_ms": 872}),
    ];
    rows.map(|row| row.to_string()).join("\n") + "\n"
}

/// What a replay of it finds otherwise.
fn divergences(trace: &str) -> Vec<Value> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trace-old");
    std::fs::create_dir(&path).unwrap();
    std::fs::write(path.join("trace.jsonl"), trace).unwrap();
    let world = World::build(Some("scenarios/login.yaml"), json!({"tracing": {"dir": folder.path()}}));
    let path = path.join("trace.jsonl");
    let id = world.ok("replay_start", json!({"path": path, "mode": "verify"}))["replay_id"].clone();
    (0..2).map(|_| world.ok("replay_step", json!({ "replay_id": id }))["divergence"].clone()).collect()
}

/// Row 18: what the original did not record, or told by the hash, is no difference; what it told otherwise is one.
#[test]
fn an_old_trace_is_verified_by_what_it_recorded() {
    assert_eq!(divergences(&old_trace("click_element")), [Value::Null, Value::Null]);
    let [picture, written] = &divergences(&old_trace("set_value"))[..] else { panic!() };
    assert!(picture.is_null() && !written.is_null(), "{picture} {written}");
}

/// Row 25: past its end a replay still says which one it is.
#[test]
fn a_replay_past_its_end_keeps_its_id() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::with(json!({"tracing": {"dir": folder.path()}}));
    world.ok("trace_start", json!({}));
    let path = world.ok("trace_stop", json!({}))["path"].clone();
    let id = world.ok("replay_start", json!({ "path": path }))["replay_id"].clone();
    for _ in 0..2 {
        let end = world.ok("replay_step", json!({ "replay_id": id }));
        assert_eq!((&end["finished"], &end["replay_id"]), (&json!(true), &id), "{end}");
    }
}

/// Row 9: a pattern of a scenario that takes too long is told to whoever called, and nothing is done.
#[test]
fn a_pattern_that_takes_too_long_is_told_to_the_caller() {
    let stage = "states: {only: {windows: [{uid: w, focused: true, tree: {role: Window, children: [\
        {role: Edit, name: Note, id: note, value: '', focused: true}]}}]}}\n\
        reactions: [{on: {tool: type_text, text_regex: '(.*)(.*)(.*)(.*)\\4z'}, set: [{id: note, value: x}]}]\n";
    let world = World::new();
    world.mock.load(scenario::load_str(stage, "slow.yaml").unwrap());
    world.app.observer.forget_all();
    let reply = world.call("type_text", json!({"text": "a".repeat(3_000)}));
    assert_eq!(reply["error"]["code"], "BadRequest", "{reply}");
    assert!(reply["error"]["message"].as_str().unwrap().contains("takes too long"), "{reply}");
    assert_eq!(world.effects(), 0);
    world.ok("type_text", json!({"text": "b"}));
}
