//! The Linux desktop under Wayland without an X server: windows and elements by AT-SPI, keys and pointer by enigo, the
//! picture of the screen by the protocol of wlroots.
//!
//! ```text
//!   Wayland ── accessibility: windows, trees, elements that are asked themselves
//!     ├── input: keyboard, and the pointer at points of the screen
//!     └── screen: outputs and the picture of all of them
//! ```
//!
//! Wayland does not tell a program where another program's window is. So all bounds are relative to their
//! window, the pointer cannot go to an element, and whatever needs more is refused with a reason.

mod input;
pub mod screen;

use std::ffi::OsString;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::Duration;

use super::accessibility::{AtspiClient, AtspiWindow, CONNECT_TIME, Detail, WindowFacts};
use super::adapter::EVENTS_TRUSTED_FOR;
use super::apps::LinuxApps;
use super::desktop;
use super::desktop::process_name;
use super::interaction::AtspiElements;
use crate::clock::{Bell, Cancel, Clock};
use crate::error::{Error, Result};
use crate::model::input::Handle;
use crate::model::{Monitor, Point, Reached, Rect, Tree, Window, WindowChange};
use crate::platform::ancestors::{Ancestor, ancestors};
use crate::platform::interaction::{READ_BACK_TIME, poll_until};
use crate::platform::session_env::SessionEnv;
use crate::platform::unsupported::{NoClipboard, refuse};
use crate::platform::{
    Accessibility, Activation, BellWatch, Capabilities, Capture, Coordinates, Desktop, Facts, FieldText,
    Health, Menu, Patience, Platform, Shot, platform_parts,
};
use input::{Powers, WaylandInput};
use screen::{Screen, WaylandOutput};

const UID: &str = "atspi:";

pub struct Wayland {
    clock: Clock,
    accessible: AtspiClient,
    hands: WaylandInput,
    powers: Powers,
    clipboard: NoClipboard,
    apps: LinuxApps,
    watch: BellWatch,
    /// Why the compositor tells nothing of its screen, where it does not; it is not asked again then.
    no_screen: Option<Error>,
    /// What does not work, a sentence each.
    limitations: Vec<String>,
}

/// How the desktop is reached, or why it is not.
pub fn probe(env: &SessionEnv) -> Result<String, String> {
    reach_compositor(env)?;
    let limits =
        [WaylandInput::default().probe_powers().missing_powers(), lacking_of(&screen::query_outputs())]
            .concat();
    let limits =
        if limits.is_empty() { "keys, pointer and screenshots work".to_owned() } else { limits.join("; ") };
    Ok(format!("Wayland without X11; {limits}"))
}

/// Fails with a sentence where nobody listens.
fn reach_compositor(env: &SessionEnv) -> Result<(), String> {
    let part = |value: &Option<OsString>| value.clone().map(PathBuf::from).unwrap_or_default();
    let path = part(&env.runtime_dir).join(part(&env.wayland_display));
    UnixStream::connect(&path).map(|_| ()).map_err(|problem| {
        format!(
            "no Wayland compositor answers at {} ({problem}); WAYLAND_DISPLAY and XDG_RUNTIME_DIR must be those of a running \
             session, or start the server with --mock for the mock desktop",
            path.display()
        )
    })
}

const ALWAYS_LACKING: [&str; 5] = [
    "bounds are relative to their window: Wayland does not report where windows are",
    "screenshots show the whole screen; there are none of a single window, and so no OCR of one",
    "elements are clicked by their own action; the pointer can only go to points of the screen",
    "two servers on this desktop do not detect each other: let only one act at a time",
    "windows cannot be raised, moved or resized; the desktop's own keys may do it (press_key)",
];

fn lacking_of(screen: &Result<Screen>) -> Vec<String> {
    match screen {
        Ok(Screen { pictures: true, .. }) => Vec::new(),
        Ok(_) => {
            vec!["no screenshots: the compositor does not offer the wlroots screencopy protocol".to_owned()]
        }
        Err(error) => vec![error.message.clone()],
    }
}

impl Wayland {
    /// Fails with a sentence when the compositor cannot be reached.
    pub fn connect(clock: Clock, env: &SessionEnv) -> Result<Self, String> {
        reach_compositor(env)?;
        let bell = Bell::default();
        let accessible =
            AtspiClient::start(clock.clone(), bell.clone(), CONNECT_TIME).map_err(|error| error.message)?;
        let hands = WaylandInput::default();
        // Early: a seat without a keyboard of its own gives no window the focus until there is one.
        let powers = hands.probe_powers();
        let screen = screen::query_outputs();
        let always = ALWAYS_LACKING.map(str::to_owned).to_vec();
        let limitations = [always, powers.missing_powers(), lacking_of(&screen)].concat();
        let watch = BellWatch::new(clock.clone(), bell, EVENTS_TRUSTED_FOR, || true);
        let (clipboard, apps) = (NoClipboard::new(NO_CLIPBOARD), LinuxApps::new(env.clone()));
        Ok(Self {
            clock,
            accessible,
            hands,
            powers,
            clipboard,
            apps,
            watch,
            no_screen: screen.err(),
            limitations,
        })
    }

    fn outputs(&self) -> Result<Vec<WaylandOutput>> {
        match &self.no_screen {
            Some(error) => Err(error.clone()),
            None => Ok(screen::query_outputs()?.outputs),
        }
    }

    fn find(&self, uid: &str) -> Result<Window> {
        let windows = self.windows()?;
        windows.into_iter().find(|window| window.uid == uid).ok_or_else(|| desktop::gone(uid))
    }
}

fn window(listed: AtspiWindow) -> Window {
    let process = process_name(listed.pid).unwrap_or_default();
    Window {
        uid: format!("{UID}{}", listed.native),
        handle: listed.native,
        // GTK3 and Qt leave the name of many windows empty.
        title: if listed.title.is_empty() { process.clone() } else { listed.title },
        process,
        pid: listed.pid,
        bounds: Rect { x: 0, y: 0, ..listed.extents },
        focused: listed.active,
        minimized: listed.minimized,
        url: None,
    }
}

/// The root of a window on the bus.
fn root_of(uid: &str) -> Result<Handle> {
    let native = uid.strip_prefix(UID).ok_or_else(|| desktop::gone(uid))?;
    Ok(Handle { window_uid: uid.to_owned(), native: native.to_owned() })
}

impl Platform for Wayland {
    fn facts(&self) -> Facts {
        Facts {
            adapter: "WaylandAdapter",
            is_mock: false,
            unavailable: None,
            coordinates: Coordinates::Window,
            limitations: self.limitations.clone(),
            supports: Capabilities {
                accessibility_tree: true,
                drag: self.powers.pointer && self.no_screen.is_none(),
                redaction: true,
                element_targeting: true,
                observe_with_diff: true,
                ..Capabilities::default()
            },
        }
    }

    fn health(&self) -> Health {
        Health { accessibility: self.accessible.bus_problem(), ..Health::default() }
    }

    platform_parts! { self,
        desktop: self,
        accessibility: self,
        input: self,
        capture: self,
        clipboard: &self.clipboard,
        apps: &self.apps,
        watch: &self.watch,
    }
}

const NO_CLIPBOARD: &str = "this build cannot access the clipboard of a Wayland session; select and press \
                            ctrl+c or ctrl+v in the application itself (press_key)";

impl Desktop for Wayland {
    fn windows(&self) -> Result<Vec<Window>> {
        Ok(self.accessible.windows()?.into_iter().map(window).collect())
    }

    fn stacking(&self) -> Result<Option<Vec<String>>> {
        Ok(None)
    }

    fn menu_at(&self, _: Point) -> Result<Option<Menu>> {
        Ok(None)
    }

    fn hosts(&self) -> Vec<Ancestor> {
        ancestors()
    }

    fn monitors(&self) -> Result<Vec<Monitor>> {
        Ok(self.outputs()?.iter().enumerate().map(|(index, output)| output.monitor(index == 0)).collect())
    }

    fn screen(&self) -> Result<Option<Rect>> {
        Ok(self.outputs().ok().and_then(|outputs| Some(screen::only_output(&outputs).ok()?.physical)))
    }

    /// Only the window under the pointer is told where it is.
    fn pointer(&self) -> Result<Option<Point>> {
        Ok(None)
    }

    fn owner(&self, _: &Window) -> Result<Option<String>> {
        Ok(None)
    }

    fn activate(&self, window: &Window) -> Result<Activation> {
        let cancel = Cancel::new();
        self.accessible.grab_focus(&root_of(&window.uid)?, &cancel)?;
        let came = poll_until(&self.clock, &cancel, READ_BACK_TIME, || Ok(self.find(&window.uid)?.focused))?;
        if came {
            return Ok(Activation::Activated);
        }
        let why = "Wayland does not let a program raise another program's window, and the application did \
                   not do it when asked; try the desktop's own keys, for example press_key alt+tab";
        Ok(Activation::Refused(why.to_owned()))
    }

    fn change(&self, _: &Window, _: &WindowChange, _: Duration, _: &Cancel) -> Result<Reached> {
        refuse(
            "Wayland does not let a program move, resize, minimize or close another program's window; use \
             the buttons in the window's tree or the desktop's own keys, for example press_key alt+f4",
        )
    }
}

impl Accessibility for Wayland {
    fn tree(&self, window: &Window, patience: &Patience) -> Result<Tree> {
        self.read_tree(window, Detail::Everything, patience)
    }

    fn focus_tree(&self, window: &Window, patience: &Patience) -> Result<Tree> {
        let tree = self.read_tree(window, Detail::Focus, patience)?;
        if tree.focused().is_some() { Ok(tree) } else { self.tree(window, patience) }
    }

    fn field(&self, element: &Handle, cancel: &Cancel) -> Result<Option<FieldText>> {
        let elements = AtspiElements { accessible: &self.accessible, cancel };
        elements.state_with_text(element).map(|state| Some(state.into()))
    }
}

impl Wayland {
    fn read_tree(&self, window: &Window, detail: Detail, patience: &Patience) -> Result<Tree> {
        let mine = self.windows()?.into_iter().filter(|other| other.pid == window.pid).count();
        let sought = WindowFacts {
            pid: window.pid,
            title: window.title.clone(),
            client: window.bounds,
            focused: window.focused,
            alone: mine <= 1,
            native: Some(root_of(&window.uid)?.native),
            ..WindowFacts::default()
        };
        self.accessible.tree(sought, window.bounds, detail, patience)
    }
}

impl Capture for Wayland {
    fn window_picture(&self, _: &Window) -> Result<Shot> {
        refuse(
            "Wayland gives no screenshot of a single window, and does not report where it is on the screen; \
             capture the whole screen (get_screenshot without a window) or read the window's tree",
        )
    }

    fn screen_picture(&self) -> Result<Shot> {
        self.outputs()?;
        let picture = screen::capture_screen()?;
        Ok(Shot { area: picture.area(), picture })
    }

    fn region_picture(&self, area: Rect) -> Result<Shot> {
        self.screen_picture().map(|whole| whole.part(area))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Kind;

    fn listed(title: &str) -> AtspiWindow {
        AtspiWindow {
            native: ":1.7/org/a11y/atspi/accessible/3".to_owned(),
            title: title.to_owned(),
            pid: std::process::id(),
            extents: Rect::new(26, 23, 300, 200),
            active: true,
            minimized: false,
        }
    }

    #[test]
    fn a_window_has_a_size_and_no_place() {
        let window = window(listed("Notes"));
        assert_eq!((window.bounds, window.focused), (Rect::new(0, 0, 300, 200), true));
        assert_eq!(root_of(&window.uid).unwrap().native, listed("").native);
    }

    #[test]
    fn a_window_without_a_name_has_that_of_its_process() {
        let window = window(listed(""));
        assert!(!window.title.is_empty());
        assert_eq!(window.title, window.process);
    }

    #[test]
    fn what_the_screen_lacks_is_told() {
        let check = |screen: Result<Screen>, expected: Option<&str>| {
            let lacking = lacking_of(&screen).pop();
            assert_eq!(
                lacking.as_deref().map(|it| &it[..expected.map_or(0, str::len)]),
                expected,
                "{screen:?}"
            );
        };
        check(Ok(Screen { outputs: Vec::new(), pictures: true }), None);
        check(Ok(Screen { outputs: Vec::new(), pictures: false }), Some("no screenshots"));
        check(refuse("no protocol"), Some("no protocol"));
    }

    #[test]
    fn a_foreign_uid_is_no_window() {
        assert_eq!(root_of("x11:4a").unwrap_err().kind, Kind::WindowGone);
    }
}
