//! What every store must do; SQLite is the one there is.

use serde_json::{Map, Value, json};

use super::spec::JobSpec;
use super::status::{FailureCode, JobStatus, Wanted};
use super::store::sqlite::SqliteStore;
use super::store::{
    Ending, EventKind, JobError, JobLease, JobQuestion, JobTally, LEASE_GRACE_MS, LEASE_MS, Renewal, Store,
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
    store.enqueue(&spec("a"), None, NOW).unwrap();
    store.claim("w1", None, NOW).unwrap().unwrap().lease
}

fn succeeded() -> Ending {
    Ending { status: JobStatus::Succeeded, result: Some(json!({"a": 1})), error: None }
}

#[test]
fn a_job_is_taken_once() {
    let store = store();
    let id = store.enqueue(&spec("a"), None, NOW).unwrap();
    let claimed = store.claim("w1", None, NOW).unwrap().unwrap();
    assert_eq!((claimed.lease.job_id, claimed.lease.epoch, claimed.attempts), (id, 1, 1));
    assert!(store.claim("w2", None, NOW).unwrap().is_none());
}

#[test]
fn the_urgent_and_then_the_oldest_comes_first() {
    let store = store();
    for (job, priority, at) in [("late", 0, 2), ("early", 0, 1), ("urgent", 5, 3)] {
        store.enqueue(&JobSpec { priority, ..spec(job) }, None, at).unwrap();
    }
    let next = || store.claim("w", None, NOW).unwrap().map(|claimed| claimed.spec.job);
    assert_eq!(
        [next(), next(), next(), next()].map(Option::unwrap_or_default),
        ["urgent", "early", "late", ""]
    );
}

#[test]
fn the_same_key_is_the_same_job() {
    let store = store();
    let keyed = |job: &str| JobSpec { idempotency_key: Some("k".to_owned()), ..spec(job) };
    let first = store.enqueue(&keyed("a"), None, NOW).unwrap();
    assert_eq!(store.enqueue(&keyed("a"), None, NOW).unwrap(), first);
    let other = store.enqueue(&keyed("b"), None, NOW).unwrap_err();
    assert_eq!((other.kind, other.text_of("job_id")), (Kind::JobConflict, Some(first.as_str())));
    assert_ne!(store.enqueue(&spec("b"), None, NOW).unwrap(), first);
}

#[test]
fn an_intent_and_its_outcome_are_two_events() {
    let store = store();
    let lease = taken(&store);
    let intent = store.intend(&lease, &body(), &JobTally::default(), NOW).unwrap();
    assert_eq!(store.in_doubt(&lease.job_id).unwrap().len(), 1);
    let outcome = Map::from_iter([("intent".to_owned(), json!(intent))]);
    store.append(&lease, EventKind::Outcome, &outcome, &JobTally::default(), NOW).unwrap();
    assert_eq!(store.in_doubt(&lease.job_id).unwrap(), []);
    let kinds: Vec<String> =
        store.events(&lease.job_id, 0, 10).unwrap().into_iter().map(|event| event.kind).collect();
    assert_eq!(kinds, ["note", "note", "intent", "outcome"]);
    assert_eq!(store.read(&lease.job_id).unwrap().unwrap().effects, 1);
    assert_eq!(store.events(&lease.job_id, 3, 10).unwrap().len(), 1);
}

/// Nothing is sent unless this worker holds the job, it is to run, and the lease is not over.
fn check_no_intent(spoil: impl Fn(&SqliteStore, &mut JobLease) -> i64, kind: Kind) {
    let store = store();
    let mut lease = taken(&store);
    let now = spoil(&store, &mut lease);
    assert_eq!(store.intend(&lease, &body(), &JobTally::default(), now).unwrap_err().kind, kind);
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
            store.control(&lease.job_id, Wanted::Takeover, NOW).unwrap();
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
    assert_eq!(store.renew(&lease, 0, late).unwrap(), Renewal::Held(Wanted::Run));
    store.intend(&lease, &body(), &JobTally::default(), NOW + LEASE_MS + 1).unwrap();
    store.control(&lease.job_id, Wanted::Pause, late).unwrap();
    assert_eq!(store.renew(&lease, 0, late).unwrap(), Renewal::Held(Wanted::Pause));
    store.finish(&lease, &succeeded(), JobTally::default(), late).unwrap();
    assert_eq!(store.renew(&lease, 0, late).unwrap(), Renewal::Lost);
}

/// What a dead worker leaves: `acted` and `attempts` decide what becomes of it.
fn check_reaped(acted: bool, attempts: i64, expected: JobStatus) {
    let store = store();
    let id = store.enqueue(&spec("a"), None, NOW).unwrap();
    let mut now = NOW;
    for attempt in 1..=attempts {
        let lease = store.claim("w", None, now).unwrap().unwrap().lease;
        if acted && attempt == attempts {
            store.intend(&lease, &body(), &JobTally::default(), now).unwrap();
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
    let second = store.claim("w2", None, later).unwrap().unwrap().lease;
    assert_eq!(second.epoch, first.epoch + 1);
    assert!(store.intend(&first, &body(), &JobTally::default(), later).is_err());
    assert!(store.append(&first, EventKind::Note, &body(), &JobTally::default(), later).is_err());
    assert!(store.finish(&first, &succeeded(), JobTally::default(), later).is_err());
    assert_eq!(store.renew(&first, 0, later).unwrap(), Renewal::Lost);
    store.intend(&second, &body(), &JobTally::default(), later).unwrap();
}

#[test]
fn a_job_that_waits_is_cancelled_at_once_and_an_ended_one_is_not() {
    let store = store();
    let id = store.enqueue(&spec("a"), None, NOW).unwrap();
    assert_eq!(store.control(&id, Wanted::Cancel, NOW).unwrap(), JobStatus::Cancelled);
    assert!(store.claim("w", None, NOW).unwrap().is_none());
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
    let id = one.enqueue(&spec("a"), None, NOW).unwrap();
    assert_eq!(two.claim("w", None, NOW).unwrap().unwrap().lease.job_id, id);
    assert!(one.claim("w", None, NOW).unwrap().is_none());
    #[cfg(unix)]
    for name in ["jobs.db", "jobs.db-wal"] {
        use std::os::unix::fs::PermissionsExt;
        let mode = path.with_file_name(name).metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "{name}");
    }
}

/// H-296 on code: a store that others can write, or a link in its place.
#[cfg(unix)]
#[test]
fn a_store_of_others_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("own/jobs.db");
    drop(SqliteStore::open(&path).unwrap());
    let check = |what: &std::path::Path, mode: u32, expected: bool| {
        std::fs::set_permissions(what, std::fs::Permissions::from_mode(mode)).unwrap();
        assert_eq!(SqliteStore::open(&path).is_ok(), expected, "{} {mode:o}", what.display());
    };
    check(&path, 0o666, false);
    check(&path, 0o600, true);
    check(&folder.path().join("own"), 0o777, false);
    check(&folder.path().join("own"), 0o700, true);
    let open = folder.path().join("open");
    std::fs::create_dir(&open).unwrap();
    std::fs::set_permissions(&open, std::fs::Permissions::from_mode(0o777)).unwrap();
    assert!(SqliteStore::open(&open.join("jobs.db")).is_err(), "the first store of a folder");
    let link = folder.path().join("own/link.db");
    std::os::unix::fs::symlink(&path, &link).unwrap();
    assert!(SqliteStore::open(&link).is_err());
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

/// What is wanted of a job in `status`, after `before`, and whether it may be.
fn check_control(
    prepare: impl Fn(&SqliteStore) -> String,
    wanted: Wanted,
    expected: Result<JobStatus, Kind>,
) {
    let store = store();
    let id = prepare(&store);
    let answer = store.control(&id, wanted, NOW).map_err(|error| error.kind);
    assert_eq!(answer, expected, "{wanted:?}");
}

#[test]
fn a_wish_must_fit_the_status() {
    let queued = |store: &SqliteStore| store.enqueue(&spec("a"), None, NOW).unwrap();
    let running = |store: &SqliteStore| taken(store).job_id;
    let cancelling = |store: &SqliteStore| {
        let id = taken(store).job_id;
        store.control(&id, Wanted::Cancel, NOW).unwrap();
        id
    };
    check_control(queued, Wanted::Pause, Ok(JobStatus::Queued));
    check_control(queued, Wanted::Takeover, Err(Kind::JobConflict));
    check_control(running, Wanted::Takeover, Ok(JobStatus::Running));
    check_control(running, Wanted::Pause, Ok(JobStatus::Running));
    check_control(cancelling, Wanted::Run, Err(Kind::JobConflict));
    check_control(cancelling, Wanted::Cancel, Ok(JobStatus::Running));
    check_control(|_| "job_x".to_owned(), Wanted::Cancel, Err(Kind::JobNotFound));
}

#[test]
fn a_paused_job_is_not_taken_from_the_queue() {
    let store = store();
    let id = store.enqueue(&spec("a"), None, NOW).unwrap();
    store.control(&id, Wanted::Pause, NOW).unwrap();
    assert_eq!(
        (store.count_waiting(None, NOW).unwrap(), store.claim("w", None, NOW).unwrap().is_none()),
        (0, true)
    );
    store.control(&id, Wanted::Run, NOW).unwrap();
    assert!(store.claim("w", None, NOW).unwrap().is_some());
}

fn question() -> JobQuestion {
    JobQuestion {
        id: "ap:1".to_owned(),
        job_id: String::new(),
        shown: json!({"tool": "t"}),
        expires_at: NOW + 10,
    }
}

#[test]
fn a_question_is_answered_once_and_in_time() {
    let store = store();
    let lease = taken(&store);
    store.ask(&lease, &question(), NOW).unwrap();
    assert_eq!(store.read(&lease.job_id).unwrap().unwrap().status, JobStatus::InputRequired);
    assert_eq!(store.open_questions(Some(&lease.job_id)).unwrap().len(), 1);
    assert!(!store.answer("ap:1", true, NOW + 10).unwrap(), "too late");
    assert!(
        store.intend(&lease, &body(), &JobTally::default(), NOW).is_err(),
        "nothing is sent while a person is asked"
    );
    assert!(store.answer("ap:1", true, NOW).unwrap());
    assert!(!store.answer("ap:1", false, NOW).unwrap(), "it was answered");
    assert_eq!(store.answer_to("ap:1").unwrap(), Some(true));
    store.close_question(&lease, "ap:1", "allowed", NOW).unwrap();
    assert_eq!(store.read(&lease.job_id).unwrap().unwrap().status, JobStatus::Running);
    assert!(store.open_questions(None).unwrap().is_empty());
}

/// What is left of a dead worker's job that was to be cancelled, and of a worker that stops by itself.
#[test]
fn a_worker_that_stops_gives_its_job_back() {
    let store = store();
    let lease = taken(&store);
    assert_eq!(store.abandon(&lease, NOW).unwrap(), JobStatus::Queued);
    let lease = store.claim("w2", None, NOW).unwrap().unwrap().lease;
    store.intend(&lease, &body(), &JobTally::default(), NOW).unwrap();
    assert_eq!(store.reap_worker("w1", NOW).unwrap(), []);
    assert_eq!(store.reap_worker("w2", NOW).unwrap(), [(lease.job_id.clone(), JobStatus::Interrupted)]);
    store.requeue(&lease.job_id, NOW).unwrap();
    let lease = store.claim("w3", None, NOW).unwrap().unwrap().lease;
    store.control(&lease.job_id, Wanted::Cancel, NOW).unwrap();
    assert_eq!(store.reap_worker("w3", NOW).unwrap(), [(lease.job_id, JobStatus::Cancelled)]);
}

#[test]
fn events_are_numbered_across_jobs() {
    let store = store();
    let (one, two) = (taken(&store), taken(&store));
    let from = store.last_number().unwrap();
    store.append(&one, EventKind::Note, &body(), &JobTally::default(), NOW).unwrap();
    store.append(&two, EventKind::Note, &body(), &JobTally::default(), NOW).unwrap();
    store.append(&one, EventKind::Note, &body(), &JobTally::default(), NOW).unwrap();
    let jobs = |job: Option<&str>| -> Vec<(i64, String)> {
        let events = store.numbered_events(from, job, 10).unwrap();
        events.into_iter().map(|event| (event.number - from, event.job_id)).collect()
    };
    let (one, two) = (one.job_id, two.job_id);
    assert_eq!(jobs(None), [(1, one.clone()), (2, two), (3, one.clone())]);
    assert_eq!(jobs(Some(&one)), [(1, one.clone()), (3, one.clone())]);
}

/// A file of the first version is brought up to date, with what is in it.
#[test]
fn a_file_of_an_older_program_is_taken_over() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("jobs.db");
    let old = rusqlite::Connection::open(&path).unwrap();
    old.execute_batch(include_str!("store/schema.sql")).unwrap();
    old.execute_batch(
        "INSERT INTO jobs (id, status, spec, created_at) VALUES ('job_1', 'queued', '{\"job\":\"a\"}', 1)",
    )
    .unwrap();
    old.pragma_update(None, "user_version", 1).unwrap();
    drop(old);
    let store = SqliteStore::open(&path).unwrap();
    let lease = store.claim("w", None, NOW).unwrap().unwrap().lease;
    assert_eq!(lease.job_id, "job_1");
    store.intend(&lease, &body(), &JobTally::default(), NOW).unwrap();
}
