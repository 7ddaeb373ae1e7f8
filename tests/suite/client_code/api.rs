//! What an OpenAPI document offers, as both languages need it: operations with names, tools with arguments and replies,
//! and schemas as shapes. It knows no language, and panics on what it cannot read, so that nothing is left out unseen.

use serde_json::Value;

pub struct ApiModel {
    pub version: String,
    pub operations: Vec<Operation>,
    pub tools: Vec<ToolShapes>,
    /// Schemas that have a name of their own and are no tool's.
    pub named: Vec<(String, Shape)>,
}

/// A route of the server.
pub struct Operation {
    /// In snake case.
    pub name: String,
    pub method: String,
    pub path: String,
    pub summary: String,
    pub path_parameters: Vec<String>,
    pub query: Vec<Field>,
    pub body: Option<Body>,
    pub answer: Answer,
}

pub struct Body {
    pub shape: Shape,
    pub required: bool,
}

pub enum Answer {
    Json(Shape),
    Text,
    Bytes,
}

pub struct ToolShapes {
    pub name: String,
    pub summary: String,
    pub arguments: Shape,
    pub reply: Shape,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    Any,
    Null,
    Boolean,
    Integer,
    Number,
    Text,
    Literal(Value),
    List(Box<Shape>),
    /// Names that are not known beforehand.
    Map(Box<Shape>),
    Record(Record),
    Union(Vec<Shape>),
    /// A schema with a name, as a type is called.
    Named(String),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    pub fields: Vec<Field>,
    /// There may be others.
    pub is_open: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    pub name: String,
    pub required: bool,
    pub shape: Shape,
    pub description: String,
}

/// Routes of tools that are more than `/api/tool/NAME` at another address.
const ROUTES_OF_TOOLS: &str = "/api/jobs";
/// The same job at a second address.
const LEFT_OUT: &[&str] = &["/api/jobs/{job_id}/status"];
const TOOL_ROUTE: &str = "/api/tool/";
const STREAM: &str = "text/event-stream";

impl ApiModel {
    pub fn read(document: &Value) -> Self {
        let schemas = document["components"]["schemas"].as_object().unwrap();
        let mut operations = Vec::new();
        for (path, methods) in document["paths"].as_object().unwrap() {
            let methods = methods.as_object().unwrap().iter();
            operations.extend(
                methods
                    .filter(|(_, one)| is_served(path, one))
                    .map(|(method, one)| read_operation(method, path, one)),
            );
        }
        let is_tools = |name: &str| name.ends_with(".arguments") || name.ends_with(".reply");
        let own = schemas.iter().filter(|(name, _)| !is_tools(name));
        Self {
            version: document["info"]["version"].as_str().unwrap().to_owned(),
            operations,
            tools: read_tools(document, schemas.keys().map(String::as_str)),
            named: own.map(|(name, schema)| (type_name(name), Shape::read(schema))).collect(),
        }
    }
}

fn is_served(path: &str, operation: &Value) -> bool {
    let tags: Vec<&str> =
        operation["tags"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let is_stream = operation["responses"]["200"]["content"].get(STREAM).is_some();
    let is_ours = tags.contains(&"server") || path.starts_with(ROUTES_OF_TOOLS) || !path.starts_with("/api/");
    is_ours && !is_stream && !path.starts_with(TOOL_ROUTE) && !LEFT_OUT.contains(&path)
}

fn read_operation(method: &str, path: &str, operation: &Value) -> Operation {
    let parameters = operation["parameters"].as_array().cloned().unwrap_or_default();
    let at =
        |place: &str| parameters.iter().filter(|one| one["in"] == place).cloned().collect::<Vec<Value>>();
    let body = operation.get("requestBody").map(|body| Body {
        shape: Shape::read(&body["content"]["application/json"]["schema"]),
        required: body["required"] == true,
    });
    Operation {
        name: method_name(method, path),
        method: method.to_uppercase(),
        path: path.to_owned(),
        summary: operation["summary"].as_str().unwrap_or_default().to_owned(),
        path_parameters: at("path").iter().map(|one| one["name"].as_str().unwrap().to_owned()).collect(),
        query: at("query").iter().map(query_field).collect(),
        body,
        answer: read_answer(operation),
    }
}

fn query_field(parameter: &Value) -> Field {
    let schema = parameter.get("schema").unwrap_or(&parameter["content"]["application/json"]["schema"]);
    Field {
        name: parameter["name"].as_str().unwrap().to_owned(),
        required: parameter["required"] == true,
        shape: Shape::read(schema),
        description: description_of(schema),
    }
}

/// What any success answers; an operation may have several statuses of success.
fn read_answer(operation: &Value) -> Answer {
    let responses = operation["responses"].as_object().unwrap();
    let success = responses.iter().find(|(status, _)| status.starts_with('2')).unwrap().1;
    let (kind, content) = success["content"].as_object().unwrap().iter().next().unwrap();
    match kind.as_str() {
        "application/json" => Answer::Json(Shape::read(&content["schema"])),
        kind if kind.starts_with("text/") => Answer::Text,
        _ => Answer::Bytes,
    }
}

fn read_tools<'a>(document: &Value, schemas: impl Iterator<Item = &'a str>) -> Vec<ToolShapes> {
    let read = |name: &str| {
        let shape = |part: &str| Shape::read_in(document, &format!("{name}.{part}"));
        let route = &document["paths"][format!("{TOOL_ROUTE}{name}")]["post"];
        ToolShapes {
            name: name.to_owned(),
            summary: route["summary"].as_str().unwrap().to_owned(),
            arguments: shape("arguments"),
            reply: shape("reply"),
        }
    };
    let mut names: Vec<&str> = schemas.filter_map(|name| name.strip_suffix(".arguments")).collect();
    names.sort_unstable();
    names.into_iter().map(read).collect()
}

impl Shape {
    /// A named schema with what it consists of put together.
    fn read_in(document: &Value, name: &str) -> Self {
        let schemas = &document["components"]["schemas"];
        let schema = &schemas[name];
        let Some(parts) = schema["allOf"].as_array() else {
            return Shape::read(schema);
        };
        let mut alternatives = vec![Vec::new()];
        for part in parts {
            let resolved = part["$ref"].as_str().map_or(part, |to| &schemas[to.rsplit('/').next().unwrap()]);
            let more = Shape::read(&with_object_type(resolved)).into_records(name);
            let with_each =
                |fields: &Vec<Field>| more.iter().map(|own| merge_fields(fields, own)).collect::<Vec<_>>();
            alternatives = alternatives.iter().flat_map(with_each).collect();
        }
        let record = |fields: Vec<Field>| Shape::Record(Record { fields, is_open: true });
        Shape::union(alternatives.into_iter().map(record))
    }

    /// The fields of a record, or of each of several.
    fn into_records(self, name: &str) -> Vec<Vec<Field>> {
        match self {
            Shape::Record(record) => vec![record.fields],
            Shape::Map(_) | Shape::Any => vec![Vec::new()],
            Shape::Union(parts) => parts.into_iter().flat_map(|part| part.into_records(name)).collect(),
            other => panic!("{name} consists of {other:?}"),
        }
    }

    pub fn read(schema: &Value) -> Self {
        if let Some(to) = schema["$ref"].as_str() {
            let name = to
                .strip_prefix("#/components/schemas/")
                .unwrap_or_else(|| panic!("an unknown reference {to}"));
            return Shape::Named(type_name(name));
        }
        if let Some(value) = schema.get("const") {
            return Shape::Literal(value.clone());
        }
        if let Some(choices) = schema["enum"].as_array() {
            return Shape::union(choices.iter().cloned().map(Shape::literal));
        }
        for key in ["anyOf", "oneOf"] {
            if let Some(alternatives) = schema[key].as_array() {
                return Shape::union(alternatives.iter().map(Shape::read));
            }
        }
        match &schema["type"] {
            Value::String(kind) => Shape::of_type(kind, schema),
            Value::Array(kinds) => {
                Shape::union(kinds.iter().map(|kind| Shape::of_type(kind.as_str().unwrap(), schema)))
            }
            _ if schema.get("properties").is_some() => Shape::of_type("object", schema),
            _ => Shape::Any,
        }
    }

    fn of_type(kind: &str, schema: &Value) -> Self {
        match kind {
            "string" => Shape::Text,
            "integer" => Shape::Integer,
            "number" => Shape::Number,
            "boolean" => Shape::Boolean,
            "null" => Shape::Null,
            "array" => Shape::List(Box::new(Shape::read(&schema["items"]))),
            "object" => Shape::object(schema),
            other => panic!("an unknown type {other}"),
        }
    }

    fn object(schema: &Value) -> Self {
        let more = schema.get("additionalProperties");
        let Some(properties) = schema["properties"].as_object().filter(|properties| !properties.is_empty())
        else {
            let values = more.filter(|more| more.is_object()).map_or(Shape::Any, Shape::read);
            return Shape::Map(Box::new(values));
        };
        let required = schema["required"].as_array().cloned().unwrap_or_default();
        let field = |(name, property): (&String, &Value)| Field {
            name: name.clone(),
            required: required.contains(&name.as_str().into()),
            shape: Shape::read(property),
            description: description_of(property),
        };
        let is_open = more != Some(&Value::Bool(false));
        Shape::Record(Record { fields: properties.iter().map(field).collect(), is_open })
    }

    fn literal(value: Value) -> Self {
        if value.is_null() { Shape::Null } else { Shape::Literal(value) }
    }

    /// Without what is said twice; a union in a union is one.
    fn union(alternatives: impl Iterator<Item = Shape>) -> Self {
        let mut flat: Vec<Shape> = Vec::new();
        for alternative in alternatives {
            let parts = match alternative {
                Shape::Union(parts) => parts,
                one => vec![one],
            };
            for part in parts {
                if !flat.contains(&part) {
                    flat.push(part);
                }
            }
        }
        if flat.len() == 1 { flat.remove(0) } else { Shape::Union(flat) }
    }

    /// Whether nothing has to be given.
    pub fn may_be_empty(&self) -> bool {
        match self {
            Shape::Record(record) => record.fields.iter().all(|field| !field.required),
            Shape::Map(_) => true,
            _ => false,
        }
    }
}

fn with_object_type(schema: &Value) -> Value {
    let mut schema = schema.clone();
    if schema.get("properties").is_some() {
        schema["type"] = "object".into();
    }
    schema
}

/// What is said later of a field counts.
fn merge_fields(known: &[Field], more: &[Field]) -> Vec<Field> {
    let is_said_again = |field: &&Field| more.iter().any(|own| own.name == field.name);
    known.iter().filter(|field| !is_said_again(field)).chain(more).cloned().collect()
}

fn description_of(schema: &Value) -> String {
    schema["description"].as_str().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// `look.reply` as `LookReply`. An error of the server is no error of a language.
pub fn type_name(name: &str) -> String {
    if name == "Error" {
        return "ErrorReply".to_owned();
    }
    name.split(['.', '_', '-']).map(capitalized).collect()
}

pub fn capitalized(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

/// A route by what it does: `POST /api/jobs/{job_id}/cancel` is `cancel_job`.
pub fn method_name(method: &str, path: &str) -> String {
    let parts: Vec<&str> =
        path.split('/').filter(|part| !part.is_empty() && !["api", "v1"].contains(part)).collect();
    let words: Vec<String> =
        parts.iter().map(|part| part.trim_end_matches(".json").replace('-', "_")).collect();
    let is_parameter = |at: usize| parts.get(at).is_some_and(|part| part.starts_with('{'));
    let last = parts.len() - 1;
    let single = |at: usize| words[at].strip_suffix('s').unwrap_or(&words[at]).to_owned();
    // What stands before a parameter is one of many.
    let subject: Vec<String> = (0..parts.len())
        .filter(|at| !is_parameter(*at))
        .map(|at| if is_parameter(at + 1) { single(at) } else { words[at].clone() })
        .collect();
    let of_many = words[last].ends_with('s') && !is_parameter(last);
    match method {
        "post" if subject.len() > 1 => {
            let parent = subject[..subject.len() - 1].join("_");
            format!("{}_{}", subject[subject.len() - 1], parent.strip_suffix('s').unwrap_or(&parent))
        }
        "post" if of_many => format!("create_{}", single(last)),
        "patch" => format!("update_{}", subject.join("_")),
        other => format!("{other}_{}", subject.join("_")),
    }
}
