//! What pages leave behind: downloads, what they log, and what sites store in the browser.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::browser::EXAMPLE_SITE;
use super::found_lines::fitting_start;
use super::windows::NoArgs;
use crate::error::{Error, MAY_COME, Result};
use crate::model::page::{
    Download, DownloadState, Forgettable, HostBytes, HostCookies, LogLine, PageAddress,
};
use crate::observer::one_line;
use crate::text::shorten;
use crate::tool::args::{Int, Text};
use crate::tool::{Cx, Effect, Example, Group, Meta, Method, Output, Permit, Spec, Target, Tool};

#[derive(Debug, Serialize, JsonSchema)]
pub struct DownloadOut {
    id: String,
    name: String,
    url: String,
    /// running, complete, cancelled or kept.
    state: &'static str,
    received_bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    total_bytes: Option<u64>,
    /// Where the file is, once it is kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

impl From<Download> for DownloadOut {
    fn from(download: Download) -> Self {
        Self {
            id: download.id,
            name: download.name,
            url: download.url,
            state: download.state.name(),
            received_bytes: download.received_bytes,
            total_bytes: download.total_bytes,
            path: download.path.map(|path| path.display().to_string()),
            note: download.note,
        }
    }
}

impl DownloadOut {
    /// `d1 "prices.csv" complete, 120 bytes, from https://…`
    fn line(&self) -> String {
        let of = self.total_bytes.filter(|&total| total != self.received_bytes);
        let of = of.map_or(String::new(), |total| format!(" of {total}"));
        let place = self.path.as_ref().map_or(String::new(), |path| format!(", at {path}"));
        let note = self.note.as_ref().map_or(String::new(), |note| format!(" ({note})"));
        let (id, name, state) = (&self.id, &self.name, self.state);
        format!("{id} {name:?} {state}, {}{of} bytes, from {}{place}{note}", self.received_bytes, self.url)
    }
}

/// A line for each, as many as there is room for; what there is no room for is counted.
fn fitting_lines(cx: &Cx, lines: impl Iterator<Item = String>, none: &str) -> String {
    let lines: Vec<String> = lines.map(|line| one_line(&line)).collect();
    let fitting = fitting_start(&lines, cx.max_tokens);
    let more = (lines.len() > fitting).then(|| format!("… {} more", lines.len() - fitting));
    let told: Vec<String> = lines.into_iter().take(fitting).chain(more).collect();
    if told.is_empty() { none.to_owned() } else { told.join("\n") }
}

pub struct DownloadsTool;

#[derive(Debug, Deserialize, JsonSchema)]
pub struct DownloadsArgs {
    /// Wait so long for running ones.
    wait_ms: Option<Int<0, 120_000>>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct DownloadList {
    downloads: Vec<DownloadOut>,
    #[serde(skip)]
    lean: Option<String>,
}

impl Output for DownloadList {
    fn take_lean(&mut self) -> Option<String> {
        self.lean.take()
    }
}

impl Tool for DownloadsTool {
    type Args = DownloadsArgs;
    type Out = DownloadList;
    const META: Meta = Meta {
        name: "downloads",
        group: Group::Browser,
        web: true,
        writes_lines: true,
        untrusted: true,
        waits: true,
        fits: true,
        rest: &[(Method::Get, "/api/browser/downloads")],
        brief: "Downloaded files and their places.",
        detail: "A file arrives in a private folder; it has a place for others when keep_download has kept it. With \
                 `wait_ms` it is waited until one has begun and none is running. One that is larger than \
                 `browser.download_mb`, and more than 50 of them, are cancelled. Names are made safe.",
        examples: &[Example {
            scenario: Some(EXAMPLE_SITE),
            args: "{}",
            shows: "the price list of the scenario's shop",
        }],
        ..Meta::DEFAULT
    };

    fn run(cx: &mut Cx, args: DownloadsArgs, _: Permit) -> Result<DownloadList> {
        let at_most = Duration::from_millis(args.wait_ms.map_or(0, Int::as_usize) as u64);
        let downloads = cx.observer().await_downloads(at_most, cx.cancel)?;
        let downloads: Vec<DownloadOut> =
            downloads.into_iter().map(|download| cx.observer().shown_download(download).into()).collect();
        let lean = cx
            .reads_lines
            .then(|| fitting_lines(cx, downloads.iter().map(DownloadOut::line), "no downloads"));
        Ok(DownloadList { downloads, lean })
    }
}

pub struct KeepDownload;

#[derive(Debug, Deserialize, JsonSchema)]
pub struct KeepDownloadArgs {
    /// As downloads tells it.
    id: Text<32>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct DownloadKept {
    #[serde(flatten)]
    download: DownloadOut,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(default)]
    dry_run: bool,
    #[serde(skip)]
    lean: Option<String>,
}

impl Output for DownloadKept {
    fn take_lean(&mut self) -> Option<String> {
        self.lean.take()
    }
}

impl DownloadKept {
    fn new(cx: &Cx, download: Download, dry_run: bool) -> Self {
        let download = DownloadOut::from(cx.observer().shown_download(download));
        let done = if dry_run { "dry run, nothing was kept" } else { "done" };
        let lean = cx.reads_lines.then(|| one_line(&format!("keep_download: {done}, {}", download.line())));
        Self { download, dry_run, lean }
    }
}

/// How long a step waits for the download of an earlier one.
const ABOUT_TO_COME: Duration = Duration::from_secs(20);
const LOOKED_AGAIN: Duration = Duration::from_millis(500);

impl KeepDownloadArgs {
    /// A step comes right after others, whose download may not be there yet.
    fn download(&self, cx: &Cx) -> Result<Download> {
        let is_there = |downloads: &[Download]| {
            let mut named = downloads.iter().filter(|download| download.id == self.id.as_str());
            named.any(|download| download.state != DownloadState::Running)
        };
        let mut downloads = cx.observer().downloads()?;
        let deadline = cx.clock().now() + if cx.is_step { ABOUT_TO_COME } else { Duration::ZERO };
        while !is_there(&downloads) && cx.clock().now() < deadline {
            let seen = cx.observer().generation()?;
            let left = deadline.saturating_sub(cx.clock().now());
            cx.observer().await_calm(seen, left.min(LOOKED_AGAIN), cx.cancel)?;
            downloads = cx.observer().downloads()?;
        }
        let ids: Vec<&str> = downloads.iter().map(|download| download.id.as_str()).collect();
        let known = if ids.is_empty() {
            "there are none".to_owned()
        } else {
            format!("there are {}", ids.join(", "))
        };
        let found = downloads.iter().find(|download| download.id == self.id.as_str()).cloned();
        found.ok_or_else(|| {
            Error::bad_request(format!("no download is called '{}'; {known}", self.id.as_str()))
                .with("field", "id")
                .with(MAY_COME, true)
        })
    }
}

impl Tool for KeepDownload {
    type Args = KeepDownloadArgs;
    type Out = DownloadKept;
    const META: Meta = Meta {
        name: "keep_download",
        group: Group::Browser,
        web: true,
        writes_lines: true,
        effect: Effect::Input,
        untrusted: true,
        rest: &[(Method::Post, "/api/browser/downloads/keep")],
        brief: "Keep a complete download by its name.",
        detail: "The file moves from the private folder to `browser.downloads_dir`, or where that is not set to a \
                 private folder that ends with the server; nothing is written over. Consent rules see its name as the \
                 role `File`. A file that came from a page is not to be trusted.",
        examples: &[Example {
            scenario: Some(EXAMPLE_SITE),
            args: r#"{"id":"d1"}"#,
            shows: "the price list that the scenario's shop has sent",
        }],
        verify: &["ok", "state", "error.code"],
        ..Meta::DEFAULT
    };

    fn targets(cx: &Cx, args: &KeepDownloadArgs) -> Result<Vec<Target>> {
        Ok(vec![Target::File(args.download(cx)?.name)])
    }

    fn run(cx: &mut Cx, args: KeepDownloadArgs, mut permit: Permit) -> Result<DownloadKept> {
        let download = args.download(cx)?;
        if !matches!(download.state, DownloadState::Complete | DownloadState::Kept) {
            let message = format!("download '{}' is {}, not complete", download.id, download.state.name());
            return Err(Error::bad_request(message).with("field", "id"));
        }
        if permit.dry_run() {
            return Ok(DownloadKept::new(cx, download, true));
        }
        let kept = cx.observer().keep_download(&mut permit, args.id.as_str())?;
        Ok(DownloadKept::new(cx, kept, false))
    }
}

pub struct PageLogTool;

#[derive(Debug, Deserialize, JsonSchema)]
pub struct PageLogArgs {
    /// Only lines after this number.
    after: Option<Int<0, 1_000_000_000>>,
    /// Default: all kinds.
    #[serde(default)]
    #[schemars(length(max = 4), extend("x-hidden" = true))]
    kinds: Vec<LogKindArg>,
    /// Default: all tabs.
    #[schemars(extend("x-hidden" = true))]
    window_uid: Option<Text<256>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LogKindArg {
    Console,
    Error,
    Network,
    Browser,
}

impl LogKindArg {
    const fn name(self) -> &'static str {
        match self {
            LogKindArg::Console => "console",
            LogKindArg::Error => "error",
            LogKindArg::Network => "network",
            LogKindArg::Browser => "browser",
        }
    }
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct LogOut {
    number: u64,
    kind: &'static str,
    level: String,
    text: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    #[schemars(default)]
    url: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    window_uid: Option<String>,
}

impl From<LogLine> for LogOut {
    fn from(line: LogLine) -> Self {
        let LogLine { number, kind, level, text, url, window_uid, page_url: _ } = line;
        Self { number, kind: kind.name(), level, text, url, window_uid }
    }
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct PageLogOut {
    lines: Vec<LogOut>,
    /// How many older lines are no longer there.
    #[serde(skip_serializing_if = "is_none_dropped")]
    #[schemars(default)]
    dropped: u64,
    #[serde(skip)]
    lean: Option<String>,
}

fn is_none_dropped(dropped: &u64) -> bool {
    *dropped == 0
}

impl Output for PageLogOut {
    fn take_lean(&mut self) -> Option<String> {
        self.lean.take()
    }
}

impl LogOut {
    /// `12 error: TypeError: x is undefined (https://…)`
    fn line(&self) -> String {
        let level = Some(self.level.as_str()).filter(|level| *level != self.kind && *level != "log");
        let level = level.map_or(String::new(), |level| format!(" {level}"));
        let url = if self.url.is_empty() { String::new() } else { format!(" ({})", self.url) };
        format!("{} {}{level}: {}{url}", self.number, self.kind, shorten(&self.text, LONGEST_LOGGED))
    }
}

/// Of a line of the log, where a model reads it.
const LONGEST_LOGGED: usize = 300;

impl Tool for PageLogTool {
    type Args = PageLogArgs;
    type Out = PageLogOut;
    const META: Meta = Meta {
        name: "page_log",
        group: Group::Browser,
        web: true,
        writes_lines: true,
        untrusted: true,
        fits: true,
        rest: &[(Method::Get, "/api/browser/log")],
        brief: "Console lines, script errors and failed requests.",
        detail: "The latest 500 lines of all tabs, each at most 1000 characters; `after` continues.",
        examples: &[Example {
            scenario: Some(EXAMPLE_SITE),
            args: "{}",
            shows: "pages of the mock desktop write nothing",
        }],
        ..Meta::DEFAULT
    };

    fn run(cx: &mut Cx, args: PageLogArgs, _: Permit) -> Result<PageLogOut> {
        let after = args.after.map_or(0, |after| u64::try_from(after.get()).unwrap_or(0));
        let log = cx.observer().page_log()?;
        let is_wanted = |line: &LogLine| {
            let of_kind =
                args.kinds.is_empty() || args.kinds.iter().any(|kind| kind.name() == line.kind.name());
            let uid = args.window_uid.as_ref().map(Text::as_str);
            line.number > after && of_kind && uid.is_none_or(|uid| line.window_uid.as_deref() == Some(uid))
        };
        let lines: Vec<LogOut> = log.lines.into_iter().filter(is_wanted).map(LogOut::from).collect();
        let dropped = log.dropped.saturating_sub(after);
        let lean =
            cx.reads_lines.then(|| fitting_lines(cx, lines.iter().map(LogOut::line), "nothing was logged"));
        Ok(PageLogOut { lines, dropped, lean })
    }
}

pub struct BrowserStateTool;

#[derive(Debug, Serialize, JsonSchema)]
pub struct BrowserStateOut {
    tabs: Vec<TabOut>,
    cookies: Vec<CookiesOut>,
    /// Empty where the browser is somebody else's.
    traffic: Vec<TrafficOut>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct TabOut {
    window_uid: String,
    title: String,
    focused: bool,
}

/// How many bytes went to a host and came from it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TrafficOut {
    host: String,
    sent_bytes: u64,
    received_bytes: u64,
}

/// How many cookies a host has.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CookiesOut {
    host: String,
    count: usize,
}

impl Output for BrowserStateOut {}

impl Tool for BrowserStateTool {
    type Args = NoArgs;
    type Out = BrowserStateOut;
    const META: Meta = Meta {
        name: "browser_state",
        group: Group::Browser,
        untrusted: true,
        fits: true,
        rest: &[(Method::Get, "/api/browser/state")],
        brief: "The tabs, and of each host its cookies and bytes by number.",
        detail: "What is in cookies is not told. clear_site_data forgets them. Bytes are those that went through the \
                 server's proxy since the browser started; those of a tunnel are counted as they are, encrypted.",
        examples: &[Example {
            scenario: Some(EXAMPLE_SITE),
            args: "{}",
            shows: "the tab of the scenario's shop",
        }],
        ..Meta::DEFAULT
    };

    fn run(cx: &mut Cx, _: NoArgs, _: Permit) -> Result<BrowserStateOut> {
        let cookies = cx.observer().cookies(cx.cancel)?.into_iter();
        let cookies = cookies.map(|HostCookies { host, cookies }| CookiesOut { host, count: cookies });
        let tabs = cx.observer().windows()?.into_iter();
        let tabs = tabs.map(|tab| TabOut { window_uid: tab.uid, title: tab.title, focused: tab.focused });
        let traffic = cx.observer().traffic()?.into_iter();
        let traffic = traffic.map(|HostBytes { host, sent, received }| TrafficOut {
            host,
            sent_bytes: sent,
            received_bytes: received,
        });
        Ok(BrowserStateOut { tabs: tabs.collect(), cookies: cookies.collect(), traffic: traffic.collect() })
    }
}

pub struct ClearSiteData;

#[derive(Debug, Deserialize, JsonSchema)]
pub struct ClearSiteDataArgs {
    /// What to forget.
    what: ClearedData,
    /// Of this origin alone, as https://example.org.
    origin: Option<Text<512>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ClearedData {
    Cookies,
    Storage,
    All,
}

impl ClearedData {
    const fn forgettable(self) -> Forgettable {
        match self {
            ClearedData::Cookies => Forgettable::Cookies,
            ClearedData::Storage => Forgettable::Storage,
            ClearedData::All => Forgettable::All,
        }
    }
}

impl ClearSiteDataArgs {
    /// The origin as browsers write it.
    fn site(&self) -> Result<Option<String>> {
        let Some(origin) = &self.origin else { return Ok(None) };
        let wrong =
            |why: &str| Error::bad_request(format!("argument 'origin': {why}")).with("field", "origin");
        let address = PageAddress::parse(origin.as_str()).map_err(|why| wrong(&why))?;
        address.origin().map(Some).ok_or_else(|| wrong("expected an origin such as https://example.org"))
    }
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct SiteDataCleared {
    cleared: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(default)]
    dry_run: bool,
}

impl Output for SiteDataCleared {}

impl Tool for ClearSiteData {
    type Args = ClearSiteDataArgs;
    type Out = SiteDataCleared;
    const META: Meta = Meta {
        name: "clear_site_data",
        group: Group::Browser,
        effect: Effect::Input,
        rest: &[(Method::Post, "/api/browser/clear")],
        brief: "Forget cookies, what sites have stored, or both: signs out of sites.",
        detail: "Of one `origin`, or without it of all sites: then all cookies, the cache, and what the sites that have \
                 a tab have stored. Consent rules see the origin, or `*`, as the role `Url`.",
        examples: &[Example {
            scenario: Some(EXAMPLE_SITE),
            args: r#"{"what":"cookies"}"#,
            shows: "a mock desktop has nothing to forget",
        }],
        verify: &["ok", "error.code"],
        ..Meta::DEFAULT
    };

    fn targets(_: &Cx, args: &ClearSiteDataArgs) -> Result<Vec<Target>> {
        Ok(vec![Target::Url(args.site()?.unwrap_or_else(|| "*".to_owned()))])
    }

    fn run(cx: &mut Cx, args: ClearSiteDataArgs, mut permit: Permit) -> Result<SiteDataCleared> {
        let (site, dry_run) = (args.site()?, permit.dry_run());
        if !dry_run {
            let what = args.what.forgettable();
            cx.observer().forget_site_data(&mut permit, what, site.as_deref(), cx.cancel)?;
        }
        Ok(SiteDataCleared { cleared: !dry_run, dry_run })
    }
}

pub const TOOLS: &[Spec] = &[
    Spec::of::<DownloadsTool>(),
    Spec::of::<KeepDownload>(),
    Spec::of::<PageLogTool>(),
    Spec::of::<BrowserStateTool>(),
    Spec::of::<ClearSiteData>(),
];
