//! A page as the browser's own accessibility tree tells it, for a browser that makes no snapshots. It knows no text that
//! a person cannot see, and nothing that only listens for clicks; whoever shows such a tree says so.
//!
//! Nothing of it is trusted: a node is shown once, whatever the children of others say, and nothing recurses.

use std::collections::{HashMap, HashSet};

use serde::Deserialize;
use serde_json::Value;

use super::clip::to_rect;
use super::handle::NodeHandle;
use super::names::one_space;
use super::roles::{aria_role, is_named_by_content, names_secret};
use super::snapshot::PageArea;
use crate::model::element::Range;
use crate::model::{Element, Rect, Role, Tree, TreeBuilder};
use crate::platform::normalize::shortened;

/// So many nodes are asked for their place; the others are in the tree without one.
const MOST_PLACES: usize = 4_000;

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct AccessibleAnswer {
    pub nodes: Vec<AccessibleNode>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct AccessibleNode {
    node_id: String,
    ignored: bool,
    role: AccessibleValue,
    name: AccessibleValue,
    value: AccessibleValue,
    description: AccessibleValue,
    properties: Vec<AccessibleProperty>,
    child_ids: Vec<String>,
    #[serde(rename = "backendDOMNodeId")]
    backend_node: Option<i64>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct AccessibleValue {
    value: Value,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct AccessibleProperty {
    name: String,
    value: AccessibleValue,
}

/// What was captured of one frame.
#[derive(Clone, Debug, Default)]
pub struct AccessibleFrame {
    pub frame: String,
    /// The document that it shows.
    pub document: String,
    /// The session that was asked, by number; nodes of two sessions may have the same number.
    pub session: usize,
    /// The element that holds it; nothing for the page itself.
    pub owner: Option<AccessibleOwner>,
    pub nodes: Vec<AccessibleNode>,
    /// Where nodes are, from the corner of the outermost frame of their session.
    pub places: HashMap<i64, PageArea>,
    /// Fields whose value is nobody's business.
    pub secrets: HashSet<i64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccessibleOwner {
    pub session: usize,
    pub backend_node: i64,
}

impl AccessibleValue {
    fn text(&self) -> String {
        match &self.value {
            Value::String(text) => one_space(text),
            Value::Number(number) => number.to_string(),
            _ => String::new(),
        }
    }

    /// Chromium says it as a word or as a truth value.
    fn flag(&self) -> Option<bool> {
        match &self.value {
            Value::Bool(flag) => Some(*flag),
            Value::String(word) if word == "true" => Some(true),
            Value::String(word) if word == "false" => Some(false),
            _ => None,
        }
    }
}

impl AccessibleNode {
    fn property(&self, name: &str) -> Option<&AccessibleValue> {
        self.properties.iter().find(|property| property.name == name).map(|property| &property.value)
    }

    fn flag(&self, name: &str) -> Option<bool> {
        self.property(name).and_then(AccessibleValue::flag)
    }

    fn number(&self, name: &str) -> Option<f64> {
        self.property(name).and_then(|value| value.value.as_f64())
    }

    fn role_word(&self) -> &str {
        self.role.value.as_str().unwrap_or_default()
    }

    fn shown_role(&self) -> Option<Role> {
        match self.role_word() {
            "ColorWell" | "DisclosureTriangle" => Some(Role::Button),
            "Date" | "DateTime" | "InputTime" => Some(Role::Edit),
            "Canvas" => Some(Role::Canvas),
            "SvgRoot" | "image" | "img" => (!self.name.text().is_empty()).then_some(Role::Image),
            word => aria_role(word),
        }
    }

    fn is_text(&self) -> bool {
        self.role_word() == "StaticText"
    }

    /// Whether it may hold what somebody wrote.
    pub fn is_field(&self) -> bool {
        matches!(self.shown_role(), Some(Role::Edit | Role::ComboBox | Role::Spinner))
            || self.property("editable").is_some()
    }

    pub fn backend_node(&self) -> Option<i64> {
        self.backend_node
    }
}

/// The nodes whose places are worth a question.
pub fn nodes_with_places(nodes: &[AccessibleNode]) -> Vec<i64> {
    let has_place = |node: &&AccessibleNode| {
        !node.ignored && (node.is_text() || node.shown_role().is_some() || node.role_word() == "Iframe")
    };
    nodes.iter().filter(has_place).filter_map(|node| node.backend_node).take(MOST_PLACES).collect()
}

/// Whether a field's attributes, names and values in turn, say that what it holds is a secret.
pub fn attributes_name_secret(attributes: &[String]) -> bool {
    let attribute = |wanted: &str| {
        let mut pairs = attributes.chunks_exact(2);
        pairs.find(|pair| pair[0].eq_ignore_ascii_case(wanted)).map_or("", |pair| pair[1].as_str())
    };
    names_secret(attribute("type"), attribute("autocomplete"))
}

/// The first frame is the page.
pub fn accessible_tree(frames: &[AccessibleFrame], title: &str, bounds: Rect) -> Tree {
    let root = Element::new(Role::Window, title, bounds);
    let mut walk = AccessibleWalk {
        by_id: frames.iter().map(index_ids).collect(),
        seen: frames.iter().map(|frame| vec![false; frame.nodes.len()]).collect(),
        frames,
        window: bounds,
        tree: TreeBuilder::new(root),
        steps: Vec::new(),
    };
    walk.open_frame(0);
    while let Some(step) = walk.steps.pop() {
        match step {
            AccessibleStep::Node { frame, node, folded } => walk.visit(frame, node, folded),
            AccessibleStep::Close => walk.tree.close(),
        }
    }
    walk.tree.finish()
}

fn index_ids(frame: &AccessibleFrame) -> HashMap<&str, usize> {
    frame.nodes.iter().enumerate().map(|(at, node)| (node.node_id.as_str(), at)).collect()
}

enum AccessibleStep {
    Node { frame: usize, node: usize, folded: bool },
    Close,
}

struct AccessibleWalk<'a> {
    frames: &'a [AccessibleFrame],
    by_id: Vec<HashMap<&'a str, usize>>,
    seen: Vec<Vec<bool>>,
    window: Rect,
    tree: TreeBuilder,
    steps: Vec<AccessibleStep>,
}

impl<'a> AccessibleWalk<'a> {
    /// The first node of a frame is its document.
    fn open_frame(&mut self, frame: usize) {
        let frames = self.frames;
        let Some(captured) = frames.get(frame) else { return };
        let seen = self.seen.get_mut(frame).and_then(|seen| seen.first_mut());
        if seen.is_none_or(|seen| std::mem::replace(seen, true)) {
            return;
        }
        let Some(document) = captured.nodes.first() else { return };
        let bounds = match captured.owner {
            Some(owner) => self.owner_place(owner).map_or(Rect::new(0, 0, 0, 0), to_rect),
            None => self.window,
        };
        let url = document.property("url").map(AccessibleValue::text).unwrap_or_default();
        let element = Element::new(Role::Document, shortened(&document.name.text(), None), bounds);
        self.tree.open(Element {
            value: Some(shortened(&url, None)),
            native: handle(captured, document),
            is_document: true,
            ..element
        });
        self.steps.push(AccessibleStep::Close);
        self.push_children(frame, 0, false);
    }

    fn push_children(&mut self, frame: usize, node: usize, folded: bool) {
        let frames = self.frames;
        let Some(captured) = frames.get(frame).and_then(|frame| frame.nodes.get(node)) else { return };
        let Some(ids) = self.by_id.get(frame) else { return };
        let children = captured.child_ids.iter().rev().filter_map(|id| ids.get(id.as_str()).copied());
        self.steps.extend(children.map(|node| AccessibleStep::Node { frame, node, folded }));
    }

    fn visit(&mut self, frame: usize, node: usize, folded: bool) {
        let seen = self.seen.get_mut(frame).and_then(|seen| seen.get_mut(node));
        if seen.is_none_or(|seen| std::mem::replace(seen, true)) {
            return;
        }
        let frames = self.frames;
        let Some(captured) = frames.get(frame).and_then(|frame| frame.nodes.get(node)) else { return };
        if captured.ignored {
            return self.push_children(frame, node, folded);
        }
        if captured.is_text() {
            if !folded && !captured.name.text().is_empty() {
                let element = self.element_of(frame, captured, Role::Text);
                self.tree.add_leaf(element);
            }
            return;
        }
        if captured.role_word() == "Iframe" {
            return self.visit_frame_element(frame, captured);
        }
        let named = !captured.name.text().is_empty() && !folded && captured.role_word() != "generic";
        match captured.shown_role().or_else(|| named.then_some(Role::Group)) {
            Some(role) => self.add_element(frame, node, role, folded),
            None => self.push_children(frame, node, folded),
        }
    }

    fn visit_frame_element(&mut self, frame: usize, node: &AccessibleNode) {
        let Some(captured) = self.frames.get(frame) else { return };
        let owner =
            node.backend_node.map(|id| AccessibleOwner { session: captured.session, backend_node: id });
        let held = self.frames.iter().position(|inner| inner.owner.is_some() && inner.owner == owner);
        if let Some(held) = held {
            self.open_frame(held);
        }
    }

    fn add_element(&mut self, frame: usize, node: usize, role: Role, folded: bool) {
        let frames = self.frames;
        let Some(captured) = frames.get(frame).and_then(|frame| frame.nodes.get(node)) else { return };
        let element = self.element_of(frame, captured, role.clone());
        // What is in a field is its value.
        if role == Role::Edit {
            self.tree.add_leaf(element);
            return;
        }
        self.tree.open(element);
        self.steps.push(AccessibleStep::Close);
        self.push_children(frame, node, folded || is_named_by_content(&role));
    }

    fn element_of(&self, frame: usize, node: &AccessibleNode, role: Role) -> Element {
        let captured = self.frames.get(frame);
        let id = node.backend_node;
        let secret = captured.zip(id).is_some_and(|(frame, id)| frame.secrets.contains(&id));
        let place = captured.zip(id).and_then(|(frame, id)| self.place(frame, id));
        let bounds = place.map(to_rect);
        let value = Some(node.value.text()).filter(|_| !secret && role != Role::Text);
        let has_value = node.is_field() || !node.value.value.is_null();
        let flags = ["checked", "pressed", "selected"];
        Element {
            value: value.filter(|_| has_value).map(|value| shortened(&value, None)),
            // What has no place, or one outside of the window, is not on the screen.
            hidden: bounds.is_none_or(|bounds| !bounds.intersects(&self.window)),
            bounds: bounds.unwrap_or(Rect::new(0, 0, 0, 0)),
            enabled: node.flag("disabled") != Some(true),
            focused: node.flag("focused") == Some(true),
            selected: flags.into_iter().find_map(|name| node.flag(name)),
            expanded: node.flag("expanded"),
            range: Range {
                now: node.value.value.as_f64(),
                min: node.number("valuemin"),
                max: node.number("valuemax"),
            },
            description: Some(node.description.text()).filter(|text| !text.is_empty()),
            secret,
            editable: node.property("editable").is_some() && node.flag("readonly") != Some(true),
            native: captured.and_then(|frame| handle(frame, node)),
            name: shortened(&node.name.text(), None),
            role,
            ..Element::default()
        }
    }

    /// In the window's coordinates: a frame of another site counts from its own corner.
    fn place(&self, frame: &AccessibleFrame, backend_node: i64) -> Option<PageArea> {
        let (mut area, mut session) = (*frame.places.get(&backend_node)?, frame.session);
        // Each session is held by one before it, so that this ends.
        while session > 0 {
            let outermost = self.frames.iter().find(|frame| {
                frame.session == session && frame.owner.is_some_and(|owner| owner.session < session)
            })?;
            let owner = outermost.owner?;
            let holder = self.owner_area(owner)?;
            area = area.moved_by(holder.x, holder.y);
            session = owner.session;
        }
        Some(area)
    }

    fn owner_place(&self, owner: AccessibleOwner) -> Option<PageArea> {
        let frame = self
            .frames
            .iter()
            .find(|frame| frame.session == owner.session && frame.places.contains_key(&owner.backend_node))?;
        self.place(frame, owner.backend_node)
    }

    fn owner_area(&self, owner: AccessibleOwner) -> Option<PageArea> {
        let mut of_session = self.frames.iter().filter(|frame| frame.session == owner.session);
        of_session.find_map(|frame| frame.places.get(&owner.backend_node).copied())
    }
}

fn handle(frame: &AccessibleFrame, node: &AccessibleNode) -> Option<String> {
    let (of, document) = (frame.frame.clone(), frame.document.clone());
    let backend_node = node.backend_node?;
    Some(NodeHandle { frame: of, document, backend_node }.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    const WINDOW: Rect = Rect::new(0, 0, 800, 600);

    fn frame_of(nodes: Value) -> AccessibleFrame {
        let answer: AccessibleAnswer = serde_json::from_value(json!({ "nodes": nodes })).unwrap();
        let ids = nodes_with_places(&answer.nodes);
        let area = PageArea { x: 10.0, y: 20.0, width: 30.0, height: 40.0 };
        AccessibleFrame {
            frame: "F".to_owned(),
            document: "L".to_owned(),
            places: ids.into_iter().map(|id| (id, area)).collect(),
            nodes: answer.nodes,
            ..AccessibleFrame::default()
        }
    }

    fn node(id: i64, role: &str, name: &str, children: &[i64]) -> Value {
        let text = |text: &str| json!({ "type": "x", "value": text });
        let children: Vec<String> = children.iter().map(i64::to_string).collect();
        json!({ "nodeId": id.to_string(), "ignored": false, "role": text(role), "name": text(name),
                "childIds": children, "backendDOMNodeId": id, "properties": [] })
    }

    fn drawing(tree: &Tree) -> Vec<String> {
        let line =
            |node: usize| format!("{}{} {}", " ".repeat(tree.depth(node)), tree[node].role, tree[node].name);
        (0..tree.len()).map(line).collect()
    }

    #[track_caller]
    fn check(nodes: Value, expected: &[&str]) {
        assert_eq!(drawing(&accessible_tree(&[frame_of(nodes)], "w", WINDOW)), expected);
    }

    #[test]
    fn names_fold_texts_and_plain_containers_are_left_out() {
        check(
            json!([
                node(1, "RootWebArea", "Page", &[2]),
                node(2, "generic", "", &[3, 5, 6]),
                node(3, "button", "Send", &[4]),
                node(4, "StaticText", "Send", &[]),
                node(5, "StaticText", "Hello", &[]),
                node(6, "navigation", "Main", &[7]),
                node(7, "link", "Home", &[]),
            ]),
            &[
                "Window w",
                " Document Page",
                "  Button Send",
                "  Text Hello",
                "  Group Main",
                "   Hyperlink Home",
            ],
        );
    }

    #[test]
    fn a_ring_of_nodes_is_shown_once() {
        check(
            json!([
                node(1, "RootWebArea", "Page", &[2]),
                node(2, "button", "A", &[3]),
                node(3, "button", "B", &[2, 1])
            ]),
            &["Window w", " Document Page", "  Button A", "   Button B"],
        );
    }

    #[test]
    fn a_secret_says_nothing_of_what_it_holds() {
        let mut field = node(2, "textbox", "Password", &[3]);
        field["value"] = json!({ "value": "hunter22" });
        let mut frame = frame_of(json!([
            node(1, "RootWebArea", "Page", &[2]),
            field,
            node(3, "StaticText", "hunter22", &[])
        ]));
        assert!(format!("{:?}", accessible_tree(&[frame.clone()], "w", WINDOW)).contains("hunter22"));
        frame.secrets.insert(2);
        assert!(!format!("{:?}", accessible_tree(&[frame], "w", WINDOW)).contains("hunter22"));
    }

    #[test]
    fn attributes_tell_a_secret() {
        let check = |attributes: &[&str], expected: bool| {
            let attributes: Vec<String> = attributes.iter().map(|text| (*text).to_owned()).collect();
            assert_eq!(attributes_name_secret(&attributes), expected, "{attributes:?}");
        };
        check(&["id", "x", "type", "Password"], true);
        check(&["autocomplete", "section-a cc-number"], true);
        check(&["type", "text", "autocomplete", "email"], false);
        check(&["type"], false);
    }

    proptest! {
        #[test]
        fn any_links_make_a_tree(links in prop::collection::vec((0..12i64, prop::collection::vec(-1..14i64, 0..6)), 0..12)) {
            let nodes: Vec<Value> = links
                .iter()
                .map(|(id, children)| node(*id, if id % 2 == 0 { "button" } else { "Iframe" }, "x", children))
                .collect();
            let frame = frame_of(json!(nodes));
            let owner = AccessibleOwner { session: 0, backend_node: 3 };
            let inner = AccessibleFrame { session: 1, owner: Some(owner), ..frame.clone() };
            let tree = accessible_tree(&[frame, inner], "w", WINDOW);
            prop_assert!(tree.len() <= 1 + 2 * nodes.len());
        }
    }
}
