//! Traces and replays as a user meets them: what is in the files, what is never in them, and what a replay
//! does and refuses to do.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::support::{Client, World};
use os_screen_observer::model::input::Act;
use os_screen_observer::trace::format::{Footer, Header, TraceRow};
use os_screen_observer::trace::recording::LoadedTrace;
use os_screen_observer::trace::{reader, to_scenario};
use serde_json::{Value, json};

const LOGIN: &str = "scenarios/login.yaml";
const PASSWORD: &str = "hunter2";

/// A folder for traces, and worlds that write and read there.
struct Desk {
    folder: tempfile::TempDir,
}

impl Desk {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn traces(&self) -> PathBuf {
        self.folder.path().join("traces")
    }

    fn world(&self, scenario: Option<&str>, mut config: Value) -> World {
        config["tracing"]["dir"] = json!(self.traces());
        World::build(scenario, config)
    }

    fn login(&self) -> World {
        self.world(Some(LOGIN), json!({}))
    }

    /// The text of a scenario file, changed and loaded.
    fn changed_login(&self, from: &str, to: &str) -> World {
        let file = self.folder.path().join("changed.yaml");
        let text = crate::support::read(LOGIN);
        assert!(text.contains(from));
        std::fs::write(&file, text.replace(from, to)).unwrap();
        self.world(file.to_str(), json!({}))
    }
}

/// The login session's calls, from the empty form to the welcome.
fn login_calls() -> Vec<(&'static str, Value)> {
    let element = |name: &str| json!({"window_uid": "mock:app", "selector": format!("Window/{name}")});
    vec![
        ("get_window_structure", json!({"window_uid": "mock:app"})),
        ("click_element", element("Edit[name=\"Username\"]")),
        ("type_text", json!({"text": "alice", "_caller": "me"})),
        ("click_element", element("Edit[name=\"Password\"]")),
        ("type_text", json!({"text": PASSWORD})),
        ("find_element", element("Button[name=\"Login\"]")),
        ("click_element", element("Button[name=\"Login\"]")),
        ("find_element", element("Nope")),
        ("list_windows", json!({})),
    ]
}

fn trace_login(world: &World) -> PathBuf {
    world.ok("trace_start", json!({"label": "golden"}));
    for (tool, args) in login_calls() {
        world.call(tool, args);
    }
    PathBuf::from(world.ok("trace_stop", json!({}))["path"].as_str().unwrap())
}

fn lines(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap();
    assert!(text.ends_with('\n'), "the last line is not whole");
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn rows(path: &Path) -> Vec<TraceRow> {
    reader::parse(&std::fs::read(path).unwrap()).unwrap().rows
}

fn all_files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { found.extend(all_files(&path)) } else { found.push(path) }
    }
    found
}

fn assert_nowhere(folder: &Path, secret: &str) {
    let files = all_files(folder);
    assert!(files.len() > 2, "{files:?}");
    for file in files {
        let bytes = std::fs::read(&file).unwrap();
        let found = bytes.windows(secret.len()).any(|part| part == secret.as_bytes());
        assert!(!found, "{secret} stands in {}", file.display());
    }
}

fn sample(label: &str) -> Value {
    let samples: Value = serde_json::from_str(&crate::support::read("tests/contract/samples.json")).unwrap();
    samples[label]["result"].clone()
}

fn keys(value: &Value) -> BTreeSet<String> {
    value.as_object().unwrap().keys().cloned().collect()
}

/// Every key of the contract's recorded answer is in ours, and so is the error's code and context.
fn check_like_sample(label: &str, got: &Value) {
    let want = sample(label);
    assert!(keys(got).is_superset(&keys(&want)), "{label}: want {want}, got {got}");
    assert_eq!(got["ok"], want["ok"], "{label}");
    assert_eq!(got["error"]["code"], want["error"]["code"], "{label}");
    if let Some(context) = want["error"].get("context") {
        assert!(keys(&got["error"]["context"]).is_superset(&keys(context)), "{label}: {got}");
    }
}

// ── what is written ────────────────────────────────────────────────────────────────────────────────

#[test]
fn a_login_is_written_line_by_line() {
    let desk = Desk::new();
    let world = desk.login();
    let path = trace_login(&world);
    let lines = lines(&path);
    assert_eq!(lines.len(), login_calls().len() + 2);
    let header: Header = serde_json::from_value(lines[0].clone()).unwrap();
    assert_eq!((header.label.as_deref(), header.tool_version.as_str()), (Some("golden"), "0.2.0"));
    assert_eq!(header.started_at, "2026-01-01T00:00:00.000000+00:00");
    assert_eq!(path.parent().unwrap().file_name().unwrap().to_str().unwrap(), header.trace_id);
    let footer: Footer = serde_json::from_value(lines[lines.len() - 1].clone()).unwrap();
    assert_eq!(footer.step_count, 9);
    for (number, ((tool, args), row)) in login_calls().iter().zip(&lines[1..]).enumerate() {
        check_row(number as u64 + 1, tool, args, row);
    }
    let summary = |number: usize| lines[number]["result_summary"].clone();
    assert_eq!(summary(1)["tree_hash"], "sha1:fea1872051222609de110f1d998873b68a4e8faf");
    assert_eq!(
        summary(7),
        json!({
            "ok": true, "step_id": 8, "action": "click_element", "changed": true, "duration_ms": 0,
            "target": {"selector": "Window/Button[name=\"Login\"]", "window_uid": "mock:app"},
        })
    );
    assert_eq!(summary(8), json!({"ok": false, "step_id": 9, "error": {"code": "ElementNotFound"}}));
    assert_eq!(summary(9), json!({"ok": true, "step_id": 10, "count": 1}));
    assert_eq!(lines[7]["tree_hash_after"], "sha1:e7106eade464b8752bdca437379f6d39e0a45dec");
    assert_eq!(lines[5]["args"], json!({"text": "<redacted>"}));
    assert_nowhere(&desk.traces(), PASSWORD);
}

fn check_row(number: u64, tool: &str, args: &Value, row: &Value) {
    assert_eq!((&row["trace_seq"], &row["step_id"]), (&json!(number), &json!(number + 1)));
    assert_eq!((&row["tool"], &row["caller"]), (&json!(tool), &json!("test")));
    let contract =
        "step_id trace_seq ts caller tool args result_summary tree_hash_before tree_hash_after duration_ms";
    for key in contract.split(' ') {
        assert!(row.get(key).is_some(), "row {number} has no {key}");
    }
    if args.get("text").is_none_or(|text| text != PASSWORD) {
        let mut kept = args.clone();
        kept.as_object_mut().unwrap().remove("_caller");
        assert_eq!(row["args"], kept);
    }
    assert_eq!(row.get("screenshot_full_ref").is_some(), number == 1 || number == 5, "row {number}");
    let touches = matches!(tool, "click_element" | "type_text");
    assert_eq!(row.get("target").is_some(), touches, "row {number}");
}

#[test]
fn rows_tell_what_there_was_and_what_was_touched() {
    let desk = Desk::new();
    let path = trace_login(&desk.login());
    let folder = path.parent().unwrap();
    let rows = rows(&path);
    let target = rows[1].target.as_ref().unwrap();
    assert_eq!((target.role.as_str(), target.name.as_str()), ("Edit", "Username"));
    assert_eq!((target.element_id.as_str(), target.window_uid.as_str()), ("root.0", "mock:app"));
    let title = |windows: &[os_screen_observer::trace::format::WindowSeen]| windows[0].title.clone();
    assert_eq!(title(&rows[6].windows_before), "Acme Login");
    assert_eq!(title(rows[6].windows_after.as_ref().unwrap()), "Acme — Welcome");
    assert_eq!(rows[5].windows_after, None, "looking changes nothing");
    let tree = |row: &TraceRow| -> Value {
        let file = row.windows_before[0].tree.as_ref().unwrap();
        serde_json::from_slice(&std::fs::read(folder.join(file)).unwrap()).unwrap()
    };
    assert_eq!(tree(&rows[3])["children"][0]["value"], "alice");
    assert_eq!(tree(&rows[5])["children"][1]["value"], "[REDACTED]");
    assert_eq!(rows[7].windows_before[0].tree, rows[8].windows_before[0].tree);
    for (number, what) in [(1, "full"), (1, "window"), (5, "full"), (5, "window")] {
        let png = std::fs::read(folder.join(format!("screenshots/step-{number:05}-{what}.png"))).unwrap();
        assert!(image::load_from_memory(&png).is_ok());
    }
    assert_eq!(std::fs::read_dir(folder.join("screenshots")).unwrap().count(), 4);
}

#[test]
fn tree_files_are_named_by_what_is_in_them() {
    use sha1::Digest;
    let desk = Desk::new();
    let path = trace_login(&desk.login());
    for file in std::fs::read_dir(path.parent().unwrap().join("trees")).unwrap() {
        let file = file.unwrap().path();
        let hash: String = sha1::Sha1::digest(std::fs::read(&file).unwrap())
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        assert_eq!(file.file_stem().unwrap().to_str().unwrap(), &hash[..16]);
    }
}

#[test]
fn refused_calls_are_recorded_and_calls_about_traces_are_not() {
    let desk = Desk::new();
    let world = desk.world(None, json!({"actions": {"deny": ["click_at"]}}));
    world.ok("trace_start", json!({}));
    world.code("click_at", json!({"x": 1, "y": 1}));
    world.code("press_key", json!({"keys": "ctrl+entre"}));
    world.ok("trace_status", json!({}));
    world.code("trace_start", json!({}));
    world.code("replay_step", json!({"replay_id": "rep:1"}));
    assert_eq!(world.ok("trace_status", json!({}))["step_count"], 2);
    let path = world.ok("trace_stop", json!({}))["path"].as_str().unwrap().to_owned();
    let codes: Vec<String> = rows(Path::new(&path))
        .into_iter()
        .map(|row| row.result_summary.error.unwrap().code.unwrap())
        .collect();
    assert_eq!(codes, ["PermissionDenied", "BadRequest"]);
}

#[test]
fn long_arguments_are_shortened_and_stop_a_replay() {
    let desk = Desk::new();
    let world = desk.world(None, json!({"tracing": {"max_args_bytes": 100}}));
    world.ok("trace_start", json!({}));
    world.ok("type_text", json!({"text": "x".repeat(200)}));
    world.ok("trace_stop", json!({}));
    world.ok("replay_start", json!({"path": "latest"}));
    let refused = world.call("replay_step", json!({"replay_id": "rep:1"}));
    assert_eq!(refused["error"]["context"]["needs_args"], true, "{refused}");
    assert_eq!(world.effects(), 1);
    let supply = json!({"replay_id": "rep:1", "supply": {"text": "y"}});
    assert_eq!(world.ok("replay_step", supply)["finished"], true);
    assert_eq!(world.effects(), 2);
}

// ── secrets ────────────────────────────────────────────────────────────────────────────────────────

/// H-58 on code: the files of a trace
#[test]
fn a_secret_is_in_no_file_of_a_trace() {
    let sentinel = "S3NT1NEL-9f2c";
    let desk = Desk::new();
    let world =
        desk.world(Some("scenarios/form.yaml"), json!({"tracing": {"screenshot_every_n_actions": 1}}));
    world.ok("trace_start", json!({}));
    let pin = json!({"selector": "//Edit[name=\"PIN\"]"});
    world.ok("click_element", pin.clone());
    world.call("type_text", json!({"txt": sentinel}));
    world.ok("type_text", json!({"text": sentinel}));
    world.ok("press_key", json!({"keys": "Q"}));
    world.call("find_element", json!({"selector": format!("//Edit[value=\"{sentinel}\"]")}));
    world.call("find_element", json!({ sentinel: [sentinel] }));
    world.ok("get_window_structure", json!({}));
    world.ok("click_element", pin);
    world.ok("trace_stop", json!({}));
    world.ok("trace_start", json!({"label": format!("after {sentinel} is known")}));
    world.ok("trace_stop", json!({}));
    assert_nowhere(&desk.traces(), sentinel);
    assert_nowhere(&desk.traces(), "\"Q\"");
}

/// H-58 on code: secrets too short to be learned
#[test]
fn short_secrets_and_texts_for_redacted_elements_are_not_stored_either() {
    let desk = Desk::new();
    let world = desk
        .world(Some("scenarios/login.yaml"), json!({"redaction": {"element_name_patterns": ["Username"]}}));
    world.ok("trace_start", json!({}));
    for (field, text) in [("root.0", "zqalice"), ("root.1", "z7")] {
        world.ok("click_element", json!({"element_id": field}));
        world.ok("type_text", json!({"text": text}));
    }
    world.ok("click_element", json!({"element_id": "root.0"}));
    world.ok("type_text", json!({"text": "zq\tz8"}));
    let path = world.ok("trace_stop", json!({}))["path"].as_str().unwrap().to_owned();
    let texts: Vec<Value> =
        rows(Path::new(&path)).iter().filter_map(|row| row.args.get("text").cloned()).collect();
    assert_eq!(texts, ["<redacted>", "<redacted>", "<redacted>"]);
}

/// A world with a form that has a secret field, and the secret `BANK` unless `known` says otherwise.
fn with_named_secret(desk: &Desk, known: &str) -> World {
    let file = desk.folder.path().join(format!("{known}.json"));
    std::fs::write(&file, json!({ known: "S3NT1NEL-77" }).to_string()).unwrap();
    #[cfg(unix)]
    std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    desk.world(Some(LOGIN), json!({"secrets": {"file": file}}))
}

fn typed(world: &World) -> Vec<String> {
    let texts = world.mock.action_log().into_iter().filter_map(|act| match act {
        Act::Type { text, .. } => Some(text),
        _ => None,
    });
    texts.collect()
}

#[test]
fn a_secret_that_was_typed_by_name_is_typed_by_name_again() {
    let desk = Desk::new();
    let world = with_named_secret(&desk, "BANK");
    world.ok("trace_start", json!({}));
    world.ok("click_element", json!({"selector": "//Edit[name=\"Password\"]"}));
    world.ok("type_text", json!({"text": {"secret": "BANK"}}));
    // A password in the place of a name is no name.
    world.code("type_text", json!({"text": {"secret": "hunter2"}}));
    let path = world.ok("trace_stop", json!({}))["path"].as_str().unwrap().to_owned();
    let texts: Vec<Value> =
        rows(Path::new(&path)).iter().filter_map(|row| row.args.get("text").cloned()).collect();
    assert_eq!(texts, [json!({"secret": "BANK"}), json!("<redacted>")]);
    assert_nowhere(&desk.traces(), "S3NT1NEL-77");
    assert_nowhere(&desk.traces(), "hunter2");

    let again = with_named_secret(&desk, "BANK");
    again.ok("replay_start", json!({"path": path, "mode": "verify"}));
    for _ in 0..2 {
        let step = again.ok("replay_step", json!({"replay_id": "rep:1"}));
        assert!(step["divergence"].is_null(), "{step}");
    }
    assert_eq!(typed(&again), ["S3NT1NEL-77"]);
}

/// H-65 on replay: a secret by name
#[test]
fn a_named_secret_that_is_not_known_here_is_asked_for() {
    let desk = Desk::new();
    let world = with_named_secret(&desk, "BANK");
    world.ok("trace_start", json!({}));
    world.ok("click_element", json!({"selector": "//Edit[name=\"Password\"]"}));
    world.ok("type_text", json!({"text": {"secret": "BANK"}}));
    world.ok("trace_stop", json!({}));
    let other = with_named_secret(&desk, "OTHER");
    other.ok("replay_start", json!({"path": "latest"}));
    other.ok("replay_step", json!({"replay_id": "rep:1"}));
    let refused = other.call("replay_step", json!({"replay_id": "rep:1"}));
    assert_eq!(refused["needs_secret"], json!(["text"]), "{refused}");
    assert!(typed(&other).is_empty());
    other.ok("replay_step", json!({"replay_id": "rep:1", "supply": {"text": {"secret": "OTHER"}}}));
    assert_eq!(typed(&other), ["S3NT1NEL-77"]);
}

/// H-65 on replay: both modes, also asked twice
#[test]
fn a_replay_never_types_the_placeholder() {
    let desk = Desk::new();
    trace_login(&desk.login());
    for mode in ["execute", "verify"] {
        let world = desk.login();
        world.ok("replay_start", json!({"path": "latest", "mode": mode}));
        let step = json!({"replay_id": "rep:1"});
        for _ in 0..4 {
            world.ok("replay_step", step.clone());
        }
        for _ in 0..2 {
            let refused = world.call("replay_step", step.clone());
            assert_eq!(refused["error"]["code"], "BadRequest");
            assert_eq!(refused["needs_secret"], json!(["text"]), "{refused}");
        }
        assert_eq!(world.effects(), 3);
        assert!(!format!("{:?}", world.mock.action_log()).contains("redacted"));
        assert_eq!(world.ok("replay_status", step.clone())["position"], 4);
        let refused = world.call("replay_step", json!({"replay_id": "rep:1", "supply": {"other": "x"}}));
        assert_eq!(refused["error"]["code"], "BadRequest");
    }
}

// ── replay ─────────────────────────────────────────────────────────────────────────────────────────

/// Makes all steps, giving the password when it is asked for.
fn replay_all(world: &World, mode: &str, on_divergence: &str) -> Vec<Value> {
    let started =
        world.ok("replay_start", json!({"path": "latest", "mode": mode, "on_divergence": on_divergence}));
    let id = started["replay_id"].clone();
    let mut steps = Vec::new();
    loop {
        let mut step = world.call("replay_step", json!({"replay_id": id}));
        if step.get("needs_secret").is_some() {
            step = world.ok("replay_step", json!({"replay_id": id, "supply": {"text": PASSWORD}}));
        }
        assert_eq!(step["ok"], true, "{step}");
        steps.push(step.clone());
        if step["finished"] == true {
            return steps;
        }
    }
}

/// What ran is in the trace step by step, with the waits of its expectations, so that it replays without act.
#[test]
fn a_list_of_steps_replays_one_by_one() {
    let desk = Desk::new();
    let world = desk.login();
    world.ok("trace_start", json!({}));
    let expected =
        json!({"kind": "value_equals", "selector": "//Edit[name=\"Username\"]", "expected": "bob"});
    let steps = json!([
        {"do": "set_value", "selector": "//Edit[name=\"Username\"]", "value": "bob", "expect": expected},
        {"do": "click_element", "selector": "//Button[name=\"Login\"]"},
    ]);
    assert_eq!(world.ok("act", json!({ "steps": steps }))["verdict"], "unconfirmed");
    assert_eq!(world.ok("trace_stop", json!({}))["step_count"], 3, "two steps and a wait");
    let again = desk.login();
    let replayed = replay_all(&again, "verify", "stop");
    assert!(replayed.iter().all(|step| step["divergence"].is_null()), "{replayed:?}");
    assert_eq!(again.effects(), 2);
}

#[test]
fn a_login_replays_without_a_difference() {
    let desk = Desk::new();
    trace_login(&desk.login());
    for mode in ["verify", "execute"] {
        let world = desk.login();
        let steps = replay_all(&world, mode, "stop");
        assert_eq!(steps.len(), 9);
        assert!(steps.iter().all(|step| step["divergence"].is_null()), "{steps:?}");
        assert_eq!(world.effects(), 5);
        assert_eq!(world.ok("list_windows", json!({}))["windows"][0]["title"], "Acme — Welcome");
        let end = world.ok("replay_status", json!({"replay_id": "rep:1"}));
        check_like_sample("replay_status:end", &end);
        assert_eq!((&end["finished"], &end["divergences"]), (&json!(true), &json!([])));
        let after = world.ok("replay_step", json!({"replay_id": "rep:1"}));
        assert_eq!(
            keys(&after),
            ["ok", "success", "step_id", "caused_by_step_id", "finished", "position", "total", "replay_id"]
                .map(str::to_owned)
                .into()
        );
    }
}

#[test]
fn a_step_takes_one_id_and_its_call_the_next() {
    let desk = Desk::new();
    trace_login(&desk.login());
    let world = desk.login();
    world.ok("replay_start", json!({"path": "latest"}));
    let step = world.ok("replay_step", json!({"replay_id": "rep:1"}));
    check_like_sample("replay_step", &step);
    assert_eq!((&step["step_id"], &step["actual_summary"]["step_id"]), (&json!(2), &json!(3)));
    let step = world.ok("replay_step", json!({"replay_id": "rep:1"}));
    assert_eq!((&step["step_id"], &step["actual_summary"]["step_id"]), (&json!(4), &json!(5)));
    assert_eq!(world.ok("list_windows", json!({}))["caused_by_step_id"], 5);
}

#[test]
fn what_differs_is_found_only_when_asked_for() {
    let desk = Desk::new();
    trace_login(&desk.login());
    let other = || desk.changed_login("name: Login\n", "name: Sign in\n");
    let world = other();
    let steps = replay_all(&world, "verify", "warn");
    assert_eq!(steps.len(), 9);
    let different: Vec<u64> =
        (1..).zip(&steps).filter(|(_, step)| !step["divergence"].is_null()).map(|(n, _)| n).collect();
    // The tree's hash, finding and clicking the button, and the window that does not come.
    assert_eq!(different, [1, 6, 7], "{steps:?}");
    assert_eq!(
        steps[5]["divergence"],
        json!([
            {"path": "ok", "want": true, "got": false},
            {"path": "error.code", "want": null, "got": "ElementNotFound"},
            {"path": "ambiguous_matches>0", "want": true, "got": null},
        ])
    );
    let status = world.ok("replay_status", json!({"replay_id": "rep:1"}));
    let entry = &status["divergences"][1];
    assert_eq!(
        (&entry["trace_seq"], &entry["step_id"], &entry["tool"]),
        (&json!(6), &json!(7), &json!("find_element"))
    );
    assert_eq!(entry["differences"], steps[5]["divergence"]);
    let world = other();
    assert_eq!(replay_all(&world, "verify", "stop").len(), 1);
    assert_eq!(world.ok("replay_status", json!({"replay_id": "rep:1"}))["finished"], true);
    assert_eq!(replay_all(&other(), "verify", "resume").len(), 9);
    let steps = replay_all(&other(), "execute", "stop");
    assert!(steps.len() == 9 && steps.iter().all(|step| step["divergence"].is_null()));
}

/// H-66, H-71, H-73 on replay: lists, budgets and consent of the replay
#[test]
fn a_replay_passes_the_gate_again() {
    let desk = Desk::new();
    trace_login(&desk.login());
    let world = desk.world(Some(LOGIN), json!({"actions": {"deny": ["type_text"]}}));
    let steps = replay_all(&world, "verify", "warn");
    assert_eq!(steps[2]["actual_summary"]["error"]["code"], "PermissionDenied");
    assert_eq!(steps[2]["divergence"][0], json!({"path": "ok", "want": true, "got": false}));
    assert!(!format!("{:?}", world.mock.action_log()).contains("alice"));
    let world = desk.world(Some(LOGIN), json!({"budgets": {"max_actions": 2}}));
    let steps = replay_all(&world, "execute", "warn");
    assert_eq!(steps[3]["actual_summary"]["error"]["code"], "BudgetExceeded");
    assert_eq!(world.effects(), 2);
    let world = desk.world(Some(LOGIN), json!({"confirmation_required": [{"name_regex": "Login"}]}));
    let steps = replay_all(&world, "execute", "warn");
    assert_eq!(steps[6]["actual_summary"]["error"]["code"], "ConfirmationRequired");
}

#[test]
fn ids_never_repeat_and_many_replays_are_refused() {
    let desk = Desk::new();
    trace_login(&desk.login());
    let world = desk.login();
    let start = || world.call("replay_start", json!({"path": "latest"}));
    assert_eq!(start()["replay_id"], "rep:1");
    assert_eq!(start()["replay_id"], "rep:2");
    check_like_sample("replay_stop", &world.ok("replay_stop", json!({"replay_id": "rep:1"})));
    assert_eq!(start()["replay_id"], "rep:3");
    assert_eq!(world.code("replay_step", json!({"replay_id": "rep:1"})), "BadRequest");
    let opened = (0..40).filter(|_| start()["ok"] == true).count();
    assert_eq!(opened, 30);
}

#[test]
fn uids_and_tokens_of_another_run_are_understood() {
    let desk = Desk::new();
    let first = desk.world(None, json!({}));
    let uid = first.ok("list_windows", json!({}))["windows"][1]["window_uid"].clone();
    first.ok("trace_start", json!({}));
    let token = first.ok("get_window_structure", json!({"window_uid": uid}))["tree_token"].clone();
    first.call("find_element", json!({"window_uid": uid, "selector": token}));
    let path = first.ok("trace_stop", json!({}))["path"].as_str().unwrap().to_owned();
    let recorded = rows(Path::new(&path));
    assert_eq!(
        serde_json::to_value(&recorded[1].refs).unwrap(),
        json!({"/selector": {"trace_seq": 1, "path": "/tree_token"}})
    );
    let second = desk.world(None, json!({}));
    second.ok("replay_start", json!({"path": path, "mode": "verify"}));
    second.ok("trace_start", json!({}));
    for _ in 0..2 {
        let step = second.ok("replay_step", json!({"replay_id": "rep:1"}));
        assert!(step["divergence"].is_null(), "{step}");
    }
    let path = second.ok("trace_stop", json!({}))["path"].as_str().unwrap().to_owned();
    let replayed = rows(Path::new(&path));
    assert!(replayed.iter().all(|row| row.caller == "replay"));
    assert_ne!(replayed[0].args["window_uid"], uid);
    assert_ne!(replayed[1].args["selector"], token);
    assert_eq!(replayed[1].refs, recorded[1].refs, "the token is the one of the replayed call");
}

#[test]
fn a_click_on_a_picture_is_replayed_on_the_picture_of_the_replay() {
    let desk = Desk::new();
    let clicked = |world: &World| match world.mock.action_log().last().unwrap() {
        Act::Click { at: Some(at), .. } => (at.x, at.y),
        other => panic!("{other:?}"),
    };
    let first = desk.world(None, json!({}));
    first.ok("trace_start", json!({}));
    let small = json!({"window_index": 0, "max_width": 100});
    let ids = [
        first.ok("get_screenshot", json!({"window_index": 0}))["image_id"].clone(),
        first.ok("get_screenshot_cropped", small)["image_id"].clone(),
    ];
    let gridded = first.ok("get_screenshot", json!({"window_index": 0, "grid": {"rows": 6, "cols": 8}}));
    let zoomed = first.ok("zoom", json!({"image": gridded["image_id"], "row": 2, "col": 3, "width": 100}));
    // The second picture first, so that the latest one is not what is meant.
    first.ok("click_at", json!({"x": 99, "y": 74, "image_id": ids[1]}));
    first.ok("click_at", json!({"x": 70, "y": 10, "image_id": ids[0], "coordinate_space": "image"}));
    first.ok("click_at", json!({"image": gridded["image_id"], "row": 2, "col": 3, "dx": 0.2}));
    first.ok("click_at", json!({"image": zoomed["image_id"], "row": 0, "col": 0}));
    let path = first.ok("trace_stop", json!({}))["path"].as_str().unwrap().to_owned();
    let recorded = rows(Path::new(&path));
    let expected = [(876, 656), (150, 70), (440, 310), (382, 276)];
    let clicks = recorded.iter().filter(|row| row.tool == "click_at");
    let points: Vec<(i32, i32)> =
        clicks.filter_map(|row| row.point).map(|point| (point.x, point.y)).collect();
    assert_eq!(points, expected);

    let second = desk.world(None, json!({}));
    second.ok("replay_start", json!({"path": path, "mode": "verify"}));
    let step = || {
        let step = second.ok("replay_step", json!({"replay_id": "rep:1"}));
        assert!(step["divergence"].is_null(), "{step}");
    };
    for _picture in 0..4 {
        step();
    }
    for expected in expected {
        step();
        assert_eq!(clicked(&second), expected);
    }
}

#[test]
fn a_click_on_a_picture_is_recorded_as_one_on_what_the_picture_showed() {
    let desk = Desk::new();
    let reaction = |click: fn(&World)| {
        let world = desk.login();
        world.ok("trace_start", json!({}));
        click(&world);
        let path = world.ok("trace_stop", json!({}))["path"].as_str().unwrap().to_owned();
        let yaml = to_scenario::record_scenario(
            &LoadedTrace::read(Path::new(&path)).unwrap(),
            &os_screen_observer::tools::recorded_input,
        )
        .unwrap();
        let reactions = yaml.split_once("\nreactions:").unwrap().1.to_owned();
        // Comments tell of steps, and the picture was one more of them.
        reactions.lines().filter(|line| !line.trim().starts_with('#')).collect::<Vec<_>>().join("\n")
    };
    let on_screen = reaction(|world| drop(world.ok("click_at", json!({"x": 250, "y": 294}))));
    let on_picture = reaction(|world| {
        let id = world.ok("get_screenshot", json!({"window_uid": "mock:app"}))["image_id"].clone();
        world.ok("click_at", json!({"x": 150, "y": 194, "image_id": id}));
    });
    let on_cell = reaction(|world| {
        let shot =
            world.ok("get_screenshot", json!({"window_uid": "mock:app", "grid": {"rows": 40, "cols": 40}}));
        let cell = |at: i64, side: &str| at * 40 / shot[side].as_i64().unwrap();
        let (row, col) = (cell(194, "height"), cell(150, "width"));
        world.ok("click_at", json!({"row": row, "col": col, "image": shot["image_id"]}));
    });
    assert!(on_screen.contains("click_element"), "{on_screen}");
    assert_eq!(on_picture, on_screen);
    assert_eq!(on_cell, on_screen);
}

#[test]
fn a_trace_of_replays_is_refused() {
    let desk = Desk::new();
    let path = trace_login(&desk.login());
    let text = std::fs::read_to_string(&path).unwrap().replace("\"list_windows\"", "\"replay_step\"");
    std::fs::write(&path, text).unwrap();
    let refused = desk.login().call("replay_start", json!({"path": "latest"}));
    assert!(refused["error"]["message"].as_str().unwrap().contains("row 9 calls replay_step"), "{refused}");
}

// ── broken and hostile files ───────────────────────────────────────────────────────────────────────

#[test]
fn a_torn_line_is_survived_and_said() {
    let desk = Desk::new();
    let path = trace_login(&desk.login());
    let text = std::fs::read_to_string(&path).unwrap();
    let cut = text.lines().take(4).map(|line| line.len() + 1).sum::<usize>() + 50;
    std::fs::write(&path, &text[..cut]).unwrap();
    let world = desk.login();
    let started = world.ok("replay_start", json!({"path": path, "mode": "verify"}));
    assert_eq!((&started["torn"], &started["total"]), (&json!(true), &json!(3)));
    assert!(started["warning"].as_str().unwrap().contains("within a line"), "{started}");
    for _ in 0..3 {
        assert!(world.ok("replay_step", json!({"replay_id": "rep:1"}))["divergence"].is_null());
    }
}

/// H-17 on code: a trace that is named by its path.
#[test]
fn paths_outside_are_refused_alike_whether_they_exist_or_not() {
    let desk = Desk::new();
    let world = desk.login();
    trace_login(&world);
    let secret = desk.folder.path().join("secret.jsonl");
    std::fs::write(&secret, "S3NT1NEL").unwrap();
    let message = |path: &str| {
        let refused = world.call("replay_start", json!({"path": path}));
        assert_eq!(refused["error"]["code"], "BadRequest", "{path}: {refused}");
        check_like_sample("replay_start:missing", &refused);
        let text = refused["error"]["message"].as_str().unwrap().to_owned();
        assert!(!text.contains("S3NT1NEL") && !text.contains("root:"), "{text}");
        text.replace(path, "PATH")
    };
    let missing = message("/no/such/file");
    for path in [
        "/etc/passwd",
        "file:///etc/passwd",
        secret.to_str().unwrap(),
        "../secret.jsonl",
        "../nope",
        "/dev/zero",
    ] {
        assert_eq!(message(path), missing, "{path}");
    }
    assert!(message("trace-00000000").contains("there is no file"));
    assert_eq!(world.code("replay_start", json!({"path": ""})), "BadRequest");
}

/// H-19, H-20 on code: what stands among the traces and is none.
#[cfg(unix)]
#[test]
fn links_pipes_and_huge_files_are_refused() {
    let desk = Desk::new();
    let world = desk.login();
    trace_login(&world);
    let traces = desk.traces();
    std::fs::write(desk.folder.path().join("secret.jsonl"), "S3NT1NEL").unwrap();
    std::os::unix::fs::symlink(desk.folder.path().join("secret.jsonl"), traces.join("link.jsonl")).unwrap();
    std::os::unix::fs::symlink("/dev/zero", traces.join("zero")).unwrap();
    std::fs::create_dir(traces.join("trace-link")).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", traces.join("trace-link/trace.jsonl")).unwrap();
    let made = std::process::Command::new("mkfifo").arg(traces.join("pipe")).status().unwrap();
    assert!(made.success());
    std::fs::File::create(traces.join("huge")).unwrap().set_len(10 << 30).unwrap();
    for (name, words) in [
        ("link.jsonl", "is not in a folder"),
        ("zero", "is not in a folder"),
        ("trace-link", "is not in a folder"),
        ("pipe", "not a regular file"),
        ("huge", "at most"),
    ] {
        let refused = world.call("replay_start", json!({"path": name}));
        assert_eq!(refused["error"]["code"], "BadRequest", "{refused}");
        assert!(refused["error"]["message"].as_str().unwrap().contains(words), "{refused}");
    }
    // None of these is taken for the newest trace either.
    assert_eq!(world.ok("replay_start", json!({"path": "latest"}))["total"], 9);
}

/// H-22 on code: the id is ours, whatever the label says.
#[test]
fn labels_are_only_stored() {
    for label in ["../../x", "a\0b", "two\nlines", "CON", "\"},{\"type\":\"footer\"}", ""] {
        let desk = Desk::new();
        let world = desk.login();
        let started = world.ok("trace_start", json!({"label": label}));
        let id = started["trace_id"].as_str().unwrap();
        assert!(id.len() == 14 && id[6..].bytes().all(|byte| byte.is_ascii_hexdigit()), "{id}");
        let path = world.ok("trace_stop", json!({}))["path"].as_str().unwrap().to_owned();
        assert_eq!(lines(Path::new(&path))[0]["label"], label);
        assert_eq!(std::fs::read_dir(desk.folder.path()).unwrap().count(), 1);
        world.ok("replay_start", json!({"path": path}));
    }
    let desk = Desk::new();
    let world = desk.login();
    let started = world.ok("trace_start", json!({"label": "é".repeat(10_240)}));
    assert!(started["warning"].as_str().unwrap().contains("cut to 200"), "{started}");
    let path = world.ok("trace_stop", json!({}))["path"].as_str().unwrap().to_owned();
    assert_eq!(lines(Path::new(&path))[0]["label"], "é".repeat(200));
}

/// H-25 on code: a link that is put there after the start is not followed either.
#[cfg(unix)]
#[test]
fn a_folder_that_becomes_a_link_is_refused() {
    let desk = Desk::new();
    let world = desk.login();
    let elsewhere = desk.folder.path().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, desk.traces()).unwrap();
    let refused = world.call("trace_start", json!({}));
    assert!(refused["error"]["message"].as_str().unwrap().contains("symbolic link"), "{refused}");
    assert_eq!(std::fs::read_dir(elsewhere).unwrap().count(), 0);
}

// ── answers ────────────────────────────────────────────────────────────────────────────────────────

#[test]
fn answers_have_the_contracts_keys() {
    let desk = Desk::new();
    let world = desk.login();
    check_like_sample("trace_status:inactive", &world.call("trace_status", json!({})));
    check_like_sample("trace_start", &world.call("trace_start", json!({"label": "golden"})));
    check_like_sample("trace_start:again", &world.call("trace_start", json!({})));
    check_like_sample("trace_status", &world.call("trace_status", json!({})));
    world.ok("list_windows", json!({}));
    let stopped = world.call("trace_stop", json!({}));
    check_like_sample("trace_stop", &stopped);
    assert_eq!(stopped["step_count"], 1);
    check_like_sample("trace_stop:again", &world.call("trace_stop", json!({})));
    let started = world.call("replay_start", json!({"path": stopped["path"], "mode": "verify"}));
    check_like_sample("replay_start", &started);
    assert_eq!((&started["label"], &started["mode"]), (&json!("golden"), &json!("verify")));
    assert!(started.get("torn").is_none() && started.get("warning").is_none(), "{started}");
    check_like_sample("replay_status", &world.call("replay_status", json!({"replay_id": "rep:1"})));
    check_like_sample("replay_step:last", &world.call("replay_step", json!({"replay_id": "rep:1"})));
    check_like_sample("replay_step:unknown", &world.call("replay_step", json!({"replay_id": "rep:9"})));
    assert_eq!(world.code("replay_status", json!({})), "BadRequest");
}

#[test]
fn a_trace_that_cannot_be_written_ends_and_the_call_does_not_fail() {
    let desk = Desk::new();
    let world = desk.login();
    let dir = PathBuf::from(world.ok("trace_start", json!({}))["dir"].as_str().unwrap());
    world.ok("list_windows", json!({}));
    std::fs::remove_dir_all(dir.join("trees")).unwrap();
    world.ok("click_element", json!({"selector": "//Edit"}));
    let text = world.ok("get_window_structure", json!({}));
    assert!(text.get("warning").is_none(), "the trace is over: {text}");
    let status = world.ok("trace_status", json!({}));
    assert_eq!(status["active_trace_id"], Value::Null);
    assert!(status["trace_error"].as_str().unwrap().contains("has ended"), "{status}");
    let stopped = world.ok("trace_stop", json!({}));
    assert_eq!((&stopped["step_count"], &stopped["trace_error"]), (&json!(1), &status["trace_error"]));
    assert_eq!(world.code("trace_stop", json!({})), "BadRequest");
    assert_eq!(lines(&dir.join("trace.jsonl")).len(), 3);
    world.ok("trace_start", json!({}));
}

#[test]
fn the_call_that_ended_a_trace_says_so_in_data_and_in_text() {
    for tool in ["list_windows", "get_window_structure"] {
        let desk = Desk::new();
        let world = desk.login();
        let dir = PathBuf::from(world.ok("trace_start", json!({}))["dir"].as_str().unwrap());
        std::fs::remove_dir_all(dir.join("trees")).unwrap();
        let reply = world.ok(tool, json!({}));
        assert!(reply["warning"].as_str().unwrap().contains("has ended"), "{reply}");
    }
}

/// H-74 on code: the pictures of a trace
#[test]
fn pictures_of_a_trace_are_counted() {
    let desk = Desk::new();
    let world = desk.world(None, json!({"budgets": {"max_screenshots": 1}}));
    world.ok("trace_start", json!({}));
    world.ok("list_windows", json!({}));
    assert_eq!(world.code("get_screenshot", json!({"window_index": 0})), "BudgetExceeded");
    let path = world.ok("trace_stop", json!({}))["path"].as_str().unwrap().to_owned();
    let rows = rows(Path::new(&path));
    assert!(rows[0].screenshot_full_ref.is_some() && rows[0].screenshot_window_ref.is_none());
    assert!(rows[0].screenshot_error.as_ref().unwrap().contains("BudgetExceeded"));
}

#[test]
fn tracing_leaves_the_cache_alone() {
    let desk = Desk::new();
    let world = desk.login();
    world.ok("trace_start", json!({}));
    world.ok("click_at", json!({"x": 300, "y": 210}));
    world.ok("list_windows", json!({}));
    let counters = world.app.observer.cache_counters();
    assert_eq!((counters.entries, counters.hits, counters.misses), (0, 0, 0));
}

// ── many at a time, and sudden ends ────────────────────────────────────────────────────────────────

#[test]
fn parallel_calls_keep_their_lines_whole() {
    let desk = Desk::new();
    let world = desk.world(None, json!({"tracing": {"screenshot_every_n_actions": 0}}));
    world.ok("trace_start", json!({}));
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let world = &world;
            scope.spawn(move || {
                for _ in 0..10 {
                    world.ok("list_windows", json!({}));
                    world.ok("click_at", json!({"x": thread, "y": 1}));
                    world.code("find_element", json!({"selector": "//Nope"}));
                }
            });
        }
    });
    let path = world.ok("trace_stop", json!({}))["path"].as_str().unwrap().to_owned();
    let recording = reader::parse(&std::fs::read(&path).unwrap()).unwrap();
    let numbers: Vec<u64> = recording.rows.iter().map(|row| row.trace_seq).collect();
    assert_eq!(numbers, (1..=240).collect::<Vec<u64>>());
    let steps: BTreeSet<u64> = recording.rows.iter().map(|row| row.step_id).collect();
    assert_eq!(steps.len(), 240);
}

fn traced_client(traces: &Path) -> Client {
    let mut client = Client::start_with(
        &["--mode", "mcp", "--mock", "--scenario", LOGIN],
        &[("OSO_TRACING__DIR", traces.to_str().unwrap())],
    );
    client.initialize("2025-11-25");
    client
}

#[test]
fn a_killed_server_leaves_whole_lines() {
    let desk = Desk::new();
    for calls in [1, 7, 40] {
        let mut client = traced_client(&desk.traces());
        let dir =
            PathBuf::from(client.data("trace_start", json!({"label": "killed"}))["dir"].as_str().unwrap());
        client.call("get_window_structure", json!({}));
        for _ in 0..calls {
            client.post("tools/call", json!({"name": "find_element", "arguments": {"selector": "//Edit"}}));
        }
        client.receive();
        // Dropping a client kills its server, in the middle of whatever it is doing.
        drop(client);
        let recording = reader::parse(&std::fs::read(dir.join("trace.jsonl")).unwrap()).unwrap();
        assert!(recording.rows.len() >= 2 && recording.footer.is_none());
        let mut client = traced_client(&desk.traces());
        let started = client.data("replay_start", json!({"path": dir, "mode": "verify"}));
        assert_eq!(started["total"], recording.rows.len());
        assert!(started["warning"].is_string(), "{started}");
        let step = client.data("replay_step", json!({"replay_id": "rep:1"}));
        assert_eq!(step["divergence"], Value::Null, "{step}");
    }
}

/// The limit on the size of files stands for a full disk: a write fails after a part of it is done.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_leaves_whole_lines() {
    let desk = Desk::new();
    let mut command = std::process::Command::new("sh");
    let server = env!("CARGO_BIN_EXE_os-screen-observer");
    command.args(["-c", "trap '' XFSZ; ulimit -f 40; exec \"$0\" \"$@\"", server]);
    command.args(["--mode", "mcp", "--mock", "--scenario", LOGIN]);
    command.env("OSO_TRACING__DIR", desk.traces()).env("OSO_TRACING__SCREENSHOT_EVERY_N_ACTIONS", "0");
    let mut client = Client::spawn(command);
    client.initialize("2025-11-25");
    client.data("trace_start", json!({}));
    let warned = (1..500).find(|_| client.data("list_windows", json!({})).get("warning").is_some());
    let written = warned.expect("the file never became full") - 1;
    let stopped = client.data("trace_stop", json!({}));
    assert_eq!(stopped["step_count"], written);
    assert!(stopped["trace_error"].as_str().unwrap().contains("too large"), "{stopped}");
    let lines = lines(Path::new(stopped["path"].as_str().unwrap()));
    assert!(
        lines.len() == written + 1 || lines.len() == written + 2,
        "{} lines, {written} rows",
        lines.len()
    );
}

#[test]
fn a_server_that_ends_in_order_writes_the_footer() {
    let desk = Desk::new();
    let mut client = traced_client(&desk.traces());
    let dir = PathBuf::from(client.data("trace_start", json!({}))["dir"].as_str().unwrap());
    client.data("list_windows", json!({}));
    client.close_input();
    assert!(client.wait(crate::support::PATIENCE).is_some());
    let recording = reader::parse(&std::fs::read(dir.join("trace.jsonl")).unwrap()).unwrap();
    assert_eq!(recording.footer.map(|footer| footer.step_count), Some(1));
}
