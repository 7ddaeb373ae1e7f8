//! Starting programs that go on by themselves: nothing of ours is in their hands, and we take notice when they end.

use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use rustix::process::{Pid, test_kill_process};

use super::sense::apps;
use crate::error::{Error, Result};
use crate::model::program::Launch;

/// In a process group of its own: a person who presses Ctrl-C means the server. Our settings may hold keys that are
/// nobody else's business.
pub fn launch(launch: &Launch) -> Result<u32> {
    let words = apps::opening(&launch.command);
    let mut words = words.iter();
    let program = words.next().map_or("", String::as_str);
    let mut command = Command::new(program);
    command.args(words).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
    if let Some(cwd) = &launch.cwd {
        command.current_dir(cwd);
    }
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("OSO_")) {
        command.env_remove(name);
    }
    let cannot = |problem: std::io::Error| {
        Error::bad_request(format!("'{program}' cannot be started: {problem}")).with("field", "program")
    };
    let mut child = command.spawn().map_err(cannot)?;
    let pid = child.id();
    // Somebody has to take notice of its end, or it stays in the table of processes.
    let reaper = std::thread::Builder::new().name("launched".to_owned()).stack_size(64 << 10);
    reaper.spawn(move || child.wait()).map_err(cannot)?;
    Ok(pid)
}

pub fn is_running(pid: u32) -> bool {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    pid.is_some_and(|pid| test_kill_process(pid).is_ok())
}
