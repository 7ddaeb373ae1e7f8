//! Logs and last words, on stderr only: stdout belongs to the MCP transport.

use tracing::{Level, Metadata};
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer, fmt};

use crate::app::App;
use crate::config::LogLevel;
use crate::http::Listening;

/// `RUST_LOG` beats the configured level.
pub fn start(level: LogLevel) {
    let filter =
        EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(filter_directives(level)));
    let lines = fmt::layer().with_writer(std::io::stderr).with_ansi(false);
    let started = tracing_subscriber::registry()
        .with(filter)
        .with(lines.with_filter(filter_fn(tells_no_arguments)))
        .try_init();
    if started.is_err() {
        report_failure("logging was already set up");
    }
}

/// The protocol's library writes whole messages at its finer levels, also the text that is to be typed into a
/// password field. No setting brings them into a log.
fn tells_no_arguments(line: &Metadata) -> bool {
    line.target().split("::").next() != Some("rmcp") || *line.level() <= Level::INFO
}

/// Our own words at the level asked for; libraries only when something is wrong with them.
fn filter_directives(level: LogLevel) -> String {
    let level = match level {
        LogLevel::Trace => "trace",
        LogLevel::Debug => "debug",
        LogLevel::Info => "info",
        LogLevel::Warning => "warn",
        LogLevel::Error => "error",
    };
    // The library below Wayland's pictures takes every global that is no output for an error.
    format!("error,libwayshot_xcap=off,os_screen_observer={level}")
}

pub fn log_startup(app: &App, stdio: bool, http: Option<&Listening>) {
    let facts = app.observer.facts();
    tracing::info!(
        version = env!("CARGO_PKG_VERSION"),
        adapter = facts.adapter,
        tools = app.tools.tool_names().count(),
        "{}",
        if stdio { "serving MCP on stdio" } else { "serving HTTP" }
    );
    match http {
        // Clients keep what a server writes to stderr, so the token is not in it.
        Some(http) if stdio => {
            let token = http.token_file.as_ref().map(|file| format!(", token in {}", file.display()));
            tracing::info!("serving HTTP at {}{}", http.address_link(), token.unwrap_or_default());
        }
        Some(http) => tell(&format!("OS Screen Observer is at {}  (Ctrl+C ends it)", http.link)),
        None => {}
    }
    match http.and_then(|http| http.clickthrough) {
        Some(port) if stdio => tracing::info!("serving the Clickthrough-compatible API on port {port}"),
        Some(port) => tell(&format!("The Clickthrough-compatible API is on port {port}")),
        None if app.config.clickthrough.enabled => {
            tracing::warn!("the Clickthrough-compatible API is not served, because HTTP is off (see --mode)");
        }
        None => {}
    }
    match http.and_then(|http| http.screenjob) {
        Some(port) if stdio => tracing::info!("serving the ScreenJob-compatible API on port {port}"),
        Some(port) => tell(&format!("The ScreenJob-compatible API is on port {port}")),
        None if app.config.screenjob.enabled => {
            tracing::warn!("the ScreenJob-compatible API is not served, because HTTP is off (see --mode)");
        }
        None => {}
    }
    if let Some(reason) = facts.unavailable {
        tracing::warn!("there is no desktop: {reason}");
    }
    let unknown = app.gate.unknown_names(&known_names());
    if !unknown.is_empty() {
        tracing::warn!(
            "actions.allow and actions.deny contain unknown tools or groups: {}",
            unknown.join(", ")
        );
    }
}

fn known_names() -> Vec<&'static str> {
    use crate::tool::Group;
    crate::tools::all_tools().map(|spec| spec.meta.name).chain(Group::ALL.map(Group::name)).collect()
}

/// For the person at the terminal, whatever the log level.
#[allow(clippy::print_stderr, reason = "a person waits for this line")]
fn tell(message: &str) {
    eprintln!("{message}");
}

/// For what goes wrong before or without logging.
#[allow(clippy::print_stderr, reason = "the last words of a process that cannot start")]
pub fn report_failure(message: &str) {
    eprintln!("os-screen-observer: {message}");
}

/// A file that may not grow any further is an error of the one who writes to it. Without this the system would end the
/// process, with whatever it holds down. What it starts is left as it was, so a command still obeys its limits.
pub fn outlive_file_limits() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let too_large = SignalKind::from_raw(rustix::process::Signal::XFSZ.as_raw());
        if let Err(problem) = signal(too_large) {
            tracing::warn!("a limit on the size of files would end this server: {problem}");
        }
    }
}

/// Comes when the process is asked to stop.
pub async fn stop_signal() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let Ok(mut terminate) = signal(SignalKind::terminate()) else {
            return std::future::pending().await;
        };
        tokio::select! {
            _ = terminate.recv() => {}
            _ = tokio::signal::ctrl_c() => {}
        }
    }
    #[cfg(not(unix))]
    {
        let _ = tokio::signal::ctrl_c().await;
    }
}
