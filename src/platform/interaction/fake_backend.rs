//! A backend without a desktop: elements in a list, and a log of everything that is done to them. It has the elements of
//! several systems, each made of what that system answers, so that one test holds for all of them.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;

use super::*;
use crate::clock::{Cancel, Clock};
use crate::error::Result;
use crate::model::Rect;
use crate::model::input::{Act, Delivery, Handle, Modifier};
#[cfg(target_os = "linux")]
use crate::platform::linux;
use crate::platform::{Unguarded, macos, windows};

/// What an application does when it is asked.
pub type Reaction = fn(&mut ElementState, &Request) -> RequestOutcome;

pub struct FakeBackend {
    pub elements: RefCell<HashMap<&'static str, ElementState>>,
    options: Vec<&'static str>,
    /// The parts of a date.
    parts: Vec<&'static str>,
    /// Which of them was given the keyboard.
    typed_part: RefCell<Option<String>>,
    /// They come only when the element was opened.
    put_away: bool,
    /// What the options are in, where containers select their children.
    container: Option<&'static str>,
    /// What "it" is in, the outermost first; a click there shows it.
    pub way_in: Vec<&'static str>,
    /// Only so many clicks show it.
    pub opens_after: Cell<usize>,
    /// What the field makes of every text that is typed.
    pub garbles: Option<&'static str>,
    /// Somebody else presses keys while a text is typed.
    pub disturbed: Cell<bool>,
    is_open: Cell<bool>,
    reaction: Reaction,
    log: RefCell<Vec<String>>,
    pub active: Cell<bool>,
    /// Whether the window comes to the front when it is raised.
    pub raises: Cell<bool>,
    pub covered: Cell<bool>,
    /// Its application is known to rest after an input.
    pub rests: Cell<bool>,
    pub sight: Cell<Rect>,
    profile: InputProfile,
    pub clock: Clock,
    cancel: Cancel,
}

const UID: &str = "window:1";
pub const SCREEN: Rect = Rect { x: 0, y: 0, width: 1000, height: 800 };
const PLACE: Rect = Rect { x: 100, y: 100, width: 100, height: 40 };
/// A click on the middle of [`PLACE`].
pub const CLICKED: &str = "Click(Left, 1) 150,120";

pub const BY_ITSELF: Result<Route, Kind> = Ok(Route::Accessibility);
pub const BY_POINTER: Result<Route, Kind> = Ok(Route::Pointer);
pub const BY_KEYS: Result<Route, Kind> = Ok(Route::Keyboard);

pub fn handle(native: &str) -> Handle {
    Handle { window_uid: UID.to_owned(), native: native.to_owned() }
}

/// Does as it is told.
pub fn obeys(state: &mut ElementState, request: &Request) -> RequestOutcome {
    match request {
        Request::Toggle | Request::Select | Request::SelectChild(_) => state.selected = Some(true),
        Request::Expand => state.expanded = Some(true),
        Request::Collapse => state.expanded = Some(false),
        Request::SetText(text) => state.text = Some(text.clone()),
        Request::SetNumber(number) => {
            if let Some(range) = &mut state.range {
                range.now = Some(*number);
            }
        }
        Request::Focus => state.focused = true,
        Request::ScrollIntoView => state.bounds = Some(PLACE),
        Request::Press | Request::Perform(_) | Request::ShowMenu | Request::SelectText => {}
    }
    RequestOutcome::Accepted
}

/// Says yes and does nothing.
pub fn lies(_: &mut ElementState, _: &Request) -> RequestOutcome {
    RequestOutcome::Accepted
}

pub fn refuses(_: &mut ElementState, _: &Request) -> RequestOutcome {
    RequestOutcome::Refused
}

impl FakeBackend {
    pub fn new(profile: InputProfile, it: ElementState, reaction: Reaction) -> Self {
        Self {
            elements: RefCell::new(HashMap::from([("it", it)])),
            options: Vec::new(),
            parts: Vec::new(),
            typed_part: RefCell::default(),
            put_away: false,
            container: None,
            way_in: Vec::new(),
            opens_after: Cell::new(1),
            garbles: None,
            disturbed: Cell::new(false),
            is_open: Cell::new(false),
            reaction,
            log: RefCell::default(),
            active: Cell::new(true),
            raises: Cell::new(true),
            covered: Cell::new(false),
            rests: Cell::new(false),
            sight: Cell::new(SCREEN),
            profile,
            clock: Clock::steered(),
            cancel: Cancel::new(),
        }
    }

    /// Whose state a request changes: a container changes that of its child.
    fn target_of<'a>(&self, element: &'a Handle, request: &Request) -> &'a str {
        match request {
            Request::SelectChild(index) => {
                usize::try_from(*index).ok().and_then(|at| self.options.get(at)).copied().unwrap_or_default()
            }
            _ => element.native.as_str(),
        }
    }

    /// What keys put into the field.
    fn hold(&self, text: &str) {
        let mut elements = self.elements.borrow_mut();
        let part = self.typed_part.borrow();
        let Some(state) = elements.get_mut(part.as_deref().unwrap_or("it")) else { return };
        if let Some(held) = &mut state.text {
            text.clone_into(held);
        }
        state.length = state.length.map(|length| match length {
            TextLength::Utf16Units(_) => TextLength::Utf16Units(text.encode_utf16().count()),
            TextLength::Characters(_) => TextLength::Characters(text.chars().count()),
        });
    }

    /// Everything that was done so far.
    pub fn logged(&self) -> Vec<String> {
        self.log.borrow().clone()
    }

    fn note(&self, line: impl Into<String>) {
        self.log.borrow_mut().push(line.into());
    }

    pub fn with_options(mut self, names: &[&'static str], option: &ElementState, put_away: bool) -> Self {
        for &name in names {
            let bounds = Some(Rect::new(100, 140, 100, 20));
            let state = ElementState { name: name.to_owned(), bounds, ..option.clone() };
            self.elements.borrow_mut().insert(name, state);
        }
        self.options = names.to_vec();
        Self { put_away, ..self }
    }

    /// A date in parts, each with what it holds.
    pub fn with_parts(mut self, parts: &[(&'static str, &str)], part: &ElementState) -> Self {
        for (name, text) in parts {
            let state =
                ElementState { name: (*name).to_owned(), text: Some((*text).to_owned()), ..part.clone() };
            self.elements.borrow_mut().insert(name, state);
        }
        self.parts = parts.iter().map(|(name, _)| *name).collect();
        self
    }

    /// The options are children of this, which selects them; of nothing where each selects itself.
    pub fn in_container(self, container: Option<&'static str>) -> Self {
        Self { container, ..self }
    }

    /// Acts, and compares how it was done and what was done; gives the note, or what the error says.
    #[track_caller]
    pub fn check(&self, input: &Act, route: Result<Route, Kind>, log: &[&str]) -> Option<String> {
        self.check_by(Delivery::Foreground, input, route, log)
    }

    #[track_caller]
    pub fn check_log(&self, log: &[&str]) {
        assert_eq!(*self.log.borrow(), log);
    }

    /// The same, where nothing may be taken.
    #[track_caller]
    pub fn check_behind(&self, input: &Act, route: Result<Route, Kind>, log: &[&str]) -> Option<String> {
        self.check_by(Delivery::Background, input, route, log)
    }

    #[track_caller]
    fn check_by(
        &self,
        delivery: Delivery,
        input: &Act,
        route: Result<Route, Kind>,
        log: &[&str],
    ) -> Option<String> {
        let done = act(self, &Unguarded, input, delivery);
        let note = done.as_ref().map_or_else(|error| Some(error.message.clone()), |done| done.note.clone());
        let is_verified = done.as_ref().is_ok_and(|done| done.verified);
        let settles_in = done.as_ref().map_or(self.profile.timing.effect, |done| done.settles_in);
        assert_eq!(done.map(|done| done.route).map_err(|error| error.kind), route, "{input:?} {note:?}");
        assert_eq!(*self.log.borrow(), log, "{input:?} {note:?}");
        assert!(is_verified || settles_in == self.profile.timing.effect, "{input:?} {settles_in:?}");
        note
    }
}

impl Backend for FakeBackend {
    fn profile(&self) -> InputProfile {
        self.profile.clone()
    }

    fn clock(&self) -> &Clock {
        &self.clock
    }

    fn cancel(&self) -> &Cancel {
        &self.cancel
    }

    fn element_state(&self, element: &Handle) -> Result<ElementState> {
        let elements = self.elements.borrow();
        let found = elements.get(element.native.as_str()).cloned();
        found.ok_or_else(|| Error::new(Kind::ElementNotFound, "gone"))
    }

    fn element_with_text(&self, element: &Handle) -> Result<ElementState> {
        self.element_state(element)
    }

    fn request(&self, element: &Handle, request: Request) -> Result<RequestOutcome> {
        self.note(format!("{}: {}", element.native, request.label()));
        if request == Request::Focus && self.parts.contains(&element.native.as_str()) {
            self.typed_part.replace(Some(element.native.clone()));
        }
        let mut elements = self.elements.borrow_mut();
        let Some(state) = elements.get_mut(self.target_of(element, &request)) else {
            return Ok(RequestOutcome::Refused);
        };
        if state.open.as_ref() == Some(&request) {
            self.is_open.set(true);
        }
        Ok((self.reaction)(state, &request))
    }

    fn date_parts(&self, _: &Handle) -> Result<Vec<DatePart>> {
        let elements = self.elements.borrow();
        let part = |name: &&str| DatePart {
            handle: handle(name),
            name: (*name).to_owned(),
            text: elements.get(*name).and_then(|state| state.text.clone()).unwrap_or_default(),
        };
        Ok(self.parts.iter().map(part).collect())
    }

    fn options(&self, _: &Handle) -> Result<Vec<OptionItem>> {
        let shown = if self.put_away && !self.is_open.get() { &[] } else { self.options.as_slice() };
        let position = |index| self.container.map(|parent| ChildPosition { parent: handle(parent), index });
        let option = |(index, name): (i32, &&str)| OptionItem {
            handle: handle(name),
            name: (*name).to_owned(),
            position: position(index),
        };
        Ok((0..).zip(shown).map(option).collect())
    }

    fn position(&self, element: &Handle) -> Result<Option<ChildPosition>> {
        if self.parts.contains(&element.native.as_str()) {
            return Ok(Some(ChildPosition { parent: handle("it"), index: 0 }));
        }
        if let Some(around) = self.way_in.last().filter(|_| element.native == "it") {
            return Ok(Some(ChildPosition { parent: handle(around), index: 0 }));
        }
        let index = self.options.iter().position(|name| *name == element.native);
        let parent = self.container.map(handle);
        Ok(parent.zip(index).map(|(parent, index)| ChildPosition { parent, index: index as i32 }))
    }

    fn has_keyboard(&self, _: &str) -> Result<bool> {
        Ok(self.active.get())
    }

    fn effect(&self, _: &Handle, _: Route) -> Result<InputEffect> {
        let rests = self.rests.get();
        let within = if rests { Duration::from_millis(40) } else { self.profile.timing.effect };
        Ok(InputEffect { rests, ..InputEffect::within(within) })
    }

    fn raise_window(&self, _: &str) -> Result<()> {
        self.note("raise");
        if self.raises.get() {
            self.active.set(true);
            self.covered.set(false);
        }
        Ok(())
    }

    fn visible_bounds(&self, _: &Handle, state: &ElementState) -> Result<Option<Rect>> {
        Ok(state.bounds.and_then(|bounds| bounds.intersection(&self.sight.get())))
    }

    fn hits_window(&self, _: &str, _: Point) -> Result<bool> {
        Ok(!self.covered.get())
    }

    fn use_pointer(&self, action: PointerAction, at: Option<Point>, held: &[Modifier]) -> Result<()> {
        let at = at.map_or_else(|| "here".to_owned(), |at| format!("{},{}", at.x, at.y));
        let held = if held.is_empty() { String::new() } else { format!("{held:?} ") };
        self.note(format!("{held}{action:?} {at}"));
        let clicks = self.log.borrow().iter().filter(|line| line.contains("Click")).count();
        if !self.way_in.is_empty()
            && clicks >= self.opens_after.get()
            && let Some(it) = self.elements.borrow_mut().get_mut("it")
        {
            it.showing = Some(true);
        }
        Ok(())
    }

    fn drag(&self, drag: &Drag<'_>) -> Result<()> {
        let Drag { from, to, modifiers, duration, before_release } = drag;
        let way = format!("{},{} to {},{}", from.x, from.y, to.x, to.y);
        before_release()?;
        self.note(format!("drag {way} {modifiers:?} {duration:?}"));
        Ok(())
    }

    fn press_keys(&self, keys: &KeyCombo) -> Result<()> {
        self.note(keys.to_string());
        if keys.key == self.profile.delete_key {
            self.hold("");
        }
        Ok(())
    }

    fn type_text(&self, text: &str) -> Result<TypedText> {
        self.note(format!("type {text}"));
        self.hold(self.garbles.unwrap_or(text));
        Ok(TypedText { disturbed: self.disturbed.get() })
    }
}

/// What there is on every desktop.
#[derive(Clone, Copy, Debug)]
pub enum Thing {
    Button,
    /// Something that can do nothing by itself.
    Picture,
    Field(&'static str),
    /// A field whose text is not to be seen.
    Secret,
    /// From 0 to 10, at 1.
    Slider,
    /// A thing that is selected by a click.
    Item,
    List,
    /// Closed, with nothing chosen.
    Combo,
}

/// A system, as far as tests need it.
#[derive(Clone)]
pub struct System {
    pub name: &'static str,
    pub profile: InputProfile,
    make: fn(Thing) -> ElementState,
    /// What is done to press a button, to select all of a text and to delete it, as the log has it.
    pub press: &'static str,
    pub selects_all: &'static str,
    pub deletes: &'static str,
}

const WINDOWS: System = System {
    name: "Windows",
    profile: windows::decode::interaction::PROFILE,
    make: of_windows,
    press: "it: press",
    selects_all: "ctrl+a",
    deletes: "backspace",
};

const MAC: System = System {
    name: "macOS",
    profile: macos::decode::interaction::PROFILE,
    make: of_mac,
    press: "it: press",
    selects_all: "it: select text",
    deletes: "backspace",
};

#[cfg(target_os = "linux")]
pub const LINUX: System = System {
    name: "Linux",
    profile: linux::interaction::PROFILE,
    make: of_linux,
    press: "it: click",
    selects_all: "ctrl+a",
    deletes: "delete",
};

pub const SYSTEMS: &[System] = &[
    WINDOWS,
    MAC,
    #[cfg(target_os = "linux")]
    LINUX,
];

/// Those on which an item selects itself, a combo box tells whether it is open, and a secret may tell nothing.
pub const SELF_SELECTING: &[System] = &[WINDOWS, MAC];

impl System {
    pub fn thing(&self, thing: Thing) -> ElementState {
        let state = (self.make)(thing);
        assert_eq!((state.bounds, state.name.as_str()), (Some(PLACE), "It"), "{thing:?} of {}", self.name);
        state
    }

    pub fn with(&self, thing: Thing, reaction: Reaction) -> FakeBackend {
        FakeBackend::new(self.profile.clone(), self.thing(thing), reaction)
    }

    pub fn changed(
        &self,
        thing: Thing,
        reaction: Reaction,
        change: impl FnOnce(&mut ElementState),
    ) -> FakeBackend {
        let mut state = self.thing(thing);
        change(&mut state);
        FakeBackend::new(self.profile.clone(), state, reaction)
    }
}

fn of_windows(thing: Thing) -> ElementState {
    use windows::decode::tree::{RawElement, RawRange, RawValue};
    let raw = |control_type: i32| RawElement {
        runtime_id: vec![42, 1],
        control_type,
        name: "It".to_owned(),
        sides: [100, 100, 200, 140],
        enabled: true,
        ..RawElement::default()
    };
    let value = |text: &str| Some(RawValue { text: text.to_owned(), read_only: false });
    let range = RawRange { now: 1.0, min: 0.0, max: 10.0, read_only: false };
    windows::decode::interaction::element_state(&match thing {
        Thing::Button => RawElement { invoke: true, ..raw(50_000) },
        Thing::Picture => raw(50_006),
        Thing::Field(text) => RawElement { value: value(text), ..raw(50_004) },
        Thing::Secret => RawElement { value: value(""), password: true, ..raw(50_004) },
        Thing::Slider => RawElement { range: Some(range), ..raw(50_015) },
        Thing::Item => RawElement { invoke: true, selected: Some(false), ..raw(50_007) },
        Thing::List => raw(50_008),
        Thing::Combo => RawElement { value: value(""), expand: Some(0), ..raw(50_003) },
    })
}

fn of_mac(thing: Thing) -> ElementState {
    use macos::decode::records::{RawElement, RawRect, RawValue};
    let raw = |role: &str| RawElement {
        role: role.to_owned(),
        title: Some("It".to_owned()),
        bounds: Some(RawRect { x: 100.0, y: 100.0, width: 100.0, height: 40.0 }),
        ..RawElement::default()
    };
    let text = |text: &str| Some(RawValue::Text(text.to_owned()));
    let (raw, actions): (RawElement, &[&str]) = match thing {
        Thing::Button => (raw("AXButton"), &["AXPress"]),
        Thing::Picture => (raw("AXImage"), &[]),
        Thing::Field(held) => {
            (RawElement { value: text(held), settable: Some(true), ..raw("AXTextField") }, &["AXConfirm"])
        }
        Thing::Secret => {
            let subrole = Some("AXSecureTextField".to_owned());
            (RawElement { subrole, settable: Some(true), ..raw("AXTextField") }, &["AXConfirm"])
        }
        Thing::Slider => {
            let value = Some(RawValue::Number(1.0));
            (RawElement { value, min: Some(0.0), max: Some(10.0), ..raw("AXSlider") }, &["AXIncrement"])
        }
        Thing::Item => (RawElement { selected: Some(false), ..raw("AXRow") }, &[]),
        Thing::List => (raw("AXTable"), &[]),
        Thing::Combo => (
            RawElement { value: text(""), settable: Some(true), expanded: Some(false), ..raw("AXComboBox") },
            &["AXConfirm"],
        ),
    };
    let actions: Vec<String> = actions.iter().map(ToString::to_string).collect();
    macos::decode::interaction::element_state(&raw, &actions)
}

#[cfg(target_os = "linux")]
fn of_linux(thing: Thing) -> ElementState {
    use crate::model::element::Range;
    use atspi::{Role, State};
    use linux::accessibility::element::AtspiElement;
    const WORKED: &[State] = &[State::Enabled, State::Sensitive, State::Showing];
    let told = |role: Role, more: &[State], interfaces: &[&str], actions: &[&str]| {
        let interfaces: Vec<String> =
            interfaces.iter().map(|name| format!("org.a11y.atspi.{name}")).collect();
        let interfaces: Vec<&str> = interfaces.iter().map(String::as_str).collect();
        AtspiElement {
            name: "It".to_owned(),
            extents: Some(PLACE),
            range: Range { now: Some(1.0), min: Some(0.0), max: Some(10.0) },
            ..AtspiElement::told(role, &[WORKED, more].concat(), &interfaces, actions)
        }
    };
    let field = |role| told(role, &[State::Editable], &["Text", "EditableText", "Action"], &["activate"]);
    let (told, text) = match thing {
        Thing::Button => (told(Role::Button, &[], &["Action"], &["click"]), None),
        Thing::Picture => (told(Role::Image, &[], &[], &[]), None),
        Thing::Field(held) => (field(Role::Entry), Some(held)),
        Thing::Secret => (field(Role::PasswordText), Some("")),
        Thing::Slider => (told(Role::Slider, &[], &["Value"], &[]), None),
        Thing::Item => (told(Role::ListItem, &[State::Selectable], &[], &[]), None),
        Thing::List => (told(Role::ListBox, &[], &["Selection"], &[]), None),
        Thing::Combo => (told(Role::ComboBox, &[], &["Action"], &["press"]), None),
    };
    let characters = text.map(|text| text.chars().count());
    let text = text.map(str::to_owned);
    let told_text = linux::accessibility::element::ToldText { text, characters };
    linux::interaction::with_text(linux::interaction::element_state(&told), told_text)
}
