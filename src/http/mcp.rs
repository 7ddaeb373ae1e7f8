//! MCP over streamable HTTP at `/mcp`: rmcp's service around the same handler as on stdio.
//!
//! Its own checks of Host and Origin stay off: the front door has judged both, by stricter rules that know
//! the port and the address of the connection. There are no sessions to steal: every request is independent
//! and is answered as JSON.

use std::sync::Arc;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderValue, Request, Response, StatusCode};
use rmcp::ServerHandler;
use rmcp::model::ErrorCode;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};

use serde::de::IgnoredAny;
use serde_json::json;

use super::present;
use super::surface::Surface;
use crate::config::limits;
use crate::mcp::McpServer;

pub type Service<H = McpServer> = StreamableHttpService<H, NeverSessionManager>;

pub fn mcp_service(surface: &Surface) -> Service {
    service_of(McpServer::stateless(surface.app.clone(), surface.shutdown.clone()), surface)
}

/// In a build for tests, what the conformance suite calls by name: beside the handler that users have, at an address
/// of its own.
#[cfg(feature = "conformance")]
pub fn add_fixtures(router: Router<Arc<Surface>>, surface: &Surface) -> Router<Arc<Surface>> {
    use crate::mcp::fixtures::Fixtures;
    let fixtures = Fixtures::stateless(surface.app.clone(), surface.shutdown.clone());
    let service = service_of(fixtures, surface);
    let route = axum::routing::post(move |request| serve_mcp(service.clone(), request));
    router.route("/mcp/fixtures", route)
}

#[cfg(not(feature = "conformance"))]
pub fn add_fixtures(router: Router<Arc<Surface>>, _: &Surface) -> Router<Arc<Surface>> {
    router
}

fn service_of<H: ServerHandler + Clone>(server: H, surface: &Surface) -> Service<H> {
    let config = StreamableHttpServerConfig::default()
        .disable_allowed_hosts()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_max_request_body_bytes(limits::HTTP_BODY_BYTES)
        .with_cancellation_token(surface.shutdown.child_token());
    StreamableHttpService::new(move || Ok(server.clone()), Arc::new(NeverSessionManager::default()), config)
}

pub async fn serve_mcp<H: ServerHandler>(service: Service<H>, request: Request<Body>) -> Response<Body> {
    let (mut parts, body) = request.into_parts();
    // The door has judged the type, in every spelling; the service knows one.
    if let Some(kind) = parts.headers.get_mut(CONTENT_TYPE) {
        *kind = HeaderValue::from_static("application/json");
    }
    // The door has read it, within its limit.
    let asked = to_bytes(body, limits::HTTP_BODY_BYTES).await.unwrap_or_default();
    let answer = service.handle(Request::from_parts(parts, Body::from(asked.clone()))).await.map(Body::new);
    if !answer.status().is_client_error() || answer.headers().contains_key(CONTENT_TYPE) {
        return answer;
    }
    let status = answer.status();
    let said = to_bytes(answer.into_body(), limits::HTTP_BODY_BYTES).await.unwrap_or_default();
    protocol_refusal(status, &asked, &String::from_utf8_lossy(&said))
}

/// What rmcp refuses in plain words, as the protocol writes errors. The door has judged the type of the body, so
/// 415 stands for one that is no message. <https://www.jsonrpc.org/specification#error_object>
fn protocol_refusal(status: StatusCode, asked: &[u8], said: &str) -> Response<Body> {
    let status = if status == StatusCode::UNSUPPORTED_MEDIA_TYPE { StatusCode::BAD_REQUEST } else { status };
    let is_json = serde_json::from_slice::<IgnoredAny>(asked).is_ok();
    let code = if is_json { ErrorCode::INVALID_REQUEST } else { ErrorCode::PARSE_ERROR };
    let error = json!({"jsonrpc": "2.0", "id": null, "error": {"code": code.0, "message": said}});
    present::json_value(status, &error)
}
