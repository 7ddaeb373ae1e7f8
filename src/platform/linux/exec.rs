//! Running one command to its end, and then everything that it started.
//!
//! The shell runs below a keeper, which is this binary started once more: it adopts every process below it that loses
//! its parents, also one that left the process group, and ends them all when the shell has ended or its input ends.
//! The latter happens when the time is over, when the call is cancelled, and when the server itself is killed.

use std::io::{BufRead, Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::launch::command as shell;
use super::sandbox::family;
use crate::clock::Cancel;
use crate::error::{Error, Result};
use crate::model::program::{Ended, Launch, Printed, Run};

/// This very program, even if its file was replaced since it started.
const OURSELVES: &str = "/proc/self/exe";

/// How long the keeper may take to end everything; it is then ended itself.
const END: Duration = Duration::from_secs(6);
const PAUSE: Duration = Duration::from_millis(10);
/// What a shell answers that was ended by a signal, above its number.
const BY_SIGNAL: i32 = 128;
/// What a shell answers to a program that is not there.
const NOT_FOUND: i32 = 127;

/// What of our environment a command sees: no setting, key or token of ours is among it.
const PASSED_ON: &[&str] = &[
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "TZ",
    "TMPDIR",
    "DISPLAY",
    "XAUTHORITY",
    "WAYLAND_DISPLAY",
    "DBUS_SESSION_BUS_ADDRESS",
    "XDG_RUNTIME_DIR",
    "XDG_SESSION_TYPE",
    "XDG_CONFIG_HOME",
    "XDG_CACHE_HOME",
    "XDG_DATA_HOME",
    "XDG_STATE_HOME",
    "XDG_DATA_DIRS",
    "LD_LIBRARY_PATH",
];

pub fn run(run: &Run, cancel: &Cancel) -> Result<Ended> {
    cancel.check()?;
    let began = Instant::now();
    let mut keeper = start_keeper(run).map_err(|problem| Error::internal(format!("no keeper: {problem}")))?;
    let stdout = drain(keeper.stdout.take(), run.max_output_bytes);
    let stderr = drain(keeper.stderr.take(), run.max_output_bytes);
    let mut leash = keeper.stdin.take();
    let told = leash.as_mut().map(|leash| tell(leash, &run.launch));
    let outcome = match told {
        Some(Ok(())) => wait(&mut keeper, run.timeout, cancel),
        _ => Err(Error::internal("the keeper of the command does not listen")),
    };
    drop(leash);
    let status = end(&mut keeper);
    // The keeper ended everything that could hold the other ends, so both come to their end.
    let (stdout, stderr) = (printed(stdout), printed(stderr));
    let timed_out = outcome?;
    let exit_code = status.filter(|_| !timed_out);
    Ok(Ended { exit_code, timed_out, took: began.elapsed(), stdout, stderr })
}

/// In a process group of its own: a person who presses Ctrl-C means the server, which ends the keeper.
fn start_keeper(run: &Run) -> std::io::Result<Child> {
    let mut command = Command::new(OURSELVES);
    command.arg("exec-keeper").process_group(0).env_clear();
    command.envs(std::env::vars_os().filter(|(name, _)| is_passed_on(&name.to_string_lossy())));
    if let Some(cwd) = &run.launch.cwd {
        command.current_dir(cwd);
    }
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()
}

fn is_passed_on(name: &str) -> bool {
    PASSED_ON.contains(&name) || name.starts_with("LC_")
}

fn tell(leash: &mut ChildStdin, launch: &Launch) -> std::io::Result<()> {
    leash.write_all((serde_json::to_string(launch)? + "\n").as_bytes())
}

/// Whether the time was over before the command was.
fn wait(keeper: &mut Child, timeout: Duration, cancel: &Cancel) -> Result<bool> {
    let began = Instant::now();
    loop {
        match keeper.try_wait() {
            Ok(Some(_)) => return Ok(false),
            Ok(None) => {}
            Err(problem) => return Err(Error::internal(format!("the command was lost: {problem}"))),
        }
        if began.elapsed() >= timeout {
            return Ok(true);
        }
        cancel.check()?;
        std::thread::sleep(PAUSE);
    }
}

/// What the keeper says of the command once everything has ended.
fn end(keeper: &mut Child) -> Option<i32> {
    let until = Instant::now() + END;
    while Instant::now() < until && matches!(keeper.try_wait(), Ok(None)) {
        std::thread::sleep(PAUSE);
    }
    // Both fail only when it has ended already.
    let _ = keeper.kill();
    keeper.wait().ok().and_then(|status| status.code())
}

type Drained = Option<JoinHandle<Printed>>;

/// Reads to the end, so that nobody who prints is held up, and keeps the beginning.
fn drain(output: Option<impl Read + Send + 'static>, most: usize) -> Drained {
    output.map(|mut output| {
        std::thread::spawn(move || {
            let mut kept = Printed::default();
            let mut buffer = [0; 16 << 10];
            while let Ok(count) = output.read(&mut buffer) {
                if count == 0 {
                    break;
                }
                let room = most.saturating_sub(kept.bytes.len());
                kept.bytes.extend_from_slice(&buffer[..count.min(room)]);
                kept.truncated |= count > room;
            }
            kept
        })
    })
}

fn printed(drained: Drained) -> Printed {
    drained.and_then(|thread| thread.join().ok()).unwrap_or_default()
}

/// Serves as the keeper: runs the command that its input names, and ends with what it answered.
pub fn keep() -> Result<i32, String> {
    family::adopt_orphans()?;
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line).map_err(|problem| problem.to_string())?;
    let launch: Launch =
        serde_json::from_str(&line).map_err(|problem| format!("this is started by the server: {problem}"))?;
    let mut command = shell(&Launch { cwd: None, ..launch });
    // A command has the keeper's own output; it must not get its input, which is the server's.
    let started = command.stdout(Stdio::inherit()).stderr(Stdio::inherit()).spawn();
    watch_input();
    let code = match started.and_then(|mut child| child.wait()) {
        Ok(status) => status.code().or(status.signal().map(|signal| BY_SIGNAL + signal)).unwrap_or(NOT_FOUND),
        Err(_) => NOT_FOUND,
    };
    family::end_all();
    Ok(code)
}

fn watch_input() {
    std::thread::spawn(|| {
        let mut rest = [0; 64];
        while !matches!(std::io::stdin().read(&mut rest), Ok(0) | Err(_)) {}
        family::end_all();
        std::process::exit(BY_SIGNAL);
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_ours_is_passed_on() {
        for name in ["PATH", "HOME", "LC_ALL", "DISPLAY"] {
            assert!(is_passed_on(name), "{name}");
        }
        for name in
            ["OSO_TOKEN", "OSO_SECRET_BANK", "OSO_EXEC__SECRET", "AWS_SECRET_ACCESS_KEY", "SSH_AUTH_SOCK"]
        {
            assert!(!is_passed_on(name), "{name}");
        }
    }

    #[test]
    fn all_is_read_and_the_beginning_kept() {
        let check = |length: usize, most: usize| {
            let kept = printed(drain(Some(std::io::Cursor::new(vec![7; length])), most));
            assert_eq!((kept.bytes.len(), kept.truncated), (length.min(most), length > most));
        };
        for (length, most) in [(0, 10), (10, 10), (11, 10), (100_000, 20_000), (5, 0)] {
            check(length, most);
        }
    }
}
