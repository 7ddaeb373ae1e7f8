//! Somebody else's working folder: a `config.json` that lies there is obeyed where it tightens, and nowhere else. The
//! built program, started in that folder.

use std::path::PathBuf;
use std::process::Command;
#[cfg(unix)]
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::Client;

/// A folder that somebody else made, and a home.
struct Folder(tempfile::TempDir);

impl Folder {
    fn with(config: &str) -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        std::fs::create_dir(folder.path("here")).unwrap();
        std::fs::write(folder.path("here/config.json"), config).unwrap();
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn start(&self, flags: &[&str]) -> Client {
        Client::spawn(self.command(flags))
    }

    fn command(&self, flags: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_os-screen-observer"));
        command.args(flags).current_dir(self.path("here"));
        command.env("XDG_CONFIG_HOME", self.path("home")).env("XDG_STATE_HOME", self.path("state"));
        command.env("XDG_DATA_HOME", self.path("data"));
        command
    }

    fn serve(&self, flags: &[&str]) -> Client {
        let mut all = vec!["--mode", "mcp", "--mock"];
        all.extend_from_slice(flags);
        let mut client = self.start(&all);
        client.initialize("2025-11-25");
        client
    }
}

/// A program that leaves a mark when it runs.
#[cfg(unix)]
fn add_program(folder: &Folder) {
    use std::os::unix::fs::PermissionsExt;
    let program = folder.path("here/x");
    std::fs::write(&program, "#!/bin/sh\ntouch ran\n").unwrap();
    std::fs::set_permissions(program, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// H-120 on start: a repository's config names a program, which is not run, whatever is called.
#[cfg(unix)]
#[test]
fn a_folder_starts_no_program() {
    let folder = Folder::with(r#"{"ocr": {"tesseract_cmd": "./x"}}"#);
    add_program(&folder);
    let mut client = folder.serve(&[]);
    client.data("get_capabilities", json!({}));
    client.data("get_ocr", json!({}));
    assert!(!folder.path("here/ran").exists());
    client.until_says("config.json in the working folder, for what it tightens was read");
    client.until_says("Left out: `ocr.tesseract_cmd`");
    client.until_says("--config ./config.json");
    // The same file, named by the person, counts.
    let mut client = folder.serve(&["--config", "./config.json"]);
    client.data("get_capabilities", json!({}));
    assert!(folder.path("here/ran").exists());
}

/// H-120 on start: nor does it switch on commands, a model server or a page's access.
#[test]
fn a_folder_opens_nothing() {
    let config = json!({
        "exec": {"enabled": true, "secret": "aaaaaaaaaaaa"},
        "web_ui": {"cors_origins": ["*"], "host": "0.0.0.0"},
        "vlm": {"enabled": true, "base_url": "http://127.0.0.1:9", "model": "m"},
    });
    let folder = Folder::with(&config.to_string());
    let mut client = folder.serve(&[]);
    let refused = client.data("exec_command", json!({"command": "true", "secret": "aaaaaaaaaaaa"}));
    assert_eq!(refused["error"]["code"], "PermissionDenied", "{refused}");
    let told = client.data("get_capabilities", json!({}));
    assert!(told["config_error"].is_null(), "{told}");
    for key in
        ["exec.enabled", "exec.secret", "web_ui.cors_origins", "web_ui.host", "vlm.enabled", "vlm.base_url"]
    {
        client.until_says(&format!("`{key}`"));
    }
}

/// H-120 on start: it does not choose the desktop either; a project's own file often has such keys.
#[test]
fn a_folder_does_not_choose_the_desktop() {
    for config in [json!({"mock": true}), json!({"platform": "web"})] {
        let folder = Folder::with(&config.to_string());
        let mut client = folder.start(&["--mode", "mcp"]);
        client.initialize("2025-11-25");
        let told = client.data("get_capabilities", json!({}));
        assert_ne!(told["adapter"], "MockAdapter", "{config}: {told}");
        client.until_says("Left out");
    }
}

#[track_caller]
fn refused(client: &mut Client, tool: &str, args: Value) -> String {
    client.data(tool, args)["error"]["code"].as_str().unwrap_or_default().to_owned()
}

/// H-120 on start: what tightens counts, on top of the user's own file.
#[test]
fn a_folder_may_tighten() {
    let folder = Folder::with(r#"{"actions": {"deny": ["click_at"]}}"#);
    std::fs::create_dir_all(folder.path("home/os-screen-observer")).unwrap();
    let own = r#"{"actions": {"deny": ["type_text"]}, "launch": {"programs": "none"}}"#;
    std::fs::write(folder.path("home/os-screen-observer/config.json"), own).unwrap();
    let mut client = folder.serve(&[]);
    assert_eq!(refused(&mut client, "click_at", json!({"x": 1, "y": 1})), "PermissionDenied");
    assert_eq!(refused(&mut client, "type_text", json!({"text": "a"})), "PermissionDenied");
    client.until_says("home/os-screen-observer/config.json was read");
}

/// H-120 on start: a file that is no JSON keeps everything from acting, and says how to leave it out.
#[test]
fn comments_are_said_to_be_none_of_json() {
    let folder = Folder::with("{\n  \"name\": \"mine\", // a project's own file\n}");
    let mut client = folder.serve(&[]);
    assert_eq!(refused(&mut client, "click_at", json!({"x": 1, "y": 1})), "PermissionDenied");
    client.until_says("JSON has no comments");
    client.until_says("--config FILE");
    std::fs::write(folder.path("here/none.json"), "{}").unwrap();
    let mut client = folder.serve(&["--config", "none.json"]);
    assert_eq!(client.data("click_at", json!({"x": 1, "y": 1}))["ok"], true);
}

/// H-120 on start: a file that others can write, or that is another user's, stops the start.
#[cfg(unix)]
#[test]
fn a_file_of_others_stops_the_start() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::with("{}");
    let file = folder.path("here/config.json");
    let check = |words: &str| {
        let mut client = folder.start(&["--mode", "mcp", "--mock"]);
        let (status, _) = client.wait(Duration::from_secs(20)).expect("it goes on");
        assert_eq!(status.code(), Some(1));
        assert!(client.last_words().contains(words), "{}", client.last_words());
    };
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o666)).unwrap();
    check("other users can change it (mode 0666)");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
    // Only the administrator can give a file away.
    if std::os::unix::fs::chown(&file, Some(12_345), None).is_ok() {
        check("it belongs to another user");
    }
}

/// H-296 on start: a job that waits in a store of the folder, which would be run on this desktop.
#[cfg(feature = "jobs")]
#[test]
fn a_folder_brings_no_jobs() {
    use os_screen_observer::jobs::spec::JobSpec;
    use os_screen_observer::jobs::store::Store;
    use os_screen_observer::jobs::store::sqlite::SqliteStore;

    let folder = Folder::with("{}");
    let store = SqliteStore::open(&folder.path("here/jobs/jobs.db")).unwrap();
    let spec = JobSpec {
        job: "log in as alice".to_owned(),
        planner: Some("scripted:demo".to_owned()),
        ..JobSpec::default()
    };
    store.enqueue(&spec, None, 1).unwrap();
    let mut command = folder.command(&["--mode", "mcp", "--mock"]);
    command.env("OSO_JOBS__ENABLED", "true");
    let mut client = Client::spawn(command);
    client.initialize("2025-11-25");
    assert_eq!(client.data("list_jobs", json!({}))["count"], 0);
    assert!(folder.path("data/os-screen-observer/jobs/jobs.db").is_file());
    assert_eq!(store.count_waiting(None, 1).unwrap(), 1, "the job of the folder was taken");
}
