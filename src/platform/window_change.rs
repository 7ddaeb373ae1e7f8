//! Changing a window as a whole, the same on every system: request the change, look until it is reached, or say why not.
//! An adapter brings the two questions [`ChangingWindow::request_change`] and [`ChangingWindow::window_state`].

use std::cell::Cell;
use std::time::Duration;

use super::poll::{Polling, poll_until};
use crate::clock::{Bell, Cancel, Clock};
use crate::error::Error;
use crate::model::window::{Reached, WindowChange, WindowState};
use crate::model::{Point, Rect};

/// One window that is being changed.
pub trait ChangingWindow {
    type Error: From<Error>;

    /// Asks the system for the change. What the system refuses at once is the answer; what comes of the rest is seen.
    fn request_change(&self, change: &WindowChange) -> Result<Option<String>, Self::Error>;

    /// How the window is now, or `None` when it is gone.
    fn window_state(&self) -> Result<Option<ObservedWindow>, Self::Error>;

    /// Whether the program shows another window since the request, as one does that asks whether to save.
    fn asks_back(&self) -> Result<bool, Self::Error>;

    /// The sentences of this system for changes that did not come.
    fn reasons(&self) -> &Reasons;
}

/// A window as it is seen while it is being changed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ObservedWindow {
    pub state: WindowState,
    /// Before all others that show.
    pub is_front: bool,
}

/// Why a change was not reached, as far as a system knows.
#[derive(Clone, Copy, Debug)]
pub struct Reasons {
    pub raise: &'static str,
    pub show: &'static str,
    pub maximize: &'static str,
    pub place: &'static str,
}

impl Reasons {
    pub fn why_not_reached(&self, change: &WindowChange, waited: Duration) -> String {
        let why = match change {
            WindowChange::Raise => self.raise,
            WindowChange::Restore | WindowChange::Minimize => self.show,
            WindowChange::Maximize => self.maximize,
            WindowChange::Move(_) | WindowChange::Resize { .. } => self.place,
            WindowChange::Close => "the window is still open; it may be asking whether to save, or be busy",
        };
        format!("{why} (waited {} ms)", waited.as_millis())
    }
}

/// The time of one change, and how the wait for it sleeps.
pub struct ChangeWait<'a> {
    pub clock: &'a Clock,
    pub cancel: &'a Cancel,
    /// Rung when something changed; a change that is not told is seen after `look_again`.
    bell: Option<(&'a Bell, Cell<u64>)>,
    look_again: Duration,
    pub at_most: Duration,
    end: Duration,
}

impl<'a> ChangeWait<'a> {
    /// The time begins now.
    pub fn new(clock: &'a Clock, cancel: &'a Cancel, look_again: Duration, at_most: Duration) -> Self {
        Self { clock, cancel, bell: None, look_again, at_most, end: clock.now() + at_most }
    }

    /// Looks again as soon as the bell rings.
    pub fn hearing(self, bell: &'a Bell) -> Self {
        Self { bell: Some((bell, Cell::new(bell.rings()))), ..self }
    }

    pub fn is_over(&self) -> bool {
        self.clock.now() >= self.end
    }

    /// Sleeps until it is time to look again.
    pub fn pause(&self) -> Result<(), Error> {
        let time = self.look_again.min(self.end.saturating_sub(self.clock.now()));
        let Some((bell, heard)) = &self.bell else {
            return self.clock.sleep(time, self.cancel);
        };
        self.clock.sleep_unless_rung(bell, heard.get(), time, self.cancel)?;
        heard.set(bell.rings());
        Ok(())
    }
}

const ASKS_BACK: &str = "the window is still open: its program shows another one, which may be a question";

/// Asks for the change and waits until it is seen, or until the time is over. `wanted` is where the window should be.
pub fn change_window<W: ChangingWindow>(
    window: &W,
    before: &WindowState,
    wanted: Rect,
    change: &WindowChange,
    wait: &ChangeWait<'_>,
) -> Result<Reached, W::Error> {
    let refused = window.request_change(change)?;
    loop {
        let now = window.window_state()?;
        if is_reached(change, before, now.as_ref(), wanted) {
            return Ok(Reached { done: true, state: now.map(|now| now.state), note: None });
        }
        if *change == WindowChange::Close && window.asks_back()? {
            let note = Some(ASKS_BACK.to_owned());
            return Ok(Reached { done: false, state: now.map(|now| now.state), note });
        }
        if wait.is_over() || refused.is_some() {
            let note = refused.unwrap_or_else(|| window.reasons().why_not_reached(change, wait.at_most));
            return Ok(Reached { done: false, state: now.map(|now| now.state), note: Some(note) });
        }
        wait.pause()?;
    }
}

/// The state once it has not changed for a moment: window managers say that a window is maximized before it has its new
/// size. After the time of the polling it is told as it is.
pub fn steady_state<W: ChangingWindow>(
    window: &W,
    first: Option<WindowState>,
    wait: &ChangeWait<'_>,
    polling: Polling,
) -> Result<Option<WindowState>, W::Error> {
    let Some(first) = first else { return Ok(None) };
    wait.clock.sleep(polling.first_pause, wait.cancel)?;
    let mut last = Some(first);
    poll_until(wait.clock, wait.cancel, polling, || {
        let now = window.window_state()?.map(|now| now.state);
        let is_steady = now == last;
        last = now;
        Ok::<_, W::Error>(is_steady.then_some(()))
    })?;
    Ok(last)
}

/// Where the window should be after the change. No coordinate goes beyond what the system can say.
pub fn wanted_bounds(now: Rect, change: &WindowChange, farthest: i32) -> Rect {
    let place = |number: i32| number.clamp(-farthest, farthest);
    match *change {
        WindowChange::Move(Point { x, y }) => Rect { x: place(x), y: place(y), ..now },
        WindowChange::Resize { width, height } => Rect { width: place(width), height: place(height), ..now },
        _ => now,
    }
}

/// Whether the window is now as was asked; `before` is how it was then.
pub fn is_reached(
    change: &WindowChange,
    before: &WindowState,
    now: Option<&ObservedWindow>,
    wanted: Rect,
) -> bool {
    let Some(ObservedWindow { state: now, is_front }) = now else {
        return matches!(change, WindowChange::Close);
    };
    match change {
        WindowChange::Raise => *is_front && !now.minimized,
        WindowChange::Restore if before.minimized => !now.minimized,
        WindowChange::Restore => !now.maximized,
        WindowChange::Minimize => now.minimized,
        WindowChange::Maximize => now.maximized && !now.minimized,
        WindowChange::Move(_) => (now.bounds.x, now.bounds.y) == (wanted.x, wanted.y),
        WindowChange::Resize { .. } => (now.bounds.width, now.bounds.height) == (wanted.width, wanted.height),
        WindowChange::Close => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOUNDS: Rect = Rect { x: 10, y: 10, width: 100, height: 100 };
    const BEFORE: WindowState =
        WindowState { bounds: BOUNDS, focused: false, minimized: false, maximized: false };
    const REASONS: Reasons =
        Reasons { raise: "no raise", show: "no show", maximize: "no size", place: "no place" };

    #[track_caller]
    fn check_reached(change: WindowChange, edit: impl Fn(&mut ObservedWindow), expected: bool) {
        let mut now = ObservedWindow { state: BEFORE, is_front: false };
        edit(&mut now);
        let wanted = wanted_bounds(BOUNDS, &change, 20_000);
        assert_eq!(is_reached(&change, &BEFORE, Some(&now), wanted), expected, "{change:?}");
    }

    #[test]
    fn a_change_is_reached_when_it_is_seen() {
        check_reached(WindowChange::Minimize, |_| {}, false);
        check_reached(WindowChange::Minimize, |now| now.state.minimized = true, true);
        check_reached(WindowChange::Maximize, |now| now.state.maximized = true, true);
        check_reached(WindowChange::Move(Point { x: 5, y: 10 }), |_| {}, false);
        check_reached(WindowChange::Move(Point { x: 5, y: 10 }), |now| now.state.bounds.x = 5, true);
        check_reached(
            WindowChange::Move(Point { x: 1 << 30, y: 10 }),
            |now| now.state.bounds.x = 20_000,
            true,
        );
        let wider = WindowChange::Resize { width: 120, height: 100 };
        check_reached(wider, |now| now.state.bounds.width = 119, false);
        check_reached(wider, |now| now.state.bounds.width = 120, true);
        check_reached(WindowChange::Raise, |_| {}, false);
        check_reached(WindowChange::Raise, |now| now.is_front = true, true);
        check_reached(
            WindowChange::Maximize,
            |now| (now.state.maximized, now.state.minimized) = (true, true),
            false,
        );
        check_reached(WindowChange::Close, |_| {}, false);
        assert!(is_reached(&WindowChange::Close, &BEFORE, None, BOUNDS));
        assert!(!is_reached(&WindowChange::Raise, &BEFORE, None, BOUNDS));
    }

    #[test]
    fn a_minimized_window_is_restored_first_and_then_a_maximized_one() {
        let with = |minimized, maximized| WindowState { minimized, maximized, ..BEFORE };
        let check = |before: WindowState, now: WindowState, expected| {
            let now = ObservedWindow { state: now, is_front: false };
            assert_eq!(is_reached(&WindowChange::Restore, &before, Some(&now), BOUNDS), expected, "{now:?}");
        };
        check(with(true, false), with(false, false), true);
        check(with(true, true), with(false, true), true);
        check(with(true, false), with(true, false), false);
        check(with(false, true), with(false, true), false);
        check(with(false, true), with(false, false), true);
    }

    /// Does what is asked after some looks, or never.
    struct Late {
        looks: Cell<u32>,
        obeys_after: u32,
        refuses: Option<&'static str>,
    }

    impl ChangingWindow for Late {
        type Error = Error;

        fn request_change(&self, _: &WindowChange) -> Result<Option<String>, Error> {
            Ok(self.refuses.map(str::to_owned))
        }

        fn window_state(&self) -> Result<Option<ObservedWindow>, Error> {
            self.looks.set(self.looks.get() + 1);
            let minimized = self.looks.get() > self.obeys_after;
            Ok(Some(ObservedWindow { state: WindowState { minimized, ..BEFORE }, is_front: false }))
        }

        fn asks_back(&self) -> Result<bool, Error> {
            Ok(self.looks.get() > 2)
        }

        fn reasons(&self) -> &Reasons {
            &REASONS
        }
    }

    #[test]
    fn a_question_ends_the_wait_for_a_window_to_close() {
        let (clock, cancel) = (Clock::steered(), Cancel::new());
        let window = Late { looks: Cell::new(0), obeys_after: 99, refuses: None };
        let wait = ChangeWait::new(&clock, &cancel, Duration::from_millis(100), Duration::from_secs(1));
        let reached = change_window(&window, &BEFORE, BOUNDS, &WindowChange::Close, &wait).unwrap();
        assert_eq!((reached.done, reached.note.as_deref()), (false, Some(ASKS_BACK)));
        assert_eq!(clock.now(), Duration::from_millis(200));
    }

    #[track_caller]
    fn check_change(obeys_after: u32, refuses: Option<&'static str>, note: Option<&str>, elapsed: u64) {
        let (clock, cancel) = (Clock::steered(), Cancel::new());
        let window = Late { looks: Cell::new(0), obeys_after, refuses };
        let (again, at_most) = (Duration::from_millis(100), Duration::from_secs(1));
        let wait = ChangeWait::new(&clock, &cancel, again, at_most);
        let reached = change_window(&window, &BEFORE, BOUNDS, &WindowChange::Minimize, &wait).unwrap();
        assert_eq!((reached.done, reached.note.as_deref()), (note.is_none(), note));
        assert_eq!(clock.now(), Duration::from_millis(elapsed));
    }

    #[test]
    fn a_change_is_waited_for_and_a_refusal_is_not() {
        check_change(0, None, None, 0);
        check_change(3, None, None, 300);
        check_change(99, None, Some("no show (waited 1000 ms)"), 1000);
        check_change(99, Some("not now"), Some("not now"), 0);
    }

    #[test]
    fn a_state_is_told_once_it_is_steady() {
        let (clock, cancel) = (Clock::steered(), Cancel::new());
        let window = Late { looks: Cell::new(0), obeys_after: 1, refuses: None };
        let wait = ChangeWait::new(&clock, &cancel, Duration::ZERO, Duration::ZERO);
        let polling = Polling::every(Duration::from_millis(25), Duration::from_secs(2));
        let state = steady_state(&window, Some(BEFORE), &wait, polling).unwrap();
        assert_eq!(state.map(|state| state.minimized), Some(false));
        let state = steady_state(&window, state, &wait, polling).unwrap();
        assert_eq!(state.map(|state| state.minimized), Some(true));
        assert!(steady_state(&window, None, &wait, polling).unwrap().is_none());
    }
}
