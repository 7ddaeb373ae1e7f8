//! Pointer and keys, as what a person's hand would do: which events, in which order, with what held.
//!
//! Everything that is pressed is written down before and released whatever happens: when the call ends, is cancelled or
//! fails. Events carry the modifiers that we hold, so that a key that a person holds down does not change their meaning.

use std::ops::RangeInclusive;
use std::sync::Mutex;
use std::time::Duration;

use super::keys::{self, Layout, TypedPiece};
use crate::clock::{Cancel, lock};
use crate::error::Result;
use crate::model::input::{Button, Key, Modifier};
use crate::model::{KeyCombo, Point};
use crate::platform::interaction::{Drag, point_between};

const BETWEEN_CLICKS: Duration = Duration::from_millis(60);
/// A drag makes at least so many steps: some applications ignore a pointer that jumps.
const DRAG_STEPS: u32 = 12;
const DRAG_REST: Duration = Duration::from_millis(80);
/// A step of the wheel, in lines.
const WHEEL_LINES: i32 = 3;

/// What is sent to the system at once, with the modifiers that are held meanwhile.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    pub what: What,
    pub held: Vec<Modifier>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum What {
    Key {
        code: u16,
        down: bool,
    },
    /// A key without a place on the keyboard, which carries its text with it.
    Text {
        text: String,
        down: bool,
    },
    Move {
        at: Point,
        dragging: bool,
    },
    /// The second press of a double click says that it is the second.
    Button {
        button: Button,
        down: bool,
        at: Point,
        number: u32,
    },
    Wheel {
        lines: i32,
    },
}

/// Whoever takes the events.
pub trait Device {
    fn post(&self, event: &Event) -> Result<()>;

    /// The keyboard layout that is in use; an empty one where it cannot be asked for.
    fn layout(&self) -> Layout;

    /// Waits; fails when the call is cancelled.
    fn pause(&self, time: Duration, cancel: &Cancel) -> Result<()>;
}

/// What this process holds down.
#[derive(Debug)]
pub struct Hands<D> {
    device: D,
    held: Mutex<Vec<Held>>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Held {
    Key(u16),
    Modifier(Modifier),
    Button(Button, Point),
}

impl<D: Device> Hands<D> {
    pub fn new(device: D) -> Self {
        Self { device, held: Mutex::default() }
    }

    /// Clicks with these numbers among several: the system takes a number above 1 for a double click.
    pub fn click(
        &self,
        at: Point,
        button: Button,
        numbers: RangeInclusive<u32>,
        held: &[Modifier],
        cancel: &Cancel,
    ) -> Result<()> {
        self.calmly(|| {
            held.iter().try_for_each(|modifier| self.press_modifier(*modifier))?;
            self.go(at, false)?;
            let first = *numbers.start();
            for number in numbers {
                if number > first {
                    self.device.pause(BETWEEN_CLICKS, cancel)?;
                }
                self.hold(Held::Button(button, at));
                self.post(What::Button { button, down: true, at, number })?;
                self.post(What::Button { button, down: false, at, number })?;
                self.forget(Held::Button(button, at));
            }
            Ok(())
        })
    }

    pub fn move_to(&self, at: Point) -> Result<()> {
        self.calmly(|| self.go(at, false))
    }

    /// Positive clicks show what is further up.
    pub fn scroll(&self, at: Option<Point>, clicks: i32) -> Result<()> {
        self.calmly(|| {
            if let Some(at) = at {
                self.go(at, false)?;
            }
            let lines = WHEEL_LINES * clicks.signum();
            (0..clicks.unsigned_abs()).try_for_each(|_| self.post(What::Wheel { lines }))
        })
    }

    pub fn drag(&self, drag: &Drag<'_>, cancel: &Cancel) -> Result<()> {
        let (button, from) = (Button::Left, drag.from);
        self.calmly(|| {
            drag.modifiers.iter().try_for_each(|modifier| self.press_modifier(*modifier))?;
            self.go(from, false)?;
            self.device.pause(DRAG_REST, cancel)?;
            self.hold(Held::Button(button, from));
            self.post(What::Button { button, down: true, at: from, number: 1 })?;
            let arrived = self.follow(drag, cancel);
            // What is dropped where it came from stays there.
            let end = if arrived.is_ok() { drag.to } else { from };
            self.go(end, true)?;
            self.post(What::Button { button, down: false, at: end, number: 1 })?;
            self.forget(Held::Button(button, from));
            arrived
        })
    }

    fn follow(&self, drag: &Drag<'_>, cancel: &Cancel) -> Result<()> {
        self.device.pause(DRAG_REST, cancel)?;
        let frames = u32::try_from(drag.duration.as_millis() / 16).unwrap_or(u32::MAX);
        let steps = frames.clamp(DRAG_STEPS, 1_000);
        for step in 1..=steps {
            self.go(point_between(drag.from, drag.to, step, steps), true)?;
            self.device.pause(drag.duration / steps, cancel)?;
        }
        self.device.pause(DRAG_REST, cancel)?;
        (drag.before_release)()
    }

    pub fn keys(&self, combo: &KeyCombo) -> Result<()> {
        let place = keys::place(combo, || self.device.layout())?;
        self.calmly(|| {
            combo.modifiers.iter().try_for_each(|modifier| self.press_modifier(*modifier))?;
            if place.shift && !combo.modifiers.contains(&Modifier::Shift) {
                self.press_modifier(Modifier::Shift)?;
            }
            match combo.key {
                Key::Modifier(modifier) => self.press_modifier(modifier),
                Key::Named(_) | Key::Character(_) => self.tap(place.code),
            }
        })
    }

    /// Types a text of any characters into what has the keyboard.
    pub fn text(&self, text: &str, cancel: &Cancel) -> Result<()> {
        self.calmly(|| {
            for piece in keys::split_text(text) {
                cancel.check()?;
                match piece {
                    TypedPiece::Key(code) => self.tap(code)?,
                    TypedPiece::Text(text) => {
                        self.post(What::Text { text: text.clone(), down: true })?;
                        self.post(What::Text { text, down: false })?;
                    }
                }
            }
            Ok(())
        })
    }

    /// Lets go of everything that is held, the last first.
    pub fn release_all(&self) {
        let held: Vec<Held> = lock(&self.held).clone();
        for item in held.into_iter().rev() {
            // What is let go of is not among what its own event says is held.
            self.forget(item);
            let released = match item {
                Held::Key(code) => self.post(What::Key { code, down: false }),
                Held::Modifier(modifier) => {
                    self.post(What::Key { code: keys::modifier_code(modifier), down: false })
                }
                Held::Button(button, at) => self.post(What::Button { button, down: false, at, number: 1 }),
            };
            if let Err(error) = released {
                tracing::error!("keys or buttons may still be held down: {error}");
            }
        }
    }

    /// Does something with nothing held down before, and lets go of everything after.
    fn calmly(&self, work: impl FnOnce() -> Result<()>) -> Result<()> {
        self.release_all();
        let done = work();
        self.release_all();
        done
    }

    fn press_modifier(&self, modifier: Modifier) -> Result<()> {
        self.hold(Held::Modifier(modifier));
        self.post(What::Key { code: keys::modifier_code(modifier), down: true })
    }

    fn tap(&self, code: u16) -> Result<()> {
        self.hold(Held::Key(code));
        self.post(What::Key { code, down: true })?;
        self.post(What::Key { code, down: false })?;
        self.forget(Held::Key(code));
        Ok(())
    }

    fn go(&self, at: Point, dragging: bool) -> Result<()> {
        self.post(What::Move { at, dragging })
    }

    fn hold(&self, item: Held) {
        lock(&self.held).push(item);
    }

    fn forget(&self, item: Held) {
        lock(&self.held).retain(|held| *held != item);
    }

    fn post(&self, what: What) -> Result<()> {
        let modifier = |held: &Held| match held {
            Held::Modifier(modifier) => Some(*modifier),
            Held::Key(_) | Held::Button(..) => None,
        };
        let held = lock(&self.held).iter().filter_map(modifier).collect();
        self.device.post(&Event { what, held })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::{Error, Kind};
    use std::cell::{Cell, RefCell};

    /// Writes down what is sent. It fails or is cancelled at one event, if it is told to.
    #[derive(Default)]
    struct Recorder {
        log: RefCell<Vec<String>>,
        waited: Cell<Duration>,
        fails_at: Option<usize>,
        cancelled_after: Option<Duration>,
    }

    impl Device for Recorder {
        fn post(&self, event: &Event) -> Result<()> {
            if self.fails_at == Some(self.log.borrow().len()) {
                self.log.borrow_mut().push("fails".to_owned());
                return Err(Error::internal("no session"));
            }
            let word = |down: bool| if down { "down" } else { "up" };
            let told = match &event.what {
                What::Key { code, down } => format!("key {code:#x} {}", word(*down)),
                What::Text { text, down } => format!("text {text} {}", word(*down)),
                What::Move { at, dragging } => {
                    format!("{} {},{}", if *dragging { "drag" } else { "move" }, at.x, at.y)
                }
                What::Button { button, down, at, number } => {
                    format!("{button:?} {} {},{} {number}", word(*down), at.x, at.y)
                }
                What::Wheel { lines } => format!("wheel {lines}"),
            };
            let held: String = event.held.iter().map(|held| format!(" +{held:?}")).collect();
            self.log.borrow_mut().push(format!("{told}{held}"));
            Ok(())
        }

        fn layout(&self) -> Layout {
            Layout::default()
        }

        fn pause(&self, time: Duration, _: &Cancel) -> Result<()> {
            self.waited.set(self.waited.get() + time);
            if self.cancelled_after.is_some_and(|after| self.waited.get() > after) {
                return Err(Error::new(Kind::Cancelled, "cancelled"));
            }
            Ok(())
        }
    }

    fn check(recorder: Recorder, work: impl Fn(&Hands<Recorder>) -> Result<()>, ok: bool, expected: &[&str]) {
        let hands = Hands::new(recorder);
        assert_eq!(work(&hands).is_ok(), ok);
        assert_eq!(*hands.device.log.borrow(), expected);
        assert!(lock(&hands.held).is_empty());
    }

    const AT: Point = Point { x: 3, y: 4 };

    #[test]
    fn a_double_click_says_which_click_it_is() {
        check(
            Recorder::default(),
            |hands| hands.click(AT, Button::Left, 1..=2, &[], &Cancel::new()),
            true,
            &["move 3,4", "Left down 3,4 1", "Left up 3,4 1", "Left down 3,4 2", "Left up 3,4 2"],
        );
    }

    #[test]
    fn the_wheel_turns_where_it_is_told_or_where_the_pointer_is() {
        check(Recorder::default(), |hands| hands.scroll(None, 2), true, &["wheel 3", "wheel 3"]);
        check(Recorder::default(), |hands| hands.scroll(Some(AT), -1), true, &["move 3,4", "wheel -3"]);
    }

    #[test]
    fn a_pointer_that_stays_presses_nothing() {
        check(Recorder::default(), |hands| hands.move_to(AT), true, &["move 3,4"]);
    }

    fn dragged(recorder: Recorder) -> (bool, Vec<String>, Duration) {
        let hands = Hands::new(recorder);
        let drag = Drag {
            from: Point { x: 0, y: 0 },
            to: Point { x: 120, y: 0 },
            modifiers: &[Modifier::Alt],
            duration: Duration::from_millis(120),
            before_release: &|| Ok(()),
        };
        let done = hands.drag(&drag, &Cancel::new()).is_ok();
        assert!(lock(&hands.held).is_empty());
        (done, hands.device.log.take(), hands.device.waited.get())
    }

    #[test]
    fn a_drag_goes_in_steps_with_the_button_and_the_modifiers_held() {
        let (done, log, waited) = dragged(Recorder::default());
        assert!(done);
        assert_eq!(log[..3], ["key 0x3a down +Alt", "move 0,0 +Alt", "Left down 0,0 1 +Alt"]);
        assert_eq!((log[3].as_str(), log[14].as_str()), ("drag 10,0 +Alt", "drag 120,0 +Alt"));
        assert_eq!(log[15..], ["drag 120,0 +Alt", "Left up 120,0 1 +Alt", "key 0x3a up"]);
        assert_eq!(waited, 3 * DRAG_REST + Duration::from_millis(120));
    }

    #[test]
    fn a_drag_that_is_cancelled_drops_where_it_began() {
        let cancelled_after = Some(2 * DRAG_REST + Duration::from_millis(50));
        let (done, log, _) = dragged(Recorder { cancelled_after, ..Recorder::default() });
        assert!(!done);
        assert_eq!(log[log.len() - 3..], ["drag 0,0 +Alt", "Left up 0,0 1 +Alt", "key 0x3a up"]);
        let (done, log, _) =
            dragged(Recorder { cancelled_after: Some(Duration::ZERO), ..Recorder::default() });
        assert!(!done && !log.iter().any(|event| event.contains("Left")), "{log:?}");
    }

    #[test]
    fn whatever_fails_leaves_nothing_held() {
        for fails_at in 0..16 {
            let (_, log, _) = dragged(Recorder { fails_at: Some(fails_at), ..Recorder::default() });
            let count = |part: &str| log.iter().filter(|event| event.contains(part)).count();
            assert!(count("Left up") >= count("Left down"), "{log:?}");
            assert!(count("key 0x3a up") >= count("key 0x3a down"), "{log:?}");
        }
    }

    #[test]
    fn a_combination_holds_its_modifiers_around_its_key() {
        let keys =
            |keys: &'static str| move |hands: &Hands<Recorder>| hands.keys(&KeyCombo::parse(keys).unwrap());
        check(
            Recorder::default(),
            keys("cmd+shift+s"),
            true,
            &[
                "key 0x37 down +Meta",
                "key 0x38 down +Meta +Shift",
                "key 0x1 down +Meta +Shift",
                "key 0x1 up +Meta +Shift",
                "key 0x38 up +Meta",
                "key 0x37 up",
            ],
        );
        check(
            Recorder::default(),
            keys("?"),
            true,
            &["key 0x38 down +Shift", "key 0x2c down +Shift", "key 0x2c up +Shift", "key 0x38 up"],
        );
        check(Recorder::default(), keys("alt"), true, &["key 0x3a down +Alt", "key 0x3a up"]);
        check(Recorder::default(), keys("cmd+pause"), false, &[]);
    }

    #[test]
    fn a_text_is_sent_as_text_and_lines_as_keys() {
        check(
            Recorder::default(),
            |hands| hands.text("é\n", &Cancel::new()),
            true,
            &["text é down", "text é up", "key 0x24 down", "key 0x24 up"],
        );
        let cancel = Cancel::new();
        cancel.fire();
        check(Recorder::default(), |hands| hands.text("x", &cancel), false, &[]);
    }
}
