//! The routes: one for every line of the tools' declarations, `/api/tool/NAME` for every tool, and the few
//! that are about the server itself. A route finds out which tool is meant and with what arguments; the
//! gate decides the rest.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Extension, Path, RawPathParams, RawQuery, State};
use axum::http::{Response, StatusCode};
use axum::routing::{MethodFilter, MethodRouter, get, post};
use serde_json::{Map, Value, json};

use super::adapters::{self, Adapter};
use super::openapi::methods_of;
use super::present::{self, HttpRefusal};
use super::surface::Surface;
use super::{control, events, inspector, mcp, metrics, query, traces};
use crate::gate::Origin;
use crate::tool::Method;
use crate::tool::Table;

/// A declared route and what it leads to.
#[derive(Clone, Copy)]
pub enum Leads {
    To(&'static str),
    Through(&'static Adapter),
}

/// Every route of the declarations, by path and then method, each once. What several tools share, or what
/// has a shape of its own, goes through an adapter.
pub fn declared_routes(table: &Table) -> BTreeMap<&'static str, Vec<(Method, Leads)>> {
    let mut routes: BTreeMap<&'static str, Vec<(Method, Leads)>> = BTreeMap::new();
    for spec in table.specs() {
        for &(method, path) in spec.meta.rest {
            let leads =
                adapters::find_adapter(method, path).map_or(Leads::To(spec.meta.name), Leads::Through);
            let at = routes.entry(path).or_default();
            if !at.iter().any(|(known, _)| *known == method) {
                at.push((method, leads));
            }
        }
    }
    // Every tool has this one anyway.
    routes.retain(|path, _| !path.starts_with("/api/tool/"));
    routes
}

pub fn build_router(surface: &Arc<Surface>) -> Router {
    let mcp = mcp::mcp_service(surface);
    let mut router = Router::new()
        .route("/mcp", post(move |request| mcp::serve_mcp(mcp.clone(), request)))
        .route("/api/tools", get(get_tools))
        .route("/api/openapi.json", get(get_openapi))
        .route("/api/healthz", get(metrics::get_healthz))
        .route("/health", get(metrics::get_health))
        .route("/api/metrics", get(metrics::get_metrics))
        .route("/api/events", get(events::event_stream))
        .route("/api/calls", get(events::recent_calls))
        .route("/api/halt", get(control::show_halt).post(control::post_halt))
        .route("/api/halt/release", post(control::post_release))
        .route("/api/approvals", get(control::get_approvals))
        .route("/api/approvals/{id}", post(control::post_decision))
        .route("/api/approvals/{id}/picture", get(control::get_picture))
        .route("/api/traces", get(traces::get_traces))
        .route("/api/traces/{id}", get(traces::get_trace_page))
        .route("/api/tool/{name}", get(any_tool).post(any_tool))
        .fallback(inspector::serve);
    #[cfg(feature = "jobs")]
    {
        router = super::jobs::add_routes(router);
    }
    for spec in surface.app.tools.specs() {
        let route = methods_of(&spec).iter().fold(MethodRouter::new(), |route, &method| {
            route.on(filter(method), move |surface, origin, query, body| {
                call_tool(spec.meta.name.to_owned(), surface, origin, query, body)
            })
        });
        router = router.route(&format!("/api/tool/{}", spec.meta.name), route);
    }
    for (path, methods) in declared_routes(&surface.app.tools) {
        let route = methods.into_iter().fold(MethodRouter::new(), |route, (method, leads)| {
            route.on(filter(method), move |surface, method, origin, params, query, body| {
                tool_route(leads, surface, method, origin, params, query, body)
            })
        });
        router = router.route(path, route);
    }
    let router = mcp::add_fixtures(router, surface);
    // After the routes: it is for those that are there.
    let router =
        router.method_not_allowed_fallback(|| async { HttpRefusal::method_not_allowed().into_response() });
    router.with_state(surface.clone())
}

fn filter(method: Method) -> MethodFilter {
    match method {
        Method::Get => MethodFilter::GET,
        Method::Post => MethodFilter::POST,
        Method::Patch => MethodFilter::PATCH,
        Method::Delete => MethodFilter::DELETE,
    }
}

type RouterState = State<Arc<Surface>>;

async fn tool_route(
    leads: Leads,
    State(surface): RouterState,
    method: axum::http::Method,
    Extension(origin): Extension<Origin>,
    params: RawPathParams,
    RawQuery(query): RawQuery,
    body: Bytes,
) -> Response<Body> {
    let typing = match leads {
        Leads::To(tool) => tool,
        Leads::Through(adapter) => adapter.tools.first().copied().unwrap_or_default(),
    };
    let arguments = request_arguments(&surface, typing, query.as_deref(), &body).map(|mut arguments| {
        if method == axum::http::Method::GET {
            drop_unknown(&surface, typing, &mut arguments);
        }
        arguments.extend(params.iter().map(|(name, value)| (name.to_owned(), Value::from(value))));
        arguments
    });
    let call = arguments.and_then(|arguments| match leads {
        Leads::To(tool) => Ok((tool, arguments)),
        Leads::Through(adapter) => (adapter.adapt)(arguments).map_err(HttpRefusal::from),
    });
    match call {
        Ok((tool, arguments)) => surface.call(tool, arguments, origin).await,
        Err(refusal) => refusal.into_response(),
    }
}

async fn get_tools(State(surface): RouterState) -> Response<Body> {
    let open = surface.app.tools.specs().filter(|spec| spec.meta.is_open(&surface.app.config));
    let mut names: Vec<&str> = open.map(|spec| spec.meta.name).collect();
    names.sort_unstable();
    present::json_value(StatusCode::OK, &json!({"ok": true, "tools": names}))
}

async fn get_openapi(State(surface): RouterState) -> Response<Body> {
    let made = || super::openapi::openapi_document(&surface.app, surface.asks_token).to_string();
    present::json_text(StatusCode::OK, surface.openapi.get_or_init(made).clone())
}

/// The name of a tool that is not there; the gate says which are.
async fn any_tool(
    surface: RouterState,
    origin: Extension<Origin>,
    Path(name): Path<String>,
    query: RawQuery,
    body: Bytes,
) -> Response<Body> {
    call_tool(name, surface, origin, query, body).await
}

async fn call_tool(
    name: String,
    State(surface): RouterState,
    Extension(origin): Extension<Origin>,
    RawQuery(query): RawQuery,
    body: Bytes,
) -> Response<Body> {
    match request_arguments(&surface, &name, query.as_deref(), &body) {
        Ok(arguments) => surface.call(&name, arguments, origin).await,
        Err(refusal) => refusal.into_response(),
    }
}

/// Pages add names of their own to an address. A tool that looks ignores them itself, and says so; one that acts would
/// refuse them, which it does where they stand in a body.
fn drop_unknown(surface: &Surface, tool: &str, arguments: &mut Map<String, Value>) {
    let acting = surface.app.tools.find_tool(tool).filter(|entry| entry.spec.meta.effect.acts());
    if let Some(known) = acting.and_then(|entry| entry.schema()["properties"].as_object()) {
        arguments.retain(|name, _| known.contains_key(name));
    }
}

/// From the query string and the body. A name in both is an error, like any that is said twice.
fn request_arguments(
    surface: &Surface,
    typing: &str,
    query: Option<&str>,
    body: &[u8],
) -> Result<Map<String, Value>, HttpRefusal> {
    let nothing = Value::Null;
    let schema = surface.app.tools.find_tool(typing).map_or(&nothing, |entry| entry.schema());
    let mut arguments = query::parse_arguments(schema, query.unwrap_or_default())?;
    for (name, value) in body_object(body)? {
        if arguments.insert(name.clone(), value).is_some() {
            let message = format!("argument '{name}' is in both the query and the body");
            return Err(HttpRefusal::new(StatusCode::BAD_REQUEST, message).with_field(&name));
        }
    }
    Ok(arguments)
}

/// The reader bounds the depth of what it reads.
pub fn body_object(body: &[u8]) -> Result<Map<String, Value>, HttpRefusal> {
    if body.is_empty() {
        return Ok(Map::new());
    }
    match serde_json::from_slice(body) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err(HttpRefusal::new(StatusCode::BAD_REQUEST, "the body must be a JSON object")),
        Err(problem) => {
            Err(HttpRefusal::new(StatusCode::BAD_REQUEST, format!("the body is not JSON: {problem}")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::Selection;
    use crate::tools;

    #[test]
    fn what_tools_share_goes_through_an_adapter() {
        let table = tools::table(&Selection::default());
        let routes = declared_routes(&table);
        for spec in table.specs() {
            for (method, path) in spec.meta.rest.iter().filter(|(_, path)| !path.starts_with("/api/tool/")) {
                let leads = routes[path].iter().find(|(known, _)| known == method).unwrap().1;
                let reached = match leads {
                    Leads::To(name) => name == spec.meta.name,
                    Leads::Through(adapter) => adapter.tools.contains(&spec.meta.name),
                };
                assert!(reached, "{} is not reached by {path}", spec.meta.name);
            }
        }
        assert!(routes.len() > 40, "{}", routes.len());
    }

    #[test]
    fn every_adapter_has_its_route() {
        let routes = declared_routes(&tools::table(&Selection::default()));
        for adapter in adapters::ADAPTERS {
            assert!(routes.contains_key(adapter.path), "{}", adapter.path);
        }
    }
}
