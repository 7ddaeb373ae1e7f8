//! Which browser is started: the one that the config names, else the first that this machine has.

use std::path::{Path, PathBuf};

use crate::machine::Machine;

/// Names that a search path may have, the likeliest to be a plain browser first.
const NAMES: &[&str] = &[
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
    "microsoft-edge",
    "microsoft-edge-stable",
    "chromium-headless-shell",
    "chrome-headless-shell",
];

/// Where macOS keeps them, which is on no search path.
const MAC_PATHS: &[&str] = &[
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
];

/// A browser without windows: it needs no display, and has none for a person to look at.
pub fn is_headless_shell(executable: &Path) -> bool {
    process_name(executable).ends_with("headless-shell")
}

/// What its windows say that they belong to.
pub fn process_name(executable: &Path) -> String {
    executable.file_stem().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

/// The program to start, or a sentence that says what to install.
pub fn find_browser(machine: &dyn Machine, named: Option<&str>) -> Result<PathBuf, String> {
    if let Some(named) = named.filter(|named| !named.is_empty()) {
        return find_named(machine, named);
    }
    let on_path = NAMES.iter().find_map(|name| machine.find_program(name));
    let installed = || MAC_PATHS.iter().map(PathBuf::from).find(|path| machine.exists(path));
    on_path.or_else(installed).ok_or_else(|| {
        "no browser was found: install Chromium (on Debian: apt-get install chromium), Chrome or Edge, or name \
         its program in browser.executable"
            .to_owned()
    })
}

fn find_named(machine: &dyn Machine, named: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(named);
    let found = if path.components().count() > 1 {
        machine.exists(&path).then_some(path)
    } else {
        machine.find_program(named)
    };
    found.ok_or_else(|| format!("browser.executable is '{named}', and there is no such program"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::{FolderState, Socket};

    /// A machine with these programs and files.
    struct FakeMachine(&'static [&'static str]);

    impl Machine for FakeMachine {
        fn system(&self) -> String {
            "linux".to_owned()
        }

        fn variable(&self, _: &str) -> Option<String> {
            None
        }

        fn find_program(&self, name: &str) -> Option<PathBuf> {
            self.0.contains(&name).then(|| PathBuf::from("/usr/bin").join(name))
        }

        fn exists(&self, path: &Path) -> bool {
            self.0.iter().any(|known| Path::new(known) == path)
        }

        fn has_entries(&self, _: &Path) -> bool {
            false
        }

        fn link_target(&self, _: &Path) -> Option<PathBuf> {
            None
        }

        fn folder_state(&self, _: &Path) -> FolderState {
            FolderState::Writable
        }

        fn connect(&self, _: &Socket) -> Result<(), String> {
            Ok(())
        }

        fn run(&self, _: &Path, _: &[&str]) -> Result<String, String> {
            Ok(String::new())
        }
    }

    #[track_caller]
    fn check(there: &'static [&'static str], named: Option<&str>, expected: &str) {
        let found = find_browser(&FakeMachine(there), named);
        let shown = found.map_or_else(|reason| reason, |path| path.display().to_string());
        assert!(shown.starts_with(expected), "{shown}");
    }

    #[test]
    fn a_browser_is_found_by_its_name_or_by_the_config() {
        check(&["chromium", "google-chrome"], None, "/usr/bin/chromium");
        check(&["microsoft-edge", "chromium-headless-shell"], None, "/usr/bin/microsoft-edge");
        check(&["chromium-headless-shell"], None, "/usr/bin/chromium-headless-shell");
        check(&MAC_PATHS[1..2], None, MAC_PATHS[1]);
        check(&["chromium", "brave"], Some("brave"), "/usr/bin/brave");
        check(&["/opt/b/chrome"], Some("/opt/b/chrome"), "/opt/b/chrome");
    }

    #[test]
    fn a_missing_browser_is_told_what_to_install() {
        check(&[], None, "no browser was found: install Chromium");
        check(&["chromium"], Some("brave"), "browser.executable is 'brave'");
        check(&["chromium"], Some("/opt/none"), "browser.executable is '/opt/none'");
    }

    #[test]
    fn a_headless_shell_is_known_by_its_name() {
        for (path, expected) in [("/usr/bin/chromium-headless-shell", true), ("/usr/bin/chromium", false)] {
            assert_eq!(is_headless_shell(Path::new(path)), expected);
        }
    }
}
