//! Which programs people see: the folders that end in `.app`, and which of them a caller's word stands for.

use std::path::{Path, PathBuf};

use crate::config::limits;
use crate::error::{Error, Result};
use crate::model::app::{App, Program};
use crate::text::nearest;

/// `Utilities` and the folders of some makers are one below.
const DEPTH: usize = 2;
const OPEN: &str = "/usr/bin/open";

/// The folders in which apps are, for a person with this home. The Finder is among helpers that nobody starts.
pub fn folders(home: Option<&Path>) -> Vec<PathBuf> {
    let shared = [
        "/Applications",
        "/System/Applications",
        "/System/Cryptexes/App/System/Applications",
        "/System/Library/CoreServices/Finder.app",
    ];
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

/// The folder of the app that a command opens, if it does.
pub fn opened_app(command: &[String]) -> Option<&str> {
    command.first().map(String::as_str).filter(|app| name_of(Path::new(app)).is_some())
}

/// What is started for a command. An app is opened by the system, as a person does it; what opens it waits for its end
/// (`-W`), so that whoever asks whether it runs is told the truth. Files and addresses at the beginning are opened by the
/// app, also when it runs already; what follows are words for an app that starts.
pub fn opening(command: &[String]) -> Vec<String> {
    let (Some(app), arguments) = (opened_app(command), command.get(1..).unwrap_or_default()) else {
        return command.to_vec();
    };
    let documents = arguments.iter().take_while(|argument| is_document(argument)).count();
    let (documents, words) = arguments.split_at(documents);
    let open = [OPEN, "-W", "-a", app].map(str::to_owned);
    let marked = (!words.is_empty()).then(|| "--args".to_owned());
    open.into_iter().chain(documents.iter().cloned()).chain(marked).chain(words.iter().cloned()).collect()
}

/// A whole path or an address. Other words may be anything, and are the app's.
fn is_document(argument: &str) -> bool {
    let scheme = argument.split_once(':').map(|(scheme, _)| scheme);
    let is_scheme = |scheme: &str| {
        let mut letters = scheme.chars();
        letters.next().is_some_and(|first| first.is_ascii_alphabetic())
            && letters.all(|letter| letter.is_ascii_alphanumeric() || "+-.".contains(letter))
    };
    argument.starts_with('/') || scheme.is_some_and(is_scheme)
}

fn bundles(folder: &Path) -> Vec<PathBuf> {
    if name_of(folder).is_some() && folder.is_dir() {
        return vec![folder.to_owned()];
    }
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
        "there is no app or program '{name}'{near} (an app has an id, a program is a name on PATH or an absolute path)"
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
        let plain = ["/bin/ls".to_owned(), "-l".to_owned()];
        assert_eq!(opening(&plain), plain);
    }

    fn check_opening(arguments: &[&str], expected: &[&str]) {
        let app = "/Applications/Safari.app";
        let command: Vec<String> = [app].iter().chain(arguments).map(|word| (*word).to_owned()).collect();
        assert_eq!(opened_app(&command), Some(app));
        assert_eq!(opening(&command)[4..], *expected, "{arguments:?}");
    }

    #[test]
    fn files_and_addresses_are_opened_and_words_are_the_apps() {
        check_opening(&["https://example.com"], &["https://example.com"]);
        check_opening(
            &["/tmp/a b.txt", "mailto:ada@example.com"],
            &["/tmp/a b.txt", "mailto:ada@example.com"],
        );
        check_opening(&["/tmp/a.txt", "--new"], &["/tmp/a.txt", "--args", "--new"]);
        check_opening(&["--profile", "/tmp/x"], &["--args", "--profile", "/tmp/x"]);
        check_opening(&["word", "3:4", ":x"], &["--args", "word", "3:4", ":x"]);
        check_opening(&["3:4"], &["--args", "3:4"]);
    }

    #[test]
    fn an_app_may_be_named_itself() {
        let root = machine();
        let apps = installed_in(&[root.path().join("System/Calculator.app"), root.path().join("No.app")]);
        assert_eq!(apps.into_iter().map(|app| app.id).collect::<Vec<_>>(), ["Calculator"]);
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
