//! Windows, their order, monitors, and changing a window as a whole, by EWMH.
//!
//! Every look sends all its questions before it reads the first answer, so that it costs a few round trips
//! whatever the number of windows. Nothing is remembered between looks; [`super::window_uid`] tells a window from a
//! later one with the same X id.
//!
//! The bounds of a window are what a person sees of it: with the frame that the window manager drew, and
//! without the shadow that applications with frames of their own draw around themselves.
//!
//! Menus and other popups are not in the window manager's list and so are no windows here; [`super::popups`]
//! knows them.

use std::time::Duration;

use x11rb::cookie::Cookie;
use x11rb::protocol::randr::ConnectionExt as _;
use x11rb::protocol::res::QueryClientIdsReply;
use x11rb::protocol::xproto::{
    AtomEnum, ClientMessageEvent, ConfigureWindowAux, ConnectionExt as _, EventMask, GetGeometryReply,
    GetPropertyReply, GetWindowAttributesReply, InputFocus, MapState, StackMode, TranslateCoordinatesReply,
    WindowClass,
};

use super::sandbox::inside::is_known_inside_as;
use super::window_uid::{WindowUid, ask_pid, told_pid};
use super::x11::{X11Error, X11Failure, X11Server};
use super::x11_stream::X11Stream;
use crate::clock::{Cancel, Clock};
use crate::model::app::AppNames;
use crate::model::window::{Reached, WindowChange, WindowState};
use crate::model::{Monitor, Point, Rect, Window};
use crate::platform::Activation;
use crate::platform::poll::{Polling, poll_until};
use crate::platform::window_change::{
    ChangeWait, ChangingWindow, ObservedWindow, Reasons, change_window, steady_state, wanted_bounds,
};

/// Longer texts in window properties are cut here; nobody writes such titles.
const PROPERTY_WORDS: u32 = 1024;
const LIST_WORDS: u32 = 4096;
/// How long a window manager may take to do as it was asked.
const MANAGER_TIME: Duration = Duration::from_millis(2500);
const MANAGER_POLLING: Polling = Polling {
    at_most: MANAGER_TIME,
    first_pause: Duration::from_micros(300),
    longest_pause: Duration::from_millis(10),
};
/// Not every change of a window is told, so it is looked at this often all the same.
pub const LOOK_AGAIN: Duration = Duration::from_millis(100);
const STEADY: Duration = Duration::from_millis(25);
/// Windows nested deeper than this are not searched.
pub const NESTING: usize = 32;
/// X11 has sixteen bits for a place or a size.
const PLACES: i32 = 20_000;

/// Widths of something around or inside a window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extents {
    pub left: i32,
    pub right: i32,
    pub top: i32,
    pub bottom: i32,
}

/// Where a window's own pixels are, and what belongs to its frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowFrame {
    /// The application's window in screen coordinates, without the window manager's frame.
    pub client: Rect,
    /// What the application draws around itself and a person does not take for the window.
    pub shadow: Extents,
    /// What the window manager draws around it.
    pub decoration: Extents,
    pub pid: Option<u32>,
}

impl WindowFrame {
    /// What a person sees of the window.
    pub fn bounds(&self) -> Rect {
        let (inner, outer) = (self.shadow, self.decoration);
        Rect::new(
            self.client.x + inner.left - outer.left,
            self.client.y + inner.top - outer.top,
            (self.client.width - inner.left - inner.right + outer.left + outer.right).max(0),
            (self.client.height - inner.top - inner.bottom + outer.top + outer.bottom).max(0),
        )
    }

    /// Where the application's window must be for `bounds` to be the given ones.
    fn client_for(&self, bounds: Rect) -> Rect {
        let now = self.bounds();
        Rect::new(
            bounds.x + self.client.x - now.x,
            bounds.y + self.client.y - now.y,
            bounds.width + self.client.width - now.width,
            bounds.height + self.client.height - now.height,
        )
    }
}

/// One look at all windows.
#[derive(Debug)]
pub struct X11Desktop {
    /// In the order of their index.
    pub windows: Vec<ListedX11Window>,
    /// From the front to the back.
    pub stacking: Vec<u32>,
    pub managed: bool,
}

/// A window as it was seen.
#[derive(Clone, Debug)]
pub struct ListedX11Window {
    pub uid: WindowUid,
    pub title: String,
    pub class: String,
    pub frame: WindowFrame,
    pub focused: bool,
    /// Not on the screen: minimized, or on another desktop.
    pub hidden: bool,
    pub maximized: bool,
}

impl ListedX11Window {
    fn state(&self) -> WindowState {
        WindowState {
            bounds: self.frame.bounds(),
            focused: self.focused,
            minimized: self.hidden,
            maximized: self.maximized,
        }
    }

    fn window(&self) -> Window {
        Window {
            uid: self.uid.to_string(),
            handle: format!("{:#010x}", self.uid.xid),
            title: self.title.clone(),
            process: self.frame.pid.and_then(process_name).unwrap_or_else(|| self.class.clone()),
            pid: self.frame.pid.unwrap_or(0),
            bounds: self.frame.bounds(),
            focused: self.focused,
            minimized: self.hidden,
            url: None,
        }
    }
}

pub use crate::platform::gone;

// ── looking ────────────────────────────────────────────────────────────────────────────────────────

pub fn list_windows(server: &X11Server) -> Result<Vec<Window>, X11Error> {
    Ok(look_at_desktop(server)?.windows.iter().map(ListedX11Window::window).collect())
}

pub fn stacking_order(server: &X11Server) -> Result<Vec<String>, X11Error> {
    let stacking = window_ids(server)?.stacking;
    let asked: Vec<AskedOwner<'_>> =
        stacking.into_iter().map(|xid| AskedOwner::ask_about(server, xid)).collect::<Result<_, _>>()?;
    asked.into_iter().map(|question| Ok(question.owner()?.uid().to_string())).collect()
}

pub fn window_frame(server: &X11Server, uid: &str) -> Result<WindowFrame, X11Failure> {
    Ok(frame_and_hidden(server, uid)?.0)
}

/// Where a window is, and how many windows its process has.
pub fn frame_among(server: &X11Server, window: &Window) -> Result<(WindowFrame, usize), X11Failure> {
    let uid = WindowUid::parse(&window.uid)?;
    let sight = look_at_desktop(server)?;
    let mine = sight.windows.iter().filter(|other| other.frame.pid.unwrap_or(0) == window.pid).count();
    match find_window(&sight, uid) {
        Some(seen) => Ok((seen.frame, mine)),
        // What the manager does not list may be there all the same.
        None => Ok((window_frame(server, &window.uid)?, mine)),
    }
}

/// Also whether the window is off the screen now.
pub fn frame_and_hidden(server: &X11Server, uid: &str) -> Result<(WindowFrame, bool), X11Failure> {
    let wanted = WindowUid::parse(uid)?;
    let asked = Asked::ask_about(server, wanted.xid)?;
    let seen = asked.collect_answers(server, None).map_err(|trouble| name_window(trouble, uid))?;
    if seen.uid == wanted { Ok((seen.frame, seen.hidden)) } else { Err(gone(uid).into()) }
}

/// Whether a window says of itself that it is a splash screen.
pub fn is_splash(server: &X11Server, uid: &str) -> Result<bool, X11Failure> {
    let xid = WindowUid::parse(uid)?.xid;
    Ok(is_of_type(server, xid, server.atoms._NET_WM_WINDOW_TYPE_SPLASH)?)
}

/// Whether a window says of itself that it is of this type; one that closed is of none.
pub fn is_of_type(server: &X11Server, xid: u32, wanted: u32) -> Result<bool, X11Error> {
    let types = get_property(server, xid, server.atoms._NET_WM_WINDOW_TYPE, PROPERTY_WORDS)?.reply();
    match types.map_err(X11Error::from) {
        Ok(types) => Ok(property_numbers(types).contains(&wanted)),
        Err(trouble) if trouble.is_gone() => Ok(false),
        Err(trouble) => Err(trouble),
    }
}

/// Java calls its windows without frame and title win0, win1 and so on, and says nothing else of a splash screen.
pub fn is_splash_of_java(process: &str, title: &str) -> bool {
    let number = title.strip_prefix("win").unwrap_or_default();
    process == "java" && !number.is_empty() && number.bytes().all(|sign| sign.is_ascii_digit())
}

/// A window that is not there is reported by its uid.
fn name_window(trouble: X11Error, uid: &str) -> X11Failure {
    if trouble.is_gone() { gone(uid).into() } else { trouble.into() }
}

pub fn look_at_desktop(server: &X11Server) -> Result<X11Desktop, X11Error> {
    let roster = window_ids(server)?;
    let asked: Vec<Asked<'_>> =
        roster.listed.iter().map(|&xid| Asked::ask_about(server, xid)).collect::<Result<_, _>>()?;
    let mut windows = Vec::with_capacity(asked.len());
    for question in asked {
        match question.collect_answers(server, roster.active) {
            // Without a manager, what is not shown is nothing that anybody could bring back.
            Ok(seen) if roster.managed || !seen.hidden => windows.push(seen),
            Ok(_) => {}
            Err(trouble) if trouble.is_gone() => {}
            Err(trouble) => return Err(trouble),
        }
    }
    Ok(X11Desktop { windows, stacking: roster.stacking, managed: roster.managed })
}

/// Which windows there are.
struct WindowIds {
    listed: Vec<u32>,
    stacking: Vec<u32>,
    active: Option<u32>,
    managed: bool,
}

fn window_ids(server: &X11Server) -> Result<WindowIds, X11Error> {
    let (root, atoms) = (server.root, &server.atoms);
    let manager = get_property(server, root, atoms._NET_SUPPORTING_WM_CHECK, 1)?;
    let listed = get_property(server, root, atoms._NET_CLIENT_LIST, LIST_WORDS)?;
    let stacking = get_property(server, root, atoms._NET_CLIENT_LIST_STACKING, LIST_WORDS)?;
    let active = get_property(server, root, atoms._NET_ACTIVE_WINDOW, 1)?;
    let manager = property_numbers(manager.reply()?).first().copied();
    if !is_alive(server, manager)? {
        return unmanaged_roster(server);
    }
    let listed = property_numbers(listed.reply()?);
    let mut stacking = property_numbers(stacking.reply()?);
    stacking.reverse();
    let active = property_numbers(active.reply()?).first().copied().filter(|&xid| xid != 0);
    Ok(WindowIds { listed, stacking, active, managed: true })
}

/// A window manager that died leaves its lists behind; the window that it named as its own is gone then.
fn is_alive(server: &X11Server, manager: Option<u32>) -> Result<bool, X11Error> {
    let Some(manager) = manager.filter(|&xid| xid != 0) else { return Ok(false) };
    match get_property(server, manager, server.atoms._NET_SUPPORTING_WM_CHECK, 1)?.reply() {
        Ok(reply) => Ok(property_numbers(reply).first() == Some(&manager)),
        Err(problem) => {
            let trouble = X11Error::from(problem);
            if trouble.is_gone() { Ok(false) } else { Err(trouble) }
        }
    }
}

/// Without a window manager every window is a child of the root. Their ids grow with their age.
fn unmanaged_roster(server: &X11Server) -> Result<WindowIds, X11Error> {
    let focus = server.connection.get_input_focus()?;
    let children = server.connection.query_tree(server.root)?.reply()?.children;
    let attributes: Vec<_> =
        children.iter().map(|&xid| server.connection.get_window_attributes(xid)).collect::<Result<_, _>>()?;
    let is_window = attributes.into_iter().map(|cookie| cookie.reply().is_ok_and(|facts| is_listed(&facts)));
    let mut stacking: Vec<u32> =
        children.iter().zip(is_window).filter(|(_, counts)| *counts).map(|(&xid, _)| xid).collect();
    stacking.reverse();
    let mut listed = stacking.clone();
    listed.sort_unstable();
    let active = top_level(server, focus.reply()?.focus)?;
    Ok(WindowIds { listed, stacking, active, managed: false })
}

fn is_listed(facts: &GetWindowAttributesReply) -> bool {
    !facts.override_redirect && facts.class == WindowClass::INPUT_OUTPUT
}

/// The child of the root that contains a window, which may be the window itself.
pub fn top_level(server: &X11Server, xid: u32) -> Result<Option<u32>, X11Error> {
    let mut current = xid;
    for _ in 0..NESTING {
        // Zero and one stand for "nothing" and "whatever the pointer is over".
        if current <= 1 || current == server.root {
            return Ok(None);
        }
        match server.connection.query_tree(current)?.reply() {
            Ok(reply) if reply.parent == server.root => return Ok(Some(current)),
            Ok(reply) => current = reply.parent,
            Err(problem) => {
                let trouble = X11Error::from(problem);
                return if trouble.is_gone() { Ok(None) } else { Err(trouble) };
            }
        }
    }
    Ok(None)
}

pub type X11Cookie<'a, T> = Cookie<'a, X11Stream, T>;

/// The question for the process of a window, as the server knows it and as the window says it.
struct AskedOwner<'a> {
    xid: u32,
    by_server: Option<X11Cookie<'a, QueryClientIdsReply>>,
    by_window: X11Cookie<'a, GetPropertyReply>,
}

/// What a window says may be wrong or come late, so what the server knows decides who owns it. Old programs say nothing.
struct WindowOwner {
    xid: u32,
    by_server: Option<u32>,
    by_window: Option<u32>,
}

impl<'a> AskedOwner<'a> {
    fn ask_about(server: &'a X11Server, xid: u32) -> Result<Self, X11Error> {
        let by_window = get_property(server, xid, server.atoms._NET_WM_PID, 1)?;
        Ok(Self { xid, by_server: ask_pid(server, xid)?, by_window })
    }

    fn owner(self) -> Result<WindowOwner, X11Error> {
        let by_window = match self.by_window.reply() {
            Ok(reply) => property_numbers(reply).first().copied().filter(|&pid| pid != 0),
            // It is gone.
            Err(x11rb::errors::ReplyError::X11Error(_)) => None,
            Err(problem) => return Err(problem.into()),
        };
        Ok(WindowOwner { xid: self.xid, by_server: told_pid(self.by_server)?, by_window })
    }
}

impl WindowOwner {
    fn uid(&self) -> WindowUid {
        WindowUid::new(self.xid, self.by_server.or(self.by_window))
    }

    /// A window in a namespace of its own says a number that means another process here.
    fn pid(&self) -> Option<u32> {
        match (self.by_window, self.by_server) {
            (Some(said), Some(known)) if said != known && is_known_inside_as(known, said) => Some(known),
            (said, known) => said.or(known),
        }
    }
}

/// The questions about one window, sent but not yet answered.
struct Asked<'a> {
    attributes: X11Cookie<'a, GetWindowAttributesReply>,
    geometry: X11Cookie<'a, GetGeometryReply>,
    origin: X11Cookie<'a, TranslateCoordinatesReply>,
    net_name: X11Cookie<'a, GetPropertyReply>,
    name: X11Cookie<'a, GetPropertyReply>,
    class: X11Cookie<'a, GetPropertyReply>,
    owner: AskedOwner<'a>,
    net_state: X11Cookie<'a, GetPropertyReply>,
    state: X11Cookie<'a, GetPropertyReply>,
    decoration: X11Cookie<'a, GetPropertyReply>,
    shadow: X11Cookie<'a, GetPropertyReply>,
}

impl<'a> Asked<'a> {
    fn ask_about(server: &'a X11Server, xid: u32) -> Result<Self, X11Error> {
        let (connection, atoms) = (&server.connection, &server.atoms);
        let ask = |atom: u32| get_property(server, xid, atom, PROPERTY_WORDS);
        Ok(Self {
            attributes: connection.get_window_attributes(xid)?,
            geometry: connection.get_geometry(xid)?,
            origin: connection.translate_coordinates(xid, server.root, 0, 0)?,
            net_name: ask(atoms._NET_WM_NAME)?,
            name: ask(AtomEnum::WM_NAME.into())?,
            class: ask(AtomEnum::WM_CLASS.into())?,
            owner: AskedOwner::ask_about(server, xid)?,
            net_state: ask(atoms._NET_WM_STATE)?,
            state: ask(atoms.WM_STATE)?,
            decoration: ask(atoms._NET_FRAME_EXTENTS)?,
            shadow: ask(atoms._GTK_FRAME_EXTENTS)?,
        })
    }

    fn collect_answers(self, server: &X11Server, active: Option<u32>) -> Result<ListedX11Window, X11Error> {
        let atoms = &server.atoms;
        let viewable = self.attributes.reply()?.map_state == MapState::VIEWABLE;
        let (size, origin) = (self.geometry.reply()?, self.origin.reply()?);
        let (net_name, name) = (self.net_name.reply()?, self.name.reply()?);
        let class = class_of(&self.class.reply()?.value);
        let net_state = property_numbers(self.net_state.reply()?);
        let has = |state: u32| net_state.contains(&state);
        let owner = self.owner.owner()?;
        Ok(ListedX11Window {
            uid: owner.uid(),
            title: first_text([&net_name, &name], atoms.UTF8_STRING).unwrap_or_else(|| class.clone()),
            class,
            hidden: has(atoms._NET_WM_STATE_HIDDEN)
                || is_iconic(&property_numbers(self.state.reply()?))
                || !viewable,
            maximized: has(atoms._NET_WM_STATE_MAXIMIZED_HORZ) && has(atoms._NET_WM_STATE_MAXIMIZED_VERT),
            focused: active == Some(owner.xid),
            frame: WindowFrame {
                client: Rect::new(
                    origin.dst_x.into(),
                    origin.dst_y.into(),
                    size.width.into(),
                    size.height.into(),
                ),
                shadow: frame_extents(&property_numbers(self.shadow.reply()?)),
                decoration: frame_extents(&property_numbers(self.decoration.reply()?)),
                pid: owner.pid(),
            },
        })
    }
}

pub fn get_property(
    server: &X11Server,
    window: u32,
    property: u32,
    words: u32,
) -> Result<X11Cookie<'_, GetPropertyReply>, X11Error> {
    Ok(server.connection.get_property(false, window, property, AtomEnum::ANY, 0, words)?)
}

pub fn property_numbers(reply: GetPropertyReply) -> Vec<u32> {
    reply.value32().map_or(Vec::new(), Iterator::collect)
}

/// `WM_STATE` says 3 of an iconified window.
fn is_iconic(state: &[u32]) -> bool {
    state.first() == Some(&3)
}

fn frame_extents(numbers: &[u32]) -> Extents {
    // No frame is wider than a screen: what an application claims beyond that is nonsense.
    let side = |index: usize| numbers.get(index).map_or(0, |&width| width.min(1 << 12) as i32);
    Extents { left: side(0), right: side(1), top: side(2), bottom: side(3) }
}

fn first_text(replies: [&GetPropertyReply; 2], utf8: u32) -> Option<String> {
    replies.into_iter().map(|reply| text_of(&reply.value, reply.type_ == utf8)).find(|text| !text.is_empty())
}

/// Old titles are Latin-1, newer ones UTF-8; some are UTF-8 that says it is something else.
fn text_of(bytes: &[u8], is_utf8: bool) -> String {
    let bytes = bytes.split(|&byte| byte == 0).next().unwrap_or_default();
    match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(_) if is_utf8 => String::from_utf8_lossy(bytes).into_owned(),
        Err(_) => bytes.iter().map(|&byte| char::from(byte)).collect(),
    }
}

/// `WM_CLASS` is two texts, each ended by a zero: the instance, then the class.
fn class_of(bytes: &[u8]) -> String {
    let mut parts = bytes.split(|&byte| byte == 0).filter(|part| !part.is_empty());
    let instance = parts.next();
    parts.next().or(instance).map(|part| text_of(part, true)).unwrap_or_default()
}

/// What a window and its program are called: the file of the program, the two names in `WM_CLASS`, and the desktop entry
/// that the window names.
pub fn app_names(server: &X11Server, uid: &str, pid: u32) -> Result<AppNames, X11Failure> {
    let xid = WindowUid::parse(uid)?.xid;
    let class = get_property(server, xid, AtomEnum::WM_CLASS.into(), 1024)?;
    let entries = [server.atoms._GTK_APPLICATION_ID, server.atoms._KDE_NET_WM_DESKTOP_FILE];
    let asked: Vec<_> =
        entries.into_iter().map(|atom| get_property(server, xid, atom, 1024)).collect::<Result<_, _>>()?;
    let texts = |bytes: &[u8]| {
        let parts = bytes.split(|&byte| byte == 0).filter(|part| !part.is_empty());
        parts.map(|part| text_of(part, true)).collect::<Vec<_>>()
    };
    // A window that is gone has no names.
    let classes = class.reply().map(|reply| texts(&reply.value)).unwrap_or_default();
    let told = asked.into_iter().filter_map(|cookie| cookie.reply().ok());
    let desktop_id = told.flat_map(|reply| texts(&reply.value)).next();
    let program = std::fs::read_link(format!("/proc/{pid}/exe")).ok();
    let executable = program.and_then(|path| Some(path.file_name()?.to_string_lossy().into_owned()));
    Ok(AppNames { executable, desktop_id, classes })
}

/// The kernel keeps fifteen bytes of a name; the command line has the rest.
pub fn process_name(pid: u32) -> Option<String> {
    let short = std::fs::read_to_string(format!("/proc/{pid}/comm")).ok()?;
    let short = short.trim_end();
    if short.len() < 15 {
        return Some(short.to_owned());
    }
    let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let program = String::from_utf8_lossy(line.split(|&byte| byte == 0).next().unwrap_or_default());
    let base = program.rsplit('/').next().unwrap_or_default();
    Some(if base.starts_with(short) { base.to_owned() } else { short.to_owned() })
}

/// Where the pointer is, in the coordinates of the whole screen.
pub fn pointer_position(server: &X11Server) -> Result<Point, X11Error> {
    let at = server.connection.query_pointer(server.root)?.reply()?;
    Ok(Point { x: at.root_x.into(), y: at.root_y.into() })
}

// ── monitors ───────────────────────────────────────────────────────────────────────────────────────

pub fn screen_rect(server: &X11Server) -> Result<Rect, X11Error> {
    let size = server.connection.get_geometry(server.root)?.reply()?;
    Ok(Rect::new(0, 0, size.width.into(), size.height.into()))
}

/// Without monitors of its own (a virtual screen, an old server) the whole screen is one.
pub fn list_monitors(server: &X11Server) -> Result<Vec<Monitor>, X11Error> {
    let scale = desktop_scale(server)?;
    let known = if server.extensions.monitors { known_monitors(server)? } else { Vec::new() };
    if known.is_empty() {
        return Ok(vec![Monitor::scaled(screen_rect(server)?, true, scale)]);
    }
    let first_is_primary = !known.iter().any(|(_, primary)| *primary);
    let numbered = known.into_iter().enumerate();
    Ok(numbered
        .map(|(index, (area, primary))| {
            Monitor::scaled(area, primary || (first_is_primary && index == 0), scale)
        })
        .collect())
}

fn known_monitors(server: &X11Server) -> Result<Vec<(Rect, bool)>, X11Error> {
    match server.connection.randr_get_monitors(server.root, true)?.reply() {
        Ok(reply) => Ok(reply
            .monitors
            .iter()
            .map(|known| {
                let area = Rect::new(known.x.into(), known.y.into(), known.width.into(), known.height.into());
                (area, known.primary)
            })
            .collect()),
        Err(x11rb::errors::ReplyError::X11Error(_)) => Ok(Vec::new()),
        Err(problem) => Err(problem.into()),
    }
}

/// X11 knows one scale for all monitors: what toolkits read from the resource `Xft.dpi`.
fn desktop_scale(server: &X11Server) -> Result<f64, X11Error> {
    let resources =
        get_property(server, server.root, AtomEnum::RESOURCE_MANAGER.into(), LIST_WORDS)?.reply()?;
    Ok(scale_in(&String::from_utf8_lossy(&resources.value)))
}

fn scale_in(resources: &str) -> f64 {
    let dpi = resources.lines().find_map(|line| {
        let value = line.strip_prefix("Xft.dpi")?.trim_start().strip_prefix(':')?;
        value.trim().parse::<f64>().ok()
    });
    dpi.filter(|dpi| (24.0..=1200.0).contains(dpi)).map_or(1.0, |dpi| dpi / 96.0)
}

// ── changing ───────────────────────────────────────────────────────────────────────────────────────

/// Brings a window to the front and the keyboard to it, and waits until that is so.
pub fn activate_window(server: &X11Server, clock: &Clock, uid: &str) -> Result<Activation, X11Failure> {
    let wanted = WindowUid::parse(uid)?;
    let sight = look_at_desktop(server)?;
    find_window(&sight, wanted).ok_or_else(|| gone(uid))?;
    ask_for_activation(server, &sight, wanted.xid)?;
    let reached = poll_until(clock, &Cancel::new(), MANAGER_POLLING, || {
        let sight = look_at_desktop(server)?;
        let Some(seen) = find_window(&sight, wanted) else { return Ok(Some(None)) };
        let told = seen.focused && !seen.hidden;
        Ok::<_, X11Failure>((told && has_keyboard(server, wanted.xid)?).then_some(Some(())))
    })?;
    match reached {
        Some(Some(())) => Ok(Activation::Activated),
        Some(None) => Err(gone(uid).into()),
        None => Ok(Activation::Refused(why_not_active(&look_at_desktop(server)?))),
    }
}

/// The window that this one is a dialog of, as its application says.
pub fn owner_of(server: &X11Server, uid: &str) -> Result<Option<String>, X11Failure> {
    let asked = get_property(server, WindowUid::parse(uid)?.xid, AtomEnum::WM_TRANSIENT_FOR.into(), 1)?;
    let owner = match asked.reply() {
        Ok(reply) => property_numbers(reply).first().copied(),
        // A window that closed is nobody's.
        Err(_) => None,
    };
    let Some(owner) = owner.filter(|owner| *owner > 1 && *owner != server.root) else { return Ok(None) };
    let sight = look_at_desktop(server)?;
    Ok(sight.windows.iter().find(|window| window.uid.xid == owner).map(|window| window.uid.to_string()))
}

/// Window managers tell that a window is active before keys go there.
pub fn has_keyboard(server: &X11Server, xid: u32) -> Result<bool, X11Error> {
    let focus = server.connection.get_input_focus()?.reply()?.focus;
    let with_focus = top_level(server, focus)?;
    Ok(with_focus.is_some() && with_focus == top_level(server, xid)?)
}

fn ask_for_activation(server: &X11Server, sight: &X11Desktop, xid: u32) -> Result<(), X11Error> {
    if sight.managed {
        // 2: the request of a tool that acts for the user, which window managers obey.
        tell_manager(server, xid, server.atoms._NET_ACTIVE_WINDOW, [2, 0, 0, 0, 0])?;
    } else {
        server.connection.set_input_focus(InputFocus::PARENT, xid, x11rb::CURRENT_TIME)?;
    }
    raise_window(server, xid)
}

fn raise_window(server: &X11Server, xid: u32) -> Result<(), X11Error> {
    server.connection.configure_window(xid, &ConfigureWindowAux::new().stack_mode(StackMode::ABOVE))?;
    server.sync_server()
}

fn why_not_active(sight: &X11Desktop) -> String {
    let waited = MANAGER_TIME.as_millis();
    match sight.windows.iter().find(|seen| seen.focused) {
        Some(other) => format!(
            "the window manager did not give it the keyboard within {waited} ms; '{}' has it",
            other.title
        ),
        None => {
            format!("the window manager did not give it the keyboard within {waited} ms; no window has it")
        }
    }
}

fn find_window(sight: &X11Desktop, uid: WindowUid) -> Option<&ListedX11Window> {
    sight.windows.iter().find(|seen| seen.uid == uid)
}

/// Asks for a change and waits until it is seen, or until the time is over.
pub fn request_change(
    server: &X11Server,
    uid: &str,
    change: &WindowChange,
    wait: &ChangeWait<'_>,
) -> Result<Reached, X11Failure> {
    let sight = look_at_desktop(server)?;
    let before = find_window(&sight, WindowUid::parse(uid)?).ok_or_else(|| gone(uid))?.clone();
    if !sight.managed && needs_manager(change) {
        let note = "no window manager is running, and only a window manager can do that".to_owned();
        return Ok(Reached { done: false, state: Some(before.state()), note: Some(note) });
    }
    let wanted = wanted_bounds(before.frame.bounds(), change, PLACES);
    let window = X11Window { server, sight: &sight, before: &before };
    let reached = change_window(&window, &before.state(), wanted, change, wait)?;
    if !reached.done {
        return Ok(reached);
    }
    let state = steady_state(&window, reached.state, wait, Polling::every(STEADY, MANAGER_TIME))?;
    Ok(Reached { state, ..reached })
}

/// A window that is being changed, as it was before.
struct X11Window<'a> {
    server: &'a X11Server,
    sight: &'a X11Desktop,
    before: &'a ListedX11Window,
}

impl ChangingWindow for X11Window<'_> {
    type Error = X11Failure;

    fn request_change(&self, change: &WindowChange) -> Result<Option<String>, X11Failure> {
        send_request(self.server, self.sight, self.before, change)?;
        Ok(None)
    }

    fn window_state(&self) -> Result<Option<ObservedWindow>, X11Failure> {
        let sight = look_at_desktop(self.server)?;
        let is_front = front_window(&sight) == Some(self.before.uid.xid);
        let state = find_window(&sight, self.before.uid).map(ListedX11Window::state);
        Ok(state.map(|state| ObservedWindow { state, is_front }))
    }

    fn asks_back(&self) -> Result<bool, X11Failure> {
        let now = look_at_desktop(self.server)?;
        let is_known = |uid: WindowUid| self.sight.windows.iter().any(|window| window.uid == uid);
        let mut own = now.windows.iter().filter(|window| window.uid.is_of_same_process(self.before.uid));
        Ok(own.any(|window| !is_known(window.uid)))
    }

    fn reasons(&self) -> &Reasons {
        &REASONS
    }
}

const REASONS: Reasons = Reasons {
    raise: "another window is kept above it",
    show: "the window manager did not do it",
    maximize: "the window manager did not do it",
    place: "the window manager or the application allows only what is reported",
};

fn needs_manager(change: &WindowChange) -> bool {
    matches!(change, WindowChange::Minimize | WindowChange::Maximize | WindowChange::Restore)
}

fn send_request(
    server: &X11Server,
    sight: &X11Desktop,
    seen: &ListedX11Window,
    change: &WindowChange,
) -> Result<(), X11Error> {
    let (xid, atoms) = (seen.uid.xid, &server.atoms);
    match change {
        WindowChange::Raise => raise_window(server, xid),
        WindowChange::Restore if seen.hidden => {
            server.connection.map_window(xid)?;
            ask_for_activation(server, sight, xid)
        }
        WindowChange::Restore => tell_maximized(server, xid, 0),
        WindowChange::Minimize => tell_manager(server, xid, atoms.WM_CHANGE_STATE, [3, 0, 0, 0, 0]),
        WindowChange::Maximize => {
            if seen.hidden {
                server.connection.map_window(xid)?;
                ask_for_activation(server, sight, xid)?;
            }
            tell_maximized(server, xid, 1)
        }
        WindowChange::Move(_) | WindowChange::Resize { .. } => move_and_resize(server, sight, seen, change),
        WindowChange::Close if sight.managed => {
            tell_manager(server, xid, atoms._NET_CLOSE_WINDOW, [0, 2, 0, 0, 0])
        }
        WindowChange::Close => {
            let data = [atoms.WM_DELETE_WINDOW, 0, 0, 0, 0];
            let message = ClientMessageEvent::new(32, xid, atoms.WM_PROTOCOLS, data);
            server.connection.send_event(false, xid, EventMask::NO_EVENT, message)?;
            server.sync_server()
        }
    }
}

/// 0 takes the state away, 1 gives it.
fn tell_maximized(server: &X11Server, xid: u32, give: u32) -> Result<(), X11Error> {
    let atoms = &server.atoms;
    let data = [give, atoms._NET_WM_STATE_MAXIMIZED_VERT, atoms._NET_WM_STATE_MAXIMIZED_HORZ, 2, 0];
    tell_manager(server, xid, atoms._NET_WM_STATE, data)
}

fn move_and_resize(
    server: &X11Server,
    sight: &X11Desktop,
    seen: &ListedX11Window,
    change: &WindowChange,
) -> Result<(), X11Error> {
    let client = seen.frame.client_for(wanted_bounds(seen.frame.bounds(), change, PLACES));
    if !sight.managed {
        let (width, height) = (client.width.max(1) as u32, client.height.max(1) as u32);
        let values = ConfigureWindowAux::new().x(client.x).y(client.y).width(width).height(height);
        server.connection.configure_window(seen.uid.xid, &values)?;
        return server.sync_server();
    }
    // Gravity 1 (north-west): the place is that of the frame, the size that of what is in it. All four numbers
    // count (openbox moves a window of which only the size is told); 2 is a tool that acts for the user.
    let flags = 1 | 0xf00 | (2 << 12);
    let (x, y) = (client.x - seen.frame.decoration.left, client.y - seen.frame.decoration.top);
    let (width, height) = (client.width.max(1), client.height.max(1));
    let data = [flags, x as u32, y as u32, width as u32, height as u32];
    tell_manager(server, seen.uid.xid, server.atoms._NET_MOVERESIZE_WINDOW, data)
}

fn front_window(sight: &X11Desktop) -> Option<u32> {
    let shows = |xid: &u32| sight.windows.iter().any(|seen| seen.uid.xid == *xid && !seen.hidden);
    sight.stacking.iter().copied().find(|xid| shows(xid))
}

/// Sends a message to whoever manages the windows.
fn tell_manager(server: &X11Server, xid: u32, kind: u32, data: [u32; 5]) -> Result<(), X11Error> {
    let message = ClientMessageEvent::new(32, xid, kind, data);
    let listeners = EventMask::SUBSTRUCTURE_REDIRECT | EventMask::SUBSTRUCTURE_NOTIFY;
    server.connection.send_event(false, server.root, listeners, message)?;
    server.sync_server()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const NONE: Extents = Extents { left: 0, right: 0, top: 0, bottom: 0 };

    #[test]
    fn java_splash_screens_have_the_name_that_java_gives_them() {
        let check =
            |process, title, expected| assert_eq!(is_splash_of_java(process, title), expected, "{title}");
        check("java", "win0", true);
        check("java", "win12", true);
        check("java", "win", false);
        check("java", "window 3", false);
        check("java", "jEdit - letter.txt", false);
        check("xterm", "win0", false);
    }

    fn frame_of(client: Rect, shadow: Extents, decoration: Extents) -> WindowFrame {
        WindowFrame { client, shadow, decoration, pid: None }
    }

    #[test]
    fn bounds_have_the_frame_and_not_the_shadow() {
        let client = Rect::new(101, 120, 300, 200);
        let decorated = Extents { left: 1, right: 1, top: 20, bottom: 5 };
        assert_eq!(frame_of(client, NONE, NONE).bounds(), client);
        assert_eq!(frame_of(client, NONE, decorated).bounds(), Rect::new(100, 100, 302, 225));
        let shadow = Extents { left: 26, right: 26, top: 23, bottom: 29 };
        assert_eq!(frame_of(client, shadow, NONE).bounds(), Rect::new(127, 143, 248, 148));
    }

    #[test]
    fn a_shadow_larger_than_the_window_leaves_nothing() {
        let huge = frame_extents(&[u32::MAX; 4]);
        let bounds = frame_of(Rect::new(0, 0, 10, 10), huge, NONE).bounds();
        assert!(bounds.is_empty());
    }

    #[test]
    fn texts_are_read_in_every_encoding() {
        assert_eq!(text_of("Schrödinger".as_bytes(), true), "Schrödinger");
        assert_eq!(text_of("Schrödinger".as_bytes(), false), "Schrödinger");
        assert_eq!(text_of(b"Schr\xf6dinger", false), "Schrödinger");
        assert_eq!(text_of(b"Schr\xf6dinger", true), "Schr\u{fffd}dinger");
        assert_eq!(text_of(b"one\0two", true), "one");
    }

    #[test]
    fn the_class_is_the_second_text() {
        assert_eq!(class_of(b"xterm\0XTerm\0"), "XTerm");
        assert_eq!(class_of(b"xterm\0"), "xterm");
        assert_eq!(class_of(b""), "");
    }

    #[test]
    fn iconic_is_three() {
        assert!(is_iconic(&[3, 0]));
        assert!(!is_iconic(&[1, 0]));
        assert!(!is_iconic(&[]));
    }

    #[test]
    fn the_scale_comes_from_the_resources() {
        assert_eq!(scale_in("Xcursor.size:\t24\nXft.dpi:\t192\n"), 2.0);
        assert_eq!(scale_in("Xft.dpi: 144"), 1.5);
        for nothing in ["", "Xft.dpi: zero", "Xft.dpi: 0", "Xft.dpimagic: 192", "Xft.dpi: inf"] {
            assert_eq!(scale_in(nothing), 1.0, "{nothing}");
        }
    }

    #[test]
    fn a_monitor_of_a_scaled_desktop_is_logically_smaller() {
        let monitor = Monitor::scaled(Rect::new(3840, 0, 3840, 2160), true, 2.0);
        assert_eq!(monitor.logical, Rect::new(1920, 0, 1920, 1080));
    }

    proptest! {
        #[test]
        fn the_client_for_some_bounds_gives_those_bounds(
            client in (-500..500i32, -500..500i32, 100..900i32, 100..900i32),
            sides in prop::array::uniform8(0..40i32),
            wanted in (-500..500i32, -500..500i32, 200..900i32, 200..900i32),
        ) {
            let rect = |(x, y, width, height)| Rect::new(x, y, width, height);
            let [a, b, c, d, e, f, g, h] = sides;
            let shadow = Extents { left: a, right: b, top: c, bottom: d };
            let decoration = Extents { left: e, right: f, top: g, bottom: h };
            let frame = frame_of(rect(client), shadow, decoration);
            let moved = WindowFrame { client: frame.client_for(rect(wanted)), ..frame };
            prop_assert_eq!(moved.bounds(), rect(wanted));
        }
    }
}
