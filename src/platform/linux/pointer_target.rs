//! Where an element is on the screen of X11, and whether a pointer there meets it.

use super::window_uid::WindowUid;
use super::{Linux, PointerHit, popups};
use crate::error::Result;
use crate::model::input::Handle;
use crate::model::{Point, Rect};
use crate::platform::Desktop;
use crate::platform::interaction::ElementState;

/// Where the element is, while its middle is on the screen; nothing for what is not shown.
pub fn visible_bounds(linux: &Linux, element: &Handle, state: &ElementState) -> Result<Option<Rect>> {
    let Some(own) = state.bounds else {
        return Ok(None);
    };
    let bounds = match state.window_offset {
        Some(offset) => moved_by(own, linux.frame(&element.window_uid)?.client, offset),
        None => own,
    };
    Ok(Some(bounds).filter(|bounds| is_on_screen(linux, *bounds)))
}

/// Bounds that count from a place in a window, on the screen.
fn moved_by(own: Rect, client: Rect, (left, top): (i32, i32)) -> Rect {
    let (x, y) = (own.x.saturating_add(client.x + left), own.y.saturating_add(client.y + top));
    Rect { x, y, ..own }
}

fn is_on_screen(linux: &Linux, bounds: Rect) -> bool {
    let screen = linux.screen().ok().flatten();
    screen.is_none_or(|screen| screen.contains(bounds.center()))
}

/// Whether a click there meets the window, or a menu that lies over it.
pub fn hits_window(linux: &Linux, window_uid: &str, point: Point) -> Result<bool> {
    Ok(match linux.under(point)? {
        PointerHit::Window(uid) => uid == window_uid,
        PointerHit::Popup(_) => true,
        PointerHit::Nothing => false,
    })
}

/// Whether a menu or a list lies over the window: a click beside it only closes it.
pub fn has_open_menu(linux: &Linux, window_uid: &str) -> Result<bool> {
    let window = linux.window(window_uid)?;
    linux.link.with_errors(|server| {
        let xid = WindowUid::parse(&window.uid)?.xid;
        Ok(popups::has_menu(server, xid, Some(window.pid))?)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_counts_from_its_window_is_moved_to_the_screen() {
        let own = Rect::new(10, 20, 30, 40);
        assert_eq!(moved_by(own, Rect::new(100, 200, 640, 480), (5, 7)), Rect::new(115, 227, 30, 40));
        let far = Rect::new(i32::MAX, 0, 1, 1);
        assert_eq!(moved_by(far, Rect::new(100, 0, 1, 1), (0, 0)).x, i32::MAX);
    }
}
