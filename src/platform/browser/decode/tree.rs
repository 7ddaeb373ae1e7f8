//! Which elements of a page are in its tree. Texts fold into runs and into the names of what they stand in; containers
//! without a name are left out and what is in them moves up; frames are placed where they show.
//!
//! The walk has a stack of its own: however deep a page is, nothing recurses.

use std::collections::HashMap;

use serde::Deserialize;

use super::clip::{ClipArea, frame_corner, to_rect};
use super::handle::NodeHandle;
use super::names::{
    accessible_name, content_text, description, error_message, has_name, is_shape, one_space, option_group,
    own_name, page_words, select_options, shown_text,
};
use super::parts::{holds_alike, holds_closed_list, is_one_of_alike};
use super::roles::{
    DomRole, dom_role, is_editable, is_editing_host, is_named_by_content, is_read_only, is_secret_field,
};
use super::snapshot::{DomDocument, PageArea, PageSnapshot, Style};
use super::states;
use crate::model::{Element, Rect, Role, Tree, TreeBuilder};
use crate::platform::normalize::shortened;

/// What was captured of one renderer: the page, or a frame of another site.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct FrameCapture {
    pub snapshot: PageSnapshot,
    /// Which document each frame shows.
    pub documents: HashMap<String, String>,
    /// The element that holds it, for a frame of another site.
    pub owner: Option<FrameOwner>,
    /// The browser's number of the node that has the focus.
    pub focused: Option<i64>,
    /// The fields that the browser does not accept, and why.
    pub invalid: HashMap<i64, String>,
    /// The boxes that are scrolled, and how far.
    pub scrolled: HashMap<i64, (f64, f64)>,
}

impl FrameCapture {
    /// How far a box of it is scrolled.
    pub fn scrolled_by(&self, dom: &DomDocument<'_>, node: usize) -> (f64, f64) {
        if self.scrolled.is_empty() {
            return (0.0, 0.0);
        }
        dom.backend_node(node).and_then(|id| self.scrolled.get(&id)).copied().unwrap_or_default()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub struct FrameOwner {
    /// The capture that the element is in.
    pub capture: usize,
    pub backend_node: i64,
}

/// The first capture is the page; the others are placed where their owners are.
pub fn page_tree(captures: &[FrameCapture], title: &str, bounds: Rect) -> Tree {
    let mut walk = PageWalk::new(captures, Element::new(Role::Window, title, bounds));
    walk.open_document(DocumentPlace {
        capture: 0,
        document: 0,
        at: (0.0, 0.0),
        within: None,
        frame_name: title,
    });
    walk.run();
    if walk.documents.iter().any(|document| document.dom.is_exhausted()) {
        walk.tree.mark_incomplete();
    }
    let scrolled = walk.documents.first().map(|page| page.dom.scroll_offset()).unwrap_or_default();
    let mut tree = walk.tree.finish();
    tree.scrolled = (scrolled.0 as i32, scrolled.1 as i32);
    tree
}

/// Longer texts of something clickable are a part of the page, and not a button.
const LONGEST_CLICKABLE_TEXT: usize = 200;

/// Longer texts of one part of something clickable are a paragraph.
const LONGEST_PART_TEXT: usize = 80;

/// Farther in no label has its control.
const MOST_IN_LABEL: usize = 500;

/// The sides of something clickable that says nothing.
const SMALLEST_ICON: f64 = 4.0;
const LARGEST_ICON: f64 = 160.0;

/// The sides of a picture without a name that is worth a line.
const SMALLEST_PICTURE: f64 = 32.0;

/// A box that nobody can see or hit.
const UNSEEN_SIDE: f64 = 2.0;

#[derive(Clone, Copy)]
struct DocumentPlace<'t> {
    capture: usize,
    document: usize,
    at: (f64, f64),
    within: Option<PageArea>,
    frame_name: &'t str,
}

/// One document of one capture, with what was found out about its nodes.
struct WalkedDocument<'a> {
    capture: usize,
    dom: DomDocument<'a>,
    /// The document that its frame shows.
    loader: &'a str,
    holds: Vec<Holds>,
    opened: bool,
}

/// What is somewhere in a node.
#[derive(Clone, Copy, Default)]
struct Holds {
    controls: bool,
    /// Headings, tables, frames: more than a line of text.
    structure: bool,
    /// Of these, what no list of choices has.
    page: bool,
    header_cells: bool,
}

/// What holds for a node because of those around it.
#[derive(Clone, Copy)]
struct WalkContext {
    document: usize,
    clip: ClipArea,
    /// Its text is in the name of what it stands in.
    folded: bool,
    transparent: bool,
    disabled: bool,
    /// Something around it has the pointer of a link.
    pointer: bool,
    /// It is in something that is clicked as a whole, and of which parts are clicked by themselves.
    in_clickable: bool,
    /// Something around it hears of clicks on its parts.
    heard: bool,
    /// It is in a table of data, and not one that only places things.
    in_table: bool,
    /// What a click on it works, because it stands in the label of that.
    labelled: Option<usize>,
}

enum WalkStep {
    Node(usize, WalkContext),
    CloseElement,
    EndOfLine,
}

/// Texts that stand beside each other.
struct TextRun {
    text: String,
    area: PageArea,
    /// Of the last text in it.
    last: PageArea,
    hidden: bool,
    native: Option<String>,
    /// What the labels in it are for.
    label_links: Vec<String>,
}

struct PageWalk<'a> {
    captures: &'a [FrameCapture],
    documents: Vec<WalkedDocument<'a>>,
    /// Where the documents of each capture begin.
    first_document: Vec<usize>,
    tree: TreeBuilder,
    steps: Vec<WalkStep>,
    line: Option<TextRun>,
}

impl<'a> PageWalk<'a> {
    fn new(captures: &'a [FrameCapture], root: Element) -> Self {
        let mut documents = Vec::new();
        let mut first_document = Vec::new();
        for (at, capture) in captures.iter().enumerate() {
            first_document.push(documents.len());
            let count = capture.snapshot.documents.len();
            let all = (0..count).filter_map(|index| DomDocument::new(&capture.snapshot, index));
            documents.extend(all.map(|dom| WalkedDocument::new(at, capture, dom)));
        }
        let tree = TreeBuilder::new(root);
        Self { captures, documents, first_document, tree, steps: Vec::new(), line: None }
    }

    fn run(&mut self) {
        while let Some(step) = self.steps.pop() {
            match step {
                WalkStep::Node(node, context) => self.visit(node, context),
                WalkStep::EndOfLine => self.end_line(),
                WalkStep::CloseElement => {
                    self.end_line();
                    self.tree.close();
                }
            }
        }
        self.end_line();
    }

    /// A document is shown once, whatever the snapshot says of its frames.
    fn open_document(&mut self, place: DocumentPlace<'_>) {
        let Some(&first) = self.first_document.get(place.capture) else { return };
        let index = first + place.document;
        let Some(document) = self.documents.get_mut(index) else { return };
        if document.capture != place.capture || std::mem::replace(&mut document.opened, true) {
            return;
        }
        let clip = ClipArea::of_document(&document.dom, place.at, place.within);
        let element = document.own_element(&clip, place.frame_name);
        self.tree.open(element);
        let context = WalkContext {
            document: index,
            clip,
            folded: false,
            transparent: false,
            disabled: false,
            pointer: false,
            in_clickable: false,
            heard: false,
            in_table: false,
            labelled: None,
        };
        self.steps.push(WalkStep::CloseElement);
        self.push_children(0, context);
    }

    fn push_children(&mut self, node: usize, context: WalkContext) {
        let children = self.documents[context.document].dom.children_in_order(node);
        self.steps.extend(children.into_iter().rev().map(|child| WalkStep::Node(child, context)));
    }

    fn visit(&mut self, node: usize, context: WalkContext) {
        let dom = &self.documents[context.document].dom;
        if dom.is_text(node) {
            let text = dom.node_text(node);
            return self.add_text(node, node, text, context);
        }
        if dom.is_pseudo(node) {
            return self.add_made_text(node, context);
        }
        if !dom.is_element(node) {
            return self.push_children(node, context);
        }
        if is_left_out(dom, node) {
            return;
        }
        let context = self.context_of(node, context);
        let dom = &self.documents[context.document].dom;
        let shows = dom.is_rendered(node) && dom.style(node, Style::Visibility) == "visible";
        let is_line = begins_line(dom, node);
        match self.shown_role(node, context).filter(|_| shows) {
            Some(role) => self.add_element(node, context, role),
            None if matches!(dom.tag(node), "IFRAME" | "FRAME") && shows => self.add_frame(node, context),
            None => {
                if is_line {
                    self.end_line();
                    self.steps.push(WalkStep::EndOfLine);
                }
                let inside = self.inside_container(node, context);
                self.push_children(node, inside);
            }
        }
    }

    /// What the element itself adds to what holds for it.
    fn context_of(&self, node: usize, context: WalkContext) -> WalkContext {
        let dom = &self.documents[context.document].dom;
        WalkContext {
            transparent: context.transparent || dom.style(node, Style::Opacity) == "0",
            disabled: context.disabled || states::is_disabled(dom, node),
            labelled: labelled_control(dom, node).or(context.labelled),
            ..context
        }
    }

    /// What holds for what is in a container that is not in the tree.
    fn inside_container(&self, node: usize, context: WalkContext) -> WalkContext {
        let dom = &self.documents[context.document].dom;
        let names_its_parent = match dom.tag(node) {
            "LEGEND" | "FIGCAPTION" => true,
            "CAPTION" => context.in_table,
            _ => false,
        };
        WalkContext {
            clip: self.clip_within(node, context),
            pointer: context.pointer || dom.style(node, Style::Cursor) == "pointer",
            folded: context.folded || names_its_parent,
            heard: context.heard || self.hears_for_parts(node, context),
            ..context
        }
    }

    /// Where what is in an element may show.
    fn clip_within(&self, node: usize, context: WalkContext) -> ClipArea {
        let document = &self.documents[context.document];
        let scrolled = self.captures.get(document.capture).map(|of| of.scrolled_by(&document.dom, node));
        context.clip.within_element(&document.dom, node, scrolled.unwrap_or_default())
    }

    /// Something without a role that reacts to clicks and holds plain elements that are alike: each of them is clicked.
    fn hears_for_parts(&self, node: usize, context: WalkContext) -> bool {
        let document = &self.documents[context.document];
        let (dom, holds) = (&document.dom, document.holds[node]);
        let points = !context.pointer && dom.style(node, Style::Cursor) == "pointer";
        (dom.is_clickable(node) || points)
            && !(holds.controls || holds.page || matches!(dom.tag(node), "HTML" | "BODY" | "LABEL"))
            && holds_alike(dom, node)
    }

    /// One of several alike in something that hears of clicks on it.
    fn is_heard_part(&self, node: usize, context: WalkContext) -> bool {
        let document = &self.documents[context.document];
        let (dom, holds) = (&document.dom, document.holds[node]);
        context.heard
            && !context.folded
            && !(holds.controls || holds.page || holds_alike(dom, node))
            && is_one_of_alike(dom, node)
            && content_text(dom, node).len() <= LONGEST_PART_TEXT
    }

    /// The role under which it is in the tree; nothing for what is left out of it.
    fn shown_role(&self, node: usize, context: WalkContext) -> Option<Role> {
        let document = &self.documents[context.document];
        let dom = &document.dom;
        let role = match dom_role(dom, node) {
            DomRole::Shown(role) => role,
            DomRole::Container => return self.container_role(node, context),
        };
        let keeps = match role {
            Role::Image => {
                !context.folded && (own_name(dom, node, Some(&role)).is_some() || is_picture(dom, node))
            }
            Role::Separator => !context.folded && own_name(dom, node, Some(&role)).is_some(),
            Role::StatusBar | Role::Alert | Role::ToolTip => !content_text(dom, node).is_empty(),
            Role::Heading => !context.folded,
            _ => true,
        };
        keeps.then_some(role)
    }

    fn container_role(&self, node: usize, context: WalkContext) -> Option<Role> {
        let document = &self.documents[context.document];
        let (dom, holds) = (&document.dom, document.holds[node]);
        // An empty cell too: without it what stands beside it would be read as of another column.
        let in_cell = |role| (context.in_table && !holds.controls && !holds.structure).then_some(role);
        let role = match dom.tag(node) {
            "TABLE" => holds.header_cells.then_some(Role::Table),
            "TR" => context.in_table.then_some(Role::Row),
            "TD" => in_cell(Role::DataItem),
            "TH" => in_cell(Role::HeaderItem),
            _ => None,
        };
        let clickable = || match dom.tag(node) {
            "A" => Role::Hyperlink,
            _ => Role::Button,
        };
        let is_clickable = || {
            self.is_heard_part(node, context)
                || self.is_plain_clickable(node, context)
                || self.is_clickable_whole(node, context)
        };
        role.or_else(|| is_clickable().then(clickable))
            .or_else(|| own_name(dom, node, None).filter(|_| !context.folded).map(|_| named_role(dom, node)))
    }

    /// Something without a role that reacts to clicks, and has nothing in it that does so itself.
    fn is_plain_clickable(&self, node: usize, context: WalkContext) -> bool {
        let document = &self.documents[context.document];
        let dom = &document.dom;
        let points = !context.pointer && dom.style(node, Style::Cursor) == "pointer";
        let folded = context.folded && !context.in_clickable;
        if folded
            || document.holds[node].controls
            || !(reacts_to_input(dom, node) || points || opens_chooser(dom, node))
        {
            return false;
        }
        if self.hears_for_parts(node, context) {
            return false;
        }
        let is_whole = points || is_dragged(dom, node);
        if matches!(dom.tag(node), "HTML" | "BODY" | "LABEL" | "IFRAME")
            || !is_whole && holds_lines(dom, node)
        {
            return opens_chooser(dom, node);
        }
        let name = accessible_name(dom, node, Some(&Role::Button));
        match name.is_empty() {
            true => is_drawn_to_click(dom, node),
            false => name.len() <= LONGEST_CLICKABLE_TEXT,
        }
    }

    /// Something without a role that has the pointer of a link, and parts that are clicked by themselves: a row of a
    /// list with its buttons.
    fn is_clickable_whole(&self, node: usize, context: WalkContext) -> bool {
        let document = &self.documents[context.document];
        let dom = &document.dom;
        let points = !context.pointer && dom.style(node, Style::Cursor) == "pointer";
        let is_worked = (points && dom.is_clickable(node)) || is_dragged(dom, node);
        if context.folded || !is_worked || !document.holds[node].controls {
            return false;
        }
        let name = content_text(dom, node);
        !name.is_empty() && name.len() <= LONGEST_CLICKABLE_TEXT
    }

    fn add_element(&mut self, node: usize, context: WalkContext, role: Role) {
        self.end_line();
        let document = &self.documents[context.document];
        let dom = &document.dom;
        let element = self.element_of(node, context, role.clone());
        let is_leaf = matches!(
            dom.tag(node),
            "INPUT" | "TEXTAREA" | "IMG" | "CANVAS" | "HR" | "METER" | "PROGRESS" | "OPTION"
        ) || dom.tag(node) == "svg" && !document.holds[node].controls;
        if is_leaf {
            self.tree.add_leaf(element);
            return;
        }
        self.tree.open(element);
        if dom.tag(node) == "SELECT" {
            self.add_options(node, context, role == Role::ComboBox);
            self.tree.close();
            return;
        }
        let inside = WalkContext {
            clip: self.clip_within(node, context),
            folded: context.folded || is_named_by_content(&role) || is_editing_host(dom, node),
            pointer: true,
            in_clickable: matches!(dom_role(dom, node), DomRole::Container) && document.holds[node].controls,
            in_table: context.in_table || role == Role::Table,
            ..context
        };
        self.steps.push(WalkStep::CloseElement);
        self.push_children(node, inside);
    }

    /// The options of a list of the browser's own; those of a closed one are not to be seen.
    fn add_options(&mut self, select: usize, context: WalkContext, closed: bool) {
        let options = select_options(&self.documents[context.document].dom, select);
        for option in options {
            let element = self.element_of(option, context, Role::ListItem);
            let description = element
                .description
                .clone()
                .or_else(|| option_group(&self.documents[context.document].dom, option));
            self.tree.add_leaf(Element { hidden: closed || element.hidden, description, ..element });
        }
    }

    fn element_of(&self, node: usize, context: WalkContext, role: Role) -> Element {
        let document = &self.documents[context.document];
        let dom = &document.dom;
        let name = accessible_name(dom, node, Some(&role));
        let (area, in_place) = shown_area(dom, node, context.transparent);
        let secret = is_secret_field(dom, node);
        let focused = dom.backend_node(node).is_some_and(|id| self.has_focus(document.capture, id));
        let wrong = self.what_is_wrong(node, document);
        let says_what = role.is_actionable() || is_picture(dom, node);
        Element {
            value: states::value(dom, node, &role).map(|value| shortened(&value, None)),
            bounds: to_rect(context.clip.placed(area)),
            enabled: !context.disabled && !states::is_disabled(dom, node),
            focused,
            selected: states::selected(dom, node),
            expanded: states::expanded(dom, node, &role).or_else(|| closed_list(dom, node, &role)),
            range: states::range(dom, node),
            shortcut: states::shortcut(dom, node),
            invalid: wrong.is_some(),
            description: wrong
                .filter(|why| !why.is_empty())
                .or_else(|| description(dom, node, &name))
                .or_else(|| page_words(dom, node).filter(|_| name.is_empty() && says_what)),
            shown_text: shown_text(dom, node, &role, &name).map(|text| shortened(&text, None)),
            identifier: dom.attribute(node, "id").filter(|id| !id.is_empty()).map(str::to_owned),
            secret,
            editable: is_editable(dom, node),
            read_only: is_read_only(dom, node),
            hidden: context.clip.hides(area) || (context.transparent && !in_place),
            native: document.handle(node),
            label_links: context
                .labelled
                .filter(|&control| control != node)
                .and_then(|control| document.handle(control))
                .into_iter()
                .collect(),
            name: shortened(&name, None),
            role,
            ..Element::default()
        }
    }

    /// Why a field is not accepted, by the browser or by what the page says; nothing for one that is.
    fn what_is_wrong(&self, node: usize, document: &WalkedDocument<'_>) -> Option<String> {
        let dom = &document.dom;
        let told = self.captures.get(document.capture).filter(|capture| !capture.invalid.is_empty());
        let by_browser = told.and_then(|capture| capture.invalid.get(&dom.backend_node(node)?)).cloned();
        by_browser
            .or_else(|| states::is_invalid(dom, node).then(|| error_message(dom, node).unwrap_or_default()))
    }

    /// Whether a node of a capture has the keyboard: the page says which of its own nodes does, and if that is a frame,
    /// the frame says it.
    fn has_focus(&self, capture: usize, backend_node: i64) -> bool {
        let mut at = 0;
        loop {
            let Some(focused) = self.captures.get(at).and_then(|capture| capture.focused) else {
                return false;
            };
            let owned = FrameOwner { capture: at, backend_node: focused };
            // An owner comes before what it holds, so that this ends.
            let inner = self.captures.iter().skip(at + 1).position(|inner| inner.owner == Some(owned));
            match inner {
                Some(step) => at += 1 + step,
                None => return at == capture && focused == backend_node,
            }
        }
    }

    fn add_frame(&mut self, node: usize, context: WalkContext) {
        self.end_line();
        let document = &self.documents[context.document];
        let dom = &document.dom;
        let Some(area) = dom.area(node) else { return };
        let placed = context.clip.placed(area);
        let name = accessible_name(dom, node, None);
        let inner = dom.content_document(node).map(|inner| (document.capture, inner));
        let owner =
            dom.backend_node(node).map(|backend_node| FrameOwner { capture: document.capture, backend_node });
        let elsewhere =
            || self.captures.iter().position(|capture| capture.owner.is_some() && capture.owner == owner);
        let Some((capture, inner)) = inner.or_else(|| elsewhere().map(|capture| (capture, 0))) else {
            return;
        };
        let clip = self.clip_within(node, context).clip();
        let at = frame_corner(dom, node, placed);
        self.open_document(DocumentPlace {
            capture,
            document: inner,
            at,
            within: Some(clip),
            frame_name: &name,
        });
    }

    /// What a style sheet writes: a person reads it like any other text. Signs of its own, such as those of icon fonts, say
    /// nothing.
    fn add_made_text(&mut self, node: usize, context: WalkContext) {
        let dom = &self.documents[context.document].dom;
        let text = dom.pseudo_texts(node).concat();
        let (shows, is_line) = (text.contains(char::is_alphanumeric), begins_line(dom, node));
        let Some(written_on) = dom.parent(node).filter(|_| shows) else { return };
        if is_line {
            self.end_line();
        }
        self.add_text(node, written_on, &text, context);
        if is_line {
            self.end_line();
        }
    }

    /// `found_by` is the node by whose handle it is found again.
    fn add_text(&mut self, node: usize, found_by: usize, text: &str, context: WalkContext) {
        let document = &self.documents[context.document];
        let dom = &document.dom;
        let Some(area) = dom.area(node).filter(|_| !context.folded) else { return };
        if dom.style(node, Style::Visibility) == "hidden" || (text.trim().is_empty() && self.line.is_none()) {
            return;
        }
        let hidden = context.transparent || context.clip.hides(area);
        let placed = context.clip.placed(area);
        let labelled = context.labelled.and_then(|control| document.handle(control));
        match &mut self.line {
            Some(line) => {
                line.label_links.extend(labelled);
                if stands_apart(line.last, area) && !line.text.ends_with(char::is_whitespace) {
                    line.text.push(' ');
                }
                line.text.push_str(text);
                if !text.trim().is_empty() {
                    line.last = area;
                    line.area = line.area.around(placed);
                    line.hidden &= hidden;
                }
            }
            None => {
                let native = document.handle(found_by);
                let label_links = labelled.into_iter().collect();
                self.line = Some(TextRun {
                    text: text.to_owned(),
                    area: placed,
                    last: area,
                    hidden,
                    native,
                    label_links,
                });
            }
        }
    }

    fn end_line(&mut self) {
        let Some(line) = self.line.take() else { return };
        let text = one_space(&line.text);
        if !text.is_empty() {
            let element = Element::new(Role::Text, shortened(&text, None), to_rect(line.area));
            let label_links = line.label_links.into_boxed_slice();
            self.tree.add_leaf(Element { hidden: line.hidden, native: line.native, label_links, ..element });
        }
    }
}

/// A wider gap between two texts of a line is one that a reader sees.
const SEEN_GAP: f64 = 2.0;

/// Whether a text begins behind a gap on the line of the one before: items with a margin have no space between them.
fn stands_apart(before: PageArea, next: PageArea) -> bool {
    let same_line = next.y < before.y + before.height && before.y < next.y + next.height;
    same_line && next.x > before.x + before.width + SEEN_GAP
}

impl<'a> WalkedDocument<'a> {
    fn new(capture: usize, of: &'a FrameCapture, dom: DomDocument<'a>) -> Self {
        let loader = of.documents.get(dom.frame()).map_or("", String::as_str);
        let holds = find_holdings(&dom);
        Self { capture, dom, loader, holds, opened: false }
    }

    fn handle(&self, node: usize) -> Option<String> {
        let backend_node = self.dom.backend_node(node)?;
        let (frame, document) = (self.dom.frame().to_owned(), self.loader.to_owned());
        Some(NodeHandle { frame, document, backend_node }.to_string())
    }

    /// The document itself: what is in it is not what is in another one at its place.
    fn own_element(&self, clip: &ClipArea, frame_name: &str) -> Element {
        let title = one_space(self.dom.title());
        let name = if title.is_empty() { frame_name.to_owned() } else { title };
        let element = Element::new(Role::Document, shortened(&name, None), to_rect(clip.clip()));
        Element {
            value: Some(shortened(self.dom.url(), None)),
            native: self.handle(0),
            is_document: true,
            ..element
        }
    }
}

/// What a click on a label works: what it names, or else the first control in it.
fn labelled_control(dom: &DomDocument<'_>, label: usize) -> Option<usize> {
    if dom.tag(label) != "LABEL" {
        return None;
    }
    if let Some(id) = dom.attribute(label, "for") {
        return dom.node_with_id(id);
    }
    let mut inside: Vec<usize> = dom.children(label).collect();
    inside.reverse();
    for _ in 0..MOST_IN_LABEL {
        let node = inside.pop()?;
        if is_labelable(dom, node) {
            return Some(node);
        }
        let below = inside.len();
        inside.extend(dom.children(node));
        inside[below..].reverse();
    }
    None
}

/// Something without a role that a click opens a list of: closed now.
fn closed_list(dom: &DomDocument<'_>, node: usize, role: &Role) -> Option<bool> {
    let opens = *role == Role::Button
        && matches!(dom_role(dom, node), DomRole::Container)
        && holds_closed_list(dom, node);
    opens.then_some(false)
}

fn is_labelable(dom: &DomDocument<'_>, node: usize) -> bool {
    match dom.tag(node) {
        "INPUT" => dom.word(node, "type") != "hidden",
        "BUTTON" | "METER" | "OUTPUT" | "PROGRESS" | "SELECT" | "TEXTAREA" => true,
        _ => false,
    }
}

/// From the leaves up: a node comes before what is in it.
fn find_holdings(dom: &DomDocument<'_>) -> Vec<Holds> {
    let mut holds = vec![Holds::default(); dom.node_count()];
    for node in (1..dom.node_count()).rev() {
        let (inner, own) = (holds[node], own_holdings(dom, node));
        if let Some(parent) = dom.parent(node) {
            let above = &mut holds[parent];
            above.controls |= inner.controls || own.controls;
            above.structure |= inner.structure || own.structure;
            above.page |= inner.page || own.page;
            above.header_cells |= inner.header_cells || own.header_cells;
        }
    }
    holds
}

fn own_holdings(dom: &DomDocument<'_>, node: usize) -> Holds {
    if !dom.is_element(node) || !dom.is_rendered(node) {
        return Holds::default();
    }
    let tag = dom.tag(node);
    let role = match dom_role(dom, node) {
        DomRole::Shown(role) => Some(role),
        DomRole::Container => None,
    };
    let reacts = role.is_none()
        && reacts_to_input(dom, node)
        && !holds_lines(dom, node)
        && (has_name(dom, node) || is_drawn_to_click(dom, node));
    let acts = role.as_ref().is_some_and(|role| role.is_actionable());
    let structures = matches!(role, Some(Role::Heading | Role::Image | Role::Canvas));
    Holds {
        controls: acts || reacts || matches!(tag, "IFRAME" | "FRAME"),
        structure: structures || matches!(tag, "TABLE" | "UL" | "OL" | "IFRAME"),
        page: structures && !matches!(role, Some(Role::Image)) || matches!(tag, "TABLE" | "IFRAME"),
        header_cells: tag == "TH",
    }
}

/// It listens for clicks, or keys reach it.
fn reacts_to_input(dom: &DomDocument<'_>, node: usize) -> bool {
    let index = || dom.attribute(node, "tabindex").and_then(|index| index.trim().parse::<i64>().ok());
    dom.is_clickable(node) || index().is_some_and(|index| index >= 0) || is_dragged(dom, node)
}

/// It says of itself that it can be dragged, or has the pointer for that and nothing around it has.
fn is_dragged(dom: &DomDocument<'_>, node: usize) -> bool {
    let is_grabbed = |node: usize| matches!(dom.style(node, Style::Cursor), "grab" | "grabbing");
    let is_first = || dom.parent(node).is_none_or(|above| !is_grabbed(above));
    dom.word(node, "draggable") == "true" || (is_grabbed(node) && is_first())
}

/// The label of a file field that is not shown: a click on it opens the chooser.
fn opens_chooser(dom: &DomDocument<'_>, node: usize) -> bool {
    let is_hidden_field = |field: usize| {
        dom.tag(field) == "INPUT" && dom.word(field, "type") == "file" && !dom.is_rendered(field)
    };
    labelled_control(dom, node).is_some_and(is_hidden_field)
}

/// Several lines are a list or a form that hears of clicks on what is in it, and not one thing to click.
fn holds_lines(dom: &DomDocument<'_>, node: usize) -> bool {
    let is_line = |&child: &usize| {
        dom.is_element(child) && dom.is_rendered(child) && begins_line(dom, child) && has_name(dom, child)
    };
    dom.children(node).filter(is_line).nth(1).is_some()
}

/// Something without a name that reacts to clicks: a picture of what it does, or a shape of a drawing, however large.
pub fn is_drawn_to_click(dom: &DomDocument<'_>, node: usize) -> bool {
    let is_seen = |area: PageArea| area.width >= SMALLEST_ICON && area.height >= SMALLEST_ICON;
    has_size_of_icon(dom, node) || (is_shape(dom.tag(node)) && dom.area(node).is_some_and(is_seen))
}

/// A picture that says nothing of itself, and that a person sees. One with an empty `alt` is only there to look at.
fn is_picture(dom: &DomDocument<'_>, node: usize) -> bool {
    let is_seen = |area: PageArea| area.width >= SMALLEST_PICTURE && area.height >= SMALLEST_PICTURE;
    let is_meant = match dom.tag(node) {
        "IMG" => !dom.has_attribute(node, "alt"),
        "CANVAS" => true,
        _ => matches!(dom.word(node, "role").as_str(), "img" | "image"),
    };
    is_meant && dom.area(node).is_some_and(is_seen)
}

/// What has a name and no role: a shape of a drawing is a picture, and everything else holds something.
fn named_role(dom: &DomDocument<'_>, node: usize) -> Role {
    if is_shape(dom.tag(node)) { Role::Image } else { Role::Group }
}

/// Large enough to be seen and small enough to be a picture of what it does.
fn has_size_of_icon(dom: &DomDocument<'_>, node: usize) -> bool {
    let fits = |side: f64| (SMALLEST_ICON..=LARGEST_ICON).contains(&side);
    dom.area(node).is_some_and(|area| fits(area.width) && fits(area.height))
}

/// Nothing of it is for a reader.
pub fn is_left_out(dom: &DomDocument<'_>, node: usize) -> bool {
    matches!(dom.tag(node), "HEAD" | "SCRIPT" | "STYLE" | "TEMPLATE" | "NOSCRIPT" | "AREA" | "DATALIST")
        || dom.word(node, "aria-hidden") == "true"
        || dom.has_attribute(node, "inert")
}

pub fn begins_line(dom: &DomDocument<'_>, node: usize) -> bool {
    !matches!(
        dom.style(node, Style::Display),
        "" | "inline" | "inline-block" | "inline-flex" | "contents" | "ruby" | "ruby-text" | "none"
    )
}

/// Where an element is, and whether it is to be taken as there although it is transparent. A box to tick or to choose
/// a file with is often made invisible, and its label is what a person sees and clicks.
fn shown_area(dom: &DomDocument<'_>, node: usize, transparent: bool) -> (PageArea, bool) {
    let area = dom.area(node).unwrap_or_default();
    let can_be_styled =
        dom.tag(node) == "INPUT" && matches!(dom.word(node, "type").as_str(), "checkbox" | "radio" | "file");
    let unseen = transparent || area.width < UNSEEN_SIDE || area.height < UNSEEN_SIDE;
    if !can_be_styled || !unseen {
        return (area, false);
    }
    let by_id = dom.attribute(node, "id").map_or(&[][..], |id| dom.labels_for(id)).first().copied();
    let label = by_id.or_else(|| dom.ancestors(node).find(|&above| dom.tag(above) == "LABEL"));
    let of_label = label.and_then(|label| dom.area(label)).filter(|area| !area.is_empty());
    (of_label.unwrap_or(area), true)
}
