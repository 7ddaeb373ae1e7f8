//! The fence of a job: an input is committed to the store, with the worker's lease, before it is sent.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Map, Value};

use super::lease::unix_ms;
use super::store::{EventKind, JobLease, Store};
use crate::clock::Clock;
use crate::error::Result;
use crate::tool::scope::{Fence, Intent, IntentOutcome};

pub struct StoreFence {
    pub store: Arc<dyn Store>,
    pub lease: JobLease,
    pub clock: Clock,
    /// Inputs that were let through.
    pub sent: Arc<AtomicU64>,
}

impl Fence for StoreFence {
    fn intend(&self, intent: &Intent) -> Result<u64> {
        let mut body = Map::new();
        body.insert("tool".to_owned(), intent.tool.into());
        body.insert("step_id".to_owned(), intent.step_id.into());
        body.insert("args".to_owned(), Value::Object(intent.args.clone()));
        if let Some(target) = &intent.target {
            body.insert("target".to_owned(), target.as_str().into());
        }
        let seq = self.store.intend(&self.lease, &body, unix_ms(&self.clock))?;
        self.sent.fetch_add(1, Ordering::Relaxed);
        Ok(u64::try_from(seq).unwrap_or_default())
    }

    fn settle(&self, intent: u64, outcome: &IntentOutcome) -> Result<()> {
        let mut body = Map::new();
        body.insert("intent".to_owned(), intent.into());
        body.insert("ok".to_owned(), outcome.ok.into());
        if let Some(code) = outcome.code {
            body.insert("code".to_owned(), code.into());
        }
        self.store.append(&self.lease, EventKind::Outcome, &body, unix_ms(&self.clock)).map(drop)
    }
}
