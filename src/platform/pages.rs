//! What only a browser has: pages that can be opened, read as texts, and left again.

use std::time::Duration;

use super::Patience;
use crate::clock::Cancel;
use crate::error::Result;
use crate::model::page::{
    ChooserFiles, Download, Forgettable, HistoryStep, HostBytes, HostCookies, PageLogLines, PageVisit,
    ShownPage,
};
use crate::model::{Tree, Window};

/// The pages of a browser. Whoever calls it has judged where it goes.
pub trait Pages: Send + Sync {
    fn is_browser(&self) -> bool;

    /// Whether there are no windows but those of the browser, and no programs.
    fn is_whole_desktop(&self) -> bool {
        false
    }

    /// Opens an address in a tab, and waits for it as the visit says.
    fn visit(&self, visit: &PageVisit, cancel: &Cancel) -> Result<ShownPage>;

    /// Goes back or forward, loads again, or stops loading.
    fn step_history(
        &self,
        window_uid: &str,
        step: HistoryStep,
        at_most: Duration,
        cancel: &Cancel,
    ) -> Result<ShownPage>;

    /// What a page has to be read, as a tree of headings, paragraphs, lists, tables and links: all of it, wherever the
    /// page is scrolled to, and nothing that nobody can see. With `main_part` without what stands around it.
    fn reading_tree(&self, window: &Window, main_part: bool, patience: &Patience) -> Result<Tree>;

    /// The names that are written in a file chooser, if that is what the window is.
    fn named_files(&self, window_uid: &str) -> Vec<String>;

    /// The files that names mean to the file chooser of a window or of its page, or to the one that is open.
    fn chooser_files(&self, window_uid: Option<&str>, names: &[String]) -> Result<ChooserFiles>;

    /// Hands them to the page; none closes the chooser.
    fn choose_files(&self, chosen: &ChooserFiles, cancel: &Cancel) -> Result<()>;

    /// In the order in which they began.
    fn downloads(&self) -> Result<Vec<Download>>;

    /// Moves a complete download to where files are kept.
    fn keep_download(&self, id: &str) -> Result<Download>;

    fn log_lines(&self) -> Result<PageLogLines>;

    /// By host, in the order of their names.
    fn cookies(&self, cancel: &Cancel) -> Result<Vec<HostCookies>>;

    /// How much pages exchanged with each host, as far as it went through a proxy of ours; in the order of their names.
    fn traffic(&self) -> Result<Vec<HostBytes>>;

    /// Forgets what one origin has stored, or all of them.
    fn forget(&self, what: Forgettable, origin: Option<&str>, cancel: &Cancel) -> Result<()>;
}
