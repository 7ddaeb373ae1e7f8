//! HTTP from outside: the contract's exchanges, the front door with raw sockets, and what only this surface
//! has.
#![cfg(feature = "http")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that fails may panic")]

mod support;

use std::io::{Read, Write};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use support::contract::{Comparison, Improved};
use support::http::{JSON, Site};

const NOT_COMPARED: &[&str] = &[
    "step_id",
    "caused_by_step_id",
    "tree_token",
    "base_token",
    "snapshot_id",
    "ts",
    "capture_ms",
    "duration_ms",
    "elapsed_ms",
    "cache",
    "captured_at",
    "tree_stats",
    "confirm_token",
    "expires_at",
    "trace_id",
    "active_trace_id",
    "dir",
    "path",
    "started_at",
    "uptime_s",
    "step_count",
    "config_path",
    "tree_cache",
    "words",
];

/// Answers that are better on purpose; an empty pointer stands for the whole answer, `status` for the status.
const IMPROVED: &[Improved] = &[
    ("GET /api/tools", "/tools", "every tool can be called this way, also the two that draw"),
    ("GET /api/capabilities", "/supports/drag", "only what this build has"),
    (r#"GET /api/structure {"window_index":"abc"}"#, "status", WRONG_TYPE),
    (r#"GET /api/structure {"window_index":"abc"}"#, "/error/code", WRONG_TYPE),
    (r#"GET /api/structure {"window_index":"abc"}"#, "/untrusted", "nothing of the screen is in it"),
    (r#"GET /api/sketch {"window_index":"abc"}"#, "status", WRONG_TYPE),
    (r#"GET /api/sketch {"window_index":"abc"}"#, "/error", ENVELOPE),
    ("GET /api/visible_areas", "/error", ENVELOPE),
    ("GET /api/bring_to_foreground", "/error", ENVELOPE),
    (r#"POST /api/action {"action":"zap"}"#, "/error", ENVELOPE),
    (SELECT, "status", "what the recording could not open, the mock opens"),
    (SELECT, "/ok", "what the recording could not open, the mock opens"),
    (SELECT, "/success", "what the recording could not open, the mock opens"),
    (SELECT, "/error", "what the recording could not open, the mock opens"),
    (CROPPED, "status", WRONG_TYPE),
    (CROPPED, "/error/code", WRONG_TYPE),
    ("GET /api/budget_status", "/actions", "every input is counted, whichever route it takes"),
    ("GET /api/budget_status", "/actions_per_minute", "every input is counted, whichever route it takes"),
    ("GET /api/budget_status", "/screenshots", "every picture is counted, whichever route it takes"),
    ("GET /api/budget_status", "/session_seconds", "time"),
    (HOVER_AT, "status", NO_DISPLAY),
    (HOVER_AT, "/ok", NO_DISPLAY),
    (HOVER_AT, "/success", NO_DISPLAY),
    (HOVER_ELEMENT, "status", NO_DISPLAY),
    (HOVER_ELEMENT, "/ok", NO_DISPLAY),
    (HOVER_ELEMENT, "/success", NO_DISPLAY),
    (HOVER_ELEMENT, "/error", NO_DISPLAY),
    (DRAG, "status", NO_DISPLAY),
    (DRAG, "/ok", NO_DISPLAY),
    (DRAG, "/success", NO_DISPLAY),
    (DRAG, "/error", NO_DISPLAY),
    ("POST /api/tool/get_screen_sketch {}", "status", "every tool can be called this way"),
    ("POST /api/tool/get_screen_sketch {}", "", "every tool can be called this way"),
    ("POST /api/ocr {}", "status", "a picture can be sent to be read; without one a window is needed"),
    (r#"POST /api/action "text/plain cross-origin""#, "status", "only JSON is taken"),
    (r#"POST /api/action "text/plain cross-origin""#, "", "only JSON is taken"),
];

const WRONG_TYPE: &str = "a wrong type is the caller's mistake, and is named";
const ENVELOPE: &str = "errors have one shape, with a code";
const NO_DISPLAY: &str = "the recording had no display";
const SELECT: &str = r#"POST /api/element/select {"window_index":0,"selector":"Window/MenuBar/MenuItem[name=\"Edit\"]","option_index":0}"#;
const CROPPED: &str = r#"GET /api/screenshot/cropped {"window_index":"0","bbox":"1,2,3,4"}"#;
const HOVER_AT: &str = r#"POST /api/hover {"x":1,"y":1,"hover_ms":1}"#;
const HOVER_ELEMENT: &str =
    r#"POST /api/hover {"window_index":0,"selector":"Window/MenuBar/MenuItem[name=\"Edit\"]","hover_ms":1}"#;
const DRAG: &str = r#"POST /api/drag {"from":{"x":1,"y":1},"to":{"x":2,"y":2},"duration_s":0}"#;

/// Which of our names stands for which of the recording's.
#[derive(Default)]
struct Names(Vec<(String, String)>);

impl Names {
    fn note(&mut self, want: &Value, got: &Value) {
        for key in ["tree_token", "snapshot_id", "replay_id", "path", "trace_id"] {
            if let (Some(theirs), Some(ours)) = (want[key].as_str(), got[key].as_str()) {
                self.0.push((theirs.to_owned(), ours.to_owned()));
            }
        }
        // A path contains an id, so it comes first.
        self.0.sort_by_key(|(theirs, _)| std::cmp::Reverse(theirs.len()));
    }

    fn ours(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, (theirs, ours)| text.replace(theirs, ours))
    }
}

fn escaped(text: &str) -> String {
    text.bytes()
        .map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'/' | b':' => {
                char::from(byte).to_string()
            }
            _ => format!("%{byte:02X}"),
        })
        .collect()
}

#[test]
fn every_exchange_of_the_contract_is_answered_alike() {
    let site = Site::with(json!({"budgets": {"max_actions": 500}}));
    let samples: Vec<Value> = serde_json::from_str(&support::read("tests/contract/rest.json")).unwrap();
    let mut differences = Vec::new();
    let mut names = Names::default();
    for sample in &samples {
        let (method, path) = (sample["method"].as_str().unwrap(), sample["path"].as_str().unwrap());
        let query = sample["query"].as_object().into_iter().flatten();
        let query: Vec<String> = query
            .map(|(name, value)| format!("{name}={}", escaped(&names.ours(value.as_str().unwrap()))))
            .collect();
        let path = if query.is_empty() { names.ours(path) } else { format!("{path}?{}", query.join("&")) };
        let body = match &sample["body"] {
            Value::Null => String::new(),
            Value::String(text) => text.clone(),
            body => names.ours(&body.to_string()),
        };
        let label = format!("{method} {} {}", sample["path"].as_str().unwrap(), text_of(sample));
        let answer = site.ask(method, &path, &[JSON], &body);
        let mut comparison = Comparison {
            label: label.trim(),
            not_compared: NOT_COMPARED,
            improved: IMPROVED,
            differences: &mut differences,
        };
        if !comparison.is_improved("status") && sample["status"] != answer.status {
            comparison.differ(
                "",
                &format!("status {} and not {}: {}", answer.status, sample["status"], answer.body),
            );
        }
        let kind = answer.header("content-type").unwrap_or_default();
        if sample["result"].is_object() {
            comparison.compare("", &sample["result"], &answer.json());
            names.note(&sample["result"], &answer.json());
        } else if !["/api/metrics", "/"].contains(&path.as_str()) && !answer.body.is_empty() {
            assert_eq!(kind, "application/json", "{label}");
        }
    }
    assert_eq!(samples.len(), 101);
    assert!(differences.is_empty(), "{} differences:\n{}", differences.len(), differences.join("\n"));
}

fn text_of(sample: &Value) -> String {
    [&sample["query"], &sample["body"]]
        .into_iter()
        .filter(|part| !part.is_null())
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join(" ")
}
