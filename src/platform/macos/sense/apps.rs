//! Which programs people see: the folders that end in `.app`, and which of them a caller's word stands for.

use std::path::{Path, PathBuf};

use crate::config::limits;
use crate::error::{Error, Result};
use crate::model::program::{App, Program};
use crate::text::nearest;

/// `Utilities` and the folders of some makers are one below.
const DEPTH: usize = 2;
const OPEN: &str = "/usr/bin/open";

/// The folders in which apps are, for a person with this home.
pub fn folders(home: Option<&Path>) -> Vec<PathBuf> {
    let shared = ["/Applications", "/System/Applications", "/System/Cryptexes/App/System/Applications"];
    shared.iter().map(PathBuf::from).chain(home.map(|home| home.join("Applications"))).collect()
}

/// Apps in the order of their names, each once: nearer folders come first.
pub fn installed_in(folders: &[PathBuf]) -> Vec<App> {
    let mut apps: Vec<App> = Vec::new();
    for path in folders.iter().flat_map(|folder| bundles(folder)) {
        let Some(name) = name_of(&path) else { continue };
        if apps.iter().all(|app| app.id != name) {
            apps.push(app(name, &path));
        }
    }
    apps.sort_by_cached_key(|app| (app.name.to_lowercase(), app.id.clone()));
    apps.truncate(limits::APPS);
    apps
}

fn name_of(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_str()?.strip_suffix(".app")?;
    (!name.is_empty()).then(|| name.to_owned())
}

/// The folder stands for the app: rules about programs are about it, and not about what opens it.
fn app(name: String, path: &Path) -> App {
    App { id: name.clone(), name, command: vec![path.to_string_lossy().into_owned()] }
}

/// What is started for a command. An app is opened by the system, as a person does it; what opens it waits for its end
/// (`-W`), so that whoever asks whether it runs is told the truth.
pub fn opening(command: &[String]) -> Vec<String> {
    match command.split_first() {
        Some((app, arguments)) if name_of(Path::new(app)).is_some() => {
            let open = [OPEN, "-W", "-a", app.as_str()].map(str::to_owned);
            let marked = (!arguments.is_empty()).then(|| "--args".to_owned());
            open.into_iter().chain(marked).chain(arguments.iter().cloned()).collect()
        }
        _ => command.to_vec(),
    }
}

fn bundles(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![(folder.to_owned(), 0)];
    while let Some((folder, depth)) = open.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if name_of(&path).is_some() {
                found.push(path);
            } else if depth + 1 < DEPTH && path.is_dir() {
                open.push((path, depth + 1));
            }
            if found.len() >= limits::APPS {
                return found;
            }
        }
    }
    found
}

/// An app by its name, with or without `.app`, or a program by its whole path or on PATH, which `runs` knows.
pub fn find(name: &str, apps: &[App], runs: impl Fn(&str) -> bool) -> Result<Program> {
    let wanted = name.strip_suffix(".app").unwrap_or(name);
    let exact = apps.iter().find(|app| app.id == wanted);
    let app = exact.or_else(|| apps.iter().find(|app| app.id.eq_ignore_ascii_case(wanted)));
    if let Some(app) = app {
        return Ok(Program { name: app.name.clone(), command: app.command.clone(), installed: true });
    }
    if runs(name) {
        return Ok(Program { name: name.to_owned(), command: vec![name.to_owned()], installed: false });
    }
    let near = nearest(name, apps.iter().map(|app| app.id.clone()));
    let near = near.map_or_else(String::new, |near| format!("; did you mean '{near}'?"));
    let message = format!(
        "there is no app or program '{name}'{near} (list_apps tells ids; a program is a name on PATH or a whole path)"
    );
    Err(Error::bad_request(message).with("field", "program"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine() -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for path in [
            "Applications/Safari.app/Contents",
            "Applications/Utilities/Terminal.app",
            "Applications/Maker/Deep/Hidden.app",
            "Applications/notes.txt",
            "Applications/.app",
            "System/Safari.app",
            "System/Calculator.app",
        ] {
            std::fs::create_dir_all(root.path().join(path)).unwrap();
        }
        root
    }

    fn apps(root: &Path) -> Vec<App> {
        installed_in(&[root.join("Applications"), root.join("System"), root.join("none")])
    }

    #[test]
    fn apps_are_folders_that_say_so() {
        let root = machine();
        let names: Vec<String> = apps(root.path()).into_iter().map(|app| app.id).collect();
        assert_eq!(names, ["Calculator", "Safari", "Terminal"]);
    }

    #[test]
    fn an_app_is_opened_by_the_system() {
        let root = machine();
        let apps = apps(root.path());
        let found = find("safari.app", &apps, |_| false).unwrap();
        let path = root.path().join("Applications/Safari.app").to_str().unwrap().to_owned();
        assert!(found.installed && found.command == [path.clone()]);
        assert_eq!(opening(&found.command), ["/usr/bin/open", "-W", "-a", &path]);
        let with_page = [path.clone(), "https://example.com".to_owned()];
        let words = ["/usr/bin/open", "-W", "-a", &path, "--args", "https://example.com"];
        assert_eq!(opening(&with_page), words);
        let plain = ["/bin/ls".to_owned(), "-l".to_owned()];
        assert_eq!(opening(&plain), plain);
    }

    #[test]
    fn programs_are_found_and_misspellings_are_told() {
        let root = machine();
        let apps = apps(root.path());
        assert!(!find("/bin/ls", &apps, |name| name == "/bin/ls").unwrap().installed);
        let refused = find("Safary", &apps, |_| false).unwrap_err();
        assert!(refused.message.contains("did you mean 'Safari'"), "{refused}");
    }

    #[test]
    fn the_folders_of_the_system_and_the_person_are_looked_at() {
        let folders = folders(Some(Path::new("/Users/ada")));
        assert!(folders.contains(&PathBuf::from("/Applications")));
        assert_eq!(folders.last(), Some(&PathBuf::from("/Users/ada/Applications")));
    }
}
