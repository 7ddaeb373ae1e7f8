//! A page by the browser's own accessibility tree, where the browser makes no snapshots: the protocol calls that method
//! experimental. It is slower, and the tree says what it lacks.

use std::collections::{HashMap, HashSet};

use serde::Deserialize;
use serde_json::json;

use super::Browser;
use super::decode::accessible::{
    AccessibleAnswer, AccessibleFrame, AccessibleNode, AccessibleOwner, accessible_tree,
    attributes_name_secret, nodes_with_places,
};
use super::decode::snapshot::PageArea;
use super::page::PageSession;
use super::tabs::TabState;
use super::wire::{CdpFailure, CdpResult, SentOrder};
use crate::clock::Deadline;
use crate::model::{Tree, Window};
use crate::platform::Patience;

const WITHOUT_SNAPSHOT: &str = "this browser makes no snapshots of pages (DOMSnapshot), so that this is its \
                                accessibility tree: what only listens for clicks, and text that nobody can see, is not in it";

/// Whether a failure says that the browser does not know the method.
pub fn makes_no_snapshots(failure: &CdpFailure) -> bool {
    let CdpFailure::Refused { method, message } = failure else { return false };
    *method == "DOMSnapshot.captureSnapshot" && message.contains("wasn't found")
}

#[derive(Deserialize)]
struct QuadsAnswer {
    quads: Vec<Vec<f64>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct OwnerAnswer {
    backend_node_id: i64,
}

#[derive(Deserialize)]
struct DescribedAnswer {
    node: DescribedField,
}

#[derive(Deserialize)]
struct DescribedField {
    #[serde(default)]
    attributes: Vec<String>,
}

/// One session of a tab: the page's own, or that of a frame of another site.
struct AskedSession<'a> {
    page: PageSession<'a>,
    /// Its outermost frame.
    frame: &'a str,
    /// The session that has the element around that frame.
    held_by: Option<usize>,
}

impl Browser {
    pub(super) fn tree_without_snapshot(
        &self,
        tab: &TabState,
        window: &Window,
        patience: &Patience,
    ) -> CdpResult<Tree> {
        let page = PageSession {
            connection: &self.connection,
            session: &tab.session,
            deadline: Deadline::after(patience.whole),
            cancel: &patience.cancel,
        };
        let held = self.tabs.frames_of(tab);
        let mut sessions = vec![AskedSession { page, frame: &tab.target, held_by: None }];
        for frame in &held {
            let held_by = sessions.iter().position(|asked| asked.page.session == frame.parent);
            sessions.push(AskedSession {
                page: page.in_session(&frame.session),
                frame: &frame.frame,
                held_by,
            });
        }
        let mut frames = Vec::new();
        for number in 0..sessions.len() {
            frames.extend(capture_session(&sessions, number)?);
        }
        let mut tree = accessible_tree(&frames, &window.title, window.bounds);
        tree.complete = false;
        tree.lacking = Some(WITHOUT_SNAPSHOT.to_owned());
        Ok(tree)
    }
}

/// The outermost frame first.
fn capture_session(sessions: &[AskedSession<'_>], number: usize) -> CdpResult<Vec<AccessibleFrame>> {
    let Some(asked) = sessions.get(number) else { return Ok(Vec::new()) };
    let mut documents: Vec<(String, String)> = asked.page.frame_documents()?.into_iter().collect();
    documents.sort_by_key(|(frame, _)| frame != asked.frame);
    let mut frames = Vec::new();
    for (frame, document) in documents {
        let holder = match frame == asked.frame {
            true => asked.held_by,
            false => Some(number),
        };
        let owner = match holder.and_then(|holder| Some((holder, sessions.get(holder)?))) {
            Some((session, holder)) => {
                let params = json!({ "frameId": frame });
                let answer: OwnerAnswer = holder.page.call("DOM.getFrameOwner", params)?;
                Some(AccessibleOwner { session, backend_node: answer.backend_node_id })
            }
            None => None,
        };
        let answer: AccessibleAnswer =
            asked.page.call("Accessibility.getFullAXTree", json!({ "frameId": frame }))?;
        let places = ask_places(&asked.page, &answer.nodes)?;
        let secrets = ask_secrets(&asked.page, &answer.nodes)?;
        frames.push(AccessibleFrame {
            frame,
            document,
            session: number,
            owner,
            nodes: answer.nodes,
            places,
            secrets,
        });
    }
    Ok(frames)
}

/// Sends a question for each node, then takes the answers; a node that refuses one has none.
fn ask_each<T: serde::de::DeserializeOwned>(
    page: &PageSession<'_>,
    method: &'static str,
    nodes: impl Iterator<Item = i64>,
) -> CdpResult<Vec<(i64, T)>> {
    let sent: CdpResult<Vec<(i64, SentOrder)>> =
        nodes.map(|id| Ok((id, page.send(method, json!({ "backendNodeId": id }))?))).collect();
    let mut answers = Vec::new();
    for (id, order) in sent? {
        match page.wait::<T>(&order) {
            Ok(answer) => answers.push((id, answer)),
            Err(CdpFailure::Refused { .. }) => {}
            Err(failure) => return Err(failure),
        }
    }
    Ok(answers)
}

fn ask_places(page: &PageSession<'_>, nodes: &[AccessibleNode]) -> CdpResult<HashMap<i64, PageArea>> {
    let wanted = nodes_with_places(nodes).into_iter();
    let answers = ask_each::<QuadsAnswer>(page, "DOM.getContentQuads", wanted)?;
    Ok(answers.into_iter().filter_map(|(id, answer)| Some((id, area_of(&answer.quads)?))).collect())
}

fn ask_secrets(page: &PageSession<'_>, nodes: &[AccessibleNode]) -> CdpResult<HashSet<i64>> {
    let fields = nodes.iter().filter(|node| node.is_field()).filter_map(AccessibleNode::backend_node);
    let answers = ask_each::<DescribedAnswer>(page, "DOM.describeNode", fields)?;
    let secret = |answer: &DescribedAnswer| attributes_name_secret(&answer.node.attributes);
    Ok(answers.into_iter().filter(|(_, answer)| secret(answer)).map(|(id, _)| id).collect())
}

/// The smallest area around all quads, each of four points.
fn area_of(quads: &[Vec<f64>]) -> Option<PageArea> {
    let points = || quads.iter().flat_map(|quad| quad.chunks_exact(2));
    let (first, mut all) = (points().next()?, points());
    let start = PageArea { x: first[0], y: first[1], width: 0.0, height: 0.0 };
    let add = |area: PageArea, point: &[f64]| {
        area.around(PageArea { x: point[0], y: point[1], width: 0.0, height: 0.0 })
    };
    Some(all.by_ref().fold(start, add))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_method_that_is_missing_counts() {
        let refused = |method, message: &str| CdpFailure::Refused { method, message: message.to_owned() };
        let missing = "'DOMSnapshot.captureSnapshot' wasn't found";
        assert!(makes_no_snapshots(&refused("DOMSnapshot.captureSnapshot", missing)));
        assert!(!makes_no_snapshots(&refused("DOMSnapshot.captureSnapshot", "Internal error")));
        assert!(!makes_no_snapshots(&refused("DOM.describeNode", "'DOM.describeNode' wasn't found")));
        assert!(!makes_no_snapshots(&CdpFailure::Lost));
    }

    #[test]
    fn an_area_is_around_its_quads() {
        let quad = |x: f64, y: f64| vec![x, y, x + 5.0, y, x + 5.0, y + 3.0, x, y + 3.0];
        let area = area_of(&[quad(10.0, 20.0), quad(12.0, 40.0)]).unwrap();
        assert_eq!((area.x, area.y, area.width, area.height), (10.0, 20.0, 7.0, 23.0));
        assert_eq!(area_of(&[]), None);
        assert_eq!(area_of(&[vec![1.0]]), None);
    }
}
