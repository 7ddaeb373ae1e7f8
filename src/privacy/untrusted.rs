//! Takes out of foreign text what could act on its reader: terminal escapes, control characters,
//! and characters whose only effect is to make a text look like another one.
//!
//! Meaning is never judged here: a sentence that lies stays, a character that hides goes. Kept are
//! tab, LF and CR, and of the invisible characters those that writing needs: the zero-width joiner
//! and non-joiner (Persian, Devanagari, emoji), the zero-width space (Thai), and the direction
//! marks LRM, RLM and ALM. Removed beyond the contract are the directional embeddings, overrides
//! and isolates, which reorder what a person sees (<https://www.unicode.org/reports/tr9/>), and the
//! tag characters U+E0000–E007F, which spell ASCII that a model reads and a person does not (three
//! regional flags lose their region).

use std::borrow::Cow;
use std::fmt::Write;

use super::injection::fold::is_invisible;

const ESCAPE: char = '\u{1B}';
const BELL: char = '\u{7}';
const STRING_TERMINATOR: char = '\u{9C}';

/// The text without escapes, control characters and disguises; borrowed when there are none.
///
/// Cleaning twice is cleaning once: nothing that starts a sequence survives, so removing one
/// sequence cannot build another.
pub fn clean_text(text: &str) -> Cow<'_, str> {
    match first_removed(text) {
        None => Cow::Borrowed(text),
        Some(at) => Cow::Owned(without_sequences(text, at)),
    }
}

/// The text with every character that a person would not see written out, as in `\\u{9d}`: for questions, where what
/// cannot be seen must not be agreed to. Nothing is left out, and cleaning it afterwards changes nothing.
///
/// Joiners and the sign that asks for a coloured picture stay where writing has them: after a letter or a sign that is
/// not ASCII.
pub fn escape_unseen(text: &str) -> Cow<'_, str> {
    if !text.contains(is_unseen_in_question) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    let mut before = ' ';
    for character in text.chars() {
        if is_unseen_in_question(character) && !(joins(character) && carries_joiner(before)) {
            // Writing to a string cannot fail.
            let _ = write!(escaped, "\\u{{{:x}}}", u32::from(character));
        } else {
            escaped.push(character);
        }
        before = character;
    }
    Cow::Owned(escaped)
}

/// Controls but tab and line breaks, what separates lines unseen, what has no width, and blanks that are no blanks.
const fn is_unseen_in_question(character: char) -> bool {
    let separates = matches!(character, '\u{2028}' | '\u{2029}' | '\u{2800}' | '\u{FFF9}'..='\u{FFFB}');
    is_removed(character) || separates || is_invisible(character)
}

const fn joins(character: char) -> bool {
    matches!(character, '\u{200C}' | '\u{200D}' | '\u{FE0F}')
}

fn carries_joiner(character: char) -> bool {
    !character.is_ascii() && !is_unseen_in_question(character)
}

fn first_removed(text: &str) -> Option<usize> {
    // Folding over small chunks instead of stopping at the first hit lets the compiler use vectors.
    let has_suspect = |chunk: &[u8]| chunk.iter().fold(false, |found, &byte| found | is_suspect(byte));
    let from = text.as_bytes().chunks(64).position(has_suspect)? * 64;
    // A suspect byte begins a character, so only there a character has to be read.
    let suspects = text.bytes().enumerate().skip(from).filter(|(_, byte)| is_suspect(*byte));
    suspects.map(|(at, _)| at).find(|&at| text[at..].starts_with(is_removed))
}

/// A byte with which a removed character may begin.
const fn is_suspect(byte: u8) -> bool {
    (byte < 0x20 && byte != b'\t' && byte != b'\n' && byte != b'\r')
        || byte == 0x7F
        || byte == 0xC2
        || byte == 0xE2
        || byte == 0xF3
}

const fn is_removed(character: char) -> bool {
    matches!(character,
        '\0'..='\u{8}' | '\u{B}' | '\u{C}' | '\u{E}'..='\u{1F}' | '\u{7F}'..='\u{9F}'
        | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}'
        | '\u{E0000}'..='\u{E007F}')
}

fn without_sequences(text: &str, first: usize) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    let mut next = Some(first);
    while let Some(at) = next {
        kept.push_str(&rest[..at]);
        rest = &rest[at..];
        rest = &rest[sequence_length(rest)..];
        next = rest.find(is_removed);
    }
    kept.push_str(rest);
    kept
}

/// How many bytes go together with the removed character that `rest` starts with.
fn sequence_length(rest: &str) -> usize {
    match rest.chars().next() {
        Some(ESCAPE) => escape_length(rest),
        Some('\u{9B}') => 2 + control_sequence_length(&rest[2..]),
        Some('\u{90}' | '\u{98}' | '\u{9D}'..='\u{9F}') => 2 + control_string_length(&rest[2..]),
        Some(character) => character.len_utf8(),
        None => 0,
    }
}

/// ECMA-48: the byte after ESC says what follows.
fn escape_length(rest: &str) -> usize {
    match rest.as_bytes().get(1) {
        Some(b'[') => 2 + control_sequence_length(&rest[2..]),
        Some(b']' | b'P' | b'X' | b'^' | b'_') => 2 + control_string_length(&rest[2..]),
        Some(0x20..=0x2F) => 1 + length_up_to_final(&rest.as_bytes()[1..], 0x30),
        Some(0x30..=0x7E) => 2,
        _ => 1,
    }
}

/// Parameters, intermediates and the final byte; 0 when it is not a sequence after all.
fn control_sequence_length(body: &str) -> usize {
    let parameters = body.bytes().take_while(|byte| (0x30..=0x3F).contains(byte)).count();
    match length_up_to_final(&body.as_bytes()[parameters..], 0x40) {
        0 => 0,
        length => parameters + length,
    }
}

fn length_up_to_final(bytes: &[u8], lowest_final: u8) -> usize {
    let intermediates = bytes.iter().take_while(|byte| (0x20..=0x2F).contains(*byte)).count();
    match bytes.get(intermediates) {
        Some(byte) if (lowest_final..=0x7E).contains(byte) => intermediates + 1,
        _ => 0,
    }
}

/// The payload of OSC, DCS, SOS, PM or APC with its terminator (BEL or ST).
/// <https://ecma-international.org/publications-and-standards/standards/ecma-48/>
///
/// A string that is never terminated loses only its introducer. Otherwise one window title could
/// swallow everything that a longer text says after it. The search ends at the first control
/// character, a line break too, so that it stays linear and within the line.
fn control_string_length(body: &str) -> usize {
    let Some(end) = body.find(|character: char| character.is_control() && character != '\t') else {
        return 0;
    };
    let mut ending = body[end..].chars();
    match (ending.next(), ending.next()) {
        (Some(BELL), _) => end + 1,
        (Some(STRING_TERMINATOR), _) | (Some(ESCAPE), Some('\\')) => end + 2,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(clean_text(text), expected, "{text:?}");
    }

    #[test]
    fn ordinary_text_is_borrowed() {
        for text in
            ["", "plain", "tab\tLF\nCR\r", "Untitled — Notepad", "naïve ©", "日本語 🎉", "👩\u{200D}💻"]
        {
            assert!(matches!(clean_text(text), Cow::Borrowed(same) if same == text), "{text:?}");
        }
    }

    #[test]
    fn control_sequences_go() {
        check("\x1b[2Jhome", "home");
        check("a\x1b[1;31mred\x1b[0mb", "aredb");
        check("\u{9B}31mred", "red");
        check("\x1b[?25lx", "x");
        check("\x1b[ qx", "x");
    }

    #[test]
    fn control_strings_go_with_their_payload() {
        check("\x1b]0;title\x07rest", "rest");
        check("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link");
        check("\u{9D}0;title\u{9C}rest", "rest");
        check("\x1bPpayload\x1b\\rest", "rest");
        check("\u{9F}payload\x07rest", "rest");
    }

    #[test]
    fn an_unterminated_string_swallows_nothing() {
        check("\x1b]0;evil, and then the rest", "0;evil, and then the rest");
        check("\x1b]0;evil\nnext line\x07", "0;evil\nnext line");
        check("\x1b]0;evil\x1b[0m still\x07", "0;evil still");
    }

    #[test]
    fn short_escapes_go() {
        check("\x1bcreset", "reset");
        check("\x1b7\x1b8x", "x");
        check("\x1b(Bx", "x");
        check("\x1b(éx", "(éx");
        check("\x1b\x1b[2Jx", "x");
        check("end\x1b", "end");
        check("\x1bé", "é");
        check("\x1b[é", "é");
    }

    #[test]
    fn the_first_is_found_wherever_it_stands() {
        for innocent in ["a", "é", "—", "\u{F0000}", "\u{A0}"] {
            for length in [0, 1, 15, 63, 64, 65, 200] {
                let start = innocent.repeat(length);
                check(&start, &start);
                for removed in ["\u{7}", "\u{85}", "\u{202E}", "\u{E0041}"] {
                    check(&format!("{start}{removed}b"), &format!("{start}b"));
                }
            }
        }
    }

    #[test]
    fn every_control_character_but_three_goes() {
        for code in (0..0x20).chain(0x7F..0xA0).filter_map(char::from_u32) {
            let expected = if "\t\n\r".contains(code) { format!("a{code}é") } else { "aé".to_owned() };
            check(&format!("a{code}é"), &expected);
        }
        check("\u{A0}", "\u{A0}");
    }

    #[test]
    fn disguises_go_and_writing_stays() {
        check("invoice\u{202E}fdp.exe", "invoicefdp.exe");
        check("\u{2066}a\u{2069}\u{202A}b\u{202C}", "ab");
        check("hi\u{E0068}\u{E0069}\u{E007F}", "hi");
        for kept in ["می\u{200C}خواهم", "\u{200E}a\u{200F}", "\u{200B}", "\u{2029}", "\u{2065}"] {
            check(kept, kept);
        }
    }

    #[track_caller]
    fn check_escaped(text: &str, expected: &str) {
        assert_eq!(escape_unseen(text), expected, "{text:?}");
    }

    #[test]
    fn what_is_not_seen_is_written_out() {
        check_escaped("Send 10\u{9d}000 EUR,\u{9c} EUR", "Send 10\\u{9d}000 EUR,\\u{9c} EUR");
        check_escaped("1\u{202e}01\u{202c}", "1\\u{202e}01\\u{202c}");
        check_escaped("a\u{e0041}\u{200b}\u{ad}\u{2028}b", "a\\u{e0041}\\u{200b}\\u{ad}\\u{2028}b");
        check_escaped("\x1b[2J\x07", "\\u{1b}[2J\\u{7}");
        check_escaped("r\u{200d}m", "r\\u{200d}m");
        for plain in ["naïve e\u{301}", "tab\tLF\n", "می\u{200C}خواهم", "👩\u{200D}💻 ❤\u{FE0F}"]
        {
            check_escaped(plain, plain);
        }
    }

    #[test]
    fn many_unterminated_strings_stay_linear() {
        let hostile = "\u{9D}x".repeat(200_000);
        assert_eq!(clean_text(&hostile).len(), 200_000);
    }

    proptest! {
        #[test]
        fn cleaning_twice_is_cleaning_once(text in "[\\x1b\\x07\\[\\]\\\\0-9;mPa-cé\u{9b}\u{9c}\u{9d}\u{202e}\\n ]{0,40}") {
            let once = clean_text(&text).into_owned();
            prop_assert!(!once.contains(is_removed));
            prop_assert!(matches!(clean_text(&once), Cow::Borrowed(_)));
        }

        #[test]
        fn what_is_written_out_loses_nothing(text in any::<String>()) {
            let escaped = escape_unseen(&text);
            prop_assert_eq!(clean_text(&escaped), escaped.as_ref());
            prop_assert!(escaped.chars().count() >= text.chars().count());
        }

        #[test]
        fn what_is_kept_was_there_in_that_order(text in any::<String>()) {
            let mut source = text.chars();
            prop_assert!(clean_text(&text).chars().all(|kept| source.any(|character| character == kept)));
        }
    }
}
