//! File choosers of pages, as windows: a field for names and two buttons. Files come from below one folder and from
//! nowhere else; without that folder a chooser can only be closed.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};

use super::Browser;
use super::own_window::{OwnAnswer, OwnField, OwnWindow, own_bounds};
use super::page::INPUT_TIME;
use super::tabs::{FileChooser, TabState};
use crate::clock::{Cancel, Deadline};
use crate::error::{Error, Kind, Result};
use crate::files::{self, NotBelow};
use crate::model::input::Act;
use crate::platform::interaction::done_by;
use crate::platform::{Done, Route, gone};

const TAKES: &str = "a file chooser takes names in its field, clicks on its buttons, enter and escape; choose_files does \
                     it in one call";
const NO_ROOT: &str =
    "no folder is configured that files may be chosen from (browser.upload_root); close the chooser";

/// What the page does with its files.
const AFTER_CHOICE: Duration = Duration::from_millis(100);

/// The window of a tab's file chooser, if it has one.
pub fn chooser_of(tab: &TabState, root: Option<&Path>) -> Option<OwnWindow> {
    let chooser = tab.chooser.as_ref()?;
    let what = if chooser.multiple { "files, one in a line," } else { "one file" };
    let message = match root {
        Some(root) => format!("Choose {what} below {}", root.display()),
        None => NO_ROOT.to_owned(),
    };
    let field =
        OwnField { name: "File names".to_owned(), text: chooser.text.clone(), enabled: root.is_some() };
    Some(OwnWindow {
        uid: tab.chooser_uid(),
        number: chooser.number,
        title: format!("Choose files — {}", tab.title),
        message,
        field: Some(field),
        accept: "Open",
        can_accept: root.is_some() && !named_lines(&chooser.text).is_empty(),
        dismiss: Some("Cancel"),
        bounds: own_bounds(tab),
        takes: TAKES,
    })
}

/// The names in the field.
pub fn named_lines(text: &str) -> Vec<String> {
    text.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

/// Files that a page may get: below the folder, and plain.
pub fn files_below(root: Option<&Path>, names: &[String]) -> Result<Vec<PathBuf>> {
    let Some(root) = root else {
        return Err(Error::new(Kind::PermissionDenied, NO_ROOT).with("field", "paths"));
    };
    let roots = [root.to_owned()];
    names.iter().map(|name| plain_file(&roots, name)).collect()
}

fn plain_file(roots: &[PathBuf], name: &str) -> Result<PathBuf> {
    let found = files::find_below(roots, name).map_err(|why| match why {
        NotBelow::Missing(_) => no_such_file(roots, name),
        NotBelow::Outside(why) => Error::new(Kind::PermissionDenied, why).with("field", "paths"),
    })?;
    match found.open() {
        Ok(_) => Ok(found.path()),
        Err(_) => {
            Err(Error::bad_request(format!("'{name}' is not a file that can be read")).with("field", "paths"))
        }
    }
}

fn no_such_file(roots: &[PathBuf], name: &str) -> Error {
    let folders: Vec<String> = roots.iter().map(|root| root.display().to_string()).collect();
    let near: Vec<String> = roots.iter().flat_map(|root| files::near_names(root, name)).collect();
    let near = if near.is_empty() { String::new() } else { format!("; near: {}", near.join(", ")) };
    let message =
        format!("there is no file '{name}' below {} (browser.upload_root){near}", folders.join(", "));
    Error::bad_request(message).with("field", "paths")
}

impl Browser {
    fn chooser_answer(&self, tab: &TabState, act: &Act) -> Result<OwnAnswer> {
        let window = chooser_of(tab, self.files.upload_root.as_deref());
        window.ok_or_else(|| gone(&tab.chooser_uid()))?.answer(act)
    }

    pub(super) fn check_chooser(&self, tab: &TabState, act: &Act) -> Result<()> {
        match (self.chooser_answer(tab, act)?, &tab.chooser) {
            (OwnAnswer::Accept, Some(chooser)) => self.files_in_field(chooser).map(|_| ()),
            _ => Ok(()),
        }
    }

    pub(super) fn act_on_chooser(&self, tab: &TabState, act: &Act, cancel: &Cancel) -> Result<Done> {
        match (self.chooser_answer(tab, act)?, &tab.chooser) {
            (OwnAnswer::Write(text), _) => self.tabs.change(&tab.target, |tab| {
                if let Some(chooser) = &mut tab.chooser {
                    chooser.text = text;
                }
            }),
            (OwnAnswer::Accept, Some(chooser)) => {
                self.hand_files(tab, chooser, &self.files_in_field(chooser)?, cancel)?;
            }
            (OwnAnswer::Dismiss, _) => self.close_chooser(tab),
            (OwnAnswer::Accept, None) | (OwnAnswer::Nothing, _) => {}
        }
        Ok(Done { verified: true, settles_in: AFTER_CHOICE, ..done_by(Route::Accessibility) })
    }

    fn files_in_field(&self, chooser: &FileChooser) -> Result<Vec<PathBuf>> {
        let names = named_lines(&chooser.text);
        if names.is_empty() {
            return Err(Error::bad_request("no file is named in the field of the chooser"));
        }
        files_below(self.files.upload_root.as_deref(), &names)
    }

    pub(super) fn close_chooser(&self, tab: &TabState) {
        self.tabs.change(&tab.target, |tab| tab.chooser = None);
    }

    /// Gives files to the field that asked for them.
    pub(super) fn hand_files(
        &self,
        tab: &TabState,
        chooser: &FileChooser,
        files: &[PathBuf],
        cancel: &Cancel,
    ) -> Result<()> {
        if files.len() > 1 && !chooser.multiple {
            return Err(Error::bad_request("the page takes one file here").with("field", "paths"));
        }
        let params = json!({ "files": files, "backendNodeId": chooser.backend_node });
        let (deadline, session) = (Deadline::after(INPUT_TIME), Some(chooser.session.as_str()));
        let order = self.connection.send(session, "DOM.setFileInputFiles", params)?;
        self.connection.wait::<Value>(&order, deadline, cancel)?;
        self.close_chooser(tab);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_folder_it_can_only_be_closed() {
        let enabled = |text: &str, root: Option<&Path>| -> Vec<String> {
            let chooser = FileChooser {
                number: 1,
                session: "s".to_owned(),
                backend_node: 1,
                multiple: true,
                text: text.to_owned(),
            };
            let tab = TabState { chooser: Some(chooser), ..TabState::of_test() };
            let tree = chooser_of(&tab, root).unwrap().tree();
            let parts = tree.elements().iter().skip(2).filter(|part| part.enabled);
            parts.map(|part| part.name.clone()).collect()
        };
        let root = Some(Path::new("/files"));
        assert_eq!(enabled("a", None), ["Cancel"]);
        assert_eq!(enabled("a", root), ["File names", "Open", "Cancel"]);
        assert_eq!(enabled(" ", root), ["File names", "Cancel"]);
        assert_eq!(files_below(None, &["a".to_owned()]).unwrap_err().kind, Kind::PermissionDenied);
    }

    #[test]
    fn files_come_from_below_the_folder() {
        let root = std::env::temp_dir().join(crate::random::random_token("oso-chooser-"));
        std::fs::create_dir(&root).unwrap();
        std::fs::write(root.join("a.txt"), "a").unwrap();
        let names = |name: &str| files_below(Some(&root), &[name.to_owned()]);
        assert!(names("a.txt").unwrap()[0].ends_with("a.txt"));
        for outside in ["/etc/passwd", "../../etc/passwd", "none.txt", "."] {
            assert!(names(outside).is_err(), "{outside}");
        }
        let kind = |name: &str| names(name).unwrap_err().kind;
        assert_eq!((kind("/etc/passwd"), kind("b.txt")), (Kind::PermissionDenied, Kind::BadRequest));
        std::fs::create_dir(root.join("inner")).unwrap();
        std::fs::write(root.join("inner/photo.png"), "p").unwrap();
        let said = names("foto.png").unwrap_err().message;
        assert!(
            said.contains("there is no file 'foto.png'") && said.contains("near: inner/photo.png"),
            "{said}"
        );
        std::fs::remove_dir_all(&root).unwrap();
    }
}
