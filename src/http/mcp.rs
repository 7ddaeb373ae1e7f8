//! MCP over streamable HTTP at `/mcp`: rmcp's service around the same handler as on stdio.
//!
//! Its own checks of Host and Origin stay off: the front door has judged both, by stricter rules that know
//! the port and the address of the connection. There are no sessions to steal: every request stands for
//! itself and is answered as JSON.

use std::sync::Arc;

use axum::body::Body;
use axum::http::{Request, Response};
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};

use super::surface::Surface;
use crate::config::limits;
use crate::mcp::Server;

pub type Service = StreamableHttpService<Server, NeverSessionManager>;

pub fn service(surface: &Surface) -> Service {
    let server = Server::new(surface.app.clone(), surface.shutdown.clone());
    let config = StreamableHttpServerConfig::default()
        .disable_allowed_hosts()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_max_request_body_bytes(limits::HTTP_BODY_BYTES)
        .with_cancellation_token(surface.shutdown.child_token());
    StreamableHttpService::new(move || Ok(server.clone()), Arc::new(NeverSessionManager::default()), config)
}

pub async fn answer(service: Service, request: Request<Body>) -> Response<Body> {
    service.handle(request).await.map(Body::new)
}
