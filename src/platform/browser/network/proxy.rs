//! The only way from the browser to a network: a proxy of this process on loopback, which looks names up itself and
//! connects to the very address that it judged.
//!
//! Whoever uses it has to know its password, which the browser is told over its pipe. Connections, heads and times are
//! bounded; a connection that the browser leaves ends on the other side too.

use std::io::{self, BufReader, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;

use super::heads::{self, ProxyRequest, RequestKind};
use super::ledger::{HostTraffic, NetworkLedger, Refusal};
use super::rules::{NetworkRules, RequestedHost};
use crate::clock::{Clock, millis, sleep_really};
use crate::random::random_token;

/// A browser has 32 connections to its proxy, and up to 255 WebSockets beside them.
const MOST_CONNECTIONS: usize = 300;

/// How long a connection may take to say what it wants.
const HEAD_TIME: Duration = Duration::from_secs(60);
const CONNECT_TIME: Duration = Duration::from_secs(10);
const MOST_ADDRESSES: usize = 6;

/// How long a connection may say nothing in either direction.
const IDLE: Duration = Duration::from_secs(600);
/// How often that is looked at.
const IDLE_CHECK: Duration = Duration::from_secs(30);

/// Looking up a name needs the most of it.
const STACK: usize = 512 << 10;

pub const USER: &str = "os-screen-observer";
pub const REALM: &str = "os-screen-observer";
/// The page by which the browser learns the password; no network has such a host.
pub const LOGIN_HOST: &str = "os-screen-observer.invalid";

type Resolve = fn(&str, u16) -> io::Result<Vec<SocketAddr>>;

#[derive(Debug)]
pub struct NetworkProxy {
    address: SocketAddr,
    shared: Arc<ProxyShared>,
    accepting: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct ProxyShared {
    rules: NetworkRules,
    ledger: Arc<NetworkLedger>,
    password: String,
    resolve: Resolve,
    open: AtomicUsize,
    ended: AtomicBool,
    /// The browser has shown that it knows the password and uses this proxy.
    logged_in: AtomicBool,
    clock: Clock,
}

impl NetworkProxy {
    pub fn start(rules: NetworkRules, ledger: Arc<NetworkLedger>) -> Result<Self, String> {
        Self::start_with(rules, ledger, look_up)
    }

    fn start_with(rules: NetworkRules, ledger: Arc<NetworkLedger>, resolve: Resolve) -> Result<Self, String> {
        let about = |problem: io::Error| format!("the proxy for its network cannot be started: {problem}");
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(about)?;
        let address = listener.local_addr().map_err(about)?;
        let shared = Arc::new(ProxyShared {
            rules,
            ledger,
            password: random_token(&random_token("")),
            resolve,
            open: AtomicUsize::new(0),
            ended: AtomicBool::new(false),
            logged_in: AtomicBool::new(false),
            clock: Clock::real(),
        });
        let accepts = shared.clone();
        let thread = Builder::new().name("browser-proxy".to_owned());
        let accepting = thread.spawn(move || accept_all(&listener, &accepts)).map_err(about)?;
        Ok(Self { address, shared, accepting: Some(accepting) })
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    pub fn password(&self) -> &str {
        &self.shared.password
    }

    pub fn is_logged_in(&self) -> bool {
        self.shared.logged_in.load(Ordering::Acquire)
    }
}

impl Drop for NetworkProxy {
    fn drop(&mut self) {
        self.shared.ended.store(true, Ordering::Release);
        // Whoever waits for a connection gets one, and sees the end.
        let woken = TcpStream::connect_timeout(&self.address, CONNECT_TIME).is_ok();
        if let Some(accepting) = self.accepting.take().filter(|_| woken) {
            let _ = accepting.join();
        }
    }
}

fn accept_all(listener: &TcpListener, shared: &Arc<ProxyShared>) {
    loop {
        let accepted = listener.accept();
        if shared.ended.load(Ordering::Acquire) {
            return;
        }
        match accepted {
            Ok((client, _)) => serve_in_thread(client, shared),
            // No file descriptor is left: some will be.
            Err(_) => sleep_really(Duration::from_millis(50)),
        }
    }
}

/// One of the connections that there may be.
struct OpenConnection(Arc<ProxyShared>);

impl OpenConnection {
    fn new(shared: &Arc<ProxyShared>) -> Option<Self> {
        let before = shared.open.fetch_add(1, Ordering::AcqRel);
        let one = Self(shared.clone());
        (before < MOST_CONNECTIONS).then_some(one)
    }
}

impl Drop for OpenConnection {
    fn drop(&mut self) {
        self.0.open.fetch_sub(1, Ordering::AcqRel);
    }
}

fn serve_in_thread(client: TcpStream, shared: &Arc<ProxyShared>) {
    let Some(open) = OpenConnection::new(shared) else {
        let answer = plain_answer("503 Service Unavailable", "", "the proxy has too many connections");
        return send_last(&client, &answer);
    };
    let shared = shared.clone();
    let thread = Builder::new().name("browser-connection".to_owned()).stack_size(STACK);
    // One that cannot be served is closed.
    let _ = thread.spawn(move || {
        let _open = open;
        // Whatever broke, the connection ends with it, and the browser says so.
        let _ = serve(&client, &shared);
        let _ = client.shutdown(Shutdown::Both);
    });
}

fn serve(client: &TcpStream, shared: &ProxyShared) -> io::Result<()> {
    client.set_nodelay(true)?;
    client.set_read_timeout(Some(HEAD_TIME))?;
    client.set_write_timeout(Some(IDLE))?;
    let mut from_client = BufReader::new(client);
    let request = match heads::read_request(&mut from_client) {
        Ok(Some(request)) => request,
        Ok(None) => return Ok(()),
        Err(problem) if problem.kind() == io::ErrorKind::InvalidData => {
            send_last(client, &plain_answer("400 Bad Request", "", &problem.to_string()));
            return Ok(());
        }
        Err(problem) => return Err(problem),
    };
    if !shared.is_authorized(request.authorization.as_deref()) {
        let asks = format!("Proxy-Authenticate: Basic realm=\"{REALM}\"\r\n");
        send_last(
            client,
            &plain_answer("407 Proxy Authentication Required", &asks, "this proxy is not for you"),
        );
        return Ok(());
    }
    if request.host == RequestedHost::Name(LOGIN_HOST.to_owned()) {
        shared.logged_in.store(true, Ordering::Release);
        send_last(client, &plain_answer("200 OK", "", ""));
        return Ok(());
    }
    match shared.connect(&request) {
        Ok(server) => pass_on(client, &mut from_client, &server, &request, shared),
        Err(NotReached::Refused(refusal)) => {
            let page = refusal_page(&refusal);
            shared.ledger.note_refusal(refusal);
            send_last(client, &html_answer("403 Forbidden", &page));
            Ok(())
        }
        Err(NotReached::Failed(problem)) => {
            send_last(client, &plain_answer("502 Bad Gateway", "", &problem));
            Ok(())
        }
    }
}

enum NotReached {
    Refused(Refusal),
    Failed(String),
}

impl ProxyShared {
    fn is_authorized(&self, given: Option<&str>) -> bool {
        let encoded = given.and_then(|given| given.strip_prefix("Basic "));
        let decoded =
            encoded.and_then(|encoded| BASE64_STANDARD.decode(encoded.trim()).ok()).unwrap_or_default();
        let expected = format!("{USER}:{}", self.password);
        // In the same time, wherever it differs.
        let differs = decoded.iter().zip(expected.bytes()).fold(0, |sum, (one, other)| sum | (one ^ other));
        decoded.len() == expected.len() && differs == 0
    }

    fn connect(&self, request: &ProxyRequest) -> Result<TcpStream, NotReached> {
        let addresses = self.judged_addresses(&request.host, request.port)?;
        let host = request.host.shown();
        let mut last = format!("{host} has no address");
        for address in addresses.iter().take(MOST_ADDRESSES) {
            match TcpStream::connect_timeout(address, CONNECT_TIME) {
                Ok(server) => return Ok(server),
                Err(problem) => last = format!("{host} at {address}: {problem}"),
            }
        }
        Err(NotReached::Failed(last))
    }

    /// The addresses of a host, all of which may be reached.
    fn judged_addresses(&self, host: &RequestedHost, port: u16) -> Result<Vec<SocketAddr>, NotReached> {
        let refused = |reason| NotReached::Refused(Refusal { host: host.shown(), port, reason });
        self.rules.check_host(host, port).map_err(refused)?;
        let addresses = match host {
            RequestedHost::Address(address) => vec![SocketAddr::new(*address, port)],
            RequestedHost::Name(name) => (self.resolve)(name, port)
                .map_err(|problem| NotReached::Failed(format!("{name} was not found: {problem}")))?,
        };
        for address in &addresses {
            self.rules.check_address(host, address.ip(), port).map_err(refused)?;
        }
        Ok(addresses)
    }
}

fn look_up(name: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
    let canonical =
        |address: SocketAddr| SocketAddr::new(IpAddr::to_canonical(&address.ip()), address.port());
    (name, port).to_socket_addrs().map(|addresses| addresses.map(canonical).collect())
}

fn pass_on(
    client: &TcpStream,
    from_client: &mut BufReader<&TcpStream>,
    server: &TcpStream,
    request: &ProxyRequest,
    shared: &ProxyShared,
) -> io::Result<()> {
    server.set_nodelay(true)?;
    server.set_write_timeout(Some(IDLE))?;
    let traffic = shared.ledger.host(&request.host.shown());
    match &request.kind {
        RequestKind::Tunnel => write_all(client, b"HTTP/1.1 200 Connection established\r\n\r\n")?,
        RequestKind::Plain(head) => {
            let head = heads::head_bytes(head);
            write_all(server, &head)?;
            traffic.sent.fetch_add(head.len() as u64, Ordering::Relaxed);
        }
    }
    // What came with the head goes on before the rest.
    let early = from_client.buffer().to_vec();
    write_all(server, &early)?;
    traffic.sent.fetch_add(early.len() as u64, Ordering::Relaxed);
    let activity = ConnectionActivity { clock: shared.clock.clone(), last: AtomicU64::new(0) };
    activity.note();
    for side in [client, server] {
        side.set_read_timeout(Some(IDLE_CHECK))?;
    }
    let is_plain = matches!(request.kind, RequestKind::Plain(_));
    relay_both(client, server, &traffic, &activity, is_plain)
}

/// When a byte last passed a connection.
struct ConnectionActivity {
    clock: Clock,
    last: AtomicU64,
}

impl ConnectionActivity {
    fn note(&self) {
        self.last.store(millis(self.clock.now()), Ordering::Relaxed);
    }

    fn is_idle(&self) -> bool {
        millis(self.clock.now()).saturating_sub(self.last.load(Ordering::Relaxed)) > millis(IDLE)
    }
}

/// Until one of the sides ends. A browser that leaves wants no answer, and what a server sent before it left has arrived.
fn relay_both(
    client: &TcpStream,
    server: &TcpStream,
    traffic: &HostTraffic,
    activity: &ConnectionActivity,
    is_plain: bool,
) -> io::Result<()> {
    let end = || {
        let _ = server.shutdown(Shutdown::Both);
        let _ = client.shutdown(Shutdown::Both);
    };
    std::thread::scope(|scope| {
        let upward = Builder::new().stack_size(STACK).spawn_scoped(scope, || {
            relay(client, server, &traffic.sent, activity);
            end();
        });
        let outcome = upward.map(|_| {
            let mut from_server = BufReader::with_capacity(BUFFER, server);
            if is_plain && !send_answer_head(&mut from_server, client, traffic, activity) {
                return;
            }
            let rest = from_server.buffer().to_vec();
            traffic.received.fetch_add(rest.len() as u64, Ordering::Relaxed);
            if write_all(client, &rest).is_ok() {
                relay(server, client, &traffic.received, activity);
            }
        });
        end();
        outcome
    })
}

const BUFFER: usize = 16 << 10;

/// Says whether there is an answer that goes on.
fn send_answer_head(
    from_server: &mut BufReader<&TcpStream>,
    client: &TcpStream,
    traffic: &HostTraffic,
    activity: &ConnectionActivity,
) -> bool {
    let head = loop {
        // A server may think for longer than one look.
        let head = match std::io::BufRead::fill_buf(from_server) {
            Ok(_) => heads::read_answer_heads(from_server),
            Err(problem) => Err(problem),
        };
        match head {
            Err(problem) if is_pause(&problem) && from_server.buffer().is_empty() && !activity.is_idle() => {}
            head => break head,
        }
    };
    match head {
        Ok(Some(head)) => {
            let head = heads::head_bytes(&head);
            traffic.received.fetch_add(head.len() as u64, Ordering::Relaxed);
            write_all(client, &head).is_ok()
        }
        Ok(None) => {
            send_last(
                client,
                &plain_answer("502 Bad Gateway", "", "the host closed the connection without an answer"),
            );
            false
        }
        Err(problem) => {
            send_last(client, &plain_answer("502 Bad Gateway", "", &problem.to_string()));
            false
        }
    }
}

fn is_pause(problem: &io::Error) -> bool {
    matches!(problem.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
}

fn relay(mut from: &TcpStream, to: &TcpStream, counter: &AtomicU64, activity: &ConnectionActivity) {
    let mut buffer = [0; BUFFER];
    loop {
        match from.read(&mut buffer) {
            Ok(0) => return,
            Ok(read) => {
                activity.note();
                counter.fetch_add(read as u64, Ordering::Relaxed);
                let sent = buffer.get(..read).map(|bytes| write_all(to, bytes));
                if !matches!(sent, Some(Ok(()))) {
                    return;
                }
            }
            Err(problem) if problem.kind() == io::ErrorKind::Interrupted => {}
            Err(problem) if is_pause(&problem) && !activity.is_idle() => {}
            Err(_) => return,
        }
    }
}

fn write_all(mut to: &TcpStream, bytes: &[u8]) -> io::Result<()> {
    to.write_all(bytes)
}

/// The last that a connection gets; one that does not read it is closed all the same.
fn send_last(client: &TcpStream, answer: &[u8]) {
    let _ = write_all(client, answer).and_then(|()| client.shutdown(Shutdown::Write));
}

fn plain_answer(status: &str, headers: &str, body: &str) -> Vec<u8> {
    answer(status, headers, "text/plain", body)
}

fn html_answer(status: &str, body: &str) -> Vec<u8> {
    answer(status, "", "text/html", body)
}

fn answer(status: &str, headers: &str, kind: &str, body: &str) -> Vec<u8> {
    let head = format!(
        "HTTP/1.1 {status}\r\n{headers}Content-Type: {kind}; charset=utf-8\r\nContent-Length: {}\r\n\
         Cache-Control: no-store\r\nConnection: close\r\n\r\n",
        body.len()
    );
    [head.as_bytes(), body.as_bytes()].concat()
}

/// What stands instead of a page that may not be reached.
pub fn refusal_page(refusal: &Refusal) -> String {
    let told = refusal.told();
    let escaped = told.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    format!(
        "<!doctype html><meta charset=utf-8><title>Refused</title><h1>This address is refused</h1>\
         <p>os-screen-observer: {escaped}.</p>"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Deadline;
    use crate::config::{BrowserConfig, HostRule};
    use crate::model::page::HostBytes;

    /// A server that answers every request with what it was sent.
    fn echo_server() -> u16 {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        std::thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                std::thread::spawn(move || {
                    let mut buffer = [0; 4096];
                    while let Ok(read @ 1..) = stream.read(&mut buffer) {
                        let text = String::from_utf8_lossy(&buffer[..read]).into_owned();
                        let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {read}\r\n\r\n");
                        let is_http = text.contains("HTTP/1.1");
                        let answer = if is_http { format!("{head}{text}") } else { text };
                        if stream.write_all(answer.as_bytes()).is_err() {
                            return;
                        }
                    }
                });
            }
        });
        port
    }

    fn names_of_the_test(name: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
        match name {
            "local.test" | "rebound.test" => Ok(vec![SocketAddr::from(([127, 0, 0, 1], port))]),
            "mixed.test" => {
                Ok(vec![SocketAddr::from(([8, 8, 8, 8], port)), SocketAddr::from(([127, 0, 0, 1], port))])
            }
            _ => Err(io::ErrorKind::NotFound.into()),
        }
    }

    fn proxy(allow: &[&str]) -> NetworkProxy {
        let network_allow = allow.iter().map(|text| HostRule::parse(text).unwrap()).collect();
        let config = BrowserConfig { network_allow, ..BrowserConfig::default() };
        let rules = NetworkRules::new(&config, None);
        NetworkProxy::start_with(rules, Arc::default(), names_of_the_test).unwrap()
    }

    fn credentials(proxy: &NetworkProxy) -> String {
        let encoded = BASE64_STANDARD.encode(format!("{USER}:{}", proxy.password()));
        format!("Proxy-Authorization: Basic {encoded}\r\n")
    }

    fn ask(proxy: &NetworkProxy, request: &str) -> String {
        let mut stream = TcpStream::connect(proxy.address()).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = Vec::new();
        stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).into_owned()
    }

    /// The answer to a request for a page at this host, from a proxy with this allow list.
    #[track_caller]
    fn check(allow: &[&str], host: &str, expected: &str) {
        let (proxy, port) = (proxy(allow), echo_server());
        let request = format!("GET http://{host}:{port}/x HTTP/1.1\r\n{}\r\n", credentials(&proxy));
        let mut stream = TcpStream::connect(proxy.address()).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut buffer = vec![0; 4096];
        let read = stream.read(&mut buffer).unwrap();
        let answer = String::from_utf8_lossy(&buffer[..read]).into_owned();
        assert!(answer.contains(expected), "{allow:?} {host}: {answer}");
    }

    #[test]
    fn a_page_is_fetched_from_where_it_may_be() {
        check(&["local.test"], "local.test", "HTTP/1.1 200 OK");
        check(&["127.0.0.1"], "127.0.0.1", "Connection: close");
    }

    /// H-182 on code: whatever a page asks for, by name or by address, is judged by where it leads.
    #[test]
    fn what_may_not_be_reached_is_refused_with_its_rule() {
        check(&[], "rebound.test", "127.0.0.1 is an address of this machine");
        check(&[], "mixed.test", "127.0.0.1 is an address of this machine");
        check(&["*"], "127.0.0.1", "browser.network_allow would have to name it");
        check(&["other.test"], "local.test", "browser.network_allow does not name it");
        check(&["*"], "unknown.test", "502 Bad Gateway");
    }

    /// H-183 on code: another process of this machine gets nothing of the proxy.
    #[test]
    fn the_proxy_serves_nobody_without_its_password() {
        let (proxy, port) = (proxy(&["127.0.0.1"]), echo_server());
        for wrong in ["", "Proxy-Authorization: Basic b3Njb3NjOng=\r\n", "Proxy-Authorization: Bearer x\r\n"]
        {
            let answer = ask(&proxy, &format!("GET http://127.0.0.1:{port}/ HTTP/1.1\r\n{wrong}\r\n"));
            assert!(answer.starts_with("HTTP/1.1 407"), "{answer}");
            let answer = ask(&proxy, &format!("CONNECT 127.0.0.1:{port} HTTP/1.1\r\n{wrong}\r\n"));
            assert!(answer.starts_with("HTTP/1.1 407"), "{answer}");
        }
        let login = format!("GET http://{LOGIN_HOST}/ HTTP/1.1\r\n{}\r\n", credentials(&proxy));
        assert!(ask(&proxy, &login).starts_with("HTTP/1.1 200"));
    }

    #[test]
    fn what_is_no_request_is_told_so() {
        let proxy = proxy(&[]);
        for request in ["GET / HTTP/1.1\r\nHost: x\r\n\r\n", "\r\n\r\n", "\u{1}\u{2}\n\n"] {
            assert!(ask(&proxy, request).starts_with("HTTP/1.1 400"), "{request:?}");
        }
    }

    #[test]
    fn a_tunnel_carries_bytes_and_counts_them() {
        let (proxy, port) = (proxy(&["127.0.0.1"]), echo_server());
        let mut stream = TcpStream::connect(proxy.address()).unwrap();
        let head = format!("CONNECT 127.0.0.1:{port} HTTP/1.1\r\n{}\r\nearly", credentials(&proxy));
        stream.write_all(head.as_bytes()).unwrap();
        let mut got = vec![0; "HTTP/1.1 200 Connection established\r\n\r\nearly".len()];
        stream.read_exact(&mut got).unwrap();
        assert!(got.ends_with(b"early"), "{}", String::from_utf8_lossy(&got));
        drop(stream);
        let bytes = HostBytes { host: "127.0.0.1".to_owned(), sent: 5, received: 5 };
        assert_eq!(proxy.shared.ledger.traffic(), [bytes]);
    }

    #[test]
    fn a_refusal_is_remembered() {
        let proxy = proxy(&[]);
        let _ = ask(&proxy, &format!("CONNECT rebound.test:443 HTTP/1.1\r\n{}\r\n", credentials(&proxy)));
        let refusal = proxy.shared.ledger.refusal_of("rebound.test", 443).unwrap();
        assert!(refusal.told().contains("rebound.test:443: 127.0.0.1 is"), "{}", refusal.told());
    }

    /// H-184 on code: connections are bounded, and those beyond are told so.
    #[test]
    fn connections_are_bounded_and_end_with_the_proxy() {
        let proxy = proxy(&[]);
        let address = proxy.address();
        let held: Vec<TcpStream> =
            (0..MOST_CONNECTIONS).map(|_| TcpStream::connect(address).unwrap()).collect();
        let deadline = Deadline::after(Duration::from_secs(10));
        while proxy.shared.open.load(Ordering::Acquire) < MOST_CONNECTIONS {
            assert!(!deadline.is_over());
            std::thread::yield_now();
        }
        assert!(ask(&proxy, "").starts_with("HTTP/1.1 503"));
        drop((held, proxy));
        assert!(TcpStream::connect_timeout(&address, Duration::from_secs(1)).is_err());
    }
}
