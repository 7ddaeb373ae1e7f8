//! The command `test`, by the built program: test files and recorded traces, what is printed, what is kept, and what is
//! refused before anything runs.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::support::project;

const EXAMPLE: &str = "examples/gui-tests";

/// What came of it.
struct Tested {
    ok: bool,
    text: String,
    said: String,
    folder: tempfile::TempDir,
}

impl Tested {
    fn file(&self, name: &str) -> String {
        std::fs::read_to_string(self.folder.path().join(name)).unwrap_or_default()
    }

    /// The pages of failed tests, by what stands in the output.
    fn pages(&self) -> Vec<PathBuf> {
        let pages = self.text.lines().filter_map(|line| line.trim().strip_prefix("page: "));
        pages.map(|page| self.folder.path().join(page)).collect()
    }
}

fn run_in(folder: tempfile::TempDir, words: &[&str]) -> Tested {
    let done = Command::new(env!("CARGO_BIN_EXE_os-screen-observer"))
        .arg("test")
        .args(words)
        .current_dir(folder.path())
        .env("XDG_CONFIG_HOME", folder.path().join("no-config"))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Tested { ok: done.status.success(), text: text(&done.stdout), said: text(&done.stderr), folder }
}

/// A file with this text, in a folder with the login form.
fn folder_with(text: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::copy(project().join("scenarios/login.yaml"), folder.path().join("login.yaml")).unwrap();
    std::fs::write(folder.path().join("t.test.yaml"), text).unwrap();
    folder
}

fn run_text(text: &str, words: &[&str]) -> Tested {
    run_in(folder_with(text), &[&["t.test.yaml"], words].concat())
}

const LOGIN: &str = "\
scenario: login.yaml
tests:
  - name: log in
    steps:
      - {do: set_value, selector: '//Edit[name=\"Username\"]', value: alice}
      - {do: set_value, selector: '//Edit[name=\"Password\"]', value: pw-7391}
      - {do: click_element, selector: '//Button[name=\"Login\"]', expect: changed}
    expect: [{kind: oracle, name: success}]
";

/// Times differ from run to run, and so does the id of a trace.
fn steady(text: &str) -> String {
    let is_time = |word: &str| word.parse::<f64>().is_ok() && word.contains('.');
    let words = |line: &str| {
        line.split(' ').map(|word| if is_time(word) { "N" } else { word }).collect::<Vec<_>>().join(" ")
    };
    let line = |line: &str| match line.split_once("/trace-") {
        Some((head, tail)) => format!("{head}/trace-ID/{}", tail.rsplit('/').next().unwrap_or_default()),
        None => words(line),
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_example_on_the_mock_passes() {
    let file = project().join(EXAMPLE).join("notes.test.yaml");
    let done = run_in(tempfile::tempdir().unwrap(), &[file.to_str().unwrap(), "--junit", "r.xml"]);
    assert!(done.ok, "{}{}", done.text, done.said);
    assert!(done.text.contains("2 passed, 0 failed"), "{}", done.text);
    assert!(done.file("r.xml").contains("tests=\"2\" failures=\"0\""), "{}", done.file("r.xml"));
    assert!(!done.folder.path().join("test-results").exists(), "what passes leaves nothing");
}

#[test]
fn the_recipe_is_a_command_line_of_this_program() {
    let recipe = project().join(EXAMPLE).join(".github/workflows/gui-tests.yml");
    let recipe = std::fs::read_to_string(recipe).unwrap();
    assert!(recipe.lines().count() <= 12, "{recipe}");
    let line = recipe.lines().find_map(|line| line.split_once("os-screen-observer test ")).unwrap().1;
    let words: Vec<&str> = line.split_whitespace().collect();
    assert_eq!(words[0], ".");
    let file = project().join(EXAMPLE).join("notes.test.yaml");
    let words = [&[file.to_str().unwrap()], &words[1..]].concat();
    let done = run_in(tempfile::tempdir().unwrap(), &words);
    assert!(done.ok && done.folder.path().join("report.xml").is_file(), "{}{}", done.text, done.said);
}

#[test]
fn a_test_prints_a_line_for_each_step() {
    let done = run_text(LOGIN, &[]);
    assert!(done.ok, "{}{}", done.text, done.said);
    insta::assert_snapshot!(steady(&done.text));
    assert!(!done.text.contains("pw-7391") && !done.said.contains("pw-7391"));
}

#[test]
fn a_test_that_fails_keeps_its_trace_and_page() {
    let text = LOGIN.replace("alice", "bob");
    let done = run_text(&text, &["--junit", "r.xml"]);
    assert!(!done.ok);
    insta::assert_snapshot!(steady(&done.text));
    let pages = done.pages();
    assert_eq!(pages.len(), 1, "{}", done.text);
    let page = std::fs::read_to_string(&pages[0]).unwrap();
    assert!(page.starts_with("<!DOCTYPE html>") && page.contains("click_element"), "{}", &page[..200]);
    assert!(!page.contains("pw-7391"), "a password is in no page");
    assert!(pages[0].parent().unwrap().join("trace.jsonl").is_file());
    let junit = done.file("r.xml");
    assert!(junit.contains("failures=\"1\"") && junit.contains("type=\"TestFailed\""), "{junit}");
    assert!(junit.contains("page.html") && junit.contains("FAIL"), "{junit}");
    assert!(!junit.contains("pw-7391"));
}

/// The test fails with this word, and nothing is done after the step that fails.
#[track_caller]
fn check_fails(steps: &str, word: &str) {
    let done = run_text(&format!("scenario: login.yaml\nsteps: [{steps}]\n"), &[]);
    assert!(!done.ok && done.text.contains(word), "{steps}: {}{}", done.text, done.said);
    assert!(done.text.contains("0 passed, 1 failed"), "{}", done.text);
}

#[test]
fn a_wrong_step_is_refused_before_the_first_is_made() {
    let first = "{do: set_value, selector: '//Edit[name=\"Username\"]', value: alice}";
    check_fails(&format!("{first}, {{do: clik_element, selector: x}}"), "did you mean");
    check_fails(&format!("{first}, {{do: click_element, selektor: x}}"), "step 2");
    let done = run_text(&format!("scenario: login.yaml\nsteps: [{first}, {{do: clik_element}}]\n"), &[]);
    assert!(done.text.contains("nothing was done") && !done.text.contains("ok     1"), "{}", done.text);
}

#[test]
fn a_step_that_fails_says_why() {
    check_fails("{do: click_element, selector: '//Button[name=\"Logout\"]'}", "ElementNotFound");
    check_fails(
        "{do: press_key, keys: tab, expect: 'text: Welcome', within_ms: 50}",
        "expected {\"kind\":\"text_visible\"",
    );
    check_fails(
        "{do: assert_state, predicates: [{kind: oracle, name: success}]}",
        "FAIL   1 assert_state oracle",
    );
}

const LATE: &str = "\
name: late
states:
  empty:
    windows: [{uid: 'mock:w', title: W, tree: {role: Window, name: W}}]
    then: {after_ms: 700, transition_to: there}
  there:
    windows: [{uid: 'mock:w', title: W, tree: {role: Window, name: W, children: [{role: Button, name: Go, bounds: {x: 9, y: 9, width: 90, height: 30}}]}}]
";

#[test]
fn an_element_may_take_a_moment_to_come() {
    let folder =
        folder_with("scenario: late.yaml\nsteps: [{do: click_element, selector: '//Button[name=\"Go\"]'}]\n");
    std::fs::write(folder.path().join("late.yaml"), LATE).unwrap();
    let done = run_in(folder, &["t.test.yaml"]);
    assert!(done.ok, "{}{}", done.text, done.said);
}

#[test]
fn a_test_that_fails_is_run_again_as_often_as_it_is_said() {
    let done = run_text(&LOGIN.replace("alice", "bob"), &["--retries", "2"]);
    assert!(!done.ok);
    assert_eq!(done.text.matches("it is run again").count(), 2, "{}", done.text);
    assert_eq!(done.pages().len(), 3, "{}", done.text);
    assert!(run_text(LOGIN, &["--retries", "2"]).text.contains("1 passed, 0 failed"));
}

/// A session on the login form, recorded by the program itself.
fn record(folder: &Path) -> PathBuf {
    use crate::support::Client;
    let scenario = folder.join("login.yaml");
    let traces = folder.join("traces");
    let settings = [("OSO_TRACING__DIR", traces.to_str().unwrap())];
    let flags = ["--mode", "mcp", "--mock", "--scenario", scenario.to_str().unwrap()];
    let mut client = Client::start_with(&flags, &settings);
    let _ = client.call("trace_start", serde_json::json!({"label": "login"}));
    let edit = serde_json::json!({"selector": "//Edit[name=\"Username\"]", "value": "alice"});
    let _ = client.call("set_value", edit);
    let secret = serde_json::json!({"selector": "//Edit[name=\"Password\"]", "value": "pw-7391"});
    let _ = client.call("set_value", secret);
    let _ = client.call("click_element", serde_json::json!({"selector": "//Button[name=\"Login\"]"}));
    let oracle = serde_json::json!({"predicates": [{"kind": "oracle", "name": "success"}]});
    let _ = client.call("assert_state", oracle);
    let _ = client.call("trace_stop", serde_json::json!({}));
    let mut entries = std::fs::read_dir(&traces).unwrap();
    let made = entries.next().unwrap().unwrap().path();
    let recorded = folder.join("recorded");
    std::fs::rename(made, &recorded).unwrap();
    recorded
}

const REPLAY: &str = "\
scenario: login.yaml
trace: recorded
supply: {2: {value: pw-7391}}
";

#[test]
fn a_recorded_session_is_a_test() {
    let folder = folder_with(REPLAY);
    record(folder.path());
    let done = run_in(folder, &["t.test.yaml"]);
    assert!(done.ok, "{}{}", done.text, done.said);
    insta::assert_snapshot!(steady(&done.text));
}

#[test]
fn a_secret_that_the_recording_does_not_hold_is_asked_for() {
    let folder = folder_with(REPLAY);
    record(folder.path());
    let done = run_in(folder, &["recorded", "--scenario", "login.yaml"]);
    assert!(!done.ok && done.text.contains("supply"), "{}{}", done.text, done.said);
}

/// The form is another one now: the click on Login leads nowhere.
fn change_form(folder: &Path) {
    let text = std::fs::read_to_string(folder.join("login.yaml")).unwrap();
    let changed =
        text.replace("text_regex: \"(.+)\"", "text_regex: \"(x.*)\"").replace("value: alice", "value: carol");
    assert_ne!(text, changed);
    std::fs::write(folder.join("login.yaml"), changed).unwrap();
}

#[test]
fn a_session_that_goes_otherwise_fails_and_can_be_updated() {
    let folder = folder_with(REPLAY);
    record(folder.path());
    change_form(folder.path());
    let done = run_in(folder, &["t.test.yaml"]);
    assert!(!done.ok && done.text.contains("recorded true, now false"), "{}{}", done.text, done.said);
    assert_eq!(done.pages().len(), 1);
    let done = run_in(done.folder, &["t.test.yaml", "--update"]);
    assert!(done.ok && done.text.contains("recorded was updated"), "{}{}", done.text, done.said);
    let names: Vec<String> = std::fs::read_dir(done.folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    assert!(names.iter().all(|name| !name.contains(".old") && !name.contains(".new")), "{names:?}");
    assert!(!done.file("recorded/trace.jsonl").contains("pw-7391"));
    let done = run_in(done.folder, &["t.test.yaml"]);
    assert!(done.ok, "what was updated passes: {}{}", done.text, done.said);
}

/// Refused with this word before anything runs.
#[track_caller]
fn check_refused(text: &str, words: &[&str], word: &str) {
    let done = run_text(text, words);
    assert!(!done.ok && done.said.contains(word), "{text}: {}{}", done.text, done.said);
    assert!(done.text.is_empty(), "{}", done.text);
}

#[test]
fn no_test_runs_on_the_desktop_of_a_person_unasked() {
    let steps = "steps: [{do: press_key, keys: tab}]";
    check_refused(steps, &[], "does not say where it runs");
    let done = run_text(steps, &["--scenario", "login.yaml"]);
    assert!(done.ok, "{}{}", done.text, done.said);
}

#[test]
fn what_is_no_test_is_refused() {
    check_refused("steps: [{do: look}]\nexpct: []", &[], "did you mean \"expect\"");
    check_refused(LOGIN, &["none.test.yaml"], "none.test.yaml");
    check_refused(LOGIN, &["--junit", "no/such/folder.xml"], "cannot be written");
    let done = run_in(tempfile::tempdir().unwrap(), &["."]);
    assert!(!done.ok && done.said.contains("has no test"), "{}", done.said);
}
