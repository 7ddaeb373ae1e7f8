//! What only a person does: stop everything and release it, and decide what waits for consent. None of it
//! is a tool, so no agent can call it over MCP.

use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::{Path, State};
use axum::http::{Response, StatusCode};
use serde_json::{Value, json};

use super::present::{self, HttpRefusal};
use super::router::body_object;
use super::surface::Surface;
use crate::app::App;
use crate::clock::timestamp;
use crate::config::limits;
use crate::events;
use crate::gate::approvals::Decision;
#[cfg(feature = "jobs")]
use crate::jobs::service::JobService;
#[cfg(feature = "jobs")]
use crate::privacy::scrub::{self, Scrub};

type ControlState = State<Arc<Surface>>;

pub fn halt_state(app: &App) -> Value {
    match app.gate.halt.halt_status() {
        Some(halted) => {
            json!({"halted": true, "reason": halted.reason, "since": timestamp(halted.since)})
        }
        None => json!({"halted": false, "reason": null, "since": null}),
    }
}

fn halt_answer(app: &App) -> Response<Body> {
    let mut state = halt_state(app);
    state["ok"] = true.into();
    present::json_value(StatusCode::OK, &state)
}

pub async fn show_halt(State(surface): ControlState) -> Response<Body> {
    halt_answer(&surface.app)
}

/// Stops what acts, lets go of all keys, and takes open questions back.
pub async fn post_halt(State(surface): ControlState, body: Bytes) -> Response<Body> {
    let reason = match halt_reason(&body) {
        Ok(reason) => reason,
        Err(refusal) => return refusal.into_response(),
    };
    let app = surface.app.clone();
    tracing::warn!("all input is stopped: {reason}");
    app.gate.halt.engage(&reason, app.clock.wall_time());
    app.gate.approvals.withdraw_all();
    app.gate.events.publish_value(events::HALT, || halt_state(&app));
    let released = surface.app.clone();
    let _ = tokio::task::spawn_blocking(move || released.observer.release_all()).await;
    halt_answer(&app)
}

fn halt_reason(body: &[u8]) -> Result<String, HttpRefusal> {
    let given = body_object(body)?;
    match given.get("reason") {
        None | Some(Value::Null) => Ok("the stop button was pressed".to_owned()),
        Some(Value::String(reason)) => {
            Ok(reason.chars().filter(|c| !c.is_control()).take(limits::LABEL_CHARACTERS).collect())
        }
        Some(_) => Err(HttpRefusal::new(StatusCode::BAD_REQUEST, "argument 'reason' must be a string")
            .with_field("reason")),
    }
}

pub async fn post_release(State(surface): ControlState) -> Response<Body> {
    let app = &surface.app;
    if app.gate.halt.release() {
        tracing::warn!("input is released");
        app.gate.events.publish_value(events::HALT, || halt_state(app));
    }
    halt_answer(app)
}

pub async fn get_approvals(State(surface): ControlState) -> Response<Body> {
    let app = &surface.app;
    let mut open = app.gate.approvals.open_questions(app.clock.now());
    open.extend(questions_of_jobs(app));
    let answer = json!({"ok": true, "mode": app.config.confirmation.mode, "approvals": open});
    present::json_value(StatusCode::OK, &answer)
}

pub async fn get_picture(State(surface): ControlState, Path(id): Path<String>) -> Response<Body> {
    match surface.app.gate.approvals.question_picture(&id) {
        Some(picture) => present::typed_response(StatusCode::OK, picture.format.mime_type(), picture.bytes),
        None => no_such_question(),
    }
}

pub async fn post_decision(
    State(surface): ControlState,
    Path(id): Path<String>,
    body: Bytes,
) -> Response<Body> {
    let given = match body_object(&body) {
        Ok(given) => given,
        Err(refusal) => return refusal.into_response(),
    };
    let decision = match given.get("decision").and_then(Value::as_str) {
        Some("allow") => Decision::Allow,
        Some("deny") => Decision::Deny,
        _ => {
            return HttpRefusal::new(StatusCode::BAD_REQUEST, "argument 'decision' must be allow or deny")
                .with_field("decision")
                .into_response();
        }
    };
    if !surface.app.gate.approvals.decide_question(&id, decision) && !answer_job(&surface.app, &id, decision)
    {
        return no_such_question();
    }
    present::json_value(StatusCode::OK, &json!({"ok": true, "id": id, "decision": given["decision"]}))
}

/// What the jobs of other processes ask.
#[cfg(feature = "jobs")]
fn questions_of_jobs(app: &App) -> Vec<Value> {
    let open = app.jobs.as_ref().and_then(|jobs| jobs.open_questions().ok());
    let scrub = Scrub::for_person(&app.redactor);
    let clean = |question: Value| scrub::to_json_value(&question, &scrub).ok();
    open.unwrap_or_default().into_iter().filter_map(clean).collect()
}

#[cfg(not(feature = "jobs"))]
fn questions_of_jobs(_: &App) -> Vec<Value> {
    Vec::new()
}

#[cfg(feature = "jobs")]
fn answer_job(app: &App, id: &str, decision: Decision) -> bool {
    let answered = |jobs: &Arc<JobService>| jobs.answer_question(id, decision == Decision::Allow);
    app.jobs.as_ref().is_some_and(|jobs| answered(jobs).unwrap_or_default())
}

#[cfg(not(feature = "jobs"))]
fn answer_job(_: &App, _: &str, _: Decision) -> bool {
    false
}

fn no_such_question() -> Response<Body> {
    HttpRefusal::new(StatusCode::NOT_FOUND, "no request with that id is waiting for a decision")
        .into_response()
}
