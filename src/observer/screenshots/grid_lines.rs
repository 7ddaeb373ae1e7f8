//! Draws a grid over a picture, with the number of each cell in its corner.

use crate::error::{Error, Result};
use crate::model::Point;
use crate::model::Rect;
use crate::model::draw::{BLACK, Canvas, Font, WHITE};
use crate::model::grid::{Grid, first_pixel};
use crate::model::image::{Picture, Rgba};

const LINE: Rgba = [225, 30, 45, 255];
const LABEL: Rgba = [255, 225, 60, 255];
/// How much of a line covers what is below it, of 255.
const LINE_COVERAGE: u8 = 190;
const HALO_COVERAGE: u8 = 110;
/// Smaller cells would be lines only.
const LEAST_CELL: u32 = 4;
/// Pixels between a label and the lines around it.
const MARGIN: i32 = 3;
/// Which cells have labels where there is no room for all.
const STEPS: &[u32] = &[1, 2, 5, 10, 20, 25, 50, 100, 300];
/// Cells of that many times the room of a large label have large ones.
const AMPLE: i32 = 2;
/// Labels hide at most one part in so many of the picture.
const HIDES: i64 = 4;

/// Every how many-th row and column has labels. The first column has them wherever they fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Labelled {
    pub every_row: u32,
    pub every_col: u32,
}

/// Refuses a grid whose cells could not be told apart in a picture of this size.
pub fn check_fits(grid: &Grid, width: u32, height: u32) -> Result<()> {
    for (field, cells, pixels) in [("grid.rows", grid.rows, height), ("grid.cols", grid.cols, width)] {
        let most = (pixels / LEAST_CELL).max(1);
        if cells > most {
            return Err(Error::bad_request(format!(
                "argument '{field}': {cells} cells are too many for {pixels} pixels; use at most {most}, or \
                 zoom into a smaller part"
            ))
            .with("field", field));
        }
    }
    Ok(())
}

/// The grid must fit. Without room for all labels, every second, fifth … cell has one.
pub fn draw_grid(picture: &mut Picture, grid: &Grid, labels: bool) -> Option<Labelled> {
    let area = picture.area();
    let mut canvas = Canvas::new(picture);
    for line in inner_lines(grid.cols, area.width) {
        draw_vertical(&mut canvas, line, area.height);
    }
    for line in inner_lines(grid.rows, area.height) {
        draw_horizontal(&mut canvas, line, area.width);
    }
    labels.then(|| draw_labels(&mut canvas, grid, area))
}

fn inner_lines(cells: u32, length: i32) -> impl Iterator<Item = i32> {
    (1..cells).map(move |cell| first_pixel(cells, length, cell))
}

fn draw_vertical(canvas: &mut Canvas, x: i32, height: i32) {
    canvas.tint(Rect::new(x - 1, 0, 1, height), WHITE, HALO_COVERAGE);
    canvas.tint(Rect::new(x, 0, 1, height), LINE, LINE_COVERAGE);
}

fn draw_horizontal(canvas: &mut Canvas, y: i32, width: i32) {
    canvas.tint(Rect::new(0, y - 1, width, 1), WHITE, HALO_COVERAGE);
    canvas.tint(Rect::new(0, y, width, 1), LINE, LINE_COVERAGE);
}

fn draw_labels(canvas: &mut Canvas, grid: &Grid, area: Rect) -> Labelled {
    let plan = LabelPlan::of(grid, area);
    for row in 0..grid.rows {
        for col in (0..grid.cols).filter(|col| plan.has_label(row, *col)) {
            let corner = Point {
                x: first_pixel(grid.cols, area.width, col) + MARGIN,
                y: first_pixel(grid.rows, area.height, row) + MARGIN,
            };
            canvas.outlined(corner, &cell_label(row, col), plan.font, LABEL, BLACK);
        }
    }
    plan.inside
}

fn cell_label(row: u32, col: u32) -> String {
    format!("{row},{col}")
}

/// Which cells have labels, and how large they are.
struct LabelPlan {
    font: Font,
    /// Along the left edge, where little is hidden.
    edges: Labelled,
    inside: Labelled,
}

impl LabelPlan {
    /// The largest letters with which every cell has its label, or small ones for some of the cells.
    fn of(grid: &Grid, area: Rect) -> Self {
        let cell = (area.width / cell_side(grid.cols), area.height / cell_side(grid.rows));
        let (width, height) = label_room(grid, Font::LARGE);
        if cell.0 >= AMPLE * width && cell.1 >= AMPLE * height {
            let all = Labelled { every_row: 1, every_col: 1 };
            return Self { font: Font::LARGE, edges: all, inside: all };
        }
        let (width, height) = label_room(grid, Font::SMALL);
        let every_row = label_interval(grid.rows, area.height, height);
        let every_col = label_interval(grid.cols, area.width, width);
        // Texts run along the rows: free rows between labels hide the least of them.
        let hidden = i64::from(width) * i64::from(height);
        let free_enough = |rows: &&u32| {
            let block = i64::from(cell.0) * i64::from(cell.1) * i64::from(every_col) * i64::from(**rows);
            **rows >= every_row && block >= HIDES * hidden
        };
        let inner = STEPS.iter().find(free_enough).map_or(grid.rows, |rows| *rows.min(&grid.rows)).max(1);
        Self {
            font: Font::SMALL,
            edges: Labelled { every_row, every_col },
            inside: Labelled { every_row: inner, every_col },
        }
    }

    fn has_label(&self, row: u32, col: u32) -> bool {
        let in_step = |at: u32, every: u32| at.is_multiple_of(every.max(1));
        let on_the_left = col == 0 && in_step(row, self.edges.every_row);
        on_the_left || (in_step(row, self.inside.every_row) && in_step(col, self.inside.every_col))
    }
}

fn label_room(grid: &Grid, font: Font) -> (i32, i32) {
    let widest = cell_label(grid.rows.saturating_sub(1), grid.cols.saturating_sub(1));
    let (width, height) = font.size_of(&widest);
    (width + 2 * MARGIN, height + 2 * MARGIN)
}

/// Every how many-th cell has so much room that a label of `wanted` pixels fits.
fn label_interval(cells: u32, length: i32, wanted: i32) -> u32 {
    let fits = |step: &&u32| i64::from(length) * i64::from(**step) >= i64::from(wanted) * i64::from(cells);
    STEPS.iter().find(fits).map_or(cells, |step| *step.min(&cells)).max(1)
}

fn cell_side(cells: u32) -> i32 {
    i32::try_from(cells.max(1)).unwrap_or(i32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(size: (u32, u32), grid: (u32, u32), expected: (u32, u32)) {
        let grid = Grid { rows: grid.0, cols: grid.1 };
        check_fits(&grid, size.0, size.1).unwrap();
        let mut picture = Picture::new(size.0, size.1, [128, 128, 128, 255]).unwrap();
        let labelled = draw_grid(&mut picture, &grid, true).unwrap();
        assert_eq!((labelled.every_row, labelled.every_col), expected, "{size:?} {grid:?}");
    }

    #[test]
    fn labels_are_as_many_as_fit() {
        check((1920, 1080), (12, 12), (1, 1));
        check((800, 600), (12, 12), (1, 1));
        check((1000, 700), (20, 20), (2, 1));
        check((400, 300), (20, 20), (2, 5));
        check((800, 600), (100, 100), (10, 10));
        check((1200, 1200), (300, 300), (20, 20));
        check((40, 16), (4, 10), (4, 10));
    }

    #[test]
    fn cells_that_nobody_could_tell_apart_are_refused() {
        let check = |grid: Grid, field: &str| {
            let error = check_fits(&grid, 100, 60).unwrap_err();
            assert!(error.message.contains(field), "{error}");
        };
        check(Grid { rows: 16, cols: 10 }, "grid.rows");
        check(Grid { rows: 15, cols: 26 }, "grid.cols");
        assert!(check_fits(&Grid { rows: 15, cols: 25 }, 100, 60).is_ok());
        assert!(check_fits(&Grid { rows: 1, cols: 1 }, 1, 1).is_ok());
    }

    #[test]
    fn lines_can_be_seen_on_any_ground_and_without_labels_there_is_nothing_else() {
        for ground in [[255, 255, 255, 255], BLACK, LINE, LABEL] {
            let mut picture = Picture::new(60, 60, ground).unwrap();
            assert_eq!(draw_grid(&mut picture, &Grid { rows: 2, cols: 2 }, false), None);
            let differs = |(x, y)| picture.pixel(x, y) != Some(ground);
            assert!(differs((29, 10)) || differs((30, 10)), "{ground:?}");
            assert!(differs((10, 29)) || differs((10, 30)), "{ground:?}");
            assert_eq!(picture.pixel(10, 10), Some(ground));
        }
    }
}
