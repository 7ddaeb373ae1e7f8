//! A browser as a desktop: tabs are windows, pages are trees, and input goes to a page by the DevTools protocol, so that
//! no pointer of a person moves and no window is raised for it.
//!
//! ```text
//!   Browser ── the platform
//!     ├── executable, profiles, process: which browser, its folder, its start and its end
//!     ├── attach: a browser that a person opened
//!     ├── wire, websocket: the protocol on a pipe or a socket   ├── tabs: what is open, as events tell it
//!     ├── page, script, secret_nodes: asking a page and its nodes
//!     ├── network: the only way out, and who may be reached by it
//!     ├── desktop, accessibility, accessible, capture: windows, trees, pictures
//!     ├── input, keys: acting on pages
//!     ├── own_window, dialogs, chooser: answering what pages ask
//!     ├── pages, downloads, page_log: opening pages, what they fetch, what they write
//!     └── decode: snapshots into trees, tested on every system
//! ```

mod accessibility;
mod accessible;
mod attach;
mod capture;
mod chooser;
pub mod decode;
mod desktop;
mod dialogs;
mod downloads;
pub mod executable;
mod hit_test;
mod input;
mod keys;
pub mod network;
mod own_window;
mod page;
mod page_log;
mod pages;
mod process;
pub mod profiles;
mod script;
mod secret_nodes;
mod tabs;
mod websocket;
mod wire;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};

use super::unsupported::{NoApps, NoClipboard};
use super::{
    AllowedRegion, BellWatch, Capabilities, Chosen, Coordinates, Facts, Health, Platform,
    browser_absent_because, platform_parts,
};
use crate::clock::{Bell, Cancel, Clock, Deadline};
use crate::config::{BrowserConfig, BrowserStart};
use crate::machine::{Machine, RealMachine};
pub use crate::model::page::BLANK_PAGE;
use downloads::Downloads;
use network::urls;
use network::{BrowserNetwork, NetworkProxy};
use page_log::PageLog;
use process::{BrowserPlan, BrowserProcess};
use profiles::DataFolder;
use secret_nodes::SecretNodes;
use tabs::{TabState, Tabs};
use wire::{CdpConnection, CdpEvent, CdpFailure};

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
    network: Arc<BrowserNetwork>,
    files: PageFiles,
    secret_nodes: SecretNodes,
    process_name: String,
    pid: u32,
    region: AllowedRegion,
    clipboard: NoClipboard,
    apps: NoApps,
    watch: BellWatch,
}

/// What pages fetch, write and get beside what they show.
struct PageFiles {
    /// `None` where a person opened the browser: it keeps its downloads as they told it.
    downloads: Option<Arc<Downloads>>,
    log: Arc<PageLog>,
    /// The folder that pages may get files from.
    upload_root: Option<PathBuf>,
}

const NO_WINDOW: &str = "the browser has no window, so you can neither see nor operate it; give it back, and where a person \
    is to work in it, use a browser with --headful";

/// Ends the browser: first its pipe closes, then the process is waited for, then nobody needs the proxy.
struct RunningBrowser {
    connection: Arc<CdpConnection>,
    _process: BrowserProcess,
    _proxy: NetworkProxy,
}

impl Drop for RunningBrowser {
    fn drop(&mut self) {
        self.connection.close_pipe();
    }
}

/// Opens a window for a person, and comes back when they have closed it.
pub fn show_browser(
    machine: &dyn Machine,
    config: &BrowserConfig,
    folder: &Path,
    url: &str,
) -> Result<(), String> {
    let executable = executable::find_browser(machine, config.executable.as_deref())?;
    if executable::is_headless_shell(&executable) {
        return Err(format!(
            "{} has no windows; name another browser in browser.executable",
            executable.display()
        ));
    }
    let url = urls::check_url(url, None)?;
    process::show_to_person(&executable, folder, config.sandbox, url.as_str())
}

/// One that cannot start is no reason to work on the user's desktop: then there is no desktop at all.
pub fn start_browser(start: &BrowserStart, config: &BrowserConfig, clock: &Clock) -> Chosen {
    let (begun, what) = match &start.attach {
        Some(address) => (attach::attach_browser(address, config, clock), "the browser cannot be used"),
        None => (try_start(start, config, clock), "the browser did not start"),
    };
    begun.unwrap_or_else(|reason| browser_absent_because(format!("{what}: {reason}")).into())
}

fn try_start(start: &BrowserStart, config: &BrowserConfig, clock: &Clock) -> Result<Chosen, String> {
    let executable = executable::find_browser(&RealMachine, config.executable.as_deref())?;
    if start.headful && executable::is_headless_shell(&executable) {
        return Err(format!("{} has no windows, so it cannot be --headful", executable.display()));
    }
    let reachable = if start.by_owner { &start.url } else { "about:blank" };
    let (network, proxy) = BrowserNetwork::start(config, reachable)?;
    let first_page =
        if start.by_owner { network.check_url(&start.url) } else { network.check_page(&start.url) };
    let first_page = first_page.map_err(|refused| refused.message)?;
    let plan = BrowserPlan {
        executable,
        headful: start.headful,
        sandbox: config.sandbox,
        size: config.size,
        network: network.switches().to_vec(),
    };
    let (process, pipe) = BrowserProcess::start(&plan, DataFolder::open(config)?)?;
    let connection = Arc::new(CdpConnection::new(pipe.orders));
    let bell = Bell::default();
    let tabs = Arc::new(Tabs::new(config.size, bell.clone()));
    let most_bytes = config.download_mb.saturating_mul(1_000_000);
    let downloads =
        Downloads::new(process.folder(), config.downloads_dir.as_deref(), most_bytes, bell.clone())?;
    let (downloads, log) = (Arc::new(downloads), Arc::new(PageLog::default()));
    let ends = bell.clone();
    let mut for_network = network.listener(&connection);
    let mut for_pages = listen_to_all(&connection, &tabs, &downloads, &log);
    let for_all = move |event: &CdpEvent<'_>| {
        for_network(event);
        for_pages(event);
    };
    connection
        .listen(pipe.answers, for_all, move || ends.ring())
        .map_err(|problem| format!("cannot start the thread for its events: {problem}"))?;
    let running = RunningBrowser { connection: connection.clone(), _process: process, _proxy: proxy };
    prepare_browser(&connection, &downloads);
    let begun = FirstPage {
        connection: &connection,
        tabs: &tabs,
        network: &network,
        bell: &bell,
        by_owner: start.by_owner,
    };
    let opened = begun.open(first_page.as_str());
    let pid = opened.map_err(|failure| start_failure(failure, &running._process))?;
    if !running._proxy.is_logged_in() {
        return Err(
            "it does not use the proxy that judges its network; a policy of this machine may have set \
                    another one"
                .to_owned(),
        );
    }
    let process_name = executable::process_name(&plan.executable);
    let files = PageFiles { downloads: Some(downloads), log, upload_root: config.upload_root.clone() };
    let browser = Browser::new(clock.clone(), bell, connection, tabs, network, files, (process_name, pid));
    let seen_by = (!start.headful).then(|| NO_WINDOW.to_owned());
    Ok(Chosen { platform: Arc::new(browser), ends_with_us: Some(Box::new(running)), seen_by })
}

/// What hears of the events of pages, in this order.
fn listen_to_all(
    connection: &Arc<CdpConnection>,
    tabs: &Arc<Tabs>,
    downloads: &Arc<Downloads>,
    log: &Arc<PageLog>,
) -> impl FnMut(&wire::CdpEvent<'_>) + Send + 'static {
    let mut to_tabs = tabs.listener(connection);
    let (of_tabs, downloads, log) = (Arc::downgrade(tabs), downloads.clone(), log.clone());
    let to_browser = Arc::downgrade(connection);
    move |event| {
        if let Some(connection) = to_browser.upgrade() {
            downloads.take_event(&connection, event);
        }
        log.take_event(event, |session| of_tabs.upgrade()?.page_of_session(session));
        to_tabs(event);
    }
}

/// What pages may ask a person for is denied: nobody is there who could answer.
const DENIED: &[&str] = &[
    "geolocation",
    "notifications",
    "camera",
    "microphone",
    "midi",
    "clipboard-read",
    "display-capture",
    "idle-detection",
    "storage-access",
    "window-management",
    "local-fonts",
];

/// What is told to the browser as a whole before its first page.
fn prepare_browser(connection: &CdpConnection, downloads: &Downloads) {
    connection.tell(None, "Browser.setDownloadBehavior", downloads.behavior());
    for name in DENIED {
        // A browser that does not know one of them has no such question.
        let params = json!({ "permission": { "name": name }, "setting": "denied" });
        connection.tell(None, "Browser.setPermission", params);
    }
}

fn start_failure(failure: CdpFailure, process: &BrowserProcess) -> String {
    match failure {
        CdpFailure::Lost => format!("it ended at once: {}", process.last_words()),
        failure => crate::error::Error::from(failure).message,
    }
}

/// What the first page is opened with.
struct FirstPage<'a> {
    connection: &'a CdpConnection,
    tabs: &'a Tabs,
    network: &'a BrowserNetwork,
    bell: &'a Bell,
    /// The owner sees for themselves that the page is refused; a job without its page does not begin.
    by_owner: bool,
}

impl FirstPage<'_> {
    fn ask(&self, session: Option<&str>, method: &'static str, params: Value) -> Result<Value, CdpFailure> {
        let order = self.connection.send(session, method, params)?;
        self.connection.wait::<Value>(&order, Deadline::after(START), &Cancel::new())
    }

    /// Attaches to every page that there is and will be, opens the first one, and tells the browser's process id.
    fn open(&self, url: &str) -> Result<u32, CdpFailure> {
        let deadline = Deadline::after(START);
        let pages = json!({ "discover": true, "filter": [{ "type": "page" }] });
        self.ask(None, "Target.setDiscoverTargets", pages)?;
        self.ask(None, "Target.setAutoAttach", tabs::auto_attach())?;
        let first = await_tab(self.tabs, self.bell, deadline, |tab| tab.prepared)?;
        self.log_in(&first.session)?;
        if url != BLANK_PAGE {
            self.navigate(&first.session, url)?;
        }
        let processes = self.ask(None, "SystemInfo.getProcessInfo", json!({}))?;
        Ok(browser_pid(processes).unwrap_or(0))
    }

    /// The browser remembers the password of its proxy from one request on.
    fn log_in(&self, session: &str) -> Result<(), CdpFailure> {
        self.ask(Some(session), "Fetch.enable", network::login_requests())?;
        self.ask(Some(session), "Runtime.evaluate", network::login_script())?;
        let (method, params) = self.network.requests_after_login();
        self.ask(Some(session), method, params).map(|_| ())
    }

    fn navigate(&self, session: &str, url: &str) -> Result<(), CdpFailure> {
        let answer = self.ask(Some(session), "Page.navigate", json!({ "url": url }))?;
        if let Some(problem) = answer.get("errorText").and_then(Value::as_str) {
            let refused = self.network.refusal_of(url).map(|refusal| refusal.told());
            let message = refused.unwrap_or_else(|| format!("{url}: {problem}"));
            return Err(CdpFailure::Refused { method: "Page.navigate", message });
        }
        // A page that goes on loading can be worked all the same.
        let deadline = Deadline::after(FIRST_PAGE);
        let _ = await_tab(self.tabs, self.bell, deadline, |tab| !tab.loading || tab.dialog.is_some());
        // A page without encryption is answered by the proxy itself, so it arrives.
        match self.network.refusal_of(url).filter(|_| !self.by_owner) {
            Some(refusal) => Err(CdpFailure::Refused { method: "Page.navigate", message: refusal.told() }),
            None => Ok(()),
        }
    }
}

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
        network: Arc<BrowserNetwork>,
        files: PageFiles,
        (process_name, pid): (String, u32),
    ) -> Self {
        let listens_at = connection.clone();
        let is_listening = move || !listens_at.is_lost();
        let watch = BellWatch::new(clock.clone(), bell.clone(), EVENTS_TRUSTED_FOR, is_listening);
        Self {
            clock,
            bell,
            connection,
            tabs,
            network,
            files,
            secret_nodes: SecretNodes::default(),
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

    platform_parts! { self,
        desktop: self,
        accessibility: self,
        input: self,
        capture: self,
        clipboard: &self.clipboard,
        apps: &self.apps,
        watch: &self.watch,
        pages: self,
    }
}
