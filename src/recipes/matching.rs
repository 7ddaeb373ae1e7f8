//! Which recipes are for an address. A pattern is an address with `*` in it; in the host a `*` ends at the path, so that
//! no address of another site matches by what stands in its path or query.

use url::Url;

use super::format::Recipe;

/// A pattern of addresses, read: each part is matched by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UrlPattern {
    scheme: String,
    host: String,
    /// None matches the default port of the scheme, `*` any.
    port: Option<String>,
    path: String,
}

impl UrlPattern {
    pub fn read(pattern: &str) -> Result<Self, String> {
        let wrong = |why: &str| format!("\"{pattern}\" is no pattern of addresses: {why}");
        let (scheme, rest) = pattern
            .split_once("://")
            .ok_or_else(|| wrong("write it as https://HOST/PATH, with * for any characters"))?;
        if !matches!(scheme, "http" | "https" | "*") {
            return Err(wrong("it must begin with http://, https:// or *://"));
        }
        let (authority, path) = rest.find('/').map_or((rest, "/*"), |at| rest.split_at(at));
        if authority.contains('@') {
            return Err(wrong("it has a user name"));
        }
        let (host, port) = match authority.rsplit_once(':') {
            Some((host, port)) if !host.ends_with(':') && !port.ends_with(']') => (host, Some(port)),
            _ => (authority, None),
        };
        let is_port = |port: &str| port == "*" || port.parse::<u16>().is_ok();
        if host.is_empty() || port.is_some_and(|port| !is_port(port)) {
            return Err(wrong("the host, or its port, cannot be read"));
        }
        let (scheme, host) = (scheme.to_owned(), host.to_ascii_lowercase());
        Ok(Self { scheme, host, port: port.map(str::to_owned), path: path.to_owned() })
    }

    pub fn matches(&self, address: &str) -> bool {
        let Ok(url) = Url::parse(address) else { return false };
        let is_web = matches!(url.scheme(), "http" | "https");
        let Some(host) = url.host_str().filter(|_| is_web) else { return false };
        let port = match (self.port.as_deref(), url.port()) {
            (Some("*"), _) | (None, None) => true,
            (Some(wanted), port) => {
                port.or(url.port_or_known_default()).is_some_and(|port| wanted == port.to_string())
            }
            (None, Some(_)) => false,
        };
        let path = &url[url::Position::BeforePath..];
        port && (self.scheme == "*" || self.scheme == url.scheme())
            && fits(&self.host, host)
            && fits(&self.path, path)
    }

    /// How much of it is spelled out: of two patterns that match, the one that says more is meant.
    fn weight(&self) -> (usize, usize) {
        let spelled = |text: &str| text.chars().filter(|letter| *letter != '*').count();
        (spelled(&self.host), spelled(&self.path))
    }
}

/// Whether a text fits a pattern with `*`. Linear in both but for the last star, which never goes back before itself.
fn fits(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| text.strip_prefix(first)) else { return false };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else { return rest.is_empty() };
    for part in parts {
        match rest.find(part) {
            Some(at) => rest = rest.get(at + part.len()..).unwrap_or_default(),
            None => return false,
        }
    }
    rest.ends_with(last)
}

/// The recipe that says most about an address; of equals the first.
pub fn best_match<'a>(recipes: impl IntoIterator<Item = &'a Recipe>, address: &str) -> Option<&'a Recipe> {
    let mut best: Option<((usize, usize), &Recipe)> = None;
    for recipe in recipes {
        let weights = recipe.url_patterns.iter().filter_map(|pattern| UrlPattern::read(pattern).ok());
        let weight = weights.filter(|pattern| pattern.matches(address)).map(|pattern| pattern.weight()).max();
        if let Some(weight) = weight.filter(|weight| best.is_none_or(|(most, _)| *weight > most)) {
            best = Some((weight, recipe));
        }
    }
    best.map(|(_, recipe)| recipe)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(pattern: &str, address: &str, expected: bool) {
        assert_eq!(UrlPattern::read(pattern).unwrap().matches(address), expected, "{pattern} {address}");
    }

    #[test]
    fn an_address_is_matched_part_by_part() {
        check("https://gmgn.ai/*", "https://gmgn.ai/sol/token/x", true);
        check("https://gmgn.ai", "https://gmgn.ai/sol?x=1#y", true);
        check("https://gmgn.ai/*", "https://GMGN.AI/", true);
        check("https://gmgn.ai/*", "http://gmgn.ai/", false);
        check("*://gmgn.ai/*", "http://gmgn.ai/", true);
        check("https://*.gmgn.ai/*", "https://www.gmgn.ai/a", true);
        check("https://*.gmgn.ai/*", "https://gmgn.ai/a", false);
        check("https://shop.test/a/*/c", "https://shop.test/a/b/b/c", true);
        check("https://shop.test/a/*/c", "https://shop.test/a/b/c/d", false);
        check("http://127.0.0.1:*/catalog*", "http://127.0.0.1:8080/catalog.html", true);
        check("http://127.0.0.1:8080/*", "http://127.0.0.1:8081/", false);
        check("https://shop.test:443/*", "https://shop.test/", true);
        check("https://shop.test/*", "https://shop.test:8443/", false);
    }

    #[test]
    fn another_site_does_not_match_by_its_path() {
        check("https://gmgn.ai/*", "https://evil.test/https://gmgn.ai/", false);
        check("https://*.gmgn.ai/*", "https://evil.test/x.gmgn.ai/", false);
        check("https://gmgn.ai/*", "https://gmgn.ai@evil.test/", false);
        check("https://gmgn.ai/*", "https://gmgn.ai.evil.test/", false);
        check("*://*/*", "file:///etc/passwd", false);
        check("*://*/*", "javascript://x/alert(1)", false);
        check("*://*/*", "no address", false);
    }

    #[test]
    fn what_is_no_pattern_is_refused_with_the_reason() {
        for (pattern, expected) in [
            ("gmgn.ai", "write it as https://"),
            ("ftp://a/*", "must begin with"),
            ("https:///x", "the host"),
            ("https://a:x/", "its port"),
            ("https://user@a/", "user name"),
        ] {
            let said = UrlPattern::read(pattern).unwrap_err();
            assert!(said.contains(expected), "{pattern}: {said}");
        }
    }

    #[test]
    fn the_pattern_that_says_most_is_meant() {
        let recipe = |id: &str, pattern: &str| Recipe {
            id: id.to_owned(),
            url_patterns: vec![pattern.to_owned()],
            ..Recipe::default()
        };
        let all = [
            recipe("any", "*://*/*"),
            recipe("site", "https://a.test/*"),
            recipe("page", "https://a.test/p/*"),
        ];
        for (address, expected) in
            [("https://a.test/p/1", "page"), ("https://a.test/q", "site"), ("http://b.test/", "any")]
        {
            assert_eq!(best_match(&all, address).map(|recipe| recipe.id.as_str()), Some(expected));
        }
        assert!(best_match(&all[1..], "https://c.test/").is_none());
    }

    proptest! {
        #[test]
        fn stars_match_what_a_regular_expression_would(pattern in "[ab*]{0,8}", text in "[ab]{0,10}") {
            let expression = format!("^{}$", pattern.replace('*', ".*"));
            prop_assert_eq!(fits(&pattern, &text), regex::Regex::new(&expression).unwrap().is_match(&text));
        }
    }
}
