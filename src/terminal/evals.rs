//! Evaluations at the terminal: each run on stderr, the table on stdout, and the files that CI reads.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use super::{pretty_json, say};
use crate::cli::EvalCommand;
use crate::clock::Cancel;
use crate::config::{Flags, Loaded};
use crate::eval::desk::DeskBuilder;
use crate::eval::report::RunReport;
use crate::eval::run::{EvalOptions, SuiteRunner};
use crate::eval::suite::{EvalCase, Suite, SuiteOptions};
use crate::jobs::service;
use crate::text::shorten;

/// As many characters of a problem fit on the line of a run.
const PROBLEM_WIDTH: usize = 200;

/// `cancel` is fired when the process is asked to stop.
pub fn run_eval(
    flags: &Flags,
    loaded: &Loaded,
    command: &EvalCommand,
    build_desk: DeskBuilder,
    cancel: &Cancel,
) -> Result<ExitCode, String> {
    refuse_desk_flags(flags)?;
    let suite_options = SuiteOptions { miniwob_pages: command.miniwob.clone() };
    let suite = Suite::load_file(&command.suite, &suite_options)?.keep_cases(&command.cases)?;
    let (json, junit) = (create_file(command.json.as_deref())?, create_file(command.junit.as_deref())?);
    let runner = SuiteRunner {
        options: EvalOptions {
            planner: command.planner.clone(),
            model: command.model.clone(),
            runs: command.runs,
            headful: flags.headful,
        },
        loaded,
        build_desk,
        store: service::open_store(&loaded.config.jobs).map_err(|error| error.message)?,
        progress: &show_run,
        cancel,
    };
    let report = runner.run_suite(&suite)?;
    write_report(json, || pretty_json(&report.to_json()))?;
    write_report(junit, || report.to_junit())?;
    say(&report.to_table())?;
    Ok(if report.reached() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// A case names its own desk, so another one would be ignored.
fn refuse_desk_flags(flags: &Flags) -> Result<(), String> {
    let given = [
        ("--mock", flags.mock),
        ("--scenario", flags.scenario.is_some()),
        ("--sandbox", flags.sandbox.is_some()),
        ("--browser", flags.browser.is_some()),
        ("--attach", flags.attach.is_some()),
        ("--steered-clock", flags.steered_clock),
    ];
    match given.iter().find(|(_, is_given)| *is_given) {
        Some((flag, _)) => {
            Err(format!("leave out {flag}: each case of a suite names the desk that it runs on"))
        }
        None => Ok(()),
    }
}

/// Before anything runs: an hour of runs must not be lost because its report has no place.
pub(super) fn create_file(path: Option<&Path>) -> Result<Option<File>, String> {
    let create = |path| {
        File::create(path).map_err(|problem| format!("{} cannot be written: {problem}", Path::display(path)))
    };
    path.map(create).transpose()
}

pub(super) fn write_report(file: Option<File>, text: impl FnOnce() -> String) -> Result<(), String> {
    let Some(mut file) = file else {
        return Ok(());
    };
    let written = file.write_all(text().as_bytes());
    written.map_err(|problem| format!("a report cannot be written: {problem}"))
}

/// A reader that has gone away does not stop the runs.
fn show_run(case: &EvalCase, number: usize, total: usize, run: &RunReport) {
    let seed = run.seed.map(|seed| format!(" (seed {seed})")).unwrap_or_default();
    let outcome = match &run.problem {
        None => "ok".to_owned(),
        Some(problem) => format!("failed: {}", shorten(problem, PROBLEM_WIDTH)),
    };
    let line = format!("{} {number}/{total}{seed}  {outcome}  {} ms", case.name, run.used.milliseconds);
    let _ = writeln!(std::io::stderr().lock(), "{line}");
}
