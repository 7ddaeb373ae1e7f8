//! The processes that this one was started by: a terminal, an editor, a client. What they show is theirs and the
//! person's, not the agent's.

/// A process above this one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ancestor {
    pub pid: u32,
    pub name: String,
}

/// More would be a circle.
const MOST: usize = 64;

/// They start everything that a person starts, so that they host nobody in particular.
const SESSION: &[&str] = &[
    "init",
    "systemd",
    "launchd",
    "login",
    "sshd",
    "gnome-shell",
    "gnome-session-binary",
    "gnome-session-service",
    "plasmashell",
    "kwin_x11",
    "kwin_wayland",
    "ksmserver",
    "plasma_session",
    "xfce4-session",
    "xfce4-panel",
    "xfdesktop",
    "lxqt-session",
    "lxqt-panel",
    "lxsession",
    "lxpanel",
    "mate-session",
    "mate-panel",
    "cinnamon",
    "cinnamon-session-binary",
    "openbox",
    "i3",
    "sway",
    "Finder",
    "Dock",
    "explorer.exe",
    "services.exe",
    "sihost.exe",
    "svchost.exe",
    "userinit.exe",
    "winlogon.exe",
];

/// The processes that this one was started by, the nearest first, up to the session that starts everything. Empty where
/// the system does not tell.
pub fn ancestors() -> Vec<Ancestor> {
    chain(std::process::id(), look_up)
}

fn chain(mut pid: u32, look_up: impl Fn(u32) -> Option<(String, u32)>) -> Vec<Ancestor> {
    let mut found = Vec::new();
    let mut parent = look_up(pid).map(|(_, parent)| parent);
    while let Some(next) = parent.filter(|&next| next > 1 && next != pid && found.len() < MOST) {
        let Some((name, above)) = look_up(next) else { break };
        if SESSION.iter().any(|known| is_program(&name, known)) {
            break;
        }
        found.push(Ancestor { pid: next, name });
        (pid, parent) = (next, Some(above));
    }
    found
}

/// Windows spells the names of programs in any case.
fn is_program(name: &str, known: &str) -> bool {
    name == known || (known.ends_with(".exe") && name.eq_ignore_ascii_case(known))
}

/// `12 (a name) S 7 …`: the name may hold anything, so what counts comes after its last bracket.
#[cfg(target_os = "linux")]
fn look_up(pid: u32) -> Option<(String, u32)> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (name, rest) = stat.split_once(" (")?.1.rsplit_once(") ")?;
    Some((name.to_owned(), rest.split(' ').nth(1)?.parse().ok()?))
}

#[cfg(target_os = "macos")]
fn look_up(pid: u32) -> Option<(String, u32)> {
    use crate::machine::{Machine, RealMachine};
    let pid = pid.to_string();
    let told = RealMachine.run(std::path::Path::new("/bin/ps"), &["-o", "ppid=,comm=", "-p", &pid]).ok()?;
    let (parent, path) = told.trim().split_once(' ')?;
    let name = path.trim().rsplit('/').next().unwrap_or_default();
    Some((name.to_owned(), parent.parse().ok()?))
}

#[cfg(target_os = "windows")]
fn look_up(pid: u32) -> Option<(String, u32)> {
    super::windows::host::look_up_process(pid)
}

#[cfg(not(any(target_os = "linux", target_os = "macos", target_os = "windows")))]
fn look_up(_: u32) -> Option<(String, u32)> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(table: &[(u32, &str, u32)], expected: &[&str]) {
        let look_up = |pid: u32| {
            table
                .iter()
                .find(|(known, ..)| *known == pid)
                .map(|(_, name, parent)| (name.to_string(), *parent))
        };
        let names: Vec<String> = chain(9, look_up).into_iter().map(|ancestor| ancestor.name).collect();
        assert_eq!(names, expected);
    }

    #[test]
    fn the_chain_ends_where_the_session_begins() {
        check(
            &[(9, "us", 8), (8, "claude", 7), (7, "bash", 6), (6, "konsole", 5), (5, "systemd", 1)],
            &["claude", "bash", "konsole"],
        );
        check(&[(9, "us", 8), (8, "bash", 1), (1, "init", 0)], &["bash"]);
        check(
            &[(9, "us", 8), (8, "Code.exe", 7), (7, "Explorer.EXE", 6), (6, "userinit.exe", 5)],
            &["Code.exe"],
        );
        check(&[(9, "us", 8), (8, "Dock.app", 1)], &["Dock.app"]);
        check(&[(9, "us", 8), (8, "cmd.exe", 0)], &["cmd.exe"]);
        check(&[(9, "us", 8)], &[]);
        check(&[(9, "us", 8), (8, "a", 8)], &["a"]);
        check(&[], &[]);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn this_process_has_a_parent() {
        let parent = std::os::unix::process::parent_id();
        let first = ancestors().first().map(|ancestor| ancestor.pid);
        assert!(first.is_none_or(|first| first == parent), "{first:?}");
        assert_eq!(look_up(std::process::id()).unwrap().1, parent);
    }
}
