//! The flags of the command line as types: the topmost layer of the configuration.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::LogLevel;

/// All flags; they are accepted before and after a command.
#[derive(Clone, Debug, Default, PartialEq, Args)]
pub struct Flags {
    /// Which surfaces to serve
    #[arg(long, global = true, value_enum, default_value_t)]
    pub mode: Mode,
    /// JSON config file; must exist [default: your own, and what ./config.json tightens]
    #[arg(long, global = true, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Serve a mock desktop; the real one is not touched
    #[arg(long, global = true)]
    pub mock: bool,
    /// Play this YAML scenario on the mock desktop; implies --mock
    #[arg(long, global = true, value_name = "FILE", conflicts_with_all = ["sandbox", "browser", "attach", "with_desktop"])]
    pub scenario: Option<PathBuf>,
    /// Let time pass only while the server waits (needs --mock), so that runs are reproducible
    #[arg(long, global = true)]
    pub steered_clock: bool,
    /// Start a private desktop, with this program in it if given, and use it; the program's arguments follow
    /// after --
    #[arg(long, global = true, value_name = "PROGRAM", num_args = 0..=1, conflicts_with = "mock")]
    pub sandbox: Option<Option<String>>,
    /// Size of the private desktop [default: 1280x800]
    #[arg(long, global = true, value_name = "WIDTHxHEIGHT")]
    pub sandbox_size: Option<String>,
    /// Folder that programs on the private desktop may write, at the same path; their home is deleted at the end
    #[arg(long, global = true, value_name = "DIR")]
    pub share: Vec<PathBuf>,
    /// What followed after --
    #[arg(skip)]
    pub sandbox_arguments: Vec<String>,
    /// Start a browser, at this page if given, and use its tabs as windows; with --sandbox beside that desktop
    #[arg(long, global = true, value_name = "URL", num_args = 0..=1, conflicts_with = "mock", value_parser = page_url)]
    pub browser: Option<Option<String>>,
    /// Use a browser that you opened for this, by its debugging port or its ws:// address
    #[arg(long, global = true, value_name = "PORT", conflicts_with_all = ["mock", "browser"])]
    pub attach: Option<String>,
    /// Beside this desktop: its windows and the tabs in one list (needs --browser or --attach)
    #[arg(long, global = true, conflicts_with_all = ["mock", "sandbox"])]
    pub with_desktop: bool,
    /// With a window that a person can see (needs --browser)
    #[arg(long, global = true)]
    pub headful: bool,
    /// Address for HTTP [default: 127.0.0.1]
    #[arg(long, global = true, value_name = "ADDRESS")]
    pub host: Option<String>,
    /// Port for HTTP; 0 takes a free one [default: 5001]
    #[arg(long, global = true)]
    pub port: Option<u16>,
    /// Serve the Clickthrough-compatible API too, on its own port (8123)
    #[arg(long, global = true)]
    pub clickthrough: bool,
    /// Run jobs, and serve the ScreenJob-compatible API on its own port (8787); reads .env
    #[arg(long, global = true)]
    pub screenjob: bool,
    /// Which set of tools to offer
    #[arg(long, global = true, value_enum, default_value_t)]
    pub profile: Profile,
    /// Groups or tools to add (+) and to leave out (-), like +harness,-type_text
    #[arg(long, global = true, value_name = "CHANGES", allow_hyphen_values = true, value_parser = tool_changes)]
    pub tools: Option<String>,
    /// How much to log to stderr [default: info]
    #[arg(long, global = true, value_name = "LEVEL", value_enum, ignore_case = true)]
    pub log: Option<LogLevel>,
    /// Input actions allowed in this session
    #[arg(long, global = true, value_name = "N", allow_negative_numbers = true, help_heading = "Budgets")]
    pub max_actions: Option<u64>,
    /// Screenshots allowed in this session
    #[arg(long, global = true, value_name = "N", allow_negative_numbers = true, help_heading = "Budgets")]
    pub max_screenshots: Option<u64>,
    /// Tokens of the vision model allowed in this session
    #[arg(long, global = true, value_name = "N", allow_negative_numbers = true, help_heading = "Budgets")]
    pub max_vlm_tokens: Option<u64>,
    /// Seconds after which actions are refused
    #[arg(long, global = true, value_name = "N", allow_negative_numbers = true, help_heading = "Budgets")]
    pub max_session_seconds: Option<u64>,
    /// Input actions allowed in any 60 seconds
    #[arg(long, global = true, value_name = "N", allow_negative_numbers = true, help_heading = "Budgets")]
    pub actions_per_minute: Option<u64>,
}

impl Flags {
    /// The command for a private desktop, empty for none; `None` where no private desktop is wanted.
    pub fn sandbox_command(&self) -> Option<Vec<String>> {
        let program = self.sandbox.as_ref()?;
        Some(program.iter().chain(&self.sandbox_arguments).cloned().collect())
    }

    /// The browser to start, if one is wanted.
    pub fn browser_start(&self) -> Option<BrowserStart> {
        if self.browser.is_none() && self.attach.is_none() {
            return None;
        }
        let url = self.browser.clone().flatten().unwrap_or_else(|| "about:blank".to_owned());
        let (headful, attach) = (self.headful, self.attach.clone());
        Some(BrowserStart { url, by_owner: true, headful, attach, with_desktop: self.with_desktop })
    }
}

/// A browser, and the page that it begins with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrowserStart {
    pub url: String,
    /// The owner named the page, so it may be reached; what others name is held to the rules of the network.
    pub by_owner: bool,
    pub headful: bool,
    /// Where one is that a person opened; else one is started.
    pub attach: Option<String>,
    /// Beside the desktop of the person.
    pub with_desktop: bool,
}

/// Pages of the web, and files where `browser.file_root` allows them; no script in an address.
pub fn page_url(text: &str) -> Result<String, String> {
    let lower = text.trim().to_ascii_lowercase();
    let schemes = ["http://", "https://", "file:///"];
    if schemes.iter().any(|scheme| lower.starts_with(scheme)) || lower == "about:blank" {
        return Ok(text.trim().to_owned());
    }
    Err("expected a URL that begins with http:// or https://, or about:blank".to_owned())
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Mode {
    /// `inspect` if stdin is a terminal, else `both`
    #[default]
    Auto,
    /// MCP over stdin and stdout only
    Mcp,
    /// HTTP only
    Inspect,
    /// MCP and HTTP together
    Both,
}

impl Mode {
    /// `auto` decided; every other mode stays what it is.
    pub fn decided(self, stdin_is_terminal: bool) -> Mode {
        match (self, stdin_is_terminal) {
            (Mode::Auto, true) => Mode::Inspect,
            (Mode::Auto, false) => Mode::Both,
            (chosen, _) => chosen,
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Profile {
    /// Every tool
    #[default]
    Full,
    /// What an agent needs to see and act
    Agent,
    /// What an agent needs to work the pages of a browser
    Web,
    /// Reading only
    Observe,
    /// Every tool, the same as full
    Test,
}

/// The string is kept as written, because only the tools know which names exist. But a flag that landed
/// here by a forgotten value is refused: a leading minus is allowed, two are not.
fn tool_changes(text: &str) -> Result<String, String> {
    if text.is_empty() || text.starts_with("--") {
        return Err("expected changes like +harness,-type_text".to_owned());
    }
    Ok(text.to_owned())
}
