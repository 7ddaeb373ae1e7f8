//! Room on the disk that is kept for the ends of jobs: where the disk is full, a job can still be written down as over.
//! Each process that has the store open keeps a file of its own, because several jobs may end at once.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Seek, Write};
use std::path::{Path, PathBuf};

use crate::files;

const NAME: &str = "jobs.reserve";
pub const RESERVED_BYTES: usize = 256 << 10;
/// More processes do not have one store open.
const MOST_RESERVES: usize = 1024;

/// A file that is emptied when nothing else can be written. Its lock says whose it is, so that one whose process is gone
/// serves the next.
#[derive(Debug)]
pub struct DiskReserve {
    file: File,
}

impl DiskReserve {
    /// The first that nobody has. It may have no room yet.
    pub fn beside(store: &Path) -> io::Result<Self> {
        for number in 0..MOST_RESERVES {
            let file = open_reserve(&numbered_path(store, number))?;
            match file.try_lock() {
                Ok(()) => return Ok(Self { file }),
                Err(TryLockError::WouldBlock) => {}
                Err(TryLockError::Error(problem)) => return Err(problem),
            }
        }
        Err(io::Error::other(format!("{MOST_RESERVES} processes have it open")))
    }

    /// Takes the room where it is not taken. What cannot be taken whole is not kept.
    pub fn take_room(&self) -> io::Result<()> {
        if self.file.metadata()?.len() == RESERVED_BYTES as u64 {
            return Ok(());
        }
        let mut file = &self.file;
        file.rewind()?;
        let written = file.write_all(&vec![0; RESERVED_BYTES]).and_then(|()| file.sync_all());
        if written.is_err() {
            self.give_room();
        }
        written
    }

    /// Whether there was room to give.
    pub fn give_room(&self) -> bool {
        self.file.metadata().is_ok_and(|found| found.len() > 0) && self.file.set_len(0).is_ok()
    }
}

fn numbered_path(store: &Path, number: usize) -> PathBuf {
    match number {
        0 => store.with_file_name(NAME),
        _ => store.with_file_name(format!("{NAME}.{number}")),
    }
}

fn open_reserve(path: &Path) -> io::Result<File> {
    match files::create_private(path, OpenOptions::new().write(true)) {
        Err(problem) if problem.kind() == io::ErrorKind::AlreadyExists => {
            OpenOptions::new().write(true).open(path)
        }
        opened => opened,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn length(path: &Path) -> u64 {
        path.metadata().unwrap().len()
    }

    #[test]
    fn the_room_is_taken_once_and_given_once() {
        let folder = tempfile::tempdir().unwrap();
        let reserve = DiskReserve::beside(&folder.path().join("jobs.db")).unwrap();
        reserve.take_room().unwrap();
        reserve.take_room().unwrap();
        assert_eq!(length(&folder.path().join(NAME)), RESERVED_BYTES as u64);
        assert!(reserve.give_room() && !reserve.give_room());
        reserve.take_room().unwrap();
        assert_eq!(length(&folder.path().join(NAME)), RESERVED_BYTES as u64);
        assert!(DiskReserve::beside(&folder.path().join("no/such/folder/jobs.db")).is_err());
    }

    /// One that gave its room takes nobody else's.
    #[test]
    fn each_has_its_own_and_one_that_is_left_serves_the_next() {
        let folder = tempfile::tempdir().unwrap();
        let store = folder.path().join("jobs.db");
        let [one, two] = [(); 2].map(|()| DiskReserve::beside(&store).unwrap());
        one.take_room().unwrap();
        two.take_room().unwrap();
        assert!(one.give_room());
        assert!(two.give_room(), "the other one has its own");
        drop(two);
        let _three = DiskReserve::beside(&store).unwrap();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
    }
}
