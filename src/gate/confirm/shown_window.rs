//! What the person saw when they were asked: the window with the protected element. A consent is good for that, and not
//! for what the window has become meanwhile.

use std::collections::HashMap;
use std::sync::Arc;

use crate::model::{Element, Role};
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
}

/// What a person reads of an element.
type Reading<'a> = (&'a Role, &'a str, Option<&'a str>);

impl ShownWindow {
    /// Nothing for a target that is in no window.
    pub fn of(target: &Target) -> Option<Self> {
        let element = target.element()?;
        Some(Self { title: element.chosen.unredacted_title().to_owned(), view: element.view.clone() })
    }

    /// What is otherwise now, in texts that may be shown; nothing where a person would read the same.
    pub fn describe_change(&self, now: &ShownWindow) -> Option<String> {
        let (gone, new) = (self.beyond(now), now.beyond(self));
        let told = |word: &'static str, texts: Vec<String>| {
            let more = texts.len().saturating_sub(MOST_TOLD);
            let mut parts: Vec<String> =
                texts.into_iter().take(MOST_TOLD).map(|text| format!("{word} {text}")).collect();
            if more > 0 {
                parts.push(format!("{more} more {word}"));
            }
            parts
        };
        let mut changes = [told("gone:", gone), told("new:", new)].concat();
        if self.title != now.title {
            changes.push("another title".to_owned());
        }
        (!changes.is_empty()).then(|| changes.join(", "))
    }

    /// What can be read here and not there, each as often as it is missing.
    fn beyond(&self, other: &ShownWindow) -> Vec<String> {
        let mut known: HashMap<Reading<'_>, usize> = HashMap::new();
        for (_, reading) in other.readings() {
            *known.entry(reading).or_default() += 1;
        }
        let mut missing = Vec::new();
        for (node, reading) in self.readings() {
            match known.get_mut(&reading) {
                Some(count) if *count > 0 => *count -= 1,
                _ => missing.push(self.label(node)),
            }
        }
        missing
    }

    /// The texts that show, as they really are: a change behind a redaction is a change.
    fn readings(&self) -> impl Iterator<Item = (usize, Reading<'_>)> {
        let shows =
            |element: &Element| !element.hidden && (!element.name.is_empty() || element.value.is_some());
        let nodes = (0..self.view.tree().len()).map(|node| (node, self.view.unredacted(node)));
        nodes
            .filter(move |(_, element)| shows(element))
            .map(|(node, element)| (node, (&element.role, element.name.as_str(), element.value.as_deref())))
    }

    fn label(&self, node: usize) -> String {
        let element = &self.view.tree()[node];
        let text = match element.value.as_deref().filter(|value| !value.is_empty()) {
            Some(value) if element.name.is_empty() => value.to_owned(),
            Some(value) => format!("{}: {value}", element.name),
            None => element.name.clone(),
        };
        format!("{} {:?}", element.role, shorten(&text, LONGEST_TOLD))
    }
}
