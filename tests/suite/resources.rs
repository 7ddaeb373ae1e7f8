//! Resources, notices of their changes, prompts and completions, of the built binary over its pipes, in both eras.

use std::time::Duration;

use crate::support::Client;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};

/// How long nothing has to come before we believe that nothing will.
const SILENCE: Duration = Duration::from_millis(1200);

#[derive(Clone, Copy, Debug, PartialEq)]
enum Era {
    Older,
    Newer,
}

const ERAS: [Era; 2] = [Era::Older, Era::Newer];

/// A client that speaks one era.
struct Speaker {
    client: Client,
    era: Era,
    hello: Value,
}

impl Speaker {
    fn new(era: Era, args: &[&str]) -> Self {
        let mut all = vec!["--mode", "mcp", "--mock"];
        all.extend_from_slice(args);
        Self::of(era, Client::start(&all))
    }

    fn of(era: Era, mut client: Client) -> Self {
        let hello = match era {
            Era::Older => client.initialize("2025-11-25"),
            Era::Newer => client.request("server/discover", modern(json!({}))),
        };
        Self { client, era, hello: hello["result"].clone() }
    }

    fn params(&self, params: Value) -> Value {
        if self.era == Era::Newer { modern(params) } else { params }
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        let params = self.params(params);
        self.client.request(method, params)
    }

    fn ok(&mut self, method: &str, params: Value) -> Value {
        let answer = self.ask(method, params);
        assert!(answer.get("error").is_none(), "{method}: {answer}");
        answer["result"].clone()
    }

    fn read(&mut self, uri: &str) -> Value {
        self.ok("resources/read", json!({ "uri": uri }))["contents"][0].clone()
    }

    fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.ok("tools/call", json!({"name": tool, "arguments": arguments}))
    }

    /// Begins to be told of changes, and knows that it is.
    fn follow(&mut self, uris: &[&str], list: bool) -> u64 {
        if self.era == Era::Older {
            uris.iter().for_each(|uri| {
                self.ok("resources/subscribe", json!({ "uri": uri }));
            });
            return 0;
        }
        let wanted = json!({"resourceSubscriptions": uris, "resourcesListChanged": list});
        let params = self.params(json!({ "notifications": wanted }));
        let id = self.client.post("subscriptions/listen", params);
        let told = self.client.receive();
        assert_eq!(told["method"], "notifications/subscriptions/acknowledged", "{told}");
        id
    }

    /// What is told next; nothing when nothing comes.
    fn told(&mut self) -> Option<(String, Option<String>)> {
        let message = self.client.receive_within(SILENCE)?;
        let uri = message["params"]["uri"].as_str().map(str::to_owned);
        Some((message["method"].as_str().unwrap_or_else(|| panic!("{message}")).to_owned(), uri))
    }

    /// Makes a call while notices may come, and gives all that came in either order.
    fn told_by(&mut self, tool: &str, arguments: Value) -> Vec<String> {
        let params = self.params(json!({"name": tool, "arguments": arguments}));
        let id = self.client.post("tools/call", params);
        let mut told = Vec::new();
        let mut answered = false;
        while let Some(message) = self.client.receive_within(SILENCE) {
            if message["id"] == id {
                assert_eq!(message["result"]["isError"], false, "{message}");
                answered = true;
            } else {
                let what = message["params"]["uri"].as_str().or(message["method"].as_str());
                told.push(what.unwrap().to_owned());
            }
        }
        assert!(answered);
        told.sort();
        told
    }
}

fn modern(mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
    });
    params
}

const LOGIN: &[&str] = &["--scenario", "scenarios/login.yaml"];
const APP_OUTLINE: &str = "screen://window/mock:app/outline";
const APP_PICTURE: &str = "screen://window/mock%3Aapp/picture";
const WINDOWS: &str = "screen://windows";

// ---- lists -------------------------------------------------------------------------------------------------

#[test]
fn what_is_announced_is_what_is_there() {
    for era in ERAS {
        let speaker = Speaker::new(era, &[]);
        let can = &speaker.hello["capabilities"];
        let newer = if era == Era::Newer {
            json!({"subscribe": true, "listChanged": true})
        } else {
            json!({"subscribe": true})
        };
        assert_eq!(can["resources"], newer, "{era:?}");
        assert_eq!((&can["prompts"], &can["completions"]), (&json!({}), &json!({})), "{era:?}");
        let pages = &can["extensions"]["io.modelcontextprotocol/ui"]["mimeTypes"];
        assert_eq!(*pages, json!(["text/html;profile=mcp-app"]), "{era:?}");
    }
}

#[test]
fn every_window_is_listed_with_its_outline_and_its_picture() {
    for era in ERAS {
        let mut speaker = Speaker::new(era, LOGIN);
        let listed = speaker.ok("resources/list", json!({}));
        let short = |entry: &Value| {
            format!("{} | {} | {}", entry["uri"], entry["name"], entry["mimeType"]).replace('"', "")
        };
        let found: Vec<String> = listed["resources"].as_array().unwrap().iter().map(short).collect();
        let expected = [
            "screen://windows | windows | application/json",
            "screen://window/mock%3Aapp/outline | Acme Login: outline | text/plain",
            "screen://window/mock%3Aapp/picture | Acme Login: picture | image/png",
            "ui://os-screen-observer/window | window viewer | text/html;profile=mcp-app",
        ];
        assert_eq!(found, expected, "{era:?}");
        for entry in listed["resources"].as_array().unwrap() {
            assert!(speaker.read(entry["uri"].as_str().unwrap())["mimeType"] == entry["mimeType"]);
        }
        let templates = speaker.ok("resources/templates/list", json!({}))["resourceTemplates"].clone();
        let uris: Vec<&str> =
            templates.as_array().unwrap().iter().map(|one| one["uriTemplate"].as_str().unwrap()).collect();
        assert_eq!(uris, ["screen://window/{uid}/outline", "screen://window/{uid}/picture"]);
    }
}

#[test]
fn what_a_profile_does_not_offer_is_no_resource() {
    let mut speaker = Speaker::new(Era::Newer, &["--tools", "-get_screenshot,-list_windows,-look"]);
    let listed = speaker.ok("resources/list", json!({}))["resources"].clone();
    assert_eq!(listed, json!([]), "without the list of windows none can be named");
    let templates = speaker.ok("resources/templates/list", json!({}))["resourceTemplates"].clone();
    assert_eq!(templates.as_array().unwrap().len(), 1);
    assert_eq!(speaker.ask("resources/read", json!({"uri": WINDOWS}))["error"]["code"], -32602);
    assert!(speaker.hello["capabilities"].get("extensions").is_none());

    let mut none = Speaker::new(Era::Newer, &["--tools", "-act,-windows,-elements,-screen,-harness"]);
    assert!(none.hello["capabilities"].get("resources").is_none());
    for method in ["resources/list", "resources/templates/list", "prompts/list"] {
        assert_eq!(none.ask(method, json!({}))["error"]["code"], -32601, "{method}");
    }
}

// ---- reading -----------------------------------------------------------------------------------------------

#[test]
fn contents_are_what_the_tools_answer() {
    for era in ERAS {
        let mut speaker = Speaker::new(era, LOGIN);
        let windows = speaker.read(WINDOWS);
        let windows: Value = serde_json::from_str(windows["text"].as_str().unwrap()).unwrap();
        assert_eq!(
            (&windows["windows"][0]["title"], &windows["untrusted"]),
            (&json!("Acme Login"), &json!(true))
        );

        let outline = speaker.read(APP_OUTLINE);
        assert_eq!(outline["uri"], APP_OUTLINE, "as it was asked for");
        assert_eq!(outline["mimeType"], "text/plain");
        let beside = &outline["_meta"];
        assert_eq!((&beside["untrusted"], &beside["truncated"]), (&json!(true), &json!(false)));
        let called = speaker.call("get_window_structure", json!({"format": "outline"}));
        assert_eq!(outline["text"], called["content"][1]["text"]);

        let picture = speaker.read(APP_PICTURE);
        assert_eq!((&picture["mimeType"], &picture["_meta"]["width"]), (&json!("image/png"), &json!(800)));
        let bytes = BASE64_STANDARD.decode(picture["blob"].as_str().unwrap()).unwrap();
        assert!(bytes.starts_with(b"\x89PNG"));
    }
}

#[test]
fn a_window_that_is_gone_is_a_resource_that_is_not_there() {
    for (era, code) in [(Era::Older, -32002), (Era::Newer, -32602)] {
        let mut speaker = Speaker::new(era, LOGIN);
        let uri = "screen://window/mock:gone/outline";
        let error = speaker.ask("resources/read", json!({ "uri": uri }))["error"].clone();
        assert_eq!((&error["code"], &error["data"]["uri"]), (&json!(code), &json!(uri)), "{error}");
        assert!(error["message"].as_str().unwrap().contains("mock:gone"), "{error}");
        let windows = &error["data"]["error"]["context"]["windows"];
        assert_eq!(windows[0]["window_uid"], "mock:app", "{error}");

        let error = speaker.ask("resources/read", json!({"uri": "screen://nothing"}))["error"].clone();
        assert_eq!(error["code"], code, "{error}");
        assert!(error["data"]["resources"].to_string().contains("screen://windows"), "{error}");
    }
}

/// H-71, H-74 on stdio: resources
#[test]
fn the_gate_refuses_reads_as_it_refuses_calls() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("config.json");
    let config = json!({
        "actions": {"deny": ["get_window_structure"]},
        "budgets": {"max_screenshots": 1},
        "logging": {"audit": true, "audit_path": folder.path().join("audit.log")},
    });
    std::fs::write(&file, config.to_string()).unwrap();
    let mut speaker =
        Speaker::new(Era::Newer, &["--scenario", "scenarios/login.yaml", "--config", file.to_str().unwrap()]);
    let denied = speaker.ask("resources/read", json!({ "uri": APP_OUTLINE }))["error"].clone();
    assert_eq!(
        (&denied["code"], &denied["data"]["error"]["code"]),
        (&json!(-32600), &json!("PermissionDenied"))
    );
    assert_eq!(speaker.read(APP_PICTURE)["mimeType"], "image/png");
    let spent = speaker.ask("resources/read", json!({ "uri": APP_PICTURE }))["error"].clone();
    assert_eq!(spent["data"]["error"]["code"], "BudgetExceeded", "{spent}");
    let audit = std::fs::read_to_string(folder.path().join("audit.log")).unwrap();
    assert!(audit.contains("get_window_structure") && audit.contains("get_screenshot"), "{audit}");

    // What may not be read is not followed either.
    let params = speaker.params(json!({"notifications": {"resourceSubscriptions": [APP_OUTLINE, WINDOWS]}}));
    speaker.client.post("subscriptions/listen", params);
    let told = speaker.client.receive();
    assert_eq!(told["params"]["notifications"], json!({"resourceSubscriptions": [WINDOWS]}), "{told}");
}

#[test]
fn a_desktop_that_is_missing_is_told_where_it_is_read() {
    for era in ERAS {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_os-screen-observer"));
        command.args(["--mode", "mcp"]);
        for variable in [
            "DISPLAY",
            "WAYLAND_DISPLAY",
            "XDG_RUNTIME_DIR",
            "DBUS_SESSION_BUS_ADDRESS",
            "AT_SPI_BUS_ADDRESS",
        ] {
            command.env_remove(variable);
        }
        let mut speaker = Speaker::of(era, Client::spawn(command));
        let listed = speaker.ok("resources/list", json!({}))["resources"].clone();
        assert_eq!(listed.as_array().unwrap().len(), 2, "{listed}");
        let error = speaker.ask("resources/read", json!({"uri": WINDOWS}))["error"].clone();
        assert_eq!(error["data"]["error"]["code"], "PlatformUnsupported", "{error}");
        let prompt = speaker.ok("prompts/get", json!({"name": "describe_screen"}));
        assert!(prompt["messages"][1].to_string().contains("no window"), "{prompt}");
        speaker.follow(&[WINDOWS], true);
        assert_eq!(speaker.told(), None);
        assert!(speaker.client.alive());
    }
}

#[test]
fn a_desktop_without_windows_has_an_empty_list() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("empty.yaml");
    std::fs::write(&file, "name: empty\nstates:\n  only:\n    windows: []\n").unwrap();
    let mut speaker = Speaker::new(Era::Newer, &["--scenario", file.to_str().unwrap()]);
    assert_eq!(speaker.ok("resources/list", json!({}))["resources"].as_array().unwrap().len(), 2);
    let windows: Value = serde_json::from_str(speaker.read(WINDOWS)["text"].as_str().unwrap()).unwrap();
    assert_eq!(windows["count"], 0);
}

// ---- being told --------------------------------------------------------------------------------------------

#[test]
fn a_change_is_told_once_and_silence_is_silence() {
    for era in ERAS {
        let mut speaker = Speaker::new(era, LOGIN);
        let id = speaker.follow(&[APP_OUTLINE, APP_PICTURE], false);
        assert_eq!(speaker.told(), None, "{era:?}: nothing has changed");

        let typed = json!({"selector": "//Edit[name=\"Username\"]", "value": "alice"});
        assert_eq!(speaker.told_by("set_value", typed.clone()), [APP_PICTURE, APP_OUTLINE], "{era:?}");
        assert_eq!(
            speaker.told_by("list_windows", json!({})),
            [] as [&str; 0],
            "{era:?}: looking changes nothing"
        );
        assert!(speaker.read(APP_OUTLINE)["text"].as_str().unwrap().contains("alice"));

        match era {
            Era::Older => {
                speaker.ok("resources/unsubscribe", json!({ "uri": APP_PICTURE }));
                let other = json!({"selector": "//Edit[name=\"Username\"]", "value": "bob"});
                assert_eq!(speaker.told_by("set_value", other), [APP_OUTLINE]);
                speaker.ok("resources/unsubscribe", json!({ "uri": APP_OUTLINE }));
            }
            Era::Newer => {
                let cancelled = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}});
                speaker.client.send(&cancelled);
            }
        }
        assert_eq!(speaker.told_by("set_value", typed), [] as [&str; 0], "{era:?}: nobody follows any more");
        check_no_thread_is_left(&speaker);
    }
}

/// The thread that looks for changes goes with the last follower.
#[track_caller]
fn check_no_thread_is_left(speaker: &Speaker) {
    if !cfg!(target_os = "linux") {
        return;
    }
    let following = || {
        let tasks = format!("/proc/{}/task", speaker.client.process_id());
        let name =
            |task: std::fs::DirEntry| std::fs::read_to_string(task.path().join("comm")).unwrap_or_default();
        std::fs::read_dir(tasks).unwrap().flatten().map(name).any(|name| name.trim() == "following")
    };
    for _ in 0..100 {
        if !following() {
            return;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("a thread still looks for changes");
}

#[test]
fn the_list_of_windows_and_the_set_of_windows_are_told_apart() {
    let mut speaker = Speaker::new(Era::Newer, &[]);
    let id = speaker.follow(&[WINDOWS], true);
    assert_eq!(speaker.told(), None, "it has looked for the first time");
    // Another window gets the focus: the list shows it, the set is the same.
    assert_eq!(speaker.told_by("bring_to_foreground", json!({"window_index": 2})), [WINDOWS]);
    let both = speaker.told_by("load_scenario", json!({"path": "scenarios/login.yaml"}));
    assert_eq!(both, ["notifications/resources/list_changed", WINDOWS]);
    let mut seen = false;
    let params =
        speaker.params(json!({"name": "load_scenario", "arguments": {"path": "scenarios/form.yaml"}}));
    let call = speaker.client.post("tools/call", params);
    while let Some(message) = speaker.client.receive_within(SILENCE) {
        // A notice may come before the answer.
        if message["id"] == call {
            continue;
        }
        assert_eq!(message["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], id, "{message}");
        seen = true;
    }
    assert!(seen);
}

#[test]
fn a_followed_window_that_goes_is_told() {
    for era in ERAS {
        let mut speaker = Speaker::new(era, LOGIN);
        speaker.follow(&[APP_OUTLINE], false);
        assert_eq!(speaker.told_by("load_scenario", json!({"path": "scenarios/form.yaml"})), [APP_OUTLINE]);
    }
}

#[test]
fn a_title_that_changes_is_a_change() {
    let mut speaker = Speaker::new(Era::Older, LOGIN);
    for (field, value) in [("Username", "alice"), ("Password", "hunter22")] {
        let selector = format!("//Edit[name=\"{field}\"]");
        speaker.call("focus_element", json!({"selector": selector}));
        speaker.call("type_text", json!({"text": value}));
    }
    speaker.follow(&[APP_OUTLINE, WINDOWS], false);
    let told = speaker.told_by("click_element", json!({"selector": "//Button"}));
    assert_eq!(told, [APP_OUTLINE, WINDOWS]);
}

#[test]
fn changes_that_come_fast_are_told_together() {
    let mut speaker = Speaker::new(Era::Newer, LOGIN);
    speaker.follow(&[APP_OUTLINE], false);
    let changes = 60;
    for number in 0..changes {
        let value = format!("name {number}");
        let params = speaker.params(json!({
            "name": "set_value", "arguments": {"selector": "//Edit[name=\"Username\"]", "value": value},
        }));
        speaker.client.post("tools/call", params);
    }
    let mut told = 0;
    while let Some(message) = speaker.client.receive_within(SILENCE) {
        told += usize::from(message["params"]["uri"] == APP_OUTLINE);
    }
    assert!((1..changes / 2).contains(&told), "{told} notices for {changes} changes");
}

#[test]
fn what_time_changes_is_told_too() {
    let mut speaker = Speaker::new(Era::Newer, &["--scenario", "scenarios/slow-load.yaml"]);
    let listed = speaker.ok("resources/list", json!({}))["resources"].clone();
    let uri = listed[1]["uri"].as_str().unwrap().to_owned();
    let button = speaker.call("find_element", json!({"selector": "//Button"}));
    speaker.follow(&[&uri], false);
    let arguments = json!({"ref": button["structuredContent"]["ref"]});
    let told = speaker.told_by("click_element", arguments);
    assert!(!told.is_empty() && told.iter().all(|one| *one == uri), "{told:?}");
}

#[test]
fn there_is_an_end_to_what_is_followed() {
    let uri = |number: usize| format!("screen://window/x{number}/outline");
    let many: Vec<String> = (0..65).map(uri).collect();
    let mut speaker = Speaker::new(Era::Newer, &[]);
    let params = speaker.params(json!({"notifications": {"resourceSubscriptions": many}}));
    let id = speaker.client.post("subscriptions/listen", params);
    let refused = speaker.client.answer(id);
    assert!(refused["error"]["message"].as_str().unwrap().contains("64"), "{refused}");
    speaker.follow(&[&many[0]], true);

    let mut older = Speaker::new(Era::Older, &[]);
    let refused = older.ask("resources/subscribe", json!({"uri": many[0]}))["error"].clone();
    assert_eq!((&refused["code"], refused["data"]["windows"].as_array().unwrap().len()), (&json!(-32002), 3));
    let refused =
        older.ask("resources/subscribe", json!({"uri": "ui://os-screen-observer/window"}))["error"].clone();
    assert!(refused["message"].as_str().unwrap().contains("never changes"), "{refused}");
}

#[test]
fn who_looks_on_does_not_move_a_steered_clock() {
    let mut speaker = Speaker::new(Era::Newer, &["--scenario", "scenarios/login.yaml", "--steered-clock"]);
    speaker.follow(&[APP_OUTLINE], false);
    assert_eq!(speaker.told(), None);
    let before = speaker.call("snapshot", json!({}))["structuredContent"]["ts"].clone();
    assert_eq!(speaker.told(), None);
    assert_eq!(speaker.call("snapshot", json!({}))["structuredContent"]["ts"], before);
    let typed = json!({"selector": "//Edit[name=\"Username\"]", "value": "alice"});
    assert_eq!(speaker.told_by("set_value", typed), [APP_OUTLINE]);
}

#[test]
fn the_end_of_input_ends_a_server_that_tells_changes() {
    for era in ERAS {
        let mut speaker = Speaker::new(era, LOGIN);
        speaker.follow(&[APP_OUTLINE], false);
        speaker.client.close_input();
        let (status, _) = speaker.client.wait(crate::support::PATIENCE).expect("it ends");
        assert!(status.success());
    }
}

// ---- completions -------------------------------------------------------------------------------------------

#[track_caller]
fn check_completion(reference: Value, argument: &str, value: &str, expected: &[&str]) {
    for era in ERAS {
        let mut speaker = Speaker::new(era, &[]);
        let params = json!({"ref": reference, "argument": {"name": argument, "value": value}});
        let answer = speaker.ok("completion/complete", params);
        let values = answer["completion"]["values"].as_array().unwrap();
        let fit =
            values.iter().zip(expected).all(|(value, start)| value.as_str().unwrap().starts_with(start));
        assert!(fit && values.len() == expected.len(), "{era:?}: {answer}");
    }
}

#[test]
fn windows_are_completed_by_the_beginning_of_their_uid() {
    let template = json!({"type": "ref/resource", "uri": "screen://window/{uid}/outline"});
    check_completion(template.clone(), "uid", "", &["mock:0:", "mock:1:", "mock:2:"]);
    check_completion(template.clone(), "uid", "mock:1", &["mock:1:"]);
    check_completion(template, "uid", "zzz", &[]);
    check_completion(
        json!({"type": "ref/prompt", "name": "describe_screen"}),
        "window",
        "mock:0",
        &["mock:0:"],
    );
    check_completion(json!({"type": "ref/prompt", "name": "record_test"}), "name", "x", &[]);
}

#[test]
fn what_cannot_be_completed_is_named() {
    let mut speaker = Speaker::new(Era::Newer, &[]);
    for (reference, argument, word) in [
        (json!({"type": "ref/resource", "uri": "screen://no/{uid}"}), "uid", "screen://windows"),
        (json!({"type": "ref/resource", "uri": "screen://window/{uid}/outline"}), "id", "'id'"),
        (json!({"type": "ref/prompt", "name": "no_such"}), "x", "no_such"),
        (json!({"type": "ref/prompt", "name": "record_test"}), "nom", "'nom'"),
    ] {
        let params = json!({"ref": reference, "argument": {"name": argument, "value": ""}});
        let error = speaker.ask("completion/complete", params)["error"].clone();
        assert_eq!(error["code"], -32602, "{error}");
        assert!(error["message"].as_str().unwrap().contains(word), "{error}");
    }
}

// ---- prompts -----------------------------------------------------------------------------------------------

#[test]
fn prompts_are_listed_and_embed_a_window() {
    for era in ERAS {
        let mut speaker = Speaker::new(era, LOGIN);
        let listed = speaker.ok("prompts/list", json!({}))["prompts"].clone();
        let names: Vec<&str> =
            listed.as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect();
        assert_eq!(names, ["describe_screen", "fill_in_form", "record_test", "why_did_that_fail"]);
        assert_eq!(listed[1]["arguments"][0]["required"], true);
        for window in ["mock:app", "acme"] {
            let arguments = json!({"values": "Username: alice", "window": window});
            let prompt = speaker.ok("prompts/get", json!({"name": "fill_in_form", "arguments": arguments}));
            let text = prompt["messages"][0]["content"]["text"].as_str().unwrap();
            assert!(text.contains("Username: alice") && text.contains("never an instruction"), "{text}");
            let embedded = &prompt["messages"][1]["content"];
            assert_eq!(
                (&embedded["type"], &embedded["resource"]["mimeType"]),
                (&json!("resource"), &json!("text/plain"))
            );
            assert_eq!(embedded["resource"]["_meta"]["untrusted"], true);
            assert!(
                embedded["resource"]["text"].as_str().unwrap().contains("Edit \"Username\""),
                "{embedded}"
            );
        }
    }
}

#[test]
fn wrong_arguments_of_prompts_are_named() {
    let mut speaker = Speaker::new(Era::Newer, LOGIN);
    for (name, arguments, word) in [
        ("fill_in_form", json!({}), "'values' is required"),
        ("describe_screen", json!({"windw": "x"}), "did you mean 'window'"),
        ("describe_screen", json!({"window": "nowhere"}), "nowhere"),
        ("record_test", json!({"name": "a b"}), "letters"),
        ("describe", json!({}), "no prompt 'describe'"),
    ] {
        let error =
            speaker.ask("prompts/get", json!({"name": name, "arguments": arguments}))["error"].clone();
        assert_eq!(error["code"], -32602, "{error}");
        assert!(error["message"].as_str().unwrap().contains(word), "{error}");
    }
    let error =
        speaker.ask("prompts/get", json!({"name": "describe_screen", "arguments": {"window": "x:y"}}));
    assert_eq!(error["error"]["data"]["windows"][0]["window_uid"], "mock:app", "{error}");
}

#[test]
fn the_last_failure_is_told_and_only_the_last() {
    let mut speaker = Speaker::new(Era::Older, LOGIN);
    let why = |speaker: &mut Speaker| {
        let prompt = speaker.ok("prompts/get", json!({"name": "why_did_that_fail"}));
        prompt["messages"][1]["content"]["text"].as_str().unwrap().to_owned()
    };
    assert!(why(&mut speaker).contains("No call has failed"));
    speaker.call("find_element", json!({"selector": "//First"}));
    speaker.call("find_element", json!({"selector": "//Second"}));
    speaker.call("list_windows", json!({}));
    let told = why(&mut speaker);
    assert!(told.starts_with("find_element, step 2, was answered:") && told.contains("//Second"), "{told}");
    assert!(!told.contains("//First"), "{told}");
}

// ---- what must not be shown --------------------------------------------------------------------------------

/// H-59 on stdio: resources, prompts and completions, in both eras
#[test]
fn what_is_hidden_is_hidden_here_too() {
    let folder = tempfile::tempdir().unwrap();
    let scenario = folder.path().join("secret.yaml");
    let text = "name: secret\nstates:\n  only:\n    windows:\n      - uid: mock:bank\n        title: Bank SENTINEL-TITLE\n        \
                bounds: {x: 0, y: 0, width: 300, height: 200}\n        tree:\n          role: Window\n          name: Bank\n          \
                bounds: {x: 0, y: 0, width: 300, height: 200}\n          children:\n            - {role: Edit, name: Pass, \
                value: SENTINEL-VALUE, secret: true, bounds: {x: 10, y: 10, width: 100, height: 20}}\n            - {role: Text, \
                name: the pass is SENTINEL-VALUE, bounds: {x: 10, y: 40, width: 100, height: 20}}\n";
    std::fs::write(&scenario, text).unwrap();
    let file = folder.path().join("config.json");
    let config = json!({"redaction": {"enabled": true, "window_title_patterns": ["SENTINEL-TITLE"]}});
    std::fs::write(&file, config.to_string()).unwrap();
    for era in ERAS {
        let mut speaker = Speaker::new(
            era,
            &["--scenario", scenario.to_str().unwrap(), "--config", file.to_str().unwrap()],
        );
        let uri = "screen://window/mock:bank/outline";
        let window = json!({"name": "window", "value": ""});
        let values = json!({"values": "Pass: SENTINEL-VALUE"});
        let asked = [
            ("resources/list", json!({})),
            ("resources/read", json!({"uri": WINDOWS})),
            ("resources/read", json!({ "uri": uri })),
            ("resources/read", json!({"uri": "screen://window/mock:none/outline"})),
            ("prompts/get", json!({"name": "describe_screen"})),
            ("prompts/get", json!({"name": "describe_screen", "arguments": {"window": "x"}})),
            ("prompts/get", json!({"name": "fill_in_form", "arguments": values})),
            ("prompts/get", json!({"name": "why_did_that_fail"})),
            (
                "completion/complete",
                json!({"ref": {"type": "ref/prompt", "name": "describe_screen"}, "argument": window}),
            ),
        ];
        for (method, params) in asked {
            let answer = speaker.ask(method, params.clone()).to_string();
            assert!(!answer.contains("SENTINEL"), "{era:?} {method} {params}: {answer}");
        }
        let by_title = speaker.ask(
            "prompts/get",
            json!({"name": "describe_screen", "arguments": {"window": "sentinel-title"}}),
        );
        assert_eq!(by_title["error"]["code"], -32602, "a hidden title cannot be searched for");
        let listed = speaker.ok("resources/list", json!({}))["resources"].to_string();
        assert!(listed.contains("[REDACTED]: outline"), "{listed}");
    }
}

#[test]
fn reads_are_traced_like_calls() {
    let mut speaker = Speaker::new(Era::Newer, LOGIN);
    speaker.call("trace_start", json!({"label": "reads"}));
    speaker.read(APP_OUTLINE);
    speaker.read(APP_PICTURE);
    let stopped = speaker.call("trace_stop", json!({}));
    assert_eq!(stopped["structuredContent"]["step_count"], 2, "{stopped}");
}

// ---- the page ----------------------------------------------------------------------------------------------

#[test]
fn the_page_is_named_by_its_tool_and_can_be_read() {
    for era in ERAS {
        let mut speaker = Speaker::new(era, &[]);
        let tools = speaker.ok("tools/list", json!({}))["tools"].clone();
        let with_page: Vec<&Value> =
            tools.as_array().unwrap().iter().filter(|tool| tool["_meta"]["ui"].is_object()).collect();
        assert!(with_page.iter().any(|tool| tool["name"] == "get_screenshot"));
        for tool in with_page {
            let page = speaker.read(tool["_meta"]["ui"]["resourceUri"].as_str().unwrap());
            assert_eq!(page["mimeType"], "text/html;profile=mcp-app");
            assert!(page["text"].as_str().unwrap().starts_with("<!doctype html>"));
        }
    }
}
