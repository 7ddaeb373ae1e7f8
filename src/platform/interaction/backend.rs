//! What a system lends to the strategy: the state of an element, requests that the element itself fulfils, pointer and
//! keys. What differs between systems is declared here, as a field or as a method, and decided nowhere else.

use std::time::Duration;

use super::{DatePart, Drag, PointerAction};
use crate::clock::{Cancel, Clock};
use crate::error::Result;
use crate::model::element::Range;
use crate::model::input::{Handle, Key, Modifier};
use crate::model::{KeyCombo, Point, Rect};
use crate::platform::{FieldText, Route};

/// What an element can be asked to do by itself.
#[derive(Clone, Debug, PartialEq)]
pub enum Request {
    Press,
    Toggle,
    Select,
    Expand,
    Collapse,
    ShowMenu,
    /// An action that the application names itself.
    Perform(NamedAction),
    /// One of its children, by its place among them.
    SelectChild(i32),
    SetText(String),
    SetNumber(f64),
    /// All of its text.
    SelectText,
    Focus,
    ScrollIntoView,
}

impl Request {
    /// The word for it in a note.
    pub fn label(&self) -> &str {
        match self {
            Self::Press => "press",
            Self::Toggle => "toggle",
            Self::Select => "select",
            Self::Expand => "expand",
            Self::Collapse => "collapse",
            Self::ShowMenu => "show menu",
            Self::Perform(action) => &action.name,
            Self::SelectChild(_) => "select child",
            Self::SetText(_) | Self::SetNumber(_) => "set value",
            Self::SelectText => "select text",
            Self::Focus => "focus",
            Self::ScrollIntoView => "scroll into view",
        }
    }
}

/// An action by the number that the application gives it, and by its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedAction {
    pub index: i32,
    pub name: String,
}

/// What came of a request. Toolkits accept many things that they then do not do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestOutcome {
    Accepted,
    Refused,
    /// No answer yet: many programs answer a press only when the dialog that it opened is closed.
    Unanswered,
}

/// An element as it is now, as far as an input has to know it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ElementState {
    pub name: String,
    pub enabled: bool,
    pub focused: bool,
    pub selected: Option<bool>,
    pub expanded: Option<bool>,
    /// Whether it shows, where the system tells it; else its visible bounds tell.
    pub showing: Option<bool>,
    /// Where the application says it is, visible or not; nothing for what is shown nowhere.
    pub bounds: Option<Rect>,
    /// The bounds count from this place in the window, for an application that does not know where it is.
    pub window_offset: Option<(i32, i32)>,
    /// What a click does to it, where it can do that by itself.
    pub click: Option<Request>,
    /// The pointer clicks it where it meets it: by itself it plays the click for a while first, or does not answer before
    /// the dialog that the click opens is closed.
    pub pointer_first: bool,
    /// Its options may do something when they are clicked that they do not when they are selected.
    pub options_by_pointer: bool,
    /// Its own action may run a dialog to its end before the application answers anything again.
    pub runs_dialog: bool,
    /// It is a menu, or an entry of one.
    pub is_menu: bool,
    /// What may do the same as a click where no pointer reaches it: a toggle does not tell all that a click does.
    pub unseen_click: Option<Request>,
    /// Its own thing, which for an item of a list is a double click's.
    pub invoke: Option<Request>,
    /// What a right click does to it.
    pub menu: Option<Request>,
    /// What brings its options out; a click does where there is nothing.
    pub open: Option<Request>,
    /// It may have options that it does not list before it was opened.
    pub hides_options: bool,
    /// It can be asked to select one of its children.
    pub selects_children: bool,
    /// Its name is that of the option that is selected in it.
    pub named_by_option: bool,
    /// It may be asked to come into view.
    pub scrolls: bool,
    /// Where it stands between its ends, if it can be set by a number.
    pub range: Option<Range>,
    /// What it holds, or the beginning of that; nothing where it does not tell.
    pub text: Option<String>,
    /// How long the whole is, where `text` is not the whole.
    pub length: Option<TextLength>,
    pub secret: bool,
    /// It takes a text when it is asked to.
    pub settable: bool,
    /// A text can be typed into it.
    pub editable: bool,
    /// It may be asked to select all of its text.
    pub selects_text: bool,
    /// What is typed replaces what it holds, and counts when enter ends it.
    pub ends_by_enter: bool,
    /// It takes a date, maybe in parts.
    pub is_date: bool,
    /// It is a combo box or a tool bar. What is written into one may count only when a key ends it.
    pub is_bar: bool,
}

impl ElementState {
    /// Whether it holds this text; nothing where it does not tell. Of a secret at most the length is told.
    pub fn holds_text(&self, wanted: &str) -> Option<bool> {
        let begins = || self.text.as_deref().is_none_or(|text| wanted.starts_with(text));
        if let Some(length) = self.length {
            return Some(length.is_of(wanted) && (self.secret || begins()));
        }
        self.text
            .as_deref()
            .filter(|_| !self.secret)
            .map(|text| normalize_lines(text) == normalize_lines(wanted) || is_same_number(text, wanted))
    }

    /// Whether it shows that this option is the selected one.
    pub fn shows_option(&self, name: &str) -> bool {
        let text = self.text.as_deref().is_some_and(|text| text.trim() == name.trim());
        text || (self.named_by_option && self.name == name)
    }
}

/// A field of months says 03 to a 3.
fn is_same_number(one: &str, other: &str) -> bool {
    let number = |text: &str| text.trim().parse::<f64>().ok();
    number(one).is_some_and(|one| number(other).is_some_and(|other| (one - other).abs() < 1e-9))
}

/// Some fields end lines in a way of their own, and add one at the end.
fn normalize_lines(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n").trim_end_matches('\n').to_owned()
}

impl From<ElementState> for FieldText {
    fn from(state: ElementState) -> Self {
        let text = state.text.filter(|_| !state.secret);
        let told = state.length.map(TextLength::count);
        let characters = told.or_else(|| text.as_ref().map(|text| text.chars().count()));
        Self { focused: state.focused, text, characters }
    }
}

/// The length of a text, in what its system counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextLength {
    Utf16Units(usize),
    Characters(usize),
}

impl TextLength {
    pub fn count(self) -> usize {
        match self {
            Self::Utf16Units(count) | Self::Characters(count) => count,
        }
    }

    fn is_of(self, text: &str) -> bool {
        match self {
            Self::Utf16Units(units) => units == text.encode_utf16().count(),
            Self::Characters(characters) => characters == text.chars().count(),
        }
    }
}

/// An option and how to reach it.
#[derive(Clone, Debug, PartialEq)]
pub struct OptionItem {
    pub handle: Handle,
    pub name: String,
    /// Where it is among its siblings, for systems on which containers select their children.
    pub position: Option<ChildPosition>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ChildPosition {
    pub parent: Handle,
    pub index: i32,
}

/// How a text was typed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TypedText {
    /// Keys that are not ours were down meanwhile.
    pub disturbed: bool,
}

/// What is still to come of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InputEffect {
    pub within: Duration,
    /// The application rests: what is to be seen by now is all of it, or nearly.
    pub rests: bool,
    /// It may come long after the application rests.
    pub comes_late: bool,
}

impl InputEffect {
    pub const fn within(within: Duration) -> Self {
        Self { within, rests: false, comes_late: false }
    }
}

/// What takes its time on a system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// How long it may take until what came of an input can be seen.
    pub effect: Duration,
}

/// What is done differently on each system, whatever the element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputProfile {
    pub timing: Timing,
    /// Is held with a letter for what a menu does, as with `a` to select everything.
    pub command: Modifier,
    /// Deletes a text that is selected.
    pub delete_key: Key,
    /// A secret that tells nothing at all is believed to have taken a text that it accepted.
    pub trusts_silent_secrets: bool,
}

/// What a system lets an input know and do.
pub trait Backend {
    fn profile(&self) -> InputProfile;

    fn clock(&self) -> &Clock;

    fn cancel(&self) -> &Cancel;

    /// The element now. Its text may be left out, where reading it costs questions of its own.
    fn element_state(&self, element: &Handle) -> Result<ElementState>;

    /// The element now, with its text.
    fn element_with_text(&self, element: &Handle) -> Result<ElementState>;

    fn request(&self, element: &Handle, request: Request) -> Result<RequestOutcome>;

    /// What can be chosen in an element, in its order; of one that is closed nothing may be told.
    fn options(&self, element: &Handle) -> Result<Vec<OptionItem>>;

    /// The parts of a field that takes a date, in their order; nothing where it has none.
    fn date_parts(&self, element: &Handle) -> Result<Vec<DatePart>>;

    /// Where an element is among its siblings, on systems on which containers select their children.
    fn position(&self, element: &Handle) -> Result<Option<ChildPosition>>;

    fn has_keyboard(&self, window_uid: &str) -> Result<bool>;

    /// Waits until the application has done what it was sent or asked, where that can be known, and says how long what
    /// comes of it may still take to be seen.
    fn effect(&self, element: &Handle, route: Route) -> Result<InputEffect>;

    /// Brings a window to the front as well as it goes; whether it came is looked at.
    fn raise_window(&self, window_uid: &str) -> Result<()>;

    /// The part of the element that can be seen on the screen.
    fn visible_bounds(&self, element: &Handle, state: &ElementState) -> Result<Option<Rect>>;

    /// Whether a click at a point meets the window, or a menu or list of its own that lies over it.
    fn hits_window(&self, window_uid: &str, point: Point) -> Result<bool>;

    /// Where no point is given, the wheel turns where the pointer is.
    fn use_pointer(&self, action: PointerAction, at: Option<Point>, held: &[Modifier]) -> Result<()>;

    fn drag(&self, drag: &Drag<'_>) -> Result<()>;

    fn press_keys(&self, keys: &KeyCombo) -> Result<()>;

    /// Types into what has the keyboard.
    fn type_text(&self, text: &str) -> Result<TypedText>;
}
