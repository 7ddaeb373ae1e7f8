//! What is open in the browser, as its events tell it: tabs, the sessions of their frames, dialogs, loading.
//!
//! Events come on the reader's thread and change the state; nothing here waits for an answer.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};

use super::wire::{CdpConnection, CdpEvent, CdpFailure};
use crate::clock::{Bell, Cancel, Deadline, lock};
use crate::config::Size;
use crate::error::{Error, Kind, Result};
use crate::model::Point;

/// Our own world in each page: the page sees nothing of it, and cannot change what runs there.
pub const WORLD: &str = "os-screen-observer";

/// The function that tells us of changes; it exists in our world only.
const BINDING: &str = "osScreenObserverChanged";

/// Tells at once that something changed, and then at most every 30 ms.
const CHANGE_SCRIPT: &str = "(() => {
  let resting = false, missed = false;
  const rest = () => { resting = true; missed = false; setTimeout(() => { resting = false; if (missed) tell(); }, 30); };
  const tell = () => { if (resting) { missed = true; } else { globalThis.osScreenObserverChanged(''); rest(); } };
  new MutationObserver(tell).observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
  for (const kind of ['scroll', 'input', 'change', 'focusin', 'focusout', 'toggle', 'transitionend', 'animationend'])
    addEventListener(kind, tell, { capture: true, passive: true });
})()";

/// A tab, as far as events tell it.
#[derive(Clone, Debug, PartialEq)]
pub struct TabState {
    pub target: String,
    pub session: String,
    pub title: String,
    pub url: String,
    pub size: Size,
    /// It was told everything that has to be told before it runs.
    pub prepared: bool,
    pub dialog: Option<PageDialog>,
    /// A document is on its way, or was asked for.
    pub loading: bool,
    pub crashed: bool,
    /// What a drag carries that the browser handed to us.
    pub drag_data: Option<Value>,
    pub pointer: Point,
}

impl TabState {
    pub fn uid(&self) -> String {
        format!("{TAB_PREFIX}{}", self.target)
    }

    pub fn dialog_uid(&self) -> String {
        format!("{}{DIALOG_SUFFIX}", self.uid())
    }

    /// Refuses to ask a page that would not answer.
    pub fn check_answers(&self) -> Result<()> {
        match (&self.dialog, self.crashed) {
            (Some(_), _) => Err(CdpFailure::DialogOpened.into()),
            (None, true) => Err(Error::new(Kind::WindowGone, "the page has crashed; close its tab")),
            (None, false) => Ok(()),
        }
    }
}

const TAB_PREFIX: &str = "tab:";
const DIALOG_SUFFIX: &str = "/dialog";

/// What a uid is the name of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WindowOfTab<'a> {
    Tab(&'a str),
    Dialog(&'a str),
}

impl<'a> WindowOfTab<'a> {
    pub fn parse(uid: &'a str) -> Option<Self> {
        let target = uid.strip_prefix(TAB_PREFIX)?;
        Some(match target.strip_suffix(DIALOG_SUFFIX) {
            Some(target) => Self::Dialog(target),
            None => Self::Tab(target),
        })
    }
}

/// A dialog that a page opened: `alert`, `confirm`, `prompt`, or the question before it is left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageDialog {
    pub kind: DialogKind,
    pub message: String,
    /// What stands in the field of a prompt.
    pub text: String,
    /// The session that asks.
    pub session: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DialogKind {
    Alert,
    Confirm,
    Prompt,
    BeforeUnload,
}

impl DialogKind {
    fn parse(word: &str) -> Self {
        match word {
            "alert" => Self::Alert,
            "prompt" => Self::Prompt,
            "beforeunload" => Self::BeforeUnload,
            _ => Self::Confirm,
        }
    }
}

/// The session of a frame of another site.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrameSession {
    pub session: String,
    /// The frame, which is called as its target.
    pub frame: String,
    /// The session of the page or frame that it is in.
    pub parent: String,
    tab: String,
}

#[derive(Debug, Default)]
struct OpenTabs {
    tabs: Vec<TabState>,
    frames: Vec<FrameSession>,
    /// Targets, the one in front first.
    order: Vec<String>,
    /// Our worlds: session and frame to the browser's number of the world.
    worlds: HashMap<(String, String), i64>,
}

/// The tabs of one browser.
#[derive(Debug)]
pub struct Tabs {
    open: Mutex<OpenTabs>,
    bell: Bell,
    size: Size,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Attached {
    session_id: String,
    target_info: TargetInfo,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct InfoChanged {
    target_info: TargetInfo,
}

/// What the browser answers to who asks for its targets.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TargetList {
    target_infos: Vec<TargetInfo>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TargetInfo {
    target_id: String,
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    title: String,
    #[serde(default)]
    url: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Detached {
    session_id: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Crashed {
    target_id: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[derive(Default)]
struct DialogOpening {
    message: String,
    #[serde(rename = "type")]
    kind: String,
    default_prompt: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct OfFrame {
    frame_id: String,
    #[serde(default)]
    disposition: Option<String>,
}

#[derive(Deserialize)]
struct Navigated {
    frame: NavigatedFrame,
}

#[derive(Deserialize)]
struct NavigatedFrame {
    id: String,
}

#[derive(Deserialize)]
struct WorldMade {
    context: WorldContext,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WorldContext {
    id: i64,
    #[serde(default)]
    name: String,
    #[serde(default)]
    aux_data: Value,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WorldGone {
    execution_context_id: i64,
}

#[derive(Deserialize)]
struct DragIntercepted {
    data: Value,
}

impl Tabs {
    pub fn new(size: Size, bell: Bell) -> Self {
        Self { open: Mutex::default(), bell, size }
    }

    /// Hears events for as long as the tabs and their connection live.
    pub fn listener(
        self: &Arc<Self>,
        connection: &Arc<CdpConnection>,
    ) -> impl FnMut(&CdpEvent<'_>) + Send + 'static {
        let (tabs, connection): (Weak<Self>, Weak<CdpConnection>) =
            (Arc::downgrade(self), Arc::downgrade(connection));
        move |event| {
            if let (Some(tabs), Some(connection)) = (tabs.upgrade(), connection.upgrade()) {
                match event.method {
                    "Target.attachedToTarget" => tabs.attach(&connection, event),
                    _ => tabs.take_event(&connection, event),
                }
            }
        }
    }

    /// The tabs in the order in which they were opened.
    pub fn all(&self) -> Vec<TabState> {
        lock(&self.open).tabs.clone()
    }

    pub fn find(&self, target: &str) -> Option<TabState> {
        lock(&self.open).tabs.iter().find(|tab| tab.target == target).cloned()
    }

    /// Targets from the front to the back.
    pub fn order(&self) -> Vec<String> {
        lock(&self.open).order.clone()
    }

    pub fn bring_to_front(&self, target: &str) {
        lock(&self.open).bring_to_front(target);
        self.bell.ring();
    }

    /// The sessions of a tab's frames of other sites, each after the one that it is in.
    pub fn frames_of(&self, tab: &TabState) -> Vec<FrameSession> {
        lock(&self.open).frames.iter().filter(|frame| frame.tab == tab.target).cloned().collect()
    }

    /// The number of our world in a frame.
    pub fn world_in(&self, session: &str, frame: &str) -> Option<i64> {
        lock(&self.open).worlds.get(&(session.to_owned(), frame.to_owned())).copied()
    }

    pub fn change(&self, target: &str, change: impl FnOnce(&mut TabState)) {
        if let Some(tab) = lock(&self.open).tabs.iter_mut().find(|tab| tab.target == target) {
            change(tab);
        }
        self.bell.ring();
    }

    fn take_event(&self, connection: &CdpConnection, event: &CdpEvent<'_>) {
        let session = event.session.unwrap_or_default();
        match event.method {
            "Target.detachedFromTarget" => {
                if let Some(Detached { session_id }) = event.read() {
                    lock(&self.open).detach(&session_id);
                }
            }
            "Target.targetInfoChanged" => self.rename(event),
            "Target.targetCrashed" => {
                if let Some(Crashed { target_id }) = event.read() {
                    self.change(&target_id, |tab| tab.crashed = true);
                }
            }
            "Page.javascriptDialogOpening" => self.open_dialog(connection, session, event),
            "Page.javascriptDialogClosed" => self.change_of_session(session, |tab| tab.dialog = None),
            "Page.frameRequestedNavigation" | "Page.frameStartedLoading" => {
                self.set_loading(session, event, true);
            }
            "Page.frameStoppedLoading" => self.set_loading(session, event, false),
            "Page.frameNavigated" => self.revive(session, event),
            "Input.dragIntercepted" => {
                if let Some(DragIntercepted { data }) = event.read() {
                    self.change_of_session(session, |tab| tab.drag_data = Some(data));
                }
            }
            "Runtime.executionContextCreated" => return self.note_world(session, event),
            "Runtime.executionContextDestroyed" => {
                if let Some(WorldGone { execution_context_id }) = event.read() {
                    lock(&self.open)
                        .worlds
                        .retain(|(of, _), world| of != session || *world != execution_context_id);
                }
                return;
            }
            "Runtime.executionContextsCleared" => {
                lock(&self.open).worlds.retain(|(of, _), _| of != session);
                return;
            }
            "Runtime.bindingCalled" => {}
            other if other.starts_with("Page.") || other.starts_with("Target.") => {}
            _ => return,
        }
        self.bell.ring();
    }

    fn attach(self: &Arc<Self>, connection: &Arc<CdpConnection>, event: &CdpEvent<'_>) {
        let Some(Attached { session_id, target_info }) = event.read() else { return };
        let (is_page, target) = (target_info.kind == "page", target_info.target_id.clone());
        let known = lock(&self.open).attach(event.session, session_id.clone(), target_info, self.size);
        if known {
            prepare_session(connection, &session_id);
        }
        if known && is_page {
            let (tabs, connection) = (self.clone(), connection.clone());
            // Not on the reader's thread, which has to read the answers.
            std::thread::spawn(move || tabs.prepare_page(&connection, &session_id, &target));
        } else {
            connection.tell(Some(&session_id), "Runtime.runIfWaitingForDebugger", json!({}));
        }
        self.bell.ring();
    }

    /// A page goes on only when it was prepared: Chromium 156 crashes on pages that navigate while they are.
    fn prepare_page(&self, connection: &CdpConnection, session: &str, target: &str) {
        let (deadline, cancel) = (Deadline::after(PREPARATION), Cancel::new());
        let orders = [
            // A page in the background has its focus all the same: it is worked without being raised.
            ("Emulation.setFocusEmulationEnabled", json!({ "enabled": true })),
            ("Emulation.setDeviceMetricsOverride", device_metrics(self.size)),
            ("Page.getFrameTree", json!({})),
        ];
        for (method, params) in orders {
            // A page that does not answer is worked as it is.
            let _ = connection
                .send(Some(session), method, params)
                .and_then(|order| connection.wait::<Value>(&order, deadline, &cancel));
        }
        connection.tell(Some(session), "Runtime.runIfWaitingForDebugger", json!({}));
        self.change(target, |tab| tab.prepared = true);
    }

    fn rename(&self, event: &CdpEvent<'_>) {
        if let Some(InfoChanged { target_info }) = event.read() {
            self.take_titles(TargetList { target_infos: vec![target_info] });
        }
    }

    pub fn take_titles(&self, list: TargetList) {
        let mut open = lock(&self.open);
        for info in list.target_infos {
            if let Some(tab) = open.tabs.iter_mut().find(|tab| tab.target == info.target_id) {
                tab.title = info.title;
                tab.url = info.url;
            }
        }
    }

    /// Whoever waits for the page is told; nothing of it answers before the dialog has gone.
    fn open_dialog(&self, connection: &CdpConnection, session: &str, event: &CdpEvent<'_>) {
        let opening: DialogOpening = event.read().unwrap_or_default();
        let dialog = PageDialog {
            kind: DialogKind::parse(&opening.kind),
            message: opening.message,
            text: opening.default_prompt,
            session: session.to_owned(),
        };
        self.change_of_session(session, |tab| tab.dialog = Some(dialog));
        let held_up = lock(&self.open).sessions_beside(session);
        connection.interrupt(|session| held_up.iter().any(|other| other == session));
    }

    fn set_loading(&self, session: &str, event: &CdpEvent<'_>, loading: bool) {
        let Some(OfFrame { frame_id, disposition }) = event.read() else { return };
        if disposition.is_none_or(|disposition| disposition == "currentTab") {
            // The frame of the page itself is called as its target.
            self.change_of_session(session, |tab| {
                if tab.target == frame_id {
                    tab.loading = loading;
                }
            });
        }
    }

    /// A page that shows another document has not crashed, or no longer.
    fn revive(&self, session: &str, event: &CdpEvent<'_>) {
        let Some(Navigated { frame }) = event.read() else { return };
        self.change_of_session(session, |tab| tab.crashed &= tab.target != frame.id);
    }

    fn change_of_session(&self, session: &str, change: impl FnOnce(&mut TabState)) {
        let mut open = lock(&self.open);
        let Some(target) = open.target_of_session(session) else { return };
        if let Some(tab) = open.tabs.iter_mut().find(|tab| tab.target == target) {
            change(tab);
        }
    }

    fn note_world(&self, session: &str, event: &CdpEvent<'_>) {
        let Some(WorldMade { context }) = event.read() else { return };
        let frame = context.aux_data.get("frameId").and_then(Value::as_str);
        if let Some(frame) = frame.filter(|_| context.name == WORLD) {
            lock(&self.open).worlds.insert((session.to_owned(), frame.to_owned()), context.id);
        }
    }
}

impl OpenTabs {
    /// Whether it is something that is worked: a page, or a frame of one.
    fn attach(&mut self, parent: Option<&str>, session: String, info: TargetInfo, size: Size) -> bool {
        let target = info.target_id;
        match (info.kind.as_str(), parent) {
            ("page", _) => {
                self.order.insert(0, target.clone());
                self.tabs.push(TabState {
                    target,
                    session,
                    title: info.title,
                    url: info.url,
                    size,
                    prepared: false,
                    dialog: None,
                    loading: false,
                    crashed: false,
                    drag_data: None,
                    pointer: Point::default(),
                });
                true
            }
            ("iframe", Some(parent)) => {
                let Some(tab) = self.target_of_session(parent) else { return false };
                self.frames.push(FrameSession { session, frame: target, parent: parent.to_owned(), tab });
                true
            }
            _ => false,
        }
    }

    fn detach(&mut self, session: &str) {
        let gone = self.tabs.iter().find(|tab| tab.session == session).map(|tab| tab.target.clone());
        if let Some(target) = gone {
            self.tabs.retain(|tab| tab.target != target);
            self.order.retain(|other| *other != target);
            self.frames.retain(|frame| frame.tab != target);
        }
        self.frames.retain(|frame| frame.session != session);
        self.worlds.retain(|(of, _), _| of != session);
    }

    fn bring_to_front(&mut self, target: &str) {
        if let Some(at) = self.order.iter().position(|other| other == target) {
            let front = self.order.remove(at);
            self.order.insert(0, front);
        }
    }

    fn target_of_session(&self, session: &str) -> Option<String> {
        let of_tab = self.tabs.iter().find(|tab| tab.session == session).map(|tab| &tab.target);
        let of_frame = || self.frames.iter().find(|frame| frame.session == session).map(|frame| &frame.tab);
        of_tab.or_else(of_frame).cloned()
    }

    /// All sessions of the tab that a session is of.
    fn sessions_beside(&self, session: &str) -> Vec<String> {
        let Some(target) = self.target_of_session(session) else { return Vec::new() };
        let tabs = self.tabs.iter().filter(|tab| tab.target == target).map(|tab| tab.session.clone());
        let frames =
            self.frames.iter().filter(|frame| frame.tab == target).map(|frame| frame.session.clone());
        tabs.chain(frames).collect()
    }
}

/// How long the preparation of a page may take.
const PREPARATION: Duration = Duration::from_secs(5);

/// What a session is told before its page runs.
fn prepare_session(connection: &CdpConnection, session: &str) {
    let tell = |method, params| connection.tell(Some(session), method, params);
    tell("Page.enable", json!({}));
    tell("DOM.enable", json!({}));
    tell("Runtime.enable", json!({}));
    tell("Runtime.addBinding", json!({ "name": BINDING, "executionContextName": WORLD }));
    let script = json!({ "source": CHANGE_SCRIPT, "worldName": WORLD, "runImmediately": true });
    tell("Page.addScriptToEvaluateOnNewDocument", script);
    tell("Target.setAutoAttach", auto_attach());
}

/// Pages and their frames are attached to before they run.
pub fn auto_attach() -> Value {
    json!({
        "autoAttach": true,
        "waitForDebuggerOnStart": true,
        "flatten": true,
        "filter": [{ "type": "page" }, { "type": "iframe" }],
    })
}

pub fn device_metrics(size: Size) -> Value {
    json!({ "width": size.width, "height": size.height, "deviceScaleFactor": 1, "mobile": false })
}
