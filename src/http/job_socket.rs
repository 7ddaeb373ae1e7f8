//! `/ws`: the events of jobs as they are written. A watcher says from which number on, so that nothing is missed when it
//! comes back; one that reads nothing for a while is disconnected.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{RawQuery, Request, State};
use axum::http::header::{
    CONNECTION, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_PROTOCOL, SEC_WEBSOCKET_VERSION,
    UPGRADE,
};
use axum::http::{HeaderMap, HeaderValue, Response, StatusCode};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use futures_util::{SinkExt, StreamExt};
use hyper::upgrade::{OnUpgrade, Upgraded};
use hyper_util::rt::TokioIo;
use serde_json::{Map, Value, json};
use sha1::{Digest, Sha1};
use tokio_websockets::{Limits, Message, ServerBuilder, WebSocketStream};

use super::jobs::served_jobs;
use super::present::HttpRefusal;
use super::query;
use super::surface::Surface;
use crate::clock::sleep_task;
use crate::config::limits;
use crate::error::{Error, Result};
use crate::jobs::service::JobService;
use crate::jobs::store::NumberedEvent;
use crate::jobs::view;
use crate::privacy::scrub::{self, Scrub};
use crate::tool::args::{self, Unknown};

/// How often the store is asked for something new.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// As many events are sent between two looks.
const AT_ONCE: usize = 256;
/// How long a watcher may take nothing.
const TAKES_NOTHING: Duration = Duration::from_secs(30);
/// A watcher has nothing to say that is longer.
const LONGEST_MESSAGE: usize = 64 * 1024;
/// What a page offers besides the protocol that carries its token.
const PROTOCOL: &str = "jobs";
/// What a server adds to the key of a client to show that it speaks WebSocket.
const ACCEPTS: &str = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

type JobSocket = WebSocketStream<TokioIo<Upgraded>>;

/// What `/ws` may be asked: from which number on, and of which job.
pub fn socket_query() -> Value {
    json!({"properties": {"after": {"type": "integer", "minimum": 0}, "job_id": {"type": "string", "maxLength": 128}}})
}

pub async fn open_socket(
    State(surface): State<Arc<Surface>>,
    RawQuery(asked): RawQuery,
    mut request: Request,
) -> Response<Body> {
    let watcher = match watch(&surface, asked.as_deref()) {
        Ok(watcher) => watcher,
        Err(error) => return HttpRefusal::from(error).into_response(),
    };
    let Some(accepted) = handshake(request.headers()) else {
        let message = "this route is a WebSocket of version 13";
        return HttpRefusal::new(StatusCode::BAD_REQUEST, message).into_response();
    };
    let Ok(place) = surface.watching.clone().try_acquire_owned() else {
        let message = format!("{} clients are already connected", limits::EVENT_WATCHERS);
        return HttpRefusal::new(StatusCode::SERVICE_UNAVAILABLE, message).into_response();
    };
    let upgrade: OnUpgrade = hyper::upgrade::on(&mut request);
    tokio::spawn(async move {
        let _place = place;
        if let Ok(connection) = upgrade.await {
            let limits = Limits::default().max_payload_len(Some(LONGEST_MESSAGE));
            watcher.follow_events(ServerBuilder::new().limits(limits).serve(TokioIo::new(connection))).await;
        }
    });
    accepted
}

/// The answer that begins a WebSocket, if it is one that is asked for.
/// <https://www.rfc-editor.org/rfc/rfc6455#section-4.2.2>
fn handshake(headers: &HeaderMap) -> Option<Response<Body>> {
    let said = |name| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let asked = said(UPGRADE).eq_ignore_ascii_case("websocket") && said(SEC_WEBSOCKET_VERSION) == "13";
    let key = said(SEC_WEBSOCKET_KEY);
    if !asked || key.is_empty() {
        return None;
    }
    let proof = BASE64_STANDARD.encode(Sha1::digest(format!("{key}{ACCEPTS}")));
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    let answered = response.headers_mut();
    answered.insert(CONNECTION, HeaderValue::from_static("Upgrade"));
    answered.insert(UPGRADE, HeaderValue::from_static("websocket"));
    answered.insert(SEC_WEBSOCKET_ACCEPT, HeaderValue::from_str(&proof).ok()?);
    // The protocol that carries a token is not one that is spoken.
    if said(SEC_WEBSOCKET_PROTOCOL).split(',').any(|offered| offered.trim() == PROTOCOL) {
        answered.insert(SEC_WEBSOCKET_PROTOCOL, HeaderValue::from_static(PROTOCOL));
    }
    Some(response)
}

fn watch(surface: &Arc<Surface>, asked: Option<&str>) -> Result<JobWatcher> {
    let jobs = served_jobs(surface)?;
    let schema = socket_query();
    let arguments = query::parse_arguments(&schema, asked.unwrap_or_default())?;
    let asked = args::check(&schema, Value::Object(arguments), Unknown::Ignored)?.args;
    // A number that is still to come is of another store: whoever has it would hear nothing for a long time.
    let newest = jobs.store.last_number()?;
    let after = asked.get("after").and_then(Value::as_i64).map_or(newest, |after| after.min(newest));
    let job_id = asked.get("job_id").and_then(Value::as_str).map(str::to_owned);
    Ok(JobWatcher { surface: surface.clone(), jobs, job_id, after })
}

struct JobWatcher {
    surface: Arc<Surface>,
    jobs: Arc<JobService>,
    job_id: Option<String>,
    /// The number of the last event that was sent.
    after: i64,
}

impl JobWatcher {
    async fn follow_events(mut self, mut socket: JobSocket) {
        let mut open = send(&mut socket, &json!({"type": "hello", "number": self.after})).await;
        while open {
            open = match self.next_events().await {
                Ok(events) => self.send_events(&mut socket, events).await,
                Err(problem) => {
                    tracing::error!("jobs: {}", problem.message);
                    false
                }
            };
            open = open && self.wait(&mut socket).await;
        }
    }

    async fn next_events(&self) -> Result<Vec<NumberedEvent>> {
        let (jobs, job_id, after) = (self.jobs.clone(), self.job_id.clone(), self.after);
        let read = move || jobs.store.numbered_events(after, job_id.as_deref(), AT_ONCE);
        tokio::task::spawn_blocking(read).await.map_err(|_| Error::internal("the events were lost"))?
    }

    /// Without what must not be shown.
    fn shown(&self, event: &NumberedEvent) -> Option<Value> {
        scrub::to_json_value(&event_message(event), &Scrub::of(&self.surface.app.redactor)).ok()
    }

    async fn send_events(&mut self, socket: &mut JobSocket, events: Vec<NumberedEvent>) -> bool {
        for event in events {
            let Some(shown) = self.shown(&event) else {
                return false;
            };
            if !send(socket, &shown).await {
                return false;
            }
            self.after = event.number;
        }
        true
    }

    /// Until it is time to look again. What a watcher says is read and means nothing; that it goes means the end.
    async fn wait(&self, socket: &mut JobSocket) -> bool {
        tokio::select! {
            () = self.surface.shutdown.cancelled() => false,
            () = sleep_task(LOOK_EVERY) => true,
            said = socket.next() => said.is_some_and(|said| said.is_ok_and(|said| !said.is_close())),
        }
    }
}

async fn send(socket: &mut JobSocket, message: &Value) -> bool {
    let sent = socket.send(Message::text(message.to_string()));
    matches!(tokio::time::timeout(TAKES_NOTHING, sent).await, Ok(Ok(())))
}

fn event_message(event: &NumberedEvent) -> Value {
    let kind = match event.event.kind.as_str() {
        "approval" => "approval",
        "turn" => "usage",
        "note" | "control" => "job",
        _ => "event",
    };
    let mut message = Map::new();
    message.insert("type".to_owned(), kind.into());
    message.insert("job_id".to_owned(), event.job_id.as_str().into());
    message.insert("number".to_owned(), event.number.into());
    message.extend(view::event_json(&event.event).as_object().cloned().unwrap_or_default());
    Value::Object(message)
}
