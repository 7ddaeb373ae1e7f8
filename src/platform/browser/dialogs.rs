//! The dialogs that pages open: `alert`, `confirm`, `prompt`, and the question before a page is left.

use std::time::Duration;

use serde_json::{Value, json};

use super::Browser;
use super::own_window::{OwnAnswer, OwnField, OwnWindow, own_bounds};
use super::page::INPUT_TIME;
use super::tabs::{DialogKind, PageDialog, TabState};
use crate::clock::{Cancel, Deadline};
use crate::error::Result;
use crate::model::input::Act;
use crate::platform::interaction::done_by;
use crate::platform::{Done, Route, gone};

const TAKES: &str =
    "a dialog of a page takes clicks on its buttons, enter, escape, and a text where it has a field";
const MAY_BE_LOST: &str = "Changes that you made may not be saved.";

/// What the page did since it went on.
const AFTER_ANSWER: Duration = Duration::from_millis(100);

/// How long a page that may be left takes at most to be left.
const AFTER_LEAVING: Duration = Duration::from_millis(500);

/// The window of a tab's dialog, if it has one.
pub fn dialog_of(tab: &TabState) -> Option<OwnWindow> {
    let dialog = tab.dialog.as_ref()?;
    let (kind, accept, dismiss) = match dialog.kind {
        DialogKind::Alert => ("Message", "OK", None),
        DialogKind::Confirm => ("Question", "OK", Some("Cancel")),
        DialogKind::Prompt => ("Prompt", "OK", Some("Cancel")),
        DialogKind::BeforeUnload => ("Leave page?", "Leave", Some("Stay")),
    };
    let message = match (dialog.kind, dialog.message.as_str()) {
        (DialogKind::BeforeUnload, "") => MAY_BE_LOST,
        (_, message) => message,
    };
    let field = OwnField { name: message.to_owned(), text: dialog.text.clone(), enabled: true };
    Some(OwnWindow {
        uid: tab.dialog_uid(),
        number: dialog.number,
        title: format!("{kind} — {}", tab.title),
        message: message.to_owned(),
        field: Some(field).filter(|_| dialog.kind == DialogKind::Prompt),
        accept,
        can_accept: true,
        dismiss,
        bounds: own_bounds(tab),
        takes: TAKES,
    })
}

impl Browser {
    pub(super) fn check_dialog(&self, tab: &TabState, act: &Act) -> Result<()> {
        let window = dialog_of(tab).ok_or_else(|| gone(&tab.dialog_uid()))?;
        window.answer(act).map(|_| ())
    }

    pub(super) fn act_on_dialog(&self, tab: &TabState, act: &Act, cancel: &Cancel) -> Result<Done> {
        let (Some(dialog), Some(window)) = (&tab.dialog, dialog_of(tab)) else {
            return Err(gone(&tab.dialog_uid()));
        };
        let mut note = None;
        match window.answer(act)? {
            OwnAnswer::Write(text) => self.tabs.change(&tab.target, |tab| {
                if let Some(dialog) = &mut tab.dialog {
                    dialog.text = text;
                }
            }),
            OwnAnswer::Accept => {
                self.answer_dialog(tab, dialog, true, cancel)?;
                note = self.follow_answer(tab, dialog.kind == DialogKind::BeforeUnload, cancel)?;
            }
            OwnAnswer::Dismiss => {
                self.answer_dialog(tab, dialog, false, cancel)?;
                note = self.follow_answer(tab, false, cancel)?;
            }
            OwnAnswer::Nothing => {}
        }
        Ok(Done { verified: true, note, settles_in: AFTER_ANSWER, ..done_by(Route::Accessibility) })
    }

    /// The page goes on, and may lead to another one, which is waited for as after any other input.
    fn follow_answer(&self, tab: &TabState, leaves: bool, cancel: &Cancel) -> Result<Option<String>> {
        if leaves {
            self.await_tab_state(&tab.target, AFTER_LEAVING, cancel, |now| {
                now.is_none_or(|now| now.loading || now.loads > tab.loads || now.dialog.is_some())
            })?;
        }
        let Some(now) = self.tabs.find(&tab.target).filter(|now| now.check_answers().is_ok()) else {
            return Ok(None);
        };
        self.follow_page(&now, cancel)
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
            // The next one may say the same.
            let open = now.and_then(|now| now.dialog.as_ref());
            open.is_none_or(|open| open.number != dialog.number)
        })?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_dialog_has_its_parts() {
        let parts = |kind, message: &str| {
            let dialog = PageDialog {
                number: 1,
                kind,
                message: message.to_owned(),
                text: "ab".to_owned(),
                session: "s".to_owned(),
            };
            let tab = TabState { dialog: Some(dialog), ..TabState::of_test() };
            let tree = dialog_of(&tab).unwrap().tree();
            let names: Vec<String> =
                tree.elements()[1..].iter().map(|part| format!("{} {}", part.role, part.name)).collect();
            names.join(", ")
        };
        assert_eq!(parts(DialogKind::Alert, "Sure?"), "Text Sure?, Button OK");
        assert_eq!(parts(DialogKind::Confirm, "Sure?"), "Text Sure?, Button OK, Button Cancel");
        assert_eq!(parts(DialogKind::Prompt, "Sure?"), "Text Sure?, Edit Sure?, Button OK, Button Cancel");
        let leave = format!("Text {MAY_BE_LOST}, Button Leave, Button Stay");
        assert_eq!(parts(DialogKind::BeforeUnload, ""), leave);
        assert_eq!(dialog_of(&TabState::of_test()).map(|window| window.uid), None);
    }
}
