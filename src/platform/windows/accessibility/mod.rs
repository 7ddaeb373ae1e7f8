//! What is in a window, by UI Automation: the tree, being told of changes, and asking elements to do something.
//!
//! ```text
//!   Accessible ── worker: a thread of COM's multi-threaded kind, given up when an application hangs
//!     ├── ask: elements as plain records, a whole window in one answer
//!     ├── element: one element, asked to do something
//!     └── events: what rings the bell
//! ```
//!
//! No COM object leaves the thread that got it. What the records mean is in `sense::tree`.

mod ask;
mod element;
mod events;

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::Duration;

use uiautomation::core::UICacheRequest;
use uiautomation::{UIAutomation, UIElement};

use super::sense::desktop::{hwnd_of, uid_of};
use super::sense::errors::{Code, Meaning};
use super::sense::tree::{Limits, MOST_TEXTS, RawElement, bare, gather, tree, wants_text};
use super::sense::worker::Worker;
use crate::clock::{Bell, Cancel, lock};
use crate::error::{Error, Kind, Result};
use crate::model::action::Handle;
use crate::model::{Tree, Window};
use crate::platform::Patience;
use crate::platform::hands::doing::{Listed, Request, Said};
use ask::Known;

/// How long one element may take to answer when something is done to it.
const ELEMENT_TIME: Duration = Duration::from_secs(3);
/// A press that opens a dialog is often answered when the dialog is closed.
const REQUEST_TIME: Duration = Duration::from_millis(1_500);
/// Of so many windows the elements are kept, to be found again without a search.
const MOST_WINDOWS: usize = 8;

pub struct Accessible {
    worker: Worker<Session>,
    /// Whether there is UI Automation, and if not, why; nothing before it is known.
    absent: Mutex<Option<Option<String>>>,
}

/// What lives on the thread.
pub struct Session {
    automation: UIAutomation,
    /// Asks for everything that a tree tells, of an element and all below it.
    subtree: UICacheRequest,
    /// The same of one element.
    single: UICacheRequest,
    /// The elements of the windows that were looked into last, by their native names; the latest last.
    kept: Vec<(String, HashMap<String, UIElement>)>,
    events: events::Events,
}

impl Accessible {
    pub fn new(bell: Bell) -> Self {
        Self { worker: Worker::new("accessibility", move || Session::start(&bell)), absent: Mutex::default() }
    }

    /// Why no elements can be had here at all. Asked once; what is only slow to start is asked again.
    pub fn absent(&self) -> Option<String> {
        let mut known = lock(&self.absent);
        if let Some(known) = &*known {
            return known.clone();
        }
        let error = self.worker.run("starting", ELEMENT_TIME, &Cancel::new(), Session::try_out).err();
        let is_known = error.as_ref().is_none_or(|error| error.kind != Kind::Timeout);
        let why = error.map(|error| error.message);
        if is_known {
            *known = Some(why.clone());
        }
        why
    }

    pub fn tree(&self, window: &Window, patience: &Patience) -> Result<Tree> {
        if let Some(why) = self.absent() {
            return Ok(bare(window.bounds, &window.title, why));
        }
        let own = window.clone();
        let asked = self
            .worker
            .run("reading the tree", patience.whole, &patience.cancel, move |session| session.tree(&own));
        asked.map_err(|error| match error.kind {
            Kind::Timeout => Error::new(Kind::Timeout, error.message).with("phase", "tree"),
            _ => error,
        })
    }

    pub fn look(&self, element: &Handle, cancel: &Cancel) -> Result<RawElement> {
        let element = element.clone();
        self.worker.run("looking at the element", ELEMENT_TIME, cancel, move |session| session.look(&element))
    }

    /// No answer in time is an answer too: the application may show a dialog, and then the thread is given up.
    pub fn request(&self, element: &Handle, request: Request, cancel: &Cancel) -> Result<Said> {
        let element = element.clone();
        let asked = self.worker.run("asking the element", REQUEST_TIME, cancel, move |session| {
            element::request(&session.element(&element)?, &request)
        });
        match asked {
            Err(error) if error.kind == Kind::Timeout => Ok(Said::Nothing),
            asked => asked,
        }
    }

    pub fn options(&self, element: &Handle, cancel: &Cancel) -> Result<Vec<Listed>> {
        let element = element.clone();
        self.worker.run("listing the options", ELEMENT_TIME, cancel, move |session| session.options(&element))
    }
}

impl Session {
    fn start(bell: &Bell) -> Result<Self> {
        let automation = ask::automation()?;
        let subtree = ask::cache_request(&automation, true).map_err(|code| code.error("preparing"))?;
        let single = ask::cache_request(&automation, false).map_err(|code| code.error("preparing"))?;
        let events = events::Events::new(bell.clone());
        Ok(Self { automation, subtree, single, kept: Vec::new(), events })
    }

    /// Whether elements can really be had: some systems have the class and nothing behind it.
    fn try_out(&mut self) -> Result<()> {
        let what = "asking UI Automation for the desktop's elements";
        let root = self.automation.get_root_element_build_cache(&self.single);
        let root = root.map_err(|problem| ask::code(&problem).error(what))?;
        let known = Known(root);
        let facts = super::sense::tree::Cached::facts(&known).map_err(|code| code.error(what))?;
        if facts.runtime_id.is_empty() {
            return Err(Error::new(Kind::PlatformUnsupported, format!("{what}: they have no identity")));
        }
        Ok(())
    }

    fn tree(&mut self, window: &Window) -> Result<Tree> {
        let hwnd = super::desktop::handle(hwnd_of(&window.uid)?);
        let root = self.automation.element_from_handle_build_cache(hwnd.into(), &self.subtree);
        let root = match root.map_err(|problem| ask::code(&problem)) {
            Ok(root) => root,
            Err(code) => return lacking(window, code),
        };
        self.events.watch(&self.automation, &window.uid, &root);
        let mut gathered = match gather(Known(root), Limits::default()) {
            Ok(gathered) => gathered,
            Err(code) => return lacking(window, code),
        };
        let wanting: Vec<usize> = (0..gathered.found.len())
            .filter(|&place| gathered.found.get(place).is_some_and(|(_, raw, _)| wants_text(raw)))
            .collect();
        gathered.complete &= wanting.len() <= MOST_TEXTS;
        for place in wanting.into_iter().take(MOST_TEXTS) {
            if let Some((_, raw, known)) = gathered.found.get_mut(place) {
                raw.text = element::text(&known.0);
            }
        }
        let elements = gathered.found.iter().map(|(depth, raw, _)| (*depth, raw));
        let tree = tree(elements, gathered.complete, window.bounds, &window.title);
        let elements = gathered.found.into_iter().map(|(_, raw, known)| (raw.native(), known.0));
        self.keep(window.uid.clone(), elements.collect());
        Ok(tree)
    }

    fn keep(&mut self, uid: String, elements: HashMap<String, UIElement>) {
        self.kept.retain(|(known, _)| *known != uid);
        if self.kept.len() >= MOST_WINDOWS {
            self.kept.remove(0);
        }
        self.kept.push((uid, elements));
    }

    /// The element behind a handle: one that was seen, else it is searched for in its window.
    fn element(&mut self, handle: &Handle) -> Result<UIElement> {
        let kept = self.kept.iter().find(|(uid, _)| *uid == handle.window_uid);
        if let Some(element) = kept.and_then(|(_, elements)| elements.get(&handle.native)) {
            return Ok(element.clone());
        }
        let hwnd = super::desktop::handle(hwnd_of(&handle.window_uid)?);
        let root = self.automation.element_from_handle_build_cache(hwnd.into(), &self.subtree);
        let root = root.map_err(|problem| ask::code(&problem).error("finding the element"))?;
        let gathered =
            gather(Known(root), Limits::default()).map_err(|code| code.error("finding the element"))?;
        let elements: HashMap<String, UIElement> =
            gathered.found.into_iter().map(|(_, raw, known)| (raw.native(), known.0)).collect();
        let found = elements.get(&handle.native).cloned();
        self.keep(handle.window_uid.clone(), elements);
        found.ok_or_else(|| {
            Error::new(Kind::ElementNotFound, "the element is not there any more; look again")
                .with("native", handle.native.as_str())
        })
    }

    fn look(&mut self, handle: &Handle) -> Result<RawElement> {
        let element = self.element(handle)?;
        let fresh = element.build_updated_cache(&self.single);
        let fresh = fresh.map_err(|problem| ask::code(&problem).error("looking at the element"))?;
        let known = Known(fresh);
        let facts = super::sense::tree::Cached::facts(&known);
        let mut raw = facts.map_err(|code| code.error("looking at the element"))?;
        if raw.has_text && raw.value.is_none() && !raw.password {
            raw.text = element::text(&known.0);
        }
        Ok(raw)
    }

    /// The options below an element; they become known, so that they can be asked next.
    fn options(&mut self, handle: &Handle) -> Result<Vec<Listed>> {
        let element = self.element(handle)?;
        let fresh = element.build_updated_cache(&self.subtree);
        let fresh = fresh.map_err(|problem| ask::code(&problem).error("listing the options"))?;
        let gathered =
            gather(Known(fresh), Limits::default()).map_err(|code| code.error("listing the options"))?;
        let mut listed = Vec::new();
        for (_, raw, known) in gathered.found {
            if !super::sense::roles::OPTIONS.contains(&raw.role(false)) {
                continue;
            }
            let native = raw.native();
            if let Some((_, elements)) = self.kept.iter_mut().find(|(uid, _)| *uid == handle.window_uid) {
                elements.insert(native.clone(), known.0);
            }
            let handle = Handle { window_uid: handle.window_uid.clone(), native };
            listed.push(Listed { handle, name: raw.name });
        }
        Ok(listed)
    }
}

/// A window that tells nothing of itself is a tree of its root alone that says why; one that is gone is an error.
fn lacking(window: &Window, code: Code) -> Result<Tree> {
    match code.meaning() {
        Meaning::Gone => Err(super::sense::desktop::gone(&uid_of(hwnd_of(&window.uid)?))),
        Meaning::Slow => Err(code.error("reading the tree")),
        _ => Ok(bare(window.bounds, &window.title, code.error("reading the tree").message)),
    }
}
