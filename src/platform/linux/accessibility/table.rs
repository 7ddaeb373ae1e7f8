//! Tables with more cells than anybody reads: the block of rows and columns that shows, and cells that are known
//! by their place.
//!
//! A spreadsheet claims billions of children and makes an object for a cell whenever it is asked for one, each
//! time another. So a cell's name here is its table, its row and its column.

use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::rc::Rc;
use std::time::Duration;

use atspi::State;

use super::bus::{BusConnection, BusDeadline, BusReply, BusRequest, read_number, read_objects, text};
use super::find::{ON_SCREEN, read_rectangle, states_of};
use super::object::{ACCESSIBLE, AtspiObject, COMPONENT, SELECTION, TABLE, TEXT};
use crate::clock::Deadline;
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

    fn place(&self) -> Place {
        (self.row, self.column)
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

/// Applications keep the object of a cell for ten seconds after somebody asked for it.
const CELL_LIFE: Duration = Duration::from_secs(8);

/// Blocks that were read a moment ago, by table: their objects still lead to their cells, so that nobody asks for them.
#[derive(Debug, Default)]
pub struct KnownBlocks(HashMap<AtspiObject, KnownBlock>);

impl KnownBlocks {
    pub fn forget(&mut self, bus: &str) {
        self.0.retain(|table, _| &*table.bus != bus);
    }
}

/// The rows and columns of a table that show.
#[derive(Clone, Debug)]
struct KnownBlock {
    extents: Rect,
    /// Points with outermost cells, and where those are in the table.
    corners: Vec<((i32, i32), Place)>,
    rows: CellRange,
    columns: CellRange,
    cells: HashMap<Place, AtspiObject>,
    /// The cell that had the focus or was selected, where there was one.
    marked: Option<Place>,
    until: Deadline,
}

/// Row and column, from 0.
type Place = (i32, i32);

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
    let mut block = match known_block(link, table, extents, pace).await {
        Some(block) => block,
        None => find_block(link, table, extents, pace).await?,
    };
    let cells = block.read_cells(link, table, pace).await;
    block.marked = cells.iter().find(|cell| cell.is_marked).map(|cell| cell.address.place());
    link.blocks.borrow_mut().0.insert(table.clone(), block);
    Some(keep_used(cells))
}

/// The block of a moment ago, if the same cells are in its corners.
async fn known_block(
    link: &Rc<BusConnection>,
    table: &AtspiObject,
    extents: Rect,
    pace: &BusDeadline,
) -> Option<KnownBlock> {
    let known = link.blocks.borrow_mut().0.remove(table)?;
    if known.extents != extents || known.until.is_over() {
        return None;
    }
    let points: Vec<(i32, i32)> = known.corners.iter().map(|(point, _)| *point).collect();
    let places = places_at(link, table, &points, pace).await;
    let same = known.corners.iter().zip(&places).all(|((_, before), now)| *now == Some(*before));
    same.then_some(known)
}

async fn find_block(
    link: &Rc<BusConnection>,
    table: &AtspiObject,
    extents: Rect,
    pace: &BusDeadline,
) -> Option<KnownBlock> {
    let points = sample_points(extents);
    let places = places_at(link, table, &points, pace).await;
    let found: Vec<((i32, i32), Place)> =
        points.into_iter().zip(places).filter_map(|(point, place)| Some((point, place?))).collect();
    let places: Vec<Place> = found.iter().map(|(_, place)| *place).collect();
    let (rows, columns) = block_around(&places)?;
    let first = |is_met: &dyn Fn(Place) -> bool| found.iter().find(|(_, place)| is_met(*place)).copied();
    let corners = [
        first(&|(row, _)| row == *rows.start()),
        first(&|(row, _)| row == *rows.end()),
        first(&|(_, column)| column == *columns.start()),
        first(&|(_, column)| column == *columns.end()),
    ];
    let corners = corners.into_iter().flatten().collect();
    let (cells, marked, until) = (HashMap::new(), None, Deadline::after(CELL_LIFE));
    Some(KnownBlock { extents, corners, rows, columns, cells, marked, until })
}

impl KnownBlock {
    async fn read_cells(
        &mut self,
        link: &Rc<BusConnection>,
        table: &AtspiObject,
        pace: &BusDeadline,
    ) -> Vec<VisibleCell> {
        let columns = &self.columns;
        let places = self.rows.clone().flat_map(|row| columns.clone().map(move |column| (row, column)));
        let places: Vec<Place> = places.take(TREE_CHILDREN_OF_ONE_NODE).collect();
        let mut lengths = self.ask_lengths(link, table, &places, pace).await;
        // Some have gone meanwhile.
        let unknown: Vec<Place> = places.iter().filter(|it| !lengths.contains_key(*it)).copied().collect();
        unknown.iter().for_each(|place| drop(self.cells.remove(place)));
        lengths.extend(self.ask_lengths(link, table, &unknown, pace).await);
        let cells = places.into_iter().filter_map(|place| {
            let object = self.cells.get(&place)?.clone();
            let address = CellAddress { table: table.clone(), row: place.0, column: place.1 };
            // What does not say how long its text is may have one.
            let is_filled = lengths.get(&place) != Some(&0);
            Some(VisibleCell { address, object, is_filled, is_marked: false })
        });
        let mut cells: Vec<VisibleCell> = cells.collect();
        self.find_marked(link, table, &mut cells, pace).await;
        cells
    }

    /// How long the texts of these cells are; nothing of a cell that does not say it. Cells that are not known are asked
    /// for first.
    async fn ask_lengths(
        &mut self,
        link: &Rc<BusConnection>,
        table: &AtspiObject,
        places: &[Place],
        pace: &BusDeadline,
    ) -> HashMap<Place, usize> {
        let unknown: Vec<Place> = places.iter().filter(|it| !self.cells.contains_key(*it)).copied().collect();
        let ask = |&(row, column): &Place| CellAddress { table: table.clone(), row, column }.question();
        let answers = link.ask_all(unknown.iter().map(ask).collect(), pace).await;
        for (place, answer) in unknown.into_iter().zip(answers) {
            let object = answer.ok().and_then(|reply| read_objects(&reply).into_iter().next());
            self.cells.extend(object.map(|object| (place, object)));
        }
        let known = places.iter().filter_map(|place| Some((*place, self.cells.get(place)?.clone())));
        let (places, asks): (Vec<Place>, Vec<_>) =
            known.map(|(place, object)| (place, (object, BusRequest::Get(TEXT, "CharacterCount")))).unzip();
        let answers = link.ask_all(asks, pace).await;
        let length =
            |(place, answer): (Place, BusReply)| Some((place, read_number(&answer.ok()?)?.max(0.0) as usize));
        places.into_iter().zip(answers).filter_map(length).collect()
    }

    /// Where nothing is selected there is at most a cursor, which is mostly where it was or where something is written.
    async fn find_marked(
        &self,
        link: &Rc<BusConnection>,
        table: &AtspiObject,
        cells: &mut [VisibleCell],
        pace: &BusDeadline,
    ) {
        let selected = link.ask_object(table, &BusRequest::Get(SELECTION, "NSelectedChildren"), pace).await;
        let has_cursor_alone = selected.ok().as_ref().and_then(read_number) == Some(0.0);
        let is_likely = |cell: &VisibleCell| cell.is_filled || Some(cell.address.place()) == self.marked;
        if has_cursor_alone {
            ask_marks(link, cells, is_likely, pace).await;
            if cells.iter().any(|cell| cell.is_marked) {
                return;
            }
        }
        ask_marks(link, cells, |cell| !has_cursor_alone || !is_likely(cell), pace).await;
    }
}

async fn ask_marks(
    link: &Rc<BusConnection>,
    cells: &mut [VisibleCell],
    is_asked: impl Fn(&VisibleCell) -> bool,
    pace: &BusDeadline,
) {
    let mut asked: Vec<&mut VisibleCell> = cells.iter_mut().filter(|cell| is_asked(cell)).collect();
    let asks = asked.iter().map(|cell| (cell.object.clone(), BusRequest::Call(ACCESSIBLE, "GetState")));
    let answers = link.ask_all(asks.collect(), pace).await;
    for (cell, answer) in asked.iter_mut().zip(answers) {
        let states = answer.as_ref().map(states_of).unwrap_or_default();
        cell.is_marked = states.has(State::Focused) || states.has(State::Selected);
    }
}

/// A cell at its place.
#[derive(Clone, Debug)]
pub struct VisibleCell {
    pub address: CellAddress,
    pub object: AtspiObject,
    is_filled: bool,
    /// It has the focus or is selected.
    is_marked: bool,
}

/// The filled part of a sheet and a row and a column beyond it, where one would go on writing, and what is marked.
fn keep_used(mut cells: Vec<VisibleCell>) -> Vec<VisibleCell> {
    let first = cells.first().map(|cell| (cell.address.row, cell.address.column));
    let filled = || cells.iter().filter(|cell| cell.is_filled).map(|cell| &cell.address);
    let last_row = filled().map(|address| address.row + 1).max().or(first.map(|(row, _)| row));
    let last_column = filled().map(|address| address.column + 1).max().or(first.map(|(_, column)| column));
    cells.retain(|cell| {
        let is_near = Some(cell.address.row) <= last_row && Some(cell.address.column) <= last_column;
        is_near || cell.is_marked
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

/// Row and column of the cell at each point: by its name where that is one of a spreadsheet, whose numbers of cells are
/// too large for the bus, else by its number.
async fn places_at(
    link: &Rc<BusConnection>,
    table: &AtspiObject,
    points: &[(i32, i32)],
    pace: &BusDeadline,
) -> Vec<Option<Place>> {
    let ask = |&(x, y): &(i32, i32)| {
        (table.clone(), BusRequest::WithPoint(COMPONENT, "GetAccessibleAtPoint", x, y, ON_SCREEN))
    };
    let answers = link.ask_all(points.iter().map(ask).collect(), pace).await;
    let cells: Vec<Option<AtspiObject>> =
        answers.into_iter().map(|answer| read_objects(&answer.ok()?).into_iter().next()).collect();
    let known: Vec<&AtspiObject> = cells.iter().flatten().collect();
    let mut places = places_of(link, table, &known, pace).await.into_iter();
    cells.iter().map(|cell| cell.as_ref().and_then(|_| places.next().flatten())).collect()
}

async fn places_of(
    link: &Rc<BusConnection>,
    table: &AtspiObject,
    cells: &[&AtspiObject],
    pace: &BusDeadline,
) -> Vec<Option<Place>> {
    let ask = |request: BusRequest| cells.iter().map(move |cell| ((*cell).clone(), request.clone()));
    let names = link.ask_all(ask(BusRequest::Get(ACCESSIBLE, "Name")).collect(), pace).await;
    let by_name: Vec<Option<Place>> =
        names.into_iter().map(|answer| read_place(&text(&answer.ok()?)?)).collect();
    if by_name.iter().any(Option::is_some) {
        return by_name;
    }
    let numbers = link.ask_all(ask(BusRequest::Call(ACCESSIBLE, "GetIndexInParent")).collect(), pace).await;
    let numbers = numbers.into_iter().map(|answer| answer.ok()?.body().deserialize().ok());
    // No cell has this number.
    let numbers: Vec<i32> = numbers.map(|number: Option<i32>| number.unwrap_or(-1)).collect();
    let ask = |method| {
        numbers.iter().map(move |number| (table.clone(), BusRequest::WithIndex(TABLE, method, *number)))
    };
    let answers = link.ask_all(ask("GetRowAtIndex").chain(ask("GetColumnAtIndex")).collect(), pace).await;
    let answers: Vec<Option<i32>> =
        answers.into_iter().map(|answer| answer.ok()?.body().deserialize().ok()).collect();
    let (rows, columns) = answers.split_at(numbers.len().min(answers.len()));
    rows.iter().zip(columns).map(|(row, column)| (*row).zip(*column)).collect()
}

/// `B7` is the second column of the seventh row; rows and columns count from 0.
fn read_place(name: &str) -> Option<Place> {
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
fn block_around(places: &[Place]) -> Option<(CellRange, CellRange)> {
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

    /// A sheet of three rows and four columns: which cells are filled, which are marked, and which are kept.
    #[track_caller]
    fn check_kept(filled: &[Place], marked: &[Place], expected: &[Place]) {
        let table = AtspiObject::new(":1.1", "/t");
        let places = (0..3).flat_map(|row| (0..4).map(move |column| (row, column)));
        let cells = places.map(|(row, column)| VisibleCell {
            address: CellAddress { table: table.clone(), row, column },
            object: table.clone(),
            is_filled: filled.contains(&(row, column)),
            is_marked: marked.contains(&(row, column)),
        });
        let kept: Vec<Place> = keep_used(cells.collect()).iter().map(|cell| cell.address.place()).collect();
        assert_eq!(kept, expected, "{filled:?} {marked:?}");
    }

    #[test]
    fn of_a_sheet_the_filled_part_is_kept() {
        check_kept(&[], &[], &[(0, 0)]);
        check_kept(&[(0, 0)], &[], &[(0, 0), (0, 1), (1, 0), (1, 1)]);
        check_kept(&[], &[(2, 3)], &[(0, 0), (2, 3)]);
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
