//! Jobs that ask for a desk of their own: what the owner allows, and who works where.

use serde_json::{Value, json};

use crate::job_server::{JobServer, TOKEN, steps};
use crate::support::project;

const ALLOWED: (&str, &str) = ("OSO_JOBS__DESKS", r#"["mock", "sandbox", "browser"]"#);

fn check_refused(server: &JobServer, spec: Value, status: u16, word: &str) {
    let (answered, value) = server.ask("POST", "/api/jobs", &spec);
    let message = value["error"]["message"].as_str().unwrap_or_default();
    assert!(answered == status && message.contains(word), "{spec}: {answered} {value}");
}

/// H-326 on REST: nothing is queued, so nothing starts.
#[test]
fn a_job_gets_no_desk_that_its_owner_did_not_allow() {
    let server = JobServer::start(&[]);
    for desk in ["mock", "sandbox", "desktop", "browser"] {
        check_refused(&server, json!({"job": "a", "desk": desk}), 403, "jobs.desks");
    }
    assert_eq!(server.get("/api/jobs")["count"], 0);
    let server = JobServer::start(&[ALLOWED]);
    for (spec, status, word) in [
        (json!({"job": "a", "desk": "desktop"}), 403, "jobs.desks"),
        (json!({"job": "a", "desk": "sandbox", "program": "bash"}), 403, "launch.allow"),
        (json!({"job": "a", "desk": "mock", "scenario": "/etc/passwd"}), 400, "passwd"),
        (json!({"job": "a", "desk": "mock", "scenario": "../../a.yaml"}), 400, "a.yaml"),
        (json!({"job": "a", "desk": "browser", "start_url": "file:/etc/passwd"}), 400, "start_url"),
        (json!({"job": "a", "desk": "mock", "program": "bash"}), 400, "sandbox"),
        (json!({"job": "a", "desk": "moon"}), 400, "moon"),
    ] {
        check_refused(&server, spec, status, word);
    }
    assert_eq!(server.get("/api/jobs")["count"], 0);
}

/// Two jobs wait for an answer at once, each with a worker and a scenario of its own; the server's desk is a third.
#[test]
fn each_job_works_on_the_desk_that_it_asks_for() {
    let rule = ("OSO_CONFIRMATION_REQUIRED", r#"[{"name_regex": "Login"}]"#);
    let mode = ("OSO_CONFIRMATION__MODE", "ask");
    let server = JobServer::start(&[ALLOWED, rule, mode, ("OSO_JOBS__WORKERS", "2"), ("OSO_TOKEN", TOKEN)]);
    server.script("a.yaml", &steps("alice"));
    server.add_file("own.yaml", &project().join("scenarios/login.yaml"));
    let own = json!({"job": "a", "planner": "scripted:a.yaml", "desk": "mock", "scenario": "own.yaml"});
    let ids = [
        server.submit(own.clone()),
        server.submit(own),
        server.submit(json!({"job": "a", "planner": "scripted:a.yaml"})),
    ];
    let asking = ids.each_ref().map(|id| server.wait_until(id, |job| job["status"] == "input_required"));
    let mut workers: Vec<&str> = asking.iter().map(|job| job["worker"].as_str().unwrap()).collect();
    workers.sort_unstable();
    workers.dedup();
    assert_eq!((workers.len(), &asking[0]["desk"], &asking[2]["desk"]), (3, &json!("mock"), &Value::Null));
    for job in &asking {
        let (id, question) = (job["job_id"].as_str().unwrap(), &job["approvals"][0]["id"]);
        let answer = json!({"id": question, "decision": "allow"});
        assert_eq!(server.ask("POST", &format!("/api/jobs/{id}/answer"), &answer).0, 200);
        assert_eq!(server.finished(id)["status"], "succeeded");
    }
}

/// A desk that cannot be built is the end of the job, not the beginning of another try.
#[test]
fn a_job_without_its_desk_is_rejected_with_the_reason() {
    let nowhere = ("OSO_BROWSER__EXECUTABLE", "/nowhere/chromium");
    let server = JobServer::start(&[ALLOWED, nowhere]);
    server.script("broken.yaml", &json!("no scenario"));
    for (spec, word) in [
        (
            json!({"job": "a", "planner": "scripted:demo", "desk": "mock", "scenario": "broken.yaml"}),
            "broken.yaml",
        ),
        (json!({"job": "a", "planner": "scripted:demo", "desk": "browser"}), "/nowhere/chromium"),
    ] {
        let job = server.finished(&server.submit(spec));
        let message = job["error"]["message"].as_str().unwrap_or_default();
        assert_eq!((&job["status"], &job["error"]["code"]), (&json!("rejected"), &json!("NoDesk")), "{job}");
        assert!(message.contains(word), "{job}");
    }
}
