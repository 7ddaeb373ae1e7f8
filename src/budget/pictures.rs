//! How much memory pictures that callers send may take, of all callers together.
//!
//! A picture of a few kilobytes may unpack to hundreds of megabytes, and many calls run at a time. What a call's
//! pictures will take is known from their heads; the call waits until there is room for all of them.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use crate::clock::{Cancel, lock};
use crate::config::limits::PICTURE_WORK_BYTES;
use crate::error::{Error, Result};

/// How often a call that waits looks whether it was cancelled.
const LOOK_AGAIN: Duration = Duration::from_millis(50);

#[derive(Debug, Default)]
pub struct PictureBudget {
    used: Mutex<u64>,
    freed: Condvar,
}

/// Room that is given back when the pictures are done with.
#[derive(Debug)]
pub struct PictureRoom<'a> {
    budget: &'a PictureBudget,
    bytes: u64,
}

impl PictureBudget {
    /// Room for all pictures of one call at once: two calls that waited for each other's second picture would wait for
    /// ever.
    pub fn take_room(&self, bytes: u64, cancel: &Cancel) -> Result<PictureRoom<'_>> {
        if bytes > PICTURE_WORK_BYTES {
            return Err(Error::bad_request(format!(
                "the images of this call take {bytes} bytes once unpacked, at most {PICTURE_WORK_BYTES} are allowed; \
                 send smaller ones"
            )));
        }
        let mut used = lock(&self.used);
        while *used + bytes > PICTURE_WORK_BYTES {
            cancel.check()?;
            let waited = self.freed.wait_timeout(used, LOOK_AGAIN);
            used = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        *used += bytes;
        Ok(PictureRoom { budget: self, bytes })
    }
}

impl Drop for PictureRoom<'_> {
    fn drop(&mut self) {
        *lock(&self.budget.used) -= self.bytes;
        self.budget.freed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// H-121 on code: no more is in work than there is room for, and what is given back is taken by the next.
    #[test]
    fn calls_wait_for_room() {
        let budget = PictureBudget::default();
        let most = Mutex::new(0);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    let _room = budget.take_room(PICTURE_WORK_BYTES / 2, &Cancel::new()).unwrap();
                    let used = *lock(&budget.used);
                    let mut most = lock(&most);
                    *most = used.max(*most);
                });
            }
        });
        assert!(*lock(&most) <= PICTURE_WORK_BYTES);
        assert_eq!(*lock(&budget.used), 0);
    }

    /// H-121 on code: what can never fit is refused, and who waits can be cancelled.
    #[test]
    fn what_never_fits_is_refused() {
        let budget = PictureBudget::default();
        let problem = budget.take_room(PICTURE_WORK_BYTES + 1, &Cancel::new()).unwrap_err().message;
        assert!(problem.contains("at most 134217728"), "{problem}");
        let _all = budget.take_room(PICTURE_WORK_BYTES, &Cancel::new()).unwrap();
        let cancel = Cancel::new();
        cancel.fire();
        assert!(budget.take_room(1, &cancel).is_err());
    }
}
