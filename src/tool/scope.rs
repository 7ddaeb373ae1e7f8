//! What a job adds to the rules for its own calls. A scope narrows what the gate allows and never widens it.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::{Map, Value};

use super::{Effect, Group, Meta, Target};
use crate::budget::Meter;
use crate::clock::lock;
use crate::error::{Error, Kind, Result};

pub struct Scope {
    pub job_id: String,
    /// A model reads the replies: lines instead of JSON.
    pub reads_lines: bool,
    /// Names of tools and groups.
    denied: BTreeSet<String>,
    limits: Mutex<ScopeLimits>,
    used: Mutex<ScopeUse>,
    /// A person had the desktop: the job has to look before it acts.
    must_look: AtomicBool,
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
    /// Whether the job may make a call now, one that only looks as well.
    fn admit(&self) -> Result<()>;

    /// A person is asked, and the job waits for so long at most.
    fn ask(&self, question: &str, shown: &Value, at_most: Duration) -> Result<()>;

    /// The person has answered, or will not.
    fn close_question(&self, question: &str, outcome: &str);

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
            limits: Mutex::new(limits),
            used: Mutex::default(),
            must_look: AtomicBool::new(false),
            fence,
        }
    }

    /// What the job has used before.
    pub fn starting_from(self, used: ScopeUse) -> Self {
        Self { used: Mutex::new(used), ..self }
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

    /// Whether the job may make this call now. Questions about the server itself are never refused.
    pub fn admit_call(&self, meta: &Meta) -> Result<()> {
        self.check_permitted(meta, meta.implies)?;
        if meta.always {
            return Ok(());
        }
        if let Some(why) = why_not_for_jobs(meta) {
            return Err(self.refusal(why));
        }
        self.fence.admit()?;
        match meta.effect {
            Effect::Observe if meta.untrusted => self.must_look.store(false, Ordering::Relaxed),
            effect if effect.acts() && self.must_look.load(Ordering::Relaxed) => {
                let message =
                    "a person had the desktop meanwhile, so nothing was done; look before you act".to_owned();
                return Err(self.refusal(message).with("look_again", true));
            }
            _ => {}
        }
        Ok(())
    }

    /// From now on the job has to look before it acts.
    pub fn require_look(&self) {
        self.must_look.store(true, Ordering::Relaxed);
    }

    pub fn set_limits(&self, limits: ScopeLimits) {
        *lock(&self.limits) = limits;
    }

    fn refusal(&self, message: String) -> Error {
        Error::new(Kind::PermissionDenied, message).with("job_id", self.job_id.as_str())
    }

    /// Counts a call. A call that is refused by its count is not counted.
    pub fn count_call(&self, meters: &[Meter]) -> Result<()> {
        let mut used = lock(&self.used);
        let (next, limits) = (used.with_call(meters), *lock(&self.limits));
        let over = [
            ("calls", next.calls, limits.calls),
            ("actions", next.actions, limits.actions),
            ("screenshots", next.screenshots, limits.screenshots),
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

/// Why no job may call this tool, whoever plans it. What records, replays or loads a desktop is for whoever runs the
/// server: a replay of a job would act in its name.
pub fn why_not_for_jobs(meta: &Meta) -> Option<String> {
    let why = match meta.group {
        Group::Jobs => "a job starts no jobs",
        Group::Harness if !meta.lean && !meta.always => {
            "recordings, replays and scenarios are the operator's; `record` keeps a trace of a job"
        }
        _ => return None,
    };
    Some(format!("{} is not for jobs: {why}", meta.name))
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
