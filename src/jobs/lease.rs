//! Keeps the lease of a running job, and hears what is wanted of it.

use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, UNIX_EPOCH};

use super::status::Wanted;
use super::store::{JobLease, Renewal, Store};
use crate::clock::{Bell, Cancel, Clock, lock};

/// How often the store is asked what is wanted: a cancelled job is silent within a second.
const ASKED_EVERY: Duration = Duration::from_millis(100);
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

/// Renews a lease on a thread of its own until it is dropped.
pub struct LeaseKeeper {
    shared: Arc<LeaseState>,
    ended: Cancel,
    thread: Option<JoinHandle<()>>,
}

struct LeaseState {
    standing: Mutex<LeaseStanding>,
    /// Rung when the standing changes.
    changed: Bell,
    /// Fired when nothing more may be done for the job.
    cancel: Cancel,
}

impl LeaseKeeper {
    /// `cancel` is the one that every call of the job has.
    pub fn start(store: Arc<dyn Store>, lease: JobLease, cancel: Cancel) -> Self {
        let shared = Arc::new(LeaseState {
            standing: Mutex::new(LeaseStanding::Held(Wanted::Run)),
            changed: Bell::default(),
            cancel,
        });
        let ended = Cancel::new();
        let (of_thread, until) = (shared.clone(), ended.clone());
        let thread = std::thread::spawn(move || of_thread.keep(&*store, &lease, &until));
        Self { shared, ended, thread: Some(thread) }
    }

    pub fn standing(&self) -> LeaseStanding {
        *lock(&self.shared.standing)
    }

    /// Rung when the standing changes.
    pub fn changed(&self) -> &Bell {
        &self.shared.changed
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
    fn keep(&self, store: &dyn Store, lease: &JobLease, ended: &Cancel) {
        let clock = Clock::real();
        let mut renewed = clock.now();
        while clock.sleep(ASKED_EVERY, ended).is_ok() {
            let standing = match store.renew(lease, unix_ms(&clock)) {
                Ok(Renewal::Held(wanted)) => {
                    renewed = clock.now();
                    LeaseStanding::Held(wanted)
                }
                Ok(Renewal::Lost) => LeaseStanding::Lost,
                Err(_) if clock.now().saturating_sub(renewed) > LONGEST_WITHOUT_RENEWAL => {
                    LeaseStanding::Lost
                }
                Err(_) => continue,
            };
            self.note(standing);
            if standing == LeaseStanding::Lost {
                return;
            }
        }
    }

    fn note(&self, standing: LeaseStanding) {
        let before = std::mem::replace(&mut *lock(&self.standing), standing);
        if before == standing {
            return;
        }
        if matches!(standing, LeaseStanding::Lost | LeaseStanding::Held(Wanted::Cancel)) {
            self.cancel.fire();
        }
        self.changed.ring();
    }
}
