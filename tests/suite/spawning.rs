//! Programs are started in one place, which gives them no key of ours.

use syn::spanned::Spanned;
use syn::visit::{self, Visit};

use crate::source;

/// The one that starts programs, and the one that Windows makes start them by its own function, with the same variables.
const ONE_PLACE: &str = "src/spawn.rs";
const BY_WINDOWS: &str = "src/platform/windows/sys/launch.rs";

#[derive(Default)]
struct Spawns {
    lines: Vec<usize>,
}

impl<'ast> Visit<'ast> for Spawns {
    fn visit_path(&mut self, path: &'ast syn::Path) {
        let names: Vec<String> = path.segments.iter().map(|part| part.ident.to_string()).collect();
        let last_two = &names[names.len().saturating_sub(2)..];
        let makes_process = names.last().is_some_and(|name| {
            ["CreateProcessW", "CreateProcessAsUserW", "ShellExecuteW", "posix_spawn", "execve"]
                .contains(&name.as_str())
        });
        if last_two == ["Command", "new"] || makes_process {
            self.lines.push(path.span().start().line);
        }
        visit::visit_path(self, path);
    }
}

fn spawns(syntax: &syn::File) -> Vec<usize> {
    let mut found = Spawns::default();
    found.visit_file(syntax);
    found.lines
}

/// H-81 on code: nothing else starts a program, so nothing hands our environment on.
#[test]
fn programs_are_started_in_one_place() {
    let mut seen = false;
    for file in source::files() {
        let lines = spawns(&file.syntax);
        if file.path == ONE_PLACE {
            seen = !lines.is_empty();
        } else if file.path != BY_WINDOWS {
            assert!(lines.is_empty(), "{}: lines {lines:?}; use spawn::command", file.path);
        }
    }
    assert!(seen, "{ONE_PLACE} starts nothing: this test sees nothing");
}

#[test]
fn a_spawn_is_seen_however_it_is_written() {
    let check =
        |code: &str, count: usize| assert_eq!(spawns(&syn::parse_str(code).unwrap()).len(), count, "{code}");
    check("fn a() { Command::new(\"x\"); }", 1);
    check("fn a() { std::process::Command::new(\"x\"); tokio::process::Command::new(\"y\"); }", 2);
    check("fn a() { unsafe { CreateProcessW() } }", 1);
    check("fn a() { Call::new(); }", 0);
}
