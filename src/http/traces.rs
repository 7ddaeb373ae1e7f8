//! Recorded sessions for a person: which there are, and one of them as a page. What is in a trace was
//! redacted before it was written.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::{Response, StatusCode};
use serde_json::json;

use super::present::{self, HttpRefusal};
use super::surface::Surface;
use crate::config::limits;
use crate::trace::recording::LoadedTrace;
use crate::trace::{html, reader};

pub async fn get_traces(State(surface): State<Arc<Surface>>) -> Response<Body> {
    let root = surface.app.config.tracing.dir.clone();
    let listed = tokio::task::spawn_blocking(move || reader::list_traces(&root, limits::TRACES_LISTED)).await;
    let (traces, count) = listed.unwrap_or_default();
    present::json_value(StatusCode::OK, &json!({"ok": true, "count": count, "traces": traces}))
}

pub async fn get_trace_page(State(surface): State<Arc<Surface>>, Path(id): Path<String>) -> Response<Body> {
    let root = surface.app.config.tracing.dir.clone();
    let made = tokio::task::spawn_blocking(move || {
        let lines = reader::find_trace(&root, &id)?;
        LoadedTrace::read_below(&lines).map(|story| html::page(&story))
    });
    match made.await {
        Ok(Ok(page)) => present::typed_response(StatusCode::OK, "text/html; charset=utf-8", page),
        Ok(Err(why)) => HttpRefusal::new(StatusCode::NOT_FOUND, why).into_response(),
        Err(_) => HttpRefusal::new(StatusCode::INTERNAL_SERVER_ERROR, "the page could not be generated")
            .into_response(),
    }
}
