//! The routes as an OpenAPI 3.1 document, made from the same declarations as the routes themselves.
//! <https://spec.openapis.org/oas/v3.1.0>

mod own;
mod shapes;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::adapters::Adapter;
use super::present;
use super::router::{Leads, declared_routes};
use crate::app::App;
use crate::error::Kind;
use crate::tool::{Method, Spec};
use own::{JSON_TYPE, OF_JOBS, OWN, Own};

pub fn openapi_document(app: &App, token: bool) -> Value {
    let book = Book { app, token };
    let mut paths = Map::new();
    for own in OWN.iter().chain(OF_JOBS) {
        add(&mut paths, own.path, own.method, book.own_operation(own));
    }
    for (path, methods) in declared_routes(&app.tools) {
        for (method, leads) in methods {
            let operation = match leads {
                Leads::To(tool) => book.find_spec(tool).map(|spec| book.tool_operation(&spec, method, path)),
                Leads::Through(adapter) => Some(book.adapted_operation(adapter)),
            };
            operation.into_iter().for_each(|operation| add(&mut paths, path, method_name(method), operation));
        }
    }
    for spec in app.tools.specs() {
        let path = format!("/api/tool/{}", spec.meta.name);
        for &method in methods_of(&spec) {
            add(&mut paths, &path, method_name(method), book.tool_operation(&spec, method, &path));
        }
    }
    let mut document = json!({
        "openapi": "3.1.0",
        "info": {
            "title": "OS Screen Observer",
            "version": app.config.mcp.version,
            "description": "See and operate a desktop. Every route that is a tool passes the same gate as over MCP.",
        },
        "paths": paths,
        "components": {
            "schemas": book.shared_schemas(),
            "responses": error_responses(),
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    });
    if token {
        document["security"] = json!([{"token": []}]);
    }
    document
}

/// How `/api/tool/NAME` may be asked: state never changes by GET.
pub const fn methods_of(spec: &Spec) -> &'static [Method] {
    if spec.meta.effect.read_only() { &[Method::Get, Method::Post] } else { &[Method::Post] }
}

const fn method_name(method: Method) -> &'static str {
    match method {
        Method::Get => "get",
        Method::Post => "post",
        Method::Patch => "patch",
        Method::Delete => "delete",
    }
}

fn add(paths: &mut Map<String, Value>, path: &str, method: &str, mut operation: Value) {
    let words = path.trim_start_matches("/api/").replace(['/', '{', '}'], "_");
    operation["operationId"] = format!("{method}_{}", words.trim_matches('_')).into();
    paths.entry(path).or_insert_with(|| json!({}))[method] = operation;
}

/// What describes the routes of one server.
struct Book<'a> {
    app: &'a App,
    token: bool,
}

impl Book<'_> {
    fn find_spec(&self, tool: &str) -> Option<Spec> {
        self.app.tools.find_tool(tool).map(|entry| entry.spec)
    }

    /// What several routes share is described once.
    fn shared_schemas(&self) -> Value {
        let mut schemas = Map::new();
        for spec in self.app.tools.specs() {
            schemas.insert(reply_name(&spec), shapes::reply_schema(&spec));
            schemas.insert(arguments_name(&spec), shapes::body_schema(spec.full_input_schema()));
        }
        schemas.insert("Reply".to_owned(), envelope_schema());
        schemas.insert("Error".to_owned(), error_schema());
        schemas.into()
    }

    fn own_operation(&self, own: &Own) -> Value {
        let mut statuses = vec![403];
        if own.query.is_some() || own.body.is_some() {
            statuses.push(400);
        }
        if own.path.contains('{') {
            statuses.push(404);
        }
        // What a job is wanted to do may not fit its status.
        if own.path.starts_with("/api/jobs/") {
            statuses.push(409);
        }
        if own.limited {
            statuses.push(503);
        }
        let mut parameters = path_parameters(own.path);
        parameters.extend(own.query.into_iter().flat_map(|query| query_parameters(&query(), &[])));
        let mut operation = json!({
            "summary": own.summary,
            "tags": ["server"],
            "parameters": parameters,
            "responses": self.response_schemas(own.answer, (own.reply)(), statuses, own.method == "post"),
        });
        if let Some(body) = own.body {
            let body = body();
            operation["requestBody"] = request_body(&body, body.clone());
        }
        operation
    }

    fn tool_operation(&self, spec: &Spec, method: Method, path: &str) -> Value {
        let meta = spec.meta;
        let mut parameters = path_parameters(path);
        let reply = schema_ref(&reply_name(spec));
        let mut operation = json!({
            "summary": meta.brief,
            "description": meta.detail,
            "tags": [meta.group.name()],
            "responses": self.response_schemas(JSON_TYPE, reply, tool_statuses(), method != Method::Get),
        });
        match method {
            Method::Get => parameters.extend(query_parameters(&spec.full_input_schema(), &path_names(path))),
            Method::Post | Method::Patch => {
                let arguments = schema_ref(&arguments_name(spec));
                operation["requestBody"] = request_body(&spec.full_input_schema(), arguments);
            }
            Method::Delete => {}
        }
        operation["parameters"] = parameters.into();
        operation
    }

    fn adapted_operation(&self, adapter: &Adapter) -> Value {
        let specs: Vec<Spec> = adapter.tools.iter().filter_map(|tool| self.find_spec(tool)).collect();
        if let (Method::Get, Some(spec)) = (adapter.method, specs.first()) {
            return self.tool_operation(spec, Method::Get, adapter.path);
        }
        let briefs: Vec<&str> = specs.iter().map(|spec| spec.meta.brief).collect();
        let spelled =
            |spec: &Spec| shapes::body_schema((adapter.spelled)(spec.meta.name, spec.full_input_schema()));
        let bodies: Vec<Value> = specs.iter().map(spelled).collect();
        let replies: Vec<Value> = specs.iter().map(|spec| schema_ref(&reply_name(spec))).collect();
        json!({
            "summary": format!("One of {}.", adapter.tools.join(", ")),
            "description": briefs.join(" "),
            "tags": ["adapters"],
            "parameters": path_parameters(adapter.path),
            "requestBody": {"required": true, "content": {JSON_TYPE: {"schema": {"anyOf": bodies}}}},
            "responses": self.response_schemas(JSON_TYPE, json!({ "anyOf": replies }), tool_statuses(), true),
        })
    }

    /// What comes back: the answer, or an error of one of these statuses or of the front door's.
    fn response_schemas(&self, kind: &str, answer: Value, statuses: Vec<u16>, body: bool) -> Value {
        let mut responses =
            json!({"200": {"description": "It worked.", "content": {kind: {"schema": answer}}}});
        let at_door = if body { [400, 403, 408, 413, 415].as_slice() } else { &[403] };
        let token = self.token.then_some(401);
        let all: BTreeSet<u16> = statuses.into_iter().chain(at_door.iter().copied()).chain(token).collect();
        for status in all {
            responses[status.to_string()] = json!({"$ref": format!("#/components/responses/{status}")});
        }
        responses
    }
}

fn reply_name(spec: &Spec) -> String {
    format!("{}.reply", spec.meta.name)
}

fn arguments_name(spec: &Spec) -> String {
    format!("{}.arguments", spec.meta.name)
}

fn schema_ref(schema: &str) -> Value {
    json!({"$ref": format!("#/components/schemas/{schema}")})
}

/// A body need not be sent if nothing in it has to be.
fn request_body(fields: &Value, schema: Value) -> Value {
    let required = fields["required"].as_array().is_some_and(|required| !required.is_empty());
    json!({"required": required, "content": {JSON_TYPE: {"schema": schema}}})
}

fn path_names(path: &str) -> Vec<&str> {
    path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}')).collect()
}

fn path_parameters(path: &str) -> Vec<Value> {
    let parameter =
        |name: &str| json!({"name": name, "in": "path", "required": true, "schema": {"type": "string"}});
    path_names(path).into_iter().map(parameter).collect()
}

fn query_parameters(schema: &Value, in_path: &[&str]) -> Vec<Value> {
    let required: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let properties = schema["properties"].as_object().into_iter().flatten();
    properties
        .filter(|(name, _)| !in_path.contains(&name.as_str()))
        .map(|(name, property)| query_parameter(name, property, required.contains(&name.as_str())))
        .collect()
}

fn query_parameter(name: &str, property: &Value, required: bool) -> Value {
    let mut parameter = json!({"name": name, "in": "query", "required": required});
    let schema = shapes::query_schema(property);
    if shapes::is_json_in_query(property) {
        parameter["content"] = json!({JSON_TYPE: {"schema": schema}});
        return parameter;
    }
    parameter["schema"] = schema;
    if property["type"] == "array" {
        parameter["style"] = "form".into();
        parameter["explode"] = false.into();
    }
    parameter
}

/// A call that was taken back is answered to nobody.
fn error_kinds() -> impl Iterator<Item = Kind> {
    Kind::ALL.into_iter().filter(|kind| *kind != Kind::Cancelled)
}

fn tool_statuses() -> Vec<u16> {
    error_kinds().map(Kind::http_status).chain([503]).collect()
}

/// Each status with the codes that it stands for.
fn error_responses() -> Value {
    let mut codes: BTreeMap<u16, BTreeSet<&str>> = BTreeMap::new();
    for kind in error_kinds() {
        codes.entry(kind.http_status()).or_default().insert(kind.code());
    }
    for status in [400, 401, 403, 404, 408, 413, 415, 503] {
        codes.entry(status).or_default().insert(present::code_of(status));
    }
    let response = |codes: BTreeSet<&str>| {
        let codes: Vec<&str> = codes.into_iter().collect();
        json!({"description": codes.join(", "), "content": {JSON_TYPE: {"schema": schema_ref("Error")}}})
    };
    codes
        .into_iter()
        .map(|(status, codes)| (status.to_string(), response(codes)))
        .collect::<Map<_, _>>()
        .into()
}

/// What every successful reply begins with.
fn envelope_schema() -> Value {
    json!({
        "type": "object",
        "required": ["ok", "success", "step_id", "caused_by_step_id"],
        "properties": {
            "ok": {"const": true},
            "success": {"const": true},
            "step_id": {"type": "integer"},
            "caused_by_step_id": {"type": ["integer", "null"]},
            "untrusted": {"type": "boolean"},
            "suspicious": {"const": true},
            "suspicious_places": {"type": "array"},
            "warning": {"type": "string"},
        },
    })
}

fn error_schema() -> Value {
    json!({
        "type": "object",
        "required": ["ok", "success", "error"],
        "properties": {
            "ok": {"const": false},
            "success": {"const": false},
            "step_id": {"type": "integer"},
            "error": {
                "type": "object",
                "required": ["code", "message", "recoverable", "suggested_next_tool", "context"],
                "properties": {
                    "code": {"type": "string"},
                    "message": {"type": "string"},
                    "recoverable": {"type": "boolean"},
                    "suggested_next_tool": {"type": ["string", "null"]},
                    "context": {"type": "object"},
                },
            },
        },
    })
}
