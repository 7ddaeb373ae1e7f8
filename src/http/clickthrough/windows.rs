//! Windows and programs: listed, changed as a whole, started.

use std::sync::Arc;

use serde_json::{Value, json};

use super::fields::Form;
use super::{Answer, Failure, Outcome, RouteAnswer, call, picked, without_nulls};
use crate::http::surface::Surface;
use crate::pattern::{Pattern, TooManySteps};

/// Which windows are meant.
#[derive(Debug, Default)]
pub struct Query {
    title: Option<String>,
    pattern: Option<Pattern>,
    process: Option<String>,
    handle: Option<String>,
}

impl Query {
    pub fn read(form: &mut Form) -> Self {
        let written = form.text("title_regex", 1..=512);
        let pattern = written.and_then(|text| match Pattern::compile(&text) {
            Ok(pattern) => Some(pattern),
            Err(problem) => {
                form.fault("title_regex", "pattern", problem);
                None
            }
        });
        let number = form.handle("hwnd");
        // Windows that do not show are not listed here, so both answers are the same.
        form.flag("visible_only");
        Self {
            title: form.text("title_contains", 1..=512).map(|title| title.to_lowercase()),
            pattern,
            process: form.text("process_name", 1..=260).map(|name| name.to_lowercase()),
            handle: number,
        }
    }

    pub fn is_empty(&self) -> bool {
        self.title.is_none() && self.pattern.is_none() && self.process.is_none() && self.handle.is_none()
    }

    pub fn fits(&self, window: &Value) -> Result<bool, TooManySteps> {
        let text = |name: &str| window[name].as_str().unwrap_or_default();
        let handle = |handle: &String| {
            let ours = text("handle");
            ours == handle || number_of(ours).is_some_and(|ours| number_of(handle) == Some(ours))
        };
        let titled = self.pattern.as_ref().map_or(Ok(true), |pattern| pattern.is_match(text("title")))?;
        Ok(titled
            && self.title.as_ref().is_none_or(|title| text("title").to_lowercase().contains(title))
            && self.process.as_ref().is_none_or(|process| text("process").to_lowercase() == *process)
            && self.handle.as_ref().is_none_or(handle))
    }

    /// The windows that fit, the foreground one first.
    pub async fn windows(&self, surface: &Surface) -> Result<Vec<Value>, Failure> {
        let reply = call(surface, "list_windows", Value::Null).await?;
        let mut windows = Vec::new();
        for window in reply["windows"].as_array().into_iter().flatten() {
            if self.fits(window).map_err(|error| Failure::bad_request(error.to_string()))? {
                windows.push(window.clone());
            }
        }
        windows.sort_by_key(|window| window["focused"] != true);
        Ok(windows)
    }

    /// The only one that fits.
    async fn only(&self, surface: &Surface) -> Outcome {
        let mut windows = self.windows(surface).await?;
        match windows.len() {
            0 => Err(Failure::new(404, "window_not_found", "no window matches the query")),
            1 => Ok(windows.swap_remove(0)),
            count => {
                let matches: Vec<Value> = windows.iter().take(10).map(row).collect();
                Err(Failure::new(409, "window_ambiguous", format!("{count} windows match the query"))
                    .with(json!({"matches": matches}))
                    .seen())
            }
        }
    }
}

/// A window's number, as it is written here (`0x600008`) or counted in tens.
fn number_of(text: &str) -> Option<u64> {
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

/// What is not known of a window is null.
fn row(window: &Value) -> Value {
    json!({
        "hwnd": window["handle"], "title": window["title"], "class_name": null, "pid": window["pid"],
        "process_name": window["process"], "visible": true, "enabled": null, "minimized": window["minimized"],
        "maximized": window["maximized"], "foreground": window["focused"], "rect": window["bounds"],
        "window_uid": window["window_uid"],
    })
}

pub async fn list(surface: Arc<Surface>, form: Form) -> RouteAnswer {
    let windows = form.whole(Query::read)?.windows(&surface).await?;
    let rows: Vec<Value> = windows.iter().map(row).collect();
    Ok(Answer::Seen(json!({"count": rows.len(), "windows": rows})))
}

const ACTIONS: &[&str] = &["focus", "restore", "minimize", "maximize", "close"];

pub async fn action(surface: Arc<Surface>, form: Form) -> RouteAnswer {
    let (query, mut args) = read_action(form)?;
    let window = query.only(&surface).await?;
    args["window_uid"] = window["window_uid"].clone();
    let reply = call(&surface, "window_action", args).await?;
    Ok(Answer::Seen(json!({
        "matched": row(&window),
        "action": reply["action"],
        "executed": reply["dry_run"] != true,
        "reached": reply["reached"],
        "closed": reply["closed"] == true,
        "final": reply["final"],
        "new_dialogs": reply["new_dialogs"],
        "note": reply["note"],
    })))
}

pub fn read_action(mut form: Form) -> Result<(Query, Value), Failure> {
    let action = form.require("action").one_of("action", ACTIONS);
    let timeout = form.int("timeout_ms", 0..=60_000).unwrap_or(3000);
    let args = json!({"action": action, "timeout_ms": timeout, "dry_run": form.flag("dry_run")});
    let query = form.whole(Query::read)?;
    if query.is_empty() {
        let message = "say which window: title_contains, title_regex, process_name or hwnd";
        return Err(Failure::bad_request(message));
    }
    Ok((query, args))
}

pub async fn launch(surface: Arc<Surface>, form: Form) -> RouteAnswer {
    const FIELDS: &str = "executed dry_run argv cwd pid running window window_found";
    let args = form.whole(read_launch)?;
    Ok(Answer::Seen(picked(&call(&surface, "launch_app", args).await?, FIELDS)))
}

pub fn read_launch(form: &mut Form) -> Value {
    let matching = form.object("match").map(|mut inner| {
        let query = json!({
            "title": inner.text("title_contains", 1..=512),
            "title_regex": inner.text("title_regex", 1..=512),
            "process": inner.text("process_name", 1..=260),
        });
        inner.done();
        without_nulls(query)
    });
    json!({
        "program": form.require("executable").text("executable", 1..=2048),
        "args": form.texts("args", 100, 0..=8192),
        "cwd": form.text("cwd", 1..=4096),
        "wait_for_window": form.flag("wait_for_window").unwrap_or(false),
        "match": matching,
        "timeout_ms": form.int("timeout_ms", 0..=120_000).unwrap_or(5000),
        "dry_run": form.flag("dry_run"),
    })
}
