//! Both formats, applied as a client would apply them: the result is the new tree's JSON, always.

use std::time::{Duration, SystemTime};

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::clock::Clock;
use crate::model::{Element, Range, Rect, TreeBuilder};

/// The same client that the fuzz targets use.
#[path = "../../../tests/fuzz/properties/applying.rs"]
mod applying;
use applying::{apply_custom, apply_patch};

fn view(tree: Tree) -> Arc<View> {
    hidden_view(tree.clone(), tree)
}

fn hidden_view(raw: Tree, shown: Tree) -> Arc<View> {
    Arc::new(View::new(Arc::new(raw), Arc::new(shown), Duration::ZERO, SystemTime::UNIX_EPOCH))
}

fn json_of(view: &Arc<View>) -> Value {
    serde_json::to_value(Structure::whole_subtree(view.clone(), Tree::ROOT)).unwrap()
}

fn changes(old: &Arc<View>, new: &Arc<View>, format: DiffFormat) -> Value {
    serde_json::to_value(Changes::diff_views(old.clone(), new.clone(), format)).unwrap()
}

/// A tree from an outline: one node a line, two spaces a level, `Role name=value`.
fn tree(outline: &str) -> Tree {
    let lines: Vec<&str> = outline.lines().filter(|line| !line.trim().is_empty()).collect();
    let indent = |line: &str| line.len() - line.trim_start().len();
    let margin = indent(lines[0]);
    let mut builder = TreeBuilder::new(element(lines[0]));
    for line in &lines[1..] {
        let depth = (indent(line) - margin) / 2;
        while builder.depth() > depth {
            builder.close();
        }
        builder.open(element(line));
    }
    builder.finish()
}

fn element(line: &str) -> Element {
    let (start, value) = match line.trim().split_once('=') {
        Some((start, value)) => (start, Some(value.to_owned())),
        None => (line.trim(), None),
    };
    let (role, name) = start.split_once(' ').unwrap_or((start, ""));
    Element { value, ..Element::new(role.to_owned(), name, Rect::new(0, 0, 1, 1)) }
}

#[track_caller]
fn check_both_ways(old: &Arc<View>, new: &Arc<View>) {
    let (before, after) = (json_of(old), json_of(new));
    let custom = changes(old, new, DiffFormat::Custom);
    assert_eq!(apply_custom(&before, &custom), after, "custom: {custom}");
    let patch = changes(old, new, DiffFormat::JsonPatch);
    assert_eq!(apply_patch(&before, &patch), after, "json-patch: {patch}");
    assert_eq!(custom == json!([]), before == after, "custom: {custom}");
    assert_eq!(patch == json!([]), before == after, "json-patch: {patch}");
}

/// The custom changes, one a line, of two outlines; both formats are applied on the way.
#[track_caller]
fn check(old: &str, new: &str, expected: &[&str]) {
    let (old, new) = (view(tree(old)), view(tree(new)));
    check_both_ways(&old, &new);
    let lines: Vec<String> =
        changes(&old, &new, DiffFormat::Custom).as_array().unwrap().iter().map(short_line).collect();
    assert_eq!(lines, expected);
}

fn short_line(change: &Value) -> String {
    let text = |key: &str| change[key].as_str().unwrap_or_default().to_owned();
    match change["op"].as_str().unwrap() {
        "replace" => format!("replace '{}' {}", text("path"), change["fields"]),
        "move" => format!("move {} to {}", text("from"), text("to")),
        "add" => format!("add {} {}", text("path"), change["node"]["id"].as_str().unwrap()),
        op => format!("{op} {}", text("path")),
    }
}

// ── single changes ─────────────────────────────────────────────────────────────────────────────────

const FORM: &str = "
Window w
  Edit a
  Edit b
  Button c";

#[test]
fn equal_trees_have_no_changes() {
    check(FORM, FORM, &[]);
    check("Window\n  Group\n  Group\n  Group", "Window\n  Group\n  Group\n  Group", &[]);
}

#[test]
fn a_value_is_replaced() {
    check(FORM, "Window w\n  Edit a=x\n  Edit b\n  Button c", &[r#"replace '0' {"value":"x"}"#]);
}

#[test]
fn another_page_is_removes_and_adds() {
    let expected = [r#"replace '' {"name":"v"}"#, "remove 0", "remove 1", "remove 2", "add 0 root.0"];
    check(FORM, "Window v\n  Text hello", &expected);
}

#[test]
fn the_root_is_replaced_in_place() {
    check("Window w=1", "Dialog d", &[r#"replace '' {"name":"d","role":"Dialog","value":null}"#]);
}

#[test]
fn an_inserted_sibling_moves_nobody() {
    check(FORM, "Window w\n  Text new\n  Edit a\n  Edit b\n  Button c", &["add 0 root.0"]);
    check("Window w\n  Text new\n  Edit a\n  Edit b\n  Button c", FORM, &["remove 0"]);
}

#[test]
fn only_what_left_its_order_moves() {
    check(FORM, "Window w\n  Button c\n  Edit a\n  Edit b", &["move 2 to 0"]);
    check(FORM, "Window w\n  Edit b\n  Button c\n  Edit a", &["move 0 to 2"]);
}

#[test]
fn changes_below_a_moved_node_are_at_its_new_place() {
    let old = "Window\n  Group a\n    Edit=1\n  Group b\n    Edit=1";
    let new = "Window\n  Group b\n    Edit=2\n  Group a\n    Edit=1";
    check(old, new, &["move 0 to 1", r#"replace '0/0' {"value":"2"}"#]);
}

#[test]
fn unnamed_siblings_are_told_apart_by_what_is_in_them() {
    let old = "List\n  Row\n    Text one\n  Row\n    Text two\n  Row\n    Text three";
    let new = "List\n  Row\n    Text one\n  Row\n    Text three";
    check(old, new, &["remove 1"]);
    let new = "List\n  Row\n    Text zero\n  Row\n    Text one\n  Row\n    Text two=!\n  Row\n    Text three";
    check(old, new, &[r#"replace '2/0' {"value":"!"}"#, "add 0 root.0"]);
}

#[test]
fn a_row_that_scrolled_is_the_same_row() {
    let old = tree("List\n  Row\n    Text one\n  Row\n    Text two");
    let scrolled = tree("List\n  Row\n    Text zero\n  Row\n    Text one\n  Row\n    Text two")
        .map_elements(|element| element.bounds.y += 20);
    let lines = changes(&view(old), &view(scrolled), DiffFormat::Custom);
    let adds = lines.as_array().unwrap().iter().filter(|line| line["op"] == "add").count();
    let replaces = lines.as_array().unwrap().iter().filter(|line| line["op"] == "replace").count();
    assert_eq!((adds, replaces, lines.as_array().unwrap().len()), (1, 5, 6), "{lines}");
}

#[test]
fn a_ticked_box_is_a_change() {
    let old = tree("Window\n  CheckBox wrap");
    let ticked = old.map_elements(|element| element.selected = (element.name == "wrap").then_some(true));
    let (old, ticked) = (view(old), view(ticked));
    check_both_ways(&old, &ticked);
    check_both_ways(&ticked, &old);
    let lines = changes(&old, &ticked, DiffFormat::Custom);
    assert_eq!(lines, json!([{"op": "replace", "path": "0", "fields": {"selected": true}}]));
    let lines = changes(&ticked, &old, DiffFormat::Custom);
    assert_eq!(lines, json!([{"op": "replace", "path": "0", "fields": {"selected": null}}]));
    let lines = changes(&ticked, &old, DiffFormat::JsonPatch);
    assert_eq!(lines, json!([{"op": "remove", "path": "/children/0/selected"}]));
}

#[test]
fn a_patch_says_fields_moves_and_ids_in_turn() {
    let (old, new) = (view(tree(FORM)), view(tree("Window w\n  Button c\n  Edit a=x\n  Edit b")));
    let patch = changes(&old, &new, DiffFormat::JsonPatch);
    assert_eq!(
        patch,
        json!([
            {"op": "move", "from": "/children/2", "path": "/children/0"},
            {"op": "replace", "path": "/children/1/id", "value": "root.1"},
            {"op": "replace", "path": "/children/1/value", "value": "x"},
            {"op": "replace", "path": "/children/2/id", "value": "root.2"},
            {"op": "replace", "path": "/children/0/id", "value": "root.0"},
        ])
    );
}

#[test]
fn a_patch_is_never_longer_than_the_tree() {
    let nodes =
        |value: &str| -> String { (0..100).map(|row| format!("\n  Row {value}{row}={value}")).collect() };
    let (old, new) = (view(tree(&format!("List{}", nodes("a")))), view(tree(&format!("List{}", nodes("b")))));
    let patch = changes(&old, &new, DiffFormat::JsonPatch);
    assert_eq!((patch[0]["op"].as_str(), patch[0]["path"].as_str()), (Some("replace"), Some("")));
    check_both_ways(&old, &new);
}

#[test]
fn a_change_behind_a_redaction_is_told_without_it() {
    let hide = |raw: &Tree| {
        raw.map_elements(|element| {
            if element.value.is_some() {
                element.value = Some("[REDACTED]".to_owned());
                element.range = Range::default();
            }
        })
    };
    let with_number = |raw: Tree, now: f64| {
        raw.map_elements(|element| element.range.now = element.value.is_some().then_some(now))
    };
    let (a, b) = (tree("Window\n  Edit p=one"), tree("Window\n  Edit p=two"));
    let told = json!([{"op": "replace", "path": "0", "fields": {"value": "[REDACTED]"}}]);
    for (a, b) in [(a.clone(), b), (with_number(a.clone(), 1.0), with_number(a, 2.0))] {
        let (old, new) = (hidden_view(a.clone(), hide(&a)), hidden_view(b.clone(), hide(&b)));
        assert_eq!(changes(&old, &new, DiffFormat::Custom), told);
        let patch = changes(&old, &new, DiffFormat::JsonPatch);
        assert_eq!(apply_patch(&json_of(&old), &patch), json_of(&new));
        assert_ne!(patch, json!([]));
        let again = hidden_view(a.clone(), hide(&a));
        assert!(Changes::diff_views(old, again, DiffFormat::Custom).is_empty());
    }
}

#[test]
fn a_number_that_is_no_index_stays_unless_it_is_said() {
    let numbered = |slots: [u32; 3]| {
        let mut builder = TreeBuilder::new(element("Window"));
        for (slot, name) in slots.into_iter().zip(["a", "b", "c"]) {
            builder.open_in_slot(element(&format!("Button {name}")), slot);
            builder.add_leaf(element("Text"));
            builder.close();
        }
        view(builder.finish())
    };
    for old in [[0, 1, 2], [0, 5, 4], [7, 1, 2]] {
        for new in [[0, 1, 2], [0, 5, 4], [3, 1, 2]] {
            check_both_ways(&numbered(old), &numbered(new));
        }
    }
    let lines = changes(&numbered([0, 1, 2]), &numbered([0, 5, 2]), DiffFormat::Custom);
    assert_eq!(lines, json!([{"op": "replace", "path": "1", "fields": {"id": "root.5"}}]));
}

// ── any two trees ──────────────────────────────────────────────────────────────────────────────────

/// Few roles, names and values, so that duplicates are the rule.
fn any_element() -> impl Strategy<Value = Element> {
    let role = prop::sample::select(vec!["Group", "Text", "Row"]);
    let name = prop::sample::select(vec!["", "", "a", "b"]);
    let value = prop::option::of(prop::sample::select(vec!["", "1", "2"]));
    let flag = prop::option::of(any::<bool>());
    let number = prop::option::of(prop::sample::select(vec![0.0, 1.5, f64::NAN]));
    (role, name, value, 0..3, flag, number).prop_map(|(role, name, value, x, flag, number)| Element {
        value: value.map(str::to_owned),
        focused: x == 1,
        selected: flag,
        range: Range { now: number, ..Range::default() },
        identifier: flag.map(|flag| flag.to_string()),
        ..Element::new(role, name, Rect::new(x, 0, 1, 1))
    })
}

/// A tree as a list of elements, each with how many levels are closed before it and what its number
/// skips.
fn any_tree() -> impl Strategy<Value = Tree> {
    let node = (any_element(), 0usize..3, prop_oneof![9 => Just(0u32), 1 => 1u32..3]);
    (any_element(), prop::collection::vec(node, 0..14)).prop_map(|(root, nodes)| build(root, &nodes))
}

fn build(root: Element, nodes: &[(Element, usize, u32)]) -> Tree {
    let mut builder = TreeBuilder::new(root);
    let mut next = vec![0u32];
    for (element, closed, skipped) in nodes {
        for _ in 0..(*closed).min(next.len() - 1) {
            builder.close();
            next.pop();
        }
        let slot = next.last().copied().unwrap_or(0) + skipped;
        builder.open_in_slot(element.clone(), slot);
        *next.last_mut().unwrap() = slot + 1;
        next.push(0);
    }
    builder.finish()
}

/// A tree, and the same tree with a few nodes changed, dropped, doubled or swapped.
fn related_trees() -> impl Strategy<Value = (Tree, Tree)> {
    let node = (any_element(), 0usize..3, Just(0u32));
    let edit = (0usize..20, 0usize..20, 0..4, any_element());
    (any_element(), prop::collection::vec(node, 1..20), prop::collection::vec(edit, 0..4)).prop_map(
        |(root, nodes, edits)| {
            let mut changed = nodes.clone();
            for (at, other, what, element) in edits {
                let (at, other) = (at % changed.len(), other % changed.len());
                match what {
                    0 => changed[at].0 = element,
                    1 if changed.len() > 1 => drop(changed.remove(at)),
                    2 => changed.insert(at, changed[other].clone()),
                    _ => changed.swap(at, other),
                }
            }
            (build(root.clone(), &nodes), build(root, &changed))
        },
    )
}

fn reversed(tree: &Tree) -> Tree {
    let mut builder = TreeBuilder::new(tree.root().clone());
    let children: Vec<usize> = tree.children(Tree::ROOT).collect();
    for child in children.into_iter().rev() {
        let top = tree.depth(child);
        for node in child..tree.end(child) {
            while builder.depth() > tree.depth(node) - top + 1 {
                builder.close();
            }
            builder.open(tree[node].clone());
        }
        while builder.depth() > 1 {
            builder.close();
        }
    }
    builder.finish()
}

proptest! {
    #[test]
    fn any_tree_becomes_any_other(old in any_tree(), new in any_tree()) {
        check_both_ways(&view(old), &view(new));
    }

    #[test]
    fn a_tree_becomes_its_edited_self((old, new) in related_trees()) {
        check_both_ways(&view(old.clone()), &view(new.clone()));
        check_both_ways(&view(new), &view(old));
    }

    #[test]
    fn a_tree_becomes_its_mirror(old in any_tree()) {
        check_both_ways(&view(old.clone()), &view(reversed(&old)));
    }

    #[test]
    fn a_tree_has_not_changed(tree in any_tree()) {
        prop_assert!(Changes::diff_views(view(tree.clone()), view(tree.clone()), DiffFormat::Custom).is_empty());
        prop_assert!(Changes::diff_views(view(tree.clone()), view(tree), DiffFormat::JsonPatch).is_empty());
    }

    #[test]
    fn nothing_is_unchanged_behind_a_redaction(old in any_tree(), new in any_tree()) {
        let hide = |tree: &Tree| tree.map_elements(|element| {
            *element = Element::new("Group", "[REDACTED]", Rect::default());
        });
        let same = old.fingerprint() == new.fingerprint();
        let (old, new) = (hidden_view(old.clone(), hide(&old)), hidden_view(new.clone(), hide(&new)));
        for format in [DiffFormat::Custom, DiffFormat::JsonPatch] {
            let unchanged = Changes::diff_views(old.clone(), new.clone(), format).is_empty();
            prop_assert!(!unchanged || same);
        }
        prop_assert_eq!(apply_custom(&json_of(&old), &changes(&old, &new, DiffFormat::Custom)), json_of(&new));
        prop_assert_eq!(apply_patch(&json_of(&old), &changes(&old, &new, DiffFormat::JsonPatch)), json_of(&new));
    }
}

// ── big trees ──────────────────────────────────────────────────────────────────────────────────────

fn rows(names: impl Iterator<Item = usize>) -> Tree {
    let mut builder = TreeBuilder::new(element("List"));
    names.for_each(|name| {
        builder.add_leaf(element(&format!("Row r{name}")));
    });
    builder.finish()
}

/// Far above what it takes, far below what pairwise comparison of ten thousand siblings would.
const SOON: Duration = Duration::from_secs(5);

#[track_caller]
fn check_size(old: &Tree, new: &Tree, custom: usize, patches: usize) {
    let began = Clock::real();
    assert_eq!(diff::diff_trees(old, new).len(), custom);
    assert_eq!(diff::json_patch(old, new).len(), patches);
    assert!(began.now() < SOON, "{:?}", began.now());
}

#[test]
fn ten_thousand_reversed_siblings_are_not_quadratic() {
    // All but one move, and every id but the middle's changes; 10,001 is odd so that there is a middle.
    check_size(&rows(0..10_001), &rows((0..10_001).rev()), 10_000, 10_000 + 10_000);
    let unnamed = rows(0..10_000).map_elements(|element| element.name.clear());
    check_size(&unnamed, &unnamed, 0, 0);
}

#[test]
fn one_change_in_ten_thousand_nodes_is_one_change() {
    let old = rows(0..10_000);
    let new = old.map_elements(|element| {
        if element.name == "r7000" {
            element.enabled = false;
        }
    });
    check_size(&old, &new, 1, 1);
    check_size(&old, &rows(1..10_000), 1, 1 + 9_999);
}

#[test]
fn a_very_deep_tree_is_compared_without_recursion() {
    let deep = |last: &str| {
        let mut builder = TreeBuilder::new(element("Window"));
        for _ in 0..10_000 {
            builder.open(element("Group"));
        }
        builder.add_leaf(element(last));
        builder.finish()
    };
    check_size(&deep("Text a"), &deep("Text b"), 2, 2);
    check_size(&deep("Text a"), &deep("Text a=1"), 1, 1);
    // Every level changed: the lines would be longer than the tree by far.
    let changed = deep("Text a").map_elements(|element| element.enabled = false);
    check_size(&deep("Text a"), &changed, 10_002, 1);
}
