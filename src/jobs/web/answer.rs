//! A task as its clients read it.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::jobs::store::web::WebhookState;
use crate::jobs::store::{EventKind, JobEvent, JobRecord};
use crate::jobs::view::shown_time;

/// As many steps of a task are told; `/api/jobs/ID/events` has all.
pub const MOST_STEPS: usize = 200;

pub fn task_json(job: &JobRecord, events: &[JobEvent], webhook: Option<&WebhookState>) -> Value {
    let web = job.spec.web.clone().unwrap_or_default();
    let steps = trace_steps(events);
    let left_out = steps.len().saturating_sub(MOST_STEPS);
    let mut told = json!({
        "taskId": job.id, "status": job.status.name(), "goal": job.spec.job, "result": job.result,
        "trace": steps.into_iter().take(MOST_STEPS).collect::<Vec<_>>(),
        "recipe": web.recipe, "artifactDir": job.run_dir, "timings": timings(job),
        "startUrl": job.spec.start_url, "sessionId": web.session_id, "mode": web.mode, "profile": web.profile,
        "planner": job.spec.planner, "steps": job.steps, "usage": job.usage, "webhook": webhook,
    });
    if let Some(error) = &job.error {
        told["error"] = json!(error);
    }
    if left_out > 0 {
        told["traceLeftOut"] = left_out.into();
    }
    told
}

fn timings(job: &JobRecord) -> Value {
    let between = |from: Option<i64>, to: Option<i64>| Some(to?.saturating_sub(from?));
    json!({
        "createdAt": shown_time(job.created_at), "startedAt": job.started_at.map(shown_time),
        "finishedAt": job.finished_at.map(shown_time), "workedMs": job.worked_ms,
        "queuedMs": between(Some(job.created_at), job.started_at),
        "totalMs": between(Some(job.created_at), job.finished_at),
    })
}

/// What was done, call by call. An input is told by what became of it.
fn trace_steps(events: &[JobEvent]) -> Vec<Value> {
    let outcomes: BTreeMap<i64, &Map<String, Value>> =
        events.iter().filter(|event| is(event, EventKind::Outcome)).filter_map(outcome_of).collect();
    events.iter().filter_map(|event| trace_step(event, &outcomes)).collect()
}

fn is(event: &JobEvent, kind: EventKind) -> bool {
    event.kind == kind.name()
}

fn outcome_of(event: &JobEvent) -> Option<(i64, &Map<String, Value>)> {
    Some((event.body.get("intent")?.as_i64()?, &event.body))
}

fn named_fields(from: &Map<String, Value>, names: &[&str]) -> Map<String, Value> {
    let field = |name: &&str| Some(((*name).to_owned(), from.get(*name)?.clone()));
    names.iter().filter_map(field).collect()
}

fn trace_step(event: &JobEvent, outcomes: &BTreeMap<i64, &Map<String, Value>>) -> Option<Value> {
    let mut step = Map::new();
    step.insert("at".to_owned(), shown_time(event.at).into());
    let mut take = |from: &Map<String, Value>, names: &[&str]| step.extend(named_fields(from, names));
    if is(event, EventKind::Intent) {
        take(&event.body, &["tool", "target"]);
        outcomes.get(&event.seq).into_iter().for_each(|outcome| take(outcome, &["ok", "code"]));
    } else if is(event, EventKind::Call) {
        take(&event.body, &["tool", "ok", "code", "message"]);
    } else {
        take(&event.body, &["said", "problem"]);
        step.get("said").or_else(|| step.get("problem")).filter(|word| !word.is_null())?;
    }
    Some(Value::Object(step))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(seq: i64, kind: EventKind, body: Value) -> JobEvent {
        let body = body.as_object().unwrap().clone();
        JobEvent { seq, epoch: 1, at: 0, kind: kind.name().to_owned(), body }
    }

    #[test]
    fn a_trace_tells_each_call_once() {
        let events = [
            event(1, EventKind::Note, json!({"status": "running"})),
            event(2, EventKind::Call, json!({"tool": "look", "ok": true, "ms": 3})),
            event(
                3,
                EventKind::Intent,
                json!({"tool": "set_value", "target": "Edit", "args": {"value": "secret"}}),
            ),
            event(4, EventKind::Outcome, json!({"intent": 3, "ok": false, "code": "Timeout"})),
            event(5, EventKind::Intent, json!({"tool": "click_element"})),
            event(6, EventKind::Turn, json!({"said": "I look"})),
            event(7, EventKind::Turn, json!({"said": null})),
        ];
        let mut steps = trace_steps(&events);
        steps.iter_mut().for_each(|step| _ = step.as_object_mut().unwrap().remove("at"));
        assert_eq!(
            Value::from(steps),
            json!([
                {"tool": "look", "ok": true},
                {"tool": "set_value", "target": "Edit", "ok": false, "code": "Timeout"},
                {"tool": "click_element"},
                {"said": "I look"},
            ])
        );
    }
}
