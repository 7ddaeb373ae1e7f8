//! Inputs, the most direct way first: the element itself is asked; where it cannot do it, or says that it did
//! and did not, pointer and keyboard do.
//!
//! What toolkits answer is not believed where it can be read back: GTK4 says yes to a text that it does not
//! take, progress bars to a value that they ignore, Qt to a focus that it does not give.

use std::time::Duration;

use super::Typed;
use super::accessibility::element::{Child, Live, Said};
use super::accessibility::{Accessible, roles};
use crate::clock::Cancel;
use crate::error::{Error, Kind, Result};
use crate::model::action::{Act, Button, Choice, Handle, Key, Modifier};
use crate::model::{KeyCombo, Point};
use crate::platform::hands::{Deed, Drag, by, chosen, combination, no_option, noted};
use crate::platform::{Done, Route};

/// GTK4 plays the press of a button for a quarter of a second before it happens.
const EFFECT_TIME: Duration = Duration::from_millis(600);
/// How long a value, a selection or a focus may take until it can be read back.
pub const READ_BACK_TIME: Duration = Duration::from_millis(400);
const POPUP_TIME: Duration = Duration::from_millis(1_000);
/// Options further down than that are not options of this element.
const OPTION_DEPTH: usize = 4;
const MOST_OPTIONS: usize = 2_000;

/// What a display server lets hands do where an element does not do it by itself.
pub trait Seat {
    fn accessible(&self) -> &Accessible;

    /// Whether keys go to this window now.
    fn has_keyboard(&self, window_uid: &str) -> Result<bool>;

    /// Brings a window to the front as well as it goes; whether it came is looked at.
    fn raise(&self, window_uid: &str) -> Result<()>;

    /// Takes the pointer to the element, or to the point where there is none, and does the deed there.
    fn point(&self, deed: Deed, element: Option<&Handle>, at: Option<Point>, cancel: &Cancel) -> Result<()>;

    fn drag(&self, drag: &Drag<'_>, cancel: &Cancel) -> Result<()>;

    fn press_keys(&self, keys: &KeyCombo) -> Result<()>;

    /// Types into what has the keyboard.
    fn type_text(&self, text: &str, cancel: &Cancel) -> Result<Typed>;
}

pub fn act(seat: &dyn Seat, act: &Act, cancel: &Cancel) -> Result<Done> {
    let done = Doing { seat, cancel }.act(act)?;
    Ok(Done { settles_in: EFFECT_TIME, ..done })
}

/// One input under way.
struct Doing<'a> {
    seat: &'a dyn Seat,
    cancel: &'a Cancel,
}

/// What is said of a text that may have come out otherwise.
const DISTURBED: &str =
    "somebody pressed keys at the same time, so the text may be mixed with theirs; read what the field holds";

fn told(typed: Typed) -> Done {
    if typed.disturbed { noted(Route::Keyboard, DISTURBED) } else { by(Route::Keyboard) }
}

impl Doing<'_> {
    fn act(&self, act: &Act) -> Result<Done> {
        match act {
            Act::Click { element: Some(element), at, button: Button::Left, count: 1 } => {
                self.click_directly(element, *at)
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
                Ok(told(self.seat.type_text(text, self.cancel)?))
            }
            Act::Key { element, keys } => {
                self.focus_for_keys(element.as_ref())?;
                self.seat.press_keys(keys).map(|()| by(Route::Keyboard))
            }
            Act::Scroll { element, at, clicks } => self.point(Deed::Scroll(*clicks), element.as_ref(), *at),
            Act::Hover { element, at } => self.point(Deed::Stay, element.as_ref(), *at),
            Act::Drag { from, to, modifiers, duration } => {
                let drag = Drag { from: *from, to: *to, modifiers, duration: *duration };
                self.seat.drag(&drag, self.cancel).map(|()| by(Route::Pointer))
            }
        }
    }

    fn point(&self, deed: Deed, element: Option<&Handle>, at: Option<Point>) -> Result<Done> {
        self.seat.point(deed, element, at, self.cancel).map(|()| by(Route::Pointer))
    }

    fn look(&self, element: &Handle) -> Result<Live> {
        self.seat.accessible().look_at(element, self.cancel)
    }

    /// An element that can be worked. GTK3 says yes to actions of insensitive widgets and does nothing.
    fn enabled(&self, element: &Handle) -> Result<Live> {
        let live = self.look(element)?;
        if live.enabled() {
            return Ok(live);
        }
        Err(Error::new(Kind::ElementDisabled, format!("'{}' is disabled now", live.name)))
    }

    fn until(&self, at_most: Duration, holds: impl FnMut() -> Result<bool>) -> Result<bool> {
        self.seat.accessible().until(at_most, self.cancel, holds)
    }

    // ── clicking ───────────────────────────────────────────────────────────────────────────────────

    /// By the element's own action, or by the pointer where it has none.
    fn click_directly(&self, element: &Handle, at: Option<Point>) -> Result<Done> {
        let live = self.enabled(element)?;
        if let Some(number) = live.click_action() {
            let name = usize::try_from(number).ok().and_then(|at| live.actions.get(at)).cloned();
            match self.seat.accessible().do_action(element, number, self.cancel)? {
                Said::Yes => return Ok(noted(Route::Accessibility, name.unwrap_or_default())),
                Said::Nothing => {
                    let note = "the application has not answered yet; it may be showing a dialog";
                    return Ok(noted(Route::Accessibility, note));
                }
                Said::No => {}
            }
        }
        self.point(Deed::Click(Button::Left, 1), Some(element), at)
    }

    // ── focus ──────────────────────────────────────────────────────────────────────────────────────

    fn focus(&self, element: &Handle) -> Result<Done> {
        let live = self.enabled(element)?;
        if live.focused() && self.seat.has_keyboard(&element.window_uid)? {
            return Ok(noted(Route::Accessibility, "it had the focus already"));
        }
        // Qt says yes and does nothing while its window is not the active one; GTK4 answers an error.
        if !self.seat.has_keyboard(&element.window_uid)? {
            self.seat.raise(&element.window_uid)?;
        }
        if self.seat.accessible().grab_focus(element, self.cancel)? == Said::Yes
            && self.is_focused_soon(element)?
        {
            return Ok(by(Route::Accessibility));
        }
        self.point(Deed::Click(Button::Left, 1), Some(element), None)?;
        if self.is_focused_soon(element)? {
            return Ok(by(Route::Pointer));
        }
        Ok(noted(Route::Pointer, "it was clicked, but does not say that it has the focus"))
    }

    fn is_focused_soon(&self, element: &Handle) -> Result<bool> {
        self.until(READ_BACK_TIME, || Ok(self.look(element)?.focused()))
    }

    /// Keys go to whatever has the focus, so nothing is sent before it is known where it is.
    fn focus_for_keys(&self, element: Option<&Handle>) -> Result<()> {
        let Some(element) = element else {
            return Ok(());
        };
        self.focus(element)?;
        let active = self.until(READ_BACK_TIME, || self.seat.has_keyboard(&element.window_uid))?;
        if active {
            return Ok(());
        }
        let message = "the window does not get the keyboard, so nothing was typed";
        Err(Error::new(Kind::WindowOccluded, message).with("window_uid", element.window_uid.as_str()))
    }

    // ── values ─────────────────────────────────────────────────────────────────────────────────────

    fn set_value(&self, element: &Handle, text: &str) -> Result<Done> {
        let live = self.enabled(element)?;
        if live.has_number()
            && let Some(number) = text.trim().parse::<f64>().ok().filter(|number| number.is_finite())
        {
            return self.set_number(element, &live, number);
        }
        if !live.is_text() && !live.sets_text() {
            return Err(not_editable(&live));
        }
        if live.sets_text() {
            self.seat.accessible().set_text(element, text.to_owned(), self.cancel)?;
            if self.reads(element, &live, text)? {
                return Ok(by(Route::Accessibility));
            }
        }
        self.type_over(element, &live, text)
    }

    fn set_number(&self, element: &Handle, live: &Live, number: f64) -> Result<Done> {
        let inside = live.range.min.is_none_or(|min| number >= min)
            && live.range.max.is_none_or(|max| max <= live.range.min.unwrap_or(max) || number <= max);
        if !inside {
            let bound = |end: Option<f64>| end.map_or_else(|| "?".to_owned(), |end| end.to_string());
            let (min, max) = (bound(live.range.min), bound(live.range.max));
            return Err(Error::bad_request(format!("{number} is not between {min} and {max}")));
        }
        self.seat.accessible().set_number(element, number, self.cancel)?;
        let stands = || Ok(self.look(element)?.range.now.is_some_and(|now| (now - number).abs() < 1e-6));
        if self.until(READ_BACK_TIME, stands)? {
            return Ok(by(Route::Accessibility));
        }
        let now = self.look(element)?.range.now;
        if now != live.range.now {
            let now = now.map_or_else(|| "unknown".to_owned(), |now| now.to_string());
            return Ok(noted(Route::Accessibility, format!("the value is {now}, the nearest that it takes")));
        }
        if live.is_text() {
            return self.type_over(element, live, &number.to_string());
        }
        Err(not_editable(live))
    }

    /// Whether the field holds the text now. Of a secret only the length can be told.
    fn reads(&self, element: &Handle, live: &Live, wanted: &str) -> Result<bool> {
        let same = |text: String| match live.is_secret() {
            true => text.chars().count() == wanted.chars().count(),
            false => text.trim_end_matches('\n') == wanted.trim_end_matches('\n'),
        };
        self.until(READ_BACK_TIME, || {
            Ok(self.seat.accessible().text(element, self.cancel)?.is_some_and(same))
        })
    }

    fn type_over(&self, element: &Handle, live: &Live, text: &str) -> Result<Done> {
        self.focus_for_keys(Some(element))?;
        self.seat.press_keys(&combination(&[Modifier::Ctrl], Key::Character('a')))?;
        let typed = match text {
            "" => self.seat.press_keys(&combination(&[], Key::Named("delete"))).map(|()| Typed::default())?,
            text => self.seat.type_text(text, self.cancel)?,
        };
        if !live.has_text() {
            let note =
                if typed.disturbed { DISTURBED } else { "typed; the field does not tell what it holds" };
            return Ok(noted(Route::Keyboard, note));
        }
        if self.reads(element, live, text)? {
            return Ok(by(Route::Keyboard));
        }
        Ok(noted(Route::Keyboard, "typed, but the field holds another text now; look at its value"))
    }

    // ── options ────────────────────────────────────────────────────────────────────────────────────

    fn select(&self, element: &Handle, option: Option<&Choice>) -> Result<Done> {
        let live = self.enabled(element)?;
        let Some(choice) = option else {
            return self.click_directly(element, None);
        };
        let mut options = self.options(element)?;
        if meant(&options, choice).is_none() {
            // GTK4 and Qt make the options of a combo box when it opens.
            self.click_directly(element, None)?;
            self.until(POPUP_TIME, || {
                options = self.options(element)?;
                Ok(meant(&options, choice).is_some())
            })?;
        }
        let Some(option) = meant(&options, choice) else {
            self.seat.press_keys(&combination(&[], Key::Named("escape")))?;
            return Err(no_option(choice, names(&options)));
        };
        if self.select_by_interface(element, &live, option)? {
            return Ok(by(Route::Accessibility));
        }
        self.select_by_click(element, option)
    }

    /// The option's parent selects it, or the combo box does. Only what can be read back counts.
    fn select_by_interface(&self, element: &Handle, live: &Live, option: &Found) -> Result<bool> {
        let own = live.selects().then(|| element.clone());
        let around = Some(option.parent.clone()).filter(|parent| parent != element);
        for chooser in own.into_iter().chain(around) {
            if self.seat.accessible().select_child(&chooser, option.index, self.cancel)? == Said::Yes
                && self.until(READ_BACK_TIME, || self.is_chosen(element, option))?
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn select_by_click(&self, element: &Handle, option: &Found) -> Result<Done> {
        let shown = self.look(&option.child.handle)?;
        if shown.click_action().is_none() && !shown.shows() {
            self.click_directly(element, None)?;
            self.until(POPUP_TIME, || Ok(self.look(&option.child.handle)?.shows()))?;
        }
        let done = self.click_directly(&option.child.handle, None)?;
        if self.until(READ_BACK_TIME, || self.is_chosen(element, option))? {
            return Ok(done);
        }
        Ok(noted(done.route, "the option was clicked, but does not say that it is selected"))
    }

    /// The option says so, or the combo box shows its name.
    fn is_chosen(&self, element: &Handle, option: &Found) -> Result<bool> {
        let around = self.look(element)?;
        let shown = self.seat.accessible().text(element, self.cancel)?;
        if around.name == option.child.name || shown.as_deref() == Some(option.child.name.as_str()) {
            return Ok(true);
        }
        // A list that closed has thrown its options away, which says nothing.
        let option = self.look(&option.child.handle);
        Ok(option.is_ok_and(|live| roles::selected(live.role, live.states) == Some(true)))
    }

    /// What can be chosen in the element, in its order. A combo box keeps them in a menu or a list.
    fn options(&self, element: &Handle) -> Result<Vec<Found>> {
        let mut found = Vec::new();
        let mut level = vec![element.clone()];
        for _ in 0..OPTION_DEPTH {
            let mut next = Vec::new();
            for parent in level {
                for (index, child) in (0..).zip(self.seat.accessible().children(&parent, self.cancel)?) {
                    match roles::is(child.role, roles::OPTIONS) {
                        true => found.push(Found { parent: parent.clone(), index, child }),
                        false => next.push(child.handle),
                    }
                }
            }
            if !found.is_empty() || next.len() > MOST_OPTIONS {
                break;
            }
            level = next;
        }
        found.truncate(MOST_OPTIONS);
        Ok(found)
    }
}

/// An option and its place among its siblings.
#[derive(Clone, Debug, PartialEq)]
struct Found {
    parent: Handle,
    index: i32,
    child: Child,
}

fn meant<'a>(options: &'a [Found], choice: &Choice) -> Option<&'a Found> {
    options.get(chosen(names(options), choice)?)
}

fn names(options: &[Found]) -> impl Iterator<Item = &str> + Clone {
    options.iter().map(|option| option.child.name.as_str())
}

fn not_editable(live: &Live) -> Error {
    let message = format!("'{}' has no value that can be set", live.name);
    Error::new(Kind::PatternUnsupported, message)
}
