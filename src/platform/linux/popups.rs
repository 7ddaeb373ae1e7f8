//! Menus, drop-down lists and tooltips: windows that no window manager knows, on top of those it does.
//!
//! They come without title and frame and are gone with the next click, so they are not listed as windows.
//! They are in a picture of the window that they belong to, and they are found under a point.

use x11rb::protocol::xproto::{
    AtomEnum, ConnectionExt as _, GetWindowAttributesReply, MapState, WindowClass,
};

use super::desktop::{self, get_property, property_numbers};
use super::sandbox::inside::is_known_inside_as;
use super::window_uid::{WindowUid, pid_by_server};
use super::x11::{X11Error, X11Server};
use crate::model::{Point, Rect, Window};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Popup {
    pub xid: u32,
    pub bounds: Rect,
    pub pid: Option<u32>,
    /// The window that it says it belongs to.
    pub transient_for: Option<u32>,
}

impl Popup {
    /// Toolkits keep windows of a pixel, or beyond the edge of the screen, for purposes of their own.
    fn is_seen_on(&self, screen: Rect) -> bool {
        self.bounds.width > 1 && self.bounds.height > 1 && self.bounds.intersection(&screen).is_some()
    }

    /// The window in whose tree it is: the one that it names, or else the one of its process that a person works with,
    /// which is the rule by which menus get into trees.
    pub fn owner_window<'a>(&self, windows: &'a [Window]) -> Option<&'a str> {
        let is_named = |window: &&Window| {
            WindowUid::parse(&window.uid).is_ok_and(|uid| Some(uid.xid) == self.transient_for)
        };
        if let Some(window) = windows.iter().find(is_named) {
            return Some(&window.uid);
        }
        let mut own = windows.iter().filter(|window| Some(window.pid) == self.pid);
        let first = own.next()?;
        let Some(second) = own.next() else {
            return Some(&first.uid);
        };
        [first, second].into_iter().chain(own).find(|window| window.focused).map(|window| window.uid.as_str())
    }
}

/// What is under a point of the screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PointerHit {
    /// The uid of a window that the desktop lists.
    Window(String),
    Popup(Popup),
    Nothing,
}

/// All popups that a person sees, from the back to the front.
pub fn list_popups(server: &X11Server) -> Result<Vec<Popup>, X11Error> {
    let screen = desktop::screen_rect(server)?;
    let shown = shown_children(server)?.into_iter().filter(|(_, facts)| facts.override_redirect);
    let read = shown.filter_map(|(xid, _)| read_popup(server, xid).transpose());
    read.filter(|popup| popup.as_ref().map_or(true, |popup| popup.is_seen_on(screen))).collect()
}

/// The popups of one window: those that name it, and those of its process that name no other.
pub fn of_window(server: &X11Server, xid: u32, pid: Option<u32>) -> Result<Vec<Popup>, X11Error> {
    let mut popups = list_popups(server)?;
    popups.retain(|popup| match popup.transient_for {
        Some(owner) if owner != server.root && owner != 0 => owner == xid,
        _ => pid.is_some() && popup.pid == pid,
    });
    Ok(popups)
}

/// The frontmost window or popup under a point, by the server's own order.
pub fn hit_test(server: &X11Server, point: Point) -> Result<PointerHit, X11Error> {
    let listed = desktop::look_at_desktop(server)?;
    for (xid, facts) in shown_children(server)?.into_iter().rev() {
        let Some(popup) = read_popup(server, xid)?.filter(|popup| popup.bounds.contains(point)) else {
            continue;
        };
        if facts.override_redirect {
            return Ok(PointerHit::Popup(popup));
        }
        for seen in listed.windows.iter().filter(|seen| seen.frame.bounds().contains(point)) {
            if desktop::top_level(server, seen.uid.xid)? == Some(xid) {
                return Ok(PointerHit::Window(seen.uid.to_string()));
            }
        }
    }
    Ok(PointerHit::Nothing)
}

/// The root's children that can be seen, from the back to the front.
fn shown_children(server: &X11Server) -> Result<Vec<(u32, GetWindowAttributesReply)>, X11Error> {
    let children = server.connection.query_tree(server.root)?.reply()?.children;
    let asked: Vec<_> =
        children.iter().map(|&xid| server.connection.get_window_attributes(xid)).collect::<Result<_, _>>()?;
    let answered = children.into_iter().zip(asked.into_iter().map(|cookie| cookie.reply().ok()));
    let shows = |facts: &GetWindowAttributesReply| {
        facts.map_state == MapState::VIEWABLE && facts.class == WindowClass::INPUT_OUTPUT
    };
    Ok(answered.filter_map(|(xid, facts)| Some((xid, facts.filter(shows)?))).collect())
}

/// `None` when it closed meanwhile.
fn read_popup(server: &X11Server, xid: u32) -> Result<Option<Popup>, X11Error> {
    let geometry = server.connection.get_geometry(xid)?;
    let pid = get_property(server, xid, server.atoms._NET_WM_PID, 1)?;
    let owner = get_property(server, xid, AtomEnum::WM_TRANSIENT_FOR.into(), 1)?;
    let geometry = match geometry.reply().map_err(X11Error::from) {
        Ok(geometry) => geometry,
        Err(trouble) if trouble.is_gone() => return Ok(None),
        Err(trouble) => return Err(trouble),
    };
    let first = |reply: Result<_, _>| reply.map_or(None, |reply| property_numbers(reply).first().copied());
    let pid = match (first(pid.reply()), pid_by_server(server, xid)?) {
        (Some(said), Some(known)) if said != known && is_known_inside_as(known, said) => Some(known),
        (said, known) => said.or(known),
    };
    let border = 2 * i32::from(geometry.border_width);
    let bounds = Rect::new(
        geometry.x.into(),
        geometry.y.into(),
        i32::from(geometry.width) + border,
        i32::from(geometry.height) + border,
    );
    Ok(Some(Popup { xid, bounds, pid, transient_for: first(owner.reply()) }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uid_of(xid: u32) -> String {
        WindowUid::new(xid, Some(std::process::id())).to_string()
    }

    fn window(xid: u32, pid: u32, focused: bool) -> Window {
        Window {
            uid: uid_of(xid),
            handle: String::new(),
            title: String::new(),
            process: String::new(),
            pid,
            bounds: Rect::default(),
            focused,
            minimized: false,
        }
    }

    fn check(transient_for: Option<u32>, pid: Option<u32>, expected: Option<u32>) {
        let windows = [
            window(1, 10, false),
            window(2, 20, false),
            window(3, 20, true),
            window(4, 30, false),
            window(5, 30, false),
        ];
        let popup = Popup { xid: 9, bounds: Rect::default(), pid, transient_for };
        assert_eq!(popup.owner_window(&windows).map(str::to_owned), expected.map(uid_of));
    }

    #[test]
    fn a_menu_is_of_the_window_that_it_names_or_that_a_person_works_with() {
        check(Some(4), Some(20), Some(4));
        check(None, Some(10), Some(1));
        check(None, Some(20), Some(3));
        check(Some(77), Some(20), Some(3));
        check(None, Some(30), None);
        check(None, Some(99), None);
        check(None, None, None);
    }

    fn check_seen(x: i32, y: i32, width: i32, height: i32, expected: bool) {
        let bounds = Rect::new(x, y, width, height);
        let popup = Popup { xid: 9, bounds, pid: None, transient_for: None };
        assert_eq!(popup.is_seen_on(Rect::new(0, 0, 1600, 1000)), expected, "{bounds:?}");
    }

    #[test]
    fn what_is_off_the_screen_or_of_a_pixel_is_no_menu() {
        check_seen(100, 100, 80, 200, true);
        check_seen(1590, 990, 80, 200, true);
        check_seen(-100, -100, 1, 1, false);
        check_seen(-100, -100, 50, 50, false);
        check_seen(1600, 0, 80, 200, false);
        check_seen(100, 100, 1, 1, false);
        check_seen(100, 100, 80, 1, false);
    }
}
