//! Hashes of subtrees, by which equal ones are found without comparing them.
//!
//! They are keyed anew for every comparison, so nobody can craft two subtrees that only look alike to
//! the hash, and a chance collision is as likely as guessing 64 bits.

use std::hash::{BuildHasher, Hash, Hasher, RandomState};

use super::{ComparableTree, FieldValue, NodeField};
use crate::model::Element;

pub struct Prints {
    /// Everything shown and everything behind it.
    pub exact: Vec<u64>,
    /// What the subtree is about: roles, names, values. A row that scrolled or was selected keeps it.
    pub content: Vec<u64>,
    /// The role and name of the node alone.
    pub kind: Vec<u64>,
}

impl Prints {
    pub fn of(seen: ComparableTree, keys: &RandomState) -> Self {
        let count = seen.shown.len();
        let mut prints = Prints { exact: vec![0; count], content: vec![0; count], kind: vec![0; count] };
        // Backwards, so that a node finds its children done.
        for node in (0..count).rev() {
            prints.fill_hashes(node, seen, keys);
        }
        prints
    }

    fn fill_hashes(&mut self, node: usize, seen: ComparableTree, keys: &RandomState) {
        let element = &seen.shown[node];
        self.kind[node] = keys.hash_one((&element.role, &element.name));
        let mut content = keys.build_hasher();
        (self.kind[node], &element.value).hash(&mut content);
        let mut exact = keys.build_hasher();
        hash_element(element, &mut exact);
        if !std::ptr::eq(seen.shown, seen.raw) {
            hash_element(&seen.raw[node], &mut exact);
        }
        for (position, child) in (0..).zip(seen.shown.children(node)) {
            self.content[child].hash(&mut content);
            let odd_number = Some(seen.shown.child_index(child)).filter(|slot| *slot != position);
            (self.exact[child], odd_number).hash(&mut exact);
        }
        self.content[node] = content.finish();
        self.exact[node] = exact.finish();
    }
}

fn hash_element(element: &Element, hasher: &mut impl Hasher) {
    for field in NodeField::OF_ELEMENT {
        match field.of(element) {
            None => hasher.write_u8(0),
            Some(FieldValue::Null) => hasher.write_u8(1),
            Some(FieldValue::Text(text)) => (2u8, text).hash(hasher),
            Some(FieldValue::Flag(flag)) => (3u8, flag).hash(hasher),
            Some(FieldValue::Number(number)) => (4u8, number.to_bits()).hash(hasher),
            Some(FieldValue::Bounds(bounds)) => (5u8, bounds).hash(hasher),
        }
    }
}
