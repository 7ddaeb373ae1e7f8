//! What of a page is there to be read, as a tree of headings, paragraphs, lists, tables and links. Wherever the page is
//! scrolled to, all of it is in; what a person cannot see is not.
//!
//! A `Text` holds the runs of a paragraph; `Heading`, `ListItem` and the cells of a table hold theirs themselves. The
//! identifier of each is the tag that it was made of. The walk has a stack of its own: nothing recurses.

use std::collections::HashSet;

use super::clip::common_part;
use super::handle::NodeHandle;
use super::lines::{is_listing, written_lines};
use super::names::{accessible_name, one_space};
use super::roles::is_editing_host;
use super::snapshot::{DomDocument, PageArea, Style};
use super::tree::{FrameCapture, begins_line, is_left_out};
use crate::model::page::resolve_address;
use crate::model::{Element, Rect, Role, Tree, TreeBuilder};

/// Longer runs are several.
const LONGEST_RUN: usize = 4 << 10;

/// A page with more is read in part.
const MOST_PARTS: usize = 60_000;

/// A box that nobody can see.
const UNSEEN_SIDE: f64 = 2.0;

/// Bars, menus and notes around what a page is about.
const AROUND_TAGS: &[&str] = &["NAV", "HEADER", "FOOTER", "ASIDE", "DIALOG"];
const AROUND_ROLES: &[&str] = &["navigation", "banner", "contentinfo", "complementary", "search", "dialog"];

/// What is worked, and not read.
const CONTROLS: &[&str] = &["BUTTON", "INPUT", "SELECT", "TEXTAREA", "OPTION", "PROGRESS", "METER"];

/// The first capture is the page.
pub fn reading_tree(captures: &[FrameCapture], title: &str, main_part: bool) -> Tree {
    let documents: Vec<Vec<DomDocument<'_>>> = captures.iter().map(documents_of).collect();
    let url = documents.first().and_then(|all| all.first()).map_or("", DomDocument::url);
    let root =
        Element { value: Some(url.to_owned()), ..Element::new(Role::Document, title, Rect::default()) };
    let mut walk = ReadingWalk {
        captures,
        documents: &documents,
        tree: TreeBuilder::new(root),
        steps: Vec::new(),
        run: String::new(),
        in_paragraph: false,
        main_part,
        opened: HashSet::from([(0, 0)]),
    };
    walk.begin(main_part);
    walk.run();
    walk.tree.finish()
}

fn documents_of(capture: &FrameCapture) -> Vec<DomDocument<'_>> {
    (0..capture.snapshot.documents.len()).filter_map(|at| DomDocument::new(&capture.snapshot, at)).collect()
}

/// What holds for a node because of those around it.
#[derive(Clone, Copy)]
struct ReadingPlace {
    capture: usize,
    document: usize,
    /// Something around it takes texts itself.
    in_host: bool,
    in_table: bool,
    /// Something around it is what the page is about, or a part of it.
    in_article: bool,
    /// What of the document shows there, where something around it cuts off the rest.
    clip: Option<PageArea>,
    /// How far the boxes around it are scrolled.
    scrolled: (f64, f64),
}

enum ReadingStep {
    Node(usize, ReadingPlace),
    EndOfLine(bool),
    CloseBlock,
}

struct ReadingWalk<'a> {
    captures: &'a [FrameCapture],
    documents: &'a [Vec<DomDocument<'a>>],
    tree: TreeBuilder,
    steps: Vec<ReadingStep>,
    run: String,
    in_paragraph: bool,
    main_part: bool,
    /// A document shows in one place.
    opened: HashSet<(usize, usize)>,
}

impl<'a> ReadingWalk<'a> {
    fn document(&self, place: ReadingPlace) -> Option<&'a DomDocument<'a>> {
        self.documents.get(place.capture)?.get(place.document)
    }

    fn begin(&mut self, main_part: bool) {
        let place = ReadingPlace {
            capture: 0,
            document: 0,
            in_host: false,
            in_table: false,
            in_article: false,
            clip: None,
            scrolled: (0.0, 0.0),
        };
        let Some(dom) = self.document(place) else { return };
        match main_part.then(|| main_node(dom)).flatten() {
            Some(main) => {
                self.steps.push(ReadingStep::Node(main, ReadingPlace { in_article: true, ..place }));
            }
            None => self.steps.push(ReadingStep::Node(0, place)),
        }
    }

    fn run(&mut self) {
        while let Some(step) = self.steps.pop() {
            if self.tree.len() >= MOST_PARTS {
                self.tree.mark_incomplete();
                break;
            }
            match step {
                ReadingStep::Node(node, place) => self.add_node(node, place),
                ReadingStep::EndOfLine(in_host) => self.end_line(in_host),
                ReadingStep::CloseBlock => {
                    self.end_line(false);
                    self.tree.close();
                }
            }
        }
        self.end_line(false);
    }

    fn add_node(&mut self, node: usize, place: ReadingPlace) {
        let Some(dom) = self.document(place) else { return };
        if dom.is_text(node) {
            return self.add_text(dom, node, place);
        }
        if !dom.is_element(node) && !dom.is_pseudo(node) {
            return self.push_children(dom, node, place);
        }
        if is_unread(dom, node) || (self.main_part && !place.in_article && is_around(dom, node)) {
            return;
        }
        match dom.tag(node) {
            "A" if dom.has_attribute(node, "href") => self.add_link(dom, node, place),
            "IMG" => self.add_image(dom, node, place),
            "BR" => self.run.push('\n'),
            "PRE" => self.add_preformatted(dom, node, place),
            "IFRAME" | "FRAME" => self.add_frame(dom, node, place),
            _ if !place.in_host && is_listing(dom, node, is_editing_host(dom, node)) => {
                self.add_preformatted(dom, node, place);
            }
            _ => self.add_container(dom, node, place),
        }
    }

    fn add_container(&mut self, dom: &DomDocument<'a>, node: usize, place: ReadingPlace) {
        let far = self.captures.get(place.capture).map(|of| of.scrolled_by(dom, node)).unwrap_or_default();
        let scrolled = (place.scrolled.0 + far.0, place.scrolled.1 + far.1);
        let place = ReadingPlace { clip: clip_within(dom, node, place.clip), scrolled, ..place };
        let block = block_role(dom, node, place);
        let in_article = place.in_article || matches!(dom.tag(node), "ARTICLE" | "MAIN");
        match block {
            Some((role, takes_texts)) => {
                self.end_line(false);
                let in_table = place.in_table || role == Role::Table;
                let element = Element::new(role, "", Rect::default());
                self.tree.open(Element { identifier: Some(dom.tag(node).to_lowercase()), ..element });
                self.steps.push(ReadingStep::CloseBlock);
                self.push_children(
                    dom,
                    node,
                    ReadingPlace { in_host: takes_texts, in_table, in_article, ..place },
                );
            }
            None => {
                if begins_line(dom, node) {
                    self.end_line(place.in_host);
                    self.steps.push(ReadingStep::EndOfLine(place.in_host));
                }
                self.push_children(dom, node, ReadingPlace { in_article, ..place });
            }
        }
    }

    fn push_children(&mut self, dom: &DomDocument<'a>, node: usize, place: ReadingPlace) {
        let children: Vec<usize> = dom.children(node).collect();
        self.steps.extend(children.into_iter().rev().map(|child| ReadingStep::Node(child, place)));
    }

    fn add_text(&mut self, dom: &DomDocument<'a>, node: usize, place: ReadingPlace) {
        let Some(area) = dom.area(node) else { return };
        if dom.style(node, Style::Visibility) == "hidden" || place.cuts_off(area) {
            return;
        }
        let text = dom.node_text(node);
        if !text.trim().is_empty() {
            self.open_paragraph(place);
        }
        self.run.push_str(text);
    }

    /// Where nothing around takes texts, they are a paragraph.
    fn open_paragraph(&mut self, place: ReadingPlace) {
        if place.in_host || self.in_paragraph {
            return;
        }
        self.run.clear();
        let element = Element::new(Role::Text, "", Rect::default());
        self.tree.open(Element { identifier: Some("p".to_owned()), ..element });
        self.in_paragraph = true;
    }

    fn add_link(&mut self, dom: &DomDocument<'a>, node: usize, place: ReadingPlace) {
        let name = accessible_name(dom, node, Some(&Role::Hyperlink));
        let is_drawn = dom.is_rendered(node) || dom.children(node).any(|child| dom.is_rendered(child));
        let is_seen = is_drawn && dom.style(node, Style::Visibility) != "hidden";
        if name.is_empty() || !is_seen || dom.area(node).is_some_and(|area| place.cuts_off(area)) {
            return;
        }
        let address = dom.attribute(node, "href").and_then(|href| resolve_address(dom.base_url(), href));
        let native = self.handle(dom, node, place.capture);
        let element = Element::new(Role::Hyperlink, name, Rect::default());
        self.add_inline(Element { value: address, native, ..element }, place);
    }

    fn add_image(&mut self, dom: &DomDocument<'a>, node: usize, place: ReadingPlace) {
        let name = dom.attribute(node, "alt").map(one_space).unwrap_or_default();
        if !name.is_empty() && dom.area(node).is_some_and(|area| !place.cuts_off(area)) {
            self.add_inline(Element::new(Role::Image, name, Rect::default()), place);
        }
    }

    fn add_inline(&mut self, element: Element, place: ReadingPlace) {
        self.open_paragraph(place);
        self.end_run();
        self.tree.add_leaf(element);
    }

    /// Lines and blanks stay as they are.
    fn add_preformatted(&mut self, dom: &DomDocument<'a>, node: usize, place: ReadingPlace) {
        self.end_line(place.in_host);
        let text = written_lines(dom, node, dom.tag(node) == "PRE", usize::MAX);
        let element = Element::new(Role::Text, "", Rect::default());
        self.tree.open(Element { identifier: Some("pre".to_owned()), ..element });
        self.run = text;
        self.end_run_as_is();
        self.tree.close();
    }

    fn add_frame(&mut self, dom: &DomDocument<'a>, node: usize, place: ReadingPlace) {
        let inner = dom.content_document(node).map(|document| (place.capture, document));
        let owned = |capture: &FrameCapture| {
            capture.owner.is_some_and(|owner| {
                owner.capture == place.capture && Some(owner.backend_node) == dom.backend_node(node)
            })
        };
        let elsewhere = || self.captures.iter().position(owned).map(|capture| (capture, 0));
        let Some((capture, document)) = inner.or_else(elsewhere) else { return };
        if self.opened.insert((capture, document)) {
            self.end_line(place.in_host);
            self.steps.push(ReadingStep::EndOfLine(place.in_host));
            self.steps.push(ReadingStep::Node(
                0,
                ReadingPlace { capture, document, clip: None, scrolled: (0.0, 0.0), ..place },
            ));
        }
    }

    fn handle(&self, dom: &DomDocument<'a>, node: usize, capture: usize) -> Option<String> {
        let (frame, backend_node) = (dom.frame().to_owned(), dom.backend_node(node)?);
        let document = self.captures.get(capture)?.documents.get(&frame).cloned().unwrap_or_default();
        Some(NodeHandle { frame, document, backend_node }.to_string())
    }

    /// In something that takes texts itself, lines stay apart by a blank.
    fn end_line(&mut self, in_host: bool) {
        if in_host {
            self.run.push(' ');
            return;
        }
        self.end_run();
        if self.in_paragraph {
            self.tree.close();
            self.in_paragraph = false;
        }
    }

    fn end_run(&mut self) {
        self.run = collapse_blanks(&self.run);
        self.end_run_as_is();
    }

    fn end_run_as_is(&mut self) {
        let run = std::mem::take(&mut self.run);
        let mut rest = run.as_str();
        while !rest.is_empty() {
            let mut end = LONGEST_RUN.min(rest.len());
            while !rest.is_char_boundary(end) {
                end -= 1;
            }
            let (part, after) = rest.split_at(end);
            self.tree.add_leaf(Element::new(Role::Text, part, Rect::default()));
            rest = after;
        }
    }
}

/// One blank for each run of them, also at the ends: what stands beside is joined to it. Lines stay.
fn collapse_blanks(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    for sign in text.chars() {
        let blank = sign.is_whitespace() && sign != '\n';
        match (blank, result.ends_with([' ', '\n'])) {
            (true, true) => {}
            (true, false) => result.push(' '),
            (false, _) => result.push(sign),
        }
    }
    result
}

/// What an element is in the reading, and whether it takes texts itself.
fn block_role(dom: &DomDocument<'_>, node: usize, place: ReadingPlace) -> Option<(Role, bool)> {
    let is_cell = |role| Some((role, true)).filter(|_| place.in_table);
    match dom.tag(node) {
        _ if place.in_host && !matches!(dom.tag(node), "UL" | "OL" | "MENU" | "LI") => None,
        "H1" | "H2" | "H3" | "H4" | "H5" | "H6" => Some((Role::Heading, true)),
        _ if dom.word(node, "role") == "heading" => Some((Role::Heading, true)),
        "UL" | "OL" | "MENU" => Some((Role::List, false)),
        "LI" => Some((Role::ListItem, true)),
        "DT" | "DD" => Some((Role::Text, true)),
        "TABLE" if is_data_table(dom, node) => Some((Role::Table, false)),
        "TR" if place.in_table => Some((Role::Row, false)),
        "TD" => is_cell(Role::DataItem),
        "TH" => is_cell(Role::HeaderItem),
        _ => None,
    }
}

/// Rows of several cells without a table in them; the others only place things.
fn is_data_table(dom: &DomDocument<'_>, table: usize) -> bool {
    if matches!(dom.word(table, "role").as_str(), "presentation" | "none") {
        return false;
    }
    let mut rest: Vec<usize> = dom.children(table).collect();
    let (mut widest, mut rows) = (0, 0);
    while let Some(node) = rest.pop() {
        match dom.tag(node) {
            "TABLE" => return false,
            "TR" => {
                let cells = dom.children(node).filter(|&cell| matches!(dom.tag(cell), "TD" | "TH")).count();
                (widest, rows) = (widest.max(cells), rows + 1);
                rest.extend(dom.children(node));
            }
            _ => rest.extend(dom.children(node)),
        }
    }
    widest > 1 && rows > 1
}

/// What the page is about, where it says so: its `main`, or its only article.
fn main_node(dom: &DomDocument<'_>) -> Option<usize> {
    let shown = |&node: &usize| dom.is_rendered(node);
    let is_main = |&node: &usize| dom.tag(node) == "MAIN" || dom.word(node, "role") == "main";
    let is_article = |&node: &usize| dom.tag(node) == "ARTICLE";
    let nodes = || (0..dom.node_count()).filter(|&node| dom.is_element(node));
    let main = nodes().filter(is_main).find(shown);
    main.or_else(|| {
        let mut articles = nodes().filter(is_article).filter(shown);
        let first = articles.next()?;
        articles.next().is_none().then_some(first)
    })
}

fn is_around(dom: &DomDocument<'_>, node: usize) -> bool {
    AROUND_TAGS.contains(&dom.tag(node)) || AROUND_ROLES.contains(&dom.word(node, "role").as_str())
}

/// Nothing of it is read: it is worked, hidden, or cut down to nothing.
pub fn is_unread(dom: &DomDocument<'_>, node: usize) -> bool {
    let cuts = |style| !matches!(dom.style(node, style), "" | "visible");
    let is_tiny = |area: PageArea| area.width < UNSEEN_SIDE || area.height < UNSEEN_SIDE;
    let is_cut_away = || {
        (cuts(Style::OverflowX) || cuts(Style::OverflowY))
            && !matches!(dom.tag(node), "HTML" | "BODY")
            && dom.area(node).is_some_and(is_tiny)
    };
    is_left_out(dom, node)
        || CONTROLS.contains(&dom.tag(node))
        || dom.style(node, Style::Opacity) == "0"
        || is_cut_away()
}

/// What an element leaves to see of what is in it. What can be scrolled there is not cut off.
fn clip_within(dom: &DomDocument<'_>, node: usize, clip: Option<PageArea>) -> Option<PageArea> {
    let styles = [dom.style(node, Style::OverflowX), dom.style(node, Style::OverflowY)];
    if matches!(dom.tag(node), "HTML" | "BODY") || styles.contains(&"auto") || styles.contains(&"scroll") {
        return None;
    }
    let cuts = styles.iter().any(|style| matches!(*style, "hidden" | "clip"));
    match (cuts.then(|| dom.area(node)).flatten(), clip) {
        (Some(own), Some(clip)) => Some(common_part(own, clip)),
        (own, clip) => own.or(clip),
    }
}

impl ReadingPlace {
    /// Left of or above the page, where no scrolling leads, or outside of what shows.
    fn cuts_off(&self, area: PageArea) -> bool {
        area.is_empty()
            || area.x + area.width + self.scrolled.0 <= 0.0
            || area.y + area.height + self.scrolled.1 <= 0.0
            || self.clip.is_some_and(|clip| common_part(area, clip).is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::browser::decode::snapshot::PageSnapshot;
    use proptest::prelude::*;
    use serde_json::json;

    fn recorded(page: &str) -> Vec<FrameCapture> {
        serde_json::from_str(page).unwrap()
    }

    const FORM: &str = include_str!("../../../../tests/fixtures/browser/form.json");
    const FRAMES: &str = include_str!("../../../../tests/fixtures/browser/frames.json");
    const HIDDEN: &str = include_str!("../../../../tests/fixtures/browser/hidden.json");

    /// `Heading(Sign up)`, one after the other.
    fn parts(page: &str) -> Vec<String> {
        let tree = reading_tree(&recorded(page), "Page", false);
        let texts = |node: usize| -> String {
            tree.children(node).map(|child| tree[child].name.as_str()).collect::<String>()
        };
        let blocks = (1..tree.len()).filter(|&node| tree[node].identifier.is_some());
        blocks.map(|node| format!("{}({})", tree[node].role, one_space(&texts(node)))).collect()
    }

    #[test]
    fn a_page_is_its_headings_paragraphs_and_tables() {
        let form = parts(FORM);
        for part in ["Heading(Sign up)", "Text(Text with bold words and a link in it.)", "HeaderItem(Price)"]
        {
            assert!(form.contains(&part.to_owned()), "{part}: {form:#?}");
        }
        let all = form.join("\n");
        for left_out in ["hunter22", "424242", "Red", "Send"] {
            assert!(!all.contains(left_out), "{left_out}: {all}");
        }
    }

    #[test]
    fn links_have_addresses_and_handles() {
        let tree = reading_tree(&recorded(FORM), "Page", false);
        let link = tree.elements().iter().find(|part| part.name == "a link").unwrap();
        assert!(
            link.value.as_ref().is_some_and(|url| url.starts_with("http") && url.ends_with("/other.html"))
        );
        assert!(NodeHandle::parse(link.native.as_deref().unwrap()).is_some());
    }

    #[test]
    fn frames_are_read_where_they_stand() {
        let tree = reading_tree(&recorded(FRAMES), "Page", false);
        let looked = super::super::tree::page_tree(&recorded(FRAMES), "Page", Rect::new(0, 0, 1280, 800));
        let headings = |tree: &Tree| tree.elements().iter().filter(|part| part.role == Role::Heading).count();
        assert_eq!(headings(&tree), headings(&looked));
    }

    #[test]
    fn what_nobody_can_see_is_not_read() {
        let all = parts(HIDDEN).join("\n");
        for seen in ["seen", "but this", "in contents", "first line", "Logo", "below the fold"] {
            assert!(all.contains(seen), "{seen}: {all}");
        }
        for hidden in ["not displayed", "not visible", "transparent", "far to the left", "cut off"] {
            assert!(!all.contains(hidden), "{hidden}: {all}");
        }
    }

    proptest! {
        #[test]
        fn hostile_arrays_are_read_or_not(
            parents in proptest::collection::vec(-3i64..12, 0..12),
            names in proptest::collection::vec(-1i64..8, 0..12),
            frames in proptest::collection::vec(-1i64..3, 0..6),
        ) {
            let document = json!({
                "documentURL": 0, "baseURL": 99, "title": -1,
                "nodes": {
                    "parentIndex": parents, "nodeName": names, "nodeType": [9, 1, 1, 1, 3, 1, 3, 1, 1],
                    "contentDocumentIndex": { "index": [1, 2, 3, 4, 5], "value": frames },
                },
                "layout": { "nodeIndex": [0, 1, 2, 3, 4, 5, 6], "bounds": [[0.0, 0.0, 9.0, 9.0], [1.0]] },
            });
            let strings = ["http://a", "UL", "LI", "TABLE", "TR", "TD", "IFRAME", "PRE"];
            let value = json!({ "documents": [document.clone(), document], "strings": strings });
            let snapshot: PageSnapshot = serde_json::from_value(value).unwrap();
            let capture = FrameCapture { snapshot, ..FrameCapture::default() };
            prop_assert!(reading_tree(&[capture.clone(), capture], "hostile", true).len() < 200);
        }
    }
}
