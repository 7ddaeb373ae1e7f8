//! Being told of changes on a real desktop: a page that is typed into, and a window that opens.

use serde_json::json;

use crate::desk::{Desk, Server, Stage, desk, live, until};

/// The addresses that are told until one of them is `wanted`.
fn heard(server: &mut Server, wanted: &str) -> Vec<String> {
    let mut heard = Vec::new();
    until(&format!("to be told of {wanted}"), || {
        let message = server.client.receive_within(std::time::Duration::from_millis(200))?;
        heard.extend(message["params"]["uri"].as_str().map(str::to_owned));
        heard.last().is_some_and(|uri| uri == wanted).then_some(())
    });
    heard
}

/// What comes until nothing has come for a while: toolkits go on for a moment after a window is there.
fn settle(server: &mut Server) {
    while server.client.receive_within(std::time::Duration::from_secs(2)).is_some() {}
}

fn subscribe(server: &mut Server, uri: &str) {
    let answer = server.client.request("resources/subscribe", json!({ "uri": uri }));
    assert!(answer["result"].is_object(), "{answer}");
}

fn open<'a>(desk: &'a Desk, name: &str) -> Stage<'a> {
    let path = desk.write(name, "");
    Stage::new(desk, "mousepad", &[path.to_str().unwrap()], name, 100)
}

#[test]
fn a_page_that_is_typed_into_is_told() {
    let desk = desk();
    let mut stage = open(&desk, "told.txt");
    let page = stage.find("the page", |node| live(node, "text") && node["extents"][3].as_i64() > Some(150));
    stage.ok("focus_element", json!({"element_id": page["id"]}));
    let uri = format!("screen://window/{}/outline", stage.uid);
    subscribe(&mut stage.server, &uri);
    settle(&mut stage.server);
    stage.server.client.post("tools/call", json!({"name": "type_text", "arguments": {"text": "a new line"}}));
    heard(&mut stage.server, &uri);
    settle(&mut stage.server);
    let answer = stage.server.client.request("resources/read", json!({ "uri": uri }));
    assert!(answer["result"]["contents"][0]["text"].as_str().unwrap().contains("a new line"), "{answer}");
}

#[test]
fn a_window_that_opens_is_told() {
    let desk = desk();
    let mut server = desk.server();
    subscribe(&mut server, "screen://windows");
    settle(&mut server);
    let _dialog = desk.start("zenity", &["--info", "--text=hello", "--title=Opened"]);
    heard(&mut server, "screen://windows");
    until("the new window in the list", || {
        let answer = server.client.request("resources/read", json!({"uri": "screen://windows"}));
        answer["result"]["contents"][0]["text"].as_str()?.contains("Opened").then_some(())
    });
}
