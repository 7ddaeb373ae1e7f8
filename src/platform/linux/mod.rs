//! The Linux desktop: windows, pictures and input by X11, what is in windows by AT-SPI.
//!
//! ```text
//!   adapter ── Linux, the platform; x11, x11_stream: the connection, given up when it is mute and made again when it is lost
//!     ├── desktop, popups: windows, their order, what is under a point
//!     ├── capture, memory: pictures
//!     ├── accessibility: what is in a window
//!     ├── interaction, pointer_target: the backend of inputs, by the element itself or by pointer and keyboard
//!     ├── lease: which process may act, and what it may be holding down
//!     ├── input, keys, layout, remap, settle: pointer and keys
//!     ├── clipboard: the texts that programs hand each other
//!     ├── apps, launch, exec: which programs there are, starting one, running a command to its end
//!     └── watch: a thread that rings the bell when windows change
//! ```
//!
//! Under Wayland there is a platform of its own (`wayland`); inside Windows without a display there is `wsl`.

pub mod accessibility;
mod adapter;
mod apps;
mod capture;
mod clipboard;
mod desktop;
pub mod exec;
mod heap;
pub mod host;
mod input;
pub(super) mod interaction;
mod keys;
mod launch;
mod layout;
mod lease;
mod memory;
mod pointer_target;
mod popups;
mod remap;
mod rest;
pub mod sandbox;
pub mod session;
mod settle;
pub mod survey;
mod watch;
mod wayland;
mod window_uid;
mod wsl;
mod x11;
mod x11_stream;
mod xwayland;

use std::path::Path;
use std::sync::Arc;

pub use crate::platform::interaction::{Drag, TypedText};
pub use adapter::Linux;
pub use desktop::{Extents, WindowFrame};
pub use popups::{PointerHit, Popup};

use super::Platform;
use super::session_env::SessionEnv;
use crate::clock::Clock;
use crate::config::PlatformChoice;

/// The desktop that a sandbox holds; this process has entered it.
pub fn connect_private(
    clock: Clock,
    sandbox: &Arc<sandbox::Sandbox>,
    isolation: Option<String>,
) -> Result<Arc<dyn Platform>, String> {
    let desktop = Linux::connect_within(clock, &SessionEnv::read(), accessibility::PRIVATE_CONNECT_TIME)?;
    Ok(Arc::new(desktop.launching_in(Arc::downgrade(sandbox)).limited_by(isolation)))
}

/// How a session is worked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SessionBackend {
    X11,
    Wayland,
    /// Inside Windows, by its PowerShell.
    PowerShell,
}

/// What is known of a session before anybody is asked.
#[derive(Clone, Copy, Debug)]
struct SessionKind {
    display: bool,
    wayland: bool,
    wsl: bool,
}

impl SessionKind {
    fn of(env: &SessionEnv) -> Self {
        Self {
            display: env.display.is_some(),
            wayland: env.wayland_display.is_some(),
            wsl: wsl::is_here(Path::new("/proc")),
        }
    }

    /// A person who writes `WSL` means the desktop of Windows, also where WSL has a display or is not noticed; `Linux`
    /// never means it.
    fn backend(self, wished: &PlatformChoice) -> SessionBackend {
        let bare = !self.display && !self.wayland;
        match wished.0.as_str() {
            "WSL" => return SessionBackend::PowerShell,
            "auto" if bare && self.wsl => return SessionBackend::PowerShell,
            _ => {}
        }
        if self.wayland && !self.display {
            return SessionBackend::Wayland;
        }
        SessionBackend::X11
    }
}

/// The desktop of this session: by X11 where there is an X server, by Wayland where there is none.
pub fn connect(clock: Clock, wished: &PlatformChoice) -> Result<Arc<dyn Platform>, String> {
    let env = SessionEnv::read();
    Ok(match SessionKind::of(&env).backend(wished) {
        SessionBackend::PowerShell => Arc::new(wsl::connect()?),
        SessionBackend::Wayland => Arc::new(wayland::Wayland::connect(clock, &env)?),
        SessionBackend::X11 => Arc::new(Linux::connect(clock, &env)?),
    })
}

/// How the desktop of this session is reached, or why it is not.
pub fn probe(wished: &PlatformChoice) -> Result<String, String> {
    let env = SessionEnv::read();
    match SessionKind::of(&env).backend(wished) {
        SessionBackend::PowerShell => wsl::probe(),
        SessionBackend::Wayland => wayland::probe(&env),
        SessionBackend::X11 => probe_x11(&env),
    }
}

/// Whether the desktop is that of Windows around us, which needs no display here.
pub fn is_by_powershell(wished: &PlatformChoice) -> bool {
    SessionKind::of(&SessionEnv::read()).backend(wished) == SessionBackend::PowerShell
}

fn probe_x11(env: &SessionEnv) -> Result<String, String> {
    let display = display(env)?;
    let server = x11::X11Server::connect(Some(&display))?;
    let manager = desktop::look_at_desktop(&server).map_err(|trouble| trouble.to_string())?.managed;
    let manager = if manager { "a window manager" } else { "no window manager" };
    let kind = if server.extensions.xwayland { "X11 (Xwayland)" } else { "X11" };
    Ok(format!("{kind}, display {display} with {manager}"))
}

/// The display of this session, or why there is none.
fn display(env: &SessionEnv) -> Result<String, String> {
    let display = env.display.clone().and_then(|display| display.into_string().ok());
    display.ok_or_else(no_display)
}

fn no_display() -> String {
    "DISPLAY is not set, so there is no desktop; set it, or start the server with --mock for the mock desktop"
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::{PlatformChoice, SessionBackend, SessionKind, no_display};

    fn check_backend(wished: &str, display: bool, wayland: bool, wsl: bool, expected: SessionBackend) {
        let backend = SessionKind { display, wayland, wsl }.backend(&PlatformChoice(wished.to_owned()));
        assert_eq!(backend, expected, "{wished} display {display} wayland {wayland} wsl {wsl}");
    }

    #[test]
    fn the_desktop_of_windows_is_taken_where_wsl_has_no_display_or_by_name() {
        check_backend("auto", false, false, true, SessionBackend::PowerShell);
        check_backend("auto", true, false, true, SessionBackend::X11);
        check_backend("auto", true, true, true, SessionBackend::X11);
        check_backend("auto", false, false, false, SessionBackend::X11);
        check_backend("Linux", false, false, true, SessionBackend::X11);
        check_backend("WSL", true, false, false, SessionBackend::PowerShell);
    }

    #[test]
    fn wayland_is_taken_where_there_is_no_x_server() {
        check_backend("auto", false, true, true, SessionBackend::Wayland);
        check_backend("Linux", false, true, false, SessionBackend::Wayland);
        check_backend("auto", true, true, false, SessionBackend::X11);
    }

    #[test]
    fn a_session_that_cannot_be_worked_is_told_what_helps() {
        let nothing = no_display();
        assert!(nothing.contains("DISPLAY is not set") && nothing.contains("--mock"), "{nothing}");
    }
}
