//! Applications that did not answer: for a while they get one short question instead of a whole look, so that a program
//! that hangs costs the others little. An answer ends it.

use std::collections::HashMap;
use std::time::Duration;

use crate::clock::Clock;

/// For so long an application that was silent is asked shortly.
const QUARANTINE: Duration = Duration::from_secs(30);
/// What an application may take to tell of its windows.
pub const WINDOW_TIME: Duration = Duration::from_millis(500);
const SHORT_QUESTION: Duration = Duration::from_millis(100);

#[derive(Debug)]
pub struct Quarantine {
    clock: Clock,
    until: HashMap<i32, Duration>,
}

impl Quarantine {
    pub fn new(clock: Clock) -> Self {
        Self { clock, until: HashMap::new() }
    }

    /// How long to wait for an answer of this application.
    pub fn time_for(&mut self, pid: i32) -> Duration {
        let now = self.clock.now();
        self.until.retain(|_, until| *until > now);
        if self.until.contains_key(&pid) { SHORT_QUESTION } else { WINDOW_TIME }
    }

    pub fn answered(&mut self, pid: i32) {
        self.until.remove(&pid);
    }

    pub fn was_silent(&mut self, pid: i32) {
        self.until.insert(pid, self.clock.now() + QUARANTINE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_is_silent_is_asked_shortly_for_a_while() {
        let clock = Clock::steered();
        let mut quarantine = Quarantine::new(clock.clone());
        assert_eq!(quarantine.time_for(7), WINDOW_TIME);
        quarantine.was_silent(7);
        clock.advance(Duration::from_secs(29));
        assert_eq!((quarantine.time_for(7), quarantine.time_for(8)), (SHORT_QUESTION, WINDOW_TIME));
        clock.advance(Duration::from_secs(2));
        assert_eq!(quarantine.time_for(7), WINDOW_TIME);
        assert!(quarantine.until.is_empty(), "what is over is forgotten");
    }

    #[test]
    fn an_answer_ends_it() {
        let mut quarantine = Quarantine::new(Clock::steered());
        quarantine.was_silent(7);
        quarantine.answered(7);
        assert_eq!(quarantine.time_for(7), WINDOW_TIME);
    }
}
