//! Advice that names tools, fitted to what a client was shown: a client calls what is listed, and nothing else.

use std::borrow::Cow;

use super::Table;

impl Table {
    /// Each tool that another serves for, and that one, whether or not they are offered.
    fn instead(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        self.declared().filter_map(|meta| Some((meta.name, meta.advise_instead?)))
    }

    pub fn is_listed(&self, name: &str) -> bool {
        self.find_tool(name).is_some_and(|entry| entry.listed)
    }

    /// The tool, where the client was shown it, or the one that serves instead.
    pub fn advised_tool(&self, name: &'static str) -> Option<&'static str> {
        let instead = self.instead().find(|(hidden, _)| *hidden == name).map(|(_, instead)| instead);
        [Some(name), instead].into_iter().flatten().find(|name| self.is_listed(name))
    }

    /// A sentence that names listed tools in place of those that are not. What is quoted is the caller's own word.
    pub fn fitted_advice<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut fitted = Cow::Borrowed(text);
        for (hidden, instead) in self.instead() {
            if fitted.contains(hidden) && !self.is_listed(hidden) && self.is_listed(instead) {
                fitted = Cow::Owned(replace_word(&fitted, hidden, instead));
            }
        }
        fitted
    }
}

/// Where the word stands alone and not in quotes.
fn replace_word(text: &str, word: &str, by: &str) -> String {
    let mut replaced = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(word) {
        let (before, after) = (&rest[..at], &rest[at + word.len()..]);
        let stands_alone = |neighbour: Option<char>| {
            neighbour.is_none_or(|sign| !sign.is_alphanumeric() && !matches!(sign, '_' | '\'' | '"'))
        };
        let left = before.chars().next_back().or_else(|| replaced.chars().next_back());
        replaced.push_str(before);
        replaced.push_str(if stands_alone(left) && stands_alone(after.chars().next()) { by } else { word });
        rest = after;
    }
    replaced.push_str(rest);
    replaced
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_replaced_where_it_stands_alone() {
        let check = |text: &str, expected: &str| assert_eq!(replace_word(text, "get_ocr", "look"), expected);
        check("read it with get_ocr", "read it with look");
        check("get_ocr, then (get_ocr)", "look, then (look)");
        check("'get_ocr' is unknown", "'get_ocr' is unknown");
        check("get_ocrs and my_get_ocr", "get_ocrs and my_get_ocr");
        check("", "");
    }
}
