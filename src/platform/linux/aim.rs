//! Bringing the pointer to an element: where it is on the screen now, scrolled into view and uncovered.

use super::accessibility::Accessible;
use super::accessibility::element::Live;
use super::hands::{READ_BACK_TIME, Seat, act};
use super::{Linux, Typed, Under, lease};
use crate::clock::Cancel;
use crate::error::{Error, Kind, Result};
use crate::model::action::{Act, Handle};
use crate::model::{KeyCombo, Point, Rect, Window};
use crate::platform::hands::{Deed, Drag};
use crate::platform::{Activation, Claimant, Desktop, Done, Input};

impl Input for Linux {
    fn act(&self, input: &Act, cancel: &Cancel) -> Result<Done> {
        act(self, input, cancel)
    }

    fn claim(&self, claimant: &Claimant) -> Result<()> {
        // A desktop that is gone is nobody's; what needs it says so itself, and a command needs none.
        match self.link.with_errors(|server| lease::claim(server, claimant)) {
            Err(error) if error.kind != Kind::DesktopBusy => {
                tracing::debug!(%error, "nobody could be asked who acts");
                Ok(())
            }
            answer => answer,
        }
    }

    fn give_back(&self, claimant: &Claimant) {
        // With its connection a process has lost the desktop anyway.
        if let Err(error) = self.link.with(|server| lease::give_back(server, claimant.keeps_for)) {
            tracing::debug!(%error, "the desktop was not given back");
        }
    }

    fn release_all(&self) {
        self.let_go();
    }

    fn confine(&self, region: Rect) {
        self.region.set(region);
    }
}

impl Seat for Linux {
    fn accessible(&self) -> &Accessible {
        &self.accessible
    }

    fn has_keyboard(&self, window_uid: &str) -> Result<bool> {
        Ok(self.window(window_uid)?.focused)
    }

    fn raise(&self, window_uid: &str) -> Result<()> {
        if let Activation::Refused(why) = self.activate(&self.window(window_uid)?)? {
            tracing::debug!(why, "a window was not activated");
        }
        Ok(())
    }

    fn point(&self, deed: Deed, element: Option<&Handle>, at: Option<Point>, cancel: &Cancel) -> Result<()> {
        // The wheel turns wherever the pointer is.
        if let (Deed::Scroll(clicks), None, None) = (deed, element, at) {
            return self.scroll(None, clicks);
        }
        let at = Aim { linux: self, cancel }.at(element, at)?;
        match deed {
            Deed::Click(button, count) => self.click(at, button, count),
            Deed::Scroll(clicks) => self.scroll(Some(at), clicks),
            Deed::Stay => self.move_to(at),
        }
    }

    fn drag(&self, drag: &Drag<'_>, cancel: &Cancel) -> Result<()> {
        Linux::drag(self, drag, cancel)
    }

    fn press_keys(&self, keys: &KeyCombo) -> Result<()> {
        Linux::press_keys(self, keys)
    }

    fn type_text(&self, text: &str, cancel: &Cancel) -> Result<Typed> {
        Linux::type_text(self, text, cancel)
    }
}

impl Linux {
    fn window(&self, uid: &str) -> Result<Window> {
        let windows = self.windows()?;
        windows.into_iter().find(|window| window.uid == uid).ok_or_else(|| super::desktop::gone(uid))
    }
}

/// One way of the pointer.
struct Aim<'a> {
    linux: &'a Linux,
    cancel: &'a Cancel,
}

impl Aim<'_> {
    fn look(&self, element: &Handle) -> Result<Live> {
        self.linux.accessible.look_at(element, self.cancel)
    }

    fn at(&self, element: Option<&Handle>, at: Option<Point>) -> Result<Point> {
        match (element, at) {
            (Some(element), at) => self.aim_at(element, &self.look(element)?, at),
            (None, Some(at)) => Ok(at),
            (None, None) => Err(Error::bad_request("neither an element nor a point to go to")),
        }
    }

    /// A point of the element as it is now that a pointer reaches: scrolled into view and uncovered.
    fn aim_at(&self, element: &Handle, live: &Live, at: Option<Point>) -> Result<Point> {
        let mut place = self.place(element, live)?;
        if place.is_none_or(|place| !self.is_on_screen(place)) {
            place = self.scroll_into_view(element)?;
        }
        let place = place.ok_or_else(|| unreachable(live, "it has no place on the screen now"))?;
        // The caller's point was chosen with care for what covers the element; it counts while it fits.
        let point = at.filter(|at| place.contains(*at)).unwrap_or(place.center());
        self.uncover(element, live, point)?;
        Ok(point)
    }

    /// Where the element is on the screen, or nothing for what is not shown.
    fn place(&self, element: &Handle, live: &Live) -> Result<Option<Rect>> {
        let Some(own) = live.extents.filter(|own| !own.is_empty()) else {
            return Ok(None);
        };
        let Some((left, top)) = live.inset else {
            return Ok(Some(own));
        };
        let client = self.linux.frame(&element.window_uid)?.client;
        let (x, y) = (own.x.saturating_add(client.x + left), own.y.saturating_add(client.y + top));
        Ok(Some(Rect { x, y, ..own }))
    }

    fn is_on_screen(&self, place: Rect) -> bool {
        let screen = self.linux.screen().ok().flatten();
        screen.is_none_or(|screen| screen.contains(place.center()))
    }

    /// Chromium scrolls and sends no event for it; GTK3 says no.
    fn scroll_into_view(&self, element: &Handle) -> Result<Option<Rect>> {
        self.linux.accessible.scroll_to(element, self.cancel)?;
        let mut place = None;
        self.linux.accessible.until(READ_BACK_TIME, self.cancel, || {
            place = self.place(element, &self.look(element)?)?.filter(|place| self.is_on_screen(*place));
            Ok(place.is_some())
        })?;
        Ok(place)
    }

    fn uncover(&self, element: &Handle, live: &Live, point: Point) -> Result<()> {
        if self.is_reached(element, point)? {
            return Ok(());
        }
        self.linux.raise(&element.window_uid)?;
        if self.linux.accessible.until(READ_BACK_TIME, self.cancel, || self.is_reached(element, point))? {
            return Ok(());
        }
        Err(unreachable(live, "another window covers it, also after its own was brought to the front"))
    }

    /// Whether a click there meets the element's window, or a menu that lies over it.
    fn is_reached(&self, element: &Handle, point: Point) -> Result<bool> {
        Ok(match self.linux.under(point)? {
            Under::Window(uid) => uid == element.window_uid,
            Under::Popup(_) => true,
            Under::Nothing => false,
        })
    }
}

fn unreachable(live: &Live, why: &str) -> Error {
    Error::new(Kind::ElementOccluded, format!("the pointer cannot reach '{}': {why}", live.name))
}
