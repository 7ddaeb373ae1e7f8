//! Files that a caller names are read only below the folders that the config names.

use std::path::{Path, PathBuf};

/// The real path of `name`, if it lies below one of `roots`. Links are followed before the check, and
/// the answer for a file outside does not tell whether it exists.
pub fn below(roots: &[PathBuf], name: &str) -> Result<PathBuf, String> {
    let outside = || {
        let folders: Vec<String> = roots.iter().map(|root| root.display().to_string()).collect();
        format!("'{name}' is not below a folder that may be read ({})", folders.join(", "))
    };
    if name.contains('\0') || name.contains("://") {
        return Err(outside());
    }
    let mut missing = false;
    for root in roots.iter().filter_map(|root| root.canonicalize().ok()) {
        for candidate in candidates(&root, name) {
            match candidate.canonicalize() {
                Ok(real) if real.starts_with(&root) => return Ok(real),
                Ok(_) => {}
                Err(_) => missing |= stays_inside(&root, &candidate),
            }
        }
    }
    if missing { Err(format!("there is no file '{name}'")) } else { Err(outside()) }
}

/// A name is meant from the working folder, or from the root itself.
fn candidates(root: &Path, name: &str) -> Vec<PathBuf> {
    let from_here = std::env::current_dir().unwrap_or_default().join(name);
    vec![from_here, root.join(name)]
}

/// Whether a path that does not exist would lie below the root, judged by its words alone.
fn stays_inside(root: &Path, candidate: &Path) -> bool {
    use std::path::Component;
    candidate.starts_with(root) && !candidate.components().any(|part| part == Component::ParentDir)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, expected: &str) {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("root");
        std::fs::create_dir_all(root.join("inner")).unwrap();
        std::fs::write(root.join("inner/a.yaml"), "").unwrap();
        std::fs::write(folder.path().join("secret.yaml"), "").unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink(folder.path(), root.join("link")).unwrap();
        let got = match below(&[root], name) {
            Ok(path) => path.file_name().unwrap().to_string_lossy().into_owned(),
            Err(message) => message,
        };
        assert!(got.contains(expected), "{name:?} gave {got:?}");
    }

    #[test]
    fn files_below_the_root_are_found() {
        check("inner/a.yaml", "a.yaml");
        check("inner/../inner/a.yaml", "a.yaml");
    }

    #[test]
    fn files_outside_are_refused_alike() {
        for name in [
            "../secret.yaml",
            "../missing.yaml",
            "/etc/passwd",
            "/no/such/file",
            "file:///etc/passwd",
            "a\0b",
        ] {
            check(name, "is not below a folder");
        }
    }

    #[cfg(unix)]
    #[test]
    fn links_do_not_lead_out() {
        check("link/secret.yaml", "is not below a folder");
    }

    #[test]
    fn a_missing_file_inside_is_said_to_be_missing() {
        check("inner/b.yaml", "there is no file");
    }
}
