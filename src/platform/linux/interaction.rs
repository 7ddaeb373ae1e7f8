//! Inputs to elements of AT-SPI: what an element declares to the strategy of `platform::interaction`, and what it is asked
//! for. X11 and Wayland share this half; pointer, keys and windows are each one's own.

use std::time::Duration;

use super::accessibility::element::{AtspiElement, Child, ToldText};
use super::accessibility::{AtspiClient, roles};
use super::rest::{RestState, RestWait};
use super::{Linux, desktop, lease, pointer_target};
use crate::clock::{Cancel, Clock};
use crate::error::{Kind, Result};
use crate::model::element::Range;
use crate::model::input::{Act, Delivery, Handle, Key, Modifier};
use crate::model::{KeyCombo, NamedKey, Point, Rect, Window};
use crate::platform::interaction::{
    Backend, ChildPosition, DatePart, Drag, ElementState, InputEffect, InputProfile, OptionItem,
    PointerAction, Request, RequestOutcome, TextLength, Timing, TypedText, act, check, no_point,
};
use crate::platform::{Activation, Claimant, Desktop, Done, Input, PressGuard, Route};

/// Options further down than that are not options of this element.
const OPTION_DEPTH: usize = 4;
const MOST_OPTIONS: usize = 2_000;
/// Parts of a date further down than that are not this field's.
const DATE_DEPTH: usize = 2;
const DATE_PARTS: usize = 3;

/// GTK4 plays the press of a button for a quarter of a second before it happens.
const PLAYED_PRESS: Duration = Duration::from_millis(330);
/// How long a program may go on before it counts as busy with something else.
const TO_REST: Duration = Duration::from_millis(300);
/// For what a program tells of after it sleeps again.
const SETTLED: Duration = Duration::from_millis(40);
/// The same for one whose processes tell each other: Chromium gathers what changed in a page before it tells it.
const HANDED_ON: Duration = Duration::from_millis(160);

pub const PROFILE: InputProfile = InputProfile {
    // GTK4 plays the press of a button for a quarter of a second before it happens.
    timing: Timing { effect: Duration::from_millis(600) },
    command: Modifier::Ctrl,
    delete_key: Key::Named(NamedKey::Delete),
    trusts_silent_secrets: false,
};

pub fn element_state(told: &AtspiElement) -> ElementState {
    let is_cell = told.is_sheet_cell();
    let click = if is_cell { Some(Request::Focus) } else { told.click_action().map(Request::Perform) };
    ElementState {
        ends_by_enter: is_cell,
        is_date: roles::is_one_of(told.role, &[atspi::Role::DateEditor]),
        is_bar: roles::is_one_of(told.role, &[atspi::Role::ComboBox, atspi::Role::ToolBar]),
        is_menu: told.is_menu_entry() || roles::is_one_of(told.role, &[atspi::Role::Menu]),
        name: told.name.clone(),
        enabled: told.enabled(),
        focused: told.focused(),
        selected: roles::is_selected(told.role, told.states),
        showing: Some(told.shows()),
        bounds: told.extents.filter(|bounds| !bounds.is_empty()),
        window_offset: told.inset,
        invoke: click.clone(),
        open: click.clone(),
        click,
        unseen_click: told.toggle_action().map(Request::Perform),
        // GTK4 and Qt make the options of a combo box when it opens, and do not say so.
        hides_options: true,
        selects_children: told.selects(),
        named_by_option: true,
        // Only asking tells whether it scrolls.
        scrolls: true,
        range: told.has_number().then(|| known_ends(told.range)),
        secret: told.is_secret(),
        settable: told.sets_text(),
        editable: told.is_text(),
        ..ElementState::default()
    }
}

/// Chromium tells an upper end of zero for a field that has no ends.
fn known_ends(range: Range) -> Range {
    let is_end = |max: &f64| range.min.is_some_and(|min| *max > min);
    Range { max: range.max.filter(is_end), ..range }
}

/// Of a secret only the length can be told. Qt gives no dots in its place, but counts them.
pub fn with_text(state: ElementState, told: ToldText) -> ElementState {
    if state.secret {
        return ElementState { length: told.characters.map(TextLength::Characters), ..state };
    }
    ElementState { text: told.text, ..state }
}

/// Elements on the accessibility bus, for the time of one input.
#[derive(Clone, Copy)]
pub struct AtspiElements<'a> {
    pub accessible: &'a AtspiClient,
    pub cancel: &'a Cancel,
}

impl AtspiElements<'_> {
    pub fn state(self, element: &Handle) -> Result<ElementState> {
        self.accessible.look_at(element, self.cancel).map(|told| element_state(&told))
    }

    pub fn state_with_text(self, element: &Handle) -> Result<ElementState> {
        Ok(with_text(self.state(element)?, self.accessible.text(element, self.cancel)?))
    }

    pub fn request(self, element: &Handle, request: Request) -> Result<RequestOutcome> {
        let (accessible, cancel) = (self.accessible, self.cancel);
        match request {
            Request::Perform(action) => accessible.do_action(element, action.index, cancel),
            Request::SelectChild(index) => accessible.select_child(element, index, cancel),
            Request::SetText(text) => accessible.set_text(element, text, cancel),
            Request::Focus => accessible.grab_focus(element, cancel),
            Request::SetNumber(number) => {
                accessible.set_number(element, number, cancel).map(|()| RequestOutcome::Accepted)
            }
            // Chromium scrolls and sends no event for it; GTK3 says no. Where it is then counts, not the answer.
            Request::ScrollIntoView => {
                accessible.scroll_to(element, cancel).map(|_| RequestOutcome::Accepted)
            }
            Request::Press
            | Request::Toggle
            | Request::Select
            | Request::Expand
            | Request::Collapse
            | Request::ShowMenu
            | Request::SelectText => Ok(RequestOutcome::Refused),
        }
    }

    pub fn position(self, element: &Handle) -> Result<Option<ChildPosition>> {
        if let Some((parent, index)) = self.accessible.lister(element, self.cancel)? {
            return Ok(Some(ChildPosition { parent, index }));
        }
        let Some(parent) = self.accessible.parent(element, self.cancel)? else {
            return Ok(None);
        };
        let index = self.accessible.index_in_parent(element, self.cancel)?;
        Ok(index.map(|index| ChildPosition { parent, index }))
    }

    /// What can be chosen in the element, in its order. A combo box keeps them in a menu or a list.
    pub fn options(self, element: &Handle) -> Result<Vec<OptionItem>> {
        let mut level = vec![element.clone()];
        for _ in 0..OPTION_DEPTH {
            let mut children = Vec::new();
            for parent in &level {
                children.extend(self.children(parent)?);
            }
            let (mut options, others): (Vec<_>, Vec<_>) =
                children.into_iter().partition(|(_, child)| roles::is_one_of(child.role, roles::OPTIONS));
            if !options.is_empty() {
                options.truncate(MOST_OPTIONS);
                return Ok(options.into_iter().map(option_item).collect());
            }
            if others.len() > MOST_OPTIONS {
                break;
            }
            level = others.into_iter().map(|(_, child)| child.handle).collect();
        }
        Ok(Vec::new())
    }

    /// The parts of a date, which a browser may keep in a group.
    pub fn date_parts(self, element: &Handle) -> Result<Vec<DatePart>> {
        let mut level = vec![element.clone()];
        for _ in 0..DATE_DEPTH {
            let mut children = Vec::new();
            for parent in &level {
                children.extend(self.accessible.children(parent, self.cancel)?);
            }
            let (parts, others): (Vec<Child>, Vec<Child>) = children
                .into_iter()
                .partition(|child| roles::is_one_of(child.role, &[atspi::Role::SpinButton]));
            if parts.len() == DATE_PARTS {
                return parts.into_iter().map(|part| self.date_part(part)).collect();
            }
            level = others.into_iter().map(|child| child.handle).collect();
        }
        Ok(Vec::new())
    }

    fn date_part(self, part: Child) -> Result<DatePart> {
        let text = self.accessible.text(&part.handle, self.cancel)?.text.unwrap_or_default();
        Ok(DatePart { handle: part.handle, name: part.name, text })
    }

    fn children(self, parent: &Handle) -> Result<Vec<(ChildPosition, Child)>> {
        let children = self.accessible.children(parent, self.cancel)?;
        let position = |index| ChildPosition { parent: parent.clone(), index };
        Ok((0..).map(position).zip(children).collect())
    }
}

fn option_item((position, child): (ChildPosition, Child)) -> OptionItem {
    OptionItem { handle: child.handle, name: child.name, position: Some(position) }
}

impl Input for Linux {
    fn act(&self, input: &Act, delivery: Delivery, guard: &dyn PressGuard, cancel: &Cancel) -> Result<Done> {
        act(&X11Backend::new(self, cancel), guard, input, delivery)
    }

    fn check(&self, input: &Act, cancel: &Cancel) -> Result<()> {
        check(&X11Backend::new(self, cancel), input)
    }

    fn await_rest(&self, window: &Window, at_most: Duration, cancel: &Cancel) -> Result<bool> {
        let wait = RestWait { at_most, is_over: &|| false };
        Ok(Linux::await_rest(self, window, &wait, cancel)? == RestState::Quiet)
    }

    fn claim(&self, claimant: &Claimant) -> Result<()> {
        // A desktop that is gone is nobody's; what needs it says so itself, and a command needs none.
        match self.link.with_errors(|server| lease::claim(server, claimant)) {
            Err(error) if error.kind != Kind::DesktopBusy => {
                tracing::debug!(%error, "cannot find out which server holds the desktop");
                Ok(())
            }
            answer => answer,
        }
    }

    fn give_back(&self, claimant: &Claimant) {
        // With its connection a process has lost the desktop anyway.
        if let Err(error) = self.link.with_server(|server| lease::give_back(server, claimant.keeps_for)) {
            tracing::debug!(%error, "the desktop was not released");
        }
    }

    fn release_all(&self) {
        self.let_go();
    }

    fn confine(&self, region: Rect) {
        self.region.set(region);
    }
}

impl Linux {
    pub fn window(&self, uid: &str) -> Result<Window> {
        let windows = self.windows()?;
        windows.into_iter().find(|window| window.uid == uid).ok_or_else(|| desktop::gone(uid))
    }
}

/// One input on X11.
struct X11Backend<'a> {
    linux: &'a Linux,
    cancel: &'a Cancel,
    /// How often changes were told of before it.
    rings: u64,
}

impl<'a> X11Backend<'a> {
    fn new(linux: &'a Linux, cancel: &'a Cancel) -> Self {
        Self { linux, cancel, rings: linux.bell().rings() }
    }

    /// GTK 4 counts from its window, and plays the press of a button. GTK 3 is stuck in the dialog that its action opens;
    /// while a menu is open, a click beside it would only close that.
    fn prefers_pointer(&self, element: &Handle, told: &AtspiElement) -> Result<bool> {
        if !told.may_run_dialog() {
            return Ok(told.inset.is_some());
        }
        Ok(told.shows()
            && pointer_target::has_open_menu(self.linux, &element.window_uid)? == told.is_menu_entry())
    }

    fn elements(&self) -> AtspiElements<'_> {
        AtspiElements { accessible: &self.linux.accessible, cancel: self.cancel }
    }
}

impl Backend for X11Backend<'_> {
    fn profile(&self) -> InputProfile {
        PROFILE
    }

    fn clock(&self) -> &Clock {
        &self.linux.clock
    }

    fn cancel(&self) -> &Cancel {
        self.cancel
    }

    fn element_state(&self, element: &Handle) -> Result<ElementState> {
        let told = self.elements().accessible.look_at(element, self.cancel)?;
        let pointer_first = self.prefers_pointer(element, &told)?;
        // Only a pointer that knows places can do better than the element itself.
        Ok(ElementState {
            pointer_first,
            options_by_pointer: told.acts_by_clicked_options(),
            runs_dialog: told.may_run_dialog(),
            ..element_state(&told)
        })
    }

    fn element_with_text(&self, element: &Handle) -> Result<ElementState> {
        self.elements().state_with_text(element)
    }

    fn request(&self, element: &Handle, request: Request) -> Result<RequestOutcome> {
        self.linux.settle(self.cancel)?;
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
        Ok(self.linux.window(window_uid)?.focused && self.linux.has_keyboard(window_uid)?)
    }

    /// A program that sleeps again has done what it was asked, unless it plays the press first.
    fn effect(&self, element: &Handle, route: Route) -> Result<InputEffect> {
        let plays =
            || self.elements().accessible.look_at(element, self.cancel).is_ok_and(|it| it.inset.is_some());
        if route == Route::Accessibility && plays() {
            return Ok(InputEffect { comes_late: true, ..InputEffect::within(PLAYED_PRESS) });
        }
        let began = self.linux.clock.now();
        // What it tells of it is worth a look, whatever else it does: GTK4 goes on to play what was pressed.
        let is_over = || self.linux.bell().rings() != self.rings;
        let wait = RestWait { at_most: TO_REST, is_over: &is_over };
        let rest = match self.linux.window(&element.window_uid) {
            Ok(window) => self.linux.await_rest(&window, &wait, self.cancel),
            // A window that closed has nothing more to tell.
            Err(_) => Ok(RestState::Quiet),
        };
        // The input was sent, whatever becomes of the question.
        let rest = match rest {
            Err(error) if error.kind != Kind::Cancelled => RestState::Busy,
            rest => rest?,
        };
        let took = self.linux.clock.now().saturating_sub(began);
        tracing::debug!(?rest, ?took, "an application was waited for");
        Ok(match rest {
            RestState::Quiet => InputEffect { rests: true, ..InputEffect::within(SETTLED) },
            RestState::InParts => InputEffect::within(HANDED_ON),
            RestState::Busy | RestState::Left => {
                InputEffect::within(PROFILE.timing.effect.saturating_sub(took))
            }
        })
    }

    fn raise_window(&self, window_uid: &str) -> Result<()> {
        if let Activation::Refused(why) = self.linux.activate(&self.linux.window(window_uid)?)? {
            tracing::debug!(why, "a window was not activated");
        }
        Ok(())
    }

    fn visible_bounds(&self, element: &Handle, state: &ElementState) -> Result<Option<Rect>> {
        pointer_target::visible_bounds(self.linux, element, state)
    }

    fn hits_window(&self, window_uid: &str, point: Point) -> Result<bool> {
        pointer_target::hits_window(self.linux, window_uid, point)
    }

    fn use_pointer(&self, action: PointerAction, at: Option<Point>, held: &[Modifier]) -> Result<()> {
        self.linux.settle(self.cancel)?;
        match (action, at) {
            (PointerAction::Click(button, count), Some(at)) => self.linux.click(at, button, count, held),
            (PointerAction::FurtherClick(button, _), Some(at)) => self.linux.click(at, button, 1, held),
            (PointerAction::Hover, Some(at)) => self.linux.move_to(at),
            (PointerAction::Scroll(clicks), at) => self.linux.scroll(at, clicks),
            (PointerAction::Click(..) | PointerAction::FurtherClick(..) | PointerAction::Hover, None) => {
                Err(no_point())
            }
        }
    }

    fn drag(&self, drag: &Drag<'_>) -> Result<()> {
        self.linux.settle(self.cancel)?;
        self.linux.drag(drag, self.cancel)
    }

    fn press_keys(&self, keys: &KeyCombo) -> Result<()> {
        self.linux.settle(self.cancel)?;
        self.linux.press_keys(keys, self.cancel)
    }

    fn type_text(&self, text: &str) -> Result<TypedText> {
        self.linux.settle(self.cancel)?;
        let typed = self.linux.type_text(text, self.cancel)?;
        // What is read next has the text in it.
        self.linux.settle(self.cancel)?;
        if text.chars().count() == 1 {
            self.linux.hands.note_first_character();
        }
        Ok(typed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::input::OptionChoice;
    use crate::platform::interaction::fake_backend::{
        BY_ITSELF, BY_KEYS, BY_POINTER, CLICKED, FakeBackend, LINUX, Reaction, Thing, handle, lies, obeys,
        refuses,
    };

    fn click() -> Act {
        let (button, count) = (crate::model::Button::Left, 1);
        Act::Click { element: Some(handle("it")), at: None, button, count, modifiers: Vec::new() }
    }

    fn set_value(text: &str) -> Act {
        Act::SetValue { element: handle("it"), text: text.to_owned() }
    }

    fn select(name: &str) -> Act {
        Act::Select { element: handle("it"), option: Some(OptionChoice::Name(name.to_owned())) }
    }

    const CLICKED_OPTION: &str = "Click(Left, 1) 150,150";
    const UNCONFIRMED: &str = "the option was clicked, but does not report that it is selected";

    /// Two options in something that may select them.
    fn chooser(thing: Thing, option: Thing, reaction: Reaction, put_away: bool) -> FakeBackend {
        let fake = LINUX.with(thing, reaction);
        let options = fake.with_options(&["Left", "Right"], &LINUX.thing(option), put_away);
        options.in_container(Some("it"))
    }

    #[test]
    fn the_note_of_an_action_is_its_name() {
        let note = LINUX.with(Thing::Button, obeys).check(&click(), BY_ITSELF, &["it: click"]);
        assert_eq!(note.as_deref(), Some("click"));
        let note = LINUX.with(Thing::Combo, obeys).check(&click(), BY_ITSELF, &["it: press"]);
        assert_eq!(note.as_deref(), Some("press"));
    }

    #[test]
    fn a_cell_of_a_sheet_is_focused_and_written_by_itself() {
        let cell = |reaction| {
            LINUX.changed(Thing::Field("old"), reaction, |state| {
                state.click = Some(Request::Focus);
                state.settable = false;
                state.ends_by_enter = true;
            })
        };
        cell(obeys).check(&click(), BY_ITSELF, &["it: focus"]);
        // Its text is not selected first: that would be all of the sheet.
        cell(obeys).check(&set_value("7"), BY_KEYS, &["it: focus", "type 7", "enter"]);
    }

    #[test]
    fn a_date_is_typed_part_by_part_in_the_order_of_the_locale() {
        let field = |parts: &[(&'static str, &str)]| {
            let date = LINUX.changed(Thing::Field(""), obeys, |state| state.is_date = true);
            date.with_parts(parts, &LINUX.thing(Thing::Field("")))
        };
        let english = [("Month", "mm"), ("Day", "dd"), ("Year", "yyyy")];
        let typed = ["Month: focus", "type 03", "Day: focus", "type 09", "Year: focus", "type 2026"];
        field(&english).check(&set_value("2026-03-09"), BY_KEYS, &typed);
        // Nothing is typed of what is no date, or where the parts are not known.
        field(&english).check(&set_value("9 March"), Err(Kind::BadRequest), &[]);
        let unknown = [("a", "01"), ("b", "02"), ("c", "2020")];
        field(&unknown).check(&set_value("2026-03-09"), Err(Kind::PatternUnsupported), &[]);
        field(&english).check_behind(&set_value("2026-03-09"), Err(Kind::ElementOccluded), &[]);
        let mut garbled = field(&english);
        garbled.garbles = Some("07");
        garbled.check(&set_value("2026-03-09"), Err(Kind::PatternUnsupported), &typed);
        // One without parts is a field like any other.
        field(&[]).check(&set_value("2026-03-09"), BY_ITSELF, &["it: set value"]);
    }

    /// In Firefox it would select all of the page.
    #[test]
    fn a_part_of_a_date_is_typed_over_without_selecting_anything() {
        let date = LINUX.changed(Thing::Field(""), obeys, |state| state.is_date = true);
        let mut part = LINUX.thing(Thing::Field(""));
        part.settable = false;
        let month = Act::SetValue { element: handle("Month"), text: "3".to_owned() };
        let typed = ["Month: focus", "type 3"];
        date.with_parts(&[("Month", "mm")], &part).check(&month, BY_KEYS, &typed);
    }

    /// Enter behind it would go into LibreOffice's document.
    #[test]
    fn the_field_of_a_combo_box_has_the_focus_before_its_text() {
        let combo = |active: bool| {
            let combo = LINUX.with(Thing::Combo, obeys);
            combo.elements.borrow_mut().get_mut("it").unwrap().is_bar = true;
            combo.active.set(active);
            combo.with_options(&["Style"], &LINUX.thing(Thing::Field("old")), false).in_container(Some("it"))
        };
        let style = Act::SetValue { element: handle("Style"), text: "Heading 1".to_owned() };
        combo(true).check(&style, BY_ITSELF, &["Style: focus", "Style: set value"]);
        combo(false).check(&style, BY_ITSELF, &["Style: set value"]);
        combo(true).check_behind(&style, BY_ITSELF, &["Style: set value"]);
    }

    #[test]
    fn a_click_on_an_item_without_an_action_is_the_pointers() {
        LINUX.with(Thing::Item, obeys).check(&click(), BY_POINTER, &[CLICKED]);
    }

    #[test]
    fn a_text_that_was_disturbed_is_told() {
        let typing = Act::Type { element: Some(handle("it")), window_uid: None, text: "hi".to_owned() };
        let field = LINUX.with(Thing::Field(""), obeys);
        field.disturbed.set(true);
        let note = field.check(&typing, BY_KEYS, &["it: focus", "type hi"]);
        assert!(note.unwrap().starts_with("someone pressed keys at the same time"));
    }

    #[test]
    fn a_disturbed_text_counts_only_where_it_cannot_be_read_back() {
        let typed = ["it: set value", "it: focus", CLICKED, "ctrl+a", "type new"];
        let readable = LINUX.with(Thing::Field("old"), lies);
        readable.disturbed.set(true);
        assert_eq!(readable.check(&set_value("new"), BY_KEYS, &typed), None);
        let mute = LINUX.changed(Thing::Field("old"), lies, |state| state.text = None);
        mute.disturbed.set(true);
        let note = mute.check(&set_value("new"), BY_KEYS, &typed);
        assert!(note.unwrap().contains("someone pressed keys"));
    }

    #[test]
    fn a_secret_is_compared_by_its_characters() {
        let holding = |characters| {
            LINUX
                .changed(Thing::Secret, lies, |state| state.length = Some(TextLength::Characters(characters)))
        };
        holding(2).check(&set_value("😀b"), BY_ITSELF, &["it: set value"]);
        let typed = ["it: set value", "it: focus", CLICKED, "ctrl+a", "type 😀b"];
        holding(3).check(&set_value("😀b"), BY_KEYS, &typed);
        let mute = LINUX.changed(Thing::Secret, lies, |state| state.length = None);
        let note = mute.check(&set_value("😀b"), BY_KEYS, &typed);
        assert_eq!(note.as_deref(), Some("typed; the field does not report its value"));
    }

    #[test]
    fn an_upper_end_without_a_lower_one_is_no_end() {
        let check = |min, max, expected| {
            let known = known_ends(Range { now: Some(2.0), min, max });
            assert_eq!((known.now, known.min, known.max), (Some(2.0), min, expected), "{min:?} {max:?}");
        };
        check(None, Some(0.0), None);
        check(Some(0.0), Some(0.0), None);
        check(Some(0.0), Some(10.0), Some(10.0));
        check(Some(3.0), None, None);
    }

    #[test]
    fn a_secret_tells_its_length() {
        // Qt counts the characters of a password and shows none.
        for text in [Some("•••".to_owned()), Some(String::new()), None] {
            let told = ToldText { text, characters: Some(3) };
            let secret = with_text(ElementState { secret: true, ..ElementState::default() }, told);
            assert_eq!((secret.text, secret.length), (None, Some(TextLength::Characters(3))));
        }
    }

    #[test]
    fn a_container_selects_its_option() {
        let note = chooser(Thing::List, Thing::Item, obeys, false).check(
            &select("Right"),
            BY_ITSELF,
            &["it: select child"],
        );
        assert_eq!(note, None);
        let inner = chooser(Thing::Combo, Thing::Item, obeys, false).in_container(Some("menu"));
        inner.check(&select("Right"), BY_ITSELF, &["menu: select child"]);
    }

    /// LibreOffice Impress marks the layout that is selected and applies the one that is clicked.
    #[test]
    fn an_option_that_acts_by_a_click_is_clicked() {
        let list = |is_met: bool| {
            let list = chooser(Thing::List, Thing::Item, obeys, false);
            list.elements.borrow_mut().get_mut("it").unwrap().options_by_pointer = true;
            if !is_met {
                list.elements.borrow_mut().get_mut("Right").unwrap().bounds = None;
            }
            list
        };
        let note = list(true).check(&select("Right"), BY_POINTER, &[CLICKED_OPTION]);
        assert_eq!(note.as_deref(), Some(UNCONFIRMED));
        let note = list(false).check(&select("Right"), BY_ITSELF, &["it: select child"]);
        assert!(note.unwrap().starts_with("it was selected; whether"));
    }

    #[test]
    fn an_option_that_no_container_selects_is_clicked() {
        for reaction in [lies, refuses] {
            let list = chooser(Thing::List, Thing::Item, reaction, false);
            let note = list.check(&select("Left"), BY_POINTER, &["it: select child", CLICKED_OPTION]);
            assert_eq!(note.as_deref(), Some(UNCONFIRMED));
        }
        let buttons = chooser(Thing::Combo, Thing::Button, obeys, false);
        let note = buttons.check(&select("Left"), BY_ITSELF, &["Left: click"]);
        assert_eq!(note.as_deref(), Some(UNCONFIRMED));
    }

    #[test]
    fn a_combo_box_that_takes_the_name_of_the_option_has_chosen_it() {
        let named = chooser(Thing::Combo, Thing::Button, obeys, false);
        named.elements.borrow_mut().get_mut("it").unwrap().name = "Left".to_owned();
        let note = named.check(&select("Left"), BY_ITSELF, &["Left: click"]);
        assert_eq!(note.as_deref(), Some("click"));
    }

    #[test]
    fn a_combo_box_is_opened_for_its_options_and_closed_by_a_key() {
        let combo = || chooser(Thing::Combo, Thing::Button, obeys, true);
        combo().check(&select("Right"), BY_ITSELF, &["it: press", "Right: click"]);
        let note = combo().check(&select("Up"), Err(Kind::BadRequest), &["it: press", "escape"]);
        assert_eq!(note.unwrap(), "no option is named 'Up'; there are: Left, Right");
    }

    #[test]
    fn an_option_that_does_not_show_is_brought_out_before_the_pointer_goes_to_it() {
        let combo = chooser(Thing::Combo, Thing::Item, obeys, false);
        combo.elements.borrow_mut().get_mut("Left").unwrap().showing = Some(false);
        let combo = combo.in_container(None);
        combo.check(&select("Left"), BY_POINTER, &["it: press", CLICKED_OPTION]);
    }
}
