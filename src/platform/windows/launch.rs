//! Starting programs that go on by themselves: nothing of ours is in their hands.
#![allow(unsafe_code, reason = "Windows is asked by functions of C")]

use std::os::windows::process::CommandExt;
use std::process::{Command, Stdio};

use windows::Win32::Foundation::{CloseHandle, WAIT_TIMEOUT};
use windows::Win32::System::Threading::{
    CREATE_NEW_PROCESS_GROUP, DETACHED_PROCESS, OpenProcess, PROCESS_SYNCHRONIZE, WaitForSingleObject,
};

use crate::error::{Error, Result};
use crate::model::program::Launch;

/// In a process group of its own, without our console: a person who presses Ctrl-C means the server. Our settings may
/// hold keys that are nobody else's business. No shell looks at the arguments.
pub fn launch(launch: &Launch) -> Result<u32> {
    let mut words = launch.command.iter();
    let mut command = Command::new(words.next().map_or("", String::as_str));
    command.args(words).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.creation_flags(CREATE_NEW_PROCESS_GROUP.0 | DETACHED_PROCESS.0);
    if let Some(cwd) = &launch.cwd {
        command.current_dir(cwd);
    }
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("OSO_")) {
        command.env_remove(name);
    }
    let program = launch.command.first().map_or("", String::as_str);
    let child = command.spawn().map_err(|reason| {
        Error::bad_request(format!("'{program}' cannot be started: {reason}")).with("field", "program")
    })?;
    Ok(child.id())
}

pub fn is_running(pid: u32) -> bool {
    // SAFETY: no more than a right to wait; the handle is closed below.
    let Ok(process) = (unsafe { OpenProcess(PROCESS_SYNCHRONIZE, false, pid) }) else { return false };
    // SAFETY: the handle is open; nothing is waited for. It is used no more after.
    unsafe {
        let waited = WaitForSingleObject(process, 0);
        let closed = CloseHandle(process);
        debug_assert!(closed.is_ok(), "{closed:?}");
        waited == WAIT_TIMEOUT
    }
}
