//! Where a browser keeps its cookies and logins: a guest's folder that goes with it, or a profile that stays.
//!
//! A profile is a folder that only its owner can read. One browser at a time uses it: a lock in it says so, and goes with
//! the process that holds it.

use std::fs::{File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};

use crate::clock::{Clock, timestamp};
use crate::config::BrowserConfig;
use crate::files;
use crate::random::random_token;

const LOCK: &str = "os-screen-observer.lock";
/// Says when a person last logged in with it.
const WARMED: &str = "os-screen-observer.warmed";

/// The folder of a running browser.
#[derive(Debug)]
pub enum DataFolder {
    /// Made for this browser, and removed after it.
    Guest(PathBuf),
    /// It stays; the lock is held for as long as this lives.
    Kept { path: PathBuf, _lock: File },
}

impl DataFolder {
    /// The one that the config names, else a guest's.
    pub fn open(config: &BrowserConfig) -> Result<Self, String> {
        match (&config.user_data_dir, &config.profile) {
            (Some(_), Some(_)) => {
                Err("browser.profile and browser.user_data_dir (BROWSER_USER_DATA_DIR) are both \
                                       set; leave one of them out"
                    .to_owned())
            }
            (Some(folder), None) => Self::keep(folder.clone(), &format!("the folder {}", folder.display())),
            (None, Some(name)) => Self::profile(config, name),
            (None, None) => Self::guest(),
        }
    }

    fn guest() -> Result<Self, String> {
        let folder = std::env::temp_dir().join(random_token("os-screen-observer-browser-"));
        make_folder(&folder)?;
        Ok(Self::Guest(folder))
    }

    pub fn profile(config: &BrowserConfig, name: &str) -> Result<Self, String> {
        Self::keep(profile_folder(config, name)?, &format!("the profile '{name}'"))
    }

    fn keep(path: PathBuf, what: &str) -> Result<Self, String> {
        make_folder(&path)?;
        let about = |problem: std::io::Error| format!("{what} cannot be used: {problem}");
        let lock = OpenOptions::new().create(true).truncate(false).write(true).open(path.join(LOCK));
        let lock = lock.map_err(about)?;
        match lock.try_lock() {
            Ok(()) => Ok(Self::Kept { path, _lock: lock }),
            Err(TryLockError::WouldBlock) => {
                Err(format!("{what} is in use by another browser; close that one, or use another profile"))
            }
            Err(TryLockError::Error(problem)) => Err(about(problem)),
        }
    }

    pub fn path(&self) -> &Path {
        match self {
            Self::Guest(path) | Self::Kept { path, .. } => path,
        }
    }

    /// What goes when the browser has gone.
    pub fn to_remove(&self) -> Option<&Path> {
        match self {
            Self::Guest(path) => Some(path),
            Self::Kept { .. } => None,
        }
    }

    /// A person has logged in with it.
    pub fn note_login(&self, clock: &Clock) -> std::io::Result<()> {
        std::fs::write(self.path().join(WARMED), timestamp(clock.wall_time()))
    }
}

impl Drop for DataFolder {
    fn drop(&mut self) {
        if let Self::Guest(path) = self {
            // A shell has usually removed it by then.
            let _ = std::fs::remove_dir_all(path);
        }
    }
}

/// Only its owner can read it: it gets cookies and what pages store.
fn make_folder(folder: &Path) -> Result<(), String> {
    let made = if folder.is_dir() { Ok(()) } else { files::create_private_dir(folder, true) };
    let open_to_others =
        || std::fs::metadata(folder).ok().and_then(|found| files::mode_open_to_others(&found));
    match (made, open_to_others()) {
        (Err(problem), _) => {
            Err(format!("the folder {} for the browser cannot be made: {problem}", folder.display()))
        }
        (Ok(()), Some(mode)) => Err(format!(
            "other users can read {} (mode {mode:04o}), and it would hold logins; run: chmod 700 {0}",
            folder.display()
        )),
        (Ok(()), None) => Ok(()),
    }
}

fn profile_folder(config: &BrowserConfig, name: &str) -> Result<PathBuf, String> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    if !(1..=40).contains(&name.len()) || !name.bytes().all(is_plain) {
        return Err("the name of a profile has 1 to 40 letters, digits, - or _".to_owned());
    }
    Ok(profiles_folder(config)?.join(name))
}

fn profiles_folder(config: &BrowserConfig) -> Result<&Path, String> {
    config.profiles_dir.as_deref().ok_or_else(|| {
        "there is no folder for profiles: neither browser.profiles_dir nor a home folder is set".to_owned()
    })
}

/// A profile, and when a person last logged in with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedProfile {
    pub name: String,
    pub warmed: Option<String>,
}

/// By name; none where there is no folder yet.
pub fn list_profiles(config: &BrowserConfig) -> Result<Vec<ListedProfile>, String> {
    let folder = profiles_folder(config)?;
    let Ok(entries) = std::fs::read_dir(folder) else { return Ok(Vec::new()) };
    let mut profiles: Vec<ListedProfile> = entries
        .flatten()
        .filter(|entry| entry.path().is_dir())
        .filter_map(|entry| {
            let warmed = std::fs::read_to_string(entry.path().join(WARMED)).ok();
            Some(ListedProfile { name: entry.file_name().into_string().ok()?, warmed })
        })
        .collect();
    profiles.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(profiles)
}

/// Removes a profile with everything in it, if nobody uses it.
pub fn clear_profile(config: &BrowserConfig, name: &str) -> Result<(), String> {
    let folder = profile_folder(config, name)?;
    if !folder.is_dir() {
        return Err(format!("there is no profile '{name}'"));
    }
    let held = DataFolder::profile(config, name)?;
    std::fs::remove_dir_all(held.path()).map_err(|problem| format!("{}: {problem}", folder.display()))
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn config(folder: &Path) -> BrowserConfig {
        BrowserConfig { profiles_dir: Some(folder.join("profiles")), ..BrowserConfig::default() }
    }

    fn mode(path: &Path) -> Option<u32> {
        Some(std::fs::metadata(path).ok()?.permissions().mode() & 0o777)
    }

    #[test]
    fn a_guest_leaves_nothing_behind() {
        let guest = DataFolder::open(&BrowserConfig::default()).unwrap();
        let path = guest.path().to_owned();
        assert_eq!(mode(&path), Some(0o700));
        drop(guest);
        assert!(!path.exists());
    }

    #[test]
    fn a_profile_stays_and_has_one_user_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let config = BrowserConfig { profile: Some("work".to_owned()), ..config(folder.path()) };
        let first = DataFolder::open(&config).unwrap();
        assert_eq!(mode(first.path()), Some(0o700));
        assert!(DataFolder::open(&config).unwrap_err().contains("in use by another browser"));
        assert!(clear_profile(&config, "work").unwrap_err().contains("in use by another browser"));
        first.note_login(&Clock::real()).unwrap();
        drop(first);
        let listed = list_profiles(&config).unwrap();
        assert_eq!(listed.len(), 1);
        assert!(listed[0].warmed.as_deref().is_some_and(|when| when.starts_with("20")), "{listed:?}");
        drop(DataFolder::open(&config).unwrap());
        clear_profile(&config, "work").unwrap();
        assert_eq!(list_profiles(&config).unwrap(), []);
        assert!(clear_profile(&config, "work").unwrap_err().contains("there is no profile"));
    }

    /// H-188 on code: a name leads out of the folder of the profiles nowhere.
    #[test]
    fn names_are_plain_and_folders_are_private() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["", "..", "a/b", "/etc", "a\0b", &"x".repeat(41)] {
            assert!(DataFolder::profile(&config(folder.path()), name).is_err(), "{name:?}");
            assert!(clear_profile(&config(folder.path()), name).is_err(), "{name:?}");
        }
        let open = folder.path().join("open");
        std::fs::create_dir(&open).unwrap();
        std::fs::set_permissions(&open, std::fs::Permissions::from_mode(0o755)).unwrap();
        let of = |config: BrowserConfig| DataFolder::open(&config).unwrap_err();
        let named = BrowserConfig { user_data_dir: Some(open.clone()), ..config(folder.path()) };
        assert!(of(named.clone()).contains("other users can read"));
        assert!(of(BrowserConfig { profile: Some("x".to_owned()), ..named }).contains("both"));
    }
}
