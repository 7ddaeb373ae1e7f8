//! Keys go to the window that is named, every one of them, and in their order.

use serde_json::{Value, json};

use crate::background::Form;
use crate::desk::{App, Desk, Server, desk, runs, until};

fn terminal(desk: &Desk, server: &mut Server) -> (App, String) {
    let app =
        desk.start("xterm", &["-T", "Other", "-geometry", "80x24+700+500", "-e", "cat > other-program"]);
    let uid = server.uid(&app, "Other");
    server.ok("bring_to_foreground", json!({"window_uid": uid}));
    (app, uid)
}

fn until_page(form: &Form, text: &str) {
    until(&format!("the text {text:?}, not {:?}", form.page()), || (form.page() == text).then_some(()));
}

#[test]
fn text_for_a_window_goes_to_that_window() {
    let desk = desk();
    let mut server = desk.server();
    let form = Form::start(&desk, &mut server, "3.0");
    let (_other, _) = terminal(&desk, &mut server);
    let receipt = server.ok("type_text", json!({"text": "straight", "window_uid": form.uid}));
    until_page(&form, "straight");
    assert_eq!(receipt["verified"], true, "{receipt}");
    assert_eq!(receipt["into"]["value"], "straight", "{receipt}");
    assert_eq!(receipt["into"]["window_uid"], form.uid.as_str(), "{receipt}");
}

#[test]
fn the_window_of_a_list_of_steps_gets_its_keys() {
    let desk = desk();
    let mut server = desk.server();
    let form = Form::start(&desk, &mut server, "3.0");
    let (_other, other) = terminal(&desk, &mut server);
    let steps = json!([{"do": "type_text", "text": "one"}, {"do": "press_key", "keys": "enter"}, {"do": "type_text", "text": "two"}]);
    server.ok("act", json!({"window_uid": form.uid, "steps": steps}));
    until_page(&form, "one\ntwo");
    // The terminal gets what is for it, and nothing else has reached it.
    server.ok("act", json!({"window_uid": other, "steps": [{"do": "type_text", "text": "mine\n"}]}));
    let typed = desk.home().join("other-program");
    until("the terminal's own line", || std::fs::read_to_string(&typed).ok().filter(|text| text == "mine\n"));
}

#[test]
fn keys_in_the_background_are_refused() {
    let desk = desk();
    let mut server = desk.server();
    let form = Form::start(&desk, &mut server, "3.0");
    let (_other, _) = terminal(&desk, &mut server);
    for (tool, mut arguments) in
        [("type_text", json!({"text": "stray"})), ("press_key", json!({"keys": "x"}))]
    {
        arguments["window_uid"] = json!(form.uid);
        arguments["delivery"] = json!("background");
        let refused = server.call(tool, arguments);
        assert_eq!(refused["error"]["code"], "WindowOccluded", "{refused}");
    }
    assert_eq!(form.page(), "");
}

#[test]
fn a_step_waits_for_what_is_about_to_be_enabled() {
    let desk = desk();
    let mut server = desk.server();
    let form = Form::start(&desk, &mut server, "3.0");
    let click = |name: &str| json!({"do": "click_element", "selector": format!("//Button[name=\"{name}\"]")});
    server.ok("act", json!({"window_uid": form.uid, "steps": [click("Press me"), click("Later")]}));
    form.until_event(&json!({"later": true}));
}

/// Numbers that look random and are the same in every run.
pub struct Seeded(pub u64);

impl Seeded {
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % bound
    }

    pub fn text(&mut self) -> String {
        const SIGNS: &[char] =
            &['a', 'b', 'Z', 'q', ' ', '.', '-', '7', 'é', 'ß', '漢', 'm', 'n', 'o', 'W', '_', '(', '/'];
        let length = 1 + self.below(40);
        (0..length).map(|_| SIGNS[self.below(SIGNS.len())]).collect()
    }
}

/// Steps for a text editor, and what they make of an empty document with the caret at its end.
pub fn random_steps(seed: u64, count: usize) -> (Vec<Value>, String) {
    let mut seeded = Seeded(seed);
    let (mut steps, mut document) = (Vec::new(), String::new());
    let key = |keys: &str| json!({"do": "press_key", "keys": keys});
    for _ in 0..count {
        match seeded.below(6) {
            0 => {
                steps.push(key("enter"));
                document.push('\n');
            }
            1 if !document.is_empty() => {
                steps.push(key("backspace"));
                document.pop();
            }
            // All of it is replaced.
            2 => {
                let text = seeded.text();
                steps.extend([key("ctrl+a"), json!({"do": "type_text", "text": text})]);
                document = text;
            }
            // All of it is cut and put back.
            3 if !document.is_empty() => {
                steps.extend([key("ctrl+a"), key("ctrl+x"), key("ctrl+v")]);
            }
            _ => {
                let text = seeded.text();
                steps.extend([key("ctrl+end"), json!({"do": "type_text", "text": text})]);
                document.push_str(&text);
            }
        }
    }
    (steps, document)
}

type Start = fn(&Desk, &mut Server) -> Form;

/// The document is what was typed, after each of some runs.
fn check_runs(name: &str, start: Start) {
    let desk = desk();
    let mut server = desk.server();
    let form = start(&desk, &mut server);
    let lost = lost_runs(&mut server, &form.uid, name, &[], |document| {
        let began = std::time::Instant::now();
        while form.page() != document && began.elapsed().as_secs() < 3 {
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        form.page()
    });
    assert!(lost.is_empty(), "{}", lost.join("\n"));
}

/// The runs after which the editor does not hold what was typed; `page` waits a while for the text that it is given, and
/// answers with the text that is there. The last steps are the same in every run.
pub fn lost_runs(
    server: &mut Server,
    uid: &str,
    name: &str,
    last: &[Value],
    page: impl Fn(&str) -> String,
) -> Vec<String> {
    let mut lost = Vec::new();
    for seed in 0..runs(2) {
        let (steps, document) = random_steps(seed, 8);
        // What an earlier run wrote is replaced.
        let clear =
            [json!({"do": "press_key", "keys": "ctrl+a"}), json!({"do": "press_key", "keys": "delete"})];
        let steps: Vec<Value> = clear.into_iter().chain(steps).chain(last.iter().cloned()).collect();
        let reply = server.call("act", json!({"window_uid": uid, "steps": steps}));
        assert_eq!(reply["ok"], true, "{name} {seed}: {reply}");
        let found = page(&document);
        if found != document {
            lost.push(format!("{name} {seed}: {found:?} instead of {document:?} by {steps:?}"));
        }
    }
    lost
}

#[test]
fn gtk3_holds_exactly_what_was_typed() {
    check_runs("GTK 3", |desk, server| Form::start(desk, server, "3.0"));
}

#[test]
fn gtk4_holds_exactly_what_was_typed() {
    check_runs("GTK 4", |desk, server| Form::start(desk, server, "4.0"));
}

#[test]
fn qt_holds_exactly_what_was_typed() {
    check_runs("Qt", Form::start_qt);
}

#[test]
fn swing_holds_exactly_what_was_typed() {
    check_runs("Swing", Form::start_swing);
}

/// The first character opens the field that the others belong into.
#[test]
fn a_path_arrives_whole_in_the_dialog_of_gtk() {
    let desk = desk();
    let mut server = desk.server();
    let path = desk.write("in.txt", "hello");
    let editor = desk.start("mousepad", &[]);
    let uid = server.ready(&editor, "Mousepad", 100);
    server.ok("press_key", json!({"keys": "ctrl+o", "window_uid": uid}));
    server.window(&editor, "Open");
    let receipt = server.ok("type_text", json!({"text": path, "window_uid": uid}));
    assert_eq!(receipt["into"]["value"], json!(path), "{receipt}");
    assert_eq!(receipt["verified"], true, "{receipt}");
    server.ok("press_key", json!({"keys": "enter"}));
    server.window(&editor, "in.txt");
}

/// Qt runs a shortcut when it reads it, before letters that it has read earlier.
#[test]
fn a_shortcut_does_not_overtake_a_text() {
    let desk = desk();
    let mut server = desk.server();
    let form = Form::start_qt(&desk, &mut server);
    let text = "the quick brown fox jumps over the lazy dog ".repeat(4);
    for _ in 0..4 {
        let steps = json!([
            {"do": "press_key", "keys": "ctrl+a"},
            {"do": "type_text", "text": text},
            {"do": "press_key", "keys": "ctrl+s"},
        ]);
        server.ok("act", json!({"window_uid": form.uid, "steps": steps}));
        form.until_event(&json!({"dialog": true}));
        assert_eq!(form.page(), text);
        server.ok("press_key", json!({"keys": "escape"}));
    }
}

#[test]
fn a_click_is_a_click() {
    let desk = desk();
    let mut server = desk.server();
    let form = Form::start_qt(&desk, &mut server);
    let click = |server: &mut Server, role: &str, name: &str, more: Value| {
        let mut arguments = more;
        arguments["window_uid"] = json!(form.uid);
        arguments["selector"] = json!(format!("//{role}[name=\"{name}\"]"));
        server.ok("click_element", arguments)
    };
    let row = |server: &mut Server, name: &str, more: Value| click(server, "ListItem", name, more);
    click(&mut server, "*", "Eye", json!({}));
    form.until_event(&json!({"eye": true}));
    row(&mut server, "First", json!({}));
    form.until_event(&json!({"rows": ["First"]}));
    row(&mut server, "First", json!({}));
    row(&mut server, "Third", json!({"modifiers": ["ctrl"]}));
    form.until_event(&json!({"rows": ["First", "Third"]}));
    row(&mut server, "Second", json!({}));
    form.until_event(&json!({"rows": ["Second"]}));
    assert!(
        !form.events().contains(&json!({"rows": []})),
        "a second click took nothing back: {:?}",
        form.events()
    );
}

#[test]
fn a_password_is_compared_by_its_length() {
    let desk = desk();
    let mut server = desk.server();
    let form = Form::start_qt(&desk, &mut server);
    let field =
        json!({"window_uid": form.uid, "selector": "//*[name=\"Password\"]", "value": "correct horse 19 ok"});
    let receipt = server.ok("set_value", field);
    assert_eq!(receipt["verified"], true, "{receipt}");
    assert!(receipt["note"].is_null(), "{receipt}");
    form.until_event(&json!({"secret": "correct horse 19 ok"}));
}
