//! Places on a page: from the coordinates of a document to those of the window, and what of them can be seen.

use super::snapshot::{DomDocument, PageArea, Style};
use crate::model::Rect;

/// Where a document is in the window, and what of the window it may show in.
#[derive(Clone, Copy, Debug, Default)]
pub struct ClipArea {
    /// Added to the document's coordinates.
    shift: (f64, f64),
    /// In the window's coordinates.
    clip: PageArea,
    /// How far the boxes around are scrolled: so far left of and above the page there are things that can be scrolled to.
    scrolled: (f64, f64),
}

impl ClipArea {
    /// Of a document whose viewport begins at a place of the window.
    pub fn of_document(document: &DomDocument<'_>, at: (f64, f64), within: Option<PageArea>) -> Self {
        let (scroll_x, scroll_y) = document.scroll_offset();
        let viewport = document.viewport();
        let own = PageArea { x: at.0, y: at.1, width: viewport.width, height: viewport.height };
        let clip = within.map_or(own, |within| common_part(own, within));
        Self { shift: (at.0 - scroll_x, at.1 - scroll_y), clip, scrolled: (0.0, 0.0) }
    }

    pub fn clip(&self) -> PageArea {
        self.clip
    }

    /// In the window's coordinates.
    pub fn placed(&self, area: PageArea) -> PageArea {
        area.moved_by(self.shift.0, self.shift.1)
    }

    /// The same for what is in an element that may cut off what does not fit into it.
    pub fn within_element(self, document: &DomDocument<'_>, node: usize, scrolled: (f64, f64)) -> Self {
        let cuts = |style| !matches!(document.style(node, style), "" | "visible");
        if !cuts(Style::OverflowX) && !cuts(Style::OverflowY) || matches!(document.tag(node), "HTML" | "BODY")
        {
            return self;
        }
        let Some(area) = document.area(node) else { return self };
        let scrolled = (self.scrolled.0 + scrolled.0, self.scrolled.1 + scrolled.1);
        Self { clip: common_part(self.clip, self.placed(area)), scrolled, ..self }
    }

    /// Whether an area is scrolled away or cut off. What no scrolling brings into view is not: that is another matter.
    pub fn hides(&self, area: PageArea) -> bool {
        let (left, above) = self.scrolled;
        let reachable = area.x + area.width + left > 0.0 && area.y + area.height + above > 0.0;
        reachable && !area.is_empty() && common_part(self.placed(area), self.clip).is_empty()
    }
}

/// Where the document of a frame begins: within its border and padding.
pub fn frame_corner(document: &DomDocument<'_>, node: usize, placed: PageArea) -> (f64, f64) {
    let pixels = |style| document.style(node, style).trim_end_matches("px").parse().unwrap_or(0.0);
    let left: f64 = pixels(Style::BorderLeft) + pixels(Style::PaddingLeft);
    let top: f64 = pixels(Style::BorderTop) + pixels(Style::PaddingTop);
    (placed.x + left, placed.y + top)
}

pub fn common_part(one: PageArea, other: PageArea) -> PageArea {
    let (x, y) = (one.x.max(other.x), one.y.max(other.y));
    let right = (one.x + one.width).min(other.x + other.width);
    let bottom = (one.y + one.height).min(other.y + other.height);
    PageArea { x, y, width: (right - x).max(0.0), height: (bottom - y).max(0.0) }
}

/// In whole pixels; what takes room takes at least one.
pub fn to_rect(area: PageArea) -> Rect {
    let whole = |number: f64| number.round().clamp(-1e9, 1e9) as i32;
    let (x, y) = (whole(area.x), whole(area.y));
    let side = |start: i32, end: f64, length: f64| {
        let least = i32::from(length > 0.0);
        whole(end).saturating_sub(start).max(least)
    };
    let (right, bottom) = (area.x + area.width, area.y + area.height);
    Rect::new(x, y, side(x, right, area.width), side(y, bottom, area.height))
}
