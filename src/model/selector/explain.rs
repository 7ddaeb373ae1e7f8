//! Why a selector matched nothing, and what is near.
//!
//! The reasons name roles and the caller's own predicates, never a text of the tree: which of the
//! elements' texts may be shown is decided elsewhere.

use std::fmt;

use super::resolve::Resolver;
use super::{Axis, Role, Selector, SelectorPredicate, SelectorStep, Test, TextKey, Tree, fold, state_of};

const MAX_NEAREST: usize = 5;
/// Of longer names only the beginning is compared letter by letter.
const COMPARED_CHARS: usize = 64;
/// In thousandths; below this two names have little in common.
const SIMILAR: u32 = 450;
const IDENTICAL: u32 = 1000;

/// The step that found nothing, and the elements that come closest to it.
#[derive(Clone, Debug, PartialEq)]
pub struct StepMiss {
    /// Counted from 1.
    pub step: usize,
    pub step_text: String,
    /// How many elements the step before it matched; 0 for the first step.
    pub matched_before: usize,
    /// Best first.
    pub nearest: Vec<Near>,
    /// What in the step itself can never match, and what to write instead.
    pub notes: Vec<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Near {
    pub node: usize,
    pub why: String,
}

impl fmt::Display for StepMiss {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "step {} '{}' matches no element", self.step, self.step_text)?;
        match self.matched_before {
            0 => {}
            1 => write!(out, " below the one that step {} matches", self.step - 1)?,
            many => write!(out, " below the {many} that step {} matches", self.step - 1)?,
        }
        self.notes.iter().try_for_each(|note| write!(out, "; {note}"))
    }
}

pub(super) fn explain_miss(selector: &Selector, tree: &Tree) -> Option<StepMiss> {
    let mut resolver = Resolver::new(selector, tree);
    let mut before = Vec::new();
    for (position, step) in selector.steps.iter().enumerate() {
        let matches = resolver.step(position, step, &before);
        if matches.is_empty() {
            let looked_at = looked_at(&mut resolver, tree, position, step.axis, &before);
            return Some(StepMiss {
                step: position + 1,
                step_text: step.to_string(),
                matched_before: before.len(),
                nearest: NearSearch::new(&resolver, tree, step, looked_at).nearest(),
                notes: step_notes(step),
            });
        }
        before = matches;
    }
    None
}

fn step_notes(step: &SelectorStep) -> Vec<String> {
    let starred = step.role.as_ref().filter(|role| role.name().contains('*')).map(|role| {
        format!("the role '{role}' is compared literally; * means any role only when it stands alone")
    });
    starred.into_iter().collect()
}

struct NearSearch<'a> {
    resolver: &'a Resolver<'a>,
    tree: &'a Tree,
    step: &'a SelectorStep,
    role: Option<&'a str>,
    name: Option<Name>,
    /// Which elements the step looked at.
    looked_at: Vec<bool>,
}

impl<'a> NearSearch<'a> {
    fn new(resolver: &'a Resolver<'a>, tree: &'a Tree, step: &'a SelectorStep, looked_at: Vec<bool>) -> Self {
        let name = wanted_text(step, TextKey::Name).map(Name::new);
        let role = step.role.as_ref().map(Role::name).or_else(|| wanted_text(step, TextKey::Role));
        Self { resolver, tree, step, role, name, looked_at }
    }

    fn nearest(&self) -> Vec<Near> {
        // What no look shows is no help.
        let is_seen = |node: &usize| state_of(self.tree, *node, "visible") == Some(true);
        let mut scored: Vec<(u32, usize)> = (0..self.tree.len())
            .filter_map(|node| Some((self.score_node(node)?, node)))
            .filter(|(_, node)| is_seen(node))
            .collect();
        scored.sort_by_key(|&(score, node)| (std::cmp::Reverse(score), node));
        scored.truncate(MAX_NEAREST);
        scored.into_iter().map(|(_, node)| Near { node, why: self.why(node) }).collect()
    }

    /// A name says more than a role, and a role more than the place.
    fn score_node(&self, node: usize) -> Option<u32> {
        let (role, name) = (self.role_likeness(node), self.name_likeness(node));
        let related = role > 0 || name >= SIMILAR;
        related.then(|| 2 * name + role + if self.looked_at[node] { IDENTICAL / 2 } else { 0 })
    }

    fn role_likeness(&self, node: usize) -> u32 {
        match self.role {
            Some(role) if self.tree[node].role == *role => IDENTICAL,
            Some(role) if role.eq_ignore_ascii_case(self.tree[node].role.name()) => IDENTICAL - 100,
            _ => 0,
        }
    }

    fn name_likeness(&self, node: usize) -> u32 {
        self.name.as_ref().map_or(0, |name| name.likeness(&Name::new(&self.tree[node].name)))
    }

    fn why(&self, node: usize) -> String {
        let mut reasons = vec![self.role_reason(node)];
        reasons.extend(self.name_reason(node).map(str::to_owned));
        reasons.extend(self.failing_predicates(node).map(|predicate| format!("{predicate} does not match")));
        if !self.looked_at[node] {
            reasons.push("elsewhere in the tree".to_owned());
        }
        reasons.join(", ")
    }

    fn role_reason(&self, node: usize) -> String {
        match self.role_likeness(node) {
            IDENTICAL => "same role".to_owned(),
            0 => format!("role {}", self.tree[node].role),
            _ => format!("same role, different case ({})", self.tree[node].role),
        }
    }

    fn name_reason(&self, node: usize) -> Option<&'static str> {
        let wanted = self.name.as_ref()?;
        let name = Name::new(&self.tree[node].name);
        match wanted.likeness(&name) {
            _ if wanted.text == name.text => Some("same name"),
            IDENTICAL => Some("same name, different case"),
            SIMILAR..IDENTICAL => Some("similar name"),
            _ => Some("another name"),
        }
    }

    /// What else the step asks of an element; role and name have their own words.
    fn failing_predicates(&self, node: usize) -> impl Iterator<Item = &SelectorPredicate> {
        let told = |predicate: &SelectorPredicate| match predicate {
            SelectorPredicate::Text(TextKey::Name, test) => literal_text(test).is_some(),
            SelectorPredicate::Text(TextKey::Role, _) => true,
            _ => false,
        };
        let predicates = self.step.predicates.iter();
        predicates.filter(move |predicate| !told(predicate) && !self.resolver.holds(predicate, node))
    }
}

/// The same step without conditions tells where it looked.
fn looked_at(
    resolver: &mut Resolver<'_>,
    tree: &Tree,
    position: usize,
    axis: Axis,
    before: &[usize],
) -> Vec<bool> {
    let mut marks = vec![false; tree.len()];
    // A first step looked at everything, but a `*` in its place would stop at the root.
    marks[Tree::ROOT] = position == 0 && axis == Axis::Child;
    let below = if position == 0 { Axis::Descendant } else { axis };
    let anything = SelectorStep { axis: below, role: None, predicates: Vec::new() };
    for node in resolver.step(position, &anything, before) {
        marks[node] = true;
    }
    marks
}

fn wanted_text(step: &SelectorStep, wanted: TextKey) -> Option<&str> {
    step.predicates.iter().find_map(|predicate| match predicate {
        SelectorPredicate::Text(key, test) if *key == wanted => literal_text(test),
        _ => None,
    })
}

fn literal_text(test: &Test) -> Option<&str> {
    match test {
        Test::Equals(text) | Test::Contains(text) => Some(&text.written),
        Test::Matches(_) => None,
    }
}

/// A name prepared for comparison: its pairs of neighbouring letters, the ends included.
struct Name {
    text: String,
    lower: String,
    pairs: Vec<(char, char)>,
}

impl Name {
    fn new(name: &str) -> Self {
        let text = fold(name).into_owned();
        let lower = text.to_lowercase();
        let end = std::iter::once('\0');
        let letters = end.clone().chain(lower.chars().take(COMPARED_CHARS)).chain(end);
        let mut pairs: Vec<_> = letters.clone().zip(letters.skip(1)).collect();
        pairs.sort_unstable();
        Self { text, lower, pairs }
    }

    /// The share of common pairs (Dice's coefficient) in thousandths; an empty name is like none.
    fn likeness(&self, other: &Name) -> u32 {
        if self.lower.is_empty() || other.lower.is_empty() {
            return 0;
        }
        if self.lower == other.lower {
            return IDENTICAL;
        }
        let all = self.pairs.len() + other.pairs.len();
        let share = 2 * IDENTICAL as usize * count_common(&self.pairs, &other.pairs) / all;
        (share as u32).min(IDENTICAL - 1)
    }
}

/// How many items two sorted lists share.
fn count_common(left: &[(char, char)], right: &[(char, char)]) -> usize {
    let (mut count, mut others) = (0, right.iter().peekable());
    for pair in left {
        while others.next_if(|other| *other < pair).is_some() {}
        count += usize::from(others.next_if_eq(&pair).is_some());
    }
    count
}
