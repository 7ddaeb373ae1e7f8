//! Inputs where elements can be asked, the most direct way first: the element itself, and where it cannot do it, or says
//! that it did and did not, pointer and keyboard.
//!
//! What is done and what can be known is behind [`Body`], and what an element can be asked for is in [`Live`]: a system
//! fills in both, and every decision is made here, once, and tested without any of them.

use std::time::Duration;

use super::{Deed, Drag, by, chosen, combination, no_option, noted};
use crate::clock::{Cancel, Clock};
use crate::error::{Error, Kind, Result};
use crate::model::action::{Act, Button, Choice, Handle, Key, Modifier};
use crate::model::element::Range;
use crate::model::{KeyCombo, Point, Rect};
use crate::platform::{Done, Route};

/// How long a value, a selection or a focus may take until it can be read back.
const READ_BACK_TIME: Duration = Duration::from_millis(400);
const POPUP_TIME: Duration = Duration::from_millis(1_000);
const STEP: Duration = Duration::from_millis(20);

/// What an element can be asked to do by itself.
#[derive(Clone, Debug, PartialEq)]
pub enum Request {
    Press,
    Toggle,
    Select,
    Expand,
    Collapse,
    ShowMenu,
    SetText(String),
    SetNumber(f64),
    /// All of its text.
    SelectText,
    Focus,
    ScrollIntoView,
}

impl Request {
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Press => "press",
            Self::Toggle => "toggle",
            Self::Select => "select",
            Self::Expand => "expand",
            Self::Collapse => "collapse",
            Self::ShowMenu => "show menu",
            Self::SetText(_) | Self::SetNumber(_) => "set value",
            Self::SelectText => "select text",
            Self::Focus => "focus",
            Self::ScrollIntoView => "scroll into view",
        }
    }
}

/// What came of asking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Said {
    Yes,
    No,
    /// It has not answered yet: many programs answer a press only when the dialog that it opened is closed.
    Nothing,
}

/// An element as it is now, as far as a hand has to know it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Live {
    pub name: String,
    pub enabled: bool,
    pub focused: bool,
    pub selected: Option<bool>,
    pub expanded: Option<bool>,
    /// Where it is, in sight or not; nothing for what is shown nowhere.
    pub bounds: Option<Rect>,
    /// What a click does to it, where it can do that by itself.
    pub click: Option<Request>,
    /// Its own thing, which for an item of a list is a double click's.
    pub invoke: Option<Request>,
    /// What a right click does to it.
    pub menu: Option<Request>,
    /// What brings its options out, where they are put away.
    pub open: Option<Request>,
    /// It may be asked to come into view.
    pub scrolls: bool,
    /// Where it stands between its ends, if it can be set by a number.
    pub range: Option<Range>,
    /// What it holds, or the beginning of that; nothing where it does not tell.
    pub text: Option<String>,
    /// How many units of UTF-16 the whole has, where `text` is not the whole.
    pub units: Option<usize>,
    pub secret: bool,
    /// It takes a text when it is asked to.
    pub settable: bool,
    /// A text can be typed into it.
    pub editable: bool,
    /// It may be asked to select all of its text.
    pub selects_text: bool,
}

impl Live {
    /// Whether it holds this text; nothing where it does not tell. Of a secret at most the length is told.
    fn says(&self, wanted: &str) -> Option<bool> {
        let begins = || self.text.as_deref().is_none_or(|text| wanted.starts_with(text));
        if let Some(units) = self.units {
            return Some(units == wanted.encode_utf16().count() && (self.secret || begins()));
        }
        self.text.as_deref().filter(|_| !self.secret).map(|text| lines(text) == lines(wanted))
    }
}

/// Some fields end lines in a way of their own, and add one at the end.
fn lines(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n").trim_end_matches('\n').to_owned()
}

/// An option and how to reach it.
#[derive(Clone, Debug, PartialEq)]
pub struct Listed {
    pub handle: Handle,
    pub name: String,
}

/// What is done otherwise on each system, whatever the element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Habits {
    /// How long it may take until what came of an input can be seen.
    pub effect_time: Duration,
    /// Is held with a letter for what a menu does, as with `a` to select everything.
    pub command: Modifier,
}

/// What a system lets hands know and do.
pub trait Body {
    fn habits(&self) -> Habits;

    fn clock(&self) -> &Clock;

    fn cancel(&self) -> &Cancel;

    fn look(&self, element: &Handle) -> Result<Live>;

    fn request(&self, element: &Handle, request: Request) -> Result<Said>;

    /// What can be chosen in an element, in its order; of one that is closed nothing may be told.
    fn options(&self, element: &Handle) -> Result<Vec<Listed>>;

    fn has_keyboard(&self, window_uid: &str) -> Result<bool>;

    /// Brings a window to the front as well as it goes; whether it came is looked at.
    fn raise(&self, window_uid: &str) -> Result<()>;

    /// The part of the screen in which an element can be seen.
    fn sight(&self, element: &Handle) -> Result<Rect>;

    /// Whether a click at a point meets the window, or a menu or list of its own that lies over it.
    fn meets(&self, window_uid: &str, point: Point) -> Result<bool>;

    /// Where nothing is said, the wheel turns where the pointer is.
    fn point(&self, deed: Deed, at: Option<Point>) -> Result<()>;

    fn drag(&self, drag: &Drag<'_>) -> Result<()>;

    fn press_keys(&self, keys: &KeyCombo) -> Result<()>;

    /// Types into what has the keyboard.
    fn type_text(&self, text: &str) -> Result<()>;
}

pub fn act(body: &dyn Body, act: &Act) -> Result<Done> {
    let done = Doing { body }.act(act)?;
    Ok(Done { settles_in: body.habits().effect_time, ..done })
}

/// One input under way.
struct Doing<'a> {
    body: &'a dyn Body,
}

impl Doing<'_> {
    fn act(&self, act: &Act) -> Result<Done> {
        match act {
            Act::Click { element: Some(element), at, button: Button::Left, count: 1 } => {
                self.ask_or_click(element, *at, |live| live.click)
            }
            Act::Click { element: Some(element), at, button: Button::Right, count: 1 } => {
                self.open_menu(element, *at)
            }
            Act::Click { element, at, button, count } => {
                self.point(Deed::Click(*button, *count), element.as_ref(), *at)
            }
            Act::Invoke { element } => self.ask_or_click(element, None, |live| live.invoke),
            Act::Focus { element } => self.focus(element),
            Act::SetValue { element, text } => self.set_value(element, text),
            Act::Select { element, option: None } => self.ask_or_click(element, None, |live| live.click),
            Act::Select { element, option: Some(choice) } => self.select(element, choice),
            Act::Type { element, text } => {
                self.focus_for_keys(element.as_ref())?;
                self.body.type_text(text).map(|()| by(Route::Keyboard))
            }
            Act::Key { element, keys } => {
                self.focus_for_keys(element.as_ref())?;
                self.body.press_keys(keys).map(|()| by(Route::Keyboard))
            }
            Act::Scroll { element: None, at: None, clicks } => {
                self.body.point(Deed::Scroll(*clicks), None).map(|()| by(Route::Pointer))
            }
            Act::Scroll { element, at, clicks } => self.point(Deed::Scroll(*clicks), element.as_ref(), *at),
            Act::Hover { element, at } => self.point(Deed::Stay, element.as_ref(), *at),
            Act::Drag { from, to, modifiers, duration } => {
                let drag = Drag { from: *from, to: *to, modifiers, duration: *duration };
                self.body.drag(&drag).map(|()| by(Route::Pointer))
            }
        }
    }

    /// Looks again and again for so long, and once more when the time is over. Looks may be slow, so that it is the clock
    /// that counts and not how often was looked.
    fn until(&self, at_most: Duration, mut holds: impl FnMut() -> Result<bool>) -> Result<bool> {
        let clock = self.body.clock();
        let end = clock.now() + at_most;
        loop {
            let left = end.saturating_sub(clock.now());
            if holds()? {
                return Ok(true);
            }
            if left.is_zero() {
                return Ok(false);
            }
            clock.sleep(STEP.min(end.saturating_sub(clock.now())), self.body.cancel())?;
        }
    }

    fn enabled(&self, element: &Handle) -> Result<Live> {
        let live = self.body.look(element)?;
        if live.enabled {
            return Ok(live);
        }
        Err(Error::new(Kind::ElementDisabled, format!("'{}' is disabled now", live.name)))
    }

    // ── clicking ───────────────────────────────────────────────────────────────────────────────────

    fn ask_or_click(
        &self,
        element: &Handle,
        at: Option<Point>,
        request: fn(Live) -> Option<Request>,
    ) -> Result<Done> {
        let request = request(self.enabled(element)?);
        match self.ask(element, request)? {
            Some(done) => Ok(done),
            None => self.point(Deed::Click(Button::Left, 1), Some(element), at),
        }
    }

    fn open_menu(&self, element: &Handle, at: Option<Point>) -> Result<Done> {
        let live = self.body.look(element)?;
        match self.ask(element, live.menu.filter(|_| live.enabled))? {
            Some(done) => Ok(done),
            None => self.point(Deed::Click(Button::Right, 1), Some(element), at),
        }
    }

    /// `None` where the element cannot do it, or says no.
    fn ask(&self, element: &Handle, request: Option<Request>) -> Result<Option<Done>> {
        let Some(request) = request else {
            return Ok(None);
        };
        let word = request.word();
        Ok(match self.body.request(element, request)? {
            Said::Yes => Some(noted(Route::Accessibility, word)),
            Said::Nothing => {
                let note = "the application has not answered yet; it may be showing a dialog";
                Some(noted(Route::Accessibility, note))
            }
            Said::No => None,
        })
    }

    // ── the pointer ────────────────────────────────────────────────────────────────────────────────

    fn point(&self, deed: Deed, element: Option<&Handle>, at: Option<Point>) -> Result<Done> {
        let at = match (element, at) {
            (Some(element), at) => self.aim(element, at)?,
            (None, Some(at)) => at,
            (None, None) => return Err(Error::bad_request("neither an element nor a point to go to")),
        };
        self.body.point(deed, Some(at)).map(|()| by(Route::Pointer))
    }

    /// A point of the element as it is now that a pointer reaches: scrolled into view and uncovered.
    fn aim(&self, element: &Handle, at: Option<Point>) -> Result<Point> {
        let live = self.body.look(element)?;
        let place = match self.place(element, &live)? {
            None if live.scrolls => self.scroll_into_view(element)?,
            place => place,
        };
        let place = place.ok_or_else(|| unreachable(&live, "it has no place on the screen now"))?;
        // The caller's point was chosen with care for what covers the element; it counts while it fits.
        let point = at.filter(|at| place.contains(*at)).unwrap_or(place.center());
        self.uncover(element, &live, point)?;
        Ok(point)
    }

    /// The part of the element that is in sight.
    fn place(&self, element: &Handle, live: &Live) -> Result<Option<Rect>> {
        let Some(bounds) = live.bounds else {
            return Ok(None);
        };
        Ok(bounds.intersection(&self.body.sight(element)?))
    }

    fn scroll_into_view(&self, element: &Handle) -> Result<Option<Rect>> {
        if self.body.request(element, Request::ScrollIntoView)? == Said::No {
            return Ok(None);
        }
        let mut place = None;
        self.until(READ_BACK_TIME, || {
            place = self.place(element, &self.body.look(element)?)?;
            Ok(place.is_some())
        })?;
        Ok(place)
    }

    fn uncover(&self, element: &Handle, live: &Live, point: Point) -> Result<()> {
        let reached = || self.body.meets(&element.window_uid, point);
        if reached()? {
            return Ok(());
        }
        self.body.raise(&element.window_uid)?;
        if self.until(READ_BACK_TIME, reached)? {
            return Ok(());
        }
        Err(unreachable(live, "another window covers it, also after its own was brought to the front"))
    }

    // ── focus ──────────────────────────────────────────────────────────────────────────────────────

    fn focus(&self, element: &Handle) -> Result<Done> {
        let live = self.enabled(element)?;
        let active = self.body.has_keyboard(&element.window_uid)?;
        if live.focused && active {
            return Ok(noted(Route::Accessibility, "it had the focus already"));
        }
        if !active {
            self.body.raise(&element.window_uid)?;
        }
        if self.body.request(element, Request::Focus)? == Said::Yes && self.is_focused_soon(element)? {
            return Ok(by(Route::Accessibility));
        }
        self.point(Deed::Click(Button::Left, 1), Some(element), None)?;
        if self.is_focused_soon(element)? {
            return Ok(by(Route::Pointer));
        }
        Ok(noted(Route::Pointer, "it was clicked, but does not say that it has the focus"))
    }

    fn is_focused_soon(&self, element: &Handle) -> Result<bool> {
        self.until(READ_BACK_TIME, || Ok(self.body.look(element)?.focused))
    }

    /// Keys go to whatever has the focus, so nothing is sent before it is known where it is.
    fn focus_for_keys(&self, element: Option<&Handle>) -> Result<()> {
        let Some(element) = element else {
            return Ok(());
        };
        self.focus(element)?;
        if self.until(READ_BACK_TIME, || self.body.has_keyboard(&element.window_uid))? {
            return Ok(());
        }
        let message = "the window does not get the keyboard, so nothing was typed";
        Err(Error::new(Kind::WindowOccluded, message).with("window_uid", element.window_uid.as_str()))
    }

    // ── values ─────────────────────────────────────────────────────────────────────────────────────

    fn set_value(&self, element: &Handle, text: &str) -> Result<Done> {
        let live = self.enabled(element)?;
        let number = text.trim().parse::<f64>().ok().filter(|number| number.is_finite());
        if let (Some(range), Some(number)) = (live.range, number) {
            return self.set_number(element, &live, range, number);
        }
        if !live.settable && !live.editable {
            return Err(not_editable(&live));
        }
        if live.settable && self.takes_text(element, &live, text)? {
            return Ok(by(Route::Accessibility));
        }
        self.type_over(element, &live, text)
    }

    fn set_number(&self, element: &Handle, live: &Live, range: Range, number: f64) -> Result<Done> {
        if !is_within(range, number) {
            let bound = |end: Option<f64>| end.map_or_else(|| "?".to_owned(), |end| end.to_string());
            let (min, max) = (bound(range.min), bound(range.max));
            return Err(Error::bad_request(format!("{number} is not between {min} and {max}")));
        }
        self.body.request(element, Request::SetNumber(number))?;
        let now = || Ok::<_, Error>(self.body.look(element)?.range.and_then(|range| range.now));
        if self.until(READ_BACK_TIME, || Ok(now()?.is_some_and(|now| (now - number).abs() < 1e-6)))? {
            return Ok(by(Route::Accessibility));
        }
        match now()? {
            Some(now) if Some(now) != range.now => {
                Ok(noted(Route::Accessibility, format!("the value is {now}, the nearest that it takes")))
            }
            _ if live.editable => self.type_over(element, live, &number.to_string()),
            _ => Err(not_editable(live)),
        }
    }

    /// Whether it holds the text after it was asked to take it. What a field says to that is not believed where it can be
    /// read back. A secret tells at most its length, which the one before may have had too: there a yes is needed as well.
    fn takes_text(&self, element: &Handle, live: &Live, text: &str) -> Result<bool> {
        let said = self.body.request(element, Request::SetText(text.to_owned()))?;
        if live.secret && said != Said::Yes {
            return Ok(false);
        }
        Ok(self.read_back(element, text)?.unwrap_or(live.secret))
    }

    fn read_back(&self, element: &Handle, wanted: &str) -> Result<Option<bool>> {
        let mut says = None;
        self.until(READ_BACK_TIME, || {
            says = self.body.look(element)?.says(wanted);
            Ok(says != Some(false))
        })?;
        Ok(says)
    }

    fn type_over(&self, element: &Handle, live: &Live, text: &str) -> Result<Done> {
        self.focus_for_keys(Some(element))?;
        self.select_text(element, live)?;
        match text {
            "" => self.body.press_keys(&combination(&[], Key::Named("backspace")))?,
            text => self.body.type_text(text)?,
        }
        Ok(match self.read_back(element, text)? {
            Some(true) => by(Route::Keyboard),
            None => noted(Route::Keyboard, "typed; the field does not tell what it holds"),
            Some(false) => {
                noted(Route::Keyboard, "typed, but the field holds another text now; look at its value")
            }
        })
    }

    /// Keys only where the element does not do it: which key a letter is on depends on the layout.
    fn select_text(&self, element: &Handle, live: &Live) -> Result<()> {
        if live.selects_text && self.body.request(element, Request::SelectText)? == Said::Yes {
            return Ok(());
        }
        self.body.press_keys(&combination(&[self.body.habits().command], Key::Character('a')))
    }

    // ── options ────────────────────────────────────────────────────────────────────────────────────

    fn select(&self, element: &Handle, choice: &Choice) -> Result<Done> {
        let live = self.enabled(element)?;
        let mut options = self.body.options(element)?;
        // A list that shows its options shows all of them; clicking into it would choose one.
        let opens = meant(&options, choice).is_none() && (live.open.is_some() || options.is_empty());
        if opens {
            // Most combo boxes make their options when they open.
            self.open(element, &live)?;
            self.until(POPUP_TIME, || {
                options = self.body.options(element)?;
                Ok(meant(&options, choice).is_some())
            })?;
        }
        let Some(option) = meant(&options, choice) else {
            if opens {
                self.close(element, &live, false)?;
            }
            return Err(no_option(choice, names(&options)));
        };
        let done = self.choose(element, &live, option)?;
        if opens {
            self.close(element, &live, true)?;
        }
        Ok(done)
    }

    fn open(&self, element: &Handle, live: &Live) -> Result<()> {
        if self.ask(element, live.open.clone())?.is_none() {
            self.point(Deed::Click(Button::Left, 1), Some(element), None)?;
        }
        Ok(())
    }

    /// What was opened to look into it is closed again, if choosing did not do it. A menu that does not say whether it is
    /// open closes when something is chosen, and else by a key, which goes nowhere else while it is open.
    fn close(&self, element: &Handle, live: &Live, was_chosen: bool) -> Result<()> {
        let Some(open) = &live.open else {
            return Ok(());
        };
        let expanded = if *open == Request::Expand { self.body.look(element)?.expanded } else { None };
        match expanded {
            Some(true) => self.body.request(element, Request::Collapse).map(|_| ()),
            None if !was_chosen => self.body.press_keys(&combination(&[], Key::Named("escape"))),
            Some(false) | None => Ok(()),
        }
    }

    fn choose(&self, element: &Handle, live: &Live, option: &Listed) -> Result<Done> {
        let own = self.enabled(&option.handle)?;
        // A press is not repeated: it may have done something that nobody tells. A selection that did not come is.
        let selects = own.click == Some(Request::Select);
        if let Some(done) = self.ask(&option.handle, own.click.clone())? {
            if self.is_chosen_soon(element, option)? {
                return Ok(done);
            }
            if !selects {
                return Ok(not_told(&done));
            }
        }
        if self.place(&option.handle, &own)?.is_none() && live.open.is_some() {
            self.open(element, live)?;
        }
        let done = self.point(Deed::Click(Button::Left, 1), Some(&option.handle), None)?;
        Ok(if self.is_chosen_soon(element, option)? { done } else { not_told(&done) })
    }

    fn is_chosen_soon(&self, element: &Handle, option: &Listed) -> Result<bool> {
        self.until(READ_BACK_TIME, || self.is_chosen(element, option))
    }

    /// The option says so, or what it is chosen in shows its name.
    fn is_chosen(&self, element: &Handle, option: &Listed) -> Result<bool> {
        let around = self.body.look(element)?;
        if around.text.is_some_and(|text| text.trim() == option.name.trim()) {
            return Ok(true);
        }
        // A list that closed has thrown its options away, which says nothing.
        Ok(self.body.look(&option.handle).is_ok_and(|now| now.selected == Some(true)))
    }
}

fn meant<'a>(options: &'a [Listed], choice: &Choice) -> Option<&'a Listed> {
    options.get(chosen(names(options), choice)?)
}

fn names(options: &[Listed]) -> impl Iterator<Item = &str> + Clone {
    options.iter().map(|option| option.name.as_str())
}

/// Ends that do not leave anything between them are no ends.
fn is_within(range: Range, number: f64) -> bool {
    match (range.min, range.max) {
        (Some(min), Some(max)) if min >= max => true,
        (min, max) => min.is_none_or(|min| number >= min) && max.is_none_or(|max| number <= max),
    }
}

fn not_told(done: &Done) -> Done {
    noted(done.route, "the option was clicked, but does not say that it is selected")
}

fn not_editable(live: &Live) -> Error {
    Error::new(Kind::PatternUnsupported, format!("'{}' has no value that can be set", live.name))
}

fn unreachable(live: &Live, why: &str) -> Error {
    Error::new(Kind::ElementOccluded, format!("the pointer cannot reach '{}': {why}", live.name))
}

#[cfg(test)]
pub mod paper;
#[cfg(test)]
mod tests;
