//! Which way an input takes, the most direct first: the element itself is asked; where it cannot do it, or says that it
//! did and did not, pointer and keyboard do it.
//!
//! What can be done and known is behind [`Backend`], and what an element can be asked for is in [`ElementState`]: every
//! system fills in both, and every decision is made here, once, and tested without any of them.
//!
//! What toolkits answer is not believed where it can be read back: GTK4 says yes to a text that it does not take,
//! progress bars to a value that they ignore, Qt to a focus that it does not give.

use std::cell::Cell;
use std::time::Duration;

use super::backend::{Backend, ElementState, InputEffect, OptionItem, Request, RequestOutcome, TypedText};
use super::date_field::digits_of_parts;
use super::{
    Drag, PointerAction, choice_index, done_by, done_with_note, key_combo, no_point, option_not_found,
};
use crate::clock::{Cancel, Clock};
use crate::error::{Error, Kind, Result};
use crate::model::element::Range;
use crate::model::input::{Act, Button, Delivery, Handle, Key, Modifier, OptionChoice};
use crate::model::{NamedKey, Point, Rect};
use crate::platform::{Done, PressGuard, PressKind, Route, Unguarded};

/// How long a value, a selection or a focus may take until it can be read back.
pub const READ_BACK_TIME: Duration = Duration::from_millis(400);
const POPUP_TIME: Duration = Duration::from_millis(1_000);
const STEP: Duration = Duration::from_millis(20);
/// The parts of a date may be in a group of it.
const LEVELS_OF_DATE: usize = 2;
/// LibreOffice has seven groups between a field and its tool bar.
const LEVELS_OF_BAR: usize = 9;
/// Menus in menus.
const LEVELS_OF_MENUS: usize = 6;
/// While another menu is open, the first click on a menu may only close that.
const CLICKS_ON_A_MENU: usize = 2;

pub fn act(backend: &dyn Backend, guard: &dyn PressGuard, act: &Act, delivery: Delivery) -> Result<Done> {
    let interaction = Interaction::new(backend, guard, delivery);
    let done = interaction.act(act)?;
    // In the background that was waited for already.
    let switches = delivery == Delivery::Foreground && interaction.switches.get();
    let is_late = switches || is_slow(act);
    let effect = match act.element() {
        _ if done.verified => InputEffect::within(AFTER_READ_BACK),
        Some(element) if !is_late => backend.effect(element, done.route)?,
        _ => InputEffect::within(backend.profile().timing.effect),
    };
    let comes_late = is_late || effect.comes_late;
    Ok(Done { settles_in: effect.within, rests: effect.rests, comes_late, ..done })
}

/// What an application may answer after a pause of its own, such as with a tooltip.
fn is_slow(act: &Act) -> bool {
    matches!(act, Act::Hover { .. } | Act::Drag { .. })
}

/// What has come about may still bring something else with it.
const AFTER_READ_BACK: Duration = Duration::from_millis(40);

/// Refuses what would be refused before anything is done.
pub fn check(backend: &dyn Backend, act: &Act) -> Result<()> {
    let interaction = Interaction::new(backend, &Unguarded, Delivery::Background);
    match act {
        Act::SetValue { element, text } => interaction.check_value(element, text).map(|_| ()),
        Act::Scroll { .. } | Act::Hover { .. } => Ok(()),
        _ => act.element().map_or(Ok(()), |element| interaction.enabled(element).map(|_| ())),
    }
}

/// Looks again and again for so long, and once more when the time is over. Looks may be slow, so that it is the clock that
/// counts and not how often was looked.
pub fn poll_until(
    clock: &Clock,
    cancel: &Cancel,
    at_most: Duration,
    mut holds: impl FnMut() -> Result<bool>,
) -> Result<bool> {
    let end = clock.now() + at_most;
    loop {
        let left = end.saturating_sub(clock.now());
        if holds()? {
            return Ok(true);
        }
        if left.is_zero() {
            return Ok(false);
        }
        clock.sleep(STEP.min(end.saturating_sub(clock.now())), cancel)?;
    }
}

/// What is said of a text that may have come out otherwise.
const DISTURBED: &str =
    "someone pressed keys at the same time, so the text may be mixed with theirs; check the field's value";

const UNFOCUSED: &str = "it was clicked, but does not report that it has the focus";

/// GTK 3 runs a dialog inside of the action that opens it, and a key that it gets meanwhile stops it for good.
const UNANSWERED: &str = "the application has not answered since: it may have opened a dialog inside of this action, and \
                          then tells of no element before that is closed. Close it with the mouse (click_at) and press \
                          no key before, which may hang the application";

const SELECTED_ONLY: &str = "it was selected; whether the application has applied that was not seen. Where it has not, \
                             scroll the option into view and click it";

/// One input under way.
struct Interaction<'a> {
    backend: &'a dyn Backend,
    guard: &'a dyn PressGuard,
    delivery: Delivery,
    /// The element should be on where it was off, or the other way round, however long its application takes to say so:
    /// LibreOffice does after a third of a second.
    switches: Cell<bool>,
}

impl<'a> Interaction<'a> {
    fn new(backend: &'a dyn Backend, guard: &'a dyn PressGuard, delivery: Delivery) -> Self {
        Self { backend, guard, delivery, switches: Cell::new(false) }
    }

    fn act(&self, act: &Act) -> Result<Done> {
        match act {
            // Only the pointer holds keys meanwhile.
            Act::Click { element, at, button, count, modifiers } if !modifiers.is_empty() => {
                self.point_holding(PointerAction::Click(*button, *count), element.as_ref(), *at, modifiers)
            }
            Act::Click { element: Some(element), at, button: Button::Left, count: 1, .. } => {
                self.click(element, *at)
            }
            Act::Click { element: Some(element), at, button: Button::Right, count: 1, .. } => {
                self.open_menu(element, *at)
            }
            Act::Click { element, at, button, count, .. } => {
                self.point(PointerAction::Click(*button, *count), element.as_ref(), *at)
            }
            Act::Invoke { element } => self.invoke(element),
            Act::Focus { element } => self.focus(element),
            Act::SetValue { element, text } => self.set_value(element, text),
            Act::Select { element, option: None } => {
                self.request_or_click(element, None, |state| state.click.clone())
            }
            Act::Select { element, option: Some(choice) } => self.select(element, choice),
            Act::Type { element, window_uid, text } => {
                self.take_keyboard(element.as_ref(), window_uid.as_deref())?;
                Ok(typing_done(self.backend.type_text(text)?))
            }
            Act::Key { element, window_uid, keys } => {
                self.take_keyboard(element.as_ref(), window_uid.as_deref())?;
                self.backend.press_keys(keys).map(|()| done_by(Route::Keyboard))
            }
            Act::Scroll { element: None, at: None, clicks } => self
                .backend
                .use_pointer(PointerAction::Scroll(*clicks), None, &[])
                .map(|()| done_by(Route::Pointer)),
            Act::Scroll { element, at, clicks } => {
                self.point(PointerAction::Scroll(*clicks), element.as_ref(), *at)
            }
            Act::Hover { element, at } => self.point(PointerAction::Hover, element.as_ref(), *at),
            Act::Drag { from, to, modifiers, duration } => {
                self.rest_at(*from, PressKind::Button)?;
                let before_release = || self.guard.check_press(*to, PressKind::Button);
                let drag = Drag {
                    from: *from,
                    to: *to,
                    modifiers,
                    duration: *duration,
                    before_release: &before_release,
                };
                self.backend.drag(&drag).map(|()| done_by(Route::Pointer))
            }
        }
    }

    fn until(&self, at_most: Duration, holds: impl FnMut() -> Result<bool>) -> Result<bool> {
        poll_until(self.backend.clock(), self.backend.cancel(), at_most, holds)
    }

    /// An element that can be worked. GTK3 says yes to actions of insensitive widgets and does nothing.
    fn enabled(&self, element: &Handle) -> Result<ElementState> {
        let state = self.backend.element_state(element)?;
        if state.enabled {
            return Ok(state);
        }
        Err(Error::new(Kind::ElementDisabled, format!("'{}' is disabled now", state.name)))
    }

    // ── clicking ───────────────────────────────────────────────────────────────────────────────────

    /// The element itself is asked first, but for one that the pointer serves better where it meets it.
    fn click(&self, element: &Handle, at: Option<Point>) -> Result<Done> {
        let state = self.enabled(element)?;
        self.switches.set(is_switched_by_click(&state));
        if state.runs_dialog
            && let Some(done) = self.click_as_a_person(element, &state, at)?
        {
            return Ok(done);
        }
        if state.pointer_first && self.delivery == Delivery::Foreground && self.is_met(element, &state, at)? {
            return self.point(PointerAction::Click(Button::Left, 1), Some(element), at);
        }
        self.request_or_point(element, at, &state, state.click.clone())
    }

    /// The click on something whose own action may leave its application without an answer: an entry of a closed menu is
    /// clicked in its menu, and what says that it opens a dialog is never asked to do so by itself. `None` where it may be.
    fn click_as_a_person(
        &self,
        element: &Handle,
        state: &ElementState,
        at: Option<Point>,
    ) -> Result<Option<Done>> {
        let opens_dialog = asks_for_more(&state.name);
        if self.delivery == Delivery::Background {
            return if opens_dialog { Err(dialog_needs_front(state)) } else { Ok(None) };
        }
        let is_away = state.is_menu && state.showing == Some(false);
        let left_click = PointerAction::Click(Button::Left, 1);
        if is_away && self.open_menus_to(element)? {
            return self.point(left_click, Some(element), None).map(Some);
        }
        match opens_dialog {
            false => Ok(None),
            true if is_away || state.pointer_first => self.point(left_click, Some(element), at).map(Some),
            true => Err(unreachable(
                state,
                "a menu is open, and a click beside it only closes that; close it first",
            )),
        }
    }

    /// Opens the menus that the element is in with the pointer, from the outermost one on; whether the element shows then.
    fn open_menus_to(&self, element: &Handle) -> Result<bool> {
        let parent = |inner: &Handle| self.backend.position(inner).ok().flatten().map(|it| it.parent);
        let is_menu = |it: &Handle| self.backend.element_state(it).is_ok_and(|state| state.is_menu);
        let around = std::iter::successors(parent(element), parent).take(LEVELS_OF_MENUS);
        let mut way: Vec<Handle> = around.take_while(is_menu).collect();
        way.reverse();
        for (at, menu) in way.iter().enumerate() {
            let inner = way.get(at + 1).unwrap_or(element);
            if self.is_out(inner)? {
                continue;
            }
            if !self.is_out(menu)? || !self.opens_menu(menu, inner)? {
                return Ok(false);
            }
        }
        self.is_out(element)
    }

    fn opens_menu(&self, menu: &Handle, inner: &Handle) -> Result<bool> {
        for _ in 0..CLICKS_ON_A_MENU {
            self.point(PointerAction::Click(Button::Left, 1), Some(menu), None)?;
            if self.until(READ_BACK_TIME, || self.is_out(inner))? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether the pointer meets the element as things are, without a raise or a scroll.
    fn is_met(&self, element: &Handle, state: &ElementState, at: Option<Point>) -> Result<bool> {
        match self.backend.visible_bounds(element, state)? {
            Some(place) => self.backend.hits_window(&element.window_uid, point_in(place, at)),
            None => Ok(false),
        }
    }

    fn invoke(&self, element: &Handle) -> Result<Done> {
        let state = self.enabled(element)?;
        if state.runs_dialog
            && let Some(done) = self.click_as_a_person(element, &state, None)?
        {
            return Ok(done);
        }
        self.request_or_point(element, None, &state, state.invoke.clone())
    }

    fn request_or_click(
        &self,
        element: &Handle,
        at: Option<Point>,
        request: fn(&ElementState) -> Option<Request>,
    ) -> Result<Done> {
        let state = self.enabled(element)?;
        self.request_or_point(element, at, &state, request(&state))
    }

    fn request_or_point(
        &self,
        element: &Handle,
        at: Option<Point>,
        state: &ElementState,
        request: Option<Request>,
    ) -> Result<Done> {
        let is_focus = request == Some(Request::Focus);
        if is_focus
            && self.delivery == Delivery::Foreground
            && !self.backend.has_keyboard(&element.window_uid)?
        {
            self.backend.raise_window(&element.window_uid)?;
        }
        if let Some(done) = self.request(element, request)? {
            // What only gives the focus has done nothing where it did not.
            if !is_focus || self.is_focused_soon(element)? {
                return Ok(Done { verified: is_focus || self.has_switched(element, state)?, ..done });
            }
        }
        match self.delivery {
            Delivery::Foreground => {
                let done = self.point(PointerAction::Click(Button::Left, 1), Some(element), at)?;
                let is_met = !is_focus || self.is_focused_soon(element)?;
                Ok(if is_met { done } else { done_with_note(done.route, UNFOCUSED) })
            }
            Delivery::Background => self.click_unseen(element, state),
        }
    }

    /// What a click would do, where no pointer can make one. What may mean something else counts only when it can be
    /// read back.
    fn click_unseen(&self, element: &Handle, state: &ElementState) -> Result<Done> {
        if let Some(done) = self.request(element, state.unseen_click.clone())?
            && self.has_switched(element, state)?
        {
            return Ok(Done { verified: true, ..done });
        }
        if state.selected == Some(false)
            && let Some(position) = self.backend.position(element)?
            && self.backend.request(&position.parent, Request::SelectChild(position.index))?
                == RequestOutcome::Accepted
            && self
                .until(READ_BACK_TIME, || Ok(self.backend.element_state(element)?.selected == Some(true)))?
        {
            return Ok(Done { verified: true, ..done_with_note(Route::Accessibility, "select") });
        }
        Err(only_in_front(state))
    }

    /// Whether something behind others that is on or off has become the other. In front, whoever looks next sees it.
    fn has_switched(&self, element: &Handle, before: &ElementState) -> Result<bool> {
        if before.selected.is_none() || self.delivery == Delivery::Foreground {
            return Ok(false);
        }
        // A window that closed has nothing to be read back.
        let now = || self.backend.element_state(element).map_or(before.selected, |state| state.selected);
        self.until(self.backend.profile().timing.effect, || Ok(now() != before.selected))
    }

    /// Nothing is taken from the person at the desktop where nothing may be.
    fn check_front(&self, state: &ElementState) -> Result<()> {
        match self.delivery {
            Delivery::Foreground => Ok(()),
            Delivery::Background => Err(only_in_front(state)),
        }
    }

    fn open_menu(&self, element: &Handle, at: Option<Point>) -> Result<Done> {
        let state = self.backend.element_state(element)?;
        match self.request(element, state.menu.filter(|_| state.enabled))? {
            Some(done) => Ok(done),
            None => self.point(PointerAction::Click(Button::Right, 1), Some(element), at),
        }
    }

    /// `None` where the element cannot do it, or says no.
    fn request(&self, element: &Handle, request: Option<Request>) -> Result<Option<Done>> {
        let Some(request) = request else {
            return Ok(None);
        };
        let label = request.label().to_owned();
        Ok(match self.backend.request(element, request)? {
            RequestOutcome::Accepted => Some(done_with_note(Route::Accessibility, label)),
            RequestOutcome::Unanswered => Some(done_with_note(Route::Accessibility, UNANSWERED)),
            RequestOutcome::Refused => None,
        })
    }

    // ── the pointer ────────────────────────────────────────────────────────────────────────────────

    fn point(&self, action: PointerAction, element: Option<&Handle>, at: Option<Point>) -> Result<Done> {
        self.point_holding(action, element, at, &[])
    }

    fn point_holding(
        &self,
        action: PointerAction,
        element: Option<&Handle>,
        at: Option<Point>,
        held: &[Modifier],
    ) -> Result<Done> {
        let at = match (element, at) {
            (Some(element), at) => self.aim(element, at)?,
            (None, Some(at)) => at,
            (None, None) => return Err(no_point()),
        };
        self.press(action, at, held).map(|()| done_by(Route::Pointer))
    }

    /// In one piece where nobody judges. Else press by press, with a look before each: the pointer itself may bring
    /// something up, and the first of two clicks may change what the second one meets.
    fn press(&self, action: PointerAction, at: Point, held: &[Modifier]) -> Result<()> {
        let send = |action| self.backend.use_pointer(action, Some(at), held);
        match action {
            _ if !self.guard.judges() => send(action),
            PointerAction::Hover | PointerAction::FurtherClick(..) => send(action),
            PointerAction::Click(button, count) => {
                self.rest_at(at, PressKind::Button)?;
                send(PointerAction::Click(button, 1))?;
                (2..=count).try_for_each(|number| {
                    self.guard.check_press(at, PressKind::Button)?;
                    send(PointerAction::FurtherClick(button, number))
                })
            }
            PointerAction::Scroll(clicks) => {
                self.rest_at(at, PressKind::Wheel)?;
                (0..clicks.unsigned_abs()).try_for_each(|turned| {
                    if turned > 0 {
                        self.guard.check_press(at, PressKind::Wheel)?;
                    }
                    send(PointerAction::Scroll(clicks.signum()))
                })
            }
        }
    }

    /// Brings the pointer to a point, and looks there before anything is pressed.
    fn rest_at(&self, at: Point, kind: PressKind) -> Result<()> {
        if !self.guard.judges() {
            return Ok(());
        }
        self.backend.use_pointer(PointerAction::Hover, Some(at), &[])?;
        self.guard.check_press(at, kind)
    }

    /// A point of the element as it is now that a pointer reaches: scrolled into view and uncovered.
    fn aim(&self, element: &Handle, at: Option<Point>) -> Result<Point> {
        let state = self.backend.element_state(element)?;
        self.check_front(&state)?;
        let place = match self.backend.visible_bounds(element, &state)? {
            None if state.scrolls => self.scroll_into_view(element)?,
            place => place,
        };
        let place = place.ok_or_else(|| unreachable(&state, "it is not on the screen now"))?;
        let point = point_in(place, at);
        self.uncover(element, &state, point)?;
        Ok(point)
    }

    fn scroll_into_view(&self, element: &Handle) -> Result<Option<Rect>> {
        if self.backend.request(element, Request::ScrollIntoView)? == RequestOutcome::Refused {
            return Ok(None);
        }
        let mut place = None;
        self.until(READ_BACK_TIME, || {
            place = self.backend.visible_bounds(element, &self.backend.element_state(element)?)?;
            Ok(place.is_some())
        })?;
        Ok(place)
    }

    fn uncover(&self, element: &Handle, state: &ElementState, point: Point) -> Result<()> {
        let reached = || self.backend.hits_window(&element.window_uid, point);
        if reached()? {
            return Ok(());
        }
        self.backend.raise_window(&element.window_uid)?;
        if self.until(READ_BACK_TIME, reached)? {
            return Ok(());
        }
        Err(unreachable(state, "another window covers it, even after its own was brought to the front"))
    }

    // ── focus ──────────────────────────────────────────────────────────────────────────────────────

    fn focus(&self, element: &Handle) -> Result<Done> {
        let state = self.enabled(element)?;
        let active = self.backend.has_keyboard(&element.window_uid)?;
        if state.focused && active {
            return Ok(done_with_note(Route::Accessibility, "it already had the focus"));
        }
        self.check_front(&state)?;
        // Qt says yes and does nothing while its window is not the active one; GTK4 answers an error.
        if !active {
            self.backend.raise_window(&element.window_uid)?;
        }
        if self.backend.request(element, Request::Focus)? == RequestOutcome::Accepted
            && self.is_focused_soon(element)?
        {
            return Ok(done_by(Route::Accessibility));
        }
        self.point(PointerAction::Click(Button::Left, 1), Some(element), None)?;
        if self.is_focused_soon(element)? {
            return Ok(done_by(Route::Pointer));
        }
        Ok(done_with_note(Route::Pointer, UNFOCUSED))
    }

    fn is_focused_soon(&self, element: &Handle) -> Result<bool> {
        self.until(READ_BACK_TIME, || Ok(self.backend.element_state(element)?.focused))
    }

    /// Keys go to whatever has the focus, so nothing is sent before it is where it is meant to be.
    fn take_keyboard(&self, element: Option<&Handle>, window_uid: Option<&str>) -> Result<()> {
        match (element, window_uid) {
            (Some(element), _) => self.focus_for_keys(element),
            (None, Some(uid)) => self.raise_for_keys(uid),
            (None, None) => Ok(()),
        }
    }

    fn focus_for_keys(&self, element: &Handle) -> Result<()> {
        self.focus(element)?;
        self.await_keyboard(&element.window_uid)
    }

    fn raise_for_keys(&self, window_uid: &str) -> Result<()> {
        if self.backend.has_keyboard(window_uid)? {
            return Ok(());
        }
        if self.delivery == Delivery::Background {
            let message = "keys go to the window in front, and this one is not; nothing was typed. delivery \
                           \"foreground\" brings it there";
            return Err(Error::new(Kind::WindowOccluded, message).with("window_uid", window_uid));
        }
        self.backend.raise_window(window_uid)?;
        self.await_keyboard(window_uid)
    }

    fn await_keyboard(&self, window_uid: &str) -> Result<()> {
        if self.until(READ_BACK_TIME, || self.backend.has_keyboard(window_uid))? {
            return Ok(());
        }
        let message = "the window did not get the keyboard focus, so nothing was typed";
        Err(Error::new(Kind::WindowOccluded, message).with("window_uid", window_uid))
    }

    // ── values ─────────────────────────────────────────────────────────────────────────────────────

    fn set_value(&self, element: &Handle, text: &str) -> Result<Done> {
        let state = self.check_value(element, text)?;
        let date = self.date_to_type(element, &state, text)?;
        if !date.is_empty() {
            return self.set_date(&state, &date);
        }
        if let (Some(range), Some(number)) = (state.range, parse_number(text)) {
            return self.set_number(element, &state, range, number);
        }
        if state.settable {
            self.focus_first(element, &state)?;
            if self.takes_text(element, &state, text)? {
                return Ok(verified(Route::Accessibility));
            }
        }
        self.type_over(element, &state, text)
    }

    /// A text in a combo box or a tool bar may count only when enter ends it, so that the keys behind it have to go there:
    /// LibreOffice keeps the focus in the document while the box of its styles takes a text.
    fn focus_first(&self, element: &Handle, state: &ElementState) -> Result<()> {
        if self.delivery == Delivery::Foreground
            && !state.focused
            && (state.is_bar || self.is_in(element, LEVELS_OF_BAR, |around| around.is_bar))
            && self.backend.has_keyboard(&element.window_uid)?
        {
            self.backend.request(element, Request::Focus)?;
        }
        Ok(())
    }

    /// Whether this holds for one of those that are just around the element, as far as it tells what is.
    fn is_in(&self, element: &Handle, levels: usize, holds: fn(&ElementState) -> bool) -> bool {
        let around = |inner: &Handle| self.backend.position(inner).ok().flatten().map(|it| it.parent);
        let mut around = std::iter::successors(around(element), around).take(levels);
        around.any(|parent| self.backend.element_state(&parent).is_ok_and(|state| holds(&state)))
    }

    /// The element, if it is one that could take this value.
    fn check_value(&self, element: &Handle, text: &str) -> Result<ElementState> {
        let state = self.enabled(element)?;
        match (state.range, parse_number(text)) {
            (Some(range), Some(number)) if !is_within(range, number) => Err(out_of_range(range, number)),
            (Some(_), Some(_)) => Ok(state),
            _ if state.is_date => self.date_to_type(element, &state, text).map(|_| state),
            _ if state.settable || state.editable => Ok(state),
            _ => Err(not_editable(&state)),
        }
    }

    /// What to type into each part of a date; nothing for a field that has no parts.
    fn date_to_type(
        &self,
        element: &Handle,
        state: &ElementState,
        text: &str,
    ) -> Result<Vec<(Handle, String)>> {
        if !state.is_date {
            return Ok(Vec::new());
        }
        let parts = self.backend.date_parts(element)?;
        if parts.is_empty() {
            return Ok(Vec::new());
        }
        let digits = digits_of_parts(&state.name, &parts, text)?;
        Ok(parts.into_iter().map(|part| part.handle).zip(digits).collect())
    }

    /// Part by part, whichever has the focus after the one before, and all of them read back.
    fn set_date(&self, state: &ElementState, date: &[(Handle, String)]) -> Result<Done> {
        self.check_front(state)?;
        for (part, digits) in date {
            self.focus_for_keys(part)?;
            self.backend.type_text(digits)?;
        }
        for (part, digits) in date {
            if self.read_back(part, digits)? != Some(true) {
                return Err(holds_another(&self.backend.element_with_text(part)?));
            }
        }
        Ok(verified(Route::Keyboard))
    }

    fn set_number(&self, element: &Handle, state: &ElementState, range: Range, number: f64) -> Result<Done> {
        self.backend.request(element, Request::SetNumber(number))?;
        let now = || Ok::<_, Error>(self.backend.element_state(element)?.range.and_then(|range| range.now));
        if self.until(READ_BACK_TIME, || Ok(now()?.is_some_and(|now| (now - number).abs() < 1e-6)))? {
            return Ok(verified(Route::Accessibility));
        }
        match now()? {
            Some(now) if Some(now) != range.now => Ok(done_with_note(
                Route::Accessibility,
                format!("the value is {now}, the nearest that the element accepts"),
            )),
            _ if state.editable => self.type_over(element, state, &number.to_string()),
            _ => Err(not_editable(state)),
        }
    }

    /// Whether it holds the text after it was asked to take it. What a field says to that is not believed where it can be
    /// read back. A secret tells at most its length, which the one before may have had too: there a yes is needed as well.
    fn takes_text(&self, element: &Handle, state: &ElementState, text: &str) -> Result<bool> {
        let outcome = self.backend.request(element, Request::SetText(text.to_owned()))?;
        if state.secret && outcome != RequestOutcome::Accepted {
            return Ok(false);
        }
        let unread = state.secret && self.backend.profile().trusts_silent_secrets;
        Ok(self.read_back(element, text)?.unwrap_or(unread))
    }

    fn read_back(&self, element: &Handle, wanted: &str) -> Result<Option<bool>> {
        let mut holds = None;
        self.until(READ_BACK_TIME, || {
            holds = self.backend.element_with_text(element)?.holds_text(wanted);
            Ok(holds != Some(false))
        })?;
        Ok(holds)
    }

    /// A line break may press a button, and what comes up then gets the rest, which nobody has judged.
    fn refuse_unjudged_lines(&self, text: &str) -> Result<()> {
        let goes_on = text.split_once(['\n', '\r']).is_some_and(|(_, rest)| !rest.is_empty());
        if goes_on && self.guard.judges() {
            return Err(Error::new(
                Kind::PatternUnsupported,
                "the field takes its value by keys alone, and what its line breaks press has not been judged; \
                 nothing was typed. type_text judges each line",
            ));
        }
        Ok(())
    }

    fn type_over(&self, element: &Handle, state: &ElementState, text: &str) -> Result<Done> {
        self.check_front(state)?;
        self.refuse_unjudged_lines(text)?;
        self.focus_for_keys(element)?;
        // What is typed into a part of a date replaces it, and all of the page would be selected.
        if !state.ends_by_enter && !self.is_in(element, LEVELS_OF_DATE, |around| around.is_date) {
            self.select_text(element, state)?;
        }
        let typed = match text {
            "" => self.press_delete()?,
            text => self.backend.type_text(text)?,
        };
        if state.ends_by_enter && !text.is_empty() {
            self.backend.press_keys(&key_combo(&[], Key::Named(NamedKey::Enter)))?;
        }
        match self.read_back(element, text)? {
            Some(true) => Ok(verified(Route::Keyboard)),
            None if typed.disturbed => Ok(done_with_note(Route::Keyboard, DISTURBED)),
            None => Ok(done_with_note(Route::Keyboard, "typed; the field does not report its value")),
            Some(false) if state.ends_by_enter && text.starts_with('=') => {
                Ok(done_with_note(Route::Keyboard, "typed; the cell shows the result of the formula"))
            }
            Some(false) => Err(holds_another(&self.backend.element_with_text(element)?)),
        }
    }

    fn press_delete(&self) -> Result<TypedText> {
        let key = key_combo(&[], self.backend.profile().delete_key);
        self.backend.press_keys(&key).map(|()| TypedText::default())
    }

    /// Keys only where the element does not do it: which key a letter is on depends on the layout.
    fn select_text(&self, element: &Handle, state: &ElementState) -> Result<()> {
        if state.selects_text
            && self.backend.request(element, Request::SelectText)? == RequestOutcome::Accepted
        {
            return Ok(());
        }
        self.backend.press_keys(&key_combo(&[self.backend.profile().command], Key::Character('a')))
    }

    // ── options ────────────────────────────────────────────────────────────────────────────────────

    fn select(&self, element: &Handle, choice: &OptionChoice) -> Result<Done> {
        let state = self.enabled(element)?;
        let mut options = self.backend.options(element)?;
        // A list that shows its options shows all of them; clicking into it would choose one.
        let opens = find_option(&options, choice).is_none() && (state.hides_options || options.is_empty());
        if opens {
            // Most combo boxes, those of GTK4 and Qt too, make their options when they open.
            self.open(element, &state)?;
            self.until(POPUP_TIME, || {
                options = self.backend.options(element)?;
                Ok(find_option(&options, choice).is_some())
            })?;
        }
        let Some(option) = find_option(&options, choice) else {
            if opens {
                self.close(element, &state, false)?;
            }
            return Err(option_not_found(choice, option_names(&options)));
        };
        let done = self.choose(element, &state, option)?;
        if opens {
            self.close(element, &state, true)?;
        }
        Ok(done)
    }

    fn open(&self, element: &Handle, state: &ElementState) -> Result<()> {
        // A list that opens takes the keyboard.
        self.check_front(state)?;
        if self.request(element, state.open.clone())?.is_none() {
            self.point(PointerAction::Click(Button::Left, 1), Some(element), None)?;
        }
        Ok(())
    }

    /// What was opened to look into it is closed again, if choosing did not do it. A menu that does not say whether it is
    /// open closes when something is chosen, and else by a key, which goes nowhere else while it is open.
    fn close(&self, element: &Handle, state: &ElementState, was_chosen: bool) -> Result<()> {
        if !state.hides_options {
            return Ok(());
        }
        let tells = state.open == Some(Request::Expand);
        let expanded = if tells { self.backend.element_state(element)?.expanded } else { None };
        match expanded {
            Some(true) => self.backend.request(element, Request::Collapse).map(|_| ()),
            None if !was_chosen => self.backend.press_keys(&key_combo(&[], Key::Named(NamedKey::Escape))),
            Some(false) | None => Ok(()),
        }
    }

    fn choose(&self, element: &Handle, state: &ElementState, option: &OptionItem) -> Result<Done> {
        if state.options_by_pointer {
            return self.choose_by_pointer(element, state, option);
        }
        if self.select_child(element, state, option)? {
            return Ok(verified(Route::Accessibility));
        }
        if self.backend.element_state(&option.handle)?.click.is_none() {
            self.bring_out(element, state, &option.handle)?;
        }
        let own = self.enabled(&option.handle)?;
        if let Some(done) = self.request(&option.handle, own.click.clone())? {
            if self.is_chosen_soon(element, option)? {
                return Ok(Done { verified: true, ..done });
            }
            // A press is not repeated: it may have done something that nobody tells. A selection that did not come is.
            if own.click != Some(Request::Select) {
                return Ok(selection_unconfirmed(&done));
            }
        }
        if own.click.is_some() {
            self.bring_out(element, state, &option.handle)?;
        }
        let done = self.point(PointerAction::Click(Button::Left, 1), Some(&option.handle), None)?;
        let chosen = self.is_chosen_soon(element, option)?;
        Ok(if chosen { Done { verified: true, ..done } } else { selection_unconfirmed(&done) })
    }

    /// An option that an application applies when it is clicked and not when it is selected.
    fn choose_by_pointer(&self, element: &Handle, state: &ElementState, option: &OptionItem) -> Result<Done> {
        let own = self.enabled(&option.handle)?;
        if self.delivery == Delivery::Foreground && self.is_met(&option.handle, &own, None)? {
            let done = self.point(PointerAction::Click(Button::Left, 1), Some(&option.handle), None)?;
            let chosen = self.is_chosen_soon(element, option)?;
            return Ok(if chosen { Done { verified: true, ..done } } else { selection_unconfirmed(&done) });
        }
        match self.select_child(element, state, option)? {
            true => Ok(done_with_note(Route::Accessibility, SELECTED_ONLY)),
            false => Err(unreachable(&own, "it does not show, and it cannot be selected by itself")),
        }
    }

    /// The element selects the option, or the option's parent does. Only what can be read back counts.
    fn select_child(&self, element: &Handle, state: &ElementState, option: &OptionItem) -> Result<bool> {
        let Some(position) = &option.position else {
            return Ok(false);
        };
        let own = state.selects_children.then_some(element);
        let parent = Some(&position.parent).filter(|parent| *parent != element);
        for container in own.into_iter().chain(parent) {
            let outcome = self.backend.request(container, Request::SelectChild(position.index))?;
            if outcome == RequestOutcome::Accepted && self.is_chosen_soon(element, option)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Opens the element where its options are put away, so that the pointer reaches one of them.
    fn bring_out(&self, element: &Handle, state: &ElementState, option: &Handle) -> Result<()> {
        if !state.hides_options || self.is_option_out(element, option)? {
            return Ok(());
        }
        self.open(element, state)?;
        self.until(POPUP_TIME, || self.is_option_out(element, option)).map(|_| ())
    }

    /// Qt says of the options of a closed combo box that they show; the list that they are in has no place then.
    fn is_option_out(&self, element: &Handle, option: &Handle) -> Result<bool> {
        let list = self.backend.position(option)?.map(|position| position.parent);
        let list = list.filter(|list| list != element);
        let has_place =
            |list: &Handle| self.backend.element_state(list).is_ok_and(|list| list.bounds.is_some());
        Ok(list.as_ref().is_none_or(has_place) && self.is_out(option)?)
    }

    fn is_out(&self, option: &Handle) -> Result<bool> {
        let state = self.backend.element_state(option)?;
        match state.showing {
            Some(showing) => Ok(showing),
            None => Ok(self.backend.visible_bounds(option, &state)?.is_some()),
        }
    }

    fn is_chosen_soon(&self, element: &Handle, option: &OptionItem) -> Result<bool> {
        self.until(READ_BACK_TIME, || self.is_chosen(element, option))
    }

    /// The option says so, or what it is chosen in shows its name.
    fn is_chosen(&self, element: &Handle, option: &OptionItem) -> Result<bool> {
        if self.backend.element_with_text(element)?.shows_option(&option.name) {
            return Ok(true);
        }
        // A list that closed has thrown its options away, which says nothing.
        Ok(self.backend.element_state(&option.handle).is_ok_and(|now| now.selected == Some(true)))
    }
}

/// The caller's point was chosen with care for what covers the element; it counts while it fits.
fn point_in(place: Rect, at: Option<Point>) -> Point {
    at.filter(|at| place.contains(*at)).unwrap_or(place.center())
}

/// Whether a click turns it on or off. What is selected by a click stays so by the next.
fn is_switched_by_click(state: &ElementState) -> bool {
    state.selected == Some(false) || (state.selected == Some(true) && state.unseen_click.is_some())
}

/// It was read back.
fn verified(route: Route) -> Done {
    Done { verified: true, ..done_by(route) }
}

fn parse_number(text: &str) -> Option<f64> {
    text.trim().parse::<f64>().ok().filter(|number| number.is_finite())
}

fn typing_done(typed: TypedText) -> Done {
    if typed.disturbed { done_with_note(Route::Keyboard, DISTURBED) } else { done_by(Route::Keyboard) }
}

fn find_option<'a>(options: &'a [OptionItem], choice: &OptionChoice) -> Option<&'a OptionItem> {
    options.get(choice_index(option_names(options), choice)?)
}

fn option_names(options: &[OptionItem]) -> impl Iterator<Item = &str> + Clone {
    options.iter().map(|option| option.name.as_str())
}

/// Ends that do not leave anything between them are no ends.
fn is_within(range: Range, number: f64) -> bool {
    match (range.min, range.max) {
        (Some(min), Some(max)) if min >= max => true,
        (min, max) => min.is_none_or(|min| number >= min) && max.is_none_or(|max| number <= max),
    }
}

fn selection_unconfirmed(done: &Done) -> Done {
    done_with_note(done.route, "the option was clicked, but does not report that it is selected")
}

fn out_of_range(range: Range, number: f64) -> Error {
    let bound = |end: Option<f64>| end.map_or_else(|| "?".to_owned(), |end| end.to_string());
    let (min, max) = (bound(range.min), bound(range.max));
    Error::bad_request(format!("{number} is not between {min} and {max}"))
}

/// Most of a long text says as much as all of it.
const TOLD_OF_A_TEXT: usize = 200;

fn holds_another(state: &ElementState) -> Error {
    let holds = match (&state.text, state.length) {
        (Some(text), _) if !state.secret => format!("'{}'", cut_text(text, TOLD_OF_A_TEXT)),
        (_, Some(length)) => format!("{} characters", length.count()),
        _ => "another text".to_owned(),
    };
    let message = format!("typed, but '{}' holds {holds} now", state.name);
    Error::new(Kind::PatternUnsupported, message)
}

fn cut_text(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

fn only_in_front(state: &ElementState) -> Error {
    let name = if state.name.is_empty() { "the element".to_owned() } else { format!("'{}'", state.name) };
    let message = format!(
        "{name} needs the pointer or the keyboard for this, and its window is in the background; the argument \
         delivery:\"foreground\" brings the window to the front first"
    );
    Error::new(Kind::ElementOccluded, message)
}

/// Whether a name says that a dialog asks for more before anything is done: `Save As…`.
fn asks_for_more(name: &str) -> bool {
    let name = name.trim_end();
    name.ends_with('…') || name.ends_with("...")
}

fn dialog_needs_front(state: &ElementState) -> Error {
    let message = format!(
        "'{}' opens a dialog, and an application of GTK 3 answers nothing while a dialog is open that it opened in the \
         background; nothing was pressed. The argument delivery:\"foreground\" brings the window to the front and \
         clicks as a person does",
        state.name
    );
    Error::new(Kind::ElementOccluded, message)
}

fn not_editable(state: &ElementState) -> Error {
    Error::new(Kind::PatternUnsupported, format!("the value of '{}' cannot be set", state.name))
}

fn unreachable(state: &ElementState, why: &str) -> Error {
    Error::new(Kind::ElementOccluded, format!("the pointer cannot reach '{}': {why}", state.name))
}

#[cfg(test)]
mod tests;
