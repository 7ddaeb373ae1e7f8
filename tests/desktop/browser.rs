//! Chromium with a page of some thousand elements that was written for this.

use serde_json::{Value, json};

use crate::desk::{Desk, Stage, desk, has_state, until};

const ROWS: usize = 150;

/// Elements for everybody, and nothing that asks the person or the network.
pub const ARGUMENTS: &[&str] = &[
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--password-store=basic",
    "--force-renderer-accessibility",
];

/// What the page's scripts did is in its title, for the walk to see.
fn page() -> String {
    let rows: String = (0..ROWS)
        .map(|row| {
            format!(
                "<tr><td>{row}</td><td><a href='#r{row}'>Item {row}</a></td><td>\
                 <button onclick=\"document.title='clicked {row}'\" ondblclick=\"document.title='double {row}'\">\
                 Button {row}</button><label><input type=checkbox> Check {row}</label></td></tr>"
            )
        })
        .collect();
    let words: String = (0..5)
        .map(|word| format!("<button onclick=\"said.textContent='said {word}'\">Say {word}</button>"))
        .collect();
    format!(
        "<!doctype html><html lang=en><meta charset=utf-8><title>Thousands</title><p id=said>none</p>{words}\
         <label>Field <input id=field oninput=\"document.title='typed '+this.value\"></label>\
         <label>Colour <select onchange=\"document.title='chose '+this.value\">\
         <option>red<option>green<option>blue</select></label>\
         <button onclick=\"setTimeout(()=>{{let b=document.createElement('button');b.textContent='Late';\
         document.body.prepend(b)}},2500)\">Start timer</button>\
         <table>{rows}</table></html>"
    )
}

fn open<'a>(desk: &'a Desk, name: &str) -> Stage<'a> {
    let path = desk.write(&format!("{name}.html"), &page());
    let profile = format!("--user-data-dir={}", desk.home().join(name).display());
    let address = format!("file://{}", path.display());
    let mut arguments = ARGUMENTS.to_vec();
    arguments.extend([profile.as_str(), address.as_str()]);
    Stage::new(desk, "chromium", &arguments, "Thousands", 1500)
}

/// The page says itself what happened to it, in its title.
fn until_told(desk: &Desk, stage: &Stage<'_>, text: &str) {
    until(&format!("the page to say {text:?}"), || {
        let window = desk.node(&stage.app, &json!("root"))?;
        window["name"].as_str()?.contains(text).then_some(())
    });
}

fn click(stage: &mut Stage<'_>, role: &str, name: &str) -> Value {
    let element = stage.server.element(&stage.uid, role, name);
    stage.ok("click_element", json!({"element_id": element["id"]}))
}

/// One browser for all of it, because it takes long to start.
#[test]
fn a_page_of_thousands_is_read_and_worked() {
    let desk = desk();
    let mut stage = open(&desk, "thousands");
    let theirs = until("agreement on the page", || {
        let theirs = desk.brief_walk(&stage.app);
        let ours = stage.server.tree(&stage.uid);
        let buttons = |name: &Value| name.as_str().is_some_and(|name| name.starts_with("Button "));
        let count = |nodes: &[Value]| nodes.iter().filter(|node| buttons(&node["name"])).count();
        (ours.len() == theirs.len() && count(&ours) == count(&theirs)).then_some(theirs)
    });
    assert!(theirs.len() > 1500, "{}", theirs.len());

    click(&mut stage, "Button", "Button 7");
    until_told(&desk, &stage, "clicked 7");

    click(&mut stage, "CheckBox", "Check 3");
    desk.until_any(&stage.app, "the box checked", |node| {
        node["name"] == "Check 3" && has_state(node, "checked")
    });

    stage.ok("set_value", json!({"selector": "//Edit[name=\"Field\"]", "value": "Zoë 漢字"}));
    until_told(&desk, &stage, "typed Zoë 漢字");

    stage.ok("select_option", json!({"selector": "//ComboBox[name=\"Colour\"]", "option_name": "green"}));
    until_told(&desk, &stage, "chose green");

    click(&mut stage, "Button", "Start timer");
    let late = json!({"type": "element_appears", "selector": "//Button[name=\"Late\"]"});
    let waited = stage.ok("wait_for", json!({"any_of": [late], "timeout_ms": 30000}));
    assert_eq!(waited["matched_index"], 0, "{waited}");
    let late = stage.server.element(&stage.uid, "Button", "Late");
    stage.until_is(&late, "the late button", |node| node["name"] == "Late");

    let near = stage.server.element(&stage.uid, "Button", "Button 2");
    stage.ok("double_click_element", json!({"element_id": near["id"]}));
    until_told(&desk, &stage, "double 2");

    click(&mut stage, "Button", &format!("Button {}", ROWS - 1));
    until_told(&desk, &stage, &format!("clicked {}", ROWS - 1));

    let far = stage.server.element(&stage.uid, "CheckBox", &format!("Check {}", ROWS - 1));
    stage.ok("invoke_element", json!({"element_id": far["id"]}));
    stage.until_is(&far, "the far box checked", |node| has_state(node, "checked"));
    a_confirmed_click_is_told_in_few_tokens(stage);
}

/// In the same browser, for a model: the page has hundreds of buttons, and one of them is clicked and verified.
fn a_confirmed_click_is_told_in_few_tokens(stage: Stage<'_>) {
    let Stage { desk, server, app: _app, uid } = stage;
    // It would keep the desktop.
    drop(server);
    let mut agent = desk.agent_server();
    agent.lines("look", json!({"window_uid": uid}));
    for word in 0..5 {
        let button = format!("//Button[name=\"Say {word}\"]");
        let step = json!({"do": "click_element", "selector": button, "expect": format!("text: said {word}")});
        let told = agent.lines("act", json!({"window_uid": uid, "steps": [step]}));
        assert!(told.contains(&format!("Button \"Say {word}\": confirmed")), "{told}");
        assert!(told.len() / 4 <= 60, "{} tokens: {told}", told.len() / 4);
    }
}
