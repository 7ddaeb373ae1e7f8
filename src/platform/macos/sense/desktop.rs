//! Which windows there are, put together from two lists: CoreGraphics knows order, place and number of every window, the
//! applications know titles, which one has the keyboard, and which are minimized.
//!
//! No public function leads from one to the other, so windows are matched by place and title. Windows on other Spaces
//! are told by neither as something that could be worked, and are left out.

use super::points;
use super::records::{RawApp, RawAxWindow, RawLook, RawRect, RawWindow};
use crate::error::Error;
use crate::model::window::{WindowChange, WindowState};
use crate::model::{Point, Rect, Window};

const UID: &str = "cg:";
/// What people call windows is on this layer; menus, the Dock and the menu bar are above it.
const WINDOW_LAYER: i32 = 0;
const MENU_BAR_LAYER: i32 = 24;
/// Above menus are only the pointer and what screen savers do.
const MENU_LAYER: i32 = 101;
const CURTAIN_HEIGHT: f64 = 300.0;
/// Anything smaller is a helper that nobody sees.
const LEAST_SIDE: f64 = 20.0;
/// How far apart the two lists may be about a place.
const SLACK: f64 = 2.0;

/// A window, and the key of the element that it is.
#[derive(Clone, Debug, PartialEq)]
pub struct Seen {
    pub window: Window,
    pub key: Option<u64>,
    pub id: u32,
}

pub fn uid_of(id: u32) -> String {
    format!("{UID}{id}")
}

pub fn id_of(uid: &str) -> Result<u32, Error> {
    uid.strip_prefix(UID).and_then(|number| number.parse().ok()).ok_or_else(|| gone(uid))
}

pub use crate::platform::gone;

/// From the front to the back, the minimized ones last.
pub fn windows(look: &RawLook) -> Vec<Seen> {
    let mut pairs = Pairs::default();
    let shown = look.windows.iter().filter(|raw| raw.on_screen && is_window(raw));
    let mut seen: Vec<Seen> = shown.filter_map(|raw| pairs.seen(look, raw, false)).collect();
    let away = look.windows.iter().filter(|raw| !raw.on_screen && is_window(raw));
    seen.extend(away.filter_map(|raw| pairs.seen(look, raw, true)));
    focus_front(look, &mut seen);
    seen
}

/// The order of those on the screen, from the front to the back.
pub fn stacking(seen: &[Seen]) -> Vec<String> {
    seen.iter().filter(|seen| !seen.window.minimized).map(|seen| seen.window.uid.clone()).collect()
}

fn is_window(raw: &RawWindow) -> bool {
    let large = raw.bounds.width >= LEAST_SIDE && raw.bounds.height >= LEAST_SIDE;
    raw.layer == WINDOW_LAYER && raw.alpha > 0.0 && large
}

/// Which element is which window; each is used once.
#[derive(Default)]
struct Pairs {
    used: Vec<u64>,
}

impl Pairs {
    /// Off the screen only what its application calls minimized counts. On the screen a window counts also when the
    /// application does not tell of it, unless it told of others and this one has no name: that is a helper.
    fn seen(&mut self, look: &RawLook, raw: &RawWindow, away: bool) -> Option<Seen> {
        let app = look.apps.iter().find(|app| app.pid == raw.pid);
        let candidates = app.and_then(|app| app.windows.as_deref()).unwrap_or_default();
        let free: Vec<&RawAxWindow> = candidates
            .iter()
            .filter(|window| window.minimized == away && !self.used.contains(&window.key))
            .collect();
        let found = pick(raw, &free);
        let nameless = raw.title.as_deref().is_none_or(str::is_empty);
        if found.is_none() && (away || (!candidates.is_empty() && nameless)) {
            return None;
        }
        self.used.extend(found.map(|window| window.key));
        Some(Seen { window: window(raw, app, found), key: found.map(|window| window.key), id: raw.id })
    }
}

/// By place and title, else by the place alone, else by a title that no other has.
fn pick<'a>(raw: &RawWindow, free: &[&'a RawAxWindow]) -> Option<&'a RawAxWindow> {
    let title = raw.title.as_deref().filter(|title| !title.is_empty());
    let is_there = |window: &RawAxWindow| window.bounds.is_some_and(|bounds| is_near(bounds, raw.bounds));
    let is_titled = |window: &RawAxWindow| title.is_some_and(|title| title == window.title);
    let both = free.iter().find(|window| is_there(window) && is_titled(window));
    let there = || free.iter().find(|window| is_there(window));
    let titled = || {
        let mut same = free.iter().filter(|window| is_titled(window));
        same.next().filter(|_| same.next().is_none())
    };
    both.or_else(there).or_else(titled).copied()
}

fn is_near(left: RawRect, right: RawRect) -> bool {
    let near = |left: f64, right: f64| (left - right).abs() <= SLACK;
    near(left.x, right.x)
        && near(left.y, right.y)
        && near(left.width, right.width)
        && near(left.height, right.height)
}

fn window(raw: &RawWindow, app: Option<&RawApp>, found: Option<&RawAxWindow>) -> Window {
    let told = found.map(|window| window.title.clone()).filter(|title| !title.is_empty());
    let title = told.or_else(|| raw.title.clone().filter(|title| !title.is_empty()));
    let keyboard =
        app.and_then(|app| app.focused).is_some_and(|key| found.is_some_and(|window| window.key == key));
    Window {
        uid: uid_of(raw.id),
        handle: raw.id.to_string(),
        title: title.unwrap_or_else(|| raw.owner.clone()),
        process: raw.owner.clone(),
        pid: u32::try_from(raw.pid).unwrap_or(0),
        bounds: points::rect(raw.bounds),
        focused: keyboard,
        minimized: found.is_some_and(|window| window.minimized),
    }
}

/// Every application has a window that it calls focused; the one that counts is the front one's. An application that
/// does not tell has its frontmost window taken for it.
fn focus_front(look: &RawLook, seen: &mut [Seen]) {
    let front = look.front.and_then(|pid| u32::try_from(pid).ok());
    seen.iter_mut()
        .filter(|seen| Some(seen.window.pid) != front)
        .for_each(|seen| seen.window.focused = false);
    if seen.iter().any(|seen| seen.window.focused) {
        return;
    }
    let first = seen.iter_mut().find(|seen| Some(seen.window.pid) == front && !seen.window.minimized);
    if let Some(first) = first {
        first.window.focused = true;
    }
}

/// What is under a point, be it a window, a menu or the menu bar.
pub fn under(look: &RawLook, point: Point) -> Option<&RawWindow> {
    look.windows
        .iter()
        .filter(|raw| raw.on_screen && raw.alpha > 0.0 && raw.layer <= MENU_LAYER && !is_curtain(raw))
        .find(|raw| points::rect(raw.bounds).contains(point))
}

/// Whether a click there meets the window, a menu or panel of its application that lies over it, or the menu bar.
pub fn meets(look: &RawLook, point: Point, id: u32) -> bool {
    let pid = look.windows.iter().find(|raw| raw.id == id).map(|raw| raw.pid);
    under(look, point).is_some_and(|raw| match raw.layer {
        WINDOW_LAYER => raw.id == id,
        MENU_BAR_LAYER => true,
        _ => Some(raw.pid) == pid,
    })
}

/// The Dock and the window server keep windows over the whole screen that let every click through.
fn is_curtain(raw: &RawWindow) -> bool {
    let large = raw.bounds.height >= CURTAIN_HEIGHT;
    large
        && raw.layer > WINDOW_LAYER
        && matches!(raw.owner.as_str(), "Dock" | "Window Server" | "WindowManager")
}

/// Where a window may be on its monitor: below the menu bar.
pub fn room(look: &RawLook, monitors: &[Rect], bounds: Rect) -> Option<Rect> {
    let shared = |monitor: &Rect| {
        monitor.intersection(&bounds).map_or(0, |part| i64::from(part.width) * i64::from(part.height))
    };
    let monitor = monitors.iter().copied().max_by_key(shared)?;
    let bar = look.windows.iter().filter(|raw| raw.layer == MENU_BAR_LAYER && raw.on_screen);
    let bar = bar
        .map(|raw| points::rect(raw.bounds))
        .find(|bar| bar.y == monitor.y && bar.x == monitor.x && bar.height < monitor.height / 4);
    let height = bar.map_or(0, |bar| bar.height);
    Some(Rect { y: monitor.y + height, height: monitor.height - height, ..monitor })
}

/// Whether a window has come to be as it was asked to be.
pub fn is_reached(
    change: &WindowChange,
    before: &WindowState,
    now: Option<&WindowState>,
    is_front: bool,
) -> bool {
    let Some(now) = now else {
        return matches!(change, WindowChange::Close);
    };
    match *change {
        WindowChange::Raise => is_front && !now.minimized,
        WindowChange::Restore if before.minimized => !now.minimized,
        WindowChange::Restore => !now.maximized,
        WindowChange::Minimize => now.minimized,
        WindowChange::Maximize => now.maximized && !now.minimized,
        WindowChange::Move(to) => (now.bounds.x, now.bounds.y) == (to.x, to.y),
        WindowChange::Resize { width, height } => (now.bounds.width, now.bounds.height) == (width, height),
        WindowChange::Close => false,
    }
}

/// macOS has no such state: a window that takes all the room of its monitor but the Dock's is taken for maximized.
pub fn is_maximized(bounds: Rect, room: Option<Rect>) -> bool {
    room.is_some_and(|room| {
        let near = |left: i32, right: i32, slack: i32| (left - right).abs() <= slack;
        near(bounds.x, room.x, 8)
            && near(bounds.y, room.y, 8)
            && bounds.width * 20 >= room.width * 19
            && bounds.height * 20 >= room.height * 17
    })
}

pub fn why_not_reached(change: &WindowChange, waited: std::time::Duration) -> String {
    let why = match change {
        WindowChange::Raise => "another window is kept above it",
        WindowChange::Restore | WindowChange::Minimize => "the application did not do it",
        WindowChange::Maximize => "the application allows only the size that is reported",
        WindowChange::Move(_) | WindowChange::Resize { .. } => {
            "the application or the screen's edges allow only what is reported"
        }
        WindowChange::Close => "the window is still there; it may be asking whether to save, or be busy",
    };
    format!("{why} (waited {} ms)", waited.as_millis())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Kind;

    fn look() -> RawLook {
        let path = format!("{}/tests/fixtures/macos/windows.json", env!("CARGO_MANIFEST_DIR"));
        serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
    }

    fn told(look: &RawLook) -> Vec<String> {
        windows(look)
            .iter()
            .map(|seen| {
                let Window { uid, title, process, focused, minimized, .. } = &seen.window;
                let marks = [(*focused, " focused"), (*minimized, " minimized")];
                let marks: String = marks.iter().filter(|(is, _)| *is).map(|(_, mark)| *mark).collect();
                format!("{uid} {process}: {title}{marks} {:?}", seen.key)
            })
            .collect()
    }

    #[test]
    fn windows_are_put_together_from_both_lists() {
        assert_eq!(
            told(&look()),
            [
                "cg:412 TextEdit: Letter.txt focused Some(11)",
                "cg:398 TextEdit: Untitled 2 Some(12)",
                "cg:301 Safari: Example Domain Some(21)",
                "cg:77 Stuck: Stuck None",
                "cg:299 Safari: Downloads minimized Some(22)",
            ]
        );
    }

    #[test]
    fn without_the_permission_to_record_titles_come_from_the_applications() {
        let mut look = look();
        look.windows.iter_mut().for_each(|raw| raw.title = None);
        let titles: Vec<String> = windows(&look).into_iter().map(|seen| seen.window.title).collect();
        assert_eq!(titles, ["Letter.txt", "Untitled 2", "Example Domain", "Stuck", "Downloads"]);
    }

    #[test]
    fn without_the_permission_for_elements_windows_come_from_coregraphics() {
        let mut look = look();
        look.apps.clear();
        let seen = windows(&look);
        assert!(seen.iter().all(|seen| seen.key.is_none() && !seen.window.minimized));
        assert!(seen[0].window.focused && seen.iter().filter(|seen| seen.window.focused).count() == 1);
    }

    #[test]
    fn two_windows_in_one_place_are_two_windows() {
        let bounds = RawRect { x: 5.0, y: 5.0, width: 100.0, height: 100.0 };
        let raw = |id| RawWindow {
            id,
            pid: 9,
            owner: "A".to_owned(),
            bounds,
            alpha: 1.0,
            on_screen: true,
            ..RawWindow::default()
        };
        let ax = |key: u64, title: &str| RawAxWindow {
            key,
            title: title.to_owned(),
            bounds: Some(bounds),
            minimized: false,
        };
        let app = RawApp { pid: 9, windows: Some(vec![ax(1, "one"), ax(2, "two")]), focused: Some(2) };
        let look = RawLook { windows: vec![raw(10), raw(11)], apps: vec![app], front: Some(9) };
        let keys: Vec<_> = windows(&look).iter().map(|seen| seen.key).collect();
        assert_eq!(keys, [Some(1), Some(2)]);
    }

    #[test]
    fn minimized_windows_are_in_no_order() {
        assert_eq!(stacking(&windows(&look())), ["cg:412", "cg:398", "cg:301", "cg:77"]);
    }

    #[test]
    fn uids_are_read_back() {
        assert_eq!(id_of(&uid_of(412)).unwrap(), 412);
        for foreign in ["412", "cg:", "cg:x", "x11:4a", "cg:-3"] {
            assert_eq!(id_of(foreign).unwrap_err().kind, Kind::WindowGone, "{foreign}");
        }
    }

    #[test]
    fn menus_lie_over_windows_and_curtains_over_nothing() {
        let look = look();
        let at = |x, y| under(&look, Point { x, y }).map(|raw| raw.id);
        assert_eq!(at(300, 300), Some(412));
        assert_eq!(at(1_200, 700), Some(301));
        assert_eq!(at(5, 5), Some(2), "the menu bar");
        assert_eq!(at(5, 900), None);
        let hit = |x, y, id| meets(&look, Point { x, y }, id);
        assert!(hit(300, 300, 412) && !hit(300, 300, 301) && hit(5, 5, 301) && !hit(5, 900, 412));
        assert!(hit(1_350, 105, 301) && !hit(1_350, 105, 412), "an open menu is its application's");
    }

    #[test]
    fn a_window_may_be_below_the_menu_bar() {
        let monitor = Rect::new(0, 0, 1512, 982);
        let other = Rect::new(1512, 0, 1920, 1080);
        let room_of = |bounds| room(&look(), &[monitor, other], bounds);
        assert_eq!(room_of(Rect::new(10, 50, 400, 300)), Some(Rect::new(0, 33, 1512, 949)));
        assert_eq!(room_of(Rect::new(1600, 50, 400, 300)), Some(other));
        assert_eq!(room(&look(), &[], monitor), None);
    }

    fn check_maximized(bounds: Rect, expected: bool) {
        assert_eq!(is_maximized(bounds, Some(Rect::new(0, 33, 1512, 949))), expected, "{bounds:?}");
    }

    #[test]
    fn a_window_that_leaves_the_dock_alone_is_maximized() {
        check_maximized(Rect::new(0, 33, 1512, 949), true);
        check_maximized(Rect::new(0, 33, 1512, 870), true);
        check_maximized(Rect::new(0, 33, 756, 949), false);
        check_maximized(Rect::new(40, 60, 1400, 900), false);
        assert!(!is_maximized(Rect::new(0, 0, 100, 100), None));
    }

    fn state(bounds: Rect, minimized: bool, maximized: bool) -> WindowState {
        WindowState { bounds, focused: false, minimized, maximized }
    }

    #[test]
    fn a_change_is_done_when_it_is_seen() {
        let small = state(Rect::new(10, 20, 300, 200), false, false);
        let away = state(Rect::new(10, 20, 300, 200), true, false);
        let full = state(Rect::new(0, 33, 1512, 949), false, true);
        let check = |change, before: WindowState, now: Option<WindowState>, expected| {
            assert_eq!(is_reached(&change, &before, now.as_ref(), true), expected, "{change:?} {now:?}");
        };
        check(WindowChange::Minimize, small, Some(away), true);
        check(WindowChange::Minimize, small, Some(small), false);
        check(WindowChange::Restore, away, Some(small), true);
        check(WindowChange::Restore, full, Some(full), false);
        check(WindowChange::Restore, full, Some(small), true);
        check(WindowChange::Maximize, small, Some(full), true);
        check(WindowChange::Move(Point { x: 10, y: 20 }), full, Some(small), true);
        check(WindowChange::Move(Point { x: 10, y: 21 }), full, Some(small), false);
        check(WindowChange::Resize { width: 300, height: 200 }, full, Some(small), true);
        check(WindowChange::Close, small, Some(small), false);
        check(WindowChange::Close, small, None, true);
        check(WindowChange::Minimize, small, None, false);
        assert!(!is_reached(&WindowChange::Raise, &small, Some(&small), false));
    }
}
