//! Small helpers over text that several rooms need.

use std::borrow::Cow;

/// The text as it is, or its first `most` characters and `…` when it has more.
pub fn shorten(text: &str, most: usize) -> Cow<'_, str> {
    match text.char_indices().nth(most) {
        Some((end, _)) => Cow::Owned(format!("{}…", &text[..end])),
        None => Cow::Borrowed(text),
    }
}

/// A name as a part of a JSON pointer. <https://www.rfc-editor.org/rfc/rfc6901#section-3>
pub fn escape_pointer(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// The candidate that a misspelt name was probably meant to be: near, and nearer than a guess would be.
pub fn nearest<T: AsRef<str>>(name: &str, candidates: impl IntoIterator<Item = T>) -> Option<T> {
    // Longer names are no misspelling of anything here, and comparing them would cost time.
    if name.len() > 64 {
        return None;
    }
    let distance = |candidate: &T| strsim::osa_distance(name, candidate.as_ref());
    let best = candidates.into_iter().min_by_key(distance)?;
    (distance(&best) <= (name.len() / 4).clamp(1, 3)).then_some(best)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shortened_says_so() {
        assert_eq!(shorten("abcdef", 3), "abc…");
        assert_eq!(shorten("🦀🦀", 2), "🦀🦀");
        assert_eq!(shorten("", 0), "");
    }

    #[test]
    fn misspelt_words_find_their_neighbour() {
        let words = ["window_index", "window_uid", "selector"];
        assert_eq!(nearest("windw_index", words), Some("window_index"));
        assert_eq!(nearest("selektor", words), Some("selector"));
        assert_eq!(nearest("zebra", words), None);
        assert_eq!(nearest(&"selector".repeat(20), words), None);
    }
}
