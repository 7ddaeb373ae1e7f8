//! What every platform does to a tree that it has read: long texts are cut, combo boxes show their choice, and one
//! element has the focus.

use std::collections::HashMap;

use crate::config::limits::TREE_TEXT_BYTES;
use crate::model::{Role, Tree};

/// Long texts are cut and say so. `characters` is the length of the whole, where only its beginning was read.
pub fn shortened(text: &str, characters: Option<usize>) -> String {
    let fits = text.len() <= TREE_TEXT_BYTES;
    if fits && characters.is_none_or(|count| count <= TREE_TEXT_BYTES) {
        return text.to_owned();
    }
    let mut end = TREE_TEXT_BYTES.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let count = characters.unwrap_or_else(|| text.chars().count());
    format!("{}… [cut: {count} characters in all]", text.get(..end).unwrap_or_default())
}

/// A combo box without a text of its own shows the option that is selected in it.
pub fn show_choices(tree: &mut Tree) {
    let combos: Vec<usize> = (0..tree.len())
        .filter(|&node| tree[node].role == Role::ComboBox && tree[node].value.is_none())
        .collect();
    let chosen: HashMap<usize, String> = combos
        .into_iter()
        .filter_map(|combo| {
            let mut below = combo + 1..tree.end(combo);
            let selected = below.find(|&node| tree[node].selected == Some(true))?;
            Some((combo, tree[selected].name.clone()))
        })
        .collect();
    let mut place = 0;
    tree.change_elements(|element| {
        if let Some(name) = chosen.get(&place) {
            element.value = Some(name.clone());
        }
        place += 1;
    });
}

/// Applications say of several elements that they have the keyboard focus: of those around it, of those that only
/// hand it on, of those on pages that do not show. One of them gets the keys.
pub fn keep_one_focus(tree: &mut Tree) {
    let focused = tree.focused();
    let mut place = 0;
    tree.change_elements(|element| {
        element.focused = Some(place) == focused;
        place += 1;
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Element, Rect, TreeBuilder};

    #[test]
    fn long_texts_are_cut_and_say_so() {
        assert_eq!(shortened("short", Some(5)), "short");
        let cut = shortened(&"é".repeat(TREE_TEXT_BYTES), None);
        assert!(cut.ends_with("… [cut: 8192 characters in all]"), "{}", &cut[cut.len() - 40..]);
        assert!(cut.len() < TREE_TEXT_BYTES + 50);
        assert!(shortened("start", Some(99_999)).ends_with("[cut: 99999 characters in all]"));
    }

    #[test]
    fn one_element_keeps_the_focus() {
        let focused = |name: &str| Element { focused: true, ..Element::new("Button", name, Rect::default()) };
        let mut builder = TreeBuilder::new(focused("window"));
        builder.add_leaf(focused("first"));
        builder.add_leaf(focused("second"));
        let mut tree = builder.finish();
        keep_one_focus(&mut tree);
        let kept: Vec<bool> = tree.elements().iter().map(|element| element.focused).collect();
        assert_eq!(kept, [false, false, true]);
    }

    #[test]
    fn a_combo_box_shows_what_is_selected_in_it() {
        let item = |name: &str, selected| Element {
            selected: Some(selected),
            ..Element::new("MenuItem", name, Rect::default())
        };
        let mut builder = TreeBuilder::new(Element::new("ComboBox", "", Rect::default()));
        builder.add_leaf(item("Left", false));
        builder.add_leaf(item("Right", true));
        let mut tree = builder.finish();
        show_choices(&mut tree);
        assert_eq!(tree[0].value.as_deref(), Some("Right"));
    }
}
