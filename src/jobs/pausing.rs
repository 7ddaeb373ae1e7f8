//! Where a job waits: paused, taken over by a person, or out of budget. A person's time is not the job's.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::lease::{LeaseStanding, unix_ms};
use super::limits::OnBudget;
use super::run::{JobProgress, RunningJob, Stop, Stopped, WhenStopped, stop, storage_stop};
use super::status::{FailureCode, JobStatus, Wanted};
use super::store::EventKind;
use super::watch::JobWatch;
use crate::clock::Clock;

/// A person's time, until it is dropped.
struct HumanTime {
    watch: Arc<JobWatch>,
}

impl HumanTime {
    fn begin(watch: &Arc<JobWatch>) -> Self {
        watch.begin_waiting();
        Self { watch: watch.clone() }
    }
}

impl Drop for HumanTime {
    fn drop(&mut self) {
        self.watch.end_waiting();
    }
}

/// How long a pause is slept through before the lease is looked at again.
const PAUSE_LOOK: Duration = Duration::from_secs(5);

impl RunningJob<'_> {
    /// Returns when the job is to run.
    pub(super) fn wait_until_wanted(&mut self) -> Stopped<()> {
        let (mut paused, mut taken_over) = (None, false);
        loop {
            let heard = self.keeper.changed().rings();
            match self.standing()? {
                LeaseStanding::Held(Wanted::Run) => break,
                LeaseStanding::Held(Wanted::Cancel) => {
                    return stop(FailureCode::Cancelled, "it was cancelled");
                }
                LeaseStanding::Lost => return stop(FailureCode::LeaseLost, "another worker holds the job"),
                LeaseStanding::Held(Wanted::Pause) => {}
                LeaseStanding::Held(Wanted::Takeover) if taken_over => {}
                LeaseStanding::Held(Wanted::Takeover) => {
                    taken_over = true;
                    self.tell_how_to_see()?;
                }
            }
            if paused.is_none() {
                self.begin_pause(taken_over)?;
                paused = Some(HumanTime::begin(&self.watch));
            }
            let real = Clock::real();
            if real.sleep_unless_rung(self.keeper.changed(), heard, PAUSE_LOOK, &self.cancel).is_err() {
                return stop(FailureCode::Cancelled, "it was cancelled");
            }
        }
        if taken_over {
            self.scope.require_look();
        }
        if paused.take().is_some() {
            self.set_status(JobStatus::Running)?;
            self.planner.note_pause(None);
            (self.runner.progress)(&JobProgress::Resumed);
        }
        Ok(())
    }

    /// Whoever takes the desktop over is told where it is.
    fn tell_how_to_see(&self) -> Stopped<()> {
        self.append(EventKind::Note, json!({"taken_over": true, "see": self.runner.desk.seen_by}))
    }

    /// Nothing is held down while somebody else has the desktop.
    fn begin_pause(&mut self, taken_over: bool) -> Stopped<()> {
        self.set_status(JobStatus::Paused)?;
        let by_somebody = if taken_over { "somebody took the desktop over" } else { "somebody paused it" };
        let why = self.out_of_budget.take();
        self.planner.note_pause(Some(why.as_deref().unwrap_or(by_somebody)));
        (self.runner.progress)(&JobProgress::Paused);
        Ok(())
    }

    /// What the store says now; the keeper hears it a moment later.
    fn standing(&self) -> Stopped<LeaseStanding> {
        if self.cancel.check().is_err() && self.keeper.standing() == LeaseStanding::Held(Wanted::Run) {
            return stop(FailureCode::Cancelled, "it was cancelled");
        }
        if self.keeper.standing() == LeaseStanding::Lost {
            return Ok(LeaseStanding::Lost);
        }
        self.runner.store.wanted(self.lease).map(LeaseStanding::Held).map_err(storage_stop)
    }

    /// A job that has used what it may use waits for more, if it is to; who resumes it gives it as much again.
    pub(super) fn pause_for_budget(&mut self, stopped: Stop) -> Stopped<()> {
        let by_budget = matches!(stopped.code, FailureCode::BudgetExceeded | FailureCode::Timeout);
        if !by_budget || self.limits.on_budget == OnBudget::Stop {
            return Err(stopped);
        }
        let mut body: Map<String, Value> = Map::new();
        body.insert("wanted".to_owned(), Wanted::Pause.name().into());
        body.insert("why".to_owned(), stopped.message.as_str().into());
        self.out_of_budget = Some(stopped.message);
        let now = unix_ms(&self.runner.clock);
        self.runner.store.want_pause(self.lease, &body, now).map_err(storage_stop)?;
        self.wait_until_wanted()?;
        self.tally.used.more_allowances += 1;
        self.limits = self.spec.limits.times(1 + self.tally.used.more_allowances);
        self.scope.set_limits(self.limits.in_scope());
        self.watch.set_limit(self.limits.timeout());
        Ok(())
    }

    /// A part of the work was ended, and the job was not: it is to pause, or its time is over.
    pub(super) fn wait_after_interruption(&mut self) -> Stopped<()> {
        if self.watch.time_left().is_zero() {
            let stopped = self.time_is_over();
            self.pause_for_budget(stopped)?;
        }
        self.wait_until_wanted()
    }

    pub(super) fn time_is_over(&self) -> Stop {
        let message = format!("the job may take {} ms, and has taken them", self.limits.timeout_ms);
        Stop { code: FailureCode::Timeout, message }
    }

    /// A call that was ended because the lease is gone, or the time is over, ends the job as that, not as cancelled.
    pub(super) fn explained(&self, stopped: Stop) -> Stop {
        match (stopped.code, self.keeper.standing()) {
            (FailureCode::Cancelled, LeaseStanding::Held(Wanted::Cancel)) => stopped,
            (FailureCode::Cancelled, LeaseStanding::Lost) => {
                Stop { code: FailureCode::LeaseLost, message: "another worker holds the job".to_owned() }
            }
            (FailureCode::Cancelled, _) if self.keeper.has_timed_out() => self.time_is_over(),
            _ => stopped,
        }
    }

    /// The worker is to stop, and nobody wants the job to be cancelled.
    pub(super) fn gives_up(&self) -> bool {
        let wanted = self.runner.store.wanted(self.lease);
        self.runner.when_stopped == WhenStopped::GivenUp
            && self.stopped_from_outside.check().is_err()
            && wanted.is_ok_and(|wanted| wanted != Wanted::Cancel)
    }
}
