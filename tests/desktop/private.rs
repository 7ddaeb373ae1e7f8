//! `--sandbox` itself: it works, it is private, and nothing of it is left, however the server ends.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};

use crate::desk::{BINARY, until};
use crate::support::Client;

/// A server on a private desktop with a dialog in it, and what belongs to it.
struct Private {
    client: Client,
    processes: Vec<(u32, String)>,
    folder: PathBuf,
    socket: PathBuf,
}

fn start() -> Private {
    let mut client = Client::start(&[
        "--mode",
        "mcp",
        "--log",
        "warning",
        "--sandbox",
        "--",
        "zenity",
        "--info",
        "--title=Private",
    ]);
    client.initialize("2025-11-25");
    let windows = client.data("list_windows", json!({}));
    assert_eq!(windows["windows"][0]["title"], "Private", "{windows}");
    let processes = family_of(client.process_id());
    let has = |name: &str| processes.iter().any(|(pid, _)| command_of(*pid).contains(name));
    for part in ["sandbox-keeper", "Xvfb", "dbus-daemon", "openbox", "at-spi", "zenity"] {
        assert!(has(part), "{part} is not below the server: {processes:?}");
    }
    let dialog = windows["windows"][0]["pid"].as_u64().unwrap().try_into().unwrap();
    let environment = environment_of(dialog);
    let folder = Path::new(&environment["HOME"]).parent().unwrap().to_owned();
    let socket = Path::new("/tmp/.X11-unix").join(environment["DISPLAY"].replace(':', "X"));
    assert!(folder.is_dir() && socket.exists());
    Private { client, processes, folder, socket }
}

impl Private {
    fn is_gone(&self) {
        until("the end of every process", || {
            self.processes.iter().all(|(pid, born)| born_of(*pid).as_ref() != Some(born)).then_some(())
        });
        until("the folder and the socket to go", || {
            (!self.folder.exists() && !self.socket.exists()).then_some(())
        });
    }
}

/// Every process below one, with its time of birth, since numbers are used again.
pub fn family_of(ancestor: u32) -> Vec<(u32, String)> {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let all: Vec<u32> = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    let parent_of = |pid: u32| stat_of(pid)?.get(1)?.parse::<u32>().ok();
    let parents: BTreeMap<u32, u32> = all.iter().filter_map(|pid| Some((*pid, parent_of(*pid)?))).collect();
    let below = |mut pid: u32| {
        while let Some(parent) = parents.get(&pid) {
            if *parent == ancestor {
                return true;
            }
            pid = *parent;
        }
        false
    };
    all.into_iter().filter(|pid| below(*pid)).filter_map(|pid| Some((pid, born_of(pid)?))).collect()
}

fn stat_of(pid: u32) -> Option<Vec<String>> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let fields = stat.rsplit_once(") ")?.1.split(' ').map(str::to_owned).collect::<Vec<_>>();
    (fields[0] != "Z").then_some(fields)
}

fn born_of(pid: u32) -> Option<String> {
    stat_of(pid)?.get(19).cloned()
}

pub fn command_of(pid: u32) -> String {
    std::fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default().replace('\0', " ")
}

pub fn environment_of(pid: u32) -> BTreeMap<String, String> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/environ")).unwrap_or_default();
    let pairs = text.split('\0').filter_map(|pair| pair.split_once('='));
    pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

pub fn signal(pid: u32, signal: rustix::process::Signal) {
    let pid = rustix::process::Pid::from_raw(pid.try_into().unwrap()).unwrap();
    rustix::process::kill_process(pid, signal).unwrap();
}

/// The keeper starts it, with the environment of the desktop, so it ends with the desktop.
#[test]
fn a_launched_program_belongs_to_the_desktop() {
    let mut private = start();
    let args = json!({"program": "mousepad", "match": {"title": "Mousepad"}, "timeout_ms": 60000});
    let launched = private.client.data("launch_app", args);
    assert_eq!(launched["window_found"], true, "{launched}");
    let pid = launched["pid"].as_u64().unwrap().try_into().unwrap();
    let environment = environment_of(pid);
    assert!(Path::new(&environment["HOME"]).starts_with(&private.folder), "{environment:?}");
    assert!(!environment.keys().any(|name| name.starts_with("OSO_")), "{environment:?}");
    private.processes.extend([(pid, born_of(pid).unwrap())]);
    signal(private.client.process_id(), rustix::process::Signal::KILL);
    private.is_gone();
}

#[test]
fn nothing_is_left_when_the_input_ends() {
    let mut private = start();
    private.client.close_input();
    private.client.wait(Duration::from_secs(20)).expect("the server to end");
    // The server itself waited for it, so nothing has to be waited for.
    let alive = |(pid, born): &&(u32, String)| born_of(*pid).as_ref() == Some(born);
    let left: Vec<String> = private.processes.iter().filter(alive).map(|(pid, _)| command_of(*pid)).collect();
    assert_eq!(left, Vec::<String>::new());
    private.is_gone();
}

#[test]
fn nothing_is_left_when_the_server_is_asked_to_end() {
    let private = start();
    signal(private.client.process_id(), rustix::process::Signal::TERM);
    private.is_gone();
}

#[test]
fn nothing_is_left_when_the_server_is_killed() {
    let private = start();
    signal(private.client.process_id(), rustix::process::Signal::KILL);
    private.is_gone();
}

#[test]
fn nothing_runs_on_when_the_keeper_is_killed() {
    let private = start();
    let keeper =
        private.processes.iter().find(|(pid, _)| command_of(*pid).contains("sandbox-keeper")).unwrap().0;
    signal(keeper, rustix::process::Signal::KILL);
    until("the end of every process", || {
        private.processes.iter().all(|(pid, born)| born_of(*pid).as_ref() != Some(born)).then_some(())
    });
    std::fs::remove_dir_all(&private.folder).unwrap();
}

/// A folder for temporary files of its own, so that the desktops of other tests are not in it.
fn start_in(folder: &Path, command: &[&str]) -> Client {
    let mut server = Command::new(BINARY);
    server.args(["--mode", "mcp", "--log", "warning", "--sandbox", "--"]).args(command).env("TMPDIR", folder);
    Client::spawn(server)
}

fn short_folder() -> tempfile::TempDir {
    tempfile::Builder::new().prefix("o").tempdir_in("/tmp").unwrap()
}

fn is_empty(folder: &Path) -> Option<()> {
    std::fs::read_dir(folder).unwrap().next().is_none().then_some(())
}

/// H-124 on desktop: however early the server is killed, the folder with the key goes.
#[test]
fn nothing_is_left_when_the_server_is_killed_while_it_starts() {
    for tenths in [0, 1, 2, 3, 5, 8] {
        let folder = short_folder();
        let client = start_in(folder.path(), &["zenity", "--info"]);
        std::thread::sleep(Duration::from_millis(tenths * 100));
        signal(client.process_id(), rustix::process::Signal::KILL);
        until("the folder to go", || is_empty(folder.path()));
    }
}

/// H-124 on desktop: when the keeper is killed, the server removes the folder at its end.
#[test]
fn no_folder_is_left_when_the_keeper_was_killed() {
    let folder = short_folder();
    let mut client = start_in(folder.path(), &["zenity", "--info"]);
    client.initialize("2025-11-25");
    let family = family_of(client.process_id());
    let keeper = family.iter().find(|(pid, _)| command_of(*pid).contains("sandbox-keeper")).unwrap().0;
    signal(keeper, rustix::process::Signal::KILL);
    client.close_input();
    until("the folder to go", || is_empty(folder.path()));
}

/// H-124 on desktop: what both left behind, the next private desktop removes.
#[test]
fn the_next_desktop_removes_what_was_abandoned() {
    let folder = short_folder();
    let mut client = start_in(folder.path(), &["zenity", "--info"]);
    client.initialize("2025-11-25");
    let family = family_of(client.process_id());
    let keeper = family.iter().find(|(pid, _)| command_of(*pid).contains("sandbox-keeper")).unwrap().0;
    signal(client.process_id(), rustix::process::Signal::STOP);
    signal(keeper, rustix::process::Signal::KILL);
    signal(client.process_id(), rustix::process::Signal::KILL);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    let mut next = start_in(folder.path(), &["zenity", "--info"]);
    next.initialize("2025-11-25");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "the new one alone");
    next.close_input();
    until("the folder to go", || is_empty(folder.path()));
}

/// H-125 on desktop: a program that stops the keeper does not hold up the start.
#[test]
fn a_program_that_stops_the_keeper_holds_up_nothing() {
    let folder = short_folder();
    let began = std::time::Instant::now();
    let mut client =
        start_in(folder.path(), &["sh", "-c", "kill -STOP $PPID; exec zenity --info --title=Stopper"]);
    client.initialize("2025-11-25");
    assert!(began.elapsed() < Duration::from_secs(60), "{:?}", began.elapsed());
    let windows = client.data("list_windows", json!({}));
    assert_eq!(windows["windows"][0]["title"], "Stopper", "{windows}");
    client.close_input();
    until("the folder to go", || is_empty(folder.path()));
}

#[test]
fn a_program_that_detaches_itself_is_ended_too() {
    let detach = "setsid sh -c 'sleep 1000 & sleep 1001' & exec zenity --info --title=Detached";
    let mut client = Client::start(&["--mode", "mcp", "--sandbox", "--", "sh", "-c", detach]);
    client.initialize("2025-11-25");
    let sleepers = until("the detached program", || {
        let found = family_of(client.process_id());
        let found: Vec<_> =
            found.into_iter().filter(|(pid, _)| command_of(*pid).starts_with("sleep 100")).collect();
        (found.len() == 2).then_some(found)
    });
    signal(client.process_id(), rustix::process::Signal::KILL);
    until("the end of the detached program", || {
        sleepers.iter().all(|(pid, born)| born_of(*pid).as_ref() != Some(born)).then_some(())
    });
}

#[test]
fn a_program_sees_nothing_of_the_session_around_it() {
    let mut command = Command::new(BINARY);
    command.args(["--mode", "mcp", "--sandbox", "--", "zenity", "--info", "--title=Private"]);
    command.envs([
        ("OSO_SECRET_KEY", "hunter22"),
        ("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nowhere"),
        ("WAYLAND_DISPLAY", "wayland-7"),
        ("SSH_AUTH_SOCK", "/nowhere"),
        ("DISPLAY", ":12345"),
    ]);
    let mut client = Client::spawn(command);
    client.initialize("2025-11-25");
    let windows = client.data("list_windows", json!({}));
    let pid = windows["windows"][0]["pid"].as_u64().unwrap().try_into().unwrap();
    let environment = environment_of(pid);
    for name in ["OSO_SECRET_KEY", "WAYLAND_DISPLAY", "SSH_AUTH_SOCK"] {
        assert!(!environment.contains_key(name), "{name}");
    }
    let folder = Path::new(&environment["HOME"]).parent().unwrap().to_owned();
    assert!(environment["DBUS_SESSION_BUS_ADDRESS"].contains(folder.to_str().unwrap()));
    assert_ne!(environment["DISPLAY"], ":12345");
    use std::os::unix::fs::PermissionsExt;
    assert_eq!(folder.metadata().unwrap().permissions().mode() & 0o777, 0o700);
    let keeper = family_of(client.process_id());
    let keeper = keeper.iter().find(|(pid, _)| command_of(*pid).contains("sandbox-keeper")).unwrap().0;
    assert!(!environment_of(keeper).contains_key("OSO_SECRET_KEY"));
}

fn call(arguments: &[&str]) -> Value {
    let output = Command::new(BINARY).args(arguments).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    serde_json::from_str(&text).unwrap_or_else(|_| panic!("{arguments:?} printed {output:?}"))
}

#[test]
fn one_call_has_a_desktop_of_its_own_size() {
    let reply = call(&["--sandbox", "--sandbox-size", "800x600", "call", "get_monitors"]);
    let bounds = &reply["monitors"][0]["bounds"];
    assert_eq!((&bounds["width"], &bounds["height"]), (&json!(800), &json!(600)), "{reply}");
}

#[test]
fn what_cannot_start_is_said_and_no_other_desktop_is_taken() {
    let check = |program: &[&str], expected: &[&str]| {
        let reply = call(&[&["call", "list_windows", "--sandbox", "--"], program].concat());
        let message = reply["error"]["message"].as_str().unwrap_or_else(|| panic!("{program:?}: {reply}"));
        assert!(expected.iter().all(|words| message.contains(words)), "{program:?}: {message}");
    };
    check(&["no-such-program"], &["the program no-such-program was not found"]);
    check(&["zenity", "--no-such-option"], &["zenity ended before it showed a window (exit status: 255)"]);
    // The window manager inside of the isolation writes to the same log, before it or after it.
    check(&["sh", "-c", "echo sorry >&2; exit 3"], &["(exit status: 3); its output: ", "sorry"]);
}

#[test]
fn missing_parts_are_named_with_their_packages() {
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink("/usr/bin/dbus-daemon", folder.path().join("dbus-daemon")).unwrap();
    let mut command = Command::new(BINARY);
    let output =
        command.env("PATH", folder.path()).args(["--sandbox", "call", "list_windows"]).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("a private desktop needs Xvfb, openbox"), "{text}");
}
