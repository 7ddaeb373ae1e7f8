//! The HTTP front door: hosts, origins, tokens, sizes, slow clients. Everything is tried on all three faces: REST, MCP
//! at `/mcp`, and the routes of Clickthrough behind a door of their own.
#![cfg(feature = "http")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use crate::support::http::{Answer, JSON, Site, answer, until};
use crate::support::{Client, PATIENCE};
use os_screen_observer::tool::{Effect, Method};
use os_screen_observer::tools;
use serde_json::{Value, json};

const TOKEN: &str = "S3NT1NEL-9f2c";

/// One face of the server, with a request that looks and one that acts.
struct Face {
    name: &'static str,
    site: Site,
    look: Request,
    act: Request,
}

#[derive(Clone)]
struct Request {
    method: &'static str,
    path: String,
    headers: Vec<(String, String)>,
    body: String,
}

impl Request {
    fn get(path: &str) -> Self {
        Self { method: "GET", path: path.to_owned(), headers: Vec::new(), body: String::new() }
    }

    fn post(path: &str, body: &Value) -> Self {
        let headers = vec![("content-type".to_owned(), "application/json".to_owned())];
        Self { method: "POST", path: path.to_owned(), headers, body: body.to_string() }
    }

    /// A call of the newer era, which needs no greeting.
    fn mcp(tool: &str, arguments: Value) -> Self {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
        });
        let params = json!({"name": tool, "arguments": arguments, "_meta": meta});
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
        let mut request = Self::post("/mcp", &body);
        for (name, value) in [
            ("accept", "application/json, text/event-stream"),
            ("mcp-protocol-version", "2026-07-28"),
            ("mcp-method", "tools/call"),
            ("mcp-name", tool),
        ] {
            request.headers.push((name.to_owned(), value.to_owned()));
        }
        request
    }

    /// Without the headers of that name, and with these lines in place of them.
    fn but(mut self, name: &str, lines: &[&str]) -> Self {
        self.headers.retain(|(known, _)| known != name);
        self.headers.extend(lines.iter().map(|line| (name.to_owned(), (*line).to_owned())));
        self
    }

    fn with(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    fn at(mut self, path: &str) -> Self {
        path.clone_into(&mut self.path);
        self
    }

    /// As it goes over the wire, up to the blank line; the body follows.
    fn text(&self, line: &str, host: &str) -> String {
        let mut text = format!("{line}\r\nconnection: close\r\n{host}");
        for (name, value) in &self.headers {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        if !self.body.is_empty() {
            text.push_str(&format!("content-length: {}\r\n", self.body.len()));
        }
        format!("{text}\r\n{}", self.body)
    }

    fn line(&self) -> String {
        format!("{} {} HTTP/1.1", self.method, self.path)
    }
}

impl Face {
    fn send(&self, request: &Request) -> Answer {
        self.site.raw(&request.text(&request.line(), &format!("host: {}\r\n", self.site.address)))
    }

    fn port(&self) -> u16 {
        self.site.address.port()
    }

    fn steps(&self) -> (u64, usize) {
        (self.site.app.session.step_count(), self.site.effects())
    }

    /// The request is refused with one of these, and nothing comes of it.
    #[track_caller]
    fn refuses(&self, what: &str, answer: &Answer, before: (u64, usize), expected: &[u16]) {
        assert!(expected.contains(&answer.status), "{} at {}: {answer:?}", what, self.name);
        assert_eq!(self.steps(), before, "{} at {} ran a tool", what, self.name);
    }

    #[track_caller]
    fn serves(&self, what: &str, answer: &Answer) {
        assert_eq!(answer.status, 200, "{} at {}: {answer:?}", what, self.name);
    }
}

fn faces() -> Vec<Face> {
    faces_with(&json!({}))
}

fn faces_with(config: &Value) -> Vec<Face> {
    let click = json!({"x": 1, "y": 2});
    let pixel = json!({"action": "click", "target": {"mode": "pixel", "x": 1, "y": 2}});
    vec![
        Face {
            name: "REST",
            site: Site::with(config.clone()),
            look: Request::get("/api/windows"),
            act: Request::post("/api/action", &json!({"action": "click_at", "x": 1, "y": 2})),
        },
        Face {
            name: "/mcp",
            site: Site::with(config.clone()),
            look: Request::mcp("list_windows", json!({})),
            act: Request::mcp("click_at", click),
        },
        Face {
            name: "clickthrough",
            site: Site::clickthrough(config.clone()),
            look: Request::get("/windows"),
            act: Request::post("/interact", &json!({"action": pixel})),
        },
    ]
}

// ---- hosts -------------------------------------------------------------------------------------------------

/// What stands behind `host:` with `PORT` for the port of the server.
const FOREIGN_HOSTS: &[&str] = &[
    "evil.example:PORT",
    "localhost:",
    "localhost:-PORT",
    "localhost:PORT000",
    "localhost: PORT",
    "127.0.0.1.evil.example:PORT",
    "localhost.evil:PORT",
    "evil-localhost:PORT",
    "localhost.:PORT",
    "127.0.0.1.:PORT",
    "0.0.0.0:PORT",
    "[::]:PORT",
    "",
    ":PORT",
    "localhost:PORT@evil",
    "evil@localhost:PORT",
    "localhost:PORT/",
    "localhost:PORT#",
    "http://localhost:PORT",
    "localhost:PORT,localhost:PORT",
    "localhost:PORT localhost:PORT",
    "[::1%lo]:PORT",
    "[::1%25lo]:PORT",
    "[::1]x:PORT",
    "[localhost]:PORT",
    "::1:PORT",
    "%6cocalhost:PORT",
    "localhost%00:PORT",
    "lοcalhost:PORT",
    "127.1:PORT",
    "2130706433:PORT",
    "0x7f.0.0.1:PORT",
    "0177.0.0.1:PORT",
];

/// H-01, H-02 on REST, /mcp, clickthrough: only a name of this server is served, however else it is spelt.
#[test]
fn only_our_own_names_are_answered() {
    for face in faces() {
        let port = face.port().to_string();
        let ask = |request: &Request, host: &str| {
            let host = format!("host: {}\r\n", host.replace("PORT", &port));
            face.site.raw(&request.text(&request.line(), &host))
        };
        for host in FOREIGN_HOSTS {
            for request in [&face.look, &face.act] {
                let before = face.steps();
                face.refuses(host, &ask(request, host), before, &[400, 403]);
            }
        }
        // A forwarded port has another number.
        for host in
            ["localhost:PORT", "LocalHost:PORT", "127.0.0.1:PORT", "[::1]:PORT", "localhost", "localhost:1"]
        {
            face.serves(host, &ask(&face.look, host));
        }
        assert_eq!(face.site.effects(), 0);
    }
}

/// H-02 on REST, /mcp, clickthrough: no Host, two of them, a folded one, and a request line that names another host.
#[test]
fn hosts_that_are_hidden_or_doubled_are_refused() {
    for face in faces() {
        let own = format!("localhost:{}", face.port());
        let Request { method, path, .. } = face.look.clone();
        let line = |target: &str| format!("{method} {target} HTTP/1.1");
        let host = format!("host: {own}\r\n");
        for (line, hosts) in [
            (line(&path), String::new()),
            (format!("{method} {path} HTTP/1.0"), String::new()),
            (format!("{method} {path} HTTP/1.0"), "host: evil.example\r\n".to_owned()),
            (format!("{method} {path} HTTP/2.0"), host.clone()),
            (format!("{method} {path}"), host.clone()),
            (line(&path), format!("{host}{host}")),
            (line(&path), format!("{host}host: evil.example\r\n")),
            (line(&path), format!("host:\r\n {own}\r\n")),
            (line(&path), format!("host: evil.example\r\n {own}\r\n")),
            (line(&path), format!("x: y\r\n{} {host}", "\t")),
            (line(&path), format!("host : {own}\r\n")),
            (line(&path), format!("ho st: {own}\r\n")),
            (line(&path), format!("host: {own}\0.evil\r\n")),
            (line(&format!("http://evil.example{path}")), host.clone()),
            (line(&format!("http://evil.example:{}{path}", face.port())), host.clone()),
            (line(&format!("http://evil@{own}{path}")), host.clone()),
            (line(&format!("http://{own}@evil.example{path}")), host.clone()),
            (line(&format!("http://{own}{path}")), "host: evil.example\r\n".to_owned()),
            (line(&format!("http://{own}{path}")), String::new()),
            (line(&format!("//evil.example{path}")), host.clone()),
            (line("*"), host.clone()),
            (format!("CONNECT {own} HTTP/1.1"), host.clone()),
            ("OPTIONS * HTTP/1.1".to_owned(), host.clone()),
            ("PRI * HTTP/2.0\r\n\r\nSM".to_owned(), String::new()),
            ("\u{16}\u{3}\u{1} HTTP/1.1".to_owned(), host.clone()),
        ] {
            let (before, began) = (face.steps(), Instant::now());
            let answer = face.site.raw(&face.look.text(&line, &hosts));
            // Nothing at all, 0 here, is what a connection gets that speaks no HTTP of ours; it is closed, not left.
            let speaks = line.ends_with("HTTP/1.1") || line.ends_with("HTTP/1.0");
            let expected = if speaks { &[400, 403, 404, 405][..] } else { &[0, 400, 505] };
            face.refuses(&format!("{line:?} {hosts:?}"), &answer, before, expected);
            assert!(began.elapsed() < PATIENCE / 2, "{line:?} {hosts:?} was left open");
        }
        face.serves(
            "absolute",
            &face.site.raw(&face.look.text(&line(&format!("http://{own}{path}")), &host)),
        );
        face.serves("old", &face.site.raw(&face.look.text(&format!("{method} {path} HTTP/1.0"), &host)));
    }
}

/// H-01, H-11 on REST, /mcp, clickthrough: a body whose length is told twice hides no second request behind it.
#[test]
fn a_second_request_cannot_be_hidden_in_the_first() {
    for face in faces() {
        let hidden = face.act.text(&face.act.line(), &format!("host: {}\r\n", face.site.address));
        let tail = format!("0\r\n\r\n{hidden}");
        for framing in [
            format!("transfer-encoding: chunked\r\ncontent-length: {}\r\n", tail.len()),
            format!("content-length: {}\r\ntransfer-encoding: chunked\r\n", tail.len()),
            "transfer-encoding: chunked\r\ncontent-length: 4\r\n".to_owned(),
            "content-length: 5\r\ntransfer-encoding: chunked\r\n".to_owned(),
            "transfer-encoding: chunked\r\ntransfer-encoding: identity\r\n".to_owned(),
            "transfer-encoding: xchunked\r\n".to_owned(),
            "transfer-encoding: chunked, identity\r\n".to_owned(),
            "transfer-encoding : chunked\r\n".to_owned(),
            "transfer-encoding:\r\n chunked\r\n".to_owned(),
            "transfer-encoding: chunked\r\n".to_owned(),
            format!("content-length: 5\r\ncontent-length: {}\r\n", tail.len()),
            format!("content-length: 5, {}\r\n", tail.len()),
            format!("content-length: +{}\r\n", tail.len()),
            "content-length: -1\r\n".to_owned(),
            format!("content-length: {}\r\n", u128::MAX),
            format!("content-length: 0x{:x}\r\n", tail.len()),
        ] {
            let head = format!(
                "POST {} HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\n{framing}\r\n{tail}",
                face.act.path, face.site.address
            );
            let text = whole_answer(&face.site, &head);
            assert!(!text.starts_with("HTTP/1.1 200"), "{framing:?} at {}: {text}", face.name);
            assert_eq!(text.matches("HTTP/1.1 ").count(), 1, "{framing:?} at {}: {text}", face.name);
            assert_eq!(face.site.effects(), 0, "{framing:?} at {}: {text}", face.name);
        }
    }
}

/// Everything that comes back until the server closes.
fn whole_answer(site: &Site, request: &str) -> String {
    let mut stream = site.connect();
    let _ = stream.write_all(request.as_bytes());
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes);
    String::from_utf8_lossy(&bytes).into_owned()
}

// ---- origins, types, sites ---------------------------------------------------------------------------------

/// H-03 on REST, /mcp, clickthrough: pages of other origins are refused, in every spelling that is not exactly ours.
#[test]
fn only_our_own_origin_may_call() {
    for face in faces() {
        let port = face.port().to_string();
        let from = |request: &Request, origin: &str| {
            face.send(&request.clone().with("origin", &origin.replace("PORT", &port)))
        };
        for origin in [
            "http://evil.example",
            "http://evil.example:PORT",
            "null",
            "",
            "http://localhost:3000",
            "http://localhost",
            "https://localhost:PORT",
            "ws://localhost:PORT",
            "HTTP://localhost:PORT",
            "http://localhost:PORT/",
            "http://localhost:PORT/page",
            "http://localhost:PORT?",
            "http://localhost:PORT#",
            "http://localhost:PORT.evil.example",
            "http://localhost.:PORT",
            "http://evil@localhost:PORT",
            "http://localhost:PORT@evil.example",
            "http://localhost:PORT, http://evil.example",
            "http://localhost:PORT http://evil.example",
            "localhost:PORT",
            "//localhost:PORT",
            "file://",
            "about:blank",
            "chrome-extension://localhost:PORT",
        ] {
            for request in [&face.look, &face.act] {
                let before = face.steps();
                face.refuses(origin, &from(request, origin), before, &[403]);
            }
        }
        let twice = face.act.clone().with("origin", &format!("http://localhost:{port}"));
        let before = face.steps();
        face.refuses("two", &face.send(&twice.with("origin", "http://evil.example")), before, &[403]);
        for origin in
            ["http://localhost:PORT", "http://LOCALHOST:PORT", "http://127.0.0.1:PORT", "http://[::1]:PORT"]
        {
            let effects = face.site.effects();
            face.serves(origin, &from(&face.act, origin));
            assert_eq!(face.site.effects(), effects + 1, "{origin} at {}", face.name);
        }
    }
}

/// H-05 on REST, /mcp, clickthrough: what a page can send without being asked is no JSON, however it is called.
#[test]
fn a_body_is_json_by_its_type_or_not_read() {
    for face in faces() {
        let before = face.steps();
        for kinds in [
            &["text/plain"][..],
            &["text/plain;charset=UTF-8"],
            &["application/x-www-form-urlencoded"],
            &["multipart/form-data; boundary=x"],
            &["text/plain; application/json"],
            &["application/json, text/plain"],
            &["application/jsonx"],
            &["application/problem+json"],
            &["text/json"],
            &["json"],
            &[""],
            &[";"],
            &["application/json", "text/plain"],
            &["text/plain", "application/json"],
            &[],
        ] {
            let answer = face.send(&face.act.clone().but("content-type", kinds));
            face.refuses(&format!("{kinds:?}"), &answer, before, &[415]);
        }
        let mut chunked = face.act.clone().but("content-type", &["text/plain"]);
        chunked.body = String::new();
        let chunked = chunked.with("transfer-encoding", "chunked");
        let head = chunked.text(&chunked.line(), &format!("host: {}\r\n", face.site.address));
        let body = format!("{:x}\r\n{}\r\n0\r\n\r\n", face.act.body.len(), face.act.body);
        face.refuses("chunked", &face.site.raw(&format!("{head}{body}")), before, &[415]);
        for kind in ["application/json", "Application/JSON", "application/json; charset=utf-8"] {
            face.serves(kind, &face.send(&face.act.clone().but("content-type", &[kind])));
        }
    }
}

/// H-06 on REST, /mcp, clickthrough: whatever a browser fetches for another site's page is refused.
#[test]
fn another_sites_page_fetches_nothing() {
    for mut face in faces() {
        let sites = ["cross-site", "same-site", "", "Same-Origin", "same-origin, none", "unknown"];
        for site in sites {
            for request in [&face.look, &face.act] {
                let before = face.steps();
                let request = request.clone().with("sec-fetch-site", site);
                face.refuses(site, &face.send(&request), before, &[403]);
            }
        }
        let both =
            face.look.clone().with("sec-fetch-site", "same-origin").with("sec-fetch-site", "cross-site");
        let before = face.steps();
        face.refuses("both", &face.send(&both), before, &[403]);
        if face.name == "REST" {
            face.look = Request::get("/api/bring_to_foreground?window_index=0");
        }
        for mode in ["no-cors", "cors", "navigate", "same-origin", "websocket"] {
            for dest in [
                "image", "script", "style", "iframe", "frame", "embed", "object", "video", "document",
                "empty",
            ] {
                let from = |site: &str| {
                    let request = face.look.clone().with("sec-fetch-site", site).with("sec-fetch-mode", mode);
                    face.send(&request.with("sec-fetch-dest", dest).with("sec-fetch-user", "?1"))
                };
                let before = face.steps();
                face.refuses(&format!("{mode} {dest}"), &from("cross-site"), before, &[403]);
            }
        }
        for site in ["same-origin", "none"] {
            face.serves(site, &face.send(&face.look.clone().with("sec-fetch-site", site)));
        }
    }
}

/// H-07 on REST: whatever acts or changes something is not asked by GET, nor by a method that nobody declared.
#[test]
fn nothing_acts_by_get() {
    let site = Site::new();
    let mut refused = 0;
    for spec in tools::all_tools().filter(|spec| spec.meta.effect != Effect::Observe) {
        for method in ["GET", "HEAD", "DELETE", "PUT", "PATCH", "TRACE", "ACT"] {
            let path =
                format!("/api/tool/{}?x=1&y=1&window_index=0&selector=a&text=a&keys=a", spec.meta.name);
            assert_eq!(site.ask(method, &path, &[], "").status, 405, "{method} {path}");
            refused += 1;
        }
        let by_get = spec.meta.rest.iter().filter(|(method, _)| *method == Method::Get);
        let paths: Vec<&str> = by_get.map(|(_, path)| *path).collect();
        assert!(paths.is_empty() || paths == ["/api/bring_to_foreground"], "{}: {paths:?}", spec.meta.name);
    }
    for path in ["/api/action?action=click_at&x=1&y=1", "/api/hover?x=1&y=1", "/api/halt/release", "/mcp"] {
        assert_eq!(site.get(path).status, 405, "{path}");
    }
    assert!(refused > 100, "{refused}");
    assert_eq!((site.app.session.step_count(), site.effects()), (0, 0));
}

/// H-07 on clickthrough: its routes that act take POST alone.
#[test]
fn nothing_acts_by_get_at_the_other_face() {
    let site = Site::clickthrough(json!({}));
    for path in ["/interact", "/batch", "/launch", "/windows/action", "/exec", "/action/verify"] {
        for method in ["GET", "HEAD", "DELETE", "PUT", "PATCH"] {
            assert_eq!(site.ask(method, path, &[], "").status, 405, "{method} {path}");
        }
    }
    assert_eq!((site.app.session.step_count(), site.effects()), (0, 0));
}

// ---- tokens ------------------------------------------------------------------------------------------------

/// H-08 on REST, /mcp, clickthrough: exactly the token, in exactly its place.
#[test]
fn only_the_right_token_opens() {
    for face in faces_with(&json!({"web_ui": {"token": TOKEN}})) {
        let right = format!("Bearer {TOKEN}");
        for shown in [
            "Bearer",
            "Bearer ",
            "Bearer wrong-token",
            "bearer S3NT1NEL-9f2c",
            "BEARER S3NT1NEL-9f2c",
            "Bearer  S3NT1NEL-9f2c",
            "Bearer S3NT1NEL-9f2c,",
            "Bearer S3NT1NEL-9f2cc",
            "Bearer S3NT1NEL-9f2",
            "Bearer s3nt1nel-9f2c",
            "Bearer\tS3NT1NEL-9f2c",
            "Basic UzNOVDFORUwtOWYyYzo=",
            "Token S3NT1NEL-9f2c",
            "S3NT1NEL-9f2c",
        ] {
            face.refuses(shown, &face.send(&face.act.clone().with("authorization", shown)), (0, 0), &[401]);
        }
        for request in [
            face.act.clone(),
            face.look.clone(),
            face.act.clone().with("authorization", &right).with("authorization", "Bearer wrong-token"),
            face.act.clone().with("authorization", &right).with("authorization", &right),
            face.act.clone().with("cookie", &format!("token={TOKEN}")),
            face.act.clone().with("x-token", TOKEN),
            face.act.clone().with("proxy-authorization", &right),
            face.act.clone().at(&format!("{}?token={TOKEN}", face.act.path)),
            face.look.clone().at(&format!("{}?token={TOKEN}", face.look.path)),
            face.look.clone().at(&format!("{}?access_token={TOKEN}", face.look.path)),
        ] {
            let answer = face.send(&request);
            face.refuses(&request.path, &answer, (0, 0), &[401]);
            assert!(!answer.body.contains(TOKEN), "{answer:?}");
        }
        face.serves("right", &face.send(&face.act.clone().with("authorization", &right)));
    }
}

/// H-08 on REST, /mcp: a path that is spelt otherwise leads past the token to nothing.
#[test]
fn no_spelling_of_a_path_leads_past_the_token() {
    let site = Site::with(json!({"web_ui": {"token": TOKEN}}));
    for path in [
        "/%61pi/windows",
        "/API/windows",
        "//api/windows",
        "/./api/windows",
        "/x/../api/windows",
        "/api%2fwindows",
        "/;/api/windows",
        "/\\api\\windows",
        "/%6dcp",
        "/api/events/../windows?token=S3NT1NEL-9f2c",
        "/api/events/%2e%2e/windows?token=S3NT1NEL-9f2c",
        "/api/approvals/../windows?token=S3NT1NEL-9f2c",
        "/api/eventsx?token=S3NT1NEL-9f2c",
        "/api/windows;token=S3NT1NEL-9f2c",
        "/api/windows?a=1&token=S3NT1NEL-9f2c",
        "/?/api/windows",
        "/index.html/../api/windows",
    ] {
        let answer = site.get(path);
        let page = path.starts_with("/?") && answer.body.starts_with("<!doctype html>");
        assert!([400, 401, 404].contains(&answer.status) || page, "{path}: {answer:?}");
        assert!(!answer.body.contains("Notepad"), "{path}: {answer:?}");
    }
    assert_eq!(site.app.session.step_count(), 0);
}

/// A server in a process of its own, with everything logged.
struct Served {
    client: Client,
    address: String,
    other: String,
    folder: tempfile::TempDir,
}

impl Served {
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let config = folder.path().join("config.json");
        let audit = folder.path().join("audit.log");
        let settings = json!({
            "web_ui": {"port": 0, "token": TOKEN},
            "clickthrough": {"enabled": true, "port": 0},
            "logging": {"audit": true, "audit_path": audit},
        });
        std::fs::write(&config, settings.to_string()).unwrap();
        let flags = ["--mode", "both", "--mock", "--config", config.to_str().unwrap()];
        let client = Client::start_with(&flags, &[("RUST_LOG", "trace")]);
        let errors = client.errors.clone();
        until("both doors are open", || {
            errors.lock().unwrap().contains("Clickthrough-compatible API on port")
        });
        let log = errors.lock().unwrap().clone();
        let after = |words: &str| {
            let rest = log.split(words).nth(1).unwrap();
            rest.split(|c: char| c == '/' || c.is_whitespace()).next().unwrap().to_owned()
        };
        let (address, other) = (
            after("serving HTTP at http://"),
            format!("127.0.0.1:{}", after("Clickthrough-compatible API on port ")),
        );
        Self { client, address, other, folder }
    }

    fn connect(&self, address: &str) -> TcpStream {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_write_timeout(Some(PATIENCE)).unwrap();
        assert!(address == self.address || address == self.other);
        stream
    }

    /// The head of the answer, and what of the body came with it.
    fn ask(&self, address: &str, line: &str, headers: &str) -> Answer {
        let mut stream = self.connect(address);
        write!(stream, "{line} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n{headers}\r\n").unwrap();
        let mut reader = BufReader::new(stream);
        let mut text = String::new();
        while reader.read_line(&mut text).unwrap() > 2 {}
        answer(&text)
    }

    /// What the process has held at most, in KiB; it only grows.
    #[cfg(target_os = "linux")]
    fn peak(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.client.process_id())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    }
}

/// H-09 on REST: a token in an address is in no log, and no referrer and no cache keep it.
#[test]
fn a_token_in_an_address_stays_there() {
    let mut served = Served::start();
    let ask = |path: &str, headers: &str| served.ask(&served.address, &format!("GET {path}"), headers);
    let bearer = format!("authorization: Bearer {TOKEN}\r\n");
    for (path, headers, status) in [
        (format!("/api/events?token={TOKEN}"), "", 200),
        (format!("/api/approvals/ap:1/picture?token={TOKEN}"), "", 404),
        (format!("/api/windows?token={TOKEN}"), bearer.as_str(), 200),
        (format!("/api/windows?token={TOKEN}"), "", 401),
        (format!("/api/nope/{TOKEN}?token={TOKEN}"), "", 401),
        (format!("/nope?token={TOKEN}"), "", 404),
        (format!("/api/structure?window_index={TOKEN}"), bearer.as_str(), 400),
    ] {
        let answer = ask(&path, headers);
        assert_eq!(answer.status, status, "{path}: {answer:?}");
        assert_eq!(answer.header("referrer-policy"), Some("no-referrer"), "{path}");
        assert_eq!(answer.header("cache-control"), Some("no-store"), "{path}");
        assert!(!answer.head.contains(TOKEN), "{answer:?}");
    }
    // Only what has ended says nothing more.
    served.client.close_input();
    served.client.wait(PATIENCE).expect("the end of input ends it");
    let log = served.client.last_words();
    assert!(log.contains(" INFO "), "everything is logged: {log}");
    assert!(!log.contains(TOKEN), "{log}");
    let audit = std::fs::read_to_string(served.folder.path().join("audit.log")).unwrap();
    assert!(audit.contains("list_windows") && !audit.contains(TOKEN), "{audit}");
}

// ---- sizes -------------------------------------------------------------------------------------------------

/// H-11 on REST, /mcp, clickthrough: bodies and heads without an end are closed at their limit, and memory stays.
#[cfg(target_os = "linux")]
#[test]
fn what_has_no_end_is_closed_and_not_kept() {
    let served = Served::start();
    let bearer = format!("authorization: Bearer {TOKEN}\r\n");
    let json = "content-type: application/json\r\n";
    let doors = [(&served.address, "/api/action"), (&served.address, "/mcp"), (&served.other, "/interact")];
    // What the first answer of each door costs is no growth.
    for (door, path) in doors {
        served.ask(door, &format!("POST {path}"), &format!("{bearer}{json}content-length: 0\r\n"));
    }
    let before = served.peak();
    for (door, path) in doors {
        let long = format!("{bearer}{json}content-length: {}\r\n", 2 << 20);
        assert_eq!(served.ask(door, &format!("POST {path}"), &long).status, 413, "{path}");
        let chunked = format!("{bearer}{json}transfer-encoding: chunked\r\n");
        let piece = format!("10000\r\n{}\r\n", "x".repeat(0x10000));
        check_closed(
            &served,
            door,
            &format!("POST {path} HTTP/1.1\r\nhost: {door}\r\n{chunked}\r\n"),
            &piece,
        );
        // A length, blanks behind it, an extension, a trailer and a head that go on for ever.
        let chunk = format!("POST {path} HTTP/1.1\r\nhost: {door}\r\n{chunked}\r\n");
        check_closed(&served, door, &format!("{chunk}1;"), &"e".repeat(0x4000));
        check_closed(&served, door, &format!("{chunk}0\r\n"), &format!("x: {}\r\n", "t".repeat(0x4000)));
        check_closed(&served, door, &chunk, &"0".repeat(0x4000));
        check_closed(&served, door, &format!("{chunk}1"), &" ".repeat(0x4000));
        let head = format!("POST {path} HTTP/1.1\r\nhost: {door}\r\n");
        check_closed(&served, door, &head, &format!("x: {}\r\n", "h".repeat(0x1000)));
        check_closed(&served, door, &head, "x: y\r\n");
        check_closed(&served, door, "GET /", &"a".repeat(0x1000));
    }
    let grown = served.peak() - before;
    assert!(grown < 10 << 10, "{grown} KiB");
    let health = served.ask(&served.address, "GET /api/healthz", &bearer);
    assert_eq!(health.status, 200, "{health:?}");
}

/// What is sent before a server has closed at a limit of one: that, and what the sockets between us hold.
#[cfg(target_os = "linux")]
const MOST_SENT: usize = 16 << 20;

/// The piece is sent again and again until the server closes. It has a deadline too, which on a slow machine comes before
/// the last byte of many; so it is the bytes that count.
#[cfg(target_os = "linux")]
#[track_caller]
fn check_closed(served: &Served, door: &str, head: &str, piece: &str) {
    let mut stream = served.connect(door);
    stream.write_all(head.as_bytes()).unwrap();
    let closed = (0..MOST_SENT / piece.len()).find_map(|_| stream.write_all(piece.as_bytes()).err());
    let closed = closed.unwrap_or_else(|| panic!("{head:.60}: 16 MiB were taken"));
    // A socket that takes no more and is not closed either.
    assert_ne!(closed.kind(), std::io::ErrorKind::WouldBlock, "{head:.60}");
}

/// H-11 on REST: a small body that would unpack to a large one is not unpacked.
#[test]
fn packed_bodies_are_not_unpacked() {
    let site = Site::new();
    for packing in ["gzip", "deflate", "br", "zstd", "gzip, gzip"] {
        let body = "\u{1f}\u{8b}\u{8}".repeat(100);
        let answer = site.ask("POST", "/api/action", &[JSON, ("content-encoding", packing)], &body);
        assert_eq!(answer.status, 400, "{packing}: {answer:?}");
    }
    assert_eq!((site.app.session.step_count(), site.effects()), (0, 0));
}

// ---- slow clients ------------------------------------------------------------------------------------------

/// What is sent of a head, and then a byte a second.
fn trickle(site: &Site, first: &[u8]) -> TcpStream {
    let mut stream = site.connect();
    stream.write_all(first).unwrap();
    stream.set_nonblocking(true).unwrap();
    stream
}

/// Whether the server has closed it; what it said before is read.
fn is_closed(stream: &mut TcpStream) -> bool {
    let mut buffer = [0; 1024];
    loop {
        match stream.read(&mut buffer) {
            Ok(0) => return true,
            Ok(_) => {}
            Err(problem) => return problem.kind() != std::io::ErrorKind::WouldBlock,
        }
    }
}

/// Trickles until all are closed; the longest that another client had to wait meanwhile.
fn slowest_beside(site: &Site, path: &str, slow: &mut Vec<TcpStream>, limit: Duration) -> Duration {
    let began = Instant::now();
    let mut slowest = Duration::ZERO;
    while !slow.is_empty() {
        for stream in slow.iter_mut() {
            let _ = stream.write(b"a");
        }
        let asked = Instant::now();
        assert_eq!(site.get(path).status, 200);
        slowest = slowest.max(asked.elapsed());
        std::thread::sleep(Duration::from_secs(1));
        slow.retain_mut(|stream| !is_closed(stream));
        assert!(began.elapsed() < limit, "{} are still open after {:?}", slow.len(), began.elapsed());
    }
    slowest
}

/// H-12 on REST, clickthrough: a hundred heads that come byte by byte are closed in time, and nobody waits for them.
#[test]
fn heads_that_trickle_are_closed_and_hold_up_nobody() {
    for (site, path) in [(Site::new(), "/api/healthz"), (Site::clickthrough(json!({})), "/health")] {
        let head = format!("GET {path} HTTP/1.1\r\nhost: {}\r\nx:", site.address);
        let mut slow: Vec<_> = (0..100).map(|_| trickle(&site, head.as_bytes())).collect();
        // The limit is five seconds, which is what somebody who had to wait would wait; the machine may be busy.
        let slowest = slowest_beside(&site, path, &mut slow, Duration::from_secs(30));
        assert!(slowest < Duration::from_secs(4), "{slowest:?}");
    }
}

/// H-12 on REST: connections that say nothing, or nothing more, do not take the places of others for ever.
#[test]
fn silent_connections_give_their_places_back() {
    let site = Site::new();
    let ask = format!("GET /api/healthz HTTP/1.1\r\nhost: {}\r\n\r\n", site.address);
    let mut idle: Vec<_> = (0..200).map(|_| trickle(&site, b"")).collect();
    idle.extend((0..100).map(|_| trickle(&site, ask.as_bytes())));
    until("the silent ones are closed", || {
        idle.retain_mut(|stream| !is_closed(stream));
        idle.is_empty()
    });
    assert_eq!(site.get("/api/healthz").status, 200);
}

/// H-12 on REST, /mcp: a body that comes byte by byte is given up, and its call is not made.
#[test]
fn bodies_that_trickle_are_given_up() {
    let site = Site::new();
    let mut slow: Vec<TcpStream> = ["/api/action", "/mcp"]
        .iter()
        .map(|path| {
            let head = format!(
                "POST {path} HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\ncontent-length: 999\r\n\r\n{{",
                site.address
            );
            trickle(&site, head.as_bytes())
        })
        .collect();
    let slowest = slowest_beside(&site, "/api/healthz", &mut slow, Duration::from_secs(40));
    assert!(slowest < Duration::from_secs(8), "{slowest:?}");
    assert_eq!((site.app.session.step_count(), site.effects()), (0, 0));
}

// ---- events ------------------------------------------------------------------------------------------------

/// H-14 on REST: the stream of events is for us alone; nothing is upgraded, whoever asks.
#[test]
fn strangers_see_no_events() {
    let site = Site::with(json!({"web_ui": {"token": TOKEN}}));
    let bearer = format!("Bearer {TOKEN}");
    let ask = |path: &str, headers: &[(&str, &str)]| site.ask("GET", path, headers, "");
    let query = format!("/api/events?token={TOKEN}");
    let upgrade = [
        ("upgrade", "websocket"),
        ("sec-websocket-version", "13"),
        ("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="),
    ];
    assert_eq!(ask(&query, &[("origin", "http://evil.example")]).status, 403);
    assert_eq!(ask(&query, &[("origin", "null")]).status, 403);
    assert_eq!(ask(&query, &[("sec-fetch-site", "cross-site")]).status, 403);
    assert_eq!(ask(&query, &[("host", "evil.example")]).status, 403);
    assert_eq!(ask("/api/events", &[]).status, 401);
    assert_eq!(ask("/api/events?token=wrong-token", &[]).status, 401);
    assert_eq!(ask("/api/calls", &[]).status, 401);
    assert_eq!(ask(&format!("/api/calls?token={TOKEN}"), &[]).status, 401);
    // Without jobs there is nothing to listen to at the one socket.
    for (path, status) in [("/ws", 403), ("/api/ws", 404), ("/api/socket", 404)] {
        let mut headers = upgrade.to_vec();
        headers.push(("authorization", &bearer));
        let answer = ask(path, &headers);
        assert_eq!(answer.status, status, "{answer:?}");
    }
    assert_eq!(ask("/ws", &upgrade).status, 401);
    let foreign = [&upgrade[..], &[("origin", "http://evil.example")]].concat();
    assert_eq!(ask("/api/events", &foreign).status, 403);
    assert_eq!(ask("/ws", &foreign).status, 403);
    assert_eq!(ask("/api/events", &upgrade).status, 401);
    assert_eq!(site.app.gate.events.watchers(), 0);
}

/// H-14 on REST: watchers are counted, and one that floods the server instead of listening is nothing to it.
#[test]
fn watchers_are_bounded_and_not_listened_to() {
    let site = Site::new();
    let watch = || {
        let mut stream = site.connect();
        let ask = "GET /api/events HTTP/1.1\r\nupgrade: websocket\r\nconnection: upgrade\r\n";
        write!(stream, "{ask}host: {}\r\n\r\n", site.address).unwrap();
        let mut line = String::new();
        BufReader::new(stream.try_clone().unwrap()).read_line(&mut line).unwrap();
        (stream, line)
    };
    let mut watchers: Vec<_> = (0..16).map(|_| watch()).collect();
    assert!(watchers.iter().all(|(_, line)| line.contains(" 200 ")), "{watchers:?}");
    assert!(watch().1.contains(" 503 "));
    for (stream, _) in &mut watchers {
        stream.set_write_timeout(Some(Duration::from_millis(50))).unwrap();
        let _ = (0..16).try_for_each(|_| stream.write_all(&[0x81; 1 << 16]));
    }
    assert_eq!(site.get("/api/windows").status, 200);
    drop(watchers);
    until("there is room again", || {
        // Somebody who is gone is noticed when there is something to tell.
        site.get("/api/windows");
        watch().1.contains(" 200 ")
    });
    assert_eq!(site.effects(), 0);
}

// ---- the page ----------------------------------------------------------------------------------------------

/// H-15 on page: every file of the page comes with a policy that lets nothing run or load but the files of this server.
#[test]
fn the_page_runs_only_its_own_files() {
    let site = Site::new();
    let page = site.get("/");
    let mut files = vec!["/".to_owned()];
    files.extend(
        page.body
            .split(['"', '\''])
            .filter(|word| word.ends_with(".js") || word.ends_with(".css"))
            .map(|file| format!("/{file}")),
    );
    assert!(files.len() > 10, "{files:?}");
    for file in &files {
        let answer = site.get(file);
        assert_eq!(answer.status, 200, "{file}");
        let policy = answer.header("content-security-policy").unwrap();
        for part in [
            "default-src 'self'",
            "frame-ancestors 'none'",
            "base-uri 'none'",
            "form-action 'none'",
            "object-src 'none'",
        ] {
            assert!(policy.contains(part), "{file}: {policy}");
        }
        assert!(!policy.contains("unsafe") && !policy.contains('*') && !policy.contains("http"), "{policy}");
        assert_eq!(answer.header("x-frame-options"), Some("DENY"), "{file}");
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"), "{file}");
    }
    let body = page.body.to_ascii_lowercase();
    assert!(
        !body.contains("<script>") && !body.contains("<style") && !body.contains("javascript:"),
        "{body}"
    );
    let handlers =
        ["onclick=", "onerror=", "onload=", "style="].iter().filter(|word| body.contains(*word)).count();
    assert_eq!(handlers, 0, "nothing is inline: {body}");
}

/// H-15 on REST: a title that is a script is text in what a browser could open, and its type cannot be guessed.
#[test]
fn a_title_that_is_a_script_is_text() {
    const TITLE: &str = "<img src=x onerror=alert(1)></title></script><script>alert(2)</script>";
    let folder = tempfile::Builder::new().prefix("hostile-").tempdir_in("scenarios").unwrap();
    let text = std::fs::read_to_string("scenarios/login.yaml").unwrap();
    let file = folder.path().join("title.yaml");
    std::fs::write(&file, text.replace("Acme Login", TITLE)).unwrap();
    let site = Site::new();
    site.ok("/api/trace/start", json!({"label": TITLE}));
    site.ok("/api/scenario/load", json!({"path": file}));
    assert!(site.get("/api/windows").body.contains("onerror"), "the title is shown");
    site.ok("/api/tool/press_key", json!({"keys": "tab"}));
    site.ok("/api/trace/stop", json!({}));
    for path in [
        "/api/windows",
        "/api/structure",
        "/api/description",
        "/api/sketch",
        "/api/calls",
        "/api/traces",
        "/api/metrics",
    ] {
        let answer = site.get(path);
        let kind = answer.header("content-type").unwrap_or_default();
        assert!(kind.starts_with("application/json") || kind.starts_with("text/plain"), "{path}: {kind}");
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"), "{path}");
        let policy = answer.header("content-security-policy").unwrap();
        assert!(policy.contains("default-src 'none'"), "{path}: {policy}");
    }
    let listed = site.get("/api/traces").json();
    let page = site.get(&format!("/api/traces/{}", listed["traces"][0]["id"].as_str().unwrap()));
    assert!(page.status == 200 && page.body.contains("&lt;img src=x"), "{page:?}");
    assert!(!page.body.contains("<img src=x") && !page.body.contains("<script>alert"), "a title is text");
    assert!(page.header("content-security-policy").unwrap().contains("default-src 'none'"), "{page:?}");
}

// ---- queries -----------------------------------------------------------------------------------------------

/// H-16 on REST: numbers that are none name their field, on every route that takes one by GET.
#[test]
fn wrong_numbers_name_their_field() {
    let site = Site::new();
    let mut tried = 0;
    for spec in tools::all_tools() {
        let schema = spec.full_input_schema();
        let Some(property) = schema.pointer("/properties/window_index") else { continue };
        assert_eq!(property["type"], "integer", "{}", spec.meta.name);
        let gets =
            spec.meta.rest.iter().filter(|(method, path)| *method == Method::Get && !path.contains('{'));
        for (_, path) in gets {
            for wrong in ["abc", "0x1", "%00", "1&window_index=1", "true", "[]"] {
                let answer = site.get(&format!("{path}?window_index={wrong}"));
                assert_eq!(answer.status, 400, "{path} {wrong}: {answer:?}");
                assert_eq!(answer.json()["error"]["context"]["field"], "window_index", "{path} {wrong}");
                tried += 1;
            }
        }
    }
    assert!(tried > 30, "{tried}");
    assert_eq!(site.effects(), 0);
}

/// H-16 on /mcp, clickthrough: the same numbers in bodies.
#[test]
fn wrong_numbers_in_bodies_name_their_field() {
    let wrong =
        || [json!(-1), json!("abc"), json!(1e300), json!(1.5), json!([1]), json!({"a": 1}), json!(true)];
    let site = Site::new();
    let face = Face { name: "/mcp", look: Request::get("/"), act: Request::get("/"), site };
    // Elsewhere whole numbers are rounded and brought within their bounds.
    for value in wrong().into_iter().filter(|value| !value.is_number()) {
        let answer = face.send(&Request::mcp("get_window_structure", json!({"window_index": value})));
        let text = answer.json().to_string();
        assert!(text.contains("BadRequest") && text.contains("window_index"), "{value}: {answer:?}");
    }
    let site = Site::clickthrough(json!({}));
    for value in wrong().into_iter().skip(1) {
        let target = json!({"mode": "pixel", "x": value, "y": 2});
        let answer = site.post("/interact", json!({"action": {"action": "click", "target": target}}));
        assert!([400, 422].contains(&answer.status), "{value}: {answer:?}");
        assert!(answer.json()["error"].to_string().contains("\"x\""), "{value}: {answer:?}");
    }
    assert_eq!((site.effects(), face.site.effects()), (0, 0));
}
