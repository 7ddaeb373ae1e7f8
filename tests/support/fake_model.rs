//! A model server that answers what a test wrote down, and remembers what it was asked.

use std::collections::VecDeque;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::{Value, json};

/// What to do with one request.
#[derive(Clone, Debug)]
pub enum Script {
    /// A status and a body, as JSON.
    Json(u16, Value),
    /// A status, more header lines and a body, as they are.
    Page(u16, &'static str, String),
    /// Nothing at all, until the client leaves.
    Hang,
    /// The beginning of a long body, and then the line goes dead.
    Cut,
    /// So many bytes of body.
    Flood(usize),
}

impl Script {
    /// An ordinary completion.
    pub fn says(text: &str) -> Script {
        Script::Json(200, json!({"choices": [{"message": {"role": "assistant", "content": text}}]}))
    }

    pub fn says_and_counts(text: &str, tokens: u64) -> Script {
        let choices = json!([{"message": {"role": "assistant", "content": text}}]);
        Script::Json(200, json!({"choices": choices, "usage": {"total_tokens": tokens}}))
    }

    pub fn not_found() -> Script {
        Script::Json(404, json!({"detail": "Not Found"}))
    }
}

#[derive(Clone, Debug)]
pub struct Request {
    pub method: String,
    pub path: String,
    /// The header lines, names in small letters.
    pub head: String,
    pub body: String,
}

impl Request {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }

    /// The text of the question, wherever it stands.
    pub fn prompt(&self) -> String {
        let content = &self.json()["messages"][0]["content"];
        let text = content.as_str().or_else(|| content[1]["text"].as_str());
        text.unwrap().to_owned()
    }

    /// The picture that came with it.
    pub fn png(&self) -> Option<Vec<u8>> {
        use base64::Engine;
        let body = self.json();
        let url = body.pointer("/messages/0/content/0/image_url/url")?.as_str()?;
        Some(base64::prelude::BASE64_STANDARD.decode(url.strip_prefix("data:image/png;base64,")?).unwrap())
    }
}

pub struct FakeModel {
    pub url: String,
    requests: Arc<Mutex<Vec<Request>>>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl FakeModel {
    /// Plays the script in order; whoever asks more often is answered with status 500.
    pub fn playing(script: impl IntoIterator<Item = Script>) -> Self {
        let mut script: VecDeque<Script> = script.into_iter().collect();
        Self::answering(move |_| script.pop_front())
    }

    /// Answers each request by what it says; without an answer, with status 500.
    pub fn answering(mut reply: impl FnMut(&Request) -> Option<Script> + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (requests, stop) = (Arc::new(Mutex::new(Vec::new())), Arc::new(AtomicBool::new(false)));
        let (kept, ended) = (requests.clone(), stop.clone());
        let thread = std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if ended.load(Ordering::SeqCst) {
                    return;
                }
                if let Some(request) = read_request(&stream) {
                    kept.lock().unwrap().push(request.clone());
                    answer(stream, reply(&request), &ended);
                }
            }
        });
        Self { url: format!("http://{address}"), requests, stop, thread: Some(thread) }
    }

    pub fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }

    pub fn paths(&self) -> Vec<String> {
        self.requests().into_iter().map(|request| request.path).collect()
    }
}

impl Drop for FakeModel {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect(self.url.trim_start_matches("http://"));
        let _ = self.thread.take().unwrap().join();
    }
}

fn read_request(mut stream: &TcpStream) -> Option<Request> {
    stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    let mut bytes = Vec::new();
    let mut buffer = [0; 65536];
    loop {
        if let Some(request) = whole_request(&bytes) {
            return Some(request);
        }
        match stream.read(&mut buffer) {
            Ok(0) | Err(_) => return None,
            Ok(count) => bytes.extend_from_slice(&buffer[..count]),
        }
    }
}

fn whole_request(bytes: &[u8]) -> Option<Request> {
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n")?;
    let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
    let mut lines = head.lines();
    let mut words = lines.next()?.split(' ');
    let (method, path) = (words.next()?.to_owned(), words.next()?.to_owned());
    let lowered = |line: &str| match line.split_once(':') {
        Some((name, value)) => format!("{}:{value}\n", name.to_lowercase()),
        None => format!("{line}\n"),
    };
    let head: String = lines.map(lowered).collect();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length:"));
    let length: usize = length.map_or(0, |number| number.trim().parse().unwrap());
    let body = bytes.get(end + 4..end + 4 + length)?;
    Some(Request { method, path, head, body: String::from_utf8(body.to_vec()).unwrap() })
}

/// The client may leave at any time; then there is nobody to complain to.
fn answer(mut stream: TcpStream, script: Option<Script>, ended: &AtomicBool) {
    match script.unwrap_or(Script::Json(500, json!({"error": "the script is over"}))) {
        Script::Json(status, body) => send(&mut stream, status, "", body.to_string().as_bytes()),
        Script::Page(status, head, body) => send(&mut stream, status, head, body.as_bytes()),
        Script::Hang => wait_until_gone(&mut stream, ended),
        Script::Cut => {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{\"choices\": [");
        }
        Script::Flood(bytes) => flood(&mut stream, bytes),
    }
}

fn send(stream: &mut TcpStream, status: u16, head: &str, body: &[u8]) {
    let head = format!(
        "HTTP/1.1 {status} Scripted\r\nContent-Length: {}\r\nConnection: close\r\n{head}\r\n",
        body.len()
    );
    let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body));
}

fn wait_until_gone(stream: &mut TcpStream, ended: &AtomicBool) {
    stream.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
    let mut byte = [0];
    while !ended.load(Ordering::SeqCst) {
        if let Ok(0) = stream.read(&mut byte) {
            return;
        }
    }
}

fn flood(stream: &mut TcpStream, bytes: usize) {
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {bytes}\r\n\r\n");
    let mut open = stream.write_all(head.as_bytes()).is_ok();
    let piece = vec![b' '; 1 << 16];
    let mut left = bytes;
    while open && left > 0 {
        let count = left.min(piece.len());
        open = stream.write_all(&piece[..count]).is_ok();
        left -= count;
    }
}
