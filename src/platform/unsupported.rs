//! Parts that a system cannot have, each with the reason why: every method refuses with it.

use std::time::Duration;

use super::{
    Accessibility, Activation, Apps, Capture, Claimant, Clipboard, Desktop, Done, FieldText, Input, Menu,
    Pages, Patience, PressGuard, Shot, Wake, Watch, run_command,
};
use crate::clock::Cancel;
use crate::error::{Error, Kind, Result};
use crate::model::app::{App, Clip, Ended, Launch, Program, Run};
use crate::model::input::{Act, Delivery, Handle};
use crate::model::page::{
    ChooserFiles, Download, Forgettable, HistoryStep, HostBytes, HostCookies, PageLogLines, PageVisit,
    ShownPage,
};
use crate::model::{Monitor, Point, Reached, Rect, Tree, Window, WindowChange};

/// The error of everything that a platform cannot do.
pub fn refuse<T>(reason: &str) -> Result<T> {
    Err(Error::new(Kind::PlatformUnsupported, reason))
}

#[derive(Clone, Debug)]
pub struct NoDesktop {
    pub reason: String,
}

impl Desktop for NoDesktop {
    fn windows(&self) -> Result<Vec<Window>> {
        refuse(&self.reason)
    }

    fn stacking(&self) -> Result<Option<Vec<String>>> {
        refuse(&self.reason)
    }

    fn menu_at(&self, _: Point) -> Result<Option<Menu>> {
        Ok(None)
    }

    fn monitors(&self) -> Result<Vec<Monitor>> {
        Ok(Vec::new())
    }

    fn screen(&self) -> Result<Option<Rect>> {
        refuse(&self.reason)
    }

    fn pointer(&self) -> Result<Option<Point>> {
        refuse(&self.reason)
    }

    fn owner(&self, _: &Window) -> Result<Option<String>> {
        Ok(None)
    }

    fn activate(&self, _: &Window) -> Result<Activation> {
        refuse(&self.reason)
    }

    fn change(&self, _: &Window, _: &WindowChange, _: Duration, _: &Cancel) -> Result<Reached> {
        refuse(&self.reason)
    }
}

#[derive(Clone, Debug)]
pub struct NoAccessibility {
    pub reason: String,
}

impl Accessibility for NoAccessibility {
    fn tree(&self, _: &Window, _: &Patience) -> Result<Tree> {
        refuse(&self.reason)
    }

    fn field(&self, _: &Handle, _: &Cancel) -> Result<Option<FieldText>> {
        Ok(None)
    }
}

/// Nothing is held down and no pointer moves, so claiming and letting go succeed.
#[derive(Clone, Debug)]
pub struct NoInput {
    pub reason: String,
}

impl Input for NoInput {
    fn act(&self, _: &Act, _: Delivery, _: &dyn PressGuard, _: &Cancel) -> Result<Done> {
        refuse(&self.reason)
    }

    fn check(&self, _: &Act, _: &Cancel) -> Result<()> {
        refuse(&self.reason)
    }

    fn claim(&self, _: &Claimant) -> Result<()> {
        Ok(())
    }

    fn give_back(&self, _: &Claimant) {}

    fn release_all(&self) {}

    fn confine(&self, _: Rect) {}
}

#[derive(Clone, Debug)]
pub struct NoCapture {
    pub reason: String,
}

impl Capture for NoCapture {
    fn window_picture(&self, _: &Window) -> Result<Shot> {
        refuse(&self.reason)
    }

    fn screen_picture(&self) -> Result<Shot> {
        refuse(&self.reason)
    }

    fn region_picture(&self, _: Rect) -> Result<Shot> {
        refuse(&self.reason)
    }
}

#[derive(Clone, Debug)]
pub struct NoClipboard {
    pub no_read: String,
    pub no_write: String,
}

impl NoClipboard {
    /// The same reason for reading and writing.
    pub fn new(reason: &str) -> Self {
        Self { no_read: reason.to_owned(), no_write: reason.to_owned() }
    }
}

impl Clipboard for NoClipboard {
    fn read(&self, _: &Cancel) -> Result<Clip> {
        refuse(&self.no_read)
    }

    fn write(&self, _: &str) -> Result<()> {
        refuse(&self.no_write)
    }
}

/// Commands need no desktop, so they run here too where the system has them.
#[derive(Clone, Debug)]
pub struct NoApps {
    pub no_list: String,
    pub no_launch: String,
}

impl NoApps {
    /// The same reason for listing and launching.
    pub fn new(reason: &str) -> Self {
        Self { no_list: reason.to_owned(), no_launch: reason.to_owned() }
    }
}

impl Apps for NoApps {
    fn installed(&self) -> Result<Vec<App>> {
        refuse(&self.no_list)
    }

    fn program(&self, _: &str) -> Result<Program> {
        refuse(&self.no_launch)
    }

    fn launch(&self, _: &Launch) -> Result<u32> {
        refuse(&self.no_launch)
    }

    fn is_running(&self, _: u32) -> bool {
        false
    }

    fn run(&self, run: &Run, cancel: &Cancel) -> Result<Ended> {
        run_command(run, cancel)
    }
}

#[derive(Clone, Debug)]
pub struct NoWatch {
    pub reason: String,
}

impl Watch for NoWatch {
    fn generation(&self) -> Result<u64> {
        refuse(&self.reason)
    }

    fn wait_change(&self, _: u64, _: Duration, _: &Cancel) -> Result<Wake> {
        refuse(&self.reason)
    }
}

/// The desktop can be looked at, but sends no events: waits look again and again.
#[derive(Clone, Copy, Debug)]
pub struct NoEvents;

impl Watch for NoEvents {
    fn generation(&self) -> Result<u64> {
        Ok(0)
    }

    fn wait_change(&self, _: u64, _: Duration, cancel: &Cancel) -> Result<Wake> {
        cancel.check()?;
        Ok(Wake::NoEvents)
    }
}

/// There are no pages: the desktop is no browser, or it was to be one that did not start.
#[derive(Clone, Debug)]
pub struct NoPages {
    /// Why the browser did not start.
    missing: Option<String>,
}

/// Of a desktop that is no browser.
pub static NO_PAGES: NoPages = NoPages { missing: None };

impl NoPages {
    /// Of a browser that did not start: who asked for one is told of its tools, and by each of them what is wrong.
    pub fn of_missing_browser(reason: String) -> Self {
        Self { missing: Some(reason) }
    }

    fn refuse<T>(&self) -> Result<T> {
        refuse(self.missing.as_deref().unwrap_or(NO_BROWSER))
    }
}

const NO_BROWSER: &str = "this desktop is no browser; start the server with --browser to work on pages";

impl Pages for NoPages {
    fn is_browser(&self) -> bool {
        self.missing.is_some()
    }

    fn is_whole_desktop(&self) -> bool {
        self.missing.is_some()
    }

    fn visit(&self, _: &PageVisit, _: &Cancel) -> Result<ShownPage> {
        self.refuse()
    }

    fn step_history(&self, _: &str, _: HistoryStep, _: Duration, _: &Cancel) -> Result<ShownPage> {
        self.refuse()
    }

    fn reading_tree(&self, _: &Window, _: bool, _: &Patience) -> Result<Tree> {
        self.refuse()
    }

    fn named_files(&self, _: &str) -> Vec<String> {
        Vec::new()
    }

    fn chooser_files(&self, _: Option<&str>, _: &[String]) -> Result<ChooserFiles> {
        self.refuse()
    }

    fn choose_files(&self, _: &ChooserFiles, _: &Cancel) -> Result<()> {
        self.refuse()
    }

    fn downloads(&self) -> Result<Vec<Download>> {
        self.refuse()
    }

    fn keep_download(&self, _: &str) -> Result<Download> {
        self.refuse()
    }

    fn log_lines(&self) -> Result<PageLogLines> {
        self.refuse()
    }

    fn cookies(&self, _: &Cancel) -> Result<Vec<HostCookies>> {
        self.refuse()
    }

    fn traffic(&self) -> Result<Vec<HostBytes>> {
        self.refuse()
    }

    fn forget(&self, _: Forgettable, _: Option<&str>, _: &Cancel) -> Result<()> {
        self.refuse()
    }
}
