//! Who has other children than it had, or is called otherwise in a closed menu, although nobody said so.
//!
//! An event of a child that came is no more than a courtesy: Qt (5 and 6) sends none for a widget that a program makes at
//! run time, GTK4, Swing and LibreOffice leave out many. So the lists of what is to be seen are asked at every look, and
//! an event of an object that nobody listed has whoever holds it list its children anew.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use atspi::Role;

use super::super::bus::{
    BusConnection, BusDeadline, BusReply, BusRequest, read_number, read_object, read_objects, text,
};
use super::super::cache::{AtspiNode, Kids, Nodes};
use super::super::capture::{CaptureStep, FrameReading};
use super::super::find::{AtspiFrame, Toolkit, states_of};
use super::super::object::{ACCESSIBLE, AtspiObject};
use super::super::{roles, walk};
use super::places::visible_places;
use super::{Marked, Marks, add_mark, add_subtree};
use crate::config::limits::TREE_DEPTH;

/// Longer lists are counted: that one of them was replaced and nobody said so is rare, and they cost much to ask for.
const LONG: usize = 64;

/// Have no elements in them, as long as nothing else is known.
const CHILDLESS: &[Role] = &[
    Role::Button,
    Role::CheckBox,
    Role::CheckMenuItem,
    Role::Entry,
    Role::Icon,
    Role::Image,
    Role::Label,
    Role::Link,
    Role::MenuItem,
    Role::PasswordText,
    Role::ProgressBar,
    Role::RadioButton,
    Role::RadioMenuItem,
    Role::Separator,
    Role::Slider,
    Role::SpinButton,
    Role::Static,
    Role::TableCell,
    Role::TableColumnHeader,
    Role::TableRowHeader,
    Role::ToggleButton,
];

const ENTRIES: &[Role] = &[Role::MenuItem, Role::CheckMenuItem, Role::RadioMenuItem, Role::Menu];

/// What has to be asked anew because of lists: whose children are others, and what came to them from elsewhere.
pub async fn unlike_lists(
    link: &Rc<BusConnection>,
    frame: &AtspiFrame,
    reading: &FrameReading,
    pace: &BusDeadline,
) -> HashMap<AtspiObject, Marked> {
    let steps = reading.order.iter().zip(visible_places(reading)).filter(|(_, visible)| *visible);
    let asked: Vec<(&CaptureStep, ListQuestion)> = steps
        .filter_map(|(step, _)| Some((step, ListQuestion::of(reading.nodes.get(&step.object)?, frame)?)))
        .collect();
    let asks = asked.iter().map(|(step, question)| (step.object.clone(), question.request()));
    let answers = link.ask_all(asks.collect(), pace).await;
    tracing::trace!(asked = asked.len(), window = %frame.name, "lists were asked for");
    let mut changed = HashMap::new();
    for ((step, question), answer) in asked.iter().zip(answers) {
        let Some(strange) = question.unlike(&answer) else { continue };
        add_mark(&mut changed, &step.object, Marked::CHILDREN);
        for child in strange.into_iter().filter(|child| reading.nodes.contains_key(child)) {
            add_subtree(&reading.nodes, &child, Marked::default(), &mut changed);
            add_mark(&mut changed, &child, Marked::default());
        }
    }
    changed
}

/// A list that a node is asked for, as it is known.
enum ListQuestion<'a> {
    Children(Vec<&'a AtspiObject>),
    Count(usize),
}

impl<'a> ListQuestion<'a> {
    /// Nothing for who has no list: a block of a table, a leaf.
    fn of(node: &'a AtspiNode, frame: &AtspiFrame) -> Option<Self> {
        let Kids::Known(kids) = &node.kids else { return None };
        let is_leaf = kids.is_empty() && roles::is_one_of(node.role, CHILDLESS);
        if is_leaf || node.native.is_some() || node.is_in_part {
            return None;
        }
        // Menus beside the window are listed with it, and not by it.
        let own: Vec<&AtspiObject> = kids.iter().filter(|kid| !frame.popups.contains(kid)).collect();
        let is_long = own.len() > LONG || roles::is_one_of(node.role, walk::PERHAPS_ENDLESS);
        Some(if is_long { Self::Count(own.len()) } else { Self::Children(own) })
    }

    fn request(&self) -> BusRequest {
        match self {
            Self::Children(_) => BusRequest::Call(ACCESSIBLE, "GetChildren"),
            Self::Count(_) => BusRequest::Get(ACCESSIBLE, "ChildCount"),
        }
    }

    /// Who is in the list now and was not, if it is another list. Who does not answer has gone, which others tell.
    fn unlike(&self, answer: &BusReply) -> Option<Vec<AtspiObject>> {
        let reply = answer.as_ref().ok()?;
        match self {
            Self::Children(known) => {
                let listed = read_objects(reply);
                let is_same = listed.iter().eq(known.iter().copied());
                let known: HashSet<&AtspiObject> = known.iter().copied().collect();
                (!is_same).then(|| listed.into_iter().filter(|child| !known.contains(child)).collect())
            }
            Self::Count(known) => {
                let count = read_number(reply)?;
                (count != *known as f64).then(Vec::new)
            }
        }
    }
}

/// Entries of closed menus that are not what they were. Qt tells nothing of them, whether their names or their states
/// change.
pub async fn unlike_entries(
    link: &Rc<BusConnection>,
    frame: &AtspiFrame,
    reading: &FrameReading,
    pace: &BusDeadline,
) -> HashMap<AtspiObject, Marked> {
    if frame.toolkit != Toolkit::Qt {
        return HashMap::new();
    }
    let visible = visible_places(reading);
    let closed = reading.order.iter().zip(visible).filter(|(_, visible)| !visible).map(|(step, _)| step);
    let entries: Vec<(&AtspiObject, &AtspiNode)> = closed
        .filter_map(|step| Some((&step.object, reading.nodes.get(&step.object)?)))
        .filter(|(_, node)| roles::is_one_of(node.role, ENTRIES))
        .collect();
    let questions = [BusRequest::Get(ACCESSIBLE, "Name"), BusRequest::Call(ACCESSIBLE, "GetState")];
    let asks =
        entries.iter().flat_map(|(object, _)| questions.iter().map(|ask| ((*object).clone(), ask.clone())));
    let answers = link.ask_all(asks.collect(), pace).await;
    let answers = answers.chunks(questions.len());
    let others = entries.iter().zip(answers).filter(|((_, node), answers)| is_other_entry(node, answers));
    others.map(|((object, _), _)| ((*object).clone(), Marked::default())).collect()
}

fn is_other_entry(node: &AtspiNode, answers: &[BusReply]) -> bool {
    let [name, states] = answers else { return true };
    let name = name.as_ref().ok().and_then(text).unwrap_or_default();
    name != node.name || states.as_ref().map(states_of).ok() != Some(node.states)
}

/// Who told of something and is listed by nobody.
pub fn strangers(nodes: &Nodes, bus: &Rc<str>, marks: &Marks) -> Vec<AtspiObject> {
    let told = marks.nodes.keys().map(|path| AtspiObject { bus: bus.clone(), path: path.clone() });
    told.filter(|object| !nodes.contains_key(object)).collect()
}

/// Who holds the strangers that nobody lists even now, with all above them: a part of the window has come that nobody told
/// of, or is not put away any more.
pub async fn holders_of_strangers(
    link: &Rc<BusConnection>,
    reading: &FrameReading,
    strangers: Vec<AtspiObject>,
    pace: &BusDeadline,
) -> HashMap<AtspiObject, Marked> {
    let nodes = &reading.nodes;
    let mut open: Vec<AtspiObject> =
        strangers.into_iter().filter(|object| !nodes.contains_key(object)).collect();
    let mut seen: HashSet<AtspiObject> = open.iter().cloned().collect();
    let mut holders = HashMap::new();
    for _ in 0..TREE_DEPTH {
        if open.is_empty() {
            break;
        }
        let asks = open.drain(..).map(|object| (object, BusRequest::Get(ACCESSIBLE, "Parent")));
        let answers = link.ask_all(asks.collect(), pace).await;
        for parent in answers.iter().filter_map(|answer| read_object(answer.as_ref().ok()?)) {
            if is_holder(nodes, &parent) {
                holders.insert(parent, Marked::CHILDREN);
            } else if !nodes.contains_key(&parent) && seen.insert(parent.clone()) {
                open.push(parent);
            }
        }
    }
    add_ancestors(reading, &mut holders);
    holders
}

/// The block of a table is asked anyway.
fn is_holder(nodes: &Nodes, object: &AtspiObject) -> bool {
    nodes.get(object).is_some_and(|node| !node.is_in_part && node.native.is_none())
}

/// Whether something shows is said by all that it is in.
fn add_ancestors(reading: &FrameReading, holders: &mut HashMap<AtspiObject, Marked>) {
    for place in (0..reading.order.len()).rev() {
        let Some(step) = reading.order.get(place).filter(|step| holders.contains_key(&step.object)) else {
            continue;
        };
        if let Some(parent) = step.parent.and_then(|parent| reading.order.get(parent)) {
            holders.entry(parent.object.clone()).or_default();
        }
    }
}

pub fn are_relisted(changed: &HashMap<AtspiObject, Marked>) -> bool {
    changed.values().any(|marked| marked.children)
}

/// Those of which two list the same object.
pub fn listers_of_the_same(nodes: &Nodes) -> HashMap<AtspiObject, Marked> {
    let mut listers: HashMap<&AtspiObject, &AtspiObject> = HashMap::new();
    let mut found = HashMap::new();
    for (lister, node) in nodes {
        let Kids::Known(kids) = &node.kids else { continue };
        for kid in kids {
            if let Some(other) = listers.insert(kid, lister).filter(|other| *other != lister) {
                found.insert(other.clone(), Marked::CHILDREN);
                found.insert(lister.clone(), Marked::CHILDREN);
            }
        }
    }
    found
}
