//! A name as a person reads it: without characters that take no room, in plain letters, one blank between words.
//! Rules about names are asked about this spelling too, so that a disguised name is no way past them.

use std::borrow::Cow;

use super::injection::fold::{is_unseen, latin_lookalike};

/// The name in the letters that a person reads; small and capital letters stay what they are.
pub fn plain_spelling(name: &str) -> Cow<'_, str> {
    // The letters of ASCII look like themselves.
    if name.is_ascii() && !name.bytes().any(|byte| byte.is_ascii_control()) {
        return Cow::Borrowed(name);
    }
    let seen = name.chars().filter(|letter| !is_unread(*letter)).map(plain_letter);
    let letters: String = seen.collect();
    let words: Vec<String> = letters.split_whitespace().map(one_script).collect();
    Cow::Owned(words.join(" "))
}

/// Takes no room of its own and parts nothing.
fn is_unread(letter: char) -> bool {
    is_unseen(letter)
        || matches!(letter, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{206F}' | '\u{E0000}'..='\u{E007F}')
        || (letter.is_control() && !letter.is_whitespace())
}

/// The letter behind a full width, a circle or a mathematical alphabet.
fn plain_letter(letter: char) -> char {
    let code = u32::from(letter);
    let of_alphabet = |place: u32| {
        let first = if place < 26 { u32::from('A') } else { u32::from('a') - 26 };
        char::from_u32(first + place).unwrap_or(letter)
    };
    match letter {
        // Full-width forms are the whole of ASCII at another place.
        '\u{FF01}'..='\u{FF5E}' => char::from_u32(code - 0xFF01 + 0x21).unwrap_or(letter),
        '\u{3000}' => ' ',
        '\u{24B6}'..='\u{24E9}' => of_alphabet(code - 0x24B6),
        '\u{1D400}'..='\u{1D6A3}' => of_alphabet((code - 0x1D400) % 52),
        _ => letter,
    }
}

/// A word of Latin letters among which some only look so.
fn one_script(word: &str) -> String {
    let is_other = |letter: char| matches!(letter, '\u{370}'..='\u{52F}');
    let is_mixed = word.chars().any(|letter| letter.is_ascii_alphabetic()) && word.chars().any(is_other);
    if !is_mixed {
        return word.to_owned();
    }
    word.chars().map(lookalike_of_its_case).collect()
}

fn lookalike_of_its_case(letter: char) -> char {
    let small = letter.to_lowercase().next().unwrap_or(letter);
    let plain = latin_lookalike(small);
    match (plain == small, small == letter) {
        (true, _) => letter,
        (false, true) => plain,
        (false, false) => plain.to_ascii_uppercase(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(name: &str, expected: &str) {
        assert_eq!(plain_spelling(name), expected, "{name:?}");
    }

    #[test]
    fn what_takes_no_room_is_left_out() {
        check("De\u{AD}lete", "Delete");
        check("De\u{200B}lete", "Delete");
        check("D\u{2060}e\u{FEFF}lete\u{202E}", "Delete");
        check("Delete\u{7}", "Delete");
    }

    #[test]
    fn letters_of_other_alphabets_are_plain() {
        check("Ｄelete", "Delete");
        check("ＤＥＬＥＴＥ　ａｌｌ", "DELETE all");
        check("𝐃elete 𝘥elete ⒹelETE", "Delete delete DelETE");
        check("Dеletе", "Delete");
        check("Удалить", "Удалить");
    }

    #[test]
    fn names_without_disguise_stay() {
        check("Delete", "Delete");
        check("Löschen für immer", "Löschen für immer");
        check("Delete\u{A0}\u{A0}all", "Delete all");
    }

    proptest! {
        #[test]
        fn a_plain_name_is_its_own_spelling(name in any::<String>()) {
            let once = plain_spelling(&name).into_owned();
            let twice = plain_spelling(&once).into_owned();
            prop_assert_eq!(once, twice);
        }
    }
}
