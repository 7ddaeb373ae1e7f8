//! Windows as a whole and what is around them: one window chosen among all, changed and waited for; programs started;
//! the pointer; the clipboard.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use regex::Regex;

use super::resolve::MOST_MATCHES;
use super::{DesktopState, Observer, Permit, ResolvedWindow};
use crate::clock::Cancel;
use crate::error::{Error, Fact, Result};
use crate::model::app::{Clip, Ended, Launch, Program, Run};
use crate::model::{Point, Reached, Window, WindowChange, WindowState};
use crate::platform::Activation;

/// How often to look for a window where the platform tells nothing of changes.
const POLL: Duration = Duration::from_millis(100);

/// What a window must be like; everything that is given must fit.
#[derive(Clone, Debug, Default)]
pub struct WindowQuery {
    pub uid: Option<String>,
    pub title_contains: Option<String>,
    pub title_regex: Option<Regex>,
    pub process: Option<String>,
}

impl WindowQuery {
    pub fn is_empty(&self) -> bool {
        self.uid.is_none()
            && self.title_contains.is_none()
            && self.title_regex.is_none()
            && self.process.is_none()
    }

    /// `window` has the title that may be shown, so that no hidden one can be guessed by asking.
    pub fn matches_window(&self, window: &Window) -> bool {
        let contains = |part: &String| window.title.to_lowercase().contains(&part.to_lowercase());
        self.uid.as_ref().is_none_or(|uid| window.uid == *uid)
            && self.title_contains.as_ref().is_none_or(contains)
            && self.title_regex.as_ref().is_none_or(|pattern| pattern.is_match(&window.title))
            && self.process.as_ref().is_none_or(|name| window.process.eq_ignore_ascii_case(name))
    }

    fn query_text(&self) -> String {
        let given = [
            self.uid.as_ref().map(|uid| format!("the uid '{uid}'")),
            self.title_contains.as_ref().map(|part| format!("'{part}' in its title")),
            self.title_regex.as_ref().map(|pattern| format!("a title like '{pattern}'")),
            self.process.as_ref().map(|name| format!("the process '{name}'")),
        ];
        given.into_iter().flatten().collect::<Vec<_>>().join(" and ")
    }
}

/// What to do to a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowOperation {
    /// In front, with the keyboard.
    Focus,
    Change(WindowChange),
}

/// What to wait for after a program was started.
#[derive(Clone, Debug)]
pub struct WindowWait {
    pub query: WindowQuery,
    /// The windows that were there before, by uid, and which of them had the focus.
    pub before: HashSet<String>,
    pub focused: Option<String>,
    pub timeout: Duration,
}

impl Observer {
    /// The only window that fits: none is an error that tells what there is, several are one that lists them.
    pub fn choose_only(&self, desktop: &Arc<DesktopState>, query: &WindowQuery) -> Result<ResolvedWindow> {
        if query.is_empty() {
            return Err(Error::bad_request(
                "which window? Give window_uid, title, title_regex or process; list_windows lists them",
            )
            .with("field", "window_uid"));
        }
        let windows = desktop.windows();
        let fits = |window: &&Window| query.matches_window(&self.shown_window((*window).clone()));
        let found: Vec<&Window> = windows.iter().filter(fits).collect();
        match found[..] {
            [window] => Ok(self.resolve_raw(desktop, window, None)),
            [] => Err(self.window_gone(format!("no window has {}", query.query_text()), windows)),
            _ => Err(self.several_windows(query, &found)),
        }
    }

    fn several_windows(&self, query: &WindowQuery, found: &[&Window]) -> Error {
        let shown = found.iter().take(MOST_MATCHES).map(|window| {
            Fact::object([
                ("window_uid", window.uid.as_str().into()),
                ("title", self.redactor.title(&window.title).into_owned().into()),
                ("process", window.process.as_str().into()),
            ])
        });
        let message =
            format!("{} windows have {}; choose one by window_uid", found.len(), query.query_text());
        Error::bad_request(message).with("count", found.len()).with("matches", Fact::List(shown.collect()))
    }

    /// Does something to a window as a whole and waits until it is so; what is told is what was seen.
    pub fn change_window(
        &self,
        permit: &mut Permit,
        chosen: &ResolvedWindow,
        deed: WindowOperation,
        timeout: Duration,
        cancel: &Cancel,
    ) -> Result<Reached> {
        cancel.check()?;
        permit.spend();
        let reached = match deed {
            WindowOperation::Change(change) => {
                self.platform.desktop().change(&chosen.raw, &change, timeout, cancel)
            }
            WindowOperation::Focus => self.focus_window(chosen),
        };
        self.forget_all();
        reached
    }

    fn focus_window(&self, chosen: &ResolvedWindow) -> Result<Reached> {
        let activation = self.platform.desktop().activate(&chosen.raw)?;
        let window =
            self.platform.desktop().windows()?.into_iter().find(|window| window.uid == chosen.raw.uid);
        let note = match activation {
            Activation::Activated => None,
            Activation::Refused(why) => Some(why),
        };
        let state = window.map(|window| WindowState {
            bounds: window.bounds,
            focused: window.focused,
            minimized: window.minimized,
            maximized: false,
        });
        Ok(Reached { done: note.is_none(), state, note })
    }

    pub fn find_program(&self, name: &str) -> Result<Program> {
        self.platform.apps().program(name)
    }

    pub fn launch_program(&self, permit: &mut Permit, launch: &Launch, cancel: &Cancel) -> Result<u32> {
        cancel.check()?;
        permit.spend();
        let pid = self.platform.apps().launch(launch);
        self.forget_all();
        pid
    }

    /// The window that a started program shows, or `None` when the time is over. A program that ended may still show
    /// one: it may have handed the work to another that was running.
    pub fn await_window(&self, awaited: &WindowWait, cancel: &Cancel) -> Result<Option<Window>> {
        let deadline = self.clock.now() + awaited.timeout;
        loop {
            cancel.check()?;
            let generation = self.platform.watch().generation()?;
            let found = self.windows()?.into_iter().find(|window| awaited.matches_window(window));
            let left = deadline.saturating_sub(self.clock.now());
            if found.is_some() || left.is_zero() {
                return Ok(found);
            }
            self.sleep_for_change(generation, left, POLL, cancel)?;
        }
    }

    /// Where the pointer is; `None` where the desktop does not tell.
    pub fn pointer_position(&self) -> Result<Option<Point>> {
        self.platform.desktop().pointer()
    }

    pub fn read_clipboard(&self, cancel: &Cancel) -> Result<Clip> {
        self.platform.clipboard().read(cancel)
    }

    pub fn set_clipboard(&self, permit: &mut Permit, text: &str, cancel: &Cancel) -> Result<()> {
        cancel.check()?;
        permit.spend();
        self.platform.clipboard().write(text)
    }

    pub fn run_command(&self, permit: &mut Permit, run: &Run, cancel: &Cancel) -> Result<Ended> {
        cancel.check()?;
        permit.spend();
        let ended = self.platform.apps().run(run, cancel);
        self.forget_all();
        ended
    }
}

impl WindowWait {
    /// New, or raised by the program that found itself running already.
    fn matches_window(&self, window: &Window) -> bool {
        let new = !self.before.contains(&window.uid);
        if self.query.is_empty() {
            return new;
        }
        let came_to_front = window.focused && self.focused.as_ref() != Some(&window.uid);
        (new || came_to_front) && self.query.matches_window(window)
    }
}
