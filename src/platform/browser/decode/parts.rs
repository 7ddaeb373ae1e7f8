//! Lists and ratings that a page made of plain elements: one listener hears of clicks on all of them, so that each is
//! something to click and none says so.

use super::names::has_name;
use super::roles::{DomRole, dom_role};
use super::snapshot::DomDocument;
use super::tree::{begins_line, is_drawn_to_click};

/// So many alike in one line of text are things to click, and fewer are words.
const LEAST_IN_A_LINE: usize = 3;

/// So many alike, each in a line of its own.
const LEAST_LINES: usize = 2;

/// Among so many of the first it is looked for whether some are alike.
const FIRST: usize = 8;

/// Farther along nothing is compared: what is alike begins early.
const MOST_COMPARED: usize = 200;

/// Whether it is one of several alike that stand beside each other and are all that its parent shows.
pub fn is_one_of_alike(dom: &DomDocument<'_>, node: usize) -> bool {
    let Some(parent) = dom.parent(node) else { return false };
    let least = if begins_line(dom, node) { LEAST_LINES } else { LEAST_IN_A_LINE };
    let is_same = |other: &usize| is_like(dom, node, *other);
    is_something(dom, node)
        && !has_own_text(dom, parent)
        && dom.children(parent).take(MOST_COMPARED).filter(is_same).take(least).count() == least
}

/// Whether such are in it, or in one of its children.
pub fn holds_alike(dom: &DomDocument<'_>, node: usize) -> bool {
    let has_some = |parent: usize| dom.children(parent).take(FIRST).any(|child| is_one_of_alike(dom, child));
    has_some(node) || dom.children(node).take(FIRST).filter(|&child| dom.is_rendered(child)).any(has_some)
}

/// Whether it has a list in it that does not show: what a click opens.
pub fn holds_closed_list(dom: &DomDocument<'_>, node: usize) -> bool {
    let is_closed = |child: &usize| dom.is_element(*child) && !dom.is_rendered(*child);
    let lines = |list: usize| {
        let mut elements = dom.children(list).filter(|&child| dom.is_element(child));
        let first = elements.next();
        first.is_some_and(|first| {
            elements.any(|other| dom.tag(other) == dom.tag(first) && has_written_text(dom, other))
        })
    };
    dom.children(node).filter(is_closed).any(lines)
}

fn is_something(dom: &DomDocument<'_>, node: usize) -> bool {
    dom.is_element(node)
        && dom.is_rendered(node)
        && matches!(dom_role(dom, node), DomRole::Container)
        && (has_name(dom, node) || is_drawn_to_click(dom, node))
}

/// The same kind of element, and of the same class: an icon beside its label is another one.
fn is_like(dom: &DomDocument<'_>, one: usize, other: usize) -> bool {
    let class = |node: usize| dom.attribute(node, "class").and_then(|all| all.split_whitespace().next());
    dom.tag(one) == dom.tag(other) && class(one) == class(other) && is_something(dom, other)
}

fn has_own_text(dom: &DomDocument<'_>, node: usize) -> bool {
    dom.children(node).any(|child| dom.is_text(child) && !dom.written_text(child).trim().is_empty())
}

fn has_written_text(dom: &DomDocument<'_>, node: usize) -> bool {
    has_own_text(dom, node) || dom.children(node).any(|child| has_own_text(dom, child))
}
