//! Keys that have a name rather than a character, with every spelling of them in one table.

/// A key that is asked for by its name (`enter`, `page_up`, `f5`). The adapters match on it, so that a key without a
/// place on their keyboard is found by the compiler.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NamedKey {
    Enter,
    Tab,
    Escape,
    Space,
    Backspace,
    Delete,
    Insert,
    Home,
    End,
    PageUp,
    PageDown,
    Up,
    Down,
    Left,
    Right,
    Menu,
    PrintScreen,
    Pause,
    CapsLock,
    NumLock,
    ScrollLock,
    F1,
    F2,
    F3,
    F4,
    F5,
    F6,
    F7,
    F8,
    F9,
    F10,
    F11,
    F12,
}

/// Every key in the order in which messages list them: our spelling first, then the ones that people and models also
/// use.
const SPELLINGS: [(NamedKey, &[&str]); 33] = [
    (NamedKey::Enter, &["enter", "return"]),
    (NamedKey::Tab, &["tab"]),
    (NamedKey::Escape, &["escape", "esc"]),
    (NamedKey::Space, &["space", "spacebar"]),
    (NamedKey::Backspace, &["backspace"]),
    (NamedKey::Delete, &["delete", "del"]),
    (NamedKey::Insert, &["insert", "ins"]),
    (NamedKey::Home, &["home"]),
    (NamedKey::End, &["end"]),
    (NamedKey::PageUp, &["pageup", "page_up", "pgup"]),
    (NamedKey::PageDown, &["pagedown", "page_down", "pgdn"]),
    (NamedKey::Up, &["up", "arrowup", "arrow_up"]),
    (NamedKey::Down, &["down", "arrowdown", "arrow_down"]),
    (NamedKey::Left, &["left", "arrowleft", "arrow_left"]),
    (NamedKey::Right, &["right", "arrowright", "arrow_right"]),
    (NamedKey::Menu, &["menu", "apps", "contextmenu"]),
    (NamedKey::PrintScreen, &["printscreen", "print_screen", "prtsc"]),
    (NamedKey::Pause, &["pause"]),
    (NamedKey::CapsLock, &["capslock", "caps_lock"]),
    (NamedKey::NumLock, &["numlock", "num_lock"]),
    (NamedKey::ScrollLock, &["scrolllock", "scroll_lock"]),
    (NamedKey::F1, &["f1"]),
    (NamedKey::F2, &["f2"]),
    (NamedKey::F3, &["f3"]),
    (NamedKey::F4, &["f4"]),
    (NamedKey::F5, &["f5"]),
    (NamedKey::F6, &["f6"]),
    (NamedKey::F7, &["f7"]),
    (NamedKey::F8, &["f8"]),
    (NamedKey::F9, &["f9"]),
    (NamedKey::F10, &["f10"]),
    (NamedKey::F11, &["f11"]),
    (NamedKey::F12, &["f12"]),
];

impl NamedKey {
    /// All keys, in the order of the table.
    pub fn all() -> impl Iterator<Item = NamedKey> {
        SPELLINGS.iter().map(|(key, _)| *key)
    }

    /// All spellings of all keys.
    pub fn spellings() -> impl Iterator<Item = &'static str> {
        SPELLINGS.iter().flat_map(|(_, spellings)| spellings.iter().copied())
    }

    /// The key's name as we print it.
    pub fn name(self) -> &'static str {
        // The table has the keys in the order of the enum; a test holds it.
        SPELLINGS[self as usize].1[0]
    }

    /// The key of a lowercase spelling; `None` when no key has it.
    pub fn parse(spelling: &str) -> Option<Self> {
        SPELLINGS.iter().find(|(_, spellings)| spellings.contains(&spelling)).map(|(key, _)| *key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_every_key_at_its_own_place() {
        for (place, key) in NamedKey::all().enumerate() {
            assert_eq!(key as usize, place, "{key:?}");
        }
        assert_eq!(NamedKey::F12 as usize + 1, SPELLINGS.len());
    }

    #[test]
    fn every_spelling_is_lowercase_and_means_one_key() {
        let spellings: Vec<&str> = NamedKey::spellings().collect();
        for (place, spelling) in spellings.iter().enumerate() {
            assert_eq!(*spelling, spelling.to_lowercase());
            assert!(!spellings[..place].contains(spelling), "{spelling}");
        }
        for key in NamedKey::all() {
            assert_eq!(NamedKey::parse(key.name()), Some(key));
        }
        assert_eq!(NamedKey::parse("pgdn"), Some(NamedKey::PageDown));
        assert_eq!(NamedKey::parse("Enter"), None);
    }
}
