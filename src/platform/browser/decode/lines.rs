//! A text in lines, as it is written in an editor or a listing: with the blanks that a reader sees.
//!
//! The walk has a stack of its own: however deep a text is, nothing recurses.

use super::reading::is_unread;
use super::snapshot::{DomDocument, Style};
use super::tree::begins_line;

enum LineStep {
    Node(usize),
    /// The end of something that stands on lines of its own, and how long the text was where it began.
    EndOfBlock(usize),
}

/// The text below an element, at most about so many bytes. Where the page does not say that blanks count, one stands for
/// many; `as_written` they count everywhere.
pub fn written_lines(dom: &DomDocument<'_>, root: usize, as_written: bool, most: usize) -> String {
    let mut text = String::new();
    let mut steps = children_steps(dom, root);
    while let Some(step) = steps.pop() {
        if text.len() > most || !dom.may_read_on() {
            break;
        }
        match step {
            LineStep::EndOfBlock(start) if text.len() > start => end_line(&mut text),
            LineStep::EndOfBlock(_) => {}
            LineStep::Node(node) if dom.is_text(node) => push_text(dom, node, as_written, &mut text),
            LineStep::Node(node) => {
                let inside = push_element(dom, node, &mut text);
                steps.extend(inside);
            }
        }
    }
    text.truncate(text.trim_end_matches('\n').len());
    text
}

fn children_steps(dom: &DomDocument<'_>, node: usize) -> Vec<LineStep> {
    let mut children: Vec<LineStep> = dom.children(node).map(LineStep::Node).collect();
    children.reverse();
    children
}

/// What of an element is told at once, and what is still to be done for it.
fn push_element(dom: &DomDocument<'_>, node: usize, text: &mut String) -> Vec<LineStep> {
    if is_unread(dom, node) || dom.is_pseudo(node) {
        return Vec::new();
    }
    match dom.tag(node) {
        "BR" => text.push('\n'),
        "IMG" => text.push_str(dom.attribute(node, "alt").unwrap_or_default()),
        _ if begins_line(dom, node) => {
            if !text.is_empty() {
                end_line(text);
            }
            let mut steps = vec![LineStep::EndOfBlock(text.len())];
            steps.extend(children_steps(dom, node));
            return steps;
        }
        _ => return children_steps(dom, node),
    }
    Vec::new()
}

fn end_line(text: &mut String) {
    if !text.ends_with('\n') {
        text.push('\n');
    }
}

fn push_text(dom: &DomDocument<'_>, node: usize, as_written: bool, text: &mut String) {
    if !dom.is_rendered(node) || dom.style(node, Style::Visibility) == "hidden" {
        return;
    }
    let keeps = as_written || keeps_blanks(dom, node);
    let written = if keeps { dom.written_text(node) } else { dom.node_text(node) };
    for sign in written.chars() {
        match sign {
            '\u{a0}' => text.push(' '),
            sign if keeps || !sign.is_whitespace() => text.push(sign),
            _ if text.is_empty() || text.ends_with([' ', '\n']) => {}
            _ => text.push(' '),
        }
    }
}

/// Whether the blanks of its texts are drawn as they are written.
pub fn keeps_blanks(dom: &DomDocument<'_>, node: usize) -> bool {
    matches!(dom.style(node, Style::WhiteSpace), "pre" | "pre-wrap" | "break-spaces")
}

/// Lines of code in an editor or a listing that is no `pre`: blanks count in it, and it has nothing but plain parts.
pub fn is_listing(dom: &DomDocument<'_>, node: usize, is_editor: bool) -> bool {
    let begins = match is_editor {
        true => keeps_blanks(dom, node),
        false => dom.style(node, Style::WhiteSpace) == "pre",
    };
    let is_first = || dom.parent(node).is_none_or(|above| !keeps_blanks(dom, above));
    begins && begins_line(dom, node) && is_first() && has_plain_parts(dom, node) && has_lines(dom, node)
}

fn has_lines(dom: &DomDocument<'_>, node: usize) -> bool {
    let text = written_lines(dom, node, false, LONGEST_FIRST_LINE);
    text.contains('\n') || text.starts_with([' ', '\t'])
}

/// A text that has no end of a line by then is no listing.
const LONGEST_FIRST_LINE: usize = 2000;

fn has_plain_parts(dom: &DomDocument<'_>, node: usize) -> bool {
    let mut rest: Vec<usize> = dom.children(node).collect();
    while let Some(node) = rest.pop() {
        let is_plain = !dom.is_element(node)
            || matches!(dom.tag(node), "DIV" | "SPAN" | "BR" | "CODE" | "B" | "I" | "EM" | "STRONG" | "IMG");
        if !is_plain || !dom.may_read_on() {
            return false;
        }
        rest.extend(dom.children(node));
    }
    true
}
