//! What was read of large windows, kept true by what their applications tell, so that a look asks only for what changed.
//!
//! An application's events and its answers come in one order: whoever has an answer has been told everything that
//! happened before it. So a look asks one question, waits until everything that came before its answer was heard, and
//! asks the marked nodes anew. An event is never believed, it only marks. What no event tells is asked every time: the
//! places, numbers and texts of what is to be seen, and who has the focus. What is scrolled away is sampled, and
//! where a sample is not as it was, its family is asked.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use atspi::State;

use super::bus::{BusConnection, BusDeadline, BusReply, BusRequest, text};
use super::cache::{AtspiNode, Kids, Nodes};
use super::capture::{
    CaptureStep, FrameReading, NodeFacts, NodeQuestion, ask_facts, first_facts, in_order, read_everything,
    shows, wanted_questions,
};
use super::find::{AtspiFrame, states_of};
use super::object::{ACCESSIBLE, AtspiObject, States};
use super::{roles, walk};
use crate::model::Rect;

/// A window with fewer elements is read whole: that costs as little, and relies on nobody.
const LARGE: usize = if cfg!(test) { 8 } else { 150 };
const MOST_FRAMES: usize = 8;
/// With more marked nodes than that, or more than a part of all, reading everything is cheaper.
const MOST_MARKED: usize = 2_000;
const MARKED_PART: usize = 3;
/// So many are asked, however small the window is.
const FEW: usize = 100;
/// Of the children of one node that are not to be seen, so many are looked at.
const SAMPLES: usize = 4;

/// How much of a window somebody needs to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    Everything,
    /// Which elements there are, and who has the focus; places and values may be those of the last look.
    Focus,
}

/// What an event says about the object that it comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Its name, states, text or value.
    Facts,
    Children,
    /// Anything at all below it.
    Subtree,
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
    subtree: bool,
}

/// A look that began: it says when, so that a later one is not overwritten.
#[derive(Debug)]
pub struct Turn {
    number: u64,
    silences: u64,
    /// Not everything was read.
    pub refreshed: bool,
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
            marked.children |= change != Change::Facts;
            marked.subtree |= change == Change::Subtree;
        }
        if self.nodes.len() > MOST_MARKED {
            *self = Self { overflown: true, ..Self::default() };
        }
    }
}

/// What there is in a frame now: what is known of it, made true, or read anew.
pub async fn read_frame(
    link: &Rc<BusConnection>,
    frame: &AtspiFrame,
    detail: Detail,
    pace: &BusDeadline,
) -> (FrameReading, Turn) {
    let silences = link.silences.get();
    let heard = hear_everything(link, &frame.object, pace).await;
    let (number, known) = link.mirrors.borrow_mut().begin(frame);
    let turn = |refreshed| Turn { number, silences, refreshed };
    let refreshed = match known.reading {
        Some(reading) if heard => {
            let known = Known { reading, popups: known.popups, marks: known.marks };
            known.refresh(link, frame, detail, pace).await
        }
        _ => Err("it was not read before"),
    };
    match refreshed {
        Ok(reading) => (reading, turn(true)),
        Err(why) => {
            tracing::debug!(window = %frame.name, why, "the whole window is read");
            (read_everything(link, frame, pace).await, turn(false))
        }
    }
}

/// Keeps what was read, if it is worth it and nothing in it went unanswered.
pub fn keep_reading(link: &Rc<BusConnection>, frame: &AtspiFrame, turn: &Turn, reading: FrameReading) {
    let answered = link.silences.get() == turn.silences;
    if answered && reading.order.len() >= LARGE {
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
}

/// Why everything has to be read.
type Outdated = &'static str;

impl Known {
    async fn refresh(
        mut self,
        link: &Rc<BusConnection>,
        frame: &AtspiFrame,
        detail: Detail,
        pace: &BusDeadline,
    ) -> Result<FrameReading, Outdated> {
        let mut changed = self.changed_objects(&frame.object)?;
        if self.popups != frame.popups {
            changed.insert(frame.object.clone(), Marked { children: true, ..Marked::default() });
        }
        self.ask_again(link, frame, changed, pace).await?;
        if detail == Detail::Focus {
            return Ok(self.reading);
        }
        let others = self.check_what_is_untold(link, pace).await;
        let mut changed = HashMap::new();
        others.iter().for_each(|parent| add_subtree(&self.reading.nodes, parent, &mut changed));
        self.ask_again(link, frame, changed, pace).await?;
        Ok(self.reading)
    }

    /// Makes true what is known of these objects and of what they list.
    async fn ask_again(
        &mut self,
        link: &Rc<BusConnection>,
        frame: &AtspiFrame,
        changed: HashMap<AtspiObject, Marked>,
        pace: &BusDeadline,
    ) -> Result<(), Outdated> {
        if changed.is_empty() {
            return Ok(());
        }
        if changed.len() > (self.reading.nodes.len() / MARKED_PART).max(FEW) {
            return Err("too much changed");
        }
        let relist = self.relearn(link, &changed, pace).await;
        let facts = if relist { Some(self.walk_again(link, frame, pace).await) } else { None };
        let wants = self.carry_facts(link, frame, facts, &changed);
        ask_facts(link, &mut self.reading, &wants, pace).await;
        Ok(())
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
            if marked.subtree {
                add_subtree(nodes, &object, &mut changed);
            }
            if nodes.contains_key(&object) {
                changed.insert(object, *marked);
            }
        }
        for step in &self.reading.order {
            if nodes.get(&step.object).is_some_and(|node| is_passed_on(node)) {
                changed.entry(step.object.clone()).or_default();
            }
        }
        changed.entry(frame.clone()).or_default();
        Ok(changed)
    }

    /// Asks what the objects are now. True when the order of the tree may be another.
    async fn relearn(
        &mut self,
        link: &Rc<BusConnection>,
        changed: &HashMap<AtspiObject, Marked>,
        pace: &BusDeadline,
    ) -> bool {
        let objects: Vec<&AtspiObject> = changed.keys().collect();
        let mut asks = Vec::with_capacity(objects.len() * QUESTIONS.len());
        for object in &objects {
            asks.extend(QUESTIONS.iter().map(|ask| ((*object).clone(), ask.clone())));
        }
        let answers = link.ask_all(asks, pace).await;
        let mut relist = false;
        for (object, answers) in objects.into_iter().zip(answers.chunks(QUESTIONS.len())) {
            let nodes = &mut self.reading.nodes;
            let told = nodes.get_mut(object).is_some_and(|node| update_node(node, answers));
            if !told {
                // Whoever lists it is asked about it again, and it is left out if it does not answer then either.
                nodes.remove(object);
                relist = true;
            } else if changed.get(object).is_some_and(|marked| marked.children) {
                unlist(nodes, object);
                relist = true;
            }
        }
        relist
    }

    /// Brings the order up to date. The facts of what stays are handed back by object.
    async fn walk_again(
        &mut self,
        link: &Rc<BusConnection>,
        frame: &AtspiFrame,
        pace: &BusDeadline,
    ) -> HashMap<AtspiObject, NodeFacts> {
        let reading = &mut self.reading;
        let steps = std::mem::take(&mut reading.order).into_iter().map(|step| step.object);
        let facts: HashMap<_, _> = steps.zip(std::mem::take(&mut reading.facts)).collect();
        reading.whole &= walk::walk_frame(link, frame, &mut reading.nodes, pace).await;
        let (order, kept) = in_order(&reading.nodes, &frame.object);
        reading.whole &= kept;
        // What is not in the window any more may come back as something else.
        let listed: HashSet<&AtspiObject> = order.iter().map(|step| &step.object).collect();
        reading.nodes.retain(|object, _| listed.contains(object));
        reading.order = order;
        facts
    }

    /// The facts that still hold, in the order of the tree, and the questions about the others.
    fn carry_facts(
        &mut self,
        link: &Rc<BusConnection>,
        frame: &AtspiFrame,
        by_object: Option<HashMap<AtspiObject, NodeFacts>>,
        changed: &HashMap<AtspiObject, Marked>,
    ) -> Vec<(usize, NodeQuestion)> {
        let reading = &mut self.reading;
        let mut wants = Vec::new();
        let mut in_place = std::mem::take(&mut reading.facts).into_iter();
        let mut by_object = by_object;
        for place in 0..reading.order.len() {
            let step = &reading.order[place];
            let old = match &mut by_object {
                Some(facts) => facts.remove(&step.object),
                None => in_place.next(),
            };
            let same = old.filter(|_| !changed.contains_key(&step.object)).filter(|old| {
                reading
                    .nodes
                    .get(&step.object)
                    .is_some_and(|node| old.shows == shows(frame, reading, step, node))
            });
            let fact = match same {
                Some(fact) => fact,
                None => first_facts(link, frame, reading, place, &mut wants),
            };
            reading.facts.push(fact);
        }
        wants
    }

    /// Places, numbers and texts change without a word. Those of what is to be seen are asked, the others sampled: the
    /// answer is whose children are not as they were.
    async fn check_what_is_untold(
        &mut self,
        link: &Rc<BusConnection>,
        pace: &BusDeadline,
    ) -> HashSet<AtspiObject> {
        let visible = visible_places(&self.reading);
        let mut wants = Vec::new();
        for (place, _) in visible.iter().enumerate().filter(|(_, visible)| **visible) {
            let node = self.reading.order.get(place).and_then(|step| self.reading.nodes.get(&step.object));
            let asked = node.map(|node| wanted_questions(node, true)).unwrap_or_default();
            wants.extend(asked.into_iter().filter(|wanted| is_untold(*wanted)).map(|wanted| (place, wanted)));
        }
        let samples = sampled_places(&self.reading, &visible);
        let shown = |place: &&usize| self.reading.facts.get(**place).is_some_and(|fact| fact.shows);
        wants.extend(samples.iter().filter(shown).map(|place| (*place, NodeQuestion::Extents)));
        let before: Vec<Option<Rect>> = samples.iter().map(|place| self.extents(*place)).collect();
        ask_facts(link, &mut self.reading, &wants, pace).await;
        let states = self.ask_states(link, &samples, pace).await;
        let mut others = HashSet::new();
        for ((place, before), states) in samples.into_iter().zip(before).zip(states) {
            let Some(step) = self.reading.order.get(place) else { continue };
            let node = self.reading.nodes.get(&step.object);
            let same = self.extents(place) == before && node.map(|node| node.states) == states;
            let parent = step.parent.and_then(|parent| self.reading.order.get(parent)).filter(|_| !same);
            others.extend(parent.map(|parent| parent.object.clone()));
        }
        others
    }

    fn extents(&self, place: usize) -> Option<Rect> {
        self.reading.facts.get(place).and_then(|fact| fact.extents)
    }

    async fn ask_states(
        &self,
        link: &Rc<BusConnection>,
        places: &[usize],
        pace: &BusDeadline,
    ) -> Vec<Option<States>> {
        let steps = places.iter().filter_map(|place| self.reading.order.get(*place));
        let asks = steps.map(|step| (step.object.clone(), BusRequest::Call(ACCESSIBLE, "GetState")));
        let answers = link.ask_all(asks.collect(), pace).await;
        answers.iter().map(|answer| answer.as_ref().map(states_of).ok()).collect()
    }
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
    node.description = node.description.take().and(description.as_ref().ok().and_then(text));
    !node.states.has(State::Defunct)
}

fn unlist(nodes: &mut Nodes, object: &AtspiObject) {
    if let Some(node) = nodes.get_mut(object) {
        node.kids = Kids::Unlisted(walk::UNCOUNTED);
    }
}

fn add_subtree(nodes: &Nodes, top: &AtspiObject, changed: &mut HashMap<AtspiObject, Marked>) {
    let mut open = vec![top.clone()];
    while let Some(object) = open.pop() {
        let Some(AtspiNode { kids: Kids::Known(kids), .. }) = nodes.get(&object) else {
            continue;
        };
        for kid in kids.iter().filter(|kid| nodes.contains_key(kid)) {
            if changed.len() > MOST_MARKED {
                return;
            }
            if changed.insert(kid.clone(), Marked { children: true, subtree: true }).is_none() {
                open.push(kid.clone());
            }
        }
    }
}

/// Toolkits tell who got the focus or the selection, and not always who lost it.
fn is_passed_on(node: &AtspiNode) -> bool {
    [State::Focused, State::Selected, State::Armed, State::Active].iter().any(|state| node.states.has(*state))
}

fn is_untold(question: NodeQuestion) -> bool {
    matches!(question, NodeQuestion::Extents | NodeQuestion::Now | NodeQuestion::Characters)
}

/// Which nodes are to be seen: they show, and lie in what clips them.
fn visible_places(reading: &FrameReading) -> Vec<bool> {
    let mut visible = Vec::with_capacity(reading.order.len());
    let mut clips: Vec<Option<Rect>> = Vec::with_capacity(reading.order.len());
    for (step, fact) in reading.order.iter().zip(&reading.facts) {
        let clip = match step.parent {
            Some(parent) => clips.get(parent).copied().flatten(),
            None => fact.extents,
        };
        let own = fact.extents.filter(|own| !own.is_empty() && fact.shows);
        visible.push(own.is_some_and(|own| clip.is_none_or(|clip| clip.intersects(&own))));
        clips.push(match own.filter(|_| is_clipping(reading, step)) {
            Some(own) => Some(clip.map_or(own, |clip| clip.intersection(&own).unwrap_or_default())),
            None => clip,
        });
    }
    visible
}

fn is_clipping(reading: &FrameReading, step: &CaptureStep) -> bool {
    reading.nodes.get(&step.object).is_some_and(|node| roles::is_one_of(node.role, roles::CLIPPING))
}

/// Some of the nodes that are not to be seen, of each node that is.
fn sampled_places(reading: &FrameReading, visible: &[bool]) -> Vec<usize> {
    let mut hidden: HashMap<usize, Vec<usize>> = HashMap::new();
    for (place, step) in reading.order.iter().enumerate() {
        let parent = step.parent.filter(|parent| visible.get(*parent).copied().unwrap_or(false));
        if let (Some(parent), Some(false)) = (parent, visible.get(place)) {
            hidden.entry(parent).or_default().push(place);
        }
    }
    let mut samples: Vec<usize> = hidden.values().flat_map(|family| evenly_spread(family)).collect();
    samples.sort_unstable();
    samples
}

/// The first, the last, and some between.
fn evenly_spread(family: &[usize]) -> Vec<usize> {
    if family.len() <= SAMPLES {
        return family.to_vec();
    }
    let last = family.len() - 1;
    (0..SAMPLES).filter_map(|step| family.get(step * last / (SAMPLES - 1)).copied()).collect()
}

#[cfg(test)]
mod tests;
