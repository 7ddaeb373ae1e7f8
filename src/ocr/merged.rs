//! Two readings of one picture as one: what stands in a frame is found in one of them, what is written small or pale in the
//! other.

use super::Word;
use crate::model::Rect;

/// By how much a line has to be better than what is known in its place.
const BETTER: f32 = 1.05;
/// Lower signs are parts of frames.
const LEAST_HEIGHT: i32 = 4;

type Line = Vec<Word>;

/// All lines of both. Of two in one place the one counts that was read with more letters and more surely, with the words
/// that only the other has.
pub fn merged_words(first: &[Word], second: &[Word]) -> Vec<Word> {
    let mut lines = lines_of(first);
    for line in lines_of(second) {
        add_line(&mut lines, line);
    }
    // Lines of different readings are different lines, whatever their numbers were.
    let numbered = (1..).zip(lines);
    numbered
        .flat_map(|(number, line)| line.into_iter().map(move |word| Word { line: number, ..word }))
        .collect()
}

fn lines_of(words: &[Word]) -> Vec<Line> {
    let lines = words.chunk_by(|one, next| one.line_key() == next.line_key());
    let sized =
        |line: &[Word]| line.iter().filter(|word| word.bbox.height >= LEAST_HEIGHT).cloned().collect();
    lines.map(sized).filter(|line: &Line| !line.is_empty()).collect()
}

fn add_line(lines: &mut Vec<Line>, line: Line) {
    let (known, others): (Vec<Line>, Vec<Line>) =
        std::mem::take(lines).into_iter().partition(|known| meet(known, &line));
    *lines = others;
    if weight(&line) > known.iter().map(|known| weight(known)).sum::<f32>() * BETTER {
        lines.push(completed(line, known.into_iter().flatten()));
        return;
    }
    // What only the new one has belongs to the first line that it meets.
    let others: Line = known.iter().skip(1).flatten().cloned().collect();
    let added = line.into_iter().filter(|word| !others.iter().any(|known| overlap(&known.bbox, &word.bbox)));
    let mut known = known.into_iter();
    lines.extend(known.next().map(|first| completed(first, added)));
    lines.extend(known);
}

/// A line with the words of another that it has nothing in the place of. A single letter is mostly a part of a drawing.
fn completed(mut line: Line, others: impl Iterator<Item = Word>) -> Line {
    for word in others.filter(is_word) {
        if !line.iter().any(|known| overlap(&known.bbox, &word.bbox)) {
            line.push(word);
        }
    }
    line.sort_by_key(|word| word.bbox.x);
    line
}

fn is_word(word: &Word) -> bool {
    let letters = word.text.chars().filter(|letter| letter.is_alphanumeric()).count();
    letters > 1 || word.text.chars().all(|letter| letter.is_ascii_digit())
}

fn meet(one: &Line, other: &Line) -> bool {
    one.iter().any(|word| other.iter().any(|next| overlap(&word.bbox, &next.bbox)))
}

/// What speaks for a line: how sure the engine is of its words, and how many letters they have.
fn weight(line: &[Word]) -> f32 {
    let letters =
        |word: &Word| word.text.chars().filter(|letter| letter.is_alphanumeric()).count().max(1) as f32;
    line.iter().filter(|word| is_word(word)).map(|word| word.confidence * letters(word)).sum()
}

/// More than a fourth of the smaller one is in the other.
fn overlap(one: &Rect, other: &Rect) -> bool {
    let area = |place: &Rect| i64::from(place.width) * i64::from(place.height);
    let common = one.intersection(other).map_or(0, |common| area(&common));
    common > 0 && common * 4 > area(one).min(area(other))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `File@10~90`: a word, where it begins, how sure it is; lines are parted by `|` and stand below each other.
    fn words(drawn: &str) -> Vec<Word> {
        let word = |drawn: &str, row: u32| {
            let (text, place) = drawn.split_once('@').unwrap();
            let (x, confidence) = place.split_once('~').unwrap();
            let bbox = Rect::new(x.parse().unwrap(), 20 * row as i32, 8 * text.len() as i32, 10);
            let confidence = confidence.parse().unwrap();
            Word { text: text.to_owned(), confidence, bbox, block: 1, paragraph: 1, line: row }
        };
        let lines = (0..).zip(drawn.split('|'));
        lines.flat_map(|(row, line)| line.split_whitespace().map(move |drawn| word(drawn, row))).collect()
    }

    #[track_caller]
    fn check(first: &str, second: &str, expected: &str) {
        let merged = merged_words(&words(first), &words(second));
        let lines = merged.chunk_by(|one, next| one.line_key() == next.line_key());
        let text = |line: &[Word]| line.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ");
        let told: Vec<String> = lines.map(text).collect();
        assert_eq!(told.join("|"), expected, "{first} and {second}");
    }

    #[test]
    fn what_either_finds_is_found() {
        check("File@0~90", "|OK@0~80", "File|OK");
        check("", "OK@100~80", "OK");
        check("File@0~90", "", "File");
        check("File@0~90", "OK@100~80", "File|OK");
    }

    #[test]
    fn of_two_in_one_place_one_is_told() {
        check("File@0~90", "File@1~91", "File");
        check("Fi1e@0~60", "File@1~95", "File");
        check("Lante@0~50", "Lantern@2~93", "Lantern");
        check("File@0~90", "=@2~99", "File");
        check("Fi@0~90 le@16~90", "File@0~92", "Fi le");
    }

    #[test]
    fn the_words_of_a_line_stay_together() {
        check("Harbour@0~90 Lights@60~40", "Harbour@0~90 lights@60~95", "Harbour lights");
        check("Harbour@0~90 lights@60~95 on@112~90", "lights@60~95", "Harbour lights on");
        check("on@112~90 x@62~10", "Harbour@0~90 lights@60~95", "Harbour lights on");
        check("Harbour@0~95 lights@60~95", "Harbour@0~90 lights@60~90 on@112~90", "Harbour lights on");
        check("Word@0~95 wrap@60~95", "Word@0~90 M@40~90 wrap@60~90", "Word wrap");
        check("items@30~95", "3@10~90 items@30~90", "3 items");
    }

    #[test]
    fn what_is_lower_than_a_letter_is_none() {
        let flat = |word: Word| Word { bbox: Rect { height: 2, ..word.bbox }, ..word };
        let flat: Vec<Word> = words("ae)@0~60").into_iter().map(flat).collect();
        assert!(merged_words(&flat, &flat).is_empty());
    }
}
