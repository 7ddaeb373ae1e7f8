//! Asks Windows how much processes are trusted. What follows from that is in `decode::integrity`.
#![allow(unsafe_code, reason = "the Windows API is C")]

use std::os::windows::io::{FromRawHandle, OwnedHandle};
use std::sync::OnceLock;

use windows::Win32::Foundation::{ERROR_ACCESS_DENIED, HANDLE};
use windows::Win32::Security::{
    GetSidSubAuthority, GetSidSubAuthorityCount, GetTokenInformation, TOKEN_MANDATORY_LABEL, TOKEN_QUERY,
    TokenIntegrityLevel,
};
use windows::Win32::System::Threading::{
    GetCurrentProcess, OpenProcess, OpenProcessToken, PROCESS_QUERY_LIMITED_INFORMATION,
};

use super::decode::integrity::{Trust, check};
use super::desktop;
use crate::error::Result;
use crate::model::Point;

/// Whether keys reach the window that has the keyboard.
pub fn reach_keyboard() -> Result<()> {
    reach(desktop::foreground())
}

/// Whether the pointer reaches the window under a point.
pub fn reach_point(at: Point) -> Result<()> {
    reach(desktop::under(at))
}

fn reach(hwnd: u64) -> Result<()> {
    if hwnd == 0 {
        return Ok(());
    }
    let (_, pid) = desktop::thread_and_process(desktop::handle(hwnd));
    let theirs = trust_in(pid);
    check(ours(), theirs, &desktop::title_of(hwnd))
}

/// It does not change while a process runs.
fn ours() -> Trust {
    static OURS: OnceLock<Trust> = OnceLock::new();
    // SAFETY: takes nothing, gives a number that stands for this process and needs no closing.
    *OURS.get_or_init(|| label(unsafe { GetCurrentProcess() }))
}

fn trust_in(pid: u32) -> Trust {
    // SAFETY: no more than a right to ask. The handle is new and closes with its owner.
    let opened = unsafe {
        OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION, false, pid)
            .map(|process| (process, OwnedHandle::from_raw_handle(process.0)))
    };
    match opened {
        Ok((process, _open)) => label(process),
        Err(problem) => refused(&problem),
    }
}

fn refused(problem: &windows::core::Error) -> Trust {
    if problem.code() == ERROR_ACCESS_DENIED.to_hresult() { Trust::Denied } else { Trust::Unknown }
}

/// The label in a process's token.
fn label(process: HANDLE) -> Trust {
    let mut token = HANDLE::default();
    // SAFETY: the process is open; the token's handle is new and closes with its owner.
    let _token = match unsafe { OpenProcessToken(process, TOKEN_QUERY, &raw mut token) } {
        Ok(()) => unsafe { OwnedHandle::from_raw_handle(token.0) },
        Err(problem) => return refused(&problem),
    };
    // A label and its identifier need less; the numbers make the memory as even as the structure wants it.
    let mut memory = [0u64; 32];
    let mut written = 0;
    // SAFETY: the memory has the size that is passed, and outlives the calls. The label in it points into it.
    unsafe {
        let told = GetTokenInformation(
            token,
            TokenIntegrityLevel,
            Some(memory.as_mut_ptr().cast()),
            size_of_val(&memory) as u32,
            &raw mut written,
        );
        if told.is_err() || (written as usize) < size_of::<TOKEN_MANDATORY_LABEL>() {
            return Trust::Unknown;
        }
        let sid = (*memory.as_ptr().cast::<TOKEN_MANDATORY_LABEL>()).Label.Sid;
        if sid.is_invalid() {
            return Trust::Unknown;
        }
        let count = GetSidSubAuthorityCount(sid);
        if count.is_null() || *count == 0 {
            return Trust::Unknown;
        }
        let last = GetSidSubAuthority(sid, u32::from(*count) - 1);
        if last.is_null() { Trust::Unknown } else { Trust::Level(*last) }
    }
}
