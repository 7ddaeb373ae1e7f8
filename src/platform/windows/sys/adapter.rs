//! The platform itself: which part answers which question.
#![allow(unsafe_code, reason = "DPI awareness is set once for a process, by a C function")]

use std::cell::OnceCell;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use windows::Win32::UI::HiDpi::{DPI_AWARENESS_CONTEXT_PER_MONITOR_AWARE_V2, SetProcessDpiAwarenessContext};

use super::accessibility::Accessible;
use super::apps::WindowsApps;
use super::capture::Painters;
use super::clipboard::WindowsClipboard;
use super::decode::desktop::{Roster, gone, hwnd_of, monitors, uid_of};
use super::decode::interaction::{PROFILE, element_state};
use super::input::Hands;
use super::lease::Lease;
use super::watch::Watcher;
use super::{capture, desktop, foreground, launch};
use crate::clock::{Bell, Cancel, Clock, lock};
use crate::error::Result;
use crate::model::input::{Act, Delivery, Handle, Modifier};
use crate::model::{KeyCombo, Monitor, Point, Reached, Rect, Tree, Window, WindowChange};
use crate::platform::ancestors::{Ancestor, ancestors};
use crate::platform::interaction::{
    Backend, ChildPosition, DatePart, Drag, ElementState, InputEffect, InputProfile, OptionItem,
    PointerAction, Request, RequestOutcome, TypedText, act, check,
};
use crate::platform::session_env::SessionEnv;
use crate::platform::window_change::ChangeWait;
use crate::platform::{
    Accessibility, Activation, AllowedRegion, BellWatch, Capabilities, Capture, Claimant, Coordinates,
    Desktop, Done, Facts, FieldText, Health, Input, Menu, Patience, Platform, PressGuard, Route, Shot,
    platform_parts,
};

/// A wait looks again after this time, whether or not anybody told of a change.
const EVENTS_TRUSTED_FOR: Duration = Duration::from_secs(2);

pub struct Windows {
    clock: Clock,
    bell: Bell,
    roster: Mutex<Roster>,
    accessible: Accessible,
    painters: Painters,
    hands: Hands,
    watch: BellWatch,
    apps: WindowsApps,
    lease: Lease,
    clipboard: WindowsClipboard,
    region: AllowedRegion,
}

pub fn connect(clock: Clock) -> Result<Arc<dyn Platform>, String> {
    see_true_pixels();
    launch::keep_pipes();
    has_screen()?;
    let bell = Bell::default();
    let watcher = Watcher::start(clock.clone(), bell.clone())
        .map_err(|problem| format!("cannot start the thread for window events: {problem}"))?;
    let is_listening = move || watcher.is_listening();
    let watch = BellWatch::new(clock.clone(), bell.clone(), EVENTS_TRUSTED_FOR, is_listening);
    let accessible = Accessible::new(bell.clone());
    Ok(Arc::new(Windows {
        clipboard: WindowsClipboard { clock: clock.clone() },
        bell,
        roster: Mutex::default(),
        accessible,
        painters: capture::painters(),
        hands: Hands::new(clock.clone()),
        watch,
        lease: Lease::default(),
        apps: WindowsApps { env: SessionEnv::read() },
        clock,
        region: AllowedRegion::default(),
    }))
}

/// How the desktop of this session is reached, or why it is not.
pub fn probe() -> Result<String, String> {
    see_true_pixels();
    has_screen()?;
    let screen = desktop::screen();
    let elements = match Accessible::new(Bell::default()).absent() {
        None => "UI Automation".to_owned(),
        Some(why) => format!("no elements: {why}"),
    };
    Ok(format!(
        "{}x{} pixels on {} monitors; {elements}",
        screen.width,
        screen.height,
        desktop::monitors().len()
    ))
}

/// Without this Windows would tell places as if every monitor had the scale of the first.
fn see_true_pixels() {
    // SAFETY: a number that stands for a way of being aware. It fails when the process is aware already.
    let told = unsafe { SetProcessDpiAwarenessContext(DPI_AWARENESS_CONTEXT_PER_MONITOR_AWARE_V2) };
    if let Err(problem) = told {
        tracing::debug!("the process keeps its DPI awareness: {problem}");
    }
}

fn has_screen() -> Result<(), String> {
    if desktop::screen().is_empty() || desktop::monitors().is_empty() {
        return Err("this session has no screen: it was started as a service, or by a remote login without a desktop; \
                    start the server from the desktop, or with --mock for the mock desktop"
            .to_owned());
    }
    Ok(())
}

impl Platform for Windows {
    fn facts(&self) -> Facts {
        let absent = self.accessible.absent();
        let elements = absent.is_none();
        let limitations = absent.map(|why| format!("no elements of windows: {why}"));
        Facts {
            adapter: "WindowsAdapter",
            is_mock: false,
            unavailable: None,
            coordinates: Coordinates::Screen,
            limitations: limitations.into_iter().collect(),
            supports: Capabilities {
                accessibility_tree: elements,
                uia_invoke: elements,
                occlusion_detection: true,
                drag: true,
                redaction: true,
                bring_to_foreground: true,
                element_targeting: elements,
                observe_with_diff: true,
                ..Capabilities::default()
            },
        }
    }

    fn health(&self) -> Health {
        Health {
            desktop: has_screen().err(),
            accessibility: self.accessible.absent(),
            taken: self.lease.held_by_another(),
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

impl Desktop for Windows {
    fn hosts(&self) -> Vec<Ancestor> {
        ancestors()
    }

    fn windows(&self) -> Result<Vec<Window>> {
        Ok(lock(&self.roster).windows(&desktop::look()?))
    }

    fn stacking(&self) -> Result<Option<Vec<String>>> {
        Ok(Some(desktop::look()?.stacking()))
    }

    fn menu_at(&self, point: Point) -> Result<Option<Menu>> {
        Ok(desktop::look()?.menu(desktop::under(point)))
    }

    fn monitors(&self) -> Result<Vec<Monitor>> {
        Ok(monitors(&desktop::monitors()))
    }

    fn screen(&self) -> Result<Option<Rect>> {
        Ok(Some(desktop::screen()))
    }

    fn pointer(&self) -> Result<Option<Point>> {
        desktop::pointer().map(Some)
    }

    fn owner(&self, window: &Window) -> Result<Option<String>> {
        let hwnd = hwnd_of(&window.uid)?;
        let owner = desktop::look()?.find(hwnd).map(|raw| raw.owner);
        Ok(owner.filter(|owner| *owner != 0).map(uid_of))
    }

    fn activate(&self, window: &Window) -> Result<Activation> {
        foreground::activate(&self.hands, &self.clock, &window.uid)
    }

    fn change(
        &self,
        window: &Window,
        change: &WindowChange,
        at_most: Duration,
        cancel: &Cancel,
    ) -> Result<Reached> {
        let wait = ChangeWait::new(&self.clock, cancel, desktop::LOOK_AGAIN, at_most).hearing(&self.bell);
        desktop::change(&window.uid, change, &wait)
    }
}

impl Accessibility for Windows {
    fn tree(&self, window: &Window, patience: &Patience) -> Result<Tree> {
        let hwnd = hwnd_of(&window.uid)?;
        let sight = desktop::look()?;
        if !sight.find(hwnd).is_some_and(|raw| raw.visible) {
            return Err(gone(&window.uid));
        }
        self.accessible.tree(window, sight.popups(hwnd), patience)
    }

    fn field(&self, element: &Handle, cancel: &Cancel) -> Result<Option<FieldText>> {
        let raw = self.accessible.look(element, cancel)?;
        Ok(Some(element_state(&raw).into()))
    }
}

impl Capture for Windows {
    fn window_picture(&self, window: &Window) -> Result<Shot> {
        capture::window_picture(&self.painters, &window.uid)
    }

    fn screen_picture(&self) -> Result<Shot> {
        capture::screen_picture()
    }

    fn region_picture(&self, area: Rect) -> Result<Shot> {
        capture::region_picture(area)
    }
}

impl Input for Windows {
    fn act(&self, input: &Act, delivery: Delivery, guard: &dyn PressGuard, cancel: &Cancel) -> Result<Done> {
        act(&self.backend(input, cancel), guard, input, delivery)
    }

    fn check(&self, input: &Act, cancel: &Cancel) -> Result<()> {
        check(&self.backend(input, cancel), input)
    }

    fn claim(&self, _: &Claimant) -> Result<()> {
        self.lease.claim()
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

impl Windows {
    fn backend<'a>(&'a self, input: &'a Act, cancel: &'a Cancel) -> WindowsBackend<'a> {
        WindowsBackend { windows: self, cancel, element: input.element(), home: OnceCell::new() }
    }
}

/// One input under way.
struct WindowsBackend<'a> {
    windows: &'a Windows,
    cancel: &'a Cancel,
    element: Option<&'a Handle>,
    /// The window that the element is really in, once that was asked for.
    home: OnceCell<u64>,
}

impl WindowsBackend<'_> {
    /// The window of the system that stands for a uid in this input. The elements of a dialog are in the tree of its
    /// owner too; it is the dialog that must have the keyboard then, and that must not be covered.
    fn home(&self, window_uid: &str) -> Result<u64> {
        let own = hwnd_of(window_uid)?;
        let Some(element) = self.element.filter(|element| element.window_uid == window_uid) else {
            return Ok(own);
        };
        if let Some(home) = self.home.get() {
            return Ok(*home);
        }
        let home = self.windows.accessible.home(element, self.cancel)?;
        Ok(*self.home.get_or_init(|| if home == 0 { own } else { home }))
    }
}

impl Backend for WindowsBackend<'_> {
    fn profile(&self) -> InputProfile {
        PROFILE
    }

    fn clock(&self) -> &Clock {
        &self.windows.clock
    }

    fn cancel(&self) -> &Cancel {
        self.cancel
    }

    fn element_state(&self, element: &Handle) -> Result<ElementState> {
        self.windows.accessible.look(element, self.cancel).map(|raw| element_state(&raw))
    }

    fn element_with_text(&self, element: &Handle) -> Result<ElementState> {
        self.element_state(element)
    }

    fn request(&self, element: &Handle, request: Request) -> Result<RequestOutcome> {
        self.windows.accessible.request(element, request, self.cancel)
    }

    fn date_parts(&self, _: &Handle) -> Result<Vec<DatePart>> {
        Ok(Vec::new())
    }

    fn options(&self, element: &Handle) -> Result<Vec<OptionItem>> {
        self.windows.accessible.options(element, self.cancel)
    }

    /// An item selects itself here.
    fn position(&self, _: &Handle) -> Result<Option<ChildPosition>> {
        Ok(None)
    }

    fn has_keyboard(&self, window_uid: &str) -> Result<bool> {
        Ok(desktop::look()?.has_keyboard(self.home(window_uid)?))
    }

    fn effect(&self, _: &Handle, _: Route) -> Result<InputEffect> {
        Ok(InputEffect::within(PROFILE.timing.effect))
    }

    fn raise_window(&self, window_uid: &str) -> Result<()> {
        let home = uid_of(desktop::look()?.raised_for(self.home(window_uid)?));
        if let Activation::Refused(why) =
            foreground::activate(&self.windows.hands, &self.windows.clock, &home)?
        {
            tracing::debug!(why, "a window was not activated");
        }
        Ok(())
    }

    /// What is scrolled away says so itself.
    fn visible_bounds(&self, _: &Handle, state: &ElementState) -> Result<Option<Rect>> {
        Ok(state.bounds.and_then(|bounds| bounds.intersection(&desktop::screen())))
    }

    fn hits_window(&self, window_uid: &str, point: Point) -> Result<bool> {
        let (sight, found) = (desktop::look()?, desktop::under(point));
        Ok(sight.reaches(found, self.home(window_uid)?))
    }

    fn use_pointer(&self, action: PointerAction, at: Option<Point>, held: &[Modifier]) -> Result<()> {
        self.windows.region.check(at.as_slice())?;
        let hands = &self.windows.hands;
        match (action, at) {
            (PointerAction::Click(button, count), at) => hands.click(at, button, count, held, self.cancel),
            (PointerAction::FurtherClick(button, _), at) => hands.click(at, button, 1, held, self.cancel),
            (PointerAction::Scroll(clicks), at) => hands.scroll(at, clicks, self.cancel),
            (PointerAction::Hover, Some(at)) => hands.move_to(at),
            (PointerAction::Hover, None) => Ok(()),
        }
    }

    fn drag(&self, drag: &Drag<'_>) -> Result<()> {
        self.windows.region.check(&[drag.from, drag.to])?;
        self.windows.hands.drag(drag, self.cancel)
    }

    fn press_keys(&self, keys: &KeyCombo) -> Result<()> {
        self.windows.hands.keys(keys)
    }

    fn type_text(&self, text: &str) -> Result<TypedText> {
        self.windows.hands.text(text, self.cancel).map(|()| TypedText::default())
    }
}
