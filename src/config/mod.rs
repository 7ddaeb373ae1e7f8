//! The configuration: built-in defaults < files < environment < flags, merged here and nowhere else.
//!
//! Loading reads the file that a flag names, or else the user's own and, for what it tightens, the one in the working
//! folder; nothing more. The environment is handed in. A file that nobody named may be absent, which means the
//! defaults; one that is broken is survived and reported. What must not happen is that a fault opens what
//! the user shut: a broken guard (deny list, confirmation, redaction, mock …) refuses the start.

mod document;
mod dotenv;
mod env;
mod flags;
mod folder;
mod hosts;
mod keys;
pub mod limits;
mod merge;
mod origins;
mod secret;
mod types;

use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use crate::files;

pub use dotenv::with_dotenv;
pub use env::{own_state_folder, process_environment, process_environment_os, process_variable};
pub use flags::{BrowserStart, Flags, Mode, Profile, page_url};
pub use hosts::{HostRule, HostSet};
pub use keys::{KEYS, Key, KeyRule};
pub use origins::PageOrigin;
pub use secret::{Endpoint, Secret};
pub use types::*;

use merge::{ConfigFile, FileText};

pub const DEFAULT_PATH: &str = "config.json";

/// A configuration to start with, and everything its user should know about how it came to be.
#[derive(Clone, Debug)]
pub struct Loaded {
    pub config: Config,
    /// The file that is obeyed, whether it exists or not: what the flag names, or the user's own.
    pub path: PathBuf,
    /// The files that were read, as the start says it.
    pub read: Vec<String>,
    /// The file is there and nothing of it could be used. What it forbade is not known, so nothing acts.
    pub file_lost: bool,
    /// Faults that were survived; each names its place, what was expected and what is used instead.
    pub problems: Vec<String>,
    /// Things that were ignored on purpose.
    pub notices: Vec<String>,
    /// The scenario file, if the mock runs; without it there is nothing to play it.
    pub scenario: Option<PathBuf>,
    /// Time passes only when the server waits; for the mock alone.
    pub steered_clock: bool,
    /// A private desktop is wanted, with this command in it; an empty one for no program.
    pub sandbox: Option<Vec<String>>,
    /// A browser is wanted, which begins with this page.
    pub browser: Option<BrowserStart>,
    /// Secrets that the environment names; those of `secrets.file` are read when the server is built.
    pub environment_secrets: BTreeMap<String, Secret>,
}

impl Loaded {
    fn new(
        config: Config,
        path: PathBuf,
        read: Vec<String>,
        problems: Vec<String>,
        notices: Vec<String>,
    ) -> Self {
        Self {
            config,
            path,
            read,
            file_lost: false,
            problems,
            notices,
            scenario: None,
            steered_clock: false,
            sandbox: None,
            browser: None,
            environment_secrets: BTreeMap::new(),
        }
    }

    /// The mock needs no other desktop. A scenario is played by the mock, so naming one asks for it.
    fn with_flags_of_one_desktop(mut self, flags: &Flags) -> Self {
        if self.config.wants_mock() {
            let ignored = [
                ("--sandbox", flags.sandbox.is_some()),
                ("--browser", flags.browser.is_some()),
                ("--attach", flags.attach.is_some()),
            ];
            for (flag, _) in ignored.into_iter().filter(|(_, given)| *given) {
                self.notices.push(format!("{flag} is ignored: the mock desktop is in use"));
            }
            self.scenario.clone_from(&flags.scenario);
            self.steered_clock = flags.steered_clock;
            return self;
        }
        if flags.steered_clock {
            self.notices.push("--steered-clock is ignored: it needs --mock".to_owned());
        }
        if flags.headful && flags.browser.is_none() {
            self.notices.push("--headful is ignored: it needs --browser".to_owned());
        }
        if flags.with_desktop && flags.browser.is_none() && flags.attach.is_none() {
            self.notices.push("--with-desktop is ignored: it needs --browser or --attach".to_owned());
        }
        if !flags.share.is_empty() && flags.sandbox.is_none() {
            self.notices.push("--share is ignored: it needs --sandbox".to_owned());
        }
        self.sandbox = flags.sandbox_command();
        self.browser = flags.browser_start();
        self
    }

    /// All problems in one text, for the health check's `config_error`.
    pub fn error(&self) -> Option<String> {
        (!self.problems.is_empty()).then(|| self.problems.join("\n"))
    }
}

/// Why the server must not start with this configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FatalConfig {
    pub path: PathBuf,
    pub fatal: Vec<String>,
    /// Faults that alone would have been survived, so that all can be mended at once.
    pub problems: Vec<String>,
}

impl fmt::Display for FatalConfig {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("refusing to start, because a setting that protects you cannot be obeyed:")?;
        for message in self.fatal.iter().chain(&self.problems) {
            write!(out, "\n  - {message}")?;
        }
        Ok(())
    }
}

impl std::error::Error for FatalConfig {}

/// Merges all sources. Reads the file that the flags name, or the user's own and the one in the working folder.
pub fn load(
    flags: &Flags,
    environment: impl IntoIterator<Item = (String, String)>,
) -> Result<Loaded, FatalConfig> {
    let environment = environment.into_iter().collect();
    let own = flags.config.clone().or_else(|| env::user_config_file(&environment));
    let here = PathBuf::from(DEFAULT_PATH);
    let mut files = Vec::new();
    if let Some(path) = &own {
        let text = if flags.config.is_some() { read_named(path) } else { read(path) };
        files.push(ConfigFile { text, path: path.clone(), in_folder: false });
    }
    if flags.config.is_none() && !own.as_ref().is_some_and(|own| is_same_place(&here, own)) {
        files.push(ConfigFile { text: read(&here), path: here.clone(), in_folder: true });
    }
    let path = own.unwrap_or(here);
    merge::merge_sources(path, files, &environment, flags)
}

/// Whether somebody started the server in the folder of their own config file.
fn is_same_place(one: &Path, other: &Path) -> bool {
    matches!((one.canonicalize(), other.canonicalize()), (Ok(one), Ok(other)) if one == other)
}

/// Somebody who names a file counts on what it says, so its absence is no default.
fn read_named(path: &Path) -> FileText {
    match read(path) {
        FileText::Absent => FileText::Refused(
            "--config names this file, and it does not exist. Correct the path, or leave --config out."
                .to_owned(),
        ),
        found => found,
    }
}

fn read(path: &Path) -> FileText {
    // Only a plain file is opened: opening a pipe would wait for its writer for ever.
    match std::fs::metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => FileText::Absent,
        Err(error) => FileText::Unreadable(format!("the file cannot be read: {error}.")),
        Ok(facts) if !facts.is_file() => FileText::Unreadable("this is not a regular file.".to_owned()),
        Ok(_) => read_plain_file(path),
    }
}

fn read_plain_file(path: &Path) -> FileText {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) => return FileText::Unreadable(format!("the file cannot be read: {error}.")),
    };
    // Whoever else can write it would decide what this user's server does.
    match file.metadata().map(|found| files::written_by_others(&found, path)) {
        Ok(None) => read_text(file).map_or_else(FileText::Unreadable, FileText::Text),
        Ok(Some(reason)) => FileText::Refused(reason),
        Err(error) => FileText::Unreadable(format!("the file cannot be read: {error}.")),
    }
}

fn read_text(file: File) -> Result<String, String> {
    let mut bytes = Vec::new();
    file.take(limits::CONFIG_BYTES as u64 + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| format!("the file cannot be read: {error}."))?;
    if bytes.len() > limits::CONFIG_BYTES {
        return Err(format!("the file is larger than {} bytes.", limits::CONFIG_BYTES));
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        format!("the file is not UTF-8 (byte {at}); save it as UTF-8.")
    })
}

#[cfg(test)]
mod tests;
