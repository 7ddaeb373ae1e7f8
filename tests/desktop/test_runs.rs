//! The command `test` with a program on a private desktop: the test of the example project.

use std::process::{Command, Stdio};

use crate::support::project;

fn run_test(file: &std::path::Path) -> (bool, String, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let done = Command::new(env!("CARGO_BIN_EXE_os-screen-observer"))
        .arg("test")
        .arg(file)
        .current_dir(folder.path())
        .env("XDG_CONFIG_HOME", folder.path().join("no-config"))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&[done.stdout, done.stderr].concat()).into_owned();
    (done.status.success(), said, folder)
}

#[test]
fn the_example_works_a_calculator() {
    let (ok, said, folder) = run_test(&project().join("examples/gui-tests/calculator.test.yaml"));
    assert!(ok && said.contains("1 passed, 0 failed"), "{said}");
    assert!(!folder.path().join("test-results").exists(), "what passes leaves nothing");
}

#[test]
fn a_wrong_result_fails_and_leaves_a_page() {
    let text = std::fs::read_to_string(project().join("examples/gui-tests/calculator.test.yaml")).unwrap();
    let wrong = tempfile::tempdir().unwrap();
    let file = wrong.path().join("wrong.test.yaml");
    std::fs::write(&file, text.replace("42", "43")).unwrap();
    let (ok, said, folder) = run_test(&file);
    assert!(!ok && said.contains("FAIL     expect text_visible"), "{said}");
    let page = said.lines().find_map(|line| line.trim().strip_prefix("page: ")).unwrap();
    let page = std::fs::read_to_string(folder.path().join(page)).unwrap();
    assert!(page.contains("click_element") && page.contains("data:image/"), "a page has pictures");
}
