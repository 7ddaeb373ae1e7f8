//! Windows and monitors, asked for; and windows changed as a whole, by their own elements.

use core_foundation::base::{CFType, TCFType};
use core_graphics::display::CGDisplay;
use core_graphics::window::{
    copy_window_info, kCGNullWindowID, kCGWindowListExcludeDesktopElements, kCGWindowListOptionAll,
    kCGWindowListOptionOnScreenOnly,
};
use objc2::rc::autoreleasepool;
use objc2_app_kit::{NSApplicationActivationOptions, NSRunningApplication};

use super::accessibility::{Accessible, ELEMENT_TIME};
use super::decode::changes::Step;
use super::decode::desktop as decode;
use super::decode::errors::{Code, Meaning};
use super::decode::quarantine::WINDOW_TIME;
use super::decode::records::{RawDisplay, RawLook, RawRect, RawWindow};
use super::foundation::{Node, entry, flag, list, number, text};
use crate::error::{Error, Result};
use crate::model::Rect;

/// All windows, with what every application tells of its own.
pub fn look(accessible: &Accessible) -> Result<RawLook> {
    let windows = all_windows()?;
    let pids = decode::owners(&windows);
    Ok(told(accessible, windows, pids))
}

/// All windows, with what the application of this one tells of its own: another that hangs costs nothing.
pub fn look_at(accessible: &Accessible, id: u32) -> Result<RawLook> {
    let windows = all_windows()?;
    let pids = windows.iter().filter(|raw| raw.id == id).map(|raw| raw.pid).collect();
    Ok(told(accessible, windows, pids))
}

/// What the AX functions leave behind on the way goes with the pool.
fn told(accessible: &Accessible, windows: Vec<RawWindow>, pids: Vec<i32>) -> RawLook {
    autoreleasepool(|_| {
        let apps = pids.into_iter().map(|pid| accessible.windows_of(pid)).collect();
        let front = front(&windows);
        RawLook { windows, apps, front }
    })
}

/// Those on the screen from the front to the back, then the others.
pub fn all_windows() -> Result<Vec<RawWindow>> {
    let shown = windows(kCGWindowListOptionOnScreenOnly)?;
    let away = windows(kCGWindowListOptionAll)?.into_iter().filter(|window| !window.on_screen);
    Ok(shown.into_iter().chain(away).collect())
}

/// The application that keys go to. Nobody tells without the permission; then the frontmost window is the best guess.
pub fn front(windows: &[RawWindow]) -> Option<i32> {
    let told = Node::front_application().ok().and_then(|node| node.pid());
    told.or_else(|| decode::likely_front(windows))
}

fn windows(option: u32) -> Result<Vec<RawWindow>> {
    let found = copy_window_info(option | kCGWindowListExcludeDesktopElements, kCGNullWindowID);
    let found =
        found.ok_or_else(|| Error::internal("macOS does not list its windows: no session with a screen?"))?;
    Ok(list(&found.as_CFType()).iter().map(window).collect())
}

fn window(info: &CFType) -> RawWindow {
    let amount = |key: &str| entry(info, key).as_ref().and_then(number).unwrap_or(0.0);
    let word = |key: &str| entry(info, key).as_ref().and_then(text);
    let place = entry(info, "kCGWindowBounds");
    let side = |key: &str| {
        place.as_ref().and_then(|place| entry(place, key)).as_ref().and_then(number).unwrap_or(0.0)
    };
    RawWindow {
        id: amount("kCGWindowNumber") as u32,
        pid: amount("kCGWindowOwnerPID") as i32,
        owner: word("kCGWindowOwnerName").unwrap_or_default(),
        title: word("kCGWindowName"),
        layer: amount("kCGWindowLayer") as i32,
        alpha: amount("kCGWindowAlpha"),
        bounds: RawRect { x: side("X"), y: side("Y"), width: side("Width"), height: side("Height") },
        on_screen: entry(info, "kCGWindowIsOnscreen").as_ref().and_then(flag).unwrap_or(false),
    }
}

pub fn displays() -> Result<Vec<RawDisplay>> {
    let ids = CGDisplay::active_displays()
        .map_err(|code| Error::internal(format!("macOS does not list its monitors ({code})")))?;
    Ok(ids.into_iter().map(|id| display(CGDisplay::new(id))).collect())
}

fn display(display: CGDisplay) -> RawDisplay {
    let bounds = display.bounds();
    let (origin, size) = (bounds.origin, bounds.size);
    RawDisplay {
        bounds: RawRect { x: origin.x, y: origin.y, width: size.width, height: size.height },
        pixels_wide: display.display_mode().map_or(0, |mode| mode.pixel_width()),
        main: display.is_main(),
    }
}

/// Asks one thing of a window. Whether it came so is looked at by the caller.
pub fn ask(window: &Node, pid: i32, step: Step) -> Result<(), Code> {
    window.within(ELEMENT_TIME);
    match step {
        Step::Front => front_window(window, pid),
        Step::Raise => window.perform("AXRaise"),
        Step::Minimized(minimized) => window.set_flag("AXMinimized", minimized),
        Step::LeaveFullScreen => window.set_flag("AXFullScreen", false),
        Step::Place(bounds) => place(window, bounds),
        Step::MoveTo(to) => window.set_position(f64::from(to.x), f64::from(to.y)),
        Step::Size { width, height } => window.set_size(f64::from(width), f64::from(height)),
        Step::Close => press(window, "AXCloseButton"),
    }
}

/// Whether it fills a Space of its own. Windows that cannot do that do not know the question.
pub fn is_full_screen(window: &Node) -> bool {
    let told = window.within(WINDOW_TIME).attribute("AXFullScreen").ok();
    told.as_ref().and_then(flag).unwrap_or(false)
}

fn front_window(window: &Node, pid: i32) -> Result<(), Code> {
    autoreleasepool(|_| {
        if let Some(running) = NSRunningApplication::runningApplicationWithProcessIdentifier(pid) {
            // What it answers says only that it was asked.
            running.activateWithOptions(NSApplicationActivationOptions::empty());
        }
    });
    // Newer systems let a program activate another only in part; the application's own element is believed more. One
    // that does not answer is asked no more.
    answered(Node::application(pid).within(WINDOW_TIME).set_flag("AXFrontmost", true))?;
    answered(window.set_flag("AXMain", true))?;
    window.perform("AXRaise")
}

/// Whatever it answered, as long as it did.
fn answered(told: Result<(), Code>) -> Result<(), Code> {
    told.or_else(|code| if code.meaning() == Meaning::Silent { Err(code) } else { Ok(()) })
}

/// The size once more at the end: a window that was moved to a larger place could not have it before.
fn place(window: &Node, bounds: Rect) -> Result<(), Code> {
    let (width, height) = (f64::from(bounds.width), f64::from(bounds.height));
    window.set_size(width, height)?;
    window.set_position(f64::from(bounds.x), f64::from(bounds.y))?;
    window.set_size(width, height)
}

fn press(window: &Node, button: &str) -> Result<(), Code> {
    let button = window.attribute(button)?;
    Node::of(&button).ok_or(Code::INVALID_ELEMENT)?.within(ELEMENT_TIME).perform("AXPress")
}
