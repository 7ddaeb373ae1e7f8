//! What every written view of a tree does to foreign texts: shorten them and keep them on one line.
//!
//! Nothing here decides what may be shown; secrets are replaced before a text arrives.

/// The text as it is, or its first `keep` characters and `…` when it has more than `limit`.
pub(super) fn shorten_text(text: &str, limit: usize, keep: usize) -> String {
    let fits = text.chars().nth(limit).is_none();
    if fits { text.to_owned() } else { crate::text::shorten(text, keep).into_owned() }
}

/// A name on one line: an application cannot forge lines of its own by putting breaks into it.
pub fn one_line(text: &str) -> String {
    text.chars().map(visible_or_blank).collect()
}

/// A value for a line: its breaks are `\n` and its tabs `\t`, for whoever quotes it; the rest is as in a name.
pub(super) fn one_line_but_breaks(text: &str) -> String {
    let text = text.replace("\r\n", "\n");
    let breaks = |character| match character {
        '\r' | '\u{2028}' | '\u{2029}' => '\n',
        '\n' | '\t' => character,
        other => visible_or_blank(other),
    };
    text.chars().map(breaks).collect()
}

pub(super) fn visible_or_blank(character: char) -> char {
    if breaks_layout(character) { ' ' } else { character }
}

/// Control characters, the Unicode line breaks, and the marks that reverse the direction of a line.
fn breaks_layout(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_text_over_the_limit_is_shortened() {
        assert_eq!(shorten_text("äbc", 3, 2), "äbc");
        assert_eq!(shorten_text("äbcd", 3, 2), "äb…");
        assert_eq!(shorten_text("", 3, 2), "");
    }

    #[test]
    fn breaks_and_escapes_become_blanks() {
        assert_eq!(one_line("a\nb\x1b[2J\u{2028}c\u{202e}d\u{7f}\u{9b}e"), "a b [2J c d  e");
        assert_eq!(one_line("日本 e\u{301}"), "日本 e\u{301}");
    }

    #[test]
    fn the_breaks_of_a_value_are_kept_for_quoting() {
        assert_eq!(one_line_but_breaks("a\r\nb\tc\u{2028}d\x1b[2J\re"), "a\nb\tc\nd [2J\ne");
    }
}
