//! Consent, lists, budgets, dry runs: every way to the same button, through every door.
//!
//! The ways are made from the tools' declarations, by the names of their arguments. A tool that is new and takes
//! other arguments fails `ways_of` until somebody has thought about how it gets to the button.
#![cfg(feature = "http")]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use os_screen_observer::model::input::Act;
use os_screen_observer::model::{Point, Rect};
use os_screen_observer::platform::Stage;
use os_screen_observer::scenario;
use os_screen_observer::tool::{Effect, Method, ReplyKind, Spec};
use os_screen_observer::tools;
use serde_json::{Map, Value, json};

use crate::everywhere::Pipe;
use crate::support::http::{JSON, Site};
use crate::support::{Client, World};

const DELETE: &str = "//Button[name=\"Delete\"]";
const NOTE: &str = "//Edit[name=\"Note\"]";
const EXEC_SECRET: &str = "correct horse battery";

/// A protected button with a shortcut, a list with a protected option, and another window that has both. The screen
/// is no larger than the windows: every picture of it costs time.
const FILES: &str = r#"
name: files
screen: {width: 920, height: 520}
states:
  only:
    windows:
      - uid: mock:files
        title: Files
        bounds: {x: 0, y: 0, width: 400, height: 400}
        focused: true
        tree:
          role: Window
          name: Files
          children:
            - {role: Edit, name: Note, id: note, value: "", focused: true, bounds: {x: 10, y: 10, width: 200, height: 24}}
            - role: Button
              name: Delete
              id: delete
              value: everything
              keyboard_shortcut: Ctrl+D
              bounds: {x: 10, y: 50, width: 120, height: 30}
              children:
                - {role: Image, name: bin, bounds: {x: 12, y: 52, width: 20, height: 20}}
            - {role: Button, name: Cancel, id: cancel, bounds: {x: 150, y: 50, width: 100, height: 30}}
            - {role: Slider, name: Age, id: age, value_now: 2, value_min: 1, value_max: 5, bounds: {x: 10, y: 100, width: 200, height: 24}}
            - role: ComboBox
              name: Task
              id: task
              value: Keep
              expanded: false
              bounds: {x: 10, y: 150, width: 200, height: 24}
              children:
                - {role: ListItem, name: Keep, selected: true, bounds: {x: 10, y: 174, width: 200, height: 22}}
                - {role: ListItem, name: Delete the lot, selected: false, bounds: {x: 10, y: 196, width: 200, height: 22}}
      - uid: mock:bin
        title: Delete for ever
        bounds: {x: 500, y: 0, width: 400, height: 300}
        tree:
          role: Window
          name: Bin
          children:
            - {role: Edit, name: Memo, id: memo, value: "", bounds: {x: 510, y: 10, width: 200, height: 24}}
            - {role: Button, name: Delete, id: burn, keyboard_shortcut: Ctrl+Q, bounds: {x: 510, y: 50, width: 100, height: 30}}
      - uid: mock:shredder
        title: Shredder
        bounds: {x: 500, y: 400, width: 200, height: 100}
        tree: {role: Window, name: Shredder}
apps:
  - {id: delete-everything, name: Shredder, program: delete-everything, window: mock:shredder}
"#;

/// A claim that never holds.
fn nowhere() -> Value {
    json!({"kind": "element_exists", "selector": "//Button[name=\"Nowhere\"]"})
}

fn stage() -> scenario::Scenario {
    stage_of(FILES)
}

fn stage_of(text: &str) -> scenario::Scenario {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("files.yaml");
    std::fs::write(&file, text).unwrap();
    scenario::load_file(&file).unwrap()
}

/// Deleting needs consent; programs may be started and commands run, so that consent is all that is in their way.
fn guarded() -> Value {
    json!({
        "confirmation_required": [{"name_regex": "(?i)delete"}],
        "launch": {"programs": "any"},
        "exec": {"enabled": true, "secret": EXEC_SECRET},
    })
}

fn world(config: Value) -> World {
    let world = World::with(config);
    world.mock.load(stage());
    world.app.observer.forget_all();
    world
}

fn site(config: Value) -> Site {
    on_stage(Site::with(config))
}

fn face_of_clickthrough(config: Value) -> Site {
    on_stage(Site::clickthrough(config))
}

fn on_stage(site: Site) -> Site {
    site.mock.load(stage());
    site.app.observer.forget_all();
    site
}

/// The object with the fields of another one laid over it.
fn with(base: &Value, more: Value) -> Value {
    let mut all = base.clone();
    all.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    all
}

// ── the ways ───────────────────────────────────────────────────────────────────────────────────────

/// What acts and gets to no element, with the reason.
const PRESSES_NOTHING: &[(&str, &str)] = &[
    ("clipboard_set", "a text on the clipboard is in no element yet"),
    ("bring_to_foreground", "a window that is raised is not pressed"),
    ("open_url", "the desktop is no browser"),
    ("page_history", "the desktop is no browser"),
    ("choose_files", "the desktop is no browser"),
    ("keep_download", "the desktop is no browser"),
    ("clear_site_data", "the desktop is no browser"),
];

fn acting() -> impl Iterator<Item = Spec> {
    tools::all_tools().filter(|spec| spec.meta.effect.acts())
}

/// Every tool that acts, with every way to the button that its arguments allow.
fn ways() -> Vec<(&'static str, Value)> {
    let listed = |spec: &Spec| !PRESSES_NOTHING.iter().any(|(name, _)| *name == spec.meta.name);
    let every = |spec: Spec| ways_of(&spec).into_iter().map(move |args| (spec.meta.name, args));
    acting().filter(listed).flat_map(every).collect()
}

fn ways_of(spec: &Spec) -> Vec<Value> {
    let schema = spec.full_input_schema();
    let takes = |name: &str| schema["properties"].get(name).is_some();
    if takes("selector") {
        return ways_by_element(takes);
    }
    if takes("image") {
        return [(60, 65), (10, 50), (129, 79), (20, 60)].map(|(x, y)| json!({"x": x, "y": y})).to_vec();
    }
    if takes("from") {
        let (cancel, delete) = (json!({"x": 200, "y": 65}), json!({"x": 60, "y": 65}));
        return vec![
            json!({"from": cancel, "to": delete, "duration_s": 0}),
            json!({"from": delete, "to": cancel, "duration_s": 0}),
            json!({"from": cancel, "to": {"selector": DELETE}, "duration_s": 0}),
            json!({"from": {"element_id": "root.1"}, "to": cancel, "duration_s": 0}),
        ];
    }
    if takes("keys") {
        return ["ctrl+d", "Control+D"].map(|keys| json!({ "keys": keys })).to_vec();
    }
    if takes("text") && takes("region") {
        return vec![json!({"text": "Delete", "window_uid": "mock:files"})];
    }
    if takes("text") {
        return ["\t ", "a\tb\n", "\t\r"].map(|text| json!({ "text": text })).to_vec();
    }
    if takes("steps") {
        let step = json!({"do": "click_element", "selector": DELETE});
        return vec![json!({"steps": [step]}), json!({"steps": [{"do": "press_key", "keys": "ctrl+d"}]})];
    }
    if takes("action") {
        return ["close", "minimize"]
            .map(|action| json!({"action": action, "window_uid": "mock:bin"}))
            .to_vec();
    }
    if takes("program") {
        return vec![json!({"program": "delete-everything"})];
    }
    if takes("command") {
        return vec![json!({"command": "delete everything", "secret": EXEC_SECRET})];
    }
    panic!("{} acts, and nobody has thought about how it gets to the button", spec.meta.name)
}

fn ways_by_element(takes: impl Fn(&str) -> bool) -> Vec<Value> {
    let mut ways = Vec::new();
    // What else the tool wants to be told: one line for each way to fill it in.
    let mut more = vec![json!({})];
    for (name, values) in [
        ("keys", json!(["enter", "space"])),
        ("value", json!(["x"])),
        ("option_index", json!([0])),
        ("button", json!(["left", "right", "middle"])),
        ("count", json!([1, 2])),
    ] {
        if takes(name) {
            let filled = |line: &Value| {
                values
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|value| with(line, json!({ name: value })))
                    .collect::<Vec<_>>()
            };
            more = more.iter().flat_map(filled).collect();
        }
    }
    for element in [
        json!({"selector": DELETE}),
        json!({"selector": "Window/Button[index=0]"}),
        json!({"selector": "Window > Button:nth-of-type(1)"}),
        json!({"selector": "//*[name~=\"D.l.te\"]"}),
        json!({"selector": "//Button[value=\"everything\"]"}),
        json!({"selector": "//Image"}),
        json!({"element_id": "root.1"}),
        json!({"element_id": "root.1", "window_title": "files"}),
        json!({"selector": DELETE, "window_uid": "mock:bin"}),
        json!({"element_id": "root.1", "window_index": 1}),
    ] {
        ways.extend(more.iter().map(|more| with(&element, more.clone())));
    }
    // By way of an element that is not protected itself.
    if takes("keys") {
        ways.push(json!({"selector": NOTE, "keys": "ctrl+d"}));
        ways.push(json!({"selector": "//Edit", "window_uid": "mock:bin", "keys": "ctrl+q"}));
    }
    if takes("value") {
        ways.push(json!({"selector": NOTE, "value": "a\t "}));
        ways.push(json!({"selector": NOTE, "value": "a\t\n", "clear_first": false}));
        ways.push(json!({"selector": "//Edit", "window_uid": "mock:bin", "value": "\t "}));
        ways.push(json!({"selector": "//ComboBox", "value": "Delete the lot"}));
    }
    if takes("option_name") {
        ways.push(json!({"selector": "//ComboBox", "option_name": "Delete the lot"}));
        ways.push(json!({"selector": "//ComboBox", "option_name": "delete something that is listed later"}));
        ways.push(json!({"selector": "//ComboBox", "option_index": 1}));
    }
    ways
}

/// The code of a refusal, also where a list of steps has it in its first step.
fn code(reply: &Value) -> &str {
    let own = reply["error"]["code"].as_str();
    own.or(reply["steps"][0]["error"]["code"].as_str()).unwrap_or("none")
}

/// Every way through one door, plain and as a dry run: refused with this code, and nothing is done.
#[track_caller]
fn check_ways(
    ways: &[(&str, Value)],
    expected: &str,
    call: impl Fn(&str, Value) -> Value,
    done: impl Fn() -> usize,
) {
    let before = done();
    for (tool, args) in ways {
        for args in [args.clone(), with(args, json!({"dry_run": true}))] {
            let reply = call(tool, args.clone());
            assert_eq!(code(&reply), expected, "{tool} {args} answered {reply}");
            assert_eq!(done(), before, "{tool} {args} did something");
        }
    }
}

/// A call over MCP at `/mcp`, in the newer era.
pub fn over_mcp(site: &Site, method: &str, params: Value) -> Value {
    let named = params["name"].as_str().or(params["uri"].as_str()).unwrap_or("-").to_owned();
    let params = with(
        &params,
        json!({"_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
        }}),
    );
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string();
    let mut headers = vec![
        JSON,
        ("accept", "application/json, text/event-stream"),
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", method),
    ];
    if named != "-" {
        headers.push(("mcp-name", &named));
    }
    site.ask("POST", "/mcp", &headers, &body).json()
}

/// The JSON of a tool's result over MCP.
fn data(result: &Value) -> Value {
    let text = result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text in {result}"));
    serde_json::from_str(text).unwrap_or_else(|_| panic!("no JSON: {text}"))
}

fn call_at_mcp(site: &Site, tool: &str, args: Value) -> Value {
    data(&over_mcp(site, "tools/call", json!({"name": tool, "arguments": args}))["result"])
}

fn call_by_tool_route(site: &Site, tool: &str, args: Value) -> Value {
    site.post(&format!("/api/tool/{tool}"), args).json()
}

/// A list of one step. Long replies are no steps, and what starts programs is called by itself.
fn as_steps(ways: Vec<(&'static str, Value)>) -> Vec<(&'static str, Value)> {
    let is_step = |spec: &Spec| {
        let meta = spec.meta;
        meta.effect == Effect::Input && meta.reply == ReplyKind::Data && !meta.steps
    };
    let names: Vec<&str> = tools::all_tools().filter(is_step).map(|spec| spec.meta.name).collect();
    let step =
        |(tool, args): (&'static str, Value)| ("act", json!({"steps": [with(&args, json!({"do": tool}))]}));
    ways.into_iter().filter(|(tool, _)| names.contains(tool)).map(step).collect()
}

/// The built server on the files.
fn server(config: &Value) -> (Client, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let (stage, file) = (folder.path().join("files.yaml"), folder.path().join("config.json"));
    std::fs::write(&stage, FILES).unwrap();
    std::fs::write(&file, config.to_string()).unwrap();
    let flags = ["--scenario", stage.to_str().unwrap(), "--config", file.to_str().unwrap()];
    (Client::mock(&flags), folder)
}

// ── consent ────────────────────────────────────────────────────────────────────────────────────────

/// H-66 on code: every tool that acts, by every way that its arguments allow
#[test]
fn every_way_to_the_button_needs_consent() {
    let world = world(guarded());
    check_ways(&ways(), "ConfirmationRequired", |tool, args| world.call(tool, args), || world.effects());
    // Harmless neighbours of the same shapes are free.
    world.ok("set_value", json!({"selector": NOTE, "value": "a\tb"}));
    world.ok("key_into_element", json!({"selector": NOTE, "keys": "ctrl+q"}));
    world.ok("select_option", json!({"selector": "//ComboBox", "option_name": "Keep"}));
    world.ok("click_at", json!({"x": 140, "y": 65}));
    assert_eq!(world.effects(), 4);
}

/// H-66 on act: the same ways as steps of a list, before and behind a harmless step
#[test]
fn a_list_of_steps_is_no_way_around_consent() {
    let world = world(guarded());
    check_ways(
        &as_steps(ways()),
        "ConfirmationRequired",
        |tool, args| world.call(tool, args),
        || world.effects(),
    );
    for (_, list) in as_steps(ways()) {
        let step = &list["steps"][0];
        let reply = world.call("act", json!({"steps": [{"do": "press_key", "keys": "end"}, step]}));
        assert_ne!(reply["ok"], true, "{step} answered {reply}");
        // As what is done instead of a step whose expectation does not come true.
        let failing =
            json!({"do": "press_key", "keys": "end", "expect": [nowhere()], "within_ms": 0, "on_fail": "a"});
        let reply = world.call("act", json!({"steps": [failing], "alternatives": {"a": [step]}}));
        // What needs consent is mostly foreseen, and then nothing runs at all.
        let judged = reply["error"]["code"].as_str().or(reply["steps"][1]["error"]["code"].as_str());
        assert_eq!(judged, Some("ConfirmationRequired"), "{step} answered {reply}");
    }
    let harmless = |act: &Act| matches!(act, Act::Key { keys, .. } if keys.to_string() == "end");
    assert!(world.mock.action_log().iter().all(harmless), "{:?}", world.mock.action_log());
}

/// The button is there only after another one was pressed, so nobody can foresee that it will be reached.
const LATER: &str = r#"
name: later
states:
  shut:
    windows:
      - uid: mock:files
        title: Files
        bounds: {x: 0, y: 0, width: 400, height: 400}
        focused: true
        tree:
          role: Window
          name: Files
          children:
            - {role: Button, name: More, id: more, bounds: {x: 150, y: 50, width: 100, height: 30}}
  open:
    windows:
      - uid: mock:files
        title: Files
        bounds: {x: 0, y: 0, width: 400, height: 400}
        focused: true
        tree:
          role: Window
          name: Files
          children:
            - {role: Button, name: More, id: more, bounds: {x: 150, y: 50, width: 100, height: 30}}
            - {role: Button, name: Delete, id: delete, keyboard_shortcut: Ctrl+D, focused: true, bounds: {x: 10, y: 50, width: 120, height: 30}}
reactions:
  - {on: {tool: click_element, target_id: more}, transition_to: open}
"#;

/// H-66 on act: an alternative that runs is judged by what is there then
#[test]
fn an_alternative_is_no_way_around_consent() {
    for step in [
        json!({"do": "click_element", "selector": DELETE}),
        json!({"do": "click_at", "x": 60, "y": 65}),
        json!({"do": "invoke_element", "selector": DELETE}),
        json!({"do": "key_into_element", "selector": DELETE, "keys": "enter"}),
        json!({"do": "press_key", "keys": "ctrl+d"}),
        json!({"do": "drag", "from": {"x": 200, "y": 65}, "to": {"x": 60, "y": 65}, "duration_s": 0}),
    ] {
        let world = world(guarded());
        world.mock.load(stage_of(LATER));
        world.app.observer.forget_all();
        let opening = json!({"do": "click_element", "selector": "//Button[name=\"More\"]", "expect": [nowhere()],
            "within_ms": 0, "on_fail": "a"});
        let reply = world.call("act", json!({"steps": [opening], "alternatives": {"a": [step]}}));
        let ran = reply["steps"].as_array().map_or(0, Vec::len);
        assert_eq!(ran, 2, "the alternative of {step} did not run: {reply}");
        assert_eq!(reply["steps"][1]["error"]["code"], "ConfirmationRequired", "{step} answered {reply}");
        assert_eq!(world.effects(), 1, "{step} did {:?}", world.mock.action_log());
    }
}

/// H-66 on REST: `/api/tool/NAME`, and every route of the declarations
#[test]
fn no_route_is_a_way_around_consent() {
    let site = site(guarded());
    let effects = || site.mock.action_count();
    check_ways(&ways(), "ConfirmationRequired", |tool, args| call_by_tool_route(&site, tool, args), effects);
    for spec in acting() {
        for (_, path) in spec.meta.rest.iter().filter(|(method, _)| *method == Method::Post) {
            // These two are shaped differently and tried below.
            if !["/api/action", "/api/hover"].contains(path) {
                let own: Vec<_> = ways().into_iter().filter(|(tool, _)| *tool == spec.meta.name).collect();
                check_ways(&own, "ConfirmationRequired", |_, args| site.post(path, args).json(), effects);
            }
        }
    }
    let adapted = [
        ("/api/action", json!({"action": "click_at", "x": 60, "y": 65})),
        ("/api/action", json!({"action": "click_at", "x": 60, "y": 65, "double": true})),
        ("/api/action", json!({"action": "scroll", "x": 60, "y": 65, "clicks": 1})),
        ("/api/action", json!({"action": "key", "value": "ctrl+d"})),
        ("/api/action", json!({"action": "type", "value": "\t "})),
        ("/api/hover", json!({"x": 60, "y": 65})),
        ("/api/hover", json!({"selector": DELETE})),
    ];
    check_ways(&adapted, "ConfirmationRequired", |path, args| site.post(path, args).json(), effects);
}

/// H-66 on /mcp: every tool that acts, by every way
#[test]
fn mcp_over_http_is_no_way_around_consent() {
    let site = site(guarded());
    let effects = || site.mock.action_count();
    check_ways(&ways(), "ConfirmationRequired", |tool, args| call_at_mcp(&site, tool, args), effects);
}

/// H-66 on stdio: every tool that acts, by every way
#[test]
fn stdio_is_no_way_around_consent() {
    let world = world(guarded());
    let mock = world.mock.clone();
    let pipe = std::cell::RefCell::new(Pipe::of(Arc::new(world.app)));
    check_ways(
        &ways(),
        "ConfirmationRequired",
        |tool, args| pipe.borrow_mut().call(tool, args),
        || mock.action_count(),
    );
}

/// H-66 on replay: what was recorded without rules is judged by the rules of the replay
#[test]
fn a_replay_is_no_way_around_consent() {
    let folder = tempfile::tempdir().unwrap();
    let tracing = json!({"dir": folder.path().join("traces"), "screenshot_every_n_actions": 0});
    let free = world(json!({"tracing": tracing}));
    free.ok("trace_start", json!({}));
    // What is typed as `\t ` leads elsewhere in the recording; that it was called is what counts.
    let calls: Vec<_> = ways().into_iter().filter(|(tool, _)| is_traced_input(tool)).collect();
    for (tool, args) in &calls {
        free.mock.load(stage());
        free.app.observer.forget_all();
        free.call(tool, args.clone());
    }
    free.ok("trace_stop", json!({}));
    assert!(free.effects() > calls.len() / 2, "the recording did little: {}", free.effects());
    let mut config = guarded();
    config["tracing"] = tracing;
    let held = world(config);
    let replay =
        held.ok("replay_start", json!({"path": "latest", "mode": "execute", "on_divergence": "warn"}));
    for (tool, args) in &calls {
        let step = held.call("replay_step", json!({"replay_id": replay["replay_id"]}));
        assert_eq!(step["actual_summary"]["error"]["code"], "ConfirmationRequired", "{tool} {args}: {step}");
    }
    assert_eq!(held.effects(), 0);
}

fn is_traced_input(name: &str) -> bool {
    let spec = tools::all_tools().find(|spec| spec.meta.name == name).unwrap();
    spec.meta.effect == Effect::Input && !spec.meta.steps
}

fn at_delete(action: &str) -> Value {
    json!({"action": action, "target": {"mode": "pixel", "x": 60, "y": 65}})
}

fn words(text: &str) -> Value {
    let region = json!({"x": 0, "y": 0, "width": 400, "height": 300});
    json!({"action": "click_text", "click_text": {"text": text, "region": region}})
}

/// Everything that the face of Clickthrough can do to the button.
fn clickthrough_actions() -> Vec<Value> {
    let mut actions: Vec<Value> =
        ["move", "click", "right_click", "middle_click", "double_click"].map(at_delete).to_vec();
    actions.push(with(&at_delete("scroll"), json!({"scroll_amount": 1})));
    actions.push(with(&at_delete("click"), json!({"clicks": 2, "button": "middle"})));
    actions.push(json!({"action": "click", "target": {
        "mode": "grid", "region_x": 0, "region_y": 0, "region_width": 400, "region_height": 400,
        "rows": 10, "cols": 10, "row": 1, "col": 1,
    }}));
    actions.push(json!({"action": "hotkey", "keys": ["ctrl", "d"]}));
    actions.push(json!({"action": "type", "text": "\t "}));
    actions.push(words("Delete"));
    actions
}

/// H-66 on clickthrough: every action, alone, in a batch and verified; and a window that is named so
#[test]
fn the_face_of_clickthrough_is_no_way_around_consent() {
    let site = face_of_clickthrough(guarded());
    let refused = |path: &str, body: Value| {
        let answer = site.post(path, body.clone());
        assert!(answer.body.contains("confirmation_required"), "{path} {body} answered {answer:?}");
        assert_eq!(site.mock.action_count(), 0, "{path} {body}");
    };
    for action in clickthrough_actions() {
        for action in [action.clone(), with(&action, json!({"dry_run": true}))] {
            refused("/interact", json!({ "action": action }));
            refused("/batch", json!({ "actions": [action] }));
            let wait = json!({"kind": "visual", "state": "change", "timeout_ms": 0});
            refused("/action/verify", json!({"action": action, "verify": wait, "retries": 0}));
        }
    }
    refused("/launch", json!({"executable": "delete-everything"}));
    let exec = json!({"command": "delete everything"}).to_string();
    let answer = site.ask("POST", "/exec", &[JSON, ("x-clickthrough-exec-secret", EXEC_SECRET)], &exec);
    assert!(answer.body.contains("confirmation_required"), "{answer:?}");
}

fn propose(call: impl Fn(&str, Value) -> Value, tool: &str, args: &Value) -> Option<String> {
    let proposed = call("propose_action", json!({"action": tool, "args": args}));
    proposed["confirm_token"].as_str().map(str::to_owned)
}

fn with_token(args: &Value, token: &str) -> Value {
    with(args, json!({ "confirm_token": token }))
}

/// H-67 on code, act: two uses of one consent at the same moment, many times over
#[test]
fn of_two_uses_at_once_one_succeeds() {
    let world = world(guarded());
    let args = json!({"selector": DELETE});
    for round in 1..=60 {
        let token = propose(|tool, args| world.call(tool, args), "click_element", &args).unwrap();
        let direct = with_token(&args, &token);
        let step = json!({"steps": [with(&direct, json!({"do": "click_element"}))]});
        let start = std::sync::Barrier::new(2);
        let use_it = |tool: &str, args: &Value| {
            start.wait();
            world.call(tool, args.clone())
        };
        let (one, other) = std::thread::scope(|scope| {
            let other = if round % 2 == 0 { ("act", &step) } else { ("click_element", &direct) };
            let one = scope.spawn(|| use_it("click_element", &direct));
            let other = scope.spawn(move || use_it(other.0, other.1));
            (one.join().unwrap(), other.join().unwrap())
        });
        assert_eq!(usize::from(one["ok"] == true) + usize::from(other["ok"] == true), 1, "{one} {other}");
        let refused = if one["ok"] == true { &other } else { &one };
        assert_eq!(code(refused), "ConfirmationInvalid", "{refused}");
        assert_eq!(world.effects(), round);
    }
}

/// H-67 on REST, /mcp, stdio: used at two doors at once, and once more afterwards
#[test]
fn a_consent_is_good_at_one_door_only() {
    let site = site(guarded());
    let args = json!({"selector": DELETE});
    for round in 1..=10 {
        let token =
            propose(|tool, args| call_by_tool_route(&site, tool, args), "click_element", &args).unwrap();
        let shown = with_token(&args, &token);
        let worked = AtomicUsize::new(0);
        let count = |reply: Value| worked.fetch_add(usize::from(reply["ok"] == true), Ordering::Relaxed);
        std::thread::scope(|scope| {
            scope.spawn(|| count(call_by_tool_route(&site, "click_element", shown.clone())));
            scope.spawn(|| count(call_at_mcp(&site, "click_element", shown.clone())));
            scope.spawn(|| count(site.post("/api/element/click", shown.clone()).json()));
        });
        assert_eq!((worked.load(Ordering::Relaxed), site.mock.action_count()), (1, round));
        assert_eq!(code(&call_at_mcp(&site, "click_element", shown)), "ConfirmationInvalid");
    }
    let (mut client, _folder) = server(&guarded());
    let proposed = client.data("propose_action", json!({"action": "click_element", "args": args}));
    let shown = with_token(&args, proposed["confirm_token"].as_str().unwrap());
    assert_eq!(client.data("click_element", shown.clone())["ok"], true);
    assert_eq!(code(&client.data("click_element", shown)), "ConfirmationInvalid");
}

/// H-68 on code, act: nothing is done with a consent that has aged, whatever tool it was for
#[test]
fn no_consent_outlives_its_time() {
    for (tool, args) in [
        ("click_element", json!({"selector": DELETE})),
        ("click_at", json!({"x": 60, "y": 65})),
        ("press_key", json!({"keys": "ctrl+d"})),
        ("set_value", json!({"selector": "//ComboBox", "value": "Delete the lot"})),
        ("select_option", json!({"selector": "//ComboBox", "option_name": "Delete the lot"})),
    ] {
        for (seconds, lives) in [(0, true), (59, true), (60, false), (61, false), (100_000, false)] {
            let world = world(guarded());
            let token = propose(|tool, args| world.call(tool, args), tool, &args).unwrap();
            world.app.clock.advance(Duration::from_secs(seconds));
            let reply =
                world.call("act", json!({"steps": [with(&with_token(&args, &token), json!({"do": tool}))]}));
            let expected = if lives { "none" } else { "ConfirmationInvalid" };
            assert_eq!(code(&reply), expected, "{tool} after {seconds} s: {reply}");
            assert_eq!(world.effects(), usize::from(lives), "{tool} after {seconds} s");
        }
    }
}

/// Another value of the same kind.
fn altered(value: &Value) -> Value {
    match value {
        Value::String(text) if text == "mock:bin" => json!("mock:files"),
        Value::String(text) => json!(format!("{text}x")),
        Value::Number(number) => json!(number.as_i64().unwrap_or(0) + 1),
        Value::Bool(flag) => json!(!flag),
        Value::Object(fields) => {
            let fields = fields.iter().map(|(name, value)| (name.clone(), altered(value)));
            Value::Object(fields.collect::<Map<_, _>>())
        }
        other => other.clone(),
    }
}

/// Calls that differ from this one in a single argument: one that it has, or one that it could have had.
fn neighbours(spec: &Spec, args: &Value) -> Vec<Value> {
    let schema = spec.full_input_schema();
    let given = args.as_object().unwrap();
    let changed = given.iter().map(|(name, value)| with(args, json!({ name: altered(value) })));
    let added = schema["properties"].as_object().unwrap().iter().filter_map(|(name, property)| {
        let known =
            given.contains_key(name) || ["dry_run", "confirm_token", "secret"].contains(&name.as_str());
        // Beside a uid the other names of a window change nothing, and beside points none does.
        let idle = (given.contains_key("window_uid")
            && ["window_index", "window_title"].contains(&name.as_str()))
            || (given.contains_key("from") && name.starts_with("window_"));
        (!known && !idle).then(|| with(args, json!({ name: some_value(&schema, property) })))
    });
    changed.chain(added).collect()
}

fn some_value(schema: &Value, property: &Value) -> Value {
    let property = match property["$ref"].as_str() {
        Some(path) => schema.pointer(path.trim_start_matches('#')).unwrap_or(property),
        None => property,
    };
    let kind = if property["type"].is_array() { &property["type"][0] } else { &property["type"] };
    if let Some(first) = property["enum"].as_array().and_then(|values| values.last()) {
        return first.clone();
    }
    match kind.as_str() {
        Some("integer" | "number") => {
            property["minimum"].as_i64().map_or(json!(1), |least| json!(least.max(1)))
        }
        Some("boolean") => json!(true),
        Some("array") => json!([]),
        Some("object") => json!({}),
        _ => json!("x"),
    }
}

/// H-69 on code: a consent shown with a call that differs in any one argument does nothing, and is spent
#[test]
fn a_consent_for_one_call_is_good_for_no_neighbour() {
    let mut invalid = 0;
    for spec in acting().filter(|spec| !spec.meta.steps && spec.meta.lock.is_none()) {
        if PRESSES_NOTHING.iter().any(|(name, _)| *name == spec.meta.name) {
            continue;
        }
        let (tool, args) = (spec.meta.name, ways_of(&spec).swap_remove(0));
        let world = world(guarded());
        let call = |tool: &str, args: Value| world.call(tool, args);
        for other in neighbours(&spec, &args) {
            let Some(token) = propose(call, tool, &args) else { panic!("{tool} {args} cannot be proposed") };
            let before = world.effects();
            let reply = world.call(tool, with_token(&other, &token));
            if code(&reply) == "ConfirmationInvalid" {
                invalid += 1;
                assert_eq!(
                    code(&world.call(tool, with_token(&args, &token))),
                    "ConfirmationInvalid",
                    "{tool} {other}"
                );
                assert_eq!(world.effects(), before, "{tool} {other}");
            } else if reply["ok"] == true {
                // It touches nothing that is protected, so it needed no consent; the consent is spent all the same.
                world.mock.load(stage());
                world.app.observer.forget_all();
                assert_eq!(
                    code(&world.call(tool, other.clone())),
                    "none",
                    "{tool} {other} was let through by a consent"
                );
                assert_eq!(
                    code(&world.call(tool, with_token(&args, &token))),
                    "ConfirmationInvalid",
                    "{tool} {other}"
                );
                world.mock.load(stage());
                world.app.observer.forget_all();
            } else {
                assert_eq!(world.effects(), before, "{tool} {other} answered {reply}");
            }
        }
    }
    assert!(invalid > 60, "only {invalid} neighbours got as far as the judge");
}

/// H-69 on REST, /mcp, act: other values, options, buttons, counts, windows and tools
#[test]
fn a_consent_for_another_call_is_refused_at_every_door() {
    let site = site(guarded());
    for (tool, args, other, other_args) in [
        (
            "click_element",
            json!({"selector": DELETE}),
            "click_element",
            json!({"selector": DELETE, "count": 2}),
        ),
        (
            "click_element",
            json!({"selector": DELETE}),
            "click_element",
            json!({"selector": DELETE, "button": "right"}),
        ),
        (
            "click_element",
            json!({"selector": DELETE}),
            "click_element",
            json!({"selector": DELETE, "window_uid": "mock:bin"}),
        ),
        ("click_element", json!({"selector": DELETE}), "invoke_element", json!({"selector": DELETE})),
        ("click_at", json!({"x": 60, "y": 65}), "right_click_at", json!({"x": 60, "y": 65})),
        (
            "set_value",
            json!({"selector": DELETE, "value": "one"}),
            "set_value",
            json!({"selector": DELETE, "value": "two"}),
        ),
        (
            "select_option",
            json!({"selector": "//ComboBox", "option_name": "Delete the lot"}),
            "select_option",
            json!({"selector": "//ComboBox", "option_index": 1}),
        ),
        ("type_text", json!({"text": "\t "}), "type_text", json!({"text": "\t  "})),
    ] {
        for door in ["REST", "/mcp", "act"] {
            let token = propose(|tool, args| call_at_mcp(&site, tool, args), tool, &args).unwrap();
            let shown = with_token(&other_args, &token);
            let reply = match door {
                "REST" => call_by_tool_route(&site, other, shown),
                "/mcp" => call_at_mcp(&site, other, shown),
                _ => call_by_tool_route(&site, "act", json!({"steps": [with(&shown, json!({"do": other}))]})),
            };
            assert_eq!(code(&reply), "ConfirmationInvalid", "{door} {other} {other_args}: {reply}");
            let spent = call_by_tool_route(&site, tool, with_token(&args, &token));
            assert_eq!(code(&spent), "ConfirmationInvalid", "{door} {tool} {args}: {spent}");
        }
    }
    assert_eq!(site.mock.action_count(), 0);
}

// ── lists ──────────────────────────────────────────────────────────────────────────────────────────

/// What a basic tool does to the desktop, as the mock's log tells it.
fn does(tool: &str, act: &Act) -> bool {
    match tool {
        "click_at" => matches!(act, Act::Click { .. } | Act::Drag { .. } | Act::Invoke { .. }),
        "type_text" => matches!(act, Act::Type { .. } | Act::SetValue { .. }),
        "press_key" => matches!(act, Act::Key { .. }),
        "scroll" => matches!(act, Act::Scroll { .. }),
        "hover_at" => matches!(act, Act::Hover { .. }),
        "drag" => matches!(act, Act::Drag { .. }),
        _ => false,
    }
}

const BASIC: [&str; 6] = ["click_at", "type_text", "press_key", "scroll", "hover_at", "drag"];

/// H-71 on code, act: whatever is called, what is denied does not happen
#[test]
fn what_is_denied_happens_in_no_other_way() {
    for denied in BASIC {
        let world = world(json!({"actions": {"deny": [denied]}}));
        for (tool, args) in ways().into_iter().chain(as_steps(ways())) {
            world.call(tool, args.clone());
            let done: Vec<Act> =
                world.mock.action_log().into_iter().filter(|act| does(denied, act)).collect();
            assert!(done.is_empty(), "{denied} is denied, and {tool} {args} did {done:?}");
        }
    }
}

/// H-71 on REST, /mcp, act: every tool that contains a denied one, and its proposal
#[test]
fn what_contains_a_denied_tool_is_denied() {
    let mut checked = 0;
    for denied in tools::all_tools().map(|spec| spec.meta.name) {
        let containing: Vec<Spec> =
            tools::all_tools().filter(|spec| spec.meta.implies.contains(&denied)).collect();
        if containing.is_empty() {
            continue;
        }
        let site = site(json!({"actions": {"deny": [denied]}}));
        for spec in containing {
            let (tool, args) =
                (spec.meta.name, serde_json::from_str::<Value>(spec.meta.examples[0].args).unwrap());
            let mut replies =
                vec![call_by_tool_route(&site, tool, args.clone()), call_at_mcp(&site, tool, args.clone())];
            for (_, list) in as_steps(vec![(tool, args.clone())]) {
                replies.push(call_at_mcp(&site, "act", list));
            }
            if spec.meta.effect.acts() {
                replies.push(call_at_mcp(&site, "propose_action", json!({"action": tool, "args": args})));
            }
            checked += replies.len();
            for reply in replies {
                assert_eq!(code(&reply), "PermissionDenied", "{denied} by {tool} {args}: {reply}");
            }
        }
        assert_eq!(site.mock.action_count(), 0, "{denied}");
    }
    assert!(checked > 60, "{checked}");
}

/// H-71 on REST, clickthrough, stdio: the routes that rename, and the pipe
#[test]
fn a_renamed_call_is_denied_like_the_tool() {
    let deny = |tool: &str| json!({"actions": {"deny": [tool]}});
    for (tool, path, body) in [
        ("type_text", "/api/action", json!({"action": "type", "value": "x"})),
        ("press_key", "/api/action", json!({"action": "key", "value": "end"})),
        ("click_at", "/api/action", json!({"action": "click_at", "x": 5, "y": 5})),
        ("scroll", "/api/action", json!({"action": "scroll", "clicks": 1})),
        ("hover_at", "/api/hover", json!({"x": 5, "y": 5})),
        ("hover_at", "/api/hover", json!({"selector": NOTE})),
        ("hover_element", "/api/hover", json!({"selector": NOTE})),
        ("get_screen_sketch", "/api/sketch", json!(null)),
    ] {
        let site = site(deny(tool));
        let answer = if body.is_null() { site.get(path) } else { site.post(path, body.clone()) };
        assert_eq!((answer.status, code(&answer.json())), (403, "PermissionDenied"), "{tool} {path} {body}");
        assert_eq!(site.mock.action_count(), 0);
    }
    for (tool, action) in [
        ("click_at", at_delete("click")),
        ("click_at", at_delete("double_click")),
        ("click_at", words("Cancel")),
        ("hover_at", at_delete("move")),
        ("scroll", at_delete("scroll")),
        ("type_text", json!({"action": "type", "text": "x"})),
        ("press_key", json!({"action": "hotkey", "keys": ["end"]})),
    ] {
        let site = face_of_clickthrough(deny(tool));
        for (path, body) in
            [("/interact", json!({ "action": action })), ("/batch", json!({ "actions": [action] }))]
        {
            let answer = site.post(path, body);
            assert!(answer.body.contains("permission_denied"), "{tool} {path} {action}: {answer:?}");
        }
        assert_eq!(site.mock.action_count(), 0);
    }
    let (mut client, _folder) = server(&deny("type_text"));
    for (tool, args) in [
        ("type_text", json!({"text": "x"})),
        ("type_and_observe", json!({"text": "x"})),
        ("set_value", json!({"selector": NOTE, "value": "x"})),
        ("key_into_element", json!({"selector": NOTE, "keys": "x"})),
    ] {
        assert_eq!(code(&client.data(tool, args)), "PermissionDenied", "{tool}");
    }
}

/// H-71 on REST, /mcp: a denied picture leaves beside no other answer
#[test]
fn a_denied_picture_is_in_no_other_reply() {
    let site = site(json!({"actions": {"deny": ["get_screenshot"]}}));
    for (tool, args) in [
        ("get_screenshot", json!({})),
        ("zoom", json!({"x": 60, "y": 65})),
        ("get_full_screenshot", json!({})),
        ("get_screenshot_cropped", json!({"element_id": "root.1"})),
        ("look", json!({"picture": "plain"})),
        ("look", json!({"picture": "marks"})),
        ("look", json!({"grid": {}})),
    ] {
        let rest = call_by_tool_route(&site, tool, args.clone());
        assert_eq!(code(&rest), "PermissionDenied", "{tool} {args}: {rest:.300}");
        let result =
            over_mcp(&site, "tools/call", json!({"name": tool, "arguments": args}))["result"].clone();
        assert!(!result.to_string().contains("\"image\""), "{tool} {args}");
    }
    let read = over_mcp(&site, "resources/read", json!({"uri": "screen://window/mock:files/picture"}));
    assert!(read["error"].is_object(), "{read:.300}");
    assert_eq!(call_by_tool_route(&site, "look", json!({}))["ok"], true);
}

/// H-72 on REST, /mcp, stdio, clickthrough: what the list does not name is denied, whatever it is
#[test]
fn an_allow_list_alone_denies_every_other_tool() {
    let config = json!({"actions": {"allow": ["get_window_structure"]}});
    let site = site(config.clone());
    for spec in
        tools::all_tools().filter(|spec| !spec.meta.always && spec.meta.name != "get_window_structure")
    {
        let args: Value = serde_json::from_str(spec.meta.examples[0].args).unwrap();
        for reply in [
            call_by_tool_route(&site, spec.meta.name, args.clone()),
            call_at_mcp(&site, spec.meta.name, args.clone()),
        ] {
            assert_eq!(code(&reply), "PermissionDenied", "{} {args}: {reply:.300}", spec.meta.name);
        }
    }
    assert_eq!(call_by_tool_route(&site, "get_window_structure", json!({}))["ok"], true);
    let (mut client, _folder) = server(&config);
    assert_eq!(code(&client.data("click_at", json!({"x": 5, "y": 5}))), "PermissionDenied");
    let face = face_of_clickthrough(config);
    assert!(face.post("/interact", json!({"action": at_delete("click")})).body.contains("permission_denied"));
    assert!(face.post("/see", json!({})).body.contains("permission_denied"));
    assert_eq!((site.mock.action_count(), face.mock.action_count()), (0, 0));
}

// ── budgets ────────────────────────────────────────────────────────────────────────────────────────

/// Harmless inputs of many kinds, and some that fail.
fn mixed_inputs() -> Vec<(&'static str, Value)> {
    vec![
        ("click_at", json!({"x": 200, "y": 65})),
        ("type_text", json!({"text": "a"})),
        ("press_key", json!({"keys": "end"})),
        ("scroll", json!({"x": 200, "y": 65, "clicks": 1})),
        ("drag", json!({"from": {"x": 200, "y": 65}, "to": {"x": 220, "y": 65}, "duration_s": 0})),
        ("hover_at", json!({"x": 200, "y": 65, "hover_ms": 0})),
        ("click_element", json!({"selector": "//Nope"})),
        ("click_element", json!({"selector": "//Button[name=\"Cancel\"]"})),
        ("press_key", json!({"keys": "no such key"})),
        ("act", json!({"steps": [{"do": "press_key", "keys": "home"}, {"do": "press_key", "keys": "end"}]})),
        ("clipboard_set", json!({"text": "a"})),
        ("window_action", json!({"action": "minimize", "window_uid": "mock:bin"})),
    ]
}

/// H-73 on REST, /mcp, act, code: fifty calls of twelve kinds at once through several doors
#[test]
fn of_fifty_calls_at_once_two_have_an_effect() {
    for _ in 0..3 {
        let site = site(json!({"budgets": {"max_actions": 2}}));
        let calls = mixed_inputs();
        let start = std::sync::Barrier::new(50);
        std::thread::scope(|scope| {
            for number in 0..50 {
                let (site, calls, start) = (&site, &calls, &start);
                scope.spawn(move || {
                    let (tool, args) = calls[number % calls.len()].clone();
                    start.wait();
                    match number % 2 {
                        0 => call_by_tool_route(site, tool, args),
                        _ => call_at_mcp(site, tool, args),
                    };
                });
            }
        });
        assert_eq!(site.mock.action_count(), 2, "{:?}", site.mock.action_log());
        let status = call_by_tool_route(&site, "get_budget_status", json!({}));
        assert_eq!(status["actions"], json!({"used": 2, "limit": 2, "remaining": 0}));
        for (tool, args) in calls {
            assert_ne!(call_by_tool_route(&site, tool, args.clone())["ok"], true, "{tool} {args}");
        }
        assert_eq!(site.mock.action_count(), 2);
    }
}

/// H-73 on stdio: fifty requests in one breath
#[test]
fn fifty_requests_on_the_pipe_have_two_effects() {
    let (mut client, _folder) = server(&json!({"budgets": {"max_actions": 2}}));
    let ids: Vec<u64> = (0..50)
        .map(|_| client.post("tools/call", json!({"name": "type_text", "arguments": {"text": "a"}})))
        .collect();
    let mut worked = 0;
    for _ in &ids {
        let answer = client.receive();
        worked += usize::from(data(&answer["result"])["ok"] == true);
    }
    assert_eq!(worked, 2);
    let tree = client.data("find_element", json!({"selector": "//Edit[name=\"Note\"][value=\"aa\"]"}));
    assert_eq!(tree["ok"], true, "{tree}");
}

/// H-73 on replay, clickthrough: what is played again or comes in a batch is counted too
#[test]
fn a_batch_and_a_replay_are_counted() {
    let face = face_of_clickthrough(json!({"budgets": {"max_actions": 2}}));
    let actions: Vec<Value> = (0..9).map(|_| json!({"action": "hotkey", "keys": ["end"]})).collect();
    face.post("/batch", json!({"actions": actions, "stop_on_error": false}));
    assert_eq!(face.mock.action_count(), 2);
    let folder = tempfile::tempdir().unwrap();
    let tracing = json!({"dir": folder.path().join("traces"), "screenshot_every_n_actions": 0});
    let free = world(json!({"tracing": tracing}));
    free.ok("trace_start", json!({}));
    for _ in 0..6 {
        free.ok("press_key", json!({"keys": "end"}));
    }
    free.ok("trace_stop", json!({}));
    let held = world(json!({"tracing": tracing, "budgets": {"max_actions": 2}}));
    let replay =
        held.ok("replay_start", json!({"path": "latest", "mode": "execute", "on_divergence": "warn"}));
    for _ in 0..6 {
        held.call("replay_step", json!({"replay_id": replay["replay_id"]}));
    }
    assert_eq!(held.effects(), 2);
}

/// Every tool with arguments that may get a picture out of it.
fn picture_calls() -> Vec<(&'static str, Value)> {
    let mut calls = Vec::new();
    for spec in tools::all_tools().filter(|spec| spec.meta.lock.is_none() && spec.meta.switch.is_none()) {
        for example in spec.meta.examples {
            calls.push((spec.meta.name, serde_json::from_str(example.args).unwrap()));
        }
        let schema = spec.full_input_schema();
        for (name, value) in [
            ("picture", json!("plain")),
            ("picture", json!("marks")),
            ("picture", json!("grid")),
            ("marks", json!(true)),
            ("grid", json!({})),
            ("region", json!({"x": 0, "y": 0, "width": 90, "height": 90})),
            ("bbox", json!({"x": 0, "y": 0, "width": 90, "height": 90})),
            ("element_id", json!("root.1")),
        ] {
            if schema["properties"].get(name).is_some() && spec.meta.effect == Effect::Observe {
                calls.push((spec.meta.name, json!({ name: value })));
            }
        }
    }
    calls
}

/// H-74 on code, act: no picture leaves that is not counted, whichever tool it comes from
#[test]
fn no_picture_leaves_beyond_the_budget() {
    let (spent, free) = (
        world(json!({"budgets": {"max_screenshots": 0}, "ocr": {"enabled": false}})),
        world(json!({"budgets": {"max_screenshots": 9999}, "ocr": {"enabled": false}})),
    );
    let mut pictures = 0;
    for (tool, args) in picture_calls() {
        let before = used(&free, "screenshots");
        let reply = free.reply(tool, args.clone());
        if reply.picture.is_some() {
            pictures += 1;
            assert_eq!(used(&free, "screenshots"), before + 1, "{tool} {args} was not counted");
            let refused = spent.reply(tool, args.clone());
            assert!(refused.picture.is_none(), "{tool} {args}");
            assert_eq!(code(&refused.value()), "BudgetExceeded", "{tool} {args}");
            let step = with(&args, json!({"do": tool}));
            assert!(spent.reply("act", json!({"steps": [step]})).picture.is_none(), "{tool} {args}");
        }
    }
    assert!(pictures >= 12, "only {pictures} of the calls gave a picture");
}

fn used(world: &World, what: &str) -> u64 {
    world.ok("get_budget_status", json!({}))[what]["used"].as_u64().unwrap()
}

/// H-74 on REST, /mcp, clickthrough: resources, and the routes that rename
#[test]
fn no_door_gives_pictures_beyond_the_budget() {
    let spent = json!({"budgets": {"max_screenshots": 0}});
    let site = site(spent.clone());
    for path in [
        "/api/screenshot",
        "/api/full_screenshot",
        "/api/screenshot/zoom?x=60&y=65",
        "/api/screenshot/cropped?element_id=root.1",
        "/api/look?picture=plain",
    ] {
        let answer = site.get(path);
        assert_eq!(code(&answer.json()), "BudgetExceeded", "{path}: {:.200}", answer.body);
        assert!(!answer.body.contains("iVBOR"), "{path}: {:.200}", answer.body);
    }
    let read = over_mcp(&site, "resources/read", json!({"uri": "screen://window/mock:files/picture"}));
    assert!(read["error"].is_object() && read.to_string().contains("max_screenshots"), "{read:.300}");
    let face = face_of_clickthrough(spent);
    for (method, path, body) in [
        ("POST", "/see", json!({})),
        ("POST", "/see/zoom", json!({"center_x": 60, "center_y": 65})),
        ("GET", "/screen", Value::Null),
        ("POST", "/zoom", json!({"center_x": 60, "center_y": 65})),
    ] {
        let text = if body.is_null() { String::new() } else { body.to_string() };
        let answer = face.ask(method, path, &[JSON], &text);
        assert!(!answer.body.contains("iVBOR"), "{path}: {:.200}", answer.body);
        assert_eq!(answer.json()["error"]["code"], "budget_exceeded", "{path}: {:.200}", answer.body);
    }
}

/// H-74 on code: when the session's time is over nothing acts and no picture leaves, and questions are answered
#[test]
fn after_the_session_nothing_acts() {
    let world = world(json!({"budgets": {"max_session_seconds": 100}}));
    world.app.clock.advance(Duration::from_secs(101));
    for (tool, args) in mixed_inputs().into_iter().chain(ways()) {
        assert_ne!(world.call(tool, args.clone())["ok"], true, "{tool} {args}");
    }
    for (tool, args) in picture_calls() {
        assert!(world.reply(tool, args.clone()).picture.is_none(), "{tool} {args}");
    }
    assert_eq!(world.effects(), 0);
    world.ok("get_budget_status", json!({}));
}

// ── dry runs and the allowed region ────────────────────────────────────────────────────────────────

/// H-75 on code, act, REST, /mcp: no way to the button moves anything in a dry run, listed or not
#[test]
fn a_dry_run_of_every_way_does_nothing() {
    let open = json!({"launch": {"programs": "any"}, "exec": {"enabled": true, "secret": EXEC_SECRET}});
    let site = site(open);
    let mut dry = 0;
    for (tool, args) in ways().into_iter().chain(mixed_inputs()).chain(as_steps(ways())) {
        let args = with(&args, json!({"dry_run": true}));
        for reply in [call_by_tool_route(&site, tool, args.clone()), call_at_mcp(&site, tool, args.clone())] {
            dry += usize::from(reply["dry_run"] == true);
            assert_eq!(site.mock.action_count(), 0, "{tool} {args} answered {reply}");
        }
    }
    for (path, body) in [
        ("/api/action", json!({"action": "click_at", "x": 5, "y": 5})),
        ("/api/action", json!({"action": "type", "value": "x"})),
        ("/api/action", json!({"action": "key", "value": "end"})),
        ("/api/action", json!({"action": "scroll", "clicks": 1})),
        ("/api/hover", json!({"x": 5, "y": 5})),
    ] {
        assert_eq!(site.ok(path, with(&body, json!({"dry_run": true})))["dry_run"], true, "{path} {body}");
    }
    assert_eq!(site.mock.action_count(), 0);
    assert!(dry > 200, "only {dry} of the calls got as far as a dry run");
}

/// H-75 on clickthrough: a dry run of every action, asked for by the call or by the config
#[test]
fn a_dry_run_at_the_face_of_clickthrough_does_nothing() {
    for (config, more) in
        [(json!({}), json!({"dry_run": true})), (json!({"clickthrough": {"dry_run": true}}), json!({}))]
    {
        let site = face_of_clickthrough(config);
        for action in clickthrough_actions() {
            let action = with(&action, more.clone());
            site.post("/interact", json!({ "action": action }));
            site.post("/batch", json!({ "actions": [action] }));
            let wait = json!({"kind": "visual", "state": "change", "timeout_ms": 0});
            site.post("/action/verify", json!({"action": action, "verify": wait, "retries": 1}));
            assert_eq!(site.mock.action_count(), 0, "{action}");
        }
    }
}

const REGION: [i32; 4] = [0, 40, 300, 50];

/// H-75 on REST, /mcp, act, replay, clickthrough: the edges of the region, outside of it, and below zero
#[test]
fn the_region_holds_at_every_door() {
    let config = json!({"input": {"allowed_region": REGION}});
    let site = site(config.clone());
    let face = face_of_clickthrough(config);
    for (x, y, inside) in [
        (0, 40, true),
        (299, 89, true),
        (300, 89, false),
        (299, 90, false),
        (0, 39, false),
        (-1, 40, false),
        (0, -1, false),
        (-32768, -32768, false),
        (32767, 60, false),
    ] {
        let before = site.mock.action_count();
        let at = json!({"x": x, "y": y});
        let far = json!({"x": 60, "y": 65});
        let mut replies = vec![
            site.post("/api/action", with(&at, json!({"action": "click_at"}))).json(),
            site.post("/api/action", with(&at, json!({"action": "scroll", "clicks": 1}))).json(),
            site.post("/api/hover", at.clone()).json(),
            call_at_mcp(&site, "double_click_at", at.clone()),
            call_at_mcp(&site, "right_click_at", at.clone()),
            call_at_mcp(&site, "drag", json!({"from": far, "to": at, "duration_s": 0})),
            call_at_mcp(&site, "drag", json!({"from": at, "to": far, "duration_s": 0})),
        ];
        let step = with(&at, json!({"do": "click_at"}));
        replies.push(call_at_mcp(&site, "act", json!({ "steps": [step] })));
        for reply in &replies {
            assert_eq!(reply["ok"] == true, inside, "{x},{y}: {reply}");
        }
        assert_eq!(site.mock.action_count() - before, if inside { replies.len() } else { 0 }, "{x},{y}");
        let before = face.mock.action_count();
        let action = json!({"action": "click", "target": {"mode": "pixel", "x": x, "y": y}});
        face.post("/interact", json!({ "action": action }));
        face.post("/batch", json!({ "actions": [action] }));
        assert_eq!(face.mock.action_count() - before, if inside { 2 } else { 0 }, "{x},{y}");
    }
    let region = Rect::new(REGION[0], REGION[1], REGION[2], REGION[3]);
    for act in site.mock.action_log().iter().chain(&face.mock.action_log()) {
        assert!(points(act).iter().all(|point| region.contains(*point)), "{act:?}");
    }
}

fn points(act: &Act) -> Vec<Point> {
    match act {
        Act::Click { at, .. } | Act::Scroll { at, .. } | Act::Hover { at, .. } => {
            at.iter().copied().collect()
        }
        Act::Drag { from, to, .. } => vec![*from, *to],
        _ => Vec::new(),
    }
}

/// H-75 on code: every way to a button outside of the region, whichever tool; keys go where the focus is
#[test]
fn nothing_outside_the_region_is_reached_by_any_tool() {
    let world = world(json!({"input": {"allowed_region": [0, 300, 50, 50]}}));
    for (tool, args) in ways().into_iter().filter(|(tool, _)| is_traced_input(tool)) {
        world.call(tool, args);
    }
    for act in world.mock.action_log() {
        // Typing and keys without an element go to the focus, and windows are no places.
        let is_free = matches!(&act, Act::Type { element: None, .. } | Act::Key { element: None, .. });
        assert!(is_free, "{act:?}");
    }
}

/// Without rules every one of the ways is open, so that the refusals above are due to the rules.
#[test]
fn the_ways_lead_to_the_button() {
    let world = world(json!({}));
    for (tool, args) in ways().into_iter().filter(|(tool, _)| is_traced_input(tool)) {
        let before = world.effects();
        let reply = world.call(tool, args.clone());
        let cannot = ["NotSupported", "BadRequest"].contains(&code(&reply)) || reply["error"].is_object();
        assert!(cannot || world.effects() > before, "{tool} {args} answered {reply}");
        world.mock.load(stage());
        world.app.observer.forget_all();
    }
    assert!(world.effects() > 100, "{}", world.effects());
}
