//! Notices a job that makes the same call again and again while nothing changes.

use std::hash::{DefaultHasher, Hash, Hasher};

/// After so many equal calls the planner is told.
const HINT_AT: u32 = 3;
/// After so many the job ends.
const STALLED_AT: u32 = 6;

#[derive(Debug, Default)]
pub struct Repeats {
    last: Option<u64>,
    count: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repetition {
    None,
    Hint,
    Stalled,
}

impl Repeats {
    /// Notes a call and what came of it.
    pub fn note(&mut self, tool: &str, args: &str, reply: &str) -> Repetition {
        let mut hasher = DefaultHasher::new();
        (tool, args, reply).hash(&mut hasher);
        let key = hasher.finish();
        self.count = if self.last == Some(key) { self.count + 1 } else { 1 };
        self.last = Some(key);
        match self.count {
            STALLED_AT.. => Repetition::Stalled,
            HINT_AT => Repetition::Hint,
            _ => Repetition::None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(calls: &[(&str, &str)], expected: &[Repetition]) {
        let mut repeats = Repeats::default();
        let got: Vec<Repetition> =
            calls.iter().map(|(args, reply)| repeats.note("look", args, reply)).collect();
        assert_eq!(got, expected);
    }

    #[test]
    fn equal_calls_are_told_and_then_ended() {
        use Repetition::{Hint, None, Stalled};
        check(&[("a", "x"); 7], &[None, None, Hint, None, None, Stalled, Stalled]);
    }

    #[test]
    fn another_reply_or_another_call_begins_anew() {
        use Repetition::{Hint, None};
        check(&[("a", "x"), ("a", "x"), ("a", "y"), ("a", "y"), ("a", "y")], &[None, None, None, None, Hint]);
        check(&[("a", "x"), ("b", "x"), ("a", "x"), ("b", "x")], &[None; 4]);
    }
}
