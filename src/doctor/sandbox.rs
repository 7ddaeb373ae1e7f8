//! Whether a private desktop can start.

use super::{CheckStatus, DoctorCheck, DoctorSubject};
use crate::machine::sandbox::{install_line, missing_parts, names};

pub fn check_sandbox(subject: &DoctorSubject<'_>) -> DoctorCheck {
    const NAME: &str = "private desktop";
    let missing = missing_parts(subject.machine);
    let check = if missing.is_empty() {
        DoctorCheck::new(NAME, CheckStatus::Ok, "can start with --sandbox, away from this session")
    } else {
        let detail = format!("--sandbox needs {}", names(&missing));
        DoctorCheck::new(NAME, CheckStatus::Missing, detail).with_fix(install_line(subject.machine, &missing))
    };
    check.set_essential(subject.wants_sandbox())
}
