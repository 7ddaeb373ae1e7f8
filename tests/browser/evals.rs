//! Suites whose cases run in a browser: a folder of pages, and tasks of MiniWoB++ that their pages judge.

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::oracle::miniwob;
use crate::require_chromium;
use crate::site;
use crate::support::project;

/// What came of a suite.
struct Evaluated {
    reached: bool,
    said: String,
    report: Value,
    /// The first job of the suite, from the store.
    first_job: Value,
}

fn program(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_os-screen-observer"));
    command.env("XDG_CONFIG_HOME", folder).env("OSO_JOBS__DIR", folder.join("jobs")).stdin(Stdio::null());
    command
}

fn evaluate(suite: &Path) -> Evaluated {
    require_chromium();
    let folder = tempfile::tempdir().unwrap();
    let json = folder.path().join("report.json");
    let mut command = program(folder.path());
    command.arg("eval").arg(suite).args(["--planner", "scripted", "--miniwob"]).arg(miniwob());
    let done = command.arg("--json").arg(&json).env("OSO_BROWSER__SANDBOX", "false").output().unwrap();
    let report: Value =
        serde_json::from_str(&std::fs::read_to_string(&json).unwrap_or_default()).unwrap_or_default();
    let job = report["cases"][0]["runs"][0]["job_id"].as_str().unwrap_or("none");
    let shown = program(folder.path()).args(["jobs", "show", job, "--json"]).output().unwrap();
    Evaluated {
        reached: done.status.success(),
        said: String::from_utf8_lossy(&[done.stdout, done.stderr].concat()).into_owned(),
        first_job: serde_json::from_slice(&shown.stdout).unwrap_or_default(),
        report,
    }
}

/// One task of MiniWoB++ with these steps.
fn evaluate_task(task: &str, steps: &str) -> Evaluated {
    let folder = tempfile::tempdir().unwrap();
    let suite = folder.path().join("s.yaml");
    std::fs::write(&suite, format!("cases:\n  - name: one\n    miniwob: {task}\n    steps:\n{steps}"))
        .unwrap();
    evaluate(&suite)
}

#[test]
fn a_folder_of_pages_is_served_and_judged_by_its_end_state() {
    let done = evaluate(&project().join("evals/pages.yaml"));
    assert!(done.reached, "{}", done.said);
    assert_eq!(done.report["sum"]["succeeded"], 2, "{}", done.said);
}

#[test]
fn a_case_may_begin_at_an_address() {
    let folder = tempfile::tempdir().unwrap();
    let suite = folder.path().join("s.yaml");
    let lines =
        "    steps: [{finish: {}}]\n    expect: {state: [{kind: window_exists, title_regex: '^Shop$'}]}\n";
    let page = site::address("shop.html");
    std::fs::write(&suite, format!("cases:\n  - name: one\n    goal: g\n    start_url: {page}\n{lines}"))
        .unwrap();
    let done = evaluate(&suite);
    assert!(done.reached, "{}", done.said);
}

#[test]
fn pages_of_miniwob_reward_what_is_done_right() {
    let done = evaluate(&project().join("evals/miniwob.yaml"));
    assert!(done.reached, "{}", done.said);
    let first = &done.report["cases"][0]["runs"][0];
    assert_eq!((first["seed"].as_u64(), first["reward"].as_f64()), (Some(1), Some(1.0)), "{}", done.report);
}

/// The job says that it succeeded; the page knows better.
#[test]
fn pages_of_miniwob_do_not_reward_what_is_done_wrong() {
    let wrong =
        "      - {call: click_element, args: {selector: '//Button[name=\"TWO\"]'}}\n      - finish: {}\n";
    let done = evaluate_task("click-test-2", wrong);
    let run = &done.report["cases"][0]["runs"][0];
    assert!(!done.reached && done.said.contains("the page rewarded -1"), "{}", done.said);
    assert_eq!((run["status"].as_str(), run["reward"].as_f64()), (Some("succeeded"), Some(-1.0)));
    let done = evaluate_task("click-test", "      - finish: {done: true}\n");
    assert!(
        !done.reached && done.said.contains("the page gave no reward; the job is succeeded"),
        "{}",
        done.said
    );
}

/// Neither the page nor its log tells what was rewarded.
#[test]
fn an_agent_does_not_see_the_reward() {
    let steps = "      - {call: click_element, args: {selector: '//Button[name=\"Click Me!\"]'}}\n\
                 \x20     - {call: look, args: {keep: [texts, hidden, details]}, save: {look: ''}}\n\
                 \x20     - {call: read_page, save: {page: ''}}\n\
                 \x20     - {call: page_log, save: {log: ''}}\n\
                 \x20     - finish: {look: '{{look}}', page: '{{page}}', log: '{{log}}'}\n";
    let done = evaluate_task("click-test", steps);
    assert_eq!(done.report["cases"][0]["runs"][0]["reward"], 1.0, "{}", done.said);
    let seen = done.first_job["result"].to_string();
    assert!(seen.contains("Click the button") || seen.contains("START"), "{seen}");
    assert!(!seen.to_lowercase().contains("reward"), "{seen}");
}
