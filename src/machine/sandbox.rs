//! What a private desktop needs of this machine, for the report and for the message when it cannot start.

use super::Machine;
use super::fixes::{self, Package};
use std::path::Path;

pub const LAUNCHERS: &[&str] = &[
    "/usr/libexec/at-spi-bus-launcher",
    "/usr/lib/at-spi2-core/at-spi-bus-launcher",
    "/usr/lib/at-spi-bus-launcher",
    "/usr/libexec/at-spi2/at-spi-bus-launcher",
];

/// The programs that it is made of, with the package that brings each.
const PARTS: &[(&str, Package)] = &[
    ("Xvfb", Package::VirtualDisplay),
    ("dbus-daemon", Package::SessionBus),
    ("at-spi-bus-launcher", Package::Accessibility),
    ("openbox", Package::WindowManager),
];

/// Where the program is that starts the accessibility bus; it is on nobody's PATH.
pub fn accessibility_launcher(machine: &dyn Machine) -> Option<&'static str> {
    LAUNCHERS.iter().find(|path| machine.exists(Path::new(path))).copied()
}

pub fn missing_parts(machine: &dyn Machine) -> Vec<(&'static str, Package)> {
    let is_there = |name: &str| match name {
        "at-spi-bus-launcher" => accessibility_launcher(machine).is_some(),
        name => machine.find_program(name).is_some(),
    };
    PARTS.iter().filter(|(name, _)| !is_there(name)).copied().collect()
}

/// Why programs cannot be isolated here, and the command that changes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotIsolated {
    pub reason: String,
    pub fix: Option<String>,
}

pub const BUBBLEWRAP: &str = "bwrap";

/// What an isolated program needs of the kernel, tried with a program that does nothing.
const TRIAL: &[&str] = &[
    "--unshare-user",
    "--unshare-pid",
    "--unshare-ipc",
    "--unshare-net",
    "--ro-bind",
    "/",
    "/",
    "--proc",
    "/proc",
    "--dev",
    "/dev",
    "--",
    "true",
];

/// Whether programs can be kept from everything else here.
pub fn isolation(machine: &dyn Machine) -> Result<(), NotIsolated> {
    let Some(bubblewrap) = machine.find_program(BUBBLEWRAP) else {
        let fix = fixes::install_all(machine, &[Package::Bubblewrap]);
        return Err(NotIsolated { reason: "bubblewrap is not installed".to_owned(), fix });
    };
    machine.run(&bubblewrap, TRIAL).map(drop).map_err(|problem| NotIsolated {
        reason: format!("the kernel does not let bubblewrap make namespaces ({problem})"),
        fix: userns_fix(machine),
    })
}

/// Settings that forbid namespaces to ordinary users, with the value that allows them.
const USERNS_SETTINGS: &[(&str, &str)] = &[
    (
        "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
        "kernel.apparmor_restrict_unprivileged_userns=0",
    ),
    ("/proc/sys/kernel/unprivileged_userns_clone", "kernel.unprivileged_userns_clone=1"),
];

fn userns_fix(machine: &dyn Machine) -> Option<String> {
    let known = USERNS_SETTINGS.iter().find(|(path, _)| machine.exists(Path::new(path)));
    known.map(|(_, setting)| format!("sudo sysctl -w {setting}"))
}

/// Whether a private desktop can start here with this program in it; if not, what to install.
pub fn sandbox_can_start(machine: &dyn Machine, program: Option<&str>) -> Result<(), String> {
    let missing = missing_parts(machine);
    if !missing.is_empty() {
        let install =
            install_line(machine, &missing).map_or(String::new(), |line| format!(" Install: {line}"));
        return Err(format!("a private desktop needs {}, not found here.{install}", names(&missing)));
    }
    match program {
        Some(name) if !is_program(machine, name) => {
            Err(format!("the program {name} was not found; install it, or name another after --sandbox"))
        }
        _ => Ok(()),
    }
}

fn is_program(machine: &dyn Machine, name: &str) -> bool {
    if name.contains('/') { machine.exists(Path::new(name)) } else { machine.find_program(name).is_some() }
}

pub fn names(missing: &[(&str, Package)]) -> String {
    missing.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ")
}

pub fn install_line(machine: &dyn Machine, missing: &[(&str, Package)]) -> Option<String> {
    let packages: Vec<Package> = missing.iter().map(|(_, package)| *package).collect();
    fixes::install_all(machine, &packages)
}
