//! A page on this machine alone, which tells what happened to it by sending it back.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

pub struct PageServer {
    address: String,
    received: Arc<Mutex<Vec<String>>>,
}

impl PageServer {
    /// Every GET is answered with the page, and the body of every POST is kept.
    pub fn start(page: &'static str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}/", listener.local_addr().unwrap());
        let received = Arc::new(Mutex::new(Vec::new()));
        let kept = received.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let kept = kept.clone();
                // A browser opens connections that it does not use.
                std::thread::spawn(move || answer(stream, page, &kept));
            }
        });
        Self { address, received }
    }

    pub fn address(&self) -> String {
        self.address.clone()
    }

    /// In the order of their arrival.
    pub fn received(&self) -> Vec<String> {
        self.received.lock().unwrap().clone()
    }
}

fn answer(mut stream: TcpStream, page: &str, received: &Mutex<Vec<String>>) -> Option<()> {
    stream.set_read_timeout(Some(Duration::from_secs(60))).ok()?;
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let (mut length, mut method) = (0, String::new());
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|count| *count > 0)?;
        if line.trim().is_empty() {
            break;
        }
        if method.is_empty() {
            method = line.split(' ').next()?.to_owned();
        }
        let (name, value) = line.split_once(':').unwrap_or_default();
        if name.eq_ignore_ascii_case("content-length") {
            length = value.trim().parse().ok()?;
        }
    }
    if method == "POST" {
        let mut body = vec![0; length];
        reader.read_exact(&mut body).ok()?;
        received.lock().unwrap().push(String::from_utf8_lossy(&body).into_owned());
    }
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nConnection: close\r\n";
    write!(stream, "{head}Content-Length: {}\r\n\r\n{page}", page.len()).ok()
}
