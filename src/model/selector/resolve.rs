//! From steps to elements. Changes nothing and asks no platform: the tree is all there is.
//!
//! A step tests every element at most once, whatever the selector: `//*//*//*` over n elements
//! costs 3n tests and at most 6n turns of the walk. Nested matches share their descendants through
//! the `walked` marks.

use std::cell::Cell;
use std::collections::HashMap;

use super::{Axis, Pattern, Role, Selector, SelectorPredicate, SelectorStep, Test, TextKey, Tree, fold};
use crate::model::Element;
use crate::pattern::{Effort, TooManySteps};

/// The first matches in order, and how many there are in all.
#[derive(Clone, Debug, PartialEq)]
pub struct Matches {
    pub nodes: Vec<usize>,
    pub total: usize,
}

pub(super) fn find(selector: &Selector, tree: &Tree, limit: usize) -> Result<Matches, TooManySteps> {
    let mut resolver = Resolver::new(selector, tree);
    let mut nodes = resolver.all_steps(selector);
    if let Some(given_up) = resolver.given_up.take() {
        return Err(given_up);
    }
    let total = nodes.len();
    nodes.truncate(limit);
    Ok(Matches { nodes, total })
}

pub(super) struct Resolver<'a> {
    tree: &'a Tree,
    /// Each element's place among its siblings of the same role; empty if no step asks.
    ranks: Vec<u32>,
    /// The elements behind the ids that the selector names.
    ids: HashMap<&'a str, usize>,
    /// How many elements were tested or stepped over, so that tests can hold the bound.
    pub(super) work: usize,
    /// What all tests by regular expressions may take together.
    effort: Effort,
    /// The test that took too long; what was found is worth nothing then.
    given_up: Cell<Option<TooManySteps>>,
}

impl<'a> Resolver<'a> {
    pub(super) fn new(selector: &'a Selector, tree: &'a Tree) -> Self {
        let asks_index =
            selector.predicates().any(|predicate| matches!(predicate, SelectorPredicate::Index(_)));
        let ranks = if asks_index { sibling_ranks(tree) } else { Vec::new() };
        let ids = selector.predicates().filter_map(|predicate| match predicate {
            SelectorPredicate::Id(id) => Some((id.as_str(), tree.find_id(id)?)),
            _ => None,
        });
        let (effort, given_up) = (Effort::for_many_texts(), Cell::default());
        Self { tree, ranks, ids: ids.collect(), work: 0, effort, given_up }
    }

    pub(super) fn all_steps(&mut self, selector: &Selector) -> Vec<usize> {
        let mut matches = Vec::new();
        for (position, step) in selector.steps.iter().enumerate() {
            matches = self.step(position, step, &matches);
            if matches.is_empty() {
                break;
            }
        }
        matches
    }

    /// The matches of one step below those of the step before it. None is listed twice.
    pub(super) fn step(&mut self, position: usize, step: &SelectorStep, before: &[usize]) -> Vec<usize> {
        match (position, step.axis) {
            (0, Axis::Child) => self.first(step),
            (0, Axis::Descendant) => self.match_descendants(step, &[Tree::ROOT]),
            (_, Axis::Child) => self.children(step, before),
            (_, Axis::Descendant) => self.match_descendants(step, before),
        }
    }

    /// A selector may start at the root or leave it out.
    fn first(&mut self, step: &SelectorStep) -> Vec<usize> {
        if self.accepts_node(step, Tree::ROOT) {
            return vec![Tree::ROOT];
        }
        self.match_descendants(step, &[Tree::ROOT])
    }

    fn children(&mut self, step: &SelectorStep, parents: &[usize]) -> Vec<usize> {
        let mut matches = Vec::new();
        for &parent in parents {
            self.children_of(step, parent, &mut matches);
        }
        matches
    }

    /// Parent by parent in pre-order, the children of each together: the contract's order.
    ///
    /// A walked element has its whole subtree walked before the next top is looked at, so meeting
    /// one again means to jump over all of it.
    fn match_descendants(&mut self, step: &SelectorStep, tops: &[usize]) -> Vec<usize> {
        let mut matches = Vec::new();
        let mut walked = vec![false; self.tree.len()];
        for &top in tops {
            let mut parent = top;
            while parent < self.tree.end(top) {
                self.work += 1;
                if std::mem::replace(&mut walked[parent], true) {
                    parent = self.tree.end(parent);
                } else {
                    self.children_of(step, parent, &mut matches);
                    parent += 1;
                }
            }
        }
        matches
    }

    fn children_of(&mut self, step: &SelectorStep, parent: usize, matches: &mut Vec<usize>) {
        for child in self.tree.children(parent) {
            if self.accepts_node(step, child) {
                matches.push(child);
            }
        }
    }

    fn accepts_node(&mut self, step: &SelectorStep, node: usize) -> bool {
        self.work += 1;
        step.role.as_ref().is_none_or(|role| *role == self.tree[node].role)
            && step.predicates.iter().all(|predicate| self.holds(predicate, node))
    }

    pub(super) fn holds(&self, predicate: &SelectorPredicate, node: usize) -> bool {
        let element = &self.tree[node];
        match predicate {
            SelectorPredicate::Text(key, test) => {
                text_of(element, *key).is_some_and(|text| self.fits_text(test, *key, text))
            }
            SelectorPredicate::Flag(key, wanted) => key.state(self.tree, node) == Some(*wanted),
            SelectorPredicate::Index(index) => self.ranks.get(node) == Some(index),
            SelectorPredicate::Id(id) => self.ids.get(id.as_str()) == Some(&node),
        }
    }

    /// Roles are compared as they are spelled.
    fn fits_text(&self, test: &Test, key: TextKey, text: &str) -> bool {
        match (test, key) {
            (Test::Equals(wanted), TextKey::Role) => text == wanted.written,
            (Test::Contains(wanted), TextKey::Role) => text.contains(&wanted.written),
            (Test::Equals(wanted), _) => fold(text) == wanted.folded,
            (Test::Contains(wanted), _) => fold(text).contains(&wanted.folded),
            (Test::Matches(pattern), _) => self.matches_text(pattern, text),
        }
    }

    fn matches_text(&self, pattern: &Pattern, text: &str) -> bool {
        pattern.is_match_within(text, &self.effort).unwrap_or_else(|given_up| {
            self.given_up.set(Some(given_up));
            false
        })
    }
}

/// A secret value takes part in no comparison: `[value~="a.*"]` would spell a password letter by
/// letter. A text that is absent equals nothing, not even the empty text.
fn text_of(element: &Element, key: TextKey) -> Option<&str> {
    match key {
        TextKey::Name => Some(&element.name),
        TextKey::Value => element.value.as_deref().filter(|_| !element.secret),
        TextKey::Role => Some(element.role.name()),
        TextKey::Shortcut => element.shortcut.as_deref(),
    }
}

fn sibling_ranks(tree: &Tree) -> Vec<u32> {
    let mut ranks = vec![0; tree.len()];
    for parent in 0..tree.len() {
        let mut next_of_role: HashMap<&Role, u32> = HashMap::new();
        for child in tree.children(parent) {
            let next = next_of_role.entry(&tree[child].role).or_default();
            ranks[child] = *next;
            *next += 1;
        }
    }
    ranks
}
