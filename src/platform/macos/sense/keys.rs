//! Which key of a keyboard is meant, by the numbers that macOS gives to places on it, and how a text is cut for typing.
//!
//! Texts are sent as texts and need no layout. Combinations are pressed where the American layout has their letter: the
//! layout that is in use can only be asked for on the main thread of a program with windows.

use crate::error::{Error, Kind, Result};
use crate::model::action::{Key, Modifier};

/// An event carries no more than so many units of UTF-16.
const MOST_UNITS: usize = 20;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    Text(String),
    Key(u16),
}

const RETURN: u16 = 0x24;
const TAB: u16 = 0x30;

/// The texts and keys that a text is typed by, in order. Nothing is cut in the middle of a character.
pub fn pieces(text: &str) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    let mut run = String::new();
    let mut units = 0;
    let flush = |run: &mut String, pieces: &mut Vec<Piece>| {
        if !run.is_empty() {
            pieces.push(Piece::Text(std::mem::take(run)));
        }
    };
    for character in text.replace("\r\n", "\n").chars() {
        let key = match character {
            '\n' | '\r' => Some(RETURN),
            '\t' => Some(TAB),
            _ => None,
        };
        if key.is_some() || units + character.len_utf16() > MOST_UNITS {
            flush(&mut run, &mut pieces);
            units = 0;
        }
        match key {
            Some(key) => pieces.push(Piece::Key(key)),
            None => {
                run.push(character);
                units += character.len_utf16();
            }
        }
    }
    flush(&mut run, &mut pieces);
    pieces
}

/// Where a key is, and whether shift is held for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    pub code: u16,
    pub shift: bool,
}

pub fn place(key: &Key) -> Result<Place> {
    match key {
        Key::Modifier(modifier) => Ok(Place { code: modifier_code(*modifier), shift: false }),
        Key::Named(name) => {
            let code = NAMED.iter().find(|(known, _)| known == name).and_then(|(_, code)| *code);
            code.map(|code| Place { code, shift: false }).ok_or_else(|| missing(name))
        }
        Key::Character(character) => of_character(*character).ok_or_else(|| missing(&character.to_string())),
    }
}

fn missing(key: &str) -> Error {
    let message = format!("a Mac's keyboard has no key '{key}'; type_text writes any character");
    Error::new(Kind::PatternUnsupported, message).with("field", "keys")
}

fn of_character(character: char) -> Option<Place> {
    let plain = |code: u16| Place { code, shift: false };
    if let Some((_, code)) = PLAIN.iter().find(|(known, _)| *known == character) {
        return Some(plain(*code));
    }
    if character.is_ascii_uppercase() {
        return of_character(character.to_ascii_lowercase()).map(|place| Place { shift: true, ..place });
    }
    let (_, below) = SHIFTED.iter().find(|(known, _)| *known == character)?;
    of_character(*below).map(|place| Place { shift: true, ..place })
}

pub const fn modifier_code(modifier: Modifier) -> u16 {
    match modifier {
        Modifier::Ctrl => 0x3b,
        Modifier::Alt => 0x3a,
        Modifier::Shift => 0x38,
        Modifier::Meta => 0x37,
    }
}

/// `None` for keys that no Mac has.
const NAMED: &[(&str, Option<u16>)] = &[
    ("enter", Some(RETURN)),
    ("tab", Some(TAB)),
    ("escape", Some(0x35)),
    ("space", Some(0x31)),
    ("backspace", Some(0x33)),
    ("delete", Some(0x75)),
    ("insert", Some(0x72)),
    ("home", Some(0x73)),
    ("end", Some(0x77)),
    ("pageup", Some(0x74)),
    ("pagedown", Some(0x79)),
    ("up", Some(0x7e)),
    ("down", Some(0x7d)),
    ("left", Some(0x7b)),
    ("right", Some(0x7c)),
    ("menu", Some(0x6e)),
    ("printscreen", None),
    ("pause", None),
    ("capslock", Some(0x39)),
    ("numlock", Some(0x47)),
    ("scrolllock", None),
    ("f1", Some(0x7a)),
    ("f2", Some(0x78)),
    ("f3", Some(0x63)),
    ("f4", Some(0x76)),
    ("f5", Some(0x60)),
    ("f6", Some(0x61)),
    ("f7", Some(0x62)),
    ("f8", Some(0x64)),
    ("f9", Some(0x65)),
    ("f10", Some(0x6d)),
    ("f11", Some(0x67)),
    ("f12", Some(0x6f)),
];

const PLAIN: &[(char, u16)] = &[
    ('a', 0x00),
    ('s', 0x01),
    ('d', 0x02),
    ('f', 0x03),
    ('h', 0x04),
    ('g', 0x05),
    ('z', 0x06),
    ('x', 0x07),
    ('c', 0x08),
    ('v', 0x09),
    ('b', 0x0b),
    ('q', 0x0c),
    ('w', 0x0d),
    ('e', 0x0e),
    ('r', 0x0f),
    ('y', 0x10),
    ('t', 0x11),
    ('1', 0x12),
    ('2', 0x13),
    ('3', 0x14),
    ('4', 0x15),
    ('6', 0x16),
    ('5', 0x17),
    ('=', 0x18),
    ('9', 0x19),
    ('7', 0x1a),
    ('-', 0x1b),
    ('8', 0x1c),
    ('0', 0x1d),
    (']', 0x1e),
    ('o', 0x1f),
    ('u', 0x20),
    ('[', 0x21),
    ('i', 0x22),
    ('p', 0x23),
    ('l', 0x25),
    ('j', 0x26),
    ('\'', 0x27),
    ('k', 0x28),
    (';', 0x29),
    ('\\', 0x2a),
    (',', 0x2b),
    ('/', 0x2c),
    ('n', 0x2d),
    ('m', 0x2e),
    ('.', 0x2f),
    (' ', 0x31),
    ('`', 0x32),
];

/// The character that is on the same key without shift.
const SHIFTED: &[(char, char)] = &[
    ('!', '1'),
    ('@', '2'),
    ('#', '3'),
    ('$', '4'),
    ('%', '5'),
    ('^', '6'),
    ('&', '7'),
    ('*', '8'),
    ('(', '9'),
    (')', '0'),
    ('_', '-'),
    ('+', '='),
    ('{', '['),
    ('}', ']'),
    ('|', '\\'),
    (':', ';'),
    ('"', '\''),
    ('<', ','),
    ('>', '.'),
    ('?', '/'),
    ('~', '`'),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::KeyCombo;
    use proptest::prelude::*;

    fn check(keys: &str, expected: Option<(u16, bool)>) {
        let combo = KeyCombo::parse(keys).unwrap();
        let found = place(&combo.key).ok().map(|place| (place.code, place.shift));
        assert_eq!(found, expected, "{keys}");
    }

    #[test]
    fn keys_are_where_the_american_layout_has_them() {
        check("cmd+s", Some((0x01, false)));
        check("?", Some((0x2c, true)));
        check("ctrl++", Some((0x18, true)));
        check("return", Some((0x24, false)));
        check("f12", Some((0x6f, false)));
        check("shift", Some((0x38, false)));
        check("pause", None);
        check("é", None);
        assert_eq!(place(&Key::Character('Q')).unwrap(), Place { code: 0x0c, shift: true });
    }

    #[test]
    fn every_printed_character_of_ascii_has_a_key() {
        for character in ' '..='~' {
            assert!(of_character(character).is_some(), "{character}");
        }
    }

    #[test]
    fn every_named_key_is_known_here_too() {
        let message = KeyCombo::parse("no-such-key").unwrap_err();
        let names = message.rsplit(" and ").next().unwrap();
        for name in names.split_whitespace() {
            assert!(NAMED.iter().any(|(known, _)| *known == name), "{name} of {message}");
        }
    }

    #[test]
    fn lines_and_tabs_are_keys() {
        let text = |text: &str| Piece::Text(text.to_owned());
        assert_eq!(
            pieces("a\tb\r\nc"),
            [text("a"), Piece::Key(TAB), text("b"), Piece::Key(RETURN), text("c")]
        );
        assert_eq!(pieces(""), []);
        assert_eq!(pieces(&"😀".repeat(11)), [text(&"😀".repeat(10)), text("😀")]);
    }

    proptest! {
        #[test]
        fn nothing_of_a_text_is_lost_and_no_piece_is_too_long(typed in "\\PC{0,80}") {
            let pieces = pieces(&typed);
            let mut joined = String::new();
            for piece in &pieces {
                if let Piece::Text(text) = piece {
                    prop_assert!(text.encode_utf16().count() <= MOST_UNITS);
                    joined.push_str(text);
                }
            }
            prop_assert_eq!(joined, typed);
        }
    }
}
