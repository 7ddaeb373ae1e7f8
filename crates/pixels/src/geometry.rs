//! Points and rectangles in absolute screen pixels, and what remains of one behind others.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Point {
    pub x: i32,
    pub y: i32,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Rect {
    pub x: i32,
    pub y: i32,
    pub width: i32,
    pub height: i32,
}

impl Rect {
    pub const fn new(x: i32, y: i32, width: i32, height: i32) -> Self {
        Self { x, y, width, height }
    }

    pub const fn right(&self) -> i32 {
        self.x.saturating_add(self.width)
    }

    pub const fn bottom(&self) -> i32 {
        self.y.saturating_add(self.height)
    }

    pub const fn is_empty(&self) -> bool {
        self.width <= 0 || self.height <= 0
    }

    pub const fn center(&self) -> Point {
        Point {
            x: self.x.saturating_add(self.width.div_euclid(2)),
            y: self.y.saturating_add(self.height.div_euclid(2)),
        }
    }

    pub const fn contains(&self, point: Point) -> bool {
        point.x >= self.x && point.x < self.right() && point.y >= self.y && point.y < self.bottom()
    }

    pub const fn encloses(&self, other: &Rect) -> bool {
        other.x >= self.x
            && other.y >= self.y
            && other.right() <= self.right()
            && other.bottom() <= self.bottom()
    }

    /// With so much more on each side.
    pub const fn grown_by(&self, margin: i32) -> Rect {
        Rect {
            x: self.x.saturating_sub(margin),
            y: self.y.saturating_sub(margin),
            width: self.width.saturating_add(2 * margin),
            height: self.height.saturating_add(2 * margin),
        }
    }

    /// The common part, or `None` when the two share no pixel.
    pub fn intersection(&self, other: &Rect) -> Option<Rect> {
        let x = self.x.max(other.x);
        let y = self.y.max(other.y);
        let width = self.right().min(other.right()).saturating_sub(x);
        let height = self.bottom().min(other.bottom()).saturating_sub(y);
        (width > 0 && height > 0).then_some(Rect { x, y, width, height })
    }

    /// The smallest rectangle that holds both.
    pub fn around(&self, other: &Rect) -> Rect {
        let (x, y) = (self.x.min(other.x), self.y.min(other.y));
        let (right, bottom) = (self.right().max(other.right()), self.bottom().max(other.bottom()));
        Rect::new(x, y, right.saturating_sub(x), bottom.saturating_sub(y))
    }

    pub fn intersects(&self, other: &Rect) -> bool {
        self.intersection(other).is_some()
    }

    /// What of `self` is not under `cover`: at most four disjoint pieces, top to bottom.
    fn subtract(&self, cover: &Rect) -> Vec<Rect> {
        let Some(hole) = self.intersection(cover) else {
            return vec![*self];
        };
        let pieces = [
            Rect::new(self.x, self.y, self.width, hole.y - self.y),
            Rect::new(self.x, hole.y, hole.x - self.x, hole.height),
            Rect::new(hole.right(), hole.y, self.right() - hole.right(), hole.height),
            Rect::new(self.x, hole.bottom(), self.width, self.bottom() - hole.bottom()),
        ];
        pieces.into_iter().filter(|piece| !piece.is_empty()).collect()
    }
}

/// The parts of `target` that lie on `screen` and under none of `covers`, as disjoint rectangles.
pub fn visible_regions(target: Rect, covers: &[Rect], screen: Option<Rect>) -> Vec<Rect> {
    let start = match screen {
        Some(screen) => target.intersection(&screen),
        None => (!target.is_empty()).then_some(target),
    };
    let mut regions: Vec<Rect> = start.into_iter().collect();
    for cover in covers {
        regions = regions.iter().flat_map(|region| region.subtract(cover)).collect();
        if regions.is_empty() {
            break;
        }
    }
    regions
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_is_around_two_holds_both() {
        let (one, other) = (Rect::new(0, 0, 10, 10), Rect::new(-5, 8, 3, 30));
        assert_eq!(one.around(&other), Rect::new(-5, 0, 15, 38));
        assert_eq!(other.around(&one), one.around(&other));
    }

    #[test]
    fn nothing_in_front_leaves_one_region() {
        let target = Rect::new(80, 60, 800, 600);
        assert_eq!(visible_regions(target, &[], None), vec![target]);
    }

    #[test]
    fn a_hole_in_the_middle_leaves_four_bands() {
        let regions = visible_regions(Rect::new(0, 0, 30, 30), &[Rect::new(10, 10, 10, 10)], None);
        assert_eq!(
            regions,
            vec![
                Rect::new(0, 0, 30, 10),
                Rect::new(0, 10, 10, 10),
                Rect::new(20, 10, 10, 10),
                Rect::new(0, 20, 30, 10),
            ]
        );
    }

    #[test]
    fn covered_or_off_screen_leaves_nothing() {
        let screen = Some(Rect::new(0, 0, 100, 100));
        let target = Rect::new(10, 10, 10, 10);
        assert!(visible_regions(target, &[Rect::new(0, 0, 50, 50)], screen).is_empty());
        assert!(visible_regions(Rect::new(200, 0, 10, 10), &[], screen).is_empty());
    }

    #[test]
    fn extreme_numbers_do_not_overflow() {
        let huge = Rect::new(i32::MAX - 1, i32::MIN, i32::MAX, i32::MAX);
        assert!(visible_regions(huge, &[huge], None).is_empty());
        assert!(huge.intersection(&Rect::new(0, 0, 10, 10)).is_none());
    }

    fn small_rect() -> impl Strategy<Value = Rect> {
        (0..20i32, 0..20i32, 0..12i32, 0..12i32).prop_map(|(x, y, w, h)| Rect::new(x, y, w, h))
    }

    proptest! {
        /// Pixel by pixel: a point is in exactly one region when it is in the target and in no cover.
        #[test]
        fn regions_are_exactly_the_uncovered_pixels(
            target in small_rect(),
            covers in prop::collection::vec(small_rect(), 0..5),
        ) {
            let regions = visible_regions(target, &covers, None);
            for x in 0..34 {
                for y in 0..34 {
                    let point = Point { x, y };
                    let expected = target.contains(point) && !covers.iter().any(|c| c.contains(point));
                    let count = regions.iter().filter(|r| r.contains(point)).count();
                    prop_assert_eq!(count, usize::from(expected));
                }
            }
        }
    }
}
