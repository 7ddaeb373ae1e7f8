//! What an isolated program of a private desktop sees: the words that tell bubblewrap so.
//!
//! The system's files are there read-only, and nothing else is but the desktop's own folders, its display and its buses.
//! Everything that is visible is named here.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::config::{Isolate, Sandbox as SandboxConfig};
use crate::machine::Machine;
use crate::machine::sandbox::{NotIsolated, isolation};

/// How the programs of a private desktop are kept from everything else.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Isolation {
    /// Processes, shared memory and network too, not the files alone.
    pub strict: bool,
    pub network: bool,
    /// What may be read beside the system.
    pub share: Vec<PathBuf>,
    /// What may be written beside the desktop's own folders.
    pub writable: Vec<PathBuf>,
}

/// Where an isolated process finds this very program.
pub const OURSELVES_INSIDE: &str = "/run/os-screen-observer";

/// What keeps the network from isolated programs.
pub const WITHOUT_NETWORK: &str = "--unshare-net";

/// Folders of the system. Where one is a link, as in a merged `/usr`, it is the same link inside.
const SYSTEM: &[&str] =
    &["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt", "/nix", "/gnu"];

/// What of `/var` programs read: fonts, dictionaries and the registry of LibreOffice.
const SYSTEM_DATA: &[&str] = &[
    "/var/cache/fontconfig",
    "/var/lib/dictionaries-common",
    "/var/lib/libreoffice",
    "/var/lib/xkb",
    "/var/spool/libreoffice",
];

/// What even the system's folders keep to themselves, should the server run as root.
const SECRET_FOLDERS: &[&str] = &["/etc/ssh", "/etc/ssl/private", "/etc/NetworkManager/system-connections"];
const SECRET_FILES: &[&str] =
    &["/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-", "/etc/sudoers", "/etc/krb5.keytab"];

/// Where names of the network are looked up, when `/etc/resolv.conf` is a link to it.
const RESOLVERS: &[&str] = &["/run/systemd/resolve", "/run/NetworkManager", "/run/resolvconf"];

/// Writable folders of the desktop, below its own.
const OWN: &[&str] = &["home", "run", "tmp"];

impl Isolation {
    /// What the configuration asks for and this machine can do, and what has to be said when that is less.
    pub fn choose(
        config: &SandboxConfig,
        machine: &dyn Machine,
    ) -> Result<(Option<Self>, Option<String>), String> {
        let wanted = Self {
            strict: config.isolate != Isolate::Home,
            network: config.network,
            share: config.share.clone(),
            writable: config.writable.clone(),
        };
        check_writable(&config.writable)?;
        if config.isolate == Isolate::Off {
            return Ok((None, None));
        }
        if let Some(path) = config.share.iter().find(|path| !path.is_absolute() || !path.exists()) {
            return Err(format!(
                "sandbox.share: {} is not an absolute path of something that is there",
                path.display()
            ));
        }
        match (isolation(machine), config.isolate) {
            (Ok(()), _) => Ok((Some(wanted), None)),
            (Err(why), Isolate::Auto) => Ok((None, Some(without(&why)))),
            (Err(why), _) => Err(format!("sandbox.isolate demands isolation, and {}", because(&why))),
        }
    }

    /// What holds, as a sentence for whoever works there.
    pub fn describe(&self) -> &'static str {
        match (self.strict, self.network) {
            (true, false) => {
                "programs on this private desktop are isolated (sandbox.isolate): a home and /tmp of their own, the \
                 system read-only, no other process, no network"
            }
            (true, true) => {
                "programs on this private desktop are isolated except for the network (sandbox.network): a home and \
                 /tmp of their own, the system read-only, no other process"
            }
            (false, _) => {
                "programs on this private desktop have a home and /tmp of their own and the system read-only \
                 (sandbox.isolate is home); processes and network are the user's"
            }
        }
    }

    /// The words for bubblewrap, up to the program that it starts.
    pub fn arguments(&self, folder: &Path, display: &Path, ourselves: &Path) -> Vec<String> {
        let mut words = BwrapWords::default();
        words.add(&[
            "--unshare-user",
            "--unshare-uts",
            "--unshare-cgroup-try",
            "--die-with-parent",
            "--new-session",
        ]);
        if self.strict {
            words.add(&["--unshare-pid", "--unshare-ipc", "--proc", "/proc"]);
        } else {
            words.add(&["--bind", "/proc", "/proc"]);
        }
        if self.strict && !self.network {
            words.add(&[WITHOUT_NETWORK]);
        }
        words.add(&["--dev", "/dev", "--tmpfs", "/tmp", "--tmpfs", "/run", "--tmpfs", "/var/tmp"]);
        SYSTEM.iter().for_each(|path| words.system_folder(Path::new(path)));
        SYSTEM_DATA.iter().for_each(|path| words.add(&["--ro-bind-try", path, path]));
        self.hide_secrets(&mut words);
        if self.network || !self.strict {
            RESOLVERS.iter().for_each(|path| words.add(&["--ro-bind-try", path, path]));
        }
        for path in &self.share {
            words.bind("--ro-bind", path);
        }
        for path in &self.writable {
            words.bind("--bind", path);
        }
        OWN.iter().for_each(|name| words.bind("--bind", &folder.join(name)));
        words.bind("--ro-bind", &folder.join("xauthority"));
        words.bind("--ro-bind", display);
        words.add(&["--ro-bind", &ourselves.to_string_lossy(), OURSELVES_INSIDE]);
        words.add(&["--chdir", &folder.join("home").to_string_lossy()]);
        words.0
    }

    fn hide_secrets(&self, words: &mut BwrapWords) {
        for path in SECRET_FOLDERS.iter().filter(|path| Path::new(path).is_dir()) {
            words.add(&["--tmpfs", path]);
        }
        for path in SECRET_FILES.iter().filter(|path| Path::new(path).is_file()) {
            words.add(&["--ro-bind", "/dev/null", path]);
        }
    }
}

/// A folder, and not the whole system.
fn check_writable(folders: &[PathBuf]) -> Result<(), String> {
    let is_fit = |folder: &Path| folder.is_absolute() && folder.is_dir() && folder.parent().is_some();
    match folders.iter().find(|folder| !is_fit(folder)) {
        None => Ok(()),
        Some(folder) => Err(format!(
            "sandbox.writable (--share): {} is not an absolute path of a folder that is there",
            folder.display()
        )),
    }
}

fn because(why: &NotIsolated) -> String {
    let fix = why.fix.as_deref().map_or(String::new(), |fix| format!("; {fix}"));
    format!("{}{fix}", why.reason)
}

fn without(why: &NotIsolated) -> String {
    format!(
        "programs on this private desktop are not isolated: they run as you, with your files and network, because {}",
        because(why)
    )
}

#[derive(Default)]
struct BwrapWords(Vec<String>);

impl BwrapWords {
    fn add(&mut self, words: &[&str]) {
        self.0.extend(words.iter().map(ToString::to_string));
    }

    /// The same path inside as outside.
    fn bind(&mut self, how: &str, path: &Path) {
        let path = path.to_string_lossy();
        self.add(&[how, &path, &path]);
    }

    fn system_folder(&mut self, path: &Path) {
        match std::fs::read_link(path) {
            Ok(target) => self.add(&["--symlink", &target.to_string_lossy(), &path.to_string_lossy()]),
            Err(_) => self.bind("--ro-bind-try", path),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments(strict: bool, network: bool, share: &[&str]) -> String {
        let share = share.iter().map(PathBuf::from).collect();
        let isolation = Isolation { strict, network, share, writable: vec![PathBuf::from("/srv/results")] };
        let display = Path::new("/tmp/.X11-unix/X7");
        isolation.arguments(Path::new("/tmp/oso-sandbox-1"), display, Path::new("/usr/bin/oso")).join(" ")
    }

    #[test]
    fn only_what_is_named_is_visible() {
        let words = arguments(true, false, &["/srv/app"]);
        for part in [
            "--unshare-pid",
            "--unshare-net",
            "--unshare-ipc",
            "--proc /proc",
            "--bind /tmp/oso-sandbox-1/home /tmp/oso-sandbox-1/home",
            "--ro-bind /tmp/.X11-unix/X7 /tmp/.X11-unix/X7",
            "--ro-bind /srv/app /srv/app",
            "--bind /srv/results /srv/results",
            "--ro-bind /usr/bin/oso /run/os-screen-observer",
        ] {
            assert!(words.contains(part), "{part}: {words}");
        }
        for part in ["/home ", "/root", "/proc/", "/sys", "--share-net", "/log", "--bind /tmp "] {
            assert!(!words.replace("oso-sandbox-1/home ", "").contains(part), "{part}: {words}");
        }
    }

    /// H-286 on code: neither a file, nor the root, nor what is relative or missing.
    #[test]
    fn only_a_folder_that_is_there_is_writable() {
        let check = |folder: &str, is_fit: bool| {
            assert_eq!(check_writable(&[PathBuf::from(folder)]).is_ok(), is_fit, "{folder}");
        };
        check("/usr", true);
        check("usr", false);
        check("/", false);
        check("/etc/passwd", false);
        check("/no/such/folder", false);
    }

    #[test]
    fn less_isolation_is_less_by_name() {
        assert!(!arguments(true, true, &[]).contains("--unshare-net"));
        assert!(arguments(true, true, &[]).contains("--unshare-pid"));
        let home = arguments(false, false, &[]);
        assert!(
            !home.contains("--unshare-pid")
                && !home.contains("--unshare-net")
                && home.contains("--tmpfs /tmp")
        );
    }
}
