//! OpenAI's chat completions with tools, which most servers speak.
//! <https://platform.openai.com/docs/api-reference/chat/create>

use serde_json::{Map, Value, json};

use super::talk::{SCREENSHOT_BELOW, ShownPart, ShownResult, write_parts};
use super::wire::{OfferedTool, PlannerRequest, Wire, data_url};
use super::written::{
    ReadReply, WrittenCall, arguments_text, openai_usage, parse_reply, said_text, settle_calls, text_of,
};
use crate::tool::Encoded;

pub struct ChatWire;

/// OpenAI's models that think know `max_tokens` no more; other servers know nothing else.
const NEWER_LIMIT: &[&str] = &["gpt-5", "gpt-6", "o1", "o3", "o4"];

impl Wire for ChatWire {
    fn route(&self) -> &'static str {
        "/chat/completions"
    }

    fn write_request(&self, request: &PlannerRequest) -> Value {
        let is_newer = NEWER_LIMIT.iter().any(|prefix| request.model.starts_with(prefix));
        let limit = if is_newer { "max_completion_tokens" } else { "max_tokens" };
        let mut body = json!({
            "model": request.model,
            "messages": write_messages(request),
            limit: request.max_tokens,
            "stream": false,
        });
        if !request.tools.is_empty() {
            body["tools"] = request.tools.iter().map(write_tool).collect();
        }
        body
    }

    /// Whether there are calls decides, never `finish_reason`: servers write anything there.
    fn read_reply(&self, text: &str, request_bytes: usize) -> Result<ReadReply, String> {
        let reply = parse_reply(text)?;
        let message = reply.pointer("/choices/0/message").or(reply.get("message"));
        let message = message.and_then(Value::as_object).ok_or("answered without a message")?;
        let said = said_text(message.get("content"));
        let calls = settle_calls(tool_calls(message), &said);
        let usage = openai_usage(
            reply.get("usage"),
            ("prompt_tokens", "completion_tokens"),
            request_bytes,
            text.len(),
        );
        let message = own_message(&said, &calls);
        Ok(ReadReply { said, calls, message, usage })
    }
}

fn write_messages(request: &PlannerRequest) -> Vec<Value> {
    let told = write_parts(&request.talk, |part, messages, pictures| match part {
        ShownPart::Told { text, picture } => messages.push(user_message(text, *picture)),
        ShownPart::Answered(message) => messages.push((*message).clone()),
        ShownPart::Result(ShownResult { id, text, picture, .. }) => {
            messages.push(json!({"role": "tool", "tool_call_id": id, "content": text}));
            pictures.extend(picture.map(|picture| user_message(SCREENSHOT_BELOW, Some(picture))));
        }
    });
    std::iter::once(json!({"role": "system", "content": request.system})).chain(told).collect()
}

fn user_message(text: &str, picture: Option<&Encoded>) -> Value {
    match picture {
        None => json!({"role": "user", "content": text}),
        Some(picture) => json!({"role": "user", "content": [
            {"type": "text", "text": text},
            {"type": "image_url", "image_url": {"url": data_url(picture)}},
        ]}),
    }
}

fn write_tool(tool: &OfferedTool) -> Value {
    let OfferedTool { name, brief, schema } = tool;
    json!({"type": "function", "function": {"name": name, "description": brief, "parameters": schema}})
}

fn tool_calls(message: &Map<String, Value>) -> Vec<WrittenCall> {
    let list = message.get("tool_calls").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let read = |call: &Value| {
        let function = call.get("function").unwrap_or(call);
        let name = function.get("name").and_then(Value::as_str)?.to_owned();
        let arguments = function.get("arguments").cloned().unwrap_or(Value::Null);
        Some(WrittenCall { id: text_of(call, "id"), name, arguments, ..WrittenCall::default() })
    };
    list.iter().filter_map(read).collect()
}

/// The model's message in the form that every server takes back.
fn own_message(said: &str, calls: &[WrittenCall]) -> Value {
    let mut message = json!({"role": "assistant", "content": said});
    if !calls.is_empty() {
        let written = |call: &WrittenCall| {
            let function = json!({"name": call.name, "arguments": arguments_text(&call.arguments)});
            json!({"id": call.id, "type": "function", "function": function})
        };
        message["tool_calls"] = calls.iter().map(written).collect();
    }
    message
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(reply: &Value) -> ReadReply {
        ChatWire.read_reply(&reply.to_string(), 400).unwrap_or_else(|problem| panic!("{reply}: {problem}"))
    }

    fn with_calls(calls: Value) -> Value {
        json!({"choices": [{"message": {"content": null, "tool_calls": calls}, "finish_reason": "stop"}]})
    }

    #[test]
    fn calls_are_found_wherever_servers_put_them() {
        let names =
            |reply: Value| read(&reply).calls.into_iter().map(|call| call.name).collect::<Vec<_>>().join(" ");
        assert_eq!(names(with_calls(json!([{"function": {"name": "look"}}, {"function": {}}]))), "look");
        assert_eq!(names(with_calls(json!([{"name": "look", "arguments": {}}]))), "look");
        assert_eq!(names(json!({"message": {"content": [{"type": "text", "text": "hi"}]}})), "");
    }

    fn check_usage(usage: Value, expected: (u64, u64, u64)) {
        let mut reply = with_calls(json!([]));
        reply["usage"] = usage;
        let got = read(&reply).usage;
        assert_eq!((got.input, got.cached_input, got.cache_writes), expected);
    }

    #[test]
    fn cached_tokens_are_part_of_the_prompt() {
        let details = json!({"cached_tokens": 7, "cache_write_tokens": 2});
        check_usage(
            json!({"prompt_tokens": 10, "completion_tokens": 2, "prompt_tokens_details": details}),
            (10, 7, 2),
        );
        check_usage(json!({"prompt_tokens": 10.0, "completion_tokens": 2}), (10, 0, 0));
        check_usage(json!({"prompt_tokens": -5, "completion_tokens": -1}), (100, 0, 0));
        check_usage(json!(null), (100, 0, 0));
    }

    #[test]
    fn what_is_no_answer_is_an_error() {
        for (reply, problem) in [
            ("<html>", "not answer with JSON"),
            ("{\"error\": \"x\"}", "an error"),
            ("{\"choices\": []}", "without a message"),
        ] {
            assert!(ChatWire.read_reply(reply, 0).err().unwrap().contains(problem), "{reply}");
        }
    }
}
