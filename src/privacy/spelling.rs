//! A name as a person reads it: without characters that take no room, in plain letters, one blank between words.
//! Rules about names are asked about this spelling too, so that a disguised name is no way past them.

use std::borrow::Cow;

use super::injection::fold::{is_invisible, is_unseen, latin_lookalike};

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

/// The other ways in which a person may read a name: in plain letters; without accents, in the Latin letters that it looks
/// like; with letters that stand apart taken for a word; and with what stands in for a letter taken for it.
pub fn other_readings(name: &str) -> Vec<String> {
    if is_read_as_written(name) {
        return Vec::new();
    }
    let turned = as_it_is_drawn(name);
    let plain = plain_spelling(&turned);
    let bare: Vec<String> = plain.split(' ').map(bare_word).collect();
    let apart = letters_apart(&bare);
    let loose: Vec<String> = apart.iter().map(|word| without_stand_ins(word)).collect();
    let joined = pieces_joined(&loose);
    let readings = [bare, apart, loose, joined].map(|words| words.join(" "));
    let mut all: Vec<String> = std::iter::once(plain.into_owned()).chain(readings).collect();
    all.retain(|reading| reading != name);
    all.dedup();
    all
}

/// Whole words of plain letters, as most names are.
fn is_read_as_written(name: &str) -> bool {
    let is_whole = |word: &str| word.len() > 2 && word.bytes().all(|byte| byte.is_ascii_alphabetic());
    let hides_letter = |word: &str| word.bytes().skip(1).any(|byte| byte == b'I');
    name.split(' ').all(|word| is_whole(word) && !hides_letter(word))
}

/// What stands between an override of the direction and its end is drawn from right to left.
fn as_it_is_drawn(name: &str) -> Cow<'_, str> {
    let Some((before, rest)) = name.split_once('\u{202E}') else {
        return Cow::Borrowed(name);
    };
    let (turned, after) = rest.split_once('\u{202C}').unwrap_or((rest, ""));
    let turned: String = turned.chars().rev().collect();
    Cow::Owned(format!("{before}{turned}{after}"))
}

/// A word without hyphens inside, and with the letters for which digits and signs stand: `De1ete`, `DeIete`.
fn without_stand_ins(word: &str) -> String {
    let has_letters = word.chars().any(char::is_alphabetic);
    let mut before = ' ';
    let letters = word.chars().filter_map(|letter| {
        let was = std::mem::replace(&mut before, letter);
        match letter {
            _ if !has_letters => Some(letter),
            '-' | '\u{2010}'..='\u{2015}' | '\u{2212}' => None,
            'I' if was.is_lowercase() => Some('l'),
            '1' | '|' | '!' if was.is_alphabetic() => Some('l'),
            '0' => Some('o'),
            '3' => Some('e'),
            '5' | '$' => Some('s'),
            '@' => Some('a'),
            _ => Some(letter),
        }
    });
    letters.collect()
}

/// `De lete`: a piece of one or two letters is taken for a part of the word beside it.
fn pieces_joined(words: &[String]) -> Vec<String> {
    let is_piece = |word: &str| word.chars().count() <= 2 && word.chars().all(char::is_alphabetic);
    let mut joined: Vec<String> = Vec::new();
    let mut was_piece = false;
    for word in words {
        let piece = is_piece(word);
        match joined.last_mut().filter(|_| piece || was_piece) {
            Some(last) => last.push_str(word),
            None => joined.push(word.clone()),
        }
        was_piece = piece;
    }
    joined
}

/// A word without accents. One whose letters all look like Latin ones is read as Latin.
fn bare_word(word: &str) -> String {
    let plain: String = word.chars().map(without_accent).collect();
    let latin: String =
        plain.chars().map(|letter| letter_in(DRAWN_ALIKE, lookalike_of_its_case(letter))).collect();
    let latin = latin.replace(['\u{2010}', '\u{2011}', '\u{2012}', '\u{2013}', '\u{2212}'], "-");
    if latin.is_ascii() { latin } else { plain }
}

/// `D e l e t e all`: three and more letters one by one are a word.
fn letters_apart(words: &[String]) -> Vec<String> {
    let is_letter = |word: &String| word.chars().count() == 1;
    let runs = words.chunk_by(|one, two| is_letter(one) && is_letter(two));
    runs.flat_map(|run| if run.len() > 2 { vec![run.concat()] } else { run.to_vec() }).collect()
}

/// Takes no room of its own and parts nothing.
fn is_unread(letter: char) -> bool {
    is_unseen(letter) || is_invisible(letter) || (letter.is_control() && !letter.is_whitespace())
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
        // In a square, in a black circle, in a black square.
        '\u{1F130}'..='\u{1F149}' => of_alphabet(code - 0x1F130),
        '\u{1F150}'..='\u{1F169}' => of_alphabet(code - 0x1F150),
        '\u{1F170}'..='\u{1F189}' => of_alphabet(code - 0x1F170),
        _ => letter_in(STYLED, letter),
    }
}

/// Small capitals, raised letters, numbers of Rome, and what the mathematical alphabets have elsewhere.
const STYLED: &[(char, &str)] = &[
    ('a', "ᴀᵃªₐ"),
    ('b', "ʙᵇ"),
    ('c', "ᴄᶜⅽ"),
    ('d', "ᴅᵈⅾⅆ"),
    ('e', "ᴇᵉₑℯⅇ"),
    ('f', "ꜰᶠ"),
    ('g', "ɢᵍℊ"),
    ('h', "ʜʰₕℎ"),
    ('i', "ɪⁱᵢⅰℹⅈ"),
    ('j', "ᴊʲⱼⅉ"),
    ('k', "ᴋᵏₖ"),
    ('l', "ʟˡₗⅼℓ"),
    ('m', "ᴍᵐₘⅿ"),
    ('n', "ɴⁿₙ"),
    ('o', "ᴏᵒºₒℴ"),
    ('p', "ᴘᵖₚ"),
    ('r', "ʀʳᵣ"),
    ('s', "ꜱˢₛ"),
    ('t', "ᴛᵗₜ"),
    ('u', "ᴜᵘᵤ"),
    ('v', "ᴠᵛᵥⅴ"),
    ('w', "ᴡʷ"),
    ('x', "ˣₓⅹ"),
    ('y', "ʏʸ"),
    ('z', "ᴢᶻ"),
    ('B', "ℬ"),
    ('C', "ℭℂⅭ"),
    ('D', "Ⅾⅅ"),
    ('E', "ℰ"),
    ('F', "ℱ"),
    ('H', "ℋℌℍ"),
    ('I', "ℐℑⅠ"),
    ('L', "ℒⅬ"),
    ('M', "ℳⅯ"),
    ('N', "ℕ"),
    ('P', "ℙ"),
    ('Q', "ℚ"),
    ('R', "ℛℜℝ"),
    ('V', "Ⅴ"),
    ('X', "Ⅹ"),
    ('Z', "ℤℨ"),
];

const ACCENTED: &[(char, &str)] = &[
    ('a', "àáâãäåāăąạảấầậǎǟǡǻȁȃȧḁẩẫắằẳẵặ"),
    ('b', "ḃḅḇƀɓ"),
    ('c', "çćĉċčḉ"),
    ('d', "ďđḍḋḏḑḓðɖɗ"),
    ('e', "èéêëēĕėęěẽẹẻếềȅȇȩḕḗḙḛḝểễệɘǝɛ"),
    ('f', "ḟ"),
    ('g', "ĝğġģǧǵḡ"),
    ('h', "ĥħȟḣḥḧḩḫẖ"),
    ('i', "ìíîïĩīĭįıịỉǐȉȋḭḯɨ"),
    ('j', "ĵǰ"),
    ('k', "ķǩḱḳḵƙ"),
    ('l', "ĺļľŀłḷḹḻḽɫɬɭ"),
    ('m', "ṁṃḿ"),
    ('n', "ñńņňṇǹṅṉṋ"),
    ('o', "òóôõöøōŏőơọỏộớờǒǫǭȍȏȫȭȯȱṍṏṑṓốồổỗởỡợ"),
    ('p', "ṕṗƥ"),
    ('r', "ŕŗřṛȑȓṙṝṟ"),
    ('s', "śŝşšșṣṡṥṧṩ"),
    ('t', "ţťŧțṭṫṯṱẗƭʈ"),
    ('u', "ùúûüũūŭůűųưụứừǔǖǘǚǜȕȗṳṵṷṹṻủửữự"),
    ('v', "ṽṿ"),
    ('w', "ŵẁẃẅẇẉẘ"),
    ('x', "ẋẍ"),
    ('y', "ýÿŷỳỹȳẏẙỵỷ"),
    ('z', "źżžẓẑẕ"),
];

/// Capital letters of Lisu, of Cherokee and of Canadian syllabics that are drawn like Latin ones.
const DRAWN_ALIKE: &[(char, &str)] = &[
    ('A', "ꓮᎪᗩ"),
    ('B', "ꓐᏴᗷ"),
    ('C', "ꓚᏟᑕ"),
    ('D', "ꓓᎠᗞᗪ"),
    ('E', "ꓰᎬ"),
    ('F', "ꓝᖴ"),
    ('G', "ꓖᏀᏳ"),
    ('H', "ꓧᎻ"),
    ('I', "ꓲ"),
    ('J', "ꓙᎫᒍ"),
    ('K', "ꓗᏦ"),
    ('L', "ꓡᏞᒪ"),
    ('M', "ꓟᎷ"),
    ('N', "ꓠ"),
    ('O', "ꓳ"),
    ('P', "ꓑᏢᑭ"),
    ('R', "ꓣᎡᏒᖇ"),
    ('S', "ꓢᏕᏚ"),
    ('T', "ꓔᎢ"),
    ('U', "ꓴ"),
    ('V', "ꓦᏙᐯ"),
    ('W', "ꓪᎳᏔ"),
    ('X', "ꓫ᙭"),
    ('Y', "ꓬᎩᎽ"),
    ('Z', "ꓜᏃ"),
];

fn letter_in(table: &[(char, &str)], letter: char) -> char {
    if letter.is_ascii() {
        return letter;
    }
    let found = table.iter().find(|(_, others)| others.contains(letter));
    found.map_or(letter, |(plain, _)| *plain)
}

fn without_accent(letter: char) -> char {
    let small = letter.to_lowercase().next().unwrap_or(letter);
    let plain = letter_in(ACCENTED, small);
    match (plain == small, small == letter) {
        (true, _) => letter,
        (false, true) => plain,
        (false, false) => plain.to_ascii_uppercase(),
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

    #[track_caller]
    fn check_read(name: &str, expected: &[&str]) {
        assert_eq!(other_readings(name), expected, "{name:?}");
    }

    #[test]
    fn a_name_has_several_readings() {
        check_read("Delete", &[]);
        check_read("De\u{AD}lete", &["Delete"]);
        check_read("Délétè", &["Delete"]);
        check_read("ѕауе", &["saye"]);
        check_read("D e l e t e", &["Delete"]);
        check_read("D e l e t e all", &["Delete all"]);
        check_read("Ｄ ｅ ｌ", &["D e l", "Del"]);
        check_read("Löschen", &["Loschen"]);
        check_read("Удалить", &[]);
        check_read("a b", &["ab"]);
        check_read("Save all", &[]);
    }

    #[test]
    fn what_is_drawn_like_a_name_is_read_as_it() {
        for name in [
            "\u{202E}eteleD\u{202C}",
            "\u{202E}eteleD",
            "De lete",
            "De\u{2010}lete",
            "De-lete",
            "Ḓelete",
            "Dèlẽtḙ",
            "Ðelete",
            "Dɘlete",
            "DeIete",
            "De1ete",
            "D3l3te",
            "ᗞelete",
            "Ꭰelete",
        ] {
            assert!(other_readings(name).iter().any(|reading| reading == "Delete"), "{name}");
        }
        for name in ["ꓓꓰꓡꓰꓔꓰ", "ᎠᎬᏞᎬᎢᎬ"] {
            assert!(other_readings(name).iter().any(|reading| reading == "DELETE"), "{name}");
        }
    }

    #[test]
    fn letters_of_a_style_are_letters() {
        check("𝒟ℯ𝓁ℯ𝓉ℯ", "Delete");
        check("ᴅᴇʟᴇᴛᴇ ᵈᵉˡᵉᵗᵉ", "delete delete");
        check("🄳🄴🄻🄴🅃🄴 🅳🅴🅻🅴🆃🅴", "DELETE DELETE");
        check("ⅾelete De\u{3164}lete", "delete Delete");
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
