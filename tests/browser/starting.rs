//! A browser that does not start: who asked for one learns why at once, and keeps the tools for pages.

use serde_json::json;

use crate::support::Client;

#[test]
fn a_browser_that_does_not_start_is_told_before_the_first_call() {
    let flags = ["--mode", "mcp", "--profile", "web", "--log", "error", "--browser", "about:blank"];
    let mut client = Client::start_with(&flags, &[("OSO_BROWSER__EXECUTABLE", "/bin/false")]);
    let greeting = client.initialize("2025-11-25").to_string();
    let told = greeting.split("\"instructions\":\"").nth(1).unwrap();
    assert!(told.starts_with("Nothing can be seen or operated now"), "{told}");
    assert!(told.contains("the browser did not start") && told.contains("1. open_url"), "{told}");
    let tools = client.request("tools/list", json!({})).to_string();
    for tool in ["open_url", "read_page", "look", "act"] {
        assert!(tools.contains(&format!("\"{tool}\"")), "{tool}: {tools}");
    }
    let opened = client.call("open_url", json!({ "url": "https://example.org/" })).to_string();
    assert!(opened.contains("the browser did not start"), "{opened}");
}
