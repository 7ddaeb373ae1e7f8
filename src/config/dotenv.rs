//! `.env` in the working folder, as ScreenJob reads it: for those who start its API, and of all its variables only
//! ScreenJob's own, `DISABLE_UI` and the key of the model. What the environment says wins. The folder may be somebody
//! else's, so it cannot make the API listen to other machines.

use std::net::IpAddr;
use std::path::Path;

use super::env::Environment;
use crate::files;

const FILE: &str = ".env";
const LARGEST: u64 = 64 * 1024;
const PREFIX: &str = "SCREENJOB_";
const HOST: &str = "SCREENJOB_HOST";
/// Names without it that count as well: the key of the model, and whether there is a page.
const OTHERS: &[&str] = &["OPENAI_API_KEY", "DISABLE_UI"];

/// The environment, and what the file of this folder adds to it. A file that others can write is refused.
pub fn with_dotenv(mut environment: Environment, folder: &Path) -> Result<Environment, String> {
    let path = folder.join(FILE);
    let Ok(found) = path.symlink_metadata() else {
        return Ok(environment);
    };
    let named = |problem: String| format!("{}: {problem}", path.display());
    if let Some(problem) = files::written_by_others(&found, &path) {
        return Err(named(problem));
    }
    if !found.is_file() || found.len() > LARGEST {
        return Err(named(format!("it is no plain file of at most {LARGEST} bytes")));
    }
    let text = std::fs::read_to_string(&path).map_err(|problem| named(problem.to_string()))?;
    for (name, value) in text.lines().filter_map(read_line) {
        if name == HOST && !environment.contains_key(HOST) && !is_this_machine(value) {
            return Err(named(format!(
                "it asks to listen on {value:?}, which other machines may reach; a file of the working folder cannot \
                 decide that. Set {HOST} in the environment, or remove the line"
            )));
        }
        if name.starts_with(PREFIX) || OTHERS.contains(&name) {
            environment.entry(name.to_owned()).or_insert_with(|| value.to_owned());
        }
    }
    Ok(environment)
}

fn is_this_machine(host: &str) -> bool {
    let address = host.trim_matches(['[', ']']).parse::<IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.to_canonical().is_loopback())
}

/// `NAME=value`, with `export` before it and quotes around the value or without.
fn read_line(line: &str) -> Option<(&str, &str)> {
    let line = line.trim();
    let line = line.strip_prefix("export ").unwrap_or(line);
    let (name, value) = line.split_once('=').filter(|(name, _)| !name.starts_with('#'))?;
    let value = value.trim();
    let quoted = ['"', '\''].into_iter().find_map(|quote| value.strip_prefix(quote)?.strip_suffix(quote));
    Some((name.trim(), quoted.unwrap_or(value)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(file: &str, expected: &[(&str, &str)]) {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(FILE), file).unwrap();
        let given = Environment::from_iter([("SCREENJOB_HOST".to_owned(), "::1".to_owned())]);
        let read = with_dotenv(given, folder.path()).unwrap();
        let mut expected: Vec<(&str, &str)> = expected.to_vec();
        expected.push(("SCREENJOB_HOST", "::1"));
        expected.sort_unstable();
        let mut read: Vec<(&str, &str)> = read.iter().map(|(name, value)| (&**name, &**value)).collect();
        read.sort_unstable();
        assert_eq!(read, expected, "{file}");
    }

    #[test]
    fn only_the_names_of_screenjob_are_read() {
        check("", &[]);
        check("# SCREENJOB_TOKEN=a\nno line\n", &[]);
        check(
            "SCREENJOB_TOKEN=abc\nOPENAI_API_KEY='k'",
            &[("SCREENJOB_TOKEN", "abc"), ("OPENAI_API_KEY", "k")],
        );
        check("export SCREENJOB_PORT = \"9\"", &[("SCREENJOB_PORT", "9")]);
        check("SCREENJOB_HOST=0.0.0.0\nPATH=/evil\nOSO_EXEC__ENABLED=true\nLD_PRELOAD=x", &[]);
    }

    /// H-297 on code: a listener for other machines.
    #[test]
    fn a_folder_opens_no_listener_for_others() {
        let folder = tempfile::tempdir().unwrap();
        let check = |host: &str, given: &[(&str, &str)], expected: bool| {
            std::fs::write(folder.path().join(FILE), format!("SCREENJOB_HOST={host}")).unwrap();
            let given = given.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
            let read = with_dotenv(given.collect(), folder.path());
            assert_eq!(read.is_ok(), expected, "{host}: {read:?}");
        };
        for host in ["0.0.0.0", "::", "[::]", "192.168.1.7", "example.org", "", "\"0.0.0.0\""] {
            check(host, &[], false);
            check(host, &[("SCREENJOB_HOST", "127.0.0.1")], true);
        }
        for host in ["127.0.0.1", "localhost", "::1", "[::1]", "'127.0.0.1'"] {
            check(host, &[], true);
        }
    }

    /// H-231 on code: what somebody else can write decides nothing.
    #[cfg(unix)]
    #[test]
    fn a_file_that_others_can_write_is_refused() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(FILE);
        std::fs::write(&path, "SCREENJOB_TOKEN=abcdefgh").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o666)).unwrap();
        assert!(with_dotenv(Environment::default(), folder.path()).is_err());
    }
}
