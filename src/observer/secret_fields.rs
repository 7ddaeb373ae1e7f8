//! Fields into which a named secret went. Each is secret by its object until it is emptied, whatever the application
//! calls it and whatever is left of the secret in it: a letter that is erased or put in between makes another text, which
//! no list of secrets has.

use std::hash::{DefaultHasher, Hash, Hasher};

use super::Observer;
use crate::clock::lock;
use crate::model::Tree;
use crate::model::app::Clip;

/// Far more than a person has open. The one noted longest ago goes first.
const MOST_FIELDS: usize = 256;

#[derive(Debug, Default)]
pub struct SecretFields {
    oldest_first: Vec<SecretField>,
    /// The clipboard holds what was copied out of one of them: what, once it was read.
    copied: Option<Option<u64>>,
}

/// A field, by its object; by its place where the object is another one now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecretField {
    pub window_uid: String,
    pub native: Option<String>,
    pub place: String,
    /// It was seen with something in it, so that an empty one has been emptied.
    pub was_filled: bool,
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
    /// first one stood.
    fn find_in(&self, tree: &Tree) -> Option<usize> {
        let by_object =
            (0..tree.len()).find(|&node| self.native.is_some() && tree[node].native == self.native);
        by_object.or_else(|| {
            let there = tree.find_id(&self.place)?;
            (tree[there].role.takes_text() || tree[there].editable).then_some(there)
        })
    }
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

    pub fn holds(&self, field: &SecretField) -> bool {
        self.oldest_first.iter().any(|known| known.is_same(field))
    }

    /// Marks those that are in a window's tree, and forgets those that are empty again.
    pub fn mark(&mut self, window_uid: &str, tree: &mut Tree) {
        let mut marked: Vec<usize> = Vec::new();
        self.oldest_first.retain_mut(|field| {
            let Some(node) =
                Some(&*field).filter(|it| it.window_uid == window_uid).and_then(|it| it.find_in(tree))
            else {
                return true;
            };
            let is_empty = tree[node].value.as_deref() == Some("");
            if is_empty && field.was_filled {
                return false;
            }
            field.was_filled |= tree[node].value.as_deref().is_some_and(|value| !value.is_empty());
            field.native = tree[node].native.clone().or(field.native.take());
            marked.push(node);
            true
        });
        let mut node = 0;
        if !marked.is_empty() {
            tree.change_elements(|element| {
                element.secret |= marked.contains(&node);
                node += 1;
            });
        }
    }

    /// What is copied now comes out of such a field, or not.
    pub fn note_copy(&mut self, is_secret: bool) {
        self.copied = is_secret.then_some(None);
    }

    pub fn has_copied(&self) -> bool {
        self.copied.is_some()
    }

    /// Whether this text on the clipboard is what was copied. Another text than the one that was read first is not.
    fn is_copy(&mut self, text: &str) -> bool {
        let Some(known) = self.copied else {
            return false;
        };
        let mut hasher = DefaultHasher::new();
        text.hash(&mut hasher);
        let now = hasher.finish();
        let same = known.is_none_or(|known| known == now);
        self.copied = same.then_some(Some(now));
        same
    }
}

impl Observer {
    /// The clipboard as it may be shown: what was copied out of a field with a named secret is hidden as a whole.
    pub(super) fn shown_clip(&self, clip: Clip) -> Clip {
        let hide = |text: String| match lock(&self.secret_fields).is_copy(&text) {
            true => self.redactor.replacement().to_owned(),
            false => text,
        };
        Clip { text: clip.text.map(hide), ..clip }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Element, Rect, Role, TreeBuilder};

    fn field(native: &str) -> SecretField {
        SecretField {
            window_uid: "w".to_owned(),
            native: Some(native.to_owned()),
            place: "root.0".to_owned(),
            was_filled: false,
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

    #[test]
    fn a_field_is_secret_until_it_is_emptied() {
        let mut fields = SecretFields::default();
        fields.note(field("a"));
        // The application has not shown the text yet.
        assert!(is_marked(&mut fields, "a", Some("")));
        assert!(is_marked(&mut fields, "a", Some("correct-horse")));
        assert!(is_marked(&mut fields, "a", Some("c")));
        assert!(!is_marked(&mut fields, "a", Some("")));
        assert!(!is_marked(&mut fields, "a", Some("hello")));
    }

    #[test]
    fn a_field_that_is_made_anew_is_known_by_its_place() {
        let mut fields = SecretFields::default();
        fields.note(field("a"));
        assert!(is_marked(&mut fields, "b", Some("correct")));
        assert!(is_marked(&mut fields, "b", Some("corre")));
    }

    #[test]
    fn another_text_on_the_clipboard_is_no_copy() {
        let mut fields = SecretFields::default();
        assert!(!fields.is_copy("corre"));
        fields.note_copy(true);
        assert!(fields.is_copy("corre") && fields.is_copy("corre"));
        assert!(!fields.is_copy("something else"));
        assert!(!fields.is_copy("corre"));
    }
}
