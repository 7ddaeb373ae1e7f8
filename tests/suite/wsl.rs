//! WSL without a display: windows and pictures by PowerShell, which is played here by a script that knows which of our
//! scripts it was given. The name `WSL` in the config stands for a kernel that says so, as it does for people.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use os_screen_observer::model::image::Picture;
use serde_json::{Value, json};

use crate::support::Client;

/// What PowerShell printed on a Windows 11 with Notepad in front and Explorer behind it, shortened.
fn windows() -> String {
    json!({
        "windows": [
            {"handle": 132_892, "title": "Untitled - Notepad", "process": "Notepad", "pid": 9_124, "x": 100, "y": 80,
             "width": 800, "height": 600, "focused": true, "minimized": false, "cloaked": false, "tool": false},
            {"handle": 65_822, "title": "", "process": "explorer", "pid": 4_412, "x": 0, "y": 1032, "width": 1920,
             "height": 48, "focused": false, "minimized": false, "cloaked": false, "tool": true},
            {"handle": 67_112, "title": "Downloads", "process": "explorer", "pid": 4_412, "x": 300, "y": 200,
             "width": 900, "height": 500, "focused": false, "minimized": false, "cloaked": false, "tool": false},
            {"handle": 198_210, "title": "Settings", "process": "ApplicationFrameHost", "pid": 7_000, "x": 0, "y": 0,
             "width": 800, "height": 600, "focused": false, "minimized": false, "cloaked": true, "tool": false},
        ],
        "monitors": [{"x": 0, "y": 0, "width": 1920, "height": 1080, "primary": true}],
    })
    .to_string()
}

fn picture(x: i32, y: i32, width: u32, height: u32) -> String {
    let png = Picture::new(width, height, [10, 120, 30, 255]).unwrap().to_png().unwrap();
    json!({"x": x, "y": y, "width": width, "height": height, "png": STANDARD.encode(png)}).to_string()
}

/// A machine whose `powershell.exe` does as the body says; `$script` holds what it was asked to run.
struct Machine {
    folder: tempfile::TempDir,
}

impl Machine {
    fn new(body: &str) -> Self {
        let machine = Self { folder: tempfile::tempdir().unwrap() };
        machine.write("windows.json", &windows());
        machine.write("screen.json", &picture(0, 0, 1920, 1080));
        machine.write("window.json", &picture(100, 80, 800, 600));
        let here = machine.path().display();
        let head = format!(
            "#!/bin/sh\nhere='{here}'\necho \"$1 $2 $3 $4 $5 $6\" >> \"$here/calls\"\n\
             script=$(printf %s \"$7\" | base64 -d | tr -d '\\000')\n"
        );
        let program = machine.path().join("powershell.exe");
        machine.write("powershell.exe", &format!("{head}{body}\n"));
        std::fs::set_permissions(program, std::fs::Permissions::from_mode(0o755)).unwrap();
        machine
    }

    /// One that answers as Windows does.
    fn good() -> Self {
        Self::new(
            r#"case "$script" in
                *'$handle = [long]'*) echo "$script" | grep -o "long\]'[0-9]*'" >> "$here/handles"; cat "$here/window.json" ;;
                *CopyFromScreen*) cat "$here/screen.json" ;;
                *GetForegroundWindow*) cat "$here/windows.json" ;;
            esac"#,
        )
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path().join(name), text).unwrap();
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path().join(name)).unwrap_or_default()
    }

    fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_os-screen-observer"));
        let path = std::env::var("PATH").unwrap_or_default();
        command.env("PATH", format!("{}:{path}", self.path().display())).env("OSO_PLATFORM", "WSL");
        command.env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY");
        command
    }

    fn server(&self) -> Client {
        let mut command = self.command();
        command.args(["--mode", "mcp", "--log", "warning"]);
        let mut client = Client::spawn(command);
        client.initialize("2025-11-25");
        client
    }
}

fn code(reply: &Value) -> &str {
    reply["error"]["code"].as_str().unwrap_or_default()
}

#[test]
fn windows_are_listed_with_the_words_of_windows() {
    let machine = Machine::good();
    let listed = machine.server().data("list_windows", json!({}));
    let titles: Vec<&str> = listed["windows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|window| window["title"].as_str().unwrap())
        .collect();
    assert_eq!(titles, ["Untitled - Notepad", "Downloads"], "{listed}");
    let first = &listed["windows"][0];
    assert_eq!(
        (&first["pid"], &first["focused"], &first["bounds"]["width"]),
        (&json!(9_124), &json!(true), &json!(800))
    );
    assert_eq!(
        machine.read("calls").lines().next(),
        Some("-NoLogo -NoProfile -NonInteractive -OutputFormat Text -EncodedCommand")
    );
}

#[test]
fn it_says_what_it_can_and_what_not() {
    let machine = Machine::good();
    let able = machine.server().data("get_capabilities", json!({}));
    assert_eq!(able["adapter"], "WslAdapter", "{able}");
    let supports = &able["supports"];
    for (name, expected) in [
        ("wsl_powershell", true),
        ("occlusion_detection", true),
        ("accessibility_tree", false),
        ("element_targeting", false),
        ("drag", false),
        ("bring_to_foreground", false),
    ] {
        assert_eq!(supports[name], expected, "{name} {able}");
    }
    assert!(able.to_string().contains("no input is sent"), "{able}");
}

#[test]
fn screen_and_window_are_pictured() {
    let machine = Machine::good();
    let mut client = machine.server();
    let screen = client.data("get_screenshot", json!({}));
    assert_eq!((&screen["width"], &screen["height"]), (&json!(1920), &json!(1080)), "{screen}");
    let window = client.data("get_screenshot", json!({"window_title": "Notepad"}));
    assert_eq!((&window["width"], &window["height"]), (&json!(800), &json!(600)), "{window}");
    assert_eq!(machine.read("handles").trim(), "long]'132892'", "the window's number and nothing else");
}

#[test]
fn windows_behind_others_are_known_to_be() {
    let machine = Machine::good();
    let areas = machine.server().data("get_visible_areas", json!({"window_title": "Downloads"}));
    let seen = areas["visible_regions"].as_array().unwrap();
    assert!(
        !seen.is_empty() && !seen.contains(&json!({"x": 300, "y": 200, "width": 900, "height": 500})),
        "{areas}"
    );
}

#[test]
fn what_it_cannot_do_is_refused_and_asks_nobody() {
    let machine = Machine::good();
    let mut client = machine.server();
    for (tool, args) in [
        ("get_window_structure", json!({"window_title": "Notepad"})),
        ("click_at", json!({"x": 200, "y": 200})),
        ("type_text", json!({"text": "hello"})),
        ("press_key", json!({"keys": "ctrl+s"})),
        ("clipboard_get", json!({})),
        ("list_apps", json!({})),
    ] {
        let reply = client.data(tool, args);
        assert_eq!(code(&reply), "PlatformUnsupported", "{tool} {reply}");
        assert!(
            reply["error"]["message"].as_str().unwrap().contains("WSL without a display"),
            "{tool} {reply}"
        );
    }
}

fn check_broken(body: &str, expected: &str, part: &str) {
    let machine = Machine::new(body);
    let mut client = machine.server();
    for tool in ["list_windows", "get_screenshot"] {
        let reply = client.data(tool, json!({}));
        assert_eq!(code(&reply), expected, "{tool} {body} {reply}");
        assert!(reply["error"]["message"].as_str().unwrap().contains(part), "{tool} {body} {reply}");
    }
}

#[test]
fn a_powershell_that_fails_or_babbles_is_told_so() {
    check_broken(
        "echo 'Add-Type : not allowed by policy' >&2; exit 1",
        "PlatformUnsupported",
        "not allowed by policy",
    );
    check_broken("echo 'WARNING: hello'", "Internal", "not a valid answer");
    check_broken("exit 0", "Internal", "not a valid answer");
    check_broken("head -c 3000 /dev/urandom", "Internal", "not a valid answer");
    check_broken(
        "printf '\\357\\273\\277{\"windows\": [{\"handle\": \"x\"}]}'",
        "Internal",
        "not a valid answer",
    );
}

#[test]
fn a_flood_is_cut_off() {
    let machine = Machine::new("exec yes '{\"windows\": []}'");
    let began = Instant::now();
    let reply = machine.server().data("list_windows", json!({}));
    assert!(["Internal", "Timeout"].contains(&code(&reply)), "{reply}");
    assert!(began.elapsed() < Duration::from_secs(60));
}

#[test]
fn one_that_hangs_is_given_up_and_ended() {
    let marker = format!("{}", 70_000 + std::process::id() % 10_000);
    let machine = Machine::new(&format!("exec sleep {marker}"));
    let mut command = machine.command();
    command.args(["call", "list_windows"]);
    let began = Instant::now();
    let printed = command.output().unwrap();
    let reply: Value = serde_json::from_slice(&printed.stdout).unwrap();
    assert_eq!(code(&reply), "Timeout", "{reply}");
    assert!(began.elapsed() >= Duration::from_secs(14), "{:?}", began.elapsed());
    let lines = std::fs::read_dir("/proc").unwrap().flatten();
    let lines = lines.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    let left =
        lines.filter(|line| String::from_utf8_lossy(line).split('\0').any(|word| word == marker)).count();
    assert_eq!(left, 0, "a process was left behind");
}

#[test]
fn without_powershell_the_server_starts_and_says_why() {
    let machine = Machine::good();
    std::fs::remove_file(machine.path().join("powershell.exe")).unwrap();
    let reply = machine.server().data("list_windows", json!({}));
    assert_eq!(code(&reply), "PlatformUnsupported", "{reply}");
    assert!(reply["error"]["message"].as_str().unwrap().contains("powershell.exe"), "{reply}");
}

#[test]
fn the_doctor_knows_the_way() {
    let machine = Machine::good();
    let mut command = machine.command();
    let printed = command.args(["doctor", "--json"]).output().unwrap();
    let report: Value = serde_json::from_slice(&printed.stdout).unwrap();
    let check = |name: &str| {
        report["checks"].as_array().unwrap().iter().find(|check| check["name"] == name).cloned().unwrap()
    };
    assert_eq!(check("real desktop")["status"], "ok", "{report}");
    assert!(check("real desktop")["detail"].as_str().unwrap().contains("around WSL"), "{report}");
    assert_eq!(check("display")["status"], "warning", "{report}");
    assert_ne!(report["verdict"], "unusable", "{report}");
    assert!(machine.read("calls").is_empty(), "the doctor starts no PowerShell");
}
