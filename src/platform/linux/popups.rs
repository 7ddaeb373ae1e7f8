//! Menus, drop-down lists and tooltips: windows that no window manager knows, on top of those it does.
//!
//! They come without title and frame and are gone with the next click, so they are not listed as windows.
//! They are in a picture of the window that they belong to, and they are found under a point.

use x11rb::protocol::res::QueryClientIdsReply;
use x11rb::protocol::xproto::{
    AtomEnum, ConnectionExt as _, GetGeometryReply, GetPropertyReply, GetWindowAttributesReply, MapState,
    WindowClass,
};

use super::desktop::{self, X11Cookie, get_property, property_numbers};
use super::sandbox::inside::is_known_inside_as;
use super::window_uid::{WindowUid, ask_pid, told_pid};
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
    let screen = server.connection.get_geometry(server.root)?;
    let shown = shown_children(server)?.into_iter().filter(|(_, facts)| facts.override_redirect);
    let asked: Vec<AskedPopup<'_>> =
        shown.map(|(xid, _)| AskedPopup::ask_about(server, xid)).collect::<Result<_, _>>()?;
    let screen = area_of(&screen.reply()?);
    let read = asked.into_iter().filter_map(|asked| asked.popup().transpose());
    read.filter(|popup| popup.as_ref().map_or(true, |popup| popup.is_seen_on(screen))).collect()
}

/// The popups of one window: those that name it, and those of its process that name no other. Qt names a window that it
/// keeps for all of its own and never shows.
pub fn of_window(server: &X11Server, xid: u32, pid: Option<u32>) -> Result<Vec<Popup>, X11Error> {
    let mut own = Vec::new();
    for popup in list_popups(server)? {
        let named = popup.transient_for.filter(|&owner| owner != server.root && owner != 0);
        let is_own = match named {
            Some(owner) if is_shown(server, owner)? => owner == xid,
            _ => pid.is_some() && popup.pid == pid,
        };
        if is_own {
            own.push(popup);
        }
    }
    Ok(own)
}

fn is_shown(server: &X11Server, xid: u32) -> Result<bool, X11Error> {
    let facts = server.connection.get_window_attributes(xid)?.reply();
    Ok(facts.is_ok_and(|facts| facts.map_state == MapState::VIEWABLE))
}

/// Whether one of the window's popups is more than a tooltip.
pub fn has_menu(server: &X11Server, xid: u32, pid: Option<u32>) -> Result<bool, X11Error> {
    for popup in of_window(server, xid, pid)? {
        if !desktop::is_of_type(server, popup.xid, server.atoms._NET_WM_WINDOW_TYPE_TOOLTIP)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The popup under a point, if it is in front of all windows there. Which window that would be is not asked.
pub fn popup_at(server: &X11Server, point: Point) -> Result<Option<Popup>, X11Error> {
    let shown = shown_children(server)?.into_iter().rev();
    let asked: Vec<_> = shown
        .map(|(xid, facts)| Ok((xid, facts, server.connection.get_geometry(xid)?)))
        .collect::<Result<_, X11Error>>()?;
    // What closed meanwhile is nowhere.
    let is_there = |geometry: &GetGeometryReply| area_of(geometry).contains(point);
    let met = asked
        .into_iter()
        .filter_map(|(xid, facts, place)| place.reply().ok().filter(is_there).map(|_| (xid, facts)));
    let met: Vec<(u32, GetWindowAttributesReply)> = met.collect();
    match met.split_first() {
        Some(((xid, facts), _)) if facts.override_redirect => AskedPopup::ask_about(server, *xid)?.popup(),
        // Not everything that the server shows is a window, such as what a panel keeps over it.
        Some((_, behind)) if behind.iter().any(|(_, facts)| facts.override_redirect) => {
            Ok(match hit_test(server, point)? {
                PointerHit::Popup(popup) => Some(popup),
                PointerHit::Window(_) | PointerHit::Nothing => None,
            })
        }
        _ => Ok(None),
    }
}

/// The frontmost window or popup under a point, by the server's own order.
pub fn hit_test(server: &X11Server, point: Point) -> Result<PointerHit, X11Error> {
    let listed = desktop::look_at_desktop(server)?;
    for (xid, facts) in shown_children(server)?.into_iter().rev() {
        let asked = AskedPopup::ask_about(server, xid)?;
        let Some(popup) = asked.popup()?.filter(|popup| popup.bounds.contains(point)) else {
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

/// The questions about one popup, sent but not yet answered.
struct AskedPopup<'a> {
    xid: u32,
    geometry: X11Cookie<'a, GetGeometryReply>,
    pid: X11Cookie<'a, GetPropertyReply>,
    by_server: Option<X11Cookie<'a, QueryClientIdsReply>>,
    owner: X11Cookie<'a, GetPropertyReply>,
}

impl<'a> AskedPopup<'a> {
    fn ask_about(server: &'a X11Server, xid: u32) -> Result<Self, X11Error> {
        Ok(Self {
            xid,
            geometry: server.connection.get_geometry(xid)?,
            pid: get_property(server, xid, server.atoms._NET_WM_PID, 1)?,
            by_server: ask_pid(server, xid)?,
            owner: get_property(server, xid, AtomEnum::WM_TRANSIENT_FOR.into(), 1)?,
        })
    }

    /// `None` when it closed meanwhile.
    fn popup(self) -> Result<Option<Popup>, X11Error> {
        let geometry = match self.geometry.reply().map_err(X11Error::from) {
            Ok(geometry) => geometry,
            Err(trouble) if trouble.is_gone() => return Ok(None),
            Err(trouble) => return Err(trouble),
        };
        let first =
            |reply: Result<_, _>| reply.map_or(None, |reply| property_numbers(reply).first().copied());
        let pid = match (first(self.pid.reply()), told_pid(self.by_server)?) {
            (Some(said), Some(known)) if said != known && is_known_inside_as(known, said) => Some(known),
            (said, known) => said.or(known),
        };
        let transient_for = first(self.owner.reply());
        Ok(Some(Popup { xid: self.xid, bounds: area_of(&geometry), pid, transient_for }))
    }
}

fn area_of(geometry: &GetGeometryReply) -> Rect {
    let border = 2 * i32::from(geometry.border_width);
    Rect::new(
        geometry.x.into(),
        geometry.y.into(),
        i32::from(geometry.width) + border,
        i32::from(geometry.height) + border,
    )
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
            url: None,
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
