//! The pages of a browser: opened, left, read, and what comes of them. Acting takes a permit here as everywhere.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::page_text::PageReading;
use super::{Observer, Permit, ResolvedWindow, Target};
use crate::clock::Cancel;
use crate::config::limits;
use crate::error::Result;
use crate::model::page::{
    ChooserFiles, Download, DownloadState, Forgettable, HistoryStep, HostBytes, HostCookies, PageLogLines,
    PageVisit, ShownPage,
};
use crate::model::tree::Bounds;
use crate::platform::Patience;

/// A page as it is read has more parts than a window has elements.
const LARGEST_READING: Bounds = Bounds { elements: 60_000, depth: limits::TREE_DEPTH, children: 60_000 };

/// How often to look for downloads where the platform tells nothing of changes.
const POLL: Duration = Duration::from_millis(200);

impl Observer {
    /// Whether there are pages at all.
    pub fn is_browser(&self) -> bool {
        self.platform.pages().is_browser()
    }

    /// Whether there is nothing else.
    pub fn is_only_browser(&self) -> bool {
        self.platform.pages().is_whole_desktop()
    }

    pub fn visit_page(&self, permit: &mut Permit, visit: &PageVisit, cancel: &Cancel) -> Result<ShownPage> {
        cancel.check()?;
        permit.spend();
        let shown = self.platform.pages().visit(visit, cancel);
        self.forget_all();
        shown.map(|page| self.redacted_page(page))
    }

    pub fn step_history(
        &self,
        permit: &mut Permit,
        chosen: &ResolvedWindow,
        step: HistoryStep,
        at_most: Duration,
        cancel: &Cancel,
    ) -> Result<ShownPage> {
        cancel.check()?;
        permit.spend();
        let shown = self.platform.pages().step_history(&chosen.raw.uid, step, at_most, cancel);
        self.forget_all();
        shown.map(|page| self.redacted_page(page))
    }

    fn redacted_page(&self, page: ShownPage) -> ShownPage {
        ShownPage {
            title: self.redactor.page_text(&page.url, &page.title),
            url: self.redactor.window_url(&page.url),
            ..page
        }
    }

    /// What a page has to be read, redacted by the rules that a look is redacted by.
    pub fn read_page(
        &self,
        chosen: &ResolvedWindow,
        main_part: bool,
        cancel: &Cancel,
    ) -> Result<PageReading> {
        let (per_call, whole) = (limits::PLATFORM_CALL_TIME, limits::TREE_WALK_TIME);
        let patience = Patience { per_call, whole, cancel: cancel.clone() };
        let raw =
            self.platform.pages().reading_tree(&chosen.raw, main_part, &patience)?.within(LARGEST_READING);
        let raw = Arc::new(raw);
        let tree = self.redactor.shown(&raw, &chosen.raw).tree;
        Ok(PageReading { tree })
    }

    /// The files that names mean to a file chooser that is open.
    pub fn chooser_files(&self, window_uid: Option<&str>, names: &[String]) -> Result<ChooserFiles> {
        self.platform.pages().chooser_files(window_uid, names)
    }

    pub fn choose_files(&self, permit: &mut Permit, chosen: &ChooserFiles, cancel: &Cancel) -> Result<()> {
        cancel.check()?;
        permit.spend();
        let done = self.platform.pages().choose_files(chosen, cancel);
        self.forget_all();
        done
    }

    /// The files that an input to these targets would hand to a page: those that are named in a chooser that it works.
    pub fn files_behind(&self, targets: &[Target]) -> Vec<Target> {
        let mut files: Vec<PathBuf> = Vec::new();
        let mut seen: Vec<&str> = Vec::new();
        for uid in targets.iter().map(Target::window_uid).filter(|uid| !uid.is_empty()) {
            let names = if seen.contains(&uid) { Vec::new() } else { self.platform.pages().named_files(uid) };
            seen.push(uid);
            if !names.is_empty()
                && let Ok(chosen) = self.chooser_files(Some(uid), &names)
            {
                files.extend(chosen.files);
            }
        }
        files.into_iter().map(|file| Target::File(file.display().to_string())).collect()
    }

    pub fn downloads(&self) -> Result<Vec<Download>> {
        self.platform.pages().downloads()
    }

    /// All of them, once none is running any more and at least one is there, or when the time is over.
    pub fn await_downloads(&self, at_most: Duration, cancel: &Cancel) -> Result<Vec<Download>> {
        let deadline = self.clock.now() + at_most;
        loop {
            cancel.check()?;
            let generation = self.platform.watch().generation()?;
            let downloads = self.downloads()?;
            let runs = downloads.iter().any(|download| download.state == DownloadState::Running);
            let left = deadline.saturating_sub(self.clock.now());
            if left.is_zero() || (!runs && !downloads.is_empty()) {
                return Ok(downloads);
            }
            self.sleep_for_change(generation, left, POLL, cancel)?;
        }
    }

    pub fn keep_download(&self, permit: &mut Permit, id: &str) -> Result<Download> {
        permit.spend();
        self.platform.pages().keep_download(id)
    }

    /// Of a page that a rule hides, only that it wrote something.
    pub fn page_log(&self) -> Result<PageLogLines> {
        let mut log = self.platform.pages().log_lines()?;
        for line in &mut log.lines {
            let page = line.page_url.as_deref().filter(|url| self.redactor.hides_page(url));
            let hidden = page.unwrap_or(&line.url);
            if self.redactor.hides_page(hidden) {
                line.text = self.redactor.window_url(hidden);
                line.url = line.text.clone();
            }
        }
        Ok(log)
    }

    /// A download as it may be told of: what comes from a page that a rule hides has neither name nor address.
    pub fn shown_download(&self, download: Download) -> Download {
        Download {
            name: self.redactor.page_text(&download.url, &download.name),
            url: self.redactor.window_url(&download.url),
            ..download
        }
    }

    pub fn cookies(&self, cancel: &Cancel) -> Result<Vec<HostCookies>> {
        self.platform.pages().cookies(cancel)
    }

    pub fn traffic(&self) -> Result<Vec<HostBytes>> {
        self.platform.pages().traffic()
    }

    pub fn forget_site_data(
        &self,
        permit: &mut Permit,
        what: Forgettable,
        origin: Option<&str>,
        cancel: &Cancel,
    ) -> Result<()> {
        cancel.check()?;
        permit.spend();
        let done = self.platform.pages().forget(what, origin, cancel);
        self.forget_all();
        done
    }
}
