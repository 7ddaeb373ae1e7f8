//! A body of paper: elements in a list, and everything that is done to them written down. It has the elements of two
//! systems, each made of what that system answers, so that one test holds for both.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;

use super::*;
use crate::platform::{macos, windows};

/// What an application does when it is asked.
pub type Reaction = fn(&mut Live, &Request) -> Said;

pub struct Paper {
    pub elements: RefCell<HashMap<&'static str, Live>>,
    options: Vec<&'static str>,
    /// They come only when the element was opened.
    put_away: bool,
    is_open: Cell<bool>,
    reaction: Reaction,
    log: RefCell<Vec<String>>,
    pub active: Cell<bool>,
    /// Whether the window comes to the front when it is raised.
    pub raises: Cell<bool>,
    pub covered: Cell<bool>,
    pub sight: Cell<Rect>,
    habits: Habits,
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
pub fn obeys(live: &mut Live, request: &Request) -> Said {
    match request {
        Request::Toggle | Request::Select => live.selected = Some(true),
        Request::Expand => live.expanded = Some(true),
        Request::Collapse => live.expanded = Some(false),
        Request::SetText(text) => live.text = Some(text.clone()),
        Request::SetNumber(number) => {
            if let Some(range) = &mut live.range {
                range.now = Some(*number);
            }
        }
        Request::Focus => live.focused = true,
        Request::ScrollIntoView => live.bounds = Some(PLACE),
        Request::Press | Request::ShowMenu | Request::SelectText => {}
    }
    Said::Yes
}

/// Says yes and does nothing.
pub fn lies(_: &mut Live, _: &Request) -> Said {
    Said::Yes
}

pub fn refuses(_: &mut Live, _: &Request) -> Said {
    Said::No
}

impl Paper {
    pub fn new(habits: Habits, it: Live, reaction: Reaction) -> Self {
        Self {
            elements: RefCell::new(HashMap::from([("it", it)])),
            options: Vec::new(),
            put_away: false,
            is_open: Cell::new(false),
            reaction,
            log: RefCell::default(),
            active: Cell::new(true),
            raises: Cell::new(true),
            covered: Cell::new(false),
            sight: Cell::new(SCREEN),
            habits,
            clock: Clock::steered(),
            cancel: Cancel::new(),
        }
    }

    fn note(&self, line: impl Into<String>) {
        self.log.borrow_mut().push(line.into());
    }

    pub fn with_options(mut self, names: &[&'static str], option: &Live, put_away: bool) -> Self {
        for &name in names {
            let bounds = Some(Rect::new(100, 140, 100, 20));
            let live = Live { name: name.to_owned(), bounds, ..option.clone() };
            self.elements.borrow_mut().insert(name, live);
        }
        self.options = names.to_vec();
        Self { put_away, ..self }
    }

    /// Acts, and compares how it was done and what was done; gives the note, or what the error says.
    #[track_caller]
    pub fn check(&self, input: &Act, route: Result<Route, Kind>, log: &[&str]) -> Option<String> {
        let done = act(self, input);
        let note = done.as_ref().map_or_else(|error| Some(error.message.clone()), |done| done.note.clone());
        let settles_in = done.as_ref().map_or(self.habits.effect_time, |done| done.settles_in);
        assert_eq!(done.map(|done| done.route).map_err(|error| error.kind), route, "{input:?} {note:?}");
        assert_eq!(*self.log.borrow(), log, "{input:?} {note:?}");
        assert_eq!(settles_in, self.habits.effect_time);
        note
    }
}

impl Body for Paper {
    fn habits(&self) -> Habits {
        self.habits
    }

    fn clock(&self) -> &Clock {
        &self.clock
    }

    fn cancel(&self) -> &Cancel {
        &self.cancel
    }

    fn look(&self, element: &Handle) -> Result<Live> {
        let elements = self.elements.borrow();
        let found = elements.get(element.native.as_str()).cloned();
        found.ok_or_else(|| Error::new(Kind::ElementNotFound, "gone"))
    }

    fn request(&self, element: &Handle, request: Request) -> Result<Said> {
        self.note(format!("{}: {}", element.native, request.word()));
        let mut elements = self.elements.borrow_mut();
        let said = elements.get_mut(element.native.as_str()).map_or(Said::No, |live| {
            if said_to_open(live, &request) {
                self.is_open.set(true);
            }
            (self.reaction)(live, &request)
        });
        Ok(said)
    }

    fn options(&self, _: &Handle) -> Result<Vec<Listed>> {
        let shown = if self.put_away && !self.is_open.get() { &[] } else { self.options.as_slice() };
        Ok(shown.iter().map(|name| Listed { handle: handle(name), name: (*name).to_owned() }).collect())
    }

    fn has_keyboard(&self, _: &str) -> Result<bool> {
        Ok(self.active.get())
    }

    fn raise(&self, _: &str) -> Result<()> {
        self.note("raise");
        if self.raises.get() {
            self.active.set(true);
            self.covered.set(false);
        }
        Ok(())
    }

    fn sight(&self, _: &Handle) -> Result<Rect> {
        Ok(self.sight.get())
    }

    fn meets(&self, _: &str, _: Point) -> Result<bool> {
        Ok(!self.covered.get())
    }

    fn point(&self, deed: Deed, at: Option<Point>) -> Result<()> {
        let at = at.map_or_else(|| "here".to_owned(), |at| format!("{},{}", at.x, at.y));
        self.note(format!("{deed:?} {at}"));
        Ok(())
    }

    fn drag(&self, drag: &Drag<'_>) -> Result<()> {
        let Drag { from, to, modifiers, duration } = drag;
        let way = format!("{},{} to {},{}", from.x, from.y, to.x, to.y);
        self.note(format!("drag {way} {modifiers:?} {duration:?}"));
        Ok(())
    }

    fn press_keys(&self, keys: &KeyCombo) -> Result<()> {
        self.note(keys.to_string());
        Ok(())
    }

    fn type_text(&self, text: &str) -> Result<()> {
        self.note(format!("type {text}"));
        if let Some(held) = self.elements.borrow_mut().get_mut("it").and_then(|live| live.text.as_mut()) {
            text.clone_into(held);
        }
        Ok(())
    }
}

fn said_to_open(live: &Live, request: &Request) -> bool {
    live.open.as_ref() == Some(request)
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
#[derive(Clone, Copy)]
pub struct System {
    pub name: &'static str,
    pub habits: Habits,
    make: fn(Thing) -> Live,
    /// What is done to select all of a text, as the log has it.
    pub selects_all: &'static str,
}

const WINDOWS: System = System {
    name: "Windows",
    habits: windows::decode::hands::HABITS,
    make: of_windows,
    selects_all: "ctrl+a",
};

const MAC: System = System {
    name: "macOS",
    habits: macos::decode::hands::HABITS,
    make: of_mac,
    selects_all: "it: select text",
};

pub const SYSTEMS: [System; 2] = [WINDOWS, MAC];

impl System {
    pub fn thing(&self, thing: Thing) -> Live {
        let live = (self.make)(thing);
        assert_eq!((live.bounds, live.name.as_str()), (Some(PLACE), "It"), "{thing:?} of {}", self.name);
        live
    }

    pub fn with(&self, thing: Thing, reaction: Reaction) -> Paper {
        Paper::new(self.habits, self.thing(thing), reaction)
    }

    pub fn changed(&self, thing: Thing, reaction: Reaction, change: impl FnOnce(&mut Live)) -> Paper {
        let mut live = self.thing(thing);
        change(&mut live);
        Paper::new(self.habits, live, reaction)
    }
}

fn of_windows(thing: Thing) -> Live {
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
    windows::decode::hands::live(&match thing {
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

fn of_mac(thing: Thing) -> Live {
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
    macos::decode::hands::live(&raw, &actions)
}
