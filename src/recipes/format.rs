//! The JSON of a recipe: the keys of the seed as they are, and ours beside them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::completion::Completion;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recipe {
    /// Small letters, digits and dashes.
    pub id: String,
    pub name: String,
    #[serde(default)]
    pub description: String,
    /// Addresses that it is for; `*` stands for any characters.
    #[serde(default, rename = "urlPatterns")]
    pub url_patterns: Vec<String>,
    /// Sentences for the prompt of a model.
    #[serde(default, rename = "promptHints", skip_serializing_if = "Vec::is_empty")]
    pub prompt_hints: Vec<String>,
    /// The name of an input, and what else callers call it.
    #[serde(default, rename = "inputAliases", skip_serializing_if = "BTreeMap::is_empty")]
    pub input_aliases: BTreeMap<String, Vec<String>>,
    #[serde(default, rename = "browserHints", skip_serializing_if = "BrowserHints::is_empty")]
    pub browser_hints: BrowserHints,
    /// What must hold at the end of a run.
    #[serde(default, skip_serializing_if = "Completion::is_empty")]
    pub completion: Completion,
    /// What a session must have, before a browser is started.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requires: Vec<Requirement>,
    /// The page that the steps begin with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_url: Option<String>,
    /// What a replay does, in this order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<RecipeStep>,
    /// Where each part of the result stands on the last page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<ResultPlan>,
    #[serde(default = "first_version")]
    pub version: u32,
    #[serde(default, skip_serializing_if = "RecipeState::is_active")]
    pub state: RecipeState,
    #[serde(default, skip_serializing_if = "RecipeStats::is_empty")]
    pub stats: RecipeStats,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub learned_from: Option<LearnedFrom>,
}

const fn first_version() -> u32 {
    1
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct BrowserHints {
    #[serde(rename = "preferChrome", skip_serializing_if = "std::ops::Not::not")]
    pub prefer_chrome: bool,
    #[serde(rename = "preferHeadful", skip_serializing_if = "std::ops::Not::not")]
    pub prefer_headful: bool,
    #[serde(rename = "preferPersistentProfile", skip_serializing_if = "std::ops::Not::not")]
    pub prefer_persistent_profile: bool,
}

impl BrowserHints {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Requirement {
    /// A profile, a user-data folder or a warmed session.
    Profile,
    /// A session in which a person has logged in.
    Warmed,
}

/// A healed recipe is a candidate until it has proved itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RecipeState {
    #[default]
    Active,
    Candidate,
}

impl RecipeState {
    fn is_active(&self) -> bool {
        *self == Self::Active
    }
}

/// One call of a replay.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecipeStep {
    /// The tool.
    #[serde(rename = "do")]
    pub tool: String,
    /// The element that it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selector: Option<String>,
    /// What else the tool takes. `{{input.NAME}}` and `{{secret:NAME}}` are filled in.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub args: Map<String, Value>,
    /// Which window it is about, where that is not the focused one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window_title: Option<String>,
    /// What comes of it, as `act` takes it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub expect: Vec<Value>,
}

/// The result with what is read in place of its leaves.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ResultPlan {
    /// The result; what is read is null in it, and a list that is read is empty.
    pub shape: Value,
    /// JSON pointer into `shape` → where its value stands.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub places: BTreeMap<String, ResultPlace>,
    /// JSON pointer of a list → its rows.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub lists: BTreeMap<String, ListPlace>,
}

/// Where a value stands on a page.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ResultPlace {
    /// The one element; of a list, all of them in their order.
    pub selector: String,
    #[serde(default)]
    pub from: PlaceText,
    /// The first group of it is the value; all of the text where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    #[serde(default)]
    pub r#type: PlaceType,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlaceText {
    #[default]
    Name,
    Value,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlaceType {
    #[default]
    Text,
    Number,
}

/// A list: the same places once for each row.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ListPlace {
    /// Field of a row → its elements on the page; `""` where a row is a value by itself.
    pub fields: BTreeMap<String, ResultPlace>,
}

/// How often it ran, and how that ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RecipeStats {
    pub runs: u64,
    pub ok: u64,
    pub failed: u64,
    pub healed: u64,
    /// Runs of this version without a miss, one after the other.
    pub green: u64,
}

impl RecipeStats {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LearnedFrom {
    pub job_id: String,
    /// Which steps were healed since, in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub healed: Vec<String>,
}

impl Recipe {
    /// Whether it runs without a model.
    pub fn can_replay(&self) -> bool {
        self.result.is_some()
    }
}
