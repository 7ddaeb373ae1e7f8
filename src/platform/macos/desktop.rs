//! Windows and monitors, asked for; and windows changed as a whole, by their own elements.

use core_foundation::base::{CFType, TCFType};
use core_graphics::display::CGDisplay;
use core_graphics::window::{
    copy_window_info, kCGNullWindowID, kCGWindowListExcludeDesktopElements, kCGWindowListOptionAll,
    kCGWindowListOptionOnScreenOnly,
};
use objc2_app_kit::{NSApplicationActivationOptions, NSRunningApplication};

use super::accessibility::Accessible;
use super::foundation::{Node, entry, flag, list, number, text};
use super::sense::errors::Code;
use super::sense::records::{RawDisplay, RawLook, RawRect, RawWindow};
use crate::error::{Error, Result};
use crate::model::{Rect, WindowChange};

pub fn look(accessible: &Accessible) -> Result<RawLook> {
    let shown = windows(kCGWindowListOptionOnScreenOnly)?;
    let away = windows(kCGWindowListOptionAll)?.into_iter().filter(|window| !window.on_screen);
    let windows: Vec<RawWindow> = shown.into_iter().chain(away).collect();
    let mut pids: Vec<i32> = windows
        .iter()
        .filter(|window| window.layer == 0 && window.on_screen)
        .map(|window| window.pid)
        .collect();
    let first = pids.first().copied();
    // An application whose windows are all minimized is on no screen.
    pids.extend(
        windows.iter().filter(|window| window.layer == 0 && window.title.is_some()).map(|window| window.pid),
    );
    pids.sort_unstable();
    pids.dedup();
    let apps = pids.into_iter().map(|pid| accessible.windows_of(pid)).collect();
    // Nobody tells without the permission; then the frontmost window is the best guess.
    let front = Node::front_application().ok().and_then(|node| node.pid()).or(first);
    Ok(RawLook { windows, apps, front })
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

/// Brings an application and one of its windows to the front. Whether they came is looked at by the caller.
pub fn raise(window: &Node, pid: i32) -> Result<(), Code> {
    let application = Node::application(pid);
    if let Some(running) = NSRunningApplication::runningApplicationWithProcessIdentifier(pid) {
        // What it answers says only that it was asked.
        running.activateWithOptions(NSApplicationActivationOptions::empty());
    }
    // Newer systems let a program activate another only in part; the application's own element is believed more.
    let _ = application.set_flag("AXFrontmost", true);
    let _ = window.set_flag("AXMain", true);
    window.perform("AXRaise")
}

/// Asks for a change. `room` is where a window may be on its monitor, `before` what it had before it was maximized.
pub fn request(
    window: &Node,
    change: &WindowChange,
    minimized: bool,
    room: Option<Rect>,
    before: Option<Rect>,
) -> Result<(), Code> {
    match *change {
        WindowChange::Raise => window.perform("AXRaise"),
        WindowChange::Minimize => window.set_flag("AXMinimized", true),
        WindowChange::Restore if minimized => window.set_flag("AXMinimized", false),
        WindowChange::Restore => {
            before.map_or_else(|| press(window, "AXZoomButton"), |before| place(window, before))
        }
        WindowChange::Maximize => {
            if minimized {
                window.set_flag("AXMinimized", false)?;
            }
            room.map_or_else(|| press(window, "AXZoomButton"), |room| place(window, room))
        }
        WindowChange::Move(to) => window.set_position(f64::from(to.x), f64::from(to.y)),
        WindowChange::Resize { width, height } => window.set_size(f64::from(width), f64::from(height)),
        WindowChange::Close => press(window, "AXCloseButton"),
    }
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
    Node::of(&button).ok_or(Code::INVALID_ELEMENT)?.perform("AXPress")
}
