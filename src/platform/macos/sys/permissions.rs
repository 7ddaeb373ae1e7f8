//! What macOS permits this program, and whether its session can be worked. Asking shows no dialog.

use core_graphics::access::ScreenCaptureAccess;

use super::decode::session::RawSession;
use super::foundation::{self, entry, flag};
use crate::platform::survey::MacPermissions;

pub fn granted() -> MacPermissions {
    let recording = ScreenCaptureAccess.preflight();
    MacPermissions { accessibility: foundation::is_trusted(), recording }
}

pub fn session() -> RawSession {
    let told = foundation::session();
    let mark = |key: &str| told.as_ref().and_then(|told| entry(told, key)).as_ref().and_then(flag);
    RawSession {
        exists: told.is_some(),
        locked: mark("CGSSessionScreenIsLocked"),
        on_console: mark("kCGSSessionOnConsoleKey"),
    }
}
