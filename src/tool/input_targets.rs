//! What an input would reach, found for the gate before anything is sent: under a point, at the keyboard
//! focus, behind a shortcut. Nothing is read unless a rule will judge it.
//!
//! The first target is what is meant. What follows is only what a rule protects: an input that may reach
//! a protected element in a second way is judged by that too.

use std::collections::BTreeSet;
use std::ops::Range;

use super::{Cx, ElementTarget, Target};
use crate::error::Result;
use crate::model::input::{Key, Modifier};
use crate::model::{Element, KeyCombo, NamedKey, Point, Role};
use crate::observer::choices::{
    ChoosingKey, backs_out, chosen_by_key, options_in_range, spells_elsewhere, tabs_turned_to,
};
use crate::observer::enter::{may_be_default, passes_enter_on, taken_by_enter};
use crate::observer::{PressKind, ResolvedWindow, View};
use crate::privacy::redact::is_secret;

impl Cx<'_> {
    /// The elements that a button pressed at a point would reach.
    pub fn judged_at(&self, point: Point) -> Result<Vec<Target>> {
        self.judged_there(point, PressKind::Button)
    }

    /// The elements that the wheel turned at a point would reach.
    pub fn judged_by_wheel(&self, point: Point) -> Result<Vec<Target>> {
        self.judged_there(point, PressKind::Wheel)
    }

    fn judged_there(&self, point: Point, kind: PressKind) -> Result<Vec<Target>> {
        if !self.judged {
            return Ok(Vec::new());
        }
        let Some(target) = self.target_at(point)? else {
            return Ok(Vec::new());
        };
        let others = self.protected_at(&target, point, kind);
        Ok(std::iter::once(target).chain(others).collect())
    }

    /// The innermost element under a point. Whoever points cannot know what an application does not tell of itself.
    pub fn target_at(&self, point: Point) -> Result<Option<Target>> {
        self.observer().target_at(&self.desktop()?, point, self.cancel)
    }

    /// An element, and the protected ones that a click at `point` of it would meet instead.
    pub fn judged_with(&self, target: impl Into<Target>, point: Option<Point>) -> Vec<Target> {
        let target = target.into();
        let others = match point {
            Some(point) => self.protected_at(&target, point, PressKind::Button),
            None => self.protected_by_label(&target),
        };
        let target = match target {
            Target::Element(element) => element.met_at(point).into(),
            other => other,
        };
        std::iter::once(target).chain(others).collect()
    }

    fn protected_at(&self, target: &Target, point: Point, kind: PressKind) -> Vec<Target> {
        let Some(target) = target.element().filter(|_| self.judged) else {
            return Vec::new();
        };
        target.reached_beside(point, kind).into_iter().filter(|other| self.covers(other)).collect()
    }

    fn protected_by_label(&self, target: &Target) -> Vec<Target> {
        let Some(target) = target.element().filter(|_| self.judged) else {
            return Vec::new();
        };
        target.reached_by_label().into_iter().filter(|other| self.covers(other)).collect()
    }

    /// A window as a whole: its root, what its title says where the root is called otherwise, and every protected
    /// element that is called like what is done to it, for such a button does the same.
    pub fn judged_window(&self, chosen: &ResolvedWindow, deed: &str) -> Result<Vec<Target>> {
        if !self.judged {
            return Ok(Vec::new());
        }
        let view = self.observer().view_in_look(chosen, self.cancel)?;
        let root = ElementTarget::new(chosen.clone(), view, 0, None);
        let title = Target::WindowTitle(chosen.unredacted_title().to_owned());
        let nodes = 1..root.view.tree().len();
        let same = nodes.filter(|&node| root.view.unredacted(node).name.trim().eq_ignore_ascii_case(deed));
        let others: Vec<Target> = same.map(|node| root.beside(node).into()).chain([title]).collect();
        let others = others.into_iter().filter(|other| self.covers(other));
        Ok(std::iter::once(root.into()).chain(others).collect())
    }

    /// What is no element, by each of its names that a rule is about.
    pub fn judged_by_names<'a>(
        &self,
        kind: fn(String) -> Target,
        names: impl Iterator<Item = &'a str>,
    ) -> Vec<Target> {
        let names = names.filter(|_| self.judged).map(|name| kind(name.to_owned()));
        names.filter(|other| self.covers(other)).collect()
    }

    /// The element that keys would go to.
    pub fn judged_focus(&self) -> Result<Vec<Target>> {
        if !self.judged {
            return Ok(Vec::new());
        }
        self.focused_target(None).map(|target| vec![target.into()])
    }

    /// What a key combination would reach: the focus, unless the key only leads away from it, every protected element
    /// whose shortcut it is, and every protected button where enter presses the default one.
    pub fn judged_keys(&self, window: Option<&ResolvedWindow>, keys: &KeyCombo) -> Result<Vec<Target>> {
        let reached = self.judged_focus_and(window, keys)?;
        let closed = self.judged_if_closed(window, keys)?;
        // An element that was not read may have any shortcut.
        let unread = |target: ElementTarget| {
            let unread = target.view.leaves_out();
            target.unread_if(unread).into()
        };
        Ok(reached.into_iter().map(unread).chain(closed).collect())
    }

    /// A key that closes the window touches what closing it by its button would.
    fn judged_if_closed(&self, window: Option<&ResolvedWindow>, keys: &KeyCombo) -> Result<Vec<Target>> {
        let Some(deed) = closing_deed(keys).filter(|_| self.judged) else {
            return Ok(Vec::new());
        };
        let mut closed = self.judged_window(&self.window_for_keys(window)?, deed)?;
        closed.retain(|target| self.covers(target));
        Ok(closed)
    }

    /// The protected options that a press chooses beside the one that it meets, because it begins or ends a range.
    pub fn judged_range(&self, target: Option<&Target>) -> Vec<Target> {
        let Some(met) = target.and_then(Target::element).filter(|_| self.judged) else {
            return Vec::new();
        };
        let between = options_in_range(&met.view, met.node);
        self.protected_among(met, between, &[]).into_iter().map(Target::from).collect()
    }

    /// What typing would reach: the focus, and what the characters press where nothing takes them as text.
    /// The focus is found out also where nobody judges it: whoever typed wants to know where the text went.
    pub fn judged_text(&self, window: Option<&ResolvedWindow>, text: &str) -> Result<Vec<Target>> {
        if !self.judged {
            let target = self.typed_target(window, text);
            return Ok(target.map(Target::from).ok().into_iter().collect());
        }
        let focus = self.focused_target(window)?;
        let others = match is_behind(window) {
            true => self.protected_beside(&focus, 0..focus.view.tree().len(), |_| true),
            false => self.reached_by_typing(&focus, text),
        };
        Ok(std::iter::once(focus).chain(others).map(Target::from).collect())
    }

    fn reached_by_typing(&self, into: &ElementTarget, text: &str) -> Vec<ElementTarget> {
        let pressed = pressed_by(text, takes_text(into.view.unredacted(into.node)));
        // What is typed before the line break may switch the button on.
        let presses_default = text.contains(['\n', '\r']) && passes_enter_on(&into.view, into.node);
        let reached = |found: &Element| {
            moves_focus(text)
                || is_pressed(found, &pressed)
                || spells_elsewhere(text, found)
                || (presses_default && may_be_default(found))
        };
        let others = self.protected_beside(into, 0..into.view.tree().len(), reached);
        let mut chosen = chosen_by_text(&into.view, into.node, text, self.has_unseen_menu(into));
        if presses_default {
            chosen.extend(taken_by_enter(&into.view, into.node));
        }
        let chosen = self.protected_among(into, chosen, &others);
        others.into_iter().chain(chosen).collect()
    }

    /// What keys would reach that go to an element: they may be a shortcut of its window, which then has the focus.
    pub fn judged_keys_into(&self, element: &ElementTarget, keys: &KeyCombo) -> Result<Vec<Target>> {
        let presses_default = presses_default(&element.view, element.node, keys);
        let pressed = |found: &Element| is_pressed_by(found, keys, presses_default);
        let mut others = self.protected_beside(element, 0..element.view.tree().len(), pressed);
        let unseen = self.has_unseen_menu(element);
        let chosen = chosen_by_keys(element, keys, unseen);
        others.extend(self.protected_among(element, chosen, &others));
        Ok(others.into_iter().map(Target::from).chain(self.judged_keys(None, keys)?).collect())
    }

    /// What a text would reach that goes into an element: what it wanders to, and the option that is called so,
    /// because a combo box takes the name of an option for a choice.
    pub fn judged_text_into(&self, element: &ElementTarget, text: &str) -> Vec<Target> {
        let reached = self.reached_by_typing(element, text).into_iter().map(Target::from);
        reached.chain(self.judged_option(element, Some(text))).collect()
    }

    /// What choosing an option of an element would reach. Some options are only there once a list is open, so that
    /// a name is judged by itself too. Which one is meant by a number the application decides: each may be.
    pub fn judged_option(&self, element: &ElementTarget, name: Option<&str>) -> Vec<Target> {
        let is_named = |found: &Element, name: &str| names_option(name.trim(), found.name.trim());
        let below = element.node + 1..element.view.tree().end(element.node);
        let others =
            self.protected_beside(element, below, |found| name.is_none_or(|name| is_named(found, name)));
        let unseen = name.filter(|_| self.judged && others.is_empty());
        let unseen = unseen.map(|name| Target::ListOption(name.to_owned()));
        let unseen = unseen.filter(|option| self.covers(option));
        others.into_iter().map(Target::from).chain(unseen).collect()
    }

    fn judged_focus_and(
        &self,
        window: Option<&ResolvedWindow>,
        keys: &KeyCombo,
    ) -> Result<Vec<ElementTarget>> {
        if !self.judged {
            return Ok(Vec::new());
        }
        let focus = self.focused_target(window)?;
        let nodes = 0..focus.view.tree().len();
        let presses_default = presses_default(&focus.view, focus.node, keys);
        let reached = |found: &Element| is_behind(window) || is_pressed_by(found, keys, presses_default);
        let others = self.protected_beside(&focus, nodes, reached);
        let chosen = chosen_by_keys(&focus, keys, self.has_unseen_menu(&focus));
        let chosen = self.protected_among(&focus, chosen, &others);
        // In a window behind others, or one that was not read, nobody knows where the key goes.
        let is_known = !is_behind(window) && !focus.view.leaves_out();
        let backs_out = is_known && backs_out(&focus.view, focus.node, keys);
        let is_left = backs_out && self.covers(&Target::from(focus.clone()));
        let focus = Some(focus).filter(|_| !is_left);
        Ok(focus.into_iter().chain(others).chain(chosen).collect())
    }

    fn has_unseen_menu(&self, element: &ElementTarget) -> bool {
        self.judged && self.observer().has_unseen_menu(&element.chosen, &element.view)
    }

    /// The protected ones among nodes of an element's window that are not known already.
    fn protected_among(
        &self,
        element: &ElementTarget,
        nodes: Vec<usize>,
        known: &[ElementTarget],
    ) -> Vec<ElementTarget> {
        let is_new = |node: &usize| *node != element.node && !known.iter().any(|known| known.node == *node);
        let new: BTreeSet<usize> = nodes.into_iter().filter(|node| self.judged && is_new(node)).collect();
        let found = new.into_iter().map(|node| Target::from(element.beside(node)));
        found.filter(|other| self.covers(other)).filter_map(Target::into_element).collect()
    }

    /// The protected ones among the nodes of an element's window that are reached.
    fn protected_beside(
        &self,
        element: &ElementTarget,
        nodes: Range<usize>,
        reached: impl Fn(&Element) -> bool,
    ) -> Vec<ElementTarget> {
        if !self.judged {
            return Vec::new();
        }
        nodes
            .filter(|&node| node != element.node && reached(element.view.unredacted(node)))
            .map(|node| Target::from(element.beside(node)))
            .filter(|other| self.covers(other))
            .filter_map(Target::into_element)
            .collect()
    }

    /// What has the focus in a window, or in the one in front. Where nothing is said to have it, something that was not
    /// read may.
    fn focused_target(&self, window: Option<&ResolvedWindow>) -> Result<ElementTarget> {
        let chosen = self.window_for_keys(window)?;
        let view = self.observer().view_in_look(&chosen, self.cancel)?;
        let focused = view.tree().focused();
        let unread = focused.is_none() && view.leaves_out();
        Ok(ElementTarget::new(chosen, view, focused.unwrap_or(0), None).unread_if(unread))
    }

    /// The same where nobody judges: who gets a text is asked for what it holds, and all the others need not be, unless
    /// the text may lead into one of them.
    fn typed_target(&self, window: Option<&ResolvedWindow>, text: &str) -> Result<ElementTarget> {
        let chosen = self.window_for_keys(window)?;
        let view = match text.contains(['\t', '\n', '\r']) {
            true => self.observer().view_in_look(&chosen, self.cancel)?,
            false => self.observer().focus_view(&chosen, self.cancel)?,
        };
        let focused = view.tree().focused().unwrap_or(0);
        Ok(ElementTarget::new(chosen, view, focused, None))
    }

    fn window_for_keys(&self, window: Option<&ResolvedWindow>) -> Result<ResolvedWindow> {
        match window {
            Some(window) => Ok(window.clone()),
            None => self.observer().choose_in(&self.desktop()?, &Default::default()),
        }
    }
}

/// In a window that is not in front nobody knows what will have the focus, so everything protected counts.
/// A caller may say the group of an option before its name.
fn names_option(said: &str, name: &str) -> bool {
    let ends_so = |said: &str| {
        let before = said.len().checked_sub(name.len()).and_then(|at| said.split_at_checked(at));
        before.is_some_and(|(group, rest)| group.ends_with(" / ") && rest.eq_ignore_ascii_case(name))
    };
    said.eq_ignore_ascii_case(name) || (!name.is_empty() && ends_so(said))
}

fn is_behind(window: Option<&ResolvedWindow>) -> bool {
    window.is_some_and(|window| !window.window.focused)
}

/// A tab in a text moves the focus on, and a blank or a line break then presses whatever is there: nobody knows
/// what, so everything protected counts.
fn moves_focus(text: &str) -> bool {
    text.split_once('\t').is_some_and(|(_, rest)| rest.contains([' ', '\n', '\r']))
}

/// What the characters of a text choose, with the focus there.
fn chosen_by_text(view: &View, focus: usize, text: &str, has_unseen_menu: bool) -> Vec<usize> {
    let takes = text.contains([' ', '\n', '\r']);
    let key = if takes { ChoosingKey::Takes } else { ChoosingKey::Spells };
    // A blank in a field is a letter like any other.
    let key = if takes_text(view.unredacted(focus)) { ChoosingKey::Spells } else { key };
    chosen_by_key(view, focus, key, has_unseen_menu)
}

/// Whether characters that go to the element stay there. A list or a page hands them on to whoever listens, and where
/// nobody is said to have the focus, so does the window.
fn takes_text(element: &Element) -> bool {
    element.editable || is_secret(element) || element.role.keeps_typed_text()
}

/// The keys that typing a text presses on the window around the element that it goes to. In a field the characters
/// and what erases them stay inside; after a key that leads away from it nobody knows where the rest goes.
fn pressed_by(text: &str, mut stays_inside: bool) -> Vec<Key> {
    let mut pressed: Vec<Key> = Vec::new();
    for character in text.chars() {
        let (key, leads_away) = match character {
            '\t' => (Key::Named(NamedKey::Tab), true),
            '\n' | '\r' => (Key::Named(NamedKey::Enter), true),
            '\u{1b}' => (Key::Named(NamedKey::Escape), true),
            '\u{8}' => (Key::Named(NamedKey::Backspace), false),
            '\u{7f}' => (Key::Named(NamedKey::Delete), false),
            ' ' => (Key::Named(NamedKey::Space), false),
            other => (Key::Character(other.to_lowercase().next().unwrap_or(other)), false),
        };
        stays_inside &= !leads_away;
        if !stays_inside && !pressed.contains(&key) {
            pressed.push(key);
        }
    }
    pressed
}

/// Whether one of the keys alone is the element's shortcut. Typing holds shift as it needs it.
fn is_pressed(element: &Element, pressed: &[Key]) -> bool {
    let by_shift = |combo: &KeyCombo| combo.modifiers.iter().all(|it| matches!(it, Modifier::Shift));
    let mut combos = element.shortcut.as_deref().into_iter().flat_map(parse_shortcuts);
    let is_called = pressed.iter().any(|key| is_called_like(element, key));
    is_called || combos.any(|combo| by_shift(&combo) && pressed.contains(&combo.key))
}

/// Whether it is a button of one sign, as calculators have them, which the key of that sign presses as well.
fn is_called_like(element: &Element, key: &Key) -> bool {
    let Key::Character(sign) = key else {
        return false;
    };
    let mut name = element.name.trim().chars().flat_map(char::to_lowercase);
    element.role == Role::Button && name.next() == Some(*sign) && name.next().is_none()
}

/// What keys choose with the focus there: among its options, among those that enter takes, and among the tabs.
fn chosen_by_keys(focus: &ElementTarget, keys: &KeyCombo, has_unseen_menu: bool) -> Vec<usize> {
    let mut chosen = chosen_by_key(&focus.view, focus.node, ChoosingKey::of(keys), has_unseen_menu);
    if keys.key == Key::Named(NamedKey::Enter) {
        chosen.extend(taken_by_enter(&focus.view, focus.node));
    }
    chosen.extend(tabs_turned_to(&focus.view, keys));
    chosen
}

/// What a key does to a window as a whole, as the button that does the same is called. Not every application listens to
/// each of them; where one does not, a protected button of that name is asked about needlessly.
fn closing_deed(keys: &KeyCombo) -> Option<&'static str> {
    let holds = |wanted: Modifier| keys.modifiers.contains(&wanted);
    match keys.key {
        Key::Named(NamedKey::F4) if holds(Modifier::Alt) || holds(Modifier::Ctrl) => Some("close"),
        Key::Character('w' | 'W') if holds(Modifier::Ctrl) || holds(Modifier::Meta) => Some("close"),
        Key::Character('q' | 'Q') if holds(Modifier::Ctrl) || holds(Modifier::Meta) => Some("quit"),
        _ => None,
    }
}

/// Whether the keys press the window's default button, with the focus there.
fn presses_default(view: &View, focus: usize, keys: &KeyCombo) -> bool {
    keys.key == Key::Named(NamedKey::Enter) && passes_enter_on(view, focus)
}

fn is_pressed_by(element: &Element, keys: &KeyCombo, presses_default: bool) -> bool {
    let is_default = presses_default && element.enabled && may_be_default(element);
    let by_shift = keys.modifiers.iter().all(|held| matches!(held, Modifier::Shift));
    (by_shift && is_called_like(element, &keys.key))
        || is_default
        || element.shortcut.as_deref().is_some_and(|shortcut| is_shortcut(shortcut, keys))
}

fn is_shortcut(written: &str, keys: &KeyCombo) -> bool {
    let mut combos = parse_shortcuts(written).into_iter();
    combos.any(|combo| combo.key == keys.key && same_modifiers(&combo.modifiers, &keys.modifiers))
        && !matches!(keys.key, Key::Modifier(_))
}

/// Applications write shortcuts in many ways: `Ctrl+D`, `<Control>d`, several separated by `;` or `,`.
fn parse_shortcuts(written: &str) -> Vec<KeyCombo> {
    let plain = written.to_lowercase().replace('<', "").replace('>', "+").replace("primary", "ctrl");
    let single = std::iter::once(plain.as_str()).chain(plain.split([';', ',', '|', ' ']));
    let parts = single.map(str::trim).filter(|part| !part.is_empty());
    parts.filter_map(|part| KeyCombo::parse(part).ok()).collect()
}

fn same_modifiers(one: &[Modifier], other: &[Modifier]) -> bool {
    one.iter().all(|modifier| other.contains(modifier)) && other.iter().all(|modifier| one.contains(modifier))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(written: &str, pressed: &str, expected: bool) {
        let keys = KeyCombo::parse(pressed).unwrap();
        assert_eq!(is_shortcut(written, &keys), expected, "{written} by {pressed}");
    }

    #[test]
    fn shortcuts_are_known_in_every_spelling() {
        check("Ctrl+D", "ctrl+d", true);
        check("<Control><Shift>d", "shift+ctrl+D", true);
        check("<Primary>d", "ctrl+d", true);
        check("Del; Ctrl+D", "delete", true);
        check("Ctrl+K, Ctrl+D", "ctrl+d", true);
        check("Ctrl+D", "d", false);
        check("Ctrl+D", "ctrl+shift+d", false);
        check("", "ctrl+d", false);
    }

    #[test]
    fn typing_presses_what_no_field_takes() {
        let check = |text: &str, into_field: bool, shortcut: &str, expected: bool| {
            let element = Element { shortcut: Some(shortcut.to_owned()), ..Element::default() };
            let reached = is_pressed(&element, &pressed_by(text, into_field));
            assert_eq!(reached, expected, "{text:?} for {shortcut}, into a field: {into_field}");
        };
        for text in ["d", "D", "abcd", " d"] {
            check(text, false, "D", true);
            check(text, true, "D", false);
        }
        check("D", false, "Shift+D", true);
        check("d", false, "Ctrl+D", false);
        check("abc", false, "D", false);
        check(" ", false, "Space", true);
        // What leads away from a field, and what comes after it.
        for away in ["\t", "\n", "\r", "\u{1b}"] {
            check(&format!("d{away}"), true, "D", false);
            check(&format!("{away}d"), true, "D", true);
        }
        check("\u{1b}", true, "Escape", true);
        check("a\n", true, "Return", true);
        check("\u{8}", false, "BackSpace", true);
        check("\u{8}", true, "BackSpace", false);
        check("\u{7f}", false, "Del", true);
    }
}
