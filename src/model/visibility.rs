//! Why a person does not see an element's text although the application says that it shows.
//!
//! Text that a model reads and a person does not is the oldest way to talk to a model behind the person's back, so
//! whatever shows an element's text says this beside it. That something is scrolled away or in a closed menu
//! is normal: it is reported, without an alarm.

use super::{Element, Rect, Tree};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HiddenReason {
    /// It is an option of something that is closed.
    Closed,
    /// It lies outside of the list, table, tree or scroll pane that holds it.
    Scrolled,
    /// It takes no room, and neither does anything in it.
    ZeroSize,
    /// It takes too little room to be read.
    Tiny,
    /// It lies outside of its window.
    Outside,
}

impl HiddenReason {
    pub const fn name(self) -> &'static str {
        match self {
            HiddenReason::Closed => "closed",
            HiddenReason::Scrolled => "scrolled",
            HiddenReason::ZeroSize => "zero-size",
            HiddenReason::Tiny => "tiny",
            HiddenReason::Outside => "outside",
        }
    }

    /// Nothing that applications do in the ordinary way.
    pub const fn is_odd(self) -> bool {
        matches!(self, HiddenReason::ZeroSize | HiddenReason::Tiny | HiddenReason::Outside)
    }
}

/// Nobody reads what is no thicker.
const TINY: i32 = 2;

/// What keeps an element from being seen, although it does not say so itself.
#[derive(Clone, Copy, Debug, Default)]
pub struct ClipCover {
    /// It is an option of something that is closed.
    pub shut: bool,
    /// It shows only within this.
    clip: Option<Rect>,
}

impl ClipCover {
    /// The cover of an element that is in `parent`, which this one lies over.
    pub fn in_parent(self, parent: &Element, element: &Element) -> Self {
        let clips = parent.role.clips() && !parent.bounds.is_empty();
        let shuts = parent.expanded == Some(false) && element.role.is_hidden_by_collapsed_parent();
        let clip = if clips { Some(parent.bounds) } else { self.clip };
        Self { clip: clip.filter(|_| !element.role.lies_over_all()), shut: self.shut || shuts }
    }

    pub fn is_clipped(self, bounds: Rect) -> bool {
        !bounds.is_empty() && self.clip.is_some_and(|clip| !clip.intersects(&bounds))
    }
}

/// Says of each element with a text of its own why it is not to be seen.
pub fn mark(tree: &mut Tree) {
    let unseen = all(tree);
    let mut at = unseen.into_iter();
    tree.change_elements(|element| element.unseen = at.next().flatten());
}

fn all(tree: &Tree) -> Vec<Option<HiddenReason>> {
    let frame = tree.root().bounds;
    let mut covers = vec![ClipCover::default(); tree.len()];
    let mut pops_up = vec![false; tree.len()];
    let has_room = has_room(tree);
    let mut unseen = vec![None; tree.len()];
    for node in 1..tree.len() {
        let Some(parent) = tree.parent(node) else { continue };
        let element = &tree[node];
        let cover = covers[parent].in_parent(&tree[parent], element);
        covers[node] = cover;
        pops_up[node] = pops_up[parent] || element.role.pops_up();
        let outside = !pops_up[node] && !frame.is_empty() && !frame.intersects(&element.bounds);
        let reason = if cover.shut {
            Some(HiddenReason::Closed)
        } else if !has_room[node] {
            Some(HiddenReason::ZeroSize)
        } else if element.bounds.is_empty() {
            // What is in it shows, so it is a group whose place nobody asked for.
            None
        } else if cover.is_clipped(element.bounds) {
            Some(HiddenReason::Scrolled)
        } else if outside {
            Some(HiddenReason::Outside)
        } else {
            (element.bounds.width.min(element.bounds.height) <= TINY).then_some(HiddenReason::Tiny)
        };
        unseen[node] = reason.filter(|_| !element.hidden && says_something(element));
    }
    unseen
}

/// Whether each element, or something in it, takes room.
fn has_room(tree: &Tree) -> Vec<bool> {
    let mut has_room: Vec<bool> = tree.elements().iter().map(|element| !element.bounds.is_empty()).collect();
    // Backwards, so that an element knows of what is in it before its own turn comes.
    for node in (1..tree.len()).rev() {
        if let (true, Some(parent)) = (has_room[node], tree.parent(node)) {
            has_room[parent] = true;
        }
    }
    has_room
}

fn says_something(element: &Element) -> bool {
    let texts = [Some(&element.name), element.value.as_ref(), element.description.as_ref()];
    texts.into_iter().flatten().any(|text| !text.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::TreeBuilder;

    #[track_caller]
    fn check(role: &'static str, bounds: Rect, expected: Option<HiddenReason>) {
        let mut tree = TreeBuilder::new(Element::new("Window", "w", Rect::new(100, 100, 200, 200)));
        tree.add_leaf(Element::new(role, "text", bounds));
        let mut tree = tree.finish();
        mark(&mut tree);
        assert_eq!(tree[1].unseen, expected, "{role} {bounds:?}");
    }

    #[test]
    fn every_reason_is_told() {
        check("Text", Rect::new(110, 110, 50, 20), None);
        check("Text", Rect::new(110, 110, 0, 20), Some(HiddenReason::ZeroSize));
        check("Text", Rect::default(), Some(HiddenReason::ZeroSize));
        check("Text", Rect::new(110, 110, 1, 1), Some(HiddenReason::Tiny));
        check("Text", Rect::new(-9999, 110, 50, 20), Some(HiddenReason::Outside));
        check("Text", Rect::new(110, 300, 50, 20), Some(HiddenReason::Outside));
        check("Text", Rect::new(110, 299, 50, 20), None);
    }

    #[test]
    fn menus_lie_where_they_like() {
        check("Menu", Rect::new(110, 310, 50, 20), None);
        check("ToolTip", Rect::new(0, 0, 50, 20), None);
    }

    #[test]
    fn what_is_scrolled_or_closed_is_ordinary() {
        let frame = Rect::new(0, 0, 100, 100);
        let mut tree = TreeBuilder::new(Element::new("Window", "w", frame));
        tree.open(Element::new("List", "l", Rect::new(0, 0, 100, 40)));
        tree.add_leaf(Element::new("ListItem", "in", Rect::new(0, 20, 100, 20)));
        tree.add_leaf(Element::new("ListItem", "below", Rect::new(0, 60, 100, 20)));
        tree.close();
        tree.open(Element {
            expanded: Some(false),
            ..Element::new("ComboBox", "c", Rect::new(0, 50, 50, 20))
        });
        tree.add_leaf(Element::new("ListItem", "option", Rect::new(0, 70, 50, 20)));
        let mut tree = tree.finish();
        mark(&mut tree);
        let unseen: Vec<_> = tree.elements().iter().map(|element| element.unseen).collect();
        assert_eq!(
            unseen,
            [None, None, None, Some(HiddenReason::Scrolled), None, Some(HiddenReason::Closed)]
        );
        assert!(unseen.into_iter().flatten().all(|reason| !reason.is_odd()));
    }

    #[test]
    fn a_menu_lies_over_the_pane_that_it_hangs_in() {
        let mut tree = TreeBuilder::new(Element::new("Window", "w", Rect::new(0, 0, 100, 100)));
        tree.open(Element::new("ScrollPane", "", Rect::new(0, 0, 100, 20)));
        tree.open(Element::new("Menu", "m", Rect::new(0, 10, 50, 80)));
        tree.add_leaf(Element::new("MenuItem", "Paste", Rect::new(0, 60, 50, 20)));
        let mut tree = tree.finish();
        mark(&mut tree);
        assert_eq!(tree[3].unseen, None);
    }

    #[test]
    fn a_group_without_a_place_shows_what_is_in_it() {
        let mut tree = TreeBuilder::new(Element::new("Window", "w", Rect::new(0, 0, 9, 9)));
        tree.open(Element::new("Group", "g", Rect::default()));
        tree.add_leaf(Element::new("Text", "t", Rect::new(1, 1, 5, 5)));
        let mut tree = tree.finish();
        mark(&mut tree);
        assert_eq!(tree[1].unseen, None);
    }

    #[test]
    fn what_says_nothing_or_is_hidden_is_not_marked() {
        let mut tree = TreeBuilder::new(Element::new("Window", "w", Rect::new(0, 0, 9, 9)));
        tree.add_leaf(Element::new("Group", " ", Rect::default()));
        tree.add_leaf(Element { hidden: true, ..Element::new("Text", "t", Rect::default()) });
        let mut tree = tree.finish();
        mark(&mut tree);
        assert!(tree.elements().iter().all(|element| element.unseen.is_none()));
    }
}
