//! What all routes share: the app behind them, and the way of one call to the gate and back.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use axum::body::Body;
use axum::http::{Response, StatusCode};
use serde_json::{Map, Value};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use super::present::{self, HttpRefusal};
use crate::app::App;
use crate::clock::{Cancel, sleep_task};
use crate::config::{Config, limits};
use crate::gate::{Call, Origin, Reply};

/// What a call may take beyond what its own limits add up to.
const MARGIN: Duration = Duration::from_secs(30);

pub struct Surface {
    pub app: Arc<App>,
    pub shutdown: CancellationToken,
    running: Semaphore,
    waiting: Semaphore,
    /// When the answer to a request is given up.
    deadline: Duration,
    /// What can be read with, found out once.
    pub ocr: OnceLock<Value>,
    /// The description of the routes, made once.
    pub openapi: OnceLock<String>,
    /// Whether a token has to be shown.
    pub asks_token: bool,
    /// Places for those who watch the jobs.
    pub watching: Arc<Semaphore>,
}

impl Surface {
    pub fn new(app: Arc<App>, shutdown: CancellationToken, asks_token: bool) -> Self {
        let deadline = longest_call(&app.config) + MARGIN;
        let running = Semaphore::new(limits::HTTP_CALLS_IN_FLIGHT);
        let waiting = Semaphore::new(limits::HTTP_WAITS_IN_FLIGHT);
        let (ocr, openapi) = Default::default();
        let watching = Arc::new(Semaphore::new(limits::EVENT_WATCHERS));
        Self { app, shutdown, running, waiting, deadline, ocr, openapi, asks_token, watching }
    }

    /// Runs a call on a thread of its own. It is cancelled when the client goes away, at the deadline, and at
    /// shutdown.
    pub async fn run(
        &self,
        tool: &str,
        arguments: Map<String, Value>,
        origin: Origin,
    ) -> Result<Reply, HttpRefusal> {
        let Ok(_slot) = self.places_for(tool).acquire().await else {
            return Err(call_lost());
        };
        let call = Call { tool: tool.to_owned(), args: Value::Object(arguments), origin };
        let stop = StopOnDrop(Cancel::new());
        let (app, cancel) = (self.app.clone(), stop.0.clone());
        let job = tokio::task::spawn_blocking(move || app.gate.pass_call(call, &cancel));
        tokio::select! {
            done = job => done.map_err(|_| call_lost()),
            () = self.shutdown.cancelled() => {
                Err(HttpRefusal::new(StatusCode::SERVICE_UNAVAILABLE, "the server is shutting down"))
            }
            () = sleep_task(self.deadline) => {
                let message = format!("the call timed out after {} s", self.deadline.as_secs());
                Err(HttpRefusal::new(StatusCode::REQUEST_TIMEOUT, message))
            }
        }
    }

    /// Those that sleep have places of their own, so that they hold up nobody else.
    fn places_for(&self, tool: &str) -> &Semaphore {
        let waits = self.app.tools.find_tool(tool).is_some_and(|entry| entry.spec.meta.waits);
        if waits { &self.waiting } else { &self.running }
    }

    /// The same, answered as REST answers.
    pub async fn call(&self, tool: &str, arguments: Map<String, Value>, origin: Origin) -> Response<Body> {
        match self.run(tool, arguments, origin).await {
            Ok(reply) => present::tool_response(tool, reply),
            Err(refusal) => refusal.into_response(),
        }
    }
}

fn call_lost() -> HttpRefusal {
    HttpRefusal::new(StatusCode::INTERNAL_SERVER_ERROR, "the call was lost")
}

/// The future of a request is dropped when its client goes away; the call is then told to stop. Telling a
/// call that is over costs nothing.
struct StopOnDrop(Cancel);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.fire();
    }
}

/// The longest that a call may take by its own limits: a wait, a question to the person, four passes of a
/// model, or the reading of a picture.
fn longest_call(config: &Config) -> Duration {
    let seconds = |seconds: f64| Duration::try_from_secs_f64(seconds).unwrap_or_default();
    [
        Duration::from_millis(config.wait_for.max_timeout_ms),
        Duration::from_secs(config.confirmation.ttl_seconds) + limits::TREE_WALK_TIME,
        seconds(config.vlm.timeout_s) * 4,
        seconds(config.ocr.timeout_s) * 2,
        limits::TREE_WALK_TIME * 2,
        if config.jobs.enabled { limits::WEB_TASK_WAIT } else { Duration::ZERO },
    ]
    .into_iter()
    .max()
    .unwrap_or_default()
}
