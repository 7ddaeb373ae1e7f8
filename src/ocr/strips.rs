//! A large page cut into strips that are read side by side: one engine uses one core.
//!
//! Neighbouring strips overlap, so that a line which the cut runs through is whole in both; the strip that holds a
//! word's middle keeps it. Only pages of scattered text are cut: elsewhere a line's place on the page matters.

use std::ops::Range;

use super::preprocess::GreyPage;
use super::{Options, Word};

/// Tesseract's modes for text without order, with and without a guess at its orientation.
const SCATTERED: [u32; 2] = [11, 12];
/// A window of usual size is read whole: what stands around a word helps to read it.
const LEAST_PIXELS: u64 = 2_000_000;
/// An engine takes some twenty bytes for each pixel of its strip. A page that is larger than this is cut into strips of a
/// bounded size, which wait for their turns.
const LARGE_PIXELS: u64 = 4_000_000;
const MOST_STRIP_PIXELS: u64 = 2_000_000;
/// Half the height of the largest letters that may stand on a cut, before the picture is enlarged.
const OVERLAP: u32 = 32;

#[derive(Debug, PartialEq)]
pub struct Strip {
    /// The rows that are read; it is cut out when its turn has come.
    pub rows: Range<u32>,
    /// The rows of the whole page that this strip answers for.
    owns: Range<u32>,
}

/// How many strips are worth it: as many as there are engines, and more where they would be too large.
pub fn count(page: &GreyPage, options: Options, most: usize) -> usize {
    if !SCATTERED.contains(&options.segmentation) {
        return 1;
    }
    let pixels = u64::from(page.width) * u64::from(page.height);
    let strips = |size: u64| usize::try_from(size).unwrap_or(most);
    let least = if pixels > LARGE_PIXELS { strips(pixels.div_ceil(MOST_STRIP_PIXELS)) } else { 1 };
    strips(pixels / LEAST_PIXELS).clamp(1, most.max(1)).max(least)
}

pub fn cut_strips(page: &GreyPage, count: usize) -> Vec<Strip> {
    let cuts = strip_starts(page, count);
    let starts = std::iter::once(0).chain(cuts.iter().copied());
    let ends = cuts.iter().copied().chain([page.height]);
    starts.zip(ends).map(|(start, end)| make_strip(page, start..end)).collect()
}

fn make_strip(page: &GreyPage, owns: Range<u32>) -> Strip {
    let overlap = OVERLAP * page.scale();
    let top = owns.start.saturating_sub(overlap);
    let bottom = owns.end.saturating_add(overlap).min(page.height);
    Strip { rows: top..bottom, owns }
}

/// The rows at which strips begin: near equal parts, where the fewest letters are hit.
fn strip_starts(page: &GreyPage, count: usize) -> Vec<u32> {
    let count = u32::try_from(count).unwrap_or(1).max(1);
    let part = page.height / count;
    let reach = part / 8;
    (1..count).map(|number| quietest_row(page, number * part - reach..number * part + reach + 1)).collect()
}

/// The row with the fewest changes from pixel to pixel; of equals the one nearest to the middle.
fn quietest_row(page: &GreyPage, rows: Range<u32>) -> u32 {
    let middle = rows.start.midpoint(rows.end);
    rows.min_by_key(|&row| (changes_in(page.row(row)), row.abs_diff(middle))).unwrap_or(middle)
}

fn changes_in(row: &[u8]) -> usize {
    row.windows(2).filter(|pair| pair[0].abs_diff(pair[1]) > 32).count()
}

/// The words of all strips as words of the page: each once, and no line of one strip taken for another's.
pub fn join_words(strips: &[Strip], read: Vec<Vec<Word>>) -> Vec<Word> {
    let mut joined: Vec<Word> = Vec::new();
    for (strip, words) in strips.iter().zip(read) {
        let blocks_before = joined.iter().map(|word| word.block).max().unwrap_or(0);
        joined.extend(words.into_iter().filter_map(|word| strip.own_word(word, blocks_before)));
    }
    joined
}

impl Strip {
    fn own_word(&self, mut word: Word, blocks_before: u32) -> Option<Word> {
        word.bbox.y = word.bbox.y.saturating_add_unsigned(self.rows.start);
        word.block = word.block.saturating_add(blocks_before);
        let middle = u32::try_from(word.bbox.y.midpoint(word.bbox.bottom())).unwrap_or(0);
        self.owns.contains(&middle).then_some(word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Rect;
    use crate::model::image::Picture;

    /// White, with noisy rows where `inked` says so.
    fn page(width: u32, height: u32, inked: impl Fn(u32) -> bool) -> GreyPage {
        let shade = |at: u32| if inked(at / width) && at.is_multiple_of(2) { 0 } else { 255 };
        let bytes = (0..width * height).flat_map(|at| [shade(at), shade(at), shade(at), 255]);
        GreyPage::of(&Picture::from_rgba(width, height, bytes.collect()).unwrap(), 1, false, false).unwrap()
    }

    fn word(text: &str, y: i32, height: i32) -> Word {
        let bbox = Rect::new(5, y, 20, height);
        Word { text: text.to_owned(), confidence: 90.0, bbox, block: 1, paragraph: 1, line: 1 }
    }

    #[test]
    fn small_pages_and_ordered_ones_stay_whole() {
        let options = |segmentation| Options { segmentation, upscale: 1, labels: false };
        let large = page(2000, 2000, |_| false);
        assert_eq!(count(&large, options(11), 4), 2);
        assert_eq!(count(&large, options(11), 1), 1);
        assert_eq!(count(&page(3000, 3000, |_| false), options(11), 2), 5, "none has more than it may");
        assert_eq!(count(&large, options(6), 4), 1);
        assert_eq!(count(&page(100, 100, |_| false), options(11), 4), 1);
    }

    #[test]
    fn strips_own_every_row_once() {
        for count in 1..5 {
            let strips = cut_strips(&page(20, 1003, |row| row % 3 == 0), count);
            let owned: Vec<u32> = strips.iter().flat_map(|strip| strip.owns.clone()).collect();
            assert_eq!(owned, (0..1003).collect::<Vec<_>>(), "{count}");
            let holds = |strip: &Strip| strip.owns.clone().all(|row| strip.rows.contains(&row));
            assert!(strips.iter().all(|strip| holds(strip) && strip.rows.end <= 1003));
        }
    }

    #[test]
    fn a_cut_goes_where_no_letters_are() {
        assert_eq!(strip_starts(&page(20, 200, |row| !(90..=92).contains(&row)), 2), [92]);
        assert_eq!(strip_starts(&page(20, 200, |_| false), 2), [100]);
    }

    #[test]
    fn a_word_on_the_cut_comes_once() {
        let strips = cut_strips(&page(20, 200, |_| false), 2);
        let second_top = i32::try_from(strips[1].rows.start).unwrap();
        let on_the_cut = |top: i32| word("both", 96 - top, 12);
        let read = vec![
            vec![word("first", 10, 12), on_the_cut(0)],
            vec![on_the_cut(second_top), word("last", 100, 12)],
        ];
        let joined = join_words(&strips, read);
        let seen: Vec<(&str, i32, u32)> =
            joined.iter().map(|word| (word.text.as_str(), word.bbox.y, word.block)).collect();
        assert_eq!(seen, [("first", 10, 1), ("both", 96, 2), ("last", 100 + second_top, 2)]);
    }
}
