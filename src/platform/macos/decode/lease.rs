//! Who may act on this desktop: one process at a time, whichever server it is of.
//!
//! The lock of a file is held for as long as a process has it open, and the system takes it back from a process that is
//! gone, however it went: exactly what a lease needs. Who has it stands in a second file beside it, which is read and
//! never believed without the lock. A Mac has one desktop for each person, so the files are in the person's own folder.

use std::fs::{File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::clock::{lock, sleep_really};
use crate::error::{Error, Kind, Result};
use crate::platform::Claimant;

const LOCK: &str = "input.lock";
const HOLDER: &str = "input.holder";
/// What another process says of itself is not read beyond this.
const MOST_BYTES: usize = 1_000;

/// Below the home of whoever is logged in.
pub fn folder(home: &Path) -> PathBuf {
    home.join("Library/Caches/os-screen-observer")
}

/// What the owner says of itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct FileLeaseNote {
    pid: u32,
    client: Option<String>,
}

#[derive(Debug)]
pub struct Lease {
    folder: PathBuf,
    held: Arc<Mutex<Held>>,
}

#[derive(Debug, Default)]
struct Held {
    file: Option<File>,
    /// Grows with every claim: whoever gives back later than the next claim gives back nothing.
    claims: u64,
}

impl Lease {
    pub fn of(folder: PathBuf) -> Self {
        Self { folder, held: Arc::default() }
    }

    pub fn claim(&self, claimant: &Claimant) -> Result<()> {
        let mut held = lock(&self.held);
        held.claims += 1;
        if held.file.is_none() {
            held.file = Some(self.take(claimant)?);
        }
        Ok(())
    }

    /// The call is over; the desktop stays this process's for a while.
    pub fn give_back(&self, claimant: &Claimant) {
        let mut held = lock(&self.held);
        let claims = held.claims;
        if claimant.keeps_for.is_zero() {
            held.file = None;
            return;
        }
        let (shared, keeps_for) = (self.held.clone(), claimant.keeps_for);
        let later = std::thread::Builder::new().name("lease".to_owned()).stack_size(64 << 10);
        if later.spawn(move || let_go_after(&shared, keeps_for, claims)).is_err() {
            held.file = None;
        }
    }

    /// Who else has the desktop now, as a sentence.
    pub fn held_by_another(&self) -> Option<String> {
        let held = lock(&self.held);
        if held.file.is_some() {
            return None;
        }
        let file = File::open(self.folder.join(LOCK)).ok()?;
        matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)).then(|| self.described())
    }

    fn take(&self, claimant: &Claimant) -> Result<File> {
        let unknown = |problem: std::io::Error| {
            let folder = self.folder.display();
            let message =
                format!("cannot find out whether another server acts on this desktop: {folder}: {problem}");
            Error::new(Kind::DesktopBusy, message)
        };
        std::fs::create_dir_all(&self.folder).map_err(unknown)?;
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        let file = options.open(self.folder.join(LOCK)).map_err(unknown)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(self.busy()),
            Err(TryLockError::Error(problem)) => return Err(unknown(problem)),
        }
        let note = FileLeaseNote { pid: std::process::id(), client: claimant.client.clone() };
        let text = serde_json::to_string(&note).unwrap_or_default();
        // Whoever is refused meanwhile is told less; that is all.
        if let Err(problem) = std::fs::write(self.folder.join(HOLDER), text) {
            tracing::debug!(%problem, "cannot record which server acts on this desktop");
        }
        Ok(file)
    }

    fn holder(&self) -> Option<FileLeaseNote> {
        let text = std::fs::read(self.folder.join(HOLDER)).ok().filter(|text| text.len() <= MOST_BYTES)?;
        serde_json::from_slice(&text).ok()
    }

    fn described(&self) -> String {
        let who = self.holder().map(|note| {
            let client = note.client.map(|name| format!(", started by {name}")).unwrap_or_default();
            format!(": process {}{client}", note.pid)
        });
        format!(
            "another server acts on this desktop{}; it holds it for a while after each input (input.lease_s)",
            who.unwrap_or_default()
        )
    }

    fn busy(&self) -> Error {
        let help = "You can still look. Wait, or ask the person which of the two should go on";
        let error = Error::new(Kind::DesktopBusy, format!("{}. {help}", self.described()));
        let Some(note) = self.holder() else { return error };
        let error = error.with("holder_pid", note.pid);
        match note.client {
            Some(client) => error.with("holder_client", client.as_str()),
            None => error,
        }
    }
}

fn let_go_after(held: &Mutex<Held>, keeps_for: Duration, claims: u64) {
    sleep_really(keeps_for);
    let mut held = lock(held);
    if held.claims == claims {
        held.file = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Deadline;

    fn claimant(keeps_for: Duration) -> Claimant {
        Claimant { client: Some("Claude".to_owned()), keeps_for }
    }

    /// Two servers of one person.
    fn two() -> (tempfile::TempDir, Lease, Lease) {
        let home = tempfile::tempdir().unwrap();
        let lease = || Lease::of(folder(home.path()));
        let (first, second) = (lease(), lease());
        (home, first, second)
    }

    #[test]
    fn of_two_servers_one_acts_and_the_other_is_told_who() {
        let (_home, first, second) = two();
        assert_eq!(first.held_by_another(), None, "nobody ever acted");
        first.claim(&claimant(Duration::ZERO)).unwrap();
        first.claim(&claimant(Duration::ZERO)).unwrap();
        let refused = second.claim(&claimant(Duration::ZERO)).unwrap_err();
        assert_eq!(refused.kind, Kind::DesktopBusy);
        let who = format!("process {}, started by Claude", std::process::id());
        assert!(refused.message.contains(&who), "{refused}");
        assert!(second.held_by_another().unwrap().contains(&who) && first.held_by_another().is_none());
    }

    #[test]
    fn what_is_given_back_can_be_taken() {
        let (_home, first, second) = two();
        first.claim(&claimant(Duration::ZERO)).unwrap();
        first.give_back(&claimant(Duration::ZERO));
        assert_eq!(second.held_by_another(), None);
        second.claim(&claimant(Duration::ZERO)).unwrap();
        drop(second);
        first.claim(&claimant(Duration::ZERO)).unwrap();
    }

    #[test]
    fn it_is_kept_for_a_while() {
        let (_home, first, second) = two();
        let short = claimant(Duration::from_millis(50));
        first.claim(&short).unwrap();
        first.give_back(&short);
        assert!(second.claim(&short).is_err());
        let deadline = Deadline::after(Duration::from_secs(10));
        while second.claim(&short).is_err() {
            assert!(!deadline.is_over(), "it is kept for ever");
            sleep_really(Duration::from_millis(10));
        }
    }

    #[test]
    fn a_claim_during_the_while_keeps_it() {
        let (_home, first, second) = two();
        let short = claimant(Duration::from_millis(20));
        first.claim(&short).unwrap();
        first.give_back(&short);
        first.claim(&short).unwrap();
        sleep_really(Duration::from_millis(100));
        assert!(second.claim(&short).is_err());
    }

    #[test]
    fn a_folder_that_cannot_be_made_lets_nobody_act() {
        let home = tempfile::tempdir().unwrap();
        std::fs::write(home.path().join("Library"), "a file").unwrap();
        let refused = Lease::of(folder(home.path())).claim(&claimant(Duration::ZERO)).unwrap_err();
        assert!(
            refused.kind == Kind::DesktopBusy && refused.message.contains("cannot find out"),
            "{refused}"
        );
    }
}
