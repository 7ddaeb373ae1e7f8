//! The site that the tests work: files of `site`, by a server of this process. `localhost` and `127.0.0.1` are two sites
//! to a browser, so that a frame of the other one is a frame of another site.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::OnceLock;

use crate::support::project;

/// The URL of a page.
pub fn address(page: &str) -> String {
    static PORT: OnceLock<u16> = OnceLock::new();
    let port = PORT.get_or_init(|| {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                std::thread::spawn(move || answer(stream));
            }
        });
        port
    });
    format!("http://127.0.0.1:{port}/{page}")
}

/// One request to a connection; a browser that goes away in between costs nothing.
fn answer(mut stream: TcpStream) {
    let mut lines = BufReader::new(stream.try_clone().unwrap()).lines().map_while(Result::ok);
    let first = lines.next().unwrap_or_default();
    while lines.next().is_some_and(|line| !line.is_empty()) {}
    let path = first.split(' ').nth(1).unwrap_or("/").split('?').next().unwrap_or("/").to_owned();
    let file = Path::new(&path).file_name().unwrap_or_default();
    let (status, body) = match std::fs::read(project().join("tests/browser/site").join(file)) {
        Ok(body) => ("200 OK", body),
        Err(_) => ("404 Not Found", b"nothing here".to_vec()),
    };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&body));
}
