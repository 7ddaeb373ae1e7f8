//! Asks Windows for its windows, its monitors and its pointer, and changes windows. What the answers mean is in
//! `decode::desktop`.
#![allow(unsafe_code, reason = "the Windows API is C")]

use std::time::Duration;

use windows::Win32::Foundation::{CloseHandle, HWND, LPARAM, POINT, RECT, WPARAM};
use windows::Win32::Graphics::Dwm::{DWMWA_CLOAKED, DWMWA_EXTENDED_FRAME_BOUNDS, DwmGetWindowAttribute};
use windows::Win32::Graphics::Gdi::{
    EnumDisplayMonitors, GetMonitorInfoW, HDC, HMONITOR, MONITOR_DEFAULTTONEAREST, MONITORINFO,
    MonitorFromRect,
};
use windows::Win32::System::Threading::{
    OpenProcess, PROCESS_NAME_WIN32, PROCESS_QUERY_LIMITED_INFORMATION, QueryFullProcessImageNameW,
};
use windows::Win32::UI::HiDpi::{GetDpiForMonitor, MDT_EFFECTIVE_DPI};
use windows::Win32::UI::WindowsAndMessaging::{
    EnumWindows, FindWindowExW, GA_ROOT, GW_OWNER, GWL_EXSTYLE, GWL_STYLE, GetAncestor, GetClassNameW,
    GetCursorPos, GetForegroundWindow, GetSystemMetrics, GetWindow, GetWindowLongW, GetWindowPlacement,
    GetWindowRect, GetWindowThreadProcessId, HWND_TOP, InternalGetWindowText, IsIconic, IsWindow,
    IsWindowVisible, IsZoomed, MONITORINFOF_PRIMARY, PostMessageW, SET_WINDOW_POS_FLAGS, SM_CXVIRTUALSCREEN,
    SM_CYVIRTUALSCREEN, SM_XVIRTUALSCREEN, SM_YVIRTUALSCREEN, SW_MAXIMIZE, SW_MINIMIZE, SW_RESTORE,
    SWP_ASYNCWINDOWPOS, SWP_NOACTIVATE, SWP_NOMOVE, SWP_NOSIZE, SWP_NOZORDER, SetWindowPos, ShowWindowAsync,
    WINDOWPLACEMENT, WM_CLOSE, WindowFromPoint,
};
use windows::core::{BOOL, PWSTR, w};

use super::decode::coordinates::rect_of;
use super::decode::desktop::{
    PLACES, Placing, REASONS, RawMonitor, RawWindow, Sight, from_workspace, gone, hwnd_of, must_be_restored,
    placing, process_behind,
};
use crate::error::{Error, Result};
use crate::model::{Point, Reached, Rect, WindowChange};
use crate::platform::poll::Polling;
use crate::platform::window_change::{
    ChangeWait, ChangingWindow, ObservedWindow, Reasons, change_window, steady_state, wanted_bounds,
};

/// Longer titles are cut here; nobody writes such.
const TITLE_UNITS: usize = 1024;
const CLASS_UNITS: usize = 256;
/// Longer than any path that a program can be started by.
const PATH_UNITS: usize = 4096;
/// There cannot be more: Windows has sixteen bits for a handle's number.
const MOST_WINDOWS: usize = 1 << 16;
pub const LOOK_AGAIN: Duration = Duration::from_millis(30);
/// Windows are moved while they are restored.
const STEADY_POLLING: Polling = Polling::every(Duration::from_millis(25), Duration::from_millis(500));

pub fn handle(hwnd: u64) -> HWND {
    HWND(hwnd as usize as *mut _)
}

pub fn number(hwnd: HWND) -> u64 {
    hwnd.0 as usize as u64
}

/// One look at all top-level windows, from the front to the back.
pub fn look() -> Result<Sight> {
    let mut found: Vec<HWND> = Vec::new();
    // SAFETY: the callback gets the address of `found`, which outlives the call and which nobody else uses meanwhile.
    unsafe { EnumWindows(Some(gather), LPARAM(&raw mut found as isize)) }
        .map_err(|problem| Error::internal(format!("Windows does not list its windows: {problem}")))?;
    let windows = found.into_iter().map(ask).collect();
    // SAFETY: takes nothing, gives a handle or none.
    let foreground = number(unsafe { GetForegroundWindow() });
    Ok(Sight { windows, foreground })
}

extern "system" fn gather(hwnd: HWND, into: LPARAM) -> BOOL {
    // SAFETY: `look` passes the address of its own vector and waits for the end of the enumeration.
    let found = unsafe { &mut *(into.0 as *mut Vec<HWND>) };
    found.push(hwnd);
    BOOL::from(found.len() < MOST_WINDOWS)
}

/// A window that closes meanwhile answers with nothing, and so is not visible.
fn ask(hwnd: HWND) -> RawWindow {
    let class = class(hwnd);
    let (thread, pid) = thread_and_process(hwnd);
    let pid = process_behind(&class, pid, inner_process(&class, hwnd));
    // SAFETY: each takes a handle that may be stale and only reads.
    let (visible, minimized, maximized, style, ex_style) = unsafe {
        (
            IsWindowVisible(hwnd).as_bool(),
            IsIconic(hwnd).as_bool(),
            IsZoomed(hwnd).as_bool(),
            GetWindowLongW(hwnd, GWL_STYLE).cast_unsigned(),
            GetWindowLongW(hwnd, GWL_EXSTYLE).cast_unsigned(),
        )
    };
    // SAFETY: the same.
    let owner = unsafe { GetWindow(hwnd, GW_OWNER) }.map_or(0, number);
    RawWindow {
        hwnd: number(hwnd),
        title: title(hwnd),
        class,
        pid,
        thread,
        // Asking for a process is the dearest question, and nobody wants to know it of what is not to be seen.
        program: if visible { program(pid).unwrap_or_default() } else { String::new() },
        rect: window_rect(hwnd),
        frame: frame(hwnd),
        restored: if minimized { restored(hwnd, ex_style) } else { Rect::default() },
        visible,
        minimized,
        maximized,
        cloaked: cloaked(hwnd),
        owner,
        style,
        ex_style,
    }
}

pub fn thread_and_process(hwnd: HWND) -> (u32, u32) {
    let mut pid = 0;
    // SAFETY: `pid` outlives the call.
    let thread = unsafe { GetWindowThreadProcessId(hwnd, Some(&raw mut pid)) };
    (thread, pid)
}

/// The process of the app in the frame of a store app; none while the app is asleep.
fn inner_process(class: &str, hwnd: HWND) -> Option<u32> {
    if class != "ApplicationFrameWindow" {
        return None;
    }
    // SAFETY: a handle that may be stale, and a name that ends with a zero.
    let inner = unsafe { FindWindowExW(Some(hwnd), None, w!("Windows.UI.Core.CoreWindow"), None) }.ok()?;
    Some(thread_and_process(inner).1)
}

/// The process that answers for a window.
pub fn application(hwnd: u64) -> u32 {
    let (hwnd, class) = (handle(hwnd), class(handle(hwnd)));
    process_behind(&class, thread_and_process(hwnd).1, inner_process(&class, hwnd))
}

pub fn is_window(hwnd: u64) -> bool {
    // SAFETY: a handle that may be stale, which is what is asked.
    unsafe { IsWindow(Some(handle(hwnd))) }.as_bool()
}

/// The top-level window that a window is in.
pub fn top_level(hwnd: u64) -> u64 {
    // SAFETY: a handle that may be stale, and one back.
    number(unsafe { GetAncestor(handle(hwnd), GA_ROOT) })
}

/// What Windows itself knows of the title; the application is not asked, which might hang.
fn title(hwnd: HWND) -> String {
    let mut units = [0; TITLE_UNITS];
    // SAFETY: the buffer's length is passed with it.
    text(&units_written(unsafe { InternalGetWindowText(hwnd, &mut units) }, &units))
}

pub fn title_of(hwnd: u64) -> String {
    title(handle(hwnd))
}

fn class(hwnd: HWND) -> String {
    let mut units = [0; CLASS_UNITS];
    // SAFETY: the buffer's length is passed with it.
    text(&units_written(unsafe { GetClassNameW(hwnd, &mut units) }, &units))
}

fn units_written(count: i32, units: &[u16]) -> Vec<u16> {
    units.get(..usize::try_from(count).unwrap_or(0)).unwrap_or_default().to_vec()
}

fn text(units: &[u16]) -> String {
    String::from_utf16_lossy(units)
}

/// The whole path of a process's program; `None` for those of other users and of the system.
fn program(pid: u32) -> Option<String> {
    // SAFETY: no more than a right to ask; the handle is closed below.
    let process = unsafe { OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION, false, pid) }.ok()?;
    let mut units = vec![0; PATH_UNITS];
    let mut length = PATH_UNITS as u32;
    // SAFETY: the buffer has `length` units, and its address outlives the call.
    let asked = unsafe {
        QueryFullProcessImageNameW(process, PROCESS_NAME_WIN32, PWSTR(units.as_mut_ptr()), &raw mut length)
    };
    // SAFETY: it was opened above and is used no more.
    let closed = unsafe { CloseHandle(process) };
    debug_assert!(closed.is_ok(), "{closed:?}");
    asked.ok()?;
    Some(text(units.get(..length as usize)?))
}

fn window_rect(hwnd: HWND) -> Rect {
    let mut rect = RECT::default();
    // SAFETY: `rect` outlives the call.
    let asked = unsafe { GetWindowRect(hwnd, &raw mut rect) };
    if asked.is_ok() { of(rect) } else { Rect::default() }
}

fn of(rect: RECT) -> Rect {
    rect_of(rect.left, rect.top, rect.right, rect.bottom)
}

/// Without the invisible border. Nothing where no compositor runs.
fn frame(hwnd: HWND) -> Option<Rect> {
    let mut rect = RECT::default();
    // SAFETY: this attribute is a RECT, whose size is passed.
    let asked = unsafe {
        DwmGetWindowAttribute(
            hwnd,
            DWMWA_EXTENDED_FRAME_BOUNDS,
            (&raw mut rect).cast(),
            size_of::<RECT>() as u32,
        )
    };
    asked.ok().map(|()| of(rect)).filter(|rect| !rect.is_empty())
}

fn cloaked(hwnd: HWND) -> u32 {
    let mut cloaked = 0u32;
    // SAFETY: this attribute is a number of four bytes, whose size is passed.
    let asked = unsafe {
        DwmGetWindowAttribute(hwnd, DWMWA_CLOAKED, (&raw mut cloaked).cast(), size_of::<u32>() as u32)
    };
    if asked.is_ok() { cloaked } else { 0 }
}

fn restored(hwnd: HWND, ex_style: u32) -> Rect {
    let mut placement = WINDOWPLACEMENT { length: size_of::<WINDOWPLACEMENT>() as u32, ..Default::default() };
    let mut facts = MONITORINFO { cbSize: size_of::<MONITORINFO>() as u32, ..Default::default() };
    // SAFETY: both structures say their own sizes and outlive the calls.
    let (placed, told) = unsafe {
        let placed = GetWindowPlacement(hwnd, &raw mut placement).is_ok();
        let monitor = MonitorFromRect(&raw const placement.rcNormalPosition, MONITOR_DEFAULTTONEAREST);
        (placed, GetMonitorInfoW(monitor, &raw mut facts).as_bool())
    };
    match (placed, told) {
        (false, _) => Rect::default(),
        (true, false) => of(placement.rcNormalPosition),
        (true, true) => {
            from_workspace(of(placement.rcNormalPosition), ex_style, of(facts.rcMonitor), of(facts.rcWork))
        }
    }
}

// ── the screen ─────────────────────────────────────────────────────────────────────────────────────

/// The rectangle around all monitors.
pub fn screen() -> Rect {
    // SAFETY: numbers in, numbers out.
    let ask = |what| unsafe { GetSystemMetrics(what) };
    Rect::new(
        ask(SM_XVIRTUALSCREEN),
        ask(SM_YVIRTUALSCREEN),
        ask(SM_CXVIRTUALSCREEN),
        ask(SM_CYVIRTUALSCREEN),
    )
}

pub fn monitors() -> Vec<RawMonitor> {
    let mut found: Vec<HMONITOR> = Vec::new();
    // SAFETY: as with `EnumWindows`: the callback gets the address of a vector that outlives the call.
    let listed =
        unsafe { EnumDisplayMonitors(None, None, Some(gather_monitor), LPARAM(&raw mut found as isize)) };
    if !listed.as_bool() {
        return Vec::new();
    }
    found.into_iter().filter_map(ask_monitor).collect()
}

extern "system" fn gather_monitor(monitor: HMONITOR, _: HDC, _: *mut RECT, into: LPARAM) -> BOOL {
    // SAFETY: `monitors` passes the address of its own vector and waits for the end of the enumeration.
    unsafe { &mut *(into.0 as *mut Vec<HMONITOR>) }.push(monitor);
    BOOL::from(true)
}

fn ask_monitor(monitor: HMONITOR) -> Option<RawMonitor> {
    let mut facts = MONITORINFO { cbSize: size_of::<MONITORINFO>() as u32, ..Default::default() };
    let (mut dpi, mut vertical) = (0, 0);
    // SAFETY: the structure says its own size; it and both numbers outlive the calls.
    let (told, scaled) = unsafe {
        (
            GetMonitorInfoW(monitor, &raw mut facts).as_bool(),
            GetDpiForMonitor(monitor, MDT_EFFECTIVE_DPI, &raw mut dpi, &raw mut vertical),
        )
    };
    told.then(|| RawMonitor {
        rect: of(facts.rcMonitor),
        primary: facts.dwFlags & MONITORINFOF_PRIMARY != 0,
        dpi: if scaled.is_ok() { dpi } else { 0 },
    })
}

pub fn pointer() -> Result<Point> {
    let mut at = POINT::default();
    // SAFETY: `at` outlives the call.
    unsafe { GetCursorPos(&raw mut at) }.map_err(|problem| {
        Error::internal(format!("Windows does not report where the pointer is: {problem}"))
    })?;
    Ok(Point { x: at.x, y: at.y })
}

/// The top-level window under a point, whatever it is.
pub fn under(point: Point) -> u64 {
    // SAFETY: numbers in, a handle out.
    top_level(number(unsafe { WindowFromPoint(POINT { x: point.x, y: point.y }) }))
}

pub fn foreground() -> u64 {
    // SAFETY: takes nothing, gives a handle or none.
    number(unsafe { GetForegroundWindow() })
}

// ── changing ───────────────────────────────────────────────────────────────────────────────────────

/// Asks for a change and waits until it is seen, or until the time is over.
pub fn change(uid: &str, change: &WindowChange, wait: &ChangeWait<'_>) -> Result<Reached> {
    let hwnd = hwnd_of(uid)?;
    let before = restored_for(uid, hwnd, change, wait)?;
    let window = Win32Window { before: &before, at_most: wait.at_most };
    let (state, wanted) = (before.state(false), wanted_bounds(before.bounds(), change, PLACES));
    let reached = change_window(&window, &state, wanted, change, wait)?;
    if !reached.done {
        return Ok(reached);
    }
    let state = steady_state(&window, reached.state, wait, STEADY_POLLING)?;
    Ok(Reached { state, ..reached })
}

/// The window as it is when it can be moved and resized. A maximized window that was minimized is maximized again first,
/// so this may take two rounds.
fn restored_for(uid: &str, hwnd: u64, change: &WindowChange, wait: &ChangeWait<'_>) -> Result<RawWindow> {
    let find = || look()?.find(hwnd).filter(|raw| raw.visible).cloned().ok_or_else(|| gone(uid));
    let mut before = find()?;
    while must_be_restored(&before, change) && !wait.is_over() {
        show(handle(hwnd), SW_RESTORE);
        let state = (before.minimized, before.maximized);
        while !wait.is_over() && (before.minimized, before.maximized) == state {
            wait.pause()?;
            before = find()?;
        }
        let window = Win32Window { before: &before, at_most: wait.at_most };
        steady_state(&window, Some(before.state(false)), wait, STEADY_POLLING)?;
        before = find()?;
    }
    Ok(before)
}

/// A window that is being changed, as it was before.
struct Win32Window<'a> {
    before: &'a RawWindow,
    at_most: Duration,
}

impl ChangingWindow for Win32Window<'_> {
    type Error = Error;

    fn request_change(&self, change: &WindowChange) -> Result<Option<String>> {
        if must_be_restored(self.before, change) {
            return Ok(Some(REASONS.why_not_reached(&WindowChange::Restore, self.at_most)));
        }
        Ok(request(self.before, change))
    }

    fn window_state(&self) -> Result<Option<ObservedWindow>> {
        Ok(look()?.observed(self.before.hwnd))
    }

    /// A question is a window of its own here too, but which windows a program has costs a look at all of them.
    fn asks_back(&self) -> Result<bool> {
        Ok(false)
    }

    fn reasons(&self) -> &Reasons {
        &REASONS
    }
}

/// Everything is asked without waiting for the application, which may hang. What Windows refuses is told.
fn request(raw: &RawWindow, change: &WindowChange) -> Option<String> {
    let hwnd = handle(raw.hwnd);
    match change {
        WindowChange::Raise => raise(hwnd),
        WindowChange::Restore => show(hwnd, SW_RESTORE),
        WindowChange::Minimize => show(hwnd, SW_MINIMIZE),
        WindowChange::Maximize => show(hwnd, SW_MAXIMIZE),
        WindowChange::Move(_) | WindowChange::Resize { .. } => {
            let (rect, what) = placing(raw, change)?;
            let kept = if what == Placing::Corner { SWP_NOSIZE } else { SWP_NOMOVE };
            place(hwnd, rect, kept | SWP_NOZORDER | SWP_NOACTIVATE)
        }
        WindowChange::Close => {
            // SAFETY: a message without addresses in it.
            let posted = unsafe { PostMessageW(Some(hwnd), WM_CLOSE, WPARAM(0), LPARAM(0)) };
            posted.err().map(|problem| refusal(&problem))
        }
    }
}

fn show(hwnd: HWND, how: windows::Win32::UI::WindowsAndMessaging::SHOW_WINDOW_CMD) -> Option<String> {
    // SAFETY: a handle that may be stale, and a number. What it returns is how the window was before.
    let _ = unsafe { ShowWindowAsync(hwnd, how) };
    None
}

/// Above the others, without the keyboard.
pub fn raise(hwnd: HWND) -> Option<String> {
    place(hwnd, Rect::default(), SWP_NOMOVE | SWP_NOSIZE | SWP_NOACTIVATE)
}

fn place(hwnd: HWND, rect: Rect, flags: SET_WINDOW_POS_FLAGS) -> Option<String> {
    let flags = flags | SWP_ASYNCWINDOWPOS;
    // SAFETY: handles that may be stale, and numbers.
    let placed = unsafe {
        SetWindowPos(hwnd, Some(HWND_TOP), rect.x, rect.y, rect.width.max(1), rect.height.max(1), flags)
    };
    placed.err().map(|problem| refusal(&problem))
}

fn refusal(problem: &windows::core::Error) -> String {
    format!(
        "Windows refused it ({problem}); windows of programs that run as administrator obey only such programs"
    )
}
