//! A grid over an area of the screen: from a cell to the pixel that is meant, and back.

use super::{Point, Rect};

/// How many cells an area is divided into. Cells count from 0, from the left upper corner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid {
    pub rows: u32,
    pub cols: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    pub row: u32,
    pub col: u32,
}

/// Where in a cell: from -1, its left or upper edge, over 0, its middle, to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Offset {
    pub dx: f64,
    pub dy: f64,
}

impl Grid {
    /// The pixel that is meant in a cell; `None` when there is no such cell. An edge counts to its own cell, so that
    /// no offset leads into the next one.
    pub fn point(&self, area: Rect, cell: Cell, offset: Offset) -> Option<Point> {
        let known = cell.row < self.rows && cell.col < self.cols && !area.is_empty();
        known.then(|| Point {
            x: area.x.saturating_add(offset_along(self.cols, area.width, cell.col, offset.dx)),
            y: area.y.saturating_add(offset_along(self.rows, area.height, cell.row, offset.dy)),
        })
    }

    /// The cell that the middle of a pixel lies in.
    pub fn cell_at(&self, area: Rect, point: Point) -> Option<Cell> {
        let which = |cells: u32, length: i32, at: i32| {
            let at = i64::from(at);
            u32::try_from((2 * at + 1) * i64::from(cells) / (2 * i64::from(length))).ok()
        };
        let inside = area.contains(point) && self.rows > 0 && self.cols > 0;
        inside.then_some(())?;
        Some(Cell {
            row: which(self.rows, area.height, point.y - area.y)?,
            col: which(self.cols, area.width, point.x - area.x)?,
        })
    }

    /// How large a cell is, in pixels of a picture or of the screen.
    pub fn cell_size(&self, width: u32, height: u32) -> (f64, f64) {
        (f64::from(width) / f64::from(self.cols.max(1)), f64::from(height) / f64::from(self.rows.max(1)))
    }
}

/// The first pixel of a cell; that of the cell behind the last one is the length.
pub fn first_pixel(cells: u32, length: i32, cell: u32) -> i32 {
    let (cells, length, cell) = (i64::from(cells.max(1)), i64::from(length), i64::from(cell));
    let doubled = 2 * length * cell - cells;
    let first = -(-doubled).div_euclid(2 * cells);
    i32::try_from(first).unwrap_or(i32::MAX)
}

fn offset_along(cells: u32, length: i32, cell: u32, offset: f64) -> i32 {
    let exact = (f64::from(cell) + 0.5 + offset * 0.5) * f64::from(length) / f64::from(cells);
    let first = first_pixel(cells, length, cell);
    // A cell of an enlarged picture may be smaller than a pixel of the screen.
    let last = first_pixel(cells, length, cell.saturating_add(1)) - 1;
    let at = exact.floor() as i32;
    if first <= last { at.clamp(first, last) } else { at.clamp(0, (length - 1).max(0)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(
        area: Rect,
        grid: (u32, u32),
        cell: (u32, u32),
        offset: (f64, f64),
        expected: Option<(i32, i32)>,
    ) {
        let grid = Grid { rows: grid.0, cols: grid.1 };
        let offset = Offset { dx: offset.0, dy: offset.1 };
        let point = grid.point(area, Cell { row: cell.0, col: cell.1 }, offset);
        assert_eq!(point.map(|point| (point.x, point.y)), expected);
    }

    #[test]
    fn cells_count_from_the_left_upper_corner() {
        let area = Rect::new(100, 50, 120, 60);
        check(area, (12, 12), (0, 0), (0.0, 0.0), Some((105, 52)));
        check(area, (12, 12), (11, 11), (0.0, 0.0), Some((215, 107)));
        check(area, (12, 12), (12, 0), (0.0, 0.0), None);
        check(area, (12, 12), (0, 12), (0.0, 0.0), None);
    }

    #[test]
    fn offsets_count_half_cells() {
        let area = Rect::new(0, 0, 100, 100);
        check(area, (10, 10), (5, 5), (0.2, -0.4), Some((56, 53)));
        check(area, (10, 10), (5, 5), (-1.0, -1.0), Some((50, 50)));
        check(area, (10, 10), (5, 5), (1.0, 1.0), Some((59, 59)));
        check(area, (10, 10), (9, 9), (1.0, 1.0), Some((99, 99)));
    }

    #[test]
    fn an_odd_size_is_divided_without_a_gap() {
        let firsts: Vec<i32> = (0..=4).map(|cell| first_pixel(4, 10, cell)).collect();
        assert_eq!(firsts, [0, 2, 5, 7, 10]);
        check(Rect::new(0, 0, 7, 1), (1, 3), (0, 1), (0.0, 0.0), Some((3, 0)));
        check(Rect::new(5, 5, 0, 9), (2, 2), (0, 0), (0.0, 0.0), None);
    }

    /// Monitors left of and above the first one have negative places.
    fn any_area() -> impl Strategy<Value = Rect> {
        (-5000..5000i32, -5000..5000i32, 1..4000i32, 1..3000i32)
            .prop_map(|(x, y, width, height)| Rect::new(x, y, width, height))
    }

    fn any_grid() -> impl Strategy<Value = Grid> {
        (1..=300u32, 1..=300u32).prop_map(|(rows, cols)| Grid { rows, cols })
    }

    proptest! {
        #[test]
        fn a_cell_leads_to_a_pixel_of_its_own(
            area in any_area(), grid in any_grid(), at in any::<(u32, u32)>(), offset in (-1.0..=1.0f64, -1.0..=1.0f64),
        ) {
            let cell = Cell { row: at.0 % grid.rows, col: at.1 % grid.cols };
            let point = grid.point(area, cell, Offset { dx: offset.0, dy: offset.1 }).unwrap();
            prop_assert!(area.contains(point));
            let back = grid.cell_at(area, point).unwrap();
            if area.width >= grid.cols as i32 {
                prop_assert_eq!(back.col, cell.col);
            }
            if area.height >= grid.rows as i32 {
                prop_assert_eq!(back.row, cell.row);
            }
        }

        #[test]
        fn every_pixel_is_in_exactly_one_cell(area in any_area(), grid in any_grid(), at in any::<(u32, u32)>()) {
            let offset = |at: u32, length: i32| (at % length as u32) as i32;
            let point = Point { x: area.x + offset(at.0, area.width), y: area.y + offset(at.1, area.height) };
            let cell = grid.cell_at(area, point).unwrap();
            prop_assert!(cell.row < grid.rows && cell.col < grid.cols);
            let column = first_pixel(grid.cols, area.width, cell.col)..first_pixel(grid.cols, area.width, cell.col + 1);
            prop_assert!(column.contains(&(point.x - area.x)));
        }

        #[test]
        fn a_larger_offset_never_leads_back(area in any_area(), grid in any_grid(), at in any::<u32>(), one in -1.0..=1.0f64, other in -1.0..=1.0f64) {
            let cell = Cell { row: 0, col: at % grid.cols };
            let x = |dx: f64| grid.point(area, cell, Offset { dx, dy: 0.0 }).unwrap().x;
            prop_assert!(x(one.min(other)) <= x(one.max(other)));
        }

        #[test]
        fn the_middle_of_a_cell_is_where_the_formula_says(area in any_area(), grid in any_grid(), at in any::<u32>()) {
            let cell = Cell { row: 0, col: at % grid.cols };
            let exact = (f64::from(cell.col) + 0.5) * f64::from(area.width) / f64::from(grid.cols);
            let x = grid.point(area, cell, Offset::default()).unwrap().x - area.x;
            prop_assert!((f64::from(x) + 0.5 - exact).abs() <= 1.0, "{} and {}", x, exact);
        }
    }
}
