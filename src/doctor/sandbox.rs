//! Whether a private desktop can start.

use super::{Check, Status, Subject};
use crate::machine::sandbox::{install_line, missing_parts, names};

pub fn check_sandbox(subject: &Subject<'_>) -> Check {
    const NAME: &str = "private desktop";
    let missing = missing_parts(subject.machine);
    let check = if missing.is_empty() {
        Check::new(NAME, Status::Ok, "can start with --sandbox, away from this session")
    } else {
        let detail = format!("--sandbox needs {}", names(&missing));
        Check::new(NAME, Status::Missing, detail).fix(install_line(subject.machine, &missing))
    };
    check.essential(subject.wants_sandbox())
}
