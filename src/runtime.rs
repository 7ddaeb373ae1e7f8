//! The end of an asynchronous runtime.

use std::time::Duration;

use tokio::runtime::Runtime;

/// What its idle threads need to leave, many times over.
const LEAVING: Duration = Duration::from_millis(400);

/// Ends a runtime without waiting for what still runs on its threads, but with those that have nothing to do.
///
/// tokio's own way not to wait lets go of every thread at the moment at which it tells them to leave. glibc (2.36) then
/// reads a field of the thread, which is gone if it was quicker: a crash, seen once in a test with two hundred threads.
/// Threads that left in time are joined instead.
pub fn end(runtime: Runtime) {
    runtime.shutdown_timeout(LEAVING);
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::{Arc, Barrier};

    use super::*;
    use crate::clock::Clock;

    const MANY: usize = 50;

    #[test]
    fn idle_threads_have_left_when_it_has_ended() {
        let left = Arc::new(AtomicUsize::new(0));
        let counted = left.clone();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .on_thread_stop(move || {
                counted.fetch_add(1, Ordering::SeqCst);
            })
            .build()
            .unwrap();
        let here = Arc::new(Barrier::new(MANY));
        runtime.block_on(async {
            let idle = |_| {
                let here = here.clone();
                tokio::task::spawn_blocking(move || {
                    here.wait();
                })
            };
            for task in (0..MANY).map(idle).collect::<Vec<_>>() {
                task.await.unwrap();
            }
        });
        assert_eq!(left.load(Ordering::SeqCst), 0, "the threads wait for more");
        end(runtime);
        assert_eq!(left.load(Ordering::SeqCst), MANY);
    }

    #[test]
    fn a_thread_that_works_on_holds_up_nobody() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let (busy, release) = std::sync::mpsc::channel::<()>();
        runtime.spawn_blocking(move || release.recv());
        let clock = Clock::real();
        let began = clock.now();
        end(runtime);
        assert!(clock.now() - began < Duration::from_secs(20));
        drop(busy);
    }
}
