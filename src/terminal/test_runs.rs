//! Tests at the terminal: a line for each step on stdout, the pages of those that failed, and the file that CI reads.

use std::io::IsTerminal;
use std::process::ExitCode;

use super::evals::{create_file, write_report};
use super::job_text::mark;
use super::say;
use crate::cli::TestCommand;
use crate::clock::Cancel;
use crate::config::{Flags, Loaded};
use crate::eval::desk::DeskBuilder;
use crate::eval::junit::junit_document;
use crate::eval::report::{CaseReport, EvalReport, RunReport, STOPPED};
use crate::eval::suite::CaseDesk;
use crate::eval::test_file::TestFile;
use crate::eval::test_run::{TestOptions, TestProgress, TestRunner, TestStep};
use crate::text::shorten;

/// As many characters of a problem fit on a line of the summary.
const PROBLEM_WIDTH: usize = 160;

/// `cancel` is fired when the process is asked to stop.
pub fn run_tests(
    flags: &Flags,
    loaded: &Loaded,
    command: &TestCommand,
    build_desk: DeskBuilder,
    cancel: &Cancel,
) -> Result<ExitCode, String> {
    let files = TestFile::find_all(&command.paths)?;
    if !command.own_desktop && !names_desk(flags, loaded) {
        refuse_own_desktop(&files)?;
    }
    let junit = create_file(command.junit.as_deref())?;
    let view = TestView { tty: std::io::stdout().is_terminal() };
    let runner = TestRunner {
        options: TestOptions {
            retries: command.retries,
            update: command.update,
            headful: flags.headful,
            artifacts: command.artifacts.clone(),
        },
        loaded,
        build_desk,
        progress: &|progress| view.show(progress),
        cancel,
    };
    let mut reports: Vec<EvalReport> = Vec::with_capacity(files.len());
    for file in &files {
        if cancel.check().is_ok() {
            reports.push(runner.run_file(file));
        }
    }
    write_report(junit, || junit_document(&reports))?;
    say(&format!("\n{}", summary(&reports)))?;
    let passed = reports.len() == files.len() && reports.iter().all(EvalReport::reached);
    Ok(if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn names_desk(flags: &Flags, loaded: &Loaded) -> bool {
    loaded.config.wants_mock() || flags.sandbox.is_some() || flags.browser.is_some() || flags.attach.is_some()
}

/// A test clicks and types: on the desktop of a person only where that is said.
fn refuse_own_desktop(files: &[TestFile]) -> Result<(), String> {
    let homeless = files.iter().find_map(|file| {
        let test = file.tests.iter().find(|test| test.desk == CaseDesk::AsStarted)?;
        Some(format!("{}: {}", file.path.display(), test.name))
    });
    match homeless {
        Some(test) => Err(format!(
            "{test}: this test does not say where it runs. Name it in the file (scenario, program, start_url, site) or \
             with a flag: --scenario FILE, --sandbox PROGRAM, --browser URL, or --own-desktop for the desktop that you \
             are looking at"
        )),
        None => Ok(()),
    }
}

struct TestView {
    tty: bool,
}

impl TestView {
    /// A reader that has gone away does not stop the tests.
    fn show(&self, progress: &TestProgress) {
        let _ = match progress {
            TestProgress::File(path) => say(&path.display().to_string()),
            TestProgress::Started { test, attempt: 1 } => say(&format!("  {test}")),
            TestProgress::Started { test, attempt } => say(&format!("  {test}, attempt {attempt}")),
            TestProgress::Step(step) => say(&format!("    {}", self.step_line(step))),
            TestProgress::Ended { run, again, .. } => self.show_end(run, *again),
        };
    }

    fn step_line(&self, step: &TestStep) -> String {
        let line = step.line();
        let (word, colour) = if step.problem.is_some() { ("FAIL", "31") } else { ("ok", "32") };
        line.strip_prefix(word).map_or(line.clone(), |rest| format!("{}{rest}", mark(word, colour, self.tty)))
    }

    fn show_end(&self, run: &RunReport, again: bool) -> Result<(), String> {
        let seconds = format!("{:.1} s", run.used.milliseconds as f64 / 1000.0);
        let Some(problem) = &run.problem else {
            return say(&format!("  {}, {seconds}", mark("passed", "32", self.tty)));
        };
        let next = if again { "; it is run again" } else { "" };
        // What a step says stands on its own line already.
        let is_told = run.lines.last().is_some_and(|line| line.starts_with("FAIL"));
        let problem = if is_told { String::new() } else { format!(": {problem}") };
        say(&format!("  {}, {seconds}{problem}{next}", mark("failed", "31", self.tty)))?;
        run.page.as_ref().map_or(Ok(()), |page| say(&format!("  page: {page}")))
    }
}

/// `3 passed (1 after a retry), 1 failed`, and which.
fn summary(reports: &[EvalReport]) -> String {
    let cases = || reports.iter().flat_map(|report| &report.cases);
    let passed = cases().filter(|case| case.reached()).count();
    let retried = cases().filter(|case| case.reached() && case.runs.len() > 1).count();
    let retried = if retried > 0 { format!(" ({retried} after a retry)") } else { String::new() };
    let failed: Vec<String> = reports.iter().flat_map(failed_lines).collect();
    let mut text = format!("{passed} passed{retried}, {} failed", failed.len());
    for line in &failed {
        text.push_str(&format!("\n  {line}"));
    }
    if reports.iter().any(|report| report.stopped) {
        text.push_str(&format!("\n{STOPPED}"));
    }
    text
}

fn failed_lines(report: &EvalReport) -> Vec<String> {
    let line = |case: &CaseReport| {
        let problem = case.runs.last().and_then(|run| run.problem.as_deref()).unwrap_or_default();
        format!("{}: {}: {}", report.suite, case.name, shorten(problem, PROBLEM_WIDTH))
    };
    report.cases.iter().filter(|case| !case.reached()).map(line).collect()
}
