//! Which keys to press for a keysym, on the keyboard as it is laid out now.
//!
//! Characters that the layout lacks are put on keys that it leaves unused. That is a change of the
//! keyboard that every program must hear of, so it is made for many characters at once, kept, and undone
//! never: the oldest give way when others need their keys. Everything here is arithmetic on a copy of the
//! layout; nothing speaks with the server.

use super::keys::{Keysym, LEVEL_3};
use crate::error::{Error, Result};

pub type Keycode = u8;

/// Stands beside every character that we put on a key, so that a later process knows the key again.
const OURS: Keysym = 0x00ff_ffff;
const NOTHING: Keysym = 0;
/// Some toolkits take the first keycode for "no key".
const FIRST_SPARE: Keycode = 9;

/// Columns of the layout's first group, and what must be held down for them: shift, the third level.
const LEVELS: [(usize, bool, bool); 4] =
    [(0, false, false), (1, true, false), (4, false, true), (5, true, true)];

/// A key, and what must be held down for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stroke {
    pub code: Keycode,
    pub shift: bool,
    pub level_3: bool,
}

/// The keyboard as the server describes it: a row of keysyms for every keycode.
#[derive(Clone, Debug)]
pub struct X11Layout {
    first: Keycode,
    per_key: usize,
    keysyms: Vec<Keysym>,
}

impl X11Layout {
    pub fn new(first: Keycode, per_key: u8, keysyms: Vec<Keysym>) -> Self {
        Self { first, per_key: usize::from(per_key).max(1), keysyms }
    }

    fn keycode_rows(&self) -> impl Iterator<Item = (Keycode, &[Keysym])> {
        (self.first..=Keycode::MAX).zip(self.keysyms.chunks_exact(self.per_key))
    }

    /// How to type a keysym; the way that holds down least is taken.
    pub fn find_stroke(&self, keysym: Keysym) -> Option<Stroke> {
        let has_level_3 =
            keysym == LEVEL_3 || self.keycode_rows().any(|(_, row)| row.first() == Some(&LEVEL_3));
        LEVELS.iter().filter(|(_, _, level_3)| has_level_3 || !level_3).find_map(
            |&(column, shift, level_3)| {
                let (code, _) = self.keycode_rows().find(|(_, row)| row.get(column) == Some(&keysym))?;
                Some(Stroke { code, shift, level_3 })
            },
        )
    }

    /// Whether the layout itself has it, as opposed to a key that we gave it.
    fn is_native(&self, keysym: Keysym) -> bool {
        self.find_stroke(keysym).is_some_and(|stroke| !self.own_keys().any(|(code, _)| code == stroke.code))
    }

    /// The keys that we gave characters, now or in an earlier life.
    fn own_keys(&self) -> impl Iterator<Item = (Keycode, Keysym)> {
        let marked = self.keycode_rows().filter(|(_, row)| row.get(1) == Some(&OURS));
        marked.filter_map(|(code, row)| Some((code, *row.first()?)))
    }

    fn unused_keycodes(&self) -> impl Iterator<Item = Keycode> {
        let empty = self.keycode_rows().filter(|(_, row)| row.iter().all(|&keysym| keysym == NOTHING));
        empty.map(|(code, _)| code).filter(|&code| code >= FIRST_SPARE)
    }

    /// How many characters can be on keys of ours at once.
    pub fn capacity(&self) -> usize {
        self.unused_keycodes().count() + self.own_keys().count()
    }

    /// Which key gets which of `wanted`, so that all of them can be typed. `last_used` tells which of our
    /// keys was used how late, the oldest first.
    pub fn assign_keysyms(&self, wanted: &[Keysym], last_used: &[Keycode]) -> Vec<Assignment> {
        let missing = wanted.iter().copied().filter(|&keysym| self.find_stroke(keysym).is_none());
        let age = |code: &Keycode| last_used.iter().position(|used| used == code);
        let mut occupied: Vec<Keycode> =
            self.own_keys().filter(|(_, keysym)| !wanted.contains(keysym)).map(|(code, _)| code).collect();
        occupied.sort_by_key(age);
        let free = self.unused_keycodes().map(|code| (code, false));
        let places = free.chain(occupied.into_iter().map(|code| (code, true)));
        missing
            .zip(places)
            .map(|(keysym, (code, displaces))| Assignment { code, keysym, displaces })
            .collect()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Assignment {
    pub code: Keycode,
    pub keysym: Keysym,
    /// Another character of ours was on the key until now.
    pub displaces: bool,
}

impl Assignment {
    /// The key's new row.
    pub const fn row(&self) -> [Keysym; 2] {
        [self.keysym, OURS]
    }
}

/// A part of a text that can be typed without changing the keyboard in between.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextBatch {
    /// What has to be on keys of ours.
    pub borrowed: Vec<Keysym>,
    pub keysyms: Vec<Keysym>,
}

/// Cuts a text into as few parts as it takes. Fails where the keyboard has no room for a single character.
pub fn split_batches(layout: &X11Layout, keysyms: &[Keysym]) -> Result<Vec<TextBatch>> {
    let capacity = layout.capacity();
    let mut batches: Vec<TextBatch> = Vec::new();
    let mut current = TextBatch { borrowed: Vec::new(), keysyms: Vec::new() };
    let mut native = std::collections::HashMap::new();
    for &keysym in keysyms {
        let is_native = *native.entry(keysym).or_insert_with(|| layout.is_native(keysym));
        if !is_native && !current.borrowed.contains(&keysym) {
            if capacity == 0 {
                return Err(no_room(keysym));
            }
            if current.borrowed.len() == capacity {
                let full =
                    std::mem::replace(&mut current, TextBatch { borrowed: Vec::new(), keysyms: Vec::new() });
                batches.push(full);
            }
            current.borrowed.push(keysym);
        }
        current.keysyms.push(keysym);
    }
    batches.push(current);
    Ok(batches)
}

fn no_room(keysym: Keysym) -> Error {
    let character = char::from_u32(keysym & 0x00ff_ffff).unwrap_or(char::REPLACEMENT_CHARACTER);
    Error::bad_request(format!(
        "the keyboard layout has no key for '{character}' and no unused key to map it to"
    ))
}

#[cfg(test)]
mod tests {
    use super::super::keys::character_keysym;
    use super::*;
    use proptest::prelude::*;

    /// `aA`, `qQ@` with the third level, its key, two unused keys and the one that may not be used.
    fn small() -> X11Layout {
        let rows = [
            (8, [0; 6]),
            (9, [0x61, 0x41, 0x61, 0x41, 0, 0]),
            (10, [0x71, 0x51, 0x71, 0x51, 0x40, 0]),
            (11, [LEVEL_3, 0, 0, 0, 0, 0]),
            (12, [0; 6]),
            (13, [0; 6]),
        ];
        X11Layout::new(8, 6, rows.iter().flat_map(|(_, row)| *row).collect())
    }

    fn apply(layout: &mut X11Layout, assignments: &[Assignment]) {
        for assignment in assignments {
            let start = usize::from(assignment.code - layout.first) * layout.per_key;
            layout.keysyms[start..start + 2].copy_from_slice(&assignment.row());
        }
    }

    #[track_caller]
    fn check_stroke(character: char, expected: Option<(Keycode, bool, bool)>) {
        let found = small().find_stroke(character_keysym(character).unwrap());
        assert_eq!(found.map(|stroke| (stroke.code, stroke.shift, stroke.level_3)), expected, "{character}");
    }

    #[test]
    fn levels_are_reached_by_shift_and_the_third_level() {
        check_stroke('a', Some((9, false, false)));
        check_stroke('Q', Some((10, true, false)));
        check_stroke('@', Some((10, false, true)));
        check_stroke('é', None);
    }

    #[test]
    fn unused_keys_are_taken_first_then_the_oldest() {
        let mut layout = small();
        let [one, two, three] = [0x0100_4e00, 0x0100_4e01, 0x0100_4e02];
        let first = layout.assign_keysyms(&[one, two], &[]);
        assert_eq!(
            first.iter().map(|it| (it.code, it.displaces)).collect::<Vec<_>>(),
            [(12, false), (13, false)]
        );
        apply(&mut layout, &first);
        assert_eq!(layout.capacity(), 2);
        assert!(layout.assign_keysyms(&[one, two], &[]).is_empty(), "they are there already");
        let third = layout.assign_keysyms(&[three], &[13, 12]);
        assert_eq!(third, [Assignment { code: 13, keysym: three, displaces: true }]);
        let beside = layout.assign_keysyms(&[two, three], &[13, 12]);
        assert_eq!(beside, [Assignment { code: 12, keysym: three, displaces: true }], "what is wanted stays");
    }

    #[test]
    fn a_keyboard_without_room_says_so() {
        let full = X11Layout::new(9, 2, vec![0x61, 0x41]);
        assert!(split_batches(&full, &[0x61]).is_ok());
        let error = split_batches(&full, &[character_keysym('漢').unwrap()]).unwrap_err();
        assert!(error.message.contains("'漢'"), "{error}");
    }

    proptest! {
        /// Batch by batch the keyboard can type everything, and the whole is the text.
        #[test]
        fn every_text_can_be_typed(text in prop::collection::vec(prop::sample::select(vec!['a', 'Q', '@', 'é', '漢', '字', '→', '🎉']), 0..40)) {
            let mut layout = small();
            let keysyms: Vec<Keysym> = text.iter().map(|c| character_keysym(*c).unwrap()).collect();
            let batches = split_batches(&layout, &keysyms).unwrap();
            let mut typed = Vec::new();
            for batch in batches {
                let assigned = layout.assign_keysyms(&batch.borrowed, &[]);
                apply(&mut layout, &assigned);
                for keysym in batch.keysyms {
                    prop_assert!(layout.find_stroke(keysym).is_some());
                    typed.push(keysym);
                }
            }
            prop_assert_eq!(typed, keysyms);
        }
    }
}
