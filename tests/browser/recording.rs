//! A session on pages that was traced becomes a scenario, and the mock desktop answers it as the browser did.

use std::process::Command;

use serde_json::{Value, json};

use crate::support::Client;
use crate::{PageTest, site};

/// What the session does, and what two runs of it must share.
fn work(call: &mut dyn FnMut(&str, Value) -> Value) -> Vec<Value> {
    let mut seen = Vec::new();
    let mut step = |tool: &str, arguments: Value, facts: &[&str]| {
        let reply = call(tool, arguments);
        assert_eq!(reply["ok"], true, "{tool}: {reply}");
        seen.push(json!([tool, facts.iter().map(|fact| reply[*fact].clone()).collect::<Vec<_>>()]));
    };
    let value =
        |name: &str, value: &str| json!({ "selector": format!("//Edit[name=\"{name}\"]"), "value": value });
    step("set_value", value("Name", "Ada"), &["changed"]);
    step("click_element", json!({ "selector": "//Button[name=\"Send\"]" }), &["changed"]);
    step("find", json!({ "text": "sent name=Ada" }), &["ok"]);
    step("open_url", json!({ "url": site::address("other.html") }), &["title", "url"]);
    step("page_history", json!({ "go": "back" }), &["title"]);
    step("click_element", json!({ "selector": "//Hyperlink[name=\"a link\"]" }), &["changed"]);
    step("list_windows", json!({}), &["count"]);
    seen
}

#[test]
fn a_traced_session_on_pages_replays_on_the_mock_desktop() {
    let folder = tempfile::tempdir().unwrap();
    let traces = folder.path().join("traces");
    let mut page =
        PageTest::open_flagged("form.html", &[], &[("OSO_TRACING__DIR", traces.to_str().unwrap())]);
    page.ok("trace_start", json!({ "label": "pages" }));
    let live = work(&mut |tool, arguments| page.call(tool, arguments));
    page.ok("trace_stop", json!({}));
    drop(page);
    let trace = std::fs::read_dir(&traces).unwrap().next().unwrap().unwrap().path();
    let scenario = folder.path().join("pages.yaml");
    let recorded = Command::new(env!("CARGO_BIN_EXE_os-screen-observer"))
        .args(["scenario", "record"])
        .arg(&trace)
        .arg("--output")
        .arg(&scenario)
        .output()
        .unwrap();
    assert!(recorded.status.success(), "{}", String::from_utf8_lossy(&recorded.stderr));
    let mut mock = Client::mock(&["--scenario", scenario.to_str().unwrap()]);
    let tools = mock.request("tools/list", json!({}))["result"]["tools"].to_string();
    assert!(tools.contains("\"open_url\""), "the recorded pages are a browser's");
    assert_eq!(work(&mut |tool, arguments| mock.data(tool, arguments)), live);
}
