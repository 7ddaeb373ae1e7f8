//! Threads that call into other applications, and are abandoned when one never answers.
//!
//! A COM call cannot be cancelled: a call into an application that hangs returns at any time or never. So the
//! thread is abandoned then, with everything that it holds, and the next request goes to a new one. Threads
//! that come back from such a call end by themselves; only so many may be missing at a time.
//!
//! A request is passed to the thread only when it is idle: a caller that waits for its turn has sent nothing
//! yet and can give up at any time, so nothing is done after it left.

use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use crate::clock::{Cancel, Deadline, lock};
use crate::error::{Error, Kind, Result};

/// How soon a cancelled call is noticed.
const SLICE: Duration = Duration::from_millis(20);
/// Threads that hang in one application: each dialog that a press opened may hold one. More would only pile up.
const MOST_LOST: usize = 4;
/// How long a question waits for those before it: longer than a whole tree may take.
const TURN: Duration = Duration::from_secs(30);
const STARTING: Duration = Duration::from_secs(5);

type WorkerJob<S> = Box<dyn FnOnce(&mut S) + Send>;
type Start<S> = dyn Fn() -> Result<S> + Send + Sync;

/// What came of a question that was asked.
#[derive(Debug, PartialEq, Eq)]
pub enum Answer<T> {
    Given(T),
    /// It was asked, and is not answered yet.
    NotYet,
}

/// One thread. The state lives on it and never leaves it.
pub struct Worker<S> {
    name: &'static str,
    start: Arc<Start<S>>,
    line: Mutex<WorkerQueue<S>>,
    free: Condvar,
    lost: Arc<AtomicUsize>,
}

struct WorkerQueue<S> {
    /// Somebody's question is with the thread.
    taken: bool,
    thread: Option<mpsc::Sender<WorkerJob<S>>>,
}

/// What is under way on a thread: who comes last, the one who waits or the thread, knows that the other was there.
struct Errand {
    stage: Arc<AtomicU8>,
    lost: Arc<AtomicUsize>,
}

const UNDER_WAY: u8 = 0;
const GIVEN_UP: u8 = 1;
const OVER: u8 = 2;

impl Errand {
    fn new(lost: &Arc<AtomicUsize>) -> Self {
        Self { stage: Arc::new(AtomicU8::new(UNDER_WAY)), lost: lost.clone() }
    }

    fn end(&self) -> ErrandEnd {
        ErrandEnd(Errand { stage: self.stage.clone(), lost: self.lost.clone() })
    }

    /// Counts the thread as lost, unless it has come back meanwhile.
    fn give_up(&self) -> bool {
        self.lost.fetch_add(1, Ordering::SeqCst);
        let given_up =
            self.stage.compare_exchange(UNDER_WAY, GIVEN_UP, Ordering::SeqCst, Ordering::SeqCst).is_ok();
        if !given_up {
            self.lost.fetch_sub(1, Ordering::SeqCst);
        }
        given_up
    }
}

/// The thread's end of an errand. It is dropped when the work is over, also by a panic.
struct ErrandEnd(Errand);

impl Drop for ErrandEnd {
    fn drop(&mut self) {
        if self.0.stage.swap(OVER, Ordering::SeqCst) == GIVEN_UP {
            self.0.lost.fetch_sub(1, Ordering::SeqCst);
        }
    }
}

/// The turn of one question. Whoever is next gets it when this ends.
struct WorkerTurn<'a, S> {
    worker: &'a Worker<S>,
}

impl<S> Drop for WorkerTurn<'_, S> {
    fn drop(&mut self) {
        lock(&self.worker.line).taken = false;
        self.worker.free.notify_one();
    }
}

impl<S: 'static> Worker<S> {
    /// `start` makes the state, on the thread, when it is first needed and after a thread was lost.
    pub fn new(name: &'static str, start: impl Fn() -> Result<S> + Send + Sync + 'static) -> Self {
        Self::sharing(name, Arc::new(start))
    }

    fn sharing(name: &'static str, start: Arc<Start<S>>) -> Self {
        let line = Mutex::new(WorkerQueue { taken: false, thread: None });
        Self { name, start, line, free: Condvar::new(), lost: Arc::default() }
    }

    /// How many threads hang in the application at this moment.
    pub fn lost(&self) -> usize {
        self.lost.load(Ordering::SeqCst)
    }

    /// Does the work on the thread. Who has to wait longer than `patience` after it began gets an error, and the thread
    /// is given up.
    pub fn run<T: Send + 'static>(
        &self,
        what: &str,
        patience: Duration,
        cancel: &Cancel,
        work: impl FnOnce(&mut S) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        match self.ask(what, patience, cancel, work)? {
            Answer::Given(answer) => Ok(answer),
            Answer::NotYet => Err(no_answer(what, patience)),
        }
    }

    /// The same, for whom no answer is an answer. Every error but one of the work itself says that nothing was asked.
    pub fn ask<T: Send + 'static>(
        &self,
        what: &str,
        patience: Duration,
        cancel: &Cancel,
        work: impl FnOnce(&mut S) -> Result<T> + Send + 'static,
    ) -> Result<Answer<T>> {
        let _turn = self.turn(what, cancel)?;
        let thread = self.thread(cancel)?;
        let (tell, answer) = mpsc::channel();
        let errand = Errand::new(&self.lost);
        let end = errand.end();
        let job: WorkerJob<S> = Box::new(move |state| {
            let _end = end;
            let _ = tell.send(work(state));
        });
        if thread.send(job).is_err() {
            lock(&self.line).thread = None;
            return Err(failed(what));
        }
        self.wait(what, &errand, &answer, patience, cancel)
    }

    /// Waits until no other question is with the thread.
    fn turn(&self, what: &str, cancel: &Cancel) -> Result<WorkerTurn<'_, S>> {
        let deadline = Deadline::after(TURN);
        let mut line = lock(&self.line);
        while line.taken {
            cancel.check()?;
            if deadline.is_over() {
                let message =
                    format!("{what}: the application is still busy with earlier requests; nothing was sent");
                return Err(Error::new(Kind::Timeout, message).with("phase", "queue"));
            }
            (line, _) = self.free.wait_timeout(line, SLICE).unwrap_or_else(PoisonError::into_inner);
        }
        cancel.check()?;
        line.taken = true;
        Ok(WorkerTurn { worker: self })
    }

    fn wait<T>(
        &self,
        what: &str,
        errand: &Errand,
        answer: &Receiver<Result<T>>,
        patience: Duration,
        cancel: &Cancel,
    ) -> Result<Answer<T>> {
        let deadline = Deadline::after(patience);
        loop {
            let left = deadline.left();
            match answer.recv_timeout(left.min(SLICE)) {
                Ok(answer) => return answer.map(Answer::Given),
                Err(RecvTimeoutError::Disconnected) => {
                    lock(&self.line).thread = None;
                    return Err(failed(what));
                }
                Err(RecvTimeoutError::Timeout) => {
                    let cancelled = cancel.check();
                    let goes_on = cancelled.is_ok() && !left.is_zero();
                    // What came in the very last moment is in the channel, and is taken out next.
                    if goes_on || !errand.give_up() {
                        continue;
                    }
                    lock(&self.line).thread = None;
                    return cancelled.map(|()| Answer::NotYet);
                }
            }
        }
    }

    /// The thread that there is, or a new one.
    fn thread(&self, cancel: &Cancel) -> Result<mpsc::Sender<WorkerJob<S>>> {
        if let Some(thread) = &lock(&self.line).thread {
            return Ok(thread.clone());
        }
        if self.lost() >= MOST_LOST {
            let message = format!(
                "{MOST_LOST} requests to the application are unanswered; no more are sent until one is answered"
            );
            return Err(Error::new(Kind::Timeout, message).with("phase", "accessibility"));
        }
        let thread = self.open(cancel)?;
        lock(&self.line).thread = Some(thread.clone());
        Ok(thread)
    }

    /// A new thread; the state is made on it, and what keeps it from being made is told here.
    fn open(&self, cancel: &Cancel) -> Result<mpsc::Sender<WorkerJob<S>>> {
        let (sender, jobs) = mpsc::channel::<WorkerJob<S>>();
        let (tell, started) = mpsc::channel();
        let start = self.start.clone();
        let errand = Errand::new(&self.lost);
        let end = errand.end();
        let thread = std::thread::Builder::new().name(self.name.to_owned());
        let spawned = thread.spawn(move || {
            let end = end;
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
            drop(end);
            while let Ok(job) = jobs.recv() {
                job(&mut state);
            }
        });
        spawned.map_err(|problem| Error::internal(format!("no thread could be started: {problem}")))?;
        match self.wait("starting", &errand, &started, STARTING, cancel)? {
            Answer::Given(()) => Ok(sender),
            Answer::NotYet => Err(no_answer("starting", STARTING)),
        }
    }
}

/// A thread for each application, so that one that is slow keeps nobody waiting who asks another.
pub struct Lanes<S> {
    name: &'static str,
    start: Arc<Start<S>>,
    /// By the application, the one that was asked last at the end.
    lanes: Mutex<Vec<(u32, Arc<Worker<S>>)>>,
}

/// Of so many applications a thread is kept; one whose threads hang is kept beyond that, to be counted.
const MOST_LANES: usize = 8;
/// More applications than that do not hang on a desktop that can be helped.
const MOST_STUCK: usize = 16;

impl<S: 'static> Lanes<S> {
    pub fn new(name: &'static str, start: impl Fn() -> Result<S> + Send + Sync + 'static) -> Self {
        Self { name, start: Arc::new(start), lanes: Mutex::default() }
    }

    /// The thread of an application. A thread that makes room ends when its last question is answered.
    pub fn of(&self, application: u32) -> Result<Arc<Worker<S>>> {
        let mut lanes = lock(&self.lanes);
        let known =
            lanes.iter().position(|(known, _)| *known == application).map(|place| lanes.remove(place));
        let lane = match known {
            Some(lane) => lane,
            None => {
                make_room(&mut lanes)?;
                (application, Arc::new(Worker::sharing(self.name, self.start.clone())))
            }
        };
        let worker = lane.1.clone();
        lanes.push(lane);
        Ok(worker)
    }
}

fn make_room<S: 'static>(lanes: &mut Vec<(u32, Arc<Worker<S>>)>) -> Result<()> {
    if lanes.len() < MOST_LANES {
        return Ok(());
    }
    if let Some(place) = lanes.iter().position(|(_, worker)| worker.lost() == 0) {
        lanes.remove(place);
    } else if lanes.len() >= MOST_STUCK {
        let message = format!(
            "{MOST_STUCK} applications do not answer; no other application is asked until one of them does"
        );
        return Err(Error::new(Kind::Timeout, message).with("phase", "accessibility"));
    }
    Ok(())
}

fn failed(what: &str) -> Error {
    Error::internal(format!("{what}: the thread of the request failed"))
}

fn no_answer(what: &str, waited: Duration) -> Error {
    let message = format!("{what}: the application did not answer within {} ms", waited.as_millis());
    Error::new(Kind::Timeout, message).with("phase", "accessibility")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::sleep_really;
    use std::sync::atomic::AtomicBool;

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

    fn until(holds: impl Fn() -> bool) {
        let deadline = Deadline::after(LONG);
        while !holds() && !deadline.is_over() {
            std::thread::yield_now();
        }
        assert!(holds());
    }

    /// A question that is answered when the other end is dropped, and is not waited for any longer.
    fn hang(worker: &Worker<usize>) -> mpsc::Sender<()> {
        let (let_go, held) = mpsc::channel::<()>();
        let hung = worker.run("asking", SHORT, &Cancel::new(), move |_| Ok(held.recv().is_ok()));
        let error = hung.unwrap_err();
        assert_eq!(error.kind, Kind::Timeout);
        assert!(error.message.contains("80 ms"), "{error}");
        let_go
    }

    #[test]
    fn one_thread_answers_all_questions() {
        let worker = worker();
        assert_eq!([which(&worker), which(&worker)], [0, 0]);
    }

    #[test]
    fn a_thread_that_hangs_is_left_behind_and_replaced() {
        let worker = worker();
        let let_go = hang(&worker);
        assert_eq!((worker.lost(), which(&worker)), (1, 1));
        drop(let_go);
        until(|| worker.lost() == 0);
        assert_eq!(which(&worker), 1, "it came back, and nobody waits for it");
    }

    #[test]
    fn so_many_may_hang_and_no_more() {
        let worker = worker();
        let held: Vec<_> = (0..MOST_LOST).map(|_| hang(&worker)).collect();
        let refused = worker.run("asking", LONG, &Cancel::new(), |_| Ok(())).unwrap_err();
        assert!(refused.message.starts_with("4 requests"), "{refused}");
        drop(held);
        until(|| worker.lost() == 0);
        assert_eq!(which(&worker), MOST_LOST);
    }

    #[test]
    fn a_cancelled_call_waits_no_longer() {
        let (worker, cancel) = (worker(), Cancel::new());
        let (_let_go, held) = mpsc::channel::<()>();
        let (begun, heard) = mpsc::channel::<()>();
        let stop = cancel.clone();
        let stopper = std::thread::spawn(move || {
            heard.recv().unwrap();
            stop.fire();
        });
        let deadline = Deadline::after(LONG);
        let asked = worker.run("asking", LONG, &cancel, move |_| {
            let _ = begun.send(());
            Ok(held.recv().is_ok())
        });
        assert_eq!(asked.unwrap_err(), Error::cancelled());
        assert!(!deadline.is_over());
        assert_eq!(worker.lost(), 1);
        stopper.join().unwrap();
    }

    #[test]
    fn what_waits_for_its_turn_is_not_asked_after_it_was_taken_back() {
        let worker = worker();
        let (let_go, held) = mpsc::channel::<()>();
        let (begun, heard) = mpsc::channel::<()>();
        let done = Arc::new(AtomicBool::new(false));
        let cancel = Cancel::new();
        std::thread::scope(|scope| {
            let slow = scope.spawn(|| {
                worker.run("reading", LONG, &Cancel::new(), move |_| {
                    let _ = begun.send(());
                    Ok(held.recv().is_err())
                })
            });
            heard.recv().unwrap();
            let does = done.clone();
            let click = scope.spawn(|| {
                worker.ask("clicking", SHORT, &cancel, move |_| {
                    does.store(true, Ordering::SeqCst);
                    Ok(())
                })
            });
            sleep_really(2 * SHORT);
            assert!(!click.is_finished(), "its patience begins when it is asked");
            cancel.fire();
            assert_eq!(click.join().unwrap().unwrap_err(), Error::cancelled());
            assert_eq!(worker.lost(), 0, "it cost no thread");
            drop(let_go);
            assert!(slow.join().unwrap().unwrap());
        });
        assert_eq!(which(&worker), 0);
        assert!(!done.load(Ordering::SeqCst), "it was done later all the same");
    }

    #[test]
    fn what_waited_behind_one_that_hangs_is_asked_on_a_new_thread() {
        let worker = worker();
        let (_let_go, held) = mpsc::channel::<()>();
        let (begun, heard) = mpsc::channel::<()>();
        std::thread::scope(|scope| {
            let hangs = scope.spawn(|| {
                worker.ask("reading", SHORT, &Cancel::new(), move |_| {
                    let _ = begun.send(());
                    Ok(held.recv().is_err())
                })
            });
            heard.recv().unwrap();
            assert_eq!(which(&worker), 1);
            assert_eq!(hangs.join().unwrap().unwrap(), Answer::NotYet);
        });
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
    fn a_thread_that_does_not_start_is_counted_until_it_does() {
        let (let_go, held) = mpsc::channel::<()>();
        let held = Mutex::new(held);
        let worker: Worker<()> = Worker::new("test", move || {
            let _ = lock(&held).recv();
            Ok(())
        });
        let cancel = Cancel::new();
        let stop = cancel.clone();
        std::thread::scope(|scope| {
            let asked = scope.spawn(|| worker.run("asking", LONG, &cancel, |()| Ok(())));
            sleep_really(SHORT);
            stop.fire();
            assert_eq!(asked.join().unwrap().unwrap_err(), Error::cancelled());
        });
        assert_eq!(worker.lost(), 1);
        drop(let_go);
        until(|| worker.lost() == 0);
        worker.run("asking", LONG, &Cancel::new(), |()| Ok(())).unwrap();
    }

    #[test]
    fn a_panic_costs_one_question() {
        let worker = worker();
        let failed = worker.run::<()>("asking", LONG, &Cancel::new(), |_| panic!("on purpose"));
        assert_eq!(failed.unwrap_err().kind, Kind::Internal);
        assert_eq!(which(&worker), 1);
    }

    #[test]
    fn a_panic_of_one_that_was_given_up_is_counted() {
        let worker = worker();
        let (let_go, held) = mpsc::channel::<()>();
        let asked = worker.run::<()>("asking", SHORT, &Cancel::new(), move |_| {
            let _ = held.recv();
            panic!("on purpose")
        });
        assert_eq!((asked.unwrap_err().kind, worker.lost()), (Kind::Timeout, 1));
        drop(let_go);
        until(|| worker.lost() == 0);
    }

    fn lanes() -> Lanes<usize> {
        let made = AtomicUsize::new(0);
        Lanes::new("test", move || Ok(made.fetch_add(1, Ordering::SeqCst)))
    }

    #[test]
    fn an_application_that_hangs_costs_no_other() {
        let lanes = lanes();
        let _held: Vec<_> = (0..MOST_LOST).map(|_| hang(&lanes.of(1).unwrap())).collect();
        assert!(lanes.of(1).unwrap().run("asking", LONG, &Cancel::new(), |_| Ok(())).is_err());
        let other = which(&lanes.of(2).unwrap());
        assert_eq!(which(&lanes.of(2).unwrap()), other, "an application keeps its thread");
    }

    #[test]
    fn the_application_that_was_asked_longest_ago_makes_room() {
        let lanes = lanes();
        let first = which(&lanes.of(0).unwrap());
        for application in 1..u32::try_from(MOST_LANES).unwrap() {
            which(&lanes.of(application).unwrap());
        }
        assert_eq!(which(&lanes.of(0).unwrap()), first);
        which(&lanes.of(100).unwrap());
        assert_eq!(which(&lanes.of(0).unwrap()), first, "it was asked a moment ago");
        assert_eq!(which(&lanes.of(1).unwrap()), MOST_LANES + 1);
    }

    #[test]
    fn one_that_hangs_is_not_forgotten() {
        let lanes = lanes();
        let _held = hang(&lanes.of(0).unwrap());
        for application in 1..50 {
            lanes.of(application).unwrap();
        }
        assert_eq!(lanes.of(0).unwrap().lost(), 1);
    }
}
