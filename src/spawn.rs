//! Starting programs, which happens here alone (`tests/suite/spawning.rs`).
//!
//! A program gets the variables of a list: what finds the desktop, the user's folders, the language and the looks. Keys
//! and tokens are on no list, neither ours nor those of whoever started us.

use std::ffi::{OsStr, OsString};
use std::process::Command;

use crate::config::process_environment_os;

const PASSED_ON: &[&str] = &[
    // The user, and where things are.
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "TMPDIR",
    "LD_LIBRARY_PATH",
    // How people write.
    "LANG",
    "LANGUAGE",
    "TZ",
    "TERM",
    "COLORTERM",
    "XMODIFIERS",
    "TESSDATA_PREFIX",
    // The desktop.
    "DISPLAY",
    "XAUTHORITY",
    "DBUS_SESSION_BUS_ADDRESS",
    "AT_SPI_BUS_ADDRESS",
    "DESKTOP_SESSION",
    "SESSION_MANAGER",
    "WINDOWID",
    "GNOME_DESKTOP_SESSION_ID",
    "KDE_FULL_SESSION",
    "KDE_SESSION_VERSION",
    "ACCESSIBILITY_ENABLED",
    "NO_AT_BRIDGE",
    "MOZ_ENABLE_WAYLAND",
    "GSETTINGS_BACKEND",
    "GSK_RENDERER",
    "LIBGL_ALWAYS_SOFTWARE",
    "OMP_THREAD_LIMIT",
    // Inside Windows: the way to its programs.
    "WSL_INTEROP",
    "WSL_DISTRO_NAME",
    // macOS.
    "__CF_USER_TEXT_ENCODING",
    // Windows, where names have no case.
    "SYSTEMROOT",
    "SYSTEMDRIVE",
    "WINDIR",
    "COMSPEC",
    "PATHEXT",
    "OS",
    "TEMP",
    "TMP",
    "APPDATA",
    "LOCALAPPDATA",
    "PROGRAMDATA",
    "PROGRAMFILES",
    "PROGRAMFILES(X86)",
    "PROGRAMW6432",
    "COMMONPROGRAMFILES",
    "COMMONPROGRAMFILES(X86)",
    "COMMONPROGRAMW6432",
    "ALLUSERSPROFILE",
    "PUBLIC",
    "USERPROFILE",
    "USERNAME",
    "USERDOMAIN",
    "HOMEDRIVE",
    "HOMEPATH",
    "COMPUTERNAME",
    "SESSIONNAME",
    "NUMBER_OF_PROCESSORS",
    "PROCESSOR_ARCHITECTURE",
];

/// Families of such names. No program keeps a key under one of these.
const PASSED_ON_FAMILIES: &[&str] = &["LC_", "XDG_", "GTK_", "GDK_", "QT_", "XCURSOR_", "WAYLAND_"];

/// A command that gets what is on the list and nothing else of our environment.
pub fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    command.env_clear().envs(variables());
    command
}

/// This program once more, with all of our environment: it needs the same settings and secrets.
pub fn ourselves() -> std::io::Result<Command> {
    Ok(Command::new(std::env::current_exe()?))
}

/// What a program that we start gets of our environment.
pub fn variables() -> impl Iterator<Item = (OsString, OsString)> {
    process_environment_os().filter(|(name, _)| is_passed_on(&name.to_string_lossy()))
}

fn is_passed_on(name: &str) -> bool {
    let name = if cfg!(windows) { name.to_ascii_uppercase() } else { name.to_owned() };
    // Windows keeps the folder of each drive under a name that begins so.
    let folder_of_a_drive = cfg!(windows) && name.starts_with('=');
    folder_of_a_drive
        || PASSED_ON.contains(&name.as_str())
        || PASSED_ON_FAMILIES.iter().any(|family| name.starts_with(family))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// H-81 on code: keys and tokens are not on the list, whatever their names are.
    #[test]
    fn only_what_is_listed_is_passed_on() {
        for name in
            ["PATH", "HOME", "LC_ALL", "DISPLAY", "XDG_RUNTIME_DIR", "WAYLAND_DISPLAY", "QT_SCALE_FACTOR"]
        {
            assert!(is_passed_on(name), "{name}");
        }
        for name in [
            "OSO_TOKEN",
            "OSO_SECRET_BANK",
            "CLICKTHROUGH_TOKEN",
            "CLICKTHROUGH_EXEC_SECRET",
            "OWUI_API_KEY",
            "ANTHROPIC_API_KEY",
            "AWS_SECRET_ACCESS_KEY",
            "GITHUB_TOKEN",
            "SSH_AUTH_SOCK",
            "GNOME_KEYRING_CONTROL",
            "LD_PRELOAD",
            "HTTP_PROXY",
            "",
        ] {
            assert!(!is_passed_on(name), "{name}");
        }
    }
}
