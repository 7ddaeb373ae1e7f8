//! What differs between two moments of a trace, in words that a person reads.
//!
//! This is for eyes only: it pairs elements as a person would (same kind, same name, same place) and
//! promises no format. Programs compare trees by the diff that tools answer with.

use std::collections::{HashMap, HashSet, VecDeque};

use super::recording::{RecordedWindow, StoryScene};
use crate::model::{Element, Tree};

const MOVED: &str = "moved or changed its size";
/// Of more elements that only moved, as a scrolled list has them, the number says it all.
const MOVES_TOLD: usize = 3;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SceneDifference {
    pub sign: Sign,
    /// The window's title, so that one knows where to look.
    pub window: String,
    pub text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    Added,
    Removed,
    Changed,
}

impl Sign {
    pub const fn mark(self) -> char {
        match self {
            Sign::Added => '+',
            Sign::Removed => '-',
            Sign::Changed => '~',
        }
    }
}

/// Everything that differs, windows first.
pub fn diff_scenes(before: &StoryScene, after: &StoryScene) -> Vec<SceneDifference> {
    let find = |scene: &StoryScene, uid: &str| scene.iter().position(|seen| seen.window.window_uid == uid);
    let mut found = Vec::new();
    for seen in before.iter().filter(|seen| find(after, &seen.window.window_uid).is_none()) {
        found.push(window_difference(seen, Sign::Removed, "the window closed"));
    }
    for seen in after.iter() {
        match find(before, &seen.window.window_uid).and_then(|index| before.get(index)) {
            None => found.push(window_difference(seen, Sign::Added, "the window opened")),
            Some(old) => in_window(old, seen, &mut found),
        }
    }
    found
}

fn window_difference(seen: &RecordedWindow, sign: Sign, text: &str) -> SceneDifference {
    SceneDifference { sign, window: seen.window.title.clone(), text: text.to_owned() }
}

fn in_window(old: &RecordedWindow, new: &RecordedWindow, found: &mut Vec<SceneDifference>) {
    if old.window.title != new.window.title {
        let text = format!("the title was {:?}", old.window.title);
        found.push(window_difference(new, Sign::Changed, &text));
    }
    if old.window.bounds != new.window.bounds {
        found.push(window_difference(new, Sign::Changed, "the window moved or changed its size"));
    }
    if old.window.focused != new.window.focused {
        let text = if new.window.focused { "the window has the focus" } else { "the window lost the focus" };
        found.push(window_difference(new, Sign::Changed, text));
    }
    if let (Some(old), Some(tree)) = (&old.tree, &new.tree) {
        for (sign, text) in in_tree(old, tree) {
            found.push(window_difference(new, sign, &text));
        }
    }
}

/// Elements that came, went or changed.
pub fn in_tree(before: &Tree, after: &Tree) -> Vec<(Sign, String)> {
    let pairs = pair_trees(before, after);
    let gone: HashSet<usize> = pairs.iter().map(|&(old, _)| old).collect();
    let come: HashSet<usize> = pairs.iter().map(|&(_, new)| new).collect();
    let fields = |&(old, new): &(usize, usize)| (new, changed_fields(&before[old], &after[new]));
    let changed: Vec<(usize, Vec<String>)> =
        pairs.iter().map(fields).filter(|(_, it)| !it.is_empty()).collect();
    let only_moved = |fields: &[String]| *fields == [MOVED];
    let moved = changed.iter().filter(|(_, fields)| only_moved(fields)).count();
    let many = (moved > MOVES_TOLD)
        .then(|| (Sign::Changed, format!("{moved} elements moved or changed their size")));
    let told = |fields: &[String]| moved <= MOVES_TOLD || !only_moved(fields);
    let changed = changed.iter().filter(|(_, fields)| told(fields));
    let changed = changed.map(|(node, fields)| {
        (Sign::Changed, format!("{}: {}", element_label(&after[*node]), fields.join(", ")))
    });
    let removed =
        unpaired_tops(before, &gone).into_iter().map(|node| (Sign::Removed, label_with_rest(before, node)));
    let added =
        unpaired_tops(after, &come).into_iter().map(|node| (Sign::Added, label_with_rest(after, node)));
    changed.chain(removed).chain(added).chain(many).collect()
}

/// Nodes that have no partner while their parent has one: their whole subtree came or went.
fn unpaired_tops(tree: &Tree, paired: &HashSet<usize>) -> Vec<usize> {
    let is_top = |&node: &usize| {
        !paired.contains(&node) && tree.parent(node).is_none_or(|parent| paired.contains(&parent))
    };
    (0..tree.len()).filter(is_top).collect()
}

/// Partners: first children of the same role and name in their order, then of the same role.
fn pair_trees(before: &Tree, after: &Tree) -> Vec<(usize, usize)> {
    let mut pairs = vec![(Tree::ROOT, Tree::ROOT)];
    let mut next = 0;
    while let Some(&(old, new)) = pairs.get(next) {
        let mut left: Vec<usize> = before.children(old).collect();
        let mut right: Vec<usize> = after.children(new).collect();
        let key = |element: &Element| (element.role.to_string(), element.name.clone());
        take_pairs(&mut left, &mut right, |node| key(&before[node]), |node| key(&after[node]), &mut pairs);
        let key = |element: &Element| element.role.to_string();
        take_pairs(&mut left, &mut right, |node| key(&before[node]), |node| key(&after[node]), &mut pairs);
        next += 1;
    }
    pairs.sort_unstable_by_key(|&(_, new)| new);
    pairs
}

fn take_pairs<K: std::hash::Hash + Eq>(
    left: &mut Vec<usize>,
    right: &mut Vec<usize>,
    left_key: impl Fn(usize) -> K,
    right_key: impl Fn(usize) -> K,
    pairs: &mut Vec<(usize, usize)>,
) {
    let mut waiting: HashMap<K, VecDeque<usize>> = HashMap::new();
    for &node in left.iter() {
        waiting.entry(left_key(node)).or_default().push_back(node);
    }
    let mut taken = HashSet::new();
    right.retain(|&node| match waiting.get_mut(&right_key(node)).and_then(VecDeque::pop_front) {
        Some(partner) => {
            taken.insert(partner);
            pairs.push((partner, node));
            false
        }
        None => true,
    });
    left.retain(|node| !taken.contains(node));
}

/// `Button "Login"`.
pub fn element_label(element: &Element) -> String {
    if element.name.is_empty() {
        element.role.to_string()
    } else {
        format!("{} {:?}", element.role, element.name)
    }
}

fn label_with_rest(tree: &Tree, node: usize) -> String {
    match tree.end(node) - node - 1 {
        0 => element_label(&tree[node]),
        below => format!("{} with {below} below it", element_label(&tree[node])),
    }
}

fn changed_fields(old: &Element, new: &Element) -> Vec<String> {
    let mut fields = Vec::new();
    let mut text = |name: &str, old: Option<&str>, new: Option<&str>| {
        if old != new {
            fields.push(format!("{name} {} → {}", quoted_or_none(old), quoted_or_none(new)));
        }
    };
    text("name", Some(&old.name), Some(&new.name));
    text("value", old.value.as_deref(), new.value.as_deref());
    text("shortcut", old.shortcut.as_deref(), new.shortcut.as_deref());
    text("description", old.description.as_deref(), new.description.as_deref());
    let number = |number: Option<f64>| number.map(|number| number.to_string());
    text("number", number(old.range.now).as_deref(), number(new.range.now).as_deref());
    for (differs, words) in [
        (old.enabled != new.enabled, if new.enabled { "is enabled" } else { "is disabled" }),
        (old.focused != new.focused, if new.focused { "has the focus" } else { "lost the focus" }),
        (old.selected != new.selected, flag_word(new.selected, "is selected", "is not selected")),
        (old.expanded != new.expanded, flag_word(new.expanded, "is open", "is closed")),
        (old.bounds != new.bounds, MOVED),
    ] {
        if differs {
            fields.push(words.to_owned());
        }
    }
    fields
}

fn quoted_or_none(text: Option<&str>) -> String {
    text.map_or_else(|| "nothing".to_owned(), |text| format!("{text:?}"))
}

fn flag_word<'a>(flag: Option<bool>, yes: &'a str, no: &'a str) -> &'a str {
    if flag == Some(true) { yes } else { no }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Rect, TreeBuilder};

    /// Elements as `depth Role name=value`, one a line.
    fn tree(lines: &str) -> Tree {
        let mut builder = TreeBuilder::new(Element::new("Window", "w", Rect::default()));
        for line in lines.split(';').map(str::trim).filter(|line| !line.is_empty()) {
            let parts: Vec<&str> = line.splitn(3, ' ').collect();
            while builder.depth() > parts[0].parse().unwrap() {
                builder.close();
            }
            let (name, value) = parts[2].split_once('=').unwrap_or((parts[2], ""));
            let mut element = Element::new(parts[1].to_owned(), name, Rect::default());
            element.value = Some(value.to_owned());
            builder.open(element);
        }
        builder.finish()
    }

    fn check(before: &str, after: &str, expected: &[&str]) {
        let found = in_tree(&tree(before), &tree(after));
        let found: Vec<String> = found.iter().map(|(sign, text)| format!("{} {text}", sign.mark())).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn differences_are_told_in_words() {
        check("1 Edit User=", "1 Edit User=", &[]);
        check("1 Edit User=", "1 Edit User=alice", &["~ Edit \"User\": value \"\" → \"alice\""]);
        check("1 Text a; 1 Text b", "1 Text b", &["- Text \"a\""]);
        check("1 Text a", "1 List l; 2 Text x; 1 Text a", &["+ List \"l\" with 1 below it"]);
        check("1 Text old", "1 Text new", &["~ Text \"new\": name \"old\" → \"new\""]);
        check("1 Text a; 1 Text a", "1 Text a", &["- Text \"a\""]);
    }

    #[test]
    fn many_moves_are_one_line() {
        let moved = |lines: &str| {
            let before = tree(lines);
            let after = before.map_elements(|element| element.bounds.y += i32::from(element.role == "Text"));
            in_tree(&before, &after).into_iter().map(|(_, text)| text).collect::<Vec<_>>()
        };
        assert_eq!(moved("1 Text a"), ["Text \"a\": moved or changed its size"]);
        assert_eq!(moved(&"1 Text a;".repeat(4)), ["4 elements moved or changed their size"]);
    }
}
