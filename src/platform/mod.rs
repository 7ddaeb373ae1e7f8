//! The only rooms that know an operating system: what each owes, and which one is here.
//!
//! A [`Platform`] lends its parts: [`Desktop`], [`Accessibility`], [`Input`], [`Capture`], [`Clipboard`], [`Apps`],
//! [`Watch`] and, if it is a browser, [`Pages`]. Methods have no default: a new platform answers every question. A part
//! that a system cannot have is one of [`unsupported`], which refuses with a reason. An adapter waits only for what it asked for itself ([`poll`]).

pub mod ancestors;
mod bell_watch;
mod beside;
pub mod browser;
pub mod interaction;
#[cfg(target_os = "linux")]
pub mod linux;
#[cfg(not(target_os = "linux"))]
mod linux_only;
pub mod macos;
pub mod mock;
pub mod no_desktop;
pub mod normalize;
#[cfg(not(any(target_os = "linux", target_os = "macos", target_os = "windows")))]
mod other_host;
mod pages;
pub mod poll;
mod press_guard;
pub mod roles;
pub mod session_env;
pub mod survey;
pub mod tesseract;
pub mod unsupported;
pub mod window_change;
pub mod windows;

use std::ops::Range;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use serde::Serialize;

// Every system has a module `host` with the same functions.
#[cfg(target_os = "linux")]
use self::linux::host;
#[cfg(target_os = "macos")]
use self::macos::host;
#[cfg(not(any(target_os = "linux", target_os = "macos", target_os = "windows")))]
use self::other_host as host;
#[cfg(target_os = "windows")]
use self::windows::host;

pub use bell_watch::BellWatch;
/// Runs a command for the server that started this process, and tells what it answered.
pub use host::keep_command;
/// Has the allocator keep little of what was freed. Called before there is a second thread.
pub use host::keep_few_heaps;
/// Holds a private desktop for the server that started this process.
pub use host::keep_private_desktop;
/// What macOS has permitted this program to do; `None` on other systems.
pub use host::mac_permissions;
/// The system's own recognition; `None` where it has none, an error where it has one that does not work.
pub use host::recognizer;
/// Starts the isolated programs of a private desktop for its keeper.
pub use host::start_isolated_programs;
/// A look at the running desktop for the doctor.
pub use host::survey_desktop;
use host::{connect, is_by_powershell, private_desktop, probe, run_command};
pub use pages::Pages;
pub use press_guard::{PressGuard, PressKind, Unguarded};

use crate::clock::{Cancel, Clock};
use crate::config::{Loaded, PlatformChoice};
use crate::error::{Error, Kind, Result};
use crate::model::app::{App, AppNames, Clip, Ended, Launch, Program, ProgramEnd, Run, similar_apps};
use crate::model::image::Picture;
use crate::model::input::{Act, Delivery, Handle};
use crate::model::{Monitor, Point, Reached, Rect, Tree, Window, WindowChange};

/// A desktop as the parts that it is worked by.
pub trait Platform: Send + Sync {
    fn facts(&self) -> Facts;

    /// How it is at this moment, found out by asking; that may take a second.
    fn health(&self) -> Health;

    /// The stage behind a mock desktop; a real one has none.
    fn stage(&self) -> Option<&dyn Stage> {
        None
    }

    fn desktop(&self) -> &dyn Desktop;

    fn accessibility(&self) -> &dyn Accessibility;

    fn input(&self) -> &dyn Input;

    fn capture(&self) -> &dyn Capture;

    fn clipboard(&self) -> &dyn Clipboard;

    fn apps(&self) -> &dyn Apps;

    fn watch(&self) -> &dyn Watch;

    /// Only a browser has pages.
    fn pages(&self) -> &dyn Pages {
        &unsupported::NO_PAGES
    }
}

/// Where the parts of a platform are, in its `impl`: `platform_parts! { self, desktop: self, apps: &self.apps, … }`.
macro_rules! platform_parts {
    ($me:ident, $($part:ident: $place:expr),+ $(,)?) => {
        $($crate::platform::platform_parts!(@$part $me $place);)+
    };
    (@desktop $me:ident $place:expr) => { $crate::platform::platform_parts!(@fn desktop Desktop $me $place); };
    (@accessibility $me:ident $place:expr) => {
        $crate::platform::platform_parts!(@fn accessibility Accessibility $me $place);
    };
    (@input $me:ident $place:expr) => { $crate::platform::platform_parts!(@fn input Input $me $place); };
    (@capture $me:ident $place:expr) => { $crate::platform::platform_parts!(@fn capture Capture $me $place); };
    (@clipboard $me:ident $place:expr) => {
        $crate::platform::platform_parts!(@fn clipboard Clipboard $me $place);
    };
    (@apps $me:ident $place:expr) => { $crate::platform::platform_parts!(@fn apps Apps $me $place); };
    (@watch $me:ident $place:expr) => { $crate::platform::platform_parts!(@fn watch Watch $me $place); };
    (@pages $me:ident $place:expr) => { $crate::platform::platform_parts!(@fn pages Pages $me $place); };
    (@fn $part:ident $kind:ident $me:ident $place:expr) => {
        fn $part(&$me) -> &dyn $crate::platform::$kind {
            $place
        }
    };
}
pub(crate) use platform_parts;

/// What is wrong at this moment with a desktop that works otherwise, a sentence each.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Health {
    /// Why there is nothing to work with.
    pub desktop: Option<String>,
    /// Why no element can be read or asked.
    pub accessibility: Option<String>,
    /// Who acts on it, so that this process may not.
    pub taken: Option<String>,
}

/// The windows and the screen that they are on.
pub trait Desktop: Send + Sync {
    /// All windows in the order of their index.
    fn windows(&self) -> Result<Vec<Window>>;

    /// Uids from the front to the back, or `None` where the order cannot be known.
    fn stacking(&self) -> Result<Option<Vec<String>>>;

    /// What lies over all listed windows at a point and is none of them. Where a desktop has no such things or
    /// cannot tell, there is none.
    fn menu_at(&self, point: Point) -> Result<Option<Menu>>;

    fn monitors(&self) -> Result<Vec<Monitor>>;

    /// The rectangle that pointers can reach, or `None` where it cannot be known.
    fn screen(&self) -> Result<Option<Rect>>;

    /// Whether a window only says that its program is being started, where the desktop tells that.
    fn is_splash(&self, _window: &Window) -> Result<bool> {
        Ok(false)
    }

    /// What a window and its program are called beside `Window::process`, where the system tells.
    fn app_names(&self, _window: &Window) -> Result<AppNames> {
        Ok(AppNames::default())
    }

    /// Where the menus and lists of a window are, also outside of it.
    fn popup_areas(&self, _window: &Window) -> Result<Vec<Rect>> {
        Ok(Vec::new())
    }

    /// The processes of this desktop that this one was started by, the nearest first.
    fn hosts(&self) -> Vec<ancestors::Ancestor> {
        Vec::new()
    }

    /// Where the pointer is, or `None` where the system does not tell.
    fn pointer(&self) -> Result<Option<Point>>;

    /// The uid of the window that this one is a dialog of, where the system tells.
    fn owner(&self, window: &Window) -> Result<Option<String>>;

    /// Brings a window to the front by the system's own way.
    fn activate(&self, window: &Window) -> Result<Activation>;

    /// Changes a window as a whole, waits at most so long for it, and tells what came of it.
    fn change(
        &self,
        window: &Window,
        change: &WindowChange,
        at_most: Duration,
        cancel: &Cancel,
    ) -> Result<Reached>;
}

/// A menu, a drop-down list or a tooltip.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Menu {
    pub bounds: Rect,
    /// The window in whose tree it is, where that is known.
    pub window_uid: Option<String>,
}

/// What is in windows.
pub trait Accessibility: Send + Sync {
    /// The window's elements as they are now. A part that could not be read marks the tree incomplete.
    fn tree(&self, window: &Window, patience: &Patience) -> Result<Tree>;

    /// Which element has the focus now, for whoever needs no more: all the rest may be that of an earlier look.
    fn focus_tree(&self, window: &Window, patience: &Patience) -> Result<Tree> {
        self.tree(window, patience)
    }

    /// What one field holds now, where that can be asked without reading its window.
    fn field(&self, element: &Handle, cancel: &Cancel) -> Result<Option<FieldText>>;

    /// Where these characters of an element's text stand on the screen, all of them; nothing where that is not known, or
    /// where its text is another one now.
    fn text_places(
        &self,
        _element: &Handle,
        _text: &str,
        _characters: &[Range<usize>],
        _cancel: &Cancel,
    ) -> Result<Option<Vec<Rect>>> {
        Ok(None)
    }

    /// What a pointer meets at a point of a window, as the application itself finds it, in a tree that was read of it.
    /// Nothing where that cannot be asked: then the places of the tree decide.
    fn nodes_at(
        &self,
        _window: &Window,
        _tree: &Tree,
        _at: Point,
        _cancel: &Cancel,
    ) -> Result<Option<PointedNodes>> {
        Ok(None)
    }
}

/// What an application finds under a pointer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PointedNodes {
    /// The innermost that the tree has: one, or several where it is not known which of them.
    pub nodes: Vec<usize>,
    /// It may be something that the tree does not have.
    pub is_unread: bool,
    /// What stands in the part of the page that is met, where the tree has only its text.
    pub text: Option<String>,
}

/// What a field that can be written in says of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldText {
    pub focused: bool,
    /// What it holds; nothing where it does not tell, and for a secret.
    pub text: Option<String>,
    pub characters: Option<usize>,
}

/// Pointer, keys and requests to elements.
pub trait Input: Send + Sync {
    /// Sends an input. The guard is asked before each press of the pointer.
    fn act(&self, act: &Act, delivery: Delivery, guard: &dyn PressGuard, cancel: &Cancel) -> Result<Done>;

    /// Refuses what the element of an act cannot do, as `act` would, and does nothing.
    fn check(&self, act: &Act, cancel: &Cancel) -> Result<()>;

    /// Waits until the application of a window has done what it was sent, for about so long. Whether it rests now, as far
    /// as that can be known: then what it told of it has been heard.
    fn await_rest(&self, _window: &Window, _at_most: Duration, _cancel: &Cancel) -> Result<bool> {
        Ok(false)
    }

    /// Takes the desktop for the time of a call, so that no other process of ours acts on it, or says which one does.
    fn claim(&self, claimant: &Claimant) -> Result<()>;

    /// The call is over. The desktop stays taken for as long as the claimant keeps it.
    fn give_back(&self, claimant: &Claimant);

    /// Lets go of every key and button this process holds down.
    fn release_all(&self);

    /// From now on no pointer leaves the region. The observer asks before each act; what an adapter does on the way
    /// to it, such as opening a list and clicking in it, only the adapter can hold to it.
    fn confine(&self, region: Rect);
}

/// Screenshots.
pub trait Capture: Send + Sync {
    /// Whether the picture of a window has its own pixels alone, also where others cover it.
    fn shows_own_pixels(&self) -> bool {
        false
    }

    fn window_picture(&self, window: &Window) -> Result<Shot>;

    fn screen_picture(&self) -> Result<Shot>;

    /// What the screen shows in an area of it, whichever windows that is; the part that is off the screen
    /// is left out.
    fn region_picture(&self, area: Rect) -> Result<Shot>;
}

/// The text that programs hand each other.
pub trait Clipboard: Send + Sync {
    fn read(&self, cancel: &Cancel) -> Result<Clip>;

    fn write(&self, text: &str) -> Result<()>;
}

/// The programs of the session.
pub trait Apps: Send + Sync {
    /// What a person could start from a menu, at most `limits::APPS`, ordered by name.
    fn installed(&self) -> Result<Vec<App>>;

    /// The program that a name, an app's id or a path stands for; an error tells what is near.
    fn program(&self, name: &str) -> Result<Program>;

    /// The ids of apps that a name which is none of theirs may mean, the likeliest first.
    fn similar_apps(&self, name: &str) -> Result<Vec<String>> {
        Ok(similar_apps(&self.installed()?, name))
    }

    /// Starts a program that goes on by itself, and tells its process id.
    fn launch(&self, launch: &Launch) -> Result<u32>;

    /// Whether a process that was launched has not ended yet.
    fn is_running(&self, pid: u32) -> bool;

    /// How a process that was launched has ended, where that is known.
    fn program_end(&self, _pid: u32) -> Option<ProgramEnd> {
        None
    }

    /// Runs a command and ends everything that it started, when it has ended, at the latest after its time, and
    /// when the call is cancelled.
    fn run(&self, run: &Run, cancel: &Cancel) -> Result<Ended>;

    /// A line on where programs that are launched save their files, where that is not the person's home.
    fn where_files_go(&self) -> Option<String> {
        None
    }

    /// Whether programs that are launched reach no network.
    fn is_without_network(&self) -> bool {
        false
    }

    /// Where commands start when nobody says where; `None`: where the server is.
    fn command_folder(&self) -> Option<std::path::PathBuf> {
        None
    }
}

/// Being told that something changed, so that a wait sleeps instead of looking again and again.
///
/// The order that loses nothing: read `generation`, look, then `wait_change` with what was read. A change
/// during the look makes the wait return at once.
///
/// An adapter with events keeps a [`crate::clock::Bell`], rings it from the thread that listens, and may
/// gather a burst of events into one ring; [`BellWatch`] is then the whole part.
pub trait Watch: Send + Sync {
    /// Grows with every change that this platform noticed; also when nobody waits.
    fn generation(&self) -> Result<u64>;

    /// Returns when the generation is no longer `seen`, or after `at_most`, or earlier when the platform
    /// does not trust its events; fails when cancelled.
    fn wait_change(&self, seen: u64, at_most: Duration, cancel: &Cancel) -> Result<Wake>;
}

/// Who wants to act, and how long nobody else may after it did.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Claimant {
    /// The program that started this server, as it calls itself.
    pub client: Option<String>,
    pub keeps_for: Duration,
}

/// Why a wait for a change returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wake {
    Changed,
    Elapsed,
    /// Nobody tells this platform about changes; it did not wait. Look again after a while.
    NoEvents,
}

/// A picture and the part of the screen that it shows, pixel for pixel.
#[derive(Clone, Debug)]
pub struct Shot {
    pub picture: Picture,
    pub area: Rect,
}

impl Shot {
    /// What it shows of an area of the screen; nothing where that lies outside.
    pub fn part(&self, area: Rect) -> Shot {
        let area = area.intersection(&self.area).unwrap_or_default();
        let (x, y) = (area.x.saturating_sub(self.area.x), area.y.saturating_sub(self.area.y));
        Shot { picture: self.picture.crop(Rect { x, y, ..area }), area }
    }
}

/// A scripted world: only the mock has one.
pub trait Stage {
    fn load(&self, scenario: crate::scenario::Scenario) -> OnStage;

    /// What the scenario that is played calls success and failure; `None` when none is.
    fn oracles(&self) -> Option<crate::scenario::Oracles>;
}

#[derive(Clone, Debug, PartialEq)]
pub struct OnStage {
    pub name: String,
    pub state: String,
    pub states: Vec<String>,
}

/// How long a look into a foreign application may take.
#[derive(Clone, Debug)]
pub struct Patience {
    pub per_call: Duration,
    pub whole: Duration,
    pub cancel: Cancel,
}

/// How a window came to the front.
#[derive(Clone, Debug, PartialEq)]
pub enum Activation {
    /// The system did it.
    Activated,
    /// The system has no such request, or refused, and says why: a click on the window may still do.
    Refused(String),
}

/// How an input was delivered. The most direct way is tried first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Route {
    /// The element itself was asked.
    Accessibility,
    /// The pointer was moved and pressed there.
    #[default]
    Pointer,
    /// Keys went to what has the focus.
    Keyboard,
}

/// What became of an input.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Done {
    pub route: Route,
    pub note: Option<String>,
    /// What should come of it was read back, and is so.
    pub verified: bool,
    /// A reaction of the scenario answered it.
    pub reacted: bool,
    /// How long it may take until what came of it can be seen; nothing where everything happened at once.
    pub settles_in: Duration,
    /// The application rests, so that what it told is not waited for.
    pub rests: bool,
    /// What should come of it may come long after the application rests, such as that something is switched on.
    pub comes_late: bool,
}

/// What is said of a uid that leads to no window.
pub fn gone(uid: &str) -> Error {
    Error::new(Kind::WindowGone, format!("no window has the uid '{uid}'; it may have closed"))
        .with("window_uid", uid)
}

/// Where the pointer may go; everywhere unless it is set.
#[derive(Debug, Default)]
pub struct AllowedRegion(OnceLock<Rect>);

impl AllowedRegion {
    /// The first region counts.
    pub fn set(&self, region: Rect) {
        self.0.get_or_init(|| region);
    }

    pub fn check(&self, points: &[Point]) -> Result<()> {
        let region = self.0.get();
        region.map_or(Ok(()), |region| points.iter().try_for_each(|point| check_within(*region, *point)))
    }
}

/// Refuses a point outside of the region that input is confined to.
pub fn check_within(region: Rect, point: Point) -> Result<()> {
    if region.contains(point) {
        return Ok(());
    }
    Err(outside(region, &format!("the point {},{} is outside of it", point.x, point.y)))
}

pub fn outside(region: Rect, what: &str) -> Error {
    let Rect { x, y, width, height } = region;
    let message =
        format!("input is confined to {x},{y} with {width}x{height} pixels (input.allowed_region): {what}");
    Error::new(Kind::PermissionDenied, message).with("allowed_region", region)
}

/// A picture in levels of grey: rows from top to bottom without padding.
#[derive(Clone, Copy, Debug)]
pub struct Grey<'a> {
    pub levels: &'a [u8],
    pub width: u32,
    pub height: u32,
}

/// Text recognition that the operating system has itself.
pub trait Recognizer: Send + Sync {
    /// What it is, for people.
    fn describe(&self) -> String;

    /// The words in reading order, with boxes in pixels of the picture.
    fn words(&self, page: Grey<'_>, waiting: &crate::clock::Waiting) -> Result<Vec<crate::model::Word>>;
}

/// What a platform is and can do. Exhaustive, so that a new ability asks every platform a question.
#[derive(Clone, Debug)]
pub struct Facts {
    pub adapter: &'static str,
    pub is_mock: bool,
    /// Why there is no desktop to work with, when there is none.
    pub unavailable: Option<String>,
    pub coordinates: Coordinates,
    /// What a caller should know that does not work here, a sentence each.
    pub limitations: Vec<String>,
    pub supports: Capabilities,
}

/// What the bounds of windows and elements count from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coordinates {
    /// The corner of the screen, where the pointer counts from too.
    Screen,
    /// The corner of the window: where that is on the screen is not known.
    Window,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Capabilities {
    pub accessibility_tree: bool,
    pub uia_invoke: bool,
    pub occlusion_detection: bool,
    pub drag: bool,
    pub ocr: bool,
    pub vlm: bool,
    pub redaction: bool,
    pub scenarios: bool,
    pub tracing: bool,
    pub replay: bool,
    pub image_blur: bool,
    pub wsl_powershell: bool,
    pub bring_to_foreground: bool,
    pub element_targeting: bool,
    pub observe_with_diff: bool,
}

/// Whether this build can work a Linux session without an X server.
pub const WAYLAND_COMPILED_IN: bool = cfg!(all(target_os = "linux", feature = "wayland"));

/// The name that the contract gives this operating system.
pub const fn os_name() -> &'static str {
    if cfg!(target_os = "windows") {
        "Windows"
    } else if cfg!(target_os = "macos") {
        "Darwin"
    } else {
        "Linux"
    }
}

/// The desktop that the configuration asks for. A scenario that cannot be played is an error, a desktop
/// that is not there is not: the server starts and says so.
pub fn choose(loaded: &Loaded, clock: &Clock) -> Result<Chosen, String> {
    if let Some(start) = &loaded.browser {
        let desktop = (loaded.sandbox.is_some() || start.with_desktop).then(|| choose_own(loaded, clock));
        let browser = browser::start_browser(start, &loaded.config.browser, clock);
        return Ok(match desktop {
            Some(desktop) => beside::put_beside(desktop, browser),
            None => browser,
        });
    }
    if !loaded.config.wants_mock() {
        return Ok(choose_own(loaded, clock));
    }
    let mock = mock::Mock::new(clock.clone());
    if let Some(path) = &loaded.scenario {
        mock.load(crate::scenario::load_file(path).map_err(|problem| problem.to_string())?);
    }
    let mock: Arc<dyn Platform> = Arc::new(mock);
    Ok(mock.into())
}

/// A private desktop, or that of the person.
fn choose_own(loaded: &Loaded, clock: &Clock) -> Chosen {
    match &loaded.sandbox {
        Some(command) => private_desktop(&loaded.config.sandbox, command, clock),
        None => connect(clock, &loaded.config.platform).unwrap_or_else(absent_because).into(),
    }
}

/// A desktop, and what has to outlive everything that works on it; dropping that ends a private desktop.
pub struct Chosen {
    pub platform: Arc<dyn Platform>,
    pub ends_with_us: Option<Box<dyn std::any::Any + Send>>,
    /// How a person sees it, where it is on no screen.
    pub seen_by: Option<String>,
}

impl From<Arc<dyn Platform>> for Chosen {
    fn from(platform: Arc<dyn Platform>) -> Self {
        Self { platform, ends_with_us: None, seen_by: None }
    }
}

fn browser_absent_because(reason: String) -> Arc<dyn Platform> {
    Arc::new(no_desktop::Absent::without_browser(reason))
}

fn absent_because(reason: String) -> Arc<dyn Platform> {
    Arc::new(no_desktop::Absent::new(reason))
}

/// What this build knows of the real desktop of this machine.
pub fn real_desktop(wished: &PlatformChoice) -> survey::PlatformFacts {
    let found = probe(wished);
    let available = found.is_ok();
    let reason = found.unwrap_or_else(|reason| reason);
    survey::PlatformFacts {
        name: os_name().to_owned(),
        available,
        reason,
        by_powershell: is_by_powershell(wished),
    }
}
