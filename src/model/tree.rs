//! A window's elements as one pre-order array.
//!
//! Element `i` owns the slice `i..end(i)`: a subtree is contiguous, a walk is a loop, and neither
//! a deep nor a wide tree can overflow the stack or turn quadratic. The public id of an element
//! is positional: `root`, then the slots of its ancestors (`root.0.3`).

use sha1::{Digest, Sha1};

use super::Element;

#[derive(Clone, Debug, PartialEq)]
pub struct Tree {
    elements: Vec<Element>,
    places: Vec<NodePlace>,
    /// False when the platform could not deliver all of it (limits, a timeout, a dying application).
    pub complete: bool,
    /// Why the application shows less of itself than a person sees, where the platform knows.
    pub lacking: Option<String>,
    /// What whoever looks at it should know of the window as a whole.
    pub notice: Option<String>,
    /// How far its page is scrolled.
    pub scrolled: (i32, i32),
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct NodePlace {
    parent: u32,
    end: u32,
    /// The element's number within its parent, as the id spells it. Usually its position.
    slot: u32,
    depth: u32,
}

const NO_PARENT: u32 = u32::MAX;

/// How large a tree may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    pub elements: usize,
    /// Levels below the root.
    pub depth: usize,
    /// Of one element.
    pub children: usize,
}

impl std::ops::Index<usize> for Tree {
    type Output = Element;

    fn index(&self, node: usize) -> &Element {
        &self.elements[node]
    }
}

impl Tree {
    pub const ROOT: usize = 0;

    /// A tree of the root alone.
    pub fn of_root(root: Element) -> Self {
        TreeBuilder::new(root).finish()
    }

    pub fn len(&self) -> usize {
        self.elements.len()
    }

    /// Never: every tree has a root. Present because `len` is.
    pub fn is_empty(&self) -> bool {
        self.elements.is_empty()
    }

    /// Whether a person may see elements in the window that are not in here.
    pub fn leaves_out(&self) -> bool {
        !self.complete || self.lacking.is_some()
    }

    /// Nothing of the window could be read now, and why is known: it says nothing about what is in it.
    pub fn is_unread(&self) -> bool {
        !self.complete && self.lacking.is_some() && self.len() == 1
    }

    pub fn root(&self) -> &Element {
        &self.elements[Self::ROOT]
    }

    pub fn elements(&self) -> &[Element] {
        &self.elements
    }

    /// The same shape with other texts: used to show a redacted copy.
    pub fn map_elements(&self, change: impl FnMut(&mut Element)) -> Tree {
        let mut copy = self.clone();
        copy.change_elements(change);
        copy
    }

    pub fn change_elements(&mut self, change: impl FnMut(&mut Element)) {
        self.elements.iter_mut().for_each(change);
    }

    pub fn parent(&self, node: usize) -> Option<usize> {
        let parent = self.places[node].parent;
        (parent != NO_PARENT).then_some(parent as usize)
    }

    /// One past the last element below `node`; `node..end(node)` is its subtree.
    pub fn end(&self, node: usize) -> usize {
        self.places[node].end as usize
    }

    pub fn depth(&self, node: usize) -> usize {
        self.places[node].depth as usize
    }

    pub fn child_index(&self, node: usize) -> u32 {
        self.places[node].slot
    }

    pub fn children(&self, node: usize) -> Children<'_> {
        Children { tree: self, next: node + 1, end: self.end(node) }
    }

    pub fn child_count(&self, node: usize) -> usize {
        self.children(node).count()
    }

    /// `root.0.3`.
    pub fn id(&self, node: usize) -> String {
        let mut slots = Vec::with_capacity(self.depth(node));
        let mut at = node;
        while let Some(parent) = self.parent(at) {
            slots.push(self.child_index(at));
            at = parent;
        }
        let mut id = String::from("root");
        for slot in slots.into_iter().rev() {
            id.push('.');
            id.push_str(format_decimal(slot, &mut [0; 10]));
        }
        id
    }

    /// The id of a child of the element with this id: a walk need not climb to the root for every node.
    pub fn child_id(&self, parent_id: &str, child: usize) -> String {
        let mut digits = [0; 10];
        let slot = format_decimal(self.child_index(child), &mut digits);
        let mut id = String::with_capacity(parent_id.len() + 1 + slot.len());
        id.push_str(parent_id);
        id.push('.');
        id.push_str(slot);
        id
    }

    pub fn find_id(&self, id: &str) -> Option<usize> {
        let mut parts = id.split('.');
        if parts.next() != Some("root") {
            return None;
        }
        let mut node = Self::ROOT;
        for part in parts {
            let slot: u32 = part.parse().ok()?;
            node = self.children(node).find(|&child| self.child_index(child) == slot)?;
        }
        // `root.01` parses as `root.1` but is no id of ours.
        (self.id(node) == id).then_some(node)
    }

    /// As much of it as the bounds allow, whatever the platform delivered. What had to go marks it incomplete.
    pub fn within(self, bounds: Bounds) -> Tree {
        if self.fits_bounds(bounds) {
            return self;
        }
        let mut kept = TreeBuilder::new(self.root().clone());
        kept.tree.lacking.clone_from(&self.lacking);
        kept.tree.notice.clone_from(&self.notice);
        kept.mark_incomplete();
        // How many children each of the elements has that are open, the root first.
        let mut children = vec![0];
        let mut at = 1;
        while at < self.len() && kept.len() < bounds.elements {
            let depth = self.depth(at);
            children.truncate(depth);
            if depth > bounds.depth || children.last().is_some_and(|count| *count >= bounds.children) {
                at = self.end(at);
                continue;
            }
            while kept.depth() > depth {
                kept.close();
            }
            kept.open_in_slot(self.elements[at].clone(), self.child_index(at));
            if let Some(count) = children.last_mut() {
                *count += 1;
            }
            children.push(0);
            at += 1;
        }
        kept.finish()
    }

    fn fits_bounds(&self, bounds: Bounds) -> bool {
        let many = self.len() > bounds.children;
        self.len() <= bounds.elements
            && self.places.iter().all(|place| place.depth as usize <= bounds.depth)
            && !(many && self.most_children() > bounds.children)
    }

    fn most_children(&self) -> usize {
        let mut counts = vec![0; self.len()];
        for parent in self.places.iter().map(|place| place.parent).filter(|&parent| parent != NO_PARENT) {
            counts[parent as usize] += 1;
        }
        counts.into_iter().max().unwrap_or(0)
    }

    /// The element that has the keyboard focus. Of several that claim it: one that shows, with all that it is in; a
    /// secret field, so that what is typed is rather taken for a secret than not; a field; the innermost.
    pub fn focused(&self) -> Option<usize> {
        let claims = (0..self.len()).filter(|&node| self[node].focused);
        claims.max_by_key(|&node| {
            let element = &self[node];
            (self.visibility_of(node), element.is_secret(), element.editable, self.depth(node), node)
        })
    }

    /// Whether what is typed now may go into a secret field: the one that has the focus, or one in the group or
    /// window that has it, or anywhere where nothing has it.
    pub fn focus_is_secret(&self) -> bool {
        self.holds_secret(self.focused().unwrap_or(Self::ROOT))
    }

    /// Whether it is a secret field, or has one in it.
    pub fn holds_secret(&self, node: usize) -> bool {
        (node..self.end(node)).any(|inner| self[inner].is_secret())
    }

    /// 0 for what is hidden, 1 for what says that it shows in something hidden, 2 for what shows.
    fn visibility_of(&self, node: usize) -> u8 {
        let mut above = std::iter::successors(self.parent(node), |&parent| self.parent(parent));
        match self[node].hidden {
            true => 0,
            false => 1 + u8::from(!above.any(|ancestor| self[ancestor].hidden)),
        }
    }

    /// The contract's hash of the subtree at `node`: what clients compare between observations.
    pub fn hash(&self, node: usize) -> String {
        let mut sha = Sha1::new();
        // Gathered, because a digest takes one long text faster than fifteen short ones.
        let mut line = Vec::new();
        for at in node..self.end(node) {
            line.clear();
            self.write_hashed(at, &mut line);
            sha.update(&line);
        }
        let mut text = String::with_capacity(45);
        text.push_str("sha1:");
        for byte in sha.finalize() {
            text.push(char::from_digit(u32::from(byte >> 4), 16).unwrap_or('0'));
            text.push(char::from_digit(u32::from(byte & 15), 16).unwrap_or('0'));
        }
        text
    }

    fn write_hashed(&self, node: usize, line: &mut Vec<u8>) {
        let element = &self[node];
        for text in [element.role.name(), &element.name, element.value.as_deref().unwrap_or("")] {
            line.extend_from_slice(text.as_bytes());
            line.push(0);
        }
        let bounds = element.bounds;
        for (number, end) in [(bounds.x, b','), (bounds.y, b','), (bounds.width, b','), (bounds.height, 0)] {
            if number < 0 {
                line.push(b'-');
            }
            line.extend_from_slice(format_decimal(number.unsigned_abs(), &mut [0; 10]).as_bytes());
            line.push(end);
        }
        line.extend_from_slice(if element.enabled { b"E\0" } else { b"D\0" });
        line.extend_from_slice(format_decimal(self.child_count(node) as u32, &mut [0; 10]).as_bytes());
        line.push(0);
    }

    /// Differs whenever anything that is shown differs, also what the contract's hash leaves out
    /// (focus, selection, expansion, ranges, texts). Only compared within one process.
    pub fn fingerprint(&self) -> u64 {
        self.fingerprint_with(true, true)
    }

    /// The same, without the focus, or without where everything is and whether that is in view.
    pub fn fingerprint_with(&self, focus: bool, places: bool) -> u64 {
        use std::hash::{DefaultHasher, Hash, Hasher};
        let mut hasher = DefaultHasher::new();
        for (element, place) in self.elements.iter().zip(&self.places) {
            (&element.role, &element.name, &element.value).hash(&mut hasher);
            places.then_some((element.bounds, element.hidden)).hash(&mut hasher);
            (element.enabled, focus && element.focused, element.selected, element.expanded).hash(&mut hasher);
            (&element.shortcut, &element.description, &element.identifier).hash(&mut hasher);
            (element.editable, element.read_only, element.invalid).hash(&mut hasher);
            for number in [element.range.now, element.range.min, element.range.max] {
                number.map(f64::to_bits).hash(&mut hasher);
            }
            place.end.hash(&mut hasher);
        }
        hasher.finish()
    }
}

pub struct Children<'a> {
    tree: &'a Tree,
    next: usize,
    end: usize,
}

impl Iterator for Children<'_> {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        (self.next < self.end).then(|| {
            let node = self.next;
            self.next = self.tree.end(node);
            node
        })
    }
}

/// Builds a tree in pre-order: `open` an element, add what is below it, `close` it.
#[derive(Debug)]
pub struct TreeBuilder {
    tree: Tree,
    open: Vec<OpenNode>,
}

#[derive(Debug)]
struct OpenNode {
    node: usize,
    next_slot: u32,
}

impl TreeBuilder {
    pub fn new(root: Element) -> Self {
        let place = NodePlace { parent: NO_PARENT, end: 1, slot: 0, depth: 0 };
        let tree = Tree {
            elements: vec![root],
            places: vec![place],
            complete: true,
            lacking: None,
            notice: None,
            scrolled: (0, 0),
        };
        Self { tree, open: vec![OpenNode { node: Tree::ROOT, next_slot: 0 }] }
    }

    pub fn open(&mut self, element: Element) -> usize {
        let slot = self.open.last().map_or(0, |parent| parent.next_slot);
        self.open_in_slot(element, slot)
    }

    /// For worlds whose ids are not positions (the default mock window lists `root.4` last).
    pub fn open_in_slot(&mut self, element: Element, slot: u32) -> usize {
        let node = self.tree.elements.len();
        let parent = match self.open.last_mut() {
            Some(parent) => {
                // A file may give any number, also the last.
                parent.next_slot = slot.saturating_add(1);
                parent.node as u32
            }
            None => NO_PARENT,
        };
        let place = NodePlace { parent, end: node as u32 + 1, slot, depth: self.open.len() as u32 };
        self.tree.elements.push(element);
        self.tree.places.push(place);
        self.open.push(OpenNode { node, next_slot: 0 });
        node
    }

    /// Closing the root is left to `finish`.
    pub fn close(&mut self) {
        if self.open.len() > 1
            && let Some(closed) = self.open.pop()
        {
            self.tree.places[closed.node].end = self.tree.elements.len() as u32;
        }
    }

    pub fn add_leaf(&mut self, element: Element) -> usize {
        let node = self.open(element);
        self.close();
        node
    }

    pub fn len(&self) -> usize {
        self.tree.len()
    }

    pub fn is_empty(&self) -> bool {
        self.tree.is_empty()
    }

    pub fn depth(&self) -> usize {
        self.open.len()
    }

    pub fn mark_incomplete(&mut self) {
        self.tree.complete = false;
    }

    pub fn finish(mut self) -> Tree {
        while let Some(closed) = self.open.pop() {
            self.tree.places[closed.node].end = self.tree.elements.len() as u32;
        }
        self.tree
    }
}

/// Decimal digits without an allocation: ids and hashes are written for every node of every reply.
fn format_decimal(mut number: u32, buffer: &mut [u8; 10]) -> &str {
    let mut at = buffer.len();
    loop {
        at -= 1;
        buffer[at] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    std::str::from_utf8(&buffer[at..]).unwrap_or("0")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Rect;

    fn element(name: &str) -> Element {
        Element::new("Group", name, Rect::new(0, 0, 1, 1))
    }

    #[track_caller]
    fn check_within(bounds: (usize, usize, usize), ids: &[&str]) {
        let bounds = Bounds { elements: bounds.0, depth: bounds.1, children: bounds.2 };
        let kept = sample().within(bounds);
        assert_eq!((0..kept.len()).map(|node| kept.id(node)).collect::<Vec<_>>(), ids);
        assert_eq!(kept.complete, kept == sample());
        // What is left stands where it stood.
        for node in 0..kept.len() {
            let was = sample().find_id(&kept.id(node)).unwrap();
            assert_eq!(kept[node], sample()[was]);
        }
    }

    /// H-46 on code: a tree that is too large, too deep or too wide is cut, and says so.
    #[test]
    fn a_tree_is_held_to_its_bounds() {
        let all: Vec<String> = (0..sample().len()).map(|node| sample().id(node)).collect();
        let all: Vec<&str> = all.iter().map(String::as_str).collect();
        check_within((all.len(), 64, 2_000), &all);
        check_within((1, 64, 2_000), &all[..1]);
        check_within((3, 64, 2_000), &all[..3]);
        let shallow: Vec<&str> = all.iter().copied().filter(|id| id.matches('.').count() <= 1).collect();
        check_within((99, 1, 2_000), &shallow);
        let narrow: Vec<&str> =
            all.iter().copied().filter(|id| !id.split('.').skip(1).any(|slot| slot != "0")).collect();
        check_within((99, 64, 1), &narrow);
    }

    fn sample() -> Tree {
        let mut tree = TreeBuilder::new(element("root"));
        tree.open(element("a"));
        tree.add_leaf(element("a0"));
        tree.add_leaf(element("a1"));
        tree.close();
        tree.add_leaf(element("b"));
        tree.finish()
    }

    #[test]
    fn children_skip_whole_subtrees() {
        let tree = sample();
        assert_eq!(tree.children(0).collect::<Vec<_>>(), vec![1, 4]);
        assert_eq!(tree.children(1).collect::<Vec<_>>(), vec![2, 3]);
        assert_eq!(tree.children(4).count(), 0);
    }

    #[test]
    fn ids_lead_back_to_their_elements() {
        let tree = sample();
        for node in 0..tree.len() {
            assert_eq!(tree.find_id(&tree.id(node)), Some(node));
        }
        assert_eq!(tree.id(3), "root.0.1");
        for node in 1..tree.len() {
            let parent = tree.parent(node).unwrap();
            assert_eq!(tree.child_id(&tree.id(parent), node), tree.id(node));
        }
    }

    #[test]
    fn the_hash_is_made_of_these_bytes() {
        let mut root = Element::new("Window", "Ä", Rect::new(-8, i32::MIN, 0, 1040));
        root.value = Some("v".to_owned());
        let mut tree = TreeBuilder::new(root);
        tree.add_leaf(Element { enabled: false, ..element("b") });
        let bytes = "Window\0Ä\0v\0-8,-2147483648,0,1040\0E\x001\0Group\0b\0\x000,0,1,1\0D\x000\0";
        let digest: String = Sha1::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(tree.finish().hash(0), format!("sha1:{digest}"));
    }

    /// Fields in a page each: whether the page and the field are hidden, the field's role, the focus.
    #[track_caller]
    fn check_focus(fields: &[(bool, bool, &'static str)], expected: Option<usize>, secret: bool) {
        let mut tree = TreeBuilder::new(Element { focused: true, ..element("root") });
        for (page_hidden, hidden, role) in fields {
            tree.open(Element { hidden: *page_hidden, ..element("page") });
            let field = Element::new(*role, "field", Rect::new(0, 0, 1, 1));
            tree.add_leaf(Element { hidden: *hidden, focused: true, editable: *role != "Button", ..field });
            tree.close();
        }
        let tree = tree.finish();
        assert_eq!(tree.focused(), expected.map(|at| 2 + 2 * at).or(Some(0)), "{fields:?}");
        assert_eq!(tree.focus_is_secret(), secret, "{fields:?}");
    }

    #[test]
    fn of_several_that_claim_the_focus_one_that_shows_has_it() {
        check_focus(&[], None, false);
        check_focus(&[(false, false, "Edit"), (false, true, "Edit")], Some(0), false);
        check_focus(&[(false, false, "PasswordEdit"), (true, false, "TabItem")], Some(0), true);
        check_focus(&[(false, false, "Edit"), (false, false, "Button")], Some(0), false);
        check_focus(&[(false, false, "Button"), (false, false, "Button")], Some(1), false);
        check_focus(&[(false, false, "PasswordEdit"), (false, false, "Edit")], Some(0), true);
        check_focus(&[(true, false, "PasswordEdit"), (false, false, "Edit")], Some(1), false);
    }

    #[test]
    fn where_nothing_has_the_focus_any_secret_field_may_have_it() {
        let of = |role: &'static str| {
            let mut tree = TreeBuilder::new(element("root"));
            tree.add_leaf(Element::new(role, "field", Rect::default()));
            tree.finish()
        };
        assert!(of("PasswordEdit").focus_is_secret());
        assert!(!of("Edit").focus_is_secret());
    }

    #[test]
    fn near_ids_are_not_ids() {
        let tree = sample();
        for wrong in ["", "root.", "root.00", "root.0.2", "Root", "root.0.1.0", "root.-1", "0"] {
            assert_eq!(tree.find_id(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn fingerprint_sees_what_the_hash_does_not() {
        let before = sample();
        let after = before.map_elements(|element| {
            if element.name == "b" {
                element.selected = Some(true);
            }
        });
        assert_eq!(before.hash(0), after.hash(0));
        assert_ne!(before.fingerprint(), after.fingerprint());
    }

    #[test]
    fn places_can_be_left_out_of_a_fingerprint() {
        let change = |change: fn(&mut Element)| sample().map_elements(change).fingerprint_with(true, false);
        let before = sample().fingerprint_with(true, false);
        assert_eq!(change(|element| (element.bounds.y, element.hidden) = (900, true)), before);
        assert_ne!(change(|element| element.enabled = false), before);
    }

    #[test]
    fn the_focus_can_be_left_out_of_a_fingerprint() {
        let change = |change: fn(&mut Element)| {
            sample().map_elements(|element| {
                if element.name == "b" {
                    change(element)
                }
            })
        };
        let same =
            |after: Tree| sample().fingerprint_with(false, true) == after.fingerprint_with(false, true);
        assert!(same(change(|element| element.focused = true)));
        assert!(!same(change(|element| element.enabled = false)));
    }

    #[test]
    fn a_very_deep_tree_is_walked_without_recursion() {
        let mut builder = TreeBuilder::new(element("root"));
        for _ in 0..200_000 {
            builder.open(element(""));
        }
        let tree = builder.finish();
        assert_eq!(tree.depth(tree.len() - 1), 200_000);
        assert!(tree.hash(0).starts_with("sha1:"));
    }
}
