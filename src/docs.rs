//! From declarations to text: docs/tools.md, the terminal's table, function schemas, and the tables of keys in
//! docs/configuration.md.

use std::fmt::Write;

use serde_json::{Value, json};

use crate::config::{Config, KEYS, Key};
use crate::tool::{Effect, Meta, Method, Spec};

pub fn terminal_table(specs: &[Spec]) -> String {
    let widest = specs.iter().map(|spec| spec.meta.name.len()).max().unwrap_or(0);
    let rows: Vec<String> = specs
        .iter()
        .map(|spec| {
            let meta = spec.meta;
            format!(
                "{:widest$}  {:8}  {:7}  {}",
                meta.name,
                meta.group.name(),
                effect_name(meta.effect),
                meta.brief
            )
        })
        .collect();
    rows.join("\n")
}

/// `tools NAME`: one tool with its arguments, and examples as they are typed into a shell.
pub fn terminal_tool(spec: &Spec) -> String {
    let meta = spec.meta;
    let mut text = format!("{}\n  {}\n\n{}\n", meta.name, meta.brief, wrap_words(meta.detail, 100));
    let schema = spec.input_schema();
    let arguments = arguments_of(&schema);
    let names = arguments.iter().map(|argument| argument.name.len()).max().unwrap_or_default();
    if !arguments.is_empty() {
        text.push_str("\nArguments:\n");
    }
    for ToolArgument { name, kind, required, description } in &arguments {
        let mark = if *required { ", required" } else { "" };
        let told = if description.is_empty() { String::new() } else { format!(": {description}") };
        let lines = wrap_words(&format!("{kind}{mark}{told}"), 100)
            .replace('\n', &format!("\n{:w$}", "", w = names + 4));
        let _ = writeln!(text, "  {name:<names$}  {lines}");
    }
    if !meta.examples.is_empty() {
        text.push_str("\nExamples:\n");
    }
    for example in meta.examples {
        let desk = example.scenario.map_or("--mock".to_owned(), |file| format!("--scenario {file}"));
        let args = example.args.replace('\'', r"'\''");
        let _ =
            writeln!(text, "  # {}\n  os-screen-observer {desk} call {} '{args}'", example.shows, meta.name);
    }
    text.trim_end().to_owned()
}

/// Lines of at most so many characters, broken at blanks.
fn wrap_words(text: &str, width: usize) -> String {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let last = lines.last().map_or(0, |line| line.chars().count());
        if last > 0 && last + 1 + word.chars().count() > width {
            lines.push(String::new());
        }
        if let Some(line) = lines.last_mut() {
            line.push_str(if line.is_empty() { "" } else { " " });
            line.push_str(word);
        }
    }
    lines.join("\n")
}

/// docs/tools.md.
pub fn tools_page(specs: &[Spec]) -> String {
    let mut text = String::from(
        "# Tools\n\nThis page is generated from the tools' declarations; `UPDATE_DOCS=1 cargo test --test suite surface` updates it.\n\nEvery reply has `ok`, `success`, `step_id` and `caused_by_step_id`; an error has `error` with \
         `code`, `message`, `recoverable`, `suggested_next_tool` and `context`. Results with text from the screen \
         are marked `untrusted`, and `suspicious` where a text addresses an agent (docs/security-injection.md). Every tool with the effect *input* also takes `dry_run` and `confirm_token`.\n",
    );
    text.push_str(&tools_table(specs));
    for spec in specs {
        text.push_str(&tool_section(spec));
    }
    text
}

/// One row for each tool, with a link to its section.
fn tools_table(specs: &[Spec]) -> String {
    let mut text = String::from("\n| tool | group | effect | what it does |\n|---|---|---|---|\n");
    for spec in specs {
        let Meta { name, group, effect, brief, .. } = spec.meta;
        let (group, effect) = (group.name(), effect_name(*effect));
        let _ = writeln!(text, "| [`{name}`](#{name}) | {group} | {effect} | {brief} |");
    }
    text
}

/// docs/configuration.md with the rows of its keys made anew. Headings and what stands between the tables are a
/// person's. A section is found by any row of it.
pub fn configuration_page(page: &str) -> String {
    let defaults = json!(Config::default());
    let mut text = String::with_capacity(page.len());
    let mut written = None;
    for line in page.split_inclusive('\n') {
        match line.strip_prefix("| `").and_then(|rest| rest.split('`').next()).and_then(part_of_config) {
            None => text.push_str(line),
            Some(part) if written == Some(part) => {}
            Some(part) => {
                let rows =
                    KEYS.iter().filter(|key| part_of_key(key) == part).map(|key| key_row(key, &defaults));
                text.extend(rows);
                written = Some(part);
            }
        }
    }
    text
}

/// The section of a path, or a key that has none; `None` for what is no key.
fn part_of_config(path: &str) -> Option<&'static str> {
    let part = path.split('.').next()?;
    KEYS.iter().map(|key| part_of_key(key)).find(|known| *known == part)
}

fn part_of_key(key: &Key) -> &'static str {
    key.section().unwrap_or(key.path)
}

fn key_row(key: &Key, defaults: &Value) -> String {
    let default = defaults.pointer(&key.pointer()).unwrap_or(&Value::Null);
    let mark = if key.guard { "**guard** " } else { "" };
    let (path, accepts, meaning) = (key.path, key.rule.expectation(), key.meaning());
    let folder = key.in_folder.in_docs();
    format!("| `{path}` | `{default}` | {accepts} | {folder} | {mark}{meaning} |\n")
}

fn tool_section(spec: &Spec) -> String {
    let meta = spec.meta;
    let mut text = format!("\n## {}\n\n{}\n\n{}\n\n{}\n", meta.name, meta.brief, meta.detail, facts(meta));
    let arguments = argument_rows(&spec.input_schema());
    if !arguments.is_empty() {
        let _ = write!(text, "\n| argument | type | |\n|---|---|---|\n{arguments}");
    }
    for example in meta.examples {
        let world = example.scenario.unwrap_or("the default mock desktop");
        let _ = write!(text, "\nExample, on {world}: {}.\n\n```json\n{}\n```\n", example.shows, example.args);
    }
    text
}

fn facts(meta: &Meta) -> String {
    let routes: Vec<String> =
        meta.rest.iter().map(|(method, path)| format!("`{} {path}`", method_name(*method))).collect();
    let resource = meta.resource.map(|resource| format!("; resource `{}`", resource.uri)).unwrap_or_default();
    let (group, effect) = (meta.group.name(), effect_name(meta.effect));
    format!("Group {group}; effect {effect}; REST {}{resource}.", routes.join(", "))
}

fn argument_rows(schema: &Value) -> String {
    let mut text = String::new();
    for ToolArgument { name, kind, required, description } in arguments_of(schema) {
        let mark = if required { " (required)" } else { "" };
        let description = description.replace('|', r"\|");
        let _ = writeln!(text, "| `{name}`{mark} | {kind} | {description} |");
    }
    text
}

/// An argument of a tool, as its schema has it.
struct ToolArgument {
    name: String,
    kind: String,
    required: bool,
    description: String,
}

fn arguments_of(schema: &Value) -> Vec<ToolArgument> {
    let required = schema.get("required").and_then(Value::as_array);
    let required: Vec<&str> = required.into_iter().flatten().filter_map(Value::as_str).collect();
    let argument = |(name, property): (&String, &Value)| ToolArgument {
        name: name.clone(),
        kind: type_name(property),
        required: required.contains(&name.as_str()),
        description: property
            .get("description")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .replace('\n', " "),
    };
    let properties = schema.get("properties").and_then(Value::as_object);
    properties.into_iter().flatten().map(argument).collect()
}

fn type_name(property: &Value) -> String {
    let bound = |key: &str| property.get(key).and_then(Value::as_i64);
    if let Some(choices) = property.get("enum").and_then(Value::as_array) {
        let names: Vec<&str> = choices.iter().filter_map(Value::as_str).collect();
        return names.join(", ");
    }
    let name = property.get("type").and_then(Value::as_str).unwrap_or("any");
    match (bound("minimum"), bound("maximum")) {
        (Some(least), Some(most)) => format!("{name} {least}…{most}"),
        _ => name.to_owned(),
    }
}

/// `tools --format json`: the whole declaration.
pub fn tool_json(spec: &Spec) -> Value {
    let meta = spec.meta;
    json!({
        "name": meta.name,
        "group": meta.group.name(),
        "effect": effect_name(meta.effect),
        "description": meta.brief,
        "inputSchema": spec.input_schema(),
        "outputSchema": spec.output_schema(),
        "rest": meta.rest.iter().map(|(method, path)| json!([method_name(*method), path])).collect::<Vec<_>>(),
    })
}

/// `tools --format openai`: what a chat-completions request lists under `tools`.
pub fn openai_function(spec: &Spec) -> Value {
    json!({
        "type": "function",
        "function": {
            "name": spec.meta.name,
            "description": spec.meta.brief,
            "parameters": spec.input_schema(),
        },
    })
}

fn effect_name(effect: Effect) -> &'static str {
    match effect {
        Effect::Observe => "observe",
        Effect::Input => "input",
        Effect::Session => "session",
        Effect::System => "system",
    }
}

fn method_name(method: Method) -> &'static str {
    match method {
        Method::Get => "GET",
        Method::Post => "POST",
        Method::Patch => "PATCH",
        Method::Delete => "DELETE",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_wrapped_and_none_is_lost() {
        assert_eq!(wrap_words("one two three", 7), "one two\nthree");
        assert_eq!(wrap_words("incomprehensible a", 4), "incomprehensible\na");
        assert_eq!(wrap_words("", 4), "");
    }
}
