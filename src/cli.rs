//! The command line as types. It reads nothing and starts nothing: `config` merges `Flags`, `main` acts.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};

use crate::config::Flags;

const EXAMPLES: &str = "\
Examples:
  os-screen-observer --mock --mode mcp          a mock desktop over stdio; needs no permissions
  os-screen-observer --mock --scenario a.yaml   the same, from a scenario file
  os-screen-observer --mode mcp --profile agent what a client like Claude Desktop starts
  os-screen-observer --sandbox gnome-calculator a program on a private desktop, separate from yours (Linux)
  os-screen-observer --browser https://…        a browser, whose tabs are windows and whose pages are trees
  os-screen-observer doctor                     what works on this machine, and how to fix the rest
  os-screen-observer call list_windows --mock   one tool, once, from the shell
  echo '{\"x\": 10, \"y\": 20}' | os-screen-observer call click_at - --mock

The config file is what --config names, else os-screen-observer/config.json in your config folder (~/.config, %APPDATA%).
docs/configuration.md has all of its keys. Wanted most:
  {\"confirmation_required\": [{\"name_regex\": \"(?i)delete|send\"}]}   what a person is asked about first
  {\"browser\": {\"network_allow\": [\"127.0.0.1:8000\"]}}              hosts of this machine or network that pages may reach
  {\"browser\": {\"sandbox\": false}}                                where the browser does not start: as root, in a container
  {\"browser\": {\"upload_root\": \"/folder\"}}                         whose files pages may be given
  {\"browser\": {\"downloads_dir\": \"/folder\"}}                       where downloads are kept

Every key of the config file can also be set in the environment: OSO_WEB_UI__PORT=5002.
Later wins: built-in defaults, config file, environment, flags. Logs go to stderr.";

const CALL_EXAMPLES: &str = "\
Examples:
  os-screen-observer call look --mock
  os-screen-observer call get_screenshot --out screen.png --sandbox gnome-calculator
  os-screen-observer call click_element '{\"selector\": \"//Button[name=\\\"Ring\\\"]\"}' --scenario doorbell.yaml

At a terminal the reply is text; into a pipe or a file, and with --json, it is JSON. The exit status is 1 if the call fails.
`os-screen-observer tools NAME` shows the arguments of a tool.";

const SETUP_EXAMPLES: &str = "\
Examples:
  os-screen-observer setup                                     asks for the client and the desktop
  os-screen-observer setup cursor --mock                       a simulated desktop
  os-screen-observer setup claude-desktop --sandbox gnome-calculator
  os-screen-observer setup codex --browser https://example.org
  os-screen-observer setup print --own-desktop                 the entry as JSON, to paste
  os-screen-observer setup --undo cursor

--profile, --tools and --config become part of the entry. Other entries and comments in the client's file stay as they are,
and a copy of the file is kept beside it.";

#[cfg(feature = "jobs")]
const RUN_EXAMPLES: &str = "\
Examples:
  os-screen-observer run \"log in as alice\" --planner scripted:demo
  os-screen-observer run \"What is 12 times 34?\" --planner auto --sandbox gnome-calculator

Progress goes to stderr, the result to stdout. The exit status is 0 if the job succeeded.";

#[cfg(feature = "jobs")]
const SCREENJOB_EXAMPLES: &str = "\
Examples:
  os-screen-observer screenjob \"open the calculator\" --model gpt-5.4-mini --disable-tool execute_command
  os-screen-observer screenjob \"log in as alice\" --planner scripted:demo

OPENAI_API_KEY and SCREENJOB_DEFAULT_MODEL are read from the environment and from .env in this folder.";

#[cfg(feature = "jobs")]
const SERVER_EXAMPLES: &str = "\
Examples:
  os-screen-observer server --mock --scenario scenarios/login.yaml
  SCREENJOB_TOKEN=… os-screen-observer server   ScreenJob's API on port 8787 as well

The page is at http://127.0.0.1:5001/; jobs are under JOBS.";

#[cfg(feature = "jobs")]
const WEB_TASK_EXAMPLES: &str = "\
Examples:
  os-screen-observer web-task                   what an MCP client starts: run_web_task, get_web_task, sessions
  os-screen-observer web-task --mode inspect    POST http://127.0.0.1:5001/v1/tasks/run
  os-screen-observer web-task --mock            the same without a browser of the server itself

Each task has a browser of its own. docs/web-tasks.md has a demo that needs no key.";

#[cfg(feature = "jobs")]
const WORKER_EXAMPLES: &str = "\
Examples:
  os-screen-observer worker --sandbox           one more private desktop for the jobs of a server
  os-screen-observer worker --mock --once       runs one job, or waits for one

It needs the same jobs.dir as the server, and runs until you stop it.";

#[cfg(feature = "jobs")]
const EVAL_EXAMPLES: &str = "\
Examples:
  os-screen-observer eval evals/hands.yaml --planner scripted --runs 3
  os-screen-observer eval mine.yaml --planner chat --model qwen3 --runs 10 --json report.json --junit report.xml

Each run is a job, on a desk of its own that the suite names. The table goes to stdout, each run to stderr. The exit status
is 0 if every case reaches the success that it requires.";

#[cfg(feature = "jobs")]
const TEST_EXAMPLES: &str = "\
Examples:
  os-screen-observer test tests/                                       every *.test.yaml and every trace below it
  os-screen-observer test login.test.yaml --junit report.xml --retries 1
  os-screen-observer test traces/trace-42f08b27 --scenario login.yaml  a recorded session, made again and compared

A test file says where it runs (scenario, program, start_url, site); a trace runs where --scenario, --sandbox or --browser
says. The exit status is 0 if every test passes, else 1. Of a test that fails the trace is kept in --artifacts, with its
page. docs/testing.md has the format.";

#[derive(Clone, Debug, Parser)]
#[command(
    name = "os-screen-observer",
    version,
    about = "Lets an AI agent see and operate a desktop over MCP.",
    after_help = EXAMPLES,
    // `--sandbox call …` names a command of ours, not a program.
    subcommand_precedence_over_arg = true
)]
pub struct Cli {
    #[command(flatten)]
    pub flags: Flags,
    #[command(subcommand)]
    pub command: Option<Command>,
}

impl Cli {
    /// The command line of this process; on a mistake, says so and ends it.
    pub fn from_process() -> Self {
        Self::try_from_words(std::env::args_os().collect()).unwrap_or_else(|problem| problem.exit())
    }

    /// With `--sandbox`, what follows `--` is the program's and not ours, whichever command it stands behind.
    pub fn try_from_words(mut words: Vec<OsString>) -> Result<Self, clap::Error> {
        let tail = match words.iter().position(|word| word == "--") {
            Some(at) if words[..at].iter().any(is_sandbox_flag) => words.split_off(at),
            _ => Vec::new(),
        };
        let words = with_values_attached(with_plain_switches(words));
        let mut command = command_line();
        let mut matches = command.try_get_matches_from_mut(words)?;
        let mut cli = Self::from_arg_matches_mut(&mut matches).map_err(|error| error.format(&mut command))?;
        for word in tail.into_iter().skip(1) {
            let text = word.into_string().map_err(|word| {
                let message = format!("{word:?} after -- is not UTF-8");
                Cli::command().error(clap::error::ErrorKind::InvalidUtf8, message)
            })?;
            cli.flags.sandbox_arguments.push(text);
        }
        Ok(cli)
    }
}

#[cfg(feature = "jobs")]
impl Cli {
    /// Whether `.env` of the working folder counts.
    pub fn reads_dotenv(&self) -> bool {
        self.flags.screenjob
            || match &self.command {
                Some(Command::Server | Command::Screenjob(_)) => true,
                Some(Command::Worker(options)) => options.with_dotenv,
                _ => false,
            }
    }
}

#[cfg(not(feature = "jobs"))]
impl Cli {
    /// Whether `.env` of the working folder counts.
    pub fn reads_dotenv(&self) -> bool {
        self.flags.screenjob
    }
}

/// The words of a server's command line as its workers have them. The command `server` is what reads `.env`.
#[cfg(feature = "jobs")]
pub fn words_for_workers(words: Vec<OsString>) -> Vec<OsString> {
    let mut words = with_values_attached(words);
    let ours = words.iter().position(|word| word == "--").unwrap_or(words.len());
    let names_desk = words[..ours].iter().any(is_desk_flag);
    let command = words[..ours].iter().position(|word| *word == "server" || *word == "web-task");
    match command {
        Some(at) if words[at] == "server" => words[at] = "--with-dotenv".into(),
        // The desk that the server has then is also that of a job without one.
        Some(at) if !names_desk => words[at] = "--browser=about:blank".into(),
        Some(at) => _ = words.remove(at),
        None => {}
    }
    words
}

/// The commands with their own options in their help. The flags of the server hold for all of them, and are told once.
fn command_line() -> clap::Command {
    let command = Cli::command();
    let flags: Vec<clap::Arg> =
        command.get_arguments().filter(|flag| flag.is_global_set()).cloned().collect();
    command.mut_subcommands(|one| with_hidden_flags(one, &flags))
}

fn with_hidden_flags(command: clap::Command, flags: &[clap::Arg]) -> clap::Command {
    let told = command.get_after_help().map(|told| format!("{told}\n\n")).unwrap_or_default();
    let command = command.after_help(format!("{told}{MORE_FLAGS}"));
    let command = flags.iter().fold(command, |command, flag| command.arg(flag.clone().hide(true)));
    command.mut_subcommands(|one| with_hidden_flags(one, flags))
}

const MORE_FLAGS: &str = "The flags of `os-screen-observer --help` are accepted here too: --mock, --sandbox, --browser, --config, --log …";

/// `--log trace` as `--log=trace`: the value of a flag may be the name of a command, and is none where it follows the
/// flag. A program for `--sandbox` is optional, so there the command is meant.
fn with_values_attached(words: Vec<OsString>) -> Vec<OsString> {
    let command = Cli::command();
    let takes_value = |word: &OsString| {
        command.get_arguments().any(|flag| {
            let long = flag.get_long().map(|name| format!("--{name}"));
            let needs_value =
                flag.get_action().takes_values() && flag.get_num_args().is_none_or(|n| n.min_values() > 0);
            needs_value && long.is_some_and(|long| *word == *long)
        })
    };
    let is_command = |word: &OsString| command.get_subcommands().any(|one| *word == *one.get_name());
    let mut attached: Vec<OsString> = Vec::with_capacity(words.len());
    for word in words {
        match attached.last_mut().filter(|last| takes_value(last) && is_command(&word)) {
            Some(flag) => {
                flag.push("=");
                flag.push(word);
            }
            None => attached.push(word),
        }
    }
    attached
}

#[cfg(feature = "jobs")]
fn is_desk_flag(word: &OsString) -> bool {
    let flags = ["--mock", "--sandbox", "--browser", "--attach"];
    let name = word.to_str().map(|word| word.split('=').next().unwrap_or_default());
    name.is_some_and(|name| flags.contains(&name))
}

/// `--mock true` as `--mock`, and `--mock false` as nothing: a client that fills in a form of a registry writes switches
/// with a value.
fn with_plain_switches(words: Vec<OsString>) -> Vec<OsString> {
    let command = Cli::command();
    let is_switch = |name: &str| {
        let mut flags = command.get_arguments();
        flags.any(|flag| {
            matches!(flag.get_action(), clap::ArgAction::SetTrue) && flag.get_long() == Some(name)
        })
    };
    let switch_of = |word: &OsString| -> Option<(String, Option<bool>)> {
        let text = word.to_str()?.strip_prefix("--")?;
        let (name, value) = text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value)));
        let value = value.map(|value| value.parse::<bool>().ok());
        // Anything else behind the sign is a mistake, which the parser names.
        (is_switch(name) && value != Some(None)).then(|| (name.to_owned(), value.flatten()))
    };
    let mut plain = Vec::with_capacity(words.len());
    let mut words = words.into_iter().peekable();
    while let Some(word) = words.next() {
        let Some((name, attached)) = switch_of(&word) else {
            plain.push(word);
            continue;
        };
        let following = || words.next_if(|next| next == "true" || next == "false").map(|next| next == "true");
        if attached.or_else(following).unwrap_or(true) {
            plain.push(format!("--{name}").into());
        }
    }
    plain
}

fn is_sandbox_flag(word: &OsString) -> bool {
    word.to_str().is_some_and(|word| word == "--sandbox" || word.starts_with("--sandbox="))
}

#[derive(Clone, Debug, PartialEq, Subcommand)]
pub enum Command {
    /// Check what works on this machine and how to fix the rest
    Doctor {
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Connect an MCP client: add this server to its configuration, or print the entry
    #[command(after_help = SETUP_EXAMPLES)]
    Setup(SetupCommand),
    /// List the tools, or show one with its arguments and an example
    Tools {
        /// Only this tool
        name: Option<String>,
        #[arg(long, value_enum, default_value_t)]
        format: ToolsFormat,
    },
    /// List the models of the vision model server
    Models {
        /// Choose one for each empty slot and save the choice to the config file
        #[arg(long)]
        pick: bool,
        /// Pull this model with the command in vlm.ollama_runner
        #[arg(long, value_name = "MODEL", conflicts_with = "pick")]
        pull: Option<String>,
    },
    /// Call one tool once and print its reply
    #[command(after_help = CALL_EXAMPLES)]
    Call(CallCommand),
    /// Open the inspector of a running server, or print its address
    Watch {
        /// Only print the address
        #[arg(long)]
        print: bool,
    },
    /// Run a job: a planner works toward a goal, within limits, and every step is on record
    #[cfg(feature = "jobs")]
    #[command(after_help = RUN_EXAMPLES)]
    Run(RunOptions),
    /// Run a job as ScreenJob did: with the names of its tools, and what .env says
    #[cfg(feature = "jobs")]
    #[command(after_help = SCREENJOB_EXAMPLES)]
    Screenjob(ScreenjobOptions),
    /// Serve jobs over HTTP, with the page; and ScreenJob's API, if SCREENJOB_TOKEN is set here or in .env
    #[cfg(feature = "jobs")]
    #[command(after_help = SERVER_EXAMPLES)]
    Server,
    /// Serve web tasks: a start page and a goal in, JSON out; over MCP on stdio and over HTTP, with the profile web
    #[cfg(feature = "jobs")]
    #[command(after_help = WEB_TASK_EXAMPLES)]
    WebTask,
    /// List and show jobs; pause, resume and cancel them
    #[cfg(feature = "jobs")]
    Jobs {
        #[command(subcommand)]
        what: JobsCommand,
    },
    /// List, learn and try recipes: what is known of a site, and runs without a model
    #[cfg(feature = "jobs")]
    Recipe {
        #[command(subcommand)]
        what: RecipeCommand,
    },
    /// Run the jobs that wait in the store, one after the other, on a desk of this process; a server starts its own
    #[cfg(feature = "jobs")]
    #[command(after_help = WORKER_EXAMPLES)]
    Worker(WorkerOptions),
    /// Run the cases of a suite several times: how often each succeeds, and what that costs
    #[cfg(feature = "jobs")]
    #[command(after_help = EVAL_EXAMPLES)]
    Eval(EvalCommand),
    /// Run test files and recorded traces, and report each step
    #[cfg(feature = "jobs")]
    #[command(after_help = TEST_EXAMPLES)]
    Test(TestCommand),
    /// Internal: OCR in a separate process
    #[command(hide = true)]
    OcrWorker,
    /// Internal: holds and ends a private desktop
    #[command(hide = true)]
    SandboxKeeper,
    /// Internal: starts the isolated programs of a private desktop
    #[command(hide = true)]
    SandboxInside,
    /// Internal: runs a command and ends what it started
    #[command(hide = true)]
    ExecKeeper,
    /// Show or export a recorded trace
    Trace {
        #[command(subcommand)]
        what: TraceCommand,
    },
    /// Log in with a browser profile, list profiles, or remove one
    Profile {
        #[command(subcommand)]
        what: ProfileCommand,
    },
    /// Make scenarios from traces, and check scenarios
    Scenario {
        #[command(subcommand)]
        what: ScenarioCommand,
    },
}

#[derive(Clone, Debug, PartialEq, Eq, clap::Args)]
pub struct CallCommand {
    /// Name of the tool
    pub tool: String,
    /// Its arguments as a JSON object, or - to read them from stdin
    #[arg(value_name = "JSON", default_value = "{}")]
    pub arguments: String,
    /// Print the reply as JSON, also at a terminal
    #[arg(long)]
    pub json: bool,
    /// Write the picture of the reply to this file
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

#[derive(Clone, Debug, PartialEq, Eq, clap::Args)]
pub struct SetupCommand {
    /// claude-desktop, claude-code, cursor, vscode, codex, gemini, windsurf, or print
    #[arg(value_name = "CLIENT")]
    pub client: Option<String>,
    /// Remove the entry again
    #[arg(long)]
    pub undo: bool,
    /// The client gets the desktop that you are looking at
    #[arg(long, conflicts_with_all = ["mock", "scenario", "sandbox", "browser"])]
    pub own_desktop: bool,
}

#[cfg(feature = "jobs")]
#[derive(Clone, Debug, PartialEq, Subcommand)]
pub enum RecipeCommand {
    /// List the recipes, and files that cannot be used
    List {
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Show a recipe
    Show {
        id: String,
        /// The healed version that has not proved itself
        #[arg(long)]
        candidate: bool,
    },
    /// Run a recipe once, as a job
    Test(RecipeTest),
    /// Let the healed version of a recipe be the recipe
    Accept { id: String },
    /// Make a recipe of a job that succeeded and was recorded
    Learn {
        /// Id of the job, or the beginning of it
        job: String,
        /// Id of the recipe [default: learned- and a part of the job's id]
        #[arg(long)]
        id: Option<String>,
        /// Replace the recipe of this id
        #[arg(long)]
        replace: bool,
    },
}

#[cfg(feature = "jobs")]
#[derive(Clone, Debug, Default, PartialEq, clap::Args)]
pub struct RecipeTest {
    pub id: String,
    /// An input of the recipe; may be given again
    #[arg(long = "input", value_name = "NAME=VALUE")]
    pub inputs: Vec<String>,
    /// Print events and the end as lines of JSON
    #[arg(long)]
    pub json: bool,
}

#[cfg(feature = "jobs")]
impl RecipeTest {
    /// The job that it is.
    pub fn into_run(self) -> RunOptions {
        RunOptions {
            job: format!("run the recipe {}", self.id),
            planner: format!("recipe:{}", self.id),
            inputs: self.inputs,
            json: self.json,
            ..RunOptions::default()
        }
    }
}

#[cfg(feature = "jobs")]
#[derive(Clone, Debug, Default, PartialEq, clap::Args)]
pub struct RunOptions {
    /// What is to be done, in words
    pub job: String,
    /// Who plans the steps: auto, chat, responses, anthropic, opencode, cli, recipe:ID, scripted:FILE, or
    /// scripted:demo, which works the mock desktop
    #[arg(long, value_name = "PLANNER")]
    pub planner: String,
    /// The model, instead of planner.model
    #[arg(long, value_name = "MODEL")]
    pub model: Option<String>,
    /// A tool or a group of tools that the job may not use; may be given again
    #[arg(long = "disable-tool", value_name = "NAME")]
    pub disabled_tools: Vec<String>,
    /// Run it without the safety check, where the config allows that (planner.safety_override)
    #[arg(long)]
    pub skip_safety_check: bool,
    /// Turns of the planner [default: 80]
    #[arg(long, value_name = "N")]
    pub max_steps: Option<u64>,
    /// Seconds that the job may take [default: 1800]
    #[arg(long, value_name = "SECONDS")]
    pub timeout: Option<u64>,
    /// Inputs that the job may send
    #[arg(long, value_name = "N")]
    pub max_job_actions: Option<u64>,
    /// Dollars that the model may cost
    #[arg(long, value_name = "DOLLARS")]
    pub max_usd: Option<f64>,
    /// File with the JSON schema of the result
    #[arg(long, value_name = "FILE")]
    pub output_schema: Option<PathBuf>,
    /// What the job is about, by name, for the places of a recipe; may be given again. A number or true is one, everything
    /// else is a text
    #[arg(long = "input", value_name = "NAME=VALUE")]
    pub inputs: Vec<String>,
    /// Keep a trace of the job in the folder of its run
    #[arg(long)]
    pub record: bool,
    /// Print events and the end as lines of JSON
    #[arg(long)]
    pub json: bool,
}

#[cfg(feature = "jobs")]
#[derive(Clone, Debug, Default, PartialEq, Eq, clap::Args)]
pub struct EvalCommand {
    /// File of the suite
    pub suite: PathBuf,
    /// Who plans the steps: scripted, which plays the steps of each case, or a planner as for run
    #[arg(long, value_name = "PLANNER")]
    pub planner: String,
    /// The model, instead of planner.model
    #[arg(long, value_name = "MODEL")]
    pub model: Option<String>,
    /// How often each case is run
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub runs: u32,
    /// Only this case; may be given again
    #[arg(long = "case", value_name = "NAME")]
    pub cases: Vec<String>,
    /// Folder of the pages of MiniWoB++, instead of miniwob_pages in the suite
    #[arg(long, value_name = "FOLDER")]
    pub miniwob: Option<PathBuf>,
    /// Write every run and all figures to this file
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Write a test for each case to this file, as CI servers read them
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,
}

#[cfg(feature = "jobs")]
#[derive(Clone, Debug, PartialEq, Eq, clap::Args)]
pub struct TestCommand {
    /// Test files, recorded traces, or folders that are searched for both
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Write the results to this file as JUnit XML, as CI servers read them
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,
    /// Folder that keeps the traces of tests that fail, each with its page
    #[arg(long, value_name = "DIR", default_value = "test-results")]
    pub artifacts: PathBuf,
    /// How often a test that fails is run again
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=20))]
    pub retries: u32,
    /// Replace a recorded trace that differs with what happens now
    #[arg(long)]
    pub update: bool,
    /// Run on the desktop that you are looking at, where a test does not say otherwise
    #[arg(long)]
    pub own_desktop: bool,
}

/// The flags of ScreenJob.
#[cfg(feature = "jobs")]
#[derive(Clone, Debug, Default, PartialEq, clap::Args)]
pub struct ScreenjobOptions {
    /// What is to be done, in words
    pub job: String,
    /// The model [default: SCREENJOB_DEFAULT_MODEL, or planner.model]
    #[arg(long, value_name = "MODEL")]
    pub model: Option<String>,
    /// A tool that the job may not use, by ScreenJob's name or ours; may be given again
    #[arg(long = "disable-tool", value_name = "NAME")]
    pub disabled_tools: Vec<String>,
    /// Run it without the safety check, where the config allows that (planner.safety_override)
    #[arg(long)]
    pub skip_safety_check: bool,
    /// Turns of the planner [default: 80]
    #[arg(long, value_name = "N")]
    pub max_steps: Option<u64>,
    /// Who plans the steps, as for run
    #[arg(long, value_name = "PLANNER", default_value = "chat:screenjob")]
    pub planner: String,
    /// Print events and the end as lines of JSON
    #[arg(long)]
    pub json: bool,
}

#[cfg(feature = "jobs")]
impl ScreenjobOptions {
    /// `default_model` is what ScreenJob's variable names.
    pub fn into_run(self, default_model: Option<String>) -> RunOptions {
        RunOptions {
            job: self.job,
            planner: self.planner,
            model: self.model.or(default_model),
            disabled_tools: self.disabled_tools,
            skip_safety_check: self.skip_safety_check,
            max_steps: self.max_steps,
            json: self.json,
            ..RunOptions::default()
        }
    }
}

#[cfg(feature = "jobs")]
#[derive(Clone, Debug, Default, PartialEq, Eq, clap::Args)]
pub struct WorkerOptions {
    /// Ends after one job
    #[arg(long)]
    pub once: bool,
    /// What the server calls it; such a worker ends with its stdin, and when there is nothing to do
    #[arg(long, hide = true)]
    pub id: Option<String>,
    /// The server whose jobs it takes
    #[arg(long, hide = true)]
    pub server: Option<String>,
    /// The only job that it runs, on the desk that the job asks for
    #[arg(long, hide = true)]
    pub job: Option<String>,
    /// Reads .env, as its server does
    #[arg(long, hide = true)]
    pub with_dotenv: bool,
}

#[cfg(feature = "jobs")]
#[derive(Clone, Debug, PartialEq, Eq, Subcommand)]
pub enum JobsCommand {
    /// List jobs, the newest first
    List {
        /// Only jobs with this status
        #[arg(long)]
        status: Option<String>,
        #[arg(long, default_value_t = 20)]
        limit: usize,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Show a job with its events
    Show {
        /// Id of the job, or the beginning of it
        id: String,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Pause a job before its next input
    Pause {
        /// Id of the job, or the beginning of it
        id: String,
    },
    /// Let a job go on that is paused or taken over
    Resume {
        /// Id of the job, or the beginning of it
        id: String,
    },
    /// Take the desktop of a job over; it neither acts nor looks until it is resumed
    Takeover {
        /// Id of the job, or the beginning of it
        id: String,
    },
    /// Answer what a job asks
    Answer {
        /// Id of the question, from `jobs show`
        question: String,
        #[arg(value_enum)]
        answer: PersonAnswer,
    },
    /// Cancel a job; nothing is sent for it after that
    Cancel {
        /// Id of the job, or the beginning of it
        id: String,
    },
}

#[cfg(feature = "jobs")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PersonAnswer {
    Allow,
    Deny,
}

#[derive(Clone, Debug, PartialEq, Eq, Subcommand)]
pub enum TraceCommand {
    /// Print the steps of a trace
    Show {
        /// Folder of the trace, or its trace.jsonl
        path: PathBuf,
        /// Only this step, in full, with what it changed
        #[arg(long, value_name = "N")]
        step: Option<u64>,
    },
    /// Write a trace as one page for a browser
    Export {
        /// Folder of the trace, or its trace.jsonl
        path: PathBuf,
        /// As an HTML page; the only format there is
        #[arg(long, required = true)]
        html: bool,
        /// Write to this file instead of standard output
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
}

#[derive(Clone, Debug, PartialEq, Eq, Subcommand)]
pub enum ProfileCommand {
    /// Open a browser window with the profile, for you to log in; what you log in to stays in it
    Login {
        name: String,
        /// The page to begin with
        #[arg(default_value = "about:blank")]
        url: String,
    },
    /// List the profiles
    List,
    /// Remove a profile with its cookies and logins
    Clear { name: String },
}

#[derive(Clone, Debug, PartialEq, Eq, Subcommand)]
pub enum ScenarioCommand {
    /// Turn a trace into a scenario that replays the session
    Record {
        /// Folder of the trace, or its trace.jsonl
        path: PathBuf,
        /// Write to this file instead of standard output
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Check scenario files, and report errors with line and reason
    Check {
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
    },
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ToolsFormat {
    #[default]
    Table,
    Json,
    /// Function schemas as OpenAI's API takes them
    Openai,
    Markdown,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{LogLevel, Mode, Profile};

    fn parse(line: &str) -> Result<Cli, clap::Error> {
        let words = std::iter::once("os-screen-observer").chain(line.split_whitespace());
        Cli::try_from_words(words.map(OsString::from).collect())
    }

    fn check(line: &str, expected: Flags) {
        assert_eq!(parse(line).expect(line).flags, expected, "{line}");
    }

    fn check_refused(line: &str, expected: &str) {
        let complaint = parse(line).expect_err(line).to_string();
        assert!(complaint.contains(expected), "{line}: {complaint}");
    }

    #[test]
    fn the_definition_is_sound() {
        Cli::command().debug_assert();
        command_line().debug_assert();
    }

    #[test]
    fn the_help_of_a_command_has_its_own_options() {
        let help = parse("call --help").expect_err("it is help").to_string();
        assert!(help.contains("--out <FILE>") && help.contains("--mock, --sandbox"), "{help}");
        assert!(!help.contains("--max-actions") && !help.contains("--steered-clock"), "{help}");
    }

    #[test]
    fn nothing_given_means_the_defaults() {
        check("", Flags::default());
        assert_eq!(parse("").unwrap().command, None);
    }

    #[test]
    fn each_flag_is_read() {
        check("--mode inspect", Flags { mode: Mode::Inspect, ..Flags::default() });
        check("--config c.json", Flags { config: Some("c.json".into()), ..Flags::default() });
        check("--mock --steered-clock", Flags { mock: true, steered_clock: true, ..Flags::default() });
        check("--scenario s.yaml", Flags { scenario: Some("s.yaml".into()), ..Flags::default() });
        check("--host ::1 --port 1", Flags { host: Some("::1".into()), port: Some(1), ..Flags::default() });
        check("--profile observe", Flags { profile: Profile::Observe, ..Flags::default() });
        check("--log WARN", Flags { log: Some(LogLevel::Warning), ..Flags::default() });
        check("--max-actions 0", Flags { max_actions: Some(0), ..Flags::default() });
        check("--max-screenshots 3", Flags { max_screenshots: Some(3), ..Flags::default() });
        check("--max-vlm-tokens 3", Flags { max_vlm_tokens: Some(3), ..Flags::default() });
        check("--max-session-seconds 3", Flags { max_session_seconds: Some(3), ..Flags::default() });
        check("--actions-per-minute 3", Flags { actions_per_minute: Some(3), ..Flags::default() });
    }

    /// H-128 on code: a value that is also the name of a command is the value.
    #[test]
    fn a_value_may_be_the_name_of_a_command() {
        check("--log trace", Flags { log: Some(LogLevel::Trace), ..Flags::default() });
        check("--log=trace", Flags { log: Some(LogLevel::Trace), ..Flags::default() });
        check("--config tools", Flags { config: Some("tools".into()), ..Flags::default() });
        let both = parse("--log trace trace show t").unwrap();
        assert_eq!(both.flags.log, Some(LogLevel::Trace));
        assert!(matches!(both.command, Some(Command::Trace { .. })));
        check_refused("--log doctor", "invalid value 'doctor'");
    }

    #[test]
    fn a_switch_may_have_a_value() {
        let mock = || Flags { mock: true, ..Flags::default() };
        check("--mock true", mock());
        check("--mock=true", mock());
        check("--mock false", Flags::default());
        check("--mock=false", Flags::default());
        check("--mock true --mode mcp", Flags { mode: Mode::Mcp, ..mock() });
        check("call look --mock {}", mock());
        check("call --mock look", mock());
        check("--clickthrough true --mock", Flags { clickthrough: true, ..mock() });
        check_refused("--mock=yes", "--mock");
    }

    #[test]
    fn a_scenario_is_an_error_beside_another_desktop() {
        for other in ["--sandbox", "--sandbox xterm", "--browser", "--attach 9222"] {
            check_refused(&format!("--scenario s.yaml {other}"), "cannot be used with");
        }
    }

    #[test]
    fn tool_changes_may_start_with_a_minus_but_are_no_flag() {
        check(
            "--tools -type_text,+trace",
            Flags { tools: Some("-type_text,+trace".into()), ..Flags::default() },
        );
        check_refused("--tools --mock", "expected changes like");
    }

    #[test]
    fn flags_stand_before_or_after_a_command() {
        let expected = Flags { mock: true, mode: Mode::Mcp, max_actions: Some(2), ..Flags::default() };
        check("--mock --mode mcp --max-actions 2 doctor", expected.clone());
        check("doctor --mock --mode mcp --max-actions 2", expected.clone());
        check("--mock call list_windows {} --mode mcp --max-actions 2", expected);
    }

    fn check_sandbox(line: &str, command: &[&str], ours: bool) {
        let cli = parse(line).expect(line);
        let command: Vec<String> = command.iter().map(ToString::to_string).collect();
        assert_eq!(cli.flags.sandbox_command(), Some(command), "{line}");
        assert_eq!(cli.command.is_some(), ours, "{line}");
    }

    #[test]
    fn a_private_desktop_takes_a_program_or_none() {
        check_sandbox("--sandbox", &[], false);
        check_sandbox("--sandbox gnome-calculator", &["gnome-calculator"], false);
        check_sandbox("--sandbox=xterm --mode mcp", &["xterm"], false);
        check_sandbox("--sandbox --mode mcp", &[], false);
        check_sandbox("--mode mcp --sandbox xterm --sandbox-size 800x600", &["xterm"], false);
        check_sandbox("--sandbox -- xterm -e top --mode", &["xterm", "-e", "top", "--mode"], false);
        check_sandbox("--sandbox xterm -- -e top", &["xterm", "-e", "top"], false);
        check_sandbox("--sandbox call list_windows", &[], true);
        check_sandbox("--sandbox xterm call list_windows", &["xterm"], true);
        check_sandbox("call list_windows --sandbox", &[], true);
        check_sandbox("call list_windows {} --sandbox xterm", &["xterm"], true);
        check_sandbox("call list_windows --sandbox -- zenity --info", &["zenity", "--info"], true);
        assert_eq!(parse("--mode mcp").unwrap().flags.sandbox_command(), None);
        check_refused("--mock --sandbox", "cannot be used with");
        check_refused("--mode mcp -- xterm", "unrecognized subcommand 'xterm'");
    }

    #[test]
    fn commands_are_read() {
        let command = |line: &str| parse(line).expect(line).command.expect(line);
        assert_eq!(command("doctor --json"), Command::Doctor { json: true });
        let tools = |name: Option<&str>, format| Command::Tools { name: name.map(str::to_owned), format };
        assert_eq!(command("tools"), tools(None, ToolsFormat::Table));
        assert_eq!(command("tools look"), tools(Some("look"), ToolsFormat::Table));
        assert_eq!(command("tools --format openai"), tools(None, ToolsFormat::Openai));
        assert_eq!(command("models"), Command::Models { pick: false, pull: None });
        assert_eq!(command("models --pick"), Command::Models { pick: true, pull: None });
        let pull = Some("llava:7b".to_owned());
        assert_eq!(command("models --pull llava:7b"), Command::Models { pick: false, pull });
        let call = |arguments: &str| {
            let (tool, arguments) = ("click_at".into(), arguments.into());
            Command::Call(CallCommand { tool, arguments, json: false, out: None })
        };
        assert_eq!(command("call click_at"), call("{}"));
        assert_eq!(command("call click_at -"), call("-"));
        assert_eq!(command(r#"call click_at {"x":1}"#), call(r#"{"x":1}"#));
        let show = |step| TraceCommand::Show { path: "t".into(), step };
        assert_eq!(command("trace show t"), Command::Trace { what: show(None) });
        assert_eq!(command("trace show t --step 3"), Command::Trace { what: show(Some(3)) });
        let export = TraceCommand::Export { path: "t".into(), html: true, output: Some("o".into()) };
        assert_eq!(command("trace export t --html -o o"), Command::Trace { what: export });
        let record = ScenarioCommand::Record { path: "t".into(), output: None };
        assert_eq!(command("scenario record t"), Command::Scenario { what: record });
        let check = ScenarioCommand::Check { files: vec!["a".into(), "b".into()] };
        assert_eq!(command("scenario check a b"), Command::Scenario { what: check });
    }

    #[cfg(feature = "jobs")]
    #[test]
    fn tests_take_paths_and_a_desk() {
        let read = |line: &str| match parse(line).expect(line) {
            Cli { flags, command: Some(Command::Test(command)) } => (flags, command),
            other => panic!("{other:?}"),
        };
        let (flags, command) = read("test a b.test.yaml --retries 2 --sandbox xterm --junit r.xml");
        assert_eq!(command.paths, [PathBuf::from("a"), PathBuf::from("b.test.yaml")]);
        assert_eq!((command.retries, command.junit), (2, Some("r.xml".into())));
        assert_eq!(flags.sandbox_command(), Some(vec!["xterm".to_owned()]));
        assert_eq!(read("test a").1.artifacts, PathBuf::from("test-results"));
        check_refused("test", "<PATH>...");
        check_refused("test a --retries 21", "21 is not in 0..=20");
    }

    #[cfg(feature = "jobs")]
    #[test]
    fn workers_have_the_words_of_their_server_but_the_command() {
        let check = |line: &str, expected: &str| {
            let words = words_for_workers(line.split_whitespace().map(OsString::from).collect());
            let expected: Vec<OsString> = expected.split_whitespace().map(OsString::from).collect();
            assert_eq!(words, expected, "{line}");
        };
        check("server --mock", "--with-dotenv --mock");
        check("--mock server --port 1", "--mock --with-dotenv --port 1");
        check("--config server server", "--config=server --with-dotenv");
        check("--mode inspect --mock", "--mode inspect --mock");
        check("web-task --mode mcp", "--browser=about:blank --mode mcp");
        check("web-task --mock", "--mock");
        check("--browser=http://a.example web-task", "--browser=http://a.example");
        check("server --sandbox xterm -- -e server", "--with-dotenv --sandbox xterm -- -e server");
    }

    #[cfg(feature = "jobs")]
    #[test]
    fn a_job_of_screenjob_is_a_job() {
        let Some(Command::Screenjob(options)) =
            parse("screenjob goal --disable-tool click --max-steps 3").unwrap().command
        else {
            panic!("another command");
        };
        let run = options.into_run(Some("m".to_owned()));
        assert_eq!(
            (run.planner.as_str(), run.model.as_deref(), run.max_steps),
            ("chat:screenjob", Some("m"), Some(3))
        );
        assert_eq!(run.disabled_tools, ["click"]);
    }

    #[test]
    fn wrong_values_are_refused_by_name() {
        check_refused("--max-actions -1", "invalid value '-1' for '--max-actions <N>'");
        check_refused("--max-actions 1.5", "invalid value '1.5'");
        check_refused("--port 65536", "65536 is not in 0..=65535");
        check_refused("--mode web", "[possible values: auto, mcp, inspect, both]");
        check_refused("--mod mcp", "--mode");
        check_refused("call", "<TOOL>");
        check_refused("docter", "doctor");
        check_refused("trace export t", "--html");
        check_refused("scenario check", "<FILE>...");
    }

    #[test]
    fn auto_depends_on_the_terminal() {
        assert_eq!(Mode::Auto.decided(true), Mode::Inspect);
        assert_eq!(Mode::Auto.decided(false), Mode::Both);
        assert_eq!(Mode::Mcp.decided(true), Mode::Mcp);
    }

    #[test]
    fn help_reads_well() {
        insta::assert_snapshot!(Cli::command().render_help().to_string());
    }
}
