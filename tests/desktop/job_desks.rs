//! Two jobs at once, each on the desk that it asked for: a program on a private desktop, and a page in a browser.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use crate::desk::{BINARY, until};
use crate::page_server::PageServer;

const PAGE: &str = "<!doctype html><title>Order</title><button onclick=\"fetch('/', {method: 'POST', body: 'ordered'}); \
                    this.textContent = 'Ordered'\">Order now</button>";

struct DeskServer {
    child: Child,
    port: u16,
}

impl Drop for DeskServer {
    fn drop(&mut self) {
        // It ends its workers and their desks before it goes.
        let asked = Command::new("kill").args(["-TERM", &self.child.id().to_string()]).status();
        if asked.is_err() {
            let _ = self.child.kill();
        }
        let _ = self.child.wait();
    }
}

impl DeskServer {
    fn start(folder: &Path, settings: &[(&str, String)]) -> Self {
        let mut child = Command::new(BINARY)
            .args(["server", "--mock", "--port", "0"])
            .current_dir(folder)
            .env("XDG_CONFIG_HOME", folder)
            .env("OSO_BROWSER__SANDBOX", "false")
            .envs(settings.iter().map(|(name, value)| (*name, value)))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let port = loop {
            let line = lines.next().expect("it ended").unwrap();
            if let Some(rest) = line.split("http://127.0.0.1:").nth(1) {
                break rest.chars().take_while(char::is_ascii_digit).collect::<String>().parse().unwrap();
            }
        };
        std::thread::spawn(move || lines.map_while(Result::ok).for_each(drop));
        Self { child, port }
    }

    fn ask(&self, method: &str, path: &str, body: &Value) -> Value {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        let body = if method == "GET" { String::new() } else { body.to_string() };
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nConnection: close\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\n\r\n{body}",
            self.port,
            body.len()
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1).unwrap()
    }

    fn submit(&self, spec: &Value) -> String {
        let made = self.ask("POST", "/api/jobs", spec);
        made["job_id"].as_str().unwrap_or_else(|| panic!("{made}")).to_owned()
    }

    /// Waits for this status; another end is a failure.
    fn reaches(&self, id: &str, status: &str) -> Value {
        until(status, || {
            let job = self.ask("GET", &format!("/api/jobs/{id}"), &Value::Null);
            assert!(job["error"].is_null(), "{job}");
            (job["status"] == status).then_some(job)
        })
    }

    fn allow(&self, job: &Value) {
        let path = format!("/api/jobs/{}/answer", job["job_id"].as_str().unwrap());
        let answer = json!({"id": job["approvals"][0]["id"], "decision": "allow"});
        assert_eq!(self.ask("POST", &path, &answer)["ok"], true);
    }
}

fn write_script(folder: &Path, name: &str, steps: &Value) {
    std::fs::write(folder.join(name), json!({"steps": steps}).to_string()).unwrap();
}

/// Both have sent their first look and wait for a person at the same time; neither has the other's windows.
#[test]
fn a_program_and_a_page_are_worked_at_the_same_time() {
    let folder = tempfile::tempdir().unwrap();
    let page = PageServer::start(PAGE);
    let host = page.address().trim_start_matches("http://").trim_end_matches('/').to_owned();
    let click = |name: &str| json!({"call": "click_element", "args": {"selector": format!("Button[name=\"{name}\"]")}});
    let shown = |name: &str| {
        let appears = json!({"type": "element_appears", "selector": format!("Button[name=\"{name}\"]")});
        json!({"call": "wait_for", "args": {"any_of": [appears], "timeout_ms": 30000}})
    };
    let windows = json!({"call": "list_windows", "save": {"title": "/windows/0/title"}});
    let finish = json!({"finish": {"title": "{{title}}"}});
    let in_program = json!([shown("7"), click("7"), windows, finish]);
    let in_page = json!([shown("Order now"), click("Order now"), shown("Ordered"), windows, finish]);
    write_script(folder.path(), "program.yaml", &in_program);
    write_script(folder.path(), "page.yaml", &in_page);
    let server = DeskServer::start(
        folder.path(),
        &[
            ("OSO_JOBS__DESKS", json!(["sandbox", "browser"]).to_string()),
            ("OSO_JOBS__WORKERS", "2".to_owned()),
            ("OSO_JOBS__SCRIPTS", folder.path().display().to_string()),
            ("OSO_LAUNCH__ALLOW", json!(["gnome-calculator"]).to_string()),
            ("OSO_BROWSER__NETWORK_ALLOW", json!([host]).to_string()),
            ("OSO_CONFIRMATION_REQUIRED", json!([{"name_regex": "^(7|Order now)$"}]).to_string()),
            ("OSO_CONFIRMATION__TTL_SECONDS", "120".to_owned()),
        ],
    );
    let program = json!({"job": "press 7", "planner": "scripted:program.yaml", "desk": "sandbox", "program": "gnome-calculator"});
    let order = json!({"job": "order", "planner": "scripted:page.yaml", "desk": "browser", "start_url": page.address()});
    let (program, order) = (server.submit(&program), server.submit(&order));
    let ordering = server.reaches(&order, "input_required");
    let pressing = server.reaches(&program, "input_required");
    let still = server.ask("GET", &format!("/api/jobs/{order}"), &Value::Null);
    assert_eq!(still["status"], "input_required", "both at once: {still}");
    assert_ne!(ordering["worker"], pressing["worker"]);
    assert!(page.received().is_empty(), "nobody has allowed it yet");
    server.allow(&ordering);
    server.allow(&pressing);
    assert_eq!(server.reaches(&order, "succeeded")["result"], json!({"title": "Order"}));
    assert_eq!(server.reaches(&program, "succeeded")["result"], json!({"title": "Calculator"}));
    assert_eq!(page.received(), ["ordered"]);
}

/// H-327 on browser: what a job names is not reached because it was named.
#[test]
fn the_first_page_of_a_job_is_held_to_the_rules_of_the_network() {
    let folder = tempfile::tempdir().unwrap();
    let page = PageServer::start(
        "<!doctype html><title>Order</title><script>fetch('/', {method: 'POST', body: 'reached'})</script>",
    );
    let steps = json!([
        {"call": "wait_idle", "args": {"quiet_ms": 500}},
        {"call": "list_windows", "save": {"title": "/windows/0/title"}},
        {"finish": {"title": "{{title}}"}}
    ]);
    write_script(folder.path(), "look.yaml", &steps);
    let server = DeskServer::start(
        folder.path(),
        &[
            ("OSO_JOBS__DESKS", json!(["browser"]).to_string()),
            ("OSO_JOBS__SCRIPTS", folder.path().display().to_string()),
        ],
    );
    let spec = json!({"job": "look", "planner": "scripted:look.yaml", "desk": "browser", "start_url": page.address()});
    let id = server.submit(&spec);
    let ended = until("the end", || {
        let job = server.ask("GET", &format!("/api/jobs/{id}"), &Value::Null);
        job["finished_at"].is_string().then_some(job)
    });
    assert!(page.received().is_empty() && ended["result"]["title"] != "Order", "{ended}");
    assert_eq!(
        (&ended["status"], &ended["error"]["code"]),
        (&json!("rejected"), &json!("NoDesk")),
        "{ended}"
    );
    let message = ended["error"]["message"].as_str().unwrap();
    assert!(message.contains("may not reach 127.0.0.1"), "{message}");
}

/// What a person ends is not reported to them as lost.
#[test]
fn a_private_desktop_ends_with_its_job_and_without_a_warning() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("plan.yaml"), "steps: [{call: look}, {finish: 1}]").unwrap();
    let done = Command::new(BINARY)
        .args(["run", "look", "--planner", "scripted:plan.yaml", "--sandbox"])
        .current_dir(folder.path())
        .env("XDG_CONFIG_HOME", folder.path())
        .env("OSO_JOBS__DIR", folder.path().join("jobs"))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success() && said.contains("succeeded after 2 steps"), "{said}");
    assert!(!said.contains("WARN"), "{said}");
}
