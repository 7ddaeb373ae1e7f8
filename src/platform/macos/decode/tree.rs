//! From what elements answer to a tree: the walk, what is left out, names, values, places and what is to be seen.
//!
//! The walk ends whatever an application says: an element is visited once, depth and number are bounded, a node that
//! claims to have a million children is asked for the first few thousand of them, and one that does not answer costs a
//! few calls at most.

use std::collections::{HashMap, HashSet};

use super::errors::{Code, Meaning};
use super::records::RawElement;
use super::{coordinates, names, roles};
use crate::config::limits::{TREE_CHILDREN_OF_ONE_NODE, TREE_DEPTH, TREE_NODES};
use crate::error::{Error, Kind, Result};
use crate::model::element::Range;
use crate::model::{Element, Rect, Role, Tree, TreeBuilder};
use crate::platform::normalize::shortened;

/// An application that was silent so often in a row is asked no more: each time costs a whole time limit.
const MOST_SILENCE: usize = 3;

/// Whoever can be asked for elements. One call tells everything of one of them.
pub trait Elements {
    fn read(&mut self, key: u64) -> Result<RawElement, Code>;

    /// Whether there is time to go on; fails when the call was cancelled.
    fn may_go_on(&mut self) -> Result<bool>;
}

/// What is looked into.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sought {
    pub root: u64,
    /// The menu bar of the application, which on macOS is no part of any window.
    pub menu_bar: Option<u64>,
    pub title: String,
    pub bounds: Rect,
}

pub fn capture(elements: &mut dyn Elements, sought: &Sought) -> Result<Tree> {
    let root = elements.read(sought.root).map_err(|code| root_error(code, &sought.title))?;
    let mut walk =
        Walk { elements, seen: HashSet::from([sought.root]), whole: true, silent: 0, labels: HashMap::new() };
    let shown = shown(&root, None, Some(sought.bounds), None);
    let root_element = Element {
        native: Some(names::native(sought.root)),
        bounds: sought.bounds,
        hidden: false,
        name: if shown.name.is_empty() { sought.title.clone() } else { shown.name.clone() },
        ..shown
    };
    let mut builder = TreeBuilder::new(root_element);
    walk.below(&root, Some(sought.bounds), &mut builder)?;
    if let Some(bar) = sought.menu_bar {
        walk.menu_bar(bar, &mut builder)?;
    }
    if !walk.whole {
        builder.mark_incomplete();
    }
    Ok(builder.finish())
}

/// Whether a window has nothing but its frame: Electron builds its trees only when it is asked to. The menu bar is the
/// application's, and the buttons and texts at the top of a window are the system's.
pub fn is_hollow(tree: &Tree) -> bool {
    let frame = |node: usize, role: &Role| match role {
        Role::Group | Role::Pane | Role::ScrollPane | Role::Unknown => true,
        Role::Button | Role::Text | Role::ToolBar | Role::Image => tree.depth(node) == 1,
        _ => false,
    };
    let roles = tree.elements().iter().map(|element| &element.role).enumerate().skip(1);
    roles.take_while(|(_, role)| **role != Role::MenuBar).all(|(node, role)| frame(node, role))
}

fn root_error(code: Code, title: &str) -> Error {
    match code.meaning() {
        Meaning::Gone => Error::new(Kind::WindowGone, format!("the window '{title}' no longer exists")),
        _ => code.error(&format!("the window '{title}'")),
    }
}

struct Walk<'a> {
    elements: &'a mut dyn Elements,
    seen: HashSet<u64>,
    whole: bool,
    silent: usize,
    /// The texts of labels that elements elsewhere are named by.
    labels: HashMap<u64, Option<String>>,
}

/// An element that was listed and not yet read.
struct Waiting {
    key: u64,
    parent: String,
    depth: usize,
    clip: Option<Rect>,
}

impl Walk<'_> {
    /// Everything below an element that was read, in pre-order.
    fn below(&mut self, root: &RawElement, clip: Option<Rect>, builder: &mut TreeBuilder) -> Result<()> {
        let base = builder.depth();
        let mut stack = Vec::new();
        self.list(root, 1, clip, &mut stack);
        while let Some(next) = stack.pop() {
            if builder.len() >= TREE_NODES || self.silent >= MOST_SILENCE || !self.elements.may_go_on()? {
                self.whole = false;
                break;
            }
            let Some(raw) = self.read(next.key) else { continue };
            if roles::is_pruned(&raw.role, Some(&next.parent)) {
                continue;
            }
            while builder.depth() >= base + next.depth {
                builder.close();
            }
            let label = self.label(&raw);
            let element = shown(&raw, Some(&next.parent), next.clip, label);
            builder.open(Element { native: Some(names::native(next.key)), ..element });
            let clip = inner_clip(&raw, next.clip);
            self.list(&raw, next.depth + 1, clip, &mut stack);
        }
        while builder.depth() > base {
            builder.close();
        }
        Ok(())
    }

    /// The children in reading order on a stack, which hands out the last first.
    fn list(&mut self, raw: &RawElement, depth: usize, clip: Option<Rect>, stack: &mut Vec<Waiting>) {
        if raw.children.len() > TREE_CHILDREN_OF_ONE_NODE || (depth > TREE_DEPTH && !raw.children.is_empty())
        {
            self.whole = false;
        }
        if depth > TREE_DEPTH || hides_children(raw) {
            return;
        }
        let kept = raw.children.iter().take(TREE_CHILDREN_OF_ONE_NODE).filter(|key| self.seen.insert(**key));
        let waiting = kept.map(|key| Waiting { key: *key, parent: raw.role.clone(), depth, clip });
        let before = stack.len();
        stack.extend(waiting);
        if let Some(added) = stack.get_mut(before..) {
            added.reverse();
        }
    }

    /// `None` for what no longer exists, and for what does not answer, which makes the tree incomplete.
    fn read(&mut self, key: u64) -> Option<RawElement> {
        match self.elements.read(key) {
            Ok(raw) => {
                self.silent = 0;
                Some(raw)
            }
            Err(code) => {
                let gone = code.meaning() == Meaning::Gone;
                self.silent += usize::from(code.meaning() == Meaning::Silent);
                self.whole &= gone;
                None
            }
        }
    }

    /// What the element's label says, where another element is its label.
    fn label(&mut self, raw: &RawElement) -> Option<String> {
        let key = raw.titled_by.filter(|_| filled(&raw.title).is_none())?;
        if let Some(known) = self.labels.get(&key) {
            return known.clone();
        }
        // A label that does not answer leaves the element without a name, and the tree no less complete.
        let text =
            self.elements.read(key).ok().and_then(|label| filled(&label.title).or_else(|| label.text()));
        self.labels.insert(key, text.clone());
        text
    }

    /// The titles of the menus, and what is in one that is open now: hundreds of items in closed ones are nobody's need.
    fn menu_bar(&mut self, key: u64, builder: &mut TreeBuilder) -> Result<()> {
        if !self.seen.insert(key) || self.silent >= MOST_SILENCE || !self.elements.may_go_on()? {
            self.whole = false;
            return Ok(());
        }
        let Some(raw) = self.read(key) else { return Ok(()) };
        let element = shown(&raw, None, None, None);
        builder.open(Element { native: Some(names::native(key)), ..element });
        self.below(&raw, None, builder)?;
        builder.close();
        Ok(())
    }
}

/// A menu that is closed has all its items all the same.
fn hides_children(raw: &RawElement) -> bool {
    raw.role == "AXMenuBarItem" && raw.selected != Some(true)
}

fn inner_clip(raw: &RawElement, clip: Option<Rect>) -> Option<Rect> {
    let (true, Some(own), Some(clip)) = (roles::clips(&raw.role), raw.bounds, clip) else {
        return clip;
    };
    Some(coordinates::rect(own).intersection(&clip).unwrap_or_default())
}

/// An element as the contract wants it. `clip` is the part of the screen in which it can be seen.
pub fn shown(raw: &RawElement, parent: Option<&str>, clip: Option<Rect>, label: Option<String>) -> Element {
    let secret = roles::is_secret(&raw.role, raw.subrole.as_deref());
    let bounds = raw.bounds.map(coordinates::rect).unwrap_or_default();
    let outside = clip.is_some_and(|clip| !clip.intersects(&bounds));
    let name = name_of(raw, label);
    let description = filled(&raw.help).or_else(|| filled(&raw.description)).filter(|text| *text != name);
    Element {
        role: roles::role(&raw.role, raw.subrole.as_deref(), parent),
        value: value_of(raw, secret),
        bounds,
        enabled: raw.enabled.unwrap_or(true),
        focused: raw.focused.unwrap_or(false),
        selected: selected(raw),
        expanded: expanded(raw),
        range: range(raw),
        shortcut: shortcut(raw),
        description,
        identifier: filled(&raw.identifier),
        secret,
        editable: roles::is_text(&raw.role) && raw.settable.unwrap_or(true) && raw.enabled.unwrap_or(true),
        hidden: raw.hidden.unwrap_or(false) || bounds.is_empty() || outside,
        name,
        ..Element::default()
    }
}

/// Windows and buttons have titles, icons a description, fields a label beside them or a hint inside, and a text is its
/// own name.
fn name_of(raw: &RawElement, label: Option<String>) -> String {
    let own_text = || (raw.role == "AXStaticText").then(|| raw.text()).flatten();
    let name = filled(&raw.title)
        .or_else(|| label.filter(|text| !text.trim().is_empty()))
        .or_else(own_text)
        .or_else(|| filled(&raw.description))
        .or_else(|| filled(&raw.placeholder));
    shortened(&name.unwrap_or_default(), None)
}

fn filled(text: &Option<String>) -> Option<String> {
    text.clone().filter(|text| !text.trim().is_empty())
}

fn value_of(raw: &RawElement, secret: bool) -> Option<String> {
    // A text is its own name, and the value of a heading is its level.
    let says_nothing =
        raw.role == "AXHeading" || (raw.role == "AXStaticText" && filled(&raw.title).is_none());
    if secret || says_nothing || roles::is_marked(&raw.role) || raw.role == "AXDisclosureTriangle" {
        return None;
    }
    raw.text().map(|text| shortened(&text, raw.characters))
}

/// A mark of 2 is neither on nor off.
fn selected(raw: &RawElement) -> Option<bool> {
    if roles::is_marked(&raw.role) {
        return raw.number().map(|mark| mark == 1.0);
    }
    raw.selected
}

fn expanded(raw: &RawElement) -> Option<bool> {
    if raw.role == "AXDisclosureTriangle" {
        return raw.number().map(|open| open == 1.0);
    }
    raw.expanded.or(raw.disclosing)
}

fn range(raw: &RawElement) -> Range {
    if !roles::is_ranged(&raw.role) {
        return Range::default();
    }
    let sane = |number: Option<f64>| number.filter(|number| number.is_finite());
    Range { now: raw.number(), min: sane(raw.min), max: sane(raw.max) }
}

const SHIFT: i64 = 1;
const OPTION: i64 = 2;
const CONTROL: i64 = 4;
const NO_COMMAND: i64 = 8;

/// `Ctrl+Alt+Shift+Cmd+S`, in the words that press_key takes.
fn shortcut(raw: &RawElement) -> Option<String> {
    let key = filled(&raw.command_key)?;
    let held = raw.command_modifiers.unwrap_or(0);
    let words = [(CONTROL, "Ctrl"), (OPTION, "Alt"), (SHIFT, "Shift")];
    let mut words: Vec<&str> =
        words.into_iter().filter(|(bit, _)| held & bit != 0).map(|(_, word)| word).collect();
    if held & NO_COMMAND == 0 {
        words.push("Cmd");
    }
    words.push(key.trim());
    Some(words.join("+"))
}

#[cfg(test)]
mod tests {
    use super::super::records::{RawRect, RawValue};
    use super::*;

    /// An application in memory; its elements are numbered by their place in the list.
    #[derive(Default)]
    struct Recorded {
        elements: HashMap<u64, Result<RawElement, Code>>,
        reads: usize,
        most_reads: Option<usize>,
    }

    impl Elements for Recorded {
        fn read(&mut self, key: u64) -> Result<RawElement, Code> {
            self.reads += 1;
            self.elements.get(&key).cloned().unwrap_or(Err(Code::INVALID_ELEMENT))
        }

        fn may_go_on(&mut self) -> Result<bool> {
            Ok(self.most_reads.is_none_or(|most| self.reads < most))
        }
    }

    impl Recorded {
        /// A file of tests/fixtures/macos: elements with their children inside them.
        fn file(name: &str) -> Self {
            let path = format!("{}/tests/fixtures/macos/{name}.json", env!("CARGO_MANIFEST_DIR"));
            let root: serde_json::Value =
                serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
            let mut recorded = Self::default();
            recorded.add(&root);
            // What belongs to the application and not to the window.
            if let Some(bar) = root.get("beside") {
                recorded.add(bar);
            }
            recorded
        }

        fn add(&mut self, element: &serde_json::Value) -> u64 {
            let key = element["key"].as_u64().unwrap_or(1_000 + self.elements.len() as u64);
            self.elements.insert(key, Err(Code(0)));
            let below: Vec<u64> =
                element["below"].as_array().into_iter().flatten().map(|child| self.add(child)).collect();
            let raw: RawElement = serde_json::from_value(element.clone()).unwrap();
            self.elements.insert(key, Ok(RawElement { children: below, ..raw }));
            key
        }

        fn put(&mut self, key: u64, raw: RawElement) {
            self.elements.insert(key, Ok(raw));
        }
    }

    fn raw(role: &str, children: &[u64]) -> RawElement {
        RawElement {
            role: role.to_owned(),
            bounds: Some(RawRect { x: 10.0, y: 10.0, width: 50.0, height: 20.0 }),
            children: children.to_vec(),
            ..RawElement::default()
        }
    }

    fn sought() -> Sought {
        Sought { root: 1, menu_bar: None, title: "Notes".to_owned(), bounds: Rect::new(0, 0, 800, 600) }
    }

    fn drawn(tree: &Tree) -> Vec<String> {
        (0..tree.len())
            .map(|node| {
                let element = &tree[node];
                let value = element.value.as_ref().map(|value| format!(" = {value}")).unwrap_or_default();
                format!("{}{} {}{value}", "  ".repeat(tree.depth(node)), element.role, element.name)
            })
            .collect()
    }

    fn check_file(name: &str, menu_bar: Option<u64>, expected: &[&str]) -> Tree {
        let mut recorded = Recorded::file(name);
        let Ok(root) = recorded.read(1) else { panic!("{name} has no root") };
        let bounds = root.bounds.map(coordinates::rect).unwrap_or_default();
        let title = root.title.unwrap_or_default();
        let tree = capture(&mut recorded, &Sought { root: 1, menu_bar, title, bounds }).unwrap();
        assert_eq!(drawn(&tree), expected, "{name}");
        assert!(tree.complete, "{name}");
        tree
    }

    #[test]
    fn textedit_is_a_document_with_its_menus() {
        let tree = check_file(
            "textedit",
            Some(900),
            &[
                "Window Untitled.txt",
                "  ScrollPane ",
                "    Document  = Dear Ada,",
                "    ScrollBar ",
                "  Button close button",
                "  Button minimize button",
                "  Text Untitled.txt",
                "  MenuBar ",
                "    MenuItem File",
                "    MenuItem Edit",
                "      Menu ",
                "        MenuItem Undo",
                "        MenuItem Paste and Match Style",
            ],
        );
        let document = &tree[2];
        assert!(document.focused && document.editable && !document.hidden);
        assert_eq!(document.identifier.as_deref(), Some("First Text View"));
        let keys: Vec<_> = tree.elements().iter().filter_map(|element| element.shortcut.as_deref()).collect();
        assert_eq!(keys, ["Cmd+Z", "Alt+Shift+Cmd+V"]);
    }

    #[test]
    fn the_calculator_names_its_buttons_by_their_description() {
        let tree = check_file(
            "calculator",
            None,
            &[
                "Window Calculator",
                "  Group ",
                "    Text 42",
                "    Button all clear",
                "    Button seven",
                "    Button equals",
                "  Button close button",
            ],
        );
        assert_eq!(tree[4].identifier.as_deref(), Some("Seven"));
        assert!(!tree[5].enabled);
    }

    #[test]
    fn system_settings_have_rows_switches_and_a_password() {
        let tree = check_file(
            "system_settings",
            None,
            &[
                "Window Wi-Fi",
                "  Pane ",
                "    Tree Sidebar",
                "      TreeItem ",
                "        DataItem ",
                "          Text Wi-Fi",
                "      TreeItem ",
                "        DataItem ",
                "          Text Bluetooth",
                "    Group ",
                "      ToggleButton Wi-Fi",
                "      ComboBox Security = WPA2 Personal",
                "      Text Password:",
                "      Edit Password:",
                "      Slider Signal = 0.75",
                "      Button Details",
            ],
        );
        let at = |name: &str, role: &str| {
            tree.elements().iter().find(|element| element.name == name && element.role == role).unwrap()
        };
        let password = at("Password:", "Edit");
        assert!(password.secret && password.value.is_none() && password.editable);
        assert_eq!(at("Wi-Fi", "ToggleButton").selected, Some(true));
        assert_eq!(
            (tree[3].selected, tree[3].expanded, tree[6].selected),
            (Some(true), Some(false), Some(false))
        );
        assert_eq!(at("Signal", "Slider").range, Range { now: Some(0.75), min: Some(0.0), max: Some(1.0) });
        assert_eq!(at("Details", "Button").expanded, Some(false));
    }

    #[test]
    fn a_page_in_safari_has_links_fields_and_what_is_scrolled_away() {
        let tree = check_file(
            "safari",
            None,
            &[
                "Window Example Domain",
                "  ToolBar ",
                "    Edit smart search field = https://example.com",
                "  Tab ",
                "    TabItem Example Domain",
                "  ScrollPane ",
                "    Document Example Domain",
                "      Heading Example Domain",
                "        Text Example Domain",
                "      Hyperlink More information",
                "      CheckBox Subscribe",
                "      Edit Email = ",
                "      Button Far below",
            ],
        );
        let hidden: Vec<&str> = tree
            .elements()
            .iter()
            .filter(|element| element.hidden)
            .map(|element| element.name.as_str())
            .collect();
        assert_eq!(hidden, ["Far below"]);
        let check = tree.elements().iter().find(|element| element.role == "CheckBox").unwrap();
        assert_eq!(check.selected, Some(false), "a mark of two is not on");
    }

    #[test]
    fn a_window_that_has_only_its_frame_is_hollow() {
        let mut app = Recorded::default();
        app.put(1, raw("AXWindow", &[2, 3]));
        app.put(2, raw("AXButton", &[]));
        app.put(3, raw("AXGroup", &[4]));
        app.put(4, raw("AXGroup", &[]));
        app.put(9, raw("AXMenuBar", &[10]));
        app.put(10, raw("AXMenuBarItem", &[]));
        let with_bar = Sought { menu_bar: Some(9), ..sought() };
        assert!(is_hollow(&capture(&mut app, &with_bar).unwrap()));
        app.put(4, raw("AXWebArea", &[]));
        assert!(!is_hollow(&capture(&mut app, &with_bar).unwrap()));
        app.put(4, raw("AXButton", &[]));
        assert!(!is_hollow(&capture(&mut app, &with_bar).unwrap()));
    }

    #[test]
    fn an_element_is_visited_once_also_in_a_circle() {
        let mut app = Recorded::default();
        app.put(1, raw("AXWindow", &[2, 2, 1]));
        app.put(2, raw("AXGroup", &[3]));
        app.put(3, raw("AXButton", &[1, 2, 3]));
        let tree = capture(&mut app, &sought()).unwrap();
        assert_eq!((tree.len(), tree.complete), (3, true));
    }

    #[test]
    fn what_went_away_meanwhile_is_left_out_and_what_is_silent_makes_it_incomplete() {
        let mut app = Recorded::default();
        app.put(1, raw("AXWindow", &[2, 3, 4]));
        app.put(4, raw("AXButton", &[]));
        let tree = capture(&mut app, &sought()).unwrap();
        assert_eq!((tree.len(), tree.complete), (2, true));
        app.elements.insert(3, Err(Code::CANNOT_COMPLETE));
        let tree = capture(&mut app, &sought()).unwrap();
        assert_eq!((tree.len(), tree.complete), (2, false));
    }

    #[test]
    fn an_application_that_hangs_is_asked_a_few_times_only() {
        let mut app = Recorded::default();
        app.put(1, raw("AXWindow", &(2..500).collect::<Vec<_>>()));
        app.elements.extend((2..500).map(|key| (key, Err(Code::CANNOT_COMPLETE))));
        let tree = capture(&mut app, &sought()).unwrap();
        assert_eq!((tree.len(), tree.complete, app.reads), (1, false, 1 + MOST_SILENCE));
    }

    #[test]
    fn the_end_of_the_time_leaves_what_was_read() {
        let mut app = Recorded { most_reads: Some(4), ..Recorded::default() };
        app.put(1, raw("AXWindow", &(2..500).collect::<Vec<_>>()));
        (2..500).for_each(|key| app.put(key, raw("AXButton", &[])));
        let tree = capture(&mut app, &sought()).unwrap();
        assert_eq!((tree.len(), tree.complete), (4, false));
    }

    #[test]
    fn a_window_without_end_is_cut() {
        let mut wide = Recorded::default();
        wide.put(1, raw("AXWindow", &(2..10_000).collect::<Vec<_>>()));
        (2..10_000).for_each(|key| wide.put(key, raw("AXButton", &[])));
        let tree = capture(&mut wide, &sought()).unwrap();
        assert_eq!((tree.len(), tree.complete), (1 + TREE_CHILDREN_OF_ONE_NODE, false));
        let mut deep = Recorded::default();
        (1..10_000).for_each(|key| deep.put(key, raw("AXGroup", &[key + 1])));
        let tree = capture(&mut deep, &sought()).unwrap();
        assert_eq!((tree.len(), tree.complete), (1 + TREE_DEPTH, false));
    }

    fn check_root(code: Code, expected: Kind) {
        let mut app = Recorded::default();
        app.elements.insert(1, Err(code));
        assert_eq!(capture(&mut app, &sought()).unwrap_err().kind, expected, "{code:?}");
    }

    #[test]
    fn a_window_that_tells_nothing_says_why() {
        check_root(Code::INVALID_ELEMENT, Kind::WindowGone);
        check_root(Code::CANNOT_COMPLETE, Kind::Timeout);
        check_root(Code::API_DISABLED, Kind::PermissionDenied);
    }

    #[test]
    fn a_label_beside_a_field_is_its_name_and_is_asked_once() {
        let mut app = Recorded::default();
        app.put(1, raw("AXWindow", &[2, 3]));
        app.put(2, RawElement { titled_by: Some(9), ..raw("AXTextField", &[]) });
        app.put(3, RawElement { titled_by: Some(9), title: Some(" ".to_owned()), ..raw("AXTextField", &[]) });
        app.put(
            9,
            RawElement { value: Some(RawValue::Text("Name:".to_owned())), ..raw("AXStaticText", &[]) },
        );
        let tree = capture(&mut app, &sought()).unwrap();
        assert_eq!((tree[1].name.as_str(), tree[2].name.as_str(), app.reads), ("Name:", "Name:", 4));
    }

    #[test]
    fn an_element_is_known_by_the_same_name_in_every_tree() {
        let mut app = Recorded::default();
        app.put(1, raw("AXWindow", &[7]));
        app.put(7, raw("AXButton", &[]));
        let first = capture(&mut app, &sought()).unwrap()[1].native.clone();
        app.put(1, raw("AXWindow", &[8, 7]));
        app.put(8, raw("AXButton", &[]));
        assert_eq!(capture(&mut app, &sought()).unwrap()[2].native, first);
        assert_eq!(first.as_deref(), Some("ax:7"));
    }

    fn check_keys(key: &str, held: Option<i64>, expected: &str) {
        let raw = RawElement {
            command_key: Some(key.to_owned()),
            command_modifiers: held,
            ..RawElement::default()
        };
        assert_eq!(shortcut(&raw).as_deref(), Some(expected));
    }

    #[test]
    fn shortcuts_are_written_as_they_are_pressed() {
        check_keys("S", None, "Cmd+S");
        check_keys("S", Some(1), "Shift+Cmd+S");
        check_keys("F", Some(4), "Ctrl+Cmd+F");
        check_keys("X", Some(8), "X");
        assert_eq!(shortcut(&RawElement::default()), None);
    }
}
