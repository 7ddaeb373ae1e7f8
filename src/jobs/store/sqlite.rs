//! The store in one file of SQLite. Several processes may have it open: writes are short transactions that take the
//! write lock at once, and the file waits for a busy one.

mod web_tables;

use std::fs::OpenOptions;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension, Row, Transaction, TransactionBehavior, params};
use serde_json::{Map, Value};

use super::reserve::{DiskReserve, RESERVED_BYTES};
use super::{
    Claimed, Ending, EventKind, JobArtifact, JobError, JobEvent, JobLease, JobQuestion, JobRecord, JobStats,
    JobTally, LEASE_GRACE_MS, LEASE_MS, MOST_ATTEMPTS, ModelUse, NumberedEvent, Renewal, SERVER_LEASE_MS,
    ServerRow, Store,
};
use crate::clock::{lock, sleep_really};
use crate::config::OwnDesk;
use crate::error::{Error, Kind, Result};
use crate::files;
use crate::jobs::money::Cost;
use crate::jobs::planner::HOST_NAME;
use crate::jobs::spec::JobSpec;
use crate::jobs::status::{FailureCode, JobStatus, Wanted};
use crate::random::random_token;

/// What makes a file of one version from one of the version before.
const MIGRATIONS: [&str; 4] = [
    include_str!("schema.sql"),
    include_str!("schema_2.sql"),
    include_str!("schema_3.sql"),
    include_str!("schema_4.sql"),
];
/// How long a busy file is waited for; writes are short, so it is looked at often.
const BUSY: Duration = Duration::from_millis(1);
const MOST_BUSY: i32 = 5_000;
const KEPT_STATEMENTS: usize = 64;
/// The reason that a full disk gives a refusal.
const DISK_FULL: &str = "disk_full";
/// A server that was not seen for a day is forgotten.
const FORGOTTEN_AFTER_MS: i64 = 24 * 3600 * 1000;
/// Of jobs that wait no more are counted; `jobs.workers` allows no more.
const MOST_WORKERS: i64 = 64;

const COLUMNS: &str = "id, status, wanted, spec, result, error, usage, cost_pico, steps, effects, attempts, epoch, worker, \
                       created_at, started_at, finished_at, run_dir, last_event, used, worked_ms, lease_until, owner";

const WAS_CANCELLED: &str = "it was cancelled";

/// Has no desk of its own.
const DESKLESS: &str = "json_extract(spec, '$.desk') IS NULL";

/// What a server may take: its own jobs, and those of servers that are not there. A worker without a server takes any.
const TAKEABLE: &str = "status = 'queued' AND wanted = 'run' AND (?1 IS NULL OR owner IS NULL OR owner = ?1 OR \
                        NOT EXISTS (SELECT 1 FROM servers WHERE servers.id = owner AND seen_until > ?2))";

pub struct SqliteStore {
    connection: Mutex<Connection>,
    /// Where it is a file.
    path: Option<PathBuf>,
    reserve: Option<DiskReserve>,
}

impl SqliteStore {
    /// Opens the file, and creates it for this user alone. A file of a newer program is refused.
    pub fn open(path: &Path) -> Result<Self> {
        let named = |problem: String| {
            let message = format!(
                "the job store {} cannot be opened: {problem}; its folder, jobs.dir, must be one that you can write to",
                path.display()
            );
            Error::new(Kind::StorageFailed, message)
        };
        create_file(path).map_err(|problem| named(problem.to_string()))?;
        let connection = Connection::open(path).map_err(|problem| named(problem.to_string()))?;
        let mut store = Self::prepare(connection).map_err(|problem| named(problem.message))?;
        let no_room = |problem: io::Error| {
            tracing::warn!("{}: no room could be kept for the ends of jobs: {problem}", path.display());
        };
        let reserve = DiskReserve::beside(path).map_err(|problem| named(problem.to_string()))?;
        reserve.take_room().unwrap_or_else(no_room);
        store.path = Some(path.to_owned());
        store.reserve = Some(reserve);
        Ok(store)
    }

    /// In memory, for tests.
    pub fn in_memory() -> Result<Self> {
        Self::prepare(Connection::open_in_memory().map_err(storage)?)
    }

    fn prepare(mut connection: Connection) -> Result<Self> {
        connection.busy_handler(Some(wait_for_turn)).map_err(storage)?;
        connection.set_prepared_statement_cache_capacity(KEPT_STATEMENTS);
        let settings = "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON;";
        connection.execute_batch(settings).map_err(storage)?;
        migrate(&mut connection)?;
        Ok(Self { connection: Mutex::new(connection), path: None, reserve: None })
    }

    fn write<T>(&self, work: impl FnOnce(&Transaction) -> Result<T>) -> Result<T> {
        self.write_after(|| {}, work)
    }

    /// `first` is done when nobody else writes.
    fn write_after<T>(
        &self,
        first: impl FnOnce(),
        work: impl FnOnce(&Transaction) -> Result<T>,
    ) -> Result<T> {
        let mut connection = lock(&self.connection);
        let done = connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(storage)
            .and_then(|transaction| {
                first();
                let done = work(&transaction)?;
                transaction.commit().map_err(storage)?;
                Ok(done)
            });
        done.map_err(|error| self.with_place(error))
    }

    /// What ends a job is written also where the disk is full: room was kept for it. It is given when no other worker can
    /// fill it with what is no end.
    fn write_end<T>(&self, work: impl Fn(&Transaction) -> Result<T>) -> Result<T> {
        match (self.write(&work), &self.reserve) {
            (Err(error), Some(reserve)) if is_full(&error) => {
                self.write_after(|| _ = reserve.give_room(), &work)
            }
            (done, _) => done,
        }
    }

    /// Names the file where the disk is the problem.
    fn with_place(&self, error: Error) -> Error {
        match &self.path {
            Some(path) if error.kind == Kind::StorageFailed => {
                Error { message: format!("{} ({})", error.message, path.display()), ..error }
            }
            _ => error,
        }
    }

    /// A job is taken only where its end can be written.
    fn require_room(&self) -> Result<()> {
        let Some(reserve) = &self.reserve else { return Ok(()) };
        reserve.take_room().map_err(|problem| {
            let message = format!(
                "no job is taken: {} KiB cannot be kept for its end: {problem}; make room on the disk",
                RESERVED_BYTES >> 10
            );
            self.with_place(Error::new(Kind::StorageFailed, message).with("reason", DISK_FULL))
        })
    }

    fn take(&self, worker: &str, server: Option<&str>, now: i64) -> Result<Option<Claimed>> {
        self.write(|transaction| {
            let next = format!(
                "SELECT id FROM jobs WHERE {TAKEABLE} AND {DESKLESS} ORDER BY priority DESC, created_at, id LIMIT 1"
            );
            let found: Option<String> = transaction
                .prepare_cached(&next)
                .and_then(|mut next| next.query_row(params![server, now], |row| row.get(0)).optional())
                .map_err(storage)?;
            found.map(|job_id| take_job(transaction, &job_id, worker, now)).transpose()
        })
    }
}

/// The job is this worker's from here on.
fn take_job(transaction: &Transaction, job_id: &str, worker: &str, now: i64) -> Result<Claimed> {
    let take = "UPDATE jobs SET status = 'running', epoch = epoch + 1, attempts = attempts + 1, worker = ?2, \
                lease_until = ?3, started_at = COALESCE(started_at, ?4) WHERE id = ?1 \
                RETURNING epoch, attempts, spec, steps, usage, cost_pico, used, worked_ms";
    let taken = transaction.prepare_cached(take).and_then(|mut take| {
        take.query_row(params![job_id, worker, now + LEASE_MS, now], |row| {
            let tally = (row.get(3)?, row.get(4)?, row.get(5)?, row.get(6)?, row.get(7)?);
            Ok((row.get(0)?, row.get(1)?, row.get::<_, String>(2)?, tally))
        })
    });
    let (epoch, attempts, spec, tally) = taken.map_err(storage)?;
    let lease = JobLease { job_id: job_id.to_owned(), worker: worker.to_owned(), epoch };
    add_event(transaction, job_id, epoch, EventKind::Note, &note("status", "running"), now)?;
    Ok(Claimed { spec: read_spec(&spec)?, lease, attempts, earlier: read_tally(tally)? })
}

/// Steps, usage, cost, use and time, as the columns have them.
type TallyRow = (i64, String, Option<i64>, String, i64);

fn read_tally(row: TallyRow) -> Result<JobTally> {
    let (steps, usage, cost, used, worked_ms) = row;
    Ok(JobTally {
        steps: unsigned(steps),
        usage: read_json(&usage)?,
        cost: cost.map(|pico| Cost(unsigned(pico))),
        used: read_json(&used)?,
        worked_ms: unsigned(worked_ms),
    })
}

fn wait_for_turn(tries: i32) -> bool {
    sleep_really(BUSY);
    tries < MOST_BUSY
}

fn is_full(error: &Error) -> bool {
    error.text_of("reason") == Some(DISK_FULL)
}

/// SQLite gives its companions the mode of the file itself.
fn create_file(path: &Path) -> io::Result<()> {
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty() && !folder.exists()) {
        files::create_private_dir(folder, true)?;
    }
    check_folder(path)?;
    match files::create_private(path, OpenOptions::new().write(true)) {
        Ok(_) => Ok(()),
        Err(problem) if problem.kind() == io::ErrorKind::AlreadyExists => check_owner(path),
        Err(problem) => Err(problem),
    }
}

/// Who can write to the folder can put another file in the place of the store.
fn check_folder(path: &Path) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let others = files::written_by_others(&folder.metadata()?, folder);
    others.map_or(Ok(()), |problem| Err(io::Error::other(problem)))
}

/// A job that waits in the file is run: nobody else may have put it there.
fn check_owner(path: &Path) -> io::Result<()> {
    let found = path.symlink_metadata()?;
    let others = files::written_by_others(&found, path)
        .or_else(|| (!found.is_file()).then(|| "it is not a regular file".to_owned()));
    others.map_or(Ok(()), |problem| Err(io::Error::other(problem)))
}

fn migrate(connection: &mut Connection) -> Result<()> {
    let transaction =
        connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(storage)?;
    let version: i64 = transaction.query_row("PRAGMA user_version", [], |row| row.get(0)).map_err(storage)?;
    let newest = MIGRATIONS.len();
    let done = usize::try_from(version).unwrap_or_default();
    if done > newest {
        let message = format!("it is of version {version}, and this program knows version {newest}");
        return Err(Error::new(Kind::StorageFailed, message));
    }
    for migration in &MIGRATIONS[done..] {
        transaction.execute_batch(migration).map_err(storage)?;
    }
    transaction.pragma_update(None, "user_version", newest as i64).map_err(storage)?;
    transaction.commit().map_err(storage)
}

impl Store for SqliteStore {
    fn enqueue(&self, spec: &JobSpec, owner: Option<&str>, now: i64) -> Result<String> {
        self.require_room()?;
        self.write(|transaction| match earlier_job(transaction, spec)? {
            Some((id, true)) => Ok(id),
            Some((id, false)) => Err(key_conflict(&id)),
            None => insert_job(transaction, spec, owner, now),
        })
    }

    fn enqueue_taken(&self, spec: &JobSpec, worker: &str, now: i64) -> Result<Claimed> {
        self.require_room()?;
        self.write(|transaction| {
            if let Some((id, _)) = earlier_job(transaction, spec)? {
                return Err(key_conflict(&id));
            }
            let id = insert_job(transaction, spec, None, now)?;
            take_job(transaction, &id, worker, now)
        })
    }

    fn claim(&self, worker: &str, server: Option<&str>, now: i64) -> Result<Option<Claimed>> {
        self.require_room()?;
        self.take(worker, server, now)
    }

    fn claim_job(&self, job_id: &str, worker: &str, now: i64) -> Result<Option<Claimed>> {
        self.require_room()?;
        self.write(|transaction| {
            let waits = "SELECT 1 FROM jobs WHERE id = ?1 AND status = 'queued' AND wanted = 'run'";
            let waits: Option<i64> = transaction
                .query_row(waits, params![job_id], |row| row.get(0))
                .optional()
                .map_err(storage)?;
            waits.map(|_| take_job(transaction, job_id, worker, now)).transpose()
        })
    }

    fn renew(&self, lease: &JobLease, worked_ms: u64, now: i64) -> Result<Renewal> {
        self.write(|transaction| {
            let renew = "UPDATE jobs SET lease_until = ?4, worked_ms = ?5 WHERE id = ?1 AND worker = ?2 AND epoch = ?3 \
                         AND status IN ('running', 'paused', 'input_required') RETURNING wanted";
            let values = params![lease.job_id, lease.worker, lease.epoch, now + LEASE_MS, count(worked_ms)];
            let wanted: Option<String> = transaction
                .prepare_cached(renew)
                .and_then(|mut renew| renew.query_row(values, |row| row.get(0)).optional())
                .map_err(storage)?;
            match wanted {
                None => Ok(Renewal::Lost),
                Some(wanted) => Ok(Renewal::Held(read_wanted(&wanted)?)),
            }
        })
    }

    fn intend(&self, lease: &JobLease, body: &Map<String, Value>, tally: &JobTally, now: i64) -> Result<i64> {
        self.write(|transaction| {
            let admit = "UPDATE jobs SET effects = effects + 1 WHERE id = ?1 AND worker = ?2 AND epoch = ?3 AND \
                         status = 'running' AND wanted = 'run' AND lease_until > ?4";
            let admitted = transaction
                .prepare_cached(admit)
                .and_then(|mut admit| admit.execute(params![lease.job_id, lease.worker, lease.epoch, now]))
                .map_err(storage)?;
            if admitted == 0 {
                return Err(why_not(transaction, lease));
            }
            write_tally(transaction, lease, tally)?;
            add_event(transaction, &lease.job_id, lease.epoch, EventKind::Intent, body, now)
        })
    }

    fn append(
        &self,
        lease: &JobLease,
        kind: EventKind,
        body: &Map<String, Value>,
        tally: &JobTally,
        now: i64,
    ) -> Result<i64> {
        self.write(|transaction| {
            write_tally(transaction, lease, tally)?;
            add_event(transaction, &lease.job_id, lease.epoch, kind, body, now)
        })
    }

    fn keep_tally(&self, lease: &JobLease, tally: &JobTally) -> Result<()> {
        self.write(|transaction| write_tally(transaction, lease, tally))
    }

    fn set_status(&self, lease: &JobLease, status: JobStatus, tally: JobTally, now: i64) -> Result<()> {
        self.write(|transaction| {
            write_tally(transaction, lease, &tally)?;
            let set = "UPDATE jobs SET status = ?2 WHERE id = ?1";
            transaction.execute(set, params![lease.job_id, status.name()]).map_err(storage)?;
            let body = note("status", status.name());
            add_event(transaction, &lease.job_id, lease.epoch, EventKind::Note, &body, now).map(drop)
        })
    }

    fn finish(&self, lease: &JobLease, ending: &Ending, tally: JobTally, now: i64) -> Result<()> {
        self.write_end(|transaction| {
            write_tally(transaction, lease, &tally)?;
            let text = |value: &Value| value.to_string();
            let error = ending.error.as_ref().map(|error| serde_json::to_string(error).unwrap_or_default());
            let end = "UPDATE jobs SET status = ?2, result = ?3, error = ?4, finished_at = ?5, lease_until = 0 \
                       WHERE id = ?1";
            let result = ending.result.as_ref().map(text);
            transaction
                .prepare_cached(end)
                .and_then(|mut end| {
                    end.execute(params![lease.job_id, ending.status.name(), result, error, now])
                })
                .map_err(storage)?;
            let mut body = note("status", ending.status.name());
            if let Some(error) = &ending.error {
                body.insert("code".to_owned(), error.code.as_str().into());
            }
            add_event(transaction, &lease.job_id, lease.epoch, EventKind::Note, &body, now).map(drop)
        })
    }

    fn control(&self, job_id: &str, wanted: Wanted, now: i64) -> Result<JobStatus> {
        self.write_end(|transaction| {
            let ControlledJob { status, epoch, wanted: before } = controlled_job(transaction, job_id)?;
            if let Some(why) = why_not_controlled(status, before, wanted) {
                return Err(Error::new(Kind::JobConflict, why).with("status", status.name()));
            }
            let (next, finished) = match (status, wanted) {
                (JobStatus::Queued | JobStatus::Interrupted, Wanted::Cancel) => {
                    (JobStatus::Cancelled, Some(now))
                }
                _ => (status, None),
            };
            let cancelled = || write_json(&JobError::new(FailureCode::Cancelled, WAS_CANCELLED));
            let error = finished.map(|_| cancelled());
            transaction
                .execute(
                    "UPDATE jobs SET wanted = ?2, status = ?3, finished_at = COALESCE(?4, finished_at), \
                     error = COALESCE(?5, error) WHERE id = ?1",
                    params![job_id, wanted.name(), next.name(), finished, error],
                )
                .map_err(storage)?;
            add_event(transaction, job_id, epoch, EventKind::Control, &note("wanted", wanted.name()), now)?;
            Ok(next)
        })
    }

    fn wanted(&self, lease: &JobLease) -> Result<Wanted> {
        let connection = lock(&self.connection);
        let held = "SELECT wanted FROM jobs WHERE id = ?1 AND worker = ?2 AND epoch = ?3 AND \
                    status IN ('running', 'paused', 'input_required')";
        let mut held = connection.prepare_cached(held).map_err(storage)?;
        let wanted: Option<String> = held
            .query_row(params![lease.job_id, lease.worker, lease.epoch], |row| row.get(0))
            .optional()
            .map_err(storage)?;
        wanted.map_or_else(|| Err(lease_lost(lease)), |wanted| read_wanted(&wanted))
    }

    fn want_pause(&self, lease: &JobLease, body: &Map<String, Value>, now: i64) -> Result<()> {
        self.write(|transaction| {
            check_held(transaction, lease)?;
            let pause = "UPDATE jobs SET wanted = 'pause' WHERE id = ?1 AND wanted = 'run'";
            transaction.execute(pause, params![lease.job_id]).map_err(storage)?;
            add_event(transaction, &lease.job_id, lease.epoch, EventKind::Control, body, now).map(drop)
        })
    }

    fn ask(&self, lease: &JobLease, question: &JobQuestion, now: i64) -> Result<()> {
        self.write(|transaction| {
            check_held(transaction, lease)?;
            let shown = question.shown.to_string();
            let ask =
                "INSERT INTO questions (id, job, shown, asked_at, expires_at) VALUES (?1, ?2, ?3, ?4, ?5)";
            let values = params![question.id, lease.job_id, shown, now, question.expires_at];
            transaction.execute(ask, values).map_err(storage)?;
            let wait = "UPDATE jobs SET status = 'input_required' WHERE id = ?1";
            transaction.execute(wait, params![lease.job_id]).map_err(storage)?;
            let mut body = note("status", JobStatus::InputRequired.name());
            body.insert("question".to_owned(), question.shown.clone());
            add_event(transaction, &lease.job_id, lease.epoch, EventKind::Approval, &body, now).map(drop)
        })
    }

    fn close_question(&self, lease: &JobLease, id: &str, outcome: &str, now: i64) -> Result<()> {
        self.write(|transaction| {
            let close = "UPDATE questions SET closed = 1 WHERE id = ?1";
            transaction.execute(close, params![id]).map_err(storage)?;
            check_held(transaction, lease)?;
            let go_on = "UPDATE jobs SET status = 'running' WHERE id = ?1 AND status = 'input_required'";
            transaction.execute(go_on, params![lease.job_id]).map_err(storage)?;
            let mut body = note("status", JobStatus::Running.name());
            body.insert("id".to_owned(), id.into());
            body.insert("outcome".to_owned(), outcome.into());
            add_event(transaction, &lease.job_id, lease.epoch, EventKind::Approval, &body, now).map(drop)
        })
    }

    fn answer(&self, question: &str, allowed: bool, now: i64) -> Result<bool> {
        self.write(|transaction| {
            let answer = "UPDATE questions SET answer = ?2 WHERE id = ?1 AND answer IS NULL AND closed = 0 AND \
                          expires_at > ?3";
            let answered = transaction.execute(answer, params![question, allowed, now]).map_err(storage)?;
            Ok(answered == 1)
        })
    }

    fn answer_to(&self, question: &str) -> Result<Option<bool>> {
        let connection = lock(&self.connection);
        let answer = "SELECT answer FROM questions WHERE id = ?1";
        let answer = connection.query_row(answer, params![question], |row| row.get(0)).optional();
        Ok(answer.map_err(storage)?.flatten())
    }

    fn open_questions(&self, job_id: Option<&str>) -> Result<Vec<JobQuestion>> {
        let connection = lock(&self.connection);
        let open = "SELECT questions.id, job, shown, expires_at FROM questions JOIN jobs ON jobs.id = job WHERE \
                    closed = 0 AND answer IS NULL AND status = 'input_required' AND (?1 IS NULL OR job = ?1) \
                    ORDER BY asked_at";
        let mut open = connection.prepare(open).map_err(storage)?;
        let rows = open.query_map(params![job_id], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get::<_, String>(2)?, row.get(3)?))
        });
        let read = |(id, job_id, shown, expires_at): (String, String, String, i64)| {
            Ok(JobQuestion { id, job_id, shown: read_json(&shown)?, expires_at })
        };
        rows.map_err(storage)?.map(|row| read(row.map_err(storage)?)).collect()
    }

    fn abandon(&self, lease: &JobLease, now: i64) -> Result<JobStatus> {
        self.write_end(|transaction| {
            check_held(transaction, lease)?;
            let dead = format!("SELECT {DEAD_COLUMNS} FROM jobs WHERE id = ?1");
            let dead =
                transaction.query_row(&dead, params![lease.job_id], DeadJob::of_row).map_err(storage)?;
            dead.give_up(transaction, "its worker was stopped", now)
        })
    }

    fn requeue(&self, job_id: &str, now: i64) -> Result<()> {
        self.write(|transaction| {
            let ControlledJob { status, epoch, .. } = controlled_job(transaction, job_id)?;
            if status != JobStatus::Interrupted {
                let why = format!("the job is {status}, and only one that was interrupted can go on");
                return Err(Error::new(Kind::JobConflict, why).with("status", status.name()));
            }
            let again = "UPDATE jobs SET status = 'queued', wanted = 'run', attempts = 0, finished_at = NULL, \
                         error = NULL WHERE id = ?1";
            transaction.execute(again, params![job_id]).map_err(storage)?;
            let mut body = note("status", JobStatus::Queued.name());
            body.insert("why".to_owned(), "a person lets it go on".into());
            add_event(transaction, job_id, epoch, EventKind::Control, &body, now).map(drop)
        })
    }

    fn count_waiting(&self, server: Option<&str>, now: i64) -> Result<usize> {
        let connection = lock(&self.connection);
        let waiting =
            format!("SELECT COUNT(*) FROM (SELECT 1 FROM jobs WHERE {TAKEABLE} AND {DESKLESS} LIMIT ?3)");
        let count: i64 = connection
            .prepare_cached(&waiting)
            .and_then(|mut waiting| waiting.query_row(params![server, now, MOST_WORKERS], |row| row.get(0)))
            .map_err(storage)?;
        Ok(usize::try_from(count).unwrap_or_default())
    }

    fn note_server(&self, server: &ServerRow, now: i64) -> Result<Vec<ServerRow>> {
        self.write(|transaction| {
            let here = "INSERT INTO servers (id, process, started_at, seen_until) VALUES (?1, ?2, ?3, ?4) \
                        ON CONFLICT (id) DO UPDATE SET seen_until = excluded.seen_until";
            let values = params![server.id, server.process, server.started_at, now + SERVER_LEASE_MS];
            transaction.execute(here, values).map_err(storage)?;
            let gone = "DELETE FROM servers WHERE seen_until < ?1";
            transaction.execute(gone, params![now - FORGOTTEN_AFTER_MS]).map_err(storage)?;
            let others = "SELECT id, process, started_at, seen_until FROM servers WHERE id != ?1 AND seen_until > ?2 \
                          ORDER BY started_at";
            let mut others = transaction.prepare_cached(others).map_err(storage)?;
            let rows = others.query_map(params![server.id, now], read_server);
            rows.map_err(storage)?.collect::<rusqlite::Result<_>>().map_err(storage)
        })
    }

    fn forget_server(&self, id: &str) -> Result<()> {
        self.write_end(|transaction| {
            transaction.execute("DELETE FROM servers WHERE id = ?1", params![id]).map(drop).map_err(storage)
        })
    }

    fn waiting_for_desks(&self, server: &str, now: i64, limit: usize) -> Result<Vec<(String, OwnDesk)>> {
        let waiting = format!(
            "SELECT id, json_extract(spec, '$.desk') AS desk FROM jobs WHERE {TAKEABLE} AND desk IS NOT NULL \
             ORDER BY priority DESC, created_at, id LIMIT ?3"
        );
        let connection = lock(&self.connection);
        let mut waiting = connection.prepare_cached(&waiting).map_err(storage)?;
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let rows =
            waiting.query_map(params![server, now, limit], |row| Ok((row.get(0)?, row.get::<_, String>(1)?)));
        let read = |(job_id, desk): (String, String)| {
            let known = OwnDesk::from_name(&desk).ok_or_else(|| unknown_word("desk", &desk))?;
            Ok((job_id, known))
        };
        rows.map_err(storage)?.map(|row| read(row.map_err(storage)?)).collect()
    }

    fn numbered_events(&self, number: i64, job_id: Option<&str>, limit: usize) -> Result<Vec<NumberedEvent>> {
        let connection = lock(&self.connection);
        let later = "SELECT number, job, seq, epoch, at, kind, body FROM events WHERE number > ?1 AND \
                     (?2 IS NULL OR job = ?2) ORDER BY number LIMIT ?3";
        let mut later = connection.prepare_cached(later).map_err(storage)?;
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let rows = later.query_map(params![number, job_id, limit], |row| {
            let event = (row.get(2)?, row.get(3)?, row.get(4)?, row.get(5)?, row.get::<_, String>(6)?);
            Ok((row.get(0)?, row.get(1)?, event))
        });
        let rows = rows.map_err(storage)?;
        rows.map(|row| {
            let (number, job_id, (seq, epoch, at, kind, body)) = row.map_err(storage)?;
            let event = JobEvent { seq, epoch, at, kind, body: read_json(&body)? };
            Ok(NumberedEvent { number, job_id, event })
        })
        .collect()
    }

    fn last_number(&self) -> Result<i64> {
        let connection = lock(&self.connection);
        let last = connection.query_row("SELECT last FROM event_numbers", [], |row| row.get(0));
        last.map_err(storage)
    }

    fn set_run_dir(&self, lease: &JobLease, dir: &str) -> Result<()> {
        self.write(|transaction| {
            check_held(transaction, lease)?;
            let set = "UPDATE jobs SET run_dir = ?2 WHERE id = ?1";
            transaction.execute(set, params![lease.job_id, dir]).map(drop).map_err(storage)
        })
    }

    fn add_artifact(&self, lease: &JobLease, artifact: &JobArtifact) -> Result<()> {
        self.write(|transaction| {
            check_held(transaction, lease)?;
            let add = "INSERT OR REPLACE INTO artifacts (job, path, sha256, bytes) VALUES (?1, ?2, ?3, ?4)";
            let values = params![lease.job_id, artifact.path, artifact.sha256, artifact.bytes];
            transaction.execute(add, values).map(drop).map_err(storage)
        })
    }

    fn artifacts(&self, job_id: &str) -> Result<Vec<JobArtifact>> {
        let connection = lock(&self.connection);
        let all = "SELECT path, sha256, bytes FROM artifacts WHERE job = ?1 ORDER BY path";
        let mut all = connection.prepare(all).map_err(storage)?;
        let rows = all.query_map(params![job_id], |row| {
            Ok(JobArtifact { path: row.get(0)?, sha256: row.get(1)?, bytes: row.get(2)? })
        });
        rows.map_err(storage)?.collect::<rusqlite::Result<_>>().map_err(storage)
    }

    fn stats(&self) -> Result<JobStats> {
        let connection = lock(&self.connection);
        let mut stats = JobStats::default();
        let all = "SELECT status, steps, effects, cost_pico, usage, finished_at - started_at FROM jobs";
        let mut all = connection.prepare(all).map_err(storage)?;
        let mut rows = all.query([]).map_err(storage)?;
        while let Some(row) = rows.next().map_err(storage)? {
            count_into(&mut stats, row)?;
        }
        stats.durations_ms.sort_unstable();
        Ok(stats)
    }

    fn reap_worker(&self, worker: &str, now: i64) -> Result<Vec<(String, JobStatus)>> {
        self.reap_where("worker = ?1", &[&worker], now)
    }

    fn reap(&self, now: i64) -> Result<Vec<(String, JobStatus)>> {
        self.reap_where("lease_until < ?1", &[&(now - LEASE_GRACE_MS)], now)
    }

    fn read(&self, job_id: &str) -> Result<Option<JobRecord>> {
        let connection = lock(&self.connection);
        let found = connection
            .query_row(&format!("SELECT {COLUMNS} FROM jobs WHERE id = ?1"), params![job_id], raw_record)
            .optional()
            .map_err(storage)?;
        found.map(RawRecord::read).transpose()
    }

    fn list(&self, status: Option<JobStatus>, limit: usize) -> Result<Vec<JobRecord>> {
        let connection = lock(&self.connection);
        let query = format!(
            "SELECT {COLUMNS} FROM jobs WHERE (?1 IS NULL OR status = ?1) ORDER BY created_at DESC, rowid DESC LIMIT ?2"
        );
        let mut rows = connection.prepare(&query).map_err(storage)?;
        let rows = rows
            .query_map(
                params![status.map(JobStatus::name), i64::try_from(limit).unwrap_or(i64::MAX)],
                raw_record,
            )
            .map_err(storage)?;
        rows.map(|row| row.map_err(storage)?.read()).collect()
    }

    fn events(&self, job_id: &str, after: i64, limit: usize) -> Result<Vec<JobEvent>> {
        let query =
            "SELECT seq, epoch, at, kind, body FROM events WHERE job = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3";
        self.read_events(query, params![job_id, after, i64::try_from(limit).unwrap_or(i64::MAX)])
    }

    fn model_use(&self, job_id: &str) -> Result<Vec<ModelUse>> {
        let connection = lock(&self.connection);
        let of = |field: &str| format!("json_extract(body, '$.{field}')");
        // An answer, the judgement of the safety check, or what was paid for an answer that never came.
        let first = |fields: &[&str]| {
            format!("SUM(COALESCE({}))", fields.iter().map(|field| of(field)).collect::<Vec<_>>().join(", "))
        };
        let (model, lost) = (of("model"), of("lost"));
        let (input, output) =
            (first(&["usage.input", "lost.input"]), first(&["usage.output", "lost.output"]));
        let cost = first(&["turn_usd", "usd", "lost_usd"]);
        let models = format!(
            "SELECT {model} AS model, SUM(kind = 'turn'), SUM(kind = 'safety'), {input}, {output}, {cost} FROM events \
             WHERE job = ?1 AND (kind IN ('turn', 'safety') OR (kind = 'note' AND {lost} IS NOT NULL)) AND model IS NOT \
             NULL GROUP BY model ORDER BY MIN(seq)"
        );
        let mut models = connection.prepare(&models).map_err(storage)?;
        let rows = models.query_map(params![job_id], |row| {
            Ok(ModelUse {
                model: row.get(0)?,
                turns: row.get(1)?,
                checks: row.get(2)?,
                input: row.get::<_, Option<i64>>(3)?.unwrap_or_default(),
                output: row.get::<_, Option<i64>>(4)?.unwrap_or_default(),
                cost_usd: row.get(5)?,
            })
        });
        rows.map_err(storage)?.collect::<rusqlite::Result<_>>().map_err(storage)
    }

    fn in_doubt(&self, job_id: &str) -> Result<Vec<JobEvent>> {
        let query = "SELECT seq, epoch, at, kind, body FROM events AS intents WHERE job = ?1 AND kind = 'intent' AND \
                     NOT EXISTS (SELECT 1 FROM events WHERE job = ?1 AND kind = 'outcome' AND \
                     json_extract(body, '$.intent') = intents.seq) ORDER BY seq";
        self.read_events(query, params![job_id])
    }
}

fn read_server(row: &Row) -> rusqlite::Result<ServerRow> {
    Ok(ServerRow { id: row.get(0)?, process: row.get(1)?, started_at: row.get(2)?, seen_until: row.get(3)? })
}

/// A job whose worker is gone.
struct DeadJob {
    job_id: String,
    epoch: i64,
    effects: i64,
    attempts: i64,
    wanted: String,
    planner: Option<String>,
    tally: TallyRow,
}

const DEAD_COLUMNS: &str = "id, epoch, effects, attempts, wanted, json_extract(spec, '$.planner'), steps, usage, \
                            cost_pico, used, worked_ms";

impl DeadJob {
    fn of_row(row: &Row) -> rusqlite::Result<Self> {
        Ok(Self {
            job_id: row.get(0)?,
            epoch: row.get(1)?,
            effects: row.get(2)?,
            attempts: row.get(3)?,
            wanted: row.get(4)?,
            planner: row.get(5)?,
            tally: (row.get(6)?, row.get(7)?, row.get(8)?, row.get(9)?, row.get(10)?),
        })
    }

    fn is_hosts(&self) -> bool {
        self.planner.as_deref() == Some(HOST_NAME)
    }

    /// Why it is over, for whoever reads the job.
    fn ending_error(&self, next: JobStatus, why: &str) -> Option<JobError> {
        let interrupted = match (self.is_hosts(), self.effects) {
            (true, _) => "the server of the client that planned it is gone".to_owned(),
            (false, 0) => format!("{why}, for the third time"),
            (false, _) => format!("{why}, and it had sent inputs"),
        };
        match next {
            JobStatus::Cancelled => Some(JobError::new(FailureCode::Cancelled, WAS_CANCELLED)),
            JobStatus::Interrupted => Some(JobError::new(FailureCode::LeaseLost, interrupted)),
            _ => None,
        }
    }

    /// Nobody repeats an input that may have been sent; what was to be cancelled is.
    fn next_status(&self) -> JobStatus {
        match (self.wanted == Wanted::Cancel.name(), self.effects) {
            (true, _) => JobStatus::Cancelled,
            (false, 0) if self.attempts < MOST_ATTEMPTS && !self.is_hosts() => JobStatus::Queued,
            _ => JobStatus::Interrupted,
        }
    }

    /// The answer that its worker waited for was paid for, and nobody will hear it.
    fn count_unheard(&self, transaction: &Transaction) -> Result<()> {
        let mut tally = read_tally(self.tally.clone())?;
        tally.count_reserved();
        let count = "UPDATE jobs SET usage = ?2, cost_pico = ?3, used = ?4 WHERE id = ?1";
        let (usage, used) = (write_json(&tally.usage), write_json(&tally.used));
        let values = params![self.job_id, usage, tally.cost.map(stored_cost), used];
        transaction.execute(count, values).map(drop).map_err(storage)
    }

    fn give_up(&self, transaction: &Transaction, why: &str, now: i64) -> Result<JobStatus> {
        let next = self.next_status();
        let finished = next.is_over().then_some(now);
        let error = self.ending_error(next, why).map(|error| write_json(&error));
        transaction
            .execute(
                "UPDATE jobs SET status = ?2, worker = NULL, lease_until = 0, finished_at = ?3, error = ?4 WHERE id = ?1",
                params![self.job_id, next.name(), finished, error],
            )
            .map_err(storage)?;
        if next.is_over() {
            self.count_unheard(transaction)?;
        }
        let close = "UPDATE questions SET closed = 1 WHERE job = ?1";
        transaction.execute(close, params![self.job_id]).map_err(storage)?;
        let mut body = note("status", next.name());
        body.insert("why".to_owned(), why.into());
        add_event(transaction, &self.job_id, self.epoch, EventKind::Note, &body, now)?;
        Ok(next)
    }
}

struct ControlledJob {
    status: JobStatus,
    epoch: i64,
    wanted: Wanted,
}

fn controlled_job(transaction: &Transaction, job_id: &str) -> Result<ControlledJob> {
    let found: Option<(String, i64, String)> = transaction
        .query_row("SELECT status, epoch, wanted FROM jobs WHERE id = ?1", params![job_id], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })
        .optional()
        .map_err(storage)?;
    let Some((status, epoch, wanted)) = found else {
        return Err(no_such_job(job_id));
    };
    Ok(ControlledJob { status: read_status(&status)?, epoch, wanted: read_wanted(&wanted)? })
}

/// Why a wish comes too late or too early.
fn why_not_controlled(status: JobStatus, before: Wanted, wanted: Wanted) -> Option<String> {
    // Nobody works on it, so it can be given up for good.
    if status == JobStatus::Interrupted && wanted == Wanted::Cancel {
        return None;
    }
    if status.is_over() {
        return Some(format!("the job is over: it is {status}"));
    }
    if before == Wanted::Cancel && wanted != Wanted::Cancel {
        return Some("the job is being cancelled".to_owned());
    }
    (wanted == Wanted::Takeover && !status.is_held())
        .then(|| format!("the job is {status}, so there is no desktop to take over"))
}

/// Adds one job to the figures of all.
fn count_into(stats: &mut JobStats, row: &Row) -> Result<()> {
    let status = read_status(&row.get::<_, String>(0).map_err(storage)?)?;
    match stats.by_status.iter_mut().find(|(known, _)| *known == status) {
        Some((_, count)) => *count += 1,
        None => stats.by_status.push((status, 1)),
    }
    stats.steps += row.get::<_, i64>(1).map_err(storage)?;
    stats.inputs += row.get::<_, i64>(2).map_err(storage)?;
    if let Some(pico) = row.get::<_, Option<i64>>(3).map_err(storage)? {
        stats.cost.add(Cost(unsigned(pico)));
    }
    stats.usage.add(read_json(&row.get::<_, String>(4).map_err(storage)?)?);
    stats.durations_ms.extend(row.get::<_, Option<i64>>(5).map_err(storage)?);
    Ok(())
}

impl SqliteStore {
    /// Ends or requeues the held jobs that a condition chooses.
    fn reap_where(
        &self,
        condition: &str,
        values: &[&dyn rusqlite::ToSql],
        now: i64,
    ) -> Result<Vec<(String, JobStatus)>> {
        self.write_end(|transaction| {
            let dead = format!(
                "SELECT {DEAD_COLUMNS} FROM jobs WHERE \
                 status IN ('running', 'paused', 'input_required') AND {condition}"
            );
            let mut dead = transaction.prepare(&dead).map_err(storage)?;
            let rows = dead.query_map(values, DeadJob::of_row).map_err(storage)?;
            let rows: Vec<DeadJob> = rows.collect::<rusqlite::Result<_>>().map_err(storage)?;
            let ended = rows
                .iter()
                .map(|dead| Ok((dead.job_id.clone(), dead.give_up(transaction, "its worker is gone", now)?)));
            ended.collect()
        })
    }

    fn read_events(&self, query: &str, values: &[&dyn rusqlite::ToSql]) -> Result<Vec<JobEvent>> {
        let connection = lock(&self.connection);
        let mut rows = connection.prepare(query).map_err(storage)?;
        let rows = rows
            .query_map(values, |row| {
                let body: String = row.get(4)?;
                Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, body))
            })
            .map_err(storage)?;
        rows.map(|row| {
            let (seq, epoch, at, kind, body) = row.map_err(storage)?;
            Ok(JobEvent { seq, epoch, at, kind, body: read_json(&body)? })
        })
        .collect()
    }
}

struct RawRecord {
    id: String,
    status: String,
    wanted: String,
    spec: String,
    result: Option<String>,
    error: Option<String>,
    usage: String,
    cost_pico: Option<i64>,
    steps: i64,
    effects: i64,
    attempts: i64,
    epoch: i64,
    worker: Option<String>,
    created_at: i64,
    started_at: Option<i64>,
    finished_at: Option<i64>,
    run_dir: Option<String>,
    last_event: i64,
    used: String,
    worked_ms: i64,
    lease_until: i64,
    owner: Option<String>,
}

/// In the order of `COLUMNS`.
fn raw_record(row: &Row) -> rusqlite::Result<RawRecord> {
    Ok(RawRecord {
        id: row.get(0)?,
        status: row.get(1)?,
        wanted: row.get(2)?,
        spec: row.get(3)?,
        result: row.get(4)?,
        error: row.get(5)?,
        usage: row.get(6)?,
        cost_pico: row.get(7)?,
        steps: row.get(8)?,
        effects: row.get(9)?,
        attempts: row.get(10)?,
        epoch: row.get(11)?,
        worker: row.get(12)?,
        created_at: row.get(13)?,
        started_at: row.get(14)?,
        finished_at: row.get(15)?,
        run_dir: row.get(16)?,
        last_event: row.get(17)?,
        used: row.get(18)?,
        worked_ms: row.get(19)?,
        lease_until: row.get(20)?,
        owner: row.get(21)?,
    })
}

impl RawRecord {
    fn read(self) -> Result<JobRecord> {
        Ok(JobRecord {
            status: read_status(&self.status)?,
            wanted: read_wanted(&self.wanted)?,
            spec: read_spec(&self.spec)?,
            result: self.result.map(|text| read_json(&text)).transpose()?,
            error: self.error.map(|text| read_json(&text)).transpose()?,
            usage: read_json(&self.usage)?,
            cost: self.cost_pico.map(|pico| Cost(unsigned(pico))),
            used: read_json(&self.used)?,
            worked_ms: unsigned(self.worked_ms),
            lease_until: self.lease_until,
            owner: self.owner,
            id: self.id,
            steps: self.steps,
            effects: self.effects,
            attempts: self.attempts,
            epoch: self.epoch,
            worker: self.worker,
            created_at: self.created_at,
            started_at: self.started_at,
            finished_at: self.finished_at,
            run_dir: self.run_dir,
            last_event: self.last_event,
        })
    }
}

fn add_event(
    transaction: &Transaction,
    job_id: &str,
    epoch: i64,
    kind: EventKind,
    body: &Map<String, Value>,
    now: i64,
) -> Result<i64> {
    let number: i64 = transaction
        .prepare_cached("UPDATE event_numbers SET last = last + 1 RETURNING last")
        .and_then(|mut next| next.query_row([], |row| row.get(0)))
        .map_err(storage)?;
    let next = "UPDATE jobs SET last_event = last_event + 1 WHERE id = ?1 RETURNING last_event";
    let seq: i64 = transaction
        .prepare_cached(next)
        .and_then(|mut next| next.query_row(params![job_id], |row| row.get(0)))
        .map_err(storage)?;
    let text = serde_json::to_string(body).map_err(|problem| Error::internal(problem.to_string()))?;
    let add =
        "INSERT INTO events (job, seq, epoch, at, kind, body, number) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    transaction
        .prepare_cached(add)
        .and_then(|mut add| add.execute(params![job_id, seq, epoch, now, kind.name(), text, number]))
        .map_err(storage)?;
    Ok(seq)
}

/// Whether a job has the key already: its id, and whether it is the same job.
fn earlier_job(transaction: &Transaction, spec: &JobSpec) -> Result<Option<(String, bool)>> {
    let Some(key) = &spec.idempotency_key else { return Ok(None) };
    let earlier = "SELECT id, spec FROM jobs WHERE idempotency_key = ?1";
    let found: Option<(String, String)> = transaction
        .query_row(earlier, params![key], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()
        .map_err(storage)?;
    found.map(|(id, text)| Ok((id, read_spec(&text)? == *spec))).transpose()
}

fn key_conflict(id: &str) -> Error {
    let message = format!("the idempotency_key belongs to {id}, which is another job; use another key");
    Error::new(Kind::JobConflict, message).with("job_id", id).with("field", "idempotency_key")
}

fn insert_job(transaction: &Transaction, spec: &JobSpec, owner: Option<&str>, now: i64) -> Result<String> {
    let text = serde_json::to_string(spec).map_err(|problem| Error::internal(problem.to_string()))?;
    // Ids are what lets a caller see a job: they cannot be guessed.
    let id = random_token(&random_token("job_"));
    let insert = "INSERT INTO jobs (id, status, priority, spec, idempotency_key, created_at, owner) \
                  VALUES (?1, 'queued', ?2, ?3, ?4, ?5, ?6)";
    transaction
        .prepare_cached(insert)
        .and_then(|mut insert| {
            insert.execute(params![id, spec.priority, text, spec.idempotency_key, now, owner])
        })
        .map_err(storage)?;
    add_event(transaction, &id, 0, EventKind::Note, &note("status", "queued"), now)?;
    Ok(id)
}

/// What the job has used, where this worker holds it.
fn write_tally(transaction: &Transaction, lease: &JobLease, tally: &JobTally) -> Result<()> {
    let write = "UPDATE jobs SET steps = ?4, usage = ?5, cost_pico = ?6, used = ?7, worked_ms = ?8 WHERE id = ?1 AND \
                 worker = ?2 AND epoch = ?3 AND status IN ('running', 'paused', 'input_required')";
    let usage = serde_json::to_string(&tally.usage).unwrap_or_default();
    let used = serde_json::to_string(&tally.used).unwrap_or_default();
    let (steps, cost, worked) = (count(tally.steps), tally.cost.map(stored_cost), count(tally.worked_ms));
    let values = params![lease.job_id, lease.worker, lease.epoch, steps, usage, cost, used, worked];
    let written =
        transaction.prepare_cached(write).and_then(|mut write| write.execute(values)).map_err(storage)?;
    if written == 1 { Ok(()) } else { Err(lease_lost(lease)) }
}

fn check_held(transaction: &Transaction, lease: &JobLease) -> Result<()> {
    let held = "SELECT 1 FROM jobs WHERE id = ?1 AND worker = ?2 AND epoch = ?3 AND \
                status IN ('running', 'paused', 'input_required')";
    let found: Option<i64> = transaction
        .prepare_cached(held)
        .and_then(|mut held| {
            held.query_row(params![lease.job_id, lease.worker, lease.epoch], |row| row.get(0)).optional()
        })
        .map_err(storage)?;
    if found.is_some() { Ok(()) } else { Err(lease_lost(lease)) }
}

/// Why an input was not let through.
fn why_not(transaction: &Transaction, lease: &JobLease) -> Error {
    let row = transaction
        .query_row("SELECT wanted, epoch, status FROM jobs WHERE id = ?1", params![lease.job_id], |row| {
            Ok((row.get::<_, String>(0)?, row.get::<_, i64>(1)?, row.get::<_, String>(2)?))
        })
        .optional();
    match row {
        Ok(Some((wanted, epoch, _))) if epoch == lease.epoch && wanted == "cancel" => Error::cancelled(),
        Ok(Some((wanted, epoch, _))) if epoch == lease.epoch && wanted == "pause" => {
            Error::new(Kind::PermissionDenied, "the job is to pause, so nothing was sent")
                .with("paused", true)
        }
        Ok(Some((wanted, epoch, _))) if epoch == lease.epoch && wanted == "takeover" => taken_over(),
        Err(problem) => storage(problem),
        _ => lease_lost(lease),
    }
}

/// The refusal of a call while a person has the desktop.
pub fn taken_over() -> Error {
    let message = "a person has taken over the desktop, so nothing was done; look again when the job goes on";
    Error::new(Kind::PermissionDenied, message).with("paused", true).with("taken_over", true)
}

fn lease_lost(lease: &JobLease) -> Error {
    let message = "this worker no longer holds the job, so nothing was sent";
    Error::new(Kind::PermissionDenied, message).with("job_id", lease.job_id.as_str()).with("lease_lost", true)
}

pub fn no_such_job(job_id: &str) -> Error {
    Error::new(Kind::JobNotFound, format!("there is no job '{job_id}'"))
}

fn note(key: &str, value: &str) -> Map<String, Value> {
    Map::from_iter([(key.to_owned(), value.into())])
}

fn read_spec(text: &str) -> Result<JobSpec> {
    read_json(text)
}

fn write_json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

fn read_json<T: serde::de::DeserializeOwned>(text: &str) -> Result<T> {
    serde_json::from_str(text).map_err(|problem| {
        Error::new(Kind::StorageFailed, format!("a row of the job store cannot be read: {problem}"))
    })
}

fn read_status(name: &str) -> Result<JobStatus> {
    JobStatus::from_name(name).ok_or_else(|| unknown_word("status", name))
}

fn read_wanted(name: &str) -> Result<Wanted> {
    Wanted::from_name(name).ok_or_else(|| unknown_word("wanted", name))
}

fn unknown_word(column: &str, name: &str) -> Error {
    Error::new(
        Kind::StorageFailed,
        format!("the job store says '{name}' for {column}, which this program does not know"),
    )
}

fn storage(problem: rusqlite::Error) -> Error {
    match problem.sqlite_error_code() {
        Some(rusqlite::ErrorCode::DiskFull) => {
            let message = "the job store cannot be written: the disk is full";
            Error::new(Kind::StorageFailed, message).with("reason", DISK_FULL)
        }
        Some(rusqlite::ErrorCode::ReadOnly) => {
            let message = "the job store cannot be written: the file or its folder is read-only";
            Error::new(Kind::StorageFailed, message)
        }
        _ => Error::new(Kind::StorageFailed, format!("the job store failed: {problem}")),
    }
}

fn unsigned(number: i64) -> u64 {
    u64::try_from(number).unwrap_or_default()
}

fn count(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn stored_cost(cost: Cost) -> i64 {
    count(cost.0)
}
