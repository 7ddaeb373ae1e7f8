//! A window's tree: the cache first, then what it lacks, then places and values of what shows.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use std::time::Duration;

use atspi::{RelationType, State};
use zbus::zvariant::ObjectPath;

use super::bus::{BusConnection, BusDeadline, BusRequest, is_silent, read_number, text, too_slow};
use super::cache::{self, AtspiNode, Kids, Nodes};
use super::find::{
    AtspiFrame, FrameMiss, ON_SCREEN, POPUPS, Toolkit, WindowFacts, find_frame, loose_popups, read_rectangle,
};
use super::object::{ACCESSIBLE, ACTION, AtspiObject, COMPONENT, TEXT, VALUE};
use super::{events, labels, mirror, prose, roles, walk};
use crate::clock::sleep_task;
use crate::config::limits::{TREE_DEPTH, TREE_TEXT_BYTES};
use crate::error::{Error, Kind, Result};
use crate::model::element::Range;
use crate::model::{Element, Rect, Role, Tree, TreeBuilder};
use crate::platform::linux::survey::toolkit_of;
use crate::platform::linux::window_uid::{age_of, is_asleep, is_stopped};
use crate::platform::normalize::{keep_one_focus, shortened, show_choices};
use mirror::Detail;

/// A browser that has just been looked at for the first time needs about two seconds to build its tree.
const WAKING_TIME: Duration = Duration::from_millis(2_500);
const WAKING_STEP: Duration = Duration::from_millis(100);
/// A browser window with fewer nodes than that is still asleep.
const ASLEEP: usize = 12;
/// A window of GTK4 has no more than its frame until it is drawn for the first time.
const YOUNG: usize = 2;
/// How long an application may take to tell of a window that it has just shown. An idle machine takes a tenth of it, one
/// whose cores are all busy most of it.
const GROWING_TIME: Duration = Duration::from_secs(3);
/// A program that is younger than this and says nothing, or is not on the bus, is still starting.
const STARTING_TIME: Duration = Duration::from_secs(20);
/// A program that sleeps for so many steps has started.
const STEPS_ASLEEP: u32 = 10;
/// An application whose cache lacked more than that has never been looked into.
const FRESH: usize = 20;
/// Keys hardly ever change, and asking for them costs as much as asking for the place.
const MOST_REMEMBERED: usize = 50_000;
/// More labels has nothing.
const MOST_LABELS: usize = 32;

/// Shortcuts and labels that were asked for before.
#[derive(Debug, Default)]
pub struct Remembered {
    shortcuts: RememberedFacts<Option<String>>,
    label_links: RememberedFacts<Box<[String]>>,
}

impl Remembered {
    pub fn forget(&mut self, bus: &str) {
        self.shortcuts.forget(bus);
        self.label_links.forget(bus);
    }
}

/// What objects said of themselves; their names and roles must still be the same.
#[derive(Debug)]
struct RememberedFacts<T>(HashMap<AtspiObject, (u32, String, T)>);

impl<T> Default for RememberedFacts<T> {
    fn default() -> Self {
        Self(HashMap::new())
    }
}

impl<T: Clone> RememberedFacts<T> {
    fn recall(&self, object: &AtspiObject, node: &AtspiNode) -> Option<T> {
        let (role, name, fact) = self.0.get(object)?;
        (*role == node.role && *name == node.name).then(|| fact.clone())
    }

    fn remember(&mut self, object: &AtspiObject, node: &AtspiNode, fact: T) {
        if self.0.len() >= MOST_REMEMBERED {
            self.0.clear();
        }
        self.0.insert(object.clone(), (node.role, node.name.clone(), fact));
    }

    fn forget(&mut self, bus: &str) {
        self.0.retain(|object, _| &*object.bus != bus);
    }
}

/// The tree of a window. A window without accessibility is a tree of its root alone that says why.
pub async fn capture_tree(
    link: Rc<BusConnection>,
    sought: WindowFacts,
    bounds: Rect,
    detail: Detail,
    pace: BusDeadline,
) -> Result<Tree> {
    let whole = pace.left();
    loop {
        let silences = link.silences.get();
        let miss = match capture_frame(&link, &sought, bounds, detail, &pace).await {
            Ok(tree) => return Ok(tree),
            Err(miss @ (FrameMiss::Hung | FrameMiss::Unread)) => miss,
            Err(miss) => {
                return Ok(bare_tree(sought.title.clone(), bounds, miss.miss_sentence(&sought.title)));
            }
        };
        let was_silent = link.silences.get() != silences || miss == FrameMiss::Hung;
        let waited = whole.saturating_sub(pace.left());
        if !may_answer_later(sought.pid, was_silent, waited, &pace) {
            return Err(unread_error(&miss, &sought.title, waited));
        }
        // A program that starts on a busy machine answers late; it does not hang.
        link.forgive_process(sought.pid);
        sleep_task(WAKING_STEP).await;
    }
}

/// Whether a window that could not be read is asked again. One that refused has put another object in the place of the
/// one that was found, as GTK 4 does when it first draws; one that said nothing may be starting.
fn may_answer_later(pid: u32, was_silent: bool, waited: Duration, pace: &BusDeadline) -> bool {
    let is_worth_it = match was_silent {
        true => age_of(pid).is_some_and(|age| age < STARTING_TIME) && !is_stopped(pid),
        false => waited < GROWING_TIME,
    };
    is_worth_it && pace.left() > WAKING_STEP
}

fn unread_error(miss: &FrameMiss, title: &str, waited: Duration) -> Error {
    match miss {
        FrameMiss::Hung => Error::new(Kind::Timeout, miss.miss_sentence(title)).with("phase", "tree"),
        _ => too_slow("tree", waited),
    }
}

/// The tree of a window as its application tells it now.
async fn capture_frame(
    link: &Rc<BusConnection>,
    sought: &WindowFacts,
    bounds: Rect,
    detail: Detail,
    pace: &BusDeadline,
) -> std::result::Result<Tree, FrameMiss> {
    let mut frame = await_frame(link, sought, pace).await?;
    frame.popups.extend(loose_popups(link, &frame, &sought.popups, pace).await);
    if frame.hides_what_shows {
        let inset = (frame.offset.0 - sought.client.x, frame.offset.1 - sought.client.y);
        link.insets.borrow_mut().insert(frame.object.bus.clone(), inset);
    }
    if frame.toolkit == Toolkit::Gtk3 {
        link.gtk3.borrow_mut().insert(frame.object.bus.clone());
    }
    events::watch(link, &frame.object.bus).await;
    let popovers: &[Rect] = if frame.toolkit == Toolkit::Gtk4 { &sought.popups } else { &[] };
    let (reading, turn) = mirror::read_frame(link, &frame, popovers, detail, pace).await;
    if reading.order.is_empty() {
        return Err(FrameMiss::Unread);
    }
    let tree = build_tree(sought, &frame, bounds, &reading);
    link.misplaced.borrow_mut().extend(misplaced_panes(&reading));
    #[cfg(feature = "desktop_tests")]
    if turn.refreshed && detail == Detail::Everything {
        super::mirror_check::compare(link, (sought, &frame, bounds), &tree, pace).await;
    }
    mirror::keep_reading(link, &frame, &turn, reading);
    Ok(tree)
}

/// What is known of a frame's elements.
#[derive(Debug, Default)]
pub struct FrameReading {
    pub nodes: Nodes,
    pub order: Vec<CaptureStep>,
    pub whole: bool,
    /// As many as there are in the order.
    pub facts: Vec<NodeFacts>,
}

/// Asks for everything.
pub async fn read_everything(
    link: &Rc<BusConnection>,
    frame: &AtspiFrame,
    pace: &BusDeadline,
) -> FrameReading {
    let mut gathered = gather_nodes(link, frame, pace).await;
    if frame.toolkit == Toolkit::Gtk4 && gathered.learned > FRESH {
        // GTK4 makes the objects of a tree only when they are asked for, and puts pages between them later.
        gathered = gather_nodes(link, frame, pace).await;
    }
    if frame.toolkit == Toolkit::Chromium && gathered.order.len() < ASLEEP {
        gathered = await_waking(link, frame, gathered, pace).await;
    }
    if frame.toolkit == Toolkit::Gtk4 && is_young(&gathered) {
        gathered = await_growth(link, frame, gathered, pace).await;
    }
    let GatheredNodes { nodes, order, whole, .. } = gathered;
    let mut reading = FrameReading { nodes, order, whole, facts: Vec::new() };
    read_facts(link, frame, &mut reading, pace).await;
    reading
}

/// A window comes onto the screen before its application is on the bus and tells of it: one that is about to is asked
/// again, once for each process.
async fn await_frame(
    link: &Rc<BusConnection>,
    sought: &WindowFacts,
    pace: &BusDeadline,
) -> Result<AtspiFrame, FrameMiss> {
    let mut start = ProgramStart::watch(sought.pid, pace);
    let mut found = find_frame(link, sought, pace).await;
    if is_early(&found, sought.pid)
        && link.woken.borrow_mut().insert(format!("process {}", sought.pid).into())
    {
        while is_early(&found, sought.pid) && start.goes_on() {
            sleep_task(WAKING_STEP).await;
            found = find_frame(link, sought, pace).await;
        }
    }
    found
}

/// How long a program is given to show what it has. One that sleeps has done what it does when it starts; one that is
/// awake after that on a busy machine has not got round to it yet.
struct ProgramStart {
    pid: u32,
    growing: BusDeadline,
    longest: BusDeadline,
    asleep: u32,
}

impl ProgramStart {
    fn watch(pid: u32, pace: &BusDeadline) -> Self {
        let within = |time: Duration| BusDeadline::new(time, time.min(pace.left() / 2));
        Self { pid, growing: within(GROWING_TIME), longest: within(STARTING_TIME), asleep: 0 }
    }

    /// Asked once a step.
    fn goes_on(&mut self) -> bool {
        self.asleep = if is_asleep(self.pid) { self.asleep + 1 } else { 0 };
        !self.growing.left().is_zero() || (self.asleep < STEPS_ASLEEP && !self.longest.left().is_zero())
    }
}

/// Whether the frame may be there a moment later: a toolkit that offers its elements by itself comes onto the bus in its
/// own time, and everything else never will.
fn is_early(found: &Result<AtspiFrame, FrameMiss>, pid: u32) -> bool {
    match found {
        Err(FrameMiss::NoWindow { shown: 0 }) => true,
        Err(FrameMiss::NoApplication) => {
            age_of(pid).is_some_and(|age| age < STARTING_TIME)
                && toolkit_of(pid).is_some_and(|toolkit| toolkit != "java")
        }
        _ => false,
    }
}

/// A window of which no elements can be read, and why.
pub fn bare_tree(title: String, bounds: Rect, why: String) -> Tree {
    let mut tree = Tree::of_root(Element::new(Role::Window, title, bounds));
    tree.lacking = Some(why);
    tree
}

/// The nodes below a frame, and the order in which a tree lists them.
struct GatheredNodes {
    nodes: Nodes,
    order: Vec<CaptureStep>,
    whole: bool,
    /// How many nodes the cache did not have.
    learned: usize,
}

#[derive(Clone, Debug, PartialEq)]
pub struct CaptureStep {
    pub object: AtspiObject,
    pub depth: usize,
    /// Its place in the order.
    pub parent: Option<usize>,
}

async fn gather_nodes(link: &Rc<BusConnection>, frame: &AtspiFrame, pace: &BusDeadline) -> GatheredNodes {
    let application = AtspiObject { bus: frame.object.bus.clone(), path: "/org/a11y/atspi/cache".into() };
    let cached =
        link.ask_object(&application, &BusRequest::Call("org.a11y.atspi.Cache", "GetItems"), pace).await;
    // Qt answers with an empty list, and some toolkits not at all: everything is then asked for.
    let items = cached.map(|reply| cache::read_items(&reply, &frame.object.bus)).unwrap_or_default();
    let mut nodes = cache::build_nodes(items);
    let cached = nodes.len();
    let whole = walk::walk_frame(link, frame, &mut nodes, pace).await;
    let (order, kept) = in_order(&nodes, &frame.object);
    let learned = nodes.len().saturating_sub(cached);
    GatheredNodes { nodes, order, whole: whole && kept, learned }
}

/// Looks again until the browser shows its page, once for each browser.
async fn await_waking(
    link: &Rc<BusConnection>,
    frame: &AtspiFrame,
    mut last: GatheredNodes,
    pace: &BusDeadline,
) -> GatheredNodes {
    if !link.woken.borrow_mut().insert(frame.object.bus.clone()) {
        return last;
    }
    let waking = BusDeadline::new(WAKING_TIME, WAKING_TIME.min(pace.left() / 2));
    while last.order.len() < ASLEEP && !waking.left().is_zero() {
        sleep_task(WAKING_STEP).await;
        last = gather_nodes(link, frame, pace).await;
    }
    last
}

/// Whether a window has nothing yet, or nothing that shows.
fn is_young(gathered: &GatheredNodes) -> bool {
    let shows = |step: &CaptureStep| {
        gathered.nodes.get(&step.object).is_some_and(|node| node.states.has(State::Showing))
    };
    gathered.order.len() <= YOUNG || !gathered.order.iter().skip(1).any(shows)
}

/// Looks again until a new window has elements, once for each window.
async fn await_growth(
    link: &Rc<BusConnection>,
    frame: &AtspiFrame,
    mut last: GatheredNodes,
    pace: &BusDeadline,
) -> GatheredNodes {
    if !link.woken.borrow_mut().insert(frame.object.native().into()) {
        return last;
    }
    let pid = link.process_of(&frame.object.bus, pace).await.unwrap_or_default();
    let mut start = ProgramStart::watch(pid, pace);
    while is_young(&last) && start.goes_on() {
        sleep_task(WAKING_STEP).await;
        last = gather_nodes(link, frame, pace).await;
    }
    last
}

/// Pre-order, each object once. False when the depth was cut.
pub fn in_order(nodes: &Nodes, root: &AtspiObject) -> (Vec<CaptureStep>, bool) {
    let mut order: Vec<CaptureStep> = Vec::with_capacity(nodes.len());
    let mut placed: HashSet<&AtspiObject> = HashSet::new();
    let mut whole = true;
    let mut menu_bars: HashSet<Vec<&str>> = HashSet::new();
    let mut stack = vec![(root, 0, None)];
    while let Some((object, depth, parent)) = stack.pop() {
        let Some((object, node)) = nodes.get_key_value(object) else {
            continue;
        };
        if !placed.insert(object) || is_menu_bar_again(nodes, node, &mut menu_bars) {
            continue;
        }
        let place = order.len();
        order.push(CaptureStep { object: object.clone(), depth, parent });
        if let Kids::Known(kids) = &node.kids {
            if depth >= TREE_DEPTH {
                whole &= kids.is_empty();
                continue;
            }
            stack.extend(kids.iter().rev().map(|kid| (kid, depth + 1, Some(place))));
        }
    }
    (order, whole)
}

/// LibreOffice tells of its menu bar twice: as GTK draws it, and as it would draw it itself, in another place.
fn is_menu_bar_again<'a>(nodes: &'a Nodes, node: &AtspiNode, before: &mut HashSet<Vec<&'a str>>) -> bool {
    let Kids::Known(kids) = &node.kids else { return false };
    if !roles::is_one_of(node.role, &[atspi::Role::MenuBar]) || kids.is_empty() {
        return false;
    }
    let names = kids.iter().filter_map(|kid| nodes.get(kid)).map(|kid| kid.name.trim());
    !before.insert(names.collect())
}

/// What was asked of a node beyond what it is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NodeFacts {
    pub sight: Sight,
    pub extents: Option<Rect>,
    pub description: Option<String>,
    pub range: Range,
    pub characters: Option<usize>,
    pub text: Option<String>,
    pub shortcut: Option<String>,
    pub label_links: Box<[String]>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NodeQuestion {
    Extents,
    Description,
    Now,
    Least,
    Most,
    Characters,
    Text,
    Shortcut,
    /// The key of its label, where it has none itself: Qt presses a button by it, and tells it with the focus.
    LabelKey,
    Labels,
}

async fn read_facts(
    link: &Rc<BusConnection>,
    frame: &AtspiFrame,
    reading: &mut FrameReading,
    pace: &BusDeadline,
) {
    let mut wants: Vec<(usize, NodeQuestion)> = Vec::new();
    for place in 0..reading.order.len() {
        let fact = first_facts(link, frame, reading, place, &mut wants);
        reading.facts.push(fact);
    }
    ask_facts(link, reading, &wants, pace).await;
}

/// What is known of a node without asking, and what has to be asked.
pub fn first_facts(
    link: &Rc<BusConnection>,
    frame: &AtspiFrame,
    reading: &FrameReading,
    place: usize,
    wants: &mut Vec<(usize, NodeQuestion)>,
) -> NodeFacts {
    let Some(step) = reading.order.get(place) else {
        return NodeFacts::default();
    };
    let Some(node) = reading.nodes.get(&step.object) else {
        return NodeFacts::default();
    };
    let sight = sight_of(frame, reading, step, node);
    wants.extend(wanted_questions(frame, node, sight.shows).into_iter().map(|wanted| (place, wanted)));
    let mut fact = NodeFacts { sight, description: node.description.clone(), ..NodeFacts::default() };
    if wants_shortcut(frame, node) {
        match link.remembered.borrow().shortcuts.recall(&step.object, node) {
            Some(shortcut) => fact.shortcut = shortcut,
            None => wants.push((place, NodeQuestion::Shortcut)),
        }
    }
    if sight.shows && wants_labels(node, parent_role(reading, step)) {
        match link.remembered.borrow().label_links.recall(&step.object, node) {
            Some(links) => fact.label_links = links,
            None => wants.push((place, NodeQuestion::Labels)),
        }
    }
    fact
}

/// Whether a node shows, by what it says and by what it is in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sight {
    pub shows: bool,
    /// Nothing in it shows, whatever it says.
    pub shut: bool,
}

/// The facts of those before it in the order are known.
pub fn sight_of(frame: &AtspiFrame, reading: &FrameReading, step: &CaptureStep, node: &AtspiNode) -> Sight {
    let parent = step.parent.and_then(|parent| reading.facts.get(parent)).map(|parent| parent.sight);
    let in_shut = parent.is_some_and(|parent| parent.shut);
    Sight {
        shows: !in_shut && says_that_it_shows(frame, node, parent),
        shut: in_shut || (parent.is_some() && roles::is_shut(node.states)),
    }
}

fn says_that_it_shows(frame: &AtspiFrame, node: &AtspiNode, parent: Option<Sight>) -> bool {
    let by_parent = frame.hides_what_shows && node.states.has(State::Visible);
    node.states.has(State::Showing) || (by_parent && parent.is_none_or(|parent| parent.shows))
}

pub fn wanted_questions(frame: &AtspiFrame, node: &AtspiNode, shows: bool) -> Vec<NodeQuestion> {
    let mut wanted = Vec::new();
    if shows && node.faces.has(COMPONENT) {
        wanted.push(NodeQuestion::Extents);
    }
    if shows && node.description.is_none() {
        wanted.push(NodeQuestion::Description);
    }
    if shows && node.faces.has(VALUE) && roles::is_one_of(node.role, roles::RANGED) {
        wanted.extend([NodeQuestion::Now, NodeQuestion::Least, NodeQuestion::Most]);
    }
    let says = is_written(node) || (shows && frame.toolkit.is_asked_closely() && is_read(node));
    if says && node.faces.has(TEXT) && !roles::is_secret(node.role) {
        wanted.push(NodeQuestion::Characters);
    }
    wanted
}

/// Has a text of its own, which is its value.
fn is_written(node: &AtspiNode) -> bool {
    roles::is_one_of(node.role, roles::WRITTEN) || node.states.has(State::Editable)
}

/// Has a text that is all it says.
pub fn is_read(node: &AtspiNode) -> bool {
    let is_nameless = node.name.trim().is_empty() && roles::is_one_of(node.role, roles::PROSE);
    is_nameless || roles::is_one_of(node.role, roles::PAGES)
}

/// GTK4 names no keys, and pages in a browser have too many buttons for too few of them.
fn wants_shortcut(frame: &AtspiFrame, node: &AtspiNode) -> bool {
    frame.toolkit.is_asked_closely()
        && node.faces.has(ACTION)
        && roles::is_one_of(node.role, roles::WITH_SHORTCUT)
}

/// A text in something that takes the click labels nothing else.
fn wants_labels(node: &AtspiNode, parent_role: Option<u32>) -> bool {
    let in_control = parent_role.is_some_and(|parent| {
        roles::is_one_of(parent, roles::PRESSED) || roles::is_one_of(parent, roles::ROWS)
    });
    roles::is_one_of(node.role, roles::LABELLED)
        || (roles::is_one_of(node.role, roles::LABELS) && !in_control)
}

fn parent_role(reading: &FrameReading, step: &CaptureStep) -> Option<u32> {
    let parent = reading.order.get(step.parent?)?;
    reading.nodes.get(&parent.object).map(|node| node.role)
}

/// Asks, and then for the texts of those that said how long theirs are.
pub async fn ask_facts(
    link: &Rc<BusConnection>,
    reading: &mut FrameReading,
    wants: &[(usize, NodeQuestion)],
    pace: &BusDeadline,
) {
    put_questions(link, reading, wants, pace).await;
    let has_text = |place: usize| {
        reading.facts.get(place).is_some_and(|fact| fact.characters.is_some_and(|count| count > 0))
    };
    let texts: Vec<(usize, NodeQuestion)> = wants
        .iter()
        .filter(|(place, wanted)| *wanted == NodeQuestion::Characters && has_text(*place))
        .map(|(place, _)| (*place, NodeQuestion::Text))
        .collect();
    let has_label_only = |place: usize| {
        let fact = reading.facts.get(place);
        fact.is_some_and(|fact| fact.shortcut.is_none() && !fact.label_links.is_empty())
    };
    let keys =
        wants.iter().filter(|(place, wanted)| *wanted == NodeQuestion::Shortcut && has_label_only(*place));
    let keys: Vec<(usize, NodeQuestion)> = keys.map(|(place, _)| (*place, NodeQuestion::LabelKey)).collect();
    put_questions(link, reading, &[texts, keys].concat(), pace).await;
}

async fn put_questions(
    link: &Rc<BusConnection>,
    reading: &mut FrameReading,
    wants: &[(usize, NodeQuestion)],
    pace: &BusDeadline,
) {
    let FrameReading { nodes, order, facts, whole } = reading;
    let asks = wants.iter().filter_map(|(place, wanted)| {
        let step = order.get(*place)?;
        Some((step.object.clone(), build_question(*wanted, facts.get(*place)?)))
    });
    let answers = link.ask_all(asks.collect(), pace).await;
    for ((place, wanted), answer) in wants.iter().zip(answers) {
        *whole &= !is_silent(&answer);
        let Some(fact) = facts.get_mut(*place) else {
            continue;
        };
        let reply = answer.as_ref().ok();
        match wanted {
            NodeQuestion::Extents => fact.extents = reply.and_then(read_rectangle),
            NodeQuestion::Description => fact.description = reply.and_then(text),
            NodeQuestion::Now => fact.range.now = reply.and_then(read_number),
            NodeQuestion::Least => fact.range.min = reply.and_then(read_number),
            NodeQuestion::Most => fact.range.max = reply.and_then(read_number),
            NodeQuestion::Characters => {
                fact.characters = reply.and_then(read_number).map(|count| count.max(0.0) as usize);
                fact.text = None;
            }
            NodeQuestion::Text => fact.text = reply.and_then(text),
            NodeQuestion::Shortcut | NodeQuestion::LabelKey => {
                let Some(reply) = reply else { continue };
                fact.shortcut = text(reply).and_then(|keys| readable_keys(&keys));
                if let Some(step) = order.get(*place)
                    && let Some(node) = nodes.get(&step.object)
                {
                    let shortcuts = &mut link.remembered.borrow_mut().shortcuts;
                    shortcuts.remember(&step.object, node, fact.shortcut.clone());
                }
            }
            NodeQuestion::Labels => {
                let Some(reply) = reply else { continue };
                fact.label_links = read_label_links(reply);
                if let Some(step) = order.get(*place)
                    && let Some(node) = nodes.get(&step.object)
                {
                    let links = &mut link.remembered.borrow_mut().label_links;
                    links.remember(&step.object, node, fact.label_links.clone());
                }
            }
        }
    }
}

fn build_question(wanted: NodeQuestion, known: &NodeFacts) -> BusRequest {
    match wanted {
        NodeQuestion::Extents => BusRequest::WithCode(COMPONENT, "GetExtents", ON_SCREEN),
        NodeQuestion::Description => BusRequest::Get(ACCESSIBLE, "Description"),
        NodeQuestion::Now => BusRequest::Get(VALUE, "CurrentValue"),
        NodeQuestion::Least => BusRequest::Get(VALUE, "MinimumValue"),
        NodeQuestion::Most => BusRequest::Get(VALUE, "MaximumValue"),
        NodeQuestion::Characters => BusRequest::Get(TEXT, "CharacterCount"),
        // The end is said, because -1 gives nothing in GTK4 (4.8).
        NodeQuestion::Text => {
            let end = known.characters.unwrap_or(0).min(TREE_TEXT_BYTES);
            BusRequest::WithRange(TEXT, "GetText", 0, i32::try_from(end).unwrap_or(i32::MAX))
        }
        NodeQuestion::Shortcut => BusRequest::WithIndex(ACTION, "GetKeyBinding", 0),
        NodeQuestion::LabelKey => BusRequest::WithIndex(ACTION, "GetKeyBinding", 1),
        NodeQuestion::Labels => BusRequest::Call(ACCESSIBLE, "GetRelationSet"),
    }
}

/// The objects that a set of relations joins by a label, in either direction.
fn read_label_links(reply: &zbus::Message) -> Box<[String]> {
    type Relation<'a> = (u32, Vec<(&'a str, ObjectPath<'a>)>);
    let body = reply.body();
    let relations: Vec<Relation<'_>> = body.deserialize().unwrap_or_default();
    let by_label = [RelationType::LabelFor as u32, RelationType::LabelledBy as u32];
    let joined =
        relations.iter().filter(|(kind, _)| by_label.contains(kind)).flat_map(|(_, objects)| objects);
    joined.take(MOST_LABELS).map(|(bus, path)| AtspiObject::new(bus, path).native()).collect()
}

/// `n;<Alt>f:n;<Primary>n` (GTK3: mnemonic, way through the menus, accelerator) is `Ctrl+N`; what other
/// toolkits write is taken as it is. A mnemonic counts only if it works without the menu open.
fn readable_keys(keys: &str) -> Option<String> {
    let parts: Vec<&str> = keys.split(';').map(str::trim).collect();
    let best = match parts.as_slice() {
        [mnemonic, _, ""] => Some(*mnemonic).filter(|keys| keys.contains('<')),
        [_, _, accelerator] => Some(*accelerator),
        _ => parts.first().copied(),
    };
    let best = best.filter(|keys| !keys.is_empty())?;
    Some(spell_shortcut(best))
}

fn spell_shortcut(keys: &str) -> String {
    let mut words: Vec<String> = Vec::new();
    let mut rest = keys;
    while let Some((modifier, after)) = rest.strip_prefix('<').and_then(|open| open.split_once('>')) {
        words.push(match modifier {
            "Primary" | "Control" | "Ctrl" => "Ctrl".to_owned(),
            other => other.to_owned(),
        });
        rest = after;
    }
    let one_letter = rest.chars().count() == 1;
    words.push(if one_letter { rest.to_uppercase() } else { rest.to_owned() });
    words.join("+")
}

pub fn build_tree(sought: &WindowFacts, frame: &AtspiFrame, bounds: Rect, reading: &FrameReading) -> Tree {
    let FrameReading { nodes, order, whole, facts } = reading;
    let mut builder: Option<TreeBuilder> = None;
    let mut popups = if frame.toolkit == Toolkit::Gtk4 { sought.popups.clone() } else { Vec::new() };
    let mut around: Vec<Surroundings> = Vec::with_capacity(order.len());
    for (step, fact) in order.iter().zip(facts) {
        let Some(node) = nodes.get(&step.object) else {
            continue;
        };
        let parent = step.parent.and_then(|parent| order.get(parent));
        let parent_role = parent.and_then(|parent| nodes.get(&parent.object)).map(|node| node.role);
        let above = step.parent.and_then(|parent| around.get(parent)).copied();
        let above = above.unwrap_or(Surroundings { clip: None, offset: frame.offset });
        let popup = popup_offset(fact, &mut popups).filter(|_| parent.is_some());
        let parent_extents = step.parent.and_then(|parent| facts.get(parent)?.extents);
        let here =
            above.of_popup(node, popup).of_misplaced(misplacement(node.role, fact.extents, parent_extents));
        let mut element = build_element(step, node, fact, parent_role, here);
        name_element(&mut element, frame.toolkit);
        if frame.toolkit == Toolkit::Gtk4 {
            offer_selection(&mut element, parent_role);
        }
        say_text(&mut element, node, nodes);
        if popup.is_some() && element.role == Role::Group {
            element.role = Role::Dialog;
        }
        // What completes a text is a list, however the application makes it.
        if matches!(element.role, Role::Tree | Role::Table) && frame.popups.contains(&step.object) {
            element.role = Role::List;
        }
        around.push(Surroundings { clip: clip_below(node, &element, here.clip), ..here });
        match &mut builder {
            None => builder = Some(TreeBuilder::new(window_element(element, sought, bounds))),
            Some(builder) => {
                while builder.depth() > step.depth {
                    builder.close();
                }
                builder.open(element);
            }
        }
    }
    let mut tree = builder.map_or_else(|| Tree::of_root(Element::default()), TreeBuilder::finish);
    tree.complete = *whole;
    labels::name_unnamed(&mut tree, frame.toolkit);
    shut_placeless_lists(&mut tree);
    show_choices(&mut tree);
    keep_one_focus(&mut tree);
    tree
}

/// The list of a closed combo box has no place, and what is in it does not show, although Qt says so.
fn shut_placeless_lists(tree: &mut Tree) {
    let is_shut = |node: usize| {
        let in_combo = tree.parent(node).is_some_and(|parent| tree[parent].role == Role::ComboBox);
        in_combo && tree[node].bounds.is_empty() && tree.end(node) > node + 1
    };
    let shut: Vec<(usize, usize)> =
        (1..tree.len()).filter(|&node| is_shut(node)).map(|node| (node, tree.end(node))).collect();
    let mut shut = shut.into_iter().peekable();
    let mut place = 0;
    tree.change_elements(|element| {
        while shut.next_if(|(_, end)| *end <= place).is_some() {}
        element.hidden |= shut.peek().is_some_and(|(first, _)| *first <= place);
        place += 1;
    });
}

fn window_element(element: Element, sought: &WindowFacts, bounds: Rect) -> Element {
    let name = if element.name.is_empty() { sought.title.clone() } else { element.name };
    Element { name, bounds, hidden: false, ..element }
}

/// What an element is in.
#[derive(Clone, Copy, Debug)]
struct Surroundings {
    /// It shows only within this.
    clip: Option<Rect>,
    /// What must be added to its coordinates.
    offset: (i32, i32),
}

impl Surroundings {
    /// Menus lie over the pane that they hang in, and what has a window of its own counts from there.
    fn of_popup(self, node: &AtspiNode, popup: Option<(i32, i32)>) -> Self {
        match popup {
            Some(offset) => Self { clip: None, offset },
            None if roles::is_one_of(node.role, POPUPS) => Self { clip: None, ..self },
            None => self,
        }
    }

    fn of_misplaced(self, by: Option<(i32, i32)>) -> Self {
        let (x, y) = by.unwrap_or_default();
        Self { offset: (self.offset.0.saturating_add(x), self.offset.1.saturating_add(y)), ..self }
    }
}

/// How far a pane that fills its parent is told to be from it. LibreOffice draws its tool bars and the document into a
/// widget of GTK 3 and forgets the menu bar above that at first, so that everything in it is told too high.
pub fn misplacement(role: u32, own: Option<Rect>, parent: Option<Rect>) -> Option<(i32, i32)> {
    let (own, parent) = own.zip(parent).filter(|_| roles::is_one_of(role, &[atspi::Role::RootPane]))?;
    let fills = (own.width, own.height) == (parent.width, parent.height) && !own.is_empty();
    let by = (parent.x.saturating_sub(own.x), parent.y.saturating_sub(own.y));
    (fills && by != (0, 0)).then_some(by)
}

/// The panes that tell of another place than theirs, each with what it fills.
fn misplaced_panes(reading: &FrameReading) -> Vec<(AtspiObject, AtspiObject)> {
    let FrameReading { nodes, order, facts, .. } = reading;
    let misplaced = |(step, fact): (&CaptureStep, &NodeFacts)| {
        let (parent, place) = (order.get(step.parent?)?, facts.get(step.parent?)?.extents);
        misplacement(nodes.get(&step.object)?.role, fact.extents, place)?;
        Some((step.object.clone(), parent.object.clone()))
    };
    order.iter().zip(facts).filter_map(misplaced).collect()
}

/// GTK4 tells where a popover would be in its window. Where it is, its own window knows, which is as large.
fn popup_offset(fact: &NodeFacts, popups: &mut Vec<Rect>) -> Option<(i32, i32)> {
    let own = fact.extents.filter(|_| fact.sight.shows)?;
    let place = popups.iter().position(|popup| (popup.width, popup.height) == (own.width, own.height))?;
    let popup = popups.swap_remove(place);
    Some((popup.x.saturating_sub(own.x), popup.y.saturating_sub(own.y)))
}

/// Without what only the toolkit says; what it is for is a better name than none.
fn name_element(element: &mut Element, toolkit: Toolkit) {
    let is_group = element.role == Role::Group;
    let tidy = labels::tidy_name(toolkit, &element.name, is_group);
    if tidy.is_empty() && !element.name.trim().is_empty() {
        element.name = element.description.take().unwrap_or_default();
    } else if tidy.len() != element.name.len() {
        element.name = tidy.to_owned();
    }
}

/// GTK4 says of what is selected in a grid or a table that it is, and of the others not that they can be.
fn offer_selection(element: &mut Element, parent_role: Option<u32>) {
    let is_in = |roles: &[atspi::Role]| parent_role.is_some_and(|parent| roles::is_one_of(parent, roles));
    let can_be = match element.role {
        Role::DataItem => is_in(roles::GRIDS),
        Role::Row => is_in(roles::LISTS),
        _ => false,
    };
    if can_be && element.enabled {
        element.selected = element.selected.or(Some(false));
    }
}

/// What a paragraph says is its name, and what a page says beside its elements is its value.
fn say_text(element: &mut Element, node: &AtspiNode, nodes: &Nodes) {
    if is_written(node) || !is_read(node) {
        return;
    }
    let text = element.value.take().unwrap_or_default();
    if roles::is_one_of(node.role, roles::PAGES) {
        element.value = prose::own_words(&text);
    } else if let Some(text) = prose::paragraph_text(&text, node, nodes) {
        element.name = text;
        if element.role == Role::Group {
            element.role = Role::Text;
        }
    }
}

fn build_element(
    step: &CaptureStep,
    node: &AtspiNode,
    fact: &NodeFacts,
    parent_role: Option<u32>,
    around: Surroundings,
) -> Element {
    let bounds = fact.extents.map(|own| moved_by(own, around.offset)).unwrap_or_default();
    let clipped = around.clip.is_some_and(|clip| !clip.intersects(&bounds));
    let value = value_of(fact);
    Element {
        role: roles::role(node.role, node.states, parent_role),
        name: shortened(&node.name, None),
        value,
        bounds,
        enabled: roles::is_enabled(node.states),
        focused: node.states.has(State::Focused),
        selected: roles::is_selected(node.role, node.states),
        expanded: roles::is_expanded(node.states),
        range: fact.range,
        shortcut: fact.shortcut.clone(),
        description: fact
            .description
            .as_ref()
            .filter(|text| !text.is_empty())
            .map(|text| shortened(text, None)),
        shown_text: None,
        identifier: None,
        secret: is_secret(node, parent_role),
        redacted: false,
        editable: roles::is_editable(node.states),
        read_only: false,
        invalid: node.states.has(State::InvalidEntry),
        hidden: !fact.sight.shows || bounds.is_empty() || clipped,
        native: node.native.clone().or_else(|| Some(step.object.native())),
        label_links: fact.label_links.clone(),
        native_is_place: false,
        is_document: false,
        unseen: None,
    }
}

/// GTK4 puts the text of a password field, which has the focus, into an element of its own.
fn is_secret(node: &AtspiNode, parent_role: Option<u32>) -> bool {
    let within = parent_role.is_some_and(roles::is_secret) && roles::is_one_of(node.role, roles::WRITTEN);
    within || roles::is_secret(node.role)
}

fn moved_by(own: Rect, (x, y): (i32, i32)) -> Rect {
    Rect { x: own.x.saturating_add(x), y: own.y.saturating_add(y), ..own }
}

/// A pane shows only what lies in it. Elements without a place of their own pass on what holds above them.
fn clip_below(node: &AtspiNode, element: &Element, clip: Option<Rect>) -> Option<Rect> {
    if element.bounds.is_empty() || !roles::is_one_of(node.role, roles::CLIPPING) {
        return clip;
    }
    match clip {
        None => Some(element.bounds),
        Some(clip) => clip.intersection(&element.bounds).or(Some(Rect::default())),
    }
}

fn value_of(fact: &NodeFacts) -> Option<String> {
    if let Some(count) = fact.characters {
        return Some(shortened(fact.text.as_deref().unwrap_or_default(), Some(count)));
    }
    fact.range.now.map(|now| now.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHOWN: Sight = Sight { shows: true, shut: false };

    fn check_keys(written: &str, expected: Option<&str>) {
        assert_eq!(readable_keys(written).as_deref(), expected, "{written}");
    }

    /// Qt keeps the options where they were when the list was open.
    /// LibreOffice below its menu bar, before and after it has noticed that.
    #[test]
    fn a_pane_that_fills_its_parent_is_where_that_is() {
        let check = |role: atspi::Role, own: Rect, expected: Option<(i32, i32)>| {
            let parent = Rect::new(0, 44, 1280, 756);
            assert_eq!(misplacement(role as u32, Some(own), Some(parent)), expected, "{role:?} {own:?}");
        };
        check(atspi::Role::RootPane, Rect::new(0, 19, 1280, 756), Some((0, 25)));
        check(atspi::Role::RootPane, Rect::new(0, 44, 1280, 756), None);
        check(atspi::Role::RootPane, Rect::new(0, 19, 1280, 700), None);
        check(atspi::Role::Panel, Rect::new(0, 19, 1280, 756), None);
        assert_eq!(misplacement(atspi::Role::RootPane as u32, None, None), None);
    }

    #[test]
    fn the_options_of_a_closed_list_do_not_show() {
        let check = |list: Rect, expected: &[bool]| {
            let place = Rect::new(10, 10, 80, 20);
            let mut tree = TreeBuilder::new(Element::new("Window", "w", Rect::new(0, 0, 100, 100)));
            tree.open(Element::new("ComboBox", "Text", place));
            tree.open(Element { hidden: list.is_empty(), ..Element::new("List", "", list) });
            tree.add_leaf(Element::new("ListItem", "Text", place));
            tree.add_leaf(Element::new("ListItem", "JSON", place));
            tree.close();
            tree.close();
            tree.add_leaf(Element::new("Button", "Apply", place));
            let mut tree = tree.finish();
            shut_placeless_lists(&mut tree);
            let hidden: Vec<bool> = tree.elements().iter().map(|element| element.hidden).collect();
            assert_eq!(hidden, expected, "{list:?}");
        };
        check(Rect::default(), &[false, false, true, true, true, false]);
        check(Rect::new(10, 10, 80, 40), &[false; 6]);
    }

    #[test]
    fn keys_are_spelled_as_people_do() {
        check_keys("n;<Alt>f:n;<Primary>n", Some("Ctrl+N"));
        check_keys("a;<Alt>f:a;<Primary><Shift>s", Some("Ctrl+Shift+S"));
        check_keys("<Alt>f;;", Some("Alt+F"));
        check_keys("n;<Alt>f:n;", None);
        check_keys("Ctrl+Q", Some("Ctrl+Q"));
        check_keys("F11", Some("F11"));
        check_keys("", None);
        check_keys(";;", None);
    }

    fn object(path: &str) -> AtspiObject {
        AtspiObject::new(":1.1", path)
    }

    /// Nodes as `(path, children)`.
    fn nodes(of: &[(&str, &[&str])]) -> Nodes {
        let node = |kids: &[&str]| AtspiNode {
            kids: Kids::Known(kids.iter().map(|kid| object(kid)).collect()),
            ..AtspiNode::default()
        };
        of.iter().map(|(path, kids)| (object(path), node(kids))).collect()
    }

    #[test]
    fn a_menu_bar_is_told_once() {
        let bar = |kid: &str| AtspiNode {
            role: atspi::Role::MenuBar as u32,
            kids: Kids::Known(vec![object(kid)]),
            ..AtspiNode::default()
        };
        let item = |name: &str| AtspiNode { name: name.to_owned(), ..AtspiNode::default() };
        let mut tree = nodes(&[("/r", &["/a", "/b", "/c"])]);
        tree.extend([(object("/a"), bar("/1")), (object("/b"), bar("/2")), (object("/c"), bar("/3"))]);
        tree.extend([
            (object("/1"), item("File")),
            (object("/2"), item("File ")),
            (object("/3"), item("Go")),
        ]);
        let (order, _) = in_order(&tree, &object("/r"));
        let found: Vec<&str> = order.iter().map(|step| &*step.object.path).collect();
        assert_eq!(found, ["/r", "/a", "/1", "/c", "/3"]);
    }

    #[test]
    fn a_popover_is_where_its_window_is() {
        let facts = |extents| NodeFacts { sight: SHOWN, extents: Some(extents), ..NodeFacts::default() };
        let mut popups = vec![Rect::new(1377, 509, 212, 342)];
        assert_eq!(popup_offset(&facts(Rect::new(0, 0, 355, 498)), &mut popups), None);
        assert_eq!(popup_offset(&facts(Rect::new(0, 178, 212, 342)), &mut popups), Some((1377, 331)));
        assert_eq!(popup_offset(&facts(Rect::new(0, 178, 212, 342)), &mut popups), None);
    }

    #[test]
    fn what_a_paragraph_says_is_its_name() {
        for (role, text, expected) in [
            (atspi::Role::Paragraph, "Plain words.", (Role::Text, "Plain words.", None)),
            (atspi::Role::Section, "\u{fffc}", (Role::Group, "", None)),
            (atspi::Role::DocumentWeb, "\u{fffc} beside", (Role::Document, "", Some("beside"))),
            (atspi::Role::Entry, "typed", (Role::Edit, "", Some("typed"))),
        ] {
            let node = AtspiNode { role: role as u32, ..AtspiNode::default() };
            let step = CaptureStep { object: object("/x"), depth: 1, parent: Some(0) };
            let facts =
                NodeFacts { characters: Some(9), text: Some(text.to_owned()), ..NodeFacts::default() };
            let around = Surroundings { clip: None, offset: (0, 0) };
            let mut element = build_element(&step, &node, &facts, None, around);
            say_text(&mut element, &node, &Nodes::new());
            assert_eq!((element.role, &*element.name, element.value.as_deref()), expected, "{text}");
        }
    }

    fn check_order(of: &[(&str, &[&str])], expected: &[(&str, usize)]) {
        let (order, _) = in_order(&nodes(of), &object("/r"));
        let found: Vec<(&str, usize)> = order.iter().map(|step| (&*step.object.path, step.depth)).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn the_order_is_that_of_a_walk() {
        let tree: &[(&str, &[&str])] = &[("/r", &["/a", "/b"]), ("/a", &["/c"]), ("/b", &[]), ("/c", &[])];
        check_order(tree, &[("/r", 0), ("/a", 1), ("/c", 2), ("/b", 1)]);
    }

    #[test]
    fn lies_about_children_do_no_harm() {
        let cycle: &[(&str, &[&str])] = &[("/r", &["/a", "/a", "/gone"]), ("/a", &["/r", "/a"])];
        check_order(cycle, &[("/r", 0), ("/a", 1)]);
        check_order(&[], &[]);
    }

    #[test]
    fn a_tree_that_is_too_deep_is_cut_and_says_so() {
        let chain: Nodes = (0..TREE_DEPTH + 9)
            .map(|at| {
                let path = |at: usize| object(&if at == 0 { "/r".to_owned() } else { format!("/{at}") });
                (path(at), AtspiNode { kids: Kids::Known(vec![path(at + 1)]), ..AtspiNode::default() })
            })
            .collect();
        let (order, whole) = in_order(&chain, &object("/r"));
        assert_eq!((order.len(), whole), (TREE_DEPTH + 1, false));
    }

    fn shown(role: atspi::Role, extents: Rect, clip: Option<Rect>) -> (Element, Option<Rect>) {
        let node = AtspiNode { role: role as u32, ..AtspiNode::default() };
        let step = CaptureStep { object: object("/x"), depth: 1, parent: Some(0) };
        let facts = NodeFacts { sight: SHOWN, extents: Some(extents), ..NodeFacts::default() };
        let around = Surroundings { clip, offset: (100, 10) };
        let element = build_element(&step, &node, &facts, None, around);
        let below = clip_below(&node, &element, clip);
        (element, below)
    }

    #[test]
    fn places_become_those_of_the_screen() {
        let (element, _) = shown(atspi::Role::Button, Rect::new(5, 6, 7, 8), None);
        assert_eq!((element.bounds, element.hidden), (Rect::new(105, 16, 7, 8), false));
    }

    #[test]
    fn what_is_scrolled_away_is_hidden() {
        let (pane, clip) = shown(atspi::Role::ScrollPane, Rect::new(0, 0, 50, 50), None);
        assert_eq!(clip, Some(pane.bounds));
        assert!(!shown(atspi::Role::Button, Rect::new(40, 40, 20, 20), clip).0.hidden);
        assert!(shown(atspi::Role::Button, Rect::new(0, 60, 20, 20), clip).0.hidden);
        assert!(shown(atspi::Role::Button, Rect::new(0, 0, 0, 0), None).0.hidden);
    }
}
