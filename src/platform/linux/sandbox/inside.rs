//! Programs inside the isolation: one process there starts them all, so that they see each other and nobody else. It is
//! this binary started once more by bubblewrap; orders come on its input, answers go to its output, and what its
//! programs print goes to its log.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::os::fd::AsFd;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde::{Deserialize, Serialize};

use super::groups::accept_set_groups;
use super::isolation::{Isolation, OURSELVES_INSIDE};
use super::output_tail::OutputTail;
use super::{Answers, desktop, first_line, is_stopped, next_line_while, process_tree, send};
use crate::clock::{lock, sleep_really};
use crate::config::process_variable;
use crate::machine::sandbox::BUBBLEWRAP;
use crate::spawn;

/// How long an order may take.
const ORDER: Duration = Duration::from_secs(25);
/// How long a program that says when it is ready may take to say so.
const READY: Duration = Duration::from_secs(20);
/// How often ended children are taken notice of.
const REAP: Duration = Duration::from_millis(500);

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Order {
    Start(StartOrder),
    /// Whether a program that was started has ended.
    Look {
        pid: u32,
    },
}

#[derive(Debug, Default, Serialize, Deserialize)]
pub struct StartOrder {
    pub words: Vec<String>,
    pub cwd: Option<PathBuf>,
    pub environment: BTreeMap<String, String>,
    /// It prints a line when it is ready, which is waited for.
    pub says_ready: bool,
    /// What it prints is kept in the log; else only the end of its error output, for whoever asks how it ended.
    pub logged: bool,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Answer {
    Started { pid: u32, line: Option<String> },
    Alive,
    Ended { status: i32, last_words: String },
    Failed { reason: String },
}

/// The way to the process inside.
#[derive(Debug)]
pub struct Inside {
    wall: Child,
    line: Mutex<Option<(ChildStdin, Answers)>>,
    strict: bool,
    /// How bubblewrap is told the same isolation once more.
    pub arguments: Vec<String>,
}

impl Inside {
    /// `log` gets what the programs print.
    pub fn start(isolation: &Isolation, folder: &Path, display: &Path, log: File) -> Result<Self, String> {
        let ourselves = std::env::current_exe().map_err(|problem| problem.to_string())?;
        if !ourselves.exists() {
            return Err(format!(
                "{} was replaced since the server started; start it again",
                ourselves.display()
            ));
        }
        let arguments = isolation.arguments(folder, display, &ourselves);
        let mut command = spawn::command(BUBBLEWRAP);
        command.args(&arguments).args(["--", OURSELVES_INSIDE, "sandbox-inside"]);
        // Programs inside can read the environment of the process that starts them.
        command.env_clear().envs(process_variable("PATH").map(|path| ("PATH", path)));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(log);
        desktop::end_with_us(&mut command, Signal::KILL);
        let mut wall =
            command.spawn().map_err(|problem| format!("{BUBBLEWRAP} cannot be started: {problem}"))?;
        let (input, output) = (wall.stdin.take(), wall.stdout.take());
        let (Some(input), Some(output)) = (input, output) else {
            return Err(format!("{BUBBLEWRAP} has no input or output"));
        };
        let line = Mutex::new(Some((input, BufReader::new(output))));
        Ok(Self { wall, line, strict: isolation.strict, arguments })
    }

    /// Starts a program; returns its process id as everybody outside knows it, and the line that it said.
    pub fn start_program(&self, order: StartOrder) -> Result<(InsidePid, Option<String>), String> {
        match self.ask(&Order::Start(order))? {
            Answer::Started { pid, line } => Ok((InsidePid { inner: pid }, line)),
            Answer::Failed { reason } => Err(reason),
            _ => Err("the isolated process sent an invalid answer".to_owned()),
        }
    }

    /// How a program ended that was started inside, once it has.
    pub fn ended(&self, pid: InsidePid) -> Option<(ExitStatus, String)> {
        match self.ask(&Order::Look { pid: pid.inner }) {
            Ok(Answer::Ended { status, last_words }) => Some((ExitStatus::from_raw(status), last_words)),
            _ => None,
        }
    }

    /// The process id outside; nothing for a process that is gone.
    pub fn outer_pid(&self, pid: InsidePid) -> Option<u32> {
        if !self.strict {
            return Some(pid.inner);
        }
        let family = process_tree::descendants(Pid::from_child(&self.wall));
        let mut raw = family.into_iter().map(|pid| pid.as_raw_nonzero().get().unsigned_abs());
        raw.find(|&outer| pid_inside(outer) == Some(pid.inner))
    }

    fn ask(&self, order: &Order) -> Result<Answer, String> {
        let mut line = lock(&self.line);
        let (mut input, answers) = line.take().ok_or("the isolated process did not answer before")?;
        send(&mut input, order)?;
        let mut keep_awake = || {
            self.wake_stopped();
            true
        };
        let (answer, answers) =
            next_line_while(answers, ORDER, &mut keep_awake).ok_or("the isolated process does not answer")?;
        *line = Some((input, answers));
        serde_json::from_str(&answer).map_err(|_| format!("the isolated process sent {answer:?}"))
    }
}

impl Inside {
    /// A program inside may stop the process that starts programs there.
    fn wake_stopped(&self) {
        let ours = |pid: &Pid| {
            let command =
                std::fs::read(format!("/proc/{}/cmdline", pid.as_raw_nonzero())).unwrap_or_default();
            String::from_utf8_lossy(&command).contains("sandbox-inside")
        };
        let below = process_tree::descendants(Pid::from_child(&self.wall));
        for pid in below.into_iter().filter(ours).filter(|pid| is_stopped(*pid)) {
            let _ = kill_process(pid, Signal::CONT);
        }
    }
}

/// A process by its number inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InsidePid {
    inner: u32,
}

/// The number that a process has in the first namespace below ours.
fn pid_inside(outer: u32) -> Option<u32> {
    second_number(&std::fs::read_to_string(format!("/proc/{outer}/status")).ok()?)
}

fn second_number(status: &str) -> Option<u32> {
    let numbers = status.lines().find_map(|line| line.strip_prefix("NSpid:"))?;
    numbers.split_whitespace().nth(1)?.parse().ok()
}

/// Whether a process that says it has one number is the one that we know by another: programs in a namespace of their
/// own know no other number than theirs.
pub fn is_known_inside_as(outer: u32, inner: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{outer}/status")).unwrap_or_default();
    let numbers = status.lines().find_map(|line| line.strip_prefix("NSpid:")).unwrap_or_default();
    numbers.split_whitespace().skip(1).any(|number| number.parse() == Ok(inner))
}

// ── inside ─────────────────────────────────────────────────────────────────────────────────────────

type InsideChildren = Arc<Mutex<BTreeMap<u32, InsideChild>>>;

#[derive(Debug)]
struct InsideChild {
    child: Child,
    ended: Option<ExitStatus>,
    errors: Option<OutputTail>,
}

/// Serves as the process inside until the input ends; everything that it started ends with it.
pub fn run_inside() -> Result<(), String> {
    if rustix::process::getuid().is_root()
        && let Err(problem) = accept_set_groups()
    {
        tracing::debug!("programs that set their groups may end: {problem}");
    }
    let children = InsideChildren::default();
    reap_in_background(children.clone());
    for line in std::io::stdin().lock().lines() {
        let line = line.map_err(|problem| problem.to_string())?;
        let order = serde_json::from_str(&line)
            .map_err(|problem| format!("only the keeper starts this: {problem}"))?;
        let answer = obey(order, &children).unwrap_or_else(|reason| Answer::Failed { reason });
        let answer = serde_json::to_string(&answer).map_err(|problem| problem.to_string())? + "\n";
        let mut out = std::io::stdout().lock();
        out.write_all(answer.as_bytes()).and_then(|()| out.flush()).map_err(|problem| problem.to_string())?;
    }
    Ok(())
}

fn obey(order: Order, children: &InsideChildren) -> Result<Answer, String> {
    match order {
        Order::Start(order) => start_here(&order, children),
        Order::Look { pid } => Ok(look(&mut lock(children), pid)),
    }
}

fn look(children: &mut BTreeMap<u32, InsideChild>, pid: u32) -> Answer {
    let Some(known) = children.get_mut(&pid) else {
        return Answer::Failed { reason: format!("no program with the number {pid} was started here") };
    };
    if known.ended.is_none() {
        known.ended = known.child.try_wait().ok().flatten();
    }
    let last_words = || known.errors.as_ref().map(OutputTail::last_words).unwrap_or_default();
    known
        .ended
        .map_or(Answer::Alive, |status| Answer::Ended { status: status.into_raw(), last_words: last_words() })
}

fn start_here(order: &StartOrder, children: &InsideChildren) -> Result<Answer, String> {
    let (program, arguments) = order.words.split_first().ok_or("there is no program to start")?;
    let mut command = spawn::command(program);
    command.args(arguments).env_clear().envs(&order.environment).stdin(Stdio::null());
    if let Some(cwd) = &order.cwd {
        command.current_dir(cwd);
    }
    command.stdout(if order.says_ready { Stdio::piped() } else { log_or_nothing(order.logged)? });
    command.stderr(if order.logged { log_or_nothing(true)? } else { Stdio::piped() });
    let mut child = command.spawn().map_err(|problem| not_started(program, &problem))?;
    let line = child.stdout.take().and_then(|output| first_line(output, READY));
    let pid = child.id();
    let errors = child.stderr.take().map(OutputTail::follow);
    lock(children).insert(pid, InsideChild { child, ended: None, errors });
    Ok(Answer::Started { pid, line })
}

/// Our own output is the keeper's; what programs print goes where our errors go.
fn log_or_nothing(logged: bool) -> Result<Stdio, String> {
    if !logged {
        return Ok(Stdio::null());
    }
    let log = std::io::stderr().as_fd().try_clone_to_owned().map_err(|problem| problem.to_string())?;
    Ok(log.into())
}

fn not_started(program: &str, problem: &std::io::Error) -> String {
    let hint = match problem.kind() {
        std::io::ErrorKind::NotFound => {
            "; an isolated private desktop has the system's folders and those of sandbox.share alone"
        }
        _ => "",
    };
    format!("{program} cannot be started: {problem}{hint}")
}

fn reap_in_background(children: InsideChildren) {
    std::thread::spawn(move || {
        loop {
            sleep_really(REAP);
            let mut children = lock(&children);
            for known in children.values_mut().filter(|known| known.ended.is_none()) {
                known.ended = known.child.try_wait().ok().flatten();
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_inside_is_the_second() {
        let check =
            |status: &str, expected: Option<u32>| assert_eq!(second_number(status), expected, "{status}");
        check("Name:\tzenity\nNSpid:\t4711\t5\n", Some(5));
        check("NSpid:\t4711\t5\t1\n", Some(5));
        check("NSpid:\t4711\n", None);
        check("", None);
    }

    #[test]
    fn programs_are_started_and_their_end_is_known() {
        let children = InsideChildren::default();
        let order = |words: &[&str], says_ready| StartOrder {
            words: words.iter().map(ToString::to_string).collect(),
            environment: [("PATH".to_owned(), "/usr/bin:/bin".to_owned())].into(),
            says_ready,
            ..StartOrder::default()
        };
        let Ok(Answer::Started { pid, line }) =
            start_here(&order(&["sh", "-c", "echo here; echo not there >&2; exit 3"], true), &children)
        else {
            panic!("not started");
        };
        assert_eq!(line.as_deref(), Some("here"));
        let status = loop {
            if let Answer::Ended { status, last_words } = look(&mut lock(&children), pid) {
                assert_eq!(last_words, "not there");
                break ExitStatus::from_raw(status);
            }
        };
        assert_eq!(status.code(), Some(3));
        assert!(matches!(look(&mut lock(&children), 0), Answer::Failed { .. }));
        let missing = start_here(&order(&["/no/such/program"], false), &children).unwrap_err();
        assert!(missing.contains("sandbox.share"), "{missing}");
    }
}
