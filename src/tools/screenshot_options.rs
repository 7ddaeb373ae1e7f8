//! What tools that take pictures share: a grid or numbers drawn on them, a part instead of the whole, the format.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::common::{ImageFacts, warn_too};
use crate::error::Result;
use crate::model::encoding::{Encoding, ImageFormat};
use crate::model::grid::Grid;
use crate::model::{Point, Rect};
use crate::observer::screenshots::{GridWish, Mark, Overlay, Pointed};
use crate::tool::args::{Int, Pixel};
use crate::tool::{Cx, Encoded};

/// A grid whose size is not given.
const COARSE: Grid = Grid { rows: 12, cols: 12 };
/// One for an enlarged picture; fewer where its cells would be smaller than their labels.
const FINE_CELLS: u32 = 20;
const FINE_CELL: (u32, u32) = (42, 20);

type Cells = Int<1, 300>;

#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct OverlayArgs {
    /// Draw {rows,cols,labels}.
    pub grid: Option<GridArgs>,
    /// Number what can be acted on.
    pub marks: Option<bool>,
    #[schemars(extend("x-hidden" = true))]
    pub format: Option<ImageFormat>,
    #[schemars(extend("x-hidden" = true))]
    pub quality: Option<Int<1, 100>>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
pub struct GridArgs {
    #[schemars(extend("x-hidden" = true))]
    rows: Option<Cells>,
    #[schemars(extend("x-hidden" = true))]
    cols: Option<Cells>,
    #[schemars(extend("x-hidden" = true))]
    labels: Option<bool>,
}

impl GridArgs {
    fn grid_request(self, usual: Grid) -> GridWish {
        let count = |given: Option<Cells>, usual: u32| {
            given.and_then(|given| u32::try_from(given.get()).ok()).unwrap_or(usual)
        };
        GridWish {
            grid: Grid { rows: count(self.rows, usual.rows), cols: count(self.cols, usual.cols) },
            labels: self.labels.unwrap_or(true),
        }
    }
}

impl OverlayArgs {
    pub fn overlay_request(&self) -> Overlay {
        let grid = self.grid.map(|grid| grid.grid_request(COARSE));
        Overlay { grid, marks: self.marks.unwrap_or(false) }
    }

    /// A fine grid for a picture of this size, unless another overlay is asked for.
    pub fn overlay_or_grid(&self, width: u32, height: u32) -> Overlay {
        let marks = self.marks.unwrap_or(false);
        let grid = self.grid.or_else(|| (!marks).then(GridArgs::default));
        let fine = |pixels: u32, least: u32| (pixels / least).clamp(1, FINE_CELLS);
        let fine = Grid { rows: fine(height, FINE_CELL.1), cols: fine(width, FINE_CELL.0) };
        Overlay { grid: grid.map(|grid| grid.grid_request(fine)), marks }
    }

    pub fn image_encoding(&self) -> Result<Encoding> {
        let quality = self.quality.and_then(|quality| u8::try_from(quality.get()).ok());
        Ok(Encoding::new(self.format.unwrap_or_default(), quality)?)
    }
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct RegionArgs {
    /// Only {x,y,width,height} of the screen.
    pub region: Option<RegionRect>,
}

#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
pub struct RegionRect {
    #[schemars(extend("x-hidden" = true))]
    x: Pixel,
    #[schemars(extend("x-hidden" = true))]
    y: Pixel,
    #[schemars(extend("x-hidden" = true))]
    width: Int<1, 65535>,
    #[schemars(extend("x-hidden" = true))]
    height: Int<1, 65535>,
}

impl RegionRect {
    pub fn to_rect(self) -> Rect {
        let pixel = |number: i64| i32::try_from(number).unwrap_or(0);
        Rect::new(pixel(self.x.get()), pixel(self.y.get()), pixel(self.width.get()), pixel(self.height.get()))
    }
}

/// What is said of what was drawn; nothing where nothing was.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct OverlayOut {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grid: Option<GridOut>,
    /// Each number and its element.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub marks: Option<MarksOut>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct GridOut {
    rows: u32,
    cols: u32,
    /// In pixels of the screen.
    cell_width: f64,
    cell_height: f64,
    indexing: &'static str,
    /// Where every cell has its label, both are 1; 0 without labels.
    label_every_row: u32,
    label_every_col: u32,
    aim: &'static str,
}

const AIM: &str =
    "pointer tools accept {image: image_id, row, col}, and dx, dy (-1 to 1): half cells from the middle";

#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum MarksOut {
    List(Vec<MarkOut>),
    /// For a model that reads few words: `1=e3 2=e5`.
    Line(String),
}

impl MarksOut {
    fn of(cx: &Cx, legend: &[Mark]) -> Self {
        if cx.lean {
            Self::Line(marks_line(legend))
        } else {
            Self::List(legend.iter().map(MarkOut::from).collect())
        }
    }
}

/// Which number stands on which element.
pub fn marks_line(legend: &[Mark]) -> String {
    let pairs: Vec<String> =
        legend.iter().map(|mark| format!("{}={}", mark.number, mark.reference)).collect();
    pairs.join(" ")
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct MarkOut {
    n: usize,
    #[serde(rename = "ref")]
    reference: String,
    role: String,
    name: String,
    bounds: Rect,
    center: Point,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(default)]
    disabled: bool,
}

impl From<&Mark> for MarkOut {
    fn from(mark: &Mark) -> Self {
        Self {
            n: mark.number,
            reference: mark.reference.to_string(),
            role: mark.role.clone(),
            name: mark.name.clone(),
            bounds: mark.bounds,
            center: mark.center,
            disabled: mark.disabled,
        }
    }
}

impl OverlayOut {
    pub fn of(cx: &Cx, pointed: &Pointed, overlay: &Overlay) -> Self {
        Self {
            grid: overlay.grid.map(|wish| GridOut::new(&wish.grid, pointed)),
            marks: overlay.marks.then(|| MarksOut::of(cx, &pointed.legend)),
        }
    }
}

impl GridOut {
    pub fn new(grid: &Grid, pointed: &Pointed) -> Self {
        let area = pointed.shot.area;
        let (width, height) = grid.cell_size(area.width.unsigned_abs(), area.height.unsigned_abs());
        let short = |length: f64| (length * 100.0).round() / 100.0;
        Self {
            rows: grid.rows,
            cols: grid.cols,
            cell_width: short(width),
            cell_height: short(height),
            indexing: "zero-based",
            label_every_row: pointed.labelled.map_or(0, |labelled| labelled.every_row),
            label_every_col: pointed.labelled.map_or(0, |labelled| labelled.every_col),
            aim: AIM,
        }
    }
}

/// A picture in a line, for a model that reads few words: its size, what it shows and where, how to point at it.
pub fn picture_line(
    picture: &Encoded,
    window: &str,
    area: Rect,
    image: &ImageFacts,
    overlay: &OverlayOut,
) -> String {
    let Rect { x, y, width, height } = area;
    let mut line = format!(
        "picture {}x{} of \"{}\" {x},{y} {width}x{height}, scale {}, image {}",
        picture.width,
        picture.height,
        crate::text::shorten(window, LONGEST_TITLE),
        image.scale,
        image.image_id
    );
    if let Some(grid) = &overlay.grid {
        line.push_str(&format!(", {} rows, {} cols", grid.rows, grid.cols));
    }
    if let Some(MarksOut::Line(marks)) = &overlay.marks {
        line.push_str(&format!("\nmarks: {marks}"));
    }
    line
}

const LONGEST_TITLE: usize = 80;

/// The picture as it leaves; what has to be said about it is said.
pub fn encode_image(cx: &mut Cx, pointed: &Pointed, encoding: Encoding) -> Result<Encoded> {
    pointed.notes.iter().for_each(|note| warn_too(cx, note.clone()));
    Encoded::new(&pointed.shot.picture, encoding)
}
