//! From a window to the accessible object that is its root: by process, title and place.
//!
//! Never another window: where nothing fits, or two fit alike, the answer is that there is none, and why.

use std::rc::Rc;

use atspi::{Role, State};

use super::bus::{
    BusConnection, BusDeadline, BusError, BusReply, BusRequest, is_silent, read_object, read_objects, text,
};
use super::object::{ACCESSIBLE, AtspiObject, COMPONENT, States};
use super::roles;
use crate::model::Rect;

/// What the window system knows of the window.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WindowFacts {
    pub pid: u32,
    pub title: String,
    /// The area that the application draws, on the screen.
    pub client: Rect,
    /// Of that area, what is only the shadow around the window: left, top, right, bottom.
    pub shadow: [i32; 4],
    pub focused: bool,
    /// The application has no other window.
    pub alone: bool,
    /// Its menus and popovers that are windows of their own, on the screen.
    pub popups: Vec<Rect>,
    /// Its root on the bus, where that is known. Under Wayland applications count from a corner of their own, which is
    /// where the root says that it is.
    pub native: Option<String>,
}

/// The root of a window, and how its coordinates become those of the screen.
#[derive(Clone, Debug, PartialEq)]
pub struct AtspiFrame {
    pub object: AtspiObject,
    pub application: AtspiObject,
    pub role: u32,
    pub name: String,
    pub states: States,
    pub offset: (i32, i32),
    /// GTK4 says of its widgets that they are visible, but not that they show.
    pub hides_what_shows: bool,
    pub toolkit: Toolkit,
    /// Menus and tooltips of the application that show beside its windows.
    pub popups: Vec<AtspiObject>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Toolkit {
    Gtk3,
    Gtk4,
    Chromium,
    /// Firefox and its kin.
    Gecko,
    Qt,
    #[default]
    Other,
}

impl Toolkit {
    /// Tells texts and shortcuts of single elements worth asking for; GTK4 names none, and pages have too many.
    pub fn is_asked_closely(self) -> bool {
        matches!(self, Toolkit::Gtk3 | Toolkit::Gecko | Toolkit::Qt | Toolkit::Other)
    }
}

/// Why there is no root.
#[derive(Clone, Debug, PartialEq)]
pub enum FrameMiss {
    /// Nobody on the bus belongs to the window's process.
    NoApplication,
    /// The application shows no window, or none that fits this one.
    NoWindow {
        shown: usize,
    },
    /// Several of its windows fit alike.
    Ambiguous {
        fitting: usize,
    },
    Hung,
    /// Its root did not say what it is.
    Unread,
}

impl FrameMiss {
    pub fn miss_sentence(&self, title: &str) -> String {
        match self {
            FrameMiss::NoApplication => format!(
                "the application of '{title}' is not on the accessibility bus: it has no accessibility \
                 support (terminals, games), or was started without it (Chromium: \
                 --force-renderer-accessibility; Qt: QT_LINUX_ACCESSIBILITY_ALWAYS_ON=1)"
            ),
            FrameMiss::NoWindow { shown } => format!(
                "the application of '{title}' is on the accessibility bus, but none of its {shown} windows \
                 there is this one"
            ),
            FrameMiss::Ambiguous { fitting } => format!(
                "{fitting} windows of the application look the same on the accessibility bus; bring \
                 '{title}' to the front, or move it, to distinguish them"
            ),
            FrameMiss::Hung => format!(
                "the application of '{title}' does not answer; where it shows a dialog, close that with the \
                 mouse (click_at) and press no key before, which may hang it for good"
            ),
            FrameMiss::Unread => format!("the application of '{title}' does not answer"),
        }
    }
}

const MOST_APPLICATIONS: usize = 256;
const MOST_WINDOWS: usize = 64;
const REGISTRY: &str = "org.a11y.atspi.Registry";
pub const ROOT: &str = "/org/a11y/atspi/accessible/root";

pub async fn find_frame(
    link: &Rc<BusConnection>,
    sought: &WindowFacts,
    pace: &BusDeadline,
) -> Result<AtspiFrame, FrameMiss> {
    let applications = applications_of(link, sought, pace).await;
    if applications.is_empty() {
        return Err(FrameMiss::NoApplication);
    }
    let mut candidates = Vec::new();
    let mut hung = false;
    for application in &applications {
        hung |= !gather_windows(link, application, &mut candidates, pace).await;
    }
    let chosen = match &sought.native {
        Some(native) => find_by_handle(native, &candidates),
        None => choose_candidate(sought, &candidates),
    };
    match chosen {
        Err(FrameMiss::NoWindow { .. }) if hung => Err(FrameMiss::Hung),
        Err(miss) => Err(miss),
        Ok(place) => {
            let found = candidates.get(place).ok_or(FrameMiss::NoApplication)?;
            Ok(AtspiFrame { popups: popups_of(sought, &candidates, place), ..found.build_frame(sought) })
        }
    }
}

fn find_by_handle(native: &str, candidates: &[Candidate]) -> Result<usize, FrameMiss> {
    let is_it = |candidate: &Candidate| candidate.object.as_ref().is_some_and(|it| it.native() == native);
    candidates.iter().position(is_it).ok_or(FrameMiss::NoWindow { shown: candidates.len() })
}

/// Several may share a process: every library that speaks for itself registers itself.
async fn applications_of(
    link: &Rc<BusConnection>,
    sought: &WindowFacts,
    pace: &BusDeadline,
) -> Vec<AtspiObject> {
    let mut own = Vec::new();
    for application in list_applications(link, pace).await.unwrap_or_default() {
        // A window that does not name its process may be anybody's.
        if sought.pid == 0 || link.process_of(&application.bus, pace).await == Some(sought.pid) {
            own.push(application);
        }
    }
    own
}

/// One question to each application of a process, answered where it also takes in keys. What it told before the answer
/// has been heard by then.
pub async fn greet_process(link: &Rc<BusConnection>, pid: u32, pace: &BusDeadline) {
    let known: Vec<AtspiObject> = link.names_of(pid).iter().map(|bus| AtspiObject::new(bus, ROOT)).collect();
    let sought = WindowFacts { pid, ..WindowFacts::default() };
    let applications = if known.is_empty() { applications_of(link, &sought, pace).await } else { known };
    for application in applications {
        if !link.is_hung(&application).await {
            let asked = link.ask_object(&application, &BusRequest::Call(ACCESSIBLE, "GetRole"), pace).await;
            tracing::trace!(answered = asked.is_ok(), pid, "an application was asked whether it is there");
            if let Ok(reply) = asked {
                link.heard_until(reply.recv_position(), pace).await;
                link.ring_bell();
            }
        }
    }
}

/// Whether an application of GTK 3 in this process leaves a question without an answer: it is stuck in what one of its
/// actions began, and a key that it gets meanwhile stops it for good.
pub async fn is_stuck_gtk3(link: &Rc<BusConnection>, pid: u32, pace: &BusDeadline) -> bool {
    for bus in link.names_of(pid) {
        if !link.gtk3.borrow().contains(&bus) {
            continue;
        }
        let application = AtspiObject::new(&bus, ROOT);
        let asked = link.ask_object(&application, &BusRequest::Call(ACCESSIBLE, "GetRole"), pace).await;
        if is_silent(&asked) {
            link.mark_hung(&application);
            return true;
        }
    }
    false
}

/// Everybody who offers elements.
pub async fn list_applications(
    link: &Rc<BusConnection>,
    pace: &BusDeadline,
) -> Result<Vec<AtspiObject>, BusError> {
    let desktop = AtspiObject::new(REGISTRY, ROOT);
    let reply = link.ask_object(&desktop, &BusRequest::Call(ACCESSIBLE, "GetChildren"), pace).await?;
    let mut all = read_objects(&reply);
    all.truncate(MOST_APPLICATIONS);
    Ok(all)
}

/// A window as an application shows it on the bus.
#[derive(Clone, Debug, Default)]
pub struct Candidate {
    pub object: Option<AtspiObject>,
    pub application: Option<AtspiObject>,
    pub name: String,
    pub role: u32,
    pub states: States,
    pub extents: Option<Rect>,
    pub toolkit: Toolkit,
}

/// Adds the windows of an application; false when it does not answer.
pub async fn gather_windows(
    link: &Rc<BusConnection>,
    application: &AtspiObject,
    into: &mut Vec<Candidate>,
    pace: &BusDeadline,
) -> bool {
    if link.is_hung(application).await {
        return false;
    }
    let asks = [
        BusRequest::Call(ACCESSIBLE, "GetChildren"),
        BusRequest::Get("org.a11y.atspi.Application", "ToolkitName"),
    ];
    let asks = asks.into_iter().map(|ask| (application.clone(), ask)).collect();
    let mut answers = link.ask_all(asks, pace).await.into_iter();
    let children = match answers.next() {
        Some(Ok(children)) => children,
        Some(Err(BusError::TimedOut)) => {
            link.mark_hung(application);
            return false;
        }
        // It left a moment ago, or shows nothing.
        _ => return true,
    };
    let toolkit =
        parse_toolkit(answers.next().and_then(Result::ok).and_then(|reply| text(&reply)).as_deref());
    let mut windows = read_objects(&children);
    windows.truncate(MOST_WINDOWS);
    let mut asks = Vec::new();
    for window in &windows {
        // Chromium builds its tree only for those who read name, role and states of its window.
        asks.extend(ROOT_QUESTIONS.iter().map(|ask| (window.clone(), ask.clone())));
    }
    let answers = link.ask_all(asks, pace).await;
    for (window, answers) in windows.into_iter().zip(answers.chunks(ROOT_QUESTIONS.len())) {
        let [name, role, states, extents] = answers else { continue };
        into.push(Candidate {
            object: Some(window),
            application: Some(application.clone()),
            name: name.as_ref().ok().and_then(text).unwrap_or_default(),
            role: role.as_ref().ok().and_then(|reply| reply.body().deserialize().ok()).unwrap_or(0),
            states: states.as_ref().map(states_of).unwrap_or_default(),
            extents: extents.as_ref().ok().and_then(read_rectangle),
            toolkit,
        });
    }
    true
}

const ROOT_QUESTIONS: &[BusRequest] = &[
    BusRequest::Get(ACCESSIBLE, "Name"),
    BusRequest::Call(ACCESSIBLE, "GetRole"),
    BusRequest::Call(ACCESSIBLE, "GetState"),
    BusRequest::WithCode(COMPONENT, "GetExtents", ON_SCREEN),
];

pub const ON_SCREEN: u32 = 0;

pub fn states_of(reply: &zbus::Message) -> States {
    States::from_words(&reply.body().deserialize::<Vec<u32>>().unwrap_or_default())
}

/// Nothing for what has no place: closed menus are at the smallest number there is.
pub fn read_rectangle(reply: &zbus::Message) -> Option<Rect> {
    let (x, y, width, height): (i32, i32, i32, i32) = reply.body().deserialize().ok()?;
    let somewhere = x > i32::MIN / 2 && y > i32::MIN / 2 && width >= 0 && height >= 0;
    somewhere.then(|| Rect::new(x, y, width, height))
}

fn parse_toolkit(name: Option<&str>) -> Toolkit {
    match name {
        Some("gtk") => Toolkit::Gtk3,
        Some("GTK") => Toolkit::Gtk4,
        Some("Chromium") => Toolkit::Chromium,
        Some("Gecko") => Toolkit::Gecko,
        Some("Qt") => Toolkit::Qt,
        _ => Toolkit::Other,
    }
}

/// Context menus and tooltips are windows of their own on the bus. They belong to the window that a person
/// works with; no other one claims them.
fn popups_of(sought: &WindowFacts, candidates: &[Candidate], frame: usize) -> Vec<AtspiObject> {
    if !sought.focused && !sought.alone {
        return Vec::new();
    }
    let others = candidates.iter().enumerate().filter(|(place, _)| *place != frame);
    let shown =
        others.filter(|(_, other)| other.states.has(State::Showing) && roles::is_one_of(other.role, POPUPS));
    shown.filter_map(|(_, other)| other.object.clone()).collect()
}

/// Lists that an application of Qt shows in windows of their own, such as those that complete what is typed. They are in
/// no other element and not listed by the application either, and only said once that they show.
pub async fn loose_popups(
    link: &Rc<BusConnection>,
    frame: &AtspiFrame,
    areas: &[Rect],
    pace: &BusDeadline,
) -> Vec<AtspiObject> {
    if frame.toolkit != Toolkit::Qt || areas.is_empty() {
        return Vec::new();
    }
    let bus = &frame.object.bus;
    let paths = link.shown.borrow().get(bus).cloned().unwrap_or_default();
    let objects: Vec<AtspiObject> = paths.iter().map(|path| AtspiObject::new(bus, path)).collect();
    let ask =
        |object: &AtspiObject| LOOSE_QUESTIONS.iter().map(|ask| (object.clone(), ask.clone())).collect();
    let asks: Vec<Vec<_>> = objects.iter().map(ask).collect();
    let answers = link.ask_all(asks.concat(), pace).await;
    let each = objects.into_iter().zip(answers.chunks(LOOSE_QUESTIONS.len()));
    let is_loose = |answers: &[BusReply]| {
        let [Ok(parent), Ok(role), Ok(states), Ok(extents)] = answers else { return false };
        let is_in_none = read_object(parent).is_none_or(|parent| &*parent.path == ROOT);
        let role: u32 = role.body().deserialize().unwrap_or(0);
        is_in_none
            && roles::is_one_of(role, LOOSE)
            && states_of(states).has(State::Showing)
            && read_rectangle(extents).is_some_and(|own| fills_one(own, areas))
    };
    each.filter(|(_, answers)| is_loose(answers)).map(|(object, _)| object).collect()
}

const LOOSE_QUESTIONS: &[BusRequest] = &[
    BusRequest::Get(ACCESSIBLE, "Parent"),
    BusRequest::Call(ACCESSIBLE, "GetRole"),
    BusRequest::Call(ACCESSIBLE, "GetState"),
    BusRequest::WithCode(COMPONENT, "GetExtents", ON_SCREEN),
];

const LOOSE: &[Role] = &[Role::List, Role::ListBox, Role::Tree, Role::TreeTable, Role::Table];

/// Whether a place is most of one of these areas: a list has a frame.
fn fills_one(own: Rect, areas: &[Rect]) -> bool {
    let fits = |area: &Rect| {
        own.intersection(&area.grown_by(FRAME_OF_A_LIST)) == Some(own)
            && own.width + 2 * FRAME_OF_A_LIST >= area.width
            && own.height + 2 * FRAME_OF_A_LIST >= area.height
    };
    !own.is_empty() && areas.iter().any(fits)
}

const FRAME_OF_A_LIST: i32 = 8;

pub const POPUPS: &[Role] = &[Role::Window, Role::PopupMenu, Role::Menu, Role::ToolTip];

impl Candidate {
    fn build_frame(&self, sought: &WindowFacts) -> AtspiFrame {
        let nobody = || AtspiObject::new("", "");
        AtspiFrame {
            object: self.object.clone().unwrap_or_else(nobody),
            application: self.application.clone().unwrap_or_else(nobody),
            role: self.role,
            name: self.name.clone(),
            states: self.states,
            offset: coordinate_offset(sought, self),
            hides_what_shows: self.toolkit == Toolkit::Gtk4,
            toolkit: self.toolkit,
            popups: Vec::new(),
        }
    }
}

/// What must be added to the application's coordinates. GTK4 (4.8) knows only its own window, whatever it is
/// asked for, and counts from inside the shadow; without a compositor the shadow is a plain border that no
/// property tells, and half of what the window is larger by.
fn coordinate_offset(sought: &WindowFacts, candidate: &Candidate) -> (i32, i32) {
    if sought.native.is_some() {
        let own = candidate.extents.unwrap_or_default();
        return (sought.client.x.saturating_sub(own.x), sought.client.y.saturating_sub(own.y));
    }
    if candidate.toolkit != Toolkit::Gtk4 {
        return (0, 0);
    }
    let [left, top, right, bottom] = sought.shadow;
    let (left, top) = match candidate.extents {
        Some(own) if [left, top, right, bottom] == [0; 4] => {
            let border = |client: i32, own: i32| (client - own).clamp(0, 200) / 2;
            (border(sought.client.width, own.width), border(sought.client.height, own.height))
        }
        _ => (left, top),
    };
    (sought.client.x + left, sought.client.y + top)
}

/// Decorations and shadows are inside or outside, as each toolkit likes.
const TOLERANCE: i32 = 64;

/// The place of the window that is meant among those that the application shows.
pub fn choose_candidate(sought: &WindowFacts, candidates: &[Candidate]) -> Result<usize, FrameMiss> {
    let scores: Vec<i32> = candidates.iter().map(|candidate| score_candidate(sought, candidate)).collect();
    let best = scores.iter().copied().max().unwrap_or(i32::MIN);
    let fitting: Vec<usize> = (0..scores.len()).filter(|&at| scores[at] == best).collect();
    match fitting.as_slice() {
        [only] if best > 0 => Ok(*only),
        [only] if sought.alone && candidates.len() == 1 => Ok(*only),
        [] => Err(FrameMiss::NoWindow { shown: 0 }),
        _ if best > 0 => Err(FrameMiss::Ambiguous { fitting: fitting.len() }),
        _ => Err(FrameMiss::NoWindow { shown: candidates.len() }),
    }
}

fn score_candidate(sought: &WindowFacts, candidate: &Candidate) -> i32 {
    let (title, place) = (title_fits(&sought.title, &candidate.name), place_fits(sought, candidate));
    // Without a process to go by, only what fits in everything is believed.
    if sought.pid == 0 && (title < 2 || place < 1) {
        return i32::MIN / 2;
    }
    let active = candidate.states.has(State::Active) == sought.focused;
    let points = 4 * title + 3 * place;
    // Being active only tells apart what fits already.
    if points > 0 { points + i32::from(active) } else { points }
}

/// GTK3 and Qt leave the name of many windows empty, which says nothing; another name says a lot.
fn title_fits(title: &str, name: &str) -> i32 {
    match (title.trim(), name.trim()) {
        (_, "") => 0,
        (title, name) if title == name => 2,
        (title, name) if !title.is_empty() && (title.contains(name) || name.contains(title)) => 1,
        _ => -1,
    }
}

fn place_fits(sought: &WindowFacts, candidate: &Candidate) -> i32 {
    let Some(own) = candidate.extents else {
        return 0;
    };
    let client = sought.client;
    let near = |one: i32, other: i32| one.abs_diff(other) <= TOLERANCE.unsigned_abs();
    let same_size = near(client.width, own.width) && near(client.height, own.height);
    let same_place = near(client.x, own.x) && near(client.y, own.y);
    match (same_size, same_place) {
        (true, true) => 2,
        // GTK4 tells no place.
        (true, false) if candidate.toolkit == Toolkit::Gtk4 => 1,
        (true, false) => 0,
        (false, _) => -1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sought(title: &str, client: Rect) -> WindowFacts {
        WindowFacts { pid: 1, title: title.to_owned(), client, ..WindowFacts::default() }
    }

    fn shown(name: &str, extents: Rect) -> Candidate {
        Candidate { name: name.to_owned(), extents: Some(extents), ..Candidate::default() }
    }

    fn check(sought: &WindowFacts, candidates: &[Candidate], expected: Result<usize, FrameMiss>) {
        assert_eq!(choose_candidate(sought, candidates), expected, "{candidates:?}");
    }

    const HERE: Rect = Rect { x: 10, y: 10, width: 945, height: 1060 };

    #[test]
    fn a_list_that_fills_a_popup_is_it() {
        let areas = [Rect::new(0, 0, 10, 10), Rect::new(641, 800, 278, 78)];
        let check = |own: Rect, expected: bool| assert_eq!(fills_one(own, &areas), expected, "{own:?}");
        check(Rect::new(641, 800, 278, 78), true);
        check(Rect::new(642, 801, 276, 76), true);
        check(Rect::new(641, 800, 278, 40), false);
        check(Rect::new(600, 800, 278, 78), false);
        check(Rect::default(), false);
    }

    #[test]
    fn the_title_and_the_place_tell_windows_apart() {
        let popup = shown("", Rect::new(113, 35, 775, 88));
        let page = shown("Big page - Chromium", HERE);
        check(&sought("Big page - Chromium", HERE), &[popup.clone(), page.clone(), popup.clone()], Ok(1));
        let dialog = Rect::new(500, 400, 300, 200);
        check(&sought("Save", dialog), &[page.clone(), shown("Save", dialog)], Ok(1));
        check(&sought("Save", dialog), &[page, popup], Err(FrameMiss::NoWindow { shown: 2 }));
    }

    #[test]
    fn a_window_without_a_name_is_known_by_its_place() {
        let one = shown("", HERE);
        let other = shown("", Rect::new(1000, 10, 945, 1060));
        check(&sought("gtk3-widget-factory", HERE), &[other.clone(), one], Ok(1));
        check(&sought("gtk3-widget-factory", HERE), &[other], Err(FrameMiss::NoWindow { shown: 1 }));
    }

    #[test]
    fn what_looks_alike_is_not_guessed() {
        let gtk4 = |states| Candidate {
            toolkit: Toolkit::Gtk4,
            states,
            ..shown("Calculator", Rect::new(0, 0, 355, 486))
        };
        let mut window = sought("Calculator", Rect::new(1511, 584, 365, 496));
        let plain = States(0);
        let active = States(State::Active as u64);
        check(&window, &[gtk4(plain), gtk4(plain)], Err(FrameMiss::Ambiguous { fitting: 2 }));
        window.focused = true;
        check(&window, &[gtk4(plain), gtk4(active)], Ok(1));
        window.focused = false;
        check(&window, &[gtk4(plain), gtk4(active)], Ok(0));
    }

    #[test]
    fn the_only_window_of_an_application_is_it() {
        let renamed = shown("Old title", Rect::new(0, 0, 1, 1));
        let mut window = sought("New", HERE);
        check(&window, std::slice::from_ref(&renamed), Err(FrameMiss::NoWindow { shown: 1 }));
        window.alone = true;
        check(&window, &[renamed], Ok(0));
        check(&window, &[], Err(FrameMiss::NoWindow { shown: 0 }));
    }

    #[test]
    fn a_window_that_was_found_on_the_bus_is_found_there_again() {
        let object = |path: &str| Some(AtspiObject::new(":1.7", path));
        let windows = ["/1", "/2"].map(|path| Candidate { object: object(path), ..shown("Same", HERE) });
        assert_eq!(find_by_handle(":1.7/2", &windows), Ok(1));
        assert_eq!(find_by_handle(":1.7/3", &windows), Err(FrameMiss::NoWindow { shown: 2 }));
        let found = WindowFacts { native: Some(":1.7/2".to_owned()), ..WindowFacts::default() };
        assert_eq!(
            coordinate_offset(&found, &windows[1]),
            (-10, -10),
            "places count from the window's corner"
        );
    }

    #[test]
    fn gtk4_counts_from_inside_its_shadow() {
        let gtk4 = Candidate { toolkit: Toolkit::Gtk4, ..shown("", Rect::new(0, 0, 355, 486)) };
        let mut window = sought("", Rect::new(1511, 584, 365, 496));
        assert_eq!(coordinate_offset(&window, &gtk4), (1516, 589));
        window.shadow = [25, 23, 25, 27];
        assert_eq!(coordinate_offset(&window, &gtk4), (1536, 607));
        assert_eq!(coordinate_offset(&window, &shown("", Rect::new(1511, 584, 365, 496))), (0, 0));
    }
}
