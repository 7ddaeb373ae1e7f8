//! Time and cancellation: the monotonic clock that every TTL and wait uses, and the cancel flag of a call.
//!
//! A steered clock makes a run deterministic: no thread sleeps, and time passes only when a call waits or a
//! test advances it. Nothing else in the program sleeps or reads the time; a lint enforces that.

#![allow(clippy::disallowed_methods, reason = "the one place that sleeps and reads the time")]

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant, SystemTime};

use time::OffsetDateTime;

use crate::error::{Error, Result};

/// Whole milliseconds, as replies and files have them.
pub fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[derive(Clone, Debug)]
pub struct Clock {
    kind: Arc<ClockKind>,
}

#[derive(Debug)]
enum ClockKind {
    Real { start: Instant },
    Steered { start: SystemTime, now: Mutex<Duration> },
}

impl Clock {
    pub fn real() -> Self {
        Self { kind: Arc::new(ClockKind::Real { start: Instant::now() }) }
    }

    /// Starts at an arbitrary but fixed date, so that two runs print the same times.
    pub fn steered() -> Self {
        let start = SystemTime::UNIX_EPOCH + Duration::from_secs(1_767_225_600);
        Self { kind: Arc::new(ClockKind::Steered { start, now: Mutex::new(Duration::ZERO) }) }
    }

    /// Whether time passes only when somebody waits.
    pub fn is_steered(&self) -> bool {
        matches!(&*self.kind, ClockKind::Steered { .. })
    }

    /// Monotonic time since the clock was made.
    pub fn now(&self) -> Duration {
        match &*self.kind {
            ClockKind::Real { start } => start.elapsed(),
            ClockKind::Steered { now, .. } => *lock(now),
        }
    }

    /// Calendar time, for people's eyes only: never compare it.
    pub fn wall_time(&self) -> SystemTime {
        match &*self.kind {
            ClockKind::Real { .. } => SystemTime::now(),
            ClockKind::Steered { start, now } => *start + *lock(now),
        }
    }

    /// Waits, or fails at once when the call is cancelled.
    pub fn sleep(&self, duration: Duration, cancel: &Cancel) -> Result<()> {
        cancel.check()?;
        match &*self.kind {
            ClockKind::Real { .. } => cancel.wait(duration),
            ClockKind::Steered { .. } => {
                self.advance(duration);
                Ok(())
            }
        }
    }

    /// Waits until the bell has been rung since `heard`, which it tells by `true`, or until the time is
    /// over. Fails at once when the call is cancelled.
    pub fn sleep_unless_rung(
        &self,
        bell: &Bell,
        heard: u64,
        duration: Duration,
        cancel: &Cancel,
    ) -> Result<bool> {
        match &*self.kind {
            ClockKind::Real { .. } => bell.wait(heard, duration, cancel),
            ClockKind::Steered { .. } if bell.rings() != heard => cancel.check().map(|()| true),
            ClockKind::Steered { .. } => self.sleep(duration, cancel).map(|()| bell.rings() != heard),
        }
    }

    /// Moves a steered clock on. A real clock moves by itself.
    pub fn advance(&self, duration: Duration) {
        if let ClockKind::Steered { now, .. } = &*self.kind {
            *lock(now) += duration;
        }
    }
}

/// A count that wakes those who wait for it to move. Clones ring and hear the same bell.
#[derive(Clone, Debug, Default)]
pub struct Bell {
    inner: Arc<BellState>,
}

#[derive(Debug, Default)]
struct BellState {
    rings: Mutex<u64>,
    moved: Condvar,
}

impl Bell {
    pub fn ring(&self) {
        *lock(&self.inner.rings) += 1;
        self.inner.moved.notify_all();
    }

    pub fn rings(&self) -> u64 {
        *lock(&self.inner.rings)
    }

    fn wait(&self, heard: u64, duration: Duration, cancel: &Cancel) -> Result<bool> {
        let _wakes_us = cancel.wake_bell(self);
        let began = Instant::now();
        let mut rings = lock(&self.inner.rings);
        loop {
            cancel.check()?;
            let left = duration.saturating_sub(began.elapsed());
            if *rings != heard || left.is_zero() {
                return Ok(*rings != heard);
            }
            (rings, _) = self.inner.moved.wait_timeout(rings, left).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl BellState {
    /// The lock is taken so that nobody is between looking at the cancel flag and falling asleep.
    fn wake(&self) {
        let _between = lock(&self.rings);
        self.moved.notify_all();
    }
}

/// Says "stop" to one call: the client cancelled it or went away, or the server is shutting down.
#[derive(Clone, Debug, Default)]
pub struct Cancel {
    inner: Arc<CancelState>,
}

#[derive(Debug, Default)]
struct CancelState {
    flag: Mutex<Flag>,
    raised: Condvar,
}

#[derive(Debug, Default)]
struct Flag {
    fired: bool,
    /// What the call waits at just now.
    bells: Vec<Weak<BellState>>,
    /// Parts of the work, which end with it.
    parts: Vec<Weak<CancelState>>,
}

impl Cancel {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn fire(&self) {
        let (bells, parts) = {
            let mut flag = lock(&self.inner.flag);
            flag.fired = true;
            (std::mem::take(&mut flag.bells), std::mem::take(&mut flag.parts))
        };
        self.inner.raised.notify_all();
        // Outside the lock: a waiter holds its bell while it asks for the flag.
        bells.iter().filter_map(Weak::upgrade).for_each(|bell| bell.wake());
        parts.iter().filter_map(Weak::upgrade).for_each(|inner| Cancel { inner }.fire());
    }

    /// For a part of the work: fired with the whole, and by itself without it.
    pub fn for_part(&self) -> Self {
        let part = Self::new();
        let mut flag = lock(&self.inner.flag);
        flag.parts.retain(|part| part.strong_count() > 0);
        flag.parts.push(Arc::downgrade(&part.inner));
        let fired = flag.fired;
        drop(flag);
        if fired {
            part.fire();
        }
        part
    }

    /// Called between the pieces of any long work.
    pub fn check(&self) -> Result<()> {
        if lock(&self.inner.flag).fired { Err(Error::cancelled()) } else { Ok(()) }
    }

    fn wait(&self, duration: Duration) -> Result<()> {
        let flag = lock(&self.inner.flag);
        let (flag, _) = self
            .inner
            .raised
            .wait_timeout_while(flag, duration, |flag| !flag.fired)
            .unwrap_or_else(PoisonError::into_inner);
        if flag.fired { Err(Error::cancelled()) } else { Ok(()) }
    }

    /// While the result lives, firing wakes those who wait at the bell.
    fn wake_bell(&self, bell: &Bell) -> Wakes<'_> {
        let bell = Arc::downgrade(&bell.inner);
        lock(&self.inner.flag).bells.push(bell.clone());
        Wakes { cancel: self, bell }
    }
}

struct Wakes<'a> {
    cancel: &'a Cancel,
    bell: Weak<BellState>,
}

impl Drop for Wakes<'_> {
    fn drop(&mut self) {
        let mut flag = lock(&self.cancel.inner.flag);
        if let Some(place) = flag.bells.iter().position(|bell| bell.ptr_eq(&self.bell)) {
            flag.bells.swap_remove(place);
        }
    }
}

/// Lets this thread sleep in real time: for what waits for a foreign process and has no session's clock.
pub fn sleep_really(duration: Duration) {
    std::thread::sleep(duration);
}

/// Lets a task sleep in real time, for what paces a connection.
pub async fn sleep_task(duration: Duration) {
    tokio::time::sleep(duration).await;
}

/// A panic while a lock was held costs the call that panicked, not everyone after it.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// `2026-11-15T23:50:22.764711+00:00`.
pub fn timestamp(time: SystemTime) -> String {
    let at = OffsetDateTime::from(time);
    format!(
        "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}+00:00",
        at.year(),
        u8::from(at.month()),
        at.day(),
        at.hour(),
        at.minute(),
        at.second(),
        at.microsecond()
    )
}

/// The end of a wait in real time, whatever the clock of the session says: a foreign process is waited for.
#[derive(Clone, Copy, Debug)]
pub struct Deadline {
    began: Instant,
    length: Duration,
}

impl Deadline {
    pub fn after(length: Duration) -> Self {
        Self { began: Instant::now(), length }
    }

    pub fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }

    pub fn left(&self) -> Duration {
        self.length.saturating_sub(self.elapsed())
    }

    pub fn is_over(&self) -> bool {
        self.left().is_zero()
    }
}

/// How soon a cancelled call is noticed.
const SLICE: Duration = Duration::from_millis(10);

/// How long a caller waits at most for text to be read, and its way to take the call back. Real time, whatever the
/// clock of the session says: a foreign program is waited for.
#[derive(Clone, Debug)]
pub struct Waiting {
    deadline: Deadline,
    cancel: Cancel,
}

impl Waiting {
    pub fn new(patience: Duration, cancel: &Cancel) -> Self {
        Self { deadline: Deadline::after(patience), cancel: cancel.clone() }
    }

    /// The next piece of the wait, or the end of it.
    pub fn slice(&self, what: &str) -> Result<Duration> {
        self.cancel.check()?;
        let left = self.deadline.left();
        if left.is_zero() {
            let seconds = self.deadline.length.as_secs_f64();
            return Err(Error::new(
                crate::error::Kind::Timeout,
                format!("OCR timed out after {seconds} s waiting {what}; read a smaller part of the window"),
            )
            .with("phase", "ocr"));
        }
        Ok(left.min(SLICE))
    }

    /// How much of the wait is left, and what takes the call back.
    pub fn left(&self) -> Result<(Duration, Cancel)> {
        self.slice("for its turn")?;
        Ok((self.deadline.left(), self.cancel.clone()))
    }

    /// What a thread sends; `None` when it ended without sending anything.
    pub fn receive<T>(&self, from: &Receiver<T>, what: &str) -> Result<Option<T>> {
        loop {
            match from.recv_timeout(self.slice(what)?) {
                Ok(sent) => return Ok(Some(sent)),
                Err(RecvTimeoutError::Disconnected) => return Ok(None),
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }
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
    fn a_deadline_is_over_when_its_time_has_passed() {
        let minute = Duration::from_secs(60);
        let deadline = Deadline::after(minute);
        assert!(!deadline.is_over() && deadline.left() <= minute);
        assert!(Deadline::after(Duration::ZERO).is_over());
        assert!(!Deadline::after(Duration::MAX).is_over());
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

    #[test]
    fn a_part_is_fired_with_the_whole_and_not_the_other_way_round() {
        let whole = Cancel::new();
        let [first, second] = [whole.for_part(), whole.for_part()];
        first.fire();
        assert!(first.check().is_err() && second.check().is_ok() && whole.check().is_ok());
        whole.fire();
        assert!(second.check().is_err() && whole.for_part().check().is_err());
    }

    /// Waits a minute at a bell on another thread, does something, and hears what came of the wait.
    fn check_wait(disturb: impl FnOnce(&Bell, &Cancel), expected: Result<bool>) {
        let (bell, cancel) = (Bell::default(), Cancel::new());
        let heard = bell.rings();
        let (his_bell, his_cancel) = (bell.clone(), cancel.clone());
        let waiter = std::thread::spawn(move || {
            Clock::real().sleep_unless_rung(&his_bell, heard, Duration::from_secs(60), &his_cancel)
        });
        std::thread::sleep(Duration::from_millis(20));
        let began = Instant::now();
        disturb(&bell, &cancel);
        assert_eq!(waiter.join().unwrap(), expected);
        assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
        assert!(lock(&cancel.inner.flag).bells.is_empty());
    }

    #[test]
    fn a_ring_or_a_cancel_ends_a_wait_at_once() {
        check_wait(|bell, _| bell.ring(), Ok(true));
        check_wait(|_, cancel| cancel.fire(), Err(Error::cancelled()));
    }

    #[test]
    fn a_ring_that_came_before_the_wait_is_not_lost() {
        let bell = Bell::default();
        bell.ring();
        for clock in [Clock::real(), Clock::steered()] {
            let hour = Duration::from_secs(3600);
            assert_eq!(clock.sleep_unless_rung(&bell, 0, hour, &Cancel::new()), Ok(true));
            let blink = Duration::from_millis(1);
            assert_eq!(clock.sleep_unless_rung(&bell, 1, blink, &Cancel::new()), Ok(false));
        }
    }
}
