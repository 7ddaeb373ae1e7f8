//! Selectors: what is printed is read as the same selector, finding keeps its promises, and a miss is explained
//! exactly when there is one.

use std::sync::LazyLock;

use os_screen_observer::model::selector::{MAX_TEXT_BYTES, Selector, derive};
use os_screen_observer::model::{Element, Rect, Tree, TreeBuilder};

const LIMIT: usize = 3;

pub fn check(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    match Selector::parse(&text) {
        Ok(selector) => check_selector(&selector),
        Err(problem) => super::check_sentence(&problem.to_string()),
    }
}

fn check_selector(selector: &Selector) {
    let printed = selector.to_string();
    assert!(printed.len() <= MAX_TEXT_BYTES, "the canonical text is too long to come back");
    let again =
        Selector::parse(&printed).unwrap_or_else(|problem| panic!("{printed:?} was printed, but {problem}"));
    assert_eq!(&again, selector, "{printed:?} is another selector");
    assert_eq!(again.to_string(), printed, "printing is not stable");
    assert!(again.warnings().is_empty(), "{printed:?} warns: {:?}", again.warnings());
    for tree in TREES.iter() {
        check_finding(selector, &again, tree);
    }
}

fn check_finding(selector: &Selector, again: &Selector, tree: &Tree) {
    // A pattern that takes too long is told, and finds nothing.
    let (Ok(few), Ok(all)) = (selector.find(tree, LIMIT), selector.resolve(tree, usize::MAX)) else {
        return;
    };
    assert_eq!(few.total, all.len(), "the count is not that of the matches");
    assert_eq!(few.nodes, all[..all.len().min(LIMIT)], "the first matches are others when few are wanted");
    assert!(all.iter().all(|&node| node < tree.len()), "a match is no node");
    let distinct: std::collections::HashSet<_> = all.iter().collect();
    assert_eq!(distinct.len(), all.len(), "a node was found twice");
    assert_eq!(again.resolve(tree, usize::MAX).ok(), Some(all.clone()), "the printed selector finds others");
    assert_eq!(
        selector.explain_miss(tree).is_none(),
        !all.is_empty(),
        "a miss is explained without being one"
    );
    for &node in &few.nodes {
        check_derived(tree, node);
    }
}

/// What is handed out for an element leads back to it.
fn check_derived(tree: &Tree, node: usize) {
    let derived = derive(tree, node);
    let selector = Selector::parse(&derived)
        .unwrap_or_else(|problem| panic!("{derived:?} was handed out, but {problem}"));
    assert_eq!(selector.resolve(tree, 1), Ok(vec![node]), "{derived:?} leads elsewhere");
}

/// A dialog with twins and strange names, a lone root, and a chain that is deeper than a selector may be long.
static TREES: LazyLock<[Tree; 3]> =
    LazyLock::new(|| [dialog(), Tree::of_root(element("Window", "")), chain()]);

fn element(role: &'static str, name: &str) -> Element {
    Element::new(role, name, Rect::new(0, 0, 10, 10))
}

fn dialog() -> Tree {
    let mut tree = TreeBuilder::new(element("Window", "Save \"as\" … \\ now"));
    tree.open(element("MenuBar", ""));
    for name in ["File", "Edit", "Edit", "View – all", "a\nb\tc"] {
        tree.add_leaf(Element { shortcut: Some("Ctrl+S".to_owned()), ..element("MenuItem", name) });
    }
    tree.close();
    tree.open(element("Pane", "it's [x=\"1\"] / > //"));
    tree.add_leaf(Element { value: Some("Ada".to_owned()), focused: true, ..element("Edit", "Name") });
    tree.add_leaf(Element { enabled: false, ..element("Button", "OK") });
    tree.add_leaf(element("Button", "OK"));
    tree.add_leaf(element("push button", "with a blank in its role"));
    tree.finish()
}

fn chain() -> Tree {
    let mut tree = TreeBuilder::new(element("Window", "deep"));
    for level in 0..60 {
        tree.open(element("Group", if level % 2 == 0 { "" } else { "odd" }));
    }
    tree.finish()
}
