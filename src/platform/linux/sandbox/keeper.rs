//! The process that holds a private desktop. It reads what is wanted from its input, starts it, says on its
//! output how to reach it, starts a program for each further line, and ends it all when its input ends.
//!
//! It must end everything whatever happens to the server, so it depends on nothing of it but that pipe.

use std::collections::BTreeMap;
use std::io::{BufRead, Write};
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use rustix::process::{Pid, Signal};

use super::desktop::{self, SandboxFolder, Standing};
use super::inside::{Inside, InsidePid, StartOrder};
use super::output_tail::OutputTail;
use super::{KeeperOrder, KeeperWord, SandboxPlan, process_tree};
use crate::clock::{Deadline, lock, sleep_really};
use crate::model::app::{Launch, ProgramEnd};
use crate::platform::linux::launch::{command, program_end};

/// How often ended children are taken notice of.
const REAP: Duration = Duration::from_millis(500);

/// How long the folder may take to go.
const REMOVE: Duration = Duration::from_secs(2);
const REMOVE_PAUSE: Duration = Duration::from_millis(10);

/// Serves as the keeper until the input ends; it does not return before.
pub fn run_keeper() -> Result<(), String> {
    process_tree::adopt_orphans()?;
    let plan = read_plan()?;
    desktop::remove_abandoned();
    let folder = SandboxFolder::new()?;
    let gate = Arc::new(SpawnGate::default());
    let standing = Arc::new(OnceLock::new());
    watch_input(gate.clone(), folder.path.clone(), standing.clone());
    match desktop::start(&plan, &folder, &gate) {
        Ok((word, desktop)) => {
            standing.get_or_init(|| desktop);
            // Where nobody listens any more, everything ends as if the input had ended.
            if send_word(&word).is_err() {
                end_desktop(&gate, &folder.path);
            }
        }
        Err(reason) => {
            let _ = send_word(&KeeperWord::Failed { reason });
            end_desktop(&gate, &folder.path);
        }
    }
    loop {
        sleep_really(REAP);
        let ended = process_tree::reap_children();
        if let Some(standing) = standing.get() {
            standing.launched.note_ended(ended);
        }
    }
}

/// The programs that were launched, by the process id that the server knows.
#[derive(Debug, Default)]
pub struct LaunchedPrograms {
    inside: Mutex<BTreeMap<u32, InsidePid>>,
    here: Mutex<BTreeMap<u32, LaunchedHere>>,
}

/// A program that is not isolated.
#[derive(Debug, Default)]
struct LaunchedHere {
    errors: Option<OutputTail>,
    ended: Option<ExitStatus>,
}

impl LaunchedPrograms {
    fn note_ended(&self, ended: Vec<(Pid, ExitStatus)>) {
        let mut here = lock(&self.here);
        for (pid, status) in ended {
            if let Some(program) = here.get_mut(&pid.as_raw_nonzero().get().unsigned_abs()) {
                program.ended = Some(status);
            }
        }
    }

    fn program_end(&self, pid: u32, inside: Option<&Inside>) -> Option<ProgramEnd> {
        if let Some(inside) = inside {
            let known = lock(&self.inside).get(&pid).copied()?;
            return inside.ended(known).map(|(status, last_words)| program_end(status, last_words));
        }
        self.note_ended(process_tree::reap_children());
        let here = lock(&self.here);
        let program = here.get(&pid)?;
        let last_words = |errors: &Option<OutputTail>| errors.as_ref().map(OutputTail::last_words);
        program.ended.map(|status| program_end(status, last_words(&program.errors).unwrap_or_default()))
    }
}

/// Shut once the desktop is being ended; nothing is started after that.
#[derive(Debug, Default)]
pub struct SpawnGate {
    shut: Mutex<bool>,
}

impl SpawnGate {
    /// Starts something, unless everything is being ended.
    pub fn pass<T>(&self, start: impl FnOnce() -> std::io::Result<T>) -> Result<T, String> {
        let shut = lock(&self.shut);
        if *shut {
            return Err("the private desktop is being ended".to_owned());
        }
        start().map_err(|problem| problem.to_string())
    }

    fn shut_gate(&self) {
        *lock(&self.shut) = true;
    }
}

fn read_plan() -> Result<SandboxPlan, String> {
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line).map_err(|problem| problem.to_string())?;
    serde_json::from_str(&line).map_err(|problem| format!("only the server starts this: {problem}"))
}

/// Each line is an order. Orders come one after the other, and only once the desktop stands.
fn watch_input(gate: Arc<SpawnGate>, folder: PathBuf, standing: Arc<OnceLock<Standing>>) {
    std::thread::spawn(move || {
        let mut line = String::new();
        while !matches!(std::io::stdin().lock().read_line(&mut line), Ok(0) | Err(_)) {
            let standing = standing.get().ok_or_else(|| "the desktop does not stand yet".to_owned());
            let started = standing.and_then(|desktop| obey(&line, &gate, desktop));
            // If nobody listens any more, the input is about to end.
            let _ = send_word(&started.unwrap_or_else(|reason| KeeperWord::Failed { reason }));
            line.clear();
        }
        end_desktop(&gate, &folder);
    });
}

fn obey(order: &str, gate: &SpawnGate, desktop: &Standing) -> Result<KeeperWord, String> {
    match serde_json::from_str(order).map_err(|problem| problem.to_string())? {
        KeeperOrder::Launch(launch) => start(launch, gate, desktop),
        KeeperOrder::TellEnd { pid } => {
            Ok(KeeperWord::End { end: desktop.launched.program_end(pid, desktop.inside.as_ref()) })
        }
    }
}

/// The thread that starts a program lives as long as this process, and the program with it.
fn start(launch: Launch, gate: &SpawnGate, desktop: &Standing) -> Result<KeeperWord, String> {
    let home = || desktop.environment.get("HOME").map(PathBuf::from);
    let launch = Launch { cwd: launch.cwd.clone().or_else(home), ..launch };
    if let Some(inside) = &desktop.inside {
        return start_inside(launch, gate, inside, desktop);
    }
    let mut command = command(&launch);
    command.env_clear().envs(&desktop.environment);
    desktop::end_with_us(&mut command, Signal::KILL);
    command.stderr(Stdio::piped());
    // Whoever reaps it must know it before.
    let mut here = lock(&desktop.launched.here);
    let mut child = gate.pass(|| command.spawn())?;
    let errors = child.stderr.take().map(OutputTail::follow);
    here.insert(child.id(), LaunchedHere { errors, ended: None });
    Ok(KeeperWord::Started { pid: child.id() })
}

fn start_inside(
    launch: Launch,
    gate: &SpawnGate,
    inside: &Inside,
    desktop: &Standing,
) -> Result<KeeperWord, String> {
    let order = StartOrder {
        words: launch.command,
        cwd: launch.cwd,
        environment: desktop.environment.clone(),
        ..StartOrder::default()
    };
    let (pid, _) = gate.pass(|| Ok(inside.start_program(order)))??;
    // One that is gone already has no number outside; nothing has the number 0.
    let outer = inside.outer_pid(pid).unwrap_or(0);
    lock(&desktop.launched.inside).insert(outer, pid);
    Ok(KeeperWord::Started { pid: outer })
}

/// Ends every process of the desktop, removes its folder, and ends this process.
fn end_desktop(gate: &SpawnGate, folder: &std::path::Path) -> ! {
    gate.shut_gate();
    process_tree::end_all();
    // What is just being started may write there once more. What a process that would not die still holds open stays
    // behind; nobody is left to be told.
    let deadline = Deadline::after(REMOVE);
    while std::fs::remove_dir_all(folder).is_err() && folder.exists() && !deadline.is_over() {
        sleep_really(REMOVE_PAUSE);
    }
    std::process::exit(0)
}

fn send_word(word: &KeeperWord) -> Result<(), String> {
    let line = serde_json::to_string(word).map_err(|problem| problem.to_string())? + "\n";
    let mut out = std::io::stdout().lock();
    out.write_all(line.as_bytes()).and_then(|()| out.flush()).map_err(|problem| problem.to_string())
}
