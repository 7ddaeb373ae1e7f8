//! Which keys a combination and a text are, in Windows' own numbers.
//!
//! Text is typed as characters and not as keys, so that it is the same on every layout. Combinations are keys: with a
//! modifier a letter or a digit has the number of its own sign, because that is what programs compare; alone, it and all
//! other signs stand where the layout has them, because that is what a program gets to read.

use crate::error::{Error, Result};
use crate::model::input::{Key, Modifier};
use crate::model::{KeyCombo, NamedKey};

/// A key by its number. Those that old keyboards did not have say so, or the number pad is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Vk {
    pub code: u16,
    pub extended: bool,
}

/// One event of a keyboard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    Down(Vk),
    Up(Vk),
    /// A part of a character, pressed and let go.
    Unit(u16),
}

/// Where the layout has a character: the key's number, and whether shift, ctrl and alt make it that character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placed {
    pub code: u8,
    pub shift: bool,
    pub ctrl: bool,
    pub alt: bool,
}

impl Placed {
    /// As `VkKeyScanW` answers: the key in the low byte, what is held in the high one, all ones for nothing.
    pub fn of(answer: i16) -> Option<Self> {
        let [code, held] = answer.to_le_bytes();
        let has = |bit: u8| held & bit != 0;
        (answer != -1).then(|| Placed { code, shift: has(1), ctrl: has(2), alt: has(4) })
    }
}

const fn plain(code: u16) -> Vk {
    Vk { code, extended: false }
}

const fn extended(code: u16) -> Vk {
    Vk { code, extended: true }
}

const fn named(key: NamedKey) -> Vk {
    match key {
        NamedKey::Enter => plain(0x0d),
        NamedKey::Tab => plain(0x09),
        NamedKey::Escape => plain(0x1b),
        NamedKey::Space => plain(0x20),
        NamedKey::Backspace => plain(0x08),
        NamedKey::Delete => extended(0x2e),
        NamedKey::Insert => extended(0x2d),
        NamedKey::Home => extended(0x24),
        NamedKey::End => extended(0x23),
        NamedKey::PageUp => extended(0x21),
        NamedKey::PageDown => extended(0x22),
        NamedKey::Up => extended(0x26),
        NamedKey::Down => extended(0x28),
        NamedKey::Left => extended(0x25),
        NamedKey::Right => extended(0x27),
        NamedKey::Menu => extended(0x5d),
        NamedKey::PrintScreen => extended(0x2c),
        NamedKey::Pause => plain(0x13),
        NamedKey::CapsLock => plain(0x14),
        NamedKey::NumLock => extended(0x90),
        NamedKey::ScrollLock => plain(0x91),
        NamedKey::F1 => plain(0x70),
        NamedKey::F2 => plain(0x71),
        NamedKey::F3 => plain(0x72),
        NamedKey::F4 => plain(0x73),
        NamedKey::F5 => plain(0x74),
        NamedKey::F6 => plain(0x75),
        NamedKey::F7 => plain(0x76),
        NamedKey::F8 => plain(0x77),
        NamedKey::F9 => plain(0x78),
        NamedKey::F10 => plain(0x79),
        NamedKey::F11 => plain(0x7a),
        NamedKey::F12 => plain(0x7b),
    }
}

pub const fn modifier(modifier: Modifier) -> Vk {
    match modifier {
        Modifier::Ctrl => plain(0x11),
        Modifier::Alt => plain(0x12),
        Modifier::Shift => plain(0x10),
        Modifier::Meta => extended(0x5b),
    }
}

/// All keys that a person may hold down to change the meaning of others, left and right: letting go of one is no use to
/// the other.
pub const HELD: [Vk; 8] = [
    plain(0xa0),    // shift
    plain(0xa1),    // right shift
    plain(0xa2),    // ctrl
    extended(0xa3), // right ctrl
    plain(0xa4),    // alt
    extended(0xa5), // right alt, or AltGr
    extended(0x5b), // the left key with the logo
    extended(0x5c), // the right one
];

/// The events of a combination, in their order. `layout` tells where a character is.
pub fn combination(combo: &KeyCombo, layout: impl Fn(char) -> Option<Placed>) -> Result<Vec<Event>> {
    let mut held: Vec<Vk> = combo.modifiers.iter().map(|it| modifier(*it)).collect();
    let key = match &combo.key {
        Key::Modifier(it) => modifier(*it),
        Key::Named(key) => named(*key),
        Key::Character(character) if character.is_ascii_alphanumeric() && !combo.modifiers.is_empty() => {
            plain(u16::from(character.to_ascii_uppercase() as u8))
        }
        Key::Character(character) => match layout(*character) {
            Some(placed) => {
                let needs = [
                    (placed.shift, Modifier::Shift),
                    (placed.ctrl, Modifier::Ctrl),
                    (placed.alt, Modifier::Alt),
                ];
                let needed = needs.into_iter().filter(|(needed, _)| *needed).map(|(_, it)| modifier(it));
                let missing: Vec<Vk> = needed.filter(|it| !held.contains(it)).collect();
                held.extend(missing);
                plain(u16::from(placed.code))
            }
            // Alone it is a text; with ctrl it is a key, and there is none.
            None if combo.modifiers.is_empty() => return Ok(text(&character.to_string())),
            None => return Err(no_key(*character)),
        },
    };
    let downs = held.iter().map(|it| Event::Down(*it));
    let ups = held.iter().rev().map(|it| Event::Up(*it));
    Ok(downs.chain([Event::Down(key), Event::Up(key)]).chain(ups).collect())
}

fn no_key(character: char) -> Error {
    Error::bad_request(format!("the keyboard layout of this session has no key for '{character}'"))
        .with("field", "keys")
}

/// The events of a text. Ends of lines and tabs are keys: fields do with them what a person's keys would.
pub fn text(text: &str) -> Vec<Event> {
    let mut events = Vec::with_capacity(text.len());
    let mut before = '\0';
    for character in text.chars() {
        match character {
            '\n' if before == '\r' => {}
            '\r' | '\n' => events.extend(tap_events(plain(0x0d))),
            '\t' => events.extend(tap_events(plain(0x09))),
            other => events.extend(other.encode_utf16(&mut [0; 2]).iter().map(|unit| Event::Unit(*unit))),
        }
        before = character;
    }
    events
}

fn tap_events(key: Vk) -> [Event; 2] {
    [Event::Down(key), Event::Up(key)]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A German layout, as far as it matters.
    fn german(character: char) -> Option<Placed> {
        let placed = |code, shift, ctrl, alt| Some(Placed { code, shift, ctrl, alt });
        match character {
            'a' => placed(0x41, false, false, false),
            '1' => placed(0x31, false, false, false),
            '+' => placed(0xbb, false, false, false),
            '?' => placed(0xdb, true, false, false),
            '@' => placed(0x51, false, true, true),
            _ => None,
        }
    }

    /// A French layout, which has its digits above its signs; it stands for one without Latin letters too.
    fn french(character: char) -> Option<Placed> {
        match character {
            '1' => Some(Placed { code: 0x31, shift: true, ctrl: false, alt: false }),
            '&' => Some(Placed { code: 0x31, shift: false, ctrl: false, alt: false }),
            _ => None,
        }
    }

    #[track_caller]
    fn check(keys: &str, expected: &str) {
        check_on(german, keys, expected);
    }

    #[track_caller]
    fn check_on(layout: fn(char) -> Option<Placed>, keys: &str, expected: &str) {
        let events = combination(&KeyCombo::parse(keys).unwrap(), layout);
        let shown = match events {
            Err(error) => error.message,
            Ok(events) => events.iter().map(shown).collect::<Vec<_>>().join(" "),
        };
        assert_eq!(shown, expected, "{keys}");
    }

    fn shown(event: &Event) -> String {
        let key = |sign: char, key: &Vk| {
            let extended = if key.extended { "e" } else { "" };
            format!("{sign}{:02x}{extended}", key.code)
        };
        match event {
            Event::Down(down) => key('+', down),
            Event::Up(up) => key('-', up),
            Event::Unit(unit) => format!("u{unit:04x}"),
        }
    }

    #[test]
    fn modifiers_embrace_the_key() {
        check("ctrl+s", "+11 +53 -53 -11");
        check("ctrl+shift+T", "+11 +10 +54 -54 -10 -11");
        check("alt+f4", "+12 +73 -73 -12");
        check("meta", "+5be -5be");
        check("delete", "+2ee -2ee");
        check("a", "+41 -41");
    }

    #[test]
    fn signs_are_where_the_layout_has_them() {
        check("ctrl++", "+11 +bb -bb -11");
        check("ctrl+?", "+11 +10 +db -db -10 -11");
        check("@", "+11 +12 +51 -51 -12 -11");
        check("ctrl+@", "+11 +12 +51 -51 -12 -11");
        check("é", "u00e9");
        check("ctrl+é", "the keyboard layout of this session has no key for 'é'");
    }

    #[test]
    fn a_digit_alone_is_the_digit_and_with_ctrl_its_key() {
        check("1", "+31 -31");
        check_on(french, "1", "+10 +31 -31 -10");
        check_on(french, "ctrl+1", "+11 +31 -31 -11");
        check_on(french, "shift+1", "+10 +31 -31 -10");
        check_on(french, "&", "+31 -31");
        check_on(french, "a", "u0061");
        check_on(french, "ctrl+a", "+11 +41 -41 -11");
    }

    #[test]
    fn both_sides_of_every_modifier_are_let_go_of() {
        for side in [0x10, 0x11, 0x12] {
            let first = 0xa0 + (side - 0x10) * 2;
            assert!(
                [first, first + 1].iter().all(|code| HELD.iter().any(|key| key.code == *code)),
                "{side:x}"
            );
        }
        assert!(HELD.contains(&modifier(Modifier::Meta)));
    }

    #[test]
    fn texts_are_characters_and_line_ends_are_keys() {
        let typed = |it: &str| text(it).iter().map(shown).collect::<Vec<_>>().join(" ");
        assert_eq!(typed("aß"), "u0061 u00df");
        assert_eq!(typed("😀"), "ud83d ude00");
        assert_eq!(typed("a\r\nb\nc\t"), "u0061 +0d -0d u0062 +0d -0d u0063 +09 -09");
        assert_eq!(typed(""), "");
    }

    #[test]
    fn no_two_named_keys_are_the_same_key() {
        let keys: std::collections::HashSet<Vk> = NamedKey::all().map(named).collect();
        assert_eq!(keys.len(), NamedKey::all().count());
    }

    #[test]
    fn the_layouts_answer_is_taken_apart() {
        assert_eq!(Placed::of(-1), None);
        assert_eq!(Placed::of(0x0651), Some(Placed { code: 0x51, shift: false, ctrl: true, alt: true }));
        assert_eq!(Placed::of(0x01db), Some(Placed { code: 0xdb, shift: true, ctrl: false, alt: false }));
    }
}
