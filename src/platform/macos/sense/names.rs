//! Names for elements that last: the system's references are equal when they mean the same element, but have no name.
//! Each gets a number when it is first met, and keeps it while it is remembered.

use std::collections::{HashMap, VecDeque};
use std::hash::Hash;

const PREFIX: &str = "ax:";

#[derive(Debug)]
pub struct Names<T> {
    numbers: HashMap<T, u64>,
    things: HashMap<u64, T>,
    /// By age, the oldest first.
    order: VecDeque<u64>,
    next: u64,
    most: usize,
}

impl<T: Hash + Eq + Clone> Names<T> {
    pub fn new(most: usize) -> Self {
        Self { numbers: HashMap::new(), things: HashMap::new(), order: VecDeque::new(), next: 1, most }
    }

    /// A number is never given twice, so a name that was forgotten leads nowhere and not to another element.
    pub fn number(&mut self, thing: &T) -> u64 {
        if let Some(number) = self.numbers.get(thing) {
            return *number;
        }
        while self.order.len() >= self.most
            && let Some(oldest) = self.order.pop_front()
        {
            if let Some(thing) = self.things.remove(&oldest) {
                self.numbers.remove(&thing);
            }
        }
        let number = self.next;
        self.next += 1;
        self.numbers.insert(thing.clone(), number);
        self.things.insert(number, thing.clone());
        self.order.push_back(number);
        number
    }

    pub fn thing(&self, number: u64) -> Option<&T> {
        self.things.get(&number)
    }
}

pub fn native(number: u64) -> String {
    format!("{PREFIX}{number}")
}

pub fn number_of(native: &str) -> Option<u64> {
    native.strip_prefix(PREFIX)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_element_keeps_its_number() {
        let mut names = Names::new(10);
        let (save, open) = (names.number(&"save"), names.number(&"open"));
        assert_ne!(save, open);
        assert_eq!((names.number(&"save"), names.thing(save)), (save, Some(&"save")));
    }

    #[test]
    fn what_was_forgotten_leads_nowhere() {
        let mut names = Names::new(2);
        let first = names.number(&1);
        names.number(&2);
        names.number(&3);
        assert_eq!(names.thing(first), None);
        assert_ne!(names.number(&1), first, "its number is not given again");
        assert!(names.numbers.len() == 2 && names.things.len() == 2 && names.order.len() == 2);
    }

    #[test]
    fn names_are_read_back() {
        assert_eq!(number_of(&native(17)), Some(17));
        for foreign in ["17", "ax:", "ax:x", ":1.7/org/a11y", "ax:-1"] {
            assert_eq!(number_of(foreign), None, "{foreign}");
        }
    }
}
