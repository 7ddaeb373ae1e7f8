//! Pointer and keys, as events of CoreGraphics. Which events are sent is decided in `decode`.

use std::time::Duration;

use core_graphics::event::{
    CGEvent, CGEventFlags, CGEventTapLocation, CGEventType, CGMouseButton, EventField, ScrollEventUnit,
};
use core_graphics::event_source::{CGEventSource, CGEventSourceStateID};
use core_graphics::geometry::CGPoint;

use super::decode::input::{Device, Event, What};
use super::decode::keys::{self, Layout};
use super::layout;
use crate::clock::{Cancel, Clock, sleep_really};
use crate::error::{Error, Result};
use crate::model::Point;
use crate::model::input::{Button, Modifier};

/// The window server reads events as they come; programs take some that come at once for one.
const BETWEEN_EVENTS: Duration = Duration::from_millis(8);

/// The input of this session.
pub struct Events {
    clock: Clock,
}

impl Events {
    pub fn new(clock: Clock) -> Self {
        Self { clock }
    }
}

impl Device for Events {
    fn post(&self, event: &Event) -> Result<()> {
        let made = made(&event.what)?;
        let held = event.held.iter().map(|modifier| flag(*modifier));
        let held = held.fold(CGEventFlags::CGEventFlagNull, |all, one| all | one);
        made.set_flags((made.get_flags() & own_flags(&event.what)) | held);
        made.post(CGEventTapLocation::HID);
        sleep_really(BETWEEN_EVENTS);
        Ok(())
    }

    fn layout(&self) -> Layout {
        layout::in_use()
    }

    fn pause(&self, time: Duration, cancel: &Cancel) -> Result<()> {
        self.clock.sleep(time, cancel)
    }
}

/// Arrows and the like say by themselves that they stand where they stand, and the lock of capitals that it locks.
fn own_flags(what: &What) -> CGEventFlags {
    let own = CGEventFlags::CGEventFlagSecondaryFn | CGEventFlags::CGEventFlagNumericPad;
    match what {
        What::Key { code: keys::CAPS_LOCK, .. } => own | CGEventFlags::CGEventFlagAlphaShift,
        _ => own,
    }
}

fn made(what: &What) -> Result<CGEvent> {
    let source = source()?;
    let made = match what {
        What::Key { code, down } => CGEvent::new_keyboard_event(source, *code, *down),
        What::Text { down, .. } => CGEvent::new_keyboard_event(source, 0, *down),
        What::Move { at, dragging } => {
            let kind = if *dragging { CGEventType::LeftMouseDragged } else { CGEventType::MouseMoved };
            CGEvent::new_mouse_event(source, kind, place(*at), CGMouseButton::Left)
        }
        What::Button { button, down, at, .. } => {
            let (kind, button) = pressed(*button, *down);
            CGEvent::new_mouse_event(source, kind, place(*at), button)
        }
        What::Wheel { lines } => CGEvent::new_scroll_event(source, ScrollEventUnit::LINE, 1, *lines, 0, 0),
    };
    let made = made.map_err(|()| no_event())?;
    match what {
        What::Text { text, .. } => made.set_string(text),
        What::Button { number, .. } => {
            made.set_integer_value_field(EventField::MOUSE_EVENT_CLICK_STATE, i64::from(*number));
        }
        _ => {}
    }
    Ok(made)
}

fn pressed(button: Button, down: bool) -> (CGEventType, CGMouseButton) {
    match (button, down) {
        (Button::Left, true) => (CGEventType::LeftMouseDown, CGMouseButton::Left),
        (Button::Left, false) => (CGEventType::LeftMouseUp, CGMouseButton::Left),
        (Button::Right, true) => (CGEventType::RightMouseDown, CGMouseButton::Right),
        (Button::Right, false) => (CGEventType::RightMouseUp, CGMouseButton::Right),
        (Button::Middle, true) => (CGEventType::OtherMouseDown, CGMouseButton::Center),
        (Button::Middle, false) => (CGEventType::OtherMouseUp, CGMouseButton::Center),
    }
}

fn flag(modifier: Modifier) -> CGEventFlags {
    match modifier {
        Modifier::Ctrl => CGEventFlags::CGEventFlagControl,
        Modifier::Alt => CGEventFlags::CGEventFlagAlternate,
        Modifier::Shift => CGEventFlags::CGEventFlagShift,
        Modifier::Meta => CGEventFlags::CGEventFlagCommand,
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
    Error::internal("macOS creates no events for this program: no session with a screen?")
}

fn place(at: Point) -> CGPoint {
    CGPoint { x: f64::from(at.x), y: f64::from(at.y) }
}
