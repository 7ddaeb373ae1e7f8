//! What is in a page: a snapshot of it and of each frame of another site, made at the same time.

use std::collections::HashMap;
use std::time::Duration;

use serde::Deserialize;
use serde_json::json;

use super::Browser;
use super::accessible::makes_no_snapshots;
use super::decode::blocked::blocked_notice;
use super::decode::snapshot::{PageSnapshot, STYLES};
use super::decode::tree::{FrameCapture, FrameOwner, page_tree};
use super::page::{Evaluated, FrameTreeAnswer, ListedProperties, PageSession, RemoteObject};
use super::script::{ELEMENT_NOTES, FOCUSED_ELEMENT, FOCUSED_IN_ROOT};
use super::tabs::{FrameSession, TabState, WindowOfTab};
use super::wire::{CdpFailure, CdpResult, SentOrder};
use crate::clock::{Cancel, Deadline};
use crate::error::Result;
use crate::model::input::Handle;
use crate::model::{Element, Point, Role, Tree, Window};
use crate::platform::{Accessibility, FieldText, Patience, PointedNodes, gone};

#[derive(Deserialize)]
struct DescribedNode {
    node: BackendNode,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct BackendNode {
    #[serde(default)]
    backend_node_id: i64,
    #[serde(default)]
    shadow_roots: Vec<ShadowRootNode>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ShadowRootNode {
    backend_node_id: i64,
    #[serde(default)]
    shadow_root_type: String,
}

impl BackendNode {
    /// The root that the page's own scripts cannot look into.
    fn closed_root(&self) -> Option<i64> {
        let root = self.shadow_roots.iter().find(|root| root.shadow_root_type == "closed")?;
        Some(root.backend_node_id)
    }
}

/// Closed shadow roots in each other that the focus is followed into.
const MOST_CLOSED_ROOTS: usize = 16;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct FrameElement {
    backend_node_id: i64,
}

/// What holds the elements that are asked for, until they are told.
const NOTES_GROUP: &str = "element-notes";

/// What a snapshot does not tell of some elements, by their numbers.
#[derive(Debug, Default)]
struct ElementNotes {
    invalid: HashMap<i64, String>,
    scrolled: HashMap<i64, (f64, f64)>,
}

impl ElementNotes {
    fn take(&mut self, node: i64, kind: &str, text: &str) {
        match kind {
            "scrolled" => {
                let mut numbers = text.split(' ').map(|number| number.parse().unwrap_or(0.0));
                let far = (numbers.next().unwrap_or(0.0), numbers.next().unwrap_or(0.0));
                self.scrolled.insert(node, far);
            }
            _ => {
                self.invalid.insert(node, text.to_owned());
            }
        }
    }
}

/// What was asked of one session, all at once.
struct CaptureOrders<'a> {
    page: PageSession<'a>,
    /// Our own, where it is known.
    world: Option<i64>,
    frames: SentOrder,
    focus: Option<SentOrder>,
    notes: Option<SentOrder>,
    snapshot: SentOrder,
    owner: Option<(PageSession<'a>, SentOrder)>,
}

impl Accessibility for Browser {
    fn tree(&self, window: &Window, patience: &Patience) -> Result<Tree> {
        let tab = match WindowOfTab::parse(&window.uid) {
            Some(WindowOfTab::Tab(target)) => self.tabs.find(target),
            _ => return self.own_window(&window.uid).map(|own| own.tree()).ok_or_else(|| gone(&window.uid)),
        };
        let tab = tab.ok_or_else(|| gone(&window.uid))?;
        if tab.crashed {
            return Ok(unread_tree(window, "the page has crashed; close its tab, or open the page again"));
        }
        if tab.dialog.is_some() {
            return Ok(unread_tree(window, HELD_UP));
        }
        match self.capture_tab(&tab, patience) {
            Ok((captures, complete)) => {
                let mut tree = page_tree(&captures, &window.title, window.bounds);
                tree.complete &= complete;
                tree.notice = blocked_notice(&tree);
                self.secret_nodes.hide_in(&mut tree);
                Ok(tree)
            }
            Err(CdpFailure::DialogOpened) => Ok(unread_tree(window, HELD_UP)),
            Err(failure) if makes_no_snapshots(&failure) => {
                match self.tree_without_snapshot(&tab, window, patience) {
                    Err(CdpFailure::DialogOpened) => Ok(unread_tree(window, HELD_UP)),
                    tree => {
                        let mut tree = tree?;
                        self.secret_nodes.hide_in(&mut tree);
                        Ok(tree)
                    }
                }
            }
            Err(failure) => Err(failure.into()),
        }
    }

    fn field(&self, element: &Handle, cancel: &Cancel) -> Result<Option<FieldText>> {
        let Some(WindowOfTab::Tab(target)) = WindowOfTab::parse(&element.window_uid) else { return Ok(None) };
        let tab = self.tabs.find(target).ok_or_else(|| gone(&element.window_uid))?;
        if tab.dialog.is_some() {
            return Ok(None);
        }
        let sessions = self.sessions_of(&tab);
        let node = self.find_node(self.page_session(&tab, cancel), &sessions, element)?;
        let facts = node.facts()?;
        let is_secret = facts.secret || self.secret_nodes.has(&element.native);
        let characters = facts.value.as_ref().map(|value| value.chars().count());
        Ok(Some(FieldText { focused: facts.focused, text: facts.value.filter(|_| !is_secret), characters }))
    }

    fn nodes_at(
        &self,
        window: &Window,
        tree: &Tree,
        at: Point,
        cancel: &Cancel,
    ) -> Result<Option<PointedNodes>> {
        self.pointed_nodes(&window.uid, tree, at, cancel)
    }
}

const HELD_UP: &str = "a dialog of the page is open, and the page cannot be read before it is answered";

/// A window of which nothing can be read now, and why.
fn unread_tree(window: &Window, why: &str) -> Tree {
    let mut tree = Tree::of_root(Element::new(Role::Window, window.title.clone(), window.bounds));
    tree.complete = false;
    tree.lacking = Some(why.to_owned());
    tree
}

impl Browser {
    /// The sessions of a tab: its own, then those of its frames.
    pub(super) fn sessions_of(&self, tab: &TabState) -> Vec<String> {
        let frames = self.tabs.frames_of(tab).into_iter().map(|frame| frame.session);
        [tab.session.clone()].into_iter().chain(frames).collect()
    }

    /// The same, each with the frame that is its own.
    pub(super) fn frames_of_sessions(&self, tab: &TabState) -> Vec<(String, String)> {
        let frames = self.tabs.frames_of(tab).into_iter().map(|frame| (frame.session, frame.frame));
        [(tab.session.clone(), tab.target.clone())].into_iter().chain(frames).collect()
    }

    /// The page and its frames, and whether all of them answered.
    pub(super) fn capture_tab(
        &self,
        tab: &TabState,
        patience: &Patience,
    ) -> CdpResult<(Vec<FrameCapture>, bool)> {
        let whole = PageSession {
            connection: &self.connection,
            session: &tab.session,
            deadline: Deadline::after(patience.whole),
            cancel: &patience.cancel,
        };
        let frames = self.tabs.frames_of(tab);
        let root = self.ask_for_capture(whole, &tab.target, None)?;
        let asked: Vec<(&FrameSession, CdpResult<CaptureOrders<'_>>)> = frames
            .iter()
            .map(|frame| {
                (frame, self.ask_for_capture(whole.in_session(&frame.session), &frame.frame, Some(frame)))
            })
            .collect();
        let mut captures = vec![root.receive(None)?];
        let mut captured = vec![tab.session.as_str()];
        let mut complete = true;
        // A frame that hangs costs its own part of the tree.
        let for_frames = Deadline::after(patience.per_call.min(whole.deadline.left().max(LEAST_TIME)));
        for (frame, orders) in asked {
            let place = captured.iter().position(|session| *session == frame.parent);
            let captured_frame = match (place, orders) {
                (Some(place), Ok(orders)) => orders.until(for_frames).receive(Some(place)),
                (_, Err(failure)) => Err(failure),
                (None, Ok(_)) => Err(CdpFailure::Lost),
            };
            match captured_frame {
                Ok(capture) => {
                    captures.push(capture);
                    captured.push(&frame.session);
                }
                Err(failure @ (CdpFailure::DialogOpened | CdpFailure::Cancelled)) => return Err(failure),
                // One that went away meanwhile is missed by nobody.
                Err(_) => complete &= !self.tabs.frames_of(tab).contains(frame),
            }
        }
        Ok((captures, complete))
    }

    fn ask_for_capture<'a>(
        &self,
        page: PageSession<'a>,
        frame: &str,
        held_by: Option<&'a FrameSession>,
    ) -> CdpResult<CaptureOrders<'a>> {
        // In this order: a document that comes in between has the name of the one before, and is refused later.
        let frames = page.send("Page.getFrameTree", json!({}))?;
        let world = self.tabs.world_in(page.session, frame);
        let focus = world.map(|world| {
            page.send("Runtime.evaluate", json!({ "expression": FOCUSED_ELEMENT, "contextId": world }))
        });
        let notes = world.map(|world| {
            let ask = json!({ "expression": ELEMENT_NOTES, "contextId": world, "objectGroup": NOTES_GROUP });
            page.send("Runtime.evaluate", ask)
        });
        let snapshot = page.send("DOMSnapshot.captureSnapshot", json!({ "computedStyles": STYLES }))?;
        let owner = held_by.map(|held_by| {
            let parent = page.in_session(&held_by.parent);
            Ok((parent, parent.send("DOM.getFrameOwner", json!({ "frameId": frame }))?))
        });
        Ok(CaptureOrders {
            page,
            world,
            frames,
            focus: focus.transpose()?,
            notes: notes.transpose()?,
            snapshot,
            owner: owner.transpose()?,
        })
    }
}

/// Frames get at least so much, however little the page left.
const LEAST_TIME: Duration = Duration::from_millis(50);

impl CaptureOrders<'_> {
    fn until(mut self, deadline: Deadline) -> Self {
        self.page.deadline = deadline;
        self
    }

    /// `place` is that of the capture which has the frame's element.
    fn receive(self, place: Option<usize>) -> CdpResult<FrameCapture> {
        let documents = self.page.wait::<FrameTreeAnswer>(&self.frames)?.documents();
        let focused = self.focused_node()?;
        let notes = self.element_notes()?;
        let snapshot: PageSnapshot = self.page.wait(&self.snapshot)?;
        let owner = match (self.owner, place) {
            (Some((page, order)), Some(capture)) => {
                let page = PageSession { deadline: self.page.deadline, ..page };
                let element: FrameElement = page.wait(&order)?;
                Some(FrameOwner { capture, backend_node: element.backend_node_id })
            }
            _ => None,
        };
        let ElementNotes { invalid, scrolled } = notes;
        Ok(FrameCapture { snapshot, documents, owner, focused, invalid, scrolled })
    }

    /// What is to be told beside the snapshot. Most pages have nothing, which costs nothing.
    fn element_notes(&self) -> CdpResult<ElementNotes> {
        let Some(notes) = &self.notes else { return Ok(ElementNotes::default()) };
        let answer: Evaluated = match self.page.wait(notes) {
            Ok(answer) => answer,
            Err(CdpFailure::Refused { .. }) => return Ok(ElementNotes::default()),
            Err(failure) => return Err(failure),
        };
        let Some(list) = answer.result.object_id else { return Ok(ElementNotes::default()) };
        let notes = self.describe_elements(&list);
        let release = json!({ "objectGroup": NOTES_GROUP });
        self.page.connection.tell(Some(self.page.session), "Runtime.releaseObjectGroup", release);
        match notes {
            Err(CdpFailure::Refused { .. }) => Ok(ElementNotes::default()),
            notes => notes,
        }
    }

    /// A list of elements, kinds of notes and texts, one after the other.
    fn describe_elements(&self, list: &str) -> CdpResult<ElementNotes> {
        let ask = json!({ "objectId": list, "ownProperties": true });
        let parts: ListedProperties = self.page.call("Runtime.getProperties", ask)?;
        let part = |at: usize| parts.at(at);
        let mut asked = Vec::new();
        for at in (0..parts.result.len()).step_by(3) {
            let (Some(element), Some(kind), Some(text)) = (part(at), part(at + 1), part(at + 2)) else {
                break;
            };
            let Some(object) = &element.object_id else { break };
            let order = self.page.send("DOM.describeNode", json!({ "objectId": object }))?;
            asked.push((order, kind.text().to_owned(), text.text().to_owned()));
        }
        let mut notes = ElementNotes::default();
        for (order, kind, text) in asked {
            let described: DescribedNode = self.page.wait(&order)?;
            notes.take(described.node.backend_node_id, &kind, &text);
        }
        Ok(notes)
    }

    /// The node that has the focus. A page that has just changed has not told it.
    fn focused_node(&self) -> CdpResult<Option<i64>> {
        let Some(focus) = &self.focus else { return Ok(None) };
        let answer: Evaluated = match self.page.wait(focus) {
            Ok(answer) => answer,
            Err(CdpFailure::Refused { .. }) => return Ok(None),
            Err(failure) => return Err(failure),
        };
        let Some(object) = answer.result.object_id else { return Ok(None) };
        match self.innermost_focus(object) {
            Ok(node) => Ok(Some(node)),
            Err(CdpFailure::Refused { .. }) => Ok(None),
            Err(failure) => Err(failure),
        }
    }

    /// The node behind an element that has the focus: the element itself, or what has it in its closed shadow root.
    fn innermost_focus(&self, element: String) -> CdpResult<i64> {
        let mut node = self.describe_and_release(&element)?;
        for _ in 0..MOST_CLOSED_ROOTS {
            let Some(root) = node.closed_root() else { break };
            let Some(inner) = self.focus_below(root)? else { break };
            node = self.describe_and_release(&inner)?;
        }
        Ok(node.backend_node_id)
    }

    fn describe_and_release(&self, object: &str) -> CdpResult<BackendNode> {
        let described = self.page.call::<DescribedNode>("DOM.describeNode", json!({ "objectId": object }));
        let release = json!({ "objectId": object });
        self.page.connection.tell(Some(self.page.session), "Runtime.releaseObject", release);
        described.map(|described| described.node)
    }

    /// In our own world; a frame of the same site has another one, and is asked in the page's.
    fn resolve_root(&self, root: i64) -> CdpResult<Option<String>> {
        let ask = json!({ "backendNodeId": root, "executionContextId": self.world });
        let resolved = match self.page.call::<RemoteObject>("DOM.resolveNode", ask) {
            Err(CdpFailure::Refused { .. }) => {
                self.page.call("DOM.resolveNode", json!({ "backendNodeId": root }))
            }
            resolved => resolved,
        };
        Ok(resolved?.object.object_id)
    }

    fn focus_below(&self, root: i64) -> CdpResult<Option<String>> {
        let Some(object) = self.resolve_root(root)? else { return Ok(None) };
        let ask = json!({ "functionDeclaration": FOCUSED_IN_ROOT, "objectId": object });
        let found = self.page.call::<Evaluated>("Runtime.callFunctionOn", ask);
        let release = json!({ "objectId": object });
        self.page.connection.tell(Some(self.page.session), "Runtime.releaseObject", release);
        Ok(found?.result.object_id)
    }
}
