//! The folder of one trace: its lines, its trees, its pictures. Everything in it belongs to its owner alone.
//!
//! A line is written by one call and is in the file as a whole or not at all. What cannot be written is
//! an error that ends the trace, never the call that it was about to record.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Serialize;
use sha1::{Digest, Sha1};

use super::format::FILE_NAME;
use crate::config::limits;
use crate::files;
use crate::observer::View;
use crate::observer::structure::{Structure, StructureRequest};
use crate::privacy::scrub::{self, Scrub};

/// Trees whose file is known, before the memory of them starts anew.
const MOST_KNOWN_TREES: usize = 65_536;

#[derive(Debug)]
pub struct TraceFolder {
    pub trace_id: String,
    /// As the config writes it, so that a caller can use it from the server's working folder.
    pub path: PathBuf,
    lines: File,
    lines_length: u64,
    /// A part of a line could not be taken back; nothing may follow it.
    torn: bool,
    written: u64,
    room: Room,
    /// The tree files that exist, by the fingerprint of what they show.
    trees: HashMap<u64, String>,
}

/// How much a trace may write.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    pub most_bytes: u64,
    pub free_bytes: u64,
}

impl Default for Room {
    fn default() -> Self {
        Self { most_bytes: limits::TRACE_BYTES, free_bytes: limits::TRACE_FREE_BYTES }
    }
}

impl TraceFolder {
    /// A new folder below `root`, with a name that no caller chose. A root that is a link is refused:
    /// a trace must not become a way to write somewhere else.
    pub fn create_folder(root: &Path, room: Room) -> io::Result<Self> {
        refuse_link(root)?;
        files::create_private_dir(root, true)?;
        let (trace_id, path) = unused_name(root)?;
        for inner in ["screenshots", "trees"] {
            files::create_private_dir(&path.join(inner), false)?;
        }
        let lines = create_file(&path.join(FILE_NAME))?;
        Ok(Self {
            trace_id,
            path,
            lines,
            lines_length: 0,
            torn: false,
            written: 0,
            room,
            trees: HashMap::new(),
        })
    }

    pub fn lines_path(&self) -> PathBuf {
        self.path.join(FILE_NAME)
    }

    /// Takes back a folder in which nothing could be written.
    pub fn remove_empty(self) {
        if let Err(problem) = std::fs::remove_dir_all(&self.path) {
            tracing::warn!("{} has no trace and cannot be removed: {problem}", self.path.display());
        }
    }

    pub fn append_row(&mut self, line: &impl Serialize) -> io::Result<()> {
        let mut bytes = serde_json::to_vec(line)?;
        bytes.push(b'\n');
        self.check_place()?;
        self.make_room(bytes.len())?;
        if self.torn {
            return Err(io::Error::other("the file ends within a line"));
        }
        let written = self.lines.write_all(&bytes).and_then(|()| self.lines.flush());
        match written {
            Ok(()) => self.lines_length += bytes.len() as u64,
            // A part may have been written; if it cannot be taken back, no other line may follow it.
            Err(_) => self.torn = self.lines.set_len(self.lines_length).is_err(),
        }
        written
    }

    /// A file without a name takes lines that nobody will read.
    fn check_place(&self) -> io::Result<()> {
        let found = self.lines_path().symlink_metadata();
        let here = found.and_then(|found| Ok(files::is_same_file(&found, &self.lines.metadata()?)));
        if here.unwrap_or(false) {
            return Ok(());
        }
        Err(io::Error::other(format!("{} was removed or replaced", self.lines_path().display())))
    }

    /// Keeps the tree that a view shows, once, and answers its path in the folder.
    pub fn keep_tree(&mut self, view: &Arc<View>, scrub: &Scrub) -> io::Result<String> {
        let fingerprint = view.tree().fingerprint();
        if let Some(path) = self.trees.get(&fingerprint) {
            return Ok(path.clone());
        }
        let json = tree_json(view, scrub)?;
        let path = format!("trees/{}.json", short_hash(&json));
        match self.store_file(&path, json.as_bytes()) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            answer => answer?,
        }
        if self.trees.len() >= MOST_KNOWN_TREES {
            self.trees.clear();
        }
        self.trees.insert(fingerprint, path.clone());
        Ok(path)
    }

    pub fn keep_picture(&mut self, sequence: u64, what: &str, png: &[u8]) -> io::Result<String> {
        let path = format!("screenshots/step-{sequence:05}-{what}.png");
        self.store_file(&path, png)?;
        Ok(path)
    }

    fn store_file(&mut self, path: &str, bytes: &[u8]) -> io::Result<()> {
        self.make_room(bytes.len())?;
        create_file(&self.path.join(path))?.write_all(bytes)
    }

    fn make_room(&mut self, bytes: usize) -> io::Result<()> {
        self.written = self.written.saturating_add(bytes as u64);
        if self.written > self.room.most_bytes {
            return Err(io::Error::other(format!(
                "it has reached its limit of {} bytes",
                self.room.most_bytes
            )));
        }
        // Where it cannot be asked, a full disk shows when a write fails, which ends the trace as well.
        match fs4::available_space(&self.path) {
            Ok(free) if free < self.room.free_bytes => Err(io::Error::other(format!(
                "only {free} bytes are free on its disk, and {} must stay free",
                self.room.free_bytes
            ))),
            _ => Ok(()),
        }
    }
}

fn tree_json(view: &Arc<View>, scrub: &Scrub) -> io::Result<String> {
    let everything = StructureRequest { depth: limits::TREE_DEPTH, ..StructureRequest::default() };
    let structure = Structure::new(view.clone(), &everything);
    structure.and_then(|tree| scrub::to_json_string(&tree, scrub)).map_err(io::Error::other)
}

fn short_hash(text: &str) -> String {
    Sha1::digest(text).iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

/// Whoever can put a link there would choose where traces go.
pub fn refuse_link(root: &Path) -> io::Result<()> {
    // Without a trailing slash, which would lead through a link.
    let path: PathBuf = root.components().collect();
    match path.symlink_metadata() {
        Ok(found) if found.is_symlink() => Err(io::Error::other(format!(
            "tracing.dir ({}) is a symbolic link; name the folder itself",
            path.display()
        ))),
        _ => Ok(()),
    }
}

fn unused_name(root: &Path) -> io::Result<(String, PathBuf)> {
    loop {
        let token = crate::random::random_token("trace-");
        let trace_id: String = token.chars().take("trace-".len() + 8).collect();
        let path = root.join(&trace_id);
        match files::create_private_dir(&path, false) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            answer => return answer.map(|()| (trace_id, path)),
        }
    }
}

fn create_file(path: &Path) -> io::Result<File> {
    files::create_private(path, OpenOptions::new().append(true))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn lines(folder: &TraceFolder) -> Vec<String> {
        let text = std::fs::read_to_string(folder.lines_path()).unwrap();
        assert!(text.is_empty() || text.ends_with('\n'), "torn: {text:?}");
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn whichever_write_fails_the_lines_before_it_are_whole() {
        for fits in 0..5 {
            let root = tempfile::tempdir().unwrap();
            let room = Room { most_bytes: fits * 8, free_bytes: 0 };
            let mut folder = TraceFolder::create_folder(root.path(), room).unwrap();
            let answers: Vec<bool> = (0..6).map(|n| folder.append_row(&json!({"n": n})).is_ok()).collect();
            assert_eq!(answers.iter().filter(|ok| **ok).count() as u64, fits);
            assert_eq!(lines(&folder).len() as u64, fits);
        }
    }

    #[test]
    fn a_disk_that_is_nearly_full_is_left_alone() {
        let root = tempfile::tempdir().unwrap();
        let room = Room { most_bytes: u64::MAX, free_bytes: u64::MAX };
        let mut folder = TraceFolder::create_folder(root.path(), room).unwrap();
        let problem = folder.append_row(&json!({})).unwrap_err().to_string();
        assert!(problem.contains("bytes are free"), "{problem}");
    }

    /// H-126 on code: its file, or its whole folder.
    #[test]
    fn a_trace_that_is_removed_is_noticed() {
        for whole in [false, true] {
            let root = tempfile::tempdir().unwrap();
            let mut folder = TraceFolder::create_folder(root.path(), Room::default()).unwrap();
            folder.append_row(&json!({})).unwrap();
            if whole {
                std::fs::remove_dir_all(&folder.path).unwrap();
            } else {
                std::fs::remove_file(folder.lines_path()).unwrap();
            }
            let problem = folder.append_row(&json!({})).unwrap_err().to_string();
            assert!(problem.contains("trace.jsonl was removed or replaced"), "{problem}");
        }
    }

    /// H-25 on code: a link in place of the folder.
    #[cfg(unix)]
    #[test]
    fn a_trace_belongs_to_its_owner_alone_and_follows_no_link() {
        use std::os::unix::fs::PermissionsExt;
        let root = tempfile::tempdir().unwrap();
        let folder = TraceFolder::create_folder(&root.path().join("deep/traces"), Room::default()).unwrap();
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&folder.path), 0o700);
        assert_eq!(mode(&folder.path.join("trees")), 0o700);
        assert_eq!(mode(&folder.lines_path()), 0o600);
        std::os::unix::fs::symlink(root.path().join("deep"), root.path().join("link")).unwrap();
        for name in ["link", "link/"] {
            let problem = TraceFolder::create_folder(&root.path().join(name), Room::default()).unwrap_err();
            assert!(problem.to_string().contains("symbolic link"), "{problem}");
        }
    }
}
