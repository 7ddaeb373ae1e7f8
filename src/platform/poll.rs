//! Looking again and again until something holds, by the clock of the platform.

use std::time::Duration;

use crate::clock::{Cancel, Clock};
use crate::error::Error;

/// How long and how often something is looked at.
#[derive(Clone, Copy, Debug)]
pub struct Polling {
    pub at_most: Duration,
    /// The first pause between two looks; each is twice as long as the one before.
    pub first_pause: Duration,
    pub longest_pause: Duration,
}

impl Polling {
    /// With the same pause between all looks.
    pub const fn every(pause: Duration, at_most: Duration) -> Self {
        Self { at_most, first_pause: pause, longest_pause: pause }
    }
}

/// What `look` finds; `None` when the time is over. It looks at least once, and once more at the end, because looks may be
/// slow.
pub fn poll_until<T, E: From<Error>>(
    clock: &Clock,
    cancel: &Cancel,
    polling: Polling,
    mut look: impl FnMut() -> Result<Option<T>, E>,
) -> Result<Option<T>, E> {
    let end = clock.now() + polling.at_most;
    let mut pause = polling.first_pause;
    loop {
        let is_last = clock.now() >= end;
        if let Some(found) = look()? {
            return Ok(Some(found));
        }
        if is_last {
            return Ok(None);
        }
        clock.sleep(pause.min(end.saturating_sub(clock.now())), cancel)?;
        pause = (pause * 2).min(polling.longest_pause);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(polling: Polling, found_at: u64, expected: Option<u64>) {
        let clock = Clock::steered();
        let look = || {
            let now = clock.now().as_millis() as u64;
            Ok::<_, Error>((now >= found_at).then_some(now))
        };
        assert_eq!(poll_until(&clock, &Cancel::new(), polling, look).unwrap(), expected);
    }

    #[test]
    fn looks_until_it_is_found_and_once_more_at_the_end() {
        let millis = Duration::from_millis;
        let steady = Polling::every(millis(15), millis(100));
        check(steady, 0, Some(0));
        check(steady, 31, Some(45));
        check(steady, 100, Some(100));
        check(steady, 101, None);
        let growing = Polling { at_most: millis(100), first_pause: millis(1), longest_pause: millis(10) };
        check(growing, 6, Some(7));
        check(growing, 18, Some(25));
        check(Polling::every(millis(15), Duration::ZERO), 1, None);
    }

    #[test]
    fn a_cancelled_call_stops_looking() {
        let cancel = Cancel::new();
        cancel.fire();
        let polling = Polling::every(Duration::from_millis(15), Duration::from_secs(60));
        let found = poll_until(&Clock::real(), &cancel, polling, || Ok::<Option<()>, Error>(None));
        assert!(found.is_err());
    }
}
