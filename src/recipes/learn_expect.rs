//! What is expected of a learned step: something that was on the desktop after it, and was not before.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::elements::{quoted, role_step};
use super::learn_result::label_of;
use crate::model::{Role, Tree};
use crate::trace::recording::{RecordedWindow, StoryScene};

/// Longer names are sentences, which change.
const LONGEST_NAME: usize = 80;

/// The desktop around a step.
pub struct StepScenes<'a> {
    pub before: &'a StoryScene,
    /// When the next step began.
    pub after: &'a StoryScene,
    pub window_uid: Option<&'a str>,
}

/// Nothing where nothing that can be named is otherwise.
pub fn expectation_of(scenes: &StepScenes, is_stable: &dyn Fn(&str) -> bool) -> Option<Value> {
    let known: HashSet<&str> = scenes.before.iter().map(|seen| seen.window.window_uid.as_str()).collect();
    let opened = scenes.after.iter().find(|seen| !known.contains(seen.window.window_uid.as_str()));
    if let Some(title) =
        opened.map(|seen| seen.window.title.as_str()).filter(|title| is_name(title, is_stable))
    {
        return Some(json!(format!("window: {title}")));
    }
    let (before, after) =
        (own_tree(scenes.before, scenes.window_uid)?, own_tree(scenes.after, scenes.window_uid)?);
    if let Some(selector) = new_element(before, after, is_stable) {
        return Some(json!({ "kind": "element_exists", "selector": selector }));
    }
    if let Some(selector) = new_element(after, before, is_stable) {
        return Some(json!({ "kind": "element_absent", "selector": selector }));
    }
    (before != after).then(|| json!("changed"))
}

/// The tree of the step's window, or of the one in front.
pub fn own_tree<'a>(scene: &'a StoryScene, uid: Option<&str>) -> Option<&'a Tree> {
    let own = |seen: &&RecordedWindow| Some(seen.window.window_uid.as_str()) == uid;
    let in_front = || scene.iter().find(|seen| seen.window.focused).or_else(|| scene.first());
    scene.iter().find(own).or_else(in_front)?.tree.as_deref()
}

/// What the second tree has and the first has not, the most telling first.
fn new_element(first: &Tree, second: &Tree, is_stable: &dyn Fn(&str) -> bool) -> Option<String> {
    let known: HashSet<(&str, &str)> =
        first.elements().iter().map(|it| (it.role.name(), it.name.as_str())).collect();
    let is_new = |node: &usize| {
        let element = &second[*node];
        let is_shown = !element.redacted && !element.hidden && element.unseen.is_none();
        is_shown
            && is_name(&element.name, is_stable)
            && !known.contains(&(element.role.name(), element.name.as_str()))
    };
    // The root is called as the window is, which is often a text of the page.
    let found = (1..second.len()).filter(is_new).min_by_key(|&node| weight(&second[node].role))?;
    let element = &second[found];
    // Of `Price: 12` another run shows the label alone.
    let is_new_label = |label: &&str| !known.iter().any(|(_, name)| name.starts_with(label));
    let asks = match label_of(&element.name).filter(is_new_label) {
        Some(label) => format!("name~={}", quoted(&format!("{}.*", regex::escape(label)))),
        None => format!("name={}", quoted(&element.name)),
    };
    Some(format!("//{}[{asks}]", role_step(&element.role)))
}

fn weight(role: &Role) -> usize {
    match role {
        Role::Heading => 0,
        Role::Dialog | Role::Alert | Role::AlertDialog => 1,
        Role::Button | Role::Edit => 2,
        Role::Hyperlink | Role::Link => 3,
        Role::Document => 4,
        _ => 5,
    }
}

fn is_name(name: &str, is_stable: &dyn Fn(&str) -> bool) -> bool {
    let letters = name.chars().filter(|letter| letter.is_alphabetic()).count();
    letters >= 2 && name.chars().count() <= LONGEST_NAME && is_stable(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Element, Rect, TreeBuilder};

    fn tree(names: &[&str]) -> Tree {
        let mut tree = TreeBuilder::new(Element::new("Window", "Shop", Rect::default()));
        for name in names {
            tree.add_leaf(Element::new("Text", *name, Rect::default()));
        }
        tree.finish()
    }

    #[test]
    fn a_new_label_is_expected_without_what_stands_behind_it() {
        let check = |before: &[&str], after: &[&str], expected: Option<&str>| {
            assert_eq!(new_element(&tree(before), &tree(after), &|_| true).as_deref(), expected);
        };
        check(&["Shop"], &["Shop", "Maker: Holm"], Some(r#"//Text[name~="Maker:.*"]"#));
        check(&["Maker: Nord"], &["Maker: Holm"], Some(r#"//Text[name="Maker: Holm"]"#));
        check(&["Shop"], &["Shop", "Thank you"], Some(r#"//Text[name="Thank you"]"#));
        check(&["Shop"], &["Shop"], None);
    }
}
