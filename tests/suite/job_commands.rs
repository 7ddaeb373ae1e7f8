//! The commands of jobs, by the built program: `run`, `screenjob`, `server` and `worker`.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use os_screen_observer::jobs::spec::JobSpec;
use os_screen_observer::jobs::status::JobStatus;
use os_screen_observer::jobs::store::Store;
use os_screen_observer::jobs::store::sqlite::SqliteStore;
use serde_json::{Value, json};

const TOKEN: &str = "sj-token-(=%)-1";

/// In an empty folder, with nobody's settings.
fn command(folder: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_os-screen-observer"));
    command
        .args(words)
        .current_dir(folder)
        .env("XDG_CONFIG_HOME", folder)
        .env("OSO_JOBS__DIR", folder.join("jobs"))
        .stdin(Stdio::null());
    command
}

fn output(folder: &Path, words: &[&str]) -> (bool, String, String) {
    let done = command(folder, words).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (done.status.success(), text(&done.stdout), text(&done.stderr))
}

#[test]
fn each_command_has_a_help_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    for (name, word) in [
        ("run", "--planner scripted:demo"),
        ("screenjob", "OPENAI_API_KEY"),
        ("server", "SCREENJOB_TOKEN"),
        ("worker", "--sandbox"),
    ] {
        let (ok, said, _) = output(folder.path(), &[name, "--help"]);
        assert!(ok && said.contains("Examples:") && said.contains(word), "{name}: {said}");
    }
}

/// Progress on stderr, the result on stdout.
#[test]
fn run_and_screenjob_do_one_job() {
    for name in ["run", "screenjob"] {
        let folder = tempfile::tempdir().unwrap();
        let (ok, result, progress) =
            output(folder.path(), &[name, "log in as alice", "--planner", "scripted:demo"]);
        let result: Value = serde_json::from_str(&result).unwrap();
        assert_eq!((ok, result), (true, json!({"greeting": "Hello, alice"})), "{progress}");
        assert!(progress.contains("set_value Edit 'Username'  ok"), "{progress}");
        assert!(progress.contains("succeeded after 6 steps"), "{progress}");
    }
}

/// A disabled tool by ScreenJob's name, and a model that nobody named.
#[test]
fn screenjob_takes_the_flags_that_it_had() {
    let folder = tempfile::tempdir().unwrap();
    let flags =
        ["screenjob", "log in", "--planner", "scripted:demo", "--disable-tool", "type", "--max-steps", "9"];
    let (ok, _, progress) = output(folder.path(), &flags);
    assert!(!ok && progress.contains("PermissionDenied"), "{progress}");
    let (ok, _, progress) = output(folder.path(), &["screenjob", "log in", "--mock"]);
    assert!(!ok && progress.contains("names no model"), "{progress}");
}

/// A server by the built program.
pub struct JobsServer {
    child: Child,
    pub ports: Vec<u16>,
}

impl Drop for JobsServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl JobsServer {
    /// Until it has said where it listens, so often.
    pub fn start(folder: &Path, words: &[&str], listeners: usize) -> Self {
        let mut child = command(folder, words).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let mut ports = Vec::new();
        while ports.len() < listeners {
            let line = lines.next().expect("it ended").unwrap();
            let place =
                line.split("http://127.0.0.1:").nth(1).or_else(|| line.split("API is on port ").nth(1));
            ports.extend(place.and_then(|rest| {
                rest.chars().take_while(char::is_ascii_digit).collect::<String>().parse::<u16>().ok()
            }));
        }
        std::thread::spawn(move || lines.for_each(drop));
        Self { child, ports }
    }

    fn ask(&self, port: u16, request: &str, headers: &str, body: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        write!(
            stream,
            "{request} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n{headers}Content-Type: application/json\r\n\
             Content-Length: {}\r\n\r\n{body}",
            body.len()
        )
        .unwrap();
        let mut answer = Vec::new();
        // A socket that was upgraded stays open; its head is enough.
        let mut reader = BufReader::new(stream);
        if headers.contains("Upgrade") {
            reader.read_until(b'\n', &mut answer).unwrap();
        } else {
            reader.read_to_end(&mut answer).unwrap();
        }
        let answer = String::from_utf8_lossy(&answer).into_owned();
        let status = answer.split(' ').nth(1).unwrap().parse().unwrap();
        (status, answer.split_once("\r\n\r\n").map(|(_, body)| body.to_owned()).unwrap_or_default())
    }
}

#[test]
fn a_server_takes_jobs_without_a_setting() {
    let folder = tempfile::tempdir().unwrap();
    let server = JobsServer::start(folder.path(), &["server", "--mock", "--port", "0"], 1);
    let spec = r#"{"job": "log in", "planner": "scripted:demo", "wait_ms": 30000}"#;
    let (status, body) = server.ask(server.ports[0], "POST /api/jobs", "", spec);
    let job: Value = serde_json::from_str(&body).unwrap();
    assert_eq!((status, &job["status"]), (200, &json!("succeeded")), "{body}");
}

/// H-328 on REST: files without the token, nothing else; a token that is escaped is the same token.
#[test]
fn a_server_with_screenjobs_token_serves_its_page_and_its_api() {
    let folder = tempfile::tempdir().unwrap();
    let env = format!("SCREENJOB_TOKEN={TOKEN}\nSCREENJOB_PORT=0\n");
    std::fs::write(folder.path().join(".env"), env).unwrap();
    let server = JobsServer::start(folder.path(), &["server", "--mock", "--port", "0"], 2);
    let port = server.ports[1];
    let (status, page) = server.ask(port, "GET /", "", "");
    assert!(status == 200 && page.contains("token-form"), "{page}");
    for file in ["/jobs.js", "/job.js", "/listener.js", "/style.css"] {
        assert_eq!(server.ask(port, &format!("GET {file}"), "", "").0, 200, "{file}");
    }
    for path in
        ["/main.js", "/actions.js", "/api/jobs", "/api/stats", "/api/jobs/x/artifacts", "/ws", "/api/halt"]
    {
        assert_eq!(server.ask(port, &format!("GET {path}"), "", "").0, 401, "{path}");
    }
    let own = format!("X-ScreenJob-Token: {TOKEN}\r\n");
    assert_eq!(server.ask(port, "GET /api/stats", &own, "").0, 200);
    assert_eq!(server.ask(port, "GET /api/halt", &own, "").0, 404, "only jobs are served here");
    let socket = |token: &str| {
        let upgrade = "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
        server
            .ask(port, "GET /ws", &format!("{upgrade}Sec-WebSocket-Protocol: jobs, bearer.{token}\r\n"), "")
            .0
    };
    assert_eq!(
        [socket("sj-token-%28%3D%25%29-1"), socket("sj-token-1"), socket("sj-token-%28")],
        [101, 401, 401]
    );
}

#[test]
fn the_page_can_be_switched_off() {
    let folder = tempfile::tempdir().unwrap();
    let env = format!("SCREENJOB_TOKEN={TOKEN}\nSCREENJOB_PORT=0\nDISABLE_UI=true\n");
    std::fs::write(folder.path().join(".env"), env).unwrap();
    let server = JobsServer::start(folder.path(), &["server", "--mock", "--port", "0"], 2);
    let (status, body) = server.ask(server.ports[1], "GET /", "", "");
    assert_eq!((status, body.as_str()), (200, r#"{"ui_disabled":true}"#));
    assert_eq!(server.ask(server.ports[1], "GET /jobs.js", "", "").0, 404);
}

#[test]
fn a_worker_by_hand_runs_a_job_that_waits() {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(&folder.path().join("jobs/jobs.db")).unwrap();
    let spec =
        JobSpec { job: "log in".to_owned(), planner: Some("scripted:demo".to_owned()), ..JobSpec::default() };
    let id = store.enqueue(&spec, None, 1).unwrap();
    let (ok, _, said) = output(folder.path(), &["worker", "--mock", "--once"]);
    assert!(ok, "{said}");
    assert_eq!(store.read(&id).unwrap().unwrap().status, JobStatus::Succeeded);
}

/// A desk takes seconds to start, so what needs none is checked first.
#[cfg(unix)]
#[test]
fn a_job_that_cannot_be_run_starts_no_browser() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let (browser, started) = (folder.path().join("browser"), folder.path().join("started"));
    std::fs::write(&browser, format!("#!/bin/sh\ntouch '{}'\n", started.display())).unwrap();
    std::fs::set_permissions(&browser, std::fs::Permissions::from_mode(0o755)).unwrap();
    std::fs::write(folder.path().join("wrong.yaml"), "steps: [{call: clack}, {finish: 1}]").unwrap();
    std::fs::write(folder.path().join("right.yaml"), "steps: [{finish: 1}]").unwrap();
    let run = |planner: &str| {
        let words = ["run", "a job", "--planner", planner, "--browser"];
        let done = command(folder.path(), &words).env("OSO_BROWSER__EXECUTABLE", &browser).output().unwrap();
        String::from_utf8_lossy(&done.stderr).into_owned()
    };
    let said = run("scripted:wrong.yaml");
    assert!(said.contains("wrong.yaml: step 1 (clack): there is no such tool here"), "{said}");
    let said = run("scripted:none.yaml");
    assert!(said.contains("none.yaml") && !started.exists(), "{said}");
    let said = run("scripted:right.yaml");
    assert!(started.exists(), "the browser is started for a job that can be run: {said}");
}

/// Where a script lies says nothing about the job.
#[test]
fn a_planner_is_shown_without_the_folders_of_its_script() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("plan.yaml");
    std::fs::write(&script, "steps: [{finish: 1}]").unwrap();
    let planner = format!("scripted:{}", script.display());
    let (ok, _, said) = output(folder.path(), &["run", "a job", "--planner", &planner, "--mock"]);
    assert!(ok, "{said}");
    let (_, shown, _) = output(folder.path(), &["jobs", "list", "--json"]);
    let shown: Value = serde_json::from_str(&shown).unwrap();
    assert_eq!(shown[0]["planner"], "scripted:plan.yaml");
    let (ok, shown, _) = output(folder.path(), &["jobs", "show", "last"]);
    assert!(ok && shown.contains(&format!("planner: {planner}\nused: 1 step, 0 inputs")), "{shown}");
}
