//! Pages of a folder, served on loopback to the browser of one run; and the reward of a task of MiniWoB++, which its page
//! tells to this server and to nobody else.
//!
//! It serves files below its folder and nothing else. The script that is added to a page of MiniWoB++ carries a secret:
//! only the page itself can report a reward, because no tool of the agent runs or reads scripts.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::clock::{Bell, Cancel, Clock, lock};
use crate::files::Below;
use crate::random::random_token;

const LARGEST_HEAD: usize = 16 * 1024;
const LARGEST_FILE: u64 = 64 << 20;
/// A connection that says nothing for so long is closed.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long a task may take to begin.
const BEGINS_WITHIN: Duration = Duration::from_secs(20);
/// How long after the end of a job a reward may arrive.
const REWARDED_WITHIN: Duration = Duration::from_secs(2);

/// Added to a page of MiniWoB++: the seed, no end of time, and what the page rewards told to this server. What the page
/// would show or log of its reward is hidden from whoever works it.
const EPISODE_SCRIPT: &str = "<style>#reward-display { display: none !important }</style><script>
addEventListener('load', () => setTimeout(() => {
  if (typeof core === 'undefined') return;
  const tell = (word) => fetch('/judge/SECRET/' + word, { method: 'POST', keepalive: true });
  core.EPISODE_MAX_TIME = 86400000;
  const end = core.endEpisode, log = console.log;
  core.endEpisode = (reward, proportional, reason) => {
    if (core.EP_TIMER !== null) tell(String(reward));
    console.log = () => {};
    try { end(reward, proportional, reason); } finally { console.log = log; }
  };
  Math.seedrandom('SEED');
  core.startEpisodeReal();
  tell('ready');
}, 0));
</script>";

/// A folder on loopback, until it is dropped.
pub struct PageServer {
    address: SocketAddr,
    shared: Arc<SharedPages>,
}

struct SharedPages {
    folder: PathBuf,
    episode: Option<Episode>,
    stopped: AtomicBool,
    heard: Mutex<EpisodeNews>,
    /// Rung when a page has told something.
    told: Bell,
}

/// A task of MiniWoB++ with its seed.
struct Episode {
    secret: String,
    script: String,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct EpisodeNews {
    is_ready: bool,
    /// The first one counts: the page offers another task when one is over.
    reward: Option<f64>,
}

impl PageServer {
    pub fn serve_site(folder: &Path) -> Result<Self, String> {
        Self::start(folder, None)
    }

    pub fn serve_miniwob(folder: &Path, task: &str, seed: u64) -> Result<Self, String> {
        let secret = random_token("");
        let script = EPISODE_SCRIPT.replace("SECRET", &secret).replace("SEED", &format!("{task}-{seed}"));
        Self::start(folder, Some(Episode { secret, script }))
    }

    fn start(folder: &Path, episode: Option<Episode>) -> Result<Self, String> {
        let failed = |problem: std::io::Error| format!("the pages cannot be served on loopback: {problem}");
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let shared = Arc::new(SharedPages {
            folder: folder.to_owned(),
            episode,
            stopped: AtomicBool::new(false),
            heard: Mutex::default(),
            told: Bell::default(),
        });
        let serving = shared.clone();
        std::thread::spawn(move || serving.accept_connections(&listener));
        Ok(Self { address, shared })
    }

    pub fn url_of(&self, page: &str) -> String {
        format!("http://{}/{}", self.address, page.trim_start_matches('/'))
    }

    /// Until the task has begun.
    pub fn wait_until_ready(&self, cancel: &Cancel) -> Result<(), String> {
        if self.shared.wait_for(BEGINS_WITHIN, cancel, |news| news.is_ready) {
            return Ok(());
        }
        Err("the page of MiniWoB++ did not begin its task".to_owned())
    }

    /// What the page has rewarded.
    pub fn wait_for_reward(&self, cancel: &Cancel) -> Option<f64> {
        self.shared.wait_for(REWARDED_WITHIN, cancel, |news| news.reward.is_some());
        lock(&self.shared.heard).reward
    }
}

impl Drop for PageServer {
    fn drop(&mut self) {
        self.shared.stopped.store(true, Ordering::SeqCst);
        // The listener waits for somebody.
        let _ = TcpStream::connect(self.address);
    }
}

impl SharedPages {
    fn accept_connections(self: &Arc<Self>, listener: &TcpListener) {
        for stream in listener.incoming().flatten() {
            if self.stopped.load(Ordering::SeqCst) {
                return;
            }
            let pages = self.clone();
            std::thread::spawn(move || pages.answer_connection(stream));
        }
    }

    /// One request to a connection. A browser that goes away in between costs nothing.
    fn answer_connection(&self, mut stream: TcpStream) {
        let _ = stream.set_read_timeout(Some(PATIENCE));
        let _ = stream.set_write_timeout(Some(PATIENCE));
        if let Some(head) = read_head(&mut stream) {
            let _ = stream.write_all(&self.answer_to(&head));
        }
    }

    fn answer_to(&self, head: &str) -> Vec<u8> {
        let mut words = head.lines().next().unwrap_or_default().split(' ');
        let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let path = decode_path(target);
        match method {
            "GET" => self.file_answer(&path),
            "POST" if self.hear_news(&path) => http_answer("200 OK", "text/plain", b""),
            _ => http_answer("404 Not Found", "text/plain", b"not found"),
        }
    }

    fn file_answer(&self, path: &str) -> Vec<u8> {
        let inner = path.trim_start_matches('/');
        let inner = if inner.is_empty() || inner.ends_with('/') {
            format!("{inner}index.html")
        } else {
            inner.to_owned()
        };
        let found = Below::find(&self.folder, &self.folder.join(&inner));
        let Some(bytes) = found.and_then(|file| file.read(LARGEST_FILE).ok()) else {
            return http_answer("404 Not Found", "text/plain", b"not found");
        };
        let kind = content_type(&inner);
        match &self.episode {
            Some(episode) if kind.starts_with("text/html") => {
                http_answer("200 OK", kind, &episode.added_to(&bytes))
            }
            _ => http_answer("200 OK", kind, &bytes),
        }
    }

    /// Whether it was news of the page: `/judge/SECRET/ready`, or a number instead of `ready`.
    fn hear_news(&self, path: &str) -> bool {
        let told = path.strip_prefix("/judge/").and_then(|rest| rest.split_once('/'));
        let Some((secret, word)) = told else { return false };
        if self.episode.as_ref().is_none_or(|episode| episode.secret != secret) {
            return false;
        }
        let mut news = lock(&self.heard);
        match word.parse::<f64>() {
            Ok(reward) => news.reward = news.reward.or(Some(reward)),
            Err(_) => news.is_ready = true,
        }
        drop(news);
        self.told.ring();
        true
    }

    fn wait_for(&self, at_most: Duration, cancel: &Cancel, holds: fn(&EpisodeNews) -> bool) -> bool {
        let clock = Clock::real();
        let until = clock.now() + at_most;
        loop {
            let heard = self.told.rings();
            if holds(&lock(&self.heard)) {
                return true;
            }
            let left = until.saturating_sub(clock.now());
            if left.is_zero() || clock.sleep_unless_rung(&self.told, heard, left, cancel).is_err() {
                return false;
            }
        }
    }
}

impl Episode {
    /// Before everything else of the page's head.
    fn added_to(&self, page: &[u8]) -> Vec<u8> {
        String::from_utf8_lossy(page).replacen("<head>", &format!("<head>{}", self.script), 1).into_bytes()
    }
}

fn read_head(stream: &mut TcpStream) -> Option<String> {
    let (mut head, mut part) = (Vec::new(), [0; 2048]);
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        let length = stream.read(&mut part).ok().filter(|length| *length > 0)?;
        head.extend_from_slice(part.get(..length)?);
        if head.len() > LARGEST_HEAD {
            return None;
        }
    }
    String::from_utf8(head).ok()
}

/// The path of a target without its query, with its escapes resolved.
fn decode_path(target: &str) -> String {
    let path = target.split(['?', '#']).next().unwrap_or_default();
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        let escaped = (byte == b'%').then(|| after.get(..2)).flatten();
        let escaped = escaped.and_then(|digits| std::str::from_utf8(digits).ok());
        match escaped.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(decoded) => {
                bytes.push(decoded);
                rest = after.get(2..).unwrap_or_default();
            }
            None => {
                bytes.push(byte);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn http_answer(status: &str, kind: &str, body: &[u8]) -> Vec<u8> {
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nCache-Control: no-store\r\n\
         Connection: close\r\n\r\n",
        body.len()
    );
    [head.as_bytes(), body].concat()
}

fn content_type(path: &str) -> &'static str {
    let types = [
        (".html", "text/html; charset=utf-8"),
        (".htm", "text/html; charset=utf-8"),
        (".js", "text/javascript; charset=utf-8"),
        (".mjs", "text/javascript; charset=utf-8"),
        (".css", "text/css; charset=utf-8"),
        (".json", "application/json"),
        (".svg", "image/svg+xml"),
        (".png", "image/png"),
        (".jpg", "image/jpeg"),
        (".gif", "image/gif"),
        (".webp", "image/webp"),
        (".woff2", "font/woff2"),
        (".txt", "text/plain; charset=utf-8"),
    ];
    let known = types.iter().find(|(ending, _)| path.ends_with(ending));
    known.map_or("application/octet-stream", |(_, kind)| kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(server: &PageServer, request: &str) -> String {
        let mut stream = TcpStream::connect(server.address).unwrap();
        write!(stream, "{request} HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    fn folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("site")).unwrap();
        std::fs::write(folder.path().join("secret.txt"), "outside").unwrap();
        std::fs::write(folder.path().join("site/index.html"), "<head><p>inside").unwrap();
        std::fs::write(folder.path().join("site/a b.css"), "b {}").unwrap();
        folder
    }

    #[test]
    fn files_of_the_folder_are_served_and_no_others() {
        let folder = folder();
        let server = PageServer::serve_site(&folder.path().join("site")).unwrap();
        let check = |request: &str, status: &str, word: &str| {
            let answer = ask(&server, request);
            assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{request}: {answer}");
            assert!(answer.contains(word), "{request}: {answer}");
        };
        check("GET /", "200", "inside");
        check("GET /?a=1", "200", "text/html");
        check("GET /a%20b.css", "200", "text/css");
        check("GET /../secret.txt", "404", "not found");
        check("GET /%2e%2e/secret.txt", "404", "not found");
        check("GET /none.html", "404", "not found");
        check("POST /judge/x/1", "404", "not found");
        check("DELETE /", "404", "not found");
    }

    /// The first reward counts, and only who knows the secret of the page reports one.
    #[test]
    fn a_reward_is_heard_from_the_page_alone() {
        let folder = folder();
        let server = PageServer::serve_miniwob(&folder.path().join("site"), "task", 7).unwrap();
        let page = ask(&server, "GET /index.html");
        let secret = page.split("/judge/").nth(1).unwrap().split('/').next().unwrap().to_owned();
        assert!(page.contains("Math.seedrandom('task-7')"), "{page}");
        let cancel = Cancel::new();
        ask(&server, "POST /judge/guess/1");
        ask(&server, &format!("GET /judge/{secret}/1"));
        assert_eq!(*lock(&server.shared.heard), EpisodeNews::default());
        ask(&server, &format!("POST /judge/{secret}/ready"));
        assert_eq!(server.wait_until_ready(&cancel), Ok(()));
        ask(&server, &format!("POST /judge/{secret}/-1"));
        ask(&server, &format!("POST /judge/{secret}/1"));
        assert_eq!(server.wait_for_reward(&cancel), Some(-1.0));
    }

    #[test]
    fn nobody_waits_for_a_page_that_is_cancelled() {
        let folder = folder();
        let server = PageServer::serve_miniwob(&folder.path().join("site"), "task", 1).unwrap();
        let cancel = Cancel::new();
        cancel.fire();
        assert!(server.wait_until_ready(&cancel).is_err());
    }
}
