//! Jobs on the mock desktop: what they do, what stops them, and what is on record.

use std::sync::Arc;

use os_screen_observer::clock::Cancel;
use os_screen_observer::jobs::lease::unix_ms;
use os_screen_observer::jobs::resuming::RunDesk;
use os_screen_observer::jobs::run::{JobProgress, Runner, WhenStopped};
use os_screen_observer::jobs::spec::JobSpec;
use os_screen_observer::jobs::status::{JobStatus, Wanted};
use os_screen_observer::jobs::store::sqlite::SqliteStore;
use os_screen_observer::jobs::store::{Claimed, Ending, JobEvent, Store};
use serde_json::{Value, json};

use crate::support::World;
use crate::support::fake_model::{FakeModel, Request, Script};

pub struct Job {
    pub world: World,
    pub store: Arc<SqliteStore>,
    _folder: tempfile::TempDir,
    pub claimed: Claimed,
}

impl Job {
    /// A job on the login form, planned by these steps.
    pub fn new(steps: Value, more: Value) -> Self {
        Self::on(World::on("scenarios/login.yaml"), steps, more)
    }

    pub fn on(world: World, steps: Value, more: Value) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let script = folder.path().join("script.yaml");
        std::fs::write(&script, json!({ "steps": steps }).to_string()).unwrap();
        let mut spec = json!({"job": "log in", "planner": format!("scripted:{}", script.display())});
        spec.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap_or_default());
        let spec = JobSpec::from_value(spec).unwrap();
        let store = Arc::new(SqliteStore::open(&folder.path().join("jobs.db")).unwrap());
        let now = unix_ms(&world.app.clock);
        let id = store.enqueue(&spec, None, now).unwrap();
        let claimed = store.claim_job(&id, "w", now).unwrap().unwrap();
        Job { world, store, _folder: folder, claimed }
    }

    pub fn run(&self) -> Ending {
        self.run_with(&Cancel::new(), &|_| {})
    }

    pub fn run_with(&self, cancel: &Cancel, progress: &dyn Fn(&JobProgress)) -> Ending {
        let store: Arc<dyn Store> = self.store.clone();
        self.runner(store, progress).run(&self.claimed, cancel).unwrap()
    }

    pub fn runner<'a>(&'a self, store: Arc<dyn Store>, progress: &'a dyn Fn(&JobProgress)) -> Runner<'a> {
        let app = &self.world.app;
        Runner {
            gate: &app.gate,
            tools: &app.tools,
            planner: &app.config.planner,
            clock: app.clock.clone(),
            store,
            progress,
            when_stopped: WhenStopped::Cancelled,
            desk: RunDesk::LASTING,
        }
    }

    pub fn id(&self) -> &str {
        &self.claimed.lease.job_id
    }

    pub fn events(&self) -> Vec<JobEvent> {
        self.store.events(self.id(), 0, 1000).unwrap()
    }

    pub fn count(&self, kind: &str) -> usize {
        self.events().iter().filter(|event| event.kind == kind).count()
    }
}

const LOGIN: &str = r#"[
    {"call": "set_value", "args": {"selector": "Edit[name=\"Username\"]", "value": "alice"}},
    {"call": "set_value", "args": {"selector": "Edit[name=\"Password\"]", "value": "opensesame"}},
    {"call": "click_element", "args": {"selector": "Button[name=\"Login\"]"}},
    {"call": "get_window_structure", "save": {"hello": "/tree/children/0/name"}},
    {"finish": {"greeting": "{{hello}}"}}
]"#;

pub fn login() -> Value {
    serde_json::from_str(LOGIN).unwrap()
}

fn check_end(steps: Value, more: Value, status: JobStatus, code: &str, message: &str) -> Job {
    let job = Job::new(steps, more);
    let ending = job.run();
    let error = ending.error.clone().map(|error| (error.code, error.message)).unwrap_or_default();
    assert_eq!((ending.status, error.0.as_str()), (status, code), "{error:?}");
    assert!(error.1.contains(message), "{error:?}");
    let record = job.store.read(job.id()).unwrap().unwrap();
    assert_eq!(record.status, status);
    job
}

#[test]
fn a_script_works_the_desktop_and_gives_its_result() {
    let job = check_end(login(), json!({}), JobStatus::Succeeded, "", "");
    let record = job.store.read(job.id()).unwrap().unwrap();
    assert_eq!(record.result, Some(json!({"greeting": "Hello, alice"})));
    assert_eq!((record.steps, record.effects), (5, 3));
    assert_eq!(job.world.effects(), 3);
    assert_eq!((job.count("intent"), job.count("outcome"), job.count("call")), (3, 3, 1));
    assert_eq!(job.store.in_doubt(job.id()).unwrap(), []);
}

/// What is typed into a password field is in no row.
#[test]
fn no_event_has_the_password() {
    let job = check_end(login(), json!({}), JobStatus::Succeeded, "", "");
    let all: String = job.events().iter().map(|event| format!("{:?}", event.body)).collect();
    assert!(all.contains("Username") && !all.contains("opensesame"), "{all}");
}

#[test]
fn two_runs_write_the_same_events() {
    let [one, two] = [(); 2].map(|()| {
        let job = check_end(login(), json!({}), JobStatus::Succeeded, "", "");
        job.events().into_iter().map(|event| (event.seq, event.kind, event.body)).collect::<Vec<_>>()
    });
    assert_eq!(one, two);
}

/// The steps of a list are inputs of the job as well.
#[test]
fn each_step_of_act_has_an_intent() {
    let steps = json!([
        {"call": "act", "args": {"steps": [
            {"do": "set_value", "selector": "Edit[name=\"Username\"]", "value": "alice"},
            {"do": "click_element", "selector": "Button[name=\"Login\"]"}
        ]}},
        {"finish": {}}
    ]);
    let job = check_end(steps, json!({}), JobStatus::Succeeded, "", "");
    assert_eq!((job.count("intent"), job.world.effects()), (2, 2));
}

#[test]
fn a_disabled_tool_is_refused_wherever_it_is() {
    let click = json!({"selector": "Button[name=\"Login\"]"});
    let inside = json!({"steps": [{"do": "click_element", "selector": "Button[name=\"Login\"]"}]});
    for (tool, args) in [("click_element", click), ("act", inside)] {
        for denied in ["click_element", "elements"] {
            let steps = json!([{"call": tool, "args": args}, {"finish": {}}]);
            let job = check_end(
                steps,
                json!({"disabled_tools": [denied]}),
                JobStatus::Failed,
                "PlannerFailed",
                "not among the tools of this job",
            );
            assert_eq!((job.count("intent"), job.world.effects()), (0, 0), "{tool} without {denied}");
        }
    }
}

#[test]
fn limits_end_a_job_by_their_name() {
    let ends = |limits: Value, message: &str| {
        check_end(login(), json!({ "limits": limits }), JobStatus::BudgetExceeded, "BudgetExceeded", message)
    };
    assert_eq!(ends(json!({"max_steps": 2}), "2 steps").world.effects(), 2);
    assert_eq!(ends(json!({"max_actions": 1}), "1 actions").world.effects(), 1);
    assert_eq!(ends(json!({"max_calls": 2}), "2 calls").world.effects(), 2);
    assert_eq!(ends(json!({"max_calls": 0}), "0 calls").world.effects(), 0);
}

#[test]
fn time_is_limited_too() {
    let wait = json!({"call": "wait_idle", "args": {"quiet_ms": 500, "timeout_ms": 2000}});
    let steps = json!([wait, wait, wait, {"finish": {}}]);
    check_end(steps, json!({"limits": {"timeout_ms": 600}}), JobStatus::BudgetExceeded, "Timeout", "600 ms");
}

#[test]
fn an_expectation_that_is_missed_fails_the_job() {
    let steps = json!([{"call": "list_windows", "expect": {"contains": "Welcome"}}, {"finish": {}}]);
    check_end(steps, json!({}), JobStatus::Failed, "PlannerFailed", "does not contain 'Welcome'");
    let steps =
        json!([{"call": "click_element", "args": {"selector": "Button[name=\"No\"]"}}, {"finish": {}}]);
    check_end(steps, json!({}), JobStatus::Failed, "PlannerFailed", "ElementNotFound");
    check_end(
        json!([{"call": "list_windows"}]),
        json!({}),
        JobStatus::Failed,
        "PlannerFailed",
        "without a result",
    );
}

#[test]
fn the_same_call_again_and_again_ends_a_job() {
    let looks: Vec<Value> = (0..20).map(|_| json!({"call": "list_windows"})).collect();
    check_end(json!(looks), json!({}), JobStatus::Stalled, "Stalled", "list_windows");
}

#[test]
fn a_result_is_held_to_its_schema() {
    let schema =
        json!({"type": "object", "required": ["greeting"], "properties": {"greeting": {"type": "string"}}});
    check_end(login(), json!({ "output_schema": schema }), JobStatus::Succeeded, "", "");
    let steps = json!([{"finish": {"greeting": 5}}]);
    // A script cannot mend its result, so it is asked once; what it gave is kept.
    let job =
        check_end(steps, json!({ "output_schema": schema }), JobStatus::Failed, "OutputInvalid", "/greeting");
    let record = job.store.read(job.id()).unwrap().unwrap();
    assert_eq!((record.steps, record.result), (1, Some(json!({"greeting": 5}))));
}

#[test]
fn a_planner_that_cannot_be_used_is_said_before_anything_is_done() {
    let more = |planner: &str| json!({ "planner": planner });
    for (planner, message) in [("scripted:/no/such/file", "No such file"), ("gpt", "no planner 'gpt'")] {
        check_end(json!([]), more(planner), JobStatus::Rejected, "NoPlanner", message);
    }
}

/// No input comes after a cancel, wherever the job is.
#[test]
fn a_cancelled_job_sends_nothing_more() {
    for stop_at in 1..=3 {
        let job = Job::new(login(), json!({}));
        let steps = std::cell::Cell::new(0);
        let ending = job.run_with(&Cancel::new(), &|progress| {
            if let JobProgress::Calling { .. } = progress {
                steps.set(steps.get() + 1);
                if steps.get() == stop_at {
                    job.store.control(job.id(), Wanted::Cancel, 0).unwrap();
                }
            }
        });
        assert_eq!(ending.status, JobStatus::Cancelled, "{ending:?}");
        assert_eq!((job.world.effects(), job.count("intent")), (stop_at - 1, stop_at - 1));
    }
}

/// The person pauses before the click and lets it go on.
#[test]
fn a_paused_job_waits_and_goes_on() {
    let job = Job::new(login(), json!({}));
    let steps = std::cell::Cell::new(0);
    let ending = job.run_with(&Cancel::new(), &|progress| match progress {
        JobProgress::Called { .. } => {
            steps.set(steps.get() + 1);
            if steps.get() == 2 {
                job.store.control(job.id(), Wanted::Pause, 0).unwrap();
                // The next step is only reached when the pause was heard.
                std::thread::sleep(std::time::Duration::from_millis(300));
            }
        }
        JobProgress::Paused => {
            assert_eq!(job.world.effects(), 2);
            assert_eq!(job.store.read(job.id()).unwrap().unwrap().status, JobStatus::Paused);
            job.store.control(job.id(), Wanted::Run, 0).unwrap();
        }
        _ => {}
    });
    assert_eq!(ending.status, JobStatus::Succeeded, "{ending:?}");
    assert_eq!(job.world.effects(), 3);
}

/// Another worker took the job meanwhile: this one sends nothing.
#[test]
fn a_worker_without_its_lease_sends_nothing() {
    let job = Job::new(login(), json!({}));
    let late = unix_ms(&job.world.app.clock) + 100_000;
    let rival = job.store.clone();
    assert_eq!(rival.reap(late).unwrap().len(), 1);
    let second = rival.claim("w2", None, late).unwrap().unwrap();
    assert!(job.runner(job.store.clone(), &|_| {}).run(&job.claimed, &Cancel::new()).is_err());
    assert_eq!(job.world.effects(), 0);
    assert_eq!(job.store.read(&second.lease.job_id).unwrap().unwrap().status, JobStatus::Running);
}

/// Consent rules hold for jobs as for everybody; nobody can be asked.
#[test]
fn a_consent_rule_holds_for_a_job() {
    let config = json!({"confirmation_required": [{"name_regex": "Login"}]});
    let world = World::build(Some("scenarios/login.yaml"), config);
    let job = Job::on(world, login(), json!({}));
    let ending = job.run();
    assert_eq!(ending.status, JobStatus::Failed);
    assert!(ending.error.unwrap().message.contains("ConfirmationRequired"));
    assert_eq!((job.world.effects(), job.count("intent")), (2, 2));
}

/// The books name the job.
#[test]
fn audit_and_trace_name_the_job() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("audit.log");
    let config = json!({"logging": {"audit": true, "audit_path": log}, "tracing": {"dir": folder.path().join("traces")}});
    let world = World::build(Some("scenarios/login.yaml"), config);
    let started = world.ok("trace_start", json!({}));
    let job = Job::on(world, login(), json!({}));
    assert_eq!(job.run().status, JobStatus::Succeeded);
    job.world.ok("trace_stop", json!({}));
    let lines = std::fs::read_to_string(&log).unwrap();
    let named = format!("caller=job job={}", job.id());
    assert_eq!(lines.lines().filter(|line| line.contains(&named)).count(), 4, "{lines}");
    let rows = std::path::Path::new(started["dir"].as_str().unwrap()).join("trace.jsonl");
    let rows = std::fs::read_to_string(rows).unwrap();
    assert_eq!(rows.lines().filter(|row| row.contains(job.id())).count(), 4, "{rows}");
}

fn check_refused(spec: Value, message: &str) {
    let known = ["click_element", "elements"];
    let error = JobSpec::from_value(spec).and_then(|spec| spec.check(&known)).unwrap_err();
    assert!(error.message.contains(message), "{}", error.message);
}

/// H-49 on code: among them schemas that fetch.
#[test]
fn a_job_that_cannot_be_run_as_written_is_refused() {
    check_refused(json!({"job": " "}), "job is empty");
    check_refused(json!({"job": "x".repeat(20_000)}), "16384");
    check_refused(json!({"job": "a", "goal": "b"}), "goal");
    check_refused(json!({"job": 5}), "invalid type");
    check_refused(json!({"job": "a", "limits": {"max_steps": 0}}), "limits.max_steps");
    check_refused(json!({"job": "a", "limits": {"max_steps": 1_000_000_000}}), "limits.max_steps");
    check_refused(json!({"job": "a", "disabled_tools": ["click_elemen"]}), "did you mean 'click_element'");
    check_refused(json!({"job": "a", "output_schema": 42}), "no object");
    check_refused(json!({"job": "a", "output_schema": {"$ref": "file:///etc/passwd"}}), "file:///etc/passwd");
    check_refused(json!({"job": "a", "output_schema": {"$ref": "http://127.0.0.1:1/x"}}), "127.0.0.1");
    check_refused(json!({"job": "a", "output_schema": {"pattern": "(?=a)b"}}), "output_schema");
    let deep = (0..40).fold(json!({}), |inner, _| json!({"items": inner}));
    check_refused(json!({"job": "a", "output_schema": deep}), "deeper");
}

// ── a model plans ───────────────────────────────────────────────────────────────────────────────

/// An answer with these calls: name and arguments as the model writes them.
fn calls(calls: &[(&str, Value)]) -> Script {
    let written = |(at, (name, arguments)): (usize, &(&str, Value))| {
        let arguments = arguments.to_string();
        json!({"id": format!("c{at}"), "type": "function", "function": {"name": name, "arguments": arguments}})
    };
    let calls: Vec<Value> = calls.iter().enumerate().map(written).collect();
    answered(json!({"role": "assistant", "content": null, "tool_calls": calls}))
}

fn answered(message: Value) -> Script {
    let usage = json!({"prompt_tokens": 100, "completion_tokens": 10});
    Script::Json(200, json!({"choices": [{"message": message}], "usage": usage}))
}

/// Runs a job on the login form with a model that answers so.
fn with_model(script: Vec<Script>, more: Value) -> (Job, Ending, Vec<Request>) {
    let model = FakeModel::playing(script);
    let config =
        json!({"planner": {"base_url": format!("{}/v1", model.url), "model": "m", "api_key": "KEY-123456"}});
    let world = World::build(Some("scenarios/login.yaml"), config);
    let mut spec = json!({"planner": "chat"});
    spec.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap_or_default());
    let job = Job::on(world, json!([]), spec);
    let ending = job.run();
    (job, ending, model.requests())
}

fn done(result: Value) -> Script {
    calls(&[("task_complete", json!({ "result": result }))])
}

fn log_in() -> Script {
    let steps = json!({"steps": [
        {"do": "set_value", "selector": "Edit[name=\"Username\"]", "value": "alice"},
        {"do": "click_element", "selector": "Button[name=\"Login\"]"}
    ]});
    calls(&[("act", steps)])
}

#[test]
fn a_model_looks_acts_and_finishes() {
    let script = vec![calls(&[("look", json!({}))]), log_in(), done(json!("ok"))];
    let (job, ending, requests) = with_model(script, json!({}));
    assert_eq!(
        (ending.status, ending.result),
        (JobStatus::Succeeded, Some(json!("ok"))),
        "{:?}",
        ending.error
    );
    assert_eq!((job.world.effects(), job.count("intent"), requests.len()), (2, 2, 3));
    let record = job.store.read(job.id()).unwrap().unwrap();
    assert_eq!((record.usage.input, record.usage.output, record.usage.estimated), (300, 30, false));
    let second = requests[1].json();
    let names: Vec<&str> = second["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["function"]["name"].as_str().unwrap())
        .collect();
    assert!(
        names.contains(&"look") && names.contains(&"act") && names.contains(&"task_complete"),
        "{names:?}"
    );
    let result = second["messages"].as_array().unwrap().last().unwrap().clone();
    assert_eq!((&result["role"], &result["tool_call_id"]), (&json!("tool"), &json!("c0")));
    let text = result["content"].as_str().unwrap();
    assert!(text.contains("Acme Login") && !text.contains("\"ok\""), "{text}");
}

/// Each request: an assistant's calls are answered by results with their ids, all of them and nothing else.
fn check_pairing(requests: &[Request]) {
    for request in requests {
        let body = request.json();
        let mut open: Vec<Value> = Vec::new();
        for message in body["messages"].as_array().unwrap() {
            match message["role"].as_str().unwrap() {
                "tool" => {
                    let at = open.iter().position(|id| *id == message["tool_call_id"]);
                    open.remove(at.unwrap_or_else(|| panic!("{message} answers nothing")));
                    assert!(message["content"].is_string());
                }
                _ => assert!(open.is_empty(), "{open:?} before {message}"),
            }
            for call in message["tool_calls"].as_array().map(Vec::as_slice).unwrap_or_default() {
                open.push(call["id"].clone());
            }
        }
        assert!(open.is_empty());
    }
}

#[test]
fn calls_after_a_failed_one_are_not_made_and_answered_so() {
    let missing = ("click_element", json!({"selector": "Button[name=\"No\"]"}));
    let login = ("click_element", json!({"selector": "Button[name=\"Login\"]"}));
    let (job, ending, requests) = with_model(vec![calls(&[missing, login]), done(json!(1))], json!({}));
    assert_eq!((ending.status, job.world.effects()), (JobStatus::Succeeded, 0));
    check_pairing(&requests);
    let body = requests[1].body.clone();
    assert!(body.contains("ElementNotFound") && body.contains("not made"), "{body}");
}

#[test]
fn what_a_model_writes_wrongly_is_answered_and_counted() {
    let bad =
        || answered(json!({"tool_calls": [{"id": "x", "function": {"name": "look", "arguments": "{"}}]}));
    let unknown = || calls(&[("open_door", json!({}))]);
    let silent = || answered(json!({"content": "I am thinking."}));
    let many: Vec<(&str, Value)> = (0..200).map(|_| ("look", json!({}))).collect();
    let (job, ending, requests) =
        with_model(vec![bad(), unknown(), silent(), calls(&many), done(json!(1))], json!({}));
    assert_eq!(ending.status, JobStatus::Succeeded, "{:?}", ending.error);
    check_pairing(&requests);
    assert_eq!(job.world.effects(), 0);
    let (_, ending, requests) = with_model((0..9).map(|_| bad()).collect(), json!({}));
    assert_eq!((ending.error.unwrap().code.as_str(), requests.len()), ("TooManyFailures", 5));
}

#[test]
fn a_server_that_fails_is_asked_again_and_then_given_up() {
    let busy = || Script::Page(429, "Retry-After: 0\r\n", "slow down".to_owned());
    let (_, ending, requests) = with_model(vec![busy(), busy(), done(json!(1))], json!({}));
    assert_eq!((ending.status, requests.len()), (JobStatus::Succeeded, 3));
    let (_, ending, requests) = with_model((0..9).map(|_| busy()).collect(), json!({}));
    assert_eq!((ending.error.unwrap().code.as_str(), requests.len()), ("PlannerFailed", 4));
    for script in [
        Script::Json(401, json!({"error": "KEY-123456 is wrong"})),
        Script::Page(302, "Location: http://127.0.0.1:1/\r\n", String::new()),
        Script::Flood(9 << 20),
    ] {
        let (_, ending, requests) = with_model(vec![script], json!({}));
        let error = ending.error.unwrap();
        assert_eq!((error.code.as_str(), requests.len()), ("PlannerFailed", 1), "{}", error.message);
        assert!(!error.message.contains("KEY-123456"), "{}", error.message);
    }
}

#[test]
fn a_result_that_does_not_fit_may_be_mended_twice() {
    let schema = json!({"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}});
    let more = || json!({ "output_schema": schema });
    let (_, ending, requests) =
        with_model(vec![done(json!({})), done(json!({"n": "x"})), done(json!({"n": 3}))], more());
    assert_eq!((ending.status, ending.result), (JobStatus::Succeeded, Some(json!({"n": 3}))));
    assert!(requests[2].body.contains("/n"), "{}", requests[2].body);
    check_pairing(&requests);
    let (_, ending, _) = with_model((0..4).map(|_| done(json!({"n": "x"}))).collect(), more());
    assert_eq!(ending.error.unwrap().code, "OutputInvalid");
    assert_eq!(ending.result, Some(json!({"n": "x"})), "what it said is kept");
}

/// An obedient model does what the screen says; the scope and the consent rules stay in its way.
#[test]
fn a_model_reaches_nothing_that_the_job_may_not_use() {
    let script = vec![
        log_in(),
        calls(&[("exec_command", json!({"command": "id"}))]),
        calls(&[("give_up", json!({"reason": "refused"}))]),
    ];
    let (job, ending, requests) =
        with_model(script, json!({"disabled_tools": ["click_element", "set_value"]}));
    assert_eq!((job.world.effects(), ending.error.unwrap().message.as_str()), (0, "refused"));
    assert!(requests[1].body.contains("not among the tools of this job"), "{}", requests[1].body);
}

#[test]
fn only_the_newest_look_is_told_whole_and_two_pictures() {
    let look = || calls(&[("look", json!({"full": true}))]);
    let picture = || calls(&[("get_screenshot", json!({}))]);
    let click = calls(&[("click_element", json!({"selector": "Edit[name=\"Username\"]"}))]);
    let script = vec![look(), picture(), click, picture(), picture(), look(), done(json!(1))];
    let (_, ending, requests) = with_model(script, json!({}));
    assert_eq!(ending.status, JobStatus::Succeeded, "{:?}", ending.error);
    let last = requests.last().unwrap();
    assert_eq!(last.body.matches("data:image/").count(), 2);
    check_pairing(&requests);
}

#[test]
fn a_key_is_not_sent_in_the_open() {
    let config =
        json!({"planner": {"base_url": "http://example.org/v1", "model": "m", "api_key": "KEY-123456"}});
    let job = Job::on(World::with(config), json!([]), json!({"planner": "chat"}));
    let error = job.run().error.unwrap();
    assert_eq!(error.code, "NoPlanner");
    assert!(error.message.contains("without encryption"), "{}", error.message);
}

/// The price of a turn is known before it is asked for.
#[test]
fn a_cap_in_dollars_stops_before_it_is_passed() {
    let look = || calls(&[("look", json!({}))]);
    let capped = |usd: f64| json!({"model": "gpt-5.4-mini", "limits": {"max_usd": usd}});
    let (job, ending, requests) = with_model(vec![look(), log_in(), done(json!(1))], capped(1.0));
    assert_eq!((ending.status, requests.len()), (JobStatus::Succeeded, 3));
    let cost = job.store.read(job.id()).unwrap().unwrap().cost.unwrap();
    // 300 tokens at 0.75 and 30 at 4.5 dollars a million.
    assert_eq!(cost.0, 300 * 750_000 + 30 * 4_500_000);
    let (_, ending, requests) = with_model(vec![look()], capped(0.0001));
    assert_eq!(
        (ending.status, requests.len()),
        (JobStatus::BudgetExceeded, 0),
        "the longest answer costs more"
    );
    let unknown = json!({"model": "my-own", "limits": {"max_usd": 1.0}});
    let (_, ending, requests) = with_model(vec![look()], unknown);
    assert_eq!((ending.status, requests.len()), (JobStatus::Rejected, 0));
    assert!(ending.error.unwrap().message.contains("price of 'my-own' is not known"));
    let (job, ending, _) = with_model(vec![done(json!(1))], json!({"model": "my-own"}));
    assert_eq!(ending.status, JobStatus::Succeeded);
    assert_eq!(job.store.read(job.id()).unwrap().unwrap().cost, None);
}

/// What the README shows first: the built program, without a key, and what is on record afterwards.
#[test]
fn the_demo_runs_from_the_shell() {
    let folder = tempfile::tempdir().unwrap();
    let run = |args: &[&str]| {
        let program = std::process::Command::new(env!("CARGO_BIN_EXE_os-screen-observer"))
            .args(args)
            .current_dir(folder.path())
            .env("OSO_JOBS__DIR", folder.path().join("jobs"))
            .output()
            .unwrap();
        assert!(program.status.success(), "{args:?}: {}", String::from_utf8_lossy(&program.stderr));
        String::from_utf8(program.stdout).unwrap()
    };
    let result: Value = serde_json::from_str(&run(&["run", "log in", "--planner", "scripted:demo"])).unwrap();
    assert_eq!(result, json!({"greeting": "Hello, alice"}));
    let listed: Value = serde_json::from_str(&run(&["jobs", "list", "--json"])).unwrap();
    let (id, status) = (listed[0]["job_id"].as_str().unwrap(), &listed[0]["status"]);
    assert_eq!(status, "succeeded");
    let shown = run(&["jobs", "show", &id[..12]]);
    assert!(shown.contains("intent") && !shown.contains("open sesame"), "{shown}");
}
