//! The routes as an OpenAPI 3.1 document, made from the same declarations as the routes themselves.

use serde_json::{Map, Value, json};

use super::adapters::Adapter;
use super::router::{Leads, declared};
use crate::app::App;
use crate::tool::{Method, Spec};

/// A route about the server itself: method, path, what it is for, its body's properties, its answer's type.
struct Own(&'static str, &'static str, &'static str, &'static [(&'static str, &'static str)], &'static str);

const JSON_TYPE: &str = "application/json";

const OWN: &[Own] = &[
    Own("get", "/api/tools", "The names of all tools.", &[], JSON_TYPE),
    Own("get", "/api/healthz", "How the server is.", &[], JSON_TYPE),
    Own("get", "/api/metrics", "Counters in Prometheus' text format.", &[], "text/plain"),
    Own("get", "/api/openapi.json", "This document.", &[], JSON_TYPE),
    Own("get", "/api/events", "What happens, as server-sent events.", &[], "text/event-stream"),
    Own("get", "/api/calls", "The latest calls.", &[], JSON_TYPE),
    Own("get", "/api/halt", "Whether all input is stopped.", &[], JSON_TYPE),
    Own("post", "/api/halt", "Stop all input.", &[("reason", "string")], JSON_TYPE),
    Own("post", "/api/halt/release", "Let input happen again.", &[], JSON_TYPE),
    Own("get", "/api/approvals", "What waits for a person's decision.", &[], JSON_TYPE),
    Own("get", "/api/approvals/{id}/picture", "The window that would be touched.", &[], "image/png"),
    Own("post", "/api/approvals/{id}", "Allow or deny it.", &[("decision", "string")], JSON_TYPE),
    Own("get", "/api/traces", "The recorded sessions, the newest first.", &[], JSON_TYPE),
    Own("get", "/api/traces/{id}", "One of them as a page.", &[], "text/html"),
];

pub fn document(app: &App, token: bool) -> Value {
    let mut paths = Map::new();
    for Own(method, path, summary, body, kind) in OWN {
        add(&mut paths, path, method, own_operation(path, summary, body, kind));
    }
    for (path, methods) in declared(&app.tools) {
        for (method, leads) in methods {
            let operation = match leads {
                Leads::To(tool) => find(app, tool).map(|spec| tool_operation(&spec, method, path)),
                Leads::Through(adapter) => Some(adapted_operation(app, adapter)),
            };
            operation.into_iter().for_each(|operation| add(&mut paths, path, verb(method), operation));
        }
    }
    for spec in app.tools.specs() {
        let path = format!("/api/tool/{}", spec.meta.name);
        add(&mut paths, &path, "post", tool_operation(&spec, Method::Post, &path));
        if spec.meta.effect.read_only() {
            add(&mut paths, &path, "get", tool_operation(&spec, Method::Get, &path));
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
            "schemas": {"Error": error_schema()},
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    });
    if token {
        document["security"] = json!([{"token": []}]);
    }
    document
}

fn find(app: &App, tool: &str) -> Option<Spec> {
    app.tools.find(tool).map(|entry| entry.spec)
}

const fn verb(method: Method) -> &'static str {
    match method {
        Method::Get => "get",
        Method::Post => "post",
        Method::Delete => "delete",
    }
}

fn add(paths: &mut Map<String, Value>, path: &str, method: &str, mut operation: Value) {
    let words = path.trim_start_matches("/api/").replace(['/', '{', '}'], "_");
    operation["operationId"] = format!("{method}_{}", words.trim_matches('_')).into();
    paths.entry(path).or_insert_with(|| json!({}))[method] = operation;
}

fn own_operation(path: &str, summary: &str, body: &[(&str, &str)], kind: &str) -> Value {
    let properties: Map<String, Value> =
        body.iter().map(|(name, kind)| ((*name).to_owned(), json!({ "type": kind }))).collect();
    let mut operation = json!({
        "summary": summary,
        "tags": ["server"],
        "parameters": path_parameters(path),
        "responses": responses(kind, json!({})),
    });
    if !body.is_empty() {
        let schema = json!({"type": "object", "properties": properties});
        operation["requestBody"] = json!({"content": {JSON_TYPE: {"schema": schema}}});
    }
    operation
}

fn tool_operation(spec: &Spec, method: Method, path: &str) -> Value {
    let meta = spec.meta;
    let schema = spec.full_input_schema();
    let in_path = path_names(path);
    let mut parameters = path_parameters(path);
    let mut operation = json!({
        "summary": meta.brief,
        "description": meta.detail,
        "tags": [meta.group.name()],
        "responses": responses(JSON_TYPE, spec.output_schema().unwrap_or_else(|| json!({"type": "object"}))),
    });
    if method == Method::Get {
        parameters.extend(query_parameters(&schema, &in_path));
    } else if method == Method::Post {
        operation["requestBody"] = json!({"content": {JSON_TYPE: {"schema": schema}}});
    }
    operation["parameters"] = parameters.into();
    operation
}

fn adapted_operation(app: &App, adapter: &Adapter) -> Value {
    let specs = adapter.tools.iter().filter_map(|tool| find(app, tool));
    if adapter.method == Method::Get {
        return specs
            .into_iter()
            .next()
            .map_or(Value::Null, |spec| tool_operation(&spec, Method::Get, adapter.path));
    }
    let briefs: Vec<&str> = specs.map(|spec| spec.meta.brief).collect();
    json!({
        "summary": format!("One of {}.", adapter.tools.join(", ")),
        "description": briefs.join(" "),
        "tags": ["adapters"],
        "parameters": [],
        "requestBody": {"content": {JSON_TYPE: {"schema": {"type": "object"}}}},
        "responses": responses(JSON_TYPE, json!({"type": "object"})),
    })
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
    if property["type"] == "object" {
        parameter["content"] = json!({JSON_TYPE: {"schema": property}});
    } else {
        parameter["schema"] = property.clone();
    }
    if property["type"] == "array" {
        parameter["style"] = "form".into();
        parameter["explode"] = false.into();
    }
    parameter
}

fn responses(kind: &str, schema: Value) -> Value {
    json!({
        "200": {"description": "It worked.", "content": {kind: {"schema": schema}}},
        "default": {
            "description": "It did not; the status follows from the code.",
            "content": {JSON_TYPE: {"schema": {"$ref": "#/components/schemas/Error"}}},
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
