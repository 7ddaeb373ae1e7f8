//! What a pointer meets at a point of a page, as the browser itself finds it. A link that is stretched over its card by a
//! pseudo-element, a hit area that is larger than its button, and a child that lies outside of it are in no box of the
//! tree. Nothing is changed here; the element is only found.

use std::collections::HashMap;
use std::time::Duration;

use serde::Deserialize;
use serde_json::json;

use super::Browser;
use super::decode::handle::NodeHandle;
use super::page::{Evaluated, ListedProperties, PageSession};
use super::script::NODES_AT;
use super::tabs::{TabState, WindowOfTab};
use super::wire::{CdpFailure, CdpResult, SentOrder};
use crate::clock::{Cancel, Deadline};
use crate::error::Result;
use crate::model::{Point, Tree};
use crate::platform::PointedNodes;

/// How long a page may take to say it. What it does not say by then counts as not read.
const HIT_TIME: Duration = Duration::from_secs(2);

/// Frames of other sites in each other. Deeper ones count as not read.
const MOST_FRAMES: usize = 8;

/// What holds the nodes that are asked for, until they are told.
const HIT_GROUP: &str = "hit-test";

/// In a list of what a page answers, the nodes come after four facts.
const FACTS: usize = 4;

#[derive(Deserialize)]
struct DescribedHit {
    node: HitNode,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct HitNode {
    #[serde(default)]
    backend_node_id: i64,
    /// Of the element of a frame.
    #[serde(default)]
    frame_id: Option<String>,
}

/// What one session says: the innermost node first, and where the point is in the innermost frame.
struct SessionHit {
    is_area: bool,
    inner: (f64, f64),
    /// What stands in the innermost, where nothing in it is worked by itself.
    text: String,
    nodes: Vec<HitNode>,
}

/// What all sessions say together: the numbers of the nodes from the inside out, through frames of other sites.
struct HitPath {
    nodes: Vec<i64>,
    /// The innermost is an area of an image, which is in no tree.
    is_area: bool,
    text: String,
}

impl Browser {
    /// `None` for a window that is no page, and for a page that has just come and is not known yet.
    pub(super) fn pointed_nodes(
        &self,
        window_uid: &str,
        tree: &Tree,
        at: Point,
        cancel: &Cancel,
    ) -> Result<Option<PointedNodes>> {
        let Some(WindowOfTab::Tab(target)) = WindowOfTab::parse(window_uid) else { return Ok(None) };
        let Some(tab) = self.tabs.find(target).filter(|tab| tab.dialog.is_none() && !tab.crashed) else {
            return Ok(None);
        };
        match self.hit_path(&tab, at, cancel) {
            Ok(Some(hit)) => Ok(Some(found_in_tree(tree, hit))),
            Ok(None) => Ok(None),
            Err(CdpFailure::Cancelled) => Err(CdpFailure::Cancelled.into()),
            Err(_) => Ok(Some(PointedNodes { is_unread: true, ..PointedNodes::default() })),
        }
    }

    fn hit_path(&self, tab: &TabState, at: Point, cancel: &Cancel) -> CdpResult<Option<HitPath>> {
        let page = PageSession { deadline: Deadline::after(HIT_TIME), ..self.page_session(tab, cancel) };
        let frames = self.tabs.frames_of(tab);
        let mut place = (tab.session.as_str(), tab.target.as_str(), (f64::from(at.x), f64::from(at.y)));
        let mut path = HitPath { nodes: Vec::new(), is_area: true, text: String::new() };
        for _ in 0..MOST_FRAMES {
            let (session, frame, point) = place;
            let Some(world) = self.tabs.world_in(session, frame) else { return Ok(None) };
            let hit = ask_session(page.in_session(session), world, point)?;
            path.nodes.splice(0..0, hit.nodes.iter().map(|node| node.backend_node_id));
            let entered = hit.nodes.first().and_then(|node| node.frame_id.as_deref());
            let inner = entered.and_then(|entered| frames.iter().find(|frame| frame.frame == entered));
            match inner {
                Some(inner) => place = (&inner.session, &inner.frame, hit.inner),
                None => return Ok(Some(HitPath { is_area: hit.is_area, text: hit.text, ..path })),
            }
        }
        Ok(Some(path))
    }
}

fn ask_session(page: PageSession<'_>, world: i64, (x, y): (f64, f64)) -> CdpResult<SessionHit> {
    let ask = json!({
        "functionDeclaration": NODES_AT,
        "executionContextId": world,
        "arguments": [{ "value": x }, { "value": y }],
        "objectGroup": HIT_GROUP,
    });
    let answer: Evaluated = page.call("Runtime.callFunctionOn", ask)?;
    let hit = match &answer.result.object_id {
        Some(list) => described(page, list),
        None => Ok(SessionHit { is_area: false, inner: (0.0, 0.0), text: String::new(), nodes: Vec::new() }),
    };
    page.connection.tell(
        Some(page.session),
        "Runtime.releaseObjectGroup",
        json!({ "objectGroup": HIT_GROUP }),
    );
    hit
}

fn described(page: PageSession<'_>, list: &str) -> CdpResult<SessionHit> {
    let ask = json!({ "objectId": list, "ownProperties": true });
    let parts: ListedProperties = page.call("Runtime.getProperties", ask)?;
    let fact = |at: usize| parts.at(at);
    let orders: Vec<SentOrder> = (FACTS..)
        .map_while(|at| fact(at)?.object_id.as_ref())
        .map(|object| page.send("DOM.describeNode", json!({ "objectId": object })))
        .collect::<CdpResult<_>>()?;
    let nodes = orders.iter().map(|order| page.wait::<DescribedHit>(order).map(|described| described.node));
    let number = |at: usize| fact(at).and_then(|fact| fact.number()).unwrap_or_default();
    Ok(SessionHit {
        is_area: fact(0).is_some_and(|fact| fact.is_true()),
        inner: (number(1), number(2)),
        text: fact(3).map(|fact| fact.text().to_owned()).unwrap_or_default(),
        nodes: nodes.collect::<CdpResult<_>>()?,
    })
}

/// The innermost node of the path that the tree has. Frames of several processes may have the same number twice: then
/// both are meant.
fn found_in_tree(tree: &Tree, hit: HitPath) -> PointedNodes {
    let mut by_number: HashMap<i64, Vec<usize>> = HashMap::new();
    for (node, element) in tree.elements().iter().enumerate() {
        if let Some(handle) = element.native.as_deref().and_then(NodeHandle::parse) {
            by_number.entry(handle.backend_node).or_default().push(node);
        }
    }
    let is_known = hit.nodes.first().is_some_and(|number| by_number.contains_key(number));
    let nodes = hit.nodes.iter().find_map(|number| by_number.remove(number)).unwrap_or_default();
    let text = Some(hit.text).filter(|text| !is_known && !text.is_empty());
    PointedNodes { nodes, is_unread: hit.is_area, text }
}
