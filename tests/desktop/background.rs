//! Windows behind others, worked in place: nothing is taken from the person at the desktop. Pointer, focus and stacking
//! are watched from outside, and what was done is written down by the program itself.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::desk::{App, Desk, Server, desk, until};
use crate::support::project;

/// A window with one control of each kind, which writes down what happens to it.
pub struct Form {
    _app: App,
    pub uid: String,
    log: PathBuf,
}

impl Form {
    /// Of GTK, in the version that is named.
    pub fn start(desk: &Desk, server: &mut Server, version: &str) -> Self {
        Self::run(desk, server, "/usr/bin/python3", &["gtk_form.py", version], 6)
    }

    pub fn start_qt(desk: &Desk, server: &mut Server) -> Self {
        Self::run(desk, server, "/usr/bin/python3", &["qt_form.py"], 6)
    }

    pub fn start_swing(desk: &Desk, server: &mut Server) -> Self {
        Self::run(desk, server, "java", &["Editor.java"], 1)
    }

    /// The first argument is a file of tests/desktop/programs, and the log comes after the last.
    fn run(desk: &Desk, server: &mut Server, program: &str, arguments: &[&str], least: usize) -> Self {
        let log = desk.home().join("form.log");
        for file in [log.clone(), log.with_extension("log.text")] {
            let _ = std::fs::remove_file(file);
        }
        let source = project().join("tests/desktop/programs").join(arguments[0]);
        let mut all = vec![source.to_str().unwrap()];
        all.extend(&arguments[1..]);
        all.push(log.to_str().unwrap());
        let app = desk.start(program, &all);
        let uid = server.ready(&app, "Form", least);
        Self { _app: app, uid, log }
    }

    /// What happened, in its order.
    pub fn events(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(&self.log).unwrap_or_default();
        text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    pub fn page(&self) -> String {
        std::fs::read_to_string(self.log.with_extension("log.text")).unwrap_or_default()
    }

    pub fn until_event(&self, event: &Value) {
        until(&format!("{event}"), || self.events().contains(event).then_some(()));
    }
}

/// Where the pointer is, what has the keyboard, and which window is above which.
#[derive(Debug, PartialEq)]
pub struct Outside(String, String, String);

pub fn outside(desk: &Desk) -> Outside {
    let ask = |program: &str, arguments: &[&str]| {
        let output = desk.command(program).args(arguments).output().expect(program);
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    Outside(
        ask("xdotool", &["getmouselocation"]),
        ask("xdotool", &["getwindowfocus"]),
        ask("xprop", &["-root", "_NET_ACTIVE_WINDOW", "_NET_CLIENT_LIST_STACKING"]),
    )
}

fn cover(desk: &Desk, server: &mut Server) -> (App, String) {
    let app =
        desk.start("xterm", &["-T", "Cover", "-geometry", "300x90+0+0", "-e", "cat > typed-into-cover"]);
    let uid = server.uid(&app, "Cover");
    server.ok("bring_to_foreground", json!({"window_uid": uid}));
    (app, uid)
}

fn check_in_background(server: &mut Server, uid: &str, tool: &str, arguments: Value) -> Value {
    let mut arguments = arguments;
    arguments["window_uid"] = json!(uid);
    let receipt = server.ok(tool, arguments);
    assert_eq!(receipt["route"], "accessibility", "{receipt}");
    assert_eq!(receipt["in_background"], true, "{receipt}");
    receipt
}

fn works_behind(version: &str, most_ms: u64) {
    let desk = desk();
    let mut server = desk.server();
    let form = Form::start(&desk, &mut server, version);
    let (_cover, _) = cover(&desk, &mut server);
    let before = outside(&desk);
    let text = "Grüße 你好 😀";
    // A check box of GTK 4 has no action of its own; its switch has.
    let (toggle, on, off) = match version {
        "3.0" => ("//CheckBox[name=\"Agree\"]", json!({"agree": true}), json!({"agree": false})),
        _ => ("//CheckBox[name=\"\"]", json!({"power": true}), json!({"power": false})),
    };
    let jobs = [
        ("click_element", json!({"selector": "//Button[name=\"Press me\"]"}), json!({"pressed": true})),
        ("click_element", json!({"selector": toggle}), on),
        ("click_element", json!({"selector": toggle}), off),
        ("click_element", json!({"selector": "//*[name=\"Stay down\"]"}), json!({"stay": true})),
        ("set_value", json!({"selector": "//Edit", "value": text}), json!({"field": text})),
    ];
    for (tool, arguments, event) in jobs {
        let receipt = check_in_background(&mut server, &form.uid, tool, arguments);
        form.until_event(&event);
        // A loaded machine is slow.
        let took = receipt["duration_ms"].as_u64().unwrap();
        assert!(took <= 20 * most_ms, "{took} ms instead of {most_ms}: {receipt}");
    }
    assert_eq!(outside(&desk), before, "nothing was taken");
}

#[test]
fn gtk3_is_worked_behind_another_window() {
    works_behind("3.0", 100);
}

#[test]
fn gtk4_is_worked_behind_another_window() {
    works_behind("4.0", 400);
}

/// GTK 4.8 gives a check box no action and takes no focus for it: only the pointer works it, and the refusal says so.
#[test]
fn a_check_box_of_gtk4_is_refused_behind_another_window_with_what_helps() {
    let desk = desk();
    let mut server = desk.server();
    let form = Form::start(&desk, &mut server, "4.0");
    let (_cover, _) = cover(&desk, &mut server);
    let before = outside(&desk);
    let mut arguments = json!({"window_uid": form.uid, "selector": "//CheckBox[name=\"Agree\"]"});
    let refused = server.call("click_element", arguments.clone());
    assert_eq!(refused["error"]["code"], "ElementOccluded", "{refused}");
    assert!(refused["error"]["message"].as_str().unwrap().contains("delivery:\"foreground\""), "{refused}");
    assert_eq!(outside(&desk), before, "nothing was taken");
    arguments["delivery"] = json!("foreground");
    let receipt = server.ok("click_element", arguments);
    assert_eq!(receipt["raised"], true, "{receipt}");
    form.until_event(&json!({"agree": true}));
}

/// A click on a part that shows raises the window, and says so.
#[test]
fn a_click_on_an_uncovered_part_says_that_it_raised_the_window() {
    let desk = desk();
    let mut server = desk.server();
    let form = Form::start(&desk, &mut server, "3.0");
    let app = desk.start("xterm", &["-T", "Aside", "-geometry", "20x5+1200+800", "-e", "sleep 600"]);
    let uid = server.uid(&app, "Aside");
    server.ok("bring_to_foreground", json!({"window_uid": uid}));
    let click = json!({"window_uid": form.uid, "selector": "//CheckBox[name=\"Agree\"]"});
    let receipt = server.ok("click_element", click.clone());
    form.until_event(&json!({"agree": true}));
    let is_in_front =
        server.windows().iter().any(|it| it["focused"] == true && it["window_uid"] == form.uid.as_str());
    assert_eq!(receipt["raised"] == true, is_in_front, "{receipt}");
    assert!(is_in_front || receipt["in_background"] == true, "{receipt}");
    let again = server.ok("click_element", click);
    assert!(!is_in_front || again.get("raised").is_none(), "{again}");
}

#[test]
fn a_minimised_window_is_worked_in_place() {
    let desk = desk();
    let mut server = desk.server();
    let form = Form::start(&desk, &mut server, "3.0");
    server.ok("window_action", json!({"window_uid": form.uid, "action": "minimize"}));
    let before = outside(&desk);
    let arguments = json!({"selector": "//Button[name=\"Press me\"]"});
    check_in_background(&mut server, &form.uid, "click_element", arguments);
    form.until_event(&json!({"pressed": true}));
    assert_eq!(outside(&desk), before);
}

#[test]
fn what_takes_the_pointer_is_refused_or_brings_the_window_to_the_front() {
    let desk = desk();
    let mut server = desk.server();
    let form = Form::start(&desk, &mut server, "3.0");
    let (_cover, _) = cover(&desk, &mut server);
    let before = outside(&desk);
    let mut arguments =
        json!({"window_uid": form.uid, "selector": "//Button[name=\"Press me\"]", "button": "middle"});
    let refused = server.call("click_element", arguments.clone());
    assert_eq!(refused["error"]["code"], "ElementOccluded", "{refused}");
    assert!(refused["error"]["message"].as_str().unwrap().contains("foreground"), "{refused}");
    assert_eq!(outside(&desk), before, "nothing was taken");
    arguments["delivery"] = json!("foreground");
    arguments["button"] = json!("left");
    arguments["count"] = json!(2);
    server.ok("click_element", arguments);
    form.until_event(&json!({"pressed": true}));
    assert_ne!(outside(&desk), before);
}
