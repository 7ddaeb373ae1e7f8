//! CHANGELOG.md against the code: a tool, argument, field, key, flag, route or code that it names exists. Somebody who
//! switches goes by these names.

use std::collections::BTreeSet;

use clap::CommandFactory;
use os_screen_observer::cli::Cli;
use os_screen_observer::config::KEYS;
use os_screen_observer::error::Kind;
use os_screen_observer::tools;
use serde_json::Value;

use crate::source;
use crate::support::http::Site;
use crate::support::read;

/// Names of somebody else, and one that shows what is refused.
const OTHERS: &[&str] = &["DISPLAY", "OSO_MODE", "--no-default-features"];

/// Everything in backticks.
fn named_in(text: &str) -> BTreeSet<String> {
    let pattern = regex::Regex::new("`([^`]+)`").unwrap();
    pattern.captures_iter(text).map(|found| found[1].to_owned()).collect()
}

/// What the program calls something, by kind.
struct Names {
    /// Tools, arguments, fields of replies and of the code, values, also of flags.
    words: BTreeSet<String>,
    codes: Vec<&'static str>,
    flags: Vec<String>,
    commands: Vec<String>,
    routes: BTreeSet<String>,
}

impl Names {
    fn gather() -> Self {
        let mut words = BTreeSet::new();
        for spec in tools::all_tools() {
            words.insert(spec.meta.name.to_owned());
            add_words(&spec.full_input_schema(), &mut words);
            spec.output_schema().iter().for_each(|schema| add_words(schema, &mut words));
        }
        add_words_of_code(&mut words);
        let document = Site::new().get("/api/openapi.json").json();
        let command = Cli::command();
        let values = command.get_arguments().flat_map(|flag| flag.get_possible_values());
        words.extend(values.map(|value| value.get_name().to_owned()));
        Self {
            words,
            codes: Kind::ALL.iter().map(|kind| kind.code()).collect(),
            flags: command.get_arguments().filter_map(|flag| flag.get_long()).map(str::to_owned).collect(),
            commands: command.get_subcommands().map(|command| command.get_name().to_owned()).collect(),
            routes: document["paths"].as_object().unwrap().keys().cloned().collect(),
        }
    }

    /// What is wrong with a name; what is written as a sample and not as a name is nobody's.
    fn problem(&self, name: &str) -> Option<String> {
        let is_word = |part: &str| self.words.contains(part) || self.commands.iter().any(|it| it == part);
        let is_key = |path: &str| KEYS.iter().any(|key| key.path == path);
        let known = match shape_of(name) {
            _ if OTHERS.contains(&name) => true,
            Shape::Sample => true,
            Shape::Word => is_word(name) || is_key(name),
            Shape::Path => is_key(name) || name.split('.').all(is_word),
            Shape::Code => self.codes.contains(&name),
            Shape::Flag => {
                let flag = name.trim_start_matches('-').split_whitespace().next().unwrap_or_default();
                self.flags.iter().any(|known| known == flag)
            }
            Shape::Route => {
                self.routes.contains(&name[name.find('/').unwrap_or(0)..].replace("NAME", "list_windows"))
            }
            Shape::Variable => {
                let path = name.trim_start_matches("OSO_").to_lowercase().replace("__", ".");
                name == "OSO_TOKEN" || is_key(&path)
            }
        };
        (!known).then(|| format!("{name} is not there"))
    }
}

#[derive(Debug, PartialEq)]
enum Shape {
    Word,
    Path,
    Code,
    Flag,
    Route,
    Variable,
    Sample,
}

fn shape_of(name: &str) -> Shape {
    let is = |pattern: &str| regex::Regex::new(pattern).unwrap().is_match(name);
    let files = [".json", ".sh", ".bat", ".example"];
    match name {
        _ if files.iter().any(|end| name.ends_with(end)) => Shape::Sample,
        _ if is("^[a-z][a-z0-9]*(_[a-z0-9]+)*$") && !is("^e[0-9]+$") => Shape::Word,
        _ if is(r"^[a-z_]+(\.[a-z_]+)+$") => Shape::Path,
        _ if is("^OSO_[A-Z_]+$") => Shape::Variable,
        _ if is("^([A-Z][a-z]+)+$") => Shape::Code,
        _ if is("^--[a-z]") => Shape::Flag,
        _ if is("^((GET|POST|HEAD|DELETE) )?/api/") => Shape::Route,
        _ => Shape::Sample,
    }
}

/// The names of properties, and the values that are listed.
fn add_words(schema: &Value, words: &mut BTreeSet<String>) {
    match schema {
        Value::Object(fields) => {
            let properties = fields.get("properties").and_then(Value::as_object);
            words.extend(properties.into_iter().flat_map(|properties| properties.keys().cloned()));
            let values = fields.get("enum").and_then(Value::as_array).into_iter().flatten();
            words.extend(values.filter_map(Value::as_str).map(str::to_owned));
            fields.values().for_each(|inner| add_words(inner, words));
        }
        Value::Array(items) => items.iter().for_each(|inner| add_words(inner, words)),
        _ => {}
    }
}

/// What replies, scenarios and traces are made of is in no schema: fields of types, and texts of one word.
fn add_words_of_code(words: &mut BTreeSet<String>) {
    let pattern =
        regex::Regex::new(r#"\bpub ([a-z][a-z0-9_]*):|^\s+([a-z][a-z0-9_]*): |"([a-z][A-Za-z0-9_-]*)""#);
    let pattern = pattern.unwrap();
    for file in source::files() {
        for line in read(&file.path).lines() {
            let found = pattern.captures_iter(line);
            words.extend(
                found
                    .filter_map(|found| found.iter().skip(1).flatten().next())
                    .map(|it| it.as_str().to_owned()),
            );
        }
    }
}

#[test]
fn what_is_named_exists() {
    let names = Names::gather();
    let page = read("CHANGELOG.md");
    let problems: Vec<String> = named_in(&page).iter().filter_map(|name| names.problem(name)).collect();
    assert!(problems.is_empty(), "CHANGELOG.md: {}", problems.join("; "));
}

#[test]
fn what_does_not_exist_is_found() {
    let names = Names::gather();
    for name in [
        "click_nowhere",
        "window_uuid",
        "web_ui.hostz",
        "NoSuchThing",
        "--no-such-flag",
        "/api/nowhere",
        "OSO_NO_SUCH_KEY",
    ] {
        assert!(names.problem(name).is_some(), "{name}");
    }
    for name in [
        "click_at",
        "window_uid",
        "web_ui.hosts",
        "WindowGone",
        "--mock",
        "POST /api/ocr",
        "OSO_MOCK",
        "a//b",
    ] {
        assert_eq!(names.problem(name), None);
    }
}

#[test]
fn a_name_is_known_by_its_shape() {
    for (name, shape) in [
        ("click_at", Shape::Word),
        ("web_ui.token", Shape::Path),
        ("ElementOccluded", Shape::Code),
        ("--share DIR", Shape::Flag),
        ("/api/tool/NAME", Shape::Route),
        ("OSO_WEB_UI__TOKEN", Shape::Variable),
        ("config.json", Shape::Sample),
        ("e17", Shape::Sample),
        ("[index=n]", Shape::Sample),
    ] {
        assert_eq!(shape_of(name), shape, "{name}");
    }
}
