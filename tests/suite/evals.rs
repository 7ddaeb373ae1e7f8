//! The command `eval`, by the built program: the suites that come with the project, how runs are judged, and what is
//! refused before anything runs.

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::support::fake_model::FakeModel;
use crate::support::project;
use crate::support::wires::FakeWire;

/// What came of a suite.
struct Evaluated {
    ok: bool,
    table: String,
    said: String,
    json: Value,
    junit: String,
}

/// With nobody's settings.
fn command(folder: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_os-screen-observer"));
    command
        .args(words)
        .current_dir(folder)
        .env("XDG_CONFIG_HOME", folder)
        .env("OSO_JOBS__DIR", folder.join("jobs"))
        .stdin(Stdio::null());
    command
}

fn evaluate(folder: &Path, suite: &Path, words: &[&str], settings: &[(&str, &str)]) -> Evaluated {
    let (json, junit) = (folder.join("report.json"), folder.join("report.xml"));
    let mut command = command(folder, &["eval"]);
    command
        .arg(suite)
        .arg("--json")
        .arg(&json)
        .arg("--junit")
        .arg(&junit)
        .args(words)
        .envs(settings.iter().copied());
    let done = command.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let read = |path: &Path| std::fs::read_to_string(path).unwrap_or_default();
    Evaluated {
        ok: done.status.success(),
        table: text(&done.stdout),
        said: text(&done.stderr),
        json: serde_json::from_str(&read(&json)).unwrap_or_default(),
        junit: read(&junit),
    }
}

/// A suite of one case on the login form, with these lines in the case.
fn evaluate_login(lines: &str, words: &[&str]) -> Evaluated {
    let folder = tempfile::tempdir().unwrap();
    let suite = folder.path().join("s.yaml");
    let scenario = project().join("scenarios/login.yaml");
    let text = format!("cases:\n  - name: one\n    goal: g\n    scenario: {}\n{lines}", scenario.display());
    std::fs::write(&suite, text).unwrap();
    evaluate(folder.path(), &suite, words, &[])
}

const SCRIPTED: &[&str] = &["--planner", "scripted"];

/// The regression test of the hands.
#[test]
fn the_hands_do_what_they_did() {
    let folder = tempfile::tempdir().unwrap();
    let done = evaluate(folder.path(), &project().join("evals/hands.yaml"), SCRIPTED, &[]);
    assert!(done.ok, "{}{}", done.table, done.said);
    let cases = done.json["cases"].as_array().unwrap();
    assert!(cases.len() >= 7 && cases.iter().all(|case| case["success"] == 1.0), "{}", done.json);
    assert_eq!(done.json["sum"]["runs"], cases.len());
    assert!(done.table.contains("every case reaches the success that it requires"), "{}", done.table);
    assert!(done.junit.contains(&format!("tests=\"{}\" failures=\"0\"", cases.len())), "{}", done.junit);
    // Each run is a job on record.
    let listed = command(folder.path(), &["jobs", "list", "--json", "--limit", "100"]).output().unwrap();
    let listed: Value = serde_json::from_slice(&listed.stdout).unwrap();
    assert_eq!(listed.as_array().map(Vec::len), Some(cases.len()));
    let ids: Vec<&Value> = listed.as_array().unwrap().iter().map(|job| &job["job_id"]).collect();
    assert!(cases.iter().all(|case| ids.contains(&&case["runs"][0]["job_id"])));
}

/// Failed with this problem, and the command with it.
#[track_caller]
fn check_failed(lines: &str, problem: &str) {
    let done = evaluate_login(lines, SCRIPTED);
    assert!(!done.ok && done.table.contains("one *"), "{lines}: {}{}", done.table, done.said);
    let found = done.json["cases"][0]["runs"][0]["problem"].as_str().unwrap().to_owned();
    assert!(found.contains(problem), "{lines}: {found}");
    assert!(done.table.contains(problem) && done.said.contains("one 1/1  failed: "), "{}", done.table);
    assert!(done.junit.contains("failures=\"1\"") && done.junit.contains("<failure "), "{}", done.junit);
}

#[test]
fn every_judge_can_fail_a_run() {
    let finish = "    steps: [{finish: {a: 1}}]\n";
    check_failed(
        &format!("{finish}    expect: {{result: {{a: 2}}}}\n"),
        "the result is {\"a\":1}; it should be {\"a\":2}",
    );
    let schema = "    output_schema: {type: object, properties: {a: {type: string}}}\n";
    check_failed(&format!("{finish}{schema}"), "OutputInvalid");
    let state = "    expect: {state: [{kind: oracle, name: success}]}\n";
    check_failed(&format!("{finish}{state}"), "the end state is not as it should be: oracle");
    let wrong = "    expect: {state: [{kind: element_exists, selector: '//['}]}\n";
    check_failed(&format!("{finish}{wrong}"), "element_exists");
    check_failed(
        &format!("{finish}    expect: {{status: failed}}\n"),
        "the job is succeeded; it should be failed",
    );
    check_failed("    steps: [{fail: no way}]\n    expect: {result: 1}\n", "no way");
    let unknown = "    steps: [{call: clik_element}, {finish: 1}]\n    expect: {result: 1}\n";
    check_failed(unknown, "did you mean 'click_element'");
}

#[test]
fn a_case_may_require_less() {
    let lines = "    steps: [{fail: x}]\n    expect: {result: 1}\n    required: 0\n";
    let done = evaluate_login(lines, &["--planner", "scripted", "--runs", "3"]);
    assert!(done.ok, "{}{}", done.table, done.said);
    assert_eq!((&done.json["sum"]["runs"], &done.json["sum"]["succeeded"]), (&json!(3), &json!(0)));
    assert_eq!(done.json["cases"][0]["interval"]["low"], 0.0);
}

/// Refused with these words before any run.
#[track_caller]
fn check_refused(lines: &str, words: &[&str], expected: &str) {
    let done = evaluate_login(lines, words);
    assert!(!done.ok && done.table.is_empty(), "{words:?}: {}", done.table);
    assert!(done.said.contains(expected) && !done.said.contains("one 1/"), "{words:?}: {}", done.said);
}

#[test]
fn what_cannot_be_run_is_refused_before_anything_runs() {
    let judged = "    expect: {result: 1}\n";
    check_refused(judged, SCRIPTED, "case \"one\": the planner 'scripted' plays \"steps\" or \"script\"");
    check_refused(judged, &["--planner", "gpt"], "there is no planner 'gpt'");
    check_refused(judged, &["--planner", "host"], "the tool run_job");
    check_refused(judged, &["--planner", "chat"], "planner.model");
    check_refused(judged, &["--planner", "scripted", "--mock"], "leave out --mock");
    check_refused(judged, &["--planner", "scripted", "--case", "tow"], "no case 'tow'");
    check_refused(judged, &["--planner", "scripted", "--runs", "0"], "--runs");
    check_refused("    expct: {}\n", SCRIPTED, "s.yaml:5:");
    check_refused(
        &format!("{judged}    disabled_tools: [clik_element]\n"),
        SCRIPTED,
        "did you mean 'click_element'",
    );
}

/// A report without a place is noticed before the runs, which may take an hour.
#[test]
fn a_report_without_a_place_costs_no_runs() {
    let folder = tempfile::tempdir().unwrap();
    let suite = project().join("evals/hands.yaml");
    let words = ["eval", suite.to_str().unwrap(), "--planner", "scripted", "--json", "no/such/r.json"];
    let done = command(folder.path(), &words).output().unwrap();
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(!done.status.success() && said.contains("no/such/r.json cannot be written"), "{said}");
    assert!(!said.contains("login 1/1"), "{said}");
}

/// With a model, what it used and cost is in the table.
#[test]
fn tokens_and_money_of_a_model_are_summed_up() {
    let turns = [FakeWire::Chat.calls(&[("look", json!({}))]), FakeWire::Chat.done(json!({"a": 1}))];
    let model = FakeModel::playing(turns.into_iter().cycle().take(4).flatten());
    let folder = tempfile::tempdir().unwrap();
    let suite = folder.path().join("s.yaml");
    let scenario = project().join("scenarios/login.yaml");
    let lines = "    expect: {result: {a: 1}}\n";
    std::fs::write(
        &suite,
        format!("cases:\n  - name: one\n    goal: g\n    scenario: {}\n{lines}", scenario.display()),
    )
    .unwrap();
    let url = format!("{}/v1", model.url);
    let prices = folder.path().join("prices.json");
    std::fs::write(&prices, r#"{"m": {"input_cost_per_token": 0.00001, "output_cost_per_token": 0.0001}}"#)
        .unwrap();
    let settings = [
        ("OSO_PLANNER__BASE_URL", url.as_str()),
        ("OSO_PLANNER__MODEL", "m"),
        ("OSO_PLANNER__PRICES", prices.to_str().unwrap()),
    ];
    let done = evaluate(folder.path(), &suite, &["--planner", "chat", "--runs", "2"], &settings);
    assert!(done.ok, "{}{}", done.table, done.said);
    let median = &done.json["cases"][0]["median"];
    assert_eq!((&median["steps"], &median["calls"], &median["tokens"]), (&json!(2), &json!(1), &json!(220)));
    assert_eq!(median["cost_usd"], 0.004);
    assert_eq!(done.json["sum"]["used"]["tokens"], 440);
}
