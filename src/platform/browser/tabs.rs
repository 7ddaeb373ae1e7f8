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

/// Comes when the page has done what it was given to do by now, and has told what changed: what runs after a script of
/// the page has run then. Whether it was there to be asked.
pub const REST: &str = "globalThis.osScreenObserverRest ? osScreenObserverRest() : false";

/// Tells at once that something changed, and then at most every 30 ms; and what the browser does not accept in a field.
/// Remembers the boxes that were scrolled, and the fields that were written from here. The page was told of each value at once; what the browser would tell
/// it of the same value when the field is left does not reach it.
const CHANGE_SCRIPT: &str = "(() => {
  let resting = false, missed = false;
  const tellMissed = () => { if (missed) { missed = false; globalThis.osScreenObserverChanged(''); } };
  globalThis.osScreenObserverRest = () => new Promise((done) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => setTimeout(() => { tellMissed(); done(true); });
    port2.postMessage(0);
  });
  const rest = () => { resting = true; missed = false; setTimeout(() => { resting = false; if (missed) tell(); }, 30); };
  const tell = () => { if (resting) { missed = true; } else { globalThis.osScreenObserverChanged(''); rest(); } };
  new MutationObserver(tell).observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
  for (const kind of ['scroll', 'input', 'change', 'focusin', 'focusout', 'toggle', 'transitionend', 'animationend'])
    addEventListener(kind, tell, { capture: true, passive: true });
  const heard = new WeakMap(), watched = new WeakSet();
  let written = [];
  const dropSecond = (event) => {
    const field = event.composedPath()[0];
    if (!event.isTrusted || !heard.has(field)) return;
    const value = heard.get(field);
    heard.delete(field);
    if (field.value === value) event.stopImmediatePropagation();
  };
  addEventListener('change', dropSecond, { capture: true });
  globalThis.osScreenObserverWrote = (field, typed) => {
    const root = field.getRootNode();
    if (root !== document && !watched.has(root)) { watched.add(root); root.addEventListener('change', dropSecond, { capture: true }); }
    if (typed) heard.set(field, field.value);
    if (!written.some((known) => known.deref() === field)) written = written.slice(-99).concat(new WeakRef(field));
  };
  const known = (refs) => refs.map((ref) => ref.deref()).filter((element) => element && element.isConnected);
  globalThis.osScreenObserverFields = () => known(written);
  const moved = new WeakSet();
  let scrolled = [];
  addEventListener('scroll', (event) => {
    const box = event.composedPath()[0];
    if (box.nodeType !== Node.ELEMENT_NODE || moved.has(box)) return;
    moved.add(box);
    scrolled = scrolled.slice(-49).concat(new WeakRef(box));
  }, { capture: true, passive: true });
  globalThis.osScreenObserverScrolled = () => known(scrolled);
  let told = 0;
  addEventListener('invalid', (event) => {
    const field = event.target;
    if (!event.isTrusted || !field || told > 50) return;
    if (told++ === 0) setTimeout(() => { told = 0; }, 200);
    const label = field.getAttribute('aria-label') || (field.labels && field.labels[0] && field.labels[0].innerText)
      || field.getAttribute('placeholder') || field.getAttribute('name') || field.localName;
    const short = (text, most) => String(text || '').trim().replace(/\\s+/g, ' ').slice(0, most);
    globalThis.osScreenObserverChanged(JSON.stringify({ label: short(label, 60), message: short(field.validationMessage, 160) }));
  }, { capture: true, passive: true });
})()";

/// A tab, as far as events tell it.
#[derive(Clone, Debug, PartialEq)]
pub struct TabState {
    pub target: String,
    /// The beginning of its target, as much as no other tab has: what its uid calls it.
    pub name: String,
    pub session: String,
    pub title: String,
    pub url: String,
    pub size: Size,
    /// It was told everything that has to be told before it runs.
    pub prepared: bool,
    pub dialog: Option<PageDialog>,
    /// The dialogs that it opened since somebody last did something else to it.
    pub dialogs_in_a_row: usize,
    /// The dialogs and file choosers that it opened.
    pub questions: u64,
    pub chooser: Option<FileChooser>,
    /// A document is on its way, or was asked for.
    pub loading: bool,
    /// A document was asked for, and neither came nor was given up.
    pub asked: bool,
    /// What its fields say is wrong with them, since somebody last did something to it.
    pub invalid: Vec<String>,
    /// How often it began to load a document.
    pub loads: u64,
    /// How often what it asked for became a file.
    pub fetches: u64,
    pub crashed: bool,
    /// What a drag carries that the browser handed to us.
    pub drag_data: Option<Value>,
    pub pointer: Point,
}

impl TabState {
    fn new(target: String, session: String, size: Size) -> Self {
        Self {
            name: target.clone(),
            target,
            session,
            title: String::new(),
            url: String::new(),
            size,
            prepared: false,
            dialog: None,
            dialogs_in_a_row: 0,
            questions: 0,
            chooser: None,
            loading: false,
            asked: false,
            invalid: Vec::new(),
            loads: 0,
            fetches: 0,
            crashed: false,
            drag_data: None,
            pointer: Point::default(),
        }
    }

    #[cfg(test)]
    pub fn of_test() -> Self {
        let title = "Shop".to_owned();
        Self { title, ..Self::new("T".to_owned(), "s".to_owned(), Size { width: 1280, height: 800 }) }
    }

    fn next_question(&mut self) -> u64 {
        self.questions += 1;
        self.questions
    }

    pub fn uid(&self) -> String {
        format!("{TAB_PREFIX}{}", self.name)
    }

    pub fn dialog_uid(&self) -> String {
        format!("{}{DIALOG_SUFFIX}", self.uid())
    }

    pub fn chooser_uid(&self) -> String {
        format!("{}{CHOOSER_SUFFIX}", self.uid())
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

const REQUESTED: &str = "Page.frameRequestedNavigation";
const FETCHED: &str = "Page.downloadWillBegin";

/// More fields that are wrong at once help nobody.
const MOST_INVALID: usize = 5;

const TAB_PREFIX: &str = "tab:";

/// The least that a tab is called by.
const SHORTEST_NAME: usize = 8;
const DIALOG_SUFFIX: &str = "/dialog";
const CHOOSER_SUFFIX: &str = "/files";

/// A page that opens one dialog after the other is closed.
const MOST_DIALOGS: usize = 20;

/// Pages that open themselves beyond that are closed at once.
pub const MOST_TABS: usize = 20;

/// What a uid is the name of, by the name or the target of a tab.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WindowOfTab<'a> {
    Tab(&'a str),
    Dialog(&'a str),
    Chooser(&'a str),
}

impl<'a> WindowOfTab<'a> {
    pub fn parse(uid: &'a str) -> Option<Self> {
        let target = uid.strip_prefix(TAB_PREFIX)?;
        Some(match (target.strip_suffix(DIALOG_SUFFIX), target.strip_suffix(CHOOSER_SUFFIX)) {
            (Some(target), _) => Self::Dialog(target),
            (None, Some(target)) => Self::Chooser(target),
            (None, None) => Self::Tab(target),
        })
    }

    /// The tab itself, or the one that it belongs to.
    pub fn target(&self) -> &'a str {
        match self {
            Self::Tab(target) | Self::Dialog(target) | Self::Chooser(target) => target,
        }
    }
}

/// A page asks for files, and nothing is shown of that by the browser itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileChooser {
    /// Which question of its tab it is.
    pub number: u64,
    /// The session that asks, and the field that gets the files.
    pub session: String,
    pub backend_node: i64,
    pub multiple: bool,
    /// The names that were written, one in a line.
    pub text: String,
}

/// A dialog that a page opened: `alert`, `confirm`, `prompt`, or the question before it is left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageDialog {
    /// Which question of its tab it is.
    pub number: u64,
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
    opener_id: Option<String>,
    #[serde(default)]
    can_access_opener: bool,
}

impl TargetInfo {
    /// A page that another opened without being its opener, as by a link with `target=_blank`, has no renderer before
    /// it runs: what it is told is kept for it and answered then.
    fn answers_only_when_run(&self) -> bool {
        self.opener_id.is_some() && !self.can_access_opener
    }
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
struct ChooserOpened {
    #[serde(default)]
    mode: String,
    backend_node_id: i64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct OfFrame {
    frame_id: String,
    #[serde(default)]
    disposition: Option<String>,
}

/// A navigation that begins after so many seconds.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Scheduled {
    frame_id: String,
    #[serde(default)]
    delay: f64,
}

#[derive(Deserialize)]
struct BindingCalled {
    payload: String,
}

#[derive(Deserialize)]
struct InvalidField {
    label: String,
    message: String,
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

    /// A tab by its target, or by the name that its uid has.
    pub fn find(&self, target: &str) -> Option<TabState> {
        let is_it = |tab: &&TabState| tab.target == target || tab.name == target;
        lock(&self.open).tabs.iter().find(is_it).cloned()
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

    /// The uid of the tab that a session is of.
    /// The tab of a session, with the address of its page.
    pub fn page_of_session(&self, session: &str) -> Option<(String, String)> {
        let open = lock(&self.open);
        let target = open.target_of_session(session)?;
        open.tabs.iter().find(|tab| tab.target == target).map(|tab| (tab.uid(), tab.url.clone()))
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
            "Page.fileChooserOpened" => self.open_chooser(session, event),
            "Page.javascriptDialogClosed" => self.change_of_session(session, |tab| tab.dialog = None),
            REQUESTED | "Page.frameStartedLoading" => {
                self.set_loading(session, event, true);
            }
            "Page.frameStoppedLoading" => self.set_loading(session, event, false),
            "Page.frameScheduledNavigation" => self.note_schedule(session, event),
            // What is no document of its own, or becomes a file, was asked for as one.
            "Page.navigatedWithinDocument" | FETCHED => self.end_request(session, event),
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
            "Runtime.bindingCalled" => self.note_invalid(session, event),
            other if other.starts_with("Page.") || other.starts_with("Target.") => {}
            _ => return,
        }
        self.bell.ring();
    }

    fn attach(self: &Arc<Self>, connection: &Arc<CdpConnection>, event: &CdpEvent<'_>) {
        let Some(Attached { session_id, target_info }) = event.read() else { return };
        let (is_page, target) = (target_info.kind == "page", target_info.target_id.clone());
        if is_page && lock(&self.open).tabs.len() >= MOST_TABS {
            tracing::warn!("a page wanted more than {MOST_TABS} tabs; the new one is closed");
            // One that waits for us would hold up the page that opened it.
            connection.tell(Some(&session_id), "Runtime.runIfWaitingForDebugger", json!({}));
            connection.tell(None, "Target.closeTarget", json!({ "targetId": target }));
            return;
        }
        let runs_first = target_info.answers_only_when_run();
        let known = lock(&self.open).attach(event.session, session_id.clone(), target_info, self.size);
        if known {
            prepare_session(connection, &session_id);
        }
        if known && is_page {
            let (tabs, connection) = (self.clone(), connection.clone());
            // Not on the reader's thread, which has to read the answers.
            std::thread::spawn(move || tabs.prepare_page(&connection, &session_id, &target, runs_first));
        } else {
            connection.tell(Some(&session_id), "Runtime.runIfWaitingForDebugger", json!({}));
        }
        self.bell.ring();
    }

    /// A page goes on only when it was prepared: Chromium 156 crashes on pages that navigate while they are. One that
    /// answers nothing before it runs takes its orders before it navigates.
    fn prepare_page(&self, connection: &CdpConnection, session: &str, target: &str, runs_first: bool) {
        let (deadline, cancel) = (Deadline::after(PREPARATION), Cancel::new());
        let orders = orders_of_preparation(self.size);
        let run = || connection.tell(Some(session), "Runtime.runIfWaitingForDebugger", json!({}));
        let sent = orders.map(|(method, params)| connection.send(Some(session), method, params));
        if runs_first {
            run();
        }
        for order in sent {
            // A page that does not answer is worked as it is.
            let _ = order.and_then(|order| connection.wait::<Value>(&order, deadline, &cancel));
        }
        if !runs_first {
            run();
        }
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
        let mut dialog = PageDialog {
            number: 0,
            kind: DialogKind::parse(&opening.kind),
            message: opening.message,
            text: opening.default_prompt,
            session: session.to_owned(),
        };
        let mut flood = None;
        self.change_of_session(session, |tab| {
            dialog.number = tab.next_question();
            tab.dialog = Some(dialog);
            tab.dialogs_in_a_row += 1;
            flood = (tab.dialogs_in_a_row > MOST_DIALOGS).then(|| tab.target.clone());
        });
        if let Some(target) = flood {
            tracing::warn!("a page opened more than {MOST_DIALOGS} dialogs in a row; its tab is closed");
            connection.tell(None, "Target.closeTarget", json!({ "targetId": target }));
        }
        let held_up = lock(&self.open).sessions_beside(session);
        connection.interrupt(|session| held_up.iter().any(|other| other == session));
    }

    fn open_chooser(&self, session: &str, event: &CdpEvent<'_>) {
        let Some(ChooserOpened { mode, backend_node_id }) = event.read() else { return };
        let mut chooser = FileChooser {
            number: 0,
            session: session.to_owned(),
            backend_node: backend_node_id,
            multiple: mode == "selectMultiple",
            text: String::new(),
        };
        self.change_of_session(session, |tab| {
            chooser.number = tab.next_question();
            tab.chooser = Some(chooser);
        });
    }

    fn set_loading(&self, session: &str, event: &CdpEvent<'_>, loading: bool) {
        let Some(OfFrame { frame_id, disposition }) = event.read() else { return };
        if disposition.is_none_or(|disposition| disposition == "currentTab") {
            // The frame of the page itself is called as its target.
            self.change_of_session(session, |tab| {
                if tab.target == frame_id {
                    tab.loads += u64::from(loading && !tab.loading);
                    tab.loading = loading;
                    tab.asked |= event.method == REQUESTED;
                }
            });
        }
    }

    /// A page that shows another document has not crashed, or no longer, and asks for nothing.
    fn revive(&self, session: &str, event: &CdpEvent<'_>) {
        let Some(Navigated { frame }) = event.read() else { return };
        self.change_of_session(session, |tab| {
            if tab.target == frame.id {
                (tab.crashed, tab.chooser, tab.dialogs_in_a_row) = (false, None, 0);
                tab.asked = false;
            }
        });
    }

    /// A form that is sent is asked for at once, and begins to load a moment later.
    fn note_schedule(&self, session: &str, event: &CdpEvent<'_>) {
        let Some(Scheduled { frame_id, delay }) = event.read() else { return };
        self.change_of_session(session, |tab| tab.asked |= tab.target == frame_id && delay <= 0.0);
    }

    fn end_request(&self, session: &str, event: &CdpEvent<'_>) {
        let Some(OfFrame { frame_id, .. }) = event.read() else { return };
        self.change_of_session(session, |tab| {
            tab.asked &= tab.target != frame_id;
            tab.fetches += u64::from(event.method == FETCHED);
        });
    }

    /// Our world tells of a field whose value the browser does not accept.
    fn note_invalid(&self, session: &str, event: &CdpEvent<'_>) {
        let Some(BindingCalled { payload }) = event.read() else { return };
        let Ok(InvalidField { label, message }) = serde_json::from_str(&payload) else { return };
        let said = format!("'{}': {}", label.trim(), message.trim());
        self.change_of_session(session, |tab| {
            if tab.invalid.len() < MOST_INVALID && !tab.invalid.contains(&said) {
                tab.invalid.push(said);
            }
        });
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
                let name = self.new_name(&target);
                let tab = TabState::new(target, session, size);
                self.tabs.push(TabState { name, title: info.title, url: info.url, ..tab });
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

    fn new_name(&self, target: &str) -> String {
        let is_taken = |name: &str| self.tabs.iter().any(|tab| tab.target.starts_with(name));
        let names = (SHORTEST_NAME..target.len()).filter_map(|length| target.get(..length));
        names.into_iter().find(|name| !is_taken(name)).unwrap_or(target).to_owned()
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

/// What a page has to have answered before it is worked.
fn orders_of_preparation(size: Size) -> [(&'static str, Value); 3] {
    [
        // A page in the background has its focus all the same: it is worked without being raised.
        ("Emulation.setFocusEmulationEnabled", json!({ "enabled": true })),
        ("Emulation.setDeviceMetricsOverride", device_metrics(size)),
        ("Page.getFrameTree", json!({})),
    ]
}

/// What a session is told before its page runs.
fn prepare_session(connection: &CdpConnection, session: &str) {
    let tell = |method, params| connection.tell(Some(session), method, params);
    tell("Page.enable", json!({}));
    tell("DOM.enable", json!({}));
    tell("Log.enable", json!({}));
    // For the method of a request that fails; nothing of what is fetched is kept for us.
    tell(
        "Network.enable",
        json!({ "maxTotalBufferSize": 0, "maxResourceBufferSize": 0, "maxPostDataSize": 0 }),
    );
    tell("Page.setInterceptFileChooserDialog", json!({ "enabled": true }));
    tell("Runtime.enable", json!({}));
    tell("Runtime.addBinding", json!({ "name": BINDING, "executionContextName": WORLD }));
    let script = json!({ "source": CHANGE_SCRIPT, "worldName": WORLD, "runImmediately": true });
    tell("Page.addScriptToEvaluateOnNewDocument", script);
    tell("Target.setAutoAttach", auto_attach());
}

/// Pages and their frames are attached to before they run. So are workers, which nobody asks anything: those that are
/// not attached to are held up all the same, and then never run.
pub fn auto_attach() -> Value {
    json!({
        "autoAttach": true,
        "waitForDebuggerOnStart": true,
        "flatten": true,
        "filter": [{ "type": "page" }, { "type": "iframe" }, { "type": "worker" }],
    })
}

pub fn device_metrics(size: Size) -> Value {
    json!({ "width": size.width, "height": size.height, "deviceScaleFactor": 1, "mobile": false })
}
