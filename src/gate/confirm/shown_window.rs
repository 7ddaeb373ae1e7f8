//! What the person saw when they were asked: the protected element and what stands around it. A consent is good for
//! that, and not for what it has become meanwhile.
//!
//! What counts is the dialog that the element is in, or else the whole window: the sum, the recipient, what is selected.
//! Elsewhere things may change, and in there a clock may tick; that is told, and the consent holds.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use super::ticking::is_tick;
use crate::model::{Element, Role, Tree};
use crate::observer::View;
use crate::text::shorten;
use crate::tool::Target;

/// More of what changed nobody reads.
const MOST_TOLD: usize = 3;
const LONGEST_TOLD: usize = 80;

/// The window of a question, as it was read for it.
#[derive(Clone, Debug)]
pub struct ShownWindow {
    title: String,
    view: Arc<View>,
    /// The element that the question is about.
    node: usize,
}

/// What is otherwise now, in texts that may be shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WindowChange {
    /// In what the person decided by.
    pub in_question: Option<String>,
    pub elsewhere: Option<String>,
}

/// What a person reads of an element.
type Reading<'a> = (&'a Role, &'a str, Option<&'a str>, Option<bool>);

impl ShownWindow {
    /// Nothing for a target that is in no window.
    pub fn of(target: &Target) -> Option<Self> {
        let element = target.element()?;
        let title = element.chosen.unredacted_title().to_owned();
        Some(Self { title, view: element.view.clone(), node: element.node })
    }

    /// What a person would read otherwise, `passed` after the question.
    pub fn describe_change(&self, now: &ShownWindow, passed: Duration) -> WindowChange {
        let (gone, new) = (self.beyond(now, passed), now.beyond(self, passed));
        let told = |counts: bool, others: &[&str]| {
            let part = |window: &ShownWindow, nodes: &[Missing], word| {
                let nodes = nodes.iter().filter(|missing| missing.counts == counts);
                told_texts(word, nodes.map(|missing| window.label(missing.node)).collect())
            };
            let mut changes = [part(self, &gone, "gone:"), part(now, &new, "new:")].concat();
            changes.extend(others.iter().map(|&other| other.to_owned()));
            (!changes.is_empty()).then(|| changes.join(", "))
        };
        let retitled = self.title != now.title;
        let counts =
            retitled && self.surroundings().start == Tree::ROOT && !is_tick(&self.title, &now.title, passed);
        let rearranged = self.arrangement(&gone) != now.arrangement(&new);
        let of_title = |says: bool| says.then_some("another title");
        let of_places = rearranged.then_some("texts at other places");
        let in_question: Vec<&str> = of_title(counts).into_iter().chain(of_places).collect();
        let elsewhere: Vec<&str> = of_title(retitled && !counts).into_iter().collect();
        WindowChange { in_question: told(true, &in_question), elsewhere: told(false, &elsewhere) }
    }

    /// What a person decides by, in the order of the window and in that of the screen: two texts that change places say
    /// something else. Without what is told otherwise.
    fn arrangement(&self, without: &[Missing]) -> [Vec<Reading<'_>>; 2] {
        let around = self.surroundings();
        let is_left_out = |node: usize| without.iter().any(|missing| missing.node == node);
        let kept = self.readings().filter(|(node, _)| around.contains(node) && !is_left_out(*node));
        let kept: Vec<(usize, Reading<'_>)> = kept.collect();
        let mut by_place = kept.clone();
        by_place.sort_by_key(|(node, _)| {
            let bounds = self.view.unredacted(*node).bounds;
            (bounds.y, bounds.x)
        });
        [kept, by_place].map(|nodes| nodes.into_iter().map(|(_, reading)| reading).collect())
    }

    /// What can be read here and not there, each as often as it is missing.
    fn beyond(&self, other: &ShownWindow, passed: Duration) -> Vec<Missing> {
        let mut known: HashMap<Reading<'_>, usize> = HashMap::new();
        for (_, reading) in other.readings() {
            *known.entry(reading).or_default() += 1;
        }
        let around = self.surroundings();
        let by_handle = other.by_handle();
        let mut missing = Vec::new();
        for (node, reading) in self.readings() {
            match known.get_mut(&reading) {
                Some(count) if *count > 0 => *count -= 1,
                _ => {
                    let counts =
                        around.contains(&node) && !self.moves_by_itself(node, other, &by_handle, passed);
                    missing.push(Missing { node, counts });
                }
            }
        }
        missing
    }

    /// The dialog that the element is in, or the whole window.
    fn surroundings(&self) -> Range<usize> {
        let tree = self.view.tree();
        let mut above = std::iter::successors(tree.parent(self.node), |&node| tree.parent(node));
        let dialog = above.find(|&node| self.view.unredacted(node).role.is_dialog()).unwrap_or(Tree::ROOT);
        dialog..tree.end(dialog)
    }

    /// Whether an element changes without anybody meaning something by it: a clock, a bar that fills or is scrolled.
    fn moves_by_itself(
        &self,
        node: usize,
        other: &ShownWindow,
        by_handle: &HashMap<&str, usize>,
        passed: Duration,
    ) -> bool {
        let element = self.view.unredacted(node);
        let there = element.native.as_deref().and_then(|native| by_handle.get(native));
        let Some(there) = there.map(|&there| other.view.unredacted(there)) else {
            return false;
        };
        let ticks = |one: &str, two: &str| one == two || is_tick(one, two, passed);
        let value = |element: &Element| element.value.clone().unwrap_or_default();
        let same = element.role == there.role && element.selected == there.selected;
        let is_bar =
            matches!(element.role, Role::ProgressBar | Role::ScrollBar) && element.name == there.name;
        same && (is_bar || (ticks(&element.name, &there.name) && ticks(&value(element), &value(there))))
    }

    fn by_handle(&self) -> HashMap<&str, usize> {
        let nodes = (0..self.view.tree().len()).map(|node| (node, self.view.unredacted(node)));
        nodes.filter_map(|(node, element)| Some((element.native.as_deref()?, node))).collect()
    }

    /// The texts that show, as they really are: a change behind a redaction is a change.
    fn readings(&self) -> impl Iterator<Item = (usize, Reading<'_>)> {
        let shows =
            |element: &Element| !element.hidden && (!element.name.is_empty() || element.value.is_some());
        let nodes = (0..self.view.tree().len()).map(|node| (node, self.view.unredacted(node)));
        nodes.filter(move |(_, element)| shows(element)).map(|(node, element)| {
            (node, (&element.role, element.name.as_str(), element.value.as_deref(), element.selected))
        })
    }

    fn label(&self, node: usize) -> String {
        let element = &self.view.tree()[node];
        let text = match element.value.as_deref().filter(|value| !value.is_empty()) {
            Some(value) if element.name.is_empty() => value.to_owned(),
            Some(value) => format!("{}: {value}", element.name),
            None => element.name.clone(),
        };
        let selected = if element.selected == Some(true) { " (selected)" } else { "" };
        format!("{} {:?}{selected}", element.role, shorten(&text, LONGEST_TOLD))
    }
}

/// An element that cannot be read any more as it was, and whether the person decided by it.
struct Missing {
    node: usize,
    counts: bool,
}

fn told_texts(word: &str, texts: Vec<String>) -> Vec<String> {
    let more = texts.len().saturating_sub(MOST_TOLD);
    let mut parts: Vec<String> =
        texts.into_iter().take(MOST_TOLD).map(|text| format!("{word} {text}")).collect();
    if more > 0 {
        parts.push(format!("{more} more {word}"));
    }
    parts
}
