//! Real pages in a real browser, worked through the built binary over MCP. The pages are those of `site`, from a server
//! of this test on loopback; what an input did is read from the page, which shows it.
#![cfg(target_os = "linux")]
#![allow(clippy::disallowed_methods, reason = "a test runs in real time and sets up its own environment")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that fails may panic")]

#[path = "../support/mod.rs"]
mod support;

mod acting;
mod arriving;
mod attaching;
mod beside;
mod booking;
mod devtools;
mod dialogs;
mod ending;
mod evals;
mod filling;
mod hostile;
mod network;
mod oracle;
mod origins;
mod pages;
mod reading;
mod recording;
mod refs;
mod site;
mod starting;
mod telling;
mod test_runs;
mod texts;
mod troubles;
mod web_tasks;
mod without_snapshot;

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use support::Client;

const PATIENCE: Duration = Duration::from_secs(40);

/// A server with a browser at a page of the site.
pub struct PageTest {
    pub client: Client,
}

impl PageTest {
    pub fn open(page: &str) -> Self {
        Self::open_with(page, &[])
    }

    /// With these settings; the site may be reached by both of its names.
    pub fn open_with(page: &str, settings: &[(&str, &str)]) -> Self {
        Self::open_flagged(page, &[], settings)
    }

    /// The same with more flags.
    pub fn open_flagged(page: &str, more_flags: &[&str], settings: &[(&str, &str)]) -> Self {
        let allow =
            json!([format!("127.0.0.1:{}", site::port()), format!("localhost:{}", site::port())]).to_string();
        let settings = [&[("OSO_BROWSER__NETWORK_ALLOW", allow.as_str())], settings].concat();
        Self::start(&site::address(page), more_flags, &settings)
    }

    /// Where nothing may be reached but the page itself.
    pub fn open_alone(page: &str, settings: &[(&str, &str)]) -> Self {
        Self::open_url(&site::address(page), settings)
    }

    pub fn open_url(url: &str, settings: &[(&str, &str)]) -> Self {
        Self::start(url, &[], settings)
    }

    fn start(url: &str, more_flags: &[&str], settings: &[(&str, &str)]) -> Self {
        require_chromium();
        // Tests run as root in containers, where the browser's sandbox does not start. The pages are ours.
        let usual = [("OSO_BROWSER__SANDBOX", "false"), ("OSO_TREE__MAX_DEPTH", "64")];
        let flags = ["--mode", "mcp", "--log", "warning", "--browser", url];
        let mut client = Client::start_with(&[&flags, more_flags].concat(), &[&usual, settings].concat());
        client.initialize("2025-11-25");
        Self { client }
    }

    pub fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.client.data(tool, arguments)
    }

    #[track_caller]
    pub fn ok(&mut self, tool: &str, arguments: Value) -> Value {
        let reply = self.call(tool, arguments.clone());
        assert_eq!(reply["ok"], true, "{tool} {arguments}: {reply}");
        reply
    }

    #[track_caller]
    pub fn refused(&mut self, tool: &str, arguments: Value) -> (String, String) {
        let reply = self.call(tool, arguments);
        assert_eq!(reply["ok"], false, "{reply}");
        let text = |key: &str| reply["error"][key].as_str().unwrap().to_owned();
        (text("code"), text("message"))
    }

    pub fn windows(&mut self) -> Vec<Value> {
        self.ok("list_windows", json!({}))["windows"].as_array().unwrap().clone()
    }

    /// All elements of a window in a flat list.
    pub fn elements(&mut self, window_uid: Option<&str>) -> Vec<Value> {
        let arguments = window_uid.map_or(json!({ "depth": 64 }), |uid| json!({ "window_uid": uid }));
        let reply = self.ok("get_window_structure", arguments);
        let mut rest = vec![reply["tree"].clone()];
        let mut all = Vec::new();
        while let Some(mut node) = rest.pop() {
            if let Some(children) = node.get_mut("children").map(Value::take) {
                rest.extend(children.as_array().cloned().unwrap_or_default().into_iter().rev());
            }
            all.push(node);
        }
        all
    }

    pub fn shows(&mut self, role: &str, name: &str) -> bool {
        self.elements(None).iter().any(|element| element["role"] == role && element["name"] == name)
    }

    /// Waits until the page in front shows an element.
    #[track_caller]
    pub fn until_shown(&mut self, role: &str, name: &str) {
        let began = Instant::now();
        while !self.shows(role, name) {
            let all = || format!("{role} {name:?} does not come");
            assert!(began.elapsed() < PATIENCE, "{}", all());
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Waits until the page in front says something.
    #[track_caller]
    pub fn until_said(&mut self, text: &str) {
        self.until_shown("Text", text);
    }

    #[track_caller]
    pub fn value_of(&mut self, name: &str) -> Value {
        let elements = self.elements(None);
        let found = elements.iter().find(|element| element["name"] == name && element["role"] != "Text");
        found.unwrap_or_else(|| panic!("nothing is called {name:?}: {elements:?}"))["value"].clone()
    }

    #[track_caller]
    pub fn click(&mut self, role: &str, name: &str) -> Value {
        self.ok("click_element", json!({ "selector": format!("//{role}[name=\"{name}\"]") }))
    }
}

/// In a run that counts, a missing browser is a failure and no excuse.
fn require_chromium() {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let there = std::env::split_paths(&path).any(|folder| Path::new(&folder).join("chromium").is_file());
    assert!(there, "these tests need the package chromium");
}
