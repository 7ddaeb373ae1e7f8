//! Lines that read alike: what tells them apart is told. And options that are not there to be seen.

use std::collections::{HashMap, HashSet};

use super::OutlinePlan;
use crate::model::{Role, Tree};

/// A combo box is made of a menu with entries, or of a list with options, at most.
const COMBO_DEPTH: usize = 3;

impl OutlinePlan<'_> {
    /// Finds the elements that are called like another one of another description.
    pub(super) fn note_alike(&mut self) {
        let mut descriptions: HashMap<(&Role, &str), HashSet<Option<&str>>> = HashMap::new();
        let named = |node: usize| (&self.tree[node].role, self.tree[node].name.as_str());
        for line in &self.lines {
            let about = self.tree[line.node].description.as_deref();
            descriptions.entry(named(line.node)).or_default().insert(about);
        }
        let is_alike = |node: &usize| descriptions.get(&named(*node)).is_some_and(|known| known.len() > 1);
        let alike = self.lines.iter().map(|line| line.node).filter(is_alike).collect();
        self.alike = alike;
    }
}

/// An option of a closed combo box that has no place: it is chosen by its name, and cannot be pointed at.
pub(super) fn is_unplaced_option(tree: &Tree, node: usize) -> bool {
    let element = &tree[node];
    if !element.bounds.is_empty() || !element.role.is_option() || element.selected == Some(true) {
        return false;
    }
    let above = std::iter::successors(tree.parent(node), |&inner| tree.parent(inner));
    let combo = above.take(COMBO_DEPTH).find(|&inner| tree[inner].role == Role::ComboBox);
    combo.is_some_and(|combo| tree[combo].expanded != Some(true))
}

#[cfg(test)]
mod tests {
    use super::super::{OutlineOptions, outline_tree};
    use crate::model::{Element, Rect, TreeBuilder};

    fn element(role: &'static str, name: &str, bounds: Rect) -> Element {
        Element::new(role, name, bounds)
    }

    const PLACE: Rect = Rect { x: 0, y: 0, width: 10, height: 10 };

    #[test]
    fn buttons_that_read_alike_are_told_with_what_they_are_for() {
        let mut tree = TreeBuilder::new(element("Window", "Notes", PLACE));
        for (name, about) in [
            ("More", "bold"),
            ("More", "italic"),
            ("Save", "to disk"),
            ("Send", "by mail"),
            ("Send", "by mail"),
        ] {
            let description = Some(about.to_owned());
            tree.add_leaf(Element { description, ..element("Button", name, PLACE) });
        }
        let text = outline_tree(&tree.finish(), &OutlineOptions::default(), |_| Vec::new()).text;
        assert!(text.contains("about:\"bold\"") && text.contains("about:\"italic\""), "{text}");
        assert!(!text.contains("to disk") && !text.contains("by mail"), "{text}");
    }

    #[test]
    fn options_without_a_place_are_counted() {
        let check = |expanded: bool, shows: bool| {
            let mut tree = TreeBuilder::new(element("Window", "Form", PLACE));
            tree.open(Element { expanded: Some(expanded), ..element("ComboBox", "Unit", PLACE) });
            tree.open(element("List", "", PLACE));
            tree.add_leaf(element("ListItem", "miles", Rect::default()));
            tree.close();
            tree.close();
            let text = outline_tree(&tree.finish(), &OutlineOptions::default(), |_| Vec::new()).text;
            assert_eq!(text.contains("miles"), shows, "{text}");
        };
        check(false, false);
        check(true, true);
    }
}
