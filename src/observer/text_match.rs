//! Searching the text that OCR read, for something to point at.
//!
//! Words become lines, lines have phrases, and a match is a box on the screen. Pure: OCR runs elsewhere, and
//! redacted text was removed there, so it is neither a match nor a near miss.

use crate::model::{Rect, Word};
use crate::pattern::{Effort, Pattern, TooManySteps};

/// How a text has to fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fit {
    /// Anywhere in a line.
    Contains,
    /// Whole words: a phrase or a line of their own, or else words in one.
    Exact,
    /// Anywhere in a line, as a regular expression.
    Regex,
}

/// What is looked for.
#[derive(Clone, Debug)]
pub struct WantedText {
    pattern: Pattern,
    whole: bool,
    /// As it was written, to say what was near; a regular expression is near to nothing.
    words: Option<String>,
}

impl WantedText {
    /// Blanks between words may be as many as they like; by default so may the case.
    pub fn new(fit: Fit, text: &str, case_sensitive: bool) -> Result<Self, String> {
        if fit == Fit::Regex {
            let pattern = Pattern::compile_in(text, case_sensitive)?;
            return Ok(Self { pattern, whole: false, words: None });
        }
        let words: Vec<&str> = text.split_whitespace().collect();
        if words.is_empty() {
            return Err("the text is blank".to_owned());
        }
        let (words, whole) = (words.join(" "), fit == Fit::Exact);
        let pattern = Pattern::literal(&words, whole, case_sensitive)
            .map_err(|_| "the text is too long to search for; give a part of it".to_owned())?;
        Ok(Self { pattern, whole, words: Some(words) })
    }

    fn matches_text(&self, text: &str) -> Result<bool, TooManySteps> {
        self.pattern.is_match(text)
    }

    /// How well words fit of which `matched` is what fits.
    fn closeness(&self, text: &str, matched: &str) -> Closeness {
        let is = |wanted: &str| text == wanted || without_marks(text) == wanted;
        if is(self.words.as_deref().unwrap_or(matched)) {
            Closeness::SameWords
        } else if is(matched) {
            Closeness::WordsInOtherCase
        } else {
            Closeness::PartOfWords
        }
    }
}

/// How well a piece of text fits, the best last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Closeness {
    PartOfWords,
    WordsInOtherCase,
    SameWords,
}

/// A word without the signs around it: `"File",` is `File`.
fn without_marks(text: &str) -> &str {
    let bare = text.trim_matches(|sign: char| !sign.is_alphanumeric());
    if bare.is_empty() { text } else { bare }
}

/// A piece of text on the screen.
#[derive(Clone, Debug, PartialEq)]
pub struct TextPiece {
    /// The words that the box spans.
    pub text: String,
    /// The line that they stand in.
    pub line: String,
    /// On the screen.
    pub bounds: Rect,
    /// 0 to 100, of all its words together.
    pub confidence: f32,
    /// It is a phrase by itself, like the label of a button, and no part of one.
    pub whole: bool,
    pub closeness: Closeness,
}

/// What can be read in one picture, in reading order.
#[derive(Clone, Debug, Default)]
pub struct TextPage {
    lines: Vec<TextLine>,
}

#[derive(Clone, Debug)]
struct TextLine {
    words: Vec<Word>,
    text: String,
    /// Where each word begins in the text.
    starts: Vec<usize>,
}

type WordRange = std::ops::Range<usize>;

impl TextPage {
    /// `lines` have places in a picture of `area`. With `grouped` false every word stands for itself.
    pub fn of(lines: Vec<Vec<Word>>, area: Rect, grouped: bool) -> Self {
        let lines: Vec<Vec<Word>> =
            if grouped { lines } else { lines.into_iter().flatten().map(|word| vec![word]).collect() };
        let lines = lines.into_iter().filter(|words| !words.is_empty());
        let lines = lines.map(|words| TextLine::new(words, area)).collect();
        Self { lines: in_reading_order(lines) }
    }

    /// Everything, line by line.
    pub fn all_lines(&self) -> Vec<TextPiece> {
        self.lines.iter().map(|line| line.text_piece(0..line.words.len())).collect()
    }

    /// Every place where the text stands, in reading order.
    pub fn find_text(&self, wanted: &WantedText) -> Result<Vec<TextPiece>, TooManySteps> {
        if !wanted.whole {
            let effort = Effort::for_many_texts();
            return self.in_all_lines(|line| line.partial_matches(wanted, &effort));
        }
        let labels = self.in_all_lines(|line| line.whole_matches(wanted))?;
        if labels.is_empty() { self.in_all_lines(|line| line.word_matches(wanted)) } else { Ok(labels) }
    }

    fn in_all_lines(
        &self,
        find: impl Fn(&TextLine) -> Result<Vec<TextPiece>, TooManySteps>,
    ) -> Result<Vec<TextPiece>, TooManySteps> {
        let found: Vec<Vec<TextPiece>> = self.lines.iter().map(find).collect::<Result<_, _>>()?;
        Ok(found.into_iter().flatten().collect())
    }

    /// What comes nearest to a text that is not there: phrases and words that are written alike. For a regular
    /// expression, what was read best.
    pub fn nearest_text(&self, wanted: &WantedText, most: usize) -> Vec<TextPiece> {
        let mut pieces: Vec<(f64, TextPiece)> = self
            .lines
            .iter()
            .flat_map(TextLine::phrases_and_words)
            .map(|piece| (text_similarity(wanted, &piece), piece))
            .collect();
        pieces.sort_by(|(one, _), (other, _)| other.total_cmp(one));
        pieces.into_iter().take(most).map(|(_, piece)| piece).collect()
    }
}

/// From 0 to 1.
fn text_similarity(wanted: &WantedText, piece: &TextPiece) -> f64 {
    match &wanted.words {
        None => f64::from(piece.confidence) / 100.0,
        Some(words) => {
            // Comparing costs the product of both lengths; what is longer is no misreading of a label.
            let short =
                |text: &str| text.chars().take(COMPARED_CHARACTERS).collect::<String>().to_lowercase();
            strsim::normalized_damerau_levenshtein(&short(words), &short(&piece.text))
        }
    }
}

const COMPARED_CHARACTERS: usize = 100;

impl TextLine {
    fn new(mut words: Vec<Word>, area: Rect) -> Self {
        let (mut text, mut starts) = (String::new(), Vec::with_capacity(words.len()));
        for word in &mut words {
            if !text.is_empty() {
                text.push(' ');
            }
            starts.push(text.len());
            text.push_str(&word.text);
            word.bbox.x = word.bbox.x.saturating_add(area.x);
            word.bbox.y = word.bbox.y.saturating_add(area.y);
        }
        Self { words, text, starts }
    }

    fn range_bounds(&self, range: WordRange) -> Rect {
        self.words[range].iter().map(|word| word.bbox).reduce(bounding_box).unwrap_or_default()
    }

    fn text_of(&self, range: &WordRange) -> &str {
        let end = self.starts[range.end - 1] + self.words[range.end - 1].text.len();
        &self.text[self.starts[range.start]..end]
    }

    fn text_piece(&self, range: WordRange) -> TextPiece {
        let words = &self.words[range.clone()];
        let sum: f32 = words.iter().map(|word| word.confidence).sum();
        TextPiece {
            text: self.text_of(&range).to_owned(),
            line: self.text.clone(),
            bounds: self.range_bounds(range.clone()),
            confidence: sum / words.len() as f32,
            whole: range == (0..self.words.len()) || self.split_phrases().contains(&range),
            closeness: Closeness::SameWords,
        }
    }

    /// The words of a match, of which `matched` is what fits.
    fn matched_piece(&self, range: WordRange, wanted: &WantedText, matched: &str) -> TextPiece {
        let closeness = wanted.closeness(self.text_of(&range), matched);
        TextPiece { closeness, ..self.text_piece(range) }
    }

    /// Words that stand close together. The labels of a menu bar are one line to an engine and many to a person.
    fn split_phrases(&self) -> Vec<WordRange> {
        let height = self.words.iter().map(|word| word.bbox.height).max().unwrap_or(0);
        let far =
            |at: &usize| self.words[*at].bbox.x.saturating_sub(self.words[at - 1].bbox.right()) > height;
        let cuts = (1..self.words.len()).filter(far);
        let edges: Vec<usize> = [0].into_iter().chain(cuts).chain([self.words.len()]).collect();
        edges.windows(2).map(|edge| edge[0]..edge[1]).collect()
    }

    /// Phrases, and the words of those that have several.
    fn phrases_and_words(&self) -> Vec<TextPiece> {
        let phrases = self.split_phrases();
        let words = phrases.iter().filter(|phrase| phrase.len() > 1).flat_map(Clone::clone);
        let words: Vec<WordRange> = words.map(|word| word..word + 1).collect();
        phrases.into_iter().chain(words).map(|range| self.text_piece(range)).collect()
    }

    fn whole_matches(&self, wanted: &WantedText) -> Result<Vec<TextPiece>, TooManySteps> {
        let ranges = if wanted.matches_text(&self.text)? {
            std::iter::once(0..self.words.len()).collect()
        } else {
            self.split_phrases()
        };
        let mut found = Vec::new();
        for range in ranges {
            let text = self.text_of(&range);
            if wanted.matches_text(text)? {
                found.push(self.matched_piece(range.clone(), wanted, text));
            }
        }
        Ok(found)
    }

    /// Words in the line that are the wanted ones, whatever signs stand around them.
    fn word_matches(&self, wanted: &WantedText) -> Result<Vec<TextPiece>, TooManySteps> {
        let count = wanted.words.as_deref().map_or(0, |words| words.split(' ').count()).max(1);
        let mut found = Vec::new();
        for first in 0..(self.words.len() + 1).saturating_sub(count) {
            let range = first..first + count;
            let text = self.text_of(&range);
            for matched in [text, without_marks(text)] {
                if wanted.matches_text(matched)? {
                    found.push(self.matched_piece(range, wanted, matched));
                    break;
                }
            }
        }
        Ok(found)
    }

    /// The words that each match touches. One word is told once, however often the text is in it.
    fn partial_matches(&self, wanted: &WantedText, effort: &Effort) -> Result<Vec<TextPiece>, TooManySteps> {
        let matches = wanted.pattern.spans(&self.text, effort)?.into_iter();
        let mut found: Vec<(WordRange, &str)> = matches
            .filter_map(|found| Some((self.words_in(found.clone())?, self.text.get(found)?)))
            .collect();
        found.dedup_by(|one, other| one.0 == other.0);
        Ok(found.into_iter().map(|(range, matched)| self.matched_piece(range, wanted, matched)).collect())
    }

    fn words_in(&self, found: WordRange) -> Option<WordRange> {
        let touched = |at: &usize| {
            let start = self.starts[*at];
            start < found.end && found.start < start + self.words[*at].text.len()
        };
        let first = (0..self.words.len()).find(touched)?;
        let last = (first..self.words.len()).rfind(touched)?;
        Some(first..last + 1)
    }
}

fn bounding_box(one: Rect, other: Rect) -> Rect {
    let (x, y) = (one.x.min(other.x), one.y.min(other.y));
    Rect {
        x,
        y,
        width: one.right().max(other.right()).saturating_sub(x),
        height: one.bottom().max(other.bottom()).saturating_sub(y),
    }
}

/// Engines tell scattered text in an order of their own. What begins above the middle of a row's first line is in
/// that row.
fn in_reading_order(mut lines: Vec<TextLine>) -> Vec<TextLine> {
    let bounds = |line: &TextLine| line.range_bounds(0..line.words.len());
    lines.sort_by_key(|line| bounds(line).y);
    let mut row_ends = i32::MIN;
    let mut row = 0_usize;
    let mut keyed: Vec<(usize, i32, TextLine)> = Vec::with_capacity(lines.len());
    for line in lines {
        let place = bounds(&line);
        if place.y >= row_ends {
            row += 1;
            row_ends = place.center().y.max(place.y + 1);
        }
        keyed.push((row, place.x, line));
    }
    keyed.sort_by_key(|(row, x, _)| (*row, *x));
    keyed.into_iter().map(|(_, _, line)| line).collect()
}

/// Which of several is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Occurrence {
    First,
    /// The first of those that fit best: whole words in the same case, then in another, then parts of words.
    Closest,
    /// What fits best, a whole phrase before a part of one, then what was read best.
    Best,
    /// Counted from 1, in reading order.
    Nth(usize),
}

impl Occurrence {
    /// The index of the one that is meant; `None` when there are fewer.
    pub fn index_among(self, pieces: &[TextPiece]) -> Option<usize> {
        match self {
            Occurrence::First => (!pieces.is_empty()).then_some(0),
            Occurrence::Nth(number) => number.checked_sub(1).filter(|index| *index < pieces.len()),
            // Of equals the last is the greatest; reversed, that is the first.
            Occurrence::Closest => (0..pieces.len()).rev().max_by_key(|at| pieces[*at].closeness),
            Occurrence::Best => {
                let better = |one: &TextPiece, other: &TextPiece| {
                    let fit = (one.closeness, one.whole).cmp(&(other.closeness, other.whole));
                    fit.then(one.confidence.total_cmp(&other.confidence))
                };
                (0..pieces.len()).rev().max_by(|one, other| better(&pieces[*one], &pieces[*other]))
            }
        }
    }
}

#[cfg(test)]
mod tests;
