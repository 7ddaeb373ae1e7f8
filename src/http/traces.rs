//! Recorded sessions for a person: which there are, and one of them as a page. What is in a trace was
//! redacted before it was written.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::{Response, StatusCode};
use serde_json::json;

use super::present::{self, Refusal};
use super::surface::Surface;
use crate::config::limits;
use crate::trace::story::Story;
use crate::trace::{html, reader};

pub async fn list(State(surface): State<Arc<Surface>>) -> Response<Body> {
    let root = surface.app.config.tracing.dir.clone();
    let listed = tokio::task::spawn_blocking(move || reader::list(&root, limits::TRACES_LISTED)).await;
    let (traces, count) = listed.unwrap_or_default();
    present::json_value(StatusCode::OK, &json!({"ok": true, "count": count, "traces": traces}))
}

pub async fn page(State(surface): State<Arc<Surface>>, Path(id): Path<String>) -> Response<Body> {
    let root = surface.app.config.tracing.dir.clone();
    let made = tokio::task::spawn_blocking(move || {
        let lines = reader::find(&root, &id)?;
        Story::read_below(&lines).map(|story| html::page(&story))
    });
    match made.await {
        Ok(Ok(page)) => present::typed(StatusCode::OK, "text/html; charset=utf-8", page),
        Ok(Err(why)) => Refusal::new(StatusCode::NOT_FOUND, why).into_response(),
        Err(_) => {
            Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, "the page could not be made").into_response()
        }
    }
}
