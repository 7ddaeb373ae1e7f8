//! How the server is: `/api/healthz` as JSON, `/api/metrics` for Prometheus. It reads the counters that all
//! surfaces feed, and keeps none.

use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::{Response, StatusCode};
use serde_json::{Value, json};

use super::present;
use super::surface::Surface;
use crate::app::App;
use crate::error::Result;
use crate::machine::{RealMachine, tesseract};
use crate::metrics::{BOUNDS, ToolCount};

pub async fn get_healthz(State(surface): State<Arc<Surface>>) -> Response<Body> {
    let asked = surface.clone();
    // Whether text can be read is found out by starting a program, once.
    let ocr =
        tokio::task::spawn_blocking(move || asked.ocr.get_or_init(|| ocr_status(&asked.app)).clone()).await;
    present::json_value(StatusCode::OK, &health_report(&surface.app, ocr.unwrap_or_default()))
}

/// As web-task-api answers: whether the server lives, and whether it runs tasks.
pub async fn get_health(State(surface): State<Arc<Surface>>) -> Response<Body> {
    let app = &surface.app;
    let told = json!({
        "ok": true, "status": "ok", "version": app.config.mcp.version, "tasks": app.config.jobs.enabled,
    });
    present::json_value(StatusCode::OK, &told)
}

fn health_report(app: &App, ocr: Value) -> Value {
    let cache = app.observer.cache_counters();
    let total = cache.capture_total.as_millis() as u64;
    let mean = if cache.captures == 0 { 0.0 } else { total as f64 / cache.captures as f64 };
    json!({
        "ok": true,
        "uptime_s": app.clock.now().as_secs(),
        "step_count": app.session.step_count(),
        "adapter": app.observer.facts().adapter,
        "version": app.config.mcp.version,
        "halted": app.gate.halt.halt_status().is_some(),
        "tree_cache": {
            "hits": cache.hits,
            "misses": cache.misses,
            "entries": cache.entries,
            "capture_count": cache.captures,
            "capture_ms_total": total,
            "capture_ms_max": cache.capture_max.as_millis() as u64,
            "capture_ms_mean": mean,
        },
        "config_path": app.config_path,
        "config_error": app.config_error,
        "ocr": ocr,
    })
}

fn ocr_status(app: &App) -> Value {
    let named = app.config.ocr.tesseract_cmd.as_deref();
    let engine = app.observer.ocr().describe();
    json!({
        // The contract's name for "there is something that can read".
        "pytesseract_installed": engine.is_ok(),
        "configured_path": named,
        "configured_path_exists": named.is_some_and(|path| path.exists()),
        "path_discovered": tesseract::find_tesseract(&RealMachine, named),
        "version": engine.as_ref().ok(),
        "error": ocr_problem(named, &engine),
        "hint": format!("install it with: {}", tesseract::tesseract_install_line()),
    })
}

/// What is wrong, although something else may read in its place.
fn ocr_problem(named: Option<&Path>, engine: &Result<String>) -> Option<String> {
    let missing = named.filter(|path| !path.exists()).map(|path| path.display());
    match (missing, engine) {
        (None, Ok(_)) => None,
        (None, Err(error)) => Some(error.message.clone()),
        (Some(path), Ok(engine)) => {
            Some(format!("ocr.tesseract_cmd: there is no {path}; {engine} is used instead"))
        }
        (Some(path), Err(error)) => Some(format!("ocr.tesseract_cmd: there is no {path}; {}", error.message)),
    }
}

pub async fn get_metrics(State(surface): State<Arc<Surface>>) -> Response<Body> {
    present::typed_response(StatusCode::OK, "text/plain; version=0.0.4", write_exposition(&surface.app))
}

/// A page in Prometheus' text format. <https://prometheus.io/docs/instrumenting/exposition_formats/>
struct MetricsPage(String);

impl MetricsPage {
    fn write_head(&mut self, name: &str, kind: &str, help: &str) {
        let _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    fn write_sample(&mut self, name: &str, value: impl std::fmt::Display) {
        let _ = writeln!(self.0, "{name} {value}");
    }

    fn write_single(&mut self, name: &str, kind: &str, help: &str, value: impl std::fmt::Display) {
        self.write_head(name, kind, help);
        self.write_sample(name, value);
    }
}

fn write_exposition(app: &App) -> String {
    let mut page = MetricsPage(String::new());
    let cache = app.observer.cache_counters();
    let uptime = app.clock.now().as_secs();
    page.write_single("oso_step_count", "counter", "Calls that got a step number.", app.session.step_count());
    page.write_single("oso_uptime_seconds", "gauge", "Uptime of the process.", uptime);
    page.write_single("oso_tree_cache_hits_total", "counter", "Trees served from the cache.", cache.hits);
    page.write_single("oso_tree_cache_misses_total", "counter", "Trees that had to be read.", cache.misses);
    page.write_single("oso_tree_cache_entries", "gauge", "Trees in the cache.", cache.entries);
    page.write_head("oso_tree_capture_ms", "summary", "Time to read trees, in milliseconds.");
    page.write_sample("oso_tree_capture_ms_sum", cache.capture_total.as_millis());
    page.write_sample("oso_tree_capture_ms_count", cache.captures);
    let slowest = cache.capture_max.as_millis();
    page.write_single(
        "oso_tree_capture_ms_max",
        "gauge",
        "Longest time to read a tree, in milliseconds.",
        slowest,
    );
    if app.config.budgets.is_configured() {
        let (actions, screenshots) = app.gate.used_budget();
        page.write_single("oso_actions_used", "counter", "Inputs sent.", actions);
        page.write_single("oso_screenshots_used", "counter", "Screenshots taken.", screenshots);
    }
    let tracing = u8::from(app.gate.trace_status().active_trace_id.is_some());
    page.write_single("oso_active_trace", "gauge", "Whether a trace is running.", tracing);
    let halted = u8::from(app.gate.halt.halt_status().is_some());
    page.write_single("oso_halted", "gauge", "Whether a person has stopped all input.", halted);
    let pending = app.gate.approvals.open_questions(app.clock.now()).len();
    page.write_single("oso_approvals_pending", "gauge", "Calls waiting for a person.", pending);
    page.write_single(
        "oso_event_watchers",
        "gauge",
        "Clients of the event stream.",
        app.gate.events.watchers(),
    );
    by_tool(&mut page, app);
    page.0
}

/// One family: its name, what it is, and the value for a tool.
type Family = (&'static str, &'static str, fn(&ToolCount) -> u64);

const FAMILIES: [Family; 3] = [
    ("oso_tool_calls_total", "Calls, by tool.", |count| count.calls),
    ("oso_tool_reply_bytes_total", "Bytes of JSON in replies, by tool.", |count| count.reply.bytes),
    ("oso_tool_reply_tokens_total", "Estimated tokens of the replies, by tool.", |count| {
        count.reply.tokens()
    }),
];

fn by_tool(page: &mut MetricsPage, app: &App) {
    let counts = app.gate.metrics.by_tool();
    for (name, help, value) in FAMILIES {
        page.write_head(name, "counter", help);
        for (tool, count) in &counts {
            page.write_sample(&format!("{name}{{tool=\"{tool}\"}}"), value(count));
        }
    }
    page.write_head("oso_tool_errors_total", "counter", "Calls that failed, by tool and code.");
    for (tool, count) in &counts {
        for (code, number) in &count.errors {
            page.write_sample(&format!("oso_tool_errors_total{{tool=\"{tool}\",code=\"{code}\"}}"), number);
        }
    }
    let name = "oso_tool_duration_seconds";
    page.write_head(name, "histogram", "Duration of calls, by tool.");
    for (tool, count) in &counts {
        write_histogram(page, name, tool, count);
    }
}

fn write_histogram(page: &mut MetricsPage, name: &str, tool: &str, count: &ToolCount) {
    let mut so_far = 0;
    for (bound, number) in BOUNDS.iter().zip(&count.classes) {
        so_far += number;
        page.write_sample(&format!("{name}_bucket{{tool=\"{tool}\",le=\"{bound}\"}}"), so_far);
    }
    page.write_sample(&format!("{name}_bucket{{tool=\"{tool}\",le=\"+Inf\"}}"), count.calls);
    page.write_sample(&format!("{name}_sum{{tool=\"{tool}\"}}"), count.time.as_secs_f64());
    page.write_sample(&format!("{name}_count{{tool=\"{tool}\"}}"), count.calls);
}
