//! Rows of tables, each on one line: `Row 1014 | Holm | e7 Button "Edit"`.
//!
//! A row is an element of its own in pages; spreadsheets and lists of files have only cells, which are a row where
//! they stand side by side. What is not simple stays as it is: a cell that holds a list has lines of its own.

use super::{
    OutlineLine, OutlinePlan, OutlineStyle, is_actionable, quote_text, says_nothing, state_flags,
    write_element, written_value,
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
            let pieces = self.with_blank_cells(row.node, inner);
            self.lines.push(OutlineLine { pieces, unseen, ..row.clone() });
        } else {
            self.lines.extend(lines[..count].iter().cloned());
        }
        count
    }

    /// What is in a row, and its empty cells up to the last that says something: without them what comes next would be
    /// read as of another column.
    fn with_blank_cells(&self, row: usize, inner: &[OutlineLine]) -> Vec<usize> {
        let tree = self.tree;
        let mut pieces: Vec<usize> = inner.iter().map(|line| line.node).collect();
        let last = pieces.last().copied().unwrap_or(row);
        let is_cell = |node: usize| matches!(tree[node].role, Role::DataItem | Role::HeaderItem);
        let holds_piece = |node: usize| inner.iter().any(|line| (node..tree.end(node)).contains(&line.node));
        let is_blank =
            |&node: &usize| node < last && is_cell(node) && !tree[node].hidden && !holds_piece(node);
        pieces.extend(tree.children(row).filter(is_blank));
        pieces.sort_unstable();
        pieces
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
        // GTK puts an icon and a name into a cell as cells of their own.
        let mut end = 0;
        let is_of_row = |line: &&OutlineLine| {
            let is_in_cell = line.node < end && is_part_of_cell(tree, line.node);
            end = if is_beside(line) { tree.end(line.node) } else { end };
            is_in_cell || is_beside(line)
        };
        let count = lines.iter().take_while(is_of_row).count();
        let row = &lines[..count];
        let holds_more = lines.get(count).is_some_and(|next| next.node < end);
        if holds_more {
            self.lines.extend(row.iter().cloned());
            return count;
        }
        let holds_parts = |at: usize| row.get(at + 1).is_some_and(|next| next.node < tree.end(row[at].node));
        let is_blank = |at: usize| {
            let element = &tree[row[at].node];
            is_blank_cell(element) || (says_nothing(element) && (holds_parts(at) || !is_beside(&&row[at])))
        };
        let pieces: Vec<usize> = (0..count).filter(|&at| !is_blank(at)).map(|at| row[at].node).collect();
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
        let flags = self.row_flags(line);
        // What is said of the whole row is not said of each cell.
        let told: Vec<&str> = if line.is_loose { flags.clone() } else { Vec::new() };
        let mut cell = None;
        for &node in &line.pieces {
            let holder = self.cell_of(line, node);
            let gap = match cell {
                None => " ",
                Some(before) if before == holder => " ",
                Some(_) => " | ",
            };
            text.push_str(gap);
            write_piece(text, &tree[node], reference(node), style, &told);
            cell = Some(holder);
        }
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
            let mut above = std::iter::successors(Some(node), |&inner| self.tree.parent(inner));
            return above.find(|&inner| is_loose_cell(self.tree, inner)).unwrap_or(node);
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
        state_flags(&self.tree[line.node], true)
    }
}

const SELECTED: &str = "selected";

/// A cell in a table without rows.
fn is_loose_cell(tree: &Tree, node: usize) -> bool {
    let in_table =
        tree.parent(node).is_some_and(|parent| matches!(tree[parent].role, Role::Table | Role::Tree));
    tree[node].role == Role::DataItem && in_table && !tree[node].bounds.is_empty()
}

/// A text or a picture in such a cell.
fn is_part_of_cell(tree: &Tree, node: usize) -> bool {
    matches!(tree[node].role, Role::DataItem | Role::Text | Role::Image)
}

/// Says nothing, or only where it is: the name of a cell in a sheet is its address.
fn is_blank_cell(element: &Element) -> bool {
    let has_no_value = element.value.as_deref().is_none_or(|value| value.trim().is_empty());
    let is_unnamed = element.name.trim().is_empty() || (element.editable && element.value.is_some());
    let is_marked = element.focused || element.selected == Some(true) || element.expanded.is_some();
    has_no_value && is_unnamed && !is_marked && element.range.now.is_none()
}

/// A text or a cell by its words alone, anything else as on a line of its own.
fn write_piece(
    text: &mut String,
    element: &Element,
    reference: Option<Ref>,
    style: OutlineStyle,
    told: &[&str],
) {
    let is_words = matches!(element.role, Role::Text | Role::DataItem | Role::HeaderItem);
    if !is_words {
        write_element(text, element, reference, style);
        return;
    }
    let words = [reference.map(|it| it.to_string()), Some(bare_piece(&style.shorten_text(&element.name)))];
    let value = written_value(element).map(|value| format!("={}", bare_piece(&style.shorten_text(&value))));
    let flags = state_flags(element, style.focus).into_iter();
    let flags: Vec<&str> = flags.filter(|flag| *flag != "editable" && !told.contains(flag)).collect();
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

#[cfg(test)]
mod tests {
    use super::super::{OutlineOptions, outline_tree};
    use crate::model::{Element, Rect, TreeBuilder};

    /// A cell of GTK's list of files: an icon and a name, or a text.
    fn cell(name: &str, x: i32, y: i32) -> Element {
        Element { selected: Some(y == 0), ..Element::new("DataItem", name, Rect::new(x, y, 90, 20)) }
    }

    #[test]
    fn a_file_of_a_gtk_dialog_is_a_line() {
        let mut tree = TreeBuilder::new(Element::new("Window", "Open", Rect::new(0, 0, 400, 200)));
        tree.open(Element::new("Table", "Files", Rect::new(0, 0, 400, 100)));
        for (name, y) in [("a.txt", 0), ("b.txt", 20)] {
            tree.open(cell("", 0, y));
            tree.add_leaf(cell("", 0, y));
            tree.add_leaf(cell(name, 30, y));
            tree.close();
            tree.add_leaf(cell("0 bytes", 100, y));
            tree.open(cell("", 200, y));
            tree.add_leaf(cell("01:05", 200, y));
            tree.close();
        }
        tree.close();
        let outline = outline_tree(&tree.finish(), &OutlineOptions::default(), |_| Vec::new());
        let lines: Vec<&str> = outline.text.lines().map(str::trim).collect();
        assert_eq!(lines.len(), 3, "{}", outline.text);
        assert!(lines[1].starts_with("Row a.txt | 0 bytes | 01:05 {selected} @"), "{}", outline.text);
        assert!(lines[2].starts_with("Row b.txt | 0 bytes | 01:05 @"), "{}", outline.text);
    }

    /// A row of a page, of cells with these texts.
    fn check_row(cells: &[&str], expected: &str) {
        let mut tree = TreeBuilder::new(Element::new("Window", "Stock", Rect::new(0, 0, 400, 200)));
        tree.open(Element::new("Table", "Items", Rect::new(0, 0, 400, 100)));
        tree.open(Element::new("Row", "", Rect::new(0, 0, 400, 20)));
        for (at, text) in cells.iter().enumerate() {
            let place = Rect::new(100 * at as i32, 0, 100, 20);
            tree.add_leaf(Element {
                hidden: *text == "gone",
                ..Element::new("DataItem", text.replace("gone", ""), place)
            });
        }
        let outline = outline_tree(&tree.finish(), &OutlineOptions::default(), |_| Vec::new());
        let row = outline.text.lines().find_map(|line| line.trim().strip_prefix("Row")).unwrap_or_default();
        assert_eq!(row.split('@').next().unwrap_or_default().trim_end(), expected, "{}", outline.text);
    }

    #[test]
    fn an_empty_cell_keeps_its_column() {
        check_row(&["A", "", "2024-01-02", "n"], " A |  | 2024-01-02 | n");
        check_row(&["", "B"], "  | B");
        check_row(&["C", "2024-01-03", "", ""], " C | 2024-01-03");
        check_row(&["D", "gone", "x"], " D | x +1");
    }
}
