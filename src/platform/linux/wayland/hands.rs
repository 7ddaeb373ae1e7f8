//! Keys and pointer, whichever devices the compositor lets programs have. What is pressed is let go again, however the work
//! ends.

use std::sync::Mutex;
use std::time::Duration;

use crate::clock::{Cancel, Clock, lock};
use crate::error::{Error, Kind, Result};
use crate::model::input::{Button, Modifier};
use crate::model::{KeyCombo, Point};
use crate::platform::interaction::{Drag, PointerAction, point_between};
use crate::platform::linux::keys::{self, Keysym};

/// A pointer that has just come is noticed before it presses.
const ARRIVAL: Duration = Duration::from_millis(20);
const BETWEEN_CLICKS: Duration = Duration::from_millis(60);
const DRAG_STEP: Duration = Duration::from_millis(16);
/// A compositor drops programs that do not read their events in time, so a long text is sent in parts.
const KEYS_AT_ONCE: usize = 32;
const BETWEEN_PARTS: Duration = Duration::from_millis(8);

/// A keyboard and a pointer of the compositor. Dropping them lets go of everything.
pub trait Devices: Send {
    fn set_modifier(&mut self, modifier: Modifier, down: bool) -> Result<()>;

    /// Makes the keyboard able to type the beginning of these, and says how many.
    fn prepare(&mut self, keysyms: &[Keysym]) -> Result<usize>;

    /// Presses and lets go of a key, with shift where it needs that.
    fn tap(&mut self, keysym: Keysym) -> Result<()>;

    fn move_to(&mut self, at: Point) -> Result<()>;

    fn set_button(&mut self, button: Button, down: bool) -> Result<()>;

    /// Positive clicks show what is further up.
    fn turn_wheel(&mut self, clicks: i32) -> Result<()>;

    /// Waits until the compositor has worked on all of it.
    fn settle(&mut self) -> Result<()>;
}

/// Which devices the compositor gives to programs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Powers {
    pub keyboard: bool,
    pub pointer: bool,
}

impl Powers {
    pub fn missing_powers(self) -> Vec<String> {
        let keys = (!self.keyboard).then_some("no keys: the compositor does not offer a virtual keyboard");
        let pointer =
            (!self.pointer).then_some("no pointer: the compositor does not offer a virtual pointer");
        [keys, pointer].into_iter().flatten().map(str::to_owned).collect()
    }
}

type Opener = Box<dyn Fn() -> Result<Box<dyn Devices>> + Send + Sync>;

/// The devices are kept, so that windows keep the focus that came with them. After a failure they are let go, and the next
/// input asks for new ones.
pub struct CompositorHands {
    open: Opener,
    devices: Mutex<Option<Box<dyn Devices>>>,
}

impl CompositorHands {
    pub fn new(open: impl Fn() -> Result<Box<dyn Devices>> + Send + Sync + 'static) -> Self {
        Self { open: Box::new(open), devices: Mutex::default() }
    }

    /// Asks for the devices now. A seat without a keyboard gives no window the focus until there is one.
    pub fn take_up(&self) -> Result<()> {
        self.with(|_| Ok(()))
    }

    fn with<T>(&self, work: impl FnOnce(&mut dyn Devices) -> Result<T>) -> Result<T> {
        let mut kept = lock(&self.devices);
        let mut devices = match kept.take() {
            Some(devices) => devices,
            None => (self.open)()?,
        };
        let done = work(devices.as_mut()).and_then(|done| devices.settle().map(|()| done));
        // A cancelled input has let go of everything itself.
        if done.as_ref().map_or_else(|error| error.kind == Kind::Cancelled, |_| true) {
            *kept = Some(devices);
        }
        done
    }

    pub fn press_combo(&self, combo: &KeyCombo) -> Result<()> {
        let keysym = keys::key_keysym(&combo.key)?;
        self.with(|devices| {
            devices.prepare(&[keysym])?;
            with_keys_held(devices, &combo.modifiers, |devices| devices.tap(keysym))
        })
    }

    pub fn type_text(&self, clock: &Clock, text: &str, cancel: &Cancel) -> Result<()> {
        let keysyms = keys::keysyms_of(text)?;
        self.with(|devices| {
            let mut rest = keysyms.as_slice();
            while !rest.is_empty() {
                let ready = devices.prepare(rest)?.clamp(1, rest.len());
                let (now, later) = rest.split_at(ready);
                type_keysyms(devices, clock, now, cancel)?;
                rest = later;
            }
            Ok(())
        })
    }

    pub fn point(
        &self,
        clock: &Clock,
        action: PointerAction,
        at: Option<Point>,
        held: &[Modifier],
        cancel: &Cancel,
    ) -> Result<()> {
        self.with(|devices| {
            if let Some(at) = at {
                devices.move_to(at)?;
                devices.settle()?;
                clock.sleep(ARRIVAL, cancel)?;
            }
            let click = |devices: &mut dyn Devices, button, count| {
                with_keys_held(devices, held, |devices| click(devices, clock, button, count, cancel))
            };
            match action {
                PointerAction::Hover => Ok(()),
                PointerAction::Scroll(clicks) => devices.turn_wheel(clicks),
                PointerAction::Click(button, count) => click(devices, button, count),
                PointerAction::FurtherClick(button, _) => click(devices, button, 1),
            }
        })
    }

    pub fn drag(&self, clock: &Clock, drag: &Drag<'_>, cancel: &Cancel) -> Result<()> {
        self.with(|devices| {
            with_keys_held(devices, drag.modifiers, |devices| {
                devices.move_to(drag.from)?;
                devices.settle()?;
                clock.sleep(ARRIVAL, cancel)?;
                devices.set_button(Button::Left, true)?;
                let arrived = follow_drag(devices, clock, drag, cancel);
                if arrived.is_err() {
                    // What is dropped where it came from stays there.
                    devices.move_to(drag.from)?;
                }
                devices.set_button(Button::Left, false)?;
                arrived
            })
        })
    }

    pub fn let_go(&self) {
        *lock(&self.devices) = None;
    }
}

fn type_keysyms(devices: &mut dyn Devices, clock: &Clock, keysyms: &[Keysym], cancel: &Cancel) -> Result<()> {
    for part in keysyms.chunks(KEYS_AT_ONCE) {
        cancel.check()?;
        part.iter().try_for_each(|keysym| devices.tap(*keysym))?;
        devices.settle()?;
        if keysyms.len() > KEYS_AT_ONCE {
            clock.sleep(BETWEEN_PARTS, cancel)?;
        }
    }
    Ok(())
}

fn click(
    devices: &mut dyn Devices,
    clock: &Clock,
    button: Button,
    count: u32,
    cancel: &Cancel,
) -> Result<()> {
    for press in 0..count {
        if press > 0 {
            clock.sleep(BETWEEN_CLICKS, cancel)?;
        }
        let pressed = devices.set_button(button, true);
        pressed.and(devices.set_button(button, false))?;
        devices.settle()?;
    }
    Ok(())
}

/// Modifiers are let go in the reverse order, however the work ends.
fn with_keys_held(
    devices: &mut dyn Devices,
    held: &[Modifier],
    work: impl FnOnce(&mut dyn Devices) -> Result<()>,
) -> Result<()> {
    let mut done = held.iter().try_for_each(|modifier| devices.set_modifier(*modifier, true));
    if done.is_ok() {
        done = work(devices);
    }
    for modifier in held.iter().rev() {
        done = done.and(devices.set_modifier(*modifier, false));
    }
    done
}

fn follow_drag(devices: &mut dyn Devices, clock: &Clock, drag: &Drag<'_>, cancel: &Cancel) -> Result<()> {
    let steps = u32::try_from(drag.duration.as_millis() / DRAG_STEP.as_millis()).unwrap_or(u32::MAX);
    let steps = steps.clamp(8, 2_000);
    for step in 1..=steps {
        clock.sleep(drag.duration / steps, cancel)?;
        devices.move_to(point_between(drag.from, drag.to, step, steps))?;
        devices.settle()?;
    }
    clock.sleep(ARRIVAL, cancel)?;
    (drag.before_release)()
}

/// The error of a compositor that gives no devices.
pub fn no_devices(why: &str) -> Error {
    let message = format!(
        "the compositor does not let programs send keys or move the pointer ({why}). Elements can still be operated by \
         their own actions (click_element, set_value)"
    );
    Error::new(Kind::PlatformUnsupported, message)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::model::input::Key;

    /// Writes down what it is asked, and fails at what it is told to fail at.
    struct Recorder {
        log: Arc<Mutex<Vec<String>>>,
        fails_at: Option<&'static str>,
        keys: usize,
    }

    impl Recorder {
        fn note(&mut self, what: String) -> Result<()> {
            let fails = self.fails_at == Some(what.as_str());
            lock(&self.log).push(what);
            if fails { Err(no_devices("test")) } else { Ok(()) }
        }
    }

    impl Devices for Recorder {
        fn set_modifier(&mut self, modifier: Modifier, down: bool) -> Result<()> {
            self.note(format!("{modifier:?} {}", if down { "down" } else { "up" }))
        }

        fn prepare(&mut self, keysyms: &[Keysym]) -> Result<usize> {
            Ok(keysyms.len().min(self.keys))
        }

        fn tap(&mut self, keysym: Keysym) -> Result<()> {
            self.note(format!("tap {}", char::from_u32(keysym).unwrap_or('?')))
        }

        fn move_to(&mut self, at: Point) -> Result<()> {
            self.note(format!("to {},{}", at.x, at.y))
        }

        fn set_button(&mut self, button: Button, down: bool) -> Result<()> {
            self.note(format!("{button:?} {}", if down { "down" } else { "up" }))
        }

        fn turn_wheel(&mut self, clicks: i32) -> Result<()> {
            self.note(format!("wheel {clicks}"))
        }

        fn settle(&mut self) -> Result<()> {
            Ok(())
        }
    }

    fn check(
        fails_at: Option<&'static str>,
        work: impl FnOnce(&CompositorHands) -> Result<()>,
        expected: &[&str],
    ) {
        let log: Arc<Mutex<Vec<String>>> = Arc::default();
        let written = log.clone();
        let hands =
            CompositorHands::new(move || Ok(Box::new(Recorder { log: written.clone(), fails_at, keys: 2 })));
        assert_eq!(work(&hands).is_err(), fails_at.is_some());
        assert_eq!(*lock(&log), expected);
    }

    fn combo() -> KeyCombo {
        KeyCombo { modifiers: vec![Modifier::Ctrl, Modifier::Shift], key: Key::Character('t') }
    }

    #[test]
    fn modifiers_are_let_go_however_a_combination_ends() {
        let all = ["Ctrl down", "Shift down", "tap t", "Shift up", "Ctrl up"];
        check(None, |hands| hands.press_combo(&combo()), &all);
        check(Some("tap t"), |hands| hands.press_combo(&combo()), &all);
        let early = ["Ctrl down", "Shift down", "Shift up", "Ctrl up"];
        check(Some("Shift down"), |hands| hands.press_combo(&combo()), &early);
    }

    #[test]
    fn a_button_is_let_go_where_the_press_fails() {
        let click = |hands: &CompositorHands| {
            let (clock, cancel) = (Clock::steered(), Cancel::new());
            let at = Some(Point { x: 3, y: 4 });
            hands.point(&clock, PointerAction::Click(Button::Left, 1), at, &[Modifier::Alt], &cancel)
        };
        let all = ["to 3,4", "Alt down", "Left down", "Left up", "Alt up"];
        check(None, click, &all);
        check(Some("Left down"), click, &all);
    }

    #[test]
    fn a_text_is_typed_in_the_parts_that_the_keyboard_has_keys_for() {
        let (clock, cancel) = (Clock::steered(), Cancel::new());
        let typed = ["tap a", "tap b", "tap c"];
        check(None, |hands| hands.type_text(&clock, "abc", &cancel), &typed);
    }

    #[test]
    fn what_the_compositor_does_not_give_is_named() {
        let check = |keyboard, pointer, expected: &[&str]| {
            assert_eq!(Powers { keyboard, pointer }.missing_powers(), expected);
        };
        let keys = "no keys: the compositor does not offer a virtual keyboard";
        let pointer = "no pointer: the compositor does not offer a virtual pointer";
        check(true, true, &[]);
        check(true, false, &[pointer]);
        check(false, false, &[keys, pointer]);
    }
}
