//! A window of our own for what a page asks: a text, maybe a field, one or two buttons. Dialogs and file choosers are
//! such windows; what an input means to one is the same for both.

use super::tabs::TabState;
use crate::error::{Error, Kind, Result};
use crate::model::input::{Act, Key};
use crate::model::{Element, NamedKey, Point, Rect, Role, Tree, TreeBuilder, Window};
use crate::platform::normalize::shortened;

const MESSAGE: &str = "message";
const FIELD: &str = "field";
const ACCEPT: &str = "accept";
const DISMISS: &str = "dismiss";

const WIDTH: i32 = 440;
const HEIGHT: i32 = 180;
const MARGIN: i32 = 20;
const LINE: i32 = 28;
const BUTTON: i32 = 100;

/// In the upper middle of its page, where browsers show them.
pub fn own_bounds(tab: &TabState) -> Rect {
    let (width, height) = (i32::from(tab.size.width).min(WIDTH), i32::from(tab.size.height).min(HEIGHT));
    Rect::new((i32::from(tab.size.width) - width) / 2, 0, width, height)
}

#[derive(Clone, Debug)]
pub struct OwnWindow {
    pub uid: String,
    /// Which question of its tab it is: an equal button of the next question is another element.
    pub number: u64,
    pub title: String,
    pub message: String,
    pub field: Option<OwnField>,
    pub accept: &'static str,
    pub can_accept: bool,
    pub dismiss: Option<&'static str>,
    pub bounds: Rect,
    /// What it takes, for who tries something else.
    pub takes: &'static str,
}

#[derive(Clone, Debug)]
pub struct OwnField {
    pub name: String,
    pub text: String,
    pub enabled: bool,
}

/// What an input does to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OwnAnswer {
    Accept,
    Dismiss,
    /// The field holds this from now on.
    Write(String),
    /// It changes nothing.
    Nothing,
}

impl OwnWindow {
    pub fn listed(&self, tab: &TabState, process: &str, pid: u32, focused: bool) -> Window {
        Window {
            uid: self.uid.clone(),
            handle: self.uid.clone(),
            title: self.title.clone(),
            process: process.to_owned(),
            pid,
            bounds: self.bounds,
            focused,
            minimized: false,
            url: Some(tab.url.clone()),
        }
    }

    pub fn tree(&self) -> Tree {
        let (bounds, has_field) = (self.bounds, self.field.is_some());
        let width = bounds.width - 2 * MARGIN;
        let row =
            |line: i32| Rect::new(bounds.x + MARGIN, bounds.y + MARGIN + line * (LINE + 8), width, LINE);
        let button = |at: i32| Rect { x: row(2).x + at * (BUTTON + 10), width: BUTTON, ..row(2) };
        let part = |role: Role, name: &str, part: &str, bounds: Rect| Element {
            native: Some(self.handle_of(part)),
            ..Element::new(role, shortened(name, None), bounds)
        };
        let root = Element::new(Role::Dialog, shortened(&self.title, None), bounds);
        let question = Some(self.number.to_string());
        let mut tree = TreeBuilder::new(Element { native: question, is_document: true, ..root });
        tree.add_leaf(part(Role::Text, &self.message, MESSAGE, row(0)));
        if let Some(field) = &self.field {
            tree.add_leaf(Element {
                value: Some(shortened(&field.text, None)),
                editable: true,
                focused: true,
                enabled: field.enabled,
                ..part(Role::Edit, &field.name, FIELD, row(1))
            });
        }
        let accept = part(Role::Button, self.accept, ACCEPT, button(0));
        tree.add_leaf(Element { focused: !has_field, enabled: self.can_accept, ..accept });
        if let Some(dismiss) = self.dismiss {
            tree.add_leaf(part(Role::Button, dismiss, DISMISS, button(1)));
        }
        tree.finish()
    }

    fn handle_of(&self, part: &str) -> String {
        format!("{}:{part}", self.number)
    }

    /// What an act means to it, or why it means nothing.
    pub fn answer(&self, act: &Act) -> Result<OwnAnswer> {
        let text = self.field.as_ref().map(|field| field.text.as_str());
        match (act, text) {
            (Act::Click { element: Some(element), .. } | Act::Invoke { element }, _) => {
                self.press(&element.native)
            }
            (Act::Click { element: None, at: Some(at), .. }, _) => {
                self.handle_at(*at).map_or(Ok(OwnAnswer::Nothing), |handle| self.press(&handle))
            }
            (Act::SetValue { element, text }, Some(_)) if element.native == self.handle_of(FIELD) => {
                Ok(OwnAnswer::Write(text.clone()))
            }
            (Act::Type { text: more, .. }, Some(text)) => Ok(OwnAnswer::Write(format!("{text}{more}"))),
            (Act::Key { keys, .. }, text) if keys.modifiers.is_empty() => match (&keys.key, text) {
                (Key::Named(NamedKey::Enter), _) => Ok(OwnAnswer::Accept),
                (Key::Named(NamedKey::Escape), _) => Ok(OwnAnswer::Dismiss),
                (Key::Named(NamedKey::Backspace), Some(text)) => {
                    let mut shorter = text.to_owned();
                    shorter.pop();
                    Ok(OwnAnswer::Write(shorter))
                }
                (Key::Character(character), Some(text)) => Ok(OwnAnswer::Write(format!("{text}{character}"))),
                _ => Err(self.refusal()),
            },
            (Act::Focus { .. } | Act::Hover { .. }, _) => Ok(OwnAnswer::Nothing),
            _ => Err(self.refusal()),
        }
    }

    fn refusal(&self) -> Error {
        Error::new(Kind::PatternUnsupported, self.takes)
    }

    fn press(&self, handle: &str) -> Result<OwnAnswer> {
        let gone = |what: &str| Error::new(Kind::ElementNotFound, format!("{what}; look again"));
        match handle.split_once(':') {
            Some((number, part)) if number == self.number.to_string() => match part {
                ACCEPT => Ok(OwnAnswer::Accept),
                DISMISS if self.dismiss.is_some() => Ok(OwnAnswer::Dismiss),
                MESSAGE | FIELD => Ok(OwnAnswer::Nothing),
                _ => Err(gone("the window has no such element")),
            },
            _ => Err(gone("the question that had the element was answered, and this is another one")),
        }
    }

    fn handle_at(&self, at: Point) -> Option<String> {
        let tree = self.tree();
        let parts = tree.elements().iter().skip(1);
        parts.rev().find(|element| element.bounds.contains(at)).and_then(|part| part.native.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::KeyCombo;
    use crate::model::input::{Button, Handle};

    fn question(has_field: bool, dismiss: Option<&'static str>) -> OwnWindow {
        let field = OwnField { name: "Name".to_owned(), text: "ab".to_owned(), enabled: true };
        OwnWindow {
            uid: "tab:T/dialog".to_owned(),
            number: 7,
            title: "Question — Shop".to_owned(),
            message: "Sure?".to_owned(),
            field: has_field.then_some(field),
            accept: "OK",
            can_accept: true,
            dismiss,
            bounds: Rect::new(0, 0, WIDTH, HEIGHT),
            takes: "clicks",
        }
    }

    fn handle(native: &str) -> Handle {
        Handle { window_uid: "tab:T/dialog".to_owned(), native: native.to_owned() }
    }

    #[track_caller]
    fn check(window: &OwnWindow, act: &Act, expected: Option<OwnAnswer>) {
        assert_eq!(window.answer(act).ok(), expected, "{act:?}");
    }

    fn keys(keys: &str) -> Act {
        Act::Key { element: None, window_uid: None, keys: KeyCombo::parse(keys).unwrap() }
    }

    #[test]
    fn inputs_mean_what_they_would_to_a_person() {
        let click = |native: &str| Act::Invoke { element: handle(native) };
        let (alert, confirm, prompt) =
            (question(false, None), question(false, Some("Cancel")), question(true, Some("Cancel")));
        check(&confirm, &click("7:accept"), Some(OwnAnswer::Accept));
        check(&confirm, &click("7:dismiss"), Some(OwnAnswer::Dismiss));
        check(&confirm, &click("7:other"), None);
        check(&alert, &click("7:dismiss"), None);
        check(&alert, &keys("enter"), Some(OwnAnswer::Accept));
        check(&confirm, &keys("esc"), Some(OwnAnswer::Dismiss));
        check(&confirm, &keys("ctrl+w"), None);
        check(&confirm, &keys("c"), None);
        check(&prompt, &keys("c"), Some(OwnAnswer::Write("abc".to_owned())));
        check(&prompt, &keys("backspace"), Some(OwnAnswer::Write("a".to_owned())));
        let write = Act::SetValue { element: handle("7:field"), text: "x".to_owned() };
        check(&prompt, &write, Some(OwnAnswer::Write("x".to_owned())));
        check(&confirm, &write, None);
    }

    /// H-306 on code: a button of a question that was answered presses nothing of the next one.
    #[test]
    fn a_button_of_another_question_is_not_pressed() {
        let window = question(false, Some("Cancel"));
        let error = window.answer(&Act::Invoke { element: handle("6:accept") }).unwrap_err();
        assert!(error.kind == Kind::ElementNotFound && error.message.contains("another one"), "{error}");
    }

    #[test]
    fn a_point_meets_the_part_that_is_there() {
        let window = question(false, Some("Cancel"));
        for (name, expected) in [("OK", OwnAnswer::Accept), ("Cancel", OwnAnswer::Dismiss)] {
            let tree = window.tree();
            let at = tree.elements().iter().find(|part| part.name == name).unwrap().bounds.center();
            let (button, count, modifiers) = (Button::Left, 1, Vec::new());
            let act = Act::Click { element: None, at: Some(at), button, count, modifiers };
            check(&window, &act, Some(expected));
        }
        let (button, count, modifiers) = (Button::Left, 1, Vec::new());
        let beside = Act::Click { element: None, at: Some(Point { x: 1, y: 1 }), button, count, modifiers };
        check(&window, &beside, Some(OwnAnswer::Nothing));
    }
}
