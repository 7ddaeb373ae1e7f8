//! The platform: which part answers which question.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use super::accessibility::Accessible;
use super::foundation::Node;
use super::input::{self, Hands};
use super::sense::desktop::{self as windows, Seen};
use super::sense::hands::{HABITS, live, sight};
use super::sense::records::RawLook;
use super::sense::{permissions as words, points};
use super::watch::Watcher;
use super::{apps, capture, clipboard, desktop, launch, permissions};
use crate::clock::{Bell, Cancel, Clock, lock};
use crate::error::{Error, Kind, Result};
use crate::model::action::{Act, Handle};
use crate::model::program::{App, Clip, Ended, Launch, Program, Run};
use crate::model::window::WindowState;
use crate::model::{KeyCombo, Monitor, Point, Reached, Rect, Tree, Window, WindowChange};
use crate::platform::hands::doing::{self, Body, Habits, Listed, Live, Request, Said};
use crate::platform::hands::{Deed, Drag};
use crate::platform::{
    Accessibility, Activation, Capabilities, Capture, Claimant, Coordinates, Desktop, Done, Facts, Health,
    Input, Patience, Platform, Shot, Stage, Surroundings, Wake, Watch, check_within, run_command,
};

/// A wait looks again after this time: nobody tells of applications that were never looked into.
const EVENTS_TRUSTED_FOR: Duration = Duration::from_millis(500);
const ACTIVATION_TIME: Duration = Duration::from_millis(2_500);
const LOOK_AGAIN: Duration = Duration::from_millis(50);
/// Windows whose size before they were maximized is known.
const MOST_REMEMBERED: usize = 500;

const ALWAYS_LACKING: [&str; 5] = [
    "two servers on this desktop do not notice each other: let one of them act at a time",
    "places and pictures count in points: a Retina monitor shows more finely what is in them",
    "windows on other Spaces are not listed",
    "key combinations are pressed where the American layout has their letter; type_text writes any text",
    "commands are not run: they could leave processes behind",
];

pub struct Mac {
    clock: Clock,
    bell: Bell,
    accessible: Accessible,
    hands: Hands,
    watcher: Watcher,
    /// Where the pointer may go; everywhere unless it is set.
    region: OnceLock<Rect>,
    /// What windows had before they were maximized.
    before: Mutex<HashMap<u32, Rect>>,
}

pub fn connect(clock: Clock) -> Result<Arc<dyn Platform>, String> {
    probe()?;
    let bell = Bell::default();
    let watcher = Watcher::start(bell.clone())
        .map_err(|problem| format!("no thread for events could be started: {problem}"))?;
    Ok(Arc::new(Mac {
        clock,
        bell,
        accessible: Accessible::default(),
        hands: Hands::default(),
        watcher,
        region: OnceLock::new(),
        before: Mutex::default(),
    }))
}

/// How the desktop is reached, or why it is not.
pub fn probe() -> Result<String, String> {
    let displays = desktop::displays().map_err(|error| error.message)?;
    if displays.is_empty() {
        return Err(
            "this session has no screen; start the server from a session of a person, or with --mock"
                .to_owned(),
        );
    }
    let granted = permissions::granted();
    let word = |given: bool| if given { "permitted" } else { "not permitted" };
    let (elements, pictures) = (word(granted.accessibility), word(granted.recording));
    let sharpest = displays.iter().map(points::density).fold(1.0, f64::max);
    Ok(format!(
        "macOS, {} monitors with up to {sharpest} pixels a point; elements and input {elements}, pictures {pictures}",
        displays.len()
    ))
}

impl Mac {
    fn look(&self) -> Result<(RawLook, Vec<Seen>)> {
        let look = desktop::look(&self.accessible)?;
        let seen = windows::windows(&look);
        Ok((look, seen))
    }

    fn find(&self, uid: &str) -> Result<(RawLook, Seen)> {
        let (look, seen) = self.look()?;
        let found = seen.into_iter().find(|seen| seen.window.uid == uid);
        Ok((look, found.ok_or_else(|| windows::gone(uid))?))
    }

    /// The element of a window; without it nothing can be done to it.
    fn element(&self, seen: &Seen) -> Result<Node> {
        if !permissions::granted().accessibility {
            return Err(words::missing_accessibility());
        }
        let node = seen.key.and_then(|key| self.accessible.node(key));
        node.ok_or_else(|| {
            let title = &seen.window.title;
            let message = format!("the application does not tell of its window '{title}'; it may be busy");
            Error::new(Kind::PatternUnsupported, message)
        })
    }

    fn monitor_areas(&self) -> Result<Vec<Rect>> {
        Ok(desktop::displays()?.iter().map(|display| points::rect(display.bounds)).collect())
    }

    fn room(&self, look: &RawLook, bounds: Rect) -> Result<Option<Rect>> {
        Ok(windows::room(look, &self.monitor_areas()?, bounds))
    }

    fn state(&self, look: &RawLook, seen: &Seen) -> Result<WindowState> {
        let Window { bounds, focused, minimized, .. } = seen.window;
        let maximized = windows::is_maximized(bounds, self.room(look, bounds)?);
        Ok(WindowState { bounds, focused, minimized, maximized })
    }

    fn check_region(&self, points: &[Point]) -> Result<()> {
        let region = self.region.get();
        region.map_or(Ok(()), |region| points.iter().try_for_each(|point| check_within(*region, *point)))
    }

    /// Input without the permission is thrown away in silence.
    fn check_permission(&self) -> Result<()> {
        if permissions::granted().accessibility { Ok(()) } else { Err(words::missing_accessibility()) }
    }

    fn remember(&self, id: u32, bounds: Rect) {
        let mut before = lock(&self.before);
        if before.len() >= MOST_REMEMBERED {
            before.clear();
        }
        before.insert(id, bounds);
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

    fn stage(&self) -> Option<&dyn Stage> {
        None
    }

    fn surroundings(&self) -> &dyn Surroundings {
        self
    }

    fn health(&self) -> Health {
        let desktop = self.monitors().map_err(|error| error.message);
        let accessibility =
            (!permissions::granted().accessibility).then(|| words::missing_accessibility().message);
        Health { desktop: desktop.err(), accessibility, ..Health::default() }
    }
}

impl Desktop for Mac {
    fn windows(&self) -> Result<Vec<Window>> {
        Ok(self.look()?.1.into_iter().map(|seen| seen.window).collect())
    }

    fn stacking(&self) -> Result<Option<Vec<String>>> {
        Ok(Some(windows::stacking(&self.look()?.1)))
    }

    fn monitors(&self) -> Result<Vec<Monitor>> {
        Ok(desktop::displays()?.iter().map(points::monitor).collect())
    }

    fn screen(&self) -> Result<Option<Rect>> {
        Ok(points::around(self.monitor_areas()?.into_iter()))
    }

    fn activate(&self, window: &Window) -> Result<Activation> {
        let (_, seen) = self.find(&window.uid)?;
        let node = self.element(&seen)?;
        if seen.window.minimized {
            node.set_flag("AXMinimized", false).map_err(|code| code.error(&window.title))?;
        }
        desktop::raise(&node, pid_of(window)).map_err(|code| code.error(&window.title))?;
        let began = Instant::now();
        loop {
            let (_, now) = self.find(&window.uid)?;
            if now.window.focused && !now.window.minimized {
                return Ok(Activation::Activated);
            }
            if began.elapsed() >= ACTIVATION_TIME {
                let waited = ACTIVATION_TIME.as_millis();
                let why = format!("macOS did not give it the keyboard within {waited} ms");
                return Ok(Activation::Refused(why));
            }
            std::thread::sleep(LOOK_AGAIN);
        }
    }

    fn change(
        &self,
        window: &Window,
        change: &WindowChange,
        at_most: Duration,
        cancel: &Cancel,
    ) -> Result<Reached> {
        let (look, seen) = self.find(&window.uid)?;
        let node = self.element(&seen)?;
        let before = self.state(&look, &seen)?;
        let room = self.room(&look, before.bounds)?;
        if *change == WindowChange::Maximize && !before.maximized {
            self.remember(seen.id, before.bounds);
        }
        let former = lock(&self.before).get(&seen.id).copied();
        desktop::request(&node, change, before.minimized, room, former)
            .map_err(|code| code.error(&format!("the window '{}'", window.title)))?;
        let began = Instant::now();
        loop {
            let (look, all) = self.look()?;
            let now = all.iter().find(|other| other.id == seen.id);
            let state = now.map(|now| self.state(&look, now)).transpose()?;
            let is_front = all.first().is_some_and(|first| first.id == seen.id);
            if windows::is_reached(change, &before, state.as_ref(), is_front) {
                return Ok(Reached { done: true, state, note: None });
            }
            let left = at_most.saturating_sub(began.elapsed());
            if left.is_zero() {
                let note = windows::why_not_reached(change, at_most);
                return Ok(Reached { done: false, state, note: Some(note) });
            }
            self.clock.sleep(left.min(LOOK_AGAIN), cancel)?;
        }
    }
}

impl Surroundings for Mac {
    fn pointer(&self) -> Result<Option<Point>> {
        input::pointer().map(Some)
    }

    fn clipboard(&self, _: &Cancel) -> Result<Clip> {
        clipboard::get()
    }

    fn set_clipboard(&self, text: &str) -> Result<()> {
        clipboard::set(text)
    }

    fn installed(&self) -> Result<Vec<App>> {
        Ok(apps::installed())
    }

    fn program(&self, name: &str) -> Result<Program> {
        apps::find(name)
    }

    fn launch(&self, launch: &Launch) -> Result<u32> {
        launch::launch(launch)
    }

    fn is_running(&self, pid: u32) -> bool {
        launch::is_running(pid)
    }

    fn run(&self, run: &Run, cancel: &Cancel) -> Result<Ended> {
        run_command(run, cancel)
    }

    fn confine(&self, region: Rect) {
        self.region.get_or_init(|| region);
    }
}

impl Accessibility for Mac {
    fn tree(&self, window: &Window, patience: &Patience) -> Result<Tree> {
        let (_, seen) = self.find(&window.uid)?;
        let node = self.element(&seen)?;
        let pid = pid_of(window);
        // Before the look, so that a change during it is told.
        self.watcher.follow(pid);
        let key = self.accessible.key(&node);
        self.accessible.tree(key, pid, &seen.window.title, seen.window.bounds, patience)
    }
}

impl Capture for Mac {
    fn window_picture(&self, window: &Window) -> Result<Shot> {
        let (_, seen) = self.find(&window.uid)?;
        if seen.window.minimized {
            let message = "the window is minimized, so macOS draws nothing of it";
            return Err(Error::new(Kind::PlatformUnsupported, message));
        }
        capture::window(seen.id, seen.window.bounds)
    }

    fn screen_picture(&self) -> Result<Shot> {
        let all = self.screen()?.ok_or_else(|| Error::internal("there is no monitor"))?;
        capture::screen(all)
    }

    fn region_picture(&self, area: Rect) -> Result<Shot> {
        let all = self.screen()?.unwrap_or_default();
        let part = area.intersection(&all);
        part.map_or_else(|| self.screen_picture().map(|whole| whole.part(area)), capture::screen)
    }
}

impl Watch for Mac {
    fn generation(&self) -> Result<u64> {
        Ok(self.bell.rings())
    }

    fn wait_change(&self, seen: u64, at_most: Duration, cancel: &Cancel) -> Result<Wake> {
        let time = at_most.min(EVENTS_TRUSTED_FOR);
        let rung = self.clock.sleep_unless_rung(&self.bell, seen, time, cancel)?;
        Ok(if rung { Wake::Changed } else { Wake::Elapsed })
    }
}

impl Input for Mac {
    fn act(&self, act: &Act, cancel: &Cancel) -> Result<Done> {
        self.check_permission()?;
        doing::act(&Doing { mac: self, cancel }, act)
    }

    /// Nothing of a Mac's desktop can be taken so that it is given back when a process is killed.
    fn claim(&self, _: &Claimant) -> Result<()> {
        Ok(())
    }

    fn give_back(&self, _: &Claimant) {}

    fn release_all(&self) {
        self.hands.release_all();
    }
}

/// One input under way.
struct Doing<'a> {
    mac: &'a Mac,
    cancel: &'a Cancel,
}

impl Body for Doing<'_> {
    fn habits(&self) -> Habits {
        HABITS
    }

    fn clock(&self) -> &Clock {
        &self.mac.clock
    }

    fn cancel(&self) -> &Cancel {
        self.cancel
    }

    fn look(&self, element: &Handle) -> Result<Live> {
        self.cancel.check()?;
        let (raw, actions) = self.mac.accessible.look_at(element)?;
        Ok(live(&raw, &actions))
    }

    fn request(&self, element: &Handle, request: Request) -> Result<Said> {
        self.cancel.check()?;
        self.mac.accessible.request(element, &request)
    }

    fn options(&self, element: &Handle) -> Result<Vec<Listed>> {
        self.mac.accessible.options(element, self.cancel)
    }

    fn has_keyboard(&self, window_uid: &str) -> Result<bool> {
        Ok(self.mac.find(window_uid)?.1.window.focused)
    }

    fn raise(&self, window_uid: &str) -> Result<()> {
        let (_, seen) = self.mac.find(window_uid)?;
        if let Activation::Refused(why) = self.mac.activate(&seen.window)? {
            tracing::debug!(why, "a window was not activated");
        }
        Ok(())
    }

    fn sight(&self, element: &Handle) -> Result<Rect> {
        self.cancel.check()?;
        let screen = self.mac.screen()?.unwrap_or_default();
        Ok(sight(screen, self.mac.accessible.around(element)?))
    }

    fn meets(&self, window_uid: &str, point: Point) -> Result<bool> {
        let (look, seen) = self.mac.find(window_uid)?;
        Ok(windows::meets(&look, point, seen.id))
    }

    fn point(&self, deed: Deed, at: Option<Point>) -> Result<()> {
        self.mac.check_region(at.as_slice())?;
        match (deed, at) {
            (Deed::Click(button, count), Some(at)) => self.mac.hands.click(at, button, count),
            (Deed::Stay, Some(at)) => self.mac.hands.move_to(at),
            (Deed::Scroll(clicks), at) => self.mac.hands.scroll(at, clicks),
            (Deed::Click(..) | Deed::Stay, None) => Err(Error::bad_request("no point to go to")),
        }
    }

    fn drag(&self, drag: &Drag<'_>) -> Result<()> {
        self.mac.check_region(&[drag.from, drag.to])?;
        self.mac.hands.drag(&self.mac.clock, drag, self.cancel)
    }

    fn press_keys(&self, keys: &KeyCombo) -> Result<()> {
        self.mac.hands.keys(keys)
    }

    fn type_text(&self, text: &str) -> Result<()> {
        self.mac.hands.text(text, self.cancel)
    }
}
