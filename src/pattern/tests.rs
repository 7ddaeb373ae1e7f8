use super::*;

#[track_caller]
fn check(pattern: &str, expected: &str) {
    let complaint = Pattern::compile(pattern).err().unwrap_or_else(|| "compiles".to_owned());
    assert!(complaint.contains(expected), "{pattern:.40}: {complaint}");
}

#[test]
fn ordinary_patterns_compile() {
    check("(?i)delete|remove", "compiles");
    check("", "compiles");
    check(&"é".repeat(MOST_CHARACTERS), "compiles");
}

/// H-43 on code: every pattern is compiled here.
#[test]
fn bad_patterns_say_why_in_one_line() {
    check("(", "unclosed group (at character 1)");
    check("é+(a", "unclosed group (at character 3)");
    check(r"a\p{Nope}", "(at character 2)");
    check("(?=a", "does not compile");
    check("(?:a{1000}){1000}", "more than 1048576 bytes");
    check("(?=b)(?:a{1000}){1000}", "does not compile");
    check(&"a".repeat(MOST_CHARACTERS + 1), "513 characters");
    assert!(!Pattern::compile("(").expect_err("unclosed").contains('\n'));
}

/// What people wrote for a server in Python, and what it means there.
#[test]
fn patterns_of_python_match_as_they_do_there() {
    let rows: Vec<serde_json::Value> =
        serde_json::from_str(include_str!("../../tests/contract/python_patterns.json")).unwrap();
    for row in &rows {
        let pattern = Pattern::compile(row["pattern"].as_str().unwrap());
        let pattern = pattern.unwrap_or_else(|problem| panic!("{row}: {problem}"));
        for (key, expected) in [("found_in", true), ("not_found_in", false)] {
            for text in row[key].as_array().into_iter().flatten() {
                assert_eq!(pattern.is_match(text.as_str().unwrap()), Ok(expected), "{row} in {text}");
            }
        }
    }
    assert!(rows.len() > 20);
}

#[track_caller]
fn check_whole(pattern: &str, text: &str, expected: bool) {
    assert_eq!(Pattern::compile_whole(pattern).unwrap().is_match(text), Ok(expected), "{pattern} {text}");
}

#[test]
fn a_whole_pattern_matches_nothing_less() {
    check_whole("a|ab", "ab", true);
    check_whole("(?!File).*", "Edit", true);
    check_whole("(?!File).*", "File", false);
    check_whole("(?!File).*", "Files", false);
    check_whole(r"(\w)\1", "aa", true);
    check_whole(r"(\w)\1", "aab", false);
    for borrowed in ["a)|(b", "(?=a))|((b)"] {
        assert!(Pattern::compile_whole(borrowed).is_err(), "{borrowed}");
    }
}

fn spans(pattern: &str, text: &str) -> Vec<Range<usize>> {
    Pattern::compile(pattern).unwrap().spans(text, &Effort::default()).unwrap()
}

#[test]
fn both_engines_find_the_same_places() {
    for text in ["", "aXbXXé", "XX", "éXéX", &"aX".repeat(SHORT_TEXT)] {
        let plain = spans("X+", text);
        assert_eq!(spans("X+(?=)", text), plain, "{text:.20}");
        assert_eq!(spans("(?<!q)X+", text), plain, "{text:.20}");
        assert!(plain.iter().all(|span| text[span.clone()].starts_with('X')));
    }
    assert_eq!(spans("b*", "abb"), std::iter::once(1..3).collect::<Vec<_>>());
    assert_eq!(spans("(?=)b*", "abb"), std::iter::once(1..3).collect::<Vec<_>>());
}

#[test]
fn the_group_is_what_a_text_brings() {
    for pattern in ["name (.*)", "name (.*)(?<!x)"] {
        let pattern = Pattern::compile_whole(pattern).unwrap();
        assert_eq!(pattern.captured("name Ada"), Ok(Some("Ada")));
        assert_eq!(pattern.captured("Ada"), Ok(None));
    }
    assert_eq!(Pattern::compile_whole("(?=A).*").unwrap().captured("Ada"), Ok(Some("Ada")));
}

/// Without optimisation, on a machine that does other things.
const SOON: Duration = Duration::from_secs(15);

/// Patterns that take exponential or quadratic time, each with a text that makes it.
const WORST: &[(&str, &str)] = &[
    (r"(a*)*(?=b)c", "a"),
    (r"(?:a|aa)+(?=x)$", "a"),
    (r"(\w+)\s+\1z", "a "),
    (r"(?!.*b)ac", "a"),
    (r"(?=.*z)q", "a"),
    (r"(?:a|b)*(?=.*z)(c)\1", "a"),
    (r"(?<=a+)b", "a"),
    (r".*[^a]|(?=ab)b", "a"),
    (r"(.*)(.*)(.*)(.*)\4z", "a"),
];

#[test]
fn no_pattern_takes_long_on_any_text() {
    for (pattern, unit) in WORST {
        let pattern = Pattern::compile(pattern).unwrap();
        for length in [SHORT_TEXT, 8 << 10, 64 << 10, 1 << 20] {
            let text = unit.repeat(length / unit.len());
            let time = Deadline::after(Duration::from_secs(60));
            let found = pattern.spans(&text, &Effort::default());
            let took = time.elapsed();
            assert!(took < SOON, "{pattern} took {took:?} on {length}: {found:?}");
        }
    }
}

/// Many searches of the engine that is linear are not linear together.
#[test]
fn many_searches_are_bounded_together() {
    let pattern = Pattern::compile("a.*[^a]|a").unwrap();
    let text = "a".repeat(1 << 20);
    let time = Deadline::after(Duration::from_secs(60));
    let found = pattern.spans(&text, &Effort::default());
    assert!(time.elapsed() < SOON, "{:?}", time.elapsed());
    assert!(found.is_err());
}

#[test]
fn what_took_too_long_is_neither_found_nor_missed() {
    let pattern = Pattern::compile("(?:a|aa)+(?=x)$").unwrap();
    let error = pattern.is_match(&"a".repeat(300)).unwrap_err();
    assert_eq!(error.bytes, 300);
    let error = Error::from(error);
    assert_eq!(error.kind, crate::error::Kind::BadRequest);
    assert!(error.message.contains("(?:a|aa)+(?=x)$"), "{}", error.message);
    let look_ahead = Pattern::compile("a(?=b)").unwrap();
    assert!(look_ahead.is_match_within("ab", &Effort::none()).is_err());
    assert_eq!(look_ahead.is_match("ab"), Ok(true));
}

#[test]
fn a_set_matches_if_one_of_its_patterns_does() {
    let patterns = ["^plain", "look(?!s)", r"end\Z"].map(|text| Pattern::compile(text).unwrap());
    let set = PatternSet::new(patterns.to_vec()).unwrap();
    for (text, expected) in
        [("plain text", true), ("a look", true), ("looks", false), ("the end", true), ("end.", false)]
    {
        assert_eq!(set.is_match(text, &Effort::default()), Ok(expected), "{text}");
    }
}

/// What a linear search of a long text takes is taken from the time that all searches share; of short texts it is not.
#[test]
fn long_texts_share_their_time_with_either_engine() {
    for pattern in ["a", "a(?=b)"] {
        let pattern = Pattern::compile(pattern).unwrap();
        assert!(pattern.spans(&"b".repeat(SHORT_TEXT + 1), &Effort::none()).is_err(), "{pattern}");
    }
    let short = Pattern::compile("a").unwrap().spans("ba", &Effort::none());
    assert_eq!(short, Ok(std::iter::once(1..2).collect::<Vec<_>>()));
}

#[test]
fn showing_and_sending_take_less_than_a_second_together() {
    assert!(TIME_IN_A_REDACTION * 2 < Duration::from_secs(1));
}
