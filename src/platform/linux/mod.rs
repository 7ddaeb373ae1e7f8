//! The Linux desktop: windows, pictures and input by X11, what is in windows by AT-SPI.
//!
//! ```text
//!   Linux ── x11, line: the connection, given up when it is mute and made again when it is lost
//!     ├── desktop, popups: windows, their order, what is under a point
//!     ├── capture, memory: pictures
//!     ├── accessibility, trees: what is in a window
//!     ├── interaction, pointer_target: the backend of inputs, by the element itself or by pointer and keyboard
//!     ├── lease: which process may act, and what it may be holding down
//!     ├── input, keyboard, remap, settle: pointer and keys
//!     ├── clipboard: the texts that programs hand each other
//!     ├── apps, launch, exec: which programs there are, starting one, running a command to its end
//!     └── watch: a thread that rings the bell when windows change
//! ```
//!
//! Where there is Wayland and no X server, the cargo feature `wayland` has a platform of its own (`wayland`); inside
//! Windows without a display there is `wsl`.

pub mod accessibility;
mod apps;
mod capture;
mod clipboard;
mod desktop;
pub mod exec;
mod heap;
mod input;
pub(super) mod interaction;
mod keyboard;
mod launch;
mod lease;
mod line;
mod memory;
mod pointer_target;
mod popups;
mod remap;
pub mod sandbox;
pub mod session;
mod settle;
pub mod survey;
mod trees;
mod watch;
#[cfg(feature = "wayland")]
mod wayland;
mod wsl;
mod x11;
mod xwayland;

use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

pub use crate::platform::interaction::{Drag, TypedText};
pub use desktop::{Extents, Frame};
pub use heap::keep_few as keep_few_heaps;
pub use popups::{Popup, Under};

use super::{
    Activation, Capabilities, Capture, Coordinates, Desktop, Facts, Health, Menu, Platform, Shot, Stage,
    Surroundings, Wake, Watch, check_within,
};
use crate::clock::{Bell, Cancel, Clock};
use crate::config::PlatformChoice;
use crate::error::Result;
use crate::model::program::{App, Clip, Ended, Launch, Program, Run};
use crate::model::{Button, KeyCombo, Monitor, Point, Reached, Rect, Window, WindowChange};
use accessibility::Accessible;
use clipboard::Clipboard;
use input::Hands;
use launch::Launcher;
use watch::Watcher;
use x11::Link;

/// A wait looks again after this time, whether or not anybody told of a change.
const EVENTS_TRUSTED_FOR: Duration = Duration::from_secs(2);

pub struct Linux {
    clock: Clock,
    bell: Bell,
    link: Link,
    accessible: Accessible,
    hands: Hands,
    watcher: Watcher,
    clipboard: Clipboard,
    launcher: Launcher,
    /// Where the pointer may go; everywhere unless it is set.
    region: OnceLock<Rect>,
}

/// The desktop that a sandbox holds; this process has entered it.
pub fn connect_private(clock: Clock, sandbox: &Arc<sandbox::Sandbox>) -> Result<Arc<dyn Platform>, String> {
    Ok(Arc::new(Linux::connect(clock)?.launching_in(Arc::downgrade(sandbox))))
}

/// How a session is worked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    X11,
    #[cfg(feature = "wayland")]
    Wayland,
    /// Inside Windows, by its PowerShell.
    PowerShell,
}

/// What is known of a session before anybody is asked.
#[derive(Clone, Copy, Debug)]
struct Signs {
    display: bool,
    wayland: bool,
    wsl: bool,
}

impl Signs {
    fn here() -> Self {
        Self {
            display: variable("DISPLAY").is_some(),
            wayland: variable("WAYLAND_DISPLAY").is_some(),
            wsl: wsl::is_here(Path::new("/proc")),
        }
    }

    /// A person who writes `WSL` means the desktop of Windows, also where WSL has a display or is not noticed; `Linux`
    /// never means it.
    fn way(self, wished: &PlatformChoice) -> Way {
        let bare = !self.display && !self.wayland;
        match wished.0.as_str() {
            "WSL" => return Way::PowerShell,
            "auto" if bare && self.wsl => return Way::PowerShell,
            _ => {}
        }
        #[cfg(feature = "wayland")]
        if self.wayland && !self.display {
            return Way::Wayland;
        }
        Way::X11
    }
}

/// The desktop of this session: by X11 where there is an X server, by Wayland where there is none.
pub fn connect(clock: Clock, wished: &PlatformChoice) -> Result<Arc<dyn Platform>, String> {
    Ok(match Signs::here().way(wished) {
        Way::PowerShell => Arc::new(wsl::connect()?),
        #[cfg(feature = "wayland")]
        Way::Wayland => Arc::new(wayland::Wayland::connect(clock)?),
        Way::X11 => Arc::new(Linux::connect(clock)?),
    })
}

/// How the desktop of this session is reached, or why it is not.
pub fn probe(wished: &PlatformChoice) -> Result<String, String> {
    match Signs::here().way(wished) {
        Way::PowerShell => wsl::probe(),
        #[cfg(feature = "wayland")]
        Way::Wayland => wayland::probe(),
        Way::X11 => probe_x11(),
    }
}

/// Whether the desktop is that of Windows around us, which needs no display here.
pub fn is_by_powershell(wished: &PlatformChoice) -> bool {
    Signs::here().way(wished) == Way::PowerShell
}

fn probe_x11() -> Result<String, String> {
    let display = display()?;
    let server = x11::Server::connect(Some(&display))?;
    let manager = desktop::look(&server).map_err(|trouble| trouble.to_string())?.managed;
    let manager = if manager { "a window manager" } else { "no window manager" };
    let kind = if server.extensions.xwayland { "X11 (Xwayland)" } else { "X11" };
    Ok(format!("{kind}, display {display} with {manager}"))
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// The display of this session, or why there is none.
fn display() -> Result<String, String> {
    variable("DISPLAY").ok_or_else(|| no_display(variable("WAYLAND_DISPLAY").is_some()))
}

fn no_display(wayland: bool) -> String {
    let why = if wayland {
        "this is a Wayland session without an X server (DISPLAY is not set), and this build reaches windows, \
         pictures and input by X11 only; build it with the cargo feature `wayland` (start.sh does, and names the \
         packages), start Xwayland"
    } else {
        "DISPLAY is not set, so there is no desktop to work with; set it"
    };
    format!("{why}, or start the server with --mock for the mock desktop")
}

impl Linux {
    /// Fails with a sentence when there is no display.
    pub fn connect(clock: Clock) -> Result<Self, String> {
        let link = Link::connect(Some(&display()?))?;
        if let Err(error) = link.with(lease::clean_up) {
            tracing::warn!("keys that an earlier server held may still be down: {error}");
        }
        let bell = Bell::default();
        let accessible = Accessible::start(bell.clone()).map_err(|error| error.message)?;
        let watcher = Watcher::start(link.display(), bell.clone())
            .map_err(|problem| format!("no thread for window events could be started: {problem}"))?;
        let clipboard = Clipboard::new(link.display());
        let (hands, launcher) = (Hands::default(), Launcher::default());
        let region = OnceLock::new();
        Ok(Self { clock, bell, link, accessible, hands, watcher, clipboard, launcher, region })
    }

    /// Programs are started by whoever keeps the private desktop, so that they end with it.
    pub fn launching_in(self, sandbox: std::sync::Weak<sandbox::Sandbox>) -> Self {
        Self { launcher: Launcher::within(sandbox), ..self }
    }

    /// What is rung when something on this desktop changed; whoever hears of changes rings it.
    pub fn bell(&self) -> &Bell {
        &self.bell
    }

    fn check_region(&self, points: &[Point]) -> Result<()> {
        let region = self.region.get();
        region.map_or(Ok(()), |region| points.iter().try_for_each(|point| check_within(*region, *point)))
    }

    pub fn click(&self, at: Point, button: Button, count: u32) -> Result<()> {
        self.check_region(&[at])?;
        self.hands.click(&self.link, at, button, count)
    }

    pub fn move_to(&self, at: Point) -> Result<()> {
        self.check_region(&[at])?;
        self.hands.move_to(&self.link, at)
    }

    /// Positive clicks show what is further up; without a point the pointer stays where it is.
    pub fn scroll(&self, at: Option<Point>, clicks: i32) -> Result<()> {
        self.check_region(at.as_slice())?;
        self.hands.scroll(&self.link, at, clicks)
    }

    pub fn drag(&self, drag: &Drag<'_>, cancel: &Cancel) -> Result<()> {
        self.check_region(&[drag.from, drag.to])?;
        self.hands.drag(&self.link, &self.clock, drag, cancel)
    }

    pub fn press_keys(&self, combo: &KeyCombo) -> Result<()> {
        self.hands.keys(&self.link, combo)
    }

    /// Types into what has the keyboard.
    pub fn type_text(&self, text: &str, cancel: &Cancel) -> Result<TypedText> {
        self.hands.text(&self.link, text, cancel)
    }

    /// Lets go of every key and button that this process holds down.
    pub fn let_go(&self) {
        self.hands.release_all(&self.link);
    }

    /// Where a window's own pixels are, which is what the coordinates of an application start from.
    pub fn frame(&self, uid: &str) -> Result<Frame> {
        self.link.with_errors(|server| desktop::frame(server, uid))
    }

    fn is_xwayland(&self) -> Result<bool> {
        self.link.with(|server| Ok(server.extensions.xwayland))
    }

    /// The menus, lists and tooltips that show, from the back to the front.
    pub fn popups(&self) -> Result<Vec<Popup>> {
        self.link.with(popups::all)
    }

    /// The frontmost window or popup under a point of the screen.
    pub fn under(&self, point: Point) -> Result<Under> {
        self.link.with(|server| popups::under(server, point))
    }
}

impl Platform for Linux {
    fn facts(&self) -> Facts {
        Facts {
            adapter: "LinuxAdapter",
            is_mock: false,
            unavailable: None,
            coordinates: Coordinates::Screen,
            limitations: Vec::new(),
            supports: Capabilities {
                accessibility_tree: true,
                occlusion_detection: true,
                drag: true,
                redaction: true,
                bring_to_foreground: true,
                element_targeting: true,
                observe_with_diff: true,
                ..Capabilities::default()
            },
        }
    }

    fn stage(&self) -> Option<&dyn Stage> {
        None
    }

    fn surroundings(&self) -> &dyn Surroundings {
        self
    }

    fn health(&self) -> Health {
        match self.link.with(lease::held_by_another) {
            Ok(taken) => Health { desktop: None, accessibility: self.accessible.illness(), taken },
            Err(error) => Health { desktop: Some(error.message), ..Health::default() },
        }
    }
}

impl Surroundings for Linux {
    fn pointer(&self) -> Result<Option<Point>> {
        self.link.with(desktop::pointer).map(Some)
    }

    fn clipboard(&self, cancel: &Cancel) -> Result<Clip> {
        self.clipboard.get(cancel)
    }

    fn set_clipboard(&self, text: &str) -> Result<()> {
        self.clipboard.set(text)
    }

    fn installed(&self) -> Result<Vec<App>> {
        Ok(apps::installed())
    }

    fn program(&self, name: &str) -> Result<Program> {
        apps::find(name)
    }

    fn launch(&self, launch: &Launch) -> Result<u32> {
        self.launcher.launch(launch)
    }

    fn is_running(&self, pid: u32) -> bool {
        launch::is_running(pid)
    }

    fn run(&self, run: &Run, cancel: &Cancel) -> Result<Ended> {
        exec::run(run, cancel)
    }

    fn confine(&self, region: Rect) {
        self.region.get_or_init(|| region);
    }
}

impl Desktop for Linux {
    fn windows(&self) -> Result<Vec<Window>> {
        self.link.with(desktop::windows)
    }

    fn stacking(&self) -> Result<Option<Vec<String>>> {
        self.link.with(desktop::stacking).map(Some)
    }

    fn menu_at(&self, point: Point) -> Result<Option<Menu>> {
        let Under::Popup(popup) = self.under(point)? else {
            return Ok(None);
        };
        let window_uid = popup.owner(&self.windows()?).map(str::to_owned);
        Ok(Some(Menu { bounds: popup.bounds, window_uid }))
    }

    fn monitors(&self) -> Result<Vec<Monitor>> {
        self.link.with(desktop::monitors)
    }

    fn screen(&self) -> Result<Option<Rect>> {
        self.link.with(desktop::screen).map(Some)
    }

    fn activate(&self, window: &Window) -> Result<Activation> {
        self.link.with_errors(|server| desktop::activate(server, &window.uid))
    }

    fn change(
        &self,
        window: &Window,
        change: &WindowChange,
        at_most: Duration,
        cancel: &Cancel,
    ) -> Result<Reached> {
        let mut heard = self.bell.rings();
        let pause = |time| {
            self.clock.sleep_unless_rung(&self.bell, heard, time, cancel)?;
            heard = self.bell.rings();
            Ok(())
        };
        self.link.with_errors(|server| desktop::change(server, &window.uid, change, at_most, pause))
    }
}

impl Capture for Linux {
    fn window_picture(&self, window: &Window) -> Result<Shot> {
        self.link.with_errors(|server| capture::window_picture(server, &window.uid))
    }

    fn screen_picture(&self) -> Result<Shot> {
        if self.is_xwayland()? {
            return xwayland::screen_picture();
        }
        self.link.with_errors(capture::screen_picture)
    }

    fn region_picture(&self, area: Rect) -> Result<Shot> {
        if self.is_xwayland()? {
            return xwayland::screen_picture().map(|whole| whole.part(area));
        }
        self.link.with_errors(|server| capture::region_picture(server, area))
    }
}

impl Watch for Linux {
    fn generation(&self) -> Result<u64> {
        Ok(self.bell.rings())
    }

    fn wait_change(&self, seen: u64, at_most: Duration, cancel: &Cancel) -> Result<Wake> {
        if !self.watcher.is_listening() {
            cancel.check()?;
            return Ok(Wake::NoEvents);
        }
        wait_for_ring(&self.clock, &self.bell, seen, at_most, cancel)
    }
}

/// Not everything is told: a page that scrolls sends no event, and some toolkits forget some.
fn wait_for_ring(clock: &Clock, bell: &Bell, seen: u64, at_most: Duration, cancel: &Cancel) -> Result<Wake> {
    let rung = clock.sleep_unless_rung(bell, seen, at_most.min(EVENTS_TRUSTED_FOR), cancel)?;
    Ok(if rung { Wake::Changed } else { Wake::Elapsed })
}

#[cfg(test)]
mod tests {
    use super::{PlatformChoice, Signs, Way, no_display};

    fn check_way(wished: &str, display: bool, wayland: bool, wsl: bool, expected: Way) {
        let way = Signs { display, wayland, wsl }.way(&PlatformChoice(wished.to_owned()));
        assert_eq!(way, expected, "{wished} display {display} wayland {wayland} wsl {wsl}");
    }

    #[test]
    fn the_desktop_of_windows_is_taken_where_wsl_has_no_display_or_by_name() {
        check_way("auto", false, false, true, Way::PowerShell);
        check_way("auto", true, false, true, Way::X11);
        check_way("auto", true, true, true, Way::X11);
        check_way("auto", false, false, false, Way::X11);
        check_way("Linux", false, false, true, Way::X11);
        check_way("WSL", true, false, false, Way::PowerShell);
    }

    #[cfg(feature = "wayland")]
    #[test]
    fn wayland_is_taken_where_there_is_no_x_server() {
        check_way("auto", false, true, true, Way::Wayland);
        check_way("Linux", false, true, false, Way::Wayland);
        check_way("auto", true, true, false, Way::X11);
    }

    #[test]
    fn a_session_that_cannot_be_worked_is_told_what_helps() {
        let wayland = no_display(true);
        for word in ["cargo feature `wayland`", "start.sh", "Xwayland", "--mock"] {
            assert!(wayland.contains(word), "{wayland}");
        }
        let nothing = no_display(false);
        assert!(nothing.contains("DISPLAY is not set") && !nothing.contains("Wayland"), "{nothing}");
    }
}
