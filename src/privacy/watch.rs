//! Whether something in a reply speaks to an agent, found out while the reply is written.

use std::cell::{Cell, RefCell, RefMut};
use std::sync::Arc;

use super::injection::{self, Inspector, Lexicon};

/// Looks at the strings of one reply while they are written. Where they stand is only asked if there is one.
#[derive(Debug)]
pub struct InjectionWatch {
    inspector: RefCell<Inspector>,
    seen: Cell<bool>,
    smuggled: Cell<bool>,
}

impl InjectionWatch {
    pub fn new(lexicon: &Arc<Lexicon>) -> Self {
        let inspector = RefCell::new(Inspector::new(lexicon));
        Self { inspector, seen: Cell::new(false), smuggled: Cell::new(false) }
    }

    /// A text as it leaves.
    pub fn look(&self, text: &str) {
        if !self.seen.get() && self.inspector.borrow_mut().look(text).is_some() {
            self.seen.set(true);
        }
    }

    /// A text as it came, of which something was removed.
    pub fn look_at_removed(&self, text: &str) {
        if injection::has_tag_characters(text) {
            self.seen.set(true);
            self.smuggled.set(true);
        }
    }

    pub fn has_seen(&self) -> bool {
        self.seen.get()
    }

    /// Whether one of the texts had a message in characters that were removed.
    pub fn has_smuggled(&self) -> bool {
        self.smuggled.get()
    }

    /// For a second look, at where such a text stands.
    pub fn inspector(&self) -> RefMut<'_, Inspector> {
        self.inspector.borrow_mut()
    }
}
