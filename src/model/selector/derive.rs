//! From an element to the selector that finds it again, and only it.
//!
//! A path of children from the root, where each step tells its element from all its siblings. Names
//! go in only where they may be shown; a redacted element is written by role and place.

use super::parse::is_identifier;
use super::{
    ANY_ROLE, Axis, Literal, Role, Selector, SelectorPredicate, SelectorStep, Test, TextKey, Tree, fold,
};

/// The canonical selector of `node`, which must be an element of `tree`.
///
/// A path that would break the limits of a selector (very deep, or with very long names) gives way
/// to the role and the positional id, so that what is handed out can be handed back. Only some 600
/// levels down would the id be too long as well; platforms stop walking long before that.
pub fn derive(tree: &Tree, node: usize) -> String {
    let steps = path_from_root(tree, node).into_iter().map(|at| step(tree, at)).collect();
    let selector = Selector { steps, warnings: Vec::new() };
    match selector.check_limits() {
        Ok(()) => selector.to_string(),
        Err(_) => step_by_id(tree, node).to_string(),
    }
}

fn path_from_root(tree: &Tree, node: usize) -> Vec<usize> {
    let mut path: Vec<usize> = std::iter::successors(Some(node), |&at| tree.parent(at)).collect();
    path.reverse();
    path
}

fn step(tree: &Tree, node: usize) -> SelectorStep {
    let element = &tree[node];
    let mut step = step_of_role(&element.role);
    let siblings = Siblings::of(tree, node);
    let named = !element.name.is_empty() && !element.redacted;
    if named {
        step.predicates.push(SelectorPredicate::Text(TextKey::Name, equals_test(&element.name)));
    }
    let ambiguous = if named { siblings.same_name } else { siblings.same_role };
    if ambiguous {
        step.predicates.push(SelectorPredicate::Index(siblings.before));
    }
    step
}

fn step_by_id(tree: &Tree, node: usize) -> SelectorStep {
    let mut step = step_of_role(&tree[node].role);
    step.predicates.push(SelectorPredicate::Id(tree.id(node)));
    step
}

/// A role that is no identifier (`push button`) cannot be a step's own word.
fn step_of_role(role: &Role) -> SelectorStep {
    let name = role.name();
    let plain = is_identifier(name) && name != ANY_ROLE;
    let predicates =
        if plain { vec![] } else { vec![SelectorPredicate::Text(TextKey::Role, equals_test(name))] };
    SelectorStep { axis: Axis::Child, role: plain.then(|| role.clone()), predicates }
}

fn equals_test(text: &str) -> Test {
    Test::Equals(Literal::new(text))
}

/// What an element shares with its siblings of the same role.
#[derive(Default)]
struct Siblings {
    before: u32,
    same_role: bool,
    same_name: bool,
}

impl Siblings {
    fn of(tree: &Tree, node: usize) -> Self {
        let mut siblings = Self::default();
        let Some(parent) = tree.parent(node) else { return siblings };
        let name = fold(&tree[node].name);
        let same_role = |other: &usize| *other != node && tree[*other].role == tree[node].role;
        for other in tree.children(parent).filter(same_role) {
            siblings.before += u32::from(other < node);
            siblings.same_role = true;
            // Behind a redacted name there may be the same one.
            siblings.same_name |= tree[other].redacted || fold(&tree[other].name) == name;
        }
        siblings
    }
}
