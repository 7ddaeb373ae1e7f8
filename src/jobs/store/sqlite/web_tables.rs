//! Sessions and webhooks in SQLite.

use rusqlite::{Connection, OptionalExtension, Row, params};

use super::{COLUMNS, SqliteStore, raw_record, read_json, storage, write_json};
use crate::clock::lock;
use crate::error::Result;
use crate::jobs::store::JobRecord;
use crate::jobs::store::web::{DueWebhook, SessionBody, SessionRow, WebStore, WebhookOutcome, WebhookState};

const SESSION: &str = "SELECT id, body, created_at, updated_at FROM sessions";

/// Of a job that is over and wants to tell it, unless somebody is at it, has done it, or waits for the next try.
const DUE: &str = "SELECT id, json_extract(spec, '$.web.webhook'), COALESCE(webhooks.attempts, 0) FROM jobs \
                   LEFT JOIN webhooks ON job = id WHERE json_extract(spec, '$.web.webhook') IS NOT NULL AND \
                   status NOT IN ('queued', 'running', 'paused', 'input_required') AND \
                   (state IS NULL OR (state = 'waiting' AND next_at <= ?1)) ORDER BY finished_at LIMIT 1";

type SessionColumns = (String, String, i64, i64);

fn raw_session(row: &Row) -> rusqlite::Result<SessionColumns> {
    Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
}

fn read_session(raw: SessionColumns) -> Result<SessionRow> {
    let (id, body, created_at, updated_at) = raw;
    Ok(SessionRow { id, body: read_json(&body)?, created_at, updated_at })
}

fn session_by_id(connection: &Connection, id: &str) -> Result<Option<SessionRow>> {
    let one = format!("{SESSION} WHERE id = ?1");
    let found = connection.query_row(&one, params![id], raw_session).optional().map_err(storage)?;
    found.map(read_session).transpose()
}

fn read_due(connection: &Connection, now: i64) -> Result<Option<DueWebhook>> {
    let read = |row: &Row| Ok(DueWebhook { job_id: row.get(0)?, url: row.get(1)?, attempts: row.get(2)? });
    let mut due = connection.prepare_cached(DUE).map_err(storage)?;
    due.query_row(params![now], read).optional().map_err(storage)
}

impl WebStore for SqliteStore {
    fn add_session(&self, id: &str, body: &SessionBody, now: i64) -> Result<SessionRow> {
        self.write(|transaction| {
            let add = "INSERT INTO sessions (id, body, created_at, updated_at) VALUES (?1, ?2, ?3, ?3)";
            transaction.execute(add, params![id, write_json(body), now]).map_err(storage)?;
            Ok(SessionRow { id: id.to_owned(), body: body.clone(), created_at: now, updated_at: now })
        })
    }

    fn read_session(&self, id: &str) -> Result<Option<SessionRow>> {
        session_by_id(&lock(&self.connection), id)
    }

    fn list_sessions(&self, limit: usize) -> Result<Vec<SessionRow>> {
        let connection = lock(&self.connection);
        let newest = format!("{SESSION} ORDER BY created_at DESC, id LIMIT ?1");
        let mut newest = connection.prepare_cached(&newest).map_err(storage)?;
        let rows = newest.query_map(params![limit as i64], raw_session).map_err(storage)?;
        rows.map(|row| row.map_err(storage).and_then(read_session)).collect()
    }

    fn change_session(
        &self,
        id: &str,
        change: &dyn Fn(&mut SessionBody) -> Result<()>,
        now: i64,
    ) -> Result<Option<SessionRow>> {
        self.write(|transaction| {
            let Some(mut row) = session_by_id(transaction, id)? else {
                return Ok(None);
            };
            change(&mut row.body)?;
            row.updated_at = now;
            let set = "UPDATE sessions SET body = ?2, updated_at = ?3 WHERE id = ?1";
            transaction.execute(set, params![id, write_json(&row.body), now]).map_err(storage)?;
            Ok(Some(row))
        })
    }

    fn session_jobs(&self, id: &str, limit: usize) -> Result<Vec<JobRecord>> {
        let connection = lock(&self.connection);
        let newest = format!(
            "SELECT {COLUMNS} FROM jobs WHERE json_extract(spec, '$.web.session_id') = ?1 \
             ORDER BY created_at DESC, id LIMIT ?2"
        );
        let mut newest = connection.prepare_cached(&newest).map_err(storage)?;
        let rows = newest.query_map(params![id, limit as i64], raw_record).map_err(storage)?;
        rows.map(|row| row.map_err(storage)?.read()).collect()
    }

    /// To look costs less than to write.
    fn take_webhook(&self, now: i64, held_until: i64) -> Result<Option<DueWebhook>> {
        if read_due(&lock(&self.connection), now)?.is_none() {
            return Ok(None);
        }
        self.write(|transaction| {
            let due = read_due(transaction, now)?;
            if let Some(due) = &due {
                let hold = "INSERT INTO webhooks (job, state, attempts, next_at) VALUES (?1, 'waiting', 1, ?2) \
                            ON CONFLICT (job) DO UPDATE SET attempts = attempts + 1, next_at = ?2";
                transaction.execute(hold, params![due.job_id, held_until]).map_err(storage)?;
            }
            Ok(due)
        })
    }

    fn settle_webhook(&self, job_id: &str, outcome: &WebhookOutcome) -> Result<()> {
        let (state, next_at, problem) = match outcome {
            WebhookOutcome::Delivered => ("delivered", 0, None),
            WebhookOutcome::Again { next_at, problem } => ("waiting", *next_at, Some(problem)),
            WebhookOutcome::GivenUp(problem) => ("failed", 0, Some(problem)),
        };
        self.write(|transaction| {
            let set = "UPDATE webhooks SET state = ?2, next_at = ?3, problem = ?4 WHERE job = ?1";
            transaction.execute(set, params![job_id, state, next_at, problem]).map(drop).map_err(storage)
        })
    }

    fn webhook_state(&self, job_id: &str) -> Result<Option<WebhookState>> {
        let connection = lock(&self.connection);
        let one = "SELECT state, attempts, problem FROM webhooks WHERE job = ?1";
        let read =
            |row: &Row| Ok(WebhookState { state: row.get(0)?, attempts: row.get(1)?, problem: row.get(2)? });
        connection.query_row(one, params![job_id], read).optional().map_err(storage)
    }
}
