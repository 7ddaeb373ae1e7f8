//! A made-up application, changed at random as toolkits change, whose mirror must always be what a reading of everything
//! finds.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::pin::Pin;
use std::time::Duration;

use atspi::Role;
use proptest::prelude::*;
use zbus::export::futures_core::Stream;
use zbus::message::Type;
use zbus::zvariant::{ObjectPath, Value};
use zbus::{Connection, Message, MessageStream, connection};

use super::super::capture::build_tree;
use super::super::find::{Toolkit, WindowFacts};
use super::super::object::States;
use super::super::{events, object};
use super::*;
use crate::clock::Bell;
use crate::model::Tree;

const BUS: &str = ":1.9";
/// The pane shows this many lines of what is in it.
const LINES: i32 = 10;
const LINE: i32 = 20;

#[derive(Clone, Debug)]
struct MadeNode {
    role: Role,
    name: String,
    states: u64,
    text: String,
    number: f64,
    children: Vec<usize>,
    parent: usize,
    /// It and what is below it do not show.
    shut: bool,
    gone: bool,
}

/// A window with a pane that scrolls, in which groups hold buttons, fields, sliders and paragraphs, and a sheet below it.
#[derive(Debug)]
struct MadeApplication {
    nodes: Vec<MadeNode>,
    scrolled: i32,
    sheet: MadeSheet,
    /// How many questions it was asked.
    asked: Cell<usize>,
}

/// A table of a million rows, of which some show; whoever asks for a cell gets a new object.
#[derive(Debug, Default)]
struct MadeSheet {
    first_row: i32,
    texts: HashMap<(i32, i32), String>,
    marked: (i32, i32),
    objects: Cell<usize>,
}

const SHEET_ROWS: i32 = 4;
const SHEET_COLUMNS: i32 = 3;
const SHEET_TOP: i32 = 300;

impl MadeSheet {
    fn new_cell(&self, row: i32, column: i32) -> String {
        self.objects.set(self.objects.get() + 1);
        format!("/c{}/{row}/{column}", self.objects.get())
    }

    fn cell_at(&self, x: i32, y: i32) -> (i32, i32) {
        let (row, column) = ((y - SHEET_TOP) / LINE, x / 50);
        (self.first_row + row.clamp(0, SHEET_ROWS - 1), column.clamp(0, SHEET_COLUMNS - 1))
    }

    fn answer(&self, call: &Message, row: i32, column: i32) -> zbus::Result<Message> {
        let header = call.header();
        let reply = Message::method_return(&header)?;
        let text = self.texts.get(&(row, column)).map(String::as_str).unwrap_or_default();
        let marked = if self.marked == (row, column) { State::Selected as u64 } else { 0 };
        let states = State::Showing as u64 | State::Visible as u64 | State::Editable as u64 | marked;
        match header.member().map(|member| member.as_str()).unwrap_or_default() {
            "GetRole" => reply.build(&(Role::TableCell as u32)),
            "GetState" => reply.build(&vec![states as u32, (states >> 32) as u32]),
            "GetExtents" => {
                reply.build(&((column * 50, SHEET_TOP + (row - self.first_row) * LINE, 50, LINE),))
            }
            "GetText" => reply.build(&text),
            "Get" => match call.body().deserialize::<(&str, &str)>()?.1 {
                "Name" => {
                    reply.build(&Value::from(format!("{}{}", ["A", "B", "C"][column as usize], row + 1)))
                }
                "CharacterCount" => reply.build(&Value::from(text.len() as i32)),
                _ => refused(&header),
            },
            _ => refused(&header),
        }
    }
}

const ROOT: usize = 0;
const PANE: usize = 1;
const SHEET: usize = 2;
const KINDS_OF_CHANGES: u8 = 17;
const KINDS: &[Role] =
    &[Role::Button, Role::Entry, Role::Slider, Role::Panel, Role::Paragraph, Role::CheckBox];

impl MadeApplication {
    fn new() -> Self {
        let mut made =
            Self { nodes: Vec::new(), scrolled: 0, sheet: MadeSheet::default(), asked: Cell::default() };
        made.nodes.push(made_node(Role::Frame, ROOT));
        made.add(ROOT, Role::ScrollPane);
        made.add(ROOT, Role::Table);
        for _ in 0..4 {
            let group = made.add(PANE, Role::Panel);
            for kind in 0..6 {
                made.add(group, KINDS[kind % KINDS.len()]);
            }
        }
        made
    }

    fn add(&mut self, parent: usize, role: Role) -> usize {
        let number = self.nodes.len();
        self.nodes.push(made_node(role, parent));
        self.nodes[number].name = format!("{role:?} {number}");
        self.nodes[parent].children.push(number);
        number
    }

    /// A node that is there, and not the window, the pane or the sheet.
    fn pick(&self, of: usize) -> Option<usize> {
        let there: Vec<usize> = self.listed(ROOT).into_iter().filter(|node| *node > SHEET).collect();
        there.get(of % there.len().max(1)).copied()
    }

    fn listed(&self, top: usize) -> Vec<usize> {
        let below = self.nodes[top].children.iter().flat_map(|child| self.listed(*child));
        std::iter::once(top).chain(below).collect()
    }

    fn shows(&self, node: usize) -> bool {
        !self.nodes[node].shut && (node == ROOT || self.shows(self.nodes[node].parent))
    }

    fn states(&self, node: usize) -> [u32; 2] {
        let showing = State::Showing as u64 | State::Visible as u64;
        let all = self.nodes[node].states | if self.shows(node) { showing } else { 0 };
        [all as u32, (all >> 32) as u32]
    }

    /// Everything in the pane stands on a line of its own.
    fn extents(&self, node: usize) -> (i32, i32, i32, i32) {
        if node == SHEET {
            return (0, SHEET_TOP, 50 * SHEET_COLUMNS, LINE * SHEET_ROWS);
        }
        if node <= PANE {
            return (0, 0, 400, LINES * LINE);
        }
        let in_pane = self.listed(PANE);
        let line = in_pane.iter().position(|other| *other == node).unwrap_or(0) as i32;
        let lines = self.listed(node).len() as i32;
        (5, line * LINE - self.scrolled, 300, LINE * lines)
    }

    fn is_to_be_seen(&self, node: usize) -> bool {
        let (_, top, _, height) = self.extents(node);
        self.shows(node) && top < LINES * LINE && top + height > 0
    }

    /// Changes something, and says whom a toolkit would name in which event.
    fn change(
        &mut self,
        (kind, of, more): (u8, usize, usize),
    ) -> Option<(usize, &'static str, &'static str)> {
        let node = self.pick(of)?;
        match kind % KINDS_OF_CHANGES {
            0 => {
                self.nodes[node].name.push('!');
                Some((node, "PropertyChange", "accessible-name"))
            }
            1 => {
                self.nodes[node].states ^= State::Enabled as u64;
                Some((node, "StateChanged", "enabled"))
            }
            2 => {
                self.nodes.iter_mut().for_each(|other| other.states &= !(State::Focused as u64));
                self.nodes[node].states |= State::Focused as u64;
                Some((node, "StateChanged", "focused"))
            }
            3 => {
                self.add(node, KINDS[more % KINDS.len()]);
                Some((node, "ChildrenChanged", "add"))
            }
            4 => {
                let parent = self.nodes[node].parent;
                self.nodes[parent].children.retain(|child| *child != node);
                self.listed(node).into_iter().for_each(|gone| self.nodes[gone].gone = true);
                Some((parent, "ChildrenChanged", "remove"))
            }
            5 => {
                self.scrolled = (more as i32 * 7) % 600;
                None
            }
            6 => {
                self.nodes[node].text.push('x');
                (!self.is_to_be_seen(node)).then_some((node, "TextChanged", "insert"))
            }
            7 => {
                self.nodes[node].shut = !self.nodes[node].shut;
                Some((node, "StateChanged", "showing"))
            }
            8 => {
                self.nodes[node].number += 1.0;
                (!self.is_to_be_seen(node)).then_some((node, "PropertyChange", "accessible-value"))
            }
            9 => {
                self.nodes[node].role = KINDS[more % KINDS.len()];
                Some((node, "PropertyChange", "accessible-role"))
            }
            10 => {
                self.sheet.first_row = more as i32;
                None
            }
            11 => {
                let (row, column) = (of as i32 % SHEET_ROWS, more as i32 % SHEET_COLUMNS);
                let cell = (self.sheet.first_row + row, column);
                self.sheet.texts.entry(cell).or_default().push('x');
                None
            }
            12 => {
                self.sheet.marked = (more as i32 % SHEET_ROWS, of as i32 % SHEET_COLUMNS);
                None
            }
            // As Qt does: only what came says something of itself, or nobody does.
            13 => {
                let new = self.add(node, KINDS[more % KINDS.len()]);
                Some((new, "StateChanged", "showing"))
            }
            14 => {
                let panel = self.panel_to_be_seen(of)?;
                self.add(panel, KINDS[more % KINDS.len()]);
                None
            }
            15 => {
                let panel = self.panel_to_be_seen(of)?;
                let first = *self.nodes[panel].children.first()?;
                self.listed(first).into_iter().for_each(|gone| self.nodes[gone].gone = true);
                let new = self.add(panel, KINDS[more % KINDS.len()]);
                self.nodes[panel].children.pop();
                self.nodes[panel].children[0] = new;
                None
            }
            _ => {
                let (from, to) = (self.panel_to_be_seen(of)?, self.panel_to_be_seen(more)?);
                let moved = *self.nodes[from].children.first()?;
                let is_within = self.listed(moved).contains(&to);
                if !is_within && from != to {
                    self.nodes[from].children.remove(0);
                    self.nodes[to].children.push(moved);
                    self.nodes[moved].parent = to;
                }
                None
            }
        }
    }

    fn panel_to_be_seen(&self, of: usize) -> Option<usize> {
        let is_panel = |node: &usize| self.nodes[*node].role == Role::Panel && self.is_to_be_seen(*node);
        let panels: Vec<usize> = self.listed(PANE).into_iter().filter(is_panel).collect();
        panels.get(of % panels.len().max(1)).copied()
    }

    fn answer(&self, call: &Message) -> zbus::Result<Message> {
        self.asked.set(self.asked.get() + 1);
        let header = call.header();
        let path = header.path().map(|path| path.as_str()).unwrap_or_default();
        if let Some(cell) = path.strip_prefix("/c") {
            let place: Vec<i32> = cell.split('/').filter_map(|number| number.parse().ok()).collect();
            return self.sheet.answer(call, place[1], place[2]);
        }
        let node = path.strip_prefix("/n").and_then(|number| number.parse::<usize>().ok());
        let reply = Message::method_return(&header)?;
        let Some((number, node)) = node.and_then(|number| Some((number, self.nodes.get(number)?))) else {
            return refused(&header);
        };
        if node.gone {
            return refused(&header);
        }
        match header.member().map(|member| member.as_str()).unwrap_or_default() {
            "GetRole" => reply.build(&(node.role as u32)),
            "GetState" => reply.build(&self.states(number).to_vec()),
            "GetChildren" => {
                let paths: Vec<(&str, String)> =
                    node.children.iter().map(|child| (BUS, format!("/n{child}"))).collect();
                let objects: Vec<(&str, ObjectPath)> = paths
                    .iter()
                    .map(|(bus, path)| (*bus, ObjectPath::try_from(path.as_str()).unwrap()))
                    .collect();
                reply.build(&objects)
            }
            "GetExtents" => reply.build(&(self.extents(number),)),
            "GetText" => reply.build(&node.text),
            "GetAccessibleAtPoint" => {
                let (x, y, _): (i32, i32, u32) = call.body().deserialize()?;
                let (row, column) = self.sheet.cell_at(x, y);
                reply.build(&((BUS, ObjectPath::try_from(self.sheet.new_cell(row, column))?),))
            }
            "GetAccessibleAt" => {
                let (row, column): (i32, i32) = call.body().deserialize()?;
                reply.build(&((BUS, ObjectPath::try_from(self.sheet.new_cell(row, column))?),))
            }
            "Get" => match call.body().deserialize::<(&str, &str)>()?.1 {
                "Name" => reply.build(&Value::from(node.name.as_str())),
                "Description" => reply.build(&Value::from("")),
                "Parent" => {
                    let parent = ObjectPath::try_from(format!("/n{}", node.parent))?;
                    reply.build(&Value::from((BUS, parent)))
                }
                "ChildCount" if number == SHEET => reply.build(&Value::from(i32::MAX)),
                "ChildCount" => reply.build(&Value::from(node.children.len() as i32)),
                "CharacterCount" => reply.build(&Value::from(node.text.len() as i32)),
                "CurrentValue" => reply.build(&Value::from(node.number)),
                "MinimumValue" => reply.build(&Value::from(0.0)),
                "MaximumValue" => reply.build(&Value::from(99.0)),
                _ => refused(&header),
            },
            _ => refused(&header),
        }
    }
}

fn made_node(role: Role, parent: usize) -> MadeNode {
    MadeNode {
        role,
        name: String::new(),
        states: State::Enabled as u64 | State::Sensitive as u64,
        text: String::new(),
        number: 0.0,
        children: Vec::new(),
        parent,
        shut: false,
        gone: false,
    }
}

fn refused(call: &zbus::message::Header<'_>) -> zbus::Result<Message> {
    Message::error(call, "org.freedesktop.DBus.Error.UnknownObject")?.build(&"no such thing")
}

async fn serve(connection: Connection, made: Rc<RefCell<MadeApplication>>) {
    let mut calls = MessageStream::from(&connection);
    while let Some(Ok(call)) = poll_fn(|cx| Pin::new(&mut calls).poll_next(cx)).await {
        if call.message_type() == Type::MethodCall {
            let answer = made.borrow().answer(&call).unwrap();
            connection.send(&answer).await.unwrap();
        }
    }
}

/// The application's end of a connection and ours.
struct MadeWorld {
    made: Rc<RefCell<MadeApplication>>,
    application: Connection,
    link: Rc<BusConnection>,
    frame: AtspiFrame,
}

impl MadeWorld {
    async fn new() -> Self {
        let (theirs, ours) = tokio::net::UnixStream::pair().unwrap();
        let connect = |end: tokio::net::UnixStream| {
            let guid = zbus::Guid::from_static_str("0123456789abcdef0123456789abcdef").unwrap();
            connection::Builder::authenticated_socket(end, guid).unwrap().build()
        };
        let (application, connection) = tokio::try_join!(connect(theirs), connect(ours)).unwrap();
        let made = Rc::new(RefCell::new(MadeApplication::new()));
        tokio::task::spawn_local(serve(application.clone(), made.clone()));
        let link = Rc::new(BusConnection::new(connection));
        events::listen(&link, Bell::default()).await;
        let root = object::AtspiObject::new(BUS, "/n0");
        let frame = AtspiFrame {
            object: root.clone(),
            application: root,
            role: Role::Frame as u32,
            name: String::new(),
            states: States::default(),
            offset: (0, 0),
            hides_what_shows: false,
            toolkit: Toolkit::Other,
            popups: Vec::new(),
        };
        Self { made, application, link, frame }
    }

    async fn change(&self, change: (u8, usize, usize)) {
        let told = self.made.borrow_mut().change(change);
        if let Some((node, member, detail)) = told {
            self.tell(node, member, detail).await;
        }
    }

    async fn tell(&self, node: usize, member: &str, detail: &str) {
        let signal = Message::signal(format!("/n{node}"), "org.a11y.atspi.Event.Object", member).unwrap();
        let body = (detail, 0, 0, Value::from(0), Vec::<(String, Value)>::new());
        let signal = signal.sender(BUS).unwrap().build(&body).unwrap();
        self.application.send(&signal).await.unwrap();
    }

    /// By way of the mirror, and whether that knew it.
    async fn look(&self) -> (Tree, bool) {
        let pace = BusDeadline::new(Duration::from_secs(5), Duration::from_secs(9));
        let (reading, turn) = read_frame(&self.link, &self.frame, &[], Detail::Everything, &pace).await;
        let tree = self.tree_of(&reading);
        keep_reading(&self.link, &self.frame, &turn, reading);
        (tree, turn.refreshed)
    }

    /// Who has the focus, by way of the mirror.
    async fn look_for_focus(&self) -> Option<String> {
        let pace = BusDeadline::new(Duration::from_secs(5), Duration::from_secs(9));
        let (reading, turn) = read_frame(&self.link, &self.frame, &[], Detail::Focus, &pace).await;
        let tree = self.tree_of(&reading);
        keep_reading(&self.link, &self.frame, &turn, reading);
        focused_in(&tree)
    }

    async fn read(&self) -> Tree {
        let pace = BusDeadline::new(Duration::from_secs(5), Duration::from_secs(9));
        self.tree_of(&read_everything(&self.link, &self.frame, &pace).await)
    }

    fn tree_of(&self, reading: &FrameReading) -> Tree {
        build_tree(&WindowFacts::default(), &self.frame, Rect::new(0, 0, 400, 200), reading)
    }
}

fn focused_in(tree: &Tree) -> Option<String> {
    tree.focused().and_then(|node| tree.elements()[node].native.clone())
}

fn run<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    tokio::task::LocalSet::new().block_on(&runtime, work)
}

/// Looks after each change; how often the mirror was enough.
#[track_caller]
fn check(changes: &[(u8, usize, usize)]) -> usize {
    run(async {
        let world = MadeWorld::new().await;
        let mut refreshed = 0;
        world.look().await;
        for (place, change) in changes.iter().enumerate() {
            world.change(*change).await;
            let (mirrored, was_refreshed) = world.look().await;
            let read = world.read().await;
            assert_eq!(mirrored.elements(), read.elements(), "after {:?}", &changes[..=place]);
            refreshed += usize::from(was_refreshed);
        }
        refreshed
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]
    #[test]
    fn the_mirror_is_what_a_reading_finds(changes in proptest::collection::vec((any::<u8>(), 0..99usize, 0..99usize), 1..16)) {
        check(&changes);
    }
}

/// The same, asking for the focus alone before each look.
#[track_caller]
fn check_focus(changes: &[(u8, usize, usize)]) {
    run(async {
        let world = MadeWorld::new().await;
        world.look().await;
        for (place, change) in changes.iter().enumerate() {
            world.change(*change).await;
            let focused = world.look_for_focus().await;
            let read = world.read().await;
            // Where nobody is found everything is read.
            if focused.is_some() {
                assert_eq!(focused, focused_in(&read), "after {:?}", &changes[..=place]);
            }
            let (mirrored, _) = world.look().await;
            assert_eq!(mirrored.elements(), read.elements(), "after {:?}", &changes[..=place]);
        }
    });
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]
    #[test]
    fn the_focus_is_found_alone_and_the_rest_stays_marked(changes in proptest::collection::vec((any::<u8>(), 0..99usize, 0..99usize), 1..16)) {
        check_focus(&changes);
    }
}

/// What such a run has found once.
#[test]
fn the_focus_is_found_where_it_was_missed() {
    check_focus(&[(38, 1, 0), (175, 43, 65), (20, 87, 95), (115, 8, 46), (220, 39, 1)]);
    check_focus(&[(118, 15, 8), (226, 75, 19), (67, 7, 14), (50, 87, 70), (33, 54, 14)]);
}

/// What else was told costs nothing, and who is new and has the focus is found.
#[test]
fn the_focus_alone_costs_little() {
    run(async {
        let world = MadeWorld::new().await;
        world.look().await;
        for kind in [0, 1, 6, 8] {
            for of in 0..28 {
                world.change((kind, of, 1)).await;
            }
        }
        let (panel, new) = {
            let made = &mut *world.made.borrow_mut();
            let panel = made.panel_to_be_seen(0).unwrap();
            let new = made.add(panel, Role::Entry);
            made.nodes.iter_mut().for_each(|other| other.states &= !(State::Focused as u64));
            made.nodes[new].states |= State::Focused as u64;
            (panel, new)
        };
        world.tell(new, "StateChanged", "focused").await;
        let before = world.made.borrow().asked.get();
        let focused = world.look_for_focus().await;
        let asked = world.made.borrow().asked.get() - before;
        assert_eq!(focused, Some(format!("{BUS}/n{new}")), "in {panel}");
        assert!(asked < 60, "{asked} questions");
    });
}

/// A cell is filled, another is marked, and the sheet scrolls, all without a word.
#[test]
fn the_block_of_a_sheet_is_as_it_is_now() {
    check(&[(11, 1, 1), (11, 1, 1), (12, 2, 3), (10, 0, 2), (11, 0, 0), (10, 0, 40)]);
    run(async {
        let world = MadeWorld::new().await;
        world.look().await;
        world.change((11, 1, 1)).await;
        let (tree, refreshed) = world.look().await;
        let filled = tree.elements().iter().find(|element| element.name == "B2");
        let filled = filled.map(|cell| (cell.native.as_deref(), cell.value.as_deref()));
        assert_eq!((filled, refreshed), (Some((Some(":1.9/n2@1,1"), Some("x"))), true));
    });
}

/// The objects of the first look still lead to their cells; two or three are made to see that it has not scrolled.
#[test]
fn the_cells_of_a_block_are_not_asked_for_again() {
    run(async {
        let world = MadeWorld::new().await;
        let made = || world.made.borrow().sheet.objects.get();
        world.look().await;
        let first = made();
        world.look().await;
        assert!(first >= (SHEET_ROWS * SHEET_COLUMNS) as usize, "{first}");
        assert!(made() - first <= 4, "{} new cells", made() - first);
        world.change((10, 0, 40)).await;
        world.look().await;
        assert!(made() - first >= (SHEET_ROWS * SHEET_COLUMNS) as usize);
    });
}

#[test]
fn an_event_makes_the_mirror_ask_and_nothing_is_read_whole() {
    let each: Vec<(u8, usize, usize)> = (0..KINDS_OF_CHANGES).map(|kind| (kind, 3, 1)).collect();
    assert_eq!(check(&each), each.len());
}

/// A program that makes its elements at run time and tells nobody, as those of Qt do.
#[test]
fn what_comes_without_a_word_is_found() {
    for kind in 13..KINDS_OF_CHANGES {
        for of in [0, 1, 2, 5, 9] {
            check(&[(kind, of, 3), (kind, of + 1, 1), (kind, of, 0)]);
        }
    }
}

/// Whoever opens it without a word is betrayed by what is in it.
#[test]
fn what_was_put_away_and_comes_without_a_word_is_found() {
    run(async {
        let world = MadeWorld::new().await;
        let group = world.made.borrow().nodes[PANE].children[0];
        world.made.borrow_mut().nodes[group].shut = true;
        world.look().await;
        world.made.borrow_mut().nodes[group].shut = false;
        let inside = world.made.borrow().nodes[group].children[1];
        world.tell(inside, "StateChanged", "showing").await;
        let (mirrored, refreshed) = world.look().await;
        assert_eq!(mirrored.elements(), world.read().await.elements());
        assert!(refreshed);
    });
}

#[test]
fn the_entries_of_a_closed_menu_of_qt_are_as_they_are_now() {
    run(async {
        let mut world = MadeWorld::new().await;
        world.frame.toolkit = Toolkit::Qt;
        let entries: Vec<usize> = {
            let made = &mut *world.made.borrow_mut();
            let menu = made.add(ROOT, Role::Menu);
            made.nodes[menu].shut = true;
            (0..9).map(|_| made.add(menu, Role::MenuItem)).collect()
        };
        world.look().await;
        world.made.borrow_mut().nodes[entries[3]].name = "First Tab".to_owned();
        world.made.borrow_mut().nodes[entries[7]].states ^= State::Enabled as u64;
        let (mirrored, refreshed) = world.look().await;
        assert_eq!(mirrored.elements(), world.read().await.elements());
        assert!(refreshed && mirrored.elements().iter().any(|element| element.name == "First Tab"));
    });
}

/// What moves in a family that is scrolled away is told by nobody.
#[test]
fn what_is_removed_where_nobody_looks_moves_the_others() {
    check(&[(4, 0, 0), (4, 1, 3), (4, 74, 62)]);
}

#[test]
fn who_lists_an_object_is_known_of_a_window_that_was_read() {
    run(async {
        let world = MadeWorld::new().await;
        let object = |number: usize| object::AtspiObject::new(BUS, &format!("/n{number}"));
        let (group, third) = {
            let made = world.made.borrow();
            let group = made.nodes[PANE].children[1];
            (group, made.nodes[group].children[2])
        };
        let lister = |of: usize| world.link.mirrors.borrow().lister_of(&object(of));
        assert_eq!(lister(third), None);
        world.look().await;
        assert_eq!(lister(third), Some((object(group), 2)));
        assert_eq!((lister(ROOT), lister(999)), (None, None));
    });
}

#[test]
fn what_is_told_while_somebody_reads_is_marked() {
    run(async {
        let world = MadeWorld::new().await;
        let mut mirrors = Mirrors::default();
        let (turn, _) = mirrors.begin(&world.frame);
        mirrors.mark(BUS, "/n3", Change::Facts);
        mirrors.mark(":1.7", "/n4", Change::Facts);
        mirrors.end(&world.frame, turn, FrameReading::default());
        let (_, known) = mirrors.begin(&world.frame);
        assert!(known.reading.is_some());
        assert_eq!(known.marks.nodes.keys().map(|path| &**path).collect::<Vec<_>>(), ["/n3"]);
    });
}

#[test]
fn of_two_who_read_the_last_to_begin_is_kept() {
    run(async {
        let world = MadeWorld::new().await;
        let mut mirrors = Mirrors::default();
        let (first, _) = mirrors.begin(&world.frame);
        let (second, _) = mirrors.begin(&world.frame);
        mirrors.end(&world.frame, second, FrameReading::default());
        mirrors.end(&world.frame, first, FrameReading { whole: true, ..FrameReading::default() });
        let (_, known) = mirrors.begin(&world.frame);
        assert_eq!(known.reading.map(|reading| reading.whole), Some(false));
    });
}

#[test]
fn windows_and_marks_are_bounded() {
    let mut mirrors = Mirrors::default();
    let frame = |number: usize| AtspiFrame {
        object: object::AtspiObject::new(BUS, &format!("/{number}")),
        application: object::AtspiObject::new(BUS, "/"),
        role: 0,
        name: String::new(),
        states: States::default(),
        offset: (0, 0),
        hides_what_shows: false,
        toolkit: Toolkit::Other,
        popups: Vec::new(),
    };
    (0..99).for_each(|number| drop(mirrors.begin(&frame(number))));
    assert_eq!(mirrors.frames.len(), MOST_FRAMES);
    (0..2 * MOST_MARKED).for_each(|number| mirrors.mark(BUS, &format!("/{number}"), Change::Facts));
    assert!(mirrors.frames.values().all(|mirror| mirror.marks.overflown && mirror.marks.nodes.is_empty()));
    mirrors.forget(BUS);
    assert!(mirrors.frames.is_empty());
}
