//! Which programs the desktop offers to people, by the Desktop Entry Specification, and which program a caller's word
//! stands for.
//!
//! Nothing is remembered: programs come and go, and all entries are read in a few milliseconds.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Weak;

use super::exec;
use super::launch::{self, Launcher};
use super::sandbox::Sandbox;
use crate::clock::Cancel;
use crate::config::limits;
use crate::error::{Error, Result};
use crate::model::app::{App, Ended, Launch, MOST_SIMILAR, Program, ProgramEnd, Run, similar_apps};
use crate::platform::Apps;
use crate::platform::session_env::SessionEnv;
use crate::text::nearest;

/// Folders in folders are part of an app's id; nobody nests them deeper.
const DEPTH: usize = 3;
/// A longer entry is none.
const ENTRY_BYTES: u64 = 128 << 10;

/// The programs of a Linux session, by X11 or Wayland.
#[derive(Debug)]
pub struct LinuxApps {
    env: SessionEnv,
    launcher: Launcher,
}

impl LinuxApps {
    pub fn new(env: SessionEnv) -> Self {
        Self { env, launcher: Launcher::default() }
    }

    /// Programs are started by the keeper of a private desktop.
    pub fn within(self, sandbox: Weak<Sandbox>) -> Self {
        Self { launcher: Launcher::within(sandbox), ..self }
    }
}

impl Apps for LinuxApps {
    fn installed(&self) -> Result<Vec<App>> {
        Ok(installed_apps(&self.env))
    }

    fn program(&self, name: &str) -> Result<Program> {
        find_program(&self.env, name)
    }

    fn similar_apps(&self, name: &str) -> Result<Vec<String>> {
        let apps = installed_apps(&self.env);
        let same = apps_of_same_file(&self.env, &apps, name);
        Ok(if same.is_empty() { similar_apps(&apps, name) } else { same })
    }

    fn launch(&self, launch: &Launch) -> Result<u32> {
        self.launcher.launch(launch)
    }

    fn where_files_go(&self) -> Option<String> {
        self.launcher.where_files_go()
    }

    fn is_without_network(&self) -> bool {
        self.launcher.is_without_network()
    }

    fn is_running(&self, pid: u32) -> bool {
        launch::is_running(pid)
    }

    fn program_end(&self, pid: u32) -> Option<ProgramEnd> {
        self.launcher.program_end(pid)
    }

    fn run(&self, run: &Run, cancel: &Cancel) -> Result<Ended> {
        exec::run_within(run, self.launcher.command_wall()?, cancel)
    }

    fn command_folder(&self) -> Option<PathBuf> {
        self.launcher.command_wall().ok().flatten()?.home()
    }
}

fn installed_apps(env: &SessionEnv) -> Vec<App> {
    installed_in(&application_folders(env))
}

fn application_folders(env: &SessionEnv) -> Vec<PathBuf> {
    let text = |value: &Option<OsString>| value.clone().and_then(|value| value.into_string().ok());
    let own = text(&env.data_home).or_else(|| Some(format!("{}/.local/share", text(&env.home)?)));
    let shared = text(&env.data_dirs).unwrap_or_else(|| "/usr/local/share:/usr/share".to_owned());
    let all = own.into_iter().chain(shared.split(':').map(str::to_owned));
    all.filter(|folder| folder.starts_with('/'))
        .map(|folder| Path::new(&folder).join("applications"))
        .collect()
}

/// An entry hides those of the same id in later folders, also when it says that there is nothing to see.
fn installed_in(folders: &[PathBuf]) -> Vec<App> {
    let mut known: BTreeMap<String, Option<App>> = BTreeMap::new();
    for folder in folders {
        for (id, path) in desktop_entries(folder) {
            known.entry(id).or_insert_with_key(|id| read(&path).and_then(|text| parse_entry(id, &text)));
        }
    }
    let mut apps: Vec<App> = known.into_values().flatten().collect();
    apps.sort_by_cached_key(|app| (app.name.to_lowercase(), app.id.clone()));
    apps.truncate(limits::APPS);
    apps
}

/// The entries below a folder with their ids: `kde/calc.desktop` is `kde-calc`.
fn desktop_entries(folder: &Path) -> Vec<(String, PathBuf)> {
    let mut found = Vec::new();
    let mut open = vec![(folder.to_owned(), String::new(), 0)];
    while let Some((folder, prefix, depth)) = open.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
            if let Some(stem) = name.strip_suffix(".desktop") {
                found.push((format!("{prefix}{stem}"), path));
            } else if depth < DEPTH && path.is_dir() {
                open.push((path, format!("{prefix}{name}-"), depth + 1));
            }
            if found.len() >= limits::APPS {
                return found;
            }
        }
    }
    found
}

/// Opening a pipe would wait for its other end, so the kind is asked first.
fn read(path: &Path) -> Option<String> {
    std::fs::metadata(path).ok().filter(|found| found.is_file() && found.len() <= ENTRY_BYTES)?;
    let mut text = String::new();
    File::open(path).ok()?.take(ENTRY_BYTES).read_to_string(&mut text).ok()?;
    Some(text)
}

/// What an entry says, if it is a program with windows that people are meant to see.
fn parse_entry(id: &str, text: &str) -> Option<App> {
    let lines = text.lines().map(str::trim).skip_while(|line| *line != "[Desktop Entry]").skip(1);
    let pairs: BTreeMap<&str, &str> = lines
        .take_while(|line| !line.starts_with('['))
        .filter_map(|line| line.split_once('='))
        .map(|(key, value)| (key.trim(), value.trim()))
        .collect();
    let is = |key: &str| pairs.get(key) == Some(&"true");
    if pairs.get("Type") != Some(&"Application") || is("NoDisplay") || is("Hidden") || is("Terminal") {
        return None;
    }
    let command = exec_words(&unescape_entry(pairs.get("Exec")?));
    let app = App { id: id.to_owned(), name: unescape_entry(pairs.get("Name")?), command };
    (!app.program().is_empty()).then_some(app)
}

/// The escapes that every text of an entry may have.
fn unescape_entry(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match (character, character == '\\') {
            (_, true) => match characters.next() {
                Some('s') => plain.push(' '),
                Some('n') => plain.push('\n'),
                Some('t') => plain.push('\t'),
                Some('r') => plain.push('\r'),
                Some('\\') => plain.push('\\'),
                Some(other) => plain.extend(['\\', other]),
                None => plain.push('\\'),
            },
            (character, false) => plain.push(character),
        }
    }
    plain
}

/// The words of an `Exec` line, without the codes that stand for files that nobody opens.
fn exec_words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut characters = line.chars().peekable();
    while characters.peek().is_some() {
        while characters.next_if(|c| c.is_whitespace()).is_some() {}
        let (mut word, mut quoted, mut any) = (String::new(), false, false);
        while let Some(character) = characters.next_if(|c| quoted || !c.is_whitespace()) {
            any = true;
            match character {
                '"' => quoted = !quoted,
                '\\' if quoted => word.extend(characters.next()),
                '%' if !quoted => match characters.next() {
                    Some('%') => word.push('%'),
                    _ => any = !word.is_empty(),
                },
                other => word.push(other),
            }
        }
        if any {
            words.push(word);
        }
    }
    words
}

/// An app by its id or program, else a program by its path or on PATH.
fn find_program(env: &SessionEnv, name: &str) -> Result<Program> {
    let apps = installed_apps(env);
    if let Some(app) = named_app(&apps, name)? {
        return Ok(Program { name: shown_name(app), command: app.command.clone(), installed: true });
    }
    if find_executable(env, name).is_some() {
        return Ok(Program { name: name.to_owned(), command: vec![name.to_owned()], installed: false });
    }
    let known = apps.iter().flat_map(|app| [app.id.clone(), app.name.clone()]);
    let near = nearest(name, known).map_or_else(String::new, |near| format!("; did you mean '{near}'?"));
    Err(Error::bad_request(format!(
        "there is no app or program '{name}'{near} (an app has an id, a program is a name on PATH or an absolute path)"
    ))
    .with("field", "program"))
}

/// The app with this id, else the one that starts this program. Of several that start it, the one that adds nothing of its
/// own is meant: `libreoffice` is not `libreoffice --calc`.
fn named_app<'a>(apps: &'a [App], name: &str) -> Result<Option<&'a App>> {
    if let Some(app) = apps.iter().find(|app| app.id == name) {
        return Ok(Some(app));
    }
    let called: Vec<&App> = apps.iter().filter(|app| app.is_called(name)).collect();
    match called[..] {
        [] => Ok(None),
        [app] => Ok(Some(app)),
        _ => match called.iter().find(|app| app.command.len() == 1) {
            Some(app) => Ok(Some(app)),
            None => {
                let ids: Vec<&str> = called.iter().take(MOST_SIMILAR).map(|app| app.id.as_str()).collect();
                let message = format!("several apps start '{name}'; name one by its id: {}", ids.join(", "));
                Err(Error::bad_request(message).with("field", "program"))
            }
        },
    }
}

/// The apps that start the same file: `soffice` is what `libreoffice --calc` runs.
fn apps_of_same_file(env: &SessionEnv, apps: &[App], name: &str) -> Vec<String> {
    let file = |name: &str| find_executable(env, name).and_then(|path| path.canonicalize().ok());
    let Some(wanted) = file(name) else { return Vec::new() };
    let same = apps.iter().filter(|app| file(app.program()).as_ref() == Some(&wanted));
    same.take(MOST_SIMILAR).map(|app| app.id.clone()).collect()
}

/// Rules may be about what people call it or about the program.
fn shown_name(app: &App) -> String {
    let program = app.program().rsplit('/').next().unwrap_or_default();
    if app.name.eq_ignore_ascii_case(program) {
        app.name.clone()
    } else {
        format!("{} ({program})", app.name)
    }
}

fn find_executable(env: &SessionEnv, name: &str) -> Option<PathBuf> {
    let runs = |path: &Path| {
        let found = std::fs::metadata(path);
        found.is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
    };
    if name.contains('/') {
        return Some(PathBuf::from(name)).filter(|path| path.is_absolute() && runs(path));
    }
    env.on_path(name).find(|path| !name.is_empty() && runs(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(entry: &str, expected: Option<(&str, &[&str])>) {
        let found =
            parse_entry("x", &format!("[Desktop Entry]\n{entry}\n[Desktop Action new]\nExec=other\n"));
        let found =
            found.as_ref().map(|app| (app.name.as_str(), app.command.iter().map(String::as_str).collect()));
        assert_eq!(found, expected.map(|(name, command)| (name, command.to_vec())), "{entry}");
    }

    #[test]
    fn entries_are_read() {
        check("Type=Application\nName=Calc\nExec=calc %U\n", Some(("Calc", &["calc"])));
        check("Type = Application\nName=A\\sB\nExec=a\\\\sb", Some(("A B", &["a\\sb"])));
        check(
            "Type=Application\nName[de]=Rechner\nName=Calc\nExec=/usr/bin/calc -a b",
            Some(("Calc", &["/usr/bin/calc", "-a", "b"])),
        );
    }

    #[test]
    fn what_people_do_not_see_is_left_out() {
        for line in ["NoDisplay=true", "Hidden=true", "Terminal=true", "Type=Link"] {
            check(&format!("Type=Application\nName=Calc\nExec=calc\n{line}"), None);
        }
        check("Type=Application\nName=Calc", None);
        check("Type=Application\nName=Calc\nExec=%f", None);
    }

    #[test]
    fn command_lines_are_split_as_the_specification_says() {
        let check = |line: &str, expected: &[&str]| assert_eq!(exec_words(line), expected, "{line}");
        check("a b  c", &["a", "b", "c"]);
        check(r#""my app" --say "a \"b\" \$c" %F"#, &["my app", "--say", "a \"b\" $c"]);
        check("a --file=%f 100%% %i", &["a", "--file=", "100%"]);
        check(r#"a """#, &["a", ""]);
        check(r#"a "open"#, &["a", "open"]);
        check("", &[]);
    }

    #[test]
    fn nearer_folders_win_and_can_hide() {
        let root = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        let entry = |name: &str| format!("[Desktop Entry]\nType=Application\nName={name}\nExec={name}\n");
        write("own/a.desktop", &entry("Mine"));
        write("own/b.desktop", "[Desktop Entry]\nHidden=true\n");
        write("shared/a.desktop", &entry("Theirs"));
        write("shared/b.desktop", &entry("Hidden"));
        write("shared/kde/c.desktop", &entry("Deep"));
        write("shared/readme.txt", "");
        let apps =
            installed_in(&[root.path().join("own"), root.path().join("shared"), root.path().join("none")]);
        let ids: Vec<(&str, &str)> = apps.iter().map(|app| (app.id.as_str(), app.name.as_str())).collect();
        assert_eq!(ids, [("kde-c", "Deep"), ("a", "Mine")]);
    }

    #[test]
    fn a_program_is_the_app_that_adds_nothing_to_it() {
        let app = |id: &str, command: &[&str]| App {
            id: id.to_owned(),
            name: id.to_owned(),
            command: command.iter().map(ToString::to_string).collect(),
        };
        let mut apps = vec![
            app("calc", &["office", "--calc"]),
            app("writer", &["/usr/bin/office", "--writer"]),
            app("start", &["office"]),
            app("viewer", &["show", "--plain"]),
        ];
        let found = |apps: &[App], name: &str| {
            named_app(apps, name).map(|app| app.map(|app| app.id.clone()).unwrap_or_default())
        };
        for (name, id) in [("calc", "calc"), ("office", "start"), ("show", "viewer"), ("else", "")] {
            assert_eq!(found(&apps, name).unwrap(), id, "{name}");
        }
        apps.remove(2);
        let refused = found(&apps, "office").unwrap_err();
        assert!(refused.message.ends_with("name one by its id: calc, writer"), "{refused}");
    }

    #[test]
    fn programs_are_found_by_name_or_whole_path_only() {
        assert!(
            find_executable(&SessionEnv::read(), "sh").is_some()
                && find_executable(&SessionEnv::read(), "/bin/sh").is_some()
        );
        for none in ["", "bin/sh", "../bin/sh", "/bin", "no-such-program", "--help", "sh -c true"] {
            assert!(find_executable(&SessionEnv::read(), none).is_none(), "{none}");
        }
        let sh = |program: &str| App {
            id: program.to_owned(),
            name: String::new(),
            command: vec![program.to_owned()],
        };
        let apps = [sh("/bin/sh"), sh("/no/such/program")];
        assert_eq!(apps_of_same_file(&SessionEnv::read(), &apps, "sh"), ["/bin/sh"]);
        assert!(apps_of_same_file(&SessionEnv::read(), &apps, "no-such-program").is_empty());
        let refused = find_program(&SessionEnv::read(), "no-such-program").unwrap_err();
        assert!(refused.message.contains("'no-such-program'"), "{refused}");
    }
}
