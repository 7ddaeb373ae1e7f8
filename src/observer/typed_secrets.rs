//! What goes into a secret field by our hands is a secret from then on, however it gets there: as a text, as a value,
//! letter by letter or out of the clipboard. A field that shows bullets never exposes it, and an application
//! may repeat it.

use super::secret_fields::{SecretField, page_of};
use super::{ElementTarget, Observer, Target, WindowChoice};
use crate::clock::{Cancel, lock};
use crate::config::limits::TYPED_TEXT_CHARACTERS;
use crate::error::Result;
use crate::model::input::{Act, Button, Key, Modifier};
use crate::model::{KeyCombo, NamedKey, Point, Role, Tree};

/// What was typed into one secret field so far, by as many inputs as it took.
#[derive(Debug, Default)]
pub struct TypedSecret {
    field: Option<TypedField>,
    text: String,
    /// The redactor knows the text as it was before the last letter.
    known: bool,
}

/// What may lead from one field into the next.
const PARTS: [char; 3] = ['\t', '\n', '\r'];

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
    /// Looks, before an input is sent, whether it puts something into a secret field. `targets` are what was resolved
    /// for it, what is meant first; without one it goes to the keyboard focus.
    pub(super) fn learn_typed(&self, targets: &[Target], act: &Act, cancel: &Cancel) {
        let target = targets.first();
        self.note_copy(target, act, cancel);
        self.note_moved_text(targets, act, cancel);
        if self.pastes_copy(act) {
            let into = self.typed_into(target, "", cancel).unwrap_or_else(|_| TypedInto::unknown());
            lock(&self.secret_fields).note(into.secret_field());
        }
        self.note_changed_secret(target, act, cancel);
        let Some(entry) = self.entry_of(act, cancel) else {
            if matches!(act, Act::Key { .. }) {
                // What selects or moves makes another text of what follows.
                *lock(&self.typed) = TypedSecret::default();
            }
            return;
        };
        let text = match &entry {
            TypedInput::Adds(text) | TypedInput::Replaces(text) => text.as_str(),
            TypedInput::Erases => "",
        };
        // A desktop that cannot be read says nothing about secrets; then the text is treated as one.
        let into = self.typed_into(target, text, cancel).unwrap_or_else(|_| TypedInto::unknown());
        let leads_on = into.has_secret && entry.may_leave(into.is_text);
        if self.redactor.tells_named_secret(text) {
            lock(&self.secret_fields).note(into.secret_field());
        }
        let TypedInto { field, is_secret, .. } = into;
        let mut parts = text.split(PARTS);
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

    /// Looks, before an input is sent, whether it may copy something out of a field that holds a named secret: by keys,
    /// by the menu of the field or by an entry of any menu, which are called differently in each language.
    fn note_copy(&self, target: Option<&Target>, act: &Act, cancel: &Cancel) {
        if lock(&self.secret_fields).is_empty() {
            return;
        }
        let may_copy = match act {
            Act::Key { keys, .. } if is_copy(keys) || opens_menu(keys) => {
                // What cannot be read may be such a field.
                self.typed_into(target, "", cancel).map_or(true, |into| into.is_secret || into.is_menu)
            }
            Act::Key { keys, .. } if is_choice(keys) => {
                self.typed_into(target, "", cancel).is_ok_and(|into| into.is_menu)
            }
            Act::Click { button: Button::Right, .. } => {
                target.and_then(Target::element).is_none_or(|it| it.view.raw().holds_secret(it.node))
            }
            Act::Click { .. } | Act::Invoke { .. } | Act::Select { option: None, .. } => {
                target.and_then(Target::element).is_none_or(|it| may_be_copy_command(it.view.raw(), it.node))
            }
            _ => false,
        };
        if may_copy {
            lock(&self.secret_fields).note_copy();
        }
    }

    /// What is dragged out of a secret field, and what the middle button pastes, may be a part of a secret.
    /// Without consent rules nothing was resolved for a point, so it is looked up here.
    fn note_moved_text(&self, targets: &[Target], act: &Act, cancel: &Cancel) {
        let is_middle = matches!(act, Act::Click { button: Button::Middle, .. });
        let points: Vec<Point> = match act {
            Act::Drag { from, to, .. } => vec![*from, *to],
            Act::Click { at, .. } if is_middle => at.iter().copied().collect(),
            _ => Vec::new(),
        };
        if !(is_middle || matches!(act, Act::Drag { .. })) || lock(&self.secret_fields).is_empty() {
            return;
        }
        let pointed: Vec<Target> = points.into_iter().filter_map(|at| self.pointed_at(at, cancel)).collect();
        let elements = || targets.iter().chain(&pointed).filter_map(Target::element);
        if is_middle || elements().any(|it| it.view.raw().holds_secret(it.node)) {
            for it in elements().filter(|it| takes_text(it.view.raw(), it.node)) {
                let field = TypedInto::of(&it.chosen.window.uid, it.view.raw(), it.node).secret_field();
                lock(&self.secret_fields).note(field);
            }
        }
    }

    fn pointed_at(&self, point: Point, cancel: &Cancel) -> Option<Target> {
        self.target_at(&self.desktop().ok()?, point, cancel).ok().flatten()
    }

    /// Whoever writes into a secret field must not learn whether the same stood there before.
    fn note_changed_secret(&self, target: Option<&Target>, act: &Act, cancel: &Cancel) {
        let writes = match act {
            Act::Type { .. } | Act::SetValue { .. } => true,
            Act::Key { keys, .. } => may_edit(keys),
            _ => false,
        };
        if !writes || !lock(&self.secret_fields).has_seen_values() {
            return;
        }
        if let Ok(into) = self.typed_into(target, "", cancel)
            && into.is_secret
        {
            lock(&self.secret_fields).note_typed_into(&into.field.0);
        }
    }

    /// Whether an input pastes what was copied out of such a field.
    fn pastes_copy(&self, act: &Act) -> bool {
        matches!(act, Act::Key { keys, .. } if is_paste(keys)) && lock(&self.secret_fields).has_copied()
    }

    fn typed_into(&self, target: Option<&Target>, text: &str, cancel: &Cancel) -> Result<TypedInto> {
        // What a window behind others has the focus on is known when it is in front.
        let is_known = |it: &&ElementTarget| it.chosen.window.focused || it.node != Tree::ROOT;
        if let Some(target) = target.and_then(Target::element).filter(is_known) {
            return Ok(TypedInto::of(&target.chosen.window.uid, target.view.raw(), target.node));
        }
        let chosen = self.resolve_window(&WindowChoice::default())?;
        // Where a text may lead on, it counts which secrets there are beside the focus.
        let view = match text.contains(PARTS) {
            true => self.fresh_view(&chosen, cancel)?,
            false => self.focus_view(&chosen, cancel)?,
        };
        let node = view.raw().focused().unwrap_or(Tree::ROOT);
        Ok(TypedInto::of(&chosen.window.uid, view.raw(), node))
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
    /// It is a menu or an entry of one.
    is_menu: bool,
    /// The address of its page.
    page: Option<String>,
}

impl TypedInto {
    fn of(uid: &str, tree: &Tree, node: usize) -> Self {
        Self {
            field: (uid.to_owned(), tree.id(node)),
            native: tree[node].native.clone(),
            is_secret: tree.holds_secret(node),
            has_secret: tree.holds_secret(Tree::ROOT),
            is_text: tree[node].role == Role::Document,
            is_menu: is_menu(&tree[node].role),
            page: page_of(tree, node),
        }
    }

    /// Anywhere.
    fn unknown() -> Self {
        let (field, native) = (TypedField::default(), None);
        let (is_text, is_menu, page) = (false, true, None);
        Self { field, native, is_secret: true, has_secret: true, is_text, is_menu, page }
    }

    fn secret_field(&self) -> SecretField {
        let (window_uid, place) = self.field.clone();
        SecretField { window_uid, native: self.native.clone(), place, page: self.page.clone() }
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

/// The keys that open the menu of what has the focus.
fn opens_menu(keys: &KeyCombo) -> bool {
    let is_f10 = keys.key == Key::Named(NamedKey::F10) && keys.modifiers.contains(&Modifier::Shift);
    is_f10 || keys.key == Key::Named(NamedKey::Menu)
}

/// The keys that choose an entry of a menu.
fn is_choice(keys: &KeyCombo) -> bool {
    matches!(keys.key, Key::Named(NamedKey::Enter | NamedKey::Space) | Key::Character(_))
}

/// The keys that may change what a field holds.
fn may_edit(keys: &KeyCombo) -> bool {
    let is_command = keys.modifiers.iter().any(|held| matches!(held, Modifier::Ctrl | Modifier::Meta));
    match keys.key {
        Key::Character('a' | 'c') if is_command => false,
        Key::Character(_) => true,
        Key::Named(key) => {
            matches!(key, NamedKey::Backspace | NamedKey::Delete | NamedKey::Insert | NamedKey::Space)
        }
        Key::Modifier(_) => false,
    }
}

fn is_menu(role: &Role) -> bool {
    matches!(role, Role::Menu | Role::MenuItem)
}

/// An entry of a menu, or what copies by its shortcut or its name.
fn may_be_copy_command(tree: &Tree, node: usize) -> bool {
    let element = &tree[node];
    let by_shortcut = element
        .shortcut
        .as_deref()
        .is_some_and(|all| all.split(';').any(|keys| KeyCombo::parse(keys).is_ok_and(|keys| is_copy(&keys))));
    let name = element.name.to_lowercase();
    is_menu(&element.role) || by_shortcut || ["copy", "cut"].iter().any(|word| name.contains(word))
}

fn takes_text(tree: &Tree, node: usize) -> bool {
    tree[node].role.takes_text() || tree[node].editable
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
