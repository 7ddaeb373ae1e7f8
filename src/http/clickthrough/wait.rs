//! Pictures compared, and waiting for text, windows and stillness; an action with what is expected of it.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::displays::{Area, Part, screen_field};
use super::fields::Form;
use super::interact::{Action, perform, read_action};
use super::screenshots::text_fields;
use super::windows::Query;
use super::{Answer, Failure, Outcome, RouteAnswer, call, picked, without_nulls};
use crate::clock::sleep_task;
use crate::http::surface::Surface;

const LONGEST_MS: i64 = 60_000;

pub async fn diff(surface: Arc<Surface>, form: Form) -> RouteAnswer {
    let (mode, part, args) = form.whole(read_diff)?;
    let reply = seen(&surface, "vision_diff", part, args).await?;
    let mut data = picked(&reply, "changed diff_ratio changed_pixels boxes warning");
    data["mode"] = mode.into();
    Ok(Answer::Seen(data))
}

/// Pictures that were brought along have no place on a display.
pub fn read_diff(form: &mut Form) -> (&'static str, Option<Part>, Value) {
    let mode = form.one_of("mode", &["region", "image"]).unwrap_or("region");
    let part = Part::read(form);
    let threshold = form.number("threshold", 0.0..=1.0);
    if mode == "region" {
        let wait = form.int("wait_ms", 0..=LONGEST_MS).unwrap_or(500);
        return (mode, Some(part), json!({"wait_ms": wait, "threshold": threshold}));
    }
    let [before, after] =
        ["before_base64", "after_base64"].map(|name| form.require(name).text(name, 1..=24_000_000));
    (mode, None, json!({"before_b64": before, "after_b64": after, "threshold": threshold}))
}

pub async fn stability(surface: Arc<Surface>, form: Form) -> RouteAnswer {
    let (part, args) = form.whole(read_stability)?;
    let reply = seen(&surface, "vision_stability", Some(part), args).await?;
    Ok(Answer::Seen(picked(&reply, "stable sample_count max_ratio avg_ratio boxes warning")))
}

pub fn read_stability(form: &mut Form) -> (Part, Value) {
    let args = json!({
        "duration_ms": form.int("duration_ms", 0..=LONGEST_MS),
        "interval_ms": form.int("interval_ms", 20..=LONGEST_MS),
        "threshold": form.number("threshold", 0.0..=1.0),
    });
    (Part::read(form), args)
}

/// A look at a part of a display.
async fn seen(surface: &Surface, tool: &str, part: Option<Part>, mut args: Value) -> Outcome {
    if let Some(part) = part {
        args["region"] = part.find_known(surface).await?.1.map_or(Value::Null, Area::json);
    }
    call(surface, tool, args).await
}

/// Something to wait for.
#[derive(Debug)]
pub struct Wait {
    name: &'static str,
    kind: WaitKind,
    part: Part,
    timeout: i64,
    poll: i64,
}

#[derive(Debug)]
enum WaitKind {
    Text(Value),
    Window { query: Query, state: &'static str },
    Visual { state: &'static str, threshold: Option<f64> },
}

pub fn read_wait(form: &mut Form) -> Wait {
    let name = form.require("kind").one_of("kind", &["text", "window", "visual"]).unwrap_or_default();
    let part = Part::read(form);
    let timeout = form.int("timeout_ms", 0..=LONGEST_MS).unwrap_or(5000);
    let poll = form.int("poll_ms", 50..=5000).unwrap_or(250);
    let kind = match name {
        "window" => {
            let state = form.one_of("state", &["exists", "focused", "closed"]).unwrap_or("exists");
            let query = Query::read(form);
            if query.is_empty() {
                form.fault("title_contains", "missing", "say which window");
            }
            WaitKind::Window { query, state }
        }
        "visual" => {
            let state = form.one_of("state", &["change", "stable"]).unwrap_or("change");
            WaitKind::Visual { state, threshold: form.number("threshold", 0.0..=1.0) }
        }
        _ => WaitKind::Text(text_fields(form)),
    };
    Wait { name, kind, part, timeout, poll }
}

pub async fn wait(surface: Arc<Surface>, form: Form) -> RouteAnswer {
    form.whole(read_wait)?.until(&surface).await.map(Answer::Seen)
}

impl Wait {
    /// What came of it. That it did not come in time is an answer and no error.
    async fn until(&self, surface: &Surface) -> Outcome {
        let clock = &surface.app.clock;
        let began = clock.now();
        let told = |met: bool, polls: u32, detail: Value| {
            let elapsed = crate::clock::millis(clock.now().saturating_sub(began));
            json!({
                "satisfied": met, "kind": self.name, "elapsed_ms": elapsed, "polls": polls, "detail": detail,
            })
        };
        if let WaitKind::Visual { state, threshold } = &self.kind {
            let detail = self.visual(surface, state, *threshold).await?;
            return Ok(told(!detail.is_null(), 1, detail));
        }
        let timeout = Duration::from_millis(self.timeout.unsigned_abs());
        let mut polls = 0;
        loop {
            polls += 1;
            let (met, detail) = self.look(surface).await?;
            if met || clock.now().saturating_sub(began) >= timeout {
                return Ok(told(met, polls, detail));
            }
            sleep_task(Duration::from_millis(self.poll.unsigned_abs())).await;
        }
    }

    async fn look(&self, surface: &Surface) -> Result<(bool, Value), Failure> {
        match &self.kind {
            WaitKind::Text(args) => {
                let mut args = args.clone();
                args["region"] = self.part.find(surface).await?.1.json();
                let reply = call(surface, "ocr_find", args).await?;
                Ok((reply["count"] != 0, reply["matches"].clone()))
            }
            WaitKind::Window { query, state } => {
                let windows = query.windows(surface).await?;
                let met = match *state {
                    "exists" => !windows.is_empty(),
                    "closed" => windows.is_empty(),
                    _ => windows.iter().any(|window| window["focused"] == true),
                };
                Ok((met, windows.into_iter().next().unwrap_or(Value::Null)))
            }
            WaitKind::Visual { .. } => Ok((false, Value::Null)),
        }
    }

    /// The desktop tells by itself when something moves; null when the time ran out.
    async fn visual(&self, surface: &Surface, state: &str, threshold: Option<f64>) -> Outcome {
        let (_, area) = self.part.find_known(surface).await?;
        let condition = json!({
            "type": if state == "change" { "visual_change" } else { "visual_stable" },
            "region": area.map(Area::json),
            "threshold": threshold,
        });
        let args = json!({"any_of": [without_nulls(condition)], "timeout_ms": self.timeout});
        match call(surface, "wait_for", args).await {
            Ok(reply) => Ok(reply["matched_detail"].clone()),
            Err(failure) if failure.code == "timeout" => Ok(Value::Null),
            Err(failure) => Err(failure),
        }
    }
}

pub async fn verify(surface: Arc<Surface>, form: Form) -> RouteAnswer {
    let (screen, action, wait, retries) = read_verify(form)?;
    run_verify(&surface, screen, &action, &wait, retries).await.map(Answer::Seen)
}

pub fn read_verify(mut form: Form) -> Result<(i64, Action, Wait, i64), Failure> {
    let screen = screen_field(&mut form);
    let retries = form.int("retries", 0..=5).unwrap_or(0);
    let [action, verify] = ["action", "verify"].map(|name| form.require(name).object(name));
    let Some((action, mut verify)) = action.zip(verify) else {
        return form.refuse();
    };
    form.done();
    let wait = read_wait(&mut verify);
    verify.done();
    Ok((screen, read_action(action)?, wait, retries))
}

/// The action is done again only when what was expected did not come.
async fn run_verify(surface: &Surface, screen: i64, action: &Action, wait: &Wait, retries: i64) -> Outcome {
    let mut attempts = Vec::new();
    for number in 0..=retries {
        let done = perform(surface, screen, action.clone()).await?;
        let waited = wait.until(surface).await?;
        let met = waited["satisfied"] == true;
        attempts.push(json!({"attempt": number + 1, "action": done, "verify": waited, "verified": met}));
        if met {
            break;
        }
    }
    let verified = attempts.last().is_some_and(|attempt| attempt["verified"] == true);
    Ok(json!({"verified": verified, "attempt_count": attempts.len(), "attempts": attempts}))
}
