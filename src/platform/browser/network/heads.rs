//! The heads of requests and answers that pass the proxy, as far as it has to understand them.
//!
//! A request that is not `CONNECT` takes one connection for itself: both sides are told to close it, so that where its
//! body and its answer end is their matter and nothing of one request can be taken for another.

use std::io::{self, BufRead, ErrorKind, Read};

use super::rules::RequestedHost;

const LONGEST_REQUEST_HEAD: u64 = 64 << 10;
const LONGEST_ANSWER_HEAD: u64 = 256 << 10;

/// A request to the proxy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProxyRequest {
    pub host: RequestedHost,
    pub port: u16,
    /// What it says in `Proxy-Authorization`.
    pub authorization: Option<String>,
    pub kind: RequestKind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RequestKind {
    /// `CONNECT`: from now on bytes.
    Tunnel,
    /// The head as the host gets it.
    Plain(String),
}

/// Up to and with the empty line; `None` at the end of the connection.
fn read_head(from: &mut impl BufRead, longest: u64) -> io::Result<Option<String>> {
    let mut head = Vec::new();
    let mut from = from.take(longest);
    loop {
        let read = from.read_until(b'\n', &mut head)?;
        if read == 0 && head.is_empty() {
            return Ok(None);
        }
        if read == 0 || !head.ends_with(b"\n") {
            return Err(io::Error::new(ErrorKind::InvalidData, "the head is too long or ends early"));
        }
        if head.ends_with(b"\r\n\r\n") || head.ends_with(b"\n\n") {
            break;
        }
    }
    // Headers are bytes; those beyond ASCII stay what they are where each of them is one character.
    Ok(Some(head.iter().map(|byte| char::from(*byte)).collect()))
}

/// The text of a head as it is sent.
pub fn head_bytes(head: &str) -> Vec<u8> {
    head.chars().map(|character| u8::try_from(character).unwrap_or(b'?')).collect()
}

pub fn read_request(from: &mut impl BufRead) -> io::Result<Option<ProxyRequest>> {
    match read_head(from, LONGEST_REQUEST_HEAD)? {
        None => Ok(None),
        Some(head) => parse_request(&head)
            .map(Some)
            .ok_or_else(|| io::Error::new(ErrorKind::InvalidData, "this is no request to a proxy")),
    }
}

/// Headers that are between a client and its proxy, or between two hops.
const NOT_PASSED_ON: &[&str] =
    &["connection", "proxy-connection", "keep-alive", "proxy-authorization", "te", "upgrade"];

fn parse_request(head: &str) -> Option<ProxyRequest> {
    let (first, headers) = head.split_once('\n')?;
    let mut words = first.trim_end_matches('\r').split(' ');
    let (method, target, version) = (words.next()?, words.next()?, words.next()?);
    if words.next().is_some()
        || !version.starts_with("HTTP/1.")
        || !method.bytes().all(|b| b.is_ascii_uppercase())
    {
        return None;
    }
    let authorization = header(headers, "proxy-authorization").map(str::to_owned);
    if method == "CONNECT" {
        let (host, port) = host_and_port(target, None)?;
        return Some(ProxyRequest { host, port, authorization, kind: RequestKind::Tunnel });
    }
    let rest =
        target.get(..7).filter(|scheme| scheme.eq_ignore_ascii_case("http://")).map(|_| &target[7..])?;
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    let (host, port) = host_and_port(authority, Some(80))?;
    let path = if path.starts_with('/') { path.to_owned() } else { format!("/{path}") };
    // The name that was judged is the name that the host is told.
    let mut sent = format!("{method} {path} HTTP/1.1\r\nHost: {authority}\r\n");
    for line in kept_headers(headers) {
        if !is_named(line, "host") {
            sent.push_str(line);
            sent.push_str("\r\n");
        }
    }
    sent.push_str("Connection: close\r\n\r\n");
    Some(ProxyRequest { host, port, authorization, kind: RequestKind::Plain(sent) })
}

fn host_and_port(authority: &str, default: Option<u16>) -> Option<(RequestedHost, u16)> {
    // After the last colon that is not inside of an address.
    let (host, port) = match authority.rsplit_once(':').filter(|(_, port)| !port.contains(']')) {
        Some((host, port)) => (host, Some(port.parse().ok().filter(|port| *port > 0)?)),
        None => (authority, default),
    };
    Some((RequestedHost::parse(host)?, port?))
}

fn lines(headers: &str) -> impl Iterator<Item = &str> {
    headers.split('\n').map(|line| line.trim_end_matches('\r')).take_while(|line| !line.is_empty())
}

fn is_named(line: &str, name: &str) -> bool {
    line.split_once(':').is_some_and(|(own, _)| own.trim().eq_ignore_ascii_case(name))
}

fn header<'a>(headers: &'a str, name: &str) -> Option<&'a str> {
    let line = lines(headers).find(|line| is_named(line, name))?;
    line.split_once(':').map(|(_, value)| value.trim())
}

/// Lines without a name are left out: they would hang on the line before.
fn kept_headers(headers: &str) -> impl Iterator<Item = &str> {
    lines(headers)
        .filter(|line| line.contains(':') && !line.starts_with([' ', '\t']))
        .filter(|line| !NOT_PASSED_ON.iter().any(|name| is_named(line, name)))
}

/// The heads of an answer up to the one that its body follows, told to close.
pub fn read_answer_heads(from: &mut impl BufRead) -> io::Result<Option<String>> {
    let mut heads = String::new();
    loop {
        let Some(head) = read_head(from, LONGEST_ANSWER_HEAD)? else { return Ok(None) };
        let Some((first, headers)) = head.split_once('\n') else { return Ok(None) };
        let is_interim = first.split(' ').nth(1).is_some_and(|status| status.starts_with('1'));
        if !first.starts_with("HTTP/") {
            return Err(io::Error::new(ErrorKind::InvalidData, "the host does not answer in HTTP"));
        }
        if is_interim {
            // What is provisional is nobody's loss.
            continue;
        }
        heads.push_str(first.trim_end_matches('\r'));
        heads.push_str("\r\n");
        for line in kept_headers(headers) {
            heads.push_str(line);
            heads.push_str("\r\n");
        }
        heads.push_str("Connection: close\r\n\r\n");
        return Ok(Some(heads));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(head: &str, expected: Option<(&str, u16)>) {
        let request = parse_request(head);
        let place = request.as_ref().map(|request| (request.host.shown(), request.port));
        assert_eq!(place, expected.map(|(host, port)| (host.to_owned(), port)), "{head}");
    }

    #[test]
    fn requests_are_read() {
        check("CONNECT a.example:443 HTTP/1.1\r\n\r\n", Some(("a.example", 443)));
        check("CONNECT [::1]:443 HTTP/1.1\r\n\r\n", Some(("[::1]", 443)));
        check("GET http://a.example/x HTTP/1.1\r\n\r\n", Some(("a.example", 80)));
        check("GET http://[::ffff:127.0.0.1]:8080?q HTTP/1.1\r\n\r\n", Some(("127.0.0.1", 8080)));
    }

    #[test]
    fn what_is_no_request_to_a_proxy_is_refused() {
        for head in [
            "GET / HTTP/1.1\r\nHost: a\r\n\r\n",
            "CONNECT a.example HTTP/1.1\r\n\r\n",
            "CONNECT a.example:0 HTTP/1.1\r\n\r\n",
            "CONNECT u@a.example:443 HTTP/1.1\r\n\r\n",
            "GET http://u:p@a.example/ HTTP/1.1\r\n\r\n",
            "GET ftp://a.example/ HTTP/1.1\r\n\r\n",
            "GET http:///x HTTP/1.1\r\n\r\n",
            "GET http://a.example/ HTTP/2\r\n\r\n",
            "G\0T http://a.example/ HTTP/1.1\r\n\r\n",
            "nonsense\r\n\r\n",
        ] {
            check(head, None);
        }
    }

    #[test]
    fn the_host_gets_its_own_name_and_nothing_of_the_proxy() {
        let head = "GET http://a.example/x?y HTTP/1.1\r\nHost: other.example\r\nProxy-Authorization: Basic c2VjcmV0\r\n\
                    Connection: keep-alive\r\nAccept: */*\r\n folded\r\n\r\n";
        let request = parse_request(head).unwrap();
        assert_eq!(request.authorization.as_deref(), Some("Basic c2VjcmV0"));
        let sent = "GET /x?y HTTP/1.1\r\nHost: a.example\r\nAccept: */*\r\nConnection: close\r\n\r\n";
        assert_eq!(request.kind, RequestKind::Plain(sent.to_owned()));
    }

    #[test]
    fn heads_are_bounded() {
        let endless = "GET http://a.example/ HTTP/1.1\r\n".to_owned() + &"a: b\r\n".repeat(20_000);
        assert!(read_request(&mut endless.as_bytes()).is_err());
        assert!(read_request(&mut &b"GET http://a.example/ HTTP/1.1\r\n"[..]).is_err());
        assert_eq!(read_request(&mut &b""[..]).unwrap(), None);
    }

    #[test]
    fn an_answer_closes_its_connection() {
        let answer = "HTTP/1.1 103 Early\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nConnection: keep-alive\r\nX: \u{e9}\r\n\r\nbody";
        let mut from: &[u8] = &head_bytes(answer);
        let heads = read_answer_heads(&mut from).unwrap().unwrap();
        assert_eq!(heads, "HTTP/1.1 200 OK\r\nX: \u{e9}\r\nConnection: close\r\n\r\n");
        assert_eq!(head_bytes(&heads)[20], 0xe9);
        assert_eq!(from, b"body");
    }
}
