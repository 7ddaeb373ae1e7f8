//! Which of all the windows are windows to a person, what they are called and where they are, and whether a change
//! that was asked for has come.
//!
//! Windows of today have an invisible border of some pixels, by which they are resized: what a person sees is the frame
//! that the desktop's compositor draws (`frame`), what the functions that move a window speak of is `rect`.

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::model::window::{WindowChange, WindowState};
use crate::model::{Monitor, Point, Rect, Window};

/// A top-level window as Windows tells of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RawWindow {
    pub hwnd: u64,
    pub title: String,
    pub class: String,
    pub pid: u32,
    /// The whole path of its program, where this process may know it.
    pub program: String,
    pub rect: Rect,
    /// Without the invisible border, where the compositor tells it.
    pub frame: Option<Rect>,
    /// Where it will be when it is no longer minimized.
    pub restored: Rect,
    pub visible: bool,
    pub minimized: bool,
    pub maximized: bool,
    /// Not zero when it is there and not shown: on another virtual desktop, or an app that is asleep.
    pub cloaked: u32,
    pub owner: u64,
    pub style: u32,
    pub ex_style: u32,
}

/// One look at all of them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Sight {
    /// From the front to the back.
    pub windows: Vec<RawWindow>,
    pub foreground: u64,
}

const WS_CAPTION: u32 = 0x00c0_0000;
const WS_EX_TOOLWINDOW: u32 = 0x0000_0080;
const WS_EX_APPWINDOW: u32 = 0x0004_0000;
const WS_EX_NOACTIVATE: u32 = 0x0800_0000;
/// The desktop itself and its like: no person switches to them.
const SCENERY: &[&str] =
    &["Progman", "WorkerW", "Shell_TrayWnd", "Shell_SecondaryTrayWnd", "EdgeUiInputTopWndClass"];

impl RawWindow {
    /// As Alt+Tab would show it, and the dialogs of those, which Alt+Tab leaves out.
    pub fn is_listed(&self) -> bool {
        let has = |bit: u32| self.ex_style & bit != 0;
        if !self.visible || self.cloaked != 0 || SCENERY.contains(&self.class.as_str()) {
            return false;
        }
        if has(WS_EX_APPWINDOW) {
            return true;
        }
        if has(WS_EX_TOOLWINDOW) || has(WS_EX_NOACTIVATE) || (self.bounds().is_empty() && !self.minimized) {
            return false;
        }
        let captioned = self.style & WS_CAPTION == WS_CAPTION;
        if self.owner == 0 { captioned || !self.title.is_empty() } else { captioned }
    }

    /// What a person sees of it, or will see when it is back.
    pub fn bounds(&self) -> Rect {
        if self.minimized {
            return self.restored;
        }
        self.frame.filter(|frame| !frame.is_empty()).unwrap_or(self.rect)
    }

    /// What must be asked for, so that the bounds are these. A minimized window lies far off the screen, and tells
    /// nothing of the border that it will have.
    pub fn rect_for(&self, bounds: Rect) -> Rect {
        if self.minimized {
            return bounds;
        }
        let now = self.bounds();
        Rect::new(
            bounds.x.saturating_add(self.rect.x.saturating_sub(now.x)),
            bounds.y.saturating_add(self.rect.y.saturating_sub(now.y)),
            bounds.width.saturating_add(self.rect.width.saturating_sub(now.width)),
            bounds.height.saturating_add(self.rect.height.saturating_sub(now.height)),
        )
    }

    fn state(&self, focused: bool) -> WindowState {
        WindowState {
            bounds: self.bounds(),
            focused,
            minimized: self.minimized,
            maximized: self.maximized && !self.minimized,
        }
    }

    fn window(&self, focused: bool) -> Window {
        let process = process_name(&self.program);
        Window {
            uid: uid_of(self.hwnd),
            handle: format!("{:#010x}", self.hwnd),
            title: if self.title.is_empty() { self.class.clone() } else { self.title.clone() },
            process: if process.is_empty() { self.class.clone() } else { process },
            pid: self.pid,
            bounds: self.bounds(),
            focused,
            minimized: self.minimized,
        }
    }
}

pub fn uid_of(hwnd: u64) -> String {
    format!("hwnd:{hwnd:x}")
}

/// The window that a uid names, or an error that says that there is none.
pub fn hwnd_of(uid: &str) -> Result<u64> {
    let number = uid.strip_prefix("hwnd:").and_then(|hex| u64::from_str_radix(hex, 16).ok());
    number.filter(|hwnd| *hwnd != 0).ok_or_else(|| gone(uid))
}

pub use crate::platform::gone;

/// `C:\Windows\notepad.exe` is `notepad.exe`, which is what people know a process by.
fn process_name(program: &str) -> String {
    program.rsplit(['\\', '/']).next().unwrap_or_default().to_owned()
}

/// The order in which windows were first seen: the front changes with every click, an index should not.
#[derive(Debug, Default)]
pub struct Roster {
    known: Vec<u64>,
}

impl Roster {
    /// The windows that count, those that have been there for longer first; new ones from the back to the front.
    pub fn windows(&mut self, sight: &Sight) -> Vec<Window> {
        let listed: Vec<&RawWindow> = sight.windows.iter().filter(|raw| raw.is_listed()).collect();
        self.known.retain(|known| listed.iter().any(|raw| raw.hwnd == *known));
        for raw in listed.iter().rev() {
            if !self.known.contains(&raw.hwnd) {
                self.known.push(raw.hwnd);
            }
        }
        let focused = sight.focused();
        let find = |hwnd: &u64| listed.iter().find(|raw| raw.hwnd == *hwnd);
        self.known.iter().filter_map(find).map(|raw| raw.window(focused == Some(raw.hwnd))).collect()
    }
}

impl Sight {
    pub fn find(&self, hwnd: u64) -> Option<&RawWindow> {
        self.windows.iter().find(|raw| raw.hwnd == hwnd)
    }

    /// Uids of those that count, from the front to the back.
    pub fn stacking(&self) -> Vec<String> {
        self.windows.iter().filter(|raw| raw.is_listed()).map(|raw| uid_of(raw.hwnd)).collect()
    }

    /// The listed window that keys go to: the one in the foreground, or the one that owns it.
    pub fn focused(&self) -> Option<u64> {
        self.listed_owner(self.foreground)
    }

    /// The listed window that a window is or belongs to, along its owners.
    pub fn listed_owner(&self, hwnd: u64) -> Option<u64> {
        let mut at = hwnd;
        for _ in 0..self.windows.len() {
            let raw = self.find(at)?;
            if raw.is_listed() {
                return Some(raw.hwnd);
            }
            at = raw.owner;
        }
        None
    }

    pub fn state(&self, hwnd: u64) -> Option<WindowState> {
        Some(self.find(hwnd)?.state(self.focused() == Some(hwnd)))
    }

    /// The frontmost of those that are to be seen.
    fn front(&self) -> Option<u64> {
        let shown = self.windows.iter().filter(|raw| raw.is_listed() && !raw.minimized);
        shown.map(|raw| raw.hwnd).next()
    }
}

/// Further out than any screen; Windows has sixteen bits for many of its places.
const PLACES: i32 = 30_000;

pub fn wanted_bounds(raw: &RawWindow, change: &WindowChange) -> Rect {
    let now = raw.bounds();
    let place = |number: i32| number.clamp(-PLACES, PLACES);
    match *change {
        WindowChange::Move(Point { x, y }) => Rect { x: place(x), y: place(y), ..now },
        WindowChange::Resize { width, height } => Rect { width: place(width), height: place(height), ..now },
        _ => now,
    }
}

/// Whether it is now as was asked, `before` being how it was then.
pub fn is_reached(sight: &Sight, before: &RawWindow, change: &WindowChange) -> bool {
    let Some(now) = sight.find(before.hwnd).filter(|raw| raw.visible) else {
        return matches!(change, WindowChange::Close);
    };
    let (bounds, wanted) = (now.bounds(), wanted_bounds(before, change));
    match change {
        WindowChange::Raise => sight.front() == Some(before.hwnd),
        WindowChange::Restore if before.minimized => !now.minimized,
        WindowChange::Restore => !now.maximized,
        WindowChange::Minimize => now.minimized,
        WindowChange::Maximize => now.maximized && !now.minimized,
        WindowChange::Move(_) => (bounds.x, bounds.y) == (wanted.x, wanted.y),
        WindowChange::Resize { .. } => (bounds.width, bounds.height) == (wanted.width, wanted.height),
        WindowChange::Close => false,
    }
}

pub fn why_not_reached(change: &WindowChange, waited: std::time::Duration) -> String {
    let why = match change {
        WindowChange::Raise => "another window is kept above it, or Windows refused it",
        WindowChange::Restore | WindowChange::Minimize | WindowChange::Maximize => {
            "the application did not do it"
        }
        WindowChange::Move(_) | WindowChange::Resize { .. } => {
            "Windows or the application allows only what is reported"
        }
        WindowChange::Close => "the window is still there; it may be asking whether to save, or be busy",
    };
    format!("{why} (waited {} ms)", waited.as_millis())
}

/// Why a window is not in the foreground after it was asked for.
pub fn why_not_active(sight: &Sight, waited: std::time::Duration) -> String {
    let front = sight.find(sight.foreground).map_or_else(
        || "no window has the keyboard".to_owned(),
        |other| format!("'{}' keeps the keyboard", other.title),
    );
    format!(
        "Windows did not bring it to the front within {} ms ({front}): it lets programs do that only shortly after the \
         person worked with them",
        waited.as_millis()
    )
}

/// A monitor as Windows tells of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RawMonitor {
    pub rect: Rect,
    pub primary: bool,
    /// Dots for an inch; 96 is a scale of one. Zero where nobody tells.
    pub dpi: u32,
}

/// The primary one first, then from left to right.
pub fn monitors(raw: &[RawMonitor]) -> Vec<Monitor> {
    let mut raw: Vec<&RawMonitor> = raw.iter().collect();
    raw.sort_by_key(|monitor| (!monitor.primary, monitor.rect.x, monitor.rect.y));
    let first_is_primary = !raw.iter().any(|monitor| monitor.primary);
    raw.iter()
        .enumerate()
        .map(|(index, monitor)| {
            let primary = monitor.primary || (first_is_primary && index == 0);
            Monitor::scaled(monitor.rect, primary, scale(monitor.dpi))
        })
        .collect()
}

fn scale(dpi: u32) -> f64 {
    if (48..=960).contains(&dpi) { f64::from(dpi) / 96.0 } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Kind;
    use proptest::prelude::*;

    fn recorded(name: &str) -> Sight {
        let text = match name {
            "desktop" => include_str!("../../../../tests/fixtures/windows/desktop.json"),
            "wine" => include_str!("../../../../tests/fixtures/windows/wine.json"),
            other => panic!("{other}"),
        };
        serde_json::from_str(text).unwrap()
    }

    fn window(hwnd: u64) -> RawWindow {
        RawWindow {
            hwnd,
            title: format!("Window {hwnd}"),
            rect: Rect::new(93, 100, 414, 307),
            frame: Some(Rect::new(100, 100, 400, 300)),
            visible: true,
            style: WS_CAPTION,
            ..RawWindow::default()
        }
    }

    fn titles(windows: &[Window]) -> Vec<&str> {
        windows.iter().map(|window| window.title.as_str()).collect()
    }

    #[test]
    fn a_recorded_desktop_lists_what_a_person_sees() {
        let sight = recorded("desktop");
        let windows = Roster::default().windows(&sight);
        let expected = [
            "Administrator: Windows PowerShell",
            "Calculator",
            "Documents",
            "*notes.txt - Notepad",
            "Save As",
        ];
        assert_eq!(titles(&windows), expected);
        let dialog = windows.iter().find(|window| window.title == "Save As").unwrap();
        assert!(dialog.focused);
        assert_eq!((dialog.process.as_str(), dialog.pid), ("notepad.exe", 7412));
        assert_eq!(windows.iter().filter(|window| window.focused).count(), 1);
        let shell = windows.first().unwrap();
        assert!(shell.minimized && shell.bounds.x >= 0, "{shell:?}");
        assert_eq!(sight.stacking()[0], dialog.uid);
    }

    #[test]
    fn a_recorded_wine_lists_its_windows() {
        let windows = Roster::default().windows(&recorded("wine"));
        assert!(windows.iter().any(|window| window.process == "notepad.exe"), "{windows:?}");
        assert!(windows.iter().all(|window| !window.bounds.is_empty()), "{windows:?}");
    }

    #[test]
    fn a_minimized_window_is_moved_as_if_it_had_no_border() {
        let away = Rect::new(-32_000, -32_000, 160, 28);
        let raw = RawWindow { rect: away, minimized: true, restored: Rect::new(5, 6, 400, 300), ..window(1) };
        let wanted = Rect::new(200, 160, 400, 300);
        assert_eq!(raw.rect_for(wanted), wanted);
    }

    #[track_caller]
    fn check_listed(edit: impl Fn(&mut RawWindow), expected: bool) {
        let mut raw = window(1);
        edit(&mut raw);
        assert_eq!(raw.is_listed(), expected, "{raw:?}");
    }

    #[test]
    fn what_no_person_switches_to_is_left_out() {
        check_listed(|_| {}, true);
        check_listed(|raw| raw.visible = false, false);
        check_listed(|raw| raw.cloaked = 2, false);
        check_listed(|raw| raw.ex_style = WS_EX_TOOLWINDOW, false);
        check_listed(|raw| raw.ex_style = WS_EX_NOACTIVATE, false);
        check_listed(|raw| raw.ex_style = WS_EX_NOACTIVATE | WS_EX_APPWINDOW, true);
        check_listed(|raw| raw.class = "Progman".to_owned(), false);
        check_listed(|raw| (raw.owner, raw.style) = (7, 0), false);
        check_listed(|raw| raw.owner = 7, true);
        check_listed(|raw| (raw.style, raw.title) = (0, String::new()), false);
        check_listed(|raw| (raw.rect, raw.frame) = (Rect::default(), None), false);
    }

    #[test]
    fn an_index_stays_when_another_window_comes_to_the_front() {
        let sight = |order: &[u64]| Sight {
            windows: order.iter().map(|hwnd| window(*hwnd)).collect(),
            foreground: order[0],
        };
        let mut roster = Roster::default();
        assert_eq!(titles(&roster.windows(&sight(&[3, 2, 1]))), ["Window 1", "Window 2", "Window 3"]);
        assert_eq!(titles(&roster.windows(&sight(&[1, 3, 2]))), ["Window 1", "Window 2", "Window 3"]);
        assert_eq!(titles(&roster.windows(&sight(&[4, 3, 1]))), ["Window 1", "Window 3", "Window 4"]);
        assert_eq!(titles(&roster.windows(&sight(&[2, 4, 3, 1])))[3], "Window 2");
    }

    #[test]
    fn keys_to_an_unlisted_popup_are_its_owners() {
        let popup = RawWindow { hwnd: 9, owner: 1, ex_style: WS_EX_TOOLWINDOW, ..window(9) };
        let mut sight = Sight { windows: vec![popup, window(1)], foreground: 9 };
        assert_eq!(sight.focused(), Some(1));
        sight.windows[0].owner = 9;
        assert_eq!(sight.focused(), None, "a circle of owners ends");
        sight.foreground = 0;
        assert_eq!(sight.focused(), None);
    }

    #[test]
    fn uids_are_read_back() {
        assert_eq!(uid_of(0x1_0afe), "hwnd:10afe");
        assert_eq!(hwnd_of("hwnd:10afe").unwrap(), 0x1_0afe);
        for wrong in ["", "hwnd:", "hwnd:0", "hwnd:zz", "x11:1", "10afe", "hwnd:11112222333344445"] {
            assert_eq!(hwnd_of(wrong).unwrap_err().kind, Kind::WindowGone, "{wrong}");
        }
    }

    #[track_caller]
    fn check_reached(change: WindowChange, edit: impl Fn(&mut RawWindow), expected: bool) {
        let before = window(7);
        let mut after = before.clone();
        edit(&mut after);
        let sight = Sight { windows: vec![after], foreground: 0 };
        assert_eq!(is_reached(&sight, &before, &change), expected, "{change:?}");
    }

    #[test]
    fn a_change_is_reached_when_it_is_seen() {
        check_reached(WindowChange::Minimize, |_| {}, false);
        check_reached(WindowChange::Minimize, |raw| raw.minimized = true, true);
        check_reached(WindowChange::Maximize, |raw| raw.maximized = true, true);
        check_reached(WindowChange::Maximize, |raw| (raw.maximized, raw.minimized) = (true, true), false);
        let corner = WindowChange::Move(Point { x: 5, y: 100 });
        check_reached(corner, |_| {}, false);
        check_reached(corner, |raw| raw.frame = Some(Rect::new(5, 100, 400, 300)), true);
        let wider = WindowChange::Resize { width: 420, height: 300 };
        check_reached(wider, |raw| raw.frame = Some(Rect::new(100, 100, 419, 300)), false);
        check_reached(wider, |raw| raw.frame = Some(Rect::new(100, 100, 420, 300)), true);
        check_reached(WindowChange::Close, |_| {}, false);
        check_reached(WindowChange::Close, |raw| raw.hwnd = 8, true);
        check_reached(WindowChange::Close, |raw| raw.visible = false, true);
        check_reached(WindowChange::Raise, |_| {}, true);
        check_reached(WindowChange::Raise, |raw| raw.hwnd = 8, false);
    }

    #[test]
    fn monitors_have_their_own_scales() {
        let raw = |x, dpi, primary| RawMonitor { rect: Rect::new(x, 0, 3840, 2160), primary, dpi };
        let known = monitors(&[raw(-3840, 96, false), raw(0, 192, true)]);
        assert_eq!((known[0].primary, known[0].scale_factor), (true, 2.0));
        assert_eq!(known[0].logical, Rect::new(0, 0, 1920, 1080));
        assert_eq!((known[1].scale_factor, known[1].physical.x), (1.0, -3840));
        let odd = monitors(&[raw(0, 0, false), raw(1, 100_000, false)]);
        assert_eq!((odd[0].primary, odd[0].scale_factor, odd[1].scale_factor), (true, 1.0, 1.0));
    }

    proptest! {
        #[test]
        fn the_rectangle_for_some_bounds_gives_those_bounds(
            sides in prop::array::uniform4(0..40i32),
            wanted in (-500..500i32, -500..500i32, 200..900i32, 200..900i32),
        ) {
            let (x, y, width, height) = wanted;
            let wanted = Rect::new(x, y, width, height);
            let framed = |rect: Rect| {
                let [left, top, right, bottom] = sides;
                let frame = Rect::new(rect.x + left, rect.y + top, rect.width - left - right, rect.height - top - bottom);
                RawWindow { rect, frame: Some(frame), ..RawWindow::default() }
            };
            let before = framed(Rect::new(0, 0, 500, 400));
            prop_assert_eq!(framed(before.rect_for(wanted)).bounds(), wanted);
        }
    }
}
