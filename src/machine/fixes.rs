//! Command lines that install what is missing, for the package manager of this machine.
//!
//! They are shown, never run.

use super::Machine;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Package {
    Tesseract,
    Accessibility,
    Fonts,
    VirtualDisplay,
    SessionBus,
    WindowManager,
    Bubblewrap,
    Chromium,
}

struct Manager {
    program: &'static str,
    systems: &'static [&'static str],
    install: &'static str,
    needs_root: bool,
    /// The package's name here, `None` where there is no such package or no use for it.
    name_of: fn(Package) -> Option<&'static str>,
}

/// The first one found on PATH is used.
const MANAGERS: &[Manager] = &[
    Manager {
        program: "apt-get",
        systems: &["linux"],
        install: "apt-get install -y",
        needs_root: true,
        name_of: |package| match package {
            Package::Tesseract => Some("tesseract-ocr"),
            Package::Accessibility => Some("at-spi2-core"),
            Package::Fonts => Some("fonts-dejavu-core"),
            Package::VirtualDisplay => Some("xvfb"),
            Package::SessionBus => Some("dbus"),
            Package::WindowManager => Some("openbox"),
            Package::Bubblewrap => Some("bubblewrap"),
            Package::Chromium => Some("chromium"),
        },
    },
    Manager {
        program: "dnf",
        systems: &["linux"],
        install: "dnf install -y",
        needs_root: true,
        name_of: |package| match package {
            Package::Tesseract => Some("tesseract"),
            Package::Accessibility => Some("at-spi2-core"),
            Package::Fonts => Some("dejavu-sans-fonts"),
            Package::VirtualDisplay => Some("xorg-x11-server-Xvfb"),
            Package::SessionBus => Some("dbus-daemon"),
            Package::WindowManager => Some("openbox"),
            Package::Bubblewrap => Some("bubblewrap"),
            Package::Chromium => Some("chromium"),
        },
    },
    Manager {
        program: "pacman",
        systems: &["linux"],
        install: "pacman -S --needed --noconfirm",
        needs_root: true,
        name_of: |package| match package {
            Package::Tesseract => Some("tesseract tesseract-data-eng"),
            Package::Accessibility => Some("at-spi2-core"),
            Package::Fonts => Some("ttf-dejavu"),
            Package::VirtualDisplay => Some("xorg-server-xvfb"),
            Package::SessionBus => Some("dbus"),
            Package::WindowManager => Some("openbox"),
            Package::Bubblewrap => Some("bubblewrap"),
            Package::Chromium => Some("chromium"),
        },
    },
    Manager {
        program: "zypper",
        systems: &["linux"],
        install: "zypper --non-interactive install",
        needs_root: true,
        name_of: |package| match package {
            Package::Tesseract => Some("tesseract-ocr"),
            Package::Accessibility => Some("at-spi2-core"),
            Package::Fonts => Some("dejavu-fonts"),
            Package::VirtualDisplay => Some("xorg-x11-server-Xvfb"),
            Package::SessionBus => Some("dbus-1"),
            Package::WindowManager => Some("openbox"),
            Package::Bubblewrap => Some("bubblewrap"),
            Package::Chromium => Some("chromium"),
        },
    },
    Manager {
        program: "brew",
        systems: &["macos", "linux"],
        install: "brew install",
        needs_root: false,
        name_of: |package| match package {
            Package::Tesseract => Some("tesseract"),
            Package::Chromium => Some("--cask chromium"),
            _ => None,
        },
    },
    Manager {
        program: "winget",
        systems: &["windows"],
        install: "winget install --exact --id",
        needs_root: false,
        name_of: |package| (package == Package::Tesseract).then_some("UB-Mannheim.TesseractOCR"),
    },
    Manager {
        program: "choco",
        systems: &["windows"],
        install: "choco install -y",
        needs_root: false,
        name_of: |package| (package == Package::Tesseract).then_some("tesseract"),
    },
];

/// The line that installs the package, if a package manager that has it is found.
pub fn install_command(machine: &dyn Machine, package: Package) -> Option<String> {
    install_all(machine, &[package])
}

/// The line that installs all of them, by the first package manager that has them all.
pub fn install_all(machine: &dyn Machine, packages: &[Package]) -> Option<String> {
    let system = machine.system();
    MANAGERS
        .iter()
        .filter(|manager| manager.systems.contains(&system.as_str()))
        .filter(|manager| machine.find_program(manager.program).is_some())
        .find_map(|manager| {
            let names = packages.iter().map(|package| (manager.name_of)(*package));
            Some((manager, names.collect::<Option<Vec<_>>>()?.join(" ")))
        })
        .map(|(manager, names)| {
            let sudo = manager.needs_root && machine.find_program("sudo").is_some();
            format!("{}{} {names}", if sudo { "sudo " } else { "" }, manager.install)
        })
}

/// A display without a screen, for machines that have none.
pub fn virtual_display(machine: &dyn Machine) -> Option<String> {
    installed_then(machine, "Xvfb", Package::VirtualDisplay, "os-screen-observer --sandbox")
}

pub fn session_bus(machine: &dyn Machine) -> Option<String> {
    installed_then(machine, "dbus-run-session", Package::SessionBus, "dbus-run-session -- os-screen-observer")
}

/// The line as it is if its program is there, otherwise after installing it.
pub fn installed_then(machine: &dyn Machine, program: &str, package: Package, line: &str) -> Option<String> {
    match machine.find_program(program) {
        Some(_) => Some(line.to_owned()),
        None => install_command(machine, package).map(|install| format!("{install} && {line}")),
    }
}

pub fn set_variable(machine: &dyn Machine, name: &str, value: &str) -> String {
    match machine.system().as_str() {
        "windows" => format!("setx {name} \"{value}\""),
        _ => format!("export {name}='{}'", value.replace('\'', r"'\''")),
    }
}

/// Moves a file of ours to a folder that belongs to the user.
pub fn own_folder(machine: &dyn Machine, variable: &str, file: &str) -> String {
    match machine.system().as_str() {
        "windows" => format!(r#"setx {variable} "%LOCALAPPDATA%\os-screen-observer\{file}""#),
        _ => format!("export {variable}=\"$HOME/.local/state/os-screen-observer/{file}\""),
    }
}
