//! Small helpers over text that several rooms need.

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
    fn misspelt_words_find_their_neighbour() {
        let words = ["window_index", "window_uid", "selector"];
        assert_eq!(nearest("windw_index", words), Some("window_index"));
        assert_eq!(nearest("selektor", words), Some("selector"));
        assert_eq!(nearest("zebra", words), None);
        assert_eq!(nearest(&"selector".repeat(20), words), None);
    }
}
