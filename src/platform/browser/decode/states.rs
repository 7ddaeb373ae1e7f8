//! What holds of an element of a page now: its value, whether it is checked, open, enabled.

use super::lines::written_lines;
use super::names::chosen_options;
use super::roles::{is_editing_host, is_secret_field};
use super::snapshot::DomDocument;
use crate::model::Role;
use crate::model::element::Range;

/// `true` and `false`; anything else says nothing.
fn flag(document: &DomDocument<'_>, node: usize, name: &str) -> Option<bool> {
    match document.word(node, name).as_str() {
        "true" => Some(true),
        "false" => Some(false),
        _ => None,
    }
}

pub fn selected(document: &DomDocument<'_>, node: usize) -> Option<bool> {
    let own = match document.tag(node) {
        "INPUT" if matches!(document.word(node, "type").as_str(), "checkbox" | "radio") => {
            Some(document.is_checked(node))
        }
        "OPTION" => Some(document.is_selected_option(node)),
        _ => None,
    };
    own.or_else(|| flag(document, node, "aria-checked"))
        .or_else(|| flag(document, node, "aria-pressed"))
        .or_else(|| flag(document, node, "aria-selected"))
}

pub fn expanded(document: &DomDocument<'_>, node: usize, role: &Role) -> Option<bool> {
    let own = match document.tag(node) {
        "SUMMARY" => document.parent(node).map(|details| document.has_attribute(details, "open")),
        // Its list is drawn by the browser, and closed whenever somebody looks.
        "SELECT" if *role == Role::ComboBox => Some(false),
        _ => None,
    };
    flag(document, node, "aria-expanded").or(own)
}

/// Whether it says of itself that it cannot be worked.
pub fn is_disabled(document: &DomDocument<'_>, node: usize) -> bool {
    let is_control = matches!(
        document.tag(node),
        "BUTTON" | "INPUT" | "SELECT" | "TEXTAREA" | "OPTION" | "OPTGROUP" | "FIELDSET"
    );
    (is_control && document.has_attribute(node, "disabled"))
        || flag(document, node, "aria-disabled") == Some(true)
}

/// Whether the page says that it does not accept what it holds.
pub fn is_invalid(document: &DomDocument<'_>, node: usize) -> bool {
    matches!(document.word(node, "aria-invalid").as_str(), "true" | "grammar" | "spelling")
}

/// The folder that browsers tell of every file that was chosen.
const MADE_UP_FOLDER: &str = "C:\\fakepath\\";

/// Longer values are cut by whoever shows them; none is gathered without an end.
const LONGEST_VALUE: usize = 16 << 10;

/// What it holds; nothing of a secret.
pub fn value(document: &DomDocument<'_>, node: usize, role: &Role) -> Option<String> {
    if is_secret_field(document, node) {
        return None;
    }
    match document.tag(node) {
        "SELECT" => return Some(chosen_options(document, node)),
        "INPUT" if document.word(node, "type") == "file" => {
            let named = document.field_value(node).filter(|name| !name.is_empty())?;
            return Some(named.strip_prefix(MADE_UP_FOLDER).unwrap_or(named).to_owned());
        }
        "INPUT" if document.word(node, "type") == "color" => {
            return document.field_value(node).map(str::to_owned);
        }
        "INPUT" if !matches!(role, Role::Button | Role::CheckBox | Role::RadioButton) => {
            return Some(document.field_value(node).unwrap_or_default().to_owned());
        }
        "TEXTAREA" => return Some(document.field_value(node).unwrap_or_default().to_owned()),
        _ => {}
    }
    let said =
        document.attribute(node, "aria-valuetext").or_else(|| document.attribute(node, "aria-valuenow"));
    match said {
        Some(said) => Some(said.to_owned()),
        None if is_editing_host(document, node) => Some(written_lines(document, node, false, LONGEST_VALUE)),
        None => None,
    }
}

pub fn range(document: &DomDocument<'_>, node: usize) -> Range {
    let number = |text: Option<&str>| text.and_then(|text| text.trim().parse::<f64>().ok());
    let attribute = |name: &str| number(document.attribute(node, name));
    let aria = Range {
        now: attribute("aria-valuenow"),
        min: attribute("aria-valuemin"),
        max: attribute("aria-valuemax"),
    };
    match (document.tag(node), document.word(node, "type").as_str()) {
        ("INPUT", "range") => Range {
            now: number(document.field_value(node)),
            min: attribute("min").or(Some(0.0)),
            max: attribute("max").or(Some(100.0)),
        },
        ("INPUT", "number") => {
            Range { now: number(document.field_value(node)), min: attribute("min"), max: attribute("max") }
        }
        ("PROGRESS", _) => {
            Range { now: attribute("value"), min: Some(0.0), max: attribute("max").or(Some(1.0)) }
        }
        ("METER", _) => Range {
            now: attribute("value"),
            min: attribute("min").or(Some(0.0)),
            max: attribute("max").or(Some(1.0)),
        },
        _ => aria,
    }
}

/// The keys that it is reached by, as the page says it.
pub fn shortcut(document: &DomDocument<'_>, node: usize) -> Option<String> {
    let attribute = |name: &str| document.attribute(node, name).unwrap_or_default();
    all_keys(attribute("aria-keyshortcuts"), attribute("accesskey"))
}

/// A browser takes an access key with alt, and never alone.
fn all_keys(said: &str, access: &str) -> Option<String> {
    let access = access.split_whitespace().map(|key| format!("Alt+{}", key.to_uppercase()));
    let keys: Vec<String> = said.split_whitespace().map(str::to_owned).chain(access).collect();
    (!keys.is_empty()).then(|| keys.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(said: &str, access: &str, expected: Option<&str>) {
        assert_eq!(all_keys(said, access).as_deref(), expected);
    }

    /// H-373 on code: an access key, which a page has for something protected
    #[test]
    fn an_access_key_is_pressed_with_alt() {
        check("", "k", Some("Alt+K"));
        check("Control+S", "", Some("Control+S"));
        check("Control+S", "s x", Some("Control+S Alt+S Alt+X"));
        check(" ", "", None);
    }
}
