//! Wrong secrets and tokens cost time: after a few of them a pause, which grows with each further one.
//!
//! Nothing is counted for each caller: who guesses can call from anywhere.

use std::sync::Mutex;
use std::time::Duration;

use crate::clock::lock;

/// Mistakes that cost nothing.
const FREE: u32 = 5;
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(10);
/// After so long without a mistake everything is forgotten.
const FORGOTTEN_AFTER: Duration = Duration::from_secs(120);

#[derive(Debug)]
pub struct Guesses {
    /// What is guessed, for the log.
    what: &'static str,
    wrong: Mutex<WrongGuesses>,
}

#[derive(Debug, Default)]
struct WrongGuesses {
    count: u32,
    last: Duration,
    /// Nothing more is compared before this.
    locked_until: Duration,
}

impl Guesses {
    pub const fn new(what: &'static str) -> Self {
        let wrong = WrongGuesses { count: 0, last: Duration::ZERO, locked_until: Duration::ZERO };
        Self { what, wrong: Mutex::new(wrong) }
    }

    /// Counts a wrong one, and tells the pause that it costs.
    pub fn note_wrong(&self, now: Duration) -> Duration {
        let mut wrong = lock(&self.wrong);
        if now.saturating_sub(wrong.last) > FORGOTTEN_AFTER {
            wrong.count = 0;
        }
        wrong.count = wrong.count.saturating_add(1);
        wrong.last = now;
        let pause = pause_after(wrong.count);
        wrong.locked_until = now + pause;
        // Not every one: who guesses must not fill the log.
        if wrong.count > FREE && (wrong.count == FREE + 1 || wrong.count.is_power_of_two()) {
            tracing::warn!("{} wrong tries of {}; each costs {pause:?} now", wrong.count, self.what);
        }
        pause
    }

    /// How long nothing is compared, because of the wrong ones before.
    pub fn locked_for(&self, now: Duration) -> Option<Duration> {
        let left = lock(&self.wrong).locked_until.saturating_sub(now);
        (!left.is_zero()).then_some(left)
    }
}

/// Twice as long each time, up to the longest.
fn pause_after(count: u32) -> Duration {
    let Some(doublings) = count.checked_sub(FREE + 1) else {
        return Duration::ZERO;
    };
    FIRST_PAUSE.saturating_mul(1 << doublings.min(16)).min(LONGEST_PAUSE)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Duration = Duration::from_secs(1000);

    /// H-70 on code: a few mistakes are free, then each costs twice as much as the one before.
    #[test]
    fn pauses_grow() {
        let guesses = Guesses::new("a secret");
        let pauses: Vec<u128> = (0..15).map(|_| guesses.note_wrong(NOW).as_millis()).collect();
        assert_eq!(pauses, [0, 0, 0, 0, 0, 100, 200, 400, 800, 1600, 3200, 6400, 10_000, 10_000, 10_000]);
        assert_eq!(guesses.locked_for(NOW), Some(LONGEST_PAUSE));
        assert_eq!(guesses.locked_for(NOW + LONGEST_PAUSE), None);
    }

    #[test]
    fn mistakes_are_forgotten() {
        let guesses = Guesses::new("a secret");
        (0..9).for_each(|_| {
            guesses.note_wrong(NOW);
        });
        assert!(guesses.note_wrong(NOW + FORGOTTEN_AFTER).as_millis() > 0);
        assert_eq!(guesses.note_wrong(NOW + FORGOTTEN_AFTER * 3), Duration::ZERO);
    }
}
