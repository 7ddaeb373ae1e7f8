//! How the C library keeps freed memory. It is set once, before there is a second thread.

/// As many as there are threads that work at a time on a small machine.
#[cfg(target_env = "gnu")]
const ARENAS: i32 = 2;

/// glibc gives threads that allocate at the same time heaps of their own, eight for each core, and keeps in each what
/// the largest call there has freed. A server whose calls run on changing threads so ends up with all of them large:
/// after minutes of mixed work on two cores it held 316 MB, and with two heaps 110 MB, at the same cost a call.
#[cfg(target_env = "gnu")]
#[allow(unsafe_code, reason = "glibc has no safe way to say it")]
pub fn keep_few() {
    // SAFETY: mallopt takes two numbers and changes a setting of the allocator. It is called before other threads are
    // started, as its manual asks. What it answers is of no use: an allocator that does not know the setting works too.
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, ARENAS);
    }
}

/// Other C libraries have one heap for all threads.
#[cfg(not(target_env = "gnu"))]
pub fn keep_few() {}
