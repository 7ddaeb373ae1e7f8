//! Names as the rules of consent read them: however the letters of a word are disguised, the word is read; reading twice
//! is reading once; and a name of plain letters stays as it is.

use os_screen_observer::privacy::spelling::plain_spelling;

/// What rules are about here.
const WORD: &str = "Delete";
/// What may stand in a word without being seen.
const UNSEEN: &[&str] =
    &["", "\u{AD}", "\u{200B}", "\u{200D}", "\u{2060}", "\u{FEFF}", "\u{202E}", "\u{301}", "\u{7}"];

pub fn check(data: &[u8]) {
    let (disguise, around) = data.split_at(data.len().min(2 * WORD.len()));
    let around = String::from_utf8_lossy(around);
    check_once(&around);
    let name = disguised(disguise);
    assert_eq!(plain_spelling(&name), WORD, "{name:?}");
    // Other words around it change nothing.
    let sentence = format!("{around} {name} {around}");
    check_once(&sentence);
    assert!(plain_spelling(&sentence).split(' ').any(|word| word == WORD), "{sentence:?}");
    if around.is_ascii() && !around.contains(|letter: char| letter.is_ascii_control()) {
        assert_eq!(plain_spelling(&around), around);
    }
}

fn check_once(text: &str) {
    let once = plain_spelling(text).into_owned();
    assert_eq!(plain_spelling(&once), once, "{text:?}");
    assert!(once.len() <= 4 * text.len().max(1), "{text:?} grows");
}

/// The word, each letter in one of its alphabets with something unseen behind it.
fn disguised(bytes: &[u8]) -> String {
    let byte = |at: usize| bytes.get(at).copied().unwrap_or(0);
    let letters = WORD.chars().enumerate();
    letters
        .map(|(at, letter)| {
            let unseen = UNSEEN[usize::from(byte(2 * at + 1)) % UNSEEN.len()];
            format!("{}{unseen}", in_alphabet(letter, byte(2 * at)))
        })
        .collect()
}

fn in_alphabet(letter: char, number: u8) -> char {
    let offset =
        |first: u32, of: char| char::from_u32(first + u32::from(letter) - u32::from(of)).unwrap_or(letter);
    let place = |upper: u32| {
        offset(
            if letter.is_uppercase() { upper } else { upper + 26 },
            if letter.is_uppercase() { 'A' } else { 'a' },
        )
    };
    match number % 4 {
        0 => letter,
        1 => offset(0xFF01, '!'),
        2 => place(0x24B6),
        _ => place(0x1D400),
    }
}
