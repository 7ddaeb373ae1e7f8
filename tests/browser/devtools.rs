//! A browser of the test's own, asked by the DevTools protocol without our server: what it says of a page is what the
//! server is judged by.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

/// The pipe of the browser is at 3 and 4.
const SCRIPT: &str = "exec chromium \"$@\" 3<&0 4>&1 </dev/null >/dev/null 2>&1";

pub struct DevTools {
    browser: Child,
    orders: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
    last_id: u64,
    session: Option<String>,
    /// Its profile, which goes with it.
    _folder: tempfile::TempDir,
}

impl DevTools {
    pub fn start() -> Self {
        crate::require_chromium();
        let folder = tempfile::tempdir().unwrap();
        let profile = format!("--user-data-dir={}", folder.path().display());
        let switches = [
            "--headless=new",
            "--no-sandbox",
            "--remote-debugging-pipe",
            "--hide-scrollbars",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-dev-shm-usage",
            "--window-size=1280,800",
            &profile,
            "about:blank",
        ];
        let mut browser = Command::new("/bin/sh")
            .args(["-c", SCRIPT, "browser"])
            .args(switches)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (orders, answers) = (browser.stdin.take(), BufReader::new(browser.stdout.take().unwrap()));
        let mut started = Self { browser, orders, answers, last_id: 0, session: None, _folder: folder };
        started.attach();
        started
    }

    fn attach(&mut self) {
        let targets = self.call("Target.getTargets", json!({}));
        let all = targets["targetInfos"].as_array().unwrap();
        let page = all.iter().find(|target| target["type"] == "page").unwrap()["targetId"].clone();
        let attached = self.call("Target.attachToTarget", json!({ "targetId": page, "flatten": true }));
        self.session = attached["sessionId"].as_str().map(str::to_owned);
        self.call("Page.enable", json!({}));
        let size = json!({ "width": 1280, "height": 800, "deviceScaleFactor": 1, "mobile": false });
        self.call("Emulation.setDeviceMetricsOverride", size);
    }

    pub fn call(&mut self, method: &str, params: Value) -> Value {
        self.last_id += 1;
        let mut order = json!({ "id": self.last_id, "method": method, "params": params });
        if let Some(session) = &self.session {
            order["sessionId"] = json!(session);
        }
        let orders = self.orders.as_mut().unwrap();
        orders.write_all(format!("{order}\0").as_bytes()).unwrap();
        let id = self.last_id;
        let answer = self.read_until(|message| message["id"] == id);
        assert!(answer.get("error").is_none(), "{method}: {answer}");
        answer["result"].clone()
    }

    fn read_until(&mut self, is_it: impl Fn(&Value) -> bool) -> Value {
        loop {
            let mut message = Vec::new();
            self.answers.read_until(0, &mut message).unwrap();
            assert_eq!(message.pop(), Some(0), "the browser has ended");
            let message: Value = serde_json::from_slice(&message).unwrap();
            if is_it(&message) {
                return message;
            }
        }
    }

    /// Opens a page and waits until it is there.
    pub fn open(&mut self, url: &str) {
        let answer = self.call("Page.navigate", json!({ "url": url }));
        assert!(answer.get("errorText").is_none(), "{url}: {answer}");
        let loader = answer["loaderId"].clone();
        let deadline = std::time::Instant::now() + crate::PATIENCE;
        loop {
            let shown = self.call("Page.getFrameTree", json!({}))["frameTree"]["frame"]["loaderId"].clone();
            if shown == loader && self.evaluate("document.readyState") == "complete" {
                return;
            }
            assert!(std::time::Instant::now() < deadline, "{url} does not load");
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
    }

    pub fn evaluate(&mut self, expression: &str) -> Value {
        let asked = json!({ "expression": expression, "returnByValue": true });
        self.call("Runtime.evaluate", asked)["result"]["value"].clone()
    }
}

impl Drop for DevTools {
    /// It ends with its pipe.
    fn drop(&mut self) {
        self.orders.take();
        let _ = self.browser.wait();
    }
}
