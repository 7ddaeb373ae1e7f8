//! What the server meets when it starts: files, ports, configs, sockets. The built program, from outside.

#[cfg(unix)]
use std::process::Command;
use std::time::Duration;

use crate::support::Client;
#[cfg(target_os = "linux")]
use os_screen_observer::tools;
use serde_json::{Value, json};

/// A folder with a config file in it, for one start.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> String {
        self.0.path().join(name).to_str().unwrap().to_owned()
    }

    fn start(&self, config: &[u8], flags: &[&str]) -> Client {
        std::fs::write(self.path("config.json"), config).unwrap();
        let config = self.path("config.json");
        let mut all = vec!["--mock", "--config", &config];
        all.extend_from_slice(flags);
        Client::start(&all)
    }

    fn start_with(&self, config: &Value, flags: &[&str]) -> Client {
        self.start(config.to_string().as_bytes(), flags)
    }
}

/// It ends at once, with these last words.
#[track_caller]
fn check_no_start(mut client: Client, what: &str, words: &str) {
    let (status, _) = client.wait(Duration::from_secs(20)).unwrap_or_else(|| panic!("{what}: it goes on"));
    assert_eq!(status.code(), Some(1), "{what}");
    let said = client.last_words();
    assert!(said.contains(words), "{what}: {said}");
    assert!(!said.contains("panicked"), "{what}: {said}");
}

#[cfg(unix)]
const MODES: &[&str] = &["mcp", "both", "inspect"];

/// H-25 on start: an audit log that is a link, or no plain file, stops the start and is not written to.
#[cfg(unix)]
#[test]
fn an_audit_log_that_is_a_link_stops_the_start() {
    for mode in MODES {
        let place = Place::new();
        let audit = place.path("audit.log");
        let config = json!({"logging": {"audit": true, "audit_path": audit}, "web_ui": {"port": 0}});
        std::fs::write(place.path("mine"), "mine").unwrap();
        for target in [place.path("mine"), place.path("missing"), place.path(""), "/dev/null".to_owned()] {
            std::os::unix::fs::symlink(&target, &audit).unwrap();
            check_no_start(place.start_with(&config, &["--mode", mode]), &target, "it is a symbolic link");
            std::fs::remove_file(&audit).unwrap();
        }
        assert_eq!(std::fs::read_to_string(place.path("mine")).unwrap(), "mine");
        assert!(!std::path::Path::new(&place.path("missing")).exists());
        assert!(Command::new("mkfifo").arg(&audit).status().unwrap().success());
        check_no_start(place.start_with(&config, &["--mode", mode]), "pipe", "not a regular file");
        std::fs::remove_file(&audit).unwrap();
        std::fs::create_dir(&audit).unwrap();
        check_no_start(place.start_with(&config, &["--mode", mode]), "folder", "not a regular file");
    }
}

/// H-25 on start: so does a folder of traces that is a link, also with a slash behind it and when nobody traces.
#[cfg(unix)]
#[test]
fn a_folder_of_traces_that_is_a_link_stops_the_start() {
    for mode in MODES {
        let place = Place::new();
        std::fs::create_dir(place.path("elsewhere")).unwrap();
        for target in [place.path("elsewhere"), place.path("missing")] {
            let link = place.path("traces");
            std::os::unix::fs::symlink(&target, &link).unwrap();
            for named in [link.clone(), format!("{link}/")] {
                std::fs::write(place.path("config.json"), json!({"web_ui": {"port": 0}}).to_string())
                    .unwrap();
                let config = place.path("config.json");
                let flags = ["--mock", "--config", &config, "--mode", mode];
                let client = Client::start_with(&flags, &[("OSO_TRACING__DIR", &named)]);
                check_no_start(client, &named, "is a symbolic link; name the folder itself");
            }
            std::fs::remove_file(&link).unwrap();
        }
        assert_eq!(std::fs::read_dir(place.path("elsewhere")).unwrap().count(), 0);
    }
}

/// H-25 on start: and a file for the token that is a link, or that others can read.
#[cfg(all(unix, feature = "http"))]
#[test]
fn a_token_file_that_is_no_secret_stops_the_start() {
    for mode in ["both", "inspect"] {
        let place = Place::new();
        let file = place.path("token");
        let config = json!({"web_ui": {"port": 0, "token": "auto", "token_file": file}});
        std::fs::write(place.path("mine"), "0123456789abcdef").unwrap();
        std::os::unix::fs::symlink(place.path("mine"), &file).unwrap();
        check_no_start(place.start_with(&config, &["--mode", mode]), mode, "is not a regular file");
        std::fs::remove_file(&file).unwrap();
        std::fs::write(&file, "0123456789abcdef").unwrap();
        check_no_start(place.start_with(&config, &["--mode", mode]), mode, "is readable by other users");
    }
}

/// H-10 on start: an address that others can reach needs a token, in every spelling and in every mode.
#[cfg(feature = "http")]
#[test]
fn others_are_not_let_in_without_a_token() {
    let place = Place::new();
    for mode in ["both", "inspect"] {
        for host in ["0.0.0.0", "0", "::", "[::]", "::ffff:0.0.0.0"] {
            let client = place.start_with(&json!({}), &["--mode", mode, "--port", "0", "--host", host]);
            check_no_start(client, &format!("{mode} {host}"), "without a token");
        }
        let config =
            json!({"web_ui": {"port": 0}, "clickthrough": {"enabled": true, "port": 0, "host": "0.0.0.0"}});
        check_no_start(place.start_with(&config, &["--mode", mode]), "clickthrough", "without a token");
        let config = json!({"web_ui": {"port": 0, "token": "short"}});
        check_no_start(place.start_with(&config, &["--mode", mode]), "short", "at least 8 characters");
    }
}

// ---- ports and configs -------------------------------------------------------------------------------------

/// H-92 on start: a port that is taken ends `inspect` with a sentence, and costs `both` nothing but HTTP.
#[cfg(feature = "http")]
#[test]
fn a_port_in_use_is_said() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let place = Place::new();
    let config = json!({"web_ui": {"port": port}});
    check_no_start(place.start_with(&config, &["--mode", "inspect"]), "inspect", "cannot listen on");
    let mut client = place.start_with(&config, &["--mode", "both"]);
    client.initialize("2025-11-25");
    assert_eq!(client.data("list_windows", json!({}))["count"], 3);
    client.until_says("serving MCP on stdio alone");
    client.until_says(&port.to_string());
    let other = json!({"web_ui": {"port": 0}, "clickthrough": {"enabled": true, "port": port}});
    check_no_start(place.start_with(&other, &["--mode", "inspect"]), "clickthrough", "clickthrough: ");
}

/// H-92 on start: a config that cannot be read leaves a server that says so and only looks.
#[test]
fn a_broken_config_is_said_and_nothing_acts() {
    let broken: &[&[u8]] = &[
        b"{\"actions\": {\"deny\": [\"type_text\"],}}",
        b"{",
        b"",
        b"[]",
        b"null",
        b"\xff\xfe{}",
        b"{\"a\": \"\xc3\x28\"}",
        &[b'[', b'['].repeat(100_000),
        &[b' '; 2 << 20],
    ];
    for config in broken {
        let shown = String::from_utf8_lossy(&config[..config.len().min(40)]).into_owned();
        let place = Place::new();
        let mut client = place.start(config, &["--mode", "mcp"]);
        client.initialize("2025-11-25");
        let told = client.data("get_capabilities", json!({}));
        assert!(
            told["config_error"].as_str().is_some_and(|text| text.contains("config.json")),
            "{shown}: {told}"
        );
        assert_eq!(client.data("list_windows", json!({}))["count"], 3, "{shown}");
        let refused = client.data("click_at", json!({"x": 1, "y": 1}));
        assert_eq!(refused["error"]["code"], "PermissionDenied", "{shown}: {refused}");
        client.until_says("config.json");
    }
}

/// H-92 on start: a config that is no plain file is not waited for.
#[cfg(unix)]
#[test]
fn a_config_that_is_no_file_is_said() {
    let place = Place::new();
    let pipe = place.path("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    for file in [pipe.as_str(), "/dev/zero", &place.path("")] {
        let mut client = Client::start(&["--mode", "mcp", "--mock", "--config", file]);
        client.initialize("2025-11-25");
        let told = client.data("get_capabilities", json!({}));
        assert!(
            told["config_error"].as_str().is_some_and(|text| text.contains("not a regular file")),
            "{told}"
        );
    }
}

/// H-92 on start: a key that is not known is told with the one that was meant; a protecting key that cannot be obeyed
/// ends the start.
#[test]
fn unknown_and_impossible_keys_are_said() {
    let place = Place::new();
    let mut client = place.start_with(&json!({"logging": {"levle": "info"}}), &["--mode", "mcp"]);
    client.initialize("2025-11-25");
    assert_eq!(client.data("list_windows", json!({}))["count"], 3);
    client.until_says("`logging.levle`");
    client.until_says("`logging.level`?");
    let mut client = place.start_with(&json!({"redaction": {"everything": true}}), &["--mode", "mcp"]);
    client.initialize("2025-11-25");
    let told = client.data("get_capabilities", json!({}))["config_error"].clone();
    assert!(told.as_str().is_some_and(|text| text.contains("redaction.everything")), "{told}");
    for (config, words) in [
        (json!({"web_uii": {"port": 1}}), "did you mean `web_ui`?"),
        (json!({"actions": {"denny": ["type_text"]}}), "did you mean `actions.deny`?"),
        (json!({"actions": {"deny": "type_text"}}), "actions.deny"),
        (json!({"actions": {"deny": [7]}}), "actions.deny"),
        (json!({"confirmation_required": [{"name_regex": "("}]}), "confirmation_required"),
        (json!({"redaction": {"ocr_text_patterns": ["("]}}), "redaction.ocr_text_patterns"),
        (json!({"input": {"allowed_region": "everything"}}), "input.allowed_region"),
    ] {
        check_no_start(place.start_with(&config, &["--mode", "mcp"]), &config.to_string(), words);
    }
}

// ---- sockets -----------------------------------------------------------------------------------------------

/// A server below strace, which writes every call about sockets, also those of children, into a file.
#[cfg(target_os = "linux")]
struct Watched {
    client: Client,
    folder: tempfile::TempDir,
}

#[cfg(target_os = "linux")]
impl Watched {
    fn start(flags: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut command = Command::new("strace");
        // The filter in the kernel stops the server at these calls only, and not at every one.
        command.args(["-f", "--seccomp-bpf", "-qq", "-e", "trace=%network", "-e", "signal=none", "-o"]);
        command.arg(folder.path().join("calls")).arg(env!("CARGO_BIN_EXE_os-screen-observer")).args(flags);
        let there = Command::new("strace").arg("-V").output().is_ok_and(|output| output.status.success());
        assert!(there, "strace is needed to see which sockets are opened; ./test.sh installs it");
        Self { client: Client::spawn(command), folder }
    }

    /// What was asked of the system about sockets, one call a line, after the server has ended. Pairs that are
    /// connected to each other and to nobody else are left out, and what is asked of a socket that is there.
    fn calls(mut self) -> Vec<String> {
        self.client.close_input();
        self.client.wait(Duration::from_secs(60)).expect("the end of input ends it");
        let text = std::fs::read_to_string(self.folder.path().join("calls")).unwrap();
        let call =
            |line: &str| line.split_once(' ').map_or(String::new(), |(_, call)| call.trim().to_owned());
        let opens = |call: &String| {
            ["socket(", "connect(", "bind(", "listen(", "sendto(", "sendmsg(", "sendmmsg("]
                .iter()
                .any(|name| call.starts_with(name))
        };
        text.lines().map(call).filter(opens).collect()
    }
}

/// The server itself, which is the one child of strace.
#[cfg(target_os = "linux")]
fn child_of(process: u32) -> u32 {
    let file = format!("/proc/{process}/task/{process}/children");
    std::fs::read_to_string(file).unwrap().split_whitespace().next().unwrap().parse().unwrap()
}

/// The sockets of a process that reach others, as the system's tables name them: `tcp 0A` listens.
#[cfg(target_os = "linux")]
fn sockets(process: u32) -> Vec<String> {
    let links = std::fs::read_dir(format!("/proc/{process}/fd")).unwrap();
    let held: Vec<String> = links
        .filter_map(|entry| std::fs::read_link(entry.ok()?.path()).ok())
        .filter_map(|target| {
            Some(target.to_str()?.strip_prefix("socket:[")?.trim_end_matches(']').to_owned())
        })
        .collect();
    let mut found = Vec::new();
    for table in ["tcp", "tcp6", "udp", "udp6", "raw", "raw6", "icmp", "packet"] {
        let text = std::fs::read_to_string(format!("/proc/{process}/net/{table}")).unwrap_or_default();
        for line in text.lines().skip(1) {
            let words: Vec<&str> = line.split_whitespace().collect();
            if words.get(9).is_some_and(|inode| held.iter().any(|held| held == inode)) {
                found.push(format!("{table} {}", words[3]));
            }
        }
    }
    // A named socket of this machine has a path at the end of its line.
    let named = std::fs::read_to_string(format!("/proc/{process}/net/unix")).unwrap_or_default();
    for line in named.lines().skip(1) {
        let words: Vec<&str> = line.split_whitespace().collect();
        if words.len() > 7 && held.iter().any(|held| held == words[6]) {
            found.push(format!("unix {}", words[7]));
        }
    }
    found
}

/// Reading a picture takes its time below strace on a busy machine.
#[cfg(target_os = "linux")]
fn call_patiently(client: &mut Client, tool: &str, args: &str) -> Value {
    let arguments: Value = serde_json::from_str(args).unwrap();
    let id = client.post("tools/call", json!({"name": tool, "arguments": arguments}));
    loop {
        let message = client.receive_within(Duration::from_secs(120));
        let message = message.unwrap_or_else(|| panic!("{tool} {args} is not answered"));
        if message["id"] == id {
            return message["result"].clone();
        }
    }
}

/// Every tool's examples, each on the desktop that it is written for; how many there were and how many worked.
#[cfg(target_os = "linux")]
fn call_all_examples(client: &mut Client) -> (usize, usize) {
    let (mut made, mut worked) = (0, 0);
    for spec in tools::all_tools().filter(|spec| spec.meta.lock.is_none() && spec.meta.switch.is_none()) {
        for example in spec.meta.examples {
            if let Some(scenario) = example.scenario {
                call_patiently(client, "load_scenario", &json!({"path": scenario}).to_string());
            }
            for (tool, args) in spec.meta.before_examples {
                call_patiently(client, tool, args);
            }
            let result = call_patiently(client, spec.meta.name, example.args);
            made += 1;
            worked += usize::from(result["isError"] == false);
        }
    }
    (made, worked)
}

/// H-92 on stdio: a server on the mock opens no socket at all, whichever tool is called: nothing is asked of a network.
#[cfg(target_os = "linux")]
#[test]
fn over_stdio_no_socket_is_opened() {
    let mut watched = Watched::start(&["--mode", "mcp", "--mock"]);
    watched.client.initialize("2025-11-25");
    let (made, worked) = call_all_examples(&mut watched.client);
    assert!(made > 60 && worked * 10 > made * 7, "{worked} of {made} examples worked");
    assert_eq!(sockets(child_of(watched.client.process_id())), [""; 0]);
    assert_eq!(watched.calls(), [""; 0]);
}

/// H-92 on REST, clickthrough: with HTTP there are the listeners that were asked for, on loopback, and no more.
#[cfg(all(target_os = "linux", feature = "http"))]
#[test]
fn over_http_only_the_listeners_are_opened() {
    for (flags, doors) in [(&[][..], 1), (&["--clickthrough"], 2)] {
        let place = Place::new();
        let config = json!({"web_ui": {"port": 0}, "clickthrough": {"port": 0}});
        std::fs::write(place.path("config.json"), config.to_string()).unwrap();
        let config = place.path("config.json");
        let mut all = vec!["--mode", "both", "--mock", "--config", &config];
        all.extend_from_slice(flags);
        let mut watched = Watched::start(&all);
        watched.client.initialize("2025-11-25");
        watched.client.until_says(if doors == 2 {
            "Clickthrough-compatible API on port"
        } else {
            "serving HTTP at"
        });
        assert_eq!(watched.client.data("list_windows", json!({}))["count"], 3);
        assert_eq!(sockets(child_of(watched.client.process_id())), vec!["tcp 0A"; doors]);
        let calls = watched.calls();
        let named = |name: &str| calls.iter().filter(|call| call.starts_with(name)).count();
        assert_eq!((named("socket("), named("bind("), named("listen(")), (doors, doors, doors), "{calls:#?}");
        assert_eq!(calls.len(), 3 * doors, "{calls:#?}");
        let local = calls.iter().filter(|call| call.starts_with("bind("));
        assert!(local.clone().all(|call| call.contains("inet_addr(\"127.0.0.1\")")), "{calls:#?}");
    }
}
