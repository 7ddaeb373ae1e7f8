//! Programs that stop, die or lose their bus while they are looked at: one call pays, the server does not.

use rustix::process::Signal;
use serde_json::json;

use crate::desk::{Stage, desk, until};
use crate::support::Client;

#[test]
fn a_stopped_program_costs_its_own_calls_only() {
    let desk = desk();
    let mut stage = Stage::new(&desk, "mousepad", &[], "Mousepad", 100);
    let other = desk.start("zenity", &["--info", "--title=Other", "--text=Well"]);
    let other_uid = stage.server.ready(&other, "Other", 3);
    stage.app.signal(Signal::STOP);
    let reply = stage.server.call("get_window_structure", json!({"window_uid": stage.uid, "depth": 64}));
    let honest = reply["ok"] == false || reply.to_string().contains("degraded");
    assert!(honest, "a stopped program cannot have answered: {reply}");
    assert!(stage.server.tree(&other_uid).len() >= 3);
    assert!(stage.server.windows().len() >= 2);
    stage.app.signal(Signal::CONT);
    let uid = stage.uid.clone();
    until("the program to answer again", || (stage.server.tree(&uid).len() >= 100).then_some(()));
}

#[test]
fn a_program_that_dies_in_the_middle_of_a_look() {
    let desk = desk();
    let mut stage = Stage::new(&desk, "gtk3-widget-factory", &[], "", 200);
    let arguments = json!({"window_uid": stage.uid, "depth": 64});
    let call = json!({"name": "get_window_structure", "arguments": arguments});
    let id = stage.server.client.post("tools/call", call);
    stage.app.signal(Signal::KILL);
    stage.server.client.answer(id);
    until("the window to go", || {
        let reply = stage.server.call("get_window_structure", json!({"window_uid": stage.uid}));
        (reply["error"]["code"] == "WindowGone").then_some(())
    });
    let next = desk.start("zenity", &["--info", "--title=Next", "--text=Well"]);
    stage.server.ready(&next, "Next", 3);
}

/// kcalc has no cache and is walked level by level, so a look takes long enough to be stopped in.
#[test]
fn a_program_that_is_stopped_in_the_middle_of_a_look() {
    let desk = desk();
    let mut stage = Stage::new(&desk, "kcalc", &[], "KCalc", 100);
    let whole = stage.server.tree(&stage.uid).len();
    let mut cut = 0;
    for delay in [1, 4, 10, 20] {
        // Longer than a tree is kept, so that this look asks the program.
        std::thread::sleep(std::time::Duration::from_millis(2_200));
        let arguments = json!({"window_uid": stage.uid, "depth": 64});
        let call = json!({"name": "get_window_structure", "arguments": arguments});
        let id = stage.server.client.post("tools/call", call);
        std::thread::sleep(std::time::Duration::from_millis(delay));
        stage.app.signal(Signal::STOP);
        let answer = stage.server.client.answer(id);
        stage.app.signal(Signal::CONT);
        let text = answer["result"]["content"][0]["text"].as_str().unwrap_or_default();
        let reply: serde_json::Value = serde_json::from_str(text).unwrap();
        let says_so = reply["error"]["code"] == "Timeout" || reply["complete"] == false;
        cut += usize::from(says_so);
        let is_whole = reply["node_count"].as_u64() == u64::try_from(whole).ok();
        assert!(says_so || is_whole, "cut, and does not say so: {reply}");
        let uid = stage.uid.clone();
        until("the program to answer again", || (stage.server.tree(&uid).len() == whole).then_some(()));
    }
    assert!(cut > 0, "no look was stopped in its middle");
}

#[test]
fn without_its_buses_a_desktop_still_has_windows() {
    let arguments = ["--mode", "mcp", "--sandbox", "--", "zenity", "--info", "--title=Lonely", "--text=Well"];
    let mut client = Client::start(&arguments);
    client.initialize("2025-11-25");
    let uid = client.data("list_windows", json!({}))["windows"][0]["window_uid"].clone();
    let arguments = json!({"window_uid": uid, "depth": 64});
    until("a tree", || {
        let reply = client.data("get_window_structure", arguments.clone());
        reply["tree"]["children"].as_array().is_some_and(|children| !children.is_empty()).then_some(())
    });
    let buses = crate::private::family_of(client.process_id());
    let buses = buses.into_iter().filter(|(pid, _)| crate::private::command_of(*pid).contains("dbus-daemon"));
    let buses: Vec<u32> = buses.map(|(pid, _)| pid).collect();
    assert!(!buses.is_empty());
    buses.iter().for_each(|pid| crate::private::signal(*pid, Signal::KILL));
    let reply = client.data("get_window_structure", arguments);
    assert!(reply["ok"] == false || reply.to_string().contains("degraded"), "{reply}");
    assert_eq!(client.data("list_windows", json!({}))["ok"], true);
    assert!(client.alive());
}
