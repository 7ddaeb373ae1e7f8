//! Places for connections. Whoever has not sent the head of a request yet gives way to who comes after; and some places
//! are kept back for what only a person does, so that no crowd keeps the stop switch out.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

use crate::clock::sleep_task;

/// The longest pause in a place that is kept back: who guesses must not hold it.
const LONGEST_KEPT_PAUSE: Duration = Duration::from_millis(250);

/// Some places, and the connections in them that have said nothing yet, the oldest first.
pub struct ConnectionPlaces {
    slots: Arc<Semaphore>,
    count: usize,
    silent: VecDeque<Weak<ConnectionState>>,
}

/// A place that is free, or one that is about to be.
pub struct ClaimedPlace {
    pub slots: Arc<Semaphore>,
    pub free: Option<OwnedSemaphorePermit>,
    pub connection: Arc<ConnectionState>,
}

#[derive(Debug, Default)]
pub struct ConnectionState {
    /// In a place that is kept for the stop switch and for approvals.
    pub kept: bool,
    pub told_to_go: CancellationToken,
    head_came: AtomicBool,
    owed_pause_ms: AtomicU64,
}

impl ConnectionPlaces {
    pub fn new(count: usize) -> Self {
        Self { slots: Arc::new(Semaphore::new(count)), count, silent: VecDeque::new() }
    }

    /// A place for one more connection; `None` when everybody is in the middle of something.
    pub fn claim(&mut self, kept: bool) -> Option<ClaimedPlace> {
        let free = self.slots.clone().try_acquire_owned().ok();
        if free.is_none() && !self.send_away() {
            return None;
        }
        let connection = Arc::new(ConnectionState { kept, ..ConnectionState::default() });
        // Those that went by themselves are forgotten here; more than there are places are not waited for.
        while self.silent.len() >= 2 * self.count {
            self.silent.pop_front();
        }
        self.silent.push_back(Arc::downgrade(&connection));
        Some(ClaimedPlace { slots: self.slots.clone(), free, connection })
    }

    /// Tells the connection to go that has said nothing for the longest time.
    fn send_away(&mut self) -> bool {
        while let Some(oldest) = self.silent.pop_front() {
            let silent = oldest.upgrade().filter(|connection| !connection.head_came.load(Ordering::Acquire));
            if let Some(connection) = silent {
                connection.told_to_go.cancel();
                return true;
            }
        }
        false
    }

    /// Comes when nobody is connected any more.
    pub async fn all_left(&self) {
        let count = u32::try_from(self.count).unwrap_or(u32::MAX);
        let _ = self.slots.acquire_many(count).await;
    }
}

impl ConnectionState {
    pub fn note_head(&self) {
        self.head_came.store(true, Ordering::Release);
    }

    /// Lets the answer to a wrong token wait.
    pub async fn pause(&self, wanted: Duration) {
        let pause = if self.kept { wanted.min(LONGEST_KEPT_PAUSE) } else { wanted };
        self.owed_pause_ms.store(u64::try_from(pause.as_millis()).unwrap_or(u64::MAX), Ordering::Release);
        sleep_task(pause).await;
        self.owed_pause_ms.store(0, Ordering::Release);
    }

    /// What is left of a pause that the client did not wait for.
    pub fn owed_pause(&self) -> Duration {
        Duration::from_millis(self.owed_pause_ms.load(Ordering::Acquire))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// H-123 on code: whoever is silent gives way, the oldest first; whoever has asked for something does not.
    #[test]
    fn the_silent_give_way() {
        let mut places = ConnectionPlaces::new(2);
        let (first, second) = (places.claim(false).unwrap(), places.claim(false).unwrap());
        assert!(first.free.is_some() && second.free.is_some());
        first.connection.note_head();
        let third = places.claim(false).unwrap();
        assert!(third.free.is_none() && second.connection.told_to_go.is_cancelled());
        assert!(!first.connection.told_to_go.is_cancelled());
        third.connection.note_head();
        assert!(places.claim(false).is_none());
    }

    #[test]
    fn who_left_is_not_sent_away_again() {
        let mut places = ConnectionPlaces::new(1);
        drop(places.claim(false).unwrap());
        let _second = places.claim(false).unwrap();
        let third = places.claim(false).unwrap();
        assert!(third.free.is_none());
        drop(third);
        assert!(places.claim(false).is_none(), "nobody silent is left");
    }
}
