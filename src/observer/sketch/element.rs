//! One element as the `structured` sketch lists it: the tree's facts and where they were drawn.

use serde::{Serialize, Serializer};

use super::legend;
use crate::model::{Rect, Tree};

/// Borrows the tree, so that a sketch nobody asked to be structured costs no copies.
#[derive(Clone, Debug, PartialEq)]
pub struct SketchElement<'a> {
    tree: &'a Tree,
    pub node: usize,
    /// Its number in the order in which the elements would take the focus, from 1.
    pub tab_index: Option<usize>,
    /// It, or something it is part of, lies wholly behind a later sibling.
    pub occluded: bool,
    /// The drawn box in cells: left, top, right, bottom, all inclusive.
    pub bounds_grid: Option<[usize; 4]>,
    /// What was read in it, for want of a name.
    pub ocr_text: Option<String>,
}

impl<'a> SketchElement<'a> {
    pub(super) fn new(tree: &'a Tree, node: usize, occluded: bool, tab_index: Option<usize>) -> Self {
        Self { tree, node, tab_index, occluded, bounds_grid: None, ocr_text: None }
    }

    pub fn legend_key(&self) -> String {
        legend::key(self.node)
    }
}

impl Serialize for SketchElement<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let element = &self.tree[self.node];
        let state = SketchState {
            focused: element.focused,
            enabled: element.enabled,
            selected: element.selected,
            expanded: element.expanded,
        };
        let shown = SketchShown {
            id: self.tree.id(self.node),
            role: element.role.name(),
            name: &element.name,
            value: element.value.as_deref(),
            bounds_screen: element.bounds,
            state,
            legend_key: self.legend_key(),
            tab_index: self.tab_index,
            occluded: self.occluded,
            bounds_grid: self.bounds_grid,
            ocr_text: self.ocr_text.as_deref(),
            value_now: element.range.now,
            value_min: element.range.min,
            value_max: element.range.max,
            identifier: element.identifier.as_deref(),
            keyboard_shortcut: element.shortcut.as_deref(),
        };
        shown.serialize(serializer)
    }
}

#[derive(Serialize)]
struct SketchShown<'a> {
    id: String,
    role: &'a str,
    name: &'a str,
    value: Option<&'a str>,
    bounds_screen: Rect,
    state: SketchState,
    legend_key: String,
    tab_index: Option<usize>,
    occluded: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    bounds_grid: Option<[usize; 4]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ocr_text: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    value_now: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    value_min: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    value_max: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    identifier: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    keyboard_shortcut: Option<&'a str>,
}

#[derive(Serialize)]
struct SketchState {
    focused: bool,
    enabled: bool,
    selected: Option<bool>,
    expanded: Option<bool>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Element;

    fn check(element: Element, expected_tail: &str) {
        let tree = Tree::of_root(element);
        let json = serde_json::to_string(&SketchElement::new(&tree, 0, false, None)).unwrap();
        let (_, tail) = json.split_once("\"occluded\":false").unwrap();
        assert_eq!(tail, expected_tail);
    }

    #[test]
    fn what_is_not_known_has_no_key() {
        check(Element::default(), "}");
    }

    #[test]
    fn what_is_known_has_one() {
        let element = Element {
            identifier: Some("ok".into()),
            shortcut: Some("Enter".into()),
            range: crate::model::Range { now: Some(0.5), min: None, max: Some(1.0) },
            ..Element::default()
        };
        check(element, r#","value_now":0.5,"value_max":1.0,"identifier":"ok","keyboard_shortcut":"Enter"}"#);
    }
}
