//! Which key of a keyboard is meant, by the numbers that macOS gives to places on it, and how a text is cut for typing.
//!
//! Texts are sent as texts and need no layout. Combinations are pressed where the layout that is in use has their
//! letter: on a French keyboard Cmd+A by its place on an American one would be Cmd+Q, which ends programs.

use crate::error::{Error, Kind, Result};
use crate::model::input::{Key, Modifier};
use crate::model::{KeyCombo, NamedKey};

/// An event carries no more than so many units of UTF-16.
const MOST_UNITS: usize = 20;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TypedPiece {
    Text(String),
    Key(u16),
}

const RETURN: u16 = 0x24;
const TAB: u16 = 0x30;
pub const CAPS_LOCK: u16 = 0x39;

/// The texts and keys that a text is typed by, in order. Nothing is cut in the middle of a character.
pub fn split_text(text: &str) -> Vec<TypedPiece> {
    let mut pieces: Vec<TypedPiece> = Vec::new();
    let mut run = String::new();
    let mut units = 0;
    let flush = |run: &mut String, pieces: &mut Vec<TypedPiece>| {
        if !run.is_empty() {
            pieces.push(TypedPiece::Text(std::mem::take(run)));
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
            Some(key) => pieces.push(TypedPiece::Key(key)),
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

impl Place {
    fn plain(code: u16) -> Self {
        Self { code, shift: false }
    }

    fn with_shift(self) -> Self {
        Self { shift: true, ..self }
    }
}

/// Where the key of a combination is. `layout` is asked for where a letter is meant and not a key with a name.
pub fn place(combo: &KeyCombo, layout: impl FnOnce() -> Layout) -> Result<Place> {
    match &combo.key {
        Key::Modifier(modifier) => Ok(Place::plain(modifier_code(*modifier))),
        Key::Named(key) => {
            named_code(*key).map(Place::plain).ok_or_else(|| missing(key.name(), "a Mac's keyboard"))
        }
        Key::Character(character) => {
            let place = layout().place(*character, combo.modifiers.contains(&Modifier::Meta));
            place.ok_or_else(|| missing(&character.to_string(), "the keyboard layout that is in use"))
        }
    }
}

fn missing(key: &str, whose: &str) -> Error {
    let message = format!("{whose} has no key '{key}'; type_text writes any character");
    Error::new(Kind::PatternUnsupported, message).with("field", "keys")
}

/// What is held while a key writes something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layer {
    Plain,
    Shift,
    /// Some layouts have other letters for shortcuts: Dvorak with the American ones, all that are not Latin.
    Command,
}

/// What a key writes, as the system tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    pub code: u16,
    pub layer: Layer,
    pub text: String,
}

/// The characters of the layout that is in use, each with the key that writes it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    keys: Vec<(Layer, char, u16)>,
}

impl Layout {
    pub fn of(written: impl IntoIterator<Item = Written>) -> Self {
        let key = |written: Written| {
            let mut characters = written.text.chars();
            let character = characters.next().filter(|_| characters.next().is_none())?;
            let counts = is_printed(character) && !is_keypad(written.code);
            counts.then_some((written.layer, character, written.code))
        };
        Self { keys: written.into_iter().filter_map(key).collect() }
    }

    /// Where a character is; `None` when no key has it. A layout without any Latin letter has them where the American
    /// one does, as soon as they are meant for a shortcut; so has one that could not be asked for.
    fn place(&self, character: char, command: bool) -> Option<Place> {
        let is_letter = |(_, character, _): &(Layer, char, u16)| character.is_ascii_alphabetic();
        let own = if command { self.for_command(character) } else { None };
        let own = own.or_else(|| self.written_by(character)).or_else(|| self.for_command(character));
        own.or_else(|| if self.keys.iter().any(is_letter) { None } else { us_place(character) })
    }

    fn find(&self, layer: Layer, character: char) -> Option<Place> {
        let found = self.keys.iter().find(|(known, written, _)| (*known, *written) == (layer, character));
        found.map(|(.., code)| Place::plain(*code))
    }

    fn written_by(&self, character: char) -> Option<Place> {
        let plain = self.find(Layer::Plain, character);
        plain.or_else(|| self.find(Layer::Shift, character).map(Place::with_shift))
    }

    fn for_command(&self, character: char) -> Option<Place> {
        let small = character.to_ascii_lowercase();
        let large = || self.find(Layer::Command, small).filter(|_| small != character).map(Place::with_shift);
        self.find(Layer::Command, character).or_else(large)
    }
}

/// Arrows and the like write characters that nobody sees.
fn is_printed(character: char) -> bool {
    !character.is_control() && !('\u{e000}'..='\u{f8ff}').contains(&character)
}

/// Its digits are not those of shortcuts.
const fn is_keypad(code: u16) -> bool {
    matches!(code, 0x41..=0x5c | 0x5f)
}

fn us_place(character: char) -> Option<Place> {
    if let Some((_, code)) = PLAIN.iter().find(|(known, _)| *known == character) {
        return Some(Place::plain(*code));
    }
    if character.is_ascii_uppercase() {
        return us_place(character.to_ascii_lowercase()).map(Place::with_shift);
    }
    let (_, below) = SHIFTED.iter().find(|(known, _)| *known == character)?;
    us_place(*below).map(Place::with_shift)
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
const fn named_code(key: NamedKey) -> Option<u16> {
    match key {
        NamedKey::Enter => Some(RETURN),
        NamedKey::Tab => Some(TAB),
        NamedKey::Escape => Some(0x35),
        NamedKey::Space => Some(0x31),
        NamedKey::Backspace => Some(0x33),
        NamedKey::Delete => Some(0x75),
        NamedKey::Insert => Some(0x72),
        NamedKey::Home => Some(0x73),
        NamedKey::End => Some(0x77),
        NamedKey::PageUp => Some(0x74),
        NamedKey::PageDown => Some(0x79),
        NamedKey::Up => Some(0x7e),
        NamedKey::Down => Some(0x7d),
        NamedKey::Left => Some(0x7b),
        NamedKey::Right => Some(0x7c),
        NamedKey::Menu => Some(0x6e),
        NamedKey::PrintScreen => None,
        NamedKey::Pause => None,
        NamedKey::CapsLock => Some(CAPS_LOCK),
        NamedKey::NumLock => Some(0x47),
        NamedKey::ScrollLock => None,
        NamedKey::F1 => Some(0x7a),
        NamedKey::F2 => Some(0x78),
        NamedKey::F3 => Some(0x63),
        NamedKey::F4 => Some(0x76),
        NamedKey::F5 => Some(0x60),
        NamedKey::F6 => Some(0x61),
        NamedKey::F7 => Some(0x62),
        NamedKey::F8 => Some(0x64),
        NamedKey::F9 => Some(0x65),
        NamedKey::F10 => Some(0x6d),
        NamedKey::F11 => Some(0x67),
        NamedKey::F12 => Some(0x6f),
    }
}

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
    use proptest::prelude::*;

    /// The keys of a keyboard in rows, by what an American one has on them.
    const KEYS: &str = "`1234567890-=qwertyuiop[]\\asdfghjkl;'zxcvbnm,./";
    const KEYS_WITH_SHIFT: &str = "~!@#$%^&*()_+QWERTYUIOP{}|ASDFGHJKL:\"ZXCVBNM<>?";
    // A dead key writes nothing by itself; it stands as '\0' here.
    const FRENCH: &str = "@&é\"'(§è!çà)-azertyuiop\0$`qsdfghjklmùwxcvbn,;:=";
    const FRENCH_WITH_SHIFT: &str = "#1234567890°_AZERTYUIOP\0*£QSDFGHJKLM%WXCVBN?./+";
    const DVORAK: &str = "`1234567890[]',.pyfgcrl/=\\aoeuidhtns-;qjkxbmwvz";
    const DVORAK_WITH_SHIFT: &str = "~!@#$%^&*(){}\"<>PYFGCRL?+|AOEUIDHTNS_:QJKXBMWVZ";
    const RUSSIAN: &str = "]1234567890-=йцукенгшщзхъёфывапролджэячсмитьбю/";
    const RUSSIAN_WITH_SHIFT: &str = "[!\"№%:,.;()_+ЙЦУКЕНГШЩЗХЪЁФЫВАПРОЛДЖЭЯЧСМИТЬБЮ?";

    fn code(on_an_american_keyboard: char) -> u16 {
        PLAIN.iter().find(|(known, _)| *known == on_an_american_keyboard).unwrap().1
    }

    fn layout(plain: &str, shift: &str, command: &str) -> Layout {
        let rows = [(Layer::Plain, plain), (Layer::Shift, shift), (Layer::Command, command)];
        let keys = rows.iter().flat_map(|(layer, row)| {
            let text = |written: char| if written == '\0' { String::new() } else { written.to_string() };
            KEYS.chars().zip(row.chars()).map(move |(key, written)| Written {
                code: code(key),
                layer: *layer,
                text: text(written),
            })
        });
        // What other keys write is no character of a combination.
        let others = [(0x24, "\r"), (0x35, "\u{1b}"), (0x7e, "\u{f700}"), (0x53, "1"), (0x0a, "ab")];
        let others = others.map(|(code, text)| Written { code, layer: Layer::Plain, text: text.to_owned() });
        Layout::of(others.into_iter().chain(keys))
    }

    fn check(keys: &str, layout: &Layout, expected: Option<(u16, bool)>) {
        let combo = KeyCombo::parse(keys).unwrap();
        let found = place(&combo, || layout.clone()).ok().map(|place| (place.code, place.shift));
        assert_eq!(found, expected, "{keys}");
    }

    #[test]
    fn without_a_layout_keys_are_where_the_american_one_has_them() {
        let none = Layout::default();
        check("cmd+s", &none, Some((0x01, false)));
        check("?", &none, Some((0x2c, true)));
        check("ctrl++", &none, Some((0x18, true)));
        check("return", &none, Some((0x24, false)));
        check("f12", &none, Some((0x6f, false)));
        check("shift", &none, Some((0x38, false)));
        check("pause", &none, None);
        check("é", &none, None);
    }

    #[test]
    fn the_american_layout_is_the_table_that_is_used_without_one() {
        let asked = layout(KEYS, KEYS_WITH_SHIFT, KEYS);
        for character in '!'..='~' {
            assert!(us_place(character).is_some(), "{character}");
            for command in [false, true] {
                assert_eq!(asked.place(character, command), us_place(character), "{character}");
            }
        }
        assert_eq!(us_place(' '), Some(Place::plain(0x31)));
    }

    #[test]
    fn select_all_on_a_french_keyboard_does_not_quit() {
        let french = layout(FRENCH, FRENCH_WITH_SHIFT, FRENCH);
        check("cmd+a", &french, Some((code('q'), false)));
        check("cmd+q", &french, Some((code('a'), false)));
        check("cmd+z", &french, Some((code('w'), false)));
        check("cmd+m", &french, Some((code(';'), false)));
        check("cmd+1", &french, Some((code('1'), true)));
        check("é", &french, Some((code('2'), false)));
        assert_eq!(french.place('Q', true), Some(Place { code: code('a'), shift: true }));
        assert_eq!(french.place('Q', false), Some(Place { code: code('a'), shift: true }));
        check("cmd+enter", &french, Some((RETURN, false)));
    }

    #[test]
    fn a_letter_that_no_key_has_is_refused() {
        let french = layout(FRENCH, FRENCH_WITH_SHIFT, FRENCH);
        check("^", &french, None);
        check("cmd+ж", &french, None);
        let combo = KeyCombo::parse("cmd+ñ").unwrap();
        let refused = place(&combo, || french).unwrap_err();
        assert!(refused.message.contains("layout that is in use has no key 'ñ'"), "{refused}");
    }

    #[test]
    fn shortcuts_may_have_letters_of_their_own() {
        let dvorak = layout(DVORAK, DVORAK_WITH_SHIFT, DVORAK);
        check("cmd+c", &dvorak, Some((code('i'), false)));
        let mixed = layout(DVORAK, DVORAK_WITH_SHIFT, KEYS);
        check("cmd+c", &mixed, Some((code('c'), false)));
        check("cmd+shift+c", &mixed, Some((code('c'), false)));
        check("ctrl+c", &mixed, Some((code('i'), false)));
        assert_eq!(mixed.place('C', true), Some(Place { code: code('c'), shift: true }));
    }

    #[test]
    fn a_layout_that_is_not_latin_has_shortcuts_all_the_same() {
        for command in [KEYS, RUSSIAN] {
            let russian = layout(RUSSIAN, RUSSIAN_WITH_SHIFT, command);
            check("cmd+c", &russian, Some((code('c'), false)));
            check("ctrl+c", &russian, Some((code('c'), false)));
            check("ы", &russian, Some((code('s'), false)));
            check("cmd+1", &russian, Some((code('1'), false)));
        }
    }

    #[test]
    fn a_mac_lacks_three_keys() {
        let lacking: Vec<NamedKey> = NamedKey::all().filter(|key| named_code(*key).is_none()).collect();
        assert_eq!(lacking, [NamedKey::PrintScreen, NamedKey::Pause, NamedKey::ScrollLock]);
    }

    #[test]
    fn lines_and_tabs_are_keys() {
        let text = |text: &str| TypedPiece::Text(text.to_owned());
        assert_eq!(
            split_text("a\tb\r\nc"),
            [text("a"), TypedPiece::Key(TAB), text("b"), TypedPiece::Key(RETURN), text("c")]
        );
        assert_eq!(split_text(""), []);
        assert_eq!(split_text(&"😀".repeat(11)), [text(&"😀".repeat(10)), text("😀")]);
    }

    proptest! {
        #[test]
        fn nothing_of_a_text_is_lost_and_no_piece_is_too_long(typed in "\\PC{0,80}") {
            let pieces = split_text(&typed);
            let mut joined = String::new();
            for piece in &pieces {
                if let TypedPiece::Text(text) = piece {
                    prop_assert!(text.encode_utf16().count() <= MOST_UNITS);
                    joined.push_str(text);
                }
            }
            prop_assert_eq!(joined, typed);
        }
    }
}
