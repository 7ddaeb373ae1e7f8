//! The real program, killed while it works on a job. Its inputs are commands: each leaves a line in a file, which nobody
//! can take back.

use std::process::{Child, Command, Stdio};
use std::time::Duration;

use os_screen_observer::clock::Clock;
use os_screen_observer::jobs::lease::unix_ms;
use os_screen_observer::jobs::status::JobStatus;
use os_screen_observer::jobs::store::Store;
use os_screen_observer::jobs::store::sqlite::SqliteStore;
use serde_json::{Value, json};

const SECRET: &str = "S3NT1NEL correct horse";

/// Kills a program at so many moments that nobody chose, and tells what became of its jobs.
pub fn kill_runs(rounds: usize, inputs: usize) -> std::collections::BTreeMap<&'static str, usize> {
    let mut ends = std::collections::BTreeMap::new();
    for round in 0..rounds {
        let after = Duration::from_millis(100 + (round as u64) * 137 % 900);
        let status = KilledRun::start(inputs).killed_after(after);
        *ends.entry(status.map_or("not there", JobStatus::name)).or_insert(0) += 1;
    }
    ends
}

struct KilledRun {
    folder: tempfile::TempDir,
    child: Child,
}

impl KilledRun {
    fn start(inputs: usize) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("inputs.log");
        let step = |number: usize| {
            let command = format!("echo {number} >> '{}'", log.display());
            json!({"call": "exec_command", "args": {"command": command, "secret": SECRET}})
        };
        let mut steps: Vec<Value> = (0..inputs).map(step).collect();
        steps.push(json!({"finish": {}}));
        let script = folder.path().join("script.yaml");
        std::fs::write(&script, json!({ "steps": steps }).to_string()).unwrap();
        let child = Command::new(env!("CARGO_BIN_EXE_os-screen-observer"))
            // Commands need no desktop, and the mock runs none.
            .args(["run", "write numbers", "--planner", &format!("scripted:{}", script.display())])
            .env_remove("DISPLAY")
            .env_remove("WAYLAND_DISPLAY")
            .current_dir(folder.path())
            .env("OSO_JOBS__DIR", folder.path().join("jobs"))
            .env("OSO_EXEC__ENABLED", "true")
            .env("OSO_EXEC__SECRET", SECRET)
            .env("XDG_CONFIG_HOME", folder.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        Self { folder, child }
    }

    fn lines(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.folder.path().join("inputs.log")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// The status of its job, if it had made one by then.
    fn killed_after(mut self, after: Duration) -> Option<JobStatus> {
        std::thread::sleep(after);
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        // The shell of the last command may still be writing.
        std::thread::sleep(Duration::from_millis(50));
        let store = SqliteStore::open(&self.folder.path().join("jobs/jobs.db")).unwrap();
        let later = unix_ms(&Clock::real()) + 100_000;
        store.reap(later).unwrap();
        let lines = self.lines();
        let Some(job) = store.list(None, 1).unwrap().pop() else {
            assert!(lines.is_empty(), "{lines:?}");
            return None;
        };
        let events = store.events(&job.id, 0, 10_000).unwrap();
        let intents = events.iter().filter(|event| event.kind == "intent").count();
        let expected: Vec<String> = (0..lines.len()).map(|number| number.to_string()).collect();
        assert_eq!(lines, expected, "each once, in order, none lost");
        let sent = lines.len();
        assert!(sent <= intents && intents <= sent + 1, "{sent} lines, {intents} rows");
        if intents > 0 && job.status != JobStatus::Succeeded {
            assert_eq!(job.status, JobStatus::Interrupted);
            assert!(store.claim("w", None, later).unwrap().is_none(), "nobody runs it again");
        }
        Some(job.status)
    }
}
