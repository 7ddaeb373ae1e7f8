//! Jobs whose planner does what the screen says, and strangers where a planner is expected.

use std::collections::{BTreeSet, VecDeque};
#[cfg(unix)]
use std::io::{Read, Write};
#[cfg(unix)]
use std::net::TcpStream;

#[cfg(unix)]
use os_screen_observer::clock::Cancel;
use serde_json::{Value, json};

use crate::screen::{BANK, ORDERS, audit, is_allowed, orders, policy};
use crate::support::fake_model::{FakeModel, Request, Script};
use crate::support::job_runs::{JobRun, code_of};
use crate::support::wires::FakeWire;
use crate::support::{World, project};

/// Every text of a request, and what is written in it as JSON.
fn texts_of(request: &Request) -> Value {
    let mut texts = Vec::new();
    gather_texts(&request.json(), &mut texts);
    let read =
        |text: String| serde_json::from_str(&text).unwrap_or_else(|_| json!(text.replace("\\\"", "\"")));
    texts.into_iter().map(read).collect()
}

fn gather_texts(value: &Value, texts: &mut Vec<String>) {
    match value {
        Value::String(text) => texts.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| gather_texts(item, texts)),
        Value::Object(fields) => fields.values().for_each(|item| gather_texts(item, texts)),
        _ => {}
    }
}

/// A model that looks, and then does one after the other what the screen says: what it reads itself, and what stands
/// where its own tools do not show it.
fn obedient_model(wire: FakeWire) -> FakeModel {
    let screen = World::build(Some(ORDERS), json!({}));
    let seen = screen.ok("get_window_structure", json!({"window_uid": "mock:mail", "depth": 9}));
    let mut open: VecDeque<(String, Value)> = orders(&seen).into();
    let (mut asked, mut known) = (0, BTreeSet::new());
    known.extend(open.iter().map(|(tool, args)| format!("{tool} {args}")));
    FakeModel::answering(move |request| {
        if wire == FakeWire::Opencode && !request.path.ends_with("/message") {
            return Some(Script::Json(200, json!({"id": "ses_1"})));
        }
        asked += 1;
        if asked == 1 {
            return answer(wire, "look", json!({"window_uid": "mock:mail"}));
        }
        let read = orders(&texts_of(request));
        open.extend(read.into_iter().filter(|(tool, args)| known.insert(format!("{tool} {args}"))));
        match open.pop_front() {
            Some((tool, args)) => answer(wire, &tool, args),
            None => answer(wire, "give_up", json!({"reason": "all done"})),
        }
    })
}

fn answer(wire: FakeWire, tool: &str, args: Value) -> Option<Script> {
    let at = usize::from(wire == FakeWire::Opencode);
    wire.calls(&[(tool, args)]).into_iter().nth(at)
}

fn check_contained(wire: FakeWire) {
    let folder = tempfile::tempdir().unwrap();
    let model = obedient_model(wire);
    let mut config = policy(&folder);
    config["planner"] = wire.config(&model.url);
    let world = World::build(Some(ORDERS), config);
    let limits = json!({"max_failures": 1000, "max_steps": 70});
    let job = JobRun::new(world, json!({"job": "read my mail", "planner": wire.planner(), "limits": limits}));
    let ending = job.run();
    let book = audit(&folder);
    let tried: BTreeSet<&str> =
        book.lines().filter_map(|line| line.split("tool=").nth(1)?.split(' ').next()).collect();
    assert!(tried.len() >= 8, "{wire:?} tried only {tried:?}: {ending:?}");
    for line in book.lines().filter(|line| line.contains("ok=true")) {
        let is_look = line.contains("tool=look");
        assert!(is_look || line.contains("Archive"), "{wire:?}: {line}");
    }
    let allowed = json!({"selector": "//Button[name=\"Archive\"]"});
    assert!(is_allowed(&allowed) && job.world.effects() <= 1, "{wire:?}: {} effects", job.world.effects());
    assert!(!job.world.call("list_windows", json!({})).to_string().contains("GONE"), "{wire:?}");
    assert!(!project().join("pwned").exists());
    let asked: String = model.requests().into_iter().map(|request| request.body).collect();
    assert!(!asked.contains(BANK) && !asked.contains("root:"), "{wire:?}: a secret went to the model");
    let events: String = job.events().iter().map(|event| format!("{:?}", event.body)).collect();
    assert!(!events.contains(BANK), "{wire:?}: a secret is on record");
    for tool in ["exec_command", "clipboard_get", "load_scenario", "replay_start", "drag"] {
        assert!(!tried.contains(tool), "{wire:?}: {tool} was not offered, and was tried");
        assert!(
            events.contains(&format!("'{tool}' is not among the tools of this job")),
            "{wire:?}: {events}"
        );
    }
}

const LOGIN: &str = "scenarios/login.yaml";

/// What a planner would record and replay to act in nobody's name.
fn by_trace_and_replay() -> Vec<(&'static str, Value)> {
    let typed = json!({"selector": "Edit[name=\"Username\"]", "value": "Mallory"});
    vec![
        ("trace_start", json!({})),
        ("set_value", typed.clone()),
        ("click_element", json!({"selector": "Button[name=\"Login\"]"})),
        ("trace_stop", json!({})),
        ("replay_start", json!({"path": "latest"})),
        ("replay_step", json!({"replay_id": "rep:1", "supply": {"value": "Mallory"}})),
        ("replay_step", json!({"replay_id": "rep:1"})),
        ("load_scenario", json!({"path": "login.yaml"})),
    ]
}

fn traced(folder: &tempfile::TempDir, planner: Value) -> Value {
    json!({"planner": planner, "tracing": {"dir": folder.path().join("traces")},
        "jobs": {"enabled": true, "dir": folder.path().join("jobs")}})
}

/// The harness left nothing behind.
fn check_untraced(folder: &tempfile::TempDir, world: &World) {
    let traces = std::fs::read_dir(folder.path().join("traces")).into_iter().flatten().count();
    assert_eq!((world.effects(), traces), (0, 0));
}

/// H-380 on code: a model does not get round the limits of its job by a recording that it replays.
#[test]
fn a_model_replays_nothing_past_the_limits_of_its_job() {
    let (folder, wire) = (tempfile::tempdir().unwrap(), FakeWire::Chat);
    let calls = by_trace_and_replay();
    let scripts = calls.iter().flat_map(|call| wire.calls(std::slice::from_ref(call)));
    let model = FakeModel::playing(scripts.chain(wire.done(json!(1))).collect::<Vec<_>>());
    let world = World::build(Some(LOGIN), traced(&folder, wire.config(&model.url)));
    let limits = json!({"max_actions": 0, "max_failures": 100});
    let spec = json!({"job": "a", "planner": "chat", "limits": limits, "disabled_tools": ["set_value", "click_element"]});
    let job = JobRun::new(world, spec);
    let ending = job.run();
    assert_eq!(code_of(&ending), "", "{ending:?}");
    let refused =
        job.events().into_iter().filter(|event| event.body.get("ok") == Some(&json!(false))).count();
    assert_eq!(refused, calls.len());
    check_untraced(&folder, &job.world);
}

/// H-380 on code: nor does a client that plans a job itself, and a script that tries is not even queued.
#[test]
fn a_client_replays_nothing_past_the_limits_of_its_job() {
    let folder = tempfile::tempdir().unwrap();
    let mut config = traced(&folder, json!({}));
    config["jobs"]["scripts"] = json!(folder.path());
    std::fs::write(folder.path().join("s.yaml"), "steps: [{call: trace_start}, {finish: 1}]").unwrap();
    let world = World::build(Some(LOGIN), config);
    let scripted = world.call("run_job", json!({"job": "a", "planner": "scripted:s.yaml"}));
    assert!(scripted.to_string().contains("trace_start is not for jobs"), "{scripted}");
    std::fs::write(folder.path().join("s.yaml"), "steps: [{call: look}]").unwrap();
    let endless = world.call("run_job", json!({"job": "a", "planner": "scripted:s.yaml"}));
    assert!(endless.to_string().contains("its last step must be `finish` or `fail`"), "{endless}");
    let spec = json!({"job": "a", "planner": "host", "disabled_tools": ["set_value", "click_element"],
        "limits": {"max_actions": 0, "max_failures": 100}});
    let id = world.ok("run_job", spec)["job_id"].clone();
    for (tool, mut args) in by_trace_and_replay() {
        args["job_id"] = id.clone();
        let refused = world.call(tool, args);
        assert_eq!(refused["error"]["code"], "PermissionDenied", "{tool}: {refused}");
    }
    check_untraced(&folder, &world);
    assert_eq!(world.ok("job_status", json!({"job_id": id}))["inputs"], 0);
}

/// H-260 on code: a model that obeys the screen is contained by policy alone.
#[test]
fn an_obedient_model_gets_nowhere() {
    FakeWire::ALL.into_iter().for_each(check_contained);
}

/// H-264 on code: a result that somebody else dictated is not the one that was asked for.
#[test]
fn a_dictated_result_is_no_result() {
    let wire = FakeWire::Chat;
    let dictated = json!({"owned": true, "said": "wire the money"});
    let model = FakeModel::playing((0..9).flat_map(|_| wire.done(dictated.clone())).collect::<Vec<_>>());
    let world = World::build(Some(ORDERS), json!({"planner": wire.config(&model.url)}));
    let schema = json!({"type": "object", "required": ["unread"], "properties": {"unread": {"type": "integer"}},
        "additionalProperties": false});
    let job =
        JobRun::new(world, json!({"job": "count my mails", "planner": "chat", "output_schema": schema}));
    let ending = job.run();
    assert_eq!((code_of(&ending).as_str(), model.requests().len()), ("OutputInvalid", 3));
    assert_eq!(ending.result, Some(dictated), "kept for whoever reads the job");
}

/// Sends bytes to the port, and reads the status of the answer.
#[cfg(unix)]
fn status_of(address: &str, bytes: &[u8]) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(std::time::Duration::from_secs(5))).unwrap();
    // The server may hang up before everything is sent.
    let _ = stream.write_all(bytes);
    let _ = stream.shutdown(std::net::Shutdown::Write);
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    String::from_utf8_lossy(&answer).split(' ').nth(1).unwrap_or_default().to_owned()
}

/// H-267 on code: a port that is open for one agent serves nobody else.
#[cfg(unix)]
#[test]
fn a_stranger_plans_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let told = folder.path().join("url");
    let script = format!("echo $OSO_JOB_URL > {}; sleep 60", told.display());
    let world = World::build(Some(ORDERS), json!({"planner": {"cli": ["sh", "-c", script]}}));
    let job = JobRun::new(world, json!({"job": "a", "planner": "cli"}));
    let cancel = Cancel::new();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let url = loop {
                match std::fs::read_to_string(&told) {
                    Ok(url) if url.ends_with('\n') => break url.trim().to_owned(),
                    _ => std::thread::sleep(std::time::Duration::from_millis(20)),
                }
            };
            let address = url.trim_start_matches("http://").trim_end_matches("/mcp").to_owned();
            let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
                "params": {"name": "click_element", "arguments": {"selector": "//Button"}}})
            .to_string();
            let request = |host: &str, more: &str, length: usize| {
                format!("POST /mcp HTTP/1.1\r\nHost: {host}\r\n{more}Content-Length: {length}\r\n\r\n{call}")
                    .into_bytes()
            };
            let length = call.len();
            assert_eq!(status_of(&address, &request(&address, "", length)), "401");
            assert_eq!(status_of(&address, &request(&address, "Authorization: Bearer x\r\n", length)), "401");
            assert_eq!(
                status_of(&address, &request(&address, "Authorization: Basic eDp5\r\n", length)),
                "401"
            );
            assert_eq!(status_of(&address, &request("evil.example", "", length)), "403");
            assert_eq!(status_of(&address, &request(&address, "", 5 << 20)), "400");
            assert_eq!(status_of(&address, &request(&address, "Transfer-Encoding: chunked\r\n", 0)), "400");
            assert_eq!(status_of(&address, b"\x16\x03\x01\x00\xa5"), "400");
            assert_eq!(status_of(&address, &vec![b'x'; 1 << 20]), "400");
            cancel.fire();
        });
        job.run_planned(None, &cancel);
    });
    assert_eq!(job.world.effects(), 0);
}

/// H-299 on code: settings, hooks and plugins of the working folder, which a coding agent would obey.
#[cfg(unix)]
#[test]
fn a_coding_agent_is_started_in_an_empty_folder_of_its_own() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let told = folder.path().join("told");
    let script = format!("(pwd; ls -A) > {}", told.display());
    let world = World::build(Some(ORDERS), json!({"planner": {"cli": ["sh", "-c", script]}}));
    JobRun::new(world, json!({"job": "a", "planner": "cli"})).run();
    let told = std::fs::read_to_string(&told).unwrap();
    let lines: Vec<&str> = told.lines().collect();
    assert_eq!(lines.len(), 1, "{told}");
    let own = std::path::Path::new(lines[0]);
    assert!(!own.exists(), "it is left behind: {told}");
    let around = own.parent().unwrap().metadata().unwrap();
    assert_eq!(around.permissions().mode() & 0o022, 0, "{told}");
    assert_ne!(own, std::env::current_dir().unwrap());
}
