//! Rows of tables, each on one line: `Row 1014 | Holm | e7 Button "Edit"`.
//!
//! A row is an element of its own in pages; spreadsheets and lists of files have only cells, which are a row where
//! they stand side by side. What is not simple stays as it is: a cell that holds a list has lines of its own.

use super::{
    OutlineLine, OutlinePlan, OutlineStyle, is_actionable, quote_text, state_flags, write_element,
    written_value,
};
use crate::model::{Element, Rect, Role, Tree};
use crate::observer::Ref;

/// A row with more in it is told element by element.
const MOST_PIECES: usize = 40;

impl OutlinePlan<'_> {
    /// Puts the lines of each row onto one.
    pub(super) fn fold_rows(&mut self) {
        let lines = std::mem::take(&mut self.lines);
        let mut at = 0;
        while let Some(line) = lines.get(at) {
            let count = if self.tree[line.node].role == Role::Row {
                self.fold_row(&lines[at..])
            } else if is_loose_cell(self.tree, line.node) {
                self.fold_cells(&lines[at..])
            } else {
                self.lines.push(line.clone());
                1
            };
            at += count;
        }
    }

    /// Takes a row and what is in it off the lines; how many these were.
    fn fold_row(&mut self, lines: &[OutlineLine]) -> usize {
        let row = &lines[0];
        let end = self.tree.end(row.node);
        let inner = lines[1..].iter().take_while(|line| line.node < end).count();
        let (inner, count) = (&lines[1..=inner], inner + 1);
        let is_flat = inner.iter().all(|line| line.indent == row.indent + 1);
        if is_flat && (1..=MOST_PIECES).contains(&inner.len()) {
            let unseen = inner.iter().fold(row.unseen, |unseen, line| unseen + line.unseen);
            let pieces = inner.iter().map(|line| line.node).collect();
            self.lines.push(OutlineLine { pieces, unseen, ..row.clone() });
        } else {
            self.lines.extend(lines[..count].iter().cloned());
        }
        count
    }

    /// The same of cells that stand side by side and are no row. Those without a text have no part in it.
    fn fold_cells(&mut self, lines: &[OutlineLine]) -> usize {
        let tree = self.tree;
        let first = &lines[0];
        let is_beside = |line: &&OutlineLine| {
            is_loose_cell(tree, line.node)
                && tree.parent(line.node) == tree.parent(first.node)
                && tree[line.node].bounds.y == tree[first.node].bounds.y
        };
        let count = lines.iter().take_while(is_beside).count();
        let holds_more = lines.get(count).is_some_and(|next| next.node < tree.end(lines[count - 1].node));
        if holds_more {
            self.lines.extend(lines[..count].iter().cloned());
            return count;
        }
        let pieces: Vec<usize> =
            lines[..count].iter().map(|line| line.node).filter(|&node| !is_blank_cell(&tree[node])).collect();
        self.dropped.cells += count - pieces.len();
        if let Some(&node) = pieces.first() {
            self.lines.push(OutlineLine { node, pieces, is_loose: true, ..first.clone() });
        }
        count
    }

    /// `Row 1014 | Holm | 883`. The place is that of the row, or of its cells together.
    pub(super) fn write_row(
        &self,
        line: &OutlineLine,
        reference: &dyn Fn(usize) -> Option<Ref>,
        text: &mut String,
    ) -> Rect {
        let (tree, style) = (self.tree, OutlineStyle::of(self.options));
        if !line.is_loose
            && let Some(reference) = reference(line.node)
        {
            text.push_str(&format!("{reference} "));
        }
        text.push_str(Role::Row.name());
        let mut cell = None;
        for &node in &line.pieces {
            let holder = self.cell_of(line, node);
            let gap = match cell {
                None => " ",
                Some(before) if before == holder => " ",
                Some(_) => " | ",
            };
            text.push_str(gap);
            write_piece(text, &tree[node], reference(node), style);
            cell = Some(holder);
        }
        let flags = self.row_flags(line);
        if !flags.is_empty() {
            text.push_str(&format!(" {{{}}}", flags.join(",")));
        }
        let cells = line.pieces.iter().map(|&node| tree[node].bounds).filter(|bounds| !bounds.is_empty());
        match line.is_loose {
            true => cells.reduce(|all, bounds| all.around(&bounds)).unwrap_or_default(),
            false => tree[line.node].bounds,
        }
    }

    /// The child of the row in which a piece is; a loose cell is its own.
    fn cell_of(&self, line: &OutlineLine, node: usize) -> usize {
        if line.is_loose {
            return node;
        }
        let mut above = std::iter::successors(Some(node), |&inner| self.tree.parent(inner));
        above.find(|&inner| self.tree.parent(inner) == Some(line.node)).unwrap_or(node)
    }

    /// The row's own, and what all its loose cells are.
    fn row_flags(&self, line: &OutlineLine) -> Vec<&'static str> {
        if line.is_loose {
            let is_selected = |&node: &usize| self.tree[node].selected == Some(true);
            let all_selected = line.pieces.len() > 1 && line.pieces.iter().all(is_selected);
            return if all_selected { vec![SELECTED] } else { Vec::new() };
        }
        state_flags(&self.tree[line.node])
    }
}

const SELECTED: &str = "selected";

/// A cell in a table without rows.
fn is_loose_cell(tree: &Tree, node: usize) -> bool {
    let in_table =
        tree.parent(node).is_some_and(|parent| matches!(tree[parent].role, Role::Table | Role::Tree));
    tree[node].role == Role::DataItem && in_table && !tree[node].bounds.is_empty()
}

/// Says nothing, or only where it is: the name of a cell in a sheet is its address.
fn is_blank_cell(element: &Element) -> bool {
    let has_no_value = element.value.as_deref().is_none_or(|value| value.trim().is_empty());
    let is_unnamed = element.name.trim().is_empty() || (element.editable && element.value.is_some());
    let is_marked = element.focused || element.selected == Some(true) || element.expanded.is_some();
    has_no_value && is_unnamed && !is_marked && element.range.now.is_none()
}

/// A text or a cell by its words alone, anything else as on a line of its own.
fn write_piece(text: &mut String, element: &Element, reference: Option<Ref>, style: OutlineStyle) {
    let is_words = matches!(element.role, Role::Text | Role::DataItem | Role::HeaderItem);
    if !is_words {
        write_element(text, element, reference, style);
        return;
    }
    let words = [reference.map(|it| it.to_string()), Some(bare_piece(&style.shorten_text(&element.name)))];
    let value = written_value(element).map(|value| format!("={}", bare_piece(&style.shorten_text(&value))));
    let flags: Vec<&str> = state_flags(element).into_iter().filter(|flag| *flag != "editable").collect();
    let flags = (!flags.is_empty()).then(|| format!("{{{}}}", flags.join(",")));
    let parts: Vec<String> =
        words.into_iter().chain([value, flags]).flatten().filter(|part| !part.is_empty()).collect();
    text.push_str(&parts.join(" "));
}

/// A text that could be taken for the next cell, a ref or a place is quoted.
fn bare_piece(text: &str) -> String {
    let misleading = text.contains(['"', '\\', '{', '@', '+', '|', '='])
        || text.trim() != text
        || Ref::parse(text).is_some();
    if misleading { quote_text(text) } else { text.to_owned() }
}

/// What of a line can be acted on.
pub(super) fn acting_nodes(tree: &Tree, line: &OutlineLine) -> impl Iterator<Item = usize> {
    let own = (!line.is_loose).then_some(line.node);
    own.into_iter().chain(line.pieces.iter().copied()).filter(|&node| is_actionable(&tree[node]))
}
