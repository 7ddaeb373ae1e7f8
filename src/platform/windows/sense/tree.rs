//! From the elements of UI Automation to a tree: walked within limits, pruned where they went away, and named as the
//! contract names them.
//!
//! A whole window comes in one answer (the cached subtree), so walking asks nobody; what can fail is that a part of it
//! is not there any more. That part is left out, and the tree says that it is not complete.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use super::errors::{Code, Meaning};
use super::points::rect_of;
use super::roles::{self, Told};
use crate::config::limits::{TREE_CHILDREN_OF_ONE_NODE, TREE_DEPTH, TREE_NODES};
use crate::model::element::Range;
use crate::model::{Element, Rect, Tree, TreeBuilder};
use crate::platform::shaping::{shortened, show_choices};

/// An element as UI Automation tells of it. A pattern that the element does not have is `None`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RawElement {
    /// What tells it apart from all others for as long as it lives.
    pub runtime_id: Vec<i32>,
    pub control_type: i32,
    pub class: String,
    pub name: String,
    pub automation_id: String,
    pub help: String,
    pub accelerator: String,
    pub access_key: String,
    /// Left, top, right, bottom; all zero for what has no place.
    pub sides: [i32; 4],
    pub enabled: bool,
    pub focused: bool,
    pub offscreen: bool,
    pub password: bool,
    pub dialog: bool,
    pub invoke: bool,
    pub scroll_item: bool,
    /// Its children can be selected.
    pub selection: bool,
    pub value: Option<RawValue>,
    pub range: Option<RawRange>,
    /// 0 off, 1 on, 2 neither.
    pub toggle: Option<i32>,
    pub selected: Option<bool>,
    /// 0 collapsed, 1 expanded, 2 partly expanded, 3 has nothing to expand.
    pub expand: Option<i32>,
    /// The beginning of the text of an element that has no value.
    pub text: Option<String>,
    /// It has a text that can be read.
    pub has_text: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RawValue {
    pub text: String,
    pub read_only: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RawRange {
    pub now: f64,
    pub min: f64,
    pub max: f64,
    pub read_only: bool,
}

impl RawElement {
    pub fn bounds(&self) -> Rect {
        let [left, top, right, bottom] = self.sides;
        rect_of(left, top, right, bottom)
    }

    pub fn role(&self, root: bool) -> &'static str {
        roles::name(Told {
            control_type: self.control_type,
            class: &self.class,
            dialog: self.dialog,
            toggles: self.toggle.is_some(),
            root,
        })
    }

    /// `42.1116.4.3`: the platform's own name, by which the element is found again.
    pub fn native(&self) -> String {
        self.runtime_id.iter().map(ToString::to_string).collect::<Vec<_>>().join(".")
    }

    pub fn range(&self) -> Range {
        let number = |it: f64| Some(it).filter(|it| it.is_finite());
        self.range.map_or_else(Range::default, |range| Range {
            now: number(range.now),
            min: number(range.min),
            max: number(range.max),
        })
    }

    /// Marks and selections are one thing to a person.
    pub fn selected(&self) -> Option<bool> {
        self.toggle.map(|state| state == 1).or(self.selected)
    }

    pub fn expanded(&self) -> Option<bool> {
        self.expand.filter(|state| *state != 3).map(|state| state != 0)
    }

    /// Its text can be changed by typing.
    pub fn editable(&self) -> bool {
        let role = self.role(false);
        let open = self.value.as_ref().map_or(self.has_text && role == "Edit", |value| !value.read_only);
        self.enabled && open && roles::WRITTEN.contains(&role)
    }

    /// What it holds beside its name. A password is never read; the dots in its place are no news.
    fn value(&self) -> Option<String> {
        if self.password {
            return None;
        }
        if let Some(value) = &self.value {
            // Many elements offer a value and have none: only what is meant to hold a text may hold an empty one.
            let meant = roles::WRITTEN.contains(&self.role(false));
            return (meant || !value.text.is_empty()).then(|| shortened(&value.text, None));
        }
        let number = self.range().now.map(|now| now.to_string());
        number.or_else(|| self.text.as_deref().map(|text| shortened(text, None)))
    }

    /// Keys that do it from anywhere, else those that do it while its menu or window is open.
    fn shortcut(&self) -> Option<String> {
        [&self.accelerator, &self.access_key].into_iter().find(|keys| !keys.is_empty()).cloned()
    }

    pub fn element(&self, root: bool) -> Element {
        let bounds = self.bounds();
        Element {
            role: self.role(root).into(),
            name: shortened(&self.name, None),
            value: self.value(),
            bounds,
            enabled: self.enabled,
            focused: self.focused,
            selected: self.selected(),
            expanded: self.expanded(),
            range: self.range(),
            shortcut: self.shortcut(),
            description: Some(&self.help).filter(|help| !help.is_empty()).map(|help| shortened(help, None)),
            identifier: Some(&self.automation_id).filter(|id| !id.is_empty()).cloned(),
            secret: self.password,
            redacted: false,
            editable: self.editable(),
            hidden: self.offscreen || bounds.is_empty(),
            unseen: None,
            native: Some(self.native()).filter(|native| !native.is_empty()),
            native_is_place: false,
        }
    }
}

/// The runtime id that a native name stands for.
pub fn runtime_id(native: &str) -> Option<Vec<i32>> {
    native.split('.').map(|part| part.parse().ok()).collect()
}

/// An element whose subtree was fetched with it.
pub trait Cached: Sized {
    fn facts(&self) -> Result<RawElement, Code>;

    fn children(&self) -> Result<Vec<Self>, Code>;
}

/// How much of a window is read at most.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    pub nodes: usize,
    pub depth: usize,
    pub children: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { nodes: TREE_NODES, depth: TREE_DEPTH, children: TREE_CHILDREN_OF_ONE_NODE }
    }
}

/// The elements in pre-order with their depths, and whether they are all that there are.
#[derive(Debug)]
pub struct Gathered<C> {
    pub found: Vec<(usize, RawElement, C)>,
    pub complete: bool,
}

/// Walks down from a root. An element that went away takes what is below it along; one that fails otherwise too.
pub fn gather<C: Cached>(root: C, limits: Limits) -> Result<Gathered<C>, Code> {
    let mut gathered = Gathered { found: Vec::new(), complete: true };
    let mut placed: HashSet<Vec<i32>> = HashSet::new();
    let mut stack = vec![(0, root)];
    while let Some((depth, node)) = stack.pop() {
        if gathered.found.len() >= limits.nodes {
            gathered.complete = false;
            break;
        }
        let facts = match node.facts() {
            Ok(facts) => facts,
            Err(code) if depth == 0 => return Err(code),
            Err(_) => {
                gathered.complete = false;
                continue;
            }
        };
        // Providers that are their own grandchildren have been seen.
        if !facts.runtime_id.is_empty() && !placed.insert(facts.runtime_id.clone()) {
            continue;
        }
        let mut children = match node.children() {
            Ok(children) => children,
            Err(code) => {
                // No children is an error without a number to some providers.
                gathered.complete &= matches!(code.meaning(), Meaning::Unsupported | Meaning::Other);
                Vec::new()
            }
        };
        gathered.found.push((depth, facts, node));
        if depth >= limits.depth {
            gathered.complete &= children.is_empty();
            continue;
        }
        if children.len() > limits.children {
            gathered.complete = false;
            children.truncate(limits.children);
        }
        stack.extend(children.into_iter().rev().map(|child| (depth + 1, child)));
    }
    Ok(gathered)
}

/// A window's tree. `bounds` and `title` are the window's own, as the list of windows has them.
pub fn tree<'a>(
    elements: impl Iterator<Item = (usize, &'a RawElement)>,
    complete: bool,
    bounds: Rect,
    title: &str,
) -> Tree {
    let mut builder: Option<TreeBuilder> = None;
    for (depth, raw) in elements {
        match &mut builder {
            None => {
                let mut root = raw.element(true);
                root.bounds = bounds;
                root.hidden = false;
                if root.name.is_empty() {
                    root.name = title.to_owned();
                }
                builder = Some(TreeBuilder::new(root));
            }
            Some(builder) => {
                while builder.depth() > depth.max(1) {
                    builder.close();
                }
                builder.open(raw.element(false));
            }
        }
    }
    let root = || Tree::of_root(Element::new("Window", title, bounds));
    let mut tree = builder.map_or_else(root, TreeBuilder::finish);
    tree.complete = complete;
    show_choices(&mut tree);
    tree
}

/// The tree of a window about which nothing can be known, which says why.
pub fn bare(bounds: Rect, title: &str, why: impl Into<String>) -> Tree {
    let mut tree = Tree::of_root(Element::new("Window", title, bounds));
    tree.lacking = Some(why.into());
    tree
}

/// Of how many elements the text is asked for, which costs a question each.
pub const MOST_TEXTS: usize = 64;

/// Whether an element's text is worth a question of its own.
pub fn wants_text(raw: &RawElement) -> bool {
    let written = ["Document", "Edit"].contains(&raw.role(false));
    raw.has_text && raw.value.is_none() && !raw.password && !raw.offscreen && written
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::rc::Rc;

    /// A recorded element and those below it.
    #[derive(Clone, Debug, Default, Deserialize)]
    #[serde(default)]
    struct Recorded {
        #[serde(flatten)]
        facts: RawElement,
        children: Vec<Rc<Recorded>>,
        /// What asking for it answers instead.
        fails: Option<u32>,
    }

    impl Cached for Rc<Recorded> {
        fn facts(&self) -> Result<RawElement, Code> {
            match self.fails {
                Some(number) => Err(Code(number.cast_signed())),
                None => Ok(self.facts.clone()),
            }
        }

        fn children(&self) -> Result<Vec<Self>, Code> {
            Ok(self.children.clone())
        }
    }

    fn recorded(name: &str) -> Rc<Recorded> {
        let text = match name {
            "notepad" => include_str!("../../../../tests/fixtures/windows/notepad.json"),
            "calculator" => include_str!("../../../../tests/fixtures/windows/calculator.json"),
            "save_as" => include_str!("../../../../tests/fixtures/windows/save_as.json"),
            other => panic!("{other}"),
        };
        serde_json::from_str(text).unwrap()
    }

    const BOUNDS: Rect = Rect { x: 100, y: 100, width: 800, height: 600 };

    fn read(root: Rc<Recorded>, limits: Limits) -> Tree {
        let gathered = gather(root, limits).unwrap();
        let elements = gathered.found.iter().map(|(depth, raw, _)| (*depth, raw));
        tree(elements, gathered.complete, BOUNDS, "The title")
    }

    fn outline(tree: &Tree) -> String {
        let line = |node: usize| {
            let element = &tree[node];
            let mut line = format!("{}{} '{}'", "  ".repeat(tree.depth(node)), element.role, element.name);
            let mut add = |word: &str, is: bool| {
                if is {
                    line.push(' ');
                    line.push_str(word);
                }
            };
            add(&format!("= '{}'", element.value.as_deref().unwrap_or_default()), element.value.is_some());
            add(
                &format!("<{}>", element.shortcut.as_deref().unwrap_or_default()),
                element.shortcut.is_some(),
            );
            add("on", element.selected == Some(true));
            add("off", element.selected == Some(false));
            add("open", element.expanded == Some(true));
            add("closed", element.expanded == Some(false));
            add("editable", element.editable);
            add("secret", element.secret);
            add("hidden", element.hidden);
            add("disabled", !element.enabled);
            add("focused", element.focused);
            line + "\n"
        };
        (0..tree.len()).map(line).collect()
    }

    #[test]
    fn notepad_is_read_as_a_person_sees_it() {
        let tree = read(recorded("notepad"), Limits::default());
        insta::assert_snapshot!(outline(&tree));
        assert!(tree.complete);
        let text = (0..tree.len()).find(|&node| tree[node].role == "Document").unwrap();
        assert_eq!(tree[text].native.as_deref(), Some("42.329066"));
        assert_eq!(tree[text].identifier.as_deref(), Some("15"));
        assert_eq!(tree[text].bounds, Rect::new(108, 151, 784, 520));
    }

    #[test]
    fn the_calculator_is_read_as_a_person_sees_it() {
        insta::assert_snapshot!(outline(&read(recorded("calculator"), Limits::default())));
    }

    #[test]
    fn a_dialog_of_the_explorer_is_read_as_a_person_sees_it() {
        insta::assert_snapshot!(outline(&read(recorded("save_as"), Limits::default())));
    }

    fn node(id: i32, children: Vec<Rc<Recorded>>) -> Rc<Recorded> {
        let facts = RawElement {
            runtime_id: vec![42, id],
            control_type: 50_026,
            name: id.to_string(),
            enabled: true,
            sides: [0, 0, 10, 10],
            ..RawElement::default()
        };
        Rc::new(Recorded { facts, children, fails: None })
    }

    fn names(tree: &Tree) -> Vec<&str> {
        tree.elements().iter().map(|element| element.name.as_str()).collect()
    }

    #[test]
    fn what_went_away_is_pruned_and_the_rest_is_kept() {
        let gone =
            Rc::new(Recorded { fails: Some(0x8004_0201), ..(*node(2, vec![node(3, Vec::new())])).clone() });
        let tree = read(node(1, vec![gone, node(4, Vec::new())]), Limits::default());
        assert_eq!((names(&tree), tree.complete), (vec!["1", "4"], false));
    }

    #[test]
    fn a_window_that_went_away_is_an_error() {
        let gone = Rc::new(Recorded { fails: Some(0x8004_0201), ..Recorded::default() });
        assert_eq!(gather(gone, Limits::default()).unwrap_err().meaning(), Meaning::Gone);
    }

    #[test]
    fn an_element_is_listed_once_however_often_it_is_named() {
        let twin = node(2, vec![node(3, Vec::new())]);
        let tree = read(node(1, vec![twin.clone(), twin, node(1, Vec::new())]), Limits::default());
        assert_eq!((names(&tree), tree.complete), (vec!["1", "2", "3"], true));
    }

    #[track_caller]
    fn check_limit(limits: Limits, expected: &[&str]) {
        let children = vec![node(2, vec![node(3, Vec::new())]), node(4, Vec::new()), node(5, Vec::new())];
        let tree = read(node(1, children), limits);
        assert_eq!((names(&tree).as_slice(), tree.complete), (expected, false), "{limits:?}");
    }

    #[test]
    fn limits_cut_and_say_so() {
        let all = Limits::default();
        check_limit(Limits { nodes: 3, ..all }, &["1", "2", "3"]);
        check_limit(Limits { depth: 1, ..all }, &["1", "2", "4", "5"]);
        check_limit(Limits { children: 2, ..all }, &["1", "2", "3", "4"]);
    }

    #[test]
    fn a_very_deep_tree_is_no_danger() {
        let deep = (0..5_000).fold(node(0, Vec::new()), |below, id| node(id + 1, vec![below]));
        let tree = read(deep.clone(), Limits::default());
        assert_eq!((tree.len(), tree.complete), (TREE_DEPTH + 1, false));
        // Dropping it would recurse; a leak in a test is nobody's loss.
        std::mem::forget(deep);
    }

    #[test]
    fn a_password_is_never_read() {
        let raw = RawElement {
            control_type: 50_004,
            password: true,
            value: Some(RawValue { text: "hunter2".to_owned(), read_only: false }),
            enabled: true,
            ..RawElement::default()
        };
        let element = raw.element(false);
        assert!(element.secret && element.editable);
        assert_eq!((element.value, wants_text(&raw)), (None, false));
    }

    #[test]
    fn numbers_that_are_none_are_left_out() {
        let range = RawRange { now: 3.0, min: f64::NAN, max: f64::INFINITY, read_only: false };
        let raw = RawElement { control_type: 50_015, range: Some(range), ..RawElement::default() };
        let element = raw.element(false);
        assert_eq!(element.range, Range { now: Some(3.0), min: None, max: None });
        assert_eq!(element.value.as_deref(), Some("3"));
    }

    #[test]
    fn natives_lead_back_to_runtime_ids() {
        let raw = RawElement { runtime_id: vec![42, 1116, -4, 3], ..RawElement::default() };
        assert_eq!(raw.native(), "42.1116.-4.3");
        assert_eq!(runtime_id(&raw.native()), Some(raw.runtime_id));
        for wrong in ["", "42.", "42.x", "99999999999"] {
            assert_eq!(runtime_id(wrong), None, "{wrong}");
        }
        assert_eq!(RawElement::default().element(false).native, None);
    }

    #[test]
    fn a_bare_tree_says_why() {
        let tree = bare(BOUNDS, "Notes", "no UI Automation");
        assert_eq!((tree.root().name.as_str(), tree.lacking.as_deref()), ("Notes", Some("no UI Automation")));
    }
}
