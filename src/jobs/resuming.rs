//! What a planner is told that goes on with somebody else's work.

use serde_json::Value;

use super::run::{RunningJob, Stopped, storage_stop};
use super::store::{EventKind, JobEvent};

/// As many of the inputs of an interrupted job are told to who goes on with it.
const TOLD_INPUTS: usize = 20;

/// What becomes of a desk when its worker ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeskLife {
    /// The real desktop, or a browser that a person opened.
    Lasting,
    /// A mock desktop, a private one, or a browser that we started.
    ThrownAway,
}

/// The desk that a job is run on, as a person has to know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunDesk<'a> {
    pub life: DeskLife,
    /// How a person sees it, where it is on no screen.
    pub seen_by: Option<&'a str>,
}

impl RunDesk<'static> {
    /// The person's own.
    pub const LASTING: RunDesk<'static> = RunDesk { life: DeskLife::Lasting, seen_by: None };
}

impl DeskLife {
    /// What who goes on has to know of the desk.
    const fn advice(self) -> &'static str {
        match self {
            DeskLife::Lasting => "Look at the screen before you go on, and do not repeat what was done.",
            DeskLife::ThrownAway => {
                "The desk that they were sent to is gone, and what was open and typed there is lost: this desk is new. \
                 Which effects outlive the old desk, such as files, messages and orders, is not known. Look at the \
                 screen, find out what is still there, and do only what is missing."
            }
        }
    }
}

impl RunningJob<'_> {
    /// Nothing where no input was sent before.
    pub(super) fn told_of_interruption(&self) -> Stopped<Option<String>> {
        let store = &self.runner.store;
        let events = store.events(&self.lease.job_id, 0, usize::MAX).map_err(storage_stop)?;
        let doubt = store.in_doubt(&self.lease.job_id).map_err(storage_stop)?;
        let sent: Vec<String> = events
            .iter()
            .filter(|event| event.kind == EventKind::Intent.name())
            .map(|event| told_input(event, doubt.iter().any(|other| other.seq == event.seq)))
            .collect();
        if sent.is_empty() {
            return Ok(None);
        }
        self.scope.require_look();
        let told = sent[sent.len().saturating_sub(TOLD_INPUTS)..].join("; ");
        let (count, advice) = (sent.len(), self.runner.desk.life.advice());
        Ok(Some(format!(
            "This job was interrupted after {count} inputs. The last ones were: {told}. {advice}"
        )))
    }
}

fn told_input(event: &JobEvent, is_doubtful: bool) -> String {
    let word = |name: &str| event.body.get(name).and_then(Value::as_str).unwrap_or_default();
    let mark = if is_doubtful { " (nobody knows whether it was sent)" } else { "" };
    format!("{} {}{mark}", word("tool"), word("target"))
}
