//! Commands of a shell: who may run them, what they see, and that nothing of them is left.

use std::process::Command;
use std::time::{Duration, Instant};

use crate::support::{Client, World};
use serde_json::{Value, json};

const SECRET: &str = "S3NT1NEL correct horse";

/// A server without a desktop, which commands do not need.
fn server(settings: &[(&str, &str)]) -> Client {
    let mut command = Command::new(env!("CARGO_BIN_EXE_os-screen-observer"));
    command.args(["--mode", "mcp", "--log", "warning"]).env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY");
    command.envs(settings.iter().copied());
    let mut client = Client::spawn(command);
    client.initialize("2025-11-25");
    client
}

fn open_server() -> Client {
    open_server_with(&[])
}

fn open_server_with(settings: &[(&str, &str)]) -> Client {
    server(&[&[("OSO_EXEC__ENABLED", "true"), ("OSO_EXEC__SECRET", SECRET)], settings].concat())
}

fn exec(client: &mut Client, command: &str, more: Value) -> Value {
    let mut args = json!({"command": command, "secret": SECRET});
    args.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    client.data("exec_command", args)
}

/// A number that no other test sleeps for, to find the sleepers by.
fn marker(number: u32) -> String {
    format!("{}.{number}", 40_000 + std::process::id() % 10_000)
}

fn sleepers(marker: &str) -> usize {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let lines = processes.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    lines.filter(|line| String::from_utf8_lossy(line).split('\0').any(|word| word == marker)).count()
}

fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < Duration::from_secs(30), "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

// ── who may ────────────────────────────────────────────────────────────────────────────────────────

/// H-76 on stdio: off unless switched on with a secret.
#[test]
fn without_switch_and_secret_it_is_refused_and_not_listed() {
    for settings in [
        &[][..],
        &[("OSO_EXEC__ENABLED", "true")],
        &[("OSO_EXEC__SECRET", SECRET)],
        &[("OSO_EXEC__ENABLED", "false"), ("OSO_EXEC__SECRET", SECRET)],
    ] {
        let mut client = server(settings);
        let refused = exec(&mut client, "echo hi", json!({}));
        assert_eq!(refused["error"]["code"], "PermissionDenied", "{settings:?} {refused}");
        assert!(refused["error"]["message"].as_str().unwrap().contains("exec."), "{refused}");
        let listed = client.request("tools/list", json!({}))["result"]["tools"].to_string();
        assert!(!listed.contains("exec_command"), "{settings:?}");
    }
    let listed = open_server().request("tools/list", json!({}))["result"]["tools"].to_string();
    assert!(listed.contains("exec_command") && !listed.contains("x-credential"));
}

/// H-76 on stdio: a wrong secret, of any type.
#[test]
fn only_the_right_secret_opens_it() {
    let mut client = open_server();
    for wrong in [
        json!("wrong"),
        json!(""),
        json!(null),
        json!(5),
        json!({"secret": "EXEC"}),
        json!(format!("{SECRET} ")),
    ] {
        let refused = client.data("exec_command", json!({"command": "echo hi", "secret": wrong}));
        assert_eq!(refused["error"]["code"], "PermissionDenied", "{wrong} {refused}");
    }
    let refused = client.data("exec_command", json!({"command": "echo hi", "dry_run": true}));
    assert_eq!(refused["error"]["code"], "PermissionDenied");
    assert_eq!(exec(&mut client, "echo hi", json!({}))["stdout"], "hi\n");
}

/// H-76 on start: a secret that could be guessed.
#[test]
fn a_short_secret_stops_the_start() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_os-screen-observer"));
    command
        .args(["--mode", "mcp", "--mock"])
        .envs([("OSO_EXEC__ENABLED", "true"), ("OSO_EXEC__SECRET", "short")]);
    let output = command.output().unwrap();
    assert!(!output.status.success());
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("exec.secret") && !said.contains("short"), "{said}");
}

/// The right one and a wrong one, in the audit log, in a trace and in the reply.
#[test]
fn the_secret_is_recorded_nowhere() {
    let folder = tempfile::tempdir().unwrap();
    let (audit, traces) = (folder.path().join("audit.log"), folder.path().join("traces"));
    let mut client = open_server_with(&[
        ("OSO_LOGGING__AUDIT", "true"),
        ("OSO_LOGGING__AUDIT_PATH", audit.to_str().unwrap()),
        ("OSO_TRACING__DIR", traces.to_str().unwrap()),
    ]);
    client.data("trace_start", json!({}));
    let wrong = client.data("exec_command", json!({"command": "echo hi", "secret": "S3NT1NEL wrong"}));
    let echoed = exec(&mut client, &format!("echo '{SECRET}'"), json!({}));
    client.data("trace_stop", json!({}));
    let mut books = format!("{wrong}{echoed}{}", std::fs::read_to_string(&audit).unwrap());
    let mut folders = vec![traces];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else {
                books.push_str(&String::from_utf8_lossy(&std::fs::read(path).unwrap()));
            }
        }
    }
    assert!(books.contains("exec_command") && !books.contains("S3NT1NEL"), "{books}");
}

#[test]
fn the_mock_runs_nothing_and_rules_see_the_command() {
    let open = json!({"exec": {"enabled": true, "secret": SECRET}});
    let world = World::with(open.clone());
    let args = json!({"command": "touch pwned", "secret": SECRET, "shell": "sh"});
    assert_eq!(world.code("exec_command", args.clone()), "PlatformUnsupported");
    let mut dry = args.clone();
    dry["dry_run"] = json!(true);
    let planned = world.ok("exec_command", dry);
    assert_eq!(
        (&planned["executed"], &planned["argv"]),
        (&json!(false), &json!(["sh", "-c", "touch pwned"]))
    );
    let mut ruled = open;
    ruled["confirmation_required"] = json!([{"role": "Command", "name_regex": "touch|rm "}]);
    let asked = World::with(ruled.clone());
    assert_eq!(asked.code("exec_command", args.clone()), "ConfirmationRequired");
    let proposed = asked.ok("propose_action", json!({"action": "exec_command", "args": args.clone()}));
    let mut confirmed = args.clone();
    confirmed["confirm_token"] = proposed["confirm_token"].clone();
    assert_eq!(asked.code("exec_command", confirmed), "PlatformUnsupported", "the gate let it pass");
    ruled["actions"] = json!({"deny": ["programs"]});
    assert_eq!(World::with(ruled).code("exec_command", args), "PermissionDenied");
}

// ── what it answers ────────────────────────────────────────────────────────────────────────────────

/// H-79 on stdio: bytes that are no text among others.
#[test]
fn outputs_and_codes_are_told() {
    let mut client = open_server();
    for (command, more, expected) in [
        (
            "echo out; echo err >&2; exit 3",
            json!({}),
            json!({"exit_code": 3, "stdout": "out\n", "stderr": "err\n", "timed_out": false}),
        ),
        ("echo $0", json!({"shell": "sh"}), json!({"shell": "sh", "stdout": "sh\n", "executed": true})),
        ("cat; echo end", json!({}), json!({"stdout": "end\n"})),
        ("kill -9 $$", json!({}), json!({"exit_code": 137})),
        ("no-such-program-here", json!({}), json!({"exit_code": 127})),
        ("pwd", json!({"cwd": "/"}), json!({"stdout": "/\n", "cwd": "/"})),
        ("printf 'a\\377b'", json!({}), json!({"stdout": "a\u{fffd}b", "stdout_not_utf8": true})),
    ] {
        let done = exec(&mut client, command, more);
        for (key, value) in expected.as_object().unwrap() {
            assert_eq!(done[key], *value, "{command}: {done}");
        }
    }
}

#[test]
fn a_command_sees_nothing_of_ours() {
    let mut client = open_server_with(&[
        ("OSO_SECRET_BANK", "S3NT1NEL-9f2c"),
        ("AWS_SECRET_ACCESS_KEY", "S3NT1NEL-2"),
        ("LC_MESSAGES", "C"),
    ]);
    let seen = exec(&mut client, "env", json!({}))["stdout"].as_str().unwrap().to_owned();
    assert!(!seen.contains("OSO_") && !seen.contains("AWS_"), "{seen}");
    assert!(seen.contains("PATH=") && seen.contains("LC_MESSAGES=C"), "{seen}");
}

/// H-80 on stdio: what cannot be run.
#[test]
fn what_makes_no_sense_names_its_argument() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    let mut client = open_server();
    for (args, field) in [
        (json!({"command": ""}), "command"),
        (json!({"command": "  \n"}), "command"),
        (json!({"command": "x".repeat(10_001)}), "command"),
        (json!({"command": "a\u{0}b"}), "command"),
        (json!({"cwd": "/no/such/folder"}), "cwd"),
        (json!({"cwd": file}), "cwd"),
        (json!({"cwd": "relative"}), "cwd"),
        (json!({"shell": "zsh"}), "shell"),
        (json!({"shell": "cmd"}), "shell"),
        (json!({"timeout_s": "1"}), "timeout_s"),
    ] {
        let refused = exec(&mut client, "true", args.clone());
        assert_eq!(refused["error"]["code"], "BadRequest", "{args} {refused}");
        assert_eq!(refused["error"]["context"]["field"], field, "{args} {refused}");
    }
}

/// H-17 on stdio: a folder to work in that is outside of the roots.
#[test]
fn a_longer_time_is_cut_with_a_word_and_folders_have_roots() {
    let root = tempfile::tempdir().unwrap();
    let inner = root.path().join("inner");
    std::fs::create_dir(&inner).unwrap();
    let roots = json!([root.path()]).to_string();
    let mut client = open_server_with(&[("OSO_EXEC__MAX_TIMEOUT_S", "60"), ("OSO_EXEC__ROOTS", &roots)]);
    let done = exec(&mut client, "pwd", json!({"timeout_s": 600}));
    assert_eq!(
        (&done["timeout_s"], done["stdout"].as_str().unwrap().trim()),
        (&json!(60), root.path().to_str().unwrap())
    );
    assert!(done["warning"].as_str().unwrap().contains("exec.max_timeout_s"), "{done}");
    assert_eq!(exec(&mut client, "pwd", json!({"cwd": inner}))["exit_code"], 0);
    for outside in ["/", "/tmp/../etc", root.path().join("..").to_str().unwrap()] {
        let refused = exec(&mut client, "pwd", json!({"cwd": outside}));
        assert_eq!(refused["error"]["context"]["field"], "cwd", "{outside} {refused}");
    }
}

// ── that nothing is left ───────────────────────────────────────────────────────────────────────────

/// H-79 on stdio: a flood, and one without an end.
#[test]
fn a_flood_is_drained_and_cut() {
    let mut client = open_server_with(&[("OSO_EXEC__MAX_OUTPUT_CHARS", "1000")]);
    let flood = exec(&mut client, "yes é | head -c 20000000; echo err >&2", json!({}));
    assert_eq!((&flood["exit_code"], &flood["timed_out"]), (&json!(0), &json!(false)), "{flood}");
    assert_eq!((&flood["stdout_truncated"], &flood["stderr_truncated"]), (&json!(true), &json!(false)));
    assert_eq!(flood["stdout"].as_str().unwrap().chars().count(), 1000);
    let endless = exec(&mut client, "yes", json!({"timeout_s": 1}));
    assert_eq!((&endless["timed_out"], endless.get("exit_code")), (&json!(true), None), "{endless}");
}

/// A command that would go on for ever, and what becomes of it.
#[track_caller]
fn check_ended(number: u32, command: &str, timed_out: bool) {
    let marker = marker(number);
    let mut client = open_server();
    let done = exec(
        &mut client,
        &command.replace("MARK", &marker),
        json!({"timeout_s": if timed_out { 1 } else { 60 }}),
    );
    assert_eq!((&done["ok"], &done["timed_out"]), (&json!(true), &json!(timed_out)), "{command} {done}");
    assert_eq!(sleepers(&marker), 0, "{command}");
}

/// H-78 on stdio: a command that hangs.
#[test]
fn what_hangs_is_ended() {
    check_ended(1, "sleep MARK", true);
}

/// H-78 on stdio: a command with children.
#[test]
fn what_forks_is_ended_whole() {
    check_ended(2, "sleep MARK & sleep MARK & (sleep MARK; sleep MARK) & wait", true);
}

/// H-78 on stdio: a command that does not want to end.
#[test]
fn what_ignores_the_polite_signal_is_ended() {
    check_ended(3, "trap '' TERM INT HUP; while :; do sleep MARK; done", true);
}

/// H-78 on stdio: children that leave their group.
#[test]
fn what_leaves_its_group_is_ended() {
    check_ended(4, "setsid sh -c 'trap \"\" TERM; setsid sleep MARK & sleep MARK' & wait", true);
}

/// H-78 on stdio: children that are left behind.
#[test]
fn what_is_left_in_the_background_does_not_outlive_the_command() {
    check_ended(5, "setsid sleep MARK & sleep MARK & echo started", false);
    check_ended(6, "nohup sleep MARK >/dev/null 2>&1 & disown; exit 0", false);
}

/// H-78 on stdio: the call is cancelled.
#[test]
fn a_cancelled_call_ends_its_command() {
    let marker = marker(7);
    let mut client = open_server();
    let args = json!({"command": format!("setsid sleep {marker} & sleep {marker}"), "secret": SECRET, "timeout_s": 100});
    let id = client.post("tools/call", json!({"name": "exec_command", "arguments": args}));
    until("the command to run", || sleepers(&marker) == 2);
    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}}));
    until("its end", || sleepers(&marker) == 0);
    assert_eq!(exec(&mut client, "echo hi", json!({}))["stdout"], "hi\n");
}

/// H-78 on stdio: the server is killed.
#[test]
fn a_killed_server_leaves_no_command() {
    let marker = marker(8);
    let mut client = open_server();
    let args = json!({"command": format!("trap '' TERM; setsid sleep {marker} & sleep {marker}"), "secret": SECRET, "timeout_s": 100});
    client.post("tools/call", json!({"name": "exec_command", "arguments": args}));
    until("the command to run", || sleepers(&marker) == 2);
    drop(client);
    until("its end", || sleepers(&marker) == 0);
}
