//! The stop switch: while it is on, nothing acts. It is a person's, and no tool can release it.

use std::sync::Mutex;
use std::time::SystemTime;

use crate::clock::{Cancel, lock};
use crate::error::{Error, Kind, Result};

#[derive(Debug, Default)]
pub struct Halt {
    state: Mutex<HaltState>,
}

#[derive(Debug, Default)]
struct HaltState {
    halted: Option<Halted>,
    /// The calls that act just now, so that the switch stops them in the middle.
    acting: Vec<(u64, Cancel)>,
    next: u64,
}

/// Since when nothing acts, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct Halted {
    pub reason: String,
    pub since: SystemTime,
}

impl Halt {
    /// Stops what acts, and lets nothing act from here on.
    pub fn engage(&self, reason: &str, since: SystemTime) {
        let acting = {
            let mut state = lock(&self.state);
            state.halted = Some(Halted { reason: reason.to_owned(), since });
            std::mem::take(&mut state.acting)
        };
        acting.iter().for_each(|(_, cancel)| cancel.fire());
    }

    /// Whether it was on.
    pub fn release(&self) -> bool {
        lock(&self.state).halted.take().is_some()
    }

    pub fn halt_status(&self) -> Option<Halted> {
        lock(&self.state).halted.clone()
    }

    /// Lets a call act until the result is dropped, or the switch is turned.
    pub fn admit_call(&self, cancel: &Cancel) -> Result<Acting<'_>> {
        let mut state = lock(&self.state);
        if let Some(halted) = &state.halted {
            return Err(refusal(halted));
        }
        state.next += 1;
        let number = state.next;
        state.acting.push((number, cancel.clone()));
        Ok(Acting { halt: self, number })
    }

    /// A call that the switch cancelled is told so; nobody else took it back.
    pub fn explain_cancel(&self, error: Error) -> Error {
        match &lock(&self.state).halted {
            Some(halted) if error.kind == Kind::Cancelled => refusal(halted),
            _ => error,
        }
    }
}

fn refusal(halted: &Halted) -> Error {
    Error::new(
        Kind::PermissionDenied,
        format!(
            "a person has stopped all input: {}; no tool may act until that person resumes, so stop and tell the user",
            halted.reason
        ),
    )
    .with("halted", true)
    .with("reason", halted.reason.as_str())
}

pub struct Acting<'a> {
    halt: &'a Halt,
    number: u64,
}

impl Drop for Acting<'_> {
    fn drop(&mut self) {
        lock(&self.halt.state).acting.retain(|(number, _)| *number != self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_switch_stops_what_runs_and_refuses_what_comes() {
        let (halt, running, over) = (Halt::default(), Cancel::new(), Cancel::new());
        drop(halt.admit_call(&over).unwrap());
        let acting = halt.admit_call(&running).unwrap();
        halt.engage("enough", SystemTime::UNIX_EPOCH);
        assert!(running.check().is_err() && over.check().is_ok());
        drop(acting);
        let refused = halt.admit_call(&Cancel::new()).err().unwrap();
        assert_eq!(refused.kind, Kind::PermissionDenied);
        assert!(refused.message.contains("enough"), "{refused}");
        assert_eq!(halt.explain_cancel(Error::cancelled()).kind, Kind::PermissionDenied);
        assert_eq!(halt.explain_cancel(Error::internal("other")).kind, Kind::Internal);
        assert!(halt.release() && !halt.release());
        assert!(halt.admit_call(&Cancel::new()).is_ok());
        assert_eq!(halt.explain_cancel(Error::cancelled()).kind, Kind::Cancelled);
    }
}
