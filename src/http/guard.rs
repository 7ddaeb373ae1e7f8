//! The front door: who may come in, judged from the head of a request before it is routed and before its
//! body is read. One table of checks, the same for every route; it knows no tool and runs nothing.

use std::net::{IpAddr, SocketAddr};

use axum::http::header::{
    AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, HOST, ORIGIN, SEC_WEBSOCKET_PROTOCOL, TRANSFER_ENCODING,
};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};

use super::inspector;
use super::present::HttpRefusal;
use super::token::Token;
use crate::config::limits;

/// What the door knows: by which names this server is called, and what a caller has to show.
pub struct Rules {
    pub face: Face,
    /// Names besides the loopback ones and the address of the connection itself.
    pub names: Vec<String>,
    /// Names that the config lets in, with a port or with any.
    pub hosts: Vec<String>,
    pub port: u16,
    pub cors_origins: Vec<String>,
    pub token: Option<Token>,
}

/// Whose routes are behind the door.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Face {
    #[default]
    Own,
    /// Every path is one of the interface, and the token has a header of its own.
    Clickthrough,
    /// The same, and a GET may bring the token in its query.
    ScreenJob,
}

impl Face {
    pub fn is_api(self, path: &str) -> bool {
        match self {
            Face::Own => is_api(path),
            Face::Clickthrough => true,
            Face::ScreenJob => !inspector::is_for_jobs(path),
        }
    }

    /// Whether a path is for what only a person does.
    pub fn is_persons(self, path: &str) -> bool {
        let one_of =
            |root: &str| path.strip_prefix(root).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        self == Face::Own && (one_of("/api/halt") || one_of("/api/approvals"))
    }

    /// Whether a picture may be sent along.
    pub fn takes_pictures(self, path: &str) -> bool {
        self.most_bytes(path) > limits::HTTP_BODY_BYTES
    }

    /// How long a body may be; longer only where a picture may be sent along.
    pub fn most_bytes(self, path: &str) -> usize {
        match (self, path) {
            (Face::Clickthrough, "/vision/diff") => limits::HTTP_PICTURE_BODY_BYTES,
            _ => most_bytes(path),
        }
    }
}

/// What the door found out about a request that may come in.
#[derive(Debug, PartialEq)]
pub struct Admitted {
    /// The origin that may read the answer in a browser, if another than ours.
    pub cors: Option<HeaderValue>,
    /// A browser says that our own page asks.
    pub from_page: bool,
}

struct GuardedRequest<'a> {
    rules: &'a Rules,
    parts: &'a Parts,
    /// The address at which the connection arrived.
    local: IpAddr,
}

type GuardCheck = fn(&GuardedRequest) -> Result<(), HttpRefusal>;

/// In this order, so that a stranger learns nothing but that it is one.
const CHECKS: &[GuardCheck] =
    &[known_host, own_origin, own_site, known_method, json_body, bounded_body, right_token];

const CLICKTHROUGH_TOKEN: HeaderName = HeaderName::from_static("x-clickthrough-token");
const SCREENJOB_TOKEN: HeaderName = HeaderName::from_static("x-screenjob-token");
const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
/// Where pages watch, which can set no header, but name what they speak.
const SOCKET: &str = "/ws";
const TOKEN_PROTOCOL: &str = "bearer.";
const LOOPBACK_NAMES: &[&str] = &["localhost", "127.0.0.1", "[::1]"];

/// Pictures and streams that a browser fetches by address alone, where no header can be set.
const TOKEN_IN_QUERY: &[&str] = &["/api/events", "/api/approvals/"];

pub fn admit_request(rules: &Rules, parts: &Parts, local: SocketAddr) -> Result<Admitted, HttpRefusal> {
    let visit = GuardedRequest { rules, parts, local: local.ip().to_canonical() };
    CHECKS.iter().try_for_each(|check| check(&visit))?;
    let site = parts.headers.get(SEC_FETCH_SITE);
    Ok(Admitted {
        cors: visit.cors_origin().cloned(),
        from_page: site.is_some_and(|site| site == "same-origin"),
    })
}

/// Whether a path is for programs; the rest are the files of the page, which hold nothing private.
pub fn is_api(path: &str) -> bool {
    let roots = ["/api", "/mcp", "/v1"];
    roots.iter().any(|root| path.starts_with(root)) || path == SOCKET || path == "/health"
}

impl GuardedRequest<'_> {
    fn headers(&self) -> &HeaderMap {
        &self.parts.headers
    }

    fn path(&self) -> &str {
        self.parts.uri.path()
    }

    /// The one value of a header that must not be repeated.
    fn single_header(&self, name: &HeaderName) -> Result<Option<&HeaderValue>, ()> {
        let mut all = self.headers().get_all(name).iter();
        match (all.next(), all.next()) {
            (first, None) => Ok(first),
            _ => Err(()),
        }
    }

    /// `host:port` as a client writes it, if it is one of our names. A loopback name may have any port: a forwarded
    /// one is not ours, and no stranger can call a page of its own by such a name.
    fn is_us(&self, authority: &str) -> bool {
        let Some((host, port)) = host_and_port(authority) else {
            return false;
        };
        let host = host.to_ascii_lowercase();
        let address: Option<IpAddr> = host.trim_start_matches('[').trim_end_matches(']').parse().ok();
        let known = self.rules.names.iter().any(|name| name.eq_ignore_ascii_case(&host))
            || address.is_some_and(|address| address.to_canonical() == self.local);
        LOOPBACK_NAMES.contains(&host.as_str())
            || (known && port.unwrap_or(80) == self.rules.port)
            || self.rules.hosts.iter().any(|listed| is_listed_host(listed, authority, &host))
    }

    /// The origin of the request, if it is another than ours and the config lets it in.
    fn cors_origin(&self) -> Option<&HeaderValue> {
        let origin = self.headers().get(ORIGIN)?;
        let text = origin.to_str().ok()?;
        let listed = self.rules.cors_origins.iter().any(|listed| listed == "*" || listed == text);
        (listed && !self.is_own_origin(text)).then_some(origin)
    }

    /// Only the very address that the request went to: another server of this machine is a stranger too.
    fn is_own_origin(&self, origin: &str) -> bool {
        let host = self.headers().get(HOST).and_then(|host| host.to_str().ok());
        let same = |authority: &str| host.is_some_and(|host| host.eq_ignore_ascii_case(authority));
        let ours = |authority: &str| {
            self.is_us(authority)
                && host_and_port(authority).is_some_and(|(_, port)| port.unwrap_or(80) == self.rules.port)
        };
        origin.strip_prefix("http://").is_some_and(|authority| same(authority) || ours(authority))
    }
}

/// A name of the config, as it is written there: with its port, or without one for any.
fn is_listed_host(listed: &str, authority: &str, host: &str) -> bool {
    listed.eq_ignore_ascii_case(authority) || listed.eq_ignore_ascii_case(host)
}

/// Letters, digits, dots and dashes, or an address in brackets; anything else is no name of a host.
fn host_and_port(authority: &str) -> Option<(&str, Option<u16>)> {
    let (host, port) = match authority.rfind(':') {
        Some(at) if !authority[at..].contains(']') => (&authority[..at], Some(&authority[at + 1..])),
        _ => (authority, None),
    };
    let inside = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
    let plain = match inside {
        Some(address) => address.parse::<std::net::Ipv6Addr>().is_ok(),
        None => {
            !host.is_empty() && host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-".contains(&byte))
        }
    };
    let digits = |port: &str| !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
    match port {
        None if plain => Some((host, None)),
        Some(port) if plain && digits(port) => Some((host, Some(port.parse().ok()?))),
        _ => None,
    }
}

/// A page of another site can reach this server under a name of its own, but only by that name (DNS rebinding). The
/// protocol asks for this check:
/// <https://modelcontextprotocol.io/specification/2025-06-18/basic/transports#security-warning>
fn known_host(visit: &GuardedRequest) -> Result<(), HttpRefusal> {
    let missing = || HttpRefusal::new(StatusCode::BAD_REQUEST, "exactly one Host header is required");
    let host = visit.single_header(&HOST).ok().flatten().ok_or_else(missing)?;
    let line = visit.parts.uri.authority().map_or("", |authority| authority.as_str());
    let ours = host.to_str().is_ok_and(|host| visit.is_us(host)) && (line.is_empty() || visit.is_us(line));
    if ours {
        return Ok(());
    }
    Err(HttpRefusal::new(StatusCode::FORBIDDEN, "this Host is not allowed; see web_ui.hosts")
        .with_field("Host"))
}

/// <https://fetch.spec.whatwg.org/#origin-header>
fn own_origin(visit: &GuardedRequest) -> Result<(), HttpRefusal> {
    let refused = || {
        HttpRefusal::new(StatusCode::FORBIDDEN, "this Origin is not allowed; see web_ui.cors_origins")
            .with_field("Origin")
    };
    match visit.single_header(&ORIGIN).map_err(|()| refused())? {
        None => Ok(()),
        Some(origin) if origin.to_str().is_ok_and(|origin| visit.is_own_origin(origin)) => Ok(()),
        Some(_) if visit.cors_origin().is_some() => Ok(()),
        Some(_) => Err(refused()),
    }
}

/// Browsers say on whose behalf they ask, also where they send no Origin (pictures, links).
/// <https://www.w3.org/TR/fetch-metadata/>
fn own_site(visit: &GuardedRequest) -> Result<(), HttpRefusal> {
    let site = visit.single_header(&SEC_FETCH_SITE);
    let ours = match site {
        Ok(None) => true,
        Ok(Some(site)) => site == "same-origin" || site == "none" || visit.cors_origin().is_some(),
        Err(()) => false,
    };
    if ours {
        return Ok(());
    }
    Err(HttpRefusal::new(StatusCode::FORBIDDEN, "cross-site requests are not allowed")
        .with_field("Sec-Fetch-Site"))
}

fn known_method(visit: &GuardedRequest) -> Result<(), HttpRefusal> {
    let method = &visit.parts.method;
    let known = match *method {
        Method::GET | Method::POST | Method::DELETE | Method::OPTIONS => true,
        // The one thing that is changed in part.
        Method::PATCH => visit.path().starts_with("/v1/sessions/"),
        // A tool is not run for the sake of its headers; whether the server lives costs nothing.
        Method::HEAD => !visit.rules.face.is_api(visit.path()) || visit.path() == "/api/healthz",
        _ => false,
    };
    if known { Ok(()) } else { Err(HttpRefusal::method_not_allowed()) }
}

/// What a form or a script of another site can send without being asked is never JSON by its type.
fn json_body(visit: &GuardedRequest) -> Result<(), HttpRefusal> {
    let refused = || {
        HttpRefusal::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "send the body as Content-Type: application/json",
        )
        .with_field("Content-Type")
    };
    if visit.parts.method == Method::GET || visit.parts.method == Method::HEAD {
        return Ok(());
    }
    match visit.single_header(&CONTENT_TYPE).map_err(|()| refused())? {
        None if has_body(visit.headers()) => Err(refused()),
        None => Ok(()),
        // So tools say that they send nothing: `curl -d ''`, urllib with `data=b""`.
        Some(kind) if kind == FORM && visit.parts.method == Method::POST && !has_body(visit.headers()) => {
            Ok(())
        }
        Some(kind) if kind.to_str().is_ok_and(is_json) => Ok(()),
        Some(_) => Err(refused()),
    }
}

const FORM: &str = "application/x-www-form-urlencoded";

fn is_json(kind: &str) -> bool {
    kind.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"))
}

fn has_body(headers: &HeaderMap) -> bool {
    let length = headers.get(CONTENT_LENGTH);
    headers.contains_key(TRANSFER_ENCODING) || length.is_some_and(|length| length != "0")
}

/// What is known to be too long is not read at all.
fn bounded_body(visit: &GuardedRequest) -> Result<(), HttpRefusal> {
    let length =
        visit.headers().get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
    let most = visit.rules.face.most_bytes(visit.path());
    if length.is_some_and(|length| length > most as u64) { Err(HttpRefusal::too_large(most)) } else { Ok(()) }
}

/// Whether a body may be longer than most bodies are.
pub fn may_be_long(headers: &HeaderMap) -> bool {
    let length = headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<usize>().ok());
    headers.contains_key(TRANSFER_ENCODING) || length.is_some_and(|length| length > limits::HTTP_BODY_BYTES)
}

fn most_bytes(path: &str) -> usize {
    match path {
        "/api/ocr" | "/api/tool/get_ocr" | "/api/vision/diff" | "/api/tool/vision_diff" => {
            limits::HTTP_PICTURE_BODY_BYTES
        }
        _ => limits::HTTP_BODY_BYTES,
    }
}

/// <https://www.rfc-editor.org/rfc/rfc6750#section-2.1>
fn right_token(visit: &GuardedRequest) -> Result<(), HttpRefusal> {
    let Some(token) = &visit.rules.token else {
        return Ok(());
    };
    if !visit.rules.face.is_api(visit.path()) || visit.parts.method == Method::OPTIONS {
        return Ok(());
    }
    let shown = visit.single_header(&AUTHORIZATION).ok().flatten().and_then(|value| value.to_str().ok());
    let shown = shown.and_then(|value| value.strip_prefix("Bearer "));
    let shown = shown.or_else(|| {
        let name = match visit.rules.face {
            Face::Own => return None,
            Face::Clickthrough => CLICKTHROUGH_TOKEN,
            Face::ScreenJob => SCREENJOB_TOKEN,
        };
        visit.single_header(&name).ok().flatten().and_then(|value| value.to_str().ok())
    });
    let shown = shown.or_else(|| socket_token(visit));
    let in_query = visit.parts.method == Method::GET
        && (visit.rules.face == Face::ScreenJob
            || TOKEN_IN_QUERY.iter().any(|prefix| visit.path().starts_with(prefix)));
    let shown = shown.or_else(|| in_query.then(|| query_token(visit.parts.uri.query()?)).flatten());
    match shown {
        Some(shown) if token.matches_token(shown) => Ok(()),
        Some(_) if escaped_socket_token(visit).is_some_and(|shown| token.matches_token(&shown)) => Ok(()),
        Some(_) => Err(HttpRefusal::wrong_token()),
        None => Err(HttpRefusal::new(StatusCode::UNAUTHORIZED, how_to_show_token(visit.rules.face))),
    }
}

fn how_to_show_token(face: Face) -> &'static str {
    match face {
        Face::ScreenJob => {
            "a token is required: the value of SCREENJOB_TOKEN, as X-ScreenJob-Token or Authorization: Bearer"
        }
        _ => {
            "a token is required, as Authorization: Bearer TOKEN; the server printed where to find it when it started"
        }
    }
}

/// The token among the protocols that a WebSocket offers.
fn socket_token<'a>(visit: &'a GuardedRequest) -> Option<&'a str> {
    let offered = visit.single_header(&SEC_WEBSOCKET_PROTOCOL).ok().flatten()?.to_str().ok()?;
    let mut protocols = offered.split(',').filter(|_| visit.path() == SOCKET);
    protocols.find_map(|protocol| protocol.trim().strip_prefix(TOKEN_PROTOCOL))
}

/// The same where its characters are escaped as in an address: not all that a token may have are those of a protocol.
fn escaped_socket_token(visit: &GuardedRequest) -> Option<String> {
    let escaped = socket_token(visit)?;
    let (token, _) = form_urlencoded::parse(escaped.as_bytes()).next()?;
    Some(token.into_owned())
}

fn query_token(query: &str) -> Option<&str> {
    query.split('&').find_map(|pair| pair.strip_prefix("token="))
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::Request;

    fn rules() -> Rules {
        Rules {
            face: Face::Own,
            names: vec!["box.lan".to_owned()],
            hosts: vec!["oso".to_owned(), "front.lan:8443".to_owned()],
            port: 5001,
            cors_origins: Vec::new(),
            token: None,
        }
    }

    fn status(rules: &Rules, request: &str, headers: &[(&str, &str)]) -> u16 {
        let (method, path) = request.split_once(' ').unwrap();
        let mut builder = Request::builder().method(method).uri(path);
        for (name, value) in headers {
            builder = builder.header(*name, *value);
        }
        let (parts, ()) = builder.body(()).unwrap().into_parts();
        match admit_request(rules, &parts, "192.168.1.9:5001".parse().unwrap()) {
            Ok(_) => 200,
            Err(refusal) => refusal.status.as_u16(),
        }
    }

    #[track_caller]
    fn check(request: &str, headers: &[(&str, &str)], expected: u16) {
        let mut all = vec![("host", "localhost:5001")];
        all.extend_from_slice(headers);
        assert_eq!(status(&rules(), request, &all), expected, "{request} with {headers:?}");
    }

    #[track_caller]
    fn check_host(host: &str, expected: u16) {
        assert_eq!(status(&rules(), "GET /api/windows", &[("host", host)]), expected, "Host: {host}");
    }

    /// H-01, H-02 on code: the spellings of Host.
    #[test]
    fn hosts() {
        for ours in [
            "localhost:5001",
            "LocalHost:5001",
            "127.0.0.1:5001",
            "[::1]:5001",
            "192.168.1.9:5001",
            "box.lan:5001",
            // As a forwarded port is called.
            "localhost",
            "localhost:8080",
            "127.0.0.1:49152",
            "oso:5001",
            "OSO:80",
            "oso",
            "front.lan:8443",
        ] {
            check_host(ours, 200);
        }
        for foreign in [
            "evil.example:5001",
            "box.lan:5002",
            "front.lan:8080",
            "front.lan",
            "localhost:",
            "localhost:+5001",
            "127.0.0.1.evil.example:5001",
            "localhost.evil:5001",
            "localhost.:5001",
            "0.0.0.0:5001",
            "192.168.1.8:5001",
            "",
            ":5001",
            "localhost:5001@evil",
            "evil@localhost:5001",
            "localhost:5001, evil:5001",
            "::1:5001",
            "[::1",
            "[localhost]:5001",
            "127.1:5001",
            "2130706433:5001",
        ] {
            check_host(foreign, 403);
        }
        assert_eq!(status(&rules(), "GET /api/windows", &[]), 400);
        check("GET /api/windows", &[("host", "localhost:5001")], 400);
        check("GET http://evil.example/api/windows", &[], 403);
        check("GET http://localhost:5001/api/windows", &[], 200);
    }

    /// H-03 on code: the spellings of Origin.
    #[test]
    fn origins() {
        let post =
            |origin: &'static str, expected| check("POST /api/action", &[("origin", origin)], expected);
        post("http://localhost:5001", 200);
        post("http://127.0.0.1:5001", 200);
        post("http://evil.example", 403);
        post("null", 403);
        post("http://localhost:3000", 403);
        post("http://localhost:5002", 403);
        post("http://oso", 403);
        post("https://localhost:5001", 403);
        post("http://localhost:5001.evil", 403);
        let forwarded = [("host", "localhost:8080"), ("origin", "http://localhost:8080")];
        assert_eq!(status(&rules(), "POST /api/action", &forwarded), 200);
        let neighbour = [("host", "localhost:8080"), ("origin", "http://localhost:3000")];
        assert_eq!(status(&rules(), "POST /api/action", &neighbour), 403);
        let twice = [("origin", "http://localhost:5001"), ("origin", "http://evil.example")];
        check("POST /api/action", &twice, 403);
    }

    /// H-06 on code: on whose behalf a browser asks.
    #[test]
    fn fetch_metadata() {
        for (site, expected) in [("same-origin", 200), ("none", 200), ("same-site", 403), ("cross-site", 403)]
        {
            check("GET /api/bring_to_foreground?window_index=0", &[("sec-fetch-site", site)], expected);
            check("GET /", &[("sec-fetch-site", site)], expected);
        }
    }

    /// H-05, H-11 on code: types and lengths.
    #[test]
    fn bodies() {
        let long = [("content-length", "9")];
        check("POST /api/action", &[], 200);
        check("POST /api/action", &[("content-length", "0")], 200);
        check("POST /api/action", &long, 415);
        check("POST /api/action", &[("transfer-encoding", "chunked")], 415);
        for (kind, expected) in [
            ("application/json", 200),
            ("application/json; charset=utf-8", 200),
            ("Application/JSON", 200),
            ("text/plain", 415),
            ("application/x-www-form-urlencoded", 415),
            ("multipart/form-data; boundary=x", 415),
            ("text/plain; application/json", 415),
        ] {
            check("POST /api/action", &[("content-type", kind), long[0]], expected);
            check("DELETE /api/snapshot/x", &[("content-type", kind)], expected);
        }
        let json = ("content-type", "application/json");
        check("POST /api/action", &[json, ("content-length", "2097152")], 413);
        check("POST /api/ocr", &[json, ("content-length", "2097152")], 200);
    }

    /// H-07 on code: methods.
    #[test]
    fn methods() {
        for (request, expected) in [
            ("PUT /api/action", 405),
            ("PATCH /api/action", 405),
            ("TRACE /", 405),
            ("CONNECT /", 405),
            ("HEAD /", 200),
            ("HEAD /api/bring_to_foreground", 405),
            ("OPTIONS /api/action", 200),
        ] {
            check(request, &[], expected);
        }
    }

    #[track_caller]
    fn check_token(request: &str, shown: Option<&str>, expected: u16) {
        let rules = Rules { token: Some(Token::from_config("S3cret-Token").unwrap()), ..rules() };
        let mut headers = vec![("host", "localhost:5001")];
        headers.extend(shown.map(|value| ("authorization", value)));
        assert_eq!(status(&rules, request, &headers), expected, "{request} with {shown:?}");
    }

    /// H-08 on code: the places and spellings of a token.
    #[test]
    fn tokens() {
        let path = "POST /api/action";
        check_token(path, None, 401);
        check_token(path, Some("Bearer wrong"), 401);
        check_token(path, Some("bearer S3cret-Token"), 401);
        check_token(path, Some("Bearer s3cret-token"), 401);
        check_token(path, Some("Bearer S3cret-Token "), 401);
        check_token(path, Some("S3cret-Token"), 401);
        check_token(path, Some("Bearer S3cret-Token"), 200);
        check_token("POST /api/action?token=S3cret-Token", None, 401);
        check_token("GET /api/windows?token=S3cret-Token", None, 401);
        check_token("GET /api/events?token=S3cret-Token", None, 200);
        check_token("GET /api/events?a=b&token=S3cret-Token", None, 200);
        check_token("GET /api/approvals/1/picture?token=S3cret-Token", None, 200);
        check_token("POST /api/approvals/1?token=S3cret-Token", None, 401);
        check_token("POST /mcp", None, 401);
        check_token("GET /api/healthz", None, 401);
        check_token("GET /", None, 200);
        check_token("OPTIONS /api/action", None, 200);
    }

    /// H-08 on code: the header of the other face counts there alone.
    #[test]
    fn the_other_face_has_a_token_of_its_own() {
        let token = Some(Token::from_config("S3cret-Token").unwrap());
        let rules = Rules { face: Face::Clickthrough, token, ..rules() };
        let asks = |request: &str, name: &str, value: &str| {
            status(&rules, request, &[("host", "localhost:5001"), (name, value)])
        };
        for path in ["GET /health", "POST /see", "GET /nowhere"] {
            assert_eq!(asks(path, "x-clickthrough-token", "S3cret-Token"), 200, "{path}");
            assert_eq!(asks(path, "authorization", "Bearer S3cret-Token"), 200, "{path}");
            assert_eq!(asks(path, "x-clickthrough-token", "s3cret-token"), 401, "{path}");
            assert_eq!(asks(path, "x-other", "S3cret-Token"), 401, "{path}");
        }
        assert_eq!(asks("HEAD /health", "x-clickthrough-token", "S3cret-Token"), 405);
        check_token_header_is_nothing_elsewhere();
    }

    fn check_token_header_is_nothing_elsewhere() {
        let rules = Rules { token: Some(Token::from_config("S3cret-Token").unwrap()), ..rules() };
        let headers = [("host", "localhost:5001"), ("x-clickthrough-token", "S3cret-Token")];
        assert_eq!(status(&rules, "GET /api/windows", &headers), 401);
    }

    #[test]
    fn listed_origins_are_let_in_and_told() {
        let listed = Rules { cors_origins: vec!["http://localhost:3000".to_owned()], ..rules() };
        let asks = |rules: &Rules, origin: &str| {
            let headers = [("host", "localhost:5001"), ("origin", origin), ("sec-fetch-site", "same-site")];
            status(rules, "GET /api/windows", &headers)
        };
        assert_eq!(asks(&listed, "http://localhost:3000"), 200);
        assert_eq!(asks(&listed, "http://localhost:3001"), 403);
        let open = Rules { cors_origins: vec!["*".to_owned()], ..rules() };
        assert_eq!(asks(&open, "http://evil.example"), 200);
        let headers = [("host", "localhost:5001"), ("sec-fetch-site", "cross-site")];
        assert_eq!(status(&open, "GET /api/windows", &headers), 403, "a picture tag sends no Origin");
    }
}
