//! The processes below this one: who they are, and how they are all ended.
//!
//! This process adopts orphans, so a program that detached itself is still found. A process is asked to end
//! first, because an X server removes its lock and its socket only then; what does not obey is killed.

use std::collections::BTreeMap;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::Duration;

use rustix::process::{Pid, Signal, WaitOptions, getpid, kill_process, set_child_subreaper, wait};

use crate::clock::{Deadline, sleep_really};

/// How long they may take to end by themselves.
const GRACE: Duration = Duration::from_millis(1500);

/// How long killed ones may take to vanish; only a process that hangs in the kernel takes long.
const MORE_GRACE: Duration = Duration::from_millis(2500);

const PAUSE: Duration = Duration::from_millis(5);

/// From now on, processes below this one that lose their parent become its children.
pub fn adopt_orphans() -> Result<(), String> {
    set_child_subreaper(Some(getpid()))
        .map_err(|problem| format!("cannot adopt orphaned processes: {problem}"))
}

/// Ends every process below this one.
pub fn end_all() {
    signal_until_gone(getpid(), Signal::TERM, GRACE, false);
    signal_until_gone(getpid(), Signal::KILL, MORE_GRACE, true);
}

/// Kills every process below another one, which has to adopt orphans.
pub fn kill_below(ancestor: Pid) {
    signal_until_gone(ancestor, Signal::KILL, MORE_GRACE, true);
}

/// Those that start others while they are ended are met again by the next look.
fn signal_until_gone(ancestor: Pid, signal: Signal, at_most: Duration, again: bool) {
    let deadline = Deadline::after(at_most);
    let mut first = true;
    loop {
        if ancestor == getpid() {
            reap_children();
        }
        let alive = descendants(ancestor);
        if alive.is_empty() || deadline.is_over() {
            return;
        }
        if first || again {
            // One that has ended meanwhile needs no signal.
            alive.into_iter().for_each(|pid| _ = kill_process(pid, signal));
        }
        first = false;
        sleep_really(PAUSE);
    }
}

/// Takes notice of children that have ended, so that they leave the table of processes.
pub fn reap_children() -> Vec<(Pid, ExitStatus)> {
    let mut ended = Vec::new();
    while let Ok(Some((pid, status))) = wait(WaitOptions::NOHANG) {
        ended.push((pid, ExitStatus::from_raw(status.as_raw())));
    }
    ended
}

pub fn descendants(ancestor: Pid) -> Vec<Pid> {
    let parents = living_processes();
    descendants_of(ancestor.as_raw_nonzero().get(), &parents).into_iter().filter_map(Pid::from_raw).collect()
}

/// The processes below `ancestor`, given each one's parent.
fn descendants_of(ancestor: i32, parents: &BTreeMap<i32, i32>) -> Vec<i32> {
    let mut found = vec![ancestor];
    let mut next = 0;
    while let Some(parent) = found.get(next).copied() {
        found.extend(
            parents.iter().filter(|(pid, of)| **of == parent && **pid != parent).map(|(pid, _)| *pid),
        );
        next += 1;
    }
    found.split_off(1)
}

/// Each living process and its parent; those that have ended and wait to be noticed are left out.
fn living_processes() -> BTreeMap<i32, i32> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return BTreeMap::new() };
    entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok())
        .filter_map(|pid| {
            Some((pid, living_parent(&std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)?))
        })
        .collect()
}

/// `12 (a name) S 7 …`: the name may hold anything, so what counts comes after its last bracket.
fn living_parent(stat: &str) -> Option<i32> {
    let mut fields = stat.rsplit_once(") ")?.1.split(' ');
    let state = fields.next()?;
    let parent = fields.next()?.parse().ok()?;
    (!matches!(state, "Z" | "X")).then_some(parent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parents_are_read_whatever_the_name() {
        let check = |stat: &str, expected: Option<i32>| assert_eq!(living_parent(stat), expected, "{stat}");
        check("12 (bash) S 7 12 12 0", Some(7));
        check("12 (a) S 9 (b) R 8 1", Some(8));
        check("12 (gone) Z 7 12", None);
        check("12 (cut", None);
        check("", None);
    }

    #[test]
    fn a_family_is_everybody_below_and_nobody_else() {
        let parents = [(2, 1), (3, 2), (4, 3), (5, 1), (6, 5), (7, 7)].into();
        assert_eq!(descendants_of(2, &parents), [3, 4]);
        assert_eq!(descendants_of(1, &parents), [2, 5, 3, 6, 4]);
        assert_eq!(descendants_of(4, &parents), [0_i32; 0]);
        assert_eq!(descendants_of(7, &parents), [0_i32; 0]);
    }

    #[test]
    fn this_process_is_found_alive() {
        let us = getpid().as_raw_nonzero().get();
        assert!(living_processes().contains_key(&us));
    }
}
