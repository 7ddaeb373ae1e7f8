//! What breaks around the server: a disk that is full at any byte, and a server that is killed at any moment.
//! What was written is read back from the files, what was done from the desktop's own answers.
//!
//! The limit on the size of files stands for the full disk, because it can be set to the byte and changed while the
//! server runs: a write fails after a part of it was done. A small file system in memory is the real thing.
#![cfg_attr(
    not(target_os = "linux"),
    allow(dead_code, reason = "only Linux can set that limit from outside")
)]

use std::path::{Path, PathBuf};
use std::process::Command;

use os_screen_observer::trace::reader::{self, Recording};
use os_screen_observer::trace::{recording::LoadedTrace, text};
use serde_json::{Value, json};

use crate::support::{Client, World};

const BINARY: &str = env!("CARGO_BIN_EXE_os-screen-observer");
const LOGIN: &str = "scenarios/login.yaml";

/// A server on the mock desktop whose files may be as long as the test says.
struct Cramped {
    client: Client,
    folder: tempfile::TempDir,
}

impl Cramped {
    fn start(settings: &[(&str, &str)], scenario: Option<&str>) -> Self {
        Self::begin(Command::new(BINARY), settings, scenario)
    }

    /// Not a byte fits into any file, from before the first line of the server.
    #[cfg(target_os = "linux")]
    fn start_without_room(settings: &[(&str, &str)]) -> Self {
        let mut command = Command::new("prlimit");
        command.args(["--fsize=0:unlimited", BINARY]);
        Self::begin(command, settings, None)
    }

    fn begin(mut command: Command, settings: &[(&str, &str)], scenario: Option<&str>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        command.args(["--mode", "mcp", "--mock", "--log", "error"]);
        command.args(scenario.map(|file| ["--scenario", file]).into_iter().flatten());
        command.env("OSO_TRACING__DIR", folder.path().join("traces"));
        command.env("OSO_LOGGING__AUDIT_PATH", folder.path().join("audit.log"));
        command.envs(settings.iter().copied());
        let mut client = Client::spawn(command);
        client.initialize("2025-11-25");
        Self { client, folder }
    }

    /// From now on no file of the server grows beyond this.
    #[cfg(target_os = "linux")]
    fn allow(&self, bytes: Option<u64>) {
        use rustix::process::{Pid, Resource, Rlimit, prlimit};
        let pid = Pid::from_raw(self.client.process_id().try_into().unwrap());
        let limit = Rlimit { current: bytes, maximum: None };
        prlimit(pid, Resource::Fsize, limit).unwrap();
    }

    fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.client.data(tool, arguments)
    }

    fn ok(&mut self, tool: &str, arguments: Value) -> Value {
        let reply = self.call(tool, arguments);
        assert_eq!(reply["ok"], true, "{tool} answered {reply}");
        reply
    }

    fn traces(&self) -> PathBuf {
        self.folder.path().join("traces")
    }
}

fn warning(reply: &Value) -> &str {
    reply["warning"].as_str().unwrap_or_default()
}

// ── the audit log ──────────────────────────────────────────────────────────────────────────────────

/// The step numbers of an audit log and its backups, from the oldest line to the newest. Each line must be whole.
fn audited_steps(log: &Path) -> Vec<u64> {
    let mut steps = Vec::new();
    let backups =
        (1..).map(|number| log.with_extension(format!("log.{number}"))).take_while(|file| file.exists());
    let mut files: Vec<PathBuf> = backups.collect();
    files.reverse();
    files.push(log.to_owned());
    for file in files {
        let text = std::fs::read_to_string(file).unwrap();
        assert!(text.is_empty() || text.ends_with('\n'), "torn: {text:?}");
        for line in text.lines() {
            let fields: Vec<&str> = line.split(' ').collect();
            assert!(fields.len() >= 5 && fields[3].starts_with("tool="), "not a whole line: {line:?}");
            steps.push(fields[1].strip_prefix("step=").unwrap().parse().unwrap());
        }
    }
    steps
}

/// What the field holds. The scenario keeps the last text that was typed into it.
#[cfg(target_os = "linux")]
fn field(server: &mut Cramped) -> String {
    let tree = server.ok("get_window_structure", json!({}))["tree"].clone();
    tree["children"][0]["value"].as_str().unwrap_or_default().to_owned()
}

/// At every byte of the line about an input: the input is done and its caller warned, the next is refused and not
/// done, looking goes on, and with room again nothing is missing.
#[cfg(target_os = "linux")]
fn check_full_audit(settings: &[(&str, &str)]) {
    let mut server = Cramped::start(&[&[("OSO_LOGGING__AUDIT", "true")], settings].concat(), Some(LOGIN));
    let log = server.folder.path().join("audit.log");
    let input = |text: &str| json!({"text": text});
    server.ok("click_element", json!({"selector": "//Edit"}));
    let before = std::fs::metadata(&log).unwrap().len();
    server.ok("type_text", input("first"));
    let line = std::fs::metadata(&log).unwrap().len() - before;
    let mut too_small = 0;
    for room in 0..line {
        let (done, refused, next) = (format!("a{room}"), format!("b{room}"), format!("c{room}"));
        server.allow(Some(std::fs::metadata(&log).unwrap().len() + room));
        let first = server.ok("type_text", input(&done));
        // A log that is rotated has room again.
        if warning(&first).is_empty() {
            server.allow(None);
            continue;
        }
        too_small += 1;
        assert!(warning(&first).contains("inputs are refused"), "{first}");
        let reply = server.call("type_text", input(&refused));
        assert_eq!(reply["error"]["code"], "Internal", "{reply}");
        assert!(reply["error"]["message"].as_str().unwrap().contains("so nothing was done"), "{reply}");
        assert_eq!(field(&mut server), done, "with room for {room} bytes");
        server.allow(None);
        assert_eq!(warning(&server.ok("type_text", input(&next))), "");
        assert_eq!(field(&mut server), next);
    }
    assert!(too_small > line / 2, "only {too_small} of {line} rooms were too small");
    let steps = audited_steps(&log);
    assert_eq!(
        steps,
        (1..=steps.len() as u64).collect::<Vec<u64>>(),
        "a line is missing or in the wrong place"
    );
}

/// H-89 on stdio: the audit log, full at every byte of a line
#[cfg(target_os = "linux")]
#[test]
fn no_audit_no_input_at_every_byte() {
    check_full_audit(&[]);
}

/// H-89 on stdio: the same while the log is rotated every few lines
#[cfg(target_os = "linux")]
#[test]
fn no_audit_no_input_while_the_log_rotates() {
    check_full_audit(&[("OSO_LOGGING__AUDIT_MAX_BYTES", "1024"), ("OSO_LOGGING__AUDIT_BACKUPS", "1000")]);
}

/// H-89 on start: a log that cannot take a line when the server starts
#[cfg(target_os = "linux")]
#[test]
fn a_server_that_starts_on_a_full_disk_only_looks() {
    let mut server = Cramped::start_without_room(&[("OSO_LOGGING__AUDIT", "true")]);
    assert!(warning(&server.ok("list_windows", json!({}))).contains("inputs are refused"));
    let refused = server.call("type_text", json!({"text": "x"}));
    assert_eq!(refused["ok"], false, "{refused}");
    server.allow(None);
    server.ok("type_text", json!({"text": "x"}));
    assert_eq!(audited_steps(&server.folder.path().join("audit.log")), [1, 2, 3]);
}

// ── traces ─────────────────────────────────────────────────────────────────────────────────────────

const TRACED: [(&str, &str); 3] = [
    ("list_windows", "{}"),
    ("click_element", r#"{"selector":"//Edit"}"#),
    ("type_text", r#"{"text":"alice"}"#),
];

/// The trace as it was left: every line of it whole, and every tree and picture that it names.
fn whole_trace(folder: &Path) -> Recording {
    let bytes = std::fs::read(folder.join("trace.jsonl")).unwrap();
    let recording = reader::parse(&bytes).unwrap();
    assert!(!recording.torn, "{}", String::from_utf8_lossy(&bytes));
    for row in &recording.rows {
        let windows = row.windows_before.iter().chain(row.windows_after.iter().flatten());
        for tree in windows.filter_map(|window| window.tree.as_ref()) {
            let text = std::fs::read_to_string(folder.join(tree)).unwrap();
            serde_json::from_str::<Value>(&text).unwrap_or_else(|problem| panic!("{tree}: {problem}"));
        }
        for picture in row.screenshot_full_ref.iter().chain(&row.screenshot_window_ref) {
            image::open(folder.join(picture)).unwrap_or_else(|problem| panic!("{picture}: {problem}"));
        }
    }
    recording
}

/// A traced session on files of at most so many bytes; whether all of it could be written.
#[cfg(target_os = "linux")]
fn check_full_trace(server: &mut Cramped, room: u64) -> bool {
    server.allow(Some(room));
    let started = server.call("trace_start", json!({}));
    if started["ok"] == false {
        assert_eq!(started["error"]["code"], "Internal", "{started}");
        let left = std::fs::read_dir(server.traces()).unwrap().count();
        assert_eq!(left, 0, "a trace that never began has left a folder");
        return false;
    }
    let folder = PathBuf::from(started["dir"].as_str().unwrap());
    let mut ended = None;
    for (number, (tool, arguments)) in TRACED.iter().enumerate() {
        let reply = server.ok(tool, serde_json::from_str(arguments).unwrap());
        if warning(&reply).contains("has ended") {
            assert_eq!(ended, None, "it ended twice");
            ended = Some(number);
        }
    }
    let stopped = server.ok("trace_stop", json!({}));
    let rows = ended.unwrap_or(TRACED.len());
    assert_eq!(stopped["step_count"], rows, "with room for {room} bytes: {stopped}");
    let recording = whole_trace(&folder);
    assert_eq!(recording.rows.len(), rows);
    let complete = ended.is_none() && recording.footer.is_some();
    assert_eq!(stopped["trace_error"].is_string(), !complete, "{stopped}");
    std::fs::remove_dir_all(folder).unwrap();
    complete
}

#[cfg(target_os = "linux")]
fn check_full_traces(pictures: &str, rooms: impl Iterator<Item = u64>, too_small: usize) {
    let every = ("OSO_TRACING__SCREENSHOT_EVERY_N_ACTIONS", pictures);
    let mut server = Cramped::start(&[every], Some(LOGIN));
    let complete: Vec<bool> = rooms.map(|room| check_full_trace(&mut server, room)).collect();
    let first = complete.iter().position(|complete| *complete).expect("enough room at the end");
    assert!(first >= too_small, "{first} rooms were too small for the session");
    server.allow(None);
    assert!(check_full_trace_without_limit(&mut server), "with room again it works");
}

#[cfg(target_os = "linux")]
fn check_full_trace_without_limit(server: &mut Cramped) -> bool {
    check_full_trace(server, u64::MAX >> 2)
}

/// H-89 on stdio: a trace that is full at any byte of its lines and trees
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_ends_the_trace_and_tears_nothing() {
    check_full_traces("0", (0..260).chain((260..6_000).step_by(17)), 200);
}

/// H-89 on stdio: the same in the middle of pictures
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_ends_the_trace_in_a_picture() {
    check_full_traces("1", [1_000, 2_500, 4_000, 7_000, 12_000, 4 << 20].into_iter(), 3);
}

// ── a real file system that is full ────────────────────────────────────────────────────────────────

/// A server whose `folder/small` is a file system of its own, and the way to it from here.
#[cfg(target_os = "linux")]
fn on_small_disk(kibibytes: u64, settings: &[(&str, &str)]) -> Option<(Client, tempfile::TempDir, PathBuf)> {
    let can = Command::new("unshare").args(["-rm", "true"]).status().is_ok_and(|status| status.success());
    if !can {
        assert!(
            std::env::var_os("CI").is_none_or(|ci| ci != "true"),
            "no name spaces: this cannot be tried here"
        );
        return None;
    }
    let folder = tempfile::tempdir().unwrap();
    let small = folder.path().join("small");
    std::fs::create_dir(&small).unwrap();
    let mut command = Command::new("unshare");
    let mount = format!("mount -t tmpfs -o size={kibibytes}k,mode=700 tmpfs \"$0\" && exec \"$@\"");
    command.args(["-rm", "sh", "-c", &mount]).arg(&small).arg(BINARY);
    command.args(["--mode", "mcp", "--mock", "--log", "error"]);
    command
        .env("OSO_TRACING__DIR", small.join("traces"))
        .env("OSO_LOGGING__AUDIT_PATH", small.join("audit.log"));
    command.envs(settings.iter().copied());
    let mut client = Client::spawn(command);
    client.initialize("2025-11-25");
    let inside = PathBuf::from(format!("/proc/{}/root", client.process_id()));
    let way = inside.join(small.strip_prefix("/").unwrap());
    Some((client, folder, way))
}

/// H-89 on stdio: the audit log on a file system that others fill and empty again
#[cfg(target_os = "linux")]
#[test]
fn inputs_wait_for_room_on_the_disk_of_the_audit_log() {
    let Some((mut client, _folder, small)) = on_small_disk(64, &[("OSO_LOGGING__AUDIT", "true")]) else {
        return;
    };
    client.data("list_windows", json!({}));
    for round in 0..3 {
        let filler = small.join("filler");
        let full = std::fs::write(&filler, vec![b'x'; 256 * 1024]);
        assert_eq!(full.unwrap_err().kind(), std::io::ErrorKind::StorageFull);
        // What is left of the last page is still ours.
        let refused = (0..100).find_map(|_| {
            let reply = client.data("type_text", json!({"text": "x"}));
            (reply["ok"] == false).then_some(reply)
        });
        let refused = refused.unwrap_or_else(|| panic!("round {round}: the disk never was full"));
        assert!(refused["error"]["message"].as_str().unwrap().contains("audit log"), "{refused}");
        assert_eq!(client.data("list_windows", json!({}))["ok"], true);
        std::fs::remove_file(&filler).unwrap();
        assert_eq!(client.data("type_text", json!({"text": "x"}))["ok"], true);
    }
    let steps = audited_steps(&small.join("audit.log"));
    assert_eq!(steps, (1..=steps.len() as u64).collect::<Vec<u64>>());
}

/// H-89 on stdio: a trace leaves room for others, and a new one starts when there is room
#[cfg(target_os = "linux")]
#[test]
fn a_trace_ends_before_the_disk_is_full() {
    let reserve = os_screen_observer::config::limits::TRACE_FREE_BYTES / 1024;
    let every = ("OSO_TRACING__SCREENSHOT_EVERY_N_ACTIONS", "0");
    let Some((mut client, _folder, small)) = on_small_disk(reserve + 96, &[every]) else { return };
    let mut files = 0;
    for _ in 0..2 {
        assert_eq!(client.data("trace_start", json!({}))["ok"], true);
        let ended = (0..2_000).find_map(|_| {
            let reply = client.data("list_windows", json!({}));
            reply["warning"].as_str().map(str::to_owned)
        });
        assert!(ended.as_deref().is_some_and(|why| why.contains("bytes are free")), "{ended:?}");
        client.data("trace_stop", json!({}));
        for entry in std::fs::read_dir(small.join("traces")).unwrap() {
            let folder = entry.unwrap().path();
            assert!(!whole_trace(&folder).rows.is_empty());
            std::fs::remove_dir_all(folder).unwrap();
            files += 1;
        }
    }
    assert_eq!(files, 2);
}

// ── the server killed ──────────────────────────────────────────────────────────────────────────────

/// Numbers that are the same in every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % most
    }
}

const KILLS: u64 = 200;
/// Two at a time: as many as the smallest machine has cores.
const AT_A_TIME: u64 = 2;

/// Runs a traced session, and kills the server after some answers and some microseconds. Gives the trace's folder.
fn killed_session(root: &Path, dice: &mut Dice) -> Option<PathBuf> {
    let mut command = Command::new(BINARY);
    command.args(["--mode", "mcp", "--mock", "--log", "error", "--scenario", LOGIN]);
    command.env("OSO_TRACING__DIR", root.join("traces")).env("OSO_LOGGING__AUDIT", "true");
    // Taking a picture takes longer than all the rest, so most kills would hit it.
    let pictures = if dice.below(10) == 0 { "100" } else { "0" };
    command
        .env("OSO_TRACING__SCREENSHOT_EVERY_N_ACTIONS", pictures)
        .env("OSO_LOGGING__AUDIT_PATH", root.join("audit.log"));
    let mut client = Client::spawn(command);
    client.initialize("2025-11-25");
    let started = client.post("tools/call", json!({"name": "trace_start", "arguments": {}}));
    let folder = match dice.below(8) {
        // Now and then before the trace has begun.
        0 => None,
        _ => {
            let answer = client.answer(started);
            let text = answer["result"]["content"][0]["text"].as_str().unwrap();
            Some(PathBuf::from(serde_json::from_str::<Value>(text).unwrap()["dir"].as_str().unwrap()))
        }
    };
    let calls = dice.below(12);
    for number in 0..calls {
        let (tool, arguments) = TRACED[usize::try_from(number).unwrap() % TRACED.len()];
        let arguments: Value = serde_json::from_str(arguments).unwrap();
        client.post("tools/call", json!({"name": tool, "arguments": arguments}));
    }
    let answers = dice.below(calls + 1);
    for _ in 0..answers {
        client.receive_within(std::time::Duration::from_secs(120)).expect("an answer");
    }
    std::thread::sleep(std::time::Duration::from_micros(dice.below(6_000)));
    // Dropping a client kills its server, in the middle of whatever it is doing.
    drop(client);
    folder
}

/// What must be true of a trace whatever cut it: shown, replayed up to the tear, and said so.
fn check_cut(folder: &Path, torn: bool) {
    let bytes = std::fs::read(folder.join("trace.jsonl")).unwrap();
    let recording = reader::parse(&bytes).unwrap_or_else(|problem| panic!("{}: {problem}", folder.display()));
    assert_eq!((recording.torn, recording.footer.is_some()), (torn, false));
    let story = LoadedTrace::read(folder).unwrap();
    assert_eq!(story.steps.len(), recording.rows.len());
    let table = text::trace_table(&story);
    assert!(table.contains("the footer is missing"), "{table}");
    assert_eq!(table.contains("is incomplete"), torn, "{table}");
    let world = World::build(Some(LOGIN), json!({"tracing": {"dir": folder.parent().unwrap()}}));
    let started = world.ok("replay_start", json!({"path": folder, "mode": "verify"}));
    assert_eq!(started["total"], recording.rows.len());
    assert_eq!(started["torn"] == true, torn, "{started}");
    assert!(started["warning"].is_string(), "{started}");
    // Calls that were made at the same time are in no order of their own, so only their end is certain.
    for _ in &recording.rows {
        let step = world.call("replay_step", json!({"replay_id": started["replay_id"]}));
        // A text that came before the click met no field, and the window has one for a password.
        if step["needs_secret"] == json!(["text"]) {
            let supplied = json!({"replay_id": started["replay_id"], "supply": {"text": "alice"}});
            world.ok("replay_step", supplied);
        } else {
            assert_eq!(step["ok"], true, "{step}");
        }
    }
    let last = world.ok("replay_step", json!({"replay_id": started["replay_id"]}));
    assert_eq!(last["finished"], true, "{last}");
}

/// The file as a power cut would leave it: without its last bytes.
fn cut_short(folder: &Path, dice: &mut Dice) {
    let file = folder.join("trace.jsonl");
    let bytes = std::fs::read(&file).unwrap();
    let ends: Vec<usize> =
        bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at).collect();
    let [.., before, last] = ends[..] else { return };
    let line = last - before;
    // Neither a whole line nor none of it.
    let kept = 1 + usize::try_from(dice.below(line as u64 - 2)).unwrap();
    std::fs::write(&file, &bytes[..=before + kept]).unwrap();
    check_cut(folder, true);
}

fn kill_some(root: &Path, seed: u64) -> usize {
    let mut dice = Dice(seed);
    let mut rows = 0;
    for _ in 0..KILLS / AT_A_TIME {
        if let Some(folder) = killed_session(root, &mut dice) {
            check_cut(&folder, false);
            rows += LoadedTrace::read(&folder).unwrap().steps.len();
            cut_short(&folder, &mut dice);
        }
    }
    rows
}

/// H-91 on stdio, terminal, replay: two hundred servers killed at seeded moments of a traced session
#[test]
fn every_whole_line_outlives_the_server() {
    let folder = tempfile::tempdir().unwrap();
    let rows: usize = std::thread::scope(|scope| {
        let runs: Vec<_> = (0..AT_A_TIME)
            .map(|seed| {
                let root = folder.path().join(seed.to_string());
                std::fs::create_dir(&root).unwrap();
                scope.spawn(move || (kill_some(&root, seed), root))
            })
            .collect();
        runs.into_iter()
            .map(|run| {
                let (rows, root) = run.join().unwrap();
                // One log for a hundred servers, each of which went on where another was killed.
                assert!(!audited_steps(&root.join("audit.log")).is_empty());
                rows
            })
            .sum()
    });
    assert!(rows > 200, "only {rows} rows were written before the kills");
}
