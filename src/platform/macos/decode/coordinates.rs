//! Points, which is what windows, elements and the pointer count in on macOS, whatever the monitor's own pixels are.
//!
//! Pictures are taken in points too (one pixel each), so that a place in a picture is a place on the screen. What a
//! Retina monitor shows more finely than that is not in them.

use super::records::{RawDisplay, RawRect};
use crate::model::{Monitor, Rect};

/// Whole points: the edges are rounded, so that neighbours stay neighbours.
pub fn rect(raw: RawRect) -> Rect {
    let (x, y) = (whole(raw.x), whole(raw.y));
    let (right, bottom) = (whole(raw.x + raw.width), whole(raw.y + raw.height));
    Rect::new(x, y, right.saturating_sub(x).max(0), bottom.saturating_sub(y).max(0))
}

/// Applications answer infinities and worse for what they do not show.
fn whole(points: f64) -> i32 {
    // The cast ends at the ends of its range, and makes nothing of what is no number.
    points.round() as i32
}

/// The scale is one: what other tools call a pixel is a point here, on every monitor.
pub fn monitor(raw: &RawDisplay) -> Monitor {
    let area = rect(raw.bounds);
    Monitor { primary: raw.main, scale_factor: 1.0, logical: area, physical: area }
}

/// How many pixels of its own a monitor has for a point.
pub fn density(raw: &RawDisplay) -> f64 {
    if raw.bounds.width < 1.0 { 1.0 } else { (raw.pixels_wide as f64 / raw.bounds.width).max(1.0) }
}

/// The rectangle around all monitors, which pointers can reach.
pub fn around(areas: impl Iterator<Item = Rect>) -> Option<Rect> {
    areas.reduce(|all, next| all.around(&next))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(raw: [f64; 4], expected: Rect) {
        let [x, y, width, height] = raw;
        assert_eq!(rect(RawRect { x, y, width, height }), expected, "{raw:?}");
    }

    #[test]
    fn places_are_whole_points() {
        check([10.0, 20.0, 30.0, 40.0], Rect::new(10, 20, 30, 40));
        check([0.5, 0.5, 10.0, 10.0], Rect::new(1, 1, 10, 10));
        check([-1440.0, 180.0, 1440.0, 900.0], Rect::new(-1440, 180, 1440, 900));
        check([10.0, 10.0, -5.0, 0.0], Rect::new(10, 10, 0, 0));
        check([f64::NAN, f64::INFINITY, f64::NAN, 5.0], Rect::new(0, i32::MAX, 0, 0));
    }

    #[test]
    fn neighbours_of_half_a_point_touch_and_do_not_overlap() {
        let left = rect(RawRect { x: 0.0, y: 0.0, width: 10.5, height: 5.0 });
        let right = rect(RawRect { x: 10.5, y: 0.0, width: 10.5, height: 5.0 });
        assert_eq!(left.right(), right.x);
    }

    #[test]
    fn a_retina_monitor_counts_in_points() {
        let raw = RawDisplay {
            bounds: RawRect { x: 0.0, y: 0.0, width: 1512.0, height: 982.0 },
            pixels_wide: 3024,
            main: true,
        };
        let monitor = monitor(&raw);
        assert_eq!(
            (monitor.logical, monitor.physical),
            (Rect::new(0, 0, 1512, 982), Rect::new(0, 0, 1512, 982))
        );
        assert_eq!((monitor.scale_factor, density(&raw)), (1.0, 2.0));
        assert_eq!(density(&RawDisplay { pixels_wide: 0, ..raw }), 1.0);
    }

    #[test]
    fn the_screen_is_around_all_monitors() {
        let all = around([Rect::new(0, 0, 1512, 982), Rect::new(-1920, -98, 1920, 1080)].into_iter());
        assert_eq!(all, Some(Rect::new(-1920, -98, 3432, 1080)));
        assert_eq!(around(std::iter::empty()), None);
    }
}
