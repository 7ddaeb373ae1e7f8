//! Anthropic's messages, with its prompt cache and its computer toolset.
//! <https://docs.claude.com/en/api/messages>

use serde_json::{Value, json};

use super::talk::{ShownPart, ShownResult};
use super::wire::{OfferedTool, PlannerRequest, Toolset, Wire, in_base64, media_type};
use super::written::{
    CallForm, CountedTokens, ReadReply, WrittenCall, count_at, parse_reply, read_arguments, settle_calls,
    text_of,
};
use crate::jobs::store::Usage;
use crate::model_client::KeyHeader;
use crate::tool::Encoded;

pub struct AnthropicWire;

const VERSION: &str = "2023-06-01";
/// The members of the toolset are called by their own names, with this beside them.
const TOOLSET: &str = "computer";

impl Wire for AnthropicWire {
    fn route(&self) -> &'static str {
        "/messages"
    }

    fn key_header(&self) -> KeyHeader {
        KeyHeader::XApiKey(VERSION)
    }

    fn has_toolset(&self) -> bool {
        true
    }

    /// Tools and system text are the same in every turn, so they are cached; the talk changes behind them.
    fn write_request(&self, request: &PlannerRequest) -> Value {
        let mut tools: Vec<Value> = request.toolset.map(computer_toolset).into_iter().collect();
        tools.extend(request.tools.iter().map(write_tool));
        if let Some(last) = tools.last_mut() {
            last["cache_control"] = json!({"type": "ephemeral"});
        }
        let mut body = json!({
            "model": request.model,
            "max_tokens": request.max_tokens,
            "system": [{"type": "text", "text": request.system, "cache_control": {"type": "ephemeral"}}],
            "messages": write_messages(&request.talk),
        });
        if !tools.is_empty() {
            body["tools"] = tools.into();
        }
        body
    }

    fn read_reply(&self, text: &str, request_bytes: usize) -> Result<ReadReply, String> {
        let reply = parse_reply(text)?;
        let blocks = reply.get("content").and_then(Value::as_array).ok_or("answered without a content")?;
        let texts = blocks.iter().filter(|block| text_of(block, "type") == "text");
        let said: String = texts.map(|block| text_of(block, "text")).collect();
        let calls = settle_calls(blocks.iter().filter_map(read_call).collect(), &said);
        let message = own_message(&said, &calls);
        let usage = read_usage(reply.get("usage"), request_bytes, text.len());
        Ok(ReadReply { said, calls, message, usage })
    }
}

fn computer_toolset(toolset: &Toolset) -> Value {
    let off = |name: &&'static str| ((*name).to_owned(), json!({"enabled": false}));
    let configs: serde_json::Map<String, Value> = toolset.disabled.iter().map(off).collect();
    json!({"type": "computer_toolset_20260801", "configs": configs})
}

fn write_tool(tool: &OfferedTool) -> Value {
    json!({"name": tool.name, "description": tool.brief, "input_schema": tool.schema})
}

/// What follows each other from the same side is one message: results must come first in theirs.
fn write_messages(talk: &[ShownPart]) -> Vec<Value> {
    let mut messages: Vec<Value> = Vec::new();
    let mut open: Vec<Value> = Vec::new();
    for part in talk {
        match part {
            ShownPart::Answered(message) => {
                close_message(&mut messages, &mut open);
                messages.push((*message).clone());
            }
            ShownPart::Told { text, picture } => {
                open.extend(picture.map(picture_block));
                open.push(json!({"type": "text", "text": text}));
            }
            ShownPart::Result(result) => open.push(result_block(result)),
        }
    }
    close_message(&mut messages, &mut open);
    messages
}

fn close_message(messages: &mut Vec<Value>, open: &mut Vec<Value>) {
    if !open.is_empty() {
        messages.push(json!({"role": "user", "content": std::mem::take(open)}));
    }
}

fn result_block(result: &ShownResult) -> Value {
    let ShownResult { id, text, form, failed, picture, .. } = result;
    let mut content: Vec<Value> = Vec::new();
    if !text.is_empty() {
        content.push(json!({"type": "text", "text": text}));
    }
    content.extend(picture.map(picture_block));
    let mut block = json!({"type": "tool_result", "tool_use_id": id, "content": content, "is_error": failed});
    if *form == CallForm::Member {
        block["toolset_name"] = TOOLSET.into();
    }
    block
}

fn picture_block(picture: &Encoded) -> Value {
    let source = json!({"type": "base64", "media_type": media_type(picture), "data": in_base64(picture)});
    json!({"type": "image", "source": source})
}

fn read_call(block: &Value) -> Option<WrittenCall> {
    if text_of(block, "type") != "tool_use" {
        return None;
    }
    let name = block.get("name").and_then(Value::as_str)?.to_owned();
    let arguments = block.get("input").cloned().unwrap_or(Value::Null);
    let form = match text_of(block, "toolset_name").as_str() {
        "" => CallForm::Function,
        _ => CallForm::Member,
    };
    Some(WrittenCall { id: text_of(block, "id"), name, arguments, form })
}

/// Without what the model thought: that is bound to a talk that is not changed behind it, and ours is.
fn own_message(said: &str, calls: &[WrittenCall]) -> Value {
    let mut content: Vec<Value> = Vec::new();
    if !said.trim().is_empty() {
        content.push(json!({"type": "text", "text": said}));
    }
    content.extend(calls.iter().map(|call| {
        let input = read_arguments(&call.arguments).unwrap_or_default();
        let mut block = json!({"type": "tool_use", "id": call.id, "name": call.name, "input": input});
        if call.form == CallForm::Member {
            block["toolset_name"] = TOOLSET.into();
        }
        block
    }));
    if content.is_empty() {
        content.push(json!({"type": "text", "text": "(nothing)"}));
    }
    json!({"role": "assistant", "content": content})
}

/// Cached tokens, read and written, stand beside the input, not in it.
fn read_usage(usage: Option<&Value>, request_bytes: usize, answer_bytes: usize) -> Usage {
    let cached_input = count_at(usage, "/cache_read_input_tokens");
    let cache_writes = count_at(usage, "/cache_creation_input_tokens");
    let beside = cached_input.unwrap_or(0).saturating_add(cache_writes.unwrap_or(0));
    let counted = CountedTokens {
        input: count_at(usage, "/input_tokens").map(|input| input.saturating_add(beside)),
        cached_input,
        cache_writes,
        output: count_at(usage, "/output_tokens"),
    };
    counted.usage(request_bytes, answer_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(content: Value, usage: Value) -> ReadReply {
        AnthropicWire.read_reply(&json!({"content": content, "usage": usage}).to_string(), 400).unwrap()
    }

    #[test]
    fn words_calls_and_members_are_read() {
        let got = read(
            json!([
                {"type": "thinking", "thinking": "hm"},
                {"type": "text", "text": "I look."},
                {"type": "tool_use", "id": "a", "name": "look", "input": {}},
                {"type": "tool_use", "id": "b", "name": "left_click", "input": {}, "toolset_name": "computer"},
            ]),
            json!({}),
        );
        assert_eq!((got.said.as_str(), got.calls.len()), ("I look.", 2));
        assert_eq!((got.calls[0].form, got.calls[1].form), (CallForm::Function, CallForm::Member));
        assert!(!got.message.to_string().contains("thinking"));
    }

    #[test]
    fn cached_tokens_are_beside_the_input() {
        let usage = json!({
            "input_tokens": 10, "cache_read_input_tokens": 100, "cache_creation_input_tokens": 20,
            "output_tokens": 5,
        });
        let got = read(json!([]), usage).usage;
        assert_eq!((got.input, got.cached_input, got.cache_writes, got.output), (130, 100, 20, 5));
        let got = read(json!([]), json!({"input_tokens": -1, "output_tokens": 1})).usage;
        assert_eq!((got.input, got.estimated), (100, true));
    }

    #[test]
    fn an_answer_without_anything_can_still_be_sent_back() {
        let got = read(json!([]), json!({}));
        assert_eq!(got.message["content"].as_array().unwrap().len(), 1);
    }

    #[test]
    fn what_is_no_answer_is_an_error() {
        for reply in ["<html>", "{}", "{\"type\": \"error\", \"error\": {\"type\": \"overloaded_error\"}}"] {
            assert!(AnthropicWire.read_reply(reply, 0).is_err(), "{reply}");
        }
    }
}
