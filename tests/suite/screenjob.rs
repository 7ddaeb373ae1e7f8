//! An existing ScreenJob client's requests, answered by the built program; docs/screenjob.md shows them as they are made
//! here (`UPDATE_DOCS=1 cargo test --test suite screenjob` writes them again).

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::project;

const TOKEN: &str = "sj-token-1234";
const PAGE: &str = "docs/screenjob.md";

struct ScreenJob {
    child: Child,
    port: u16,
    _folder: tempfile::TempDir,
}

impl Drop for ScreenJob {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl ScreenJob {
    /// As it was started: the token and the port in `.env`, here without its page.
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let env = format!(
            "# ScreenJob\nSCREENJOB_TOKEN={TOKEN}\nSCREENJOB_PORT=0\nSCREENJOB_SAFETY_MODEL=gpt-5.4-mini\nDISABLE_UI=true\n"
        );
        std::fs::write(folder.path().join(".env"), env).unwrap();
        let mut child = Command::new(env!("CARGO_BIN_EXE_os-screen-observer"))
            .args(["--screenjob", "--mode", "inspect", "--mock", "--port", "0"])
            .current_dir(folder.path())
            .env("XDG_CONFIG_HOME", folder.path())
            .env("XDG_STATE_HOME", folder.path())
            .env("XDG_DATA_HOME", folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let port = loop {
            let line = lines.next().expect("it ended").unwrap();
            if let Some((_, port)) = line.split_once("ScreenJob-compatible API is on port ") {
                break port.trim().parse().unwrap();
            }
        };
        std::thread::spawn(move || lines.for_each(drop));
        Self { child, port, _folder: folder }
    }

    fn ask(&self, method: &str, path: &str, header: &str, body: &str) -> (u16, Value) {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nConnection: close\r\n{header}Content-Type: application/json\r\n\
             Content-Length: {}\r\n\r\n{body}",
            self.port,
            body.len()
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        (status, serde_json::from_str(body).unwrap_or(Value::Null))
    }

    fn finished(&self, job_id: &str) {
        let began = Instant::now();
        let bearer = format!("Authorization: Bearer {TOKEN}\r\n");
        loop {
            let job = self.ask("GET", &format!("/api/jobs/{job_id}"), &bearer, "").1;
            if job["finished_at"].is_string() {
                return;
            }
            assert!(began.elapsed() < Duration::from_secs(60), "{job}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

/// What differs from run to run, as a word.
fn settled(value: &Value, job_id: &str) -> Value {
    match value {
        Value::Object(fields) => {
            let settle = |(name, value): (&String, &Value)| {
                let shown = match name.as_str() {
                    "created_at" | "started_at" | "finished_at" | "at" => json!("2026-…"),
                    "worker" => json!("worker_…"),
                    "server" => json!("server_…"),
                    "ms" | "worked_ms" | "duration_ms" | "step_id" | "caused_by_step_id" => json!("…"),
                    _ => settled(value, job_id),
                };
                (name.clone(), shown)
            };
            Value::Object(fields.iter().map(settle).collect())
        }
        Value::Array(items) => items.iter().map(|item| settled(item, job_id)).collect(),
        Value::String(text) => text.replace(job_id, "job_1").into(),
        other => other.clone(),
    }
}

fn transcript() -> String {
    let server = ScreenJob::start();
    let header = format!("X-ScreenJob-Token: {TOKEN}\r\n");
    let job = r#"{"job":"log in","planner":"scripted:demo","disabled_tools":["execute_command"],"safety_override":false}"#;
    let (status, made) = server.ask("POST", "/api/jobs", &header, job);
    let id = made["job_id"].as_str().unwrap_or_else(|| panic!("{status} {made}")).to_owned();
    let asked = format!(
        "$ curl -H \"X-ScreenJob-Token: $SCREENJOB_TOKEN\" -H 'Content-Type: application/json' -d '{job}' localhost:8787/api/jobs"
    );
    // It may be running by the time that it is shown.
    let shown = json!({"job_id": made["job_id"], "ok": made["ok"]});
    let mut written = format!("{asked}\n{status} {}\n", settled(&shown, &id));
    server.finished(&id);
    for (method, path) in [
        ("GET", "/"),
        ("GET", "/api/jobs/job_1"),
        ("GET", "/api/jobs/job_1/events?limit=3"),
        ("POST", "/api/jobs/job_1/cancel"),
        ("GET", "/api/jobs/job_1/artifact?path=/etc/passwd"),
        ("GET", "/api/stats"),
    ] {
        let (status, answer) = server.ask(method, &path.replace("job_1", &id), &header, "");
        let way = if method == "POST" { " -X POST" } else { "" };
        written.push_str(&format!(
            "$ curl{way} -H \"X-ScreenJob-Token: $SCREENJOB_TOKEN\" \"localhost:8787{path}\"\n"
        ));
        written.push_str(&format!("{status} {}\n", settled(&answer, &id)));
    }
    written
}

#[test]
fn the_transcript_is_the_one_that_the_page_shows() {
    let page = std::fs::read_to_string(project().join(PAGE)).unwrap();
    let (before, rest) = page.split_once("```text\n").unwrap();
    let (shown, after) = rest.split_once("```").unwrap();
    let made = transcript();
    if std::env::var("UPDATE_DOCS").is_ok() {
        std::fs::write(project().join(PAGE), format!("{before}```text\n{made}```{after}")).unwrap();
        return;
    }
    assert_eq!(shown, made, "UPDATE_DOCS=1 cargo test --test suite screenjob");
}

/// H-232 on REST: every way to show the token, and none without it.
#[test]
fn every_route_asks_for_the_token() {
    let server = ScreenJob::start();
    let bearer = format!("Authorization: Bearer {TOKEN}\r\n");
    let own = format!("X-ScreenJob-Token: {TOKEN}\r\n");
    let in_query = format!("?token={TOKEN}");
    let status = |method: &str, path: &str, header: &str| server.ask(method, path, header, "").0;
    for path in [
        "/api/jobs",
        "/api/stats",
        "/api/jobs/x",
        "/api/jobs/x/events",
        "/api/jobs/x/artifact",
        "/ws",
        "/nothing",
    ] {
        assert_eq!(status("GET", path, ""), 401, "{path}");
        assert_eq!(status("GET", path, "X-ScreenJob-Token: wrong-token\r\n"), 401, "{path}");
    }
    for (path, header) in [
        ("/api/jobs".to_owned(), bearer.as_str()),
        ("/api/jobs".to_owned(), own.as_str()),
        (format!("/api/jobs{in_query}"), ""),
    ] {
        assert_eq!(status("GET", &path, header), 200, "{path} {header}");
    }
    assert_eq!(status("POST", &format!("/api/jobs{in_query}"), ""), 401, "a query is for reading");
    assert_eq!(server.ask("GET", "/", "", ""), (200, json!({"ui_disabled": true})));
}
