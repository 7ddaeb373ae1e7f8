//! Parse the flags, build the configuration, choose the platform, start the surface.

use std::any::Any;
use std::io::IsTerminal;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use os_screen_observer::app::App;
use os_screen_observer::cli::{CallCommand, Cli, Command};
#[cfg(feature = "jobs")]
use os_screen_observer::cli::{EvalCommand, RecipeCommand, RunOptions, TestCommand, WorkerOptions};
#[cfg(feature = "jobs")]
use os_screen_observer::clock::Cancel;
use os_screen_observer::clock::{Clock, timestamp};
use os_screen_observer::config::{self, Flags, Loaded, LogLevel, Mode};
#[cfg(feature = "jobs")]
use os_screen_observer::eval::desk::EvalDesk;
use os_screen_observer::platform::Chosen;
use os_screen_observer::running::{self, RunningServer, ServerNote};
use os_screen_observer::tool::Selection;
use os_screen_observer::tools;
use os_screen_observer::{http, log, mcp, ocr, platform, terminal};
use rmcp::ServiceExt;
use rmcp::service::ServerInitializeError;
use tokio_util::sync::CancellationToken;

/// How long calls that are running when the client leaves may still finish.
const GRACE: Duration = Duration::from_millis(250);

fn main() -> ExitCode {
    platform::keep_few_heaps();
    ocr::worker::mark_main_program();
    let cli = Cli::from_process();
    match start(cli) {
        Ok(code) => code,
        Err(message) => {
            log::report_failure(&message);
            ExitCode::FAILURE
        }
    }
}

/// The processes that this program starts of itself.
fn run_internal(command: Option<&Command>) -> Option<Result<ExitCode, String>> {
    let done = match command? {
        Command::OcrWorker => ocr::worker::serve(),
        Command::SandboxKeeper => platform::keep_private_desktop(),
        Command::SandboxInside => platform::start_isolated_programs(),
        Command::ExecKeeper => {
            let ended = platform::keep_command();
            return Some(ended.map(|code| ExitCode::from(u8::try_from(code).unwrap_or(u8::MAX))));
        }
        _ => return None,
    };
    Some(done.map(|()| ExitCode::SUCCESS))
}

fn start(cli: Cli) -> Result<ExitCode, String> {
    if let Some(ended) = run_internal(cli.command.as_ref()) {
        return ended;
    }
    #[cfg(feature = "jobs")]
    let cli = terminal::jobs::with_desk(cli)?;
    let mut environment = config::process_environment();
    if cli.reads_dotenv() {
        environment = config::with_dotenv(environment, std::path::Path::new(""))?;
    }
    let loaded = config::load(&cli.flags, environment);
    if let Some(Command::Doctor { json }) = cli.command {
        return terminal::run_doctor(loaded.as_ref(), json);
    }
    if let Some(ended) = run_on_files(&cli) {
        return ended;
    }
    let loaded = loaded.map_err(|fatal| fatal.to_string())?;
    match cli.command {
        Some(Command::Tools { name, format }) => {
            terminal::print_tools(&selection(&cli.flags)?, name.as_deref(), format)
        }
        Some(Command::Models { pick, pull }) => match pull {
            Some(model) => terminal::pull_model(&loaded, &model),
            None => terminal::list_models(&loaded, pick),
        },
        Some(Command::Profile { what }) => terminal::profiles::manage_profiles(&loaded.config.browser, &what),
        Some(Command::Watch { print }) => terminal::watch::run_watch(&loaded, print),
        Some(Command::Call(command)) => run_call(&cli.flags, loaded, &command),
        #[cfg(feature = "jobs")]
        Some(
            command @ (Command::Run(_)
            | Command::Screenjob(_)
            | Command::Server
            | Command::WebTask
            | Command::Worker(_)
            | Command::Eval(_)
            | Command::Recipe { .. }
            | Command::Test(_)
            | Command::Jobs { .. }),
        ) => run_jobs_command(&cli.flags, command, loaded),
        Some(
            Command::Doctor { .. }
            | Command::OcrWorker
            | Command::SandboxKeeper
            | Command::SandboxInside
            | Command::ExecKeeper
            | Command::Trace { .. }
            | Command::Scenario { .. }
            | Command::Setup(_),
        )
        | None => {
            log::start(loaded.config.logging.level);
            serve(&cli.flags, loaded)
        }
    }
}

/// What only reads and writes files needs no configuration.
fn run_on_files(cli: &Cli) -> Option<Result<ExitCode, String>> {
    match cli.command.as_ref()? {
        Command::Trace { what } => Some(terminal::run_trace(what)),
        Command::Scenario { what } => Some(terminal::run_scenario(what)),
        Command::Setup(command) => Some(terminal::setup::run_setup(&cli.flags, command)),
        _ => None,
    }
}

fn run_call(flags: &Flags, loaded: Loaded, command: &CallCommand) -> Result<ExitCode, String> {
    start_log(flags);
    report_config(&loaded);
    let Built { _ends_with_us, app, .. } = build(flags, loaded)?;
    terminal::call::run_call(&app, command)
}

/// A command that ends by itself logs only what is wrong, unless `--log` says otherwise.
fn start_log(flags: &Flags) {
    log::start(flags.log.unwrap_or(LogLevel::Warning));
}

#[cfg(feature = "jobs")]
fn run_jobs_command(flags: &Flags, command: Command, loaded: Loaded) -> Result<ExitCode, String> {
    match command {
        Command::Run(options) => run_job(flags, loaded, &options),
        Command::Screenjob(options) => {
            let options = options.into_run(loaded.config.screenjob.default_model.clone());
            run_job(flags, loaded, &options)
        }
        Command::Worker(options) => run_worker(flags, loaded, &options),
        Command::Eval(options) => run_eval(flags, &loaded, &options),
        Command::Recipe { what: RecipeCommand::Test(test) } => run_job(flags, loaded, &test.into_run()),
        Command::Recipe { what } => terminal::recipes::manage_recipes(&loaded.config, &what),
        Command::Test(options) => run_tests(flags, &loaded, &options),
        Command::Jobs { what } => terminal::jobs::manage_jobs(&loaded.config.jobs, &what),
        Command::WebTask => {
            log::start(loaded.config.logging.level);
            serve(flags, terminal::jobs::serving_web_tasks(loaded))
        }
        // The server of jobs.
        _ => {
            log::start(loaded.config.logging.level);
            serve(flags, terminal::jobs::serving_jobs(loaded))
        }
    }
}

#[cfg(feature = "jobs")]
fn run_job(flags: &Flags, loaded: Loaded, options: &RunOptions) -> Result<ExitCode, String> {
    start_log(flags);
    report_config(&loaded);
    terminal::jobs::check_job(&loaded, &selection(flags)?, options)?;
    let loaded = if options.record { terminal::jobs::recording_runs(loaded)? } else { loaded };
    let desk = terminal::jobs::WorkerDesk::plan(&loaded)?;
    let Built { _ends_with_us, app, seen_by } = build(flags, loaded)?;
    terminal::jobs::run_job(&app, options, &desk.seen_by(seen_by), &cancel_on_signal())
}

#[cfg(feature = "jobs")]
fn run_eval(flags: &Flags, loaded: &Loaded, options: &EvalCommand) -> Result<ExitCode, String> {
    start_log(flags);
    report_config(loaded);
    let build_desk = |loaded: Loaded| build_eval_desk(flags, loaded);
    terminal::evals::run_eval(flags, loaded, options, &build_desk, &cancel_on_signal())
}

#[cfg(feature = "jobs")]
fn build_eval_desk(flags: &Flags, loaded: Loaded) -> Result<EvalDesk, String> {
    let Built { _ends_with_us, app, .. } = build(flags, loaded)?;
    Ok(EvalDesk { app, ends_with_us: _ends_with_us })
}

#[cfg(feature = "jobs")]
fn run_tests(flags: &Flags, loaded: &Loaded, options: &TestCommand) -> Result<ExitCode, String> {
    start_log(flags);
    report_config(loaded);
    let build_desk = |loaded: Loaded| build_eval_desk(flags, loaded);
    terminal::test_runs::run_tests(flags, loaded, options, &build_desk, &cancel_on_signal())
}

#[cfg(feature = "jobs")]
fn run_worker(flags: &Flags, loaded: Loaded, options: &WorkerOptions) -> Result<ExitCode, String> {
    start_log(flags);
    if options.id.is_none() {
        report_config(&loaded);
    }
    let loaded = terminal::jobs::recording_runs(terminal::jobs::at_own_desk(loaded, options)?)?;
    let jobs = loaded.config.jobs.clone();
    let built = terminal::jobs::WorkerDesk::plan(&loaded).and_then(|desk| Ok((desk, build(flags, loaded)?)));
    let (desk, Built { _ends_with_us, app, seen_by }) =
        built.map_err(|problem| terminal::jobs::refuse_without_desk(&jobs, options, problem))?;
    // A server's worker is stopped by its server.
    let signal = if options.id.is_none() { cancel_on_signal() } else { Cancel::new() };
    terminal::jobs::work_at_desk(&Arc::new(app), options, &desk.seen_by(seen_by), &signal)
}

/// Fired when the process is asked to stop.
#[cfg(feature = "jobs")]
fn cancel_on_signal() -> Cancel {
    let cancel = Cancel::new();
    let fired = cancel.clone();
    std::thread::spawn(move || {
        if let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() {
            runtime.block_on(log::stop_signal());
            fired.fire();
        }
    });
    cancel
}

fn selection(flags: &Flags) -> Result<Selection, String> {
    tools::selection(flags.profile, flags.tools.as_deref().unwrap_or_default())
}

/// The app, and what must go after everything that works with it: who takes this apart names `_ends_with_us` first,
/// because what is named last is dropped first.
struct Built {
    app: App,
    /// How a person sees the desktop, where it is on no screen.
    #[cfg_attr(not(feature = "jobs"), allow(dead_code, reason = "only jobs are taken over"))]
    seen_by: Option<String>,
    _ends_with_us: Option<Box<dyn Any + Send>>,
}

fn build(flags: &Flags, loaded: Loaded) -> Result<Built, String> {
    let clock = if loaded.steered_clock { Clock::steered() } else { Clock::real() };
    let selection = selection(flags)?;
    let Chosen { platform, ends_with_us, seen_by } = platform::choose(&loaded, &clock)?;
    let app = App::new(loaded, &selection, platform, clock)?;
    Ok(Built { app, seen_by, _ends_with_us: ends_with_us })
}

fn report_config(loaded: &Loaded) {
    for file in &loaded.read {
        tracing::info!("config: {file} was read");
    }
    for problem in &loaded.problems {
        tracing::error!("config: {problem}");
    }
    for notice in &loaded.notices {
        tracing::warn!("config: {notice}");
    }
}

fn serve(flags: &Flags, loaded: Loaded) -> Result<ExitCode, String> {
    report_config(&loaded);
    let mode = flags.mode.decided(std::io::stdin().is_terminal());
    if mode == Mode::Inspect && !http::COMPILED_IN {
        return terminal::print_welcome(flags);
    }
    let Built { _ends_with_us, app, .. } = build(flags, loaded)?;
    let app = Arc::new(app);
    #[cfg(feature = "jobs")]
    let workers = (terminal::jobs::start_workers(&app, flags)?, terminal::jobs::start_webhooks(&app));
    let shutdown = CancellationToken::new();
    let http = match mode {
        Mode::Mcp | Mode::Auto => None,
        Mode::Inspect => Some(http::start(app.clone(), shutdown.clone())?),
        Mode::Both => http_beside_stdio(&app, &shutdown)?,
    };
    log::log_startup(&app, mode != Mode::Inspect, http.as_ref());
    let note = http.as_ref().and_then(|http| note_server(&app, http));
    // One thread reads, answers and writes; calls run on threads of their own. A second one here would only
    // wake the first for every step of every call, which costs more than the steps.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|problem| format!("cannot start the async runtime: {problem}"))?;
    let result = runtime.block_on(async {
        log::outlive_file_limits();
        if mode == Mode::Inspect {
            log::stop_signal().await;
            return Ok(ExitCode::SUCCESS);
        }
        serve_stdio(app.clone()).await
    });
    drop(note);
    shutdown.cancel();
    if let Some(http) = http {
        http.finish();
    }
    #[cfg(feature = "jobs")]
    drop(workers);
    // Whatever a call still held down is let go before the process ends.
    app.observer.release_all();
    os_screen_observer::runtime::end(runtime);
    result
}

/// For `watch`, which finds the server by it.
fn note_server(app: &App, http: &http::Listening) -> Option<ServerNote> {
    let server = RunningServer {
        pid: std::process::id(),
        address: http.address,
        link: http.address_link(),
        token_file: http.token_file.clone(),
        started_at: timestamp(app.clock.wall_time()),
        desktop: app.observer.facts().adapter.to_owned(),
    };
    let folder = running::notes_folder()?;
    let noted = running::note_server(&folder, &server);
    noted
        .inspect_err(|problem| {
            tracing::info!("`watch` will not find this server: {}: {problem}", folder.display())
        })
        .ok()
}

/// A client that starts a second server must not lose it because the port is taken. What would be unsafe ends it.
fn http_beside_stdio(
    app: &Arc<App>,
    shutdown: &CancellationToken,
) -> Result<Option<http::Listening>, String> {
    match http::start(app.clone(), shutdown.clone()) {
        Ok(listening) => Ok(Some(listening)),
        Err(http::NotServed::Unavailable(why)) => {
            tracing::warn!("serving MCP on stdio alone: {why}");
            Ok(None)
        }
        Err(http::NotServed::Refused(why)) => Err(why),
    }
}

async fn serve_stdio(app: Arc<App>) -> Result<ExitCode, String> {
    let ended = CancellationToken::new();
    let shutdown = CancellationToken::new();
    let (input, output) = rmcp::transport::io::stdio_pipes();
    let transport = mcp::stdio::Stdio::new(input, output, ended.clone());
    let server = mcp::McpServer::new(app, shutdown.clone());
    let service = tokio::spawn(async move {
        match server.serve(transport).await {
            Ok(running) => {
                let _ = running.waiting().await;
                Ok(())
            }
            // The client left before it said anything.
            Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => Ok(()),
            Err(problem) => Err(problem.to_string()),
        }
    });
    tokio::pin!(service);
    tokio::select! {
        done = &mut service => return finish(done),
        () = ended.cancelled() => {}
        () = log::stop_signal() => {}
    }
    // Calls get a moment to finish, then they are cancelled, then nobody waits any longer.
    if let Ok(done) = tokio::time::timeout(GRACE, &mut service).await {
        return finish(done);
    }
    shutdown.cancel();
    match tokio::time::timeout(GRACE / 2, &mut service).await {
        Ok(done) => finish(done),
        Err(_) => Ok(ExitCode::SUCCESS),
    }
}

fn finish(done: Result<Result<(), String>, tokio::task::JoinError>) -> Result<ExitCode, String> {
    match done {
        Ok(Ok(())) => Ok(ExitCode::SUCCESS),
        Ok(Err(problem)) => Err(problem),
        Err(problem) => Err(problem.to_string()),
    }
}
