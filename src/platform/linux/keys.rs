//! The numbers that X11 has for characters and named keys, wherever they are on a keyboard.

use crate::error::{Error, Result};
use crate::model::NamedKey;
use crate::model::input::{Key, Modifier};

/// The number of a character or key in the X11 protocol.
pub type Keysym = u32;

pub const SHIFT: Keysym = 0xffe1;
pub const LEVEL_3: Keysym = 0xfe03;

const fn named_keysym(key: NamedKey) -> Keysym {
    match key {
        NamedKey::Enter => 0xff0d,
        NamedKey::Tab => 0xff09,
        NamedKey::Escape => 0xff1b,
        NamedKey::Space => 0x0020,
        NamedKey::Backspace => 0xff08,
        NamedKey::Delete => 0xffff,
        NamedKey::Insert => 0xff63,
        NamedKey::Home => 0xff50,
        NamedKey::End => 0xff57,
        NamedKey::PageUp => 0xff55,
        NamedKey::PageDown => 0xff56,
        NamedKey::Up => 0xff52,
        NamedKey::Down => 0xff54,
        NamedKey::Left => 0xff51,
        NamedKey::Right => 0xff53,
        NamedKey::Menu => 0xff67,
        NamedKey::PrintScreen => 0xff61,
        NamedKey::Pause => 0xff13,
        NamedKey::CapsLock => 0xffe5,
        NamedKey::NumLock => 0xff7f,
        NamedKey::ScrollLock => 0xff14,
        NamedKey::F1 => 0xffbe,
        NamedKey::F2 => 0xffbf,
        NamedKey::F3 => 0xffc0,
        NamedKey::F4 => 0xffc1,
        NamedKey::F5 => 0xffc2,
        NamedKey::F6 => 0xffc3,
        NamedKey::F7 => 0xffc4,
        NamedKey::F8 => 0xffc5,
        NamedKey::F9 => 0xffc6,
        NamedKey::F10 => 0xffc7,
        NamedKey::F11 => 0xffc8,
        NamedKey::F12 => 0xffc9,
    }
}

/// Characters that are keys rather than signs.
const CONTROLS: &[(char, Keysym)] =
    &[('\n', 0xff0d), ('\r', 0xff0d), ('\t', 0xff09), ('\u{8}', 0xff08), ('\u{1b}', 0xff1b)];

/// Enter and tab: what follows them may be for another field.
pub const MOVE_FOCUS: &[Keysym] = &[0xff0d, 0xff09];

pub const fn modifier_keysym(modifier: Modifier) -> Keysym {
    match modifier {
        Modifier::Ctrl => 0xffe3,
        Modifier::Alt => 0xffe9,
        Modifier::Shift => SHIFT,
        Modifier::Meta => 0xffeb,
    }
}

/// The keysym of a key, or a sentence that says that there is none for the character.
pub fn key_keysym(key: &Key) -> Result<Keysym> {
    match key {
        Key::Modifier(modifier) => Ok(modifier_keysym(*modifier)),
        Key::Named(key) => Ok(named_keysym(*key)),
        Key::Character(character) => character_keysym(*character),
    }
}

/// Latin-1 has its own numbers, everything else that of Unicode with a mark.
pub fn character_keysym(character: char) -> Result<Keysym> {
    if let Some((_, keysym)) = CONTROLS.iter().find(|(control, _)| *control == character) {
        return Ok(*keysym);
    }
    let code = u32::from(character);
    if character.is_control() {
        return Err(Error::bad_request(format!(
            "the text has the control character U+{code:04X}, which no key types; leave it out (press_key presses keys)"
        )));
    }
    Ok(if code < 0x100 { code } else { 0x0100_0000 | code })
}

/// The keysyms of a text. A line end of two characters is one key.
pub fn keysyms_of(text: &str) -> Result<Vec<Keysym>> {
    text.replace("\r\n", "\n").chars().map(character_keysym).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_have_their_numbers() {
        let number = |character| character_keysym(character).unwrap();
        assert_eq!(number('A'), 0x41);
        assert_eq!(number('é'), 0xe9);
        assert_eq!(number('€'), 0x0100_20ac);
        assert_eq!(number('🎉'), 0x0101_f389);
        assert_eq!(number('\n'), 0xff0d);
        assert!(character_keysym('\u{7}').unwrap_err().message.contains("U+0007"));
        assert_eq!(keysyms_of("a\r\nb\tc").unwrap(), [0x61, 0xff0d, 0x62, 0xff09, 0x63]);
    }

    #[test]
    fn no_two_named_keys_have_the_same_keysym() {
        let keysyms: std::collections::HashSet<Keysym> = NamedKey::all().map(named_keysym).collect();
        assert_eq!(keysyms.len(), NamedKey::all().count());
    }
}
