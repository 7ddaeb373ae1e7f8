//! What people want of a running job: pause, take over, answer, cancel, more budget. What was done is read from the mock's
//! log, never from what the job says.

use std::cell::Cell;
use std::time::{Duration, Instant};

use os_screen_observer::clock::Cancel;
use os_screen_observer::jobs::run::{JobProgress, WhenStopped};
use os_screen_observer::jobs::service;
use os_screen_observer::jobs::status::{JobStatus, Wanted};
use os_screen_observer::jobs::store::{Ending, JobTally, Store};
use serde_json::{Value, json};

use crate::jobs::{Job, login};
use crate::support::World;
use crate::support::fake_model::{FakeModel, Script};

const LOGIN: &str = "scenarios/login.yaml";

fn want(job: &Job, wanted: Wanted) {
    job.store.control(job.id(), wanted, 0).unwrap();
}

fn status(job: &Job) -> JobStatus {
    job.store.read(job.id()).unwrap().unwrap().status
}

fn until(what: &str, holds: impl Fn() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < Duration::from_secs(30), "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// A job that a person deals with from another thread while it runs.
fn with_person(job: &Job, person: impl FnOnce(&Job) + Send) -> Ending {
    std::thread::scope(|scope| {
        scope.spawn(|| person(job));
        job.run()
    })
}

/// Does this when so many calls have begun.
fn at_call(number: usize, mut deed: impl FnMut()) -> impl FnMut(&JobProgress) {
    let mut calls = 0;
    move |progress| {
        if let JobProgress::Calling { .. } = progress {
            calls += 1;
            if calls == number {
                deed();
            }
        }
    }
}

/// Runs a job with somebody who watches it.
fn watched(job: &Job, watcher: impl FnMut(&JobProgress)) -> Ending {
    let watcher = std::cell::RefCell::new(watcher);
    job.run_with(&Cancel::new(), &|progress| (watcher.borrow_mut())(progress))
}

/// The pause comes when the call is already on its way: the input is held back, and sent once afterwards.
#[test]
fn an_input_that_meets_a_pause_is_sent_once_and_later() {
    for number in 1..=3 {
        let job = Job::new(login(), json!({}));
        let paused = Cell::new(0);
        let mut pausing = at_call(number, || want(&job, Wanted::Pause));
        let ending = watched(&job, |progress| {
            if let JobProgress::Paused = progress {
                paused.set(paused.get() + 1);
                assert_eq!(job.world.effects(), number - 1, "nothing is sent in a pause");
                want(&job, Wanted::Run);
            }
            pausing(progress);
        });
        assert_eq!((ending.status, paused.get()), (JobStatus::Succeeded, 1), "{ending:?}");
        assert_eq!((job.world.effects(), job.count("intent")), (3, 3));
    }
}

/// While a person has the desktop the job does not act, and afterwards it has to look before it acts.
#[test]
fn a_job_that_was_taken_over_must_look_again() {
    let job = Job::new(login(), json!({}));
    let mut taking = at_call(2, || want(&job, Wanted::Takeover));
    let ending = watched(&job, |progress| {
        if let JobProgress::Paused = progress {
            assert_eq!((job.world.effects(), status(&job)), (1, JobStatus::Paused));
            want(&job, Wanted::Run);
        }
        taking(progress);
    });
    assert_eq!((ending.status, job.world.effects()), (JobStatus::Failed, 1));
    assert!(ending.error.unwrap().message.contains("look before you act"));
}

/// Taken over between two steps, before a look: the script goes on with it.
#[test]
fn a_look_after_a_takeover_lets_the_job_act_again() {
    let look = json!({"call": "get_window_structure"});
    let [user, password, click, read, finish] = serde_json::from_value::<[Value; 5]>(login()).unwrap();
    let job = Job::new(json!([user, look, password, click, read, finish]), json!({}));
    let mut taking = at_call(2, || want(&job, Wanted::Takeover));
    let looks = Cell::new(0);
    let ending = watched(&job, |progress| match progress {
        JobProgress::Paused => want(&job, Wanted::Run),
        JobProgress::Called { tool: "get_window_structure", error, .. } => {
            looks.set(looks.get() + 1);
            assert_eq!(error.is_some(), looks.get() == 1, "the first look is refused");
        }
        _ => taking(progress),
    });
    assert_eq!((ending.status, job.world.effects()), (JobStatus::Succeeded, 3), "{ending:?}");
}

/// Whoever takes a desktop over that is on no screen is told how to see it.
#[test]
fn a_takeover_says_how_the_desktop_is_seen() {
    for seen_by in [None, Some("run a viewer")] {
        let job = Job::new(login(), json!({}));
        let taking = std::cell::RefCell::new(at_call(2, || want(&job, Wanted::Takeover)));
        let progress = |progress: &JobProgress| match progress {
            JobProgress::Paused => {
                let told = service::how_to_see(&*job.store, job.id(), 0).unwrap();
                assert_eq!(told.as_deref(), seen_by);
                want(&job, Wanted::Cancel);
            }
            _ => (taking.borrow_mut())(progress),
        };
        let mut runner = job.runner(job.store.clone(), &progress);
        runner.desk.seen_by = seen_by;
        assert_eq!(runner.run(&job.claimed, &Cancel::new()).unwrap().status, JobStatus::Cancelled);
        assert_eq!(job.events().iter().filter(|event| event.body.contains_key("taken_over")).count(), 1);
    }
}

fn check_budget(limits: Value, pauses: usize) {
    let mut limits = limits;
    limits["on_budget"] = json!("pause");
    let job = Job::new(login(), json!({ "limits": limits }));
    let paused = Cell::new(0);
    let ending = watched(&job, |progress| {
        if let JobProgress::Paused = progress {
            paused.set(paused.get() + 1);
            want(&job, Wanted::Run);
        }
    });
    assert_eq!((ending.status, paused.get()), (JobStatus::Succeeded, pauses), "{limits} {ending:?}");
    assert_eq!((job.world.effects(), job.count("intent")), (3, 3));
}

#[test]
fn a_job_without_budget_pauses_and_gets_the_same_again() {
    check_budget(json!({"max_steps": 2}), 2);
    check_budget(json!({"max_actions": 1}), 2);
    check_budget(json!({"max_calls": 3}), 1);
}

const ASKS: &str = r#"{"confirmation_required": [{"name_regex": "Login"}]}"#;

fn asking(more: Value) -> Job {
    let mut config: Value = serde_json::from_str(ASKS).unwrap();
    config.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap_or_default());
    Job::on(World::in_real_time(LOGIN, config), login(), json!({"limits": {"timeout_ms": 20_000}}))
}

fn open_question(job: &Job) -> Option<String> {
    job.store.open_questions(Some(job.id())).unwrap().first().map(|question| question.id.clone())
}

/// Whatever the mode of consent is, a job waits for a person and gives no consent to itself.
#[test]
fn a_person_answers_what_a_job_asks() {
    for mode in ["token", "ask", "inspector"] {
        for (allowed, expected, effects) in [(true, JobStatus::Succeeded, 3), (false, JobStatus::Failed, 2)] {
            let job = asking(json!({"confirmation": {"mode": mode}}));
            let ending = with_person(&job, |job| {
                until("the question", || open_question(job).is_some());
                assert_eq!((status(job), job.world.effects()), (JobStatus::InputRequired, 2));
                assert!(job.store.answer(&open_question(job).unwrap(), allowed, 0).unwrap());
            });
            assert_eq!((ending.status, job.world.effects()), (expected, effects), "{mode} {ending:?}");
            assert_eq!(job.count("approval"), 2);
        }
    }
}

#[test]
fn a_question_that_nobody_answers_is_denied() {
    let job = asking(json!({"confirmation": {"ttl_seconds": 1}}));
    let ending = job.run();
    assert_eq!((ending.status, job.world.effects()), (JobStatus::Failed, 2), "{ending:?}");
    assert!(ending.error.unwrap().message.contains("not answered"));
}

/// A person's time is not the job's.
#[test]
fn waiting_for_an_answer_is_no_time_of_the_job() {
    let mut config: Value = serde_json::from_str(ASKS).unwrap();
    config["confirmation"] = json!({"mode": "ask"});
    let job = Job::on(World::in_real_time(LOGIN, config), login(), json!({"limits": {"timeout_ms": 1500}}));
    let ending = with_person(&job, |job| {
        until("the question", || open_question(job).is_some());
        std::thread::sleep(Duration::from_millis(1800));
        job.store.answer(&open_question(job).unwrap(), true, 0).unwrap();
    });
    assert_eq!(ending.status, JobStatus::Succeeded, "{ending:?}");
}

/// From the wish to the end of the job.
fn check_cancelled(job: &Job, effects: usize, ready: impl Fn(&Job) -> bool + Send) {
    let ended = std::thread::scope(|scope| {
        let running = scope.spawn(|| (job.run(), Instant::now()));
        until("the job", || ready(job));
        std::thread::sleep(Duration::from_millis(20));
        let wished = Instant::now();
        want(job, Wanted::Cancel);
        let (ending, ended) = running.join().unwrap();
        assert_eq!(ending.status, JobStatus::Cancelled, "{ending:?}");
        ended.saturating_duration_since(wished)
    });
    assert!(ended < Duration::from_secs(1), "it took {ended:?}");
    assert_eq!(job.world.effects(), effects);
}

/// The engine is ended with the reading.
#[cfg(unix)]
#[test]
fn a_cancel_is_obeyed_within_a_second_while_pixels_are_read() {
    let (folder, engine) = crate::ocr::fake_engine("echo $$ > \"$0.pid\"; exec sleep 60");
    let world = World::in_real_time(LOGIN, json!({"ocr": {"tesseract_cmd": engine}}));
    let steps = json!([{"call": "get_ocr", "args": {"window_index": 0}}]);
    let reads = folder.path().join("tesseract.pid");
    check_cancelled(&Job::on(world, steps, json!({})), 0, |_| reads.exists());
}

/// Within a second, wherever the job is: in a wait, in a pause, at a question, in a call to the model.
#[test]
fn a_cancel_is_obeyed_within_a_second() {
    let running = |job: &Job| status(job) == JobStatus::Running;
    let wait = json!([{"call": "wait_for", "args": {"any_of": [{"type": "window_appears", "title_regex": "never"}], "timeout_ms": 30000}}]);
    check_cancelled(&Job::on(World::in_real_time(LOGIN, json!({})), wait, json!({})), 0, running);
    let job = Job::on(World::in_real_time(LOGIN, json!({})), login(), json!({}));
    want(&job, Wanted::Pause);
    check_cancelled(&job, 0, |job| status(job) == JobStatus::Paused);
    check_cancelled(&asking(json!({})), 2, |job| status(job) == JobStatus::InputRequired);
    let model = FakeModel::playing(vec![Script::Hang]);
    let config = json!({"planner": {"base_url": format!("{}/v1", model.url), "model": "m"}});
    let job = Job::on(World::in_real_time(LOGIN, config), json!([]), json!({"planner": "chat"}));
    check_cancelled(&job, 0, |_| !model.requests().is_empty());
}

/// A worker that is stopped gives its job back; one that has acted is left to a person.
#[test]
fn a_stopped_worker_decides_nothing_about_its_job() {
    for (stop_at, expected) in [(1, JobStatus::Queued), (2, JobStatus::Interrupted)] {
        let job = Job::new(login(), json!({}));
        let (cancel, calls) = (Cancel::new(), Cell::new(0));
        let progress = |progress: &JobProgress| {
            if let JobProgress::Calling { .. } = progress {
                calls.set(calls.get() + 1);
                if calls.get() == stop_at {
                    cancel.fire();
                }
            }
        };
        let mut runner = job.runner(job.store.clone(), &progress);
        runner.when_stopped = WhenStopped::GivenUp;
        let ending = runner.run(&job.claimed, &cancel).unwrap();
        assert_eq!((ending.status, status(&job)), (expected, expected));
        assert_eq!(job.world.effects(), stop_at - 1);
    }
}

/// Who goes on with an interrupted job is told what was sent, and has to look first.
#[test]
fn an_interrupted_job_goes_on_with_its_history() {
    let call = |name: &str, args: Value| {
        let function = json!({"name": name, "arguments": args.to_string()});
        let message = json!({"tool_calls": [{"id": "c", "type": "function", "function": function}]});
        Script::Json(200, json!({"choices": [{"message": message}]}))
    };
    let click = || call("click_element", json!({"selector": "Button[name=\"Login\"]"}));
    let look = || call("look", json!({}));
    let model =
        FakeModel::playing(vec![click(), look(), click(), call("task_complete", json!({"result": 1}))]);
    let config = json!({"planner": {"base_url": format!("{}/v1", model.url), "model": "m"}});
    let job = Job::on(World::build(Some(LOGIN), config), json!([]), json!({"planner": "chat"}));
    let body = serde_json::Map::from_iter([
        ("tool".to_owned(), json!("set_value")),
        ("target".to_owned(), json!("Edit 'Username'")),
    ]);
    let now = os_screen_observer::jobs::lease::unix_ms(&job.world.app.clock);
    job.store.intend(&job.claimed.lease, &body, &JobTally::default(), now).unwrap();
    job.store.reap_worker("w", now).unwrap();
    assert_eq!(status(&job), JobStatus::Interrupted);
    job.store.requeue(job.id(), now).unwrap();
    let claimed = job.store.claim_job(job.id(), "w2", now).unwrap().unwrap();
    let ending = job.runner(job.store.clone(), &|_| {}).run(&claimed, &Cancel::new()).unwrap();
    assert_eq!(ending.status, JobStatus::Succeeded, "{ending:?}");
    let first = model.requests()[0].body.clone();
    assert!(first.contains("set_value Edit 'Username' (nobody knows whether it was sent)"), "{first}");
    assert!(model.requests()[1].body.contains("look before you act"));
    assert_eq!(job.world.effects(), 1);
}

/// A job that is recorded leaves a trace, and each of its files has a row.
#[test]
fn a_recorded_job_leaves_a_trace_and_its_files_are_found_by_their_rows() {
    use os_screen_observer::jobs::artifacts::read_artifact;
    let job = Job::new(login(), json!({"record": true}));
    assert_eq!(job.run().status, JobStatus::Succeeded);
    let rows = job.store.artifacts(job.id()).unwrap();
    assert!(rows.iter().any(|row| row.path == "trace.jsonl"), "{rows:?}");
    let run_dir = job.store.read(job.id()).unwrap().unwrap().run_dir.unwrap();
    let read =
        |path: &str| read_artifact(&*job.store, job.id(), path).map(|(row, bytes)| (row.bytes, bytes.len()));
    for row in &rows {
        assert_eq!(read(&row.path).unwrap(), (row.bytes, row.bytes as usize));
        assert_eq!(read(&format!("{run_dir}/{}", row.path)).unwrap().0, row.bytes, "by its whole path");
    }
    std::fs::write(format!("{run_dir}/stray.txt"), "x").unwrap();
    for path in ["stray.txt", "../config.json", "/etc/passwd", "trees/../trace.jsonl", ""] {
        assert!(read(path).is_err(), "{path}");
    }
    std::fs::write(format!("{run_dir}/trace.jsonl"), "changed").unwrap();
    assert!(read("trace.jsonl").is_err(), "it is not what the job wrote");
}
