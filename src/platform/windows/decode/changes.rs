//! Which Windows events mean a visible change, and ringing once for many of them: every process sends them,
//! and a window that is dragged sends one for each pixel.

use std::time::Duration;

use crate::clock::Clock;

/// What comes within this time is one change.
const TOGETHER: Duration = Duration::from_millis(15);

const LOCATION: u32 = 0x800b;
const NAME: u32 = 0x800c;
const DESCRIPTION: u32 = 0x800d;
/// The object of an event: the window itself.
const WINDOW: i32 = 0;
const CARET: i32 = -8;
const CURSOR: i32 = -9;

/// The text cursor blinks and the pointer moves without anything being different. Places and names of what is in a
/// window are told by the thousand, and those who watch its elements hear of them otherwise.
pub const fn counts(event: u32, object: i32) -> bool {
    match (event, object) {
        (_, CARET | CURSOR) => false,
        (LOCATION | NAME | DESCRIPTION, object) => object == WINDOW,
        _ => true,
    }
}

/// Events that were heard and not yet told.
#[derive(Debug)]
pub struct Pending {
    clock: Clock,
    since: Option<Duration>,
}

impl Pending {
    pub const fn new(clock: Clock) -> Self {
        Self { clock, since: None }
    }

    pub fn heard(&mut self) {
        self.since.get_or_insert_with(|| self.clock.now());
    }

    /// How long until it is to be told; nothing if nothing was heard.
    pub fn due_in(&self) -> Option<Duration> {
        self.since.map(|since| (since + TOGETHER).saturating_sub(self.clock.now()))
    }

    /// Whether it is to be told now; it is told once.
    pub fn take(&mut self) -> bool {
        let due = self.due_in().is_some_and(|left| left.is_zero());
        if due {
            self.since = None;
        }
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_sees_does_not_count() {
        let check =
            |event, object, expected| assert_eq!(counts(event, object), expected, "{event:#x} {object}");
        check(0x8000, WINDOW, true);
        check(0x800b, WINDOW, true);
        check(0x800b, CARET, false);
        check(0x800b, CURSOR, false);
        check(0x800b, -4, false);
        check(0x800c, WINDOW, true);
        check(0x800c, -4, false);
        check(0x800e, -4, true);
        check(0x0003, WINDOW, true);
    }

    #[test]
    fn many_events_are_told_once_and_none_is_lost() {
        let clock = Clock::steered();
        let pass = |time: u64| clock.advance(Duration::from_millis(time));
        let mut pending = Pending::new(clock.clone());
        assert_eq!((pending.due_in(), pending.take()), (None, false));
        for _ in 0..10 {
            pending.heard();
            pass(1);
        }
        assert_eq!(pending.due_in(), Some(Duration::from_millis(5)));
        pass(4);
        assert!(!pending.take());
        pass(1);
        assert_eq!((pending.take(), pending.take()), (true, false));
        pending.heard();
        pass(15);
        assert!(pending.take());
    }
}
