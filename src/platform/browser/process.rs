//! Starting a browser, and ending it in every way in which this server can end.
//!
//! The browser reads its orders from a pipe and ends when the pipe does, which also happens when the server is killed. A
//! shell waits for that end and removes the browser's folder; whatever has not ended in time is ended here.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::executable::is_headless_shell;
use super::profiles::DataFolder;
use crate::clock::{Deadline, lock, sleep_really};
use crate::config::Size;

/// How long a browser may take to end by itself.
const END: Duration = Duration::from_secs(4);

/// How many of the last lines that it printed are kept, to say why it ended.
const LAST_LINES: usize = 20;

/// What a browser is started with.
#[derive(Clone, Debug)]
pub struct BrowserPlan {
    pub executable: PathBuf,
    /// With windows that a person can see.
    pub headful: bool,
    /// With the browser's own sandbox around its pages.
    pub sandbox: bool,
    pub size: Size,
    /// How it reaches its network.
    pub network: Vec<String>,
}

/// A running browser. Dropping it ends the browser and removes its folder.
#[derive(Debug)]
pub struct BrowserProcess {
    child: Child,
    /// It is let go of when the browser has gone.
    folder: DataFolder,
    last_lines: Arc<Mutex<Vec<String>>>,
}

/// The two ends of the pipe that a browser is worked by.
pub struct BrowserPipe {
    pub orders: Box<dyn Write + Send>,
    pub answers: Box<dyn Read + Send>,
}

impl BrowserProcess {
    pub fn start(plan: &BrowserPlan, folder: DataFolder) -> Result<(Self, BrowserPipe), String> {
        let switches = switches(plan, folder.path());
        let mut child = spawn::spawn_browser(&plan.executable, &switches, folder.to_remove())?;
        let (orders, answers) = (child.stdin.take(), child.stdout.take());
        let last_lines = Arc::new(Mutex::new(Vec::new()));
        if let Some(errors) = child.stderr.take() {
            keep_last_lines(errors, last_lines.clone());
        }
        let process = Self { child, folder, last_lines };
        match (orders, answers) {
            (Some(orders), Some(answers)) => {
                Ok((process, BrowserPipe { orders: Box::new(orders), answers: Box::new(answers) }))
            }
            _ => Err("the browser was started without its pipes".to_owned()),
        }
    }

    /// Where it keeps its own; nobody else can read it.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Why it did not start or has ended, as far as it printed that.
    pub fn last_words(&self) -> String {
        let lines = lock(&self.last_lines);
        let told = lines.iter().rev().find(|line| line.contains("ERROR") || line.contains("FATAL"));
        let told = told.or(lines.last()).map_or("it printed nothing", String::as_str);
        let needs_root = lines.iter().any(|line| line.contains("--no-sandbox"));
        match needs_root {
            true => "it does not start its sandbox as this user (root, or a container that forbids it); start the \
                     server as another user, or set browser.sandbox to false where only trusted pages are opened"
                .to_owned(),
            false => told.to_owned(),
        }
    }
}

impl Drop for BrowserProcess {
    fn drop(&mut self) {
        let deadline = Deadline::after(END);
        while !deadline.is_over() && matches!(self.child.try_wait(), Ok(None)) {
            sleep_really(Duration::from_millis(5));
        }
        // Once its end was taken notice of, its number may be another's.
        if matches!(self.child.try_wait(), Ok(None)) {
            spawn::end_group(&self.child);
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

/// Pages behave as they do in front of a person: nothing is slowed down in the background, nothing asks a person, and
/// the browser asks nobody on the network on its own.
const SWITCHES: &[&str] = &[
    "--remote-debugging-pipe",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-background-networking",
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-breakpad",
    "--disable-client-side-phishing-detection",
    "--disable-component-extensions-with-background-pages",
    "--disable-component-update",
    "--disable-crash-reporter",
    "--disable-default-apps",
    // Containers have little shared memory, and a page that needs more crashes.
    "--disable-dev-shm-usage",
    "--disable-domain-reliability",
    "--disable-extensions",
    "--disable-features=Translate,OptimizationHints,MediaRouter,DialMediaRouteProvider,PaintHolding",
    "--disable-hang-monitor",
    "--disable-popup-blocking",
    "--disable-renderer-backgrounding",
    "--disable-search-engine-choice-screen",
    "--disable-smooth-scrolling",
    "--disable-sync",
    "--force-device-scale-factor=1",
    "--metrics-recording-only",
    "--no-pings",
    "--no-service-autorun",
    "--password-store=basic",
    "--use-mock-keychain",
];

/// What a headful window has around its page.
const WINDOW_FRAME: u16 = 140;

fn switches(plan: &BrowserPlan, folder: &Path) -> Vec<String> {
    let mut switches: Vec<String> = SWITCHES.iter().map(|switch| (*switch).to_owned()).collect();
    if !plan.headful && !is_headless_shell(&plan.executable) {
        switches.push("--headless=new".to_owned());
    }
    if !plan.headful {
        switches.extend(["--hide-scrollbars", "--mute-audio"].map(str::to_owned));
    }
    if !plan.sandbox {
        switches.push("--no-sandbox".to_owned());
    }
    let frame = if plan.headful { WINDOW_FRAME } else { 0 };
    switches.push(format!("--window-size={},{}", plan.size.width, plan.size.height.saturating_add(frame)));
    switches.push(format!("--user-data-dir={}", folder.display()));
    switches.extend(plan.network.iter().cloned());
    switches.push("about:blank".to_owned());
    switches
}

/// A browser without anything of ours but where it keeps its logins. What it prints is nobody's matter.
pub fn show_to_person(executable: &Path, folder: &Path, sandbox: bool, url: &str) -> Result<(), String> {
    let mut command = crate::spawn::command(executable);
    command.args([
        "--no-first-run",
        "--no-default-browser-check",
        "--password-store=basic",
        "--use-mock-keychain",
    ]);
    if !sandbox {
        command.arg("--no-sandbox");
    }
    command.arg(format!("--user-data-dir={}", folder.display())).arg(url);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{} ended with {status}", executable.display())),
        Err(problem) => Err(format!("{} cannot be started: {problem}", executable.display())),
    }
}

/// Reads what it prints to the end, so that it is never held up.
fn keep_last_lines(errors: impl Read + Send + 'static, kept: Arc<Mutex<Vec<String>>>) {
    std::thread::spawn(move || {
        for line in BufReader::new(errors).split(b'\n').map_while(Result::ok) {
            let mut kept = lock(&kept);
            if kept.len() == LAST_LINES {
                kept.remove(0);
            }
            kept.push(String::from_utf8_lossy(&line).chars().take(500).collect());
        }
    });
}

#[cfg(unix)]
mod spawn {
    use std::path::Path;
    use std::process::{Child, Stdio};

    use std::os::unix::process::CommandExt;

    use rustix::process::{Pid, Signal, kill_process_group};

    use crate::spawn;

    /// The browser has its pipe at 3 and 4. What it prints goes to stderr; a guest's folder goes when the browser has
    /// gone.
    const SCRIPT: &str = r#"folder=$1; shift
exec 3<&0 4>&1 </dev/null >&2
"$@"
exec 3<&- 4>&-
[ -z "$folder" ] || rm -rf -- "$folder""#;

    /// In a process group of its own: a person who presses Ctrl-C means the server, which then ends the browser.
    pub fn spawn_browser(
        executable: &Path,
        switches: &[String],
        to_remove: Option<&Path>,
    ) -> Result<Child, String> {
        let mut command = spawn::command("/bin/sh");
        command
            .args(["-c", SCRIPT, "browser"])
            .arg(to_remove.unwrap_or(Path::new("")))
            .arg(executable)
            .args(switches);
        command.process_group(0).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().map_err(|problem| format!("{} cannot be started: {problem}", executable.display()))
    }

    /// Whatever of the browser is still there. Where there is nothing left, this fails.
    pub fn end_group(child: &Child) {
        let _ = kill_process_group(Pid::from_child(child), Signal::KILL);
    }
}

#[cfg(not(unix))]
mod spawn {
    use std::path::Path;
    use std::process::Child;

    pub fn spawn_browser(_: &Path, _: &[String], _: Option<&Path>) -> Result<Child, String> {
        Err("this build starts browsers on Linux and macOS only".to_owned())
    }

    pub fn end_group(_: &Child) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(executable: &str, headful: bool, sandbox: bool) -> BrowserPlan {
        BrowserPlan {
            executable: executable.into(),
            headful,
            sandbox,
            size: Size { width: 800, height: 600 },
            network: vec!["--disable-quic".to_owned()],
        }
    }

    #[track_caller]
    fn check(plan: &BrowserPlan, with: &[&str], without: &[&str]) {
        let switches = switches(plan, Path::new("/f"));
        for switch in with {
            assert!(switches.iter().any(|given| given == switch), "{switch} is missing: {switches:?}");
        }
        for switch in without {
            assert!(!switches.iter().any(|given| given == switch), "{switch} is given: {switches:?}");
        }
    }

    #[test]
    fn the_plan_becomes_switches() {
        let headless = ["--headless=new", "--window-size=800,600", "--user-data-dir=/f", "--disable-quic"];
        check(&plan("/usr/bin/chromium", false, true), &headless, &["--no-sandbox"]);
        check(&plan("/usr/bin/chromium", true, true), &["--window-size=800,740"], &["--headless=new"]);
        check(
            &plan("/usr/bin/chromium-headless-shell", false, false),
            &["--no-sandbox"],
            &["--headless=new"],
        );
    }

    #[cfg(unix)]
    #[test]
    fn a_guests_folder_goes_with_the_browser() {
        let folder = DataFolder::open(&crate::config::BrowserConfig::default()).unwrap();
        let mut child = spawn::spawn_browser(Path::new("/bin/true"), &[], folder.to_remove()).unwrap();
        assert!(child.wait().unwrap().success());
        assert!(!folder.path().exists());
    }
}
