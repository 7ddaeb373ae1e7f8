//! What the cache does not have, read object by object, a whole level of the tree at a time.
//!
//! It always ends, whatever the application answers: an object is visited once, depth and number are bounded,
//! and a node that claims to have a million children is asked for the first few thousand of them. Containers that
//! do not show, such as the hidden pages of a program, are not walked.

use std::collections::HashMap;
use std::rc::Rc;

use atspi::Role;
use zbus::Message;
use zbus::zvariant::Value;

use super::bus::{
    BusConnection, BusDeadline, BusReply, BusRequest, is_silent, read_number, read_objects, text,
};
use super::cache::{AtspiNode, Kids, Nodes};
use super::find::{AtspiFrame, Toolkit, states_of};
use super::object::{ACCESSIBLE, AtspiObject, Interfaces};
use super::{roles, table};
use crate::config::limits::{TREE_CHILDREN_OF_ONE_NODE, TREE_DEPTH, TREE_NODES};

/// What makes a node, in this order. Its interfaces are not asked for: an interface that is not there says so
/// when it is needed, and it is needed for few nodes.
const QUESTIONS: &[BusRequest] = &[
    BusRequest::Get(ACCESSIBLE, "Name"),
    BusRequest::Call(ACCESSIBLE, "GetRole"),
    BusRequest::Call(ACCESSIBLE, "GetState"),
];

/// The same of Firefox, which has no cache and tells all properties at once: who has no children is not asked for them.
const QUESTIONS_TO_GECKO: &[BusRequest] = &[
    BusRequest::GetAll(ACCESSIBLE),
    BusRequest::Call(ACCESSIBLE, "GetRole"),
    BusRequest::Call(ACCESSIBLE, "GetState"),
];

fn questions_to(toolkit: Toolkit) -> &'static [BusRequest] {
    if toolkit == Toolkit::Gecko { QUESTIONS_TO_GECKO } else { QUESTIONS }
}

/// May have so many children that a list of them is too much to ask for.
pub const PERHAPS_ENDLESS: &[Role] =
    &[Role::Table, Role::Tree, Role::TreeTable, Role::List, Role::ListBox, Role::DocumentSpreadsheet];

/// Tell what is at a place, so that only what shows of them is asked for when it is too much.
const TABLES: &[Role] = &[Role::Table, Role::TreeTable];

/// Text in a page is a leaf, and half of what a page consists of.
const LEAVES: &[Role] = &[Role::Static];

/// How many children there are is not known.
pub const UNCOUNTED: i32 = -1;

/// Fills `nodes` with everything below a window and the menus beside it, which are made its last children.
pub async fn walk_frame(
    link: &Rc<BusConnection>,
    frame: &AtspiFrame,
    nodes: &mut Nodes,
    pace: &BusDeadline,
) -> bool {
    let mut whole = true;
    for root in std::iter::once(&frame.object).chain(&frame.popups) {
        let walk = WalkQuestions { link, toolkit: frame.toolkit, pace };
        whole &= walk.fill_below(vec![(root.clone(), None)], nodes, |_, _| true).await;
    }
    list_popups(frame, nodes);
    whole
}

/// The same in a window that was walked before: only below those that have not listed their children, which are told with
/// the role of what holds them, and in the menus that came.
pub async fn walk_unlisted(
    link: &Rc<BusConnection>,
    frame: &AtspiFrame,
    unlisted: Vec<(AtspiObject, Option<u32>)>,
    nodes: &mut Nodes,
    pace: &BusDeadline,
) -> bool {
    let popups = frame.popups.iter().filter(|popup| !nodes.contains_key(popup));
    let starts = unlisted.into_iter().chain(popups.map(|popup| (popup.clone(), None)));
    let starts: Vec<(AtspiObject, Option<u32>)> = starts.collect();
    let is_unlisted = |object: &AtspiObject, nodes: &Nodes| {
        nodes.get(object).is_some_and(|node| matches!(node.kids, Kids::Unlisted(_)))
    };
    let walk = WalkQuestions { link, toolkit: frame.toolkit, pace };
    let whole = walk.fill_below(starts, nodes, is_unlisted).await;
    list_popups(frame, nodes);
    whole
}

fn list_popups(frame: &AtspiFrame, nodes: &mut Nodes) {
    if let Some(AtspiNode { kids: Kids::Known(kids), .. }) = nodes.get_mut(&frame.object) {
        for popup in &frame.popups {
            if !kids.contains(popup) {
                kids.push(popup.clone());
            }
        }
    }
}

/// Who is asked in a walk, and how.
struct WalkQuestions<'a> {
    link: &'a Rc<BusConnection>,
    toolkit: Toolkit,
    pace: &'a BusDeadline,
}

impl WalkQuestions<'_> {
    /// Fills `nodes` with everything below these, as far as it leads on. False when something is missing: a limit was
    /// met, or the application did not answer in time.
    async fn fill_below(
        &self,
        starts: Vec<(AtspiObject, Option<u32>)>,
        nodes: &mut Nodes,
        leads_on: impl Fn(&AtspiObject, &Nodes) -> bool,
    ) -> bool {
        let (link, pace, questions) = (self.link, self.pace, questions_to(self.toolkit));
        let mut whole = true;
        let mut level: Vec<AtspiObject> = starts.iter().map(|(object, _)| object.clone()).collect();
        let mut seen: SeenObjects = starts.into_iter().collect();
        for _ in 0..=TREE_DEPTH {
            if level.is_empty() {
                return whole;
            }
            whole &= learn_objects(link, &level, questions, nodes, pace).await;
            put_away(&mut level, nodes, &seen);
            level.retain(|object| leads_on(object, nodes));
            whole &= list_children(link, &level, nodes, pace).await;
            let next = next_level(&level, nodes, &mut seen);
            whole &= next.is_ok();
            level = next.unwrap_or_else(|cut| cut);
        }
        false
    }
}

/// Whatever the walk has come to, with the role of what holds it.
type SeenObjects = HashMap<AtspiObject, Option<u32>>;

/// Takes what is put away off the level, and leaves it without children. The root always shows.
fn put_away(level: &mut Vec<AtspiObject>, nodes: &mut Nodes, seen: &SeenObjects) {
    level.retain(|object| {
        let (Some(node), Some(parent)) = (nodes.get_mut(object), seen.get(object).copied().flatten()) else {
            return true;
        };
        let away = roles::is_put_away(node.role, node.states, Some(parent));
        if away {
            node.kids = Kids::default();
        }
        !away
    });
}

/// The children that nobody has seen yet; the part that is allowed when they are too many.
fn next_level(
    level: &[AtspiObject],
    nodes: &Nodes,
    seen: &mut SeenObjects,
) -> Result<Vec<AtspiObject>, Vec<AtspiObject>> {
    let mut next = Vec::new();
    for parent in level {
        let Some(AtspiNode { kids: Kids::Known(kids), role, .. }) = nodes.get(parent) else {
            continue;
        };
        for kid in kids {
            if seen.len() >= TREE_NODES {
                return Err(next);
            }
            if !seen.contains_key(kid) {
                seen.insert(kid.clone(), Some(*role));
                next.push(kid.clone());
            }
        }
    }
    Ok(next)
}

/// Asks what the unknown objects of a level are. One that refuses has gone meanwhile and is left out.
async fn learn_objects(
    link: &Rc<BusConnection>,
    level: &[AtspiObject],
    questions: &'static [BusRequest],
    nodes: &mut Nodes,
    pace: &BusDeadline,
) -> bool {
    let unknown: Vec<&AtspiObject> = level.iter().filter(|object| !nodes.contains_key(object)).collect();
    let mut asks = Vec::with_capacity(unknown.len() * questions.len());
    for object in &unknown {
        asks.extend(questions.iter().map(|ask| ((*object).clone(), ask.clone())));
    }
    let answers = link.ask_all(asks, pace).await;
    let mut whole = true;
    for (object, answers) in unknown.into_iter().zip(answers.chunks(questions.len())) {
        whole &= !answers.iter().any(is_silent);
        if let Some(node) = node_of(answers) {
            nodes.insert(object.clone(), node);
        }
    }
    whole
}

/// An object that tells its role and its states is there, whatever else it does not say.
fn node_of(answers: &[BusReply]) -> Option<AtspiNode> {
    let [told, role, states] = answers else {
        return None;
    };
    let role = role.as_ref().ok()?.body().deserialize().ok()?;
    let told = told.as_ref().map(ToldProperties::read_told).unwrap_or_default();
    Some(AtspiNode {
        role,
        states: states_of(states.as_ref().ok()?),
        faces: Interfaces::perhaps_all(),
        name: told.name,
        description: None,
        kids: first_kids(role, told.children),
        native: None,
        is_in_part: false,
    })
}

fn first_kids(role: u32, count: Option<i32>) -> Kids {
    let is_childless = count == Some(0) || roles::is_one_of(role, LEAVES);
    if is_childless { Kids::default() } else { Kids::Unlisted(count.unwrap_or(UNCOUNTED)) }
}

/// What an object says of itself: its name, or all of its properties.
#[derive(Debug, Default, PartialEq)]
struct ToldProperties {
    name: String,
    children: Option<i32>,
}

impl ToldProperties {
    fn read_told(reply: &Message) -> Self {
        let body = reply.body();
        let Ok(all) = body.deserialize::<HashMap<&str, Value<'_>>>() else {
            return Self { name: text(reply).unwrap_or_default(), ..Self::default() };
        };
        let name = match all.get("Name") {
            Some(Value::Str(name)) => name.as_str().to_owned(),
            _ => String::new(),
        };
        let children = match all.get("ChildCount") {
            Some(Value::I32(count)) => Some(*count),
            _ => None,
        };
        Self { name, children }
    }
}

/// Counts the children of those who may have very many, before anybody asks for all of them.
async fn count(
    link: &Rc<BusConnection>,
    level: &[AtspiObject],
    nodes: &mut Nodes,
    pace: &BusDeadline,
) -> bool {
    let is_uncounted = |object: &&AtspiObject| {
        nodes.get(object).is_some_and(|node| {
            node.kids == Kids::Unlisted(UNCOUNTED) && roles::is_one_of(node.role, PERHAPS_ENDLESS)
        })
    };
    let parents: Vec<&AtspiObject> = level.iter().filter(is_uncounted).collect();
    let asks = parents.iter().map(|parent| ((*parent).clone(), BusRequest::Get(ACCESSIBLE, "ChildCount")));
    let answers = link.ask_all(asks.collect(), pace).await;
    let mut whole = true;
    for (parent, answer) in parents.into_iter().zip(answers) {
        whole &= !is_silent(&answer);
        if let (Some(node), Some(count)) = (nodes.get_mut(parent), answer.ok().as_ref().and_then(read_number))
        {
            node.kids = Kids::Unlisted(count as i32);
        }
    }
    whole
}

/// Asks for the children of those who have not listed them.
async fn list_children(
    link: &Rc<BusConnection>,
    level: &[AtspiObject],
    nodes: &mut Nodes,
    pace: &BusDeadline,
) -> bool {
    let most = i32::try_from(TREE_CHILDREN_OF_ONE_NODE).unwrap_or(i32::MAX);
    let mut whole = count(link, level, nodes, pace).await;
    list_visible_cells(link, level, nodes, pace).await;
    let mut parents = Vec::new();
    let mut asks = Vec::new();
    for object in level {
        match nodes.get(object).map(|node| &node.kids) {
            Some(Kids::Unlisted(count)) if *count > most => {
                whole = false;
                for index in 0..most {
                    parents.push(object.clone());
                    asks.push((object.clone(), BusRequest::WithIndex(ACCESSIBLE, "GetChildAtIndex", index)));
                }
            }
            Some(Kids::Unlisted(_)) => {
                parents.push(object.clone());
                asks.push((object.clone(), BusRequest::Call(ACCESSIBLE, "GetChildren")));
            }
            _ => {}
        }
    }
    let answers = link.ask_all(asks, pace).await;
    for (parent, answer) in parents.iter().zip(answers) {
        whole &= !is_silent(&answer);
        let kids = answer.map(|reply| read_objects(&reply)).unwrap_or_default();
        whole &= add_kids(nodes, parent, kids);
    }
    whole
}

/// Of tables with too many cells, those that show; they are leaves, and known by their places.
async fn list_visible_cells(
    link: &Rc<BusConnection>,
    level: &[AtspiObject],
    nodes: &mut Nodes,
    pace: &BusDeadline,
) {
    for object in level {
        let is_large = nodes.get(object).is_some_and(|node| {
            let most = i32::try_from(TREE_CHILDREN_OF_ONE_NODE).unwrap_or(i32::MAX);
            roles::is_one_of(node.role, TABLES) && matches!(node.kids, Kids::Unlisted(count) if count > most)
        });
        if !is_large {
            continue;
        }
        let Some(cells) = table::read_visible_cells(link, object, pace).await else { continue };
        let kids: Vec<AtspiObject> = cells.iter().map(|cell| cell.object.clone()).collect();
        learn_objects(link, &kids, QUESTIONS, nodes, pace).await;
        for cell in &cells {
            if let Some(node) = nodes.get_mut(&cell.object) {
                node.kids = Kids::default();
                node.native = Some(cell.address.native());
            }
        }
        if let Some(node) = nodes.get_mut(object) {
            node.kids = Kids::Known(kids);
            node.is_in_part = true;
        }
    }
}

/// False when there were more than a node may have.
fn add_kids(nodes: &mut Nodes, parent: &AtspiObject, kids: Vec<AtspiObject>) -> bool {
    let Some(node) = nodes.get_mut(parent) else {
        return true;
    };
    if matches!(node.kids, Kids::Unlisted(_)) {
        node.kids = Kids::default();
    }
    let Kids::Known(list) = &mut node.kids else {
        return true;
    };
    let room = TREE_CHILDREN_OF_ONE_NODE.saturating_sub(list.len());
    let fits = kids.len() <= room;
    list.extend(kids.into_iter().take(room));
    fits
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(number: usize) -> AtspiObject {
        AtspiObject::new(":1.1", &format!("/{number}"))
    }

    fn with_kids(kids: &[usize]) -> AtspiNode {
        AtspiNode { kids: Kids::Known(kids.iter().map(|&kid| object(kid)).collect()), ..AtspiNode::default() }
    }

    /// H-46 on code: a cycle.
    #[test]
    fn a_tree_that_bites_its_tail_ends() {
        let nodes: Nodes = [(object(0), with_kids(&[1, 0])), (object(1), with_kids(&[0, 2]))].into();
        let mut seen = SeenObjects::from([(object(0), None)]);
        let first = next_level(&[object(0)], &nodes, &mut seen).unwrap();
        assert_eq!(first, [object(1)]);
        let second = next_level(&first, &nodes, &mut seen).unwrap();
        assert_eq!(second, [object(2)]);
        assert_eq!(next_level(&second, &nodes, &mut seen).unwrap(), []);
    }

    /// H-46 on code: too many nodes.
    #[test]
    fn too_many_nodes_are_cut() {
        let many: Vec<usize> = (1..=TREE_NODES + 5).collect();
        let nodes: Nodes = [(object(0), with_kids(&many))].into();
        let mut seen = SeenObjects::from([(object(0), None)]);
        let cut = next_level(&[object(0)], &nodes, &mut seen).unwrap_err();
        assert_eq!(cut.len(), TREE_NODES - 1);
    }

    fn with_role(role: Role, kids: &[usize]) -> AtspiNode {
        AtspiNode { role: role as u32, ..with_kids(kids) }
    }

    #[test]
    fn what_is_put_away_is_not_walked() {
        let mut nodes: Nodes = [
            (object(0), with_role(Role::Frame, &[1, 2])),
            (object(1), with_role(Role::SplitPane, &[3])),
            (object(2), with_role(Role::MenuBar, &[4])),
        ]
        .into();
        let mut seen = SeenObjects::from([(object(0), None)]);
        let mut level = vec![object(0)];
        for expected in [[1, 2].as_slice(), &[4]] {
            put_away(&mut level, &mut nodes, &seen);
            level = next_level(&level, &nodes, &mut seen).unwrap();
            assert_eq!(level, expected.iter().map(|&at| object(at)).collect::<Vec<_>>());
        }
        assert_eq!(nodes[&object(1)].kids, Kids::default());
    }

    fn told(properties: &[(&str, Value<'_>)]) -> ToldProperties {
        let all: HashMap<&str, &Value<'_>> = properties.iter().map(|(name, value)| (*name, value)).collect();
        ToldProperties::read_told(&Message::signal("/x", "a.b", "C").unwrap().build(&all).unwrap())
    }

    #[test]
    fn an_object_tells_its_name_or_all_of_its_properties() {
        let check = |told: ToldProperties, name: &str, children: Option<i32>| {
            assert_eq!(told, ToldProperties { name: name.to_owned(), children });
        };
        check(told(&[("Name", "Ship".into()), ("ChildCount", 0.into())]), "Ship", Some(0));
        check(told(&[("Name", 7.into()), ("ChildCount", "many".into())]), "", None);
        check(told(&[]), "", None);
        let alone = Message::signal("/x", "a.b", "C").unwrap().build(&Value::from("Ship")).unwrap();
        check(ToldProperties::read_told(&alone), "Ship", None);
    }

    /// H-46 on code: too many children, or so it says.
    #[test]
    fn too_many_children_are_cut() {
        let mut nodes: Nodes =
            [(object(0), AtspiNode { kids: Kids::Unlisted(9), ..AtspiNode::default() })].into();
        assert!(add_kids(&mut nodes, &object(0), vec![object(1)]));
        let many: Vec<AtspiObject> = (0..TREE_CHILDREN_OF_ONE_NODE).map(object).collect();
        assert!(!add_kids(&mut nodes, &object(0), many));
        let Kids::Known(kids) = &nodes[&object(0)].kids else { panic!("not listed") };
        assert_eq!(kids.len(), TREE_CHILDREN_OF_ONE_NODE);
    }
}
