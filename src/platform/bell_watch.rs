//! Waiting for changes with a bell that an adapter's listening threads ring.

use std::time::Duration;

use super::{Wake, Watch};
use crate::clock::{Bell, Cancel, Clock};
use crate::error::Result;

/// The whole [`Watch`] of an adapter with events.
pub struct BellWatch {
    clock: Clock,
    bell: Bell,
    /// A wait looks again after this time, whether or not an event came: a page that scrolls sends none, and some
    /// toolkits forget some.
    trusted_for: Duration,
    is_listening: Box<dyn Fn() -> bool + Send + Sync>,
}

impl BellWatch {
    /// `is_listening` tells whether events come at all; without them a wait does not sleep.
    pub fn new(
        clock: Clock,
        bell: Bell,
        trusted_for: Duration,
        is_listening: impl Fn() -> bool + Send + Sync + 'static,
    ) -> Self {
        Self { clock, bell, trusted_for, is_listening: Box::new(is_listening) }
    }
}

impl Watch for BellWatch {
    fn generation(&self) -> Result<u64> {
        Ok(self.bell.rings())
    }

    fn wait_change(&self, seen: u64, at_most: Duration, cancel: &Cancel) -> Result<Wake> {
        if !(self.is_listening)() {
            cancel.check()?;
            return Ok(Wake::NoEvents);
        }
        let time = at_most.min(self.trusted_for);
        let rung = self.clock.sleep_unless_rung(&self.bell, seen, time, cancel)?;
        Ok(if rung { Wake::Changed } else { Wake::Elapsed })
    }
}
