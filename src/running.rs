//! Which servers of this user serve an inspector: a note for each, in a folder that only the user can read. A note has no
//! token in it, only the file where one is kept.

use std::fs;
use std::io::{self, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::config::own_state_folder;
use crate::files;

/// How long a server on this machine may take to accept a connection.
const ANSWERS_WITHIN: Duration = Duration::from_millis(500);
const LARGEST_NOTE: u64 = 1 << 16;

/// A server that serves an inspector.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunningServer {
    pub pid: u32,
    pub address: SocketAddr,
    /// Where the inspector is, without a token.
    pub link: String,
    /// Where an automatic token is kept.
    pub token_file: Option<PathBuf>,
    pub started_at: String,
    /// The desktop that it serves.
    pub desktop: String,
}

/// The note of a server; it goes with it.
#[derive(Debug)]
pub struct ServerNote {
    path: PathBuf,
}

impl Drop for ServerNote {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// The folder of all notes.
pub fn notes_folder() -> Option<PathBuf> {
    own_state_folder().map(|folder| folder.join("servers"))
}

pub fn note_server(folder: &Path, server: &RunningServer) -> io::Result<ServerNote> {
    files::create_private_dir(folder, true)?;
    let path = folder.join(format!("{}-{}.json", server.pid, server.address.port()));
    let text = serde_json::to_vec_pretty(server)?;
    let mut file = files::create_private(&path, fs::OpenOptions::new().write(true).truncate(true))?;
    file.write_all(&text)?;
    Ok(ServerNote { path })
}

/// The servers that answer, the newest first. The note of one that does not is removed: it was killed.
pub fn running_servers(folder: &Path) -> Vec<RunningServer> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut running: Vec<RunningServer> =
        entries.filter_map(|entry| answering_server(&entry.path())).collect();
    running.sort_by(|one, other| other.started_at.cmp(&one.started_at));
    running
}

fn answering_server(note: &Path) -> Option<RunningServer> {
    let facts = fs::symlink_metadata(note).ok()?;
    if !facts.is_file() || facts.len() > LARGEST_NOTE {
        return None;
    }
    let server: RunningServer = serde_json::from_slice(&fs::read(note).ok()?).ok()?;
    if TcpStream::connect_timeout(&server.address, ANSWERS_WITHIN).is_ok() {
        return Some(server);
    }
    let _ = fs::remove_file(note);
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(address: SocketAddr, started_at: &str) -> RunningServer {
        RunningServer {
            pid: 7,
            address,
            link: format!("http://{address}/"),
            token_file: None,
            started_at: started_at.to_owned(),
            desktop: "mock".to_owned(),
        }
    }

    #[test]
    fn servers_that_answer_are_found_the_newest_first() {
        let folder = tempfile::tempdir().unwrap();
        let listeners = [0, 1].map(|_| std::net::TcpListener::bind("127.0.0.1:0").unwrap());
        let [old, new] = [0, 1].map(|at: usize| listeners[at].local_addr().unwrap());
        let old_note = note_server(folder.path(), &server(old, "2026-01-01")).unwrap();
        let _new_note = note_server(folder.path(), &server(new, "2026-01-02")).unwrap();
        let found: Vec<SocketAddr> =
            running_servers(folder.path()).iter().map(|server| server.address).collect();
        assert_eq!(found, [new, old]);
        drop(old_note);
        assert_eq!(running_servers(folder.path()).len(), 1);
    }

    #[test]
    fn the_note_of_a_server_that_was_killed_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let address = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let note = note_server(folder.path(), &server(address, "x")).unwrap();
        std::mem::forget(note);
        fs::write(folder.path().join("other.json"), "no note").unwrap();
        assert_eq!(running_servers(folder.path()), []);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "what is no note of ours stays");
        assert_eq!(running_servers(&folder.path().join("none")), []);
    }

    #[cfg(unix)]
    #[test]
    fn a_note_is_private() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let notes = folder.path().join("servers");
        let address = "127.0.0.1:1".parse().unwrap();
        let note = note_server(&notes, &server(address, "x")).unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&notes), mode(&note.path)), (0o700, 0o600));
    }
}
