//! The scenario file as it is written: one struct per mapping of the YAML, with the place of whatever
//! can be wrong. Nothing here decides whether the content makes sense; `validate` does.
//!
//! ```yaml
//! name: text                        # default "scenario"
//! description: …                    # for readers, like author
//! initial_state: NAME               # default: the first state
//! screen: {width: 1920, height: 1080}                                     # extension
//! states:                           # at least one, in the order of the file
//!   NAME:
//!     then: {after_ms: 900, transition_to: NAME}   # extension: what time alone does to this state
//!     keeps_focus: true             # extension; false: only a focused element here has the keyboard
//!     windows:
//!       - uid: mock:app             # default mock:NAME
//!         title: …                  # default: the scenario's name
//!         process: acme.exe         # default scenario.exe
//!         pid: 1234                 # default 10000 + index
//!         bounds: {x: 0, y: 0, width: 800, height: 600}
//!         focused: true             # extension; default: the first window
//!         minimized: false          # extension
//!         capture_delay_ms: 0       # extension: how long a look into this window takes
//!         tree:
//!           role: Window            # default Unknown
//!           name: …                 # default ""
//!           value: …                # default null
//!           id: author-id           # a handle for reactions; observed ids stay positional
//!           bounds: {…}             # default: the window's
//!           enabled: true
//!           secret: false
//!           children: […]
//!           # extensions from here on
//!           focused: false          # at most one element of a window
//!           selected: true
//!           expanded: true
//!           value_now: 40
//!           value_min: 0
//!           value_max: 100
//!           keyboard_shortcut: ctrl+s
//!           description: …
//!           identifier: …
//!           label_for: ID           # a click on it works that element
//!           appears_after_ms: 500   # counted from the moment the state is entered
//!           disappears_after_ms: 900
//!           repeat: {count: 20, dx: 0, dy: 24}
//! reactions:
//!   - on: {tool: click_element, target_id: …, target_name: …, text_regex: …, window: UID}
//!     when: [{id: …, value: …, value_not_empty: true, selected: true, window: UID}]
//!     set: [{id: …, value: …, name: …, enabled: …, selected: …, expanded: …, focused: …, window: UID}]
//!     focus: ID
//!     transition_to: NAME
//!     in_state: NAME                # extension: only while the desktop is in this state
//!     after_ms: 200                 # the effects come this much later
//! apps:                             # extension: what launch_app can start
//!   - {id: calc, name: Calculator, program: calc.exe, window: UID, after_ms: 300}
//! downloads:                        # extension: files that pages have sent before the scenario begins
//!   - {name: prices.csv, url: https://…, bytes: 120}
//! oracles: {success: [{kind: …}], failure: [{kind: …}]}
//! ```
//!
//! `on` may be spelled `match`, or arrive as the boolean `true` that YAML 1.1 makes of it.
//!
//! `repeat` shows the element and what is below it `count` times, each copy moved by `dx`, `dy` from the
//! one before (elements without bounds of their own stay where they are). In every text of the copy `{n}`
//! is its number from 1, and `{outer}` the number of the repeat around it.
//!
//! `window` in `on`, `when` and `set` is needed only where two windows of one state use the same id.
//! `bring_to_foreground` is a tool that a reaction can wait for; its target is the root of the window.
//! The window of an app shows in the states that have it, from when the app was started until it is closed.
//! `then` may not lead around in a circle: time alone never returns to a state that it has left.
//! `text_regex` must match the whole text; its group 1, or else the whole text, is `{text}` in `set`.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserializer, MapAccess, Visitor};
use serde::{Deserialize, Serialize};
use serde_saphyr::Spanned;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScenarioEntry {
    pub name: Option<String>,
    #[allow(dead_code, reason = "it is for those who read the file")]
    pub description: Option<serde::de::IgnoredAny>,
    #[allow(dead_code, reason = "it is for those who read the file")]
    pub author: Option<serde::de::IgnoredAny>,
    pub initial_state: Option<Spanned<String>>,
    pub screen: Option<Spanned<ScreenEntry>>,
    #[serde(default, deserialize_with = "in_file_order")]
    pub states: Vec<(Spanned<String>, StateEntry)>,
    pub reactions: Option<Vec<Spanned<ReactionEntry>>>,
    pub apps: Option<Vec<Spanned<AppEntry>>>,
    pub downloads: Option<Vec<Spanned<DownloadEntry>>>,
    pub oracles: Option<OraclesEntry>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScreenEntry {
    pub width: i64,
    pub height: i64,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StateEntry {
    pub windows: Option<Vec<Spanned<WindowEntry>>>,
    pub then: Option<Spanned<ThenEntry>>,
    pub keeps_focus: Option<bool>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ThenEntry {
    pub after_ms: u32,
    pub transition_to: Spanned<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WindowEntry {
    pub uid: Option<Spanned<String>>,
    pub title: Option<String>,
    pub process: Option<String>,
    pub pid: Option<u32>,
    pub bounds: Option<Spanned<BoundsEntry>>,
    pub focused: Option<bool>,
    pub minimized: Option<bool>,
    pub capture_delay_ms: Option<u32>,
    pub tree: Option<Spanned<ElementEntry>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ElementEntry {
    pub role: Option<String>,
    pub name: Option<String>,
    pub value: Option<String>,
    pub id: Option<Spanned<String>>,
    pub bounds: Option<Spanned<BoundsEntry>>,
    pub enabled: Option<bool>,
    pub secret: Option<bool>,
    pub children: Option<Vec<Spanned<ElementEntry>>>,
    pub focused: Option<bool>,
    pub selected: Option<bool>,
    pub expanded: Option<bool>,
    pub value_now: Option<f64>,
    pub value_min: Option<f64>,
    pub value_max: Option<f64>,
    pub keyboard_shortcut: Option<String>,
    pub description: Option<String>,
    pub identifier: Option<String>,
    pub label_for: Option<Spanned<String>>,
    pub appears_after_ms: Option<u32>,
    pub disappears_after_ms: Option<u32>,
    pub repeat: Option<Spanned<RepeatEntry>>,
}

/// Wider than the model's numbers, so that a sum that does not fit is found and not wrapped.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BoundsEntry {
    #[serde(default)]
    pub x: i64,
    #[serde(default)]
    pub y: i64,
    pub width: i64,
    pub height: i64,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RepeatEntry {
    pub count: u32,
    #[serde(default)]
    pub dx: i64,
    #[serde(default)]
    pub dy: i64,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReactionEntry {
    #[serde(alias = "match", alias = "true", alias = "True")]
    pub on: TriggerEntry,
    pub when: Option<Vec<Spanned<ConditionEntry>>>,
    pub set: Option<Vec<Spanned<ChangeEntry>>>,
    pub focus: Option<Spanned<String>>,
    pub transition_to: Option<Spanned<String>>,
    pub in_state: Option<Spanned<String>>,
    pub after_ms: Option<u32>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TriggerEntry {
    pub tool: Spanned<String>,
    pub window: Option<Spanned<String>>,
    pub target_id: Option<Spanned<String>>,
    pub target_name: Option<String>,
    pub text_regex: Option<Spanned<String>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConditionEntry {
    pub id: Spanned<String>,
    pub window: Option<Spanned<String>>,
    pub value: Option<String>,
    pub value_not_empty: Option<bool>,
    pub selected: Option<bool>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChangeEntry {
    pub id: Spanned<String>,
    pub window: Option<Spanned<String>>,
    pub value: Option<String>,
    pub name: Option<String>,
    pub enabled: Option<bool>,
    pub selected: Option<bool>,
    pub expanded: Option<bool>,
    pub focused: Option<bool>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AppEntry {
    pub id: Spanned<String>,
    pub name: Option<String>,
    pub program: Option<String>,
    pub window: Spanned<String>,
    pub after_ms: Option<u32>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DownloadEntry {
    pub name: String,
    pub url: Option<String>,
    pub bytes: Option<u32>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OraclesEntry {
    pub success: Option<Vec<Spanned<PredicateEntry>>>,
    pub failure: Option<Vec<Spanned<PredicateEntry>>>,
}

/// A predicate as `assert_state` takes it: `kind` and that kind's own arguments, kept as they stand.
pub type PredicateEntry = serde_json::Map<String, serde_json::Value>;

/// The two lists of oracles after loading.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Oracles {
    pub success: Vec<PredicateEntry>,
    pub failure: Vec<PredicateEntry>,
}

/// Keeps a mapping's entries in the order of the file, with the places of the keys.
fn in_file_order<'de, D, V>(deserializer: D) -> Result<Vec<(Spanned<String>, V)>, D::Error>
where
    D: Deserializer<'de>,
    V: Deserialize<'de>,
{
    deserializer.deserialize_map(Entries(PhantomData))
}

struct Entries<V>(PhantomData<V>);

impl<'de, V: Deserialize<'de>> Visitor<'de> for Entries<V> {
    type Value = Vec<(Spanned<String>, V)>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a mapping of names to states")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = map.next_entry()? {
            entries.push(entry);
        }
        Ok(entries)
    }
}
