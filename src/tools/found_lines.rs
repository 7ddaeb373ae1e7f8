//! What `find` found as lines, one each: what a model reads in place of its JSON.

use crate::model::Element;
use crate::observer::find::{ElementMatch, SearchResult};
use crate::observer::one_line;
use crate::observer::outline::element_line;
use crate::text::shorten;
use crate::tokens::{Writing, tokens_for_bytes};

/// The best first: `e12 Button "Save" @10,20 80x24`. What there is no room for is counted.
pub fn found_lines(search: &SearchResult, max_tokens: Option<usize>) -> String {
    let lines: Vec<String> = search.matches.iter().map(|found| found_line(search, found)).collect();
    let fitting = fitting_start(&lines, max_tokens);
    let more = search.more + lines.len() - fitting;
    let counted = (more > 0).then(|| format!("… {more} more match"));
    let unreadable = search.unreadable.iter().map(|(uid, why)| format!("{uid} could not be read: {why}"));
    let all = lines.into_iter().take(fitting).chain(counted).chain(unreadable);
    all.collect::<Vec<_>>().join("\n")
}

/// The element as `look` shows it, and where it is if that is not clear.
fn found_line(search: &SearchResult, found: &ElementMatch) -> String {
    let element = &found.view.tree()[found.node];
    let mut line = match &found.excerpt {
        Some(excerpt) => element_line(&Element { name: excerpt.clone(), ..element.clone() }, found.reference),
        None => element_line(element, found.reference),
    };
    let is_alike = search.matches.iter().any(|other| reads_alike(found, other));
    if !found.row.is_empty() && (found.by_row || is_alike) {
        line.push_str(&format!(" in row {:?}", one_line(&shorten(&found.row, LONGEST_ROW))));
    } else if !found.path.is_empty() && is_alike {
        line.push_str(&format!(" of {}", found.path));
    }
    if search.windows > 1 {
        line.push_str(&format!(" in {}", found.chosen.window.uid));
    }
    if found.view.was_read() {
        line.push_str(" (by OCR)");
    }
    line
}

fn reads_alike(found: &ElementMatch, other: &ElementMatch) -> bool {
    let said = |found: &ElementMatch| {
        let element = &found.view.tree()[found.node];
        (element.role.clone(), element.name.clone())
    };
    found.reference != other.reference && said(found) == said(other)
}

/// How many of the first lines there is room for; one always.
pub fn fitting_start(lines: &[String], max_tokens: Option<usize>) -> usize {
    let Some(most) = max_tokens else { return lines.len() };
    let mut bytes = COUNTED_LENGTH;
    let fits = |line: &&String| {
        bytes += line.len() + 1;
        tokens_for_bytes(Writing::Outline, bytes) <= most
    };
    lines.iter().take_while(fits).count().max(lines.len().min(1))
}

/// Of what stands in the row of an element.
const LONGEST_ROW: usize = 80;

/// The line that says how many more there are.
const COUNTED_LENGTH: usize = 24;
