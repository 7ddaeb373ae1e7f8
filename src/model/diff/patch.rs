//! The changes as JSON Patch (RFC 6902): applied one after the other by any library, they turn the old
//! tree's JSON into exactly the new tree's, every `id` included. <https://www.rfc-editor.org/rfc/rfc6902>
//!
//! Ids are positional, so one inserted sibling renumbers all that follow and every node below them, and
//! each gets its line: that is the price of a patch that needs no knowledge of trees. The custom format
//! leaves ids to the client. A patch that would be longer than the tree is replaced by the tree.

use super::matching::{Arrangement, PairedNode};
use super::{ComparableTree, Comparison, NodeField};
use crate::model::Tree;

/// One operation. Nodes are of the new tree; indices are those at the moment of the operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Patch {
    /// The whole new tree.
    Everything,
    /// A fact that becomes known.
    AddField {
        node: usize,
        field: NodeField,
    },
    ReplaceField {
        node: usize,
        field: NodeField,
    },
    /// A fact that is no longer known.
    RemoveField {
        node: usize,
        field: NodeField,
    },
    Remove {
        under: usize,
        index: usize,
    },
    Move {
        under: usize,
        from: usize,
        to: usize,
    },
    Add {
        under: usize,
        index: usize,
        node: usize,
    },
}

pub fn json_patch<'a>(old: impl Into<ComparableTree<'a>>, new: impl Into<ComparableTree<'a>>) -> Vec<Patch> {
    let comparison = Comparison::new(old.into(), new.into());
    let mut patches = Vec::new();
    let root = PairedNode { old: Tree::ROOT, new: Tree::ROOT, moved: false };
    let mut visits = vec![PatchVisit { kept: root, renumbered: false }];
    while let Some(visit) = visits.pop() {
        comparison.patch_node(visit, &mut patches, &mut visits);
    }
    let tree = comparison.new.seen.shown;
    if patch_size(tree, &patches) > tree_size(tree) + SMALL { vec![Patch::Everything] } else { patches }
}

struct PatchVisit {
    kept: PairedNode,
    /// Its id is another one, because of its own place or an ancestor's.
    renumbered: bool,
}

impl Comparison<'_> {
    /// Says all of one node. Its ancestors' children are in place already, so its path is the new one.
    fn patch_node(&self, visit: PatchVisit, patches: &mut Vec<Patch>, visits: &mut Vec<PatchVisit>) {
        let PatchVisit { kept: PairedNode { old, new, .. }, renumbered } = visit;
        let id = |node| Patch::ReplaceField { node, field: NodeField::Id };
        if self.same(old, new) {
            let end = if renumbered { self.new.seen.shown.end(new) } else { new };
            patches.extend((new..end).map(id));
            return;
        }
        patches.extend(renumbered.then(|| id(new)));
        patches.extend(self.changed_fields(old, new).iter().map(|field| self.patch_field(field, old, new)));
        let arrangement = self.arrange_children(old, new);
        self.patch_children(new, &arrangement, patches);
        let children = arrangement.kept.into_iter().rev().map(|kept| PatchVisit {
            renumbered: renumbered || self.is_renumbered(kept.old, kept.new),
            kept,
        });
        visits
            .extend(children.filter(|visit| visit.renumbered || !self.same(visit.kept.old, visit.kept.new)));
    }

    fn patch_field(&self, field: NodeField, old: usize, node: usize) -> Patch {
        let known_before = field.of(&self.old.seen.shown[old]).is_some();
        let known_now = field.of(&self.new.seen.shown[node]).is_some();
        match (known_before, known_now) {
            (true, true) => Patch::ReplaceField { node, field },
            (true, false) => Patch::RemoveField { node, field },
            (false, _) => Patch::AddField { node, field },
        }
    }

    /// Brings the children into their new order: what goes, goes; then, from the first on, everything
    /// that did not stay is put behind its new neighbour.
    fn patch_children(&self, under: usize, arrangement: &Arrangement, patches: &mut Vec<Patch>) {
        let Arrangement { kept, removed, added } = arrangement;
        if removed.is_empty() && added.is_empty() && !kept.iter().any(|kept| kept.moved) {
            return;
        }
        let mut row = ChildRow::new(self, arrangement);
        for &node in removed.iter().rev() {
            patches.push(Patch::Remove { under, index: row.take(self.old.paths.position(node)) });
        }
        for (node, from) in moved_or_added(arrangement, &self.new) {
            let position = self.new.paths.position(node);
            match from {
                None => patches.push(Patch::Add { under, index: row.put(position), node }),
                Some(old) => {
                    let from = row.take(self.old.paths.position(old));
                    patches.push(Patch::Move { under, from, to: row.put(position) });
                }
            }
        }
    }
}

/// What comes to a new place, in the new order, and which old node it was.
fn moved_or_added(arrangement: &Arrangement, new: &super::Half) -> Vec<(usize, Option<usize>)> {
    let moved = arrangement.kept.iter().filter(|kept| kept.moved).map(|kept| (kept.new, Some(kept.old)));
    let mut arrivals: Vec<_> = arrangement.added.iter().map(|&node| (node, None)).chain(moved).collect();
    arrivals.sort_unstable_by_key(|(node, _)| new.paths.position(*node));
    arrivals
}

/// A list of children while it is being changed. Every child has one place for where it was and one for
/// where it will be, in an order that never changes; an index is the number of taken places before it.
struct ChildRow {
    old_places: Vec<usize>,
    new_places: Vec<usize>,
    taken: Counts,
}

impl ChildRow {
    fn new(comparison: &Comparison, arrangement: &Arrangement) -> Self {
        let Arrangement { kept, removed, added } = arrangement;
        let mut old_stays = vec![false; kept.len() + removed.len()];
        let mut new_stays = vec![false; kept.len() + added.len()];
        for kept in kept.iter().filter(|kept| !kept.moved) {
            old_stays[comparison.old.paths.position(kept.old) as usize] = true;
            new_stays[comparison.new.paths.position(kept.new) as usize] = true;
        }
        let (old_places, new_places) = places(&old_stays, &new_stays);
        let taken = Counts::of(old_stays.len() + new_stays.len(), &old_places);
        Self { old_places, new_places, taken }
    }

    /// Takes an old child out and tells its index.
    fn take(&mut self, position: u32) -> usize {
        let place = self.old_places[position as usize];
        self.taken.change(place, false);
        self.taken.before(place)
    }

    /// Puts a child into its new place and tells its index.
    fn put(&mut self, position: u32) -> usize {
        let place = self.new_places[position as usize];
        self.taken.change(place, true);
        self.taken.before(place)
    }
}

/// Children that stay have one place for both; before each come the arrivals, then the leavers.
fn places(old_stays: &[bool], new_stays: &[bool]) -> (Vec<usize>, Vec<usize>) {
    let (mut old_places, mut new_places) = (Vec::new(), Vec::new());
    let mut next = 0;
    loop {
        for (stays, places) in [(new_stays, &mut new_places), (old_stays, &mut old_places)] {
            while stays.get(places.len()) == Some(&false) {
                places.push(next);
                next += 1;
            }
        }
        if old_places.len() == old_stays.len() {
            return (old_places, new_places);
        }
        old_places.push(next);
        new_places.push(next);
        next += 1;
    }
}

/// How many places before a given one are taken (a Fenwick tree: both questions in logarithmic time).
struct Counts {
    sums: Vec<usize>,
}

impl Counts {
    fn of(count: usize, taken: &[usize]) -> Self {
        let mut counts = Counts { sums: vec![0; count + 1] };
        taken.iter().for_each(|&place| counts.change(place, true));
        counts
    }

    fn change(&mut self, place: usize, taken: bool) {
        let mut at = place + 1;
        while let Some(sum) = self.sums.get_mut(at) {
            *sum = if taken { *sum + 1 } else { *sum - 1 };
            at += at & at.wrapping_neg();
        }
    }

    fn before(&self, place: usize) -> usize {
        let mut at = place;
        let mut sum = 0;
        while at > 0 {
            sum += self.sums[at];
            at -= at & at.wrapping_neg();
        }
        sum
    }
}

/// Below this many bytes nobody minds which way it is said, and single lines say more.
const SMALL: usize = 4096;

/// About how many bytes the patch would take: a line and its path, and what is added.
fn patch_size(tree: &Tree, patches: &[Patch]) -> usize {
    patches.iter().map(|patch| one_patch_size(tree, *patch)).sum()
}

fn one_patch_size(tree: &Tree, patch: Patch) -> usize {
    let line = |node: usize| 45 + 12 * tree.depth(node);
    match patch {
        Patch::Everything => tree_size(tree),
        Patch::AddField { node, .. } | Patch::ReplaceField { node, .. } | Patch::RemoveField { node, .. } => {
            line(node)
        }
        Patch::Remove { under, .. } => line(under),
        Patch::Move { under, .. } => 2 * line(under),
        Patch::Add { under, node, .. } => {
            line(under) + (node..tree.end(node)).map(|at| node_size(tree, at)).sum::<usize>()
        }
    }
}

fn tree_size(tree: &Tree) -> usize {
    (0..tree.len()).map(|node| node_size(tree, node)).sum()
}

fn node_size(tree: &Tree, node: usize) -> usize {
    220 + 2 * tree.depth(node)
}
