//! From our words to the protocol's: a declared tool to its entry, a reply to content blocks.

use std::sync::Arc;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use rmcp::model::{CallToolResult, ContentBlock, JsonObject, Tool, ToolAnnotations};
use serde_json::Value;

use super::pages;
use crate::gate::{Reply, ReplyBody};
use crate::tool::Spec;
use crate::tool::schema::Detail;

/// `in_lines`: the client is a model that reads lines, and what is told in one has no structure to declare.
pub fn tool_entry(spec: &Spec, detail: Detail, in_lines: bool) -> Tool {
    let meta = spec.meta;
    let mut tool = Tool::new(meta.name, meta.brief, to_object(spec.listed_schema(detail)));
    let declares = !(in_lines && (meta.is_told_in_a_line() || meta.writes_lines));
    tool.output_schema = declares.then(|| spec.output_schema()).flatten().map(to_object);
    tool.annotations = Some(
        ToolAnnotations::new()
            .read_only(meta.effect.read_only())
            .destructive(meta.effect.is_destructive())
            .idempotent(meta.effect.is_idempotent())
            .open_world(meta.open_world()),
    );
    tool.meta = meta.app.map(pages::of_tool);
    tool
}

fn to_object(schema: Value) -> Arc<JsonObject> {
    match schema {
        Value::Object(object) => Arc::new(object),
        _ => Arc::default(),
    }
}

/// Lines for a model that reads them; otherwise the JSON, and what does not belong into it.
fn text_blocks(reply: &Reply) -> Vec<ContentBlock> {
    if let Some(lines) = reply.lines() {
        return vec![ContentBlock::text(lines)];
    }
    let mut content = vec![ContentBlock::text(reply.json_text())];
    content.extend(reply.outline.as_ref().filter(|outline| !outline.is_empty()).map(ContentBlock::text));
    content.extend((!reply.news.is_empty()).then(|| ContentBlock::text(reply.news.join("\n"))));
    content
}

/// Text first, then an outline as it is, then the picture. Data that code reads is also structured, but never beside a picture
/// or lines: some clients show only the structured part to the model.
/// <https://modelcontextprotocol.io/specification/2025-06-18/server/tools#structured-content>
pub fn call_result(reply: Reply) -> CallToolResult {
    let mut content = text_blocks(&reply);
    if let Some(picture) = &reply.picture {
        content.push(ContentBlock::image(BASE64_STANDARD.encode(&picture.bytes), picture.format.mime_type()));
    }
    if !reply.ok() {
        return CallToolResult::error(content);
    }
    let mut result = CallToolResult::success(content);
    if let (ReplyBody::Data(fields), None) = (reply.body, reply.lean) {
        result.structured_content = Some(Value::Object(fields));
    }
    result
}
