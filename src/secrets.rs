//! Secrets that an agent may use by name and never sees: read once at the start, known to the redactor
//! before the first call, revealed to the input alone.
//!
//! They come from `secrets.file` or from the environment (`OSO_SECRET_NAME`, which wins). No message of
//! this file contains a value, and neither does its `Debug`.

use std::collections::BTreeMap;
use std::fs::{File, Metadata};
use std::io::Read;
use std::path::Path;

use crate::config::limits::{CONFIG_BYTES, TYPED_TEXT_CHARACTERS};
use crate::config::{NamedSecrets, PageOrigin, Secret, SecretRule};
use crate::error::{Error, Fact, Kind, Result};
use crate::files;
use crate::model::Role;
use crate::observer::Target;
use crate::pattern::Pattern;
use crate::privacy::arguments::SecretNames;
use crate::privacy::redact::SHORTEST_LEARNED_SECRET;
use crate::text::nearest;

const LONGEST_NAME: usize = 64;

#[derive(Debug, Default)]
pub struct Secrets {
    values: BTreeMap<String, Secret>,
    /// Where a secret may go. A name that is not here may go anywhere.
    rules: BTreeMap<String, Vec<CompiledSecretRule>>,
}

#[derive(Debug)]
struct CompiledSecretRule {
    role: Option<Role>,
    name: Option<Pattern>,
    window_title: Option<Pattern>,
    origin: Option<PageOrigin>,
}

pub fn is_name(name: &str) -> bool {
    (1..=LONGEST_NAME).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

impl Secrets {
    /// The error is a sentence that stops the start: a secret that is missing or badly kept would be found
    /// out in the middle of a login otherwise.
    pub fn load(config: &NamedSecrets, environment: BTreeMap<String, Secret>) -> Result<Self, String> {
        let mut values = config.file.as_deref().map(read_file).transpose()?.unwrap_or_default();
        values.extend(environment);
        for (name, value) in &values {
            check_secret(name, value.reveal())?;
        }
        let rules = config.allow.iter().map(|(name, rules)| read_rules(name, rules, &values));
        Ok(Self { rules: rules.collect::<Result<_, String>>()?, values })
    }

    pub fn values(&self) -> impl Iterator<Item = &str> {
        self.values.values().map(Secret::reveal)
    }

    pub fn reveal_secret(&self, name: &str) -> Result<&str> {
        self.values.get(name).map(Secret::reveal).ok_or_else(|| self.unknown_secret(name))
    }

    pub fn knows(&self, name: &str) -> bool {
        self.values.contains_key(name)
    }

    /// Whether any secret is bound to a place, so that places have to be looked at.
    pub fn is_restricted(&self) -> bool {
        !self.rules.is_empty()
    }

    /// Whether this secret may go where the call would send it.
    pub fn check(&self, name: &str, targets: &[Target]) -> Result<()> {
        self.reveal_secret(name)?;
        let Some(rules) = self.rules.get(name) else {
            return Ok(());
        };
        match targets.first() {
            Some(target) if rules.iter().any(|rule| rule.admits_target(target)) => Ok(()),
            target => Err(misplaced_secret(name, target)),
        }
    }

    fn unknown_secret(&self, name: &str) -> Error {
        let known: Vec<&str> = self.values.keys().map(String::as_str).collect();
        let advice = if known.is_empty() {
            "this server has none: a person names them in the file of the configuration key secrets.file"
                .to_owned()
        } else {
            format!("known are {}", known.join(", "))
        };
        // What is no name is not repeated: it may be a password that somebody put there.
        let meant = nearest(name, known.iter());
        let meant = meant.map_or(String::new(), |name| format!(" (did you mean '{name}'?)"));
        Error::bad_request(format!("there is no secret with this name{meant}; {advice}")).with("known", known)
    }
}

impl CompiledSecretRule {
    /// A rule about an origin wants a field: where a page does not say what has the focus, a frame of another site may
    /// have it.
    fn admits_target(&self, target: &Target) -> bool {
        self.role.as_ref().is_none_or(|role| role == target.unredacted_role())
            && admits(&self.name, target.unredacted_name())
            && admits(&self.window_title, target.unredacted_title())
            && self.origin.as_ref().is_none_or(|origin| target.is_field() && target.origin().is(origin))
    }
}

/// A text of which that cannot be told is no place for a secret.
fn admits(pattern: &Option<Pattern>, text: &str) -> bool {
    pattern.as_ref().is_none_or(|pattern| pattern.is_match(text) == Ok(true))
}

fn misplaced_secret(name: &str, target: Option<&Target>) -> Error {
    let place = target.map_or(Fact::Null, |target| target.selector().into());
    let advice = match target {
        Some(target) if !target.is_field() => {
            "; the window does not say which field has the focus: name the field with set_value"
        }
        _ => "",
    };
    Error::new(
        Kind::PermissionDenied,
        format!("the secret '{name}' may not be typed here; its owner allows it only elsewhere{advice}"),
    )
    .with("secret", name)
    .with("selector", place)
}

fn read_rules(
    name: &str,
    rules: &[SecretRule],
    values: &BTreeMap<String, Secret>,
) -> Result<(String, Vec<CompiledSecretRule>), String> {
    if !values.contains_key(name) {
        let known: Vec<&str> = values.keys().map(String::as_str).collect();
        return Err(format!(
            "secrets.allow names '{name}', which is not a secret (known: {}); a misspelled name would protect nothing",
            known.join(", ")
        ));
    }
    let rules = rules.iter().map(|rule| read_rule(name, rule)).collect::<Result<_, String>>()?;
    Ok((name.to_owned(), rules))
}

fn read_rule(name: &str, rule: &SecretRule) -> Result<CompiledSecretRule, String> {
    let compile = |pattern: &Option<String>| {
        pattern
            .as_deref()
            .map(Pattern::compile)
            .transpose()
            .map_err(|problem| format!("secrets.allow, {name}: {problem}"))
    };
    Ok(CompiledSecretRule {
        role: rule.role.as_deref().map(Role::parse),
        name: compile(&rule.name_regex)?,
        window_title: compile(&rule.window_title_regex)?,
        origin: rule.origin.clone(),
    })
}

/// A secret that the redactor could not recognise would be shown by the first look at the screen.
fn check_secret(name: &str, value: &str) -> Result<(), String> {
    let shown = if is_name(name) { name } else { "(an invalid name)" };
    if !is_name(name) {
        return Err(
            "a secret's name must have 1 to 64 letters, digits or _; one of the names does not".to_owned()
        );
    }
    if value.trim().chars().count() < SHORTEST_LEARNED_SECRET {
        return Err(format!(
            "the secret {shown} has fewer than {SHORTEST_LEARNED_SECRET} characters; such a short one cannot \
             be redacted reliably"
        ));
    }
    if value.len() > TYPED_TEXT_CHARACTERS {
        return Err(format!("the secret {shown} is longer than {TYPED_TEXT_CHARACTERS} bytes"));
    }
    Ok(())
}

fn read_file(path: &Path) -> Result<BTreeMap<String, Secret>, String> {
    let about = |problem: String| format!("secrets.file {}: {problem}", path.display());
    let text = read_private(path).map_err(about)?;
    let pairs = if text.trim_start().starts_with('{') { json_pairs(&text) } else { line_pairs(&text) };
    let mut secrets = BTreeMap::new();
    for (name, value) in pairs.map_err(about)? {
        if secrets.insert(name.clone(), Secret::new(value)).is_some() {
            return Err(about(format!("'{}' is given twice", if is_name(&name) { &name } else { "?" })));
        }
    }
    Ok(secrets)
}

const NOT_A_FILE: &str = "it must be a regular file, not a link, folder or pipe";

fn read_private(path: &Path) -> Result<String, String> {
    // Looked at before it is opened: opening a pipe would wait for its writer for ever.
    let found = std::fs::symlink_metadata(path).map_err(|problem| problem.to_string())?;
    if !found.is_file() {
        return Err(NOT_A_FILE.to_owned());
    }
    let file = File::open(path).map_err(|problem| problem.to_string())?;
    check_private(&file.metadata().map_err(|problem| problem.to_string())?, path)?;
    let mut bytes = Vec::new();
    file.take(CONFIG_BYTES as u64 + 1).read_to_end(&mut bytes).map_err(|problem| problem.to_string())?;
    if bytes.len() > CONFIG_BYTES {
        return Err(format!("it is larger than {CONFIG_BYTES} bytes"));
    }
    String::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned())
}

fn check_private(opened: &Metadata, path: &Path) -> Result<(), String> {
    match files::mode_open_to_others(opened) {
        Some(mode) => {
            Err(format!("other users can read it (mode {mode:04o}); run: chmod 600 {}", path.display()))
        }
        None if opened.is_file() => Ok(()),
        None => Err(NOT_A_FILE.to_owned()),
    }
}

type SecretPairs = Vec<(String, String)>;

/// Neither reader quotes what it read: it may be a secret.
fn json_pairs(text: &str) -> Result<SecretPairs, String> {
    let values: BTreeMap<String, serde_json::Value> = serde_json::from_str(text)
        .map_err(|problem| format!("not JSON at line {} column {}", problem.line(), problem.column()))?;
    values
        .into_iter()
        .map(|(name, value)| match value {
            serde_json::Value::String(value) => Ok((name, value)),
            _ => Err(format!("the value of '{}' is not a string", if is_name(&name) { &name } else { "?" })),
        })
        .collect()
}

fn line_pairs(text: &str) -> Result<SecretPairs, String> {
    let lines = text.lines().enumerate().map(|(number, line)| (number + 1, line));
    lines
        .filter(|(_, line)| !line.trim().is_empty() && !line.trim_start().starts_with('#'))
        .map(|(number, line)| match line.split_once('=') {
            Some((name, value)) => Ok((name.trim().to_owned(), value.to_owned())),
            None => Err(format!("line {number} is not NAME=VALUE")),
        })
        .collect()
}

impl SecretNames for Secrets {
    fn knows(&self, name: &str) -> bool {
        Secrets::knows(self, name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    fn give_mode(path: &Path, mode: u32) {
        std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(mode)).unwrap();
    }

    #[cfg(not(unix))]
    fn give_mode(_: &Path, _: u32) {}

    fn check(text: &str, mode: u32, expected: &str) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("secrets");
        std::fs::write(&path, text).unwrap();
        give_mode(&path, mode);
        let config = NamedSecrets { file: Some(path), ..NamedSecrets::default() };
        let outcome = match Secrets::load(&config, BTreeMap::new()) {
            Ok(secrets) => {
                secrets.values.iter().map(|(name, value)| format!("{name}:{} ", value.reveal())).collect()
            }
            Err(problem) => problem,
        };
        assert!(outcome.contains(expected), "{outcome}");
        assert!(outcome.contains("S3NT1NEL") == expected.contains("S3NT1NEL"), "{outcome}");
    }

    #[test]
    fn both_forms_are_read() {
        check(r#"{"BANK": "S3NT1NEL", "mail_2": "a=b c"}"#, 0o600, "BANK:S3NT1NEL mail_2:a=b c");
        check("# mine\n\nBANK=S3NT1NEL\r\nmail = a=b c\n", 0o400, "BANK:S3NT1NEL mail: a=b c");
    }

    #[test]
    fn faults_name_the_place_and_not_the_value() {
        check("{\"BANK\": \"S3NT1NEL\",}", 0o600, "not JSON at line 1");
        check("{\"BANK\": [\"S3NT1NEL\"]}", 0o600, "the value of 'BANK' is not a string");
        check("A_B=long enough\nS3NT1NEL\n", 0o600, "line 2 is not NAME=VALUE");
        check("BANK=S3NT1NEL\nBANK=S3NT1NEL\n", 0o600, "'BANK' is given twice");
        check("a-b=S3NT1NEL\n", 0o600, "letters, digits or _");
        check("PIN=123\n", 0o600, "the secret PIN has fewer than 4 characters");
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_others_can_read_is_refused_with_the_fix() {
        for mode in [0o644, 0o640, 0o604] {
            check("BANK=S3NT1NEL\n", mode, "run: chmod 600");
        }
    }

    #[cfg(unix)]
    #[test]
    fn only_a_regular_file_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("link");
        std::os::unix::fs::symlink("/dev/null", &link).unwrap();
        for file in [folder.path().to_owned(), link, folder.path().join("missing")] {
            let config = NamedSecrets { file: Some(file), ..NamedSecrets::default() };
            assert!(Secrets::load(&config, BTreeMap::new()).is_err());
        }
    }

    #[test]
    fn the_environment_wins_and_rules_need_a_secret() {
        let environment = BTreeMap::from([("BANK".to_owned(), Secret::new("S3NT1NEL"))]);
        let secrets = Secrets::load(&NamedSecrets::default(), environment.clone()).unwrap();
        assert_eq!(secrets.reveal_secret("BANK").unwrap(), "S3NT1NEL");
        assert!(secrets.reveal_secret("BNAK").unwrap_err().message.contains("known are BANK"));
        assert!(!format!("{secrets:?}").contains("S3NT1NEL"));
        let allow = BTreeMap::from([("BNAK".to_owned(), vec![])]);
        let problem = Secrets::load(&NamedSecrets { file: None, allow }, environment).unwrap_err();
        assert!(problem.contains("'BNAK', which is not a secret (known: BANK)"), "{problem}");
    }
}
