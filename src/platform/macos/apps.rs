//! Which programs there are on this Mac.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::decode::apps;
use crate::error::Result;
use crate::model::program::{App, Program};

pub fn installed() -> Vec<App> {
    let home = std::env::var_os("HOME").map(PathBuf::from);
    apps::installed_in(&apps::folders(home.as_deref()))
}

pub fn find(name: &str) -> Result<Program> {
    apps::find(name, &installed(), runs)
}

fn runs(name: &str) -> bool {
    let is_program = |path: &Path| {
        let found = std::fs::metadata(path);
        found.is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
    };
    if name.contains('/') {
        return Path::new(name).is_absolute() && is_program(Path::new(name));
    }
    let folders = std::env::var_os("PATH").unwrap_or_default();
    !name.is_empty() && std::env::split_paths(&folders).any(|folder| is_program(&folder.join(name)))
}
