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
