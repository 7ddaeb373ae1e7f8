//! Applications that did not answer: for a while they get one short question instead of a whole look, so that a program
//! that hangs costs the others little. An answer ends it.

use std::collections::HashMap;
use std::time::{Duration, Instant};

/// For so long an application that was silent is asked shortly.
const QUARANTINE: Duration = Duration::from_secs(30);
/// What an application may take to tell of its windows.
pub const WINDOW_TIME: Duration = Duration::from_millis(500);
const SHORT_QUESTION: Duration = Duration::from_millis(100);

#[derive(Debug, Default)]
pub struct Quarantine {
    until: HashMap<i32, Instant>,
}

impl Quarantine {
    /// How long to wait for an answer of this application.
    pub fn time_for(&mut self, pid: i32, now: Instant) -> Duration {
        self.until.retain(|_, until| *until > now);
        if self.until.contains_key(&pid) { SHORT_QUESTION } else { WINDOW_TIME }
    }

    pub fn answered(&mut self, pid: i32) {
        self.until.remove(&pid);
    }

    pub fn was_silent(&mut self, pid: i32, now: Instant) {
        self.until.insert(pid, now + QUARANTINE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_is_silent_is_asked_shortly_for_a_while() {
        let (mut quarantine, now) = (Quarantine::default(), Instant::now());
        assert_eq!(quarantine.time_for(7, now), WINDOW_TIME);
        quarantine.was_silent(7, now);
        let soon = now + Duration::from_secs(29);
        assert_eq!(
            (quarantine.time_for(7, soon), quarantine.time_for(8, soon)),
            (SHORT_QUESTION, WINDOW_TIME)
        );
        let later = now + Duration::from_secs(31);
        assert_eq!(quarantine.time_for(7, later), WINDOW_TIME);
        assert!(quarantine.until.is_empty(), "what is over is forgotten");
    }

    #[test]
    fn an_answer_ends_it() {
        let (mut quarantine, now) = (Quarantine::default(), Instant::now());
        quarantine.was_silent(7, now);
        quarantine.answered(7);
        assert_eq!(quarantine.time_for(7, now), WINDOW_TIME);
    }
}
