//! Windows as a whole and what is around them: one window chosen among all, changed and waited for; programs started;
//! the pointer; the clipboard.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::resolve::MOST_MATCHES;
use super::{DesktopState, Observer, Permit, ResolvedWindow};
use crate::clock::Cancel;
use crate::error::{Error, Fact, Kind, Result};
use crate::model::app::{Clip, Ended, Launch, Program, Run};
use crate::model::{Point, Reached, Window, WindowChange, WindowState};
use crate::pattern::Pattern;
use crate::platform::Activation;

/// How often to look for a window where the platform tells nothing of changes.
const POLL: Duration = Duration::from_millis(100);
/// How often to look whether a program has ended that shows no window.
const LOOK_FOR_END: Duration = Duration::from_millis(250);
/// How long another program may take to show the work of one that ended by an error.
const TAKE_OVER_TIME: Duration = Duration::from_millis(500);
/// A window that did not change for so long has settled; one without elements may be a splash screen, or be filled later.
const QUIET: Duration = Duration::from_millis(300);
const QUIET_WITHOUT_ELEMENTS: Duration = Duration::from_millis(1000);

/// What a window must be like; everything that is given must fit.
#[derive(Clone, Debug, Default)]
pub struct WindowQuery {
    pub uid: Option<String>,
    pub title_contains: Option<String>,
    pub title_regex: Option<Pattern>,
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
    pub fn matches_window(&self, window: &Window) -> Result<bool> {
        let contains = |part: &String| window.title.to_lowercase().contains(&part.to_lowercase());
        let titled = self.title_regex.as_ref().map_or(Ok(true), |pattern| pattern.is_match(&window.title))?;
        Ok(titled
            && self.uid.as_ref().is_none_or(|uid| window.uid == *uid)
            && self.title_contains.as_ref().is_none_or(contains)
            && self.process.as_ref().is_none_or(|name| window.process.eq_ignore_ascii_case(name)))
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
    /// The process that was started: of several windows its own is meant.
    pub pid: u32,
    /// Its file, without the folder.
    pub program: String,
    /// The windows that were there before.
    pub before: Vec<Window>,
    pub timeout: Duration,
    /// The same while the program runs and shows no window yet, or a splash screen.
    pub starting_timeout: Duration,
}

/// What a started program shows when the wait for it ends.
#[derive(Clone, Debug, PartialEq)]
pub struct AwaitedWindow {
    pub window: Option<Window>,
    /// It was still changing, or only a splash screen showed.
    pub loading: bool,
    /// It was there before: a program that was running took the work over.
    pub reused: bool,
}

/// A window as it was seen while its program started.
#[derive(Clone, Debug, PartialEq)]
struct WindowSight {
    uid: String,
    title: String,
    fingerprint: u64,
    is_dark: bool,
}

/// Since when a window looks as it does.
#[derive(Debug, Default)]
struct Settling {
    seen: Option<(WindowSight, Duration)>,
}

impl Settling {
    /// How much longer it has to look the same to be taken for settled; `None` when there is nothing to see yet.
    fn quiet_in(&mut self, sight: Option<WindowSight>, now: Duration) -> Option<Duration> {
        let sight = sight?;
        let quiet = if sight.is_dark { QUIET_WITHOUT_ELEMENTS } else { QUIET };
        let since = match &self.seen {
            Some((before, since)) if *before == sight => *since,
            _ => now,
        };
        self.seen = Some((sight, since));
        Some(quiet.saturating_sub(now.saturating_sub(since)))
    }
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
        let mut found: Vec<&Window> = Vec::new();
        for window in windows {
            if query.matches_window(&self.shown_window(window.clone()))? {
                found.push(window);
            }
        }
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
                ("title", self.redactor.window_title(window).into_owned().into()),
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

    /// Ids of apps that may be meant by a word that is none of theirs.
    pub fn similar_apps(&self, name: &str) -> Result<Vec<String>> {
        self.platform.apps().similar_apps(name)
    }

    pub fn launch_program(&self, permit: &mut Permit, launch: &Launch, cancel: &Cancel) -> Result<u32> {
        cancel.check()?;
        permit.spend();
        let pid = self.platform.apps().launch(launch);
        self.forget_all();
        pid
    }

    /// The window that a started program shows, once it has settled: a splash screen is not waited for, and a window that
    /// goes while another comes was none. A program that ended may still show one: it may have handed the work to another
    /// that was running.
    pub fn await_window(&self, awaited: &WindowWait, cancel: &Cancel) -> Result<AwaitedWindow> {
        let began = self.clock.now();
        let mut settling = Settling::default();
        let mut ended_at = None;
        loop {
            cancel.check()?;
            let generation = self.platform.watch().generation()?;
            let (shown, has_splash) = self.program_window(awaited)?;
            let now = self.clock.now();
            let quiet_in = match &shown {
                Some(chosen) => settling.quiet_in(self.sight_of(chosen, cancel)?, now),
                None => None,
            };
            let state = match &shown {
                Some(_) => LaunchState::Shown,
                None if has_splash || self.is_running(awaited.pid) => LaunchState::Starting,
                None if self.has_failed(awaited, now, *ended_at.get_or_insert(now)) => LaunchState::Failed,
                None => LaunchState::Ended,
            };
            let left = (began + awaited.patience(state)).saturating_sub(now);
            if quiet_in == Some(Duration::ZERO) || left.is_zero() {
                let loading = has_splash || (shown.is_some() && quiet_in != Some(Duration::ZERO));
                let window = shown.map(|chosen| chosen.window);
                let reused = window.as_ref().is_some_and(|window| !awaited.is_new(window));
                return Ok(AwaitedWindow { window, loading, reused });
            }
            // That a program ends changes nothing on the desktop.
            let next_look = quiet_in.unwrap_or(LOOK_FOR_END);
            self.sleep_for_change(generation, next_look.min(left), POLL, cancel)?;
        }
    }

    /// Whether the program ended by an error and no other showed a window for it in a moment.
    fn has_failed(&self, awaited: &WindowWait, now: Duration, ended_at: Duration) -> bool {
        now.saturating_sub(ended_at) >= TAKE_OVER_TIME
            && self.program_end(awaited.pid).is_some_and(|end| !end.is_success)
    }

    /// The window that is awaited, if it is there, and whether there is a splash screen instead.
    fn program_window(&self, awaited: &WindowWait) -> Result<(Option<ResolvedWindow>, bool)> {
        let desktop = self.desktop()?;
        let all = || desktop.windows().iter().map(|window| self.resolve_raw(&desktop, window, None));
        let mut has_splash = false;
        let mut others = None;
        for chosen in all() {
            if !awaited.matches_window(&chosen.window)? {
                continue;
            }
            if self.platform.desktop().is_splash(&chosen.raw)? {
                has_splash = true;
            } else if chosen.raw.pid == awaited.pid {
                return Ok((Some(chosen), false));
            } else {
                others.get_or_insert(chosen);
            }
        }
        let has_splash = has_splash && others.is_none();
        if others.is_none() && !has_splash && !self.is_running(awaited.pid) {
            others = awaited.taken_over_by(all().collect())?;
        }
        Ok((others, has_splash))
    }

    /// What a window looks like, to see whether it is still being filled. One that cannot be read yet looks like nothing.
    fn sight_of(&self, chosen: &ResolvedWindow, cancel: &Cancel) -> Result<Option<WindowSight>> {
        let view = match self.fresh_view(chosen, cancel) {
            Ok(view) => view,
            Err(error) if error.kind == Kind::Cancelled => return Err(error),
            Err(_) => return Ok(None),
        };
        Ok(Some(WindowSight {
            uid: chosen.raw.uid.clone(),
            title: chosen.raw.title.clone(),
            fingerprint: view.fingerprint(),
            is_dark: view.is_dark(),
        }))
    }

    /// Where the pointer is; `None` where the desktop does not tell.
    pub fn pointer_position(&self) -> Result<Option<Point>> {
        self.platform.desktop().pointer()
    }

    pub fn read_clipboard(&self, cancel: &Cancel) -> Result<Clip> {
        self.platform.clipboard().read(cancel).map(|clip| self.shown_clip(clip))
    }

    pub fn set_clipboard(&self, permit: &mut Permit, text: &str, cancel: &Cancel) -> Result<()> {
        cancel.check()?;
        permit.spend();
        crate::clock::lock(&self.secret_fields).note_own_clip();
        self.platform.clipboard().write(text)
    }

    /// Where commands start when nobody says where; `None`: where the server is.
    pub fn command_folder(&self) -> Option<PathBuf> {
        self.platform.apps().command_folder()
    }

    pub fn run_command(&self, permit: &mut Permit, run: &Run, cancel: &Cancel) -> Result<Ended> {
        cancel.check()?;
        permit.spend();
        let ended = self.platform.apps().run(run, cancel);
        self.forget_all();
        ended
    }
}

/// What has become of a program that was started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LaunchState {
    Shown,
    /// It runs, and shows nothing yet, or a splash screen.
    Starting,
    /// Another program may show its work.
    Ended,
    Failed,
}

impl WindowWait {
    /// How long a window is waited for, from the start of the program.
    fn patience(&self, state: LaunchState) -> Duration {
        match state {
            LaunchState::Shown | LaunchState::Ended => self.timeout,
            LaunchState::Starting => self.timeout.max(self.starting_timeout),
            LaunchState::Failed => Duration::ZERO,
        }
    }

    fn earlier(&self, window: &Window) -> Option<&Window> {
        self.before.iter().find(|old| old.uid == window.uid)
    }

    fn is_new(&self, window: &Window) -> bool {
        self.earlier(window).is_none()
    }

    fn came_to_front(&self, window: &Window) -> bool {
        window.focused && self.earlier(window).is_some_and(|old| !old.focused)
    }

    /// New, or raised by the program that found itself running already.
    fn matches_window(&self, window: &Window) -> Result<bool> {
        if self.query.is_empty() {
            return Ok(self.is_new(window));
        }
        Ok((self.is_new(window) || self.came_to_front(window)) && self.query.matches_window(window)?)
    }

    /// After the program ended without a window of its own: the one that came to the front meanwhile, else one that is
    /// called otherwise now, which is what an editor does with a file that it opens beside others.
    fn taken_over_by(&self, windows: Vec<ResolvedWindow>) -> Result<Option<ResolvedWindow>> {
        let mut fitting = Vec::new();
        for chosen in &windows {
            if self.query.is_empty() || self.query.matches_window(&chosen.window)? {
                fitting.push(chosen);
            }
        }
        let renamed = |chosen: &ResolvedWindow| {
            let is_otherwise = self.earlier(&chosen.raw).is_some_and(|old| old.title != chosen.raw.title);
            is_otherwise && is_same_program(&chosen.raw.process, &self.program)
        };
        let in_front = fitting.iter().find(|chosen| self.came_to_front(&chosen.raw));
        Ok(in_front.or_else(|| fitting.iter().find(|chosen| renamed(chosen))).map(|chosen| (*chosen).clone()))
    }
}

/// A process may be called more or less than the file that was started: `firefox-esr`, `soffice.bin`.
fn is_same_program(process: &str, program: &str) -> bool {
    let (process, program) = (process.to_lowercase(), program.to_lowercase());
    !process.is_empty()
        && !program.is_empty()
        && (process.starts_with(&program) || program.starts_with(&process))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_known_by_the_beginning_of_its_name() {
        let check = |process: &str, program: &str, expected: bool| {
            assert_eq!(is_same_program(process, program), expected, "{process} {program}");
        };
        check("mousepad", "mousepad", true);
        check("Firefox", "firefox-esr", true);
        check("soffice.bin", "soffice", true);
        check("xterm", "mousepad", false);
        check("", "mousepad", false);
    }

    fn sight(uid: &str, fingerprint: u64, is_dark: bool) -> Option<WindowSight> {
        Some(WindowSight { uid: uid.to_owned(), title: String::new(), fingerprint, is_dark })
    }

    /// What is seen at which millisecond, and how long it still has to stay as it is.
    fn check(looks: &[(u64, Option<WindowSight>, Option<u64>)]) {
        let mut settling = Settling::default();
        for (at, sight, expected) in looks {
            let quiet_in = settling.quiet_in(sight.clone(), Duration::from_millis(*at));
            assert_eq!(quiet_in, expected.map(Duration::from_millis), "at {at}: {sight:?}");
        }
    }

    #[test]
    fn a_window_settles_when_nothing_changes() {
        check(&[(0, sight("a", 1, false), Some(300)), (200, sight("a", 1, false), Some(100))]);
        check(&[(0, sight("a", 1, false), Some(300)), (300, sight("a", 1, false), Some(0))]);
        check(&[(0, sight("a", 1, true), Some(1000)), (300, sight("a", 1, true), Some(700))]);
    }

    #[test]
    fn every_change_begins_anew() {
        check(&[(0, sight("a", 1, false), Some(300)), (299, sight("a", 2, false), Some(300))]);
        check(&[(0, sight("splash", 1, true), Some(1000)), (900, sight("main", 1, true), Some(1000))]);
        check(&[(0, None, None), (500, sight("a", 1, false), Some(300))]);
    }
}
