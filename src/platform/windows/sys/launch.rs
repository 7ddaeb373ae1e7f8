//! Starting programs that go on by themselves: nothing of ours is in their hands.
#![allow(unsafe_code, reason = "the Windows API is C")]

use std::os::windows::ffi::OsStrExt;
use std::os::windows::io::AsRawHandle;

use windows::Win32::Foundation::{
    CloseHandle, HANDLE, HANDLE_FLAG_INHERIT, HANDLE_FLAGS, SetHandleInformation, WAIT_TIMEOUT,
};
use windows::Win32::System::Threading::{
    CREATE_NEW_CONSOLE, CREATE_UNICODE_ENVIRONMENT, CreateProcessW, OpenProcess, PROCESS_INFORMATION,
    PROCESS_SYNCHRONIZE, STARTUPINFOW, WaitForSingleObject,
};
use windows::core::{PCWSTR, PWSTR};

use super::decode::apps::{command_line, environment};
use crate::error::{Error, Result};
use crate::model::app::Launch;
use crate::spawn;

/// The pipes to our client are ours alone. Whoever started us had to make them so that they are handed on to children;
/// a child that held them would keep the client waiting for their end after we are gone.
pub fn keep_pipes() {
    let handles = [
        std::io::stdin().as_raw_handle(),
        std::io::stdout().as_raw_handle(),
        std::io::stderr().as_raw_handle(),
    ];
    for handle in handles.into_iter().filter(|handle| !handle.is_null()) {
        // SAFETY: handles of this process, which stay open; a mark is taken off them.
        let marked = unsafe { SetHandleInformation(HANDLE(handle), HANDLE_FLAG_INHERIT.0, HANDLE_FLAGS(0)) };
        if let Err(problem) = marked {
            tracing::debug!("a pipe stays one that children get: {problem}");
        }
    }
}

/// With a console of its own if it is a program for one, and with no handle of ours: a person who presses Ctrl-C means
/// the server. No shell looks at the arguments.
pub fn launch(launch: &Launch) -> Result<u32> {
    let program = launch.command.first().map_or("", String::as_str);
    let failed = |reason: &dyn std::fmt::Display| {
        Error::bad_request(format!("'{program}' cannot be started: {reason}")).with("field", "program")
    };
    let mut line = units(&command_line(&launch.command).map_err(|why| failed(&why))?);
    let path = units(program);
    let cwd = launch.cwd.as_ref().map(|cwd| cwd.as_os_str().encode_wide().chain([0]).collect::<Vec<u16>>());
    let cwd = cwd.as_ref().map_or(PCWSTR::null(), |cwd| PCWSTR(cwd.as_ptr()));
    let variables = environment(
        spawn::variables().map(|(name, value)| (name.encode_wide().collect(), value.encode_wide().collect())),
    );
    let start = STARTUPINFOW { cb: size_of::<STARTUPINFOW>() as u32, ..Default::default() };
    let mut started = PROCESS_INFORMATION::default();
    // A whole path is the program itself; a name is searched for as Windows does.
    let path =
        if std::path::Path::new(program).is_absolute() { PCWSTR(path.as_ptr()) } else { PCWSTR::null() };
    // SAFETY: all texts end with a zero and outlive the call, the line may be written to, the variables end with two
    // zeros; the structures say their own sizes. Both handles that come back are closed.
    let made = unsafe {
        CreateProcessW(
            path,
            Some(PWSTR(line.as_mut_ptr())),
            None,
            None,
            false,
            CREATE_NEW_CONSOLE | CREATE_UNICODE_ENVIRONMENT,
            Some(variables.as_ptr().cast()),
            cwd,
            &raw const start,
            &raw mut started,
        )
        .map(|()| {
            let _ = CloseHandle(started.hThread);
            let _ = CloseHandle(started.hProcess);
        })
    };
    made.map(|()| started.dwProcessId).map_err(|reason| failed(&reason))
}

fn units(text: &str) -> Vec<u16> {
    text.encode_utf16().chain([0]).collect()
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
