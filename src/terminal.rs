//! The subcommands that a person runs at a terminal. Here, and only here, stdout is for people.

pub mod call;
#[cfg(feature = "jobs")]
pub mod evals;
#[cfg(feature = "jobs")]
mod job_questions;
#[cfg(feature = "jobs")]
mod job_text;
#[cfg(feature = "jobs")]
pub mod jobs;
pub mod profiles;
#[cfg(feature = "jobs")]
pub mod recipes;
pub mod setup;
#[cfg(feature = "jobs")]
pub mod test_runs;
pub mod watch;

use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde_json::{Value, json};

use crate::cli::{ScenarioCommand, ToolsFormat, TraceCommand};
use crate::config::{FatalConfig, Flags, Loaded, Mode};
use crate::machine::RealMachine;
use crate::text::nearest;
use crate::tool::{Selection, Spec, Table};
use crate::trace::recording::LoadedTrace;
use crate::trace::{html, text, to_scenario};
use crate::vlm::picker;
use crate::vlm::runner::ModelRunner;
use crate::{docs, doctor, http, ocr, platform, scenario, tools};

pub fn run_doctor(config: Result<&Loaded, &FatalConfig>, json: bool) -> Result<ExitCode, String> {
    let wished = config.map(|loaded| loaded.config.platform.clone()).unwrap_or_default();
    let report = doctor::run_checks(&doctor::DoctorSubject {
        version: env!("CARGO_PKG_VERSION"),
        features: &compiled_in(),
        platform: &platform::real_desktop(&wished),
        own_ocr: ocr::worker::library_version(),
        system_ocr: ocr::system_engine,
        config,
        survey: platform::survey_desktop(),
        mac: platform::mac_permissions(),
        hosts: platform::ancestors::ancestors().into_iter().map(|host| host.name).collect(),
        machine: &RealMachine,
    });
    let text =
        if json { pretty_json(&serde_json::to_value(&report).unwrap_or_default()) } else { report.to_text() };
    say(&text)?;
    Ok(ExitCode::from(report.exit_code()))
}

fn compiled_in() -> Vec<&'static str> {
    let known = [
        ("http", http::COMPILED_IN),
        ("ocr", ocr::library::LINKED),
        ("wayland", platform::WAYLAND_COMPILED_IN),
    ];
    known.into_iter().filter(|(_, there)| *there).map(|(name, _)| name).collect()
}

/// All tools, or one of them with its arguments and an example.
pub fn print_tools(
    selection: &Selection,
    name: Option<&str>,
    format: ToolsFormat,
) -> Result<ExitCode, String> {
    let table = tools::table(selection);
    let specs: Vec<Spec> = match name {
        Some(name) => vec![find_spec(&table, name)?],
        None => table.specs().collect(),
    };
    say(&match format {
        ToolsFormat::Table if name.is_some() => specs.iter().map(docs::terminal_tool).collect(),
        ToolsFormat::Table => docs::terminal_table(&specs),
        ToolsFormat::Markdown => docs::tools_page(&specs),
        ToolsFormat::Json => pretty_json(&Value::Array(specs.iter().map(docs::tool_json).collect())),
        ToolsFormat::Openai => pretty_json(&Value::Array(specs.iter().map(docs::openai_function).collect())),
    })?;
    Ok(ExitCode::SUCCESS)
}

fn find_spec(table: &Table, name: &str) -> Result<Spec, String> {
    if let Some(entry) = table.find_tool(name) {
        return Ok(entry.spec);
    }
    let near = table.tool_by_word(name).map(str::to_owned);
    let near = near.or_else(|| nearest(name, table.tool_names()).map(str::to_owned));
    let near = near.map(|near| format!("; did you mean '{near}'?")).unwrap_or_default();
    Err(format!("there is no tool '{name}'{near} `os-screen-observer tools` lists all"))
}

/// What a person is told who starts this server at a terminal, where no client talks to it. Asking for the
/// inspector by name is an error, since there is none.
pub fn print_welcome(flags: &Flags) -> Result<ExitCode, String> {
    if flags.mode == Mode::Inspect {
        return Err(
            "the web inspector is not part of this build (it needs `cargo build --release`, without --no-default-features); a client \
             starts the server with --mode mcp"
                .to_owned(),
        );
    }
    let program =
        std::env::current_exe().map_or("os-screen-observer".to_owned(), |path| path.display().to_string());
    let mut args = vec!["--mode".to_owned(), "mcp".to_owned()];
    args.extend(std::env::args().skip(1));
    let entry = json!({"mcpServers": {"os-screen-observer": {"command": program, "args": args}}});
    say(&format!(
        "os-screen-observer is an MCP server: a client starts it and talks to it over stdin.\n\n\
         Paste this into the client's configuration (claude_desktop_config.json):\n\n{}\n\n\
         Try it here: {program} --mock call list_windows\n\
         What works on this machine: {program} doctor",
        pretty_json(&entry)
    ))?;
    Ok(ExitCode::SUCCESS)
}

/// The models that the configured server offers; with `pick`, a choice that is saved.
pub fn list_models(loaded: &Loaded, pick: bool) -> Result<ExitCode, String> {
    let config = &loaded.config.vlm;
    let models = picker::list_models(config)?;
    let runner = ModelRunner::of(config.ollama_runner.as_deref()).ok().filter(|_| pick && is_person_here());
    if models.is_empty() && runner.is_none() {
        return Err(picker::none_offered(config));
    }
    if !pick {
        say(&models.join("\n"))?;
        return Ok(ExitCode::SUCCESS);
    }
    let (mut input, mut output) = (std::io::stdin().lock(), std::io::stdout());
    let choices = picker::pick_models(config, &models, runner, &mut input, &mut output)?;
    if choices.is_empty() {
        say("Nothing was changed.")?;
        return Ok(ExitCode::SUCCESS);
    }
    picker::save(&loaded.path, &choices)?;
    let hint =
        if config.enabled { "" } else { "\nvlm.enabled is still false: set it to true to use the model." };
    say(&format!("Saved to {}.{hint}", loaded.path.display()))?;
    Ok(ExitCode::SUCCESS)
}

/// Gets one model. A program that loads gigabytes is started for a person, not for a script or a client.
pub fn pull_model(loaded: &Loaded, model: &str) -> Result<ExitCode, String> {
    let runner = ModelRunner::of(loaded.config.vlm.ollama_runner.as_deref())?;
    if !is_person_here() {
        return Err(format!(
            "models --pull needs a terminal; without one, run: {}",
            runner.command_line(model)
        ));
    }
    runner.pull_model(model)?;
    say(&format!("{model} is installed. Choose it with: os-screen-observer models --pick"))?;
    Ok(ExitCode::SUCCESS)
}

fn is_person_here() -> bool {
    std::io::stdin().is_terminal() && std::io::stdout().is_terminal()
}

pub fn run_trace(what: &TraceCommand) -> Result<ExitCode, String> {
    match what {
        TraceCommand::Show { path, step: None } => say(&text::trace_table(&LoadedTrace::read(path)?))?,
        TraceCommand::Show { path, step: Some(number) } => {
            say(&text::show_step(&LoadedTrace::read(path)?, *number)?)?
        }
        TraceCommand::Export { path, output, .. } => {
            write_output(&html::page(&LoadedTrace::read(path)?), output.as_deref())?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

pub fn run_scenario(what: &ScenarioCommand) -> Result<ExitCode, String> {
    match what {
        ScenarioCommand::Record { path, output } => {
            write_output(
                &to_scenario::record_scenario(&LoadedTrace::read(path)?, &tools::recorded_input)?,
                output.as_deref(),
            )?;
            Ok(ExitCode::SUCCESS)
        }
        ScenarioCommand::Check { files } => check_scenarios(files),
    }
}

/// A line for each file: what it holds, or the place and the reason why it cannot be played.
fn check_scenarios(files: &[PathBuf]) -> Result<ExitCode, String> {
    let mut code = ExitCode::SUCCESS;
    for file in files {
        match scenario::load_file(file) {
            Ok(scenario) => say(&format!(
                "{}: ok, {} with {} states and {} reactions",
                file.display(),
                scenario.name,
                scenario.states.len(),
                scenario.reactions.len()
            ))?,
            Err(problem) => {
                code = ExitCode::FAILURE;
                say(&problem.to_string())?;
            }
        }
    }
    Ok(code)
}

/// To the file that was named, or to stdout.
fn write_output(text: &str, output: Option<&Path>) -> Result<(), String> {
    let Some(path) = output else {
        return say(text.trim_end());
    };
    std::fs::write(path, text).map_err(|problem| format!("{} cannot be written: {problem}", path.display()))
}

fn pretty_json(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_else(|_| value.to_string())
}

/// A reader that goes away (`| head`) is no error.
fn say(text: &str) -> Result<(), String> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.write_all(b"\n")) {
        Err(problem) if problem.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(format!("standard output cannot be written: {problem}"))
        }
        _ => Ok(()),
    }
}
