//! The process that holds a private desktop. It reads what is wanted from its input, starts it, says on its
//! output how to reach it, starts a program for each further line, and ends it all when its input ends.
//!
//! It must end everything whatever happens to the server, so it depends on nothing of it but that pipe.

use std::collections::BTreeMap;
use std::io::{BufRead, Write};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use rustix::process::Signal;

use super::desktop::{self, Folder};
use super::{Plan, Word, family};
use crate::clock::{lock, sleep_really};
use crate::model::program::Launch;
use crate::platform::linux::launch::command;

/// How often ended children are taken notice of.
const REAP: Duration = Duration::from_millis(500);

/// Serves as the keeper until the input ends; it does not return before.
pub fn keep() -> Result<(), String> {
    family::adopt_orphans()?;
    let plan = read_plan()?;
    let folder = Folder::new()?;
    let gate = Arc::new(Gate::default());
    let environment = Arc::new(OnceLock::new());
    watch_input(gate.clone(), folder.path.clone(), environment.clone());
    match desktop::start(&plan, &folder, &gate) {
        Ok(word) => {
            if let Word::Ready { environment: known, .. } = &word {
                environment.get_or_init(|| known.clone());
            }
            say(&word)?;
        }
        Err(reason) => {
            say(&Word::Failed { reason })?;
            end(&gate, &folder.path);
        }
    }
    loop {
        sleep_really(REAP);
        family::reap();
    }
}

/// Shut once the desktop is being ended; nothing is started after that.
#[derive(Debug, Default)]
pub struct Gate {
    shut: Mutex<bool>,
}

impl Gate {
    /// Starts something, unless everything is being ended.
    pub fn pass<T>(&self, start: impl FnOnce() -> std::io::Result<T>) -> Result<T, String> {
        let shut = lock(&self.shut);
        if *shut {
            return Err("the private desktop is being ended".to_owned());
        }
        start().map_err(|problem| problem.to_string())
    }

    fn shut(&self) {
        *lock(&self.shut) = true;
    }
}

fn read_plan() -> Result<Plan, String> {
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line).map_err(|problem| problem.to_string())?;
    serde_json::from_str(&line).map_err(|problem| format!("this is started by the server: {problem}"))
}

type Environment = BTreeMap<String, String>;

/// Each line is a program to start. Orders come one after the other, and only once the desktop stands.
fn watch_input(gate: Arc<Gate>, folder: PathBuf, environment: Arc<OnceLock<Environment>>) {
    std::thread::spawn(move || {
        let mut line = String::new();
        while !matches!(std::io::stdin().lock().read_line(&mut line), Ok(0) | Err(_)) {
            let none = Environment::new();
            let started = start(&line, &gate, environment.get().unwrap_or(&none));
            // If nobody listens any more, the input is about to end.
            let _ = say(&started.unwrap_or_else(|reason| Word::Failed { reason }));
            line.clear();
        }
        end(&gate, &folder);
    });
}

/// The thread that starts a program lives as long as this process, and the program with it.
fn start(order: &str, gate: &Gate, environment: &Environment) -> Result<Word, String> {
    let launch: Launch = serde_json::from_str(order).map_err(|problem| problem.to_string())?;
    let home = || environment.get("HOME").map(PathBuf::from);
    let mut command = command(&Launch { cwd: launch.cwd.clone().or_else(home), ..launch });
    command.env_clear().envs(environment);
    desktop::end_with_us(&mut command, Signal::KILL);
    let child = gate.pass(|| command.spawn())?;
    Ok(Word::Started { pid: child.id() })
}

/// Ends every process of the desktop, removes its folder, and ends this process.
fn end(gate: &Gate, folder: &std::path::Path) -> ! {
    gate.shut();
    family::end_all();
    // What a process that would not die still holds open stays behind; nobody is left to be told.
    let _ = std::fs::remove_dir_all(folder);
    std::process::exit(0)
}

fn say(word: &Word) -> Result<(), String> {
    let line = serde_json::to_string(word).map_err(|problem| problem.to_string())? + "\n";
    let mut out = std::io::stdout().lock();
    out.write_all(line.as_bytes()).and_then(|()| out.flush()).map_err(|problem| problem.to_string())
}
