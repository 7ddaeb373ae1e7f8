//! The dialogs that pages open, as windows: a text, a field for what is asked, and buttons.

use std::time::Duration;

use serde_json::{Value, json};

use super::Browser;
use super::page::INPUT_TIME;
use super::tabs::{DialogKind, PageDialog, TabState};
use crate::clock::{Cancel, Deadline};
use crate::error::{Error, Kind, Result};
use crate::model::input::{Act, Key};
use crate::model::{Element, NamedKey, Point, Rect, Role, Tree, TreeBuilder, Window};
use crate::platform::interaction::done_by;
use crate::platform::normalize::shortened;
use crate::platform::{Done, Route, gone};

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
pub fn dialog_bounds(tab: &TabState) -> Rect {
    let (width, height) = (i32::from(tab.size.width).min(WIDTH), i32::from(tab.size.height).min(HEIGHT));
    Rect::new((i32::from(tab.size.width) - width) / 2, 0, width, height)
}

/// The window of a tab's dialog, if it has one.
pub fn dialog_window(tab: &TabState, process: &str, pid: u32, focused: bool) -> Option<Window> {
    let dialog = tab.dialog.as_ref()?;
    Some(Window {
        uid: tab.dialog_uid(),
        handle: tab.dialog_uid(),
        title: dialog_title(dialog, tab),
        process: process.to_owned(),
        pid,
        bounds: dialog_bounds(tab),
        focused,
        minimized: false,
    })
}

fn dialog_title(dialog: &PageDialog, tab: &TabState) -> String {
    let kind = match dialog.kind {
        DialogKind::Alert => "Message",
        DialogKind::Confirm => "Question",
        DialogKind::Prompt => "Prompt",
        DialogKind::BeforeUnload => "Leave page?",
    };
    format!("{kind} — {}", tab.title)
}

/// What the buttons of a dialog say.
fn button_names(kind: DialogKind) -> (&'static str, Option<&'static str>) {
    match kind {
        DialogKind::Alert => ("OK", None),
        DialogKind::Confirm | DialogKind::Prompt => ("OK", Some("Cancel")),
        DialogKind::BeforeUnload => ("Leave", Some("Stay")),
    }
}

pub fn dialog_tree(tab: &TabState) -> Option<Tree> {
    let dialog = tab.dialog.as_ref()?;
    let bounds = dialog_bounds(tab);
    let width = bounds.width - 2 * MARGIN;
    let row = |line: i32| Rect::new(bounds.x + MARGIN, bounds.y + MARGIN + line * (LINE + 8), width, LINE);
    let part = |role: Role, name: &str, native: &str, bounds: Rect| Element {
        native: Some(native.to_owned()),
        ..Element::new(role, shortened(name, None), bounds)
    };
    let mut tree = TreeBuilder::new(Element::new(Role::Dialog, dialog_title(dialog, tab), bounds));
    let is_prompt = dialog.kind == DialogKind::Prompt;
    let (accept, dismiss) = button_names(dialog.kind);
    let message = match (dialog.kind, dialog.message.as_str()) {
        (DialogKind::BeforeUnload, "") => "Changes that you made may not be saved.",
        (_, message) => message,
    };
    tree.add_leaf(part(Role::Text, message, MESSAGE, row(0)));
    if is_prompt {
        tree.add_leaf(Element {
            value: Some(shortened(&dialog.text, None)),
            editable: true,
            focused: true,
            ..part(Role::Edit, message, FIELD, row(1))
        });
    }
    let button = |at: i32| Rect { x: row(2).x + at * (BUTTON + 10), width: BUTTON, ..row(2) };
    tree.add_leaf(Element { focused: !is_prompt, ..part(Role::Button, accept, ACCEPT, button(0)) });
    if let Some(dismiss) = dismiss {
        tree.add_leaf(part(Role::Button, dismiss, DISMISS, button(1)));
    }
    Some(tree.finish())
}

/// What an input does to a dialog.
#[derive(Clone, Debug, PartialEq, Eq)]
enum DialogAnswer {
    Accept,
    Dismiss,
    /// The field holds this from now on.
    Write(String),
    /// It changes nothing.
    Nothing,
}

/// What an act on the window of a dialog means, or why it means nothing.
fn answer_of(act: &Act, tab: &TabState, dialog: &PageDialog) -> Result<DialogAnswer> {
    let text = &dialog.text;
    let has_field = dialog.kind == DialogKind::Prompt;
    match act {
        Act::Click { element: Some(element), .. } | Act::Invoke { element } => {
            press_of(&element.native, dialog)
        }
        Act::Click { element: None, at: Some(at), .. } => match part_at(tab, *at) {
            Some(native) => press_of(&native, dialog),
            None => Ok(DialogAnswer::Nothing),
        },
        Act::SetValue { element, text } if has_field && element.native == FIELD => {
            Ok(DialogAnswer::Write(text.clone()))
        }
        Act::Type { text: more, .. } if has_field => Ok(DialogAnswer::Write(format!("{text}{more}"))),
        Act::Key { keys, .. } => match (&keys.key, keys.modifiers.is_empty()) {
            (Key::Named(NamedKey::Enter), true) => Ok(DialogAnswer::Accept),
            (Key::Named(NamedKey::Escape), true) => Ok(DialogAnswer::Dismiss),
            (Key::Named(NamedKey::Backspace), true) if has_field => {
                let mut shorter = text.clone();
                shorter.pop();
                Ok(DialogAnswer::Write(shorter))
            }
            (Key::Character(character), true) if has_field => {
                Ok(DialogAnswer::Write(format!("{text}{character}")))
            }
            _ => Err(refused_by_dialog()),
        },
        Act::Focus { .. } | Act::Hover { .. } => Ok(DialogAnswer::Nothing),
        _ => Err(refused_by_dialog()),
    }
}

fn refused_by_dialog() -> Error {
    Error::new(
        Kind::PatternUnsupported,
        "a dialog of a page takes clicks on its buttons, enter, escape, and a text where it has a field",
    )
}

fn press_of(native: &str, dialog: &PageDialog) -> Result<DialogAnswer> {
    match native {
        ACCEPT => Ok(DialogAnswer::Accept),
        DISMISS if button_names(dialog.kind).1.is_some() => Ok(DialogAnswer::Dismiss),
        MESSAGE | FIELD => Ok(DialogAnswer::Nothing),
        _ => Err(Error::new(Kind::ElementNotFound, "the dialog has no such element; look again")),
    }
}

fn part_at(tab: &TabState, at: Point) -> Option<String> {
    let tree = dialog_tree(tab)?;
    let met = tree.elements().iter().rev().find(|element| element.bounds.contains(at))?;
    met.native.clone()
}

impl Browser {
    pub(super) fn check_dialog(&self, tab: &TabState, act: &Act) -> Result<()> {
        let dialog = tab.dialog.as_ref().ok_or_else(|| gone(&tab.dialog_uid()))?;
        answer_of(act, tab, dialog).map(|_| ())
    }

    pub(super) fn act_on_dialog(&self, tab: &TabState, act: &Act, cancel: &Cancel) -> Result<Done> {
        let dialog = tab.dialog.as_ref().ok_or_else(|| gone(&tab.dialog_uid()))?;
        match answer_of(act, tab, dialog)? {
            DialogAnswer::Write(text) => self.tabs.change(&tab.target, |tab| {
                if let Some(dialog) = &mut tab.dialog {
                    dialog.text = text;
                }
            }),
            DialogAnswer::Accept => self.answer_dialog(tab, dialog, true, cancel)?,
            DialogAnswer::Dismiss => self.answer_dialog(tab, dialog, false, cancel)?,
            DialogAnswer::Nothing => {}
        }
        Ok(Done { verified: true, settles_in: AFTER_ANSWER, ..done_by(Route::Accessibility) })
    }

    pub(super) fn answer_dialog(
        &self,
        tab: &TabState,
        dialog: &PageDialog,
        accept: bool,
        cancel: &Cancel,
    ) -> Result<()> {
        let mut params = json!({ "accept": accept });
        if dialog.kind == DialogKind::Prompt {
            params["promptText"] = json!(dialog.text);
        }
        let (deadline, session) = (Deadline::after(INPUT_TIME), Some(dialog.session.as_str()));
        let order = self.connection.send(session, "Page.handleJavaScriptDialog", params)?;
        self.connection.wait::<Value>(&order, deadline, cancel)?;
        self.await_tab_state(&tab.target, INPUT_TIME, cancel, |now| {
            now.is_none_or(|now| now.dialog.as_ref() != Some(dialog))
        })?;
        Ok(())
    }
}

/// What the page does once it goes on.
const AFTER_ANSWER: Duration = Duration::from_millis(100);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Size;
    use crate::model::KeyCombo;
    use crate::model::input::{Button, Handle};

    fn tab(kind: DialogKind) -> TabState {
        let dialog =
            PageDialog { kind, message: "Sure?".to_owned(), text: "ab".to_owned(), session: "s".to_owned() };
        TabState {
            target: "T".to_owned(),
            session: "s".to_owned(),
            title: "Shop".to_owned(),
            url: String::new(),
            size: Size { width: 1280, height: 800 },
            prepared: true,
            dialog: Some(dialog),
            loading: false,
            crashed: false,
            drag_data: None,
            pointer: Point::default(),
        }
    }

    fn handle(native: &str) -> Handle {
        Handle { window_uid: "tab:T/dialog".to_owned(), native: native.to_owned() }
    }

    #[track_caller]
    fn check(kind: DialogKind, act: &Act, expected: Option<DialogAnswer>) {
        let tab = tab(kind);
        let answer = answer_of(act, &tab, tab.dialog.as_ref().unwrap());
        assert_eq!(answer.ok(), expected, "{act:?}");
    }

    fn keys(keys: &str) -> Act {
        Act::Key { element: None, window_uid: None, keys: KeyCombo::parse(keys).unwrap() }
    }

    #[test]
    fn each_kind_of_dialog_has_its_parts() {
        let parts = |kind| {
            let tree = dialog_tree(&tab(kind)).unwrap();
            let names: Vec<String> =
                tree.elements()[1..].iter().map(|part| format!("{} {}", part.role, part.name)).collect();
            names.join(", ")
        };
        assert_eq!(parts(DialogKind::Alert), "Text Sure?, Button OK");
        assert_eq!(parts(DialogKind::Confirm), "Text Sure?, Button OK, Button Cancel");
        assert_eq!(parts(DialogKind::Prompt), "Text Sure?, Edit Sure?, Button OK, Button Cancel");
        assert_eq!(parts(DialogKind::BeforeUnload), "Text Sure?, Button Leave, Button Stay");
    }

    #[test]
    fn inputs_mean_what_they_would_to_a_person() {
        let click = |native: &str| Act::Invoke { element: handle(native) };
        check(DialogKind::Confirm, &click(ACCEPT), Some(DialogAnswer::Accept));
        check(DialogKind::Confirm, &click(DISMISS), Some(DialogAnswer::Dismiss));
        check(DialogKind::Alert, &click(DISMISS), None);
        check(DialogKind::Alert, &keys("enter"), Some(DialogAnswer::Accept));
        check(DialogKind::Confirm, &keys("esc"), Some(DialogAnswer::Dismiss));
        check(DialogKind::Confirm, &keys("ctrl+w"), None);
        check(DialogKind::Prompt, &keys("c"), Some(DialogAnswer::Write("abc".to_owned())));
        check(DialogKind::Prompt, &keys("backspace"), Some(DialogAnswer::Write("a".to_owned())));
        let write = Act::SetValue { element: handle(FIELD), text: "x".to_owned() };
        check(DialogKind::Prompt, &write, Some(DialogAnswer::Write("x".to_owned())));
        check(DialogKind::Confirm, &write, None);
    }

    #[test]
    fn a_point_meets_the_part_that_is_there() {
        let tree = dialog_tree(&tab(DialogKind::Confirm)).unwrap();
        for (name, expected) in [("OK", DialogAnswer::Accept), ("Cancel", DialogAnswer::Dismiss)] {
            let at = tree.elements().iter().find(|part| part.name == name).unwrap().bounds.center();
            let (button, count, modifiers) = (Button::Left, 1, Vec::new());
            let act = Act::Click { element: None, at: Some(at), button, count, modifiers };
            check(DialogKind::Confirm, &act, Some(expected));
        }
    }
}
