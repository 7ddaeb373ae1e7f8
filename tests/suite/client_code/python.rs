//! The client for Python: its methods, its types, and the version in `pyproject.toml`.

use std::fmt::Write as _;

use serde_json::Value;

use super::api::{Answer, ApiModel, Field, Operation, Record, Shape, ToolShapes, capitalized, type_name};

const NOTE: &str =
    "# Generated from the server's OpenAPI document by tests/suite/client_code. Do not edit.\n";
const KEYWORDS: &[&str] = &[
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue", "def",
    "del", "elif", "else", "except", "finally", "for", "from", "global", "if", "import", "in", "is",
    "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "try", "while", "with", "yield",
];

pub fn client_files(api: &ApiModel) -> Vec<(&'static str, String)> {
    let mut types = TypeWriter::default();
    let code = code_file(api, &mut types);
    vec![
        ("os_screen_observer_client/_types.py", types.file()),
        ("os_screen_observer_client/_client.py", code),
        ("pyproject.toml", project_file(api)),
    ]
}

fn project_file(api: &ApiModel) -> String {
    format!(
        "{NOTE}[build-system]\nrequires = [\"setuptools>=77\"]\nbuild-backend = \"setuptools.build_meta\"\n\n[project]\n\
         name = \"os-screen-observer-client\"\nversion = \"{}\"\n\
         description = \"Typed client for the HTTP API of os-screen-observer.\"\nreadme = \"README.md\"\n\
         license = \"MIT OR Apache-2.0\"\nrequires-python = \">=3.11\"\ndependencies = []\n\n[tool.setuptools]\n\
         packages = [\"os_screen_observer_client\"]\n\n[tool.setuptools.package-data]\n\
         os_screen_observer_client = [\"py.typed\"]\n",
        api.version
    )
}

fn code_file(api: &ApiModel, types: &mut TypeWriter) -> String {
    for (name, shape) in &api.named {
        types.add_named(name, shape);
    }
    let overloads: String = api.tools.iter().map(|tool| tool_overload(tool, types)).collect();
    let methods: String = api.operations.iter().map(|operation| method_code(operation, types)).collect();
    format!(
        "{NOTE}\"\"\"The client: a method for each route of the server, and `call` for each of its tools.\"\"\"\n\
         from typing import Any, Literal, overload\nfrom urllib.parse import quote\n\nfrom ._transport import Transport\n\
         from . import _types\n\nVERSION = \"{}\"\n\n\n\
         class ScreenObserverClient(Transport):\n{overloads}    def call(self, name: str, arguments: Any = None) -> Any:\n        \
         \"\"\"Calls a tool.\"\"\"\n        \
         return self.send(\"POST\", f\"/api/tool/{{quote(name, safe='')}}\", body=arguments or {{}})\n{methods}",
        api.version
    )
}

fn tool_overload(tool: &ToolShapes, types: &mut TypeWriter) -> String {
    let name = |part: &str| type_name(&format!("{}.{part}", tool.name));
    types.add_named(&name("arguments"), &tool.arguments);
    types.add_named(&name("reply"), &tool.reply);
    let otherwise = if tool.arguments.may_be_empty() { " = ..." } else { "" };
    format!(
        "    @overload\n    def call(self, name: Literal[\"{}\"], arguments: _types.{}{otherwise}) -> _types.{}: ...\n",
        tool.name,
        name("arguments"),
        name("reply")
    )
}

fn method_code(operation: &Operation, types: &mut TypeWriter) -> String {
    let Operation { name, method, summary, .. } = operation;
    let owner = name.split('_').map(capitalized).collect::<String>();
    let mut parameters = vec!["self".to_owned()];
    parameters.extend(operation.path_parameters.iter().map(|name| format!("{}: str", snake_case(name))));
    let mut given = String::new();
    if let Some(body) = &operation.body {
        let kind = types.annotation(&format!("{owner}Body"), &body.shape, "_types.");
        parameters.push(if body.required {
            format!("body: {kind}")
        } else {
            format!("body: {kind} | None = None")
        });
        given.push_str(if body.required { ", body=body" } else { ", body=body or {}" });
    }
    if !operation.query.is_empty() {
        parameters.push("*".to_owned());
        for field in &operation.query {
            parameters.push(query_parameter(field, &owner, types));
        }
        let pairs: Vec<String> = operation
            .query
            .iter()
            .map(|field| format!("\"{}\": {}", field.name, safe_name(&field.name)))
            .collect();
        given.push_str(&format!(", query={{{}}}", pairs.join(", ")));
    }
    let (answer, reads) = match &operation.answer {
        Answer::Json(shape) => (types.annotation(&format!("{owner}Reply"), shape, "_types."), ""),
        Answer::Text => ("str".to_owned(), ", read_as=\"text\""),
        Answer::Bytes => ("bytes".to_owned(), ", read_as=\"bytes\""),
    };
    let mut path = operation.path.clone();
    for name in &operation.path_parameters {
        path = path.replace(&format!("{{{name}}}"), &format!("{{quote({}, safe='')}}", snake_case(name)));
    }
    let form = if operation.path_parameters.is_empty() { "" } else { "f" };
    format!(
        "\n    def {name}({}) -> {answer}:\n        \"\"\"{summary}\"\"\"\n        return self.send(\"{method}\", {form}\"{path}\"{given}{reads})  # type: ignore[no-any-return]\n",
        parameters.join(", ")
    )
}

fn query_parameter(field: &Field, owner: &str, types: &mut TypeWriter) -> String {
    let kind = types.annotation(&format!("{owner}{}", capitalized(&field.name)), &field.shape, "_types.");
    let name = safe_name(&field.name);
    if field.required { format!("{name}: {kind}") } else { format!("{name}: {kind} | None = None") }
}

/// The types, which may name each other in any order.
#[derive(Default)]
struct TypeWriter {
    text: String,
}

impl TypeWriter {
    fn file(self) -> String {
        format!(
            "{NOTE}\"\"\"What the server takes and answers.\"\"\"\nfrom __future__ import annotations\n\n\
             from typing import Any, Literal, NotRequired, TypeAlias, TypedDict\n{}",
            self.text
        )
    }

    fn add_named(&mut self, name: &str, shape: &Shape) {
        match shape {
            Shape::Record(record) => self.add_record(name, record),
            other => {
                let kind = self.annotation(name, other, "");
                let _ = write!(self.text, "\n\n{name}: TypeAlias = {kind:?}\n");
            }
        }
    }

    /// Names that a class cannot have as fields are written as keys.
    fn add_record(&mut self, name: &str, record: &Record) {
        let mut rows = Vec::new();
        for field in &record.fields {
            let kind = self.annotation(&format!("{name}{}", type_name(&field.name)), &field.shape, "");
            let kind = if field.required { kind } else { format!("NotRequired[{kind}]") };
            rows.push((field, kind));
        }
        if record.fields.iter().all(|field| is_identifier(&field.name)) {
            let lines: String = rows.iter().map(|(field, kind)| field_lines(field, kind)).collect();
            let _ = write!(self.text, "\n\nclass {name}(TypedDict):\n{lines}");
        } else {
            let pairs: Vec<String> =
                rows.iter().map(|(field, kind)| format!("    {:?}: {kind:?},\n", field.name)).collect();
            let _ = write!(self.text, "\n\n{name} = TypedDict(\"{name}\", {{\n{}}})\n", pairs.concat());
        }
    }

    /// The type of a value; what has fields becomes a class of this name first.
    fn annotation(&mut self, name: &str, shape: &Shape, module: &str) -> String {
        match shape {
            Shape::Record(record) => {
                self.add_record(name, record);
                format!("{module}{name}")
            }
            Shape::List(items) => format!("list[{}]", self.annotation(&format!("{name}Item"), items, module)),
            Shape::Map(values) => {
                format!("dict[str, {}]", self.annotation(&format!("{name}Value"), values, module))
            }
            Shape::Union(parts) => {
                let numbered = parts.iter().enumerate();
                let kinds = numbered.map(|(at, part)| {
                    let own = if at == 0 { name.to_owned() } else { format!("{name}{}", at + 1) };
                    self.annotation(&own, part, module)
                });
                union_text(kinds.collect())
            }
            Shape::Named(named) => format!("{module}{named}"),
            plain => annotation(plain),
        }
    }
}

/// Literals together, and each kind once.
fn union_text(kinds: Vec<String>) -> String {
    let mut literals = Vec::new();
    let mut others = Vec::new();
    for kind in kinds {
        match kind.strip_prefix("Literal[").and_then(|rest| rest.strip_suffix(']')) {
            Some(literal) => literals.push(literal.to_owned()),
            None if !others.contains(&kind) => others.push(kind),
            None => {}
        }
    }
    let literal = (!literals.is_empty()).then(|| format!("Literal[{}]", literals.join(", ")));
    literal.into_iter().chain(others).collect::<Vec<_>>().join(" | ")
}

fn field_lines(field: &Field, kind: &str) -> String {
    let about = match field.description.as_str() {
        "" => String::new(),
        words => format!("    # {words}\n"),
    };
    format!("{about}    {}: {kind}\n", field.name)
}

/// Of what needs no class of its own.
pub fn annotation(shape: &Shape) -> String {
    match shape {
        Shape::Any => "Any".to_owned(),
        Shape::Null => "None".to_owned(),
        Shape::Boolean => "bool".to_owned(),
        Shape::Integer => "int".to_owned(),
        Shape::Number => "float".to_owned(),
        Shape::Text => "str".to_owned(),
        Shape::Literal(Value::Bool(flag)) => format!("Literal[{}]", if *flag { "True" } else { "False" }),
        Shape::Literal(value) => format!("Literal[{value}]"),
        Shape::List(items) => format!("list[{}]", annotation(items)),
        Shape::Map(values) => format!("dict[str, {}]", annotation(values)),
        Shape::Union(parts) => union_text(parts.iter().map(annotation).collect()),
        Shape::Record(_) => "dict[str, Any]".to_owned(),
        Shape::Named(name) => name.clone(),
    }
}

fn is_identifier(name: &str) -> bool {
    let plain = name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
    plain && !name.starts_with(|letter: char| letter.is_ascii_digit()) && !KEYWORDS.contains(&name)
}

fn safe_name(name: &str) -> String {
    if is_identifier(name) { name.to_owned() } else { format!("{name}_") }
}

/// `sessionId` as `session_id`.
fn snake_case(name: &str) -> String {
    let mut snake = String::new();
    for letter in name.chars() {
        if letter.is_ascii_uppercase() {
            snake.push('_');
        }
        snake.push(letter.to_ascii_lowercase());
    }
    snake
}
