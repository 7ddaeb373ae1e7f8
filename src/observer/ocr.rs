//! What can be read from the picture of a window: words, lines and text.
//!
//! Whatever is secret is black before an engine sees the picture, and what was read is redacted before it
//! leaves here, so that nobody downstream can show, store or match a hidden word.

use super::sketch::OcrLine;
use super::{Chosen, Observer, black_out};
use crate::clock::Cancel;
use crate::config;
use crate::error::Result;
use crate::model::Rect;
use crate::model::image::Picture;
use crate::ocr::{Ocr, Word};
use crate::platform::Shot;

/// A picture without secrets of this desktop. Only from this is text read.
#[derive(Clone, Debug)]
pub struct Readable {
    picture: Picture,
    /// The part of the screen that it shows.
    area: Rect,
}

impl Readable {
    /// A picture that the caller had already: it learns nothing of this desktop from it.
    pub fn brought(picture: Picture) -> Self {
        let area = picture.area();
        Self { picture, area }
    }

    pub fn area(&self) -> Rect {
        self.area
    }

    pub fn picture(&self) -> &Picture {
        &self.picture
    }

    /// A part of it; `part` is in pixels of this picture.
    pub fn crop(&self, part: Rect) -> Readable {
        let part = part.intersection(&self.picture.area()).unwrap_or_default();
        let area =
            Rect { x: self.area.x.saturating_add(part.x), y: self.area.y.saturating_add(part.y), ..part };
        Readable { picture: self.picture.crop(part), area }
    }
}

impl Observer {
    pub fn with_ocr(mut self, settings: config::Ocr) -> Self {
        self.ocr = Ocr::new(settings, self.clock.clone());
        self
    }

    pub fn ocr(&self) -> &Ocr {
        &self.ocr
    }

    /// The window as an engine may see it.
    pub fn readable_picture(&self, chosen: &Chosen, cancel: &Cancel) -> Result<Readable> {
        let mut shot = self.platform.window_picture(&chosen.raw)?;
        let view = self.view(chosen, cancel)?;
        let frame = shot.area;
        black_out(&mut shot, view.unreadable_regions(&self.redactor, &chosen.raw.title, frame));
        let Shot { picture, area } = shot;
        Ok(Readable { picture, area })
    }

    /// The words of which the engine is at least as sure as `least` (0 to 100), with boxes in pixels of
    /// the picture.
    pub fn words(&self, readable: &Readable, least: f64, cancel: &Cancel) -> Result<Vec<Word>> {
        let read = self.ocr.words(&readable.picture, self.ocr.window_options(), cancel)?;
        let mut words: Vec<Word> =
            read.iter().filter(|word| f64::from(word.confidence) >= least).cloned().collect();
        for line in words.chunk_by_mut(|one, next| one.line_key() == next.line_key()) {
            let mut texts: Vec<&mut String> = line.iter_mut().map(|word| &mut word.text).collect();
            self.redactor.line_of_words(&mut texts);
        }
        Ok(words)
    }

    fn window_words(&self, chosen: &Chosen, cancel: &Cancel) -> Result<(Readable, Vec<Word>)> {
        // The reason why nothing can be read comes before the work that would be for nothing.
        self.ocr.describe()?;
        let readable = self.readable_picture(chosen, cancel)?;
        let words = self.words(&readable, self.ocr.settings().min_confidence, cancel)?;
        Ok((readable, words))
    }

    /// The text that can be read in a window: a line of text a line, a blank line between blocks; empty
    /// when there is none.
    pub fn ocr_text(&self, chosen: &Chosen, cancel: &Cancel) -> Result<String> {
        let (_, words) = self.window_words(chosen, cancel)?;
        Ok(text_of(&words))
    }

    /// The lines that can be read in a window, in screen coordinates.
    pub fn ocr_lines(&self, chosen: &Chosen, cancel: &Cancel) -> Result<Vec<OcrLine>> {
        let (readable, words) = self.window_words(chosen, cancel)?;
        let lines = words.chunk_by(|one, next| one.line_key() == next.line_key());
        Ok(lines.map(|words| line_of(words, readable.area)).collect())
    }
}

fn text_of(words: &[Word]) -> String {
    let blocks = words.chunk_by(|one, next| one.block == next.block);
    let blocks: Vec<String> = blocks
        .map(|block| {
            let lines = block.chunk_by(|one, next| one.line_key() == next.line_key());
            lines.map(joined).collect::<Vec<_>>().join("\n")
        })
        .collect();
    blocks.join("\n\n")
}

fn joined(words: &[Word]) -> String {
    words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ")
}

fn line_of(words: &[Word], area: Rect) -> OcrLine {
    let least = |value: fn(&Rect) -> i32| words.iter().map(|word| value(&word.bbox)).min().unwrap_or(0);
    let most = |value: fn(&Rect) -> i32| words.iter().map(|word| value(&word.bbox)).max().unwrap_or(0);
    let (x, y) = (least(|bbox| bbox.x), least(|bbox| bbox.y));
    let bounds = Rect {
        x: x.saturating_add(area.x),
        y: y.saturating_add(area.y),
        width: most(Rect::right) - x,
        height: most(Rect::bottom) - y,
    };
    let sum: f32 = words.iter().map(|word| word.confidence).sum();
    OcrLine { text: joined(words), bounds, confidence: sum / words.len().max(1) as f32 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(text: &str, x: i32, block: u32, line: u32) -> Word {
        let confidence = if x == 0 { 90.0 } else { 70.0 };
        let bbox = Rect::new(x, 10 * line as i32, 20, 10);
        Word { text: text.to_owned(), confidence, bbox, block, paragraph: 1, line }
    }

    #[test]
    fn words_make_lines_and_lines_blocks() {
        let words = [
            word("a", 0, 1, 1),
            word("b", 30, 1, 1),
            word("c", 0, 1, 2),
            word("d", 0, 2, 1),
            word("e", 0, 3, 1),
        ];
        assert_eq!(text_of(&words), "a b\nc\n\nd\n\ne");
        assert_eq!(text_of(&[]), "");
    }

    #[test]
    fn a_line_spans_its_words_on_the_screen() {
        let line = line_of(&[word("a", 0, 1, 2), word("b", 30, 1, 2)], Rect::new(100, 200, 50, 50));
        let expected =
            OcrLine { text: "a b".to_owned(), bounds: Rect::new(100, 220, 50, 10), confidence: 80.0 };
        assert_eq!(line, expected);
    }

    #[test]
    fn a_part_knows_where_it_was() {
        let whole =
            Readable { picture: Picture::new(40, 30, [255; 4]).unwrap(), area: Rect::new(100, 200, 40, 30) };
        assert_eq!(whole.crop(Rect::new(30, 20, 99, 99)).area(), Rect::new(130, 220, 10, 10));
        assert!(whole.crop(Rect::new(40, 0, 5, 5)).picture().is_empty());
    }
}
