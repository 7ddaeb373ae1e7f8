//! The variables of the session that lead to a desktop and its programs, read once.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::config::process_variable;

/// What a session says of itself. Empty variables count as unset, except `PATH`.
#[derive(Clone, Debug, Default)]
pub struct SessionEnv {
    /// The X server.
    pub display: Option<OsString>,
    pub wayland_display: Option<OsString>,
    /// Where sway takes commands.
    pub sway_socket: Option<OsString>,
    /// Where the sockets of the session are.
    pub runtime_dir: Option<OsString>,
    pub home: Option<OsString>,
    /// Where the desktop entries of Linux are.
    pub data_home: Option<OsString>,
    pub data_dirs: Option<OsString>,
    /// Where the Start menu of Windows is: the user's own, then everybody's.
    pub start_menus: Vec<PathBuf>,
    path: OsString,
}

impl SessionEnv {
    /// The environment of this process as it is now.
    pub fn read() -> Self {
        let variable = |name: &str| process_variable(name).filter(|value| !value.is_empty());
        Self {
            display: variable("DISPLAY"),
            wayland_display: variable("WAYLAND_DISPLAY"),
            sway_socket: variable("SWAYSOCK"),
            runtime_dir: variable("XDG_RUNTIME_DIR"),
            home: variable("HOME"),
            data_home: variable("XDG_DATA_HOME"),
            data_dirs: variable("XDG_DATA_DIRS"),
            start_menus: ["APPDATA", "PROGRAMDATA"]
                .iter()
                .filter_map(|name| variable(name))
                .map(PathBuf::from)
                .collect(),
            path: process_variable("PATH").unwrap_or_default(),
        }
    }

    pub fn home(&self) -> Option<&Path> {
        self.home.as_deref().map(Path::new)
    }

    /// Where a program of this name could be, in the order of the folders of `PATH`.
    pub fn on_path(&self, name: &str) -> impl Iterator<Item = PathBuf> {
        self.path_folders().map(move |folder| folder.join(name))
    }

    pub fn path_folders(&self) -> impl Iterator<Item = PathBuf> {
        std::env::split_paths(&self.path)
    }
}
