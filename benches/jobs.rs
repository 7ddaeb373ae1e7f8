//! What jobs cost, measured on the mock desktop.
//!
//!     cargo bench --bench jobs -- [rate|step|cancel|kills|memory] [--jobs N] [--tries N]
//!
//! `rate`: scripted jobs on a server with four workers, end to end. `step`: what a step of a job costs beside the same
//! call without one, and its rows. `cancel`: from the request to the end of the job. `kills`: a program that is killed at
//! random moments; nothing is lost and nothing repeated. `memory`: the server over many jobs. Without an argument
//! all of them run. Linux only: it reads `/proc`.
#![cfg_attr(not(all(target_os = "linux", feature = "jobs", feature = "http")), allow(unused))]
#![allow(
    clippy::disallowed_methods,
    reason = "a benchmark runs in real time and sets up its own environment"
)]
#![allow(clippy::print_stdout, clippy::unwrap_used, clippy::expect_used, reason = "a program for a terminal")]

#[path = "../tests/support/mod.rs"]
mod support;

#[cfg(not(all(target_os = "linux", feature = "jobs", feature = "http")))]
fn main() {
    println!("benches/jobs.rs needs Linux and the features jobs and http: nothing was run");
}

#[cfg(all(target_os = "linux", feature = "jobs", feature = "http"))]
fn main() {
    figures::main();
}

#[cfg(all(target_os = "linux", feature = "jobs", feature = "http"))]
mod figures {
    use std::io::{BufRead, BufReader, Read, Write};
    use std::net::TcpStream;
    use std::process::{Child, Command, Stdio};
    use std::sync::Arc;
    use std::time::{Duration, Instant};

    use os_screen_observer::clock::{Cancel, Clock};
    use os_screen_observer::jobs::lease::unix_ms;
    use os_screen_observer::jobs::resuming::RunDesk;
    use os_screen_observer::jobs::run::{Runner, WhenStopped};
    use os_screen_observer::jobs::spec::JobSpec;
    use os_screen_observer::jobs::status::{JobStatus, Wanted};
    use os_screen_observer::jobs::store::sqlite::SqliteStore;
    use os_screen_observer::jobs::store::{Claimed, Ending, Store};
    use serde_json::{Value, json};

    use super::support::killed_runs::kill_runs;
    use super::support::{World, project};

    const SCENARIO: &str = "scenarios/login.yaml";
    const PROGRAM: &str = env!("CARGO_BIN_EXE_os-screen-observer");

    pub fn main() {
        let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
        // `cargo test --benches` only wants to know that this still runs.
        let measuring = std::env::args().any(|word| word == "--bench");
        let count = |name: &str, whole: usize, short: usize| {
            number(&words, name).unwrap_or(if measuring { whole } else { short })
        };
        let parts = ["rate", "step", "cancel", "kills", "memory"];
        let chosen = |part: &str| {
            words.iter().any(|word| word == part) || !words.iter().any(|word| parts.contains(&word.as_str()))
        };
        if chosen("rate") {
            measure_rate(count("--jobs", 1000, 8));
        }
        if chosen("step") {
            measure_step(count("--tries", 400, 20));
        }
        if chosen("cancel") {
            measure_cancel(count("--tries", 200, 4));
        }
        if chosen("kills") {
            measure_kills(count("--tries", 200, 2));
        }
        if chosen("memory") {
            measure_memory(count("--jobs", 10_000, 9));
        }
    }

    fn number(words: &[String], name: &str) -> Option<usize> {
        let at = words.iter().position(|word| word == name)?;
        let number = words.get(at + 1).and_then(|word| word.parse().ok());
        Some(number.unwrap_or_else(|| panic!("{name} wants a number")))
    }

    // ---- a server ------------------------------------------------------------------------------------------

    struct JobServer {
        child: Child,
        port: u16,
        folder: tempfile::TempDir,
    }

    impl JobServer {
        fn start(workers: usize) -> Self {
            let folder = tempfile::tempdir().unwrap();
            let scripts = folder.path().join("scripts");
            std::fs::create_dir_all(&scripts).unwrap();
            let mut child = Command::new(PROGRAM)
                .args(["--mode", "inspect", "--mock", "--port", "0", "--scenario"])
                .arg(project().join(SCENARIO))
                .current_dir(folder.path())
                .env("XDG_CONFIG_HOME", folder.path())
                .env("OSO_JOBS__ENABLED", "true")
                .env("OSO_JOBS__WORKERS", workers.to_string())
                .env("OSO_JOBS__DIR", folder.path().join("jobs"))
                .env("OSO_JOBS__SCRIPTS", &scripts)
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap();
            let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
            let line = lines.find(|line| line.contains("http://127.0.0.1:")).unwrap();
            let port: String = line
                .split("http://127.0.0.1:")
                .nth(1)
                .unwrap()
                .chars()
                .take_while(char::is_ascii_digit)
                .collect();
            std::thread::spawn(move || lines.for_each(drop));
            let server = Self { child, port: port.parse().unwrap(), folder };
            server.write_script();
            server
        }

        fn write_script(&self) {
            let steps = json!([
                {"call": "set_value", "args": {"selector": "Edit[name=\"Username\"]", "value": "alice"}},
                {"call": "click_element", "args": {"selector": "Button[name=\"Login\"]"}},
                {"finish": {"user": "alice"}}
            ]);
            let path = self.folder.path().join("scripts/a.yaml");
            std::fs::write(path, json!({ "steps": steps }).to_string()).unwrap();
        }

        fn ask(&self, method: &str, path: &str, body: &str) -> Value {
            let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
            write!(
                stream,
                "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nConnection: close\r\n\
                 Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
                self.port,
                body.len()
            )
            .unwrap();
            let mut answer = String::new();
            stream.read_to_string(&mut answer).unwrap();
            let (_, body) = answer.split_once("\r\n\r\n").unwrap();
            serde_json::from_str(body).unwrap()
        }

        fn submit(&self) {
            let made = self.ask("POST", "/api/jobs", r#"{"job": "log in", "planner": "scripted:a.yaml"}"#);
            assert!(made["job_id"].is_string(), "{made}");
        }

        fn wait_for(&self, jobs: usize) {
            loop {
                let stats = self.ask("GET", "/api/stats", "");
                assert_eq!(stats["by_status"]["failed"], 0, "{stats}");
                if stats["by_status"]["succeeded"] == jobs {
                    return;
                }
                std::thread::sleep(Duration::from_millis(20));
            }
        }

        fn resident_kib(&self) -> u64 {
            let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
            let line = status.lines().find(|line| line.starts_with("VmRSS")).unwrap();
            line.split_whitespace().nth(1).unwrap().parse().unwrap()
        }
    }

    impl Drop for JobServer {
        fn drop(&mut self) {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }

    fn measure_rate(jobs: usize) {
        let server = JobServer::start(4);
        let began = Instant::now();
        (0..jobs).for_each(|_| server.submit());
        let submitted = began.elapsed();
        server.wait_for(jobs);
        let took = began.elapsed();
        let rate = jobs as f64 / took.as_secs_f64();
        println!("rate: {jobs} jobs on 4 workers in {took:?} (submitted in {submitted:?}): {rate:.0} jobs/s");
    }

    fn measure_memory(jobs: usize) {
        let server = JobServer::start(4);
        let mut sizes = vec![server.resident_kib()];
        for part in 1..=4 {
            let until = jobs * part / 4;
            (jobs * (part - 1) / 4..until).for_each(|_| server.submit());
            server.wait_for(until);
            sizes.push(server.resident_kib());
        }
        println!("memory: the server over {jobs} jobs, each quarter: {sizes:?} KiB");
    }

    // ---- one job in this process ---------------------------------------------------------------------------

    struct Job {
        world: World,
        store: Arc<SqliteStore>,
        claimed: Claimed,
        _folder: tempfile::TempDir,
    }

    impl Job {
        fn new(steps: Value) -> Self {
            let folder = tempfile::tempdir().unwrap();
            let script = folder.path().join("script.yaml");
            std::fs::write(&script, json!({ "steps": steps }).to_string()).unwrap();
            let planner = format!("scripted:{}", script.display());
            let spec = json!({"job": "log in", "planner": planner, "limits": {"max_steps": 2000}});
            let spec = JobSpec::from_value(spec).unwrap();
            let store = Arc::new(SqliteStore::open(&folder.path().join("jobs.db")).unwrap());
            let claimed = store.enqueue_taken(&spec, "w", unix_ms(&Clock::real())).unwrap();
            Self { world: World::in_real_time(SCENARIO, json!({})), store, claimed, _folder: folder }
        }

        fn run(&self) -> Ending {
            let app = &self.world.app;
            let runner = Runner {
                gate: &app.gate,
                tools: &app.tools,
                planner: &app.config.planner,
                clock: app.clock.clone(),
                store: self.store.clone(),
                progress: &|_| {},
                when_stopped: WhenStopped::Cancelled,
                desk: RunDesk::LASTING,
            };
            runner.run(&self.claimed, &Cancel::new()).unwrap()
        }

        fn id(&self) -> &str {
            &self.claimed.lease.job_id
        }
    }

    fn typed(number: usize) -> Value {
        json!({"selector": "Edit[name=\"Username\"]", "value": format!("u{number}")})
    }

    /// From the planner's answer to the input, beside the same calls without a job.
    fn measure_step(steps: usize) {
        let mut script: Vec<Value> =
            (0..steps).map(|number| json!({"call": "set_value", "args": typed(number)})).collect();
        script.push(json!({"finish": {}}));
        let job = Job::new(json!(script));
        let began = Instant::now();
        assert_eq!(job.run().status, JobStatus::Succeeded);
        let by_job = began.elapsed() / steps as u32;
        let rows = job.store.read(job.id()).unwrap().unwrap().last_event as f64 / steps as f64;
        let plain = World::in_real_time(SCENARIO, json!({}));
        let began = Instant::now();
        (0..steps).for_each(|number| drop(plain.ok("set_value", typed(number))));
        let by_call = began.elapsed() / steps as u32;
        let over = by_job.saturating_sub(by_call);
        println!("step: {over:?} more than the same call ({by_job:?}, {by_call:?}), {rows:.2} rows");
    }

    /// The time from a cancel to the end of the job, at random moments.
    fn measure_cancel(tries: usize) {
        let wait = json!({"call": "wait_for",
            "args": {"any_of": [{"type": "window_appears", "title_regex": "never"}], "timeout_ms": 30000}});
        let (mut longest, mut late) = (Duration::ZERO, 0);
        for round in 0..tries {
            let typing: Vec<Value> =
                (0..500).map(|number| json!({"call": "set_value", "args": typed(number)})).collect();
            let job = Job::new(if round % 2 == 0 { json!([wait]) } else { json!(typing) });
            let took = std::thread::scope(|scope| {
                let end = scope.spawn(|| (job.run().status, Instant::now()));
                std::thread::sleep(Duration::from_millis(5 + (round as u64) * 7 % 60));
                let cancelled = job.store.control(job.id(), Wanted::Cancel, 0).is_ok();
                let (wished, effects) = (Instant::now(), job.world.effects());
                let (status, ended) = end.join().unwrap();
                assert!(!cancelled || status == JobStatus::Cancelled, "{status}");
                // What was let through before the wish may still arrive.
                assert!(!cancelled || job.world.effects() <= effects + 1);
                ended.saturating_duration_since(wished)
            });
            longest = longest.max(took);
            late += usize::from(took > Duration::from_secs(1));
        }
        println!("cancel: {tries} tries, the longest {longest:?}, {late} later than a second");
    }

    // ---- kills ---------------------------------------------------------------------------------------------

    fn measure_kills(tries: usize) {
        let ends = kill_runs(tries, 60);
        println!("kills: {tries}, nothing lost and nothing repeated; the jobs were then {ends:?}");
    }
}
