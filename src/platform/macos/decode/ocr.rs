//! What Vision answers, as words of a page. It counts from the lower left corner, in parts of the whole.

use crate::model::{Rect, Word};

/// A place in parts of the page, from its lower left corner.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Part {
    pub x: f64,
    pub y: f64,
    pub width: f64,
    pub height: f64,
}

/// A line of text. Its words have places of their own, where Vision tells them.
#[derive(Clone, Debug, PartialEq)]
pub struct RawLine {
    pub text: String,
    /// 0 to 1.
    pub confidence: f32,
    pub part: Part,
    pub words: Vec<Option<Part>>,
}

/// The words of a line, with the place of each among the units of UTF-16, in which macOS counts.
pub fn words_in(text: &str) -> Vec<(String, std::ops::Range<usize>)> {
    let mut words = Vec::new();
    let (mut word, mut start, mut at) = (String::new(), 0, 0);
    for character in text.chars().chain([' ']) {
        if character.is_whitespace() {
            if !word.is_empty() {
                words.push((std::mem::take(&mut word), start..at));
            }
            start = at + character.len_utf16();
        } else {
            word.push(character);
        }
        at += character.len_utf16();
    }
    words
}

/// Lines from top to bottom; each is a paragraph of its own, since Vision tells no more.
pub fn words(mut lines: Vec<RawLine>, width: u32, height: u32) -> Vec<Word> {
    lines.retain(|line| is_sane(line.part));
    let top = |line: &RawLine| 1.0 - line.part.y - line.part.height;
    lines.sort_by(|left, right| top(left).total_cmp(&top(right)).then(left.part.x.total_cmp(&right.part.x)));
    let mut found = Vec::new();
    for (number, line) in (1..).zip(&lines) {
        let units = line.text.encode_utf16().count().max(1) as f64;
        for (place, (text, range)) in words_in(&line.text).into_iter().enumerate() {
            let own = line.words.get(place).copied().flatten().filter(|part| is_sane(*part));
            let part = own
                .unwrap_or_else(|| shared(line.part, range.start as f64 / units, range.end as f64 / units));
            let bbox = pixels(part, width, height);
            let confidence = line.confidence.clamp(0.0, 1.0) * 100.0;
            found.push(Word { text, confidence, bbox, block: 1, paragraph: number, line: 1 });
        }
    }
    found
}

fn is_sane(part: Part) -> bool {
    [part.x, part.y, part.width, part.height].iter().all(|number| number.is_finite())
}

/// The part of a line between two shares of its length.
fn shared(line: Part, from: f64, to: f64) -> Part {
    Part { x: line.x + line.width * from, width: line.width * (to - from), ..line }
}

/// Every pixel that is touched belongs to the box; a touch of a rounding error is none.
fn pixels(part: Part, width: u32, height: u32) -> Rect {
    const TOUCH: f64 = 1e-6;
    let side = |from: f64, to: f64, pixels: u32| {
        let pixels = f64::from(pixels);
        let (start, end) = ((from * pixels + TOUCH).floor(), (to * pixels - TOUCH).ceil());
        (start.clamp(0.0, pixels) as i32, end.clamp(0.0, pixels) as i32)
    };
    let (left, right) = side(part.x, part.x + part.width, width);
    let (top, bottom) = side(1.0 - part.y - part.height, 1.0 - part.y, height);
    Rect::new(left, top, (right - left).max(1), (bottom - top).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str, y: f64) -> RawLine {
        let part = Part { x: 0.1, y, width: 0.5, height: 0.1 };
        RawLine { text: text.to_owned(), confidence: 0.5, part, words: Vec::new() }
    }

    #[test]
    fn lines_are_read_from_the_top_and_boxes_count_from_there() {
        let read = words(vec![line("below", 0.1), line("above it", 0.8)], 200, 100);
        let told: Vec<_> = read.iter().map(|word| (word.text.as_str(), word.paragraph)).collect();
        assert_eq!(told, [("above", 1), ("it", 1), ("below", 2)]);
        assert_eq!(read[2].bbox, Rect::new(20, 80, 100, 10));
        assert!(read.iter().all(|word| word.confidence == 50.0));
    }

    #[test]
    fn a_word_has_its_own_box_or_its_share_of_the_line() {
        let own = Part { x: 0.5, y: 0.8, width: 0.1, height: 0.1 };
        let read = words(vec![RawLine { words: vec![None, Some(own)], ..line("ab cd", 0.8) }], 100, 100);
        assert_eq!((read[0].bbox.x, read[0].bbox.width, read[1].bbox.x), (10, 20, 50));
    }

    #[test]
    fn words_are_counted_as_macos_counts() {
        let words = words_in(" a 😀b  c");
        assert_eq!(words, [("a".to_owned(), 1..2), ("😀b".to_owned(), 3..6), ("c".to_owned(), 8..9)]);
        assert_eq!(words_in("  "), []);
    }

    #[test]
    fn nonsense_has_no_place() {
        let wild = RawLine { part: Part { x: f64::NAN, ..Part::default() }, ..line("x", 0.0) };
        assert_eq!(words(vec![wild], 100, 100), []);
        let outside = RawLine { part: Part { x: -3.0, y: 5.0, width: 9.0, height: 9.0 }, ..line("x", 0.0) };
        assert_eq!(words(vec![outside], 100, 100)[0].bbox, Rect::new(0, 0, 100, 1));
    }
}
