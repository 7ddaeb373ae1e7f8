//! Every key of the configuration and what it accepts, as one table. The file, the environment and the
//! flags are all held to it, and every message about a key takes its words from here. The keys themselves are declared
//! in `types`.

use std::sync::LazyLock;

use serde_json::Value;

use super::folder::FolderRule;
use super::hosts::HostRule;
use super::origins::PageOrigin;
use super::types::{AppRule, Config, ConfirmationRule, SecretRule, Size};
use crate::pattern::Pattern;
use crate::text::shorten;

#[derive(Debug)]
pub struct Key {
    /// `section.key`, or `key` at the top level.
    pub path: &'static str,
    pub rule: KeyRule,
    /// A guard keeps something shut, hidden, counted or recorded. Falling back to a default could open
    /// what the user closed, so a broken guard stops the start instead.
    pub guard: bool,
    /// The value is never shown, not even in a complaint about it.
    pub secret: bool,
    /// What a file in the working folder may do to it.
    pub in_folder: FolderRule,
    /// The comment of its declaration.
    comment: &'static str,
}

#[derive(Clone, Copy, Debug)]
pub enum KeyRule {
    Flag,
    Text,
    /// A text that is not empty.
    Word,
    /// A file or folder: a text without control characters, which is what a half-escaped path turns into.
    Path,
    Endpoint,
    Integer(u64, u64),
    Number(f64, f64),
    Texts,
    Patterns,
    OneOf(&'static [&'static str]),
    /// `1280x800`
    ScreenSize,
    /// `[x, y, width, height]` or the text `x,y,width,height`.
    Region,
    Confirmations,
    SecretRules,
    /// Names of applications, or objects with conditions.
    AppRules,
    /// Names and addresses of hosts (`hosts::HostRule`).
    Hosts,
    /// Origins of pages (`origins::PageOrigin`).
    Origins,
    Optional(&'static KeyRule),
}

use KeyRule::{
    AppRules, Confirmations, Endpoint, Flag, Hosts, Integer, Number, OneOf, Optional, Origins, Path,
    Patterns, Region, ScreenSize, SecretRules, Text, Texts, Word,
};

pub(super) const MAYBE_TEXT: KeyRule = Optional(&Text);
pub(super) const MAYBE_COUNT: KeyRule = Optional(&ANY_COUNT);
const ANY_COUNT: KeyRule = Integer(0, i64::MAX as u64);
pub(super) const ANY_PORT: KeyRule = Integer(0, 65_535);
pub(super) const UP_TO_A_MILLION: KeyRule = Integer(0, 1_000_000);

/// Every key, in the order of the documentation.
pub static KEYS: LazyLock<Vec<&'static Key>> =
    LazyLock::new(|| Config::KEYS.iter().copied().flatten().collect());

/// Old names that still work.
pub const RENAMED: &[(&str, &str)] = &[("vlm.prompt", "vlm.prompt_single")];

/// Keys that configurations of this kind carry and that never had an effect.
pub const WITHOUT_EFFECT: &[&str] =
    &["telemetry.metrics_enabled", "vlm.output_format", "vlm.focused_zoom_pad"];

/// What a key accepts, and how its mistakes are treated.
#[derive(Clone, Copy, Debug)]
pub(super) struct Accepts {
    rule: KeyRule,
    guard: bool,
    secret: bool,
}

pub(super) const fn plain(rule: KeyRule) -> Accepts {
    Accepts { rule, guard: false, secret: false }
}

pub(super) const fn guard(rule: KeyRule) -> Accepts {
    Accepts { guard: true, ..plain(rule) }
}

pub(super) const fn secret(rule: KeyRule) -> Accepts {
    Accepts { secret: true, ..plain(rule) }
}

pub(super) const fn secret_guard(rule: KeyRule) -> Accepts {
    Accepts { secret: true, ..guard(rule) }
}

/// The key of a path, by its present or its old name.
pub fn find(path: &str) -> Option<&'static Key> {
    let present = RENAMED.iter().find(|(old, _)| *old == path).map_or(path, |(_, new)| new);
    KEYS.iter().copied().find(|key| key.path == present)
}

/// The keys of one section, in order.
pub fn in_section(section: &str) -> impl Iterator<Item = &'static Key> {
    KEYS.iter().copied().filter(move |key| key.section() == Some(section))
}

impl Key {
    pub(super) const fn new(
        path: &'static str,
        comment: &'static str,
        accepts: Accepts,
        in_folder: FolderRule,
    ) -> Self {
        let Accepts { rule, guard, secret } = accepts;
        Self { path, rule, guard, secret, in_folder, comment }
    }

    /// What the key means, for the documentation.
    pub fn meaning(&self) -> &'static str {
        self.comment.trim()
    }

    pub fn section(&self) -> Option<&'static str> {
        self.path.split_once('.').map(|(section, _)| section)
    }

    /// The name at the end of the path.
    pub fn name(&self) -> &'static str {
        self.path.split_once('.').map_or(self.path, |(_, name)| name)
    }

    /// Where its value is in the configuration as JSON.
    pub fn pointer(&self) -> String {
        format!("/{}", self.path.replace('.', "/"))
    }

    pub fn environment_name(&self) -> String {
        format!("OSO_{}", self.path.replace('.', "__").to_ascii_uppercase())
    }

    /// The value in its canonical form, or a sentence that says what was expected and what was found.
    pub fn check(&self, value: &Value) -> Result<Value, String> {
        self.rule.check(value).map_err(|complaint| match complaint {
            Complaint::Unexpected => {
                format!("expected {}, found {}", self.rule.expectation(), self.show(value))
            }
            Complaint::Because(reason) => reason,
        })
    }

    /// The value for a message: whole if short, its kind alone if it is a secret.
    pub fn show(&self, value: &Value) -> String {
        let kind = kind_of(value);
        match (self.secret, value) {
            (_, Value::Null) => kind.to_owned(),
            (true, _) => format!("{kind} (not shown)"),
            (false, _) => format!("{kind} {}", shortened(&value.to_string())),
        }
    }
}

enum Complaint {
    /// The value is of another kind or out of range; the rule's expectation says it all.
    Unexpected,
    Because(String),
}

impl KeyRule {
    fn check(&self, value: &Value) -> Result<Value, Complaint> {
        match self {
            Flag => value.as_bool().map(Value::from),
            Text => value.as_str().map(Value::from),
            Word => value.as_str().filter(|text| !text.trim().is_empty()).map(Value::from),
            Path => return check_path(value),
            Endpoint => value.as_str().filter(|text| is_http(text)).map(Value::from),
            Integer(least, most) => {
                value.as_u64().filter(|number| (least..=most).contains(&number)).map(Value::from)
            }
            Number(least, most) => {
                value.as_f64().filter(|number| (least..=most).contains(&number)).map(Value::from)
            }
            Texts => texts_of(value).map(Value::from),
            Patterns => return check_patterns(value),
            OneOf(choices) => choice_of(choices, value).map(Value::from),
            ScreenSize => value.as_str().and_then(Size::parse).map(|size| size.to_string().into()),
            Region => region_of(value).map(Value::from),
            Confirmations => return check_confirmations(value),
            SecretRules => return check_secret_rules(value),
            AppRules => return check_app_rules(value),
            Hosts => return check_items(value, HostRule::parse),
            Origins => return check_items(value, PageOrigin::parse),
            Optional(_) if value.is_null() => Some(Value::Null),
            Optional(rule) => return rule.check(value),
        }
        .ok_or(Complaint::Unexpected)
    }

    pub fn expectation(&self) -> String {
        match self {
            Flag => "true or false".to_owned(),
            Text => "a string".to_owned(),
            Word => "a non-empty string".to_owned(),
            Path => "a path as a string".to_owned(),
            Endpoint => "an address that begins with http:// or https://".to_owned(),
            Integer(least, most) if *most >= i64::MAX as u64 => format!("a whole number of at least {least}"),
            Integer(least, most) => format!("a whole number from {least} to {most}"),
            Number(least, most) => format!("a number from {least} to {most}"),
            Texts => "a list of strings".to_owned(),
            Patterns => "a list of regular expressions".to_owned(),
            OneOf(choices) => format!("one of {}", choices.join(", ")),
            ScreenSize => format!("a size like 1280x800, from {} to {}", Size::LEAST, Size::MOST),
            Region => {
                "four whole numbers: x, y, width and height, of which the last two are positive".to_owned()
            }
            Confirmations => "a list of rules like {\"role\": …, \"name_regex\": …}".to_owned(),
            SecretRules => {
                "an object of secret names with lists of rules like {\"role\": …, \"name_regex\": …}"
                    .to_owned()
            }
            AppRules => "a list of names of applications, or of rules like {\"app\": …, \"title_regex\": …}"
                .to_owned(),
            Origins => "a list of origins like https://bank.example".to_owned(),
            Hosts => "a list of hosts like example.org, *.example.org and 10.0.0.0/8".to_owned(),
            Optional(rule) => format!("{} or null", rule.expectation()),
        }
    }
}

fn check_path(value: &Value) -> Result<Value, Complaint> {
    let text = value.as_str().filter(|text| !text.is_empty()).ok_or(Complaint::Unexpected)?;
    match text.chars().find(|character| character.is_control()) {
        None => Ok(text.into()),
        Some(control) => Err(Complaint::Because(format!(
            "the path contains the control character {control:?}, as a single backslash in JSON makes one. \
             {BACKSLASH_HINT}"
        ))),
    }
}

pub const BACKSLASH_HINT: &str =
    r#"Write each backslash twice ("C:\\Tools\\x.exe") or use forward slashes ("C:/Tools/x.exe")."#;

fn is_http(text: &str) -> bool {
    let rest = text.strip_prefix("http://").or_else(|| text.strip_prefix("https://"));
    rest.is_some_and(|rest| !rest.is_empty() && !rest.contains(|c: char| c.is_control() || c == ' '))
}

/// A region with no pixel in it would forbid everything, which nobody writes on purpose.
fn region_of(value: &Value) -> Option<Vec<i32>> {
    let numbers: Vec<i32> = match value {
        Value::String(text) => text.split(',').map(|part| part.trim().parse().ok()).collect::<Option<_>>()?,
        _ => {
            let numbers = value.as_array()?.iter();
            numbers
                .map(|number| number.as_i64().and_then(|number| i32::try_from(number).ok()))
                .collect::<Option<_>>()?
        }
    };
    match numbers[..] {
        [x, y, width, height] if width > 0 && height > 0 => {
            (x.checked_add(width).is_some() && y.checked_add(height).is_some()).then_some(numbers)
        }
        _ => None,
    }
}

fn texts_of(value: &Value) -> Option<Vec<&str>> {
    value.as_array()?.iter().map(Value::as_str).collect()
}

fn check_patterns(value: &Value) -> Result<Value, Complaint> {
    let patterns = texts_of(value).ok_or(Complaint::Unexpected)?;
    for (index, pattern) in patterns.iter().enumerate() {
        Pattern::compile(pattern).map_err(|reason| {
            Complaint::Because(format!("item {index} ({}): {reason}", shortened(pattern)))
        })?;
    }
    Ok(patterns.into())
}

/// A list of texts, each in its one spelling.
fn check_items<T: ToString>(value: &Value, parse: fn(&str) -> Result<T, String>) -> Result<Value, Complaint> {
    let items = texts_of(value).ok_or(Complaint::Unexpected)?;
    let checked = items.iter().enumerate().map(|(index, item)| {
        parse(item)
            .map(|item| item.to_string().into())
            .map_err(|reason| Complaint::Because(format!("item {index} ({}): {reason}", shortened(item))))
    });
    checked.collect::<Result<Vec<Value>, _>>().map(Value::from)
}

fn choice_of(choices: &'static [&'static str], value: &Value) -> Option<&'static str> {
    let text = value.as_str()?;
    let text =
        LEVEL_SYNONYMS.iter().find(|(other, _)| other.eq_ignore_ascii_case(text)).map_or(text, |p| p.1);
    choices.iter().find(|choice| choice.eq_ignore_ascii_case(text)).copied()
}

/// Names of log levels that other programs use.
const LEVEL_SYNONYMS: &[(&str, &str)] = &[("WARN", "WARNING"), ("CRITICAL", "ERROR"), ("FATAL", "ERROR")];

fn check_confirmations(value: &Value) -> Result<Value, Complaint> {
    let rules = value.as_array().ok_or(Complaint::Unexpected)?;
    for (index, rule) in rules.iter().enumerate() {
        check_confirmation(rule).map_err(|reason| Complaint::Because(format!("rule {index}: {reason}")))?;
    }
    Ok(value.clone())
}

/// A condition that nobody knows would be a condition that nobody checks.
fn check_conditions(rule: &Value, known: &[&str]) -> Result<(), String> {
    let fields = rule.as_object().ok_or_else(|| format!("expected an object, found {}", kind_of(rule)))?;
    let unknown = |name: &&String| !name.starts_with('_') && !known.contains(&name.as_str());
    fields.keys().find(unknown).map_or(Ok(()), |name| {
        let known: Vec<String> = known.iter().map(|name| format!("`{name}`")).collect();
        Err(format!("`{}` is not a condition; a rule has {}", shortened(name), known.join(" and ")))
    })
}

fn check_secret_rules(value: &Value) -> Result<Value, Complaint> {
    let names = value.as_object().ok_or(Complaint::Unexpected)?;
    for (name, rules) in names.iter().filter(|(name, _)| !name.starts_with('_')) {
        let rules = rules.as_array().ok_or(Complaint::Unexpected)?;
        for (index, rule) in rules.iter().enumerate() {
            check_secret_rule(rule).map_err(|reason| {
                Complaint::Because(format!("{}, rule {index}: {reason}", shortened(name)))
            })?;
        }
    }
    let named = names.iter().filter(|(name, _)| !name.starts_with('_'));
    Ok(Value::Object(named.map(|(name, rules)| (name.clone(), rules.clone())).collect()))
}

fn check_secret_rule(rule: &Value) -> Result<(), String> {
    check_conditions(rule, &["role", "name_regex", "window_title_regex", "origin"])?;
    check_origin(rule)?;
    let rule: SecretRule = serde_json::from_value(rule.clone())
        .map_err(|_| "`role`, `name_regex` and `window_title_regex` must be strings".to_owned())?;
    if rule == SecretRule::default() {
        return Err("it has no condition, so it would allow everything".to_owned());
    }
    for pattern in [&rule.name_regex, &rule.window_title_regex].into_iter().flatten() {
        Pattern::compile(pattern).map_err(|reason| format!("`{}`: {reason}", shortened(pattern)))?;
    }
    Ok(())
}

/// The sentence that a rule with another origin gets.
fn check_origin(rule: &Value) -> Result<(), String> {
    match rule.get("origin") {
        None | Some(Value::Null) => Ok(()),
        Some(origin) => PageOrigin::parse(origin.as_str().unwrap_or_default())
            .map(drop)
            .map_err(|reason| format!("`origin`: {reason}")),
    }
}

const APP_CONDITIONS: &[&str] = &["app", "program", "desktop_id", "class", "title_regex"];

/// A name alone becomes the rule that it stands for.
fn check_app_rules(value: &Value) -> Result<Value, Complaint> {
    let rules = value.as_array().ok_or(Complaint::Unexpected)?;
    let checked = rules.iter().enumerate().map(|(index, rule)| {
        let rule = match rule {
            Value::String(name) => serde_json::json!({ "app": name }),
            other => other.clone(),
        };
        check_app_rule(&rule).map_err(|reason| Complaint::Because(format!("rule {index}: {reason}")))?;
        Ok(rule)
    });
    checked.collect::<Result<Vec<_>, _>>().map(Value::from)
}

fn check_app_rule(rule: &Value) -> Result<(), String> {
    check_conditions(rule, APP_CONDITIONS)?;
    let rule: AppRule =
        serde_json::from_value(rule.clone()).map_err(|_| "the conditions must be strings".to_owned())?;
    let names = [&rule.app, &rule.program, &rule.desktop_id, &rule.class];
    if rule == AppRule::default() || names.into_iter().flatten().any(|name| name.trim().is_empty()) {
        return Err(
            "a condition is empty, or there is none, so it would match nothing or everything".to_owned()
        );
    }
    rule.title_regex.map_or(Ok(()), |pattern| {
        Pattern::compile(&pattern).map(drop).map_err(|reason| format!("`title_regex`: {reason}"))
    })
}

fn check_confirmation(rule: &Value) -> Result<(), String> {
    check_conditions(rule, &["role", "name_regex", "origin"])?;
    check_origin(rule)?;
    let rule: ConfirmationRule = serde_json::from_value(rule.clone())
        .map_err(|_| "`role` and `name_regex` must be strings".to_owned())?;
    if rule == ConfirmationRule::default() {
        return Err(
            "it has neither `role`, `name_regex` nor `origin`, so it would match nothing or everything"
                .to_owned(),
        );
    }
    rule.name_regex.map_or(Ok(()), |pattern| {
        Pattern::compile(&pattern).map(drop).map_err(|reason| format!("`name_regex`: {reason}"))
    })
}

pub fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "the value",
        Value::Number(_) => "the number",
        Value::String(_) => "the string",
        Value::Array(_) => "the list",
        Value::Object(_) => "the object",
    }
}

/// At most 60 characters, with `…` where more were.
pub fn shortened(text: &str) -> String {
    shorten(text, 60).chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(path: &str, value: Value, expected: &str) {
        let key = find(path).expect(path);
        let outcome = key.check(&value).map_or_else(|complaint| complaint, |value| format!("= {value}"));
        assert!(outcome.contains(expected), "{path} {value}: {outcome}");
    }

    #[test]
    fn the_table_and_the_types_hold_the_same_keys() {
        let defaults = serde_json::to_value(Config::default()).unwrap();
        let mut typed: Vec<String> = Vec::new();
        for (section, value) in defaults.as_object().unwrap() {
            match value.as_object() {
                Some(keys) => typed.extend(keys.keys().map(|key| format!("{section}.{key}"))),
                None => typed.push(section.clone()),
            }
        }
        let mut listed: Vec<String> = KEYS.iter().map(|key| key.path.to_owned()).collect();
        typed.sort();
        listed.sort();
        assert_eq!(typed, listed);
    }

    #[test]
    fn every_default_obeys_its_own_rule() {
        let defaults = serde_json::to_value(Config::default()).unwrap();
        for key in KEYS.iter() {
            let value = &defaults.pointer(&format!("/{}", key.path.replace('.', "/"))).unwrap();
            assert_eq!(&key.check(value).as_ref(), &Ok(*value), "{}", key.path);
        }
    }

    #[test]
    fn numbers_stay_in_range() {
        check("web_ui.port", json!(65_535), "= 65535");
        check(
            "web_ui.port",
            json!(65_536),
            "expected a whole number from 0 to 65535, found the number 65536",
        );
        check("web_ui.port", json!(-1), "found the number -1");
        check("web_ui.port", json!(5001.5), "found the number 5001.5");
        check("web_ui.port", json!("5001"), r#"found the string "5001""#);
        check("ascii_sketch.grid_width", json!(0), "from 1 to 1000");
        check("tree.max_depth", json!(65), "from 1 to 64");
        check("ocr.min_confidence", json!(42.5), "= 42.5");
        check("tree.cache_ttl_s", json!(2), "= 2.0");
        check("budgets.max_actions", json!(-1), "a whole number of at least 0 or null");
    }

    #[test]
    fn choices_are_found_in_any_case() {
        check("logging.level", json!("debug"), r#"= "DEBUG""#);
        check("logging.level", json!("Warn"), r#"= "WARNING""#);
        check("logging.level", json!("loud"), "one of TRACE, DEBUG, INFO, WARNING, ERROR");
        check("actions.default", json!("maybe"), "one of allow, deny or null");
        check("actions.default", json!(null), "= null");
    }

    #[test]
    fn patterns_are_compiled_and_counted() {
        check("redaction.ocr_text_patterns", json!([r"\d{16}"]), "= [");
        check("redaction.ocr_text_patterns", json!(["a", "("]), "item 1 ((): the pattern does not compile");
        check("redaction.ocr_text_patterns", json!("a"), "a list of regular expressions");
        check("redaction.ocr_text_patterns", json!([5]), "a list of regular expressions");
    }

    #[test]
    fn confirmation_rules_are_checked_one_by_one() {
        let check = |rules, expected| check("confirmation_required", rules, expected);
        check(json!([{"role": "Button", "name_regex": "(?i)delete", "_why": "x"}]), "= [");
        check(json!([{"role": "Button", "name_regex": null}]), "= [");
        check(json!(null), "= null");
        check(
            json!([{"role": "a"}, {"name_regex": "["}]),
            "rule 1: `name_regex`: the pattern does not compile",
        );
        check(json!([{"role": 5}]), "rule 0: `role` and `name_regex` must be strings");
        check(json!([{"name": "Delete"}]), "rule 0: `name` is not a condition");
        check(json!([{}]), "rule 0: it has neither");
        check(json!(["Delete"]), "rule 0: expected an object");
        check(json!({"role": "Button"}), "a list of rules");
    }

    #[test]
    fn applications_are_names_or_rules() {
        let check = |rules, expected| check("apps.deny", rules, expected);
        check(json!(["KeePassXC"]), r#"= [{"app":"KeePassXC"}]"#);
        check(json!([{"program": "firefox", "title_regex": "(?i)bank"}]), "= [");
        check(json!([{"name": "firefox"}]), "rule 0: `name` is not a condition");
        check(json!(["a", " "]), "rule 1: a condition is empty");
        check(json!([{}]), "rule 0: a condition is empty");
        check(json!([{"title_regex": "("}]), "rule 0: `title_regex`: the pattern does not compile");
        check(json!([5]), "rule 0: expected an object");
        check(json!("firefox"), "a list of names of applications");
    }

    #[test]
    fn paths_refuse_what_a_lost_backslash_makes() {
        check("tracing.dir", json!("C:\\traces"), "= ");
        check("tracing.dir", json!("C:\traces"), r"control character '\t'");
        check("tracing.dir", json!(""), "expected a path as a string");
    }

    #[test]
    fn a_region_has_four_numbers_and_some_pixels() {
        let check = |region, expected| check("input.allowed_region", region, expected);
        check(json!([-10, 20, 300, 400]), "= [-10,20,300,400]");
        check(json!("0, 0,800,600"), "= [0,0,800,600]");
        check(json!(null), "= null");
        for wrong in [
            json!([0, 0, 0, 5]),
            json!([0, 0, 5, -5]),
            json!([0, 0, 5]),
            json!([0, 0, 5, 5, 5]),
            json!([0, 0, 5.5, 5]),
            json!([i32::MAX, 0, 5, 5]),
            json!([0, 0, 99999999999_i64, 5]),
            json!(""),
            json!("0,0,5"),
            json!("a,b,c,d"),
            json!({}),
            json!([]),
        ] {
            check(wrong, "expected four whole numbers");
        }
    }

    #[test]
    fn secrets_are_not_shown() {
        check("vlm.api_key", json!(["S3NT1NEL"]), "found the list (not shown)");
        check("vlm.base_url", json!("S3NT1NEL@host"), "found the string (not shown)");
        check("vlm.base_url", json!("https://host/v1"), "= ");
        check("vlm.base_url", json!("https://"), "begins with http");
    }

    #[test]
    fn names_lead_to_keys() {
        assert_eq!(find("vlm.prompt").unwrap().path, "vlm.prompt_single");
        assert_eq!(find("web_ui.port").unwrap().environment_name(), "OSO_WEB_UI__PORT");
        assert_eq!(find("mock").unwrap().environment_name(), "OSO_MOCK");
        assert!(find("web_ui").is_none());
    }

    #[test]
    fn long_values_are_cut_with_a_mark() {
        assert_eq!(shortened(&"é".repeat(61)), "é".repeat(60) + "…");
        assert_eq!(shortened("a\u{1b}b"), "a\u{fffd}b");
    }
}
