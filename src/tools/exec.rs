//! Commands of a shell: off unless the owner switched them on and the caller has the secret.

use std::path::PathBuf;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::common::millis;
use crate::config::{Config, Shell, limits};
use crate::error::{Error, Result};
use crate::files;
use crate::model::app::{Launch, Printed, Run};
use crate::tool::args::{Int, Text};
use crate::tool::{Cx, Effect, Example, Group, Lock, Meta, Method, Output, Permit, Spec, Target, Tool};

pub struct ExecCommand;

#[derive(Debug, Deserialize, JsonSchema)]
pub struct ExecArgs {
    /// For the shell.
    command: Text<{ limits::EXEC_COMMAND_CHARACTERS }>,
    /// Default: config.
    shell: Option<Shell>,
    /// Default 30.
    timeout_s: Option<Int<1, 600>>,
    /// Folder to run in.
    cwd: Option<Text<4096>>,
}

/// A call that makes sense.
struct CommandPlan {
    shell: Shell,
    timeout_s: u64,
    cwd: PathBuf,
    argv: Vec<String>,
    /// What was understood differently from what was written.
    warning: Option<String>,
}

impl ExecArgs {
    fn command_plan(&self, cx: &Cx) -> Result<CommandPlan> {
        let config = cx.config();
        let text = self.command.as_str();
        if text.trim().is_empty() || text.contains('\0') {
            let problem = if text.contains('\0') { "contains a zero byte" } else { "is empty" };
            return Err(Error::bad_request(format!("argument 'command' {problem}")).with("field", "command"));
        }
        let shell = self.shell.unwrap_or(config.exec.default_shell);
        let asked = self.timeout_s.map_or(config.exec.timeout_s, |seconds| seconds.as_usize() as u64);
        let timeout_s = asked.min(config.exec.max_timeout_s);
        let warning = (timeout_s < asked)
            .then(|| format!("timeout_s {asked} is more than exec.max_timeout_s; {timeout_s} was used"));
        Ok(CommandPlan {
            shell,
            timeout_s,
            cwd: self.working_folder(config, cx.observer().command_folder())?,
            argv: shell_argv(shell, text)?,
            warning,
        })
    }

    /// Below the roots where there are any; without a word about it, the first of them or where the server is.
    /// A private desktop whose programs are isolated has a home for them.
    fn working_folder(&self, config: &Config, home: Option<PathBuf>) -> Result<PathBuf> {
        let roots = &config.exec.roots;
        let refused =
            |problem: String| Error::bad_request(format!("argument 'cwd': {problem}")).with("field", "cwd");
        let folder = match (&self.cwd, roots.first()) {
            (None, Some(root)) => root.clone(),
            (None, None) if home.is_some() => home.unwrap_or_default(),
            (None, None) => std::env::current_dir().map_err(|problem| refused(problem.to_string()))?,
            (Some(cwd), Some(_)) => files::below(roots, cwd.as_str()).map_err(refused)?.path(),
            (Some(cwd), None) => PathBuf::from(cwd.as_str()),
        };
        if folder.is_absolute() && folder.is_dir() || self.cwd.is_none() {
            return Ok(folder);
        }
        Err(refused(format!("'{}' is not a folder (give an absolute path)", folder.display())))
    }
}

/// The command is one argument of the shell; only the shell reads it.
fn shell_argv(shell: Shell, command: &str) -> Result<Vec<String>> {
    let (programs, options): (&[&str], &[&str]) = match shell {
        Shell::Bash => (&["bash"], &["--noprofile", "--norc", "-c"]),
        Shell::Sh => (&["sh"], &["-c"]),
        Shell::Powershell => (&["pwsh", "powershell"], &["-NoProfile", "-NonInteractive", "-Command"]),
        Shell::Cmd => (&["cmd"], &["/D", "/C"]),
    };
    let Some(program) = programs.iter().find(|program| which::which_global(program).is_ok()) else {
        let message = format!("the shell {} is not on this machine", programs[0]);
        return Err(Error::bad_request(message).with("field", "shell"));
    };
    // Bash and sh would take such a command for one more option of theirs.
    let end_of_options: &[&str] = match shell {
        Shell::Bash | Shell::Sh if command.starts_with(['-', '+']) => &["--"],
        _ => &[],
    };
    let words = std::iter::once(program).chain(options).chain(end_of_options).map(ToString::to_string);
    Ok(words.chain([command.to_owned()]).collect())
}

#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct Executed {
    executed: bool,
    timed_out: bool,
    shell: Shell,
    command: String,
    argv: Vec<String>,
    timeout_s: u64,
    cwd: String,
    duration_ms: u64,
    /// Absent when it was ended by us.
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<i32>,
    stdout: String,
    stderr: String,
    stdout_truncated: bool,
    stderr_truncated: bool,
    /// Bytes that are not UTF-8 are replaced by U+FFFD.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(default)]
    stdout_not_utf8: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(default)]
    stderr_not_utf8: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(default)]
    dry_run: bool,
}

impl Output for Executed {}

impl Tool for ExecCommand {
    type Args = ExecArgs;
    type Out = Executed;
    const META: Meta = Meta {
        name: "exec_command",
        group: Group::Programs,
        effect: Effect::System,
        untrusted: true,
        lock: Some(|config| Lock {
            enabled: config.exec.enabled,
            switch: "exec.enabled",
            key: config.exec.secret.as_ref(),
            key_name: "exec.secret",
        }),
        rest: &[(Method::Post, "/api/exec")],
        brief: "Run a shell command and wait for it. Only where windows and elements do not help.",
        detail: "Refused and not listed unless `exec.enabled` is true and `exec.secret` is set; the call \
                 must contain that secret, which is removed before anything is recorded. The command gets \
                 few environment variables and no stdin. All processes that it started end with it: after \
                 `timeout_s` (`exec.timeout_s`, at most `exec.max_timeout_s`), when the call is cancelled, \
                 and when the stop switch is pressed. The reply has the first `exec.max_output_chars` \
                 characters of each output. The mock desktop runs nothing; a dry run works there.",
        examples: &[Example {
            scenario: None,
            args: r#"{"command":"uname","secret":"correct horse battery","shell":"sh","dry_run":true}"#,
            shows: "what would be run",
        }],
        verify: &["ok", "exit_code", "error.code"],
        ..Meta::DEFAULT
    };

    fn targets(cx: &Cx, args: &ExecArgs) -> Result<Vec<Target>> {
        args.command_plan(cx)?;
        Ok(vec![Target::Command(args.command.as_str().to_owned())])
    }

    fn run(cx: &mut Cx, args: ExecArgs, mut permit: Permit) -> Result<Executed> {
        let plan = args.command_plan(cx)?;
        cx.warning = plan.warning;
        let planned = Executed {
            shell: plan.shell,
            command: args.command.as_str().to_owned(),
            argv: plan.argv.clone(),
            timeout_s: plan.timeout_s,
            cwd: plan.cwd.display().to_string(),
            dry_run: permit.dry_run(),
            ..Executed::default()
        };
        if permit.dry_run() {
            return Ok(planned);
        }
        let most = cx.config().exec.max_output_chars;
        let run = Run {
            launch: Launch { command: plan.argv, cwd: Some(plan.cwd) },
            timeout: Duration::from_secs(plan.timeout_s),
            max_output_bytes: most.saturating_mul(4),
        };
        let ended = cx.observer().run_command(&mut permit, &run, cx.cancel)?;
        let (stdout, stderr) = (CommandOutput::of(ended.stdout, most), CommandOutput::of(ended.stderr, most));
        Ok(Executed {
            executed: true,
            timed_out: ended.timed_out,
            duration_ms: millis(ended.took),
            exit_code: ended.exit_code,
            stdout: stdout.text,
            stderr: stderr.text,
            stdout_truncated: stdout.truncated,
            stderr_truncated: stderr.truncated,
            stdout_not_utf8: stdout.not_utf8,
            stderr_not_utf8: stderr.not_utf8,
            ..planned
        })
    }
}

/// What was printed, as a text of at most so many characters.
struct CommandOutput {
    text: String,
    truncated: bool,
    not_utf8: bool,
}

impl CommandOutput {
    fn of(printed: Printed, most: usize) -> Self {
        let mut bytes = printed.bytes;
        if printed.truncated {
            // The last character may have been cut in two, which is no fault of who printed it.
            let whole = match std::str::from_utf8(&bytes) {
                Err(problem) if problem.error_len().is_none() => problem.valid_up_to(),
                _ => bytes.len(),
            };
            bytes.truncate(whole);
        }
        let not_utf8 = std::str::from_utf8(&bytes).is_err();
        let mut text = String::from_utf8_lossy(&bytes).into_owned();
        let cut = text.char_indices().nth(most).map(|(at, _)| at);
        cut.inspect(|&at| text.truncate(at));
        Self { text, truncated: printed.truncated || cut.is_some(), not_utf8 }
    }
}

pub const TOOLS: &[Spec] = &[Spec::of::<ExecCommand>()];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outputs_are_cut_by_characters_and_say_so() {
        let check = |bytes: &[u8], cut: bool, most: usize, expected: (&str, bool, bool)| {
            let said = CommandOutput::of(Printed { bytes: bytes.to_vec(), truncated: cut }, most);
            assert_eq!((said.text.as_str(), said.truncated, said.not_utf8), expected);
        };
        check("é€".as_bytes(), false, 2, ("é€", false, false));
        check("é€x".as_bytes(), false, 2, ("é€", true, false));
        check("é€".as_bytes().split_last().unwrap().1, true, 9, ("é", true, false));
        check(b"a\xffb", false, 9, ("a\u{fffd}b", false, true));
        check(b"", false, 9, ("", false, false));
    }

    #[test]
    fn a_shell_gets_the_command_as_one_argument() {
        let words = shell_argv(Shell::Sh, "echo $(id); --flag").unwrap();
        assert_eq!(words, ["sh", "-c", "echo $(id); --flag"]);
    }
}
