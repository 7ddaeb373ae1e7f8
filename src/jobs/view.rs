//! Jobs as JSON, the same on every surface.

use std::time::Duration;

use serde_json::{Map, Value, json};

use super::money::Cost;
use super::planner::scripted;
use super::store::{JobArtifact, JobEvent, JobQuestion, JobRecord, JobStats};
use crate::clock::timestamp;
use crate::jobs::status::{FailureCode, JobStatus};

/// A time of the store as people read it.
pub fn shown_time(milliseconds: i64) -> String {
    let since = Duration::from_millis(u64::try_from(milliseconds).unwrap_or_default());
    timestamp(std::time::UNIX_EPOCH + since)
}

/// A planner without the folders of its script.
pub fn shown_planner(planner: &str) -> String {
    match planner.strip_prefix(scripted::PREFIX) {
        Some(script) => format!("{}{}", scripted::PREFIX, scripted::script_name(script)),
        None => planner.to_owned(),
    }
}

pub fn job_json(job: &JobRecord) -> Value {
    json!({
        "job_id": job.id, "status": job.status.name(), "wanted": job.wanted.name(), "job": job.spec.job,
        "planner": job.spec.planner.as_deref().map(shown_planner), "model": job.spec.model, "result": job.result, "error": job.error,
        "usage": usage_json(job), "cost_usd": job.cost.map(Cost::usd), "limits": job.spec.limits,
        "steps": job.steps, "used": job.used, "worked_ms": job.worked_ms, "inputs": job.effects, "attempts": job.attempts, "epoch": job.epoch,
        "worker": job.worker, "server": job.owner, "created_at": shown_time(job.created_at),
        "started_at": job.started_at.map(shown_time), "finished_at": job.finished_at.map(shown_time),
        "last_event": job.last_event, "desk": job.spec.desk, "record": job.spec.record,
        "fits_schema": fits_schema(job),
    })
}

/// Whether the result is what the job's schema asks for; nothing where there is no schema, or no result yet.
fn fits_schema(job: &JobRecord) -> Option<bool> {
    job.spec.output_schema.as_ref()?;
    let refused = job.error.as_ref().is_some_and(|error| error.code == FailureCode::OutputInvalid.name());
    match job.status {
        JobStatus::Succeeded => Some(true),
        _ => refused.then_some(false),
    }
}

fn usage_json(job: &JobRecord) -> Value {
    json!({
        "input": job.usage.input, "cached_input": job.usage.cached_input, "output": job.usage.output,
        "estimated": job.usage.estimated, "cost_usd": job.cost.map(Cost::usd), "final": job.status.is_over(),
    })
}

pub fn event_json(event: &JobEvent) -> Value {
    let mut row = Map::new();
    row.insert("seq".to_owned(), event.seq.into());
    row.insert("at".to_owned(), shown_time(event.at).into());
    row.insert("kind".to_owned(), event.kind.as_str().into());
    row.extend(event.body.clone());
    Value::Object(row)
}

pub fn question_json(question: &JobQuestion) -> Value {
    let mut shown = question.shown.clone();
    shown["id"] = question.id.as_str().into();
    shown["job_id"] = question.job_id.as_str().into();
    shown["expires_at"] = shown_time(question.expires_at).into();
    shown
}

pub fn artifact_json(artifact: &JobArtifact) -> Value {
    json!({"path": artifact.path, "sha256": artifact.sha256, "bytes": artifact.bytes})
}

pub fn stats_json(stats: &JobStats) -> Value {
    let count = |status: JobStatus| {
        stats.by_status.iter().find(|(known, _)| *known == status).map_or(0, |(_, count)| *count)
    };
    let by_status: Map<String, Value> =
        JobStatus::ALL.iter().map(|status| (status.name().to_owned(), count(*status).into())).collect();
    let over: i64 =
        JobStatus::ALL.iter().filter(|status| status.is_over()).map(|status| count(*status)).sum();
    let succeeded = count(JobStatus::Succeeded);
    json!({
        "jobs": stats.by_status.iter().map(|(_, count)| count).sum::<i64>(),
        "by_status": by_status,
        "success": (over > 0).then(|| succeeded as f64 / over as f64),
        "steps": stats.steps, "inputs": stats.inputs, "usage": stats.usage, "cost_usd": stats.cost.usd(),
        "duration_ms": {"p50": quantile(&stats.durations_ms, 50), "p95": quantile(&stats.durations_ms, 95)},
    })
}

/// Of values in order.
fn quantile(sorted: &[i64], percent: usize) -> Option<i64> {
    let last = sorted.len().checked_sub(1)?;
    sorted.get(last * percent / 100).copied()
}
