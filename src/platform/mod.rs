//! The only rooms that know an operating system: what each owes, and which one is here.
//!
//! Methods have no default: a new platform answers every question, if only with an honest "no".
//! Adapters try once; waiting, retrying and deadlines belong to the observer.

pub mod absent;
pub mod hands;
#[cfg(target_os = "linux")]
pub mod linux;
pub mod macos;
pub mod mock;
pub mod roles;
pub mod shaping;
pub mod tesseract;
pub mod windows;

use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;

use crate::clock::{Cancel, Clock};
use crate::config::{Loaded, PlatformChoice};
use crate::doctor::PlatformFacts;
use crate::error::{Error, Kind, Result};
use crate::model::action::Act;
use crate::model::image::Picture;
use crate::model::program::{App, Clip, Ended, Launch, Program, Run};
use crate::model::{Monitor, Point, Reached, Rect, Tree, Window, WindowChange};

/// A desktop: its windows, what is in them, hands to work them, eyes to picture them.
pub trait Platform: Desktop + Accessibility + Input + Capture + Watch + Send + Sync {
    fn facts(&self) -> Facts;

    /// The stage behind a mock desktop; a real one has none.
    fn stage(&self) -> Option<&dyn Stage>;

    fn surroundings(&self) -> &dyn Surroundings;

    /// How it is at this moment, found out by asking; that may take a second.
    fn health(&self) -> Health;
}

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

pub trait Desktop {
    /// All windows in the order of their index.
    fn windows(&self) -> Result<Vec<Window>>;

    /// Uids from the front to the back, or `None` where the order cannot be known.
    fn stacking(&self) -> Result<Option<Vec<String>>>;

    /// What lies over all listed windows at a point and is none of them. Where a desktop has no such things or
    /// cannot tell, there is none.
    fn menu_at(&self, _point: Point) -> Result<Option<Menu>> {
        Ok(None)
    }

    fn monitors(&self) -> Result<Vec<Monitor>>;

    /// The rectangle that pointers can reach, or `None` where it cannot be known.
    fn screen(&self) -> Result<Option<Rect>>;

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

/// What belongs to the session and not to a window: the pointer, the clipboard, the programs.
pub trait Surroundings {
    /// Where the pointer is, or `None` where nobody tells.
    fn pointer(&self) -> Result<Option<Point>>;

    fn clipboard(&self, cancel: &Cancel) -> Result<Clip>;

    fn set_clipboard(&self, text: &str) -> Result<()>;

    /// What a person could start from a menu, at most `limits::APPS`, ordered by name.
    fn installed(&self) -> Result<Vec<App>>;

    /// The program that a name, an app's id or a path stands for; an error tells what is near.
    fn program(&self, name: &str) -> Result<Program>;

    /// Starts a program that goes on by itself, and tells its process id.
    fn launch(&self, launch: &Launch) -> Result<u32>;

    /// Whether a process that was launched has not ended yet.
    fn is_running(&self, pid: u32) -> bool;

    /// Runs a command and ends everything that it started, when it has ended, at the latest after its time, and
    /// when the call is cancelled.
    fn run(&self, run: &Run, cancel: &Cancel) -> Result<Ended>;

    /// From now on no pointer leaves the region. The observer asks before each act; what an adapter does on the way
    /// to it, such as opening a list and clicking in it, only the adapter can hold to it.
    fn confine(&self, region: Rect);
}

pub trait Accessibility {
    /// The window's elements as they are now. A part that could not be read marks the tree incomplete.
    fn tree(&self, window: &Window, patience: &Patience) -> Result<Tree>;
}

pub trait Input {
    fn act(&self, act: &Act, cancel: &Cancel) -> Result<Done>;

    /// Takes the desktop for the time of a call, so that no other process of ours acts on it, or says which one does.
    fn claim(&self, claimant: &Claimant) -> Result<()>;

    /// The call is over. The desktop stays taken for as long as the claimant keeps it.
    fn give_back(&self, claimant: &Claimant);

    /// Lets go of every key and button this process holds down.
    fn release_all(&self);
}

pub trait Capture {
    fn window_picture(&self, window: &Window) -> Result<Shot>;

    fn screen_picture(&self) -> Result<Shot>;

    /// What the screen shows in an area of it, whichever windows that is; the part that is off the screen
    /// is left out.
    fn region_picture(&self, area: Rect) -> Result<Shot>;
}

/// Being told that something changed, so that a wait sleeps instead of looking again and again.
///
/// The order that loses nothing: read `generation`, look, then `wait_change` with what was read. A change
/// during the look makes the wait return at once.
///
/// An adapter with events keeps a [`crate::clock::Bell`], rings it from the thread that listens, and may
/// gather a burst of events into one ring; [`Clock::sleep_unless_rung`] is then the whole wait.
pub trait Watch {
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
    /// A reaction of the scenario answered it.
    pub reacted: bool,
    /// How long it may take until what came of it can be seen; nothing where everything happened at once.
    pub settles_in: Duration,
}

/// What is said of a uid that leads to no window.
pub fn gone(uid: &str) -> Error {
    Error::new(Kind::WindowGone, format!("no window has the uid '{uid}' (any more)")).with("window_uid", uid)
}

/// Refuses a point outside of the region that input is confined to.
pub fn check_within(region: Rect, point: Point) -> Result<()> {
    if region.contains(point) {
        return Ok(());
    }
    Err(outside(region, &format!("the point {},{} is not within it", point.x, point.y)))
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
    fn words(&self, page: Grey<'_>, waiting: &crate::ocr::Waiting) -> Result<Vec<crate::ocr::Word>>;
}

/// The system's own recognition; `None` where it has none, an error where it has one that does not work.
#[cfg(target_os = "windows")]
pub fn recognizer() -> Option<Result<Box<dyn Recognizer>>> {
    Some(windows::reading::Engine::start().map(|engine| Box::new(engine) as Box<dyn Recognizer>))
}

#[cfg(target_os = "macos")]
pub fn recognizer() -> Option<Result<Box<dyn Recognizer>>> {
    Some(macos::reading::Engine::start().map(|engine| Box::new(engine) as Box<dyn Recognizer>))
}

#[cfg(not(any(target_os = "windows", target_os = "macos")))]
pub fn recognizer() -> Option<Result<Box<dyn Recognizer>>> {
    None
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
    if let Some(command) = &loaded.sandbox {
        return Ok(private_desktop(loaded.config.sandbox.size, command, clock));
    }
    if !loaded.config.wants_mock() {
        return Ok(connect(clock, &loaded.config.platform).unwrap_or_else(absent).into());
    }
    let mock = mock::Mock::new(clock.clone());
    if let Some(path) = &loaded.scenario {
        mock.load(crate::scenario::load_file(path).map_err(|problem| problem.to_string())?);
    }
    let mock: Arc<dyn Platform> = Arc::new(mock);
    Ok(mock.into())
}

/// A desktop, and what has to outlive everything that works on it; dropping that ends a private desktop.
pub struct Chosen {
    pub platform: Arc<dyn Platform>,
    pub ends_with_us: Option<Box<dyn std::any::Any + Send>>,
}

impl From<Arc<dyn Platform>> for Chosen {
    fn from(platform: Arc<dyn Platform>) -> Self {
        Self { platform, ends_with_us: None }
    }
}

fn absent(reason: String) -> Arc<dyn Platform> {
    Arc::new(absent::Absent::new(reason))
}

/// One that cannot start is no reason to work on the user's own: then there is no desktop at all.
#[cfg(target_os = "linux")]
fn private_desktop(size: crate::config::Size, command: &[String], clock: &Clock) -> Chosen {
    let plan = linux::sandbox::Plan { size, command: command.to_vec() };
    match linux::sandbox::Sandbox::start(&plan) {
        Err(reason) => absent(format!("the private desktop did not start: {reason}")).into(),
        Ok(sandbox) => {
            if let Some(remark) = sandbox.remark() {
                tracing::warn!("private desktop: {remark}");
            }
            sandbox.enter();
            let sandbox = Arc::new(sandbox);
            let platform = linux::connect_private(clock.clone(), &sandbox).unwrap_or_else(absent);
            Chosen { platform, ends_with_us: Some(Box::new(sandbox)) }
        }
    }
}

#[cfg(not(target_os = "linux"))]
fn private_desktop(_: crate::config::Size, _: &[String], _: &Clock) -> Chosen {
    absent(format!("--sandbox needs Linux; this is {}", os_name())).into()
}

/// Holds a private desktop for the server that started this process.
#[cfg(target_os = "linux")]
pub use linux::sandbox::keeper::keep as keep_private_desktop;

#[cfg(not(target_os = "linux"))]
pub fn keep_private_desktop() -> Result<(), String> {
    Err("private desktops need Linux".to_owned())
}

/// Has the allocator keep little of what was freed. Called before there is a second thread.
#[cfg(target_os = "linux")]
pub use linux::keep_few_heaps;

/// Elsewhere the allocator does so by itself.
#[cfg(not(target_os = "linux"))]
pub fn keep_few_heaps() {}

/// Runs a command for the server that started this process, and tells what it answered.
#[cfg(target_os = "linux")]
pub use linux::exec::keep as keep_command;

#[cfg(not(target_os = "linux"))]
pub fn keep_command() -> Result<i32, String> {
    Err("commands need Linux".to_owned())
}

/// Commands need no desktop, so whoever has none runs them too.
#[cfg(target_os = "linux")]
use linux::exec::run as run_command;

#[cfg(not(target_os = "linux"))]
fn run_command(_: &Run, _: &Cancel) -> Result<Ended> {
    let message = "this build runs commands on Linux only: elsewhere it could not end all that they start";
    Err(Error::new(Kind::PlatformUnsupported, message))
}

/// A look at the running desktop for the doctor.
#[cfg(target_os = "linux")]
pub use linux::survey::survey;

#[cfg(not(target_os = "linux"))]
pub fn survey() -> Option<crate::doctor::Survey> {
    None
}

/// What macOS has permitted this program to do; `None` on other systems.
#[cfg(target_os = "macos")]
pub fn mac_permissions() -> Option<crate::doctor::MacPermissions> {
    Some(macos::permissions::granted())
}

#[cfg(not(target_os = "macos"))]
pub fn mac_permissions() -> Option<crate::doctor::MacPermissions> {
    None
}

#[cfg(target_os = "linux")]
fn connect(clock: &Clock, wished: &PlatformChoice) -> Result<Arc<dyn Platform>, String> {
    linux::connect(clock.clone(), wished)
}

#[cfg(target_os = "macos")]
fn connect(clock: &Clock, _: &PlatformChoice) -> Result<Arc<dyn Platform>, String> {
    macos::connect(clock.clone())
}

#[cfg(target_os = "windows")]
fn connect(clock: &Clock, _: &PlatformChoice) -> Result<Arc<dyn Platform>, String> {
    windows::connect(clock.clone())
}

#[cfg(not(any(target_os = "linux", target_os = "macos", target_os = "windows")))]
fn connect(_: &Clock, wished: &PlatformChoice) -> Result<Arc<dyn Platform>, String> {
    Err(probe(wished).unwrap_or_else(|reason| reason))
}

/// What this build knows of the real desktop of this machine.
pub fn real_desktop(wished: &PlatformChoice) -> PlatformFacts {
    let found = probe(wished);
    let available = found.is_ok();
    let reason = found.unwrap_or_else(|reason| reason);
    PlatformFacts { name: os_name().to_owned(), available, reason, by_powershell: is_by_powershell(wished) }
}

#[cfg(target_os = "linux")]
use linux::is_by_powershell;

#[cfg(not(target_os = "linux"))]
fn is_by_powershell(_: &PlatformChoice) -> bool {
    false
}

/// How the real desktop is reached, or why not.
#[cfg(target_os = "linux")]
fn probe(wished: &PlatformChoice) -> Result<String, String> {
    linux::probe(wished)
}

#[cfg(target_os = "macos")]
fn probe(_: &PlatformChoice) -> Result<String, String> {
    macos::probe()
}

#[cfg(target_os = "windows")]
fn probe(_: &PlatformChoice) -> Result<String, String> {
    windows::probe()
}

#[cfg(not(any(target_os = "linux", target_os = "macos", target_os = "windows")))]
fn probe(_: &PlatformChoice) -> Result<String, String> {
    Err(format!(
        "this build has no adapter for the {} desktop; start the server with --mock for the mock desktop",
        os_name()
    ))
}
