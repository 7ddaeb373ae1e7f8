//! Files that go while the server runs: an audit log or a trace that is removed or replaced, and an audit log that
//! cannot be rotated. The built program, from outside.
#![cfg(target_os = "linux")]

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::support::Client;

struct Audited {
    client: Client,
    folder: tempfile::TempDir,
}

fn audited(settings: &[(&str, &str)]) -> Audited {
    let folder = tempfile::tempdir().unwrap();
    let client = start(folder.path(), settings);
    Audited { client, folder }
}

fn start(folder: &Path, settings: &[(&str, &str)]) -> Client {
    let log = folder.join("audit.log");
    let fixed = [("OSO_LOGGING__AUDIT", "true"), ("OSO_LOGGING__AUDIT_PATH", log.to_str().unwrap())];
    let mut client = Client::start_with(&["--mode", "mcp", "--mock"], &[&fixed[..], settings].concat());
    client.initialize("2025-11-25");
    client
}

impl Audited {
    fn log(&self) -> PathBuf {
        self.folder.path().join("audit.log")
    }

    fn look(&mut self) -> Value {
        self.client.data("list_windows", json!({}))
    }

    fn act(&mut self) -> Value {
        self.client.data("click_at", json!({"x": 1, "y": 1}))
    }
}

/// The lines about calls in a folder's logs, backups included.
fn lines(folder: &Path) -> usize {
    let files = std::fs::read_dir(folder).unwrap().flatten();
    let texts = files.map(|file| std::fs::read_to_string(file.path()).unwrap());
    texts.map(|text| text.lines().filter(|line| line.contains(" tool=")).count()).sum()
}

/// H-90 on stdio: a log that was removed is noticed before the next input, made anew, and says so.
#[test]
fn a_removed_audit_log_is_noticed() {
    let mut server = audited(&[]);
    server.act();
    std::fs::remove_file(server.log()).unwrap();
    assert_eq!(server.act()["ok"], true);
    let text = std::fs::read_to_string(server.log()).unwrap();
    assert!(text.contains(" event=reopened before=gone\n") && text.contains(" tool=click_at "), "{text}");
    server.client.until_says("was removed or replaced");
}

/// H-90 on stdio: with a link in its place nothing acts, and nothing is written through it.
#[test]
fn a_link_in_place_of_the_audit_log_stops_inputs() {
    let mut server = audited(&[]);
    server.act();
    std::fs::remove_file(server.log()).unwrap();
    let target = server.folder.path().join("elsewhere");
    std::os::unix::fs::symlink(&target, server.log()).unwrap();
    let refused = server.act();
    assert_eq!(refused["error"]["code"], "Internal", "{refused}");
    assert!(!target.exists());
    std::fs::remove_file(server.log()).unwrap();
    assert_eq!(server.act()["ok"], true);
    assert_eq!(lines(server.folder.path()), 2, "the refused call and this one");
}

/// H-90 on stdio: several servers with one config lose no line of each other, and rotate one file.
#[test]
fn servers_share_an_audit_log() {
    let folder = tempfile::tempdir().unwrap();
    let settings = [("OSO_LOGGING__AUDIT_MAX_BYTES", "2048"), ("OSO_LOGGING__AUDIT_BACKUPS", "100")];
    let mut clients: Vec<Client> = (0..4).map(|_| start(folder.path(), &settings)).collect();
    for _ in 0..40 {
        let asked: Vec<u64> = clients
            .iter_mut()
            .map(|client| client.post("tools/call", json!({"name": "list_windows", "arguments": {}})))
            .collect();
        for (client, id) in clients.iter_mut().zip(asked) {
            client.answer(id);
        }
    }
    assert_eq!(lines(folder.path()), 160);
    for file in std::fs::read_dir(folder.path()).unwrap().flatten() {
        assert!(file.metadata().unwrap().len() <= 2048, "{:?}", file.file_name());
    }
}

/// H-122 on stdio: while no file can be opened, rotating destroys nothing, however often it is tried.
#[test]
fn a_rotation_that_fails_loses_no_line() {
    use rustix::process::{Pid, Resource, Rlimit, prlimit};
    let mut server =
        audited(&[("OSO_LOGGING__AUDIT_MAX_BYTES", "1024"), ("OSO_LOGGING__AUDIT_BACKUPS", "10")]);
    let pid = Pid::from_raw(server.client.process_id().try_into().unwrap());
    let mut looks = 0;
    for (files, calls) in [(None, 40), (Some(3), 25), (None, 3)] {
        prlimit(pid, Resource::Nofile, Rlimit { current: files.or(Some(1024)), maximum: Some(4096) })
            .unwrap();
        for _ in 0..calls {
            server.look();
            looks += 1;
        }
    }
    assert_eq!(server.act()["ok"], true);
    assert_eq!(lines(server.folder.path()), looks + 1);
}

/// H-126 on stdio: a trace that is removed ends with a warning, and its end says so.
#[test]
fn a_removed_trace_is_noticed() {
    for whole in [true, false] {
        let mut client = Client::mock(&[]);
        let started = client.data("trace_start", json!({}));
        let folder = PathBuf::from(started["dir"].as_str().unwrap());
        client.data("list_windows", json!({}));
        if whole {
            std::fs::remove_dir_all(&folder).unwrap();
        } else {
            std::fs::remove_file(folder.join("trace.jsonl")).unwrap();
        }
        let warned = client.data("list_windows", json!({}));
        assert!(warned["warning"].as_str().unwrap_or_default().contains("has ended"), "{warned}");
        let stopped = client.data("trace_stop", json!({}));
        assert!(stopped["trace_error"].is_string(), "{stopped}");
    }
}
