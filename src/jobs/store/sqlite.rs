//! The store in one file of SQLite. Several processes may have it open: writes are short transactions that take the
//! write lock at once, and the file waits for a busy one.

use std::fs::OpenOptions;
use std::io;
use std::path::Path;
use std::sync::Mutex;
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension, Row, Transaction, TransactionBehavior, params};
use serde_json::{Map, Value};

use super::{
    Claimed, Ending, EventKind, JobEvent, JobLease, JobRecord, JobTally, LEASE_GRACE_MS, LEASE_MS,
    MOST_ATTEMPTS, Renewal, Store,
};
use crate::clock::lock;
use crate::error::{Error, Kind, Result};
use crate::files;
use crate::jobs::money::Cost;
use crate::jobs::spec::JobSpec;
use crate::jobs::status::{JobStatus, Wanted};
use crate::random::random_token;

const SCHEMA: &str = include_str!("schema.sql");
/// The version of the schema that this program writes and reads.
const VERSION: i64 = 1;
const BUSY: Duration = Duration::from_secs(5);

const COLUMNS: &str = "id, status, wanted, spec, result, error, usage, cost_pico, steps, effects, attempts, epoch, worker, \
                       created_at, started_at, finished_at";

pub struct SqliteStore {
    connection: Mutex<Connection>,
}

impl SqliteStore {
    /// Opens the file, and creates it for this user alone. A file of a newer program is refused.
    pub fn open(path: &Path) -> Result<Self> {
        let named =
            |problem: String| Error::new(Kind::StorageFailed, format!("{}: {problem}", path.display()));
        create_file(path).map_err(|problem| named(problem.to_string()))?;
        let connection = Connection::open(path).map_err(|problem| named(problem.to_string()))?;
        Self::prepare(connection).map_err(|problem| named(problem.message))
    }

    /// In memory, for tests.
    pub fn in_memory() -> Result<Self> {
        Self::prepare(Connection::open_in_memory().map_err(storage)?)
    }

    fn prepare(mut connection: Connection) -> Result<Self> {
        connection.busy_timeout(BUSY).map_err(storage)?;
        let settings = "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON;";
        connection.execute_batch(settings).map_err(storage)?;
        migrate(&mut connection)?;
        Ok(Self { connection: Mutex::new(connection) })
    }

    fn write<T>(&self, work: impl FnOnce(&Transaction) -> Result<T>) -> Result<T> {
        let mut connection = lock(&self.connection);
        let transaction =
            connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(storage)?;
        let done = work(&transaction)?;
        transaction.commit().map_err(storage)?;
        Ok(done)
    }

    fn take(&self, chosen: Option<&str>, worker: &str, now: i64) -> Result<Option<Claimed>> {
        self.write(|transaction| {
            let next = "SELECT id, spec FROM jobs WHERE status = 'queued' AND (?1 IS NULL OR id = ?1) \
                        ORDER BY priority DESC, created_at, id LIMIT 1";
            let found: Option<(String, String)> = transaction
                .query_row(next, params![chosen], |row| Ok((row.get(0)?, row.get(1)?)))
                .optional()
                .map_err(storage)?;
            let Some((job_id, spec)) = found else {
                return Ok(None);
            };
            let take = "UPDATE jobs SET status = 'running', epoch = epoch + 1, attempts = attempts + 1, worker = ?2, \
                        lease_until = ?3, started_at = COALESCE(started_at, ?4) WHERE id = ?1 RETURNING epoch, attempts";
            let (epoch, attempts) = transaction
                .query_row(take, params![job_id, worker, now + LEASE_MS, now], |row| Ok((row.get(0)?, row.get(1)?)))
                .map_err(storage)?;
            let lease = JobLease { job_id, worker: worker.to_owned(), epoch };
            add_event(transaction, &lease.job_id, epoch, EventKind::Note, &note("status", "running"), now)?;
            Ok(Some(Claimed { spec: read_spec(&spec)?, lease, attempts }))
        })
    }
}

/// SQLite gives its companions the mode of the file itself.
fn create_file(path: &Path) -> io::Result<()> {
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty() && !folder.exists()) {
        files::create_private_dir(folder, true)?;
    }
    match files::create_private(path, OpenOptions::new().write(true)) {
        Ok(_) => Ok(()),
        Err(problem) if problem.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(problem) => Err(problem),
    }
}

fn migrate(connection: &mut Connection) -> Result<()> {
    let transaction =
        connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(storage)?;
    let version: i64 = transaction.query_row("PRAGMA user_version", [], |row| row.get(0)).map_err(storage)?;
    match version {
        0 => {
            transaction.execute_batch(SCHEMA).map_err(storage)?;
            transaction.pragma_update(None, "user_version", VERSION).map_err(storage)?;
        }
        VERSION => {}
        newer => {
            let message = format!("it is of version {newer}, and this program knows version {VERSION}");
            return Err(Error::new(Kind::StorageFailed, message));
        }
    }
    transaction.commit().map_err(storage)
}

impl Store for SqliteStore {
    fn enqueue(&self, spec: &JobSpec, now: i64) -> Result<String> {
        let text = serde_json::to_string(spec).map_err(|problem| Error::internal(problem.to_string()))?;
        self.write(|transaction| {
            let earlier = "SELECT id FROM jobs WHERE idempotency_key = ?1";
            if let Some(key) = &spec.idempotency_key
                && let Some(id) = transaction
                    .query_row(earlier, params![key], |row| row.get(0))
                    .optional()
                    .map_err(storage)?
            {
                return Ok(id);
            }
            // Ids are what lets a caller see a job: they cannot be guessed.
            let id = random_token(&random_token("job_"));
            transaction
                .execute(
                    "INSERT INTO jobs (id, status, priority, spec, idempotency_key, created_at) \
                     VALUES (?1, 'queued', ?2, ?3, ?4, ?5)",
                    params![id, spec.priority, text, spec.idempotency_key, now],
                )
                .map_err(storage)?;
            Ok(id)
        })
    }

    fn claim(&self, worker: &str, now: i64) -> Result<Option<Claimed>> {
        self.take(None, worker, now)
    }

    fn claim_job(&self, job_id: &str, worker: &str, now: i64) -> Result<Option<Claimed>> {
        self.take(Some(job_id), worker, now)
    }

    fn renew(&self, lease: &JobLease, now: i64) -> Result<Renewal> {
        self.write(|transaction| {
            let renew = "UPDATE jobs SET lease_until = ?4 WHERE id = ?1 AND worker = ?2 AND epoch = ?3 AND \
                         status IN ('running', 'paused', 'input_required') RETURNING wanted";
            let wanted: Option<String> = transaction
                .query_row(renew, params![lease.job_id, lease.worker, lease.epoch, now + LEASE_MS], |row| {
                    row.get(0)
                })
                .optional()
                .map_err(storage)?;
            match wanted {
                None => Ok(Renewal::Lost),
                Some(wanted) => Ok(Renewal::Held(read_wanted(&wanted)?)),
            }
        })
    }

    fn intend(&self, lease: &JobLease, body: &Map<String, Value>, now: i64) -> Result<i64> {
        self.write(|transaction| {
            let count = "UPDATE jobs SET effects = effects + 1 WHERE id = ?1 AND worker = ?2 AND epoch = ?3 AND \
                         status = 'running' AND wanted = 'run' AND lease_until > ?4";
            let counted = transaction
                .execute(count, params![lease.job_id, lease.worker, lease.epoch, now])
                .map_err(storage)?;
            if counted == 0 {
                return Err(why_not(transaction, lease));
            }
            add_event(transaction, &lease.job_id, lease.epoch, EventKind::Intent, body, now)
        })
    }

    fn append(&self, lease: &JobLease, kind: EventKind, body: &Map<String, Value>, now: i64) -> Result<i64> {
        self.write(|transaction| {
            check_held(transaction, lease)?;
            add_event(transaction, &lease.job_id, lease.epoch, kind, body, now)
        })
    }

    fn set_status(&self, lease: &JobLease, status: JobStatus, tally: JobTally, now: i64) -> Result<()> {
        self.write(|transaction| {
            check_held(transaction, lease)?;
            let usage = serde_json::to_string(&tally.usage).unwrap_or_default();
            let changed = transaction
                .execute(
                    "UPDATE jobs SET status = ?2, steps = ?3, usage = ?4, cost_pico = ?5 WHERE id = ?1",
                    params![
                        lease.job_id,
                        status.name(),
                        count(tally.steps),
                        usage,
                        tally.cost.map(stored_cost)
                    ],
                )
                .map_err(storage)?;
            debug_assert_eq!(changed, 1);
            add_event(
                transaction,
                &lease.job_id,
                lease.epoch,
                EventKind::Note,
                &note("status", status.name()),
                now,
            )
            .map(drop)
        })
    }

    fn finish(&self, lease: &JobLease, ending: &Ending, tally: JobTally, now: i64) -> Result<()> {
        self.write(|transaction| {
            check_held(transaction, lease)?;
            let text = |value: &Value| value.to_string();
            let error = ending.error.as_ref().map(|error| serde_json::to_string(error).unwrap_or_default());
            let usage = serde_json::to_string(&tally.usage).unwrap_or_default();
            transaction
                .execute(
                    "UPDATE jobs SET status = ?2, result = ?3, error = ?4, usage = ?5, steps = ?6, finished_at = ?7, \
                     cost_pico = ?8, lease_until = 0 WHERE id = ?1",
                    params![
                        lease.job_id,
                        ending.status.name(),
                        ending.result.as_ref().map(text),
                        error,
                        usage,
                        count(tally.steps),
                        now,
                        tally.cost.map(stored_cost)
                    ],
                )
                .map_err(storage)?;
            let body = note("status", ending.status.name());
            add_event(transaction, &lease.job_id, lease.epoch, EventKind::Note, &body, now).map(drop)
        })
    }

    fn control(&self, job_id: &str, wanted: Wanted, now: i64) -> Result<JobStatus> {
        self.write(|transaction| {
            let found: Option<(String, i64)> = transaction
                .query_row("SELECT status, epoch FROM jobs WHERE id = ?1", params![job_id], |row| {
                    Ok((row.get(0)?, row.get(1)?))
                })
                .optional()
                .map_err(storage)?;
            let Some((status, epoch)) = found else {
                return Err(no_such_job(job_id));
            };
            let status = read_status(&status)?;
            if status.is_over() {
                let message = format!("the job is over: it is {status}");
                return Err(Error::bad_request(message).with("status", status.name()));
            }
            let (next, finished) = match (status, wanted) {
                (JobStatus::Queued, Wanted::Cancel) => (JobStatus::Cancelled, Some(now)),
                _ => (status, None),
            };
            transaction
                .execute(
                    "UPDATE jobs SET wanted = ?2, status = ?3, finished_at = COALESCE(?4, finished_at) WHERE id = ?1",
                    params![job_id, wanted.name(), next.name(), finished],
                )
                .map_err(storage)?;
            add_event(transaction, job_id, epoch, EventKind::Control, &note("wanted", wanted.name()), now)?;
            Ok(next)
        })
    }

    fn reap(&self, now: i64) -> Result<Vec<(String, JobStatus)>> {
        self.write(|transaction| {
            let dead = "SELECT id, epoch, effects, attempts FROM jobs WHERE \
                        status IN ('running', 'paused', 'input_required') AND lease_until < ?1";
            let mut dead = transaction.prepare(dead).map_err(storage)?;
            let rows = dead
                .query_map(params![now - LEASE_GRACE_MS], |row| {
                    Ok((row.get::<_, String>(0)?, row.get(1)?, row.get::<_, i64>(2)?, row.get::<_, i64>(3)?))
                })
                .map_err(storage)?
                .collect::<rusqlite::Result<Vec<(String, i64, i64, i64)>>>()
                .map_err(storage)?;
            let mut reaped = Vec::new();
            for (job_id, epoch, effects, attempts) in rows {
                let again = effects == 0 && attempts < MOST_ATTEMPTS;
                let next = if again { JobStatus::Queued } else { JobStatus::Interrupted };
                transaction
                    .execute(
                        "UPDATE jobs SET status = ?2, worker = NULL, lease_until = 0, \
                         finished_at = CASE WHEN ?2 = 'interrupted' THEN ?3 END WHERE id = ?1",
                        params![job_id, next.name(), now],
                    )
                    .map_err(storage)?;
                let mut body = note("status", next.name());
                body.insert("why".to_owned(), "its worker is gone".into());
                add_event(transaction, &job_id, epoch, EventKind::Note, &body, now)?;
                reaped.push((job_id, next));
            }
            Ok(reaped)
        })
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

    fn in_doubt(&self, job_id: &str) -> Result<Vec<JobEvent>> {
        let query = "SELECT seq, epoch, at, kind, body FROM events AS intents WHERE job = ?1 AND kind = 'intent' AND \
                     NOT EXISTS (SELECT 1 FROM events WHERE job = ?1 AND kind = 'outcome' AND \
                     json_extract(body, '$.intent') = intents.seq) ORDER BY seq";
        self.read_events(query, params![job_id])
    }
}

impl SqliteStore {
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
            cost: self.cost_pico.map(|pico| Cost(u64::try_from(pico).unwrap_or_default())),
            id: self.id,
            steps: self.steps,
            effects: self.effects,
            attempts: self.attempts,
            epoch: self.epoch,
            worker: self.worker,
            created_at: self.created_at,
            started_at: self.started_at,
            finished_at: self.finished_at,
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
    let next = "UPDATE jobs SET last_event = last_event + 1 WHERE id = ?1 RETURNING last_event";
    let seq: i64 = transaction.query_row(next, params![job_id], |row| row.get(0)).map_err(storage)?;
    let text = serde_json::to_string(body).map_err(|problem| Error::internal(problem.to_string()))?;
    transaction
        .execute(
            "INSERT INTO events (job, seq, epoch, at, kind, body) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            params![job_id, seq, epoch, now, kind.name(), text],
        )
        .map_err(storage)?;
    Ok(seq)
}

fn check_held(transaction: &Transaction, lease: &JobLease) -> Result<()> {
    let held = "SELECT 1 FROM jobs WHERE id = ?1 AND worker = ?2 AND epoch = ?3 AND \
                status IN ('running', 'paused', 'input_required')";
    let found: Option<i64> = transaction
        .query_row(held, params![lease.job_id, lease.worker, lease.epoch], |row| row.get(0))
        .optional()
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
        Err(problem) => storage(problem),
        _ => lease_lost(lease),
    }
}

fn lease_lost(lease: &JobLease) -> Error {
    let message = "this worker no longer holds the job, so nothing was sent";
    Error::new(Kind::PermissionDenied, message).with("job_id", lease.job_id.as_str()).with("lease_lost", true)
}

pub fn no_such_job(job_id: &str) -> Error {
    Error::bad_request(format!("there is no job '{job_id}'"))
}

fn note(key: &str, value: &str) -> Map<String, Value> {
    Map::from_iter([(key.to_owned(), value.into())])
}

fn read_spec(text: &str) -> Result<JobSpec> {
    read_json(text)
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
    Error::new(Kind::StorageFailed, format!("the job store failed: {problem}"))
}

fn count(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn stored_cost(cost: Cost) -> i64 {
    count(cost.0)
}
