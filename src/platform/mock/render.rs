//! What the mock desktop looks like, drawn so that people, models and OCR can read it.
//!
//! One table leads from a role to its look; nothing else here depends on a role's name. Two promises:
//! the value of a secret element never changes a pixel, and only what the tree contains is drawn, so
//! no picture shows a button that cannot be found.

use std::borrow::Cow;

use crate::error::Result;
use crate::model::draw::{Canvas, FontWeight, LETTER_WIDTH, LINE_HEIGHT, Side, letters_up_to, wrapped_lines};
use crate::model::image::{Picture, Rgba};
use crate::model::{Element, Point, Rect, Tree, Window};

const INK: Rgba = [0, 0, 0, 255];
const DISABLED_INK: Rgba = [128, 128, 128, 255];
const HINT_INK: Rgba = [112, 112, 112, 255];
const LINK_INK: Rgba = [0, 71, 171, 255];
const PAPER: Rgba = [255, 255, 255, 255];
const FACE: Rgba = [240, 240, 240, 255];
const BUTTON_FACE: Rgba = [225, 225, 225, 255];
const NOTE: Rgba = [255, 255, 225, 255];
const LINE: Rgba = [122, 122, 122, 255];
const SOFT_LINE: Rgba = [205, 205, 205, 255];
const ACCENT: Rgba = [0, 103, 192, 255];
const SELECTION: Rgba = [153, 209, 255, 255];
const PROGRESS: Rgba = [6, 176, 37, 255];
const TITLE_OF_ACTIVE: Rgba = [204, 228, 247, 255];
const DESKTOP: Rgba = [58, 110, 165, 255];

const TITLE_HEIGHT: i32 = 20;
const PADDING: i32 = 6;
const MARK_SIZE: i32 = 12;
/// Always as many, because the length of a password is a secret too.
const SECRET_DOTS: i32 = 8;
/// Far outside every picture, and far enough from the end of the numbers to calculate without care.
const FAR_AWAY: i64 = 1 << 28;

struct RoleStyle {
    fill: Option<Rgba>,
    edge: Edge,
    shape: ElementShape,
    text: ShownText,
    align: Align,
    ink: Rgba,
    weight: FontWeight,
}

#[derive(Clone, Copy, PartialEq)]
enum Edge {
    None,
    Soft,
    Field,
    Raised,
}

/// What is drawn beside or instead of the text.
#[derive(Clone, Copy, PartialEq)]
enum ElementShape {
    Plain,
    /// A frame with a title bar where its content leaves room for one.
    Titled,
    /// A box around a group, with its name where its content leaves room.
    Captioned,
    TickBox,
    RoundMark,
    Row,
    BranchRow,
    MenuRow,
    DropDown,
    Spinner,
    Underlined,
    Progress,
    Slider,
    ScrollBar,
    Divider,
}

#[derive(Clone, Copy, PartialEq)]
enum ShownText {
    Nothing,
    Name,
    ValueElseName,
    /// The value; while there is none the name as a grey hint.
    ValueElseHint,
    /// The value, from the top down.
    Lines,
}

#[derive(Clone, Copy, PartialEq)]
enum Align {
    Left,
    Center,
}

/// How a text is written.
struct TextLook {
    ink: Rgba,
    weight: FontWeight,
    align: Align,
}

/// The look of an element that is only there to hold others.
const BARE: RoleStyle = RoleStyle {
    fill: None,
    edge: Edge::None,
    shape: ElementShape::Plain,
    text: ShownText::Nothing,
    align: Align::Left,
    ink: INK,
    weight: FontWeight::Regular,
};
const LABEL: RoleStyle = RoleStyle { text: ShownText::ValueElseName, ..BARE };
const NAMED: RoleStyle = RoleStyle { text: ShownText::Name, ..BARE };
const BAR: RoleStyle = RoleStyle { fill: Some(FACE), ..BARE };
const SHEET: RoleStyle = RoleStyle { fill: Some(PAPER), ..BARE };
const FIELD: RoleStyle = RoleStyle { edge: Edge::Field, text: ShownText::ValueElseHint, ..SHEET };
const BUTTON: RoleStyle = RoleStyle {
    fill: Some(BUTTON_FACE),
    edge: Edge::Raised,
    text: ShownText::Name,
    align: Align::Center,
    ..BARE
};

/// From role to look. Roles are compared in small letters without blanks, `-` and `_`; a role that is
/// not listed looks like a label.
const STYLES: &[(&[&str], RoleStyle)] = &[
    (&["window", "dialog", "alert"], RoleStyle { fill: Some(FACE), shape: ElementShape::Titled, ..BARE }),
    (&["pane", "panel", "section", "form", "filler", "viewport", "scrollpane", "splitpane"], BARE),
    (&["custom", "tabpanel", "navigation", "banner", "sidebar", "main"], BARE),
    (&["group", "groupbox", "radiogroup"], RoleStyle { shape: ElementShape::Captioned, ..BARE }),
    (&["menubar", "toolbar", "titlebar", "statusbar", "header"], BAR),
    (&["menu", "popupmenu"], RoleStyle { edge: Edge::Soft, ..SHEET }),
    (&["menuitem", "checkmenuitem", "radiomenuitem"], RoleStyle { shape: ElementShape::MenuRow, ..NAMED }),
    // Bold, because OCR reads the full stops of small bold letters and misses those of regular ones.
    (&["document", "webarea"], RoleStyle { text: ShownText::Lines, weight: FontWeight::Bold, ..SHEET }),
    (&["terminal", "textarea"], RoleStyle { text: ShownText::Lines, ..FIELD }),
    (&["edit", "textfield", "editabletext", "entry", "passwordtext", "searchbox"], FIELD),
    (&["combobox", "dropdownbutton", "popupbutton"], RoleStyle { shape: ElementShape::DropDown, ..FIELD }),
    (&["spinner", "spinbutton"], RoleStyle { shape: ElementShape::Spinner, ..FIELD }),
    (&["button", "pushbutton", "splitbutton", "menubutton"], BUTTON),
    (&["tab", "pagetablist", "tablist"], BAR),
    (&["tabitem", "pagetab", "togglebutton"], RoleStyle { shape: ElementShape::Row, ..BUTTON }),
    (&["headeritem", "columnheader", "rowheader"], RoleStyle { align: Align::Left, ..BUTTON }),
    (&["checkbox", "switch"], RoleStyle { shape: ElementShape::TickBox, ..NAMED }),
    (&["radiobutton", "radio", "radioitem"], RoleStyle { shape: ElementShape::RoundMark, ..NAMED }),
    (&["list", "listbox", "tree", "table", "datagrid", "grid"], RoleStyle { edge: Edge::Field, ..SHEET }),
    (&["listitem", "option", "dataitem", "row", "tablerow"], RoleStyle { shape: ElementShape::Row, ..NAMED }),
    (&["cell", "tablecell", "gridcell"], LABEL),
    (&["treeitem", "outlineitem"], RoleStyle { shape: ElementShape::BranchRow, ..NAMED }),
    (&["link", "hyperlink"], RoleStyle { shape: ElementShape::Underlined, ink: LINK_INK, ..NAMED }),
    (&["heading"], RoleStyle { weight: FontWeight::Bold, ..LABEL }),
    (&["image", "graphic", "canvas"], RoleStyle { edge: Edge::Soft, align: Align::Center, ..NAMED }),
    (&["tooltip", "notification"], RoleStyle { fill: Some(NOTE), edge: Edge::Soft, ..LABEL }),
    (&["progressbar", "meter"], RoleStyle { fill: Some(BUTTON_FACE), shape: ElementShape::Progress, ..BARE }),
    (&["slider"], RoleStyle { shape: ElementShape::Slider, ..BARE }),
    (&["scrollbar"], RoleStyle { fill: Some(FACE), shape: ElementShape::ScrollBar, ..BARE }),
    (&["thumb"], RoleStyle { fill: Some(SOFT_LINE), ..BARE }),
    (&["separator"], RoleStyle { shape: ElementShape::Divider, ..BARE }),
];

/// The window alone, as large as its bounds. Fails when these are larger than a picture may be.
pub fn draw_window(window: &Window, tree: &Tree) -> Result<Picture> {
    let side = |pixels: i32| u32::try_from(pixels).unwrap_or(0);
    let mut picture = Picture::new(side(window.bounds.width), side(window.bounds.height), FACE)?;
    let origin = Point { x: window.bounds.x, y: window.bounds.y };
    WindowScene { window, tree, origin }.paint(&mut Canvas::new(&mut picture));
    Ok(picture)
}

/// The screen from its left upper corner on, with every window that is not minimized.
pub fn draw_desktop(size: (u32, u32), windows_back_to_front: &[(&Window, &Tree)]) -> Result<Picture> {
    let mut picture = Picture::new(size.0, size.1, DESKTOP)?;
    let mut canvas = Canvas::new(&mut picture);
    let origin = Point::default();
    for (window, tree) in windows_back_to_front.iter().filter(|(window, _)| !window.minimized) {
        WindowScene { window, tree, origin }.paint(&mut canvas);
    }
    Ok(picture)
}

/// One window on its way into a picture whose left upper corner is `origin` on the screen.
struct WindowScene<'a> {
    window: &'a Window,
    tree: &'a Tree,
    origin: Point,
}

/// One element that is about to be drawn, in the coordinates of the picture.
struct DrawnElement<'a> {
    element: &'a Element,
    style: &'a RoleStyle,
    area: Rect,
    /// The title or caption, where the content leaves room for it.
    heading: Option<&'a str>,
}

impl WindowScene<'_> {
    fn paint(&self, canvas: &mut Canvas) {
        let Some(frame) = self.local(self.window.bounds) else { return };
        let mut canvas = canvas.inside(frame);
        let room = self.highest_content();
        self.paint_frame(&mut canvas, frame, room[Tree::ROOT]);
        let mut node = self.first_painted();
        while node < self.tree.len() {
            self.paint_node(&mut canvas, node, room[node]);
            // What a secret element contains may repeat its value.
            node = if self.tree[node].secret { self.tree.end(node) } else { node + 1 };
        }
        canvas.border(frame, 1, LINE, LINE);
    }

    /// The frame itself is drawn as the root when the root is a window or a dialog.
    fn first_painted(&self) -> usize {
        usize::from(style_of(self.tree[Tree::ROOT].role.name()).shape == ElementShape::Titled)
    }

    fn paint_frame(&self, canvas: &mut Canvas, frame: Rect, highest: i32) {
        canvas.fill(frame, FACE);
        if leaves_room(self.window.bounds, highest) {
            paint_title(canvas, frame, &self.window.title, self.window.focused);
        }
    }

    fn paint_node(&self, canvas: &mut Canvas, node: usize, highest: i32) {
        let element = &self.tree[node];
        let Some(area) = self.local(element.bounds) else { return };
        let heading = leaves_room(element.bounds, highest).then_some(&*element.name);
        paint_item(
            &mut canvas.inside(area),
            &DrawnElement { element, style: style_of(element.role.name()), area, heading },
        );
    }

    /// Moves a rectangle from the screen into the picture. What has no area is not drawn.
    fn local(&self, bounds: Rect) -> Option<Rect> {
        let near = |at: i64| at.clamp(-FAR_AWAY, FAR_AWAY) as i32;
        let span = |start: i32, length: i32, origin: i32| {
            let start = i64::from(start) - i64::from(origin);
            (near(start), near(start + i64::from(length)))
        };
        let (left, right) = span(bounds.x, bounds.width, self.origin.x);
        let (top, bottom) = span(bounds.y, bounds.height, self.origin.y);
        (right > left && bottom > top).then(|| Rect::new(left, top, right - left, bottom - top))
    }

    /// For every node the top edge of the highest thing drawn below it, in one pass from the end.
    fn highest_content(&self) -> Vec<i32> {
        let mut highest = vec![i32::MAX; self.tree.len()];
        for node in (0..self.tree.len()).rev() {
            if let Some(parent) = self.tree.parent(node) {
                let own = self.top_if_drawn(&self.tree[node]);
                highest[parent] = highest[parent].min(highest[node]).min(own);
            }
        }
        highest
    }

    fn top_if_drawn(&self, element: &Element) -> i32 {
        let seen = leaves_a_trace(element) && element.bounds.intersects(&self.window.bounds);
        if seen { element.bounds.y } else { i32::MAX }
    }
}

fn leaves_a_trace(element: &Element) -> bool {
    let style = style_of(element.role.name());
    match style.shape {
        ElementShape::Plain => style.fill.is_some() || style.text != ShownText::Nothing,
        ElementShape::Captioned => !element.name.is_empty(),
        _ => true,
    }
}

fn style_of(role: &str) -> &'static RoleStyle {
    STYLES
        .iter()
        .find(|(roles, _)| roles.iter().any(|known| is_role(role, known)))
        .map_or(&LABEL, |(_, style)| style)
}

fn is_role(role: &str, known: &str) -> bool {
    let letters = role.bytes().filter(|byte| !matches!(byte, b' ' | b'_' | b'-'));
    letters.map(|byte| byte.to_ascii_lowercase()).eq(known.bytes())
}

fn leaves_room(bounds: Rect, highest: i32) -> bool {
    bounds.height > TITLE_HEIGHT && highest >= bounds.y.saturating_add(TITLE_HEIGHT)
}

fn paint_item(canvas: &mut Canvas, item: &DrawnElement) {
    if let Some(color) = fill_of(item) {
        canvas.fill(item.area, color);
    }
    paint_edge(canvas, item);
    let text_area = paint_shape(canvas, item);
    paint_text(&mut canvas.inside(text_area), item, text_area);
    if item.element.focused && item.style.shape != ElementShape::Titled {
        canvas.border(item.area, 2, ACCENT, ACCENT);
    }
}

fn fill_of(item: &DrawnElement) -> Option<Rgba> {
    let chosen = match item.style.shape {
        ElementShape::Row | ElementShape::BranchRow => is_marked(item.element),
        ElementShape::MenuRow => is_marked(item.element) || item.element.expanded == Some(true),
        _ => false,
    };
    if chosen { Some(SELECTION) } else { item.style.fill }
}

fn paint_edge(canvas: &mut Canvas, item: &DrawnElement) {
    match item.style.edge {
        Edge::None => {}
        Edge::Soft => canvas.border(item.area, 1, SOFT_LINE, SOFT_LINE),
        Edge::Field => canvas.border(item.area, 1, LINE, LINE),
        Edge::Raised => {
            canvas.border(item.area, 1, LINE, LINE);
            canvas.border(shrunk(item.area, 1), 1, PAPER, SOFT_LINE);
        }
    }
}

/// Draws the shape and returns where the text has its place beside it.
fn paint_shape(canvas: &mut Canvas, item: &DrawnElement) -> Rect {
    match item.style.shape {
        ElementShape::Plain | ElementShape::Row => {}
        ElementShape::Titled => paint_inner_frame(canvas, item),
        ElementShape::Captioned => paint_group(canvas, item),
        ElementShape::TickBox => return paint_tick_box(canvas, item),
        ElementShape::RoundMark => return paint_round_mark(canvas, item),
        ElementShape::BranchRow => return paint_branch(canvas, item),
        ElementShape::MenuRow => return paint_shortcut(canvas, item),
        ElementShape::DropDown => return paint_drop_down(canvas, item),
        ElementShape::Spinner => return paint_spinner(canvas, item),
        ElementShape::Underlined => paint_underline(canvas, item),
        ElementShape::Progress => paint_progress(canvas, item),
        ElementShape::Slider => paint_slider(canvas, item),
        ElementShape::ScrollBar => paint_scroll_bar(canvas, item),
        ElementShape::Divider => paint_divider(canvas, item.area),
    }
    item.area
}

fn paint_title(canvas: &mut Canvas, frame: Rect, title: &str, active: bool) {
    let bar = Rect { height: TITLE_HEIGHT, ..frame };
    let (fill, ink) = if active { (TITLE_OF_ACTIVE, INK) } else { (PAPER, HINT_INK) };
    canvas.fill(bar, fill);
    canvas.fill(Rect { y: bar.bottom() - 1, height: 1, ..bar }, SOFT_LINE);
    paint_line(canvas, bar, title, &TextLook { ink, weight: FontWeight::Bold, align: Align::Left });
}

fn paint_inner_frame(canvas: &mut Canvas, item: &DrawnElement) {
    if let Some(title) = item.heading {
        paint_title(canvas, item.area, title, true);
    }
    canvas.border(item.area, 1, LINE, LINE);
}

fn paint_group(canvas: &mut Canvas, item: &DrawnElement) {
    let Some(caption) = item.heading.filter(|caption| !caption.is_empty()) else { return };
    let half = LINE_HEIGHT / 2;
    let frame = Rect { y: item.area.y + half, height: item.area.height - half, ..item.area };
    canvas.border(frame, 1, SOFT_LINE, SOFT_LINE);
    let width = text_width(caption, &item.area) + 2 * PADDING;
    let gap = Rect::new(item.area.x + PADDING, item.area.y, width, LINE_HEIGHT);
    canvas.fill(gap, FACE);
    paint_line(canvas, gap, caption, &look_of(item));
}

fn paint_tick_box(canvas: &mut Canvas, item: &DrawnElement) -> Rect {
    let mark = mark_square(item.area);
    canvas.fill(mark, PAPER);
    canvas.border(mark, 1, ink_of(item), ink_of(item));
    if is_marked(item.element) {
        canvas.tick(Point { x: mark.x, y: mark.y }, ink_of(item));
    }
    right_of_mark(item.area)
}

fn paint_round_mark(canvas: &mut Canvas, item: &DrawnElement) -> Rect {
    let center = mark_square(item.area).center();
    canvas.disc(center, MARK_SIZE, ink_of(item));
    canvas.disc(center, MARK_SIZE - 2, PAPER);
    if is_marked(item.element) {
        canvas.disc(center, MARK_SIZE / 2, ink_of(item));
    }
    right_of_mark(item.area)
}

fn paint_branch(canvas: &mut Canvas, item: &DrawnElement) -> Rect {
    if let Some(open) = item.element.expanded {
        let side = if open { Side::Down } else { Side::Right };
        canvas.triangle(mark_square(item.area).center(), 4, side, ink_of(item));
    }
    right_of_mark(item.area)
}

/// The keys stand on the right, where the name leaves room for them.
fn paint_shortcut(canvas: &mut Canvas, item: &DrawnElement) -> Rect {
    let area = item.area;
    let keys = item.element.shortcut.as_deref().unwrap_or_default();
    let width = text_width(keys, &area) + 2 * PADDING;
    let name_width = text_width(&item.element.name, &area) + 2 * PADDING;
    if !keys.is_empty() && width + name_width <= area.width {
        let place = Rect { x: area.right() - width, width, ..area };
        paint_line(canvas, place, keys, &TextLook { ink: HINT_INK, ..look_of(item) });
    }
    area
}

fn paint_drop_down(canvas: &mut Canvas, item: &DrawnElement) -> Rect {
    let (text, arrow) = split_off_right(item.area);
    canvas.triangle(arrow.center(), 4, Side::Down, ink_of(item));
    text
}

fn paint_spinner(canvas: &mut Canvas, item: &DrawnElement) -> Rect {
    let (text, arrows) = split_off_right(item.area);
    let Point { x, y } = arrows.center();
    canvas.triangle(Point { x, y: y - 4 }, 3, Side::Up, ink_of(item));
    canvas.triangle(Point { x, y: y + 4 }, 3, Side::Down, ink_of(item));
    text
}

fn paint_underline(canvas: &mut Canvas, item: &DrawnElement) {
    let width = text_width(&item.element.name, &item.area).min(item.area.width);
    let start = line_start(item.area, width, Align::Left);
    canvas.fill(Rect::new(start.x, start.y + LINE_HEIGHT - 2, width, 1), ink_of(item));
}

fn paint_progress(canvas: &mut Canvas, item: &DrawnElement) {
    let inner = shrunk(item.area, 1);
    let done = along(inner.width.max(0), fraction(item.element).unwrap_or(0.0));
    canvas.fill(Rect { width: done, ..inner }, PROGRESS);
    canvas.border(item.area, 1, SOFT_LINE, SOFT_LINE);
}

fn paint_slider(canvas: &mut Canvas, item: &DrawnElement) {
    let Point { x, y } = item.area.center();
    let share = fraction(item.element).unwrap_or(0.0);
    let knob = if is_upright(item.area) {
        canvas.fill(Rect { x: x - 2, width: 4, ..item.area }, SOFT_LINE);
        Rect::new(x - 8, item.area.y + along(item.area.height - 10, 1.0 - share), 16, 10)
    } else {
        canvas.fill(Rect { y: y - 2, height: 4, ..item.area }, SOFT_LINE);
        Rect::new(item.area.x + along(item.area.width - 10, share), y - 8, 10, 16)
    };
    canvas.fill(knob, if item.element.enabled { ACCENT } else { LINE });
}

/// The thumb takes a third of the way between the two arrows.
fn paint_scroll_bar(canvas: &mut Canvas, item: &DrawnElement) {
    let (area, upright) = (item.area, is_upright(item.area));
    let (long, thick) = if upright { (area.height, area.width) } else { (area.width, area.height) };
    let piece = |from: i32, length: i32| match upright {
        true => Rect { y: area.y + from, height: length, ..area },
        false => Rect { x: area.x + from, width: length, ..area },
    };
    let way = (long - 2 * thick).max(0);
    let thumb = thick + along(way - way / 3, fraction(item.element).unwrap_or(0.0));
    let (first, last) = if upright { (Side::Up, Side::Down) } else { (Side::Left, Side::Right) };
    canvas.fill(piece(thumb, way / 3), SOFT_LINE);
    canvas.triangle(piece(0, thick).center(), 4, first, SOFT_LINE);
    canvas.triangle(piece(long - thick, thick).center(), 4, last, SOFT_LINE);
}

fn paint_divider(canvas: &mut Canvas, area: Rect) {
    let Point { x, y } = area.center();
    let line = if is_upright(area) { Rect { x, width: 1, ..area } } else { Rect { y, height: 1, ..area } };
    canvas.fill(line, SOFT_LINE);
}

fn paint_text(canvas: &mut Canvas, item: &DrawnElement, area: Rect) {
    if item.element.secret {
        return paint_secret(canvas, item, area);
    }
    let (text, ink) = shown_text(item);
    let look = TextLook { ink, ..look_of(item) };
    if item.style.text == ShownText::Lines || needs_lines(text, area, &look) {
        paint_lines(canvas, area, text, &look);
    } else {
        paint_line(canvas, area, text, &look);
    }
}

/// A short text stands in the middle of its field, but at the top of what looks like a sheet.
fn needs_lines(text: &str, area: Rect, look: &TextLook) -> bool {
    let fits = !text.contains('\n') && text_width(text, &area) <= area.width;
    let room = area.height / LINE_HEIGHT;
    look.align == Align::Left && (room >= 4 || (room >= 2 && !fits))
}

/// Dots and the name, but nothing that depends on the value: not even whether there is one.
fn paint_secret(canvas: &mut Canvas, item: &DrawnElement, area: Rect) {
    let step = 9;
    let first = Point { x: area.x + PADDING + 4, y: area.center().y };
    for dot in 0..SECRET_DOTS {
        canvas.disc(Point { x: first.x + dot * step, ..first }, 6, ink_of(item));
    }
    let used = SECRET_DOTS * step + PADDING;
    let rest = Rect { x: area.x + used, width: area.width - used, ..area };
    paint_line(canvas, rest, &item.element.name, &TextLook { ink: HINT_INK, ..look_of(item) });
}

/// One line in the middle of the height of `area`. A text that does not fit ends in dots, so that a
/// reader knows there is more.
fn paint_line(canvas: &mut Canvas, area: Rect, text: &str, look: &TextLook) {
    let columns = columns_in(area.width);
    let first_line = text.lines().next().unwrap_or_default();
    let shown = cut_to(first_line, columns, first_line.len() < text.trim_end().len());
    let start = line_start(area, text_width(&shown, &area), look.align);
    canvas.text(start, &shown, look.ink, look.weight);
}

/// The lines of an element that shows its value as a sheet, each with its left upper corner on the screen.
pub fn lines_of_text(element: &Element) -> Option<impl Iterator<Item = (&str, Point)>> {
    let style = style_of(element.role.name());
    let text = element.value.as_deref().filter(|_| style.text == ShownText::Lines && !element.secret)?;
    Some(placed_lines(element.bounds, text))
}

/// Lines from the top down, broken at the width and as many as there is room for.
fn paint_lines(canvas: &mut Canvas, area: Rect, text: &str, look: &TextLook) {
    for (line, start) in placed_lines(area, text) {
        canvas.text(start, line, look.ink, look.weight);
    }
}

fn placed_lines(area: Rect, text: &str) -> impl Iterator<Item = (&str, Point)> {
    let columns = columns_in(area.width - 2 * PADDING);
    let tops = (area.y + 4..area.bottom()).step_by(LINE_HEIGHT as usize);
    wrapped_lines(text, columns).zip(tops.map(move |y| Point { x: area.x + PADDING, y }))
}

fn cut_to(text: &str, columns: usize, more_follows: bool) -> Cow<'_, str> {
    if !more_follows && letters_up_to(text, columns + 1) <= columns {
        return Cow::Borrowed(text);
    }
    let kept = text.chars().take(columns.saturating_sub(3));
    Cow::Owned(kept.chain("...".chars()).collect())
}

fn shown_text<'a>(item: &DrawnElement<'a>) -> (&'a str, Rgba) {
    let ink = ink_of(item);
    let name = &*item.element.name;
    let value = item.element.value.as_deref().filter(|value| !value.is_empty());
    match item.style.text {
        ShownText::Nothing => ("", ink),
        ShownText::Name => (name, ink),
        ShownText::ValueElseName => (value.unwrap_or(name), ink),
        ShownText::ValueElseHint => value.map_or((name, HINT_INK), |value| (value, ink)),
        ShownText::Lines => (value.unwrap_or_default(), ink),
    }
}

fn look_of(item: &DrawnElement) -> TextLook {
    TextLook { ink: ink_of(item), weight: item.style.weight, align: item.style.align }
}

fn ink_of(item: &DrawnElement) -> Rgba {
    if item.element.enabled { item.style.ink } else { DISABLED_INK }
}

fn is_marked(element: &Element) -> bool {
    element.selected == Some(true)
}

/// How far along its range an element is, as far as the numbers are known and make sense.
fn fraction(element: &Element) -> Option<f64> {
    let range = element.range;
    let (now, min, max) = (range.now?, range.min.unwrap_or(0.0), range.max.unwrap_or(100.0));
    let share = (now - min) / (max - min);
    (!element.secret && share.is_finite()).then(|| share.clamp(0.0, 1.0))
}

fn along(length: i32, share: f64) -> i32 {
    (f64::from(length.max(0)) * share).round() as i32
}

fn is_upright(area: Rect) -> bool {
    area.height > area.width
}

fn columns_in(width: i32) -> usize {
    usize::try_from(width / LETTER_WIDTH).unwrap_or(0)
}

/// Measured no further than `area` reaches.
fn text_width(text: &str, area: &Rect) -> i32 {
    letters_up_to(text, columns_in(area.width) + 1) as i32 * LETTER_WIDTH
}

/// Where a line of `width` pixels begins. The padding gives way before the text does.
fn line_start(area: Rect, width: i32, align: Align) -> Point {
    let half = ((area.width - width) / 2).max(0);
    let margin = if align == Align::Center { half } else { half.min(PADDING) };
    Point { x: area.x + margin, y: area.y + (area.height - LINE_HEIGHT) / 2 }
}

fn shrunk(area: Rect, by: i32) -> Rect {
    Rect::new(area.x + by, area.y + by, area.width - 2 * by, area.height - 2 * by)
}

fn mark_square(area: Rect) -> Rect {
    Rect::new(area.x + 3, area.y + (area.height - MARK_SIZE) / 2, MARK_SIZE, MARK_SIZE)
}

fn right_of_mark(area: Rect) -> Rect {
    let used = MARK_SIZE + 3;
    Rect { x: area.x + used, width: area.width - used, ..area }
}

fn split_off_right(area: Rect) -> (Rect, Rect) {
    let arrow = 18;
    let text = Rect { width: area.width - arrow, ..area };
    (text, Rect { x: area.right() - arrow, width: arrow, ..area })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Range, TreeBuilder};
    use proptest::prelude::*;

    const BOUNDS: Rect = Rect::new(80, 60, 200, 100);

    fn window(bounds: Rect) -> Window {
        Window {
            uid: "mock:0".into(),
            handle: "1001".into(),
            title: "Title".into(),
            process: "app.exe".into(),
            pid: 1,
            bounds,
            focused: true,
            minimized: false,
            url: None,
        }
    }

    fn tree(bounds: Rect, elements: impl IntoIterator<Item = Element>) -> Tree {
        let mut builder = TreeBuilder::new(Element::new("Window", "Title", bounds));
        for element in elements {
            builder.add_leaf(element);
        }
        builder.finish()
    }

    fn drawn(elements: impl IntoIterator<Item = Element>) -> Picture {
        draw_window(&window(BOUNDS), &tree(BOUNDS, elements)).unwrap()
    }

    /// An element in the middle of the window, away from its border and its title.
    fn middle(role: &'static str, name: &str) -> Element {
        Element::new(role, name, Rect::new(90, 100, 160, 24))
    }

    fn with_range(role: &'static str, now: f64) -> Element {
        let range = Range { now: Some(now), min: Some(0.0), max: Some(100.0) };
        Element { range, ..middle(role, "") }
    }

    fn count(picture: &Picture, color: Rgba) -> usize {
        picture.rgba().chunks_exact(4).filter(|pixel| *pixel == color).count()
    }

    #[track_caller]
    fn check_changes_the_picture(before: Element, change: impl FnOnce(&mut Element)) {
        let mut after = before.clone();
        change(&mut after);
        assert_ne!(drawn([before]), drawn([after]));
    }

    #[test]
    fn states_are_visible() {
        for role in ["CheckBox", "RadioButton", "ListItem", "TreeItem", "TabItem", "ToggleButton"] {
            check_changes_the_picture(middle(role, "x"), |element| element.selected = Some(true));
        }
        for role in ["Button", "Edit", "CheckBox", "Document", "Slider"] {
            check_changes_the_picture(middle(role, "x"), |element| element.focused = true);
        }
        for role in ["Button", "Text", "Link", "MenuItem", "CheckBox", "Slider"] {
            check_changes_the_picture(middle(role, "x"), |element| element.enabled = false);
        }
        check_changes_the_picture(Element { expanded: Some(false), ..middle("TreeItem", "x") }, |element| {
            element.expanded = Some(true)
        });
    }

    #[test]
    fn texts_are_visible() {
        for role in ["Button", "Text", "Link", "ListItem", "Heading", "CheckBox", "SomethingNew"] {
            check_changes_the_picture(middle(role, "a"), |element| element.name = "b".into());
        }
        for role in ["Edit", "Document", "Text", "ComboBox", "Spinner"] {
            check_changes_the_picture(middle(role, "a"), |element| element.value = Some("b".into()));
        }
        check_changes_the_picture(middle("MenuItem", "a"), |element| {
            element.shortcut = Some("Ctrl+A".into());
        });
    }

    #[test]
    fn roles_are_known_by_any_spelling() {
        for role in ["PushButton", "push button", "push-button", "PUSH_BUTTON"] {
            assert_eq!(drawn([middle(role, "Save")]), drawn([middle("Button", "Save")]), "{role}");
        }
    }

    #[test]
    fn every_role_is_listed_once_and_in_its_normal_form() {
        let roles: Vec<_> = STYLES.iter().flat_map(|(roles, _)| roles.iter()).collect();
        for (at, role) in roles.iter().enumerate() {
            assert!(role.bytes().all(|byte| byte.is_ascii_lowercase()), "{role}");
            assert!(!roles[..at].contains(role), "{role} is listed twice");
        }
    }

    #[test]
    fn a_progress_bar_fills_in_proportion() {
        let green = |now| count(&drawn([with_range("ProgressBar", now)]), PROGRESS);
        assert_eq!(green(0.0), 0);
        assert_eq!(green(50.0), 79 * 22);
        assert_eq!(green(100.0), 158 * 22);
        assert_eq!(green(1e300), 158 * 22);
        assert_eq!(green(f64::NAN), 0);
    }

    #[test]
    fn sliders_and_scroll_bars_move() {
        for role in ["Slider", "ScrollBar"] {
            let pictures = [0.0, 50.0, 100.0].map(|now| drawn([with_range(role, now)]));
            assert!(pictures[0] != pictures[1] && pictures[1] != pictures[2], "{role}");
        }
    }

    #[test]
    fn the_title_bar_needs_room() {
        let has_title = |top| {
            let element = Element::new("Edit", "", Rect::new(80, top, 200, 30));
            count(&drawn([element]), TITLE_OF_ACTIVE) > 0
        };
        assert!(has_title(60 + TITLE_HEIGHT));
        assert!(!has_title(60 + TITLE_HEIGHT - 1));
        assert!(!has_title(60));
    }

    #[test]
    fn what_only_holds_others_does_not_take_the_title_away() {
        for role in ["Pane", "Group"] {
            assert!(count(&drawn([Element::new(role, "", BOUNDS)]), TITLE_OF_ACTIVE) > 0, "{role}");
        }
    }

    #[test]
    fn an_element_is_drawn_where_it_is() {
        let picture = drawn([Element::new("Document", "", Rect::new(100, 100, 20, 10))]);
        let white: Vec<_> = (0..200)
            .flat_map(|x| (0..100).map(move |y| (x, y)))
            .filter(|&(x, y)| picture.pixel(x, y) == Some(PAPER))
            .collect();
        assert_eq!(white.len(), 200);
        assert_eq!((white[0], white[199]), ((20, 40), (39, 49)));
    }

    #[test]
    fn elements_outside_the_window_leave_no_trace() {
        let outside = Element::new("Button", "Lost", Rect::new(300, 60, 50, 50));
        assert_eq!(drawn([outside]), drawn([]));
    }

    #[test]
    fn a_label_that_does_not_fit_says_so() {
        let long = drawn([middle("Button", &"a".repeat(23))]);
        assert_eq!(long, drawn([middle("Button", &format!("{}...", "a".repeat(19)))]));
        assert_ne!(long, drawn([middle("Button", &"a".repeat(22))]));
    }

    #[test]
    fn a_window_whose_root_is_no_window_shows_the_root() {
        let root = Tree::of_root(middle("Button", "Alone"));
        let picture = draw_window(&window(BOUNDS), &root).unwrap();
        assert_eq!(picture, drawn([middle("Button", "Alone")]));
    }

    #[test]
    fn the_desktop_shows_each_window_as_it_looks_alone() {
        let content = tree(BOUNDS, [middle("Button", "Save")]);
        let desktop = draw_desktop((400, 300), &[(&window(BOUNDS), &content)]).unwrap();
        assert_eq!(desktop.crop(BOUNDS), draw_window(&window(BOUNDS), &content).unwrap());
        assert_eq!(desktop.pixel(79, 60), Some(DESKTOP));
        assert_eq!(desktop.pixel(80, 160), Some(DESKTOP));
    }

    #[test]
    fn the_front_window_covers_and_the_minimized_is_absent() {
        let (back, front) = (window(BOUNDS), window(Rect::new(90, 70, 200, 100)));
        let (low, high) = (tree(back.bounds, []), tree(front.bounds, []));
        let both = draw_desktop((400, 300), &[(&back, &low), (&front, &high)]).unwrap();
        assert_eq!(both.crop(front.bounds), draw_window(&front, &high).unwrap());
        let hidden = Window { minimized: true, ..front };
        let one = draw_desktop((400, 300), &[(&back, &low), (&hidden, &high)]).unwrap();
        assert_eq!(one, draw_desktop((400, 300), &[(&back, &low)]).unwrap());
    }

    #[test]
    fn a_window_that_is_too_large_is_an_error() {
        let bounds = Rect::new(0, 0, i32::MAX, i32::MAX);
        assert!(draw_window(&window(bounds), &tree(bounds, [])).is_err());
    }

    #[test]
    fn what_a_secret_contains_is_not_drawn() {
        let secret_with = |text: &str| {
            let mut builder = TreeBuilder::new(Element::new("Window", "", BOUNDS));
            builder.open(Element { secret: true, ..middle("Edit", "Password") });
            builder.add_leaf(middle("Text", text));
            draw_window(&window(BOUNDS), &builder.finish()).unwrap()
        };
        assert_eq!(secret_with("hunter2"), secret_with("correct horse"));
    }

    #[test]
    fn the_number_of_a_secret_is_not_drawn() {
        for role in ["Slider", "ProgressBar", "ScrollBar"] {
            let secret = |now| Element { secret: true, ..with_range(role, now) };
            assert_eq!(drawn([secret(10.0)]), drawn([secret(90.0)]), "{role}");
        }
    }

    fn notepad() -> (Window, Tree) {
        let bounds = Rect::new(80, 60, 800, 600);
        let at = |role: &'static str, name: &str, x, y, width, height| {
            Element::new(role, name, Rect::new(x, y, width, height))
        };
        let mut builder = TreeBuilder::new(Element::new("Window", "Untitled — Notepad", bounds));
        builder.open(at("MenuBar", "MenuBar", 80, 60, 800, 22));
        for (name, x) in ["File", "Edit", "Format", "View", "Help"].into_iter().zip((80..).step_by(58)) {
            builder.add_leaf(at("MenuItem", name, x, 60, 56, 22));
        }
        builder.close();
        let text = "Hello, world!\nThis is a test document.\nLine 3 has some content here.\n";
        let document = at("Document", "Text Editor", 80, 82, 800, 514);
        builder.add_leaf(Element { value: Some(text.into()), focused: true, ..document });
        builder.add_leaf(at("ScrollBar", "Horizontal ScrollBar", 80, 596, 784, 18));
        builder.add_leaf(at("ScrollBar", "Vertical ScrollBar", 864, 82, 18, 532));
        let range = Range { now: Some(40.0), min: Some(0.0), max: Some(100.0) };
        builder.add_leaf(Element { range, ..at("ProgressBar", "Saving", 560, 600, 200, 10) });
        builder.add_leaf(Element { selected: Some(true), ..at("CheckBox", "Word Wrap", 80, 636, 120, 18) });
        builder.open(at("StatusBar", "Status Bar", 80, 614, 800, 22));
        let status = ["Ln 1, Col 1", "100%", "UTF-8", "Windows (CRLF)"];
        for (value, x) in status.into_iter().zip((80..).step_by(190)) {
            builder.add_leaf(Element { value: Some(value.into()), ..at("Text", "", x, 614, 188, 22) });
        }
        (Window { title: "Untitled — Notepad".into(), ..window(bounds) }, builder.finish())
    }

    /// To look at the picture: `PICTURE_DIR=some/folder cargo test notepad`.
    #[test]
    fn notepad_looks_like_notepad() {
        let (window, tree) = notepad();
        let picture = draw_window(&window, &tree).unwrap();
        assert_eq!((picture.width(), picture.height()), (800, 600));
        assert_eq!(picture.pixel(400, 300), Some(PAPER), "the sheet is white");
        assert_eq!(picture.pixel(400, 11), Some(FACE), "the menu bar is grey");
        assert_eq!(picture.pixel(1, 300), Some(ACCENT), "the document has the focus");
        assert_eq!(count(&picture, PROGRESS), 79 * 8, "40 % of the bar inside its border");
        assert_eq!(count(&picture, TITLE_OF_ACTIVE), 0, "the menu bar leaves no room for a title");
        let ink = |area| count(&picture.crop(area), INK);
        assert!(ink(Rect::new(6, 26, 210, 48)) > 300, "three lines of text");
        assert_eq!(ink(Rect::new(216, 26, 560, 500)), 0, "and nothing beside them");
        if let Some(folder) = crate::config::process_variable("PICTURE_DIR") {
            let file = std::path::Path::new(&folder).join("notepad.png");
            std::fs::write(file, picture.to_png().unwrap()).unwrap();
        }
    }

    fn any_role() -> impl Strategy<Value = &'static str> {
        let roles = STYLES.iter().flat_map(|(roles, _)| roles.iter().copied()).chain(["unheard of"]);
        prop::sample::select(roles.collect::<Vec<_>>())
    }

    fn any_rect() -> impl Strategy<Value = Rect> {
        let number = || prop_oneof![-40..300i32, any::<i32>(), Just(i32::MIN), Just(i32::MAX), Just(0)];
        (number(), number(), number(), number()).prop_map(|(x, y, w, h)| Rect::new(x, y, w, h))
    }

    fn any_element() -> impl Strategy<Value = Element> {
        let number = || prop::option::of(any::<f64>());
        let states = (any::<[bool; 3]>(), any::<[Option<bool>; 2]>(), number(), number(), number());
        let texts = (".{0,40}", prop::option::of("(.|\n){0,80}"), prop::option::of(".{0,9}"));
        (any_role(), any_rect(), states, texts).prop_map(|(role, bounds, states, texts)| {
            let ([enabled, focused, secret], [selected, expanded], now, min, max) = states;
            let (name, value, shortcut) = texts;
            let range = Range { now, min, max };
            let element = Element::new(role, name, bounds);
            Element { value, enabled, focused, secret, selected, expanded, range, shortcut, ..element }
        })
    }

    proptest! {
        #[test]
        fn the_value_of_a_secret_never_changes_a_pixel(
            element in any_element(),
            inside in any::<bool>(),
            value in prop::option::of(".{0,40}"),
        ) {
            let bounds = if inside { Rect::new(90, 90, 160, 40) } else { element.bounds };
            let one = Element { secret: true, bounds, ..element };
            let other = Element { value, ..one.clone() };
            prop_assert_eq!(drawn([one]), drawn([other]));
        }

        #[test]
        fn nothing_panics(
            mut bounds in any_rect(),
            elements in prop::collection::vec((any_element(), any::<bool>()), 0..8),
        ) {
            bounds.width = bounds.width.min(500);
            bounds.height = bounds.height.min(500);
            let mut builder = TreeBuilder::new(Element::new("Window", "w", bounds));
            for (element, stays_open) in elements {
                builder.open(element);
                if !stays_open {
                    builder.close();
                }
            }
            let (window, tree) = (window(bounds), builder.finish());
            let picture = draw_window(&window, &tree).unwrap();
            prop_assert_eq!(picture.width(), bounds.width.max(0) as u32);
            prop_assert_eq!(picture.height(), bounds.height.max(0) as u32);
            draw_desktop((200, 150), &[(&window, &tree)]).unwrap();
        }
    }
}
