//! A tree as the contract's JSON: cut by depth, filtered, paged, written without copying a node.

use std::sync::Arc;

use serde::ser::{Serialize, SerializeSeq, SerializeStruct, Serializer};

use super::View;
use crate::error::{Error, Kind, Result};
use crate::model::{Element, Rect, Role, Tree};
use crate::pattern::{Effort, Pattern};

/// What a caller wants to see of a tree.
#[derive(Debug, Default)]
pub struct StructureRequest {
    pub depth: usize,
    pub scope: Option<String>,
    pub roles: Vec<Role>,
    pub exclude_roles: Vec<Role>,
    pub name_regex: Option<Pattern>,
    /// The visible parts of the window, when only what meets them counts.
    pub visible_in: Option<Vec<Rect>>,
    pub max_text_len: Option<usize>,
    pub prune_empty: bool,
    pub max_nodes: Option<usize>,
    pub page_cursor: Option<String>,
}

/// The chosen part of a view, ready to be written.
#[derive(Debug)]
pub struct Structure {
    view: Arc<View>,
    shape: StructureShape,
    pub scope: usize,
    pub node_count: usize,
    pub depth_truncated: bool,
    /// The id to go on from, when a page ended before the tree did.
    pub next_cursor: Option<String>,
    depth: usize,
    text: Option<usize>,
}

#[derive(Debug)]
enum StructureShape {
    Nothing,
    /// Nested, without the nodes whose flag is false.
    Nested(Option<Vec<bool>>),
    /// Flat, below a made-up root.
    Page(Vec<usize>),
}

impl Structure {
    pub fn new(view: Arc<View>, request: &StructureRequest) -> Result<Self> {
        let scope = find_scope(&view, request.scope.as_deref())?;
        let deepest = view.tree().depth(scope).saturating_add(request.depth);
        let mut structure = Structure {
            shape: StructureShape::Nothing,
            scope,
            node_count: 0,
            depth_truncated: false,
            next_cursor: None,
            depth: deepest,
            text: request.max_text_len,
            view,
        };
        let keep = structure.filter(request)?;
        structure.fill_counts(keep, request);
        Ok(structure)
    }

    /// A node with everything below it.
    pub fn whole_subtree(view: Arc<View>, node: usize) -> Self {
        let node_count = view.tree().end(node) - node;
        Structure {
            view,
            shape: StructureShape::Nested(None),
            scope: node,
            node_count,
            depth_truncated: false,
            next_cursor: None,
            depth: usize::MAX,
            text: None,
        }
    }

    /// How long it is as JSON.
    pub fn json_bytes(&self) -> usize {
        struct JsonLength(usize);
        impl std::io::Write for JsonLength {
            fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
                self.0 += bytes.len();
                Ok(bytes.len())
            }

            fn flush(&mut self) -> std::io::Result<()> {
                Ok(())
            }
        }
        let mut count = JsonLength(0);
        // Counting cannot fail, and a tree is JSON.
        let _ = serde_json::to_writer(&mut count, self);
        count.0
    }

    /// Levels below the scope, as far as the request goes; at least one.
    pub fn deepest_level(&self) -> usize {
        let tree = self.view.tree();
        let nodes = self.scope..tree.end(self.scope);
        let depth = nodes.map(|node| tree.depth(node)).max().unwrap_or(0) - tree.depth(self.scope);
        depth.max(1)
    }

    /// Which nodes a filter let stay, from the scope on; `None` when all do.
    pub fn kept_nodes(&self) -> Option<&[bool]> {
        match &self.shape {
            StructureShape::Nested(keep) => keep.as_deref(),
            StructureShape::Nothing | StructureShape::Page(_) => Some(&[]),
        }
    }

    /// Whether each node of the scope stays, indexed from the scope on; `None` when all do.
    fn filter(&mut self, request: &StructureRequest) -> Result<Option<Vec<bool>>> {
        let tree = self.view.tree();
        let nodes = self.scope..tree.end(self.scope);
        self.depth_truncated = nodes.clone().any(|node| is_cut(tree, node, self.depth));
        if !request.prune_empty {
            return Ok(None);
        }
        let effort = Effort::for_many_texts();
        let mut keep = vec![false; nodes.len()];
        // Backwards, so that a node knows of its descendants before its own turn comes.
        for node in nodes.rev().filter(|&node| tree.depth(node) <= self.depth) {
            if keep[node - self.scope] || matches(&tree[node], request, &effort)? {
                keep[node - self.scope] = true;
                if let Some(parent) = tree.parent(node).filter(|&parent| parent >= self.scope) {
                    keep[parent - self.scope] = true;
                }
            }
        }
        Ok(Some(keep))
    }

    fn fill_counts(&mut self, keep: Option<Vec<bool>>, request: &StructureRequest) {
        let tree = self.view.tree();
        let stays = |node: &usize| {
            tree.depth(*node) <= self.depth && keep.as_ref().is_none_or(|keep| keep[*node - self.scope])
        };
        let nodes = (self.scope..tree.end(self.scope)).filter(stays);
        if request.max_nodes.is_none() && request.page_cursor.is_none() {
            self.node_count = nodes.count();
            self.shape =
                if self.node_count == 0 { StructureShape::Nothing } else { StructureShape::Nested(keep) };
            return;
        }
        let Some(start) = page_start(tree, request.page_cursor.as_deref()) else {
            return;
        };
        let most = request.max_nodes.unwrap_or(usize::MAX);
        let mut rest = nodes.skip_while(|&node| node < start);
        let page: Vec<usize> = rest.by_ref().take(most).collect();
        self.next_cursor = rest.next().and(page.last()).map(|&last| tree.id(last));
        self.node_count = page.len();
        self.shape = if page.is_empty() { StructureShape::Nothing } else { StructureShape::Page(page) };
    }

    fn node_json<'a>(
        &'a self,
        node: usize,
        id: String,
        nested: Option<&'a Option<Vec<bool>>>,
    ) -> NodeJson<'a> {
        NodeJson { structure: self, node, id, nested }
    }
}

fn find_scope(view: &View, scope: Option<&str>) -> Result<usize> {
    let Some(id) = scope else {
        return Ok(Tree::ROOT);
    };
    view.tree().find_id(id).ok_or_else(|| {
        Error::new(Kind::ElementNotFound, format!("no element with id '{id}' to scope to")).with("scope", id)
    })
}

/// The first node of the page; `None` when the cursor is no node.
fn page_start(tree: &Tree, cursor: Option<&str>) -> Option<usize> {
    match cursor {
        None => Some(0),
        Some(id) => tree.find_id(id).map(|node| node + 1),
    }
}

fn is_cut(tree: &Tree, node: usize, deepest: usize) -> bool {
    tree.depth(node) == deepest && tree.end(node) > node + 1
}

fn matches(element: &Element, request: &StructureRequest, effort: &Effort) -> Result<bool> {
    let role_fits = |roles: &[Role]| roles.contains(&element.role);
    let fits = (request.roles.is_empty() || role_fits(&request.roles))
        && !role_fits(&request.exclude_roles)
        && request.visible_in.as_ref().is_none_or(|regions| {
            !element.hidden && regions.iter().any(|region| region.intersects(&element.bounds))
        });
    match &request.name_regex {
        Some(pattern) if fits => Ok(pattern.is_match_within(&element.name, effort)?),
        _ => Ok(fits),
    }
}

impl Serialize for Structure {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        match &self.shape {
            StructureShape::Nothing => out.serialize_none(),
            StructureShape::Nested(keep) => {
                self.node_json(self.scope, self.view.tree().id(self.scope), Some(keep)).serialize(out)
            }
            StructureShape::Page(page) => PageJson { structure: self, page }.serialize(out),
        }
    }
}

/// One node and, where it is nested, what is below it. Depth is bounded by the captured tree's.
///
/// Written as a struct whose length is not known before: its keys are the program's own, and unlike those of a
/// map nobody has to look whether they are clean.
struct NodeJson<'a> {
    structure: &'a Structure,
    node: usize,
    id: String,
    nested: Option<&'a Option<Vec<bool>>>,
}

impl Serialize for NodeJson<'_> {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        let tree = self.structure.view.tree();
        let cut = is_cut(tree, self.node, self.structure.depth);
        let mut json = out.serialize_struct("Node", KEYS_OF_A_NODE)?;
        json.serialize_field("id", &self.id)?;
        write_element(&mut json, &tree[self.node], self.structure.text)?;
        json.serialize_field("children", &ChildrenJson { parent: self, cut })?;
        write_known(&mut json, &tree[self.node])?;
        if cut {
            json.serialize_field("truncated", &true)?;
            json.serialize_field("child_count", &tree.child_count(self.node))?;
        }
        json.end()
    }
}

struct ChildrenJson<'a> {
    parent: &'a NodeJson<'a>,
    cut: bool,
}

impl Serialize for ChildrenJson<'_> {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        let structure = self.parent.structure;
        let mut list = out.serialize_seq(None)?;
        if let (Some(keep), false) = (self.parent.nested, self.cut) {
            let tree = structure.view.tree();
            for child in tree.children(self.parent.node) {
                if keep.as_ref().is_none_or(|keep| keep[child - structure.scope]) {
                    let id = tree.child_id(&self.parent.id, child);
                    list.serialize_element(&structure.node_json(child, id, Some(keep)))?;
                }
            }
        }
        list.end()
    }
}

struct PageJson<'a> {
    structure: &'a Structure,
    page: &'a [usize],
}

impl Serialize for PageJson<'_> {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        let root = Element::new(Role::Group, "[paged]", Rect::default());
        let tree = self.structure.view.tree();
        let nodes: Vec<NodeJson> =
            self.page.iter().map(|&node| self.structure.node_json(node, tree.id(node), None)).collect();
        let mut json = out.serialize_struct("Page", KEYS_OF_A_NODE)?;
        json.serialize_field("id", "page-root")?;
        write_element(&mut json, &root, None)?;
        json.serialize_field("children", &nodes)?;
        json.end()
    }
}

/// Those that every node has.
const KEYS_OF_A_NODE: usize = 10;

fn write_element<J: SerializeStruct>(
    json: &mut J,
    element: &Element,
    text: Option<usize>,
) -> Result<(), J::Error> {
    json.serialize_field("name", &shorten_value(&element.name, text))?;
    json.serialize_field("role", &element.role)?;
    json.serialize_field("value", &element.value.as_deref().map(|value| shorten_value(value, text)))?;
    json.serialize_field("bounds", &element.bounds)?;
    json.serialize_field("enabled", &element.enabled)?;
    json.serialize_field("focused", &element.focused)?;
    json.serialize_field("keyboard_shortcut", &element.shortcut)?;
    json.serialize_field("description", &element.description)
}

/// Facts that are written only when they are known.
fn write_known<J: SerializeStruct>(json: &mut J, element: &Element) -> Result<(), J::Error> {
    for (key, flag) in [("selected", element.selected), ("expanded", element.expanded)] {
        if let Some(flag) = flag {
            json.serialize_field(key, &flag)?;
        }
    }
    let range = element.range;
    for (key, number) in [("value_now", range.now), ("value_min", range.min), ("value_max", range.max)] {
        // JSON has no infinities; what is no number is not known.
        if let Some(number) = number.filter(|number| number.is_finite()) {
            json.serialize_field(key, &number)?;
        }
    }
    let flags = [("editable", element.editable), ("invalid", element.invalid), ("offscreen", element.hidden)];
    for (key, set) in flags {
        if set {
            json.serialize_field(key, &true)?;
        }
    }
    if let Some(unseen) = element.unseen {
        json.serialize_field("hidden", unseen.name())?;
    }
    if let Some(identifier) = &element.identifier {
        json.serialize_field("identifier", identifier)?;
    }
    Ok(())
}

fn shorten_value(text: &str, most: Option<usize>) -> std::borrow::Cow<'_, str> {
    most.map_or(text.into(), |most| crate::text::shorten(text, most))
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use super::*;
    use crate::model::{Point, TreeBuilder};

    /// A menu bar with an open and a closed menu at the same place, and a field.
    fn view() -> Arc<View> {
        let place = Rect::new(0, 0, 50, 20);
        let mut tree = TreeBuilder::new(Element::new("Window", "w", Rect::new(0, 0, 100, 100)));
        tree.add_leaf(Element::new("MenuItem", "open", place));
        tree.add_leaf(Element { hidden: true, ..Element::new("MenuItem", "closed", place) });
        tree.add_leaf(Element { editable: true, ..Element::new("Edit", "field", Rect::new(60, 60, 9, 9)) });
        let tree = Arc::new(tree.finish());
        Arc::new(View::new(tree.clone(), tree, Duration::ZERO, SystemTime::UNIX_EPOCH))
    }

    #[test]
    fn what_is_hidden_is_not_visible() {
        let visible_in = Some(vec![Rect::new(0, 0, 100, 100)]);
        let request =
            StructureRequest { depth: 9, visible_in, prune_empty: true, ..StructureRequest::default() };
        assert_eq!(Structure::new(view(), &request).unwrap().node_count, 3);
    }

    #[test]
    fn flags_are_written_when_they_are_set() {
        let json = serde_json::to_value(Structure::whole_subtree(view(), 0)).unwrap();
        let flags = |at: usize| {
            let node = &json["children"][at];
            (node.get("offscreen").cloned(), node.get("editable").cloned())
        };
        assert_eq!(flags(0), (None, None));
        assert_eq!(flags(1), (Some(true.into()), None));
        assert_eq!(flags(2), (None, Some(true.into())));
    }

    #[test]
    fn a_point_meets_what_shows_there() {
        let view = view();
        let point = Point { x: 10, y: 10 };
        assert_eq!(view.element_at(point), 1);
        assert_eq!(view.elements_at(point), [1]);
    }
}
