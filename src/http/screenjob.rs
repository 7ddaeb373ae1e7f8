//! The ScreenJob-compatible API: its routes, bodies and ways to show the token, over the jobs of this server. It has its
//! own listener and is off by default. There is no way here that the tools of jobs do not have.

use std::sync::Arc;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Extension, Path, RawQuery, State};
use axum::http::{Response, StatusCode};
use axum::routing::get;
use axum::routing::post;
use serde_json::{Map, Value, json};

use super::present::{self, HttpRefusal};
use super::router::body_object;
use super::surface::Surface;
use super::{inspector, job_socket, jobs};
use crate::error::{Error, Kind, Result};
use crate::gate::Origin;

type ScreenJobState = State<Arc<Surface>>;

/// What ScreenJob calls its tools, and the tools that a job may not use where one of them is disabled.
const DIALECT: &[(&str, &[&str])] = &[
    ("execute_command", &["exec_command"]),
    ("sleep", &["wait_idle"]),
    ("see_screen", &["get_screenshot"]),
    ("enhance", &["get_screenshot_cropped"]),
    ("click", &["click_at", "click_element"]),
    ("type", &["type_text", "set_value"]),
    ("press_key", &["press_key"]),
];
/// A job without it could not end.
const ENDS_A_JOB: &str = "task_complete";
const LISTED: u64 = 1000;

pub fn router(surface: &Arc<Surface>) -> Router {
    with_page(Router::new(), surface.app.config.screenjob.disable_ui)
        .route("/api/jobs", get(list_jobs).post(post_job))
        .route("/api/jobs/{job_id}", get(get_job))
        .route("/api/jobs/{job_id}/status", get(get_job))
        .route("/api/jobs/{job_id}/events", get(jobs::get_events))
        .route("/api/jobs/{job_id}/cancel", post(cancel_job))
        .route("/api/jobs/{job_id}/artifact", get(jobs::get_artifact))
        .route("/api/jobs/{job_id}/artifacts", get(jobs::get_artifacts))
        .route("/api/stats", get(jobs::get_stats))
        .route("/ws", get(job_socket::open_socket))
        .method_not_allowed_fallback(|| async { HttpRefusal::method_not_allowed().into_response() })
        .with_state(surface.clone())
}

/// The page, or what ScreenJob says where there is none.
fn with_page(router: Router<Arc<Surface>>, disabled: bool) -> Router<Arc<Surface>> {
    if !disabled {
        return router.fallback(inspector::serve_for_jobs);
    }
    let said = || async { present::json_value(StatusCode::OK, &json!({"ui_disabled": true})) };
    router.route("/", get(said)).fallback(|| async { HttpRefusal::not_found().into_response() })
}

/// `{job, model, disabled_tools, safety_override}` as the arguments of `run_job`.
fn job_arguments(mut given: Map<String, Value>, model: Option<&str>) -> Result<Map<String, Value>> {
    let wrong = |field: &'static str, what: &str| {
        Error::new(Kind::BadRequest, format!("'{field}' must be {what}")).with("field", field)
    };
    let overrides = given.shift_remove("safety_override").unwrap_or(Value::Bool(false));
    if !overrides.is_boolean() {
        return Err(wrong("safety_override", "true or false"));
    }
    if let Some(named) = given.shift_remove("disabled_tools").filter(|named| !named.is_null()) {
        let named = named.as_array().ok_or_else(|| wrong("disabled_tools", "a list of names"))?;
        given.insert("disabled_tools".to_owned(), denied_tools(named)?.into());
    }
    given.retain(|_, value| !value.is_null());
    if let Some(model) = model {
        given.entry("model").or_insert(model.into());
    }
    Ok(given)
}

fn denied_tools(named: &[Value]) -> Result<Vec<Value>> {
    let mut denied = Vec::new();
    for name in named {
        let name = name.as_str().unwrap_or_default();
        if name == ENDS_A_JOB {
            let message = format!("'disabled_tools' names {ENDS_A_JOB}, without which no job can end");
            return Err(Error::bad_request(message).with("field", "disabled_tools"));
        }
        match DIALECT.iter().find(|(known, _)| *known == name) {
            Some((_, tools)) => denied.extend(tools.iter().map(|tool| Value::from(*tool))),
            None => denied.push(name.into()),
        }
    }
    Ok(denied)
}

async fn post_job(
    State(surface): ScreenJobState,
    Extension(origin): Extension<Origin>,
    body: Bytes,
) -> Response<Body> {
    let arguments = body_object(&body).and_then(|given| {
        let model = surface.app.config.screenjob.default_model.as_deref();
        job_arguments(given, model).map_err(HttpRefusal::from)
    });
    match arguments {
        Ok(arguments) => surface.call("run_job", arguments, origin).await,
        Err(refusal) => refusal.into_response(),
    }
}

/// All of them, as ScreenJob did, or the newest `limit`.
async fn list_jobs(
    State(surface): ScreenJobState,
    Extension(origin): Extension<Origin>,
    RawQuery(asked): RawQuery,
) -> Response<Body> {
    let known = json!({"properties": {"limit": {"type": "integer", "minimum": 1, "maximum": LISTED}}});
    let mut arguments = match jobs::read_query(&known, asked.as_deref()) {
        Ok(asked) => asked,
        Err(error) => return HttpRefusal::from(error).into_response(),
    };
    arguments.retain(|name, _| name == "limit");
    arguments.entry("limit").or_insert(LISTED.into());
    surface.call("list_jobs", arguments, origin).await
}

/// `output` is what ScreenJob calls the result.
async fn get_job(
    State(surface): ScreenJobState,
    Extension(origin): Extension<Origin>,
    Path(job_id): Path<String>,
    RawQuery(_): RawQuery,
) -> Response<Body> {
    let arguments = Map::from_iter([("job_id".to_owned(), job_id.into())]);
    let mut reply = match surface.run("job_status", arguments, origin).await {
        Ok(reply) => reply,
        Err(refusal) => return refusal.into_response(),
    };
    if let Some(result) = reply.value().get("result").cloned() {
        reply.body.insert("output", result);
    }
    present::tool_response("job_status", reply)
}

async fn cancel_job(
    State(surface): ScreenJobState,
    Extension(origin): Extension<Origin>,
    Path(job_id): Path<String>,
) -> Response<Body> {
    jobs::control(State(surface), Extension(origin), job_id, "cancel").await
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(given: Value, expected: Value) {
        let arguments = job_arguments(given.as_object().unwrap().clone(), Some("m"));
        assert_eq!(arguments.map(Value::Object).map_err(|error| error.message), Ok(expected));
    }

    fn check_refused(given: Value, word: &str) {
        let error = job_arguments(given.as_object().unwrap().clone(), None).unwrap_err();
        assert!(error.message.contains(word), "{}", error.message);
    }

    #[test]
    fn bodies_become_jobs() {
        check(json!({"job": "a"}), json!({"job": "a", "model": "m"}));
        check(json!({"job": "a", "model": "x", "safety_override": true}), json!({"job": "a", "model": "x"}));
        check(json!({"job": "a", "model": null, "disabled_tools": null}), json!({"job": "a", "model": "m"}));
        check(
            json!({"job": "a", "disabled_tools": ["execute_command", "scroll"]}),
            json!({"job": "a", "disabled_tools": ["exec_command", "scroll"], "model": "m"}),
        );
        check_refused(json!({"job": "a", "disabled_tools": ["task_complete"]}), "no job can end");
        check_refused(json!({"job": "a", "disabled_tools": "x"}), "disabled_tools");
        check_refused(json!({"job": "a", "safety_override": "yes"}), "safety_override");
    }
}
