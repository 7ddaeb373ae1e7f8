//! The arrays of `DOMSnapshot.captureSnapshot`, read as documents with nodes, parents, texts and places.
//!
//! Nothing of it is trusted: an index that leads nowhere reads as nothing, a parent that does not come before its child
//! makes the child an orphan, and nothing here recurses.

use std::cell::Cell;
use std::collections::{HashMap, HashSet};

use serde::Deserialize;

use super::rows::NumberRows;

/// The styles that a snapshot is asked for, in the order in which [`Style`] names them.
pub const STYLES: [&str; 11] = [
    "display",
    "visibility",
    "opacity",
    "cursor",
    "overflow-x",
    "overflow-y",
    "padding-left",
    "padding-top",
    "border-left-width",
    "border-top-width",
    "white-space",
];

/// The place of a style in [`STYLES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    Display,
    Visibility,
    Opacity,
    Cursor,
    OverflowX,
    OverflowY,
    PaddingLeft,
    PaddingTop,
    BorderLeft,
    BorderTop,
    WhiteSpace,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct PageSnapshot {
    pub documents: Vec<DocumentArrays>,
    strings: Vec<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct DocumentArrays {
    #[serde(rename = "documentURL")]
    document_url: i64,
    #[serde(rename = "baseURL")]
    base_url: Option<i64>,
    title: i64,
    frame_id: i64,
    scroll_offset_x: f64,
    scroll_offset_y: f64,
    nodes: NodeArrays,
    layout: LayoutArrays,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct NodeArrays {
    parent_index: Vec<i64>,
    node_type: Vec<i64>,
    node_name: Vec<i64>,
    node_value: Vec<i64>,
    backend_node_id: Vec<i64>,
    attributes: NumberRows<i64>,
    text_value: RareTexts,
    input_value: RareTexts,
    input_checked: RareFlags,
    option_selected: RareFlags,
    content_document_index: RareTexts,
    pseudo_type: RareTexts,
    is_clickable: RareFlags,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct LayoutArrays {
    node_index: Vec<i64>,
    styles: NumberRows<i64>,
    bounds: NumberRows<f64>,
    text: Vec<i64>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct RareTexts {
    index: Vec<i64>,
    value: Vec<i64>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct RareFlags {
    index: Vec<i64>,
}

/// A place in the coordinates of its document.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PageArea {
    pub x: f64,
    pub y: f64,
    pub width: f64,
    pub height: f64,
}

impl PageArea {
    fn read(numbers: &[f64]) -> Option<Self> {
        match numbers {
            [x, y, width, height] => Some(Self { x: *x, y: *y, width: *width, height: *height }),
            _ => None,
        }
    }

    pub fn is_empty(&self) -> bool {
        self.width <= 0.0 || self.height <= 0.0
    }

    pub fn moved_by(self, x: f64, y: f64) -> Self {
        Self { x: self.x + x, y: self.y + y, ..self }
    }

    /// The smallest that holds both.
    pub fn around(self, other: Self) -> Self {
        let (x, y) = (self.x.min(other.x), self.y.min(other.y));
        let right = (self.x + self.width).max(other.x + other.width);
        let bottom = (self.y + self.height).max(other.y + other.height);
        Self { x, y, width: right - x, height: bottom - y }
    }
}

const ELEMENT_NODE: i64 = 1;
const TEXT_NODE: i64 = 3;
const NOWHERE: usize = usize::MAX;

/// How often a node may be read for names, on the average. Elements within each other that are all named by what stands
/// in them would cost the square of their number.
const READS_A_NODE: usize = 64;

/// Generated content, which has no nodes of its own.
struct PseudoElement<'a> {
    /// The bullet or number of a list's item, which nobody calls it by.
    is_marker: bool,
    is_after: bool,
    texts: Vec<&'a str>,
}

/// One document of a snapshot, with its nodes linked.
pub struct DomDocument<'a> {
    arrays: &'a DocumentArrays,
    strings: &'a [String],
    first_child: Vec<usize>,
    next_sibling: Vec<usize>,
    parent: Vec<usize>,
    layout: Vec<usize>,
    clickable: HashSet<usize>,
    checked: HashSet<usize>,
    selected: HashSet<usize>,
    values: HashMap<usize, &'a str>,
    documents: HashMap<usize, usize>,
    pseudo: HashMap<usize, PseudoElement<'a>>,
    ids: HashMap<&'a str, usize>,
    labels: HashMap<&'a str, Vec<usize>>,
    reads_left: Cell<usize>,
}

impl<'a> DomDocument<'a> {
    pub fn new(snapshot: &'a PageSnapshot, index: usize) -> Option<Self> {
        let arrays = snapshot.documents.get(index)?;
        let strings = &snapshot.strings;
        let (parent, first_child, next_sibling) = link_nodes(&arrays.nodes.parent_index);
        let mut document = Self {
            layout: index_layout(&arrays.layout.node_index, parent.len()),
            clickable: read_flags(&arrays.nodes.is_clickable),
            checked: read_flags(&arrays.nodes.input_checked),
            selected: read_flags(&arrays.nodes.option_selected),
            values: [&arrays.nodes.input_value, &arrays.nodes.text_value]
                .into_iter()
                .flat_map(|rare| read_texts(rare, strings))
                .collect(),
            documents: read_pairs(&arrays.nodes.content_document_index)
                .filter_map(|(node, document)| Some((node, usize::try_from(document).ok()?)))
                .collect(),
            pseudo: read_texts(&arrays.nodes.pseudo_type, strings)
                .map(|(node, kind)| {
                    (
                        node,
                        PseudoElement {
                            is_after: kind == "after",
                            is_marker: kind == "marker",
                            texts: Vec::new(),
                        },
                    )
                })
                .collect(),
            ids: HashMap::new(),
            labels: HashMap::new(),
            reads_left: Cell::new(parent.len().saturating_mul(READS_A_NODE)),
            arrays,
            strings,
            first_child,
            next_sibling,
            parent,
        };
        document.index_names();
        document.read_pseudo_texts();
        Some(document)
    }

    /// Which node an id means, and which labels are for it.
    fn index_names(&mut self) {
        for node in 0..self.node_count() {
            if let Some(id) = self.attribute(node, "id").filter(|id| !id.is_empty()) {
                self.ids.entry(id).or_insert(node);
            }
            if self.tag(node) == "LABEL"
                && let Some(named) = self.attribute(node, "for")
            {
                self.labels.entry(named).or_default().push(node);
            }
        }
    }

    /// A pseudo-element has a layout of its own and one for each text in it.
    fn read_pseudo_texts(&mut self) {
        if self.pseudo.is_empty() {
            return;
        }
        let layout = &self.arrays.layout;
        for (&node, &text) in layout.node_index.iter().zip(&layout.text) {
            let text = self.text(text);
            let pseudo = usize::try_from(node).ok().and_then(|node| self.pseudo.get_mut(&node));
            if let Some(pseudo) = pseudo.filter(|pseudo| !text.is_empty() && !pseudo.is_marker) {
                pseudo.texts.push(text);
            }
        }
    }

    /// Counts a node that is read for a name. After too many none is read any more, and names are missing.
    pub fn may_read_on(&self) -> bool {
        let left = self.reads_left.get();
        self.reads_left.set(left.saturating_sub(1));
        left > 0
    }

    pub fn is_exhausted(&self) -> bool {
        self.node_count() > 0 && self.reads_left.get() == 0
    }

    pub fn node_count(&self) -> usize {
        self.parent.len()
    }

    fn text(&self, index: i64) -> &'a str {
        usize::try_from(index).ok().and_then(|index| self.strings.get(index)).map_or("", String::as_str)
    }

    pub fn url(&self) -> &'a str {
        self.text(self.arrays.document_url)
    }

    /// What its links count from.
    pub fn base_url(&self) -> &'a str {
        self.arrays
            .base_url
            .map(|index| self.text(index))
            .filter(|url| !url.is_empty())
            .unwrap_or_else(|| self.url())
    }

    pub fn title(&self) -> &'a str {
        self.text(self.arrays.title)
    }

    pub fn frame(&self) -> &'a str {
        self.text(self.arrays.frame_id)
    }

    /// How far it is scrolled.
    pub fn scroll_offset(&self) -> (f64, f64) {
        (self.arrays.scroll_offset_x, self.arrays.scroll_offset_y)
    }

    /// The part that shows at a time; the layout of the document node has its size.
    pub fn viewport(&self) -> PageArea {
        self.area(0).unwrap_or_default()
    }

    pub fn children(&self, node: usize) -> impl Iterator<Item = usize> + '_ {
        let links = |at: usize| (at != NOWHERE).then_some(at);
        let first = self.first_child.get(node).copied().and_then(links);
        std::iter::successors(first, move |&child| self.next_sibling.get(child).copied().and_then(links))
    }

    pub fn parent(&self, node: usize) -> Option<usize> {
        self.parent.get(node).copied().filter(|&parent| parent != NOWHERE)
    }

    /// From the node's parent to the document.
    pub fn ancestors(&self, node: usize) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(self.parent(node), |&at| self.parent(at))
    }

    pub fn is_element(&self, node: usize) -> bool {
        self.arrays.nodes.node_type.get(node) == Some(&ELEMENT_NODE)
    }

    pub fn is_text(&self, node: usize) -> bool {
        self.arrays.nodes.node_type.get(node) == Some(&TEXT_NODE)
    }

    pub fn is_pseudo(&self, node: usize) -> bool {
        self.pseudo.contains_key(&node)
    }

    pub fn pseudo_texts(&self, node: usize) -> &[&'a str] {
        self.pseudo.get(&node).map_or(&[], |pseudo| pseudo.texts.as_slice())
    }

    /// Children as they are read: a snapshot has `::after` before what it comes after.
    pub fn children_in_order(&self, node: usize) -> Vec<usize> {
        let mut children: Vec<usize> = self.children(node).collect();
        if !self.pseudo.is_empty() {
            children.sort_by_key(|child| self.pseudo.get(child).is_some_and(|pseudo| pseudo.is_after));
        }
        children
    }

    /// `BUTTON`; elements of SVG are in small letters.
    pub fn tag(&self, node: usize) -> &'a str {
        self.arrays.nodes.node_name.get(node).map_or("", |&name| self.text(name))
    }

    pub fn backend_node(&self, node: usize) -> Option<i64> {
        self.arrays.nodes.backend_node_id.get(node).copied()
    }

    pub fn attribute(&self, node: usize, name: &str) -> Option<&'a str> {
        let pairs = self.arrays.nodes.attributes.get(node)?.chunks_exact(2);
        pairs.into_iter().find(|pair| self.text(pair[0]) == name).map(|pair| self.text(pair[1]))
    }

    pub fn has_attribute(&self, node: usize, name: &str) -> bool {
        self.attribute(node, name).is_some()
    }

    /// An attribute in small letters, as those that are compared with words are.
    pub fn word(&self, node: usize, name: &str) -> String {
        self.attribute(node, name).unwrap_or_default().trim().to_ascii_lowercase()
    }

    /// What a field holds now.
    pub fn field_value(&self, node: usize) -> Option<&'a str> {
        self.values.get(&node).copied()
    }

    pub fn is_clickable(&self, node: usize) -> bool {
        self.clickable.contains(&node)
    }

    pub fn is_checked(&self, node: usize) -> bool {
        self.checked.contains(&node)
    }

    pub fn is_selected_option(&self, node: usize) -> bool {
        self.selected.contains(&node)
    }

    /// The number of the document that a frame shows, if it is in this snapshot.
    pub fn content_document(&self, node: usize) -> Option<usize> {
        self.documents.get(&node).copied()
    }

    pub fn node_with_id(&self, id: &str) -> Option<usize> {
        self.ids.get(id).copied()
    }

    pub fn labels_for(&self, id: &str) -> &[usize] {
        self.labels.get(id).map_or(&[], Vec::as_slice)
    }

    fn layout_of(&self, node: usize) -> Option<usize> {
        self.layout.get(node).copied().filter(|&at| at != NOWHERE)
    }

    /// Whether it takes part in what is drawn.
    pub fn is_rendered(&self, node: usize) -> bool {
        self.layout_of(node).is_some()
    }

    pub fn area(&self, node: usize) -> Option<PageArea> {
        self.arrays.layout.bounds.get(self.layout_of(node)?).and_then(PageArea::read)
    }

    pub fn style(&self, node: usize, style: Style) -> &'a str {
        let layout = self.layout_of(node);
        let styles = layout.and_then(|layout| self.arrays.layout.styles.get(layout));
        styles.and_then(|styles| styles.get(style as usize)).map_or("", |&index| self.text(index))
    }

    /// A text node's text: as it is drawn, or as it is written where it is not.
    pub fn node_text(&self, node: usize) -> &'a str {
        let drawn = self.layout_of(node).and_then(|layout| self.arrays.layout.text.get(layout));
        match drawn.map(|&index| self.text(index)).filter(|text| !text.is_empty()) {
            Some(text) => text,
            None => self.written_text(node),
        }
    }

    /// A text node's text as it is written.
    pub fn written_text(&self, node: usize) -> &'a str {
        self.arrays.nodes.node_value.get(node).map_or("", |&value| self.text(value))
    }
}

type NodeLinks = (Vec<usize>, Vec<usize>, Vec<usize>);

/// Parent, first child and next sibling of each node. A parent comes before its children, or it is none.
fn link_nodes(parent_index: &[i64]) -> NodeLinks {
    let count = parent_index.len();
    let (mut parent, mut first, mut next, mut last) =
        (vec![NOWHERE; count], vec![NOWHERE; count], vec![NOWHERE; count], vec![NOWHERE; count]);
    for (node, &index) in parent_index.iter().enumerate() {
        let Some(above) = usize::try_from(index).ok().filter(|&above| above < node) else { continue };
        parent[node] = above;
        match last[above] {
            NOWHERE => first[above] = node,
            elder => next[elder] = node,
        }
        last[above] = node;
    }
    (parent, first, next)
}

/// The first layout of each node: the first line's letter and the marker of a list have their own.
fn index_layout(node_index: &[i64], count: usize) -> Vec<usize> {
    let mut layout = vec![NOWHERE; count];
    for (at, &node) in node_index.iter().enumerate() {
        if let Some(place) = usize::try_from(node).ok().and_then(|node| layout.get_mut(node))
            && *place == NOWHERE
        {
            *place = at;
        }
    }
    layout
}

fn read_flags(rare: &RareFlags) -> HashSet<usize> {
    rare.index.iter().filter_map(|&node| usize::try_from(node).ok()).collect()
}

fn read_pairs(rare: &RareTexts) -> impl Iterator<Item = (usize, i64)> + '_ {
    let pairs = rare.index.iter().zip(&rare.value);
    pairs.filter_map(|(&node, &value)| Some((usize::try_from(node).ok()?, value)))
}

fn read_texts<'a>(rare: &'a RareTexts, strings: &'a [String]) -> impl Iterator<Item = (usize, &'a str)> {
    read_pairs(rare)
        .filter_map(|(node, value)| Some((node, strings.get(usize::try_from(value).ok()?)?.as_str())))
}
