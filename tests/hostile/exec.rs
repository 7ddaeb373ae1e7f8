//! Commands: who may run one, and what is left of it.

use std::process::Command;

use serde_json::{Value, json};

#[cfg(feature = "http")]
use crate::everywhere::Everywhere;
use crate::support::Client;
#[cfg(unix)]
use crate::support::World;
#[cfg(feature = "http")]
use crate::support::http::{JSON, Site};

const SECRET: &str = "S3NT1NEL correct horse";

fn switched_on() -> Value {
    json!({"exec": {"enabled": true, "secret": SECRET}})
}

/// A server without a desktop, which commands do not need.
fn server(more: &[(&str, &str)]) -> Client {
    let mut command = Command::new(env!("CARGO_BIN_EXE_os-screen-observer"));
    command.args(["--mode", "mcp", "--log", "warning"]).env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY");
    command.envs([("OSO_EXEC__ENABLED", "true"), ("OSO_EXEC__SECRET", SECRET)]).envs(more.iter().copied());
    let mut client = Client::spawn(command);
    client.initialize("2025-11-25");
    client
}

fn exec(client: &mut Client, command: &str, more: Value) -> Value {
    let mut args = json!({"command": command, "secret": SECRET});
    args.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    client.data("exec_command", args)
}

/// H-76 on stdio, REST, /mcp, act, replay: while it is off, without a secret and with a wrong one, every way to a command
/// is refused.
#[cfg(feature = "http")]
#[test]
fn no_way_to_a_command_without_switch_and_secret() {
    for (config, secret) in [
        (json!({}), json!(SECRET)),
        (json!({"exec": {"enabled": true}}), json!(SECRET)),
        (json!({"exec": {"enabled": true}}), json!("")),
        (json!({"exec": {"secret": SECRET}}), json!(SECRET)),
        (switched_on(), json!("wrong")),
        (switched_on(), json!("")),
        (switched_on(), Value::Null),
        (switched_on(), json!([SECRET])),
        (switched_on(), json!({"secret": "EXEC"})),
        (switched_on(), json!(SECRET.to_lowercase())),
        (switched_on(), json!(format!("{SECRET}\u{0}"))),
    ] {
        let mut all = Everywhere::with(config.clone());
        let args = json!({"command": "touch pwned", "secret": secret, "shell": "sh"});
        for (surface, reply) in all.all("exec_command", &args) {
            let text = reply.to_string();
            // A trace has no secrets, so a replay lacks this one before it is asked for it; and a step is held to the
            // schema before it is a call.
            let refused = text.contains("PermissionDenied")
                || surface == "replay" && text.contains("NeedsSecret")
                || surface == "act" && !secret.is_string() && text.contains("BadRequest");
            assert!(refused && !text.contains(SECRET), "{surface} {config} {secret}: {text:.300}");
        }
        let answer = all.site.post("/api/exec", args);
        assert_eq!(answer.status, 403, "{config} {secret}: {answer:?}");
        assert_eq!(all.effects(), 0);
    }
    assert!(!crate::support::project().join("pwned").exists());
}

/// H-76, H-80 on clickthrough: that face asks for the same switch and the same secret, and has the same limits.
#[cfg(feature = "http")]
#[test]
fn clickthrough_runs_no_command_either() {
    let off = Site::clickthrough(json!({}));
    assert_eq!(off.post("/exec", json!({"command": "true"})).status, 403);
    let on = Site::clickthrough(switched_on());
    let ask = |secret: Option<&str>, body: Value| {
        let mut headers = vec![JSON];
        headers.extend(secret.map(|secret| ("x-clickthrough-exec-secret", secret)));
        on.ask("POST", "/exec", &headers, &body.to_string()).status
    };
    for wrong in [None, Some("wrong"), Some("")] {
        assert_eq!(ask(wrong, json!({"command": "true"})), 403, "{wrong:?}");
    }
    // A secret in the body is no secret in the header.
    assert!([403, 422].contains(&ask(None, json!({"command": "true", "secret": SECRET}))));
    for body in [
        json!({"command": ""}),
        json!({"command": "x".repeat(10_001)}),
        json!({"command": "a\u{0}b"}),
        json!({"command": "true", "cwd": "/no/such/folder"}),
        json!({"command": "true", "shell": "zsh"}),
        json!({"command": "true", "timeout_s": 0}),
        json!({"command": ["true"]}),
    ] {
        assert!([400, 422].contains(&ask(Some(SECRET), body.clone())), "{body:.100}");
    }
}

/// H-80 on stdio, REST, /mcp, act: what is no command is a bad request with the name of the argument.
#[cfg(feature = "http")]
#[test]
fn what_is_no_command_is_refused_on_every_surface() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    let mut all = Everywhere::with(switched_on());
    for (args, field) in [
        (json!({"command": ""}), "command"),
        (json!({"command": " \n\t"}), "command"),
        (json!({"command": "x".repeat(10_001)}), "command"),
        (json!({"command": "a\u{0}b"}), "command"),
        (json!({"command": 5}), "command"),
        (json!({"command": ["a"]}), "command"),
        (json!({"cwd": "/no/such/folder"}), "cwd"),
        (json!({"cwd": file}), "cwd"),
        (json!({"cwd": "relative"}), "cwd"),
        (json!({"shell": "zsh"}), "shell"),
        (json!({"shell": "/bin/sh"}), "shell"),
        (json!({"timeout_s": 0}), "timeout_s"),
        (json!({"timeout_s": 1e12}), "timeout_s"),
        (json!({"timeout_s": "1"}), "timeout_s"),
    ] {
        let mut call = json!({"command": "true", "secret": SECRET, "shell": "sh"});
        call.as_object_mut().unwrap().extend(args.as_object().unwrap().clone());
        for (surface, reply) in
            all.all("exec_command", &call).into_iter().filter(|(surface, _)| *surface != "replay")
        {
            assert_eq!(reply["error"]["code"], "BadRequest", "{surface} {field}: {reply:.300}");
            let named = reply["error"]["context"]["field"].as_str().unwrap();
            assert!(named.ends_with(field), "{surface} {field}: {reply:.300}");
        }
        assert_eq!(all.site.post("/api/exec", call).status, 400, "{field}");
    }
    assert_eq!(all.effects(), 0);
}

/// H-77 on stdio: a command that looks like an option is a command; a folder that looks like a command is a folder.
#[test]
fn names_are_arguments_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let odd = folder.path().join("; touch pwned; $(touch pwned2) `touch pwned3` --flag");
    std::fs::create_dir(&odd).unwrap();
    let mut client = server(&[]);
    for shell in ["sh", "bash"] {
        for command in ["--version", "-x", "-i", "+x", "--", "-c 'echo hi'"] {
            let done = exec(&mut client, command, json!({"shell": shell}));
            assert_eq!(done["exit_code"], 127, "{shell} took {command} for its own: {done}");
        }
        let done = exec(&mut client, "pwd", json!({"cwd": odd, "shell": shell}));
        assert_eq!(done["stdout"].as_str().unwrap().trim_end(), odd.to_str().unwrap(), "{done}");
    }
    let left: Vec<_> =
        std::fs::read_dir(folder.path()).unwrap().flatten().map(|entry| entry.file_name()).collect();
    assert_eq!(left, [odd.file_name().unwrap()]);
    assert_eq!(std::fs::read_dir(&odd).unwrap().count(), 0);
}

/// H-77 on code: whatever a window is called, the program that reads its picture is told none of it.
#[cfg(unix)]
#[test]
fn the_reader_of_pictures_is_told_no_names() {
    use os_screen_observer::platform::Stage;
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let engine = folder.path().join("engine");
    let script = format!(
        "#!/bin/sh\necho \"$@\" >> {}/told\ncase \"$1\" in --version) echo 'tesseract 5.0.0';; --list-langs) echo eng;; *) cat > /dev/null;; esac\n",
        folder.path().display()
    );
    std::fs::write(&engine, script).unwrap();
    std::fs::set_permissions(&engine, std::fs::Permissions::from_mode(0o755)).unwrap();
    let world = World::with(json!({"ocr": {"tesseract_cmd": engine, "timeout_s": 10}}));
    let title = "; touch pwned $(touch pwned) --flag";
    let text = format!(
        "states: {{a: {{windows: [{{uid: 'a:1', title: {0}, process: {0}, tree: {{role: Window, name: {0}}}}}]}}}}\n",
        json!(title)
    );
    world.mock.load(os_screen_observer::scenario::load_str(&text, "odd").unwrap());
    world.call("ocr_find", json!({"text": title}));
    world.call("get_screen_description", json!({"mode": "ocr"}));
    let told = std::fs::read_to_string(folder.path().join("told")).unwrap();
    assert!(told.contains("--psm"), "it was never asked to read: {told}");
    assert!(!told.contains("touch") && !told.contains("--flag"), "{told}");
}

/// H-79 on stdio: however much a command prints on both sides, the server keeps what it tells and no more.
#[cfg(target_os = "linux")]
#[test]
fn a_flood_leaves_the_memory_as_it_was() {
    let kilobytes = |process: u32| -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
        let line = status.lines().find(|line| line.starts_with("RssAnon:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    };
    let mut client = server(&[]);
    exec(&mut client, "true", json!({}));
    let idle = kilobytes(client.process_id());
    let args = json!({"command": "yes xxxxxxxxxxxxxxxx & yes yyyyyyyyyyyyyyyy >&2", "secret": SECRET, "timeout_s": 3});
    let id = client.post("tools/call", json!({"name": "exec_command", "arguments": args}));
    let mut most = 0;
    let answer = loop {
        most = most.max(kilobytes(client.process_id()));
        if let Some(answer) = client.receive_within(std::time::Duration::from_millis(50)) {
            break answer;
        }
    };
    assert_eq!(answer["id"], id);
    let done = crate::everywhere::told(&answer);
    assert_eq!(
        (&done["timed_out"], &done["stdout_truncated"], &done["stderr_truncated"]),
        (&json!(true), &json!(true), &json!(true)),
        "{done:.300}"
    );
    assert!(done["stdout"].as_str().unwrap().chars().count() <= 20_000);
    assert!(most < idle + (32 << 10), "{idle} kB grew to {most} kB");
}

/// H-79 on stdio: bytes that are no text are replaced, which is said, and no terminal code comes through.
#[test]
fn bytes_that_are_no_text_are_said_to_be_none() {
    let mut client = server(&[]);
    let done = exec(&mut client, "head -c 5000 /dev/urandom; printf '\\377\\376' >&2", json!({}));
    assert_eq!(
        (&done["stdout_not_utf8"], &done["stderr_not_utf8"]),
        (&json!(true), &json!(true)),
        "{done:.300}"
    );
    let coded = exec(&mut client, "printf 'a\\033[2Jb\\007\\000c'", json!({}));
    let shown = coded["stdout"].as_str().unwrap();
    assert!(!shown.contains(['\u{1b}', '\u{7}', '\u{0}']), "{coded}");
}
