//! What is in a page: a snapshot of it and of each frame of another site, made at the same time.

use std::time::Duration;

use serde::Deserialize;
use serde_json::json;

use super::Browser;
use super::decode::snapshot::{PageSnapshot, STYLES};
use super::decode::tree::{FrameCapture, FrameOwner, page_tree};
use super::page::{Evaluated, FrameTreeAnswer, PageSession};
use super::script::FOCUSED_ELEMENT;
use super::tabs::{FrameSession, TabState, WindowOfTab};
use super::wire::{CdpFailure, CdpResult, SentOrder};
use super::{dialogs, page};
use crate::clock::{Cancel, Deadline};
use crate::error::Result;
use crate::model::input::Handle;
use crate::model::{Element, Role, Tree, Window};
use crate::platform::{Accessibility, FieldText, Patience, gone};

#[derive(Deserialize)]
struct DescribedNode {
    node: BackendNode,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct BackendNode {
    #[serde(default)]
    backend_node_id: i64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct FrameElement {
    backend_node_id: i64,
}

/// What was asked of one session, all at once.
struct CaptureOrders<'a> {
    page: PageSession<'a>,
    frames: SentOrder,
    focus: Option<SentOrder>,
    snapshot: SentOrder,
    owner: Option<(PageSession<'a>, SentOrder)>,
}

impl Accessibility for Browser {
    fn tree(&self, window: &Window, patience: &Patience) -> Result<Tree> {
        let tab = match WindowOfTab::parse(&window.uid) {
            Some(WindowOfTab::Dialog(target)) => {
                let tab = self.tabs.find(target).ok_or_else(|| gone(&window.uid))?;
                return dialogs::dialog_tree(&tab).ok_or_else(|| gone(&window.uid));
            }
            Some(WindowOfTab::Tab(target)) => self.tabs.find(target),
            None => None,
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
                Ok(tree)
            }
            Err(CdpFailure::DialogOpened) => Ok(unread_tree(window, HELD_UP)),
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
        let characters = facts.value.as_ref().map(|value| value.chars().count());
        Ok(Some(FieldText {
            focused: facts.focused,
            text: facts.value.filter(|_| !facts.secret),
            characters,
        }))
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

    /// The page and its frames, and whether all of them answered.
    fn capture_tab(&self, tab: &TabState, patience: &Patience) -> CdpResult<(Vec<FrameCapture>, bool)> {
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
        let snapshot = page.send(
            "DOMSnapshot.captureSnapshot",
            json!({ "computedStyles": STYLES, "includeDOMRects": true }),
        )?;
        let owner = held_by.map(|held_by| {
            let parent = page.in_session(&held_by.parent);
            Ok((parent, parent.send("DOM.getFrameOwner", json!({ "frameId": frame }))?))
        });
        Ok(CaptureOrders { page, frames, focus: focus.transpose()?, snapshot, owner: owner.transpose()? })
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
        let snapshot: PageSnapshot = self.page.wait(&self.snapshot)?;
        let owner = match (self.owner, place) {
            (Some((page, order)), Some(capture)) => {
                let page = PageSession { deadline: self.page.deadline, ..page };
                let element: FrameElement = page.wait(&order)?;
                Some(FrameOwner { capture, backend_node: element.backend_node_id })
            }
            _ => None,
        };
        Ok(FrameCapture { snapshot, documents, owner, focused })
    }

    /// The node that has the focus. A page that has just changed has not told it.
    fn focused_node(&self) -> CdpResult<Option<i64>> {
        let Some(focus) = &self.focus else { return Ok(None) };
        let answer: page::Evaluated = match self.page.wait::<Evaluated>(focus) {
            Ok(answer) => answer,
            Err(CdpFailure::Refused { .. }) => return Ok(None),
            Err(failure) => return Err(failure),
        };
        let Some(object) = answer.result.object_id else { return Ok(None) };
        let described = self.page.call::<DescribedNode>("DOM.describeNode", json!({ "objectId": object }));
        let release = json!({ "objectId": object });
        self.page.connection.tell(Some(self.page.session), "Runtime.releaseObject", release);
        match described {
            Ok(described) => Ok(Some(described.node.backend_node_id)),
            Err(CdpFailure::Refused { .. }) => Ok(None),
            Err(failure) => Err(failure),
        }
    }
}
