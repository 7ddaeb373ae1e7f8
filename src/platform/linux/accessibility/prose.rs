//! The text of pages and documents: what a paragraph says that has no name.
//!
//! Chromium makes an element of every piece of text; Firefox and LibreOffice keep it in the paragraph, with a sign
//! in the place of each element that stands in it.

use super::cache::{AtspiNode, Kids, Nodes};

/// Stands for an element in a text.
const EMBEDDED: char = '\u{fffc}';

/// The text of a paragraph, with the names of the elements that stand in it. Nothing where it has no words of its
/// own: then it only holds others.
pub fn paragraph_text(text: &str, node: &AtspiNode, nodes: &Nodes) -> Option<String> {
    own_words(text)?;
    let kids: &[_] = if let Kids::Known(kids) = &node.kids { kids } else { &[] };
    let mut names = kids.iter().map(|kid| nodes.get(kid).map_or("", |kid| kid.name.trim()));
    let mut whole = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            EMBEDDED => whole.push_str(names.next().unwrap_or_default()),
            letter => whole.push(letter),
        }
    }
    Some(squeeze_blanks(&whole))
}

/// The words that stand in a page itself, beside its elements.
pub fn own_words(text: &str) -> Option<String> {
    let words = squeeze_blanks(&text.replace(EMBEDDED, " "));
    (!words.is_empty()).then_some(words)
}

/// Blanks in a row are one; lines stay.
fn squeeze_blanks(text: &str) -> String {
    let lines = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
    lines.filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::super::object::AtspiObject;
    use super::*;

    fn check(text: &str, kids: &[&str], expected: Option<&str>) {
        let object = |at: usize| AtspiObject::new(":1.1", &format!("/{at}"));
        let named = |name: &&str| AtspiNode { name: (*name).to_owned(), ..AtspiNode::default() };
        let nodes: Nodes = kids.iter().enumerate().map(|(at, name)| (object(at), named(name))).collect();
        let node =
            AtspiNode { kids: Kids::Known((0..kids.len()).map(object).collect()), ..AtspiNode::default() };
        assert_eq!(paragraph_text(text, &node, &nodes).as_deref(), expected, "{text:?}");
    }

    #[test]
    fn elements_stand_in_a_text_by_their_names() {
        check("Plain paragraph one.", &[], Some("Plain paragraph one."));
        check("Mixed \u{fffc} tail words.", &["link"], Some("Mixed link tail words."));
        check("Name \u{fffc}", &[""], Some("Name"));
        check("a \u{fffc} b \u{fffc}", &["1"], Some("a 1 b"));
        check("pre  text\ntwo", &[], Some("pre text\ntwo"));
    }

    #[test]
    fn what_only_holds_elements_has_no_text() {
        check("", &[], None);
        check(" \n", &[], None);
        check("\u{fffc}\u{fffc}", &["one", "two"], None);
        assert_eq!(own_words("\u{fffc} beside \u{fffc}").as_deref(), Some("beside"));
    }
}
