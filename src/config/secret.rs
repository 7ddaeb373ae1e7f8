//! Values of the configuration that must not be printed. They show a mask to `Debug`, `Display` and
//! serialisation alike, so that a log line or a report cannot carry them out by accident.

use std::fmt;

use serde::{Deserialize, Serialize, Serializer};

const MASK: &str = "***";

/// A key or a password. Only `reveal` gives it out, so every use can be found by that word.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct Secret(String);

impl Secret {
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// Compares in a time that does not tell how much of it is right.
    pub fn is(&self, shown: &str) -> bool {
        let (own, shown) = (self.0.as_bytes(), shown.as_bytes());
        let differing = (0..own.len().max(shown.len())).fold(own.len() ^ shown.len(), |differing, at| {
            let at = |bytes: &[u8]| usize::from(bytes.get(at).copied().unwrap_or(0));
            std::hint::black_box(differing | (at(own) ^ at(shown)))
        });
        differing == 0
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(MASK)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(MASK)
    }
}

impl Serialize for Secret {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(MASK)
    }
}

/// The address of a service. People put keys into its user part, so that part is masked when shown.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct Endpoint(String);

impl Endpoint {
    pub fn new(url: impl Into<String>) -> Self {
        Self(url.into())
    }

    /// The whole address, for the request itself.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (scheme, rest) = self.0.split_once("://").unwrap_or(("", &self.0));
        let authority_ends = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(authority_ends);
        let path = path.split(['?', '#']).next().unwrap_or_default();
        match authority.rsplit_once('@') {
            Some((_, host)) => write!(out, "{scheme}://{MASK}@{host}{path}"),
            None => write!(out, "{scheme}://{authority}{path}"),
        }
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{self}")
    }
}

impl Serialize for Endpoint {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(url: &str, shown: &str) {
        let endpoint = Endpoint::new(url);
        assert_eq!(endpoint.to_string(), shown);
        assert_eq!(format!("{endpoint:?}"), shown);
        assert_eq!(serde_json::to_value(&endpoint).unwrap(), shown);
        assert_eq!(endpoint.reveal(), url);
    }

    #[test]
    fn endpoints_hide_user_and_query() {
        check("http://localhost:3000", "http://localhost:3000");
        check("https://user:key@host/v1", "https://***@host/v1");
        check("https://a@b@host", "https://***@host");
        check("https://host/v1?key=k#f", "https://host/v1");
    }

    #[test]
    fn only_the_same_secret_is_it() {
        let secret = Secret::new("hunter2");
        for (shown, expected) in [
            ("hunter2", true),
            ("hunter3", false),
            ("hunter", false),
            ("hunter22", false),
            ("", false),
            ("hunter2\0", false),
        ] {
            assert_eq!(secret.is(shown), expected, "{shown}");
        }
    }

    #[test]
    fn secrets_show_nothing() {
        let secret = Secret::new("hunter2");
        assert_eq!(format!("{secret} {secret:?}"), "*** ***");
        assert_eq!(serde_json::to_value(&secret).unwrap(), "***");
        assert_eq!(secret.reveal(), "hunter2");
    }
}
