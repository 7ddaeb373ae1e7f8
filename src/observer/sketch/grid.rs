//! The grid of characters, and how screen pixels become its cells.
//!
//! It knows nothing of elements. Every write is checked against the edges, so no caller can
//! leave the grid, and every character takes one cell whatever its width on a terminal.

use crate::model::Rect;
use crate::observer::text::visible_or_blank;

pub(super) const BLANK: char = ' ';

#[derive(Clone, Copy)]
pub(super) struct Border {
    pub horizontal: char,
    vertical: char,
    top_left: char,
    top_right: char,
    bottom_left: char,
    bottom_right: char,
}

impl Border {
    const UNICODE: Border = Border {
        horizontal: '─',
        vertical: '│',
        top_left: '┌',
        top_right: '┐',
        bottom_left: '└',
        bottom_right: '┘',
    };
    const ASCII: Border = Border {
        horizontal: '-',
        vertical: '|',
        top_left: '+',
        top_right: '+',
        bottom_left: '+',
        bottom_right: '+',
    };

    pub fn of(unicode: bool) -> Border {
        if unicode { Border::UNICODE } else { Border::ASCII }
    }

    pub fn contains(&self, character: char) -> bool {
        [self.horizontal, self.vertical, self.top_left, self.top_right, self.bottom_left, self.bottom_right]
            .contains(&character)
    }
}

/// One axis of the reference rectangle laid over a number of cells.
#[derive(Clone, Copy)]
pub(super) struct Scale {
    origin: i32,
    length: i32,
    cells: usize,
}

impl Scale {
    pub fn new(origin: i32, length: i32, cells: usize) -> Self {
        Self { origin, length: length.max(1), cells: cells.max(1) }
    }

    pub fn cell_at(&self, position: i64) -> usize {
        self.cell_of_halves(2 * position)
    }

    /// The cell at half of `twice` pixels, so that the middle of an odd length needs no rounding.
    fn cell_of_halves(&self, twice: i64) -> usize {
        let distance = i128::from(twice) - 2 * i128::from(self.origin);
        let cell = distance * self.cells as i128 / (2 * i128::from(self.length));
        cell.clamp(0, self.cells as i128 - 1) as usize
    }

    pub fn cell_of_middle(&self, start: i32, length: i32) -> usize {
        self.cell_of_halves(2 * i64::from(start) + i64::from(length))
    }

    pub fn cell_of_end(&self, start: i32, length: i32) -> usize {
        self.cell_at(i64::from(start) + i64::from(length))
    }

    /// First and last cell of a box: three cells where there is room, nothing at the far edge.
    fn cell_span(&self, start: i32, length: i32) -> Option<(usize, usize)> {
        let first = self.cell_at(i64::from(start));
        let last = self.cell_of_end(start, length).max(first + 2).min(self.cells - 1);
        (length >= 1 && last > first).then_some((first, last))
    }
}

/// A box in cells; all four edges belong to it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct CellFrame {
    pub x1: usize,
    pub y1: usize,
    pub x2: usize,
    pub y2: usize,
}

impl CellFrame {
    pub fn of(bounds: Rect, columns: &Scale, rows: &Scale) -> Option<CellFrame> {
        let (x1, x2) = columns.cell_span(bounds.x, bounds.width)?;
        let (y1, y2) = rows.cell_span(bounds.y, bounds.height)?;
        Some(CellFrame { x1, y1, x2, y2 })
    }

    pub fn inner_width(&self) -> usize {
        self.x2 - self.x1 - 1
    }

    pub fn inner_height(&self) -> usize {
        self.y2 - self.y1 - 1
    }
}

pub(super) struct SketchGrid {
    width: usize,
    height: usize,
    cells: Vec<char>,
    pub border: Border,
}

impl SketchGrid {
    pub fn new(width: usize, height: usize, border: Border) -> Self {
        let (width, height) = (width.max(1), height.max(1));
        Self { width, height, cells: vec![BLANK; width.saturating_mul(height)], border }
    }

    pub fn len(&self) -> usize {
        self.cells.len()
    }

    /// Where a cell lies in the grid, counted row by row; `None` outside.
    pub fn index(&self, x: usize, y: usize) -> Option<usize> {
        (x < self.width && y < self.height).then(|| y * self.width + x)
    }

    pub fn get(&self, x: usize, y: usize) -> Option<char> {
        self.index(x, y).map(|at| self.cells[at])
    }

    pub fn set(&mut self, x: usize, y: usize, character: char) {
        if let Some(at) = self.index(x, y) {
            self.cells[at] = visible_or_blank(character);
        }
    }

    fn set_blank(&mut self, x: usize, y: usize, character: char) {
        if self.get(x, y) == Some(BLANK) {
            self.set(x, y, character);
        }
    }

    /// Writes into the blank cells from column `x` up to but not including `end`.
    pub fn write_blank(&mut self, x: usize, y: usize, end: usize, text: &str) {
        for (column, character) in (x..end).zip(text.chars()) {
            self.set_blank(column, y, character);
        }
    }

    /// Writes over anything from column `x` up to but not including `end`.
    pub fn write_over(&mut self, x: usize, y: usize, end: usize, text: &str) {
        for (column, character) in (x..end).zip(text.chars()) {
            self.set(column, y, character);
        }
    }

    /// Corners win over what was there; edges give way to it.
    pub fn draw_outline(&mut self, frame: &CellFrame) {
        let CellFrame { x1, y1, x2, y2 } = *frame;
        let border = self.border;
        self.set(x1, y1, border.top_left);
        self.set(x2, y1, border.top_right);
        self.set(x1, y2, border.bottom_left);
        self.set(x2, y2, border.bottom_right);
        for x in x1 + 1..x2 {
            self.set_blank(x, y1, border.horizontal);
            self.set_blank(x, y2, border.horizontal);
        }
        for y in y1 + 1..y2 {
            self.set_blank(x1, y, border.vertical);
            self.set_blank(x2, y, border.vertical);
        }
    }

    /// The rows without what is blank at their ends, and without blank rows at the end.
    pub fn text(&self) -> String {
        let rows = self.cells.chunks(self.width).map(|row| row.iter().collect::<String>());
        let mut text = String::with_capacity(self.cells.len() + self.height);
        for (number, row) in rows.enumerate() {
            if number > 0 {
                text.push('\n');
            }
            text.push_str(row.trim_end());
        }
        text.truncate(text.trim_end_matches('\n').len());
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_cell(position: i64, expected: usize) {
        assert_eq!(Scale::new(80, 800, 110).cell_at(position), expected, "{position}");
    }

    #[test]
    fn pixels_map_proportionally_and_stay_on_the_grid() {
        check_cell(80, 0);
        check_cell(138, 7);
        check_cell(879, 109);
        check_cell(880, 109);
        check_cell(79, 0);
        check_cell(i64::from(i32::MIN), 0);
        check_cell(i64::from(i32::MAX), 109);
    }

    #[test]
    fn a_reference_without_size_counts_as_one_pixel() {
        assert_eq!(Scale::new(0, 0, 10).cell_at(0), 0);
        assert_eq!(Scale::new(0, -5, 10).cell_at(1), 9);
    }

    #[test]
    fn the_middle_of_an_odd_length_is_not_rounded_first() {
        assert_eq!(Scale::new(0, 2, 4).cell_of_middle(0, 1), 1);
        assert_eq!(Scale::new(0, 1, 4).cell_of_middle(0, 1), 2);
    }

    fn check_span(start: i32, length: i32, expected: Option<(usize, usize)>) {
        assert_eq!(Scale::new(0, 100, 10).cell_span(start, length), expected, "{start}+{length}");
    }

    #[test]
    fn a_box_has_three_cells_where_there_is_room() {
        check_span(0, 1, Some((0, 2)));
        check_span(20, 50, Some((2, 7)));
        check_span(80, 10, Some((8, 9)));
        check_span(90, 10, None);
        check_span(-500, 10, Some((0, 2)));
        check_span(10, 0, None);
        check_span(10, -1, None);
    }

    fn check_outlines(frames: &[[usize; 4]], border: Border, expected: &str) {
        let mut grid = SketchGrid::new(8, 5, border);
        for &[x1, y1, x2, y2] in frames {
            grid.draw_outline(&CellFrame { x1, y1, x2, y2 });
        }
        assert_eq!(grid.text(), expected);
    }

    #[test]
    fn corners_win_and_edges_give_way() {
        let two = [[0, 0, 5, 2], [2, 0, 7, 3]];
        check_outlines(&two, Border::UNICODE, "┌─┌──┐─┐\n│ │  │ │\n└────┘ │\n  └────┘");
    }

    #[test]
    fn ascii_borders() {
        check_outlines(&[[1, 1, 3, 3]], Border::ASCII, "\n +-+\n | |\n +-+");
    }

    #[test]
    fn writing_outside_the_grid_is_nothing() {
        let mut grid = SketchGrid::new(1, 1, Border::UNICODE);
        grid.write_over(0, 0, 9, "ab");
        grid.write_over(0, 7, 9, "ab");
        grid.write_blank(0, 0, 9, "xy");
        assert_eq!(grid.text(), "a");
    }

    #[test]
    fn a_control_character_takes_one_blank_cell() {
        let mut grid = SketchGrid::new(9, 1, Border::UNICODE);
        grid.write_over(0, 0, 9, "a\x1b\n日e\u{301}z");
        assert_eq!(grid.text(), "a  日e\u{301}z");
    }

    #[test]
    fn blank_ends_are_dropped() {
        let mut grid = SketchGrid::new(4, 4, Border::UNICODE);
        assert_eq!(grid.text(), "");
        grid.set(1, 1, 'x');
        assert_eq!(grid.text(), "\n x");
    }
}
