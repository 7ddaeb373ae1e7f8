//! What goes into a secret field by our hands is a secret from then on, however it gets there: as a text, as a value,
//! letter by letter or out of the clipboard. A field that shows bullets never exposes it, and an application
//! may repeat it.

use super::secret_fields::SecretField;
use super::{ElementTarget, Observer, Target, WindowChoice};
use crate::clock::{Cancel, lock};
use crate::config::limits::TYPED_TEXT_CHARACTERS;
use crate::error::Result;
use crate::model::input::{Act, Key, Modifier};
use crate::model::{KeyCombo, NamedKey, Role, Tree};

/// What was typed into one secret field so far, by as many inputs as it took.
#[derive(Debug, Default)]
pub struct TypedSecret {
    field: Option<TypedField>,
    text: String,
    /// The redactor knows the text as it was before the last letter.
    known: bool,
}

/// Which one, by its window and its place there; nobody knows which, where the desktop cannot be read.
type TypedField = (String, String);

/// What an input does to the field that it goes to.
enum TypedInput {
    Adds(String),
    Replaces(String),
    /// The last letter goes.
    Erases,
}

impl Observer {
    /// Looks, before an input is sent, whether it puts something into a secret field. `target` is what was resolved
    /// for it; without one it goes to the keyboard focus.
    pub(super) fn learn_typed(&self, target: Option<&Target>, act: &Act, cancel: &Cancel) {
        self.note_copy(target, act, cancel);
        let Some(entry) = self.entry_of(act, cancel) else {
            if matches!(act, Act::Key { .. }) {
                // What selects or moves makes another text of what follows.
                *lock(&self.typed) = TypedSecret::default();
            }
            return;
        };
        // A desktop that cannot be read says nothing about secrets; then the text is treated as one.
        let into = self.typed_into(target, cancel).unwrap_or_else(|_| TypedInto::unknown());
        let leads_on = into.has_secret && entry.may_leave(into.is_text);
        let text = match &entry {
            TypedInput::Adds(text) | TypedInput::Replaces(text) => text.as_str(),
            TypedInput::Erases => "",
        };
        if !text.is_empty() && (self.redactor.tells_named_secret(text) || self.pastes_copy(act)) {
            lock(&self.secret_fields).note(into.secret_field());
        }
        let TypedInto { field, is_secret, .. } = into;
        let mut parts = text.split(['\t', '\n', '\r']);
        let own = parts.next().unwrap_or_default();
        parts.filter(|_| is_secret || leads_on).for_each(|part| self.learn_secret(part));
        let mut typed = lock(&self.typed);
        if !is_secret {
            *typed = TypedSecret::default();
            return;
        }
        self.learn_secret(own);
        if typed.field.as_ref() != Some(&field) || matches!(entry, TypedInput::Replaces(_)) {
            *typed = TypedSecret { field: Some(field), ..TypedSecret::default() };
        }
        match entry {
            TypedInput::Erases => typed.erase_typed(),
            TypedInput::Adds(_) | TypedInput::Replaces(_) => self.learn_more(&mut typed, own),
        }
    }

    /// The whole of what was typed takes the place of what was known of it: the beginning of a password may be a word
    /// that stands everywhere.
    fn learn_more(&self, typed: &mut TypedSecret, added: &str) {
        if typed.text.len() + added.len() > TYPED_TEXT_CHARACTERS {
            *typed = TypedSecret { field: typed.field.take(), ..TypedSecret::default() };
            return;
        }
        let before = typed.text.clone();
        typed.text.push_str(added);
        if before.is_empty() {
            return;
        }
        let shorter = Some(before.as_str()).filter(|_| typed.known);
        typed.known = self.redactor.learn_longer(shorter, &typed.text);
    }

    fn learn_secret(&self, text: &str) {
        if text.len() <= 4 * TYPED_TEXT_CHARACTERS {
            self.redactor.learn_secret(text);
        }
    }

    fn entry_of(&self, act: &Act, cancel: &Cancel) -> Option<TypedInput> {
        match act {
            Act::Type { text, .. } => Some(TypedInput::Adds(text.clone())),
            Act::SetValue { text, .. } => Some(TypedInput::Replaces(text.clone())),
            Act::Key { keys, .. } if keys.key == Key::Named(NamedKey::Backspace) => Some(TypedInput::Erases),
            Act::Key { keys, .. } if is_paste(keys) => {
                self.platform.clipboard().read(cancel).ok()?.text.map(TypedInput::Adds)
            }
            Act::Key { keys, .. } => keys.character().map(TypedInput::Adds),
            _ => None,
        }
    }

    /// Looks, before an input is sent, whether it copies something out of a field that holds a named secret.
    fn note_copy(&self, target: Option<&Target>, act: &Act, cancel: &Cancel) {
        let Act::Key { keys, .. } = act else { return };
        if !is_copy(keys) || lock(&self.secret_fields).is_empty() {
            return;
        }
        let field = self.typed_into(target, cancel).map(|into| into.secret_field());
        let mut fields = lock(&self.secret_fields);
        // What cannot be read may be such a field.
        let is_secret = field.map_or(true, |field| fields.holds(&field));
        fields.note_copy(is_secret);
    }

    /// Whether an input pastes what was copied out of such a field.
    fn pastes_copy(&self, act: &Act) -> bool {
        matches!(act, Act::Key { keys, .. } if is_paste(keys)) && lock(&self.secret_fields).has_copied()
    }

    fn typed_into(&self, target: Option<&Target>, cancel: &Cancel) -> Result<TypedInto> {
        // What a window behind others has the focus on is known when it is in front.
        let is_known = |it: &&ElementTarget| it.chosen.window.focused || it.node != Tree::ROOT;
        if let Some(target) = target.and_then(Target::element).filter(is_known) {
            return Ok(TypedInto::of(&target.chosen.window.uid, target.view.raw(), target.node));
        }
        let chosen = self.resolve_window(&WindowChoice::default())?;
        let tree = self.focus_tree(&chosen, cancel)?;
        let node = tree.focused().unwrap_or(Tree::ROOT);
        Ok(TypedInto::of(&chosen.window.uid, &tree, node))
    }
}

/// Where an input goes.
struct TypedInto {
    field: TypedField,
    native: Option<String>,
    /// It is a secret field, or one in it may have the focus that it is said to have.
    is_secret: bool,
    /// There is a secret field somewhere in the window.
    has_secret: bool,
    /// It is a text of several lines.
    is_text: bool,
}

impl TypedInto {
    fn of(uid: &str, tree: &Tree, node: usize) -> Self {
        Self {
            field: (uid.to_owned(), tree.id(node)),
            native: tree[node].native.clone(),
            is_secret: tree.holds_secret(node),
            has_secret: tree.holds_secret(Tree::ROOT),
            is_text: tree[node].role == Role::Document,
        }
    }

    /// Anywhere.
    fn unknown() -> Self {
        let (field, native) = (TypedField::default(), None);
        Self { field, native, is_secret: true, has_secret: true, is_text: false }
    }

    fn secret_field(&self) -> SecretField {
        let (window_uid, place) = self.field.clone();
        SecretField { window_uid, native: self.native.clone(), place, was_filled: false }
    }
}

impl TypedInput {
    /// Whether a tab or a line break in it may lead from its field into the next. A value is put where it belongs, and in
    /// a text of several lines both are part of the text.
    fn may_leave(&self, is_text: bool) -> bool {
        matches!(self, TypedInput::Adds(_)) && !is_text
    }
}

impl TypedSecret {
    fn erase_typed(&mut self) {
        self.text.pop();
        self.known = false;
    }
}

/// The combinations that paste on the desktops that we know.
fn is_paste(keys: &KeyCombo) -> bool {
    let held = |modifier| keys.modifiers.contains(&modifier);
    match keys.key {
        Key::Character('v') => held(Modifier::Ctrl) || held(Modifier::Meta),
        Key::Named(NamedKey::Insert) => held(Modifier::Shift),
        _ => false,
    }
}

/// The combinations that copy or cut.
fn is_copy(keys: &KeyCombo) -> bool {
    let held = |modifier| keys.modifiers.contains(&modifier);
    match keys.key {
        Key::Character('c' | 'x') => held(Modifier::Ctrl) || held(Modifier::Meta),
        Key::Named(NamedKey::Insert) => held(Modifier::Ctrl),
        Key::Named(NamedKey::Delete) => held(Modifier::Shift),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pastes_are_known() {
        for (keys, expected) in [
            ("ctrl+v", true),
            ("ctrl+shift+v", true),
            ("cmd+v", true),
            ("shift+insert", true),
            ("v", false),
            ("alt+v", false),
            ("ctrl+c", false),
            ("insert", false),
        ] {
            assert_eq!(is_paste(&KeyCombo::parse(keys).unwrap()), expected, "{keys}");
        }
    }
}
