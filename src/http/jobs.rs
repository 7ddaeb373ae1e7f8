//! The jobs of this server over HTTP, besides the tools: what only a person does, what happened, and the files.

use std::sync::Arc;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Extension, Path, RawQuery, State};
use axum::http::{Response, StatusCode};
use axum::routing::{get, post};
use serde_json::{Map, Value, json};

use super::job_socket;
use super::present::{self, HttpRefusal};
use super::query;
use super::router::body_object;
use super::surface::Surface;
use crate::error::{Error, Kind, Result};
use crate::gate::Origin;
use crate::jobs::service::{JobService, MOST_EVENTS};
use crate::privacy::scrub::{self, Scrub};
use crate::tool::args::{self, Unknown};

type JobsState = State<Arc<Surface>>;

pub fn add_routes(router: Router<Arc<Surface>>) -> Router<Arc<Surface>> {
    let controlled = |action: &'static str| {
        post(move |state: JobsState, origin: Extension<Origin>, Path(job_id): Path<String>| {
            control(state, origin, job_id, action)
        })
    };
    router
        .route("/api/jobs/{job_id}/cancel", controlled("cancel"))
        .route("/api/jobs/{job_id}/pause", controlled("pause"))
        .route("/api/jobs/{job_id}/resume", controlled("resume"))
        .route("/api/jobs/{job_id}/takeover", post(post_takeover))
        .route("/api/jobs/{job_id}/release", post(post_release))
        .route("/api/jobs/{job_id}/answer", post(post_answer))
        .route("/api/jobs/{job_id}/events", get(get_events))
        .route("/api/jobs/{job_id}/artifacts", get(get_artifacts))
        .route("/api/jobs/{job_id}/artifact", get(get_artifact))
        .route("/api/stats", get(get_stats))
        .route("/ws", get(job_socket::open_socket))
}

/// The tool of the same name decides.
pub async fn control(
    State(surface): JobsState,
    Extension(origin): Extension<Origin>,
    job_id: String,
    action: &str,
) -> Response<Body> {
    let arguments = [("job_id", job_id.as_str()), ("action", action)];
    let arguments = arguments.map(|(name, value)| (name.to_owned(), Value::from(value)));
    surface.call("job_control", Map::from_iter(arguments), origin).await
}

pub fn served_jobs(surface: &Surface) -> Result<Arc<JobService>> {
    let off = || Error::new(Kind::PermissionDenied, "jobs are disabled unless the owner sets jobs.enabled");
    surface.app.jobs.clone().ok_or_else(off)
}

/// Asks the store on a thread that may wait, and answers without what must not be shown.
async fn answered<F>(surface: &Arc<Surface>, ask: F) -> Response<Body>
where
    F: FnOnce(&JobService) -> Result<Value> + Send + 'static,
{
    let jobs = match served_jobs(surface) {
        Ok(jobs) => jobs,
        Err(error) => return HttpRefusal::from(error).into_response(),
    };
    let answer = tokio::task::spawn_blocking(move || ask(&jobs)).await;
    match answer.unwrap_or_else(|_| Err(Error::internal("the jobs could not be asked"))) {
        Ok(value) => {
            let scrub = Scrub::of(&surface.app.redactor);
            let clean = scrub::to_json_value(&value, &scrub).unwrap_or_default();
            present::json_value(StatusCode::OK, &clean)
        }
        Err(error) => HttpRefusal::from(error).into_response(),
    }
}

fn with_ok(mut value: Value) -> Value {
    value["ok"] = true.into();
    value
}

/// A job as every other route tells it: without what is null.
fn told_job(mut job: Value) -> Value {
    if let Some(fields) = job.as_object_mut() {
        fields.retain(|_, value| !value.is_null());
    }
    with_ok(job)
}

async fn post_takeover(State(surface): JobsState, Path(job_id): Path<String>) -> Response<Body> {
    answered(&surface, move |jobs| jobs.take_over(&job_id).map(told_job)).await
}

async fn post_release(State(surface): JobsState, Path(job_id): Path<String>) -> Response<Body> {
    answered(&surface, move |jobs| jobs.release_job(&job_id).map(told_job)).await
}

async fn post_answer(State(surface): JobsState, Path(job_id): Path<String>, body: Bytes) -> Response<Body> {
    let given = match body_object(&body) {
        Ok(given) => given,
        Err(refusal) => return refusal.into_response(),
    };
    let word = |name: &str| given.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let (question, decision) = (word("id"), word("decision"));
    if !matches!(decision.as_str(), "allow" | "deny") {
        return HttpRefusal::new(StatusCode::BAD_REQUEST, "argument 'decision' must be allow or deny")
            .with_field("decision")
            .into_response();
    }
    answered(&surface, move |jobs| {
        let of_this_job = jobs.store.open_questions(Some(&job_id))?.iter().any(|open| open.id == question);
        if !of_this_job || !jobs.answer_question(&question, decision == "allow")? {
            return Err(Error::new(Kind::JobNotFound, "the job does not ask that"));
        }
        Ok(json!({"ok": true, "id": question, "decision": decision}))
    })
    .await
}

/// What `/events` may be asked.
pub fn events_query() -> Value {
    let whole = |least: u64, most: u64| json!({"type": "integer", "minimum": least, "maximum": most});
    let most = MOST_EVENTS as u64;
    json!({"properties": {"after": {"type": "integer", "minimum": 0}, "limit": whole(1, most)}})
}

/// What `/artifact` may be asked.
pub fn artifact_query() -> Value {
    json!({"properties": {"path": {"type": "string", "maxLength": 4096}}, "required": ["path"]})
}

pub fn read_query(schema: &Value, asked: Option<&str>) -> Result<Map<String, Value>> {
    let arguments = query::parse_arguments(schema, asked.unwrap_or_default())?;
    Ok(args::check(schema, Value::Object(arguments), Unknown::Ignored)?.args)
}

pub async fn get_events(
    State(surface): JobsState,
    Path(job_id): Path<String>,
    RawQuery(asked): RawQuery,
) -> Response<Body> {
    let asked = match read_query(&events_query(), asked.as_deref()) {
        Ok(asked) => asked,
        Err(error) => return HttpRefusal::from(error).into_response(),
    };
    let after = asked.get("after").and_then(Value::as_i64).unwrap_or(0);
    let limit = asked.get("limit").and_then(Value::as_u64).and_then(|limit| usize::try_from(limit).ok());
    answered(&surface, move |jobs| {
        let (events, next) = jobs.events_after(&job_id, after, limit.unwrap_or(MOST_EVENTS))?;
        Ok(json!({"ok": true, "events": events, "next": next}))
    })
    .await
}

pub async fn get_artifacts(State(surface): JobsState, Path(job_id): Path<String>) -> Response<Body> {
    answered(&surface, move |jobs| {
        let artifacts = jobs.list_artifacts(&job_id)?;
        Ok(json!({"ok": true, "artifacts": artifacts}))
    })
    .await
}

pub async fn get_stats(State(surface): JobsState) -> Response<Body> {
    answered(&surface, |jobs| jobs.stats().map(with_ok)).await
}

/// What is in the file was redacted before it was written.
pub async fn get_artifact(
    State(surface): JobsState,
    Path(job_id): Path<String>,
    RawQuery(asked): RawQuery,
) -> Response<Body> {
    let found = read_query(&artifact_query(), asked.as_deref()).and_then(|asked| {
        let path = asked.get("path").and_then(Value::as_str).unwrap_or_default().to_owned();
        Ok((served_jobs(&surface)?, path))
    });
    let (jobs, path) = match found {
        Ok(found) => found,
        Err(error) => return HttpRefusal::from(error).into_response(),
    };
    let read = tokio::task::spawn_blocking(move || jobs.read_artifact(&job_id, &path)).await;
    match read.unwrap_or_else(|_| Err(Error::internal("the file could not be read"))) {
        Ok((artifact, bytes)) => present::typed_response(StatusCode::OK, type_of(&artifact.path), bytes),
        Err(error) => HttpRefusal::from(error).into_response(),
    }
}

fn type_of(path: &str) -> &'static str {
    let types = [
        (".png", "image/png"),
        (".jpg", "image/jpeg"),
        (".webp", "image/webp"),
        (".json", "application/json"),
        (".jsonl", "application/x-ndjson"),
    ];
    let known = types.iter().find(|(ending, _)| path.ends_with(ending));
    known.map_or("application/octet-stream", |(_, kind)| kind)
}
