//! The command `test` with pages: the tests of the example project.

use std::process::{Command, Stdio};

use crate::require_chromium;
use crate::support::project;

#[test]
fn the_example_works_a_page() {
    require_chromium();
    let folder = tempfile::tempdir().unwrap();
    let done = Command::new(env!("CARGO_BIN_EXE_os-screen-observer"))
        .arg("test")
        .arg(project().join("examples/gui-tests/sign-up.test.yaml"))
        .current_dir(folder.path())
        .env("XDG_CONFIG_HOME", folder.path().join("no-config"))
        .env("OSO_BROWSER__SANDBOX", "false")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&[done.stdout, done.stderr].concat()).into_owned();
    assert!(done.status.success() && said.contains("2 passed, 0 failed"), "{said}");
}
