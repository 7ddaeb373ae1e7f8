//! Key combinations: what is printed is read as the same combination, no modifier is held twice, and what is not
//! understood is said in a sentence.

use std::collections::HashSet;

use os_screen_observer::model::input::Key;
use os_screen_observer::model::{KeyCombo, NamedKey, input::Modifier};

pub fn check(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let read = KeyCombo::parse(&text);
    assert_eq!(read, KeyCombo::parse(&format!(" {text}\t")), "blanks around a combination count");
    match read {
        Ok(combo) => check_combo(&combo),
        Err(problem) => super::check_sentence(&problem),
    }
}

fn check_combo(combo: &KeyCombo) {
    let printed = combo.to_string();
    assert_eq!(KeyCombo::parse(&printed).as_ref(), Ok(combo), "{printed:?} is another combination");
    let mut held: HashSet<Modifier> = combo.modifiers.iter().copied().collect();
    assert_eq!(held.len(), combo.modifiers.len(), "{printed:?} holds a modifier twice");
    match combo.key {
        Key::Modifier(modifier) => assert!(held.insert(modifier), "{printed:?} presses what it holds"),
        Key::Character(character) => {
            assert!(!character.is_control() && !character.is_whitespace(), "{printed:?} is no key")
        }
        Key::Named(key) => assert_eq!(NamedKey::parse(key.name()), Some(key), "{printed:?}"),
    }
}
