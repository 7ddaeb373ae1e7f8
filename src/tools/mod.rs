//! Which tools exist, one file per group, each ending in its `TOOLS`; and which of them are switched on.

mod act;
mod acting;
mod asserting;
mod clipboard;
mod common;
mod composite;
mod consent;
mod cursor;
mod elements;
mod exec;
mod fields;
mod harness;
mod keyboard;
mod look;
mod overlay;
mod pictures;
mod pointer;
mod programs;
mod reading;
mod screen;
mod session;
mod text;
mod tracing;
mod vision;
mod waiting;
mod watch;
mod window_action;
mod windows;

use std::collections::HashMap;
use std::sync::OnceLock;

use serde_json::Value;

use crate::config::Profile;
use crate::tool::{Effect, Group, Spec};

/// All tools, in the order in which the docs and `tools/list` show them.
pub fn all() -> impl Iterator<Item = Spec> {
    [
        look::TOOLS,
        act::TOOLS,
        windows::TOOLS,
        window_action::TOOLS,
        programs::TOOLS,
        exec::TOOLS,
        elements::TOOLS,
        screen::TOOLS,
        pictures::TOOLS,
        reading::TOOLS,
        text::TOOLS,
        acting::TOOLS,
        pointer::TOOLS,
        cursor::TOOLS,
        keyboard::TOOLS,
        clipboard::TOOLS,
        waiting::TOOLS,
        composite::TOOLS,
        watch::TOOLS,
        vision::TOOLS,
        session::TOOLS,
        consent::TOOLS,
        harness::TOOLS,
        asserting::TOOLS,
        tracing::TOOLS,
    ]
    .into_iter()
    .flatten()
    .copied()
}

/// The tools that this process offers.
#[derive(Debug)]
pub struct Table {
    entries: Vec<Entry>,
    by_name: HashMap<&'static str, usize>,
}

#[derive(Debug)]
pub struct Entry {
    pub spec: Spec,
    /// Shown in tools/list.
    pub listed: bool,
    schema: OnceLock<Value>,
}

impl Entry {
    /// The full input schema, made when it is first needed: a cold start pays for no tool it never uses.
    pub fn schema(&self) -> &Value {
        self.schema.get_or_init(|| self.spec.full_input_schema())
    }
}

impl Table {
    pub fn new(selection: &Selection) -> Self {
        let entries: Vec<Entry> = all()
            .filter(|spec| selection.includes(spec))
            .map(|spec| Entry { spec, listed: selection.lists(&spec), schema: OnceLock::new() })
            .collect();
        let by_name =
            entries.iter().enumerate().map(|(index, entry)| (entry.spec.meta.name, index)).collect();
        Self { entries, by_name }
    }

    pub fn find(&self, name: &str) -> Option<&Entry> {
        self.by_name.get(name).map(|&index| &self.entries[index])
    }

    pub fn specs(&self) -> impl Iterator<Item = Spec> {
        self.entries.iter().map(|entry| entry.spec)
    }

    /// What tools/list shows; the others can be called by those who know them.
    pub fn listed(&self) -> impl Iterator<Item = Spec> {
        self.entries.iter().filter(|entry| entry.listed).map(|entry| entry.spec)
    }

    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.specs().map(|spec| spec.meta.name)
    }
}

/// Which tools are offered: a profile, then single groups and tools added or taken away.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Selection {
    profile: Profile,
    changes: Vec<(bool, String)>,
}

fn in_profile(profile: Profile, spec: &Spec) -> bool {
    match profile {
        Profile::Full | Profile::Test => true,
        Profile::Agent => spec.meta.lean || spec.meta.group != Group::Harness,
        Profile::Observe => spec.meta.effect == Effect::Observe,
    }
}

impl Selection {
    /// Reads `+group,-tool`; a word without a sign adds.
    pub fn parse(profile: Profile, changes: &str) -> Result<Self, String> {
        let changes = changes
            .split(',')
            .map(str::trim)
            .filter(|word| !word.is_empty())
            .map(parse_change)
            .collect::<Result<_, _>>()?;
        Ok(Self { profile, changes })
    }

    fn includes(&self, spec: &Spec) -> bool {
        self.change_of(spec).unwrap_or_else(|| in_profile(self.profile, spec))
    }

    /// An agent's model reads this list before anything else, so it is told of few. The rest is there for the steps
    /// of act and for clients that know it.
    fn lists(&self, spec: &Spec) -> bool {
        let by_profile = self.profile != Profile::Agent || spec.meta.lean;
        spec.meta.listed && self.change_of(spec).unwrap_or(by_profile)
    }

    /// What the last of the changes says that names the tool or its group.
    fn change_of(&self, spec: &Spec) -> Option<bool> {
        let names = |word: &str| word == spec.meta.name || word == spec.meta.group.name();
        self.changes.iter().rev().find(|(_, word)| names(word)).map(|(add, _)| *add)
    }
}

fn parse_change(word: &str) -> Result<(bool, String), String> {
    let (add, name) = match word.split_at_checked(1) {
        Some(("-", name)) => (false, name),
        Some(("+", name)) => (true, name),
        _ => (true, word),
    };
    let known = || all().map(|spec| spec.meta.name).chain(Group::ALL.map(Group::name));
    if known().any(|candidate| candidate == name) {
        return Ok((add, name.to_owned()));
    }
    Err(match crate::text::nearest(name, known()) {
        Some(nearest) => format!("--tools: '{name}' is no tool and no group; did you mean '{nearest}'?"),
        None => format!(
            "--tools: '{name}' is no tool and no group; groups are {}",
            Group::ALL.map(Group::name).join(", ")
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(profile: Profile, changes: &str, present: &[&str], absent: &[&str]) {
        let table = Table::new(&Selection::parse(profile, changes).unwrap());
        for name in present {
            assert!(table.find(name).is_some(), "{name} is missing with {profile:?} {changes}");
        }
        for name in absent {
            assert!(table.find(name).is_none(), "{name} is there with {profile:?} {changes}");
        }
    }

    #[test]
    fn profiles_choose_and_changes_correct() {
        check(Profile::Full, "", &["list_windows", "click_at", "load_scenario"], &[]);
        check(Profile::Agent, "", &["click_at"], &["load_scenario"]);
        check(Profile::Agent, "+harness", &["load_scenario"], &[]);
        check(Profile::Observe, "", &["list_windows"], &["click_at", "type_text"]);
        check(Profile::Observe, "+pointer,-scroll", &["click_at"], &["scroll", "type_text"]);
    }

    #[test]
    fn unknown_words_are_named() {
        let error = Selection::parse(Profile::Full, "-clik_at").unwrap_err();
        assert!(error.contains("did you mean 'click_at'"), "{error}");
    }
}
