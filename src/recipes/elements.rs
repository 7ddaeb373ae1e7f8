//! Selectors that find an element again on another day: by what it is called, or by its place below something that is
//! called the same.

use crate::model::selector::Selector;
use crate::model::{Role, Tree};

/// Longer names are sentences, which change.
const LONGEST_NAME: usize = 80;

/// A selector that matches this element alone, by its own name: something else may come to its place. `is_stable` says
/// which names will be the same in another run.
pub fn selector_of(tree: &Tree, node: usize, is_stable: &dyn Fn(&str) -> bool) -> Option<String> {
    let by_name = named_step(tree, node, is_stable);
    let alone = by_name.iter().map(|step| format!("//{step}"));
    let anchored = by_name
        .iter()
        .flat_map(|step| anchors(tree, node, is_stable).map(move |(anchor, _)| format!("{anchor}//{step}")));
    alone.chain(anchored).find(|text| matches_alone(tree, text, node))
}

/// Selectors of an element that do not name it: its place below a named element, or below the root.
pub fn place_selectors<'a>(
    tree: &'a Tree,
    node: usize,
    is_stable: &'a dyn Fn(&str) -> bool,
) -> impl Iterator<Item = String> + 'a {
    let below = move |(anchor, at): (String, usize)| {
        let steps: String =
            path_below(tree, at, node).into_iter().map(|at| format!("/{}", place_step(tree, at))).collect();
        format!("{anchor}{steps}")
    };
    let from_root = move || (role_step(&tree[Tree::ROOT].role), Tree::ROOT);
    let all = anchors(tree, node, is_stable).chain(std::iter::once_with(from_root));
    all.map(below).filter(move |text| matches_alone(tree, text, node))
}

/// Ancestors that a name tells from everything else, the nearest first.
pub fn anchors<'a>(
    tree: &'a Tree,
    node: usize,
    is_stable: &'a dyn Fn(&str) -> bool,
) -> impl Iterator<Item = (String, usize)> + 'a {
    let ancestors =
        std::iter::successors(tree.parent(node), |&at| tree.parent(at)).filter(|&at| at != Tree::ROOT);
    ancestors.filter_map(move |at| {
        let anchor = format!("//{}", named_step(tree, at, is_stable)?);
        matches_alone(tree, &anchor, at).then_some((anchor, at))
    })
}

/// The elements from below `ancestor` down to `node`.
pub fn path_below(tree: &Tree, ancestor: usize, node: usize) -> Vec<usize> {
    let up = std::iter::successors(Some(node), |&at| tree.parent(at)).take_while(|&at| at != ancestor);
    let mut path: Vec<usize> = up.collect();
    path.reverse();
    path
}

pub fn matches_alone(tree: &Tree, text: &str, node: usize) -> bool {
    let found = Selector::parse(text).ok().and_then(|selector| selector.resolve(tree, 2).ok());
    found.as_deref() == Some(&[node])
}

fn named_step(tree: &Tree, node: usize, is_stable: &dyn Fn(&str) -> bool) -> Option<String> {
    let element = &tree[node];
    let name = element.name.as_str();
    let is_fine = !name.trim().is_empty() && name.chars().count() <= LONGEST_NAME && !element.redacted;
    (is_fine && is_stable(name)).then(|| format!("{}[name={}]", role_step(&element.role), quoted(name)))
}

pub fn place_step(tree: &Tree, node: usize) -> String {
    let role = &tree[node].role;
    let before = tree.parent(node).map_or(0, |parent| {
        tree.children(parent).filter(|&other| other < node && tree[other].role == *role).count()
    });
    format!("{}[index={before}]", role_step(role))
}

pub fn role_step(role: &Role) -> String {
    let name = role.name();
    let is_word =
        name.chars().all(char::is_alphanumeric) && name.chars().next().is_some_and(char::is_alphabetic);
    if is_word { name.to_owned() } else { format!("*[role={}]", quoted(name)) }
}

pub fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// What the last step of a selector says: its role, and the name that it asks for.
pub fn subject_of(selector: &str) -> (&str, String) {
    let last = selector.rsplit("//").next().unwrap_or(selector);
    let role = last.split('[').next().unwrap_or_default();
    let name = last.split_once("[name=\"").map(|(_, rest)| rest.strip_suffix("\"]").unwrap_or(rest));
    (role, name.unwrap_or_default().replace("\\\"", "\"").replace("\\\\", "\\"))
}
