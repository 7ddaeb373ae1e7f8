//! What a job adds to the rules for its own calls. A scope narrows what the gate allows and never widens it.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Mutex;

use serde_json::{Map, Value};

use super::{Meta, Target};
use crate::budget::Meter;
use crate::clock::lock;
use crate::error::{Error, Kind, Result};

pub struct Scope {
    pub job_id: String,
    /// A model reads the replies: lines instead of JSON.
    pub reads_lines: bool,
    /// Names of tools and groups.
    denied: BTreeSet<String>,
    limits: ScopeLimits,
    used: Mutex<ScopeUse>,
    fence: Box<dyn Fence>,
}

/// How often the calls of a job may do something; `None` for as often as the gate allows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScopeLimits {
    pub calls: Option<u64>,
    pub actions: Option<u64>,
    pub screenshots: Option<u64>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScopeUse {
    pub calls: u64,
    pub actions: u64,
    pub screenshots: u64,
}

/// Stands between the judge and the input: what is about to be sent is written down first.
pub trait Fence: Send + Sync {
    /// Commits the intent. An error means that the input must not be sent.
    fn intend(&self, intent: &Intent) -> Result<u64>;

    /// How the input ended. What cannot be written stays in doubt.
    fn settle(&self, intent: u64, outcome: &IntentOutcome) -> Result<()>;
}

/// An input that is about to be sent.
#[derive(Clone, Debug)]
pub struct Intent<'a> {
    pub tool: &'a str,
    pub step_id: u64,
    /// Without what must not be recorded.
    pub args: Map<String, Value>,
    /// What it would touch, in words.
    pub target: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct IntentOutcome {
    pub ok: bool,
    pub code: Option<&'static str>,
}

impl Scope {
    pub fn new(
        job_id: impl Into<String>,
        denied: impl IntoIterator<Item = String>,
        limits: ScopeLimits,
        fence: Box<dyn Fence>,
    ) -> Self {
        Self {
            job_id: job_id.into(),
            reads_lines: false,
            denied: denied.into_iter().collect(),
            limits,
            used: Mutex::default(),
            fence,
        }
    }

    /// Denying a basic tool denies what contains it.
    pub fn check_permitted(&self, meta: &Meta, parts: &[&str]) -> Result<()> {
        let names = [meta.name, meta.group.name()].into_iter().chain(parts.iter().copied());
        let denied = names.into_iter().find(|name| self.denied.contains(*name));
        if meta.always {
            return Ok(());
        }
        match denied {
            None => Ok(()),
            Some(name) if name == meta.name => {
                Err(self.refusal(format!("{name} is not among the tools of this job")))
            }
            Some(name) => {
                Err(self
                    .refusal(format!("{} needs {name}, which is not among the tools of this job", meta.name)))
            }
        }
    }

    fn refusal(&self, message: String) -> Error {
        Error::new(Kind::PermissionDenied, message).with("job_id", self.job_id.as_str())
    }

    /// Counts a call. A call that is refused by its count is not counted.
    pub fn count_call(&self, meters: &[Meter]) -> Result<()> {
        let mut used = lock(&self.used);
        let next = used.with_call(meters);
        let over = [
            ("calls", next.calls, self.limits.calls),
            ("actions", next.actions, self.limits.actions),
            ("screenshots", next.screenshots, self.limits.screenshots),
        ];
        let over = over.into_iter().find(|(_, count, most)| most.is_some_and(|most| *count > most));
        match over {
            None => *used = next,
            Some((what, _, most)) => {
                let most = most.unwrap_or_default();
                let message = format!("the job may make {most} {what}, and has made them");
                return Err(Error::new(Kind::BudgetExceeded, message).with("job_id", self.job_id.as_str()));
            }
        }
        Ok(())
    }

    pub fn used(&self) -> ScopeUse {
        *lock(&self.used)
    }

    pub fn fence(&self) -> &dyn Fence {
        &*self.fence
    }
}

impl ScopeUse {
    fn with_call(mut self, meters: &[Meter]) -> Self {
        self.calls += 1;
        for meter in meters {
            match meter {
                Meter::Action => self.actions += 1,
                Meter::Screenshot => self.screenshots += 1,
                Meter::VlmTokens(_) => {}
            }
        }
        self
    }
}

impl fmt::Debug for Scope {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        out.debug_struct("Scope")
            .field("job_id", &self.job_id)
            .field("denied", &self.denied)
            .finish_non_exhaustive()
    }
}

/// What an input touches, as people read it, without what must not be shown.
pub fn describe_targets(targets: &[Target]) -> Option<String> {
    let first = targets.first()?;
    let more = targets.len() - 1;
    let shown = format!("{} '{}'", first.shown_role(), first.shown_name());
    Some(if more == 0 { shown } else { format!("{shown} and {more} more") })
}
