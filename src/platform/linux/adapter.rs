//! The platform of an X11 session: which part answers which question.

use std::ops::Range;
use std::sync::Weak;
use std::time::Duration;

use super::accessibility::{AtspiClient, CONNECT_TIME, Detail, WindowFacts};
use super::apps::LinuxApps;
use super::clipboard::X11Clipboard;
use super::desktop::{self, WindowFrame};
use super::input::{Sent, X11Input};
use super::interaction::AtspiElements;
use super::popups::{self, PointerHit, Popup};
use super::rest::{self, RestState, RestWait};
use super::sandbox::Sandbox;
use super::watch::X11Watcher;
use super::window_uid::WindowUid;
use super::x11::{X11Failure, X11Server, X11Session};
use super::{capture, display, lease, settle, xwayland};
use crate::clock::{Bell, Cancel, Clock};
use crate::error::Result;
use crate::model::app::AppNames;
use crate::model::input::{Handle, Modifier};
use crate::model::{Button, KeyCombo, Monitor, Point, Reached, Rect, Tree, Window, WindowChange};
use crate::platform::ancestors::{Ancestor, ancestors};
use crate::platform::interaction::{Drag, TypedText};
use crate::platform::session_env::SessionEnv;
use crate::platform::window_change::ChangeWait;
use crate::platform::{
    Accessibility, Activation, AllowedRegion, BellWatch, Capabilities, Capture, Coordinates, Desktop, Facts,
    FieldText, Health, Menu, Patience, Platform, Shot, platform_parts,
};

/// A wait looks again after this time, whether or not an event came.
pub(super) const EVENTS_TRUSTED_FOR: Duration = Duration::from_secs(2);

pub struct Linux {
    pub(super) clock: Clock,
    bell: Bell,
    pub(super) link: X11Session,
    pub(super) accessible: AtspiClient,
    pub(super) hands: X11Input,
    pub(super) region: AllowedRegion,
    clipboard: X11Clipboard,
    apps: LinuxApps,
    watch: BellWatch,
    limitations: Vec<String>,
}

impl Linux {
    /// Fails with a sentence when there is no display.
    pub fn connect(clock: Clock, env: &SessionEnv) -> Result<Self, String> {
        Self::connect_within(clock, env, CONNECT_TIME)
    }

    /// The same, where the accessibility bus may take this long to answer.
    pub fn connect_within(clock: Clock, env: &SessionEnv, bus_time: Duration) -> Result<Self, String> {
        let link = X11Session::connect(Some(&display(env)?))?;
        if let Err(error) = link.with_server(lease::clean_up) {
            tracing::warn!("keys that an earlier server pressed may still be down: {error}");
        }
        let bell = Bell::default();
        let accessible =
            AtspiClient::start(clock.clone(), bell.clone(), bus_time).map_err(|error| error.message)?;
        let watcher = X11Watcher::start(link.display(), bell.clone())
            .map_err(|problem| format!("cannot start the thread for window events: {problem}"))?;
        let is_listening = move || watcher.is_listening();
        let watch = BellWatch::new(clock.clone(), bell.clone(), EVENTS_TRUSTED_FOR, is_listening);
        let clipboard = X11Clipboard::new(link.display());
        let (hands, apps, region) =
            (X11Input::default(), LinuxApps::new(env.clone()), AllowedRegion::default());
        let limitations = Vec::new();
        Ok(Self { clock, bell, link, accessible, hands, region, clipboard, apps, watch, limitations })
    }

    /// Programs are started by whoever keeps the private desktop, so that they end with it.
    pub fn launching_in(self, sandbox: Weak<Sandbox>) -> Self {
        Self { apps: self.apps.within(sandbox), ..self }
    }

    /// What a caller should know of this desktop.
    pub fn limited_by(mut self, limitation: Option<String>) -> Self {
        self.limitations.extend(limitation);
        self
    }

    /// What is rung when something on this desktop changed; whoever hears of changes rings it.
    pub fn bell(&self) -> &Bell {
        &self.bell
    }

    pub fn click(&self, at: Point, button: Button, count: u32, held: &[Modifier]) -> Result<()> {
        self.region.check(&[at])?;
        self.hands.click(&self.link, at, button, count, held)
    }

    pub fn move_to(&self, at: Point) -> Result<()> {
        self.region.check(&[at])?;
        self.hands.move_to(&self.link, at)
    }

    /// Positive clicks show what is further up; without a point the pointer stays where it is.
    pub fn scroll(&self, at: Option<Point>, clicks: i32) -> Result<()> {
        self.region.check(at.as_slice())?;
        self.hands.scroll(&self.link, at, clicks)
    }

    pub fn drag(&self, drag: &Drag<'_>, cancel: &Cancel) -> Result<()> {
        self.region.check(&[drag.from, drag.to])?;
        self.hands.drag(&self.link, &self.clock, drag, cancel)
    }

    pub fn press_keys(&self, combo: &KeyCombo, cancel: &Cancel) -> Result<()> {
        self.check_takes_keys(cancel)?;
        let pause = |server: &X11Server, sent| self.settle_after(server, sent, cancel);
        self.hands.keys(&self.link, combo, &pause)
    }

    /// Types into what has the keyboard. The first character may bring up the field that the others are for.
    pub fn type_text(&self, text: &str, cancel: &Cancel) -> Result<TypedText> {
        self.check_takes_keys(cancel)?;
        let pause = |server: &X11Server, sent| self.settle_after(server, sent, cancel);
        self.hands.text(&self.link, text, cancel, &pause)
    }

    /// Nothing is typed blindly: an application that does not answer gets no key.
    fn check_takes_keys(&self, cancel: &Cancel) -> Result<()> {
        match self.link.with_errors(settle::check_takes_keys)? {
            Some(pid) => self.accessible.check_takes_keys(pid, cancel),
            None => Ok(()),
        }
    }

    /// Waits until the application has done what was sent to it last. Toolkits run shortcuts before letters that came
    /// earlier (Qt), or after letters that came later (LibreOffice), and requests over the accessibility bus overtake
    /// both.
    pub fn settle(&self, cancel: &Cancel) -> Result<()> {
        match self.hands.take_sent() {
            Some(sent) => self.link.with_errors(|server| self.settle_after(server, sent, cancel)),
            None => Ok(()),
        }
    }

    fn settle_after(&self, server: &X11Server, sent: Sent, cancel: &Cancel) -> Result<(), X11Failure> {
        let Some(pid) = settle::settle_focus(server)? else {
            return Ok(());
        };
        self.accessible.round_trip(pid, cancel)?;
        if sent == Sent::Shortcut {
            settle::wait_until_quiet(server, pid)?;
            self.accessible.round_trip(pid, cancel)?;
        }
        Ok(())
    }

    /// Waits until the application of a window has done what it was sent or asked, and says whether it rests. What it
    /// told of that has been heard.
    pub fn await_rest(&self, window: &Window, wait: &RestWait<'_>, cancel: &Cancel) -> Result<RestState> {
        let xid = WindowUid::parse(&window.uid)?.xid;
        let rest = self.link.with_server(|server| rest::await_rest(server, xid, window.pid, wait))?;
        if matches!(rest, RestState::Quiet | RestState::InParts) {
            // The next input need not wait for this one.
            self.hands.take_sent();
            self.accessible.round_trip(window.pid, cancel)?;
        }
        Ok(rest)
    }

    /// Whether keys go to the window, which window managers tell a moment too early.
    pub fn has_keyboard(&self, uid: &str) -> Result<bool> {
        self.link.with_errors(|server| Ok(desktop::has_keyboard(server, WindowUid::parse(uid)?.xid)?))
    }

    /// Lets go of every key and button that this process holds down.
    pub fn let_go(&self) {
        self.hands.release_all(&self.link);
    }

    /// Where a window's own pixels are, which is what the coordinates of an application start from.
    pub fn frame(&self, uid: &str) -> Result<WindowFrame> {
        self.link.with_errors(|server| desktop::window_frame(server, uid))
    }

    fn is_xwayland(&self) -> Result<bool> {
        self.link.with_server(|server| Ok(server.extensions.xwayland))
    }

    /// What of the window is known both to X11 and on the accessibility bus.
    fn sought(&self, window: &Window) -> Result<WindowFacts> {
        let (frame, mine) = self.link.with_errors(|server| desktop::frame_among(server, window))?;
        let shadow = frame.shadow;
        Ok(WindowFacts {
            pid: window.pid,
            title: window.title.clone(),
            client: frame.client,
            shadow: [shadow.left, shadow.top, shadow.right, shadow.bottom],
            focused: window.focused,
            alone: mine <= 1,
            popups: self.popups_of(window)?,
            native: None,
        })
    }

    fn popups_of(&self, window: &Window) -> Result<Vec<Rect>> {
        let popups = self.link.with_errors(|server| {
            let xid = WindowUid::parse(&window.uid)?.xid;
            Ok(popups::of_window(server, xid, Some(window.pid))?)
        })?;
        Ok(popups.into_iter().map(|popup| popup.bounds).collect())
    }

    /// The menus, lists and tooltips that show, from the back to the front.
    pub fn popups(&self) -> Result<Vec<Popup>> {
        self.link.with_server(popups::list_popups)
    }

    /// The frontmost window or popup under a point of the screen.
    pub fn under(&self, point: Point) -> Result<PointerHit> {
        self.link.with_server(|server| popups::hit_test(server, point))
    }
}

impl Platform for Linux {
    fn facts(&self) -> Facts {
        Facts {
            adapter: "LinuxAdapter",
            is_mock: false,
            unavailable: None,
            coordinates: Coordinates::Screen,
            limitations: self.limitations.clone(),
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

    fn health(&self) -> Health {
        match self.link.with_server(lease::held_by_another) {
            Ok(taken) => Health { desktop: None, accessibility: self.accessible.bus_problem(), taken },
            Err(error) => Health { desktop: Some(error.message), ..Health::default() },
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

impl Desktop for Linux {
    fn windows(&self) -> Result<Vec<Window>> {
        self.link.with_server(desktop::list_windows)
    }

    fn stacking(&self) -> Result<Option<Vec<String>>> {
        self.link.with_server(desktop::stacking_order).map(Some)
    }

    fn menu_at(&self, point: Point) -> Result<Option<Menu>> {
        let Some(popup) = self.link.with_server(|server| popups::popup_at(server, point))? else {
            return Ok(None);
        };
        let window_uid = popup.owner_window(&self.windows()?).map(str::to_owned);
        Ok(Some(Menu { bounds: popup.bounds, window_uid }))
    }

    fn monitors(&self) -> Result<Vec<Monitor>> {
        self.link.with_server(desktop::list_monitors)
    }

    fn screen(&self) -> Result<Option<Rect>> {
        self.link.with_server(desktop::screen_rect).map(Some)
    }

    /// Some are windows of a program of their own, and do not say what they are.
    fn is_splash(&self, window: &Window) -> Result<bool> {
        if window.process.ends_with("splash") || desktop::is_splash_of_java(&window.process, &window.title) {
            return Ok(true);
        }
        self.link.with_errors(|server| desktop::is_splash(server, &window.uid))
    }

    fn app_names(&self, window: &Window) -> Result<AppNames> {
        self.link.with_errors(|server| desktop::app_names(server, &window.uid, window.pid))
    }

    fn popup_areas(&self, window: &Window) -> Result<Vec<Rect>> {
        self.popups_of(window)
    }

    fn hosts(&self) -> Vec<Ancestor> {
        ancestors()
    }

    fn pointer(&self) -> Result<Option<Point>> {
        self.link.with_server(desktop::pointer_position).map(Some)
    }

    fn owner(&self, window: &Window) -> Result<Option<String>> {
        self.link.with_errors(|server| desktop::owner_of(server, &window.uid))
    }

    fn activate(&self, window: &Window) -> Result<Activation> {
        self.link.with_errors(|server| desktop::activate_window(server, &self.clock, &window.uid))
    }

    fn change(
        &self,
        window: &Window,
        change: &WindowChange,
        at_most: Duration,
        cancel: &Cancel,
    ) -> Result<Reached> {
        let wait = ChangeWait::new(&self.clock, cancel, desktop::LOOK_AGAIN, at_most).hearing(&self.bell);
        self.link.with_errors(|server| desktop::request_change(server, &window.uid, change, &wait))
    }
}

impl Accessibility for Linux {
    fn tree(&self, window: &Window, patience: &Patience) -> Result<Tree> {
        self.accessible.tree(self.sought(window)?, window.bounds, Detail::Everything, patience)
    }

    fn focus_tree(&self, window: &Window, patience: &Patience) -> Result<Tree> {
        let tree = self.accessible.tree(self.sought(window)?, window.bounds, Detail::Focus, patience)?;
        // The cell of a sheet that has it now may be one that was not read before.
        if tree.focused().is_some() { Ok(tree) } else { self.tree(window, patience) }
    }

    fn field(&self, element: &Handle, cancel: &Cancel) -> Result<Option<FieldText>> {
        let elements = AtspiElements { accessible: &self.accessible, cancel };
        elements.state_with_text(element).map(|state| Some(state.into()))
    }

    fn text_places(
        &self,
        element: &Handle,
        text: &str,
        characters: &[Range<usize>],
        cancel: &Cancel,
    ) -> Result<Option<Vec<Rect>>> {
        self.accessible.text_places(element, text, characters, cancel)
    }
}

impl Capture for Linux {
    fn shows_own_pixels(&self) -> bool {
        self.link.with_server(|server| Ok(server.first_repaint.is_some())).unwrap_or(false)
    }

    fn window_picture(&self, window: &Window) -> Result<Shot> {
        self.link.with_errors(|server| capture::window_picture(server, &window.uid))
    }

    fn screen_picture(&self) -> Result<Shot> {
        if self.is_xwayland()? {
            return xwayland::screen_picture(&self.clock);
        }
        self.link.with_errors(capture::screen_picture)
    }

    fn region_picture(&self, area: Rect) -> Result<Shot> {
        if self.is_xwayland()? {
            return xwayland::screen_picture(&self.clock).map(|whole| whole.part(area));
        }
        self.link.with_errors(|server| capture::region_picture(server, area))
    }
}
