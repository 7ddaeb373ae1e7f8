//! Which tools this process offers, and which of them a client is shown.

use std::collections::HashMap;
use std::sync::OnceLock;

use serde_json::Value;

use super::schema::Detail;
use super::{Effect, Group, Meta, Spec};
use crate::config::Profile;

/// The tools that this process offers.
#[derive(Debug)]
pub struct Table {
    profile: Profile,
    entries: Vec<TableEntry>,
    by_name: HashMap<&'static str, usize>,
    declared: Vec<&'static Meta>,
}

#[derive(Debug)]
pub struct TableEntry {
    pub spec: Spec,
    /// Shown in tools/list.
    pub listed: bool,
    schema: OnceLock<Value>,
}

impl TableEntry {
    /// The full input schema, made when it is first needed: a cold start pays for no tool it never uses.
    pub fn schema(&self) -> &Value {
        self.schema.get_or_init(|| self.spec.full_input_schema())
    }
}

/// What is worked: the windows of programs, the pages of a browser, or both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DesktopShows {
    Programs,
    Pages,
    Both,
}

impl DesktopShows {
    fn has_use_for(self, spec: &Spec) -> bool {
        match self {
            DesktopShows::Programs => spec.meta.group != Group::Browser,
            DesktopShows::Pages => !spec.meta.needs_programs,
            DesktopShows::Both => true,
        }
    }
}

impl Table {
    /// Tools for pages are listed where there are pages, and those for programs not where there are only pages.
    pub fn new(selection: &Selection, shows: DesktopShows, all: impl Iterator<Item = Spec>) -> Self {
        let all: Vec<Spec> = all.collect();
        let declared = all.iter().map(|spec| spec.meta).collect();
        let entries: Vec<TableEntry> = all
            .into_iter()
            .filter(|spec| selection.includes_tool(spec))
            .map(|spec| TableEntry {
                spec,
                listed: selection.lists_tool(&spec) && shows.has_use_for(&spec),
                schema: OnceLock::new(),
            })
            .collect();
        let by_name =
            entries.iter().enumerate().map(|(index, entry)| (entry.spec.meta.name, index)).collect();
        Self { profile: selection.profile, entries, by_name, declared }
    }

    /// Whether a model is served that reads few words.
    pub fn is_for_an_agent(&self) -> bool {
        matches!(self.profile, Profile::Agent | Profile::Web)
    }

    /// Whether that model works pages and nothing else.
    pub fn is_for_pages(&self) -> bool {
        self.profile == Profile::Web
    }

    /// How much of the arguments a client is shown.
    pub fn detail(&self) -> Detail {
        if self.is_for_an_agent() { Detail::Lean } else { Detail::Full }
    }

    pub fn find_tool(&self, name: &str) -> Option<&TableEntry> {
        self.by_name.get(name).map(|&index| &self.entries[index])
    }

    pub fn specs(&self) -> impl Iterator<Item = Spec> {
        self.entries.iter().map(|entry| entry.spec)
    }

    /// What tools/list shows; the others can be called by those who know them.
    pub fn listed_tools(&self) -> impl Iterator<Item = Spec> {
        self.entries.iter().filter(|entry| entry.listed).map(|entry| entry.spec)
    }

    /// All tools there are, offered here or not.
    pub fn declared(&self) -> impl Iterator<Item = &'static Meta> {
        self.declared.iter().copied()
    }

    pub fn declared_names(&self) -> impl Iterator<Item = &'static str> {
        self.declared().map(|meta| meta.name)
    }

    pub fn tool_names(&self) -> impl Iterator<Item = &'static str> {
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
        Profile::Agent | Profile::Web => spec.meta.lean || spec.meta.group != Group::Harness,
        Profile::Observe => spec.meta.effect == Effect::Observe,
    }
}

impl Selection {
    /// Reads `+group,-tool`; a word without a sign adds.
    pub fn parse(profile: Profile, changes: &str, all: &[Spec]) -> Result<Self, String> {
        let changes = changes
            .split(',')
            .map(str::trim)
            .filter(|word| !word.is_empty())
            .map(|word| parse_change(word, all))
            .collect::<Result<_, _>>()?;
        Ok(Self { profile, changes })
    }

    /// Also lists a tool that the profile leaves out, unless a change of the caller's takes it away.
    pub fn with_tool(mut self, name: &str) -> Self {
        self.changes.insert(0, (true, name.to_owned()));
        self
    }

    /// Whether pages alone are worked.
    pub fn is_for_pages(&self) -> bool {
        self.profile == Profile::Web
    }

    fn includes_tool(&self, spec: &Spec) -> bool {
        self.change_of(spec).unwrap_or_else(|| in_profile(self.profile, spec))
    }

    /// An agent's model reads this list before anything else, so it is told of few. The rest is there for the steps
    /// of act and for clients that know it.
    fn lists_tool(&self, spec: &Spec) -> bool {
        let by_profile = match self.profile {
            Profile::Agent => spec.meta.lean,
            Profile::Web => spec.meta.web,
            Profile::Full | Profile::Observe | Profile::Test => true,
        };
        spec.meta.listed && self.change_of(spec).unwrap_or(by_profile)
    }

    /// What the last of the changes says that names the tool or its group.
    fn change_of(&self, spec: &Spec) -> Option<bool> {
        let names = |word: &str| word == spec.meta.name || word == spec.meta.group.name();
        self.changes.iter().rev().find(|(_, word)| names(word)).map(|(add, _)| *add)
    }
}

fn parse_change(word: &str, all: &[Spec]) -> Result<(bool, String), String> {
    let (add, name) = match word.split_at_checked(1) {
        Some(("-", name)) => (false, name),
        Some(("+", name)) => (true, name),
        _ => (true, word),
    };
    let known = || all.iter().map(|spec| spec.meta.name).chain(Group::ALL.map(Group::name));
    if known().any(|candidate| candidate == name) {
        return Ok((add, name.to_owned()));
    }
    Err(match crate::text::nearest(name, known()) {
        Some(nearest) => format!("--tools: '{name}' is not a tool or a group; did you mean '{nearest}'?"),
        None => format!(
            "--tools: '{name}' is not a tool or a group; groups are {}",
            Group::ALL.map(Group::name).join(", ")
        ),
    })
}
