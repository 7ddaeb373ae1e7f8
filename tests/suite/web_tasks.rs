//! Web tasks over REST and MCP, as far as no browser is needed: what is refused before one starts, sessions over restarts
//! and two servers, and webhooks.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::job_server::JobServer;
use crate::support::Client;

const DESKS: (&str, &str) = ("OSO_JOBS__DESKS", r#"["browser"]"#);
/// A task ends at once where its browser is not there.
const NO_BROWSER: (&str, &str) = ("OSO_BROWSER__EXECUTABLE", "/nowhere/chromium");
const PROFILES: (&str, &str) = ("OSO_JOBS__PROFILES", r#"["work"]"#);

fn start(settings: &[(&str, &str)]) -> JobServer {
    JobServer::start(&[&[DESKS, NO_BROWSER, PROFILES], settings].concat())
}

/// A task that is good, with these fields instead of its own.
fn task(more: Value) -> Value {
    let mut task = json!({"goal": "read it", "startUrl": "http://93.184.216.34/", "agent": {"kind": "mock"}, "async": true});
    for (name, value) in more.as_object().unwrap() {
        task[name] = value.clone();
    }
    task
}

#[track_caller]
fn check_refused(
    server: &JobServer,
    method: &str,
    path: &str,
    body: &Value,
    status: u16,
    field: &str,
    word: &str,
) {
    let (answered, value) = server.ask(method, path, body);
    let message = value["error"]["message"].as_str().unwrap_or_default();
    assert!(answered == status && message.contains(word), "{method} {path} {body}: {answered} {value}");
    assert_eq!(value["error"]["context"]["field"], field, "{method} {path} {body}: {value}");
}

/// The table of the design: field, what it is, the status, and a word of the message.
#[test]
fn bad_tasks_are_refused_by_their_field_before_a_browser_starts() {
    let server = start(&[("OSO_BROWSER__NETWORK_DENY", r#"["bad.example"]"#)]);
    let deep = (0..40).fold(json!({}), |inner, _| json!({ "not": inner }));
    let large = json!({"description": "x".repeat(70_000)});
    for (field, value, status, word) in [
        ("goal", json!(""), 400, "empty"),
        ("goal", json!(7), 400, "goal"),
        ("goal", json!("x".repeat(17_000)), 400, "goal"),
        ("surprise", json!(1), 400, "surprise"),
        ("mode", json!("destroy"), 400, "mode"),
        ("input", json!([]), 400, "input"),
        ("limits.maxSteps", json!({"maxSteps": 0}), 400, "maxSteps"),
        ("limits.maxSteps", json!({"maxSteps": 1_000_000_000}), 400, "maxSteps"),
        ("limits.max_steps", json!({"max_steps": 5}), 400, "max_steps"),
        ("limits.headless", json!({"headless": "yes"}), 400, "headless"),
        ("agent.kind", json!({"kind": "moon"}), 400, "moon"),
        ("agent.kid", json!({"kid": "mock"}), 400, "kid"),
        ("outputSchema", json!(42), 400, "outputSchema"),
        ("outputSchema", json!({"$ref": "file:///etc/passwd"}), 400, "file:///etc/passwd"),
        ("outputSchema", json!({"$ref": "https://a.example/s.json"}), 400, "a.example"),
        ("outputSchema", json!({"pattern": "(?=a)"}), 400, "pattern"),
        ("outputSchema", deep, 400, "deeper"),
        ("outputSchema", large, 400, "bytes"),
        ("startUrl", json!("file:///etc/passwd"), 403, "file:"),
        ("startUrl", json!("chrome://settings"), 403, "chrome:"),
        ("startUrl", json!("javascript:alert(1)"), 403, "javascript:"),
        ("startUrl", json!("https://ann:secret@a.example/"), 403, "login"),
        ("startUrl", json!("https://bad.example/"), 403, "network_deny"),
        ("startUrl", json!("http://127.0.0.1:1/"), 403, "network_allow"),
        ("startUrl", json!("http://localhost:1/"), 403, "localhost"),
        ("startUrl", json!("http://10.0.0.8/"), 403, "10.0.0.8"),
        ("startUrl", json!("http://[::1]/"), 403, "::1"),
        ("startUrl", json!("nowhere"), 400, "no address"),
        ("profile", json!("bank"), 403, "jobs.profiles"),
        ("webhook", json!("https://a.example/"), 403, "jobs.webhook_hosts"),
        ("recipe", json!("fixture-katalog"), 400, "fixture-catalog"),
        ("sessionId", json!("00000000-0000-4000-8000-000000000000"), 404, "no session"),
    ] {
        let name = field.split('.').next().unwrap();
        check_refused(&server, "POST", "/v1/tasks/run", &task(json!({ name: value })), status, field, word);
    }
    let nothing = json!({"goal": "a"});
    check_refused(&server, "POST", "/v1/tasks/run", &nothing, 400, "startUrl", "startUrl");
    assert_eq!(server.get("/api/stats")["jobs"], 0);
}

/// Unknown ids are answered alike, also that of a job that is no task.
#[test]
fn what_is_not_there_is_not_told_apart() {
    let server = start(&[]);
    server.script("a.yaml", &json!([{"finish": {}}]));
    let job = server.submit(json!({"job": "a", "planner": "scripted:a.yaml"}));
    let of_job = server.ask("GET", &format!("/v1/tasks/{job}"), &json!({}));
    let of_none = server.ask("GET", "/v1/tasks/job_none", &json!({}));
    assert_eq!((of_job.0, of_none.0), (404, 404));
    assert_eq!(of_job.1["error"]["code"], of_none.1["error"]["code"]);
    let told = |answer: &Value, id: &str| answer["error"]["message"].as_str().unwrap().replace(id, "ID");
    assert_eq!(told(&of_job.1, &job), told(&of_none.1, "job_none"));
    for (method, path) in [("GET", "/v1/sessions/none"), ("PATCH", "/v1/sessions/none")] {
        assert_eq!(server.ask(method, path, &json!({})).0, 404, "{method} {path}");
    }
    for (method, path) in [("PATCH", "/v1/tasks/run"), ("PUT", "/v1/sessions"), ("DELETE", "/v1/sessions/a")]
    {
        assert_eq!(server.ask(method, path, &json!({})).0, 405, "{method} {path}");
    }
}

/// WT-01, WT-06.
#[test]
fn the_bundled_recipes_are_listed_and_matched_by_the_page() {
    let server = start(&[("OSO_BROWSER__NETWORK_ALLOW", r#"["127.0.0.1:8765"]"#)]);
    let listed = server.get("/v1/recipes");
    let ids: Vec<&str> =
        listed["recipes"].as_array().unwrap().iter().filter_map(|one| one["id"].as_str()).collect();
    assert_eq!(ids, ["dexscreener-token-read", "fixture-catalog", "generic-search", "gmgn-token-read"]);
    let made = server
        .ask("POST", "/v1/tasks/run", &task(json!({"startUrl": "http://127.0.0.1:8765/catalog.html"})))
        .1;
    assert_eq!(made["recipe"], "fixture-catalog", "{made}");
}

/// A recipe that demands a warmed session is refused before anything is queued.
#[test]
fn a_recipe_that_needs_a_warmed_session_fails_before_a_browser_starts() {
    let folder = tempfile::tempdir().unwrap();
    let recipe = json!({"id": "bank", "name": "Bank", "urlPatterns": ["http://93.184.216.34/*"], "requires": ["warmed"]});
    std::fs::write(folder.path().join("bank.json"), recipe.to_string()).unwrap();
    let server = start(&[("OSO_PLANNER__RECIPES_DIR", path_text(folder.path()))]);
    check_refused(&server, "POST", "/v1/tasks/run", &task(json!({})), 409, "sessionId", "warmed session");
    let session = server.ask("POST", "/v1/sessions", &json!({"profile": "work"})).1["sessionId"].clone();
    let with_session = task(json!({"sessionId": session}));
    check_refused(&server, "POST", "/v1/tasks/run", &with_session, 409, "sessionId", "profile login work");
    assert_eq!(server.get("/api/stats")["jobs"], 0);
    let path = format!("/v1/sessions/{}", session.as_str().unwrap());
    assert_eq!(server.ask("PATCH", &path, &json!({"warmed": true})).0, 200);
    assert_eq!(server.ask("POST", "/v1/tasks/run", &with_session).1["recipe"], "bank");
}

#[test]
fn a_server_without_jobs_or_without_browsers_says_so() {
    let off = JobServer::start(&[("OSO_JOBS__ENABLED", "false")]);
    let (status, answer) = off.ask("POST", "/v1/tasks/run", &task(json!({})));
    assert!(status == 403 && answer.to_string().contains("jobs.enabled"), "{status} {answer}");
    assert_eq!(off.get("/health")["tasks"], false);
    let deskless = JobServer::start(&[]);
    check_refused(&deskless, "POST", "/v1/tasks/run", &task(json!({})), 403, "desk", "jobs.desks");
    assert_eq!(deskless.get("/health")["status"], "ok");
}

/// WT-03 and WT-09: what came of a task is there with all of its keys, also where it failed.
#[test]
fn a_task_that_cannot_begin_tells_why() {
    let server = start(&[]);
    let mut body = task(json!({}));
    body.as_object_mut().unwrap().remove("async");
    let (status, made) = server.ask("POST", "/v1/tasks/run?async", &body);
    assert_eq!((status, &made["status"]), (200, &json!("queued")), "{made}");
    let id = made["taskId"].as_str().unwrap().to_owned();
    server.finished(&id);
    let done = server.get(&format!("/v1/tasks/{id}"));
    assert_eq!((&done["status"], &done["error"]["code"]), (&json!("rejected"), &json!("NoDesk")), "{done}");
    for key in ["taskId", "status", "result", "trace", "recipe", "artifactDir", "timings", "error"] {
        assert!(done.get(key).is_some(), "{key} is missing: {done}");
    }
    let (status, waited) =
        server.ask("POST", "/v1/tasks/run", &task(json!({"async": false, "waitMs": 60_000})));
    assert_eq!((status, &waited["status"]), (200, &json!("rejected")), "{waited}");
    let key = json!({"idempotencyKey": "one", "goal": "again"});
    let first = server.ask("POST", "/v1/tasks/run", &task(key.clone())).1;
    assert_eq!(server.ask("POST", "/v1/tasks/run", &task(key)).1["taskId"], first["taskId"]);
    let other = server.ask("POST", "/v1/tasks/run", &task(json!({"idempotencyKey": "one", "goal": "other"})));
    assert_eq!(other.0, 409, "{}", other.1);
}

fn is_uuid(text: &str) -> bool {
    text.split('-').map(str::len).eq([8, 4, 4, 4, 12]) && text.len() == 36
}

/// WT-05.
#[test]
fn a_session_is_made_changed_and_listed() {
    let server = start(&[]);
    let body = json!({"name": "shop", "startUrl": "http://93.184.216.34/a", "agent": {"kind": "mock"}, "notes": "n"});
    let (status, made) = server.ask("POST", "/v1/sessions", &body);
    let id = made["sessionId"].as_str().unwrap_or_default().to_owned();
    assert!(status == 200 && is_uuid(&id), "{status} {made}");
    assert_eq!(
        (&made["mode"], &made["warmed"], &made["tasks"]),
        (&json!("guest"), &json!(false), &json!([]))
    );
    let path = format!("/v1/sessions/{id}");
    for (change, field, expected) in [
        (json!({"name": "store"}), "name", json!("store")),
        (json!({"notes": null}), "notes", Value::Null),
        (json!({"profile": "work"}), "mode", json!("profile")),
        (json!({"warmed": true}), "warmed", json!(true)),
        (json!({"mode": "guest"}), "profile", Value::Null),
    ] {
        let (status, changed) = server.ask("PATCH", &path, &change);
        assert_eq!((status, &changed[field]), (200, &expected), "{change}: {changed}");
        assert_eq!(server.get(&path)[field], expected, "{change}");
    }
    assert_eq!(server.get(&path)["startUrl"], "http://93.184.216.34/a");
    let listed = server.get("/v1/sessions");
    assert_eq!((&listed["count"], &listed["sessions"][0]["sessionId"]), (&json!(1), &json!(id)));
}

#[test]
fn bad_sessions_are_refused_by_their_field() {
    let server = start(&[]);
    let made = server.ask("POST", "/v1/sessions", &json!({})).1;
    let path = format!("/v1/sessions/{}", made["sessionId"].as_str().unwrap());
    for (field, body, status, word) in [
        ("surprise", json!({"surprise": 1}), 400, "surprise"),
        ("name", json!({"name": 1}), 400, "name"),
        ("mode", json!({"mode": "admin"}), 400, "mode"),
        ("mode", json!({"mode": "profile"}), 400, "say which"),
        ("profile", json!({"profile": "bank"}), 403, "jobs.profiles"),
        ("startUrl", json!({"startUrl": "file:///etc/passwd"}), 403, "file:"),
        ("agent.kind", json!({"agent": {"kind": "moon"}}), 400, "moon"),
        ("warmed", json!({"warmed": true}), 400, "guest"),
        ("notes", json!({"notes": "n".repeat(5000)}), 400, "notes"),
    ] {
        check_refused(&server, "POST", "/v1/sessions", &body, status, field, word);
        check_refused(&server, "PATCH", &path, &body, status, field, word);
    }
    check_refused(&server, "POST", "/v1/sessions", &json!({"sessionId": "mine"}), 400, "sessionId", "PATCH");
    assert_eq!(server.get("/v1/sessions")["count"], 1);
}

/// What a task does not say its session does, and the session remembers the task.
#[test]
fn a_session_gives_its_tasks_what_they_do_not_say() {
    let server = start(&[]);
    let body = json!({"startUrl": "http://93.184.216.34/shop", "agent": {"kind": "mock"}, "profile": "work"});
    let id = server.ask("POST", "/v1/sessions", &body).1["sessionId"].clone();
    let run = |more: Value| {
        let mut body = json!({"goal": "find the lamp", "sessionId": id, "async": true});
        more.as_object().unwrap().iter().for_each(|(name, value)| body[name] = value.clone());
        let (status, made) = server.ask("POST", "/v1/tasks/run", &body);
        assert_eq!(status, 200, "{made}");
        server.finished(made["taskId"].as_str().unwrap());
        server.get(&format!("/v1/tasks/{}", made["taskId"].as_str().unwrap()))
    };
    let plain = run(json!({}));
    assert_eq!(
        (&plain["startUrl"], &plain["profile"]),
        (&json!("http://93.184.216.34/shop"), &json!("work"))
    );
    assert_eq!((&plain["planner"], &plain["sessionId"]), (&json!("mock"), &id));
    let own = run(json!({"startUrl": "http://93.184.216.34/own"}));
    assert_eq!(own["startUrl"], "http://93.184.216.34/own");
    let tasks = server.get(&format!("/v1/sessions/{}", id.as_str().unwrap()))["tasks"].clone();
    let newest: Vec<&Value> = tasks.as_array().unwrap().iter().map(|task| &task["taskId"]).collect();
    assert_eq!(newest, [&own["taskId"], &plain["taskId"]]);
    assert_eq!((&tasks[0]["status"], &tasks[0]["error"]), (&json!("rejected"), &json!("NoDesk")));
}

#[test]
fn sessions_and_their_tasks_outlive_the_server() {
    let settings = [DESKS, NO_BROWSER];
    let server = start(&[]);
    let made = server.ask("POST", "/v1/sessions", &json!({"name": "kept"})).1;
    let task = task(json!({"sessionId": made["sessionId"]}));
    let id = server.ask("POST", "/v1/tasks/run", &task).1["taskId"].as_str().unwrap().to_owned();
    server.finished(&id);
    let again = JobServer::start_in(server.kill(), &settings);
    let found = again.get(&format!("/v1/sessions/{}", made["sessionId"].as_str().unwrap()));
    assert_eq!((&found["name"], &found["tasks"][0]["taskId"]), (&json!("kept"), &json!(id)), "{found}");
}

/// Two processes with one store: neither loses what the other wrote.
#[test]
fn two_servers_share_their_sessions() {
    let one = start(&[]);
    let folder = one.jobs_folder();
    let two = start(&[("OSO_JOBS__DIR", folder.to_str().unwrap())]);
    let made = one.ask("POST", "/v1/sessions", &json!({})).1;
    let path = format!("/v1/sessions/{}", made["sessionId"].as_str().unwrap());
    std::thread::scope(|scope| {
        for (server, field) in [(&one, "name"), (&two, "notes")] {
            let path = &path;
            scope.spawn(move || {
                for turn in 0..20 {
                    let (status, answer) = server.ask("PATCH", path, &json!({ field: turn.to_string() }));
                    assert_eq!(status, 200, "{answer}");
                }
            });
        }
    });
    for server in [&one, &two] {
        let found = server.get(&path);
        assert_eq!((&found["name"], &found["notes"]), (&json!("19"), &json!("19")), "{found}");
    }
}

/// A host that hears webhooks, and answers with these statuses one after the other, then with 200.
struct Hearer {
    port: u16,
    heard: Arc<Mutex<Vec<String>>>,
}

impl Hearer {
    fn start(statuses: &'static [u16]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (port, heard) = (listener.local_addr().unwrap().port(), Arc::new(Mutex::new(Vec::new())));
        let told: Arc<Mutex<Vec<String>>> = heard.clone();
        std::thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                let request = read_request(&mut stream);
                let mut told = told.lock().unwrap();
                let status = statuses.get(told.len()).copied().unwrap_or(200);
                told.push(request);
                let _ =
                    write!(stream, "HTTP/1.1 {status} X\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
            }
        });
        Self { port, heard }
    }

    fn url(&self) -> String {
        format!("http://127.0.0.1:{}/done", self.port)
    }

    fn hosts(&self) -> String {
        json!([format!("127.0.0.1:{}", self.port)]).to_string()
    }

    /// Until so many were heard.
    fn wait_for(&self, count: usize) -> Vec<String> {
        let began = Instant::now();
        loop {
            let heard = self.heard.lock().unwrap().clone();
            if heard.len() >= count {
                return heard;
            }
            assert!(began.elapsed() < Duration::from_secs(60), "heard {heard:?}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

fn read_request(stream: &mut std::net::TcpStream) -> String {
    let (mut bytes, mut part) = (Vec::new(), [0; 4096]);
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let length = header(&text, "content-length").and_then(|length| length.parse::<usize>().ok());
        if let (Some(length), Some((_, body))) = (length, text.split_once("\r\n\r\n"))
            && body.len() >= length
        {
            return text;
        }
        match stream.read(&mut part).unwrap() {
            0 => return text,
            read => bytes.extend_from_slice(&part[..read]),
        }
    }
}

fn header(request: &str, name: &str) -> Option<String> {
    let line = request.lines().find(|line| line.to_lowercase().starts_with(&format!("{name}:")))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

const SECRET: &str = "the webhook secret of the tests";

/// As a host would check it, by the sentence in docs/web-tasks.md.
fn signature(timestamp: &str, body: &str) -> String {
    let pad = |with: u8| {
        let mut block = [0; 64];
        block[..SECRET.len()].copy_from_slice(SECRET.as_bytes());
        block.map(|byte| byte ^ with)
    };
    let signed = format!("{timestamp}.{body}");
    let inner = Sha256::new().chain_update(pad(0x36)).chain_update(signed).finalize();
    let outer = Sha256::new().chain_update(pad(0x5c)).chain_update(inner).finalize();
    outer.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn a_webhook_is_signed_and_tried_until_it_is_heard() {
    let hearer = Hearer::start(&[500]);
    let server = start(&[("OSO_JOBS__WEBHOOK_HOSTS", &hearer.hosts()), ("OSO_JOBS__WEBHOOK_SECRET", SECRET)]);
    let other = json!({"webhook": "http://127.0.0.1:1/"});
    check_refused(&server, "POST", "/v1/tasks/run", &task(other), 403, "webhook", "jobs.webhook_hosts");
    let made = server.ask("POST", "/v1/tasks/run", &task(json!({"webhook": hearer.url()}))).1;
    let id = made["taskId"].as_str().unwrap();
    let heard = hearer.wait_for(2);
    for request in &heard {
        let (_, body) = request.split_once("\r\n\r\n").unwrap();
        let timestamp = header(request, "x-oso-timestamp").unwrap();
        let signed = header(request, "x-oso-signature").unwrap();
        assert_eq!(signed, format!("v1={}", signature(&timestamp, body)));
        let told: Value = serde_json::from_str(body).unwrap();
        assert_eq!((&told["taskId"], &told["status"]), (&json!(id), &json!("rejected")));
        assert!(!request.contains(SECRET));
    }
    let began = Instant::now();
    while server.get(&format!("/v1/tasks/{id}"))["webhook"]["state"] != "delivered" {
        assert!(began.elapsed() < Duration::from_secs(30));
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(hearer.heard.lock().unwrap().len(), 2);
}

/// What was not told before the end of a server is told by the next one.
#[test]
fn a_webhook_outlives_the_server() {
    let hearer = Hearer::start(&[]);
    let hosts = hearer.hosts();
    let allowed = [("OSO_JOBS__WEBHOOK_HOSTS", hosts.as_str()), ("OSO_JOBS__WEBHOOK_SECRET", SECRET)];
    let server = start(&allowed);
    let made = server.ask("POST", "/v1/tasks/run", &task(json!({"webhook": hearer.url()}))).1;
    let id = made["taskId"].as_str().unwrap().to_owned();
    let folder = server.kill();
    let again = JobServer::start_in(folder, &[&[DESKS, NO_BROWSER][..], &allowed].concat());
    again.finished(&id);
    let heard = hearer.wait_for(1);
    assert!(heard.iter().all(|request| request.contains(&id)), "{heard:?}");
}

/// The tools are there where jobs are, and do what the routes do.
#[test]
fn tasks_are_tools_over_mcp() {
    let folder = tempfile::tempdir().unwrap();
    let jobs = folder.path().join("jobs");
    let settings = [
        ("OSO_JOBS__ENABLED", "true"),
        ("OSO_JOBS__DIR", path_text(&jobs)),
        ("XDG_CONFIG_HOME", path_text(folder.path())),
        DESKS,
        NO_BROWSER,
    ];
    let mut client = Client::start_with(&["--mode", "mcp", "--mock"], &settings);
    let listed = client.request("tools/list", json!({}))["result"]["tools"].clone();
    let names: Vec<&str> =
        listed.as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    for name in ["run_web_task", "get_web_task", "list_recipes", "sessions", "save_session"] {
        assert!(names.contains(&name), "{name} is missing in {names:?}");
    }
    let session = ok(
        &mut client,
        "save_session",
        json!({"startUrl": "http://93.184.216.34/", "agent": {"kind": "mock"}}),
    );
    let run = json!({"goal": "g", "sessionId": session["sessionId"], "waitMs": 60_000});
    let task = ok(&mut client, "run_web_task", run);
    assert_eq!((&task["status"], &task["error"]["code"]), (&json!("rejected"), &json!("NoDesk")), "{task}");
    let again = ok(&mut client, "get_web_task", json!({"taskId": task["taskId"]}));
    assert_eq!(again["status"], "rejected");
    let shown = ok(&mut client, "sessions", json!({"sessionId": session["sessionId"]}));
    assert_eq!(shown["tasks"][0]["taskId"], task["taskId"]);
}

fn ok(client: &mut Client, tool: &str, args: Value) -> Value {
    let result = client.call(tool, args);
    assert_eq!(result["isError"], false, "{tool}: {result}");
    result["structuredContent"].clone()
}

fn path_text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// `web-task` is a server of tasks with the tools for pages, and nothing else has to be set.
#[test]
fn the_command_web_task_serves_them() {
    let folder = tempfile::tempdir().unwrap();
    let jobs = folder.path().join("jobs");
    let settings =
        [("OSO_JOBS__DIR", path_text(&jobs)), ("XDG_CONFIG_HOME", path_text(folder.path())), NO_BROWSER];
    let mut client = Client::start_with(&["web-task", "--mode", "mcp", "--mock"], &settings);
    let listed = client.request("tools/list", json!({}))["result"]["tools"].clone();
    let names: Vec<&str> =
        listed.as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert!(names.contains(&"run_web_task") && !names.contains(&"load_scenario"), "{names:?}");
    let task = json!({"goal": "g", "startUrl": "http://93.184.216.34/", "agent": {"kind": "mock"}, "waitMs": 60_000});
    let done = client.call("run_web_task", task);
    assert!(done["isError"] == false && done.to_string().contains("NoDesk"), "{done}");
}

/// WT-07: what no planner can be found for does not begin.
#[test]
fn auto_without_a_planner_fails_early() {
    let server = start(&[]);
    let (status, answer) = server.ask("POST", "/v1/tasks/run", &task(json!({"agent": {"kind": "auto"}})));
    let message = answer["error"]["message"].as_str().unwrap_or_default();
    assert!(status == 400 && message.contains("mock"), "{status} {answer}");
    assert_eq!(server.get("/api/stats")["jobs"], 0);
}
