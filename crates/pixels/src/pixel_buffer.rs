//! The bytes of a picture, in memory that is used again.
//!
//! A screen has eight million bytes. To get so much memory afresh costs several times what it costs to fill it,
//! because the system hands it out page by page at the first touch. So the last large pieces are kept.

use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, PoisonError};

/// Smaller pieces are at hand in any allocator.
const WORTH_KEEPING: usize = 1 << 20;
/// A 4K screen; what is larger is rare and goes back to the system.
const LARGEST_KEPT: usize = 3840 * 2160 * 4;
/// The pixels of one picture and what it is encoded from.
const MOST_KEPT: usize = 2;

static KEPT: Mutex<Vec<Vec<u8>>> = Mutex::new(Vec::new());

/// Never holds what an earlier picture left: it is cleared before it is handed out.
#[derive(Debug, PartialEq, Eq)]
pub struct Buffer(Vec<u8>);

impl Buffer {
    pub fn new_zeroed(length: usize) -> Self {
        let mut bytes = kept(length).unwrap_or_default();
        bytes.clear();
        bytes.resize(length, 0);
        Self(bytes)
    }
}

/// A kept piece that is large enough without being wasted on a small picture.
fn kept(length: usize) -> Option<Vec<u8>> {
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    let fits = |piece: &Vec<u8>| (length..=length.saturating_mul(2)).contains(&piece.capacity());
    let place = kept.iter().position(fits)?;
    Some(kept.swap_remove(place))
}

impl Drop for Buffer {
    fn drop(&mut self) {
        if !(WORTH_KEEPING..=LARGEST_KEPT).contains(&self.0.capacity()) {
            return;
        }
        let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= MOST_KEPT {
            // The oldest goes, so that pieces of a size that nobody wants any more do not stay.
            kept.remove(0);
        }
        kept.push(std::mem::take(&mut self.0));
    }
}

impl Clone for Buffer {
    fn clone(&self) -> Self {
        let mut copy = kept(self.len()).unwrap_or_default();
        copy.clear();
        copy.extend_from_slice(self);
        Self(copy)
    }
}

impl From<Vec<u8>> for Buffer {
    fn from(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }
}

impl Deref for Buffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl DerefMut for Buffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_in_it_is_gone() {
        for _ in 0..4 {
            let mut buffer = Buffer::new_zeroed(WORTH_KEEPING);
            assert!(buffer.iter().all(|byte| *byte == 0));
            buffer.fill(7);
        }
    }

    #[test]
    fn a_copy_is_as_long_as_its_original() {
        drop(Buffer::new_zeroed(WORTH_KEEPING + 99));
        let original = Buffer::from(vec![3; WORTH_KEEPING]);
        let copy = original.clone();
        assert!(copy == original);
    }

    #[test]
    fn a_small_picture_takes_no_large_piece() {
        drop(Buffer::new_zeroed(4 * WORTH_KEEPING));
        assert!(Buffer::new_zeroed(WORTH_KEEPING).0.capacity() <= 2 * WORTH_KEEPING);
    }

    #[test]
    fn no_more_is_kept_than_was_said() {
        let many: Vec<Buffer> = (0..2 * MOST_KEPT).map(|_| Buffer::new_zeroed(WORTH_KEEPING)).collect();
        drop(many);
        drop(Buffer::new_zeroed(LARGEST_KEPT + 1));
        let kept = KEPT.lock().unwrap();
        assert!(kept.len() <= MOST_KEPT);
        assert!(kept.iter().all(|piece| piece.capacity() <= LARGEST_KEPT));
    }
}
