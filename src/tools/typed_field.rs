//! What came of a text that was typed: the element that got it, and whether it is there.

use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;

use super::pointer::PointerSent;
use crate::error::Result;
use crate::model::input::Handle;
use crate::model::{Role, Tree};
use crate::observer::{Ref, ResolvedWindow, View, WindowChoice};
use crate::platform::FieldText;
use crate::tool::{Cx, Output, Permit, Target};

/// How long it may take until a field tells what was typed into it.
const READ_BACK_TIME: Duration = Duration::from_millis(400);
const MOST_READ_BACK_TIME: Duration = Duration::from_secs(3);
const LOOK_AGAIN: Duration = Duration::from_millis(20);
/// Of a longer text the beginning and the end are told.
const TOLD_OF_A_TEXT: usize = 200;

#[derive(Debug, Serialize, JsonSchema)]
pub struct TypedReceipt {
    #[serde(flatten)]
    sent: PointerSent,
    /// The element that has the focus after the text.
    #[serde(skip_serializing_if = "Option::is_none")]
    into: Option<FieldOut>,
    /// The text was read back there.
    #[serde(skip_serializing_if = "Option::is_none")]
    verified: Option<bool>,
}

impl Output for TypedReceipt {}

/// A field that was typed into.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FieldOut {
    window_uid: String,
    #[serde(rename = "ref")]
    reference: Ref,
    role: String,
    name: String,
    /// What it holds now; absent for what is private or does not tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<String>,
    /// It holds something else than before, or more of it; absent where that is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    changed: Option<bool>,
}

/// An element that has the focus, in the capture that says so.
pub struct FocusedField {
    chosen: ResolvedWindow,
    view: Arc<View>,
    node: usize,
}

impl FocusedField {
    fn of(target: &Target) -> Option<Self> {
        let target = target.element()?;
        let is_focused = target.view.tree()[target.node].focused;
        is_focused.then(|| Self {
            chosen: target.chosen.clone(),
            view: target.view.clone(),
            node: target.node,
        })
    }

    fn look(cx: &Cx) -> Result<Option<Self>> {
        let chosen = cx.observer().choose_in(&cx.observer().desktop()?, &WindowChoice::default())?;
        let view = cx.observer().view_in_look(&chosen, cx.cancel)?;
        let focused = view.tree().focused();
        Ok(focused.map(|node| Self { chosen, view, node }))
    }

    fn is_private(&self) -> bool {
        self.view.is_private(self.node)
    }

    fn ask(&self, cx: &Cx) -> Option<FieldText> {
        let native = self.view.native_handle(self.node)?;
        let handle = Handle { window_uid: self.chosen.window.uid.clone(), native };
        cx.observer().field(&handle, cx.cancel).ok().flatten()
    }

    /// What the capture has of it, for a system that cannot be asked for one element.
    fn captured(&self) -> FieldText {
        let element = self.view.unredacted(self.node);
        let text = element.value.clone().filter(|_| !element.secret);
        FieldText { focused: true, characters: text.as_ref().map(|text| text.chars().count()), text }
    }
}

/// What has the focus before a text, and what it holds.
pub enum FieldBefore {
    Known(Box<FocusedField>, FieldText),
    /// The window was not in front, so that it did not tell.
    Unknown,
    /// Nothing in the window in front says that it has the focus.
    Nothing,
}

impl FieldBefore {
    pub fn look(cx: &Cx, permit: &Permit) -> Self {
        if permit.dry_run() {
            return Self::Nothing;
        }
        let was_behind = |target: &Target| target.element().is_some_and(|it| !it.chosen.window.focused);
        match permit.target().and_then(FocusedField::of) {
            Some(field) => {
                let text = field.ask(cx).unwrap_or_else(|| field.captured());
                Self::Known(Box::new(field), text)
            }
            None if permit.target().is_some_and(was_behind) => Self::Unknown,
            None => Self::Nothing,
        }
    }
}

/// Said of a text that was not read back while a menu lay over its window.
const MENU_IS_OPEN: &str = "a menu is open, and keys go to it: press_key escape closes it";

/// Whether the window that a text goes to shows an open menu, as it was found before the text.
pub fn shows_menu(permit: &Permit) -> bool {
    let view = permit.target().and_then(Target::element).map(|target| &target.view);
    view.is_some_and(|view| has_open_menu(view.tree()))
}

fn has_open_menu(tree: &Tree) -> bool {
    let is_menu = |node: usize| matches!(tree[node].role, Role::Menu | Role::MenuItem);
    let shows = |node: usize| !tree[node].hidden && !tree[node].bounds.is_empty();
    let is_open_item = |node: usize| {
        tree[node].role == Role::MenuItem && shows(node) && tree.parent(node).is_some_and(is_menu)
    };
    (0..tree.len()).any(is_open_item)
}

impl TypedReceipt {
    /// What a caller should know who typed while a menu was open.
    pub fn with_menu(mut self, is_open: bool) -> Self {
        if is_open && self.verified == Some(false) {
            self.sent.note = Some(match self.sent.note.take() {
                Some(note) => format!("{note}; {MENU_IS_OPEN}"),
                None => MENU_IS_OPEN.to_owned(),
            });
        }
        self
    }

    pub fn read_back(cx: &Cx, sent: PointerSent, before: FieldBefore, text: &str) -> Self {
        if sent.dry_run {
            return Self { sent, into: None, verified: None };
        }
        let found = find_field(cx, before, text).and_then(|typed| Some((typed.out(cx)?, typed.verified)));
        let verified = Some(found.as_ref().is_some_and(|(_, verified)| *verified));
        Self { sent, into: found.map(|(out, _)| out), verified }
    }
}

/// A field after a text.
struct FieldAfter {
    field: FocusedField,
    before: Option<FieldText>,
    now: FieldText,
    verified: bool,
}

impl FieldAfter {
    fn out(&self, cx: &Cx) -> Option<FieldOut> {
        let FocusedField { chosen, view, node } = &self.field;
        let element = &view.tree()[*node];
        let value = self.now.text.as_deref().filter(|_| !self.field.is_private());
        Some(FieldOut {
            window_uid: chosen.window.uid.clone(),
            reference: cx.observer().show_ref(chosen, view, *node).ok()?,
            role: element.role.to_string(),
            name: element.name.clone(),
            value: value.map(|text| cut_middle(text, TOLD_OF_A_TEXT)),
            changed: self
                .before
                .as_ref()
                .map(|before| before.text != self.now.text || before.characters != self.now.characters),
        })
    }
}

/// The field that has the focus now. Where that is still the one of before, it alone is asked.
fn find_field(cx: &Cx, before: FieldBefore, text: &str) -> Option<FieldAfter> {
    let patience = if cx.observer().facts().is_mock { Duration::ZERO } else { READ_BACK_TIME };
    if matches!(before, FieldBefore::Nothing) {
        return None;
    }
    if let FieldBefore::Known(field, held) = before {
        let now = await_text(cx, &field, Some(&held), text, patience);
        if let Some(now) = now.filter(|now| now.focused) {
            let verified = has_arrived(Some(&held), &now, text);
            return Some(FieldAfter { field: *field, before: Some(held), now, verified });
        }
    }
    let field = FocusedField::look(cx).ok().flatten()?;
    let now = await_text(cx, &field, None, text, patience).unwrap_or_else(|| field.captured());
    let verified = has_arrived(None, &now, text);
    Some(FieldAfter { field, before: None, now, verified })
}

/// What the field holds, once it has the text or the time is over.
fn await_text(
    cx: &Cx,
    field: &FocusedField,
    before: Option<&FieldText>,
    text: &str,
    at_most: Duration,
) -> Option<FieldText> {
    let began = cx.clock().now();
    let mut deadline = began + at_most;
    let mut last = None;
    loop {
        let now = field.ask(cx)?;
        if !now.focused || has_arrived(before, &now, text) || cx.clock().now() >= deadline {
            return Some(now);
        }
        // A text that is still growing is waited for: LibreOffice takes in a line in a second.
        if last.as_ref() != Some(&now) {
            deadline = (cx.clock().now() + at_most).min(began + MOST_READ_BACK_TIME);
            last = Some(now);
        }
        cx.clock().sleep(LOOK_AGAIN, cx.cancel).ok()?;
    }
}

/// Whether the text is there, and was not before. Of a secret only the count tells.
fn has_arrived(before: Option<&FieldText>, now: &FieldText, text: &str) -> bool {
    // A tab leads into the next field, and enter at the end does something else than a line.
    let text = text.rsplit('\t').next().unwrap_or_default().trim_end_matches(['\n', '\r']);
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    match &now.text {
        Some(held) => {
            let is_new = before.is_none_or(|before| before.text.as_ref() != Some(held));
            held.replace("\r\n", "\n").contains(&text) && (is_new || text.is_empty())
        }
        None => {
            let typed = text.chars().count();
            let had = before.and_then(|before| before.characters);
            now.characters.is_some_and(|has| has == typed || had.is_some_and(|had| has == had + typed))
        }
    }
}

fn cut_middle(text: &str, most: usize) -> String {
    let count = text.chars().count();
    if count <= most {
        return text.to_owned();
    }
    let begin: String = text.chars().take(most / 2).collect();
    let end: String = text.chars().skip(count - most / 2).collect();
    format!("{begin}…{end}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Element, Rect, TreeBuilder};

    fn held(text: &str) -> FieldText {
        FieldText { focused: true, text: Some(text.to_owned()), characters: Some(text.chars().count()) }
    }

    fn counted(characters: usize) -> FieldText {
        FieldText { focused: true, text: None, characters: Some(characters) }
    }

    #[track_caller]
    fn check(before: FieldText, now: FieldText, text: &str, expected: bool) {
        assert_eq!(has_arrived(Some(&before), &now, text), expected, "{before:?} {now:?} {text:?}");
    }

    #[test]
    fn a_text_that_is_there_has_arrived() {
        check(held(""), held("in.txt"), "in.txt", true);
        check(held(""), held("/"), "in.txt", false);
        check(held("abc"), held("aXbc"), "X", true);
        check(held("x"), held("x"), "x", false);
        check(held(""), held("a\r\nb"), "a\nb", true);
        check(held(""), held("name"), "name\n", true);
        check(held(""), held("second"), "first\tsecond", true);
    }

    #[test]
    fn of_a_secret_the_count_tells() {
        check(counted(0), counted(3), "abc", true);
        check(counted(2), counted(5), "abc", true);
        check(counted(9), counted(3), "abc", true);
        check(counted(0), counted(2), "abc", false);
    }

    #[test]
    fn an_open_menu_is_seen_by_its_items() {
        let menu = |hidden: bool| {
            let element =
                |role: &'static str| Element { hidden, ..Element::new(role, "x", Rect::new(1, 1, 9, 9)) };
            let mut tree = TreeBuilder::new(Element::new("Window", "w", Rect::new(0, 0, 99, 99)));
            tree.open(Element::new("MenuBar", "", Rect::new(0, 0, 99, 9)));
            tree.open(Element::new("MenuItem", "File", Rect::new(0, 0, 9, 9)));
            tree.add_leaf(element("MenuItem"));
            tree.close();
            tree.close();
            tree.finish()
        };
        assert!(has_open_menu(&menu(false)));
        assert!(!has_open_menu(&menu(true)));
    }

    #[test]
    fn of_a_long_text_both_ends_are_told() {
        assert_eq!(cut_middle("abcdef", 4), "ab…ef");
        assert_eq!(cut_middle("äöü", 4), "äöü");
    }
}
