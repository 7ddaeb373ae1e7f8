//! The MCP pipe: broken lines, deep lines, many lines, no more lines.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use os_screen_observer::clock::Clock;
use os_screen_observer::config::limits;
use os_screen_observer::platform::Done;
use os_screen_observer::tool::args::CLAMPED;
use serde_json::{Value, json};

#[cfg(feature = "http")]
use crate::everywhere::{ACCEPT, Everywhere, modern, told, trace_of};
use crate::everywhere::{Callable, Odd, Pipe, by_act, by_gate, by_replay, callables, odd_app};
#[cfg(feature = "http")]
use crate::support::http::{JSON, Site, until};
use crate::support::{Client, World};

const PING: &str = r#"{"jsonrpc":"2.0","id":"p","method":"ping"}"#;
const PARSE: i64 = -32700;
const INVALID: i64 = -32600;
/// For what is much work on a busy machine.
const PATIENT: Duration = Duration::from_secs(120);

/// What the process holds beside its program.
#[cfg(target_os = "linux")]
fn own_kilobytes(process: u32) -> u64 {
    kilobytes(process, "RssAnon:")
}

/// The most that the process ever held, whoever looked when; its program counts too.
#[cfg(target_os = "linux")]
fn most_kilobytes(process: u32) -> u64 {
    kilobytes(process, "VmHWM:")
}

#[cfg(target_os = "linux")]
fn kilobytes(process: u32, what: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with(what)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

// ── lines that are no messages ─────────────────────────────────────────────────────────────────────

/// One line, the code that it is refused with, and a good line after it, which is served.
#[track_caller]
fn check_line(client: &mut Client, line: impl AsRef<[u8]>, code: i64) {
    let line = line.as_ref();
    let shown = String::from_utf8_lossy(&line[..line.len().min(80)]).into_owned();
    client.send_bytes(line);
    client.send_bytes(b"\n");
    let answer = client.receive();
    assert_eq!(answer["error"]["code"], code, "{shown}: {answer}");
    assert_eq!(client.data("list_windows", json!({}))["count"], 3, "{shown}");
}

/// H-26 on stdio: whatever is no JSON is refused, and the line behind it is served.
#[test]
fn what_is_no_json_is_refused_and_the_next_line_is_served() {
    let mut client = Client::mock(&[]);
    let mut check = |line: &[u8]| check_line(&mut client, line, PARSE);
    check(b"{not json");
    check(b"\0");
    check(b"{\"jsonrpc\":\"2.0\"\0,\"id\":1,\"method\":\"ping\"}");
    check(b"\xff\xfe\x00");
    check(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"pi\xc3\x28ng\"}");
    check(b"\xef\xbb\xbf{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}");
    check(br#"{"jsonrpc":"2.0","id":1,"method":"ping\ud800"}"#);
    check(br#"{"jsonrpc":"2.0","id":1,"method":"ping"}{"jsonrpc":"2.0","id":2,"method":"ping"}"#);
    check(br#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":NaN}}"#);
    check(br#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":Infinity}}"#);
    check(br#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":-Infinity}}"#);
    check(br#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":1e400}}"#);
    check(br#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":01}}"#);
    check(br#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":'1'}}"#);
    check(b"Content-Length: 52");
    check(b"GET / HTTP/1.1");
    check(b"\x1b[2J\x1b]0;title\x07");
}

/// H-26 on stdio: JSON that is no message of the protocol, batches among it, is refused.
#[test]
fn json_that_is_no_message_is_refused_and_the_next_line_is_served() {
    let mut client = Client::mock(&[]);
    let batch = format!("[{PING},{PING}]");
    for line in [
        "[]",
        "5",
        "null",
        "true",
        "\"ping\"",
        "{}",
        &batch,
        r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#,
        r#"{"id":1,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":1}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":5}"#,
        r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"tools/call","params":{"name":"list_windows"}}"#,
    ] {
        check_line(&mut client, line, INVALID);
    }
}

/// H-26 on stdio: how a line ends, begins or arrives makes no difference.
#[test]
fn a_line_is_read_however_it_arrives() {
    let mut client = Client::mock(&[]);
    for line in [format!("{PING}\r\n"), format!("  \t{PING}  \n"), format!("\n\r\n \n{PING}\n")] {
        client.send_raw(&line);
        assert_eq!(client.receive()["id"], "p", "{line:?}");
    }
    for byte in format!("{PING}\n").bytes() {
        client.send_bytes(&[byte]);
    }
    assert_eq!(client.receive()["id"], "p");
    client.send_raw(&format!("{PING}\n").repeat(1));
    client.send_raw(&(0..50).map(|id| PING.replace("\"p\"", &id.to_string()) + "\n").collect::<String>());
    assert_eq!(client.receive()["id"], "p");
    let mut ids: Vec<u64> = (0..50).map(|_| client.receive()["id"].as_u64().unwrap()).collect();
    ids.sort_unstable();
    assert_eq!(ids, (0..50).collect::<Vec<_>>());
}

/// H-26 on stdio: an id may be of any kind that the protocol knows; another gets an error or silence, never a crash.
#[test]
fn odd_ids_get_their_answer_an_error_or_nothing() {
    let mut client = Client::mock(&[]);
    let long = format!("\"{}\"", "i".repeat(1 << 20));
    for (id, answered) in [
        ("\"\"", true),
        ("0", true),
        ("-1", true),
        ("9007199254740993", true),
        ("9223372036854775807", true),
        ("\"\\u0000\\u001b[2J\"", true),
        (long.as_str(), true),
        ("null", false),
        ("1.5", false),
        ("1e30", false),
        ("18446744073709551616", false),
        ("true", false),
        ("[1]", false),
        ("{\"a\":1}", false),
    ] {
        client.send_raw(&format!("{}\n", PING.replace("\"p\"", id)));
        // Whatever it says to that, it says before it answers the next one.
        let next = client.post("ping", json!({}));
        let mut said = Vec::new();
        loop {
            let message = client.receive();
            if message["id"] == next {
                break;
            }
            said.push(message);
        }
        let shown = &id[..id.len().min(40)];
        assert!(said.len() <= 1, "{shown}: {said:?}");
        let sent: Option<Value> = serde_json::from_str(id).ok();
        let is_answer = said.first().is_some_and(|message| message.get("result").is_some());
        assert_eq!(is_answer, answered, "{shown}: {said:.200?}");
        if answered {
            assert_eq!(said.first().map(|message| message["id"].clone()), sent, "{shown}");
        }
    }
}

/// H-26 on REST, /mcp: a body that is no JSON, or no object, is the caller's mistake, and the next request is served.
#[cfg(feature = "http")]
#[test]
fn bodies_that_are_no_message_are_refused() {
    let site = Site::new();
    let whole = r#"{"x":1,"y":1}"#;
    for body in [
        "{not json",
        "\0",
        "[]",
        "5",
        "null",
        "\u{feff}{}",
        r#"{"x":"\ud800"}"#,
        r#"{"x":1e400,"y":1}"#,
        r#"{"x":NaN,"y":1}"#,
    ] {
        for path in ["/api/tool/click_at", "/api/action"] {
            let answer = site.ask("POST", path, &[JSON], body);
            assert_eq!(answer.status, 400, "{path} {body:?}: {answer:?}");
        }
        let answer = site.ask("POST", "/mcp", &[JSON, ACCEPT], body);
        assert_eq!(answer.status, 400, "{body:?}: {answer:?}");
        assert!(answer.json()["error"]["code"].as_i64().is_some_and(|code| [PARSE, INVALID].contains(&code)));
    }
    let batch = format!("[{PING},{PING}]");
    assert_eq!(site.ask("POST", "/mcp", &[JSON, ACCEPT], &batch).status, 400);
    assert_eq!(site.mock.action_count(), 0);
    assert_eq!(site.ask("POST", "/api/tool/click_at", &[JSON], whole).status, 200);
    assert_eq!(site.mock.action_count(), 1);
}

// ── long lines ─────────────────────────────────────────────────────────────────────────────────────

/// A ping in a line of so many bytes, its end among them.
fn ping_of(bytes: usize) -> String {
    format!("{PING}{}\n", " ".repeat(bytes - PING.len() - 1))
}

/// H-28 on stdio: the longest line that is allowed is served, one byte more is refused.
#[test]
fn the_limit_of_a_line_is_exact() {
    let mut client = Client::mock(&[]);
    client.send_raw(&ping_of(limits::MCP_LINE_BYTES));
    assert_eq!(client.receive()["id"], "p");
    client.send_raw(&ping_of(limits::MCP_LINE_BYTES + 1));
    assert_eq!(client.receive()["error"]["code"], INVALID);
    client.send_raw(&ping_of(limits::MCP_LINE_BYTES));
    assert_eq!(client.receive()["id"], "p");
}

/// H-28 on stdio: a hundred megabytes in small pieces are refused once and kept never.
#[cfg(target_os = "linux")]
#[test]
fn a_line_without_an_end_is_not_kept() {
    let mut client = Client::mock(&[]);
    client.data("list_windows", json!({}));
    let idle = most_kilobytes(client.process_id());
    let piece = "x".repeat(16 << 10);
    (0..6_400).for_each(|_| client.send_raw(&piece));
    client.send_raw("\n");
    assert_eq!(client.receive()["error"]["code"], INVALID);
    let most = most_kilobytes(client.process_id());
    assert!(most < idle + (64 << 10), "{idle} kB grew to {most} kB");
    assert_eq!(client.data("list_windows", json!({}))["count"], 3);
    assert!(client.receive_within(Duration::from_millis(50)).is_none(), "one line was refused twice");
}

/// H-28 on stdio: long lines that are just allowed, of parts that are large once they are read, do not add up.
#[cfg(target_os = "linux")]
#[test]
fn many_long_lines_do_not_add_up() {
    let mut client = Client::mock(&[]);
    client.data("list_windows", json!({}));
    let parts = "[],".repeat(limits::MCP_LINE_BYTES / 3 - 200);
    let call = |id: u64| {
        format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/call\",\"params\":{{\"name\":\"click_at\",\
             \"arguments\":{{\"x\":[{parts}1]}}}}}}\n"
        )
    };
    (1000..1012).for_each(|id| client.send_raw(&call(id)));
    for _ in 0..12 {
        let answer = client.receive_within(PATIENT).unwrap();
        assert_eq!(answer["result"]["isError"], true, "{answer:.200}");
    }
    // Each is some eighty megabytes once it is read, twelve of them 960; a few are read at a time.
    let most = most_kilobytes(client.process_id());
    assert!(most < 850 << 10, "{most} kB");
    assert_eq!(client.data("list_windows", json!({}))["count"], 3);
}

/// H-28, H-38 on stdio: who asks without end and reads nothing makes the server wait, not grow.
#[cfg(target_os = "linux")]
#[test]
fn a_client_that_does_not_read_is_not_buffered_for() {
    use std::io::{BufRead, BufReader, Write};
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_os-screen-observer"))
        .args(["--mode", "mcp", "--mock", "--log", "error"])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let greeting = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}});
    writeln!(input, "{greeting}").unwrap();
    // It serves, so whatever stands still from here on is not its start.
    let mut greeted = String::new();
    output.read_line(&mut greeted).unwrap();
    assert!(greeted.contains("protocolVersion"), "{greeted}");
    let sent = Arc::new(AtomicUsize::new(0));
    let counted = sent.clone();
    let flood = std::thread::spawn(move || {
        writeln!(input, "{}", json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))?;
        for id in 1..20_000 {
            let arguments = json!({"name": "get_window_structure", "arguments": {"window_index": 0}});
            writeln!(
                input,
                "{}",
                json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": arguments})
            )?;
            counted.fetch_add(1, Ordering::SeqCst);
        }
        std::io::Result::Ok(())
    });
    // It stands still once the bounds are met: neither does it read on, nor does it grow.
    let mut before = 0;
    let began = Instant::now();
    loop {
        std::thread::sleep(Duration::from_millis(1500));
        let now = sent.load(Ordering::SeqCst);
        // The pipe alone holds some four hundred; the server has taken more than those.
        if now == before && now > limits::MCP_UNANSWERED_REQUESTS {
            break;
        }
        before = now;
        assert!(began.elapsed() < Duration::from_secs(90), "{now} requests were taken without an end");
    }
    let (taken, kilobytes) = (sent.load(Ordering::SeqCst), own_kilobytes(child.id()));
    child.kill().unwrap();
    child.wait().unwrap();
    drop(output);
    let _ = flood.join().unwrap();
    assert!(taken < 10_000, "{taken}");
    assert!(kilobytes < 64 << 10, "{kilobytes} kB");
}

/// H-38 on stdio: a second request of an id that is not answered yet is refused, and the first is answered.
#[test]
fn an_id_that_is_in_use_is_refused() {
    let world = World::new();
    let mut pipe = Pipe::of(Arc::new(world.app));
    let wait = json!({"name": "wait_for", "arguments": {"any_of": [{"type": "window_appears", "title_regex": "never"}], "timeout_ms": 0}});
    let slow = json!({"name": "wait_for", "arguments": {"any_of": [{"type": "window_appears", "title_regex": "never"}]}});
    let send = |pipe: &mut Pipe, params: &Value| {
        pipe.send(format!(
            "{}\n",
            json!({"jsonrpc": "2.0", "id": "same", "method": "tools/call", "params": params})
        ));
    };
    // Both are in the pipe before the first is answered.
    let both = [&slow, &wait].map(|params| {
        format!("{}\n", json!({"jsonrpc": "2.0", "id": "same", "method": "tools/call", "params": params}))
    });
    pipe.send(both.concat());
    let (first, second) = (pipe.receive(), pipe.receive());
    let (refusal, answer) = if first.get("error").is_some() { (first, second) } else { (second, first) };
    assert_eq!(refusal["error"]["code"], INVALID, "{refusal}");
    assert_eq!(refusal["id"], Value::Null, "{refusal}");
    assert_eq!(answer["id"], "same");
    assert_eq!(told_code(&answer), "Timeout");
    // Once it is answered, the id is free again.
    send(&mut pipe, &wait);
    assert_eq!(told_code(&pipe.receive()), "Timeout");
}

fn told_code(answer: &Value) -> String {
    crate::everywhere::told(answer)["error"]["code"].as_str().unwrap_or_default().to_owned()
}

/// H-28 on stdio: a line that the end of the input cuts off is not carried out, even if it is whole by chance.
#[test]
fn a_line_without_its_end_is_not_carried_out() {
    let world = World::new();
    let mock = world.mock.clone();
    let mut pipe = Pipe::of(Arc::new(world.app));
    let click = json!({"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": {"name": "click_at", "arguments": {"x": 1, "y": 1}}});
    pipe.send(click.to_string());
    pipe.close_input();
    assert!(pipe.receive_within(Duration::from_secs(5)).is_none());
    assert_eq!(mock.action_count(), 0);
}

// ── deep lines ─────────────────────────────────────────────────────────────────────────────────────

fn deep(open: &str, close: &str, levels: usize) -> String {
    format!("{}1{}", open.repeat(levels), close.repeat(levels))
}

const DEEP: [(&str, &str); 2] = [("[", "]"), ("{\"a\":", "}")];

/// H-29 on REST, /mcp, clickthrough: what is too deep is refused by whoever reads it, in a body and in a query.
#[cfg(feature = "http")]
#[test]
fn deep_bodies_are_refused() {
    let site = Site::new();
    let other = Site::clickthrough(json!({}));
    for (open, close) in DEEP {
        let nested = deep(open, close, 10_000);
        for path in ["/api/tool/click_at", "/api/action", "/api/act"] {
            let body = format!("{{\"x\":{nested},\"steps\":{nested}}}");
            assert_eq!(site.ask("POST", path, &[JSON], &body).status, 400, "{path}");
        }
        let message =
            format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{nested}}}");
        assert_eq!(site.ask("POST", "/mcp", &[JSON, ACCEPT], &message).status, 400);
        let queried = deep("[", "]", 2_000);
        assert_eq!(site.get(&format!("/api/structure?roles={queried}")).status, 400);
        for path in ["/interact", "/batch", "/wait"] {
            let answer = other.ask("POST", path, &[JSON], &format!("{{\"action\":{nested}}}"));
            assert!((400..500).contains(&answer.status), "{path}: {answer:?}");
        }
    }
    assert_eq!((site.mock.action_count(), other.mock.action_count()), (0, 0));
    assert_eq!(site.get("/api/windows").status, 200);
    assert_eq!(other.get("/health").status, 200);
}

/// H-29 on stdio, REST, /mcp, act, replay: what is as deep as a reader allows is refused by the tool, without an overflow.
#[cfg(feature = "http")]
#[test]
fn what_is_just_not_too_deep_is_refused_by_the_tool() {
    let mut all = Everywhere::new();
    let nested: Value = serde_json::from_str(&deep("{\"predicate\":", "}", 110)).unwrap();
    for (tool, args) in [
        ("click_at", json!({"x": nested, "y": 1})),
        ("type_text", json!({"text": nested})),
        ("wait_for", json!({"any_of": [nested]})),
        ("wait_for", json!({"any_of": [{"type": "predicate", "predicate": nested}]})),
        ("set_value", json!({"selector": "//Edit", "value": nested})),
    ] {
        for (surface, reply) in all.all(tool, &args) {
            let text = reply.to_string();
            assert!(
                text.contains("BadRequest") || text.contains("Protocol"),
                "{surface} {tool}: {text:.300}"
            );
        }
    }
    assert_eq!(all.effects(), 0);
}

/// H-29 on replay: a trace whose line is too deep is not loaded.
#[cfg(feature = "http")]
#[test]
fn a_trace_that_is_too_deep_is_not_loaded() {
    let all = Everywhere::new();
    let path = trace_of(&all.site.app, "click_at", &json!({"x": "HERE"}));
    let text = std::fs::read_to_string(&path).unwrap().replace("\"HERE\"", &deep("[", "]", 10_000));
    std::fs::write(&path, text).unwrap();
    let opened = by_gate(&all.site.app, "replay_start", json!({"path": path}));
    assert_eq!(opened["error"]["code"], "BadRequest", "{opened:.300}");
    assert_eq!(all.effects(), 0);
}

// ── calls that are none ────────────────────────────────────────────────────────────────────────────

/// What an argument of this schema must not be.
fn wrong_values(property: &Value) -> Vec<Value> {
    // Amounts are brought within their bounds.
    let is_amount = property.get(CLAMPED).is_some();
    let mut wrong = match property["type"].as_str() {
        Some("integer") if is_amount => vec![json!("1"), json!(true), json!([1]), json!({"a": 1})],
        Some("integer") => {
            let wrong = ["1".into(), true.into(), json!([1]), json!({"a": 1}), json!(1e300)];
            wrong.into_iter().chain([json!(u64::MAX), json!(i64::MIN)]).collect()
        }
        Some("number") => vec![json!("0.5"), json!(true), json!([0.5]), json!({})],
        Some("boolean") => vec![json!("true"), json!(1), json!(0), json!([]), json!({})],
        Some("string") => vec![json!(5), json!(true), json!(["a"]), json!({"no": "text"})],
        Some("array") => vec![json!("a,b"), json!(5), json!({"0": 1})],
        Some("object") => vec![json!("{}"), json!(5), json!([]), json!(true)],
        _ => vec![],
    };
    if !is_amount {
        let bound = |key: &str| property[key].as_i64();
        wrong.extend(bound("maximum").and_then(|most| most.checked_add(1)).map(Value::from));
        wrong.extend(bound("minimum").and_then(|least| least.checked_sub(1)).map(Value::from));
    }
    if let Some(most) = property["maxLength"].as_u64() {
        wrong.push(json!("x".repeat(most as usize + 1)));
    }
    if property["enum"].is_array() {
        wrong.push(json!("no such choice"));
    }
    wrong
}

/// A call that must be refused for one argument, and must have done nothing.
#[track_caller]
fn check_refusal(callable: &Callable, path: &str, wrong: &Value, reply: &Value) {
    let shown = format!("{} with {path} = {:.60}", callable.name, wrong.to_string());
    assert_eq!(reply["error"]["code"], "BadRequest", "{shown}: {reply:.300}");
    let field = reply["error"]["context"]["field"].as_str().unwrap_or_default();
    let (outer, _) = path.split_once('.').unwrap_or((path, ""));
    assert!(
        field == path || field == outer || field.starts_with(&format!("{outer}[")),
        "{shown}: the field is '{field}'"
    );
}

/// H-30, H-50 on code: every argument of every tool, with everything that it must not be.
#[test]
fn every_argument_of_every_tool_is_held_to_its_schema() {
    let mut tried = 0;
    for callable in callables() {
        let world = World::build(callable.scenario, json!({}));
        for (path, property) in
            callable.arguments().into_iter().filter(|(_, it)| it.get("x-ignorable").is_none())
        {
            for wrong in wrong_values(&property) {
                let reply = world.call(callable.name, callable.with(&path, wrong.clone()));
                check_refusal(&callable, &path, &wrong, &reply);
                tried += 1;
            }
        }
        for name in callable.schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            for absent in [false, true] {
                let mut args = callable.example.clone();
                if absent {
                    args.remove(name);
                } else {
                    args.insert(name.to_owned(), Value::Null);
                }
                let reply = world.call(callable.name, args.into());
                check_refusal(&callable, name, &Value::Null, &reply);
            }
        }
        let mut args = callable.example.clone();
        args.insert("no_such_argument".to_owned(), json!(1));
        if callable.acts {
            let reply = world.call(callable.name, args.into());
            check_refusal(&callable, "no_such_argument", &json!(1), &reply);
        }
        assert_eq!(world.effects(), 0, "{} did something", callable.name);
    }
    assert!(tried > 1_000, "{tried}");
}

/// H-30, H-50 on stdio, REST, /mcp, act, replay: a wrong value for every argument of every tool that acts.
#[cfg(feature = "http")]
#[test]
fn every_surface_holds_what_acts_to_its_schema() {
    for callable in callables().into_iter().filter(|callable| callable.acts) {
        let mut all = Everywhere::on(callable.scenario);
        for (number, (path, property)) in callable.arguments().into_iter().enumerate() {
            let wrong = wrong_values(&property);
            let Some(value) = wrong.get(number % wrong.len().max(1)) else { continue };
            let args = callable.with(&path, value.clone());
            for (surface, reply) in all.all(callable.name, &args) {
                let text = reply.to_string();
                let shown = format!("{surface} {} {path} = {:.60}", callable.name, value.to_string());
                assert!(text.contains("BadRequest"), "{shown}: {text:.300}");
                assert_eq!(all.effects(), 0, "{shown} did something");
            }
        }
    }
}

/// H-30, H-50 on stdio, REST, /mcp: numbers that JSON cannot hold, for every number of every tool that acts.
#[cfg(feature = "http")]
#[test]
fn numbers_beyond_json_do_nothing_on_any_surface() {
    let mut all = Everywhere::new();
    let mut tried = 0;
    for callable in callables().into_iter().filter(|callable| callable.acts) {
        for (path, property) in callable.arguments() {
            if !matches!(property["type"].as_str(), Some("integer" | "number")) {
                continue;
            }
            let args = callable.with(&path, json!("HERE")).to_string();
            let number = ["1e400", "-1e400", "NaN", "Infinity", "-Infinity", "0x10", "1_000"][tried % 7];
            let args = args.replace("\"HERE\"", number);
            tried += 1;
            let name = callable.name;
            all.pipe.send(format!(
                "{{\"jsonrpc\":\"2.0\",\"id\":\"n\",\"method\":\"tools/call\",\"params\":{{\"name\":\"{name}\",\"arguments\":{args}}}}}\n"
            ));
            assert_eq!(all.pipe.receive()["error"]["code"], PARSE, "{name} {path} {number}");
            let rest = all.site.ask("POST", &format!("/api/tool/{name}"), &[JSON], &args);
            assert_eq!(rest.status, 400, "{name} {path} {number}");
            let message = format!(
                "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{{\"name\":\"{name}\",\"arguments\":{args}}}}}"
            );
            let mcp = all.site.ask("POST", "/mcp", &[JSON, ACCEPT], &message);
            assert_eq!(mcp.status, 400, "{name} {path} {number}");
        }
    }
    assert!(tried > 50, "{tried}");
    assert_eq!(all.effects(), 0);
}

/// H-30 on stdio, REST, /mcp, act, replay: a tool that does not exist, however it is spelled.
#[cfg(feature = "http")]
#[test]
fn a_tool_that_does_not_exist_is_a_bad_request() {
    let mut all = Everywhere::new();
    let long = "x".repeat(5_000);
    for name in ["no_such_tool", "CLICK_AT", "click_at ", "click-at", "__proto__", "..", long.as_str()] {
        let args = json!({"x": 1, "y": 1});
        let said = told(&{
            let id = all.pipe.post("tools/call", json!({"name": name, "arguments": args}));
            all.pipe.answer(id)
        });
        assert_eq!(said["error"]["code"], "BadRequest", "{name:.40}: {said:.200}");
        let stepped = by_act(&all.site.app, name, &args);
        assert_eq!(stepped["error"]["code"], "BadRequest", "{name:.40}: {stepped:.200}");
        let replayed = by_replay(&all.site.app, name, &args).to_string();
        assert!(replayed.contains("BadRequest"), "{name:.40}: {replayed:.300}");
    }
    for name in ["no_such_tool", "CLICK_AT", "click_at%20", "__proto__", "%2e%2e", "a%2fb", "%00"] {
        let answer = all.site.post(&format!("/api/tool/{name}"), json!({"x": 1, "y": 1}));
        assert!([400, 404].contains(&answer.status), "{name}: {answer:?}");
    }
    let called = modern(&all.site, "tools/call", json!({"name": "no_such_tool", "arguments": {}}));
    assert!(called["error"].is_object() || called["result"]["isError"] == true, "{called}");
    assert_eq!(all.effects(), 0);
}

/// H-30 on stdio, REST, /mcp, act, replay: who a call comes from is said by its surface, whatever the call says.
#[cfg(feature = "http")]
#[test]
fn no_caller_names_itself_on_any_surface() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("audit.log");
    let mut all = Everywhere::with(json!({"logging": {"audit": true, "audit_path": log}}));
    let args = json!({"x": 1, "y": 1, "_caller": "root", "_origin": "root", "__proto__": {"caller": "root"}});
    for (surface, reply) in all.all("click_at", &args) {
        assert_ne!(reply["ok"], false, "{surface}: {reply}");
    }
    assert_eq!(all.effects(), 5);
    let written = std::fs::read_to_string(&log).unwrap();
    assert!(!written.contains("root"), "{written}");
    let clicks: Vec<&str> = written.lines().filter(|line| line.contains("tool=click_at")).collect();
    assert_eq!(clicks.len(), 5, "{written}");
    for caller in ["caller=mcp", "caller=rest"] {
        assert!(clicks.iter().any(|line| line.contains(caller)), "{caller}: {clicks:?}");
    }
}

/// What the tool itself bounds: its own test is in bombs.rs.
const BOUNDED_BY_THE_TOOL: &[(&str, &str)] =
    &[("drag", "duration_s"), ("vision_diff", "threshold"), ("vision_stability", "threshold")];

/// H-30 on code: what the schemas let in is bounded: every text has a greatest length and every number its bounds.
#[test]
fn every_argument_has_its_bounds() {
    let mut unbounded = Vec::new();
    for callable in callables() {
        for (path, property) in callable.arguments() {
            let bounded = match property["type"].as_str() {
                Some("integer" | "number") => {
                    property["minimum"].is_number() && property["maximum"].is_number()
                }
                Some("string") => property["enum"].is_array() || property["maxLength"].is_u64(),
                _ => true,
            };
            if !bounded && !BOUNDED_BY_THE_TOOL.contains(&(callable.name, path.as_str())) {
                unbounded.push((callable.name, path));
            }
        }
    }
    assert!(unbounded.is_empty(), "{unbounded:?}");
}

// ── before the greeting, and in which words ────────────────────────────────────────────────────────

/// H-31 on stdio: what comes without a greeting is answered as a request of the newer era, once, and the server lives on.
#[test]
fn requests_without_a_greeting_are_answered() {
    for (method, params) in [("no/such", json!({})), ("tools/call", json!({"name": "no_such_tool"}))] {
        let world = World::new();
        let mock = world.mock.clone();
        let mut pipe = Pipe::raw(Arc::new(world.app));
        let id = pipe.post(method, params);
        let answer = pipe.answer(id);
        let refused = answer["error"]["code"].is_i64() || answer["result"]["isError"] == true;
        assert!(refused, "{method}: {answer}");
        assert_eq!(mock.action_count(), 0, "{method}");
    }
    let mut client = Client::start(&["--mode", "mcp", "--mock", "--max-actions", "5"]);
    client.request("tools/call", json!({"name": "click_at", "arguments": {"x": 1, "y": 1}}));
    assert!(client.alive());
    assert_eq!(client.data("get_budget_status", json!({}))["actions"]["used"], 1);
}

/// H-32 on stdio, /mcp: a version that is unknown is told which ones are not, in the newer era too.
#[cfg(feature = "http")]
#[test]
fn an_unknown_version_of_the_newer_era_is_told_the_known_ones() {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "9999-99-99",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
    });
    let params = json!({"name": "click_at", "arguments": {"x": 1, "y": 1}, "_meta": meta});
    let world = World::new();
    let mock = world.mock.clone();
    let mut pipe = Pipe::raw(Arc::new(world.app));
    let id = pipe.post("tools/call", params.clone());
    let answer = pipe.answer(id);
    assert!(answer["error"].to_string().contains("2026-07-28"), "{answer}");
    assert_eq!(mock.action_count(), 0);
    let site = Site::new();
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).to_string();
    let headers = [
        JSON,
        ACCEPT,
        ("mcp-protocol-version", "9999-99-99"),
        ("mcp-method", "tools/call"),
        ("mcp-name", "click_at"),
    ];
    let answer = site.ask("POST", "/mcp", &headers, &body);
    assert!(answer.status == 400 && answer.body.contains("2026-07-28"), "{answer:?}");
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}});
        let answer = site.ask("POST", "/mcp", &[JSON, ACCEPT], &hello.to_string());
        assert_eq!(answer.json()["result"]["protocolVersion"], version, "{answer:?}");
    }
    assert_eq!(site.mock.action_count(), 0);
}

// ── cancelling, and the end ────────────────────────────────────────────────────────────────────────

/// A wait of a minute, for what never comes.
fn never() -> Value {
    json!({"any_of": [{"type": "window_appears", "title_regex": "NEVER"}], "timeout_ms": 60_000})
}

/// Much for a busy machine, and far less than the minute after which a wait is over by itself.
const CANCELLED: Duration = Duration::from_secs(25);

/// H-33 on stdio: cancelling what is unknown, over, or no id at all is passed over in silence.
#[test]
fn what_cannot_be_cancelled_is_passed_over() {
    let mut client = Client::mock(&[]);
    let over = client.post("ping", json!({}));
    client.answer(over);
    for id in [json!(over), json!(999_999), json!("no"), json!(null), json!(1.5), json!([1]), json!({})] {
        client.send(
            &json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}}),
        );
    }
    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled"}));
    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {}}));
    let next = client.post("ping", json!({}));
    loop {
        // A cancellation that is misshapen may be refused, by a message that answers nobody.
        let message = client.receive();
        if message["id"] == next {
            break;
        }
        assert!(message["id"].is_null() && message["error"]["code"] == INVALID, "{message}");
    }
}

/// H-33 on stdio, act: the steps behind a wait that is cancelled are not made.
#[test]
fn nothing_runs_behind_a_cancelled_wait() {
    let clock = Clock::real();
    let odd = Arc::new(Odd::new(&clock));
    let (app, _folder) = odd_app(odd.clone(), clock, json!({}));
    let mut pipe = Pipe::of(app.clone());
    let mut wait = never();
    wait["do"] = json!("wait_for");
    let steps = json!({"steps": [wait, {"do": "click_at", "x": 1, "y": 1}]});
    let id = pipe.post("tools/call", json!({"name": "act", "arguments": steps}));
    let ended = |tool: &str| app.gate.metrics.by_tool().get(tool).is_some_and(|count| count.calls == 1);
    // The list has a number, and so has the wait in it.
    wait_until("the wait has begun", || app.session.step_count() >= 2);
    pipe.send(format!(
        "{}\n",
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}})
    ));
    wait_at_most(CANCELLED, "the list is over", || ended("act"));
    assert_eq!(odd.mock.action_count(), 0);
    let next = pipe.post("ping", json!({}));
    assert_eq!(pipe.receive()["id"], next, "what was cancelled is not answered");
}

/// H-33 on /mcp: a client that hangs up takes its wait along.
#[cfg(feature = "http")]
#[test]
fn who_hangs_up_at_mcp_takes_the_wait_along() {
    use std::io::Write;
    let site = Site::new();
    let params = json!({"name": "wait_for", "arguments": never(), "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"}}});
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).to_string();
    let mut stream = site.connect();
    write!(
        stream,
        "POST /mcp HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\naccept: application/json, text/event-stream\r\n\
         mcp-protocol-version: 2026-07-28\r\nmcp-method: tools/call\r\nmcp-name: wait_for\r\ncontent-length: {}\r\n\r\n{body}",
        site.address,
        body.len()
    )
    .unwrap();
    until("the wait has begun", || site.app.session.step_count() == 1);
    drop(stream);
    wait_at_most(CANCELLED, "the wait is over", || {
        site.app.gate.metrics.by_tool().get("wait_for").is_some_and(|count| count.calls == 1)
    });
}

fn wait_until(what: &str, holds: impl FnMut() -> bool) {
    wait_at_most(crate::support::PATIENCE, what, holds);
}

fn wait_at_most(patience: Duration, what: &str, mut holds: impl FnMut() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < patience, "waited in vain: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// H-35 on stdio: the end of the input reaches a drag that is under way, and no step behind it is made.
#[test]
fn the_end_of_input_stops_a_drag_and_what_would_follow() {
    let clock = Clock::real();
    let mut odd = Odd::new(&clock);
    let (down, let_go) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
    let (his_down, his_let_go, his_clock) = (down.clone(), let_go.clone(), clock.clone());
    // A drag that takes a minute, and lets go of its button when it is told to stop.
    odd.hand = Some(Box::new(move |_, cancel| {
        his_down.fetch_add(1, Ordering::SeqCst);
        let stopped = his_clock.sleep(Duration::from_secs(60), cancel);
        his_let_go.store(stopped.is_err(), Ordering::SeqCst);
        stopped.map(|()| Done::default())
    }));
    let (app, _folder) = odd_app(Arc::new(odd), clock, json!({}));
    let mut pipe = Pipe::of(app);
    let drag = json!({"do": "drag", "from": {"x": 100, "y": 100}, "to": {"x": 200, "y": 200}});
    let steps = json!({"steps": [drag, {"do": "click_at", "x": 1, "y": 1}]});
    pipe.post("tools/call", json!({"name": "act", "arguments": steps}));
    wait_until("the button is down", || down.load(Ordering::SeqCst) == 1);
    pipe.close_input();
    wait_at_most(CANCELLED, "the button is up", || let_go.load(Ordering::SeqCst));
    // Whatever it still says, nothing more is done.
    pipe.receive_within(Duration::from_millis(500));
    assert_eq!(down.load(Ordering::SeqCst), 1, "the step behind it was made");
}

/// H-35 on stdio: the process ends in time and without complaint, however many calls are under way.
#[test]
fn the_end_of_input_ends_the_process_during_many_calls() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("slow.yaml");
    // A look takes as long as one may, which is 25 seconds.
    let text = "name: slow\nstates:\n  only:\n    windows:\n      - {uid: 'mock:slow', title: Slow, capture_delay_ms: 60000, tree: {role: Window, name: Slow}}\n";
    std::fs::write(&file, text).unwrap();
    let mut client = Client::mock(&["--scenario", file.to_str().unwrap()]);
    client.data("list_windows", json!({}));
    for _ in 0..20 {
        client.post("tools/call", json!({"name": "wait_for", "arguments": never()}));
        let drag = json!({"from": {"x": 1, "y": 1}, "to": {"x": 9, "y": 9}});
        client.post("tools/call", json!({"name": "drag", "arguments": drag}));
    }
    // Looks that are under way, as their progress tells, with twenty seconds before them.
    for number in 0..4 {
        let look =
            json!({"name": "get_window_structure", "arguments": {}, "_meta": {"progressToken": number}});
        client.post("tools/call", look);
    }
    let mut begun = std::collections::BTreeSet::new();
    while begun.len() < 4 {
        let message = client.receive();
        if message["method"] == "notifications/progress" {
            begun.insert(message["params"]["progressToken"].as_u64());
        }
    }
    client.close_input();
    let (status, took) = client.wait(Duration::from_secs(15)).expect("the process did not end");
    assert_eq!(status.code(), Some(0), "after {took:?}");
}

// ── many at once ───────────────────────────────────────────────────────────────────────────────────

/// H-38 on stdio: two hundred answers of more than 64 KiB each come whole, and none twice.
#[test]
fn two_hundred_large_answers_come_whole() {
    let mut client = Client::mock(&["--scenario", "scenarios/dense.yaml"]);
    let large = json!({"name": "get_window_structure", "arguments": {"max_nodes": 400}});
    let mut waiting: std::collections::BTreeSet<u64> =
        (0..200).map(|_| client.post("tools/call", large.clone())).collect();
    while !waiting.is_empty() {
        let answer = client.receive_within(PATIENT).expect("an answer is missing");
        let text = answer["result"]["content"][0]["text"].as_str().unwrap();
        assert!(text.len() > 64 << 10, "{} bytes", text.len());
        assert_eq!(serde_json::from_str::<Value>(text).unwrap()["ok"], true);
        assert!(waiting.remove(&answer["id"].as_u64().unwrap()), "answered twice: {}", answer["id"]);
    }
}

/// H-38 on REST, /mcp: two hundred requests at once are all answered.
#[cfg(feature = "http")]
#[test]
fn two_hundred_requests_at_once_are_all_answered() {
    let site = &Site::new();
    let answered = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for thread in 0..200 {
            let answered = &answered;
            scope.spawn(move || {
                let ok = if thread % 2 == 0 {
                    site.get("/api/structure").json()["ok"] == true
                } else {
                    let params = json!({"name": "get_window_structure", "arguments": {}});
                    modern(site, "tools/call", params)["result"]["isError"] == false
                };
                answered.fetch_add(usize::from(ok), Ordering::SeqCst);
            });
        }
    });
    assert_eq!(answered.load(Ordering::SeqCst), 200);
}

// ── a panic costs one call ─────────────────────────────────────────────────────────────────────────

/// An app whose desktop panics whenever it is asked this.
fn panicking(
    at: &'static str,
    config: Value,
) -> (Arc<os_screen_observer::app::App>, Arc<Odd>, tempfile::TempDir) {
    let clock = Clock::steered();
    let mut odd = Odd::new(&clock);
    odd.before = Box::new(move |asked| assert!(asked != at, "on purpose"));
    let odd = Arc::new(odd);
    let (app, folder) = odd_app(odd.clone(), clock, config);
    (app, odd, folder)
}

/// H-39 on stdio, act, replay: wherever on its way a call panics, it is answered, what it held is let go, it is in the
/// books, and other calls work.
#[test]
fn a_panic_anywhere_costs_one_call() {
    for (at, tool, args) in [
        ("monitors", "get_monitors", json!({})),
        ("windows", "list_windows", json!({})),
        // While its target is looked for, before it runs.
        ("tree", "click_element", json!({"selector": "//MenuItem"})),
        ("tree", "get_window_structure", json!({})),
        ("act", "click_at", json!({"x": 1, "y": 1})),
        ("act", "type_text", json!({"text": "a"})),
        ("picture", "get_screenshot", json!({})),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("audit.log");
        let config = json!({"logging": {"audit": true, "audit_path": log}});
        let (app, odd, _folder) = panicking(at, config);
        let mut pipe = Pipe::of(app.clone());
        let said = pipe.call(tool, args.clone());
        assert_eq!(said["error"]["code"], "Internal", "{tool}: {said}");
        assert!(said["step_id"].is_u64(), "{tool}: {said}");
        assert!(odd.releases() >= 1, "{tool} kept what it held");
        let written = std::fs::read_to_string(&log).unwrap();
        assert!(
            written.contains(&format!("tool={tool}")) && written.contains("Internal"),
            "{tool}: {written}"
        );
        assert_eq!(app.gate.metrics.by_tool()[tool].calls, 1, "{tool}");
        assert_eq!(pipe.call("get_budget_status", json!({}))["ok"], true, "after {tool}");
        if !matches!(tool, "get_window_structure" | "get_screenshot") && at != "windows" {
            let stepped = by_act(&app, tool, &args).to_string();
            assert!(stepped.contains("Internal"), "{tool}: {stepped}");
        }
        if at != "windows" {
            let replayed = by_replay(&app, tool, &args).to_string();
            assert!(replayed.contains("Internal"), "{tool}: {replayed}");
        }
        assert_eq!(odd.mock.action_count(), 0, "{tool}");
    }
}

/// H-39 on REST, /mcp: over HTTP a panic is answered like any other error, and the next request is served.
#[cfg(feature = "http")]
#[test]
fn a_panic_costs_one_request() {
    use std::io::{Read, Write};
    let token = tempfile::tempdir().unwrap();
    let (app, odd, _folder) =
        panicking("tree", json!({"web_ui": {"port": 0, "token_file": token.path().join("token")}}));
    let shutdown = tokio_util::sync::CancellationToken::new();
    let listening = os_screen_observer::http::start(app, shutdown.clone()).unwrap();
    let ask = |path: &str, head: &str, body: Value| {
        let mut stream = std::net::TcpStream::connect(listening.address).unwrap();
        let body = body.to_string();
        write!(
            stream,
            "POST {path} HTTP/1.1\r\nconnection: close\r\nhost: {}\r\ncontent-type: application/json\r\n{head}\
             content-length: {}\r\n\r\n{body}",
            listening.address,
            body.len()
        )
        .unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        crate::support::http::answer(&text)
    };
    let click = json!({"selector": "//MenuItem"});
    for path in ["/api/tool/click_element", "/api/element/click"] {
        let answer = ask(path, "", click.clone());
        assert!(answer.status == 500 && answer.json()["error"]["code"] == "Internal", "{path}: {answer:?}");
    }
    let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "click_element", "arguments": click,
        "_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"}}}});
    let head = "accept: application/json, text/event-stream\r\nmcp-protocol-version: 2026-07-28\r\nmcp-method: tools/call\r\n\
                mcp-name: click_element\r\n";
    assert_eq!(told(&ask("/mcp", head, hello).json())["error"]["code"], "Internal");
    assert_eq!(ask("/api/tool/list_windows", "", json!({})).json()["count"], 3);
    assert_eq!(odd.mock.action_count(), 0);
    shutdown.cancel();
}

/// H-39 on stdio: a call that panicked before its input holds no lease and costs no budget.
#[test]
fn after_a_panic_others_can_act() {
    let clock = Clock::steered();
    let mut odd = Odd::new(&clock);
    let armed = Arc::new(AtomicBool::new(true));
    let trap = armed.clone();
    odd.before =
        Box::new(move |asked| assert!(!(asked == "tree" && trap.load(Ordering::SeqCst)), "on purpose"));
    let odd = Arc::new(odd);
    let (app, _folder) = odd_app(odd.clone(), clock, json!({"budgets": {"max_actions": 1}}));
    let click = json!({"selector": "Window/MenuBar/MenuItem[name=\"Edit\"]"});
    assert_eq!(by_gate(&app, "click_element", click.clone())["error"]["code"], "Internal");
    armed.store(false, Ordering::SeqCst);
    assert_eq!(by_gate(&app, "click_element", click)["ok"], true);
    assert_eq!(odd.mock.action_count(), 1);
}

/// The server of the next test: this very program, on a desktop that panics. Without the variable it does nothing.
#[test]
fn serves_a_panicking_desktop_when_asked() {
    if std::env::var_os("HOSTILE_SERVES_PANIC").is_none() {
        return;
    }
    os_screen_observer::log::start(os_screen_observer::config::LogLevel::Debug);
    let (app, _odd, _folder) = panicking("tree", json!({}));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        use rmcp::ServiceExt;
        let ended = tokio_util::sync::CancellationToken::new();
        let (input, output) = rmcp::transport::io::stdio_pipes();
        let transport = os_screen_observer::mcp::stdio::Stdio::new(input, output, ended.clone());
        let running = os_screen_observer::mcp::McpServer::new(app, ended).serve(transport).await.unwrap();
        let _ = running.waiting().await;
    });
    std::process::exit(0);
}

/// H-39 on stdio: with all logs on, a panic writes to stderr alone, and the process lives.
#[test]
fn stdout_stays_pure_through_a_panic() {
    use std::io::{BufRead, BufReader, Write};
    let mut child = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "stdio::serves_a_panicking_desktop_when_asked", "--nocapture", "--test-threads=2"])
        .envs([("HOSTILE_SERVES_PANIC", "1"), ("RUST_LOG", "trace"), ("RUST_BACKTRACE", "1")])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut errors = child.stderr.take().unwrap();
    let logged = std::thread::spawn(move || {
        let mut text = String::new();
        let _ = std::io::Read::read_to_string(&mut errors, &mut text);
        text
    });
    let mut input = child.stdin.take().unwrap();
    let greeting = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}});
    writeln!(input, "{greeting}\n{}", json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))
        .unwrap();
    for id in 1..=20 {
        let tool = ["get_window_structure", "click_element", "list_windows"][id % 3];
        let args = if tool == "click_element" { json!({"selector": "//Button"}) } else { json!({}) };
        let call = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": tool, "arguments": args}});
        writeln!(input, "{call}").unwrap();
    }
    // What the test harness says before the server begins is not the server's.
    let harness = |line: &String| line.is_empty() || line.starts_with("running ");
    let mut lines =
        BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap).skip_while(harness);
    let (mut internal, mut fine) = (0, 0);
    for _ in 0..21 {
        let line = lines.next().expect("the process ended");
        let answer: Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("stdout carried {line:?}"));
        assert_eq!(answer["jsonrpc"], "2.0");
        match told_code(&answer).as_str() {
            "Internal" => internal += 1,
            _ => fine += 1,
        }
    }
    drop(input);
    assert_eq!(lines.next(), None, "something else came out of stdout");
    assert!(child.wait().unwrap().success());
    assert_eq!((internal, fine), (13, 8));
    let logged = logged.join().unwrap();
    assert!(logged.contains("on purpose") && logged.contains("TRACE"), "{logged:.500}");
}
