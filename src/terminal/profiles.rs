//! `profile`: the logins that a browser of this server may use, made by a person in a window of that browser.

use std::process::ExitCode;

use super::say;
use crate::cli::ProfileCommand;
use crate::clock::Clock;
use crate::config::BrowserConfig;
use crate::machine::RealMachine;
use crate::platform::browser::profiles::{DataFolder, clear_profile, list_profiles};
use crate::platform::browser::show_browser;

pub fn manage_profiles(config: &BrowserConfig, what: &ProfileCommand) -> Result<ExitCode, String> {
    match what {
        ProfileCommand::Login { name, url } => log_in(config, name, url)?,
        ProfileCommand::List => {
            for profile in list_profiles(config)? {
                let warmed =
                    profile.warmed.map_or("no login yet".to_owned(), |when| format!("last login {when}"));
                say(&format!("{}  {warmed}", profile.name))?;
            }
        }
        ProfileCommand::Clear { name } => {
            clear_profile(config, name)?;
            say(&format!("the profile '{name}' is removed"))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The browser is the person's until it is closed: no pipe, no proxy, nothing of ours in it.
fn log_in(config: &BrowserConfig, name: &str, url: &str) -> Result<(), String> {
    let folder = DataFolder::profile(config, name)?;
    say(&format!(
        "Log in, then close the browser. The profile '{name}' keeps it: OSO_BROWSER__PROFILE={name}"
    ))?;
    show_browser(&RealMachine, config, folder.path(), url)?;
    folder.note_login(&Clock::real()).map_err(|problem| format!("the login cannot be noted: {problem}"))
}
