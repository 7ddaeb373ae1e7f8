//! The time that a job has worked: without that of people, and with that of its earlier attempts. Every thread of the job
//! may ask, so its end is noticed wherever the job is.

use std::sync::Mutex;
use std::time::Duration;

use crate::clock::{Clock, lock};

#[derive(Debug)]
pub struct JobWatch {
    clock: Clock,
    state: Mutex<WatchState>,
}

#[derive(Debug)]
struct WatchState {
    /// What earlier attempts have worked.
    before: Duration,
    limit: Duration,
    started: Duration,
    /// What people took.
    people: Duration,
    /// How many wait for a person just now, and since when.
    waiting: u32,
    waiting_since: Duration,
}

impl JobWatch {
    pub fn start(clock: Clock, before: Duration, limit: Duration) -> Self {
        let started = clock.now();
        let state = WatchState {
            before,
            limit,
            started,
            people: Duration::ZERO,
            waiting: 0,
            waiting_since: Duration::ZERO,
        };
        Self { clock, state: Mutex::new(state) }
    }

    /// From here on a person's time runs.
    pub fn begin_waiting(&self) {
        let mut state = lock(&self.state);
        if state.waiting == 0 {
            state.waiting_since = self.clock.now();
        }
        state.waiting += 1;
    }

    /// The person has answered: the job's own time runs again.
    pub fn end_waiting(&self) {
        let mut state = lock(&self.state);
        let was_waiting = state.waiting > 0;
        state.waiting = state.waiting.saturating_sub(1);
        if was_waiting && state.waiting == 0 {
            let waited = self.clock.now().saturating_sub(state.waiting_since);
            state.people += waited;
        }
    }

    pub fn worked(&self) -> Duration {
        let state = lock(&self.state);
        let until = if state.waiting > 0 { state.waiting_since } else { self.clock.now() };
        state.before + until.saturating_sub(state.started).saturating_sub(state.people)
    }

    pub fn set_limit(&self, limit: Duration) {
        lock(&self.state).limit = limit;
    }

    pub fn time_left(&self) -> Duration {
        let limit = lock(&self.state).limit;
        limit.saturating_sub(self.worked())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn the_time_of_people_does_not_count_and_that_of_earlier_attempts_does() {
        let clock = Clock::steered();
        let watch = JobWatch::start(clock.clone(), SECOND, 5 * SECOND);
        clock.advance(SECOND);
        assert_eq!((watch.worked(), watch.time_left()), (2 * SECOND, 3 * SECOND));
        watch.begin_waiting();
        watch.begin_waiting();
        clock.advance(60 * SECOND);
        assert_eq!(watch.worked(), 2 * SECOND);
        watch.end_waiting();
        clock.advance(60 * SECOND);
        watch.end_waiting();
        clock.advance(SECOND);
        assert_eq!((watch.worked(), watch.time_left()), (3 * SECOND, 2 * SECOND));
        clock.advance(9 * SECOND);
        assert!(watch.time_left().is_zero());
        watch.set_limit(20 * SECOND);
        assert_eq!(watch.time_left(), 8 * SECOND);
    }
}
