//! Which elements of a page are in its tree. Texts fold into runs and into the names of what they stand in; containers
//! without a name are left out and what is in them moves up; frames are placed where they show.
//!
//! The walk has a stack of its own: however deep a page is, nothing recurses.

use std::collections::HashMap;

use serde::Deserialize;

use super::clip::{ClipArea, frame_corner, to_rect};
use super::handle::NodeHandle;
use super::names::{accessible_name, content_text, description, one_space, own_name, select_options};
use super::roles::{DomRole, dom_role, is_editable, is_editing_host, is_named_by_content, is_secret_field};
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
    walk.tree.finish()
}

/// Longer texts of something clickable are a part of the page, and not a button.
const LONGEST_CLICKABLE_TEXT: usize = 200;

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
    /// It is in a table of data, and not one that only places things.
    in_table: bool,
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
    hidden: bool,
    native: Option<String>,
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
            in_table: false,
        };
        self.steps.push(WalkStep::CloseElement);
        self.push_children(0, context);
    }

    fn push_children(&mut self, node: usize, context: WalkContext) {
        let children: Vec<usize> = self.documents[context.document].dom.children(node).collect();
        self.steps.extend(children.into_iter().rev().map(|child| WalkStep::Node(child, context)));
    }

    fn visit(&mut self, node: usize, context: WalkContext) {
        let dom = &self.documents[context.document].dom;
        if dom.is_text(node) {
            return self.add_text(node, context);
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
            clip: context.clip.within_element(dom, node),
            pointer: context.pointer || dom.style(node, Style::Cursor) == "pointer",
            folded: context.folded || names_its_parent,
            ..context
        }
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
            Role::Image | Role::Separator => !context.folded && own_name(dom, node, Some(&role)).is_some(),
            Role::StatusBar | Role::Alert | Role::ToolTip => !content_text(dom, node).is_empty(),
            Role::Heading => !context.folded,
            _ => true,
        };
        keeps.then_some(role)
    }

    fn container_role(&self, node: usize, context: WalkContext) -> Option<Role> {
        let document = &self.documents[context.document];
        let (dom, holds) = (&document.dom, document.holds[node]);
        let in_cell = |role| {
            (context.in_table && !holds.controls && !holds.structure && has_content(dom, node))
                .then_some(role)
        };
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
        role.or_else(|| self.is_plain_clickable(node, context).then(clickable))
            .or_else(|| own_name(dom, node, None).filter(|_| !context.folded).map(|_| Role::Group))
    }

    /// Something without a role that reacts to clicks, and has nothing in it that does so itself.
    fn is_plain_clickable(&self, node: usize, context: WalkContext) -> bool {
        let document = &self.documents[context.document];
        let dom = &document.dom;
        let points = !context.pointer && dom.style(node, Style::Cursor) == "pointer";
        if context.folded || document.holds[node].controls || !(dom.is_clickable(node) || points) {
            return false;
        }
        if matches!(dom.tag(node), "HTML" | "BODY" | "LABEL" | "IFRAME") {
            return false;
        }
        let name = accessible_name(dom, node, Some(&Role::Button));
        !name.is_empty() && name.len() <= LONGEST_CLICKABLE_TEXT
    }

    fn add_element(&mut self, node: usize, context: WalkContext, role: Role) {
        self.end_line();
        let document = &self.documents[context.document];
        let dom = &document.dom;
        let element = self.element_of(node, context, role.clone());
        let is_leaf = matches!(
            dom.tag(node),
            "INPUT" | "TEXTAREA" | "IMG" | "svg" | "CANVAS" | "HR" | "METER" | "PROGRESS" | "OPTION"
        );
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
            clip: context.clip.within_element(dom, node),
            folded: context.folded || is_named_by_content(&role) || is_editing_host(dom, node),
            pointer: true,
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
            self.tree.add_leaf(Element { hidden: closed || element.hidden, ..element });
        }
    }

    fn element_of(&self, node: usize, context: WalkContext, role: Role) -> Element {
        let document = &self.documents[context.document];
        let dom = &document.dom;
        let name = accessible_name(dom, node, Some(&role));
        let (area, in_place) = shown_area(dom, node, context.transparent);
        let secret = is_secret_field(dom, node);
        let focused = dom.backend_node(node).is_some_and(|id| self.has_focus(document.capture, id));
        Element {
            value: states::value(dom, node, &role).map(|value| shortened(&value, None)),
            bounds: to_rect(context.clip.placed(area)),
            enabled: !context.disabled && !states::is_disabled(dom, node),
            focused,
            selected: states::selected(dom, node),
            expanded: states::expanded(dom, node, &role),
            range: states::range(dom, node),
            shortcut: states::shortcut(dom, node),
            description: description(dom, node, &name),
            identifier: dom.attribute(node, "id").filter(|id| !id.is_empty()).map(str::to_owned),
            secret,
            editable: is_editable(dom, node),
            hidden: context.clip.hides(area) || (context.transparent && !in_place),
            native: document.handle(node),
            name: shortened(&name, None),
            role,
            ..Element::default()
        }
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
        let clip = context.clip.within_element(dom, node).clip();
        let at = frame_corner(dom, node, placed);
        self.open_document(DocumentPlace {
            capture,
            document: inner,
            at,
            within: Some(clip),
            frame_name: &name,
        });
    }

    fn add_text(&mut self, node: usize, context: WalkContext) {
        let document = &self.documents[context.document];
        let dom = &document.dom;
        let Some(area) = dom.area(node).filter(|_| !context.folded) else { return };
        let text = dom.node_text(node);
        if dom.style(node, Style::Visibility) == "hidden" || (text.trim().is_empty() && self.line.is_none()) {
            return;
        }
        let hidden = context.transparent || context.clip.hides(area);
        let placed = context.clip.placed(area);
        match &mut self.line {
            Some(line) => {
                line.text.push_str(text);
                if !text.trim().is_empty() {
                    line.area = line.area.around(placed);
                    line.hidden &= hidden;
                }
            }
            None => {
                let native = document.handle(node);
                self.line = Some(TextRun { text: text.to_owned(), area: placed, hidden, native });
            }
        }
    }

    fn end_line(&mut self) {
        let Some(line) = self.line.take() else { return };
        let text = one_space(&line.text);
        if !text.is_empty() {
            let element = Element::new(Role::Text, shortened(&text, None), to_rect(line.area));
            self.tree.add_leaf(Element { hidden: line.hidden, native: line.native, ..element });
        }
    }
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

/// From the leaves up: a node comes before what is in it.
fn find_holdings(dom: &DomDocument<'_>) -> Vec<Holds> {
    let mut holds = vec![Holds::default(); dom.node_count()];
    for node in (1..dom.node_count()).rev() {
        let (inner, own) = (holds[node], own_holdings(dom, node));
        if let Some(parent) = dom.parent(node) {
            let above = &mut holds[parent];
            above.controls |= inner.controls || own.controls;
            above.structure |= inner.structure || own.structure;
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
    let reacts = dom.is_clickable(node) && role.is_none() && has_content(dom, node);
    let acts = role.as_ref().is_some_and(|role| role.is_actionable());
    let structures = matches!(role, Some(Role::Heading | Role::Image | Role::Canvas));
    Holds {
        controls: acts || reacts || matches!(tag, "IFRAME" | "FRAME"),
        structure: structures || matches!(tag, "TABLE" | "UL" | "OL" | "IFRAME"),
        header_cells: tag == "TH",
    }
}

fn has_content(dom: &DomDocument<'_>, node: usize) -> bool {
    !accessible_name(dom, node, Some(&Role::Button)).is_empty()
}

/// Nothing of it is for a reader.
fn is_left_out(dom: &DomDocument<'_>, node: usize) -> bool {
    matches!(dom.tag(node), "HEAD" | "SCRIPT" | "STYLE" | "TEMPLATE" | "NOSCRIPT" | "AREA" | "DATALIST")
        || dom.word(node, "aria-hidden") == "true"
        || dom.has_attribute(node, "inert")
}

fn begins_line(dom: &DomDocument<'_>, node: usize) -> bool {
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
