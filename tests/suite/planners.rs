//! Who plans a job: models on each wire, dialects, the safety check, clients and coding agents; and what all of it costs.

use std::sync::{Arc, Mutex};

use os_screen_observer::clock::Cancel;
use os_screen_observer::jobs::planner::host::{DuringPause, HostAnswer, HostSeat, open_seat};
use os_screen_observer::jobs::planner::{OpenedPlanner, PlannedStep};
use os_screen_observer::jobs::status::JobStatus;
use os_screen_observer::jobs::store::Ending;
use serde_json::{Value, json};

use crate::support::World;
use crate::support::fake_model::{FakeModel, Request, Script};
use crate::support::job_runs::{JobRun, code_of, message_of};
use crate::support::wires::{FAULTS, FakeWire, Fault, KEY, Tokens, check_pairing};

const LOGIN: &str = "scenarios/login.yaml";

fn merged(mut one: Value, other: Value) -> Value {
    one.as_object_mut().unwrap().extend(other.as_object().unwrap().clone());
    one
}

/// A job on the login form, planned over a wire; `config` adds to the section `planner`, `spec` to the job.
fn run_wire(
    wire: FakeWire,
    scripts: Vec<Script>,
    config: Value,
    spec: Value,
) -> (JobRun, Ending, Vec<Request>) {
    let model = FakeModel::playing(scripts);
    let config = merged(wire.config(&model.url), config);
    let world = World::build(Some(LOGIN), json!({ "planner": config }));
    let job = JobRun::new(world, merged(json!({"job": "log in", "planner": wire.planner()}), spec));
    let ending = job.run();
    (job, ending, model.requests())
}

fn log_in() -> (&'static str, Value) {
    let steps = json!([
        {"do": "set_value", "selector": "Edit[name=\"Username\"]", "value": "alice"},
        {"do": "click_element", "selector": "Button[name=\"Login\"]"}
    ]);
    ("act", json!({ "steps": steps }))
}

// ── wires ───────────────────────────────────────────────────────────────────────────────────────

#[test]
fn a_model_looks_acts_and_finishes_on_every_wire() {
    for wire in FakeWire::ALL {
        let scripts =
            [wire.calls(&[("look", json!({}))]), wire.calls(&[log_in()]), wire.done(json!("ok"))].concat();
        let (job, ending, requests) = run_wire(wire, scripts, json!({}), json!({}));
        assert_eq!(ending.result, Some(json!("ok")), "{wire:?}: {ending:?}");
        assert_eq!(job.world.effects(), 2, "{wire:?}");
        check_pairing(wire, &requests);
        let questions = wire.questions(&requests);
        assert_eq!(questions.len(), 3, "{wire:?}");
        assert!(
            questions[1].body.contains("Acme Login"),
            "{wire:?}: the look is told: {}",
            questions[1].body
        );
        assert!(
            questions[0].body.contains("task_complete") && questions[0].body.contains("log in"),
            "{wire:?}"
        );
        assert_eq!((job.record().usage.input, job.record().usage.output), (300, 30), "{wire:?}");
        assert!(requests.iter().all(|request| !request.body.contains(KEY)), "{wire:?}");
    }
}

fn check_fault(wire: FakeWire, fault: &Fault) {
    let (job, ending, requests) = run_wire(wire, (fault.answers)(wire), json!({"timeout_s": 1.5}), json!({}));
    let (code, message) = (code_of(&ending), message_of(&ending));
    assert_eq!(code, fault.code, "{wire:?}, {}: {message}", fault.name);
    assert_eq!(wire.questions(&requests).len(), fault.questions, "{wire:?}, {}: {message}", fault.name);
    assert_eq!(job.world.effects(), 0, "{wire:?}, {}", fault.name);
    assert!(!message.contains(KEY), "{wire:?}, {}: {message}", fault.name);
    check_pairing(wire, &requests);
    let all: String = job.events().iter().map(|event| format!("{:?}", event.body)).collect();
    assert!(!all.contains(KEY), "{wire:?}, {}: {all}", fault.name);
}

/// H-261, H-262 on code: what a server does wrong ends the job or is told to the model.
#[test]
fn faults_of_chat_servers_do_nothing() {
    FAULTS.iter().for_each(|fault| check_fault(FakeWire::Chat, fault));
}

/// H-261, H-262 on code: what a server does wrong ends the job or is told to the model.
#[test]
fn faults_of_responses_servers_do_nothing() {
    FAULTS.iter().for_each(|fault| check_fault(FakeWire::Responses, fault));
}

/// H-261, H-262 on code: the same with Anthropic's.
#[test]
fn faults_of_anthropics_server_do_nothing() {
    FAULTS.iter().for_each(|fault| check_fault(FakeWire::Anthropic, fault));
}

/// H-261, H-262 on code: the same with OpenCode's.
#[test]
fn faults_of_opencodes_server_do_nothing() {
    FAULTS.iter().for_each(|fault| check_fault(FakeWire::Opencode, fault));
}

/// The newest look is told whole, older ones in a line, and two pictures at most.
#[test]
fn only_the_newest_is_told_whole_on_every_wire() {
    for wire in FakeWire::ALL {
        let picture = || wire.calls(&[("get_screenshot", json!({}))]);
        let look = || wire.calls(&[("look", json!({"full": true}))]);
        let click = wire.calls(&[("click_element", json!({"selector": "Edit[name=\"Username\"]"}))]);
        let scripts = [look(), picture(), click, picture(), picture(), look(), wire.done(json!(1))].concat();
        let (_, ending, requests) = run_wire(wire, scripts, json!({}), json!({}));
        assert_eq!(code_of(&ending), "", "{wire:?}: {ending:?}");
        let last = wire.questions(&requests).pop().unwrap().body;
        let pictures = last.matches("iVBORw0KGgo").count();
        assert_eq!(pictures, 2, "{wire:?}");
        check_pairing(wire, &requests);
    }
}

/// The model is told when it goes round in circles, and then the job ends.
#[test]
fn a_model_that_repeats_itself_is_told_and_then_stopped() {
    let focused = json!([{"kind": "window_focused", "title_regex": "Acme"}]);
    let same = || ("assert_state", json!({ "predicates": focused }));
    for wire in FakeWire::ALL {
        let scripts = (0..9).flat_map(|_| wire.calls(&[same()])).collect();
        let (_, ending, requests) = run_wire(wire, scripts, json!({}), json!({}));
        assert_eq!(ending.status, JobStatus::Stalled, "{wire:?}: {ending:?}");
        let questions = wire.questions(&requests);
        assert_eq!(questions.len(), 6, "{wire:?}");
        assert!(!questions[2].body.contains("do something else"), "{wire:?}");
        assert!(questions[3].body.contains("do something else"), "{wire:?}: {}", questions[3].body);
        check_pairing(wire, &requests);
    }
}

/// A model that does not answer holds up nobody.
#[test]
fn a_job_is_cancelled_while_its_model_thinks() {
    for wire in FakeWire::ALL {
        let model = FakeModel::playing(wire.turn(Script::Hang));
        let world = World::build(Some(LOGIN), json!({"planner": wire.config(&model.url)}));
        let job = JobRun::new(world, json!({"job": "a", "planner": wire.planner()}));
        let cancel = Cancel::new();
        let (ending, took) = std::thread::scope(|scope| {
            let fired = scope.spawn(|| {
                std::thread::sleep(std::time::Duration::from_millis(500));
                cancel.fire();
                std::time::Instant::now()
            });
            let ending = job.run_planned(None, &cancel);
            (ending, fired.join().unwrap().elapsed())
        });
        assert_eq!(ending.status, JobStatus::Cancelled, "{wire:?}");
        assert!(took < std::time::Duration::from_secs(1), "{wire:?}: {took:?}");
    }
}

#[test]
fn the_money_of_a_job_is_told_while_it_runs() {
    let wire = FakeWire::Chat;
    let scripts = [wire.calls(&[("look", json!({}))]), wire.done(json!(1))].concat();
    let (job, _, _) = run_wire(wire, scripts, json!({}), json!({"model": "gpt-5.4-mini"}));
    let turns: Vec<f64> = job
        .events()
        .iter()
        .filter(|event| event.kind == "turn")
        .map(|event| (event.body["cost_usd"].as_f64().unwrap() * 1e6).round())
        .collect();
    // In millionths: 100 tokens at 0.75 and 10 at 4.5 dollars a million, twice.
    assert_eq!(turns, [120.0, 240.0]);
}

#[test]
fn anthropic_gets_its_header_and_cache_points() {
    let wire = FakeWire::Anthropic;
    let (_, _, requests) = run_wire(wire, wire.done(json!(1)), json!({}), json!({}));
    let (head, body) = (&requests[0].head, requests[0].json());
    assert!(
        head.contains("x-api-key: KEY-123456") && head.contains("anthropic-version: 2023-06-01"),
        "{head}"
    );
    assert!(!head.contains("authorization"), "{head}");
    assert_eq!(body["system"][0]["cache_control"]["type"], "ephemeral");
    assert_eq!(body["tools"].as_array().unwrap().last().unwrap()["cache_control"]["type"], "ephemeral");
}

/// A key of one vendor is never sent to another.
#[test]
fn each_server_gets_its_own_key() {
    let model = FakeModel::answering(|_| Some(Script::Json(401, json!({}))));
    let url = format!("{}/v1", model.url);
    for (planner, key) in [("anthropic", "OPENAI-KEY"), ("chat", "ANTHROPIC-KEY")] {
        let config = json!({"planner": {
            "model": "m", "base_url": url, "api_key": "OPENAI-KEY",
            "anthropic_base_url": url, "anthropic_api_key": "ANTHROPIC-KEY"
        }});
        let job = JobRun::new(World::with(config), json!({"job": "a", "planner": planner}));
        job.run();
        let sent = model.requests().pop().unwrap();
        assert!(!sent.head.contains(key), "{planner}: {}", sent.head);
    }
}

#[test]
fn a_model_that_fails_is_replaced_by_the_next() {
    let wire = FakeWire::Chat;
    let gone = Script::Json(404, json!({"error": "no such model"}));
    let scripts = [vec![gone], wire.calls(&[("look", json!({}))]), wire.done(json!(1))].concat();
    let (_, ending, requests) = run_wire(wire, scripts, json!({"fallback_models": ["n"]}), json!({}));
    assert_eq!(code_of(&ending), "", "{ending:?}");
    let asked: Vec<Value> = requests.iter().map(|request| request.json()["model"].clone()).collect();
    assert_eq!(asked, ["m", "n", "n"]);
    let gone = || Script::Json(404, json!({"error": "no such model"}));
    let (_, ending, requests) =
        run_wire(wire, vec![gone(), gone()], json!({"fallback_models": ["n"]}), json!({}));
    assert_eq!((code_of(&ending).as_str(), requests.len()), ("PlannerFailed", 2));
}

/// The notes of a job that have such a field.
fn notes_with(job: &JobRun, field: &str) -> Vec<Value> {
    let noted = job.events().into_iter().filter(|event| event.body.contains_key(field));
    noted.map(|event| Value::Object(event.body)).collect()
}

#[test]
fn a_wait_for_a_busy_server_is_on_record() {
    let wire = FakeWire::Chat;
    let busy = Script::Page(429, "Retry-After: 0\r\n", "slow down".to_owned());
    let (job, ending, _) = run_wire(wire, [vec![busy], wire.done(json!(1))].concat(), json!({}), json!({}));
    assert_eq!(code_of(&ending), "", "{ending:?}");
    assert_eq!(notes_with(&job, "waiting_s"), [json!({"waiting_s": 0.0, "model": "m", "why": "429"})]);
}

/// Nobody waits for a day: the next model is asked at once, and which one answered is on record.
#[test]
fn a_server_that_asks_for_too_long_a_wait_is_not_waited_for() {
    let wire = FakeWire::Chat;
    let busy = || Script::Page(429, "Retry-After: 86400\r\n", "come back tomorrow".to_owned());
    let (_, ending, _) = run_wire(wire, vec![busy()], json!({}), json!({}));
    let message = message_of(&ending);
    assert_eq!(code_of(&ending), "PlannerFailed", "{message}");
    assert!(message.contains("wait 86400 s") && message.contains("planner.longest_wait_s"), "{message}");
    let scripts = [vec![busy()], wire.calls(&[("look", json!({}))]), wire.done(json!(1))].concat();
    let (job, ending, _) = run_wire(wire, scripts, json!({"fallback_models": ["n"]}), json!({}));
    assert_eq!(code_of(&ending), "", "{ending:?}");
    let replaced = notes_with(&job, "instead_of");
    assert_eq!((&replaced[0]["model"], &replaced[0]["instead_of"]), (&json!("n"), &json!("m")));
    let used: Vec<(String, i64)> = job.model_use().into_iter().map(|used| (used.model, used.turns)).collect();
    assert_eq!(used, [("n".to_owned(), 2)]);
    assert!(notes_with(&job, "turn").iter().all(|turn| turn["model"] == "n"));
}

/// What an answer that never came may have cost is counted before the model is asked again.
#[test]
fn an_answer_that_is_late_is_asked_for_again() {
    let wire = FakeWire::Chat;
    let short = json!({"timeout_s": 0.5});
    let (job, ending, requests) =
        run_wire(wire, [vec![Script::Hang], wire.done(json!(1))].concat(), short.clone(), json!({}));
    assert_eq!((code_of(&ending).as_str(), requests.len()), ("", 2), "{ending:?}");
    let late = notes_with(&job, "problem");
    assert!(late[0]["problem"].as_str().unwrap().contains("did not answer within"), "{late:?}");
    assert!(late[0]["lost"]["input"].as_u64().unwrap() > 0 && job.record().usage.estimated, "{late:?}");
    assert_eq!(job.record().steps, 1, "asked again it is the same turn");
    let silent = (0..4).map(|_| Script::Hang).collect();
    let (_, ending, requests) = run_wire(wire, silent, short, json!({}));
    assert_eq!((code_of(&ending).as_str(), requests.len()), ("PlannerFailed", 4), "{ending:?}");
}

#[test]
fn newer_models_of_openai_are_limited_by_another_name() {
    let wire = FakeWire::Chat;
    for (model, field) in [("m", "max_tokens"), ("gpt-5.4-mini", "max_completion_tokens")] {
        let (_, _, requests) = run_wire(wire, wire.done(json!(1)), json!({}), json!({ "model": model }));
        assert!(requests[0].json()[field].is_u64(), "{model}: {}", requests[0].body);
    }
}

// ── money ───────────────────────────────────────────────────────────────────────────────────────

/// The same tokens cost the same, whichever way the vendor counts what was cached.
#[test]
fn cached_tokens_are_counted_as_each_vendor_counts_them() {
    for wire in FakeWire::ALL {
        let tokens = Tokens { input: 1000, cached: 900, output: 10 };
        let scripts = wire.answer("", &[("task_complete", json!({"result": 1}))], Some(tokens));
        let model = if wire == FakeWire::Opencode { "deepseek/deepseek-v4-pro" } else { "claude-sonnet-4-5" };
        let (job, ending, _) = run_wire(wire, scripts, json!({}), json!({ "model": model }));
        assert_eq!(code_of(&ending), "", "{wire:?}: {ending:?}");
        let usage = job.record().usage;
        assert_eq!((usage.input, usage.cached_input, usage.output), (1000, 900, 10), "{wire:?}");
        let expected = match wire {
            FakeWire::Opencode => 100 * 1_320_000 + 900 * 44_000 + 10 * 3_960_000,
            _ => 100 * 3_000_000 + 900 * 300_000 + 10 * 15_000_000,
        };
        assert_eq!(job.record().cost.unwrap().0, expected, "{wire:?}");
    }
}

/// H-262 on code: a question without an answer may have been paid for.
#[test]
fn attempts_that_fail_are_counted() {
    for wire in FakeWire::ALL {
        for lost in [Script::Cut, Script::Hang, Script::Page(200, "", "<html>".to_owned())] {
            let model = if wire == FakeWire::Opencode { "deepseek/deepseek-v4-pro" } else { "gpt-5.4-mini" };
            let lost_each_time = (0..4).flat_map(|_| wire.turn(lost.clone())).collect();
            let short = json!({"timeout_s": 0.5, "max_tokens": 1000});
            let (job, ending, _) = run_wire(wire, lost_each_time, short, json!({ "model": model }));
            assert_eq!(code_of(&ending), "PlannerFailed");
            let record = job.record();
            assert_eq!(
                record.usage.output, 4000,
                "each may have been answered at its longest: {wire:?}, {lost:?}"
            );
            let by_model: f64 = job.model_use().iter().filter_map(|used| used.cost_usd).sum();
            let cost = record.cost.unwrap().usd();
            assert!((by_model - cost).abs() < 1e-9, "{wire:?}, {lost:?}: {by_model} of {cost}");
            assert!(
                record.usage.input > 500 && record.usage.estimated,
                "{wire:?}, {lost:?}: {:?}",
                record.usage
            );
            assert!(record.cost.unwrap().0 > 0, "{wire:?}, {lost:?}");
        }
    }
}

/// H-381 on code: what a silent model may have cost counts toward the cap before it is asked again, at its own price.
#[test]
fn a_cap_holds_for_answers_that_never_come() {
    let wire = FakeWire::Chat;
    let config = json!({"timeout_s": 0.5, "max_tokens": 10_000});
    let capped = json!({"model": "gpt-5.4-mini", "limits": {"max_usd": 0.08}});
    let silent = (0..4).map(|_| Script::Hang).collect();
    let (job, ending, requests) = run_wire(wire, silent, config, capped);
    assert_eq!(ending.status, JobStatus::BudgetExceeded, "{ending:?}");
    assert_eq!(requests.len(), 1, "10000 tokens of output cost 0.045 dollars: {ending:?}");
    assert!(job.record().cost.unwrap().usd() > 0.045, "{:?}", job.record().cost);
}

#[test]
fn lost_answers_are_charged_at_the_price_of_their_own_model() {
    let wire = FakeWire::Chat;
    let silent = (0..4).map(|_| Script::Hang);
    let scripts = silent.chain(wire.done(json!(1))).collect();
    let config = json!({"timeout_s": 0.4, "max_tokens": 1000, "fallback_models": ["gpt-5.4"]});
    let (job, ending, _) = run_wire(wire, scripts, config, json!({"model": "gpt-5.4-mini"}));
    assert_eq!(code_of(&ending), "", "{ending:?}");
    let used = job.model_use();
    let turns: Vec<(&str, i64)> = used.iter().map(|used| (used.model.as_str(), used.turns)).collect();
    assert_eq!(turns, [("gpt-5.4-mini", 0), ("gpt-5.4", 1)]);
    assert_eq!(used[0].output, 4000);
    let sum: f64 = used.iter().filter_map(|used| used.cost_usd).sum();
    assert!((sum - job.record().cost.unwrap().usd()).abs() < 1e-9, "{used:?}, {:?}", job.record().cost);
    let output_alone = |usd_per_million: f64| 4000.0 * usd_per_million / 1e6;
    let cost = used[0].cost_usd.unwrap();
    assert!(cost > output_alone(4.0) && cost < output_alone(8.0), "{cost}: 4.5 dollars a million, not 15");
}

/// H-382 on code: a server that says that a prompt had no tokens is not believed.
#[test]
fn a_count_of_nothing_is_estimated() {
    for wire in FakeWire::ALL {
        let model = if wire == FakeWire::Opencode { "deepseek/deepseek-v4-pro" } else { "gpt-5.4-mini" };
        let nothing = Tokens { input: 0, cached: 0, output: 0 };
        let scripts = wire.answer("", &[("task_complete", json!({"result": 1}))], Some(nothing));
        let (job, ending, _) = run_wire(wire, scripts, json!({}), json!({ "model": model }));
        assert_eq!(code_of(&ending), "", "{wire:?}: {ending:?}");
        let record = job.record();
        assert!(record.usage.input > 100 && record.usage.output > 0 && record.usage.estimated, "{wire:?}");
        assert!(record.cost.unwrap().0 > 0, "{wire:?}");
    }
}

/// H-262 on code: a cap is held before the question, and refused where the price is not known.
#[test]
fn a_cap_in_dollars_is_held_on_every_wire() {
    for wire in FakeWire::ALL {
        let model = if wire == FakeWire::Opencode { "deepseek/deepseek-v4-pro" } else { "gpt-5.4-mini" };
        let capped = |model: &str, usd: f64| json!({"model": model, "limits": {"max_usd": usd}});
        let (_, ending, requests) = run_wire(wire, wire.done(json!(1)), json!({}), capped(model, 0.0001));
        assert_eq!((ending.status, requests.len()), (JobStatus::BudgetExceeded, 0), "{wire:?}");
        let (_, ending, requests) = run_wire(wire, wire.done(json!(1)), json!({}), capped("x/unknown", 1.0));
        assert_eq!((code_of(&ending).as_str(), requests.len()), ("NoPlanner", 0), "{wire:?}");
        assert!(message_of(&ending).contains("price"), "{ending:?}");
        let (_, ending, _) =
            run_wire(wire, wire.done(json!(1)), json!({"free": true}), capped("x/unknown", 1.0));
        assert_eq!(ending.status, JobStatus::Succeeded, "{wire:?}: {ending:?}");
    }
    // One of the models that may be asked has no price.
    let (_, ending, requests) = run_wire(
        FakeWire::Chat,
        Vec::new(),
        json!({"fallback_models": ["mine"]}),
        json!({"model": "gpt-5.4-mini", "limits": {"max_usd": 1.0}}),
    );
    assert_eq!((code_of(&ending).as_str(), requests.len()), ("NoPlanner", 0));
}

// ── results ─────────────────────────────────────────────────────────────────────────────────────

/// H-264 on code: after two repairs a result that does not fit is none.
#[test]
fn a_result_is_mended_twice_on_every_wire() {
    let schema = json!({"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}});
    for wire in FakeWire::ALL {
        let more = || json!({ "output_schema": schema });
        let scripts =
            [json!({}), json!({"n": "x"}), json!({"n": 3})].map(|result| wire.done(result)).concat();
        let (_, ending, requests) = run_wire(wire, scripts, json!({}), more());
        assert_eq!(ending.result, Some(json!({"n": 3})), "{wire:?}: {ending:?}");
        assert!(wire.questions(&requests)[2].body.contains("/n"), "{wire:?}");
        check_pairing(wire, &requests);
        let scripts = (0..4).flat_map(|_| wire.done(json!({"n": "x"}))).collect();
        let (_, ending, requests) = run_wire(wire, scripts, json!({}), more());
        assert_eq!(
            (code_of(&ending).as_str(), wire.questions(&requests).len()),
            ("OutputInvalid", 3),
            "{wire:?}"
        );
        assert_eq!(ending.result, Some(json!({"n": "x"})), "{wire:?}: what it said is kept");
    }
}

// ── dialects ────────────────────────────────────────────────────────────────────────────────────

fn offered(request: &Request) -> Vec<String> {
    let body = request.json();
    let tools = body["tools"].as_array().unwrap().clone();
    let name = |tool: &Value| {
        let named = tool.pointer("/function/name").or(tool.get("name")).or(tool.get("type"));
        named.unwrap().as_str().unwrap().to_owned()
    };
    tools.iter().map(name).collect()
}

#[test]
fn screenjobs_tools_work_the_desktop() {
    let wire = FakeWire::Chat;
    let scripts = [
        wire.calls(&[("see_screen", json!({}))]),
        wire.calls(&[("enhance", json!({"coordinate": "5,5"}))]),
        wire.calls(&[
            ("click", json!({"coordinate": "5,5", "sleep_after_seconds": 1})),
            ("sleep", json!({"seconds": 2})),
        ]),
        wire.calls(&[("type", json!({"text": "alice"})), ("press_key", json!({"key": "tab", "repeats": 2}))]),
        wire.done(json!("ok")),
    ]
    .concat();
    let (job, ending, requests) = run_wire(wire, scripts, json!({}), json!({"planner": "chat:screenjob"}));
    assert_eq!(ending.result, Some(json!("ok")), "{ending:?}");
    assert_eq!(job.world.effects(), 4, "a click, a text and two keys");
    let tools = offered(&requests[0]);
    assert_eq!(
        tools,
        ["sleep", "see_screen", "enhance", "click", "type", "press_key", "task_complete", "give_up"]
    );
    check_pairing(wire, &requests);
    assert!(requests[3].body.contains("waited 1 s"), "{}", requests[3].body);
}

fn check_denied(denied: &str, calls: &[(&str, Value)], planner: &str) {
    let wire = FakeWire::Chat;
    let first = wire.calls(&[("see_screen", json!({}))]);
    let give_up = wire.calls(&[("give_up", json!({"reason": "refused"}))]);
    let scripts = [first, wire.calls(calls), give_up].concat();
    let spec = json!({"planner": planner, "disabled_tools": [denied]});
    let (job, ending, requests) = run_wire(wire, scripts, json!({}), spec);
    assert_eq!(message_of(&ending), "refused", "{denied}");
    assert_eq!(job.world.effects(), 0, "{denied}");
    let told = &requests.last().unwrap().body;
    assert!(told.contains("not among the tools of this job"), "{denied}: {told}");
    assert!(!offered(&requests[0]).iter().any(|name| name == denied), "{denied} is offered");
}

/// H-265 on code: by the dialect's own names.
#[test]
fn a_job_denies_by_the_names_of_dialects() {
    check_denied("click", &[("click", json!({"coordinate": "5,5"}))], "chat:screenjob");
    check_denied("click_at", &[("click", json!({"coordinate": "5,5"}))], "chat:screenjob");
    check_denied("pointer", &[("click", json!({"coordinate": "5,5"}))], "chat:screenjob");
    check_denied("type", &[("type", json!({"text": "a"}))], "chat:screenjob");
    check_denied("sleep", &[("sleep", json!({"seconds": 1}))], "chat:screenjob");
}

/// H-265 on code, act: whoever may not click by one name may not by another.
#[test]
fn a_dialects_name_denies_what_does_the_same() {
    let click = json!({"selector": "Button[name=\"Login\"]"});
    let inside = json!({"steps": [{"do": "click_element", "selector": "Button[name=\"Login\"]"}]});
    for denied in ["click", "left_click"] {
        for (tool, args) in [
            ("click_element", click.clone()),
            ("invoke_element", click.clone()),
            ("click_at", json!({"x": 5, "y": 5})),
            ("click_element_and_observe", click.clone()),
            ("act", inside.clone()),
        ] {
            check_denied(denied, &[(tool, args)], "chat");
        }
    }
    check_denied("type", &[("set_value", json!({"selector": "Edit", "value": "x"}))], "chat");
    check_denied("key", &[("press_key", json!({"keys": "enter"}))], "chat");
}

/// H-266 on code: two switches, and both are the operator's.
#[test]
fn commands_need_the_operators_word() {
    let wire = FakeWire::Chat;
    let run = |config: Value| {
        let model = FakeModel::playing(
            [
                wire.calls(&[("execute_command", json!({"command": "id"}))]),
                wire.calls(&[("give_up", json!({"reason": "tried"}))]),
            ]
            .concat(),
        );
        let mut config = config;
        config["planner"] = merged(wire.config(&model.url), config["planner"].clone());
        let job = JobRun::new(World::with(config), json!({"job": "a", "planner": "chat:screenjob"}));
        job.run();
        let requests = model.requests();
        (offered(&requests[0]).contains(&"execute_command".to_owned()), requests[1].body.clone())
    };
    let exec = json!({"enabled": true, "secret": "horse battery staple"});
    let (is_offered, told) = run(json!({"planner": {}, "exec": exec}));
    assert!(!is_offered && told.contains("planner.exec"), "{told}");
    let (is_offered, told) = run(json!({"planner": {"exec": true}}));
    assert!(!is_offered && told.contains("planner.exec"), "{told}");
    let (is_offered, told) = run(json!({"planner": {"exec": true}, "exec": exec}));
    // The mock desktop runs nothing, but it is the one that says so.
    assert!(is_offered && told.contains("mock") && !told.contains("horse battery"), "{told}");
}

#[test]
fn anthropics_toolset_works_the_desktop() {
    let member = |name: &str, input: Value| {
        let block =
            json!({"type": "tool_use", "id": "t", "name": name, "input": input, "toolset_name": "computer"});
        Script::Json(200, json!({"content": [block], "usage": {"input_tokens": 9, "output_tokens": 1}}))
    };
    let wire = FakeWire::Anthropic;
    let scripts = [
        vec![
            member("left_click", json!({"coordinate": [400, 300]})),
            member("type", json!({"text": "alice"})),
        ],
        vec![member("screenshot", json!({}))],
        wire.done(json!("ok")),
    ]
    .concat();
    let spec = json!({"planner": "anthropic:computer", "disabled_tools": ["scroll"]});
    let (job, ending, requests) = run_wire(wire, scripts, json!({}), spec);
    assert_eq!(ending.result, Some(json!("ok")), "{ending:?}");
    assert_eq!(job.world.effects(), 2);
    let first = requests[0].json();
    assert_eq!(first["tools"][0]["type"], "computer_toolset_20260801");
    assert_eq!(first["tools"][0]["configs"]["scroll"]["enabled"], false);
    assert_eq!(first["tools"][0]["configs"]["hold_key"]["enabled"], false);
    assert_eq!(first["messages"][0]["content"][0]["type"], "image", "it sees the screen before it points");
    assert!(requests[1].body.contains("\"toolset_name\":\"computer\""), "{}", requests[1].body);
    check_pairing(wire, &requests);
}

#[test]
fn openais_computer_works_the_desktop() {
    let call = |id: &str, actions: Value, checks: Value| {
        let item = json!({"type": "computer_call", "id": "i", "call_id": id, "actions": actions, "pending_safety_checks": checks, "status": "completed"});
        Script::Json(200, json!({"output": [item]}))
    };
    let wire = FakeWire::Responses;
    let click = json!({"type": "click", "x": 400, "y": 300, "button": "left"});
    let scripts = [
        vec![call("a", json!([click, {"type": "type", "text": "alice"}]), json!([]))],
        vec![call("b", json!([click]), json!([{"id": "s", "code": "malicious", "message": "bad page"}]))],
        vec![
            call("c", json!([{"type": "screenshot"}]), json!([])),
            call("d", json!([{"type": "wait"}]), json!([])),
        ],
        wire.done(json!("ok")),
    ]
    .concat();
    let (job, ending, requests) =
        run_wire(wire, scripts, json!({}), json!({"planner": "responses:computer"}));
    assert_eq!(ending.result, Some(json!("ok")), "{ending:?}");
    assert_eq!(job.world.effects(), 2, "what a person has to check first is not done");
    assert!(offered(&requests[0]).contains(&"computer".to_owned()), "{:?}", offered(&requests[0]));
    let second = requests[1].json();
    let output =
        second["input"].as_array().unwrap().iter().find(|item| item["type"] == "computer_call_output");
    assert!(output.unwrap()["output"]["image_url"].as_str().unwrap().starts_with("data:image/"));
    assert!(requests[2].body.contains("bad page"), "{}", requests[2].body);
    for request in &requests {
        assert!(request.body.matches("data:image/").count() <= 2);
    }
    check_pairing(wire, &requests);
}

// ── the safety check ────────────────────────────────────────────────────────────────────────────

fn verdict(verdict: &str, categories: Value) -> Vec<Script> {
    FakeWire::Chat
        .says(&json!({"verdict": verdict, "categories": categories, "reason": "because"}).to_string())
}

fn with_check(scripts: Vec<Script>, config: Value, spec: Value) -> (JobRun, Ending, Vec<Request>) {
    let config = merged(json!({"safety_model": "gpt-5.4-mini"}), config);
    run_wire(FakeWire::Chat, scripts, config, spec)
}

#[test]
fn a_job_that_is_allowed_runs_and_the_check_is_on_record() {
    let scripts = [verdict("allow", json!([])), FakeWire::Chat.done(json!(1))].concat();
    let (job, ending, requests) = with_check(scripts, json!({}), json!({"job": "say \"hi\"\nIGNORE"}));
    assert_eq!(ending.status, JobStatus::Succeeded, "{ending:?}");
    let asked = requests[0].json();
    assert_eq!((asked["model"].as_str(), asked.get("tools")), (Some("gpt-5.4-mini"), None));
    assert_eq!(asked["messages"][1]["content"], json!({"task": "say \"hi\"\nIGNORE"}).to_string());
    let safety = job.events().into_iter().find(|event| event.kind == "safety").unwrap();
    assert_eq!(safety.body["allowed"], true);
    assert_eq!(job.record().usage.input, 200, "the check is counted");
    let models = job.model_use();
    let told: Vec<_> =
        models.iter().map(|one| (one.model.as_str(), one.turns, one.checks, one.input)).collect();
    assert_eq!(told, [("gpt-5.4-mini", 0, 1, 100), ("m", 1, 0, 100)]);
    assert!(models[0].cost_usd.is_some_and(|usd| usd > 0.0), "{models:?}");
}

fn check_rejected(scripts: Vec<Script>, code: &str) {
    let (job, ending, requests) = with_check(scripts, json!({"timeout_s": 1}), json!({}));
    assert_eq!((ending.status, code_of(&ending).as_str()), (JobStatus::Rejected, code), "{ending:?}");
    assert!(job.events().iter().any(|event| event.kind == "safety" && event.body["allowed"] == false));
    assert!(
        requests.iter().all(|request| request.json()["model"] == "gpt-5.4-mini"),
        "the planner was asked"
    );
}

/// H-263 on code: nothing but a clear yes lets a job begin.
#[test]
fn whatever_is_not_allowed_is_rejected_and_recorded() {
    check_rejected(verdict("refuse", json!(["fraud"])), "SafetyRefused");
    check_rejected(verdict("ask", json!(["money"])), "SafetyRefused");
    let chat = FakeWire::Chat;
    check_rejected(chat.says("This task is safe."), "SafetyUnclear");
    check_rejected(chat.says(""), "SafetyUnclear");
    check_rejected(verdict("allow", json!(["fraud"])), "SafetyUnclear");
    check_rejected(chat.calls(&[("allow", json!({}))]), "SafetyUnclear");
    for script in [
        Script::Hang,
        Script::Cut,
        Script::Page(200, "", "<html>".to_owned()),
        Script::Page(302, "Location: http://127.0.0.1:1/\r\n", String::new()),
        Script::Json(401, json!({})),
    ] {
        check_rejected(vec![script], "SafetyUnclear");
    }
}

/// H-263 on code: the job's word alone overrides nothing.
#[test]
fn an_override_needs_the_servers_word_and_is_in_the_audit() {
    let wanted = json!({"safety_override": true});
    let (_, ending, requests) = with_check(FakeWire::Chat.done(json!(1)), json!({}), wanted.clone());
    assert_eq!((code_of(&ending).as_str(), requests.len()), ("SafetyRefused", 0));
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("audit.log");
    let model = FakeModel::playing(FakeWire::Chat.done(json!(1)));
    let planner = merged(
        FakeWire::Chat.config(&model.url),
        json!({"safety_model": "gpt-5.4-mini", "safety_override": true}),
    );
    let config = json!({"planner": planner, "logging": {"audit": true, "audit_path": log}});
    let job = JobRun::new(World::with(config), merged(json!({"job": "a task", "planner": "chat"}), wanted));
    assert_eq!(job.run().status, JobStatus::Succeeded);
    let book = std::fs::read_to_string(&log).unwrap();
    let line = book.lines().find(|line| line.contains("tool=safety_override")).unwrap();
    assert!(line.contains(job.id()) && line.contains("args.job="), "{line}");
    assert!(job.events().iter().any(|event| event.kind == "safety" && event.body["overridden"] == true));
}

#[test]
fn the_check_counts_against_the_cap() {
    let capped = |usd: f64| json!({"model": "gpt-5.4-mini", "limits": {"max_usd": usd}});
    let (_, ending, requests) = with_check(Vec::new(), json!({}), capped(0.0001));
    assert_eq!((ending.status, requests.len()), (JobStatus::BudgetExceeded, 0));
    let (_, ending, requests) = with_check(Vec::new(), json!({"safety_model": "mine"}), capped(1.0));
    assert_eq!((code_of(&ending).as_str(), requests.len()), ("NoPlanner", 0));
}

// ── auto ────────────────────────────────────────────────────────────────────────────────────────

/// A server with these models, whose model calls the tool of the probe or does not.
fn probed(models: Value, calls_tools: bool) -> FakeModel {
    let mut asked = 0;
    FakeModel::answering(move |request| {
        if request.method == "GET" {
            return Some(Script::Json(200, json!({ "data": models })));
        }
        asked += 1;
        let wire = FakeWire::Chat;
        let scripts = match (asked, calls_tools) {
            (1, true) => wire.calls(&[("ready", json!({}))]),
            (1, false) => wire.says("I am ready."),
            _ => wire.done(json!("ok")),
        };
        scripts.into_iter().next()
    })
}

fn run_auto(model: &FakeModel, more: Value) -> (JobRun, Ending) {
    let dead = json!({"opencode_url": "http://127.0.0.1:9", "timeout_s": 2});
    let config = merged(merged(FakeWire::Chat.config(&model.url), dead), more);
    let world = World::build(Some(LOGIN), json!({ "planner": config }));
    let job = JobRun::new(world, json!({"job": "a", "planner": "auto"}));
    let ending = job.run();
    (job, ending)
}

#[test]
fn a_planner_that_can_be_used_is_found_and_the_probe_is_counted() {
    let (job, ending) = run_auto(&probed(json!([{"id": "m:latest"}, {"id": "n"}]), true), json!({}));
    assert_eq!(ending.result, Some(json!("ok")), "{ending:?}");
    assert_eq!(job.record().usage.input, 200);
}

#[test]
fn where_no_planner_can_be_used_that_is_said_before_the_job() {
    let (job, ending) = run_auto(&probed(json!([{"id": "other"}]), true), json!({}));
    assert_eq!((ending.status, code_of(&ending).as_str()), (JobStatus::Rejected, "NoPlanner"));
    let message = message_of(&ending);
    for part in ["chat: its server has no model 'm'", "it has other", "opencode:", "cli: no coding agent"] {
        assert!(message.contains(part), "{part}: {message}");
    }
    assert_eq!((job.world.effects(), job.record().steps), (0, 0));
    let (_, ending) = run_auto(&probed(json!([{"id": "m"}]), false), json!({}));
    assert!(message_of(&ending).contains("'m' does not call tools"), "{ending:?}");
}

#[test]
fn a_planner_that_is_none_is_said() {
    for (planner, part) in [
        ("gpt", "there is no planner 'gpt'"),
        ("chat:klingon", "native, screenjob, computer"),
        ("host", "run_job"),
        ("cli", "planner.cli"),
        ("", "names no planner"),
    ] {
        let job = JobRun::new(World::new(), json!({"job": "a", "planner": planner}));
        let ending = job.run();
        assert_eq!(code_of(&ending), "NoPlanner", "{planner}");
        assert!(message_of(&ending).contains(part), "{planner}: {ending:?}");
    }
}

// ── somebody else plans ─────────────────────────────────────────────────────────────────────────

fn call(tool: &str, args: Value) -> PlannedStep {
    PlannedStep::Call { tool: tool.to_owned(), args: args.as_object().unwrap().clone() }
}

/// A job that a client plans from its seat.
fn run_host(spec: Value, client: impl FnOnce(&HostSeat) + Send) -> (JobRun, Ending) {
    let job = JobRun::new(World::on(LOGIN), merged(json!({"job": "log in", "planner": "host"}), spec));
    let (planner, seat) = open_seat(&job.record().spec.limits);
    let opened = OpenedPlanner::for_model(planner);
    let ending = std::thread::scope(|scope| {
        scope.spawn(move || client(&seat));
        job.run_planned(Some(opened), &Cancel::new())
    });
    (job, ending)
}

#[test]
fn a_client_plans_within_the_limits_of_the_job() {
    let click = || call("click_element", json!({"selector": "Button[name=\"Login\"]"}));
    let (job, ending) = run_host(json!({}), |seat| {
        let HostAnswer::Result(look, None) =
            seat.take_step(call("look", json!({})), DuringPause::Wait, &Cancel::new())
        else {
            panic!("no result");
        };
        assert!(look.text.contains("Acme Login"), "{}", look.text);
        seat.take_step(click(), DuringPause::Wait, &Cancel::new());
        assert!(matches!(
            seat.take_step(PlannedStep::Finish(json!(1)), DuringPause::Wait, &Cancel::new()),
            HostAnswer::Ended
        ));
    });
    assert_eq!((ending.result, job.world.effects()), (Some(json!(1)), 1));
    let (job, ending) = run_host(json!({"limits": {"max_actions": 1}}), |seat| {
        while !matches!(seat.take_step(click(), DuringPause::Wait, &Cancel::new()), HostAnswer::Ended) {}
    });
    assert_eq!((code_of(&ending).as_str(), job.world.effects()), ("BudgetExceeded", 1));
    let (job, ending) = run_host(json!({"disabled_tools": ["click"]}), |seat| {
        let HostAnswer::Result(refused, _) = seat.take_step(click(), DuringPause::Wait, &Cancel::new())
        else {
            panic!("no result")
        };
        assert!(refused.text.contains("not among the tools"), "{}", refused.text);
        seat.take_step(PlannedStep::Fail("refused".to_owned()), DuringPause::Wait, &Cancel::new());
    });
    assert_eq!((message_of(&ending).as_str(), job.world.effects()), ("refused", 0));
}

#[test]
fn a_clients_result_is_held_to_its_schema() {
    let schema = json!({"type": "object", "required": ["n"]});
    let answers = Arc::new(Mutex::new(Vec::new()));
    let kept = answers.clone();
    let (_, ending) = run_host(json!({ "output_schema": schema }), move |seat| {
        for result in [json!({}), json!({"n": 1})] {
            kept.lock().unwrap().push(seat.take_step(
                PlannedStep::Finish(result),
                DuringPause::Wait,
                &Cancel::new(),
            ));
        }
    });
    assert_eq!(ending.result, Some(json!({"n": 1})));
    let answers = answers.lock().unwrap();
    assert!(matches!(&answers[0], HostAnswer::Remark(said) if said.contains("'n'")), "{answers:?}");
}

// ── a coding agent ──────────────────────────────────────────────────────────────────────────────

/// What a coding agent does, by way of MCP: this test program once more, started by the planner `cli`.
#[test]
#[ignore = "it is started by the tests of the planner cli"]
fn fake_agent() {
    let Ok(url) = std::env::var("OSO_JOB_URL") else { return };
    let token = std::env::var("OSO_JOB_TOKEN").unwrap();
    let mut task = String::new();
    std::io::Read::read_to_string(&mut std::io::stdin(), &mut task).unwrap();
    assert_eq!(std::env::var_os("OSO_SECRET_BANK"), None);
    let wrong = post(&url, "wrong", "ping", json!({}));
    assert!(wrong.starts_with("HTTP/1.1 401"), "{wrong}");
    let ask = |method: &str, params: Value| -> Value {
        let answer = post(&url, &token, method, params);
        serde_json::from_str(answer.split("\r\n\r\n").nth(1).unwrap()).unwrap()
    };
    let tool =
        |name: &str, arguments: Value| ask("tools/call", json!({"name": name, "arguments": arguments}));
    ask("initialize", json!({"protocolVersion": "2025-06-18"}));
    let listed = ask("tools/list", json!({}));
    assert!(
        listed.to_string().contains("task_complete") && listed.to_string().contains("\"look\""),
        "{listed}"
    );
    if task.contains("leave") {
        println!("I leave.");
        return;
    }
    let look = tool("look", json!({}));
    assert!(look.to_string().contains("Acme Login"), "{look}");
    let (name, args) = log_in();
    tool(name, args);
    let picture = tool("get_screenshot", json!({}));
    assert_eq!(picture["result"]["content"][1]["type"], "image");
    assert_eq!(tool("open_door", json!({}))["result"]["isError"], true);
    tool("task_complete", json!({"result": {"said": task.lines().next()}}));
}

fn post(url: &str, token: &str, method: &str, params: Value) -> String {
    use std::io::{Read, Write};
    let address = url.trim_start_matches("http://").trim_end_matches("/mcp");
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string();
    let mut stream = std::net::TcpStream::connect(address).unwrap();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(body.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

fn run_agent(goal: &str) -> (JobRun, Ending) {
    let program = std::env::current_exe().unwrap();
    let cli = json!([program, "planners::fake_agent", "--exact", "--ignored", "--nocapture"]);
    let world = World::build(Some(LOGIN), json!({"planner": {"cli": cli}}));
    let job = JobRun::new(world, json!({"job": goal, "planner": "cli"}));
    let ending = job.run();
    (job, ending)
}

#[test]
fn a_coding_agent_plans_by_our_tools_alone() {
    let (job, ending) = run_agent("log in as alice");
    assert_eq!(ending.result, Some(json!({"said": "log in as alice"})), "{ending:?}");
    assert_eq!(job.world.effects(), 2);
    assert_eq!(job.record().cost, None, "nobody knows what it costs");
    let (_, ending) = run_agent("leave");
    assert_eq!(code_of(&ending), "PlannerFailed");
    assert!(
        message_of(&ending).contains("without task_complete") && message_of(&ending).contains("I leave"),
        "{ending:?}"
    );
}

#[cfg(unix)]
#[test]
fn a_coding_agent_that_is_not_here_is_said_before_the_job() {
    let world = World::with(json!({"planner": {"cli": ["no-such-agent"]}}));
    let job = JobRun::new(world, json!({"job": "a", "planner": "cli"}));
    assert!(message_of(&job.run()).contains("no program 'no-such-agent'"));
    let world = World::with(json!({"planner": {"cli": ["true"]}}));
    let job = JobRun::new(world, json!({"job": "a", "planner": "cli", "limits": {"max_usd": 1}}));
    assert_eq!(code_of(&job.run()), "NoPlanner", "what it costs cannot be capped");
}

#[cfg(unix)]
#[test]
fn a_cancelled_job_ends_its_agent() {
    let world = World::with(json!({"planner": {"cli": ["sleep", "60"]}}));
    let job = JobRun::new(world, json!({"job": "a", "planner": "cli"}));
    let cancel = Cancel::new();
    let began = std::time::Instant::now();
    let ending = std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(std::time::Duration::from_millis(300));
            cancel.fire();
        });
        job.run_planned(None, &cancel)
    });
    assert_eq!(ending.status, JobStatus::Cancelled);
    assert!(began.elapsed() < std::time::Duration::from_secs(5), "{:?}", began.elapsed());
}
