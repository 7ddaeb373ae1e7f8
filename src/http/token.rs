//! What a caller over HTTP has to show: a text from the configuration, or one that the server makes once
//! and keeps in a file that only its user can read.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::config::{WebUi, limits};
use crate::files;

/// The word that asks for a random token.
const AUTO: &str = "auto";

#[derive(Clone)]
pub struct Token {
    text: String,
    /// Where an automatic token is kept.
    pub kept_in: Option<PathBuf>,
}

impl Token {
    /// The token that the configuration asks for. `needed` makes one where nobody did.
    pub fn of(config: &WebUi, needed: bool) -> Result<Option<Token>, String> {
        match config.token.as_ref().map(|token| token.reveal()) {
            None if !needed => Ok(None),
            None | Some(AUTO) => Token::load_or_create(config.token_file.as_deref()).map(Some),
            Some(text) => Token::from_config(text).map(Some),
        }
    }

    pub fn from_config(text: &str) -> Result<Token, String> {
        Token::from_setting(text, "web_ui.token, OSO_TOKEN")
    }

    /// `setting` names where it is from.
    pub fn from_setting(text: &str, setting: &str) -> Result<Token, String> {
        let sendable = text.bytes().all(|byte| byte.is_ascii_graphic());
        if text.len() < limits::HTTP_TOKEN_CHARACTERS || !sendable {
            return Err(format!(
                "the token ({setting}) must have at least {} characters, all of them visible ASCII",
                limits::HTTP_TOKEN_CHARACTERS
            ));
        }
        Ok(Token { text: text.to_owned(), kept_in: None })
    }

    /// The token of earlier starts, so that bookmarks and client configurations keep working.
    fn load_or_create(file: Option<&Path>) -> Result<Token, String> {
        let Some(file) = file else {
            return Err("there is no folder for the automatic token; set web_ui.token_file".to_owned());
        };
        let text = match read_private(file)? {
            Some(text) => text,
            None => make_private(file)?,
        };
        Ok(Token { kept_in: Some(file.to_owned()), ..Token::from_config(&text)? })
    }

    /// Takes as long for a near miss as for a far one.
    pub fn matches_token(&self, shown: &str) -> bool {
        let (ours, shown) = (self.text.as_bytes(), shown.as_bytes());
        let different = ours
            .iter()
            .enumerate()
            .fold(0, |different, (at, byte)| different | (byte ^ shown.get(at).copied().unwrap_or_default()));
        std::hint::black_box(different) == 0 && ours.len() == shown.len()
    }

    /// The token itself, for the link that its owner is shown.
    pub fn reveal(&self) -> &str {
        &self.text
    }
}

/// The token that a server keeps in this file.
pub fn read_token(file: &Path) -> Result<String, String> {
    read_private(file)?.ok_or_else(|| format!("the token file {} is gone", file.display()))
}

/// `None` when there is no file yet. One that others can read is no secret any more.
fn read_private(file: &Path) -> Result<Option<String>, String> {
    let facts = match fs::symlink_metadata(file) {
        Err(problem) if problem.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(problem) => return Err(format!("the token file {} cannot be read: {problem}", file.display())),
        Ok(facts) => facts,
    };
    if !facts.is_file() {
        return Err(format!("the token file {} is not a regular file", file.display()));
    }
    if files::mode_open_to_others(&facts).is_some() {
        return Err(format!(
            "the token file {} is readable by other users; delete it, and a new one is made",
            file.display()
        ));
    }
    let text = fs::read_to_string(file)
        .map_err(|problem| format!("the token file {} cannot be read: {problem}", file.display()))?;
    Ok(Some(text.trim().to_owned()))
}

fn make_private(file: &Path) -> Result<String, String> {
    let unwritable = |problem: std::io::Error| {
        format!("the token file {} cannot be written: {problem}; see web_ui.token_file", file.display())
    };
    let mut bytes = [0_u8; 24];
    getrandom::fill(&mut bytes).map_err(|problem| format!("cannot generate a token: {problem}"))?;
    let text: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder).map_err(unwritable)?;
    }
    let mut kept = files::create_private(file, fs::OpenOptions::new().write(true)).map_err(unwritable)?;
    kept.write_all(format!("{text}\n").as_bytes()).map_err(unwritable)?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Secret;

    fn web_ui(token: Option<&str>, file: &Path) -> WebUi {
        WebUi { token: token.map(Secret::new), token_file: Some(file.to_owned()), ..WebUi::default() }
    }

    /// H-25 on code: a token file that is a link or not private.
    #[test]
    fn an_automatic_token_is_made_once_and_kept_private() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("state/token");
        let first = Token::of(&web_ui(Some("auto"), &file), false).unwrap().unwrap();
        assert_eq!(first.reveal().len(), 48);
        let second = Token::of(&web_ui(None, &file), true).unwrap().unwrap();
        assert!(second.matches_token(first.reveal()));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
            fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
            let problem = Token::of(&web_ui(Some("auto"), &file), false).err().unwrap();
            assert!(problem.contains("is readable by other users"), "{problem}");
            fs::remove_file(&file).unwrap();
            std::os::unix::fs::symlink("/dev/null", &file).unwrap();
            let problem = Token::of(&web_ui(Some("auto"), &file), false).err().unwrap();
            assert!(problem.contains("not a regular file"), "{problem}");
        }
    }

    #[test]
    fn nobody_has_to_show_what_nobody_asked_for() {
        assert!(Token::of(&WebUi::default(), false).unwrap().is_none());
        assert!(Token::of(&WebUi::default(), true).err().unwrap().contains("web_ui.token_file"));
    }

    /// H-08 on code: every byte is compared, however early one differs.
    #[test]
    fn tokens_are_compared_as_a_whole() {
        let token = Token::from_config("12345678").unwrap();
        assert!(token.matches_token("12345678"));
        for wrong in ["", "1234567", "123456789", "12345679", "\0"] {
            assert!(!token.matches_token(wrong), "{wrong:?}");
        }
        assert!(Token::from_config("1234567").is_err() && Token::from_config("1234 5678").is_err());
    }
}
