//! What jobs promise beyond one attempt and one server: limits that hold over a crash, an end in time, room for the end on
//! a full disk, owners of queues.

use std::process::Command;
use std::time::{Duration, Instant};

use os_screen_observer::clock::Cancel;
use os_screen_observer::error::Kind;
use os_screen_observer::jobs::lease::unix_ms;
use os_screen_observer::jobs::money::Cost;
use os_screen_observer::jobs::resuming::DeskLife;
use os_screen_observer::jobs::run::{JobProgress, WhenStopped};
use os_screen_observer::jobs::spec::JobSpec;
use os_screen_observer::jobs::status::{JobStatus, Wanted};
use os_screen_observer::jobs::store::sqlite::SqliteStore;
use os_screen_observer::jobs::store::{
    Ending, JobRecord, JobTally, JobUse, SERVER_LEASE_MS, ServerRow, Store, Usage,
};
use serde_json::{Value, json};

use crate::jobs::{Job, login};
use crate::support::World;
use crate::support::fake_model::{FakeModel, Script};

const LOGIN: &str = "scenarios/login.yaml";
const SECOND: Duration = Duration::from_secs(1);

fn record(job: &Job) -> JobRecord {
    job.store.read(job.id()).unwrap().unwrap()
}

fn until(what: &str, holds: impl Fn() -> bool) -> Duration {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < 30 * SECOND, "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
    began.elapsed()
}

fn answer(name: &str, arguments: Value) -> Script {
    let function = json!({"name": name, "arguments": arguments.to_string()});
    let message = json!({"tool_calls": [{"id": "c", "type": "function", "function": function}]});
    let usage = json!({"prompt_tokens": 100, "completion_tokens": 10});
    Script::Json(200, json!({"choices": [{"message": message}], "usage": usage}))
}

fn done() -> Script {
    answer("task_complete", json!({"result": 1}))
}

fn planned(model: &FakeModel, more: Value) -> Job {
    let url = format!("{}/v1", model.url);
    let config = json!({"planner": {"base_url": url, "model": "gpt-5.4-mini"}});
    let mut spec = json!({"planner": "chat"});
    spec.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap_or_default());
    Job::on(World::in_real_time(LOGIN, config), json!([]), spec)
}

/// Runs the job until so many calls have begun; then its worker stops and somebody else takes it.
fn run_again_after(job: &Job, calls: usize) -> Ending {
    let (cancel, begun) = (Cancel::new(), std::cell::Cell::new(0));
    let progress = |progress: &JobProgress| {
        if let JobProgress::Calling { .. } = progress {
            begun.set(begun.get() + 1);
            if begun.get() == calls {
                cancel.fire();
            }
        }
    };
    let mut runner = job.runner(job.store.clone(), &progress);
    runner.when_stopped = WhenStopped::GivenUp;
    runner.run(&job.claimed, &cancel).unwrap();
    run_by_another(job)
}

fn run_by_another(job: &Job) -> Ending {
    let now = unix_ms(&job.world.app.clock);
    if record(job).status == JobStatus::Interrupted {
        job.store.requeue(job.id(), now).unwrap();
    }
    let claimed = job.store.claim_job(job.id(), "w2", now).unwrap().unwrap();
    job.runner(job.store.clone(), &|_| {}).run(&claimed, &Cancel::new()).unwrap()
}

#[test]
fn what_an_attempt_used_counts_for_the_next() {
    let look = || answer("look", json!({}));
    let model = FakeModel::playing(vec![look(), look(), look(), done()]);
    let job = planned(&model, json!({}));
    assert_eq!(run_again_after(&job, 2).status, JobStatus::Succeeded);
    let record = record(&job);
    assert_eq!((record.steps, record.used.calls), (4, 3));
    assert_eq!((record.usage.input, record.usage.output), (400, 40));
    assert_eq!(record.cost.unwrap().0, 400 * 750_000 + 40 * 4_500_000);
    assert_eq!(record.attempts, 2);
}

/// What who goes on with a job after its second input is told, on such a desk.
fn told_after_interruption(desk: DeskLife) -> String {
    let typed =
        |text: &str| answer("set_value", json!({"selector": "Edit[name=\"Username\"]", "value": text}));
    let model = FakeModel::playing(vec![typed("a"), typed("b"), answer("look", json!({})), done()]);
    let job = planned(&model, json!({}));
    let (cancel, begun) = (Cancel::new(), std::cell::Cell::new(0));
    let progress = |progress: &JobProgress| {
        if let JobProgress::Called { .. } = progress {
            begun.set(begun.get() + 1);
            if begun.get() == 2 {
                cancel.fire();
            }
        }
    };
    let mut runner = job.runner(job.store.clone(), &progress);
    runner.when_stopped = WhenStopped::GivenUp;
    assert_eq!(runner.run(&job.claimed, &cancel).unwrap().status, JobStatus::Interrupted);
    let now = unix_ms(&job.world.app.clock);
    job.store.requeue(job.id(), now).unwrap();
    let claimed = job.store.claim_job(job.id(), "w2", now).unwrap().unwrap();
    let mut runner = job.runner(job.store.clone(), &|_| {});
    runner.desk.life = desk;
    assert_eq!(runner.run(&claimed, &Cancel::new()).unwrap().status, JobStatus::Succeeded);
    model.requests().get(2).unwrap().body.clone()
}

/// What was done on a desk that is gone is not done any more; nobody is told to leave it at that.
#[test]
fn who_goes_on_is_told_what_became_of_the_desk() {
    let lasting = told_after_interruption(DeskLife::Lasting);
    assert!(lasting.contains("interrupted after 2 inputs") && lasting.contains("do not repeat"), "{lasting}");
    let lost = told_after_interruption(DeskLife::ThrownAway);
    assert!(lost.contains("this desk is new") && lost.contains("is not known"), "{lost}");
    assert!(!lost.contains("do not repeat"), "{lost}");
}

fn check_limit_over_attempts(limits: Value, message: &str) {
    let look = || answer("look", json!({}));
    let model = FakeModel::playing((0..9).map(|_| look()));
    let job = planned(&model, json!({ "limits": limits }));
    let ending = run_again_after(&job, 2);
    assert_eq!(ending.status, JobStatus::BudgetExceeded, "{limits} {ending:?}");
    assert!(ending.error.unwrap().message.contains(message));
    assert_eq!(model.requests().len(), 3, "{limits}");
}

/// H-315 on code: a crash gives a job nothing back.
#[test]
fn a_limit_holds_for_all_attempts_together() {
    check_limit_over_attempts(json!({"max_steps": 3}), "3 steps");
    check_limit_over_attempts(json!({"max_tokens": 330}), "tokens");
    check_limit_over_attempts(json!({"max_calls": 2}), "2 calls");
}

/// A worker that dies while it asks the model has paid for the answer.
#[test]
fn an_answer_that_was_asked_for_before_a_crash_is_counted() {
    let model = FakeModel::playing(vec![done()]);
    let job = planned(&model, json!({}));
    let reserved = Some(Usage { input: 1000, output: 500, ..Usage::default() });
    let tally = JobTally {
        steps: 1,
        worked_ms: 70,
        used: JobUse { reserved, ..JobUse::default() },
        ..JobTally::default()
    };
    job.store.keep_tally(&job.claimed.lease, &tally).unwrap();
    job.store.reap_worker("w", unix_ms(&job.world.app.clock)).unwrap();
    assert_eq!(run_by_another(&job).status, JobStatus::Succeeded);
    let record = record(&job);
    assert_eq!((record.steps, record.usage.input, record.usage.output), (2, 1100, 510));
    assert!(record.usage.estimated && record.worked_ms >= 70 && record.used.reserved.is_none(), "{record:?}");
}

/// Also where nobody goes on with it: a job that was interrupted shows all that it may have cost, and why it is over.
#[test]
fn an_interrupted_job_counts_the_answer_that_nobody_heard() {
    let model = FakeModel::playing(Vec::new());
    let job = planned(&model, json!({}));
    let (now, lease) = (unix_ms(&job.world.app.clock), &job.claimed.lease);
    let reserved = Some(Usage { input: 1000, output: 500, ..Usage::default() });
    let used = JobUse { reserved, reserved_pico: Some(7), ..JobUse::default() };
    let tally = JobTally { steps: 1, cost: Some(Cost(5)), used, ..JobTally::default() };
    job.store.intend(lease, &serde_json::Map::new(), &tally, now).unwrap();
    job.store.reap_worker("w", now).unwrap();
    let interrupted = record(&job);
    let usage = interrupted.usage;
    assert_eq!((usage.input, usage.output, interrupted.cost), (1000, 500, Some(Cost(12))));
    assert_eq!((interrupted.status, interrupted.used.reserved), (JobStatus::Interrupted, None));
    let error = interrupted.error.unwrap();
    assert!(error.code == "LeaseLost" && error.message.contains("had sent inputs"), "{error:?}");
    job.store.control(job.id(), Wanted::Cancel, now).unwrap();
    assert_eq!(record(&job).error.unwrap().code, "Cancelled");
}

#[test]
fn time_is_counted_over_attempts() {
    let wait = json!({"call": "wait_idle", "args": {"quiet_ms": 500, "timeout_ms": 2000}});
    let job = Job::new(json!([wait, wait, wait, {"finish": {}}]), json!({"limits": {"timeout_ms": 900}}));
    let ending = run_again_after(&job, 2);
    assert_eq!(ending.error.unwrap().code, "Timeout");
    assert!(record(&job).worked_ms >= 900);
}

/// Wherever the job is: its time ends it within a second.
fn check_timeout(job: &Job) {
    let began = Instant::now();
    let ending = job.run();
    let took = began.elapsed();
    assert_eq!(ending.status, JobStatus::BudgetExceeded, "{ending:?}");
    let error = ending.error.unwrap();
    assert_eq!((error.code.as_str(), error.message.contains("300 ms")), ("Timeout", true), "{error:?}");
    assert!(took < Duration::from_millis(1300), "it took {took:?}");
}

#[test]
fn the_time_of_a_job_ends_it_within_a_second_wherever_it_is() {
    let limits = || json!({"limits": {"timeout_ms": 300}});
    for script in [Script::Hang, Script::Page(429, "Retry-After: 30\r\n", "busy".to_owned())] {
        let model = FakeModel::playing(vec![script]);
        check_timeout(&planned(&model, limits()));
    }
    let wait = json!([{"call": "wait_for", "args": {"any_of": [{"type": "window_appears", "title_regex": "never"}], "timeout_ms": 30000}}]);
    check_timeout(&Job::on(World::in_real_time(LOGIN, json!({})), wait, limits()));
}

#[test]
fn a_job_without_time_pauses_where_it_is_to() {
    let wait = json!({"call": "wait_for", "args": {"any_of": [{"type": "window_appears", "title_regex": "never"}], "timeout_ms": 200},
        "expect": {"error": "Timeout"}});
    let limits = json!({"limits": {"timeout_ms": 300, "on_budget": "pause"}});
    let job = Job::on(World::in_real_time(LOGIN, json!({})), json!([wait, wait, {"finish": {}}]), limits);
    let pauses = std::cell::Cell::new(0);
    let ending = job.run_with(&Cancel::new(), &|progress| {
        if let JobProgress::Paused = progress {
            pauses.set(pauses.get() + 1);
            job.store.control(job.id(), Wanted::Run, 0).unwrap();
        }
    });
    assert_eq!(ending.status, JobStatus::Succeeded, "{ending:?}");
    assert_eq!(pauses.get(), 1);
}

#[test]
fn a_pause_ends_a_wait_within_a_second_and_the_wait_goes_on_after_it() {
    let wait = json!([{"call": "wait_for", "args": {"any_of": [{"type": "window_appears", "title_regex": "never"}], "timeout_ms": 1000},
        "expect": {"error": "Timeout"}}, {"finish": {}}]);
    let job = Job::on(World::in_real_time(LOGIN, json!({})), wait, json!({}));
    let ending = std::thread::scope(|scope| {
        let running = scope.spawn(|| job.run());
        std::thread::sleep(Duration::from_millis(100));
        job.store.control(job.id(), Wanted::Pause, 0).unwrap();
        let took = until("the pause", || record(&job).status == JobStatus::Paused);
        assert!(took < SECOND, "{took:?}");
        job.store.control(job.id(), Wanted::Run, 0).unwrap();
        running.join().unwrap()
    });
    assert_eq!(ending.status, JobStatus::Succeeded, "{ending:?}");
    assert_eq!(job.count("call"), 1, "the wait is one call");
}

#[test]
fn usage_and_cost_are_told_while_a_job_runs() {
    let model = FakeModel::playing(vec![answer("look", json!({})), Script::Hang]);
    let job = planned(&model, json!({}));
    let cancel = Cancel::new();
    std::thread::scope(|scope| {
        scope.spawn(|| job.run_with(&cancel, &|_| {}));
        until("the second request", || model.requests().len() == 2);
        let now = record(&job);
        assert_eq!((now.status, now.usage.input, now.used.calls), (JobStatus::Running, 100, 1));
        assert!(now.cost.unwrap().0 > 0 && now.used.reserved.is_some());
        until("the time", || record(&job).worked_ms > 0);
        cancel.fire();
    });
}

#[test]
fn an_interrupted_job_can_be_cancelled_for_good() {
    let job = Job::new(login(), json!({}));
    let now = unix_ms(&job.world.app.clock);
    job.store.intend(&job.claimed.lease, &serde_json::Map::new(), &JobTally::default(), now).unwrap();
    job.store.reap_worker("w", now).unwrap();
    assert!(job.store.control(job.id(), Wanted::Pause, now).is_err());
    assert_eq!(job.store.control(job.id(), Wanted::Cancel, now).unwrap(), JobStatus::Cancelled);
    assert_eq!(record(&job).status, JobStatus::Cancelled);
    assert_eq!(job.store.control(job.id(), Wanted::Cancel, now).unwrap_err().kind, Kind::JobConflict);
}

/// H-316 on code: of two servers on one store each runs what was given to it.
#[test]
fn a_queue_belongs_to_the_server_that_took_the_jobs() {
    let store = SqliteStore::in_memory().unwrap();
    let server =
        |id: &str| ServerRow { id: id.to_owned(), process: 1, started_at: 0, seen_until: SERVER_LEASE_MS };
    let spec = JobSpec { job: "a".to_owned(), ..JobSpec::default() };
    assert_eq!(store.note_server(&server("one"), 0).unwrap(), []);
    assert_eq!(store.note_server(&server("two"), 0).unwrap(), [server("one")]);
    let id = store.enqueue(&spec, Some("one"), 0).unwrap();
    assert_eq!(
        (store.count_waiting(Some("two"), 1).unwrap(), store.count_waiting(Some("one"), 1).unwrap()),
        (0, 1)
    );
    assert!(store.claim("w", Some("two"), 1).unwrap().is_none());
    let lost = SERVER_LEASE_MS + 1;
    let taken = store.claim("w", Some("two"), lost).unwrap().unwrap();
    assert_eq!(taken.lease.job_id, id, "a server that is gone leaves its queue");
    let next = store.enqueue(&spec, Some("one"), lost).unwrap();
    store.note_server(&server("one"), lost).unwrap();
    assert!(store.claim("w", Some("two"), lost).unwrap().is_none());
    store.forget_server("one").unwrap();
    assert_eq!(store.claim("w", Some("two"), lost).unwrap().unwrap().lease.job_id, next);
}

#[test]
fn a_job_whose_record_cannot_be_kept_fails_and_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    let config = json!({"tracing": {"dir": file.join("traces")}});
    let job = Job::on(World::build(Some(LOGIN), config), login(), json!({"record": true}));
    let ending = job.run();
    let error = ending.error.unwrap();
    assert_eq!((ending.status, error.code.as_str()), (JobStatus::Failed, "StorageFailed"));
    assert!(error.message.contains("cannot be recorded"), "{}", error.message);
    assert_eq!(job.world.effects(), 0, "it did not begin");
}

#[test]
fn a_store_that_cannot_be_opened_says_where_and_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    let problem = SqliteStore::open(&file.join("jobs.db")).err().unwrap();
    let path = file.display().to_string();
    assert!(problem.message.contains(&path) && problem.message.contains("jobs.dir"), "{}", problem.message);
}

/// Jobs that fill a disk of so many megabytes, at the same time: what is said of them, and how they ended.
#[cfg(target_os = "linux")]
fn fill_disk(megabytes: usize, jobs: usize) -> Option<(String, Vec<Value>)> {
    let allowed = Command::new("unshare").args(["-rm", "true"]).status().is_ok_and(|status| status.success());
    if !allowed {
        assert!(std::env::var("CI").is_err(), "no file system can be mounted here: nothing was tried");
        return None;
    }
    let folder = tempfile::tempdir().unwrap();
    let step = |number: usize| {
        let text = format!("{number} {}", "x".repeat(4000));
        json!({"call": "set_value", "args": {"selector": "Edit[name=\"Username\"]", "value": text}})
    };
    let script = folder.path().join("script.yaml");
    let steps: Vec<Value> = (0..200).map(step).chain([json!({"finish": {}})]).collect();
    std::fs::write(&script, json!({ "steps": steps }).to_string()).unwrap();
    let disk = folder.path().join("disk");
    std::fs::create_dir(&disk).unwrap();
    let scenario = crate::support::project().join(LOGIN);
    let program = env!("CARGO_BIN_EXE_os-screen-observer");
    let run = format!(
        "'{program}' --mock --scenario '{scenario}' run fill --planner 'scripted:{script}' --max-steps 1000 & ",
        scenario = scenario.display(),
        script = script.display(),
    );
    let commands = format!(
        "mount -t tmpfs -o size={megabytes}m none '{disk}' && cd '{disk}' && {runs} wait; '{program}' jobs list --json",
        disk = disk.display(),
        runs = run.repeat(jobs),
    );
    let ran = Command::new("unshare")
        .args(["-rm", "sh", "-c", &commands])
        .env("OSO_JOBS__DIR", disk.join("jobs"))
        .env("XDG_CONFIG_HOME", folder.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&ran.stderr).into_owned();
    let listed = serde_json::from_slice(&ran.stdout);
    Some((said.clone(), listed.unwrap_or_else(|problem| panic!("{problem}: {ran:?}"))))
}

#[cfg(target_os = "linux")]
fn check_full_disk(megabytes: usize, jobs: usize) {
    let Some((said, listed)) = fill_disk(megabytes, jobs) else { return };
    let ends: Vec<_> = listed.iter().map(|job| (&job["status"], &job["error"]["code"])).collect();
    assert_eq!(ends, vec![(&json!("failed"), &json!("StorageFailed")); jobs], "{said}");
    // Several programs write at once, so a line of one may begin in the middle of another's.
    assert_eq!(said.matches("failed after ").count(), jobs, "{said}");
    assert!(said.matches("the disk is full").count() >= jobs, "{said}");
}

/// H-317 on terminal: a disk that fills up while a job runs, one megabyte in size.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_ends_a_job_with_the_reason() {
    check_full_disk(1, 1);
}

/// H-360 on terminal: a disk that fills up while several jobs run: the end of each can be written.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_ends_each_of_several_jobs_with_the_reason() {
    check_full_disk(4, 8);
}

/// What is said of it, at the end of `run --record` and by `jobs show`.
#[test]
fn a_job_at_the_shell_says_why_it_ended_what_to_do_and_where_its_trace_is() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("script.yaml");
    let steps = json!([{"call": "look"}, {"fail": "nothing to do"}]);
    std::fs::write(&script, json!({ "steps": steps }).to_string()).unwrap();
    let said = |words: &[&str]| {
        let ran = Command::new(env!("CARGO_BIN_EXE_os-screen-observer"))
            .args(words)
            .env("OSO_JOBS__DIR", folder.path().join("jobs"))
            .env("XDG_CONFIG_HOME", folder.path())
            .current_dir(folder.path())
            .output()
            .unwrap();
        String::from_utf8(ran.stderr).unwrap() + &String::from_utf8(ran.stdout).unwrap()
    };
    let ran =
        said(&["--mock", "run", "a", "--record", "--planner", &format!("scripted:{}", script.display())]);
    let shown = said(&["jobs", "show", "job_"]);
    for text in [&ran, &shown] {
        assert!(text.contains("nothing to do (PlannerFailed); correct what the reason names"), "{text}");
        assert!(text.contains("recorded in ") && text.contains("/jobs/runs/"), "{text}");
    }
    assert!(shown.contains("used: 2 steps, 0 inputs"), "{shown}");
}

/// A desk that the worker was to have, and that is not there, is the end of the job.
#[test]
fn a_job_whose_worker_has_no_desk_is_rejected_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(&folder.path().join("jobs/jobs.db")).unwrap();
    let spec = json!({"job": "a", "planner": "chat", "model": "m"});
    let id = store.enqueue(&JobSpec::from_value(spec).unwrap(), None, 0).unwrap();
    let worked = Command::new(env!("CARGO_BIN_EXE_os-screen-observer"))
        .args(["--browser", "about:blank", "worker", "--once"])
        .env("OSO_JOBS__DIR", folder.path().join("jobs"))
        .env("OSO_BROWSER__EXECUTABLE", "/nowhere/chromium")
        .env("XDG_CONFIG_HOME", folder.path())
        .current_dir(folder.path())
        .status();
    assert!(worked.unwrap().success());
    let job = store.read(&id).unwrap().unwrap();
    let error = job.error.unwrap();
    assert_eq!((job.status, error.code.as_str()), (JobStatus::Rejected, "NoDesk"));
    assert!(error.message.contains("/nowhere/chromium"), "{}", error.message);
}

/// What a job asks is shown where it runs, with the command that answers.
#[test]
fn a_job_at_the_shell_shows_what_it_asks() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("script.yaml");
    std::fs::write(&script, json!({ "steps": login() }).to_string()).unwrap();
    let scenario = crate::support::project().join(LOGIN);
    let dir = folder.path().join("jobs");
    let program = || {
        let mut program = Command::new(env!("CARGO_BIN_EXE_os-screen-observer"));
        program.env("OSO_JOBS__DIR", &dir).env("XDG_CONFIG_HOME", folder.path()).current_dir(folder.path());
        program
    };
    let mut running = program()
        .args(["--mock", "--scenario", scenario.to_str().unwrap(), "run", "log in", "--planner"])
        .arg(format!("scripted:{}", script.display()))
        .env("OSO_CONFIRMATION_REQUIRED", r#"[{"name_regex": "Login"}]"#)
        .stdin(std::process::Stdio::null())
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(running.stderr.take().unwrap()));
    let asked = lines.by_ref().map(Result::unwrap).find(|line| line.contains("jobs answer")).unwrap();
    let id = asked.split_whitespace().find(|word| word.starts_with("ap:")).unwrap();
    assert!(program().args(["jobs", "answer", id, "allow"]).status().unwrap().success());
    lines.for_each(drop);
    assert!(running.wait().unwrap().success());
}

fn check_refused_at_once(args: &[&str], word: &str) {
    let folder = tempfile::tempdir().unwrap();
    let ran = Command::new(env!("CARGO_BIN_EXE_os-screen-observer"))
        .args(args)
        .env("OSO_JOBS__DIR", folder.path().join("jobs"))
        .env("XDG_CONFIG_HOME", folder.path())
        .env("OSO_BROWSER__EXECUTABLE", "/nowhere/chromium")
        .env_remove("ANTHROPIC_API_KEY")
        .current_dir(crate::support::project())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&ran.stderr);
    assert!(!ran.status.success() && said.contains(word), "{args:?}: {said}");
    assert!(!folder.path().join("jobs").exists(), "no job was made: {said}");
}

#[test]
fn a_job_that_cannot_be_run_is_refused_when_it_is_made() {
    let run = |rest: &[&'static str]| [&["--mock", "run", "a", "--planner"][..], rest].concat();
    check_refused_at_once(&run(&["gpt"]), "no planner 'gpt'");
    check_refused_at_once(&run(&["host"]), "run_job");
    check_refused_at_once(&run(&["anthropic", "--model", "claude-x"]), "ANTHROPIC_API_KEY");
    check_refused_at_once(&run(&["scripted:/no/such.yaml"]), "/no/such.yaml");
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("script.yaml");
    let named = format!("scripted:{}", script.display());
    for (steps, word) in [
        (json!([{"call": "look"}]), "its last step must be `finish` or `fail`"),
        (json!([]), "its last step must be `finish` or `fail`"),
        (json!([{"call": "lok"}]), "step 1 (lok): there is no such tool here; did you mean 'look'?"),
        (json!([{"call": "look"}, {"call": "look", "args": {"depht": 1}}]), "step 2 (look): "),
        (json!([{"call": "click_at", "args": {"x": "left", "y": 1}}]), "step 1 (click_at): "),
        (
            json!([{"call": "look", "save": {"a": "/x"}}, {"call": "click_at", "args": {"x": 1, "z": "{{a}}"}}]),
            "unknown argument 'z'",
        ),
    ] {
        std::fs::write(&script, json!({ "steps": steps }).to_string()).unwrap();
        check_refused_at_once(&["--mock", "run", "a", "--planner", &named], word);
    }
    let without_browser = ["--browser", "about:blank", "run", "a", "--planner", "chat", "--model", "m"];
    check_refused_at_once(&without_browser, "/nowhere/chromium");
    let with_scenario = ["--scenario", LOGIN, "run", "a", "--planner", "scripted:demo"];
    check_refused_at_once(&with_scenario, "--scenario would be ignored");
}
