//! The Clickthrough-compatible API: its routes, its envelope and its error codes, over the tools of this
//! server.
//!
//! Thin adapters. A request is read whole, becomes calls that pass the gate like any other, and the replies
//! have the shape that clients of Clickthrough expect. Nothing here looks at the desktop or judges a call.
//! It has its own listener and is off by default.

mod displays;
mod fields;
mod interact;
mod screenshots;
mod wait;
mod windows;

use std::sync::Arc;
use std::time::UNIX_EPOCH;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{RawQuery, State};
use axum::http::{HeaderMap, Response, StatusCode};
use axum::routing::{MethodRouter, get, post};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Map, Value, json};

use super::present::{self, HttpRefusal};
use super::router::body_object;
use super::surface::Surface;
use crate::clock::Clock;
use crate::error::Kind;
use crate::gate::Origin;
use crate::random::random_token;
use fields::Form;

const EXEC_SECRET_HEADER: &str = "x-clickthrough-exec-secret";

type Here = State<Arc<Surface>>;

pub fn router(surface: &Arc<Surface>) -> Router {
    let router = Router::new()
        .route("/health", by_query(health))
        .route("/displays", by_query(displays::displays))
        .route("/see", by_body(screenshots::see))
        .route("/see/zoom", by_body(screenshots::zoom))
        .route("/interact", by_body(interact::interact))
        .route("/exec", post(exec))
        .route("/windows", by_query(windows::list))
        .route("/windows/action", by_body(windows::action))
        .route("/launch", by_body(windows::launch))
        .route("/screen", by_query(screenshots::see))
        .route("/zoom", by_body(screenshots::zoom))
        .route("/ocr", by_body(screenshots::ocr))
        .route("/ocr/find", by_body(screenshots::ocr_find))
        .route("/vision/diff", by_body(wait::diff))
        .route("/vision/stability", by_body(wait::stability))
        .route("/wait", by_body(wait::wait))
        .route("/action/verify", by_body(wait::verify))
        .route("/batch", by_body(interact::batch))
        .fallback(|| async { refused(HttpRefusal::new(StatusCode::NOT_FOUND, "not found")) });
    let wrong_method =
        || async { refused(HttpRefusal::new(StatusCode::METHOD_NOT_ALLOWED, "method not allowed")) };
    router.method_not_allowed_fallback(wrong_method).with_state(surface.clone())
}

/// A route whose fields stand in the query.
fn by_query<F>(run: fn(Arc<Surface>, Form) -> F) -> MethodRouter<Arc<Surface>>
where
    F: Future<Output = RouteAnswer> + Send + 'static,
{
    get(move |State(surface): Here, RawQuery(query): RawQuery| async move {
        let form = Form::query(&query.unwrap_or_default());
        enveloped(&surface, run(surface.clone(), form).await)
    })
}

/// A route whose fields stand in the body.
fn by_body<F>(run: fn(Arc<Surface>, Form) -> F) -> MethodRouter<Arc<Surface>>
where
    F: Future<Output = RouteAnswer> + Send + 'static,
{
    post(move |State(surface): Here, body: Bytes| async move {
        match form(&body) {
            Ok(form) => enveloped(&surface, run(surface.clone(), form).await),
            Err(failure) => enveloped(&surface, Err(failure)),
        }
    })
}

/// Why a request has no data: told as `error`.
#[derive(Debug)]
pub struct Failure {
    status: u16,
    code: String,
    message: String,
    details: Box<Value>,
    /// A call was refused that looks at the screen: its words may be from there.
    untrusted: bool,
}

impl Failure {
    fn new(status: u16, code: &str, message: impl Into<String>) -> Self {
        let (code, message) = (code.to_owned(), message.into());
        Self { status, code, message, details: Box::default(), untrusted: false }
    }

    fn with(mut self, details: Value) -> Self {
        *self.details = details;
        self
    }

    /// Its details were seen on the screen.
    fn seen(self) -> Self {
        Self { untrusted: true, ..self }
    }

    fn bad_request(message: impl Into<String>) -> Self {
        Self::new(400, "bad_request", message)
    }

    fn validation(faults: Vec<Value>) -> Self {
        Self::new(422, "validation_error", "request validation failed").with(Value::Array(faults))
    }

    fn as_json(&self) -> Value {
        json!({"code": self.code, "message": self.message, "details": self.details})
    }
}

impl From<HttpRefusal> for Failure {
    fn from(refusal: HttpRefusal) -> Self {
        Self::new(refusal.status.as_u16(), &snake(refusal.code()), refusal.message())
    }
}

/// The gate's error in the words of this face. What was read by OCR has codes of its own.
fn failure_of(tool: &str, kind: Kind, reply: &Value) -> Failure {
    let error = &reply["error"];
    let reads = matches!(tool, "click_text" | "ocr_find");
    let (status, code) = match kind {
        Kind::PlatformUnsupported if reads => (503, "ocr_unavailable".to_owned()),
        Kind::Timeout | Kind::Internal if reads => (503, "ocr_failed".to_owned()),
        Kind::ElementNotFound if error["context"].get("candidates").is_some() && reads => {
            (404, "ocr_text_not_found".to_owned())
        }
        Kind::ElementNotFound if reads => (409, "screen_changed".to_owned()),
        Kind::Ambiguous if error["context"]["field"] == "nth" => (409, "ocr_nth_out_of_range".to_owned()),
        Kind::Ambiguous if reads => (409, "ocr_text_ambiguous".to_owned()),
        kind => (kind.http_status(), snake(kind.code())),
    };
    let message = error["message"].as_str().unwrap_or_default();
    let untrusted = reply["untrusted"] == true;
    Failure { untrusted, ..Failure::new(status, &code, message).with(error["context"].clone()) }
}

/// `WindowGone` as `window_gone`.
fn snake(name: &str) -> String {
    let mut snake = String::new();
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.push(letter.to_ascii_lowercase());
    }
    snake
}

type Outcome = Result<Value, Failure>;

/// What a route answers.
enum Answer {
    /// Data that was looked up on the screen, or printed by a program.
    Seen(Value),
    /// What this server says of itself.
    Own(Value),
    /// A picture without an envelope: its type and its bytes.
    Picture(&'static str, Vec<u8>),
}

type RouteAnswer = Result<Answer, Failure>;

/// The one shape of every answer.
fn enveloped(surface: &Surface, answer: RouteAnswer) -> Response<Body> {
    let (data, untrusted) = match answer {
        Ok(Answer::Picture(kind, bytes)) => return present::typed_response(StatusCode::OK, kind, bytes),
        Ok(Answer::Seen(data)) => (data, true),
        Ok(Answer::Own(data)) => (data, false),
        Err(failure) => return failed(failure, |envelope| mark(surface, envelope)),
    };
    let mut envelope = envelope(data, Value::Null, untrusted);
    mark(surface, &mut envelope);
    // All of it came through the gate.
    present::json_value(StatusCode::OK, &envelope)
}

fn failed(failure: Failure, mark: impl FnOnce(&mut Value)) -> Response<Body> {
    let mut envelope = envelope(Value::Null, failure.as_json(), failure.untrusted);
    mark(&mut envelope);
    let status = StatusCode::from_u16(failure.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    present::own_words(status, envelope)
}

fn envelope(data: Value, error: Value, untrusted: bool) -> Value {
    let now = Clock::real().wall_time().duration_since(UNIX_EPOCH).unwrap_or_default();
    let mut envelope = json!({
        "ok": error.is_null(),
        "request_id": random_token(""),
        "time_ms": crate::clock::millis(now),
        "data": data,
        "error": error,
    });
    if untrusted {
        envelope["untrusted"] = true.into();
    }
    envelope
}

/// Data and errors are put together from several calls, so the marks of their texts are made anew. The envelope is
/// another program's: its clients know no other keys, so it has more of them only when there is something to say.
fn mark(surface: &Surface, envelope: &mut Value) {
    let places = surface.app.gate.suspicious_places(envelope);
    if !places.is_empty() {
        envelope["suspicious"] = true.into();
        envelope["suspicious_places"] = json!(places);
    }
}

/// What the door refuses, in the same shape. It has seen nothing of the screen.
pub fn refused(refusal: HttpRefusal) -> Response<Body> {
    failed(refusal.into(), |_| ())
}

/// A body of the request as a form.
fn form(body: &Bytes) -> Result<Form, Failure> {
    Ok(Form::body(body_object(body)?))
}

/// One call on the way of every call. A picture goes into the value as `data`, in base64.
async fn call(surface: &Surface, tool: &str, args: Value) -> Outcome {
    let mut args = without_nulls(args);
    let acts = surface.app.tools.find_tool(tool).is_some_and(|entry| entry.spec.meta.effect.acts());
    // Where the config says so, nothing is done, whatever is asked.
    if acts && surface.app.config.clickthrough.dry_run {
        args.insert("dry_run".to_owned(), true.into());
    }
    let reply = surface.run(tool, args, Origin::Rest).await?;
    let mut value = reply.value();
    if let Some(kind) = reply.error {
        return Err(failure_of(tool, kind, &value));
    }
    if let Some(picture) = &reply.picture {
        value["data"] = BASE64_STANDARD.encode(&picture.bytes).into();
    }
    Ok(value)
}

fn without_nulls(fields: Value) -> Map<String, Value> {
    match fields {
        Value::Object(fields) => fields.into_iter().filter(|(_, value)| !value.is_null()).collect(),
        _ => Map::new(),
    }
}

fn offers(surface: &Surface, tool: &str) -> bool {
    surface.app.tools.find_tool(tool).is_some()
}

async fn health(surface: Arc<Surface>, _: Form) -> RouteAnswer {
    let config = &surface.app.config;
    let data = json!({
        "status": "ok",
        "version": env!("CARGO_PKG_VERSION"),
        "safety": {
            "dry_run": config.clickthrough.dry_run,
            "allowed_region": configured(&surface, "/input/allowed_region"),
        },
        "exec": exec_facts(&surface),
        "ocr": {"available": surface.app.observer.ocr().is_available()},
        "halted": surface.app.gate.halt.halt_status().is_some(),
    });
    Ok(Answer::Own(data))
}

/// What the configuration says at a place; a secret in it is written as hidden.
fn configured(surface: &Surface, place: &str) -> Value {
    let config = serde_json::to_value(&surface.app.config).unwrap_or_default();
    config.pointer(place).cloned().unwrap_or(Value::Null)
}

fn exec_facts(surface: &Surface) -> Value {
    let config = configured(surface, "/exec");
    json!({
        "enabled": offers(surface, "exec_command") && config["enabled"] == true,
        "secret_configured": !config["secret"].is_null(),
        "default_shell": config["default_shell"],
        "timeout_s": config["timeout_s"],
        "max_timeout_s": config["max_timeout_s"],
        "max_output_chars": config["max_output_chars"],
    })
}

async fn exec(State(surface): Here, headers: HeaderMap, body: Bytes) -> Response<Body> {
    let secret = headers.get(EXEC_SECRET_HEADER).and_then(|value| value.to_str().ok());
    let answer = run_exec(&surface, &body, secret).await;
    enveloped(&surface, answer)
}

async fn run_exec(surface: &Surface, body: &Bytes, secret: Option<&str>) -> RouteAnswer {
    let mut args = form(body)?.whole(read_exec)?;
    if exec_facts(surface)["enabled"] != true {
        return Err(Failure::new(403, "exec_disabled", "commands are disabled; see exec.enabled"));
    }
    args["secret"] = secret.into();
    Ok(Answer::Seen(picked(&call(surface, "exec_command", args).await?, EXEC_FIELDS)))
}

fn read_exec(form: &mut Form) -> Value {
    json!({
        "command": form.require("command").text("command", 1..=10_000),
        "shell": form.one_of("shell", &["powershell", "bash", "cmd"]),
        "timeout_s": form.int("timeout_s", 1..=600),
        "cwd": form.text("cwd", 1..=4096),
        "dry_run": form.flag("dry_run"),
    })
}

const EXEC_FIELDS: &str = "executed dry_run timed_out shell command argv timeout_s cwd duration_ms exit_code stdout \
                           stderr stdout_truncated stderr_truncated stdout_not_utf8 stderr_not_utf8 note warning";

/// These fields of a reply, as far as it has them.
fn picked(reply: &Value, names: &str) -> Value {
    let kept = names.split(' ').filter_map(|name| Some((name.to_owned(), reply.get(name)?.clone())));
    Value::Object(kept.collect())
}

#[cfg(test)]
mod tests;
