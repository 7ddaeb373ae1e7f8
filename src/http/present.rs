//! From replies and refusals to HTTP: the status from the kind of error, and JSON for everything.

use axum::body::Body;
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE, WWW_AUTHENTICATE};
use axum::http::{HeaderValue, Response, StatusCode};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};

use super::adapters;
use crate::error::{Error, Kind};
use crate::gate::{Reply, ReplyBody};
use crate::privacy::redact::Redactor;
use crate::privacy::scrub::{self, Scrub};

const WRONG_TOKEN: &str = "wrong token";

/// Why a request gets no reply from a tool. It is answered in the shape of a tool's error.
#[derive(Debug)]
pub struct HttpRefusal {
    pub status: StatusCode,
    code: &'static str,
    message: String,
    /// The header or argument that is meant.
    field: Option<String>,
}

impl HttpRefusal {
    pub fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self { status, code: code_of(status.as_u16()), message: message.into(), field: None }
    }

    pub fn with_field(mut self, field: &str) -> Self {
        self.field = Some(field.to_owned());
        self
    }

    pub fn code(&self) -> &'static str {
        self.code
    }

    pub fn message(&self) -> &str {
        &self.message
    }

    pub fn method_not_allowed() -> Self {
        Self::new(StatusCode::METHOD_NOT_ALLOWED, "method not allowed; see /api/openapi.json")
    }

    pub fn not_found() -> Self {
        Self::new(StatusCode::NOT_FOUND, "not found; see /api/openapi.json")
    }

    pub fn wrong_token() -> Self {
        Self::new(StatusCode::UNAUTHORIZED, WRONG_TOKEN)
    }

    pub fn is_wrong_token(&self) -> bool {
        self.message == WRONG_TOKEN
    }

    pub fn too_large(most: usize) -> Self {
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, format!("the body is larger than {most} bytes"))
    }

    pub fn into_response(self) -> Response<Body> {
        let context = self.field.map_or_else(|| json!({}), |field| json!({ "field": field }));
        let recoverable = self.status == StatusCode::SERVICE_UNAVAILABLE;
        let error = json!({
            "code": self.code, "message": self.message, "recoverable": recoverable,
            "suggested_next_tool": null, "context": context,
        });
        let mut response = own_words(self.status, json!({"ok": false, "success": false, "error": error}));
        if self.status == StatusCode::UNAUTHORIZED {
            response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}

impl From<Error> for HttpRefusal {
    fn from(error: Error) -> Self {
        let field = error.context.iter().find_map(|(key, fact)| match fact {
            crate::error::Fact::Text(text) if *key == "field" => Some(text.clone()),
            _ => None,
        });
        Self { status: status_of(error.kind), code: error.kind.code(), message: error.message, field }
    }
}

/// The contract's codes where it has one, and HTTP's own names where only HTTP can go wrong.
pub fn code_of(status: u16) -> &'static str {
    match status {
        401 => "Unauthorized",
        403 => Kind::PermissionDenied.code(),
        404 => "NotFound",
        405 => "MethodNotAllowed",
        408 => Kind::Timeout.code(),
        409 => "Conflict",
        413 => "PayloadTooLarge",
        415 => "UnsupportedMediaType",
        500 => Kind::Internal.code(),
        503 => "Busy",
        _ => Kind::BadRequest.code(),
    }
}

fn status_of(kind: Kind) -> StatusCode {
    StatusCode::from_u16(kind.http_status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}

/// A tool's reply; its picture, if it has one, goes into the JSON as the contract wants it.
pub fn tool_response(tool: &str, mut reply: Reply) -> Response<Body> {
    let status = match (reply.error, &reply.body) {
        (Some(kind), _) => status_of(kind),
        // The tool did its work, and what it was asked for did not come about.
        (None, ReplyBody::Data(fields)) if fields.get("ok") == Some(&Value::Bool(false)) => {
            StatusCode::INTERNAL_SERVER_ERROR
        }
        (None, _) => StatusCode::OK,
    };
    let picture = reply.picture.as_ref().map(|picture| BASE64_STANDARD.encode(&picture.bytes));
    let text = match (picture, adapters::place_of_picture(tool)) {
        (Some(data), Some((object, field))) => {
            reply.body.insert_inside(object, field, data.into());
            reply.text()
        }
        (Some(data), None) => reply.text_with_picture(&data),
        (None, _) => reply.text(),
    };
    json_text(status, text)
}

/// What a surface says itself, kept beside the body until the door has taken out what must not be shown.
#[derive(Clone)]
struct OwnWords(Value);

/// An answer that no gate has written: it may repeat what the caller sent, and so a secret.
pub fn own_words(status: StatusCode, value: Value) -> Response<Body> {
    let mut response = json_value(status, &value);
    response.extensions_mut().insert(OwnWords(value));
    response
}

/// The answer as it may leave. What the gate has written is clean already and passes as it is.
pub fn without_secrets(mut response: Response<Body>, redactor: &Redactor) -> Response<Body> {
    let Some(OwnWords(value)) = response.extensions_mut().remove() else {
        return response;
    };
    // A value can always be written; if not, nothing of it leaves.
    let text = scrub::to_json_string(&value, &Scrub::of(redactor)).unwrap_or_default();
    // The router has counted the body as it was.
    response.headers_mut().remove(CONTENT_LENGTH);
    response.map(|_| Body::from(text))
}

pub fn json_value(status: StatusCode, value: &Value) -> Response<Body> {
    json_text(status, value.to_string())
}

pub fn json_text(status: StatusCode, text: String) -> Response<Body> {
    typed_response(status, "application/json", text)
}

pub fn typed_response(status: StatusCode, kind: &'static str, body: impl Into<Body>) -> Response<Body> {
    let mut response = Response::new(body.into());
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}
