//! What an application says of all its objects at once (`Cache.GetItems`), and what of that can be trusted.
//!
//! A toolkit's cache may lack nodes: GTK3 leaves out the cells of tables, a fresh GTK4 knows ten objects. So a
//! list of children counts only if it is as long as the parent says, without a gap; the others are asked for.

use std::collections::HashMap;
use std::rc::Rc;

use atspi::State;
use zbus::Message;
use zbus::zvariant::ObjectPath;

use super::object::{AtspiObject, Interfaces, States};

/// One object, without its place in the tree.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AtspiNode {
    pub role: u32,
    pub states: States,
    pub faces: Interfaces,
    pub name: String,
    /// Not known yet where the object was asked piece by piece.
    pub description: Option<String>,
    pub kids: Kids,
    /// What leads to it again where its object does not: its place in a table.
    pub native: Option<String>,
    /// Its children are those of the block that shows, and others when it is scrolled.
    pub is_in_part: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Kids {
    Known(Vec<AtspiObject>),
    /// They must be asked for; so many were promised.
    Unlisted(i32),
}

impl Default for Kids {
    fn default() -> Self {
        Kids::Known(Vec::new())
    }
}

pub type Nodes = HashMap<AtspiObject, AtspiNode>;

/// An object as a cache lists it, and where it says that it belongs.
#[derive(Clone, Debug)]
pub struct CacheItem {
    pub object: AtspiObject,
    pub parent: AtspiObject,
    pub index: i32,
    pub node: AtspiNode,
}

type ObjectReference<'a> = (&'a str, ObjectPath<'a>);
/// Object, application, parent, index, number of children, interfaces, name, role, description, states.
type New<'a> = (
    ObjectReference<'a>,
    ObjectReference<'a>,
    ObjectReference<'a>,
    i32,
    i32,
    Vec<&'a str>,
    &'a str,
    u32,
    &'a str,
    Vec<u32>,
);
/// The older form lists the children instead of counting them.
type Old<'a> = (
    ObjectReference<'a>,
    ObjectReference<'a>,
    ObjectReference<'a>,
    Vec<ObjectReference<'a>>,
    Vec<&'a str>,
    &'a str,
    u32,
    &'a str,
    Vec<u32>,
);

/// The items of a reply, in whichever of the two forms its signature says; nothing for any other.
pub fn read_items(reply: &Message, bus: &Rc<str>) -> Vec<CacheItem> {
    let body = reply.body();
    let signature = body.signature().to_string();
    let own = |(name, path): &ObjectReference| AtspiObject {
        bus: if *name == &**bus { bus.clone() } else { (*name).into() },
        path: path.as_str().into(),
    };
    if signature.contains("a((so)(so)(so)ii") {
        let list: Vec<New> = body.deserialize().unwrap_or_default();
        list.iter().map(|item| new_item(item, own)).collect()
    } else {
        let list: Vec<Old> = body.deserialize().unwrap_or_default();
        list.iter().map(|item| old_item(item, own)).collect()
    }
}

fn new_item(item: &New, own: impl Fn(&ObjectReference) -> AtspiObject) -> CacheItem {
    let (object, _, parent, index, count, interfaces, name, role, description, states) = item;
    let node = AtspiNode {
        role: *role,
        states: States::from_words(states),
        faces: Interfaces::of(interfaces.iter().copied()),
        name: (*name).to_owned(),
        description: Some((*description).to_owned()),
        kids: Kids::Unlisted(*count),
        native: None,
        is_in_part: false,
    };
    CacheItem { object: own(object), parent: own(parent), index: *index, node }
}

fn old_item(item: &Old, own: impl Fn(&ObjectReference) -> AtspiObject) -> CacheItem {
    let (object, _, parent, children, interfaces, name, role, description, states) = item;
    let states = States::from_words(states);
    let listed: Vec<AtspiObject> = children.iter().map(&own).filter(|child| !child.is_null()).collect();
    let node = AtspiNode {
        role: *role,
        states,
        faces: Interfaces::of(interfaces.iter().copied()),
        name: (*name).to_owned(),
        description: Some((*description).to_owned()),
        // Who manages its descendants lists none of them.
        kids: match states.has(State::ManagesDescendants) && listed.is_empty() {
            true => Kids::Unlisted(-1),
            false => Kids::Known(listed),
        },
        native: None,
        is_in_part: false,
    };
    CacheItem { object: own(object), parent: own(parent), index: -1, node }
}

/// The items as nodes, with the children of those whose lists are whole.
pub fn build_nodes(items: Vec<CacheItem>) -> Nodes {
    let mut families: HashMap<AtspiObject, Vec<(i32, AtspiObject)>> = HashMap::new();
    for item in items.iter().filter(|item| item.index >= 0) {
        families.entry(item.parent.clone()).or_default().push((item.index, item.object.clone()));
    }
    let mut nodes = Nodes::with_capacity(items.len());
    for mut item in items {
        if let Kids::Unlisted(count) = item.node.kids {
            let family = families.remove(&item.object).unwrap_or_default();
            if let Some(kids) = whole_family(family, count) {
                item.node.kids = Kids::Known(kids);
            }
        }
        nodes.insert(item.object, item.node);
    }
    nodes
}

/// The children in their order, if there are as many as promised and every place is taken once.
fn whole_family(mut family: Vec<(i32, AtspiObject)>, count: i32) -> Option<Vec<AtspiObject>> {
    family.sort_by_key(|(index, _)| *index);
    let whole = i32::try_from(family.len()) == Ok(count)
        && family.iter().zip(0..).all(|((index, _), place)| *index == place);
    whole.then(|| family.into_iter().map(|(_, object)| object).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(path: &str) -> AtspiObject {
        AtspiObject::new(":1.1", path)
    }

    fn item(path: &str, parent: &str, index: i32, count: i32) -> CacheItem {
        let node = AtspiNode { kids: Kids::Unlisted(count), ..AtspiNode::default() };
        CacheItem { object: object(path), parent: object(parent), index, node }
    }

    /// The children of `/root` among these: path, index.
    fn check(count: i32, children: &[(&str, i32)], expected: Option<&[&str]>) {
        let root = item("/root", "/app", 0, count);
        let items = children.iter().map(|(path, index)| item(path, "/root", *index, 0));
        let nodes = build_nodes(std::iter::once(root).chain(items).collect());
        let expected = match expected {
            Some(paths) => Kids::Known(paths.iter().map(|path| object(path)).collect()),
            None => Kids::Unlisted(count),
        };
        assert_eq!(nodes[&object("/root")].kids, expected, "{count} {children:?}");
    }

    #[test]
    fn a_whole_family_stands_in_its_order() {
        check(0, &[], Some(&[]));
        check(2, &[("/b", 1), ("/a", 0)], Some(&["/a", "/b"]));
    }

    #[test]
    fn a_family_with_a_gap_is_asked_for() {
        check(3, &[("/a", 0), ("/b", 1)], None);
        check(1, &[("/a", 0), ("/b", 1)], None);
        check(2, &[("/a", 0), ("/b", 0)], None);
        check(2, &[("/a", 0), ("/b", 2)], None);
        check(-1, &[], None);
        check(1, &[("/a", -1)], None);
    }
}
