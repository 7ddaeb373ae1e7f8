//! The one place where defaults, file, environment and flags become a configuration.
//!
//! Each source is a list of settings; they are applied in that order, each held to its key's rule. What does
//! not fit is reported and leaves the value of the sources before it in place, except for a guard, which
//! stops the start.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::document::{self, JsonNode, Pairs, repeated_names};
use super::env::{self, Environment, Variable};
use super::folder::FolderRule;
use super::keys::{self, KEYS, Key, WITHOUT_EFFECT, shortened};
use super::secret::Secret;
use super::{Config, FatalConfig, Flags, Loaded};
use crate::text::nearest;

/// What reading the file gave: nothing there, its text, or why it could not be read.
pub enum FileText {
    Absent,
    Text(String),
    Unreadable(String),
    /// Others can write it, so that nothing in it is this user's word; or it was named and is not there.
    Refused(String),
}

/// A file, and whether it merely lies in the working folder.
pub struct ConfigFile {
    pub path: PathBuf,
    pub text: FileText,
    pub in_folder: bool,
}

impl ConfigFile {
    /// What the start says of it; `None` where there is none.
    fn remark(&self) -> Option<String> {
        let place = self.path.display();
        match (&self.text, self.in_folder) {
            (FileText::Absent, _) => None,
            (_, false) => Some(place.to_string()),
            (_, true) => Some(format!("{place} in the working folder, for what it tightens")),
        }
    }
}

/// One value that a source wants a key to have.
struct Setting {
    /// How a message names the place: `` `web_ui.port` in config.json ``, `OSO_MOCK`, `--port`.
    origin: String,
    key: &'static Key,
    value: Value,
    /// It comes from a file that merely lies in the working folder, so it may tighten and nothing else.
    in_folder: bool,
}

#[derive(Default)]
struct Findings {
    fatal: Vec<String>,
    problems: Vec<String>,
    notices: Vec<String>,
    file_lost: bool,
    /// What a file in the working folder would have loosened.
    left_out: Vec<&'static str>,
}

impl Findings {
    fn lose_file(&mut self, path: &Path, reason: &str) {
        self.file_lost = true;
        self.problems.push(format!(
            "{}: {reason} The file is ignored and the defaults apply; no tool may act until you fix it.",
            path.display()
        ));
    }

    /// A fault of a guard is fatal, any other a problem that the server survives.
    fn fault(&mut self, guard: bool, message: String) {
        if guard { self.fatal.push(message) } else { self.problems.push(message) }
    }
}

pub fn merge_sources(
    path: PathBuf,
    files: Vec<ConfigFile>,
    environment: &Environment,
    flags: &Flags,
) -> Result<Loaded, FatalConfig> {
    let read: Vec<String> = files.iter().filter_map(ConfigFile::remark).collect();
    let folder_file = files.iter().find(|file| file.in_folder && file.remark().is_some());
    let folder_file = folder_file.map(|file| file.path.clone());
    let mut findings = Findings::default();
    let mut settings = Vec::new();
    for file in files {
        settings.extend(from_file(file, &mut findings));
    }
    settings.extend(from_environment(environment, &mut findings));
    settings.extend(from_flags(flags));
    let config =
        apply_settings(settings, &mut findings).map(|config| complete(config, environment, &mut findings));
    if let Some(file) = &folder_file {
        note_folder_file(file, env::user_config_file(environment), &mut findings);
    }
    let Findings { fatal, problems, notices, file_lost, .. } = findings;
    match config {
        Some(config) if fatal.is_empty() => {
            let mut loaded =
                Loaded::new(config, path, read, problems, notices).with_flags_of_one_desktop(flags);
            loaded.file_lost = file_lost;
            loaded.environment_secrets = env::environment_secrets(environment);
            Ok(loaded)
        }
        _ => Err(FatalConfig { path, fatal, problems }),
    }
}

/// How a file that merely lies in the working folder is made to count, or left out.
fn note_folder_file(file: &Path, home: Option<PathBuf>, findings: &mut Findings) {
    if findings.file_lost || !findings.fatal.is_empty() {
        let message = format!(
            "{0} lies in the working folder. If it is not meant for os-screen-observer, name another file: \
             --config FILE (one with {{}} in it will do)",
            file.display()
        );
        findings.problems.push(message);
    }
    if findings.left_out.is_empty() {
        return;
    }
    let names: Vec<String> = findings.left_out.iter().map(|path| format!("`{path}`")).collect();
    let home = home.map_or(String::new(), |home| format!(", or move the file to {}", home.display()));
    findings.notices.push(format!(
        "{0} lies in the working folder, where anybody may have put it, so it may only tighten. Left out: {1}. To \
         obey the whole file, start with --config ./{0}{home}",
        file.display(),
        names.join(", "),
    ));
}

fn from_file(file: ConfigFile, findings: &mut Findings) -> Vec<Setting> {
    let ConfigFile { path, text, in_folder } = file;
    let lost = match text {
        FileText::Absent => return Vec::new(),
        FileText::Refused(reason) => {
            findings.fatal.push(format!("{}: {reason}", path.display()));
            return Vec::new();
        }
        FileText::Unreadable(reason) => reason,
        FileText::Text(text) => match document::parse(&text) {
            Ok(pairs) => {
                return FileReader { path: &path, in_folder, findings, settings: Vec::new() }.read(pairs);
            }
            Err(reason) => format!("{}.", reason.trim_end_matches('.')),
        },
    };
    findings.lose_file(&path, &lost);
    Vec::new()
}

/// Walks the two levels of a file: sections, and the keys in them.
struct FileReader<'a> {
    path: &'a Path,
    in_folder: bool,
    findings: &'a mut Findings,
    settings: Vec<Setting>,
}

impl FileReader<'_> {
    fn read(mut self, Pairs(sections): Pairs<JsonNode>) -> Vec<Setting> {
        self.note_repeated("", &sections);
        for (name, content) in sections {
            self.read_top_level(&name, content);
        }
        self.settings
    }

    fn read_top_level(&mut self, name: &str, content: JsonNode) {
        let is_section = keys::in_section(name).next().is_some();
        match content {
            _ if name.starts_with('_') => {}
            _ if name.contains('.') => self.note_flat(name),
            JsonNode::Object(Pairs(pairs)) if is_section => self.read_section(name, pairs),
            other if is_section => self.complain_about_section(name, other),
            other => self.read_key(name, other),
        }
    }

    fn read_section(&mut self, section: &str, mut pairs: Vec<(String, JsonNode)>) {
        self.note_repeated(section, &pairs);
        // Old names come first, so that the present name wins where both are written.
        pairs.sort_by_key(|(name, _)| !is_old_name(&format!("{section}.{name}")));
        for (name, content) in pairs {
            if !name.starts_with('_') {
                self.read_key(&format!("{section}.{name}"), content);
            }
        }
    }

    fn read_key(&mut self, path: &str, content: JsonNode) {
        let Some(key) = keys::find(path) else {
            return self.note_unknown(path);
        };
        let origin = format!("`{path}` in {}", self.path.display());
        let mut repeated = Vec::new();
        let value = content.into_value(&mut repeated);
        for name in repeated {
            let message = format!("{origin}: `{}` occurs twice; the last one is used", shortened(&name));
            self.findings.fault(key.guard, message);
        }
        self.settings.push(Setting { origin, key, value, in_folder: self.in_folder });
    }

    /// `"actions.deny": [...]` at the top level looks like a key and is none: sections are objects.
    fn note_flat(&mut self, path: &str) {
        let Some((key, section)) = keys::find(path).and_then(|key| Some((key, key.section()?))) else {
            return self.note_unknown(path);
        };
        let place = format!("`{path}` in {}", self.path.display());
        let message = format!("{place}: write {{\"{section}\": {{\"{}\": …}}}} instead", key.name());
        self.findings.fault(key.guard, message);
    }

    fn complain_about_section(&mut self, section: &str, content: JsonNode) {
        let guard = keys::in_section(section).any(|key| key.guard);
        // The kind alone: what stands in the wrong place may be a secret.
        let found = keys::kind_of(&content.into_value(&mut Vec::new()));
        let names: Vec<&str> = keys::in_section(section).map(Key::name).collect();
        let message = format!(
            "`{section}` in {}: expected an object with keys like {}, found only {found}",
            self.path.display(),
            names.join(", "),
        );
        self.findings.fault(guard, message);
    }

    fn note_repeated(&mut self, section: &str, pairs: &[(String, JsonNode)]) {
        for name in repeated_names(pairs).into_iter().filter(|name| !name.starts_with('_')) {
            let path = if section.is_empty() { name } else { format!("{section}.{name}") };
            let guard = keys::find(&path)
                .map_or_else(|| keys::in_section(&path).any(|key| key.guard), |key| key.guard);
            let path = shortened(&path);
            let message = format!("`{path}` occurs twice in {}; write it once", self.path.display());
            self.findings.fault(guard, message);
        }
    }

    /// Unknown keys are ignored, as clients rely on it; but one that looks like a misspelt guard is not,
    /// because its author believes that something is shut.
    fn note_unknown(&mut self, path: &str) {
        let place = format!("`{}` in {}", shortened(path), self.path.display());
        if WITHOUT_EFFECT.contains(&path)
            || WITHOUT_EFFECT.iter().any(|known| section_of(known) == Some(path))
        {
            return self.findings.notices.push(format!("{place} has no effect"));
        }
        match nearest_path(path) {
            // Who writes there wants something shut, and must learn that it is not.
            None if is_protective(path) => self
                .findings
                .problems
                .push(format!("{place} is not a known key; what it was meant to protect is not protected")),
            None => self.findings.notices.push(match like_named(path).as_slice() {
                [] => {
                    format!("{place} is not a known key; it is ignored. docs/configuration.md has all keys")
                }
                near => {
                    format!("{place} is not a known key; it is ignored. Near are `{}`", near.join("`, `"))
                }
            }),
            Some((near, true)) => self.findings.fatal.push(format!(
                "{place} is not a key; did you mean `{near}`? That is a security setting, so a misspelling \
                 is an error (start the name with `_` to have it ignored)"
            )),
            Some((near, false)) => self
                .findings
                .notices
                .push(format!("{place} is not a key; did you mean `{near}`? It is ignored")),
        }
    }
}

/// Whether everything that can stand beside it keeps something shut.
fn is_protective(path: &str) -> bool {
    section_of(path).is_some_and(|section| {
        let mut beside = keys::in_section(section).peekable();
        beside.peek().is_some() && beside.all(|key| key.guard)
    })
}

fn is_old_name(path: &str) -> bool {
    keys::RENAMED.iter().any(|(old, _)| *old == path)
}

fn section_of(path: &str) -> Option<&str> {
    path.split_once('.').map(|(section, _)| section)
}

/// The key or section that an unknown path was probably meant to be, and whether that is a guard.
fn nearest_path(path: &str) -> Option<(String, bool)> {
    match path.split_once('.') {
        Some((section, name)) => {
            let near = nearest(name, keys::in_section(section).map(|key| key.name().to_owned()))?;
            let near = format!("{section}.{near}");
            let guard = keys::find(&near).is_some_and(|key| key.guard);
            Some((near, guard))
        }
        None => {
            if let Some(key) = only_key_named(path) {
                return Some((key.path.to_owned(), key.guard));
            }
            let near = nearest(path, KEYS.iter().map(|key| key.section().unwrap_or(key.path).to_owned()))?;
            let guard = KEYS.iter().any(|key| key.guard && key.section().unwrap_or(key.path) == near);
            Some((near, guard))
        }
    }
}

/// The key of this name, whatever its section, unless others have it too: files of other programs have an `enabled`.
fn only_key_named(name: &str) -> Option<&'static Key> {
    let mut named = KEYS.iter().copied().filter(|key| key.section().is_some() && key.name() == name);
    named.next().filter(|key| key.name().contains('_') && named.next().is_none())
}

/// The keys that a word of an unknown one is in, the first few.
fn like_named(path: &str) -> Vec<&'static str> {
    let words: Vec<&str> = path.split(['.', '_', '-']).filter(|word| word.len() >= SHORTEST_WORD).collect();
    let has = |key: &&Key| words.iter().any(|word| key.path.contains(word));
    KEYS.iter().copied().filter(has).map(|key| key.path).take(MOST_NEAR).collect()
}

/// Shorter words are in too many names.
const SHORTEST_WORD: usize = 5;
const MOST_NEAR: usize = 3;

fn from_environment(environment: &Environment, findings: &mut Findings) -> Vec<Setting> {
    let mut settings = Vec::new();
    for variable in env::variables(environment) {
        match variable {
            Variable::Sets { name, path, value } => settings.extend(keys::find(path).map(|key| Setting {
                origin: name,
                key,
                value,
                in_folder: false,
            })),
            Variable::Empty { name } => findings.notices.push(format!("{name} is empty; it is ignored")),
            Variable::Unused { name } => {
                findings.notices.push(format!("{name} is not used: there is no such part here"));
            }
            Variable::Unknown { name, near } => {
                // What another program's names keep shut cannot be told apart here.
                let guard = KEYS.iter().any(|key| key.guard && Some(key.environment_name()) == near)
                    || near.as_ref().is_some_and(|near| env::is_foreign(near));
                findings.fault(guard, unknown_variable(&name, near));
            }
        }
    }
    settings
}

fn unknown_variable(name: &str, near: Option<String>) -> String {
    let advice = match near {
        Some(near) => format!("did you mean {near}?"),
        None => "names are OSO_ + section + __ + key, like OSO_WEB_UI__PORT".to_owned(),
    };
    format!("{} in the environment matches no key; {advice}", shortened(name))
}

/// A folder as it is named on the command line, from where the server is started.
fn absolute_text(folder: &std::path::Path) -> String {
    std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned()).to_string_lossy().into_owned()
}

fn from_flags(flags: &Flags) -> Vec<Setting> {
    let number = |number: Option<u64>| number.map(Value::from);
    let shared: Vec<String> = flags.share.iter().map(|folder| absolute_text(folder)).collect();
    [
        ("--mock", "mock", flags.mock.then_some(json!(true))),
        ("--scenario", "mock", flags.scenario.is_some().then_some(json!(true))),
        ("--sandbox-size", "sandbox.size", flags.sandbox_size.clone().map(Value::from)),
        ("--share", "sandbox.writable", (!shared.is_empty()).then(|| json!(shared))),
        ("--port", "web_ui.port", number(flags.port.map(u64::from))),
        ("--host", "web_ui.host", flags.host.clone().map(Value::from)),
        ("--clickthrough", "clickthrough.enabled", flags.clickthrough.then_some(json!(true))),
        ("--screenjob", "screenjob.enabled", flags.screenjob.then_some(json!(true))),
        ("--screenjob", "jobs.enabled", flags.screenjob.then_some(json!(true))),
        ("--log", "logging.level", flags.log.map(|level| json!(level))),
        ("--max-actions", "budgets.max_actions", number(flags.max_actions)),
        ("--max-screenshots", "budgets.max_screenshots", number(flags.max_screenshots)),
        ("--max-vlm-tokens", "budgets.max_vlm_tokens", number(flags.max_vlm_tokens)),
        ("--max-session-seconds", "budgets.max_session_seconds", number(flags.max_session_seconds)),
        ("--actions-per-minute", "budgets.actions_per_minute", number(flags.actions_per_minute)),
    ]
    .into_iter()
    .filter_map(|(flag, path, value)| {
        Some(Setting { origin: flag.to_owned(), key: keys::find(path)?, value: value?, in_folder: false })
    })
    .collect()
}

/// Lays the settings over the defaults. The rules admit only what the types hold, so that the last step
/// fails only if the two disagree, and then the start is refused rather than a value invented.
fn apply_settings(settings: Vec<Setting>, findings: &mut Findings) -> Option<Config> {
    let mut merged = json!(Config::default());
    // What a file in the working folder is held to: the defaults and the files before it, not its own other keys.
    let mut trusted = merged.clone();
    for setting in settings {
        let value = if setting.in_folder {
            tightened_value(&trusted, &setting, findings)
        } else {
            checked_value(&merged, &setting, findings)
        };
        let place = merged.pointer_mut(&setting.key.pointer());
        if let (Some(place), Some(value)) = (place, value) {
            *place = value;
        }
        if !setting.in_folder {
            trusted.clone_from(&merged);
        }
    }
    serde_json::from_value(merged).map_err(|error| findings.fatal.push(error.to_string())).ok()
}

/// The value in its canonical form, or nothing and a finding.
fn checked_value(merged: &Value, setting: &Setting, findings: &mut Findings) -> Option<Value> {
    let Setting { origin, key, value, .. } = setting;
    let complain = |complaint| {
        let kept = merged.pointer(&key.pointer()).filter(|_| !key.guard);
        let kept = kept.map_or(String::new(), |kept| format!("; {} stays", key.show(kept)));
        findings.fault(key.guard, format!("{origin}: {complaint}{kept}"));
    };
    key.check(value).map_err(complain).ok()
}

/// What becomes of a key by a file in the working folder. What it may not set is not looked at: such a file is often
/// another program's.
fn tightened_value(trusted: &Value, setting: &Setting, findings: &mut Findings) -> Option<Value> {
    let key = setting.key;
    let before = trusted.pointer(&key.pointer())?;
    if key.in_folder == FolderRule::Trusted {
        findings.left_out.extend((before != &setting.value).then_some(key.path));
        return None;
    }
    let wanted = checked_value(trusted, setting, findings)?;
    let all_denied = trusted.pointer("/actions/default").is_some_and(|verdict| verdict == "deny");
    let value = key.in_folder.tightened(before, &wanted, all_denied);
    findings.left_out.extend(value.is_none().then_some(key.path));
    value
}

/// What depends on more than one key or on the surroundings.
fn complete(mut config: Config, environment: &Environment, findings: &mut Findings) -> Config {
    expand_tesseract(&mut config, environment, findings);
    complete_token(&mut config, environment);
    complete_browser(&mut config, environment);
    complete_jobs(&mut config, environment);
    complete_recipes(&mut config, environment);
    config.vlm.api_key = config
        .vlm
        .api_key
        .filter(|key| !key.reveal().is_empty())
        .or_else(|| environment.get("OWUI_API_KEY").filter(|key| !key.is_empty()).map(Secret::new));
    config.planner.api_key = config
        .planner
        .api_key
        .filter(|key| !key.reveal().is_empty())
        .or_else(|| environment.get("OPENAI_API_KEY").filter(|key| !key.is_empty()).map(Secret::new));
    let variable = |name: &str| environment.get(name).filter(|text| !text.is_empty()).map(Secret::new);
    let set = |secret: Option<Secret>, name: &str| {
        secret.filter(|secret| !secret.reveal().is_empty()).or_else(|| variable(name))
    };
    let planner = &mut config.planner;
    planner.anthropic_api_key = set(planner.anthropic_api_key.take(), "ANTHROPIC_API_KEY");
    planner.opencode_password = set(planner.opencode_password.take(), "OPENCODE_SERVER_PASSWORD");
    if config.tree.default_depth > config.tree.max_depth {
        let (wanted, most) = (config.tree.default_depth, config.tree.max_depth);
        findings.notices.push(format!("`tree.default_depth` {wanted} is reduced to `tree.max_depth` {most}"));
        config.tree.default_depth = most;
    }
    if !config.platform.is_known() {
        let name = shortened(&config.platform.0);
        findings.notices.push(format!("`platform` {name} is unknown; the mock desktop is used"));
    }
    config
}

/// The short name in the environment beats the file, as every variable does; an empty text is none.
fn complete_token(config: &mut Config, environment: &Environment) {
    let web_ui = &mut config.web_ui;
    let short = environment.get("OSO_TOKEN").filter(|token| !token.is_empty()).map(Secret::new);
    web_ui.token = short.or(web_ui.token.take()).filter(|token| !token.reveal().is_empty());
    let written = web_ui.token_file.take();
    web_ui.token_file = written
        .map(|path| PathBuf::from(env::expand(&path.to_string_lossy(), environment).0))
        .or_else(|| env::token_file(environment));
}

/// Where jobs are kept.
fn complete_jobs(config: &mut Config, environment: &Environment) {
    let expand = |path: PathBuf| PathBuf::from(env::expand(&path.to_string_lossy(), environment).0);
    let jobs = &mut config.jobs;
    jobs.dir = jobs.dir.take().map(expand).or_else(|| env::jobs_folder(environment));
}

/// Where recipes are kept.
fn complete_recipes(config: &mut Config, environment: &Environment) {
    let expand = |path: PathBuf| PathBuf::from(env::expand(&path.to_string_lossy(), environment).0);
    let planner = &mut config.planner;
    planner.recipes_dir = planner.recipes_dir.take().map(expand).or_else(|| env::recipes_folder(environment));
}

/// Where the logins of browsers are kept.
fn complete_browser(config: &mut Config, environment: &Environment) {
    let expand = |path: PathBuf| PathBuf::from(env::expand(&path.to_string_lossy(), environment).0);
    let browser = &mut config.browser;
    browser.profiles_dir =
        browser.profiles_dir.take().map(expand).or_else(|| env::browser_profiles(environment));
    let named = environment.get("BROWSER_USER_DATA_DIR").filter(|folder| !folder.is_empty());
    browser.user_data_dir = browser.user_data_dir.take().or_else(|| named.map(PathBuf::from)).map(expand);
}

fn expand_tesseract(config: &mut Config, environment: &Environment, findings: &mut Findings) {
    let Some(written) = config.ocr.tesseract_cmd.take() else { return };
    let (expanded, unset) = env::expand(&written.to_string_lossy(), environment);
    for name in unset {
        let message =
            format!("`ocr.tesseract_cmd` names the variable {}, which is not set", shortened(&name));
        findings.problems.push(message);
    }
    config.ocr.tesseract_cmd = (!expanded.is_empty()).then(|| PathBuf::from(expanded));
}
