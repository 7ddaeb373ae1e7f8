//! Starting programs that go on by themselves: nothing of ours is in their hands, and we take notice when they end.

use std::os::unix::process::CommandExt;
use std::process::{Child, Stdio};
use std::time::Duration;

use objc2::rc::autoreleasepool;
use objc2_app_kit::NSRunningApplication;
use objc2_foundation::{NSBundle, NSString};
use rustix::process::{Pid, test_kill_process};

use super::decode::apps;
use crate::clock::{Deadline, sleep_really};
use crate::error::{Error, Result};
use crate::model::app::Launch;
use crate::spawn;

/// What an app may take until it is among those that run.
const OPENING_TIME: Duration = Duration::from_secs(3);
const LOOK_AGAIN: Duration = Duration::from_millis(50);

/// In a process group of its own: a person who presses Ctrl-C means the server.
pub fn launch(launch: &Launch) -> Result<u32> {
    let words = apps::opening(&launch.command);
    let mut words = words.iter();
    let program = words.next().map_or("", String::as_str);
    let mut command = spawn::command(program);
    command.args(words).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
    if let Some(cwd) = &launch.cwd {
        command.current_dir(cwd);
    }
    let cannot = |problem: std::io::Error| {
        Error::bad_request(format!("'{program}' cannot be started: {problem}")).with("field", "program")
    };
    let mut child = command.spawn().map_err(cannot)?;
    let pid = match apps::opened_app(&launch.command) {
        Some(app) => pid_of_opened(app, &mut child)?,
        None => child.id(),
    };
    // Somebody has to take notice of its end, or it stays in the table of processes.
    let reaper = std::thread::Builder::new().name("launched".to_owned()).stack_size(64 << 10);
    reaper.spawn(move || child.wait()).map_err(cannot)?;
    Ok(pid)
}

/// The app's own process, which its windows belong to; while nobody tells of it, the one that waits for its end.
fn pid_of_opened(app: &str, opener: &mut Child) -> Result<u32> {
    let deadline = Deadline::after(OPENING_TIME);
    while !deadline.is_over() {
        if let Some(pid) = running(app) {
            return Ok(pid);
        }
        if let Ok(Some(ended)) = opener.try_wait()
            && !ended.success()
        {
            let message = format!("macOS did not open '{app}' ({ended})");
            return Err(Error::bad_request(message).with("field", "program"));
        }
        sleep_really(LOOK_AGAIN);
    }
    Ok(opener.id())
}

/// The process of an app that runs, by the app's name for itself.
fn running(app: &str) -> Option<u32> {
    autoreleasepool(|_| {
        let bundle = NSBundle::bundleWithPath(&NSString::from_str(app))?;
        let name = bundle.bundleIdentifier()?;
        let found = NSRunningApplication::runningApplicationsWithBundleIdentifier(&name).to_vec();
        let pid = found.iter().find(|running| !running.isTerminated())?.processIdentifier();
        u32::try_from(pid).ok().filter(|pid| *pid > 0)
    })
}

pub fn is_running(pid: u32) -> bool {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    pid.is_some_and(|pid| test_kill_process(pid).is_ok())
}
