//! One element of a window's accessibility tree, without its place in the tree.

use super::{HiddenReason, Rect, Role};

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Element {
    pub role: Role,
    pub name: String,
    pub value: Option<String>,
    pub bounds: Rect,
    pub enabled: bool,
    pub focused: bool,
    pub selected: Option<bool>,
    pub expanded: Option<bool>,
    pub range: Range,
    pub shortcut: Option<String>,
    pub description: Option<String>,
    /// What a person reads in it, where it is called otherwise. Consent is judged by both.
    pub shown_text: Option<String>,
    /// The application's own name for the element (UIA AutomationId, AX identifier).
    pub identifier: Option<String>,
    /// A password field or another value that must never be shown.
    pub secret: bool,
    /// Set on the copy that leaves the observer: the texts were replaced.
    pub redacted: bool,
    /// Its text can be changed by typing.
    pub editable: bool,
    /// It is a field, and nobody may write into it now, although it is enabled.
    pub read_only: bool,
    /// The application does not accept what it holds; the description says why, where that is known.
    pub invalid: bool,
    /// It is there but not to be seen now: in a closed menu, scrolled away, on another page.
    pub hidden: bool,
    /// Why a person cannot see it, where the application does not say so. Made of the whole tree, by whoever
    /// captures it.
    pub unseen: Option<HiddenReason>,
    /// The platform's own handle, by which it finds the element again to act on it.
    pub native: Option<String>,
    /// Handles of the elements that it labels or that label it, as far as the application tells.
    pub label_links: Box<[String]>,
    /// The handle is no more than a place: later it may lead to another element.
    pub native_is_place: bool,
    /// It is one document of several that may come to its place: what is in another one is something else, however
    /// alike, as on the next page of a browser.
    pub is_document: bool,
}

/// Slider, progress bar, spin button: what is known of the numbers behind the value.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Range {
    pub now: Option<f64>,
    pub min: Option<f64>,
    pub max: Option<f64>,
}

impl Element {
    pub fn new(role: impl Into<Role>, name: impl Into<String>, bounds: Rect) -> Self {
        Self { role: role.into(), name: name.into(), bounds, enabled: true, ..Self::default() }
    }

    /// What is typed into it must not be shown: the platform says so, or its role does.
    pub fn is_secret(&self) -> bool {
        let says = |word: &str| {
            let mut parts = self.role.name().as_bytes().windows(word.len());
            parts.any(|part| part.eq_ignore_ascii_case(word.as_bytes()))
        };
        self.secret || says("password") || says("securetext")
    }
}
