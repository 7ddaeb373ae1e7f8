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
/// How long a page that changes its process is left alone before it is asked again.
const SEND_AGAIN: Duration = Duration::from_millis(10);

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

    /// What is sent while the page changes its process is refused before it is begun, so it is sent again.
    pub fn call<T: DeserializeOwned>(&self, method: &'static str, params: Value) -> CdpResult<T> {
        loop {
            match self.send(method, params.clone()).and_then(|order| self.wait(&order)) {
                Err(failure) if failure.is_between_processes() && !self.deadline.is_over() => {
                    self.connection.sleep(SEND_AGAIN.min(self.deadline.left()), self.cancel)?;
                }
                answer => return answer,
            }
        }
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
pub struct RemoteObject {
    pub object: ObjectFacts,
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

impl ObjectFacts {
    pub fn text(&self) -> &str {
        self.value.as_str().unwrap_or_default()
    }

    pub fn is_true(&self) -> bool {
        self.value == Value::Bool(true)
    }

    pub fn number(&self) -> Option<f64> {
        self.value.as_f64()
    }
}

/// The entries of a list that stayed in the page.
#[derive(Deserialize)]
pub struct ListedProperties {
    #[serde(default)]
    pub result: Vec<ListedProperty>,
}

#[derive(Deserialize)]
pub struct ListedProperty {
    name: String,
    #[serde(default)]
    value: Option<ObjectFacts>,
}

impl ListedProperties {
    pub fn at(&self, index: usize) -> Option<&ObjectFacts> {
        let name = index.to_string();
        self.result.iter().find(|part| part.name == name).and_then(|part| part.value.as_ref())
    }
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
    /// It is a link, or stands in one, that is for a file to fetch.
    pub download: bool,
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

const CALL_FUNCTION: &str = "Runtime.callFunctionOn";

impl PageNode<'_> {
    /// What a function of ours says, called on the node in our own world.
    pub fn ask<T: DeserializeOwned>(&self, function: &'static str, arguments: &[Value]) -> CdpResult<T> {
        let order = self.send_ask(function, arguments)?;
        self.receive(&order)
    }

    /// The same, for who sends more before the answer has come.
    pub fn send_ask(&self, function: &'static str, arguments: &[Value]) -> CdpResult<SentOrder> {
        let arguments: Vec<Value> = arguments.iter().map(|value| json!({ "value": value })).collect();
        let params = json!({
            "objectId": self.object,
            "functionDeclaration": function,
            "arguments": arguments,
            "returnByValue": true,
        });
        self.page.send(CALL_FUNCTION, params)
    }

    pub fn receive<T: DeserializeOwned>(&self, order: &SentOrder) -> CdpResult<T> {
        let answer: Evaluated = self.page.wait(order)?;
        let method = CALL_FUNCTION;
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
        enabled(self.facts()?)
    }
}

/// What it says of itself, unless nothing can be done to it now.
pub fn enabled(facts: ElementFacts) -> Result<ElementFacts> {
    if facts.disabled {
        let message = format!("'{}' is disabled now", facts.label);
        return Err(Error::new(Kind::ElementDisabled, message));
    }
    Ok(facts)
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

fn ask_for_node(page: PageSession<'_>, backend_node: i64, world: i64) -> CdpResult<SentOrder> {
    page.send("DOM.resolveNode", json!({ "backendNodeId": backend_node, "executionContextId": world }))
}

fn receive_node<'a>(
    page: PageSession<'a>,
    frame: &str,
    backend_node: i64,
    order: &SentOrder,
) -> Result<PageNode<'a>> {
    match page.wait::<RemoteObject>(order) {
        Ok(RemoteObject { object: ObjectFacts { object_id: Some(object), .. } }) => {
            Ok(PageNode { page, frame: frame.to_owned(), backend_node, object })
        }
        Ok(_) | Err(CdpFailure::Refused { .. }) => Err(node_gone()),
        Err(failure) => Err(failure.into()),
    }
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
            let frames = page.send("Page.getFrameTree", json!({}))?;
            // Where our world is known the node is asked for at the same time.
            let world = self.tabs.world_in(session, &handle.frame);
            let node = world.map(|world| ask_for_node(page, handle.backend_node, world)).transpose()?;
            let documents = page.wait::<FrameTreeAnswer>(&frames)?.documents();
            match (documents.get(&handle.frame), node) {
                (None, _) => {}
                (Some(document), _) if *document != handle.document => return Err(another_document()),
                (Some(_), Some(order)) => {
                    return receive_node(page, &handle.frame, handle.backend_node, &order);
                }
                (Some(_), None) => return self.resolve_node(page, &handle.frame, handle.backend_node),
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
        receive_node(page, frame, backend_node, &ask_for_node(page, backend_node, world)?)
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

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader, Write};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::super::wire::CdpEvent;
    use super::*;

    const BETWEEN: &str = r#""error":{"code":-32000,"message":"Not attached to an active page"}"#;
    const REFUSED: &str = r#""error":{"code":-32000,"message":"No node with given id found"}"#;
    const DONE: &str = r#""result":{"done":true}"#;

    /// Asks a browser that gives these answers, the last one again and again. Answers what was heard, and how often it
    /// was asked.
    fn ask(answers: &'static [&'static str], time: Duration) -> (CdpResult<Value>, usize) {
        let ((heard, orders), (answered, mut says)) = (std::io::pipe().unwrap(), std::io::pipe().unwrap());
        let connection = Arc::new(CdpConnection::new(Box::new(orders)));
        connection.listen(Box::new(answered), |_: &CdpEvent<'_>| (), || ()).unwrap();
        let asked = Arc::new(AtomicUsize::new(0));
        let counted = asked.clone();
        std::thread::spawn(move || {
            for order in BufReader::new(heard).split(0).map_while(std::result::Result::ok) {
                let order: Value = serde_json::from_slice(&order).unwrap();
                let answer = answers[counted.fetch_add(1, Ordering::SeqCst).min(answers.len() - 1)];
                // A test that has heard enough does not read the rest.
                let _ = says.write_all(format!("{{\"id\":{},{answer}}}\0", order["id"]).as_bytes());
            }
        });
        let (deadline, cancel) = (Deadline::after(time), Cancel::new());
        let page = PageSession { connection: &connection, session: "s", deadline, cancel: &cancel };
        (page.call("Page.navigate", json!({})), asked.load(Ordering::SeqCst))
    }

    #[test]
    fn an_order_is_sent_again_while_the_page_changes_its_process() {
        let enough = Duration::from_secs(60);
        assert_eq!(ask(&[BETWEEN, BETWEEN, DONE], enough), (Ok(json!({ "done": true })), 3));
        let (answer, asked) = ask(&[REFUSED, DONE], enough);
        assert!(matches!(answer, Err(CdpFailure::Refused { .. })), "{answer:?}");
        assert_eq!(asked, 1, "what is refused for another reason is not sent again");
    }

    #[test]
    fn a_page_that_never_gets_its_process_is_given_up() {
        let (answer, asked) = ask(&[BETWEEN], Duration::from_millis(100));
        assert!(answer.is_err() && asked > 1, "{answer:?} after {asked}");
    }
}
