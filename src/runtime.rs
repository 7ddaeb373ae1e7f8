//! The end of an asynchronous runtime.

use std::time::Duration;

use tokio::runtime::Runtime;

/// What its idle threads need to leave, many times over.
const LEAVING: Duration = Duration::from_millis(200);

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
    use std::cell::RefCell;
    use std::sync::{Arc, Barrier};

    use super::*;
    use crate::clock::Clock;

    thread_local! {
        static KEPT: RefCell<Option<Arc<()>>> = const { RefCell::new(None) };
    }

    fn runtime() -> Runtime {
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
    }

    #[test]
    fn idle_threads_are_gone_when_it_has_ended() {
        let runtime = runtime();
        let (alive, here) = (Arc::new(()), Arc::new(Barrier::new(50)));
        let left = Arc::downgrade(&alive);
        runtime.block_on(async {
            let idle = |_| {
                let (alive, here) = (alive.clone(), here.clone());
                tokio::task::spawn_blocking(move || {
                    KEPT.set(Some(alive));
                    here.wait();
                })
            };
            for task in (0..50).map(idle).collect::<Vec<_>>() {
                task.await.unwrap();
            }
        });
        drop(alive);
        assert!(left.upgrade().is_some(), "the threads wait for more");
        end(runtime);
        assert!(left.upgrade().is_none(), "their memory ends with them");
    }

    #[test]
    fn a_thread_that_works_on_holds_up_nobody() {
        let (clock, runtime) = (Clock::real(), runtime());
        let (busy, release) = std::sync::mpsc::channel::<()>();
        runtime.spawn_blocking(move || release.recv());
        let began = clock.now();
        end(runtime);
        assert!(clock.now() - began < Duration::from_secs(20));
        drop(busy);
    }
}
