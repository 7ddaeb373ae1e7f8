//! Running one command to its end, and then everything that it started.
//!
//! The shell runs below a keeper, which is this binary started once more: it adopts every process below it that loses
//! its parents, also one that left the process group, and ends them all when the shell has ended or its input ends.
//! The latter happens when the time is over, when the call is cancelled, and when the server itself is killed.

use std::io::{BufRead, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use super::launch::{CommandWall, command as shell};
use super::sandbox::isolation::OURSELVES_INSIDE;
use super::sandbox::process_tree;
use crate::clock::{Cancel, Deadline, sleep_really};
use crate::error::{Error, Result};
use crate::machine::sandbox::BUBBLEWRAP;
use crate::model::app::{Ended, Launch, Printed, Run};
use crate::spawn;

/// This very program, even if its file was replaced since it started.
const OURSELVES: &str = "/proc/self/exe";

/// How long the keeper may take to end everything; the server then does it.
const END: Duration = Duration::from_secs(6);
/// How long what is printed is still read after the end; only a process that got away goes on printing.
const LAST_WORDS: Duration = Duration::from_secs(1);
const PAUSE: Duration = Duration::from_millis(10);
/// What a shell answers that was ended by a signal, above its number.
const BY_SIGNAL: i32 = 128;
/// What a shell answers to a program that is not there.
const NOT_FOUND: i32 = 127;

pub fn run(run: &Run, cancel: &Cancel) -> Result<Ended> {
    run_within(run, None, cancel)
}

/// The same, isolated like the programs of a private desktop.
pub fn run_within(run: &Run, wall: Option<CommandWall>, cancel: &Cancel) -> Result<Ended> {
    cancel.check()?;
    let deadline = Deadline::after(run.timeout);
    let mut keeper = start_keeper(run, wall).map_err(|problem| {
        Error::internal(format!("cannot start the command's keeper process: {problem}"))
    })?;
    let stdout = drain_output(keeper.stdout.take(), run.max_output_bytes);
    let stderr = drain_output(keeper.stderr.take(), run.max_output_bytes);
    let mut leash = keeper.stdin.take();
    let told = leash.as_mut().map(|leash| send_launch(leash, &run.launch));
    let outcome = match told {
        Some(Ok(())) => wait(&mut keeper, Deadline::after(run.timeout), cancel),
        _ => Err(Error::internal("the keeper of the command does not listen")),
    };
    drop(leash);
    let status = end_command(&mut keeper);
    let (stdout, stderr) = (collect_printed(stdout), collect_printed(stderr));
    let timed_out = outcome?;
    let exit_code = status.filter(|_| !timed_out);
    Ok(Ended { exit_code, timed_out, took: deadline.elapsed(), stdout, stderr })
}

/// In a process group of its own: a person who presses Ctrl-C means the server, which ends the keeper.
fn start_keeper(run: &Run, wall: Option<CommandWall>) -> std::io::Result<Child> {
    let mut command = match &wall {
        Some(wall) => keeper_within(run, wall),
        None => keeper_here(run),
    };
    command.process_group(0);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()
}

fn keeper_here(run: &Run) -> Command {
    let mut command = spawn::command(OURSELVES);
    command.arg("exec-keeper");
    if let Some(cwd) = &run.launch.cwd {
        command.current_dir(cwd);
    }
    command
}

/// A folder that is not visible inside is refused by bubblewrap, which says so.
fn keeper_within(run: &Run, wall: &CommandWall) -> Command {
    let mut command = spawn::command(BUBBLEWRAP);
    command.args(&wall.arguments);
    if let Some(cwd) = &run.launch.cwd {
        command.arg("--chdir").arg(cwd);
    }
    command.args(["--", OURSELVES_INSIDE, "exec-keeper"]).env_clear().envs(&wall.environment);
    command
}

fn send_launch(leash: &mut ChildStdin, launch: &Launch) -> std::io::Result<()> {
    leash.write_all((serde_json::to_string(launch)? + "\n").as_bytes())
}

/// Whether the time was over before the command was.
fn wait(keeper: &mut Child, deadline: Deadline, cancel: &Cancel) -> Result<bool> {
    while !has_ended(keeper) {
        if deadline.is_over() {
            return Ok(true);
        }
        cancel.check()?;
        sleep_really(PAUSE);
    }
    Ok(false)
}

/// Without taking notice of it: as long as nobody does, the number of the process stays its own.
fn has_ended(keeper: &Child) -> bool {
    let how = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    !matches!(waitid(WaitId::Pid(Pid::from_child(keeper)), how), Ok(None))
}

/// What the keeper says of the command once everything has ended.
fn end_command(keeper: &mut Child) -> Option<i32> {
    let deadline = Deadline::after(END);
    while !has_ended(keeper) && !deadline.is_over() {
        sleep_really(PAUSE);
    }
    if !has_ended(keeper) {
        // It is late, or was stopped. While it lives, all that the command started can be found below it.
        process_tree::kill_below(Pid::from_child(keeper));
        // Fails only when it has ended already.
        let _ = keeper.kill();
    }
    // A keeper that somebody killed has left its family behind, in its group unless they made one of their own. Where
    // there is none left, this fails.
    let _ = kill_process_group(Pid::from_child(keeper), Signal::KILL);
    keeper.wait().ok().and_then(|status| status.code())
}

/// A thread that reads what is printed, and how it is told that nothing more is wanted.
struct Drain {
    thread: JoinHandle<Printed>,
    ended: Arc<AtomicBool>,
}

/// Reads on until the end, so that nobody who prints is held up, and keeps the beginning.
fn drain_output(output: Option<impl Read + AsFd + Send + 'static>, most: usize) -> Option<Drain> {
    let ended = Arc::new(AtomicBool::new(false));
    let told = ended.clone();
    let thread = output.map(|output| std::thread::spawn(move || read_on(output, most, &told)))?;
    Some(Drain { thread, ended })
}

/// Usually the other ends are closed by the end of all who held them. One who got away from everybody may hold them for
/// ever, and then this side lets go.
fn read_on(mut output: impl Read + AsFd, most: usize, ended: &AtomicBool) -> Printed {
    let mut kept = Printed::default();
    let mut buffer = [0; 16 << 10];
    let mut deadline = Deadline::after(LAST_WORDS);
    loop {
        if !ended.load(Ordering::SeqCst) {
            deadline = Deadline::after(LAST_WORDS);
        } else if deadline.is_over() {
            kept.truncated = true;
            return kept;
        }
        if !has_more(&output) {
            continue;
        }
        match output.read(&mut buffer) {
            Ok(0) | Err(_) => return kept,
            Ok(count) => keep_beginning(&mut kept, &buffer[..count], most),
        }
    }
}

/// Whether reading would not wait; looks for a moment.
fn has_more(output: &impl AsFd) -> bool {
    let moment = Timespec { tv_sec: 0, tv_nsec: 20_000_000 };
    !matches!(poll(&mut [PollFd::new(output, PollFlags::IN)], Some(&moment)), Ok(0))
}

fn keep_beginning(kept: &mut Printed, more: &[u8], most: usize) {
    let room = most.saturating_sub(kept.bytes.len());
    kept.bytes.extend_from_slice(&more[..more.len().min(room)]);
    kept.truncated |= more.len() > room;
}

fn collect_printed(drain: Option<Drain>) -> Printed {
    drain
        .and_then(|drain| {
            drain.ended.store(true, Ordering::SeqCst);
            drain.thread.join().ok()
        })
        .unwrap_or_default()
}

/// Serves as the keeper: runs the command that its input names, and ends with what it answered.
pub fn run_keeper() -> Result<i32, String> {
    process_tree::adopt_orphans()?;
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line).map_err(|problem| problem.to_string())?;
    let launch: Launch =
        serde_json::from_str(&line).map_err(|problem| format!("only the server starts this: {problem}"))?;
    let mut command = shell(&Launch { cwd: None, ..launch });
    // A command has the keeper's own output; it must not get its input, which is the server's.
    let started = command.stdout(Stdio::inherit()).stderr(Stdio::inherit()).spawn();
    watch_input();
    let code = match started.and_then(|mut child| child.wait()) {
        Ok(status) => status.code().or(status.signal().map(|signal| BY_SIGNAL + signal)).unwrap_or(NOT_FOUND),
        Err(_) => NOT_FOUND,
    };
    process_tree::end_all();
    Ok(code)
}

fn watch_input() {
    std::thread::spawn(|| {
        let mut rest = [0; 64];
        while !matches!(std::io::stdin().read(&mut rest), Ok(0) | Err(_)) {}
        process_tree::end_all();
        std::process::exit(BY_SIGNAL);
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    /// H-78 on code: a process that got away and holds the pipe does not hold the call.
    #[test]
    fn who_goes_on_holding_the_pipe_is_left_alone() {
        let (read, mut write) = std::io::pipe().unwrap();
        let drain = drain_output(Some(read), 100);
        write.write_all(b"first").unwrap();
        let kept = collect_printed(drain);
        assert_eq!((&*kept.bytes, kept.truncated), (&b"first"[..], true));
        assert!(write.write_all(b"later").is_err(), "nobody reads any more");
    }

    /// H-78 on code: a keeper that hangs is ended after everything below it.
    #[test]
    fn a_keeper_that_hangs_is_ended_with_its_family() {
        let mut keeper = spawn::command("sh");
        keeper.args(["-c", "sleep 300 & echo $!; exec sleep 300"]).process_group(0).stdout(Stdio::piped());
        let mut keeper = keeper.spawn().unwrap();
        let mut line = String::new();
        std::io::BufReader::new(keeper.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(end_command(&mut keeper), None);
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", line.trim())).unwrap_or_default();
        assert!(stat.is_empty() || stat.contains(") Z "), "the child lives: {stat}");
    }

    #[test]
    fn all_is_read_and_the_beginning_kept() {
        let check = |length: usize, most: usize| {
            let (read, mut write) = std::io::pipe().unwrap();
            let drain = drain_output(Some(read), most);
            write.write_all(&vec![7; length]).unwrap();
            drop(write);
            let kept = collect_printed(drain);
            assert_eq!((kept.bytes.len(), kept.truncated), (length.min(most), length > most));
        };
        for (length, most) in [(0, 10), (10, 10), (11, 10), (100_000, 20_000), (5, 0)] {
            check(length, most);
        }
    }
}
