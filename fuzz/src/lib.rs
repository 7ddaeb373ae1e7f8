//! The properties of tests/fuzz, for libFuzzer; and a watch on what single inputs cost.

#[path = "../../tests/fuzz/properties/mod.rs"]
pub mod properties;

use std::sync::atomic::{AtomicI64, Ordering};

/// An input that takes longer is worth a look, although the instrumented build is several times slower than a release.
const WORTH_A_LOOK: i64 = 100_000;

/// The most that an input has cost so far.
static MOST: AtomicI64 = AtomicI64::new(WORTH_A_LOOK);

/// Checks one input. When it is the slowest so far, that is said and the input is kept in `FUZZ_SLOW_DIR`.
///
/// Libraries and threads count, and other programs do not: it is the processor's time that is measured.
pub fn run(check: fn(&[u8]), data: &[u8]) {
    let before = processor_microseconds();
    check(data);
    let cost = processor_microseconds() - before;
    if cost > MOST.load(Ordering::Relaxed) {
        MOST.store(cost, Ordering::Relaxed);
        eprintln!("slow: {} ms of processor time for {} bytes", cost / 1000, data.len());
        if let Some(folder) = std::env::var_os("FUZZ_SLOW_DIR") {
            let kept = std::path::Path::new(&folder).join(format!("slow-{}", cost / 1000));
            std::fs::write(kept, data).unwrap_or_else(|problem| eprintln!("it could not be kept: {problem}"));
        }
    }
}

fn processor_microseconds() -> i64 {
    unsafe extern "C" {
        fn clock() -> std::ffi::c_long;
    }
    // SAFETY: the function of the C library takes nothing and only asks the system.
    unsafe { clock() }
}
