//! Memory that the X server writes and we read.

use std::os::fd::OwnedFd;
use std::ptr::NonNull;

use rustix::fs::{MemfdFlags, ftruncate, memfd_create};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

/// Anonymous memory, mapped here as long as this lives.
pub struct SharedMemory {
    start: NonNull<u8>,
    length: usize,
}

// SAFETY: the mapping belongs to the process, not to the thread that made it, and `bytes` only reads.
#[allow(unsafe_code, reason = "a pointer to a mapping is as good on any thread")]
unsafe impl Send for SharedMemory {}

impl SharedMemory {
    /// The memory, and the descriptor by which another process can map it too.
    pub fn new(length: usize) -> std::io::Result<(Self, OwnedFd)> {
        let descriptor = memfd_create("os-screen-observer", MemfdFlags::CLOEXEC)?;
        ftruncate(&descriptor, length as u64)?;
        let start = map(&descriptor, length)?;
        Ok((Self { start, length }, descriptor))
    }

    pub const fn length(&self) -> usize {
        self.length
    }

    #[allow(unsafe_code, reason = "reading a mapping")]
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: `start` is a mapping of `length` bytes that lives as long as `self`. The server writes to
        // it only while it answers a request for a picture, and whoever reads waited for that answer; any
        // value of a byte is valid.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.length) }
    }
}

#[allow(unsafe_code, reason = "there is no safe way to map memory")]
fn map(descriptor: &OwnedFd, length: usize) -> std::io::Result<NonNull<u8>> {
    // SAFETY: a fresh mapping at a place that the kernel chooses touches nobody's memory.
    let start = unsafe {
        mmap(
            std::ptr::null_mut(),
            length,
            ProtFlags::READ | ProtFlags::WRITE,
            MapFlags::SHARED,
            descriptor,
            0,
        )
    }?;
    NonNull::new(start.cast()).ok_or_else(|| std::io::Error::other("memory was mapped nowhere"))
}

impl Drop for SharedMemory {
    #[allow(unsafe_code, reason = "the mapping ends with its owner")]
    fn drop(&mut self) {
        // SAFETY: exactly what `map` mapped, and nobody can hold a slice of it any more.
        let ended = unsafe { munmap(self.start.as_ptr().cast(), self.length) };
        debug_assert!(ended.is_ok(), "{ended:?}");
    }
}
