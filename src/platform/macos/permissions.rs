//! What macOS permits this program. Asking shows no dialog.

use core_graphics::access::ScreenCaptureAccess;

use super::foundation;
use crate::doctor::MacPermissions;

pub fn granted() -> MacPermissions {
    let recording = ScreenCaptureAccess.preflight();
    MacPermissions { accessibility: foundation::is_trusted(), recording }
}
