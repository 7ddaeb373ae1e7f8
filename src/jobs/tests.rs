//! What every store must do; SQLite is the one there is.

use serde_json::{Map, Value, json};

use super::spec::JobSpec;
use super::status::{FailureCode, JobStatus, Wanted};
use super::store::sqlite::SqliteStore;
use super::store::{
    Ending, EventKind, JobError, JobLease, JobTally, LEASE_GRACE_MS, LEASE_MS, Renewal, Store,
};
use crate::error::Kind;

const NOW: i64 = 1_000_000;

fn store() -> SqliteStore {
    SqliteStore::in_memory().unwrap()
}

fn spec(job: &str) -> JobSpec {
    JobSpec { job: job.to_owned(), ..JobSpec::default() }
}

fn body() -> Map<String, Value> {
    Map::from_iter([("tool".to_owned(), json!("click_element"))])
}

fn taken(store: &dyn Store) -> JobLease {
    store.enqueue(&spec("a"), NOW).unwrap();
    store.claim("w1", NOW).unwrap().unwrap().lease
}

fn succeeded() -> Ending {
    Ending { status: JobStatus::Succeeded, result: Some(json!({"a": 1})), error: None }
}

#[test]
fn a_job_is_taken_once() {
    let store = store();
    let id = store.enqueue(&spec("a"), NOW).unwrap();
    let claimed = store.claim("w1", NOW).unwrap().unwrap();
    assert_eq!((claimed.lease.job_id, claimed.lease.epoch, claimed.attempts), (id, 1, 1));
    assert!(store.claim("w2", NOW).unwrap().is_none());
}

#[test]
fn the_urgent_and_then_the_oldest_comes_first() {
    let store = store();
    for (job, priority, at) in [("late", 0, 2), ("early", 0, 1), ("urgent", 5, 3)] {
        store.enqueue(&JobSpec { priority, ..spec(job) }, at).unwrap();
    }
    let next = || store.claim("w", NOW).unwrap().map(|claimed| claimed.spec.job);
    assert_eq!(
        [next(), next(), next(), next()].map(Option::unwrap_or_default),
        ["urgent", "early", "late", ""]
    );
}

#[test]
fn the_same_key_is_the_same_job() {
    let store = store();
    let keyed = |job: &str| JobSpec { idempotency_key: Some("k".to_owned()), ..spec(job) };
    let first = store.enqueue(&keyed("a"), NOW).unwrap();
    assert_eq!(store.enqueue(&keyed("b"), NOW).unwrap(), first);
    assert_ne!(store.enqueue(&spec("b"), NOW).unwrap(), first);
}

#[test]
fn an_intent_and_its_outcome_are_two_events() {
    let store = store();
    let lease = taken(&store);
    let intent = store.intend(&lease, &body(), NOW).unwrap();
    assert_eq!(store.in_doubt(&lease.job_id).unwrap().len(), 1);
    let outcome = Map::from_iter([("intent".to_owned(), json!(intent))]);
    store.append(&lease, EventKind::Outcome, &outcome, NOW).unwrap();
    assert_eq!(store.in_doubt(&lease.job_id).unwrap(), []);
    let kinds: Vec<String> =
        store.events(&lease.job_id, 0, 10).unwrap().into_iter().map(|event| event.kind).collect();
    assert_eq!(kinds, ["note", "intent", "outcome"]);
    assert_eq!(store.read(&lease.job_id).unwrap().unwrap().effects, 1);
    assert_eq!(store.events(&lease.job_id, 2, 10).unwrap().len(), 1);
}

/// Nothing is sent unless this worker holds the job, it is to run, and the lease is not over.
fn check_no_intent(spoil: impl Fn(&SqliteStore, &mut JobLease) -> i64, kind: Kind) {
    let store = store();
    let mut lease = taken(&store);
    let now = spoil(&store, &mut lease);
    assert_eq!(store.intend(&lease, &body(), now).unwrap_err().kind, kind);
    let intents = store.events(&lease.job_id, 0, 10).unwrap();
    assert!(intents.iter().all(|event| event.kind != "intent"), "{intents:?}");
}

#[test]
fn nothing_is_sent_without_the_lease() {
    check_no_intent(
        |_, lease| {
            lease.worker = "w2".to_owned();
            NOW
        },
        Kind::PermissionDenied,
    );
    check_no_intent(
        |_, lease| {
            lease.epoch += 1;
            NOW
        },
        Kind::PermissionDenied,
    );
    check_no_intent(|_, _| NOW + LEASE_MS, Kind::PermissionDenied);
    check_no_intent(
        |store, lease| {
            store.control(&lease.job_id, Wanted::Pause, NOW).unwrap();
            NOW
        },
        Kind::PermissionDenied,
    );
    check_no_intent(
        |store, lease| {
            store.control(&lease.job_id, Wanted::Cancel, NOW).unwrap();
            NOW
        },
        Kind::Cancelled,
    );
    check_no_intent(
        |store, lease| {
            store.finish(lease, &succeeded(), JobTally::default(), NOW).unwrap();
            NOW
        },
        Kind::PermissionDenied,
    );
}

#[test]
fn renewing_keeps_the_job_and_tells_what_is_wanted() {
    let store = store();
    let lease = taken(&store);
    let late = NOW + LEASE_MS - 1;
    assert_eq!(store.renew(&lease, late).unwrap(), Renewal::Held(Wanted::Run));
    store.intend(&lease, &body(), NOW + LEASE_MS + 1).unwrap();
    store.control(&lease.job_id, Wanted::Pause, late).unwrap();
    assert_eq!(store.renew(&lease, late).unwrap(), Renewal::Held(Wanted::Pause));
    store.finish(&lease, &succeeded(), JobTally::default(), late).unwrap();
    assert_eq!(store.renew(&lease, late).unwrap(), Renewal::Lost);
}

/// What a dead worker leaves: `acted` and `attempts` decide what becomes of it.
fn check_reaped(acted: bool, attempts: i64, expected: JobStatus) {
    let store = store();
    let id = store.enqueue(&spec("a"), NOW).unwrap();
    let mut now = NOW;
    for attempt in 1..=attempts {
        let lease = store.claim("w", now).unwrap().unwrap().lease;
        if acted && attempt == attempts {
            store.intend(&lease, &body(), now).unwrap();
        }
        now += LEASE_MS + LEASE_GRACE_MS;
        assert_eq!(store.reap(now).unwrap(), [], "the lease is just over");
        now += 1;
        let reaped = store.reap(now).unwrap();
        if attempt == attempts {
            assert_eq!(reaped, [(id.clone(), expected)]);
        }
    }
    assert_eq!(store.read(&id).unwrap().unwrap().status, expected);
    assert_eq!(store.in_doubt(&id).unwrap().len(), usize::from(acted));
}

#[test]
fn a_dead_workers_job_is_never_run_again_after_an_input() {
    check_reaped(false, 1, JobStatus::Queued);
    check_reaped(false, 3, JobStatus::Interrupted);
    check_reaped(true, 1, JobStatus::Interrupted);
    check_reaped(true, 2, JobStatus::Interrupted);
}

/// The first worker comes back after the second took the job.
#[test]
fn a_worker_that_was_taken_for_dead_writes_nothing() {
    let store = store();
    let first = taken(&store);
    let later = NOW + LEASE_MS + LEASE_GRACE_MS + 1;
    store.reap(later).unwrap();
    let second = store.claim("w2", later).unwrap().unwrap().lease;
    assert_eq!(second.epoch, first.epoch + 1);
    assert!(store.intend(&first, &body(), later).is_err());
    assert!(store.append(&first, EventKind::Note, &body(), later).is_err());
    assert!(store.finish(&first, &succeeded(), JobTally::default(), later).is_err());
    assert_eq!(store.renew(&first, later).unwrap(), Renewal::Lost);
    store.intend(&second, &body(), later).unwrap();
}

#[test]
fn a_job_that_waits_is_cancelled_at_once_and_an_ended_one_is_not() {
    let store = store();
    let id = store.enqueue(&spec("a"), NOW).unwrap();
    assert_eq!(store.control(&id, Wanted::Cancel, NOW).unwrap(), JobStatus::Cancelled);
    assert!(store.claim("w", NOW).unwrap().is_none());
    assert!(store.control(&id, Wanted::Run, NOW).unwrap_err().message.contains("cancelled"));
    assert!(store.control("job_x", Wanted::Run, NOW).unwrap_err().message.contains("no job"));
}

#[test]
fn an_end_is_read_as_it_was_written() {
    let store = store();
    let lease = taken(&store);
    let error = JobError::new(FailureCode::OutputInvalid, "no");
    let ending = Ending { status: JobStatus::Failed, result: Some(json!([1])), error: Some(error) };
    let tally = JobTally { steps: 7, ..JobTally::default() };
    store.finish(&lease, &ending, tally, NOW + 5).unwrap();
    let job = store.read(&lease.job_id).unwrap().unwrap();
    assert_eq!((job.status, job.steps, job.finished_at), (JobStatus::Failed, 7, Some(NOW + 5)));
    assert_eq!((job.result, job.error), (ending.result, ending.error));
    assert_eq!(store.list(Some(JobStatus::Failed), 10).unwrap().len(), 1);
    assert_eq!(store.list(Some(JobStatus::Queued), 10).unwrap().len(), 0);
}

#[test]
fn two_processes_share_a_file_and_others_cannot_read_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("new/jobs.db");
    let (one, two) = (SqliteStore::open(&path).unwrap(), SqliteStore::open(&path).unwrap());
    let id = one.enqueue(&spec("a"), NOW).unwrap();
    assert_eq!(two.claim("w", NOW).unwrap().unwrap().lease.job_id, id);
    assert!(one.claim("w", NOW).unwrap().is_none());
    #[cfg(unix)]
    for name in ["jobs.db", "jobs.db-wal"] {
        use std::os::unix::fs::PermissionsExt;
        let mode = path.with_file_name(name).metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "{name}");
    }
}

#[test]
fn a_file_of_a_newer_program_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("jobs.db");
    drop(SqliteStore::open(&path).unwrap());
    rusqlite::Connection::open(&path).unwrap().pragma_update(None, "user_version", 99).unwrap();
    let error = SqliteStore::open(&path).err().unwrap();
    assert!(error.message.contains("version 99"), "{}", error.message);
    std::fs::write(&path, "no database at all, but long enough to be taken for one, as far as it goes")
        .unwrap();
    assert_eq!(SqliteStore::open(&path).err().unwrap().kind, Kind::StorageFailed);
}
