//! The front door: whoever is let in has named this server by one of its names, as another library understands
//! that name; has come from no foreign page; and has shown the token where one is needed.
//!
//! A line `METHOD path`, then a line for each header. A first byte below five chooses the rules.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use axum::http::header::{HOST, ORIGIN};
use axum::http::request::Parts;
use axum::http::{HeaderName, HeaderValue, Method, Request};
use os_screen_observer::http::guard::{Admitted, Face, Rules, admit_request};
use os_screen_observer::http::token::Token;
use reqwest::Url;

const TOKEN: &str = "S3cret-Token";
const PORT: u16 = 5001;
const NAME: &str = "box.lan";
const LISTED: &str = "http://localhost:3000";
const LOCAL: Ipv4Addr = Ipv4Addr::new(192, 168, 1, 9);

pub fn check(data: &[u8]) {
    let (rules, text) = match data.split_first() {
        Some((&choice, rest)) if choice < 5 => (rules(choice), rest),
        _ => (rules(0), data),
    };
    let Some(parts) = request(text) else { return };
    let local = SocketAddr::from((LOCAL, PORT));
    let verdict = admit_request(&rules, &parts, local);
    let again = admit_request(&rules, &backwards(&parts), local);
    match (&verdict, &again) {
        (Ok(admitted), Ok(other)) => assert_eq!(admitted, other, "the order of the headers counts"),
        (Err(refusal), Err(_)) => {
            assert!(refusal.status.is_client_error(), "{refusal:?}");
            super::check_sentence(refusal.message());
        }
        _ => panic!("the order of the headers counts: {verdict:?}, {again:?}"),
    }
    if let Ok(admitted) = verdict {
        check_admitted(&rules, &parts, &admitted);
    }
}

fn rules(choice: u8) -> Rules {
    let token = Token::from_config(TOKEN).ok();
    let plain = Rules {
        face: Face::Own,
        names: vec![NAME.to_owned()],
        hosts: Vec::new(),
        port: PORT,
        cors_origins: Vec::new(),
        token: None,
    };
    match choice {
        0 => plain,
        1 => Rules { token, ..plain },
        2 => Rules { cors_origins: vec![LISTED.to_owned()], ..plain },
        3 => Rules { cors_origins: vec!["*".to_owned()], ..plain },
        _ => Rules { face: Face::Clickthrough, token, ..plain },
    }
}

fn request(text: &[u8]) -> Option<Parts> {
    let mut lines = text.split(|&byte| byte == b'\n');
    let first = String::from_utf8_lossy(lines.next()?).into_owned();
    let (method, path) = first.split_once(' ')?;
    let mut request = Request::builder().method(method).uri(path);
    for line in lines {
        let colon = line.iter().position(|&byte| byte == b':')?;
        let name = HeaderName::from_bytes(&line[..colon]).ok()?;
        request = request.header(name, HeaderValue::from_bytes(line[colon + 1..].trim_ascii()).ok()?);
    }
    Some(request.body(()).ok()?.into_parts().0)
}

/// The same request with its headers in the other order; those of one name keep theirs.
fn backwards(parts: &Parts) -> Parts {
    let mut other = parts.clone();
    other.headers.clear();
    let names: Vec<HeaderName> = parts.headers.keys().cloned().collect();
    for name in names.into_iter().rev() {
        for value in parts.headers.get_all(&name) {
            other.headers.append(name.clone(), value.clone());
        }
    }
    other
}

fn check_admitted(rules: &Rules, parts: &Parts, admitted: &Admitted) {
    let text = |name: &HeaderName| parts.headers.get(name).and_then(|value| value.to_str().ok());
    let hosts = parts.headers.get_all(HOST).iter().count();
    assert_eq!(hosts, 1, "let in with {hosts} hosts");
    let host = text(&HOST).expect("let in with a host that is no text");
    assert!(names_us(&format!("http://{host}/")), "let in as {host}");
    if let Some(authority) = parts.uri.authority() {
        assert!(names_us(&format!("http://{authority}/")), "let in for {authority}");
    }
    let listed = |origin: &str| rules.cors_origins.iter().any(|known| known == "*" || known == origin);
    assert!(parts.headers.get_all(ORIGIN).iter().count() <= 1, "let in with two origins");
    if let Some(origin) = parts.headers.get(ORIGIN) {
        let origin = origin.to_str().expect("let in from an origin that is no text");
        // A page of the very address that the request went to, whatever its port is.
        let is_us = |origin: &str| is_us(origin) || origin.eq_ignore_ascii_case(&format!("http://{host}"));
        assert!(is_us(origin) || listed(origin), "let in from {origin}");
        assert_eq!(
            admitted.cors.is_some(),
            listed(origin) && !is_us(origin),
            "told to read, or not, by {origin}"
        );
    }
    if text(&HeaderName::from_static("sec-fetch-site")).is_some_and(|site| site.ends_with("-site")) {
        assert!(text(&ORIGIN).is_some_and(listed), "let in from another site");
    }
    assert!(
        [Method::GET, Method::POST, Method::DELETE, Method::OPTIONS, Method::HEAD].contains(&parts.method),
        "let in with {}",
        parts.method
    );
    check_token(rules, parts);
}

/// A loopback name may have any port, because a forwarded one is not ours.
fn names_us(address: &str) -> bool {
    let with_our_port = |url: &Url| {
        let mut url = url.clone();
        url.set_port(Some(PORT)).map(|()| url.to_string()).unwrap_or_default()
    };
    let Ok(url) = Url::parse(address) else { return false };
    let is_loopback = ["localhost", "127.0.0.1", "[::1]"].contains(&url.host_str().unwrap_or_default());
    is_us(address) || (is_loopback && is_us(&with_our_port(&url)))
}

/// What a browser would make of the address: our machine, our port, and no encryption that we do not speak.
fn is_us(address: &str) -> bool {
    let Ok(url) = Url::parse(address) else { return false };
    let host = url.host_str().unwrap_or_default();
    let address: Option<IpAddr> = host.trim_matches(['[', ']']).parse().ok();
    let ours = [Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into(), IpAddr::from(LOCAL)];
    let known = match address {
        Some(address) => ours.contains(&address.to_canonical()),
        None => host == "localhost" || host == NAME,
    };
    let bare = url.path() == "/" && url.query().is_none() && url.fragment().is_none();
    let nobody = url.username().is_empty() && url.password().is_none();
    known && bare && nobody && url.scheme() == "http" && url.port_or_known_default() == Some(PORT)
}

fn check_token(rules: &Rules, parts: &Parts) {
    if rules.token.is_none() || parts.method == Method::OPTIONS || !rules.face.is_api(parts.uri.path()) {
        return;
    }
    let in_header = parts.headers.values().any(|value| value.as_bytes().ends_with(TOKEN.as_bytes()));
    let in_query = parts.uri.query().is_some_and(|query| query.contains(&format!("token={TOKEN}")));
    assert!(in_header || in_query, "let in to {} without the token", parts.uri);
}
