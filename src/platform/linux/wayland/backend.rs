//! The inputs: elements by AT-SPI, keys and pointer by the devices of the compositor.

use super::{Wayland, root_of};
use crate::clock::{Cancel, Clock};
use crate::error::{Error, Result};
use crate::model::input::{Act, Delivery, Handle, Modifier};
use crate::model::{KeyCombo, Point, Rect};
use crate::platform::interaction::{
    Backend, ChildPosition, DatePart, Drag, ElementState, InputEffect, InputProfile, OptionItem,
    PointerAction, Request, RequestOutcome, TypedText, act, check,
};
use crate::platform::linux::interaction::{AtspiElements, PROFILE, element_state};
use crate::platform::unsupported::refuse;
use crate::platform::{Claimant, Desktop, Done, Input, PressGuard, Route};

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
        self.services.hands.let_go();
    }

    fn confine(&self, region: Rect) {
        self.region.set(region);
    }
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
                                      be moved to it: this compositor does not report where its window is. Keys \
                                      may do it (press_key tab, enter, shift+f10), or a click_at a pixel of a \
                                      screenshot of the whole screen";
const NO_POINTER_TO_MENUS: &str = "the entry of a menu has no known place under Wayland, so the pointer cannot be moved to \
                                   it; its own action may do it (click_element), or keys (press_key)";

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
        Ok(self.wayland.find(window_uid)?.window.focused)
    }

    fn effect(&self, _: &Handle, _: Route) -> Result<InputEffect> {
        Ok(InputEffect::within(PROFILE.timing.effect))
    }

    fn raise_window(&self, window_uid: &str) -> Result<()> {
        self.wayland.activate(&self.wayland.find(window_uid)?.window).map(|_| ())
    }

    /// Where the element is on the screen: its place in its window, and that of the window.
    fn visible_bounds(&self, element: &Handle, state: &ElementState) -> Result<Option<Rect>> {
        if !self.wayland.services.knows_places() {
            return refuse(NO_POINTER_TO_ELEMENTS);
        }
        let Some(own) = state.bounds else { return Ok(None) };
        if state.is_menu && self.wayland.is_in_popup(element, self.cancel)? {
            return refuse(NO_POINTER_TO_MENUS);
        }
        let known = self.wayland.find(&element.window_uid)?;
        let root =
            self.wayland.accessible.look_at(&root_of(&known)?, self.cancel)?.extents.unwrap_or_default();
        let on_screen = moved_to(own, root, known.window.bounds);
        let is_inside = known.window.bounds.contains(on_screen.center());
        Ok(Some(on_screen).filter(|_| is_inside))
    }

    /// Whether a click there meets the window: no window lies over it.
    fn hits_window(&self, window_uid: &str, point: Point) -> Result<bool> {
        if !self.wayland.services.knows_places() {
            return refuse(NO_POINTER_TO_ELEMENTS);
        }
        let known = self.wayland.known()?;
        let there =
            known.iter().filter(|known| !known.window.minimized && known.window.bounds.contains(point));
        let front = there.max_by_key(|known| known.listed.as_ref().map_or(0, |listed| listed.stack));
        Ok(front.is_some_and(|known| known.window.uid == window_uid))
    }

    fn use_pointer(&self, action: PointerAction, at: Option<Point>, held: &[Modifier]) -> Result<()> {
        if let Some(at) = at {
            self.wayland.check_aim(at)?;
        }
        self.wayland.services.hands.point(self.clock(), action, at, held, self.cancel)
    }

    fn drag(&self, drag: &Drag<'_>) -> Result<()> {
        self.wayland.check_aim(drag.from)?;
        self.wayland.check_aim(drag.to)?;
        self.wayland.services.hands.drag(self.clock(), drag, self.cancel)
    }

    fn press_keys(&self, keys: &KeyCombo) -> Result<()> {
        self.wayland.services.hands.press_combo(keys)?;
        self.wayland.settle(self.cancel)
    }

    fn type_text(&self, text: &str) -> Result<TypedText> {
        self.wayland.services.hands.type_text(self.clock(), text, self.cancel)?;
        self.wayland.settle(self.cancel)?;
        // Nobody but the compositor knows what else is pressed.
        Ok(TypedText::default())
    }
}

/// A place that counts from where the root of its window says that it is, on the screen.
fn moved_to(own: Rect, root: Rect, window: Rect) -> Rect {
    let shift = |at: i32, from: i32, to: i32| at.saturating_sub(from).saturating_add(to);
    Rect { x: shift(own.x, root.x, window.x), y: shift(own.y, root.y, window.y), ..own }
}

impl Wayland {
    /// Nothing where the point is a place for the pointer.
    fn check_aim(&self, at: Point) -> Result<()> {
        self.region.check(&[at])?;
        let outputs = self.services.outputs()?;
        if outputs.iter().any(|output| output.logical.contains(at)) {
            return Ok(());
        }
        let screen = super::layout_of(&outputs).unwrap_or_default();
        Err(Error::bad_request(format!(
            "the point {},{} is off the screen, which has {}x{} pixels",
            at.x, at.y, screen.width, screen.height
        )))
    }

    /// Menus are surfaces of their own, whose place only the compositor knows; those in a menu bar are in the window.
    fn is_in_popup(&self, element: &Handle, cancel: &Cancel) -> Result<bool> {
        let Some(parent) = self.accessible.parent(element, cancel)? else { return Ok(false) };
        let parent = self.accessible.look_at(&parent, cancel)?;
        Ok(element_state(&parent).is_menu || parent.is_popup())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_count_from_the_corner_of_the_window() {
        let check =
            |own, root, window, expected| assert_eq!(moved_to(own, root, window), expected, "{own:?}");
        let (own, window) = (Rect::new(36, 43, 5, 6), Rect::new(100, 200, 300, 300));
        check(own, Rect::new(26, 23, 300, 300), window, Rect::new(110, 220, 5, 6));
        check(own, Rect::new(0, 0, 300, 300), window, Rect::new(136, 243, 5, 6));
        check(Rect::new(i32::MAX, 0, 1, 1), Rect::default(), window, Rect::new(i32::MAX, 200, 1, 1));
    }
}
