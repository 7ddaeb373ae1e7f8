//! Whether what a call types must not be shown. Whoever shows or stores the arguments of a call asks here, because it
//! is asked before anything was typed: nobody has learned yet that the text is a secret.

use serde_json::{Map, Value};

use super::{ElementTarget, Target};
use crate::model::Role;
use crate::privacy::redact::is_secret;

/// Whether the typed arguments of a call on this target are private: they go into an element that hides what it
/// holds, may go on into one, or go to what is no element. What the clipboard holds is pasted nobody knows where.
pub fn is_private(target: &Target, args: &Map<String, Value>) -> bool {
    target.element().is_none_or(|element| {
        element.view.is_private(element.node)
            || holds_a_secret(element)
            || (moves_on(args) && leads_on(element) && element.view.has_secret())
    })
}

/// Where no field is said to have the focus, any inside of what has it may.
fn holds_a_secret(target: &ElementTarget) -> bool {
    let end = target.view.tree().end(target.node);
    (target.node..end).any(|node| is_secret(target.view.unredacted(node)))
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
