//! What hands can do: pointer buttons and key combinations, parsed and checked before anything is pressed.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{NamedKey, Point};
pub use crate::config::Delivery;
use crate::text::nearest;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Button {
    #[default]
    Left,
    Right,
    Middle,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Modifier {
    Ctrl,
    Alt,
    Shift,
    Meta,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Key {
    Modifier(Modifier),
    Named(NamedKey),
    Character(char),
}

/// `ctrl+shift+t`: modifiers first, then one key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyCombo {
    pub modifiers: Vec<Modifier>,
    pub key: Key,
}

/// One deed of a hand, as the platform is asked for it. What was resolved travels with the point: where
/// an element and a point are both known, the element counts.
#[derive(Clone, Debug, PartialEq)]
pub enum Act {
    Click {
        element: Option<Handle>,
        at: Option<Point>,
        button: Button,
        count: u32,
        /// Held down meanwhile.
        modifiers: Vec<Modifier>,
    },
    Invoke {
        element: Handle,
    },
    Focus {
        element: Handle,
    },
    SetValue {
        element: Handle,
        text: String,
    },
    /// `None` selects the element itself, which then is an option.
    Select {
        element: Handle,
        option: Option<OptionChoice>,
    },
    /// Keys go to the element; else to what has the focus in the window; else to whatever has it.
    Type {
        element: Option<Handle>,
        window_uid: Option<String>,
        text: String,
    },
    Key {
        element: Option<Handle>,
        window_uid: Option<String>,
        keys: KeyCombo,
    },
    /// Positive clicks show what is further up.
    Scroll {
        element: Option<Handle>,
        at: Option<Point>,
        clicks: i32,
    },
    Hover {
        element: Option<Handle>,
        at: Option<Point>,
    },
    Drag {
        from: Point,
        to: Point,
        modifiers: Vec<Modifier>,
        /// How long the way takes: some applications ignore a pointer that jumps.
        duration: Duration,
    },
}

impl Act {
    /// The element that it is for.
    pub fn element(&self) -> Option<&Handle> {
        match self {
            Act::Invoke { element }
            | Act::Focus { element }
            | Act::SetValue { element, .. }
            | Act::Select { element, .. } => Some(element),
            Act::Click { element, .. }
            | Act::Type { element, .. }
            | Act::Key { element, .. }
            | Act::Scroll { element, .. }
            | Act::Hover { element, .. } => element.as_ref(),
            Act::Drag { .. } => None,
        }
    }
}

/// Where an element is found again: its window, and the platform's own name for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Handle {
    pub window_uid: String,
    pub native: String,
}

/// An option of a list, by its name or its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OptionChoice {
    Name(String),
    Index(usize),
}

const MODIFIERS: &[(Modifier, &[&str])] = &[
    (Modifier::Ctrl, &["ctrl", "control"]),
    (Modifier::Alt, &["alt", "option"]),
    (Modifier::Shift, &["shift"]),
    (Modifier::Meta, &["meta", "win", "cmd", "command", "super"]),
];

impl KeyCombo {
    /// Reads `keys`; the error is a sentence that names the part that is not understood.
    pub fn parse(keys: &str) -> Result<Self, String> {
        let lower = keys.trim().to_lowercase();
        let parts = split_at_plus(&lower);
        let Some((last, before)) = parts.split_last() else {
            return Err("keys is empty; write for example ctrl+s or enter".to_owned());
        };
        let modifiers = before.iter().map(|part| leading_modifier(part)).collect::<Result<_, _>>()?;
        Self { modifiers, key: parse_key(last)? }.with_each_key_once()
    }

    /// A key that is held cannot be pressed again, and letting go of it once would leave the other hold open.
    fn with_each_key_once(self) -> Result<Self, String> {
        let pressed = match self.key {
            Key::Modifier(modifier) => Some(modifier),
            Key::Named(_) | Key::Character(_) => None,
        };
        let mut held = self.modifiers.iter().copied().chain(pressed);
        while let Some(modifier) = held.next() {
            if held.clone().any(|other| other == modifier) {
                return Err(format!("'{}' occurs twice in keys", modifier_name(modifier)));
            }
        }
        Ok(self)
    }

    /// What it types, as far as that can be said without the keyboard's layout: shift makes letters large.
    pub fn character(&self) -> Option<String> {
        let shifted = !self.modifiers.is_empty();
        match self.key {
            _ if !self.types_a_character() => None,
            Key::Character(character) if shifted => Some(character.to_uppercase().collect()),
            Key::Character(character) => Some(character.to_string()),
            _ => Some(" ".to_owned()),
        }
    }

    /// `enter` and `ctrl+a` spell nothing; `h` and `shift+h` may be a letter of a password.
    pub fn types_a_character(&self) -> bool {
        matches!(self.key, Key::Character(_) | Key::Named(NamedKey::Space))
            && self.modifiers.iter().all(|modifier| matches!(modifier, Modifier::Shift))
    }
}

impl std::fmt::Display for KeyCombo {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for modifier in &self.modifiers {
            write!(out, "{}+", modifier_name(*modifier))?;
        }
        match self.key {
            Key::Modifier(modifier) => out.write_str(modifier_name(modifier)),
            Key::Named(key) => out.write_str(key.name()),
            Key::Character(character) => write!(out, "{character}"),
        }
    }
}

/// Splits at `+`, where a `+` that stands for itself (`ctrl++`, `+`) stays a part.
fn split_at_plus(keys: &str) -> Vec<&str> {
    match keys.strip_suffix('+') {
        None if keys.is_empty() => Vec::new(),
        None => keys.split('+').map(str::trim).collect(),
        Some("") => vec!["+"],
        Some(rest) => {
            let mut parts: Vec<&str> =
                rest.strip_suffix('+').unwrap_or(rest).split('+').map(str::trim).collect();
            parts.push(if rest.ends_with('+') { "+" } else { "" });
            parts
        }
    }
}

/// What is no key is not repeated, here and below: it may be a password that was put into the wrong argument.
fn leading_modifier(part: &str) -> Result<Modifier, String> {
    let names = MODIFIERS.iter().flat_map(|(_, names)| names.iter().copied());
    find_modifier(part).ok_or_else(|| {
        format!(
            "only ctrl, alt, shift and meta may precede the last key, joined by '+'{}",
            did_you_mean(part, names)
        )
    })
}

fn did_you_mean(part: &str, names: impl Iterator<Item = &'static str>) -> String {
    nearest(part, names).map_or(String::new(), |name| format!(" (did you mean '{name}'?)"))
}

fn parse_key(part: &str) -> Result<Key, String> {
    if let Some(modifier) = find_modifier(part) {
        return Ok(Key::Modifier(modifier));
    }
    if let Some(key) = NamedKey::parse(part) {
        return Ok(Key::Named(key));
    }
    let mut characters = part.chars();
    match (characters.next(), characters.next()) {
        (Some(character), None) if !character.is_control() => Ok(Key::Character(character)),
        (None, _) => Err("a key is missing after the last '+'".to_owned()),
        _ => Err(format!(
            "unknown key{}; type_text types text; known keys are single characters and {}",
            did_you_mean(part, NamedKey::spellings()),
            known_keys()
        )),
    }
}

fn find_modifier(part: &str) -> Option<Modifier> {
    MODIFIERS.iter().find(|(_, names)| names.contains(&part)).map(|(modifier, _)| *modifier)
}

fn modifier_name(modifier: Modifier) -> &'static str {
    MODIFIERS.iter().find(|(known, _)| *known == modifier).map_or("", |(_, names)| names[0])
}

fn known_keys() -> String {
    NamedKey::all().map(NamedKey::name).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(keys: &str, expected: &str) {
        let printed = match KeyCombo::parse(keys) {
            Ok(combo) => combo.to_string(),
            Err(message) => format!("error: {message}"),
        };
        assert!(printed.starts_with(expected), "{keys:?} gave {printed:?}");
    }

    #[test]
    fn combinations_are_read_in_every_spelling() {
        check("ctrl+s", "ctrl+s");
        check("Ctrl+Shift+T", "ctrl+shift+t");
        check("Return", "enter");
        check("cmd+Esc", "meta+escape");
        check("alt+f4", "alt+f4");
        check("é", "é");
        check("shift", "shift");
    }

    #[test]
    fn plus_can_be_the_key() {
        check("+", "+");
        check("ctrl++", "ctrl++");
    }

    #[test]
    fn what_is_not_understood_is_named() {
        check("", "error: keys is empty");
        check("ctrl+", "error: a key is missing");
        check("a+b", "error: only ctrl");
        check(
            "crtl+a",
            "error: only ctrl, alt, shift and meta may precede the last key, joined by '+' (did you mean 'ctrl'?)",
        );
        check("ctrl+shift+control+a", "error: 'ctrl' occurs twice in keys");
        check("shift+shift", "error: 'shift' occurs twice in keys");
        check("ctrl+entre", "error: unknown key (did you mean 'enter'?)");
        check("hunter22", "error: unknown key; type_text types text");
        check("\u{7}", "error:");
    }
}
