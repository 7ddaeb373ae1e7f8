//! Which child of the old node became which child of the new one.

use std::collections::{HashMap, VecDeque};

use super::subtree_hash::Prints;

/// The children of two paired nodes.
pub struct Arrangement {
    /// In the old order.
    pub kept: Vec<PairedNode>,
    pub removed: Vec<usize>,
    pub added: Vec<usize>,
}

/// A node that is in both trees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PairedNode {
    pub old: usize,
    pub new: usize,
    /// It is no longer in the same order with its siblings.
    pub moved: bool,
}

pub fn arrange_children(old: (&Prints, Vec<usize>), new: (&Prints, Vec<usize>)) -> Arrangement {
    let mut pairing = Pairing {
        old_partner: vec![None; old.1.len()],
        new_partner: vec![None; new.1.len()],
        old: old.1,
        new: new.1,
    };
    let (old, new) = (old.0, new.0);
    pairing.pair_ends(&old.exact, &new.exact);
    pairing.pair_by(&old.exact, &new.exact);
    pairing.pair_by(&old.content, &new.content);
    pairing.pair_neighbours(&old.kind, &new.kind);
    pairing.pair_by(&old.kind, &new.kind);
    pairing.finish()
}

/// Positions among the siblings, not nodes, until it is finished.
struct Pairing {
    old: Vec<usize>,
    new: Vec<usize>,
    old_partner: Vec<Option<usize>>,
    new_partner: Vec<Option<usize>>,
}

impl Pairing {
    /// Most changes touch the middle of a list: what is the same at both ends is paired first, so that
    /// of several equal siblings the one in its place is the one that stayed.
    fn pair_ends(&mut self, old: &[u64], new: &[u64]) {
        let alike = |(a, b): &(&usize, &usize)| old[**a] == new[**b];
        let shorter = self.old.len().min(self.new.len());
        let head = self.old.iter().zip(&self.new).take_while(alike).count();
        let tail = self.old.iter().rev().zip(self.new.iter().rev()).take(shorter - head).take_while(alike);
        let tail = tail.count();
        (0..head).for_each(|position| self.pair(position, position));
        for back in 1..=tail {
            self.pair(self.old.len() - back, self.new.len() - back);
        }
    }

    /// Pairs what is still alone and has the same print, in order.
    fn pair_by(&mut self, old: &[u64], new: &[u64]) {
        let mut waiting: HashMap<u64, VecDeque<usize>> = HashMap::new();
        for position in (0..self.old.len()).filter(|&position| self.old_partner[position].is_none()) {
            waiting.entry(old[self.old[position]]).or_default().push_back(position);
        }
        if waiting.is_empty() {
            return;
        }
        for position in 0..self.new.len() {
            if self.new_partner[position].is_none()
                && let Some(partner) = waiting.get_mut(&new[self.new[position]]).and_then(VecDeque::pop_front)
            {
                self.pair(partner, position);
            }
        }
    }

    /// Pairs what is still alone and stands beside a pair on the same side in both lists: a row that was
    /// edited is found between its neighbours.
    fn pair_neighbours(&mut self, old: &[u64], new: &[u64]) {
        for position in 1..self.new.len() {
            let behind = self.new_partner[position - 1].map(|partner| partner + 1);
            self.pair_if_alone(behind, position, old, new);
        }
        for position in (0..self.new.len().saturating_sub(1)).rev() {
            let before = self.new_partner[position + 1].and_then(|partner| partner.checked_sub(1));
            self.pair_if_alone(before, position, old, new);
        }
    }

    fn pair_if_alone(&mut self, old_position: Option<usize>, position: usize, old: &[u64], new: &[u64]) {
        if let Some(old_position) = old_position
            && self.new_partner[position].is_none()
            && self.old_partner.get(old_position) == Some(&None)
            && old[self.old[old_position]] == new[self.new[position]]
        {
            self.pair(old_position, position);
        }
    }

    fn pair(&mut self, old: usize, new: usize) {
        self.old_partner[old] = Some(new);
        self.new_partner[new] = Some(old);
    }

    fn finish(self) -> Arrangement {
        let alone = |nodes: &[usize], partners: &[Option<usize>]| {
            nodes
                .iter()
                .zip(partners)
                .filter(|(_, partner)| partner.is_none())
                .map(|(node, _)| *node)
                .collect()
        };
        let pairs: Vec<(usize, usize)> = (self.old_partner.iter().enumerate())
            .filter_map(|(old, partner)| partner.map(|new| (old, new)))
            .collect();
        let order: Vec<usize> = pairs.iter().map(|(_, new)| *new).collect();
        let stays = longest_rise(&order);
        Arrangement {
            kept: (pairs.into_iter().zip(stays))
                .map(|((old, new), stays)| PairedNode {
                    old: self.old[old],
                    new: self.new[new],
                    moved: !stays,
                })
                .collect(),
            removed: alone(&self.old, &self.old_partner),
            added: alone(&self.new, &self.new_partner),
        }
    }
}

/// Marks a longest increasing subsequence of distinct numbers: what need not move.
fn longest_rise(numbers: &[usize]) -> Vec<bool> {
    if numbers.is_sorted() {
        return vec![true; numbers.len()];
    }
    // `ends[l]` is the place of the smallest number that ends a rise of length `l + 1`.
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(numbers.len());
    for (place, number) in numbers.iter().enumerate() {
        let length = ends.partition_point(|&end| numbers[end] < *number);
        before.push(length.checked_sub(1).map(|shorter| ends[shorter]));
        match ends.get_mut(length) {
            Some(end) => *end = place,
            None => ends.push(place),
        }
    }
    let mut marks = vec![false; numbers.len()];
    let mut at = ends.last().copied();
    while let Some(place) = at {
        marks[place] = true;
        at = before[place];
    }
    marks
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(numbers: &[usize], length: usize) {
        let marks = longest_rise(numbers);
        let rise: Vec<usize> =
            numbers.iter().zip(&marks).filter(|(_, mark)| **mark).map(|(n, _)| *n).collect();
        assert!(rise.is_sorted(), "{numbers:?} gave {rise:?}");
        assert_eq!(rise.len(), length, "{numbers:?} gave {rise:?}");
    }

    #[test]
    fn the_longest_rise_is_found() {
        check(&[], 0);
        check(&[0, 1, 2], 3);
        check(&[2, 1, 0], 1);
        check(&[3, 0, 1, 2], 3);
        check(&[1, 2, 3, 0], 3);
        check(&[2, 0, 3, 1, 4], 3);
    }
}
