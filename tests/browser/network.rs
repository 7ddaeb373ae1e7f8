//! Which hosts a page reaches, by every way that a page has, and what is said of those that it does not.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::json;

use crate::{PageTest, site};

/// A host of this machine that nobody may reach, and how often it was.
struct ForbiddenHost {
    port: u16,
    connections: Arc<AtomicUsize>,
    udp: UdpSocket,
}

impl ForbiddenHost {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let connections = Arc::new(AtomicUsize::new(0));
        let counted = connections.clone();
        std::thread::spawn(move || {
            for _ in listener.incoming().flatten() {
                counted.fetch_add(1, Ordering::SeqCst);
            }
        });
        let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
        udp.set_nonblocking(true).unwrap();
        Self { port, connections, udp }
    }

    fn udp_port(&self) -> u16 {
        self.udp.local_addr().unwrap().port()
    }

    #[track_caller]
    fn assert_untouched(&self) {
        assert_eq!(self.connections.load(Ordering::SeqCst), 0, "somebody connected");
        assert!(self.udp.recv(&mut [0; 2000]).is_err(), "somebody sent a packet");
    }
}

/// The page that tries everything, sent to this host.
fn try_all(to: &str, udp: u16) -> PageTest {
    let mut page = PageTest::open_alone(&format!("network.html?to={to}&udp={udp}"), &[]);
    page.until_shown("Text", "all tried");
    page
}

/// H-182, H-186 on browser: redirects, frames, scripts, workers, WebSockets, beacons, WebRTC and WebTransport.
#[test]
fn no_way_leads_to_a_host_that_is_not_allowed() {
    let host = ForbiddenHost::start();
    let mut page = try_all(&format!("127.0.0.1:{}", host.port), host.udp_port());
    assert!(page.shows("Text", "candidates 0"), "WebRTC found a way");
    let by_name = format!("localhost:{}", site::port());
    let _ = try_all(&by_name, host.udp_port());
    host.assert_untouched();
}

/// What the test above relies on: the same ways lead to a host that is allowed.
#[test]
fn every_way_leads_to_a_host_that_is_allowed() {
    let host = ForbiddenHost::start();
    let _page = try_all(&format!("127.0.0.1:{}", site::port()), host.udp_port());
    for path in
        ["/fetch", "/redirected", "/image", "/frame", "/script", "/beacon", "/socket", "/worker", "/service"]
    {
        // A beacon is sent when the browser finds the time.
        let began = std::time::Instant::now();
        while !site::was_asked(path) {
            assert!(began.elapsed() < crate::PATIENCE, "{path}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
    host.assert_untouched();
}

#[test]
fn a_refused_page_says_which_rule_refused_it_and_so_does_the_reply() {
    let host = ForbiddenHost::start();
    for link in ["leave", "leave securely", "be redirected"] {
        let mut page = try_all(&format!("127.0.0.1:{}", host.port), host.udp_port());
        let reply = page.click("Hyperlink", link);
        let said = reply.to_string();
        assert!(said.contains("browser.network_allow would have to name it"), "{link}: {said}");
        page.until_shown("Heading", "This address is refused");
        let shown = page.ok("get_screen_description", json!({})).to_string();
        assert!(shown.contains(&format!("may not reach 127.0.0.1:{}", host.port)), "{link}: {shown}");
    }
    host.assert_untouched();
}

#[test]
fn a_denied_host_is_refused_although_it_is_the_first_page() {
    let deny = format!("[\"127.0.0.1:{}\"]", site::port());
    let mut page = PageTest::open_alone("form.html", &[("OSO_BROWSER__NETWORK_DENY", &deny)]);
    page.until_shown("Heading", "This address is refused");
}

/// H-185 on browser: a page leads neither to files nor to the pages of the browser itself.
#[test]
fn links_to_files_and_to_the_browser_itself_lead_nowhere() {
    let host = ForbiddenHost::start();
    let mut page = try_all(&format!("127.0.0.1:{}", site::port()), host.udp_port());
    for link in ["a file", "the browser itself"] {
        page.click("Hyperlink", link);
        let urls: Vec<String> = page.windows().iter().map(|window| window["url"].to_string()).collect();
        assert!(urls.iter().all(|url| url.contains("network.html")), "{urls:?}");
    }
}

/// H-183 on browser: whoever finds the proxy's port gets nothing of it.
#[test]
fn the_proxy_of_a_browser_asks_for_a_password() {
    let mut page = PageTest::open("form.html");
    let pid = page.windows()[0]["pid"].as_u64().unwrap();
    let line = String::from_utf8_lossy(&std::fs::read(format!("/proc/{pid}/cmdline")).unwrap()).into_owned();
    let proxy = line.split(['\0', ' ']).find_map(|word| word.strip_prefix("--proxy-server=http://")).unwrap();
    let mut stream = TcpStream::connect(proxy).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    write!(stream, "GET {} HTTP/1.1\r\n\r\n", site::address("form.html")).unwrap();
    let mut answer = String::new();
    let _ = stream.read_to_string(&mut answer);
    assert!(answer.starts_with("HTTP/1.1 407"), "{answer}");
}

#[test]
fn files_are_opened_below_their_root_alone() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap().join("root");
    std::fs::create_dir(&root).unwrap();
    std::fs::write(folder.path().join("secret.html"), "<h1>outside</h1>").unwrap();
    std::fs::write(root.join("inner.html"), "<h1>inside</h1>").unwrap();
    let frames = "<h1>page</h1><iframe src=inner.html></iframe><iframe src=../secret.html></iframe>";
    std::fs::write(root.join("page.html"), frames).unwrap();
    let settings = [("OSO_BROWSER__FILE_ROOT", root.to_str().unwrap())];
    let url = |name: &str| format!("file://{}/{name}", root.display());
    let mut page = PageTest::open_url(&url("page.html"), &settings);
    page.until_shown("Heading", "inside");
    assert!(!page.shows("Heading", "outside"));
    let mut page = PageTest::open_url(&url("../secret.html"), &settings);
    let (_, message) = page.refused("list_windows", json!({}));
    assert!(message.contains("browser.file_root"), "{message}");
}

#[test]
fn a_tab_has_an_address() {
    let mut page = PageTest::open("form.html");
    assert_eq!(page.windows()[0]["url"], site::address("form.html"));
}
