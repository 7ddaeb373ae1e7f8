//! What people meet at a terminal: `call` as text and as JSON, pictures in files, `tools NAME`, the flag `--log`, and
//! `watch`. A terminal is made by `script`, where the machine has it.

use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::support::project;

const PROGRAM: &str = env!("CARGO_BIN_EXE_os-screen-observer");

fn run(words: &[&str]) -> Output {
    let folder = tempfile::tempdir().unwrap();
    Command::new(PROGRAM)
        .args(words)
        .current_dir(project())
        .env("XDG_CONFIG_HOME", folder.path())
        .env("XDG_STATE_HOME", folder.path())
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The same at a terminal.
#[cfg(target_os = "linux")]
fn at_terminal(line: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let done = Command::new("script")
        .args(["-qec", &format!("{PROGRAM} {line}"), "/dev/null"])
        .current_dir(project())
        .env("XDG_CONFIG_HOME", folder.path())
        .env("XDG_STATE_HOME", folder.path())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    text(&done.stdout).replace('\r', "")
}

#[cfg(target_os = "linux")]
#[test]
fn a_person_reads_text() {
    let look = at_terminal("call look --scenario scenarios/login.yaml");
    assert!(look.contains("Button \"Login\"") && !look.contains("\\n") && !look.contains("\"ok\""), "{look}");
    let sketch = at_terminal("call get_screen_sketch --scenario scenarios/login.yaml");
    assert!(sketch.contains('┌') && !sketch.contains("\\n"), "{sketch}");
    let windows = at_terminal("call list_windows --mock");
    assert!(windows.contains("windows (3):\n  "), "{windows}");
    let wrong = at_terminal("call click --mock");
    assert!(wrong.starts_with("BadRequest: unknown tool 'click'; use click_element"), "{wrong}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_person_can_have_json() {
    let json = at_terminal("call list_windows --json --mock");
    let reply: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(reply["ok"], true);
}

#[test]
fn a_program_reads_json() {
    for words in [&["call", "look", "--mock"][..], &["call", "look", "--mock", "--json"]] {
        let done = run(words);
        let reply: Value = serde_json::from_slice(&done.stdout).unwrap();
        assert!(reply["ok"] == true && reply["outline"].is_string(), "{words:?}: {reply}");
    }
}

#[test]
fn a_picture_is_written_where_it_is_wanted() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("screen.png");
    let file = file.to_str().unwrap();
    let done = run(&["call", "get_screenshot", "--mock", "--out", file]);
    let reply: Value = serde_json::from_slice(&done.stdout).unwrap();
    let told = reply["picture"].as_str().unwrap();
    assert!(done.status.success() && told.ends_with("screen.png"), "{told}");
    assert_eq!(std::fs::read(file).unwrap()[..8], *b"\x89PNG\r\n\x1a\n");
    let done = run(&["call", "list_windows", "--mock", "--out", file]);
    assert!(!done.status.success() && text(&done.stderr).contains("without a picture"));
    let done = run(&["call", "get_screenshot", "--mock", "--out", "/nowhere/x.png"]);
    assert!(!done.status.success() && text(&done.stderr).contains("cannot be written"));
}

#[test]
fn one_tool_is_shown_with_its_arguments_and_examples() {
    let shown = text(&run(&["tools", "click_at"]).stdout);
    assert!(shown.starts_with("click_at\n") && shown.contains("Arguments:\n"), "{shown}");
    assert!(shown.contains("os-screen-observer --mock call click_at '{"), "{shown}");
    let check = |name: &str, near: &str| {
        let done = run(&["tools", name]);
        let said = text(&done.stderr);
        assert!(!done.status.success() && said.contains(near), "{name}: {said}");
    };
    check("click", "did you mean 'click_element'?");
    check("type", "did you mean 'type_text'?");
    check("screenshot", "did you mean 'get_screenshot'?");
    check("lok", "did you mean 'look'?");
}

#[test]
fn a_call_logs_as_much_as_it_is_told_to() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("c.json");
    std::fs::write(&config, r#"{"unheard_of": 1}"#).unwrap();
    let said = |level: &[&str]| {
        let words = ["call", "list_windows", "--mock", "--config", config.to_str().unwrap()];
        text(&run(&[&words, level].concat()).stderr)
    };
    assert!(said(&[]).contains("WARN") && !said(&[]).contains("was read"), "{}", said(&[]));
    assert_eq!(said(&["--log", "error"]), "");
    assert!(said(&["--log", "info"]).contains("was read"), "{}", said(&["--log", "info"]));
}

/// A server with an inspector, as a client starts it.
fn serve(state: &Path, token: Option<&str>) -> std::process::Child {
    let mut command = Command::new(PROGRAM);
    command
        .args(["--mock", "--mode", "both", "--port", "0"])
        .env("XDG_STATE_HOME", state)
        .env("XDG_CONFIG_HOME", state);
    if let Some(token) = token {
        command.env("OSO_TOKEN", token);
    }
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

fn watch(state: &Path, token: Option<&str>) -> Output {
    let mut command = Command::new(PROGRAM);
    command.args(["watch", "--print"]).env("XDG_STATE_HOME", state).env("XDG_CONFIG_HOME", state);
    if let Some(token) = token {
        command.env("OSO_TOKEN", token);
    }
    command.stdin(Stdio::null()).output().unwrap()
}

/// Asks until it is there: a server takes a moment to start and to end.
fn watch_until(state: &Path, token: Option<&str>, wanted: impl Fn(&Output) -> bool) -> Output {
    for _ in 0..400 {
        let done = watch(state, token);
        if wanted(&done) {
            return done;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    watch(state, token)
}

#[cfg(feature = "http")]
#[test]
fn the_inspector_of_a_running_server_is_found_with_its_token() {
    for (served, watched, in_link) in [
        (None, None, ""),
        (Some("auto"), None, "#token="),
        (Some("0123456789abcdef0123"), Some("0123456789abcdef0123"), "#token=0123456789abcdef0123"),
    ] {
        let state = tempfile::tempdir().unwrap();
        let nothing = watch(state.path(), watched);
        assert!(!nothing.status.success() && text(&nothing.stderr).contains("no server with an inspector"));
        let mut server = serve(state.path(), served);
        let found = watch_until(state.path(), watched, |done| done.status.success());
        let link = text(&found.stdout);
        assert!(link.starts_with("http://127.0.0.1:") && link.contains(in_link), "{link}");
        assert_eq!(link.contains("#token="), served.is_some(), "{link}");
        drop(server.stdin.take());
        server.wait().unwrap();
        let gone = watch(state.path(), watched);
        assert!(!gone.status.success(), "the note goes with its server: {}", text(&gone.stdout));
    }
}
