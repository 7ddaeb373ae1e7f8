//! The desktop as one look found it: the windows, their order from the front to the back, the screen, and what the
//! windows showed. A call looks once before its input and once after it, and everything that it says is of those two
//! moments.
//!
//! A window that was chosen keeps the look that it was chosen in. Whatever has changed since is seen by a new look,
//! never by asking an old one again.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use super::{Observer, ResolvedWindow, View};
use crate::clock::{Cancel, lock};
use crate::config::limits;
use crate::error::Result;
use crate::model::{Monitor, Point, Rect, Window};
use crate::platform::Platform;

/// What one look found. The windows are listed when it is made; the rest is asked for once, when it is first needed.
pub struct DesktopState {
    platform: Arc<dyn Platform>,
    windows: Vec<Window>,
    stacking: OnceLock<Result<Option<Vec<String>>>>,
    screen: OnceLock<Result<Option<Rect>>>,
    monitors: OnceLock<Result<Vec<Monitor>>>,
    views: Mutex<HashMap<String, Result<Arc<View>>>>,
    /// What the platform had counted before the windows were listed.
    generation: u64,
}

/// A look that was taken after an input, and when.
pub(super) struct KeptLook {
    desktop: Arc<DesktopState>,
    at: Duration,
}

/// Not everything that changes is told of, so that it serves the next step and no later one.
const KEPT_TIME: Duration = Duration::from_millis(250);

impl fmt::Debug for DesktopState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DesktopState").field("windows", &self.windows).finish_non_exhaustive()
    }
}

impl DesktopState {
    pub(super) fn new(platform: Arc<dyn Platform>, windows: Vec<Window>, generation: u64) -> Self {
        Self {
            generation,
            platform,
            windows,
            stacking: OnceLock::new(),
            screen: OnceLock::new(),
            monitors: OnceLock::new(),
            views: Mutex::default(),
        }
    }

    /// All windows in the order of their index, with the titles that they have: nothing for a reply.
    pub fn windows(&self) -> &[Window] {
        &self.windows
    }

    /// Whether the same windows are open as in an earlier look.
    pub fn has_same_windows(&self, earlier: &Self) -> bool {
        self.windows.iter().map(|window| &window.uid).eq(earlier.windows.iter().map(|window| &window.uid))
    }

    /// Whether the windows are those of an earlier look, in the same places and the same order.
    pub fn stands_as_in(&self, earlier: &Self) -> Result<bool> {
        Ok(self.windows == earlier.windows && self.stacking()? == earlier.stacking()?)
    }

    /// Asks for the order and the screen now. Reading a tree may take seconds, and what is asked for after it is of
    /// another moment than the windows are.
    pub fn ask_order(&self) {
        let _ = (self.stacking(), self.screen());
    }

    /// Uids from the front to the back, or `None` where the order cannot be known.
    pub(super) fn stacking(&self) -> Result<Option<&[String]>> {
        let stacking = self.stacking.get_or_init(|| self.platform.desktop().stacking());
        stacking.as_ref().map(Option::as_deref).map_err(Clone::clone)
    }

    pub(super) fn screen(&self) -> Result<Option<Rect>> {
        self.screen.get_or_init(|| self.platform.desktop().screen()).clone()
    }

    pub(super) fn monitors(&self) -> Result<&[Monitor]> {
        let monitors = self.monitors.get_or_init(|| self.platform.desktop().monitors());
        monitors.as_deref().map_err(Clone::clone)
    }

    /// Where the order cannot be known, every other window is `perhaps` in front, or none is.
    pub(super) fn windows_in_front_of(&self, uid: &str, perhaps: bool) -> Result<Vec<&Window>> {
        let stacking = self.stacking()?;
        let is_in_front = |window: &Window| match stacking {
            Some(order) => order.iter().take_while(|other| *other != uid).any(|other| *other == window.uid),
            None => perhaps && window.uid != uid,
        };
        Ok(self.windows.iter().filter(|window| !window.minimized && is_in_front(window)).collect())
    }

    /// The frontmost window under a point, whatever menus lie over it.
    pub(super) fn front_window_at(&self, point: Point) -> Result<Option<&Window>> {
        let windows = &self.windows;
        let hit = |window: &&Window| !window.minimized && window.bounds.contains(point);
        Ok(match self.stacking()? {
            Some(stacking) => {
                stacking.iter().filter_map(|uid| windows.iter().find(|window| window.uid == *uid)).find(hit)
            }
            None => windows.iter().filter(|window| window.focused).find(hit).or(windows.iter().find(hit)),
        })
    }
}

impl Observer {
    /// Looks at the desktop now.
    pub fn desktop(&self) -> Result<Arc<DesktopState>> {
        let generation = self.generation()?;
        let windows = self.platform.desktop().windows()?;
        lock(&self.listed).clone_from(&windows);
        Ok(Arc::new(DesktopState::new(self.platform.clone(), windows, generation)))
    }

    /// Keeps a look that was taken after an input, when what came of it was there.
    pub fn keep_look(&self, desktop: &Arc<DesktopState>) {
        *lock(&self.kept) = Some(KeptLook { desktop: desktop.clone(), at: self.clock.now() });
    }

    /// The desktop now. Right after an input, if nothing was told of since, it is the look that was taken then.
    pub fn desktop_after_input(&self) -> Result<Arc<DesktopState>> {
        let generation = self.generation()?;
        let is_fresh = |kept: &KeptLook| {
            kept.desktop.generation == generation && self.clock.now().saturating_sub(kept.at) < KEPT_TIME
        };
        let kept = lock(&self.kept).as_ref().filter(|kept| is_fresh(kept)).map(|it| it.desktop.clone());
        kept.map_or_else(|| self.desktop(), Ok)
    }

    /// The desktop now: the same look, if nothing changed since.
    pub fn desktop_since(&self, earlier: &Arc<DesktopState>) -> Result<Arc<DesktopState>> {
        if self.generation()? == earlier.generation { Ok(earlier.clone()) } else { self.desktop() }
    }

    /// The windows as they were last listed, with the titles that may be shown.
    pub fn last_listing(&self) -> Vec<Window> {
        let listed = lock(&self.listed).clone();
        listed.into_iter().map(|window| self.shown_window(window)).collect()
    }

    /// The windows of a look, with the titles that may be shown.
    pub fn shown_windows(&self, desktop: &DesktopState) -> Vec<Window> {
        desktop.windows.iter().map(|window| self.shown_window(window.clone())).collect()
    }

    /// What a window showed in the look that it was chosen in: read when it is first asked for, and once.
    pub fn view_in_look(&self, chosen: &ResolvedWindow, cancel: &Cancel) -> Result<Arc<View>> {
        self.view_in_look_within(limits::TREE_WALK_TIME, chosen, cancel)
    }

    pub(super) fn view_in_look_within(
        &self,
        whole: Duration,
        chosen: &ResolvedWindow,
        cancel: &Cancel,
    ) -> Result<Arc<View>> {
        let views = &chosen.desktop.views;
        if let Some(known) = lock(views).get(&chosen.raw.uid) {
            return known.clone();
        }
        let view = self.view_within(whole, chosen, cancel);
        lock(views).insert(chosen.raw.uid.clone(), view.clone());
        view
    }
}
