//! Pages of tests/browser/site as a browser answered for them (tests/fixtures/browser/record.py), and arrays that no
//! browser would answer.

use proptest::prelude::*;
use serde::Deserialize;
use serde_json::{Value, json};

use super::handle::NodeHandle;
use super::snapshot::PageSnapshot;
use super::tree::{FrameCapture, FrameOwner, page_tree};
use crate::model::{Rect, Role, Tree};

const WINDOW: Rect = Rect::new(0, 0, 1280, 800);

/// What the browser's own accessibility tree says of a node.
#[derive(Deserialize)]
struct AccessibleNode {
    node: i64,
    role: String,
    name: String,
}

#[derive(Deserialize)]
struct Recorded {
    accessible: Vec<AccessibleNode>,
    snapshot: Value,
}

impl Recorded {
    /// The parts that the browser itself puts into a field are in no snapshot.
    fn has_node(&self, node: i64) -> bool {
        let documents = self.snapshot["documents"].as_array().unwrap().iter();
        let mut nodes = documents.flat_map(|document| document["nodes"]["backendNodeId"].as_array().unwrap());
        nodes.any(|id| id.as_i64() == Some(node))
    }

    fn nodes_of_page(&self) -> impl Iterator<Item = &AccessibleNode> {
        self.accessible.iter().filter(|node| self.has_node(node.node))
    }
}

fn recording(page: &str) -> &'static str {
    match page {
        "form" => include_str!("../../../../tests/fixtures/browser/form.json"),
        "frames" => include_str!("../../../../tests/fixtures/browser/frames.json"),
        _ => include_str!("../../../../tests/fixtures/browser/hidden.json"),
    }
}

fn captures(page: &str) -> Vec<FrameCapture> {
    serde_json::from_str(recording(page)).unwrap()
}

fn tree_of(page: &str) -> Tree {
    page_tree(&captures(page), page, WINDOW)
}

fn line(tree: &Tree, node: usize) -> String {
    let element = &tree[node];
    let mut line = format!("{}{} {:?}", "  ".repeat(tree.depth(node)), element.role, element.name);
    if let Some(value) = &element.value {
        line += &format!(" ={value}");
    }
    let flags = [
        ("disabled", !element.enabled),
        ("secret", element.secret),
        ("editable", element.editable),
        ("hidden", element.hidden),
        ("selected", element.selected == Some(true)),
        ("collapsed", element.expanded == Some(false)),
    ];
    for (flag, _) in flags.into_iter().filter(|(_, set)| *set) {
        line += &format!(" {flag}");
    }
    let Rect { x, y, width, height } = element.bounds;
    line + &format!(" @{x},{y} {width}x{height}")
}

fn drawing(tree: &Tree) -> String {
    (0..tree.len()).map(|node| line(tree, node)).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_form_is_read_as_a_person_sees_it() {
    insta::assert_snapshot!(drawing(&tree_of("form")));
}

#[test]
fn frames_and_shadow_roots_are_placed_where_they_show() {
    insta::assert_snapshot!(drawing(&tree_of("frames")));
}

#[test]
fn what_is_hidden_is_left_out_or_says_so() {
    insta::assert_snapshot!(drawing(&tree_of("hidden")));
}

#[test]
fn no_secret_is_in_a_tree() {
    let tree = format!("{:?}", tree_of("form"));
    assert!(tree.contains("Password") && recording("form").contains("hunter22"));
    for secret in ["hunter22", "424242"] {
        assert!(!tree.contains(secret), "{secret}");
    }
}

#[test]
fn every_handle_names_its_document() {
    let captures = captures("frames");
    let tree = page_tree(&captures, "frames", WINDOW);
    let documents: Vec<&String> = captures.iter().flat_map(|capture| capture.documents.values()).collect();
    for element in tree.elements().iter().filter(|element| element.native.is_some()) {
        let handle = NodeHandle::parse(element.native.as_deref().unwrap()).unwrap();
        assert!(documents.contains(&&handle.document), "{handle}");
    }
    assert_eq!(tree.elements().iter().filter(|element| element.is_document).count(), 3);
}

/// The browser's names of what one acts on, and ours.
const ORACLE_ROLES: &[(&str, Role)] = &[
    ("button", Role::Button),
    ("checkbox", Role::CheckBox),
    ("combobox", Role::ComboBox),
    ("link", Role::Hyperlink),
    ("listbox", Role::List),
    ("option", Role::ListItem),
    ("radio", Role::RadioButton),
    ("slider", Role::Slider),
    ("spinbutton", Role::Spinner),
    ("textbox", Role::Edit),
    ("Date", Role::Edit),
];

/// Both trees agree on role and name of whatever can be acted on.
#[track_caller]
fn check_oracle(page: &str, at_least: usize) {
    let tree = tree_of(page);
    let recorded: Vec<Recorded> = serde_json::from_str(recording(page)).unwrap();
    let natives = |id: i64| {
        tree.elements().iter().filter(move |element| {
            let handle = element.native.as_deref().and_then(NodeHandle::parse);
            handle.is_some_and(|handle| handle.backend_node == id)
        })
    };
    let mut compared = 0;
    for node in recorded.iter().flat_map(Recorded::nodes_of_page) {
        let Some((_, role)) = ORACLE_ROLES.iter().find(|(name, _)| *name == node.role) else { continue };
        let ours: Vec<String> =
            natives(node.node).map(|element| format!("{} {}", element.role, element.name)).collect();
        assert!(ours.contains(&format!("{role} {}", node.name)), "{} {:?} is {ours:?}", node.role, node.name);
        compared += 1;
    }
    assert!(compared >= at_least, "only {compared} were compared");
}

#[test]
fn roles_and_names_are_those_of_the_browsers_own_accessibility_tree() {
    check_oracle("form", 24);
    check_oracle("frames", 5);
    check_oracle("hidden", 7);
}

/// One document of these nodes: the parent and the tag of each.
fn snapshot_of(nodes: &[(i64, &str)]) -> PageSnapshot {
    let names: Vec<&str> = nodes.iter().map(|(_, name)| *name).collect();
    let count = nodes.len();
    let all: Vec<usize> = (0..count).collect();
    let value = json!({
        "strings": names,
        "documents": [{
            "nodes": {
                "parentIndex": nodes.iter().map(|(parent, _)| *parent).collect::<Vec<_>>(),
                "nodeType": vec![1; count],
                "nodeName": all,
                "nodeValue": vec![-1; count],
                "backendNodeId": all,
                "attributes": vec![Vec::<i64>::new(); count],
            },
            "layout": { "nodeIndex": all, "bounds": vec![[0, 0, 10, 10]; count], "styles": vec![[0; 0]; count], "text": vec![-1; count] },
        }],
    });
    serde_json::from_value(value).unwrap()
}

#[test]
fn a_very_deep_page_is_read_without_recursion() {
    let nodes: Vec<(i64, &str)> = (0..200_000).map(|node| (node - 1, "DIV")).collect();
    let capture = FrameCapture { snapshot: snapshot_of(&nodes), ..FrameCapture::default() };
    assert_eq!(page_tree(&[capture], "deep", WINDOW).len(), 2);
}

#[test]
fn frames_that_hold_each_other_are_shown_once() {
    let mut value = json!({ "strings": ["IFRAME", "visible"], "documents": [] });
    for inner in [1, 0] {
        value["documents"].as_array_mut().unwrap().push(json!({
            "nodes": {
                "parentIndex": [-1, 0], "nodeType": [9, 1], "nodeName": [-1, 0], "backendNodeId": [1, 2],
                "contentDocumentIndex": { "index": [1], "value": [inner] },
            },
            "layout": { "nodeIndex": [0, 1], "bounds": [[0, 0, 9, 9], [0, 0, 9, 9]], "styles": [[], [-1, 1]] },
        }));
    }
    let capture =
        FrameCapture { snapshot: serde_json::from_value(value).unwrap(), ..FrameCapture::default() };
    let tree = page_tree(&[capture], "loop", WINDOW);
    assert_eq!(tree.elements().iter().filter(|element| element.is_document).count(), 2);
}

/// Arrays of any numbers and any lengths.
fn hostile_snapshot() -> impl Strategy<Value = Value> {
    let numbers = || prop::collection::vec(prop_oneof![-2..12i64, any::<i64>()], 0..12);
    let rects = || {
        prop::collection::vec(
            prop::collection::vec(any::<f64>().prop_filter("JSON", |it| it.is_finite()), 0..6),
            0..12,
        )
    };
    let texts = [
        "DIV", "IFRAME", "INPUT", "SELECT", "OPTION", "LABEL", "for", "id", "role", "button", "visible", "x",
    ];
    (
        (numbers(), numbers(), numbers(), numbers(), numbers()),
        prop::collection::vec(numbers(), 0..12),
        (numbers(), rects(), prop::collection::vec(numbers(), 0..12), numbers()),
        (numbers(), numbers()),
    )
        .prop_map(move |(nodes, attributes, layout, rare)| {
            let (parents, types, names, values, ids) = nodes;
            let (indices, bounds, styles, text) = layout;
            let pairs = json!({ "index": rare.0, "value": rare.1 });
            json!({ "strings": texts, "documents": [{
                "frameId": 3, "documentURL": -7, "title": 11,
                "nodes": {
                    "parentIndex": parents, "nodeType": types, "nodeName": names, "nodeValue": values,
                    "backendNodeId": ids, "attributes": attributes, "inputValue": pairs, "textValue": pairs,
                    "inputChecked": pairs, "optionSelected": pairs, "contentDocumentIndex": pairs,
                    "pseudoType": pairs, "isClickable": pairs,
                },
                "layout": {
                    "nodeIndex": indices, "bounds": bounds, "styles": styles, "text": text,
                },
            }] })
        })
}

/// A chain of elements, each in the one before, with a text in the innermost.
/// The first is the document.
fn nested(count: usize, attributes: &[i64], strings: &[&str]) -> FrameCapture {
    let strings: Vec<&str> =
        ["DIV", "block", "visible", "deep down"].into_iter().chain(strings.iter().copied()).collect();
    let all: Vec<usize> = (0..=count).collect();
    let tags = |tag: i64, last: i64| [vec![tag; count], vec![last]].concat();
    let value = json!({
        "strings": strings,
        "documents": [{
            "nodes": {
                "parentIndex": all.iter().map(|&node| node as i64 - 1).collect::<Vec<_>>(),
                "nodeType": tags(1, 3), "nodeName": tags(0, -1), "nodeValue": tags(-1, 3), "backendNodeId": all,
                "attributes": vec![attributes; count],
                "isClickable": { "index": all },
            },
            "layout": { "nodeIndex": all, "bounds": vec![[0, 0, 10, 10]; count + 1], "styles": vec![[1, 2]; count + 1], "text": tags(-1, 3) },
        }],
    });
    FrameCapture { snapshot: serde_json::from_value(value).unwrap(), ..FrameCapture::default() }
}

/// H-224 on code: reading stops, and says so.
#[test]
fn names_within_names_do_not_cost_their_square() {
    let buttons = page_tree(&[nested(5_000, &[4, 5], &["role", "button"])], "nested", WINDOW);
    assert!(!buttons.complete, "what was not read is not said to be read");
    let listeners = page_tree(&[nested(5_000, &[], &[])], "nested", WINDOW);
    assert!(listeners.len() < 5_000);
}

#[test]
fn a_page_that_nests_a_little_is_read_whole() {
    let tree = page_tree(&[nested(30, &[4, 5], &["role", "button"])], "nested", WINDOW);
    assert!(tree.complete);
    assert_eq!(tree.elements().iter().filter(|element| element.name == "deep down").count(), 29);
}

/// H-225 on code: circles end.
#[test]
fn labels_that_name_each_other_end() {
    let strings = ["DIV", "id", "a", "aria-labelledby", "a b", "b", "visible", "block"];
    let value = json!({ "strings": strings, "documents": [{
        "nodes": {
            "parentIndex": [-1, 0, 0], "nodeType": [9, 1, 1], "nodeName": [-1, 0, 0], "backendNodeId": [1, 2, 3],
            "attributes": [[], [1, 2, 3, 4], [1, 5, 3, 4]], "isClickable": { "index": [1, 2] },
        },
        "layout": { "nodeIndex": [0, 1, 2], "bounds": vec![[0, 0, 9, 9]; 3], "styles": vec![[7, 6]; 3] },
    }] });
    let capture =
        FrameCapture { snapshot: serde_json::from_value(value).unwrap(), ..FrameCapture::default() };
    assert!(page_tree(&[capture], "labels", WINDOW).len() <= 5);
}

#[test]
fn a_text_without_an_end_is_cut_and_says_so() {
    let huge = "x".repeat(4 << 20);
    let value = json!({ "strings": ["BUTTON", huge, "visible", "block"], "documents": [{
        "nodes": {
            "parentIndex": [-1, 0, 1], "nodeType": [9, 1, 3], "nodeName": [-1, 0, -1], "nodeValue": [-1, -1, 1],
            "backendNodeId": [1, 2, 3],
        },
        "layout": { "nodeIndex": [0, 1, 2], "bounds": vec![[-1e300, -5.0, 1e300, 9.0]; 3], "styles": vec![[3, 2]; 3], "text": [-1, -1, 1] },
    }] });
    let capture =
        FrameCapture { snapshot: serde_json::from_value(value).unwrap(), ..FrameCapture::default() };
    let tree = page_tree(&[capture], "huge", WINDOW);
    let longest = tree.elements().iter().map(|element| element.name.len()).max().unwrap();
    assert!(longest > 0 && longest < 64 << 10, "{longest}");
}

proptest! {
    /// H-225 on code: whatever the arrays say.
    #[test]
    fn hostile_arrays_make_a_tree_or_nothing(value in hostile_snapshot()) {
        let Ok(snapshot) = serde_json::from_value::<PageSnapshot>(value) else { return Ok(()) };
        let owner = FrameOwner { capture: 0, backend_node: 3 };
        let capture = FrameCapture { snapshot, focused: Some(3), ..FrameCapture::default() };
        let inner = FrameCapture { owner: Some(owner), ..capture.clone() };
        let tree = page_tree(&[capture, inner], "hostile", WINDOW);
        prop_assert!(tree.len() < 100);
        let sides = tree.elements().iter().map(|element| element.bounds);
        prop_assert!(sides.clone().all(|bounds| bounds.width >= 0 && bounds.height >= 0));
    }
}

/// H-150 on code: the text of a label leads to its control, which it names or stands around
#[test]
fn labels_lead_to_their_controls() {
    let tree = tree_of("form");
    let check = |text: &str, role: Role| {
        let label = tree.elements().iter().find(|it| it.role == Role::Text && it.name == text);
        let link = label.unwrap_or_else(|| panic!("no {text}")).label_links.first();
        let control = tree.elements().iter().find(|it| link.is_some() && it.native.as_ref() == link);
        assert_eq!(control.map(|it| (&it.role, it.name.as_str())), Some((&role, text)));
    };
    check("Name", Role::Edit);
    check("Mail", Role::Edit);
    check("Agree", Role::CheckBox);
    check("Large", Role::RadioButton);
    let others = tree.elements().iter().filter(|it| it.role == Role::Button);
    assert!(others.clone().count() > 0 && others.clone().all(|it| it.label_links.is_empty()));
}
