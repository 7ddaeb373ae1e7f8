//! Starting programs that go on by themselves: nothing of ours is in their hands, and we take notice when they end.

use std::collections::BTreeMap;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, Weak};

use super::sandbox::Sandbox;
use super::sandbox::isolation::WITHOUT_NETWORK;
use crate::clock::lock;
use crate::error::{Error, Result};
use crate::model::app::{Launch, ProgramEnd};
use crate::spawn;

/// Who starts programs: this process, or the keeper of a private desktop.
#[derive(Debug, Default)]
pub struct Launcher {
    keeper: Option<Weak<Sandbox>>,
    /// How the programs ended that this process started. They live on without it, so that it reads no output of theirs.
    ended: ExitStatuses,
}

type ExitStatuses = Arc<Mutex<BTreeMap<u32, ExitStatus>>>;

impl Launcher {
    pub fn within(sandbox: Weak<Sandbox>) -> Self {
        Self { keeper: Some(sandbox), ..Self::default() }
    }

    /// How a command is run beside the programs that are launched: isolated like them, or `None`.
    pub fn command_wall(&self) -> Result<Option<CommandWall>> {
        let Some(sandbox) = &self.keeper else {
            return Ok(None);
        };
        let sandbox = sandbox.upgrade().ok_or_else(|| Error::internal("the private desktop has ended"))?;
        let environment = sandbox.environment().clone();
        Ok(sandbox.wall().map(|arguments| CommandWall { arguments: arguments.to_vec(), environment }))
    }

    /// Where programs save that are launched on a private desktop.
    pub fn where_files_go(&self) -> Option<String> {
        self.keeper.as_ref()?.upgrade()?.where_files_go()
    }

    /// Whether the programs of a private desktop are isolated from the network.
    pub fn is_without_network(&self) -> bool {
        let sandbox = self.keeper.as_ref().and_then(Weak::upgrade);
        let wall = sandbox.as_ref().and_then(|sandbox| sandbox.wall());
        wall.is_some_and(|wall| wall.iter().any(|word| word == WITHOUT_NETWORK))
    }

    pub fn launch(&self, launch: &Launch) -> Result<u32> {
        match &self.keeper {
            None => start_here(launch, &self.ended).map_err(|reason| cannot(launch, &reason)),
            Some(sandbox) => {
                let sandbox =
                    sandbox.upgrade().ok_or_else(|| Error::internal("the private desktop has ended"))?;
                sandbox.launch(launch).map_err(|reason| cannot(launch, &reason))
            }
        }
    }
}

impl Launcher {
    /// How a program ended that was launched; `None` while it runs.
    pub fn program_end(&self, pid: u32) -> Option<ProgramEnd> {
        match &self.keeper {
            None => lock(&self.ended).get(&pid).map(|status| program_end(*status, String::new())),
            Some(sandbox) => sandbox.upgrade()?.program_end(pid),
        }
    }
}

pub fn program_end(status: ExitStatus, last_words: String) -> ProgramEnd {
    ProgramEnd { status: status.to_string(), is_success: status.success(), last_words }
}

/// What keeps a command from everything that the programs of its private desktop are kept from.
#[derive(Clone, Debug)]
pub struct CommandWall {
    pub arguments: Vec<String>,
    pub environment: BTreeMap<String, String>,
}

impl CommandWall {
    /// Where commands start when nobody says where.
    pub fn home(&self) -> Option<PathBuf> {
        self.environment.get("HOME").map(PathBuf::from)
    }
}

fn cannot(launch: &Launch, reason: &str) -> Error {
    let program = launch.command.first().map_or("", String::as_str);
    Error::bad_request(format!("'{program}' cannot be started: {reason}")).with("field", "program")
}

/// The command with its arguments as they are; no shell looks at them.
pub fn command(launch: &Launch) -> Command {
    let mut words = launch.command.iter();
    let mut command = spawn::command(words.next().map_or("", String::as_str));
    command.args(words).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    if let Some(cwd) = &launch.cwd {
        command.current_dir(cwd);
    }
    command
}

/// In a process group of its own: a person who presses Ctrl-C means the server.
fn start_here(launch: &Launch, ended: &ExitStatuses) -> Result<u32, String> {
    let mut command = command(launch);
    command.process_group(0);
    let mut child = command.spawn().map_err(|problem| problem.to_string())?;
    let pid = child.id();
    // Somebody has to take notice of its end, or it stays in the table of processes.
    let reaper = std::thread::Builder::new().name("launched".to_owned()).stack_size(64 << 10);
    let ended = ended.clone();
    let take_notice = move || {
        if let Ok(status) = child.wait() {
            lock(&ended).insert(pid, status);
        }
    };
    reaper.spawn(take_notice).map_err(|problem| problem.to_string())?;
    Ok(pid)
}

pub fn is_running(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // The name may hold anything, so what counts comes after its last bracket.
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X']))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn launch(words: &[&str]) -> Launch {
        Launch { command: words.iter().map(ToString::to_string).collect(), cwd: None }
    }

    /// H-77 on code: a name that is shell.
    #[test]
    fn a_program_runs_by_itself_and_leaves_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a $(touch b); c");
        let pid = Launcher::default().launch(&launch(&["touch", "--", path.to_str().unwrap()])).unwrap();
        while is_running(pid) || std::path::Path::new(&format!("/proc/{pid}")).exists() {
            std::thread::yield_now();
        }
        let names: Vec<_> =
            std::fs::read_dir(folder.path()).unwrap().flatten().map(|it| it.file_name()).collect();
        assert_eq!(names, [path.file_name().unwrap()]);
    }

    #[test]
    fn how_a_program_ended_is_known() {
        let launcher = Launcher::default();
        let pid = launcher.launch(&launch(&["sh", "-c", "exit 3"])).unwrap();
        let end = loop {
            if let Some(end) = launcher.program_end(pid) {
                break end;
            }
            std::thread::yield_now();
        };
        assert_eq!((end.status.as_str(), end.is_success), ("exit status: 3", false));
        assert_eq!(launcher.program_end(0), None);
    }

    #[test]
    fn what_cannot_be_started_says_why() {
        let refused = Launcher::default().launch(&launch(&["/no/such/program"])).unwrap_err();
        assert!(refused.message.contains("/no/such/program"), "{refused}");
        let gone = Launcher::within(Weak::new()).launch(&launch(&["true"])).unwrap_err();
        assert!(gone.message.contains("private desktop"), "{gone}");
        assert!(!is_running(0));
    }
}
