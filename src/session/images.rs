//! Pictures that were handed out: not their pixels, only how a pixel of one leads back to the screen.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::time::Duration;

use crate::clock::lock;
use crate::model::{Point, Rect};

const MOST: usize = 32;
const LIFE: Duration = Duration::from_secs(300);

#[derive(Debug, Default)]
pub struct Images {
    kept: Mutex<VecDeque<Kept>>,
}

#[derive(Debug)]
struct Kept {
    id: String,
    image: Image,
    since: Duration,
}

/// What a picture showed, and how large it left.
#[derive(Clone, Debug, PartialEq)]
pub struct Image {
    /// The part of the screen in it.
    pub area: Rect,
    pub width: u32,
    pub height: u32,
    /// The window that it shows and where that was; a picture of the screen has none.
    pub window: Option<(String, Rect)>,
    /// The screen as it was, where that is known.
    pub screen: Option<Rect>,
}

impl Image {
    /// Pixels of the picture for one pixel of the screen.
    pub fn scale(&self) -> f64 {
        f64::from(self.width) / f64::from(self.area.width.max(1))
    }

    /// The pixel of the screen that is in the middle of a pixel of the picture; `None` outside of it.
    pub fn on_screen(&self, pixel: Point) -> Option<Point> {
        let along = |at: i32, pixels: u32, start: i32, length: i32| {
            let (at, pixels) = (i64::from(at), i64::from(pixels));
            let inside = (0..pixels).contains(&at);
            let offset = (2 * at + 1) * i64::from(length) / (2 * pixels.max(1));
            inside.then(|| start.saturating_add(i32::try_from(offset).unwrap_or(i32::MAX)))
        };
        Some(Point {
            x: along(pixel.x, self.width, self.area.x, self.area.width)?,
            y: along(pixel.y, self.height, self.area.y, self.area.height)?,
        })
    }
}

impl Images {
    pub fn put(&self, image: Image, now: Duration) -> String {
        let token = super::random_token("");
        let id = format!("img:{}", token.get(..8).unwrap_or(&token));
        let mut kept = lock(&self.kept);
        kept.retain(|old| now.saturating_sub(old.since) < LIFE);
        if kept.len() == MOST {
            kept.pop_front();
        }
        kept.push_back(Kept { id: id.clone(), image, since: now });
        id
    }

    /// Using a picture keeps it from being pushed out, but not from growing old.
    pub fn get(&self, id: &str, now: Duration) -> Option<Image> {
        let mut kept = lock(&self.kept);
        let at = kept.iter().position(|kept| kept.id == id)?;
        let found = kept.remove(at)?;
        let image = (now.saturating_sub(found.since) < LIFE).then(|| found.image.clone());
        kept.push_back(found);
        image
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn image(area: Rect, width: u32, height: u32) -> Image {
        Image { area, width, height, window: None, screen: None }
    }

    #[test]
    fn an_image_lives_a_while_and_32_are_kept() {
        let images = Images::default();
        let some = image(Rect::new(0, 0, 8, 6), 8, 6);
        let first = images.put(some.clone(), Duration::ZERO);
        assert!(first.starts_with("img:") && first.len() == 12, "{first}");
        assert_eq!(images.get(&first, Duration::from_secs(299)), Some(some.clone()));
        assert_eq!(images.get(&first, LIFE), None);
        assert_eq!(images.get("img:00000000", Duration::ZERO), None);
        let second = images.put(some.clone(), Duration::ZERO);
        for _ in 0..31 {
            images.put(some.clone(), Duration::ZERO);
            assert!(images.get(&second, Duration::ZERO).is_some(), "what is used stays");
        }
        assert!(images.get(&first, Duration::ZERO).is_none(), "what is not used goes first");
    }

    #[track_caller]
    fn check(image: &Image, pixel: (i32, i32), expected: Option<(i32, i32)>) {
        let point = Point { x: pixel.0, y: pixel.1 };
        assert_eq!(image.on_screen(point).map(|point| (point.x, point.y)), expected);
    }

    #[test]
    fn pixels_lead_back_to_the_screen() {
        let same = image(Rect::new(80, 60, 800, 600), 800, 600);
        check(&same, (0, 0), Some((80, 60)));
        check(&same, (799, 599), Some((879, 659)));
        check(&same, (800, 0), None);
        check(&same, (0, -1), None);
        let small = image(Rect::new(80, 60, 800, 600), 100, 75);
        check(&small, (0, 0), Some((84, 64)));
        check(&small, (99, 74), Some((876, 656)));
        check(&image(Rect::new(0, 0, 0, 0), 0, 0), (0, 0), None);
    }

    proptest! {
        #[test]
        fn every_pixel_is_inside_the_area(
            x in -5000..5000i32, width in 1..4000i32, pixels in 1..4000u32, at in 0..4000i32,
        ) {
            let image = image(Rect::new(x, 0, width, 1), pixels, 1);
            match image.on_screen(Point { x: at, y: 0 }) {
                Some(point) => prop_assert!(image.area.contains(point)),
                None => prop_assert!(at >= pixels as i32),
            }
        }
    }
}
