//! Asks Windows which process started which.
#![allow(unsafe_code, reason = "the Windows API is C")]

use std::os::windows::io::{FromRawHandle, OwnedHandle};

use windows::Win32::Foundation::{FILETIME, HANDLE};
use windows::Win32::System::Diagnostics::ToolHelp::{
    CreateToolhelp32Snapshot, PROCESSENTRY32W, Process32FirstW, Process32NextW, TH32CS_SNAPPROCESS,
};
use windows::Win32::System::Threading::{GetProcessTimes, OpenProcess, PROCESS_QUERY_LIMITED_INFORMATION};

/// More processes than that no session has.
const MOST: usize = 65_536;

/// The name of a process's program, and the process that started it; 0 where that one has ended. Windows gives the
/// number of an ended process to another one, so whoever is younger than its child is not its parent.
pub fn look_up(pid: u32) -> Option<(String, u32)> {
    let entry = find(pid)?;
    let parent = entry.th32ParentProcessID;
    let is_younger = matches!((started(parent), started(pid)), (Some(parent), Some(child)) if parent > child);
    Some((name(&entry), if is_younger { 0 } else { parent }))
}

fn find(pid: u32) -> Option<PROCESSENTRY32W> {
    // SAFETY: takes no memory of ours. The handle is new and closes with its owner.
    let (snapshot, _open) = unsafe {
        let snapshot = CreateToolhelp32Snapshot(TH32CS_SNAPPROCESS, 0).ok()?;
        (snapshot, OwnedHandle::from_raw_handle(snapshot.0))
    };
    let mut entry =
        PROCESSENTRY32W { dwSize: size_of::<PROCESSENTRY32W>() as u32, ..PROCESSENTRY32W::default() };
    // SAFETY: the snapshot is open; the entry says its own size and outlives the calls.
    let mut told = unsafe { Process32FirstW(snapshot, &raw mut entry) };
    for _ in 0..MOST {
        told.ok()?;
        if entry.th32ProcessID == pid {
            return Some(entry);
        }
        // SAFETY: as above.
        told = unsafe { Process32NextW(snapshot, &raw mut entry) };
    }
    None
}

fn name(entry: &PROCESSENTRY32W) -> String {
    let units = entry.szExeFile.split(|unit| *unit == 0).next().unwrap_or_default();
    String::from_utf16_lossy(units)
}

/// When a process began; nothing for those that may not be asked.
fn started(pid: u32) -> Option<u64> {
    // SAFETY: no more than a right to ask. The handle is new and closes with its owner.
    let (process, _open): (HANDLE, OwnedHandle) = unsafe {
        let process = OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION, false, pid).ok()?;
        (process, OwnedHandle::from_raw_handle(process.0))
    };
    let [mut began, mut ended, mut kernel, mut user] = [FILETIME::default(); 4];
    // SAFETY: the process is open; the four times outlive the call.
    let asked =
        unsafe { GetProcessTimes(process, &raw mut began, &raw mut ended, &raw mut kernel, &raw mut user) };
    asked.ok()?;
    Some(u64::from(began.dwHighDateTime) << 32 | u64::from(began.dwLowDateTime))
}
