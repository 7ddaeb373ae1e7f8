//! HTTP from outside: the contract's exchanges, the front door with raw sockets, and what only this surface
//! has.

use std::io::{Read, Write};
use std::time::{Duration, Instant};

use crate::support::contract::{Comparison, Improved};
use crate::support::http::{JSON, Site};
use serde_json::{Value, json};

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
    (r#"POST /api/replay/status {"replay_id":"rep:1"}"#, "/finished", "a trace without rows is over at once"),
    (
        r#"POST /api/replay/step {"replay_id":"rep:1"}"#,
        "/replay_id",
        "the contract's text has it not, at the end",
    ),
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
    let samples: Vec<Value> =
        serde_json::from_str(&crate::support::read("tests/contract/rest.json")).unwrap();
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

// ---- the front door ----------------------------------------------------------------------------------------

#[track_caller]
fn check_door(request: &str, headers: &[(&str, &str)], body: &str, expected: u16) {
    let site = Site::new();
    let (method, path) = request.split_once(' ').unwrap();
    let own = format!("http://{}", site.address);
    let headers: Vec<(&str, &str)> = headers
        .iter()
        .map(|(name, value)| (*name, if *value == "own" { own.as_str() } else { *value }))
        .collect();
    let answer = site.ask(method, path, &headers, body);
    assert_eq!(answer.status, expected, "{request} {headers:?}: {answer:?}");
    if expected != 200 {
        assert!(method == "HEAD" || answer.json()["ok"] == false, "{answer:?}");
        assert_eq!(site.app.session.step_count(), 0, "{request} {headers:?} ran a tool");
        assert_eq!(site.effects(), 0);
    }
}

const CLICK: &str = r#"{"action":"click_at","x":1,"y":2}"#;

/// H-01, H-03, H-05, H-06, H-07 on REST: whoever is refused at the door runs no tool and takes no step.
#[test]
fn strangers_run_nothing() {
    check_door("GET /api/windows", &[], "", 200);
    check_door("GET /api/windows", &[("host", "evil.example:5001")], "", 403);
    check_door("GET /api/windows", &[("host", "localhost")], "", 200);
    check_door("GET /api/windows", &[("host", "localhost.evil.example")], "", 403);
    check_door("POST /api/action", &[JSON, ("origin", "http://evil.example")], CLICK, 403);
    check_door("POST /api/action", &[JSON, ("origin", "null")], CLICK, 403);
    check_door("POST /api/action", &[JSON, ("origin", "http://localhost:3000")], CLICK, 403);
    check_door("POST /api/action", &[JSON, ("origin", "own")], CLICK, 200);
    check_door("POST /api/action", &[("content-type", "text/plain")], CLICK, 415);
    check_door("POST /api/action", &[], CLICK, 415);
    check_door("GET /api/bring_to_foreground?window_index=0", &[("sec-fetch-site", "cross-site")], "", 403);
    check_door("GET /api/bring_to_foreground?window_index=0", &[("sec-fetch-site", "same-origin")], "", 200);
    check_door("GET /api/tool/click_at?x=1&y=1", &[], "", 405);
    check_door("GET /api/tool/trace_start", &[], "", 405);
    check_door("HEAD /api/bring_to_foreground?window_index=0", &[], "", 405);
    check_door("PUT /api/action", &[JSON], CLICK, 405);
    check_door("GET /nope", &[], "", 404);
    check_door("GET /api/nope", &[], "", 404);
    check_door("DELETE /api/windows", &[], "", 405);
    check_door("GET /../../etc/passwd", &[], "", 404);
    check_door("GET /%2e%2e/etc/passwd", &[], "", 404);
}

#[track_caller]
fn check_allow(request: &str, status: u16, allowed: Option<&str>) {
    let site = Site::new();
    let (method, path) = request.split_once(' ').unwrap();
    let answer = site.ask(method, path, &[], "");
    assert_eq!((answer.status, answer.header("allow")), (status, allowed), "{request}: {answer:?}");
}

#[test]
fn every_path_says_how_it_may_be_asked() {
    check_allow("OPTIONS /api/windows", 200, Some("GET, OPTIONS"));
    check_allow("OPTIONS /api/halt", 200, Some("GET, POST, OPTIONS"));
    check_allow("OPTIONS /api/snapshot/snap:x", 200, Some("GET, DELETE, OPTIONS"));
    check_allow("OPTIONS /", 200, Some("GET, HEAD, OPTIONS"));
    check_allow("OPTIONS /api/nope", 404, None);
    check_allow("HEAD /api/windows", 405, Some("GET, OPTIONS"));
    check_allow("PUT /api/action", 405, Some("POST, OPTIONS"));
    check_allow("GET /api/tool/click_at", 405, Some("POST, OPTIONS"));
    check_allow("DELETE /api/tool/list_windows", 405, Some("GET, POST, OPTIONS"));
    check_allow("GET /mcp", 405, Some("POST, OPTIONS"));
    check_allow("PATCH /nope", 405, None);
}

/// H-02 on REST: with raw sockets, so that nothing is tidied on the way.
#[test]
fn raw_requests_are_judged_as_they_are() {
    let site = Site::new();
    let port = site.address.port();
    for (request, expected) in [
        (
            format!(
                "GET /api/windows HTTP/1.1\r\nhost: localhost:{port}\r\nhost: evil:1\r\nconnection: close\r\n\r\n"
            ),
            400,
        ),
        ("GET /api/windows HTTP/1.1\r\nconnection: close\r\n\r\n".to_owned(), 400),
        ("GET /api/windows HTTP/1.0\r\n\r\n".to_owned(), 400),
        (
            format!(
                "GET http://evil.example/api/windows HTTP/1.1\r\nhost: localhost:{port}\r\nconnection: close\r\n\r\n"
            ),
            403,
        ),
        (format!("GET /api/windows HTTP/1.1\r\nhost: [::1]:{port}\r\nconnection: close\r\n\r\n"), 200),
        (format!("GET /api/windows HTTP/1.1\r\nhost: LOCALHOST:{port}\r\nconnection: close\r\n\r\n"), 200),
        ("nonsense\r\n\r\n".to_owned(), 400),
    ] {
        assert_eq!(site.raw(&request).status, expected, "{request}");
    }
    assert_eq!(site.app.session.step_count(), 2);
}

/// H-16 on REST: wrong and repeated arguments are named.
#[test]
fn wrong_queries_are_the_callers_mistake() {
    let site = Site::new();
    for (query, field) in [
        ("window_index=abc", "window_index"),
        ("window_index=0&window_index=1", "window_index"),
        ("prune_empty=perhaps", "prune_empty"),
    ] {
        let answer = site.get(&format!("/api/structure?{query}"));
        assert_eq!(answer.status, 400, "{query}: {answer:?}");
        assert_eq!(answer.json()["error"]["context"]["field"], field, "{query}");
    }
    let both = site.ask("POST", "/api/tool/find_element?selector=A", &[JSON], r#"{"selector":"A"}"#);
    assert_eq!((both.status, both.json()["error"]["context"]["field"].as_str()), (400, Some("selector")));
    for body in ["{bad", "[]", "1", "\"x\"", &"[".repeat(10_000)] {
        assert_eq!(site.ask("POST", "/api/action", &[JSON], body).status, 400, "{body:.20}");
    }
}

/// H-11 on REST: with a length and without one.
#[test]
fn long_bodies_are_refused_and_not_kept() {
    let site = Site::new();
    let long = format!("{{\"action\":\"{}\"}}", "x".repeat(2 << 20));
    assert_eq!(site.ask("POST", "/api/action", &[JSON], &long).status, 413);
    // Without a length, and without an end.
    let mut stream = site.connect();
    let head = format!(
        "POST /api/action HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n",
        site.address
    );
    stream.write_all(head.as_bytes()).unwrap();
    let chunk = format!("10000\r\n{}\r\n", "x".repeat(0x10000));
    let refused = (0..4096).any(|_| stream.write_all(chunk.as_bytes()).is_err());
    assert!(refused, "256 MiB were taken");
    assert_eq!(site.get("/api/healthz").status, 200);
}

/// What is counted on a connection is counted for each request: one that is kept open may ask for ever.
#[test]
fn a_connection_that_is_kept_is_served_on() {
    let site = Site::new();
    let wide = format!("x-wide: {}\r\n", "w".repeat(4 << 10));
    let body = format!("{{\"action\":\"{}\"}}", "x".repeat(100 << 10));
    let posted = format!("content-type: application/json\r\ncontent-length: {}\r\n", body.len());
    for (line, headers, body, status) in [
        ("GET /api/healthz", "", "", 200),
        ("GET /api/nope", "", "", 404),
        ("GET /api/healthz", "origin: http://evil.example\r\n", "", 403),
        ("OPTIONS /api/healthz", "", "", 200),
        ("POST /api/action", posted.as_str(), body.as_str(), 400),
    ] {
        let mut output = site.connect();
        let mut input = std::io::BufReader::new(output.try_clone().unwrap());
        for round in 0..40 {
            let request = format!("{line} HTTP/1.1\r\nhost: {}\r\n{wide}{headers}\r\n{body}", site.address);
            output.write_all(request.as_bytes()).unwrap();
            assert_eq!(next_status(&mut input), Some(status), "{line}, round {round}");
        }
    }
}

/// Reads one answer from a connection that stays open.
fn next_status(input: &mut impl std::io::BufRead) -> Option<u16> {
    let mut head = String::new();
    while input.read_line(&mut head).ok()? > 2 {}
    let lower = head.to_ascii_lowercase();
    let length = lower.lines().find_map(|line| line.strip_prefix("content-length:"))?.trim().parse().ok()?;
    input.read_exact(&mut vec![0; length]).ok()?;
    head.split(' ').nth(1)?.parse().ok()
}

/// H-12 on REST: a hundred heads that stop in the middle.
#[test]
fn slow_heads_are_closed_and_hold_up_nobody() {
    let site = Site::new();
    let began = Instant::now();
    let slow: Vec<_> = (0..100)
        .map(|_| {
            let mut stream = site.connect();
            stream.write_all(b"GET /api/windows HTTP/1.1\r\nhost:").unwrap();
            stream
        })
        .collect();
    let asked = Instant::now();
    assert_eq!(site.get("/api/windows").status, 200);
    assert!(asked.elapsed() < Duration::from_secs(2), "{:?}", asked.elapsed());
    for mut stream in slow {
        let mut rest = Vec::new();
        stream.read_to_end(&mut rest).unwrap();
    }
    assert!(began.elapsed() < Duration::from_secs(12), "{:?}", began.elapsed());
}

/// H-08 on REST, /mcp: and what a caller says of it comes back redacted.
#[test]
fn a_token_is_asked_for_and_never_told() {
    let site = Site::with(json!({"web_ui": {"token": "S3NT1NEL-9f2c"}}));
    let with = |value: &str| site.ask("GET", "/api/windows", &[("authorization", value)], "").status;
    assert_eq!(site.get("/api/windows").status, 401);
    assert_eq!(with("Bearer wrong-token"), 401);
    assert_eq!(with("bearer S3NT1NEL-9f2c"), 401);
    assert_eq!(with("Bearer S3NT1NEL-9f2c"), 200);
    assert_eq!(site.ask("POST", "/api/action?token=S3NT1NEL-9f2c", &[JSON], CLICK).status, 401);
    assert_eq!(site.ask("POST", "/mcp", &[JSON], "{}").status, 401);
    assert_eq!(site.get("/").status, 200, "the page itself holds nothing private");
    assert!(!site.link.contains("S3NT1NEL"), "whoever chose the token knows it");
    let echoed = site.ask(
        "POST",
        "/api/tool/find_element",
        &[JSON, ("authorization", "Bearer S3NT1NEL-9f2c")],
        r#"{"selector":"S3NT1NEL-9f2c"}"#,
    );
    assert!(!echoed.body.contains("S3NT1NEL"), "{echoed:?}");
}

#[test]
fn an_automatic_token_is_in_the_link() {
    let site = Site::with(json!({"web_ui": {"token": "auto"}}));
    let token = site.link.split_once("#token=").unwrap().1;
    assert_eq!(site.get("/api/windows").status, 401);
    let header = format!("Bearer {token}");
    assert_eq!(site.ask("GET", "/api/windows", &[("authorization", &header)], "").status, 200);
}

/// H-10 on code: an address that others can reach.
#[test]
fn others_reach_it_only_with_a_token() {
    let refused = Site::try_with(json!({"web_ui": {"host": "0.0.0.0"}})).err().unwrap();
    assert!(refused.contains("without a token"), "{refused}");
    assert!(Site::try_with(json!({"web_ui": {"host": "0.0.0.0", "token": "short"}})).is_err());
    let open = Site::try_with(json!({"web_ui": {"host": "0.0.0.0", "token": "long-enough"}})).unwrap();
    assert!(open.link.starts_with("http://127.0.0.1:"), "{}", open.link);
}

/// H-15 on page: the policy and its neighbours.
#[test]
fn browsers_are_told_what_they_may_do() {
    let site = Site::new();
    let page = site.get("/");
    assert!(page.body.contains("OS Screen Observer"));
    let policy = page.header("content-security-policy").unwrap();
    assert!(policy.contains("default-src 'self'") && policy.contains("frame-ancestors 'none'"), "{policy}");
    assert!(!policy.contains("unsafe"), "{policy}");
    for (name, value) in [
        ("x-content-type-options", "nosniff"),
        ("x-frame-options", "DENY"),
        ("referrer-policy", "no-referrer"),
    ] {
        assert_eq!(page.header(name), Some(value));
        assert_eq!(site.get("/api/windows").header(name), Some(value));
    }
    assert_eq!(site.get("/api/windows").header("cache-control"), Some("no-store"));
    let tag = page.header("etag").unwrap();
    let again = site.ask("GET", "/", &[("if-none-match", tag)], "");
    assert_eq!((again.status, again.body.as_str()), (304, ""));
    assert!(!page.head.to_ascii_lowercase().contains("access-control"));
}

/// H-03 on REST: only those that the config lists.
#[test]
fn listed_origins_may_read() {
    let site = Site::with(json!({"web_ui": {"cors_origins": ["http://app.example"]}}));
    let from = |method: &str, origin: &str| site.ask(method, "/api/windows", &[("origin", origin)], "");
    let read = from("GET", "http://app.example");
    assert_eq!((read.status, read.header("access-control-allow-origin")), (200, Some("http://app.example")));
    assert_eq!(
        from("OPTIONS", "http://app.example").header("access-control-allow-headers").map(|_| ()),
        Some(())
    );
    assert_eq!(from("GET", "http://other.example").status, 403);
    assert_eq!(from("OPTIONS", "http://other.example").status, 403);
}

// ---- the server about itself -------------------------------------------------------------------------------

#[test]
fn counters_have_their_names_and_every_surface_feeds_them() {
    let site = Site::with(json!({"budgets": {"max_actions": 5}}));
    site.get("/api/windows");
    site.ok("/api/action", json!({"action": "click_at", "x": 1, "y": 2}));
    site.post("/api/element/click", json!({"selector": "Nope"}));
    let page = site.get("/api/metrics");
    assert_eq!(page.header("content-type"), Some("text/plain; version=0.0.4"));
    for line in [
        "oso_step_count 3",
        "# TYPE oso_tree_cache_hits_total counter",
        "# TYPE oso_tree_cache_misses_total counter",
        "# TYPE oso_tree_cache_entries gauge",
        "# TYPE oso_tree_capture_ms summary",
        "oso_actions_used 1",
        "oso_screenshots_used 0",
        "oso_active_trace 0",
        "oso_halted 0",
        "oso_tool_calls_total{tool=\"list_windows\"} 1",
        "oso_tool_errors_total{tool=\"click_element\",code=\"ElementNotFound\"} 1",
        "oso_tool_duration_seconds_count{tool=\"click_at\"} 1",
    ] {
        assert!(page.body.lines().any(|found| found == line), "{line} is missing in\n{}", page.body);
    }
    for name in ["oso_uptime_seconds ", "oso_tree_capture_ms_sum ", "oso_tree_capture_ms_max "] {
        assert!(page.body.lines().any(|found| found.starts_with(name)), "{name}");
    }
}

#[test]
fn the_description_names_every_route_that_is_there() {
    let site = Site::new();
    let document = site.get("/api/openapi.json").json();
    assert_eq!(document["openapi"], "3.1.0");
    let paths = document["paths"].as_object().unwrap();
    let mut ids = std::collections::HashSet::new();
    for (path, methods) in paths {
        for (method, operation) in methods.as_object().unwrap() {
            assert!(ids.insert(operation["operationId"].as_str().unwrap().to_owned()), "{path} {method}");
            assert!(operation["responses"]["200"].is_object(), "{path} {method}");
            for (status, response) in operation["responses"].as_object().unwrap() {
                let shared = response["$ref"].as_str().map(|name| name.trim_start_matches('#'));
                assert!(status == "200" || document.pointer(shared.unwrap()).is_some(), "{path} {response}");
            }
            if path != "/api/events" && method == "get" {
                let answer = site.get(&path.replace("{snapshot_id}", "snap:x").replace("{id}", "ap:x"));
                assert_ne!(answer.status, 405, "{path}");
                let known = answer.status != 404 || path.contains("id}");
                assert!(known, "{path}: {answer:?}");
            }
        }
    }
    assert!(paths["/api/structure"]["get"]["parameters"].as_array().unwrap().len() > 8);
    assert!(paths["/api/tool/click_at"].get("get").is_none(), "what acts is not asked by GET");
}

/// H-17, H-22, H-23 on REST: a trace by its id, its label as text.
#[test]
fn traces_are_listed_and_shown_and_nothing_else_is() {
    let site = Site::new();
    site.ok("/api/trace/start", json!({"label": "a <b>label</b>"}));
    site.ok("/api/tool/press_key", json!({"keys": "tab"}));
    site.ok("/api/trace/stop", json!({}));
    let listed = site.get("/api/traces").json();
    assert_eq!(
        (listed["count"].as_u64(), &listed["traces"][0]["label"]),
        (Some(1), &json!("a <b>label</b>"))
    );
    let page = site.get(&format!("/api/traces/{}", listed["traces"][0]["id"].as_str().unwrap()));
    assert!(page.status == 200 && page.body.contains("press_key"), "{page:?}");
    assert!(!page.body.contains("<b>label"), "a label is text");
    for outside in ["..%2f..%2fetc%2fpasswd", "%2fetc%2fpasswd", "nothing"] {
        let answer = site.get(&format!("/api/traces/{outside}"));
        assert_eq!(answer.json()["error"]["code"], "NotFound", "{outside}");
    }
}

// ---- events, the stop switch, approvals --------------------------------------------------------------------

/// A watcher of the events.
struct Watcher(std::io::BufReader<std::net::TcpStream>);

impl Watcher {
    fn new(site: &Site) -> Self {
        let mut stream = site.connect();
        let head = format!("GET /api/events HTTP/1.1\r\nhost: {}\r\n\r\n", site.address);
        stream.write_all(head.as_bytes()).unwrap();
        Self(std::io::BufReader::new(stream))
    }

    /// The next event of that kind; others are passed over.
    fn next(&mut self, kind: &str) -> Value {
        use std::io::BufRead;
        let mut found = false;
        loop {
            let mut line = String::new();
            assert!(self.0.read_line(&mut line).unwrap() > 0, "no event of the kind {kind} came");
            match line.trim_end().split_once(": ") {
                Some(("event", event)) => found = event == kind,
                Some(("data", data)) if found => return serde_json::from_str(data).unwrap(),
                _ => {}
            }
        }
    }
}

/// H-58 on REST: the events
#[test]
fn watchers_see_calls_without_what_is_typed() {
    let site = Site::with(json!({}));
    let mut watcher = Watcher::new(&site);
    assert_eq!(watcher.next("hello")["halt"]["halted"], false);
    site.ok("/api/action", json!({"action": "type", "value": "S3NT1NEL-9f2c"}));
    let started = watcher.next("call_started");
    assert_eq!((started["tool"].as_str(), started["origin"].as_str()), (Some("type_text"), Some("rest")));
    let call = watcher.next("call");
    assert_eq!((call["tool"].as_str(), call["ok"].as_bool()), (Some("type_text"), Some(true)));
    assert_eq!(call["args"]["text"], "<redacted>");
    assert_eq!(call["result"]["action"], "type");
    assert!(!call.to_string().contains("S3NT1NEL"), "{call}");
    assert!(call["tokens"].as_u64().unwrap() > 10, "{call}");
    site.ask("GET", "/api/windows", &[("sec-fetch-site", "same-origin")], "");
    assert_eq!(watcher.next("call")["origin"], "inspector");
    let kept = site.get("/api/calls").json();
    assert_eq!(kept["calls"].as_array().unwrap().len(), 2);
    let after = kept["calls"][0]["event"].as_u64().unwrap();
    let later = site.get(&format!("/api/calls?after={after}")).json();
    assert_eq!(later["calls"][0]["tool"], "list_windows");
}

#[test]
fn watchers_see_windows_change() {
    let site = Site::new();
    let mut watcher = Watcher::new(&site);
    assert_eq!(watcher.next("windows")["windows"].as_array().unwrap().len(), 3);
    site.ok("/api/scenario/load", json!({"path": "scenarios/login.yaml"}));
    assert!(watcher.next("changed")["generation"].is_u64());
    assert_eq!(watcher.next("windows")["windows"][0]["title"], "Acme Login");
}

/// H-14 on REST: a watcher that takes nothing.
#[test]
fn a_watcher_that_does_not_read_holds_up_nobody_and_is_told() {
    let site = Site::new();
    let mut watcher = Watcher::new(&site);
    watcher.next("hello");
    // More than its queue and all buffers on the way.
    for _ in 0..1500 {
        site.app
            .gate
            .events
            .publish(os_screen_observer::events::CALL, || format!("{{\"a\":\"{}\"}}", "x".repeat(20_000)));
    }
    assert_eq!(site.get("/api/windows").status, 200);
    assert!(watcher.next("resync")["missed"].as_u64().unwrap() > 0);
}

#[test]
fn the_stop_switch_stops_every_surface_until_it_is_released() {
    let site = Site::new();
    let mut watcher = Watcher::new(&site);
    watcher.next("hello");
    let halted = site.ok("/api/halt", json!({"reason": "that was the wrong button"}));
    assert_eq!(halted["halted"], true);
    assert_eq!(watcher.next("halt")["reason"], "that was the wrong button");
    let refused = site.post("/api/action", json!({"action": "click_at", "x": 1, "y": 2}));
    assert_eq!(refused.status, 403);
    let error = &refused.json()["error"];
    assert_eq!(error["code"], "PermissionDenied");
    assert!(error["message"].as_str().unwrap().contains("that was the wrong button"), "{error}");
    let over_mcp = mcp(&site, "tools/call", json!({"name": "click_at", "arguments": {"x": 1, "y": 2}}));
    assert!(over_mcp.to_string().contains("that was the wrong button"), "{over_mcp}");
    assert_eq!(site.get("/api/windows").status, 200, "looking is allowed");
    assert_eq!(site.effects(), 0);
    assert_eq!(site.post("/api/halt/release", json!({})).json()["halted"], false);
    assert_eq!(site.get("/api/halt").json()["halted"], false);
    site.ok("/api/action", json!({"action": "click_at", "x": 1, "y": 2}));
}

#[test]
fn the_stop_switch_ends_what_is_running() {
    let site = Site::new();
    let answer = std::thread::scope(|scope| {
        let long = scope.spawn(|| site.post("/api/tool/hover_at", json!({"x": 1, "y": 1, "hover_ms": 9999})));
        crate::support::http::until("the hover has begun", || site.app.session.step_count() > 0);
        std::thread::sleep(Duration::from_millis(100));
        site.ok("/api/halt", json!({}));
        long.join().unwrap()
    });
    assert_eq!((answer.status, answer.json()["error"]["code"].as_str()), (403, Some("PermissionDenied")));
}

fn asks_for_edit() -> Value {
    json!({
        "confirmation": {"mode": "inspector", "ttl_seconds": 20},
        "confirmation_required": [{"name_regex": "^Edit$"}],
        "web_ui": {"token": "S3NT1NEL-9f2c"},
    })
}

const TOKEN: (&str, &str) = ("authorization", "Bearer S3NT1NEL-9f2c");

/// What becomes of a click on a protected element when the person does that.
fn click_and_decide(decide: impl Fn(&Site, &Value)) -> (crate::support::http::Answer, usize) {
    let site = Site::with(asks_for_edit());
    let body = json!({"selector": "Window/MenuBar/MenuItem[name=\"Edit\"]"}).to_string();
    let answer = std::thread::scope(|scope| {
        let call = scope.spawn(|| site.ask("POST", "/api/element/click", &[JSON, TOKEN], &body));
        let list = || site.ask("GET", "/api/approvals", &[TOKEN], "").json()["approvals"].clone();
        crate::support::http::until("the question is asked", || list()[0].is_object());
        assert_eq!(site.effects(), 0, "nothing is done before the answer");
        decide(&site, &list()[0]);
        call.join().unwrap()
    });
    let left = site.ask("GET", "/api/approvals", &[TOKEN], "").json();
    assert_eq!(left["approvals"], json!([]));
    (answer, site.effects())
}

fn say(site: &Site, approval: &Value, decision: &str) -> u16 {
    let path = format!("/api/approvals/{}", approval["id"].as_str().unwrap());
    site.ask("POST", &path, &[JSON, TOKEN], &json!({"decision": decision}).to_string()).status
}

/// H-09 on REST: the picture of a question, fetched by its address.
#[test]
fn a_person_allows_in_the_inspector() {
    let (answer, effects) = click_and_decide(|site, approval| {
        assert_eq!(approval["tool"], "click_element");
        assert_eq!(
            (&approval["target"]["role"], &approval["target"]["name"]),
            (&json!("MenuItem"), &json!("Edit"))
        );
        assert!(approval["expires_in_ms"].as_u64().unwrap() > 1000);
        let picture = approval["picture"]["url"].as_str().unwrap();
        let png = site.ask("GET", &format!("{picture}?token=S3NT1NEL-9f2c"), &[], "");
        assert_eq!((png.status, png.header("content-type")), (200, Some("image/png")));
        assert_eq!(approval["picture"]["element"], json!({"x": 58, "y": 0, "width": 56, "height": 22}));
        assert_eq!(say(site, approval, "perhaps"), 400);
        assert_eq!(say(site, approval, "allow"), 200);
        assert_eq!(say(site, approval, "deny"), 404, "once");
    });
    assert_eq!((answer.status, effects), (200, 1), "{answer:?}");
}

#[test]
fn a_person_denies_in_the_inspector() {
    let (answer, effects) = click_and_decide(|site, approval| assert_eq!(say(site, approval, "deny"), 200));
    assert_eq!(
        (answer.status, answer.json()["error"]["code"].as_str(), effects),
        (403, Some("PermissionDenied"), 0)
    );
}

#[test]
fn the_stop_switch_takes_questions_back() {
    let (answer, effects) = click_and_decide(|site, _| {
        assert_eq!(site.ask("POST", "/api/halt", &[JSON, TOKEN], "{}").status, 200);
    });
    assert_eq!((answer.status, effects), (403, 0), "{answer:?}");
}

#[test]
fn nobody_answers() {
    let mut config = asks_for_edit();
    config["confirmation"]["ttl_seconds"] = json!(1);
    let site = Site::with(config);
    let body = json!({"selector": "//MenuItem[name=\"Edit\"]"}).to_string();
    let answer = site.ask("POST", "/api/element/click", &[JSON, TOKEN], &body);
    assert_eq!((answer.status, answer.json()["error"]["code"].as_str()), (412, Some("ConfirmationRequired")));
    assert_eq!(site.effects(), 0);
}

#[test]
fn consent_in_the_inspector_makes_a_token_of_its_own() {
    let mut config = asks_for_edit();
    config["web_ui"] = json!({});
    let site = Site::with(config);
    assert!(site.link.contains("#token="), "{}", site.link);
    assert_eq!(site.get("/api/approvals").status, 401);
}

#[test]
fn over_mcp_the_same_person_is_asked() {
    let site = Site::with(asks_for_edit());
    let call = json!({"name": "click_element", "arguments": {"selector": "//MenuItem[name=\"Edit\"]"}});
    let answer = std::thread::scope(|scope| {
        let call = scope.spawn(|| mcp(&site, "tools/call", call));
        let list = || site.ask("GET", "/api/approvals", &[TOKEN], "").json()["approvals"].clone();
        crate::support::http::until("the question is asked", || list()[0].is_object());
        assert_eq!(list()[0]["origin"], "mcp");
        say(&site, &list()[0], "allow");
        call.join().unwrap()
    });
    assert!(!answer["result"]["isError"].as_bool().unwrap_or(false), "{answer}");
    assert_eq!(site.effects(), 1);
}

// ---- MCP over HTTP -----------------------------------------------------------------------------------------

const ACCEPT: (&str, &str) = ("accept", "application/json, text/event-stream");

/// One request of the newer era, which needs no greeting: its head and body.
fn modern_request(site: &Site, method: &str, mut params: Value) -> String {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
    });
    let name = params["name"].as_str().or(params["uri"].as_str()).map(|name| format!("mcp-name: {name}\r\n"));
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string();
    let mut request = format!("POST /mcp HTTP/1.1\r\nconnection: close\r\nhost: {}\r\n", site.address);
    for (name, value) in [JSON, ACCEPT, TOKEN, ("mcp-protocol-version", "2026-07-28"), ("mcp-method", method)]
    {
        request.push_str(&format!("{name}: {value}\r\n"));
    }
    format!("{request}{}content-length: {}\r\n\r\n{body}", name.unwrap_or_default(), body.len())
}

fn mcp(site: &Site, method: &str, params: Value) -> Value {
    let answer = site.raw(&modern_request(site, method, params));
    assert_eq!(answer.header("content-type"), Some("application/json"), "{answer:?}");
    answer.json()
}

/// The messages of one long answer.
struct Stream(std::io::BufReader<std::net::TcpStream>);

impl Stream {
    fn open(site: &Site, method: &str, params: Value) -> Self {
        let mut stream = site.connect();
        stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        stream.write_all(modern_request(site, method, params).as_bytes()).unwrap();
        Self(std::io::BufReader::new(stream))
    }

    /// The next message of that method; others are passed over.
    fn next(&mut self, method: &str) -> Value {
        self.find(method).unwrap_or_else(|| panic!("{method} did not come"))
    }

    fn says(&mut self, method: &str) -> bool {
        self.find(method).is_some()
    }

    /// Nothing when the answer ends before, or nothing comes any more.
    fn find(&mut self, method: &str) -> Option<Value> {
        use std::io::BufRead;
        loop {
            let mut line = String::new();
            if self.0.read_line(&mut line).unwrap_or(0) == 0 {
                return None;
            }
            let data = line
                .trim_end()
                .strip_prefix("data:")
                .and_then(|data| serde_json::from_str::<Value>(data).ok());
            if let Some(message) = data.filter(|message| message["method"] == method) {
                return Some(message);
            }
        }
    }
}

#[test]
fn mcp_is_spoken_without_a_greeting() {
    let site = Site::new();
    let discovered = mcp(&site, "server/discover", json!({}));
    assert!(discovered["result"]["supportedVersions"].to_string().contains("2026-07-28"), "{discovered}");
    let tools = mcp(&site, "tools/list", json!({}));
    let declared = os_screen_observer::tools::all_tools()
        .filter(|spec| spec.meta.listed && spec.meta.lock.is_none() && spec.meta.switch.is_none())
        .filter(|spec| spec.meta.group != os_screen_observer::tool::Group::Browser)
        .count();
    assert_eq!(tools["result"]["tools"].as_array().unwrap().len(), declared);
    let called = mcp(&site, "tools/call", json!({"name": "list_windows", "arguments": {}}));
    assert_eq!(called["result"]["structuredContent"]["count"], 3, "{called}");
}

/// What is no message is refused in the protocol's own shape.
#[track_caller]
fn check_no_message(headers: &[(&str, &str)], body: &str, expected: (u16, i64)) {
    let answer = Site::new().ask("POST", "/mcp", headers, body);
    assert_eq!(answer.header("content-type"), Some("application/json"), "{answer:?}");
    assert_eq!((answer.status, answer.json()["error"]["code"].as_i64().unwrap()), expected, "{answer:?}");
    assert!(answer.json()["error"]["message"].as_str().unwrap().len() > 10, "{answer:?}");
}

/// H-26 on /mcp: what is no message is refused in its words.
#[test]
fn mcp_refuses_in_its_own_words() {
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    check_no_message(&[JSON, ACCEPT], "{", (400, -32700));
    check_no_message(&[JSON, ACCEPT], "[]", (400, -32600));
    check_no_message(&[JSON, ACCEPT], r#"{"a":1}"#, (400, -32600));
    check_no_message(&[JSON], ping, (406, -32600));
    check_no_message(&[JSON, ACCEPT, ("mcp-protocol-version", "1999-01-01")], ping, (400, -32600));
}

#[test]
fn resources_prompts_and_completions_are_served_at_mcp() {
    let site = Site::new();
    assert_eq!(mcp(&site, "resources/list", json!({}))["result"]["resources"].as_array().unwrap().len(), 8);
    let read = mcp(&site, "resources/read", json!({"uri": "screen://windows"}));
    assert!(read["result"]["contents"][0]["text"].as_str().unwrap().contains("Notepad"), "{read}");
    let prompt = mcp(&site, "prompts/get", json!({"name": "describe_screen"}));
    assert_eq!(prompt["result"]["messages"][1]["content"]["type"], "resource", "{prompt}");
    let named = json!({"ref": {"type": "ref/prompt", "name": "describe_screen"}, "argument": {"name": "window", "value": ""}});
    assert_eq!(mcp(&site, "completion/complete", named)["result"]["completion"]["total"], 3);
}

/// Without a connection that lasts, the older era has no way of being told, and is not promised one.
#[test]
fn the_older_era_cannot_subscribe_over_http() {
    let site = Site::new();
    let ask = |body: Value| site.ask("POST", "/mcp", &[JSON, ACCEPT], &body.to_string()).json();
    let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    let greeted = ask(json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}));
    assert_eq!(greeted["result"]["capabilities"]["resources"], json!({}), "{greeted}");
    let wanted = json!({"uri": "screen://windows"});
    let refused = ask(json!({"jsonrpc": "2.0", "id": 2, "method": "resources/subscribe", "params": wanted}));
    assert_eq!(refused["error"]["code"], -32601, "{refused}");
}

#[test]
fn the_newer_era_is_told_of_changes_over_http() {
    let site = Site::new();
    let wanted = json!({"notifications": {"resourceSubscriptions": ["screen://windows"], "resourcesListChanged": true}});
    let mut stream = Stream::open(&site, "subscriptions/listen", wanted);
    stream.next("notifications/subscriptions/acknowledged");
    site.ok("/api/bring_to_foreground", json!({"window_index": 2}));
    assert_eq!(stream.next("notifications/resources/updated")["params"]["uri"], "screen://windows");
}

#[test]
fn who_hangs_up_is_no_longer_told() {
    let site = Site::new();
    let all: Vec<String> = (0..64).map(|number| format!("screen://window/x{number}/outline")).collect();
    let mut stream =
        Stream::open(&site, "subscriptions/listen", json!({"notifications": {"resourceSubscriptions": all}}));
    stream.next("notifications/subscriptions/acknowledged");
    let one = json!({"notifications": {"resourceSubscriptions": ["screen://windows"]}});
    let refused = site.raw(&modern_request(&site, "subscriptions/listen", one.clone()));
    assert!(refused.body.contains("64 subscriptions"), "{refused:?}");
    drop(stream);
    let mut turn = 0;
    crate::support::http::until("there is room again", || {
        let mut stream = Stream::open(&site, "subscriptions/listen", one.clone());
        // Another window each time: what changes and changes back between two looks is no news.
        turn += 1;
        stream.says("notifications/subscriptions/acknowledged") && {
            site.ok("/api/bring_to_foreground", json!({"window_index": turn % 3}));
            stream.says("notifications/resources/updated")
        }
    });
}

#[test]
fn mcp_is_spoken_with_a_greeting_and_counts_steps_with_rest() {
    let site = Site::new();
    let ask = |body: Value| site.ask("POST", "/mcp", &[JSON, ACCEPT], &body.to_string());
    let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    let greeted = ask(json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}));
    assert_eq!(greeted.json()["result"]["protocolVersion"], "2025-11-25", "{greeted:?}");
    assert_eq!(ask(json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).status, 202);
    assert_eq!(site.get("/api/windows").json()["step_id"], 1);
    let call = json!({"name": "list_windows", "arguments": {}});
    let called = ask(json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call}));
    assert_eq!(called.json()["result"]["structuredContent"]["step_id"], 2, "{called:?}");
    assert_eq!(site.get("/api/windows").json()["step_id"], 3);
}

// ---- the rest ----------------------------------------------------------------------------------------------

#[test]
fn pictures_come_inside_the_json() {
    let site = Site::new();
    let shot = site.get("/api/screenshot?window_index=0").json();
    assert!(shot["data"].as_str().unwrap().starts_with("iVBORw0KGgo"));
    assert_eq!((&shot["width"], &shot["format"]), (&json!(800), &json!("png")));
    let call = json!({"action": "click_at", "args": {"x": 100, "y": 100}});
    let proposed = site.ok("/api/propose_action", call);
    assert!(proposed["would_target"]["screenshot_b64"].as_str().unwrap().starts_with("iVBORw0KGgo"));
    assert!(proposed.get("data").is_none());
}

#[test]
fn a_picture_can_be_sent_to_be_read() {
    let site = Site::new();
    if !site.app.observer.ocr().is_available() {
        return;
    }
    let shot = site.get("/api/screenshot?window_index=0").json();
    let read = site.ok("/api/ocr", json!({"image_b64": shot["data"]}));
    assert!(read["words"].to_string().contains("Format"), "{read}");
    let wrong = site.post("/api/ocr", json!({"image_b64": "!"}));
    assert_eq!((wrong.status, wrong.json()["error"]["context"]["field"].as_str()), (400, Some("image_b64")));
    assert_eq!(site.post("/api/ocr", json!({"image_b64": shot["data"], "window_index": 0})).status, 400);
}

/// H-33 on REST: who hangs up cancels.
#[test]
fn a_client_that_leaves_takes_its_call_along() {
    let site = Site::new();
    let body = json!({"any_of": [{"type": "window_appears", "title_regex": "NEVER"}], "timeout_ms": 60_000})
        .to_string();
    let mut stream = site.connect();
    let head = format!(
        "POST /api/wait_for HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        site.address,
        body.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    crate::support::http::until("the wait has begun", || site.app.session.step_count() == 1);
    drop(stream);
    let left = std::time::Instant::now();
    let ended = || site.app.gate.metrics.by_tool().get("wait_for").is_some_and(|count| count.calls == 1);
    crate::support::http::until("the wait is over", ended);
    // By itself it would have been over after a minute.
    assert!(left.elapsed() < Duration::from_secs(25), "{:?}", left.elapsed());
}

#[test]
fn both_surfaces_share_one_process() {
    let mut client = crate::support::Client::start(&["--mode", "both", "--mock", "--port", "0"]);
    client.initialize("2025-11-25");
    let errors = client.errors.clone();
    crate::support::http::until("HTTP is up", || errors.lock().unwrap().contains("serving HTTP at"));
    let log = client.errors.lock().unwrap().clone();
    let address = log.split("serving HTTP at http://").nth(1).unwrap().split('/').next().unwrap().to_owned();
    let mut stream = std::net::TcpStream::connect(&address).unwrap();
    write!(stream, "GET /api/windows HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n").unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    assert_eq!(crate::support::http::answer(&text).json()["step_id"], 1);
    assert_eq!(client.data("list_windows", json!({}))["step_id"], 2);
    client.close_input();
    let (status, took) = client.wait(Duration::from_secs(5)).expect("the end of input ends both");
    assert!(status.success() && took < Duration::from_secs(2), "{status} {took:?}");
}
