//! A server in this process, and a client that speaks HTTP by hand, so that nothing is tidied on the way.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use os_screen_observer::app::App;
use os_screen_observer::clock::Clock;
use os_screen_observer::config::Flags;
use os_screen_observer::platform::mock::Mock;
use os_screen_observer::tool::Selection;
use os_screen_observer::{config, http};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

pub struct Site {
    pub app: Arc<App>,
    pub mock: Arc<Mock>,
    pub address: SocketAddr,
    pub link: String,
    pub clickthrough: Option<u16>,
    pub shutdown: CancellationToken,
    _folder: tempfile::TempDir,
}

impl Drop for Site {
    fn drop(&mut self) {
        self.shutdown.cancel();
    }
}

#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub head: String,
    pub body: String,
}

impl Answer {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("no JSON: {self:?}"))
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (found, value) = line.split_once(':')?;
            found.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }
}

impl Site {
    pub fn new() -> Self {
        Self::with(json!({}))
    }

    pub fn with(config: Value) -> Self {
        Self::try_with(config).unwrap()
    }

    /// `config` is a config file's content.
    pub fn try_with(mut config: Value) -> Result<Self, String> {
        let folder = tempfile::tempdir().unwrap();
        config["tracing"]["dir"] = json!(folder.path().join("traces"));
        config["web_ui"]["port"] = json!(0);
        if config.pointer("/web_ui/token_file").is_none() {
            config["web_ui"]["token_file"] = json!(folder.path().join("token"));
        }
        let path = folder.path().join("config.json");
        std::fs::write(&path, config.to_string()).unwrap();
        let flags = Flags { config: Some(path), mock: true, ..Flags::default() };
        let loaded = config::load(&flags, std::iter::empty()).unwrap();
        let clock = Clock::real();
        let mock = Arc::new(Mock::new(clock.clone()));
        let app = Arc::new(App::new(loaded, &Selection::default(), mock.clone(), clock)?);
        let shutdown = CancellationToken::new();
        let listening = http::start(app.clone(), shutdown.clone())?;
        let (address, link) = (listening.address, listening.link.clone());
        let clickthrough = listening.clickthrough;
        Ok(Self { app, mock, address, link, clickthrough, shutdown, _folder: folder })
    }

    /// The face of Clickthrough, on its own port.
    pub fn clickthrough(mut config: Value) -> Self {
        config["clickthrough"]["enabled"] = json!(true);
        config["clickthrough"]["port"] = json!(0);
        let site = Self::try_with(config).unwrap();
        let port = site.clickthrough.expect("it is switched on");
        Self::at(site, port)
    }

    fn at(mut site: Self, port: u16) -> Self {
        site.address.set_port(port);
        site
    }

    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(super::PATIENCE)).unwrap();
        stream
    }

    /// The text goes out as it is; the answer is read to the end of the connection.
    pub fn raw(&self, request: &str) -> Answer {
        let mut stream = self.connect();
        // A server that refuses early may close before all is written.
        let _ = stream.write_all(request.as_bytes());
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        answer(&String::from_utf8_lossy(&bytes))
    }

    pub fn ask(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let mut request = format!("{method} {path} HTTP/1.1\r\nconnection: close\r\n");
        if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
            request.push_str(&format!("host: {}\r\n", self.address));
        }
        for (name, value) in headers {
            request.push_str(&format!("{name}: {value}\r\n"));
        }
        if !body.is_empty() {
            request.push_str(&format!("content-length: {}\r\n", body.len()));
        }
        self.raw(&format!("{request}\r\n{body}"))
    }

    pub fn get(&self, path: &str) -> Answer {
        self.ask("GET", path, &[], "")
    }

    pub fn post(&self, path: &str, body: Value) -> Answer {
        self.ask("POST", path, &[JSON], &body.to_string())
    }

    /// A call that must work.
    pub fn ok(&self, path: &str, body: Value) -> Value {
        let answer = self.post(path, body);
        assert_eq!(answer.status, 200, "{path} answered {answer:?}");
        answer.json()
    }

    pub fn effects(&self) -> usize {
        self.mock.action_log().len()
    }
}

pub const JSON: (&str, &str) = ("content-type", "application/json");

pub fn answer(text: &str) -> Answer {
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((text, ""));
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
    let chunked = head.to_ascii_lowercase().contains("transfer-encoding: chunked");
    let body = if chunked { unchunked(body) } else { body.to_owned() };
    Answer { status, head: head.to_owned(), body }
}

fn unchunked(mut text: &str) -> String {
    let mut body = String::new();
    while let Some((length, rest)) = text.split_once("\r\n") {
        let length = usize::from_str_radix(length.trim(), 16).unwrap_or(0);
        if length == 0 || rest.len() < length {
            break;
        }
        body.push_str(&rest[..length]);
        text = rest[length..].trim_start_matches("\r\n");
    }
    body
}

/// Looks until it holds, for a while.
pub fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let began = std::time::Instant::now();
    while !holds() {
        assert!(began.elapsed() < super::PATIENCE, "waited in vain: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}
