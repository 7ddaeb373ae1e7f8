//! Where a page is from: scheme, host and port. Browsers tell `localhost` and `localhost.` apart, and an address from
//! the same one written for version 6; the network does not, and neither do rules.

use std::fmt;

use serde::{Deserialize, Serialize};
use url::{Host, Url};

/// An origin in its one spelling, such as `https://bank.example`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct PageOrigin(String);

impl PageOrigin {
    /// As a rule writes it: without a path.
    pub fn parse(text: &str) -> Result<Self, String> {
        let expected = || "expected an origin such as https://bank.example, without a path".to_owned();
        let url = Url::parse(text.trim()).map_err(|_| expected())?;
        let is_bare = url.path() == "/" && url.query().is_none() && url.fragment().is_none();
        let is_nobody = url.username().is_empty() && url.password().is_none();
        Self::of_parsed(&url).filter(|_| is_bare && is_nobody).ok_or_else(expected)
    }

    /// The origin of a page; `None` for one of no site, such as a file or a `data:` page.
    pub fn of_url(url: &str) -> Option<Self> {
        Self::of_parsed(&Url::parse(url).ok()?)
    }

    fn of_parsed(url: &Url) -> Option<Self> {
        let is_web = matches!(url.scheme(), "http" | "https");
        is_web.then(|| Self(with_canonical_host(url).origin().ascii_serialization()))
    }
}

/// The same with the one spelling of its host that the network knows. What has no other spelling stays as it is.
fn with_canonical_host(url: &Url) -> Url {
    let mut same = url.clone();
    let name = match url.host() {
        Some(Host::Domain(name)) => name.trim_end_matches('.').to_owned(),
        Some(Host::Ipv6(address)) => match address.to_ipv4_mapped() {
            Some(address) => address.to_string(),
            None => return same,
        },
        Some(Host::Ipv4(_)) | None => return same,
    };
    if same.set_host(Some(&name)).is_err() { url.clone() } else { same }
}

impl fmt::Display for PageOrigin {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl From<PageOrigin> for String {
    fn from(origin: PageOrigin) -> String {
        origin.0
    }
}

impl TryFrom<String> for PageOrigin {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        PageOrigin::parse(&text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Option<&str>) {
        assert_eq!(
            PageOrigin::parse(text).ok().map(|origin| origin.to_string()).as_deref(),
            expected,
            "{text}"
        );
    }

    #[test]
    fn a_rule_names_an_origin_and_nothing_more() {
        check("https://bank.example", Some("https://bank.example"));
        check(" HTTPS://Bank.Example:443/ ", Some("https://bank.example"));
        check("http://127.1:8080", Some("http://127.0.0.1:8080"));
        check("https://bank.example.:443", Some("https://bank.example"));
        check("http://[::1]:80", Some("http://[::1]"));
        for text in
            ["bank.example", "https://bank.example/login", "https://u@bank.example", "file:///x", "*", ""]
        {
            check(text, None);
        }
    }

    /// H-404 on code: another spelling of a host is the same host
    #[test]
    fn a_page_has_the_origin_of_its_address() {
        let of = |url: &str| PageOrigin::of_url(url).map(|origin| origin.to_string());
        assert_eq!(of("https://bank.example/a?b#c").as_deref(), Some("https://bank.example"));
        assert_eq!(
            of("https://bank.example.evil.example/").as_deref(),
            Some("https://bank.example.evil.example")
        );
        assert_eq!(of("https://bank.example@evil.example/").as_deref(), Some("https://evil.example"));
        assert_eq!(of("http://localhost.:7820/x").as_deref(), Some("http://localhost:7820"));
        assert_eq!(of("http://[::ffff:127.0.0.1]:7820/").as_deref(), Some("http://127.0.0.1:7820"));
        assert_eq!(of("http://[::ffff:7f00:1]/").as_deref(), Some("http://127.0.0.1"));
        assert_eq!(of("http://127.0.0.1./").as_deref(), Some("http://127.0.0.1"));
        for url in ["about:blank", "data:text/html,x", "file:///x", "blob:https://bank.example/x", ""] {
            assert_eq!(of(url), None, "{url}");
        }
    }
}
