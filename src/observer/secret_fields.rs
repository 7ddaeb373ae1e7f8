//! Fields into which a named secret went. Each is secret by its object for as long as the application has it, whatever
//! the application calls it and whatever is left of the secret in it: a letter that is erased or put in between makes
//! another text, which no list of secrets has, and undo brings back what was erased.
//!
//! What a secret field holds leaves the platform's tree here. In its place stands a mark that is another one after each
//! change and after each input into the field, so that no hash and no comparison tells whether two values are equal.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use super::Observer;
use crate::clock::lock;
use crate::model::app::Clip;
use crate::model::{Element, Role, Tree};

/// Far more than a person has open. The one noted longest ago goes first.
const MOST_FIELDS: usize = 4096;

/// So many windows are remembered; all are forgotten when there are more.
const MOST_WINDOWS: usize = 1024;

/// The marks are private characters, of which no application makes a text.
const FIRST_MARK: u32 = 0xF_0000;
const MARKS: u32 = 0xFFFD;

#[derive(Debug, Default)]
pub struct SecretFields {
    oldest_first: Vec<SecretField>,
    /// The clipboard may hold what was copied out of one of them. No look at it ends that: that it is equal to another
    /// text would tell it.
    copied: bool,
    /// What secret fields held at the last look, by window.
    windows: HashMap<String, HeldSecrets>,
}

/// What the secret fields of a window hold, without telling it.
#[derive(Debug, Default)]
struct HeldSecrets {
    digest: u64,
    changes: u32,
    /// Something was typed into one of them since.
    was_typed_into: bool,
}

/// A field, by its object; by its place in the same page where the object is another one now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecretField {
    pub window_uid: String,
    pub native: Option<String>,
    pub place: String,
    /// The address of the page that it is in.
    pub page: Option<String>,
}

impl SecretField {
    fn is_same(&self, other: &SecretField) -> bool {
        self.window_uid == other.window_uid
            && match (&self.native, &other.native) {
                (Some(one), Some(other)) => one == other,
                _ => self.place == other.place,
            }
    }

    /// Where it is in a tree of its window. Toolkits make another object of a password that is shown; it stands where the
    /// first one stood. An empty one that stands there is a new field.
    fn find_in(&self, tree: &Tree) -> Option<usize> {
        let by_object =
            (0..tree.len()).find(|&node| self.native.is_some() && tree[node].native == self.native);
        by_object.or_else(|| {
            let there = tree.find_id(&self.place)?;
            let takes_text = tree[there].role.takes_text() || tree[there].editable;
            let is_new = tree[there].native.is_some() && tree[there].value.as_deref() == Some("");
            (takes_text && !is_new && page_of(tree, there) == self.page).then_some(there)
        })
    }
}

/// The address of the page that an element is in, without the part of it that is shown.
pub fn page_of(tree: &Tree, node: usize) -> Option<String> {
    let mut around = std::iter::successors(Some(node), |&node| tree.parent(node));
    let document = around.find(|&node| tree[node].is_document)?;
    let address = tree[document].value.as_deref()?;
    Some(address.split('#').next().unwrap_or_default().to_owned())
}

impl SecretFields {
    pub fn note(&mut self, field: SecretField) {
        self.oldest_first.retain(|known| !known.is_same(&field));
        if self.oldest_first.len() >= MOST_FIELDS {
            self.oldest_first.remove(0);
        }
        self.oldest_first.push(field);
    }

    pub fn is_empty(&self) -> bool {
        self.oldest_first.is_empty()
    }

    /// Marks those that are in a window's tree as secret.
    pub fn mark(&mut self, window_uid: &str, tree: &mut Tree) {
        let own = self.oldest_first.iter().filter(|field| field.window_uid == window_uid);
        let found: Vec<(usize, SecretField)> =
            own.filter_map(|field| Some((field.find_in(tree)?, field.clone()))).collect();
        for (node, field) in &found {
            let native = tree[*node].native.clone().or(field.native.clone());
            // The first object may come back.
            if native != field.native {
                self.note(SecretField { native, ..field.clone() });
            }
        }
        if !found.is_empty() {
            let mut node = 0;
            tree.change_elements(|element| {
                element.secret |= found.iter().any(|(at, _)| *at == node);
                node += 1;
            });
        }
    }

    /// Takes what secret fields hold out of a tree. Only a tree of the whole window tells whether anything changed.
    pub fn veil_values(&mut self, window_uid: &str, tree: &mut Tree, is_whole: bool) {
        let hidden = secret_nodes(tree);
        if hidden.is_empty() {
            return;
        }
        let changes = self.count_changes(window_uid, digest_of(tree, &hidden), is_whole);
        let mark = char::from_u32(FIRST_MARK + changes % MARKS).unwrap_or('\u{F0000}');
        let mut node = 0;
        tree.change_elements(|element| {
            if hidden.binary_search(&node).is_ok() {
                veil_element(element, mark);
            }
            node += 1;
        });
    }

    fn count_changes(&mut self, window_uid: &str, digest: u64, is_whole: bool) -> u32 {
        if self.windows.len() >= MOST_WINDOWS && !self.windows.contains_key(window_uid) {
            self.windows.clear();
        }
        let held = self.windows.entry(window_uid.to_owned()).or_default();
        if is_whole && (held.was_typed_into || held.digest != digest) {
            *held = HeldSecrets { digest, changes: held.changes.wrapping_add(1), was_typed_into: false };
        }
        held.changes
    }

    /// Whether a look has found something in a secret field.
    pub fn has_seen_values(&self) -> bool {
        !self.windows.is_empty()
    }

    /// What a secret field of the window holds is about to change, also if the same stands there again.
    pub fn note_typed_into(&mut self, window_uid: &str) {
        if let Some(held) = self.windows.get_mut(window_uid) {
            held.was_typed_into = true;
        }
    }

    /// What is copied now may come out of such a field.
    pub fn note_copy(&mut self) {
        self.copied = true;
    }

    /// The clipboard is about to hold a text of ours.
    pub fn note_own_clip(&mut self) {
        self.copied = false;
    }

    pub fn has_copied(&self) -> bool {
        self.copied
    }
}

/// Secret fields that hold something, and what is in them, in the order of the tree.
fn secret_nodes(tree: &Tree) -> Vec<usize> {
    let mut end_of_secret = 0;
    let holds_text = |element: &Element| element.value.as_deref().is_some_and(|value| !value.is_empty());
    (0..tree.len())
        .filter(|&node| {
            let is_inside = node < end_of_secret;
            if tree[node].is_secret() {
                end_of_secret = end_of_secret.max(tree.end(node));
            }
            (tree[node].is_secret() || is_inside)
                && (holds_text(&tree[node]) || tree[node].role == Role::Text)
        })
        .collect()
}

fn digest_of(tree: &Tree, nodes: &[usize]) -> u64 {
    let mut hasher = DefaultHasher::new();
    nodes
        .iter()
        .for_each(|&node| (&tree[node].native, &tree[node].value, &tree[node].name).hash(&mut hasher));
    hasher.finish()
}

/// How many lines it has stays: that is how a line break that was taken is told from one that pressed something.
fn veil_element(element: &mut Element, mark: char) {
    let veil = |text: &mut String| {
        if !text.is_empty() {
            let lines = text.matches('\n').count();
            *text = std::iter::once(mark).chain(std::iter::repeat_n('\n', lines)).collect();
        }
    };
    element.value.iter_mut().for_each(veil);
    if element.role == Role::Text {
        veil(&mut element.name);
    }
}

impl Observer {
    /// The clipboard as it may be shown: what was copied out of a field with a named secret is hidden as a whole.
    pub(super) fn shown_clip(&self, clip: Clip) -> Clip {
        let hides = lock(&self.secret_fields).has_copied();
        let hide = |text: String| if hides { self.redactor.replacement().to_owned() } else { text };
        Clip { text: clip.text.map(hide), ..clip }
    }

    /// Whether the clipboard is hidden because of what was copied.
    pub fn hides_clipboard(&self) -> bool {
        lock(&self.secret_fields).has_copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Rect, TreeBuilder};

    fn field(native: &str) -> SecretField {
        SecretField {
            window_uid: "w".to_owned(),
            native: Some(native.to_owned()),
            place: "root.0".to_owned(),
            page: None,
        }
    }

    /// A window with one field; whether it is secret once the fields are marked.
    fn is_marked(fields: &mut SecretFields, native: &str, value: Option<&str>) -> bool {
        let mut builder = TreeBuilder::new(Element::new(Role::Window, "W", Rect::default()));
        builder.add_leaf(Element {
            native: Some(native.to_owned()),
            value: value.map(str::to_owned),
            ..Element::new(Role::Edit, "Note", Rect::default())
        });
        let mut tree = builder.finish();
        fields.mark("w", &mut tree);
        tree[1].secret
    }

    /// H-390 on code: emptied, it may be filled again by undo
    #[test]
    fn a_field_stays_secret_when_it_is_emptied() {
        let mut fields = SecretFields::default();
        fields.note(field("a"));
        for value in ["", "correct-horse", "c", "", "corre|ct"] {
            assert!(is_marked(&mut fields, "a", Some(value)), "{value}");
        }
    }

    #[test]
    fn a_field_that_is_made_anew_is_known_by_its_place() {
        let mut fields = SecretFields::default();
        fields.note(field("a"));
        assert!(!is_marked(&mut fields, "b", Some("")));
        assert!(is_marked(&mut fields, "b", Some("correct")));
        assert!(is_marked(&mut fields, "b", Some("")));
        assert!(is_marked(&mut fields, "a", Some("corre")));
    }

    /// What stands for the value of a password, in a window with nothing else.
    fn veiled(fields: &mut SecretFields, value: &str) -> String {
        let mut builder = TreeBuilder::new(Element::new(Role::Window, "W", Rect::default()));
        builder.add_leaf(Element {
            secret: true,
            value: Some(value.to_owned()),
            ..Element::new(Role::Edit, "Password", Rect::default())
        });
        let mut tree = builder.finish();
        fields.veil_values("w", &mut tree, true);
        tree[1].value.clone().unwrap()
    }

    /// H-391 on code: no two looks tell whether two values are equal, but that nothing happened
    #[test]
    fn what_stands_for_a_value_does_not_come_back() {
        let mut fields = SecretFields::default();
        let first = veiled(&mut fields, "c");
        assert_eq!(veiled(&mut fields, "c"), first);
        let second = veiled(&mut fields, "x");
        let third = veiled(&mut fields, "c");
        fields.note_typed_into("w");
        let fourth = veiled(&mut fields, "c");
        let all = std::collections::HashSet::from([&first, &second, &third, &fourth]);
        assert_eq!(all.len(), 4);
        assert!(all.iter().all(|mark| mark.chars().count() == 1 && !mark.contains(['c', 'x'])));
        assert_eq!(veiled(&mut fields, ""), "");
    }

    #[test]
    fn only_a_text_of_ours_shows_the_clipboard_again() {
        let mut fields = SecretFields::default();
        assert!(!fields.has_copied());
        fields.note_copy();
        assert!(fields.has_copied());
        fields.note_own_clip();
        assert!(!fields.has_copied());
    }
}
