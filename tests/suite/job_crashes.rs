//! Jobs whose worker dies: whatever the moment is, no input is sent twice, and none without its row.

use std::collections::BTreeSet;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use os_screen_observer::clock::Cancel;
use os_screen_observer::config::OwnDesk;
use os_screen_observer::error::{Error, Kind, Result};
use os_screen_observer::jobs::lease::unix_ms;
use os_screen_observer::jobs::run::{JobProgress, WhenStopped};
use os_screen_observer::jobs::spec::JobSpec;
use os_screen_observer::jobs::status::{JobStatus, Wanted};
use os_screen_observer::jobs::store::sqlite::SqliteStore;
use os_screen_observer::jobs::store::{
    Claimed, Ending, EventKind, JobArtifact, JobEvent, JobLease, JobQuestion, JobRecord, JobStats, JobTally,
    ModelUse, NumberedEvent, Renewal, ServerRow, Store,
};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::jobs::{Job, login};
use crate::support::World;
use crate::support::fake_model::{FakeModel, Script};
use crate::support::killed_runs::kill_runs;

/// A store that its worker loses after so many writes: before the write, or after it and before the answer. That is
/// where a worker that is killed stops, as seen from the store.
struct DyingStore {
    store: Arc<SqliteStore>,
    writes_left: AtomicI64,
    /// The last write arrives.
    arrives: bool,
    /// The write at which it died.
    died_at: Mutex<Option<String>>,
    /// What else happens then.
    on_death: Option<Box<dyn Fn() + Send + Sync>>,
}

impl DyingStore {
    fn new(store: &Arc<SqliteStore>, writes: i64, arrives: bool) -> Self {
        let (store, writes_left) = (store.clone(), AtomicI64::new(writes));
        Self { store, writes_left, arrives, died_at: Mutex::new(None), on_death: None }
    }

    fn writing<T>(&self, what: &str, write: impl FnOnce() -> Result<T>) -> Result<T> {
        let die = || {
            if let Some(on_death) = &self.on_death {
                on_death();
            }
            Err(Error::new(Kind::StorageFailed, "the worker is dead"))
        };
        let left = self.writes_left.fetch_sub(1, Ordering::SeqCst);
        if left == 1 {
            *self.died_at.lock().unwrap() = Some(what.to_owned());
        }
        match left {
            left if left > 1 => write(),
            1 if self.arrives => write().and_then(|_| die()),
            _ => die(),
        }
    }

    fn is_dead(&self) -> bool {
        self.writes_left.load(Ordering::SeqCst) <= 0
    }
}

#[rustfmt::skip]
impl Store for DyingStore {
    fn enqueue(&self, spec: &JobSpec, owner: Option<&str>, now: i64) -> Result<String> { self.store.enqueue(spec, owner, now) }
    fn enqueue_taken(&self, spec: &JobSpec, worker: &str, now: i64) -> Result<Claimed> { self.store.enqueue_taken(spec, worker, now) }
    fn claim(&self, worker: &str, server: Option<&str>, now: i64) -> Result<Option<Claimed>> { self.store.claim(worker, server, now) }
    fn claim_job(&self, id: &str, worker: &str, now: i64) -> Result<Option<Claimed>> { self.store.claim_job(id, worker, now) }
    fn renew(&self, lease: &JobLease, worked_ms: u64, now: i64) -> Result<Renewal> {
        if self.is_dead() { return Err(Error::new(Kind::StorageFailed, "the worker is dead")); }
        self.store.renew(lease, worked_ms, now)
    }
    fn intend(&self, lease: &JobLease, body: &Map<String, Value>, tally: &JobTally, now: i64) -> Result<i64> { self.writing("intent", || self.store.intend(lease, body, tally, now)) }
    fn append(&self, lease: &JobLease, kind: EventKind, body: &Map<String, Value>, tally: &JobTally, now: i64) -> Result<i64> { self.writing(kind.name(), || self.store.append(lease, kind, body, tally, now)) }
    fn keep_tally(&self, lease: &JobLease, tally: &JobTally) -> Result<()> { self.writing("tally", || self.store.keep_tally(lease, tally)) }
    fn wanted(&self, lease: &JobLease) -> Result<Wanted> { self.store.wanted(lease) }
    fn want_pause(&self, lease: &JobLease, body: &Map<String, Value>, now: i64) -> Result<()> { self.writing("want_pause", || self.store.want_pause(lease, body, now)) }
    fn ask(&self, lease: &JobLease, question: &JobQuestion, now: i64) -> Result<()> { self.writing("ask", || self.store.ask(lease, question, now)) }
    fn close_question(&self, lease: &JobLease, id: &str, outcome: &str, now: i64) -> Result<()> { self.writing("close_question", || self.store.close_question(lease, id, outcome, now)) }
    fn answer(&self, question: &str, allowed: bool, now: i64) -> Result<bool> { self.store.answer(question, allowed, now) }
    fn answer_to(&self, question: &str) -> Result<Option<bool>> { self.store.answer_to(question) }
    fn open_questions(&self, id: Option<&str>) -> Result<Vec<JobQuestion>> { self.store.open_questions(id) }
    fn set_status(&self, lease: &JobLease, status: JobStatus, tally: JobTally, now: i64) -> Result<()> { self.writing(status.name(), || self.store.set_status(lease, status, tally, now)) }
    fn finish(&self, lease: &JobLease, ending: &Ending, tally: JobTally, now: i64) -> Result<()> { self.writing("finish", || self.store.finish(lease, ending, tally, now)) }
    fn control(&self, id: &str, wanted: Wanted, now: i64) -> Result<JobStatus> { self.store.control(id, wanted, now) }
    fn reap(&self, now: i64) -> Result<Vec<(String, JobStatus)>> { self.store.reap(now) }
    fn reap_worker(&self, worker: &str, now: i64) -> Result<Vec<(String, JobStatus)>> { self.store.reap_worker(worker, now) }
    fn abandon(&self, lease: &JobLease, now: i64) -> Result<JobStatus> { self.writing("abandon", || self.store.abandon(lease, now)) }
    fn requeue(&self, id: &str, now: i64) -> Result<()> { self.store.requeue(id, now) }
    fn count_waiting(&self, server: Option<&str>, now: i64) -> Result<usize> { self.store.count_waiting(server, now) }
    fn note_server(&self, server: &ServerRow, now: i64) -> Result<Vec<ServerRow>> { self.store.note_server(server, now) }
    fn forget_server(&self, id: &str) -> Result<()> { self.store.forget_server(id) }
    fn waiting_for_desks(&self, server: &str, now: i64, limit: usize) -> Result<Vec<(String, OwnDesk)>> { self.store.waiting_for_desks(server, now, limit) }
    fn numbered_events(&self, number: i64, id: Option<&str>, limit: usize) -> Result<Vec<NumberedEvent>> { self.store.numbered_events(number, id, limit) }
    fn last_number(&self) -> Result<i64> { self.store.last_number() }
    fn set_run_dir(&self, lease: &JobLease, dir: &str) -> Result<()> { self.writing("run_dir", || self.store.set_run_dir(lease, dir)) }
    fn add_artifact(&self, lease: &JobLease, artifact: &JobArtifact) -> Result<()> { self.writing("artifact", || self.store.add_artifact(lease, artifact)) }
    fn artifacts(&self, id: &str) -> Result<Vec<JobArtifact>> { self.store.artifacts(id) }
    fn stats(&self) -> Result<JobStats> { self.store.stats() }
    fn read(&self, id: &str) -> Result<Option<JobRecord>> { self.store.read(id) }
    fn list(&self, status: Option<JobStatus>, limit: usize) -> Result<Vec<JobRecord>> { self.store.list(status, limit) }
    fn events(&self, id: &str, after: i64, limit: usize) -> Result<Vec<JobEvent>> { self.store.events(id, after, limit) }
    fn model_use(&self, id: &str) -> Result<Vec<ModelUse>> { self.store.model_use(id) }
    fn in_doubt(&self, id: &str) -> Result<Vec<JobEvent>> { self.store.in_doubt(id) }
}

/// Every write of a worker. It dies before each and after each: these are the marked points.
const WRITES: [&str; 16] = [
    "abandon",
    "artifact",
    "ask",
    "call",
    "close_question",
    "finish",
    "intent",
    "note",
    "outcome",
    "paused",
    "run_dir",
    "running",
    "safety",
    "tally",
    "turn",
    "want_pause",
];

/// A kind of job, and what somebody does while it runs; together they make every write.
struct DyingJob {
    name: &'static str,
    make: fn(Option<&FakeModel>) -> Job,
    /// What its model answers.
    answers: fn() -> Vec<Script>,
    watch: fn(&Job, &JobProgress, &Cancel),
    when_stopped: WhenStopped,
    /// Somebody allows what it asks for.
    is_answered: bool,
}

const PLAIN: DyingJob = DyingJob {
    name: "plain",
    make: |_| Job::new(login(), json!({})),
    answers: Vec::new,
    watch: |_, _, _| {},
    when_stopped: WhenStopped::Cancelled,
    is_answered: false,
};

const LOGIN: &str = "scenarios/login.yaml";

fn resumed(job: &Job, progress: &JobProgress) {
    if let JobProgress::Paused = progress {
        let _ = job.store.control(job.id(), Wanted::Run, 0);
    }
}

/// An answer of a model with one call.
fn answer(name: &str, arguments: Value) -> Script {
    let function = json!({"name": name, "arguments": arguments.to_string()});
    let message = json!({"tool_calls": [{"id": "c", "type": "function", "function": function}]});
    let usage = json!({"prompt_tokens": 100, "completion_tokens": 10});
    Script::Json(200, json!({"choices": [{"message": message}], "usage": usage}))
}

fn model_job(model: Option<&FakeModel>) -> Job {
    let url = format!("{}/v1", model.unwrap().url);
    let config =
        json!({"planner": {"base_url": url, "model": "m", "safety_model": "m", "safety_override": true}});
    let schema = json!({"type": "object"});
    let more = json!({"planner": "chat", "safety_override": true, "output_schema": schema});
    Job::on(World::build(Some(LOGIN), config), json!([]), more)
}

fn model_answers() -> Vec<Script> {
    let click = json!({"selector": "Button[name=\"Login\"]"});
    let wrong = answer("task_complete", json!({"result": 1}));
    vec![answer("click_element", click), wrong, answer("task_complete", json!({"result": {}}))]
}

const DYING_JOBS: [DyingJob; 7] = [
    PLAIN,
    DyingJob { name: "recorded", make: |_| Job::new(login(), json!({"record": true})), ..PLAIN },
    DyingJob {
        name: "paused",
        watch: |job, progress, _| {
            if let JobProgress::Calling { tool: "click_element", .. } = progress {
                let _ = job.store.control(job.id(), Wanted::Pause, 0);
            }
            resumed(job, progress);
        },
        ..PLAIN
    },
    DyingJob {
        name: "out of budget",
        make: |_| Job::new(login(), json!({"limits": {"max_steps": 3, "on_budget": "pause"}})),
        watch: |job, progress, _| resumed(job, progress),
        ..PLAIN
    },
    DyingJob {
        name: "stopped",
        watch: |_, progress, cancel| {
            if let JobProgress::Calling { tool: "click_element", .. } = progress {
                cancel.fire();
            }
        },
        when_stopped: WhenStopped::GivenUp,
        ..PLAIN
    },
    DyingJob { name: "planned by a model", make: model_job, answers: model_answers, ..PLAIN },
    DyingJob { name: "asking", make: asking_job, is_answered: true, ..PLAIN },
];

fn asking_job(_: Option<&FakeModel>) -> Job {
    let config = json!({"confirmation_required": [{"name_regex": "Login"}]});
    Job::on(World::in_real_time(LOGIN, config), login(), json!({}))
}

/// What became of a job whose worker died after so many inputs.
fn check_dead(store: &SqliteStore, effects: usize, place: &str) {
    let job_id = store.list(None, 1).unwrap().pop().unwrap().id;
    let later = unix_ms(&os_screen_observer::clock::Clock::real()) + 100_000;
    store.reap(later).unwrap();
    let events = store.events(&job_id, 0, 1000).unwrap();
    let intents = events.iter().filter(|event| event.kind == "intent").count();
    assert!(effects <= intents, "{effects} inputs and {intents} rows, {place}");
    assert!(intents - effects <= 1, "at most one input is in doubt, {place}");
    let record = store.read(&job_id).unwrap().unwrap();
    assert!(!record.status.is_held(), "nobody works on it, {place}");
    if record.status == JobStatus::Queued {
        assert_eq!(intents, 0, "what has acted is not run again, {place}");
    } else {
        assert!(store.claim("w2", None, later).unwrap().is_none(), "{place}");
    }
    assert_eq!(record.effects, intents as i64, "{place}");
    let doubt = store.in_doubt(&job_id).unwrap().len();
    assert!(doubt <= 1 && (doubt == 1 || effects == intents), "{doubt} in doubt, {place}");
    // What was used is on record, so that limits hold for all attempts together.
    assert!(record.used.actions >= effects as u64, "{:?}, {place}", record.used);
}

/// Where a worker dies: in which kind of job, at which write, before it or after it.
#[derive(Clone, Debug)]
struct MarkedPoint {
    kind: usize,
    writes: i64,
    arrives: bool,
    write: String,
}

/// Runs a job whose worker dies at a write. `on_death` is told how many inputs were sent.
fn run_dying(
    kind: &DyingJob,
    writes: i64,
    arrives: bool,
    on_death: Option<fn(usize)>,
) -> (Arc<Job>, Option<String>) {
    let answers = (kind.answers)();
    let model = (!answers.is_empty()).then(|| FakeModel::playing(answers));
    let job = Arc::new((kind.make)(model.as_ref()));
    let mut store = DyingStore::new(&job.store, writes, arrives);
    if let Some(on_death) = on_death {
        let job = job.clone();
        store.on_death = Some(Box::new(move || on_death(job.world.effects())));
    }
    let (store, cancel, over) = (Arc::new(store), Cancel::new(), Cancel::new());
    std::thread::scope(|scope| {
        if kind.is_answered {
            scope.spawn(|| {
                while over.check().is_ok() {
                    for question in job.store.open_questions(Some(job.id())).unwrap() {
                        let _ = job.store.answer(&question.id, true, 0);
                    }
                    std::thread::sleep(Duration::from_millis(5));
                }
            });
        }
        let progress = |progress: &JobProgress| (kind.watch)(&job, progress, &cancel);
        let mut runner = job.runner(store.clone(), &progress);
        runner.when_stopped = kind.when_stopped;
        let _ = runner.run(&job.claimed, &cancel);
        over.fire();
    });
    let died = store.died_at.lock().unwrap().clone();
    (job, died)
}

fn check_death(kind: usize, writes: i64, arrives: bool) -> Option<MarkedPoint> {
    let (job, died) = run_dying(&DYING_JOBS[kind], writes, arrives, None);
    let place = format!("{}: dead at write {writes} ({died:?}), arrives: {arrives}", DYING_JOBS[kind].name);
    check_dead(&job.store, job.world.effects(), &place);
    Some(MarkedPoint { kind, writes, arrives, write: died? })
}

/// At every write of every kind of job, before it and after it.
fn marked_points() -> &'static [MarkedPoint] {
    static POINTS: OnceLock<Vec<MarkedPoint>> = OnceLock::new();
    POINTS.get_or_init(|| {
        let kinds = (0..DYING_JOBS.len()).flat_map(|kind| [false, true].map(|arrives| (kind, arrives)));
        kinds
            .flat_map(|(kind, arrives)| (1..100).map_while(move |writes| check_death(kind, writes, arrives)))
            .collect()
    })
}

#[test]
fn wherever_a_worker_dies_no_input_is_repeated() {
    for arrives in [false, true] {
        let points = marked_points().iter().filter(|point| point.arrives == arrives);
        let writes: BTreeSet<&str> = points.map(|point| point.write.as_str()).collect();
        assert_eq!(writes.into_iter().collect::<Vec<_>>(), WRITES, "the marked points");
    }
}

const POINT_VARIABLE: &str = "OSO_TEST_KILLED_AT";
const SENT_FILE: &str = "sent";

/// The process that `kill -9` ends at a marked point; started by the test below.
#[cfg(target_os = "linux")]
#[test]
#[ignore = "a part of another test"]
fn is_killed_at_a_marked_point() {
    let Ok(point) = std::env::var(POINT_VARIABLE) else { return };
    let numbers: Vec<i64> = point.split(' ').map(|word| word.parse().unwrap()).collect();
    run_dying(
        &DYING_JOBS[numbers[0] as usize],
        numbers[1],
        numbers[2] == 1,
        Some(|sent| {
            std::fs::write(std::env::temp_dir().join(SENT_FILE), sent.to_string()).unwrap();
            let me = std::process::id().to_string();
            let _ = Command::new("kill").args(["-9", &me]).status();
            std::process::abort();
        }),
    );
}

#[cfg(target_os = "linux")]
fn check_killed_at(point: &MarkedPoint) {
    use std::os::unix::process::ExitStatusExt;
    let folder = tempfile::tempdir().unwrap();
    let numbers = format!("{} {} {}", point.kind, point.writes, u8::from(point.arrives));
    let ended = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "job_crashes::is_killed_at_a_marked_point", "--ignored"])
        .env(POINT_VARIABLE, numbers)
        .env("TMPDIR", folder.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .unwrap();
    assert_eq!(ended.signal(), Some(9), "{point:?}");
    let folders = std::fs::read_dir(folder.path()).unwrap().flatten().map(|entry| entry.path());
    let file = folders.map(|folder| folder.join("jobs.db")).find(|file| file.exists()).unwrap();
    let sent = std::fs::read_to_string(folder.path().join(SENT_FILE)).unwrap().parse().unwrap();
    check_dead(&SqliteStore::open(&file).unwrap(), sent, &format!("killed at {point:?}"));
}

/// `kill -9` before and after each write, in a process of its own: 32 points.
#[cfg(target_os = "linux")]
#[test]
fn a_worker_that_is_killed_at_a_marked_point_repeats_nothing() {
    let mut done = BTreeSet::new();
    for point in marked_points() {
        if done.insert((point.write.clone(), point.arrives)) {
            check_killed_at(point);
        }
    }
    assert_eq!(done.len(), 2 * WRITES.len());
}

#[derive(Clone, Copy, Debug)]
enum Wish {
    Pause,
    Takeover,
    Cancel,
    Die,
}

fn wishes() -> impl Strategy<Value = Vec<(u8, Wish)>> {
    let wish = prop_oneof![Just(Wish::Pause), Just(Wish::Takeover), Just(Wish::Cancel), Just(Wish::Die)];
    proptest::collection::vec((1..12_u8, wish), 0..4)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// Random calls, pauses, takeovers, cancels and deaths: inputs are at most the rows, and each is sent at most once.
    #[test]
    fn inputs_never_outnumber_their_rows(wishes in wishes(), clicks in 1..6_usize) {
        let mut steps = Vec::new();
        for number in 0..clicks {
            steps.push(json!({"call": "get_window_structure"}));
            let value = format!("user{number}");
            steps.push(json!({"call": "set_value", "args": {"selector": "Edit[name=\"Username\"]", "value": value}}));
        }
        steps.push(json!({"finish": {}}));
        let job = Job::new(json!(steps), json!({}));
        let death = wishes.iter().find_map(|(at, wish)| matches!(wish, Wish::Die).then_some(i64::from(*at)));
        let store = Arc::new(DyingStore::new(&job.store, death.unwrap_or(i64::MAX), clicks % 2 == 0));
        let calls = std::cell::Cell::new(0_u8);
        let progress = |progress: &JobProgress| {
            let wish = |wanted: Wanted| drop(job.store.control(job.id(), wanted, 0));
            match progress {
                JobProgress::Paused => wish(Wanted::Run),
                JobProgress::Calling { .. } => {
                    calls.set(calls.get() + 1);
                    for (_, wanted) in wishes.iter().filter(|(at, _)| *at == calls.get()) {
                        match wanted {
                            Wish::Pause => wish(Wanted::Pause),
                            Wish::Takeover => wish(Wanted::Takeover),
                            Wish::Cancel => wish(Wanted::Cancel),
                            Wish::Die => {}
                        }
                    }
                }
                _ => {}
            }
        };
        let _ = job.runner(store, &progress).run(&job.claimed, &Cancel::new());
        let (effects, intents) = (job.world.effects(), job.count("intent"));
        prop_assert!(effects <= intents && intents <= effects + 1, "{} inputs, {} rows", effects, intents);
        prop_assert!(effects <= clicks);
    }
}

#[test]
fn a_killed_program_repeats_nothing_and_loses_nothing() {
    let rounds = std::env::var("OSO_TEST_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(4);
    println!("{rounds} kills: {:?}", kill_runs(rounds, 30));
}
