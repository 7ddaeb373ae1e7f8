//! Who may answer for the person over HTTP: whoever shows the token, and nobody else.
#![cfg(feature = "http")]

use serde_json::{Value, json};

use crate::support::http::Site;

/// The server makes a token of itself, and no question is shown or answered without it.
#[track_caller]
fn check(config: Value) {
    let site = Site::with(config.clone());
    assert!(site.link.contains("#token="), "{config}: {}", site.link);
    assert_eq!(site.get("/api/approvals").status, 401, "{config}");
    for path in ["/api/approvals/ap:1", "/api/jobs/job_1/answer"] {
        assert_eq!(
            site.post(path, json!({"id": "ap:1", "decision": "allow"})).status,
            401,
            "{config} {path}"
        );
    }
}

/// H-295 on REST: the agent that waits for the person's answer gives it.
#[test]
fn nobody_answers_for_the_person() {
    let folder = tempfile::tempdir().unwrap();
    let rules = json!([{"name_regex": "File"}]);
    let jobs = json!({"enabled": true, "dir": folder.path().join("jobs")});
    check(json!({"confirmation_required": rules, "confirmation": {"mode": "inspector"}}));
    check(json!({"confirmation_required": rules, "confirmation": {"mode": "ask"}, "jobs": jobs}));
    check(json!({"apps": {"ask": ["notepad.exe"]}}));
    check(json!({"apps": {"default": "ask"}}));
}

/// Where nobody is asked over HTTP, no token is made.
#[test]
fn without_questions_there_is_no_token() {
    let rules = json!([{"name_regex": "File"}]);
    for config in [json!({}), json!({"confirmation_required": rules, "confirmation": {"mode": "ask"}})] {
        assert_eq!(Site::with(config).get("/api/approvals").status, 200);
    }
}
