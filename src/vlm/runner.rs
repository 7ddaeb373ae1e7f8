//! Getting models by the program that the config names (`vlm.ollama_runner`), for a person who said so.
//!
//! It starts a program that may load gigabytes, so nothing but a subcommand at a terminal comes here. The
//! name of the model is checked first: it is one argument of the program and never an option of it.

use std::process::Stdio;

use crate::config::process_variable;
use crate::spawn;

const LONGEST_NAME: usize = 200;

/// What such a program reads beside what every program gets: where its server is, and the way to the network.
const SETTINGS: &[&str] = &[
    "OLLAMA_HOST",
    "OLLAMA_MODELS",
    "DOCKER_HOST",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "no_proxy",
];

/// The command that runs Ollama, as the config names it: the program and what comes before `pull MODEL`.
#[derive(Clone, Copy, Debug)]
pub struct ModelRunner<'a> {
    program: &'a str,
    arguments: &'a [String],
}

impl<'a> ModelRunner<'a> {
    /// The error says what to write into the config.
    pub fn of(command: Option<&'a [String]>) -> Result<Self, String> {
        match command.and_then(|command| command.split_first()) {
            Some((program, arguments)) if !program.trim().is_empty() => Ok(Self { program, arguments }),
            _ => Err(
                "vlm.ollama_runner names no program that pulls models; set it to [\"ollama\"], or load the \
                 model on the model server itself"
                    .to_owned(),
            ),
        }
    }

    /// What would be run, for people.
    pub fn command_line(&self, model: &str) -> String {
        let words = [self.program].into_iter().chain(self.arguments.iter().map(String::as_str));
        words.chain(["pull", model]).collect::<Vec<_>>().join(" ")
    }

    /// Runs it to its end. What it says goes to the person; it reads nothing of what the person types.
    pub fn pull_model(&self, model: &str) -> Result<(), String> {
        if !is_model_name(model) {
            return Err(format!("'{model}' is not a model name such as llava:13b"));
        }
        let line = self.command_line(model);
        let settings = SETTINGS.iter().filter_map(|name| Some((name, process_variable(name)?)));
        let status = spawn::command(self.program)
            .envs(settings)
            .args(self.arguments)
            .args(["pull", model])
            .stdin(Stdio::null())
            .status()
            .map_err(|problem| format!("{line} cannot be started: {problem}"))?;
        if status.success() { Ok(()) } else { Err(format!("{line} failed ({status})")) }
    }
}

/// `llava`, `llava:13b`, `hf.co/someone/model:Q4_K_M`; nothing that a program could take for an option.
pub fn is_model_name(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._:/-@".contains(&byte);
    let starts_well = name.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric());
    starts_well && name.len() <= LONGEST_NAME && name.bytes().all(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// H-77 on code: a model's name that is an option or shell.
    #[test]
    fn a_name_is_never_an_option_or_two_words() {
        for name in ["llava", "llava:13b", "hf.co/someone/Model-GGUF:Q4_K_M", "7b"] {
            assert!(is_model_name(name), "{name}");
        }
        for name in ["", "-f", "--insecure", "a b", "a;b", "a\nb", "../x", "größe", &"a".repeat(201)] {
            assert!(!is_model_name(name), "{name}");
        }
    }

    #[test]
    fn without_a_program_the_way_to_one_is_said() {
        for command in [None, Some(vec![]), Some(vec![" ".to_owned()])] {
            let problem = ModelRunner::of(command.as_deref()).unwrap_err();
            assert!(problem.contains("set it to [\"ollama\"]"), "{problem}");
        }
    }

    #[test]
    fn a_program_that_is_not_there_is_named() {
        let command = ["no-such-program-9f2c".to_owned(), "run".to_owned()];
        let problem = ModelRunner::of(Some(&command)).unwrap().pull_model("llava").unwrap_err();
        assert!(problem.starts_with("no-such-program-9f2c run pull llava cannot be started"), "{problem}");
    }

    #[cfg(unix)]
    #[test]
    fn the_program_gets_the_model_as_one_argument() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("ollama");
        std::fs::write(&program, "#!/bin/sh\nprintf '%s|' \"$@\" >> \"$0.said\"\n[ \"$3\" = good ]\n")
            .unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        let command = [program.to_str().unwrap().to_owned(), "--host=x".to_owned()];
        let runner = ModelRunner::of(Some(&command)).unwrap();
        assert_eq!(runner.pull_model("good"), Ok(()));
        assert!(runner.pull_model("bad").unwrap_err().contains("--host=x pull bad failed"));
        assert!(runner.pull_model("--insecure").unwrap_err().contains("is not a model name"));
        let said = std::fs::read_to_string(folder.path().join("ollama.said")).unwrap();
        assert_eq!(said, "--host=x|pull|good|--host=x|pull|bad|");
    }
}
