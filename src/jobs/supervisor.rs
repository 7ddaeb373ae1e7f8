//! Starts workers as processes of their own when jobs wait, and notices when one is gone.

use std::ffi::OsString;
use std::io::Write;
use std::process::{Child, ChildStdin, Stdio};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use super::lease::unix_ms;
use super::service::JobService;
use super::status::JobStatus;
use super::store::ServerRow;
use crate::clock::{Bell, Cancel, Clock, Deadline, sleep_really};
use crate::config::OwnDesk;
use crate::random::random_token;
use crate::spawn;

const LOOK_EVERY: Duration = Duration::from_millis(100);
/// Leases of other servers' workers are looked at so often.
const REAP_EVERY: Duration = Duration::from_secs(5);
/// How often this server says that it is there.
const SEEN_EVERY: Duration = Duration::from_secs(1);
/// How long after a worker that could not work another is started.
const AFTER_FAILURE: Duration = Duration::from_secs(2);
/// How long a worker may take to leave its job when the server ends.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// What the workers of a server are.
#[derive(Clone, Debug)]
pub struct WorkerPlan {
    /// The words of their command line after `worker`, which choose their desk.
    pub words: Vec<OsString>,
    /// How many may run.
    pub most: usize,
    /// Their desks serve one job each.
    pub once: bool,
    /// Their desk is the real desktop, which nobody shares.
    pub on_desktop: bool,
    /// How many may run for jobs that have a desk of their own.
    pub most_own: usize,
}

/// Watches over the workers until it is dropped.
pub struct Supervisor {
    ended: Cancel,
    waiting: Bell,
    thread: Option<JoinHandle<()>>,
}

impl Supervisor {
    pub fn start(jobs: Arc<JobService>, plan: WorkerPlan) -> Self {
        let (ended, waiting) = (Cancel::new(), jobs.waiting.clone());
        let mut crew = WorkerCrew::new(jobs, plan);
        // Before the first job is taken.
        crew.note_server();
        let until = ended.clone();
        let thread = std::thread::spawn(move || crew.supervise(&until));
        Self { ended, waiting, thread: Some(thread) }
    }
}

impl Drop for Supervisor {
    fn drop(&mut self) {
        self.ended.fire();
        self.waiting.ring();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

struct StartedWorker {
    id: String,
    child: Child,
    /// Closed to end it.
    orders: Option<ChildStdin>,
    /// The job that it is for, where that has a desk of its own.
    for_job: Option<(String, OwnDesk)>,
}

impl StartedWorker {
    fn is_on(&self, desk: OwnDesk) -> bool {
        self.for_job.as_ref().is_some_and(|(_, own)| *own == desk)
    }
}

/// The other servers of the store. One that was killed keeps its row for some seconds, so one is announced only when it
/// has renewed its row since it was seen first.
#[derive(Default)]
struct OtherServers {
    rows: Vec<ServerRow>,
    announced: Vec<String>,
}

impl OtherServers {
    /// Those that are to be announced now.
    fn note_rows(&mut self, rows: Vec<ServerRow>) -> Vec<ServerRow> {
        let has_renewed = |row: &ServerRow| {
            self.rows.iter().any(|before| before.id == row.id && before.seen_until < row.seen_until)
        };
        let running: Vec<ServerRow> = rows
            .iter()
            .filter(|row| has_renewed(row) && !self.announced.contains(&row.id))
            .cloned()
            .collect();
        self.announced.extend(running.iter().map(|row| row.id.clone()));
        self.announced.retain(|id| rows.iter().any(|row| row.id == *id));
        self.rows = rows;
        running
    }
}

struct WorkerCrew {
    jobs: Arc<JobService>,
    plan: WorkerPlan,
    workers: Vec<StartedWorker>,
    clock: Clock,
    reaped: Duration,
    seen: Duration,
    others: OtherServers,
    not_before: Duration,
}

impl WorkerCrew {
    fn new(jobs: Arc<JobService>, plan: WorkerPlan) -> Self {
        let zero = Duration::ZERO;
        Self {
            jobs,
            plan,
            workers: Vec::new(),
            clock: Clock::real(),
            reaped: zero,
            seen: zero,
            others: OtherServers::default(),
            not_before: zero,
        }
    }

    fn supervise(&mut self, ended: &Cancel) {
        // What the last server left.
        self.reap_leases();
        self.report_found();
        loop {
            let heard = self.jobs.waiting.rings();
            self.bury_dead();
            if self.clock.now().saturating_sub(self.seen) > SEEN_EVERY {
                self.note_server();
            }
            if self.clock.now().saturating_sub(self.reaped) > REAP_EVERY {
                self.reap_leases();
            }
            self.start_workers();
            self.start_own_workers();
            if self.clock.sleep_unless_rung(&self.jobs.waiting, heard, LOOK_EVERY, ended).is_err() {
                return self.dismiss();
            }
        }
    }

    /// Says that this server is there, and who else is.
    fn note_server(&mut self) {
        self.seen = self.clock.now();
        let others = match self.jobs.note_server() {
            Ok(others) => others,
            Err(problem) => return tracing::error!("jobs: {}", problem.message),
        };
        for other in self.others.note_rows(others) {
            tracing::warn!(
                "another server (process {}, {}) has the same job store; each runs the jobs that were given to it, and \
                 the queue of one that is gone goes to the others",
                other.process,
                other.id
            );
        }
    }

    fn reap_leases(&mut self) {
        self.reaped = self.clock.now();
        match self.jobs.store.reap(unix_ms(&self.clock)) {
            Ok(jobs) => {
                for (job_id, status) in jobs {
                    tracing::warn!("the worker of job {job_id} is gone; the job is {status}");
                }
            }
            Err(problem) => tracing::error!("jobs: {}", problem.message),
        }
    }

    /// Says in one line what earlier servers left undone.
    fn report_found(&self) {
        let by_status = match self.jobs.store.stats() {
            Ok(stats) => stats.by_status,
            Err(problem) => return tracing::error!("jobs: {}", problem.message),
        };
        let is_open = |status: JobStatus| !status.is_over() || status == JobStatus::Interrupted;
        let open = by_status.iter().filter(|(status, _)| is_open(*status));
        let found: Vec<String> = open.map(|(status, count)| format!("{count} {status}")).collect();
        if !found.is_empty() {
            tracing::info!("jobs found from before: {}", found.join(", "));
        }
    }

    /// Who is gone holds nothing any more.
    fn bury_dead(&mut self) {
        let (mut left, mut failed) = (Vec::new(), false);
        for mut worker in std::mem::take(&mut self.workers) {
            match worker.child.try_wait() {
                Ok(None) => left.push(worker),
                Ok(Some(status)) => {
                    failed |= !status.success();
                    self.reap_worker(&worker.id);
                }
                Err(problem) => tracing::error!("worker {}: {problem}", worker.id),
            }
        }
        self.workers = left;
        if failed {
            self.not_before = self.clock.now() + AFTER_FAILURE;
        }
    }

    fn reap_worker(&self, id: &str) {
        match self.jobs.store.reap_worker(id, unix_ms(&self.clock)) {
            Ok(jobs) => {
                for (job_id, status) in jobs {
                    tracing::warn!("worker {id} is gone; job {job_id} is {status}");
                }
            }
            Err(problem) => tracing::error!("worker {id}: {}", problem.message),
        }
    }

    fn start_workers(&mut self) {
        let running = self.workers.len() - self.own_workers();
        let taken = self.plan.on_desktop && self.workers.iter().any(|worker| worker.is_on(OwnDesk::Desktop));
        if running >= self.plan.most || taken || self.clock.now() < self.not_before {
            return self.wake_workers();
        }
        let server = Some(self.jobs.server.id.as_str());
        let waiting = self.jobs.store.count_waiting(server, unix_ms(&self.clock)).unwrap_or_default();
        for _ in 0..waiting.min(self.plan.most - running) {
            if !self.add_worker(None) {
                return;
            }
        }
    }

    /// Each is for one job, on the desk that the job asks for.
    fn start_own_workers(&mut self) {
        if self.clock.now() < self.not_before {
            return;
        }
        for (job_id, desk) in self.waiting_for_desks() {
            let full = self.own_workers() >= self.plan.most_own;
            if full || (self.may_start(&job_id, desk) && !self.add_worker(Some((job_id, desk)))) {
                return;
            }
        }
    }

    fn own_workers(&self) -> usize {
        self.workers.iter().filter(|worker| worker.for_job.is_some()).count()
    }

    /// The next ones. Those that have a worker are still in the queue until it takes them.
    fn waiting_for_desks(&self) -> Vec<(String, OwnDesk)> {
        let (server, now) = (&self.jobs.server.id, unix_ms(&self.clock));
        let most = self.plan.most_own + self.own_workers();
        let waiting = self.jobs.store.waiting_for_desks(server, now, most);
        waiting.unwrap_or_else(|problem| {
            tracing::error!("jobs: {}", problem.message);
            Vec::new()
        })
    }

    /// A job has one worker, and so has the real desktop.
    fn may_start(&self, job_id: &str, desk: OwnDesk) -> bool {
        let shares = |worker: &StartedWorker| match &worker.for_job {
            Some((other, own)) => other == job_id || (desk == OwnDesk::Desktop && *own == desk),
            None => desk == OwnDesk::Desktop && self.plan.on_desktop,
        };
        !self.workers.iter().any(shares)
    }

    /// Whether it could be started.
    fn add_worker(&mut self, for_job: Option<(String, OwnDesk)>) -> bool {
        match self.start_worker(for_job) {
            Ok(worker) => self.workers.push(worker),
            Err(problem) => {
                tracing::error!("no worker can be started: {problem}");
                self.not_before = self.clock.now() + AFTER_FAILURE;
                return false;
            }
        }
        true
    }

    fn wake_workers(&mut self) {
        for orders in self.workers.iter_mut().filter_map(|worker| worker.orders.as_mut()) {
            // Who is gone is noticed elsewhere.
            let _ = orders.write_all(b"\n");
        }
    }

    fn start_worker(&self, for_job: Option<(String, OwnDesk)>) -> std::io::Result<StartedWorker> {
        let id = random_token("worker_");
        let mut command = spawn::ourselves()?;
        command.args(["worker", "--id", &id, "--server", &self.jobs.server.id]);
        if self.plan.once {
            command.arg("--once");
        }
        if let Some((job_id, _)) = &for_job {
            command.args(["--job", job_id]);
        }
        command.args(&self.plan.words).stdin(Stdio::piped()).stdout(Stdio::null());
        let mut child = command.spawn()?;
        let orders = child.stdin.take();
        Ok(StartedWorker { id, child, orders, for_job })
    }

    /// All leave their jobs; who does not in time is ended.
    fn dismiss(&mut self) {
        self.workers.iter_mut().for_each(|worker| drop(worker.orders.take()));
        let deadline = Deadline::after(LAST_WORDS);
        while !self.workers.is_empty() && deadline.elapsed() < LAST_WORDS {
            self.bury_dead();
            sleep_really(Duration::from_millis(10));
        }
        for mut worker in std::mem::take(&mut self.workers) {
            let _ = worker.child.kill();
            let _ = worker.child.wait();
            self.reap_worker(&worker.id);
        }
        self.jobs.close_service();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(id: &str, seen_until: i64) -> ServerRow {
        ServerRow { id: id.to_owned(), process: 1, started_at: 0, seen_until }
    }

    /// Notes these rows one after the other, and answers who was announced at which.
    fn check(notes: &[&[(&str, i64)]], expected: &[&[&str]]) {
        let mut others = OtherServers::default();
        for (note, expected) in notes.iter().zip(expected) {
            let announced = others.note_rows(note.iter().map(|(id, seen)| row(id, *seen)).collect());
            let ids: Vec<&str> = announced.iter().map(|row| row.id.as_str()).collect();
            assert_eq!(ids, *expected, "{notes:?}");
        }
    }

    #[test]
    fn another_server_is_announced_once_and_only_if_it_runs() {
        check(&[&[("killed", 5)], &[("killed", 5)], &[]], &[&[], &[], &[]]);
        check(&[&[("runs", 5)], &[("runs", 5)], &[("runs", 6)], &[("runs", 7)]], &[&[], &[], &["runs"], &[]]);
        check(
            &[&[("a", 5), ("b", 5)], &[("a", 6), ("b", 5)], &[("b", 6)], &[("a", 8)], &[("a", 9)]],
            &[&[], &["a"], &["b"], &[], &["a"]],
        );
    }
}
