//! Keeps the lease of a running job, hears what is wanted of it, and ends what it does when its time is over.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, UNIX_EPOCH};

use super::limits::OnBudget;
use super::status::Wanted;
use super::store::{JobLease, Renewal, Store};
use super::watch::JobWatch;
use crate::clock::{Bell, Cancel, Clock, lock, millis};
use crate::error::{Kind, Result};
use crate::gate::approvals::{Approvals, Decision};

/// How often the store is asked what is wanted: a cancelled job is silent within a second.
const ASKED_EVERY: Duration = Duration::from_millis(100);
/// To look costs less than to write.
const RENEWED_EVERY: Duration = Duration::from_secs(1);
/// A worker that could not renew for so long stops by itself, well before another may take the job.
const LONGEST_WITHOUT_RENEWAL: Duration = Duration::from_secs(20);

/// Milliseconds since 1970, as the store has them.
pub fn unix_ms(clock: &Clock) -> i64 {
    let since = clock.wall_time().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeaseStanding {
    Held(Wanted),
    Lost,
}

/// What a job does just now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobWork {
    /// It may send inputs: it is ended only with the job.
    Acting,
    /// A pause ends it, and it may be done again.
    Looking,
    /// The planner is asked, which a pause lets end.
    Asking,
}

/// What a keeper watches over.
pub struct KeptJob {
    pub lease: JobLease,
    pub watch: Arc<JobWatch>,
    pub on_budget: OnBudget,
    /// Where the job waits for the person's answers.
    pub approvals: Arc<Approvals>,
    /// The one that every part of the job ends with.
    pub cancel: Cancel,
}

/// Renews a lease on a thread of its own until it is dropped.
pub struct LeaseKeeper {
    shared: Arc<LeaseState>,
    ended: Cancel,
    thread: Option<JoinHandle<()>>,
}

struct LeaseState {
    job: KeptJob,
    standing: Mutex<LeaseStanding>,
    /// Rung when the standing changes.
    changed: Bell,
    timed_out: AtomicBool,
    /// What the job does just now, and what ends that alone.
    work: Mutex<Option<(JobWork, Cancel)>>,
}

/// A part of the job's work, until it is dropped.
pub struct KeptWork<'a> {
    pub cancel: Cancel,
    state: &'a LeaseState,
}

impl Drop for KeptWork<'_> {
    fn drop(&mut self) {
        *lock(&self.state.work) = None;
    }
}

impl LeaseKeeper {
    pub fn start(store: Arc<dyn Store>, job: KeptJob) -> Self {
        let shared = Arc::new(LeaseState {
            job,
            standing: Mutex::new(LeaseStanding::Held(Wanted::Run)),
            changed: Bell::default(),
            timed_out: AtomicBool::new(false),
            work: Mutex::default(),
        });
        let ended = Cancel::new();
        let (of_thread, until) = (shared.clone(), ended.clone());
        let thread = std::thread::spawn(move || of_thread.keep(&*store, &until));
        Self { shared, ended, thread: Some(thread) }
    }

    pub fn standing(&self) -> LeaseStanding {
        *lock(&self.shared.standing)
    }

    /// Rung when the standing changes.
    pub fn changed(&self) -> &Bell {
        &self.shared.changed
    }

    /// The job was ended because its time was over.
    pub fn has_timed_out(&self) -> bool {
        self.shared.timed_out.load(Ordering::SeqCst)
    }

    /// Begins a part of the job's work, which may be ended without the job.
    pub fn begin_work(&self, work: JobWork) -> KeptWork<'_> {
        let cancel = self.shared.job.cancel.for_part();
        *lock(&self.shared.work) = Some((work, cancel.clone()));
        KeptWork { cancel, state: &self.shared }
    }
}

impl Drop for LeaseKeeper {
    fn drop(&mut self) {
        self.ended.fire();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl LeaseState {
    /// Leases are a matter of real time, whatever clock the desktop has.
    fn keep(&self, store: &dyn Store, ended: &Cancel) {
        let clock = Clock::real();
        let mut renewed = clock.now();
        let mut tried = renewed;
        while clock.sleep(ASKED_EVERY, ended).is_ok() {
            let is_due = clock.now().saturating_sub(tried) >= RENEWED_EVERY;
            let heard = if is_due { self.renew(store, &clock) } else { self.listen(store) };
            if is_due {
                tried = clock.now();
            }
            let standing = match heard {
                Ok(standing) => {
                    renewed = if is_due { tried } else { renewed };
                    standing
                }
                Err(_) if clock.now().saturating_sub(renewed) > LONGEST_WITHOUT_RENEWAL => {
                    LeaseStanding::Lost
                }
                Err(_) => self.known_standing(),
            };
            self.note(standing);
            self.interrupt(standing);
            self.pass_answers(store);
            if standing == LeaseStanding::Lost {
                return;
            }
        }
    }

    fn known_standing(&self) -> LeaseStanding {
        *lock(&self.standing)
    }

    fn renew(&self, store: &dyn Store, clock: &Clock) -> Result<LeaseStanding> {
        let worked = millis(self.job.watch.worked());
        Ok(match store.renew(&self.job.lease, worked, unix_ms(clock))? {
            Renewal::Held(wanted) => LeaseStanding::Held(wanted),
            Renewal::Lost => LeaseStanding::Lost,
        })
    }

    fn listen(&self, store: &dyn Store) -> Result<LeaseStanding> {
        match store.wanted(&self.job.lease) {
            Ok(wanted) => Ok(LeaseStanding::Held(wanted)),
            Err(error) if error.kind == Kind::PermissionDenied => Ok(LeaseStanding::Lost),
            Err(error) => Err(error),
        }
    }

    /// Answers that a person gave somewhere else reach the call that waits here.
    fn pass_answers(&self, store: &dyn Store) {
        for question in self.job.approvals.open_ids() {
            if let Ok(Some(allowed)) = store.answer_to(&question) {
                let decision = if allowed { Decision::Allow } else { Decision::Deny };
                self.job.approvals.decide_question(&question, decision);
            }
        }
    }

    fn note(&self, standing: LeaseStanding) {
        let before = std::mem::replace(&mut *lock(&self.standing), standing);
        if before == standing {
            return;
        }
        if matches!(standing, LeaseStanding::Lost | LeaseStanding::Held(Wanted::Cancel)) {
            self.job.cancel.fire();
        }
        self.changed.ring();
    }

    /// Ends the job when its time is over, or what it does just now, where somebody wants it to pause.
    fn interrupt(&self, standing: LeaseStanding) {
        let is_over = self.job.watch.time_left().is_zero();
        if is_over && self.job.on_budget == OnBudget::Stop {
            self.timed_out.store(true, Ordering::SeqCst);
            self.job.cancel.fire();
            return;
        }
        let is_to_pause = matches!(standing, LeaseStanding::Held(Wanted::Pause | Wanted::Takeover));
        match &*lock(&self.work) {
            Some((JobWork::Looking, cancel)) if is_over || is_to_pause => cancel.fire(),
            Some((JobWork::Asking, cancel)) if is_over => cancel.fire(),
            _ => {}
        }
    }
}
