//! What Windows' own text recognition answers, as words of a page.

use crate::model::{Rect, Word};

/// A word and the box around it, in pixels.
#[derive(Clone, Debug, PartialEq)]
pub struct RawWord {
    pub text: String,
    pub x: f32,
    pub y: f32,
    pub width: f32,
    pub height: f32,
}

/// Windows does not tell how sure it is of a word, but gives only those that it is sure of.
const CONFIDENCE: f32 = 90.0;
/// A page larger than this in either direction is refused by the engine; it tells the number itself.
pub const USUAL_LIMIT: u32 = 2_600;

/// Every line is a paragraph of its own: the engine tells no more.
pub fn words(lines: &[Vec<RawWord>]) -> Vec<Word> {
    let lines = (1..).zip(lines);
    lines.flat_map(|(line, words)| words.iter().filter_map(move |raw| word(raw, line))).collect()
}

fn word(raw: &RawWord, line: u32) -> Option<Word> {
    let text = raw.text.trim();
    let sides = [raw.x, raw.y, raw.x + raw.width, raw.y + raw.height];
    if text.is_empty() || !sides.iter().all(|side| side.is_finite()) {
        return None;
    }
    let [left, top, right, bottom] = sides;
    let (x, y) = (left.floor() as i32, top.floor() as i32);
    let (width, height) = (right.ceil() as i32 - x, bottom.ceil() as i32 - y);
    let bbox = Rect::new(x, y, width.max(1), height.max(1));
    Some(Word { text: text.to_owned(), confidence: CONFIDENCE, bbox, block: 1, paragraph: line, line: 1 })
}

/// How many times smaller a page must become to be taken.
pub fn shrunk_by(width: u32, height: u32, limit: u32) -> u32 {
    width.max(height).div_ceil(limit.max(1)).max(1)
}

/// A grey page whose pixels are the means of squares of the larger one.
pub fn shrunk(grey: &[u8], width: u32, height: u32, by: u32) -> (Vec<u8>, u32, u32) {
    if by <= 1 {
        return (grey.to_vec(), width, height);
    }
    let (small_width, small_height) = (width / by, height / by);
    let mean = |x: u32, y: u32| {
        let rows = (y * by..(y + 1) * by).map(|row| row as usize * width as usize + (x * by) as usize);
        let sum: u32 = rows
            .flat_map(|start| grey.get(start..start + by as usize).unwrap_or_default())
            .map(|level| u32::from(*level))
            .sum();
        (sum / (by * by)) as u8
    };
    let pixels = (0..small_height).flat_map(|y| (0..small_width).map(move |x| (x, y)));
    (pixels.map(|(x, y)| mean(x, y)).collect(), small_width, small_height)
}

/// A box of the smaller page on the larger one.
pub fn grown(area: Rect, by: u32) -> Rect {
    let by = i32::try_from(by).unwrap_or(1);
    let times = |number: i32| number.saturating_mul(by);
    Rect::new(times(area.x), times(area.y), times(area.width), times(area.height))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &str, x: f32, width: f32) -> RawWord {
        RawWord { text: text.to_owned(), x, y: 4.2, width, height: 9.9 }
    }

    #[test]
    fn words_keep_their_lines_and_boxes() {
        let read =
            words(&[vec![raw("File", 1.6, 20.0), raw("Edit", 30.0, 21.5)], vec![raw("Save", 2.0, 25.0)]]);
        let keys: Vec<_> = read.iter().map(|word| (word.text.as_str(), word.line_key())).collect();
        assert_eq!(keys, [("File", (1, 1, 1)), ("Edit", (1, 1, 1)), ("Save", (1, 2, 1))]);
        assert_eq!(read[0].bbox, Rect::new(1, 4, 21, 11), "every pixel that the word touches");
    }

    #[test]
    fn what_is_no_word_is_left_out() {
        assert_eq!(words(&[vec![raw("  ", 1.0, 1.0), raw("x", f32::NAN, 1.0)], Vec::new()]), []);
    }

    #[test]
    fn a_large_page_is_made_smaller_and_its_boxes_larger_again() {
        assert_eq!(
            [shrunk_by(2600, 100, 2600), shrunk_by(2601, 100, 2600), shrunk_by(100, 9000, 2600)],
            [1, 2, 4]
        );
        let grey = [0, 10, 20, 30, 100, 110, 120, 130];
        assert_eq!(shrunk(&grey, 4, 2, 2), (vec![55, 75], 2, 1));
        assert_eq!(shrunk(&grey, 4, 2, 1).1, 4);
        assert_eq!(grown(Rect::new(1, 2, 3, 4), 2), Rect::new(2, 4, 6, 8));
    }
}
