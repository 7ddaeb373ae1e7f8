//! How a picture of a window is made: off the screen where it shows whole, by itself where something covers it.

use super::desktop::{RawWindow, Sight};
use crate::model::Rect;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// This part of the screen shows it, with the menus that lie over it.
    Screen(Rect),
    /// It must draw itself.
    Itself,
    /// There is nothing to see of it.
    None,
}

pub fn way(sight: &Sight, raw: &RawWindow, screen: Rect) -> Way {
    let bounds = raw.bounds();
    if raw.minimized || raw.cloaked != 0 || bounds.is_empty() {
        return Way::None;
    }
    if covering(sight, raw).is_some() || !screen.encloses(&bounds) {
        return Way::Itself;
    }
    let whole = popups(sight, raw).fold(bounds, |whole, popup| whole.around(&popup.bounds()));
    Way::Screen(whole.intersection(&screen).unwrap_or(bounds))
}

fn above<'a>(sight: &'a Sight, raw: &'a RawWindow) -> impl Iterator<Item = &'a RawWindow> {
    sight.windows.iter().take_while(|other| other.hwnd != raw.hwnd).filter(|other| other.is_shown())
}

/// Menus, lists and tooltips of its own: they belong into its picture.
fn popups<'a>(sight: &'a Sight, raw: &'a RawWindow) -> impl Iterator<Item = &'a RawWindow> {
    above(sight, raw).filter(|other| sight.reaches(other.hwnd, raw.hwnd))
}

/// The frontmost window of others that lies over it.
pub fn covering<'a>(sight: &'a Sight, raw: &'a RawWindow) -> Option<&'a RawWindow> {
    above(sight, raw).find(|other| {
        !other.is_see_through()
            && !sight.reaches(other.hwnd, raw.hwnd)
            && other.bounds().intersects(&raw.bounds())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCREEN: Rect = Rect { x: 0, y: 0, width: 1000, height: 800 };

    fn window(hwnd: u64, rect: Rect) -> RawWindow {
        let title = format!("Window {hwnd}");
        RawWindow {
            hwnd,
            pid: hwnd as u32,
            title,
            rect,
            visible: true,
            style: 0x00c0_0000,
            ..RawWindow::default()
        }
    }

    fn menu(of: u64, rect: Rect) -> RawWindow {
        RawWindow { title: String::new(), style: 0, owner: of, ..window(99, rect) }
    }

    #[track_caller]
    fn check(higher: Vec<RawWindow>, edit: impl Fn(&mut RawWindow), expected: Way) {
        let mut raw = window(1, Rect::new(100, 100, 300, 200));
        edit(&mut raw);
        let windows = higher.into_iter().chain([raw.clone(), window(2, SCREEN)]).collect();
        assert_eq!(way(&Sight { windows, foreground: 0 }, &raw, SCREEN), expected);
    }

    #[test]
    fn a_window_that_shows_whole_is_read_off_the_screen() {
        let shown = Way::Screen(Rect::new(100, 100, 300, 200));
        check(Vec::new(), |_| {}, shown);
        check(vec![window(3, Rect::new(500, 500, 50, 50))], |_| {}, shown);
        let minimized = RawWindow { minimized: true, restored: SCREEN, ..window(3, SCREEN) };
        check(vec![minimized], |_| {}, shown);
    }

    #[test]
    fn a_covered_window_draws_itself() {
        check(vec![window(3, Rect::new(390, 290, 50, 50))], |_| {}, Way::Itself);
        check(Vec::new(), |raw| raw.rect.x = -5, Way::Itself);
        check(vec![menu(3, Rect::new(120, 120, 50, 50))], |_| {}, Way::Itself);
    }

    #[test]
    fn a_taskbar_is_no_menu_of_the_explorer() {
        let taskbar = RawWindow {
            class: "Shell_TrayWnd".to_owned(),
            pid: 1,
            thread: 7,
            style: 0x9600_0000,
            title: String::new(),
            ..window(50, Rect::new(0, 760, 1000, 40))
        };
        let explorer = |raw: &mut RawWindow| raw.thread = 7;
        check(vec![taskbar.clone()], explorer, Way::Screen(Rect::new(100, 100, 300, 200)));
        let over = RawWindow { rect: Rect::new(0, 250, 1000, 40), ..taskbar };
        check(vec![over], explorer, Way::Itself);
    }

    #[test]
    fn what_clicks_go_through_covers_nothing() {
        let overlay = |ex_style| RawWindow { ex_style, ..window(3, SCREEN) };
        check(vec![overlay(0x0008_0020)], |_| {}, Way::Screen(Rect::new(100, 100, 300, 200)));
        check(vec![overlay(0x0008_0000)], |_| {}, Way::Itself);
    }

    #[test]
    fn its_own_menus_belong_to_it() {
        let beside = menu(1, Rect::new(380, 120, 100, 300));
        check(vec![beside], |_| {}, Way::Screen(Rect::new(100, 100, 380, 320)));
    }

    #[test]
    fn what_is_not_shown_has_no_picture() {
        check(Vec::new(), |raw| raw.minimized = true, Way::None);
        check(Vec::new(), |raw| raw.cloaked = 1, Way::None);
    }
}
