//! The parts of a private desktop, each started when the one before it answers.
//!
//! A program in it sees an environment that is written down here, not that of the server: no key, no agent and
//! no bus of the user's own session is in it.

use std::collections::BTreeMap;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::{Signal, set_parent_process_death_signal};
use x11rb::connection::Connection;
use x11rb::protocol::xproto::{AtomEnum, ConnectionExt};
use x11rb::rust_connection::{DefaultStream, RustConnection};

use super::cookie::{self, Cookie};
use super::inside::{Inside, InsidePid, StartOrder};
use super::isolation::Isolation;
use super::keeper::{LaunchedPrograms, SpawnGate};
use super::{KeeperWord, SandboxPlan, first_line};
use crate::clock::{Deadline, sleep_really, sleep_task};
use crate::config::{process_environment_os, process_variable};
use crate::machine::RealMachine;
use crate::machine::sandbox::accessibility_launcher;
use crate::platform::linux::session::DesktopSession;
use crate::spawn;

/// How long one part may take to answer; a loaded machine takes seconds.
const PART: Duration = Duration::from_secs(20);

/// How long the program may take to show its first window.
const PROGRAM: Duration = Duration::from_secs(30);

const PAUSE: Duration = Duration::from_millis(10);

/// What of the server's environment a program in the desktop gets too.
const PASSED_ON: &[&str] =
    &["PATH", "LANG", "LANGUAGE", "TZ", "USER", "LOGNAME", "SHELL", "LD_LIBRARY_PATH", "XDG_DATA_DIRS"];

/// Settings live in memory, and every toolkit is told to offer its elements.
const SET: &[(&str, &str)] = &[
    ("GSETTINGS_BACKEND", "memory"),
    ("GTK_A11Y", "atspi"),
    ("QT_ACCESSIBILITY", "1"),
    ("QT_LINUX_ACCESSIBILITY_ALWAYS_ON", "1"),
    ("QT_QPA_PLATFORM", "xcb"),
    ("GDK_BACKEND", "x11"),
    ("XDG_SESSION_TYPE", "x11"),
    ("MOZ_ENABLE_WAYLAND", "0"),
    ("ACCESSIBILITY_ENABLED", "1"),
    // There is no graphics card behind this display.
    ("GSK_RENDERER", "cairo"),
    ("LIBGL_ALWAYS_SOFTWARE", "1"),
];

/// Folders of the desktop's user, and the variable that names each.
const FOLDERS: &[(&str, &str)] = &[
    ("HOME", "home"),
    ("XDG_CONFIG_HOME", "home/.config"),
    ("XDG_CACHE_HOME", "home/.cache"),
    ("XDG_DATA_HOME", "home/.local/share"),
    ("XDG_STATE_HOME", "home/.local/state"),
    ("XDG_RUNTIME_DIR", "run"),
    ("TMPDIR", "tmp"),
];

/// A folder that only we can enter, for all that the desktop writes.
#[derive(Debug)]
pub struct SandboxFolder {
    pub path: PathBuf,
    /// Locked as long as the keeper lives, however it ends.
    _in_use: File,
}

const PREFIX: &str = "oso-sandbox-";
const IN_USE: &str = "in-use";

/// Whether a path is that of such a folder.
pub fn is_ours(folder: &Path) -> bool {
    folder.file_name().is_some_and(|name| name.to_string_lossy().starts_with(PREFIX))
}

/// Removes what keepers left behind that were killed. What belongs to others cannot be opened.
pub fn remove_abandoned() {
    let entries = std::fs::read_dir(temporary_folder()).into_iter().flatten().flatten();
    for folder in entries.map(|entry| entry.path()).filter(|path| is_ours(path)) {
        let abandoned = OpenOptions::new()
            .write(true)
            .open(folder.join(IN_USE))
            .is_ok_and(|file| file.try_lock().is_ok());
        if abandoned {
            // Another keeper that starts now may remove it first.
            let _ = std::fs::remove_dir_all(&folder);
        }
    }
}

impl SandboxFolder {
    pub fn new() -> Result<Self, String> {
        let mut name = [0; 8];
        getrandom::fill(&mut name).map_err(|problem| format!("no random numbers: {problem}"))?;
        let name = format!("{PREFIX}{:016x}", u64::from_ne_bytes(name));
        let path = temporary_folder().join(name);
        make_folder(&path)?;
        let in_use = lock_folder(&path)
            .map_err(|problem| format!("{} cannot be locked: {problem}", path.display()))?;
        let folder = Self { path, _in_use: in_use };
        for (_, below) in FOLDERS.iter().chain([&("", "log")]) {
            make_folder(&folder.path.join(below))?;
        }
        Ok(folder)
    }

    fn log(&self, name: &str) -> PathBuf {
        self.path.join("log").join(name)
    }
}

/// Locked before it has its name, so that nobody takes it for abandoned.
fn lock_folder(path: &Path) -> std::io::Result<File> {
    let unnamed = path.join("in-use.new");
    let file = File::create(&unnamed)?;
    file.lock()?;
    std::fs::rename(unnamed, path.join(IN_USE))?;
    Ok(file)
}

/// The path of a socket has room for about a hundred characters.
fn temporary_folder() -> PathBuf {
    let usual = std::env::temp_dir();
    if usual.as_os_str().len() <= 40 { usual } else { PathBuf::from("/tmp") }
}

fn make_folder(path: &Path) -> Result<(), String> {
    // Folders above the wanted ones are made on the way, with the same mode.
    let made =
        if path.exists() { Ok(()) } else { DirBuilder::new().mode(0o700).recursive(true).create(path) };
    made.map_err(|problem| format!("{} cannot be created: {problem}", path.display()))
}

/// A desktop that stands, as the keeper goes on with it.
#[derive(Debug)]
pub struct Standing {
    pub environment: BTreeMap<String, String>,
    /// Who starts programs, where they are isolated.
    pub inside: Option<Inside>,
    pub launched: LaunchedPrograms,
}

/// Starts all parts and the program; the word that it returns is for the server.
pub fn start(
    plan: &SandboxPlan,
    folder: &SandboxFolder,
    gate: &SpawnGate,
) -> Result<(KeeperWord, Standing), String> {
    let cookie = Cookie::new()?;
    let xauthority = folder.path.join("xauthority");
    cookie.write(&xauthority)?;
    let mut builder = Builder { folder, gate, environment: environment_in(folder), inside: None };
    builder.set("XAUTHORITY", xauthority.display());
    let display = builder.start_display(plan, &xauthority)?;
    let connection = connect(&display, &cookie)?;
    if let Some(isolation) = &plan.isolation {
        builder.start_inside(isolation, &display)?;
    }
    let bus = builder.start_bus()?;
    builder.start_accessibility(&bus)?;
    builder.start_window_manager(&connection)?;
    let remark = builder.start_program(&plan.command, &connection)?;
    let session = DesktopSession { display, xauthority, bus };
    let Builder { environment, inside, .. } = builder;
    let wall = inside.as_ref().map(|inside| inside.arguments.clone()).unwrap_or_default();
    let word = KeeperWord::Ready { session, environment: environment.clone(), remark, wall };
    Ok((word, Standing { environment, inside, launched: LaunchedPrograms::default() }))
}

fn environment_in(folder: &SandboxFolder) -> BTreeMap<String, String> {
    let kept = PASSED_ON
        .iter()
        .filter_map(|name| Some((name.to_string(), process_variable(name)?.into_string().ok()?)));
    let languages = process_environment_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .filter(|(name, _)| name.starts_with("LC_"));
    let set = SET.iter().map(|(name, value)| (name.to_string(), value.to_string()));
    let folders =
        FOLDERS.iter().map(|(name, below)| (name.to_string(), folder.path.join(below).display().to_string()));
    let mut environment: BTreeMap<String, String> = kept.chain(languages).chain(set).chain(folders).collect();
    if !environment.keys().any(|name| name == "LANG" || name == "LC_ALL" || name == "LC_CTYPE") {
        environment.insert("LANG".to_owned(), "C.UTF-8".to_owned());
    }
    environment
}

struct Builder<'a> {
    folder: &'a SandboxFolder,
    gate: &'a SpawnGate,
    environment: BTreeMap<String, String>,
    inside: Option<Inside>,
}

/// A part of the desktop that was started, here or inside the isolation.
enum Part {
    Here(Child),
    Inside(InsidePid),
}

/// What everything that runs inside the isolation prints.
const INSIDE_LOG: &str = "inside";

impl Builder<'_> {
    fn set(&mut self, name: &str, value: impl ToString) {
        self.environment.insert(name.to_owned(), value.to_string());
    }

    /// The server itself finds a free number and tells it on its output when it answers.
    fn start_display(&mut self, plan: &SandboxPlan, xauthority: &Path) -> Result<String, String> {
        let screen = format!("{}x24", plan.size);
        let arguments =
            ["-displayfd", "1", "-screen", "0", &screen, "-nolisten", "tcp", "-dpi", "96", "-noreset"];
        let mut command = self.command("Xvfb", &arguments);
        command.arg("-auth").arg(xauthority);
        let output = self.spawn_piped("Xvfb", &mut command, Signal::TERM)?;
        let number = output.ok_or_else(|| self.did_not_answer("Xvfb"))?;
        self.set("DISPLAY", format!(":{number}"));
        Ok(format!(":{number}"))
    }

    /// From here on, what the programs of the desktop can start or talk to is started inside. The display and the
    /// accessibility bus stay outside: they start nothing for anybody, and know each process by the number that we know.
    fn start_inside(&mut self, isolation: &Isolation, display: &str) -> Result<(), String> {
        let log = File::create(self.folder.log(INSIDE_LOG)).map_err(|problem| problem.to_string())?;
        let start = || Ok(Inside::start(isolation, &self.folder.path, &display_socket(display), log));
        self.inside = Some(self.gate.pass(start)??);
        Ok(())
    }

    fn start_bus(&mut self) -> Result<String, String> {
        let address = format!("unix:path={}", self.folder.path.join("run/bus").display());
        let listen = format!("--address={address}");
        let arguments = ["--session", "--nofork", "--nopidfile", "--print-address=1", &listen];
        // What the bus starts on demand belongs to this desktop as well.
        self.set("DBUS_SESSION_BUS_ADDRESS", &address);
        let output = match &self.inside {
            Some(inside) => {
                let order = StartOrder { says_ready: true, ..self.order("dbus-daemon", &arguments) };
                inside.start_program(order)?.1
            }
            None => {
                let mut command = self.command("dbus-daemon", &arguments);
                self.spawn_piped("dbus-daemon", &mut command, Signal::KILL)?
            }
        };
        output.ok_or_else(|| self.did_not_answer("dbus-daemon"))?;
        Ok(address)
    }

    /// Toolkits ask when they start whether anybody wants their elements, so this must come before them.
    fn start_accessibility(&mut self, bus: &str) -> Result<(), String> {
        const NAME: &str = "at-spi-bus-launcher";
        let path = accessibility_launcher(&RealMachine).ok_or("at-spi-bus-launcher is missing")?;
        let mut command = self.command(path, &["--launch-immediately", "--a11y=1", "--screen-reader=0"]);
        self.spawn(NAME, &mut command, Signal::TERM)?;
        switch_accessibility_on(bus).map_err(|reason| format!("{}: {reason}", self.did_not_answer(NAME)))
    }

    fn start_window_manager(&mut self, connection: &RustConnection) -> Result<(), String> {
        const NAME: &str = "openbox";
        let mut part = self.start_part(NAME, NAME, &["--sm-disable"])?;
        let deadline = Deadline::after(PART);
        while root_windows(connection, b"_NET_SUPPORTING_WM_CHECK").is_none_or(|windows| windows.is_empty()) {
            if deadline.is_over() || self.ended(&mut part).is_some() {
                return Err(self.did_not_answer(NAME));
            }
            sleep_really(PAUSE);
        }
        Ok(())
    }

    /// Returns when the program shows a window. One that fails first is an error; one that shows none in time,
    /// or has ended well, is remarked upon.
    fn start_program(&self, command: &[String], x: &RustConnection) -> Result<Option<String>, String> {
        let Some((program, arguments)) = command.split_first() else { return Ok(None) };
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let said_before = self.said("program");
        let mut part = self.start_part("program", program, &arguments)?;
        let deadline = Deadline::after(PROGRAM);
        while root_windows(x, b"_NET_CLIENT_LIST").is_none_or(|windows| windows.is_empty()) {
            if let Some(status) = self.ended(&mut part) {
                return self.program_ended(program, status, said_before);
            }
            if deadline.is_over() {
                return Ok(Some(format!("{program} shows no window after {} s", PROGRAM.as_secs())));
            }
            sleep_really(PAUSE);
        }
        Ok(None)
    }

    fn program_ended(
        &self,
        program: &str,
        status: ExitStatus,
        said_before: u64,
    ) -> Result<Option<String>, String> {
        if status.success() {
            return Ok(Some(format!("{program} ended before it showed a window")));
        }
        let last_words = last_words(&self.log_of("program"), said_before);
        Err(format!("{program} ended before it showed a window ({status}){last_words}"))
    }

    /// A part that belongs to the programs of the desktop.
    fn start_part(&self, name: &str, program: &str, arguments: &[&str]) -> Result<Part, String> {
        match &self.inside {
            Some(inside) => {
                let order = self.order(program, arguments);
                let (pid, _) = self.gate.pass(|| Ok(inside.start_program(order)))??;
                Ok(Part::Inside(pid))
            }
            None => self.spawn(name, &mut self.command(program, arguments), Signal::KILL).map(Part::Here),
        }
    }

    /// How a part ended, once it has.
    fn ended(&self, part: &mut Part) -> Option<ExitStatus> {
        match part {
            Part::Here(child) => child.try_wait().ok().flatten(),
            Part::Inside(pid) => self.inside.as_ref()?.ended(*pid).map(|(status, _)| status),
        }
    }

    fn order(&self, program: &str, arguments: &[&str]) -> StartOrder {
        StartOrder {
            words: std::iter::once(&program).chain(arguments).map(ToString::to_string).collect(),
            cwd: self.environment.get("HOME").map(PathBuf::from),
            environment: self.environment.clone(),
            says_ready: false,
            logged: true,
        }
    }

    /// Where a part's output is. Nothing that isolated programs can write is read, so they have one log together.
    fn log_of(&self, name: &str) -> PathBuf {
        let isolated = self.inside.is_some() && !matches!(name, "Xvfb" | "at-spi-bus-launcher");
        self.folder.log(if isolated { INSIDE_LOG } else { name })
    }

    /// How much was printed there so far.
    fn said(&self, name: &str) -> u64 {
        self.log_of(name).metadata().map_or(0, |facts| facts.len())
    }

    fn command(&self, program: &str, arguments: &[&str]) -> Command {
        let mut command = spawn::command(program);
        command.args(arguments).env_clear().envs(&self.environment).stdin(Stdio::null());
        if let Some(home) = self.environment.get("HOME") {
            command.current_dir(home);
        }
        command
    }

    fn spawn(&self, name: &str, command: &mut Command, at_our_death: Signal) -> Result<Child, String> {
        let log = File::create(self.folder.log(name)).map_err(|problem| problem.to_string())?;
        let output = log.try_clone().map_err(|problem| problem.to_string())?;
        command.stdout(output).stderr(log);
        end_with_us(command, at_our_death);
        self.gate.pass(|| command.spawn()).map_err(|problem| format!("{name} cannot be started: {problem}"))
    }

    /// The first line that the program writes when it is ready.
    fn spawn_piped(&self, name: &str, command: &mut Command, end: Signal) -> Result<Option<String>, String> {
        let log = File::create(self.folder.log(name)).map_err(|problem| problem.to_string())?;
        command.stdout(Stdio::piped()).stderr(log);
        end_with_us(command, end);
        let started = self.gate.pass(|| command.spawn());
        let child = started.map_err(|problem| format!("{name} cannot be started: {problem}"))?;
        Ok(child.stdout.and_then(|output| first_line(output, PART)))
    }

    fn did_not_answer(&self, name: &str) -> String {
        format!("{name} does not answer{}", last_words(&self.log_of(name), 0))
    }
}

/// If this process is killed, its children are ended too: those that have something to clean up or children of
/// their own to end are asked (`TERM`), the others are killed.
#[allow(unsafe_code, reason = "only a child can ask to end with its parent, between fork and exec")]
pub fn end_with_us(command: &mut Command, signal: Signal) {
    // SAFETY: the closure makes one system call and touches no memory, lock or file of this process, which is all
    // that is allowed between fork and exec.
    unsafe {
        command.pre_exec(move || Ok(set_parent_process_death_signal(Some(signal))?));
    }
}

/// The end of a log, for a message, without what was there before; empty where there is nothing.
fn last_words(log: &Path, before: u64) -> String {
    const BYTES: u64 = 500;
    let mut bytes = Vec::new();
    let read = File::open(log).and_then(|mut file| {
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(BYTES).max(before)))?;
        file.take(BYTES).read_to_end(&mut bytes)
    });
    let text = String::from_utf8_lossy(&bytes);
    match (read, text.trim()) {
        (Err(_), _) | (_, "") => String::new(),
        (_, text) => format!("; its output: {text}"),
    }
}

fn display_socket(display: &str) -> PathBuf {
    PathBuf::from(format!("/tmp/.X11-unix/X{}", display.trim_start_matches(':')))
}

fn connect(display: &str, cookie: &Cookie) -> Result<RustConnection, String> {
    let path = display_socket(display);
    let stream = UnixStream::connect(&path).map_err(|problem| format!("{}: {problem}", path.display()))?;
    let (stream, _) = DefaultStream::from_unix_stream(stream).map_err(|problem| problem.to_string())?;
    let (method, key) = (cookie::METHOD.to_vec(), cookie.0.to_vec());
    RustConnection::connect_to_stream_with_auth_info(stream, 0, method, key)
        .map_err(|problem| format!("the display {display} refused the connection: {problem}"))
}

/// The windows that a property of the root window names.
fn root_windows(connection: &RustConnection, property: &[u8]) -> Option<Vec<u32>> {
    let root = connection.setup().roots.first()?.root;
    let atom = connection.intern_atom(false, property).ok()?.reply().ok()?.atom;
    let cookie = connection.get_property(false, root, atom, AtomEnum::WINDOW, 0, 1024).ok()?;
    Some(cookie.reply().ok()?.value32()?.collect())
}

/// Waits until the accessibility bus has its name, tells everybody that it is wanted, and asks where it is, which
/// makes the launcher start it if it has not yet.
fn switch_accessibility_on(bus: &str) -> Result<(), String> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| error.to_string())?;
    let work = async {
        let connection = zbus::connection::Builder::address(bus)?.build().await?;
        let names = zbus::fdo::DBusProxy::new(&connection).await?;
        let name = zbus::names::BusName::try_from("org.a11y.Bus")?;
        while !names.name_has_owner(name.clone()).await? {
            sleep_task(PAUSE).await;
        }
        let value = zbus::zvariant::Value::from(true);
        let properties = Some("org.freedesktop.DBus.Properties");
        let setting = ("org.a11y.Status", "IsEnabled", value);
        connection.call_method(Some(name.clone()), "/org/a11y/bus", properties, "Set", &setting).await?;
        let address = Some("org.a11y.Bus");
        connection.call_method(Some(name), "/org/a11y/bus", address, "GetAddress", &()).await?;
        Ok::<(), zbus::Error>(())
    };
    match runtime.block_on(async { tokio::time::timeout(PART, work).await }) {
        Ok(done) => done.map_err(|problem| problem.to_string()),
        Err(_) => Err("the accessibility bus did not come up".to_owned()),
    }
}
