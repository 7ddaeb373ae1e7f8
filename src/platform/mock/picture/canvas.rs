//! The brush of the mock desktop: rectangles, lines, discs, triangles and text, clipped.
//!
//! Knows pixels and letters, but neither elements nor roles. Coordinates are those of the picture.

use noto_sans_mono_bitmap::{FontWeight, RasterHeight, RasterizedChar, get_raster, get_raster_width};

use crate::model::image::{Picture, Rgba};
use crate::model::{Point, Rect};

const FONT: RasterHeight = RasterHeight::Size16;
pub const LINE_HEIGHT: i32 = FONT.val() as i32;
pub const LETTER_WIDTH: i32 = get_raster_width(FontWeight::Regular, FONT) as i32;

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

    const WHITE: Rgba = [255, 255, 255, 255];
    const BLACK: Rgba = [0, 0, 0, 255];

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
