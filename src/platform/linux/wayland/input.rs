//! Keys and pointer, by the virtual keyboard and the virtual pointer that compositors of the wlroots family offer.
//!
//! Text is typed key by key and never by the input-method protocol, which enigo would prefer: programs that
//! do not support it would get nothing, silently.

use std::sync::Mutex;
use std::time::Duration;

use enigo::{Axis, Coordinate, Direction, Enigo, InputError, Keyboard, Mouse, Settings};

use super::{Wayland, refuse, screen};
use crate::clock::{Cancel, Clock, lock};
use crate::error::{Error, Kind, Result};
use crate::model::input::{Act, Button, Delivery, Handle, Modifier};
use crate::model::{KeyCombo, Point, Rect};
use crate::platform::interaction::{
    Backend, ChildPosition, DatePart, Drag, ElementState, InputEffect, InputProfile, OptionItem,
    PointerAction, Request, RequestOutcome, TypedText, act, check, point_between,
};
use crate::platform::linux::interaction::{AtspiElements, PROFILE};
use crate::platform::linux::keys::{self, Keysym};
use crate::platform::{Claimant, Desktop, Done, Input, PressGuard, Route};

/// What compositors count for one click of a wheel.
const WHEEL_CLICK: i32 = 15;
/// A pointer that has just come is noticed before it presses.
const ARRIVAL: Duration = Duration::from_millis(20);
const BETWEEN_CLICKS: Duration = Duration::from_millis(60);
const DRAG_STEP: Duration = Duration::from_millis(16);

/// The devices that the compositor made for us, kept so that windows keep the focus that came with them. After a
/// failure they are let go, and the next input asks for new ones.
#[derive(Default)]
pub struct WaylandInput {
    enigo: Mutex<Option<Enigo>>,
}

impl WaylandInput {
    fn with<T>(&self, work: impl FnOnce(&mut Enigo) -> Result<T>) -> Result<T> {
        let mut kept = lock(&self.enigo);
        let mut enigo = match kept.take() {
            Some(enigo) => enigo,
            None => connect()?,
        };
        let done = work(&mut enigo);
        // Dropping lets go of what is held down.
        if done.is_ok() {
            *kept = Some(enigo);
        }
        done
    }

    /// Tried with what changes nothing: a key that is up is let go, and the pointer moves by nothing.
    pub fn probe_powers(&self) -> Powers {
        let keyboard =
            self.with(|enigo| enigo.key(key(keys::SHIFT), Direction::Release).map_err(input_refused));
        let pointer = self.with(|enigo| enigo.move_mouse(0, 0, Coordinate::Rel).map_err(input_refused));
        Powers { keyboard: keyboard.is_ok(), pointer: pointer.is_ok() }
    }

    fn press_combo(&self, combo: &KeyCombo) -> Result<()> {
        let keysym = keys::key_keysym(&combo.key)?;
        let held: Vec<Keysym> = combo.modifiers.iter().map(|it| keys::modifier_keysym(*it)).collect();
        self.with(|enigo| with_keys_held(enigo, &held, |enigo| tap_key(enigo, keysym)))
    }

    fn text(&self, text: &str, cancel: &Cancel) -> Result<()> {
        let keysyms = keys::keysyms_of(text)?;
        self.with(|enigo| {
            keysyms.into_iter().try_for_each(|keysym| {
                cancel.check()?;
                tap_key(enigo, keysym)
            })
        })
    }

    fn point(
        &self,
        clock: &Clock,
        action: PointerAction,
        at: Option<Point>,
        held: &[Modifier],
        cancel: &Cancel,
    ) -> Result<()> {
        if let Some(at) = at {
            self.move_pointer(at)?;
            clock.sleep(ARRIVAL, cancel)?;
        }
        match action {
            PointerAction::Hover => Ok(()),
            PointerAction::Scroll(clicks) => self.with(|enigo| {
                let way = clicks.saturating_neg().saturating_mul(WHEEL_CLICK);
                enigo.scroll(way, Axis::Vertical).map_err(input_refused)
            }),
            PointerAction::Click(button, count) => self.press_button(clock, button, count, held, cancel),
            PointerAction::FurtherClick(button, _) => self.press_button(clock, button, 1, held, cancel),
        }
    }

    fn move_pointer(&self, at: Point) -> Result<()> {
        self.with(|enigo| enigo.move_mouse(at.x, at.y, Coordinate::Abs).map_err(input_refused))
    }

    fn press_button(
        &self,
        clock: &Clock,
        button: Button,
        count: u32,
        held: &[Modifier],
        cancel: &Cancel,
    ) -> Result<()> {
        let held: Vec<Keysym> = held.iter().map(|it| keys::modifier_keysym(*it)).collect();
        self.with(|enigo| {
            with_keys_held(enigo, &held, |enigo| {
                for press in 0..count {
                    if press > 0 {
                        clock.sleep(BETWEEN_CLICKS, cancel)?;
                    }
                    enigo.button(enigo_button(button), Direction::Click).map_err(input_refused)?;
                }
                Ok(())
            })
        })
    }

    fn drag(&self, clock: &Clock, drag: &Drag<'_>, cancel: &Cancel) -> Result<()> {
        let held: Vec<Keysym> = drag.modifiers.iter().map(|it| keys::modifier_keysym(*it)).collect();
        self.with(|enigo| {
            with_keys_held(enigo, &held, |enigo| {
                move_to(enigo, drag.from)?;
                clock.sleep(ARRIVAL, cancel)?;
                enigo.button(enigo::Button::Left, Direction::Press).map_err(input_refused)?;
                let arrived = follow_drag(enigo, clock, drag, cancel);
                if arrived.is_err() {
                    // What is dropped where it came from stays there.
                    move_to(enigo, drag.from)?;
                }
                enigo.button(enigo::Button::Left, Direction::Release).map_err(input_refused)?;
                arrived
            })
        })
    }

    fn let_go(&self) {
        *lock(&self.enigo) = None;
    }
}

/// Which devices the compositor gives to programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Powers {
    pub keyboard: bool,
    pub pointer: bool,
}

impl Powers {
    /// What does not work, a sentence each.
    pub fn missing_powers(self) -> Vec<String> {
        let devices = [(self.keyboard, "keys", "keyboard"), (self.pointer, "pointer", "pointer")];
        let lacking = devices.into_iter().filter(|(given, ..)| !given);
        lacking
            .map(|(_, what, device)| format!("no {what}: the compositor does not offer a virtual {device}"))
            .collect()
    }
}

fn connect() -> Result<Enigo> {
    let settings = Settings { release_keys_when_dropped: true, ..Settings::default() };
    Enigo::new(&settings).map_err(|problem| {
        let message = format!(
            "the compositor does not let programs send keys or move the pointer ({problem}): GNOME and KDE \
             do not, sway and other wlroots compositors do. Elements can still be operated by their own \
             actions (click_element, set_value)"
        );
        Error::new(Kind::PlatformUnsupported, message)
    })
}

fn input_refused(problem: InputError) -> Error {
    Error::new(Kind::PlatformUnsupported, format!("the compositor did not accept the input: {problem}"))
}

fn key(keysym: Keysym) -> enigo::Key {
    enigo::Key::Other(keysym)
}

fn enigo_button(button: Button) -> enigo::Button {
    match button {
        Button::Left => enigo::Button::Left,
        Button::Right => enigo::Button::Right,
        Button::Middle => enigo::Button::Middle,
    }
}

fn tap_key(enigo: &mut Enigo, keysym: Keysym) -> Result<()> {
    enigo.key(key(keysym), Direction::Click).map_err(input_refused)
}

/// Modifiers are let go in the reverse order, however the work ends.
fn with_keys_held(
    enigo: &mut Enigo,
    held: &[Keysym],
    work: impl FnOnce(&mut Enigo) -> Result<()>,
) -> Result<()> {
    let mut done =
        held.iter().try_for_each(|keysym| enigo.key(key(*keysym), Direction::Press).map_err(input_refused));
    if done.is_ok() {
        done = work(enigo);
    }
    for keysym in held.iter().rev() {
        done = done.and(enigo.key(key(*keysym), Direction::Release).map_err(input_refused));
    }
    done
}

fn move_to(enigo: &mut Enigo, at: Point) -> Result<()> {
    enigo.move_mouse(at.x, at.y, Coordinate::Abs).map_err(input_refused)
}

fn follow_drag(enigo: &mut Enigo, clock: &Clock, drag: &Drag<'_>, cancel: &Cancel) -> Result<()> {
    let steps = u32::try_from(drag.duration.as_millis() / DRAG_STEP.as_millis()).unwrap_or(u32::MAX);
    let steps = steps.clamp(8, 2_000);
    for step in 1..=steps {
        clock.sleep(drag.duration / steps, cancel)?;
        move_to(enigo, point_between(drag.from, drag.to, step, steps))?;
    }
    clock.sleep(ARRIVAL, cancel)?;
    (drag.before_release)()
}

impl Input for Wayland {
    fn act(&self, input: &Act, delivery: Delivery, guard: &dyn PressGuard, cancel: &Cancel) -> Result<Done> {
        act(&WaylandBackend { wayland: self, cancel }, guard, input, delivery)
    }

    fn check(&self, input: &Act, cancel: &Cancel) -> Result<()> {
        check(&WaylandBackend { wayland: self, cancel }, input)
    }

    /// A compositor has no place to write down who acts.
    fn claim(&self, _: &Claimant) -> Result<()> {
        Ok(())
    }

    fn give_back(&self, _: &Claimant) {}

    fn release_all(&self) {
        self.hands.let_go();
    }

    /// The pointer goes to the points of acts alone.
    fn confine(&self, _: Rect) {}
}

/// One input on Wayland.
struct WaylandBackend<'a> {
    wayland: &'a Wayland,
    cancel: &'a Cancel,
}

impl WaylandBackend<'_> {
    fn elements(&self) -> AtspiElements<'_> {
        AtspiElements { accessible: &self.wayland.accessible, cancel: self.cancel }
    }
}

const NO_POINTER_TO_ELEMENTS: &str = "the element has no action of its own for this, and the pointer cannot \
                                      be moved to it: Wayland does not report where its window is. Keys may \
                                      do it (press_key tab, enter, shift+f10), or a click_at a pixel of a \
                                      screenshot of the whole screen";

impl Backend for WaylandBackend<'_> {
    fn profile(&self) -> InputProfile {
        PROFILE
    }

    fn clock(&self) -> &Clock {
        &self.wayland.clock
    }

    fn cancel(&self) -> &Cancel {
        self.cancel
    }

    fn element_state(&self, element: &Handle) -> Result<ElementState> {
        self.elements().state(element)
    }

    fn element_with_text(&self, element: &Handle) -> Result<ElementState> {
        self.elements().state_with_text(element)
    }

    fn request(&self, element: &Handle, request: Request) -> Result<RequestOutcome> {
        self.elements().request(element, request)
    }

    fn date_parts(&self, element: &Handle) -> Result<Vec<DatePart>> {
        self.elements().date_parts(element)
    }

    fn options(&self, element: &Handle) -> Result<Vec<OptionItem>> {
        self.elements().options(element)
    }

    fn position(&self, element: &Handle) -> Result<Option<ChildPosition>> {
        self.elements().position(element)
    }

    fn has_keyboard(&self, window_uid: &str) -> Result<bool> {
        Ok(self.wayland.find(window_uid)?.focused)
    }

    fn effect(&self, _: &Handle, _: Route) -> Result<InputEffect> {
        Ok(InputEffect::within(PROFILE.timing.effect))
    }

    fn raise_window(&self, window_uid: &str) -> Result<()> {
        self.wayland.activate(&self.wayland.find(window_uid)?).map(|_| ())
    }

    fn visible_bounds(&self, _: &Handle, _: &ElementState) -> Result<Option<Rect>> {
        refuse(NO_POINTER_TO_ELEMENTS)
    }

    fn hits_window(&self, _: &str, _: Point) -> Result<bool> {
        refuse(NO_POINTER_TO_ELEMENTS)
    }

    fn use_pointer(&self, action: PointerAction, at: Option<Point>, held: &[Modifier]) -> Result<()> {
        if let Some(at) = at {
            check_aim(&self.wayland.outputs()?, at)?;
        }
        self.wayland.hands.point(self.clock(), action, at, held, self.cancel)
    }

    fn drag(&self, drag: &Drag<'_>) -> Result<()> {
        let outputs = self.wayland.outputs()?;
        check_aim(&outputs, drag.from)?;
        check_aim(&outputs, drag.to)?;
        self.wayland.hands.drag(self.clock(), drag, self.cancel)
    }

    fn press_keys(&self, keys: &KeyCombo) -> Result<()> {
        self.wayland.hands.press_combo(keys)
    }

    fn type_text(&self, text: &str) -> Result<TypedText> {
        // Nobody but the compositor knows what else is pressed.
        self.wayland.hands.text(text, self.cancel).map(|()| TypedText::default())
    }
}

/// Nothing where the point is a true place for the pointer.
fn check_aim(outputs: &[screen::WaylandOutput], at: Point) -> Result<()> {
    match screen::only_output(outputs) {
        Ok(output) if output.physical.contains(at) => Ok(()),
        Ok(output) => Err(Error::bad_request(format!(
            "the point {},{} is off the screen, which has {}x{} pixels",
            at.x, at.y, output.physical.width, output.physical.height
        ))),
        Err(why) => refuse(&format!("the pointer cannot be moved to a point: {why}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn a_point_is_on_the_only_output_or_refused() {
        let output = screen::WaylandOutput {
            logical: Rect::new(0, 0, 100, 50),
            physical: Rect::new(0, 0, 100, 50),
            scale: 1.0,
            upright: true,
        };
        let check = |outputs: &[screen::WaylandOutput], x, expected: Option<Kind>| {
            let got = check_aim(outputs, Point { x, y: 1 }).err().map(|error| error.kind);
            assert_eq!(got, expected, "{x} on {} outputs", outputs.len());
        };
        let one = std::slice::from_ref(&output);
        check(one, 99, None);
        check(one, 100, Some(Kind::BadRequest));
        check(&[output.clone(), output.clone()], 1, Some(Kind::PlatformUnsupported));
    }
}
