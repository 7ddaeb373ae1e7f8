//! Linux inside Windows (WSL) without a display of its own: the windows and pictures of the Windows desktop around it,
//! by PowerShell.
//!
//! ```text
//!   Wsl ── ask: constant scripts, run by powershell.exe to their end, within a time and a size
//!     └── decode: what they printed, held to limits and made into windows, monitors and pictures
//! ```
//!
//! PowerShell is asked for what can be seen and nothing else: no element, no input, no event. With a display (WSLg, or an
//! X server on the Windows side) the X11 adapter is used instead, which sees the Linux programs.

mod ask;
mod decode;

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

use crate::clock::{Cancel, Deadline, lock};
use crate::error::Result;
use crate::machine::{Machine, RealMachine};
use crate::model::{Monitor, Point, Reached, Rect, Window, WindowChange};
use crate::platform::unsupported::{NoAccessibility, NoApps, NoClipboard, NoEvents, NoInput, refuse};
use crate::platform::{
    Activation, Capabilities, Capture, Coordinates, Desktop, Facts, Health, Menu, Platform, Shot,
    platform_parts,
};
use decode::WslLook;

/// PowerShell needs about a second to start, and one tool asks for windows, their order and the monitors: they are
/// answered from one look.
const LOOK_SERVES_FOR: Duration = Duration::from_secs(1);

const POWERSHELL: &str = "powershell.exe";
/// Where it is when Windows' own PATH is not appended to that of Linux.
const USUAL_PLACE: &str = "/mnt/c/Windows/System32/WindowsPowerShell/v1.0/powershell.exe";

const LACKING: [&str; 5] = [
    "windows and screenshots of the Windows desktop come from PowerShell, which takes a second or two each time",
    "there are no elements: read a window with get_ocr, or set DISPLAY for the trees of Linux programs",
    "no input is sent: run this program on Windows itself to operate its windows",
    "windows cannot be raised, moved, resized or closed",
    "there are no change events: waits poll",
];

/// Whether the kernel says that it is the one that Microsoft builds. `proc` is where the kernel tells of itself.
pub fn is_here(proc: &Path) -> bool {
    ["sys/kernel/osrelease", "version"].iter().any(|file| {
        let said = std::fs::read_to_string(proc.join(file)).unwrap_or_default();
        said.to_ascii_lowercase().contains("microsoft")
    })
}

/// The desktop around us, or why it cannot be reached.
pub fn connect() -> Result<Wsl, String> {
    find_powershell(&RealMachine).map(Wsl::new)
}

pub fn probe() -> Result<String, String> {
    let found = find_powershell(&RealMachine)?;
    Ok(format!("the Windows desktop around WSL, windows and screenshots only, through {}", found.display()))
}

fn find_powershell(machine: &dyn Machine) -> Result<PathBuf, String> {
    let usual = || Some(PathBuf::from(USUAL_PLACE)).filter(|path| machine.exists(path));
    machine.find_program(POWERSHELL).or_else(usual).ok_or_else(|| {
        format!(
            "there is no display, and {POWERSHELL} is neither on PATH nor at {USUAL_PLACE}; allow WSL to start Windows \
             programs ([interop] in /etc/wsl.conf), set DISPLAY, or start the server with --mock for the mock desktop"
        )
    })
}

pub struct Wsl {
    powershell: PathBuf,
    seen: Mutex<Option<(Deadline, WslLook)>>,
    accessibility: NoAccessibility,
    input: NoInput,
    clipboard: NoClipboard,
    apps: NoApps,
}

impl Wsl {
    fn new(powershell: PathBuf) -> Self {
        let no_elements = "elements cannot be read; get_screenshot and get_ocr work";
        Self {
            powershell,
            seen: Mutex::default(),
            accessibility: NoAccessibility { reason: unsupported(no_elements) },
            input: NoInput { reason: unsupported("no input is sent") },
            clipboard: NoClipboard {
                no_read: unsupported("the Windows clipboard cannot be read"),
                no_write: unsupported("the Windows clipboard cannot be written"),
            },
            apps: NoApps {
                no_list: unsupported("Windows programs cannot be listed"),
                no_launch: unsupported("programs cannot be started"),
            },
        }
    }

    fn look(&self) -> Result<WslLook> {
        let mut seen = lock(&self.seen);
        if let Some((serves_until, look)) = &*seen
            && !serves_until.is_over()
        {
            return Ok(look.clone());
        }
        let look = decode::look(&ask::ask_windows(&self.powershell)?)?;
        *seen = Some((Deadline::after(LOOK_SERVES_FOR), look.clone()));
        Ok(look)
    }
}

fn unsupported(why: &str) -> String {
    format!("{why}: this is WSL without a display, where PowerShell gives windows and screenshots only")
}

impl Platform for Wsl {
    fn facts(&self) -> Facts {
        Facts {
            adapter: "WslAdapter",
            is_mock: false,
            unavailable: None,
            coordinates: Coordinates::Screen,
            limitations: LACKING.map(str::to_owned).to_vec(),
            supports: Capabilities {
                occlusion_detection: true,
                redaction: true,
                wsl_powershell: true,
                ..Capabilities::default()
            },
        }
    }

    /// Found out by looking: a PowerShell that does not answer shows no desktop.
    fn health(&self) -> Health {
        Health { desktop: self.look().err().map(|error| error.message), ..Health::default() }
    }

    platform_parts! { self,
        desktop: self,
        accessibility: &self.accessibility,
        input: &self.input,
        capture: self,
        clipboard: &self.clipboard,
        apps: &self.apps,
        watch: &NoEvents,
    }
}

impl Desktop for Wsl {
    fn windows(&self) -> Result<Vec<Window>> {
        Ok(self.look()?.windows)
    }

    /// Windows counts its windows from the front to the back.
    fn stacking(&self) -> Result<Option<Vec<String>>> {
        Ok(Some(self.look()?.windows.into_iter().map(|window| window.uid).collect()))
    }

    fn menu_at(&self, _: Point) -> Result<Option<Menu>> {
        Ok(None)
    }

    fn monitors(&self) -> Result<Vec<Monitor>> {
        Ok(self.look()?.monitors)
    }

    fn screen(&self) -> Result<Option<Rect>> {
        Ok(self.look()?.screen)
    }

    fn pointer(&self) -> Result<Option<Point>> {
        Ok(None)
    }

    fn owner(&self, _: &Window) -> Result<Option<String>> {
        Ok(None)
    }

    fn activate(&self, _: &Window) -> Result<Activation> {
        Ok(Activation::Refused("WSL without a display cannot raise Windows windows".to_owned()))
    }

    fn change(&self, _: &Window, _: &WindowChange, _: Duration, _: &Cancel) -> Result<Reached> {
        refuse(&unsupported("windows cannot be changed"))
    }
}

impl Capture for Wsl {
    /// The window's own drawing, also of a window that others cover.
    fn window_picture(&self, window: &Window) -> Result<Shot> {
        let handle = decode::handle_of(&window.uid)?;
        decode::shot(&ask::window_picture(&self.powershell, handle)?, Some(&window.uid))
    }

    fn screen_picture(&self) -> Result<Shot> {
        decode::shot(&ask::screen_picture(&self.powershell)?, None)
    }

    fn region_picture(&self, area: Rect) -> Result<Shot> {
        self.screen_picture().map(|whole| whole.part(area))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(osrelease: Option<&str>, version: Option<&str>, expected: bool) {
        let proc = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(proc.path().join("sys/kernel")).unwrap();
        for (file, text) in [("sys/kernel/osrelease", osrelease), ("version", version)] {
            if let Some(text) = text {
                std::fs::write(proc.path().join(file), text).unwrap();
            }
        }
        assert_eq!(is_here(proc.path()), expected, "{osrelease:?} {version:?}");
    }

    #[test]
    fn the_kernel_of_microsoft_is_known_by_what_it_says() {
        check(Some("5.15.153.1-microsoft-standard-WSL2\n"), None, true);
        check(Some("4.4.0-19041-Microsoft\n"), None, true);
        check(None, Some("Linux version 4.4.0-19041-Microsoft (Microsoft@Microsoft.com)\n"), true);
        check(
            Some("6.1.0-21-amd64\n"),
            Some("Linux version 6.1.0-21-amd64 (debian-kernel@debian.org)\n"),
            false,
        );
        check(None, None, false);
    }
}
