//! How the C library keeps freed memory. It is set once, before there is a second thread.

/// As many as there are threads that work at a time on a small machine.
#[cfg(target_env = "gnu")]
const ARENAS: i32 = 2;

/// Just above a screenshot of 1920 × 1080 pixels, which is taken often and is to find its memory ready.
#[cfg(target_env = "gnu")]
const MAPPED_FROM_BYTES: i32 = 8 << 20;

/// glibc gives threads that allocate at the same time heaps of their own, eight for each core, and keeps in each what
/// the largest call there has freed. A server whose calls run on changing threads so ends up with all of them large:
/// after minutes of mixed work on two cores it held 316 MB, and with two heaps 110 MB, at the same cost a call.
///
/// Blocks above a threshold are mapped alone and given back when they are freed. glibc raises the threshold to the
/// largest block that was freed, so that large images end up in the heaps and leave gaps there: twenty comparisons of
/// five megapixels at once took 237 to 310 MB, and with a fixed threshold 176 to 197 MB.
#[cfg(target_env = "gnu")]
#[allow(unsafe_code, reason = "glibc has no safe way to say it")]
pub fn keep_few() {
    // SAFETY: mallopt takes two numbers and changes a setting of the allocator. It is called before other threads are
    // started, as its manual asks. What it answers is of no use: an allocator that does not know the setting works too.
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, ARENAS);
        libc::mallopt(libc::M_MMAP_THRESHOLD, MAPPED_FROM_BYTES);
    }
}

/// Other C libraries have one heap for all threads.
#[cfg(not(target_env = "gnu"))]
pub fn keep_few() {}
