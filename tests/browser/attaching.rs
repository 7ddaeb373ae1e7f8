//! A browser that somebody else started: it is used in a tab of our own, and stays.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use serde_json::json;

use crate::support::Client;
use crate::{PageTest, site};

/// A browser with a page of a person, and where it listens.
struct PersonsBrowser {
    child: Child,
    address: String,
    _folder: tempfile::TempDir,
}

impl PersonsBrowser {
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let program = std::env::var("OSO_BROWSER__EXECUTABLE").unwrap_or_else(|_| "chromium".to_owned());
        let mut child = Command::new(program)
            .args(["--headless=new", "--no-sandbox", "--no-first-run", "--remote-debugging-port=0"])
            .arg(format!("--user-data-dir={}", folder.path().display()))
            .arg(site::address("other.html"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
        let mark = "DevTools listening on ";
        let address =
            lines.find_map(|line| line.split_once(mark).map(|(_, address)| address.to_owned())).unwrap();
        // It would end if nobody read what it prints.
        std::thread::spawn(move || lines.for_each(drop));
        Self { child, address, _folder: folder }
    }

    fn port(&self) -> &str {
        self.address.split(['/', ':']).find(|part| part.parse::<u16>().is_ok_and(|port| port > 1000)).unwrap()
    }

    fn is_running(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }
}

impl Drop for PersonsBrowser {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn attach(address: &str, settings: &[(&str, &str)]) -> PageTest {
    let mut client =
        Client::start_with(&["--mode", "mcp", "--log", "warning", "--attach", address], settings);
    client.initialize("2025-11-25");
    PageTest { client }
}

#[test]
fn a_browser_is_attached_to_by_address_or_port_and_stays() {
    let mut browser = PersonsBrowser::start();
    for address in [browser.address.clone(), browser.port().to_owned()] {
        let mut page = attach(&address, &[]);
        let windows = page.windows();
        assert_eq!(windows.len(), 1, "{windows:?}");
        assert_eq!(windows[0]["url"], "about:blank", "the tab of the person is not ours");
        page.client.close_input();
        drop(page);
        assert!(browser.is_running());
    }
}

#[test]
fn rules_for_the_network_are_not_pretended_to_hold() {
    let browser = PersonsBrowser::start();
    let mut page = attach(&browser.address, &[("OSO_BROWSER__NETWORK_DENY", "[\"*.example\"]")]);
    let (_, message) = page.refused("list_windows", json!({}));
    assert!(message.contains("browser.network_deny does not hold"), "{message}");
}

/// H-189 on browser: an address of another machine is not asked.
#[test]
fn other_machines_are_not_attached_to() {
    for address in ["ws://192.0.2.1:9222/devtools/browser/x", "ws://evil.example:9222/", "0"] {
        let mut page = attach(address, &[]);
        let (_, message) = page.refused("list_windows", json!({}));
        assert!(message.contains("expected the port of a browser on this machine"), "{address}: {message}");
    }
}
