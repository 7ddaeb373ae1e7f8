//! A browser as a desktop: tabs are windows, pages are trees, and input goes to a page by the DevTools protocol, so that
//! no pointer of a person moves and no window is raised for it.
//!
//! ```text
//!   Browser ── the platform
//!     ├── executable, process: which browser, its start and its end
//!     ├── wire: the protocol on a pipe           ├── tabs: what is open, as events tell it
//!     ├── page, script: asking a page and its nodes
//!     ├── desktop, accessibility, capture: windows, trees, pictures
//!     ├── input, keys, dialogs: acting on pages, and answering what they ask
//!     └── decode: snapshots into trees, tested on every system
//! ```

mod accessibility;
mod capture;
pub mod decode;
mod desktop;
mod dialogs;
pub mod executable;
mod input;
mod keys;
mod page;
mod process;
mod script;
mod tabs;
mod wire;

use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};

use super::unsupported::{NoApps, NoClipboard};
use super::{
    Accessibility, AllowedRegion, Apps, BellWatch, Capabilities, Capture, Chosen, Clipboard, Coordinates,
    Desktop, Facts, Health, Input, Platform, Stage, Watch, absent_because,
};
use crate::clock::{Bell, Cancel, Clock, Deadline};
use crate::config::{BrowserConfig, BrowserStart};
use crate::machine::RealMachine;
use process::{BrowserPlan, BrowserProcess};
use tabs::{TabState, Tabs};
use wire::{CdpConnection, CdpFailure};

/// How long the browser may take to start and to answer.
const START: Duration = Duration::from_secs(30);

/// How long the first page may take to load before it is worked as it is.
const FIRST_PAGE: Duration = Duration::from_secs(10);

/// A wait looks again after this time, whether or not an event came: what is drawn on a canvas tells nobody.
const EVENTS_TRUSTED_FOR: Duration = Duration::from_secs(2);

pub struct Browser {
    clock: Clock,
    bell: Bell,
    connection: Arc<CdpConnection>,
    tabs: Arc<Tabs>,
    process_name: String,
    pid: u32,
    region: AllowedRegion,
    clipboard: NoClipboard,
    apps: NoApps,
    watch: BellWatch,
}

/// Ends the browser: first its pipe closes, then the process is waited for.
struct RunningBrowser {
    connection: Arc<CdpConnection>,
    _process: BrowserProcess,
}

impl Drop for RunningBrowser {
    fn drop(&mut self) {
        self.connection.close_pipe();
    }
}

/// One that cannot start is no reason to work on the user's desktop: then there is no desktop at all.
pub fn start_browser(start: &BrowserStart, config: &BrowserConfig, clock: &Clock) -> Chosen {
    match try_start(start, config, clock) {
        Ok(chosen) => chosen,
        Err(reason) => absent_because(format!("the browser did not start: {reason}")).into(),
    }
}

fn try_start(start: &BrowserStart, config: &BrowserConfig, clock: &Clock) -> Result<Chosen, String> {
    let executable = executable::find_browser(&RealMachine, config.executable.as_deref())?;
    if start.headful && executable::is_headless_shell(&executable) {
        return Err(format!("{} has no windows, so it cannot be --headful", executable.display()));
    }
    let plan = BrowserPlan { executable, headful: start.headful, sandbox: config.sandbox, size: config.size };
    let (process, pipe) = BrowserProcess::start(&plan)?;
    let connection = Arc::new(CdpConnection::new(pipe.orders));
    let bell = Bell::default();
    let tabs = Arc::new(Tabs::new(config.size, bell.clone()));
    let ends = bell.clone();
    connection
        .listen(pipe.answers, tabs.listener(&connection), move || ends.ring())
        .map_err(|problem| format!("cannot start the thread for its events: {problem}"))?;
    let running = RunningBrowser { connection: connection.clone(), _process: process };
    let opened = open_first_page(&connection, &tabs, &bell, &start.url);
    let pid = opened.map_err(|failure| start_failure(failure, &running._process))?;
    let process_name = executable::process_name(&plan.executable);
    let browser = Browser::new(clock.clone(), bell, connection, tabs, process_name, pid);
    Ok(Chosen { platform: Arc::new(browser), ends_with_us: Some(Box::new(running)) })
}

fn start_failure(failure: CdpFailure, process: &BrowserProcess) -> String {
    match failure {
        CdpFailure::Lost => format!("it ended at once: {}", process.last_words()),
        failure => crate::error::Error::from(failure).message,
    }
}

/// Attaches to every page that there is and will be, opens the first one, and tells the browser's process id.
fn open_first_page(
    connection: &CdpConnection,
    tabs: &Tabs,
    bell: &Bell,
    url: &str,
) -> Result<u32, CdpFailure> {
    let (deadline, cancel) = (Deadline::after(START), Cancel::new());
    let ask = |session: Option<&str>, method, params: Value| {
        let order = connection.send(session, method, params)?;
        connection.wait::<Value>(&order, deadline, &cancel)
    };
    ask(None, "Target.setDiscoverTargets", json!({ "discover": true, "filter": [{ "type": "page" }] }))?;
    ask(None, "Target.setAutoAttach", tabs::auto_attach())?;
    let first = await_tab(tabs, bell, deadline, |tab| tab.prepared)?;
    if url != BLANK_PAGE {
        let answer = ask(Some(&first.session), "Page.navigate", json!({ "url": url }))?;
        if let Some(problem) = answer.get("errorText").and_then(Value::as_str) {
            let message = format!("{url}: {problem}");
            return Err(CdpFailure::Refused { method: "Page.navigate", message });
        }
        // A page that goes on loading can be worked all the same.
        let _ =
            await_tab(tabs, bell, Deadline::after(FIRST_PAGE), |tab| !tab.loading || tab.dialog.is_some());
    }
    let processes = ask(None, "SystemInfo.getProcessInfo", json!({}))?;
    Ok(browser_pid(processes).unwrap_or(0))
}

pub const BLANK_PAGE: &str = "about:blank";

fn await_tab(
    tabs: &Tabs,
    bell: &Bell,
    deadline: Deadline,
    holds: impl Fn(&TabState) -> bool,
) -> Result<TabState, CdpFailure> {
    let (clock, never) = (Clock::real(), Cancel::new());
    loop {
        let heard = bell.rings();
        if let Some(tab) = tabs.all().into_iter().next().filter(&holds) {
            return Ok(tab);
        }
        if deadline.is_over() {
            return Err(CdpFailure::TimedOut { method: "Page.navigate" });
        }
        // It is never cancelled.
        let _ = clock.sleep_unless_rung(bell, heard, deadline.left(), &never);
    }
}

fn browser_pid(answer: Value) -> Option<u32> {
    #[derive(Deserialize)]
    struct Processes {
        #[serde(rename = "processInfo")]
        all: Vec<ProcessFacts>,
    }
    #[derive(Deserialize)]
    struct ProcessFacts {
        #[serde(rename = "type")]
        kind: String,
        id: u32,
    }
    let processes: Processes = serde_json::from_value(answer).ok()?;
    processes.all.into_iter().find(|process| process.kind == "browser").map(|process| process.id)
}

const NO_CLIPBOARD: &str = "the browser has a clipboard of its own, which cannot be read or written from here; \
                            set_value writes into a field, and ctrl+c and ctrl+v work within the browser";
const NO_APPS: &str = "a browser starts no programs; work on the pages that it has open";

impl Browser {
    fn new(
        clock: Clock,
        bell: Bell,
        connection: Arc<CdpConnection>,
        tabs: Arc<Tabs>,
        process_name: String,
        pid: u32,
    ) -> Self {
        let listens_at = connection.clone();
        let is_listening = move || !listens_at.is_lost();
        let watch = BellWatch::new(clock.clone(), bell.clone(), EVENTS_TRUSTED_FOR, is_listening);
        Self {
            clock,
            bell,
            connection,
            tabs,
            process_name,
            pid,
            region: AllowedRegion::default(),
            clipboard: NoClipboard::new(NO_CLIPBOARD),
            apps: NoApps::new(NO_APPS),
            watch,
        }
    }
}

impl Platform for Browser {
    fn facts(&self) -> Facts {
        Facts {
            adapter: "BrowserAdapter",
            is_mock: false,
            unavailable: None,
            coordinates: Coordinates::Screen,
            limitations: vec![NO_CLIPBOARD.to_owned(), NO_APPS.to_owned()],
            supports: Capabilities {
                accessibility_tree: true,
                drag: true,
                redaction: true,
                bring_to_foreground: true,
                element_targeting: true,
                observe_with_diff: true,
                occlusion_detection: true,
                ..Capabilities::default()
            },
        }
    }

    fn health(&self) -> Health {
        let ended = self.connection.is_lost().then(|| crate::error::Error::from(CdpFailure::Lost).message);
        Health { desktop: ended, ..Health::default() }
    }

    fn stage(&self) -> Option<&dyn Stage> {
        None
    }

    fn desktop(&self) -> &dyn Desktop {
        self
    }

    fn accessibility(&self) -> &dyn Accessibility {
        self
    }

    fn input(&self) -> &dyn Input {
        self
    }

    fn capture(&self) -> &dyn Capture {
        self
    }

    fn clipboard(&self) -> &dyn Clipboard {
        &self.clipboard
    }

    fn apps(&self) -> &dyn Apps {
        &self.apps
    }

    fn watch(&self) -> &dyn Watch {
        &self.watch
    }
}
