//! Tables with more cells than anybody reads: the block of rows and columns that shows, and cells that are known
//! by their place.
//!
//! A spreadsheet claims billions of children and makes an object for a cell whenever it is asked for one, each
//! time another. So a cell's name here is its table, its row and its column.

use std::ops::RangeInclusive;
use std::rc::Rc;

use atspi::State;

use super::bus::{BusConnection, BusDeadline, BusRequest, read_number, read_objects, text};
use super::find::{ON_SCREEN, read_rectangle, states_of};
use super::object::{ACCESSIBLE, AtspiObject, COMPONENT, TABLE, TEXT};
use crate::config::limits::TREE_CHILDREN_OF_ONE_NODE;
use crate::model::Rect;

/// Where a cell is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CellAddress {
    pub table: AtspiObject,
    pub row: i32,
    pub column: i32,
}

impl CellAddress {
    /// `:1.7/path@4,2`: no path of the bus has an `@`.
    pub fn native(&self) -> String {
        format!("{}@{},{}", self.table.native(), self.row, self.column)
    }

    pub fn from_native(native: &str) -> Option<Self> {
        let (table, place) = native.split_once('@')?;
        let (row, column) = place.split_once(',')?;
        let table = AtspiObject::from_native(table)?;
        Some(Self { table, row: row.parse().ok()?, column: column.parse().ok()? })
    }

    fn question(&self) -> (AtspiObject, BusRequest) {
        (self.table.clone(), BusRequest::WithRange(TABLE, "GetAccessibleAt", self.row, self.column))
    }
}

/// The object that a native name leads to now.
pub async fn object_of(link: &Rc<BusConnection>, native: &str, pace: &BusDeadline) -> Option<AtspiObject> {
    let Some(address) = CellAddress::from_native(native) else {
        return AtspiObject::from_native(native);
    };
    let (table, question) = address.question();
    let reply = link.ask_object(&table, &question, pace).await.ok()?;
    read_objects(&reply).into_iter().next()
}

/// The cells that show, row by row. Nothing where the table does not tell what is where.
pub async fn read_visible_cells(
    link: &Rc<BusConnection>,
    table: &AtspiObject,
    pace: &BusDeadline,
) -> Option<Vec<VisibleCell>> {
    let extents = link
        .ask_object(table, &BusRequest::WithCode(COMPONENT, "GetExtents", ON_SCREEN), pace)
        .await
        .ok()
        .as_ref()
        .and_then(read_rectangle)?;
    let found = cells_at(link, table, &sample_points(extents), pace).await;
    let places = places_of(link, table, &found, pace).await;
    let (rows, columns) = block_around(&places)?;
    let addresses: Vec<CellAddress> = rows
        .flat_map(|row| columns.clone().map(move |column| (row, column)))
        .take(TREE_CHILDREN_OF_ONE_NODE)
        .map(|(row, column)| CellAddress { table: table.clone(), row, column })
        .collect();
    let answers = link.ask_all(addresses.iter().map(CellAddress::question).collect(), pace).await;
    let objects = answers.into_iter().map(|answer| read_objects(&answer.ok()?).into_iter().next());
    let cells: Vec<VisibleCell> = addresses
        .into_iter()
        .zip(objects)
        .filter_map(|(address, object)| {
            Some(VisibleCell { address, object: object?, usage: CellUse::Filled })
        })
        .collect();
    Some(keep_used(learn_uses(link, cells, pace).await))
}

/// What a cell is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CellUse {
    Filled,
    /// It has the focus or is selected.
    Marked,
    Empty,
}

/// A cell at its place.
#[derive(Clone, Debug)]
pub struct VisibleCell {
    pub address: CellAddress,
    pub object: AtspiObject,
    usage: CellUse,
}

/// Two questions for each cell, because most cells of a sheet are empty and nobody asks more of them. What does
/// not say how long its text is may have one.
async fn learn_uses(
    link: &Rc<BusConnection>,
    mut cells: Vec<VisibleCell>,
    pace: &BusDeadline,
) -> Vec<VisibleCell> {
    let ask = |request: BusRequest| cells.iter().map(move |cell| (cell.object.clone(), request.clone()));
    let lengths = ask(BusRequest::Get(TEXT, "CharacterCount"));
    let states = ask(BusRequest::Call(ACCESSIBLE, "GetState"));
    let mut answers = link.ask_all(lengths.chain(states).collect(), pace).await;
    let states = answers.split_off(cells.len());
    for ((cell, length), states) in cells.iter_mut().zip(answers).zip(states) {
        let is_empty = length.ok().as_ref().and_then(read_number) == Some(0.0);
        let states = states.as_ref().map(states_of).unwrap_or_default();
        let is_marked = states.has(State::Focused) || states.has(State::Selected);
        cell.usage = match (is_empty, is_marked) {
            (false, _) => CellUse::Filled,
            (true, true) => CellUse::Marked,
            (true, false) => CellUse::Empty,
        };
    }
    cells
}

/// The filled part of a sheet and a row and a column beyond it, where one would go on writing, and what is marked.
fn keep_used(mut cells: Vec<VisibleCell>) -> Vec<VisibleCell> {
    let first = cells.first().map(|cell| (cell.address.row, cell.address.column));
    let filled = || cells.iter().filter(|cell| cell.usage == CellUse::Filled).map(|cell| &cell.address);
    let last_row = filled().map(|address| address.row + 1).max().or(first.map(|(row, _)| row));
    let last_column = filled().map(|address| address.column + 1).max().or(first.map(|(_, column)| column));
    cells.retain(|cell| {
        let is_near = Some(cell.address.row) <= last_row && Some(cell.address.column) <= last_column;
        is_near || cell.usage == CellUse::Marked
    });
    cells
}

/// How far into a table the points lie at which it is asked for a cell, in quarters; the ends lie just inside.
const QUARTERS: RangeInclusive<i32> = 0..=4;
const INSIDE: i32 = 3;

/// Points all over the table, so that a header or a scroll bar in a corner does no harm.
fn sample_points(table: Rect) -> Vec<(i32, i32)> {
    let along = |start: i32, length: i32| {
        QUARTERS.map(move |quarter| {
            let end = (length - 1 - INSIDE).max(INSIDE);
            start.saturating_add(
                (i64::from(length) * i64::from(quarter) / 4).clamp(INSIDE.into(), end.into()) as i32,
            )
        })
    };
    along(table.y, table.height).flat_map(|y| along(table.x, table.width).map(move |x| (x, y))).collect()
}

async fn cells_at(
    link: &Rc<BusConnection>,
    table: &AtspiObject,
    points: &[(i32, i32)],
    pace: &BusDeadline,
) -> Vec<AtspiObject> {
    let ask = |&(x, y): &(i32, i32)| {
        (table.clone(), BusRequest::WithPoint(COMPONENT, "GetAccessibleAtPoint", x, y, ON_SCREEN))
    };
    let answers = link.ask_all(points.iter().map(ask).collect(), pace).await;
    answers.into_iter().filter_map(|answer| read_objects(&answer.ok()?).into_iter().next()).collect()
}

/// Row and column of each cell: by its name where that is one of a spreadsheet, whose numbers of cells are too
/// large for the bus, else by its number.
async fn places_of(
    link: &Rc<BusConnection>,
    table: &AtspiObject,
    cells: &[AtspiObject],
    pace: &BusDeadline,
) -> Vec<(i32, i32)> {
    let names = cells.iter().map(|cell| (cell.clone(), BusRequest::Get(ACCESSIBLE, "Name"))).collect();
    let names = link.ask_all(names, pace).await;
    let by_name: Vec<Option<(i32, i32)>> =
        names.into_iter().map(|answer| read_place(&text(&answer.ok()?)?)).collect();
    if by_name.iter().any(Option::is_some) {
        return by_name.into_iter().flatten().collect();
    }
    let numbers = cells.iter().map(|cell| (cell.clone(), BusRequest::Call(ACCESSIBLE, "GetIndexInParent")));
    let numbers = link.ask_all(numbers.collect(), pace).await;
    let numbers: Vec<i32> =
        numbers.into_iter().filter_map(|answer| answer.ok()?.body().deserialize().ok()).collect();
    let ask = |method| {
        numbers.iter().map(move |number| (table.clone(), BusRequest::WithIndex(TABLE, method, *number)))
    };
    let answers = link.ask_all(ask("GetRowAtIndex").chain(ask("GetColumnAtIndex")).collect(), pace).await;
    let answers: Vec<Option<i32>> =
        answers.into_iter().map(|answer| answer.ok()?.body().deserialize().ok()).collect();
    let (rows, columns) = answers.split_at(numbers.len().min(answers.len()));
    rows.iter().zip(columns).filter_map(|(row, column)| Some(((*row)?, (*column)?))).collect()
}

/// `B7` is the second column of the seventh row; rows and columns count from 0.
fn read_place(name: &str) -> Option<(i32, i32)> {
    let digits = name.find(|letter: char| letter.is_ascii_digit())?;
    let (letters, digits) = name.split_at(digits);
    let is_column =
        (1..=3).contains(&letters.len()) && letters.bytes().all(|letter| letter.is_ascii_uppercase());
    let column =
        letters.bytes().fold(0, |column, letter| column * 26 + i32::from(letter.wrapping_sub(b'A')) + 1);
    let row: i32 = digits.parse().ok()?;
    (is_column && row > 0).then_some((row - 1, column - 1))
}

type CellRange = RangeInclusive<i32>;

/// The rows and columns between the outermost cells that were found; what has no row or column is a header.
fn block_around(places: &[(i32, i32)]) -> Option<(CellRange, CellRange)> {
    let inside = || places.iter().filter(|(row, column)| *row >= 0 && *column >= 0);
    let rows = inside().map(|(row, _)| *row);
    let columns = inside().map(|(_, column)| *column);
    let rows = rows.clone().min()?..=rows.max()?;
    Some((rows, columns.clone().min()?..=columns.max()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_place(name: &str, expected: Option<(i32, i32)>) {
        assert_eq!(read_place(name), expected, "{name}");
    }

    #[test]
    fn cells_of_a_spreadsheet_tell_their_place() {
        check_place("A1", Some((0, 0)));
        check_place("B7", Some((6, 1)));
        check_place("AA10", Some((9, 26)));
        check_place("XFD1048576", Some((1_048_575, 16_383)));
        for wrong in ["", "A", "7", "A0", "a1", "A1b", "ABCD1", "Ä1", "A99999999999", "Row 1"] {
            check_place(wrong, None);
        }
    }

    #[test]
    fn the_block_lies_between_the_outermost_cells() {
        assert_eq!(block_around(&[(4, 1), (9, 0), (5, 3)]), Some((4..=9, 0..=3)));
        assert_eq!(block_around(&[(-1, 0), (2, 2)]), Some((2..=2, 2..=2)));
        assert_eq!(block_around(&[]), None);
    }

    /// A sheet of three rows and four columns: which cells are filled or marked, and which are kept.
    fn check_kept(uses: &[((i32, i32), CellUse)], expected: &[(i32, i32)]) {
        let usage =
            |place| uses.iter().find(|(at, _)| *at == place).map_or(CellUse::Empty, |(_, usage)| *usage);
        let table = AtspiObject::new(":1.1", "/t");
        let places = (0..3).flat_map(|row| (0..4).map(move |column| (row, column)));
        let cells = places.map(|(row, column)| VisibleCell {
            address: CellAddress { table: table.clone(), row, column },
            object: table.clone(),
            usage: usage((row, column)),
        });
        let kept = keep_used(cells.collect());
        let kept: Vec<(i32, i32)> = kept.iter().map(|cell| (cell.address.row, cell.address.column)).collect();
        assert_eq!(kept, expected, "{uses:?}");
    }

    #[test]
    fn of_a_sheet_the_filled_part_is_kept() {
        check_kept(&[], &[(0, 0)]);
        check_kept(&[((0, 0), CellUse::Filled)], &[(0, 0), (0, 1), (1, 0), (1, 1)]);
        check_kept(&[((2, 3), CellUse::Marked)], &[(0, 0), (2, 3)]);
    }

    #[test]
    fn points_lie_inside_of_the_table() {
        let table = Rect::new(-5, 10, 400, 7);
        let points = sample_points(table);
        assert_eq!(points.len(), 25);
        assert!(points.iter().all(|&(x, y)| table.contains(crate::model::Point { x, y })), "{points:?}");
        assert!(points.contains(&(-2, 13)) && points.contains(&(391, 13)));
    }

    #[test]
    fn an_address_leads_back() {
        let table = AtspiObject::new(":1.42", "/org/a11y/atspi/accessible/7");
        let address = CellAddress { table, row: 1_048_575, column: 2 };
        assert_eq!(CellAddress::from_native(&address.native()), Some(address));
        for wrong in [":1.42/7", "@1,2", ":1.42/7@1", ":1.42/7@a,b", ":1.42@1,2"] {
            assert_eq!(CellAddress::from_native(wrong), None, "{wrong}");
        }
    }
}
