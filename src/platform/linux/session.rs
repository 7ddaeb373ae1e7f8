//! Which desktop is meant: its display, the key to it, and its bus.

use std::ffi::OsString;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DesktopSession {
    /// As `DISPLAY` has it: `:7`.
    pub display: String,
    /// The file with the key to the display.
    pub xauthority: PathBuf,
    /// The address of the session bus.
    pub bus: String,
}

/// Variables that would lead to another desktop than the one that is meant.
const MISLEADING: &[&str] = &["WAYLAND_DISPLAY", "AT_SPI_BUS_ADDRESS", "SESSION_MANAGER", "NO_AT_BRIDGE"];

impl DesktopSession {
    /// The variables that lead to this desktop, and the names of those that must not be set.
    pub fn variables(&self) -> ([(&'static str, OsString); 3], &'static [&'static str]) {
        let set = [
            ("DISPLAY", self.display.clone().into()),
            ("XAUTHORITY", self.xauthority.clone().into()),
            ("DBUS_SESSION_BUS_ADDRESS", self.bus.clone().into()),
        ];
        (set, MISLEADING)
    }
}
