//! The isolation of a private desktop: a program inside tries to get out and gets nowhere, and what it should reach it
//! reaches. Without isolation the same program gets everywhere, so that the attempts are real.

use std::net::TcpListener;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::desk::{BINARY, desk, until};
use crate::private::{command_of, family_of};
use crate::support::{Client, project};

const SECRET: &str = "correct horse battery";

/// What is outside, for a program inside to find.
struct Outside {
    folder: tempfile::TempDir,
    listener: TcpListener,
    _socket: UnixListener,
    _abstract: UnixListener,
    name: String,
}

impl Outside {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("secret"), "S3NT1NEL").unwrap();
        let name = format!("oso-test-{}", folder.path().file_name().unwrap().to_str().unwrap());
        let address = SocketAddr::from_abstract_name(name.as_bytes()).unwrap();
        Self {
            listener: TcpListener::bind("127.0.0.1:0").unwrap(),
            _socket: UnixListener::bind(folder.path().join("socket")).unwrap(),
            _abstract: UnixListener::bind_addr(&address).unwrap(),
            folder,
            name,
        }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

fn server(settings: &[(&str, &str)], command: &[&str]) -> Client {
    let mut process = Command::new(BINARY);
    process.args(["--mode", "mcp", "--log", "info", "--sandbox", "--"]).args(command);
    process.env("OSO_SANDBOX__SHARE", json!([project().join("tests/desktop/programs")]).to_string());
    process
        .env("OSO_LAUNCH__PROGRAMS", "any")
        .env("OSO_EXEC__ENABLED", "true")
        .env("OSO_EXEC__SECRET", SECRET);
    process.env("SOMEBODYS_KEY", "S3NT1NEL").envs(settings.iter().copied());
    let mut client = Client::spawn(process);
    client.initialize("2025-11-25");
    client
}

/// The home of the private desktop, from outside.
fn home_of(client: &Client) -> PathBuf {
    let family = family_of(client.process_id());
    let mut found = family.iter().filter_map(|(pid, _)| {
        let text = std::fs::read_to_string(format!("/proc/{pid}/environ")).ok()?;
        let home = text.split('\0').find_map(|pair| pair.strip_prefix("HOME="))?;
        home.contains("oso-sandbox-").then(|| PathBuf::from(home))
    });
    found.next().expect("a program of the private desktop")
}

/// What the program that tries to get out has reached, and the server that it runs under.
fn escape(settings: &[(&str, &str)], outside: &Outside) -> (Value, Client) {
    let display =
        desk().command("true").get_envs().find(|(name, _)| *name == "DISPLAY").unwrap().1.unwrap().to_owned();
    let display = display.to_str().unwrap().trim_start_matches(':').to_owned();
    let program = project().join("tests/desktop/programs/escape.py");
    let port = outside.listener.local_addr().unwrap().port().to_string();
    let (secret, socket) = (outside.file("secret"), outside.file("socket"));
    let words = [
        "/usr/bin/python3",
        program.to_str().unwrap(),
        "result.json",
        secret.to_str().unwrap(),
        &port,
        socket.to_str().unwrap(),
        &outside.name,
        &display,
        &std::process::id().to_string(),
    ];
    let client = server(settings, &words);
    let result = home_of(&client).join("result.json");
    let told =
        until("what it reached", || serde_json::from_str(&std::fs::read_to_string(&result).ok()?).ok());
    (told, client)
}

const OWN: &[&str] = &["own_home", "own_display", "own_tmp"];

fn reached(told: &Value, own: bool) -> Vec<&str> {
    let all = told
        .as_object()
        .unwrap()
        .iter()
        .filter(|(name, reached)| OWN.contains(&name.as_str()) == own && **reached == json!(true));
    all.map(|(name, _)| name.as_str()).collect()
}

/// H-132 on desktop: files, system, loopback, network, sockets, displays, processes.
#[test]
fn a_program_inside_gets_nowhere() {
    let outside = Outside::new();
    let (told, mut client) = escape(&[("OSO_SANDBOX__ISOLATE", "strict")], &outside);
    assert_eq!(reached(&told, false), Vec::<&str>::new(), "{told}");
    assert_eq!(reached(&told, true).len(), OWN.len(), "{told}");
    // What it should reach it does: its window is there with its elements.
    let windows = client.data("list_windows", json!({}));
    let window = &windows["windows"][0];
    assert_eq!(window["title"], "Escaped", "{windows}");
    let pid = u32::try_from(window["pid"].as_u64().unwrap()).unwrap();
    assert!(command_of(pid).starts_with("zenity"), "{windows}: {}", command_of(pid));
    let tree = until("its elements", || {
        let tree = client.data("get_window_structure", json!({})).to_string();
        tree.contains("inside the wall").then_some(tree)
    });
    assert!(tree.contains("inside the wall"));
    let told = client.data("get_capabilities", json!({}));
    assert!(told["limitations"].to_string().contains("are isolated"), "{told}");
}

/// H-132 on desktop: what the bus, the window manager and other programs start is inside too.
#[test]
fn everything_that_starts_programs_is_inside() {
    let client = server(&[("OSO_SANDBOX__ISOLATE", "strict")], &["zenity", "--info"]);
    for (pid, _) in family_of(client.process_id()) {
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        let numbers = status.lines().find_map(|line| line.strip_prefix("NSpid:")).unwrap_or_default();
        let inside = numbers.split_whitespace().count() > 1;
        let command = command_of(pid);
        let starts = command.starts_with("openbox")
            || command.starts_with("zenity")
            || (command.starts_with("dbus-daemon") && command.contains("--session"));
        assert!(!starts || inside, "{command} is outside: {numbers}");
    }
}

/// H-132 on desktop: launched programs and commands go the same way.
#[test]
fn programs_and_commands_are_isolated_alike() {
    let outside = Outside::new();
    let mut client = server(&[("OSO_SANDBOX__ISOLATE", "strict")], &["zenity", "--info", "--title=First"]);
    let secret = outside.file("secret");
    let command =
        format!("cat {} ; ls /proc | grep -c '^[0-9]' ; echo mine > $HOME/mine; pwd", secret.display());
    let run = client.data("exec_command", json!({"command": command, "secret": SECRET}));
    assert!(!run.to_string().contains("S3NT1NEL"), "{run}");
    assert!(run["stderr"].as_str().unwrap().contains("No such file"), "{run}");
    assert!(run["stdout"].as_str().unwrap().contains("oso-sandbox-"), "{run}");
    let home = home_of(&client);
    assert_eq!(std::fs::read_to_string(home.join("mine")).unwrap(), "mine\n");
    let script = format!("cat {} > $HOME/taken; exec zenity --info --title=Second", secret.display());
    let args =
        json!({"program": "sh", "args": ["-c", script], "match": {"title": "Second"}, "timeout_ms": 60000});
    let launched = client.data("launch_app", args);
    assert_eq!(launched["window_found"], true, "{launched}");
    assert_eq!(std::fs::read_to_string(home.join("taken")).unwrap(), "");
    let missing = client.data("launch_app", json!({"program": BINARY, "timeout_ms": 100}));
    assert!(missing["error"]["message"].as_str().unwrap_or_default().contains("sandbox.share"), "{missing}");
}

/// Whoever goes on after it would work in another program's window.
#[test]
fn a_program_that_ends_without_a_window_says_why() {
    for isolate in ["strict", "off"] {
        let mut client = server(&[("OSO_SANDBOX__ISOLATE", isolate)], &["zenity", "--info", "--title=First"]);
        let args = json!(["-c", "echo no display at all >&2; exit 7"]);
        let ended = client.data("launch_app", json!({"program": "sh", "args": args}));
        assert_eq!(ended["error"]["code"], "BadRequest", "{ended}");
        let message = ended["error"]["message"].as_str().unwrap();
        assert!(message.contains("exit status: 7") && message.contains("no display at all"), "{message}");
    }
}

/// The attempts are real: without isolation they succeed.
#[test]
fn without_isolation_it_gets_everywhere() {
    let outside = Outside::new();
    let (told, mut client) = escape(&[("OSO_SANDBOX__ISOLATE", "off")], &outside);
    for name in [
        "file",
        "folder",
        "loopback",
        "socket",
        "abstract",
        "display",
        "abstract_display",
        "processes",
        "signal",
        "environments",
    ] {
        assert_eq!(told[name], true, "{name}: {told}");
    }
    let told = client.data("get_capabilities", json!({}));
    assert!(!told["limitations"].to_string().contains("isolated"), "{told}");
}

/// `home` keeps the files, and says that it keeps no more.
#[test]
fn home_keeps_the_files_alone() {
    let outside = Outside::new();
    let (told, mut client) = escape(&[("OSO_SANDBOX__ISOLATE", "home")], &outside);
    for (name, expected) in
        [("file", false), ("folder", false), ("system", false), ("socket", false), ("loopback", true)]
    {
        assert_eq!(told[name], expected, "{name}: {told}");
    }
    let told = client.data("get_capabilities", json!({}));
    assert!(told["limitations"].to_string().contains("sandbox.isolate is home"), "{told}");
}

/// A PATH that has everything but bubblewrap.
fn path_without_bubblewrap(folder: &Path) -> String {
    for program in ["Xvfb", "dbus-daemon", "openbox", "zenity", "sh", "env"] {
        std::os::unix::fs::symlink(which_of(program), folder.join(program)).unwrap();
    }
    folder.to_str().unwrap().to_owned()
}

fn which_of(program: &str) -> PathBuf {
    let path = std::env::var_os("PATH").unwrap();
    std::env::split_paths(&path)
        .map(|folder| folder.join(program))
        .find(|file| file.is_file())
        .expect(program)
}

/// H-133 on desktop: demanded, it is refused; expected, it is said on stderr and to whoever asks.
#[test]
fn isolation_that_is_not_possible_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let path = path_without_bubblewrap(folder.path());
    let refused = Command::new(BINARY)
        .args(["--sandbox", "call", "list_windows"])
        .env("PATH", &path)
        .env("OSO_SANDBOX__ISOLATE", "strict")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&refused.stdout).into_owned();
    assert!(text.contains("sandbox.isolate demands isolation, and bubblewrap is not installed"), "{text}");
    let mut client = server(&[("PATH", &path)], &["zenity", "--info"]);
    let told = client.data("get_capabilities", json!({}));
    assert!(told["limitations"].to_string().contains("are not isolated"), "{told}");
    let errors = client.errors.lock().unwrap().clone();
    assert!(
        errors.contains("are not isolated") && errors.contains("bubblewrap is not installed"),
        "{errors}"
    );
    let doctor = Command::new(BINARY).arg("doctor").env("PATH", &path).output().unwrap();
    let text = String::from_utf8_lossy(&doctor.stdout).into_owned();
    assert!(text.contains("isolation") && text.contains("bubblewrap is not installed"), "{text}");
}

/// A terminal of root sets its groups before it starts its shell, which nobody may in a namespace.
#[test]
fn a_terminal_starts_isolated() {
    let mut client = server(&[("OSO_SANDBOX__ISOLATE", "strict")], &["zenity", "--info", "--title=First"]);
    let args = json!({"program": "xterm", "args": ["-T", "Shell", "-e", "sleep", "60"], "timeout_ms": 60000});
    let launched = client.data("launch_app", args);
    assert_eq!(launched["window"]["title"], "Shell", "{launched}");
    std::thread::sleep(std::time::Duration::from_secs(1));
    let windows = client.data("list_windows", json!({})).to_string();
    assert!(windows.contains("Shell"), "{windows}");
}
