//! Whether a browser can start, and whether it can keep its own sandbox around pages.

use std::path::Path;

use super::{CheckStatus, DoctorCheck, DoctorSubject};
use crate::machine::Machine;
use crate::machine::fixes::{self, Package};
use crate::platform::browser::executable::find_browser;

const NAME: &str = "browser";

pub fn check_browser(subject: &DoctorSubject<'_>) -> DoctorCheck {
    let config = subject.loaded_config().map(|config| config.browser.clone()).unwrap_or_default();
    let check = match find_browser(subject.machine, config.executable.as_deref()) {
        Err(reason) => DoctorCheck::new(NAME, CheckStatus::Missing, format!("--browser needs one: {reason}"))
            .with_fix(fixes::install_command(subject.machine, Package::Chromium)),
        Ok(program) => check_program(subject.machine, &program, config.sandbox),
    };
    check.set_essential(subject.wants_browser())
}

fn check_program(machine: &dyn Machine, program: &Path, sandbox: bool) -> DoctorCheck {
    let version = match machine.run(program, &["--version"]) {
        Ok(printed) => printed.lines().next().unwrap_or_default().trim().to_owned(),
        Err(reason) => {
            let detail = format!("{} does not say its version: {reason}", program.display());
            return DoctorCheck::new(NAME, CheckStatus::Error, detail);
        }
    };
    let found = format!("{version} ({}), for --browser", program.display());
    let without = match (sandbox, sandbox_problem(machine)) {
        (false, _) => {
            "without its sandbox (browser.sandbox): a page that breaks out of its process has your rights"
        }
        (true, Some(problem)) => problem,
        (true, None) => return DoctorCheck::new(NAME, CheckStatus::Ok, found),
    };
    DoctorCheck::new(NAME, CheckStatus::Warning, format!("{found}\n{without}"))
}

/// What keeps a browser from starting its sandbox, where that can be told.
fn sandbox_problem(machine: &dyn Machine) -> Option<&'static str> {
    if machine.system() != "linux" {
        return None;
    }
    let run =
        |program: &str, arguments: &[&str]| Some(machine.run(&machine.find_program(program)?, arguments));
    if run("id", &["-u"]).is_some_and(|printed| printed.is_ok_and(|uid| uid.trim() == "0")) {
        return Some(
            "its sandbox does not start as root: start the server as another user, or set browser.sandbox to false \
             where only trusted pages are opened",
        );
    }
    let has_helper = HELPERS.iter().any(|helper| machine.exists(Path::new(helper)));
    let has_namespaces = run("unshare", &["--user", "true"]).is_none_or(|outcome| outcome.is_ok());
    (!has_helper && !has_namespaces).then_some(
        "its sandbox may not start: this machine gives no user namespaces. Allow them, or set browser.sandbox to false \
         where only trusted pages are opened",
    )
}

/// With them a sandbox needs no user namespaces.
const HELPERS: &[&str] = &["/usr/lib/chromium/chrome-sandbox", "/opt/google/chrome/chrome-sandbox"];
