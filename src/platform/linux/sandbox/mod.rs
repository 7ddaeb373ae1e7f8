//! A private desktop: an X server without a screen, a session bus, an accessibility bus and a window manager of
//! its own, and a program in it, so that an agent works where it cannot touch the user's session.
//!
//! Its programs are isolated by bubblewrap where the plan says so (`isolation`, `inside`). Without that it is not a
//! security boundary against a hostile program, which runs as the same user and can open the same files.
//!
//! All of it lives below one process, the keeper, which is this binary started once more. Every process of the
//! desktop is a descendant of the keeper, also one that lost its parents, and the keeper ends them all when its
//! input ends: that happens when the server drops the desktop, and also when the server is killed.

mod cookie;
mod desktop;
mod groups;
mod home;
pub mod inside;
pub mod isolation;
pub mod keeper;
mod output_tail;
pub mod process_tree;

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::sync::Mutex;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde::{Deserialize, Serialize};

use super::session::DesktopSession;
use crate::clock::{Deadline, lock, sleep_really};
use crate::config::Size;
use crate::machine::{RealMachine, sandbox};
use crate::model::app::{Launch, ProgramEnd};
use crate::spawn;
use isolation::Isolation;

/// This very program, even if its file was replaced since it started.
const OURSELVES: &str = "/proc/self/exe";

/// How long the whole desktop may take to come up; each part has a shorter limit of its own.
const START: Duration = Duration::from_secs(90);

/// How often a keeper that somebody stopped is woken; and how many times before that is given up.
const LOOK_AGAIN: Duration = Duration::from_millis(200);
const MOST_STOPS: u32 = 10;

/// How long the keeper may take to start a program.
const ORDER: Duration = Duration::from_secs(10);

/// How long the keeper may take to end everything; it is then ended itself.
const END: Duration = Duration::from_secs(5);

/// What a private desktop is to be.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SandboxPlan {
    pub size: Size,
    /// A program and its arguments, started in it; empty for none.
    pub command: Vec<String>,
    /// How its programs are kept from everything else; `None`: not at all.
    pub isolation: Option<Isolation>,
}

/// What the keeper tells the server: that the desktop stands or why it does not, and what became of an order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum KeeperWord {
    Ready {
        session: DesktopSession,
        environment: BTreeMap<String, String>,
        remark: Option<String>,
        /// How bubblewrap is told the isolation; empty without one.
        wall: Vec<String>,
    },
    Failed {
        reason: String,
    },
    Started {
        pid: u32,
    },
    /// How a program ended; nothing while it runs.
    End {
        end: Option<ProgramEnd>,
    },
}

/// What the server wants of the keeper once the desktop stands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum KeeperOrder {
    Launch(Launch),
    TellEnd { pid: u32 },
}

/// A running private desktop. Dropping it ends everything that runs in it.
#[derive(Debug)]
pub struct Sandbox {
    session: DesktopSession,
    environment: BTreeMap<String, String>,
    remark: Option<String>,
    wall: Vec<String>,
    /// Folders of the person that its programs may write.
    writable: Vec<PathBuf>,
    keeper: Child,
    /// The keeper lives as long as the leash is open.
    line: Mutex<Option<KeeperMessage>>,
}

/// What is said to the keeper, and what it says.
#[derive(Debug)]
struct KeeperMessage {
    leash: ChildStdin,
    /// Lost when an answer did not come in time: the next one would be taken for it.
    answers: Option<Answers>,
}

type Answers = BufReader<ChildStdout>;

impl Sandbox {
    pub fn start(plan: &SandboxPlan) -> Result<Self, String> {
        Self::start_with(Path::new(OURSELVES), plan)
    }

    /// `program` is this project's binary; a test that is another program has to name it.
    pub fn start_with(program: &Path, plan: &SandboxPlan) -> Result<Self, String> {
        sandbox::sandbox_can_start(&RealMachine, plan.command.first().map(String::as_str))?;
        let mut keeper = start_keeper(program)?;
        let told = tell_plan(&mut keeper, plan).and_then(|leash| Ok((leash, first_word(&mut keeper)?)));
        match told {
            Ok((leash, (KeeperWord::Ready { session, environment, remark, wall }, answers))) => {
                let line = Mutex::new(Some(KeeperMessage { leash, answers: Some(answers) }));
                Ok(Self { session, environment, remark, wall, writable: Vec::new(), keeper, line })
            }
            Ok((_, (KeeperWord::Failed { reason }, _))) => Err(given_up(keeper, reason)),
            Ok((_, (KeeperWord::Started { .. } | KeeperWord::End { .. }, _))) => {
                Err(given_up(keeper, "its keeper sent an invalid answer".to_owned()))
            }
            Err(reason) => Err(given_up(keeper, reason)),
        }
    }

    /// The same, of which these folders of the person are known to be writable.
    pub fn sharing(mut self, writable: Vec<PathBuf>) -> Self {
        self.writable = writable;
        self
    }

    /// Where its programs save, and what becomes of that.
    pub fn where_files_go(&self) -> Option<String> {
        Some(home::where_files_go(self.environment.get("HOME")?, &self.writable))
    }

    /// Starts a program in it, which ends with it; returns its process id.
    pub fn launch(&self, launch: &Launch) -> Result<u32, String> {
        match self.ask_keeper(&KeeperOrder::Launch(launch.clone()))? {
            KeeperWord::Started { pid } => Ok(pid),
            KeeperWord::Failed { reason } => Err(reason),
            _ => Err("the private desktop's keeper sent an invalid answer".to_owned()),
        }
    }

    /// How a program ended that was launched; `None` while it runs, and when nobody can tell.
    pub fn program_end(&self, pid: u32) -> Option<ProgramEnd> {
        match self.ask_keeper(&KeeperOrder::TellEnd { pid }) {
            Ok(KeeperWord::End { end }) => end,
            _ => None,
        }
    }

    fn ask_keeper(&self, order: &KeeperOrder) -> Result<KeeperWord, String> {
        let mut line = lock(&self.line);
        let line = line.as_mut().ok_or("the private desktop has ended")?;
        let answers = line.answers.take().ok_or("the private desktop's keeper did not answer before")?;
        send(&mut line.leash, order)?;
        let (answer, answers) =
            next_line(answers, ORDER).ok_or("the private desktop's keeper does not answer")?;
        line.answers = Some(answers);
        read_word(&answer)
    }

    /// How to reach its display and its bus.
    pub fn session(&self) -> &DesktopSession {
        &self.session
    }

    /// The whole environment of a program in it.
    pub fn environment(&self) -> &BTreeMap<String, String> {
        &self.environment
    }

    /// How a command is run in it: what bubblewrap is told, or nothing where its programs are not isolated.
    pub fn wall(&self) -> Option<&[String]> {
        (!self.wall.is_empty()).then_some(self.wall.as_slice())
    }

    /// From now on this process means the private desktop where it would have meant the user's.
    ///
    /// Only for a process that has no other thread yet, which is why nobody but `platform::choose` calls it.
    #[allow(unsafe_code, reason = "changing the environment is safe as long as no other thread reads it")]
    pub(in crate::platform) fn enter(&self) {
        let (set, removed) = self.session.variables();
        // SAFETY: a process that serves calls this while it is still alone: before the runtime, before the
        // adapter and before any call. The thread that read the keeper's first line was joined.
        unsafe {
            set.into_iter().for_each(|(name, value)| std::env::set_var(name, value));
            removed.iter().for_each(|name| std::env::remove_var(name));
        }
    }

    /// What did not go as wished, although the desktop stands.
    pub fn remark(&self) -> Option<&str> {
        self.remark.as_deref()
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        let home = self.environment.get("HOME").map(PathBuf::from);
        if let Some(said) = home.and_then(|home| home::what_is_lost(&home)) {
            tracing::warn!("{said}");
        }
        drop(lock(&self.line).take());
        end(&mut self.keeper);
        // Gone already, unless somebody killed the keeper. It holds the key of the display.
        if let Some(folder) = self.session.xauthority.parent().filter(|folder| desktop::is_ours(folder)) {
            let _ = std::fs::remove_dir_all(folder);
        }
    }
}

/// In a process group of its own: a person who presses Ctrl-C means the server, and the keeper has work to do
/// when that is gone.
fn start_keeper(program: &Path) -> Result<Child, String> {
    let mut command = spawn::command(program);
    command.arg("sandbox-keeper").process_group(0).stdin(Stdio::piped()).stdout(Stdio::piped());
    command.spawn().map_err(|problem| format!("the private desktop's keeper cannot be started: {problem}"))
}

fn tell_plan(keeper: &mut Child, plan: &SandboxPlan) -> Result<ChildStdin, String> {
    let mut leash = keeper.stdin.take().ok_or("the private desktop's keeper has no input")?;
    send(&mut leash, plan)?;
    Ok(leash)
}

fn send(leash: &mut ChildStdin, what: &impl Serialize) -> Result<(), String> {
    let line = serde_json::to_string(what).map_err(|problem| problem.to_string())? + "\n";
    leash
        .write_all(line.as_bytes())
        .map_err(|problem| format!("the private desktop's keeper does not listen: {problem}"))
}

fn first_word(keeper: &mut Child) -> Result<(KeeperWord, Answers), String> {
    let output = keeper.stdout.take().ok_or("the private desktop's keeper has no output")?;
    let pid = Pid::from_child(keeper);
    let mut stops = 0;
    let mut keep_awake = || {
        stops += u32::from(is_stopped(pid));
        // Fails only when it has ended, which the end of its output tells.
        let _ = kill_process(pid, Signal::CONT);
        stops <= MOST_STOPS
    };
    let (line, answers) =
        next_line_while(BufReader::new(output), START, &mut keep_awake).ok_or_else(|| {
            let why = if keep_awake() {
                "ended or sent nothing"
            } else {
                "is stopped by a program again and again"
            };
            format!("the private desktop's keeper {why}")
        })?;
    Ok((read_word(&line)?, answers))
}

/// A program in the desktop runs as the same user and may stop the keeper.
fn is_stopped(pid: Pid) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).unwrap_or_default();
    // The name may hold anything, so what counts comes after its last bracket.
    stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('T'))
}

fn read_word(line: &str) -> Result<KeeperWord, String> {
    serde_json::from_str(line).map_err(|_| format!("the private desktop's keeper sent {line:?}"))
}

/// The first line of a program's output, if it comes in time. What comes later is not read.
fn first_line(output: ChildStdout, patience: Duration) -> Option<String> {
    next_line(BufReader::new(output), patience).map(|(line, _)| line)
}

/// The next line of a program's output, if it comes in time, and the output to read on from.
fn next_line(output: Answers, patience: Duration) -> Option<(String, Answers)> {
    next_line_while(output, patience, &mut || true)
}

/// The same, unless `goes_on`, which is asked now and then, says that there is no use in waiting.
fn next_line_while(
    mut output: Answers,
    patience: Duration,
    goes_on: &mut dyn FnMut() -> bool,
) -> Option<(String, Answers)> {
    let (tell, answer) = channel();
    let reader = std::thread::spawn(move || {
        let mut line = String::new();
        let read = output.read_line(&mut line);
        let _ = tell.send(read.is_ok().then(|| line.trim_end().to_owned()));
        output
    });
    // If the time is over, the thread is left behind; it ends with the program.
    let deadline = Deadline::after(patience);
    let line = loop {
        match answer.recv_timeout(LOOK_AGAIN) {
            Ok(line) => break line,
            Err(RecvTimeoutError::Timeout) if !deadline.is_over() && goes_on() => {}
            Err(_) => return None,
        }
    };
    // It has sent what it had to send and cannot fail any more.
    let output = reader.join().ok()?;
    line.filter(|line| !line.is_empty()).map(|line| (line, output))
}

fn given_up(mut keeper: Child, reason: String) -> String {
    drop(keeper.stdin.take());
    end(&mut keeper);
    reason
}

fn end(keeper: &mut Child) {
    let deadline = Deadline::after(END);
    // One that was stopped has to clean up.
    let _ = kill_process(Pid::from_child(keeper), Signal::CONT);
    while !deadline.is_over() && matches!(keeper.try_wait(), Ok(None)) {
        sleep_really(Duration::from_millis(5));
    }
    // Both fail only when it has ended already.
    let _ = keeper.kill();
    let _ = keeper.wait();
}
