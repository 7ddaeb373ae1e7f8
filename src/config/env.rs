//! What the environment says: `OSO_SECTION__KEY` names, and `~` and `$VAR` inside a path.
//!
//! Only the readers of the process's own environment look at it; everything else reads the map it is given.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

use serde_json::Value;

use super::keys::{self, KEYS, Key};
use super::secret::Secret;
use crate::text::nearest;

pub type Environment = BTreeMap<String, String>;

/// Short names that stand for a key; `merge` reads them.
const RESERVED: &[&str] = &["OSO_TOKEN"];

/// Where the automatic token is kept when nobody says where: in the user's folder for state.
/// <https://specifications.freedesktop.org/basedir-spec/latest/>
pub fn token_file(environment: &Environment) -> Option<PathBuf> {
    Some(state_folder(environment)?.join("http-token"))
}

/// The user's own folder for state of this process, which nobody else can write to.
pub fn own_state_folder() -> Option<PathBuf> {
    state_folder(&process_environment()).filter(|folder| folder.is_absolute())
}

fn state_folder(environment: &Environment) -> Option<PathBuf> {
    let set = |name: &str| environment.get(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let state = set("XDG_STATE_HOME")
        .or_else(|| set("LOCALAPPDATA"))
        .or_else(|| set("HOME").map(|home| home.join(".local/state")))?;
    Some(state.join("os-screen-observer"))
}

/// Where the profiles of browsers are kept when nobody says where.
pub fn browser_profiles(environment: &Environment) -> Option<PathBuf> {
    data_folder(environment, "browser-profiles")
}

/// Where jobs are kept when nobody says where. What waits there is run, so it is never the working folder.
pub fn jobs_folder(environment: &Environment) -> Option<PathBuf> {
    data_folder(environment, "jobs")
}

/// Where recipes are kept when nobody says where. What stands there is done, so it is never the working folder.
pub fn recipes_folder(environment: &Environment) -> Option<PathBuf> {
    data_folder(environment, "recipes")
}

/// A folder of ours in the user's folder for data.
fn data_folder(environment: &Environment, name: &str) -> Option<PathBuf> {
    let set = |name: &str| environment.get(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let data = set("XDG_DATA_HOME")
        .or_else(|| set("LOCALAPPDATA"))
        .or_else(|| set("HOME").map(|home| home.join(".local/share")))?;
    // A path that is meant from here would be the working folder's.
    data.is_absolute().then(|| data.join("os-screen-observer").join(name))
}

/// The user's own config file, which is as trusted as one that a flag names.
pub fn user_config_file(environment: &Environment) -> Option<PathBuf> {
    let set = |name: &str| environment.get(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let folder = set("XDG_CONFIG_HOME")
        .or_else(|| set("APPDATA"))
        .or_else(|| set("HOME").map(|home| home.join(".config")))?;
    // A path that is meant from here would be the working folder's.
    folder.is_absolute().then(|| folder.join("os-screen-observer").join("config.json"))
}

/// What follows is the name of a secret that agents may use by that name.
const SECRET_PREFIX: &str = "OSO_SECRET_";

/// The secrets that the environment names.
pub fn environment_secrets(environment: &Environment) -> BTreeMap<String, Secret> {
    let named =
        environment.iter().filter_map(|(name, value)| Some((name.strip_prefix(SECRET_PREFIX)?, value)));
    named.map(|(name, value)| (name.to_owned(), Secret::new(value))).collect()
}

/// The variables of this process. Names are folded to upper case where the system does not tell cases
/// apart; what is not Unicode is replaced rather than a reason to stop.
#[allow(clippy::disallowed_methods, reason = "the only place that reads the environment")]
pub fn process_environment() -> Environment {
    std::env::vars_os()
        .map(|(name, value)| (name.to_string_lossy().into_owned(), value.to_string_lossy().into_owned()))
        .map(|(name, value)| (if cfg!(windows) { name.to_ascii_uppercase() } else { name }, value))
        .collect()
}

/// The variables of this process as they are, for programs that it starts.
#[allow(clippy::disallowed_methods, reason = "the only place that reads the environment")]
pub fn process_environment_os() -> impl Iterator<Item = (OsString, OsString)> {
    std::env::vars_os()
}

/// One variable of this process that is nobody's setting, like PATH.
#[allow(clippy::disallowed_methods, reason = "the only place that reads the environment")]
pub fn process_variable(name: &str) -> Option<OsString> {
    std::env::var_os(name)
}

#[derive(Debug, PartialEq)]
pub enum Variable {
    Sets {
        name: String,
        path: &'static str,
        value: Value,
    },
    Empty {
        name: String,
    },
    Unknown {
        name: String,
        near: Option<String>,
    },
    /// Of a part that this program does not have.
    Unused {
        name: String,
    },
}

/// All variables that are meant for us, in the order of their names. Our own names come last, so that they win.
pub fn variables(environment: &Environment) -> Vec<Variable> {
    let ours = environment.iter().filter(|(name, _)| name.starts_with("OSO_"));
    let ours =
        ours.filter(|(name, _)| !RESERVED.contains(&name.as_str()) && !name.starts_with(SECRET_PREFIX));
    let foreign = environment.iter().filter(|(name, _)| is_foreign(name));
    foreign
        .flat_map(|(name, raw)| read_foreign(name, raw))
        .chain(ours.map(|(name, raw)| read_variable(name, raw)))
        .collect()
}

const CLICKTHROUGH_PREFIX: &str = "CLICKTHROUGH_";
const SCREENJOB_PREFIX: &str = "SCREENJOB_";

/// The variables of ScreenJob, and the keys that they stand for.
const SCREENJOB: &[(&str, &str)] = &[
    ("SCREENJOB_HOST", "screenjob.host"),
    ("SCREENJOB_PORT", "screenjob.port"),
    ("SCREENJOB_TOKEN", "screenjob.token"),
    ("SCREENJOB_DEFAULT_MODEL", "screenjob.default_model"),
    (DISABLE_UI, "screenjob.disable_ui"),
];

/// ScreenJob's name without its prefix. Others may use it too, so a value that is neither yes nor no is not ours.
const DISABLE_UI: &str = "DISABLE_UI";

/// The variables of Clickthrough, and the keys that they stand for.
const CLICKTHROUGH: &[(&str, &str)] = &[
    ("CLICKTHROUGH_HOST", "clickthrough.host"),
    ("CLICKTHROUGH_PORT", "clickthrough.port"),
    ("CLICKTHROUGH_TOKEN", "clickthrough.token"),
    ("CLICKTHROUGH_DRY_RUN", "clickthrough.dry_run"),
    ("CLICKTHROUGH_GRID_ROWS", "clickthrough.grid_rows"),
    ("CLICKTHROUGH_GRID_COLS", "clickthrough.grid_cols"),
    ("CLICKTHROUGH_ALLOWED_REGION", "input.allowed_region"),
    ("CLICKTHROUGH_EXEC_ENABLED", "exec.enabled"),
    ("CLICKTHROUGH_EXEC_SECRET", "exec.secret"),
    ("CLICKTHROUGH_EXEC_DEFAULT_SHELL", "exec.default_shell"),
    ("CLICKTHROUGH_EXEC_TIMEOUT_S", "exec.timeout_s"),
    ("CLICKTHROUGH_EXEC_MAX_TIMEOUT_S", "exec.max_timeout_s"),
    ("CLICKTHROUGH_EXEC_MAX_OUTPUT_CHARS", "exec.max_output_chars"),
    ("CLICKTHROUGH_TESSERACT_CMD", "ocr.tesseract_cmd"),
];

/// Where it is to listen says also that it is to.
const CLICKTHROUGH_SWITCHES_ON: &[&str] = &["CLICKTHROUGH_HOST", "CLICKTHROUGH_PORT"];

/// Names of ScreenJob that stand for nothing here.
const SCREENJOB_UNUSED: &[&str] = &["SCREENJOB_SAFETY_MODEL"];

fn read_foreign(name: &str, raw: &str) -> Vec<Variable> {
    if SCREENJOB_UNUSED.contains(&name) || (name == DISABLE_UI && yes_or_no(raw).is_none()) {
        return vec![Variable::Unused { name: name.to_owned() }];
    }
    let foreign = || CLICKTHROUGH.iter().chain(SCREENJOB);
    let known = foreign().find(|(known, _)| *known == name);
    let Some(key) = known.and_then(|(_, path)| keys::find(path)) else {
        let near = nearest(name, foreign().map(|(known, _)| (*known).to_owned()));
        return vec![Variable::Unknown { name: name.to_owned(), near }];
    };
    // That is how files of this kind say "nothing".
    if raw.trim().is_empty() {
        return vec![Variable::Empty { name: name.to_owned() }];
    }
    let sets = |path, value| Variable::Sets { name: name.to_owned(), path, value };
    let value = match key.rule {
        keys::KeyRule::Flag => yes_or_no(raw).map_or_else(|| Value::from(raw), Value::from),
        _ => value_for(key, raw.trim()),
    };
    let mut variables = vec![sets(key.path, value)];
    if CLICKTHROUGH_SWITCHES_ON.contains(&name) {
        variables.push(sets("clickthrough.enabled", Value::Bool(true)));
    }
    variables
}

/// A name of Clickthrough's or of ScreenJob's.
pub fn is_foreign(name: &str) -> bool {
    name.starts_with(CLICKTHROUGH_PREFIX) || name.starts_with(SCREENJOB_PREFIX) || name == DISABLE_UI
}

fn yes_or_no(raw: &str) -> Option<bool> {
    match raw.trim().to_ascii_lowercase().as_str() {
        "1" | "true" | "yes" | "on" => Some(true),
        "0" | "false" | "no" | "off" => Some(false),
        _ => None,
    }
}

fn read_variable(name: &str, raw: &str) -> Variable {
    let name = name.to_owned();
    match key_of(&name) {
        None => {
            Variable::Unknown { near: nearest(&name, KEYS.iter().map(|key| key.environment_name())), name }
        }
        Some(_) if raw.is_empty() => Variable::Empty { name },
        Some(key) => Variable::Sets { name, path: key.path, value: value_for(key, raw) },
    }
}

fn key_of(name: &str) -> Option<&'static Key> {
    let path = name.strip_prefix("OSO_")?.replace("__", ".").to_ascii_lowercase();
    keys::find(&path)
}

/// JSON where the key wants what the JSON says, the bare text otherwise. A value that fits neither way stays
/// as JSON if it is some, so that the complaint can name what was found.
fn value_for(key: &Key, raw: &str) -> Value {
    let text = Value::from(raw);
    match serde_json::from_str::<Value>(raw) {
        Ok(json) if key.check(&json).is_ok() => json,
        _ if key.check(&text).is_ok() => text,
        Ok(json) => json,
        Err(_) => text,
    }
}

/// A path as people write it: quotes trimmed, a leading `~` and every `$VAR` or `${VAR}` replaced. A
/// variable that is not set stays as written and is named in the second part.
pub fn expand(written: &str, environment: &Environment) -> (String, Vec<String>) {
    let trimmed = written.trim().trim_matches(['"', '\'']).trim();
    let mut pieces = trimmed.split('$');
    let mut expanded = with_home(pieces.next().unwrap_or_default(), environment);
    let mut unset = Vec::new();
    for piece in pieces {
        let (name, rest) = variable_at_start(piece);
        match environment.get(name) {
            Some(value) => expanded.extend([value, rest]),
            None => {
                expanded.extend(["$", piece]);
                unset.extend((!name.is_empty()).then(|| name.to_owned()));
            }
        }
    }
    (expanded, unset)
}

fn with_home(start: &str, environment: &Environment) -> String {
    let home = environment.get("HOME").or_else(|| environment.get("USERPROFILE"));
    match (start.strip_prefix('~'), home) {
        (Some(rest), Some(home)) if rest.is_empty() || rest.starts_with(['/', '\\']) => {
            format!("{home}{rest}")
        }
        _ => start.to_owned(),
    }
}

/// The name that follows a `$`, and what comes after it.
fn variable_at_start(piece: &str) -> (&str, &str) {
    if let Some((name, rest)) = piece.strip_prefix('{').and_then(|inside| inside.split_once('}')) {
        return (name, rest);
    }
    let ends = piece.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(piece.len());
    piece.split_at(ends)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn environment(pairs: &[(&str, &str)]) -> Environment {
        pairs.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect()
    }

    fn check_value(name: &str, raw: &str, expected: Value) {
        let Some(Variable::Sets { value, .. }) = variables(&environment(&[(name, raw)])).pop() else {
            panic!("{name} sets nothing");
        };
        assert_eq!(value, expected, "{name}={raw}");
    }

    #[test]
    fn a_value_is_json_where_the_key_wants_it() {
        check_value("OSO_WEB_UI__PORT", "5002", json!(5002));
        check_value("OSO_MOCK", "true", json!(true));
        check_value("OSO_ACTIONS__DENY", r#"["type_text"]"#, json!(["type_text"]));
        check_value("OSO_CONFIRMATION_REQUIRED", r#"[{"role":"Button"}]"#, json!([{"role": "Button"}]));
        check_value("OSO_VLM__MODEL", "null", json!(null));
        check_value("OSO_VLM__PROMPT", "look", json!("look"));
    }

    fn set_by(name: &str, raw: &str) -> Vec<(&'static str, Value)> {
        let set = variables(&environment(&[(name, raw)]));
        let set = set.into_iter().filter_map(|variable| match variable {
            Variable::Sets { path, value, .. } => Some((path, value)),
            _ => None,
        });
        set.collect()
    }

    #[test]
    fn the_names_of_clickthrough_stand_for_keys() {
        let check = |name: &str, raw: &str, expected: &[(&'static str, Value)]| {
            assert_eq!(set_by(name, raw), expected, "{name}={raw}");
        };
        let on = ("clickthrough.enabled", json!(true));
        check("CLICKTHROUGH_PORT", "9000", &[("clickthrough.port", json!(9000)), on.clone()]);
        check("CLICKTHROUGH_HOST", "::1", &[("clickthrough.host", json!("::1")), on]);
        check("CLICKTHROUGH_TOKEN", "12345678", &[("clickthrough.token", json!("12345678"))]);
        for (raw, expected) in [("True", true), ("1", true), ("yes", true), ("off", false), ("0", false)] {
            check("CLICKTHROUGH_DRY_RUN", raw, &[("clickthrough.dry_run", json!(expected))]);
        }
        check("CLICKTHROUGH_DRY_RUN", "perhaps", &[("clickthrough.dry_run", json!("perhaps"))]);
        check("CLICKTHROUGH_GRID_ROWS", "20", &[("clickthrough.grid_rows", json!(20))]);
        check(
            "CLICKTHROUGH_ALLOWED_REGION",
            "0,0,800,600",
            &[("input.allowed_region", json!("0,0,800,600"))],
        );
        check("CLICKTHROUGH_EXEC_ENABLED", "on", &[("exec.enabled", json!(true))]);
        check("CLICKTHROUGH_EXEC_SECRET", "1234", &[("exec.secret", json!("1234"))]);
        check("CLICKTHROUGH_EXEC_DEFAULT_SHELL", "bash", &[("exec.default_shell", json!("bash"))]);
        check("CLICKTHROUGH_EXEC_TIMEOUT_S", "5", &[("exec.timeout_s", json!(5))]);
        check("CLICKTHROUGH_EXEC_MAX_TIMEOUT_S", "6", &[("exec.max_timeout_s", json!(6))]);
        check("CLICKTHROUGH_EXEC_MAX_OUTPUT_CHARS", "7", &[("exec.max_output_chars", json!(7))]);
        check("CLICKTHROUGH_TESSERACT_CMD", "/opt/t", &[("ocr.tesseract_cmd", json!("/opt/t"))]);
        check("CLICKTHROUGH_TOKEN", "", &[]);
        check("CLICKTHROUGH_PROT", "1", &[]);
    }

    #[test]
    fn every_name_of_clickthrough_has_its_key() {
        for (name, path) in CLICKTHROUGH {
            assert!(keys::find(path).is_some(), "{name} stands for {path}, which is none");
        }
    }

    #[test]
    fn a_text_needs_no_quotes() {
        check_value("OSO_MCP__SERVER_NAME", "5", json!("5"));
        check_value("OSO_MCP__SERVER_NAME", "true", json!("true"));
        check_value("OSO_MCP__SERVER_NAME", r#""quoted""#, json!("quoted"));
        check_value("OSO_LOGGING__LEVEL", "debug", json!("debug"));
        check_value("OSO_TRACING__DIR", r"C:\traces", json!(r"C:\traces"));
    }

    #[test]
    fn a_value_that_fits_neither_way_is_kept_for_the_complaint() {
        check_value("OSO_WEB_UI__PORT", "99999", json!(99999));
        check_value("OSO_WEB_UI__PORT", "many", json!("many"));
        check_value("OSO_MOCK", "1", json!(1));
    }

    #[test]
    fn names_that_fit_no_key_come_with_the_nearest() {
        let unknown = |name: &str| variables(&environment(&[(name, "1")])).pop();
        let near = |name: &str, near: Option<&str>| {
            let expected = Variable::Unknown { name: name.to_owned(), near: near.map(str::to_owned) };
            assert_eq!(unknown(name), Some(expected));
        };
        near("OSO_WEB_UI__PROT", Some("OSO_WEB_UI__PORT"));
        near("OSO_WEB_UI_PORT", Some("OSO_WEB_UI__PORT"));
        near("OSO_WEB_UI", None);
        near("OSO_", None);
        near("OSO_VLM__TTL_SECONDS_OF_CONFIRMATION", None);
    }

    #[test]
    fn reserved_empty_and_foreign_names() {
        assert_eq!(variables(&environment(&[("OSO_TOKEN", "x"), ("PATH", "x"), ("OSOMOCK", "x")])), vec![]);
        let empty = Variable::Empty { name: "OSO_MOCK".to_owned() };
        assert_eq!(variables(&environment(&[("OSO_MOCK", "")])), vec![empty]);
    }

    #[test]
    fn every_environment_name_leads_back_to_its_key() {
        for key in KEYS.iter() {
            assert_eq!(key_of(&key.environment_name()).map(|found| found.path), Some(key.path));
        }
    }

    fn check_expand(written: &str, expected: &str, unset: &[&str]) {
        let environment = environment(&[("HOME", "/home/ada"), ("OPT", "/opt"), ("EMPTY", "")]);
        let (expanded, names) = expand(written, &environment);
        assert_eq!((expanded.as_str(), names), (expected, unset.iter().map(ToString::to_string).collect()));
    }

    #[test]
    fn paths_are_expanded() {
        check_expand("tesseract", "tesseract", &[]);
        check_expand(r#" "/opt/my ocr/tesseract" "#, "/opt/my ocr/tesseract", &[]);
        check_expand("'~/bin/tesseract'", "/home/ada/bin/tesseract", &[]);
        check_expand("~", "/home/ada", &[]);
        check_expand("~bob/bin", "~bob/bin", &[]);
        check_expand("$OPT/t", "/opt/t", &[]);
        check_expand("${OPT}x$EMPTY/t", "/optx/t", &[]);
        check_expand("$NOPE/t", "$NOPE/t", &["NOPE"]);
        check_expand("${NOPE/t", "${NOPE/t", &[]);
        check_expand("a$", "a$", &[]);
    }

    proptest! {
        #[test]
        fn without_variables_expansion_only_trims(written in "[^$~]*") {
            let (expanded, unset) = expand(&written, &Environment::new());
            prop_assert!(written.contains(&expanded) && unset.is_empty());
        }
    }
}
