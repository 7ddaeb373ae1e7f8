//! Which programs there are on this Mac.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use super::decode::apps;
use super::launch;
use crate::clock::Cancel;
use crate::error::Result;
use crate::model::app::{App, Ended, Launch, Program, Run};
use crate::platform::session_env::SessionEnv;
use crate::platform::{Apps, run_command};

pub struct MacApps {
    pub env: SessionEnv,
}

impl Apps for MacApps {
    fn installed(&self) -> Result<Vec<App>> {
        Ok(installed(&self.env))
    }

    fn program(&self, name: &str) -> Result<Program> {
        find(&self.env, name)
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

fn installed(env: &SessionEnv) -> Vec<App> {
    apps::installed_in(&apps::folders(env.home()))
}

fn find(env: &SessionEnv, name: &str) -> Result<Program> {
    apps::find(name, &installed(env), |name| runs(env, name))
}

fn runs(env: &SessionEnv, name: &str) -> bool {
    let is_program = |path: &Path| {
        let found = std::fs::metadata(path);
        found.is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
    };
    if name.contains('/') {
        return Path::new(name).is_absolute() && is_program(Path::new(name));
    }
    !name.is_empty() && env.on_path(name).any(|path| is_program(&path))
}
