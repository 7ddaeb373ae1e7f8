//! Jobs as they are shown at the terminal: how one goes while it runs, how it ended, and what is on record of it.

use std::io::Write;

use serde_json::{Value, json};

use super::{pretty_json, say};
use crate::clock::millis;
use crate::jobs::money::Cost;
use crate::jobs::run::JobProgress;
use crate::jobs::status::FailureCode;
use crate::jobs::store::{Ending, JobError, JobEvent, JobQuestion, JobRecord, JobTally, ModelUse, Usage};
use crate::jobs::view::{event_json, job_json, question_json, shown_time};
use crate::privacy::untrusted::clean_text;
use crate::text::shorten;

/// As many characters of a goal fit on a line of the list.
const GOAL_WIDTH: usize = 60;

/// Shows how a job goes: progress on stderr, the result on stdout.
pub struct ProgressView {
    pub json: bool,
    pub tty: bool,
}

impl ProgressView {
    pub fn show(&self, progress: &JobProgress) {
        if self.json {
            // A reader that has gone away does not stop the job.
            let _ = say(&progress_json(progress).to_string());
            return;
        }
        if let Some(line) = progress_line(progress, self.tty) {
            let _ = writeln!(std::io::stderr().lock(), "{line}");
        }
        if let JobProgress::Ended { ending: Ending { result: Some(result), .. }, .. } = progress {
            let _ = say(&pretty_json(result));
        }
    }

    /// Where the trace of a recorded job is.
    pub fn show_folder(&self, folder: &str) {
        let _ = if self.json {
            say(&json!({"event": "recorded", "folder": folder}).to_string())
        } else {
            let line = format!("recorded in {folder}");
            writeln!(std::io::stderr().lock(), "{line}").map_err(|problem| problem.to_string())
        };
    }
}

fn progress_line(progress: &JobProgress, tty: bool) -> Option<String> {
    match progress {
        JobProgress::Started { job_id, goal } => Some(format!("{job_id}  {}", on_one_line(goal))),
        JobProgress::Calling { .. } => None,
        JobProgress::Called { step, tool, target, error, took } => {
            let target = target.map(|target| format!(" {}", on_one_line(target))).unwrap_or_default();
            let outcome = match error {
                None => mark("ok", "32", tty),
                Some((kind, message)) => format!("{} {}", mark(kind.code(), "31", tty), on_one_line(message)),
            };
            Some(format!("{step:>3}  {tool}{target}  {outcome}  {} ms", millis(*took)))
        }
        JobProgress::Said(said) => Some(format!("     {said}")),
        JobProgress::Delayed(news) => Some(format!("     {}", on_one_line(&news.to_string()))),
        JobProgress::Paused => Some("     paused".to_owned()),
        JobProgress::Resumed => Some("     resumed".to_owned()),
        JobProgress::Ended { ending, tally } => Some(end_line(ending, *tally)),
    }
}

/// In a colour, where a terminal shows it.
pub(super) fn mark(text: &str, colour: &str, tty: bool) -> String {
    if tty { format!("\x1b[{colour}m{text}\x1b[0m") } else { text.to_owned() }
}

fn end_line(ending: &Ending, tally: JobTally) -> String {
    let used = used_text(i64::try_from(tally.steps).unwrap_or(i64::MAX), tally.usage, tally.cost);
    let why = ending.error.as_ref().map(|error| format!(": {}", reason_text(error))).unwrap_or_default();
    format!("{} after {used}{why}", ending.status)
}

/// Why a job did not succeed, and what to do.
fn reason_text(error: &JobError) -> String {
    let advice = FailureCode::from_name(&error.code).map(|code| format!("; {}", code.advice()));
    format!("{} ({}){}", on_one_line(&error.message), error.code, advice.unwrap_or_default())
}

fn counted(count: i64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

fn used_text(steps: i64, usage: Usage, cost: Option<Cost>) -> String {
    match usage.tokens() {
        0 => counted(steps, "step"),
        tokens => {
            let cost = cost.map_or_else(|| "price unknown".to_owned(), |cost| cost.to_string());
            format!("{}, {tokens} tokens, {cost}", counted(steps, "step"))
        }
    }
}

fn progress_json(progress: &JobProgress) -> Value {
    match progress {
        JobProgress::Started { job_id, goal } => json!({"event": "started", "job_id": job_id, "job": goal}),
        JobProgress::Calling { step, tool } => json!({"event": "calling", "step": step, "tool": tool}),
        JobProgress::Called { step, tool, target, error, took } => json!({
            "event": "called", "step": step, "tool": tool, "target": target, "ok": error.is_none(),
            "code": error.map(|(kind, _)| kind.code()), "message": error.map(|(_, message)| message),
            "duration_ms": millis(*took),
        }),
        JobProgress::Said(said) => json!({"event": "said", "text": said}),
        JobProgress::Delayed(news) => {
            let mut event = news.facts();
            event["event"] = "delayed".into();
            event
        }
        JobProgress::Paused => json!({"event": "paused"}),
        JobProgress::Resumed => json!({"event": "resumed"}),
        JobProgress::Ended { ending, tally } => json!({
            "event": "ended", "status": ending.status.name(), "result": ending.result, "error": ending.error,
            "steps": tally.steps, "usage": tally.usage, "cost_usd": tally.cost.map(Cost::usd),
        }),
    }
}

/// Words of others, without what a terminal would obey.
pub fn on_one_line(text: &str) -> String {
    clean_text(text).replace(['\n', '\r', '\t'], " ")
}

pub fn job_line(job: &JobRecord) -> String {
    let goal = on_one_line(&job.spec.job);
    let goal = shorten(&goal, GOAL_WIDTH);
    format!(
        "{}  {:<15}  {:>4} steps  {}  {goal}",
        job.id,
        job.status.name(),
        job.steps,
        shown_time(job.created_at)
    )
}

/// All that is on record of a job.
pub struct ShownRecord {
    pub job: JobRecord,
    pub events: Vec<JobEvent>,
    pub doubt: Vec<JobEvent>,
    pub models: Vec<ModelUse>,
    pub questions: Vec<JobQuestion>,
}

impl ShownRecord {
    pub fn as_json(&self) -> Value {
        let mut shown = job_json(&self.job);
        shown["models"] = json!(self.models);
        shown["approvals"] = self.questions.iter().map(question_json).collect();
        shown["events"] = self.events.iter().map(event_json).collect();
        shown["in_doubt"] = self.doubt.iter().map(event_json).collect();
        shown["run_dir"] = json!(self.job.run_dir);
        shown
    }

    pub fn as_text(&self) -> String {
        let job = &self.job;
        let mut lines = vec![job_line(job)];
        lines.extend(self.planner_text());
        lines.push(format!("used: {}", self.use_text()));
        lines.extend(self.events.iter().map(event_line));
        if !self.doubt.is_empty() {
            lines.push(
                "These inputs may or may not have been sent; look at the desktop before you run the job again:"
                    .to_owned(),
            );
            lines.extend(self.doubt.iter().map(event_line));
        }
        lines.extend(job.run_dir.as_ref().map(|folder| format!("recorded in {folder}")));
        lines.extend(job.result.as_ref().map(|result| format!("result: {result}")));
        lines.extend(job.error.as_ref().map(|error| format!("{}: {}", job.status, reason_text(error))));
        lines.join("\n")
    }

    /// With the folders of a script: this is where its owner looks for it.
    fn planner_text(&self) -> Option<String> {
        self.job.spec.planner.as_ref().map(|planner| format!("planner: {}", on_one_line(planner)))
    }

    fn use_text(&self) -> String {
        let job = &self.job;
        let used = used_text(job.steps, job.usage, job.cost);
        let models: Vec<String> = self.models.iter().map(model_text).collect();
        let models = if models.is_empty() { String::new() } else { format!(", by {}", models.join(", ")) };
        let inputs = counted(job.effects, "input");
        format!("{used}{models}, {inputs}, {:.1} s of work", job.worked_ms as f64 / 1000.0)
    }
}

fn model_text(model: &ModelUse) -> String {
    let did = match (model.turns, model.checks) {
        (0, 1..) => "safety check".to_owned(),
        (turns, 0) => counted(turns, "turn"),
        (turns, _) => format!("{}, safety check", counted(turns, "turn")),
    };
    format!("{} ({did})", on_one_line(&model.model))
}

fn event_line(event: &JobEvent) -> String {
    let body = Value::Object(event.body.clone());
    format!("{:>4}  {}  {:<8} {body}", event.seq, shown_time(event.at), event.kind)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jobs::status::JobStatus;

    #[test]
    fn an_end_says_what_it_is_why_and_what_to_do() {
        let error = JobError::new(FailureCode::Timeout, "the job may take 5 ms,\nand has taken them");
        let ending = Ending { status: JobStatus::BudgetExceeded, result: None, error: Some(error) };
        let usage = Usage { input: 100, output: 20, ..Usage::default() };
        let line = end_line(&ending, JobTally { steps: 3, usage, ..JobTally::default() });
        let used = "budget_exceeded after 3 steps, 120 tokens, price unknown: ";
        assert!(line.starts_with(used) && line.contains("has taken them (Timeout); "), "{line}");
        assert!(line.ends_with(FailureCode::Timeout.advice()) && !line.contains('\n'), "{line}");
    }
}
