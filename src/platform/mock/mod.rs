//! The mock desktop: a platform of full rank whose world is a scenario. It never touches the real screen,
//! pointer, clipboard or network, whatever the environment says.
//!
//! ```text
//!   Mock ── World (state, windows, trees, reactions)
//!     ├── bell: rung by everything that may have changed the world, also by the time that passed
//!     ├── clock: what appears or reacts later, when it is due
//!     └── log: every input that reached this desktop, for tests to read
//! ```

mod input;
mod notepad;
mod pages;
pub(in crate::platform) mod render;
mod text_places;
mod windows;
pub mod world;

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::unsupported::NO_PAGES;
use super::{
    Accessibility, Activation, Apps, Capabilities, Capture, Claimant, Clipboard, Coordinates, Desktop, Done,
    Facts, FieldText, Health, Input, Menu, OnStage, Patience, Platform, PressGuard, PressKind, Route, Shot,
    Stage, Wake, Watch, gone, platform_parts,
};
use crate::clock::{Bell, Cancel, Clock, lock};
use crate::error::{Error, Kind, Result};
use crate::model::app::{App, Clip, Ended, Launch, Program, Run};
use crate::model::input::{Act, Delivery, Handle};
use crate::model::page::Download;
use crate::model::{Button, Monitor, Point, Reached, Rect, Tree, Window, WindowChange};
use crate::scenario::{Oracles, Scenario};
use input::{MockOutcome, MockRefusal};
pub use world::World;

#[derive(Debug)]
pub struct Mock {
    clock: Clock,
    world: Mutex<Played>,
    bell: Bell,
    log: Mutex<Vec<Act>>,
    /// How many windows were changed, apps started and texts copied.
    other_deeds: AtomicUsize,
    downloads: Mutex<Vec<Download>>,
}

/// The world, and until when its changes by time have been told.
#[derive(Debug)]
struct Played {
    world: World,
    until: Duration,
}

impl Mock {
    /// The default desktop; uids end in a nonce, so that those of another process are not mistaken for ours.
    pub fn new(clock: Clock) -> Self {
        let token = crate::random::random_token("");
        let nonce = token.get(..8).unwrap_or(&token);
        let played = Played { world: World::notepad(nonce), until: clock.now() };
        Self {
            clock,
            world: Mutex::new(played),
            bell: Bell::default(),
            log: Mutex::default(),
            other_deeds: AtomicUsize::new(0),
            downloads: Mutex::default(),
        }
    }

    /// Every input that reached this desktop, oldest first.
    pub fn action_log(&self) -> Vec<Act> {
        lock(&self.log).clone()
    }

    /// How often this desktop was worked in whatever way, beside being raised.
    pub fn action_count(&self) -> usize {
        lock(&self.log).len() + self.other_deeds.load(Ordering::Acquire)
    }

    /// Changes the world by something that is no input, and counts it.
    fn do_to_world<T>(&self, deed: impl FnOnce(&mut World, Duration) -> T) -> T {
        self.other_deeds.fetch_add(1, Ordering::AcqRel);
        self.alter_world(deed)
    }

    /// The world as it is now: what was due has happened.
    fn now<T>(&self, look: impl FnOnce(&mut World, Duration) -> T) -> T {
        let mut played = lock(&self.world);
        let now = self.clock.now();
        if played.world.next_change(played.until).is_some_and(|due| due <= now) {
            self.bell.ring();
        }
        played.until = now;
        played.world.advance_to(now);
        look(&mut played.world, now)
    }

    /// Changes the world as it is now, and tells it: one look too many costs less than one too few.
    fn alter_world<T>(&self, change: impl FnOnce(&mut World, Duration) -> T) -> T {
        self.now(|world, now| {
            let result = change(world, now);
            self.bell.ring();
            result
        })
    }

    fn tree_now(&self, uid: &str) -> Result<Tree> {
        self.now(|world, now| world.tree(uid, now)).ok_or_else(|| gone(uid))
    }
}

impl Mock {
    /// What a pointer does before its last press, as on a desktop: it arrives, and the first of two clicks has its
    /// effect before the second. Where nobody judges, an act is one piece.
    fn press_by_press(&self, act: &Act, guard: &dyn PressGuard) -> Result<()> {
        let arrive = |at: Point, kind: PressKind| {
            let hover = Act::Hover { element: None, at: Some(at) };
            self.alter_world(|world, now| world.act(&hover, now));
            guard.check_press(at, kind)
        };
        match act {
            Act::Click { at: Some(at), count, .. } if is_by_pointer(act) => {
                arrive(*at, PressKind::Button)?;
                (1..*count).try_for_each(|_| {
                    self.alter_world(|world, now| world.click_once_of(act, now));
                    guard.check_press(*at, PressKind::Button)
                })
            }
            Act::Scroll { at: Some(at), .. } => arrive(*at, PressKind::Wheel),
            Act::Drag { from, to, .. } => {
                arrive(*from, PressKind::Button)?;
                guard.check_press(*to, PressKind::Button)
            }
            _ => Ok(()),
        }
    }
}

/// A plain click on an element that is named needs no pointer.
fn is_by_pointer(act: &Act) -> bool {
    !matches!(act, Act::Click { element: Some(_), button: Button::Left, count: 0 | 1, modifiers, .. } if modifiers.is_empty())
}

impl Platform for Mock {
    fn facts(&self) -> Facts {
        Facts {
            adapter: "MockAdapter",
            is_mock: true,
            unavailable: None,
            coordinates: Coordinates::Screen,
            limitations: Vec::new(),
            supports: Capabilities {
                accessibility_tree: true,
                occlusion_detection: true,
                drag: true,
                redaction: true,
                scenarios: true,
                image_blur: true,
                bring_to_foreground: true,
                element_targeting: true,
                observe_with_diff: true,
                ..Capabilities::default()
            },
        }
    }

    fn stage(&self) -> Option<&dyn Stage> {
        Some(self)
    }

    fn health(&self) -> Health {
        Health::default()
    }

    platform_parts! { self,
        desktop: self,
        accessibility: self,
        input: self,
        capture: self,
        clipboard: self,
        apps: self,
        watch: self,
        pages: if self.now(|world, _| world.has_pages()) { self } else { &NO_PAGES },
    }
}

/// Nothing here leaves this process: the clipboard is the world's own.
impl Clipboard for Mock {
    fn read(&self, _: &Cancel) -> Result<Clip> {
        Ok(Clip { text: self.now(|world, _| world.clipboard.clone()), formats: Vec::new() })
    }

    fn write(&self, text: &str) -> Result<()> {
        self.do_to_world(|world, _| world.clipboard = Some(text.to_owned()));
        Ok(())
    }
}

/// An app is a window of the scenario.
impl Apps for Mock {
    fn installed(&self) -> Result<Vec<App>> {
        Ok(self.now(|world, _| world.apps()))
    }

    fn program(&self, name: &str) -> Result<Program> {
        let apps = self.installed()?;
        match apps.iter().find(|app| app.is_called(name)) {
            // The id comes first, so that the launch knows which app it is.
            Some(app) => {
                Ok(Program { name: app.name.clone(), command: vec![app.id.clone()], installed: true })
            }
            None => Err(no_app(name, &apps)),
        }
    }

    fn launch(&self, launch: &Launch) -> Result<u32> {
        let id = launch.command.first().map_or("", String::as_str);
        self.do_to_world(|world, now| world.launch_app(id, now)).ok_or_else(|| no_app(id, &[]))
    }

    fn is_running(&self, _: u32) -> bool {
        true
    }

    fn run(&self, _: &Run, _: &Cancel) -> Result<Ended> {
        let message = "the mock desktop runs no commands; use dry_run, or a real desktop";
        Err(Error::new(Kind::PlatformUnsupported, message))
    }
}

fn no_app(name: &str, apps: &[App]) -> Error {
    let ids: Vec<&str> = apps.iter().map(|app| app.id.as_str()).collect();
    let advice = if ids.is_empty() {
        "its scenario declares no apps (see docs/scenarios.md)".to_owned()
    } else {
        format!("the apps of its scenario are {}", ids.join(", "))
    };
    Error::bad_request(format!(
        "the mock desktop starts no real programs, and '{name}' is not one of its apps; {advice}"
    ))
    .with("field", "program")
}

impl Stage for Mock {
    fn load(&self, scenario: Scenario) -> OnStage {
        let scenario = Arc::new(scenario);
        *lock(&self.downloads) = pages::downloads_of(&scenario);
        self.alter_world(|world, now| {
            *world = World::scenario(scenario, now);
            on_stage(world)
        })
    }

    fn oracles(&self) -> Option<Oracles> {
        self.now(|world, _| world.loaded_scenario().map(|scenario| scenario.oracles.clone()))
    }
}

fn on_stage(world: &World) -> OnStage {
    OnStage {
        name: world.loaded_scenario().map_or(String::new(), |scenario| scenario.name.clone()),
        state: world.state().unwrap_or_default().to_owned(),
        states: world.states().into_iter().map(str::to_owned).collect(),
    }
}

impl Watch for Mock {
    fn generation(&self) -> Result<u64> {
        Ok(self.now(|_, _| self.bell.rings()))
    }

    /// What time will change is known, so the wait ends exactly then.
    fn wait_change(&self, seen: u64, at_most: Duration, cancel: &Cancel) -> Result<Wake> {
        let next = self.now(|world, now| world.next_change(now).map(|due| due.saturating_sub(now)));
        let sleep = next.map_or(at_most, |next| next.min(at_most));
        self.clock.sleep_unless_rung(&self.bell, seen, sleep, cancel)?;
        Ok(if self.generation()? == seen { Wake::Elapsed } else { Wake::Changed })
    }
}

impl Desktop for Mock {
    fn windows(&self) -> Result<Vec<Window>> {
        Ok(self.now(|world, _| world.windows()))
    }

    fn stacking(&self) -> Result<Option<Vec<String>>> {
        let windows = self.now(|world, _| world.stacked_windows());
        Ok(Some(windows.into_iter().map(|window| window.uid).collect()))
    }

    /// What a scenario shows is in its windows.
    fn menu_at(&self, _: Point) -> Result<Option<Menu>> {
        Ok(None)
    }

    fn monitors(&self) -> Result<Vec<Monitor>> {
        Ok(Vec::new())
    }

    fn screen(&self) -> Result<Option<Rect>> {
        Ok(Some(self.now(|world, _| world.screen())))
    }

    fn pointer(&self) -> Result<Option<Point>> {
        Ok(Some(self.now(|world, _| world.pointer)))
    }

    fn owner(&self, _: &Window) -> Result<Option<String>> {
        Ok(None)
    }

    fn activate(&self, window: &Window) -> Result<Activation> {
        self.alter_world(|world, now| {
            if !world.activate_window(&window.uid, now) {
                return Err(gone(&window.uid));
            }
            // Clients of the default desktop are used to the answer of a system without a window manager.
            Ok(match world.loaded_scenario() {
                Some(_) => Activation::Activated,
                None => Activation::Refused("the default mock desktop has no window manager".to_owned()),
            })
        })
    }

    /// Everything that can come of it comes at once.
    fn change(&self, window: &Window, change: &WindowChange, _: Duration, _: &Cancel) -> Result<Reached> {
        self.do_to_world(|world, now| world.change_window(&window.uid, change, now))
            .ok_or_else(|| gone(&window.uid))
    }
}

impl Accessibility for Mock {
    fn tree(&self, window: &Window, patience: &Patience) -> Result<Tree> {
        let delay = self.now(|world, _| world.capture_delay(&window.uid));
        if delay > patience.whole {
            self.clock.sleep(patience.whole, &patience.cancel)?;
            return Err(Error::new(Kind::Timeout, "the application did not answer in time")
                .with("phase", "tree")
                .with("window_uid", window.uid.as_str()));
        }
        if !delay.is_zero() {
            self.clock.sleep(delay, &patience.cancel)?;
        }
        self.tree_now(&window.uid)
    }

    fn field(&self, element: &Handle, _: &Cancel) -> Result<Option<FieldText>> {
        Ok(self.now(|world, now| world.field(element, now)))
    }

    fn text_places(
        &self,
        element: &Handle,
        text: &str,
        characters: &[Range<usize>],
        _: &Cancel,
    ) -> Result<Option<Vec<Rect>>> {
        let tree = self.tree_now(&element.window_uid)?;
        let found = tree.elements().iter().find(|it| it.native.as_deref() == Some(element.native.as_str()));
        let found = found.filter(|it| it.value.as_deref() == Some(text));
        Ok(found.and_then(|it| text_places::text_places(it, text, characters)))
    }
}

impl Input for Mock {
    fn act(&self, act: &Act, delivery: Delivery, guard: &dyn PressGuard, _: &Cancel) -> Result<Done> {
        if guard.judges() && delivery == Delivery::Foreground {
            self.press_by_press(act, guard)?;
        }
        let outcome = self.alter_world(|world, now| world.act_by(act, delivery, now));
        if let Some(refusal) = outcome.refusal {
            return Err(refusal_error(&refusal));
        }
        lock(&self.log).push(act.clone());
        Ok(build_done(act, delivery, &outcome))
    }

    fn check(&self, act: &Act, _: &Cancel) -> Result<()> {
        let refusal = self.now(|world, now| world.refusal_of(act, now));
        refusal.map_or(Ok(()), |refusal| Err(refusal_error(&refusal)))
    }

    /// Nobody else sees this desktop.
    fn claim(&self, _: &Claimant) -> Result<()> {
        Ok(())
    }

    fn give_back(&self, _: &Claimant) {}

    /// No key of the mock is ever held down.
    fn release_all(&self) {}

    /// An act goes nowhere here but where it says.
    fn confine(&self, _: Rect) {}
}

fn build_done(act: &Act, delivery: Delivery, outcome: &MockOutcome) -> Done {
    let note = (!outcome.reacted).then(|| "mock desktop: no real input was sent".to_owned());
    let route = if delivery == Delivery::Background { Route::Accessibility } else { route_of(act) };
    Done { route, note, reacted: outcome.reacted, ..Done::default() }
}

fn route_of(act: &Act) -> Route {
    match act {
        Act::Invoke { .. } | Act::Focus { .. } | Act::SetValue { .. } | Act::Select { .. } => {
            Route::Accessibility
        }
        Act::Click { .. } | Act::Scroll { .. } | Act::Hover { .. } | Act::Drag { .. } => Route::Pointer,
        Act::Type { .. } | Act::Key { .. } => Route::Keyboard,
    }
}

fn refusal_error(refusal: &MockRefusal) -> Error {
    let kind = match refusal {
        MockRefusal::NoWindow { .. } => Kind::WindowGone,
        MockRefusal::NoElement { .. } => Kind::ElementNotFound,
        MockRefusal::Disabled { .. } => Kind::ElementDisabled,
        MockRefusal::NotEditable { .. } => Kind::PatternUnsupported,
        MockRefusal::NotByItself { .. } => Kind::ElementOccluded,
        MockRefusal::NotInRange { .. } | MockRefusal::NoOption { .. } | MockRefusal::PatternGaveUp(_) => {
            Kind::BadRequest
        }
    };
    Error::new(kind, refusal.to_string())
}

impl Capture for Mock {
    fn shows_own_pixels(&self) -> bool {
        true
    }

    fn window_picture(&self, window: &Window) -> Result<Shot> {
        let picture = render::draw_window(window, &self.tree_now(&window.uid)?).map_err(drawing_failed)?;
        Ok(Shot { picture, area: window.bounds })
    }

    /// The default desktop shows its front window alone, as clients of it are used to.
    fn screen_picture(&self) -> Result<Shot> {
        let (windows, screen, inert) =
            self.now(|world, _| (world.stacked_windows(), world.screen(), world.loaded_scenario().is_none()));
        let front_to_back: Vec<&Window> = windows.iter().filter(|window| !window.minimized).collect();
        if let (true, Some(front)) = (inert, front_to_back.first()) {
            return self.window_picture(front);
        }
        let trees: Vec<Tree> =
            front_to_back.iter().map(|window| self.tree_now(&window.uid)).collect::<Result<_>>()?;
        let layers: Vec<(&Window, &Tree)> = front_to_back.into_iter().zip(&trees).rev().collect();
        let side = |pixels: i32| u32::try_from(pixels).unwrap_or(0);
        let size = (side(screen.width), side(screen.height));
        Ok(Shot { picture: render::draw_desktop(size, &layers).map_err(drawing_failed)?, area: screen })
    }

    fn region_picture(&self, area: Rect) -> Result<Shot> {
        let whole = self.screen_picture()?;
        let shown = area.intersection(&whole.area).ok_or_else(|| {
            Error::bad_request("the area is outside of the screen")
                .with("area", area)
                .with("screen", whole.area)
        })?;
        let part = Rect { x: shown.x - whole.area.x, y: shown.y - whole.area.y, ..shown };
        Ok(Shot { picture: whole.picture.crop(part), area: shown })
    }
}

fn drawing_failed(problem: impl std::fmt::Display) -> Error {
    Error::internal(format!("the mock desktop cannot be drawn: {problem}"))
}
