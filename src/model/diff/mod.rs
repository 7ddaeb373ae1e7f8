//! What has changed between two trees: the contract's own format, and JSON Patch.
//!
//! Both are lists of places in the two trees, so nothing is copied and nothing is written here; the
//! observer writes them. The work is one pass of hashes over both trees and then only what differs.
//! Nothing recurses and nothing compares siblings pairwise: depth and width cost what they weigh.
//!
//! Children are paired with children of the same role and name: identical subtrees first, then those
//! with the same content in another place or state, then those beside a pair, then in their order. What has no partner was
//! removed or added; among the paired, as few as possible are moves.
//!
//! # How the custom format is applied
//!
//! Its order is the contract's and its indices do not follow from one another, so it is not applied
//! line by line. All paths lead through the *new* tree, except that the last index of `remove` and of
//! a move's `from` is the child's index in the *old* parent. For each parent, the shallowest first:
//!
//! 1. take out the children that `remove` and `from` name, by their old indices;
//! 2. put what was added or moved at its new index; the others fill the gaps in their old order;
//! 3. when every parent is done, write the `fields` of each `replace`. `null` for a fact that is only
//!    shown when it is known (`selected`, `expanded`, `value_now`, `value_min`, `value_max`,
//!    `identifier`, `editable`, `offscreen`, `hidden`) takes it away.
//!
//! Ids are not sent again: the last number of an id is the index among the siblings and follows it; one
//! that was another number stays. Where that is not so, `fields` has the `id`.

mod matching;
mod patch;
mod paths;
mod subtree_hash;

pub use patch::{Patch, json_patch};
pub use paths::Paths;

use serde::Serialize;

use super::{Element, Rect, Tree};
use matching::{Arrangement, PairedNode};
use subtree_hash::Prints;

/// A tree as it may be shown, and the same tree as it is: a change behind a redaction is still a change.
#[derive(Clone, Copy, Debug)]
pub struct ComparableTree<'a> {
    pub shown: &'a Tree,
    pub raw: &'a Tree,
}

impl<'a> From<&'a Tree> for ComparableTree<'a> {
    fn from(tree: &'a Tree) -> Self {
        ComparableTree { shown: tree, raw: tree }
    }
}

/// One change of the custom format. Nodes of the old tree are only in `Move::from` and `Remove::node`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TreeChange {
    /// The node is the same one, and these facts of it differ.
    Replace {
        node: usize,
        fields: NodeFields,
    },
    Move {
        from: usize,
        to: usize,
    },
    /// `under` is the parent in the new tree.
    Remove {
        node: usize,
        under: usize,
    },
    /// With everything below it.
    Add {
        node: usize,
    },
}

/// What of a node can change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeField {
    Id,
    Name,
    Role,
    Value,
    Bounds,
    Enabled,
    Focused,
    Shortcut,
    Description,
    Selected,
    Expanded,
    ValueNow,
    ValueMin,
    ValueMax,
    Identifier,
    Editable,
    Invalid,
    Offscreen,
    Hidden,
}

/// A field's value as JSON has it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum FieldValue<'a> {
    Null,
    Text(&'a str),
    Flag(bool),
    Number(f64),
    Bounds(Rect),
}

impl NodeField {
    /// All that an element says of itself; the id is said by its place.
    const OF_ELEMENT: [NodeField; 18] = [
        NodeField::Name,
        NodeField::Role,
        NodeField::Value,
        NodeField::Bounds,
        NodeField::Enabled,
        NodeField::Focused,
        NodeField::Shortcut,
        NodeField::Description,
        NodeField::Selected,
        NodeField::Expanded,
        NodeField::ValueNow,
        NodeField::ValueMin,
        NodeField::ValueMax,
        NodeField::Identifier,
        NodeField::Editable,
        NodeField::Invalid,
        NodeField::Offscreen,
        NodeField::Hidden,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            NodeField::Id => "id",
            NodeField::Name => "name",
            NodeField::Role => "role",
            NodeField::Value => "value",
            NodeField::Bounds => "bounds",
            NodeField::Enabled => "enabled",
            NodeField::Focused => "focused",
            NodeField::Shortcut => "keyboard_shortcut",
            NodeField::Description => "description",
            NodeField::Selected => "selected",
            NodeField::Expanded => "expanded",
            NodeField::ValueNow => "value_now",
            NodeField::ValueMin => "value_min",
            NodeField::ValueMax => "value_max",
            NodeField::Identifier => "identifier",
            NodeField::Editable => "editable",
            NodeField::Invalid => "invalid",
            NodeField::Offscreen => "offscreen",
            NodeField::Hidden => "hidden",
        }
    }

    /// The element's value of this field; `None` when the node does not carry the key at all.
    pub fn of(self, element: &Element) -> Option<FieldValue<'_>> {
        match self {
            NodeField::Id => None,
            NodeField::Name => Some(FieldValue::Text(&element.name)),
            NodeField::Role => Some(FieldValue::Text(element.role.name())),
            NodeField::Value => Some(text_or_null(&element.value)),
            NodeField::Bounds => Some(FieldValue::Bounds(element.bounds)),
            NodeField::Enabled => Some(FieldValue::Flag(element.enabled)),
            NodeField::Focused => Some(FieldValue::Flag(element.focused)),
            NodeField::Shortcut => Some(text_or_null(&element.shortcut)),
            NodeField::Description => Some(text_or_null(&element.description)),
            NodeField::Selected => element.selected.map(FieldValue::Flag),
            NodeField::Expanded => element.expanded.map(FieldValue::Flag),
            NodeField::ValueNow => known_number(element.range.now),
            NodeField::ValueMin => known_number(element.range.min),
            NodeField::ValueMax => known_number(element.range.max),
            NodeField::Identifier => element.identifier.as_deref().map(FieldValue::Text),
            NodeField::Editable => element.editable.then_some(FieldValue::Flag(true)),
            NodeField::Invalid => element.invalid.then_some(FieldValue::Flag(true)),
            NodeField::Offscreen => element.hidden.then_some(FieldValue::Flag(true)),
            NodeField::Hidden => element.unseen.map(|unseen| FieldValue::Text(unseen.name())),
        }
    }
}

fn text_or_null(text: &Option<String>) -> FieldValue<'_> {
    text.as_deref().map_or(FieldValue::Null, FieldValue::Text)
}

/// JSON has no infinities, and what is no number would differ from itself for ever.
fn known_number(number: Option<f64>) -> Option<FieldValue<'static>> {
    number.filter(|number| number.is_finite()).map(FieldValue::Number)
}

/// A set of fields.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NodeFields(u32);

impl NodeFields {
    fn insert(&mut self, field: NodeField) {
        self.0 |= 1 << field as u32;
    }

    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub fn contains(self, field: NodeField) -> bool {
        self.0 & (1 << field as u32) != 0
    }

    pub fn iter(self) -> impl Iterator<Item = NodeField> {
        [NodeField::Id].into_iter().chain(NodeField::OF_ELEMENT).filter(move |&field| self.contains(field))
    }
}

/// The changes that lead from one tree to the other, in the contract's order. None: they are shown alike,
/// and so is what is behind them.
pub fn diff_trees<'a>(
    old: impl Into<ComparableTree<'a>>,
    new: impl Into<ComparableTree<'a>>,
) -> Vec<TreeChange> {
    let comparison = Comparison::new(old.into(), new.into());
    let mut changes = Vec::new();
    let mut steps = vec![DiffStep::Visit(PairedNode { old: Tree::ROOT, new: Tree::ROOT, moved: false })];
    while let Some(step) = steps.pop() {
        match step {
            DiffStep::Visit(kept) => visit(&comparison, kept, &mut changes, &mut steps),
            DiffStep::Removed { under, nodes } => {
                changes.extend(nodes.into_iter().map(|node| TreeChange::Remove { node, under }));
            }
            DiffStep::Added { nodes } => {
                changes.extend(nodes.into_iter().map(|node| TreeChange::Add { node }))
            }
        }
    }
    changes
}

/// What is still to be said, the last first.
enum DiffStep {
    Visit(PairedNode),
    Removed { under: usize, nodes: Vec<usize> },
    Added { nodes: Vec<usize> },
}

fn visit(
    comparison: &Comparison,
    kept: PairedNode,
    changes: &mut Vec<TreeChange>,
    steps: &mut Vec<DiffStep>,
) {
    let PairedNode { old, new, moved } = kept;
    if moved {
        changes.push(TreeChange::Move { from: old, to: new });
    }
    let same = comparison.same(old, new);
    let mut fields = if same { NodeFields::default() } else { comparison.changed_fields(old, new) };
    if comparison.unexpected_number(old, new) {
        fields.insert(NodeField::Id);
    }
    if !fields.is_empty() {
        changes.push(TreeChange::Replace { node: new, fields });
    }
    if !same {
        push_children(comparison.arrange_children(old, new), new, steps, |kept| {
            kept.moved
                || !comparison.same(kept.old, kept.new)
                || comparison.unexpected_number(kept.old, kept.new)
        });
    }
}

fn push_children(
    arrangement: Arrangement,
    under: usize,
    steps: &mut Vec<DiffStep>,
    matters: impl Fn(&PairedNode) -> bool,
) {
    if !arrangement.added.is_empty() {
        steps.push(DiffStep::Added { nodes: arrangement.added });
    }
    if !arrangement.removed.is_empty() {
        steps.push(DiffStep::Removed { under, nodes: arrangement.removed });
    }
    steps.extend(arrangement.kept.into_iter().rev().filter(matters).map(DiffStep::Visit));
}

/// Two trees and what is known of each: what both formats are made from.
struct Comparison<'a> {
    old: Half<'a>,
    new: Half<'a>,
}

struct Half<'a> {
    seen: ComparableTree<'a>,
    prints: Prints,
    paths: Paths<'a>,
}

impl<'a> Comparison<'a> {
    fn new(old: ComparableTree<'a>, new: ComparableTree<'a>) -> Self {
        let keys = std::hash::RandomState::new();
        let half = |seen: ComparableTree<'a>| Half {
            prints: Prints::of(seen, &keys),
            paths: Paths::of(seen.shown),
            seen,
        };
        Self { old: half(old), new: half(new) }
    }

    /// Whether the two subtrees are shown alike and are alike, but for where the upper one stands.
    fn same(&self, old: usize, new: usize) -> bool {
        self.old.prints.exact[old] == self.new.prints.exact[new]
    }

    fn arrange_children(&self, old: usize, new: usize) -> Arrangement {
        matching::arrange_children(
            (&self.old.prints, self.old.seen.shown.children(old).collect()),
            (&self.new.prints, self.new.seen.shown.children(new).collect()),
        )
    }

    fn changed_fields(&self, old: usize, new: usize) -> NodeFields {
        let mut fields = NodeFields::default();
        let shown = (&self.old.seen.shown[old], &self.new.seen.shown[new]);
        let raw = (&self.old.seen.raw[old], &self.new.seen.raw[new]);
        for field in NodeField::OF_ELEMENT {
            if field.of(shown.0) != field.of(shown.1) {
                fields.insert(field);
            } else if field.of(raw.0) != field.of(raw.1) {
                // What is hidden altogether changes with the value, which every node has.
                let is_shown = field.of(shown.1).is_some();
                fields.insert(if is_shown { field } else { NodeField::Value });
            }
        }
        fields
    }

    /// Whether the node's number is not the one that a client would give it.
    fn unexpected_number(&self, old: usize, new: usize) -> bool {
        let (old_tree, new_tree) = (self.old.seen.shown, self.new.seen.shown);
        let follows_position = old_tree.child_index(old) == self.old.paths.position(old);
        let expected =
            if follows_position { self.new.paths.position(new) } else { old_tree.child_index(old) };
        new_tree.child_index(new) != expected
    }

    fn is_renumbered(&self, old: usize, new: usize) -> bool {
        self.old.seen.shown.child_index(old) != self.new.seen.shown.child_index(new)
    }
}
