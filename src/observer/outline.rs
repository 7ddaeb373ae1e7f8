//! A tree as short text: one line for each element, `ref role "name" =value {flags} @x,y WxH`, indented.
//!
//! What is not needed is left out by rules that can be turned off one by one (docs/outline.md), and counted. A row of
//! a table is one line.
//! What can be acted on is always there, with its ref and its place. Made of the shown tree alone; foreign
//! texts are kept on their line.

mod alike;
mod fold;
mod rows;

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::identity::WindowCapture;
use super::text::{one_line, one_line_but_breaks, shorten_text};
use super::{Observer, Ref, ResolvedWindow, View};
use crate::error::Result;
use crate::model::visibility::ClipCover;
use crate::model::{Element, HiddenReason, Rect, Role, Tree, Window};
use crate::tokens::{self, Writing};

/// A rule of pruning that a caller switches off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Keep {
    /// Containers without a name of their own.
    Groups,
    /// Texts that say what the element around them says.
    Repeats,
    /// What is not to be seen now.
    Hidden,
    /// Scroll bars.
    Bars,
    /// Every line's whole place, also of what cannot be acted on.
    Bounds,
    /// Long names and values to their end.
    Texts,
    /// Shortcuts, descriptions and the limits of numbers.
    Details,
    /// Each cell of a table on a line of its own, with its place, also where it is empty.
    Cells,
}

/// What a caller wants to see of a tree.
#[derive(Clone, Debug, Default)]
pub struct OutlineOptions {
    /// Only the subtree of this element.
    pub scope: usize,
    /// Levels of the tree below the scope; all when there is none.
    pub depth: Option<usize>,
    pub keep: Vec<Keep>,
    /// Names and values are cut to this length, unless texts are kept.
    pub longest_text: Option<usize>,
    /// From the scope on, which elements a filter lets stay.
    pub only: Option<Vec<bool>>,
    /// Lines at most.
    pub most_lines: Option<usize>,
    /// Begin behind this element.
    pub after: Option<usize>,
    /// Begin so many characters into the text of the scope.
    pub text_from: usize,
    pub max_tokens: Option<usize>,
    pub fold: Fold,
    /// Where lines have to go, the focused element and the buttons stay.
    pub what_matters_first: bool,
    /// Many lines that went are a number.
    pub counts_gone: bool,
    /// Who has the focus is no news, and who lost it neither.
    pub ignores_focus: bool,
    /// Elements of which it is no news that they are otherwise, unless they are wrong now.
    pub untold: Vec<usize>,
}

/// Which long runs of lines become one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fold {
    #[default]
    Nothing,
    /// Items that say nothing.
    Unnamed,
    /// Those, and rows.
    Rows,
}

/// A written outline.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outline {
    pub text: String,
    /// Lines.
    pub shown: usize,
    /// Lines for which there was no room.
    pub left_out: usize,
    /// Elements in the scope, whether they are shown or not.
    pub elements: usize,
    pub dropped: DroppedCounts,
    /// The element of the last line, when lines are missing behind it.
    pub cut_after: Option<usize>,
    /// How many characters of the text of the scope were written, when more of it is missing.
    pub text_cut: Option<usize>,
}

/// How many elements each rule left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DroppedCounts {
    #[serde(skip_serializing_if = "crate::model::is_zero")]
    pub hidden: usize,
    #[serde(skip_serializing_if = "crate::model::is_zero")]
    pub groups: usize,
    #[serde(skip_serializing_if = "crate::model::is_zero")]
    pub repeats: usize,
    #[serde(skip_serializing_if = "crate::model::is_zero")]
    pub bars: usize,
    /// Empty cells of tables.
    #[serde(skip_serializing_if = "crate::model::is_zero")]
    pub cells: usize,
    /// Below the depth that was asked for.
    #[serde(skip_serializing_if = "crate::model::is_zero")]
    pub deeper: usize,
    /// By the caller's own filters.
    #[serde(skip_serializing_if = "crate::model::is_zero")]
    pub filtered: usize,
    /// Into a line that says how many.
    #[serde(skip_serializing_if = "crate::model::is_zero")]
    pub folded: usize,
}

const LONGEST_TEXT: usize = 60;
const LONGEST_TITLE: usize = 80;

/// Plain text has no role on its line: what begins with a quotation mark is one.
const PLAIN: Role = Role::Text;

/// Whether one can act on it: it gets a ref and a place.
pub fn is_actionable(element: &Element) -> bool {
    element.role != Role::ScrollBar
        && (element.role.is_actionable()
            || element.editable
            || element.selected.is_some()
            || element.expanded.is_some())
}

/// Whether each element of the scope is to be seen, or something in it is.
pub fn in_view(tree: &Tree, scope: usize) -> Vec<bool> {
    let count = tree.end(scope) - scope;
    let mut covers = vec![ClipCover::default(); count];
    let mut seen = vec![true; count];
    for node in scope + 1..tree.end(scope) {
        let Some(parent) = tree.parent(node) else { continue };
        let cover = covers[parent - scope].in_parent(&tree[parent], &tree[node]);
        covers[node - scope] = cover;
        seen[node - scope] = !tree[node].hidden && !cover.shut && !cover.is_clipped(tree[node].bounds);
    }
    // Backwards, so that an element knows of what is in it before its own turn comes.
    for node in (scope + 1..tree.end(scope)).rev() {
        if let (true, Some(parent)) = (seen[node - scope], tree.parent(node)) {
            seen[parent - scope] = true;
        }
    }
    seen
}

/// A line before it is written: refs are given only to what is shown.
#[derive(Clone, Debug)]
struct OutlineLine {
    node: usize,
    indent: usize,
    /// Elements below it that are not to be seen.
    unseen: usize,
    /// It is not to be seen itself.
    hidden: bool,
    /// Of a row, what is in it.
    pieces: Vec<usize>,
    /// It is a row of cells without an element of its own; `node` is the first of them.
    is_loose: bool,
    /// Lines of its kind that are only counted, and what they are called.
    folded: Option<(usize, &'static str)>,
}

impl OutlineLine {
    /// The elements that it tells of.
    fn nodes(&self) -> &[usize] {
        if self.pieces.is_empty() { std::slice::from_ref(&self.node) } else { &self.pieces }
    }
}

/// Which lines there are.
#[derive(Debug)]
struct OutlinePlan<'a> {
    tree: &'a Tree,
    options: &'a OutlineOptions,
    lines: Vec<OutlineLine>,
    dropped: DroppedCounts,
    /// Of each open ancestor that has a line: where it ends, and its line.
    open: Vec<(usize, usize)>,
    /// Lines that were cut off.
    left_out: usize,
    /// Elements that read like another one, and have more to tell.
    alike: HashSet<usize>,
}

impl<'a> OutlinePlan<'a> {
    fn of(tree: &'a Tree, options: &'a OutlineOptions) -> Self {
        let (lines, dropped, open) = (Vec::new(), DroppedCounts::default(), Vec::new());
        let mut plan =
            OutlinePlan { tree, options, lines, dropped, open, left_out: 0, alike: HashSet::new() };
        let mut seen = in_view(tree, options.scope);
        for node in options.scope + 1..tree.end(options.scope) {
            seen[node - options.scope] &= !alike::is_unplaced_option(tree, node);
        }
        let deepest = options.depth.map_or(usize::MAX, |depth| tree.depth(options.scope) + depth);
        for node in options.scope..tree.end(options.scope) {
            plan.open.retain(|(end, _)| node < *end);
            if tree.depth(node) > deepest {
                plan.dropped.deeper += 1;
            } else if !seen[node - options.scope] && !plan.keeps_kind(Keep::Hidden) {
                plan.dropped.hidden += 1;
                if let Some(&(_, line)) = plan.open.last() {
                    plan.lines[line].unseen += 1;
                }
            } else {
                plan.consider_node(node, &seen);
            }
        }
        if !plan.keeps_kind(Keep::Repeats) {
            plan.drop_labels();
        }
        if !plan.keeps_kind(Keep::Cells) {
            plan.fold_rows();
        }
        if !plan.keeps_kind(Keep::Groups) {
            plan.drop_empty_bars();
        }
        plan.fold_runs();
        plan.note_alike();
        plan
    }

    fn keeps_kind(&self, what: Keep) -> bool {
        self.options.keep.contains(&what)
    }

    fn consider_node(&mut self, node: usize, seen: &[bool]) {
        let scope = self.options.scope;
        if self.options.only.as_ref().is_some_and(|only| only.get(node - scope) != Some(&true)) {
            self.dropped.filtered += 1;
        } else if self.tree[node].role == Role::ScrollBar {
            if self.keeps_kind(Keep::Bars) { self.add_line(node, seen) } else { self.dropped.bars += 1 }
        } else if is_actionable(&self.tree[node]) {
            self.add_line(node, seen);
        } else if self.is_group(node, seen) && !self.keeps_kind(Keep::Groups) {
            self.dropped.groups += 1;
        } else if self.is_repeated(node, seen) && !self.keeps_kind(Keep::Repeats) {
            self.dropped.repeats += 1;
        } else {
            self.add_line(node, seen);
        }
    }

    fn add_line(&mut self, node: usize, seen: &[bool]) {
        let hidden = !seen[node - self.options.scope];
        let indent = self.open.len();
        let line = OutlineLine {
            node,
            indent,
            unseen: 0,
            hidden,
            pieces: Vec::new(),
            is_loose: false,
            folded: None,
        };
        self.open.push((self.tree.end(node), self.lines.len()));
        self.lines.push(line);
    }

    /// Says nothing itself: a window, whose title stands beside the outline, and what has neither a name nor a
    /// value. Landmarks count when something is in them.
    fn is_group(&self, node: usize, seen: &[bool]) -> bool {
        let element = &self.tree[node];
        let holds_something = |node| self.tree.children(node).any(|child| seen[child - self.options.scope]);
        let is_landmark =
            element.role.is_landmark() && (holds_something(node) || self.keeps_kind(Keep::Hidden));
        node == Tree::ROOT || (says_nothing(element) && !is_landmark) || self.is_decoration(node)
    }

    /// The arrow of a box, the picture on a button: their names are the toolkit's.
    fn is_decoration(&self, node: usize) -> bool {
        let around = self.open.last().map(|&(_, line)| &self.tree[self.lines[line].node]);
        self.tree[node].role.is_decoration()
            && self.tree.child_count(node) == 0
            && around.is_some_and(|around| {
                is_actionable(around) && around.role != Role::Document && !around.name.is_empty()
            })
    }

    fn is_repeated(&self, node: usize, seen: &[bool]) -> bool {
        self.repeats_parent(node) || self.repeats_children(node, seen)
    }

    /// A text that the element around it says already.
    fn repeats_parent(&self, node: usize) -> bool {
        let (tree, element) = (self.tree, &self.tree[node]);
        let Some(&(_, line)) = self.open.last() else {
            return false;
        };
        let around = &tree[self.lines[line].node];
        // GTK 4 names a button `7 7` whose label is `7`. What is cut off from a long name is not said.
        let is_whole = around.name.chars().count() <= OutlineStyle::of(self.options).longest;
        // The name of a page is its title, and a heading in it is no part of that.
        let is_label = is_actionable(around) && around.role != Role::Document;
        let within = |text: &str| is_whole && is_label && has_words(&around.name, text);
        let said = |text: &str| text == around.name || Some(text) == around.value.as_deref() || within(text);
        tree.child_count(node) == 0
            && said(&element.name)
            && element.value.as_deref().is_none_or(|value| value.is_empty() || said(value))
    }

    /// A container whose name is made of the names of what is in it.
    fn repeats_children(&self, node: usize, seen: &[bool]) -> bool {
        let (tree, element) = (self.tree, &self.tree[node]);
        if element.name.is_empty() || written_value(element).is_some() {
            return false;
        }
        let children = tree.children(node).filter(|child| seen[child - self.options.scope]);
        let names = children.flat_map(|child| tree[child].name.split_whitespace());
        names.eq(element.name.split_whitespace())
    }

    /// A label beside a field that is called so says nothing more.
    fn drop_labels(&mut self) {
        let says = |line: Option<&OutlineLine>, label: &str| {
            line.is_some_and(|line| {
                is_actionable(&self.tree[line.node]) && self.tree[line.node].name == label
            })
        };
        let is_label = |at: usize| {
            let (line, element) = (&self.lines[at], &self.tree[self.lines[at].node]);
            let is_plain =
                element.role == PLAIN && !is_actionable(element) && written_value(element).is_none();
            let label = element.name.trim().trim_end_matches([':', ' ']);
            let before = at.checked_sub(1).and_then(|before| self.lines.get(before));
            let after = self.lines.get(at + 1);
            let is_beside = |other: Option<&OutlineLine>| says(other, label) || says(other, &element.name);
            is_plain
                && line.unseen == 0
                && self.tree.child_count(line.node) == 0
                && (is_beside(before) || is_beside(after))
        };
        let labels: Vec<bool> = (0..self.lines.len()).map(is_label).collect();
        self.dropped.repeats += labels.iter().filter(|is_label| **is_label).count();
        let mut labels = labels.into_iter();
        self.lines.retain(|_| labels.next() != Some(true));
    }

    /// A bar of which nothing has a line says nothing.
    fn drop_empty_bars(&mut self) {
        let is_empty = |at: usize| {
            let (line, element) = (&self.lines[at], &self.tree[self.lines[at].node]);
            let is_bar = matches!(element.role, Role::MenuBar | Role::StatusBar | Role::ToolBar);
            let is_last = self.lines.get(at + 1).is_none_or(|next| next.indent <= line.indent);
            is_bar
                && is_last
                && !line.hidden
                && says_nothing(element)
                && state_flags(element, true).is_empty()
        };
        let empty: Vec<bool> = (0..self.lines.len()).map(is_empty).collect();
        self.dropped.groups += empty.iter().filter(|is_empty| **is_empty).count();
        let mut empty = empty.into_iter();
        self.lines.retain(|_| empty.next() != Some(true));
    }

    /// Keeps the lines of the page that was asked for, and says where it ends if lines are missing.
    fn cut_page(&mut self) -> Option<usize> {
        if let Some(after) = self.options.after {
            self.lines.retain(|line| line.node > after);
        }
        let most = self.options.most_lines.unwrap_or(usize::MAX);
        let room = self.options.max_tokens.map_or(usize::MAX, |most| tokens::bytes(Writing::Outline, most));
        let mut bytes = 0;
        let fits = |line: &&OutlineLine| {
            bytes += self.line_length(line);
            bytes <= room
        };
        // One line always fits, or a caller would never get on.
        let fitting = self.lines.iter().take(most).take_while(fits).count().max(1).min(self.lines.len());
        let all = self.lines.len();
        let cut = fitting < all;
        if cut && self.options.what_matters_first {
            self.keep_what_matters(room, most);
        } else {
            self.lines.truncate(fitting);
        }
        self.left_out = all - self.lines.len();
        self.lines.last().filter(|_| cut).map(|line| line.node)
    }

    /// About how long a line gets; its ref is not known yet.
    fn line_length(&self, line: &OutlineLine) -> usize {
        let refs = rows::acting_nodes(self.tree, line).count() * LENGTH_OF_A_REF;
        let mut text = String::new();
        self.write_line(line, &|_| None, &mut None, &mut text);
        text.len() + refs + 1
    }

    fn write(&self, refs: &HashMap<usize, Ref>, signs: &HashMap<usize, char>) -> String {
        let mut text = String::new();
        let mut last = None;
        for line in &self.lines {
            if let Some(sign) = signs.get(&line.node) {
                text.push_str(&format!("{sign} "));
            }
            self.write_line(line, &|node| refs.get(&node).copied(), &mut last, &mut text);
            text.push('\n');
            if let Some((count, what)) = line.folded {
                text.extend(std::iter::repeat_n(' ', line.indent));
                text.push_str(&format!("… {count} more {what}\n"));
            }
        }
        text.pop();
        text
    }

    fn write_line(
        &self,
        line: &OutlineLine,
        reference: &dyn Fn(usize) -> Option<Ref>,
        last: &mut Option<Rect>,
        text: &mut String,
    ) {
        text.extend(std::iter::repeat_n(' ', line.indent));
        let style = OutlineStyle::of(self.options);
        let place = self.write_words(line, reference, style, text);
        if line.hidden {
            text.push_str(" {hidden}");
        }
        // What is drawn is worked by its points.
        let is_canvas = self.tree[line.node].role == Role::Canvas;
        let is_placed = is_canvas || rows::acting_nodes(self.tree, line).next().is_some();
        if style.bounds || (is_placed && !self.is_whole_window(line.node)) {
            write_place(text, place, last, style.bounds);
        }
        if line.unseen > 0 {
            let advice = if self.is_scrolled(line.node) { SCROLL } else { "" };
            text.push_str(&format!(" +{}{advice}", line.unseen));
        }
    }

    /// Whether what is not seen of it is scrolled away: on a page, unless it is closed.
    fn is_scrolled(&self, node: usize) -> bool {
        let around = std::iter::successors(Some(node), |&at| self.tree.parent(at));
        let is_closed = self.tree[node].expanded == Some(false);
        !is_closed && around.into_iter().any(|at| self.tree[at].is_document)
    }

    /// A page that fills its window: where that is, its line says.
    fn is_whole_window(&self, node: usize) -> bool {
        self.tree[node].is_document
            && self.tree.parent(node) == Some(Tree::ROOT)
            && self.tree[node].bounds == self.tree[Tree::ROOT].bounds
    }

    /// The element as it is told: a page that has the title of its window is not called so again.
    fn told_element(&self, node: usize) -> Cow<'_, Element> {
        let element = &self.tree[node];
        let is_repeated = element.is_document
            && self.tree.parent(node) == Some(Tree::ROOT)
            && element.name == self.tree[Tree::ROOT].name;
        match is_repeated && !self.keeps_kind(Keep::Repeats) {
            true => Cow::Owned(Element { name: String::new(), ..element.clone() }),
            false => Cow::Borrowed(element),
        }
    }

    /// Everything but the place, which is returned.
    fn write_words(
        &self,
        line: &OutlineLine,
        reference: &dyn Fn(usize) -> Option<Ref>,
        style: OutlineStyle,
        text: &mut String,
    ) -> Rect {
        if line.pieces.is_empty() {
            let element = self.told_element(line.node);
            let style = OutlineStyle { about: self.alike.contains(&line.node), ..self.style_of(line, style) };
            write_element(text, &element, reference(line.node), style);
            return element.bounds;
        }
        self.write_row(line, reference, text)
    }

    /// The element that was asked for tells its text as far as there is room, from where it was asked for.
    fn style_of(&self, line: &OutlineLine, style: OutlineStyle) -> OutlineStyle {
        let is_asked_for = line.node == self.options.scope && line.node != Tree::ROOT;
        match self.options.max_tokens.filter(|_| is_asked_for) {
            Some(most) => {
                let room = tokens::bytes(Writing::Outline, most).saturating_sub(LENGTH_OF_A_LINE);
                let longest = room.max(style.longest);
                OutlineStyle { longest, value_from: self.options.text_from, ..style }
            }
            None => style,
        }
    }

    /// How much of the text of the scope is told when its line is written, if there is more.
    fn text_cut(&self) -> Option<usize> {
        let line =
            self.lines.first().filter(|line| line.node == self.options.scope && line.pieces.is_empty())?;
        let style = self.style_of(line, OutlineStyle::of(self.options));
        let value = written_value(&self.tree[line.node])?;
        let end = style.value_from.saturating_add(style.longest.saturating_sub(1));
        (style.longest != usize::MAX && value.chars().count() > end + 1 && line.node != Tree::ROOT)
            .then_some(end)
    }
}

/// How to come to what is counted.
const SCROLL: &str = " out of view (scroll)";

const LENGTH_OF_A_REF: usize = 5;
/// What stands around a long text.
const LENGTH_OF_A_LINE: usize = 120;
const LENGTH_OF_A_PLACE: usize = 24;

#[derive(Clone, Copy, Debug)]
struct OutlineStyle {
    longest: usize,
    /// Values are written from this character on.
    value_from: usize,
    bounds: bool,
    details: bool,
    /// What it is for, although it has a name.
    about: bool,
    focus: bool,
}

impl OutlineStyle {
    fn of(options: &OutlineOptions) -> Self {
        let keeps = |what| options.keep.contains(&what);
        let longest = options.longest_text.unwrap_or(LONGEST_TEXT);
        Self {
            longest: if keeps(Keep::Texts) { usize::MAX } else { longest },
            value_from: 0,
            bounds: keeps(Keep::Bounds),
            details: keeps(Keep::Details),
            about: false,
            focus: true,
        }
    }

    fn shorten_text(&self, text: &str) -> String {
        one_line(&self.cut_text(text))
    }

    fn cut_text(&self, text: &str) -> String {
        shorten_text(text, self.longest, self.longest.saturating_sub(1).max(1))
    }

    /// Where lines end in a text that one may write is a part of it.
    fn shorten_value(&self, value: &str) -> String {
        let cut = match value.char_indices().nth(self.value_from) {
            Some((start, _)) if start > 0 => {
                format!("…{}", self.cut_text(value.get(start..).unwrap_or_default()))
            }
            _ => self.cut_text(value),
        };
        one_line_but_breaks(&cut)
    }
}

fn says_nothing(element: &Element) -> bool {
    let blank = |text: &Option<String>| text.as_deref().is_none_or(|text| text.trim().is_empty());
    element.name.trim().is_empty()
        && blank(&element.value)
        && blank(&element.description)
        && element.range.now.is_none()
}

/// `e17 Button "Save" =on {focused}`: everything but the place.
fn write_element(text: &mut String, element: &Element, reference: Option<Ref>, style: OutlineStyle) {
    if let Some(reference) = reference {
        text.push_str(&format!("{reference} "));
    }
    let acts = is_actionable(element);
    let named = !element.name.is_empty() && (acts || !is_the_role(&element.name, element.role.name()));
    let plain = element.role == PLAIN && named && !acts;
    if !plain {
        text.push_str(&one_line(element.role.name()));
    }
    if named {
        let gap = if plain { "" } else { " " };
        text.push_str(&format!("{gap}{}", quote_text(&style.shorten_text(&element.name))));
    }
    if let Some(value) = written_value(element) {
        text.push_str(&format!(" ={}", bare_or_quoted(&style.shorten_value(&value))));
    }
    write_details(text, element, style);
    let flags = state_flags(element, style.focus);
    if !flags.is_empty() {
        text.push_str(&format!(" {{{}}}", flags.join(",")));
    }
}

/// The line of an element that stands by itself.
pub fn element_line(element: &Element, reference: Ref) -> String {
    let mut text = String::new();
    write_element(&mut text, element, Some(reference), OutlineStyle::of(&OutlineOptions::default()));
    if element.hidden {
        text.push_str(" {hidden}");
    }
    write_place(&mut text, element.bounds, &mut None, true);
    text
}

/// Whether a name says nothing to who reads it: there is none, or it is the glyph of an icon font.
fn is_unreadable(name: &str) -> bool {
    let is_private = |letter: char| matches!(letter, '\u{E000}'..='\u{F8FF}' | '\u{F0000}'..='\u{10FFFD}');
    name.chars().all(|letter| letter.is_whitespace() || is_private(letter))
}

/// A button without a name is known by what its tooltip says.
fn write_details(text: &mut String, element: &Element, style: OutlineStyle) {
    let known = |text: &Option<String>| text.clone().filter(|text| !text.trim().is_empty());
    if let Some(limits) = range_limits(element).filter(|_| style.details) {
        text.push_str(&format!(" in:{limits}"));
    }
    if let Some(shortcut) = known(&element.shortcut).filter(|_| style.details) {
        text.push_str(&format!(" key:{}", bare_or_quoted(&style.shorten_text(&shortcut))));
    }
    let wanted = style.details || style.about || is_unreadable(&element.name) || element.invalid;
    if let Some(description) = known(&element.description).filter(|_| wanted) {
        text.push_str(&format!(" about:{}", quote_text(&style.shorten_text(&description))));
    }
}

fn written_value(element: &Element) -> Option<String> {
    let number = |number: Option<f64>| number.filter(|number| number.is_finite());
    let news = |value: &&str| !value.is_empty() && (*value != element.name || is_actionable(element));
    let own = element.value.as_deref().filter(news);
    own.map(str::to_owned).or_else(|| number(element.range.now).map(|now| now.to_string()))
}

fn range_limits(element: &Element) -> Option<String> {
    let number = |number: Option<f64>| number.filter(|number| number.is_finite());
    let (min, max) = (number(element.range.min)?, number(element.range.max)?);
    Some(format!("{min}..{max}"))
}

fn state_flags(element: &Element, with_focus: bool) -> Vec<&'static str> {
    let implied = element.role.takes_text();
    [
        (element.focused && with_focus, "focused"),
        (!element.enabled, "disabled"),
        (element.invalid, "invalid"),
        (element.selected == Some(true), if element.role.is_ticked() { "checked" } else { "selected" }),
        (element.expanded == Some(true), "expanded"),
        (element.expanded == Some(false), "collapsed"),
        (element.editable && !implied, "editable"),
        (element.read_only, "readonly"),
        (element.is_secret(), "secret"),
    ]
    .into_iter()
    .filter_map(|(set, name)| set.then_some(name))
    .chain(element.unseen.filter(|unseen| unseen.is_odd()).map(HiddenReason::name))
    .collect()
}

/// What is left out is as on the line before: the row, the size, or both.
fn write_place(text: &mut String, bounds: Rect, last: &mut Option<Rect>, whole: bool) {
    if bounds.is_empty() {
        return;
    }
    let before = last.filter(|_| !whole);
    text.push_str(&format!(" @{}", bounds.x));
    if before.is_none_or(|before| before.y != bounds.y) {
        text.push_str(&format!(",{}", bounds.y));
    }
    if before.is_none_or(|before| (before.width, before.height) != (bounds.width, bounds.height)) {
        text.push_str(&format!(" {}x{}", bounds.width, bounds.height));
    }
    *last = Some(bounds);
}

/// A window as one line: uid, title, program, place, and whether it has the focus.
pub fn window_line(window: &Window) -> String {
    let process = one_line(&shorten_text(&window.process, LONGEST_TITLE, LONGEST_TITLE - 1));
    let mut line = format!("{} {}", window_name(window), bare_or_quoted(&process));
    write_place(&mut line, window.bounds, &mut None, true);
    for (is_so, flag) in [(window.focused, "focused"), (window.minimized, "minimized")] {
        if is_so {
            line.push_str(&format!(" {{{flag}}}"));
        }
    }
    line
}

/// `x11:3a "Save As"`
pub fn window_name(window: &Window) -> String {
    let title = one_line(&shorten_text(&window.title, LONGEST_TITLE, LONGEST_TITLE - 1));
    format!("{} {}", one_line(&window.uid), quote_text(&title))
}

/// Whether words stand one after the other in a name.
fn has_words(name: &str, words: &str) -> bool {
    let (name, words): (Vec<&str>, Vec<&str>) =
        (name.split_whitespace().collect(), words.split_whitespace().collect());
    !words.is_empty() && name.windows(words.len()).any(|part| part == words)
}

/// `Status Bar` says no more than `StatusBar`.
fn is_the_role(name: &str, role: &str) -> bool {
    let letters = |text: &str| -> String {
        text.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_lowercase).collect()
    };
    letters(name) == letters(role)
}

fn quote_text(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for character in text.chars() {
        match character {
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            '"' | '\\' => quoted.extend(['\\', character]),
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}

/// A value ends where its line, its flags or its place begin; one that could be misread is quoted.
fn bare_or_quoted(text: &str) -> String {
    let misleading = text.contains(['"', '\\', '{', '@', '+', '\n', '\t']) || text.trim() != text;
    if misleading { quote_text(text) } else { text.to_owned() }
}

impl Observer {
    /// The outline of a capture. What it shows is known by its refs from here on.
    pub fn outline_view(
        &self,
        chosen: &ResolvedWindow,
        view: &View,
        options: &OutlineOptions,
    ) -> Result<Outline> {
        self.remember_window(chosen);
        Ok(outline_tree(view.tree(), options, |nodes| {
            self.refs().assign_refs(WindowCapture { window: &chosen.raw, view }, nodes.iter().copied())
        }))
    }

    /// What is different in the outlines of two captures of a window: `+` came, `-` went, `~` is otherwise.
    /// That something only moved is no news.
    pub fn outline_changes(
        &self,
        chosen: &ResolvedWindow,
        (old, new): (&View, &View),
        options: &OutlineOptions,
    ) -> Result<OutlineChanges> {
        self.remember_window(chosen);
        let of = |view| WindowCapture { window: &chosen.raw, view };
        let (before, after) = (OutlinePlan::of(old.tree(), options), OutlinePlan::of(new.tree(), options));
        let (before, after) = (OutlineLines::of(&before, old), OutlineLines::of(&after, new));
        let room = options.max_tokens.map_or(usize::MAX, |most| tokens::bytes(Writing::Outline, most));
        let compared = ComparedLines::of(&before, &after);
        let mut changes = compared.counts(before.known.len());
        if changes.replaced && options.counts_gone {
            changes.push_words(REPLACED, &gone_words(changes.removed));
        }
        let kept = compared.kept_lines(&after, room, options.what_matters_first);
        for (at, line) in after.plan.lines.iter().enumerate() {
            let Some((sign, value_from)) = compared.signs[at] else { continue };
            let is_untold = options.untold.contains(&line.node) && !new.tree()[line.node].invalid;
            if sign == "~" && is_untold {
                continue;
            }
            if !kept[at] {
                changes.cut += 1;
                continue;
            }
            let acts = |node: usize| is_actionable(&new.tree()[node]);
            let reference = |node: usize| acts(node).then(|| self.refs().show_one(of(new), node));
            let is_placed = rows::acting_nodes(new.tree(), line).next().is_some();
            changes.push(sign, &after.line_writer(line, &reference, value_from, is_placed));
        }
        if !changes.replaced {
            compared.push_order(&mut changes, &after);
        }
        if options.counts_gone && changes.removed > MOST_GONE {
            if !changes.replaced {
                changes.push_words("-", &gone_words(changes.removed));
            }
            return Ok(changes);
        }
        // Last, because what is there matters more than what was.
        let was_ref = |node: usize| self.refs().existing_ref(of(old), node);
        compared.push_gone(&mut changes, &before, &was_ref, room);
        Ok(changes)
    }

    /// The whole outline once, with a sign before what is new or otherwise since an earlier capture, and in the
    /// changes what went.
    pub fn outline_since(
        &self,
        chosen: &ResolvedWindow,
        (old, new): (&View, &View),
        options: &OutlineOptions,
    ) -> Result<(Outline, OutlineChanges)> {
        self.remember_window(chosen);
        let sight = WindowCapture { window: &chosen.raw, view: new };
        let (before, after) = (OutlinePlan::of(old.tree(), options), OutlinePlan::of(new.tree(), options));
        let (before, after) = (OutlineLines::of(&before, old), OutlineLines::of(&after, new));
        let compared = ComparedLines::of(&before, &after);
        let mut changes = compared.counts(before.known.len());
        if changes.removed <= MOST_GONE {
            let was = WindowCapture { window: &chosen.raw, view: old };
            compared.push_gone(
                &mut changes,
                &before,
                &|node| self.refs().existing_ref(was, node),
                usize::MAX,
            );
        }
        let signs = if changes.replaced { HashMap::new() } else { compared.signs_of(&after) };
        let outline = write_outline(new.tree(), options, &signs, |nodes| {
            self.refs().assign_refs(sight, nodes.iter().copied())
        });
        Ok((outline, changes))
    }
}

/// More lines that went are counted.
const MOST_GONE: usize = 5;
const REPLACED: &str = "page replaced,";

fn gone_words(count: usize) -> String {
    format!("{count} elements gone")
}

/// How the lines of an outline differ from those of an earlier one.
struct ComparedLines {
    /// The lines now that were there before, and stand elsewhere among the others.
    moved: Vec<usize>,
    /// The lines now at whose place another one would stand if nothing had moved.
    displaced: Vec<usize>,
    /// Of each line now: that it came, or is otherwise, and where in a long value that begins.
    signs: Vec<Option<(&'static str, usize)>>,
    /// The lines of before that are not there now.
    gone: Vec<usize>,
}

impl ComparedLines {
    fn of(before: &OutlineLines, after: &OutlineLines) -> Self {
        let sign = |at: usize| match before.matching_line(after, at) {
            Some(partner) if before.known[partner].whole == after.known[at].whole => None,
            Some(partner) => Some(("~", before.value_start(partner, after, at))),
            None => Some(("+", 0)),
        };
        let is_gone = |at: &usize| after.matching_line(before, *at).is_none();
        // A list that reuses its elements for other rows has moved none of them.
        let same_name = |at: usize, partner: &usize| before.known[*partner].name == after.known[at].name;
        let partner = |at: usize| before.matching_line(after, at).filter(|partner| same_name(at, partner));
        let partners: Vec<Option<usize>> = (0..after.known.len()).map(partner).collect();
        Self {
            moved: out_of_order(&partners),
            displaced: displaced_lines(&partners),
            signs: (0..after.known.len()).map(sign).collect(),
            gone: (0..before.known.len()).filter(is_gone).collect(),
        }
    }

    /// Which of the lines that came or are otherwise there is room for: the first ones, or what matters before the rest.
    /// One line always fits.
    fn kept_lines(&self, after: &OutlineLines, room: usize, what_matters_first: bool) -> Vec<bool> {
        let lines = &after.plan.lines;
        let mut order: Vec<usize> = (0..lines.len()).filter(|&at| self.signs[at].is_some()).collect();
        if what_matters_first {
            order.sort_by_key(|&at| !after.plan.matters(&lines[at]));
        }
        let (mut bytes, mut kept) = (0, vec![false; lines.len()]);
        for (taken, at) in order.into_iter().enumerate() {
            let value_from = self.signs[at].map_or(0, |(_, from)| from);
            bytes += after.line_writer(&lines[at], &|_| None, value_from, false).length() + LENGTH_OF_A_PLACE;
            if taken > 0 && bytes > room {
                break;
            }
            kept[at] = true;
        }
        kept
    }

    fn counts(&self, before: usize) -> OutlineChanges {
        let count = |wanted: &str| self.signs.iter().flatten().filter(|(sign, _)| *sign == wanted).count();
        let removed = self.gone.len();
        OutlineChanges {
            added: count("+"),
            changed: count("~"),
            removed,
            moved: self.moved.len(),
            // Of a page that another took the place of, next to nothing stays.
            replaced: removed > MOST_GONE && removed * 4 >= before * 3,
            ..OutlineChanges::default()
        }
    }

    fn push_gone(
        &self,
        changes: &mut OutlineChanges,
        before: &OutlineLines,
        reference: &dyn Fn(usize) -> Option<Ref>,
        room: usize,
    ) {
        for line in self.gone.iter().map(|&at| &before.plan.lines[at]) {
            changes.push_within(room, "-", &before.line_writer(line, reference, 0, false));
        }
    }

    /// What stands now where lines were moved to, container by container.
    fn push_order(&self, changes: &mut OutlineChanges, after: &OutlineLines) {
        let (mut told_to, mut told) = (0, 0);
        for &moved in &self.moved {
            let (start, end) = container_of(&after.plan.lines, moved);
            let goes_along = start.checked_sub(1).is_some_and(|around| self.moved.contains(&around));
            if moved >= told_to && told < MOST_ORDERS && !goes_along {
                let displaced = self.displaced.iter().copied().find(|at| (start..end).contains(at));
                let first = displaced.unwrap_or(moved);
                changes.push_words("order:", &order_words(after, (first, moved), (start, end)));
                (told_to, told) = (end, told + 1);
            }
        }
    }

    fn signs_of(&self, after: &OutlineLines) -> HashMap<usize, char> {
        let signs = after.plan.lines.iter().zip(&self.signs);
        signs.filter_map(|(line, sign)| Some((line.node, sign.as_ref()?.0.chars().next()?))).collect()
    }
}

/// Lines that are told where the order of lines is another one, and how much of each.
const MOST_IN_ORDER: usize = 10;
const MOST_ORDERS: usize = 3;
const LONGEST_IN_ORDER: usize = 60;

/// From the first to behind the last line of what a line stands in.
fn container_of(lines: &[OutlineLine], at: usize) -> (usize, usize) {
    let indent = lines.get(at).map_or(0, |line| line.indent);
    let is_around = |line: &OutlineLine| line.indent < indent;
    let start = lines.iter().take(at).rposition(is_around).map_or(0, |at| at + 1);
    let end = lines.iter().skip(at).position(is_around).map_or(lines.len(), |more| at + more);
    (start, end)
}

/// The lines beside one that moved, as they stand now, and what they stand in where that has a name. Of a long list it
/// begins where the order is another one, or shortly before what moved; what stands before that is counted.
fn order_words(after: &OutlineLines, (first, moved): (usize, usize), (start, end): (usize, usize)) -> String {
    let lines = &after.plan.lines;
    let words = |at: usize| after.line_writer(&lines[at], &|_| None, 0, false).short_words();
    let indent = lines[moved].indent;
    let beside: Vec<usize> = (start..end).filter(|&at| lines[at].indent == indent).collect();
    let before = first_told(&beside, first, moved);
    let more = beside.len().saturating_sub(before + MOST_IN_ORDER);
    let told = beside.into_iter().skip(before).take(MOST_IN_ORDER).map(words);
    let counted = |count: usize| (count > 0).then(|| format!("… {count} more"));
    let told = counted(before).into_iter().chain(told).chain(counted(more)).collect::<Vec<_>>().join(", ");
    let around = start.checked_sub(1).filter(|&at| is_named_group(after.plan.tree, &lines[at]));
    around.map_or(told.clone(), |at| format!("in {}: {told}", words(at)))
}

/// How many lines of a list are only counted before those that are told.
fn first_told(beside: &[usize], first: usize, moved: usize) -> usize {
    if beside.len() <= MOST_IN_ORDER {
        return 0;
    }
    let place = |wanted: usize| beside.iter().position(|&at| at >= wanted).unwrap_or(0);
    let is_near = place(moved) - place(first).min(place(moved)) < MOST_IN_ORDER - 1;
    place(if is_near { first.min(moved) } else { moved }).saturating_sub(1)
}

fn is_named_group(tree: &Tree, line: &OutlineLine) -> bool {
    let element = &tree[line.node];
    line.pieces.is_empty() && !element.is_document && !element.name.is_empty()
}

/// Each line that has a partner, with it.
fn known_partners(partners: &[Option<usize>]) -> Vec<(usize, usize)> {
    partners.iter().enumerate().filter_map(|(at, partner)| Some((at, (*partner)?))).collect()
}

fn displaced_lines(partners: &[Option<usize>]) -> Vec<usize> {
    let known = known_partners(partners);
    let mut in_order: Vec<usize> = known.iter().map(|&(_, partner)| partner).collect();
    in_order.sort_unstable();
    let displaced = known.iter().zip(in_order).filter(|((_, partner), wanted)| partner != wanted);
    displaced.map(|((at, _), _)| *at).collect()
}

/// The fewest lines that would have to be put elsewhere for all to come in the order of their partners: those that are
/// not in the longest run of rising partners.
fn out_of_order(partners: &[Option<usize>]) -> Vec<usize> {
    let known = known_partners(partners);
    // For each length of a run, the place in `known` where the one with the lowest end ends.
    let mut ends: Vec<usize> = Vec::new();
    let mut earlier: Vec<Option<usize>> = vec![None; known.len()];
    for (place, &(_, partner)) in known.iter().enumerate() {
        let length = ends.partition_point(|&end| known[end].1 < partner);
        earlier[place] = length.checked_sub(1).map(|shorter| ends[shorter]);
        match ends.get_mut(length) {
            Some(end) => *end = place,
            None => ends.push(place),
        }
    }
    let longest = std::iter::successors(ends.last().copied(), |&place| earlier[place]);
    let stays: HashSet<usize> = longest.collect();
    let moved = (0..known.len()).filter(|place| !stays.contains(place));
    moved.map(|place| known[place].0).collect()
}

/// Changed lines between two looks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OutlineChanges {
    pub text: String,
    pub added: usize,
    pub removed: usize,
    pub changed: usize,
    /// Lines that were left out because there was no room for them.
    pub cut: usize,
    /// Next to nothing of before is there.
    pub replaced: bool,
    /// Lines that are there as before, and stand elsewhere among the others.
    pub moved: usize,
}

impl OutlineChanges {
    pub fn is_empty(&self) -> bool {
        self.added + self.removed + self.changed + self.moved == 0
    }

    /// The line, unless there is no room for it.
    fn push_within(&mut self, room: usize, sign: &str, line: &ChangedLine) {
        let length = line.length() + LENGTH_OF_A_PLACE;
        if self.cut > 0 || (!self.text.is_empty() && self.text.len() + length > room) {
            self.cut += 1;
        } else {
            self.push(sign, line);
        }
    }

    fn push(&mut self, sign: &str, line: &ChangedLine) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.text.push_str(sign);
        self.text.push(' ');
        line.write(&mut self.text);
    }

    /// A line of words instead of elements.
    fn push_words(&mut self, sign: &str, words: &str) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.text.push_str(&format!("{sign} {words}"));
    }
}

/// A line that is different, before it is written.
struct ChangedLine<'a> {
    plan: &'a OutlinePlan<'a>,
    line: &'a OutlineLine,
    reference: &'a dyn Fn(usize) -> Option<Ref>,
    style: OutlineStyle,
    is_placed: bool,
}

impl ChangedLine<'_> {
    fn short_words(&self) -> String {
        let mut text = String::new();
        self.plan.write_words(self.line, &|_| None, self.style, &mut text);
        shorten_text(&text, LONGEST_IN_ORDER, LONGEST_IN_ORDER - 1)
    }

    fn length(&self) -> usize {
        let mut text = String::new();
        self.plan.write_words(self.line, &|_| None, self.style, &mut text);
        text.len()
    }

    fn write(&self, text: &mut String) {
        let place = self.plan.write_words(self.line, self.reference, self.style, text);
        if self.is_placed {
            write_place(text, place, &mut None, true);
        }
    }
}

/// The lines of an outline, each with what its element is known by.
struct OutlineLines<'a> {
    plan: &'a OutlinePlan<'a>,
    known: Vec<KnownLine>,
    by_native: HashMap<String, usize>,
    by_path: HashMap<(u64, u32), usize>,
}

struct KnownLine {
    /// Of all that it says, however little of a long text is shown.
    whole: u64,
    /// Of what it is and is called, without its value and state.
    name: u64,
    native: Option<String>,
    /// The signature, and how many lines before have the same.
    path: (u64, u32),
}

impl<'a> OutlineLines<'a> {
    fn of(plan: &'a OutlinePlan<'a>, view: &View) -> Self {
        let mut told = Self { plan, known: Vec::new(), by_native: HashMap::new(), by_path: HashMap::new() };
        let mut counts: HashMap<u64, u32> = HashMap::new();
        for line in &plan.lines {
            let (native, path) = view.marks().known_by(view.raw(), line.node);
            let count = counts.entry(path).or_default();
            let at = told.known.len();
            told.by_native.extend(native.map(|native| (native.to_owned(), at)));
            told.by_path.insert((path, *count), at);
            let native = native.map(str::to_owned);
            let (whole, name) = (plan.hash_line(line), plan.hash_name(line));
            told.known.push(KnownLine { whole, name, native, path: (path, *count) });
            *count += 1;
        }
        told
    }

    /// The line here of the element that the other has at `at`: by its object, else by its signature, if that is not of an
    /// object that the other has as well.
    fn matching_line(&self, other: &OutlineLines, at: usize) -> Option<usize> {
        let line = &other.known[at];
        let same_object = line.native.as_ref().and_then(|native| self.by_native.get(native));
        let is_elsewhere = |found: &&usize| {
            self.known[**found].native.as_ref().is_some_and(|it| other.by_native.contains_key(it))
        };
        same_object.or_else(|| self.by_path.get(&line.path).filter(|found| !is_elsewhere(found))).copied()
    }

    /// Where to begin in a long value, so that what is different in it is told.
    fn value_start(&self, at: usize, other: &OutlineLines, its: usize) -> usize {
        let value = |plan: &OutlinePlan, at: usize| {
            let line = &plan.lines[at];
            line.pieces.is_empty().then(|| written_value(&plan.tree[line.node])).flatten().unwrap_or_default()
        };
        let (old, new) = (value(self.plan, at), value(other.plan, its));
        let same = old.chars().zip(new.chars()).take_while(|(old, new)| old == new).count();
        let longest = OutlineStyle::of(self.plan.options).longest;
        if same < longest.saturating_sub(1) { 0 } else { same.saturating_sub(SAME_BEFORE_NEW) }
    }

    fn line_writer(
        &self,
        line: &'a OutlineLine,
        reference: &'a dyn Fn(usize) -> Option<Ref>,
        value_from: usize,
        is_placed: bool,
    ) -> ChangedLine<'a> {
        let style = OutlineStyle { value_from, ..OutlineStyle::of(self.plan.options) };
        ChangedLine { plan: self.plan, line, reference, style, is_placed }
    }
}

/// How much of what was there before is told before a change within a long text.
const SAME_BEFORE_NEW: usize = 20;

impl OutlinePlan<'_> {
    fn hash_name(&self, line: &OutlineLine) -> u64 {
        let mut hasher = DefaultHasher::new();
        for &node in line.nodes() {
            (self.tree[node].role.name(), &self.tree[node].name).hash(&mut hasher);
        }
        hasher.finish()
    }

    fn hash_line(&self, line: &OutlineLine) -> u64 {
        let nodes = line.nodes();
        let mut hasher = DefaultHasher::new();
        let focus = !self.options.ignores_focus;
        let style = OutlineStyle { longest: usize::MAX, focus, ..OutlineStyle::of(self.options) };
        let mut text = String::new();
        for &node in nodes {
            text.clear();
            write_element(&mut text, &self.told_element(node), None, style);
            text.hash(&mut hasher);
        }
        if !line.pieces.is_empty() {
            state_flags(&self.tree[line.node], focus).hash(&mut hasher);
        }
        hasher.finish()
    }
}

/// The lines before and after that of an element, or of where it would stand, without refs and places.
pub fn neighbor_lines(tree: &Tree, options: &OutlineOptions, node: usize) -> [Option<String>; 2] {
    let plan = OutlinePlan::of(tree, options);
    let before = plan.lines.iter().rfind(|line| line.node < node);
    let after = plan.lines.iter().find(|line| line.node > node);
    [before, after].map(|line| {
        let mut text = String::new();
        plan.write_words(line?, &|_| None, OutlineStyle::of(options), &mut text);
        Some(text)
    })
}

/// The outline of a tree; `refs` names the elements that can be acted on.
pub fn outline_tree(
    tree: &Tree,
    options: &OutlineOptions,
    refs: impl FnOnce(&[usize]) -> Vec<Ref>,
) -> Outline {
    write_outline(tree, options, &HashMap::new(), refs)
}

/// The same, with a sign before some of its lines.
fn write_outline(
    tree: &Tree,
    options: &OutlineOptions,
    signs: &HashMap<usize, char>,
    refs: impl FnOnce(&[usize]) -> Vec<Ref>,
) -> Outline {
    let mut plan = OutlinePlan::of(tree, options);
    let cut_after = plan.cut_page();
    let left_out = plan.left_out;
    let text_cut = plan.text_cut();
    let nodes: Vec<usize> = plan.lines.iter().flat_map(|line| rows::acting_nodes(tree, line)).collect();
    let refs: HashMap<usize, Ref> = nodes.iter().copied().zip(refs(&nodes)).collect();
    Outline {
        text: plan.write(&refs, signs),
        shown: plan.lines.len(),
        left_out,
        elements: tree.end(options.scope) - options.scope,
        dropped: plan.dropped,
        cut_after,
        text_cut,
    }
}

#[cfg(test)]
mod order_tests {
    use super::out_of_order;

    #[track_caller]
    fn check(partners: &[i64], expected: &[usize]) {
        let partners: Vec<Option<usize>> = partners.iter().map(|&at| usize::try_from(at).ok()).collect();
        assert_eq!(out_of_order(&partners), expected);
    }

    #[test]
    fn lines_that_stand_elsewhere_are_told() {
        check(&[], &[]);
        check(&[0, 1, 2, 3], &[]);
        check(&[-1, 0, -1, 1], &[]);
        check(&[0, 3, 1, 2, 4], &[1]);
        check(&[1, 2, 3, 0], &[3]);
        check(&[2, -1, 1, 0], &[0, 2]);
        check(&[1, 0, 3, 2], &[0, 2]);
    }
}
