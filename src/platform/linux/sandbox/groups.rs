//! Groups on an isolated desktop. A program that runs as root, such as a terminal, sets its groups when it starts a shell,
//! and ends where it may not. In a user namespace nobody may, so there the call does nothing and says that it is done.

use std::io::{Error, Result};

/// Where the kernel's facts about a call have its number, and the kind of machine that it is made for.
const CALL_NUMBER: u32 = 0;
const CALL_MACHINE: u32 = 4;

/// What this machine is called there; calls for others are left alone.
const MACHINE: Option<u32> = if cfg!(target_arch = "x86_64") {
    Some(0xC000_003E)
} else if cfg!(target_arch = "aarch64") {
    Some(0xC000_00B7)
} else {
    None
};

/// From now on setting groups does nothing, for this process and all that it starts.
#[allow(unsafe_code, reason = "a filter is handed over as a pointer")]
pub fn accept_set_groups() -> Result<()> {
    let Some(machine) = MACHINE else { return Ok(()) };
    let mut filter = set_groups_filter(machine);
    let length = u16::try_from(filter.len()).unwrap_or(0);
    let program = libc::sock_fprog { len: length, filter: filter.as_mut_ptr() };
    // SAFETY: the filter outlives the calls, which copy it, and its length is its own.
    let done = unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
            && libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program) == 0
    };
    if done { Ok(()) } else { Err(Error::last_os_error()) }
}

/// A call that sets groups on this machine returns 0; every other one is made.
fn set_groups_filter(machine: u32) -> [libc::sock_filter; 6] {
    let load = |at: u32| step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, at, 0);
    let unless_skip =
        |value: u32, skipped: u8| step(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, value, skipped);
    let answer = |value: u32| step(libc::BPF_RET | libc::BPF_K, value, 0);
    let set_groups = u32::try_from(libc::SYS_setgroups).unwrap_or(u32::MAX);
    [
        load(CALL_MACHINE),
        unless_skip(machine, 3),
        load(CALL_NUMBER),
        unless_skip(set_groups, 1),
        answer(libc::SECCOMP_RET_ERRNO),
        answer(libc::SECCOMP_RET_ALLOW),
    ]
}

fn step(code: u32, value: u32, skipped_unless: u8) -> libc::sock_filter {
    libc::sock_filter { code: u16::try_from(code).unwrap_or(0), jt: 0, jf: skipped_unless, k: value }
}
