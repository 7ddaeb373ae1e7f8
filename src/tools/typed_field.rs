//! What came of a text that was typed: the element that got it, and whether it is there.

use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;

use super::pointer::PointerSent;
use crate::error::{Error, Kind, Result};
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
    /// The element that got the text: that had the focus when it began, or the field that it opened.
    #[serde(skip_serializing_if = "Option::is_none")]
    into: Option<FieldOut>,
    /// The text was read back there.
    #[serde(skip_serializing_if = "Option::is_none")]
    verified: Option<bool>,
    /// What the field holds, if its lines came out otherwise than they were typed.
    #[serde(skip)]
    rearranged: Option<String>,
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
        let view = cx.observer().focus_view(&chosen, cx.cancel)?;
        let focused = view.tree().focused();
        Ok(focused.map(|node| Self { chosen, view, node }))
    }

    fn is_same_as(&self, other: &Self) -> bool {
        let native = self.view.native_handle(self.node);
        let window_uid = &self.chosen.window.uid;
        native.is_some()
            && *window_uid == other.chosen.window.uid
            && native == other.view.native_handle(other.node)
    }

    fn is_private(&self) -> bool {
        self.view.is_private(self.node)
    }

    fn ask(&self, cx: &Cx) -> Option<FieldText> {
        let native = self.view.native_handle(self.node)?;
        let handle = Handle { window_uid: self.chosen.window.uid.clone(), native };
        let field = cx.observer().field(&handle, cx.cancel).ok().flatten()?;
        Some(self.without_secret(field))
    }

    /// Of a private field the count alone is compared: whether a text changed tells a letter that was guessed.
    fn without_secret(&self, field: FieldText) -> FieldText {
        let text = field.text.filter(|_| !self.is_private());
        FieldText { text, ..field }
    }

    /// What the capture has of it, for a system that cannot be asked for one element.
    fn captured(&self) -> FieldText {
        let element = self.view.unredacted(self.node);
        let text = element.value.clone().filter(|_| !element.secret);
        let characters = text.as_ref().map(|text| text.chars().count());
        self.without_secret(FieldText { focused: true, characters, text })
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
            return Self { sent, into: None, verified: None, rearranged: None };
        }
        let typed = find_field(cx, before, text);
        let rearranged = typed.as_ref().and_then(|typed| typed.rearranged(text));
        let found = typed.and_then(|typed| Some((typed.out(cx)?, typed.verified)));
        let verified = Some(found.as_ref().is_some_and(|(_, verified)| *verified));
        if verified == Some(true) {
            cx.observer().note_effect_seen();
        }
        Self { sent, into: found.map(|(out, _)| out), verified, rearranged }
    }

    /// Refuses what an editor made of the lines: one that indents by itself adds to the blanks that were typed, and what
    /// comes next would go on with a text that nobody wrote.
    pub fn check_lines(self) -> Result<Self> {
        match self.rearranged {
            Some(held) => {
                let held = cut_middle(&held, TOLD_OF_A_TEXT);
                let message = format!(
                    "typed, but the editor indents or completes by itself and holds other lines now: {held:?}; set_value \
                     replaces them with the text as it is"
                );
                Err(Error::new(Kind::PatternUnsupported, message))
            }
            None => Ok(self),
        }
    }
}

/// A field after a text.
struct FieldAfter {
    field: FocusedField,
    before: Option<FieldText>,
    /// Nothing when it is gone, as a dialog is that enter closed.
    now: Option<FieldText>,
    verified: bool,
}

impl FieldAfter {
    /// What it holds, if all that was typed is there and its lines are others.
    fn rearranged(&self, text: &str) -> Option<String> {
        let now = self.now.as_ref().filter(|now| now.focused && !self.verified)?;
        let held = now.text.as_ref().filter(|_| !self.field.is_private())?;
        let had = self.before.as_ref().and_then(|before| before.text.as_deref());
        is_rearranged(had.unwrap_or_default(), held, text).then(|| held.clone())
    }

    fn out(&self, cx: &Cx) -> Option<FieldOut> {
        let FocusedField { chosen, view, node } = &self.field;
        let element = &view.tree()[*node];
        let value = self.now.as_ref().and_then(|now| now.text.as_deref());
        let changed = self.before.as_ref().zip(self.now.as_ref());
        Some(FieldOut {
            window_uid: chosen.window.uid.clone(),
            reference: cx.observer().show_ref(chosen, view, *node).ok()?,
            role: element.role.to_string(),
            name: element.name.clone(),
            value: value.filter(|_| !self.field.is_private()).map(|text| cut_middle(text, TOLD_OF_A_TEXT)),
            changed: changed
                .map(|(before, now)| before.text != now.text || before.characters != now.characters),
        })
    }
}

/// The field that got the text. Where that of before still has the focus, or the text, it alone is asked.
fn find_field(cx: &Cx, before: FieldBefore, text: &str) -> Option<FieldAfter> {
    let patience = if cx.observer().facts().is_mock { Duration::ZERO } else { READ_BACK_TIME };
    let (field, held) = match before {
        FieldBefore::Nothing => return None,
        FieldBefore::Unknown => return field_in_focus(cx, text, patience),
        FieldBefore::Known(field, held) => (field, held),
    };
    let mut opened = None;
    let mut has_opened = || {
        opened = opened_field(cx, &field, text);
        opened.is_some()
    };
    let now = await_text(cx, &field, Some(&held), text, patience, &mut has_opened);
    if opened.is_some() {
        return opened;
    }
    let got_text = |now: &FieldText| has_arrived(Some(&held), now, first_part(text));
    if let Some(now) = now.clone().filter(|now| now.focused || got_text(now)) {
        let verified = has_arrived(Some(&held), &now, text) || (!now.focused && got_text(&now));
        return Some(FieldAfter { field: *field, before: Some(held), now: Some(now), verified });
    }
    match field_in_focus(cx, text, patience) {
        // The first character may open the field for the others, and a system may not be asked for one element.
        Some(other) if other.verified || other.field.is_same_as(&field) => Some(other),
        _ => Some(FieldAfter { field: *field, before: Some(held), now, verified: false }),
    }
}

/// Another field that has the focus now, and the text in it: a cell of a sheet goes on saying that it has the focus after
/// the first character opened a field for the others.
fn opened_field(cx: &Cx, field: &FocusedField, text: &str) -> Option<FieldAfter> {
    let other = FocusedField::look(cx).ok().flatten().filter(|other| !other.is_same_as(field))?;
    let now = other.ask(cx).unwrap_or_else(|| other.captured());
    let verified = has_arrived(None, &now, text);
    verified.then(|| FieldAfter { field: other, before: None, now: Some(now), verified })
}

/// The field that has the focus now.
fn field_in_focus(cx: &Cx, text: &str, patience: Duration) -> Option<FieldAfter> {
    let field = FocusedField::look(cx).ok().flatten()?;
    let now = await_text(cx, &field, None, text, patience, &mut || false).unwrap_or_else(|| field.captured());
    let verified = has_arrived(None, &now, text);
    Some(FieldAfter { field, before: None, now: Some(now), verified })
}

/// What the field holds, once it has the text, another has it, or the time is over. For another is looked whenever
/// something changed.
fn await_text(
    cx: &Cx,
    field: &FocusedField,
    before: Option<&FieldText>,
    text: &str,
    at_most: Duration,
    has_another: &mut dyn FnMut() -> bool,
) -> Option<FieldText> {
    let began = cx.clock().now();
    let mut deadline = began + at_most;
    let mut last = None;
    let mut seen = None;
    loop {
        let now = field.ask(cx)?;
        if !now.focused || has_arrived(before, &now, text) || cx.clock().now() >= deadline {
            return Some(now);
        }
        let generation = cx.observer().generation().ok()?;
        if seen.replace(generation) != Some(generation) && has_another() {
            return Some(now);
        }
        // A text that is still growing is waited for: LibreOffice takes in a line in a second.
        if last.as_ref() != Some(&now) {
            deadline = (cx.clock().now() + at_most).min(began + MOST_READ_BACK_TIME);
            last = Some(now);
        }
        // Not every program tells of a text.
        cx.observer().await_change(generation, LOOK_AGAIN, cx.cancel).ok()?;
    }
}

/// What of a text goes to where it began: a tab leads into the next field.
fn first_part(text: &str) -> &str {
    text.split('\t').next().unwrap_or_default()
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

/// Whether the signs of several lines arrived, and the lines are others: other blanks, or more closing signs.
fn is_rearranged(had: &str, held: &str, typed: &str) -> bool {
    let signs = |text: &str| -> String {
        let counts = |sign: &char| !sign.is_whitespace() && !matches!(sign, ')' | ']' | '}' | '"' | '\'');
        text.chars().filter(counts).collect()
    };
    // What stands between paragraphs is no line of the text.
    let lines = |text: &str| -> String {
        let text = text.replace('\u{a0}', " ");
        let lines: Vec<&str> = text.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
        lines.join("\n")
    };
    let (wanted, is_one_line) = (signs(typed), !typed.trim().contains('\n'));
    !(is_one_line || wanted.is_empty() || had == held)
        && signs(held).contains(&wanted)
        && !lines(held).contains(&lines(typed))
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
    fn lines_that_an_editor_indented_again_are_other_lines() {
        let typed = "def f(n):\n    s = 0\n    return s";
        assert!(is_rearranged("", "def f(n):\n        s = 0\n            return s", typed));
        assert!(is_rearranged("", "f = [\n  1\n]\n]", "f = [\n1\n]"));
        assert!(!is_rearranged("", typed, typed));
        assert!(!is_rearranged("# ", "# def f(n):\n\n    s = 0 \n\n\u{a0}   return s\n", typed));
        assert!(!is_rearranged("", "s", "a\ns"), "the first line was sent");
        assert!(!is_rearranged("", "(555) 12", "55512"));
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
