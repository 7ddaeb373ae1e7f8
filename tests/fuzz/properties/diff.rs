//! Differences of trees: told in either format, they turn the old tree's JSON into exactly the new one's; nothing is
//! told of a tree that has not changed; and there are no more lines than there are things to say.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use arbitrary::{Result, Unstructured};
use os_screen_observer::model::Tree;
use os_screen_observer::observer::structure::Structure;
use os_screen_observer::observer::{Changes, DiffFormat, View};
use serde_json::{Value, json};

use super::applying::{apply_custom, apply_patch};
use super::generated::{Node, element, node, nodes, tree};

const MOST_NODES: usize = 40;

pub fn check(data: &[u8]) {
    // Too few bytes are no finding: what is missing counts as zeros.
    if let Ok((old, new)) = two_trees(&mut Unstructured::new(data)) {
        check_way(&old, &new);
        check_way(&new, &old);
        check_way(&old, &old);
    }
}

/// Two that have nothing to do with each other, or one and what became of it.
fn two_trees(bytes: &mut Unstructured) -> Result<(Tree, Tree)> {
    let (root, before) = (element(bytes)?, nodes(bytes, MOST_NODES)?);
    let old = tree(root.clone(), &before);
    if bytes.ratio(1, 4)? {
        return Ok((old, tree(element(bytes)?, &nodes(bytes, MOST_NODES)?)));
    }
    let root = if bytes.ratio(1, 8)? { element(bytes)? } else { root };
    Ok((old, tree(root, &edited(bytes, before)?)))
}

fn edited(bytes: &mut Unstructured, mut nodes: Vec<Node>) -> Result<Vec<Node>> {
    for _ in 0..bytes.int_in_range(0..=6)? {
        if nodes.is_empty() {
            nodes.push(node(bytes)?);
        }
        let (at, other) = (bytes.choose_index(nodes.len())?, bytes.choose_index(nodes.len())?);
        match bytes.int_in_range(0..=4)? {
            0 => nodes[at].element = element(bytes)?,
            1 => drop(nodes.remove(at)),
            2 => nodes.insert(at, nodes[other].clone()),
            3 => nodes[at.min(other)..=at.max(other)].reverse(),
            _ => nodes.swap(at, other),
        }
    }
    Ok(nodes)
}

fn view(tree: &Tree) -> Arc<View> {
    let tree = Arc::new(tree.clone());
    Arc::new(View::new(tree.clone(), tree, Duration::ZERO, SystemTime::UNIX_EPOCH))
}

fn json_of(view: &Arc<View>) -> Value {
    serde_json::to_value(Structure::whole_subtree(view.clone(), Tree::ROOT)).unwrap()
}

fn check_way(old: &Tree, new: &Tree) {
    let (old_view, new_view) = (view(old), view(new));
    let (before, after) = (json_of(&old_view), json_of(&new_view));
    let told = |format| {
        serde_json::to_value(Changes::diff_views(old_view.clone(), new_view.clone(), format)).unwrap()
    };
    let (custom, patch) = (told(DiffFormat::Custom), told(DiffFormat::JsonPatch));
    assert_eq!(apply_custom(&before, &custom), after, "custom: {custom}");
    assert_eq!(apply_patch(&before, &patch), after, "json-patch: {patch}");
    assert_eq!(custom == json!([]), before == after, "custom: {custom}");
    assert_eq!(patch == json!([]), before == after, "json-patch: {patch}");
    let lines = custom.as_array().map_or(0, Vec::len);
    assert!(lines <= old.len() + 2 * new.len(), "{lines} lines for {} and {} nodes", old.len(), new.len());
    for node in 0..new.len() {
        assert_eq!(new.find_id(&new.id(node)).map(|found| new.id(found)), Some(new.id(node)));
    }
}
