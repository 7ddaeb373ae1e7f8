//! Lines that give way to others: long runs of rows and of items without a name become a number, and where there is
//! little room, the focused element and the buttons stay before the rest.

use super::{Fold, OutlineLine, OutlinePlan, is_actionable, says_nothing};
use crate::model::Role;

const ROWS_SHOWN: usize = 8;
const UNNAMED_SHOWN: usize = 1;
/// Fewer are shown as they are.
const LEAST_FOLDED: usize = 3;

impl OutlinePlan<'_> {
    pub(super) fn fold_runs(&mut self) {
        if self.options.fold == Fold::Nothing {
            return;
        }
        self.fold_disabled_fields();
        let count = self.lines.len();
        let (mut in_run, mut is_gone) = (vec![false; count], vec![false; count]);
        for at in 0..count {
            if in_run[at] || is_gone[at] {
                continue;
            }
            let run = self.run_from(at);
            run.iter().for_each(|&line| in_run[line] = true);
            let Some((shown, what)) = self.fold_of(&run) else { continue };
            let folded: Vec<usize> =
                run[shown..].iter().copied().filter(|&line| !self.stands_out(line)).collect();
            for &line in &folded {
                is_gone[line..self.end_of(line)].fill(true);
            }
            self.dropped.folded += folded.len();
            self.lines[run[shown - 1]].folded = Some((folded.len(), what));
        }
        let mut is_gone = is_gone.into_iter();
        self.lines.retain(|_| is_gone.next() != Some(true));
    }

    /// The buttons in a field that is disabled are disabled with it, and are counted on its line.
    fn fold_disabled_fields(&mut self) {
        let mut is_gone = vec![false; self.lines.len()];
        for at in 0..self.lines.len() {
            let inside = at + 1..self.end_of(at);
            let is_disabled = |line: &usize| !self.tree[self.lines[*line].node].enabled;
            if is_gone[at] || !self.is_field(at) || !(at..inside.end).all(|line| is_disabled(&line)) {
                continue;
            }
            self.lines[at].unseen += inside.len();
            self.dropped.folded += inside.len();
            is_gone[inside].fill(true);
        }
        let mut is_gone = is_gone.into_iter();
        self.lines.retain(|_| is_gone.next() != Some(true));
    }

    fn is_field(&self, line: usize) -> bool {
        let element = &self.tree[self.lines[line].node];
        element.editable || element.role.takes_text()
    }

    /// The lines of one kind that follow each other beside the first.
    fn run_from(&self, first: usize) -> Vec<usize> {
        let mut run = vec![first];
        let mut next = self.end_of(first);
        while next < self.lines.len() && self.is_alike(first, next) {
            run.push(next);
            next = self.end_of(next);
        }
        run
    }

    /// Behind the lines that are in this one.
    fn end_of(&self, line: usize) -> usize {
        let below = |other: &OutlineLine| other.indent > self.lines[line].indent;
        line + 1 + self.lines[line + 1..].iter().take_while(|other| below(other)).count()
    }

    fn is_alike(&self, one: usize, other: usize) -> bool {
        let role = |line: usize| &self.tree[self.lines[line].node].role;
        self.lines[one].indent == self.lines[other].indent
            && role(one) == role(other)
            && self.is_unnamed(one) == self.is_unnamed(other)
    }

    fn is_unnamed(&self, line: usize) -> bool {
        let element = &self.tree[self.lines[line].node];
        self.lines[line].pieces.is_empty()
            && is_actionable(element)
            && says_nothing(element)
            && self.end_of(line) == line + 1
    }

    /// How many of a run stay, and what the others are called.
    fn fold_of(&self, run: &[usize]) -> Option<(usize, &'static str)> {
        let &first = run.first()?;
        let role = &self.tree[self.lines[first].node].role;
        let is_row = matches!(role, Role::DataItem | Role::ListItem | Role::Row | Role::TreeItem);
        let (shown, what) = match (self.is_unnamed(first), self.options.fold) {
            (true, _) => (UNNAMED_SHOWN, "unnamed items"),
            (false, Fold::Rows) if is_row => (ROWS_SHOWN, "rows"),
            _ => return None,
        };
        (run.len() >= shown + LEAST_FOLDED).then_some((shown, what))
    }

    fn stands_out(&self, line: usize) -> bool {
        let stands_out = |node: usize| self.tree[node].focused || self.tree[node].selected == Some(true);
        let line = &self.lines[line];
        stands_out(line.node) || line.pieces.iter().any(|&node| stands_out(node))
    }

    /// What has the focus, and what can be pressed.
    pub(super) fn matters(&self, line: &OutlineLine) -> bool {
        let element = &self.tree[line.node];
        element.focused || (element.role == Role::Button && element.enabled)
    }

    /// As many lines as fit: what matters first, and each in its place.
    pub(super) fn keep_what_matters(&mut self, room: usize, most: usize) {
        let mut order: Vec<usize> = (0..self.lines.len()).collect();
        order.sort_by_key(|&line| !self.matters(&self.lines[line]));
        let (mut bytes, mut kept) = (0, vec![false; self.lines.len()]);
        for (taken, &line) in order.iter().enumerate() {
            bytes += self.line_length(&self.lines[line]);
            if taken > 0 && (bytes > room || taken >= most) {
                break;
            }
            kept[line] = true;
        }
        let mut kept = kept.into_iter();
        self.lines.retain(|_| kept.next() == Some(true));
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Fold, OutlineOptions, outline_tree};
    use crate::model::{Element, Rect, Tree, TreeBuilder};

    fn element(role: &'static str, name: &str) -> Element {
        Element::new(role, name, Rect::new(0, 0, 10, 10))
    }

    /// A dialog: some of a kind, and two buttons behind them.
    fn dialog(role: &'static str, names: impl Iterator<Item = String>) -> Tree {
        let mut tree = TreeBuilder::new(element("Window", "Save As"));
        tree.open(element("List", "Files"));
        for name in names {
            tree.add_leaf(element(role, &name));
        }
        tree.close();
        tree.add_leaf(element("Button", "Save"));
        tree.add_leaf(element("Button", "Cancel"));
        tree.finish()
    }

    fn rows(count: usize) -> Tree {
        dialog("ListItem", (0..count).map(|number| format!("file {number}")))
    }

    #[track_caller]
    fn check(tree: &Tree, options: OutlineOptions, has: &[&str], lacks: &[&str]) {
        let text = outline_tree(tree, &options, |_| Vec::new()).text;
        has.iter().for_each(|words| assert!(text.contains(words), "no {words} in {text}"));
        lacks.iter().for_each(|words| assert!(!text.contains(words), "{words} in {text}"));
    }

    fn folding(fold: Fold) -> OutlineOptions {
        OutlineOptions { fold, ..OutlineOptions::default() }
    }

    #[test]
    fn long_runs_of_rows_are_counted() {
        check(&rows(69), folding(Fold::Rows), &["file 7", "… 61 more rows", "Cancel"], &["file 8"]);
        check(&rows(10), folding(Fold::Rows), &["file 9"], &["more rows"]);
        check(&rows(69), folding(Fold::Unnamed), &["file 68"], &["more"]);
        check(&rows(69), folding(Fold::Nothing), &["file 68"], &["more"]);
    }

    #[test]
    fn items_without_a_name_are_counted() {
        let unnamed = dialog("DataItem", (0..64).map(|_| String::new()));
        let unnamed = unnamed.map_elements(|element| element.selected = Some(false));
        check(&unnamed, folding(Fold::Unnamed), &["… 63 more unnamed items"], &[]);
    }

    #[test]
    fn buttons_in_a_disabled_field_are_counted_on_its_line() {
        let field = |disabled: &[&str]| {
            let mut tree = TreeBuilder::new(element("Window", "Vault"));
            tree.open(element("Edit", "Search"));
            tree.add_leaf(element("Button", "Clear"));
            tree.add_leaf(element("Button", "Help"));
            tree.close();
            tree.add_leaf(element("Button", "Save"));
            tree.finish().map_elements(|element| element.enabled = !disabled.contains(&&*element.name))
        };
        let all = ["Search", "Clear", "Help"];
        let line = "Edit \"Search\" {disabled} @0,0 10x10 +2";
        check(&field(&all), folding(Fold::Unnamed), &[line, "Save"], &["Clear", "Help"]);
        check(&field(&all), folding(Fold::Nothing), &["Clear", "Help"], &[]);
        check(&field(&all[..2]), folding(Fold::Unnamed), &["Clear", "Help"], &[]);
        check(&field(&all[1..]), folding(Fold::Unnamed), &["Clear", "Help"], &[]);
    }

    #[test]
    fn a_bar_of_which_nothing_has_a_line_has_none() {
        let bar = |inside: Element| {
            let mut tree = TreeBuilder::new(element("Window", "Vault"));
            tree.open(element("StatusBar", ""));
            tree.add_leaf(inside);
            tree.close();
            tree.add_leaf(element("Button", "Save"));
            tree.finish()
        };
        let plain = OutlineOptions::default;
        check(&bar(element("Group", "")), plain(), &["Save"], &["StatusBar"]);
        check(&bar(element("Text", "ready")), plain(), &["StatusBar", "ready"], &[]);
        let keep = vec![super::super::Keep::Groups];
        check(&bar(element("Group", "")), OutlineOptions { keep, ..plain() }, &["StatusBar"], &[]);
    }

    #[test]
    fn what_is_selected_stays() {
        let tree = rows(69).map_elements(|element| element.selected = Some(element.name == "file 40"));
        check(&tree, folding(Fold::Rows), &["file 40", "… 60 more rows"], &["file 41"]);
    }

    #[test]
    fn buttons_stay_where_there_is_little_room() {
        let options = OutlineOptions { max_tokens: Some(40), ..OutlineOptions::default() };
        check(&rows(69), options.clone(), &["file 0"], &["Save\"", "Cancel"]);
        let options = OutlineOptions { what_matters_first: true, ..options };
        check(&rows(69), options, &["Save\"", "Cancel"], &["file 60"]);
    }
}
