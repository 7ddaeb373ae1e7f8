//! Asking a page: one session with its deadline, and one node of it that a handle leads to.

use std::collections::HashMap;
use std::time::Duration;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::Browser;
use super::decode::handle::NodeHandle;
use super::script;
use super::tabs::TabState;
use super::wire::{CdpConnection, CdpFailure, CdpResult, SentOrder};
use crate::clock::{Cancel, Deadline};
use crate::error::{Error, Kind, Result};
use crate::model::input::Handle;

/// How long one input may take to be answered by its page.
pub const INPUT_TIME: Duration = Duration::from_secs(10);

/// One session of the browser, asked by one call.
#[derive(Clone, Copy)]
pub struct PageSession<'a> {
    pub connection: &'a CdpConnection,
    pub session: &'a str,
    pub deadline: Deadline,
    pub cancel: &'a Cancel,
}

impl<'a> PageSession<'a> {
    pub fn send(&self, method: &'static str, params: Value) -> CdpResult<SentOrder> {
        self.connection.send(Some(self.session), method, params)
    }

    pub fn wait<T: DeserializeOwned>(&self, order: &SentOrder) -> CdpResult<T> {
        self.connection.wait(order, self.deadline, self.cancel)
    }

    pub fn call<T: DeserializeOwned>(&self, method: &'static str, params: Value) -> CdpResult<T> {
        let order = self.send(method, params)?;
        self.wait(&order)
    }

    /// The same for another session of the page.
    pub fn in_session(self, session: &'a str) -> Self {
        Self { session, ..self }
    }

    pub fn frame_documents(&self) -> CdpResult<HashMap<String, String>> {
        self.call::<FrameTreeAnswer>("Page.getFrameTree", json!({})).map(FrameTreeAnswer::documents)
    }
}

/// Which frames a session has, and which document each of them shows.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FrameTreeAnswer {
    frame_tree: FrameNode,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct FrameNode {
    frame: FrameFacts,
    #[serde(default)]
    child_frames: Vec<FrameNode>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct FrameFacts {
    id: String,
    #[serde(default)]
    loader_id: String,
}

impl FrameTreeAnswer {
    pub fn documents(self) -> HashMap<String, String> {
        let mut documents = HashMap::new();
        let mut rest = vec![self.frame_tree];
        while let Some(node) = rest.pop() {
            documents.insert(node.frame.id, node.frame.loader_id);
            rest.extend(node.child_frames);
        }
        documents
    }
}

#[derive(Deserialize)]
struct RemoteObject {
    object: ObjectFacts,
}

#[derive(Deserialize)]
pub struct Evaluated {
    pub result: ObjectFacts,
    #[serde(default, rename = "exceptionDetails")]
    exception: Option<Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ObjectFacts {
    #[serde(default)]
    pub object_id: Option<String>,
    #[serde(default)]
    value: Value,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct FrameOwnerAnswer {
    backend_node_id: i64,
}

/// What an element says of itself before an input.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct ElementFacts {
    pub tag: String,
    pub kind: String,
    pub disabled: bool,
    pub readonly: bool,
    pub editable: bool,
    pub secret: bool,
    pub value: Option<String>,
    pub focused: bool,
    pub min: String,
    pub max: String,
    pub label: String,
}

/// A node that was found and can be asked.
pub struct PageNode<'a> {
    pub page: PageSession<'a>,
    pub frame: String,
    pub backend_node: i64,
    object: String,
}

impl PageNode<'_> {
    /// What a function of ours says, called on the node in our own world.
    pub fn ask<T: DeserializeOwned>(&self, function: &'static str, arguments: &[Value]) -> CdpResult<T> {
        let arguments: Vec<Value> = arguments.iter().map(|value| json!({ "value": value })).collect();
        let params = json!({
            "objectId": self.object,
            "functionDeclaration": function,
            "arguments": arguments,
            "returnByValue": true,
        });
        let answer: Evaluated = self.page.call("Runtime.callFunctionOn", params)?;
        let method = "Runtime.callFunctionOn";
        if let Some(exception) = answer.exception {
            return Err(CdpFailure::Refused { method, message: exception_text(&exception) });
        }
        serde_json::from_value(answer.result.value)
            .map_err(|problem| CdpFailure::Unreadable { method, problem: problem.to_string() })
    }

    pub fn facts(&self) -> CdpResult<ElementFacts> {
        self.ask(script::ELEMENT_FACTS, &[])
    }

    pub fn enabled_facts(&self) -> Result<ElementFacts> {
        let facts = self.facts()?;
        if facts.disabled {
            let message = format!("'{}' is disabled now", facts.label);
            return Err(Error::new(Kind::ElementDisabled, message));
        }
        Ok(facts)
    }
}

impl Drop for PageNode<'_> {
    fn drop(&mut self) {
        let params = json!({ "objectId": self.object });
        self.page.connection.tell(Some(self.page.session), "Runtime.releaseObject", params);
    }
}

fn exception_text(exception: &Value) -> String {
    let told = exception.pointer("/exception/description").or_else(|| exception.get("text"));
    told.and_then(Value::as_str).unwrap_or("the function failed").chars().take(200).collect()
}

/// What is said when the page of an element is no longer there.
fn another_document() -> Error {
    Error::new(
        Kind::ElementNotFound,
        "the page that had the element has gone, and another one is at its place; look again",
    )
}

fn node_gone() -> Error {
    Error::new(Kind::ElementNotFound, "the page no longer has the element; look again")
}

impl Browser {
    pub(super) fn page_session<'a>(&'a self, tab: &'a TabState, cancel: &'a Cancel) -> PageSession<'a> {
        PageSession {
            connection: &self.connection,
            session: &tab.session,
            deadline: Deadline::after(INPUT_TIME),
            cancel,
        }
    }

    /// The node of a handle, if its document still shows.
    pub(super) fn find_node<'a>(
        &self,
        page: PageSession<'a>,
        sessions: &'a [String],
        element: &Handle,
    ) -> Result<PageNode<'a>> {
        let handle = NodeHandle::parse(&element.native).ok_or_else(node_gone)?;
        for session in sessions {
            let page = page.in_session(session);
            match page.frame_documents()?.get(&handle.frame) {
                None => {}
                Some(document) if *document == handle.document => {
                    return self.resolve_node(page, &handle.frame, handle.backend_node);
                }
                Some(_) => return Err(another_document()),
            }
        }
        Err(another_document())
    }

    fn resolve_node<'a>(
        &self,
        page: PageSession<'a>,
        frame: &str,
        backend_node: i64,
    ) -> Result<PageNode<'a>> {
        let world = self.world_in(page, frame)?;
        let params = json!({ "backendNodeId": backend_node, "executionContextId": world });
        match page.call::<RemoteObject>("DOM.resolveNode", params) {
            Ok(RemoteObject { object: ObjectFacts { object_id: Some(object), .. } }) => {
                Ok(PageNode { page, frame: frame.to_owned(), backend_node, object })
            }
            Ok(_) | Err(CdpFailure::Refused { .. }) => Err(node_gone()),
            Err(failure) => Err(failure.into()),
        }
    }

    /// Our world in a frame; it is made with every document, and made again where that has not been heard of yet.
    pub(super) fn world_in(&self, page: PageSession<'_>, frame: &str) -> CdpResult<i64> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct WorldAnswer {
            execution_context_id: i64,
        }
        if let Some(world) = self.tabs.world_in(page.session, frame) {
            return Ok(world);
        }
        let params = json!({ "frameId": frame, "worldName": super::tabs::WORLD });
        let answer: WorldAnswer = page.call("Page.createIsolatedWorld", params)?;
        Ok(answer.execution_context_id)
    }

    /// The element that a frame is in, with the session that has it; nothing for the page itself.
    pub(super) fn frame_owner<'a>(
        &self,
        page: PageSession<'a>,
        sessions: &'a [String],
        frame: &str,
    ) -> Result<Option<PageNode<'a>>> {
        for session in sessions {
            let page = page.in_session(session);
            let asked = page.call::<FrameOwnerAnswer>("DOM.getFrameOwner", json!({ "frameId": frame }));
            let owner = match asked {
                Ok(owner) => owner,
                Err(CdpFailure::Refused { .. }) => continue,
                Err(failure) => return Err(failure.into()),
            };
            let outer = self.frame_of_node(page, owner.backend_node_id)?;
            return self.resolve_node(page, &outer, owner.backend_node_id).map(Some);
        }
        Ok(None)
    }

    /// The frame whose document has a node.
    fn frame_of_node(&self, page: PageSession<'_>, backend_node: i64) -> Result<String> {
        let frames = page.frame_documents()?;
        for frame in frames.keys() {
            let node = self.resolve_node(page, frame, backend_node);
            if node.is_ok_and(|node| node.ask::<bool>(script::IS_OF_THIS_FRAME, &[]).unwrap_or(false)) {
                return Ok(frame.clone());
            }
        }
        Err(node_gone())
    }
}
