//! From pixels to the numbers that an input event carries, and what is where on the virtual screen.
//!
//! The virtual screen is the rectangle around all monitors; its corner may be left of and above zero. A process that is
//! aware of every monitor's scale sees true pixels everywhere, so nothing is scaled here.

use crate::error::{Error, Kind};
use crate::model::{Point, Rect};

/// How many units an event has for the whole virtual screen, in each direction.
const UNITS: i64 = 1 << 16;

/// The units of a pixel's middle, so that rounding to either side finds the same pixel; `None` off the screen.
pub fn units(screen: Rect, point: Point) -> Option<(i32, i32)> {
    let along = |at: i32, start: i32, length: i32| {
        let (offset, length) = (i64::from(at) - i64::from(start), i64::from(length));
        i32::try_from((offset * UNITS + UNITS / 2) / length).ok()
    };
    if !screen.contains(point) {
        return None;
    }
    Some((along(point.x, screen.x, screen.width)?, along(point.y, screen.y, screen.height)?))
}

/// Why the pointer is not where it was sent. The rectangle around all monitors has parts that are on none, and programs
/// may keep the pointer to a part of the screen.
pub fn astray(at: Point, now: Point, mut monitors: impl Iterator<Item = Rect>) -> Error {
    if !monitors.any(|monitor| monitor.contains(at)) {
        return Error::bad_request(format!("the point {},{} is not on any monitor", at.x, at.y));
    }
    let message = format!(
        "the pointer does not reach {},{} and stays at {},{}: a program confines it to a part of the screen, \
         or a person is moving it",
        at.x, at.y, now.x, now.y
    );
    Error::new(Kind::PermissionDenied, message)
}

/// A rectangle as Windows writes it: the sides, the last two being one past the end.
pub fn rect_of(left: i32, top: i32, right: i32, bottom: i32) -> Rect {
    Rect::new(left, top, right.saturating_sub(left).max(0), bottom.saturating_sub(top).max(0))
}

/// Blue, green, red and a byte that means nothing, as Windows draws, become what pictures have.
pub fn rgba_of(mut bgrx: Vec<u8>) -> Vec<u8> {
    for pixel in bgrx.chunks_exact_mut(4) {
        pixel.swap(0, 2);
        pixel[3] = u8::MAX;
    }
    bgrx
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn corners_are_inside() {
        let screen = Rect::new(-1920, -200, 3840, 1280);
        let check = |x, y, inside: bool| {
            assert_eq!(units(screen, Point { x, y }).is_some(), inside, "{x},{y}");
        };
        check(-1920, -200, true);
        check(1919, 1079, true);
        check(1920, 0, false);
        check(0, 1080, false);
        check(-1921, 0, false);
        assert_eq!(units(Rect::default(), Point::default()), None);
    }

    #[test]
    fn a_pointer_that_went_astray_says_why() {
        let monitors = [Rect::new(0, 0, 1920, 1080), Rect::new(1920, 200, 800, 600)];
        let check = |x, y, kind, word: &str| {
            let error = astray(Point { x, y }, Point { x: 7, y: 8 }, monitors.into_iter());
            assert_eq!(error.kind, kind);
            assert!(error.message.contains(word), "{error}");
        };
        check(2000, 100, Kind::BadRequest, "2000,100 is not on any monitor");
        check(2000, 300, Kind::PermissionDenied, "stays at 7,8");
    }

    #[test]
    fn a_rectangle_is_never_inside_out() {
        assert_eq!(rect_of(10, 20, 110, 50), Rect::new(10, 20, 100, 30));
        assert_eq!(rect_of(10, 20, 5, 50), Rect::new(10, 20, 0, 30));
        assert!(rect_of(i32::MIN, 0, i32::MAX, 1).width > 0);
    }

    #[test]
    fn colours_are_turned_round() {
        assert_eq!(rgba_of(vec![1, 2, 3, 0, 4, 5, 6, 7]), [3, 2, 1, 255, 6, 5, 4, 255]);
    }

    proptest! {
        /// Windows rounds down; some versions are told to divide by one unit less. Both must find the pixel.
        #[test]
        fn units_lead_back_to_their_pixel(
            start in -20_000..20_000i32, length in 1..16_000i32, part in 0.0..1.0f64,
        ) {
            let screen = Rect::new(start, 0, length, 1);
            let x = start + ((f64::from(length) * part) as i32).min(length - 1);
            let (unit, _) = units(screen, Point { x, y: 0 }).unwrap();
            let down = i64::from(unit) * i64::from(length) / UNITS;
            prop_assert_eq!(down, i64::from(x - start));
            let other = (f64::from(unit) * f64::from(length - 1) / 65_535.0).round() as i32;
            prop_assert_eq!(other, x - start);
        }
    }
}
