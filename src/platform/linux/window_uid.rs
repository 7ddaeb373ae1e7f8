//! The uid of a window: its X id, and a tag of the process that it belongs to.
//!
//! The X server gives the ids of a client that ended to the next one, so an id alone may name a window of another
//! program a moment later. The tag is made of the process and the time of its start, which no later process shares.

use std::fmt;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use x11rb::protocol::res::{ClientIdMask, ClientIdSpec, ConnectionExt as _, QueryClientIdsReply};

use super::desktop::X11Cookie;
use super::x11::{X11Error, X11Server};
use crate::error::Error;
use crate::platform::gone;

/// Enough to tell one owner of an X id from the next, and short enough to be read.
const TAG_BITS: u32 = 24;

/// `x11:1a00003-5f02c9`, or `x11:1a00003` when nobody knows the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowUid {
    pub xid: u32,
    owner: Option<u32>,
}

impl fmt::Display for WindowUid {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "x11:{:x}", self.xid)?;
        self.owner.map_or(Ok(()), |owner| write!(out, "-{owner:06x}"))
    }
}

impl WindowUid {
    /// Nobody knows that of a window whose process is not known.
    pub fn is_of_same_process(self, other: WindowUid) -> bool {
        self.owner.is_some() && self.owner == other.owner
    }

    pub fn new(xid: u32, pid: Option<u32>) -> Self {
        let owner = pid.and_then(|pid| Some(owner_tag(pid, start_time(&stat_of(pid)?)?)));
        Self { xid, owner }
    }

    /// Fails as for a window that is gone.
    pub fn parse(uid: &str) -> Result<Self, Error> {
        Self::read(uid).ok_or_else(|| gone(uid))
    }

    fn read(uid: &str) -> Option<Self> {
        let (xid, owner) = match uid.strip_prefix("x11:")?.split_once('-') {
            Some((xid, owner)) => (xid, Some(u32::from_str_radix(owner, 16).ok()?)),
            None => (uid.strip_prefix("x11:")?, None),
        };
        Some(Self { xid: u32::from_str_radix(xid, 16).ok()?, owner })
    }
}

fn stat_of(pid: u32) -> Option<String> {
    std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()
}

/// The twenty-second field, in ticks since the machine started. The second is a name that may hold anything, so counting
/// begins after its last bracket.
fn start_time(stat: &str) -> Option<u64> {
    stat.rsplit_once(") ")?.1.split(' ').nth(19)?.parse().ok()
}

/// How long a process has run; nothing when there is none.
pub fn age_of(pid: u32) -> Option<Duration> {
    // Linux counts in hundredths of a second here, whatever it counts in itself.
    let started = Duration::from_millis(10 * start_time(&stat_of(pid)?)?);
    let now = Duration::try_from(clock_gettime(ClockId::Boottime)).ok()?;
    Some(now.saturating_sub(started))
}

/// Whether a signal or a debugger holds a process, which answers nothing until it is let go.
pub fn is_stopped(pid: u32) -> bool {
    stat_of(pid).as_deref().and_then(state_in).is_some_and(|state| matches!(state, 'T' | 't'))
}

/// Whether a process waits for something, or has ended.
pub fn is_asleep(pid: u32) -> bool {
    stat_of(pid).as_deref().and_then(state_in).is_none_or(|state| state == 'S')
}

/// `12 (a name) S 7 …`: the name may hold anything.
fn state_in(stat: &str) -> Option<char> {
    stat.rsplit_once(") ")?.1.chars().next()
}

/// The same in every process of this program, so that two servers and two calls speak of the same window (FNV-1a).
fn owner_tag(pid: u32, started: u64) -> u32 {
    let bytes = pid.to_le_bytes().into_iter().chain(started.to_le_bytes());
    let hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    (hash >> (u64::BITS - TAG_BITS)) as u32
}

// ── the process of a window ────────────────────────────────────────────────────────────────────────

/// The question for the process of a window, sent but not yet answered; none where the server cannot tell.
pub fn ask_pid(server: &X11Server, xid: u32) -> Result<Option<X11Cookie<'_, QueryClientIdsReply>>, X11Error> {
    if !server.extensions.resources {
        return Ok(None);
    }
    let question = [ClientIdSpec { client: xid, mask: ClientIdMask::LOCAL_CLIENT_PID }];
    Ok(Some(server.connection.res_query_client_ids(&question)?))
}

pub fn told_pid(asked: Option<X11Cookie<'_, QueryClientIdsReply>>) -> Result<Option<u32>, X11Error> {
    let Some(asked) = asked else { return Ok(None) };
    Ok(match asked.reply() {
        Ok(reply) => reply.ids.iter().find_map(|id| id.value.first().copied()).filter(|&pid| pid != 0),
        // Its version of the extension is too old, or the window is gone.
        Err(x11rb::errors::ReplyError::X11Error(_)) => None,
        Err(problem) => return Err(problem.into()),
    })
}

pub fn pid_by_server(server: &X11Server, xid: u32) -> Result<Option<u32>, X11Error> {
    told_pid(ask_pid(server, xid)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Kind;

    fn check(xid: u32, owner: Option<u32>, text: &str) {
        let uid = WindowUid { xid, owner };
        assert_eq!(uid.to_string(), text);
        assert_eq!(WindowUid::parse(text).unwrap(), uid);
    }

    #[test]
    fn a_process_has_an_age() {
        let age = |pid| age_of(pid).unwrap();
        assert!(age(std::process::id()) < Duration::from_secs(3600));
        assert!(age(1) >= age(std::process::id()));
        assert_eq!(age_of(u32::MAX), None);
    }

    #[test]
    fn the_state_of_a_process_stands_behind_any_name() {
        for (stat, expected) in
            [("12 (bash) T 7", Some('T')), ("12 (a) S 9 (b) R 8", Some('R')), ("12 (cut", None)]
        {
            assert_eq!(state_in(stat), expected, "{stat}");
        }
        assert!(!is_stopped(std::process::id()));
    }

    #[test]
    fn uids_are_read_back() {
        check(0x1a0_0003, None, "x11:1a00003");
        check(0x1a0_0003, Some(0x5f_02c9), "x11:1a00003-5f02c9");
        check(7, Some(9), "x11:7-000009");
    }

    #[test]
    fn what_is_no_uid_is_a_window_that_is_gone() {
        for wrong in
            ["", "x11:", "x11:zz", "mock:1", "1a00003", "x11:100000000", "x11:7-", "x11:7-zz", "x11:-7"]
        {
            assert_eq!(WindowUid::parse(wrong).unwrap_err().kind, Kind::WindowGone, "{wrong}");
        }
    }

    #[test]
    fn the_next_process_of_an_id_is_another_owner() {
        assert_eq!(owner_tag(41, 7000), owner_tag(41, 7000));
        assert_ne!(owner_tag(41, 7000), owner_tag(42, 7000));
        assert_ne!(owner_tag(41, 7000), owner_tag(41, 7001));
        assert!(owner_tag(u32::MAX, u64::MAX) < 1 << TAG_BITS);
    }

    #[test]
    fn the_start_is_found_behind_any_name() {
        let rest = "S 1 1 1 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 8213 170000 90";
        assert_eq!(start_time(&format!("41 (cat) {rest}")), Some(8213));
        assert_eq!(start_time(&format!("41 (a) S 1 (b) {rest}")), Some(8213));
        assert_eq!(start_time("41 (cat) S 1"), None);
    }

    #[test]
    fn this_process_has_a_tag_and_one_that_is_gone_has_none() {
        assert!(WindowUid::new(7, Some(std::process::id())).owner.is_some());
        assert_eq!(WindowUid::new(7, Some(u32::MAX)).to_string(), "x11:7");
        assert_eq!(WindowUid::new(7, None).to_string(), "x11:7");
    }
}
