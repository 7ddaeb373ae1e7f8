//! Files that a caller names are read only below the folders that the config names, and files that hold private data
//! are created for this user alone.
//!
//! A name is judged once and opened later. In between somebody may put a link where a folder was, so what was judged
//! is kept as a `Below`, which follows no link when it is opened.

use std::fs::{DirBuilder, File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

/// A place below a root, by its real name: when it was found, no part of it was a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Below {
    root: PathBuf,
    inner: PathBuf,
}

/// Why a file was not read.
#[derive(Debug)]
pub enum ReadFailure {
    /// A folder, a pipe, a device, a link.
    NoFile,
    /// It has so many bytes, or more.
    TooLong(u64),
    Failed(io::Error),
}

impl Below {
    /// The place that `path` really is, if it lies below `root`.
    pub fn find(root: &Path, path: &Path) -> Option<Below> {
        let root = root.canonicalize().ok()?;
        let inner = path.canonicalize().ok()?.strip_prefix(&root).ok()?.to_owned();
        Some(Below { root, inner })
    }

    pub fn path(&self) -> PathBuf {
        self.root.join(&self.inner)
    }

    /// The bytes of a plain file, at most `most`. What is longer is not read at all.
    pub fn read(&self, most: u64) -> Result<Vec<u8>, ReadFailure> {
        let file = self.open()?;
        let length = file.metadata().map_err(ReadFailure::Failed)?.len();
        if length > most {
            return Err(ReadFailure::TooLong(length));
        }
        let mut bytes = Vec::new();
        // A file that grows meanwhile is still bounded.
        file.take(most + 1).read_to_end(&mut bytes).map_err(ReadFailure::Failed)?;
        if bytes.len() as u64 > most { Err(ReadFailure::TooLong(bytes.len() as u64)) } else { Ok(bytes) }
    }

    /// Goes down folder by folder, each held open while the next is looked for in it: whatever is renamed or linked
    /// meanwhile, this never leaves the root. Opening waits for nobody.
    #[cfg(unix)]
    pub fn open(&self) -> Result<File, ReadFailure> {
        use rustix::fs::{AtFlags, FileType, Mode, OFlags, open, openat, statat};
        let failed = |problem: rustix::io::Errno| ReadFailure::Failed(problem.into());
        let a_folder = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let (Some(parent), Some(name)) = (self.inner.parent(), self.inner.file_name()) else {
            return Err(ReadFailure::NoFile);
        };
        let mut folder = open(&self.root, a_folder, Mode::empty()).map_err(failed)?;
        for part in parent {
            folder = openat(&folder, part, a_folder, Mode::empty()).map_err(failed)?;
        }
        // Merely opening a device may do something.
        let is_plain = |mode| FileType::from_raw_mode(mode) == FileType::RegularFile;
        if !is_plain(statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW).map_err(failed)?.st_mode) {
            return Err(ReadFailure::NoFile);
        }
        let a_file = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        plain(File::from(openat(&folder, name, a_file, Mode::empty()).map_err(failed)?))
    }

    /// Without folders that can be held open, the name is compared before and after.
    #[cfg(not(unix))]
    pub fn open(&self) -> Result<File, ReadFailure> {
        let path = self.path();
        if !path.symlink_metadata().map_err(ReadFailure::Failed)?.is_file() {
            return Err(ReadFailure::NoFile);
        }
        let file = plain(File::open(&path).map_err(ReadFailure::Failed)?)?;
        if path.canonicalize().map_err(ReadFailure::Failed)? != path {
            return Err(ReadFailure::NoFile);
        }
        Ok(file)
    }
}

fn plain(file: File) -> Result<File, ReadFailure> {
    let is_file = file.metadata().map_err(ReadFailure::Failed)?.is_file();
    if is_file { Ok(file) } else { Err(ReadFailure::NoFile) }
}

/// Why a name leads to no file below a root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotBelow {
    /// It would lie there, and is not there.
    Missing(String),
    Outside(String),
}

impl NotBelow {
    pub fn message(self) -> String {
        match self {
            NotBelow::Missing(message) | NotBelow::Outside(message) => message,
        }
    }
}

/// The place of `name`, if it lies below one of `roots`. Links are followed before the check, and
/// the answer for a file outside does not tell whether it exists.
pub fn below(roots: &[PathBuf], name: &str) -> Result<Below, String> {
    find_below(roots, name).map_err(NotBelow::message)
}

/// The same, for who tells a wrong name from a forbidden one.
pub fn find_below(roots: &[PathBuf], name: &str) -> Result<Below, NotBelow> {
    let outside = || {
        let folders: Vec<String> = roots.iter().map(|root| root.display().to_string()).collect();
        let message = format!("'{name}' is not in a folder that may be read ({})", folders.join(", "));
        NotBelow::Outside(message)
    };
    if name.contains('\0') || name.contains("://") {
        return Err(outside());
    }
    let mut missing = false;
    for root in roots.iter().filter_map(|root| root.canonicalize().ok()) {
        for candidate in candidate_paths(&root, name) {
            if let Some(found) = Below::find(&root, &candidate) {
                return Ok(found);
            }
            missing |= would_be_inside(&root, &candidate);
        }
    }
    if missing { Err(NotBelow::Missing(format!("there is no file '{name}'"))) } else { Err(outside()) }
}

/// How many names of a folder are compared with a wrong one, how many of them are told, and how like they have to be.
const MOST_COMPARED: usize = 1000;
const MOST_NEAR: usize = 3;
const LEAST_LIKENESS: f64 = 0.4;

/// The plain files of a folder, and of the folders in it, that are called most like `name`.
pub fn near_names(root: &Path, name: &str) -> Vec<String> {
    let entries =
        |folder: &Path| std::fs::read_dir(folder).into_iter().flatten().flatten().take(MOST_COMPARED);
    let is_folder = |entry: &std::fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_dir());
    let folders = entries(root).filter(is_folder).map(|entry| entry.path());
    let folders: Vec<PathBuf> = [root.to_owned()].into_iter().chain(folders).collect();
    let files = folders.iter().flat_map(|folder| entries(folder));
    let files = files.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file())).take(MOST_COMPARED);
    let likeness = |path: &Path| {
        let last = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        strsim::normalized_damerau_levenshtein(&last(path), &last(Path::new(name)))
    };
    let mut near: Vec<(f64, PathBuf)> = files
        .map(|entry| (likeness(&entry.path()), entry.path()))
        .filter(|(like, _)| *like >= LEAST_LIKENESS)
        .collect();
    near.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    let inner = |path: PathBuf| path.strip_prefix(root).map_or(path.clone(), Path::to_owned);
    near.into_iter().take(MOST_NEAR).map(|(_, path)| inner(path).display().to_string()).collect()
}

/// A name is meant from the working folder, or from the root itself.
fn candidate_paths(root: &Path, name: &str) -> Vec<PathBuf> {
    let from_here = std::env::current_dir().unwrap_or_default().join(name);
    vec![from_here, root.join(name)]
}

/// Whether a path that does not exist would lie below the root: what there is of it does, and plain names follow. A
/// link on the way that leads out, or nowhere, must not tell what is behind it.
pub fn would_be_inside(root: &Path, candidate: &Path) -> bool {
    let plain = !candidate.components().any(|part| part == Component::ParentDir);
    let there = candidate.ancestors().find(|part| part.symlink_metadata().is_ok());
    let real = there.and_then(|there| there.canonicalize().ok());
    plain && real.is_some_and(|real| real.starts_with(root))
}

// ── private files ───────────────────────────────────────────────────────────────────────────────

/// Creates a file that only this user may read, and opens it as `options` say. A file or a link that is already there
/// is refused.
///
/// On Windows a file inherits the access list of its folder, and a user's folder keeps other users out.
pub fn create_private(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    options.create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    options.open(path)
}

/// Creates a folder that only this user may enter.
pub fn create_private_dir(path: &Path, with_parents: bool) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(with_parents);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// The mode of a file that others may read or write; `None` for a private one.
#[cfg(unix)]
pub fn mode_open_to_others(found: &Metadata) -> Option<u32> {
    use std::os::unix::fs::PermissionsExt;
    let mode = found.permissions().mode() & 0o777;
    (mode & 0o077 != 0).then_some(mode)
}

/// Where files have access lists instead of modes, the user's folder is what keeps others out.
#[cfg(not(unix))]
pub fn mode_open_to_others(_: &Metadata) -> Option<u32> {
    None
}

/// Why a file may say what somebody else wants: another user owns it, or others may write to it. `None` for one that
/// only this user and the administrator can change.
#[cfg(unix)]
pub fn written_by_others(found: &Metadata, path: &Path) -> Option<String> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    let us = rustix::process::geteuid().as_raw();
    if found.uid() != us && found.uid() != 0 {
        return Some(format!("it belongs to another user (uid {}); copy it, or remove it", found.uid()));
    }
    let mode = found.permissions().mode() & 0o777;
    // Where each user has a group of their own, files are writable by that group as a rule.
    let own_group = found.gid() == us && rustix::process::getegid().as_raw() == us;
    let closed = if own_group { 0o002 } else { 0o022 };
    (mode & closed != 0)
        .then(|| format!("other users can change it (mode {mode:04o}); run: chmod go-w {}", path.display()))
}

/// Where files have access lists instead of modes, the folder is what keeps others out.
#[cfg(not(unix))]
pub fn written_by_others(_: &Metadata, _: &Path) -> Option<String> {
    None
}

#[cfg(unix)]
pub fn is_same_file(found: &Metadata, opened: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    (found.dev(), found.ino()) == (opened.dev(), opened.ino())
}

/// Without inode numbers the kind of file is what can be compared.
#[cfg(not(unix))]
pub fn is_same_file(found: &Metadata, opened: &Metadata) -> bool {
    found.file_type() == opened.file_type()
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
        for (target, name) in [(folder.path(), "link"), (Path::new("/no/such/file"), "nowhere")] {
            std::os::unix::fs::symlink(target, root.join(name)).unwrap();
        }
        let got = match below(&[root], name) {
            Ok(found) => found.path().file_name().unwrap().to_string_lossy().into_owned(),
            Err(message) => message,
        };
        assert!(got.contains(expected), "{name:?} gave {got:?}");
    }

    #[test]
    fn files_below_the_root_are_found() {
        check("inner/a.yaml", "a.yaml");
        check("inner/../inner/a.yaml", "a.yaml");
    }

    /// H-17 on code: in the same words, whether there is such a file or not.
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
            check(name, "is not in a folder");
        }
    }

    /// H-17, H-19 on code: what is behind a link that leads out is not told apart from what is not there.
    #[cfg(unix)]
    #[test]
    fn links_do_not_lead_out() {
        for name in ["link/secret.yaml", "link/missing.yaml", "link/missing/deeper.yaml", "nowhere", "link"] {
            check(name, "is not in a folder");
        }
    }

    /// H-19 on code: a folder or a file that becomes a link after it was judged is not opened.
    #[cfg(unix)]
    #[test]
    fn what_is_exchanged_after_the_check_is_not_opened() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().unwrap();
        let (root, elsewhere) = (folder.path().join("root"), folder.path().join("elsewhere"));
        for place in [&root, &elsewhere] {
            std::fs::create_dir_all(place.join("inner/deep")).unwrap();
            std::fs::write(place.join("inner/deep/a"), place.to_str().unwrap()).unwrap();
        }
        let found = below(std::slice::from_ref(&root), "inner/deep/a").unwrap();
        assert_eq!(found.read(1000).unwrap(), root.to_str().unwrap().as_bytes());
        for part in ["inner/deep/a", "inner/deep", "inner"] {
            std::fs::rename(root.join(part), root.join("aside")).unwrap();
            symlink(elsewhere.join(part), root.join(part)).unwrap();
            assert!(found.read(1000).is_err(), "{part}");
            std::fs::remove_file(root.join(part)).unwrap();
            std::fs::rename(root.join("aside"), root.join(part)).unwrap();
        }
        std::fs::rename(&root, folder.path().join("aside")).unwrap();
        symlink(&elsewhere, &root).unwrap();
        assert!(found.read(1000).is_err(), "the root itself");
    }

    /// H-20 on code: what is no plain file is neither opened nor waited for, also when it was one at the check.
    #[cfg(unix)]
    #[test]
    fn pipes_folders_and_long_files_are_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a");
        std::fs::write(&file, "12345").unwrap();
        let found = below(&[folder.path().to_owned()], "a").unwrap();
        assert_eq!(found.read(5).unwrap(), b"12345");
        assert!(matches!(found.read(4), Err(ReadFailure::TooLong(5))));
        std::fs::remove_file(&file).unwrap();
        assert!(std::process::Command::new("mkfifo").arg(&file).status().unwrap().success());
        assert!(matches!(found.read(5), Err(ReadFailure::NoFile)));
        std::fs::remove_file(&file).unwrap();
        std::fs::create_dir(&file).unwrap();
        assert!(matches!(found.read(5), Err(ReadFailure::NoFile)));
        assert!(matches!(below(&[folder.path().to_owned()], "").unwrap().read(5), Err(ReadFailure::NoFile)));
        std::fs::remove_dir(&file).unwrap();
        assert!(matches!(found.read(5), Err(ReadFailure::Failed(_))));
    }

    #[test]
    fn a_missing_file_inside_is_said_to_be_missing() {
        check("inner/b.yaml", "there is no file");
    }
}
