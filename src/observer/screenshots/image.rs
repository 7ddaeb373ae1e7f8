//! How a pixel of a picture that was handed out leads back to the screen.

use crate::model::grid::{Cell, Grid, Offset};
use crate::model::{Monitor, Point, Rect};

/// What a picture showed, and how large it left.
#[derive(Clone, Debug, PartialEq)]
pub struct Image {
    /// The part of the screen in it.
    pub area: Rect,
    pub width: u32,
    pub height: u32,
    /// The window that it shows and where that was; a picture of the screen has none.
    pub window: Option<(String, Rect)>,
    /// The screen as it was, where that is known.
    pub screen: Option<Rect>,
    pub monitors: Vec<Monitor>,
    /// For a picture of the screen: the windows as they lay, the frontmost first, where that is known.
    pub front: Option<Vec<(String, Rect)>>,
    /// The grid that was drawn on it.
    pub grid: Option<Grid>,
}

impl Image {
    /// Pixels of the picture for one pixel of the screen.
    pub fn scale(&self) -> f64 {
        f64::from(self.width) / f64::from(self.area.width.max(1))
    }

    /// The pixel of the screen that a cell of its grid stands for; `None` without a grid or such a cell.
    pub fn cell_on_screen(&self, cell: Cell, offset: Offset) -> Option<Point> {
        self.grid?.point(self.area, cell, offset)
    }

    /// A part of the screen in pixels of the picture.
    pub fn in_picture(&self, area: Rect) -> Rect {
        let along = |at: i32, start: i32, length: i32, pixels: u32| {
            let scaled = (i64::from(at) - i64::from(start)) * i64::from(pixels) / i64::from(length.max(1));
            i32::try_from(scaled).unwrap_or(0)
        };
        let x = along(area.x, self.area.x, self.area.width, self.width);
        let y = along(area.y, self.area.y, self.area.height, self.height);
        Rect {
            x,
            y,
            width: along(area.right(), self.area.x, self.area.width, self.width) - x,
            height: along(area.bottom(), self.area.y, self.area.height, self.height) - y,
        }
    }

    /// The pixel of the screen that is in the middle of a pixel of the picture; `None` outside of it.
    pub fn on_screen(&self, pixel: Point) -> Option<Point> {
        let along = |at: i32, pixels: u32, start: i32, length: i32| {
            let (at, pixels) = (i64::from(at), i64::from(pixels));
            let inside = (0..pixels).contains(&at);
            let offset = (2 * at + 1) * i64::from(length) / (2 * pixels.max(1));
            inside.then(|| start.saturating_add(i32::try_from(offset).unwrap_or(i32::MAX)))
        };
        Some(Point {
            x: along(pixel.x, self.width, self.area.x, self.area.width)?,
            y: along(pixel.y, self.height, self.area.y, self.area.height)?,
        })
    }
}
