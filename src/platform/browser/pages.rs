//! Opening addresses and going through what a tab has shown. A page that is on its way is waited for by its events; one
//! that asks, crashes or does not come is told as it is.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};

use super::Browser;
use super::chooser::{files_below, named_lines};
use super::decode::reading::reading_tree;
use super::downloads::Downloads;
use super::page::{Evaluated, PageSession};
use super::script::{PAGE_CONTENT, PAGE_STATUS};
use super::tabs::{DialogKind, MOST_TABS, TabState, WindowOfTab};
use super::wire::{CdpFailure, CdpResult};
use crate::clock::{Cancel, Deadline};
use crate::error::{Error, Kind, Result};
use crate::model::page::{
    BLANK_PAGE, ChooserFiles, Download, Forgettable, HistoryStep, HostBytes, HostCookies, PageLogLines,
    PageVisit, ShownPage, origin_of,
};
use crate::model::{Tree, Window};
use crate::platform::{Pages, Patience, gone};

/// How long a page that has loaded may take to say what its server answered.
const STATUS_TIME: Duration = Duration::from_secs(1);

/// How long a page that has loaded may take to show something.
const CONTENT_TIME: Duration = Duration::from_secs(4);

/// How long a tab may take to open or to begin with what it was told.
const BEGIN_TIME: Duration = Duration::from_secs(5);

/// How long the browser may take to forget.
const FORGET_TIME: Duration = Duration::from_secs(10);

const ASKS: &str = "the page asks before it is left, or opened a dialog: answer it first";
const SHOWS_NOTHING: &str = "the page shows nothing yet; its scripts may still be loading";
const STILL_LOADING: &str = "the page is still loading";
const FORM_NOT_SENT: &str =
    "the page came of a form, which was not sent again: its address was opened instead";
const OTHERS_DOWNLOADS: &str = "a person opened this browser, and it keeps downloads where they told it to; start one with --browser instead";
const IS_DOWNLOAD: &str = "the address is a file that is being downloaded; downloads tells of it";
const WANTS_LOGIN: &str =
    "the site asks for a name and a password in a prompt of the browser, which is not answered from here";

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[derive(Default)]
struct NavigateAnswer {
    error_text: Option<String>,
    is_download: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CreatedTarget {
    target_id: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct HistoryAnswer {
    current_index: i64,
    #[serde(default)]
    entries: Vec<HistoryEntry>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct HistoryEntry {
    id: i64,
    #[serde(default)]
    url: String,
    #[serde(default)]
    transition_type: String,
}

impl HistoryEntry {
    fn came_of_a_form(&self) -> bool {
        self.transition_type == "form_submit"
    }
}

#[derive(Deserialize)]
struct CookieList {
    #[serde(default)]
    cookies: Vec<CookieFacts>,
}

#[derive(Deserialize)]
struct CookieFacts {
    #[serde(default)]
    domain: String,
}

impl Pages for Browser {
    fn is_browser(&self) -> bool {
        true
    }

    fn is_whole_desktop(&self) -> bool {
        true
    }

    fn visit(&self, visit: &PageVisit, cancel: &Cancel) -> Result<ShownPage> {
        self.network.check_page(visit.address.as_str())?;
        let tab = match &visit.window_uid {
            Some(uid) => self.tab_of_window(uid)?,
            None => self.open_tab(cancel)?,
        };
        if tab.dialog.is_some() {
            return Err(CdpFailure::DialogOpened.into());
        }
        let refusals = self.network.refusals();
        let page =
            PageSession { deadline: Deadline::after(visit.at_most), ..self.page_session(&tab, cancel) };
        self.show_tab(&tab)?;
        // It gets a new process with its new page.
        self.tabs.change(&tab.target, |tab| tab.crashed = false);
        let downloads = self.last_download();
        let mut note = match page.call("Page.navigate", json!({ "url": visit.address.as_str() })) {
            Ok(answer) => {
                let refused = self.network.refusal_since(refusals, &tab.target, visit.address.as_str());
                if let Some(refusal) = refused {
                    return Err(Error::new(Kind::PermissionDenied, refusal.told()));
                }
                self.judge_navigation(visit, &answer, downloads)?
            }
            Err(CdpFailure::DialogOpened) => Some(ASKS),
            Err(CdpFailure::TimedOut { .. }) => return Err(self.give_up(&tab, visit)),
            Err(failure) => return Err(failure.into()),
        };
        if note.is_none() && visit.waits_for_load {
            self.await_load(&tab, page.deadline, cancel)?;
            note = self.await_content(&tab, page.deadline, cancel)?;
        }
        self.shown_page(&tab, note, cancel)
    }

    fn step_history(
        &self,
        window_uid: &str,
        step: HistoryStep,
        at_most: Duration,
        cancel: &Cancel,
    ) -> Result<ShownPage> {
        let tab = self.tab_of_window(window_uid)?;
        if tab.dialog.is_some() {
            return Err(CdpFailure::DialogOpened.into());
        }
        let page = PageSession { deadline: Deadline::after(at_most), ..self.page_session(&tab, cancel) };
        let went = match step {
            HistoryStep::Back => self.go_by(&tab, page, -1).map(|()| None),
            HistoryStep::Forward => self.go_by(&tab, page, 1).map(|()| None),
            HistoryStep::Reload => self.reload(&tab, page),
            HistoryStep::Stop => Ok(page.call::<Value>("Page.stopLoading", json!({})).map(|_| None)?),
        };
        let note = match went {
            Err(error) if error == Error::from(CdpFailure::DialogOpened) => Some(ASKS),
            went => went?,
        };
        let note = match note {
            None if step != HistoryStep::Stop => self.await_content(&tab, page.deadline, cancel)?,
            note => note,
        };
        self.shown_page(&tab, note, cancel)
    }

    fn reading_tree(&self, window: &Window, main_part: bool, patience: &Patience) -> Result<Tree> {
        let Some(WindowOfTab::Tab(target)) = WindowOfTab::parse(&window.uid) else {
            return Err(Error::bad_request("only a tab has a page to read; look shows a dialog"));
        };
        let tab = self.tabs.find(target).ok_or_else(|| gone(&window.uid))?;
        tab.check_answers()?;
        let (captures, complete) = self.capture_tab(&tab, patience)?;
        let mut tree = reading_tree(&captures, &window.title, main_part);
        tree.complete &= complete;
        Ok(tree)
    }

    fn named_files(&self, window_uid: &str) -> Vec<String> {
        let tab = match WindowOfTab::parse(window_uid) {
            Some(WindowOfTab::Chooser(target)) => self.tabs.find(target),
            _ => None,
        };
        tab.and_then(|tab| tab.chooser).map_or_else(Vec::new, |chooser| named_lines(&chooser.text))
    }

    fn chooser_files(&self, window_uid: Option<&str>, names: &[String]) -> Result<ChooserFiles> {
        let tab = self.tab_with_chooser(window_uid)?;
        let files = match names {
            [] => Vec::new(),
            names => files_below(self.files.upload_root.as_deref(), names)?,
        };
        Ok(ChooserFiles { window_uid: tab.chooser_uid(), files })
    }

    fn choose_files(&self, chosen: &ChooserFiles, cancel: &Cancel) -> Result<()> {
        let tab = self.tab_with_chooser(Some(&chosen.window_uid))?;
        match &tab.chooser {
            Some(chooser) if !chosen.files.is_empty() => {
                self.hand_files(&tab, chooser, &chosen.files, cancel)
            }
            _ => {
                self.close_chooser(&tab);
                Ok(())
            }
        }
    }

    fn downloads(&self) -> Result<Vec<Download>> {
        Ok(self.own_downloads()?.all())
    }

    fn keep_download(&self, id: &str) -> Result<Download> {
        self.own_downloads()?.keep(id)
    }

    fn log_lines(&self) -> Result<PageLogLines> {
        Ok(self.files.log.all())
    }

    fn cookies(&self, cancel: &Cancel) -> Result<Vec<HostCookies>> {
        let order = self.connection.send(None, "Storage.getCookies", json!({}))?;
        let list: CookieList = self.connection.wait(&order, Deadline::after(FORGET_TIME), cancel)?;
        let mut hosts: BTreeMap<String, usize> = BTreeMap::new();
        for cookie in list.cookies {
            *hosts.entry(cookie.domain.trim_start_matches('.').to_owned()).or_default() += 1;
        }
        Ok(hosts.into_iter().map(|(host, cookies)| HostCookies { host, cookies }).collect())
    }

    fn traffic(&self) -> Result<Vec<HostBytes>> {
        Ok(self.network.traffic())
    }

    fn forget(&self, what: Forgettable, origin: Option<&str>, cancel: &Cancel) -> Result<()> {
        let tab = self.front_tab().ok_or_else(|| gone("tab:"))?;
        let page = PageSession { deadline: Deadline::after(FORGET_TIME), ..self.page_session(&tab, cancel) };
        let types = match what {
            Forgettable::Cookies => "cookies",
            Forgettable::Storage => STORED,
            Forgettable::All => "all",
        };
        let origins = origin.map_or_else(|| self.open_origins(), |origin| vec![origin.to_owned()]);
        for origin in origins {
            let params = json!({ "origin": origin, "storageTypes": types });
            page.call::<Value>("Storage.clearDataForOrigin", params)?;
        }
        if origin.is_none() && what != Forgettable::Storage {
            page.call::<Value>("Network.clearBrowserCookies", json!({}))?;
        }
        if origin.is_none() && what != Forgettable::Cookies {
            page.call::<Value>("Network.clearBrowserCache", json!({}))?;
        }
        Ok(())
    }
}

fn is_ready(tab: &TabState) -> bool {
    !tab.loading && tab.check_answers().is_ok()
}

/// Everything that sites store beside cookies.
const STORED: &str = "appcache,file_systems,indexeddb,local_storage,shader_cache,websql,service_workers,cache_storage,storage_buckets";

impl Browser {
    /// A new tab in front, once it can be worked.
    fn open_tab(&self, cancel: &Cancel) -> Result<TabState> {
        if self.tabs.all().len() >= MOST_TABS {
            let message =
                format!("there are {MOST_TABS} tabs, which are all that there may be; close one first");
            return Err(Error::new(Kind::RateLimited, message));
        }
        let order = self.connection.send(None, "Target.createTarget", json!({ "url": BLANK_PAGE }))?;
        let created: CreatedTarget = self.connection.wait(&order, Deadline::after(BEGIN_TIME), cancel)?;
        self.await_tab_state(&created.target_id, BEGIN_TIME, cancel, |tab| {
            tab.is_some_and(|tab| tab.prepared)
        })?;
        self.tabs.find(&created.target_id).ok_or_else(|| {
            Error::new(Kind::Timeout, "the new tab did not open in time").with("phase", "browser")
        })
    }

    /// What is to be said of an answer that is no page; an error where nothing came at all.
    fn own_downloads(&self) -> Result<&Downloads> {
        self.files.downloads.as_deref().ok_or_else(|| Error::new(Kind::PlatformUnsupported, OTHERS_DOWNLOADS))
    }

    fn last_download(&self) -> usize {
        self.files.downloads.as_ref().map_or(0, |downloads| downloads.last_number())
    }

    fn judge_navigation(
        &self,
        visit: &PageVisit,
        answer: &NavigateAnswer,
        downloads: usize,
    ) -> Result<Option<&'static str>> {
        let Some(problem) = &answer.error_text else { return Ok(None) };
        if answer.is_download || self.last_download() > downloads {
            return Ok(Some(IS_DOWNLOAD));
        }
        let why = if problem.contains("AUTH_CREDENTIALS") { WANTS_LOGIN } else { problem.as_str() };
        let message = format!("{} cannot be opened: {why}", visit.address.as_str());
        Err(Error::new(Kind::NavigationFailed, message).with("reason", problem.as_str()))
    }

    /// A page that was not even begun is not waited for any longer.
    fn give_up(&self, tab: &TabState, visit: &PageVisit) -> Error {
        self.connection.tell(Some(&tab.session), "Page.stopLoading", json!({}));
        let seconds = visit.at_most.as_secs_f32();
        let message = format!("{} did not answer within {seconds} s", visit.address.as_str());
        Error::new(Kind::Timeout, message).with("phase", "navigation")
    }

    fn await_load(&self, tab: &TabState, deadline: Deadline, cancel: &Cancel) -> Result<()> {
        self.await_tab_state(&tab.target, deadline.left(), cancel, |now| {
            now.is_none_or(|now| !now.loading || now.dialog.is_some() || now.crashed)
        })?;
        Ok(())
    }

    /// A page that has loaded and shows nothing yet is made by its scripts, which are given a moment more. So is the page
    /// that it goes on to. Answers what to say where nothing shows after that.
    fn await_content(
        &self,
        tab: &TabState,
        deadline: Deadline,
        cancel: &Cancel,
    ) -> Result<Option<&'static str>> {
        let deadline = Deadline::after(deadline.left().min(CONTENT_TIME));
        loop {
            let Some(now) = self.tabs.find(&tab.target).filter(is_ready) else { return Ok(None) };
            match self.shows_content(&now, deadline, cancel) {
                Ok(true) => return Ok(None),
                Ok(false) | Err(CdpFailure::TimedOut { .. }) => return Ok(Some(SHOWS_NOTHING)),
                Err(CdpFailure::Cancelled) => return Err(CdpFailure::Cancelled.into()),
                Err(_) if !self.has_gone_on(&now) => return Ok(None),
                Err(_) => self.await_load(tab, deadline, cancel)?,
            }
        }
    }

    fn shows_content(&self, tab: &TabState, deadline: Deadline, cancel: &Cancel) -> CdpResult<bool> {
        let page = PageSession { deadline, ..self.page_session(tab, cancel) };
        let world = self.world_in(page, &tab.target)?;
        let ask = json!({ "expression": PAGE_CONTENT, "contextId": world, "awaitPromise": true });
        let answer: Evaluated = page.wait(&page.send("Runtime.evaluate", ask)?)?;
        Ok(answer.result.is_true())
    }

    /// Whether the tab has begun to load another page.
    fn has_gone_on(&self, before: &TabState) -> bool {
        self.tabs.find(&before.target).is_some_and(|now| now.loads > before.loads)
    }

    /// To load a page again that came of a form would send the form again, with whatever it does: its address is opened.
    fn reload(&self, tab: &TabState, page: PageSession<'_>) -> Result<Option<&'static str>> {
        let history: HistoryAnswer = page.call("Page.getNavigationHistory", json!({}))?;
        let shown = usize::try_from(history.current_index).ok().and_then(|at| history.entries.get(at));
        let form = shown.filter(|entry| entry.came_of_a_form());
        match form {
            Some(entry) => page.call::<Value>("Page.navigate", json!({ "url": entry.url }))?,
            None => page.call::<Value>("Page.reload", json!({}))?,
        };
        self.await_tab_state(&tab.target, BEGIN_TIME.min(page.deadline.left()), page.cancel, |now| {
            now.is_none_or(|now| now.loads > tab.loads || now.dialog.is_some())
        })?;
        self.await_load(tab, page.deadline, page.cancel)?;
        Ok(form.map(|_| FORM_NOT_SENT))
    }

    /// To a page that the tab has shown before, counted from the one that it shows.
    fn go_by(&self, tab: &TabState, page: PageSession<'_>, steps: i64) -> Result<()> {
        let history: HistoryAnswer = page.call("Page.getNavigationHistory", json!({}))?;
        let place = usize::try_from(history.current_index + steps).ok();
        let Some(entry) = place.and_then(|place| history.entries.get(place)) else {
            let where_to = if steps < 0 { "before" } else { "after" };
            return Err(Error::bad_request(format!("the tab has shown no page {where_to} this one"))
                .with("field", "go"));
        };
        page.call::<Value>("Page.navigateToHistoryEntry", json!({ "entryId": entry.id }))?;
        loop {
            let heard = self.bell.rings();
            let now: HistoryAnswer = page.call("Page.getNavigationHistory", json!({}))?;
            let at = usize::try_from(now.current_index).ok().and_then(|at| now.entries.get(at));
            if at.is_some_and(|at| at.id == entry.id) || page.deadline.is_over() {
                return self.await_load(tab, page.deadline, page.cancel);
            }
            let rest = page.deadline.left().min(LOOK_AGAIN);
            self.clock.sleep_unless_rung(&self.bell, heard, rest, page.cancel)?;
        }
    }

    fn shown_page(&self, tab: &TabState, note: Option<&str>, cancel: &Cancel) -> Result<ShownPage> {
        self.refresh_titles()?;
        let now = self.tabs.find(&tab.target).ok_or_else(|| gone(&tab.uid()))?;
        let status = if now.check_answers().is_ok() { self.page_status(&now, cancel) } else { None };
        let note = match (note, status) {
            (Some(note), _) => Some(note),
            _ if now.crashed => Some("the page has crashed"),
            _ if now.dialog.is_some() => Some(ASKS),
            _ if now.loading => Some(STILL_LOADING),
            (None, Some(401)) => Some(WANTS_LOGIN),
            _ => None,
        };
        Ok(ShownPage {
            window_uid: now.uid(),
            title: now.title,
            url: now.url,
            status,
            loading: now.loading,
            asks_first: now.dialog.as_ref().is_some_and(|dialog| dialog.kind == DialogKind::BeforeUnload),
            note: note.map(str::to_owned),
        })
    }

    /// What the server answered; nothing where the page does not tell, or is too busy to.
    fn page_status(&self, tab: &TabState, cancel: &Cancel) -> Option<u16> {
        let page = PageSession { deadline: Deadline::after(STATUS_TIME), ..self.page_session(tab, cancel) };
        let world = self.world_in(page, &tab.target).ok()?;
        let params = json!({ "expression": PAGE_STATUS, "contextId": world, "returnByValue": true });
        let answer: Value = page.call("Runtime.evaluate", params).ok()?;
        let status = answer.pointer("/result/value").and_then(Value::as_u64)?;
        u16::try_from(status).ok().filter(|&status| status > 0)
    }

    fn tab_with_chooser(&self, window_uid: Option<&str>) -> Result<TabState> {
        let tab = match window_uid {
            Some(uid) => Some(self.tab_of_window(uid)?),
            None => {
                let in_front = self.tabs.order().into_iter().filter_map(|target| self.tabs.find(&target));
                in_front.into_iter().find(|tab| tab.chooser.is_some())
            }
        };
        tab.filter(|tab| tab.chooser.is_some()).ok_or_else(|| {
            // Not a bad request: an earlier step of the same list may open it.
            Error::new(Kind::WindowGone, "no file chooser is open; click what opens one first")
                .with("field", "window_uid")
        })
    }

    /// The origins of the pages that are open.
    fn open_origins(&self) -> Vec<String> {
        let mut origins: Vec<String> = self.tabs.all().iter().filter_map(|tab| origin_of(&tab.url)).collect();
        origins.sort_unstable();
        origins.dedup();
        origins
    }
}

const LOOK_AGAIN: Duration = Duration::from_millis(50);
