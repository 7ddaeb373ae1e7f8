//! Which of all the windows are windows to a person, what they are called and where they are, and whether a change
//! that was asked for has come.
//!
//! Windows of today have an invisible border of some pixels, by which they are resized: what a person sees is the frame
//! that the desktop's compositor draws (`frame`), what the functions that move a window speak of is `rect`.

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::model::window::{WindowChange, WindowState};
use crate::model::{Monitor, Rect, Window};
use crate::platform::Menu;
use crate::platform::window_change::{ObservedWindow, Reasons, wanted_bounds};

/// A top-level window as Windows tells of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RawWindow {
    pub hwnd: u64,
    pub title: String,
    pub class: String,
    pub pid: u32,
    /// The thread that made it, and that gets its messages.
    pub thread: u32,
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

const WS_POPUP: u32 = 0x8000_0000;
const WS_CAPTION: u32 = 0x00c0_0000;
const WS_EX_TRANSPARENT: u32 = 0x0000_0020;
const WS_EX_TOOLWINDOW: u32 = 0x0000_0080;
const WS_EX_APPWINDOW: u32 = 0x0004_0000;
const WS_EX_LAYERED: u32 = 0x0008_0000;
const WS_EX_NOACTIVATE: u32 = 0x0800_0000;
/// The desktop itself and its like: no person switches to them.
const SCENERY: &[&str] =
    &["Progman", "WorkerW", "Shell_TrayWnd", "Shell_SecondaryTrayWnd", "EdgeUiInputTopWndClass"];

/// Windows that show for a moment and belong to whatever their thread has on the screen: menus, the lists of combo boxes,
/// tooltips, and the shadows of such.
const MOMENTARY: &[&str] = &["#32768", "ComboLBox", "tooltips_class32", SHADOW];
const SHADOW: &str = "SysShadow";

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

    /// It is on the screen.
    pub fn is_shown(&self) -> bool {
        self.visible && !self.minimized && self.cloaked == 0 && !self.bounds().is_empty()
    }

    /// Clicks go through it, and what lies below it shows: the overlays of recorders and of games.
    pub fn is_see_through(&self) -> bool {
        self.ex_style & (WS_EX_TRANSPARENT | WS_EX_LAYERED) == WS_EX_TRANSPARENT | WS_EX_LAYERED
    }

    /// Whether it is a menu, a list or a tooltip of the other. What has no owner says so by its class, or by its style,
    /// and is made by the same thread; the taskbar is nobody's popup, although it is made by the desktop's process.
    pub fn is_popup_of(&self, other: &RawWindow) -> bool {
        if self.hwnd == other.hwnd || self.is_listed() || SCENERY.contains(&self.class.as_str()) {
            return false;
        }
        if self.owner != 0 {
            return self.owner == other.hwnd;
        }
        let pops_up = self.style & WS_POPUP != 0 || MOMENTARY.contains(&self.class.as_str());
        pops_up && self.thread != 0 && self.thread == other.thread
    }

    /// What must be asked for, so that the bounds are these.
    pub fn rect_for(&self, bounds: Rect) -> Rect {
        let now = self.bounds();
        Rect::new(
            bounds.x.saturating_add(self.rect.x.saturating_sub(now.x)),
            bounds.y.saturating_add(self.rect.y.saturating_sub(now.y)),
            bounds.width.saturating_add(self.rect.width.saturating_sub(now.width)),
            bounds.height.saturating_add(self.rect.height.saturating_sub(now.height)),
        )
    }

    pub fn state(&self, focused: bool) -> WindowState {
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
            url: None,
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

    /// The listed window that a window is or belongs to: along its owners, and where those end, the frontmost one whose
    /// popup it is.
    pub fn listed_owner(&self, hwnd: u64) -> Option<u64> {
        let mut at = hwnd;
        for _ in 0..self.windows.len() {
            let raw = self.find(at)?;
            if raw.is_listed() {
                return Some(raw.hwnd);
            }
            if raw.owner == 0 {
                let mut listed = self.windows.iter().filter(|other| other.is_listed());
                return listed.find(|other| raw.is_popup_of(other)).map(|other| other.hwnd);
            }
            at = raw.owner;
        }
        None
    }

    /// What lies under a pointer and is no listed window: a menu, a list, a tooltip; also the taskbar, which is nobody's.
    pub fn menu(&self, hwnd: u64) -> Option<Menu> {
        let raw = self.find(hwnd).filter(|raw| !raw.is_listed())?;
        Some(Menu { bounds: raw.bounds(), window_uid: self.listed_owner(hwnd).map(uid_of) })
    }

    /// Whether what is done to the first reaches the second: they are the same, or the first is a popup of the other or
    /// of what belongs to it. A dialog is a window of its own: while it is open, keys do not go to its owner.
    pub fn reaches(&self, hwnd: u64, wanted: u64) -> bool {
        let mut at = hwnd;
        for _ in 0..self.windows.len() {
            if at == wanted {
                return at != 0;
            }
            let Some(raw) = self.find(at).filter(|raw| !raw.is_listed()) else { return false };
            if raw.owner == 0 {
                return self.listed_owner(at) == Some(wanted);
            }
            at = raw.owner;
        }
        false
    }

    /// Whether keys go to a window. A menu gets them while the window that it is of stays in the foreground.
    pub fn has_keyboard(&self, hwnd: u64) -> bool {
        self.reaches(self.foreground, hwnd) || self.reaches(self.foreground, self.raised_for(hwnd))
    }

    /// What is brought to the front so that a window is: the one that a menu is of, because the menu would close.
    pub fn raised_for(&self, hwnd: u64) -> u64 {
        let is_popup = self.find(hwnd).is_some_and(|raw| !raw.is_listed());
        self.listed_owner(hwnd).filter(|_| is_popup).unwrap_or(hwnd)
    }

    /// The menus, lists and tooltips of a window that are on the screen, from the front to the back.
    pub fn popups(&self, hwnd: u64) -> Vec<u64> {
        let shown =
            self.windows.iter().filter(|raw| raw.hwnd != hwnd && raw.is_shown() && raw.class != SHADOW);
        shown.filter(|raw| self.reaches(raw.hwnd, hwnd)).map(|raw| raw.hwnd).collect()
    }

    pub fn state(&self, hwnd: u64) -> Option<WindowState> {
        Some(self.find(hwnd)?.state(self.focused() == Some(hwnd)))
    }

    /// A window that is being changed; one that is not to be seen is gone.
    pub fn observed(&self, hwnd: u64) -> Option<ObservedWindow> {
        self.find(hwnd).filter(|raw| raw.visible)?;
        let is_front = self.front() == Some(hwnd);
        Some(ObservedWindow { state: self.state(hwnd)?, is_front })
    }

    /// The frontmost of those that are to be seen.
    fn front(&self) -> Option<u64> {
        let shown = self.windows.iter().filter(|raw| raw.is_listed() && !raw.minimized);
        shown.map(|raw| raw.hwnd).next()
    }
}

/// What a person gets who clicks on a window: one that a dialog has disabled shows that dialog. One that only has other
/// windows open beside it, like a search box, is still there itself.
pub fn active_of(hwnd: u64, last_popup: u64, enabled: bool) -> u64 {
    if enabled || last_popup == 0 { hwnd } else { last_popup }
}

/// Of whom a window is: the frames of store apps are all drawn by one process, and the app is what is in them.
pub fn process_behind(class: &str, own: u32, inner: Option<u32>) -> u32 {
    if class == "ApplicationFrameWindow" { inner.filter(|pid| *pid != 0).unwrap_or(own) } else { own }
}

/// Where a window will be is told in the coordinates of the workspace, which begin where the taskbar ends; those of tool
/// windows begin where the monitor does.
pub fn from_workspace(rect: Rect, ex_style: u32, monitor: Rect, work: Rect) -> Rect {
    if ex_style & WS_EX_TOOLWINDOW != 0 {
        return rect;
    }
    Rect {
        x: rect.x.saturating_add(work.x - monitor.x),
        y: rect.y.saturating_add(work.y - monitor.y),
        ..rect
    }
}

/// A window that is minimized or maximized has no place of its own: it gets it back before it is moved or resized.
pub fn must_be_restored(raw: &RawWindow, change: &WindowChange) -> bool {
    matches!(change, WindowChange::Move(_) | WindowChange::Resize { .. }) && (raw.minimized || raw.maximized)
}

/// What of a place is asked for; the rest stays as the application wants it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placing {
    Corner,
    Size,
}

/// The rectangle that Windows must be asked for, and what of it counts.
pub fn placing(raw: &RawWindow, change: &WindowChange) -> Option<(Rect, Placing)> {
    let rect = || raw.rect_for(wanted_bounds(raw.bounds(), change, PLACES));
    match change {
        WindowChange::Move(_) => Some((rect(), Placing::Corner)),
        WindowChange::Resize { .. } => Some((rect(), Placing::Size)),
        _ => None,
    }
}

/// Further out than any screen; Windows has sixteen bits for many of its places.
pub const PLACES: i32 = 30_000;

pub const REASONS: Reasons = Reasons {
    raise: "another window is kept above it, or Windows refused it",
    show: "the application did not do it",
    maximize: "the application did not do it",
    place: "Windows or the application allows only what is reported",
};

/// Why a window is not in the foreground after it was asked for.
pub fn why_not_active(sight: &Sight, waited: std::time::Duration) -> String {
    let front = sight.find(sight.foreground).map_or_else(
        || "no window has the keyboard".to_owned(),
        |other| format!("'{}' keeps the keyboard focus", other.title),
    );
    format!(
        "Windows did not bring it to the front within {} ms ({front}): it allows that only shortly after the \
         person used the program",
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
    use crate::model::Point;
    use crate::platform::window_change::is_reached;
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
    fn what_is_not_listed_is_a_menu_of_its_owner_or_of_nobody() {
        let sight = recorded("desktop");
        let owner = |hwnd: u64| sight.menu(hwnd).map(|menu| menu.window_uid);
        assert_eq!(owner(131_394), Some(Some(uid_of(330_258))), "a tooltip of the dialog");
        assert_eq!(owner(65_670), Some(None), "the taskbar");
        assert_eq!(owner(199_166), None, "a window");
        assert_eq!(owner(7), None, "nothing");
        assert_eq!(sight.menu(131_394).unwrap().bounds, Rect::new(700, 300, 120, 24));
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
        let calculator = windows.iter().find(|window| window.title == "Calculator").unwrap();
        assert_eq!(calculator.process, "CalculatorApp.exe", "the app, and not who draws its frame");
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
    fn what_has_no_place_is_restored_before_it_is_moved() {
        let corner = WindowChange::Move(Point { x: 5, y: 6 });
        let size = WindowChange::Resize { width: 9, height: 9 };
        let check = |change: &WindowChange, minimized, maximized, expected| {
            let raw = RawWindow { minimized, maximized, ..window(1) };
            assert_eq!(must_be_restored(&raw, change), expected, "{change:?}");
        };
        check(&corner, false, false, false);
        check(&corner, true, false, true);
        check(&size, false, true, true);
        check(&WindowChange::Maximize, true, false, false);
    }

    #[test]
    fn moving_keeps_the_size_and_resizing_the_corner() {
        let corner = WindowChange::Move(Point { x: 5, y: 6 });
        assert_eq!(placing(&window(1), &corner), Some((Rect::new(-2, 6, 414, 307), Placing::Corner)));
        let size = WindowChange::Resize { width: 500, height: 200 };
        assert_eq!(placing(&window(1), &size), Some((Rect::new(93, 100, 514, 207), Placing::Size)));
        assert_eq!(placing(&window(1), &WindowChange::Close), None);
    }

    #[test]
    fn a_workspace_begins_where_the_taskbar_ends() {
        let (monitor, work) = (Rect::new(0, 0, 1920, 1080), Rect::new(60, 40, 1860, 1040));
        let rect = Rect::new(10, 20, 300, 200);
        assert_eq!(from_workspace(rect, 0, monitor, work), Rect::new(70, 60, 300, 200));
        assert_eq!(from_workspace(rect, WS_EX_TOOLWINDOW, monitor, work), rect);
        assert_eq!(from_workspace(rect, 0, monitor, monitor), rect);
    }

    #[test]
    fn a_dialog_stands_for_its_owner_only_while_that_is_disabled() {
        assert_eq!(active_of(1, 2, false), 2);
        assert_eq!(active_of(1, 2, true), 1);
        assert_eq!(active_of(1, 0, false), 1);
    }

    #[test]
    fn a_store_app_is_who_is_in_the_frame() {
        assert_eq!(process_behind("Notepad", 5, Some(7)), 5);
        assert_eq!(process_behind("ApplicationFrameWindow", 5, Some(7)), 7);
        assert_eq!(process_behind("ApplicationFrameWindow", 5, None), 5, "it is asleep");
    }

    fn popup(hwnd: u64, owner: u64) -> RawWindow {
        RawWindow { owner, title: String::new(), style: WS_POPUP, thread: 4, ..window(hwnd) }
    }

    #[track_caller]
    fn check_popup(edit: impl Fn(&mut RawWindow), expected: bool) {
        let mut raw = popup(9, 0);
        edit(&mut raw);
        let other = RawWindow { thread: 4, ..window(1) };
        assert_eq!(raw.is_popup_of(&other), expected, "{raw:?}");
    }

    #[test]
    fn popups_are_of_the_same_thread_or_owned() {
        check_popup(|_| {}, true);
        check_popup(|raw| raw.thread = 5, false);
        check_popup(|raw| (raw.owner, raw.thread) = (1, 5), true);
        check_popup(|raw| raw.owner = 2, false);
        check_popup(|raw| raw.style = 0, false);
        check_popup(|raw| (raw.style, raw.class) = (0, "#32768".to_owned()), true);
        check_popup(|raw| raw.class = "Shell_TrayWnd".to_owned(), false);
        check_popup(|raw| (raw.title, raw.owner) = ("Own window".to_owned(), 0), false);
        check_popup(|raw| raw.hwnd = 1, false);
    }

    /// A window with a dialog, which has a menu with a menu in it; and another window of the same thread behind it.
    fn nested() -> Sight {
        let dialog = RawWindow { owner: 1, thread: 4, ..window(2) };
        let own = |hwnd| RawWindow { thread: 4, ..window(hwnd) };
        Sight { windows: vec![popup(4, 3), popup(3, 2), dialog, own(1), own(5), popup(6, 0)], foreground: 2 }
    }

    #[test]
    fn what_is_done_to_a_menu_reaches_its_window_and_not_the_owner_of_that() {
        let sight = nested();
        let check = |from, to, expected| assert_eq!(sight.reaches(from, to), expected, "{from} to {to}");
        check(2, 2, true);
        check(3, 2, true);
        check(4, 2, true);
        check(4, 1, false);
        check(2, 1, false);
        check(1, 2, false);
        check(6, 2, true);
        check(6, 1, false);
        check(0, 0, false);
        check(77, 1, false);
        let keyed = [1, 2, 3, 4, 5, 6].map(|hwnd| sight.has_keyboard(hwnd));
        assert_eq!(keyed, [false, true, true, true, false, true]);
        assert_eq!([1, 2, 4, 6, 77].map(|hwnd| sight.raised_for(hwnd)), [1, 2, 2, 2, 77]);
        assert_eq!(sight.popups(2), [4, 3, 6]);
        assert_eq!(sight.popups(1), [0; 0]);
        assert_eq!([4, 6, 2].map(|hwnd| sight.listed_owner(hwnd)), [Some(2), Some(2), Some(2)]);
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
        let wanted = wanted_bounds(before.bounds(), &change, PLACES);
        let now = sight.observed(before.hwnd);
        assert_eq!(is_reached(&change, &before.state(false), now.as_ref(), wanted), expected, "{change:?}");
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

        /// Owners may be anything, also circles; every question ends.
        #[test]
        fn owners_are_followed_to_an_end(
            owners in prop::collection::vec((0..8u64, 0..3u32, any::<bool>()), 1..8), from in 0..9u64, to in 0..9u64,
        ) {
            let raw = |(place, (owner, thread, listed)): (usize, &(u64, u32, bool))| RawWindow {
                owner: *owner,
                thread: *thread,
                style: if *listed { WS_CAPTION } else { WS_POPUP },
                ..window(place as u64 + 1)
            };
            let windows: Vec<RawWindow> = owners.iter().enumerate().map(raw).collect();
            let sight = Sight { windows, foreground: from };
            prop_assert!(!sight.reaches(from, to) || to != 0);
            if let Some(listed) = sight.listed_owner(from) {
                prop_assert!(sight.find(listed).is_some_and(RawWindow::is_listed));
            }
            prop_assert!(!sight.popups(to).contains(&to));
        }
    }
}
