//! Which programs the Start menu offers to people, and which program a caller's word stands for.
//!
//! Nothing is remembered: programs come and go, and all shortcuts are read in a few milliseconds.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::decode::apps::{app, file_names, find as find_among, is_path, sorted};
use super::launch;
use crate::clock::Cancel;
use crate::config::limits;
use crate::error::Result;
use crate::model::app::{App, Ended, Launch, Program, Run};
use crate::platform::session_env::SessionEnv;
use crate::platform::{Apps, run_command};

/// Folders in folders are part of an app's id; nobody nests them deeper.
const DEPTH: usize = 4;
/// A longer shortcut is none.
const SHORTCUT_BYTES: u64 = 64 << 10;

pub struct WindowsApps {
    pub env: SessionEnv,
}

impl Apps for WindowsApps {
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
    let found = menus(env).into_iter().flat_map(|menu| shortcuts(&menu)).take(limits::APPS);
    sorted(found.filter_map(|(place, path)| app(&place, &read(&path)?)).collect())
}

/// The user's own menu, then everybody's.
fn menus(env: &SessionEnv) -> Vec<PathBuf> {
    let roots = env.start_menus.iter();
    roots
        .filter(|root| root.is_absolute())
        .map(|root| root.join(r"Microsoft\Windows\Start Menu\Programs"))
        .collect()
}

fn shortcuts(menu: &Path) -> Vec<(String, PathBuf)> {
    let mut found = Vec::new();
    let mut open = vec![(menu.to_owned(), String::new(), 0)];
    while let Some((folder, prefix, depth)) = open.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
            if name.to_ascii_lowercase().ends_with(".lnk") {
                found.push((format!("{prefix}{name}"), path));
            } else if depth < DEPTH && path.is_dir() {
                open.push((path, format!("{prefix}{name}\\"), depth + 1));
            }
            if found.len() >= limits::APPS {
                return found;
            }
        }
    }
    found
}

fn read(path: &Path) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path).ok()?.take(SHORTCUT_BYTES).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

fn find(env: &SessionEnv, name: &str) -> Result<Program> {
    find_among(&installed(env), name, |name| executable(env, name)?.into_os_string().into_string().ok())
}

fn executable(env: &SessionEnv, name: &str) -> Option<PathBuf> {
    let is_program = |path: &PathBuf| {
        let ending = path
            .extension()
            .is_some_and(|it| it.eq_ignore_ascii_case("exe") || it.eq_ignore_ascii_case("com"));
        ending && path.is_file()
    };
    if name.is_empty() {
        return None;
    }
    if is_path(name) {
        return Some(PathBuf::from(name)).filter(|path| path.is_absolute() && is_program(path));
    }
    let names = file_names(name);
    env.path_folders().flat_map(|folder| names.iter().map(move |name| folder.join(name))).find(is_program)
}
