//! The sketch: a window's elements as boxes of characters, with a legend below.
//!
//! Three passes over the tree's pre-order: number the elements and find the hidden ones, draw the
//! boxes, lay recognised text over them. The rules are kept to the character because clients
//! compare sketches. This room reads no screen and recognises no text; its caller has checked the size of
//! the grid.

mod cover;
mod element;
mod grid;
mod label;
mod legend;
mod role;

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Serialize;

pub use element::SketchElement;
pub use legend::Legend;

use crate::config::AsciiSketch;
use crate::model::{Element, Rect, Tree};
use grid::{BLANK, Border, CellFrame, Scale, SketchGrid};

#[derive(Clone, Debug, PartialEq)]
pub struct SketchOptions {
    pub grid_width: usize,
    pub grid_height: usize,
    pub unicode_box: bool,
    pub role_glyphs: bool,
    pub occlusion_prune: bool,
    pub tab_index_badges: bool,
    pub landmark_headers: bool,
}

impl Default for SketchOptions {
    fn default() -> Self {
        Self {
            grid_width: 110,
            grid_height: 38,
            unicode_box: true,
            role_glyphs: true,
            occlusion_prune: true,
            tab_index_badges: true,
            landmark_headers: true,
        }
    }
}

impl From<&AsciiSketch> for SketchOptions {
    fn from(config: &AsciiSketch) -> Self {
        Self {
            grid_width: config.grid_width,
            grid_height: config.grid_height,
            unicode_box: config.unicode_box,
            role_glyphs: config.role_glyphs,
            occlusion_prune: config.occlusion_prune,
            tab_index_badges: config.tab_index_badges,
            landmark_headers: config.landmark_headers,
        }
    }
}

/// One recognised line of text, in screen coordinates.
#[derive(Clone, Debug, PartialEq)]
pub struct OcrLine {
    pub text: String,
    pub bounds: Rect,
    pub confidence: f32,
}

/// What was read in the picture of the window, for one sketch.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SketchReading {
    pub lines: Vec<OcrLine>,
    /// What stands in elements that have no name, by node; it is drawn as their name.
    pub names: BTreeMap<usize, String>,
}

/// Serialises as the keys that a structured reply adds; `text` alone is the plain reply.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Sketch<'a> {
    #[serde(rename = "sketch")]
    pub text: String,
    /// Every element of the tree, drawn or not, in pre-order.
    pub elements: Vec<SketchElement<'a>>,
    pub legend: Legend,
}

/// Draws `tree` on a grid that stands for `reference`: the window's bounds, or the root's.
pub fn draw_sketch<'a>(
    tree: &'a Tree,
    reference: Rect,
    options: &SketchOptions,
    reading: &SketchReading,
) -> Sketch<'a> {
    let mut elements = number_elements(tree, options.occlusion_prune);
    let mut page = SketchPage::new(reference, options);
    for element in elements.iter_mut().filter(|element| !element.occluded && !tree[element.node].hidden) {
        element.ocr_text = reading.names.get(&element.node).cloned();
        element.bounds_grid =
            page.draw_element(&with_name(&tree[element.node], element.ocr_text.as_deref()), element);
    }
    page.lay_over(&reading.lines);
    let text = page.grid.text() + &page.legend.text(page.grid.border.horizontal);
    Sketch { text, elements, legend: page.legend }
}

fn with_name<'a>(element: &'a Element, read: Option<&str>) -> Cow<'a, Element> {
    match read {
        Some(text) => Cow::Owned(Element { name: text.to_owned(), ..element.clone() }),
        None => Cow::Borrowed(element),
    }
}

/// The elements whose names only a picture can tell, in pre-order: they are drawn, of a role that often has
/// no name, and no text is known of anything in them. Where one lies within another, the inner one counts:
/// what can be read in the outer one is the inner one's text.
pub fn worth_reading(tree: &Tree, options: &SketchOptions) -> Vec<usize> {
    let mut says_something = vec![false; tree.len()];
    let mut found = Vec::new();
    let elements = number_elements(tree, options.occlusion_prune);
    for (node, numbered) in elements.iter().enumerate().rev() {
        let unread = is_picture_without_text(&tree[node]) && !says_something[node] && !numbered.occluded;
        if unread {
            found.push(node);
        }
        if let Some(parent) = tree.parent(node) {
            says_something[parent] |= says_something[node] || unread || has_text(&tree[node]);
        }
    }
    found.reverse();
    found
}

fn is_picture_without_text(element: &Element) -> bool {
    let hidden = element.redacted || element.secret || element.hidden;
    let nameless = element.name.trim().is_empty() && !element.bounds.is_empty();
    nameless && !hidden && role::is_often_nameless(&role::normal_form(element.role.name()))
}

fn has_text(element: &Element) -> bool {
    let value = element.value.as_deref().unwrap_or_default();
    [&*element.name, value].iter().any(|text| !text.trim().is_empty())
}

/// Pass 1: what is hidden, and who would get the focus when.
fn number_elements(tree: &Tree, occlusion_prune: bool) -> Vec<SketchElement<'_>> {
    let covered =
        if occlusion_prune { cover::covered_by_later_siblings(tree) } else { vec![false; tree.len()] };
    let mut elements: Vec<SketchElement> = Vec::with_capacity(tree.len());
    let mut tab_stops = 0;
    for node in 0..tree.len() {
        let hidden = covered[node] || tree.parent(node).is_some_and(|parent| elements[parent].occluded);
        let is_stop =
            !hidden && !tree[node].hidden && role::is_focusable(&role::normal_form(tree[node].role.name()));
        tab_stops += usize::from(is_stop);
        elements.push(SketchElement::new(tree, node, hidden, is_stop.then_some(tab_stops)));
    }
    elements
}

/// The grid and the legend as they fill, and the scales between screen and grid.
struct SketchPage<'a> {
    options: &'a SketchOptions,
    columns: Scale,
    rows: Scale,
    grid: SketchGrid,
    legend: Legend,
}

/// What the drawing of one element needs to have at hand.
struct ElementDrawing<'a> {
    element: &'a Element,
    normal_role: String,
    frame: CellFrame,
    key: String,
    badge: Option<String>,
}

impl ElementDrawing<'_> {
    fn has_room_for_key(&self) -> bool {
        self.frame.inner_width() > self.key.len()
    }

    /// First row and number of rows of the label: below the row of key and badge if that leaves any.
    fn label_rows(&self) -> (usize, usize) {
        let (top, rows) = (self.frame.y1 + 1, self.frame.inner_height());
        if rows > 1 && (self.badge.is_some() || self.has_room_for_key()) {
            (top + 1, rows - 1)
        } else {
            (top, rows)
        }
    }
}

impl<'a> SketchPage<'a> {
    fn new(reference: Rect, options: &'a SketchOptions) -> Self {
        let (width, height) = (options.grid_width, options.grid_height);
        Self {
            options,
            columns: Scale::new(reference.x, reference.width, width),
            rows: Scale::new(reference.y, reference.height, height),
            grid: SketchGrid::new(width, height, Border::of(options.unicode_box)),
            legend: Legend::default(),
        }
    }

    /// Pass 2 for one element. Returns its box in cells if it got one.
    fn draw_element(&mut self, element: &Element, numbers: &SketchElement) -> Option<[usize; 4]> {
        let frame = CellFrame::of(element.bounds, &self.columns, &self.rows)?;
        let badge = numbers.tab_index.filter(|_| self.options.tab_index_badges).map(tab_badge);
        let normal_role = role::normal_form(element.role.name());
        let drawing = ElementDrawing { element, normal_role, frame, key: numbers.legend_key(), badge };
        self.grid.draw_outline(&frame);
        self.write_header(&drawing);
        if frame.inner_width() > 0 {
            self.write_inside(&drawing);
            self.legend.0.push((drawing.key, legend::legend_entry(element)));
        }
        Some([frame.x1, frame.y1, frame.x2, frame.y2])
    }

    fn write_header(&mut self, drawing: &ElementDrawing) {
        let frame = drawing.frame;
        let landmark = role::landmark(&drawing.normal_role).filter(|_| self.options.landmark_headers);
        if let (true, Some(landmark)) = (frame.x2 - frame.x1 >= 6, landmark) {
            let header = match &*drawing.element.name {
                "" => format!(" {landmark} "),
                name => format!(" {landmark} \"{name}\" "),
            };
            self.grid.write_over(frame.x1 + 1, frame.y1, frame.x2, &header);
        }
    }

    fn write_inside(&mut self, drawing: &ElementDrawing) {
        let frame = drawing.frame;
        self.write_key(drawing);
        self.write_badge(drawing);
        if frame.inner_height() < 1 || frame.inner_width() < 3 {
            self.write_key_in_the_middle(drawing);
        } else {
            self.write_label(drawing);
        }
    }

    fn write_key(&mut self, drawing: &ElementDrawing) {
        let CellFrame { y1, x2, .. } = drawing.frame;
        if drawing.has_room_for_key() && drawing.frame.inner_height() >= 1 {
            self.grid.write_blank(x2 - drawing.key.len(), y1 + 1, x2, &drawing.key);
        }
    }

    fn write_badge(&mut self, drawing: &ElementDrawing) {
        let frame = drawing.frame;
        if let Some(badge) = &drawing.badge {
            let row = frame.y1 + frame.inner_height().min(1);
            self.grid.write_blank(frame.x1 + 1, row, frame.x2, badge);
        }
    }

    fn write_key_in_the_middle(&mut self, drawing: &ElementDrawing) {
        let CellFrame { x1, y1, x2, y2 } = drawing.frame;
        let middle = (x1 + x2) / 2;
        self.grid.write_blank(middle, (y1 + y2) / 2, middle + 2, &drawing.key);
    }

    fn write_label(&mut self, drawing: &ElementDrawing) {
        let frame = drawing.frame;
        let (top, rows) = drawing.label_rows();
        let glyph = role::glyph(&drawing.normal_role).filter(|_| self.options.role_glyphs);
        let lines = label::label_lines(drawing.element, glyph, frame.inner_width(), rows);
        for (row, line) in (top..).zip(lines) {
            self.grid.write_blank(frame.x1 + 1, row, frame.x2, &line);
        }
    }

    /// Pass 3: recognised text over blanks, labels and what was recognised with less confidence.
    fn lay_over(&mut self, overlay: &[OcrLine]) {
        let mut confidence = vec![0.0; if overlay.is_empty() { 0 } else { self.grid.len() }];
        for line in overlay {
            let row = self.rows.cell_of_middle(line.bounds.y, line.bounds.height);
            let first = self.columns.cell_at(i64::from(line.bounds.x));
            let last = self.columns.cell_of_end(line.bounds.x, line.bounds.width);
            for (column, character) in (first..=last).zip(line.text.chars()) {
                self.lay_character(column, row, character, line.confidence, &mut confidence);
            }
        }
    }

    fn lay_character(&mut self, x: usize, y: usize, character: char, sure: f32, confidence: &mut [f32]) {
        let (Some(at), Some(present)) = (self.grid.index(x, y), self.grid.get(x, y)) else {
            return;
        };
        let gives_way = present == BLANK || confidence[at] < sure;
        if gives_way && !self.grid.border.contains(present) {
            self.grid.set(x, y, character);
            confidence[at] = sure;
        }
    }
}

/// ①…⑳, then `#21`.
fn tab_badge(number: usize) -> String {
    const CIRCLED: &str = "①②③④⑤⑥⑦⑧⑨⑩⑪⑫⑬⑭⑮⑯⑰⑱⑲⑳";
    let circled = number.checked_sub(1).and_then(|at| CIRCLED.chars().nth(at));
    circled.map_or_else(|| format!("#{number}"), String::from)
}

#[cfg(test)]
pub(super) mod fixtures;
#[cfg(test)]
mod tests;
