//! Who may act on this desktop: one process at a time, whichever server it is of.
//!
//! An object with a name exists for as long as a process has it open, and Windows closes what a process that is gone
//! had open, however it ended: exactly what a lease needs. It does not say who owns it.
#![allow(unsafe_code, reason = "the Windows API is C")]

use std::os::windows::io::{FromRawHandle, OwnedHandle};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use windows::Win32::Foundation::{CloseHandle, ERROR_ALREADY_EXISTS, GetLastError};
use windows::Win32::System::Threading::{CreateMutexW, OpenMutexW, SYNCHRONIZATION_SYNCHRONIZE};
use windows::core::{PCWSTR, w};

use crate::clock::{lock, sleep_really};
use crate::error::{Error, Kind, Result};
use crate::platform::Claimant;

/// One for each session, so for each desktop.
const NAME: PCWSTR = w!(r"Local\os-screen-observer input");
const BUSY: &str = "another server of this program acts on this desktop now";

#[derive(Debug, Default)]
pub struct Lease {
    held: Arc<Mutex<Held>>,
}

#[derive(Debug, Default)]
struct Held {
    object: Option<OwnedHandle>,
    /// Grows with every claim: whoever gives back later than the next claim gives back nothing.
    claims: u64,
}

impl Lease {
    pub fn claim(&self) -> Result<()> {
        let mut held = lock(&self.held);
        held.claims += 1;
        if held.object.is_none() {
            held.object = Some(open()?);
        }
        Ok(())
    }

    /// The call is over; the desktop stays this process's for a while.
    pub fn give_back(&self, claimant: &Claimant) {
        let mut held = lock(&self.held);
        let claims = held.claims;
        if claimant.keeps_for.is_zero() {
            held.object = None;
            return;
        }
        let (shared, keeps_for) = (self.held.clone(), claimant.keeps_for);
        let later = std::thread::Builder::new().name("lease".to_owned()).stack_size(64 << 10);
        if later.spawn(move || let_go_after(&shared, keeps_for, claims)).is_err() {
            held.object = None;
        }
    }

    /// Who else has the desktop now, as a sentence.
    pub fn held_by_another(&self) -> Option<String> {
        if lock(&self.held).object.is_some() {
            return None;
        }
        // SAFETY: a name that is ours and ends with a zero; what is opened is closed at once.
        let exists = unsafe {
            OpenMutexW(SYNCHRONIZATION_SYNCHRONIZE, false, NAME)
                .is_ok_and(|object| CloseHandle(object).is_ok())
        };
        exists.then(|| BUSY.to_owned())
    }
}

fn let_go_after(held: &Mutex<Held>, keeps_for: Duration, claims: u64) {
    sleep_really(keeps_for);
    let mut held = lock(held);
    if held.claims == claims {
        held.object = None;
    }
}

/// The object, if nobody else has it.
fn open() -> Result<OwnedHandle> {
    // SAFETY: a name that is ours and ends with a zero. The handle is new and belongs to whoever gets it; whether the
    // object was there before is told by the error of the very last call.
    let (object, was_there) = unsafe {
        let made = CreateMutexW(None, false, NAME);
        let was_there = GetLastError() == ERROR_ALREADY_EXISTS;
        let object = made.map_err(|problem| Error::new(Kind::DesktopBusy, format!("{BUSY} ({problem})")))?;
        (OwnedHandle::from_raw_handle(object.0), was_there)
    };
    if was_there { Err(Error::new(Kind::DesktopBusy, BUSY)) } else { Ok(object) }
}
