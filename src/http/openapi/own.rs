//! The routes about the server itself: what they are for, what they take and what they answer.

use serde_json::{Value, json};

use crate::http::events;
#[cfg(feature = "jobs")]
use crate::http::jobs;

pub const JSON_TYPE: &str = "application/json";

type SchemaFn = fn() -> Value;

pub struct Own {
    pub method: &'static str,
    pub path: &'static str,
    pub summary: &'static str,
    /// The arguments in its query, and the fields of its body, where it has any.
    pub query: Option<SchemaFn>,
    pub body: Option<SchemaFn>,
    /// Only so many may ask at a time.
    pub limited: bool,
    pub answer: &'static str,
    pub reply: SchemaFn,
}

const fn get(path: &'static str, summary: &'static str, reply: SchemaFn) -> Own {
    Own { method: "get", path, summary, query: None, body: None, limited: false, answer: JSON_TYPE, reply }
}

const fn post_route(
    path: &'static str,
    summary: &'static str,
    body: Option<SchemaFn>,
    reply: SchemaFn,
) -> Own {
    Own { method: "post", body, ..get(path, summary, reply) }
}

const fn file_route(path: &'static str, summary: &'static str, answer: &'static str) -> Own {
    Own { answer, ..get(path, summary, text) }
}

pub const OWN: &[Own] = &[
    get("/api/tools", "The names of all tools.", || object_fields(&[("tools", string_list())])),
    get("/api/healthz", "Health of the server.", health_schema),
    get("/health", "Whether the server lives, and whether it runs web tasks.", || {
        let word = || json!({"type": "string"});
        object_fields(&[("status", word()), ("version", word()), ("tasks", json!({"type": "boolean"}))])
    }),
    file_route("/api/metrics", "Counters in Prometheus' text format.", "text/plain"),
    get(
        "/api/openapi.json",
        "This document.",
        || json!({"type": "object", "required": ["openapi", "paths"]}),
    ),
    Own { limited: true, ..file_route("/api/events", "Events, as server-sent events.", "text/event-stream") },
    Own { query: Some(events::calls_query), ..get("/api/calls", "The latest calls.", calls_schema) },
    get("/api/halt", "Whether all input is stopped.", halt_state),
    post_route("/api/halt", "Stop all input.", Some(reason_schema), halt_state),
    post_route("/api/halt/release", "Resume input.", None, halt_state),
    get("/api/approvals", "Approvals waiting for a person.", || {
        object_fields(&[("mode", json!({"type": "string"})), ("approvals", object_list())])
    }),
    file_route("/api/approvals/{id}/picture", "Screenshot of the target window.", "image/png"),
    post_route("/api/approvals/{id}", "Allow or deny it.", Some(decision_schema), || {
        object_fields(&[("id", json!({"type": "string"})), ("decision", json!({"enum": ["allow", "deny"]}))])
    }),
    get("/api/traces", "The recorded sessions, the newest first.", || {
        object_fields(&[("count", json!({"type": "integer"})), ("traces", object_list())])
    }),
    file_route("/api/traces/{id}", "One of them as an HTML page.", "text/html"),
];

/// What jobs have besides their tools.
#[cfg(feature = "jobs")]
pub const OF_JOBS: &[Own] = &[
    post_route("/api/jobs/{job_id}/cancel", "Cancel a job; it sends nothing more.", None, job_schema),
    post_route("/api/jobs/{job_id}/pause", "Pause a job before its next input.", None, job_schema),
    post_route("/api/jobs/{job_id}/resume", "Let a job go on.", None, job_schema),
    post_route("/api/jobs/{job_id}/takeover", "Take the desktop of a job over.", None, job_schema),
    post_route("/api/jobs/{job_id}/release", "Give it back.", None, job_schema),
    post_route("/api/jobs/{job_id}/answer", "Allow or deny what a job asks.", Some(answer_schema), || {
        object_fields(&[("id", json!({"type": "string"})), ("decision", json!({"enum": ["allow", "deny"]}))])
    }),
    Own {
        query: Some(jobs::events_query),
        ..get("/api/jobs/{job_id}/events", "What happened to a job, event by event.", || {
            object_fields(&[("events", object_list()), ("next", json!({"type": "integer"}))])
        })
    },
    get("/api/jobs/{job_id}/artifacts", "The files of a job.", || {
        object_fields(&[("artifacts", object_list())])
    }),
    Own {
        query: Some(jobs::artifact_query),
        ..file_route("/api/jobs/{job_id}/artifact", "One of them.", "application/octet-stream")
    },
    get("/api/stats", "All jobs together: counts, success, cost, durations.", || {
        object_fields(&[("jobs", json!({"type": "integer"})), ("by_status", json!({"type": "object"}))])
    }),
];
#[cfg(not(feature = "jobs"))]
pub const OF_JOBS: &[Own] = &[];

#[cfg(feature = "jobs")]
fn job_schema() -> Value {
    object_fields(&[("job_id", json!({"type": "string"})), ("status", json!({"type": "string"}))])
}

#[cfg(feature = "jobs")]
fn answer_schema() -> Value {
    let mut schema = decision_schema();
    schema["properties"]["id"] = json!({"type": "string"});
    schema["required"] = json!(["id", "decision"]);
    schema
}

/// An object that is `ok` and always has these.
fn object_fields(all: &[(&str, Value)]) -> Value {
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

fn string_list() -> Value {
    json!({"type": "array", "items": {"type": "string"}})
}

fn object_list() -> Value {
    json!({"type": "array", "items": {"type": "object"}})
}

fn health_schema() -> Value {
    object_fields(&[
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

fn calls_schema() -> Value {
    object_fields(&[("last_event", json!({"type": "integer"})), ("calls", object_list())])
}

fn halt_state() -> Value {
    object_fields(&[
        ("halted", json!({"type": "boolean"})),
        ("reason", json!({"type": ["string", "null"]})),
        ("since", json!({"type": ["string", "null"], "format": "date-time"})),
    ])
}

fn reason_schema() -> Value {
    json!({"type": "object", "properties": {"reason": {"type": ["string", "null"]}}})
}

fn decision_schema() -> Value {
    json!({"type": "object", "properties": {"decision": {"enum": ["allow", "deny"]}}, "required": ["decision"]})
}
