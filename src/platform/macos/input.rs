//! Pointer and keys, as events of CoreGraphics: what a person's hand would do.
//!
//! Everything that is pressed is written down before and released whatever happens: when the call ends, is cancelled or
//! fails. Events carry the modifiers that we hold, so that a key that a person holds down does not change their meaning.

use std::sync::Mutex;
use std::time::Duration;

use core_graphics::event::{
    CGEvent, CGEventFlags, CGEventTapLocation, CGEventType, CGMouseButton, EventField, ScrollEventUnit,
};
use core_graphics::event_source::{CGEventSource, CGEventSourceStateID};
use core_graphics::geometry::CGPoint;

use super::sense::keys::{self, Piece};
use crate::clock::{Cancel, Clock, lock};
use crate::error::{Error, Result};
use crate::model::action::{Button, Key, Modifier};
use crate::model::{KeyCombo, Point};
use crate::platform::hands::{Drag, between};

/// The window server reads events as they come; programs take some that come at once for one.
const BETWEEN_EVENTS: Duration = Duration::from_millis(8);
const BETWEEN_CLICKS: Duration = Duration::from_millis(60);
/// A drag makes at least so many steps: some applications ignore a pointer that jumps.
const DRAG_STEPS: u32 = 12;
const DRAG_REST: Duration = Duration::from_millis(80);

/// What this process holds down.
#[derive(Debug, Default)]
pub struct Hands {
    held: Mutex<Vec<Held>>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Held {
    Key(u16),
    Modifier(Modifier),
    Button(Button, Point),
}

impl Hands {
    pub fn click(&self, at: Point, button: Button, count: u32) -> Result<()> {
        self.calmly(|| {
            self.glide(at)?;
            for number in 1..=count {
                lock(&self.held).push(Held::Button(button, at));
                self.mouse(button, true, at, number)?;
                rest(BETWEEN_EVENTS);
                self.mouse(button, false, at, number)?;
                lock(&self.held).retain(|held| *held != Held::Button(button, at));
                rest(BETWEEN_CLICKS);
            }
            Ok(())
        })
    }

    pub fn move_to(&self, at: Point) -> Result<()> {
        self.calmly(|| self.glide(at))
    }

    /// Positive clicks show what is further up.
    pub fn scroll(&self, at: Option<Point>, clicks: i32) -> Result<()> {
        self.calmly(|| {
            if let Some(at) = at {
                self.glide(at)?;
            }
            for _ in 0..clicks.unsigned_abs() {
                let event =
                    CGEvent::new_scroll_event(source()?, ScrollEventUnit::LINE, 1, 3 * clicks.signum(), 0, 0);
                self.post(event)?;
            }
            Ok(())
        })
    }

    pub fn drag(&self, clock: &Clock, drag: &Drag<'_>, cancel: &Cancel) -> Result<()> {
        self.calmly(|| {
            for modifier in drag.modifiers {
                self.press_modifier(*modifier)?;
            }
            self.glide(drag.from)?;
            clock.sleep(DRAG_REST, cancel)?;
            lock(&self.held).push(Held::Button(Button::Left, drag.from));
            self.mouse(Button::Left, true, drag.from, 1)?;
            let arrived = self.follow(clock, drag, cancel);
            // What is dropped where it came from stays there.
            let end = if arrived.is_ok() { drag.to } else { drag.from };
            self.moved(CGEventType::LeftMouseDragged, end)?;
            self.mouse(Button::Left, false, end, 1)?;
            lock(&self.held).retain(|held| *held != Held::Button(Button::Left, drag.from));
            arrived
        })
    }

    fn follow(&self, clock: &Clock, drag: &Drag<'_>, cancel: &Cancel) -> Result<()> {
        clock.sleep(DRAG_REST, cancel)?;
        let frames = u32::try_from(drag.duration.as_millis() / 16).unwrap_or(u32::MAX);
        let steps = frames.clamp(DRAG_STEPS, 1_000);
        for step in 1..=steps {
            self.moved(CGEventType::LeftMouseDragged, between(drag.from, drag.to, step, steps))?;
            clock.sleep(drag.duration / steps, cancel)?;
        }
        clock.sleep(DRAG_REST, cancel)
    }

    pub fn keys(&self, combo: &KeyCombo) -> Result<()> {
        let place = keys::place(&combo.key)?;
        self.calmly(|| {
            for modifier in &combo.modifiers {
                self.press_modifier(*modifier)?;
            }
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
            for piece in keys::pieces(text) {
                cancel.check()?;
                match piece {
                    Piece::Key(code) => self.tap(code)?,
                    Piece::Text(text) => self.write(&text)?,
                }
            }
            Ok(())
        })
    }

    /// Lets go of everything that is held.
    pub fn release_all(&self) {
        let held: Vec<Held> = lock(&self.held).clone();
        for item in held.into_iter().rev() {
            let released = match item {
                Held::Key(code) => self.key(code, false),
                Held::Modifier(modifier) => {
                    lock(&self.held).retain(|held| *held != item);
                    self.key(keys::modifier_code(modifier), false)
                }
                Held::Button(button, at) => self.mouse(button, false, at, 1),
            };
            if let Err(error) = released {
                tracing::error!("keys or buttons may still be held down: {error}");
            }
            lock(&self.held).retain(|held| *held != item);
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
        lock(&self.held).push(Held::Modifier(modifier));
        self.key(keys::modifier_code(modifier), true)
    }

    fn tap(&self, code: u16) -> Result<()> {
        lock(&self.held).push(Held::Key(code));
        self.key(code, true)?;
        self.key(code, false)?;
        lock(&self.held).retain(|held| *held != Held::Key(code));
        Ok(())
    }

    fn key(&self, code: u16, down: bool) -> Result<()> {
        self.post(CGEvent::new_keyboard_event(source()?, code, down))
    }

    /// A key without a place on the keyboard, which carries its text with it.
    fn write(&self, text: &str) -> Result<()> {
        for down in [true, false] {
            let event = CGEvent::new_keyboard_event(source()?, 0, down).map_err(|()| no_event())?;
            event.set_string(text);
            self.post(Ok(event))?;
        }
        Ok(())
    }

    fn glide(&self, at: Point) -> Result<()> {
        self.moved(CGEventType::MouseMoved, at)
    }

    fn moved(&self, kind: CGEventType, at: Point) -> Result<()> {
        self.post(CGEvent::new_mouse_event(source()?, kind, place(at), CGMouseButton::Left))
    }

    fn mouse(&self, button: Button, down: bool, at: Point, number: u32) -> Result<()> {
        let (kind, button) = match (button, down) {
            (Button::Left, true) => (CGEventType::LeftMouseDown, CGMouseButton::Left),
            (Button::Left, false) => (CGEventType::LeftMouseUp, CGMouseButton::Left),
            (Button::Right, true) => (CGEventType::RightMouseDown, CGMouseButton::Right),
            (Button::Right, false) => (CGEventType::RightMouseUp, CGMouseButton::Right),
            (Button::Middle, true) => (CGEventType::OtherMouseDown, CGMouseButton::Center),
            (Button::Middle, false) => (CGEventType::OtherMouseUp, CGMouseButton::Center),
        };
        let event = CGEvent::new_mouse_event(source()?, kind, place(at), button).map_err(|()| no_event())?;
        // The second press of a double click says that it is the second.
        event.set_integer_value_field(EventField::MOUSE_EVENT_CLICK_STATE, i64::from(number));
        self.post(Ok(event))
    }

    fn post(&self, event: Result<CGEvent, ()>) -> Result<()> {
        let event = event.map_err(|()| no_event())?;
        // Arrows and the like say by themselves that they stand where they stand.
        let own = CGEventFlags::CGEventFlagSecondaryFn | CGEventFlags::CGEventFlagNumericPad;
        event.set_flags((event.get_flags() & own) | self.flags());
        event.post(CGEventTapLocation::HID);
        rest(BETWEEN_EVENTS);
        Ok(())
    }

    fn flags(&self) -> CGEventFlags {
        let flag = |held: &Held| match held {
            Held::Modifier(Modifier::Ctrl) => CGEventFlags::CGEventFlagControl,
            Held::Modifier(Modifier::Alt) => CGEventFlags::CGEventFlagAlternate,
            Held::Modifier(Modifier::Shift) => CGEventFlags::CGEventFlagShift,
            Held::Modifier(Modifier::Meta) => CGEventFlags::CGEventFlagCommand,
            Held::Key(_) | Held::Button(..) => CGEventFlags::CGEventFlagNull,
        };
        lock(&self.held).iter().map(flag).fold(CGEventFlags::CGEventFlagNull, |all, one| all | one)
    }
}

/// Where the pointer is.
pub fn pointer() -> Result<Point> {
    let event = CGEvent::new(source()?).map_err(|()| no_event())?;
    let at = event.location();
    Ok(Point { x: at.x.floor() as i32, y: at.y.floor() as i32 })
}

fn source() -> Result<CGEventSource> {
    CGEventSource::new(CGEventSourceStateID::HIDSystemState).map_err(|()| no_event())
}

fn no_event() -> Error {
    Error::internal("macOS makes no events for this program: no session with a screen?")
}

fn place(at: Point) -> CGPoint {
    CGPoint { x: f64::from(at.x), y: f64::from(at.y) }
}

fn rest(time: Duration) {
    std::thread::sleep(time);
}
