//! The elements of a window, through UI Automation: the tree, change events, and actions of elements.
//!
//! ```text
//!   Accessible ── lanes: for each application a thread of COM's multi-threaded kind, given up when that hangs
//!     ├── ask: elements as plain records, a whole window in one answer where that can be had
//!     ├── element: one element, asked to do something
//!     └── events: what rings the bell
//! ```
//!
//! No COM object leaves the thread that got it. What the records mean is in `decode::tree`.

mod ask;
mod element;
mod events;

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::Duration;

use uiautomation::{UIAutomation, UIElement};

use super::decode::desktop::hwnd_of;
use super::decode::lru::Recent;
use super::decode::tree::{
    Cached, Gathered, Limits, MOST_TEXTS, RawElement, Time, bare, lacking, read, read_popup, tree, wants_text,
};
use super::decode::worker::{Answer, Lanes};
use super::desktop;
use crate::clock::{Bell, Cancel, lock};
use crate::config::limits::PLATFORM_CALL_TIME;
use crate::error::{Error, Kind, Result};
use crate::model::input::Handle;
use crate::model::{Tree, Window};
use crate::platform::Patience;
use crate::platform::interaction::{OptionItem, Request, RequestOutcome};
use ask::{Known, Place, Reading, Requests};

/// How long one element may take to answer when something is done to it.
const ELEMENT_TIME: Duration = Duration::from_secs(3);
/// A press that opens a dialog is often answered when the dialog is closed.
const REQUEST_TIME: Duration = Duration::from_millis(1_500);
/// How much later than UI Automation itself the thread is given up.
const GRACE: Duration = Duration::from_millis(500);
/// Of so many windows of an application the elements are kept, to be found again without a search.
const MOST_WINDOWS: usize = 4;
/// More menus and lists than that are not open at a time.
const MOST_POPUPS: usize = 8;
/// The desktop itself, where an application is named by its process.
const DESKTOP: u32 = 0;

pub struct Accessible {
    lanes: Lanes<Session>,
    /// Whether there is UI Automation, and if not, why; nothing before it is known.
    absent: Mutex<Option<Option<String>>>,
}

/// What lives on a thread. COM ends last, after everything that came by it.
pub struct Session {
    events: events::Events,
    /// The elements of the windows that were looked into last, by their native names.
    kept: Recent<HashMap<String, Kept>>,
    requests: Requests,
    automation: UIAutomation,
    _com: ask::Com,
}

/// An element that was seen, and the system's window that it is in.
#[derive(Clone)]
struct Kept {
    element: UIElement,
    window: u64,
}

impl Accessible {
    pub fn new(bell: Bell) -> Self {
        Self { lanes: Lanes::new("accessibility", move || Session::start(&bell)), absent: Mutex::default() }
    }

    /// Why no elements can be had here at all. Asked once; what is only slow to start is asked again.
    pub fn absent(&self) -> Option<String> {
        let mut known = lock(&self.absent);
        if let Some(known) = &*known {
            return known.clone();
        }
        let tried = self.lanes.of(DESKTOP);
        let tried =
            tried.and_then(|lane| lane.run("starting", ELEMENT_TIME, &Cancel::new(), Session::try_out));
        let error = tried.err();
        let is_known = error.as_ref().is_none_or(|error| error.kind != Kind::Timeout);
        let why = error.map(|error| error.message);
        if is_known {
            *known = Some(why.clone());
        }
        why
    }

    /// `popups` are the menus and lists of the window, which UI Automation has beside it.
    pub fn tree(&self, window: &Window, popups: Vec<u64>, patience: &Patience) -> Result<Tree> {
        if let Some(why) = self.absent() {
            return Ok(bare(window.bounds, &window.title, why));
        }
        let own = window.clone();
        let (per_call, whole) = (patience.per_call, patience.whole);
        let asked = self.lanes.of(application(&window.uid)?)?.run(
            "reading the tree",
            whole,
            &patience.cancel,
            move |session| session.tree(&own, &popups, Time::new(whole, per_call)),
        );
        asked.map_err(|error| match error.kind {
            Kind::Timeout => Error::new(Kind::Timeout, error.message).with("phase", "tree"),
            _ => error,
        })
    }

    pub fn look(&self, element: &Handle, cancel: &Cancel) -> Result<RawElement> {
        self.on("looking at the element", element, cancel, |session, element| session.look(element))
    }

    /// The top-level window that an element is in: a dialog's elements are in the tree of its owner too.
    pub fn home(&self, element: &Handle, cancel: &Cancel) -> Result<u64> {
        let window = self.on("finding the element's window", element, cancel, |session, element| {
            Ok(session.element(element)?.window)
        })?;
        Ok(desktop::top_level(window))
    }

    pub fn options(&self, element: &Handle, cancel: &Cancel) -> Result<Vec<OptionItem>> {
        self.on("listing the options", element, cancel, |session, element| session.options(element))
    }

    /// No answer in time is an answer too: the application may show a dialog, and then the thread is given up.
    pub fn request(&self, element: &Handle, request: Request, cancel: &Cancel) -> Result<RequestOutcome> {
        let lane = self.lanes.of(application(&element.window_uid)?)?;
        let element = element.clone();
        let asked = lane.ask("asking the element", REQUEST_TIME + GRACE, cancel, move |session| {
            let kept = session.element(&element)?;
            ask::bound_patience(&session.automation, REQUEST_TIME);
            element::request(&kept.element, &request)
        });
        match asked? {
            Answer::Given(said) => Ok(said),
            Answer::NotYet => Ok(RequestOutcome::Unanswered),
        }
    }

    fn on<T: Send + 'static>(
        &self,
        what: &str,
        element: &Handle,
        cancel: &Cancel,
        work: impl FnOnce(&mut Session, &Handle) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let lane = self.lanes.of(application(&element.window_uid)?)?;
        let element = element.clone();
        lane.run(what, ELEMENT_TIME + GRACE, cancel, move |session| work(session, &element))
    }
}

fn application(uid: &str) -> Result<u32> {
    Ok(desktop::application(hwnd_of(uid)?))
}

impl Session {
    fn start(bell: &Bell) -> Result<Self> {
        let com = ask::Com::start()?;
        let automation = ask::automation(&com)?;
        ask::bound_patience(&automation, PLATFORM_CALL_TIME);
        let requests = Requests::new(&automation).map_err(|code| code.error("preparing"))?;
        let events = events::Events::new(bell.clone());
        Ok(Self { events, kept: Recent::new(MOST_WINDOWS), requests, automation, _com: com })
    }

    /// Whether elements can really be had: some systems have the class and nothing behind it.
    fn try_out(&mut self) -> Result<()> {
        let what = "asking UI Automation for the desktop's elements";
        let root = self.automation.get_root_element_build_cache(&self.requests.single);
        let root = root.map_err(|problem| ask::code(&problem).error(what))?;
        let facts = Known::whole(root).facts().map_err(|code| code.error(what))?;
        if facts.runtime_id.is_empty() {
            return Err(Error::new(Kind::PlatformUnsupported, format!("{what}: they have no identity")));
        }
        Ok(())
    }

    fn reading(&self, hwnd: u64, place: Place, time: Time) -> Reading<'_> {
        Reading { automation: &self.automation, requests: &self.requests, hwnd, place, time }
    }

    fn tree(&mut self, window: &Window, popups: &[u64], time: Time) -> Result<Tree> {
        let hwnd = hwnd_of(&window.uid)?;
        let mut source = self.reading(hwnd, Place::Window, time);
        let mut gathered = match read(&mut source, Limits::default()) {
            Ok(gathered) => gathered,
            Err(code) => return lacking(window, code, desktop::is_window(hwnd)),
        };
        for popup in popups.iter().take(MOST_POPUPS) {
            read_popup(&mut gathered, *popup, &mut self.reading(*popup, Place::Window, time));
        }
        if let Some((_, _, root)) = gathered.found.first() {
            self.events.watch(&self.automation, &window.uid, &root.element);
        }
        read_texts(&mut gathered, time);
        let elements = gathered.found.iter().map(|(depth, raw, _)| (*depth, raw));
        let tree = tree(elements, gathered.complete, window.bounds, &window.title);
        self.kept.put(&window.uid, kept(gathered));
        Ok(tree)
    }

    /// The element behind a handle: one that was seen, else it is searched for in its window.
    fn element(&mut self, handle: &Handle) -> Result<Kept> {
        if let Some(found) =
            self.kept.get(&handle.window_uid).and_then(|elements| elements.get(&handle.native))
        {
            return Ok(found.clone());
        }
        let hwnd = hwnd_of(&handle.window_uid)?;
        let time = Time::new(ELEMENT_TIME, PLATFORM_CALL_TIME);
        let gathered = read(&mut self.reading(hwnd, Place::Window, time), Limits::default());
        let elements = kept(gathered.map_err(|code| code.error("finding the element"))?);
        let found = elements.get(&handle.native).cloned();
        self.kept.put(&handle.window_uid, elements);
        found.ok_or_else(|| {
            Error::new(Kind::ElementNotFound, "the element no longer exists; look again")
                .with("native", handle.native.as_str())
        })
    }

    fn look(&mut self, handle: &Handle) -> Result<RawElement> {
        let kept = self.element(handle)?;
        ask::bound_patience(&self.automation, PLATFORM_CALL_TIME);
        let fresh = kept.element.build_updated_cache(&self.requests.single);
        let fresh = fresh.map_err(|problem| ask::code(&problem).error("looking at the element"))?;
        let known = Known::whole(fresh);
        let mut raw = known.facts().map_err(|code| code.error("looking at the element"))?;
        raw.window = kept.window;
        if raw.has_text && raw.value.is_none() && !raw.password {
            raw.text = element::text(&known.element);
        }
        Ok(raw)
    }

    /// The options below an element; they become known, so that they can be asked next.
    fn options(&mut self, handle: &Handle) -> Result<Vec<OptionItem>> {
        let around = self.element(handle)?;
        let time = Time::new(ELEMENT_TIME, PLATFORM_CALL_TIME);
        let place = Place::Element(around.element);
        let gathered = read(&mut self.reading(hwnd_of(&handle.window_uid)?, place, time), Limits::default());
        let gathered = gathered.map_err(|code| code.error("listing the options"))?;
        let mut listed = Vec::new();
        for (_, raw, known) in gathered.found {
            if !raw.role(false).is_option() {
                continue;
            }
            let native = raw.native();
            let window = if raw.window == 0 { around.window } else { raw.window };
            if let Some(elements) = self.kept.get(&handle.window_uid) {
                elements.insert(native.clone(), Kept { element: known.element, window });
            }
            let handle = Handle { window_uid: handle.window_uid.clone(), native };
            listed.push(OptionItem { handle, name: raw.name, position: None });
        }
        Ok(listed)
    }
}

/// Texts cost a question each, so only so many are read, and none after the time is over.
fn read_texts(gathered: &mut Gathered<Known>, time: Time) {
    let wanting = gathered.found.iter_mut().filter(|(_, raw, _)| wants_text(raw));
    for (asked, (_, raw, known)) in wanting.enumerate() {
        if asked >= MOST_TEXTS || time.is_over() {
            gathered.complete = false;
            return;
        }
        raw.text = element::text(&known.element);
    }
}

fn kept(gathered: Gathered<Known>) -> HashMap<String, Kept> {
    let found = gathered.found.into_iter();
    found.map(|(_, raw, known)| (raw.native(), Kept { element: known.element, window: raw.window })).collect()
}
