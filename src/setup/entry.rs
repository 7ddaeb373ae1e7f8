//! What a client starts: the program, its flags for the desktop that was chosen, and its environment.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::clients::McpClient;
use crate::config::{Flags, Profile};

/// The desktop that a client gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EntryDesk {
    Mock {
        scenario: Option<PathBuf>,
    },
    /// A private desktop with this command, or with none.
    Sandbox(Vec<String>),
    /// A browser, at this page if there is one.
    Browser(Option<String>),
    /// The desktop of the person.
    Own,
}

impl EntryDesk {
    /// The desktop that the flags name; nothing where they name none.
    pub fn of_flags(flags: &Flags) -> Option<Self> {
        if flags.mock || flags.scenario.is_some() {
            return Some(EntryDesk::Mock { scenario: flags.scenario.clone() });
        }
        if let Some(command) = flags.sandbox_command() {
            return Some(EntryDesk::Sandbox(command));
        }
        flags.browser.clone().map(EntryDesk::Browser)
    }

    fn words(&self) -> Vec<String> {
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        match self {
            EntryDesk::Mock { scenario: None } => words(&["--mock"]),
            EntryDesk::Mock { scenario: Some(file) } => words(&["--scenario", &absolute(file)]),
            EntryDesk::Sandbox(command) => match command.split_first() {
                None => words(&["--sandbox"]),
                Some((program, [])) => words(&["--sandbox", program]),
                Some(_) => {
                    ["--sandbox", "--"].into_iter().map(str::to_owned).chain(command.clone()).collect()
                }
            },
            EntryDesk::Browser(None) => words(&["--browser"]),
            EntryDesk::Browser(Some(url)) => words(&["--browser", url]),
            EntryDesk::Own => Vec::new(),
        }
    }

    /// The tools that are enough for it.
    fn profile(&self) -> &'static str {
        match self {
            EntryDesk::Browser(_) => "web",
            _ => "agent",
        }
    }
}

/// The flags of the server. It serves the inspector too, on a free port and behind a token, for `watch`.
pub fn entry_words(flags: &Flags, desk: &EntryDesk) -> Vec<String> {
    let mut words: Vec<String> = ["--mode", "both", "--port", "0"].map(str::to_owned).into();
    words.extend(["--profile".to_owned(), profile_name(flags.profile, desk).to_owned()]);
    if let Some(file) = &flags.config {
        words.extend(["--config".to_owned(), absolute(file)]);
    }
    if let Some(changes) = &flags.tools {
        words.push(format!("--tools={changes}"));
    }
    // What follows `--` belongs to a program of a private desktop, so the desktop comes last.
    words.extend(desk.words());
    words
}

/// The profile that was asked for, or the one that is enough for the desktop.
fn profile_name(profile: Profile, desk: &EntryDesk) -> &'static str {
    match profile {
        Profile::Full => desk.profile(),
        Profile::Agent => "agent",
        Profile::Web => "web",
        Profile::Observe => "observe",
        Profile::Test => "test",
    }
}

/// The entry as a client writes it.
pub fn entry_json(client: Option<&McpClient>, program: &Path, words: &[String]) -> Value {
    let mut entry = json!({});
    if client.is_some_and(|client| client.says_type) {
        entry["type"] = json!("stdio");
    }
    entry["command"] = json!(program.display().to_string());
    entry["args"] = json!(words);
    entry["env"] = json!({"OSO_TOKEN": "auto"});
    entry
}

/// A client starts the server in a folder of its own.
fn absolute(path: &Path) -> String {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned()).display().to_string()
}
