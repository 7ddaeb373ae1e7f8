//! Lines of JSON-RPC to the dispatcher on the mock desktop, through the real transport and handler: every line that
//! comes out is an answer in the protocol's form, every request is answered once, no secret comes out, tools that
//! only look do nothing, and the server ends when its input does.
//!
//! A first byte below 8 is followed by bytes that become calls, by the schemas of the tools; anything else is lines.
//! Time is steered, so nothing waits; what would be written to a disk has nowhere to go.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use arbitrary::{Result, Unstructured};
use os_screen_observer::app::App;
use os_screen_observer::clock::Clock;
use os_screen_observer::config::{self, Flags, Loaded, Secret, limits};
use os_screen_observer::mcp::{McpServer, stdio};
use os_screen_observer::platform::Stage;
use os_screen_observer::platform::mock::Mock;
use os_screen_observer::scenario::{Scenario, load_file};
use os_screen_observer::tool::Selection;
use os_screen_observer::tool::{Effect, Spec};
use os_screen_observer::tools;
use rmcp::ServiceExt;
use rmcp::model::JsonRpcMessage;
use rmcp::service::{RoleServer, RxJsonRpcMessage};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

use super::generated;

const SECRET: &str = "s3ntinel-of-the-fuzzer";
const MOST_CALLS: usize = 3;
const OUTPUT_BYTES: usize = 256 << 20;
/// Far above what any call takes.
const PATIENCE: Duration = Duration::from_secs(120);
const HELLO: &str = concat!(
    r#"{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"#,
    r#""clientInfo":{"name":"fuzz","version":"1"}}}"#,
    "\n",
    r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
    "\n",
);

/// What a caller could have learned from this desktop, and what it could try.
const TEXTS: &[&str] = &[
    "mock:login",
    "root",
    "root.0",
    "root.1",
    "root.2",
    "Window/Edit",
    "Button[name=\"Sign in\"]",
    "//Edit",
    "*",
    "e1",
    "e2",
    "Sign in",
    "Username",
    "(?i)pass",
    "ctrl+a",
    "enter",
    "tab",
    "hello",
    "left",
    "click_element",
    "type_text",
    "press_key",
    "get_window_structure",
    "set_value",
    "notepad",
    "scenarios/form.yaml",
    "form.yaml",
    "latest",
    "../../etc/passwd",
    "{\"secret\":\"PW\"}",
    "[REDACTED]",
    "",
    "\u{1b}[2J",
    "screen",
    "1",
];

struct Session {
    lines: Vec<u8>,
    /// The tools that are called, where that is known.
    called: Option<Vec<Spec>>,
    on_login: bool,
}

pub fn check(data: &[u8]) {
    let session = match data.split_first() {
        Some((&choice, rest)) if choice < 8 => match calls(&mut Unstructured::new(rest), choice) {
            Ok(session) => session,
            Err(_) => return,
        },
        _ => Session { lines: data.to_vec(), called: None, on_login: false },
    };
    check_reading(&session.lines);
    let world = World::new(session.on_login);
    let output = world.serve(&session.lines);
    check_output(&session, &output);
    if session.called.iter().flatten().all(|spec| spec.meta.effect == Effect::Observe)
        && session.called.is_some()
    {
        assert_eq!(world.mock.action_count(), 0, "a tool that only looks has done something");
    }
}

static TOOLS: LazyLock<Vec<(Spec, Value)>> =
    LazyLock::new(|| tools::all_tools().map(|spec| (spec, spec.full_input_schema())).collect());

/// A few calls of tools, with arguments that their schemas describe.
fn calls(bytes: &mut Unstructured, choice: u8) -> Result<Session> {
    let mut lines = Vec::new();
    let mut called = Vec::new();
    for id in 0..=bytes.int_in_range(0..=MOST_CALLS - 1)? {
        let (spec, schema) = &TOOLS[bytes.choose_index(TOOLS.len())?];
        let arguments = generated::fitting(bytes, schema, schema, TEXTS, 7)?;
        let params = json!({"name": spec.meta.name, "arguments": arguments});
        lines.push(json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}).to_string());
        called.push(*spec);
    }
    let lines = (lines.join("\n") + "\n").into_bytes();
    Ok(Session { lines, called: Some(called), on_login: choice % 2 == 1 })
}

/// A call that is read at once is read as rmcp reads it.
fn check_reading(lines: &[u8]) {
    for line in lines.split(|&byte| byte == b'\n') {
        let Some(ours) = stdio::tool_call(line) else { continue };
        let theirs: RxJsonRpcMessage<RoleServer> =
            serde_json::from_slice(line).expect("rmcp does not read it");
        assert_eq!(serde_json::to_value(&ours).unwrap(), serde_json::to_value(&theirs).unwrap());
    }
}

struct World {
    app: Arc<App>,
    mock: Arc<Mock>,
}

impl World {
    fn new(on_login: bool) -> Self {
        let clock = Clock::steered();
        let mock = Arc::new(Mock::new(clock.clone()));
        if on_login {
            mock.load(LOGIN.clone());
        }
        let app = App::new(LOADED.clone(), &Selection::default(), mock.clone(), clock).unwrap();
        Self { app: Arc::new(app), mock }
    }

    /// All that the server says to these lines, after it was greeted. The input stays open until everything is
    /// answered: a server whose client has left gives its calls a few seconds, and a busy machine may need more.
    fn serve(&self, lines: &[u8]) -> Vec<u8> {
        let input = [HELLO.as_bytes(), lines, b"\n"].concat();
        let mut owed: HashSet<String> = requests(lines).into_iter().collect();
        let server = McpServer::new(self.app.clone(), CancellationToken::new());
        RUNTIME.with_borrow(|runtime| {
            runtime.block_on(async move {
                let (mut writer, reader) = tokio::io::duplex(input.len());
                let (ours, theirs) = tokio::io::duplex(OUTPUT_BYTES);
                let transport = stdio::Stdio::new(reader, theirs, CancellationToken::new());
                let service = tokio::spawn(async move {
                    let running = server.serve(transport).await.expect("the greeting is ours, and right");
                    running.waiting().await.expect("the service panicked");
                });
                writer.write_all(&input).await.unwrap();
                let mut ours = BufReader::new(ours);
                let mut output = Vec::new();
                let answers = async {
                    while !owed.is_empty() {
                        let start = output.len();
                        if ours.read_until(b'\n', &mut output).await.unwrap() == 0 {
                            break;
                        }
                        let answer: Value = serde_json::from_slice(&output[start..]).unwrap_or_default();
                        owed.remove(&answer["id"].to_string());
                    }
                };
                tokio::time::timeout(PATIENCE, answers).await.expect("a request is not answered");
                drop(writer);
                service.await.expect("the server ended badly");
                ours.read_to_end(&mut output).await.unwrap();
                output
            })
        })
    }
}

thread_local! {
    static RUNTIME: RefCell<Runtime> =
        RefCell::new(tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap());
}

fn project() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .find(|folder| folder.join("scenarios").is_dir())
        .unwrap()
        .into()
}

static LOGIN: LazyLock<Scenario> =
    LazyLock::new(|| load_file(&project().join("scenarios/login.yaml")).unwrap());

static LOADED: LazyLock<Loaded> = LazyLock::new(|| {
    // No folder can be made there, and no file is found.
    let nowhere = PathBuf::from("/dev/null/nowhere");
    let flags = Flags { mock: true, ..Flags::default() };
    let no_file = ("XDG_CONFIG_HOME".to_owned(), "/nowhere".to_owned());
    let mut loaded = config::load(&flags, [no_file]).unwrap();
    loaded.config.tracing.dir = nowhere;
    loaded.config.scenarios.dirs = vec![project().join("scenarios")];
    loaded.config.ocr.enabled = false;
    loaded.environment_secrets.insert("PW".to_owned(), Secret::new(SECRET));
    loaded
});

fn check_output(session: &Session, output: &[u8]) {
    let output = std::str::from_utf8(output).expect("what comes out is no text");
    assert!(output.is_empty() || output.ends_with('\n'), "a line is not whole");
    let mut answers: HashMap<String, usize> = HashMap::new();
    for line in output.lines() {
        assert!(line.len() <= 2 * limits::REPLY_BYTES, "an answer has {} bytes", line.len());
        let message: Value = serde_json::from_str(line).unwrap_or_else(|problem| panic!("{problem}: {line}"));
        assert_eq!(message["jsonrpc"], "2.0", "{line}");
        if message.get("method").is_none() {
            assert!(message.get("result").is_some() != message.get("error").is_some(), "{line}");
            *answers.entry(message["id"].to_string()).or_default() += 1;
        }
    }
    assert_eq!(answers.get("\"hello\""), Some(&1), "the greeting was not answered once");
    if !String::from_utf8_lossy(&session.lines).contains(SECRET) {
        assert!(!output.contains(SECRET), "the secret came out");
    }
    for id in requests(&session.lines) {
        assert_eq!(answers.get(&id), Some(&1), "request {id} was not answered once:\n{output}");
    }
}

/// The ids of all that wants an answer and gets one whatever else is said: each stands in one line, and nothing is
/// cancelled. A line that is no request may still name an id, and is then answered under it.
fn requests(lines: &[u8]) -> Vec<String> {
    let mut ids: Vec<String> = Vec::new();
    let mut named: HashMap<String, usize> = HashMap::new();
    for line in lines.split(|&byte| byte == b'\n') {
        if let Ok(value) = serde_json::from_slice::<Value>(line) {
            *named.entry(value["id"].to_string()).or_default() += 1;
        }
        match serde_json::from_slice::<RxJsonRpcMessage<RoleServer>>(line) {
            Ok(JsonRpcMessage::Request(request)) => {
                ids.push(serde_json::to_value(&request.id).unwrap().to_string())
            }
            Ok(JsonRpcMessage::Notification(_)) => return Vec::new(),
            _ => {}
        }
    }
    ids.retain(|id| named.get(id) == Some(&1) && id != "\"hello\"");
    ids
}
