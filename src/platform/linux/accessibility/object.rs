//! An accessible object's name, its interfaces and its states, as the bus spells them.

use std::hash::{Hash, Hasher};
use std::rc::Rc;

use atspi::State;

pub const ACCESSIBLE: &str = "org.a11y.atspi.Accessible";
pub const ACTION: &str = "org.a11y.atspi.Action";
pub const COMPONENT: &str = "org.a11y.atspi.Component";
pub const EDITABLE_TEXT: &str = "org.a11y.atspi.EditableText";
pub const SELECTION: &str = "org.a11y.atspi.Selection";
pub const TABLE: &str = "org.a11y.atspi.Table";
pub const TEXT: &str = "org.a11y.atspi.Text";
pub const VALUE: &str = "org.a11y.atspi.Value";

/// Paths repeat between applications (every root is `/org/a11y/atspi/accessible/root`), so only both
/// together are a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AtspiObject {
    pub bus: Rc<str>,
    pub path: Rc<str>,
}

/// By the path alone, which tells the objects of one application apart: a look hashes each of them some twenty times.
impl Hash for AtspiObject {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.path.hash(state);
    }
}

impl AtspiObject {
    pub fn new(bus: &str, path: &str) -> Self {
        Self { bus: bus.into(), path: path.into() }
    }

    pub fn is_null(&self) -> bool {
        self.bus.is_empty() || self.path.ends_with("/null")
    }

    /// One word for both: a bus name has no slash, and a path begins with one.
    pub fn native(&self) -> String {
        format!("{}{}", self.bus, self.path)
    }

    pub fn from_native(native: &str) -> Option<Self> {
        let slash = native.find('/').filter(|&slash| slash > 0)?;
        Some(Self::new(&native[..slash], &native[slash..]))
    }
}

/// The states of an object, as the two words of the bus.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct States(pub u64);

impl States {
    /// Words beyond the second are of a future that we do not know.
    pub fn from_words(words: &[u32]) -> Self {
        let word = |at: usize| u64::from(words.get(at).copied().unwrap_or(0));
        Self(word(0) | word(1) << 32)
    }

    pub fn has(self, state: State) -> bool {
        self.0 & state as u64 != 0
    }
}

/// The interfaces that matter here, of those that an object has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Interfaces(u8);

const FACES: &[&str] = &[ACTION, COMPONENT, EDITABLE_TEXT, SELECTION, TEXT, VALUE];

impl Interfaces {
    pub fn of<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        Self(names.into_iter().filter_map(interface_bit).fold(0, |all, bit| all | bit))
    }

    /// For an object that was not asked which it has.
    pub fn perhaps_all() -> Self {
        Self(u8::MAX)
    }

    pub fn has(self, interface: &str) -> bool {
        interface_bit(interface).is_some_and(|bit| self.0 & bit != 0)
    }
}

fn interface_bit(interface: &str) -> Option<u8> {
    FACES.iter().position(|face| *face == interface).map(|place| 1 << place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_native_name_leads_back() {
        let object = AtspiObject::new(":1.42", "/org/a11y/atspi/accessible/7");
        assert_eq!(AtspiObject::from_native(&object.native()), Some(object));
        for wrong in ["", "/only/path", ":1.42"] {
            assert_eq!(AtspiObject::from_native(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn states_of_both_words_are_known() {
        let words = [1 << (State::Showing as u64).trailing_zeros(), 1];
        let states = States::from_words(&words);
        assert!(states.has(State::Showing));
        assert_eq!(states.0 >> 32, 1);
        assert!(!states.has(State::Focused));
        assert_eq!(States::from_words(&[]), States(0));
        assert_eq!(States::from_words(&[1, 0, 7]), States(1));
    }

    #[test]
    fn unknown_interfaces_are_no_error() {
        let faces = Interfaces::of([ACTION, "org.example.Other", VALUE]);
        assert!(faces.has(ACTION) && faces.has(VALUE));
        assert!(!faces.has(TEXT) && !faces.has("org.example.Other"));
    }
}
