//! Pictures compared, and waiting for text, windows and stillness; an action with what is expected of it.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::fields::Form;
use super::interact::{Action, perform, read_action};
use super::screenshots::{part_of, region, text_fields};
use super::windows::Query;
use super::{Answer, Area, Failure, Outcome, RouteAnswer, call, display, picked, screen_field};
use crate::clock::sleep_task;
use crate::http::surface::Surface;

const LONGEST_MS: i64 = 60_000;

pub async fn diff(surface: Arc<Surface>, form: Form) -> RouteAnswer {
    const FIELDS: &[&str] = &["changed", "diff_ratio", "changed_pixels", "boxes", "warning"];
    let (mode, screen, area, args) = read_diff(form)?;
    let mut data = picked(&seen(&surface, "vision_diff", screen, area, args).await?, FIELDS);
    data["mode"] = mode.into();
    Ok(Answer::Seen(data))
}

type Look = (i64, Option<Area>, Value);

fn read_diff(mut form: Form) -> Result<(&'static str, i64, Option<Area>, Value), Failure> {
    let mode = form.one_of("mode", &["region", "image"]).unwrap_or("region");
    let screen = screen_field(&mut form);
    let area = region(&mut form);
    let threshold = form.number("threshold", 0.0..=1.0);
    let args = if mode == "image" {
        let [before, after] =
            ["before_base64", "after_base64"].map(|name| form.required_text(name, 1..=24_000_000));
        json!({"before_b64": before, "after_b64": after, "threshold": threshold})
    } else {
        json!({"wait_ms": form.int("wait_ms", 0..=LONGEST_MS).unwrap_or(500), "threshold": threshold})
    };
    form.finish((mode, screen, area, args))
}

pub async fn stability(surface: Arc<Surface>, form: Form) -> RouteAnswer {
    const FIELDS: &[&str] = &["stable", "sample_count", "max_ratio", "avg_ratio", "boxes", "warning"];
    let (screen, area, args) = read_stability(form)?;
    Ok(Answer::Seen(picked(&seen(&surface, "vision_stability", screen, area, args).await?, FIELDS)))
}

fn read_stability(mut form: Form) -> Result<Look, Failure> {
    let screen = screen_field(&mut form);
    let area = region(&mut form);
    let args = json!({
        "duration_ms": form.int("duration_ms", 0..=LONGEST_MS),
        "interval_ms": form.int("interval_ms", 20..=LONGEST_MS),
        "threshold": form.number("threshold", 0.0..=1.0),
    });
    form.finish((screen, area, args))
}

/// A look at a part of a display; pictures that were brought along have no place on it.
async fn seen(surface: &Surface, tool: &str, screen: i64, area: Option<Area>, mut args: Value) -> Outcome {
    if args.get("before_b64").is_none() {
        let display = display(surface, screen).await?;
        let area =
            if area.is_none() && display.area.is_none() { None } else { Some(part_of(&display, area)?) };
        args["region"] = area.map_or(Value::Null, Area::json);
    }
    call(surface, tool, args).await
}

/// Something to wait for.
#[derive(Debug)]
pub struct Wait {
    kind: WaitKind,
    screen: i64,
    area: Option<Area>,
    timeout: i64,
    poll: i64,
}

#[derive(Debug)]
enum WaitKind {
    Text(Value),
    Window { query: Query, state: &'static str },
    Visual { state: &'static str, threshold: Option<f64> },
}

impl WaitKind {
    const fn name(&self) -> &'static str {
        match self {
            WaitKind::Text(_) => "text",
            WaitKind::Window { .. } => "window",
            WaitKind::Visual { .. } => "visual",
        }
    }
}

/// Reads the fields; the caller ends the form.
fn read_wait(form: &mut Form) -> Wait {
    let kind = form.required_one_of("kind", &["text", "window", "visual"]).unwrap_or_default();
    let screen = screen_field(form);
    let area = region(form);
    let timeout = form.int("timeout_ms", 0..=LONGEST_MS).unwrap_or(5000);
    let poll = form.int("poll_ms", 50..=5000).unwrap_or(250);
    let kind = match kind {
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
    Wait { kind, screen, area, timeout, poll }
}

fn read_whole_wait(mut form: Form) -> Result<Wait, Failure> {
    let wait = read_wait(&mut form);
    form.finish(wait)
}

pub async fn wait(surface: Arc<Surface>, form: Form) -> RouteAnswer {
    let wait = read_whole_wait(form)?;
    wait.until(&surface).await.map(Answer::Seen)
}

impl Wait {
    /// What came of it. That it did not come in time is an answer and no error.
    async fn until(&self, surface: &Surface) -> Outcome {
        let clock = &surface.app.clock;
        let began = clock.now();
        let told = |met: bool, polls: u32, detail: Value| {
            let elapsed = crate::clock::millis(clock.now().saturating_sub(began));
            json!({
                "satisfied": met, "kind": self.kind.name(), "elapsed_ms": elapsed, "polls": polls, "detail": detail,
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
                let display = display(surface, self.screen).await?;
                let mut args = args.clone();
                args["region"] = part_of(&display, self.area)?.json();
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
        let display = display(surface, self.screen).await?;
        let area = self.area.or(display.area);
        let mut condition =
            json!({"type": if state == "change" { "visual_change" } else { "visual_stable" }});
        if let Some(area) = area {
            condition["region"] = area.json();
        }
        if let Some(threshold) = threshold {
            condition["threshold"] = threshold.into();
        }
        let args = json!({"any_of": [condition], "timeout_ms": self.timeout});
        match call(surface, "wait_for", args).await {
            Ok(reply) => Ok(if reply["matched_index"].is_null() {
                Value::Null
            } else {
                reply["matched_detail"].clone()
            }),
            Err(failure) if failure.code == "timeout" => Ok(Value::Null),
            Err(failure) => Err(failure),
        }
    }
}

pub async fn verify(surface: Arc<Surface>, form: Form) -> RouteAnswer {
    let always_dry = surface.app.config.clickthrough.dry_run;
    let (screen, action, wait, retries) = read_verify(form, always_dry)?;
    run_verify(&surface, screen, &action, &wait, retries).await.map(Answer::Seen)
}

fn read_verify(mut form: Form, always_dry: bool) -> Result<(i64, Action, Wait, i64), Failure> {
    let screen = screen_field(&mut form);
    let retries = form.int("retries", 0..=5).unwrap_or(0);
    let (action, verify) = (form.required_object("action"), form.required_object("verify"));
    let Some((action, mut verify)) = action.zip(verify) else {
        return form.refuse();
    };
    form.done();
    let wait = read_wait(&mut verify);
    verify.done();
    let action = read_action(action, always_dry)?;
    Ok((screen, action, wait, retries))
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

#[cfg(test)]
pub mod tests {
    use super::*;

    fn form_of(fields: Value) -> Form {
        Form::body(fields.as_object().cloned().unwrap_or_default())
    }

    pub fn diff_of(fields: Value) -> Result<String, Failure> {
        read_diff(form_of(fields)).map(|wish| format!("{wish:?}"))
    }

    pub fn stability_of(fields: Value) -> Result<String, Failure> {
        read_stability(form_of(fields)).map(|wish| format!("{wish:?}"))
    }

    pub fn wait_of(fields: Value) -> Result<String, Failure> {
        read_whole_wait(form_of(fields)).map(|wait| format!("{wait:?}"))
    }

    pub fn verify_of(fields: Value) -> Result<String, Failure> {
        read_verify(form_of(fields), false).map(|wish| format!("{wish:?}"))
    }
}
