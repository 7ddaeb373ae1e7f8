//! A worker: takes jobs from the queue and runs them on its desk, one after the other. One desk, one process.

use std::io::BufRead;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::lease::unix_ms;
use super::store::{Claimed, Store};
use crate::clock::{Bell, Cancel, Clock, lock};
use crate::error::Result;

/// How often an idle worker looks at the queue by itself.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// A worker without work ends after so long; the next job gets a new one.
const LONGEST_IDLE: Duration = Duration::from_secs(10);

pub struct JobWorker<'a> {
    pub id: String,
    /// The server whose jobs it takes.
    pub server: Option<String>,
    pub store: Arc<dyn Store>,
    /// Prepares the desk and runs a job on it to its end.
    pub run: &'a dyn Fn(&Claimed, &Cancel),
    /// The desk serves one job and is thrown away.
    pub once: bool,
    /// Without work it ends, because whoever started it starts another one.
    pub ends_idle: bool,
}

impl JobWorker<'_> {
    /// Until it is stopped, has been idle for long, or has run its one job.
    pub fn work(&self, stop: &StopSwitch) -> Result<()> {
        let clock = Clock::real();
        let mut idle_since = clock.now();
        while !stop.is_thrown() {
            let heard = stop.waiting.rings();
            if let Some(claimed) = self.claim_next(&clock)? {
                let cancel = stop.for_one_job();
                (self.run)(&claimed, &cancel);
                if self.once {
                    return Ok(());
                }
                idle_since = clock.now();
            } else if (self.ends_idle && clock.now().saturating_sub(idle_since) > LONGEST_IDLE)
                || clock.sleep_unless_rung(&stop.waiting, heard, LOOK_EVERY, &stop.stopped).is_err()
            {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Runs this job alone, if it still waits.
    pub fn work_on(&self, job_id: &str, stop: &StopSwitch) -> Result<()> {
        if let Some(claimed) = self.store.claim_job(job_id, &self.id, unix_ms(&Clock::real()))? {
            (self.run)(&claimed, &stop.for_one_job());
        }
        Ok(())
    }

    /// To look costs less than to write.
    fn claim_next(&self, clock: &Clock) -> Result<Option<Claimed>> {
        let (server, now) = (self.server.as_deref(), unix_ms(clock));
        if self.store.count_waiting(server, now)? == 0 {
            return Ok(None);
        }
        self.store.claim(&self.id, server, now)
    }
}

/// Stops a worker, and the job that it runs.
#[derive(Debug, Default)]
pub struct StopSwitch {
    /// Rung when there is something to do.
    waiting: Bell,
    stopped: Cancel,
    running: Mutex<Option<Cancel>>,
}

impl StopSwitch {
    pub fn throw(&self) {
        self.stopped.fire();
        if let Some(job) = &*lock(&self.running) {
            job.fire();
        }
    }

    fn is_thrown(&self) -> bool {
        self.stopped.check().is_err()
    }

    /// What every call of the next job has.
    fn for_one_job(&self) -> Cancel {
        let cancel = Cancel::new();
        *lock(&self.running) = Some(cancel.clone());
        if self.is_thrown() {
            cancel.fire();
        }
        cancel
    }

    /// A line says that there is work; the end says that the server is gone, whatever became of it.
    pub fn obey(&self, server: impl BufRead) {
        for line in server.split(b'\n') {
            match line {
                Ok(_) => self.waiting.ring(),
                Err(_) => break,
            }
        }
        self.throw();
    }
}
