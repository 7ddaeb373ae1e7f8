//! The built binary over real pipes: both eras, every tool, errors, cancellation, ends, and a pure stdout.

use std::time::{Duration, Instant};

use crate::support::Client;
use os_screen_observer::tool::Group;
use os_screen_observer::tools;
use serde_json::{Value, json};

fn modern(client: &mut Client, method: &str, mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
    });
    client.request(method, params)
}

fn start() -> Client {
    Client::start(&["--mode", "mcp", "--mock"])
}

/// A window whose application takes a minute to answer.
fn slow_client() -> (Client, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("slow.yaml");
    let text = "name: slow\nstates:\n  only:\n    windows:\n      - uid: mock:slow\n        title: Slow\n        \
                capture_delay_ms: 20000\n        tree: {role: Window, name: Slow}\n";
    std::fs::write(&file, text).unwrap();
    let client = Client::mock(&["--scenario", file.to_str().unwrap()]);
    (client, folder)
}

/// H-32 on stdio: every version of the older era.
#[test]
fn initialize_is_answered_in_the_version_asked_for() {
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let mut client = start();
        let answer = client.initialize(version);
        assert_eq!(answer["result"]["protocolVersion"], version);
        assert_eq!(answer["result"]["serverInfo"]["name"], "os-screen-observer");
        assert!(answer["result"]["instructions"].as_str().unwrap().contains("look, act, verify"));
        assert_eq!(client.data("list_windows", json!({}))["count"], 3);
    }
}

/// H-32 on stdio: an unknown version in a greeting.
#[test]
fn an_unknown_version_gets_one_that_is_known() {
    let mut client = start();
    assert_eq!(client.initialize("9999-99-99")["result"]["protocolVersion"], "2025-11-25");
}

/// H-32 on stdio: the newer era.
#[test]
fn the_newer_era_needs_no_greeting() {
    let mut client = start();
    let found = modern(&mut client, "server/discover", json!({}));
    assert!(found["result"]["supportedVersions"].to_string().contains("2026-07-28"), "{found}");
    assert!(found["result"]["instructions"].is_string());
    let listed = modern(&mut client, "tools/list", json!({}));
    assert_eq!(
        listed["result"]["tools"].as_array().unwrap().len(),
        tools::all_tools()
            .filter(|spec| spec.meta.listed && spec.meta.lock.is_none() && spec.meta.switch.is_none())
            .filter(|spec| spec.meta.group != Group::Browser)
            .count()
    );
    let called = modern(&mut client, "tools/call", json!({"name": "list_windows", "arguments": {}}));
    assert_eq!(called["result"]["structuredContent"]["count"], 3);
}

/// H-31 on stdio: a call before the greeting.
#[test]
fn a_call_without_greeting_or_era_is_served() {
    let mut client = start();
    let answer = client.request("tools/call", json!({"name": "list_windows", "arguments": {}}));
    assert_eq!(answer["result"]["isError"], false, "{answer}");
    assert!(client.alive());
}

#[test]
fn every_tool_answers_over_the_wire() {
    // What is behind a lock has tests of its own.
    for spec in tools::all_tools().filter(|spec| spec.meta.lock.is_none() && spec.meta.switch.is_none()) {
        let example = &spec.meta.examples[0];
        let scenario: Vec<&str> = example.scenario.map_or(vec![], |file| vec!["--scenario", file]);
        let mut client = Client::mock(&scenario);
        for (tool, args) in spec.meta.before_examples {
            client.call(tool, serde_json::from_str(args).unwrap());
        }
        let result = client.call(spec.meta.name, serde_json::from_str(example.args).unwrap());
        assert_eq!(result["isError"], false, "{} answered {result}", spec.meta.name);
        let text: Value = serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
        assert_eq!(text["ok"], true);
        if spec.meta.declares_output() {
            assert_eq!(result["structuredContent"], text, "{}", spec.meta.name);
        } else {
            assert!(result.get("structuredContent").is_none(), "{}", spec.meta.name);
        }
    }
}

#[test]
fn pictures_are_blocks_and_not_text() {
    let mut client = Client::mock(&[]);
    let result = client.call("get_screenshot", json!({"window_index": 0}));
    let picture = &result["content"][1];
    assert_eq!(picture["type"], "image");
    assert_eq!(picture["mimeType"], "image/png");
    assert!(picture["data"].as_str().unwrap().starts_with("iVBORw0KGgo"));
    let text: Value = serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!((&text["width"], &text["height"]), (&json!(800), &json!(600)));
    assert!(text.get("data").is_none());
}

#[test]
fn text_is_compact() {
    let mut client = Client::mock(&[]);
    let result = client.call("get_window_structure", json!({"window_index": 0}));
    let text = result["content"][0]["text"].as_str().unwrap();
    assert!(!text.contains(": ") || !text.contains("\n  "), "the JSON is indented");
    assert!(text.contains("\"id\":\"root.0\""));
}

/// H-30 on stdio: wrong arguments and unknown tools are named.
#[test]
fn errors_are_results_that_a_model_can_read() {
    let mut client = Client::mock(&[]);
    let cases = [
        ("click_at", json!({"x": "1", "y": 2}), "BadRequest", "argument 'x'"),
        ("click_at", json!({"y": 2}), "BadRequest", "argument 'x' is required"),
        ("click_at", json!({"x": 1, "y": 2, "colour": 3}), "BadRequest", "unknown argument 'colour'"),
        ("no_such_tool", json!({}), "BadRequest", "unknown tool"),
        ("find_element", json!({"selector": "//Nope"}), "ElementNotFound", "no element matches"),
        ("find_element", json!({"selector": "//Text", "window_uid": "no:such"}), "WindowGone", "no:such"),
    ];
    for (tool, arguments, code, words) in cases {
        let result = client.call(tool, arguments.clone());
        assert_eq!(result["isError"], true, "{tool} {arguments}");
        let error: Value = serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
        assert_eq!(error["error"]["code"], code, "{tool} {arguments}");
        assert!(error["error"]["message"].as_str().unwrap().contains(words), "{error}");
    }
}

/// H-38 on stdio: waits take no places of others.
#[test]
fn however_many_calls_wait_a_look_is_answered_at_once() {
    let mut client = Client::mock(&[]);
    // More than may run at a time, and more than may wait at a time: the last of them queue.
    for waits in [40, 300] {
        for _ in 0..waits {
            let never =
                json!({"any_of": [{"type": "window_appears", "title_regex": "never"}], "timeout_ms": 60_000});
            client.post("tools/call", json!({"name": "wait_for", "arguments": never}));
        }
        for method in ["tools/call", "ping"] {
            let look = client.post(method, json!({"name": "list_windows", "arguments": {}}));
            // No wait is over before the look.
            let first = client.receive();
            assert_eq!(first["id"], look, "{first}");
        }
    }
}

/// H-30 on stdio: a number that JSON cannot hold.
#[test]
fn numbers_too_large_for_json_do_not_break_the_stream() {
    let mut client = Client::mock(&[]);
    client.send_raw(
        "{\"jsonrpc\":\"2.0\",\"id\":77,\"method\":\"tools/call\",\"params\":{\"name\":\"click_at\",\
         \"arguments\":{\"x\":1e400,\"y\":1}}}\n",
    );
    let answer = client.receive();
    assert!(answer["error"].is_object() || answer["result"]["isError"] == true, "{answer}");
    assert_eq!(client.data("list_windows", json!({}))["count"], 3);
}

/// H-26 on stdio: what is no message costs one line.
#[test]
fn garbage_is_refused_and_the_next_line_is_served() {
    let mut client = Client::mock(&[]);
    client.send_raw("{not json\n");
    assert_eq!(client.receive()["error"]["code"], -32700);
    client.send_raw("[1,2]\n");
    assert_eq!(client.receive()["error"]["code"], -32600);
    client.send_raw("\n\r\n");
    assert_eq!(client.data("list_windows", json!({}))["count"], 3);
}

/// H-29 on stdio: what is too deep is not read.
#[test]
fn deep_nesting_is_refused_without_a_crash() {
    let mut client = Client::mock(&[]);
    let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
    client.send_raw(&format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"tools/call\",\"params\":{{\"name\":\"click_at\",\
         \"arguments\":{{\"x\":{deep}}}}}}}\n"
    ));
    assert_eq!(client.receive()["error"]["code"], -32700);
    assert_eq!(client.data("list_windows", json!({}))["count"], 3);
}

/// H-28 on stdio: a long line is dropped with an error.
#[test]
fn a_line_over_the_limit_is_refused_and_not_kept() {
    let mut client = Client::mock(&[]);
    let megabyte = "x".repeat(1 << 20);
    for _ in 0..32 {
        client.send_raw(&megabyte);
    }
    client.send_raw("\n");
    assert_eq!(client.receive()["error"]["code"], -32600);
    assert_eq!(client.data("list_windows", json!({}))["count"], 3);
    #[cfg(target_os = "linux")]
    assert!(own_kilobytes(client.process_id()) < 24 << 10, "the line was buffered");
}

/// What the process holds beside its program, which in a debug build is large.
#[cfg(target_os = "linux")]
fn own_kilobytes(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("RssAnon:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// H-38 on stdio: each is answered once.
#[test]
fn two_hundred_calls_at_once_are_all_answered() {
    let mut client = Client::mock(&[]);
    let mut waiting: std::collections::BTreeSet<u64> = (0..200)
        .map(|_| {
            client
                .post("tools/call", json!({"name": "get_window_structure", "arguments": {"window_index": 0}}))
        })
        .collect();
    while !waiting.is_empty() {
        let answer = client.receive();
        assert_eq!(answer["result"]["isError"], false);
        assert!(waiting.remove(&answer["id"].as_u64().unwrap()), "answered twice: {}", answer["id"]);
    }
}

#[test]
fn a_slow_call_holds_up_nobody() {
    let (mut client, _folder) = slow_client();
    client.post("tools/call", json!({"name": "get_window_structure", "arguments": {}}));
    let began = Instant::now();
    assert_eq!(client.data("list_windows", json!({}))["count"], 1);
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
}

/// H-33 on stdio: a look that is cancelled, and an id that is unknown.
#[test]
fn a_cancelled_call_stops_and_is_not_answered() {
    let (mut client, _folder) = slow_client();
    let id = client.post("tools/call", json!({"name": "get_window_structure", "arguments": {}}));
    std::thread::sleep(Duration::from_millis(200));
    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}}));
    client
        .send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 999}}));
    assert_eq!(client.data("list_windows", json!({}))["count"], 1);
    let late = client.receive_within(Duration::from_millis(500));
    assert!(late.is_none(), "a cancelled call was answered: {late:?}");
    // The thread is free again: the end does not wait for the twenty seconds.
    client.close_input();
    let (status, _) = client.wait(Duration::from_secs(12)).expect("the cancelled work went on");
    assert!(status.success());
}

#[test]
fn a_client_that_asks_hears_of_progress() {
    let (mut client, _folder) = slow_client();
    client.post(
        "tools/call",
        json!({"name": "get_window_structure", "arguments": {}, "_meta": {"progressToken": "p1"}}),
    );
    let first = client.receive_within(Duration::from_secs(10)).expect("no progress came");
    assert_eq!(first["method"], "notifications/progress");
    assert_eq!(first["params"]["progressToken"], "p1");
}

#[test]
fn the_end_of_input_ends_the_process_at_once() {
    let mut client = Client::mock(&[]);
    client.data("list_windows", json!({}));
    client.close_input();
    let (status, took) = client.wait(Duration::from_secs(5)).expect("the process did not end");
    assert!(status.success());
    assert!(took < Duration::from_secs(4), "{took:?}");
}

/// H-35 on stdio: the end of input during a call.
#[test]
fn the_end_of_input_does_not_wait_for_a_running_call() {
    let (mut client, _folder) = slow_client();
    client.post("tools/call", json!({"name": "get_window_structure", "arguments": {}}));
    std::thread::sleep(Duration::from_millis(200));
    client.close_input();
    let (status, took) = client.wait(Duration::from_secs(10)).expect("the process did not end");
    assert!(status.success());
    assert!(took < Duration::from_secs(4), "{took:?}");
}

#[test]
fn input_that_ends_before_a_word_is_no_error() {
    let mut client = start();
    client.close_input();
    let (status, _) = client.wait(Duration::from_secs(5)).expect("the process did not end");
    assert!(status.success());
}

#[cfg(unix)]
#[test]
fn a_termination_signal_ends_the_process() {
    let mut client = Client::mock(&[]);
    client.data("list_windows", json!({}));
    let killed = std::process::Command::new("kill").arg(client.process_id().to_string()).status().unwrap();
    assert!(killed.success());
    let (status, _) = client.wait(Duration::from_secs(5)).expect("the process did not end");
    assert!(status.success(), "{status}");
}

/// H-39 on stdio: logs go elsewhere.
#[test]
fn stdout_stays_pure_while_everything_is_logged() {
    let mut client = Client::start_with(&["--mode", "mcp", "--mock"], &[("RUST_LOG", "trace")]);
    client.initialize("2025-11-25");
    for _ in 0..3 {
        // Every line that comes is checked to be JSON-RPC.
        client.data("list_windows", json!({}));
        client.call("click_at", json!({"x": "bad"}));
    }
    let errors = client.errors.lock().unwrap().clone();
    assert!(errors.contains("INFO") && errors.contains("screen_observer"), "{errors:.300}");
}

/// H-30 on stdio: the audit log knows who calls.
#[test]
fn the_caller_cannot_speak_for_the_server() {
    let folder = tempfile::tempdir().unwrap();
    let audit = folder.path().join("audit.log");
    let config = folder.path().join("config.json");
    let text = json!({"logging": {"audit": true, "audit_path": audit}});
    std::fs::write(&config, text.to_string()).unwrap();
    let mut client = Client::mock(&["--config", config.to_str().unwrap()]);
    client.data("list_windows", json!({"_caller": "root"}));
    let line = std::fs::read_to_string(&audit).unwrap();
    assert!(line.contains("caller=mcp") && !line.contains("root"), "{line}");
}

#[test]
fn a_bad_scenario_is_an_exit_status_of_one() {
    let mut client = Client::start(&["--mode", "mcp", "--mock", "--scenario", "Cargo.toml"]);
    let (status, _) = client.wait(Duration::from_secs(5)).expect("the process did not end");
    assert_eq!(status.code(), Some(1));
    let errors = client.last_words();
    assert!(errors.contains("Cargo.toml"), "{errors}");
}

#[test]
fn without_a_desktop_the_server_lives_and_says_so() {
    let mut client = Client::start(&["--mode", "mcp"]);
    client.initialize("2025-11-25");
    let result = client.call("list_windows", json!({}));
    if result["isError"] == true {
        let error: Value = serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
        assert_eq!(error["error"]["code"], "PlatformUnsupported");
        assert_eq!(error["error"]["suggested_next_tool"], "get_capabilities");
        assert!(client.data("get_capabilities", json!({}))["unavailable"].is_string());
    }
}
