//! Tesseract's table of what it recognised: one line a box, twelve columns apart by tabs.

use super::Word;
use crate::model::Rect;

/// The level of a word; the coarser boxes around it repeat what the words say.
const WORD_LEVEL: &str = "5";
/// A page of text has some thousand words; more is noise, or an attack on the memory.
const MOST_WORDS: usize = 20_000;

/// The words in the order of the table. Lines that are none (the heading, coarser boxes) are passed over.
pub fn parse_words(table: &str) -> Vec<Word> {
    table.lines().filter_map(parse_word).take(MOST_WORDS).collect()
}

fn parse_word(line: &str) -> Option<Word> {
    let mut columns = line.splitn(12, '\t');
    if columns.next()? != WORD_LEVEL {
        return None;
    }
    let numbers: Vec<i32> = columns.by_ref().take(9).map(str::parse).collect::<Result<_, _>>().ok()?;
    let [_page, block, paragraph, line, _word, x, y, width, height] = numbers[..] else {
        return None;
    };
    let confidence: f32 = columns.next()?.parse().ok()?;
    let text = columns.next()?.trim();
    let number = |value: i32| u32::try_from(value).ok();
    (!text.is_empty() && confidence.is_finite()).then_some(Word {
        text: text.to_owned(),
        confidence: confidence.clamp(0.0, 100.0),
        bbox: Rect::new(x, y, width, height),
        block: number(block)?,
        paragraph: number(paragraph)?,
        line: number(line)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TABLE: &str = "level\tpage_num\tblock_num\tpar_num\tline_num\tword_num\tleft\ttop\twidth\theight\tconf\ttext\n\
                         1\t1\t0\t0\t0\t0\t0\t0\t800\t600\t-1\t\n\
                         4\t1\t2\t1\t3\t0\t7\t60\t56\t9\t-1\t\n\
                         5\t1\t2\t1\t3\t1\t7\t60\t25\t9\t95.75\tHello,\n\
                         5\t1\t2\t1\t3\t2\t35\t60\t28\t8\t93\tworld!\n\
                         5\t1\t4\t1\t1\t1\t0\t0\t800\t600\t95\t \n";

    #[test]
    fn words_are_read_with_their_place() {
        let words = parse_words(TABLE);
        assert_eq!(words.len(), 2);
        let first = Word {
            text: "Hello,".to_owned(),
            confidence: 95.75,
            bbox: Rect::new(7, 60, 25, 9),
            block: 2,
            paragraph: 1,
            line: 3,
        };
        assert_eq!(words[0], first);
        assert_eq!(words[1].line_key(), (2, 1, 3));
    }

    #[test]
    fn broken_lines_are_passed_over() {
        for line in ["5", "5\t1\t1\t1\t1\t1\t0\t0\t1\t1\tnan\tx", "5\t1\t-1\t1\t1\t1\t0\t0\t1\t1\t9\tx"] {
            assert!(parse_words(line).is_empty(), "{line}");
        }
    }

    proptest! {
        #[test]
        fn no_table_is_too_strange(table in "([0-9a-z\\-\\.]{0,4}[\\t\\n]){0,60}") {
            parse_words(&table);
        }
    }
}
