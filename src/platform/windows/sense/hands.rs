//! Inputs, the most direct way first: the element's own patterns, and where it has none, or says that it did and did
//! not, pointer and keyboard.
//!
//! What is done and what can be known is behind [`Body`], so that every decision here is tested without a Windows.

use std::time::Duration;

use super::roles;
use super::tree::RawElement;
use crate::error::{Error, Kind, Result};
use crate::model::action::{Act, Button, Choice, Handle, Key, Modifier};
use crate::model::{KeyCombo, Point, Rect};
use crate::platform::hands::{Deed, Drag, by, chosen, combination, no_option, noted};
use crate::platform::{Done, Route};

/// Buttons of newer toolkits show their press before they do something.
pub const EFFECT_TIME: Duration = Duration::from_millis(400);
/// How long a value, a selection or a focus may take until it can be read back.
pub const READ_BACK_TIME: Duration = Duration::from_millis(400);
const POPUP_TIME: Duration = Duration::from_millis(1_000);
const STEP: Duration = Duration::from_millis(20);

/// What an element can be asked to do by itself.
#[derive(Clone, Debug, PartialEq)]
pub enum Request {
    Invoke,
    Toggle,
    Select,
    Expand,
    Collapse,
    SetText(String),
    SetNumber(f64),
    Focus,
    ScrollIntoView,
}

/// What came of asking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Said {
    Yes,
    No,
    /// It has not answered yet: many programs answer a press only when the dialog that it opened is closed.
    Nothing,
}

/// An option and how to reach it.
#[derive(Clone, Debug, PartialEq)]
pub struct Listed {
    pub handle: Handle,
    pub raw: RawElement,
}

/// What lies under a point of the screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Under {
    /// The uid of a listed window, or of the one that a menu or list belongs to.
    Window(String),
    Nothing,
}

pub trait Body {
    fn look(&self, element: &Handle) -> Result<RawElement>;

    fn request(&self, element: &Handle, request: Request) -> Result<Said>;

    /// What can be chosen in an element, in its order.
    fn options(&self, element: &Handle) -> Result<Vec<Listed>>;

    fn has_keyboard(&self, window_uid: &str) -> Result<bool>;

    /// Brings a window to the front as well as it goes; whether it came is looked at.
    fn raise(&self, window_uid: &str) -> Result<()>;

    fn screen(&self) -> Result<Rect>;

    fn under(&self, point: Point) -> Result<Under>;

    /// Where nothing is said, the wheel turns where the pointer is.
    fn point(&self, deed: Deed, at: Option<Point>) -> Result<()>;

    fn drag(&self, drag: &Drag<'_>) -> Result<()>;

    fn press_keys(&self, keys: &KeyCombo) -> Result<()>;

    fn type_text(&self, text: &str) -> Result<()>;

    /// Waits; fails when the call is cancelled.
    fn pause(&self, time: Duration) -> Result<()>;
}

pub fn act(body: &dyn Body, act: &Act) -> Result<Done> {
    let done = Doing { body }.act(act)?;
    Ok(Done { settles_in: EFFECT_TIME, ..done })
}

struct Doing<'a> {
    body: &'a dyn Body,
}

/// What a click on the element is, if it can do it by itself.
pub fn click_request(raw: &RawElement) -> Option<Request> {
    let role = raw.role(false);
    // A click into a text gives it the focus, which the pointer does best.
    if role == "Edit" || role == "Document" {
        return None;
    }
    let select = raw.selected.is_some().then_some(Request::Select);
    if roles::ITEMS.contains(&role) {
        return select;
    }
    let toggle = raw.toggle.is_some().then_some(Request::Toggle);
    let invoke = raw.invoke.then_some(Request::Invoke);
    invoke.or(toggle).or(select).or_else(|| open_or_close(raw))
}

/// What the element does when it is asked to do its own thing, which for an item of a list is a double click's.
fn invoke_request(raw: &RawElement) -> Option<Request> {
    if raw.invoke { Some(Request::Invoke) } else { click_request(raw) }
}

fn open_or_close(raw: &RawElement) -> Option<Request> {
    raw.expanded().map(|open| if open { Request::Collapse } else { Request::Expand })
}

const fn word(request: &Request) -> &'static str {
    match request {
        Request::Invoke => "invoke",
        Request::Toggle => "toggle",
        Request::Select => "select",
        Request::Expand => "expand",
        Request::Collapse => "collapse",
        Request::SetText(_) | Request::SetNumber(_) => "set value",
        Request::Focus => "focus",
        Request::ScrollIntoView => "scroll into view",
    }
}

impl Doing<'_> {
    fn act(&self, act: &Act) -> Result<Done> {
        match act {
            Act::Click { element: Some(element), at, button: Button::Left, count: 1 } => {
                self.ask_or_click(element, *at, click_request)
            }
            Act::Click { element, at, button, count } => {
                self.point(Deed::Click(*button, *count), element.as_ref(), *at)
            }
            Act::Invoke { element } => self.ask_or_click(element, None, invoke_request),
            Act::Focus { element } => self.focus(element),
            Act::SetValue { element, text } => self.set_value(element, text),
            Act::Select { element, option } => self.select(element, option.as_ref()),
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

    fn until(&self, at_most: Duration, mut holds: impl FnMut() -> Result<bool>) -> Result<bool> {
        let mut waited = Duration::ZERO;
        loop {
            if holds()? {
                return Ok(true);
            }
            if waited >= at_most {
                return Ok(false);
            }
            self.body.pause(STEP)?;
            waited += STEP;
        }
    }

    fn enabled(&self, element: &Handle) -> Result<RawElement> {
        let raw = self.body.look(element)?;
        if raw.enabled {
            return Ok(raw);
        }
        Err(Error::new(Kind::ElementDisabled, format!("'{}' is disabled now", raw.name)))
    }

    // ── clicking ───────────────────────────────────────────────────────────────────────────────────

    fn ask_or_click(
        &self,
        element: &Handle,
        at: Option<Point>,
        request: fn(&RawElement) -> Option<Request>,
    ) -> Result<Done> {
        let raw = self.enabled(element)?;
        if let Some(request) = request(&raw) {
            let name = word(&request);
            match self.body.request(element, request)? {
                Said::Yes => return Ok(noted(Route::Accessibility, name)),
                Said::Nothing => {
                    let note = "the application has not answered yet; it may be showing a dialog";
                    return Ok(noted(Route::Accessibility, note));
                }
                Said::No => {}
            }
        }
        self.point(Deed::Click(Button::Left, 1), Some(element), at)
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
        let raw = self.body.look(element)?;
        let screen = self.body.screen()?;
        let place = match shown_place(&raw, screen) {
            Some(place) => Some(place),
            None => self.scroll_into_view(element, &raw, screen)?,
        };
        let place = place.ok_or_else(|| unreachable(&raw, "it has no place on the screen now"))?;
        // The caller's point was chosen with care for what covers the element; it counts while it fits.
        let point = at.filter(|at| place.contains(*at)).unwrap_or(place.center());
        self.uncover(element, &raw, point)?;
        Ok(point)
    }

    fn scroll_into_view(&self, element: &Handle, raw: &RawElement, screen: Rect) -> Result<Option<Rect>> {
        if !raw.scroll_item {
            return Ok(None);
        }
        self.body.request(element, Request::ScrollIntoView)?;
        let mut place = None;
        self.until(READ_BACK_TIME, || {
            place = shown_place(&self.body.look(element)?, screen);
            Ok(place.is_some())
        })?;
        Ok(place)
    }

    fn uncover(&self, element: &Handle, raw: &RawElement, point: Point) -> Result<()> {
        let reached = || Ok(self.body.under(point)? == Under::Window(element.window_uid.clone()));
        if reached()? {
            return Ok(());
        }
        self.body.raise(&element.window_uid)?;
        if self.until(READ_BACK_TIME, reached)? {
            return Ok(());
        }
        Err(unreachable(raw, "another window covers it, also after its own was brought to the front"))
    }

    // ── focus ──────────────────────────────────────────────────────────────────────────────────────

    fn focus(&self, element: &Handle) -> Result<Done> {
        let raw = self.enabled(element)?;
        let active = self.body.has_keyboard(&element.window_uid)?;
        if raw.focused && active {
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
        let raw = self.enabled(element)?;
        if let Some(range) = raw.range.filter(|range| !range.read_only)
            && let Some(number) = text.trim().parse::<f64>().ok().filter(|number| number.is_finite())
        {
            return self.set_number(element, &raw, (range.min, range.max), number);
        }
        let settable = raw.value.as_ref().is_some_and(|value| !value.read_only);
        if !settable && !raw.editable() {
            return Err(not_editable(&raw));
        }
        if settable {
            self.body.request(element, Request::SetText(text.to_owned()))?;
            if self.holds(element, text)? {
                return Ok(by(Route::Accessibility));
            }
        }
        self.type_over(element, &raw, text)
    }

    fn set_number(
        &self,
        element: &Handle,
        raw: &RawElement,
        (min, max): (f64, f64),
        number: f64,
    ) -> Result<Done> {
        if min < max && !(min..=max).contains(&number) {
            return Err(Error::bad_request(format!("{number} is not between {min} and {max}")));
        }
        self.body.request(element, Request::SetNumber(number))?;
        let now = || Ok::<_, Error>(self.body.look(element)?.range().now);
        if self.until(READ_BACK_TIME, || Ok(now()?.is_some_and(|now| (now - number).abs() < 1e-6)))? {
            return Ok(by(Route::Accessibility));
        }
        match now()? {
            Some(now) if Some(now) != raw.range().now => {
                Ok(noted(Route::Accessibility, format!("the value is {now}, the nearest that it takes")))
            }
            _ if raw.editable() => self.type_over(element, raw, &number.to_string()),
            _ => Err(not_editable(raw)),
        }
    }

    /// Whether the field holds the text now. A password is not told, so it is believed.
    fn holds(&self, element: &Handle, wanted: &str) -> Result<bool> {
        let lines = |text: &str| text.replace("\r\n", "\n").replace('\r', "\n").trim_end().to_owned();
        self.until(READ_BACK_TIME, || {
            let now = self.body.look(element)?;
            let held = now.value.as_ref().map(|value| value.text.as_str()).or(now.text.as_deref());
            Ok(now.password || held.is_some_and(|held| lines(held) == lines(wanted)))
        })
    }

    fn type_over(&self, element: &Handle, raw: &RawElement, text: &str) -> Result<Done> {
        self.focus_for_keys(Some(element))?;
        self.body.press_keys(&combination(&[Modifier::Ctrl], Key::Character('a')))?;
        match text {
            "" => self.body.press_keys(&combination(&[], Key::Named("delete")))?,
            text => self.body.type_text(text)?,
        }
        if raw.password || (raw.value.is_none() && raw.text.is_none()) {
            return Ok(noted(Route::Keyboard, "typed; the field does not tell what it holds"));
        }
        if self.holds(element, text)? {
            return Ok(by(Route::Keyboard));
        }
        Ok(noted(Route::Keyboard, "typed, but the field holds another text now; look at its value"))
    }

    // ── options ────────────────────────────────────────────────────────────────────────────────────

    fn select(&self, element: &Handle, option: Option<&Choice>) -> Result<Done> {
        let raw = self.enabled(element)?;
        let Some(choice) = option else {
            return self.ask_or_click(element, None, click_request);
        };
        let mut options = self.body.options(element)?;
        let mut opened = false;
        if meant(&options, choice).is_none() {
            // Most combo boxes make their options when they open.
            opened = self.open(element, &raw)?;
            self.until(POPUP_TIME, || {
                options = self.body.options(element)?;
                Ok(meant(&options, choice).is_some())
            })?;
        }
        let Some(option) = meant(&options, choice).cloned() else {
            self.close(element, opened)?;
            return Err(no_option(choice, names(&options)));
        };
        let done = self.choose(element, &raw, &option)?;
        self.close(element, opened)?;
        Ok(done)
    }

    fn open(&self, element: &Handle, raw: &RawElement) -> Result<bool> {
        if raw.expanded() == Some(false) && self.body.request(element, Request::Expand)? == Said::Yes {
            return Ok(true);
        }
        self.point(Deed::Click(Button::Left, 1), Some(element), None)?;
        Ok(true)
    }

    /// What was opened to look into it is closed again, if choosing did not do it.
    fn close(&self, element: &Handle, opened: bool) -> Result<()> {
        if opened && self.body.look(element)?.expanded() == Some(true) {
            self.body.request(element, Request::Collapse)?;
        }
        Ok(())
    }

    fn choose(&self, element: &Handle, raw: &RawElement, option: &Listed) -> Result<Done> {
        if option.raw.selected.is_some()
            && self.body.request(&option.handle, Request::Select)? != Said::No
            && self.until(READ_BACK_TIME, || self.is_chosen(element, option))?
        {
            return Ok(by(Route::Accessibility));
        }
        if shown_place(&self.body.look(&option.handle)?, self.body.screen()?).is_none() {
            self.open(element, raw)?;
        }
        let done = self.ask_or_click(&option.handle, None, click_request)?;
        if self.until(READ_BACK_TIME, || self.is_chosen(element, option))? {
            return Ok(done);
        }
        Ok(noted(done.route, "the option was clicked, but does not say that it is selected"))
    }

    /// The option says so, or the combo box shows its name.
    fn is_chosen(&self, element: &Handle, option: &Listed) -> Result<bool> {
        let around = self.body.look(element)?;
        if around.value.is_some_and(|value| value.text == option.raw.name) {
            return Ok(true);
        }
        // A list that closed has thrown its options away, which says nothing.
        Ok(self.body.look(&option.handle).is_ok_and(|now| now.selected() == Some(true)))
    }
}

fn meant<'a>(options: &'a [Listed], choice: &Choice) -> Option<&'a Listed> {
    options.get(chosen(names(options), choice)?)
}

fn names(options: &[Listed]) -> impl Iterator<Item = &str> + Clone {
    options.iter().map(|option| option.raw.name.as_str())
}

fn shown_place(raw: &RawElement, screen: Rect) -> Option<Rect> {
    let place = raw.bounds();
    (!raw.offscreen && !place.is_empty() && screen.contains(place.center())).then_some(place)
}

fn not_editable(raw: &RawElement) -> Error {
    Error::new(Kind::PatternUnsupported, format!("'{}' has no value that can be set", raw.name))
}

fn unreachable(raw: &RawElement, why: &str) -> Error {
    Error::new(Kind::ElementOccluded, format!("the pointer cannot reach '{}': {why}", raw.name))
}

#[cfg(test)]
#[path = "hands_tests.rs"]
mod tests;
