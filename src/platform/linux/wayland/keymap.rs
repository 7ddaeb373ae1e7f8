//! The keymap of our own virtual keyboard: the keys of an American keyboard at their usual codes, so that shortcuts mean
//! what they mean everywhere, and on the codes that are left whatever characters the next text has.

use std::fmt::Write as _;

use crate::platform::linux::keys::Keysym;

/// The code of a key in the kernel's table; Wayland sends these.
pub type KeyCode = u32;

/// How XKB counts the same keys.
const XKB_OFFSET: u32 = 8;
const LAST_CODE: KeyCode = 247;

/// The printed keys from their first code on, plain and with shift.
const ROWS: &[(KeyCode, &str, &str)] = &[
    (2, "1234567890-=", "!@#$%^&*()_+"),
    (16, "qwertyuiop[]", "QWERTYUIOP{}"),
    (30, "asdfghjkl;'`", "ASDFGHJKL:\"~"),
    (43, "\\zxcvbnm,./", "|ZXCVBNM<>?"),
    (57, " ", " "),
];

/// Keys without a character.
const NAMED: &[(KeyCode, Keysym)] = &[
    (1, 0xff1b),
    (14, 0xff08),
    (15, 0xff09),
    (28, 0xff0d),
    (58, 0xffe5),
    (59, 0xffbe),
    (60, 0xffbf),
    (61, 0xffc0),
    (62, 0xffc1),
    (63, 0xffc2),
    (64, 0xffc3),
    (65, 0xffc4),
    (66, 0xffc5),
    (67, 0xffc6),
    (68, 0xffc7),
    (69, 0xff7f),
    (70, 0xff14),
    (87, 0xffc8),
    (88, 0xffc9),
    (99, 0xff61),
    (102, 0xff50),
    (103, 0xff52),
    (104, 0xff55),
    (105, 0xff51),
    (106, 0xff53),
    (107, 0xff57),
    (108, 0xff54),
    (109, 0xff56),
    (110, 0xff63),
    (111, 0xffff),
    (119, 0xff13),
    (127, 0xff67),
];

/// Modifiers: code, keysym, the modifier of XKB and its bit.
const MODIFIERS: &[(KeyCode, Keysym, &str, u32)] = &[
    (42, 0xffe1, "Shift", 1),
    (29, 0xffe3, "Control", 4),
    (56, 0xffe9, "Mod1", 8),
    (125, 0xffeb, "Mod4", 64),
];

/// How a keysym is pressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Press {
    pub code: KeyCode,
    pub shifted: bool,
}

/// The code of a modifier's key and its bit.
pub fn modifier_key(keysym: Keysym) -> Option<(KeyCode, u32)> {
    MODIFIERS.iter().find(|key| key.1 == keysym).map(|key| (key.0, key.3))
}

pub const SHIFT_BIT: u32 = 1;

/// How a keysym is pressed on an American keyboard.
pub fn usual_press(keysym: Keysym) -> Option<Press> {
    usual_keys().find_map(|(code, plain, shifted)| match keysym {
        it if it == plain => Some(Press { code, shifted: false }),
        it if it == shifted => Some(Press { code, shifted: true }),
        _ => None,
    })
}

fn usual_keys() -> impl Iterator<Item = (KeyCode, Keysym, Keysym)> {
    let printed = ROWS.iter().flat_map(|(first, plain, shifted)| {
        (*first..).zip(plain.chars().map(u32::from)).zip(shifted.chars().map(u32::from))
    });
    let printed = printed.map(|((code, plain), shifted)| (code, plain, shifted));
    let named = NAMED.iter().map(|(code, keysym)| (*code, *keysym, *keysym));
    printed.chain(named).chain(MODIFIERS.iter().map(|key| (key.0, key.1, key.1)))
}

/// The codes that no usual key has.
fn free_codes() -> impl Iterator<Item = KeyCode> {
    (1..=LAST_CODE).filter(|code| usual_keys().all(|(used, ..)| used != *code))
}

/// The usual keys, and some more.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Keymap {
    extra: Vec<(KeyCode, Keysym)>,
}

impl Keymap {
    pub fn press(&self, keysym: Keysym) -> Option<Press> {
        let extra = self.extra.iter().find(|(_, extra)| *extra == keysym);
        usual_press(keysym).or(extra.map(|(code, _)| Press { code: *code, shifted: false }))
    }

    /// A keymap for the beginning of a text, and how many of its keysyms it has: all of them, unless the text has more
    /// different characters than a keyboard has keys.
    pub fn for_text(text: &[Keysym]) -> (Self, usize) {
        let mut keymap = Self::default();
        let mut free = free_codes();
        for (at, keysym) in text.iter().enumerate() {
            if keymap.press(*keysym).is_some() {
                continue;
            }
            match free.next() {
                Some(code) => keymap.extra.push((code, *keysym)),
                None => return (keymap, at),
            }
        }
        (keymap, text.len())
    }

    /// As XKB reads it.
    pub fn source(&self) -> String {
        let (mut codes, mut symbols) = (String::new(), String::new());
        let extra = self.extra.iter().map(|(code, keysym)| (*code, *keysym, *keysym));
        for (code, plain, shifted) in usual_keys().chain(extra) {
            let _ = writeln!(codes, "<K{code}> = {};", code + XKB_OFFSET);
            let levels =
                if plain == shifted { format!("{plain:#x}") } else { format!("{plain:#x}, {shifted:#x}") };
            let _ = writeln!(symbols, "key <K{code}> {{ [ {levels} ] }};");
        }
        for (code, _, name, _) in MODIFIERS {
            let _ = writeln!(symbols, "modifier_map {name} {{ <K{code}> }};");
        }
        format!(
            "xkb_keymap {{\nxkb_keycodes \"oso\" {{\nminimum = 8;\nmaximum = 255;\n{codes}}};\n\
             xkb_types \"oso\" {{ include \"complete\" }};\nxkb_compatibility \"oso\" {{ include \"complete\" }};\n\
             xkb_symbols \"oso\" {{\nname[group1] = \"oso\";\n{symbols}}};\n}};\n"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::NamedKey;
    use crate::model::input::{Key, Modifier};
    use crate::platform::linux::keys::{key_keysym, keysyms_of, modifier_keysym};

    #[test]
    fn every_named_key_and_modifier_has_a_usual_key() {
        for key in NamedKey::all() {
            assert!(usual_press(key_keysym(&Key::Named(key)).unwrap()).is_some(), "{key:?}");
        }
        for modifier in [Modifier::Ctrl, Modifier::Alt, Modifier::Shift, Modifier::Meta] {
            assert!(modifier_key(modifier_keysym(modifier)).is_some(), "{modifier:?}");
        }
    }

    #[test]
    fn no_two_keys_have_the_same_code() {
        let mut codes: Vec<KeyCode> = usual_keys().map(|key| key.0).collect();
        let all = codes.len();
        codes.sort_unstable();
        codes.dedup();
        assert_eq!(codes.len(), all);
    }

    #[test]
    fn letters_are_where_an_american_keyboard_has_them() {
        let check = |character: char, code, shifted| {
            assert_eq!(usual_press(u32::from(character)), Some(Press { code, shifted }), "{character}");
        };
        check('a', 30, false);
        check('A', 30, true);
        check('?', 53, true);
        check('`', 41, false);
        check('\\', 43, false);
        check('z', 44, false);
        check(' ', 57, false);
    }

    #[test]
    fn what_a_keyboard_lacks_gets_a_code_of_its_own() {
        let text = keysyms_of("aé漢é🎉").unwrap();
        let (keymap, served) = Keymap::for_text(&text);
        assert_eq!(served, text.len());
        assert_eq!(keymap.extra.len(), 3);
        assert!(text.iter().all(|keysym| keymap.press(*keysym).is_some()));
        assert!(keymap.source().contains(&format!("{:#x}", 0x0101_f389)));
    }

    #[test]
    fn a_text_with_more_characters_than_keys_is_served_in_parts() {
        let text: Vec<Keysym> = (0..400).map(|at| 0x0100_4e00 + at).collect();
        let (keymap, served) = Keymap::for_text(&text);
        assert!(served > 100 && served < text.len(), "{served}");
        assert!(text[..served].iter().all(|keysym| keymap.press(*keysym).is_some()));
        assert_eq!(keymap.press(text[served]), None);
    }
}
