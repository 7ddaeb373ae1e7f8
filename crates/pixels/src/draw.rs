//! Drawing on a picture: rectangles, lines, discs, triangles and text, clipped. The mock desktop is drawn with it, and
//! the grids and badges that are laid over a screenshot.
//!
//! Knows pixels and letters, but neither elements nor roles. Coordinates are those of the picture.

pub use noto_sans_mono_bitmap::FontWeight;
use noto_sans_mono_bitmap::{RasterHeight, RasterizedChar, get_raster, get_raster_width};

use crate::geometry::{Point, Rect};
use crate::image::{Picture, Rgba};

const FONT: RasterHeight = RasterHeight::Size16;
pub const LINE_HEIGHT: i32 = FONT.val() as i32;
pub const LETTER_WIDTH: i32 = get_raster_width(FontWeight::Regular, FONT) as i32;

pub const WHITE: Rgba = [255, 255, 255, 255];
pub const BLACK: Rgba = [0, 0, 0, 255];

/// A size of letters for labels, which are numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Font(RasterHeight);

impl Font {
    pub const SMALL: Font = Font(RasterHeight::Size16);
    pub const LARGE: Font = Font(RasterHeight::Size20);
    const WEIGHT: FontWeight = FontWeight::Bold;

    fn letter_width(self) -> i32 {
        i32::try_from(get_raster_width(Self::WEIGHT, self.0)).unwrap_or(0)
    }

    /// The rows of the font that digits have ink in: above and below them it is empty.
    fn ink(self) -> (i32, i32) {
        let Some(glyph) = get_raster('8', Self::WEIGHT, self.0) else {
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

const TAB: &str = "    ";

/// Characters the font does not have and what is drawn in their place. Any other becomes a small box,
/// so that a text never looks shorter than it is.
const REPLACEMENTS: &[(char, &str)] = &[
    ('\t', TAB),
    ('\r', ""),
    ('\u{a0}', " "),
    ('\u{ad}', "-"),
    ('‐', "-"),
    ('‑', "-"),
    ('–', "-"),
    ('—', "-"),
    ('−', "-"),
    ('…', "..."),
    ('•', "·"),
    ('‘', "'"),
    ('’', "'"),
    ('‚', ","),
    ('“', "\""),
    ('”', "\""),
    ('„', "\""),
    ('→', "->"),
    ('←', "<-"),
];

pub struct Canvas<'a> {
    picture: &'a mut Picture,
    clip: Rect,
}

#[derive(Clone, Copy)]
pub enum Side {
    Up,
    Right,
    Down,
    Left,
}

impl<'a> Canvas<'a> {
    pub fn new(picture: &'a mut Picture) -> Self {
        let clip = picture.area();
        Self { picture, clip }
    }

    /// The same picture, where only what lies in `area` can be painted.
    pub fn inside(&mut self, area: Rect) -> Canvas<'_> {
        let clip = self.clip.intersection(&area).unwrap_or_default();
        Canvas { picture: self.picture, clip }
    }

    pub fn fill(&mut self, area: Rect, color: Rgba) {
        if let Some(visible) = area.intersection(&self.clip) {
            self.picture.fill(visible, color);
        }
    }

    /// A border of `thickness` pixels just inside `area`: top and left in one colour, bottom and right
    /// in another, which is what makes a button look raised and a field sunken.
    pub fn border(&mut self, area: Rect, thickness: i32, light: Rgba, dark: Rgba) {
        self.fill(Rect { height: thickness, ..area }, light);
        self.fill(Rect { width: thickness, ..area }, light);
        self.fill(Rect { y: area.bottom() - thickness, height: thickness, ..area }, dark);
        self.fill(Rect { x: area.right() - thickness, width: thickness, ..area }, dark);
    }

    /// The same in one colour.
    pub fn frame(&mut self, area: Rect, thickness: i32, color: Rgba) {
        self.border(area, thickness, color, color);
    }

    /// Lays a colour over an area so that what is below shines through.
    pub fn tint(&mut self, area: Rect, color: Rgba, coverage: u8) {
        let Some(area) = area.intersection(&self.clip) else { return };
        for y in area.y..area.bottom() {
            (area.x..area.right()).for_each(|x| self.picture.blend(x, y, color, coverage));
        }
    }

    /// A number with its ink's left upper corner at `start`.
    pub fn label(&mut self, start: Point, text: &str, font: Font, color: Rgba) {
        let (mut x, y) = (start.x, start.y - font.ink().0);
        for letter in text.chars() {
            if let Some(glyph) = get_raster(letter, Font::WEIGHT, font.0) {
                self.glyph(Point { x, y }, &glyph, color, gain(Font::WEIGHT));
            }
            x += font.letter_width();
        }
    }

    /// A number with a line of another colour around every digit, so that it shows on light and on dark ground.
    pub fn outlined(&mut self, start: Point, text: &str, font: Font, color: Rgba, around: Rgba) {
        for (dx, dy) in [(-1, -1), (0, -1), (1, -1), (-1, 0), (1, 0), (-1, 1), (0, 1), (1, 1)] {
            self.label(Point { x: start.x + dx, y: start.y + dy }, text, font, around);
        }
        self.label(start, text, font, color);
    }

    /// A round dot that just fits into a square of `size` pixels around `center`.
    pub fn disc(&mut self, center: Point, size: i32, color: Rgba) {
        let half = size / 2;
        for row in -half..=half {
            let reach = f64::from(half * half + half - row * row).max(0.0).sqrt() as i32;
            self.fill(Rect::new(center.x - reach, center.y + row, 2 * reach + 1, 1), color);
        }
    }

    /// A filled triangle of `size` rows around `center` that points to `side`.
    pub fn triangle(&mut self, center: Point, size: i32, side: Side, color: Rgba) {
        for step in 0..size {
            let (back, long) = (size / 2 - step, 2 * step + 1);
            let slice = match side {
                Side::Up => Rect::new(center.x - step, center.y - back, long, 1),
                Side::Down => Rect::new(center.x - step, center.y + back, long, 1),
                Side::Left => Rect::new(center.x - back, center.y - step, 1, long),
                Side::Right => Rect::new(center.x + back, center.y - step, 1, long),
            };
            self.fill(slice, color);
        }
    }

    /// A tick from the left, down, and up to the right, in a square of twelve pixels at `corner`.
    pub fn tick(&mut self, corner: Point, color: Rgba) {
        for step in 0..8 {
            let height = if step < 3 { 5 + step } else { 10 - step };
            self.fill(Rect::new(corner.x + 2 + step, corner.y + height - 1, 1, 3), color);
        }
    }

    /// One line of text with its left upper corner at `start`, as far as it is visible.
    pub fn text(&mut self, start: Point, text: &str, color: Rgba, weight: FontWeight) {
        let mut x = start.x;
        for letter in drawn_letters(text) {
            if x >= self.clip.right() {
                break;
            }
            self.letter(Point { x, ..start }, letter, color, weight);
            x = x.saturating_add(LETTER_WIDTH);
        }
    }

    fn letter(&mut self, start: Point, letter: char, color: Rgba, weight: FontWeight) {
        let cell = Rect::new(start.x, start.y, LETTER_WIDTH, LINE_HEIGHT);
        match get_raster(letter, weight, FONT) {
            _ if !self.clip.intersects(&cell) => {}
            Some(glyph) => self.glyph(start, &glyph, color, gain(weight)),
            None => self.border(Rect::new(start.x + 1, start.y + 4, 5, 9), 1, color, color),
        }
    }

    fn glyph(&mut self, start: Point, glyph: &RasterizedChar, color: Rgba, gain: u32) {
        for (row, y) in glyph.rows().zip(start.y..) {
            for (&coverage, x) in row.iter().zip(start.x..) {
                if coverage > 0 && self.clip.contains(Point { x, y }) {
                    let firm = (u32::from(coverage) * gain / 4).min(255) as u8;
                    self.picture.blend(x, y, color, firm);
                }
            }
        }
    }
}

/// Regular letters this small are mostly edge, hence grey, and OCR loses their full stops: their ink is
/// laid on thicker. Counted in quarters.
fn gain(weight: FontWeight) -> u32 {
    if weight == FontWeight::Regular { 7 } else { 4 }
}

/// How many letters wide a text is drawn; counting stops at `limit`.
pub fn letters_up_to(text: &str, limit: usize) -> usize {
    drawn_letters(text).take(limit).count()
}

/// The lines of a text broken at `columns`, after a blank where there is one. Lazy: a book is only
/// broken as far as it is shown.
pub fn wrapped_lines(text: &str, columns: usize) -> impl Iterator<Item = &str> {
    text.lines().flat_map(move |line| {
        let mut rest = Some(line);
        std::iter::from_fn(move || {
            let current = rest?;
            let (head, tail) = break_line(current, columns.max(1));
            rest = (!tail.is_empty()).then_some(tail);
            Some(head)
        })
    })
}

fn break_line(line: &str, columns: usize) -> (&str, &str) {
    let Some(hard) = byte_at_column(line, columns) else {
        return (line, "");
    };
    let soft = line[..hard].rfind(' ').map_or(hard, |blank| blank + 1);
    line.split_at(soft)
}

/// Where the first character begins that does not fit into `columns`; never the very first.
fn byte_at_column(line: &str, columns: usize) -> Option<usize> {
    let mut used = 0;
    line.char_indices().find_map(|(at, letter)| {
        used += replacement(letter).map_or(1, |letters| letters.chars().count());
        (used > columns && at > 0).then_some(at)
    })
}

fn drawn_letters(text: &str) -> impl Iterator<Item = char> {
    text.chars().flat_map(|letter| {
        let (one, many) = match replacement(letter) {
            Some(letters) => (None, letters),
            None => (Some(letter), ""),
        };
        one.into_iter().chain(many.chars())
    })
}

fn replacement(letter: char) -> Option<&'static str> {
    if letter.is_ascii_graphic() || letter == ' ' {
        return None;
    }
    REPLACEMENTS.iter().find(|(missing, _)| *missing == letter).map(|(_, letters)| *letters)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn painted(paint: impl FnOnce(&mut Canvas)) -> Picture {
        let mut picture = Picture::new(80, 20, WHITE).unwrap();
        paint(&mut Canvas::new(&mut picture));
        picture
    }

    fn written(text: &str) -> Picture {
        painted(|canvas| canvas.text(Point { x: 2, y: 2 }, text, BLACK, FontWeight::Regular))
    }

    #[test]
    fn every_replacement_has_glyphs() {
        for letter in REPLACEMENTS.iter().flat_map(|(_, letters)| letters.chars()) {
            assert!(get_raster(letter, FontWeight::Regular, FONT).is_some(), "{letter}");
        }
    }

    #[test]
    fn no_replacement_hides_a_glyph_the_font_has() {
        for (letter, _) in REPLACEMENTS {
            assert!(get_raster(*letter, FontWeight::Regular, FONT).is_none(), "{letter:?}");
        }
    }

    #[test]
    fn typographic_signs_are_drawn_as_ascii() {
        assert_eq!(written("a—b…"), written("a-b..."));
        assert_eq!(written("“x”"), written("\"x\""));
        assert_ne!(written("a·b"), written("a.b"), "the middle dot has its own glyph");
    }

    #[test]
    fn a_missing_letter_is_a_box_and_not_nothing() {
        assert_ne!(written("a漢b"), written("a b"));
        assert_eq!(written("漢"), written("字"));
    }

    #[test]
    fn nothing_is_painted_outside_the_clip() {
        let clip = Rect::new(10, 5, 9, 6);
        let picture = painted(|canvas| {
            let mut canvas = canvas.inside(clip);
            canvas.fill(Rect::new(-5, -5, 500, 500), BLACK);
            canvas.text(Point { x: 0, y: 0 }, "MMMMMMMMMMMM", BLACK, FontWeight::Bold);
            canvas.disc(Point { x: 10, y: 5 }, 30, BLACK);
        });
        for (x, y) in (0..80).flat_map(|x| (0..20).map(move |y| (x, y))) {
            let inside = clip.contains(Point { x, y });
            assert_eq!(picture.pixel(x, y), Some(if inside { BLACK } else { WHITE }));
        }
    }

    fn inked(color: Rgba, paint: impl FnOnce(&mut Canvas)) -> Vec<(i32, i32)> {
        let mut picture = Picture::new(60, 30, color).unwrap();
        paint(&mut Canvas::new(&mut picture));
        let all = (0..30).flat_map(|y| (0..60).map(move |x| (x, y)));
        all.filter(|&(x, y)| picture.pixel(x, y) != Some(color)).collect()
    }

    #[test]
    fn a_label_takes_the_room_that_it_says() {
        for font in [Font::SMALL, Font::LARGE] {
            let (width, height) = font.size_of("88,8");
            let ink = inked(WHITE, |canvas| canvas.label(Point { x: 5, y: 5 }, "88,8", font, BLACK));
            assert!(ink.iter().all(|&(x, y)| (5..5 + width).contains(&x) && y >= 5), "{font:?}");
            assert_eq!(ink.iter().map(|&(_, y)| y).min(), Some(5));
            let digits = inked(WHITE, |canvas| canvas.label(Point { x: 5, y: 5 }, "88", font, BLACK));
            assert_eq!(digits.iter().map(|&(_, y)| y).max(), Some(4 + height));
        }
    }

    #[test]
    fn outlined_letters_show_on_any_ground() {
        for ground in [WHITE, BLACK, [250, 220, 0, 255]] {
            let ink = inked(ground, |canvas| {
                canvas.outlined(Point { x: 5, y: 5 }, "8", Font::SMALL, [255, 225, 60, 255], BLACK);
            });
            assert!(ink.len() > 20, "{} pixels on {ground:?}", ink.len());
        }
    }

    #[test]
    fn nothing_outside_the_picture_is_painted_and_nothing_breaks() {
        inked(WHITE, |canvas| {
            canvas.tint(Rect::new(-5, -5, 500, 2), BLACK, 90);
            canvas.frame(Rect::new(-10, 20, 200, 200), 2, BLACK);
            canvas.outlined(Point { x: 55, y: -3 }, "1234", Font::LARGE, WHITE, BLACK);
        });
    }

    #[track_caller]
    fn check_lines(text: &str, columns: usize, expected: &[&str]) {
        assert_eq!(wrapped_lines(text, columns).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn lines_break_after_blanks_and_else_anywhere() {
        check_lines("one two three", 8, &["one two ", "three"]);
        check_lines("abcdefgh", 3, &["abc", "def", "gh"]);
        check_lines("a\n\nb\n", 10, &["a", "", "b"]);
        check_lines("äöü漢字", 2, &["äö", "ü漢", "字"]);
        check_lines("…………", 3, &["…", "…", "…", "…"]);
        check_lines("ab", 0, &["a", "b"]);
        check_lines("", 5, &[]);
    }
}
