//! Programs that can be started, and what a clipboard holds.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::text::nearest;

/// A program that the desktop offers to people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct App {
    /// What launch_app takes: `org.gnome.Calculator`.
    pub id: String,
    /// What people call it.
    pub name: String,
    /// What is started, and with which arguments; never empty.
    pub command: Vec<String>,
}

impl App {
    pub fn program(&self) -> &str {
        self.command.first().map_or("", String::as_str)
    }

    /// Whether a caller who writes this means the app: its id, or its program with or without the folder.
    pub fn is_called(&self, name: &str) -> bool {
        let base = self.program().rsplit('/').next().unwrap_or_default();
        self.id == name || self.program() == name || (!name.is_empty() && base == name)
    }
}

pub const MOST_SIMILAR: usize = 5;

/// The ids of apps whose id, name or program has the word in it, or else of the one that is written nearly so.
pub fn similar_apps(apps: &[App], name: &str) -> Vec<String> {
    let wanted = name.rsplit('/').next().unwrap_or_default().to_lowercase();
    let has = |text: &str| !wanted.is_empty() && text.to_lowercase().contains(&wanted);
    let fits = |app: &&App| has(&app.id) || has(&app.name) || has(app.program());
    let found: Vec<String> = apps.iter().filter(fits).take(MOST_SIMILAR).map(|app| app.id.clone()).collect();
    if !found.is_empty() {
        return found;
    }
    nearest(&wanted, apps.iter().map(|app| app.id.to_lowercase()))
        .into_iter()
        .flat_map(|near| apps.iter().filter(move |app| app.id.to_lowercase() == near))
        .map(|app| app.id.clone())
        .collect()
}

/// What a window and its program are called, as far as the desktop tells.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AppNames {
    /// The name of the file that runs.
    pub executable: Option<String>,
    /// `org.gnome.Calculator`
    pub desktop_id: Option<String>,
    /// What windows are grouped by: the instance and the class of X11.
    pub classes: Vec<String>,
}

/// What a caller's word for a program was found to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// What people, and rules, call it.
    pub name: String,
    pub command: Vec<String>,
    /// It is one of those that the desktop offers.
    pub installed: bool,
}

/// How a program that was launched ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgramEnd {
    /// `exit status: 1`
    pub status: String,
    pub is_success: bool,
    /// The end of what it wrote to its error output, as far as that was kept.
    pub last_words: String,
}

/// A program with the caller's own arguments.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Launch {
    pub command: Vec<String>,
    pub cwd: Option<PathBuf>,
}

impl Launch {
    /// The program without its folder.
    pub fn file_name(&self) -> &str {
        let program = self.command.first().map_or("", String::as_str);
        program.rsplit(['/', '\\']).next().unwrap_or_default()
    }
}

/// A command that is run to its end, or ended with everything that it started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    pub launch: Launch,
    pub timeout: Duration,
    /// Of each output the beginning is kept.
    pub max_output_bytes: usize,
}

/// What came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// `None` when it was ended.
    pub exit_code: Option<i32>,
    pub timed_out: bool,
    pub took: Duration,
    pub stdout: Printed,
    pub stderr: Printed,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Printed {
    pub bytes: Vec<u8>,
    pub truncated: bool,
}

/// What the clipboard holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Clip {
    pub text: Option<String>,
    /// What it offers instead of a text.
    pub formats: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_app_answers_to_its_id_and_its_program() {
        let app = |program: &str| App {
            id: "org.acme.Calc".to_owned(),
            name: "Calculator".to_owned(),
            command: vec![program.to_owned()],
        };
        for (program, name, expected) in [
            ("calc", "org.acme.Calc", true),
            ("calc", "calc", true),
            ("/usr/bin/calc", "calc", true),
            ("/usr/bin/calc", "/usr/bin/calc", true),
            ("/usr/bin/calc", "/tmp/calc", false),
            ("calc", "Calculator", false),
            ("calc", "", false),
        ] {
            assert_eq!(app(program).is_called(name), expected, "{program} {name}");
        }
    }

    #[test]
    fn a_word_that_is_no_app_has_similar_ones() {
        let app = |id: &str, name: &str, program: &str| App {
            id: id.to_owned(),
            name: name.to_owned(),
            command: vec![program.to_owned()],
        };
        let apps = [
            app("libreoffice-calc", "LibreOffice Calc", "libreoffice"),
            app("libreoffice-writer", "LibreOffice Writer", "libreoffice"),
            app("kate", "Kate", "/usr/bin/kate"),
        ];
        let check = |name: &str, expected: &[&str]| assert_eq!(similar_apps(&apps, name), expected, "{name}");
        check("office", &["libreoffice-calc", "libreoffice-writer"]);
        check("Calc", &["libreoffice-calc"]);
        check("/opt/kate", &["kate"]);
        check("kste", &["kate"]);
        check("gimp", &[]);
        check("", &[]);
    }
}
