//! Which windows there are, put together from two lists: CoreGraphics knows order, place and number of every window, the
//! applications know titles, which one has the keyboard, and which are minimized.
//!
//! No public function leads from one to the other, so windows are matched by place and title. Windows on other Spaces,
//! and those of hidden applications, are not operable in either list, and are left out.
//! So are the windows that sheets, popovers and menus are: they belong to a window that is listed.

use std::collections::HashMap;

use super::coordinates;
use super::records::{RawApp, RawAxWindow, RawLook, RawRect, RawWindow};
use crate::error::{Error, Kind};
use crate::model::{Point, Rect, Window};
use crate::platform::Menu;
use crate::platform::window_change::Reasons;

const UID: &str = "cg:";
/// What people call windows is on this layer.
const WINDOW_LAYER: i32 = 0;
/// Panels that float and alerts that stop their application are above it; with them are things that are no windows.
const PANEL_LAYERS: std::ops::RangeInclusive<i32> = 1..=8;
const MENU_BAR_LAYER: i32 = 24;
/// Above menus are only the pointer and what screen savers do.
const MENU_LAYER: i32 = 101;
const CURTAIN_HEIGHT: f64 = 300.0;
/// Anything smaller is a helper that nobody sees.
const LEAST_SIDE: f64 = 20.0;
/// How far apart the two lists may be about a place.
const SLACK: f64 = 2.0;

/// A window, and the key of the element that it is.
#[derive(Clone, Debug, PartialEq)]
pub struct Seen {
    pub window: Window,
    pub key: Option<u64>,
    pub id: u32,
    pub layer: i32,
}

pub fn uid_of(id: u32) -> String {
    format!("{UID}{id}")
}

pub fn id_of(uid: &str) -> Result<u32, Error> {
    uid.strip_prefix(UID).and_then(|number| number.parse().ok()).ok_or_else(|| gone(uid))
}

pub use crate::platform::gone;

/// Why nothing can be asked of a window whose element is not known.
pub fn no_element(look: &RawLook, seen: &Seen) -> Error {
    let title = &seen.window.title;
    let silent = look.apps.iter().any(|app| app.silent && u32::try_from(app.pid) == Ok(seen.window.pid));
    if silent {
        let message = format!("the application of '{title}' did not answer in time; it is busy or hangs");
        return Error::new(Kind::Timeout, message).with("phase", "tree");
    }
    let message = format!("the application does not report its window '{title}'; it may be busy");
    Error::new(Kind::PatternUnsupported, message)
}

/// From the front to the back, the minimized ones last.
pub fn windows(look: &RawLook) -> Vec<Seen> {
    let pairs = pair_elements(look);
    let of =
        |shown: bool| look.windows.iter().filter(move |raw| raw.on_screen == shown && may_be_window(raw));
    let mut seen: Vec<Seen> = of(true).chain(of(false)).filter_map(|raw| seen(look, &pairs, raw)).collect();
    focus_front(look, &mut seen);
    seen
}

/// The order of those on the screen, from the front to the back.
pub fn stacking(seen: &[Seen]) -> Vec<String> {
    seen.iter().filter(|seen| !seen.window.minimized).map(|seen| seen.window.uid.clone()).collect()
}

/// The order in which windows were first seen: the front changes with every click, an index should not.
#[derive(Debug, Default)]
pub struct Roster {
    known: Vec<u32>,
}

impl Roster {
    /// Those that have been there for longer first; new ones from the back to the front.
    pub fn ordered(&mut self, seen: Vec<Seen>) -> Vec<Window> {
        self.known.retain(|known| seen.iter().any(|seen| seen.id == *known));
        for seen in seen.iter().rev() {
            if !self.known.contains(&seen.id) {
                self.known.push(seen.id);
            }
        }
        let find = |id: &u32| seen.iter().find(|seen| seen.id == *id);
        self.known.iter().filter_map(find).map(|seen| seen.window.clone()).collect()
    }
}

/// The applications that may have windows, each once: those that show something, and those that may have something
/// minimized, which is on no screen.
pub fn owners(windows: &[RawWindow]) -> Vec<i32> {
    let mut pids: Vec<i32> = windows
        .iter()
        .filter(|raw| may_be_window(raw) && (raw.on_screen || raw.title.is_some()))
        .map(|raw| raw.pid)
        .collect();
    pids.sort_unstable();
    pids.dedup();
    pids
}

/// Where keys go if nobody tells: to whoever has the frontmost window.
pub fn likely_front(windows: &[RawWindow]) -> Option<i32> {
    windows.iter().find(|raw| raw.on_screen && raw.layer == WINDOW_LAYER).map(|raw| raw.pid)
}

fn may_be_window(raw: &RawWindow) -> bool {
    let large = raw.bounds.width >= LEAST_SIDE && raw.bounds.height >= LEAST_SIDE;
    (raw.layer == WINDOW_LAYER || PANEL_LAYERS.contains(&raw.layer)) && raw.alpha > 0.0 && large
}

/// Off the screen only what its application calls minimized counts, and above the windows only what its application
/// calls a window. Among the windows one counts also when the application does not tell of it, unless it told of others
/// and this one has no name: that is a helper, or a sheet.
fn seen(look: &RawLook, pairs: &HashMap<u32, &RawAxWindow>, raw: &RawWindow) -> Option<Seen> {
    let app = look.apps.iter().find(|app| app.pid == raw.pid);
    let tells = app.and_then(|app| app.windows.as_ref()).is_some_and(|windows| !windows.is_empty());
    let found = pairs.get(&raw.id).copied();
    let nameless = raw.title.as_deref().is_none_or(str::is_empty);
    if found.is_none() && (!raw.on_screen || raw.layer != WINDOW_LAYER || (tells && nameless)) {
        return None;
    }
    let key = found.map(|window| window.key);
    Some(Seen { window: window(raw, app, found), key, id: raw.id, layer: raw.layer })
}

/// Which element is which window; each is used once. Those of which place and title agree come first, so that no other
/// takes what is surely theirs; then a place that agrees, then a title that no other has.
fn pair_elements(look: &RawLook) -> HashMap<u32, &RawAxWindow> {
    let mut pairs = HashMap::new();
    let mut used = Vec::new();
    for fits in [fits_both, fits_place, fits_title] {
        for raw in look.windows.iter().filter(|raw| may_be_window(raw)) {
            let app = look.apps.iter().find(|app| app.pid == raw.pid);
            let told = app.and_then(|app| app.windows.as_deref()).unwrap_or_default();
            let free: Vec<&RawAxWindow> = told
                .iter()
                .filter(|window| window.minimized != raw.on_screen && !used.contains(&window.key))
                .collect();
            if !pairs.contains_key(&raw.id)
                && let Some(window) = fits(raw, &free)
            {
                used.push(window.key);
                pairs.insert(raw.id, window);
            }
        }
    }
    pairs
}

fn is_there(raw: &RawWindow, window: &RawAxWindow) -> bool {
    window.bounds.is_some_and(|bounds| is_near(bounds, raw.bounds))
}

fn is_titled(raw: &RawWindow, window: &RawAxWindow) -> bool {
    raw.title.as_deref().is_some_and(|title| !title.is_empty() && title == window.title)
}

fn fits_both<'a>(raw: &RawWindow, free: &[&'a RawAxWindow]) -> Option<&'a RawAxWindow> {
    free.iter().find(|window| is_there(raw, window) && is_titled(raw, window)).copied()
}

fn fits_place<'a>(raw: &RawWindow, free: &[&'a RawAxWindow]) -> Option<&'a RawAxWindow> {
    free.iter().find(|window| is_there(raw, window)).copied()
}

fn fits_title<'a>(raw: &RawWindow, free: &[&'a RawAxWindow]) -> Option<&'a RawAxWindow> {
    let mut same = free.iter().filter(|window| is_titled(raw, window));
    same.next().filter(|_| same.next().is_none()).copied()
}

fn is_near(left: RawRect, right: RawRect) -> bool {
    let near = |left: f64, right: f64| (left - right).abs() <= SLACK;
    near(left.x, right.x)
        && near(left.y, right.y)
        && near(left.width, right.width)
        && near(left.height, right.height)
}

fn window(raw: &RawWindow, app: Option<&RawApp>, found: Option<&RawAxWindow>) -> Window {
    let told = found.map(|window| window.title.clone()).filter(|title| !title.is_empty());
    let title = told.or_else(|| raw.title.clone().filter(|title| !title.is_empty()));
    let keyboard =
        app.and_then(|app| app.focused).is_some_and(|key| found.is_some_and(|window| window.key == key));
    Window {
        uid: uid_of(raw.id),
        handle: raw.id.to_string(),
        title: title.unwrap_or_else(|| raw.owner.clone()),
        process: raw.owner.clone(),
        pid: u32::try_from(raw.pid).unwrap_or(0),
        bounds: coordinates::rect(raw.bounds),
        focused: keyboard,
        minimized: found.is_some_and(|window| window.minimized),
        url: None,
    }
}

/// Every application has a window that it calls focused; the one that counts is the front one's. An application that
/// does not tell has its frontmost window taken for it.
fn focus_front(look: &RawLook, seen: &mut [Seen]) {
    let front = look.front.and_then(|pid| u32::try_from(pid).ok());
    seen.iter_mut()
        .filter(|seen| Some(seen.window.pid) != front)
        .for_each(|seen| seen.window.focused = false);
    if seen.iter().any(|seen| seen.window.focused) {
        return;
    }
    let first = seen.iter_mut().find(|seen| Some(seen.window.pid) == front && !seen.window.minimized);
    if let Some(first) = first {
        first.window.focused = true;
    }
}

/// What is under a point, be it a window, a menu or the menu bar.
pub fn under(look: &RawLook, point: Point) -> Option<&RawWindow> {
    look.windows
        .iter()
        .filter(|raw| raw.on_screen && raw.alpha > 0.0 && raw.layer <= MENU_LAYER && !is_curtain(raw))
        .find(|raw| coordinates::rect(raw.bounds).contains(point))
}

/// What lies under a pointer and is no listed window. The menu bar is in the tree of the window that is in front; the
/// Dock and the desktop are nobody's.
pub fn menu_at(look: &RawLook, point: Point) -> Option<Menu> {
    let (raw, listed) = (under(look, point)?, windows(look));
    if listed.iter().any(|seen| seen.id == raw.id) {
        return None;
    }
    let owner = if raw.layer == MENU_BAR_LAYER {
        listed.iter().find(|seen| seen.window.focused).map(|seen| seen.id)
    } else {
        owner_of(look, &listed, raw)
    };
    Some(Menu { bounds: coordinates::rect(raw.bounds), window_uid: owner.map(uid_of) })
}

/// Whether a click there meets the window, something of its application that belongs to it (a sheet, a popover, a
/// panel without a name), an open menu of its application, or the menu bar.
pub fn meets(look: &RawLook, point: Point, id: u32) -> bool {
    let pid = look.windows.iter().find(|raw| raw.id == id).map(|raw| raw.pid);
    under(look, point).is_some_and(|raw| {
        let same = Some(raw.pid) == pid;
        let in_plane = raw.layer == WINDOW_LAYER || PANEL_LAYERS.contains(&raw.layer);
        raw.id == id
            || raw.layer == MENU_BAR_LAYER
            || (same && (!in_plane || owner_of(look, &windows(look), raw) == Some(id)))
    })
}

/// The listed window that one which is not listed belongs to: the next of its application behind it, if possible one
/// that it lies over. `None` for a listed one.
fn owner_of(look: &RawLook, listed: &[Seen], raw: &RawWindow) -> Option<u32> {
    let is_listed = |id: u32| listed.iter().any(|seen| seen.id == id);
    if is_listed(raw.id) {
        return None;
    }
    let place = coordinates::rect(raw.bounds);
    let behind = look.windows.iter().skip_while(|other| other.id != raw.id);
    let mut behind =
        behind.filter(|other| other.on_screen && other.pid == raw.pid && is_listed(other.id)).peekable();
    let nearest = behind.peek().map(|other| other.id);
    behind.find(|other| coordinates::rect(other.bounds).intersects(&place)).map(|other| other.id).or(nearest)
}

/// What a picture of a window shows beside it, from the front to the back, itself last: its sheets, popovers and open
/// menus.
pub fn pictured(look: &RawLook, id: u32) -> Vec<u32> {
    let listed = windows(look);
    let seen = listed.iter().find(|seen| seen.id == id);
    let Some(seen) = seen.filter(|seen| !seen.window.minimized) else {
        return vec![id];
    };
    let over = look.windows.iter().filter(|raw| raw.on_screen && raw.alpha > 0.0 && raw.layer <= MENU_LAYER);
    let over = over
        .take_while(|raw| raw.id != id)
        .filter(|raw| coordinates::rect(raw.bounds).intersects(&seen.window.bounds));
    over.filter(|raw| owner_of(look, &listed, raw) == Some(id)).map(|raw| raw.id).chain([id]).collect()
}

/// Whether no other window of its plane is before it. What floats above does so whatever is raised.
pub fn is_front(seen: &[Seen], id: u32) -> bool {
    let layer = seen.iter().find(|seen| seen.id == id).map_or(WINDOW_LAYER, |seen| seen.layer);
    seen.iter().find(|seen| seen.layer <= layer && !seen.window.minimized).is_some_and(|seen| seen.id == id)
}

/// The Dock and the window server keep windows over the whole screen that let every click through.
fn is_curtain(raw: &RawWindow) -> bool {
    let large = raw.bounds.height >= CURTAIN_HEIGHT;
    large
        && raw.layer > WINDOW_LAYER
        && matches!(raw.owner.as_str(), "Dock" | "Window Server" | "WindowManager")
}

/// Where a window may be on its monitor: below the menu bar.
pub fn room(look: &RawLook, monitors: &[Rect], bounds: Rect) -> Option<Rect> {
    let shared = |monitor: &Rect| {
        monitor.intersection(&bounds).map_or(0, |part| i64::from(part.width) * i64::from(part.height))
    };
    let monitor = monitors.iter().copied().max_by_key(shared)?;
    let bar = look.windows.iter().filter(|raw| raw.layer == MENU_BAR_LAYER && raw.on_screen);
    let bar = bar
        .map(|raw| coordinates::rect(raw.bounds))
        .find(|bar| bar.y == monitor.y && bar.x == monitor.x && bar.height < monitor.height / 4);
    let height = bar.map_or(0, |bar| bar.height);
    Some(Rect { y: monitor.y + height, height: monitor.height - height, ..monitor })
}

/// macOS has no such state: a window that takes all the room of its monitor but the Dock's is taken for maximized.
pub fn is_maximized(bounds: Rect, room: Option<Rect>) -> bool {
    room.is_some_and(|room| {
        let near = |left: i32, right: i32, slack: i32| (left - right).abs() <= slack;
        near(bounds.x, room.x, 8)
            && near(bounds.y, room.y, 8)
            && bounds.width * 20 >= room.width * 19
            && bounds.height * 20 >= room.height * 17
    })
}

pub const REASONS: Reasons = Reasons {
    raise: "another window is kept above it",
    show: "the application did not do it",
    maximize: "the application allows only the size that is reported",
    place: "the application or the screen's edges allow only what is reported",
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Kind;

    fn look() -> RawLook {
        let path = format!("{}/tests/fixtures/macos/windows.json", env!("CARGO_MANIFEST_DIR"));
        serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
    }

    fn told(look: &RawLook) -> Vec<String> {
        windows(look)
            .iter()
            .map(|seen| {
                let Window { uid, title, process, focused, minimized, .. } = &seen.window;
                let marks = [(*focused, " focused"), (*minimized, " minimized")];
                let marks: String = marks.iter().filter(|(is, _)| *is).map(|(_, mark)| *mark).collect();
                format!("{uid} {process}: {title}{marks} {:?}", seen.key)
            })
            .collect()
    }

    #[test]
    fn what_is_not_listed_is_a_menu_of_its_owner_or_of_nobody() {
        let look = look();
        let owner = |x, y| menu_at(&look, Point { x, y }).map(|menu| menu.window_uid);
        assert_eq!(owner(1350, 150), Some(Some(uid_of(301))), "a menu of Safari, beside its window");
        assert_eq!(owner(40, 10), Some(Some(uid_of(412))), "the menu bar, which is that of the front");
        assert_eq!(owner(240, 150), None, "a window");
        assert_eq!(owner(1450, 900), None, "nothing");
    }

    #[test]
    fn windows_are_put_together_from_both_lists() {
        assert_eq!(
            told(&look()),
            [
                "cg:412 TextEdit: Letter.txt focused Some(11)",
                "cg:398 TextEdit: Untitled 2 Some(12)",
                "cg:301 Safari: Example Domain Some(21)",
                "cg:77 Stuck: Stuck None",
                "cg:299 Safari: Downloads minimized Some(22)",
            ]
        );
    }

    #[test]
    fn without_the_permission_to_record_titles_come_from_the_applications() {
        let mut look = look();
        look.windows.iter_mut().for_each(|raw| raw.title = None);
        let titles: Vec<String> = windows(&look).into_iter().map(|seen| seen.window.title).collect();
        assert_eq!(titles, ["Letter.txt", "Untitled 2", "Example Domain", "Stuck", "Downloads"]);
    }

    #[test]
    fn without_the_permission_for_elements_windows_come_from_coregraphics() {
        let mut look = look();
        look.apps.clear();
        let seen = windows(&look);
        assert!(seen.iter().all(|seen| seen.key.is_none() && !seen.window.minimized));
        assert!(seen[0].window.focused && seen.iter().filter(|seen| seen.window.focused).count() == 1);
    }

    #[test]
    fn two_windows_in_one_place_are_two_windows() {
        let bounds = RawRect { x: 5.0, y: 5.0, width: 100.0, height: 100.0 };
        let raw = |id| RawWindow {
            id,
            pid: 9,
            owner: "A".to_owned(),
            bounds,
            alpha: 1.0,
            on_screen: true,
            ..RawWindow::default()
        };
        let ax = |key: u64, title: &str| RawAxWindow {
            key,
            title: title.to_owned(),
            bounds: Some(bounds),
            minimized: false,
        };
        let told = Some(vec![ax(1, "one"), ax(2, "two")]);
        let app = RawApp { pid: 9, windows: told, focused: Some(2), silent: false };
        let look = RawLook { windows: vec![raw(10), raw(11)], apps: vec![app], front: Some(9) };
        let keys: Vec<_> = windows(&look).iter().map(|seen| seen.key).collect();
        assert_eq!(keys, [Some(1), Some(2)]);
    }

    fn place(x: i32, y: i32, width: i32, height: i32) -> RawRect {
        let [x, y, width, height] = [x, y, width, height].map(f64::from);
        RawRect { x, y, width, height }
    }

    fn shown(id: u32, layer: i32, title: &str, bounds: RawRect) -> RawWindow {
        RawWindow {
            id,
            pid: 9,
            owner: "A".to_owned(),
            title: Some(title.to_owned()),
            layer,
            alpha: 1.0,
            bounds,
            on_screen: true,
        }
    }

    fn told_of(key: u64, title: &str, bounds: RawRect) -> RawAxWindow {
        RawAxWindow { key, title: title.to_owned(), bounds: Some(bounds), minimized: false }
    }

    /// One application that is in front.
    fn one_app(windows: Vec<RawWindow>, told: Vec<RawAxWindow>) -> RawLook {
        let app = RawApp { pid: 9, windows: Some(told), ..RawApp::default() };
        RawLook { windows, apps: vec![app], front: Some(9) }
    }

    #[test]
    fn what_fits_best_is_matched_before_what_fits_too() {
        let (here, there) = (place(5, 5, 100, 100), place(300, 5, 100, 100));
        // By their place alone the first would take what is the second's.
        let look = one_app(
            vec![shown(10, 0, "one", here), shown(11, 0, "two", here), shown(12, 0, "three", there)],
            vec![told_of(2, "two", here), told_of(1, "one", here), told_of(3, "moved", there)],
        );
        let keys: Vec<_> = windows(&look).iter().map(|seen| seen.key).collect();
        assert_eq!(keys, [Some(1), Some(2), Some(3)]);
        // A title serves where the place changed between the two looks.
        let look = one_app(
            vec![shown(10, 0, "one", here), shown(11, 0, "two", there)],
            vec![told_of(2, "two", here), told_of(1, "one", place(7, 30, 100, 100))],
        );
        let keys: Vec<_> = windows(&look).iter().map(|seen| seen.key).collect();
        assert_eq!(keys, [Some(2), None], "the place counts more than the title");
    }

    /// A document, its alert above it, a panel that floats, and something that floats and is no window.
    fn layered() -> RawLook {
        let (document, alert) = (place(0, 0, 500, 400), place(100, 50, 200, 100));
        one_app(
            vec![
                shown(20, 8, "", alert),
                shown(21, 3, "Colours", place(600, 0, 100, 300)),
                shown(22, 3, "bubble", place(700, 0, 60, 60)),
                shown(23, 25, "status", place(900, 0, 60, 60)),
                shown(10, 0, "Letter", document),
            ],
            vec![
                told_of(2, "Save?", alert),
                told_of(3, "Colours", place(600, 0, 100, 300)),
                told_of(1, "Letter", document),
            ],
        )
    }

    #[test]
    fn alerts_and_panels_are_windows_where_their_application_says_so() {
        let look = layered();
        let titles: Vec<String> = windows(&look).into_iter().map(|seen| seen.window.title).collect();
        assert_eq!(titles, ["Save?", "Colours", "Letter"]);
        assert!(windows(&look)[0].window.focused, "the alert has the keyboard, not the document");
        let mut silent = look;
        silent.apps.clear();
        let ids: Vec<u32> = windows(&silent).iter().map(|seen| seen.id).collect();
        assert_eq!(ids, [10]);
    }

    #[test]
    fn what_floats_does_not_keep_a_window_from_being_in_front() {
        let seen = windows(&layered());
        assert!([10, 20, 21].iter().all(|id| is_front(&seen, *id)));
        let seen = windows(&with_sheets());
        assert!(is_front(&seen, 10) && !is_front(&seen, 20) && !is_front(&seen, 99));
    }

    /// Two documents, each with a sheet of its own over it, and a menu.
    fn with_sheets() -> RawLook {
        let (left, right) = (place(0, 0, 400, 400), place(500, 0, 400, 400));
        one_app(
            vec![
                shown(30, 101, "", place(50, 50, 100, 200)),
                shown(11, 0, "", place(100, 20, 200, 100)),
                shown(10, 0, "left", left),
                shown(21, 0, "", place(600, 20, 200, 100)),
                shown(20, 0, "right", right),
            ],
            vec![told_of(1, "left", left), told_of(2, "right", right)],
        )
    }

    #[test]
    fn a_sheet_belongs_to_the_window_that_it_lies_over() {
        let look = with_sheets();
        assert_eq!(windows(&look).iter().map(|seen| seen.id).collect::<Vec<_>>(), [10, 20]);
        let hit = |x, y, id| meets(&look, Point { x, y }, id);
        assert!(hit(250, 60, 10) && !hit(250, 60, 20), "the left sheet");
        assert!(hit(700, 60, 20) && !hit(700, 60, 10), "the right sheet");
        assert!(hit(60, 200, 10) && hit(60, 200, 20), "a menu is its application's");
        assert!(hit(300, 300, 10) && !hit(300, 300, 20));
    }

    #[test]
    fn a_window_that_is_listed_covers_others_of_its_application() {
        let (left, over) = (place(0, 0, 400, 400), place(0, 0, 100, 100));
        let look = one_app(
            vec![shown(11, 0, "over", over), shown(10, 0, "left", left)],
            vec![told_of(1, "left", left), told_of(2, "over", over)],
        );
        assert!(!meets(&look, Point { x: 50, y: 50 }, 10) && meets(&look, Point { x: 50, y: 50 }, 11));
    }

    #[test]
    fn a_picture_has_what_belongs_to_its_window() {
        let look = with_sheets();
        assert_eq!(pictured(&look, 10), [30, 11, 10]);
        assert_eq!(pictured(&look, 20), [21, 20]);
        assert_eq!(pictured(&look, 99), [99]);
    }

    #[test]
    fn an_index_stays_while_the_front_changes() {
        let mut roster = Roster::default();
        let mut look = with_sheets();
        let mut uids = |look: &RawLook| {
            let all = roster.ordered(windows(look));
            all.into_iter().map(|window| window.uid).collect::<Vec<_>>()
        };
        assert_eq!(uids(&look), ["cg:20", "cg:10"]);
        look.windows.reverse();
        look.windows.push(shown(40, 0, "new", place(0, 500, 50, 50)));
        assert_eq!(uids(&look), ["cg:20", "cg:10", "cg:40"]);
        look.windows.retain(|raw| raw.id != 20);
        assert_eq!(uids(&look), ["cg:10", "cg:40"]);
    }

    #[test]
    fn only_applications_that_may_have_windows_are_asked() {
        assert_eq!(owners(&look().windows), [501, 640, 700]);
        assert_eq!(likely_front(&look().windows), Some(501));
    }

    #[test]
    fn a_window_without_an_element_says_why() {
        let mut look = look();
        let stuck = windows(&look).into_iter().find(|seen| seen.id == 77).unwrap();
        assert_eq!(no_element(&look, &stuck).kind, Kind::PatternUnsupported);
        look.apps.iter_mut().filter(|app| app.pid == 700).for_each(|app| app.silent = true);
        assert_eq!(no_element(&look, &stuck).kind, Kind::Timeout);
    }

    #[test]
    fn minimized_windows_are_in_no_order() {
        assert_eq!(stacking(&windows(&look())), ["cg:412", "cg:398", "cg:301", "cg:77"]);
    }

    #[test]
    fn uids_are_read_back() {
        assert_eq!(id_of(&uid_of(412)).unwrap(), 412);
        for foreign in ["412", "cg:", "cg:x", "x11:4a", "cg:-3"] {
            assert_eq!(id_of(foreign).unwrap_err().kind, Kind::WindowGone, "{foreign}");
        }
    }

    #[test]
    fn menus_lie_over_windows_and_curtains_over_nothing() {
        let look = look();
        let at = |x, y| under(&look, Point { x, y }).map(|raw| raw.id);
        assert_eq!(at(300, 300), Some(412));
        assert_eq!(at(1_200, 700), Some(301));
        assert_eq!(at(5, 5), Some(2), "the menu bar");
        assert_eq!(at(5, 900), None);
        let hit = |x, y, id| meets(&look, Point { x, y }, id);
        assert!(hit(300, 300, 412) && !hit(300, 300, 301) && hit(5, 5, 301) && !hit(5, 900, 412));
        assert!(hit(1_350, 105, 301) && !hit(1_350, 105, 412), "an open menu is its application's");
    }

    #[test]
    fn a_window_may_be_below_the_menu_bar() {
        let monitor = Rect::new(0, 0, 1512, 982);
        let other = Rect::new(1512, 0, 1920, 1080);
        let room_of = |bounds| room(&look(), &[monitor, other], bounds);
        assert_eq!(room_of(Rect::new(10, 50, 400, 300)), Some(Rect::new(0, 33, 1512, 949)));
        assert_eq!(room_of(Rect::new(1600, 50, 400, 300)), Some(other));
        assert_eq!(room(&look(), &[], monitor), None);
    }

    fn check_maximized(bounds: Rect, expected: bool) {
        assert_eq!(is_maximized(bounds, Some(Rect::new(0, 33, 1512, 949))), expected, "{bounds:?}");
    }

    #[test]
    fn a_window_that_leaves_the_dock_alone_is_maximized() {
        check_maximized(Rect::new(0, 33, 1512, 949), true);
        check_maximized(Rect::new(0, 33, 1512, 870), true);
        check_maximized(Rect::new(0, 33, 756, 949), false);
        check_maximized(Rect::new(40, 60, 1400, 900), false);
        assert!(!is_maximized(Rect::new(0, 0, 100, 100), None));
    }
}
