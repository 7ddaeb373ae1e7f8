//! The Linux desktop under Wayland: windows, input and screenshots by the compositor, elements by AT-SPI.
//!
//! ```text
//!   Wayland ── services: which part of the compositor serves what
//!     ├── window_list: windows and their roots on the bus     sway, toplevels: who lists them
//!     ├── hands: keys and pointer     virtual_devices, keymap: devices of wlroots     enigo_devices
//!     ├── screencopy, outputs: pictures of the screen and its layout
//!     ├── link: a connection to the compositor
//!     └── backend: the inputs
//! ```
//!
//! Wayland itself does not tell a program where another program's window is. Where the compositor tells it by a way of its
//! own, all places are those of the screen. Where it does not, bounds are relative to their window, the pointer cannot go to
//! an element, and what needs more is refused with a reason.

mod backend;
#[cfg(feature = "wayland")]
mod enigo_devices;
mod hands;
mod keymap;
mod link;
mod outputs;
mod screencopy;
mod services;
mod sway;
mod toplevels;
mod virtual_devices;
mod window_list;

use std::time::Duration;

use super::accessibility::{AtspiClient, AtspiWindow, CONNECT_TIME, Detail, WindowFacts};
use super::adapter::EVENTS_TRUSTED_FOR;
use super::apps::LinuxApps;
use super::desktop;
use super::desktop::process_name;
use super::interaction::AtspiElements;
use crate::clock::{Bell, Cancel, Clock};
use crate::error::{Error, Result};
use crate::model::app::AppNames;
use crate::model::input::Handle;
use crate::model::window::WindowState;
use crate::model::{Monitor, Point, Reached, Rect, Tree, Window, WindowChange};
use crate::platform::ancestors::{Ancestor, ancestors};
use crate::platform::interaction::poll_until;
use crate::platform::session_env::SessionEnv;
use crate::platform::unsupported::{NoClipboard, refuse};
use crate::platform::window_change::{
    ChangeWait, ChangingWindow, ObservedWindow, Reasons, change_window, wanted_bounds,
};
use crate::platform::{
    Accessibility, Activation, AllowedRegion, BellWatch, Capabilities, Capture, Coordinates, Desktop, Facts,
    FieldText, Health, Menu, Patience, Platform, Shot, platform_parts,
};
use link::Link;
use outputs::layout_of;
use services::CompositorServices;
pub use services::screen_beside_x11;
use window_list::{CompositorWindow, WindowSource, match_roots};

/// In front of the root of a window that only the accessibility bus knows.
const ON_BUS: &str = "atspi";
/// How long a window may take to come to the front.
const ACTIVATION_TIME: Duration = Duration::from_secs(1);
const LOOK_AGAIN: Duration = Duration::from_millis(40);
/// The farthest place that is asked for.
const PLACES: i32 = 20_000;

pub struct Wayland {
    clock: Clock,
    bell: Bell,
    accessible: AtspiClient,
    services: CompositorServices,
    region: AllowedRegion,
    clipboard: NoClipboard,
    apps: LinuxApps,
    watch: BellWatch,
    /// What does not work, a sentence each.
    limitations: Vec<String>,
}

/// How the desktop is reached, or why it is not.
pub fn probe(env: &SessionEnv) -> Result<String, String> {
    let services = CompositorServices::find(&Clock::real(), env).map_err(|error| error.message)?;
    Ok(format!("Wayland: {}", services.summary()))
}

const ALWAYS_LACKING: [&str; 2] = [
    "two servers on this desktop do not detect each other: let only one act at a time",
    "the clipboard and the place of the pointer cannot be read",
];
const LACKING_PLACES: [&str; 3] = [
    "bounds are relative to their window: the compositor does not report where windows are",
    "screenshots show the whole screen; there are none of a single window, and so no OCR of one",
    "elements are clicked by their own action; the pointer can only go to points of the screen",
];
const LACKING_CHANGES: &str =
    "windows cannot be raised, moved or resized; the desktop's own keys may do it (press_key)";
const LACKING_OWN_PIXELS: &str = "a screenshot of a window shows what covers it; menus have no place, and are operated by \
                                  their own actions";

fn limitations_of(services: &CompositorServices) -> Vec<String> {
    let mut lacking = ALWAYS_LACKING.map(str::to_owned).to_vec();
    if services.knows_places() {
        lacking.push(LACKING_OWN_PIXELS.to_owned());
    } else {
        lacking.extend(LACKING_PLACES.map(str::to_owned));
    }
    lacking.extend(services.windows.is_none().then(|| LACKING_CHANGES.to_owned()));
    lacking.extend(services.missing());
    lacking
}

/// A window, and what is known of it on both sides.
#[derive(Clone, Debug)]
struct KnownWindow {
    window: Window,
    listed: Option<CompositorWindow>,
    root: Option<AtspiWindow>,
}

impl KnownWindow {
    fn state(&self) -> WindowState {
        WindowState {
            bounds: self.window.bounds,
            focused: self.window.focused,
            minimized: self.window.minimized,
            maximized: self.listed.as_ref().is_some_and(|listed| listed.maximized),
        }
    }
}

impl Wayland {
    /// Fails with a sentence when the compositor cannot be reached.
    pub fn connect(clock: Clock, env: &SessionEnv) -> Result<Self, String> {
        let services = CompositorServices::find(&clock, env).map_err(|error| error.message)?;
        let bell = Bell::default();
        let accessible =
            AtspiClient::start(clock.clone(), bell.clone(), CONNECT_TIME).map_err(|error| error.message)?;
        // Early: a seat without a keyboard of its own gives no window the focus until there is one.
        if let Err(error) = services.hands.take_up() {
            tracing::info!("{error}");
        }
        let limitations = limitations_of(&services);
        let watch = BellWatch::new(clock.clone(), bell.clone(), EVENTS_TRUSTED_FOR, || true);
        let (clipboard, apps) = (NoClipboard::new(NO_CLIPBOARD), LinuxApps::new(env.clone()));
        let region = AllowedRegion::default();
        Ok(Self { clock, bell, accessible, services, region, clipboard, apps, watch, limitations })
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            accessibility_tree: true,
            occlusion_detection: self.services.knows_places(),
            drag: self.services.powers.pointer && self.services.has_outputs,
            redaction: true,
            bring_to_foreground: self.services.windows.is_some(),
            element_targeting: true,
            observe_with_diff: true,
            ..Capabilities::default()
        }
    }

    /// All windows, as the compositor and the accessibility bus know them.
    fn known(&self) -> Result<Vec<KnownWindow>> {
        let Some(list) = &self.services.windows else {
            return Ok(self.accessible.windows()?.into_iter().map(on_bus).collect());
        };
        let listed = list.windows()?;
        // Without a bus there are windows without elements.
        let roots = self.accessible.windows().unwrap_or_default();
        let found = match_roots(&listed, &roots, process_name);
        // What the compositor does not list is not on its screen yet, unless it is a window that was not recognized.
        let may_be_unrecognized = !list.knows_places() && found.contains(&None);
        let is_left = |place: &usize| may_be_unrecognized && !found.contains(&Some(*place));
        let left: Vec<AtspiWindow> =
            (0..roots.len()).filter(is_left).filter_map(|place| roots.get(place).cloned()).collect();
        let both = listed.into_iter().zip(&found).map(|(listed, place)| {
            let root = place.and_then(|place| roots.get(place)).cloned();
            of_compositor(list.as_ref(), listed, root)
        });
        Ok(both.chain(left.into_iter().map(on_bus)).collect())
    }

    fn find(&self, uid: &str) -> Result<KnownWindow> {
        let mut windows = self.known()?.into_iter();
        windows.find(|known| known.window.uid == uid).ok_or_else(|| desktop::gone(uid))
    }

    /// The list of windows and the window in it, where the compositor can change it.
    fn changeable<'a>(
        &'a self,
        known: &'a KnownWindow,
    ) -> Option<(&'a dyn WindowSource, &'a CompositorWindow)> {
        Some((self.services.windows.as_deref()?, known.listed.as_ref()?))
    }

    fn layout(&self) -> Result<Rect> {
        let none = || Error::new(crate::error::Kind::PlatformUnsupported, "the compositor has no output now");
        layout_of(&self.services.outputs()?).ok_or_else(none)
    }

    /// Waits until the program with the keyboard has done what it was sent.
    fn settle(&self, cancel: &Cancel) -> Result<()> {
        let focused = self.known()?.into_iter().find(|known| known.window.focused);
        match focused.and_then(|known| known.root) {
            Some(root) => self.accessible.round_trip(root.pid, cancel),
            None => Ok(()),
        }
    }
}

fn on_bus(root: AtspiWindow) -> KnownWindow {
    let process = process_name(root.pid).unwrap_or_default();
    let window = Window {
        uid: format!("{ON_BUS}:{}", root.native),
        handle: root.native.clone(),
        // GTK3 and Qt leave the name of many windows empty.
        title: if root.title.is_empty() { process.clone() } else { root.title.clone() },
        process,
        pid: root.pid,
        bounds: Rect { x: 0, y: 0, ..root.extents },
        focused: root.active,
        minimized: root.minimized,
        url: None,
    };
    KnownWindow { window, listed: None, root: Some(root) }
}

fn of_compositor(
    list: &dyn WindowSource,
    listed: CompositorWindow,
    root: Option<AtspiWindow>,
) -> KnownWindow {
    let pid = listed.pid.or(root.as_ref().map(|root| root.pid)).unwrap_or(0);
    let process = process_name(pid).unwrap_or_else(|| listed.app_id.clone());
    let told = |root: &AtspiWindow| Rect { x: 0, y: 0, ..root.extents };
    let window = Window {
        uid: format!("{}:{}", list.name(), listed.id),
        handle: listed.id.clone(),
        title: if listed.title.is_empty() { process.clone() } else { listed.title.clone() },
        process,
        pid,
        bounds: listed.bounds.or(root.as_ref().map(told)).unwrap_or_default(),
        focused: listed.focused,
        minimized: listed.hidden,
        url: None,
    };
    KnownWindow { window, listed: Some(listed), root }
}

impl Platform for Wayland {
    fn facts(&self) -> Facts {
        Facts {
            adapter: "WaylandAdapter",
            is_mock: false,
            unavailable: None,
            coordinates: if self.services.knows_places() { Coordinates::Screen } else { Coordinates::Window },
            limitations: self.limitations.clone(),
            supports: self.capabilities(),
        }
    }

    fn health(&self) -> Health {
        let reached = Link::open(&self.clock, &self.services.socket);
        Health {
            desktop: reached.err().map(|error| error.message),
            accessibility: self.accessible.bus_problem(),
            ..Health::default()
        }
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

const NO_WINDOW_CHANGE: &str = "this compositor does not let a program move, resize, minimize or close another \
                                program's window; use the buttons in the window's tree or the desktop's own keys, \
                                for example press_key alt+f4";

const NO_CLIPBOARD: &str = "this build cannot access the clipboard of a Wayland session; select and press \
                            ctrl+c or ctrl+v in the application itself (press_key)";

impl Desktop for Wayland {
    fn windows(&self) -> Result<Vec<Window>> {
        Ok(self.known()?.into_iter().map(|known| known.window).collect())
    }

    fn stacking(&self) -> Result<Option<Vec<String>>> {
        if !self.services.knows_places() {
            return Ok(None);
        }
        let mut known = self.known()?;
        known.sort_by_key(|known| std::cmp::Reverse(known.listed.as_ref().map_or(0, |listed| listed.stack)));
        Ok(Some(known.into_iter().map(|known| known.window.uid).collect()))
    }

    fn menu_at(&self, _: Point) -> Result<Option<Menu>> {
        Ok(None)
    }

    fn app_names(&self, window: &Window) -> Result<AppNames> {
        let app_id = self.find(&window.uid)?.listed.map(|listed| listed.app_id).filter(|id| !id.is_empty());
        Ok(AppNames { executable: None, desktop_id: app_id.clone(), classes: app_id.into_iter().collect() })
    }

    fn hosts(&self) -> Vec<Ancestor> {
        ancestors()
    }

    fn monitors(&self) -> Result<Vec<Monitor>> {
        let outputs = self.services.outputs()?;
        Ok(outputs.iter().enumerate().map(|(index, output)| output.monitor(index == 0)).collect())
    }

    fn screen(&self) -> Result<Option<Rect>> {
        Ok(self.layout().ok())
    }

    /// Only the window under the pointer is told where it is.
    fn pointer(&self) -> Result<Option<Point>> {
        Ok(None)
    }

    fn owner(&self, _: &Window) -> Result<Option<String>> {
        Ok(None)
    }

    fn activate(&self, window: &Window) -> Result<Activation> {
        let (cancel, known) = (Cancel::new(), self.find(&window.uid)?);
        match self.changeable(&known) {
            Some((list, listed)) => list.activate(&listed.id)?,
            None => {
                self.accessible.grab_focus(&root_of(&known)?, &cancel)?;
            }
        }
        let came =
            poll_until(&self.clock, &cancel, ACTIVATION_TIME, || Ok(self.find(&window.uid)?.window.focused))?;
        if came {
            return Ok(Activation::Activated);
        }
        let why = "the compositor did not give the window the keyboard when asked; try the desktop's own keys, for \
                   example press_key alt+tab";
        Ok(Activation::Refused(why.to_owned()))
    }

    fn change(
        &self,
        window: &Window,
        change: &WindowChange,
        at_most: Duration,
        cancel: &Cancel,
    ) -> Result<Reached> {
        let known = self.find(&window.uid)?;
        let Some((list, listed)) = self.changeable(&known) else {
            return refuse(NO_WINDOW_CHANGE);
        };
        let wait = ChangeWait::new(&self.clock, cancel, LOOK_AGAIN, at_most).hearing(&self.bell);
        let wanted = wanted_bounds(known.window.bounds, change, PLACES);
        let known_before = self.known()?.into_iter().map(|known| known.window.uid).collect();
        let changing = ChangingToplevel { wayland: self, list, listed, known: &known, known_before };
        change_window(&changing, &known.state(), wanted, change, &wait)
    }
}

/// The root of a window on the bus.
fn root_of(known: &KnownWindow) -> Result<Handle> {
    let root = known.root.as_ref().ok_or_else(|| no_root(&known.window.title))?;
    Ok(Handle { window_uid: known.window.uid.clone(), native: root.native.clone() })
}

fn no_root(title: &str) -> Error {
    let message =
        format!("the window '{title}' is not on the accessibility bus, or cannot be distinguished there");
    Error::new(crate::error::Kind::PlatformUnsupported, message)
}

/// A window that is being changed, as it was before.
struct ChangingToplevel<'a> {
    wayland: &'a Wayland,
    list: &'a dyn WindowSource,
    listed: &'a CompositorWindow,
    known: &'a KnownWindow,
    known_before: Vec<String>,
}

impl ChangingWindow for ChangingToplevel<'_> {
    type Error = Error;

    fn request_change(&self, change: &WindowChange) -> Result<Option<String>> {
        self.list.request(self.listed, change)
    }

    fn window_state(&self) -> Result<Option<ObservedWindow>> {
        let listed = self.list.windows()?;
        let Some(now) = listed.iter().find(|window| window.id == self.listed.id) else { return Ok(None) };
        let shown = listed.iter().filter(|window| !window.hidden);
        let is_front = if self.list.knows_places() {
            now.focused || shown.map(|window| window.stack).max() == Some(now.stack)
        } else {
            now.focused
        };
        let known = of_compositor(self.list, now.clone(), self.known.root.clone());
        Ok(Some(ObservedWindow { state: known.state(), is_front }))
    }

    fn asks_back(&self) -> Result<bool> {
        let now = self.wayland.known()?;
        let mut own = now.iter().filter(|known| known.window.pid == self.known.window.pid);
        Ok(own.any(|known| !self.known_before.contains(&known.window.uid)))
    }

    fn reasons(&self) -> &Reasons {
        &REASONS
    }
}

const REASONS: Reasons = Reasons {
    raise: "another window is kept above it",
    show: "the compositor did not do it",
    maximize: "the compositor did not do it",
    place: "the compositor or the application allows only what is reported",
};

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
        let known = self.known()?;
        let mine = known.iter().filter(|other| other.window.pid == window.pid).count();
        let root =
            known.into_iter().find(|known| known.window.uid == window.uid).and_then(|known| known.root);
        let sought = WindowFacts {
            pid: root.as_ref().map_or(window.pid, |root| root.pid),
            title: window.title.clone(),
            client: window.bounds,
            focused: window.focused,
            alone: mine <= 1,
            // A window that cannot be distinguished has no root, rather than that of another one.
            native: Some(root.map(|root| root.native).unwrap_or_default()),
            ..WindowFacts::default()
        };
        self.accessible.tree(sought, window.bounds, detail, patience)
    }
}

impl Capture for Wayland {
    fn window_picture(&self, window: &Window) -> Result<Shot> {
        if !self.services.knows_places() {
            return refuse(
                "this compositor gives no screenshot of a single window, and does not report where it is on the screen; \
                 capture the whole screen (get_screenshot without a window) or read the window's tree",
            );
        }
        if window.minimized {
            return refuse(
                "the window does not show: it is minimized, or on another workspace or tab; bring it to the front first",
            );
        }
        self.region_picture(window.bounds)
    }

    fn screen_picture(&self) -> Result<Shot> {
        self.region_picture(self.layout()?)
    }

    fn region_picture(&self, area: Rect) -> Result<Shot> {
        match &self.services.pictures {
            Some(pictures) => pictures.region_picture(area),
            None => refuse(
                "this compositor gives no screenshots: it does not offer the wlroots protocol screencopy; read the \
                 windows' trees instead",
            ),
        }
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
    fn a_window_of_the_bus_has_a_size_and_no_place() {
        let known = on_bus(listed("Notes"));
        assert_eq!((known.window.bounds, known.window.focused), (Rect::new(0, 0, 300, 200), true));
        assert_eq!(root_of(&known).unwrap().native, listed("").native);
    }

    #[test]
    fn a_window_without_a_name_has_that_of_its_process() {
        let window = on_bus(listed("")).window;
        assert!(!window.title.is_empty());
        assert_eq!(window.title, window.process);
    }

    #[test]
    fn a_window_that_is_not_on_the_bus_has_no_root() {
        let known = KnownWindow { root: None, ..on_bus(listed("Notes")) };
        assert_eq!(root_of(&known).unwrap_err().kind, Kind::PlatformUnsupported);
    }
}
