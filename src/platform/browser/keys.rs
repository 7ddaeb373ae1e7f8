//! The keys of a keyboard, as the browser is told of them.

use serde_json::{Value, json};

use crate::model::input::{Key, Modifier};
use crate::model::{KeyCombo, NamedKey};

/// What the browser and the page call a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageKey {
    /// `KeyboardEvent.key`
    pub key: String,
    /// `KeyboardEvent.code`, where the key has a place of its own.
    pub code: String,
    /// The number that Windows has for it, which the browser acts by.
    pub number: u32,
    /// What it types.
    pub text: Option<String>,
}

const NAMED: &[(NamedKey, &str, u32)] = &[
    (NamedKey::Enter, "Enter", 13),
    (NamedKey::Tab, "Tab", 9),
    (NamedKey::Escape, "Escape", 27),
    (NamedKey::Space, "Space", 32),
    (NamedKey::Backspace, "Backspace", 8),
    (NamedKey::Delete, "Delete", 46),
    (NamedKey::Insert, "Insert", 45),
    (NamedKey::Home, "Home", 36),
    (NamedKey::End, "End", 35),
    (NamedKey::PageUp, "PageUp", 33),
    (NamedKey::PageDown, "PageDown", 34),
    (NamedKey::Up, "ArrowUp", 38),
    (NamedKey::Down, "ArrowDown", 40),
    (NamedKey::Left, "ArrowLeft", 37),
    (NamedKey::Right, "ArrowRight", 39),
    (NamedKey::Menu, "ContextMenu", 93),
    (NamedKey::PrintScreen, "PrintScreen", 44),
    (NamedKey::Pause, "Pause", 19),
    (NamedKey::CapsLock, "CapsLock", 20),
    (NamedKey::NumLock, "NumLock", 144),
    (NamedKey::ScrollLock, "ScrollLock", 145),
    (NamedKey::F1, "F1", 112),
    (NamedKey::F2, "F2", 113),
    (NamedKey::F3, "F3", 114),
    (NamedKey::F4, "F4", 115),
    (NamedKey::F5, "F5", 116),
    (NamedKey::F6, "F6", 117),
    (NamedKey::F7, "F7", 118),
    (NamedKey::F8, "F8", 119),
    (NamedKey::F9, "F9", 120),
    (NamedKey::F10, "F10", 121),
    (NamedKey::F11, "F11", 122),
    (NamedKey::F12, "F12", 123),
];

const MODIFIER_KEYS: &[(Modifier, &str, &str, u32, u32)] = &[
    (Modifier::Alt, "Alt", "AltLeft", 18, 1),
    (Modifier::Ctrl, "Control", "ControlLeft", 17, 2),
    (Modifier::Meta, "Meta", "MetaLeft", 91, 4),
    (Modifier::Shift, "Shift", "ShiftLeft", 16, 8),
];

/// The bits by which an event says what is held down.
pub fn modifier_bits(modifiers: &[Modifier]) -> u32 {
    let bit =
        |modifier: &Modifier| MODIFIER_KEYS.iter().find(|known| known.0 == *modifier).map_or(0, |it| it.4);
    modifiers.iter().map(bit).sum()
}

pub fn modifier_key(modifier: Modifier) -> PageKey {
    let known = MODIFIER_KEYS.iter().find(|known| known.0 == modifier);
    let (key, code, number) = known.map_or(("", "", 0), |it| (it.1, it.2, it.3));
    PageKey { key: key.to_owned(), code: code.to_owned(), number, text: None }
}

pub fn named_key(named: NamedKey) -> PageKey {
    let (code, number) =
        NAMED.iter().find(|known| known.0 == named).map_or(("", 0), |(_, code, number)| (*code, *number));
    let (key, text) = match named {
        NamedKey::Space => (" ", Some(" ")),
        NamedKey::Enter => (code, Some("\r")),
        _ => (code, None),
    };
    PageKey { key: key.to_owned(), code: code.to_owned(), number, text: text.map(str::to_owned) }
}

/// The key that types a character. One that no key of a usual keyboard types has only itself.
pub fn character_key(character: char) -> PageKey {
    let upper = character.to_ascii_uppercase();
    let (code, number) = match character {
        '\n' | '\r' => return named_key(NamedKey::Enter),
        '\t' => return named_key(NamedKey::Tab),
        ' ' => return named_key(NamedKey::Space),
        'a'..='z' | 'A'..='Z' => (format!("Key{upper}"), upper as u32),
        '0'..='9' => (format!("Digit{character}"), character as u32),
        _ => (String::new(), 0),
    };
    PageKey { key: character.to_string(), code, number, text: Some(character.to_string()) }
}

/// The keys of a combination in the order in which they go down.
pub fn combo_keys(combo: &KeyCombo) -> Vec<PageKey> {
    let shifted = combo.modifiers.contains(&Modifier::Shift);
    let types = combo.modifiers.iter().all(|modifier| *modifier == Modifier::Shift);
    let last = match &combo.key {
        Key::Modifier(modifier) => modifier_key(*modifier),
        Key::Named(named) => named_key(*named),
        Key::Character(character) if shifted => character_key(character.to_ascii_uppercase()),
        Key::Character(character) => character_key(*character),
    };
    let last = PageKey { text: last.text.filter(|_| types), ..last };
    combo.modifiers.iter().map(|modifier| modifier_key(*modifier)).chain([last]).collect()
}

/// The event of a key that goes down or up while others are held.
pub fn key_event(key: &PageKey, down: bool, held: u32) -> Value {
    let kind = match (down, &key.text) {
        (true, Some(_)) => "keyDown",
        (true, None) => "rawKeyDown",
        (false, _) => "keyUp",
    };
    let mut event = json!({
        "type": kind,
        "modifiers": held,
        "key": key.key,
        "code": key.code,
        "windowsVirtualKeyCode": key.number,
    });
    if let (true, Some(text)) = (down, &key.text) {
        event["text"] = json!(text);
    }
    event
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(combo: &str, expected: &[(&str, Option<&str>)]) {
        let keys = combo_keys(&KeyCombo::parse(combo).unwrap());
        let keys: Vec<(&str, Option<&str>)> =
            keys.iter().map(|key| (key.key.as_str(), key.text.as_deref())).collect();
        assert_eq!(keys, expected, "{combo}");
    }

    #[test]
    fn a_combination_goes_down_in_order_and_types_only_without_ctrl() {
        check("a", &[("a", Some("a"))]);
        check("shift+a", &[("Shift", None), ("A", Some("A"))]);
        check("ctrl+a", &[("Control", None), ("a", None)]);
        check("enter", &[("Enter", Some("\r"))]);
        check("ctrl+shift+tab", &[("Control", None), ("Shift", None), ("Tab", None)]);
        check("é", &[("é", Some("é"))]);
    }

    #[test]
    fn every_key_is_known() {
        for named in NamedKey::all() {
            assert!(named_key(named).number > 0, "{named:?}");
        }
        assert_eq!(modifier_bits(&[Modifier::Ctrl, Modifier::Shift]), 10);
    }

    #[test]
    fn a_letter_has_the_place_of_its_key() {
        assert_eq!((character_key('q').code.as_str(), character_key('q').number), ("KeyQ", 81));
        assert_eq!(character_key('漢').code, "");
    }
}
