//! Inputs, the most direct way first: the element itself is asked; where it cannot do it, or says that it did
//! and did not, pointer and keyboard do.
//!
//! What toolkits answer is not believed where it can be read back: GTK4 says yes to a text that it does not
//! take, progress bars to a value that they ignore, Qt to a focus that it does not give.

use std::time::Duration;

use super::Linux;
use super::accessibility::element::{Child, Live, Said};
use super::accessibility::roles;
use super::{Drag, Under};
use crate::clock::Cancel;
use crate::error::{Error, Kind, Result};
use crate::model::action::{Act, Button, Choice, Handle, Key, Modifier};
use crate::model::{KeyCombo, Point, Rect, Window};
use crate::platform::{Activation, Desktop, Done, Input, Route};

/// GTK4 plays the press of a button for a quarter of a second before it happens.
const EFFECT_TIME: Duration = Duration::from_millis(600);
/// How long a value, a selection or a focus may take until it can be read back.
const READ_BACK_TIME: Duration = Duration::from_millis(400);
const POPUP_TIME: Duration = Duration::from_millis(1_000);
/// Options further down than that are not options of this element.
const OPTION_DEPTH: usize = 4;
const MOST_OPTIONS: usize = 2_000;
const OPTIONS_NAMED: usize = 20;

impl Input for Linux {
    fn act(&self, act: &Act, cancel: &Cancel) -> Result<Done> {
        let done = Doing { linux: self, cancel }.act(act)?;
        Ok(Done { settles_in: EFFECT_TIME, ..done })
    }

    fn release_all(&self) {
        self.let_go();
    }
}

/// One input under way.
struct Doing<'a> {
    linux: &'a Linux,
    cancel: &'a Cancel,
}

fn by(route: Route) -> Done {
    Done { route, ..Done::default() }
}

fn noted(route: Route, note: impl Into<String>) -> Done {
    Done { route, note: Some(note.into()), ..Done::default() }
}

impl Doing<'_> {
    fn act(&self, act: &Act) -> Result<Done> {
        match act {
            Act::Click { element: Some(element), at, button: Button::Left, count: 1 } => {
                self.click_directly(element, *at)
            }
            Act::Click { element, at, button, count } => {
                let at = self.aim(element.as_ref(), *at)?;
                self.linux.click(at, *button, *count).map(|()| by(Route::Pointer))
            }
            Act::Invoke { element } => self.click_directly(element, None),
            Act::Focus { element } => self.focus(element),
            Act::SetValue { element, text } => self.set_value(element, text),
            Act::Select { element, option } => self.select(element, option.as_ref()),
            Act::Type { element, text } => {
                self.focus_for_keys(element.as_ref())?;
                self.linux.type_text(text, self.cancel).map(|()| by(Route::Keyboard))
            }
            Act::Key { element, keys } => {
                self.focus_for_keys(element.as_ref())?;
                self.linux.press_keys(keys).map(|()| by(Route::Keyboard))
            }
            Act::Scroll { element, at, clicks } => {
                let at = self.aim(element.as_ref(), *at)?;
                self.linux.scroll(at, *clicks).map(|()| by(Route::Pointer))
            }
            Act::Hover { element, at } => {
                let at = self.aim(element.as_ref(), *at)?;
                self.linux.move_to(at).map(|()| by(Route::Pointer))
            }
            Act::Drag { from, to, modifiers, duration } => {
                let drag = Drag { from: *from, to: *to, modifiers, duration: *duration };
                self.linux.drag(&drag, self.cancel).map(|()| by(Route::Pointer))
            }
        }
    }

    fn look(&self, element: &Handle) -> Result<Live> {
        self.linux.accessible.look_at(element, self.cancel)
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
        self.linux.accessible.until(at_most, self.cancel, holds)
    }

    // ── clicking ───────────────────────────────────────────────────────────────────────────────────

    /// By the element's own action, or by the pointer where it has none.
    fn click_directly(&self, element: &Handle, at: Option<Point>) -> Result<Done> {
        let live = self.enabled(element)?;
        if let Some(number) = live.click_action() {
            let name = usize::try_from(number).ok().and_then(|at| live.actions.get(at)).cloned();
            match self.linux.accessible.do_action(element, number, self.cancel)? {
                Said::Yes => return Ok(noted(Route::Accessibility, name.unwrap_or_default())),
                Said::Nothing => {
                    let note = "the application has not answered yet; it may be showing a dialog";
                    return Ok(noted(Route::Accessibility, note));
                }
                Said::No => {}
            }
        }
        let at = self.aim_at(element, &live, at)?;
        self.linux.click(at, Button::Left, 1).map(|()| by(Route::Pointer))
    }

    // ── aiming ─────────────────────────────────────────────────────────────────────────────────────

    fn aim(&self, element: Option<&Handle>, at: Option<Point>) -> Result<Point> {
        match (element, at) {
            (Some(element), at) => self.aim_at(element, &self.look(element)?, at),
            (None, Some(at)) => Ok(at),
            (None, None) => Err(Error::bad_request("neither an element nor a point to go to")),
        }
    }

    /// A point of the element as it is now that a pointer reaches: scrolled into view and uncovered.
    fn aim_at(&self, element: &Handle, live: &Live, at: Option<Point>) -> Result<Point> {
        let mut place = self.place(element, live)?;
        if place.is_none_or(|place| !self.is_on_screen(place)) {
            place = self.scroll_into_view(element)?;
        }
        let place = place.ok_or_else(|| unreachable(live, "it has no place on the screen now"))?;
        // The caller's point was chosen with care for what covers the element; it counts while it fits.
        let point = at.filter(|at| place.contains(*at)).unwrap_or(place.center());
        self.uncover(element, live, point)?;
        Ok(point)
    }

    /// Where the element is on the screen, or nothing for what is not shown.
    fn place(&self, element: &Handle, live: &Live) -> Result<Option<Rect>> {
        let Some(own) = live.extents.filter(|own| !own.is_empty()) else {
            return Ok(None);
        };
        let Some((left, top)) = live.inset else {
            return Ok(Some(own));
        };
        let client = self.linux.frame(&element.window_uid)?.client;
        let (x, y) = (own.x.saturating_add(client.x + left), own.y.saturating_add(client.y + top));
        Ok(Some(Rect { x, y, ..own }))
    }

    fn is_on_screen(&self, place: Rect) -> bool {
        let screen = self.linux.screen().ok().flatten();
        screen.is_none_or(|screen| screen.contains(place.center()))
    }

    /// Chromium scrolls and sends no event for it; GTK3 says no.
    fn scroll_into_view(&self, element: &Handle) -> Result<Option<Rect>> {
        self.linux.accessible.scroll_to(element, self.cancel)?;
        let mut place = None;
        self.until(READ_BACK_TIME, || {
            place = self.place(element, &self.look(element)?)?.filter(|place| self.is_on_screen(*place));
            Ok(place.is_some())
        })?;
        Ok(place)
    }

    fn uncover(&self, element: &Handle, live: &Live, point: Point) -> Result<()> {
        if self.is_reached(element, point)? {
            return Ok(());
        }
        self.activate(&element.window_uid)?;
        if self.until(READ_BACK_TIME, || self.is_reached(element, point))? {
            return Ok(());
        }
        Err(unreachable(live, "another window covers it, also after its own was brought to the front"))
    }

    /// Whether a click there meets the element's window, or a menu that lies over it.
    fn is_reached(&self, element: &Handle, point: Point) -> Result<bool> {
        Ok(match self.linux.under(point)? {
            Under::Window(uid) => uid == element.window_uid,
            Under::Popup(_) => true,
            Under::Nothing => false,
        })
    }

    fn window(&self, uid: &str) -> Result<Window> {
        let windows = self.linux.windows()?;
        windows.into_iter().find(|window| window.uid == uid).ok_or_else(|| {
            Error::new(Kind::WindowGone, format!("no window has the uid '{uid}' any more"))
                .with("window_uid", uid)
        })
    }

    fn activate(&self, uid: &str) -> Result<()> {
        match self.linux.activate(&self.window(uid)?)? {
            Activation::Activated => Ok(()),
            Activation::Refused(why) => {
                tracing::debug!(why, "a window was not activated");
                Ok(())
            }
        }
    }

    // ── focus ──────────────────────────────────────────────────────────────────────────────────────

    fn focus(&self, element: &Handle) -> Result<Done> {
        let live = self.enabled(element)?;
        if live.focused() && self.window(&element.window_uid)?.focused {
            return Ok(noted(Route::Accessibility, "it had the focus already"));
        }
        // Qt says yes and does nothing while its window is not the active one; GTK4 answers an error.
        if !self.window(&element.window_uid)?.focused {
            self.activate(&element.window_uid)?;
        }
        if self.linux.accessible.grab_focus(element, self.cancel)? == Said::Yes
            && self.is_focused_soon(element)?
        {
            return Ok(by(Route::Accessibility));
        }
        let at = self.aim_at(element, &self.look(element)?, None)?;
        self.linux.click(at, Button::Left, 1)?;
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
        let active = self.until(READ_BACK_TIME, || Ok(self.window(&element.window_uid)?.focused))?;
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
            self.linux.accessible.set_text(element, text.to_owned(), self.cancel)?;
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
        self.linux.accessible.set_number(element, number, self.cancel)?;
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
        self.until(READ_BACK_TIME, || Ok(self.linux.accessible.text(element, self.cancel)?.is_some_and(same)))
    }

    fn type_over(&self, element: &Handle, live: &Live, text: &str) -> Result<Done> {
        self.focus_for_keys(Some(element))?;
        self.linux.press_keys(&combination(&[Modifier::Ctrl], Key::Character('a')))?;
        match text {
            "" => self.linux.press_keys(&combination(&[], Key::Named("delete")))?,
            text => self.linux.type_text(text, self.cancel)?,
        }
        if !live.has_text() {
            return Ok(noted(Route::Keyboard, "typed; the field does not tell what it holds"));
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
        if chosen(&options, choice).is_none() {
            // GTK4 and Qt make the options of a combo box when it opens.
            self.click_directly(element, None)?;
            self.until(POPUP_TIME, || {
                options = self.options(element)?;
                Ok(chosen(&options, choice).is_some())
            })?;
        }
        let Some(option) = chosen(&options, choice) else {
            self.linux.press_keys(&combination(&[], Key::Named("escape")))?;
            return Err(no_option(choice, &options));
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
            if self.linux.accessible.select_child(&chooser, option.index, self.cancel)? == Said::Yes
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
        let shown = self.linux.accessible.text(element, self.cancel)?;
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
                for (index, child) in (0..).zip(self.linux.accessible.children(&parent, self.cancel)?) {
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

fn chosen<'a>(options: &'a [Found], choice: &Choice) -> Option<&'a Found> {
    match choice {
        Choice::Index(index) => options.get(*index),
        Choice::Name(name) => {
            let exact = options.iter().find(|option| option.child.name == *name);
            exact.or_else(|| options.iter().find(|option| option.child.name.trim() == name.trim()))
        }
    }
}

fn no_option(choice: &Choice, options: &[Found]) -> Error {
    let wanted = match choice {
        Choice::Name(name) => format!("no option is named '{name}'"),
        Choice::Index(index) => format!("there is no option {index}"),
    };
    if options.is_empty() {
        let help = "the application does not name any: click the element and read what opens with get_ocr";
        return Error::new(Kind::PatternUnsupported, format!("{wanted}; {help}"));
    }
    let names: Vec<&str> = options.iter().map(|option| option.child.name.trim()).collect();
    let shown = names.iter().take(OPTIONS_NAMED).copied().collect::<Vec<_>>().join(", ");
    let more = names.len().saturating_sub(OPTIONS_NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    Error::bad_request(format!("{wanted}; there are: {shown}{more}"))
}

fn not_editable(live: &Live) -> Error {
    let message = format!("'{}' has no value that can be set", live.name);
    Error::new(Kind::PatternUnsupported, message)
}

fn unreachable(live: &Live, why: &str) -> Error {
    Error::new(Kind::ElementOccluded, format!("the pointer cannot reach '{}': {why}", live.name))
}

fn combination(modifiers: &[Modifier], key: Key) -> KeyCombo {
    KeyCombo { modifiers: modifiers.to_vec(), key }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn option(name: &str, index: i32) -> Found {
        let handle = |native: &str| Handle { window_uid: "x11:1".to_owned(), native: native.to_owned() };
        let child =
            Child { handle: handle(name), name: name.to_owned(), role: 0, states: Default::default() };
        Found { parent: handle("list"), index, child }
    }

    fn check(choice: Choice, expected: Option<i32>) {
        let options = [option("Left", 0), option(" Middle  ", 1), option("Left", 2)];
        assert_eq!(chosen(&options, &choice).map(|option| option.index), expected, "{choice:?}");
    }

    #[test]
    fn options_are_found_by_name_and_by_place() {
        check(Choice::Name("Left".to_owned()), Some(0));
        check(Choice::Name("Middle".to_owned()), Some(1));
        check(Choice::Name("Right".to_owned()), None);
        check(Choice::Index(2), Some(2));
        check(Choice::Index(3), None);
    }

    #[test]
    fn a_missing_option_is_told_what_there_is() {
        let error = no_option(&Choice::Name("Up".to_owned()), &[option("Left", 0), option("Right", 1)]);
        assert_eq!(error.message, "no option is named 'Up'; there are: Left, Right");
    }
}
