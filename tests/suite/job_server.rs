//! A server that runs jobs: the queue, the workers in processes of their own, REST, the WebSocket and the tools.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::{Client, project};

const PATIENCE: Duration = Duration::from_secs(60);

/// Shown with every request; it counts where a test sets it.
pub const TOKEN: &str = "a-token-of-the-tests";

/// The built program with jobs switched on, asked over HTTP.
pub struct JobServer {
    child: Child,
    port: u16,
    folder: tempfile::TempDir,
}

impl JobServer {
    pub fn start(settings: &[(&str, &str)]) -> Self {
        Self::start_in(tempfile::tempdir().unwrap(), settings)
    }

    pub fn start_in(folder: tempfile::TempDir, settings: &[(&str, &str)]) -> Self {
        let scripts = folder.path().join("scripts");
        std::fs::create_dir_all(&scripts).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_os-screen-observer"));
        let scenario = project().join("scenarios/login.yaml");
        command
            .args(["--mode", "inspect", "--mock", "--port", "0", "--scenario"])
            .arg(scenario)
            .current_dir(folder.path())
            .env("XDG_CONFIG_HOME", folder.path())
            .env("OSO_TRACING__DIR", folder.path().join("traces"))
            .env("OSO_JOBS__ENABLED", "true")
            .env("OSO_JOBS__DIR", folder.path().join("jobs"))
            .env("OSO_JOBS__SCRIPTS", &scripts)
            .envs(settings.iter().copied())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let port = listening_port(child.stderr.take().unwrap());
        Self { child, port, folder }
    }

    pub fn script(&self, name: &str, steps: &Value) {
        let path = self.folder.path().join("scripts").join(name);
        std::fs::write(path, json!({ "steps": steps }).to_string()).unwrap();
    }

    pub fn ask(&self, method: &str, path: &str, body: &Value) -> (u16, Value) {
        let (status, body) = self.ask_raw(method, path, &body.to_string());
        (status, serde_json::from_slice(&body).unwrap_or(Value::Null))
    }

    /// A file that clients may name.
    #[cfg(target_os = "linux")]
    pub fn add_file(&self, name: &str, from: &std::path::Path) {
        std::fs::copy(from, self.folder.path().join("scripts").join(name)).unwrap();
    }

    fn ask_raw(&self, method: &str, path: &str, body: &str) -> (u16, Vec<u8>) {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        let length = if method == "GET" { 0 } else { body.len() };
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nConnection: close\r\nContent-Type: application/json\r\n\
             Authorization: Bearer {TOKEN}\r\nContent-Length: {length}\r\n\r\n{}",
            self.port,
            &body[..length]
        )
        .unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        let end = answer.windows(4).position(|four| four == b"\r\n\r\n").unwrap();
        let head = String::from_utf8_lossy(&answer[..end]).into_owned();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        (status, answer[end + 4..].to_vec())
    }

    pub fn get(&self, path: &str) -> Value {
        let (status, value) = self.ask("GET", path, &json!({}));
        assert_eq!(status, 200, "{path}: {value}");
        value
    }

    pub fn submit(&self, spec: Value) -> String {
        let (status, value) = self.ask("POST", "/api/jobs", &spec);
        assert_eq!(status, 200, "{value}");
        value["job_id"].as_str().unwrap().to_owned()
    }

    pub fn wait_until(&self, job_id: &str, holds: impl Fn(&Value) -> bool) -> Value {
        let began = Instant::now();
        loop {
            let job = self.get(&format!("/api/jobs/{job_id}"));
            if holds(&job) {
                return job;
            }
            assert!(began.elapsed() < PATIENCE, "waited in vain: {job}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    pub fn finished(&self, job_id: &str) -> Value {
        let over =
            ["succeeded", "failed", "cancelled", "interrupted", "budget_exceeded", "stalled", "rejected"];
        self.wait_until(job_id, |job| over.contains(&job["status"].as_str().unwrap()))
    }

    /// Ends the server as a crash would, and answers what is left of it.
    #[cfg(target_os = "linux")]
    pub fn jobs_folder(&self) -> std::path::PathBuf {
        self.folder.path().join("jobs")
    }

    #[cfg(target_os = "linux")]
    pub fn kill(mut self) -> tempfile::TempDir {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        std::mem::replace(&mut self.folder, tempfile::tempdir().unwrap())
    }
}

impl Drop for JobServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The port that the log names; what follows is read on, so that nobody waits.
fn listening_port(stderr: impl Read + Send + 'static) -> u16 {
    let mut lines = BufReader::new(stderr).lines();
    let mut said = String::new();
    let port = loop {
        let line = lines.next().unwrap_or_else(|| panic!("it ended: {said}")).unwrap();
        said.push_str(&line);
        let place = line.split("http://127.0.0.1:").nth(1);
        if let Some(port) =
            place.map(|rest| rest.chars().take_while(char::is_ascii_digit).collect::<String>())
        {
            break port.parse().unwrap();
        }
    };
    std::thread::spawn(move || lines.for_each(drop));
    port
}

pub fn steps(value: &str) -> Value {
    json!([
        {"call": "set_value", "args": {"selector": "Edit[name=\"Username\"]", "value": value}},
        {"call": "click_element", "args": {"selector": "Button[name=\"Login\"]"}},
        {"finish": {"user": value}}
    ])
}

const SLOW: &str = r#"[
    {"call": "set_value", "args": {"selector": "Edit[name=\"Username\"]", "value": "alice"}},
    {"call": "wait_for", "args": {"any_of": [{"type": "window_appears", "title_regex": "never"}], "timeout_ms": 20000}, "expect": {"error": "Timeout"}},
    {"finish": {}}
]"#;

fn slow() -> Value {
    serde_json::from_str(SLOW).unwrap()
}

#[test]
fn a_server_runs_the_jobs_that_it_is_given() {
    let server = JobServer::start(&[("OSO_JOBS__WORKERS", "2")]);
    server.script("a.yaml", &steps("alice"));
    let spec = json!({"job": "log in", "planner": "scripted:a.yaml", "record": true});
    let ids: Vec<String> = (0..4).map(|_| server.submit(spec.clone())).collect();
    for id in &ids {
        let job = server.finished(id);
        assert_eq!(
            (&job["status"], &job["result"]),
            (&json!("succeeded"), &json!({"user": "alice"})),
            "{job}"
        );
        assert_eq!(job["inputs"], 2);
    }
    assert_eq!(server.get("/api/jobs?limit=3")["count"], 3);
    assert_eq!(server.get(&format!("/api/jobs/{}/status", ids[0]))["steps"], 3);
    let stats = server.get("/api/stats");
    assert_eq!(
        (&stats["jobs"], &stats["by_status"]["succeeded"], &stats["inputs"]),
        (&json!(4), &json!(4), &json!(8))
    );
    let events = server.get(&format!("/api/jobs/{}/events?limit=2", ids[0]));
    assert_eq!((events["events"].as_array().unwrap().len(), &events["next"]), (2, &json!(2)));
    let rest = server.get(&format!("/api/jobs/{}/events?after=2", ids[0]));
    assert_eq!(rest["events"][0]["seq"], 3);
    let files = server.get(&format!("/api/jobs/{}/artifacts", ids[0]));
    assert!(
        files["artifacts"].as_array().unwrap().iter().any(|file| file["path"] == "trace.jsonl"),
        "{files}"
    );
    let (status, trace) =
        server.ask_raw("GET", &format!("/api/jobs/{}/artifact?path=trace.jsonl", ids[0]), "");
    assert!(status == 200 && String::from_utf8_lossy(&trace).contains("click_element"));
    for path in ["../../jobs.db", "%2e%2e/%2e%2e/jobs.db", "/etc/passwd", "trace.jsonl%00"] {
        let route = format!("/api/jobs/{}/artifact?path={path}", ids[0]);
        assert_eq!(server.ask_raw("GET", &route, "").0, 404, "{path}");
    }
}

#[test]
fn bad_jobs_and_unknown_ones_are_refused_by_their_field() {
    let server = JobServer::start(&[]);
    let refused = |spec: Value| {
        let (status, value) = server.ask("POST", "/api/jobs", &spec);
        (status, value["error"]["message"].as_str().unwrap_or_default().to_owned())
    };
    for (spec, word) in [
        (json!({}), "job"),
        (json!({"job": ""}), "empty"),
        (json!({"job": "a", "goal": 1}), "goal"),
        (json!({"job": "a", "limits": {"max_steps": 0}}), "limits.max_steps"),
        (json!({"job": "a", "limits": {"max_stepz": 1}}), "max_stepz"),
        (json!({"job": "a", "planner": "scripted:../../etc/passwd"}), "passwd"),
        (json!({"job": "a", "planner": "scripted:/etc/passwd"}), "passwd"),
        (json!({"job": "a", "disabled_tools": ["clickelement"]}), "disabled_tools"),
        (json!({"job": "a", "output_schema": {"$ref": "file:///etc/passwd"}}), "file:///etc/passwd"),
    ] {
        let (status, message) = refused(spec.clone());
        assert!(status == 400 && message.contains(word), "{spec}: {status} {message}");
    }
    for (method, path) in [
        ("GET", "/api/jobs/job_x"),
        ("GET", "/api/jobs/job_x/events"),
        ("GET", "/api/jobs/job_x/artifacts"),
        ("GET", "/api/jobs/job_x/artifact?path=a"),
        ("POST", "/api/jobs/job_x/cancel"),
        ("POST", "/api/jobs/job_x/takeover"),
    ] {
        assert_eq!(server.ask(method, path, &json!({})).0, 404, "{path}");
    }
    assert_eq!(server.get("/api/stats")["jobs"], 0);
}

#[test]
fn a_job_is_paused_taken_over_and_cancelled_over_rest() {
    /// Of every reply, not of the job.
    const STEP: &str = "caused_by_step_id";
    let server = JobServer::start(&[]);
    server.script("slow.yaml", &slow());
    let id = server.submit(json!({"job": "wait", "planner": "scripted:slow.yaml"}));
    server.wait_until(&id, |job| job["inputs"] == 1);
    let post = |what: &str| server.ask("POST", &format!("/api/jobs/{id}/{what}"), &json!({}));
    let last = |what: &str| server.ask("POST", &format!("/api/jobs/last/{what}"), &json!({})).1;
    for (what, wanted) in [("pause", "pause"), ("takeover", "takeover"), ("release", "run")] {
        let told = last(what);
        assert_eq!((&told["job_id"], &told["wanted"]), (&json!(id), &json!(wanted)), "{what}");
        let null = told.as_object().unwrap().iter().find(|(name, value)| value.is_null() && *name != STEP);
        assert_eq!(null, None, "{what}");
    }
    let wished = Instant::now();
    assert_eq!(post("cancel").0, 200);
    let job = server.finished(&id);
    assert_eq!(job["status"], "cancelled");
    assert!(wished.elapsed() < Duration::from_secs(1), "{:?}", wished.elapsed());
    for what in ["cancel", "pause", "resume", "takeover"] {
        let (status, value) = post(what);
        assert_eq!((status, &value["error"]["code"]), (409, &json!("JobConflict")), "{what}");
    }
}

#[test]
fn a_person_answers_a_job_of_another_process() {
    let config = r#"[{"name_regex": "Login"}]"#;
    for (route, decision, status) in [("approvals", "allow", "succeeded"), ("answer", "deny", "failed")] {
        let mode = ("OSO_CONFIRMATION__MODE", "ask");
        let server = JobServer::start(&[("OSO_CONFIRMATION_REQUIRED", config), mode, ("OSO_TOKEN", TOKEN)]);
        server.script("a.yaml", &steps("alice"));
        let id = server.submit(json!({"job": "log in", "planner": "scripted:a.yaml"}));
        let job = server.wait_until(&id, |job| job["status"] == "input_required");
        let question = job["approvals"][0]["id"].as_str().unwrap().to_owned();
        assert_eq!(server.get("/api/approvals")["approvals"][0]["id"], question.as_str());
        let (path, body) = match route {
            "approvals" => (format!("/api/approvals/{question}"), json!({"decision": decision})),
            _ => (format!("/api/jobs/{id}/answer"), json!({"id": question, "decision": decision})),
        };
        let (answered, value) = server.ask("POST", &path, &body);
        assert_eq!(answered, 200, "{value}");
        assert_eq!(server.finished(&id)["status"], status);
    }
}

/// The process of the worker that runs a job.
#[cfg(target_os = "linux")]
fn worker_pid(worker: &str) -> u32 {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let found = processes.filter_map(|entry| {
        let line = std::fs::read(entry.path().join("cmdline")).ok()?;
        let named = String::from_utf8_lossy(&line).split('\0').any(|word| word == worker);
        named.then(|| entry.file_name().to_string_lossy().parse().ok()).flatten()
    });
    found.into_iter().next().unwrap()
}

#[cfg(target_os = "linux")]
fn kill_process(pid: u32) {
    assert!(Command::new("kill").args(["-9", &pid.to_string()]).status().unwrap().success());
}

/// A worker that is killed after an input leaves its job to a person; the next job gets another worker.
#[cfg(target_os = "linux")]
#[test]
fn a_killed_worker_interrupts_its_job_and_no_other() {
    let server = JobServer::start(&[]);
    server.script("slow.yaml", &slow());
    server.script("a.yaml", &steps("alice"));
    let id = server.submit(json!({"job": "wait", "planner": "scripted:slow.yaml"}));
    let job = server.wait_until(&id, |job| job["inputs"] == 1 && job["worker"].is_string());
    kill_process(worker_pid(job["worker"].as_str().unwrap()));
    assert_eq!(server.finished(&id)["status"], "interrupted");
    let (status, value) = server.ask("POST", &format!("/api/jobs/{id}/resume"), &json!({}));
    assert_eq!(status, 409, "a script would begin from the start: {value}");
    let next = server.submit(json!({"job": "log in", "planner": "scripted:a.yaml"}));
    assert_eq!(server.finished(&next)["status"], "succeeded");
}

/// The server is killed: its worker leaves, and the next server finds the job as it is.
#[cfg(target_os = "linux")]
#[test]
fn a_killed_server_leaves_no_worker_and_loses_no_job() {
    let server = JobServer::start(&[]);
    server.script("slow.yaml", &slow());
    server.script("a.yaml", &steps("alice"));
    let running = server.submit(json!({"job": "wait", "planner": "scripted:slow.yaml"}));
    let waiting = server.submit(json!({"job": "log in", "planner": "scripted:a.yaml"}));
    let job = server.wait_until(&running, |job| job["inputs"] == 1 && job["worker"].is_string());
    let pid = worker_pid(job["worker"].as_str().unwrap());
    let folder = server.kill();
    let began = Instant::now();
    while std::path::Path::new(&format!("/proc/{pid}")).exists() {
        assert!(began.elapsed() < Duration::from_secs(5), "the worker is still there");
        std::thread::sleep(Duration::from_millis(10));
    }
    let server = JobServer::start_in(folder, &[]);
    assert_eq!(server.finished(&running)["status"], "interrupted");
    assert_eq!(server.finished(&waiting)["status"], "succeeded");
}

/// A WebSocket by hand.
struct Watcher(BufReader<TcpStream>);

impl Watcher {
    fn open(port: u16, query: &str) -> Self {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        write!(
            stream,
            "GET /ws{query} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
             Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
        )
        .unwrap();
        let mut reader = BufReader::new(stream);
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            assert!(reader.read_line(&mut head).unwrap() > 0, "{head}");
        }
        assert!(head.starts_with("HTTP/1.1 101") && head.contains("s3pPLMBiTxaQ9kYGzzhZRbK+xOo="), "{head}");
        Self(reader)
    }

    fn next(&mut self) -> Value {
        let mut head = [0; 2];
        self.0.read_exact(&mut head).unwrap();
        let length = match head[1] {
            126 => {
                let mut long = [0; 2];
                self.0.read_exact(&mut long).unwrap();
                usize::from(u16::from_be_bytes(long))
            }
            short => usize::from(short),
        };
        let mut text = vec![0; length];
        self.0.read_exact(&mut text).unwrap();
        serde_json::from_slice(&text).unwrap()
    }
}

#[test]
fn a_watcher_hears_every_event_and_can_come_back() {
    let server = JobServer::start(&[]);
    server.script("a.yaml", &steps("alice"));
    let mut watcher = Watcher::open(server.port, "");
    assert_eq!(watcher.next()["type"], "hello");
    let id = server.submit(json!({"job": "log in", "planner": "scripted:a.yaml"}));
    server.finished(&id);
    let heard: Vec<Value> = (0..7).map(|_| watcher.next()).collect();
    let seqs: Vec<i64> = heard.iter().map(|event| event["seq"].as_i64().unwrap()).collect();
    assert_eq!(seqs, [1, 2, 3, 4, 5, 6, 7], "{heard:?}");
    assert!(heard.iter().all(|event| event["job_id"] == id.as_str()));
    assert_eq!(heard[6]["status"], "succeeded");
    drop(watcher);
    let mut again = Watcher::open(server.port, &format!("?after={}&job_id={id}", heard[2]["number"]));
    again.next();
    assert_eq!(again.next(), heard[3], "it goes on where the other one was");
    let newest = &heard[6]["number"];
    let mut lost = Watcher::open(server.port, "?after=999999");
    assert_eq!(&lost.next()["number"], newest, "the number of another store");
    let next = server.submit(json!({"job": "log in", "planner": "scripted:a.yaml"}));
    assert_eq!(lost.next()["job_id"], next.as_str());
    assert_eq!(server.ask("GET", "/ws", &json!({})).0, 400, "no WebSocket was asked for");
}

#[test]
fn jobs_are_tools_where_they_are_switched_on() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("jobs").display().to_string();
    let settings = [("OSO_JOBS__ENABLED", "true"), ("OSO_JOBS__DIR", dir.as_str())];
    let mut client = Client::start_with(&["--mode", "mcp", "--mock"], &settings);
    client.initialize("2025-11-25");
    let listed = client.request("tools/list", json!({})).to_string();
    assert!(["run_job", "job_status", "job_control", "list_jobs"].iter().all(|name| listed.contains(name)));
    let job = client.data("run_job", json!({"job": "log in", "planner": "scripted:demo", "wait_ms": 30000}));
    assert_eq!(
        (&job["status"], &job["result"]),
        (&json!("succeeded"), &json!({"greeting": "Hello, alice"})),
        "{job}"
    );
    let id = job["job_id"].clone();
    assert_eq!(client.data("job_status", json!({"job_id": id}))["steps"], 6);
    assert_eq!(client.data("list_jobs", json!({}))["count"], 1);
    let refused = client.data("job_control", json!({"job_id": id, "action": "cancel"}));
    assert_eq!(refused["error"]["code"], "JobConflict");
    let mut client = Client::mock(&[]);
    assert!(!client.request("tools/list", json!({})).to_string().contains("run_job"));
    let refused = client.data("run_job", json!({"job": "a"}));
    assert_eq!(refused["error"]["code"], "PermissionDenied");
}

/// A client of the newer era that knows tasks.
struct TaskClient(Client);

impl TaskClient {
    fn ask(&mut self, method: &str, mut params: Value) -> Value {
        let capabilities = json!({"elicitation": {}, "extensions": {"io.modelcontextprotocol/tasks": {}}});
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": capabilities,
        });
        self.0.request(method, params)
    }

    fn get_until(&mut self, task_id: &Value, status: &str) -> Value {
        let began = Instant::now();
        loop {
            let task = self.ask("tasks/get", json!({"taskId": task_id}))["result"].clone();
            if task["status"] == status {
                return task;
            }
            assert!(began.elapsed() < PATIENCE, "{task}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

/// A job is a task: it is asked for, answered and cancelled as one, and one that failed is completed with an error.
#[test]
fn a_job_is_a_task_for_clients_that_know_tasks() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (dir, scripts) = (path("jobs"), path("scripts"));
    std::fs::create_dir_all(&scripts).unwrap();
    let write = |name: &str, steps: &Value| {
        std::fs::write(format!("{scripts}/{name}"), json!({ "steps": steps }).to_string()).unwrap();
    };
    write("a.yaml", &steps("alice"));
    write("slow.yaml", &slow());
    write("fails.yaml", &json!([{"fail": "no"}]));
    let rule = r#"[{"name_regex": "Login"}]"#;
    let settings = [
        ("OSO_JOBS__ENABLED", "true"),
        ("OSO_JOBS__DIR", dir.as_str()),
        ("OSO_JOBS__SCRIPTS", scripts.as_str()),
        ("OSO_CONFIRMATION_REQUIRED", rule),
    ];
    let scenario = project().join("scenarios/login.yaml").display().to_string();
    let client = Client::start_with(&["--mode", "mcp", "--mock", "--scenario", &scenario], &settings);
    let mut client = TaskClient(client);
    let run = |client: &mut TaskClient, script: &str| {
        let arguments = json!({"job": "a", "planner": format!("scripted:{script}")});
        let made = client.ask("tools/call", json!({"name": "run_job", "arguments": arguments}));
        assert_eq!(made["result"]["resultType"], "task", "{made}");
        made["result"]["taskId"].clone()
    };
    let task = run(&mut client, "fails.yaml");
    assert_eq!(client.get_until(&task, "completed")["result"]["isError"], true);
    let task = run(&mut client, "a.yaml");
    let asked = client.get_until(&task, "input_required");
    let (question, _) = asked["inputRequests"].as_object().unwrap().iter().next().unwrap();
    let answer =
        json!({question: {"action": "accept", "content": {"allow": true}}, "stray": {"action": "accept"}});
    client.ask("tasks/update", json!({"taskId": task, "inputResponses": answer}));
    let done = client.get_until(&task, "completed");
    assert_eq!(
        (&done["result"]["isError"], &done["result"]["structuredContent"]["inputs"]),
        (&json!(false), &json!(2))
    );
    let task = run(&mut client, "slow.yaml");
    client.ask("tasks/cancel", json!({"taskId": task}));
    client.get_until(&task, "cancelled");
    let unknown = client.ask("tasks/get", json!({"taskId": "job_x"}));
    assert_eq!(unknown["error"]["code"], -32602, "{unknown}");
}

/// H-230 on REST: a job that starts jobs.
#[test]
fn a_job_starts_no_jobs() {
    let server = JobServer::start(&[]);
    let call = json!({"job": "again", "planner": "scripted:demo"});
    // A step that expects an error is not judged before it is made.
    let run = json!([{"call": "run_job", "args": call, "expect": {"error": "Timeout"}}, {"finish": {}}]);
    server.script("again.yaml", &run);
    let id = server.submit(json!({"job": "again", "planner": "scripted:again.yaml"}));
    let job = server.finished(&id);
    assert_eq!(job["status"], "failed");
    assert!(job["error"]["message"].as_str().unwrap().contains("a job starts no jobs"), "{job}");
    assert_eq!(server.get("/api/jobs")["count"], 1);
}
