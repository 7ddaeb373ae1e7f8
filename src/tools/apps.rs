//! Programs: which there are, and starting one.

use std::path::PathBuf;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::common::seen_after;
use super::window_action::WindowQueryArgs;
use crate::config::limits;
use crate::error::{Error, Result};
use crate::model::Window;
use crate::model::app::{Launch, ProgramEnd};
use crate::observer::WindowWait;
use crate::tool::args::{Int, Text};
use crate::tool::{Cx, Effect, Example, Group, Meta, Method, Output, Permit, Spec, Starting, Target, Tool};

pub struct ListApps;

#[derive(Debug, Deserialize, JsonSchema)]
pub struct ListAppsArgs {
    /// Part of a name or id.
    filter: Option<Text<128>>,
    #[schemars(extend("x-hidden" = true))]
    limit: Option<Int<1, 2000>>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct AppList {
    running: Vec<Running>,
    installed: Vec<Installed>,
    /// How many more are installed that fit.
    not_listed: usize,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct Running {
    name: String,
    pid: u32,
    windows: Vec<RunningWindow>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct RunningWindow {
    window_uid: String,
    title: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct Installed {
    id: String,
    name: String,
    program: String,
}

impl Output for AppList {}

impl Tool for ListApps {
    type Args = ListAppsArgs;
    type Out = AppList;
    const META: Meta = Meta {
        name: "list_apps",
        group: Group::Programs,
        needs_programs: true,
        untrusted: true,
        fits: true,
        rest: &[(Method::Get, "/api/apps")],
        brief: "Programs with windows, and installed ones by the id that launch_app takes.",
        detail: "`running` has a row for each process with windows; `installed` lists what the desktop's \
                 menu offers (on Linux its .desktop files, without those that need a terminal), by name, at \
                 most `limit` (100) rows. `filter` is a part of a name, id or program, case-insensitive.",
        examples: &[
            Example { scenario: None, args: "{}", shows: "three programs are running, none is installed" },
            Example {
                scenario: Some("scenarios/apps.yaml"),
                args: r#"{"filter":"calc"}"#,
                shows: "the scenario's calculator",
            },
        ],
        ..Meta::DEFAULT
    };

    fn run(cx: &mut Cx, args: ListAppsArgs, _: Permit) -> Result<AppList> {
        let wanted = args.filter.map_or(String::new(), |text| text.as_str().to_lowercase());
        let fits = |text: &str| text.to_lowercase().contains(&wanted);
        let mut running = running_programs(cx.observer().windows()?);
        running.retain(|app| fits(&app.name) || app.windows.iter().any(|window| fits(&window.title)));
        let apps = cx.observer().installed()?;
        let mut installed: Vec<Installed> = apps
            .into_iter()
            .filter(|app| fits(&app.id) || fits(&app.name) || fits(app.program()))
            .map(|app| Installed { program: app.program().to_owned(), id: app.id, name: app.name })
            .collect();
        let most = args.limit.map_or(100, Int::as_usize);
        let not_listed = installed.len().saturating_sub(most);
        installed.truncate(most);
        Ok(AppList { running, installed, not_listed })
    }
}

/// A row for each process, in the order of its first window.
fn running_programs(windows: Vec<Window>) -> Vec<Running> {
    let mut apps: Vec<Running> = Vec::new();
    for window in windows {
        let shown = RunningWindow { window_uid: window.uid, title: window.title };
        match apps.iter_mut().find(|app| app.pid == window.pid && app.name == window.process) {
            Some(app) => app.windows.push(shown),
            None => apps.push(Running { name: window.process, pid: window.pid, windows: vec![shown] }),
        }
    }
    apps
}

pub struct LaunchApp;

#[derive(Debug, Deserialize, JsonSchema)]
pub struct LaunchArgs {
    /// App id or program.
    program: Text<{ limits::LAUNCH_PROGRAM_CHARACTERS }>,
    /// As they are; no shell.
    #[serde(default)]
    #[schemars(length(max = limits::LAUNCH_ARGUMENTS))]
    args: Vec<Text<{ limits::LAUNCH_ARGUMENT_CHARACTERS }>>,
    #[schemars(extend("x-hidden" = true))]
    cwd: Option<Text<4096>>,
    /// Default true.
    wait_for_window: Option<bool>,
    /// Which window.
    #[serde(rename = "match")]
    #[schemars(extend("x-hidden" = true))]
    matching: Option<WindowQueryArgs>,
    #[schemars(extend("x-hidden" = true))]
    timeout_ms: Option<Int<0, 120000>>,
}

impl LaunchArgs {
    /// A text that the system would cut, or refuse in the middle of the work, is refused here.
    fn check(&self) -> Result<()> {
        let mut texts = vec![("program", self.program.as_str())];
        texts.extend(self.args.iter().map(|arg| ("args", arg.as_str())));
        texts.extend(self.cwd.iter().map(|cwd| ("cwd", cwd.as_str())));
        match texts.into_iter().find(|(_, text)| text.contains('\0')) {
            Some((field, _)) => {
                Err(Error::bad_request(format!("argument '{field}' contains a zero byte"))
                    .with("field", field))
            }
            None => self.working_folder().map(|_| ()),
        }
    }

    fn working_folder(&self) -> Result<Option<PathBuf>> {
        let Some(cwd) = &self.cwd else { return Ok(None) };
        let folder = PathBuf::from(cwd.as_str());
        if folder.is_absolute() && folder.is_dir() {
            return Ok(Some(folder));
        }
        Err(Error::bad_request(format!(
            "argument 'cwd': '{}' is not a folder (give an absolute path)",
            cwd.as_str()
        ))
        .with("field", "cwd"))
    }

    fn timeout(&self, default: Duration) -> Duration {
        self.timeout_ms.map_or(default, |millis| Duration::from_millis(millis.as_usize() as u64))
    }

    fn window_wait(&self, launch: &Launch, before: Vec<Window>, pid: u32) -> Result<WindowWait> {
        let query = self.matching.as_ref().map(WindowQueryArgs::window_query).transpose()?;
        Ok(WindowWait {
            query: query.unwrap_or_default(),
            program: launch.file_name().to_owned(),
            before,
            timeout: self.timeout(WINDOW_TIME),
            starting_timeout: self.timeout(STARTING_TIME),
            pid,
        })
    }

    fn program_target(&self, cx: &Cx) -> Result<Target> {
        self.check()?;
        let program = cx.observer().find_program(self.program.as_str())?;
        let mut command = program.command;
        command.extend(self.args.iter().map(|arg| arg.as_str().to_owned()));
        let written = self.program.as_str().to_owned();
        let similar = if program.installed { Vec::new() } else { cx.observer().similar_apps(&written)? };
        let starting = Starting { program: written, installed: program.installed, similar, command };
        Ok(Target::Program(program.name, starting))
    }
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct Launched {
    executed: bool,
    argv: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cwd: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pid: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    running: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    window_found: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    window: Option<LaunchedWindow>,
    /// The window still changes, or only a splash screen shows.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(default)]
    loading: bool,
    /// The window was open before: a program that was running took the work over.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(default)]
    reused: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'static str>,
    /// Where its files go, on a private desktop.
    #[serde(skip_serializing_if = "Option::is_none")]
    where_files_go: Option<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(default)]
    dry_run: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct LaunchedWindow {
    window_uid: String,
    title: String,
    process: String,
    pid: u32,
    /// Whether keys go to it.
    focused: bool,
}

const UNFOCUSED: &str = "the window does not have the focus; window_action focus gives it";

/// How long a window is waited for, and how long while the program runs without one: a cold LibreOffice takes ten seconds.
const WINDOW_TIME: Duration = Duration::from_secs(5);
const STARTING_TIME: Duration = Duration::from_secs(15);

impl From<Window> for LaunchedWindow {
    fn from(window: Window) -> Self {
        let Window { uid, title, process, pid, focused, .. } = window;
        Self { window_uid: uid, title, process, pid, focused }
    }
}

impl Output for Launched {}

impl Launched {
    /// What a caller would take for granted and is not so.
    fn what_is_missing(&self) -> Option<&'static str> {
        match &self.window {
            Some(window) if !window.focused => Some(UNFOCUSED),
            _ => None,
        }
    }
}

impl Tool for LaunchApp {
    type Args = LaunchArgs;
    type Out = Launched;
    const META: Meta = Meta {
        name: "launch_app",
        group: Group::Programs,
        needs_programs: true,
        lean: true,
        effect: Effect::System,
        untrusted: true,
        rest: &[(Method::Post, "/api/launch")],
        brief: "Start a program and return its window.",
        detail: "`program` is an id from list_apps, a program on PATH or an absolute path; the config key \
                 `launch.programs` says which may be started, by default the installed apps. The arguments \
                 are passed without a shell. `cwd` is a folder. It waits up to `timeout_ms` (5000, or \
                 15000 while the program runs without a window; at most 120000) for a new window, or with `match` {title, title_regex, process} for a matching one \
                 that is new or came to the front, and until the window has settled; splash screens are \
                 skipped. A program that ends because it was running already shows its work in an open window: \
                 that one is answered, with `reused`. `loading` says that it is still changing, `window_found` \
                 whether there is one, and if not, `running` that the program still runs; one that ended without a \
                 window is an error, with its exit status and on a private desktop the end of its error output. An app's own \
                 arguments come before `args`. The program does not end with the server, \
                 except on a private desktop, where `where_files_go` says once which of its files are kept. On the mock desktop it shows a window of the scenario.",
        examples: &[Example {
            scenario: Some("scenarios/apps.yaml"),
            args: r#"{"program":"calculator"}"#,
            shows: "the scenario's calculator opens",
        }],
        verify: &["ok", "window_found", "error.code"],
        ..Meta::DEFAULT
    };

    fn targets(cx: &Cx, args: &LaunchArgs) -> Result<Vec<Target>> {
        if let Some(matching) = &args.matching {
            matching.window_query()?;
        }
        let target = args.program_target(cx)?;
        // A rule may be about what it is called on the desktop, about the caller's word, or about the file.
        let file = target.program().and_then(|starting| starting.command.first()).cloned();
        let names = [args.program.as_str()].into_iter().chain(file.as_deref());
        Ok(std::iter::once(target).chain(cx.judged_by_names(Target::ProgramName, names)).collect())
    }

    fn run(cx: &mut Cx, args: LaunchArgs, mut permit: Permit) -> Result<Launched> {
        let starting = permit.target().and_then(Target::program).cloned();
        let starting = starting.ok_or_else(|| Error::internal("the gate resolved no program"))?;
        let launch = Launch { command: starting.command, cwd: args.working_folder()? };
        let mut launched = Launched {
            executed: !permit.dry_run(),
            argv: launch.command.clone(),
            cwd: launch.cwd.as_ref().map(|cwd| cwd.display().to_string()),
            pid: None,
            running: None,
            window_found: None,
            window: None,
            loading: false,
            reused: false,
            note: None,
            where_files_go: cx
                .observer()
                .where_files_go()
                .filter(|_| !permit.dry_run() && cx.session().is_first_word_of_files(cx.origin.name())),
            dry_run: permit.dry_run(),
        };
        let own: Vec<&str> = launched.argv.iter().skip(1).map(String::as_str).collect();
        let own = &own[..own.len().saturating_sub(args.args.len())];
        if !own.is_empty() && args.args.iter().any(|arg| arg.as_str().starts_with('-')) {
            cx.warning = Some(format!("the app's own arguments come before yours: {}", own.join(" ")));
        }
        if permit.dry_run() {
            return Ok(launched);
        }
        let before = cx.desktop()?;
        let pid = cx.observer().launch_program(&mut permit, &launch, cx.cancel)?;
        launched.pid = Some(pid);
        if args.wait_for_window.unwrap_or(true) {
            let awaited = args.window_wait(&launch, before.windows().to_vec(), pid)?;
            let shown = cx.observer().await_window(&awaited, cx.cancel);
            if let Some(shown) = seen_after(cx, shown)? {
                launched.loading = shown.loading;
                launched.reused = shown.reused;
                launched.window = shown.window.map(LaunchedWindow::from);
                launched.window_found = Some(launched.window.is_some());
            }
        }
        if launched.window.is_none() {
            let is_running = cx.observer().is_running(pid);
            if !is_running && launched.window_found == Some(false) {
                return Err(ended_without_window(&launched.argv, cx.observer().program_end(pid)));
            }
            launched.running = Some(is_running);
        }
        launched.note = launched.what_is_missing();
        Ok(launched)
    }
}

/// Whoever goes on would work in another program's window.
fn ended_without_window(argv: &[String], end: Option<ProgramEnd>) -> Error {
    let program = argv.first().map_or("", String::as_str);
    let (status, last_words) = end.map(|end| (end.status, end.last_words)).unwrap_or_default();
    let status = if status.is_empty() { String::new() } else { format!(" ({status})") };
    let output = if last_words.is_empty() { String::new() } else { format!("; its output: {last_words}") };
    let message = format!(
        "'{program}' has ended{status} and no window came{output}; with wait_for_window false a program without a \
         window is started"
    );
    Error::bad_request(message).with("field", "program")
}

pub const TOOLS: &[Spec] = &[Spec::of::<ListApps>(), Spec::of::<LaunchApp>()];
