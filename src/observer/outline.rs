//! A tree as lean text: one line an element, `ref role "name" =value {flags} @x,y WxH`, indented.
//!
//! What nobody needs is left out by rules that can be switched off one by one (docs/outline.md), and counted.
//! What can be acted on is always there, with its ref and its place. Made of the shown tree alone; foreign
//! texts are kept on their line.

mod fold;

use std::collections::HashMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::identity::WindowCapture;
use super::text::{one_line, shorten_text};
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
    pub max_tokens: Option<usize>,
    pub fold: Fold,
    /// Where lines have to go, the focused element and the buttons stay.
    pub what_matters_first: bool,
    /// Many lines that went are a number.
    pub counts_gone: bool,
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
    /// Elements in the scope, whether they are shown or not.
    pub elements: usize,
    pub dropped: DroppedCounts,
    /// The element of the last line, when lines are missing behind it.
    pub cut_after: Option<usize>,
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
#[derive(Debug)]
struct OutlineLine {
    node: usize,
    indent: usize,
    /// Elements below it that are not to be seen.
    unseen: usize,
    /// It is not to be seen itself.
    hidden: bool,
    /// Lines of its kind that are only counted, and what they are called.
    folded: Option<(usize, &'static str)>,
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
}

impl<'a> OutlinePlan<'a> {
    fn of(tree: &'a Tree, options: &'a OutlineOptions) -> Self {
        let (lines, dropped, open) = (Vec::new(), DroppedCounts::default(), Vec::new());
        let mut plan = OutlinePlan { tree, options, lines, dropped, open };
        let seen = in_view(tree, options.scope);
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
        plan.fold_runs();
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
        } else if self.is_group(node) && !self.keeps_kind(Keep::Groups) {
            self.dropped.groups += 1;
        } else if self.is_repeated(node, seen) && !self.keeps_kind(Keep::Repeats) {
            self.dropped.repeats += 1;
        } else {
            self.add_line(node, seen);
        }
    }

    fn add_line(&mut self, node: usize, seen: &[bool]) {
        let hidden = !seen[node - self.options.scope];
        let line = OutlineLine { node, indent: self.open.len(), unseen: 0, hidden, folded: None };
        self.open.push((self.tree.end(node), self.lines.len()));
        self.lines.push(line);
    }

    /// Says nothing itself: a window, whose title stands beside the outline, and what has neither a name nor a
    /// value. Landmarks count when something is in them.
    fn is_group(&self, node: usize) -> bool {
        let element = &self.tree[node];
        let is_landmark = element.role.is_landmark() && self.tree.child_count(node) > 0;
        node == Tree::ROOT || (says_nothing(element) && !is_landmark) || self.is_decoration(node)
    }

    /// The arrow of a box, the picture on a button: their names are the toolkit's.
    fn is_decoration(&self, node: usize) -> bool {
        let around = self.open.last().map(|&(_, line)| &self.tree[self.lines[line].node]);
        self.tree[node].role.is_decoration()
            && self.tree.child_count(node) == 0
            && around.is_some_and(|around| is_actionable(around) && !around.name.is_empty())
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
        let within = |text: &str| is_whole && is_actionable(around) && has_words(&around.name, text);
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
        let cut = fitting < self.lines.len();
        if cut && self.options.what_matters_first {
            self.keep_what_matters(room, most);
        } else {
            self.lines.truncate(fitting);
        }
        self.lines.last().filter(|_| cut).map(|line| line.node)
    }

    /// About how long a line gets; its ref is not known yet.
    fn line_length(&self, line: &OutlineLine) -> usize {
        let refs = if is_actionable(&self.tree[line.node]) { LENGTH_OF_A_REF } else { 0 };
        let mut text = String::new();
        self.write_line(line, None, &mut None, &mut text);
        text.len() + refs + 1
    }

    fn write(&self, refs: &[Option<Ref>], signs: &HashMap<usize, char>) -> String {
        let mut text = String::new();
        let mut last = None;
        for (line, reference) in self.lines.iter().zip(refs) {
            if let Some(sign) = signs.get(&line.node) {
                text.push_str(&format!("{sign} "));
            }
            self.write_line(line, *reference, &mut last, &mut text);
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
        reference: Option<Ref>,
        last: &mut Option<Rect>,
        text: &mut String,
    ) {
        let element = &self.tree[line.node];
        let style = OutlineStyle::of(self.options);
        text.extend(std::iter::repeat_n(' ', line.indent));
        write_element(text, element, reference, style);
        if line.hidden {
            text.push_str(" {hidden}");
        }
        if is_actionable(element) || style.bounds {
            write_place(text, element.bounds, last, style.bounds);
        }
        if line.unseen > 0 {
            text.push_str(&format!(" +{}", line.unseen));
        }
    }
}

const LENGTH_OF_A_REF: usize = 5;
const LENGTH_OF_A_PLACE: usize = 24;

#[derive(Clone, Copy, Debug)]
struct OutlineStyle {
    longest: usize,
    bounds: bool,
    details: bool,
}

impl OutlineStyle {
    fn of(options: &OutlineOptions) -> Self {
        let keeps = |what| options.keep.contains(&what);
        let longest = options.longest_text.unwrap_or(LONGEST_TEXT);
        Self {
            longest: if keeps(Keep::Texts) { usize::MAX } else { longest },
            bounds: keeps(Keep::Bounds),
            details: keeps(Keep::Details),
        }
    }

    fn shorten_text(&self, text: &str) -> String {
        one_line(&shorten_text(text, self.longest, self.longest.saturating_sub(1).max(1)))
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
        text.push_str(&format!(" ={}", bare_or_quoted(&style.shorten_text(&value))));
    }
    write_details(text, element, style);
    let flags = state_flags(element);
    if !flags.is_empty() {
        text.push_str(&format!(" {{{}}}", flags.join(",")));
    }
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
    let wanted = style.details || element.name.is_empty();
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

fn state_flags(element: &Element) -> Vec<&'static str> {
    let implied = element.role.takes_text();
    [
        (element.focused, "focused"),
        (!element.enabled, "disabled"),
        (element.selected == Some(true), "selected"),
        (element.expanded == Some(true), "expanded"),
        (element.expanded == Some(false), "collapsed"),
        (element.editable && !implied, "editable"),
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
        if matches!(character, '"' | '\\') {
            quoted.push('\\');
        }
        quoted.push(character);
    }
    quoted.push('"');
    quoted
}

/// A value ends where its line, its flags or its place begin; one that could be misread is quoted.
fn bare_or_quoted(text: &str) -> String {
    let misleading = text.contains(['"', '\\', '{', '@', '+']) || text.trim() != text;
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
        let mut changes = compared.counts(before.lines.len());
        if changes.replaced && options.counts_gone {
            changes.push(REPLACED, || None, &gone_words(changes.removed), None, room);
        }
        for (line, sign) in after.lines.iter().zip(&compared.signs) {
            let Some(sign) = sign else { continue };
            let element = &new.tree()[line.node];
            let acts = is_actionable(element);
            let reference = || acts.then(|| self.refs().show_one(of(new), line.node));
            changes.push(sign, reference, &line.text, acts.then_some(element.bounds), room);
        }
        if options.counts_gone && changes.removed > MOST_GONE {
            if !changes.replaced {
                changes.push("-", || None, &gone_words(changes.removed), None, room);
            }
            return Ok(changes);
        }
        // Last, because what is there matters more than what was.
        for line in compared.gone.iter().map(|&at| &before.lines[at]) {
            let reference = || self.refs().existing_ref(of(old), line.node);
            changes.push("-", reference, &line.text, None, room);
        }
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
        let mut changes = compared.counts(before.lines.len());
        if changes.removed <= MOST_GONE {
            for line in compared.gone.iter().map(|&at| &before.lines[at]) {
                let was = WindowCapture { window: &chosen.raw, view: old };
                changes.push("-", || self.refs().existing_ref(was, line.node), &line.text, None, usize::MAX);
            }
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
    /// Of each line now: that it came, or is otherwise.
    signs: Vec<Option<&'static str>>,
    /// The lines of before that are not there now.
    gone: Vec<usize>,
}

impl ComparedLines {
    fn of(before: &OutlineLines, after: &OutlineLines) -> Self {
        let sign = |at: usize| match before.matching_line(after, at) {
            Some(partner) if before.lines[partner].text == after.lines[at].text => None,
            Some(_) => Some("~"),
            None => Some("+"),
        };
        let is_gone = |at: &usize| after.matching_line(before, *at).is_none();
        Self {
            signs: (0..after.lines.len()).map(sign).collect(),
            gone: (0..before.lines.len()).filter(is_gone).collect(),
        }
    }

    fn counts(&self, before: usize) -> OutlineChanges {
        let count = |wanted: &str| self.signs.iter().flatten().filter(|sign| **sign == wanted).count();
        let removed = self.gone.len();
        OutlineChanges {
            added: count("+"),
            changed: count("~"),
            removed,
            // Of a page that another took the place of, next to nothing stays.
            replaced: removed > MOST_GONE && removed * 4 >= before * 3,
            ..OutlineChanges::default()
        }
    }

    fn signs_of(&self, after: &OutlineLines) -> HashMap<usize, char> {
        let signs = after.lines.iter().zip(&self.signs);
        signs.filter_map(|(line, sign)| Some((line.node, sign.as_ref()?.chars().next()?))).collect()
    }
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
}

impl OutlineChanges {
    pub fn is_empty(&self) -> bool {
        self.added + self.removed + self.changed == 0
    }

    /// A ref is only given to a line that there is room for.
    fn push(
        &mut self,
        sign: &str,
        reference: impl FnOnce() -> Option<Ref>,
        line: &str,
        place: Option<Rect>,
        room: usize,
    ) {
        if self.cut > 0 || (!self.text.is_empty() && self.text.len() + line.len() + LENGTH_OF_A_PLACE > room)
        {
            self.cut += 1;
            return;
        }
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.text.push_str(sign);
        self.text.push(' ');
        if let Some(reference) = reference() {
            self.text.push_str(&format!("{reference} "));
        }
        self.text.push_str(line);
        if let Some(bounds) = place {
            write_place(&mut self.text, bounds, &mut None, true);
        }
    }
}

/// The lines of an outline without refs and places, each with what its element is known by.
struct OutlineLines {
    lines: Vec<ToldLine>,
    by_native: HashMap<String, usize>,
    by_path: HashMap<(u64, u32), usize>,
}

struct ToldLine {
    node: usize,
    text: String,
    native: Option<String>,
    /// The signature, and how many lines before have the same.
    path: (u64, u32),
}

impl OutlineLines {
    fn of(plan: &OutlinePlan, view: &View) -> Self {
        let mut told = Self { lines: Vec::new(), by_native: HashMap::new(), by_path: HashMap::new() };
        let mut counts: HashMap<u64, u32> = HashMap::new();
        for line in &plan.lines {
            let mut text = String::new();
            write_element(&mut text, &plan.tree[line.node], None, OutlineStyle::of(plan.options));
            let (native, path) = view.marks().known_by(view.raw(), line.node);
            let count = counts.entry(path).or_default();
            let at = told.lines.len();
            told.by_native.extend(native.map(|native| (native.to_owned(), at)));
            told.by_path.insert((path, *count), at);
            let native = native.map(str::to_owned);
            told.lines.push(ToldLine { node: line.node, text, native, path: (path, *count) });
            *count += 1;
        }
        told
    }

    /// The line here of the element that the other has at `at`: by its object, else by its signature.
    fn matching_line(&self, other: &OutlineLines, at: usize) -> Option<usize> {
        let line = &other.lines[at];
        let same_object = line.native.as_ref().and_then(|native| self.by_native.get(native));
        same_object.or_else(|| self.by_path.get(&line.path)).copied()
    }
}

/// The lines before and after that of an element, or of where it would stand, without refs and places.
pub fn neighbor_lines(tree: &Tree, options: &OutlineOptions, node: usize) -> [Option<String>; 2] {
    let plan = OutlinePlan::of(tree, options);
    let before = plan.lines.iter().rfind(|line| line.node < node);
    let after = plan.lines.iter().find(|line| line.node > node);
    [before, after].map(|line| {
        let mut text = String::new();
        write_element(&mut text, &tree[line?.node], None, OutlineStyle::of(options));
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
    let acts = |line: &OutlineLine| is_actionable(&tree[line.node]);
    let nodes: Vec<usize> = plan.lines.iter().filter(|line| acts(line)).map(|line| line.node).collect();
    let mut refs = refs(&nodes).into_iter();
    let refs: Vec<Option<Ref>> =
        plan.lines.iter().map(|line| if acts(line) { refs.next() } else { None }).collect();
    Outline {
        text: plan.write(&refs, signs),
        shown: plan.lines.len(),
        elements: tree.end(options.scope) - options.scope,
        dropped: plan.dropped,
        cut_after,
    }
}
