//! `doctor`: what works on this machine, what does not, and the command that fixes it.
//!
//! It looks through `Machine` only, so that a test can pretend any computer. It changes nothing: no file
//! stays behind, no package is installed, nothing is sent. It promises no more than the platform adapter of
//! this build claims for itself.

mod apps;
mod browser;
mod desktop;
mod sandbox;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::config::{Config, FatalConfig, Loaded};
use crate::machine::fixes::{self, Package};
use crate::machine::tesseract::resolve;
use crate::machine::{FolderState, Machine, Socket};
use crate::platform::macos::decode::permissions as macos;
use crate::platform::survey::{MacPermissions, PlatformFacts, Survey};

/// What is examined: the program, its configuration, and the machine around it.
pub struct DoctorSubject<'a> {
    pub version: &'a str,
    /// Cargo features of this build.
    pub features: &'a [&'a str],
    pub platform: &'a PlatformFacts,
    /// What the tesseract library says of itself; `None` where there is none.
    pub own_ocr: Option<Result<String, String>>,
    /// What the recognition that the system has says of itself; asked where no tesseract is. `None`: it has none.
    pub system_ocr: fn() -> Option<Result<String, String>>,
    pub config: Result<&'a Loaded, &'a FatalConfig>,
    /// What a look at the running desktop showed; `None` where there is none.
    pub survey: Option<Survey>,
    /// What macOS permits; `None` on other systems.
    pub mac: Option<MacPermissions>,
    /// The programs that this process was started by, the nearest first.
    pub hosts: Vec<String>,
    pub machine: &'a dyn Machine,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CheckStatus {
    Ok,
    Warning,
    /// It is not there.
    Missing,
    /// It is there and does not work.
    Error,
}

impl CheckStatus {
    pub const fn word(self) -> &'static str {
        match self {
            CheckStatus::Ok => "ok",
            CheckStatus::Warning => "warning",
            CheckStatus::Missing => "missing",
            CheckStatus::Error => "error",
        }
    }

    const fn is_fault(self) -> bool {
        matches!(self, CheckStatus::Missing | CheckStatus::Error)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DoctorCheck {
    pub name: &'static str,
    pub status: CheckStatus,
    /// Without this the program cannot do what it is configured to do.
    pub essential: bool,
    pub detail: String,
    /// A command line to run as it stands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fix: Option<String>,
}

impl DoctorCheck {
    fn new(name: &'static str, status: CheckStatus, detail: impl AsRef<str>) -> Self {
        Self { name, status, essential: false, detail: strip_control(detail.as_ref()), fix: None }
    }

    fn set_essential(mut self, essential: bool) -> Self {
        self.essential = essential;
        self
    }

    fn with_fix(mut self, fix: impl Into<Option<String>>) -> Self {
        self.fix = fix.into();
        self
    }

    fn stops_us(&self) -> bool {
        self.essential && self.status.is_fault()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum DoctorVerdict {
    Ready,
    /// Usable; some things are missing.
    Limited,
    Unusable,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DoctorReport {
    pub version: String,
    pub system: String,
    pub verdict: DoctorVerdict,
    pub summary: String,
    pub checks: Vec<DoctorCheck>,
}

pub fn run_checks(subject: &DoctorSubject<'_>) -> DoctorReport {
    let system = subject.machine.system();
    let wanted =
        CHECKS.iter().filter(|(systems, _)| systems.is_empty() || systems.contains(&system.as_str()));
    let checks: Vec<DoctorCheck> = wanted.map(|(_, check)| check(subject)).collect();
    let verdict = verdict_on(&checks);
    let summary = summary_line(subject, verdict, &checks);
    DoctorReport { version: subject.version.to_owned(), system, verdict, summary, checks }
}

type CheckFunction = fn(&DoctorSubject<'_>) -> DoctorCheck;

/// Which checks run on which systems; an empty list means everywhere.
const CHECKS: &[(&[&str], CheckFunction)] = &[
    (&[], check_build),
    (&[], check_config),
    (&[], check_mock),
    (&[], check_platform),
    (&["linux"], check_display),
    (&["linux"], desktop::check_window_manager),
    (&["linux"], check_session_bus),
    (&["linux"], desktop::check_accessibility),
    (&["linux"], desktop::check_programs),
    (&["linux"], sandbox::check_sandbox),
    (&["linux"], sandbox::check_isolation),
    (&["linux", "macos"], browser::check_browser),
    (&[], apps::check_apps),
    (&["linux"], check_fonts),
    (&["macos"], check_mac_accessibility),
    (&["macos"], check_mac_recording),
    (&["windows"], check_windows_session),
    (&[], check_tesseract),
    (&[], check_trace_folder),
    (&[], check_audit_folder),
];

fn verdict_on(checks: &[DoctorCheck]) -> DoctorVerdict {
    if checks.iter().any(DoctorCheck::stops_us) {
        return DoctorVerdict::Unusable;
    }
    let flawless = checks.iter().all(|check| check.status == CheckStatus::Ok);
    if flawless { DoctorVerdict::Ready } else { DoctorVerdict::Limited }
}

fn summary_line(subject: &DoctorSubject<'_>, verdict: DoctorVerdict, checks: &[DoctorCheck]) -> String {
    let desktop = match (subject.wants_mock(), subject.wants_sandbox(), subject.wants_browser()) {
        (true, ..) => "the mock desktop",
        (false, true, _) => "a private desktop",
        (false, false, true) => "a browser",
        (false, false, false) => "this desktop",
    };
    let names = |chosen: fn(&DoctorCheck) -> bool| {
        checks.iter().filter(|check| chosen(check)).map(|check| check.name).collect::<Vec<_>>().join(", ")
    };
    match verdict {
        DoctorVerdict::Ready => format!("ready to serve {desktop}"),
        DoctorVerdict::Limited => {
            format!("ready to serve {desktop}; check: {}", names(|check| check.status != CheckStatus::Ok))
        }
        DoctorVerdict::Unusable if subject.config.is_err() => {
            "will not start: fix the configuration".to_owned()
        }
        DoctorVerdict::Unusable => {
            format!("cannot serve {desktop}: {}. With --mock it works now.", names(DoctorCheck::stops_us))
        }
    }
}

impl DoctorReport {
    /// 0 when the program can do what it is configured to do, 1 when not.
    pub fn exit_code(&self) -> u8 {
        u8::from(self.verdict == DoctorVerdict::Unusable)
    }

    pub fn to_text(&self) -> String {
        let mut text =
            format!("{}\n\nos-screen-observer {} on {}\n\n", self.summary, self.version, self.system);
        let width = self.checks.iter().map(|check| check.name.len()).max().unwrap_or_default();
        for check in &self.checks {
            let margin = " ".repeat(width + 13);
            let detail = check.detail.replace('\n', &format!("\n{margin}"));
            // Writing into a String cannot fail.
            let _ = writeln!(text, "  {:<7}  {:<width$}  {detail}", check.status.word(), check.name);
            if let Some(fix) = &check.fix {
                let _ = writeln!(text, "{margin}fix: {fix}");
            }
        }
        text
    }
}

impl DoctorSubject<'_> {
    fn loaded_config(&self) -> Option<&Config> {
        self.config.ok().map(|loaded| &loaded.config)
    }

    fn wants_mock(&self) -> bool {
        self.loaded_config().is_some_and(Config::wants_mock)
    }

    fn wants_sandbox(&self) -> bool {
        self.config.ok().is_some_and(|loaded| loaded.sandbox.is_some())
    }

    fn wants_browser(&self) -> bool {
        self.config.ok().is_some_and(|loaded| loaded.browser.is_some())
    }

    /// What a real desktop needs is essential only if a real desktop is to be served.
    fn wants_desktop(&self) -> bool {
        !self.wants_mock() && !self.wants_sandbox() && !self.wants_browser()
    }

    fn env_variable(&self, name: &str) -> Option<String> {
        self.machine.variable(name).filter(|value| !value.is_empty())
    }

    /// A Wayland session without an X server.
    fn is_wayland_alone(&self) -> bool {
        self.env_variable("DISPLAY").is_none() && self.env_variable("WAYLAND_DISPLAY").is_some()
    }

    fn runtime_file(&self, name: &str) -> Option<PathBuf> {
        self.env_variable("XDG_RUNTIME_DIR").map(|folder| Path::new(&folder).join(name))
    }
}

fn check_build(subject: &DoctorSubject<'_>) -> DoctorCheck {
    let features = if subject.features.is_empty() { "none".to_owned() } else { subject.features.join(", ") };
    DoctorCheck::new("build", CheckStatus::Ok, format!("version {}, features: {features}", subject.version))
}

fn check_config(subject: &DoctorSubject<'_>) -> DoctorCheck {
    let loaded = match subject.config {
        Ok(loaded) => loaded,
        Err(fatal) => {
            return DoctorCheck::new("config", CheckStatus::Error, fatal.to_string()).set_essential(true);
        }
    };
    let path = loaded.path.display();
    let read = match loaded.read.as_slice() {
        [] => format!("{path} absent, defaults used"),
        files => format!("{} read", files.join(" and ")),
    };
    let remarks: Vec<&str> = loaded.problems.iter().chain(&loaded.notices).map(String::as_str).collect();
    let status = if remarks.is_empty() { CheckStatus::Ok } else { CheckStatus::Warning };
    DoctorCheck::new("config", status, [&[read.as_str()], remarks.as_slice()].concat().join("\n"))
}

fn check_mock(_: &DoctorSubject<'_>) -> DoctorCheck {
    DoctorCheck::new("mock desktop", CheckStatus::Ok, "available with --mock; needs nothing on this machine")
}

fn check_platform(subject: &DoctorSubject<'_>) -> DoctorCheck {
    let PlatformFacts { name, available, reason, .. } = subject.platform;
    let status = if *available { CheckStatus::Ok } else { CheckStatus::Missing };
    let detail = if reason.is_empty() { name.clone() } else { format!("{name}: {reason}") };
    let fix = (!available).then(|| "os-screen-observer --mock".to_owned());
    DoctorCheck::new("real desktop", status, detail).set_essential(subject.wants_desktop()).with_fix(fix)
}

const WAYLAND_ALONE: &str = "The server follows DISPLAY, which leads nowhere: unset it to work this Wayland session, or \
                             use a private desktop with --sandbox";
const WAYLAND_WORKED: &str = "The line 'real desktop' says which part of the compositor serves windows, input and \
                              screenshots, and get_capabilities lists what does not work";

const WSL_WORKED: &str = "not needed: this is WSL, and PowerShell gives windows and screenshots of the \
                          Windows desktop. Set DISPLAY for the elements of Linux programs and for input";

/// Either display server will do for the program as a whole; which one the adapter can use it says itself.
fn check_display(subject: &DoctorSubject<'_>) -> DoctorCheck {
    if subject.platform.by_powershell {
        return DoctorCheck::new("display", CheckStatus::Warning, WSL_WORKED);
    }
    let x11 = subject.env_variable("DISPLAY").map(|display| probe_x11(subject, &display));
    let wayland = subject.env_variable("WAYLAND_DISPLAY").map(|display| probe_wayland(subject, &display));
    let (status, detail) = match (x11, wayland) {
        (None, None) => (CheckStatus::Missing, "neither DISPLAY nor WAYLAND_DISPLAY is set".to_owned()),
        (Some(Ok(x11)), None) => (CheckStatus::Ok, x11),
        (Some(Ok(x11)), Some(Ok(wayland))) => (
            CheckStatus::Warning,
            format!("{x11}; {wayland}: windows of Wayland programs may not be reachable through X11"),
        ),
        (Some(Ok(x11)), Some(Err(wayland))) => (CheckStatus::Ok, format!("{x11}; {wayland}")),
        (Some(Err(x11)), Some(Ok(wayland))) => {
            (CheckStatus::Warning, format!("{wayland}; {x11}\n{WAYLAND_ALONE}"))
        }
        (None, Some(Ok(wayland))) => (CheckStatus::Ok, format!("{wayland}; no X11\n{WAYLAND_WORKED}")),
        (x11, wayland) => {
            let failures = [x11, wayland].into_iter().flatten().filter_map(Result::err);
            (CheckStatus::Error, failures.collect::<Vec<_>>().join("; "))
        }
    };
    let fix = if status.is_fault() { fixes::virtual_display(subject.machine) } else { None };
    DoctorCheck::new("display", status, detail).set_essential(subject.wants_desktop()).with_fix(fix)
}

fn probe_x11(subject: &DoctorSubject<'_>, display: &str) -> Result<String, String> {
    let Some(number) = local_display_number(display) else {
        return Ok(format!("X11 {display} (not a local display, not tried)"));
    };
    let path = format!("/tmp/.X11-unix/X{number}");
    let file = subject.machine.connect(&Socket::File(path.clone().into()));
    // Some servers listen on the abstract name alone.
    file.or_else(|reason| subject.machine.connect(&Socket::Abstract(path.clone())).map_err(|_| reason))
        .map(|()| format!("X11 {display} answers"))
        .map_err(|reason| format!("X11 {display} does not answer at {path}: {reason}"))
}

/// `:1`, `:1.0` and `unix:1` are displays of this machine; a host name in front makes it another's.
fn local_display_number(display: &str) -> Option<u16> {
    let (host, rest) = display.rsplit_once(':')?;
    let number = rest.split('.').next()?;
    matches!(host, "" | "unix").then(|| number.parse().ok())?
}

fn probe_wayland(subject: &DoctorSubject<'_>, display: &str) -> Result<String, String> {
    let named = Path::new(display);
    let path = if named.is_absolute() { Some(named.to_owned()) } else { subject.runtime_file(display) };
    let path = path.ok_or_else(|| format!("Wayland {display}: XDG_RUNTIME_DIR is not set"))?;
    let outcome = subject.machine.connect(&Socket::File(path.clone()));
    outcome
        .map(|()| format!("Wayland {display} answers"))
        .map_err(|reason| format!("Wayland {display} does not answer at {}: {reason}", path.display()))
}

fn check_session_bus(subject: &DoctorSubject<'_>) -> DoctorCheck {
    let (status, detail) = match session_bus_socket(subject) {
        BusAddress::Unset => (CheckStatus::Missing, "DBUS_SESSION_BUS_ADDRESS is not set".to_owned()),
        BusAddress::Elsewhere(address) => {
            (CheckStatus::Warning, format!("{address} cannot be tried from here"))
        }
        BusAddress::Local(socket) => match subject.machine.connect(&socket) {
            Ok(()) => (CheckStatus::Ok, format!("answers at {socket}")),
            Err(reason) => (CheckStatus::Error, format!("does not answer at {socket}: {reason}")),
        },
    };
    let fix = status.is_fault().then(|| fixes::session_bus(subject.machine)).flatten();
    DoctorCheck::new("session bus", status, detail).with_fix(fix)
}

enum BusAddress {
    Unset,
    Elsewhere(String),
    Local(Socket),
}

/// Where the bus listens: the first entry of the address variable, or the place every desktop uses if the
/// variable is not set.
fn session_bus_socket(subject: &DoctorSubject<'_>) -> BusAddress {
    let Some(address) = subject.env_variable("DBUS_SESSION_BUS_ADDRESS") else {
        let usual = subject.runtime_file("bus").filter(|path| subject.machine.exists(path));
        return usual.map_or(BusAddress::Unset, |path| BusAddress::Local(Socket::File(path)));
    };
    let first = address.split(';').next().unwrap_or_default();
    let options = first.strip_prefix("unix:").unwrap_or_default().split(',');
    options
        .filter_map(|option| option.split_once('='))
        .find_map(|(name, value)| match name {
            "path" => Some(BusAddress::Local(Socket::File(value.into()))),
            "abstract" => Some(BusAddress::Local(Socket::Abstract(value.to_owned()))),
            _ => None,
        })
        .unwrap_or_else(|| BusAddress::Elsewhere(first.to_owned()))
}

fn check_fonts(subject: &DoctorSubject<'_>) -> DoctorCheck {
    let own = subject.env_variable("HOME").map(|home| Path::new(&home).join(".local/share/fonts"));
    let shared = ["/usr/share/fonts", "/usr/local/share/fonts"].map(PathBuf::from);
    match shared.into_iter().chain(own).find(|folder| subject.machine.has_entries(folder)) {
        Some(folder) => DoctorCheck::new("fonts", CheckStatus::Ok, format!("found in {}", folder.display())),
        None => DoctorCheck::new(
            "fonts",
            CheckStatus::Missing,
            "none found: programs would show empty boxes instead of text",
        )
        .with_fix(fixes::install_command(subject.machine, Package::Fonts)),
    }
}

/// A program below a terminal or a client has the permissions of that one, so that is what has to be switched on.
fn check_mac_accessibility(subject: &DoctorSubject<'_>) -> DoctorCheck {
    let (place, tick) = (macos::ACCESSIBILITY_PLACE, macos::TICK);
    let missing = format!("windows can be listed, but not read or operated. {place}: {tick}");
    let granted = subject.mac.map(|mac| mac.accessibility);
    check_mac_permission("accessibility", granted, &missing, macos::ACCESSIBILITY_PANE)
        .set_essential(subject.wants_desktop())
}

fn check_mac_recording(subject: &DoctorSubject<'_>) -> DoctorCheck {
    let missing = format!("no screenshots, no OCR. {}: {}", macos::RECORDING_PLACE, macos::TICK);
    let granted = subject.mac.map(|mac| mac.recording);
    check_mac_permission("screen recording", granted, &missing, macos::RECORDING_PANE)
}

fn check_mac_permission(name: &'static str, granted: Option<bool>, missing: &str, pane: &str) -> DoctorCheck {
    match granted {
        Some(true) => DoctorCheck::new(name, CheckStatus::Ok, "permitted"),
        Some(false) => DoctorCheck::new(name, CheckStatus::Missing, missing).with_fix(pane.to_owned()),
        None => DoctorCheck::new(name, CheckStatus::Warning, "skipped (not macOS)").with_fix(pane.to_owned()),
    }
}

/// Services run in a session of their own, where no user's window is to be seen.
fn check_windows_session(subject: &DoctorSubject<'_>) -> DoctorCheck {
    match subject.env_variable("SESSIONNAME") {
        Some(name) if name.eq_ignore_ascii_case("services") => {
            DoctorCheck::new("session", CheckStatus::Error, "started as a service: there is no desktop")
                .set_essential(subject.wants_desktop())
        }
        Some(name) => DoctorCheck::new("session", CheckStatus::Ok, format!("interactive session {name}")),
        None => DoctorCheck::new(
            "session",
            CheckStatus::Warning,
            "SESSIONNAME is not set: not started from a desktop?",
        ),
    }
}

fn check_tesseract(subject: &DoctorSubject<'_>) -> DoctorCheck {
    const NAME: &str = "tesseract";
    if subject.loaded_config().is_some_and(|config| !config.ocr.enabled) {
        return DoctorCheck::new(NAME, CheckStatus::Ok, "not needed: ocr.enabled is false");
    }
    let configured = subject.loaded_config().and_then(|config| config.ocr.tesseract_cmd.clone());
    let broken = match (&subject.own_ocr, &configured) {
        (Some(Ok(version)), None) => return DoctorCheck::new(NAME, CheckStatus::Ok, strip_control(version)),
        (Some(Err(reason)), None) => Some(reason),
        _ => None,
    };
    let check = check_tesseract_program(subject, configured);
    match broken {
        Some(reason) => DoctorCheck {
            status: if check.status.is_fault() { check.status } else { CheckStatus::Warning },
            detail: format!(
                "{}\nused because the tesseract library does not work: {}",
                check.detail,
                strip_control(reason)
            ),
            ..check
        },
        None => check,
    }
}

fn check_tesseract_program(subject: &DoctorSubject<'_>, configured: Option<PathBuf>) -> DoctorCheck {
    const NAME: &str = "tesseract";
    let found = subject.machine.find_program("tesseract");
    let configured_works = configured.as_ref().and_then(|name| resolve(subject.machine, name));
    match (configured, configured_works, found) {
        (_, Some(program), _) | (None, None, Some(program)) => tesseract_version(subject, &program),
        (Some(configured), None, Some(found)) => {
            let (configured, found) = (configured.display(), found.display());
            let detail = format!("ocr.tesseract_cmd {configured} does not exist, but {found} does");
            DoctorCheck::new(NAME, CheckStatus::Warning, detail).with_fix(fixes::set_variable(
                subject.machine,
                "OSO_OCR__TESSERACT_CMD",
                &found.to_string(),
            ))
        }
        (configured, None, None) => {
            let where_looked = match configured {
                Some(configured) => format!("neither at {} nor on PATH", configured.display()),
                None => "not on PATH".to_owned(),
            };
            let lacking = match (subject.system_ocr)() {
                Some(Ok(engine)) => {
                    return DoctorCheck::new(
                        NAME,
                        CheckStatus::Ok,
                        format!("{where_looked}; OCR uses {engine}"),
                    );
                }
                Some(Err(reason)) => format!("no OCR; {reason}"),
                None => "no text recognition".to_owned(),
            };
            DoctorCheck::new(NAME, CheckStatus::Missing, format!("{where_looked}: {lacking}"))
                .with_fix(fixes::install_command(subject.machine, Package::Tesseract))
        }
    }
}

fn tesseract_version(subject: &DoctorSubject<'_>, program: &Path) -> DoctorCheck {
    let shown = program.display();
    match subject.machine.run(program, &["--version"]) {
        Ok(output) => {
            let version = output.lines().next().unwrap_or_default().trim();
            DoctorCheck::new("tesseract", CheckStatus::Ok, format!("{version} (program {shown})"))
        }
        Err(reason) => {
            DoctorCheck::new("tesseract", CheckStatus::Error, format!("{shown} --version: {reason}"))
                .with_fix(fixes::install_command(subject.machine, Package::Tesseract))
        }
    }
}

fn check_trace_folder(subject: &DoctorSubject<'_>) -> DoctorCheck {
    let config = subject.loaded_config().cloned().unwrap_or_default();
    check_folder(subject, "trace folder", &config.tracing.dir, &config.tracing.dir).fix_with_variable(
        subject,
        "OSO_TRACING__DIR",
        "traces",
    )
}

fn check_audit_folder(subject: &DoctorSubject<'_>) -> DoctorCheck {
    let config = subject.loaded_config().cloned().unwrap_or_default();
    if !config.logging.audit {
        return DoctorCheck::new("audit log", CheckStatus::Ok, "off (logging.audit is false)");
    }
    let path = &config.logging.audit_path;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // Without its log the server must not act, so an audit that was asked for is essential.
    check_folder(subject, "audit log", path, folder).set_essential(true).fix_with_variable(
        subject,
        "OSO_LOGGING__AUDIT_PATH",
        "audit.log",
    )
}

/// Whether `folder` can be written to; `path` is what the user named and must not be a link.
fn check_folder(subject: &DoctorSubject<'_>, name: &'static str, path: &Path, folder: &Path) -> DoctorCheck {
    let shown = path.display();
    if let Some(target) = subject.machine.link_target(path) {
        let detail = format!("{shown} is a link to {}: make sure that it is yours", target.display());
        return DoctorCheck::new(name, CheckStatus::Warning, detail);
    }
    match subject.machine.folder_state(folder) {
        FolderState::Writable => DoctorCheck::new(name, CheckStatus::Ok, format!("{shown} can be written")),
        FolderState::Creatable => DoctorCheck::new(name, CheckStatus::Ok, format!("{shown} will be created")),
        FolderState::Refused(reason) => {
            DoctorCheck::new(name, CheckStatus::Error, format!("{shown} cannot be written: {reason}"))
        }
    }
}

impl DoctorCheck {
    fn fix_with_variable(self, subject: &DoctorSubject<'_>, variable: &str, file: &str) -> Self {
        let fix = self.status.is_fault().then(|| fixes::own_folder(subject.machine, variable, file));
        self.with_fix(fix)
    }
}

/// Details quote the environment and the output of programs; neither may steer the reader's terminal.
fn strip_control(text: &str) -> String {
    text.chars().map(|c| if c.is_control() && c != '\n' { '\u{fffd}' } else { c }).collect()
}

#[cfg(test)]
mod tests;
