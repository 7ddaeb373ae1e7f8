//! Inputs, the most direct way first: the element itself is asked, and where it cannot do it, or says that it did and did
//! not, pointer and keyboard do.
//!
//! What is done and what can be known is behind [`Body`], so that every decision here is tested without a Mac.

use std::time::Duration;

use super::records::RawElement;
use super::{points, roles, tree};
use crate::error::{Error, Kind, Result};
use crate::model::action::{Act, Button, Choice, Handle, Key, Modifier};
use crate::model::{KeyCombo, Point, Rect};
use crate::platform::hands::{Deed, Drag, by, chosen, combination, no_option, noted};
use crate::platform::{Done, Route};

/// Buttons show their press before they do something, and sheets slide.
pub const EFFECT_TIME: Duration = Duration::from_millis(500);
/// How long a value, a selection or a focus may take until it can be read back.
const READ_BACK_TIME: Duration = Duration::from_millis(400);
const MENU_TIME: Duration = Duration::from_millis(1_000);
const STEP: Duration = Duration::from_millis(20);

/// What an element can be asked to do by itself.
#[derive(Clone, Debug, PartialEq)]
pub enum Request {
    Press,
    ShowMenu,
    Select,
    Focus,
    SetText(String),
    SetNumber(f64),
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

/// An element as it is now.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Live {
    pub raw: RawElement,
    /// As `AXUIElementCopyActionNames` tells them.
    pub actions: Vec<String>,
}

impl Live {
    fn can(&self, action: &str) -> bool {
        self.actions.iter().any(|known| known == action)
    }

    fn name(&self) -> String {
        tree::shown(&self.raw, None, None, None).name
    }

    fn is_enabled(&self) -> bool {
        self.raw.enabled.unwrap_or(true)
    }

    fn is_focused(&self) -> bool {
        self.raw.focused.unwrap_or(false)
    }

    fn is_secret(&self) -> bool {
        roles::is_secret(&self.raw.role, self.raw.subrole.as_deref())
    }

    fn place(&self, screen: Rect) -> Option<Rect> {
        let own = self.raw.bounds.map(points::rect).filter(|own| !own.is_empty())?;
        screen.contains(own.center()).then_some(own)
    }
}

/// An option and how to reach it.
#[derive(Clone, Debug, PartialEq)]
pub struct Listed {
    pub handle: Handle,
    pub name: String,
}

pub trait Body {
    fn look(&self, element: &Handle) -> Result<Live>;

    fn request(&self, element: &Handle, request: Request) -> Result<Said>;

    /// What can be chosen in an element, in its order; of a menu that is closed nothing may be told.
    fn options(&self, element: &Handle) -> Result<Vec<Listed>>;

    fn has_keyboard(&self, window_uid: &str) -> Result<bool>;

    /// Brings a window to the front as well as it goes; whether it came is looked at.
    fn raise(&self, window_uid: &str) -> Result<()>;

    fn screen(&self) -> Result<Rect>;

    /// Whether a click at a point meets the window, or a menu of its application over it.
    fn meets(&self, window_uid: &str, point: Point) -> Result<bool>;

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

/// What a click on the element is, if it can do it by itself.
fn click_request(live: &Live) -> Option<Request> {
    // A click into a text gives it the focus, which the pointer does best.
    if roles::is_text(&live.raw.role) && live.raw.role != "AXComboBox" {
        return None;
    }
    if live.can("AXPress") {
        return Some(Request::Press);
    }
    // Rows have no press; what a click does to them is to select them.
    (live.raw.role == "AXRow").then_some(Request::Select)
}

struct Doing<'a> {
    body: &'a dyn Body,
}

impl Doing<'_> {
    fn act(&self, act: &Act) -> Result<Done> {
        match act {
            Act::Click { element: Some(element), at, button: Button::Left, count: 1 } => {
                self.click_directly(element, *at)
            }
            Act::Click { element: Some(element), at, button: Button::Right, count: 1 } => {
                self.open_menu(element, *at)
            }
            Act::Click { element, at, button, count } => {
                self.point(Deed::Click(*button, *count), element.as_ref(), *at)
            }
            Act::Invoke { element } => self.click_directly(element, None),
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

    fn enabled(&self, element: &Handle) -> Result<Live> {
        let live = self.body.look(element)?;
        if live.is_enabled() {
            return Ok(live);
        }
        Err(Error::new(Kind::ElementDisabled, format!("'{}' is disabled now", live.name())))
    }

    // ── clicking ───────────────────────────────────────────────────────────────────────────────────

    fn click_directly(&self, element: &Handle, at: Option<Point>) -> Result<Done> {
        let live = self.enabled(element)?;
        if let Some(request) = click_request(&live)
            && let Some(done) = self.ask(element, request)?
        {
            return Ok(done);
        }
        self.point(Deed::Click(Button::Left, 1), Some(element), at)
    }

    fn open_menu(&self, element: &Handle, at: Option<Point>) -> Result<Done> {
        let live = self.enabled(element)?;
        if live.can("AXShowMenu")
            && let Some(done) = self.ask(element, Request::ShowMenu)?
        {
            return Ok(done);
        }
        self.point(Deed::Click(Button::Right, 1), Some(element), at)
    }

    /// `None` when the element says no.
    fn ask(&self, element: &Handle, request: Request) -> Result<Option<Done>> {
        let word = match request {
            Request::Press => "press",
            Request::ShowMenu => "show menu",
            _ => "select",
        };
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
        let screen = self.body.screen()?;
        let place = match live.place(screen) {
            Some(place) => Some(place),
            None => self.scroll_into_view(element, screen)?,
        };
        let place = place.ok_or_else(|| unreachable(&live, "it has no place on the screen now"))?;
        // The caller's point was chosen with care for what covers the element; it counts while it fits.
        let point = at.filter(|at| place.contains(*at)).unwrap_or(place.center());
        self.uncover(element, &live, point)?;
        Ok(point)
    }

    fn scroll_into_view(&self, element: &Handle, screen: Rect) -> Result<Option<Rect>> {
        if self.body.request(element, Request::ScrollIntoView)? == Said::No {
            return Ok(None);
        }
        let mut place = None;
        self.until(READ_BACK_TIME, || {
            place = self.body.look(element)?.place(screen);
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
        if live.is_focused() && active {
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
        self.until(READ_BACK_TIME, || Ok(self.body.look(element)?.is_focused()))
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
        if roles::is_ranged(&live.raw.role)
            && let Some(number) = number
        {
            return self.set_number(element, &live, number);
        }
        if !roles::is_text(&live.raw.role) && live.raw.settable != Some(true) {
            return Err(not_editable(&live));
        }
        if live.raw.settable == Some(true) {
            self.body.request(element, Request::SetText(text.to_owned()))?;
            if self.holds(element, text)? {
                return Ok(by(Route::Accessibility));
            }
        }
        self.type_over(element, text)
    }

    fn set_number(&self, element: &Handle, live: &Live, number: f64) -> Result<Done> {
        let (min, max) = (live.raw.min, live.raw.max);
        if min.is_some_and(|min| number < min) || max.is_some_and(|max| number > max) {
            let bound = |end: Option<f64>| end.map_or_else(|| "?".to_owned(), |end| end.to_string());
            let message = format!("{number} is not between {} and {}", bound(min), bound(max));
            return Err(Error::bad_request(message));
        }
        self.body.request(element, Request::SetNumber(number))?;
        let stands =
            || Ok(self.body.look(element)?.raw.number().is_some_and(|now| (now - number).abs() < 1e-6));
        if self.until(READ_BACK_TIME, stands)? {
            return Ok(by(Route::Accessibility));
        }
        let now = self.body.look(element)?.raw.number();
        if now != live.raw.number() {
            let now = now.map_or_else(|| "unknown".to_owned(), |now| now.to_string());
            return Ok(noted(Route::Accessibility, format!("the value is {now}, the nearest that it takes")));
        }
        Err(not_editable(live))
    }

    /// Whether the field holds the text now. Of a secret only the length can be told.
    fn holds(&self, element: &Handle, wanted: &str) -> Result<bool> {
        self.until(READ_BACK_TIME, || {
            let live = self.body.look(element)?;
            let text = live.raw.text().unwrap_or_default();
            let characters = live.raw.characters.unwrap_or_else(|| text.chars().count());
            let length = wanted.chars().count();
            Ok(match live.is_secret() || characters > text.chars().count() {
                true => characters == length,
                false => text.trim_end_matches('\n') == wanted.trim_end_matches('\n'),
            })
        })
    }

    fn type_over(&self, element: &Handle, text: &str) -> Result<Done> {
        self.focus_for_keys(Some(element))?;
        self.body.press_keys(&combination(&[Modifier::Meta], Key::Character('a')))?;
        match text {
            "" => self.body.press_keys(&combination(&[], Key::Named("backspace")))?,
            text => self.body.type_text(text)?,
        }
        if self.holds(element, text)? {
            return Ok(by(Route::Keyboard));
        }
        Ok(noted(Route::Keyboard, "typed, but the field holds another text now; look at its value"))
    }

    // ── options ────────────────────────────────────────────────────────────────────────────────────

    fn select(&self, element: &Handle, option: Option<&Choice>) -> Result<Done> {
        self.enabled(element)?;
        let Some(choice) = option else {
            return self.click_directly(element, None);
        };
        let mut options = self.body.options(element)?;
        let find = |options: &[Listed]| chosen(options.iter().map(|option| option.name.as_str()), choice);
        let mut opened = false;
        if find(&options).is_none() {
            // A pop-up button makes its menu when it opens.
            opened = true;
            self.click_directly(element, None)?;
            self.until(MENU_TIME, || {
                options = self.body.options(element)?;
                Ok(find(&options).is_some())
            })?;
        }
        let Some(option) = find(&options).and_then(|place| options.get(place)) else {
            if opened {
                self.body.press_keys(&combination(&[], Key::Named("escape")))?;
            }
            return Err(no_option(choice, options.iter().map(|option| option.name.as_str())));
        };
        let done = self.click_directly(&option.handle, None)?;
        if self.until(READ_BACK_TIME, || self.is_chosen(element, option))? {
            return Ok(done);
        }
        Ok(noted(done.route, "the option was clicked, but does not say that it is selected"))
    }

    /// The option says so, or the pop-up button shows its name.
    fn is_chosen(&self, element: &Handle, option: &Listed) -> Result<bool> {
        if self.body.look(element)?.raw.text().is_some_and(|text| text.trim() == option.name.trim()) {
            return Ok(true);
        }
        // A menu that closed has thrown its items away, which says nothing.
        let option = self.body.look(&option.handle);
        Ok(option.is_ok_and(|live| tree::shown(&live.raw, None, None, None).selected == Some(true)))
    }
}

fn unreachable(live: &Live, why: &str) -> Error {
    Error::new(Kind::ElementOccluded, format!("the pointer cannot reach '{}': {why}", live.name()))
}

fn not_editable(live: &Live) -> Error {
    Error::new(Kind::PatternUnsupported, format!("'{}' has no value that can be set", live.name()))
}

#[cfg(test)]
mod tests {
    use super::super::records::{RawRect, RawValue};
    use super::*;
    use std::cell::RefCell;

    /// A Mac with one element, which writes down what is done to it.
    #[derive(Default)]
    struct Pretended {
        live: RefCell<Live>,
        options: Vec<Listed>,
        said: Option<Said>,
        /// Takes what it is asked to take.
        obeys: bool,
        covered: bool,
        active: bool,
        /// Gets the focus when it is clicked.
        done: RefCell<Vec<String>>,
    }

    impl Pretended {
        fn new(role: &str, actions: &[&str]) -> Self {
            let raw = RawElement {
                role: role.to_owned(),
                title: Some("It".to_owned()),
                bounds: Some(RawRect { x: 10.0, y: 10.0, width: 20.0, height: 20.0 }),
                ..RawElement::default()
            };
            let live = Live { raw, actions: actions.iter().map(ToString::to_string).collect() };
            Self { live: RefCell::new(live), obeys: true, active: true, ..Self::default() }
        }

        fn with(self, change: impl FnOnce(&mut RawElement)) -> Self {
            change(&mut self.live.borrow_mut().raw);
            self
        }

        fn note(&self, what: String) {
            self.done.borrow_mut().push(what);
        }
    }

    impl Body for Pretended {
        fn look(&self, _: &Handle) -> Result<Live> {
            Ok(self.live.borrow().clone())
        }

        fn request(&self, element: &Handle, request: Request) -> Result<Said> {
            self.note(format!("{request:?} {}", element.native));
            let said = self.said.unwrap_or(Said::Yes);
            if said == Said::Yes && self.obeys {
                let raw = &mut self.live.borrow_mut().raw;
                match request {
                    Request::Focus => raw.focused = Some(true),
                    Request::SetText(text) => raw.value = Some(RawValue::Text(text)),
                    Request::SetNumber(number) => raw.value = Some(RawValue::Number(number)),
                    _ => {}
                }
            }
            Ok(said)
        }

        fn options(&self, _: &Handle) -> Result<Vec<Listed>> {
            Ok(self.options.clone())
        }

        fn has_keyboard(&self, _: &str) -> Result<bool> {
            Ok(self.active)
        }

        fn raise(&self, _: &str) -> Result<()> {
            self.note("raise".to_owned());
            Ok(())
        }

        fn screen(&self) -> Result<Rect> {
            Ok(Rect::new(0, 0, 100, 100))
        }

        fn meets(&self, _: &str, _: Point) -> Result<bool> {
            Ok(!self.covered)
        }

        fn point(&self, deed: Deed, at: Option<Point>) -> Result<()> {
            self.note(format!("{deed:?} {:?}", at.map(|at| (at.x, at.y))));
            Ok(())
        }

        fn drag(&self, _: &Drag<'_>) -> Result<()> {
            self.note("drag".to_owned());
            Ok(())
        }

        fn press_keys(&self, keys: &KeyCombo) -> Result<()> {
            self.note(format!("keys {keys}"));
            Ok(())
        }

        fn type_text(&self, text: &str) -> Result<()> {
            self.note(format!("type {text}"));
            let raw = &mut self.live.borrow_mut().raw;
            raw.value = Some(RawValue::Text(text.to_owned()));
            Ok(())
        }

        fn pause(&self, _: Duration) -> Result<()> {
            Ok(())
        }
    }

    fn handle(native: &str) -> Handle {
        Handle { window_uid: "cg:1".to_owned(), native: native.to_owned() }
    }

    fn click(button: Button, count: u32) -> Act {
        Act::Click { element: Some(handle("it")), at: None, button, count }
    }

    fn check(body: &Pretended, input: &Act, route: Route, expected: &[&str]) {
        let done = act(body, input).unwrap();
        assert_eq!(*body.done.borrow(), expected, "{input:?}");
        assert_eq!((done.route, done.settles_in), (route, EFFECT_TIME), "{input:?} {done:?}");
    }

    fn check_refused(body: &Pretended, input: &Act, expected: Kind) {
        assert_eq!(act(body, input).unwrap_err().kind, expected, "{input:?}");
    }

    #[test]
    fn a_button_is_pressed_by_itself() {
        let body = Pretended::new("AXButton", &["AXPress", "AXShowMenu"]);
        check(&body, &click(Button::Left, 1), Route::Accessibility, &["Press it"]);
        let body = Pretended::new("AXButton", &["AXPress", "AXShowMenu"]);
        check(&body, &click(Button::Right, 1), Route::Accessibility, &["ShowMenu it"]);
        let body = Pretended::new("AXButton", &["AXPress"]);
        check(&body, &click(Button::Left, 2), Route::Pointer, &["Click(Left, 2) Some((20, 20))"]);
    }

    #[test]
    fn what_cannot_be_pressed_is_clicked() {
        let body = Pretended::new("AXImage", &[]);
        check(&body, &click(Button::Left, 1), Route::Pointer, &["Click(Left, 1) Some((20, 20))"]);
        let body = Pretended::new("AXTextField", &["AXPress", "AXConfirm"]);
        check(&body, &click(Button::Left, 1), Route::Pointer, &["Click(Left, 1) Some((20, 20))"]);
        let body = Pretended { said: Some(Said::No), ..Pretended::new("AXButton", &["AXPress"]) };
        let expected = ["Press it", "Click(Left, 1) Some((20, 20))"];
        check(&body, &click(Button::Left, 1), Route::Pointer, &expected);
    }

    #[test]
    fn a_press_that_opens_a_dialog_is_not_pressed_again() {
        let body = Pretended { said: Some(Said::Nothing), ..Pretended::new("AXButton", &["AXPress"]) };
        check(&body, &click(Button::Left, 1), Route::Accessibility, &["Press it"]);
    }

    #[test]
    fn a_row_is_selected_by_itself() {
        check(&Pretended::new("AXRow", &[]), &click(Button::Left, 1), Route::Accessibility, &["Select it"]);
    }

    #[test]
    fn what_is_disabled_covered_or_nowhere_is_not_clicked() {
        let body = Pretended::new("AXButton", &["AXPress"]).with(|raw| raw.enabled = Some(false));
        check_refused(&body, &click(Button::Left, 1), Kind::ElementDisabled);
        let body = Pretended { covered: true, ..Pretended::new("AXImage", &[]) };
        check_refused(&body, &click(Button::Left, 1), Kind::ElementOccluded);
        assert_eq!(*body.done.borrow(), ["raise"]);
        let body = Pretended { said: Some(Said::No), ..Pretended::new("AXImage", &[]) }
            .with(|raw| raw.bounds = None);
        check_refused(&body, &click(Button::Left, 1), Kind::ElementOccluded);
    }

    fn set(text: &str) -> Act {
        Act::SetValue { element: handle("it"), text: text.to_owned() }
    }

    #[test]
    fn a_value_is_set_and_read_back_or_typed() {
        let body = Pretended::new("AXTextField", &[]).with(|raw| raw.settable = Some(true));
        check(&body, &set("hello"), Route::Accessibility, &["SetText(\"hello\") it"]);
        let liar = Pretended { obeys: false, ..Pretended::new("AXTextField", &[]) }.with(|raw| {
            raw.settable = Some(true);
            raw.focused = Some(true);
        });
        check(&liar, &set("hello"), Route::Keyboard, &["SetText(\"hello\") it", "keys meta+a", "type hello"]);
        check_refused(&Pretended::new("AXButton", &[]), &set("hello"), Kind::PatternUnsupported);
    }

    #[test]
    fn a_number_is_set_within_its_ends() {
        let slider = || {
            Pretended::new("AXSlider", &[]).with(|raw| {
                raw.value = Some(RawValue::Number(1.0));
                (raw.min, raw.max) = (Some(0.0), Some(10.0));
            })
        };
        check(&slider(), &set("4"), Route::Accessibility, &["SetNumber(4.0) it"]);
        check_refused(&slider(), &set("11"), Kind::BadRequest);
        let deaf = Pretended { obeys: false, ..slider() };
        check_refused(&deaf, &set("4"), Kind::PatternUnsupported);
    }

    #[test]
    fn keys_go_to_what_has_the_focus() {
        let typed = Act::Type { element: Some(handle("it")), text: "x".to_owned() };
        let body = Pretended::new("AXTextField", &[]);
        check(&body, &typed, Route::Keyboard, &["Focus it", "type x"]);
        let body = Pretended { active: false, ..Pretended::new("AXTextField", &[]) };
        check_refused(&body, &typed, Kind::WindowOccluded);
        assert_eq!(*body.done.borrow(), ["raise", "Focus it"], "nothing was typed");
    }

    #[test]
    fn an_option_is_pressed_and_read_back() {
        let listed = |name: &str| Listed { handle: handle(name), name: name.to_owned() };
        let body = Pretended {
            options: vec![listed("WEP"), listed("WPA2")],
            ..Pretended::new("AXPopUpButton", &["AXPress"])
        }
        .with(|raw| raw.value = Some(RawValue::Text("WPA2".to_owned())));
        let choose = |choice| Act::Select { element: handle("it"), option: Some(choice) };
        check(&body, &choose(Choice::Name("WPA2".to_owned())), Route::Accessibility, &["Press WPA2"]);
        body.done.borrow_mut().clear();
        check_refused(&body, &choose(Choice::Index(7)), Kind::BadRequest);
        assert_eq!(*body.done.borrow(), ["Press it", "keys escape"], "what was opened is closed again");
    }
}
