//! What a consent is bound to, and how two calls differ.

use serde_json::{Map, Value};

use crate::model::Rect;
use crate::tool::args::{WINDOW_INDEX, WINDOW_TITLE, WINDOW_UID};
use crate::tool::{Starting, Target};

/// One call of one tool on what it was resolved to.
#[derive(Clone, Debug, PartialEq)]
pub struct CallFacts {
    tool: &'static str,
    args: Map<String, Value>,
    touched: Vec<Touched>,
}

/// An element as it really is, behind any redaction.
#[derive(Clone, Debug, PartialEq)]
struct Touched {
    window_uid: String,
    element_id: String,
    role: String,
    name: String,
    native: Option<String>,
    starting: Option<Starting>,
    bounds: Rect,
}

impl CallFacts {
    pub fn of(tool: &'static str, args: &Map<String, Value>, targets: &[Target]) -> Self {
        let mut args = args.clone();
        // The window that was found is what counts, however it was named.
        if targets.iter().any(|target| !target.window_uid().is_empty()) {
            args.retain(|name, _| ![WINDOW_UID, WINDOW_INDEX, WINDOW_TITLE].contains(&name.as_str()));
        }
        Self { tool, args, touched: targets.iter().map(Touched::of).collect() }
    }

    /// The same of what was called alone, where nobody has looked at what it touches.
    pub fn describe_other_call(&self, now: &CallFacts) -> Option<String> {
        self.describe_other_words(now, |name| ![WINDOW_UID, WINDOW_INDEX, WINDOW_TITLE].contains(&name))
    }

    fn describe_other_words(&self, now: &CallFacts, counts: impl Fn(&str) -> bool) -> Option<String> {
        if self.tool != now.tool {
            return Some(format!("is for {}, not for {}", self.tool, now.tool));
        }
        let mut names = self.args.keys().chain(now.args.keys()).filter(|name| counts(name));
        let name = names.find(|name| self.args.get(*name) != now.args.get(*name))?;
        Some(format!("is for another '{name}'"))
    }

    /// In what the present call differs from this one, in words without any value.
    pub fn describe_difference(&self, now: &CallFacts, tolerance: u32) -> Option<String> {
        if let Some(difference) = self.describe_other_words(now, |_| true) {
            return Some(difference);
        }
        if self.touched.len() != now.touched.len() {
            return Some("is for a screen that has since changed".to_owned());
        }
        self.touched.iter().zip(&now.touched).find_map(|(then, now)| then.describe_difference(now, tolerance))
    }
}

impl Touched {
    fn of(target: &Target) -> Self {
        Self {
            window_uid: target.window_uid().to_owned(),
            element_id: target.element_id(),
            role: target.unredacted_role().to_string(),
            name: target.unredacted_name().to_owned(),
            native: target.element().and_then(|element| element.view.native_handle(element.node)),
            starting: target.program().cloned(),
            bounds: target.bounds(),
        }
    }

    fn describe_difference(&self, now: &Touched, tolerance: u32) -> Option<String> {
        if self.window_uid != now.window_uid {
            return Some("is for another window".to_owned());
        }
        // Where it is may differ, within limits; what it is may not.
        if *self != (Touched { bounds: self.bounds, ..now.clone() }) {
            return Some("is for another element".to_owned());
        }
        let moved = furthest_move(self.bounds, now.bounds);
        (moved > tolerance).then(|| {
            format!(
                "is for an element that has since moved or changed size by {moved} px (limit {tolerance})"
            )
        })
    }
}

fn furthest_move(then: Rect, now: Rect) -> u32 {
    [(then.x, now.x), (then.y, now.y), (then.width, now.width), (then.height, now.height)]
        .into_iter()
        .map(|(then, now)| then.abs_diff(now))
        .max()
        .unwrap_or(0)
}
