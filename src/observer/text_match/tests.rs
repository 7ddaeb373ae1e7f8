use proptest::prelude::*;

use super::*;

/// `Save@10,20 As@45,20 | Cancel@10,50~60`: words with their places, lines separated by `|`, a sureness behind `~`.
fn page(drawn: &str) -> TextPage {
    page_at(drawn, Rect::default(), true)
}

fn page_at(drawn: &str, area: Rect, grouped: bool) -> TextPage {
    TextPage::of(
        drawn.split('|').map(|line| line.split_whitespace().map(word).collect()).collect(),
        area,
        grouped,
    )
}

/// Letters are 8 wide and 10 high.
fn word(drawn: &str) -> Word {
    let (text, place) = drawn.split_once('@').unwrap();
    let (place, confidence) = place.split_once('~').unwrap_or((place, "90"));
    let (x, y) = place.split_once(',').unwrap();
    let bbox = Rect::new(x.parse().unwrap(), y.parse().unwrap(), 8 * text.chars().count() as i32, 10);
    let confidence = confidence.parse().unwrap();
    Word { text: text.to_owned(), confidence, bbox, block: 1, paragraph: 1, line: 1 }
}

const MENU: &str =
    "File@0,0 Edit@60,0 View@120,0 | Hello,@0,30 wide@52,30 world@88,30 | Save@0,60 | Save@100,60 As@136,60";

#[track_caller]
fn check(drawn: &str, fit: Fit, text: &str, expected: &[&str]) {
    let found = page(drawn).find_text(&WantedText::new(fit, text, false).unwrap()).unwrap();
    let told: Vec<String> =
        found.iter().map(|piece| format!("{}@{},{}", piece.text, piece.bounds.x, piece.bounds.y)).collect();
    assert_eq!(told, expected, "{fit:?} {text:?}");
}

#[test]
fn a_text_is_found_anywhere_in_a_line() {
    check(MENU, Fit::Contains, "edit", &["Edit@60,0"]);
    check(MENU, Fit::Contains, "wide world", &["wide world@52,30"]);
    check(MENU, Fit::Contains, "wide   world", &["wide world@52,30"]);
    check(MENU, Fit::Contains, "save", &["Save@0,60", "Save@100,60"]);
    check(MENU, Fit::Contains, "orl", &["world@88,30"]);
    check(MENU, Fit::Contains, "o, w", &["Hello, wide@0,30"]);
    check(MENU, Fit::Contains, "Paste", &[]);
    check("banana@0,0", Fit::Contains, "a", &["banana@0,0"]);
}

#[test]
fn what_is_exact_is_a_label_or_else_words_in_a_line() {
    check(MENU, Fit::Exact, "save", &["Save@0,60"]);
    check(MENU, Fit::Exact, "Save As", &["Save As@100,60"]);
    check(MENU, Fit::Exact, "view", &["View@120,0"]);
    check(MENU, Fit::Exact, "File Edit View", &["File Edit View@0,0"]);
    check(MENU, Fit::Exact, "wide", &["wide@52,30"]);
    check(MENU, Fit::Exact, "hello wide", &[]);
    check(MENU, Fit::Exact, "hello", &["Hello,@0,30"]);
    check(MENU, Fit::Exact, "wid", &[]);
    check("File@0,0 Edit@38,0 Image@76,0 | Images@0,30", Fit::Exact, "Image", &["Image@76,0"]);
    check("+@0,0 -@12,0", Fit::Exact, "-", &["-@12,0"]);
    check("OK@0,0 | OK@90,0", Fit::Exact, "OK", &["OK@0,0", "OK@90,0"]);
    check("a.c@0,0 | abc@0,20", Fit::Exact, "a.c", &["a.c@0,0"]);
}

#[test]
fn expressions_are_looked_for_in_lines() {
    check(MENU, Fit::Regex, r"^save\b", &["Save@0,60", "Save@100,60"]);
    check(MENU, Fit::Regex, r"w\w+d\b", &["world@88,30"]);
    check(MENU, Fit::Regex, r"Hello.*$", &["Hello, wide world@0,30"]);
    check(MENU, Fit::Regex, "x*", &[]);
}

#[test]
fn the_case_counts_when_asked_for() {
    let found = |text: &str| {
        page(MENU).find_text(&WantedText::new(Fit::Contains, text, true).unwrap()).unwrap().len()
    };
    assert_eq!((found("Edit"), found("edit")), (1, 0));
    let found = page("STRASSE@0,0 ÄRGER@0,30")
        .find_text(&WantedText::new(Fit::Contains, "ärger", false).unwrap())
        .unwrap();
    assert_eq!(found.len(), 1);
}

#[test]
fn words_can_stand_for_themselves() {
    let page = page_at(MENU, Rect::default(), false);
    let found = page.find_text(&WantedText::new(Fit::Exact, "wide", false).unwrap()).unwrap();
    assert_eq!((found.len(), found[0].line.as_str(), found[0].whole), (1, "wide", true));
    assert!(
        page.find_text(&WantedText::new(Fit::Contains, "wide world", false).unwrap()).unwrap().is_empty()
    );
    assert_eq!(page.all_lines().len(), 9);
}

#[test]
fn places_are_told_on_the_screen() {
    let page = page_at("Save@5,7 As@41,9", Rect::new(100, 200, 50, 50), true);
    let all = page.all_lines();
    assert_eq!((all[0].bounds, all[0].text.as_str()), (Rect::new(105, 207, 52, 12), "Save As"));
}

#[test]
fn lines_are_read_from_the_top_and_from_the_left() {
    let page = page("right@200,2 | below@0,40 | left@0,4 | middle@90,0");
    let order: Vec<String> = page.all_lines().into_iter().map(|piece| piece.text).collect();
    assert_eq!(order, ["left", "middle", "right", "below"]);
}

#[test]
fn what_is_not_there_has_neighbours() {
    let near = |fit: Fit, text: &str| -> Vec<String> {
        let wanted = WantedText::new(fit, text, false).unwrap();
        page(MENU).nearest_text(&wanted, 2).into_iter().map(|piece| piece.text).collect()
    };
    assert_eq!(near(Fit::Exact, "Savc")[0], "Save");
    assert_eq!(near(Fit::Contains, "hello wide word")[0], "Hello, wide world");
    assert_eq!(near(Fit::Regex, "Q").len(), 2);
    assert!(
        TextPage::default().nearest_text(&WantedText::new(Fit::Exact, "a", false).unwrap(), 8).is_empty()
    );
}

#[test]
fn one_of_several_is_chosen() {
    let found = page("OK@0,0~70 now@24,0~70 | OK@0,30~60 | OK@0,60~80")
        .find_text(&WantedText::new(Fit::Contains, "ok", false).unwrap())
        .unwrap();
    let at = |occurrence: Occurrence| occurrence.index_among(&found);
    assert_eq!(at(Occurrence::First), Some(0));
    assert_eq!(at(Occurrence::Best), Some(2), "a whole phrase that was read well");
    assert_eq!(
        (at(Occurrence::Nth(2)), at(Occurrence::Nth(3)), at(Occurrence::Nth(4))),
        (Some(1), Some(2), None)
    );
    assert_eq!((at(Occurrence::Nth(0)), Occurrence::Best.index_among(&[])), (None, None));
    let alike =
        page("OK@0,0 | OK@0,30").find_text(&WantedText::new(Fit::Exact, "ok", false).unwrap()).unwrap();
    assert_eq!(Occurrence::Best.index_among(&alike), Some(0), "of equals the first");
}

#[track_caller]
fn check_closest(drawn: &str, fit: Fit, text: &str, expected: (i32, i32)) {
    let found = page(drawn).find_text(&WantedText::new(fit, text, false).unwrap()).unwrap();
    let chosen = &found[Occurrence::Closest.index_among(&found).unwrap()];
    assert_eq!((chosen.bounds.x, chosen.bounds.y), expected, "{text}: {found:?}");
}

#[test]
fn the_whole_word_in_the_same_case_is_meant() {
    let window = "files@300,0 | File@0,30 Edit@60,30 | file@0,60 | FILE,@0,90";
    check_closest(window, Fit::Contains, "File", (0, 30));
    check_closest(window, Fit::Contains, "file", (0, 60));
    check_closest(window, Fit::Contains, "FILE", (0, 90));
    check_closest(window, Fit::Contains, "fIle", (0, 30));
    check_closest(window, Fit::Contains, "ile", (300, 0));
    check_closest(window, Fit::Regex, "[Ff]ile", (0, 30));
    check_closest(window, Fit::Exact, "file", (0, 60));
}

#[test]
fn what_cannot_be_looked_for_is_said() {
    let problem = |fit: Fit, text: &str| WantedText::new(fit, text, false).unwrap_err();
    assert!(problem(Fit::Contains, "  ").contains("blank"));
    assert!(problem(Fit::Regex, "ab(").contains("character 3"), "{}", problem(Fit::Regex, "ab("));
    assert!(problem(Fit::Regex, "(?:a{1000}){1000}").contains("bytes"));
    for letter in ["k", "ſ", "漢"] {
        WantedText::new(Fit::Contains, &letter.repeat(1000), false).unwrap();
    }
}

proptest! {
    /// Whatever stands together in a line is found there, by any way of asking, and its box has its words.
    #[test]
    fn what_is_there_is_found(
        lines in prop::collection::vec(prop::collection::vec(("[a-zA-Z.+*?é漢]{1,6}", 0..40i32), 1..6), 1..6),
        line in any::<prop::sample::Index>(),
        first in any::<prop::sample::Index>(),
        count in 1..4usize,
    ) {
        let mut drawn = Vec::new();
        for (row, words) in lines.iter().enumerate() {
            let mut x = 0;
            drawn.push(words.iter().map(|(text, gap)| {
                let one = word(&format!("{text}@{},{}", x + gap, 30 * row));
                x = one.bbox.right();
                one
            }).collect::<Vec<_>>());
        }
        let page = TextPage::of(drawn.clone(), Rect::default(), true);
        let row = line.index(drawn.len());
        let from = first.index(drawn[row].len());
        let part = &drawn[row][from..drawn[row].len().min(from + count)];
        let text = part.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ");
        let place = part.iter().map(|word| word.bbox).reduce(bounding_box).unwrap();
        let contains = page.find_text(&WantedText::new(Fit::Contains, &text, true).unwrap()).unwrap();
        let is_there = |found: &TextPiece| found.bounds.y == place.y && found.text.contains(part[0].text.as_str());
        prop_assert!(contains.iter().any(is_there), "{text} in {contains:?}");
        let by_expression = WantedText::new(Fit::Regex, &regex::escape(&text), true).unwrap();
        prop_assert_eq!(page.find_text(&by_expression).unwrap(), contains);
        let exact = page.find_text(&WantedText::new(Fit::Exact, &text, true).unwrap()).unwrap();
        prop_assert!(!exact.is_empty(), "{text}");
        prop_assert!(exact.iter().all(|found| found.closeness == Closeness::SameWords), "{text} in {exact:?}");
    }
}
