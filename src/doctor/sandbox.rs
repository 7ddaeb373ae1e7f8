//! Whether a private desktop can start, and how far its programs are kept from everything else.

use super::{CheckStatus, DoctorCheck, DoctorSubject};
use crate::config::Isolate;
use crate::machine::sandbox::{NotIsolated, install_line, isolation, missing_parts, names};

pub fn check_sandbox(subject: &DoctorSubject<'_>) -> DoctorCheck {
    const NAME: &str = "private desktop";
    let missing = missing_parts(subject.machine);
    let check = if missing.is_empty() {
        DoctorCheck::new(
            NAME,
            CheckStatus::Ok,
            format!("can start with --sandbox, away from this session\n{}", kept(subject)),
        )
    } else {
        let detail = format!("--sandbox needs {}", names(&missing));
        DoctorCheck::new(NAME, CheckStatus::Missing, detail).with_fix(install_line(subject.machine, &missing))
    };
    check.set_essential(subject.wants_sandbox())
}

/// What becomes of the files that its programs save.
fn kept(subject: &DoctorSubject<'_>) -> String {
    let writable = subject.loaded_config().map(|config| config.sandbox.writable.clone()).unwrap_or_default();
    let folders: Vec<String> = writable.iter().map(|folder| folder.display().to_string()).collect();
    let shared = match folders.as_slice() {
        [] => "none (--share DIR)".to_owned(),
        folders => folders.join(", "),
    };
    format!("Its home is deleted with the server; folders that its programs may write: {shared}")
}

/// Which isolation holds for programs on a private desktop.
pub fn check_isolation(subject: &DoctorSubject<'_>) -> DoctorCheck {
    const NAME: &str = "isolation";
    let wanted = subject.loaded_config().map(|config| &config.sandbox).cloned().unwrap_or_default();
    if wanted.isolate == Isolate::Off {
        let detail =
            "off (sandbox.isolate): programs on a private desktop run as you, with your files and network";
        return DoctorCheck::new(NAME, CheckStatus::Warning, detail);
    }
    let essential = subject.wants_sandbox() && wanted.isolate != Isolate::Auto;
    match isolation(subject.machine) {
        Ok(()) => DoctorCheck::new(NAME, CheckStatus::Ok, held(wanted.isolate, wanted.network)),
        Err(NotIsolated { reason, fix }) => {
            let detail = match wanted.isolate {
                Isolate::Auto => format!(
                    "not possible: {reason}\nPrograms on a private desktop run as you, with your files and network"
                ),
                _ => format!("not possible: {reason}\nsandbox.isolate demands it, so --sandbox does not start"),
            };
            let status = if essential { CheckStatus::Missing } else { CheckStatus::Warning };
            DoctorCheck::new(NAME, status, detail).with_fix(fix)
        }
    }
    .set_essential(essential)
}

fn held(isolate: Isolate, network: bool) -> &'static str {
    match (isolate, network) {
        (Isolate::Home, _) => {
            "home: programs on a private desktop have a home and /tmp of their own and read the system's files alone; \
             they see your processes and use your network"
        }
        (_, true) => {
            "strict, with the network (sandbox.network): programs on a private desktop have a home and /tmp of their \
             own and see no other process, but reach what listens on this machine"
        }
        (_, false) => {
            "strict: programs on a private desktop have a home and /tmp of their own, read the system's files alone, and \
             see no other process and no network"
        }
    }
}
