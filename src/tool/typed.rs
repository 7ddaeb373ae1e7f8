//! Whether what a call types must not be shown. Code that shows or stores the arguments of a call asks here,
//! because this happens before anything was typed: the text is not yet known as a secret.

use serde_json::{Map, Value};

use super::{ElementTarget, Target};
use crate::model::Role;

/// Whether the typed arguments of a call on this target are private: they go into an element that hides what it
/// holds, may go on into one, or go to what is no element. What the clipboard holds is pasted nobody knows where.
pub fn is_private(target: &Target, args: &Map<String, Value>) -> bool {
    target.element().is_none_or(|element| {
        element.view.is_private(element.node)
            || element.view.holds_secret(element.node)
            || (moves_on(args) && leads_on(element) && element.view.has_secret())
    })
}

/// The same for the person who decides, from whom no rule about names hides anything.
pub fn is_secret(target: &Target, args: &Map<String, Value>) -> bool {
    target.element().is_none_or(|element| {
        element.view.holds_secret(element.node)
            || (moves_on(args) && leads_on(element) && element.view.has_secret())
    })
}

/// In a text of several lines a tab and a line break are part of the text.
fn leads_on(target: &ElementTarget) -> bool {
    target.view.unredacted(target.node).role != Role::Document
}

/// A tab leads into the next field, and so may a line break that more text follows.
pub fn moves_on(args: &Map<String, Value>) -> bool {
    let mut texts = args.values().filter_map(Value::as_str);
    texts.any(|text| text.contains('\t') || text.trim_end().contains(['\n', '\r']))
}
