//! The home of a private desktop, which is deleted with it: who works there is told so, and what was saved there is counted
//! when it goes.

use std::fs::DirEntry;
use std::path::{Path, PathBuf};

/// Where programs save what a person asks them to save. What begins with a dot is a program's own.
const SAVED_IN: &[&str] = &["", "Documents", "Desktop", "Downloads"];

/// A line for whoever starts programs.
pub fn where_files_go(home: &str, writable: &[PathBuf]) -> String {
    let folders: Vec<String> = writable.iter().map(|folder| folder.display().to_string()).collect();
    let kept = match folders.as_slice() {
        [] => "no folder is shared with the user (--share DIR)".to_owned(),
        shared => format!("to keep files, save them below {}", shared.join(" or ")),
    };
    format!("programs see HOME={home}; what they save there is deleted with the server; {kept}")
}

/// What is said before a home goes in which something was saved.
pub fn what_is_lost(home: &Path) -> Option<String> {
    let count: usize = SAVED_IN.iter().map(|folder| saved_in(&home.join(folder))).sum();
    let files = if count == 1 { "1 file".to_owned() } else { format!("{count} files") };
    (count > 0).then(|| {
        format!(
            "the private desktop's home is deleted with {files} that programs saved there; a folder given by --share is \
             kept"
        )
    })
}

fn saved_in(folder: &Path) -> usize {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let is_hidden = |entry: &DirEntry| entry.file_name().to_string_lossy().starts_with('.');
    let is_file = |entry: &DirEntry| entry.file_type().is_ok_and(|kind| kind.is_file());
    entries.filter(|entry| is_file(entry) && !is_hidden(entry)).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_works_there_is_told_what_is_kept() {
        let check = |writable: &[&str], expected: &str| {
            let writable: Vec<PathBuf> = writable.iter().map(PathBuf::from).collect();
            let said = where_files_go("/tmp/home", &writable);
            assert!(said.contains("HOME=/tmp/home;") && said.ends_with(expected), "{said}");
        };
        check(&[], "no folder is shared with the user (--share DIR)");
        check(&["/srv/a"], "to keep files, save them below /srv/a");
        check(&["/srv/a", "/srv/b"], "below /srv/a or /srv/b");
    }

    #[test]
    fn what_programs_saved_is_counted() {
        let home = tempfile::tempdir().unwrap();
        let write = |name: &str| {
            let path = home.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "x").unwrap();
        };
        for own in [".config/app.ini", ".bashrc", ".cache/thumb.png"] {
            write(own);
        }
        assert_eq!(what_is_lost(home.path()), None);
        write("letter.odt");
        assert!(what_is_lost(home.path()).unwrap().contains("with 1 file that"));
        write("Documents/report.pdf");
        write("Downloads/data.csv");
        assert!(what_is_lost(home.path()).unwrap().contains("with 3 files that"));
    }
}
