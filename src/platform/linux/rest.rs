//! Whether an application has come to rest after an input: it has read what it was sent, has done what it does about it,
//! and sleeps, and so does the window manager. What it tells of the input has then been told, but for what it does after
//! a pause of its own.

use std::time::Duration;

use super::desktop::{get_property, property_numbers};
use super::settle::answers_ping;
use super::window_uid::pid_by_server;
use super::x11::{X11Error, X11Server};
use crate::clock::{Deadline, sleep_really};

/// How an application is after an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RestState {
    Quiet,
    /// All of its processes sleep. They hand things to each other, some after a pause: browsers.
    InParts,
    /// It goes on for as long as was waited, or cannot be watched.
    Busy,
    /// Nobody wants to wait for it any more.
    Left,
}

/// How long a rest is waited for, and until when.
pub struct RestWait<'a> {
    pub at_most: Duration,
    /// Whether something came that is worth a look before that.
    pub is_over: &'a dyn Fn() -> bool,
}

/// So many looks in a row, this far apart, at processes that sleep.
const LOOKS: u32 = 3;
const BETWEEN_LOOKS: Duration = Duration::from_millis(4);
/// Of more processes it is not said that they rest.
const MOST_PROCESSES: usize = 64;
/// Works in other threads than its first, which are too many to watch.
const UNWATCHED: &[&str] = &["java"];

/// Waits until the application of a window rests.
pub fn await_rest(
    server: &X11Server,
    xid: u32,
    pid: u32,
    wait: &RestWait<'_>,
) -> Result<RestState, X11Error> {
    if !answers_ping(server, xid, wait.at_most, wait.is_over)? {
        return Ok(if (wait.is_over)() { RestState::Left } else { RestState::Busy });
    }
    let own = family_of(pid);
    let is_watched = |pid: &u32| status_of(*pid).is_none_or(|status| !UNWATCHED.contains(&&*status.name));
    if own.len() > MOST_PROCESSES || !own.iter().all(is_watched) {
        return Ok(RestState::Busy);
    }
    let all: Vec<u32> = own.iter().copied().chain(window_manager(server)?).collect();
    let rest = if own.len() == 1 { RestState::Quiet } else { RestState::InParts };
    await_sleep(server, &all, rest, wait)
}

/// A process may also sleep because it waits for an answer of the X server, so that one is made to come round to everyone
/// before each look; then that process wakes.
fn await_sleep(
    server: &X11Server,
    pids: &[u32],
    rest: RestState,
    wait: &RestWait<'_>,
) -> Result<RestState, X11Error> {
    let deadline = Deadline::after(wait.at_most);
    let (mut looks, mut before) = (0, None);
    while looks < LOOKS {
        if (wait.is_over)() {
            return Ok(RestState::Left);
        }
        if deadline.is_over() {
            return Ok(RestState::Busy);
        }
        sleep_really(BETWEEN_LOOKS);
        server.sync_server()?;
        let now: Option<Vec<u64>> = pids.iter().map(|pid| asleep_since(*pid)).collect();
        looks = if now.is_some() && now == before { looks + 1 } else { 0 };
        before = now;
    }
    Ok(rest)
}

/// The process that moves windows, which has to show one before anybody sees it.
fn window_manager(server: &X11Server) -> Result<Option<u32>, X11Error> {
    let named = get_property(server, server.root, server.atoms._NET_SUPPORTING_WM_CHECK, 1)?.reply()?;
    let Some(window) = property_numbers(named).first().copied() else { return Ok(None) };
    match pid_by_server(server, window) {
        Err(trouble) if trouble.is_gone() => Ok(None),
        result => result,
    }
}

/// The process and those that it started, but for what they run in terminals: those are programs of their own.
fn family_of(pid: u32) -> Vec<u32> {
    let session = session_of(pid);
    let mut found = vec![pid];
    let mut next = 0;
    while let Some(parent) = found.get(next).copied().filter(|_| found.len() <= MOST_PROCESSES) {
        let children = children_of(parent).into_iter().filter(|child| session_of(*child) == session);
        found.extend(children);
        next += 1;
    }
    found
}

fn children_of(pid: u32) -> Vec<u32> {
    let Ok(threads) = std::fs::read_dir(format!("/proc/{pid}/task")) else { return Vec::new() };
    let lists =
        threads.flatten().filter_map(|thread| std::fs::read_to_string(thread.path().join("children")).ok());
    lists
        .flat_map(|list| list.split_whitespace().filter_map(|pid| pid.parse().ok()).collect::<Vec<u32>>())
        .collect()
}

fn session_of(pid: u32) -> Option<u32> {
    session_in(&std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

/// `12 (a name) S 7 12 12 …`: state, parent, group, session. The name may hold anything.
fn session_in(stat: &str) -> Option<u32> {
    stat.rsplit_once(") ")?.1.split(' ').nth(3)?.parse().ok()
}

struct ProcessStatus {
    name: String,
    sleeps: bool,
    switches: u64,
}

fn status_of(pid: u32) -> Option<ProcessStatus> {
    read_status(&std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?)
}

fn read_status(status: &str) -> Option<ProcessStatus> {
    let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
    Some(ProcessStatus {
        name: field("Name:")?.to_owned(),
        sleeps: field("State:")?.starts_with('S'),
        switches: field("voluntary_ctxt_switches:")?.parse().ok()?,
    })
}

/// How often a process went to sleep, if it sleeps. One that has ended does nothing more.
fn asleep_since(pid: u32) -> Option<u64> {
    match status_of(pid) {
        Some(status) => status.sleeps.then_some(status.switches),
        None => Some(u64::MAX),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_says_whether_it_sleeps() {
        let status = |state: &str| {
            let text = format!(
                "Name:\tState: S\nState:\t{state}\nvoluntary_ctxt_switches:\t42\nnonvoluntary_ctxt_switches:\t7\n"
            );
            read_status(&text).map(|status| (status.name, status.sleeps, status.switches))
        };
        assert_eq!(status("S (sleeping)"), Some(("State: S".to_owned(), true, 42)));
        assert_eq!(status("R (running)"), Some(("State: S".to_owned(), false, 42)));
        assert!(read_status("").is_none());
    }

    #[test]
    fn the_session_is_found_behind_any_name() {
        let check = |stat: &str, expected: Option<u32>| assert_eq!(session_in(stat), expected, "{stat}");
        check("12 (bash) S 7 12 13 0", Some(13));
        check("12 (a) S 9 (b) R 8 1 5", Some(5));
        check("12 (cut", None);
    }

    #[test]
    fn a_family_has_its_children_and_no_other_session() {
        let mut child = crate::spawn::command("sleep").arg("60").spawn().unwrap();
        let own = family_of(std::process::id());
        let has = own.contains(&child.id());
        let is_first = own.first() == Some(&std::process::id());
        let deadline = Deadline::after(Duration::from_secs(20));
        while asleep_since(child.id()).is_none() {
            assert!(!deadline.is_over(), "it does not sleep");
            sleep_really(BETWEEN_LOOKS);
        }
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(has && is_first, "{own:?}");
        assert_eq!(asleep_since(child.id()), Some(u64::MAX), "it has ended");
    }
}
