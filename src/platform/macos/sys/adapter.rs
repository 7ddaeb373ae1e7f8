//! The platform: which part answers which question.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::accessibility::Accessible;
use super::apps::MacApps;
use super::clipboard::MacClipboard;
use super::decode::changes::{self, Before, Scene, Step, Target};
use super::decode::desktop::{self as windows, Roster, Seen};
use super::decode::errors::Code;
use super::decode::input::Hands;
use super::decode::interaction::{PROFILE, element_state, sight};
use super::decode::lease::{self, Lease};
use super::decode::quarantine::WINDOW_TIME;
use super::decode::records::RawLook;
use super::decode::{coordinates, permissions as words, session};
use super::foundation::{self, Node};
use super::input::{self, Events};
use super::watch::Watcher;
use super::{capture, desktop, permissions};
use crate::clock::{Bell, Cancel, Clock, lock};
use crate::error::{Error, Kind, Result};
use crate::model::input::{Act, Delivery, Handle, Modifier};
use crate::model::{KeyCombo, Monitor, Point, Reached, Rect, Tree, Window, WindowChange};
use crate::platform::ancestors::{Ancestor, ancestors};
use crate::platform::interaction::{
    self, Backend, ChildPosition, DatePart, Drag, ElementState, InputEffect, InputProfile, OptionItem,
    PointerAction, Request, RequestOutcome, TypedText,
};
use crate::platform::session_env::SessionEnv;
use crate::platform::window_change::ChangeWait;
use crate::platform::{
    Accessibility, Activation, AllowedRegion, BellWatch, Capabilities, Capture, Claimant, Coordinates,
    Desktop, Done, Facts, FieldText, Health, Input, Menu, Patience, Platform, PressGuard, Route, Shot,
    platform_parts,
};

/// A wait looks again after this time: nobody tells of applications that were never looked into.
const EVENTS_TRUSTED_FOR: Duration = Duration::from_millis(500);

const ALWAYS_LACKING: [&str; 4] = [
    "bounds and screenshots are in points: a Retina monitor has more pixels than that",
    "windows on other Spaces, and those of applications that are hidden, are not listed",
    "a server that is killed during an input may leave a key or button down",
    "commands are not supported: they could leave processes behind",
];

pub struct Mac {
    clock: Clock,
    accessible: Accessible,
    hands: Hands<Events>,
    watcher: Watcher,
    watch: BellWatch,
    apps: MacApps,
    region: AllowedRegion,
    before: Before,
    roster: Mutex<Roster>,
    lease: Lease,
}

pub fn connect(clock: Clock) -> Result<Arc<dyn Platform>, String> {
    probe()?;
    foundation::set_default_patience(WINDOW_TIME);
    let env = SessionEnv::read();
    let home = env.home().map_or_else(std::env::temp_dir, Path::to_owned);
    let bell = Bell::default();
    let watcher = Watcher::start(bell.clone())
        .map_err(|problem| format!("cannot start the event thread: {problem}"))?;
    Ok(Arc::new(Mac {
        hands: Hands::new(Events::new(clock.clone())),
        watch: BellWatch::new(clock.clone(), bell, EVENTS_TRUSTED_FOR, || true),
        accessible: Accessible::new(clock.clone()),
        clock,
        watcher,
        region: AllowedRegion::default(),
        before: Before::default(),
        roster: Mutex::default(),
        apps: MacApps { env },
        lease: Lease::of(lease::folder(&home)),
    }))
}

/// How the desktop is reached, or why it is not.
pub fn probe() -> Result<String, String> {
    let displays = desktop::displays().map_err(|error| error.message)?;
    if displays.is_empty() {
        return Err(
            "this session has no screen; start the server from a desktop session, or with --mock".to_owned()
        );
    }
    let granted = permissions::granted();
    let word = |given: bool| if given { "permitted" } else { "not permitted" };
    let (elements, pictures) = (word(granted.accessibility), word(granted.recording));
    let sharpest = displays.iter().map(coordinates::density).fold(1.0, f64::max);
    Ok(format!(
        "macOS, {} monitors with up to {sharpest} pixels per point; elements and input {elements}, \
         screenshots {pictures}",
        displays.len()
    ))
}

impl Mac {
    fn look(&self) -> Result<Vec<Seen>> {
        Ok(windows::windows(&desktop::look(&self.accessible)?))
    }

    /// A window, as its own application tells; the others are not asked.
    fn find(&self, uid: &str) -> Result<(RawLook, Seen)> {
        let id = windows::id_of(uid)?;
        let look = desktop::look_at(&self.accessible, id)?;
        let found = windows::windows(&look).into_iter().find(|seen| seen.id == id);
        Ok((look, found.ok_or_else(|| windows::gone(uid))?))
    }

    fn monitor_areas(&self) -> Result<Vec<Rect>> {
        Ok(desktop::displays()?.iter().map(|display| coordinates::rect(display.bounds)).collect())
    }

    /// Input without the permission is thrown away in silence.
    fn check_permission(&self) -> Result<()> {
        if permissions::granted().accessibility { Ok(()) } else { Err(words::missing_accessibility()) }
    }
}

fn pid_of(window: &Window) -> i32 {
    i32::try_from(window.pid).unwrap_or(0)
}

impl Platform for Mac {
    fn facts(&self) -> Facts {
        let granted = permissions::granted();
        let always = ALWAYS_LACKING.map(str::to_owned).to_vec();
        Facts {
            adapter: "MacAdapter",
            is_mock: false,
            unavailable: None,
            coordinates: Coordinates::Screen,
            limitations: [words::limitations(granted), always].concat(),
            supports: Capabilities {
                accessibility_tree: granted.accessibility,
                occlusion_detection: true,
                drag: granted.accessibility,
                redaction: true,
                bring_to_foreground: granted.accessibility,
                element_targeting: granted.accessibility,
                observe_with_diff: granted.accessibility,
                ..Capabilities::default()
            },
        }
    }

    fn health(&self) -> Health {
        let desktop = self.monitors().err().map(|error| error.message);
        let desktop = desktop.or_else(|| session::problem(permissions::session()));
        let accessibility =
            (!permissions::granted().accessibility).then(|| words::missing_accessibility().message);
        Health { desktop, accessibility, taken: self.lease.held_by_another() }
    }

    platform_parts! { self,
        desktop: self,
        accessibility: self,
        input: self,
        capture: self,
        clipboard: &MacClipboard,
        apps: &self.apps,
        watch: &self.watch,
    }
}

impl Desktop for Mac {
    fn hosts(&self) -> Vec<Ancestor> {
        ancestors()
    }

    fn windows(&self) -> Result<Vec<Window>> {
        let seen = self.look()?;
        Ok(lock(&self.roster).ordered(seen))
    }

    fn stacking(&self) -> Result<Option<Vec<String>>> {
        Ok(Some(windows::stacking(&self.look()?)))
    }

    fn menu_at(&self, point: Point) -> Result<Option<Menu>> {
        Ok(windows::menu_at(&desktop::look(&self.accessible)?, point))
    }

    fn monitors(&self) -> Result<Vec<Monitor>> {
        Ok(desktop::displays()?.iter().map(coordinates::monitor).collect())
    }

    fn screen(&self) -> Result<Option<Rect>> {
        Ok(coordinates::around(self.monitor_areas()?.into_iter()))
    }

    fn pointer(&self) -> Result<Option<Point>> {
        input::pointer().map(Some)
    }

    fn owner(&self, _: &Window) -> Result<Option<String>> {
        Ok(None)
    }

    fn activate(&self, window: &Window) -> Result<Activation> {
        self.check_permission()?;
        changes::activate(&Changing { mac: self }, &self.clock, windows::id_of(&window.uid)?)
    }

    fn change(
        &self,
        window: &Window,
        change: &WindowChange,
        at_most: Duration,
        cancel: &Cancel,
    ) -> Result<Reached> {
        self.check_permission()?;
        let wait = ChangeWait::new(&self.clock, cancel, changes::LOOK_AGAIN, at_most);
        changes::change(&Changing { mac: self }, &self.before, windows::id_of(&window.uid)?, change, &wait)
    }
}

/// One change under way.
struct Changing<'a> {
    mac: &'a Mac,
}

impl Changing<'_> {
    fn node(&self, target: Target) -> Result<Node, Code> {
        self.mac.accessible.node(target.key).ok_or(Code::INVALID_ELEMENT)
    }
}

impl Scene for Changing<'_> {
    fn look(&self, id: u32) -> Result<RawLook> {
        desktop::look_at(&self.mac.accessible, id)
    }

    fn monitors(&self) -> Result<Vec<Rect>> {
        self.mac.monitor_areas()
    }

    fn is_full_screen(&self, target: Target) -> bool {
        self.node(target).is_ok_and(|node| desktop::is_full_screen(&node))
    }

    fn ask(&self, target: Target, step: Step) -> Result<(), Code> {
        desktop::ask(&self.node(target)?, target.pid, step)
    }
}

impl Accessibility for Mac {
    fn tree(&self, window: &Window, patience: &Patience) -> Result<Tree> {
        self.check_permission()?;
        let (look, seen) = self.find(&window.uid)?;
        let key = seen.key.ok_or_else(|| windows::no_element(&look, &seen))?;
        let pid = pid_of(window);
        // Before the look, so that a change during it is told.
        self.watcher.follow(pid);
        self.accessible.tree(key, pid, &seen.window.title, seen.window.bounds, patience)
    }

    fn field(&self, element: &Handle, cancel: &Cancel) -> Result<Option<FieldText>> {
        cancel.check()?;
        let (raw, actions) = self.accessible.look_at(element)?;
        Ok(Some(element_state(&raw, &actions).into()))
    }
}

impl Capture for Mac {
    fn shows_own_pixels(&self) -> bool {
        true
    }

    fn window_picture(&self, window: &Window) -> Result<Shot> {
        let (look, seen) = self.find(&window.uid)?;
        if seen.window.minimized {
            let message = "the window is minimized, so macOS draws nothing of it";
            return Err(Error::new(Kind::PlatformUnsupported, message));
        }
        let ids = windows::pictured(&look, seen.id);
        capture::windows(&ids, seen.window.bounds, &self.monitor_areas()?)
    }

    fn screen_picture(&self) -> Result<Shot> {
        let all = self.screen()?.ok_or_else(|| Error::internal("there is no monitor"))?;
        capture::screen(all, &self.monitor_areas()?)
    }

    fn region_picture(&self, area: Rect) -> Result<Shot> {
        let all = self.screen()?.unwrap_or_default();
        match area.intersection(&all) {
            Some(part) => capture::screen(part, &self.monitor_areas()?),
            None => self.screen_picture().map(|whole| whole.part(area)),
        }
    }
}

impl Input for Mac {
    fn act(&self, act: &Act, delivery: Delivery, guard: &dyn PressGuard, cancel: &Cancel) -> Result<Done> {
        self.check_permission()?;
        interaction::act(&MacBackend { mac: self, cancel }, guard, act, delivery)
    }

    fn check(&self, act: &Act, cancel: &Cancel) -> Result<()> {
        self.check_permission()?;
        interaction::check(&MacBackend { mac: self, cancel }, act)
    }

    fn claim(&self, claimant: &Claimant) -> Result<()> {
        self.lease.claim(claimant)
    }

    fn give_back(&self, claimant: &Claimant) {
        self.lease.give_back(claimant);
    }

    fn release_all(&self) {
        self.hands.release_all();
    }

    fn confine(&self, region: Rect) {
        self.region.set(region);
    }
}

/// One input under way.
struct MacBackend<'a> {
    mac: &'a Mac,
    cancel: &'a Cancel,
}

impl Backend for MacBackend<'_> {
    fn profile(&self) -> InputProfile {
        PROFILE
    }

    fn clock(&self) -> &Clock {
        &self.mac.clock
    }

    fn cancel(&self) -> &Cancel {
        self.cancel
    }

    fn element_state(&self, element: &Handle) -> Result<ElementState> {
        self.cancel.check()?;
        let (raw, actions) = self.mac.accessible.look_at(element)?;
        Ok(element_state(&raw, &actions))
    }

    fn element_with_text(&self, element: &Handle) -> Result<ElementState> {
        self.element_state(element)
    }

    fn request(&self, element: &Handle, request: Request) -> Result<RequestOutcome> {
        self.cancel.check()?;
        self.mac.accessible.request(element, &request)
    }

    fn date_parts(&self, _: &Handle) -> Result<Vec<DatePart>> {
        Ok(Vec::new())
    }

    fn options(&self, element: &Handle) -> Result<Vec<OptionItem>> {
        self.mac.accessible.options(element, self.cancel)
    }

    /// An item selects itself here.
    fn position(&self, _: &Handle) -> Result<Option<ChildPosition>> {
        Ok(None)
    }

    /// An application that is not in front is not even asked.
    fn has_keyboard(&self, window_uid: &str) -> Result<bool> {
        let id = windows::id_of(window_uid)?;
        let all = desktop::all_windows()?;
        let pid = all.iter().find(|raw| raw.id == id).map(|raw| raw.pid);
        let pid = pid.ok_or_else(|| windows::gone(window_uid))?;
        Ok(desktop::front(&all) == Some(pid) && self.mac.find(window_uid)?.1.window.focused)
    }

    fn effect(&self, _: &Handle, _: Route) -> Result<InputEffect> {
        Ok(InputEffect::within(PROFILE.timing.effect))
    }

    fn raise_window(&self, window_uid: &str) -> Result<()> {
        let (_, seen) = self.mac.find(window_uid)?;
        if let Activation::Refused(why) = self.mac.activate(&seen.window)? {
            tracing::debug!(why, "a window was not activated");
        }
        Ok(())
    }

    fn visible_bounds(&self, element: &Handle, state: &ElementState) -> Result<Option<Rect>> {
        let Some(bounds) = state.bounds else {
            return Ok(None);
        };
        self.cancel.check()?;
        let screen = self.mac.screen()?.unwrap_or_default();
        Ok(bounds.intersection(&sight(screen, self.mac.accessible.around(element)?)))
    }

    fn hits_window(&self, window_uid: &str, point: Point) -> Result<bool> {
        let (look, seen) = self.mac.find(window_uid)?;
        Ok(windows::meets(&look, point, seen.id))
    }

    fn use_pointer(&self, action: PointerAction, at: Option<Point>, held: &[Modifier]) -> Result<()> {
        self.mac.region.check(at.as_slice())?;
        match (action, at) {
            (PointerAction::Click(button, count), Some(at)) => {
                self.mac.hands.click(at, button, 1..=count, held, self.cancel)
            }
            (PointerAction::FurtherClick(button, number), Some(at)) => {
                self.mac.hands.click(at, button, number..=number, held, self.cancel)
            }
            (PointerAction::Hover, Some(at)) => self.mac.hands.move_to(at),
            (PointerAction::Scroll(clicks), at) => self.mac.hands.scroll(at, clicks),
            (PointerAction::Click(..) | PointerAction::FurtherClick(..) | PointerAction::Hover, None) => {
                Err(Error::bad_request("no point to go to"))
            }
        }
    }

    fn drag(&self, drag: &Drag<'_>) -> Result<()> {
        self.mac.region.check(&[drag.from, drag.to])?;
        self.mac.hands.drag(drag, self.cancel)
    }

    fn press_keys(&self, keys: &KeyCombo) -> Result<()> {
        self.mac.hands.keys(keys)
    }

    fn type_text(&self, text: &str) -> Result<TypedText> {
        self.mac.hands.text(text, self.cancel).map(|()| TypedText::default())
    }
}
