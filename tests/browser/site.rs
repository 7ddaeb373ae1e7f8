//! The sites that the tests work: files of a folder, by a server of this process. `localhost` and `127.0.0.1` are two
//! sites to a browser, so that a frame of the other one is a frame of another site.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock};

use crate::support::project;

static ASKED: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// The port of `site`.
pub fn port() -> u16 {
    static PORT: OnceLock<u16> = OnceLock::new();
    *PORT.get_or_init(|| serve_folder(&project().join("tests/browser/site")))
}

/// The URL of a page of `site`.
pub fn address(page: &str) -> String {
    format!("http://127.0.0.1:{}/{page}", port())
}

/// The URL of a folder, which is served from now on.
pub fn folder_address(folder: &Path) -> String {
    format!("http://127.0.0.1:{}", serve_folder(folder))
}

fn serve_folder(folder: &Path) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let folder = folder.to_owned();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let folder = folder.clone();
            std::thread::spawn(move || answer(stream, &folder));
        }
    });
    port
}

/// Whether somebody asked for this path, of whatever test.
pub fn was_asked(path: &str) -> bool {
    ASKED.lock().unwrap().iter().any(|asked| asked.strip_prefix("POST ").unwrap_or(asked) == path)
}

/// How often a form was sent there.
pub fn forms_sent(path: &str) -> usize {
    ASKED.lock().unwrap().iter().filter(|asked| asked.strip_prefix("POST ") == Some(path)).count()
}

/// One request to a connection; a browser that goes away in between costs nothing.
fn answer(mut stream: TcpStream, folder: &Path) {
    let mut lines = BufReader::new(stream.try_clone().unwrap()).lines().map_while(Result::ok);
    let first = lines.next().unwrap_or_default();
    while lines.next().is_some_and(|line| !line.is_empty()) {}
    let target = first.split(' ').nth(1).unwrap_or("/");
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let is_form = first.starts_with("POST ");
    ASKED.lock().unwrap().push(if is_form { format!("POST {path}") } else { path.to_owned() });
    if answer_oddly(&mut stream, path) {
        return;
    }
    let answer = if path == "/redirect" { redirect_to(query) } else { file_answer(folder, path) };
    let _ = stream.write_all(&answer);
}

fn redirect_to(url: &str) -> Vec<u8> {
    format!("HTTP/1.1 302 Found\r\nLocation: {url}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        .into_bytes()
}

fn file_answer(folder: &Path, path: &str) -> Vec<u8> {
    let (status, body) = match file_of(folder, path).map(std::fs::read) {
        Some(Ok(body)) => ("200 OK", body),
        _ => ("404 Not Found", b"nothing here".to_vec()),
    };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        content_type(path),
        body.len()
    );
    [head.into_bytes(), body].concat()
}

/// What is no page: files, redirects, and servers that do not answer.
fn answer_oddly(stream: &mut TcpStream, path: &str) -> bool {
    let csv = "HTTP/1.1 200 OK\r\nContent-Type: text/csv\r\nContent-Disposition: attachment; \
               filename=\"../re port;1.csv\"\r\nContent-Length: 8\r\nConnection: close\r\n\r\na,b\n1,2\n";
    let large = "HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\nContent-Length: 9000000\r\n\
                 Connection: close\r\n\r\n";
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 100000\r\n\r\n<title>Slow</title><p>begun";
    let moved =
        "HTTP/1.1 302 Found\r\nLocation: /other.html\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    let login = "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"x\"\r\nContent-Type: text/html\r\n\
                 Content-Length: 2\r\nConnection: close\r\n\r\nno";
    let css = "HTTP/1.1 200 OK\r\nContent-Type: text/css\r\nContent-Length: 30\r\nConnection: close\r\n\r\n\
               button { margin-left: 300px; }";
    if path == "/slow.css" {
        std::thread::sleep(std::time::Duration::from_millis(600));
    }
    let (text, holds) = match path {
        "/slow.css" => (css, false),
        "/report.csv" => (csv, false),
        "/large.bin" => (large, true),
        "/endless" => (head, true),
        "/silent" => ("", true),
        "/moved" => (moved, false),
        "/login" => (login, false),
        _ => return false,
    };
    let _ = stream.write_all(text.as_bytes());
    if holds {
        std::thread::sleep(std::time::Duration::from_secs(30));
    }
    true
}

fn file_of(folder: &Path, path: &str) -> Option<PathBuf> {
    let inside = path.split('/').all(|part| part != "..");
    inside.then(|| folder.join(path.trim_start_matches('/')))
}

fn content_type(path: &str) -> &'static str {
    match path.rsplit('.').next() {
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        Some("woff2") => "font/woff2",
        _ => "text/html; charset=utf-8",
    }
}
