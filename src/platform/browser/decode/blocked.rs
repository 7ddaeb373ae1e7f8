//! Pages that a site shows instead of its own to whom it takes for a machine. They are known by what they say; nothing
//! here helps to get past them.

use crate::model::{Role, Tree};

/// A page of a site has more than that; a page that blocks has a sentence and a box.
const MOST_ELEMENTS: usize = 60;

/// What a page says of itself in its title, from the beginning.
const TITLES: &[(&str, &str)] = &[
    ("just a moment", "Cloudflare's challenge"),
    ("attention required! | cloudflare", "Cloudflare's block page"),
    ("are you a robot", "a test for robots"),
    ("robot or human", "a test for robots"),
    ("human verification", "a test for robots"),
    ("pardon our interruption", "Imperva's block page"),
    ("access to this page has been denied", "a block page"),
];

/// What it says in its text, anywhere.
const TEXTS: &[(&str, &str)] = &[
    ("unusual traffic from your computer network", "Google's page for unusual traffic"),
    ("verify you are human", "a test for robots"),
    ("verifying you are human", "a test for robots"),
    ("checking if the site connection is secure", "Cloudflare's challenge"),
    ("enter the characters you see below", "a captcha"),
    ("complete the security check to access", "a captcha"),
    ("press & hold to confirm you are a human", "a test for robots"),
];

/// Where the frames of such pages are from.
const FRAMES: &[(&str, &str)] = &[
    ("challenges.cloudflare.com/", "Cloudflare's challenge"),
    ("hcaptcha.com/", "a captcha (hCaptcha)"),
    ("google.com/recaptcha/", "a captcha (reCAPTCHA)"),
    ("captcha-delivery.com/", "a captcha (DataDome)"),
];

/// What is said of a page that blocks; nothing for any other.
pub fn blocked_notice(tree: &Tree) -> Option<String> {
    if tree.len() > MOST_ELEMENTS {
        return None;
    }
    let by = blocked_by(tree)?;
    Some(format!(
        "the site shows {by} instead of its page: it wants a person. This server does not get past it; a person has to \
         (see docs/browser.md, \"Sites that refuse\")"
    ))
}

fn blocked_by(tree: &Tree) -> Option<&'static str> {
    tree.elements().iter().find_map(|element| {
        let name = element.name.to_lowercase();
        let title = || TITLES.iter().find(|(title, _)| element.is_document && name.starts_with(title));
        let frame = || {
            let url = element.value.as_deref().filter(|_| element.is_document)?;
            FRAMES.iter().find(|(place, _)| url.contains(place))
        };
        let says = || TEXTS.iter().find(|(text, _)| element.role != Role::Window && name.contains(text));
        title().or_else(frame).or_else(says).map(|(_, by)| *by)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Element, Rect, TreeBuilder};

    /// A page with a title, a text, and a frame from somewhere.
    fn page(title: &str, text: &str, frame: &str, more: usize) -> Tree {
        let element = |role: Role, name: &str| Element::new(role, name, Rect::default());
        let document = |name: &str, url: &str| Element {
            value: Some(url.to_owned()),
            is_document: true,
            ..element(Role::Document, name)
        };
        let mut tree = TreeBuilder::new(element(Role::Window, title));
        tree.open(document(title, "https://a.example/"));
        tree.add_leaf(element(Role::Text, text));
        tree.add_leaf(document("", frame));
        for _ in 0..more {
            tree.add_leaf(element(Role::Text, "more"));
        }
        tree.finish()
    }

    #[track_caller]
    fn check(title: &str, text: &str, frame: &str, more: usize, expected: Option<&str>) {
        let notice = blocked_notice(&page(title, text, frame, more));
        let fits = match (&notice, expected) {
            (Some(notice), Some(expected)) => notice.contains(expected),
            (notice, expected) => notice.is_none() == expected.is_none(),
        };
        assert!(fits, "{title} {text} {frame}: {notice:?}");
    }

    #[test]
    fn a_page_that_blocks_is_recognised() {
        check("Just a moment...", "", "", 0, Some("Cloudflare's challenge"));
        check(
            "Shop",
            "Verify you are human by completing the action below.",
            "",
            0,
            Some("a test for robots"),
        );
        check("Shop", "", "https://challenges.cloudflare.com/x", 0, Some("Cloudflare's challenge"));
        check(
            "Sorry",
            "Our systems have detected unusual traffic from your computer network.",
            "",
            0,
            Some("unusual"),
        );
    }

    #[test]
    fn other_pages_are_not() {
        check("Shop", "Buy ink", "https://a.example/frame", 0, None);
        check("News", "Just a moment...", "", 0, None);
        check("News", "Verify you are human", "", 100, None);
        check("Log in", "Log in", "https://www.google.com/recaptcha/api2/anchor", 100, None);
    }
}
