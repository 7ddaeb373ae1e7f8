//! Names that a person reads on the screen and the application does not tell: toolkits name an element by its
//! class or twice, and leave a field without the label that stands beside it.

use super::find::Toolkit;
use crate::model::{Element, Rect, Role, Tree};

/// Farther away a label belongs to something else.
const FARTHEST_LEFT: i32 = 240;
const FARTHEST_ABOVE: i32 = 14;
/// Places are a little off.
const SLACK: i32 = 4;
/// More texts in a button are no name.
const MOST_PARTS: usize = 3;

/// The name without what only the toolkit says. GTK4 (4.8) has the class where there is no name, and the label of a
/// button twice.
pub fn tidy_name(toolkit: Toolkit, name: &str, is_group: bool) -> &str {
    let name = name.trim();
    if toolkit != Toolkit::Gtk4 {
        return name;
    }
    if is_class(name, is_group) { "" } else { once(name) }
}

/// `GtkMenuButton`, and of a group also `HistoryView`: programs have classes of their own.
fn is_class(name: &str, is_group: bool) -> bool {
    let is_word = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let of_toolkit = ["Gtk", "Adw"].iter().any(|prefix| {
        name.strip_prefix(prefix)
            .is_some_and(|rest| rest.starts_with(|letter: char| letter.is_ascii_uppercase()))
    });
    let humps = name.bytes().filter(u8::is_ascii_uppercase).count();
    let is_camel =
        name.starts_with(|letter: char| letter.is_ascii_uppercase()) && humps > 1 && humps < name.len();
    is_word && (of_toolkit || (is_group && is_camel))
}

/// `7 7` is `7`.
fn once(name: &str) -> &str {
    let half = name.len() / 2;
    match (name.get(..half), name.get(half + 1..)) {
        (Some(first), Some(second)) if first == second && name.as_bytes().get(half) == Some(&b' ') => first,
        _ => name,
    }
}

/// Gives names to what has none: buttons the texts in them where the toolkit is one that hides them, fields the
/// label beside them.
pub fn name_unnamed(tree: &mut Tree, toolkit: Toolkit) {
    let mut names: Vec<Option<String>> = vec![None; tree.len()];
    if toolkit == Toolkit::Gtk4 {
        // From the inside out, because a button may hold another.
        for node in (1..tree.len()).rev().filter(|&node| is_unnamed_button(&tree[node])) {
            names[node] = texts_in(tree, node);
        }
    }
    name_by_labels(tree, &mut names);
    let mut place = 0;
    tree.change_elements(|element| {
        if let Some(name) = names.get_mut(place).and_then(Option::take) {
            element.name = name;
        }
        place += 1;
    });
}

fn is_unnamed_button(element: &Element) -> bool {
    let is_button = element.role.is_pressed_by_key() || element.role.is_option();
    is_button && element.name.is_empty()
}

fn texts_in(tree: &Tree, node: usize) -> Option<String> {
    let is_text = |inner: &usize| tree[*inner].role == Role::Text && !tree[*inner].name.is_empty();
    let texts: Vec<&str> =
        (node + 1..tree.end(node)).filter(is_text).map(|inner| tree[inner].name.as_str()).collect();
    (1..=MOST_PARTS).contains(&texts.len()).then(|| texts.join(" "))
}

/// A field that a person fills in or chooses in, and that says nothing of itself.
fn is_unnamed_field(element: &Element) -> bool {
    let is_field = matches!(
        element.role,
        Role::Edit | Role::ComboBox | Role::Spinner | Role::Slider | Role::ToggleButton | Role::Document
    ) && (element.role != Role::Document || element.editable);
    let says_nothing = element.name.is_empty() && element.description.is_none();
    is_field && says_nothing && !element.hidden && !element.bounds.is_empty()
}

fn is_label(tree: &Tree, node: usize) -> bool {
    let element = &tree[node];
    let shows = !element.hidden && !element.bounds.is_empty();
    element.role == Role::Text
        && shows
        && tree.child_count(node) == 0
        && element.name.chars().any(char::is_alphabetic)
}

fn name_by_labels(tree: &Tree, names: &mut [Option<String>]) {
    let fields: Vec<usize> = (1..tree.len()).filter(|&node| is_unnamed_field(&tree[node])).collect();
    if fields.is_empty() {
        return;
    }
    let mut labels: Vec<usize> = (1..tree.len()).filter(|&node| is_label(tree, node)).collect();
    let taken: Vec<Rect> = fields.iter().map(|&field| tree[field].bounds).collect();
    for &field in &fields {
        if let Some(name) = name_of_group(tree, field, &fields) {
            names[field] = Some(name);
            continue;
        }
        if let Some(place) = nearest_label(tree, tree[field].bounds, &labels, &taken) {
            let label = labels.swap_remove(place);
            names[field] = Some(tree[label].name.trim_end_matches([':', ' ']).to_owned());
        }
    }
}

/// A group with a name and one field in it is that field.
fn name_of_group(tree: &Tree, field: usize, fields: &[usize]) -> Option<String> {
    let group = tree.parent(field).filter(|&parent| parent != Tree::ROOT)?;
    let is_only = fields.iter().filter(|&&other| tree.parent(other) == Some(group)).count() == 1;
    let is_named = tree[group].role == Role::Group && !tree[group].name.is_empty();
    (is_only && is_named).then(|| tree[group].name.clone())
}

/// The place in `labels` of the one that stands left of a field with no other field between, else right above it.
fn nearest_label(tree: &Tree, field: Rect, labels: &[usize], fields: &[Rect]) -> Option<usize> {
    let places = |gap: fn(Rect, Rect) -> Option<i32>| {
        let gaps = labels.iter().enumerate().filter_map(|(place, &label)| {
            let bounds = tree[label].bounds;
            let is_free = !fields.iter().any(|&other| other != field && lies_between(other, bounds, field));
            Some((gap(bounds, field).filter(|_| is_free)?, place))
        });
        gaps.min().map(|(_, place)| place)
    };
    places(gap_left).or_else(|| places(gap_above))
}

fn gap_left(label: Rect, field: Rect) -> Option<i32> {
    let gap = field.x - label.right();
    let shared = label.bottom().min(field.bottom()) - label.y.max(field.y);
    let is_beside = 2 * shared >= label.height.min(field.height);
    (is_beside && (-SLACK..=FARTHEST_LEFT).contains(&gap)).then_some(gap)
}

fn gap_above(label: Rect, field: Rect) -> Option<i32> {
    let gap = field.y - label.bottom();
    let starts_with_it = label.x >= field.x - 2 * SLACK && label.x < field.right();
    (starts_with_it && (-SLACK..=FARTHEST_ABOVE).contains(&gap)).then_some(gap)
}

fn lies_between(other: Rect, label: Rect, field: Rect) -> bool {
    let same_row = other.y < field.bottom() && field.y < other.bottom();
    same_row && other.x >= label.right() - SLACK && other.right() <= field.x + SLACK
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::TreeBuilder;

    fn check_name(name: &str, is_group: bool, expected: &str) {
        assert_eq!(tidy_name(Toolkit::Gtk4, name, is_group), expected, "{name}");
    }

    #[test]
    fn classes_and_doubled_labels_are_no_names() {
        check_name("GtkMenuButton", false, "");
        check_name("AdwGizmo", true, "");
        check_name("HistoryView", true, "");
        check_name("HistoryView", false, "HistoryView");
        check_name("GtkSharp rocks", false, "GtkSharp rocks");
        check_name("7 7", false, "7");
        check_name("Save As Save As", false, "Save As");
        check_name("Save", true, "Save");
        check_name("÷ ÷", false, "÷");
        check_name("no  no", false, "no  no");
        check_name("USA", true, "USA");
        check_name(" Find      ", false, "Find");
        assert_eq!(tidy_name(Toolkit::Other, "7 7 ", false), "7 7");
        assert_eq!(tidy_name(Toolkit::Other, "GtkMenuButton", false), "GtkMenuButton");
    }

    /// Elements as role, name and place; the names of the fields in their order.
    #[track_caller]
    fn check(elements: &[(&'static str, &str, Rect)], expected: &[&str]) {
        let mut tree = TreeBuilder::new(Element::new("Window", "w", Rect::new(0, 0, 500, 500)));
        for (role, name, bounds) in elements {
            tree.add_leaf(Element::new(*role, *name, *bounds));
        }
        let mut tree = tree.finish();
        name_unnamed(&mut tree, Toolkit::Other);
        let fields: Vec<&str> =
            tree.elements().iter().skip(1).filter(|it| it.role != "Text").map(|it| &*it.name).collect();
        assert_eq!(fields, expected);
    }

    fn at(x: i32, y: i32) -> Rect {
        Rect::new(x, y, 50, 20)
    }

    #[test]
    fn a_field_has_the_name_that_stands_beside_it() {
        // yad lists its form from the end.
        let form = [
            ("Edit", "", at(60, 30)),
            ("Text", "Berth", at(0, 30)),
            ("Edit", "", at(60, 0)),
            ("Text", "Harbour:", at(0, 0)),
        ];
        check(&form, &["Berth", "Harbour"]);
        check(&[("Text", "Notes", at(60, 8)), ("Edit", "", at(60, 30))], &["Notes"]);
        check(&[("Text", "Far", at(0, 0)), ("Edit", "", at(400, 0))], &[""]);
        check(&[("Text", "Below", at(0, 40)), ("Edit", "", at(0, 0))], &[""]);
        check(&[("Edit", "Own", at(60, 0)), ("Text", "Other", at(0, 0))], &["Own"]);
    }

    #[test]
    fn a_label_names_one_field() {
        check(
            &[("Text", "From", at(0, 0)), ("Edit", "", at(60, 0)), ("Edit", "", at(120, 0))],
            &["From", ""],
        );
        check(&[("Text", "→", at(0, 0)), ("Edit", "", at(60, 0))], &[""]);
    }

    #[test]
    fn a_group_names_the_one_field_in_it() {
        let mut tree = TreeBuilder::new(Element::new("Window", "w", at(0, 0)));
        tree.open(Element::new("Group", "Password field", at(0, 0)));
        tree.add_leaf(Element::new("Edit", "", at(0, 0)));
        let mut tree = tree.finish();
        name_unnamed(&mut tree, Toolkit::Other);
        assert_eq!(tree[2].name, "Password field");
    }

    #[test]
    fn a_button_is_called_as_the_text_in_it() {
        let mut tree = TreeBuilder::new(Element::new("Window", "w", at(0, 0)));
        tree.open(Element::new("Button", "", at(0, 0)));
        tree.add_leaf(Element::new("Text", "π", at(0, 0)));
        let mut tree = tree.finish();
        name_unnamed(&mut tree, Toolkit::Gtk4);
        assert_eq!(tree[1].name, "π");
    }
}
