//! Scenario files: what a mock desktop shows and how it reacts, as plain data that has been checked.
//!
//! `format` is the file as it is written, `load` reads it within limits, `validate` turns it into a
//! `Scenario` or says where it is wrong, `write` makes a file of a `Scenario` again. Playing a scenario is the mock platform's work, not done here.

pub mod format;
pub mod load;
pub mod validate;
pub mod write;

use std::time::Duration;

pub use format::{Oracles, PredicateEntry};
pub use load::{ScenarioError, load_below, load_file, load_str};

use crate::model::{InputKind, Rect, Tree};
use crate::pattern::{Pattern, TooManySteps};

/// A checked scenario: every name in it leads somewhere.
#[derive(Clone, Debug)]
pub struct Scenario {
    pub name: String,
    pub initial_state: usize,
    /// In the order of the file; never empty.
    pub states: Vec<ScenarioState>,
    pub reactions: Vec<Reaction>,
    pub apps: Vec<AppPlan>,
    /// Files that pages have sent before it begins.
    pub downloads: Vec<DownloadPlan>,
    pub oracles: Oracles,
    pub screen: Rect,
}

/// A file that a page has sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DownloadPlan {
    pub name: String,
    pub url: String,
    pub bytes: u32,
}

/// A program that can be started, and the window that it then shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AppPlan {
    pub id: String,
    pub name: String,
    pub program: String,
    pub window: String,
    pub after: Duration,
}

#[derive(Clone, Debug)]
pub struct ScenarioState {
    pub name: String,
    pub windows: Vec<WindowPlan>,
    /// What this state becomes when it has lasted so long.
    pub then: Option<Then>,
    /// An element that had the keyboard before keeps it, unless a window here says who has it.
    pub keeps_focus: bool,
    /// When elements of this state appear or disappear, counted from its beginning; ascending.
    pub changes: Vec<Duration>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Then {
    pub after: Duration,
    pub state: usize,
}

/// A window as a state first shows it, with repeats already written out.
#[derive(Clone, Debug)]
pub struct WindowPlan {
    pub uid: String,
    pub handle: String,
    pub title: String,
    pub process: String,
    pub pid: u32,
    pub bounds: Rect,
    pub focused: bool,
    pub minimized: bool,
    pub capture_delay: Duration,
    /// Every element carries its native handle: the author's id, or else its place in this tree.
    pub tree: Tree,
    /// One for each element of `tree`.
    pub elements: Vec<ElementPlan>,
}

/// What the scenario says of an element beyond what is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ElementPlan {
    /// The native handle is an id that the author gave.
    pub authored: bool,
    pub appears_after: Duration,
    pub disappears_after: Option<Duration>,
}

impl ElementPlan {
    pub fn is_shown_after(&self, elapsed: Duration) -> bool {
        elapsed >= self.appears_after && self.disappears_after.is_none_or(|end| elapsed < end)
    }
}

impl WindowPlan {
    /// Finds an element by its native handle.
    pub fn find_element(&self, native: &str) -> Option<usize> {
        self.tree.elements().iter().position(|element| element.native.as_deref() == Some(native))
    }

    /// Finds an element by the id that the author gave it.
    pub fn find_authored(&self, id: &str) -> Option<usize> {
        self.find_element(id).filter(|&node| self.elements[node].authored)
    }
}

#[derive(Clone, Debug)]
pub struct Reaction {
    pub on: Trigger,
    pub when: Vec<ReactionCondition>,
    pub set: Vec<ElementChange>,
    pub focus: Option<String>,
    pub transition_to: Option<usize>,
    /// Waits only while the desktop is in this state.
    pub in_state: Option<usize>,
    pub after: Duration,
}

#[derive(Clone, Debug)]
pub struct Trigger {
    pub input: InputKind,
    pub window: Option<String>,
    pub target_id: Option<String>,
    pub target_name: Option<String>,
    /// Matches a whole text only.
    pub text: Option<Pattern>,
}

impl Trigger {
    /// What `{text}` stands for when this trigger accepts `text`; `None` when it does not.
    pub fn captured_text<'a>(&self, text: Option<&'a str>) -> Result<Option<&'a str>, TooManySteps> {
        match (&self.text, text) {
            (None, text) => Ok(Some(text.unwrap_or(""))),
            (Some(_), None) => Ok(None),
            (Some(pattern), Some(text)) => pattern.captured(text),
        }
    }
}

#[derive(Clone, Debug)]
pub struct ReactionCondition {
    pub id: String,
    pub window: Option<String>,
    pub value: Option<String>,
    pub value_not_empty: Option<bool>,
    pub selected: Option<bool>,
}

#[derive(Clone, Debug)]
pub struct ElementChange {
    pub id: String,
    pub window: Option<String>,
    pub value: Option<String>,
    pub name: Option<String>,
    pub enabled: Option<bool>,
    pub selected: Option<bool>,
    pub expanded: Option<bool>,
    pub focused: Option<bool>,
}
