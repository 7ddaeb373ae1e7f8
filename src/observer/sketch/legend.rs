//! The list below the grid: one key and one line for every box that was drawn.

use serde::{Serialize, Serializer};

use super::{label, role, role::Glyph};
use crate::model::Element;
use crate::observer::text::{one_line, shorten_text};

/// Keys and labels in the order of the tree. On the wire an object in that order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Legend(pub Vec<(String, String)>);

impl Serialize for Legend {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, label)| (key, label)))
    }
}

impl Legend {
    /// The lines that follow the grid, each with its line break in front; nothing without entries.
    pub(super) fn text(&self, rule: char) -> String {
        if self.0.is_empty() {
            return String::new();
        }
        let rule: String = std::iter::repeat_n(rule, 50).collect();
        let mut text = format!("\n\n  LEGEND\n  {rule}");
        for (key, label) in &self.0 {
            text.push_str(&format!("\n  {key:>4}  {}", one_line(label)));
        }
        text
    }
}

/// A…Z, A1…Z1, A2… .
pub(super) fn key(number: usize) -> String {
    let letter = char::from(b'A' + (number % 26) as u8);
    match number / 26 {
        0 => letter.to_string(),
        round => format!("{letter}{round}"),
    }
}

pub(super) fn legend_entry(element: &Element) -> String {
    let mut words = vec![element.role.to_string()];
    words.extend((!element.name.is_empty()).then(|| format!("\"{}\"", shorten_text(&element.name, 30, 27))));
    let value = element.value.as_ref().filter(|_| !is_bar(element));
    words.extend(value.map(|value| format!("[{}]", shorten_text(value, 20, 17))));
    words.extend(label::state_badges(element));
    words.join(" ")
}

/// The value of a bar is a number that its glyph shows better.
fn is_bar(element: &Element) -> bool {
    matches!(role::glyph(&role::normal_form(element.role.name())), Some(Glyph::Slider | Glyph::Progress))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Rect;

    #[test]
    fn keys_go_through_the_alphabet_again_and_again() {
        let keys = [0, 1, 25, 26, 27, 51, 52, 26 * 10].map(key);
        assert_eq!(keys, ["A", "B", "Z", "A1", "B1", "Z1", "A2", "A10"]);
    }

    #[test]
    fn no_two_elements_share_a_key() {
        let keys: std::collections::HashSet<String> = (0..10_000).map(key).collect();
        assert_eq!(keys.len(), 10_000);
    }

    fn edit(name: &str, value: Option<&str>) -> Element {
        Element { value: value.map(str::to_owned), ..Element::new("Edit", name, Rect::default()) }
    }

    fn check(element: Element, expected: &str) {
        assert_eq!(legend_entry(&element), expected);
    }

    #[test]
    fn role_name_value_and_badges_where_known() {
        check(edit("", None), "Edit");
        check(edit("User", None), "Edit \"User\"");
        check(edit("User", Some("")), "Edit \"User\" []");
        check(edit("", Some("alice")), "Edit [alice]");
        let badges = Element { focused: true, enabled: false, shortcut: Some("F2".into()), ..edit("", None) };
        check(badges, "Edit ● ✗ ⌨F2");
    }

    #[test]
    fn long_names_and_values_are_shortened() {
        check(edit(&"n".repeat(30), Some(&"v".repeat(20))), &format!("Edit \"{:n<30}\" [{:v<20}]", "", ""));
        check(edit(&"n".repeat(31), Some(&"v".repeat(21))), &format!("Edit \"{:n<27}…\" [{:v<17}…]", "", ""));
    }

    #[test]
    fn bars_keep_their_value_to_themselves() {
        for role in ["Slider", "ScrollBar", "ProgressBar"] {
            check(
                Element { role: role.into(), ..edit("Volume", Some("40%")) },
                &format!("{role} \"Volume\""),
            );
        }
    }

    #[test]
    fn an_entry_is_one_line_whatever_it_says() {
        let legend = Legend(vec![("A".into(), "Edit \"x\n     B  Button\"".into())]);
        let rule = "-".repeat(50);
        assert_eq!(legend.text('-'), format!("\n\n  LEGEND\n  {rule}\n     A  Edit \"x      B  Button\""));
    }

    #[test]
    fn on_the_wire_it_is_an_object_in_order() {
        let legend = Legend(vec![("B".into(), "b\n".into()), ("A".into(), "a".into())]);
        assert_eq!(serde_json::to_string(&legend).unwrap(), r#"{"B":"b\n","A":"a"}"#);
        assert_eq!(Legend::default().text('-'), "");
    }
}
