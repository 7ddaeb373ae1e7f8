//! Paths from outside: traces, replays, scenarios, pictures to compare with. What a caller names is looked for below the
//! folders of the config and nowhere else, whichever surface it comes through.
#![cfg(unix)]

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::support::{Client, World, project};
use os_screen_observer::tools;
use serde_json::{Value, json};

/// A folder that may be read, and what lies beside it.
struct Desk {
    folder: tempfile::TempDir,
    world: World,
}

const SECRET: &str = "S3NT1NEL-9f2c";

impl Desk {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("root");
        std::fs::create_dir_all(root.join("inner")).unwrap();
        std::fs::copy(project().join("scenarios/login.yaml"), root.join("inner/a.yaml")).unwrap();
        std::fs::write(folder.path().join("secret"), SECRET).unwrap();
        symlink(folder.path(), root.join("link")).unwrap();
        symlink(folder.path().join("secret"), root.join("secret")).unwrap();
        symlink("/no/such/file", root.join("nowhere")).unwrap();
        let world = World::with(Self::config(&root));
        Self { folder, world }
    }

    fn config(root: &Path) -> Value {
        json!({
            "tracing": {"dir": root},
            "scenarios": {"dirs": [root]},
            "screenshots": {"reference_dirs": [root]},
        })
    }

    fn root(&self) -> PathBuf {
        self.folder.path().join("root")
    }

    /// A server over stdio with the same folders.
    fn client(&self) -> Client {
        let config = self.folder.path().join("config.json");
        std::fs::write(&config, Self::config(&self.root()).to_string()).unwrap();
        let flags = ["--mode", "mcp", "--mock", "--config", config.to_str().unwrap()];
        let mut client = Client::start_with(&flags, &[("OSO_TRACING__DIR", self.root().to_str().unwrap())]);
        client.initialize("2025-11-25");
        client
    }
}

/// A tool that takes a path: its name, the argument, and a call with that path.
type Named = (&'static str, &'static str, fn(&str) -> Value);

/// Every argument that is a path below a folder of the config.
const BELOW_A_ROOT: &[Named] = &[
    ("replay_start", "path", |path| json!({"path": path})),
    ("load_scenario", "path", |path| json!({"path": path})),
    (
        "assert_state",
        "reference_path",
        |path| json!({"predicates": [{"kind": "screenshot_similar", "reference_path": path}]}),
    ),
    (
        "assert_state",
        "reference_path",
        |path| json!({"predicates": [{"kind": "region_similar", "reference_path": path}]}),
    ),
    (
        "wait_for",
        "reference_path",
        |path| json!({"any_of": [{"kind": "screenshot_similar", "reference_path": path}], "timeout_ms": 1}),
    ),
    ("act", "reference_path", |path| {
        let claim = json!({"kind": "screenshot_similar", "reference_path": path});
        json!({"steps": [{"do": "assert_state", "predicates": [claim]}]})
    }),
];

/// Paths that are nobody's to read. The links of the desk are among them.
const OUTSIDE: &[&str] = &[
    "/no/such/file",
    "/etc/passwd",
    "/etc",
    "/",
    "../secret",
    "../missing",
    "../../../../../../../../etc/passwd",
    "../../../../../../../../no/such/file",
    "inner/../../secret",
    "inner/../../missing",
    "file:///etc/passwd",
    "file://localhost/etc/passwd",
    "http://127.0.0.1:1/a.yaml",
    "/dev/zero",
    "/dev/stdin",
    "/dev/fd/0",
    "/proc/self/environ",
    "/proc/self/root/etc/passwd",
    "/proc/self/cwd/../../etc/passwd",
    "/proc/1/root/etc/passwd",
    "/proc/self/fd/0",
    "secret",
    "nowhere",
    "link",
    "link/secret",
    "link/missing",
    "link/missing/deeper",
    "link/root/../secret",
    "a\0b",
    "/etc/passwd\0.yaml",
];

/// What a reply says of a path, with the path itself taken out. Nothing of a file is in it, and it is no success.
#[track_caller]
fn words(reply: &Value, path: &str) -> String {
    let text = reply.to_string();
    assert!(!text.contains(SECRET) && !text.contains("root:x:"), "{path}: {text}");
    let claim = reply.pointer("/results/0").or_else(|| reply.pointer("/steps/0/results/0"));
    let said = match claim {
        Some(claim) => {
            assert_eq!(
                (&claim["passed"], &claim["error_code"]),
                (&json!(false), &json!("BadRequest")),
                "{reply}"
            );
            claim["observed"].as_str().unwrap().to_owned()
        }
        None => {
            let error = &reply["error"];
            assert!(
                ["BadRequest", "ScenarioInvalid"].contains(&error["code"].as_str().unwrap_or_default()),
                "{reply}"
            );
            error["message"].as_str().unwrap().to_owned()
        }
    };
    let cleaned: String = path.chars().filter(|c| !c.is_control()).collect();
    [path, &cleaned].iter().fold(said, |said, path| said.replace(&format!("'{path}'"), "PATH"))
}

/// H-17 on code: one list of the arguments that are paths; whoever adds one adds it here, and so to the tests below.
#[test]
fn every_argument_that_is_a_path_is_known() {
    let mut found = Vec::new();
    for spec in tools::all_tools() {
        collect(&spec.full_input_schema(), spec.meta.name, &mut found);
    }
    found.sort();
    found.dedup();
    let expected = ["exec_command.cwd", "launch_app.cwd", "load_scenario.path", "replay_start.path"];
    assert_eq!(found, expected, "and the predicates' reference_path, which schemas do not show");
}

/// The names of properties that sound like a place on a disk, at any depth.
fn collect(schema: &Value, tool: &str, found: &mut Vec<String>) {
    let sounds = |name: &str| {
        ["path", "dir", "file", "cwd", "folder"].iter().any(|word| name.split('_').any(|part| part == *word))
    };
    match schema {
        Value::Object(object) => {
            let properties = object.get("properties").and_then(Value::as_object);
            for (name, _) in properties.into_iter().flatten().filter(|(name, _)| sounds(name)) {
                found.push(format!("{tool}.{name}"));
            }
            object.values().for_each(|inner| collect(inner, tool, found));
        }
        Value::Array(list) => list.iter().for_each(|inner| collect(inner, tool, found)),
        _ => {}
    }
}

/// H-17, H-19 on code, act: refused in the same words whether there is such a file or not, and behind a link too.
#[test]
fn what_is_outside_is_refused_alike() {
    let desk = Desk::new();
    for (tool, _, args) in BELOW_A_ROOT {
        let missing = words(&desk.world.call(tool, args(OUTSIDE[0])), OUTSIDE[0]);
        assert!(missing.contains("is not in a folder"), "{tool}: {missing}");
        for path in OUTSIDE {
            assert_eq!(words(&desk.world.call(tool, args(path)), path), missing, "{tool} {path:?}");
        }
    }
}

/// H-17 on stdio: the same through the pipe.
#[test]
fn what_is_outside_is_refused_alike_over_stdio() {
    let desk = Desk::new();
    let mut client = desk.client();
    for (tool, _, args) in BELOW_A_ROOT {
        let missing = words(&client.data(tool, args(OUTSIDE[0])), OUTSIDE[0]);
        for path in OUTSIDE {
            assert_eq!(words(&client.data(tool, args(path)), path), missing, "{tool} {path:?}");
        }
    }
    assert!(client.alive());
}

/// H-17 on REST, /mcp: the same over HTTP, by the contract's routes and by the tools' own.
#[cfg(feature = "http")]
#[test]
fn what_is_outside_is_refused_alike_over_http() {
    use crate::support::http::{JSON, Site};
    let site = Site::new();
    let mcp = |tool: &str, args: Value| {
        let accept = ("accept", "application/json, text/event-stream");
        let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": args}});
        let answer = site.ask("POST", "/mcp", &[JSON, accept], &call.to_string()).json();
        serde_json::from_str::<Value>(answer["result"]["content"][0]["text"].as_str().unwrap()).unwrap()
    };
    for (tool, _, args) in BELOW_A_ROOT {
        let rest = |path: &str| site.post(&format!("/api/tool/{tool}"), args(path)).json();
        let missing = words(&rest(OUTSIDE[0]), OUTSIDE[0]);
        // Those that name something in the desk's folder are missing files of this one.
        for path in OUTSIDE.iter().filter(|path| path.starts_with(['/', '.']) || path.contains("://")) {
            assert_eq!(words(&rest(path), path), missing, "{tool} {path:?}");
            assert_eq!(words(&mcp(tool, args(path)), path), missing, "{tool} {path:?} at /mcp");
        }
    }
    for (route, status) in [("/api/replay/start", 400), ("/api/scenario/load", 400)] {
        for path in ["/etc/passwd", "/no/such/file", "../../etc/passwd"] {
            let answer = site.post(route, json!({"path": path}));
            assert_eq!(answer.status, status, "{route} {path}: {answer:?}");
        }
    }
}

/// H-17 on replay: a trace that loads what is outside is refused when it is replayed, like any call.
#[test]
fn a_replay_reads_nothing_outside() {
    let desk = Desk::new();
    let header = json!({"type": "header", "trace_id": "trace-1", "label": null, "started_at": "2026-01-01T00:00:00+00:00", "tool_version": "0.2.0"});
    let calls = [
        (
            "assert_state",
            json!({"predicates": [{"kind": "screenshot_similar", "reference_path": "/etc/passwd"}]}),
        ),
        ("load_scenario", json!({"path": "/etc/passwd"})),
        ("replay_start", json!({"path": "/etc/passwd"})),
    ];
    for (tool, args) in calls {
        let row = json!({"step_id": 1, "trace_seq": 1, "tool": tool, "args": args});
        std::fs::write(desk.root().join("made.jsonl"), format!("{header}\n{row}\n")).unwrap();
        let started = desk.world.call("replay_start", json!({"path": "made.jsonl"}));
        let stepped = desk.world.call("replay_step", json!({"replay_id": started["replay_id"]}));
        let told = format!("{started} {stepped}");
        let refused = ["is not in a folder", "\"ok\":false", "\"all_passed\":false"];
        assert!(refused.iter().any(|words| told.contains(words)), "{tool}: {told}");
        assert!(!told.contains("root:x:"), "{tool}: {told}");
    }
    assert_eq!(desk.world.effects(), 0);
}

/// H-17 on code: odd names inside are missing files, and over-long ones are refused before anything is looked for.
#[test]
fn odd_names_inside_are_names() {
    let desk = Desk::new();
    let long_part = "x".repeat(300);
    for path in [
        "..\\..\\etc\\passwd",
        "%2e%2e%2fetc%2fpasswd",
        "~/.ssh/id_rsa",
        "C:\\boot.ini",
        "....//x",
        "-rf",
        long_part.as_str(),
    ] {
        for (tool, _, args) in BELOW_A_ROOT {
            let said = words(&desk.world.call(tool, args(path)), path);
            assert!(said.contains("there is no file"), "{tool} {path:?}: {said}");
        }
    }
    for (tool, field) in [("replay_start", "path"), ("load_scenario", "path")] {
        let refused = desk.world.call(tool, json!({"path": "x/".repeat(3000)}));
        assert_eq!(refused["error"]["context"]["field"], field, "{tool}: {refused:.300}");
    }
}

// ---- links that come and go --------------------------------------------------------------------------------

/// While `root/inner` is a folder and a link to the other one by turns, the reading must never reach the other one.
fn while_it_is_swapped(desk: &Desk, mut reads: impl FnMut() -> bool) -> usize {
    let (inner, aside) = (desk.root().join("inner"), desk.root().join("aside"));
    let outside = desk.folder.path().join("outside");
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                std::fs::rename(&inner, &aside).unwrap();
                symlink(&outside, &inner).unwrap();
                std::fs::remove_file(&inner).unwrap();
                std::fs::rename(&aside, &inner).unwrap();
            }
        });
        let began = Instant::now();
        let mut worked = 0;
        while began.elapsed() < Duration::from_millis(1500)
            || (worked == 0 && began.elapsed() < Duration::from_secs(20))
        {
            worked += usize::from(reads());
        }
        done.store(true, Ordering::Relaxed);
        worked
    })
}

/// H-19 on code: a folder that is exchanged for a link between the check and the opening leads nowhere.
#[test]
fn a_link_that_is_swapped_in_is_not_followed() {
    let desk = Desk::new();
    let outside = desk.folder.path().join("outside");
    std::fs::create_dir(&outside).unwrap();
    let login = crate::support::read("scenarios/login.yaml");
    let name = login.lines().find(|line| line.starts_with("name:")).unwrap();
    std::fs::write(outside.join("a.yaml"), login.replace(name, "name: outside")).unwrap();
    let header = |label: &str| {
        let header = json!({"type": "header", "trace_id": "trace-1", "label": label, "started_at": "t", "tool_version": "0.2.0"});
        format!("{header}\n")
    };
    std::fs::write(outside.join("trace.jsonl"), header("outside")).unwrap();
    std::fs::write(desk.root().join("inner/trace.jsonl"), header("inside")).unwrap();
    let worked = while_it_is_swapped(&desk, || {
        let loaded = desk.world.call("load_scenario", json!({"path": "inner/a.yaml"}));
        assert_ne!(loaded["scenario"], "outside", "{loaded}");
        let recording = os_screen_observer::trace::reader::read(&desk.root(), "inner");
        assert!(
            recording.as_ref().is_ok_and(|it| it.header.label.as_deref() == Some("inside"))
                || recording.is_err()
        );
        loaded["ok"] == true
    });
    assert!(worked > 0, "it was never read at all");
}

/// H-19 on REST: a link to a folder of traces elsewhere is no trace of ours: neither listed, nor shown, nor the newest.
#[cfg(feature = "http")]
#[test]
fn links_to_other_traces_are_not_listed() {
    use crate::support::http::Site;
    let site = Site::new();
    site.ok("/api/trace/start", json!({"label": "ours"}));
    site.ok("/api/trace/stop", json!({}));
    let traces = site.app.config.tracing.dir.clone();
    let elsewhere = tempfile::tempdir().unwrap();
    let header = json!({"type": "header", "trace_id": "trace-1", "label": SECRET, "started_at": "t", "tool_version": "0.2.0"});
    std::fs::write(elsewhere.path().join("trace.jsonl"), format!("{header}\n")).unwrap();
    symlink(elsewhere.path(), traces.join("trace-link")).unwrap();
    std::fs::create_dir(traces.join("trace-file")).unwrap();
    symlink(elsewhere.path().join("trace.jsonl"), traces.join("trace-file/trace.jsonl")).unwrap();
    symlink(elsewhere.path().join("trace.jsonl"), traces.join("lines.jsonl")).unwrap();
    let listed = site.get("/api/traces");
    assert_eq!(listed.json()["count"], 1, "{listed:?}");
    assert!(!listed.body.contains(SECRET), "{listed:?}");
    for id in ["trace-link", "trace-file", "lines.jsonl", "trace-link%2Ftrace.jsonl"] {
        let answer = site.get(&format!("/api/traces/{id}"));
        assert_eq!(answer.status, 404, "{id}: {answer:?}");
        assert!(!answer.body.contains(SECRET), "{id}: {answer:?}");
        let replayed = site.post("/api/replay/start", json!({"path": id.replace("%2F", "/")}));
        assert!(replayed.status == 400 && !replayed.body.contains(SECRET), "{id}: {replayed:?}");
    }
    assert_eq!(site.ok("/api/replay/start", json!({"path": "latest"}))["label"], "ours");
}

// ---- what is no file ---------------------------------------------------------------------------------------

/// What looks like a file and is none, below that folder.
fn odd_files(root: &Path) -> Vec<&'static str> {
    assert!(std::process::Command::new("mkfifo").arg(root.join("pipe")).status().unwrap().success());
    std::fs::create_dir(root.join("folder")).unwrap();
    std::fs::File::create(root.join("sparse")).unwrap().set_len(1 << 30).unwrap();
    std::mem::forget(std::os::unix::net::UnixListener::bind(root.join("socket")).unwrap());
    symlink("/dev/zero", root.join("zero")).unwrap();
    symlink("/dev/tty", root.join("tty")).unwrap();
    symlink(root.join("self"), root.join("self")).unwrap();
    vec!["pipe", "folder", "sparse", "socket", "zero", "tty", "self", "folder/", "."]
}

/// H-20 on code, stdio: nothing that is no plain file of a sensible size is read, and nobody waits for it.
#[test]
fn what_is_no_file_is_no_scenario() {
    let desk = Desk::new();
    let mut client = desk.client();
    for name in odd_files(&desk.root()) {
        let began = Instant::now();
        let args = json!({"path": name});
        assert_eq!(desk.world.code("load_scenario", args.clone()), "ScenarioInvalid", "{name}");
        assert_eq!(client.data("load_scenario", args)["error"]["code"], "ScenarioInvalid", "{name}");
        for tool in ["replay_start", "assert_state"] {
            let args = BELOW_A_ROOT.iter().find(|(known, _, _)| *known == tool).unwrap().2(name);
            words(&desk.world.call(tool, args.clone()), name);
            words(&client.data(tool, args), name);
        }
        assert!(began.elapsed() < Duration::from_secs(10), "{name}: {:?}", began.elapsed());
    }
    assert_eq!(client.data("list_windows", json!({}))["count"], 3, "the desktop stays as it was");
}

/// H-20 on REST: the same by the contract's route.
#[cfg(feature = "http")]
#[test]
fn what_is_no_file_is_no_scenario_over_http() {
    use crate::support::http::Site;
    let folder = tempfile::tempdir().unwrap();
    let site = Site::with(json!({"scenarios": {"dirs": [folder.path()]}}));
    for name in odd_files(folder.path()) {
        let answer = site.post("/api/scenario/load", json!({"path": name}));
        assert_eq!(
            (answer.status, &answer.json()["error"]["code"]),
            (400, &json!("ScenarioInvalid")),
            "{name}: {answer:?}"
        );
    }
}

/// H-20 on start, terminal: what is no file is no scenario at the start either, and `scenario check` does not hang.
#[test]
fn what_is_no_file_is_no_scenario_at_the_start() {
    let folder = tempfile::tempdir().unwrap();
    for name in odd_files(folder.path()) {
        let file = folder.path().join(name);
        let file = file.to_str().unwrap();
        for words in [&["--mode", "mcp", "--mock", "--scenario", file][..], &["scenario", "check", file]] {
            let mut client = Client::start(words);
            client.close_input();
            let (status, _) =
                client.wait(Duration::from_secs(20)).unwrap_or_else(|| panic!("{words:?} goes on"));
            assert_eq!(status.code(), Some(1), "{words:?}: {}", client.errors.lock().unwrap());
        }
    }
}

// ---- pictures ----------------------------------------------------------------------------------------------

/// A PNG that says it is so large, with that much of packed data in it.
fn png(width: u32, height: u32, data: &[u8]) -> Vec<u8> {
    let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
    let mut header = [width.to_be_bytes(), height.to_be_bytes()].concat();
    header.extend([8, 6, 0, 0, 0]);
    for (kind, content) in [(b"IHDR", header.as_slice()), (b"IDAT", data), (b"IEND", &[])] {
        let body = [&kind[..], content].concat();
        file.extend(u32::try_from(content.len()).unwrap().to_be_bytes());
        file.extend(&body);
        file.extend(crc(&body).to_be_bytes());
    }
    file
}

fn crc(bytes: &[u8]) -> u32 {
    let step = |crc: u32, _| if crc & 1 == 1 { 0xedb8_8320 ^ (crc >> 1) } else { crc >> 1 };
    !bytes.iter().fold(!0, |crc, byte| (0..8).fold(crc ^ u32::from(*byte), step))
}

#[cfg(target_os = "linux")]
fn peak_kilobytes(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// H-21 on stdio: pictures that are bombs, cut off or something else do not pass, and memory stays.
#[cfg(target_os = "linux")]
#[test]
fn a_picture_that_is_none_costs_nothing() {
    let desk = Desk::new();
    let mut client = desk.client();
    let shot = client.call("get_screenshot", json!({"window_index": 0}));
    let size = client.data("get_screenshot", json!({"window_index": 0}));
    assert!(shot["content"][1]["data"].is_string());
    let (width, height) = (size["width"].as_u64().unwrap() as u32, size["height"].as_u64().unwrap() as u32);
    let whole = png(width, height, &[0x78, 0x01, 0x03, 0, 0, 0, 0, 1]);
    let files: &[(&str, Vec<u8>)] = &[
        ("bomb.png", png(50_000, 50_000, &[0x78, 0x01])),
        ("widest.png", png(u32::MAX, u32::MAX, &[0x78, 0x01])),
        ("empty.png", png(0, 0, &[0x78, 0x01])),
        ("no-pixels.png", whole.clone()),
        ("cut.png", whole[..whole.len() - 8].to_vec()),
        ("head.png", whole[..33].to_vec()),
        ("gif.png", b"GIF89a\x01\0\x01\0\0\0\0;".to_vec()),
        ("svg.png", b"<svg xmlns='http://www.w3.org/2000/svg'/>".to_vec()),
        ("nothing.png", Vec::new()),
        ("text.png", vec![b'x'; 4096]),
    ];
    for (name, bytes) in files {
        std::fs::write(desk.root().join(name), bytes).unwrap();
    }
    let before = peak_kilobytes(client.process_id());
    for (name, _) in files {
        for kind in ["screenshot_similar", "region_similar"] {
            let claim = json!({"kind": kind, "reference_path": name, "window_uid": "mock:notepad"});
            let got = client.data("assert_state", json!({"predicates": [claim]}));
            assert_eq!(
                (&got["ok"], &got["results"][0]["passed"]),
                (&json!(true), &json!(false)),
                "{name}: {got}"
            );
            assert_ne!(got["results"][0]["observed"], Value::Null, "{name}: {got}");
        }
    }
    // The same pictures where a caller may send one along.
    for (name, bytes) in files.iter().filter(|(_, bytes)| !bytes.is_empty()) {
        let data = base64(bytes);
        let got = client.call("vision_diff", json!({"before_b64": data, "after_b64": data}));
        assert_eq!(got["isError"], true, "{name}: {got:.300}");
    }
    let grown = peak_kilobytes(client.process_id()) - before;
    assert!(grown < 32 << 10, "{grown} KiB");
    assert!(client.alive());
}

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let letter = |bits: u32| char::from(LETTERS[(bits & 63) as usize]);
    let group = |part: &[u8]| {
        let bits = (0..3).fold(0, |bits, at| bits << 8 | u32::from(part.get(at).copied().unwrap_or(0)));
        let all = [letter(bits >> 18), letter(bits >> 12), letter(bits >> 6), letter(bits)];
        (0..4).map(|at| if at <= part.len() { all[at] } else { '=' }).collect::<String>()
    };
    bytes.chunks(3).map(group).collect()
}

// ---- labels and artifacts ----------------------------------------------------------------------------------

/// H-22 on REST, stdio: a label is a text in a file of ours; no part of it is a name, a line or a tag.
#[cfg(feature = "http")]
#[test]
fn labels_name_nothing() {
    use crate::support::http::Site;
    let site = Site::new();
    let desk = Desk::new();
    let mut client = desk.client();
    let beside = |folder: &Path| std::fs::read_dir(folder).unwrap().count();
    let around = beside(desk.folder.path());
    for label in [
        "../../x",
        "/etc/x",
        "a\0b",
        "two\nlines",
        "\r\n\r\nHTTP/1.1 200",
        "CON",
        "NUL.txt",
        "<script>x</script>",
        "\u{202e}gpj",
        "\u{1b}[2J",
    ] {
        for started in [
            site.ok("/api/trace/start", json!({"label": label})),
            client.data("trace_start", json!({"label": label})),
        ] {
            let id = started["trace_id"].as_str().unwrap();
            assert!(
                id.len() == 14 && id[6..].bytes().all(|byte| byte.is_ascii_hexdigit()),
                "{label:?}: {started}"
            );
        }
        for stopped in [site.ok("/api/trace/stop", json!({})), client.data("trace_stop", json!({}))] {
            let text = std::fs::read_to_string(stopped["path"].as_str().unwrap()).unwrap();
            assert_eq!(text.lines().count(), 2, "{label:?}: {text}");
            let header: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
            assert_eq!(header["label"], label);
        }
    }
    assert_eq!(beside(desk.folder.path()), around);
    assert_eq!(site.get("/api/traces").json()["count"], 10);
    let long = site.ok("/api/trace/start", json!({"label": "é".repeat(10_240)}));
    assert!(long["warning"].as_str().unwrap().contains("cut to 200"), "{long}");
}

/// H-23 on REST: the routes that hand out files hand out those of their own folder and no other.
#[cfg(feature = "http")]
#[test]
fn routes_with_names_hand_out_nothing_else() {
    use crate::support::http::Site;
    let site = Site::new();
    site.ok("/api/trace/start", json!({}));
    site.ok("/api/trace/stop", json!({}));
    let traces = site.app.config.tracing.dir.clone();
    std::fs::write(traces.join("../secret.png"), SECRET).unwrap();
    std::fs::write(traces.join("../trace.jsonl"), SECRET).unwrap();
    for name in [
        "../secret.png",
        "..",
        "..%2f",
        "..%2fsecret.png",
        "%2e%2e%2fsecret.png",
        "%2e%2e/secret.png",
        "..%5csecret.png",
        "..\\secret.png",
        "%252e%252e%252fsecret.png",
        "..%c0%afsecret.png",
        "..%00",
        "%2fetc%2fpasswd",
        "%2fproc%2fself%2fenviron",
        "file:%2f%2f%2fetc%2fpasswd",
    ] {
        for path in [
            format!("/api/traces/{name}"),
            format!("/{name}"),
            format!("/api/approvals/{name}/picture"),
            format!("/api/snapshot/{name}"),
        ] {
            let answer = site.get(&path);
            assert!((400..500).contains(&answer.status), "{path}: {answer:?}");
            assert!(!answer.body.contains(SECRET) && !answer.body.contains("root:x:"), "{path}: {answer:?}");
        }
    }
}

/// H-23 on REST: a trace that names pictures and trees of others is shown without them.
#[cfg(feature = "http")]
#[test]
fn a_trace_shows_no_picture_of_others() {
    use crate::support::http::Site;
    let site = Site::new();
    let traces = site.app.config.tracing.dir.clone();
    let folder = traces.join("trace-made");
    std::fs::create_dir_all(folder.join("screenshots")).unwrap();
    let secret = traces.join("secret.png");
    std::fs::write(&secret, png(1, 1, SECRET.as_bytes())).unwrap();
    symlink(&secret, folder.join("screenshots/link.png")).unwrap();
    let header = json!({"type": "header", "trace_id": "trace-made", "label": null, "started_at": "2026-01-01T00:00:00+00:00", "tool_version": "0.2.0"});
    let encoded = base64(&png(1, 1, SECRET.as_bytes()));
    for name in [
        "../secret.png",
        secret.to_str().unwrap(),
        "screenshots/link.png",
        "screenshots/../../secret.png",
        "..\\secret.png",
    ] {
        let seen = json!([{"window_uid": "w", "title": "t", "process": "p", "pid": 1, "focused": true, "tree": name,
            "bounds": {"x": 0, "y": 0, "width": 1, "height": 1}}]);
        let row = json!({"step_id": 1, "trace_seq": 1, "tool": "list_windows", "args": {}, "windows_before": seen,
            "screenshot_full_ref": name, "screenshot_window_ref": name});
        std::fs::write(folder.join("trace.jsonl"), format!("{header}\n{row}\n")).unwrap();
        let page = site.get("/api/traces/trace-made");
        assert_eq!(page.status, 200, "{name}: {page:?}");
        assert!(!page.body.contains(&encoded[..40]) && !page.body.contains(SECRET), "{name}");
    }
    // The same picture inside is shown, so the test above can fail.
    std::fs::copy(&secret, folder.join("screenshots/own.png")).unwrap();
    let row = json!({"step_id": 1, "trace_seq": 1, "tool": "list_windows", "args": {}, "screenshot_full_ref": "screenshots/own.png"});
    std::fs::write(folder.join("trace.jsonl"), format!("{header}\n{row}\n")).unwrap();
    let page = site.get("/api/traces/trace-made");
    assert!(page.body.contains(&encoded[..40]), "{page:?}");
}
