//! A thread that asks foreign applications, and is left behind when one of them never answers.
//!
//! What is asked through COM cannot be taken back: a call into an application that hangs returns when it likes. So the
//! thread is given up then, with everything that it held, and the next question goes to a new one. Threads that come
//! back from such a call end by themselves; only so many may be missing at a time.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::clock::{Cancel, lock};
use crate::error::{Error, Kind, Result};

/// How soon a cancelled call is noticed.
const SLICE: Duration = Duration::from_millis(20);
/// Threads that hang in applications; more would only pile up.
const MOST_LOST: usize = 8;

type Job<S> = Box<dyn FnOnce(&mut S) + Send>;
type Start<S> = dyn Fn() -> Result<S> + Send + Sync;

/// The state lives on the thread and never leaves it.
pub struct Worker<S> {
    name: &'static str,
    start: Arc<Start<S>>,
    line: Mutex<Option<mpsc::Sender<Job<S>>>>,
    lost: Arc<AtomicUsize>,
}

impl<S: 'static> Worker<S> {
    /// `start` makes the state, on the thread, when it is first needed and after a thread was lost.
    pub fn new(name: &'static str, start: impl Fn() -> Result<S> + Send + Sync + 'static) -> Self {
        Self { name, start: Arc::new(start), line: Mutex::default(), lost: Arc::default() }
    }

    /// How many threads hang in an application at this moment.
    pub fn lost(&self) -> usize {
        self.lost.load(Ordering::SeqCst)
    }

    /// Does the work on the thread. Whoever waits longer than `patience` gets an error, and the thread is given up.
    pub fn run<T: Send + 'static>(
        &self,
        what: &str,
        patience: Duration,
        cancel: &Cancel,
        work: impl FnOnce(&mut S) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let (tell, answer) = mpsc::channel();
        let left_behind = Arc::new(AtomicUsize::new(0));
        let (lost, mine) = (self.lost.clone(), left_behind.clone());
        self.send(Box::new(move |state| {
            let _ = tell.send(work(state));
            // It came back after it had been given up.
            if mine.swap(2, Ordering::SeqCst) == 1 {
                lost.fetch_sub(1, Ordering::SeqCst);
            }
        }))?;
        let until = Instant::now() + patience;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            match answer.recv_timeout(left.min(SLICE)) {
                Ok(answer) => return answer,
                Err(RecvTimeoutError::Disconnected) => {
                    *lock(&self.line) = None;
                    return Err(Error::internal(format!("{what}: the thread that asked has failed")));
                }
                Err(RecvTimeoutError::Timeout) => {
                    let cancelled = cancel.check();
                    if cancelled.is_ok() && !left.is_zero() {
                        continue;
                    }
                    self.give_up(&left_behind);
                    cancelled?;
                    return Err(no_answer(what, patience));
                }
            }
        }
    }

    fn give_up(&self, left_behind: &AtomicUsize) {
        *lock(&self.line) = None;
        if left_behind.compare_exchange(0, 1, Ordering::SeqCst, Ordering::SeqCst).is_ok() {
            self.lost.fetch_add(1, Ordering::SeqCst);
        }
    }

    fn send(&self, job: Job<S>) -> Result<()> {
        let mut line = lock(&self.line);
        let job = match &*line {
            None => job,
            Some(sender) => match sender.send(job) {
                Ok(()) => return Ok(()),
                // The thread could not start, and said so to whoever asked first.
                Err(unsent) => unsent.0,
            },
        };
        if self.lost() >= MOST_LOST {
            let message =
                format!("{MOST_LOST} applications do not answer; nothing more is asked before one does");
            return Err(Error::new(Kind::Timeout, message).with("phase", "accessibility"));
        }
        let sender = self.open()?;
        sender.send(job).map_err(|_| Error::internal("the thread that asks applications ended at once"))?;
        *line = Some(sender);
        Ok(())
    }

    /// A new thread; the state is made on it, and what keeps it from being made is told here.
    fn open(&self) -> Result<mpsc::Sender<Job<S>>> {
        let (sender, jobs) = mpsc::channel::<Job<S>>();
        let (tell, started) = mpsc::channel();
        let start = self.start.clone();
        let thread = std::thread::Builder::new().name(self.name.to_owned());
        let spawned = thread.spawn(move || {
            let mut state = match start() {
                Ok(state) => {
                    let _ = tell.send(Ok(()));
                    state
                }
                Err(error) => {
                    let _ = tell.send(Err(error));
                    return;
                }
            };
            while let Ok(job) = jobs.recv() {
                job(&mut state);
            }
        });
        spawned.map_err(|problem| Error::internal(format!("no thread could be started: {problem}")))?;
        match started.recv_timeout(STARTING) {
            Ok(started) => started.map(|()| sender),
            Err(_) => Err(no_answer("starting", STARTING)),
        }
    }
}

const STARTING: Duration = Duration::from_secs(5);

fn no_answer(what: &str, waited: Duration) -> Error {
    let message = format!("{what}: the application did not answer within {} ms", waited.as_millis());
    Error::new(Kind::Timeout, message).with("phase", "accessibility")
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(20);
    const SHORT: Duration = Duration::from_millis(80);

    /// Each state knows which one it is.
    fn worker() -> Worker<usize> {
        let made = AtomicUsize::new(0);
        Worker::new("test", move || Ok(made.fetch_add(1, Ordering::SeqCst)))
    }

    fn which(worker: &Worker<usize>) -> usize {
        worker.run("asking", LONG, &Cancel::new(), |state| Ok(*state)).unwrap()
    }

    #[test]
    fn one_thread_answers_all_questions() {
        let worker = worker();
        assert_eq!([which(&worker), which(&worker)], [0, 0]);
    }

    #[test]
    fn a_thread_that_hangs_is_left_behind_and_replaced() {
        let worker = worker();
        let (let_go, held) = mpsc::channel::<()>();
        let hung = worker.run("asking", SHORT, &Cancel::new(), move |_| Ok(held.recv().is_ok()));
        let error = hung.unwrap_err();
        assert_eq!(error.kind, Kind::Timeout);
        assert!(error.message.contains("80 ms"), "{error}");
        assert_eq!((worker.lost(), which(&worker)), (1, 1));
        drop(let_go);
        let began = Instant::now();
        while worker.lost() > 0 && began.elapsed() < LONG {
            std::thread::yield_now();
        }
        assert_eq!((worker.lost(), which(&worker)), (0, 1), "it came back, and nobody waits for it");
    }

    #[test]
    fn so_many_may_hang_and_no_more() {
        let worker = worker();
        let mut held = Vec::new();
        for _ in 0..MOST_LOST {
            let (let_go, hangs) = mpsc::channel::<()>();
            held.push(let_go);
            let hung = worker.run("asking", SHORT, &Cancel::new(), move |_| Ok(hangs.recv().is_ok()));
            assert!(hung.is_err());
        }
        let refused = worker.run("asking", LONG, &Cancel::new(), |_| Ok(())).unwrap_err();
        assert!(refused.message.starts_with("8 applications"), "{refused}");
    }

    #[test]
    fn a_cancelled_call_waits_no_longer() {
        let (worker, cancel) = (worker(), Cancel::new());
        let (_let_go, held) = mpsc::channel::<()>();
        cancel.fire();
        let began = Instant::now();
        let error = worker.run("asking", LONG, &cancel, move |_| Ok(held.recv().is_ok())).unwrap_err();
        assert_eq!(error, Error::cancelled());
        assert!(began.elapsed() < LONG);
    }

    #[test]
    fn a_state_that_cannot_be_made_is_told_each_time() {
        let worker: Worker<()> =
            Worker::new("test", || Err(Error::new(Kind::PlatformUnsupported, "not here")));
        for _ in 0..2 {
            let error = worker.run("asking", LONG, &Cancel::new(), |_| Ok(())).unwrap_err();
            assert_eq!((error.kind, error.message.as_str()), (Kind::PlatformUnsupported, "not here"));
        }
    }

    #[test]
    fn a_panic_costs_one_question() {
        let worker = worker();
        let failed = worker.run::<()>("asking", LONG, &Cancel::new(), |_| panic!("on purpose"));
        assert_eq!(failed.unwrap_err().kind, Kind::Internal);
        assert_eq!(which(&worker), 1);
    }
}
