//! Generates the clients in `clients/` from the OpenAPI document of the server, and says when they are stale:
//! `UPDATE_CLIENTS=1 cargo test --test suite client_code` writes them.

mod api;
mod python;
mod typescript;

use std::path::PathBuf;

use serde_json::json;

use self::api::{ApiModel, Shape};
use crate::support::http::Site;
use crate::support::project;

/// What a server says of itself.
fn api_model() -> ApiModel {
    ApiModel::read(&Site::new().get("/api/openapi.json").json())
}

/// Every generated file with its text.
fn generated_files(api: &ApiModel) -> Vec<(PathBuf, String)> {
    let below = |folder: &str, files: Vec<(&str, String)>| -> Vec<(PathBuf, String)> {
        let folder = project().join("clients").join(folder);
        files.into_iter().map(|(name, text)| (folder.join(name), text)).collect()
    };
    [below("typescript", typescript::client_files(api)), below("python", python::client_files(api))].concat()
}

#[test]
fn the_generated_clients_are_fresh() {
    for (path, fresh) in generated_files(&api_model()) {
        if std::env::var_os("UPDATE_CLIENTS").is_some() {
            std::fs::write(&path, &fresh).unwrap();
        }
        let kept = std::fs::read_to_string(&path).unwrap_or_default();
        let hint = "is stale: UPDATE_CLIENTS=1 cargo test --test suite client_code";
        assert!(kept == fresh, "{} {hint}", path.display());
    }
}

/// Every route of the server that is no tool has one method, unless it is a stream.
#[test]
fn every_route_of_the_server_has_a_method() {
    let api = api_model();
    let names: Vec<&str> = api.operations.iter().map(|operation| operation.name.as_str()).collect();
    for name in
        ["get_healthz", "create_job", "get_job", "get_jobs", "cancel_job", "answer_job", "get_job_events"]
    {
        assert!(names.contains(&name), "{name} is missing in {names:?}");
    }
    let once: std::collections::BTreeSet<&&str> = names.iter().collect();
    assert_eq!(once.len(), names.len(), "two routes have one name: {names:?}");
    assert!(api.tools.len() > 70, "{}", api.tools.len());
}

#[test]
fn a_route_is_called_by_what_it_does() {
    let check = |method: &str, path: &str, expected: &str| {
        assert_eq!(api::method_name(method, path), expected, "{method} {path}");
    };
    check("get", "/health", "get_health");
    check("get", "/v1/recipes", "get_recipes");
    check("post", "/v1/sessions", "create_session");
    check("get", "/v1/sessions/{sessionId}", "get_session");
    check("patch", "/v1/sessions/{sessionId}", "update_session");
    check("delete", "/v1/sessions/{sessionId}", "delete_session");
    check("post", "/v1/tasks/run", "run_task");
    check("get", "/v1/tasks/{taskId}", "get_task");
    check("post", "/api/jobs/{job_id}/cancel", "cancel_job");
    check("get", "/api/jobs/{job_id}/events", "get_job_events");
    check("post", "/api/halt", "post_halt");
    check("post", "/api/halt/release", "release_halt");
    check("post", "/api/approvals/{id}", "post_approval");
    check("get", "/api/openapi.json", "get_openapi");
}

#[test]
fn a_schema_becomes_a_type_in_both_languages() {
    let check = |schema: serde_json::Value, script: &str, annotation: &str| {
        let shape = Shape::read(&schema);
        assert_eq!(typescript::type_text(&shape), script, "{schema}");
        assert_eq!(python::annotation(&shape), annotation, "{schema}");
    };
    check(json!({"type": "string"}), "string", "str");
    check(json!({"type": ["integer", "null"]}), "number | null", "int | None");
    check(json!({"type": ["string", "null"], "enum": ["a", null]}), "\"a\" | null", "Literal[\"a\"] | None");
    check(json!({"const": true}), "true", "Literal[True]");
    check(json!({"type": "array", "items": {"type": "number"}}), "number[]", "list[float]");
    check(
        json!({"anyOf": [{"type": "boolean"}, {"type": "array"}]}),
        "boolean | unknown[]",
        "bool | list[Any]",
    );
    check(
        json!({"type": "array", "items": {"type": ["string", "null"]}}),
        "(string | null)[]",
        "list[str | None]",
    );
    check(json!({"type": "object"}), "{ [name: string]: unknown }", "dict[str, Any]");
    let map = json!({"type": "object", "additionalProperties": {"type": "integer"}});
    check(map, "{ [name: string]: number }", "dict[str, int]");
    check(json!({"$ref": "#/components/schemas/look.reply"}), "LookReply", "LookReply");
    check(json!({}), "unknown", "Any");
}
