//! Which programs there are on this Mac.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::decode::apps;
use super::launch;
use crate::clock::Cancel;
use crate::error::Result;
use crate::model::program::{App, Ended, Launch, Program, Run};
use crate::platform::{Apps, run_command};

pub struct MacApps;

impl Apps for MacApps {
    fn installed(&self) -> Result<Vec<App>> {
        Ok(installed())
    }

    fn program(&self, name: &str) -> Result<Program> {
        find(name)
    }

    fn launch(&self, launch: &Launch) -> Result<u32> {
        launch::launch(launch)
    }

    fn is_running(&self, pid: u32) -> bool {
        launch::is_running(pid)
    }

    fn run(&self, run: &Run, cancel: &Cancel) -> Result<Ended> {
        run_command(run, cancel)
    }
}

fn installed() -> Vec<App> {
    let home = std::env::var_os("HOME").map(PathBuf::from);
    apps::installed_in(&apps::folders(home.as_deref()))
}

fn find(name: &str) -> Result<Program> {
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
