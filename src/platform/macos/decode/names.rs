//! Names for elements that last: the system's references are equal when they mean the same element, but have no name.
//! Each gets a number when it is first met, and keeps it while it is remembered: those that were not met the longest are
//! forgotten when there are too many, and none while somebody reads a window.

use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;

const PREFIX: &str = "ax:";

#[derive(Debug)]
pub struct Names<T> {
    numbers: HashMap<T, u64>,
    /// With the time of their last use, which is counted and not measured.
    things: HashMap<u64, (T, u64)>,
    /// By the time of their last use.
    order: BTreeMap<u64, u64>,
    next: u64,
    uses: u64,
    readers: usize,
    most: usize,
}

impl<T: Hash + Eq + Clone> Names<T> {
    pub fn new(most: usize) -> Self {
        Self {
            numbers: HashMap::new(),
            things: HashMap::new(),
            order: BTreeMap::new(),
            next: 1,
            uses: 0,
            readers: 0,
            most,
        }
    }

    /// Somebody begins to read. What was not met the longest is forgotten before, unless others read.
    pub fn begin(&mut self) {
        while self.readers == 0
            && self.things.len() > self.most
            && let Some((_, oldest)) = self.order.pop_first()
        {
            if let Some((thing, _)) = self.things.remove(&oldest) {
                self.numbers.remove(&thing);
            }
        }
        self.readers += 1;
    }

    pub fn end(&mut self) {
        self.readers = self.readers.saturating_sub(1);
    }

    /// Whether so many are remembered that nobody should go on reading.
    pub fn is_full(&self) -> bool {
        self.things.len() > self.most.saturating_mul(2)
    }

    /// A number is never given twice, so a name that was forgotten leads nowhere and not to another element.
    pub fn number(&mut self, thing: &T) -> u64 {
        if let Some(number) = self.numbers.get(thing).copied() {
            self.touch(number);
            return number;
        }
        let number = self.next;
        self.next += 1;
        self.numbers.insert(thing.clone(), number);
        self.things.insert(number, (thing.clone(), 0));
        self.touch(number);
        number
    }

    pub fn thing(&mut self, number: u64) -> Option<&T> {
        self.touch(number);
        self.things.get(&number).map(|(thing, _)| thing)
    }

    fn touch(&mut self, number: u64) {
        let Some((_, used)) = self.things.get_mut(&number) else { return };
        self.order.remove(used);
        self.uses += 1;
        *used = self.uses;
        self.order.insert(self.uses, number);
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
        assert_eq!(names.number(&"save"), save);
        assert_eq!(names.thing(save), Some(&"save"));
    }

    /// Numbers of three things, of which two are kept when the next one reads.
    fn three() -> (Names<i32>, [u64; 3]) {
        let mut names = Names::new(2);
        names.begin();
        let numbers = [names.number(&1), names.number(&2), names.number(&3)];
        (names, numbers)
    }

    #[test]
    fn what_was_not_met_the_longest_is_forgotten_and_leads_nowhere() {
        let (mut names, [first, second, third]) = three();
        assert_eq!(names.thing(first), Some(&1), "it is used");
        names.end();
        names.begin();
        let kept = [first, second, third].map(|number| names.thing(number).copied());
        assert_eq!(kept, [Some(1), None, Some(3)]);
        assert_ne!(names.number(&2), second, "its number is not given again");
        assert!(names.numbers.len() == 3 && names.things.len() == 3 && names.order.len() == 3);
    }

    #[test]
    fn nothing_is_forgotten_while_somebody_reads() {
        let (mut names, [first, ..]) = three();
        names.begin();
        names.end();
        names.begin();
        assert!(names.things.contains_key(&first));
        assert!(!names.is_full());
        (10..20).for_each(|thing| _ = names.number(&thing));
        assert!(names.is_full());
        names.end();
        names.end();
        names.begin();
        assert!(names.things.len() == 2 && !names.things.contains_key(&first));
    }

    #[test]
    fn names_are_read_back() {
        assert_eq!(number_of(&native(17)), Some(17));
        for foreign in ["17", "ax:", "ax:x", ":1.7/org/a11y", "ax:-1"] {
            assert_eq!(number_of(foreign), None, "{foreign}");
        }
    }
}
