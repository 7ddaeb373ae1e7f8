//! What a client pays: the built server, driven over its pipes.
//!
//!     cargo bench --bench stdio
//!
//! CPU is the server's own (user and system, from `/proc`), so that it hardly depends on what else the machine
//! does. Times on the clock are the best of several rounds, for the same reason, and contain the client's work.
//! Nothing here fails when a figure is bad: `docs/performance.md` says what is wanted.
#![allow(
    clippy::disallowed_methods,
    reason = "a benchmark runs in real time and sets up its own environment"
)]
#![allow(clippy::print_stdout, reason = "a benchmark prints its table")]
#![allow(clippy::unwrap_used, reason = "a benchmark that cannot run stops")]

#[cfg(not(target_os = "linux"))]
fn main() {
    println!(
        "benches/stdio.rs reads CPU time and memory from /proc, which only Linux has: nothing was measured"
    );
}

#[cfg(target_os = "linux")]
fn main() {
    linux::main();
}

#[cfg(target_os = "linux")]
mod linux {
    use std::io::{BufRead, BufReader, Write};
    use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
    use std::time::{Duration, Instant};

    use serde_json::{Value, json};

    const DENSE: &[&str] = &["--scenario", "scenarios/dense.yaml"];
    const NO_CACHE: &[(&str, &str)] = &[("OSO_TREE__CACHE_TTL_S", "0")];

    /// One line of the table: a call that is made again and again.
    struct Row {
        label: &'static str,
        flags: &'static [&'static str],
        environment: &'static [(&'static str, &'static str)],
        tool: &'static str,
        arguments: &'static str,
        calls_per_round: usize,
        /// How many calls may be under way at a time.
        in_flight: usize,
    }

    const ROWS: &[Row] = &[
        Row { label: "list_windows, one at a time", calls_per_round: 4000, ..LIST_WINDOWS },
        Row { label: "list_windows, pipelined", in_flight: 256, calls_per_round: 8000, ..LIST_WINDOWS },
        Row { label: "structure of dense, cache miss", environment: NO_CACHE, ..STRUCTURE },
        Row { label: "structure of dense, cache hit", ..STRUCTURE },
        Row {
            label: "screenshot 800x600",
            flags: &[],
            tool: "get_screenshot",
            arguments: r#"{"window_index":0}"#,
            calls_per_round: 200,
            ..STRUCTURE
        },
        Row {
            label: "sketch of dense",
            tool: "get_screen_sketch",
            arguments: "{}",
            calls_per_round: 400,
            ..STRUCTURE
        },
        Row {
            label: "find_element // on dense",
            tool: "find_element",
            arguments: r#"{"selector":"//CheckBox[name=\"Counted\"]"}"#,
            calls_per_round: 4000,
            ..STRUCTURE
        },
        Row {
            label: "click_element receipt on dense",
            tool: "click_element",
            arguments: r#"{"selector":"//Button[name=\"Save\"]"}"#,
            ..STRUCTURE
        },
    ];

    const LIST_WINDOWS: Row = Row {
        label: "",
        flags: &[],
        environment: &[],
        tool: "list_windows",
        arguments: "{}",
        calls_per_round: 0,
        in_flight: 1,
    };

    const STRUCTURE: Row = Row {
        label: "",
        flags: DENSE,
        environment: &[],
        tool: "get_window_structure",
        arguments: r#"{"depth":8}"#,
        calls_per_round: 100,
        in_flight: 1,
    };

    pub fn main() {
        // `cargo test --benches` only wants to know that this still runs.
        let measuring = std::env::args().any(|argument| argument == "--bench");
        let (starts, rounds) = if measuring { (60, 5) } else { (1, 1) };
        println!("\n{}, {} cores", processor(), cores());
        println!("CPU: the server's user and system time; wall: the best round; both per call\n");
        cold_start(starts);
        footprint();
        println!(
            "\n{:<32}{:>10}{:>11}{:>11}{:>11}{:>11}",
            "", "calls", "CPU best", "CPU median", "wall", "calls/s"
        );
        for row in ROWS {
            let calls = if measuring { row.calls_per_round } else { row.in_flight };
            row.measure(rounds, calls);
        }
    }

    fn cold_start(starts: usize) {
        let (mut cpu, mut wall) = (Vec::new(), Vec::new());
        for _ in 0..starts {
            let began = Instant::now();
            let server = Server::start(&[], &[]);
            wall.push(began.elapsed());
            cpu.push(server.cpu_of_threads());
        }
        cpu.sort();
        wall.sort();
        println!(
            "cold start to initialize answered   CPU best {}, median {}; wall best {}, median {}   ({starts} starts)",
            shown(cpu[0]),
            shown(cpu[starts / 2]),
            shown(wall[0]),
            shown(wall[starts / 2])
        );
    }

    fn footprint() {
        let mut server = Server::start(&[], &[]);
        let list = server.request(0, "tools/list", json!({}));
        std::thread::sleep(Duration::from_millis(300));
        println!(
            "memory when idle after tools/list   {:.1} MB resident",
            server.resident_bytes() as f64 / 1e6
        );
        let reply: Value = serde_json::from_str(&list).unwrap();
        let tools = reply["result"]["tools"].as_array().unwrap();
        let bytes: usize = tools.iter().map(|tool| tool.to_string().len()).sum();
        println!(
            "tools/list                          {} tools, {bytes} bytes, {} tokens a tool (bytes / 4)",
            tools.len(),
            bytes / 4 / tools.len()
        );
    }

    impl Row {
        fn measure(&self, rounds: usize, calls: usize) {
            let mut server = Server::start(self.flags, self.environment);
            // The first calls build what later ones reuse (schemas, threads).
            self.round(&mut server, calls.div_ceil(10));
            let mut measured: Vec<(Duration, Duration)> =
                (0..rounds).map(|_| self.round(&mut server, calls)).collect();
            let wall = measured.iter().map(|(_, wall)| *wall).min().unwrap();
            measured.sort();
            let per_call = |duration: Duration| shown(duration / u32::try_from(calls).unwrap());
            println!(
                "{:<32}{:>10}{:>11}{:>11}{:>11}{:>11.0}",
                self.label,
                calls * rounds,
                per_call(measured[0].0),
                per_call(measured[rounds / 2].0),
                per_call(wall),
                calls as f64 / wall.as_secs_f64()
            );
        }

        /// CPU and clock time of `calls` calls.
        fn round(&self, server: &mut Server, calls: usize) -> (Duration, Duration) {
            let arguments: Value = serde_json::from_str(self.arguments).unwrap();
            let params = json!({"name": self.tool, "arguments": arguments});
            let requests: Vec<String> = (0..calls).map(|id| line(id, "tools/call", &params)).collect();
            let (cpu, began) = (server.cpu_of_process(), Instant::now());
            // Sent in halves of what may be under way, so that the server never runs dry.
            let batch_size = self.in_flight.div_ceil(2);
            for batch in requests.chunks(batch_size) {
                server.send(&batch.concat());
                server.expect_answers(batch.len(), self.in_flight - batch_size);
            }
            server.expect_answers(0, 0);
            (server.cpu_of_process() - cpu, began.elapsed())
        }
    }

    struct Server {
        child: Child,
        input: ChildStdin,
        output: BufReader<ChildStdout>,
        outstanding: usize,
    }

    impl Server {
        /// A server on the mock desktop that has answered `initialize`.
        fn start(flags: &[&str], environment: &[(&str, &str)]) -> Self {
            let mut child = Command::new(env!("CARGO_BIN_EXE_os-screen-observer"))
                .args(["--mode", "mcp", "--mock"])
                .args(flags)
                .envs(environment.iter().copied())
                .current_dir(env!("CARGO_MANIFEST_DIR"))
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .stderr(Stdio::null())
                .spawn()
                .unwrap();
            let input = child.stdin.take().unwrap();
            let output = BufReader::with_capacity(1 << 16, child.stdout.take().unwrap());
            let mut server = Server { child, input, output, outstanding: 0 };
            let client = json!({"name": "bench", "version": "1"});
            let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
            server.request(0, "initialize", hello);
            server.send("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n");
            server
        }

        fn request(&mut self, id: usize, method: &str, params: Value) -> String {
            self.send(&line(id, method, &params));
            let mut answer = String::new();
            self.output.read_line(&mut answer).unwrap();
            assert!(answer.contains("\"result\""), "{method} was answered with {answer}");
            answer
        }

        fn send(&mut self, text: &str) {
            self.input.write_all(text.as_bytes()).unwrap();
        }

        /// Takes in answers until only `still_under_way` of the calls are unanswered. A failed call is no call.
        fn expect_answers(&mut self, sent: usize, still_under_way: usize) {
            self.outstanding += sent;
            let mut answer = Vec::new();
            while self.outstanding > still_under_way {
                answer.clear();
                self.output.read_until(b'\n', &mut answer).unwrap();
                let head = String::from_utf8_lossy(&answer[..answer.len().min(120)]);
                assert!(head.contains("\\\"ok\\\":true"), "a call was answered with {head}");
                self.outstanding -= 1;
            }
        }

        /// To a hundredth of a second, and with the threads that have ended.
        fn cpu_of_process(&self) -> Duration {
            let stat = self.proc("stat");
            let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
            let ticks: u64 = fields[11..13].iter().map(|field| field.parse::<u64>().unwrap()).sum();
            Duration::from_millis(ticks * 10)
        }

        /// To the nanosecond, but only of the threads that live: for a server that has just started.
        fn cpu_of_threads(&self) -> Duration {
            let threads = std::fs::read_dir(format!("/proc/{}/task", self.child.id())).unwrap();
            let nanoseconds = threads.map(|thread| {
                let schedule = std::fs::read_to_string(thread.unwrap().path().join("schedstat")).unwrap();
                schedule.split_whitespace().next().unwrap().parse::<u64>().unwrap()
            });
            Duration::from_nanos(nanoseconds.sum())
        }

        fn resident_bytes(&self) -> u64 {
            let status = self.proc("status");
            let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
            line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 1024
        }

        fn proc(&self, file: &str) -> String {
            std::fs::read_to_string(format!("/proc/{}/{file}", self.child.id())).unwrap()
        }
    }

    impl Drop for Server {
        fn drop(&mut self) {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }

    fn line(id: usize, method: &str, params: &Value) -> String {
        format!("{}\n", json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
    }

    fn shown(duration: Duration) -> String {
        let micros = duration.as_secs_f64() * 1e6;
        if micros < 1000.0 { format!("{micros:.1} µs") } else { format!("{:.2} ms", micros / 1000.0) }
    }

    fn processor() -> String {
        let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let name = info.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
        name.map_or_else(|| "unknown processor".to_owned(), |(_, name)| name.to_owned())
    }

    fn cores() -> usize {
        std::thread::available_parallelism().map_or(1, usize::from)
    }
}
