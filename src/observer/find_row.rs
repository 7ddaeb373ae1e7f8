//! What stands in one row with an element: the words that tell it from others that are called the same.

use crate::model::{Element, Role, Tree};

/// Farther away nothing is of the same row.
const FARTHEST: usize = 60;

/// So many names before an element tell what it is of.
const MOST_BEFORE: usize = 6;

/// The names in the row of an element: of the row that it is in, or where rows are no elements, what stands beside it up
/// to the next one that is called the same, or else before it.
pub fn row_names(tree: &Tree, node: usize) -> Vec<&str> {
    if let Some(row) = row_around(tree, node) {
        return names_in(tree, row..tree.end(row), node);
    }
    let Some(parent) = tree.parent(node) else { return Vec::new() };
    let is_equal = |at: &usize| (&tree[*at].role, &tree[*at].name) == (&tree[node].role, &tree[node].name);
    let before = (parent + 1..node).rev().take(FARTHEST).take_while(|at| !is_equal(at)).last();
    let after = (tree.end(node)..tree.end(parent)).take(FARTHEST).take_while(|at| !is_equal(at)).last();
    let (first, last) = (before.unwrap_or(node), after.unwrap_or(node));
    let beside = (first..=last).filter(|&at| at != node && shares_line(&tree[at], &tree[node]));
    let beside: Vec<&str> = names_in(tree, beside, node);
    if !beside.is_empty() {
        return beside;
    }
    let mut names = names_in(tree, first..node, node);
    names.split_off(names.len().saturating_sub(MOST_BEFORE))
}

fn row_around(tree: &Tree, node: usize) -> Option<usize> {
    let is_row = |at: &usize| matches!(tree[*at].role, Role::Row | Role::ListItem | Role::TreeItem);
    std::iter::successors(tree.parent(node), |&at| tree.parent(at)).find(is_row)
}

fn names_in(tree: &Tree, nodes: impl Iterator<Item = usize>, but: usize) -> Vec<&str> {
    let named = nodes.filter(|&at| at != but && !tree[at].hidden).map(|at| tree[at].name.trim());
    let mut names: Vec<&str> = named.filter(|name| !name.is_empty()).collect();
    names.dedup();
    names
}

/// Whether the middle of one is as high on the screen as the other.
fn shares_line(one: &Element, other: &Element) -> bool {
    let middle = one.bounds.center().y;
    !one.bounds.is_empty() && middle >= other.bounds.y && middle < other.bounds.y + other.bounds.height
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Rect, TreeBuilder};

    /// A flat page of rooms, each with a price and a button.
    fn rooms() -> Tree {
        let mut tree = TreeBuilder::new(Element::new("Window", "Hotel", Rect::new(0, 0, 900, 900)));
        for (at, room) in ["Single", "Deluxe", "Suite"].into_iter().enumerate() {
            let y = 100 * at as i32;
            tree.add_leaf(Element::new("Text", room, Rect::new(0, y, 90, 20)));
            tree.add_leaf(Element::new("Text", "two nights", Rect::new(0, y + 30, 90, 20)));
            tree.add_leaf(Element::new("Button", "Book", Rect::new(200, y, 60, 24)));
        }
        tree.finish()
    }

    #[test]
    fn what_stands_on_the_line_of_a_button_is_its_row() {
        let tree = rooms();
        assert_eq!(row_names(&tree, 6), ["Deluxe"]);
        assert_eq!(row_names(&tree, 9), ["Suite"]);
    }

    #[test]
    fn where_nothing_does_what_stands_before_it_is() {
        let mut tree = TreeBuilder::new(Element::new("Window", "Hotel", Rect::new(0, 0, 900, 900)));
        for (at, room) in ["Single", "Deluxe"].into_iter().enumerate() {
            let y = 100 * at as i32;
            tree.add_leaf(Element::new("Heading", room, Rect::new(0, y, 90, 20)));
            tree.add_leaf(Element::new("Button", "Book", Rect::new(0, y + 50, 60, 24)));
        }
        let tree = tree.finish();
        assert_eq!(row_names(&tree, 2), ["Single"]);
        assert_eq!(row_names(&tree, 4), ["Deluxe"]);
    }

    #[test]
    fn a_row_that_is_an_element_counts() {
        let place = Rect::new(0, 0, 9, 9);
        let mut tree = TreeBuilder::new(Element::new("Window", "w", place));
        tree.open(Element::new("Row", "", place));
        tree.add_leaf(Element::new("DataItem", "Ada", place));
        let button = tree.add_leaf(Element::new("Button", "Edit", place));
        assert_eq!(row_names(&tree.finish(), button), ["Ada"]);
    }
}
