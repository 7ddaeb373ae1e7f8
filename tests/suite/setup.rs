//! The command `setup`, by the built program, on made-up home folders.

use std::path::Path;
#[cfg(target_os = "linux")]
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::Value;

const PROGRAM: &str = env!("CARGO_BIN_EXE_os-screen-observer");

/// What it said, and whether it did it.
fn setup(home: &Path, words: &[&str]) -> (bool, String) {
    let done = Command::new(PROGRAM)
        .arg("setup")
        .args(words)
        .current_dir(home)
        .env("HOME", home)
        .env_remove("XDG_CONFIG_HOME")
        .env_remove("CODEX_HOME")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&[done.stdout, done.stderr].concat()).into_owned();
    (done.status.success(), said)
}

/// Where each client keeps its servers on Linux, and below which key.
#[cfg(target_os = "linux")]
const PLACES: &[(&str, &str, &str)] = &[
    ("claude-desktop", ".config/Claude/claude_desktop_config.json", "mcpServers"),
    ("claude-code", ".claude.json", "mcpServers"),
    ("cursor", ".cursor/mcp.json", "mcpServers"),
    ("vscode", ".config/Code/User/mcp.json", "servers"),
    ("gemini", ".gemini/settings.json", "mcpServers"),
    ("windsurf", ".codeium/windsurf/mcp_config.json", "mcpServers"),
];

#[cfg(target_os = "linux")]
fn read_json(path: PathBuf) -> Value {
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

#[cfg(target_os = "linux")]
#[test]
fn every_client_gets_an_entry_that_starts_this_program() {
    for (client, place, section) in PLACES {
        let home = tempfile::tempdir().unwrap();
        let (ok, said) = setup(home.path(), &[client, "--mock"]);
        assert!(ok && said.contains("was created") && said.contains("setup --undo"), "{client}: {said}");
        let entry = read_json(home.path().join(place))[section]["os-screen-observer"].clone();
        assert_eq!(entry["command"], PROGRAM, "{client}");
        let args: Vec<&str> = entry["args"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        assert_eq!(args, ["--mode", "both", "--port", "0", "--profile", "agent", "--mock"], "{client}");
        let typed = matches!(*client, "claude-code" | "vscode");
        assert_eq!(entry["type"] == "stdio", typed, "{client}");
        assert!(setup(home.path(), &[client, "--mock"]).1.contains("has this entry already"), "{client}");
        assert!(setup(home.path(), &["--undo", client]).1.contains("was deleted"), "{client}");
        assert!(!home.path().join(place).exists(), "{client}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn codex_keeps_its_comments() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join(".codex/config.toml");
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    let mine = "model = \"x\" # mine\n\n[mcp_servers.other]\ncommand = \"y\"\n";
    std::fs::write(&file, mine).unwrap();
    let (ok, said) = setup(home.path(), &["codex", "--sandbox", "gnome-calculator"]);
    assert!(ok && said.contains("before-os-screen-observer"), "{said}");
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.starts_with(mine) && text.contains("\"--sandbox\", \"gnome-calculator\"]"), "{text}");
    assert!(setup(home.path(), &["--undo", "codex"]).1.contains("as it was before"));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), mine);
}

/// The arguments of the printed entry for these flags.
#[track_caller]
fn check_printed(words: &[&str], expected: &[&str]) {
    let home = tempfile::tempdir().unwrap();
    let (ok, said) = setup(home.path(), &[&["print"], words].concat());
    assert!(ok, "{said}");
    let entry = serde_json::from_str::<Value>(&said).unwrap()["mcpServers"]["os-screen-observer"].clone();
    let args: Vec<&str> = entry["args"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert_eq!(args[4..], *expected, "{words:?}");
    assert_eq!(entry["env"]["OSO_TOKEN"], "auto");
}

#[test]
fn the_desktop_is_chosen_by_flags() {
    check_printed(&["--mock"], &["--profile", "agent", "--mock"]);
    check_printed(&["--own-desktop"], &["--profile", "agent"]);
    check_printed(
        &["--browser", "https://a.example"],
        &["--profile", "web", "--browser", "https://a.example"],
    );
    check_printed(&["--sandbox"], &["--profile", "agent", "--sandbox"]);
    check_printed(
        &["--sandbox", "--", "xterm", "-e", "top"],
        &["--profile", "agent", "--sandbox", "--", "xterm", "-e", "top"],
    );
    check_printed(&["--own-desktop", "--profile", "observe"], &["--profile", "observe"]);
}

/// The entry that is printed is one that this program obeys: it answers as a server.
#[test]
fn a_printed_entry_starts_a_server() {
    let home = tempfile::tempdir().unwrap();
    let (_, said) = setup(home.path(), &["print", "--mock"]);
    let entry = serde_json::from_str::<Value>(&said).unwrap()["mcpServers"]["os-screen-observer"].clone();
    let args: Vec<String> = serde_json::from_value(entry["args"].clone()).unwrap();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let state = home.path().to_str().unwrap();
    let settings = [("OSO_TOKEN", "auto"), ("XDG_STATE_HOME", state), ("XDG_CONFIG_HOME", state)];
    let mut client = crate::support::Client::start_with(&args, &settings);
    client.initialize("2025-11-25");
    let listed = client.request("tools/list", serde_json::json!({}));
    assert!(listed["result"]["tools"].as_array().is_some_and(|tools| !tools.is_empty()), "{listed}");
}

/// Refused with this word, and no file is made.
#[track_caller]
fn check_refused(words: &[&str], word: &str) {
    let home = tempfile::tempdir().unwrap();
    let (ok, said) = setup(home.path(), words);
    assert!(!ok && said.contains(word), "{words:?}: {said}");
    assert_eq!(std::fs::read_dir(home.path()).unwrap().count(), 0, "{words:?}");
}

#[test]
fn what_is_missing_is_asked_for_by_name() {
    check_refused(&[], "say which client: claude-desktop");
    check_refused(&["cursor"], "say which desktop");
    check_refused(&["emacs", "--mock"], "there is no client 'emacs'");
    check_refused(&["cursor", "--own-desktop", "--mock"], "cannot be used with");
    check_refused(&["cursor", "--mock", "--config", "none.json"], "there is no file none.json");
}

#[test]
fn a_broken_file_is_left_alone_and_the_entry_is_shown() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join(".cursor/mcp.json");
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(&file, "{ \"mcpServers\": oops }").unwrap();
    let (ok, said) = setup(home.path(), &["cursor", "--mock"]);
    assert!(!ok && said.contains("line 1, column 17") && said.contains("Nothing was changed"), "{said}");
    assert!(said.contains(PROGRAM), "the entry to paste is shown: {said}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "{ \"mcpServers\": oops }");
}
