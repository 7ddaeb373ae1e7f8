//! The little that is asked of the computer itself: variables, programs, folders, sockets; and the one place where it
//! is asked for real.
//!
//! Every question ends: programs and sockets get a deadline, because a stopped display server accepts no
//! connection and refuses none.

pub mod fixes;
pub mod sandbox;
pub mod tesseract;

use std::fmt;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crate::clock::{Clock, sleep_really};
use crate::config::process_variable;
use crate::spawn;

const PATIENCE: Duration = Duration::from_secs(5);
const OUTPUT_BYTES: u64 = 16 << 10;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Socket {
    File(PathBuf),
    /// A name of Linux's own kind, which is no file.
    Abstract(String),
}

impl fmt::Display for Socket {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Socket::File(path) => write!(out, "{}", path.display()),
            Socket::Abstract(name) => write!(out, "@{name}"),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FolderState {
    Writable,
    /// Not there, but the folder above it can be written.
    Creatable,
    Refused(String),
}

pub trait Machine {
    /// `linux`, `macos`, `windows` or another of Rust's names for a system.
    fn system(&self) -> String;
    fn variable(&self, name: &str) -> Option<String>;
    fn find_program(&self, name: &str) -> Option<PathBuf>;
    fn exists(&self, path: &Path) -> bool;
    fn has_entries(&self, folder: &Path) -> bool;
    fn link_target(&self, path: &Path) -> Option<PathBuf>;
    fn folder_state(&self, folder: &Path) -> FolderState;
    fn connect(&self, socket: &Socket) -> Result<(), String>;
    /// What the program prints, on either stream.
    fn run(&self, program: &Path, arguments: &[&str]) -> Result<String, String>;
}

/// The computer that we run on.
#[derive(Clone, Copy, Debug, Default)]
pub struct RealMachine;

impl Machine for RealMachine {
    fn system(&self) -> String {
        std::env::consts::OS.to_owned()
    }

    fn variable(&self, name: &str) -> Option<String> {
        process_variable(name).map(|value| value.to_string_lossy().into_owned())
    }

    fn find_program(&self, name: &str) -> Option<PathBuf> {
        // A program of the current folder is not what a shell would start.
        which::which_global(name).ok()
    }

    fn exists(&self, path: &Path) -> bool {
        path.exists()
    }

    fn has_entries(&self, folder: &Path) -> bool {
        std::fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some())
    }

    fn link_target(&self, path: &Path) -> Option<PathBuf> {
        std::fs::read_link(path).ok()
    }

    fn folder_state(&self, folder: &Path) -> FolderState {
        let existing = folder.ancestors().map(or_here).find(|ancestor| ancestor.exists());
        let Some(existing) = existing else {
            return FolderState::Refused("no parent folder exists".to_owned());
        };
        match try_to_write(existing) {
            Err(reason) => FolderState::Refused(format!("{}: {reason}", existing.display())),
            Ok(()) if existing == folder => FolderState::Writable,
            Ok(()) => FolderState::Creatable,
        }
    }

    fn connect(&self, socket: &Socket) -> Result<(), String> {
        let socket = socket.clone();
        let (tell, answer) = mpsc::channel();
        // If the deadline passes, the thread is left behind; it ends with the connection or the process.
        thread::spawn(move || tell.send(connect_and_wait(&socket)));
        answer.recv_timeout(PATIENCE).unwrap_or_else(|_| Err(format!("no answer in {PATIENCE:?}")))
    }

    fn run(&self, program: &Path, arguments: &[&str]) -> Result<String, String> {
        let mut child = spawn::command(program)
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| error.to_string())?;
        let output = gather(&mut child);
        let success = wait_at_most(&mut child, PATIENCE)?;
        let text = output.recv_timeout(PATIENCE).unwrap_or_default();
        if success { Ok(text) } else { Err(format!("failed: {}", text.trim())) }
    }
}

/// `a/b` has the ancestors `a/b`, `a` and the empty path, which stands for the current folder.
fn or_here(ancestor: &Path) -> &Path {
    if ancestor.as_os_str().is_empty() { Path::new(".") } else { ancestor }
}

/// Only writing tells whether one may write; the file is ours alone and gone again at once.
fn try_to_write(folder: &Path) -> Result<(), String> {
    let probe = folder.join(format!(".os-screen-observer-probe-{}", std::process::id()));
    std::fs::File::create_new(&probe).map_err(|error| error.to_string())?;
    std::fs::remove_file(&probe).map_err(|error| error.to_string())
}

#[cfg(unix)]
fn connect_and_wait(socket: &Socket) -> Result<(), String> {
    use std::os::unix::net::UnixStream;
    match socket {
        Socket::File(path) => UnixStream::connect(path).map(drop).map_err(|error| error.to_string()),
        Socket::Abstract(name) => connect_abstract(name),
    }
}

#[cfg(not(unix))]
fn connect_and_wait(_: &Socket) -> Result<(), String> {
    Err("this system has no such sockets".to_owned())
}

#[cfg(target_os = "linux")]
fn connect_abstract(name: &str) -> Result<(), String> {
    use std::os::linux::net::SocketAddrExt;
    use std::os::unix::net::{SocketAddr, UnixStream};
    SocketAddr::from_abstract_name(name)
        .and_then(|address| UnixStream::connect_addr(&address))
        .map(drop)
        .map_err(|error| error.to_string())
}

#[cfg(all(unix, not(target_os = "linux")))]
fn connect_abstract(_: &str) -> Result<(), String> {
    Err("this system has no abstract sockets".to_owned())
}

/// Reads both streams, bounded, in the background: a full pipe would keep the child from ending.
fn gather(child: &mut Child) -> mpsc::Receiver<String> {
    let (tell, answer) = mpsc::channel();
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(stream) = stdout {
            let _ = stream.take(OUTPUT_BYTES).read_to_end(&mut bytes);
        }
        if let Some(stream) = stderr {
            let _ = stream.take(OUTPUT_BYTES).read_to_end(&mut bytes);
        }
        tell.send(String::from_utf8_lossy(&bytes).into_owned())
    });
    answer
}

/// Whether the child succeeded; one that is not done in time is killed.
fn wait_at_most(child: &mut Child, patience: Duration) -> Result<bool, String> {
    let clock = Clock::real();
    loop {
        match child.try_wait() {
            Err(error) => return Err(error.to_string()),
            Ok(Some(status)) => return Ok(status.success()),
            Ok(None) if clock.now() < patience => sleep_really(Duration::from_millis(10)),
            Ok(None) => {
                // It may have ended meanwhile; then there is nothing to kill and waiting reaps it.
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("did not end in {PATIENCE:?} and was stopped"));
            }
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn probing_a_folder_leaves_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(RealMachine.folder_state(folder.path()), FolderState::Writable);
        assert_eq!(RealMachine.folder_state(&folder.path().join("a/b")), FolderState::Creatable);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        let file = folder.path().join("file");
        std::fs::write(&file, "").unwrap();
        assert!(matches!(RealMachine.folder_state(&file), FolderState::Refused(_)));
        assert!(matches!(RealMachine.folder_state(&file.join("x")), FolderState::Refused(_)));
    }

    #[test]
    fn programs_are_found_and_run_without_a_shell() {
        let echo = RealMachine.find_program("echo").unwrap();
        assert_eq!(RealMachine.run(&echo, &["$HOME;ls"]).unwrap(), "$HOME;ls\n");
        assert!(RealMachine.find_program("no-such-program-here").is_none());
        assert!(RealMachine.run(Path::new("/no/such/program"), &[]).is_err());
        let failing = RealMachine.find_program("false").unwrap();
        assert!(RealMachine.run(&failing, &[]).unwrap_err().starts_with("failed"));
    }

    #[test]
    fn a_program_that_does_not_end_is_stopped() {
        let sleep = RealMachine.find_program("sleep").unwrap();
        let mut child = spawn::command(sleep).arg("60").spawn().unwrap();
        let complaint = wait_at_most(&mut child, Duration::from_millis(30)).unwrap_err();
        assert!(complaint.contains("was stopped"), "{complaint}");
        assert!(child.try_wait().unwrap().is_some());
    }

    #[test]
    fn sockets_answer_or_do_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let socket = Socket::File(path.clone());
        assert!(RealMachine.connect(&socket).is_err());
        let _listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
        assert_eq!(RealMachine.connect(&socket), Ok(()));
        assert!(RealMachine.connect(&Socket::Abstract("no such name here".to_owned())).is_err());
    }
}
