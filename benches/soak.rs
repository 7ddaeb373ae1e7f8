//! A long run of mixed work on one server, and whether it stays as it was: memory, handles, threads, what a call
//! costs it, how long a call takes.
//!
//!     cargo bench --bench soak -- [mock|desktop] [--minutes N] [--pause MS]
//!
//! The mock is worked by the examples of every tool, by bursts, broken lines, cancelled waits and, where the feature
//! `http` is built in, by requests, streams that are dropped and connections that say nothing. The desktop is a
//! private one with real programs, some of which come and go. A line is printed for each thirtieth of the run, and
//! at the end the first third beside the last. `SERVER=PATH` runs another build. Linux only: it reads `/proc`.
#![cfg_attr(not(target_os = "linux"), allow(unused))]
#![allow(
    clippy::disallowed_methods,
    reason = "a benchmark runs in real time and sets up its own environment"
)]
#![allow(clippy::print_stdout, clippy::unwrap_used, clippy::expect_used, reason = "a program for a terminal")]

#[path = "../tests/support/mod.rs"]
mod support;

#[cfg(not(target_os = "linux"))]
fn main() {
    println!("benches/soak.rs reads memory and handles from /proc, which only Linux has: nothing was run");
}

#[cfg(target_os = "linux")]
fn main() {
    linux::main();
}

#[cfg(target_os = "linux")]
mod linux {
    use std::collections::BTreeMap;
    use std::path::PathBuf;
    use std::process::{Child, Command, Stdio};
    use std::time::{Duration, Instant};

    use os_screen_observer::config::Size;
    use os_screen_observer::platform::linux::sandbox::{Sandbox, SandboxPlan};
    use os_screen_observer::tool::{Effect, Spec};
    use os_screen_observer::tools;
    use serde_json::{Value, json};

    use super::support::Client;

    const PARTS: u32 = 30;
    /// How much longer than its longest wait a call may take before the run is given up.
    const PATIENCE: Duration = Duration::from_secs(90);

    pub fn main() {
        let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
        // `cargo test --benches` only wants to know that this still runs.
        let measuring = std::env::args().any(|word| word == "--bench");
        let minutes = number(&words, "--minutes").unwrap_or(if measuring { 60.0 } else { 0.05 });
        let pause = Duration::from_millis(number(&words, "--pause").unwrap_or(10.0) as u64);
        let run = Run::new(Duration::from_secs_f64(minutes * 60.0), pause);
        if words.iter().any(|word| word == "desktop") { desktop(run) } else { mock(run) }
    }

    fn number(words: &[String], name: &str) -> Option<f64> {
        let at = words.iter().position(|word| word == name)?;
        Some(
            words
                .get(at + 1)
                .and_then(|word| word.parse().ok())
                .unwrap_or_else(|| panic!("{name} wants a number")),
        )
    }

    fn program() -> PathBuf {
        std::env::var_os("SERVER")
            .map_or_else(|| env!("CARGO_BIN_EXE_os-screen-observer").into(), PathBuf::from)
    }

    // ---- the mock ----------------------------------------------------------------------------------------

    const SCENARIOS: &[&str] = &["login", "form", "wizard", "apps", "long-list", "slow-load", "dense"];

    fn mock(run: Run) {
        let folder = tempfile::tempdir().unwrap();
        let traces = folder.path().join("traces");
        let web = web::Visitor::new();
        let mut command = Command::new(program());
        command.args(["--mock", "--log", "error"]).args(web.flags());
        command.env("OSO_TRACING__DIR", &traces).env("OSO_LOGGING__AUDIT", "true");
        command.env("OSO_LOGGING__AUDIT_PATH", folder.path().join("audit.log"));
        command.env("OSO_WEB_UI__TOKEN_FILE", folder.path().join("token"));
        let mut work = Work::on(command, run);
        let specs: Vec<Spec> = tools::all_tools().collect();
        while work.goes_on() {
            for scenario in SCENARIOS {
                let path = format!("scenarios/{scenario}.yaml");
                work.call("load_scenario", json!({"path": path}), Kind::Other);
                let here = |spec: &Spec| spec.meta.examples[0].scenario.is_none_or(|named| named == path);
                for spec in specs.iter().filter(|spec| here(spec)) {
                    work.example(spec);
                }
                work.mischief();
                web.visit();
                if !work.goes_on() {
                    break;
                }
            }
            work.call("trace_stop", json!({}), Kind::Other);
            let _ = std::fs::remove_dir_all(&traces);
        }
        work.run.end(&work.client);
    }

    // ---- the private desktop -----------------------------------------------------------------------------

    fn desktop(run: Run) {
        let plan =
            SandboxPlan { size: Size { width: 1600, height: 1000 }, command: Vec::new(), isolation: None };
        let sandbox = Sandbox::start_with(&program(), &plan).expect("the private desktop");
        let start = |program: &str, arguments: &[&str]| {
            let mut command = Command::new(program);
            command.env_clear().envs(sandbox.environment()).args(arguments);
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
            Guest(command.spawn().expect(program))
        };
        let stays =
            [start("gtk3-widget-factory", &[]), start("gnome-calculator", &[]), start("mousepad", &[])];
        let mut command = Command::new(program());
        command.env_clear().envs(sandbox.environment()).args(["--mode", "mcp", "--log", "error"]);
        let mut work = Work::on(command, run);
        while work.goes_on() {
            let comes_and_goes = start("zenity", &["--entry", "--title", "soak", "--text", "Your name"]);
            for guest in stays.iter().chain([&comes_and_goes]) {
                work.around(guest.0.id());
            }
            work.call("get_full_screenshot", json!({}), Kind::Picture);
            work.mischief();
        }
        work.run.end(&work.client);
    }

    /// A program on the desktop, ended with this value.
    struct Guest(Child);

    impl Drop for Guest {
        fn drop(&mut self) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }

    // ---- the work ----------------------------------------------------------------------------------------

    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    enum Kind {
        Read,
        Picture,
        Input,
        /// Waits, traces, replays: their time is not the server's.
        Other,
    }

    struct Work {
        client: Client,
        run: Run,
    }

    impl Work {
        fn on(command: Command, run: Run) -> Self {
            let mut client = Client::spawn(command);
            client.initialize("2025-11-25");
            let mut work = Self { client, run };
            work.run.began = Instant::now();
            work.run.note(&work.client);
            work
        }

        fn goes_on(&mut self) -> bool {
            self.run.note(&self.client);
            self.run.began.elapsed() < self.run.length
        }

        fn call(&mut self, tool: &str, arguments: Value, kind: Kind) -> Value {
            let asked = Instant::now();
            let id = self.client.post("tools/call", json!({"name": tool, "arguments": arguments}));
            let answer = self.answer(id, tool);
            self.run.calls.push((kind, asked.elapsed()));
            if answer["result"]["isError"] == true || answer["error"].is_object() {
                *self.run.failures.entry((tool.to_owned(), reason(&answer))).or_default() += 1;
            }
            std::thread::sleep(self.run.pause);
            answer["result"]["structuredContent"].clone()
        }

        fn answer(&mut self, id: u64, what: &str) -> Value {
            loop {
                let message =
                    self.client.receive_within(PATIENCE).unwrap_or_else(|| panic!("no answer to {what}"));
                if message["id"] == id {
                    return message;
                }
            }
        }

        fn example(&mut self, spec: &Spec) {
            for (tool, args) in spec.meta.before_examples {
                self.call(tool, serde_json::from_str(args).unwrap(), Kind::Other);
            }
            for example in spec.meta.examples {
                self.call(spec.meta.name, serde_json::from_str(example.args).unwrap(), kind(spec));
            }
        }

        /// What an agent does with a window.
        fn around(&mut self, pid: u32) {
            let windows = self.call("list_windows", json!({}), Kind::Read);
            let rows = windows["windows"].as_array().cloned().unwrap_or_default();
            let Some(uid) = rows.iter().find(|row| row["pid"] == pid).map(|row| row["window_uid"].clone())
            else {
                return;
            };
            let of = |more: Value| {
                let mut arguments = more;
                arguments["window_uid"] = uid.clone();
                arguments
            };
            self.call("bring_to_foreground", of(json!({})), Kind::Input);
            self.call("look", of(json!({})), Kind::Read);
            self.call("get_window_structure", of(json!({"depth": 64})), Kind::Read);
            self.call("observe_window", of(json!({})), Kind::Read);
            self.call("find", of(json!({"text": "entry"})), Kind::Read);
            self.call("get_screenshot", of(json!({})), Kind::Picture);
            self.call("get_ocr", of(json!({})), Kind::Picture);
            self.call("type_text", json!({"text": "soak 42"}), Kind::Input);
            self.call("press_key", json!({"keys": "ctrl+a"}), Kind::Input);
            self.call("press_key", json!({"keys": "BackSpace"}), Kind::Input);
            self.call("wait_idle", of(json!({"timeout_ms": 1000})), Kind::Other);
            self.call("snapshot", json!({}), Kind::Read);
        }

        /// What no honest client does: a burst, a broken line, an unknown tool, a wrong argument, a wait that is
        /// cancelled.
        fn mischief(&mut self) {
            let burst: Vec<u64> = (0..32)
                .map(|_| self.client.post("tools/call", json!({"name": "list_windows", "arguments": {}})))
                .collect();
            let mut open: Vec<u64> = burst;
            while !open.is_empty() {
                let message = self.client.receive_within(PATIENCE).expect("an answer of the burst");
                open.retain(|id| message["id"] != *id);
            }
            self.client.send_raw("{\"jsonrpc\": \"2.0\", broken\n");
            self.call("no_such_tool", json!({}), Kind::Other);
            self.call("click_at", json!({"x": "left", "y": null}), Kind::Other);
            let condition = json!([{"type": "text_visible", "text": "never there"}]);
            let wait = self.client.post(
                "tools/call",
                json!({"name": "wait_for", "arguments": {"any_of": condition, "timeout_ms": 60000}}),
            );
            self.client.send(&json!({
                "jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": wait}
            }));
        }
    }

    /// The code of a failure, as the tool or the protocol has it.
    fn reason(answer: &Value) -> String {
        let text = answer["result"]["content"][0]["text"].as_str().unwrap_or_default();
        let told: Value = serde_json::from_str(text).unwrap_or_default();
        told["error"]["code"].as_str().map_or_else(|| answer["error"]["code"].to_string(), str::to_owned)
    }

    fn kind(spec: &Spec) -> Kind {
        if spec.meta.waits || spec.meta.group.name() == "harness" {
            Kind::Other
        } else if spec.meta.group.name() == "screen" {
            Kind::Picture
        } else if spec.meta.effect == Effect::Observe {
            Kind::Read
        } else {
            Kind::Input
        }
    }

    // ---- what is measured --------------------------------------------------------------------------------

    struct Run {
        began: Instant,
        length: Duration,
        pause: Duration,
        calls: Vec<(Kind, Duration)>,
        /// How often which tool failed with which code: a run whose work is refused measures nothing.
        failures: BTreeMap<(String, String), usize>,
        total: usize,
        cpu_before: Duration,
        samples: Vec<Sample>,
    }

    struct Sample {
        minute: f64,
        calls: usize,
        memory_kb: u64,
        handles: usize,
        threads: u64,
        cpu_a_call: Duration,
        times: BTreeMap<Kind, (Duration, Duration)>,
    }

    impl Run {
        fn new(length: Duration, pause: Duration) -> Self {
            println!(
                "{:>7}{:>9}{:>11}{:>9}{:>9}{:>13}   median and p99 of reads, pictures, inputs",
                "minute", "calls", "memory kB", "handles", "threads", "CPU a call"
            );
            Self {
                began: Instant::now(),
                length,
                pause,
                calls: Vec::new(),
                failures: BTreeMap::new(),
                total: 0,
                cpu_before: Duration::ZERO,
                samples: Vec::new(),
            }
        }

        /// Closes a part of the run once its time has come.
        fn note(&mut self, client: &Client) {
            let due = self.length * (self.samples.len() as u32 + 1) / PARTS;
            if self.began.elapsed() < due || self.calls.is_empty() {
                return;
            }
            let process = Process(client.process_id());
            let cpu = process.cpu();
            let calls = std::mem::take(&mut self.calls);
            self.total += calls.len();
            let sample = Sample {
                minute: self.began.elapsed().as_secs_f64() / 60.0,
                calls: calls.len(),
                memory_kb: process.status("VmRSS:"),
                handles: process.handles(),
                threads: process.status("Threads:"),
                cpu_a_call: cpu.saturating_sub(self.cpu_before) / calls.len() as u32,
                times: times(&calls),
            };
            self.cpu_before = cpu;
            sample.print();
            self.samples.push(sample);
        }

        /// The first third beside the last, by the middle of each; the very first part is the warming up.
        fn end(&mut self, client: &Client) {
            self.note(client);
            let parts = self.samples.len().saturating_sub(1);
            let third = (parts / 3).max(1).min(parts);
            let failed: usize = self.failures.values().sum();
            println!("\n{} calls, {failed} of them refused or failed:", self.total);
            for ((tool, code), count) in &self.failures {
                println!("{count:>7}  {tool}: {code}");
            }
            let (Some(first), Some(last)) =
                (self.samples.get(1..=third), self.samples.get(parts + 1 - third..))
            else {
                println!("too short to compare its beginning with its end");
                return;
            };
            println!("{:<28}{:>14}{:>14}{:>9}", "", "first third", "last third", "ratio");
            compare("memory, kB", first, last, |sample| sample.memory_kb as f64);
            compare("handles", first, last, |sample| sample.handles as f64);
            compare("threads", first, last, |sample| sample.threads as f64);
            compare("CPU a call, µs", first, last, |sample| micros(sample.cpu_a_call));
            for kind in [Kind::Read, Kind::Picture, Kind::Input] {
                let of = |sample: &Sample| sample.times.get(&kind).copied().unwrap_or_default();
                compare(&format!("{kind:?} median, µs"), first, last, |sample| micros(of(sample).0));
                compare(&format!("{kind:?} p99, µs"), first, last, |sample| micros(of(sample).1));
            }
        }
    }

    fn compare(what: &str, first: &[Sample], last: &[Sample], figure: impl Fn(&Sample) -> f64) {
        let middle = |samples: &[Sample]| {
            let mut figures: Vec<f64> = samples.iter().map(&figure).collect();
            figures.sort_by(f64::total_cmp);
            figures[figures.len() / 2]
        };
        let (before, after) = (middle(first), middle(last));
        println!("{what:<28}{before:>14.0}{after:>14.0}{:>9.2}", after / before);
    }

    fn times(calls: &[(Kind, Duration)]) -> BTreeMap<Kind, (Duration, Duration)> {
        let mut kinds: BTreeMap<Kind, Vec<Duration>> = BTreeMap::new();
        for (kind, time) in calls {
            kinds.entry(*kind).or_default().push(*time);
        }
        let shown = |mut times: Vec<Duration>| {
            times.sort();
            (times[times.len() / 2], times[times.len() * 99 / 100])
        };
        kinds.into_iter().map(|(kind, times)| (kind, shown(times))).collect()
    }

    impl Sample {
        fn print(&self) {
            let of = |kind| {
                let (median, p99) = self.times.get(&kind).copied().unwrap_or_default();
                format!("{:.1}/{:.1} ms", micros(median) / 1000.0, micros(p99) / 1000.0)
            };
            println!(
                "{:>7.1}{:>9}{:>11}{:>9}{:>9}{:>10.0} µs   {}  {}  {}",
                self.minute,
                self.calls,
                self.memory_kb,
                self.handles,
                self.threads,
                micros(self.cpu_a_call),
                of(Kind::Read),
                of(Kind::Picture),
                of(Kind::Input),
            );
        }
    }

    fn micros(time: Duration) -> f64 {
        time.as_secs_f64() * 1e6
    }

    /// The server, as `/proc` shows it.
    struct Process(u32);

    impl Process {
        fn status(&self, name: &str) -> u64 {
            let text = std::fs::read_to_string(format!("/proc/{}/status", self.0)).expect("the server lives");
            let line = text.lines().find_map(|line| line.strip_prefix(name)).unwrap();
            line.split_whitespace().next().unwrap().parse().unwrap()
        }

        fn handles(&self) -> usize {
            std::fs::read_dir(format!("/proc/{}/fd", self.0)).expect("the server lives").count()
        }

        /// User and system time of all threads, in ticks of a hundredth of a second.
        fn cpu(&self) -> Duration {
            let text = std::fs::read_to_string(format!("/proc/{}/stat", self.0)).expect("the server lives");
            let fields: Vec<&str> = text.rsplit(')').next().unwrap().split_whitespace().collect();
            let ticks: u64 = fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap();
            Duration::from_millis(ticks * 10)
        }
    }

    /// Those who come by HTTP.
    #[cfg(feature = "http")]
    mod web {
        use std::io::{Read, Write};
        use std::net::{TcpListener, TcpStream};
        use std::time::Duration;

        pub struct Visitor {
            port: u16,
        }

        impl Visitor {
            pub fn new() -> Self {
                let free = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
                Self { port: free.expect("a free port").port() }
            }

            pub fn flags(&self) -> Vec<String> {
                ["--mode", "both", "--port", &self.port.to_string()].map(str::to_owned).into()
            }

            /// Some requests that are read to the end, a stream of events and a request that are left in the middle.
            pub fn visit(&self) {
                for path in ["/api/windows", "/api/healthz", "/api/metrics", "/api/structure", "/api/no-such"]
                {
                    let mut answer = Vec::new();
                    let _ = self.ask(path).read_to_end(&mut answer);
                    assert!(answer.starts_with(b"HTTP/1.1"), "{path} was not answered");
                }
                let _ = self.ask("/api/events").read(&mut [0; 64]);
                let _ = self.connect().write_all(b"GET /api/win");
            }

            fn connect(&self) -> TcpStream {
                let stream = TcpStream::connect(("127.0.0.1", self.port)).expect("the server listens");
                stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
                stream
            }

            fn ask(&self, path: &str) -> TcpStream {
                let mut stream = self.connect();
                let host = format!("127.0.0.1:{}", self.port);
                let request = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
                stream.write_all(request.as_bytes()).unwrap();
                stream
            }
        }
    }

    #[cfg(not(feature = "http"))]
    mod web {
        pub struct Visitor;

        impl Visitor {
            pub fn new() -> Self {
                Self
            }

            pub fn flags(&self) -> Vec<String> {
                ["--mode", "mcp"].map(str::to_owned).into()
            }

            pub fn visit(&self) {}
        }
    }
}
