//! Bringing a window to the front and changing it as a whole: the request, and checking its effect.
//!
//! No answer is not a failure: an application that shows a question before it closes a window answers when
//! the question is answered. So the state of the window is checked after every request, and that state
//! counts.

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::Duration;

use super::desktop::{self, Seen};
use super::errors::{Code, Meaning};
use super::records::RawLook;
use crate::clock::{Cancel, Clock, lock};
use crate::error::{Error, Kind, Result};
use crate::model::window::WindowState;
use crate::model::{Point, Reached, Rect, Window, WindowChange};
use crate::platform::Activation;
use crate::platform::poll::{Polling, poll_until};
use crate::platform::window_change::{
    ChangeWait, ChangingWindow, ObservedWindow, Reasons, change_window, wanted_bounds,
};

const ACTIVATION_TIME: Duration = Duration::from_millis(2_500);
pub const LOOK_AGAIN: Duration = Duration::from_millis(50);
/// Windows whose size before they were maximized is known.
const MOST_REMEMBERED: usize = 500;

/// One thing that is asked of a window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Step {
    /// The window and its application before all others.
    Front,
    Raise,
    Minimized(bool),
    LeaveFullScreen,
    Place(Rect),
    MoveTo(Point),
    Size {
        width: i32,
        height: i32,
    },
    Close,
}

/// The element that is asked, and whose it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Target {
    pub key: u64,
    pub pid: i32,
}

/// What there is to look at and whom to ask.
pub trait Scene {
    /// All windows, with what the application of this one tells of its own.
    fn look(&self, id: u32) -> Result<RawLook>;

    fn monitors(&self) -> Result<Vec<Rect>>;

    fn is_full_screen(&self, target: Target) -> bool;

    fn ask(&self, target: Target, step: Step) -> Result<(), Code>;
}

/// What windows had before they were maximized.
#[derive(Debug, Default)]
pub struct Before(Mutex<HashMap<u32, Rect>>);

impl Before {
    fn remember(&self, id: u32, bounds: Rect) {
        let mut before = lock(&self.0);
        if before.len() >= MOST_REMEMBERED {
            before.clear();
        }
        before.insert(id, bounds);
    }

    fn of(&self, id: u32) -> Option<Rect> {
        lock(&self.0).get(&id).copied()
    }

    fn forget(&self, id: u32) {
        lock(&self.0).remove(&id);
    }
}

pub fn activate(scene: &dyn Scene, clock: &Clock, id: u32) -> Result<Activation> {
    let (_, seen, target) = found(scene, id)?;
    if seen.window.minimized {
        ask(scene, target, Step::Minimized(false), &seen)?;
    }
    ask(scene, target, Step::Front, &seen)?;
    let polling = Polling::every(LOOK_AGAIN, ACTIVATION_TIME);
    let came = poll_until(clock, &Cancel::new(), polling, || {
        let (_, now) = find(scene, id)?;
        Ok::<_, Error>((now.window.focused && !now.window.minimized).then_some(()))
    })?;
    Ok(came.map_or_else(refused_activation, |()| Activation::Activated))
}

fn refused_activation() -> Activation {
    let waited = ACTIVATION_TIME.as_millis();
    Activation::Refused(format!("macOS did not give it the keyboard focus within {waited} ms"))
}

pub fn change(
    scene: &dyn Scene,
    before: &Before,
    id: u32,
    change: &WindowChange,
    wait: &ChangeWait<'_>,
) -> Result<Reached> {
    let (look, seen, target) = found(scene, id)?;
    let monitors = scene.monitors()?;
    // Only these two are about it, and each look costs a question.
    let sized = matches!(change, WindowChange::Maximize | WindowChange::Restore);
    let was_full = sized && scene.is_full_screen(target);
    let was = state(&look, &monitors, &seen, was_full);
    let room = desktop::room(&look, &monitors, was.bounds);
    let window = MacWindow { scene, before, monitors, seen, target, sized, was, was_full, room };
    let wanted = wanted_bounds(was.bounds, change, i32::MAX);
    let reached = change_window(&window, &was, wanted, change, wait)?;
    if reached.done && *change == WindowChange::Restore && !was.minimized {
        before.forget(id);
    }
    Ok(reached)
}

/// A window that is being changed, and how it was before.
struct MacWindow<'a> {
    scene: &'a dyn Scene,
    before: &'a Before,
    monitors: Vec<Rect>,
    seen: Seen,
    target: Target,
    /// Whether the change is about filling the screen.
    sized: bool,
    was: WindowState,
    was_full: bool,
    room: Option<Rect>,
}

impl ChangingWindow for MacWindow<'_> {
    type Error = Error;

    fn request_change(&self, change: &WindowChange) -> Result<Option<String>> {
        let id = self.seen.id;
        for step in steps(change, &self.was, self.was_full, self.room, self.before.of(id))? {
            ask(self.scene, self.target, step, &self.seen)?;
        }
        if *change == WindowChange::Maximize && !self.was.maximized {
            self.before.remember(id, self.was.bounds);
        }
        Ok(None)
    }

    fn window_state(&self) -> Result<Option<ObservedWindow>> {
        let id = self.seen.id;
        let look = self.scene.look(id)?;
        let all = desktop::windows(&look);
        let is_front = desktop::is_front(&all, id);
        Ok(all.iter().find(|other| other.id == id).map(|now| {
            let full = self.sized && self.scene.is_full_screen(self.target);
            ObservedWindow { state: state(&look, &self.monitors, now, full), is_front }
        }))
    }

    /// A question is a window of its own here too, but which windows a program has costs a look at all of them.
    fn asks_back(&self) -> Result<bool> {
        Ok(false)
    }

    fn reasons(&self) -> &Reasons {
        &desktop::REASONS
    }
}

/// What a change asks for; nothing where the window is as it should be. The button that zooms is not among it: on newer
/// systems it makes a window fill a Space of its own.
fn steps(
    change: &WindowChange,
    was: &WindowState,
    full: bool,
    room: Option<Rect>,
    former: Option<Rect>,
) -> Result<Vec<Step>> {
    let room = || room.ok_or_else(|| Error::new(Kind::PlatformUnsupported, "there is no monitor"));
    let shown = was.minimized.then_some(Step::Minimized(false));
    Ok(match *change {
        WindowChange::Raise => vec![Step::Raise],
        WindowChange::Minimize => vec![Step::Minimized(true)],
        WindowChange::Restore if was.minimized => vec![Step::Minimized(false)],
        WindowChange::Restore if full => vec![Step::LeaveFullScreen],
        WindowChange::Restore if was.maximized => {
            vec![Step::Place(former.map_or_else(|| room().map(smaller_bounds), Ok)?)]
        }
        WindowChange::Restore => Vec::new(),
        WindowChange::Maximize if was.maximized => Vec::from_iter(shown),
        WindowChange::Maximize => shown.into_iter().chain([Step::Place(room()?)]).collect(),
        WindowChange::Move(to) => vec![Step::MoveTo(to)],
        WindowChange::Resize { width, height } => vec![Step::Size { width, height }],
        WindowChange::Close => vec![Step::Close],
    })
}

/// Three quarters of the room, in its middle: for a window that somebody else made as large as its monitor.
fn smaller_bounds(room: Rect) -> Rect {
    let (width, height) = (room.width / 4 * 3, room.height / 4 * 3);
    Rect { x: room.x + (room.width - width) / 2, y: room.y + (room.height - height) / 2, width, height }
}

fn state(look: &RawLook, monitors: &[Rect], seen: &Seen, full: bool) -> WindowState {
    let Window { bounds, focused, minimized, .. } = seen.window;
    let maximized = full || desktop::is_maximized(bounds, desktop::room(look, monitors, bounds));
    WindowState { bounds, focused, minimized, maximized }
}

fn find(scene: &dyn Scene, id: u32) -> Result<(RawLook, Seen)> {
    let look = scene.look(id)?;
    let seen = desktop::windows(&look).into_iter().find(|seen| seen.id == id);
    Ok((look, seen.ok_or_else(|| desktop::gone(&desktop::uid_of(id)))?))
}

/// The window and its element; without that nothing can be asked of it.
fn found(scene: &dyn Scene, id: u32) -> Result<(RawLook, Seen, Target)> {
    let (look, seen) = find(scene, id)?;
    let key = seen.key.ok_or_else(|| desktop::no_element(&look, &seen))?;
    let pid = i32::try_from(seen.window.pid).unwrap_or(0);
    Ok((look, seen, Target { key, pid }))
}

fn ask(scene: &dyn Scene, target: Target, step: Step, seen: &Seen) -> Result<()> {
    let Err(code) = scene.ask(target, step) else {
        return Ok(());
    };
    match code.meaning() {
        Meaning::Silent => Ok(()),
        // Some windows come to the front with their application and have no way to be raised alone.
        Meaning::Without if matches!(step, Step::Front | Step::Raise) => Ok(()),
        _ => Err(code.error(&format!("the window '{}'", seen.window.title))),
    }
}

#[cfg(test)]
mod tests {
    use super::super::records::{RawApp, RawAxWindow, RawRect, RawWindow};
    use super::*;
    use std::cell::{Cell, RefCell};

    /// Two windows of two applications. What is asked of the one happens, or not.
    struct Pretended {
        look: RefCell<RawLook>,
        asked: RefCell<Vec<Step>>,
        full: Cell<bool>,
        answer: Result<(), Code>,
        obeys: bool,
        clock: Clock,
    }

    const ID: u32 = 11;
    const MONITOR: Rect = Rect { x: 0, y: 0, width: 1000, height: 800 };
    const USUAL: Rect = Rect { x: 100, y: 100, width: 400, height: 300 };

    fn raw_rect(rect: Rect) -> RawRect {
        let [x, y, width, height] = [rect.x, rect.y, rect.width, rect.height].map(f64::from);
        RawRect { x, y, width, height }
    }

    fn window(id: u32, pid: i32, bounds: Rect) -> (RawWindow, RawApp) {
        let (bounds, title) = (raw_rect(bounds), format!("window {id}"));
        let told = RawAxWindow {
            key: u64::from(id),
            title: title.clone(),
            bounds: Some(bounds),
            ..RawAxWindow::default()
        };
        let raw = RawWindow {
            id,
            pid,
            bounds,
            title: Some(title),
            alpha: 1.0,
            on_screen: true,
            ..RawWindow::default()
        };
        (raw, RawApp { pid, windows: Some(vec![told]), focused: Some(u64::from(id)), silent: false })
    }

    impl Pretended {
        fn new(bounds: Rect) -> Self {
            let (other, other_app) = window(22, 2, MONITOR);
            let (own, own_app) = window(ID, 1, bounds);
            let look = RawLook { windows: vec![other, own], apps: vec![other_app, own_app], front: Some(2) };
            Self {
                look: RefCell::new(look),
                asked: RefCell::default(),
                full: Cell::default(),
                answer: Ok(()),
                obeys: true,
                clock: Clock::steered(),
            }
        }

        fn put(&self, change: impl Fn(&mut RawWindow, &mut RawAxWindow)) {
            let mut look = self.look.borrow_mut();
            let RawLook { windows, apps, .. } = &mut *look;
            let raw = windows.iter_mut().find(|raw| raw.id == ID);
            let told = apps.iter_mut().filter_map(|app| app.windows.as_mut()).flatten();
            let told = told.into_iter().find(|told| told.key == u64::from(ID));
            if let (Some(raw), Some(told)) = (raw, told) {
                change(raw, told);
            }
        }

        fn place(&self, bounds: Rect) {
            self.put(|raw, told| (raw.bounds, told.bounds) = (raw_rect(bounds), Some(raw_rect(bounds))));
        }

        fn minimize(&self, minimized: bool) {
            self.put(|raw, told| (raw.on_screen, told.minimized) = (!minimized, minimized));
        }

        fn happen(&self, step: Step) {
            let front = |first: u32| self.look.borrow_mut().windows.sort_by_key(|raw| raw.id != first);
            match step {
                Step::Front => {
                    front(ID);
                    self.look.borrow_mut().front = Some(1);
                }
                Step::Raise => front(ID),
                Step::Minimized(minimized) => self.minimize(minimized),
                Step::LeaveFullScreen => {
                    self.full.set(false);
                    self.place(USUAL);
                }
                Step::Place(bounds) => self.place(bounds),
                Step::MoveTo(to) => self.place(Rect { x: to.x, y: to.y, ..USUAL }),
                Step::Size { width, height } => self.place(Rect { width, height, ..USUAL }),
                Step::Close => self.look.borrow_mut().windows.retain(|raw| raw.id != ID),
            }
        }

        fn change(&self, before: &Before, wished: WindowChange) -> Reached {
            self.try_change(before, wished).unwrap()
        }

        fn try_change(&self, before: &Before, wished: WindowChange) -> Result<Reached> {
            let cancel = Cancel::new();
            let wait = ChangeWait::new(&self.clock, &cancel, LOOK_AGAIN, Duration::from_secs(1));
            change(self, before, ID, &wished, &wait)
        }

        fn activate(&self) -> Result<Activation> {
            activate(self, &self.clock, ID)
        }
    }

    impl Scene for Pretended {
        fn look(&self, _: u32) -> Result<RawLook> {
            Ok(self.look.borrow().clone())
        }

        fn monitors(&self) -> Result<Vec<Rect>> {
            Ok(vec![MONITOR])
        }

        fn is_full_screen(&self, _: Target) -> bool {
            self.full.get()
        }

        fn ask(&self, target: Target, step: Step) -> Result<(), Code> {
            assert_eq!(target, Target { key: u64::from(ID), pid: 1 });
            self.asked.borrow_mut().push(step);
            if self.obeys {
                self.happen(step);
            }
            self.answer
        }
    }

    fn check_steps(wished: WindowChange, minimized: bool, maximized: bool, full: bool, expected: &[Step]) {
        let was = WindowState { bounds: USUAL, focused: false, minimized, maximized };
        assert_eq!(steps(&wished, &was, full, Some(MONITOR), None).unwrap(), expected, "{wished:?} {was:?}");
    }

    #[test]
    fn only_what_is_lacking_is_asked_for() {
        let (show, fill) = (Step::Minimized(false), Step::Place(MONITOR));
        check_steps(WindowChange::Restore, false, false, false, &[]);
        check_steps(WindowChange::Restore, true, true, false, &[show]);
        check_steps(WindowChange::Restore, false, true, true, &[Step::LeaveFullScreen]);
        let three_quarters = Step::Place(Rect { x: 125, y: 100, width: 750, height: 600 });
        check_steps(WindowChange::Restore, false, true, false, &[three_quarters]);
        check_steps(WindowChange::Maximize, false, false, false, &[fill]);
        check_steps(WindowChange::Maximize, true, false, false, &[show, fill]);
        check_steps(WindowChange::Maximize, true, true, false, &[show]);
        check_steps(WindowChange::Maximize, false, true, true, &[]);
        let was = WindowState { bounds: USUAL, focused: false, minimized: false, maximized: false };
        assert!(steps(&WindowChange::Maximize, &was, false, None, None).is_err());
    }

    #[test]
    fn a_window_gets_back_the_place_it_had_once() {
        let (mac, before) = (Pretended::new(USUAL), Before::default());
        assert!(mac.change(&before, WindowChange::Maximize).done);
        assert_eq!(before.of(ID), Some(USUAL));
        let restored = mac.change(&before, WindowChange::Restore);
        assert_eq!((restored.done, restored.state.unwrap().bounds), (true, USUAL));
        assert_eq!(before.of(ID), None);
        assert!(mac.change(&before, WindowChange::Restore).done, "there is nothing to do");
        assert_eq!(mac.asked.borrow().len(), 2);
    }

    #[test]
    fn what_fills_a_space_leaves_it() {
        let mac = Pretended::new(MONITOR);
        mac.full.set(true);
        assert!(mac.change(&Before::default(), WindowChange::Restore).done);
        assert_eq!(*mac.asked.borrow(), [Step::LeaveFullScreen]);
    }

    #[test]
    fn every_change_is_seen() {
        let to = Point { x: 7, y: 8 };
        for wished in [
            WindowChange::Raise,
            WindowChange::Minimize,
            WindowChange::Move(to),
            WindowChange::Resize { width: 222, height: 111 },
            WindowChange::Close,
        ] {
            let mac = Pretended::new(USUAL);
            let reached = mac.change(&Before::default(), wished);
            assert!(reached.done, "{wished:?}");
            assert_eq!(reached.state.is_none(), wished == WindowChange::Close);
        }
    }

    #[test]
    fn silence_is_looked_at_and_not_taken_for_failure() {
        let silent = |obeys| Pretended { answer: Err(Code::CANNOT_COMPLETE), obeys, ..Pretended::new(USUAL) };
        assert!(silent(true).change(&Before::default(), WindowChange::Close).done);
        let asking = silent(false).change(&Before::default(), WindowChange::Close);
        assert!(!asking.done && asking.note.unwrap().contains("asking whether to save"));
        assert_eq!(silent(true).activate().unwrap(), Activation::Activated);
    }

    #[test]
    fn a_window_that_cannot_be_raised_alone_may_come_with_its_application() {
        let unsupported = Pretended { answer: Err(Code(-25206)), ..Pretended::new(USUAL) };
        assert_eq!(unsupported.activate().unwrap(), Activation::Activated);
        let other = Pretended { answer: Err(Code(-25206)), ..Pretended::new(USUAL) };
        let refused = other.try_change(&Before::default(), WindowChange::Minimize);
        assert_eq!(refused.unwrap_err().kind, Kind::PatternUnsupported);
    }

    #[test]
    fn a_minimized_window_is_shown_before_it_is_activated() {
        let mac = Pretended::new(USUAL);
        mac.minimize(true);
        assert_eq!(mac.activate().unwrap(), Activation::Activated);
        assert_eq!(*mac.asked.borrow(), [Step::Minimized(false), Step::Front]);
    }

    #[test]
    fn whoever_does_not_get_the_keyboard_is_told_after_a_while() {
        let mac = Pretended { obeys: false, ..Pretended::new(USUAL) };
        assert!(matches!(mac.activate(), Ok(Activation::Refused(why)) if why.contains("2500 ms")));
        assert_eq!(mac.clock.now(), ACTIVATION_TIME);
    }

    #[test]
    fn a_window_without_an_element_or_without_itself_says_so() {
        let mac = Pretended::new(USUAL);
        mac.look.borrow_mut().apps = vec![RawApp { pid: 1, silent: true, ..RawApp::default() }];
        assert_eq!(mac.activate().unwrap_err().kind, Kind::Timeout);
        mac.look.borrow_mut().apps.clear();
        assert_eq!(mac.activate().unwrap_err().kind, Kind::PatternUnsupported);
        mac.look.borrow_mut().windows.clear();
        assert_eq!(mac.activate().unwrap_err().kind, Kind::WindowGone);
    }
}
