//! A desktop with a browser beside it: one list of windows. The pages lie to the right of the desktop's screen, where
//! no window of it is, so that a point belongs to one of the two. Everything else goes by the uid of its window, and
//! keys without one to the part that was worked last.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::{
    Accessibility, Activation, Capture, Chosen, Claimant, Desktop, Done, Facts, FieldText, Health, Input,
    Menu, Pages, Patience, Platform, PointedNodes, PressGuard, PressKind, Shot, Stage, Wake, Watch,
    ancestors, platform_parts,
};
use crate::clock::{Cancel, Deadline};
use crate::error::Result;
use crate::model::app::AppNames;
use crate::model::input::{Act, Delivery, Handle};
use crate::model::page::{
    ChooserFiles, Download, Forgettable, HistoryStep, HostBytes, HostCookies, PageLogLines, PageVisit,
    ShownPage,
};
use crate::model::{Monitor, Point, Reached, Rect, Tree, Window, WindowChange};

/// What the uids of a browser's windows begin with.
const TAB: &str = "tab:";

/// How long a change of the part behind may go unnoticed by who waits for both.
const LOOK_BEHIND: Duration = Duration::from_millis(50);

/// A desktop and a browser as one. Both end with us. Without one of them there is neither: what was asked for is both.
pub fn put_beside(desktop: Chosen, browser: Chosen) -> Chosen {
    if desktop.platform.facts().unavailable.is_some() {
        return desktop;
    }
    if browser.platform.facts().unavailable.is_some() {
        return browser;
    }
    let both =
        Beside { desktop: desktop.platform, browser: browser.platform, in_browser: AtomicBool::new(true) };
    let seen_by = desktop.seen_by.or(browser.seen_by);
    let ends_with_us = Box::new((browser.ends_with_us, desktop.ends_with_us));
    Chosen { platform: Arc::new(both), ends_with_us: Some(ends_with_us), seen_by }
}

struct Beside {
    desktop: Arc<dyn Platform>,
    browser: Arc<dyn Platform>,
    /// The part that was worked last has the keyboard.
    in_browser: AtomicBool,
}

fn is_tab(uid: &str) -> bool {
    uid.starts_with(TAB)
}

fn moved_point(point: Point, by: i32) -> Point {
    Point { x: point.x.saturating_add(by), ..point }
}

fn moved_rect(rect: Rect, by: i32) -> Rect {
    Rect { x: rect.x.saturating_add(by), ..rect }
}

fn moved_window(window: &Window, by: i32) -> Window {
    Window { bounds: moved_rect(window.bounds, by), ..window.clone() }
}

fn moved_tree(mut tree: Tree, by: i32) -> Tree {
    tree.change_elements(|element| {
        // What takes no room is nowhere.
        if !element.bounds.is_empty() {
            element.bounds = moved_rect(element.bounds, by);
        }
    });
    tree
}

fn moved_act(act: &Act, by: i32) -> Act {
    let mut act = act.clone();
    match &mut act {
        Act::Click { at, .. } | Act::Scroll { at, .. } | Act::Hover { at, .. } => {
            *at = at.map(|at| moved_point(at, by));
        }
        Act::Drag { from, to, .. } => (*from, *to) = (moved_point(*from, by), moved_point(*to, by)),
        _ => {}
    }
    act
}

/// A guard that is asked about points of a page, and judges points of both.
struct MovedGuard<'a> {
    inner: &'a dyn PressGuard,
    by: i32,
}

impl PressGuard for MovedGuard<'_> {
    fn judges(&self) -> bool {
        self.inner.judges()
    }

    fn check_press(&self, at: Point, kind: PressKind) -> Result<()> {
        self.inner.check_press(moved_point(at, self.by), kind)
    }
}

impl Beside {
    /// Where the pages begin.
    fn right_edge(&self) -> Result<i32> {
        Ok(self.desktop.desktop().screen()?.map_or(0, |screen| screen.x.saturating_add(screen.width)))
    }

    fn is_in_browser(&self) -> bool {
        self.in_browser.load(Ordering::Relaxed)
    }

    fn part_of(&self, uid: &str) -> &dyn Platform {
        if is_tab(uid) { &*self.browser } else { &*self.desktop }
    }

    fn part_in_front(&self) -> &dyn Platform {
        if self.is_in_browser() { &*self.browser } else { &*self.desktop }
    }

    /// How far the places of a window are from those that its part knows.
    fn shift_of(&self, uid: &str) -> Result<i32> {
        if is_tab(uid) { self.right_edge() } else { Ok(0) }
    }

    /// Whether an act is for the browser.
    fn is_for_browser(&self, act: &Act) -> Result<bool> {
        if let Some(element) = act.element() {
            return Ok(is_tab(&element.window_uid));
        }
        let at = match act {
            Act::Type { window_uid: Some(uid), .. } | Act::Key { window_uid: Some(uid), .. } => {
                return Ok(is_tab(uid));
            }
            Act::Click { at, .. } | Act::Scroll { at, .. } | Act::Hover { at, .. } => *at,
            Act::Drag { from, .. } => Some(*from),
            _ => None,
        };
        match at {
            Some(at) => Ok(at.x >= self.right_edge()?),
            None => Ok(self.is_in_browser()),
        }
    }

    /// The tab in front, where another window is meant.
    fn tab_for(&self, uid: Option<String>) -> Result<Option<String>> {
        match uid {
            Some(uid) if !is_tab(&uid) => {
                let windows = self.browser.desktop().windows()?;
                Ok(windows.into_iter().find(|window| window.focused).map(|window| window.uid))
            }
            uid => Ok(uid),
        }
    }
}

impl Platform for Beside {
    fn facts(&self) -> Facts {
        let (desktop, browser) = (self.desktop.facts(), self.browser.facts());
        let mut limitations = desktop.limitations.clone();
        limitations.push(
            "the pages of the browser lie to the right of the screen; the clipboard and programs are the desktop's"
                .to_owned(),
        );
        Facts { limitations, unavailable: desktop.unavailable.clone().or(browser.unavailable), ..desktop }
    }

    fn health(&self) -> Health {
        let (desktop, browser) = (self.desktop.health(), self.browser.health());
        Health { desktop: desktop.desktop.clone().or(browser.desktop), ..desktop }
    }

    fn stage(&self) -> Option<&dyn Stage> {
        self.desktop.stage()
    }

    platform_parts! { self,
        desktop: self,
        accessibility: self,
        input: self,
        capture: self,
        clipboard: self.desktop.clipboard(),
        apps: self.desktop.apps(),
        watch: self,
        pages: self,
    }
}

impl Desktop for Beside {
    /// The windows of the desktop keep their indices.
    fn windows(&self) -> Result<Vec<Window>> {
        let (edge, in_browser) = (self.right_edge()?, self.is_in_browser());
        let own = self.desktop.desktop().windows()?.into_iter();
        let own = own.map(|window| Window { focused: window.focused && !in_browser, ..window });
        let tabs = self.browser.desktop().windows()?.into_iter();
        let tabs = tabs.map(|tab| Window { focused: tab.focused && in_browser, ..moved_window(&tab, edge) });
        Ok(own.chain(tabs).collect())
    }

    fn stacking(&self) -> Result<Option<Vec<String>>> {
        let (own, tabs) = (self.desktop.desktop().stacking()?, self.browser.desktop().stacking()?);
        Ok(own.zip(tabs).map(|(own, tabs)| match self.is_in_browser() {
            true => [tabs, own].concat(),
            false => [own, tabs].concat(),
        }))
    }

    fn menu_at(&self, point: Point) -> Result<Option<Menu>> {
        if point.x >= self.right_edge()? { Ok(None) } else { self.desktop.desktop().menu_at(point) }
    }

    fn monitors(&self) -> Result<Vec<Monitor>> {
        let edge = self.right_edge()?;
        let tabs = self.browser.desktop().monitors()?.into_iter();
        let tabs = tabs.map(|page| Monitor {
            primary: false,
            logical: moved_rect(page.logical, edge),
            physical: moved_rect(page.physical, edge),
            ..page
        });
        Ok(self.desktop.desktop().monitors()?.into_iter().chain(tabs).collect())
    }

    fn screen(&self) -> Result<Option<Rect>> {
        let edge = self.right_edge()?;
        let pages = self.browser.desktop().screen()?.map(|pages| moved_rect(pages, edge));
        let own = self.desktop.desktop().screen()?;
        Ok(match (own, pages) {
            (Some(own), Some(pages)) => {
                let height = (own.y + own.height).max(pages.y + pages.height) - own.y.min(pages.y);
                let width = pages.x + pages.width - own.x;
                Some(Rect { x: own.x, y: own.y.min(pages.y), width, height })
            }
            (own, pages) => own.or(pages),
        })
    }

    fn is_splash(&self, window: &Window) -> Result<bool> {
        self.part_of(&window.uid).desktop().is_splash(window)
    }

    fn app_names(&self, window: &Window) -> Result<AppNames> {
        self.part_of(&window.uid).desktop().app_names(window)
    }

    fn popup_areas(&self, window: &Window) -> Result<Vec<Rect>> {
        let by = self.shift_of(&window.uid)?;
        let areas = self.part_of(&window.uid).desktop().popup_areas(&moved_window(window, -by))?;
        Ok(areas.into_iter().map(|area| moved_rect(area, by)).collect())
    }

    fn hosts(&self) -> Vec<ancestors::Ancestor> {
        self.desktop.desktop().hosts()
    }

    fn pointer(&self) -> Result<Option<Point>> {
        let by = if self.is_in_browser() { self.right_edge()? } else { 0 };
        Ok(self.part_in_front().desktop().pointer()?.map(|at| moved_point(at, by)))
    }

    fn owner(&self, window: &Window) -> Result<Option<String>> {
        self.part_of(&window.uid).desktop().owner(window)
    }

    fn activate(&self, window: &Window) -> Result<Activation> {
        let by = self.shift_of(&window.uid)?;
        let activation = self.part_of(&window.uid).desktop().activate(&moved_window(window, -by))?;
        self.in_browser.store(is_tab(&window.uid), Ordering::Relaxed);
        Ok(activation)
    }

    fn change(
        &self,
        window: &Window,
        change: &WindowChange,
        at_most: Duration,
        cancel: &Cancel,
    ) -> Result<Reached> {
        let by = self.shift_of(&window.uid)?;
        let part = self.part_of(&window.uid).desktop();
        let mut reached = part.change(&moved_window(window, -by), change, at_most, cancel)?;
        if let Some(state) = &mut reached.state {
            state.bounds = moved_rect(state.bounds, by);
        }
        if matches!(change, WindowChange::Raise | WindowChange::Restore) {
            self.in_browser.store(is_tab(&window.uid), Ordering::Relaxed);
        }
        Ok(reached)
    }
}

impl Accessibility for Beside {
    fn tree(&self, window: &Window, patience: &Patience) -> Result<Tree> {
        let by = self.shift_of(&window.uid)?;
        let part = self.part_of(&window.uid).accessibility();
        part.tree(&moved_window(window, -by), patience).map(|tree| moved_tree(tree, by))
    }

    fn focus_tree(&self, window: &Window, patience: &Patience) -> Result<Tree> {
        let by = self.shift_of(&window.uid)?;
        let part = self.part_of(&window.uid).accessibility();
        part.focus_tree(&moved_window(window, -by), patience).map(|tree| moved_tree(tree, by))
    }

    fn field(&self, element: &Handle, cancel: &Cancel) -> Result<Option<FieldText>> {
        self.part_of(&element.window_uid).accessibility().field(element, cancel)
    }

    fn text_places(
        &self,
        element: &Handle,
        text: &str,
        characters: &[Range<usize>],
        cancel: &Cancel,
    ) -> Result<Option<Vec<Rect>>> {
        let by = self.shift_of(&element.window_uid)?;
        let part = self.part_of(&element.window_uid).accessibility();
        let places = part.text_places(element, text, characters, cancel)?;
        Ok(places.map(|places| places.into_iter().map(|place| moved_rect(place, by)).collect()))
    }

    fn nodes_at(
        &self,
        window: &Window,
        tree: &Tree,
        at: Point,
        cancel: &Cancel,
    ) -> Result<Option<PointedNodes>> {
        let by = self.shift_of(&window.uid)?;
        let part = self.part_of(&window.uid).accessibility();
        part.nodes_at(&moved_window(window, -by), tree, moved_point(at, -by), cancel)
    }
}

impl Input for Beside {
    fn act(&self, act: &Act, delivery: Delivery, guard: &dyn PressGuard, cancel: &Cancel) -> Result<Done> {
        let for_browser = self.is_for_browser(act)?;
        self.in_browser.store(for_browser, Ordering::Relaxed);
        if !for_browser {
            return self.desktop.input().act(act, delivery, guard, cancel);
        }
        let by = self.right_edge()?;
        let guard = MovedGuard { inner: guard, by };
        self.browser.input().act(&moved_act(act, -by), delivery, &guard, cancel)
    }

    fn check(&self, act: &Act, cancel: &Cancel) -> Result<()> {
        match self.is_for_browser(act)? {
            true => self.browser.input().check(&moved_act(act, -self.right_edge()?), cancel),
            false => self.desktop.input().check(act, cancel),
        }
    }

    fn await_rest(&self, window: &Window, at_most: Duration, cancel: &Cancel) -> Result<bool> {
        self.part_of(&window.uid).input().await_rest(window, at_most, cancel)
    }

    /// One lease for both: nobody else works the browser.
    fn claim(&self, claimant: &Claimant) -> Result<()> {
        self.desktop.input().claim(claimant)
    }

    fn give_back(&self, claimant: &Claimant) {
        self.desktop.input().give_back(claimant);
    }

    fn release_all(&self) {
        self.desktop.input().release_all();
        self.browser.input().release_all();
    }

    /// The region is of the desktop's screen; a page has no part of it, unless it reaches beyond.
    fn confine(&self, region: Rect) {
        self.desktop.input().confine(region);
        let by = self.right_edge().unwrap_or(i32::MAX);
        self.browser.input().confine(moved_rect(region, by.saturating_neg()));
    }
}

impl Capture for Beside {
    fn shows_own_pixels(&self) -> bool {
        self.desktop.capture().shows_own_pixels() && self.browser.capture().shows_own_pixels()
    }

    fn window_picture(&self, window: &Window) -> Result<Shot> {
        let by = self.shift_of(&window.uid)?;
        let shot = self.part_of(&window.uid).capture().window_picture(&moved_window(window, -by))?;
        Ok(Shot { area: moved_rect(shot.area, by), ..shot })
    }

    /// What a person would see: the desktop's screen.
    fn screen_picture(&self) -> Result<Shot> {
        self.desktop.capture().screen_picture()
    }

    fn region_picture(&self, area: Rect) -> Result<Shot> {
        let edge = self.right_edge()?;
        if area.x < edge {
            return self.desktop.capture().region_picture(area);
        }
        let shot = self.browser.capture().region_picture(moved_rect(area, -edge))?;
        Ok(Shot { area: moved_rect(shot.area, edge), ..shot })
    }
}

impl Watch for Beside {
    fn generation(&self) -> Result<u64> {
        Ok(self.desktop.watch().generation()?.wrapping_add(self.browser.watch().generation()?))
    }

    /// The part in front wakes at once, the other one within a moment.
    fn wait_change(&self, seen: u64, at_most: Duration, cancel: &Cancel) -> Result<Wake> {
        let deadline = Deadline::after(at_most);
        loop {
            let part = self.part_in_front().watch();
            let own = part.generation()?;
            if self.generation()? != seen {
                return Ok(Wake::Changed);
            }
            if deadline.is_over() {
                return Ok(Wake::Elapsed);
            }
            if part.wait_change(own, LOOK_BEHIND.min(deadline.left()), cancel)? == Wake::NoEvents {
                return Ok(Wake::NoEvents);
            }
        }
    }
}

/// Pages are the browser's; one that is opened comes to the front of both.
impl Pages for Beside {
    fn is_browser(&self) -> bool {
        true
    }

    fn visit(&self, visit: &PageVisit, cancel: &Cancel) -> Result<ShownPage> {
        let window_uid = self.tab_for(visit.window_uid.clone())?;
        self.in_browser.store(true, Ordering::Relaxed);
        self.browser.pages().visit(&PageVisit { window_uid, ..visit.clone() }, cancel)
    }

    fn step_history(
        &self,
        window_uid: &str,
        step: HistoryStep,
        at_most: Duration,
        cancel: &Cancel,
    ) -> Result<ShownPage> {
        self.browser.pages().step_history(window_uid, step, at_most, cancel)
    }

    fn reading_tree(&self, window: &Window, main_part: bool, patience: &Patience) -> Result<Tree> {
        self.browser.pages().reading_tree(window, main_part, patience)
    }

    fn named_files(&self, window_uid: &str) -> Vec<String> {
        self.browser.pages().named_files(window_uid)
    }

    fn chooser_files(&self, window_uid: Option<&str>, names: &[String]) -> Result<ChooserFiles> {
        self.browser.pages().chooser_files(window_uid, names)
    }

    fn choose_files(&self, chosen: &ChooserFiles, cancel: &Cancel) -> Result<()> {
        self.browser.pages().choose_files(chosen, cancel)
    }

    fn downloads(&self) -> Result<Vec<Download>> {
        self.browser.pages().downloads()
    }

    fn keep_download(&self, id: &str) -> Result<Download> {
        self.browser.pages().keep_download(id)
    }

    fn log_lines(&self) -> Result<PageLogLines> {
        self.browser.pages().log_lines()
    }

    fn cookies(&self, cancel: &Cancel) -> Result<Vec<HostCookies>> {
        self.browser.pages().cookies(cancel)
    }

    fn traffic(&self) -> Result<Vec<HostBytes>> {
        self.browser.pages().traffic()
    }

    fn forget(&self, what: Forgettable, origin: Option<&str>, cancel: &Cancel) -> Result<()> {
        self.browser.pages().forget(what, origin, cancel)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Clock;
    use crate::model::input::Button;
    use crate::platform::Unguarded;
    use crate::platform::mock::Mock;

    /// The mock desktop on both sides: that of the browser is asked for tabs alone.
    fn both() -> (Beside, i32) {
        let (desktop, browser) = (Mock::new(Clock::real()), Mock::new(Clock::real()));
        let both = Beside {
            desktop: Arc::new(desktop),
            browser: Arc::new(browser),
            in_browser: AtomicBool::new(false),
        };
        let edge = both.right_edge().unwrap();
        (both, edge)
    }

    #[test]
    fn one_window_has_the_focus() {
        let (both, edge) = both();
        for in_browser in [false, true] {
            both.in_browser.store(in_browser, Ordering::Relaxed);
            let windows = both.windows().unwrap();
            let focused: Vec<&Window> = windows.iter().filter(|window| window.focused).collect();
            assert_eq!(focused.len(), 1, "{windows:?}");
            assert_eq!(focused[0].bounds.x >= edge, in_browser);
        }
    }

    #[test]
    fn a_point_belongs_to_one_of_the_two() {
        let (both, edge) = both();
        let click = |x: i32| {
            let (button, count, modifiers) = (Button::Left, 1, Vec::new());
            Act::Click { element: None, at: Some(Point { x, y: 5 }), button, count, modifiers }
        };
        assert!(!both.is_for_browser(&click(edge - 1)).unwrap());
        assert!(both.is_for_browser(&click(edge)).unwrap());
        assert_eq!(moved_act(&click(edge + 3), -edge), click(3));
        let screen = both.screen().unwrap().unwrap();
        assert_eq!((screen.x, screen.width), (0, 2 * edge));
        both.act(&click(edge + 3), Delivery::Foreground, &Unguarded, &Cancel::new()).unwrap();
        assert!(both.is_in_browser());
    }

    #[test]
    fn a_handle_goes_to_the_part_of_its_window() {
        let (both, _) = both();
        let focus = |uid: &str| {
            let element = Handle { window_uid: uid.to_owned(), native: "1".to_owned() };
            Act::Focus { element }
        };
        assert!(both.is_for_browser(&focus("tab:1")).unwrap());
        assert!(!both.is_for_browser(&focus("x11:1")).unwrap());
    }

    #[test]
    fn a_change_of_either_part_is_heard() {
        let (both, _) = both();
        let seen = both.generation().unwrap();
        assert_eq!(both.wait_change(seen + 1, Duration::ZERO, &Cancel::new()).unwrap(), Wake::Changed);
    }
}
