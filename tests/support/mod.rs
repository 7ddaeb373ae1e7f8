//! What the integration tests share: an app in this process, and a client of the built binary.
#![allow(dead_code, reason = "each test file uses its own part")]

pub mod contract;
pub mod fake_model;
#[cfg(feature = "http")]
pub mod http;
#[cfg(feature = "jobs")]
pub mod job_runs;
#[cfg(feature = "jobs")]
pub mod killed_runs;
pub mod tasks;
pub mod test_platform;
pub mod trees;
pub mod wires;

use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use os_screen_observer::app::App;
use os_screen_observer::clock::{Cancel, Clock};
use os_screen_observer::config::{self, Flags};
use os_screen_observer::gate::{Call, Origin, Reply};
use os_screen_observer::platform::mock::Mock;
use os_screen_observer::tool::Selection;
use serde_json::{Value, json};

pub fn project() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// A server in this process on the mock desktop, with its action log at hand.
pub struct World {
    pub app: App,
    pub mock: Arc<Mock>,
    /// Where its traces go, unless the config says otherwise.
    _folder: tempfile::TempDir,
}

impl World {
    pub fn new() -> Self {
        Self::with(json!({}))
    }

    /// `config` is a config file's content.
    pub fn with(config: Value) -> Self {
        Self::build(None, config)
    }

    pub fn on(scenario: &str) -> Self {
        Self::build(Some(scenario), json!({}))
    }

    pub fn build(scenario: Option<&str>, config: Value) -> Self {
        Self::selected(scenario, config, Selection::default())
    }

    /// What `--profile agent` serves.
    pub fn for_agent(scenario: Option<&str>) -> Self {
        let selection = os_screen_observer::tools::selection(config::Profile::Agent, "").unwrap();
        Self::selected(scenario, json!({}), selection)
    }

    fn selected(scenario: Option<&str>, mut config: Value, selection: Selection) -> Self {
        let folder = tempfile::tempdir().unwrap();
        if config.pointer("/tracing/dir").is_none() {
            config["tracing"]["dir"] = json!(folder.path().join("traces"));
        }
        let path = folder.path().join("config.json");
        std::fs::write(&path, config.to_string()).unwrap();
        let flags = Flags { config: Some(path), mock: true, ..Flags::default() };
        let loaded = config::load(&flags, std::iter::empty()).unwrap();
        let world = Self::kept_in(folder, loaded, &selection);
        if let Some(file) = scenario {
            let scenario = os_screen_observer::scenario::load_file(&project().join(file)).unwrap();
            os_screen_observer::platform::Stage::load(&*world.mock, scenario);
        }
        world
    }

    pub fn of(loaded: config::Loaded) -> Self {
        Self::kept_in(tempfile::tempdir().unwrap(), loaded, &Selection::default())
    }

    /// With a clock that goes by itself: for what waits until somebody else does something.
    pub fn in_real_time(scenario: &str, config: Value) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config.json");
        let mut config = config;
        config["tracing"]["dir"] = json!(folder.path().join("traces"));
        std::fs::write(&path, config.to_string()).unwrap();
        let flags = Flags { config: Some(path), mock: true, ..Flags::default() };
        let loaded = config::load(&flags, std::iter::empty()).unwrap();
        let world = Self::with_clock(folder, loaded, &Selection::default(), Clock::real());
        let scenario = os_screen_observer::scenario::load_file(&project().join(scenario)).unwrap();
        os_screen_observer::platform::Stage::load(&*world.mock, scenario);
        world
    }

    fn kept_in(folder: tempfile::TempDir, loaded: config::Loaded, selection: &Selection) -> Self {
        Self::with_clock(folder, loaded, selection, Clock::steered())
    }

    fn with_clock(
        folder: tempfile::TempDir,
        loaded: config::Loaded,
        selection: &Selection,
        clock: Clock,
    ) -> Self {
        let mock = Arc::new(Mock::new(clock.clone()));
        let app = App::new(loaded, selection, mock.clone(), clock).unwrap();
        Self { app, mock, _folder: folder }
    }

    pub fn reply(&self, tool: &str, args: Value) -> Reply {
        self.app.gate.pass_call(Call { tool: tool.to_owned(), args, origin: Origin::Test }, &Cancel::new())
    }

    /// The same as a client over MCP calls.
    pub fn mcp(&self, tool: &str, args: Value) -> Reply {
        self.app.gate.pass_call(Call { tool: tool.to_owned(), args, origin: Origin::Mcp }, &Cancel::new())
    }

    /// The lines that an agent's model reads of a reply.
    pub fn lines(&self, tool: &str, args: Value) -> String {
        let reply = self.mcp(tool, args);
        reply.lines().unwrap_or_else(|| panic!("{tool} answered {}", reply.text()))
    }

    pub fn call(&self, tool: &str, args: Value) -> Value {
        self.reply(tool, args).value()
    }

    /// A call that must work.
    pub fn ok(&self, tool: &str, args: Value) -> Value {
        let value = self.call(tool, args.clone());
        assert_eq!(value["ok"], true, "{tool} {args} answered {value}");
        value
    }

    /// The code of a call that must fail.
    pub fn code(&self, tool: &str, args: Value) -> String {
        let value = self.call(tool, args.clone());
        assert_eq!(value["ok"], false, "{tool} {args} answered {value}");
        value["error"]["code"].as_str().unwrap().to_owned()
    }

    /// How often the mock desktop was worked, by input or otherwise.
    pub fn effects(&self) -> usize {
        self.mock.action_count()
    }
}

/// A client that speaks raw JSON-RPC lines to the built binary.
pub struct Client {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    pub errors: Arc<Mutex<String>>,
    reader: Option<std::thread::JoinHandle<()>>,
    next_id: u64,
    _folder: tempfile::TempDir,
}

/// Long, because a machine that compiles beside the tests answers late; who waits in vain waits it out.
pub const PATIENCE: Duration = Duration::from_secs(120);

impl Client {
    pub fn start(args: &[&str]) -> Self {
        Self::start_with(args, &[])
    }

    pub fn start_with(args: &[&str], environment: &[(&str, &str)]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_os-screen-observer"));
        command.args(args).envs(environment.iter().copied());
        Self::spawn(command)
    }

    /// Traces go to a folder of their own, unless the environment of the command says otherwise.
    pub fn spawn(mut command: Command) -> Self {
        let folder = tempfile::tempdir().unwrap();
        if !command.get_envs().any(|(name, _)| name == "OSO_TRACING__DIR") {
            command.env("OSO_TRACING__DIR", folder.path().join("traces"));
        }
        if command.get_current_dir().is_none() {
            command.current_dir(project());
        }
        // Whoever runs the tests may have a config file of their own.
        if !command.get_envs().any(|(name, _)| name == "XDG_CONFIG_HOME") {
            command.env("XDG_CONFIG_HOME", folder.path());
        }
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (sender, lines) = channel();
        let output = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        let errors = Arc::new(Mutex::new(String::new()));
        let (mut stderr, kept) = (child.stderr.take().unwrap(), errors.clone());
        let reader = std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(count) = stderr.read(&mut buffer) {
                if count == 0 {
                    return;
                }
                kept.lock().unwrap().push_str(&String::from_utf8_lossy(&buffer[..count]));
            }
        });
        let input = child.stdin.take();
        Self { child, input, lines, errors, reader: Some(reader), next_id: 0, _folder: folder }
    }

    /// A server on the mock desktop, greeted in the older way.
    pub fn mock(args: &[&str]) -> Self {
        let mut all = vec!["--mode", "mcp", "--mock"];
        all.extend_from_slice(args);
        let mut client = Self::start(&all);
        client.initialize("2025-11-25");
        client
    }

    pub fn initialize(&mut self, version: &str) -> Value {
        let answer = self.request(
            "initialize",
            json!({"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}),
        );
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        answer
    }

    pub fn send(&mut self, message: &Value) {
        self.send_raw(&format!("{message}\n"));
    }

    pub fn send_raw(&mut self, text: &str) {
        self.send_bytes(text.as_bytes());
    }

    /// What is no text, too.
    pub fn send_bytes(&mut self, bytes: &[u8]) {
        let input = self.input.as_mut().unwrap();
        input.write_all(bytes).unwrap();
        input.flush().unwrap();
    }

    pub fn post(&mut self, method: &str, params: Value) -> u64 {
        self.next_id += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": self.next_id, "method": method, "params": params}));
        self.next_id
    }

    /// The next line of stdout, which must be JSON-RPC and nothing else.
    pub fn receive(&mut self) -> Value {
        self.receive_within(PATIENCE).unwrap_or_else(|| {
            panic!("no answer; stderr was:\n{}", self.errors.lock().unwrap());
        })
    }

    pub fn receive_within(&mut self, patience: Duration) -> Option<Value> {
        let line = match self.lines.recv_timeout(patience) {
            Ok(line) => line,
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return None,
        };
        let value: Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("stdout carried {line:?}"));
        assert_eq!(value["jsonrpc"], "2.0", "stdout carried {line}");
        Some(value)
    }

    /// The answer to one request; notifications on the way are passed over.
    pub fn answer(&mut self, id: u64) -> Value {
        loop {
            let message = self.receive();
            if message["id"] == id {
                return message;
            }
        }
    }

    pub fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.post(method, params);
        self.answer(id)
    }

    pub fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.request("tools/call", json!({"name": tool, "arguments": arguments}))["result"].clone()
    }

    /// The JSON text of a tool's result.
    pub fn data(&mut self, tool: &str, arguments: Value) -> Value {
        let result = self.call(tool, arguments);
        serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap()
    }

    pub fn close_input(&mut self) {
        self.input = None;
    }

    pub fn process_id(&self) -> u32 {
        self.child.id()
    }

    /// How the process ended and how long that took.
    pub fn wait(&mut self, patience: Duration) -> Option<(ExitStatus, Duration)> {
        let began = Instant::now();
        while began.elapsed() < patience {
            if let Some(status) = self.child.try_wait().unwrap() {
                return Some((status, began.elapsed()));
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        None
    }

    /// Everything that it wrote to stderr, once it has ended and its last words are read.
    pub fn last_words(&mut self) -> String {
        self.reader.take().into_iter().for_each(|reader| reader.join().unwrap());
        self.errors.lock().unwrap().clone()
    }

    /// The lines of stdout that nobody has read yet, once it has ended; they need not be of the protocol.
    pub fn printed(&mut self) -> Vec<String> {
        self.lines.iter().collect()
    }

    /// Waits until these words are on stderr, which another thread reads.
    #[track_caller]
    pub fn until_says(&self, words: &str) {
        let began = Instant::now();
        while !self.errors.lock().unwrap().contains(words) {
            let said = || self.errors.lock().unwrap().clone();
            assert!(began.elapsed() < PATIENCE, "it never said {words:?}, but:\n{}", said());
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    pub fn alive(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub fn read(path: impl AsRef<Path>) -> String {
    std::fs::read_to_string(project().join(path)).unwrap()
}
