//! One call on every surface, all on one mock desktop whose log tells what was done; and a desktop that can be made to
//! misbehave. It knows no row.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use os_screen_observer::app::App;
use os_screen_observer::clock::{Cancel, Clock};
use os_screen_observer::config::{self, Flags};
use os_screen_observer::error::Result;
use os_screen_observer::gate::{Call, Origin};
use os_screen_observer::mcp::{McpServer, stdio::Stdio};
use os_screen_observer::model::input::{Act, Delivery, Handle};
use os_screen_observer::model::{Monitor, Point, Reached, Rect, Tree, Window, WindowChange};
use os_screen_observer::platform::mock::Mock;
use os_screen_observer::platform::*;
use os_screen_observer::tool::Selection;
use rmcp::ServiceExt;
use serde_json::{Map, Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf};
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

use crate::support::PATIENCE;
#[cfg(feature = "http")]
use crate::support::http::{JSON, Site};

// ── the surfaces ───────────────────────────────────────────────────────────────────────────────────

/// The pipe of an app in this process: the transport of the built binary, with the mock's log at hand.
pub struct Pipe {
    runtime: Runtime,
    input: Option<WriteHalf<DuplexStream>>,
    lines: BufReader<ReadHalf<DuplexStream>>,
    next_id: u64,
    _shutdown: CancellationToken,
}

impl Pipe {
    pub fn raw(app: Arc<App>) -> Self {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let (ours, theirs) = tokio::io::duplex(1 << 16);
        let shutdown = CancellationToken::new();
        let (ended, server) = (shutdown.clone(), McpServer::new(app, shutdown.clone()));
        runtime.spawn(async move {
            let (input, output) = tokio::io::split(theirs);
            if let Ok(running) = server.serve(Stdio::new(input, output, ended)).await {
                let _ = running.waiting().await;
            }
        });
        let (lines, input) = tokio::io::split(ours);
        Self { runtime, input: Some(input), lines: BufReader::new(lines), next_id: 0, _shutdown: shutdown }
    }

    /// Greeted in the older way.
    pub fn of(app: Arc<App>) -> Self {
        let mut pipe = Self::raw(app);
        let greeting = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
        let id = pipe.post("initialize", greeting);
        pipe.answer(id);
        pipe.send(json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string() + "\n");
        pipe
    }

    pub fn send(&mut self, text: impl AsRef<[u8]>) {
        let input = self.input.as_mut().unwrap();
        self.runtime.block_on(async { input.write_all(text.as_ref()).await.unwrap() });
    }

    pub fn post(&mut self, method: &str, params: Value) -> u64 {
        self.next_id += 1;
        let message = json!({"jsonrpc": "2.0", "id": self.next_id, "method": method, "params": params});
        self.send(format!("{message}\n"));
        self.next_id
    }

    pub fn receive(&mut self) -> Value {
        self.receive_within(PATIENCE).expect("no answer came")
    }

    pub fn receive_within(&mut self, patience: Duration) -> Option<Value> {
        let (runtime, lines) = (&self.runtime, &mut self.lines);
        runtime.block_on(async {
            let mut line = String::new();
            let read = tokio::time::timeout(patience, lines.read_line(&mut line)).await.ok()?;
            (read.unwrap() > 0)
                .then(|| serde_json::from_str(&line).unwrap_or_else(|_| panic!("no JSON: {line:?}")))
        })
    }

    pub fn answer(&mut self, id: u64) -> Value {
        loop {
            let message = self.receive();
            if message["id"] == id {
                return message;
            }
        }
    }

    pub fn call(&mut self, tool: &str, args: Value) -> Value {
        let id = self.post("tools/call", json!({"name": tool, "arguments": args}));
        told(&self.answer(id))
    }

    pub fn close_input(&mut self) {
        let mut input = self.input.take().unwrap();
        let _ = self.runtime.block_on(input.shutdown());
    }
}

/// What a tool said, out of a JSON-RPC answer; a protocol error as one of ours.
pub fn told(answer: &Value) -> Value {
    match answer["result"]["content"][0]["text"].as_str() {
        Some(text) => serde_json::from_str(text).unwrap_or_else(|_| json!({"ok": true, "outline": text})),
        None => {
            json!({"ok": false, "error": {"code": "Protocol", "message": answer["error"]["message"], "number": answer["error"]["code"]}})
        }
    }
}

pub fn by_gate(app: &App, tool: &str, args: Value) -> Value {
    app.gate.pass_call(Call { tool: tool.to_owned(), args, origin: Origin::Test }, &Cancel::new()).value()
}

/// As the second step of a list, whose first does nothing.
pub fn by_act(app: &App, tool: &str, args: &Value) -> Value {
    let mut step = args.as_object().cloned().unwrap_or_default();
    step.insert("do".to_owned(), tool.into());
    by_gate(app, "act", json!({"steps": [{"do": "wait_idle", "quiet_ms": 0}, step]}))
}

/// As a row of a trace that somebody wrote by hand.
pub fn by_replay(app: &App, tool: &str, args: &Value) -> Value {
    let path = trace_of(app, tool, args);
    let opened = by_gate(app, "replay_start", json!({"path": path, "mode": "execute"}));
    if opened["ok"] != true {
        return opened;
    }
    let made = by_gate(app, "replay_step", json!({"replay_id": opened["replay_id"]}));
    by_gate(app, "replay_stop", json!({"replay_id": opened["replay_id"]}));
    made
}

/// A trace of one call of this tool with these arguments, which was never made.
pub fn trace_of(app: &App, tool: &str, args: &Value) -> String {
    static NUMBER: AtomicUsize = AtomicUsize::new(1);
    let id = format!("trace-{:08x}", NUMBER.fetch_add(1, Ordering::SeqCst));
    let folder = app.config.tracing.dir.join(&id);
    std::fs::create_dir_all(&folder).unwrap();
    let time = "2026-01-01T00:00:00.000000+00:00";
    let header = json!({"type": "header", "trace_id": id, "started_at": time, "tool_version": "0.2.0"});
    let row = json!({"step_id": 1, "trace_seq": 1, "ts": time, "caller": "test", "tool": tool, "args": args});
    let footer = json!({"type": "footer", "stopped_at": time, "step_count": 1, "duration_ms": 0});
    let path = folder.join("trace.jsonl");
    std::fs::write(&path, format!("{header}\n{row}\n{footer}\n")).unwrap();
    path.to_str().unwrap().to_owned()
}

/// Every surface at once.
#[cfg(feature = "http")]
pub struct Everywhere {
    pub site: Site,
    pub pipe: Pipe,
}

pub const ACCEPT: (&str, &str) = ("accept", "application/json, text/event-stream");

#[cfg(feature = "http")]
impl Everywhere {
    pub fn new() -> Self {
        Self::with(json!({}))
    }

    pub fn with(config: Value) -> Self {
        let site = Site::with(config);
        let pipe = Pipe::of(site.app.clone());
        Self { site, pipe }
    }

    pub fn on(scenario: Option<&str>) -> Self {
        let all = Self::new();
        all.stage(scenario);
        all
    }

    pub fn stage(&self, scenario: Option<&str>) {
        if let Some(file) = scenario {
            let loaded =
                os_screen_observer::scenario::load_file(&crate::support::project().join(file)).unwrap();
            Stage::load(&*self.site.mock, loaded);
        }
    }

    pub fn effects(&self) -> usize {
        self.site.mock.action_count()
    }

    pub fn by_rest(&self, tool: &str, args: &Value) -> Value {
        self.site.post(&format!("/api/tool/{tool}"), args.clone()).json()
    }

    /// A request of the newer era, which needs no greeting.
    pub fn by_mcp(&self, tool: &str, args: &Value) -> Value {
        told(&modern(&self.site, "tools/call", json!({"name": tool, "arguments": args})))
    }

    /// The answer of every surface, with its name. A step or a replay answers for what it contains.
    pub fn all(&mut self, tool: &str, args: &Value) -> Vec<(&'static str, Value)> {
        let app = self.site.app.clone();
        vec![
            ("stdio", self.pipe.call(tool, args.clone())),
            ("REST", self.by_rest(tool, args)),
            ("/mcp", self.by_mcp(tool, args)),
            ("act", by_act(&app, tool, args)),
            ("replay", by_replay(&app, tool, args)),
        ]
    }
}

#[cfg(feature = "http")]
pub fn modern(site: &Site, method: &str, mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
    });
    let name = params["name"].as_str().unwrap_or_default().to_owned();
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string();
    let mut headers = vec![JSON, ACCEPT, ("mcp-protocol-version", "2026-07-28"), ("mcp-method", method)];
    if !name.is_empty() {
        headers.push(("mcp-name", &name));
    }
    site.ask("POST", "/mcp", &headers, &body).json()
}

/// What a tool takes, as its own check reads it, and a call of it that works.
pub struct Callable {
    pub name: &'static str,
    pub schema: Value,
    pub example: Map<String, Value>,
    pub scenario: Option<&'static str>,
    pub acts: bool,
}

/// Every tool that is behind no lock.
pub fn callables() -> Vec<Callable> {
    let open = os_screen_observer::tools::all_tools()
        .filter(|spec| spec.meta.lock.is_none() && spec.meta.switch.is_none());
    open.map(|spec| {
        let example = &spec.meta.examples[0];
        let mut args: Map<String, Value> = serde_json::from_str(example.args).unwrap();
        args.remove("dry_run");
        Callable {
            name: spec.meta.name,
            schema: spec.full_input_schema(),
            example: args,
            scenario: example.scenario,
            acts: spec.meta.effect.acts(),
        }
    })
    .collect()
}

impl Callable {
    /// Its arguments with their schemas, those inside an object as `from.x`.
    pub fn arguments(&self) -> Vec<(String, Value)> {
        let mut found = Vec::new();
        collect("", &self.schema, &mut found);
        found
    }

    /// The example with one argument as it should not be. Beside an inner one stand the others that it needs.
    pub fn with(&self, path: &str, value: Value) -> Value {
        let mut args = Value::Object(self.example.clone());
        match path.split_once('.') {
            None => args[path] = value,
            Some((outer, inner)) => {
                if !args[outer].is_object() {
                    args[outer] = needed(&self.schema["properties"][outer]);
                }
                args[outer][inner] = value;
            }
        }
        args
    }
}

fn collect(path: &str, schema: &Value, found: &mut Vec<(String, Value)>) {
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let inner = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        if path.is_empty() {
            collect(&inner, property, found);
        }
        found.push((inner, property.clone()));
    }
}

/// The least that an object has to have.
fn needed(schema: &Value) -> Value {
    let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let value = |name: &str| match schema["properties"][name]["type"].as_str() {
        Some("integer" | "number") => schema["properties"][name]
            .get("minimum")
            .filter(|least| least.as_f64() > Some(0.0))
            .cloned()
            .unwrap_or(json!(0)),
        Some("boolean") => json!(false),
        _ => json!("x"),
    };
    required.map(|name| (name.to_owned(), value(name))).collect::<Map<_, _>>().into()
}

// ── a desktop that misbehaves ──────────────────────────────────────────────────────────────────────

type Hook = Box<dyn Fn(&'static str) + Send + Sync>;
type Hand = Box<dyn Fn(&Act, &Cancel) -> Result<Done> + Send + Sync>;

/// The mock, except for what a test changes about it.
pub struct Odd {
    pub mock: Mock,
    /// Called with the name of everything that is asked of the desktop: it may panic, and it may take its time.
    pub before: Hook,
    /// What every window shows, instead of its own.
    pub tree: Option<Tree>,
    /// What lies over the windows, wherever it contains the point.
    pub menu: Option<Menu>,
    pub monitors: Mutex<Option<Vec<Monitor>>>,
    pub hand: Option<Hand>,
    pub released: AtomicUsize,
}

impl Odd {
    pub fn new(clock: &Clock) -> Self {
        Self {
            mock: Mock::new(clock.clone()),
            before: Box::new(|_| ()),
            tree: None,
            menu: None,
            monitors: Mutex::default(),
            hand: None,
            released: AtomicUsize::new(0),
        }
    }

    pub fn releases(&self) -> usize {
        self.released.load(Ordering::SeqCst)
    }
}

/// An app on an odd desktop. The folder holds its traces.
pub fn odd_app(odd: Arc<Odd>, clock: Clock, mut config: Value) -> (Arc<App>, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    config["tracing"]["dir"] = json!(folder.path().join("traces"));
    let path = folder.path().join("config.json");
    std::fs::write(&path, config.to_string()).unwrap();
    let flags = Flags { config: Some(path), mock: true, ..Flags::default() };
    let loaded = config::load(&flags, std::iter::empty()).unwrap();
    (Arc::new(App::new(loaded, &Selection::default(), odd, clock).unwrap()), folder)
}

impl Platform for Odd {
    fn facts(&self) -> Facts {
        self.mock.facts()
    }

    fn health(&self) -> Health {
        self.mock.health()
    }

    fn stage(&self) -> Option<&dyn Stage> {
        self.mock.stage()
    }

    fn desktop(&self) -> &dyn Desktop {
        self
    }

    fn accessibility(&self) -> &dyn Accessibility {
        self
    }

    fn input(&self) -> &dyn Input {
        self
    }

    fn capture(&self) -> &dyn Capture {
        self
    }

    fn clipboard(&self) -> &dyn Clipboard {
        self.mock.clipboard()
    }

    fn apps(&self) -> &dyn Apps {
        self.mock.apps()
    }

    fn watch(&self) -> &dyn Watch {
        self.mock.watch()
    }
}

impl Desktop for Odd {
    fn windows(&self) -> Result<Vec<Window>> {
        (self.before)("windows");
        self.mock.windows()
    }
    fn stacking(&self) -> Result<Option<Vec<String>>> {
        (self.before)("stacking");
        self.mock.stacking()
    }
    fn menu_at(&self, point: Point) -> Result<Option<Menu>> {
        Ok(self.menu.clone().filter(|menu| menu.bounds.contains(point)))
    }
    fn monitors(&self) -> Result<Vec<Monitor>> {
        (self.before)("monitors");
        self.monitors.lock().unwrap().clone().map_or_else(|| self.mock.monitors(), Ok)
    }
    fn screen(&self) -> Result<Option<Rect>> {
        (self.before)("screen");
        self.mock.screen()
    }
    fn pointer(&self) -> Result<Option<Point>> {
        self.mock.pointer()
    }
    fn owner(&self, window: &Window) -> Result<Option<String>> {
        self.mock.owner(window)
    }
    fn activate(&self, window: &Window) -> Result<Activation> {
        (self.before)("activate");
        self.mock.activate(window)
    }
    fn change(
        &self,
        window: &Window,
        change: &WindowChange,
        at_most: Duration,
        cancel: &Cancel,
    ) -> Result<Reached> {
        (self.before)("change");
        self.mock.change(window, change, at_most, cancel)
    }
}

impl Accessibility for Odd {
    fn tree(&self, window: &Window, patience: &Patience) -> Result<Tree> {
        (self.before)("tree");
        self.tree.clone().map_or_else(|| self.mock.tree(window, patience), Ok)
    }

    fn field(&self, element: &Handle, cancel: &Cancel) -> Result<Option<FieldText>> {
        self.mock.field(element, cancel)
    }
}

impl Input for Odd {
    fn act(&self, act: &Act, delivery: Delivery, guard: &dyn PressGuard, cancel: &Cancel) -> Result<Done> {
        (self.before)("act");
        match &self.hand {
            Some(hand) => hand(act, cancel),
            None => self.mock.act(act, delivery, guard, cancel),
        }
    }
    fn check(&self, act: &Act, cancel: &Cancel) -> Result<()> {
        self.mock.check(act, cancel)
    }
    fn release_all(&self) {
        self.released.fetch_add(1, Ordering::SeqCst);
    }
    fn claim(&self, claimant: &Claimant) -> Result<()> {
        self.mock.claim(claimant)
    }
    fn give_back(&self, claimant: &Claimant) {
        self.mock.give_back(claimant);
    }
    fn confine(&self, region: Rect) {
        self.mock.confine(region);
    }
}

impl Capture for Odd {
    fn window_picture(&self, window: &Window) -> Result<Shot> {
        (self.before)("picture");
        self.mock.window_picture(window)
    }
    fn screen_picture(&self) -> Result<Shot> {
        (self.before)("picture");
        self.mock.screen_picture()
    }
    fn region_picture(&self, area: Rect) -> Result<Shot> {
        (self.before)("picture");
        self.mock.region_picture(area)
    }
}
