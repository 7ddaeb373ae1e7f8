//! `watch`: where the inspector of a running server is, with its token, opened in a browser where there is one.

use std::io::IsTerminal;
use std::process::{ExitCode, Stdio};

use super::say;
use crate::config::{Loaded, process_variable};
use crate::http::read_token;
use crate::running::{RunningServer, notes_folder, running_servers};
use crate::spawn;

const NONE_RUNS: &str = "no server with an inspector is running. A client starts one if its entry has --mode both, as \
                         `os-screen-observer setup` writes it; or start one here: os-screen-observer --mode inspect";

/// `print` leaves it at the address.
pub fn run_watch(loaded: &Loaded, print: bool) -> Result<ExitCode, String> {
    let folder =
        notes_folder().ok_or("there is no folder for notes of servers; set HOME or XDG_STATE_HOME")?;
    let servers = running_servers(&folder);
    let Some(newest) = servers.first() else {
        return Err(NONE_RUNS.to_owned());
    };
    let link = link_of(newest, loaded)?;
    say(&link)?;
    for other in servers.iter().skip(1) {
        say(&format!("{}  ({})", link_of(other, loaded)?, about(other)))?;
    }
    if !print && std::io::stdout().is_terminal() && has_screen() {
        open_page(&link);
    }
    Ok(ExitCode::SUCCESS)
}

fn about(server: &RunningServer) -> String {
    format!("process {}, {}, since {}", server.pid, server.desktop, server.started_at)
}

/// The token is the automatic one of the server, or the one that this configuration has too.
fn link_of(server: &RunningServer, loaded: &Loaded) -> Result<String, String> {
    let token = match &server.token_file {
        Some(file) => Some(read_token(file)?),
        None => loaded.config.web_ui.token.as_ref().map(|token| token.reveal().to_owned()),
    };
    let token = token.filter(|token| token != "auto");
    Ok(token.map_or_else(|| server.link.clone(), |token| format!("{}#token={token}", server.link)))
}

/// Without one there is nothing to open a page on.
fn has_screen() -> bool {
    let is_set = |name: &str| process_variable(name).is_some_and(|value| !value.is_empty());
    !cfg!(target_os = "linux") || is_set("DISPLAY") || is_set("WAYLAND_DISPLAY")
}

/// The address stands in the terminal already, so a browser that does not come is no failure.
fn open_page(link: &str) {
    let (program, before): (&str, &[&str]) = if cfg!(windows) {
        ("rundll32", &["url.dll,FileProtocolHandler"])
    } else if cfg!(target_os = "macos") {
        ("open", &[])
    } else {
        ("xdg-open", &[])
    };
    let mut command = spawn::command(program);
    command.args(before).arg(link).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let _ = command.spawn();
}
