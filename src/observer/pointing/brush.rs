//! The brush for what is laid over a picture: lines, boxes and letters that can be seen on light and on dark ground.
//!
//! Everything has two tones, a bright and a dark one beside it, so that one of them always stands out.

use noto_sans_mono_bitmap::{FontWeight, RasterHeight, get_raster, get_raster_width};

use crate::model::image::{Picture, Rgba};
use crate::model::{Point, Rect};

pub const WHITE: Rgba = [255, 255, 255, 255];
pub const BLACK: Rgba = [0, 0, 0, 255];

const WEIGHT: FontWeight = FontWeight::Bold;

/// A size of letters. Only digits, commas and points are ever written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Font(RasterHeight);

impl Font {
    pub const SMALL: Font = Font(RasterHeight::Size16);
    pub const LARGE: Font = Font(RasterHeight::Size20);

    fn letter_width(self) -> i32 {
        i32::try_from(get_raster_width(WEIGHT, self.0)).unwrap_or(0)
    }

    /// The rows of the font that digits have ink in: above and below them it is empty.
    fn ink(self) -> (i32, i32) {
        let Some(glyph) = get_raster('8', WEIGHT, self.0) else {
            return (0, 0);
        };
        let inked = (0i32..).zip(glyph.rows()).filter(|(_, row)| row.iter().any(|coverage| *coverage > 0));
        let rows: Vec<i32> = inked.map(|(row, _)| row).collect();
        let first = rows.first().copied().unwrap_or(0);
        (first, rows.last().map_or(0, |last| last - first + 1))
    }

    /// How much room a text takes, without its outline.
    pub fn size_of(self, text: &str) -> (i32, i32) {
        let letters = i32::try_from(text.chars().count()).unwrap_or(i32::MAX);
        (letters.saturating_mul(self.letter_width()), self.ink().1)
    }
}

pub struct Brush<'a> {
    picture: &'a mut Picture,
}

impl<'a> Brush<'a> {
    pub fn new(picture: &'a mut Picture) -> Self {
        Self { picture }
    }

    pub fn fill(&mut self, area: Rect, color: Rgba) {
        self.picture.fill(area, color);
    }

    /// Lays a colour over an area so that what is below shines through.
    pub fn tint(&mut self, area: Rect, color: Rgba, coverage: u8) {
        let Some(area) = area.intersection(&self.picture.area()) else { return };
        for y in area.y..area.bottom() {
            (area.x..area.right()).for_each(|x| self.picture.blend(x, y, color, coverage));
        }
    }

    /// A frame of `thickness` pixels just inside `area`.
    pub fn frame(&mut self, area: Rect, thickness: i32, color: Rgba) {
        self.fill(Rect { height: thickness, ..area }, color);
        self.fill(Rect { width: thickness, ..area }, color);
        self.fill(Rect { y: area.bottom() - thickness, height: thickness, ..area }, color);
        self.fill(Rect { x: area.right() - thickness, width: thickness, ..area }, color);
    }

    /// A text with its ink's left upper corner at `start`.
    pub fn text(&mut self, start: Point, text: &str, font: Font, color: Rgba) {
        let (mut x, y) = (start.x, start.y - font.ink().0);
        for letter in text.chars() {
            self.letter(Point { x, y }, letter, font, color);
            x += font.letter_width();
        }
    }

    /// A text with a line of another colour around every letter.
    pub fn outlined(&mut self, start: Point, text: &str, font: Font, color: Rgba, around: Rgba) {
        for (dx, dy) in [(-1, -1), (0, -1), (1, -1), (-1, 0), (1, 0), (-1, 1), (0, 1), (1, 1)] {
            self.text(Point { x: start.x + dx, y: start.y + dy }, text, font, around);
        }
        self.text(start, text, font, color);
    }

    fn letter(&mut self, start: Point, letter: char, font: Font, color: Rgba) {
        let Some(glyph) = get_raster(letter, WEIGHT, font.0) else { return };
        for (row, y) in glyph.rows().zip(start.y..) {
            for (&coverage, x) in row.iter().zip(start.x..) {
                if coverage > 0 {
                    self.picture.blend(x, y, color, coverage);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inked(color: Rgba, paint: impl FnOnce(&mut Brush)) -> Vec<(i32, i32)> {
        let mut picture = Picture::new(60, 30, color).unwrap();
        paint(&mut Brush::new(&mut picture));
        let all = (0..30).flat_map(|y| (0..60).map(move |x| (x, y)));
        all.filter(|&(x, y)| picture.pixel(x, y) != Some(color)).collect()
    }

    #[test]
    fn a_text_takes_the_room_that_it_says() {
        for font in [Font::SMALL, Font::LARGE] {
            let (width, height) = font.size_of("88,8");
            let ink = inked(WHITE, |brush| brush.text(Point { x: 5, y: 5 }, "88,8", font, BLACK));
            assert!(ink.iter().all(|&(x, y)| (5..5 + width).contains(&x) && y >= 5), "{font:?}");
            assert_eq!(ink.iter().map(|&(_, y)| y).min(), Some(5));
            let digits = inked(WHITE, |brush| brush.text(Point { x: 5, y: 5 }, "88", font, BLACK));
            assert_eq!(digits.iter().map(|&(_, y)| y).max(), Some(4 + height));
        }
    }

    #[test]
    fn outlined_letters_show_on_any_ground() {
        for ground in [WHITE, BLACK, [250, 220, 0, 255]] {
            let ink = inked(ground, |brush| {
                brush.outlined(Point { x: 5, y: 5 }, "8", Font::SMALL, [255, 225, 60, 255], BLACK);
            });
            assert!(ink.len() > 20, "{} pixels on {ground:?}", ink.len());
        }
    }

    #[test]
    fn nothing_outside_the_picture_is_painted_and_nothing_breaks() {
        inked(WHITE, |brush| {
            brush.tint(Rect::new(-5, -5, 500, 2), BLACK, 90);
            brush.frame(Rect::new(-10, 20, 200, 200), 2, BLACK);
            brush.outlined(Point { x: 55, y: -3 }, "1234", Font::LARGE, WHITE, BLACK);
        });
    }
}
