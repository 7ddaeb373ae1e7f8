//! Pictures that were handed out: not their pixels, only how a pixel of one leads back to the screen.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::time::Duration;

use crate::clock::lock;
use crate::observer::screenshots::Image;

const MOST: usize = 32;
const LIFE: Duration = Duration::from_secs(300);

#[derive(Debug, Default)]
pub struct Images {
    kept: Mutex<VecDeque<ImageEntry>>,
}

#[derive(Debug)]
struct ImageEntry {
    id: String,
    image: Image,
    since: Duration,
}

impl Images {
    pub fn store_image(&self, image: Image, now: Duration) -> String {
        let token = crate::random::random_token("");
        let id = format!("img:{}", token.get(..8).unwrap_or(&token));
        let mut kept = lock(&self.kept);
        kept.retain(|old| now.saturating_sub(old.since) < LIFE);
        if kept.len() == MOST {
            kept.pop_front();
        }
        kept.push_back(ImageEntry { id: id.clone(), image, since: now });
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
    use crate::model::grid::{Cell, Grid, Offset};
    use crate::model::{Point, Rect};
    use proptest::prelude::*;

    fn image(area: Rect, width: u32, height: u32) -> Image {
        Image {
            area,
            width,
            height,
            window: None,
            screen: None,
            monitors: Vec::new(),
            front: None,
            grid: None,
        }
    }

    #[test]
    fn an_image_lives_a_while_and_32_are_kept() {
        let images = Images::default();
        let some = image(Rect::new(0, 0, 8, 6), 8, 6);
        let first = images.store_image(some.clone(), Duration::ZERO);
        assert!(first.starts_with("img:") && first.len() == 12, "{first}");
        assert_eq!(images.get(&first, Duration::from_secs(299)), Some(some.clone()));
        assert_eq!(images.get(&first, LIFE), None);
        assert_eq!(images.get("img:00000000", Duration::ZERO), None);
        let second = images.store_image(some.clone(), Duration::ZERO);
        for _ in 0..31 {
            images.store_image(some.clone(), Duration::ZERO);
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

    #[test]
    fn a_part_of_the_screen_is_found_in_the_picture() {
        let large = image(Rect::new(-100, 50, 200, 100), 600, 300);
        assert_eq!(large.in_picture(Rect::new(-100, 50, 200, 100)), Rect::new(0, 0, 600, 300));
        assert_eq!(large.in_picture(Rect::new(0, 60, 10, 5)), Rect::new(300, 30, 30, 15));
    }

    #[test]
    fn a_cell_leads_to_the_screen_only_with_a_grid() {
        let plain = image(Rect::new(-100, 50, 200, 100), 600, 300);
        let cell = Cell { row: 1, col: 0 };
        assert_eq!(plain.cell_on_screen(cell, Offset::default()), None);
        let gridded = Image { grid: Some(Grid { rows: 2, cols: 4 }), ..plain };
        assert_eq!(gridded.cell_on_screen(cell, Offset::default()), Some(Point { x: -75, y: 125 }));
    }

    proptest! {
        /// What a cell is drawn around is what it stands for, however large the picture is.
        #[test]
        fn a_cell_and_its_drawn_middle_agree(
            x in -5000..5000i32, width in 40..3000i32, scale in 1..8u32, cols in 1..40u32, at in any::<u32>(),
        ) {
            let plain = image(Rect::new(x, -300, width, 20), width as u32 * scale, 20 * scale);
            let gridded = Image { grid: Some(Grid { rows: 1, cols }), ..plain };
            let cell = Cell { row: 0, col: at % cols };
            let by_cell = gridded.cell_on_screen(cell, Offset::default()).unwrap();
            let drawn = (f64::from(cell.col) + 0.5) * f64::from(gridded.width) / f64::from(cols);
            let by_pixel = gridded.on_screen(Point { x: drawn as i32, y: 0 }).unwrap();
            prop_assert!((by_cell.x - by_pixel.x).abs() <= 1, "{:?} {:?}", by_cell, by_pixel);
        }

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
