//! The fence of a job: an input is committed to the store, with the worker's lease, before it is sent.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Map, Value};

use super::lease::unix_ms;
use super::status::Wanted;
use super::store::sqlite::taken_over;
use super::store::{EventKind, JobLease, JobQuestion, JobTally, Store};
use super::watch::JobWatch;
use crate::clock::{Clock, lock, millis};
use crate::error::{Error, Result};
use crate::tool::scope::{Fence, Intent, IntentOutcome};

pub struct StoreFence {
    pub store: Arc<dyn Store>,
    pub lease: JobLease,
    pub clock: Clock,
    pub counts: Arc<FenceCounts>,
}

/// What the runner and its fence tell each other.
#[derive(Debug)]
pub struct FenceCounts {
    /// Inputs that were let through.
    sent: AtomicU64,
    /// What the newest of them touches, in words.
    target: Mutex<Option<String>>,
    /// What the job has used by now.
    tally: Mutex<JobTally>,
    watch: Arc<JobWatch>,
}

impl FenceCounts {
    pub fn new(watch: Arc<JobWatch>) -> Self {
        Self { sent: AtomicU64::new(0), target: Mutex::default(), tally: Mutex::default(), watch }
    }

    pub fn inputs_sent(&self) -> u64 {
        self.sent.load(Ordering::Relaxed)
    }

    /// What the newest input touches; told once.
    pub fn take_target(&self) -> Option<String> {
        lock(&self.target).take()
    }

    /// What the next rows of the fence are written with.
    pub fn share_tally(&self, tally: JobTally) {
        *lock(&self.tally) = tally;
    }

    fn current_tally(&self) -> JobTally {
        JobTally { worked_ms: millis(self.watch.worked()), ..*lock(&self.tally) }
    }

    /// The runner reads the count of calls when the call is over; a job that dies before that has made it.
    fn count_input(&self) {
        let mut tally = lock(&self.tally);
        tally.used.calls += 1;
        tally.used.actions += 1;
    }
}

impl StoreFence {
    fn now(&self) -> i64 {
        unix_ms(&self.clock)
    }
}

impl Fence for StoreFence {
    fn admit(&self) -> Result<()> {
        match self.store.wanted(&self.lease)? {
            Wanted::Run | Wanted::Pause => Ok(()),
            Wanted::Takeover => Err(taken_over()),
            Wanted::Cancel => Err(Error::cancelled()),
        }
    }

    fn ask(&self, question: &str, shown: &Value, at_most: Duration) -> Result<()> {
        let mut shown = shown.clone();
        if let Some(fields) = shown.as_object_mut() {
            // Both are for who watches this process.
            fields.retain(|name, _| name != "picture" && name != "expires_in_ms");
            fields.insert("job_id".to_owned(), self.lease.job_id.as_str().into());
        }
        self.counts.watch.begin_waiting();
        let expires_at = self.now().saturating_add(i64::try_from(millis(at_most)).unwrap_or(i64::MAX));
        let (id, job_id) = (question.to_owned(), self.lease.job_id.clone());
        self.store.ask(&self.lease, &JobQuestion { id, job_id, shown, expires_at }, self.now())
    }

    fn close_question(&self, question: &str, outcome: &str) {
        self.counts.watch.end_waiting();
        if let Err(problem) = self.store.close_question(&self.lease, question, outcome, self.now()) {
            tracing::error!("job {}: {}", self.lease.job_id, problem.message);
        }
    }

    fn intend(&self, intent: &Intent) -> Result<u64> {
        let mut body = Map::new();
        body.insert("tool".to_owned(), intent.tool.into());
        body.insert("step_id".to_owned(), intent.step_id.into());
        body.insert("args".to_owned(), Value::Object(intent.args.clone()));
        if let Some(target) = &intent.target {
            body.insert("target".to_owned(), target.as_str().into());
        }
        self.counts.count_input();
        let seq = self.store.intend(&self.lease, &body, &self.counts.current_tally(), self.now())?;
        lock(&self.counts.target).clone_from(&intent.target);
        self.counts.sent.fetch_add(1, Ordering::Relaxed);
        Ok(u64::try_from(seq).unwrap_or_default())
    }

    fn settle(&self, intent: u64, outcome: &IntentOutcome) -> Result<()> {
        let mut body = Map::new();
        body.insert("intent".to_owned(), intent.into());
        body.insert("ok".to_owned(), outcome.ok.into());
        if let Some(code) = outcome.code {
            body.insert("code".to_owned(), code.into());
        }
        let tally = self.counts.current_tally();
        self.store.append(&self.lease, EventKind::Outcome, &body, &tally, self.now()).map(drop)
    }
}
