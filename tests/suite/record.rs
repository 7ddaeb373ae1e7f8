//! Sessions on the mock desktop become traces, traces become scenarios, and the scenarios answer the same
//! calls with the same results and the same trees.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::support::World;
use os_screen_observer::clock::Cancel;
use os_screen_observer::observer::WindowChoice;
use os_screen_observer::observer::structure::{Structure, StructureRequest};
use os_screen_observer::scenario;
use os_screen_observer::tools;
use os_screen_observer::trace::format::{
    FILE_NAME, Footer, FooterKind, Header, HeaderKind, ReplySummary, TargetSeen, TraceRow, WindowSeen,
};
use os_screen_observer::trace::recording::LoadedTrace;
use os_screen_observer::trace::{html, text, to_scenario};
use serde_json::{Value, json};

/// A session that is written down as a trace while it happens.
struct Session {
    world: World,
    folder: tempfile::TempDir,
    rows: Vec<TraceRow>,
}

/// One thing that a session does.
#[derive(Clone)]
enum Do {
    Call(&'static str, Value),
    /// Time passes.
    Wait(u64),
}

fn call(tool: &'static str, args: Value) -> Do {
    Do::Call(tool, args)
}

fn click(selector: &str) -> Do {
    Do::Call("click_element", json!({"selector": selector}))
}

fn type_text(text: &str) -> Do {
    Do::Call("type_text", json!({"text": text}))
}

fn look() -> Do {
    Do::Call("get_window_structure", json!({}))
}

/// What a call answered, and what the desktop showed after it.
#[derive(Clone, Debug, PartialEq)]
struct Seen {
    tool: &'static str,
    summary: Value,
    windows: Vec<Value>,
}

fn windows_now(world: &World) -> Vec<(WindowSeen, Value)> {
    let observer = &world.app.observer;
    let windows = observer.windows().unwrap().into_iter();
    let with_tree = windows.map(|window| {
        let choice = WindowChoice { uid: Some(window.uid.clone()), ..WindowChoice::default() };
        let view = observer.fresh_view(&observer.resolve_window(&choice).unwrap(), &Cancel::new()).unwrap();
        let request = StructureRequest { depth: 1000, ..StructureRequest::default() };
        let tree = serde_json::to_value(Structure::new(view.clone(), &request).unwrap()).unwrap();
        let seen = WindowSeen {
            window_uid: window.uid,
            title: window.title,
            process: window.process,
            pid: window.pid,
            bounds: window.bounds,
            focused: window.focused,
            tree: None,
        };
        (seen, tree)
    });
    with_tree.collect()
}

fn hash_of(world: &World) -> String {
    let observer = &world.app.observer;
    let chosen = observer.resolve_window(&WindowChoice::default());
    chosen
        .and_then(|chosen| observer.fresh_view(&chosen, &Cancel::new()))
        .map_or(String::new(), |v| v.hash().to_owned())
}

/// The parts of a reply that two runs must share: neither numbers of steps nor times.
fn comparable(reply: &Value) -> Value {
    let mut summary =
        serde_json::to_value(serde_json::from_value::<ReplySummary>(reply.clone()).unwrap()).unwrap();
    for key in ["step_id", "duration_ms"] {
        summary.as_object_mut().unwrap().remove(key);
    }
    summary
}

impl Session {
    fn on(scenario: &str) -> Self {
        Self { world: World::on(scenario), folder: tempfile::tempdir().unwrap(), rows: Vec::new() }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn store(&self, windows: Vec<(WindowSeen, Value)>) -> Vec<WindowSeen> {
        let trees = self.path().join("trees");
        std::fs::create_dir_all(&trees).unwrap();
        let store = |(mut seen, tree): (WindowSeen, Value)| {
            use std::hash::{DefaultHasher, Hash, Hasher};
            let mut hasher = DefaultHasher::new();
            tree.to_string().hash(&mut hasher);
            let name = format!("trees/{:016x}.json", hasher.finish());
            std::fs::write(self.path().join(&name), tree.to_string()).unwrap();
            seen.tree = Some(name);
            seen
        };
        windows.into_iter().map(store).collect()
    }

    fn run(&mut self, deed: &Do) {
        let (tool, args) = match deed {
            Do::Wait(ms) => return self.world.app.clock.advance(Duration::from_millis(*ms)),
            Do::Call(tool, args) => (*tool, args),
        };
        let ts = self.world.app.clock.wall_time();
        let (windows_before, tree_hash_before) = (windows_now(&self.world), hash_of(&self.world));
        let reply = self.world.call(tool, args.clone());
        let windows_after = windows_now(&self.world);
        let changed = windows_after != windows_before;
        let row = TraceRow {
            step_id: reply["step_id"].as_u64().unwrap_or_default(),
            trace_seq: self.rows.len() as u64 + 1,
            ts: iso(ts),
            caller: "test".to_owned(),
            tool: tool.to_owned(),
            args: self.stored_args(args),
            result_summary: serde_json::from_value(reply.clone()).unwrap(),
            tree_hash_before,
            tree_hash_after: hash_of(&self.world),
            target: target_of(&reply, &windows_before),
            windows_before: self.store(windows_before),
            windows_after: changed.then(|| self.store(windows_after)),
            ..TraceRow::default()
        };
        self.rows.push(row);
    }

    /// As a trace stores them: without what is known to be secret.
    fn stored_args(&self, args: &Value) -> serde_json::Map<String, Value> {
        let text = self.world.app.redactor.text(&args.to_string()).into_owned();
        serde_json::from_str(&text).unwrap()
    }

    fn finish(&self) -> LoadedTrace {
        let header = Header {
            kind: HeaderKind::Header,
            trace_id: "trace-0badcafe".to_owned(),
            label: Some("recorded".to_owned()),
            started_at: "2026-01-01T00:00:00+00:00".to_owned(),
            tool_version: "0.2.0".to_owned(),
        };
        let footer = Footer {
            kind: FooterKind::Footer,
            stopped_at: "2026-01-01T00:01:00+00:00".to_owned(),
            step_count: self.rows.len() as u64,
            duration_ms: 60_000,
        };
        let mut lines = vec![serde_json::to_string(&header).unwrap()];
        lines.extend(self.rows.iter().map(|row| serde_json::to_string(row).unwrap()));
        lines.push(serde_json::to_string(&footer).unwrap());
        std::fs::write(self.path().join(FILE_NAME), lines.join("\n") + "\n").unwrap();
        LoadedTrace::read(self.path()).unwrap()
    }
}

fn iso(time: std::time::SystemTime) -> String {
    let seconds = time.duration_since(std::time::UNIX_EPOCH).unwrap();
    // The steered clock begins at a full day and no test takes an hour.
    let (minute, second) = (seconds.as_secs() / 60 % 60, seconds.as_secs() % 60);
    format!("2026-01-01T00:{minute:02}:{second:02}.{:06}+00:00", seconds.subsec_micros())
}

fn target_of(reply: &Value, windows: &[(WindowSeen, Value)]) -> Option<TargetSeen> {
    let text = |key: &str| reply["target"][key].as_str().map(str::to_owned);
    let uid = text("window_uid").or_else(|| reply["window_uid"].as_str().map(str::to_owned))?;
    let (_, tree) = windows.iter().find(|(seen, _)| seen.window_uid == uid)?;
    let element_id = text("element_id").unwrap_or_else(|| "root".to_owned());
    let slots = element_id.split('.').skip(1).map(|slot| slot.parse::<usize>().unwrap());
    let node = slots.fold(tree, |node, slot| &node["children"][slot]);
    Some(TargetSeen {
        window_uid: uid,
        selector: text("selector").unwrap_or_default(),
        role: node["role"].as_str().unwrap().to_owned(),
        name: node["name"].as_str().unwrap().to_owned(),
        element_id,
    })
}

/// Runs the calls and tells what was seen after each.
fn watch(world: &World, deeds: &[Do]) -> Vec<Seen> {
    let mut seen = Vec::new();
    for deed in deeds {
        match deed {
            Do::Wait(ms) => world.app.clock.advance(Duration::from_millis(*ms)),
            Do::Call(tool, args) => {
                let reply = world.call(tool, args.clone());
                let windows = windows_now(world).into_iter().map(
                    |(window, tree)| json!({"window": serde_json::to_value(window).unwrap(), "tree": tree}),
                );
                seen.push(Seen { tool, summary: comparable(&reply), windows: windows.collect() });
            }
        }
    }
    seen
}

fn without_hashes(mut seen: Vec<Seen>) -> Vec<Seen> {
    for seen in &mut seen {
        seen.summary.as_object_mut().unwrap().remove("tree_hash");
    }
    seen
}

fn save(folder: &Path, yaml: &str) -> PathBuf {
    let path = folder.join("recorded.yaml");
    std::fs::write(&path, yaml).unwrap();
    path
}

/// The session as a scenario answers like the desktop it was recorded on.
fn check(scenario: &str, deeds: &[Do]) -> String {
    check_as(scenario, deeds, |seen| seen)
}

/// `View::hash` covers what a secret really is, which no file may tell: then the shown trees must agree.
fn check_with_secret(scenario: &str, deeds: &[Do]) -> String {
    check_as(scenario, deeds, without_hashes)
}

fn check_as(scenario: &str, deeds: &[Do], adjust: impl Fn(Vec<Seen>) -> Vec<Seen>) -> String {
    let mut session = Session::on(scenario);
    for deed in deeds {
        session.run(deed);
    }
    let yaml = to_scenario::record_scenario(&session.finish(), &tools::recorded_input).unwrap();
    let file = save(session.path(), &yaml);
    let expected = adjust(watch(&World::on(scenario), deeds));
    let got = adjust(watch(&World::on(file.to_str().unwrap()), deeds));
    for (step, (expected, got)) in expected.iter().zip(&got).enumerate() {
        let pretty =
            |seen: &Seen| serde_json::to_string_pretty(&json!([seen.summary, seen.windows])).unwrap();
        assert_eq!(pretty(expected), pretty(got), "step {} ({}) of\n{yaml}", step + 1, expected.tool);
    }
    assert_eq!(expected.len(), got.len());
    yaml
}

const USERNAME: &str = r#"Window/Edit[name="Username"]"#;
const PASSWORD: &str = r#"Window/Edit[name="Password"]"#;
const LOGIN: &str = r#"Window/Button[name="Login"]"#;

fn login_session() -> Vec<Do> {
    vec![
        call("list_windows", json!({})),
        look(),
        click(LOGIN),
        click(USERNAME),
        type_text("alice"),
        click(PASSWORD),
        look(),
        type_text("correct horse"),
        look(),
        click(LOGIN),
        look(),
        call("get_screen_description", json!({})),
    ]
}

#[test]
fn a_login_is_played_again() {
    let yaml = check_with_secret("scenarios/login.yaml", &login_session());
    assert!(!yaml.contains("correct horse") && !yaml.contains("<filled>"), "{yaml}");
    assert!(yaml.contains("secret: true"), "{yaml}");
    insta::assert_snapshot!(yaml);
}

#[test]
fn hashes_agree_where_nothing_is_hidden() {
    check(
        "scenarios/login.yaml",
        &[look(), click(USERNAME), type_text("alice"), look(), type_text("bob"), look()],
    );
}

#[test]
fn the_same_input_can_lead_elsewhere() {
    // Login does nothing twice, then something: three desktops that look alike to a click.
    let deeds = [
        click(LOGIN),
        click(LOGIN),
        click(USERNAME),
        click(LOGIN),
        click(USERNAME),
        type_text("al"),
        type_text("ice"),
        click(LOGIN),
        click(PASSWORD),
        type_text("secret word"),
        type_text("secret word"),
        click(LOGIN),
        look(),
    ];
    check_with_secret("scenarios/login.yaml", &deeds);
}

#[test]
fn a_form_with_its_modal_dialog_is_played_again() {
    let button = |name: &str| click(&format!(r#"*/Button[name="{name}"]"#));
    let deeds = [
        button("Send"),
        click(r#"Window/Edit[name="Employee"]"#),
        type_text("Grace: #1 \"the\" admiral\n"),
        button("Send"),
        click(r#"Window/CheckBox[name="I keep the receipts"]"#),
        button("Send"),
        button("Send"),
        call("list_windows", json!({})),
        call("press_key", json!({"keys": "Escape"})),
        look(),
        button("Send"),
        call("bring_to_foreground", json!({"window_uid": "mock:claims"})),
        look(),
        call("bring_to_foreground", json!({"window_uid": "mock:confirm"})),
        click(r#"Dialog/Button[name="Send now"]"#),
        call("list_windows", json!({})),
        look(),
    ];
    let yaml = check("scenarios/form.yaml", &deeds);
    assert!(yaml.contains("tool: bring_to_foreground"), "{yaml}");
}

#[test]
fn a_wizard_is_played_again() {
    let button = |name: &str| click(&format!(r#"*/Button[name="{name}"]"#));
    let deeds = [
        button("Next"),
        click(r#"Window/CheckBox[name="I accept the licence"]"#),
        button("Next"),
        button("Back"),
        button("Next"),
        button("Delete everything"),
        button("Keep"),
        click(r#"Window/Edit[name="Folder"]"#),
        call("press_key", json!({"keys": "ctrl+a"})),
        type_text("Novels"),
        button("Delete everything"),
        call("press_key", json!({"keys": "enter"})),
        button("Delete everything"),
        button("Delete"),
        button("Next"),
        look(),
        call("click_at", json!({"x": 330, "y": 300})),
        button("Finish"),
        look(),
    ];
    check("scenarios/wizard.yaml", &deeds);
}

#[test]
fn a_session_may_end_without_windows() {
    let yaml = check(
        "scenarios/wizard.yaml",
        &[click(r#"*/Button[name="Cancel"]"#), call("list_windows", json!({}))],
    );
    assert!(yaml.contains("windows: []"), "{yaml}");
}

#[test]
fn what_time_does_is_played_again() {
    let deeds = [
        look(),
        Do::Wait(2200),
        look(),
        Do::Wait(400),
        look(),
        Do::Wait(600),
        look(),
        click(r#"Window/Button[name="Export"]"#),
        Do::Wait(1000),
        look(),
    ];
    // Looking takes no time here, so that both runs look at the same moments.
    let quick = crate::support::read("scenarios/slow-load.yaml")
        .replace("capture_delay_ms: 150", "capture_delay_ms: 0");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("quick.yaml");
    std::fs::write(&file, quick).unwrap();
    let yaml = check(file.to_str().unwrap(), &deeds);
    assert!(yaml.contains("then: {after_ms: "), "{yaml}");
}

#[test]
fn scrolling_is_played_again() {
    let scroll = |clicks: i32| call("scroll", json!({"clicks": clicks, "x": 400, "y": 300}));
    check(
        "scenarios/long-list.yaml",
        &[scroll(-3), look(), scroll(-3), look(), scroll(6), scroll(1), look()],
    );
}

#[test]
fn hostile_names_survive() {
    let names = [
        "on",
        "yes",
        "null",
        "12",
        "a: b",
        "# no comment",
        "say \"hi\"",
        "it's",
        "two\nlines",
        "🦀 {n} {text}",
        "- item",
        "*alias",
        "&anchor",
        "<img src=x onerror=alert(1)>",
        "\\d+ [x]",
        "trailing ",
        "{a: b}",
    ];
    let buttons: Vec<Value> = names
        .iter()
        .enumerate()
        .map(|(n, name)| {
            json!({"role": "Button", "name": name, "value": name, "id": format!("b{n}"),
                   "bounds": {"x": 0, "y": 30 * n, "width": 90, "height": 30}})
        })
        .collect();
    let window = |title: &str| json!([{"uid": "w: 1", "title": title, "tree": {"role": "Window", "name": title, "children": buttons}}]);
    let reactions: Vec<Value> = (0..names.len())
        .map(|n| json!({"on": {"tool": "click_element", "target_id": format!("b{n}")}, "transition_to": "off"}))
        .collect();
    let scenario = json!({
        "states": {"null": {"windows": window("yes: #1")}, "off": {"windows": window("~")}},
        "reactions": reactions,
    });
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("hostile.yaml");
    std::fs::write(&file, scenario.to_string()).unwrap();
    let clicks = (0..names.len()).map(|n| call("click_element", json!({"element_id": format!("root.{n}")})));
    check(file.to_str().unwrap(), &clicks.collect::<Vec<_>>());
}

#[test]
fn what_is_missing_is_said() {
    let mut session = Session::on("scenarios/login.yaml");
    for deed in login_session() {
        session.run(&deed);
    }
    session.finish();
    let lost = session.rows[4].windows_after.as_ref().unwrap()[0].tree.clone().unwrap();
    std::fs::remove_file(session.path().join(&lost)).unwrap();
    let story = LoadedTrace::read(session.path()).unwrap();
    let problem = to_scenario::record_scenario(&story, &tools::recorded_input).unwrap_err();
    assert!(problem.contains(&lost) && problem.contains("step 5"), "{problem}");
    // What can be shown is shown all the same.
    assert!(text::trace_table(&story).contains(&lost));
    assert!(html::page(&story).contains(&lost));
}

#[test]
fn a_torn_trace_is_recorded_as_far_as_it_goes() {
    let mut session = Session::on("scenarios/login.yaml");
    for deed in login_session() {
        session.run(&deed);
    }
    session.finish();
    let file = session.path().join(FILE_NAME);
    let text = std::fs::read_to_string(&file).unwrap();
    let rows: Vec<&str> = text.lines().collect();
    std::fs::write(&file, rows[..8].join("\n") + &rows[8][..40]).unwrap();
    let story = LoadedTrace::read(session.path()).unwrap();
    let yaml = to_scenario::record_scenario(&story, &tools::recorded_input).unwrap();
    assert!(yaml.contains("# The trace is incomplete: line 8 is incomplete"), "{yaml}");
    assert_eq!(scenario::load_str(&yaml, "torn.yaml").unwrap().name, "recorded");
}

// ── the sample trace and the subcommands ────────────────────────────────────────────────────────

const SAMPLE: &str = "tests/traces/login";

/// The committed sample is what the helper above writes; UPDATE_TRACES=1 writes it anew.
#[test]
fn the_sample_trace_is_current() {
    let mut session = Session::on("scenarios/login.yaml");
    for deed in login_session() {
        session.run(&deed);
    }
    let picture = session.world.reply("get_screenshot", json!({})).picture.unwrap();
    std::fs::create_dir_all(session.path().join("screenshots")).unwrap();
    std::fs::write(session.path().join("screenshots/step-00010-window.png"), picture.bytes).unwrap();
    session.rows[9].screenshot_window_ref = Some("screenshots/step-00010-window.png".to_owned());
    session.finish();
    let sample = crate::support::project().join(SAMPLE);
    if std::env::var_os("UPDATE_TRACES").is_some() {
        let _ = std::fs::remove_dir_all(&sample);
        for file in files_below(session.path()) {
            let to = sample.join(file.strip_prefix(session.path()).unwrap());
            std::fs::create_dir_all(to.parent().unwrap()).unwrap();
            std::fs::copy(&file, to).unwrap();
        }
    }
    let fresh = LoadedTrace::read(session.path()).unwrap();
    let kept = LoadedTrace::read(&sample).unwrap();
    assert_eq!(text::trace_table(&kept), text::trace_table(&fresh), "UPDATE_TRACES=1 writes {SAMPLE} anew");
    assert_eq!(
        to_scenario::record_scenario(&kept, &tools::recorded_input).unwrap(),
        to_scenario::record_scenario(&fresh, &tools::recorded_input).unwrap()
    );
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] }).collect()
}

fn run(args: &[&str]) -> (bool, String, String) {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_os-screen-observer"));
    let done = command.args(args).current_dir(crate::support::project()).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (done.status.success(), text(done.stdout), text(done.stderr))
}

#[test]
fn a_trace_is_shown() {
    let (ok, out, _) = run(&["trace", "show", SAMPLE]);
    assert!(ok);
    insta::assert_snapshot!("trace_show", out);
    let (ok, out, _) = run(&["trace", "show", SAMPLE, "--step", "10"]);
    assert!(ok);
    insta::assert_snapshot!("trace_show_step", out);
    let (ok, _, problem) = run(&["trace", "show", SAMPLE, "--step", "99"]);
    assert!(!ok && problem.contains("there is no step 99; steps are 1 to 12"), "{problem}");
    let (ok, _, problem) = run(&["trace", "show", "tests/traces/none"]);
    assert!(!ok && problem.contains("cannot be read"), "{problem}");
}

#[test]
fn a_trace_of_the_contract_is_shown() {
    let folder = tempfile::tempdir().unwrap();
    let lines = [
        json!({"type": "header", "trace_id": "trace-cf6592fc", "label": "golden",
               "started_at": "2026-11-15T23:50:20.363195+00:00", "tool_version": "0.2.0"}),
        json!({"step_id": 98, "trace_seq": 1, "ts": "2026-11-15T23:50:20.478117+00:00", "caller": "unknown",
               "tool": "type_text", "args": {"text": "alice"}, "result_summary": {"ok": true, "step_id": 98},
               "tree_hash_before": "sha1:a", "tree_hash_after": "sha1:b", "duration_ms": 0}),
        json!({"type": "footer", "stopped_at": "2026-11-15T23:50:21.236043+00:00", "step_count": 1, "duration_ms": 872}),
    ];
    std::fs::write(folder.path().join(FILE_NAME), lines.map(|line| line.to_string()).join("\n")).unwrap();
    let story = LoadedTrace::read(folder.path()).unwrap();
    assert!(
        text::trace_table(&story).contains("type_text  text=\"alice\"  ok      changed   0"),
        "{}",
        text::trace_table(&story)
    );
    assert!(text::show_step(&story, 1).unwrap().contains("no trees to compare"));
    assert!(html::page(&story).contains("trace-cf6592fc"));
    assert!(
        to_scenario::record_scenario(&story, &tools::recorded_input).unwrap_err().contains("has no windows")
    );
}

#[test]
fn a_trace_is_exported_and_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("trace.html");
    let (ok, out, problem) = run(&["trace", "export", SAMPLE, "--html", "-o", page.to_str().unwrap()]);
    assert!(ok && out.is_empty(), "{problem}");
    let page = std::fs::read_to_string(page).unwrap();
    assert!(page.contains("data:image/png;base64,iVBOR") && page.contains("Hello, alice"));
    assert!(!page.contains("http://") && !page.contains("https://"), "the page must need no network");
    let yaml = folder.path().join("login.yaml");
    assert!(run(&["scenario", "record", SAMPLE, "-o", yaml.to_str().unwrap()]).0);
    let (ok, out, _) = run(&["scenario", "check", yaml.to_str().unwrap()]);
    assert!(ok && out.contains(": ok, recorded with 7 states and 6 reactions"), "{out}");
}

#[test]
fn scenarios_are_checked() {
    let folder = tempfile::tempdir().unwrap();
    let wrong = folder.path().join("wrong.yaml");
    std::fs::write(&wrong, "states:\n  a: {windws: []}\n").unwrap();
    let (ok, out, _) = run(&["scenario", "check", "scenarios/login.yaml", wrong.to_str().unwrap()]);
    let lines: Vec<&str> = out.lines().collect();
    assert!(!ok);
    assert_eq!(lines[0], "scenarios/login.yaml: ok, login-happy-path with 2 states and 3 reactions");
    assert!(
        lines[1].ends_with("wrong.yaml:2:7: the key \"windws\" is unknown here; did you mean \"windows\"?"),
        "{out}"
    );
}

#[test]
fn a_page_shows_names_as_text() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("hostile.yaml");
    let name = r#"<img src=x onerror="alert(1)"></script><script>alert(2)</script>"#;
    let tree = json!({"role": "Window", "name": name, "children": [
        {"role": name, "name": name, "value": name, "bounds": {"width": 90, "height": 30}}]});
    let scenario = json!({"states": {"a": {"windows": [{"title": name, "tree": tree}]}, "b": {"windows": []}},
                          "reactions": [{"on": {"tool": "click_element"}, "transition_to": "b"}]});
    std::fs::write(&file, scenario.to_string()).unwrap();
    let mut session = Session::on(file.to_str().unwrap());
    session.run(&call("click_element", json!({"element_id": "root.0"})));
    session.run(&type_text(name));
    let page = html::page(&session.finish());
    assert!(page.contains("&lt;img src=x onerror="), "{page}");
    assert!(!page.contains("<img"), "{page}");
    assert_eq!(page.matches("<script").count(), 1, "{page}");
    assert!(!page.contains(r#"onerror=""#), "{page}");
}
