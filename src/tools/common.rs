//! Arguments and results that several tools share.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::{Rect, Window};
use crate::observer::{ElementChoice, WindowChoice};
use crate::tool::args::{Int, Text};

#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct WindowArgs {
    /// Window uid; default: focused window.
    pub window_uid: Option<Text<256>>,
    /// Window index; uid wins.
    pub window_index: Option<Int<0, 65535>>,
    #[schemars(extend("x-hidden" = true))]
    pub window_title: Option<Text<512>>,
}

impl WindowArgs {
    pub fn choice(&self) -> WindowChoice {
        WindowChoice {
            uid: self.window_uid.as_ref().map(|uid| uid.as_str().to_owned()),
            index: self.window_index.map(Int::size),
            title: self.window_title.as_ref().map(|title| title.as_str().to_owned()),
        }
    }
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct ElementArgs {
    /// Selector, e.g. Window/Button[name="OK"].
    pub selector: Option<Text<2048>>,
    /// Element id from the tree, instead of a selector.
    pub element_id: Option<Text<2048>>,
}

impl ElementArgs {
    pub fn choice(&self) -> ElementChoice {
        ElementChoice {
            selector: self.selector.as_ref().map(|text| text.as_str().to_owned()),
            element_id: self.element_id.as_ref().map(|text| text.as_str().to_owned()),
        }
    }
}

/// Switches that every input tool understands. The gate reads them.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[allow(dead_code, reason = "declared for the schema; the gate reads the values")]
pub struct QuietInputArgs {
    #[schemars(extend("x-hidden" = true))]
    pub dry_run: Option<bool>,
    #[schemars(extend("x-hidden" = true))]
    pub confirm_token: Option<Text<64>>,
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[allow(dead_code, reason = "declared for the schema; the gate reads the values")]
pub struct InputArgs {
    /// Check only, do nothing.
    pub dry_run: Option<bool>,
    /// Consent token.
    pub confirm_token: Option<Text<64>>,
}

/// A window as list_windows shows it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct WindowOut {
    pub index: usize,
    pub handle: String,
    pub title: String,
    pub process: String,
    pub pid: u32,
    pub bounds: Rect,
    pub focused: bool,
    pub window_uid: String,
}

impl WindowOut {
    pub fn new(index: usize, window: Window) -> Self {
        Self {
            index,
            handle: window.handle,
            title: window.title,
            process: window.process,
            pid: window.pid,
            bounds: window.bounds,
            focused: window.focused,
            window_uid: window.uid,
        }
    }
}

/// A window that was not there before an action.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Dialog {
    pub window_uid: String,
    pub title: String,
}

/// The windows of `after` whose uid is not among `before`.
pub fn new_dialogs(before: &[Window], after: Vec<Window>) -> Vec<Dialog> {
    after
        .into_iter()
        .filter(|window| !before.iter().any(|old| old.uid == window.uid))
        .map(|window| Dialog { window_uid: window.uid, title: window.title })
        .collect()
}

pub fn millis(duration: std::time::Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// A caller's regular expression: bounded, and an error when it is none.
pub fn regex(field: &'static str, pattern: &str) -> crate::error::Result<regex::Regex> {
    crate::config::limits::compile_pattern(pattern).map_err(|problem| {
        crate::error::Error::bad_request(format!("argument '{field}': {problem}")).with("field", field)
    })
}
