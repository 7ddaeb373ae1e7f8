//! Time, and giving up: the monotonic clock that every TTL and wait uses, and the cancel flag of a call.
//!
//! A steered clock makes a run deterministic: nobody sleeps, and time passes only when somebody waits
//! or a test moves it on. Nothing else in the program sleeps or reads the time.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use crate::error::{Error, Result};

#[derive(Clone, Debug)]
pub struct Clock {
    kind: Arc<Kind>,
}

#[derive(Debug)]
enum Kind {
    Real { start: Instant },
    Steered { start: SystemTime, now: Mutex<Duration> },
}

impl Clock {
    pub fn real() -> Self {
        Self { kind: Arc::new(Kind::Real { start: Instant::now() }) }
    }

    /// Starts at an arbitrary but fixed date, so that two runs print the same times.
    pub fn steered() -> Self {
        let start = SystemTime::UNIX_EPOCH + Duration::from_secs(1_767_225_600);
        Self { kind: Arc::new(Kind::Steered { start, now: Mutex::new(Duration::ZERO) }) }
    }

    /// Monotonic time since the clock was made.
    pub fn now(&self) -> Duration {
        match &*self.kind {
            Kind::Real { start } => start.elapsed(),
            Kind::Steered { now, .. } => *lock(now),
        }
    }

    /// Calendar time, for people's eyes only: never compare it.
    pub fn wall(&self) -> SystemTime {
        match &*self.kind {
            Kind::Real { .. } => SystemTime::now(),
            Kind::Steered { start, now } => *start + *lock(now),
        }
    }

    /// Waits, or fails at once when the call is cancelled.
    pub fn sleep(&self, duration: Duration, cancel: &Cancel) -> Result<()> {
        cancel.check()?;
        match &*self.kind {
            Kind::Real { .. } => cancel.wait(duration),
            Kind::Steered { .. } => {
                self.advance(duration);
                Ok(())
            }
        }
    }

    /// Moves a steered clock on. A real clock moves by itself.
    pub fn advance(&self, duration: Duration) {
        if let Kind::Steered { now, .. } = &*self.kind {
            *lock(now) += duration;
        }
    }
}

/// Says "stop" to one call: the client cancelled it or went away, or the server is shutting down.
#[derive(Clone, Debug, Default)]
pub struct Cancel {
    state: Arc<(Mutex<bool>, Condvar)>,
}

impl Cancel {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn fire(&self) {
        *lock(&self.state.0) = true;
        self.state.1.notify_all();
    }

    /// Called between the pieces of any long work.
    pub fn check(&self) -> Result<()> {
        if *lock(&self.state.0) { Err(Error::cancelled()) } else { Ok(()) }
    }

    fn wait(&self, duration: Duration) -> Result<()> {
        let fired = lock(&self.state.0);
        let (fired, _) = self
            .state
            .1
            .wait_timeout_while(fired, duration, |fired| !*fired)
            .unwrap_or_else(PoisonError::into_inner);
        if *fired { Err(Error::cancelled()) } else { Ok(()) }
    }
}

/// A panic while a lock was held costs the call that panicked, not everyone after it.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_steered_clock_moves_only_by_waiting() {
        let clock = Clock::steered();
        assert_eq!(clock.now(), Duration::ZERO);
        clock.sleep(Duration::from_secs(3600), &Cancel::new()).unwrap();
        assert_eq!(clock.now(), Duration::from_secs(3600));
    }

    #[test]
    fn cancel_ends_a_sleep_early() {
        let clock = Clock::real();
        let cancel = Cancel::new();
        let other = cancel.clone();
        let sleeper = std::thread::spawn(move || clock.sleep(Duration::from_secs(60), &cancel));
        other.fire();
        assert_eq!(sleeper.join().unwrap(), Err(Error::cancelled()));
    }
}
