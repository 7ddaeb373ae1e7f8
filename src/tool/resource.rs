//! Answers of tools that can be read at an address of their own. A tool declares the address; reading it is
//! a call of that tool, which passes the gate like any other.

use serde_json::{Map, Value};

use super::call::{Call, Origin};

/// Where the list of windows is read, also by those who need to know which windows there are.
pub const WINDOWS: &str = "screen://windows";
/// The page that shows a picture of a window with its elements.
pub const WINDOW_PAGE: &str = "ui://os-screen-observer/window";

/// Stands for a window in an address.
const WINDOW: &str = "{uid}";

/// A call that looks, as an address.
#[derive(Clone, Copy, Debug)]
pub struct Resource {
    /// With `{uid}` in it where it is about one window.
    pub uri: &'static str,
    /// What it is of a window, or by itself.
    pub name: &'static str,
    /// One sentence for whoever chooses among resources.
    pub about: &'static str,
    /// The arguments beside the window, as JSON.
    pub args: &'static str,
    pub content: ResourceContent,
}

/// Which part of the reply is the content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResourceContent {
    Json,
    Outline,
    Picture,
}

impl ResourceContent {
    pub const fn mime_type(self) -> &'static str {
        match self {
            ResourceContent::Json => "application/json",
            ResourceContent::Outline => "text/plain",
            ResourceContent::Picture => "image/png",
        }
    }
}

/// What an address is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum About {
    Desktop,
    Window(String),
}

impl Resource {
    pub fn is_of_a_window(&self) -> bool {
        self.uri.contains(WINDOW)
    }

    /// The address for one window.
    pub fn of_window(&self, uid: &str) -> String {
        self.uri.replace(WINDOW, &percent_encode(uid))
    }

    /// What an address is about, if it is one of these. A uid is understood as it is and percent-encoded.
    pub fn matches(&self, uri: &str) -> Option<About> {
        let Some((before, after)) = self.uri.split_once(WINDOW) else {
            return (uri == self.uri).then_some(About::Desktop);
        };
        let uid = uri.strip_prefix(before)?.strip_suffix(after)?;
        percent_decode(uid).filter(|uid| !uid.is_empty()).map(About::Window)
    }

    /// The call of the tool that declares this.
    pub fn call(&self, tool: &str, about: &About, origin: Origin) -> Call {
        let mut args: Map<String, Value> = serde_json::from_str(self.args).unwrap_or_default();
        if let About::Window(uid) = about {
            args.insert("window_uid".to_owned(), uid.as_str().into());
        }
        Call { tool: tool.to_owned(), args: Value::Object(args), origin }
    }
}

/// As a URI template expands a variable: what is not plain ASCII is written in hexadecimal.
fn percent_encode(text: &str) -> String {
    text.bytes()
        .map(|byte| match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                char::from(byte).to_string()
            }
            other => format!("%{other:02X}"),
        })
        .collect()
}

/// Nothing when it is no text. A `%` that begins no number stands for itself.
fn percent_decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, behind @ ..] = rest {
        let number = behind.first_chunk::<2>().filter(|_| *first == b'%').and_then(hex_byte);
        bytes.push(number.unwrap_or(*first));
        rest = if number.is_some() { &behind[2..] } else { behind };
    }
    String::from_utf8(bytes).ok()
}

fn hex_byte(digits: &[u8; 2]) -> Option<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    Some(digit(digits[0])? * 16 + digit(digits[1])?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const OUTLINE: Resource = Resource {
        uri: "screen://window/{uid}/outline",
        name: "outline",
        about: "",
        args: r#"{"format":"outline"}"#,
        content: ResourceContent::Outline,
    };

    fn check(uri: &str, expected: Option<&str>) {
        assert_eq!(OUTLINE.matches(uri), expected.map(|uid| About::Window(uid.to_owned())), "{uri}");
    }

    #[test]
    fn a_uid_is_understood_plain_and_encoded() {
        check("screen://window/mock:app/outline", Some("mock:app"));
        check("screen://window/mock%3Aapp/outline", Some("mock:app"));
        check("screen://window/mock%3aapp/outline", Some("mock:app"));
        check("screen://window/a/b/outline", Some("a/b"));
        check("screen://window/100%/outline", Some("100%"));
        check("screen://window/%zz/outline", Some("%zz"));
    }

    #[test]
    fn what_is_another_address_is_not_taken() {
        check("screen://window//outline", None);
        check("screen://window/x/picture", None);
        check("screen://window/%ff/outline", None);
        check("screen://windows", None);
        check("", None);
    }

    #[test]
    fn the_call_names_the_window() {
        let call = OUTLINE.call("t", &About::Window("x:1".to_owned()), Origin::Test);
        assert_eq!(call.args, serde_json::json!({"format": "outline", "window_uid": "x:1"}));
    }

    proptest! {
        #[test]
        fn every_uid_comes_back(uid in ".+") {
            let uri = OUTLINE.of_window(&uid);
            prop_assert!(uri.is_ascii());
            prop_assert_eq!(OUTLINE.matches(&uri), Some(About::Window(uid)));
        }

        #[test]
        fn no_address_breaks_it(uri in ".*") {
            let _ = OUTLINE.matches(&uri);
            let _ = OUTLINE.matches(&format!("screen://window/{uri}/outline"));
        }
    }
}
