//! What was read of large windows, kept true by what their applications tell, so that a look asks only for what changed.
//!
//! An application's events and its answers come in one order: whoever has an answer has been told everything that
//! happened before it. So a look asks one question, waits until everything that came before its answer was heard, and
//! asks the marked nodes anew. An event is never believed, it only marks. What no event tells is asked every time: the
//! numbers, texts and children of what is to be seen, and who has the focus. Places are sampled, and where a sample is
//! not where it was, its family is asked.
//!
//! - What is put away is not walked, so what is in it is not known: who opens or shuts lists its children anew.
//! - The visible block of a large table is asked at every look that needs everything: LibreOffice tells of a cell that is
//!   filled or emptied only now and then, and not always when the sheet scrolls. Its objects are kept meanwhile.
//! - A paragraph is asked when something in it changed.
//! - A window of GTK4 with an open popover is read whole, and so it is when the popover has gone.
//! - Who only types asks for the focus alone; what was told of the rest stays marked.

mod focus;
mod lists;
mod places;

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use atspi::State;

use super::bus::{BusConnection, BusDeadline, BusReply, BusRequest, text};
use super::cache::{AtspiNode, Kids, Nodes};
use super::capture::{
    CaptureStep, FrameReading, NodeFacts, NodeQuestion, ask_facts, first_facts, in_order, is_read,
    read_everything, sight_of, wanted_questions,
};
use super::find::{AtspiFrame, states_of};
use super::object::{ACCESSIBLE, AtspiObject};
use super::{direct, walk};
use crate::config::limits::TREE_CHILDREN_OF_ONE_NODE;
use crate::model::Rect;
use places::{Samples, visible_places};

/// A window with fewer elements is read whole: that costs as little, and relies on nobody.
const LARGE: usize = if cfg!(test) { 8 } else { 150 };
const MOST_FRAMES: usize = 8;
/// With more marked nodes than that something new is there.
const MOST_MARKED: usize = 2_000;
/// To ask more than this part of a window costs as much as reading it.
const MOST_ASKED: f64 = 0.6;
/// So many are asked, however small the window is.
const FEW: usize = 100;

/// How much of a window somebody needs to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    Everything,
    /// Who has the focus; all the rest may be that of the last look.
    Focus,
}

/// What an event says about the object that it comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Its name, states, text or value.
    Facts,
    /// That it got the focus or lost it.
    Focus,
    Children,
    /// What is to be seen of what is below it.
    Below,
}

/// The windows that were read, by their roots.
#[derive(Debug, Default)]
pub struct Mirrors {
    frames: HashMap<AtspiObject, Mirror>,
    uses: u64,
}

#[derive(Debug, Default)]
struct Mirror {
    /// Nothing while somebody reads.
    reading: Option<FrameReading>,
    popups: Vec<AtspiObject>,
    marks: Marks,
    /// Counts the looks: only the one that began last leaves what it read.
    turn: u64,
}

/// What changed since the reading began.
#[derive(Debug, Default)]
struct Marks {
    nodes: HashMap<Rc<str>, Marked>,
    overflown: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Marked {
    children: bool,
    below: bool,
    focus: bool,
}

impl Marked {
    const CHILDREN: Self = Self { children: true, below: false, focus: false };

    fn merge_marked(&mut self, other: Self) {
        self.children |= other.children;
        self.below |= other.below;
        self.focus |= other.focus;
    }

    fn of_change(change: Change) -> Self {
        Self {
            children: matches!(change, Change::Children | Change::Below),
            below: change == Change::Below,
            focus: change == Change::Focus,
        }
    }
}

/// A look that began: it says when, so that a later one is not overwritten.
#[derive(Debug)]
pub struct Turn {
    number: u64,
    silences: u64,
    /// Not everything was read.
    pub refreshed: bool,
    /// The next look may begin with what this one found.
    is_kept: bool,
}

impl Mirrors {
    /// Marks the object in every window of its application.
    pub fn mark(&mut self, bus: &str, path: &str, change: Change) {
        for (_, mirror) in self.frames.iter_mut().filter(|(frame, _)| &*frame.bus == bus) {
            mirror.marks.add(path, change);
        }
    }

    pub fn forget(&mut self, bus: &str) {
        self.frames.retain(|frame, _| &*frame.bus != bus);
    }

    /// Who lists an object, and at which place, in a window that was read. What an object says of its parent may be
    /// another: the fields in LibreOffice's tool bars name the window.
    pub fn lister_of(&self, object: &AtspiObject) -> Option<(AtspiObject, i32)> {
        let readings = self.frames.iter().filter(|(frame, _)| frame.bus == object.bus);
        readings.filter_map(|(_, mirror)| mirror.reading.as_ref()).find_map(
            |FrameReading { nodes, order, .. }| {
                let step = order.iter().find(|step| step.object == *object)?;
                let lister = &order.get(step.parent?)?.object;
                let Kids::Known(kids) = &nodes.get(lister)?.kids else { return None };
                let index = kids.iter().position(|kid| kid == object)?;
                Some((lister.clone(), i32::try_from(index).ok()?))
            },
        )
    }

    /// Takes what is known, with its marks. From here on new marks are collected.
    fn begin(&mut self, frame: &AtspiFrame) -> (u64, Mirror) {
        self.uses += 1;
        let known = self.frames.remove(&frame.object).unwrap_or_default();
        let collecting = Mirror { turn: self.uses, ..Mirror::default() };
        self.frames.insert(frame.object.clone(), collecting);
        while self.frames.len() > MOST_FRAMES {
            let oldest = self.frames.iter().min_by_key(|(_, mirror)| mirror.turn);
            let Some(oldest) = oldest.map(|(frame, _)| frame.clone()) else { break };
            self.frames.remove(&oldest);
        }
        (self.uses, known)
    }

    /// Leaves marks that nobody heeded to the next look.
    fn put_back(&mut self, frame: &AtspiFrame, marks: Marks) {
        if let Some(mirror) = self.frames.get_mut(&frame.object) {
            mirror.marks.merge_marks(marks);
        }
    }

    fn end(&mut self, frame: &AtspiFrame, turn: u64, reading: FrameReading) {
        let mirror = self.frames.get_mut(&frame.object).filter(|mirror| mirror.turn == turn);
        if let Some(mirror) = mirror {
            mirror.popups = frame.popups.clone();
            mirror.reading = Some(reading);
        }
    }
}

impl Marks {
    fn add(&mut self, path: &str, change: Change) {
        if self.overflown {
            return;
        }
        if !self.nodes.contains_key(path) {
            self.nodes.insert(path.into(), Marked::default());
        }
        if let Some(marked) = self.nodes.get_mut(path) {
            marked.merge_marked(Marked::of_change(change));
        }
        self.keep_bounded();
    }

    fn merge_marks(&mut self, others: Self) {
        self.overflown |= others.overflown;
        for (path, marked) in others.nodes {
            self.nodes.entry(path).or_default().merge_marked(marked);
        }
        self.keep_bounded();
    }

    fn keep_bounded(&mut self) {
        if self.overflown || self.nodes.len() > MOST_MARKED {
            *self = Self { overflown: true, ..Self::default() };
        }
    }
}

/// What there is in a frame now: what is known of it, made true, or read anew. `popovers` have windows of their own.
pub async fn read_frame(
    link: &Rc<BusConnection>,
    frame: &AtspiFrame,
    popovers: &[Rect],
    detail: Detail,
    pace: &BusDeadline,
) -> (FrameReading, Turn) {
    let silences = link.silences.get();
    let heard = hear_everything(link, &frame.object, pace).await;
    let line = if heard { direct::line_to(link, &frame.application, pace).await } else { None };
    let direct = pace.over_line(line);
    let (number, known) = link.mirrors.borrow_mut().begin(frame);
    let is_kept = popovers.is_empty();
    let turn = |refreshed| Turn { number, silences, refreshed, is_kept };
    let refreshed = match known.reading {
        _ if !is_kept => Err("a popover is open"),
        Some(reading) if heard => {
            let known = Known { reading, popups: known.popups, marks: known.marks, moved: HashSet::new() };
            known.refresh_as_needed(link, frame, detail, &direct).await
        }
        _ => Err("it was not read before"),
    };
    let read = match refreshed {
        Ok(reading) => (reading, turn(true)),
        Err(why) => {
            tracing::debug!(window = %frame.name, why, "the whole window is read");
            (read_everything(link, frame, &direct).await, turn(false))
        }
    };
    if !direct.has_lost_line() {
        return read;
    }
    tracing::debug!(window = %frame.name, "the line to an application broke: the window is read over the bus");
    (read_everything(link, frame, pace).await, turn(false))
}

/// Keeps what was read, if it is worth it and nothing in it went unanswered.
pub fn keep_reading(link: &Rc<BusConnection>, frame: &AtspiFrame, turn: &Turn, reading: FrameReading) {
    let answered = link.silences.get() == turn.silences;
    let elements = reading.order.len();
    tracing::debug!(window = %frame.name, elements, turn.refreshed, answered, "a window was looked at");
    if answered && turn.is_kept && reading.order.len() >= LARGE {
        link.mirrors.borrow_mut().end(frame, turn.number, reading);
    }
}

/// Whether everything that the application told before this question has been heard.
async fn hear_everything(link: &Rc<BusConnection>, frame: &AtspiObject, pace: &BusDeadline) -> bool {
    match link.ask_object(frame, &BusRequest::Call(ACCESSIBLE, "GetState"), pace).await {
        Ok(reply) => link.heard_until(reply.recv_position(), pace).await,
        Err(_) => false,
    }
}

/// A reading that is being made true.
struct Known {
    reading: FrameReading,
    popups: Vec<AtspiObject>,
    marks: Marks,
    /// Whose children are elsewhere than they were.
    moved: HashSet<AtspiObject>,
}

/// Why everything has to be read.
type Outdated = &'static str;

impl Known {
    async fn refresh_as_needed(
        self,
        link: &Rc<BusConnection>,
        frame: &AtspiFrame,
        detail: Detail,
        pace: &BusDeadline,
    ) -> Result<FrameReading, Outdated> {
        match detail {
            Detail::Everything => self.refresh(link, frame, pace).await,
            Detail::Focus => {
                let (reading, unheeded) = self.refresh_focus(link, frame, pace).await?;
                link.mirrors.borrow_mut().put_back(frame, unheeded);
                Ok(reading)
            }
        }
    }

    async fn refresh(
        mut self,
        link: &Rc<BusConnection>,
        frame: &AtspiFrame,
        pace: &BusDeadline,
    ) -> Result<FrameReading, Outdated> {
        let mut changed = self.changed_objects(&frame.object)?;
        let strangers = lists::strangers(&self.reading.nodes, &frame.object.bus, &self.marks);
        if self.popups != frame.popups {
            changed.insert(frame.object.clone(), Marked::CHILDREN);
        }
        self.add_tables_in_part(&mut changed);
        let mut relisted = lists::are_relisted(&changed);
        let stale = self.ask_again(link, frame, changed, pace).await?;
        let others = self.check_what_is_untold(link, frame, pace).await;
        let mut changed = lists::unlike_lists(link, frame, &self.reading, pace).await;
        let entries = lists::unlike_entries(link, frame, &self.reading, pace).await;
        entries.iter().for_each(|(entry, marked)| add_mark(&mut changed, entry, *marked));
        let holders = lists::holders_of_strangers(link, &self.reading, strangers, pace).await;
        holders.iter().for_each(|(holder, marked)| add_mark(&mut changed, holder, *marked));
        let nodes = &self.reading.nodes;
        others.iter().for_each(|top| add_subtree(nodes, top, Marked::default(), &mut changed));
        stale.iter().for_each(|top| add_subtree(nodes, top, Marked::CHILDREN, &mut changed));
        relisted |= lists::are_relisted(&changed);
        self.ask_again(link, frame, changed, pace).await?;
        if relisted {
            self.ask_listers_of_moved(link, frame, pace).await?;
        }
        Ok(self.reading)
    }

    /// Asks all elements again that list a child which another one lists too: it has moved, and nobody told.
    async fn ask_listers_of_moved(
        &mut self,
        link: &Rc<BusConnection>,
        frame: &AtspiFrame,
        pace: &BusDeadline,
    ) -> Result<(), Outdated> {
        let listers = lists::listers_of_the_same(&self.reading.nodes);
        self.ask_again(link, frame, listers, pace).await.map(drop)
    }

    /// Makes true what is known of these objects and of what they list. The answer is below whom everything is asked: who
    /// shows now and did not, or the other way round, because toolkits tell it of what was opened or closed and not
    /// always of what is in it; and who is not to be seen and moved or lists others.
    async fn ask_again(
        &mut self,
        link: &Rc<BusConnection>,
        frame: &AtspiFrame,
        changed: HashMap<AtspiObject, Marked>,
        pace: &BusDeadline,
    ) -> Result<HashSet<AtspiObject>, Outdated> {
        if changed.len() > FEW.max((self.reading.nodes.len() as f64 * MOST_ASKED) as usize) {
            return Err("too much changed");
        }
        if changed.is_empty() {
            return Ok(HashSet::new());
        }
        let relearned = self.relearn(link, &changed, pace).await;
        let old = match relearned.unlisted.is_empty() && !relearned.has_lost {
            true => std::mem::take(&mut self.reading.facts).into_iter().map(Some).collect(),
            false => self.walk_again(link, frame, relearned.unlisted, pace).await,
        };
        let CarriedFacts { wants, before } = self.carry_facts(link, frame, old, &changed);
        ask_facts(link, &mut self.reading, &wants, pace).await;
        let moved = before.into_iter().filter(|(place, before)| self.extents(*place) != *before);
        let moved: Vec<usize> = moved.map(|(place, _)| place).collect();
        let mut stale = relearned.turned;
        stale.extend(self.hidden_families(&changed, &moved));
        let parents: Vec<AtspiObject> = moved.iter().filter_map(|place| self.parent_of(*place)).collect();
        self.moved.extend(parents);
        Ok(stale)
    }

    /// Of those that moved or list others than they did, who is not to be seen: nobody samples what is below them.
    fn hidden_families(&self, changed: &HashMap<AtspiObject, Marked>, moved: &[usize]) -> Vec<AtspiObject> {
        if moved.is_empty() && changed.values().all(|marked| !marked.children) {
            return Vec::new();
        }
        let visible = visible_places(&self.reading);
        let moved: HashSet<usize> = moved.iter().copied().collect();
        let steps = self.reading.order.iter().enumerate().zip(visible).filter(|(_, visible)| !visible);
        let relisted = |object: &AtspiObject| changed.get(object).is_some_and(|marked| marked.children);
        let families = steps.filter(|((place, step), _)| moved.contains(place) || relisted(&step.object));
        families.map(|((_, step), _)| step.object.clone()).collect()
    }

    fn parent_of(&self, place: usize) -> Option<AtspiObject> {
        let parent = self.reading.order.get(place)?.parent?;
        self.reading.order.get(parent).map(|step| step.object.clone())
    }

    /// The objects that may be other than they were: the marked ones, and those that an event may not tell of when
    /// another takes over what they had.
    fn changed_objects(&self, frame: &AtspiObject) -> Result<HashMap<AtspiObject, Marked>, Outdated> {
        if self.marks.overflown {
            return Err("too much changed");
        }
        let nodes = &self.reading.nodes;
        let mut changed: HashMap<AtspiObject, Marked> = HashMap::new();
        for (path, marked) in &self.marks.nodes {
            let object = AtspiObject { bus: frame.bus.clone(), path: path.clone() };
            if nodes.contains_key(&object) {
                changed.insert(object, *marked);
            }
        }
        self.add_seen_below(&mut changed);
        self.add_paragraphs_around(&mut changed);
        for step in &self.reading.order {
            if nodes.get(&step.object).is_some_and(is_passed_on) {
                changed.entry(step.object.clone()).or_default();
            }
        }
        changed.entry(frame.clone()).or_default();
        Ok(changed)
    }

    /// The text of a paragraph has what is in it.
    fn add_paragraphs_around(&self, changed: &mut HashMap<AtspiObject, Marked>) {
        let FrameReading { nodes, order, .. } = &self.reading;
        let told = order.iter().filter(|step| changed.contains_key(&step.object));
        let around = told.filter_map(|step| order.get(step.parent?)).map(|step| &step.object);
        let paragraphs = around.filter(|object| nodes.get(object).is_some_and(is_read));
        for paragraph in paragraphs.cloned().collect::<Vec<_>>() {
            changed.entry(paragraph).or_default();
        }
    }

    /// Adds the tables that are read by their visible block, in the place of their cells.
    fn add_tables_in_part(&self, changed: &mut HashMap<AtspiObject, Marked>) {
        let nodes = &self.reading.nodes;
        for (table, node) in nodes.iter().filter(|(_, node)| node.is_in_part) {
            if let Kids::Known(cells) = &node.kids {
                for cell in cells {
                    changed.remove(cell);
                }
            }
            changed.entry(table.clone()).or_default().children = true;
        }
    }

    /// Adds what is to be seen below those that said so.
    fn add_seen_below(&self, changed: &mut HashMap<AtspiObject, Marked>) {
        if changed.values().all(|marked| !marked.below) {
            return;
        }
        let visible = visible_places(&self.reading);
        let mut below = vec![false; visible.len()];
        for (place, step) in self.reading.order.iter().enumerate() {
            let parent = step.parent.and_then(|parent| self.reading.order.get(parent));
            let marked =
                parent.and_then(|parent| changed.get(&parent.object)).is_some_and(|marked| marked.below);
            below[place] = marked || step.parent.is_some_and(|parent| below[parent]);
            if below[place] && visible[place] {
                changed.entry(step.object.clone()).or_default().children = true;
            }
        }
    }

    /// Asks what the objects are now.
    async fn relearn(
        &mut self,
        link: &Rc<BusConnection>,
        changed: &HashMap<AtspiObject, Marked>,
        pace: &BusDeadline,
    ) -> Relearned {
        let objects: Vec<&AtspiObject> = changed.keys().collect();
        let mut asks = Vec::with_capacity(objects.len() * QUESTIONS.len());
        for object in &objects {
            asks.extend(QUESTIONS.iter().map(|ask| ((*object).clone(), ask.clone())));
        }
        let answers = link.ask_all(asks, pace).await;
        let mut relearned = Relearned::default();
        let mut gone: HashSet<&AtspiObject> = HashSet::new();
        for (object, answers) in objects.into_iter().zip(answers.chunks(QUESTIONS.len())) {
            let nodes = &mut self.reading.nodes;
            let before = nodes.get(object).map(shown_as);
            let told = nodes.get_mut(object).is_some_and(|node| update_node(node, answers));
            if !told {
                nodes.remove(object);
                gone.insert(object);
                continue;
            }
            let has_turned = before != nodes.get(object).map(shown_as);
            if has_turned || changed.get(object).is_some_and(|marked| marked.children) {
                unlist(nodes, object);
                relearned.unlisted.insert(object.clone());
            }
            if has_turned {
                relearned.turned.insert(object.clone());
            }
        }
        let parents = self.unlist_parents(&gone);
        relearned.unlisted.extend(parents);
        relearned.has_lost = !gone.is_empty();
        relearned
    }

    /// LibreOffice replaces the objects of its cells without a word.
    fn unlist_parents(&mut self, gone: &HashSet<&AtspiObject>) -> HashSet<AtspiObject> {
        if gone.is_empty() {
            return HashSet::new();
        }
        let FrameReading { nodes, order, .. } = &mut self.reading;
        let steps = order.iter().filter(|step| gone.contains(&step.object));
        let parents: HashSet<AtspiObject> =
            steps.filter_map(|step| order.get(step.parent?)).map(|step| step.object.clone()).collect();
        parents.iter().for_each(|parent| unlist(nodes, parent));
        parents
    }

    /// Brings the order up to date. The facts of what stays are handed back in it.
    async fn walk_again(
        &mut self,
        link: &Rc<BusConnection>,
        frame: &AtspiFrame,
        unlisted: HashSet<AtspiObject>,
        pace: &BusDeadline,
    ) -> Vec<Option<NodeFacts>> {
        let starts = self.with_parent_roles(unlisted);
        let facts = self.take_facts();
        let reading = &mut self.reading;
        reading.whole &= walk::walk_unlisted(link, frame, starts, &mut reading.nodes, pace).await;
        let (order, kept) = in_order(&reading.nodes, &frame.object);
        reading.whole &= kept;
        // What is not in the window any more may come back as something else.
        keep_listed(&mut reading.nodes, &frame.object);
        let facts = aligned_facts(facts, &order);
        reading.order = order;
        facts
    }

    /// The facts of what is still there, by object.
    fn take_facts(&mut self) -> Vec<(AtspiObject, NodeFacts)> {
        let FrameReading { nodes, order, facts, .. } = &mut self.reading;
        let objects = std::mem::take(order).into_iter().map(|step| step.object);
        objects.zip(std::mem::take(facts)).filter(|(object, _)| nodes.contains_key(object)).collect()
    }

    /// Each with the role of what holds it, where somebody does.
    fn with_parent_roles(&self, objects: HashSet<AtspiObject>) -> Vec<(AtspiObject, Option<u32>)> {
        let FrameReading { nodes, order, .. } = &self.reading;
        let held = order.iter().filter(|step| objects.contains(&step.object));
        let roles: HashMap<&AtspiObject, u32> = held
            .filter_map(|step| Some((&step.object, nodes.get(&order.get(step.parent?)?.object)?.role)))
            .collect();
        let with_role = |object: &AtspiObject| (object.clone(), roles.get(object).copied());
        objects.iter().map(with_role).collect()
    }

    /// The facts that still hold, in the order of the tree, and the questions about the others, with where those were.
    fn carry_facts(
        &mut self,
        link: &Rc<BusConnection>,
        frame: &AtspiFrame,
        old: Vec<Option<NodeFacts>>,
        changed: &HashMap<AtspiObject, Marked>,
    ) -> CarriedFacts {
        let reading = &mut self.reading;
        let mut carried = CarriedFacts::default();
        for (place, old) in (0..reading.order.len()).zip(old) {
            let step = &reading.order[place];
            let place_before = old.as_ref().and_then(|old| old.extents);
            let same = old.filter(|_| !changed.contains_key(&step.object)).filter(|old| {
                reading
                    .nodes
                    .get(&step.object)
                    .is_some_and(|node| old.sight == sight_of(frame, reading, step, node))
            });
            let fact = match same {
                Some(fact) => fact,
                None => {
                    // The cells of a block are all asked.
                    if reading.nodes.get(&step.object).is_some_and(|node| node.native.is_none()) {
                        carried.before.push((place, place_before));
                    }
                    first_facts(link, frame, reading, place, &mut carried.wants)
                }
            };
            reading.facts.push(fact);
        }
        carried
    }

    /// Places, numbers and texts change without a word. Numbers and texts of what is to be seen are asked, and the places
    /// of some of each family, of all where one moved. The answer is whose hidden children are not as they were.
    async fn check_what_is_untold(
        &mut self,
        link: &Rc<BusConnection>,
        frame: &AtspiFrame,
        pace: &BusDeadline,
    ) -> HashSet<AtspiObject> {
        let visible = visible_places(&self.reading);
        let mut wants = Vec::new();
        for (place, _) in visible.iter().enumerate().filter(|(_, visible)| **visible) {
            let node = self.reading.order.get(place).and_then(|step| self.reading.nodes.get(&step.object));
            let node = node.filter(|node| node.native.is_none());
            let asked = node.map(|node| wanted_questions(frame, node, true)).unwrap_or_default();
            wants.extend(asked.into_iter().filter(|wanted| is_untold(*wanted)).map(|wanted| (place, wanted)));
        }
        ask_facts(link, &mut self.reading, &wants, pace).await;
        let mut others = HashSet::new();
        let mut asked = HashSet::new();
        loop {
            let samples = Samples::of(&self.reading, &visible, &self.moved);
            let known = self.moved.len();
            let seen: Vec<usize> = samples.seen.into_iter().filter(|place| asked.insert(*place)).collect();
            let hidden: Vec<usize> =
                samples.hidden.into_iter().filter(|place| asked.insert(*place)).collect();
            let moved = self.ask_places(link, &seen, pace).await;
            self.moved.extend(moved);
            others.extend(self.ask_places(link, &hidden, pace).await);
            others.extend(self.ask_states(link, &hidden, pace).await);
            if self.moved.len() == known {
                return others;
            }
        }
    }

    /// Asks where these are now. The answer is whose children are elsewhere than they were.
    async fn ask_places(
        &mut self,
        link: &Rc<BusConnection>,
        places: &[usize],
        pace: &BusDeadline,
    ) -> Vec<AtspiObject> {
        let shown = |place: &&usize| self.reading.facts.get(**place).is_some_and(|fact| fact.sight.shows);
        let wants: Vec<(usize, NodeQuestion)> =
            places.iter().filter(shown).map(|place| (*place, NodeQuestion::Extents)).collect();
        let before: Vec<Option<Rect>> = wants.iter().map(|(place, _)| self.extents(*place)).collect();
        ask_facts(link, &mut self.reading, &wants, pace).await;
        let moved = wants.iter().zip(before).filter(|((place, _), before)| self.extents(*place) != *before);
        moved.filter_map(|((place, _), _)| self.parent_of(*place)).collect()
    }

    fn extents(&self, place: usize) -> Option<Rect> {
        self.reading.facts.get(place).and_then(|fact| fact.extents)
    }

    /// Asks for the states of these. The answer is whose children have others than they had.
    async fn ask_states(
        &self,
        link: &Rc<BusConnection>,
        places: &[usize],
        pace: &BusDeadline,
    ) -> Vec<AtspiObject> {
        let steps = places.iter().filter_map(|place| Some((*place, self.reading.order.get(*place)?)));
        let asks =
            steps.clone().map(|(_, step)| (step.object.clone(), BusRequest::Call(ACCESSIBLE, "GetState")));
        let answers = link.ask_all(asks.collect(), pace).await;
        let known = |step: &CaptureStep| self.reading.nodes.get(&step.object).map(|node| node.states);
        let other = steps
            .zip(answers)
            .filter(|((_, step), answer)| answer.as_ref().map(states_of).ok() != known(step));
        other.filter_map(|((place, _), _)| self.parent_of(place)).collect()
    }
}

/// What has to be asked of those whose facts do not hold any more, and where they were.
#[derive(Debug, Default)]
struct CarriedFacts {
    wants: Vec<(usize, NodeQuestion)>,
    before: Vec<(usize, Option<Rect>)>,
}

#[derive(Debug, Default)]
struct Relearned {
    /// Who has to list its children anew.
    unlisted: HashSet<AtspiObject>,
    /// Some are not there any more.
    has_lost: bool,
    /// Who shows now and did not, or the other way round.
    turned: HashSet<AtspiObject>,
}

/// The facts of before as they stand in an order that is mostly as it was; nothing for what is new.
fn aligned_facts(mut old: Vec<(AtspiObject, NodeFacts)>, order: &[CaptureStep]) -> Vec<Option<NodeFacts>> {
    let is_same = |((object, _), step): &(&(AtspiObject, NodeFacts), &CaptureStep)| *object == step.object;
    let front = old.iter().zip(order).take_while(is_same).count();
    let back = old[front..].iter().rev().zip(order[front..].iter().rev()).take_while(is_same).count();
    let behind = old.split_off(old.len() - back);
    let mut between: HashMap<AtspiObject, NodeFacts> = old.drain(front..).collect();
    let moved = order[front..order.len() - back].iter().map(|step| between.remove(&step.object));
    let facts = |(_, facts): (AtspiObject, NodeFacts)| Some(facts);
    old.into_iter().map(facts).chain(moved).chain(behind.into_iter().map(facts)).collect()
}

/// By which it is walked or put away.
fn shown_as(node: &AtspiNode) -> (u32, bool, bool) {
    (node.role, node.states.has(State::Showing), node.states.has(State::Visible))
}

/// What makes a node, in this order.
const QUESTIONS: &[BusRequest] = &[
    BusRequest::Get(ACCESSIBLE, "Name"),
    BusRequest::Call(ACCESSIBLE, "GetRole"),
    BusRequest::Call(ACCESSIBLE, "GetState"),
    BusRequest::Get(ACCESSIBLE, "Description"),
];

/// False when the object is not there any more.
fn update_node(node: &mut AtspiNode, answers: &[BusReply]) -> bool {
    let [name, Ok(role), Ok(states), description] = answers else {
        return false;
    };
    let Ok(role) = role.body().deserialize() else {
        return false;
    };
    node.role = role;
    node.states = states_of(states);
    node.name = name.as_ref().ok().and_then(text).unwrap_or_default();
    // GTK3 describes in its cache what the object itself does not describe.
    let described = description.as_ref().ok().and_then(text).filter(|text| !text.is_empty());
    node.description = node.description.take().map(|known| described.unwrap_or(known));
    !node.states.has(State::Defunct)
}

/// Has the children listed again. The cells of a block, which are leaves, are not known any more. Where there are too many
/// children to ask for all of them, their number is not asked either: LibreOffice cannot count its cells.
fn unlist(nodes: &mut Nodes, object: &AtspiObject) {
    let Some(node) = nodes.get_mut(object).filter(|node| node.native.is_none()) else { return };
    let Kids::Known(kids) = &mut node.kids else { return };
    let kids = std::mem::take(kids);
    let was_in_part = std::mem::take(&mut node.is_in_part);
    let is_too_long = was_in_part || kids.len() >= TREE_CHILDREN_OF_ONE_NODE;
    node.kids = Kids::Unlisted(if is_too_long { i32::MAX } else { walk::UNCOUNTED });
    for cell in kids.iter().filter(|_| was_in_part) {
        nodes.remove(cell);
    }
}

/// Keeps what somebody lists, whether the tree has it or not.
fn keep_listed(nodes: &mut Nodes, root: &AtspiObject) {
    let mut listed = HashSet::from([root.clone()]);
    let mut open = vec![root.clone()];
    while let Some(object) = open.pop() {
        let Some(AtspiNode { kids: Kids::Known(kids), .. }) = nodes.get(&object) else {
            continue;
        };
        for kid in kids {
            if listed.insert(kid.clone()) {
                open.push(kid.clone());
            }
        }
    }
    nodes.retain(|object, _| listed.contains(object));
}

fn add_mark(changed: &mut HashMap<AtspiObject, Marked>, object: &AtspiObject, marked: Marked) {
    changed.entry(object.clone()).or_default().merge_marked(marked);
}

fn add_subtree(nodes: &Nodes, top: &AtspiObject, marked: Marked, changed: &mut HashMap<AtspiObject, Marked>) {
    let mut open = vec![top];
    let mut seen = HashSet::new();
    while let Some(object) = open.pop() {
        let Some(AtspiNode { kids: Kids::Known(kids), .. }) = nodes.get(object) else {
            continue;
        };
        for kid in kids.iter().filter(|kid| nodes.contains_key(kid)) {
            if seen.insert(kid) {
                add_mark(changed, kid, marked);
                open.push(kid);
            }
        }
    }
}

/// Toolkits tell who got the focus or the selection, and not always who lost it.
fn is_passed_on(node: &AtspiNode) -> bool {
    [State::Focused, State::Selected, State::Armed, State::Active].iter().any(|state| node.states.has(*state))
}

fn is_untold(question: NodeQuestion) -> bool {
    use NodeQuestion::{Characters, Least, Most, Now};
    matches!(question, Now | Least | Most | Characters)
}

#[cfg(test)]
mod tests;
