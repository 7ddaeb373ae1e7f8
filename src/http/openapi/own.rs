//! The routes about the server itself: what they are for, what they take and what they answer.

use serde_json::{Value, json};

use crate::http::events;

pub const JSON_TYPE: &str = "application/json";

type Shape = fn() -> Value;

pub struct Own {
    pub method: &'static str,
    pub path: &'static str,
    pub summary: &'static str,
    /// The arguments in its query, and the fields of its body, where it has any.
    pub query: Option<Shape>,
    pub body: Option<Shape>,
    /// Only so many may ask at a time.
    pub limited: bool,
    pub answer: &'static str,
    pub reply: Shape,
}

const fn get(path: &'static str, summary: &'static str, reply: Shape) -> Own {
    Own { method: "get", path, summary, query: None, body: None, limited: false, answer: JSON_TYPE, reply }
}

const fn post(path: &'static str, summary: &'static str, body: Option<Shape>, reply: Shape) -> Own {
    Own { method: "post", body, ..get(path, summary, reply) }
}

const fn file(path: &'static str, summary: &'static str, answer: &'static str) -> Own {
    Own { answer, ..get(path, summary, text) }
}

pub const OWN: &[Own] = &[
    get("/api/tools", "The names of all tools.", || fields(&[("tools", texts())])),
    get("/api/healthz", "How the server is.", health),
    file("/api/metrics", "Counters in Prometheus' text format.", "text/plain"),
    get(
        "/api/openapi.json",
        "This document.",
        || json!({"type": "object", "required": ["openapi", "paths"]}),
    ),
    Own { limited: true, ..file("/api/events", "What happens, as server-sent events.", "text/event-stream") },
    Own { query: Some(events::calls_query), ..get("/api/calls", "The latest calls.", calls) },
    get("/api/halt", "Whether all input is stopped.", halt_state),
    post("/api/halt", "Stop all input.", Some(reason), halt_state),
    post("/api/halt/release", "Let input happen again.", None, halt_state),
    get("/api/approvals", "What waits for a person's decision.", || {
        fields(&[("mode", json!({"type": "string"})), ("approvals", objects())])
    }),
    file("/api/approvals/{id}/picture", "The window that would be touched.", "image/png"),
    post("/api/approvals/{id}", "Allow or deny it.", Some(decision), || {
        fields(&[("id", json!({"type": "string"})), ("decision", json!({"enum": ["allow", "deny"]}))])
    }),
    get("/api/traces", "The recorded sessions, the newest first.", || {
        fields(&[("count", json!({"type": "integer"})), ("traces", objects())])
    }),
    file("/api/traces/{id}", "One of them as a page.", "text/html"),
];

/// An object that is `ok` and always has these.
fn fields(all: &[(&str, Value)]) -> Value {
    let mut schema = json!({"type": "object", "properties": {"ok": {"const": true}}, "required": ["ok"]});
    for (name, kind) in all {
        schema["properties"][*name] = kind.clone();
        schema["required"].as_array_mut().into_iter().for_each(|required| required.push((*name).into()));
    }
    schema
}

fn text() -> Value {
    json!({"type": "string"})
}

fn texts() -> Value {
    json!({"type": "array", "items": {"type": "string"}})
}

fn objects() -> Value {
    json!({"type": "array", "items": {"type": "object"}})
}

fn health() -> Value {
    fields(&[
        ("uptime_s", json!({"type": "integer"})),
        ("step_count", json!({"type": "integer"})),
        ("adapter", json!({"type": "string"})),
        ("version", json!({"type": "string"})),
        ("halted", json!({"type": "boolean"})),
        ("tree_cache", json!({"type": "object"})),
        ("config_path", json!({"type": ["string", "null"]})),
        ("config_error", json!({"type": ["string", "null"]})),
        ("ocr", json!({"type": "object"})),
    ])
}

fn calls() -> Value {
    fields(&[("last_event", json!({"type": "integer"})), ("calls", objects())])
}

fn halt_state() -> Value {
    fields(&[
        ("halted", json!({"type": "boolean"})),
        ("reason", json!({"type": ["string", "null"]})),
        ("since", json!({"type": ["string", "null"], "format": "date-time"})),
    ])
}

fn reason() -> Value {
    json!({"type": "object", "properties": {"reason": {"type": ["string", "null"]}}})
}

fn decision() -> Value {
    json!({"type": "object", "properties": {"decision": {"enum": ["allow", "deny"]}}, "required": ["decision"]})
}
