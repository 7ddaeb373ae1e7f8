//! `/api/events`: what happens, sent as it happens; `/api/calls`: the latest calls, for those who come late.
//!
//! Every watcher has a bounded queue. One that does not keep up gets a `resync`, and one that reads nothing
//! for a while is disconnected.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{RawQuery, State};
use axum::http::{Response, StatusCode};
use http_body_util::channel::{Channel, Sender};
use serde::Serialize;
use serde_json::{Value, json};
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;

use super::present::{self, HttpRefusal};
use super::surface::Surface;
use super::{control, query};
use crate::app::App;
use crate::clock::sleep_task;
use crate::config::limits;
use crate::events::{self, Event};
use crate::privacy::scrub::{self, Scrub};
use crate::tool::args::{self, Unknown};
use crate::tool::object::WrittenObject;

/// What may be on its way to a watcher besides its queue.
const IN_FLIGHT: usize = 8;
/// A silent connection is told that it still is one.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// How long a watcher may take nothing.
const TAKES_NOTHING: Duration = Duration::from_secs(30);
/// How often somebody looks whether the windows have changed, while anybody watches.
const LOOK_EVERY: Duration = Duration::from_millis(400);

pub async fn event_stream(State(surface): State<Arc<Surface>>) -> Response<Body> {
    if surface.app.gate.events.watchers() >= limits::EVENT_WATCHERS {
        let message = format!("{} clients are already connected", limits::EVENT_WATCHERS);
        return HttpRefusal::new(StatusCode::SERVICE_UNAVAILABLE, message).into_response();
    }
    let events = surface.app.gate.events.watch();
    let (sender, body) = Channel::<Bytes, Infallible>::new(IN_FLIGHT);
    tokio::spawn(async move {
        let _ = EventWatcher { surface, events, sender }.send_events().await;
    });
    present::typed_response(StatusCode::OK, "text/event-stream", Body::new(body))
}

struct EventWatcher {
    surface: Arc<Surface>,
    events: Receiver<Arc<Event>>,
    sender: Sender<Bytes>,
}

/// The watcher is gone.
struct Gone;

impl EventWatcher {
    async fn send_events(&mut self) -> Result<(), Gone> {
        let hello = hello_event(&self.surface.app);
        self.send(format!("retry: 1000\nevent: hello\ndata: {hello}\n\n")).await?;
        loop {
            let text = tokio::select! {
                () = self.surface.shutdown.cancelled() => return Ok(()),
                event = self.events.recv() => match event {
                    Ok(event) => sse_event(&event),
                    Err(RecvError::Lagged(missed)) => resync_event(missed),
                    Err(RecvError::Closed) => return Ok(()),
                },
                () = sleep_task(KEEP_ALIVE) => ": still here\n\n".to_owned(),
            };
            self.send(text).await?;
        }
    }

    async fn send(&mut self, text: String) -> Result<(), Gone> {
        match tokio::time::timeout(TAKES_NOTHING, self.sender.send_data(Bytes::from(text))).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) | Err(_) => Err(Gone),
        }
    }
}

/// JSON has no line breaks outside its escapes, so one line holds it.
/// <https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation>
fn sse_event(event: &Event) -> String {
    format!("id: {}\nevent: {}\ndata: {}\n\n", event.number, event.kind, event.data)
}

fn resync_event(missed: u64) -> String {
    format!("event: resync\ndata: {}\n\n", json!({ "missed": missed }))
}

/// What a watcher has to know before the first event.
fn hello_event(app: &App) -> Value {
    let (_, last) = app.gate.events.calls_after(u64::MAX);
    json!({
        "version": app.config.mcp.version,
        "adapter": app.observer.facts().adapter,
        "step_count": app.session.step_count(),
        "last_event": last,
        "halt": control::halt_state(app),
        "approvals": app.gate.approvals.open_questions(app.clock.now()),
        "confirmation_mode": app.config.confirmation.mode,
    })
}

/// What `/api/calls` may be asked.
pub fn calls_query() -> Value {
    json!({"properties": {"after": {"type": "integer", "minimum": 0}}})
}

pub async fn recent_calls(State(surface): State<Arc<Surface>>, RawQuery(asked): RawQuery) -> Response<Body> {
    let schema = calls_query();
    let arguments = query::parse_arguments(&schema, asked.as_deref().unwrap_or_default())
        .and_then(|arguments| args::check(&schema, Value::Object(arguments), Unknown::Ignored));
    let arguments = match arguments {
        Ok(arguments) => arguments,
        Err(error) => return HttpRefusal::from(error).into_response(),
    };
    let after = arguments.args.get("after").and_then(Value::as_u64).unwrap_or(0);
    let (calls, last) = surface.app.gate.events.calls_after(after);
    let answer =
        CallsAnswer { ok: true, last_event: last, calls: calls.iter().filter_map(numbered).collect() };
    present::json_text(StatusCode::OK, serde_json::to_string(&answer).unwrap_or_default())
}

#[derive(Serialize)]
struct CallsAnswer {
    ok: bool,
    last_event: u64,
    calls: Vec<WrittenObject>,
}

/// A call as its event told it, with the event's number.
fn numbered(event: &Arc<Event>) -> Option<WrittenObject> {
    let mut call = WrittenObject::of(&json!({ "event": event.number })).ok()?;
    call.extend(serde_json::from_str(&event.data).ok()?);
    Some(call)
}

/// Looks at the windows while anybody watches, and tells what has changed.
pub async fn follow_windows(surface: Arc<Surface>) {
    let mut seen = SeenState::default();
    loop {
        tokio::select! {
            () = surface.shutdown.cancelled() => return,
            () = sleep_task(LOOK_EVERY) => {}
        }
        if surface.app.gate.events.watchers() == 0 {
            continue;
        }
        let app = surface.app.clone();
        let looked = tokio::task::spawn_blocking(move || {
            seen.look_for_changes(&app);
            seen
        });
        match looked.await {
            Ok(now) => seen = now,
            Err(_) => return,
        }
    }
}

#[derive(Default)]
struct SeenState {
    generation: Option<u64>,
    windows: Option<Value>,
}

impl SeenState {
    /// A platform that counts its changes is asked for its windows only when the count has moved.
    fn look_for_changes(&mut self, app: &App) {
        let generation = app.observer.generation().ok();
        let moved = generation.is_none() || generation != self.generation;
        if !moved && self.windows.is_some() {
            return;
        }
        if generation.is_some() && self.generation.is_some() {
            app.gate.events.publish_value(events::CHANGED, || json!({ "generation": generation }));
        }
        self.generation = generation;
        let Some(windows) = list_windows(app) else {
            return;
        };
        if self.windows.as_ref() != Some(&windows) {
            app.gate.events.publish_value(events::WINDOWS, || json!({ "windows": &windows }));
            self.windows = Some(windows);
        }
    }
}

/// As list_windows shows them.
fn list_windows(app: &App) -> Option<Value> {
    let windows = app.observer.windows().ok()?;
    let shown: Vec<Value> = windows
        .iter()
        .enumerate()
        .map(|(index, window)| {
            json!({
                "index": index, "window_uid": window.uid, "title": window.title, "process": window.process,
                "pid": window.pid, "bounds": window.bounds, "focused": window.focused,
            })
        })
        .collect();
    scrub::to_json_value(&shown, &Scrub::of(&app.redactor)).ok()
}
