//! Where a task may begin, judged before a browser starts: by the rules that the browser's proxy holds it to later.

use std::net::{IpAddr, ToSocketAddrs};
use std::sync::mpsc;
use std::time::Duration;

use url::Url;

use crate::config::BrowserConfig;
use crate::error::{Error, Kind, Result};
use crate::platform::browser::network::{NetworkRules, RequestedHost};

/// A name that is not looked up in this time is left to the proxy.
const LOOKED_UP_WITHIN: Duration = Duration::from_secs(1);

/// The address of a page of the web, in its one spelling.
pub fn check_start_url(text: &str, browser: &BrowserConfig, field: &'static str) -> Result<String> {
    check_web_url(text, &NetworkRules::new(browser, None), field).map(|url| url.to_string())
}

/// Http or https, without a login in it, to a host that the rules allow.
pub fn check_web_url(text: &str, rules: &NetworkRules, field: &'static str) -> Result<Url> {
    let url = Url::parse(text.trim()).map_err(|problem| {
        let message = format!("'{field}' is no address: {problem}; give one like https://example.org/page");
        Error::bad_request(message).with("field", field)
    })?;
    let refused = |why: String| {
        Error::new(Kind::PermissionDenied, format!("'{field}' is refused: {why}")).with("field", field)
    };
    check_form(&url).map_err(refused)?;
    let (name, port) = (url.host_str().unwrap_or_default(), url.port_or_known_default().unwrap_or_default());
    let host = RequestedHost::parse(name).ok_or_else(|| refused(format!("'{name}' is no host")))?;
    let named = |why: String| refused(format!("{}: {why}", host.shown()));
    rules.check_host(&host, port).map_err(named)?;
    let mut addresses = addresses_of(&host).into_iter();
    addresses.try_for_each(|address| rules.check_address(&host, address, port).map_err(named))?;
    Ok(url)
}

fn addresses_of(host: &RequestedHost) -> Vec<IpAddr> {
    match host {
        RequestedHost::Address(address) => vec![*address],
        RequestedHost::Name(name) => look_up(name),
    }
}

fn check_form(url: &Url) -> Result<(), String> {
    if !matches!(url.scheme(), "http" | "https") {
        return Err(format!("{}: is not opened; only http and https are", url.scheme()));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("it has a login in it; a browser profile keeps one".to_owned());
    }
    Ok(())
}

/// The addresses of a name; none where nobody says them in time.
pub fn look_up(name: &str) -> Vec<IpAddr> {
    let (answer, asked) = (mpsc::channel(), (name.to_owned(), 0));
    let (told, heard) = answer;
    std::thread::spawn(move || {
        let found = asked.to_socket_addrs().map(|all| all.map(|each| each.ip()).collect());
        let _ = told.send(found.unwrap_or_default());
    });
    heard.recv_timeout(LOOKED_UP_WITHIN).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::HostRule;

    fn check(url: &str, expected: Result<&str, (Kind, &str)>) {
        let rule = |text: &str| HostRule::parse(text).unwrap();
        let browser = BrowserConfig {
            network_allow: vec![rule("*"), rule("127.0.0.1:8000")],
            network_deny: vec![rule("bad.example")],
            ..BrowserConfig::default()
        };
        match (check_start_url(url, &browser, "startUrl"), expected) {
            (Ok(got), Ok(expected)) => assert_eq!(got, expected),
            (Err(error), Err((kind, word))) => {
                assert!(error.kind == kind && error.message.contains(word), "{url}: {error}");
                assert_eq!(error.text_of("field"), Some("startUrl"), "{url}");
            }
            (got, _) => panic!("{url}: {got:?}"),
        }
    }

    /// The table of the design: nothing of it reaches a browser.
    #[test]
    fn only_pages_of_allowed_hosts_are_begun_with() {
        use Kind::{BadRequest, PermissionDenied};
        check("http://127.0.0.1:8000/a b", Ok("http://127.0.0.1:8000/a%20b"));
        for (url, kind, word) in [
            ("file:///etc/passwd", PermissionDenied, "file:"),
            ("chrome://settings", PermissionDenied, "chrome:"),
            ("javascript:alert(1)", PermissionDenied, "javascript:"),
            ("data:text/html,x", PermissionDenied, "data:"),
            ("about:blank", PermissionDenied, "about:"),
            ("https://ann:pw@example.org/", PermissionDenied, "login"),
            ("https://bad.example/", PermissionDenied, "network_deny"),
            ("http://127.0.0.1:8001/", PermissionDenied, "network_allow"),
            ("http://10.1.2.3/", PermissionDenied, "10.1.2.3"),
            ("http://[::1]/", PermissionDenied, "::1"),
            ("http://0x7f000001/", PermissionDenied, "127.0.0.1"),
            ("http://169.254.169.254/latest", PermissionDenied, "169.254.169.254"),
            ("http://localhost/", PermissionDenied, "localhost"),
            ("nonsense", BadRequest, "no address"),
            ("", BadRequest, "no address"),
        ] {
            check(url, Err((kind, word)));
        }
    }
}
